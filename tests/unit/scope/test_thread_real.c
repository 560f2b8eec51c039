/*
 * test_thread_real.c - pools on the kernel's threads: many jobs at once, stop
 * tokens that a running job sees, and jobs that outlive their run.
 */
#include <eddy/eddy.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

static _Atomic int runs, releases, running, most_running;

static void count_release(void *arg)
{
        (void) arg;
        releases++;
}

static void wait_for(sem_t *sem)
{
        while (sem_wait(sem) < 0)
                CHECK_EQ(errno, EINTR);
}

static int run_with(eddy_task_fn *fn, int64_t drain_ns, eddy_report_fn *report, void *report_arg)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG,
                                      .drain_ns = drain_ns,
                                      .report = report,
                                      .report_arg = report_arg };

        return eddy_run(fn, NULL, &opts);
}

/* --- many --- */

enum { TASKS = 50, CALLS = 40, THREADS = 4 };

static eddy_thread_pool *pool;

static int add(void *arg)
{
        int now = ++running, most = most_running;

        while (now > most && !atomic_compare_exchange_weak(&most_running, &most, now))
                continue;
        runs++;
        ++*(int *) arg;
        running--;
        return 0;
}

static int call_often(void *arg)
{
        struct eddy_thread_opts opts = { .release = count_release };
        int sum = 0;

        (void) arg;
        for (int i = 0; i < CALLS; i++) {
                opts.flags = i % 5 == 0 ? EDDY_THREAD_SLOW : 0;
                CHECK_EQ(eddy_thread_pool_call(pool, add, &sum, &opts), 0);
                CHECK_EQ(sum, i + 1);
        }
        return 0;
}

static int main_of_many(void *arg)
{
        struct eddy_thread_pool_opts opts = { .threads_max = THREADS, .slow_max = 1 };
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_thread_pool_new(&opts, &pool), 0);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < TASKS; i++)
                CHECK_EQ(eddy_scope_start(&scope, call_often, NULL), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_thread_pool_shutdown(pool), 0);
        eddy_thread_pool_close(pool);
        return 0;
}

TEST(many_jobs_on_few_threads_each_run_once)
{
        CHECK_EQ(run_with(main_of_many, 0, NULL, NULL), 0);
        CHECK_EQ(runs, TASKS * CALLS);
        CHECK_EQ(releases, TASKS * CALLS);
        CHECK(most_running <= THREADS + 1);
}

static int look_around(void *arg)
{
        CHECK(!pthread_equal(*(pthread_t *) arg, pthread_self()));
        CHECK_EQ(eddy_sleep(0), EDDY_E_RUN_NOT_RUNNING);
        CHECK(!eddy_task_current());
        CHECK(!eddy_thread_is_stopping());
        return 3;
}

static int main_of_look(void *arg)
{
        pthread_t self = pthread_self();

        (void) arg;
        return eddy_to_thread(look_around, &self);
}

/* A115: a job runs on another thread, on which it is no task. */
TEST(a_job_runs_on_another_thread)
{
        CHECK_EQ(run_with(main_of_look, 0, NULL, NULL), 3);
}

/* --- asked to stop --- */

static int spin_until_released(void *arg)
{
        runs++;
        while (!eddy_thread_is_stopping())
                (void) sched_yield();
        return *(int *) arg;
}

static int call_spin(void *arg)
{
        struct eddy_thread_opts opts = { .flags = *(unsigned *) arg, .release = count_release };
        static int result = 11;

        return eddy_thread_pool_call(NULL, spin_until_released, &result, &opts);
}

static int main_of_reported(void *arg)
{
        unsigned waits = 0, leaves = EDDY_THREAD_ABANDON;

        (void) arg;
        CHECK_EQ(eddy_call_timeout(call_spin, &waits, EDDY_MS(1)), 11);
        CHECK_EQ(eddy_call_timeout(call_spin, &leaves, EDDY_MS(1)), -ETIMEDOUT);
        return 0;
}

/* A116: the waiter of a job that is asked to stop gets its result; a caller that may leave does not. */
TEST(a_running_job_sees_that_it_is_to_stop)
{
        CHECK_EQ(run_with(main_of_reported, 0, NULL, NULL), 0);
        CHECK_EQ(runs, 2);
        CHECK_EQ(releases, 2);
}

/* --- fork --- */

static int main_of_fork(void *arg)
{
        int sum = 0, status;
        pid_t pid;

        (void) arg;
        CHECK_EQ(eddy_thread_pool_new(NULL, &pool), 0);
        CHECK_EQ(eddy_thread_pool_call(pool, add, &sum, NULL), 0);
        pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
                /* The idle thread is the parent's: here it would be waited for in vain. */
                (void) alarm(100);
                if (eddy_to_thread(add, &sum) != EDDY_E_RUN_NOT_RUNNING ||
                    eddy_thread_pool_shutdown(pool) != 0)
                        _exit(1);
                eddy_thread_pool_close(pool);
                _exit(0);
        }
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        CHECK_EQ(eddy_thread_pool_call(pool, add, &sum, NULL), 0);
        eddy_thread_pool_close(pool);
        return sum;
}

TEST(a_child_of_fork_does_not_touch_the_parents_threads)
{
        CHECK_EQ(run_with(main_of_fork, 0, NULL, NULL), 2);
}

/* --- longer than its run --- */

static sem_t go, gone;

static int hang(void *arg)
{
        (void) arg;
        wait_for(&go);
        /* The run closed its pool long ago. */
        return !eddy_thread_is_stopping();
}

static void say_gone(void *arg)
{
        (void) arg;
        sem_post(&gone);
}

static int call_hang(void *arg)
{
        struct eddy_thread_opts opts = { .flags = EDDY_THREAD_ABANDON, .release = say_gone };

        (void) arg;
        return eddy_thread_pool_call(NULL, hang, NULL, &opts);
}

static int main_of_hang(void *arg)
{
        (void) arg;
        return eddy_call_timeout(call_hang, NULL, EDDY_MS(1));
}

static void count_threads_left(const struct eddy_report *report, void *arg)
{
        *(int *) arg += report->kind == EDDY_REPORT_THREAD;
}

/* A104: the run's end is bounded, whatever a job does. */
TEST(a_job_that_hangs_outlives_its_run)
{
        int reported = 0;

        CHECK_EQ(sem_init(&go, 0, 0), 0);
        CHECK_EQ(sem_init(&gone, 0, 0), 0);
        for (int i = 1; i <= 3; i++) {
                CHECK_EQ(run_with(main_of_hang, EDDY_MS(20), count_threads_left, &reported),
                         -ETIMEDOUT);
                CHECK_EQ(reported, i);
        }
        for (int i = 0; i < 3; i++)
                sem_post(&go);
        for (int i = 0; i < 3; i++)
                wait_for(&gone);
}

static sem_t main_ended;
static bool main_ending;

/* In the background: cancels main's scope, and is the last task there is. */
static int end_last(void *arg)
{
        eddy_scope_cancel(arg);
        while (!main_ending)
                CHECK_EQ(eddy_sleep(EDDY_US(100)), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        sem_post(&main_ended);
        return 0;
}

static int hang_with_signal(void *arg)
{
        wait_for(&main_ended);
        CHECK_EQ(kill(getpid(), SIGTERM), 0);
        return hang(arg);
}

static int main_of_signal(void *arg)
{
        struct eddy_thread_opts opts = { .flags = EDDY_THREAD_ABANDON, .release = say_gone };
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_background(end_last, &scope), 0);
        CHECK_EQ(eddy_thread_pool_call(NULL, hang_with_signal, NULL, &opts), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        main_ending = true;
        return 0;
}

TEST(a_signal_ends_the_wait_for_jobs_at_the_end)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_WATCHDOG,
                                      .drain_ns = EDDY_MIN(10),
                                      .report = count_threads_left };
        int reported = 0;

        CHECK_EQ(sem_init(&main_ended, 0, 0), 0);
        CHECK_EQ(sem_init(&go, 0, 0), 0);
        CHECK_EQ(sem_init(&gone, 0, 0), 0);
        opts.report_arg = &reported;
        /* Else the case runs into its time limit. */
        CHECK_EQ(eddy_run(main_of_signal, NULL, &opts), 0);
        CHECK_EQ(eddy_run_signal(), SIGTERM);
        CHECK_EQ(reported, 1);
        sem_post(&go);
        wait_for(&gone);
}
