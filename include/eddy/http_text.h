/*
 * eddy/http_text.h - what may be a method, a header's name and a header's value.
 *
 * The client and the server check what they are given by these rules.  A program
 * that takes methods or headers from elsewhere can check them before it sends.
 *
 * Suspends: no.
 * Threads:  any.
 */
#ifndef EDDY_HTTP_TEXT_H
#define EDDY_HTTP_TEXT_H

#include <stdbool.h>

#include "eddy/def.h"

EDDY_BEGIN_DECLS

/*
 * Whether the 'bytes' bytes at 'text' are a token (RFC 9110, 5.6.2): at least one
 * byte, and each a letter, a digit or one of !#$%&'*+-.^_`|~.  Methods and the
 * names of headers are tokens.
 *
 * Suspends: no.
 */
EDDY_API bool eddy_http_is_token(const char *text, size_t bytes);

/*
 * Whether the 'bytes' bytes at 'text' can be the value of a header (RFC 9110,
 * 5.5): no control character but tab.  The value may be empty.  Bytes above 0x7F
 * are allowed.
 *
 * Suspends: no.
 */
EDDY_API bool eddy_http_is_value(const char *text, size_t bytes);

/*
 * Whether a second request with this method does no harm if the first one may
 * have arrived (RFC 9110, 9.2.2): GET, HEAD, OPTIONS, TRACE, PUT, DELETE.  Methods
 * are case-sensitive (RFC 9110, 9.1), and an unknown method is not idempotent.
 *
 * Suspends: no.
 */
EDDY_API bool eddy_http_method_is_idempotent(const char *method);

EDDY_END_DECLS

#endif
