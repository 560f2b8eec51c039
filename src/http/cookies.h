/*
 * http/cookies.h - the cookie jar, for the client and for files.
 */
#ifndef ED_HTTP_COOKIES_H
#define ED_HTTP_COOKIES_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "eddy/http_cookies.h"
#include "http/cookie_text.h"
#include "wire/url.h"

enum { ED_COOKIES_KEPT_MAX = 1 << 20 };

/* The texts are in one piece of memory, each with a NUL: name, value, domain, path. */
struct ed_cookie {
        struct ed_hash_node node; /* by domain */
        struct ed_list link;      /* in 'all' */
        const char *name, *value, *domain, *path;
        size_t pair_bytes; /* of name and value */
        size_t path_bytes;
        uint64_t
                born; /* rises with each new cookie; a cookie that replaces another takes its number */
        uint64_t used;     /* rises with each use of a cookie */
        int64_t expires_s; /* ED_COOKIE_SESSION: when the session ends */
        bool with_subdomains, secure, http_only;
        uint8_t same_site;
        char text[];
};

struct eddy_http_cookies {
        struct ed_hash_table table;
        struct ed_list all; /* by 'born' */
        uint64_t births, uses;
        struct ed_cookie **found; /* cookies for one request; owned */
        size_t found_room;
        struct ed_buf kept; /* lines of files that are not cookies */
};

/* Returns the time of day in seconds. */
int64_t ed_cookies_now_s(void);

/*
 * Take a Set-Cookie of a response to 'url'. Returns 1 if it is stored or has removed a cookie, 0 if it is
 * refused.
 *
 * Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_cookies_take(eddy_http_cookies *cookies, const struct ed_url *url,
                                  const char *text, size_t bytes);

/*
 * Append the value of Cookie for a request to 'out', without a NUL; nothing if no cookie matches.
 *
 * Errors: -ENOMEM, -EMSGSIZE
 */
EDDY_MUST_USE int ed_cookies_write(eddy_http_cookies *cookies, const struct ed_url *url,
                                   struct ed_buf *out);

enum { ED_COOKIE_KEEP_OTHERS = 1 << 0 }; /* drop no cookie to make place */

/*
 * Store a cookie whose parts are checked, and whose domain is in lower case. Returns 1, or 0 if its time has
 * passed or, with ED_COOKIE_KEEP_OTHERS, if the jar or the domain is full.
 *
 * Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_cookie_put(eddy_http_cookies *cookies, const struct ed_cookie_parts *parts,
                                int64_t now_s, unsigned flags);

/*
 * Check a cookie that no response set: from a file or the program. 'lower' has room for the domain in lower
 * case, to which 'parts' then points.
 *
 * Errors: -EINVAL, -EMSGSIZE
 */
EDDY_MUST_USE int ed_cookie_check(struct ed_cookie_parts *parts, char lower[ED_URL_HOST_MAX + 1]);

#endif
