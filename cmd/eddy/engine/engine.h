/*
 * engine/engine.h - requests on their way through a run: a task for each.
 *
 *     reader --> room --> +--> reserve --> slot --> attempt --> judge --> finish
 *                         |                                       |
 *                         +------- wait, without a slot <---------+
 *
 * A command says in a table what each step does. All calls are for the loop's thread.
 */
#ifndef ED_CMD_ENGINE_ENGINE_H
#define ED_CMD_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/stats.h"
#include "eddy/def.h"
#include "eddy/scope.h"
#include "engine/room.h"
#include "engine/slots.h"

struct ed_job;

/* The next step after an attempt. */
enum ed_verdict {
        ED_VERDICT_DONE,      /* finish */
        ED_VERDICT_RETRY,     /* another attempt, after a wait */
        ED_VERDICT_REFUSED,   /* the same attempt again, after a wait */
        ED_VERDICT_ABANDONED, /* the run ends: no attempt follows, and no result */
};

struct ed_job_ops {
        /*
         * Wait for what an attempt needs before its slot. The result of a failure is judged without
         * an attempt. NULL: nothing. Suspends: yes. Errors: the command's
         */
        int (*reserve)(struct ed_job *job);

        /*
         * The job has a slot ('err' 0), or gets none and has to release what was reserved. NULL:
         * nothing. Errors: -EAGAIN  reserve again, because no request can be sent now; 'err'
         */
        int (*slotted)(struct ed_job *job, int err);

        /* Make an attempt. Suspends: yes. Errors: of the attempt */
        int (*attempt)(struct ed_job *job);

        /* Decide what follows, and store the time to wait. A job that is 'refused' had no attempt. */
        enum ed_verdict (*judge)(struct ed_job *job, int err, int64_t *ret_wait_ns);

        /* Report the result of the last attempt. Suspends: yes, also after a cancel. */
        void (*finish)(struct ed_job *job, int err);

        /* The run was stopped before there was a result. Suspends: yes, also after a cancel. */
        void (*abandon)(struct ed_job *job);

        /* The slot is given back: report how the server bore the attempt. NULL: nothing */
        enum eddy_concurrency_result (*release)(struct ed_job *job);

        void (*free)(struct ed_job *job);
};

struct ed_engine {
        const struct ed_job_ops *ops;
        struct ed_stats *stats;
        struct ed_slots slots;
        struct ed_room room;
        eddy_scope *work; /* of all jobs */
};

/* The part of a job that the engine knows: the first member of the command's own struct. */
struct ed_job {
        struct ed_engine *engine;
        uint64_t bytes; /* memory that the job has */
        int ticket;     /* of the slot; -1: none */
        int refused;    /* the input's error, if it makes attempts impossible; 0: none */
};

/*
 * Start a job (owned) once there is room. On failure it was not started, and still belongs to the
 * caller.
 *
 * Suspends: yes. Errors: as eddy_scope_start()
 */
EDDY_MUST_USE int ed_job_start(struct ed_job *job);

/* Give the slot back early, as a job that only waits for its turn to report. */
void ed_job_give_slot(struct ed_job *job);

#endif
