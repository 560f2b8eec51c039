/*
 * test_remote.c - embed/remote.c, embed/callback.c, embed/embed.c and scope/vars.c
 * in every order: tasks, calls and stops that come to a loop from other threads
 * while it runs, ends or is gone.
 */
#include <eddy/eddy.h>
#include <errno.h>

#include "loom.h"
#include "scope/face.h"
#include "scope/run.h"
#include "scope/vars.h"

static const struct eddy_run_opts quiet = { .flags = EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG };

/* A run of this thread, whose main task is 'fn'. */
static void run_main(eddy_task_fn *fn)
{
        DFS_CHECK_EQ(ed_run_on(loom_table_new(), fn, NULL, &quiet, NULL), 0);
}

/* --- a host: a loop that others know, whose main task starts a thread and waits or not --- */

static struct host {
        eddy_loop *loop; /* a reference: the client's */
        void (*client)(void *arg);
        int thread;
        bool waits; /* for 'over' */
        eddy_event over;
} host;

static int host_main(void *arg)
{
        (void) arg;
        host.loop = eddy_loop_ref(eddy_loop_current());
        host.thread = dfs_thread(host.client, NULL);
        return host.waits ? eddy_event_wait(&host.over) : 0;
}

static void host_run(void (*client)(void *arg), bool waits)
{
        host = (struct host){ .client = client, .waits = waits };
        run_main(host_main);
        dfs_join(host.thread);
        eddy_loop_release(host.loop);
}

/* --- tasks --- */

static int slept;

/* 5, unless it is cancelled. */
static int sleep_and_end(void *arg)
{
        (void) arg;
        slept++;
        return eddy_sleep(1000) < 0 ? -ECANCELED : 5;
}

static int sleep_and_end_host(void *arg)
{
        int result = sleep_and_end(arg);

        DFS_CHECK_EQ(eddy_event_set(&host.over), 0);
        return result;
}

static void start_cancel_wait(void *arg)
{
        eddy_remote *remote;
        int result = 0;

        (void) arg;
        DFS_CHECK_EQ(eddy_loop_start_threadsafe(host.loop, sleep_and_end_host, NULL, &remote), 0);
        eddy_remote_cancel(remote);
        eddy_remote_cancel(remote);
        DFS_CHECK_EQ(eddy_remote_wait(remote, &result), 0);
        DFS_CHECK(result == 5 || result == -ECANCELED);
        DFS_CHECK(eddy_remote_is_done(remote));
        eddy_remote_release(remote);
}

LOOM_TEST(remote, a_task_that_is_cancelled_ends_and_wakes_its_waiters)
{
        slept = 0;
        host_run(start_cancel_wait, true);
        DFS_CHECK_EQ(slept, 1);
}

static void start_at_the_end(void *arg)
{
        eddy_remote *remote;
        int result = 0, err;

        (void) arg;
        err = eddy_loop_start_threadsafe(host.loop, sleep_and_end, NULL, &remote);
        if (err == EDDY_E_LOOP_CLOSED)
                return;
        DFS_CHECK_EQ(err, 0);
        DFS_CHECK_EQ(eddy_remote_wait(remote, &result), 0);
        DFS_CHECK(result == 5 || result == -ECANCELED);
        eddy_remote_release(remote);
}

LOOM_TEST(remote, a_loop_that_ends_refuses_a_task_or_ends_it)
{
        host_run(start_at_the_end, false);
}

/* From a task of another loop, with a deadline that may pass while the result comes. */
static int wait_in_time(void *arg)
{
        bool in_time = dfs_choose(2);
        struct eddy_scope_opts opts = { .timeout_ns = in_time ? 0 : 500 };
        eddy_remote *remote;
        eddy_scope scope;
        int result = 0, err;

        (void) arg;
        DFS_CHECK_EQ(eddy_loop_start_threadsafe(host.loop, sleep_and_end_host, NULL, &remote), 0);
        eddy_scope_begin(&scope, &opts);
        err = eddy_remote_wait(remote, &result);
        (void) eddy_scope_end(&scope);
        DFS_CHECK(err == 0 || (err == -ECANCELED && !in_time));
        DFS_CHECK_EQ(result, err == 0 ? 5 : 0);
        eddy_remote_release(remote);
        return 0;
}

static void run_waiting(void *arg)
{
        (void) arg;
        run_main(wait_in_time);
}

LOOM_TEST(remote, a_result_that_meets_a_deadline_is_delivered_or_dropped)
{
        host_run(run_waiting, true);
}

/* --- variables --- */

static const eddy_var number = EDDY_VAR("number", int);

static int number_now(void)
{
        const int *value = eddy_var_get(&number);

        return value ? *value : 0;
}

static int change_number(void *arg)
{
        (void) arg;
        DFS_CHECK_EQ(number_now(), 1);
        DFS_CHECK_EQ(eddy_var_set(&number, &(int){ 3 }), 0);
        DFS_CHECK_EQ(number_now(), 3);
        return eddy_event_set(&host.over);
}

static int share_number(void *arg)
{
        eddy_remote *remote;

        (void) arg;
        DFS_CHECK_EQ(eddy_var_set(&number, &(int){ 1 }), 0);
        DFS_CHECK_EQ(eddy_loop_start_threadsafe(host.loop, change_number, NULL, &remote), 0);
        DFS_CHECK_EQ(eddy_var_set(&number, &(int){ 2 }), 0);
        DFS_CHECK_EQ(eddy_remote_wait(remote, NULL), 0);
        DFS_CHECK_EQ(number_now(), 2);
        eddy_remote_release(remote);
        return 0;
}

static void run_sharing(void *arg)
{
        (void) arg;
        run_main(share_number);
}

LOOM_TEST(remote, variables_are_shared_until_one_changes_them)
{
        host_run(run_sharing, true);
}

/* --- calls --- */

static int calls, runs;

static int count_call(void *arg)
{
        DFS_CHECK_EQ(runs++, 0);
        calls++;
        if (arg)
                DFS_CHECK_EQ(eddy_event_set(arg), 0);
        dfs_point();
        runs--;
        return 0;
}

static int cancelled;

static void call_and_cancel(void *arg)
{
        eddy_handle handle = { 0 };

        (void) arg;
        DFS_CHECK_EQ(eddy_loop_call_threadsafe(host.loop, &handle, count_call, NULL), 0);
        cancelled = eddy_handle_cancel(&handle);
        DFS_CHECK_EQ(runs, 0);
        DFS_CHECK_EQ(calls + cancelled, 1);
        DFS_CHECK_EQ(eddy_loop_call_threadsafe(host.loop, &handle, count_call, &host.over), 0);
        while (eddy_handle_is_scheduled(&handle))
                dfs_yield();
}

LOOM_TEST(remote, a_cancelled_call_has_returned_or_never_comes)
{
        calls = runs = 0;
        host_run(call_and_cancel, true);
        DFS_CHECK_EQ(calls, 2 - cancelled);
}

static int first_calls;

static int count_first(void *arg)
{
        (void) arg;
        first_calls++;
        return 0;
}

static void call_and_call_again(void *arg)
{
        static eddy_handle handle; /* so that one read too late is found by what it does */

        (void) arg;
        handle = (eddy_handle){ 0 };
        DFS_CHECK_EQ(eddy_loop_call_threadsafe(host.loop, &handle, count_first, NULL), 0);
        while (eddy_handle_is_scheduled(&handle))
                dfs_yield();
        DFS_CHECK_EQ(eddy_loop_call_threadsafe(host.loop, &handle, count_call, &host.over), 0);
        while (eddy_handle_is_scheduled(&handle))
                dfs_yield();
        DFS_CHECK_EQ(first_calls, 1);
}

/* As soon as it is not scheduled any more, a handle is free for another call. */
LOOM_TEST(remote, a_handle_that_is_not_scheduled_is_free_for_another_call)
{
        calls = runs = first_calls = 0;
        host_run(call_and_call_again, true);
        DFS_CHECK_EQ(calls, 1);
}

/* --- stops --- */

static eddy_loop *own;

static void stop_own(void *arg)
{
        (void) arg;
        eddy_loop_stop(own);
}

/* The first run ends by one of two stops; the other may come to it, to the next, or between. */
LOOM_TEST(remote, a_stop_is_never_lost_for_good)
{
        struct ed_run *run;
        int stops[3];

        DFS_CHECK_EQ(ed_run_open(loom_table_new(), &quiet, &run), 0);
        own = eddy_loop_ref(ed_run_face(run));
        stops[0] = dfs_thread(stop_own, NULL);
        stops[1] = dfs_thread(stop_own, NULL);
        DFS_CHECK_EQ(eddy_loop_run_forever(own), 0);
        dfs_join(stops[0]);
        dfs_join(stops[1]);
        stops[2] = dfs_thread(stop_own, NULL);
        DFS_CHECK_EQ(eddy_loop_run_forever(own), 0);
        dfs_join(stops[2]);
        DFS_CHECK_EQ(eddy_loop_close(own), 0);
}
