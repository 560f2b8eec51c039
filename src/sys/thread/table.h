/*
 * sys/thread/table.h - the part of the table for threads that run jobs.
 */
#ifndef ED_SYS_THREAD_TABLE_H
#define ED_SYS_THREAD_TABLE_H

#include <stdint.h>

#include "sys/poll/table.h"

struct ed_sys;

/* A function for a worker to run; embedded in an object that its owner allocated. */
struct ed_job {
        struct ed_target done;             /* notified after run() */
        void (*run)(struct ed_job *job);   /* on the worker's thread */
        void (*leave)(struct ed_job *job); /* on the worker's thread after run(), instead of 'done',
                                            * if the worker was abandoned */
};

/* A thread that runs one job at a time; each table embeds this in its own struct. */
struct ed_worker {
        struct ed_job *job; /* NULL: idle */
};

/* Threads that run jobs. */
struct ed_sys_worker {
        /* Returns the number of processors this process may use, at least 1. */
        uint32_t (*cpu_count)(struct ed_sys *sys);
        /* Start a thread for jobs. 'name' is cut to 15 bytes. Errors: -EAGAIN, -ENOMEM. */
        int (*start)(struct ed_sys *sys, const char *name, struct ed_worker **ret_worker);
        /* Let an idle worker run 'job'; poll() reports its completion. */
        void (*run)(struct ed_sys *sys, struct ed_worker *worker, struct ed_job *job);
        /* End an idle worker, and wait for its thread. */
        void (*end)(struct ed_sys *sys, struct ed_worker *worker);
        /*
         * Abandon a busy worker: the completion of its job is not reported, and the worker ends
         * after the job. The worker may outlive the table.
         */
        void (*abandon)(struct ed_sys *sys, struct ed_worker *worker);
};

#endif
