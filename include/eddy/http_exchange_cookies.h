/*
 * eddy/http_exchange_cookies.h - the cookies of a request, and cookies for its client.
 *
 *     const char *value;
 *     size_t bytes;
 *
 *     if (eddy_http_exchange_cookie(exchange, "__Host-id", &value, &bytes) == 0)
 *             ...
 *     err = eddy_http_exchange_set_cookie(exchange, &(struct eddy_http_set_cookie){
 *             .name = "__Host-id", .value = id, .max_age_s = 3600 });
 */
#ifndef EDDY_HTTP_EXCHANGE_COOKIES_H
#define EDDY_HTTP_EXCHANGE_COOKIES_H

#include "eddy/def.h"
#include "eddy/http_cookies.h"
#include "eddy/http_exchange.h"

EDDY_BEGIN_DECLS

/*
 * Find a cookie of the request by its name, whose letters are compared exactly.  All headers Cookie are
 * read.  A part between two semicolons counts if it is a name, '=' and a value as RFC 6265, 4.2.1, has
 * them; quotes around a value are not part of it.  If several cookies have the name, the first is found:
 * that of the longest path.  Any program on a sibling domain can set a cookie, except those whose
 * name begins with "__Host-".
 *
 * Suspends: no.
 * Errors: -ENOENT  there is none
 * Owns: '*ret_value' has no NUL, and is valid as long as the exchange.
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_cookie(const eddy_http_exchange *exchange,
                                                     const char *name, const char **ret_value,
                                                     size_t *ret_bytes);

enum {
        EDDY_HTTP_SET_COOKIE_SCRIPTS = 1 << 0,  /* scripts may read it: without HttpOnly */
        EDDY_HTTP_SET_COOKIE_INSECURE = 1 << 1, /* also sent by http: without Secure */
};

/* Zeros are safe: for this host, all paths, the session, https only, not for scripts, SameSite=Lax. */
struct eddy_http_set_cookie {
        const char *name EDDY_UNSET;
        const char *value EDDY_UNSET;  /* NULL: remove the cookie */
        const char *path EDDY_UNSET;   /* NULL: "/" */
        const char *domain EDDY_UNSET; /* also for its subdomains; NULL: only for this host */
        int64_t max_age_s EDDY_UNSET;  /* 0: until the browser ends its session */
        uint8_t same_site EDDY_UNSET;  /* EDDY_HTTP_SAME_SITE_*; unset: Lax */
        uint8_t flags EDDY_UNSET;      /* EDDY_HTTP_SET_COOKIE_* */
        uint16_t reserved16 EDDY_UNSET;
        uint32_t reserved32 EDDY_UNSET;
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Add a header Set-Cookie to the response before it begins (eddy_http_exchange_add_header()).
 *
 * Suspends: no.
 * Errors: -EINVAL  the name is not a token, or the value, the path or the domain has a character that
 *                  cookies cannot have; 'max_age_s' is negative; the name begins with "__Secure-" or
 *                  "__Host-" in any case and the cookie is not secure, or with "__Host-" and it has a
 *                  domain or another path than "/"; EDDY_HTTP_SAME_SITE_NONE without Secure; name,
 *                  value and attributes have more than 4,096 bytes
 *         -ENOMEM
 *         those of eddy_http_exchange_add_header()
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_set_cookie(eddy_http_exchange *exchange,
                                                         const struct eddy_http_set_cookie *cookie);

EDDY_END_DECLS

#endif
