/*
 * sys/thread/worker_thread.h - threads that run one job at a time, for tables that use the kernel.
 *
 * The loop's thread assigns jobs. A worker knows only its job; when the job is done, the worker
 * adds itself to its table's list, and the next poll turns the list into events.
 */
#ifndef ED_SYS_THREAD_WORKER_THREAD_H
#define ED_SYS_THREAD_WORKER_THREAD_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/list.h"
#include "sys/sys.h"

/* The workers of one table. */
struct ed_workers {
        struct ed_sys *sys; /* woken when a job is done */
        pthread_mutex_t lock;
        struct ed_list done;    /* workers whose finished job was not reported yet */
        _Atomic bool have_done; /* the list is not empty; written under the lock */
};

void ed_workers_init(struct ed_workers *workers, struct ed_sys *sys);
void ed_workers_fini(struct ed_workers *workers);

/* Returns true if poll() has a finished job to report, so that it must not wait. */
static inline bool ed_workers_have_done(struct ed_workers *workers)
{
        return atomic_load_explicit(&workers->have_done, memory_order_relaxed);
}

/*
 * Store at most 'max' finished jobs as events; their workers become idle. Returns the number
 * stored.
 */
int ed_workers_collect(struct ed_workers *workers, struct ed_event *events, int max);

/* Operations of the table. */
int ed_worker_new(struct ed_workers *workers, const char *name, struct ed_worker **ret_worker);
void ed_worker_run(struct ed_sys *sys, struct ed_worker *worker, struct ed_job *job);
void ed_worker_free(struct ed_sys *sys, struct ed_worker *worker);
void ed_worker_abandon(struct ed_sys *sys, struct ed_worker *worker);

/*
 * As pthread_create(3), for a thread that receives no signals except its own faults. Returns 0 or
 * -errno.
 */
int ed_thread_start(pthread_t *ret_thread, void *(*fn)(void *arg), void *arg);

#endif
