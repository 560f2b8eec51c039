/*
 * http/exchange_cookies.h - all cookies of a request with the same name.
 */
#ifndef ED_HTTP_EXCHANGE_COOKIES_H
#define ED_HTTP_EXCHANGE_COOKIES_H

#include "eddy/http_exchange_cookies.h"

/* A position in a request's headers. All zero: the beginning. */
struct ed_http_cookie_place {
        size_t header;    /* the index of the next header */
        const char *rest; /* not searched, of the header before; NULL: none */
};

/*
 * Find the next cookie with the name, as eddy_http_exchange_cookie() finds the first, and move
 * 'place' after it.
 *
 * Errors: -ENOENT  no further cookie has the name
 */
EDDY_MUST_USE int ed_http_exchange_cookie_next(const eddy_http_exchange *exchange, const char *name,
                                               struct ed_http_cookie_place *place,
                                               const char **ret_value, size_t *ret_bytes);

#endif
