/*
 * common/secret_header.h - headers whose values are secrets, such as API keys. No I/O.
 */
#ifndef ED_CMD_COMMON_SECRET_HEADER_H
#define ED_CMD_COMMON_SECRET_HEADER_H

#include <stdbool.h>

/*
 * Returns true for Authorization, Proxy-Authorization, Cookie, and names that end with key, token,
 * secret or password, such as api-key, x-goog-api-key and X-Auth-Token, but not for Idempotency-Key.
 */
bool ed_header_is_secret(const char *name);

#endif
