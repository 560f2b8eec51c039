/*
 * sys/thread/worker_thread.c - threads that run one job at a time, and the list of those that are
 * done.
 *
 * Two locks, taken in this order: a worker's, for its job and its end, and the table's, for the
 * list of finished workers. A worker adds itself to the list under its own lock, so
 * ed_worker_abandon() sees the worker either before or after that. If the worker is waking the
 * table, ed_worker_abandon() waits until that is done. A worker therefore never touches a freed
 * table.
 */
#include "sys/thread/worker_thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"

enum { NAME_BYTES = 16 }; /* the kernel's limit */

struct worker {
        struct ed_worker base;
        struct ed_workers *workers;
        pthread_t thread;
        pthread_mutex_t lock;
        pthread_cond_t changed;
        bool fresh;          /* has a job that was not begun */
        bool ended;          /* the idle worker must end */
        bool abandoned;      /* ends after its job, without reporting completion */
        bool waking;         /* is waking the table, without the lock */
        struct ed_list done; /* in the table's list; guarded by the table's lock */
        char name[NAME_BYTES];
};

static struct worker *self(struct ed_worker *worker)
{
        return ed_container_of(worker, struct worker, base);
}

/* --- finished jobs --- */

void ed_workers_init(struct ed_workers *workers, struct ed_sys *sys)
{
        workers->sys = sys;
        pthread_mutex_init(&workers->lock, NULL);
        ed_list_init(&workers->done);
        atomic_init(&workers->have_done, false);
}

void ed_workers_fini(struct ed_workers *workers)
{
        pthread_mutex_destroy(&workers->lock);
}

/*
 * Wake the table without the lock, which the loop may need at once; the lock is held before and
 * after.
 */
static void wake_table(struct worker *w)
{
        w->waking = true;
        pthread_mutex_unlock(&w->lock);
        w->workers->sys->poll->wake(w->workers->sys);
        pthread_mutex_lock(&w->lock);
        w->waking = false;
        pthread_cond_broadcast(&w->changed);
}

static void report_done(struct worker *w)
{
        struct ed_workers *workers = w->workers;
        bool first;

        pthread_mutex_lock(&workers->lock);
        first = ed_list_is_empty(&workers->done);
        ed_list_push_back(&workers->done, &w->done);
        atomic_store_explicit(&workers->have_done, true, memory_order_relaxed);
        pthread_mutex_unlock(&workers->lock);
        /*
         * Only the first of several finished jobs wakes the table, until the table has collected
         * them.
         */
        if (first)
                wake_table(w);
}

int ed_workers_collect(struct ed_workers *workers, struct ed_event *events, int max)
{
        int n = 0;

        if (!ed_workers_have_done(workers))
                return 0;
        pthread_mutex_lock(&workers->lock);
        while (n < max && !ed_list_is_empty(&workers->done)) {
                struct ed_list *link = ed_list_pop_front(&workers->done);
                struct worker *w = ed_container_of(link, struct worker, done);

                events[n++] = (struct ed_event){ .target = &w->base.job->done };
                w->base.job = NULL;
        }
        atomic_store_explicit(&workers->have_done, !ed_list_is_empty(&workers->done),
                              memory_order_relaxed);
        pthread_mutex_unlock(&workers->lock);
        return n;
}

/* --- a worker's life --- */

static void worker_destroy(struct worker *w)
{
        pthread_cond_destroy(&w->changed);
        pthread_mutex_destroy(&w->lock);
        ed_free(w);
}

/* Wait for a job, with the lock held. Returns NULL if the worker must end. */
static struct ed_job *next_job(struct worker *w)
{
        while (!w->fresh && !w->ended)
                pthread_cond_wait(&w->changed, &w->lock);
        if (!w->fresh)
                return NULL;
        w->fresh = false;
        return w->base.job;
}

static void *worker_main(void *arg)
{
        struct worker *w = arg;
        struct ed_job *job;
        bool abandoned = false;

        (void) pthread_setname_np(pthread_self(), w->name);
        pthread_mutex_lock(&w->lock);
        while (!abandoned && (job = next_job(w))) {
                pthread_mutex_unlock(&w->lock);
                job->run(job);
                pthread_mutex_lock(&w->lock);
                abandoned = w->abandoned;
                if (!abandoned)
                        report_done(w);
        }
        pthread_mutex_unlock(&w->lock);
        if (abandoned) {
                job->leave(job);
                worker_destroy(w);
        }
        return NULL;
}

int ed_worker_new(struct ed_workers *workers, const char *name, struct ed_worker **ret_worker)
{
        struct worker *w = ed_alloc_zero(sizeof(*w));
        int err;

        if (!w)
                return -ENOMEM;
        w->workers = workers;
        snprintf(w->name, sizeof(w->name), "%s", name);
        ed_list_init(&w->done);
        pthread_mutex_init(&w->lock, NULL);
        pthread_cond_init(&w->changed, NULL);
        err = ed_thread_start(&w->thread, worker_main, w);
        if (err < 0) {
                worker_destroy(w);
                return err;
        }
        *ret_worker = &w->base;
        return 0;
}

void ed_worker_run(struct ed_sys *sys, struct ed_worker *worker, struct ed_job *job)
{
        struct worker *w = self(worker);

        (void) sys;
        ed_assert(!worker->job, "a worker was given a job while it had one");
        pthread_mutex_lock(&w->lock);
        worker->job = job;
        w->fresh = true;
        pthread_mutex_unlock(&w->lock);
        /*
         * Signal after unlocking, so that the worker gets the lock at once. This is safe, because
         * only this thread ends the worker.
         */
        pthread_cond_signal(&w->changed);
}

void ed_worker_free(struct ed_sys *sys, struct ed_worker *worker)
{
        struct worker *w = self(worker);

        (void) sys;
        ed_assert(!worker->job, "a worker was freed that has a job");
        pthread_mutex_lock(&w->lock);
        w->ended = true;
        pthread_cond_signal(&w->changed);
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->thread, NULL);
        worker_destroy(w);
}

/* Remove the worker from the list of finished ones. Returns false if it was not in the list. */
static bool take_back(struct worker *w)
{
        struct ed_workers *workers = w->workers;
        bool listed;

        pthread_mutex_lock(&workers->lock);
        listed = !ed_list_is_empty(&w->done);
        ed_list_remove(&w->done);
        atomic_store_explicit(&workers->have_done, !ed_list_is_empty(&workers->done),
                              memory_order_relaxed);
        pthread_mutex_unlock(&workers->lock);
        return listed;
}

void ed_worker_abandon(struct ed_sys *sys, struct ed_worker *worker)
{
        struct worker *w = self(worker);
        struct ed_job *job;
        bool is_done;

        ed_assert(worker->job, "a worker was abandoned that has no job");
        pthread_mutex_lock(&w->lock);
        while (w->waking)
                pthread_cond_wait(&w->changed, &w->lock);
        is_done = take_back(w);
        if (!is_done) {
                w->abandoned = true;
                (void) pthread_detach(w->thread);
        }
        pthread_mutex_unlock(&w->lock);
        if (!is_done)
                return; /* the worker may be freed already */
        job = worker->job;
        worker->job = NULL;
        job->leave(job);
        ed_worker_free(sys, worker);
}

/* --- threads --- */

int ed_thread_start(pthread_t *ret_thread, void *(*fn)(void *arg), void *arg)
{
        static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };
        sigset_t blocked, former;
        int err;

        /* Signals go to the other threads, except faults, which are the thread's own. */
        sigfillset(&blocked);
        for (size_t i = 0; i < ed_array_count(faults); i++)
                sigdelset(&blocked, faults[i]);
        pthread_sigmask(SIG_SETMASK, &blocked, &former);
        err = pthread_create(ret_thread, NULL, fn, arg);
        pthread_sigmask(SIG_SETMASK, &former, NULL);
        return -err;
}

uint32_t ed_sys_cpu_count(void)
{
        cpu_set_t set;
        long n;

        if (sched_getaffinity(0, sizeof(set), &set) == 0)
                n = CPU_COUNT(&set);
        else
                n = sysconf(_SC_NPROCESSORS_ONLN); /* more processors than the set can hold */
        return n > 0 ? (uint32_t) n : 1;
}
