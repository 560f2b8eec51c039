/*
 * http/cookie_file.h - the text of a file of cookies: the format of Netscape and curl.
 *
 * A cookie is a line of seven parts, with tabs between them: domain, TRUE if with subdomains, path, TRUE if
 * for https only, seconds since 1970 or 0, name, value. "#HttpOnly_" may be before the domain. Other
 * lines with '#' are comments; our own comment "#SameSite=Lax" belongs to the next cookie.
 */
#ifndef ED_HTTP_COOKIE_FILE_H
#define ED_HTTP_COOKIE_FILE_H

#include "http/cookies.h"

enum { ED_COOKIES_TEXT_MAX = EDDY_HTTP_COOKIES_FILE_MAX };

/*
 * Add the cookies of a text, and keep its other lines.
 *
 * Errors: -EMSGSIZE  more than ED_COOKIES_KEPT_MAX bytes of other lines
 *         -ENOMEM
 */
EDDY_MUST_USE int ed_cookie_file_read(eddy_http_cookies *cookies, const char *text, size_t bytes);

/*
 * Append the text of a file with the jar's cookies and lines to an empty buffer.
 *
 * Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_cookie_file_write(const eddy_http_cookies *cookies, struct ed_buf *text);

#endif
