/*
 * wire/accept_coding.h - the codings that a client accepts (RFC 9110, 12.4.2 and 12.5.3).
 */
#ifndef ED_WIRE_ACCEPT_CODING_H
#define ED_WIRE_ACCEPT_CODING_H

#include <stdint.h>

#include "base/def.h"

/* In order of preference if a client gives equal weights. */
enum ed_accept_coding_id {
        ED_ACCEPT_BR,
        ED_ACCEPT_ZSTD,
        ED_ACCEPT_GZIP, /* and "x-gzip" */
        ED_ACCEPT_IDENTITY,
        ED_ACCEPT_CODINGS, /* number of codings */
};

/* The fields Accept-Encoding of a request. */
struct ed_accept_coding {
        int16_t weights[ED_ACCEPT_CODINGS + 1]; /* the last is for "*"; below 0: not given */
};

ED_SHARED void ed_accept_coding_init(struct ed_accept_coding *accept);

/* Add the value of a field. List members that are invalid or were already given are ignored. */
ED_SHARED void ed_accept_coding_add(struct ed_accept_coding *accept, const char *value);

/*
 * Returns the weight of a coding in thousandths (1 to 1,000), or 0 if the coding is not acceptable.
 * A coding that is not in the list has the weight of "*", or 0 without a "*". ED_ACCEPT_IDENTITY is
 * different: if it is not in the list, it has the smallest weight, unless "*;q=0" excludes it.
 */
ED_SHARED int ed_accept_coding_weight(const struct ed_accept_coding *accept,
                                      enum ed_accept_coding_id coding);

/*
 * Remove the preferred coding from '*set' (bits 1 << coding) and return it. Returns
 * ED_ACCEPT_IDENTITY if none of the set is acceptable, or the client prefers content without a
 * coding.
 */
ED_SHARED enum ed_accept_coding_id ed_accept_coding_take(const struct ed_accept_coding *accept,
                                                         unsigned *set);

#endif
