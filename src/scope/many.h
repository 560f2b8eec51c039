/*
 * scope/many.h - what the loops of eddy_run_many() share.
 *
 * The lock protects the pointers to the runs, so that a loop that stops the others does not wake
 * one that is being freed.
 */
#ifndef ED_SCOPE_MANY_H
#define ED_SCOPE_MANY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "eddy/run.h"
#include "sys/thread/thread.h"

struct ed_run;

enum ed_many_order { ED_MANY_WAIT, ED_MANY_RUN, ED_MANY_CLOSE };

struct ed_many_loop {
        struct ed_many *many;
        struct ed_run *run; /* NULL: not open, or its main task has ended */
        struct ed_thread_id thread;
};

struct ed_many {
        eddy_task_fn *main_fn;
        void *arg;
        const struct eddy_run_opts *opts;
        unsigned forks; /* ed_sys_forks() when it was made */
        uint32_t loops_count;
        struct ed_mutex lock;   /* protects everything below */
        struct ed_cond changed; /* 'tried' or 'order' */
        uint32_t tried;         /* threads that have opened their loop, or failed to */
        enum ed_many_order order;
        _Atomic bool stopped; /* set under the lock */
        bool cancelled;       /* a main task returned -ECANCELED because it was cancelled */
        int err;              /* the first failure */
        int result;           /* of the first loop's main task */
        int signo;            /* the signal that stopped the loops */
        struct ed_many_loop loops[];
};

/* Returns true if the main task of each loop must end.  Any thread. */
bool ed_many_is_stopped(const struct ed_many *many);

/* Records the first failure, and stops all loops; locked. */
void ed_many_fail(struct ed_many *many, int err);

/* The thread of the run ends before the run does.  The other loops are stopped. */
void ed_many_forsake(struct ed_run *run);

#endif
