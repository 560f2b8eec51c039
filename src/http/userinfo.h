/*
 * http/userinfo.h - the credentials in a URL.
 */
#ifndef ED_HTTP_USERINFO_H
#define ED_HTTP_USERINFO_H

#include "wire/url.h"

/*
 * Decode the URL's user and password to 'out', with a colon between them, which is added if it is
 * missing. They may not contain control characters, and the user may not contain a colon, which the
 * server would take for the separator (RFC 7617, 2). Room for url->userinfo_bytes + 1 suffices.
 *
 * Errors: EDDY_E_URL_CREDENTIALS  also if there is not enough room
 */
EDDY_MUST_USE int ed_http_userinfo_decode(const struct ed_url *url, char *out, size_t room,
                                          size_t *ret_bytes);

#endif
