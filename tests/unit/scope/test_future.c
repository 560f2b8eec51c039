/*
 * test_future.c - futures: set once, waited for by many, callbacks in turn.
 */
#include "other_loop.h"
#include "sim_run.h"

static const eddy_var origin = EDDY_VAR("origin", int);

/* --- the result --- */

/* A23: a future is done once; a second result is refused, and so is a cancel. */
SIM_TEST(a_future_is_set_once)
{
        eddy_future future = { 0 };
        int value, result = 1;

        CHECK(!eddy_future_is_done(&future));
        CHECK(!eddy_future_value(&future));
        CHECK_EQ(eddy_future_result(&future, &result), EDDY_E_FUTURE_NOT_DONE);
        CHECK_EQ(result, 1);
        CHECK_EQ(eddy_future_set(&future, 7, &value), 0);
        CHECK(eddy_future_is_done(&future));
        CHECK(!eddy_future_is_cancelled(&future));
        CHECK_EQ(eddy_future_set(&future, 8, NULL), -EALREADY);
        CHECK_EQ(eddy_future_cancel(&future), 0);
        CHECK(!eddy_future_is_cancelled(&future));
        CHECK_EQ(eddy_future_result(&future, &result), 0);
        CHECK_EQ(result, 7);
        CHECK(eddy_future_value(&future) == &value);
        eddy_future_fini(&future);
}

/* A23: cancelled is done. */
SIM_TEST(a_cancelled_future_is_done_with_ecanceled)
{
        eddy_future future = { 0 };
        int result = 1;

        CHECK_EQ(eddy_future_cancel(&future), 1);
        CHECK(eddy_future_is_done(&future));
        CHECK(eddy_future_is_cancelled(&future));
        CHECK_EQ(eddy_future_cancel(&future), 0);
        CHECK_EQ(eddy_future_result(&future, &result), 0);
        CHECK_EQ(result, -ECANCELED);
        CHECK_EQ(eddy_future_wait(&future, &result), 0);
        CHECK_EQ(result, -ECANCELED);
        eddy_future_fini(&future);
}

static int set_late(void *arg)
{
        eddy_future *future = arg;
        int err = eddy_sleep(MS);

        /* Unless it was cancelled meanwhile: then this changes nothing. */
        CHECK_EQ(eddy_future_set(future, 5, NULL), -EALREADY);
        return err;
}

/* A27: a late result of a future that was cancelled is refused without harm. */
SIM_TEST(a_result_that_comes_after_the_cancel_is_refused)
{
        eddy_future future = { 0 };
        eddy_scope scope;
        int result;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, set_late, &future), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(eddy_future_cancel(&future), 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(eddy_future_is_cancelled(&future));
        CHECK_EQ(eddy_future_result(&future, &result), 0);
        CHECK_EQ(result, -ECANCELED);
}

/* --- waiting --- */

struct waiter {
        eddy_future *future;
        int err, result;
        int order;
        eddy_task *task;
};

static int woken;

static int waits(void *arg)
{
        struct waiter *waiter = arg;

        waiter->err = eddy_future_wait(waiter->future, &waiter->result);
        waiter->order = woken++;
        return waiter->err;
}

static void start_waiters(eddy_scope *scope, struct waiter *waiters, int n, eddy_future *future)
{
        woken = 0;
        for (int i = 0; i < n; i++) {
                waiters[i] = (struct waiter){ .future = future, .err = 1, .result = 1 };
                CHECK_EQ(eddy_scope_start_task(scope, waits, &waiters[i], NULL, &waiters[i].task),
                         0);
        }
        CHECK_EQ(eddy_sleep(0), 0);
}

static void let_go(struct waiter *waiters, int n)
{
        for (int i = 0; i < n; i++)
                eddy_task_release(waiters[i].task);
}

SIM_TEST(all_waiters_get_the_result_in_the_order_they_came)
{
        eddy_future future = { 0 };
        struct waiter waiters[4];
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        start_waiters(&scope, waiters, 4, &future);
        CHECK_EQ(woken, 0);
        CHECK_EQ(eddy_future_set(&future, -EIO, NULL), 0);
        CHECK_EQ(woken, 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < 4; i++) {
                CHECK_EQ(waiters[i].err, 0);
                CHECK_EQ(waiters[i].result, -EIO);
                CHECK_EQ(waiters[i].order, i);
        }
        let_go(waiters, 4);
        eddy_future_fini(&future);
}

SIM_TEST(a_cancelled_wait_does_nothing_to_the_future)
{
        eddy_future future = { 0 };
        struct waiter waiters[3];
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        start_waiters(&scope, waiters, 3, &future);
        eddy_task_cancel(waiters[1].task);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(waiters[1].err, -ECANCELED);
        CHECK_EQ(waiters[1].result, 1);
        CHECK(!eddy_future_is_done(&future));
        CHECK_EQ(eddy_future_set(&future, 3, NULL), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(waiters[0].result, 3);
        CHECK_EQ(waiters[2].result, 3);
        let_go(waiters, 3);
        eddy_future_fini(&future);
}

/* What is there wins: the result came before the cancel. */
SIM_TEST(a_result_that_came_before_the_cancel_is_delivered)
{
        eddy_future future = { 0 };
        struct waiter waiter;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        start_waiters(&scope, &waiter, 1, &future);
        CHECK_EQ(eddy_future_set(&future, 3, NULL), 0);
        eddy_task_cancel(waiter.task);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(waiter.err, 0);
        CHECK_EQ(waiter.result, 3);
        let_go(&waiter, 1);
        eddy_future_fini(&future);
}

SIM_TEST(in_a_cancelled_scope_even_a_done_future_is_not_waited_for)
{
        eddy_future future = { 0 };
        eddy_scope scope;
        int result = 1;

        CHECK_EQ(eddy_future_set(&future, 3, NULL), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_future_wait(&future, &result), -ECANCELED);
        CHECK_EQ(result, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_future_wait(&future, NULL), 0);
        eddy_future_fini(&future);
}

static int count_turns(void *arg)
{
        ++*(int *) arg;
        return 0;
}

SIM_TEST(waiting_for_a_done_task_gives_way_now_and_then)
{
        eddy_future future = { 0 };
        eddy_scope scope;
        int turns = 0, calls = 0;

        CHECK_EQ(eddy_future_set(&future, 1, NULL), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, count_turns, &turns), 0);
        for (; turns == 0 && calls < 1000; calls++)
                CHECK_EQ(eddy_future_wait(&future, NULL), 0);
        CHECK_EQ(calls, 128);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

TEST(a_future_can_be_set_before_the_run)
{
        eddy_future future = { 0 };
        eddy_future_callback callback = { { 0 } };
        int result;

        CHECK_EQ(eddy_future_set(&future, 4, NULL), 0);
        CHECK_EQ(eddy_future_wait(&future, &result), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_future_add_callback(&future, &callback, count_turns, NULL),
                 EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_future_result(&future, &result), 0);
        CHECK_EQ(result, 4);
        eddy_future_fini(&future);
}

static int waits_for_ever(void *arg)
{
        return eddy_future_wait(arg, NULL);
}

TEST(a_future_that_no_task_can_set_is_a_deadlock)
{
        eddy_future future = { 0 };
        struct reports reports = { 0 };
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = &reports };

        CHECK_EQ(sim_run_with(waits_for_ever, &future, 0, opts), -EDEADLK);
        CHECK_EQ(reports.count[EDDY_REPORT_DEADLOCK], 1);
        CHECK(strstr(reports.text, "main waits for a future"));
}

/* --- callbacks --- */

enum { CALLS_MAX = 16 };

static char calls[CALLS_MAX];
static int calls_count;

static int note(void *arg)
{
        CHECK(!eddy_task_current());
        CHECK(calls_count < CALLS_MAX - 1);
        calls[calls_count++] = *(const char *) arg;
        return 0;
}

static void add(eddy_future *future, eddy_future_callback *callback, const char *letter)
{
        CHECK_EQ(eddy_future_add_callback(future, callback, note, (void *) letter), 0);
}

/* A24: callbacks run later, never inside set, in the order added. */
SIM_TEST(callbacks_run_after_set_has_returned_in_the_order_added)
{
        eddy_future future = { 0 };
        eddy_future_callback callbacks[3] = { { { 0 } } };

        add(&future, &callbacks[0], "a");
        add(&future, &callbacks[1], "b");
        add(&future, &callbacks[2], "c");
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_STR(calls, "");
        CHECK_EQ(eddy_future_set(&future, 1, NULL), 0);
        CHECK_STR(calls, "");
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_STR(calls, "abc");
        eddy_future_fini(&future);
}

/* A24: added to a done future, a callback is queued too, not run at once. */
SIM_TEST(a_callback_added_to_a_done_future_runs_later)
{
        eddy_future future = { 0 };
        eddy_future_callback callbacks[2] = { { { 0 } } };

        CHECK_EQ(eddy_future_cancel(&future), 1);
        add(&future, &callbacks[0], "x");
        add(&future, &callbacks[1], "y");
        CHECK_STR(calls, "");
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_STR(calls, "xy");
        eddy_future_fini(&future);
}

static int order_main(void *arg)
{
        eddy_future future = { 0 };
        eddy_future_callback callbacks[4] = { { { 0 } } };

        (void) arg;
        calls_count = 0;
        memset(calls, 0, sizeof(calls));
        add(&future, &callbacks[0], "a");
        add(&future, &callbacks[1], "b");
        CHECK_EQ(eddy_future_set(&future, 1, NULL), 0);
        add(&future, &callbacks[2], "c");
        add(&future, &callbacks[3], "d");
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_STR(calls, "abcd");
        return 0;
}

/* A24: also when the schedule is not the usual one. */
TEST(callbacks_keep_their_order_under_random_schedules)
{
        for (uint64_t seed = 1; seed <= 100; seed++)
                CHECK_EQ(sim_run_with(order_main, NULL, seed, (struct eddy_run_opts){ 0 }), 0);
}

SIM_TEST(a_callback_in_use_is_refused_and_can_be_used_again_when_it_has_run)
{
        eddy_future first = { 0 }, second = { 0 };
        eddy_future_callback callback = { { 0 } };

        add(&first, &callback, "a");
        CHECK_EQ(eddy_future_add_callback(&second, &callback, note, NULL), -EBUSY);
        CHECK_EQ(eddy_future_set(&first, 0, NULL), 0);
        CHECK_EQ(eddy_future_add_callback(&second, &callback, note, NULL), -EBUSY);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(eddy_future_set(&second, 0, NULL), 0);
        add(&second, &callback, "b");
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_STR(calls, "ab");
}

/* A25: all callbacks of that function and argument go, and are counted. */
SIM_TEST(remove_takes_all_equal_callbacks_and_counts_them)
{
        static const char a[] = "a", b[] = "b";
        eddy_future future = { 0 };
        eddy_future_callback callbacks[4] = { { { 0 } } };

        add(&future, &callbacks[0], a);
        add(&future, &callbacks[1], b);
        add(&future, &callbacks[2], a);
        CHECK_EQ(eddy_future_remove_callback(&future, note, (void *) a), 2);
        CHECK_EQ(eddy_future_remove_callback(&future, note, (void *) a), 0);
        add(&future, &callbacks[3], a);
        CHECK_EQ(eddy_future_set(&future, 0, NULL), 0);
        CHECK_EQ(eddy_future_remove_callback(&future, note, (void *) a), 1);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_STR(calls, "b");
        CHECK_EQ(eddy_future_remove_callback(&future, note, (void *) b), 0);
        eddy_future_fini(&future);
}

static eddy_future *meddled;
static eddy_future_callback late;

static int meddle(void *arg)
{
        static const char z[] = "z";

        (void) note(arg);
        CHECK_EQ(eddy_future_remove_callback(meddled, note, (void *) "q"), 0);
        CHECK_EQ(eddy_future_remove_callback(meddled, note, meddled->value), 1);
        add(meddled, &late, z);
        return 0;
}

/* A25: a callback may remove others that are queued, and add more. */
SIM_TEST(a_callback_may_change_the_list_while_it_is_worked_through)
{
        static char b[] = "b", c[] = "c", m[] = "m";
        eddy_future future = { 0 };
        eddy_future_callback callbacks[3] = { { { 0 } } };

        meddled = &future;
        CHECK_EQ(eddy_future_add_callback(&future, &callbacks[0], meddle, m), 0);
        add(&future, &callbacks[1], b);
        add(&future, &callbacks[2], c);
        CHECK_EQ(eddy_future_set(&future, 0, b), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_STR(calls, "mcz");
        eddy_future_fini(&future);
}

static int frees_itself(void *arg)
{
        eddy_future_callback *callback = arg;

        memset(callback, 0xee, sizeof(*callback));
        eddy_free(callback);
        return 0;
}

SIM_TEST(a_callback_that_runs_owns_its_memory_again)
{
        eddy_future_callback *callback = eddy_malloc(sizeof(*callback));
        eddy_future future = { 0 };

        CHECK(callback);
        memset(callback, 0, sizeof(*callback));
        CHECK_EQ(eddy_future_add_callback(&future, callback, frees_itself, callback), 0);
        CHECK_EQ(eddy_future_set(&future, 0, NULL), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_future_fini(&future);
}

static int seen_origin, reported_origin;

static int look_and_fail(void *arg)
{
        seen_origin = *(const int *) eddy_var_get(&origin);
        return *(int *) arg;
}

static void look_at_origin(const struct eddy_report *report, void *arg)
{
        if (!is_debug_modes(report->kind))
                reported_origin = *(const int *) eddy_var_get(&origin);
        reports_add(report, arg);
}

static int failing_callback_main(void *arg)
{
        static int error = -EIO;
        eddy_future future = { 0 };
        eddy_future_callback callbacks[2] = { { { 0 } } };
        int n = 1;

        (void) arg;
        CHECK_EQ(eddy_var_set(&origin, &n), 0);
        CHECK_EQ(eddy_future_add_callback(&future, &callbacks[0], look_and_fail, &error), 0);
        add(&future, &callbacks[1], "n");
        n = 2;
        CHECK_EQ(eddy_var_set(&origin, &n), 0);
        CHECK_EQ(eddy_future_set(&future, 0, NULL), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_STR(calls, "n");
        return 0;
}

/* A17, A19: a failing callback is reported, with its own variables, which are those of who added
 * it, and the loop goes on. */
TEST(a_failing_callback_is_reported_with_its_own_variables)
{
        struct reports reports = { 0 };
        struct eddy_run_opts opts = { .report = look_at_origin, .report_arg = &reports };

        CHECK_EQ(sim_run_with(failing_callback_main, NULL, 0, opts), 0);
        CHECK_EQ(reports.count[EDDY_REPORT_CALLBACK], 1);
        CHECK_EQ(reports.error, -EIO);
        CHECK_EQ(seen_origin, 1);
        CHECK_EQ(reported_origin, 1);
        CHECK_STR(reports.task, "");
}

static int suspends(void *arg)
{
        (void) arg;
        return eddy_sleep(MS);
}

static int suspending_callback_main(void *arg)
{
        eddy_future future = { 0 };
        eddy_future_callback callback = { { 0 } };

        (void) arg;
        CHECK_EQ(eddy_future_set(&future, 0, NULL), 0);
        CHECK_EQ(eddy_future_add_callback(&future, &callback, suspends, NULL), 0);
        return eddy_sleep(MS);
}

TEST(a_callback_cannot_suspend)
{
        struct reports reports = { 0 };
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = &reports };

        CHECK_EQ(sim_run_with(suspending_callback_main, NULL, 0, opts), 0);
        CHECK_EQ(reports.count[EDDY_REPORT_CALLBACK], 1);
        CHECK_EQ(reports.error, EDDY_E_RUN_NOT_RUNNING);
}

/* --- other loops and threads --- */

static int uses_elsewhere(void *arg)
{
        eddy_future_callback callback = { { 0 } };
        eddy_future *future = arg;
        int result = 1;

        CHECK_EQ(eddy_future_wait(future, &result), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_future_set(future, 3, NULL), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_future_cancel(future), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_future_add_callback(future, &callback, count_turns, NULL),
                 EDDY_E_RUN_OTHER_LOOP);
        CHECK(!eddy_future_is_done(future));
        CHECK_EQ(result, 1);
        return 7;
}

SIM_TEST(a_future_whose_waiters_are_of_another_loop_is_refused)
{
        eddy_future waited_for = { 0 }, with_callback = { 0 };
        eddy_future_callback callback = { { 0 } };
        struct waiter waiter;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        start_waiters(&scope, &waiter, 1, &waited_for);
        CHECK_EQ(on_other_loop(uses_elsewhere, &waited_for), 7);
        add(&with_callback, &callback, "a");
        CHECK_EQ(on_other_loop(uses_elsewhere, &with_callback), 7);
        CHECK_EQ(eddy_future_set(&waited_for, 4, NULL), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(waiter.result, 4);
        let_go(&waiter, 1);
        CHECK_EQ(eddy_future_set(&with_callback, 4, NULL), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_STR(calls, "a");
}

struct computation {
        eddy_future future;
        eddy_loop *loop;
        eddy_handle handle;
};

/* On the loop's thread. */
static int deliver(void *arg)
{
        struct computation *computation = arg;

        return eddy_future_set(&computation->future, 42, NULL);
}

static void *compute(void *arg)
{
        struct computation *computation = arg;

        CHECK_EQ(eddy_loop_call_threadsafe(computation->loop, &computation->handle, deliver,
                                           computation),
                 0);
        return NULL;
}

static int waits_for_a_thread(void *arg)
{
        struct computation computation = { .loop = eddy_loop_current() };
        pthread_t thread;
        int result;

        (void) arg;
        CHECK_EQ(pthread_create(&thread, NULL, compute, &computation), 0);
        CHECK_EQ(eddy_future_wait(&computation.future, &result), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        CHECK_EQ(result, 42);
        eddy_future_fini(&computation.future);
        return 0;
}

/* A28: another thread hands a result to a future by a call on the loop of those who wait. */
TEST(a_result_comes_from_another_thread_by_a_call_on_the_loop)
{
        CHECK_EQ(eddy_run(waits_for_a_thread, NULL, NULL), 0);
}

/* --- the end of a future --- */

static int fini_main(void *arg)
{
        eddy_future future = { 0 };
        int result;

        (void) arg;
        /* A26: read, waited for, cancelled afterwards: each counts as looking. */
        CHECK_EQ(eddy_future_set(&future, -EIO, NULL), 0);
        CHECK_EQ(eddy_future_result(&future, &result), 0);
        eddy_future_fini(&future);
        CHECK_EQ(eddy_future_set(&future, -EIO, NULL), 0);
        CHECK_EQ(eddy_future_wait(&future, NULL), 0);
        eddy_future_fini(&future);
        CHECK_EQ(eddy_future_set(&future, -EIO, NULL), 0);
        CHECK_EQ(eddy_future_cancel(&future), 0);
        eddy_future_fini(&future);
        /* No failures. */
        CHECK_EQ(eddy_future_set(&future, 0, NULL), 0);
        eddy_future_fini(&future);
        CHECK_EQ(eddy_future_cancel(&future), 1);
        eddy_future_fini(&future);
        eddy_future_fini(&future);
        /* Asking whether it is done is not looking at the result. */
        CHECK_EQ(eddy_future_set(&future, -ENODATA, NULL), 0);
        CHECK(eddy_future_is_done(&future));
        eddy_future_fini(&future);
        CHECK(!eddy_future_is_done(&future));
        return 0;
}

/* A26: a failure that nobody looked at is reported when the future is ended. */
TEST(only_a_failure_that_was_never_read_is_reported)
{
        struct reports reports = { 0 };
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = &reports };

        CHECK_EQ(sim_run_with(fini_main, NULL, 0, opts), 0);
        CHECK_EQ(reports.count[EDDY_REPORT_UNHANDLED], 1);
        CHECK_EQ(reports.error, -ENODATA);
        CHECK_STR(reports.task, "main");
}

static int seen_by_a_waiter(void *arg)
{
        eddy_future future = { 0 };
        struct waiter waiter;
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        start_waiters(&scope, &waiter, 1, &future);
        CHECK_EQ(eddy_future_set(&future, -EIO, NULL), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        let_go(&waiter, 1);
        eddy_future_fini(&future);
        return 0;
}

/* A26: who waited has looked. */
TEST(a_failure_that_a_waiter_got_is_not_reported)
{
        struct reports reports = { 0 };
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = &reports };

        CHECK_EQ(sim_run_with(seen_by_a_waiter, NULL, 0, opts), 0);
        CHECK_EQ(reports.count[EDDY_REPORT_UNHANDLED], 0);
}

SIM_TEST(an_ended_future_runs_no_callback_and_can_be_used_again)
{
        eddy_future future = { 0 };
        eddy_future_callback callbacks[2] = { { { 0 } } };
        int result;

        add(&future, &callbacks[0], "a");
        eddy_future_fini(&future);
        CHECK_EQ(eddy_future_set(&future, 1, NULL), 0);
        add(&future, &callbacks[1], "b");
        eddy_future_fini(&future);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_STR(calls, "");
        add(&future, &callbacks[0], "c");
        CHECK_EQ(eddy_future_set(&future, 2, NULL), 0);
        CHECK_EQ(eddy_future_result(&future, &result), 0);
        CHECK_EQ(result, 2);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_STR(calls, "c");
}

static eddy_future left_future;
static eddy_future_callback left_callback;
static int left_runs;

static int asks_again(void *arg)
{
        left_runs++;
        return eddy_future_add_callback(&left_future, &left_callback, asks_again, arg);
}

static int leaves_a_callback(void *arg)
{
        CHECK_EQ(eddy_future_set(&left_future, 1, NULL), 0);
        CHECK_EQ(asks_again(arg), 0);
        return eddy_sleep(MS);
}

TEST(a_callback_that_the_end_of_the_run_overtook_is_taken_back_by_fini)
{
        for (int i = 0; i < 2; i++) {
                CHECK_EQ(sim_run(leaves_a_callback, NULL), 0);
                CHECK(left_runs > 1);
                CHECK_EQ(eddy_future_add_callback(&left_future, &left_callback, note, NULL),
                         EDDY_E_RUN_NOT_RUNNING);
                eddy_future_fini(&left_future);
                CHECK_EQ(eddy_future_remove_callback(&left_future, asks_again, NULL), 0);
                left_runs = 0;
        }
}

static int ends_too_early(void *arg)
{
        struct waiter waiter;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        start_waiters(&scope, &waiter, 1, arg);
        eddy_future_fini(arg);
        return eddy_scope_end(&scope);
}

TEST_DIES(a_future_cannot_be_ended_while_a_task_waits_for_it, 6)
{
        eddy_future future = { 0 };

        (void) sim_run(ends_too_early, &future);
}
