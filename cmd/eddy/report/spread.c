/*
 * report/spread.c - bins of equal width on a log scale.
 */
#include "report/spread.h"

#include <math.h>

static unsigned bin_of(int64_t value_ns)
{
        double bin = value_ns > 1000 ? log2((double) value_ns / 1000) * ED_SPREAD_OCTAVE : 0;

        return bin < ED_SPREAD_BINS - 1 ? (unsigned) bin : ED_SPREAD_BINS - 1;
}

/* Add without an overflow. */
static void bin_add(uint32_t *bin, uint32_t count)
{
        *bin = count > UINT32_MAX - *bin ? UINT32_MAX : *bin + count;
}

void ed_spread_add(struct ed_spread *spread, int64_t value_ns)
{
        bin_add(&spread->bins[bin_of(value_ns)], 1);
        if (spread->count == 0 || value_ns < spread->min_ns)
                spread->min_ns = value_ns;
        spread->count++;
        if (value_ns > spread->max_ns)
                spread->max_ns = value_ns;
}

void ed_spread_merge(struct ed_spread *spread, const struct ed_spread *other)
{
        if (other->count == 0)
                return;
        for (unsigned i = 0; i < ED_SPREAD_BINS; i++)
                bin_add(&spread->bins[i], other->bins[i]);
        if (spread->count == 0 || other->min_ns < spread->min_ns)
                spread->min_ns = other->min_ns;
        spread->count += other->count;
        if (other->max_ns > spread->max_ns)
                spread->max_ns = other->max_ns;
}

double ed_spread_edge(unsigned bin)
{
        return 1000 * exp2((double) bin / ED_SPREAD_OCTAVE);
}

double ed_spread_value(const struct ed_spread *spread, unsigned permille)
{
        uint64_t rank =
                spread->count / 1000 * permille + (spread->count % 1000 * permille + 999) / 1000;
        uint64_t seen = 0;
        unsigned last = 0;

        if (spread->count == 0)
                return 0;
        for (unsigned i = 0; i < ED_SPREAD_BINS; i++) {
                if (spread->bins[i] == 0)
                        continue;
                seen += spread->bins[i];
                last = i;
                if (seen >= rank)
                        break;
        }
        return fmax(fmin(sqrt(ed_spread_edge(last) * ed_spread_edge(last + 1)),
                         (double) spread->max_ns),
                    (double) spread->min_ns);
}
