/*
 * test_run.c - eddy_run() on the real clock: its options, signals,
 * threads, and calls from outside of it.
 */
#include <eddy/eddy.h>
#include <eddy/test.h>
#include <eddy/test_explore.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "scope/run.h"
#include "starve.h"
#include "test.h"

static int returns(void *arg)
{
        return (int) (intptr_t) arg;
}

/* A111: one run after another works, each with its own result. */
TEST(runs_one_after_another_work)
{
        for (int i = -5; i < 5; i++)
                CHECK_EQ(eddy_run(returns, (void *) (intptr_t) i, NULL), i);
}

static int runs_again(void *arg)
{
        CHECK_EQ(eddy_run(returns, arg, NULL), EDDY_E_RUN_NESTED);
        return eddy_sleep(1);
}

/* A16: a run inside a run fails clearly and leaves the outer one alone. */
TEST(a_nested_run_fails)
{
        CHECK_EQ(eddy_run(runs_again, NULL, NULL), 0);
        CHECK_EQ(eddy_run(returns, NULL, NULL), 0);
}

TEST(options_that_are_not_valid_are_refused)
{
        CHECK_EQ(eddy_run(returns, NULL, &(struct eddy_run_opts){ .flags = 1u << 31 }), -EINVAL);
        CHECK_EQ(eddy_run(returns, NULL, &(struct eddy_run_opts){ .watchdog_ns = -1 }), -EINVAL);
}

TEST(run_without_a_main_function_is_refused)
{
        eddy_loop *loop;

        CHECK_EQ(eddy_run(NULL, NULL, NULL), -EINVAL);
        CHECK_EQ(eddy_test_run(NULL, NULL, NULL, NULL), -EINVAL);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_SEEDS, NULL, NULL, NULL, NULL), -EINVAL);
        CHECK_EQ(eddy_test_explore(NULL, NULL, NULL, NULL, NULL), -EINVAL);
        CHECK_EQ(eddy_loop_new(NULL, &loop), 0);
        CHECK_EQ(eddy_loop_run(loop, NULL, NULL), -EINVAL);
        CHECK_EQ(eddy_loop_run(loop, returns, NULL), 0);
        eddy_loop_close(loop);
}

TEST(a_run_without_memory_fails_and_leaves_nothing)
{
        int enough = 0, allowed;

        eddy_alloc_set(starve, NULL);
        for (allowed = 0; allowed < 50 && !enough; allowed++) {
                int result;

                allocations_left = allowed;
                result = eddy_run(returns, (void *) 1, NULL);
                CHECK(result == 1 || result == -ENOMEM);
                enough = result == 1;
        }
        CHECK(enough && allowed > 2);
}

/* --- outside --- */

TEST(calls_outside_of_a_run_say_so)
{
        eddy_semaphore sem = EDDY_SEMAPHORE(1, 0);
        struct eddy_run_info info;
        struct eddy_lag lag = { .count = 7 };
        struct eddy_call call = { returns, NULL, 0 };
        eddy_queue queue = { 0 };
        void *item = NULL;

        CHECK_EQ(eddy_sleep(0), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_sleep(1), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_semaphore_acquire(&sem), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_semaphore_units(&sem), 1);
        CHECK_EQ(eddy_queue_put(&queue, &item), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_queue_get(&queue, &item), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_gather(&call, 1, 0), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_call_timeout(returns, NULL, 1), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_background(returns, NULL), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_run_info(&info), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_run_lag(&lag), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(lag.count, 7);
        CHECK(eddy_task_current() == NULL);
        eddy_task_ready();
        CHECK(eddy_now() > 0);
        CHECK_EQ(eddy_run_signal(), 0);
}

static int asks_info(void *arg)
{
        struct eddy_run_info info;

        (void) arg;
        CHECK_EQ(eddy_sleep(1), 0);
        CHECK_EQ(eddy_run_info(&info), 0);
        CHECK_STR(info.poller, "epoll");
        CHECK(info.guard != NULL);
        CHECK_EQ(info.tasks, 1);
        CHECK(info.switches > 0 && info.polls > 0);
        return 0;
}

TEST(the_run_names_its_parts)
{
        CHECK_EQ(eddy_run(asks_info, NULL, NULL), 0);
}

static int keeps_the_loop(void *arg)
{
        struct eddy_lag before, after;
        int64_t until_ns;

        (void) arg;
        CHECK_EQ(eddy_run_lag(&before), 0);
        until_ns = eddy_now() + EDDY_MS(5);
        while (eddy_now() < until_ns)
                continue;
        CHECK_EQ(eddy_sleep(1), 0);
        CHECK_EQ(eddy_run_lag(&after), 0);
        CHECK(after.count > before.count);
        CHECK(after.max_ns >= EDDY_MS(5));
        CHECK(eddy_lag_percentile(&after, 100) == after.max_ns);
        return 0;
}

TEST(a_busy_task_shows_in_the_lag_of_the_loop)
{
        CHECK_EQ(eddy_run(keeps_the_loop, NULL, NULL), 0);
}

/* --- threads --- */

static int sleeps_a_little(void *arg)
{
        for (int i = 0; i < 20; i++)
                CHECK_EQ(eddy_sleep(EDDY_US(100)), 0);
        return (int) (intptr_t) arg;
}

static void *runs_in_thread(void *arg)
{
        return (void *) (intptr_t) eddy_run(sleeps_a_little, arg, NULL);
}

TEST(threads_run_loops_side_by_side)
{
        pthread_t threads[4];

        for (intptr_t i = 0; i < 4; i++)
                CHECK_EQ(pthread_create(&threads[i], NULL, runs_in_thread, (void *) (i + 10)), 0);
        CHECK_EQ(eddy_run(sleeps_a_little, (void *) 9, NULL), 9);
        for (intptr_t i = 0; i < 4; i++) {
                void *result;

                CHECK_EQ(pthread_join(threads[i], &result), 0);
                CHECK_EQ((intptr_t) result, i + 10);
        }
}

/* --- signals --- */

static int raises_and_waits(void *arg)
{
        int signo = (int) (intptr_t) arg;

        CHECK_EQ(raise(signo), 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(60)), -ECANCELED);
        CHECK_EQ(eddy_run_signal(), signo);
        return -ECANCELED;
}

/* A107: the first signal cancels main, which may clean up; the run returns what main does. */
TEST(the_first_signal_cancels_main)
{
        CHECK_EQ(eddy_run(raises_and_waits, (void *) SIGINT, NULL), -ECANCELED);
        CHECK_EQ(eddy_run_signal(), SIGINT);
        CHECK_EQ(eddy_run(raises_and_waits, (void *) SIGTERM, NULL), -ECANCELED);
        CHECK_EQ(eddy_run_signal(), SIGTERM);
        CHECK_EQ(eddy_run(returns, NULL, NULL), 0);
        CHECK_EQ(eddy_run_signal(), 0);
}

/* A109: main may swallow it; the run returns normally then. */
static int swallows_signal(void *arg)
{
        (void) arg;
        raise(SIGINT);
        while (eddy_sleep(EDDY_MS(1)) == 0)
                continue;
        return 12;
}

TEST(main_may_swallow_the_signal)
{
        CHECK_EQ(eddy_run(swallows_signal, NULL, NULL), 12);
}

static int raises_twice(void *arg)
{
        (void) arg;
        raise(SIGINT);
        while (eddy_sleep(EDDY_MS(1)) == 0)
                continue;
        raise(SIGINT);
        return 0;
}

/* A108: the second ends the process, by that signal. */
TEST_DIES(the_second_signal_ends_the_process, SIGINT)
{
        (void) eddy_run(raises_twice, NULL, NULL);
}

/* A110: dispositions are afterwards what they were. */
TEST(dispositions_are_put_back)
{
        static const int signals[] = { SIGINT, SIGTERM, SIGSEGV, SIGBUS };
        struct sigaction before[4], after;

        for (int i = 0; i < 4; i++)
                CHECK_EQ(sigaction(signals[i], NULL, &before[i]), 0);
        CHECK_EQ(eddy_run(raises_and_waits, (void *) SIGINT, NULL), -ECANCELED);
        for (int i = 0; i < 4; i++) {
                CHECK_EQ(sigaction(signals[i], NULL, &after), 0);
                CHECK(after.sa_handler == before[i].sa_handler);
        }
}

TEST_DIES(after_the_run_a_signal_acts_as_before, SIGTERM)
{
        CHECK_EQ(eddy_run(returns, NULL, NULL), 0);
        raise(SIGTERM);
}

static volatile sig_atomic_t handled;

static void on_signal(int signo)
{
        handled = signo;
}

static int raises_handled(void *arg)
{
        raise(SIGINT);
        CHECK_EQ(eddy_sleep(EDDY_MS(2)), 0);
        return (int) (intptr_t) arg;
}

/* A107: only the default disposition is taken over. */
TEST(a_handler_of_the_program_is_left_alone)
{
        signal(SIGINT, on_signal);
        CHECK_EQ(eddy_run(raises_handled, (void *) 2, NULL), 2);
        CHECK_EQ(handled, SIGINT);
        CHECK_EQ(eddy_run_signal(), 0);
        signal(SIGINT, SIG_IGN);
        CHECK_EQ(eddy_run(raises_handled, (void *) 3, NULL), 3);
        /* The other signal is still the run's. */
        CHECK_EQ(eddy_run(raises_and_waits, (void *) SIGTERM, NULL), -ECANCELED);
}

TEST_DIES(without_signals_they_are_the_programs, SIGINT)
{
        (void) eddy_run(raises_and_waits, (void *) SIGINT,
                        &(struct eddy_run_opts){ .flags = EDDY_RUN_NO_SIGNALS });
}

/* A104: a signal that comes while the background drains cancels that. */
static int raises_late(void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_sleep(EDDY_MS(5)), 0);
        raise(SIGINT);
        return eddy_sleep(EDDY_SEC(60));
}

static int starts_raiser(void *arg)
{
        return eddy_background(raises_late, arg);
}

TEST(a_signal_while_draining_cancels_the_background)
{
        CHECK_EQ(eddy_run(starts_raiser, NULL, NULL), 0);
        CHECK_EQ(eddy_run_signal(), SIGINT);
}

/* A signal is seen while tasks yield for ever, and so are timers. */
static int yields_until_cancelled(void *arg)
{
        (void) arg;
        while (eddy_sleep(0) == 0)
                continue;
        return 0;
}

static int many_yield(void *arg)
{
        eddy_scope scope;

        (void) arg;
        raise(SIGINT);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 5; i++)
                eddy_scope_start(&scope, yields_until_cancelled, NULL);
        return eddy_scope_end(&scope);
}

static int many_yield_under_deadline(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_MS(3) });
        for (int i = 0; i < 5; i++)
                eddy_scope_start(&scope, yields_until_cancelled, NULL);
        return eddy_scope_end(&scope);
}

TEST(signals_and_timers_are_seen_while_tasks_yield_for_ever)
{
        CHECK_EQ(eddy_run(many_yield, NULL, NULL), -ECANCELED);
        CHECK_EQ(eddy_run(many_yield_under_deadline, NULL, NULL), -ETIMEDOUT);
}

/* --- overflow --- */

__attribute__((noinline)) static int recurses(volatile char *above, int depth)
{
        volatile char frame[512];

        frame[0] = (char) (above ? above[0] + depth : depth);
        if (depth < 1 << 20)
                return recurses(frame, depth + 1) + frame[0];
        return frame[0];
}

static int overflows(void *arg)
{
        (void) arg;
        return recurses(NULL, 0);
}

TEST_DIES(a_task_that_overflows_its_stack_ends_the_process_by_a_fault, SIGSEGV)
{
#if defined(ED_ASAN) || defined(ED_TSAN) || defined(ED_MSAN) || defined(ED_UNDER_VALGRIND)
        test_skip("sanitizers have handlers and limits of their own");
#endif
        (void) eddy_run(overflows, NULL, NULL);
}
