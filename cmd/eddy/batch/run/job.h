/*
 * batch/run/job.h - the task of a request: its attempts, the waits between them, and its line.
 */
#ifndef ED_CMD_BATCH_RUN_JOB_H
#define ED_CMD_BATCH_RUN_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "batch/answer/split.h"
#include "batch/request/bundle.h"
#include "batch/run/key_use.h"
#include "batch/run/own_refusal.h"
#include "batch/run/unit.h"
#include "eddy/event.h"
#include "eddy/retry.h"
#include "engine/engine.h"

struct ed_batch_job {
        struct ed_engine_job base;
        struct ed_batch_unit *unit;
        struct ed_request *request; /* owned, or that of the bundle */
        struct ed_bundle *bundle;   /* NULL: the job is one row */
        struct ed_split split;      /* of the answer to several rows */
        char *error;                /* of the line; NULL: none */
        uint64_t number;            /* in the order of the input */
        int64_t read_ns;
        struct eddy_retry retry;
        unsigned attempts;
        struct ed_key_trials trials;
        struct ed_own_refusal own_refusal;
        bool was_sent;
        bool is_final;             /* sending it again would not help, if its answer is a failure */
        unsigned place;            /* of its first row in the run (alike.h) */
        int alike;                 /* the cause with which it was counted there; 0: not counted */
        eddy_event turn;           /* of --ordered */
        struct ed_attempt attempt; /* last, as it is large */
};

static inline struct ed_batch_job *ed_batch_job_of(struct ed_engine_job *base)
{
        return (struct ed_batch_job *) base; /* its first member */
}

/*
 * Start the task of a request (owned), once there is room for it. 'error' is a sentence about a
 * fault in its line, or NULL. It is copied.
 *
 * Suspends: yes. Errors: -ECANCELED, -ENOMEM; the request is freed
 */
EDDY_MUST_USE int ed_jobs_add(struct ed_batch_unit *unit, struct ed_request *request,
                              const char *error);

/*
 * Start the task of a bundle (owned) of at least one row: its rows are sent as one request, and each
 * gets a line. If a server refuses the request as wrong or too large, halves of it are sent.
 *
 * Suspends: yes. Errors: as ed_jobs_add(); the bundle is freed
 */
EDDY_MUST_USE int ed_jobs_add_bundle(struct ed_batch_unit *unit, struct ed_bundle *bundle);

/* The steps of all jobs. */
extern const struct ed_engine_job_ops ed_batch_job_ops;

#endif
