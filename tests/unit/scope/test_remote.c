/*
 * test_remote.c - tasks started on another thread's loop: results and cancels
 * in both directions, at the beginning and at the end of the loop, and who is
 * notified of failures.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim_run.h"

/* --- a loop on a thread of its own --- */

static struct reports reports;
static pthread_mutex_t reports_lock = PTHREAD_MUTEX_INITIALIZER;

static void add_report(const struct eddy_report *report, void *arg)
{
        (void) arg;
        pthread_mutex_lock(&reports_lock);
        reports_add(report, &reports);
        pthread_mutex_unlock(&reports_lock);
}

static const struct eddy_run_opts quiet = { .flags = EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG,
                                            .report = add_report };

static pthread_barrier_t host_is_up;

struct host {
        pthread_t thread;
        eddy_loop *loop;
        eddy_channel *end; /* shut down to end it */
};

static int host_main(void *arg)
{
        struct host *host = arg;
        int item;

        host->loop = eddy_loop_ref(eddy_loop_current());
        (void) pthread_barrier_wait(&host_is_up);
        CHECK_EQ(eddy_channel_get(host->end, &item), -EPIPE);
        return 0;
}

static void *host_thread(void *arg)
{
        CHECK_EQ(eddy_run(host_main, arg, &quiet), 0);
        return NULL;
}

static void host_begin(struct host *host)
{
        CHECK_EQ(pthread_barrier_init(&host_is_up, NULL, 2), 0);
        CHECK_EQ(eddy_channel_new(sizeof(int), 1, &host->end), 0);
        CHECK_EQ(pthread_create(&host->thread, NULL, host_thread, host), 0);
        (void) pthread_barrier_wait(&host_is_up);
}

/* What still runs there runs to its end. */
static void host_end(struct host *host)
{
        eddy_channel_shutdown(host->end);
        pthread_join(host->thread, NULL);
        eddy_channel_release(host->end);
        eddy_loop_release(host->loop);
}

static eddy_remote *start(const struct host *host, eddy_task_fn *fn, void *arg)
{
        eddy_remote *remote = NULL;

        CHECK_EQ(eddy_loop_start_threadsafe(host->loop, fn, arg, &remote), 0);
        return remote;
}

/* Wait for it and release it. */
static int result_of(eddy_remote *remote)
{
        int result = 12345;

        CHECK_EQ(eddy_remote_wait(remote, &result), 0);
        CHECK(eddy_remote_is_done(remote));
        eddy_remote_release(remote);
        return result;
}

/* --- bodies --- */

static int nap_and_return(void *arg)
{
        int err = eddy_sleep(EDDY_US(100));

        CHECK(eddy_task_current() != NULL);
        return err < 0 ? err : *(int *) arg;
}

static int fail(void *arg)
{
        (void) arg;
        return -EIO;
}

/* Runs until it is cancelled. */
static int sleep_long(void *arg)
{
        if (arg)
                atomic_store((_Atomic int *) arg, 1);
        return eddy_sleep(EDDY_SEC(1000));
}

/* --- results --- */

/* A28: the result of a task of another loop comes to a thread that has none. */
TEST(a_thread_without_a_loop_gets_the_result)
{
        struct host host;
        int value = 7;

        host_begin(&host);
        CHECK_EQ(result_of(start(&host, nap_and_return, &value)), 7);
        CHECK_EQ(result_of(start(&host, fail, NULL)), -EIO);
        host_end(&host);
        CHECK_EQ(reports.count[EDDY_REPORT_BACKGROUND], 0);
}

static int ask_host(void *arg)
{
        struct host *host = arg;
        int values[8];
        eddy_remote *remotes[8];

        for (int i = 0; i < 8; i++) {
                values[i] = i + 1;
                remotes[i] = start(host, nap_and_return, &values[i]);
        }
        for (int i = 7; i >= 0; i--)
                CHECK_EQ(result_of(remotes[i]), i + 1);
        CHECK_EQ(result_of(start(host, fail, NULL)), -EIO);
        return 0;
}

/* A28: and to a task of another loop, which suspends meanwhile. */
TEST(a_task_of_another_loop_gets_the_result)
{
        struct host host;

        host_begin(&host);
        CHECK_EQ(eddy_run(ask_host, &host, &quiet), 0);
        host_end(&host);
        CHECK_EQ(reports.count[EDDY_REPORT_BACKGROUND], 0);
        CHECK_EQ(reports.count[EDDY_REPORT_DEADLOCK], 0);
}

SIM_TEST(a_task_is_started_on_its_own_loop_too)
{
        struct host self = { .loop = eddy_loop_current() };
        int value = 3;

        CHECK_EQ(result_of(start(&self, nap_and_return, &value)), 3);
        CHECK_EQ(eddy_loop_start_threadsafe(self.loop, nap_and_return, &value, NULL), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
}

static eddy_remote *shared;

static int wait_for_shared(void *arg)
{
        int result = 0;

        CHECK_EQ(eddy_remote_wait(shared, &result), 0);
        CHECK_EQ(result, 9);
        CHECK_EQ(eddy_remote_wait(shared, NULL), 0);
        atomic_fetch_add((_Atomic int *) arg, 1);
        return 0;
}

static int wait_twice(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, wait_for_shared, arg), 0);
        CHECK_EQ(eddy_scope_start(&scope, wait_for_shared, arg), 0);
        return eddy_scope_end(&scope);
}

static void *wait_on_loop(void *arg)
{
        CHECK_EQ(eddy_run(wait_twice, arg, &quiet), 0);
        return NULL;
}

static void *wait_on_bare_thread(void *arg)
{
        (void) wait_for_shared(arg);
        return NULL;
}

TEST(many_wait_for_one_task)
{
        _Atomic int waited = 0;
        pthread_t threads[6];
        struct host host;
        int value = 9;

        host_begin(&host);
        shared = start(&host, nap_and_return, &value);
        for (int i = 0; i < 6; i++)
                CHECK_EQ(pthread_create(&threads[i], NULL,
                                        i % 2 ? wait_on_loop : wait_on_bare_thread, &waited),
                         0);
        for (int i = 0; i < 6; i++)
                pthread_join(threads[i], NULL);
        CHECK_EQ(waited, 9);
        eddy_remote_release(shared);
        host_end(&host);
}

/* --- cancelling --- */

/* A28: a cancel goes to the task on the other loop, and its end comes back. */
TEST(a_cancel_reaches_the_task)
{
        struct host host;

        host_begin(&host);
        for (int i = 0; i < 100; i++) {
                _Atomic int begun = 0;
                eddy_remote *remote = start(&host, sleep_long, &begun);

                while (i % 2 && !atomic_load(&begun))
                        (void) sched_yield();
                eddy_remote_cancel(remote);
                eddy_remote_cancel(remote);
                CHECK_EQ(result_of(remote), -ECANCELED);
                CHECK_EQ(begun, 1);
        }
        host_end(&host);
        CHECK_EQ(reports.count[EDDY_REPORT_BACKGROUND], 0);
}

static pthread_barrier_t gate;

static int hold_the_loop(void *arg)
{
        (void) arg;
        (void) pthread_barrier_wait(&gate);
        (void) pthread_barrier_wait(&gate);
        return 0;
}

static int clean_up(void *arg)
{
        struct eddy_scope_opts shield = { .flags = EDDY_SCOPE_SHIELD };
        int err = eddy_sleep(0);
        eddy_scope scope;

        CHECK_EQ(err, -ECANCELED);
        eddy_scope_begin(&scope, &shield);
        CHECK_EQ(eddy_sleep(1), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        *(int *) arg = 1;
        return 4;
}

/* A30: cancelled before it starts, it starts, already cancelled, and cleans up. */
TEST(a_task_cancelled_before_its_start_runs_to_its_first_wait)
{
        eddy_remote *held, *remote;
        struct host host;
        int cleaned = 0;

        pthread_barrier_init(&gate, NULL, 2);
        host_begin(&host);
        held = start(&host, hold_the_loop, NULL);
        (void) pthread_barrier_wait(&gate);
        remote = start(&host, clean_up, &cleaned);
        eddy_remote_cancel(remote);
        CHECK(!eddy_remote_is_done(remote));
        (void) pthread_barrier_wait(&gate);
        CHECK_EQ(result_of(remote), 4);
        CHECK_EQ(cleaned, 1);
        CHECK_EQ(result_of(held), 0);
        host_end(&host);
}

static int wait_call(void *arg)
{
        int result;

        return eddy_remote_wait(arg, &result);
}

static int wait_a_little(void *arg)
{
        struct host *host = arg;
        _Atomic int begun = 0;
        eddy_remote *remote = start(host, sleep_long, &begun);

        CHECK_EQ(eddy_call_timeout(wait_call, remote, EDDY_MS(2)), -ETIMEDOUT);
        CHECK(!eddy_remote_is_done(remote));
        CHECK_EQ(eddy_call_timeout(wait_call, remote, 0), -ETIMEDOUT);
        eddy_remote_cancel(remote);
        CHECK_EQ(result_of(remote), -ECANCELED);
        return 0;
}

TEST(cancelling_the_wait_does_not_cancel_the_task)
{
        struct host host;

        host_begin(&host);
        CHECK_EQ(eddy_run(wait_a_little, &host, &quiet), 0);
        host_end(&host);
}

/* --- results and reports --- */

TEST(a_failure_is_reported_only_if_the_task_is_not_held)
{
        eddy_remote *held;
        struct host host;

        host_begin(&host);
        held = start(&host, fail, NULL);
        while (!eddy_remote_is_done(held))
                (void) sched_yield();
        CHECK_EQ(result_of(held), -EIO);
        CHECK_EQ(eddy_loop_start_threadsafe(host.loop, fail, NULL, NULL), 0);
        host_end(&host);
        CHECK_EQ(reports.count[EDDY_REPORT_BACKGROUND], 1);
        CHECK_EQ(reports.error, -EIO);
}

/* A thread that asks, and is cancelled while it waits. */
struct asking {
        eddy_remote *remote;
        int err, result;
        _Atomic int begun;
};

static void *ask_and_be_cancelled(void *arg)
{
        struct asking *asking = arg;

        atomic_store(&asking->begun, 1);
        asking->err = eddy_remote_wait(asking->remote, &asking->result);
        pthread_testcancel();
        asking->err = 2;
        return NULL;
}

/* The wait is not a point of cancellation: the loop would find the remote locked for ever. */
TEST(a_thread_that_is_cancelled_while_it_waits_gets_the_result)
{
        struct asking asking = { .err = 1 };
        struct host host;
        pthread_t thread;
        void *end;

        pthread_barrier_init(&gate, NULL, 2);
        host_begin(&host);
        asking.remote = start(&host, hold_the_loop, NULL);
        CHECK_EQ(pthread_create(&thread, NULL, ask_and_be_cancelled, &asking), 0);
        (void) pthread_barrier_wait(&gate);
        while (!atomic_load(&asking.begun))
                (void) sched_yield();
        for (int i = 0; i < 100; i++)
                (void) sched_yield();
        CHECK_EQ(pthread_cancel(thread), 0);
        (void) pthread_barrier_wait(&gate);
        CHECK_EQ(pthread_join(thread, &end), 0);
        CHECK(end == PTHREAD_CANCELED);
        CHECK_EQ(asking.err, 0);
        CHECK_EQ(asking.result, 0);
        eddy_remote_release(asking.remote);
        host_end(&host);
}

/* --- a job that waits --- */

static _Atomic int job_begun;

static int wait_in_job(void *arg)
{
        job_begun = 1;
        return eddy_remote_wait(shared, arg);
}

static int call_wait_in_job(void *arg)
{
        CHECK_EQ(eddy_to_thread(wait_in_job, arg), -ECANCELED);
        return 0;
}

static int cancel_waiting_job(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, call_wait_in_job, arg), 0);
        while (!job_begun)
                CHECK_EQ(eddy_sleep(EDDY_US(100)), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        eddy_scope_cancel(&scope);
        return eddy_scope_end(&scope);
}

TEST(a_cancel_ends_the_wait_of_a_job_for_a_task_and_the_task_goes_on)
{
        struct host host;
        int result = 7;

        host_begin(&host);
        shared = start(&host, sleep_long, NULL);
        CHECK_EQ(eddy_run(cancel_waiting_job, &result, &quiet), 0);
        CHECK_EQ(result, 7);
        CHECK(!eddy_remote_is_done(shared));
        eddy_remote_cancel(shared);
        CHECK_EQ(result_of(shared), -ECANCELED);
        host_end(&host);
}

static int fail_later(void *arg)
{
        (void) hold_the_loop(arg);
        return -EIO;
}

TEST(a_handle_given_back_before_the_end_leaves_the_failure_to_the_report)
{
        eddy_remote *remote;
        struct host host;

        pthread_barrier_init(&gate, NULL, 2);
        host_begin(&host);
        remote = start(&host, fail_later, NULL);
        (void) pthread_barrier_wait(&gate);
        eddy_remote_release(remote);
        (void) pthread_barrier_wait(&gate);
        host_end(&host);
        CHECK_EQ(reports.count[EDDY_REPORT_BACKGROUND], 1);
        eddy_remote_release(NULL);
}

/* --- the loop's end --- */

static int never(void *arg)
{
        (void) arg;
        CHECK(arg == &gate);
        return 1;
}

/* A12: a closed loop takes no tasks; those it has not begun get an error. */
TEST(a_loop_closed_before_the_start_cancels)
{
        struct host host = { 0 };
        eddy_remote *remote;

        CHECK_EQ(eddy_loop_new(&quiet, &host.loop), 0);
        remote = start(&host, never, NULL);
        CHECK_EQ(eddy_remote_wait(remote, NULL), -EDEADLK);
        eddy_remote_cancel(remote);
        CHECK_EQ(eddy_loop_start_threadsafe(host.loop, never, NULL, NULL), 0);
        eddy_loop_ref(host.loop);
        CHECK_EQ(eddy_loop_close(host.loop), 0);
        CHECK_EQ(result_of(remote), -ECANCELED);
        remote = NULL;
        CHECK_EQ(eddy_loop_start_threadsafe(host.loop, never, NULL, &remote), EDDY_E_LOOP_CLOSED);
        CHECK(remote == NULL);
        eddy_loop_release(host.loop);
        CHECK_EQ(reports.count[EDDY_REPORT_BACKGROUND], 0);
}

static int wait_for_self(void *arg)
{
        (void) arg;
        (void) hold_the_loop(NULL);
        return eddy_remote_wait(shared, NULL);
}

TEST(a_task_that_waits_for_itself_is_reported)
{
        struct host host;

        pthread_barrier_init(&gate, NULL, 2);
        host_begin(&host);
        shared = start(&host, wait_for_self, NULL);
        (void) pthread_barrier_wait(&gate);
        (void) pthread_barrier_wait(&gate);
        CHECK_EQ(result_of(shared), -EDEADLK);
        host_end(&host);
}

static int wait_in_callback(void *arg)
{
        int *result = arg;

        *result = eddy_remote_wait(shared, NULL);
        return 0;
}

SIM_TEST(a_callback_of_a_loop_cannot_wait)
{
        struct host self = { .loop = eddy_loop_current() };
        eddy_handle handle = { 0 };
        int result = 1;

        shared = start(&self, sleep_long, NULL);
        CHECK_EQ(eddy_loop_call_soon(NULL, &handle, wait_in_callback, &result), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(result, -EDEADLK);
        eddy_remote_cancel(shared);
        CHECK_EQ(result_of(shared), -ECANCELED);
}

/* --- many --- */

enum { STARTERS = 4, EACH = 500 };

static _Atomic int bodies_begun, bodies_ended;

static int body(void *arg)
{
        int err;

        atomic_fetch_add(&bodies_begun, 1);
        err = eddy_sleep((intptr_t) arg % 5 * EDDY_US(20));
        atomic_fetch_add(&bodies_ended, 1);
        return err;
}

/* Waits for some, cancels some, leaves some alone. */
static void *start_many(void *arg)
{
        for (intptr_t i = 0; i < EACH; i++) {
                eddy_remote *remote = start(arg, body, (void *) i);
                int result = 1;

                if (i % 3 == 0)
                        eddy_remote_cancel(remote);
                if (i % 2 == 0) {
                        CHECK_EQ(eddy_remote_wait(remote, &result), 0);
                        CHECK(result == 0 || (i % 3 == 0 && result == -ECANCELED));
                }
                eddy_remote_release(remote);
        }
        return NULL;
}

TEST(each_task_begins_and_ends_once_for_any_cancels_and_waits)
{
        pthread_t threads[STARTERS];
        struct host host;

        host_begin(&host);
        for (int i = 0; i < STARTERS; i++)
                CHECK_EQ(pthread_create(&threads[i], NULL, start_many, &host), 0);
        for (int i = 0; i < STARTERS; i++)
                pthread_join(threads[i], NULL);
        host_end(&host);
        CHECK_EQ(bodies_begun, STARTERS * EACH);
        CHECK_EQ(bodies_ended, STARTERS * EACH);
        CHECK_EQ(reports.count[EDDY_REPORT_BACKGROUND], 0);
}

static void *start_until_closed(void *arg)
{
        struct host *host = arg;

        for (;;) {
                eddy_remote *remote;
                int err = eddy_loop_start_threadsafe(host->loop, body, NULL, &remote), result = 1;

                if (err < 0) {
                        CHECK_EQ(err, EDDY_E_LOOP_CLOSED);
                        return NULL;
                }
                eddy_remote_cancel(remote);
                CHECK_EQ(eddy_remote_wait(remote, &result), 0);
                CHECK(result == 0 || result == -ECANCELED);
                eddy_remote_release(remote);
        }
}

TEST(a_loop_may_end_while_threads_start_tasks_on_it)
{
        for (int i = 0; i < 50; i++) {
                pthread_t threads[2];
                struct host host;

                host_begin(&host);
                for (int k = 0; k < 2; k++)
                        CHECK_EQ(pthread_create(&threads[k], NULL, start_until_closed, &host), 0);
                for (int k = 0; k < i; k++)
                        (void) sched_yield();
                eddy_channel_shutdown(host.end);
                pthread_join(host.thread, NULL);
                for (int k = 0; k < 2; k++)
                        pthread_join(threads[k], NULL);
                eddy_channel_release(host.end);
                eddy_loop_release(host.loop);
                CHECK_EQ(bodies_begun, bodies_ended);
        }
}

/* --- fork --- */

static void live_as_child(struct host *host, eddy_remote *remote)
{
        int item = 0;
        bool ok = eddy_loop_start_threadsafe(host->loop, never, NULL, NULL) == EDDY_E_LOOP_FORKED &&
                  eddy_remote_wait(remote, NULL) == EDDY_E_LOOP_FORKED &&
                  eddy_channel_try_put(host->end, &item) == EDDY_E_LOOP_FORKED &&
                  eddy_channel_try_get(host->end, &item) == EDDY_E_LOOP_FORKED &&
                  eddy_channel_count(host->end) == 0;

        eddy_channel_shutdown(host->end);
        eddy_remote_cancel(remote);
        eddy_remote_release(remote);
        _exit(ok ? 0 : 1);
}

/* A22: a child of fork() cannot reach its parent's loops. */
TEST(a_child_of_fork_reaches_no_task_of_its_parent)
{
        eddy_remote *remote;
        struct host host;
        int status;
        pid_t child;

        host_begin(&host);
        remote = start(&host, sleep_long, NULL);
        child = fork();
        if (child == 0)
                live_as_child(&host, remote);
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 0);
        CHECK(!eddy_remote_is_done(remote));
        eddy_remote_cancel(remote);
        CHECK_EQ(result_of(remote), -ECANCELED);
        host_end(&host);
}
