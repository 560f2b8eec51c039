/*
 * wire/url_split.h - the parts of a URL or reference of any scheme (RFC 3986), as url.h checks them.
 */
#ifndef ED_WIRE_URL_SPLIT_H
#define ED_WIRE_URL_SPLIT_H

#include "base/def.h"
#include "eddy/url.h"

/*
 * As eddy_url_parse(), but "http:a" is split too. '*ret_authority' is what follows "//", or absent.
 *
 * Errors: EDDY_E_URL_INVALID
 */
EDDY_MUST_USE int ed_url_split(const char *text, size_t bytes, struct eddy_url *ret_url,
                               struct eddy_url_part *ret_authority);

/* Returns the default port of http or https; 0 for other schemes. */
uint16_t ed_url_default_port(struct eddy_url_part scheme);

/* Returns how many bytes at the start of a text can be a scheme (3.1). */
size_t ed_url_scheme_bytes(const char *text, size_t bytes);

#endif
