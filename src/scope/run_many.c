/*
 * scope/run_many.c - several loops that start and stop together.
 *
 * Each thread opens its loop and waits for the order to run or to close.  From then on a loop is an
 * ordinary run, which checks ed_many_is_stopped() after each poll.  The lock protects the pointers
 * to the runs, so that a loop that stops the others wakes none that is being freed.
 */
#include "scope/run_many.h"

#include <errno.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "eddy/run_many.h"
#include "eddy/thread.h"
#include "scope/run.h"
#include "sys/fork.h"
#include "sys/thread.h"

enum order { ORDER_WAIT, ORDER_RUN, ORDER_CLOSE };

struct many_loop {
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
        enum order order;
        _Atomic bool stopped; /* set under the lock */
        bool cancelled;       /* a main task returned -ECANCELED because it was cancelled */
        int err;              /* the first failure */
        int result;           /* of the first loop's main task */
        int signo;            /* the signal that stopped the loops */
        struct many_loop loops[];
};

bool ed_many_is_stopped(const struct ed_many *many)
{
        return atomic_load_explicit(&many->stopped, memory_order_acquire);
}

/* Records the first failure; locked. */
static void fail(struct ed_many *many, int err)
{
        if (many->err == 0)
                many->err = err;
        atomic_store_explicit(&many->stopped, true, memory_order_release);
        for (uint32_t i = 0; i < many->loops_count; i++) {
                struct ed_run *run = many->loops[i].run;

                if (run)
                        run->loop.sys->ops->wake(run->loop.sys);
        }
}

/* Opens a loop on its thread, and reports the result. */
static struct ed_run *open_loop(struct many_loop *loop)
{
        struct ed_many *many = loop->many;
        struct ed_run *run = NULL;
        struct ed_sys *sys;
        int err = ed_run_table(&sys);

        if (err == 0)
                err = ed_run_open(sys, many->opts, &run);
        if (err == 0) {
                run->many = many;
                run->many_index = (uint32_t) (loop - many->loops);
                run->many_count = many->loops_count;
                if (run->many_index == 0)
                        ed_run_signals_join(run);
                else
                        ed_run_signals_share(run, many->loops[0].run);
        }
        ed_mutex_lock(&many->lock);
        loop->run = run;
        many->tried++;
        if (err < 0)
                fail(many, err);
        ed_cond_broadcast(&many->changed);
        ed_mutex_unlock(&many->lock);
        return run;
}

/* Records the end of a main task. */
static void main_ended(struct many_loop *loop, struct ed_run *run, int result)
{
        struct ed_many *many = loop->many;

        ed_mutex_lock(&many->lock);
        loop->run = NULL;
        if (result == -ECANCELED && ed_run_is_stopped(run))
                many->cancelled = true;
        else if (result < 0)
                fail(many, result);
        else if (run->many_index == 0)
                many->result = result;
        ed_mutex_unlock(&many->lock);
}

/* Runs the main task of a loop, or not, and closes the loop.  Returns the result. */
static int run_loop(struct many_loop *loop, struct ed_run *run, enum order order)
{
        struct ed_many *many = loop->many;
        int result = 0, signo;

        if (order == ORDER_RUN)
                result = ed_run_main(run, many->main_fn, many->arg);
        /* In a child of fork(), the lock may be held by a thread that does not exist there. */
        if (ed_sys_forked_since(many->forks)) {
                ed_run_close(run);
                return result;
        }
        main_ended(loop, run, result);
        ed_run_close(run);
        signo = eddy_run_signal();
        ed_mutex_lock(&many->lock);
        if (signo)
                many->signo = signo;
        ed_mutex_unlock(&many->lock);
        return result;
}

static void *loop_thread(void *arg)
{
        struct many_loop *loop = arg;
        struct ed_many *many = loop->many;
        struct ed_run *run = open_loop(loop);
        enum order order;

        if (!run)
                return NULL;
        ed_mutex_lock(&many->lock);
        while (many->order == ORDER_WAIT)
                ed_cond_wait(&many->changed, &many->lock);
        order = many->order;
        ed_mutex_unlock(&many->lock);
        (void) run_loop(loop, run, order);
        return NULL;
}

void ed_many_forsake(struct ed_run *run)
{
        struct ed_many *many = run->many;

        if (ed_sys_forked_since(many->forks))
                return;
        ed_mutex_lock(&many->lock);
        many->loops[run->many_index].run = NULL;
        fail(many, EDDY_E_LOOP_CLOSED);
        ed_mutex_unlock(&many->lock);
}

/* Makes the other loops on their threads.  Returns the number of threads that were started. */
static uint32_t start_threads(struct ed_many *many)
{
        uint32_t started = 0;
        int err = 0;

        while (started + 1 < many->loops_count && err == 0) {
                struct many_loop *loop = &many->loops[started + 1];

                err = ed_thread_new(&loop->thread, loop_thread, loop);
                if (err == 0)
                        started++;
        }
        ed_mutex_lock(&many->lock);
        if (err < 0)
                fail(many, err);
        while (many->tried < started + 1)
                ed_cond_wait(&many->changed, &many->lock);
        many->order = many->err < 0 ? ORDER_CLOSE : ORDER_RUN;
        ed_cond_broadcast(&many->changed);
        ed_mutex_unlock(&many->lock);
        return started;
}

/* Runs all loops.  Returns false in a child of fork(), which has none of the other threads. */
static bool run_all(struct ed_many *many, int *ret_result)
{
        struct ed_run *run = open_loop(&many->loops[0]);
        uint32_t started;

        if (!run) {
                *ret_result = many->err;
                return true;
        }
        started = start_threads(many);
        *ret_result = run_loop(&many->loops[0], run, many->order);
        if (ed_sys_forked_since(many->forks))
                return false;
        for (uint32_t i = 1; i <= started; i++)
                ed_thread_join(many->loops[i].thread);
        ed_run_signal_note(many->signo);
        *ret_result = many->err < 0 ? many->err : many->cancelled ? -ECANCELED : many->result;
        return true;
}

int eddy_run_many_with(uint32_t n, eddy_task_fn *main_fn, void *arg,
                       const struct eddy_run_opts *opts)
{
        struct ed_many *many;
        int result;

        if (n == 0)
                n = eddy_cpu_count() < EDDY_RUN_MANY_MAX ? eddy_cpu_count() : EDDY_RUN_MANY_MAX;
        if (n > EDDY_RUN_MANY_MAX || !main_fn)
                return -EINVAL;
        if (ed_loop_current)
                return EDDY_E_RUN_NESTED;
        ed_run_signal_forget();
        many = ed_alloc_zero(sizeof(*many) + n * sizeof(many->loops[0]));
        if (!many)
                return -ENOMEM;
        ed_run_watch_forks();
        many->main_fn = main_fn;
        many->arg = arg;
        many->opts = opts;
        many->forks = ed_sys_forks();
        many->loops_count = n;
        ed_mutex_init(&many->lock);
        ed_cond_init(&many->changed);
        for (uint32_t i = 0; i < n; i++)
                many->loops[i].many = many;
        if (!run_all(many, &result))
                return result;
        ed_cond_fini(&many->changed);
        ed_mutex_fini(&many->lock);
        ed_free(many);
        return result;
}

int eddy_run_many(uint32_t n, eddy_task_fn *main_fn, void *arg)
{
        return eddy_run_many_with(n, main_fn, arg, NULL);
}

uint32_t eddy_run_index(void)
{
        return ed_loop_current ? ed_run_of(ed_loop_current)->many_index : 0;
}

uint32_t eddy_run_count(void)
{
        return ed_loop_current && ed_run_of(ed_loop_current)->many
                       ? ed_run_of(ed_loop_current)->many_count
                       : 1;
}
