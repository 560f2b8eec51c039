/*
 * mock/latency.c - log-normal waits: many near the median, with a long tail.
 */
#include "mock/latency.h"

#include <math.h>

/* The 99th percentile's distance from the median, in standard deviations. */
#define P99_DEVIATIONS 2.3263478740408408

#define TWO_PI 6.283185307179586

/* Make a normal random number from two uniform ones (Box and Muller). */
static double draw_normal(struct ed_random *random)
{
        double a = 1 - ed_random_fraction(random); /* never 0, which has no logarithm */
        double b = ed_random_fraction(random);

        return sqrt(-2 * log(a)) * cos(TWO_PI * b);
}

int64_t ed_latency_draw(int64_t median_ns, int64_t p99_ns, struct ed_random *random)
{
        double spread, wait;

        if (median_ns <= 0 || p99_ns <= median_ns)
                return median_ns;
        spread = log((double) p99_ns / (double) median_ns) / P99_DEVIATIONS;
        wait = (double) median_ns * exp(spread * draw_normal(random));
        return wait < (double) ED_LATENCY_MAX_NS ? (int64_t) wait : ED_LATENCY_MAX_NS;
}
