/*
 * sys/worker.h - threads that run one job at a time, for the tables that stand
 * on the kernel.
 *
 * Who gets which job is decided on the loop's thread.  A worker knows nothing
 * but its job; when that is done it puts itself on its table's list, which
 * the next poll turns into events.
 */
#ifndef ED_SYS_WORKER_H
#define ED_SYS_WORKER_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/list.h"
#include "sys/sys.h"

/* Of one table. */
struct ed_workers {
        struct ed_sys *sys; /* woken when a job is done */
        pthread_mutex_t lock;
        struct ed_list done;    /* workers whose job is done and was not told of */
        _Atomic bool have_done; /* the list is not empty; written under the lock */
};

void ed_workers_init(struct ed_workers *workers, struct ed_sys *sys);
void ed_workers_fini(struct ed_workers *workers);

/* Whether a job is done that poll() has not told of: it must not wait then. */
static inline bool ed_workers_have_done(struct ed_workers *workers)
{
        return atomic_load_explicit(&workers->have_done, memory_order_relaxed);
}

/* Store at most 'max' jobs that are done, as events; their workers are idle.  Returns how many. */
int ed_workers_collect(struct ed_workers *workers, struct ed_event *events, int max);

/* As in the table. */
int ed_worker_new(struct ed_workers *workers, const char *name, struct ed_worker **ret_worker);
void ed_worker_run(struct ed_sys *sys, struct ed_worker *worker, struct ed_job *job);
void ed_worker_free(struct ed_sys *sys, struct ed_worker *worker);
void ed_worker_abandon(struct ed_sys *sys, struct ed_worker *worker);

/*
 * pthread_create(3) of a thread that no signal is sent to, but for faults of
 * its own.  Returns 0 or -errno.
 */
int ed_thread_start(pthread_t *ret_thread, void *(*fn)(void *arg), void *arg);

#endif
