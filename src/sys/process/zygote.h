/*
 * sys/process/zygote.h - the process that starts the workers of process pools.
 *
 * The zygote is forked at the beginning of main and never runs code of the program. Orders go to it
 * over one socket, on any thread, as single packets; it does not answer. Each order to start a
 * worker carries the worker's end of a new socket. The zygote keeps a copy: it kills the worker when
 * the other end is shut down or closed, and reports the worker's end there, after it has collected
 * the worker.
 */
#ifndef ED_SYS_PROCESS_ZYGOTE_H
#define ED_SYS_PROCESS_ZYGOTE_H

#include "sys/process/worker_packet.h"

enum { ED_ZYGOTE_WORKERS_MAX = 1024 };

/* Fork it, unless that was done. Errors: EDDY_E_PROCESS_POOL_LATE, those of fork(2). */
int ed_zygote_prepare(void);

/* End it and collect it. Only tests call this; what it changes is known to zygote.c alone. */
ED_SHARED void ed_zygote_end(void);

/* Returns true if this process itself has prepared. */
bool ed_zygote_is_prepared(void);

/*
 * Operation of the table: start a worker and store this end of its socket. Errors:
 * EDDY_E_PROCESS_POOL_LOST, -EAGAIN, -EMFILE, -ENFILE, -ENOMEM.
 */
int ed_zygote_start(struct ed_sys *sys, uint64_t memory_bytes_max, int *ret_fd);

/* The life of a worker, in its process. */
ED_SHARED __attribute__((noreturn)) void ed_worker_process_run(int fd, uint64_t memory_bytes_max);

/* Steps of a worker at which a test may let it fail. */
enum ed_work_step {
        ED_WORK_RECEIVE, /* the head of a call has come */
        ED_WORK_DECODE,  /* the input was read */
        ED_WORK_RUN,
        ED_WORK_ENCODE, /* the function has returned */
        ED_WORK_SEND,   /* the first packet of the result was sent */
        ED_WORK_SENT,
        ED_WORK_STEPS,
};

/*
 * Called at each step; an error fails that step. Returns the former function; NULL: none. Only tests
 * set one, in the process that starts the workers.
 */
typedef int ed_work_at_fn(enum ed_work_step step);
ED_SHARED ed_work_at_fn *ed_work_test_at_set(ed_work_at_fn *fn);

#endif
