/*
 * http/cookie_rules.h - which cookies a host may set, and which go to a URL (RFC 6265bis, 5.1 and 5.7).
 */
#ifndef ED_HTTP_COOKIE_RULES_H
#define ED_HTTP_COOKIE_RULES_H

#include "http/cookie_text.h"
#include "http/cookies.h"
#include "wire/url.h"

/* Returns true if 'host' is 'domain' or a name below it. A host that is an address needs another check. */
bool ed_cookie_domain_matches(const char *host, const char *domain);

/* Returns true if a cookie's path, which is not empty, includes the path of a request. */
bool ed_cookie_path_matches(const char *path, size_t path_bytes, const char *cookie_path,
                            size_t bytes);

/* Returns the path of a URL. Borrows the URL. */
struct eddy_url_part ed_cookie_request_path(const struct ed_url *url);

/* Returns the path of a cookie without the attribute Path, from the path of the request. */
struct eddy_url_part ed_cookie_default_path(struct eddy_url_part path);

/*
 * Returns true if the host of 'url' may set the cookie. Fills in the domain, 'with_subdomains' and a missing
 * path. 'lower' has room for the domain.
 */
bool ed_cookie_may_set(struct ed_cookie_parts *parts, const struct ed_url *url,
                       char lower[ED_URL_HOST_MAX + 1]);

#endif
