/*
 * fetch/run.h - one run of `eddy fetch`, as its files share it.
 *
 *     reader ---> queue of 2c items ---> c workers ---> output, taking turns
 *     (fetch/input.c)                    (fetch/worker.c)
 *
 * All of it hangs in the scope 'work'.  A signal or --deadline cancels that
 * scope; each worker then says what became of its item and leaves.
 */
#ifndef ED_CMD_FETCH_RUN_H
#define ED_CMD_FETCH_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/random.h"
#include "eddy/http_client.h"
#include "eddy/queue.h"
#include "eddy/scope.h"
#include "fetch/opts.h"
#include "fetch/output.h"
#include "fetch/save.h"
#include "fetch/stats.h"

struct ed_fetch_run {
        struct ed_fetch_opts opts;
        struct ed_output output;
        struct ed_save save;
        struct ed_stats stats;
        struct ed_random random;
        eddy_http_client *client;
        eddy_queue queue;
        eddy_scope *work;
        eddy_scope *whole; /* around it, with --deadline */
        bool idempotent;
        uint32_t workers;

        int input_fd;         /* -1: none */
        uint64_t input_total; /* bytes; 0: not known beforehand */
        uint64_t input_done;  /* bytes read and split */
        uint64_t input_urls;  /* found in them */
        bool input_whole;     /* read to its end */
        int input_err;
};

/* One URL on its way from the input to a worker, which frees it. */
struct ed_fetch_item {
        uint64_t index;
        int error; /* of the line, or 0 */
        size_t bytes;
        char url[]; /* a NUL behind, and within if the line holds one */
};

/*
 * The reader's task: args, then the input; shuts the queue down at the end.
 * Starts a worker with each of the first items.
 */
eddy_task_fn ed_fetch_read;

/* A worker's task: items until the queue is shut down or the run stopped. */
eddy_task_fn ed_fetch_work;

/* Why the run was stopped, now that a call in it was cancelled. */
enum ed_stop ed_fetch_stop(const struct ed_fetch_run *run);

/*
 * Account for an item that was read but will not be taken up, and free it:
 * with --deadline it gets a line, else it is counted.
 */
void ed_fetch_skip(struct ed_fetch_run *run, struct ed_fetch_item *item);

#endif
