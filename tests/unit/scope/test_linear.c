/*
 * test_linear.c - work that grows with the number of things, not with its square:
 * each case runs a program with some things and with eight times as many, and
 * compares the processor's time.  Linear work takes 8 times as long, quadratic
 * work 64 times.
 */
#include "eddy/eddy.h"

#include <errno.h>
#include <time.h>

#include "test.h"

enum { MORE = 8, FACTOR_MAX = 3 * MORE, TRIES = 3 };

/* For what is done once, and what a figure of few microseconds is off by. */
#define SLACK_NS 10000000

struct crowd {
        int n;
        void *memory;
        eddy_event begun;
};

static int64_t cpu_ns(void)
{
        struct timespec now;

        CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0);
        return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The least time that a program with 'n' things takes, each of so many bytes. */
static int64_t time_of(eddy_task_fn *main_fn, int n, size_t bytes)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_WATCHDOG };
        int64_t least_ns = INT64_MAX;

        for (int i = 0; i < TRIES; i++) {
                struct crowd crowd = { .n = n, .memory = calloc((size_t) n, bytes) };
                int64_t begin_ns = cpu_ns(), ns;

                CHECK(crowd.memory != NULL);
                CHECK_EQ(eddy_run(main_fn, &crowd, &opts), 0);
                ns = cpu_ns() - begin_ns;
                if (ns < least_ns)
                        least_ns = ns;
                free(crowd.memory);
        }
        return least_ns;
}

static void check_linear(eddy_task_fn *main_fn, int n, size_t bytes)
{
        int64_t few_ns = time_of(main_fn, n, bytes), many_ns = time_of(main_fn, MORE * n, bytes);

        printf("# %d: %.3f ms, %d: %.3f ms\n", n, (double) few_ns / 1e6, MORE * n,
               (double) many_ns / 1e6);
        CHECK(many_ns < FACTOR_MAX * few_ns + SLACK_NS);
}

static int never(void *arg)
{
        (void) arg;
        test_fail(__FILE__, __LINE__, "a callback was made that was cancelled");
}

static int nothing(void *arg)
{
        (void) arg;
        return 0;
}

/* --- callbacks --- */

static int main_newest_callback_first(void *arg)
{
        struct crowd *crowd = arg;
        eddy_handle *handles = crowd->memory;

        for (int i = 0; i < crowd->n; i++)
                CHECK_EQ(eddy_loop_call_soon(NULL, &handles[i], never, NULL), 0);
        for (int i = crowd->n - 1; i >= 0; i--)
                CHECK_EQ(eddy_handle_cancel(&handles[i]), 1);
        return 0;
}

TEST(cancelling_callbacks_from_the_newest_on)
{
        check_linear(main_newest_callback_first, 12500, sizeof(eddy_handle));
}

static int main_timed_callbacks(void *arg)
{
        struct crowd *crowd = arg;
        eddy_handle *handles = crowd->memory;

        for (int i = 0; i < crowd->n; i++)
                CHECK_EQ(eddy_loop_call_later(NULL, &handles[i], EDDY_SEC(1) + i % 1000, never,
                                              NULL),
                         0);
        for (int i = crowd->n - 1; i >= 0; i--)
                CHECK_EQ(eddy_handle_cancel(&handles[i]), 1);
        return 0;
}

TEST(cancelling_callbacks_that_wait_for_their_time)
{
        check_linear(main_timed_callbacks, 12500, sizeof(eddy_handle));
}

/* The end of the run cancels them. */
static int main_leaves_callbacks(void *arg)
{
        struct crowd *crowd = arg;
        eddy_handle *handles = crowd->memory;

        for (int i = 0; i < crowd->n; i++)
                CHECK_EQ(eddy_loop_call_later(NULL, &handles[i], EDDY_SEC(3600), never, NULL), 0);
        return 0;
}

TEST(a_run_that_ends_with_callbacks_to_be_made)
{
        check_linear(main_leaves_callbacks, 12500, sizeof(eddy_handle));
}

/* Half of them are queued before those that are removed. */
static int main_future_callbacks(void *arg)
{
        struct crowd *crowd = arg;
        eddy_future_callback *callbacks = crowd->memory;
        eddy_future kept = { 0 }, left = { 0 };

        for (int i = 0; i < crowd->n; i++)
                CHECK_EQ(eddy_future_add_callback(i < crowd->n / 2 ? &kept : &left, &callbacks[i],
                                                  i < crowd->n / 2 ? nothing : never, NULL),
                         0);
        CHECK_EQ(eddy_future_set(&kept, 0, NULL), 0);
        CHECK_EQ(eddy_future_set(&left, 0, NULL), 0);
        CHECK_EQ(eddy_future_remove_callback(&left, never, NULL), crowd->n - crowd->n / 2);
        eddy_future_fini(&left);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        eddy_future_fini(&kept);
        return 0;
}

TEST(removing_the_callbacks_of_a_future_that_is_done)
{
        check_linear(main_future_callbacks, 12500, sizeof(eddy_future_callback));
}

/* --- cancels --- */

static void open_scopes(struct crowd *crowd)
{
        eddy_scope *scopes = crowd->memory;

        for (int i = 0; i < crowd->n; i++)
                eddy_scope_begin(&scopes[i], NULL);
}

/* A task in a scope of a task, and so on; on the way out each makes a call, which the cancel stops. */
static int nests(void *arg)
{
        struct crowd *crowd = arg;
        struct eddy_task_opts small = { .flags = EDDY_TASK_STACK_64K };
        eddy_scope scope;

        if (crowd->n-- == 0) {
                eddy_event_set(&crowd->begun);
                return eddy_sleep(EDDY_SEC(3600));
        }
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, nests, crowd, &small, NULL), 0);
        CHECK_EQ(eddy_scope_end(&scope), -ECANCELED);
        CHECK_EQ(eddy_sleep(0), -ECANCELED);
        return -ECANCELED;
}

static int main_nested_tasks(void *arg)
{
        struct crowd *crowd = arg;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, nests, crowd);
        CHECK_EQ(eddy_event_wait(&crowd->begun), 0);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        return 0;
}

TEST(a_cancel_that_is_delivered_in_each_of_many_nested_tasks)
{
        check_linear(main_nested_tasks, 1500, 1);
}

static int main_starts_refused(void *arg)
{
        struct crowd *crowd = arg;
        eddy_scope *scopes = crowd->memory;

        open_scopes(crowd);
        eddy_scope_cancel(&scopes[0]);
        for (int i = 0; i < crowd->n; i++)
                CHECK_EQ(eddy_scope_start(&scopes[crowd->n - 1], never, NULL), -ECANCELED);
        for (int i = crowd->n - 1; i >= 0; i--)
                CHECK_EQ(eddy_scope_end(&scopes[i]), i > 0 ? -ECANCELED : 0);
        return 0;
}

TEST(starts_that_are_refused_inside_many_nested_scopes)
{
        check_linear(main_starts_refused, 1000, sizeof(eddy_scope));
}

static int waits(void *arg)
{
        return eddy_event_wait(arg);
}

/* Each is cancelled by itself, the last in line first. */
static int main_waiters(void *arg)
{
        struct crowd *crowd = arg;
        eddy_task **tasks = crowd->memory;
        struct eddy_task_opts small = { .flags = EDDY_TASK_STACK_64K };
        eddy_event event = { 0 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < crowd->n; i++)
                CHECK_EQ(eddy_scope_start_task(&scope, waits, &event, &small, &tasks[i]), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        for (int i = crowd->n - 1; i >= 0; i--)
                eddy_task_cancel(tasks[i]);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < crowd->n; i++)
                eddy_task_release(tasks[i]);
        return 0;
}

TEST(cancelling_tasks_that_wait_in_one_line)
{
        check_linear(main_waiters, 500, sizeof(eddy_task *));
}

static int job(void *arg)
{
        (void) arg;
        return eddy_to_thread(nothing, NULL);
}

/* Jobs that wait for a thread, cancelled by one scope. */
static int main_jobs(void *arg)
{
        struct crowd *crowd = arg;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < crowd->n; i++)
                eddy_scope_start(&scope, job, NULL);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        return 0;
}

TEST(cancelling_jobs_that_wait_for_a_thread)
{
        check_linear(main_jobs, 500, 1);
}
