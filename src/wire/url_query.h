/*
 * wire/url_query.h - the pairs of a query as they are written.
 */
#ifndef ED_WIRE_URL_QUERY_H
#define ED_WIRE_URL_QUERY_H

#include <stdbool.h>

#include "base/def.h"
#include "eddy/url.h"

/* A pair before decoding; both parts borrow the query. */
struct ed_url_pair {
        struct eddy_url_part name, value;
};

/* Take the first pair away from 'query'. Returns false at the end. */
bool ed_url_pair_take(struct eddy_url_part *query, struct ed_url_pair *ret_pair);

#endif
