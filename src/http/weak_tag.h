/*
 * http/weak_tag.h - the weak entity tag of content whose coding was changed (RFC 9110, 8.8.3.3).
 */
#ifndef ED_HTTP_WEAK_TAG_H
#define ED_HTTP_WEAK_TAG_H

#include "http/exchange.h"

/* Returns true for a header ETag with a strong tag. */
bool ed_http_is_strong_tag(const struct eddy_http_header *header);

/* Returns the bytes that ed_http_tag_weaken() needs for a strong tag. */
size_t ed_http_weak_tag_bytes(const struct eddy_http_header *header);

/* Replace a strong tag by a weak one, whose text is written to 'text'. Returns the text's end. */
char *ed_http_tag_weaken(struct eddy_http_header *header, char *text);

/* Returns true if the request's If-None-Match has only the weak form of a strong tag. */
bool ed_http_has_weak_tag(const eddy_http_exchange *exchange,
                          const struct eddy_http_header *header);

#endif
