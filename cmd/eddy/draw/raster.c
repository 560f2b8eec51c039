/*
 * draw/raster.c - see raster.h.
 */
#include "draw/raster.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/alloc.h"

int ed_draw_raster_init(struct ed_draw_raster *raster, unsigned columns)
{
        double *amounts = eddy_malloc(ED_DRAW_STATES * columns * sizeof(double));
        bool *touched = eddy_malloc(columns * sizeof(bool));

        if (!amounts || !touched) {
                eddy_free(amounts);
                eddy_free(touched);
                return -ENOMEM;
        }
        *raster = (struct ed_draw_raster){ .columns = columns, .is_touched = touched };
        for (unsigned state = 0; state < ED_DRAW_STATES; state++)
                raster->amount[state] = amounts + state * columns;
        return 0;
}

void ed_draw_raster_fini(struct ed_draw_raster *raster)
{
        eddy_free(raster->amount[0]);
        eddy_free(raster->is_touched);
}

/* Add a state from place to place, both from 0 to 1. */
static void span_add(struct ed_draw_raster *raster, enum ed_draw_state state, double begin,
                     double end)
{
        double from = begin * raster->columns, to = end * raster->columns;
        unsigned column = from > 0 ? (unsigned) from : 0;

        if (column >= raster->columns)
                column = raster->columns - 1;
        if (state == ED_DRAW_RUNS)
                raster->is_touched[column] = true;
        for (; column < raster->columns && column < to; column++) {
                double left = from > column ? from : column;
                double right = to < column + 1 ? to : column + 1;

                if (right <= left)
                        continue;
                raster->amount[state][column] += right - left;
                if (state == ED_DRAW_RUNS)
                        raster->is_touched[column] = true;
        }
}

void ed_draw_raster_line(struct ed_draw_raster *raster, const struct ed_draw_run *run,
                         const struct ed_draw_scale *scale, const struct ed_draw_fold *fold,
                         uint32_t line)
{
        memset(raster->amount[0], 0, ED_DRAW_STATES * raster->columns * sizeof(double));
        memset(raster->is_touched, 0, raster->columns * sizeof(bool));
        raster->most = 0;
        for (uint32_t at = fold->lines[line].first; at != ED_DRAW_NONE; at = fold->next[at]) {
                const struct ed_draw_node *node = &run->nodes[at];

                if (node->kind == ED_DRAW_SCOPE)
                        span_add(raster, ED_DRAW_RUNS, ed_draw_part(scale, run, node->begin),
                                 ed_draw_part(scale, run, node->end));
                for (uint32_t i = node->first; i != ED_DRAW_NONE; i = run->segments[i].next) {
                        const struct ed_draw_segment *segment = &run->segments[i];

                        span_add(raster, segment->state, ed_draw_part(scale, run, segment->begin),
                                 ed_draw_part(scale, run, segment->end));
                }
        }
        for (unsigned i = 0; i < raster->columns; i++)
                if (ed_draw_raster_sum(raster, i) > raster->most)
                        raster->most = ed_draw_raster_sum(raster, i);
}

enum ed_draw_state ed_draw_raster_state(const struct ed_draw_raster *raster, unsigned column)
{
        enum ed_draw_state most = ED_DRAW_RUNS;

        for (enum ed_draw_state state = ED_DRAW_WAITS; state < ED_DRAW_STATES; state++)
                if (raster->amount[state][column] > raster->amount[most][column])
                        most = state;
        if (raster->amount[most][column] > 0 || raster->is_touched[column])
                return most;
        return ED_DRAW_STATES;
}

static int number_compare(const void *a, const void *b)
{
        uint32_t first = *(const uint32_t *) a, second = *(const uint32_t *) b;

        return first < second ? -1 : first > second;
}

int64_t ed_draw_peak(const struct ed_draw_run *run, const struct ed_draw_fold *fold, uint32_t line)
{
        uint32_t count = fold->lines[line].count, n = 0, ended = 0, most = 0;
        uint32_t *ends = eddy_malloc(count * sizeof(*ends) + 1);

        if (!ends)
                return -ENOMEM;
        for (uint32_t at = fold->lines[line].first; at != ED_DRAW_NONE; at = fold->next[at])
                ends[n++] = run->nodes[at].end;
        qsort(ends, n, sizeof(*ends), number_compare);
        /* Nodes are in the order of their begins. */
        n = 0;
        for (uint32_t at = fold->lines[line].first; at != ED_DRAW_NONE; at = fold->next[at]) {
                while (ended < n && ends[ended] < run->nodes[at].begin)
                        ended++;
                n++;
                if (n - ended > most)
                        most = n - ended;
        }
        eddy_free(ends);
        return most;
}
