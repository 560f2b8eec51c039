/*
 * io/process_pool.h - pools of worker processes, for the files of io/process_*.c.
 */
#ifndef ED_IO_PROCESS_POOL_H
#define ED_IO_PROCESS_POOL_H

#include "eddy/process_pool.h"
#include "io/watch.h"
#include "sys/process/worker_packet.h"

struct eddy_process_pool {
        struct ed_list link; /* in its loop's list of pools */
        struct ed_member member;
        unsigned forks; /* ed_sys_forks() when it was opened */
        uint32_t workers_max, queued_max, calls_max;
        uint64_t memory_bytes_max;
        struct ed_list idle; /* workers; the most recently busy one is first */
        struct ed_list busy;
        uint32_t workers; /* idle, busy, and those that a call is about to start */
        uint32_t running, queued;
        uint32_t users;   /* calls and maps that were accepted and have not returned */
        void *line[2];    /* calls that wait for a worker; they get one, or the right to start it */
        void *joiners[2]; /* tasks that wait until there are no users */
        bool is_shut;
        bool is_terminated;
        bool is_freed; /* closed outside of a task: the last user frees it */
        uint64_t started, died;
        uint32_t died_young; /* in succession, before they had answered a call */
};

/*
 * Begin a call or a map. Errors: -ECANCELED, -EINVAL, -EBUSY, EDDY_E_PROCESS_POOL_CLOSED,
 * EDDY_E_RUN_OTHER_LOOP, EDDY_E_LOOP_FORKED.
 */
EDDY_MUST_USE int ed_process_pool_enter(eddy_process_pool *pool, struct ed_task **ret_task);
void ed_process_pool_leave(eddy_process_pool *pool);

/*
 * Send a request to a worker and receive the result into 'call', whose sizes the head repeats.
 * Suspends. Errors: as eddy_process_pool_call().
 */
EDDY_MUST_USE int ed_process_pool_talk(eddy_process_pool *pool, const struct ed_worker_packet *head,
                                       struct eddy_process_call *call);

#endif
