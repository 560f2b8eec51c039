/*
 * load_latency.h - a histogram of latencies, whose classes are at most 1/64 wide.
 */
#ifndef BENCH_LOAD_LATENCY_H
#define BENCH_LOAD_LATENCY_H

#include <stdint.h>

enum {
        LOAD_LATENCY_BITS = 6,
        LOAD_LATENCY_CLASSES = (64 - LOAD_LATENCY_BITS) << LOAD_LATENCY_BITS
};

struct load_latencies {
        uint64_t classes[LOAD_LATENCY_CLASSES];
        uint64_t count;
        int64_t max_ns;
};

/* The class of a value: its highest bit, and the six bits below. */
static inline int load_latency_class(uint64_t ns)
{
        int shift = ns >> LOAD_LATENCY_BITS ? 63 - __builtin_clzll(ns) - LOAD_LATENCY_BITS : 0;

        return ns >> LOAD_LATENCY_BITS ? ((shift + 1) << LOAD_LATENCY_BITS) + (int) (ns >> shift) -
                                                 (1 << LOAD_LATENCY_BITS)
                                       : (int) ns;
}

static inline void load_latency_add(struct load_latencies *latencies, int64_t ns)
{
        latencies->classes[load_latency_class(ns > 0 ? (uint64_t) ns : 0)]++;
        latencies->count++;
        if (ns > latencies->max_ns)
                latencies->max_ns = ns;
}

/* The lower end of the class of which 'share' of the values are not above. */
static inline int64_t load_latency_below(const struct load_latencies *latencies, double share)
{
        uint64_t wanted = (uint64_t) ((double) latencies->count * share), seen = 0;

        for (int i = 0; i < LOAD_LATENCY_CLASSES; i++) {
                int shift = i >> LOAD_LATENCY_BITS;

                seen += latencies->classes[i];
                if (seen > wanted || seen == latencies->count)
                        return shift == 0 ? i
                                          : (int64_t) ((i & ((1 << LOAD_LATENCY_BITS) - 1)) +
                                                       (1 << LOAD_LATENCY_BITS))
                                                    << (shift - 1);
        }
        return latencies->max_ns;
}

#endif
