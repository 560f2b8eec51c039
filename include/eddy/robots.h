/*
 * eddy/robots.h - what a site's robots.txt allows a crawler to fetch (RFC 9309).
 *
 *     if (eddy_robots_allow(text, text_bytes, "my-crawler", "/news?page=2"))
 *             ... the crawler may fetch the page ...
 *
 * A crawler reads "/robots.txt" of a site first, and follows its redirects.  If the status is 400
 * to 499, there are no rules: the text is "".  If the server cannot be reached, or the status is
 * 500 or above, the crawler fetches nothing.  RFC 9309, 2.5 asks for at least the first 500 KiB of
 * the text.
 *
 * Threads: any.
 */
#ifndef EDDY_ROBOTS_H
#define EDDY_ROBOTS_H

#include <stdbool.h>

#include "eddy/def.h"

EDDY_BEGIN_DECLS

/*
 * Returns whether the text of a robots.txt lets the crawler 'agent' fetch 'target': the path of
 * a URL with its query, as written there, such as "/" and "/a/b?c".
 *
 * The rules are those of all groups that name 'agent', in upper or lower case; if no group names
 * it, those of all groups for "*".  A name in robots.txt ends at its first byte other than a
 * letter, a digit, '-' or '_': "My-Crawler/1.0" names "my-crawler".  The longest rule that matches
 * decides, and "Allow" if two are equally long.  '*' in a rule is any text, and '$' at its end is
 * the end of the target.  "%41" and "A" are equal, "%2F" and "/" are not.  If no rule matches, and
 * for "/robots.txt", the answer is true.  Lines that are not valid are skipped.  'text' may be NULL if
 * 'bytes' is 0.
 *
 * Nothing is allocated.  A rule with many '*' can cost the product of its length and the target's,
 * so limit both lengths if they come from a server.
 *
 * Suspends: no.
 */
EDDY_API bool eddy_robots_allow(const char *text, size_t bytes, const char *agent,
                                const char *target);

EDDY_END_DECLS

#endif
