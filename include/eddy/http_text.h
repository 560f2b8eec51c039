/*
 * eddy/http_text.h - checks of methods and of the names and values of headers.
 *
 * The client and the server apply these rules to the program's methods and headers.
 * A program that takes methods or headers from elsewhere can check them first.
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
 * Returns whether the 'bytes' bytes at 'text' are a token (RFC 9110, 5.6.2): at
 * least one byte, and each a letter, a digit or one of !#$%&'*+-.^_`|~.  Methods
 * and the names of headers are tokens.
 *
 * Suspends: no.
 */
EDDY_API bool eddy_http_is_token(const char *text, size_t bytes);

/*
 * Returns whether the 'bytes' bytes at 'text' can be the value of a header (RFC
 * 9110, 5.5): no control character other than tab.  The value may be empty.
 * Bytes above 0x7F are allowed.
 *
 * Suspends: no.
 */
EDDY_API bool eddy_http_is_value(const char *text, size_t bytes);

/*
 * Returns whether a request with this method can be repeated safely after the first
 * may have arrived (RFC 9110, 9.2.2): GET, HEAD, OPTIONS, TRACE, PUT, DELETE.  Methods
 * are case-sensitive (RFC 9110, 9.1), and an unknown method is not idempotent.
 *
 * Suspends: no.
 */
EDDY_API bool eddy_http_method_is_idempotent(const char *method);

EDDY_END_DECLS

#endif
