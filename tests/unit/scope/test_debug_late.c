/*
 * test_debug_late.c - debug mode: waits for the network under no deadline, and
 * tasks that go on after a cancel.
 */
#include "debug_test.h"

/* --- the network --- */

static const struct eddy_run_opts in_a_second = { .debug_wait_ns = EDDY_SEC(1) };

static eddy_listener *listener;

static int listen_here(void)
{
        return eddy_tcp_listen("127.0.0.1", 80, NULL, &listener);
}

/* Says nothing for as many milliseconds as 'arg' says. */
static int is_silent(void *arg)
{
        eddy_stream *stream;
        int err = eddy_listener_accept(listener, &stream);

        if (err < 0)
                return err;
        err = eddy_sleep(*(const int *) arg * MS);
        eddy_stream_close(stream);
        return err;
}

static int reads(void *arg)
{
        eddy_stream *stream;
        char byte;
        int64_t n;
        int err = eddy_tcp_connect("127.0.0.1", 80, NULL, &stream);

        (void) arg;
        if (err < 0)
                return err;
        n = eddy_stream_read(stream, &byte, 1);
        eddy_stream_close(stream);
        return (int) n;
}

/* A reader and a server that is silent; 'scope' is where the reader reads. */
static int read_in(eddy_scope *scope, int silent_ms)
{
        eddy_scope server;
        int err;

        eddy_scope_begin(&server, NULL);
        eddy_task_release(start_named(&server, "silent", is_silent, &silent_ms));
        eddy_task_release(start_named(scope ? scope : &server, "reader", reads, NULL));
        err = eddy_scope_end(&server);
        return err;
}

static int reads_without_deadline(void *arg)
{
        int err;

        CHECK_EQ(listen_here(), 0);
        err = read_in(NULL, *(const int *) arg);
        eddy_listener_close(listener);
        return err;
}

TEST(a_wait_for_the_network_without_a_deadline_is_reported_once)
{
        int silent_ms = 5000;

        CHECK_EQ(debug_run_with(reads_without_deadline, &silent_ms, in_a_second), 0);
        CHECK_EQ(last.count[EDDY_REPORT_WAIT], 1);
        CHECK(strstr(reported,
                     "eddy: task reader: has waited 1000 ms for bytes of a connection, without "
                     "a deadline, started at program+0x1234; it is in program+0x1234 <- ") ==
              reported);
        CHECK(!strstr(reported, "its beginning"));
}

TEST(a_short_wait_for_the_network_is_not_reported)
{
        int silent_ms = 900;

        CHECK_EQ(debug_run_with(reads_without_deadline, &silent_ms, in_a_second), 0);
        CHECK_STR(reported, "");
}

TEST(the_limit_is_thirty_seconds_unless_the_options_say_another)
{
        int silent_ms = 29500;

        CHECK_EQ(debug_run(reads_without_deadline, &silent_ms), 0);
        CHECK_STR(reported, "");
        silent_ms = 30500;
        CHECK_EQ(debug_run(reads_without_deadline, &silent_ms), 0);
        CHECK_EQ(last.count[EDDY_REPORT_WAIT], 1);
        CHECK_EQ(debug_run_with(reads_without_deadline, &silent_ms,
                                (struct eddy_run_opts){ .debug_wait_ns = -1 }),
                 -EINVAL);
}

static int reads_under_a_deadline(void *arg)
{
        eddy_scope scope;
        int err;

        CHECK_EQ(listen_here(), 0);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .deadline_ns = *(int64_t *) arg });
        err = read_in(&scope, 5000);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_listener_close(listener);
        return err;
}

TEST(a_deadline_however_far_away_is_one)
{
        int64_t deadlines[] = { EDDY_SEC(3600), INT64_MAX };

        for (int i = 0; i < 2; i++) {
                CHECK_EQ(debug_run_with(reads_under_a_deadline, &deadlines[i], in_a_second), 0);
                CHECK_STR(reported, "");
        }
}

static int accepts_for_long(void *arg)
{
        eddy_scope scope;
        int silent_ms = 0;

        (void) arg;
        CHECK_EQ(listen_here(), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_task_release(start_named(&scope, "server", is_silent, &silent_ms));
        CHECK_EQ(eddy_sleep(EDDY_SEC(10)), 0);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_listener_close(listener);
        return 0;
}

TEST(a_server_without_callers_is_not_reported)
{
        CHECK_EQ(debug_run_with(accepts_for_long, NULL, in_a_second), 0);
        CHECK_STR(reported, "");
}

/* Nobody ever sends anything, and nothing else happens: the run must see that, and end. */
static int reads_for_ever(void *arg)
{
        eddy_stream *stream, *other;
        char byte;
        int64_t n;

        (void) arg;
        CHECK_EQ(listen_here(), 0);
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", 80, NULL, &stream), 0);
        CHECK_EQ(eddy_listener_accept(listener, &other), 0);
        n = eddy_stream_read(stream, &byte, 1);
        eddy_stream_close(stream);
        eddy_stream_close(other);
        eddy_listener_close(listener);
        return (int) n;
}

TEST(the_timer_keeps_no_deadlock_from_being_seen)
{
        CHECK_EQ(debug_run_with(reads_for_ever, NULL, in_a_second), -EDEADLK);
        CHECK_EQ(last.count[EDDY_REPORT_WAIT], 1);
        CHECK_EQ(last.count[EDDY_REPORT_DEADLOCK], 1);
}

static int reads_one_after_the_other(void *arg)
{
        eddy_scope scope;
        int silent_ms = 5000;

        (void) arg;
        CHECK_EQ(listen_here(), 0);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 2; i++) {
                eddy_task_release(start_named(&scope, "reader", reads, NULL));
                CHECK_EQ(eddy_sleep(EDDY_MS(i == 0 ? 1500 : 1)), 0);
                if (i == 0)
                        eddy_task_release(start_named(&scope, "silent", is_silent, &silent_ms));
        }
        CHECK_EQ(eddy_sleep(EDDY_SEC(4)), 0);
        CHECK_EQ(last.count[EDDY_REPORT_WAIT], 2);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_listener_close(listener);
        return 0;
}

TEST(a_wait_that_was_reported_is_not_reported_when_another_is)
{
        CHECK_EQ(debug_run_with(reads_one_after_the_other, NULL, in_a_second), 0);
}

static int waits_for_nothing(void *arg)
{
        int64_t began_ns = eddy_now();
        eddy_event event = { 0 };
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope); /* arms the timer */
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_event_wait(&event), -ECANCELED);
        CHECK(eddy_now() - began_ns < EDDY_MS(500));
        return 0;
}

TEST(the_timer_is_nothing_that_can_still_happen)
{
        CHECK_EQ(debug_run_with(waits_for_nothing, NULL, in_a_second), -EDEADLK);
        CHECK_EQ(last.count[EDDY_REPORT_DEADLOCK], 1);
}

static int accepts_many(void *arg)
{
        eddy_stream *streams[25];

        (void) arg;
        for (int i = 0; i < 25; i++)
                CHECK_EQ(eddy_listener_accept(listener, &streams[i]), 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(10)), 0);
        for (int i = 0; i < 25; i++)
                eddy_stream_close(streams[i]);
        return 0;
}

static int many_read(void *arg)
{
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(listen_here(), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, accepts_many, NULL);
        for (int i = 0; i < 25; i++)
                eddy_scope_start(&scope, reads, NULL);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_listener_close(listener);
        return 0;
}

TEST(beyond_twenty_waits_are_counted)
{
        CHECK_EQ(debug_run_with(many_read, NULL, in_a_second), 0);
        CHECK_EQ(last.count[EDDY_REPORT_WAIT], 20);
        CHECK(strstr(reported, "\n  and 5 more waits without a deadline\n") != NULL);
}

/* --- cancels --- */

/* Whatever its sleep says, it goes round for as many times as 'arg' says. */
static int goes_on(void *arg)
{
        for (int i = 0; i < *(const int *) arg; i++)
                (void) eddy_sleep(EDDY_SEC(1));
        return 0;
}

static int cancels_one_that_goes_on(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_task_release(start_named(&scope, "deaf", goes_on, arg));
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_scope_cancel(&scope);
        return eddy_scope_end(&scope);
}

TEST(a_task_that_goes_on_after_its_cancel_is_reported_once)
{
        int rounds = 4500;

        CHECK_EQ(debug_run_with(cancels_one_that_goes_on, &rounds, in_a_second), 0);
        /* The first is of 1,000 in a row. */
        CHECK_EQ(last.count[EDDY_REPORT_IGNORED], 2);
        CHECK(strstr(reported,
                     "eddy: task deaf: was cancelled 1000 ms ago and has not ended: it waits for a "
                     "millisecond, for ignoring cancels, started at program+0x1234; it is in "
                     "program+0x1234 <- ") != NULL);
}

TEST(a_task_that_ends_after_its_cancel_is_not_reported)
{
        int rounds = 500;

        CHECK_EQ(debug_run_with(cancels_one_that_goes_on, &rounds, in_a_second), 0);
        CHECK_STR(reported, "");
}

static int cleans_up(void *arg)
{
        struct eddy_scope_opts shield = { .flags = EDDY_SCOPE_SHIELD };
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_sleep(EDDY_SEC(60)), -ECANCELED);
        eddy_scope_begin(&scope, &shield);
        CHECK_EQ(eddy_sleep(EDDY_SEC(3)), 0);
        return eddy_scope_end(&scope);
}

static int cancels_one_that_cleans_up(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_task_release(start_named(&scope, "tidy", cleans_up, NULL));
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_scope_cancel(&scope);
        return eddy_scope_end(&scope);
}

TEST(cleaning_up_in_a_shield_does_not_count_as_going_on)
{
        CHECK_EQ(debug_run_with(cancels_one_that_cleans_up, NULL, in_a_second), 0);
        CHECK_STR(reported, "");
}

/* The scope that was cancelled is another than the one that is, and goes on for 200 ms. */
static int is_cancelled_twice(void *arg)
{
        eddy_scope scope;
        int rounds = 1200;

        (void) arg;
        for (int i = 0; i < 2; i++) {
                eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = MS });
                CHECK_EQ(eddy_sleep(EDDY_SEC(1)), -ECANCELED);
                if (i == 1)
                        CHECK_EQ(goes_on(&rounds), 0);
                CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
                CHECK_EQ(eddy_sleep(EDDY_MS(900)), 0);
        }
        return 0;
}

TEST(each_cancel_counts_from_its_own_time)
{
        CHECK_EQ(debug_run_with(is_cancelled_twice, NULL, in_a_second), 0);
        /* Of a thousand in a row. */
        CHECK_EQ(last.count[EDDY_REPORT_IGNORED], 1);
}
