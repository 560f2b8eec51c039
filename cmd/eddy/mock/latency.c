/*
 * mock/latency.c - random waits: constant, log-normal, uniform, exponential, Pareto.
 */
#include "mock/latency.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "mock/number.h"

/* The 99th percentile's distance from the median, in standard deviations. */
#define P99_DEVIATIONS 2.3263478740408408

#define TWO_PI 6.283185307179586

/* With a larger shape, all waits would be equal, or limited. */
#define SHAPE_MAX 100.0

/* Make a normal random number from two uniform ones (Box and Muller). */
static double draw_normal(struct ed_random *random)
{
        double a = 1 - ed_random_fraction(random); /* never 0, which has no logarithm */
        double b = ed_random_fraction(random);

        return sqrt(-2 * log(a)) * cos(TWO_PI * b);
}

struct ed_latency ed_latency_of_p99(int64_t median_ns, int64_t p99_ns)
{
        struct ed_latency latency = { .kind = ED_LATENCY_CONSTANT, .ns = median_ns };

        if (median_ns <= 0 || p99_ns <= median_ns)
                return latency;
        latency.kind = ED_LATENCY_LOGNORMAL;
        latency.shape = log((double) p99_ns / (double) median_ns) / P99_DEVIATIONS;
        return latency;
}

int64_t ed_latency_draw(const struct ed_latency *latency, struct ed_random *random)
{
        double wait = (double) latency->ns;

        switch (latency->kind) {
        case ED_LATENCY_CONSTANT:
                return latency->ns;
        case ED_LATENCY_LOGNORMAL:
                wait *= exp(latency->shape * draw_normal(random));
                break;
        case ED_LATENCY_UNIFORM:
                wait += (double) (latency->max_ns - latency->ns) * ed_random_fraction(random);
                break;
        case ED_LATENCY_EXPONENTIAL:
                wait *= -log(1 - ed_random_fraction(random));
                break;
        case ED_LATENCY_PARETO:
                wait *= pow(1 - ed_random_fraction(random), -1 / latency->shape);
                break;
        }
        return wait < (double) ED_LATENCY_MAX_NS ? (int64_t) wait : ED_LATENCY_MAX_NS;
}

/* The distributions. The second value is a duration, a number above 0, or absent. */
static const struct {
        const char *name;
        enum ed_latency_kind kind;
        enum { SECOND_NONE, SECOND_DURATION, SECOND_SHAPE } second;
        const char *format;
} distributions[] = {
        { "lognormal:", ED_LATENCY_LOGNORMAL, SECOND_SHAPE,
          "is not lognormal:MEDIAN:SIGMA, as in lognormal:200ms:0.5" },
        { "uniform:", ED_LATENCY_UNIFORM, SECOND_DURATION,
          "is not uniform:MIN:MAX, as in uniform:10ms:50ms" },
        { "exp:", ED_LATENCY_EXPONENTIAL, SECOND_NONE, "is not exp:MEAN, as in exp:100ms" },
        { "pareto:", ED_LATENCY_PARETO, SECOND_SHAPE,
          "is not pareto:MIN:ALPHA, as in pareto:50ms:1.5" },
};

/* Parse the values after the name of distribution 'i'. */
static int values_parse(size_t i, const char *at, struct ed_latency *latency)
{
        const char *why;

        latency->kind = distributions[i].kind;
        at = ed_number_read_duration(at, ":", &latency->ns, &why);
        if (!at)
                return -EINVAL;
        if (distributions[i].second == SECOND_NONE)
                return *at ? -EINVAL : 0;
        if (*at != ':')
                return -EINVAL;
        if (distributions[i].second == SECOND_DURATION) {
                at = ed_number_read_duration(at + 1, ":", &latency->max_ns, &why);
                return !at || *at || latency->max_ns < latency->ns ? -EINVAL : 0;
        }
        at = ed_number_read(at + 1, &latency->shape);
        return !at || *at || latency->shape <= 0 || latency->shape > SHAPE_MAX ? -EINVAL : 0;
}

int ed_latency_parse(const char *text, struct ed_latency *ret_latency, const char **ret_why)
{
        struct ed_latency latency = { .kind = ED_LATENCY_CONSTANT };
        bool named = false;

        for (size_t i = 0; i < sizeof(distributions) / sizeof(distributions[0]) && !named; i++) {
                size_t bytes = strlen(distributions[i].name);

                if (strncmp(text, distributions[i].name, bytes) != 0)
                        continue;
                named = true;
                if (values_parse(i, text + bytes, &latency) < 0) {
                        *ret_why = distributions[i].format;
                        return -EINVAL;
                }
        }
        if (!named && strchr(text, ':')) {
                *ret_why = "has an unknown distribution: lognormal, uniform, exp and pareto are "
                           "known";
                return -EINVAL;
        }
        if (!named && !ed_number_read_duration(text, "", &latency.ns, ret_why))
                return -EINVAL;
        if (latency.ns > ED_LATENCY_MAX_NS || latency.max_ns > ED_LATENCY_MAX_NS) {
                *ret_why = "is above the maximum, 1h";
                return -EINVAL;
        }
        *ret_latency = latency;
        return 0;
}
