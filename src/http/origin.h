/*
 * http/origin.h - reads the URLs of requests: one parser for all that are sent or checked.
 */
#ifndef ED_HTTP_ORIGIN_H
#define ED_HTTP_ORIGIN_H

#include "base/def.h"
#include "wire/url.h"

/*
 * Parse a URL, and convert a host that is not ASCII to the form that DNS and Host need.
 *
 * Errors: as ed_url_parse(), also if 'text' is NULL;  EDDY_E_DNS_BAD_NAME, -ENOMEM
 * Owns: '*ret_url' borrows 'text'.
 */
EDDY_MUST_USE int ed_http_url_read(const char *text, struct ed_url *ret_url);

#endif
