/*
 * fetch/run.h - one run of `eddy fetch`, shared by its files.
 *
 *     reader ---------> a task for each URL ----> slot --> attempt --> output
 *     (fetch/input.c)   (engine/, fetch/job.c)
 *
 * engine/engine.h describes the tasks. All tasks are in the scope 'work'. A signal or
 * --deadline cancels that scope; each task then reports the result of its URL, and ends.
 */
#ifndef ED_CMD_FETCH_RUN_H
#define ED_CMD_FETCH_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/output.h"
#include "common/stats.h"
#include "eddy/http_client.h"
#include "eddy/retry.h"
#include "eddy/scope.h"
#include "engine/engine.h"
#include "fetch/opts.h"
#include "fetch/resume.h"
#include "fetch/save.h"

enum { ED_FETCH_READ_BYTES = 16 << 10 };

struct ed_fetch_run {
        struct ed_fetch_opts opts;
        struct ed_output output;
        struct ed_save save;
        struct ed_resume resume; /* results of an earlier run */
        uint64_t index;          /* of the next URL */
        struct ed_stats stats;
        struct ed_show show;
        struct eddy_retry_policy retry_policy;
        eddy_http_client *client;
        struct ed_engine engine;
        eddy_scope *work;  /* of all jobs */
        eddy_scope *whole; /* around 'work', with --deadline */
        bool idempotent;
        bool is_continued; /* with --save: bodies that were cut, by requests for the rest */
        bool hangup;       /* SIGHUP ended the run */
        bool setup_failed; /* a proxy, or a file of --cacert, --cert or --key, cannot be used */
        char discarded[ED_FETCH_READ_BYTES]; /* bodies that are not kept */

        int input_fd;         /* -1: none */
        uint64_t input_total; /* bytes; 0: unknown in advance */
        uint64_t input_done;  /* bytes read and split */
        uint64_t input_urls;  /* URLs found in those bytes */
        bool input_whole;     /* read to its end */
        int input_err;
};

/* The task of the reader, which reads the arguments, then the input, and starts a job per URL. */
eddy_task_fn ed_fetch_read;

/* The steps of all jobs. */
extern const struct ed_engine_job_ops ed_fetch_job_ops;

/*
 * Start the task of a URL, once there is room for it. 'refused' is the error of its line, or 0. If
 * the task cannot start, the URL is counted, or, with --deadline, gets a line.
 *
 * Suspends: yes. Errors: -ECANCELED, -ENOMEM
 */
EDDY_MUST_USE int ed_fetch_add(struct ed_fetch_run *run, const char *url, size_t bytes,
                               int refused);

/* Returns the signal that ended the run, or 0. */
int ed_fetch_signal(const struct ed_fetch_run *run);

/* Returns the reason why the run was stopped, after one of its calls was cancelled. */
enum ed_stop ed_fetch_stop(const struct ed_fetch_run *run);

#endif
