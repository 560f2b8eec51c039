/*
 * draw/raster.h - how long tasks are in each state, in each column of a picture. No I/O.
 */
#ifndef ED_CMD_DRAW_RASTER_H
#define ED_CMD_DRAW_RASTER_H

#include <stdbool.h>
#include <stdint.h>

#include "draw/fold.h"
#include "draw/model.h"
#include "eddy/def.h"

struct ed_draw_raster {
        unsigned columns;
        double *amount[ED_DRAW_STATES]; /* in each column: 1 is a task for all of the column */
        bool *is_touched;               /* a task runs in the column, perhaps for no time */
        double most;                    /* the largest sum of a column */
};

/* Errors: -ENOMEM */
EDDY_MUST_USE int ed_draw_raster_init(struct ed_draw_raster *raster, unsigned columns);
void ed_draw_raster_fini(struct ed_draw_raster *raster);

/* Fill the columns with the tasks or scopes of a line; scopes run from begin to end. */
void ed_draw_raster_line(struct ed_draw_raster *raster, const struct ed_draw_run *run,
                         const struct ed_draw_scale *scale, const struct ed_draw_fold *fold,
                         uint32_t line);

/* Returns the state that a column mostly has, or ED_DRAW_STATES if no task is there. */
enum ed_draw_state ed_draw_raster_state(const struct ed_draw_raster *raster, unsigned column);

static inline double ed_draw_raster_sum(const struct ed_draw_raster *raster, unsigned column)
{
        return raster->amount[ED_DRAW_RUNS][column] + raster->amount[ED_DRAW_WAITS][column] +
               raster->amount[ED_DRAW_IS_READY][column];
}

/* Returns the largest number of members of a line at once. Errors: -ENOMEM */
EDDY_MUST_USE int64_t ed_draw_peak(const struct ed_draw_run *run, const struct ed_draw_fold *fold,
                                   uint32_t line);

#endif
