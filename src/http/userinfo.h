/*
 * http/userinfo.h - the credentials in a URL.
 */
#ifndef ED_HTTP_USERINFO_H
#define ED_HTTP_USERINFO_H

#include "wire/url.h"

enum { ED_HTTP_USERINFO_BYTES_MAX = 4096 };

/*
 * Decode the URL's user and password to 'out', with a colon between them, which is added if it is
 * missing. They may not contain control characters, and the user may not contain a colon, which the
 * server would take for the separator (RFC 7617, 2). Room for url->userinfo_bytes + 1 suffices.
 *
 * Errors: EDDY_E_URL_CREDENTIALS  also if there is not enough room
 */
EDDY_MUST_USE int ed_http_userinfo_decode(const struct ed_url *url, char *out, size_t room,
                                          size_t *ret_bytes);

/*
 * Decode the URL's user and password to new memory, '*ret_bytes' bytes without a NUL.
 *
 * Errors: -ENOMEM, EDDY_E_URL_CREDENTIALS  also if they are longer than ED_HTTP_USERINFO_BYTES_MAX
 * Owns: returns (owned) '*ret_plain', to be freed by ed_http_userinfo_free().
 */
EDDY_MUST_USE int ed_http_userinfo_new(const struct ed_url *url, char **ret_plain,
                                       size_t *ret_bytes);

/* Clear and free decoded credentials. */
void ed_http_userinfo_free(char *plain, size_t bytes);

enum { ED_HTTP_BASIC_BYTES = 6 };

/*
 * Write the value of a field for the credentials "USER:PASSWORD" (RFC 7617, 2): "Basic " and base64,
 * no NUL. 'out' has room for ED_HTTP_BASIC_BYTES + EDDY_BASE64_BYTES(bytes). Returns the length.
 */
size_t ed_http_basic_write(const char *plain, size_t bytes, char *out);

#endif
