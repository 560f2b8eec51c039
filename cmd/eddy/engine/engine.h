/*
 * engine/engine.h - runs each request as a task, from the reader to its result.
 *
 *     reader --> room --> +--> reserve --> slot --> attempt --> judge --> finish
 *                         |                                       |          |
 *                         +------- wait, without a slot <---------+-- more --+
 *
 * A command supplies a table with a function for each step. Call everything here on the loop's
 * thread.
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

struct ed_engine_job;

/* The next step after an attempt. */
enum ed_verdict {
        ED_VERDICT_DONE,      /* finish */
        ED_VERDICT_RETRY,     /* another attempt, after a wait */
        ED_VERDICT_REFUSED,   /* the same attempt again, after a wait */
        ED_VERDICT_ABANDONED, /* the run ends: no further attempt and no result */
};

struct ed_engine_job_ops {
        /*
         * Wait for what an attempt needs before it takes a slot. If this fails, no attempt is made,
         * and judge() gets the error. NULL: nothing. Suspends: yes. Errors: the command's
         */
        int (*reserve)(struct ed_engine_job *job);

        /*
         * The job has a slot ('err' is 0), or could not take a slot ('err' is the error). On any
         * error, release what reserve() reserved. NULL: nothing. Errors: 'err'; -EAGAIN  reserve
         * again, because no request can be sent now
         */
        int (*slotted)(struct ed_engine_job *job, int err);

        /* Make an attempt. Suspends: yes. Errors: of the attempt */
        int (*attempt)(struct ed_engine_job *job);

        /* Decide what follows, and store the wait. There was no attempt if 'refused' is set. */
        enum ed_verdict (*judge)(struct ed_engine_job *job, int err, int64_t *ret_wait_ns);

        /* Report the result of the last attempt. Suspends: yes, also after a cancel. */
        void (*finish)(struct ed_engine_job *job, int err);

        /*
         * After finish(): returns true if the job has another request, which is prepared now. NULL:
         * never
         */
        bool (*more)(struct ed_engine_job *job);

        /* The run was stopped before the job had a result. Suspends: yes, also after a cancel. */
        void (*abandon)(struct ed_engine_job *job);

        /* The slot is returned: report the server's load during the attempt. NULL: unknown */
        enum eddy_concurrency_result (*release)(struct ed_engine_job *job);

        void (*free)(struct ed_engine_job *job);
};

struct ed_engine {
        const struct ed_engine_job_ops *ops;
        struct ed_stats *stats;
        struct ed_slots slots;
        struct ed_room room;
};

/* The engine's part of a job. It is the first member of the command's own struct. */
struct ed_engine_job {
        struct ed_engine *engine;
        eddy_scope *work; /* in which the job runs */
        uint64_t bytes;   /* memory of the job */
        int ticket;       /* of the slot; -1: none */
        int refused;      /* an error in the input that makes attempts impossible; 0: none */
        int cause;        /* of another attempt: the status of an answer, or a negative error */
};

/*
 * Start a job (owned) once there is room. On failure, the job was not started, and the caller still
 * owns it.
 *
 * Suspends: yes. Errors: as eddy_scope_start()
 */
EDDY_MUST_USE int ed_engine_job_start(struct ed_engine_job *job);

/* Return the slot early, for example while the job only waits for its turn to write its line. */
void ed_engine_job_give_slot(struct ed_engine_job *job);

#endif
