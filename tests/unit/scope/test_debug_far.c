/*
 * test_debug_far.c - debug mode: channels and remote handles that are left,
 * which any thread may give back.
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "debug_test.h"

/* What is left stays in sight, so that it is no leak to whoever looks for those. */
static eddy_channel *channels[25];
static eddy_remote *remotes[25];

static int returns_at_once(void *arg)
{
        (void) arg;
        return 0;
}

static int makes(void *arg)
{
        int n = *(int *) arg;

        for (int i = 0; i < n; i++) {
                CHECK_EQ(eddy_channel_new(0, 1, &channels[i]), 0);
                CHECK_EQ(eddy_loop_start_threadsafe(eddy_loop_current(), returns_at_once, NULL,
                                                    &remotes[i]),
                         0);
        }
        return eddy_sleep(MS);
}

static int gives_back(void *arg)
{
        int n = *(int *) arg;

        for (int i = 0; i < n; i++) {
                eddy_remote_release(remotes[i]);
                eddy_channel_release(channels[i]);
        }
        return 0;
}

static void *gives_back_on_a_thread(void *arg)
{
        (void) gives_back(arg);
        return NULL;
}

static void give_back_by_a_thread(int n)
{
        pthread_t thread;

        CHECK_EQ(pthread_create(&thread, NULL, gives_back_on_a_thread, &n), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
}

/* --- left --- */

TEST(channels_and_remote_handles_that_are_left_are_reported_with_where_they_were_made)
{
        int n = 1;

        CHECK_EQ(debug_run(makes, &n), 0);
        CHECK_STR(reported,
                  "eddy: left when the run ended:\n"
                  "  the remote handle of task returns_at_once, started at program+0x1234\n"
                  "  a channel, made at program+0x1234\n");
        /* They outlive the report of them, and any thread gives them back. */
        give_back_by_a_thread(n);
        CHECK_EQ(last.count[EDDY_REPORT_LEFT], 1);
}

TEST(beyond_twenty_channels_and_remote_handles_are_counted)
{
        const char *at = reported;
        int n = 25, counts = 0;

        CHECK_EQ(debug_run(makes, &n), 0);
        CHECK_EQ(gives_back(&n), 0);
        for (; (at = strstr(at, "\n  and 5 more\n")); at++)
                counts++;
        CHECK_EQ(counts, 2);
}

/* --- given back --- */

static int makes_and_gives_back(void *arg)
{
        CHECK_EQ(makes(arg), 0);
        eddy_channel_release(eddy_channel_ref(channels[0]));
        return gives_back(arg);
}

TEST(an_object_that_its_own_run_gives_back_is_not_reported)
{
        int n = 2;

        CHECK_EQ(debug_run(makes_and_gives_back, &n), 0);
        CHECK_STR(reported, "");
}

static int has_it_given_back(void *arg)
{
        CHECK_EQ(makes(arg), 0);
        give_back_by_a_thread(*(int *) arg);
        return 0;
}

TEST(an_object_that_another_thread_gives_back_is_not_reported)
{
        struct ed_run *run;
        int n = 2;

        CHECK_EQ(debug_run(has_it_given_back, &n), 0);
        CHECK_STR(reported, "");

        run = debug_run_still(makes, &n);
        give_back_by_a_thread(n);
        ed_run_close(run);
        CHECK_STR(reported, "");
}

static pthread_t giver;
static int given = 25;

static int has_it_given_back_at_its_end(void *arg)
{
        CHECK_EQ(makes(arg), 0);
        CHECK_EQ(pthread_create(&giver, NULL, gives_back_on_a_thread, arg), 0);
        return 0;
}

TEST(a_thread_may_give_back_while_the_run_reports_leaks)
{
        for (int i = 0; i < 20; i++) {
                CHECK_EQ(debug_run(has_it_given_back_at_its_end, &given), 0);
                CHECK_EQ(pthread_join(giver, NULL), 0);
                CHECK(last.count[EDDY_REPORT_LEFT] <= 1);
        }
}

static int keeps_a_reference(void *arg)
{
        CHECK_EQ(makes(arg), 0);
        (void) eddy_channel_ref(channels[0]);
        return gives_back(arg);
}

TEST(a_channel_is_left_as_long_as_anybody_holds_it)
{
        int n = 1;

        CHECK_EQ(debug_run(keeps_a_reference, &n), 0);
        CHECK_STR(reported,
                  "eddy: left when the run ended:\n  a channel, made at program+0x1234\n");
        eddy_channel_release(channels[0]);
}

TEST(an_object_of_a_run_without_debug_mode_is_not_another_runs)
{
        struct eddy_run_opts no_debug = { .flags = EDDY_RUN_NO_DEBUG };
        struct ed_run *run = debug_run_still(returns_at_once, NULL);
        int n = 1;

        CHECK_EQ(eddy_run(makes, &n, &no_debug), 0);
        ed_run_close(run);
        CHECK_STR(reported, "");
        CHECK_EQ(gives_back(&n), 0);
}

TEST(each_run_reports_its_own)
{
        struct ed_run *first, *second;
        eddy_channel *of_first;
        int n = 1;

        first = debug_run_still(makes, &n);
        of_first = channels[0];
        eddy_remote_release(remotes[0]);
        second = debug_run_still(makes, &n);
        CHECK_EQ(gives_back(&n), 0);
        ed_run_close(second);
        CHECK_STR(reported, "");
        ed_run_close(first);
        CHECK_STR(reported,
                  "eddy: left when the run ended:\n  a channel, made at program+0x1234\n");
        eddy_channel_release(of_first);
}

/* --- failures --- */

static int fails(void *arg)
{
        (void) arg;
        return -EIO;
}

/* Somebody asks for the result, in the way that 'arg' says. */
static int has_one_fail(void *arg)
{
        int way = *(int *) arg, result = 0;

        CHECK_EQ(eddy_loop_start_threadsafe(eddy_loop_current(), fails, NULL, &remotes[0]), 0);
        if (way == 1)
                CHECK_EQ(eddy_remote_wait(remotes[0], &result), 0);
        CHECK_EQ(eddy_remote_wait(remotes[0], NULL), 0);
        if (way == 2)
                CHECK_EQ(eddy_remote_wait(remotes[0], &result), 0);
        eddy_remote_release(remotes[0]);
        return result;
}

TEST(a_failure_of_a_remote_task_that_was_never_read_is_reported)
{
        for (int way = 0; way < 3; way++) {
                CHECK_EQ(debug_run(has_one_fail, &way), way == 0 ? 0 : -EIO);
                CHECK_STR(reported,
                          way > 0 ? ""
                                  : "eddy: task fails: failed, and its result was "
                                    "never read; it was started at program+0x1234: " EIO_TEXT "\n");
        }
}

static int leaves_one_that_failed(void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_loop_start_threadsafe(eddy_loop_current(), fails, NULL, &remotes[0]), 0);
        return eddy_sleep(MS);
}

/* As a service that releases the objects of a report. */
static void reports_and_releases(const struct eddy_report *report, void *arg)
{
        keep_report(report, arg);
        if (report->kind == EDDY_REPORT_LEFT)
                eddy_remote_release(remotes[0]);
}

TEST(a_failed_remote_that_is_left_is_reported_once_with_its_failure)
{
        static const char left[] = "eddy: left when the run ended:\n  the remote handle of task "
                                   "fails, started at program+0x1234, which failed: " EIO_TEXT "\n";
        struct eddy_run_opts opts = { 0 };
        struct ed_sys *sys;

        CHECK_EQ(debug_run(leaves_one_that_failed, NULL), 0);
        CHECK_STR(reported, left);
        eddy_remote_release(remotes[0]);
        CHECK_STR(reported, left);

        sys = debug_world(0, &opts);
        opts.report = reports_and_releases;
        CHECK_EQ(ed_run_on(sys, leaves_one_that_failed, NULL, &opts, NULL), 0);
        CHECK_STR(reported, left);
}

/* --- a child of fork() --- */

TEST(a_child_of_fork_gives_its_copy_back_and_has_lists_of_its_own)
{
        struct ed_run *run;
        int n = 1, status = 0;
        pid_t child;

        run = debug_run_still(makes, &n);
        child = fork();
        CHECK(child >= 0);
        if (child == 0) {
                CHECK_EQ(gives_back(&n), 0);
                CHECK_EQ(debug_run(keeps_a_reference, &n), 0);
                _exit(last.count[EDDY_REPORT_LEFT]);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 1 << 8);
        CHECK_EQ(gives_back(&n), 0);
        ed_run_close(run);
        CHECK_STR(reported, "");
}
