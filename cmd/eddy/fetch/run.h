/*
 * fetch/run.h - one run of `eddy fetch`, shared by its files.
 *
 *     reader ---> queue of 2c items ---> c workers ---> output, taking turns
 *     (fetch/input.c)                    (fetch/worker.c)
 *
 * All tasks run in the scope 'work'. A signal or --deadline cancels that scope; each worker then
 * reports the result of its item and ends.
 */
#ifndef ED_CMD_FETCH_RUN_H
#define ED_CMD_FETCH_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/output.h"
#include "common/stats.h"
#include "eddy/http_client.h"
#include "eddy/queue.h"
#include "eddy/retry.h"
#include "eddy/scope.h"
#include "fetch/opts.h"
#include "fetch/save.h"

struct ed_fetch_run {
        struct ed_fetch_opts opts;
        struct ed_output output;
        struct ed_save save;
        struct ed_stats stats;
        struct ed_show show;
        struct eddy_retry_policy retry_policy;
        eddy_http_client *client;
        eddy_queue queue;
        eddy_scope *work;
        eddy_scope *whole; /* around 'work', with --deadline */
        bool idempotent;
        bool setup_failed; /* a proxy, or a file of --cacert, --cert or --key, cannot be used */
        uint32_t workers;

        int input_fd;         /* -1: none */
        uint64_t input_total; /* bytes; 0: unknown in advance */
        uint64_t input_done;  /* bytes read and split */
        uint64_t input_urls;  /* URLs found in those bytes */
        bool input_whole;     /* read to its end */
        int input_err;
};

/* A URL on its way from the input to a worker, which frees the item. */
struct ed_fetch_item {
        uint64_t index;
        int error; /* error of the line, or 0 */
        size_t bytes;
        char url[]; /* ends in a NUL, and may contain one if the line does */
};

/*
 * The reader's task: reads arguments, then the input, and shuts the queue down at the end. Starts a
 * worker with each of the first items.
 */
eddy_task_fn ed_fetch_read;

/* A worker's task: processes items until the queue is shut down or the run is stopped. */
eddy_task_fn ed_fetch_work;

/* Returns why the run was stopped, after a call in it was cancelled. */
enum ed_stop ed_fetch_stop(const struct ed_fetch_run *run);

/*
 * Record an item that was read but will not be processed, and free it: with --deadline it gets a
 * line, otherwise it is counted.
 */
void ed_fetch_skip(struct ed_fetch_run *run, struct ed_fetch_item *item);

#endif
