/*
 * batch/run/unit.h - a unit of work of a run: requests of one input, whose answers go to one sink, in
 * a scope of their own. `eddy batch` has one.
 *
 *     reader --> a task for each request --> turn of its endpoints --> slot --> attempt --> sink
 *     (reader.c) (engine/, job.c)            (endpoint.c)
 *
 * engine/engine.h describes the tasks. All tasks are in the scope 'work'. If that scope is cancelled,
 * every wait for a turn, a slot or the next attempt ends. Attempts are shielded, and continue until
 * 'attempts.end_ns'.
 */
#ifndef ED_CMD_BATCH_RUN_UNIT_H
#define ED_CMD_BATCH_RUN_UNIT_H

#include "batch/run/attempt.h"
#include "batch/run/checked.h"
#include "batch/run/input.h"
#include "batch/run/order.h"
#include "batch/run/run.h"
#include "batch/run/settings.h"
#include "batch/run/sink.h"
#include "eddy/scope.h"

struct ed_batch_unit {
        struct ed_batch_unit *next; /* of those that the run works at */
        struct ed_batch_run *run;
        const struct ed_batch_paths *paths;
        struct ed_batch_input input;
        struct ed_batch_checked checked;
        struct ed_batch_sink sink;
        struct ed_attempts attempts; /* those in flight */
        struct ed_order order;
        eddy_scope *work; /* of all tasks; NULL: not begun, or ended */
};

/* Begin and end a part of the run's work: 'work' is the scope of the unit's tasks. */
void ed_unit_join(struct ed_batch_unit *unit, eddy_scope *work);
void ed_unit_leave(struct ed_batch_unit *unit);

/* Send no new request of the unit, and let its attempts continue until 'end_ns'. */
void ed_unit_end(struct ed_batch_unit *unit, int64_t end_ns);

#endif
