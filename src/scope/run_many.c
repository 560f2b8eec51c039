/*
 * scope/run_many.c - several loops that start and stop together.
 *
 * Each thread opens its loop and waits for the order to run or to close.  From then on a loop is an
 * ordinary run, which checks ed_many_is_stopped() after each poll.
 */
#include <errno.h>

#include "base/alloc.h"
#include "eddy/run_many.h"
#include "eddy/thread.h"
#include "scope/many.h"
#include "scope/run.h"
#include "sys/process/fork.h"
#include "sys/thread/thread.h"

/* Opens a loop on its thread, and reports the result. */
static struct ed_run *open_loop(struct ed_many_loop *loop)
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
                ed_many_fail(many, err);
        ed_cond_broadcast(&many->changed);
        ed_mutex_unlock(&many->lock);
        return run;
}

/* Records the end of a main task. */
static void main_ended(struct ed_many_loop *loop, struct ed_run *run, int result)
{
        struct ed_many *many = loop->many;

        ed_mutex_lock(&many->lock);
        loop->run = NULL;
        if (result == -ECANCELED && ed_run_is_stopped(run))
                many->cancelled = true;
        else if (result < 0)
                ed_many_fail(many, result);
        else if (run->many_index == 0)
                many->result = result;
        ed_mutex_unlock(&many->lock);
}

/* Runs the main task of a loop, or not, and closes the loop.  Returns the result. */
static int run_loop(struct ed_many_loop *loop, struct ed_run *run, enum ed_many_order order)
{
        struct ed_many *many = loop->many;
        int result = 0, signo;

        if (order == ED_MANY_RUN)
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
        struct ed_many_loop *loop = arg;
        struct ed_many *many = loop->many;
        struct ed_run *run = open_loop(loop);
        enum ed_many_order order;

        if (!run)
                return NULL;
        ed_mutex_lock(&many->lock);
        while (many->order == ED_MANY_WAIT)
                ed_cond_wait(&many->changed, &many->lock);
        order = many->order;
        ed_mutex_unlock(&many->lock);
        (void) run_loop(loop, run, order);
        return NULL;
}

/* Makes the other loops on their threads.  Returns the number of threads that were started. */
static uint32_t start_threads(struct ed_many *many)
{
        uint32_t started = 0;
        int err = 0;

        while (started + 1 < many->loops_count && err == 0) {
                struct ed_many_loop *loop = &many->loops[started + 1];

                err = ed_thread_new(&loop->thread, loop_thread, loop);
                if (err == 0)
                        started++;
        }
        ed_mutex_lock(&many->lock);
        if (err < 0)
                ed_many_fail(many, err);
        while (many->tried < started + 1)
                ed_cond_wait(&many->changed, &many->lock);
        many->order = many->err < 0 ? ED_MANY_CLOSE : ED_MANY_RUN;
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
