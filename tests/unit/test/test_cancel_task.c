/*
 * A task that is cancelled alone: its points, what it sees there, and that the
 * others go on.
 */
#include "scope/task.h"
#include "sweep_test.h"

/* --- points --- */

enum { EARLY = 1, PARKED = 2, WOKEN = 3 };

/* The results of the calls of the tasks, in the last run. */
static struct {
        int first, second; /* of the target */
        int other_first, other_second;
        int result;
} seen;

static int target(void *arg)
{
        (void) arg;
        seen.first = eddy_sleep(2 * MS);
        seen.second = eddy_sleep(2 * MS);
        return seen.first < 0 ? seen.first : seen.second;
}

static int other(void *arg)
{
        (void) arg;
        seen.other_first = eddy_sleep(MS);
        seen.other_second = eddy_sleep(5 * MS);
        return seen.other_second;
}

static int at_once(void *arg)
{
        (void) arg;
        return 0;
}

/* Main is task 1, and these are 2, 3 and 4. */
static int three(void *arg)
{
        struct eddy_task_opts named[] = { { .name = "target" },
                                          { .name = "other" },
                                          { .name = "at once" } };
        eddy_task_fn *fns[] = { target, other, at_once };
        eddy_scope scope;

        (void) arg;
        memset(&seen, 0, sizeof(seen));
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 3; i++)
                (void) eddy_scope_start_task(&scope, fns[i], NULL, &named[i], NULL);
        return eddy_scope_end(&scope);
}

static void cancel_target(uint64_t point, struct eddy_test_result *ret_result)
{
        struct eddy_test_opts opts = { .name = "three", .cancel_task = 2, .cancel_at = point };

        CHECK_EQ(eddy_test_run(three, NULL, &opts, ret_result), 0);
        CHECK(ret_result->was_cancelled);
        CHECK_EQ(seen.other_first + seen.other_second, 0);
}

TEST(a_task_can_be_cancelled_before_it_has_begun)
{
        struct eddy_test_result result;

        cancel_target(EARLY, &result);
        CHECK_EQ(seen.first, -ECANCELED);
        CHECK_EQ(result.lasted_ns / MS, 6);
}

TEST(a_task_can_be_cancelled_as_it_begins_to_wait)
{
        struct eddy_test_result result;

        cancel_target(PARKED, &result);
        CHECK_EQ(seen.first, -ECANCELED);
        CHECK_EQ(seen.second, -ECANCELED);
}

TEST(a_task_can_be_cancelled_when_its_wait_is_over)
{
        struct eddy_test_result result;

        cancel_target(WOKEN, &result);
        CHECK_EQ(seen.first, 0);
        CHECK_EQ(seen.second, -ECANCELED);
        cancel_target(WOKEN + 2, &result);
        CHECK_EQ(seen.first, 0);
        CHECK_EQ(seen.second, 0);
}

TEST(a_point_that_the_task_does_not_come_to_cancels_nothing)
{
        struct eddy_test_opts opts = { .cancel_task = 2, .cancel_at = WOKEN + 3 };
        struct eddy_test_result result;

        CHECK_EQ(eddy_test_run(three, NULL, &opts, &result), 0);
        CHECK(!result.was_cancelled);
        opts = (struct eddy_test_opts){ .cancel_task = 5, .cancel_at = 1 };
        CHECK_EQ(eddy_test_run(three, NULL, &opts, &result), 0);
        CHECK(!result.was_cancelled);
        /* Without a point it says nothing. */
        opts = (struct eddy_test_opts){ .cancel_task = 2 };
        CHECK_EQ(eddy_test_run(three, NULL, &opts, &result), 0);
        CHECK(!result.was_cancelled && seen.second == 0);
}

TEST(all_points_of_all_tasks_are_tried)
{
        struct eddy_test_opts opts = { .name = "three" };

        sweep_passes(EDDY_TEST_CANCEL_TASK, three, NULL, &opts);
        CHECK_STR(printed, "");
        /* Main waits once, the target and the other twice, the last not at all. */
        CHECK_EQ(figures.tasks, 4);
        CHECK_EQ(figures.count, 3 + 5 + 5 + 1);
        CHECK_EQ(figures.tried, figures.count);
        CHECK_EQ(figures.runs, figures.count + 2);
        /* A main that was cancelled fails: the cancel of another task fails no scope. */
        CHECK_EQ(figures.failed, 2);
}

TEST(under_a_seed_all_are_tried_too)
{
        for (uint64_t seed = 1; seed <= 20; seed++) {
                struct eddy_test_opts opts = { .name = "three", .seed = seed };

                sweep_passes(EDDY_TEST_CANCEL_TASK, three, NULL, &opts);
                CHECK_EQ(figures.count, 3 + 5 + 5 + 1);
        }
}

TEST(a_name_says_which_tasks_may_be_cancelled)
{
        struct eddy_test_opts opts = { .name = "three", .cancel_named = "other" };

        sweep_passes(EDDY_TEST_CANCEL_TASK, three, NULL, &opts);
        CHECK_EQ(figures.tasks, 1);
        CHECK_EQ(figures.count, 5);
        opts.cancel_named = "nobody";
        sweep_passes(EDDY_TEST_CANCEL_TASK, three, NULL, &opts);
        CHECK_EQ(figures.tasks, 0);
        CHECK_EQ(figures.count, 0);
        opts.cancel_named = "main";
        sweep_passes(EDDY_TEST_CANCEL_TASK, three, NULL, &opts);
        CHECK_EQ(figures.count, 3);
}

TEST(a_sample_is_of_the_points_of_all_tasks)
{
        CHECK_EQ(setenv("EDDY_TEST_SAMPLE", "2", 1), 0);
        CHECK_EQ(setenv("EDDY_TEST_VERBOSE", "1", 1), 0);
        sweep_passes(EDDY_TEST_CANCEL_TASK, three, NULL,
                     &(struct eddy_test_opts){ .name = "three" });
        CHECK_EQ(figures.tried, 2);
        CHECK_EQ(lines_with("eddy_test: three: task=1,cancel=1\n"), 1);
        CHECK_EQ(lines_with("eddy_test: three: task=4,cancel=1\n"), 1);
}

/* --- many tasks, one after the other and in the background --- */

static int sleeps(void *arg)
{
        (void) arg;
        return eddy_sleep(MS);
}

static int starts_many(void *arg)
{
        int err = 0;

        (void) arg;
        for (int i = 0; i < 3 && err == 0; i++) {
                eddy_scope scope;

                eddy_scope_begin(&scope, NULL);
                for (int k = 0; k < 20; k++)
                        eddy_scope_start(&scope, k % 2 ? sleeps : at_once, NULL);
                err = eddy_scope_end(&scope);
        }
        return err < 0 ? err : eddy_background(sleeps, NULL);
}

TEST(tasks_whose_stacks_are_used_again_are_kept_apart)
{
        sweep_passes(EDDY_TEST_CANCEL_TASK, starts_many, NULL, NULL);
        CHECK_EQ(figures.tasks, 1 + 60 + 1);
        CHECK_EQ(figures.count, 1 + 2 * 3 + 30 + 30 * 3 + 3);
        CHECK_EQ(figures.tried, figures.count);
}

/* --- results --- */

/* Main makes a result of its own of what became of a task. */
static int judges(void *arg)
{
        eddy_scope scope;
        eddy_task *task = NULL;
        int result, err;

        eddy_scope_begin(&scope, NULL);
        err = eddy_scope_start_task(&scope, sleeps, NULL, NULL, &task);
        if (err == 0)
                err = eddy_task_join(task, &result);
        (void) eddy_scope_end(&scope);
        eddy_task_release(task);
        if (err < 0)
                return err;
        return result < 0 ? *(int *) arg : 0;
}

TEST(main_may_end_in_any_error_when_another_task_was_cancelled)
{
        int error = -EIO;

        sweep_passes(EDDY_TEST_CANCEL_TASK, judges, &error, NULL);
        CHECK_EQ(figures.tasks, 2);
        CHECK(figures.failed > 2);
        error = -ECANCELED;
        sweep_passes(EDDY_TEST_CANCEL_TASK, judges, &error, NULL);
        error = 5;
        sweep_passes(EDDY_TEST_CANCEL_TASK, judges, &error, NULL);
}

static int renames(void *arg)
{
        (void) arg;
        return eddy_sleep(MS) < 0 ? -EIO : 0;
}

TEST(main_that_is_cancelled_ends_in_ecanceled_or_well)
{
        CHECK_EQ(sweep(EDDY_TEST_CANCEL_TASK, renames, NULL,
                       &(struct eddy_test_opts){ .name = "it" }),
                 EDDY_E_TEST_FOUND);
        CHECK_EQ(
                lines_with("eddy_test: it: task=1,cancel=1: it returned EIO when it was cancelled, "
                           "not ECANCELED\n"),
                1);
        CHECK_STR(replay(), "it:task=1,cancel=1");
}

/* --- findings --- */

/* A teller that is cancelled alone does not say that it is gone. */
static int reports_at_the_end(void *arg)
{
        int err = eddy_sleep(MS);

        return err < 0 ? err : eddy_event_set(arg);
}

static int waits_for_another(void *arg)
{
        eddy_event over = { 0 };
        eddy_scope scope;
        int err;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start_task(&scope, reports_at_the_end, &over,
                              &(struct eddy_task_opts){ .name = "teller" }, NULL);
        err = eddy_event_wait(&over);
        return eddy_scope_end(&scope) < 0 ? -ECANCELED : err;
}

TEST(others_that_wait_for_ever_are_a_finding)
{
        struct eddy_test_opts opts = { .name = "waits" };

        sweep_passes(EDDY_TEST_CANCEL, waits_for_another, NULL, &opts);
        CHECK_EQ(sweep(EDDY_TEST_CANCEL_TASK, waits_for_another, NULL, &opts), EDDY_E_TEST_FOUND);
        CHECK_EQ(lines_with("eddy_test: waits: task=2,cancel=1: all tasks wait"), 1);
        CHECK_EQ(lines_with(
                         "eddy_test: waits: task=2,cancel=1: task 2, teller, was cancelled before "
                         "it had begun\n"),
                 1);
        CHECK_EQ(setenv("EDDY_TEST_REPLAY", replay(), 1), 0);
        CHECK_EQ(sweep(EDDY_TEST_SEEDS, waits_for_another, NULL, &opts), EDDY_E_TEST_FOUND);
        CHECK_EQ(figures.runs, 1);
        CHECK_EQ(lines_with(": task 2, teller, was cancelled before it had begun\n"), 1);
}

TEST(a_replay_says_where_the_task_was)
{
        struct eddy_test_opts opts = { .name = "three" };

        test_needs_backtrace();
        CHECK_EQ(setenv("EDDY_TEST_REPLAY", "three:task=2,cancel=2", 1), 0);
        sweep_passes(EDDY_TEST_CANCEL_TASK, three, NULL, &opts);
        CHECK_EQ(lines_with("eddy_test: three: task=2,cancel=2: task 2, target, was cancelled in "),
                 1);
        CHECK_EQ(setenv("EDDY_TEST_REPLAY", "three:seed=3,task=2,cancel=3", 1), 0);
        sweep_passes(EDDY_TEST_CANCEL_TASK, three, NULL, &opts);
        CHECK_EQ(lines_with(": task 2, target, was cancelled as its wait was over in "), 1);
}

TEST(a_replay_of_a_point_that_is_not_there_is_a_finding)
{
        struct eddy_test_opts opts = { .name = "three" };

        CHECK_EQ(setenv("EDDY_TEST_REPLAY", "three:task=2,cancel=6", 1), 0);
        CHECK_EQ(sweep(EDDY_TEST_CANCEL_TASK, three, NULL, &opts), EDDY_E_TEST_FOUND);
        CHECK_EQ(lines_with(": point 6 of task 2 was never reached; there were 5: the program, "
                            "or the build of eddy, has changed"),
                 1);
        CHECK_EQ(setenv("EDDY_TEST_REPLAY", "three:task=9,cancel=1", 1), 0);
        CHECK_EQ(sweep(EDDY_TEST_CANCEL_TASK, three, NULL, &opts), EDDY_E_TEST_FOUND);
        CHECK_EQ(lines_with(": point 1 of task 9 was never reached; there were 0: "), 1);
        CHECK_EQ(setenv("EDDY_TEST_REPLAY", "three:task=2", 1), 0);
        CHECK_EQ(sweep(EDDY_TEST_CANCEL_TASK, three, NULL, &opts), -EINVAL);
        CHECK_EQ(setenv("EDDY_TEST_REPLAY", "three:task=0,cancel=2", 1), 0);
        CHECK_EQ(sweep(EDDY_TEST_CANCEL_TASK, three, NULL, &opts), -EINVAL);
}

/* Each run has a task less than the one before. */
static int tires(void *arg)
{
        int *tasks = arg;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < *tasks; i++)
                eddy_scope_start(&scope, sleeps, NULL);
        *tasks -= *tasks > 1;
        return eddy_scope_end(&scope);
}

TEST(a_program_that_is_not_the_same_in_each_run_is_reported)
{
        int tasks = 8;

        CHECK_EQ(sweep(EDDY_TEST_CANCEL_TASK, tires, &tasks,
                       &(struct eddy_test_opts){ .name = "it" }),
                 EDDY_E_TEST_FOUND);
        CHECK_EQ(lines_with(" was not reached, of 3 counted without faults: the program is not "
                            "deterministic\n"),
                 1);
        CHECK_EQ(lines_with("EDDY_TEST_REPLAY cannot repeat it"), 1);
}

/* --- who else looks at waits --- */

static int waits_seen;

static void count_wait(struct ed_task *task)
{
        (void) task;
        waits_seen++;
}

TEST(a_task_that_looked_at_each_wait_before_goes_on_to)
{
        struct eddy_test_result result;
        int waits;

        CHECK(!ed_test_at_suspend_set(count_wait));
        CHECK_EQ(eddy_test_run(three, NULL, NULL, NULL), 0);
        waits = waits_seen;
        CHECK(waits >= 5);
        waits_seen = 0;
        cancel_target(WOKEN + 2, &result);
        CHECK_EQ(waits_seen, waits);
        CHECK(ed_test_at_suspend_set(NULL) == count_wait);
}
