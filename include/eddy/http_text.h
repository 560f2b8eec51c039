/*
 * eddy/http_text.h - checks of methods, of the names and values of headers, and of URLs.
 *
 * The client and the server apply these rules to the program's methods, headers and
 * URLs.  A program that takes these from elsewhere can check them first.
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

/*
 * Returns whether the value of a header with this name is a secret: Authorization,
 * Proxy-Authorization, Cookie, Set-Cookie, and names that end with key, token, secret or password,
 * such as api-key, x-goog-api-key and X-Auth-Token, but not Idempotency-Key.  The case of letters does
 * not matter.
 *
 * Suspends: no.
 */
EDDY_API bool eddy_http_header_is_secret(const char *name);

enum { EDDY_HTTP_ORIGIN_BYTES = 280 };

/*
 * Check a URL as eddy_http_client_send() does, and write its origin with a NUL:
 * scheme, host and port, such as "https://api.example.com" or "http://[::1]:8080".
 * Two URLs have the same origin if and only if these texts are equal: letters are in
 * lower case, a name outside ASCII is converted to its ASCII form, and the default port
 * of the scheme is left out.  On failure, 'ret_origin' is unchanged.
 *
 * Suspends: no.
 * Errors: EDDY_E_URL_INVALID      also if 'url' is NULL
 *         EDDY_E_URL_SCHEME       the scheme is neither http nor https
 *         EDDY_E_URL_CREDENTIALS  the user name or the password cannot be sent
 *         EDDY_E_DNS_BAD_NAME     the host's name has no ASCII form
 *         -ENOMEM
 */
EDDY_API EDDY_MUST_USE int eddy_http_url_origin(const char *url,
                                                char ret_origin[EDDY_HTTP_ORIGIN_BYTES]);

EDDY_END_DECLS

#endif
