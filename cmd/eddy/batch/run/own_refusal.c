/*
 * batch/run/own_refusal.c - see own_refusal.h.
 */
#include "batch/run/own_refusal.h"

#include "eddy/time.h"

/* A refusal while no request was answered, after such a wait. */
enum { ALONE_BITS = 8 };
#define ALONE_NS EDDY_SEC(30)

/* Returns the bits of the share of refusals, each with one more than was seen; 0 to 63. */
static unsigned bits_of(uint64_t answered, uint64_t refused)
{
        uint64_t ratio = (answered + refused + 2) / (refused + 1);
        unsigned bits = 0;

        while (ratio >>= 1)
                bits++;
        return bits;
}

/* Returns the bits of another refusal. */
static unsigned bits_more(const struct ed_own_refusal *own, const struct ed_refusal_counts *counts,
                          int64_t now_ns)
{
        uint64_t answered = counts->answered - own->seen.answered;
        uint64_t refused = counts->refused - own->seen.refused;

        if (own->at_ns == 0)
                return 0;
        if (answered > 0)
                return bits_of(answered, refused);
        return own->bits > 0 && now_ns - own->at_ns >= ALONE_NS ? ALONE_BITS : 0;
}

bool ed_own_refusal_add(struct ed_own_refusal *own, struct ed_refusal_counts *counts,
                        int64_t now_ns)
{
        if (own->bits < ED_OWN_REFUSAL_BITS)
                own->bits += bits_more(own, counts, now_ns);
        if (own->bits >= ED_OWN_REFUSAL_BITS)
                return true;
        counts->refused++;
        own->seen = *counts;
        own->at_ns = now_ns;
        return false;
}
