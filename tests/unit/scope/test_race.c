/*
 * test_race.c - eddy_race(): who wins, what becomes of the others, when each
 * starts, and what is returned when nobody wins.
 */
#include <limits.h>

#include "sim_run.h"
#include "starve.h"

/* A call that sleeps, and what was seen of it. */
struct runner {
        int64_t sleep_ns;
        int result; /* when it is not stopped, or stubborn */
        bool stubborn;
        int64_t begun_ns, ended_ns; /* since the race began; below 0: not */
        int slept;
};

static int64_t began_ns;

static int run(void *arg)
{
        struct runner *runner = arg;

        runner->begun_ns = eddy_now() - began_ns;
        runner->slept = eddy_sleep(runner->sleep_ns);
        runner->ended_ns = eddy_now() - began_ns;
        return runner->slept < 0 && !runner->stubborn ? runner->slept : runner->result;
}

enum { MAX = 8 };

static struct eddy_call calls[MAX];

static int race(struct runner *runners, size_t n, int64_t stagger_ns)
{
        began_ns = eddy_now();
        for (size_t i = 0; i < n; i++) {
                runners[i].begun_ns = runners[i].ended_ns = -1;
                calls[i] = EDDY_CALL(run, &runners[i]);
                calls[i].result = 1000;
        }
        return eddy_race(calls, n, stagger_ns);
}

/* --- who wins --- */

SIM_TEST(the_first_good_answer_wins_and_the_others_are_cancelled_and_waited_for)
{
        struct runner runners[3] = { { 30 * MS, 1 }, { 10 * MS, 2 }, { EDDY_SEC(9), 3 } };

        CHECK_EQ(race(runners, 3, 0), 1);
        CHECK_NS(eddy_now() - began_ns, 10 * MS);
        CHECK_EQ(calls[0].result, -ECANCELED);
        CHECK_EQ(calls[1].result, 2);
        CHECK_EQ(calls[2].result, -ECANCELED);
        CHECK_EQ(runners[0].slept, -ECANCELED);
        CHECK_EQ(runners[2].slept, -ECANCELED);
        CHECK(runners[0].ended_ns >= 0 && runners[2].ended_ns >= 0);
        CHECK_EQ(eddy_sleep(0), 0);
}

SIM_TEST(a_result_of_0_is_a_good_answer_and_a_failure_is_none)
{
        struct runner runners[3] = { { MS, -EIO }, { 2 * MS, -EPERM }, { 3 * MS, 0 } };

        CHECK_EQ(race(runners, 3, 0), 2);
        CHECK_EQ(calls[0].result, -EIO);
        CHECK_EQ(calls[1].result, -EPERM);
        CHECK_EQ(calls[2].result, 0);
}

static int shielded(void *arg)
{
        eddy_scope shield;
        int err;

        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        err = run(arg);
        return eddy_scope_end_with(&shield, err);
}

SIM_TEST(a_loser_that_takes_its_time_is_waited_for_and_keeps_a_good_result)
{
        struct runner quick = { MS, 1 }, slow = { 50 * MS, 2 };
        struct eddy_call both[] = { EDDY_CALL(shielded, &slow), EDDY_CALL(run, &quick) };

        began_ns = eddy_now();
        CHECK_EQ(eddy_race(both, 2, 0), 1);
        CHECK_NS(eddy_now() - began_ns, 50 * MS);
        CHECK_EQ(both[0].result, 2);
        CHECK_EQ(both[1].result, 1);
}

SIM_TEST(of_two_that_are_ready_at_the_same_moment_the_first_to_return_wins)
{
        struct runner runners[3] = { { 5 * MS, 7 }, { 5 * MS, 8 }, { 5 * MS, 9 } };

        CHECK_EQ(race(runners, 3, 0), 0);
        CHECK_EQ(calls[0].result, 7);
        /* Their sleep was over before the cancel. */
        CHECK_EQ(calls[1].result, 8);
        CHECK_EQ(calls[2].result, 9);
}

static int at_once(void *arg)
{
        ++*(int *) arg;
        return 5;
}

SIM_TEST(a_call_that_does_not_wait_wins_and_the_others_still_begin)
{
        int begun = 0;
        struct runner runner = { MS, 1 };
        struct eddy_call mixed[] = { EDDY_CALL(at_once, &begun), EDDY_CALL(run, &runner),
                                     EDDY_CALL(at_once, &begun) };

        CHECK_EQ(eddy_race(mixed, 3, 0), 0);
        CHECK_EQ(begun, 2);
        CHECK_EQ(mixed[1].result, -ECANCELED);
        CHECK_EQ(mixed[2].result, 5);
}

SIM_TEST(one_call_is_a_race_too)
{
        struct runner good = { MS, 3 }, bad = { MS, -EIO };

        CHECK_EQ(race(&good, 1, 10 * MS), 0);
        CHECK_EQ(calls[0].result, 3);
        CHECK_EQ(race(&bad, 1, 10 * MS), -EIO);
        CHECK_EQ(calls[0].result, -EIO);
}

/* --- when each starts --- */

SIM_TEST(staggered_each_starts_its_time_after_the_one_before)
{
        struct runner runners[4] = {
                { EDDY_SEC(1), 1 }, { EDDY_SEC(1), 2 }, { 30 * MS, 3 }, { EDDY_SEC(1), 4 }
        };

        CHECK_EQ(race(runners, 4, 20 * MS), 2);
        CHECK_NS(runners[0].begun_ns, 0);
        CHECK_NS(runners[1].begun_ns, 20 * MS);
        CHECK_NS(runners[2].begun_ns, 40 * MS);
        CHECK_NS(runners[3].begun_ns, 60 * MS);
        CHECK_NS(eddy_now() - began_ns, 70 * MS);
}

SIM_TEST(a_win_before_the_next_is_due_keeps_it_from_starting)
{
        struct runner runners[3] = { { 10 * MS, 1 }, { MS, 2 }, { MS, 3 } };

        CHECK_EQ(race(runners, 3, 20 * MS), 0);
        CHECK_NS(eddy_now() - began_ns, 10 * MS);
        CHECK_EQ(runners[1].begun_ns, -1);
        CHECK_EQ(runners[2].begun_ns, -1);
        CHECK_EQ(calls[1].result, -ECANCELED);
        CHECK_EQ(calls[2].result, -ECANCELED);
}

SIM_TEST(a_failure_starts_the_next_at_once_and_the_time_counts_from_there)
{
        struct runner runners[4] = {
                { 5 * MS, -EIO }, { EDDY_SEC(1), 1 }, { EDDY_SEC(1), 2 }, { MS, 3 }
        };

        CHECK_EQ(race(runners, 4, 20 * MS), 3);
        CHECK_NS(runners[1].begun_ns, 5 * MS);
        CHECK_NS(runners[2].begun_ns, 25 * MS);
        CHECK_NS(runners[3].begun_ns, 45 * MS);
}

SIM_TEST(each_of_two_failures_at_the_same_moment_starts_one)
{
        struct runner runners[5] = { { 25 * MS, -EIO },
                                     { 5 * MS, -EIO },
                                     { EDDY_SEC(1), 1 },
                                     { EDDY_SEC(1), 2 },
                                     { 2 * MS, 3 } };

        /* Number 1 starts at 20 ms, and ends at 25 ms as number 0 does. */
        CHECK_EQ(race(runners, 5, 20 * MS), 4);
        CHECK_NS(runners[2].begun_ns, 25 * MS);
        CHECK_NS(runners[3].begun_ns, 25 * MS);
        CHECK_NS(runners[4].begun_ns, 45 * MS);
}

SIM_TEST(below_0_the_next_starts_only_when_one_has_failed)
{
        struct runner runners[3] = { { EDDY_SEC(5), -EIO }, { EDDY_SEC(5), -EIO }, { MS, 1 } };

        CHECK_EQ(race(runners, 3, -1), 2);
        CHECK_NS(runners[1].begun_ns, EDDY_SEC(5));
        CHECK_NS(runners[2].begun_ns, EDDY_SEC(10));
        /* Nor does the longest time of all pass. */
        CHECK_EQ(race(runners, 3, INT64_MAX), 2);
        CHECK_NS(runners[2].begun_ns, EDDY_SEC(10));
}

static int fails_at_once(void *arg)
{
        ++*(int *) arg;
        return -EIO;
}

SIM_TEST(calls_that_fail_without_waiting_take_no_time)
{
        struct eddy_call all[MAX];
        int64_t begun = eddy_now();
        int n = 0;

        for (int i = 0; i < MAX; i++)
                all[i] = EDDY_CALL(fails_at_once, &n);
        CHECK_EQ(eddy_race(all, MAX, EDDY_SEC(10)), -EIO);
        CHECK_EQ(n, MAX);
        CHECK_NS(eddy_now() - begun, 0);
}

/* --- nobody wins --- */

SIM_TEST(if_all_fail_the_first_failure_is_returned_and_all_can_be_read)
{
        struct runner runners[3] = { { 3 * MS, -EIO }, { MS, -EPERM }, { 2 * MS, -ENOENT } };

        CHECK_EQ(race(runners, 3, 0), -EPERM);
        CHECK_NS(eddy_now() - began_ns, 3 * MS);
        CHECK_EQ(calls[0].result, -EIO);
        CHECK_EQ(calls[1].result, -EPERM);
        CHECK_EQ(calls[2].result, -ENOENT);
        CHECK_EQ(eddy_sleep(0), 0);
}

static int cancels_itself(void *arg)
{
        (void) arg;
        eddy_task_cancel(eddy_task_current());
        return eddy_sleep(MS);
}

SIM_TEST(a_call_that_was_cancelled_by_itself_has_failed_as_others_do)
{
        struct runner last = { MS, 1 };
        struct eddy_call both[] = { EDDY_CALL(cancels_itself, NULL), EDDY_CALL(run, &last) };

        CHECK_EQ(eddy_race(both, 2, -1), 1);
        CHECK_EQ(both[0].result, -ECANCELED);
        both[1] = EDDY_CALL(cancels_itself, NULL);
        CHECK_EQ(eddy_race(both, 2, -1), -ECANCELED);
        CHECK_EQ(eddy_sleep(0), 0);
}

/* --- cancelled --- */

struct racer {
        struct runner *runners;
        size_t n;
        int64_t stagger_ns;
        int result, later;
};

static int races(void *arg)
{
        struct racer *racer = arg;

        racer->result = race(racer->runners, racer->n, racer->stagger_ns);
        racer->later = eddy_sleep(0);
        return racer->later;
}

static void cancel_after(struct racer *racer, int64_t after_ns)
{
        eddy_scope scope;
        eddy_task *task;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, races, racer, NULL, &task), 0);
        CHECK_EQ(eddy_sleep(after_ns), 0);
        eddy_task_cancel(task);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_task_release(task);
}

SIM_TEST(cancelled_the_caller_cancels_all_and_starts_no_more)
{
        struct runner runners[3] = { { EDDY_SEC(9), 1 }, { EDDY_SEC(9), 2 }, { EDDY_SEC(9), 3 } };
        int64_t staggers[] = { 0, 10 * MS, -1 };

        for (int i = 0; i < 3; i++) {
                struct racer racer = { runners, 3, staggers[i], 1000, 1000 };

                cancel_after(&racer, 15 * MS);
                CHECK_EQ(racer.result, -ECANCELED);
                CHECK_EQ(racer.later, -ECANCELED);
                CHECK_EQ(runners[0].slept, -ECANCELED);
                CHECK_EQ(runners[2].begun_ns >= 0, staggers[i] == 0);
                for (int k = 0; k < 3; k++)
                        CHECK_EQ(calls[k].result, -ECANCELED);
                CHECK_NS(eddy_now() - began_ns, 15 * MS);
        }
}

SIM_TEST(a_cancel_after_a_failure_is_a_cancel)
{
        struct runner runners[2] = { { MS, -EIO }, { EDDY_SEC(9), 2 } };
        struct racer racer = { runners, 2, 0, 1000, 1000 };

        cancel_after(&racer, 15 * MS);
        CHECK_EQ(racer.result, -ECANCELED);
        CHECK_EQ(calls[0].result, -EIO);
        CHECK_EQ(calls[1].result, -ECANCELED);
}

SIM_TEST(a_good_answer_wins_over_a_cancel_which_the_next_call_reports)
{
        struct runner runners[2] = { { EDDY_SEC(9), 1 }, { EDDY_SEC(9), 2, true } };
        struct racer racer = { runners, 2, 0, 1000, 1000 };

        cancel_after(&racer, 15 * MS);
        CHECK_EQ(racer.result, 1);
        CHECK_EQ(racer.later, -ECANCELED);
        CHECK_EQ(calls[1].result, 2);
}

SIM_TEST(cancelled_before_it_begins_nothing)
{
        struct runner runners[2] = { { MS, 1 }, { MS, 2 } };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        CHECK_EQ(race(runners, 2, 0), -ECANCELED);
        CHECK_EQ(runners[0].begun_ns, -1);
        CHECK_EQ(calls[0].result, -ECANCELED);
        CHECK_EQ(calls[1].result, -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

SIM_TEST(a_deadline_is_the_scope_around_it)
{
        struct runner runners[2] = { { EDDY_SEC(9), 1 }, { EDDY_SEC(9), 2 } };
        int err;

        EDDY_SCOPE (scope, &err, .timeout_ns = 50 * MS) {
                err = race(runners, 2, 20 * MS);
                CHECK_EQ(err, -ECANCELED);
        }
        CHECK_EQ(err, -ETIMEDOUT);
        CHECK_NS(eddy_now() - began_ns, 50 * MS);
}

/* --- in the corners --- */

SIM_TEST(races_can_be_calls_of_a_race)
{
        struct runner inner[2] = { { 30 * MS, 1 }, { 5 * MS, 2 } }, outside = { 10 * MS, 7 };
        struct racer racer = { inner, 2, 0, 1000, 1000 };
        struct eddy_call both[] = { EDDY_CALL(races, &racer), EDDY_CALL(run, &outside) };

        CHECK_EQ(eddy_race(both, 2, 0), 0);
        CHECK_EQ(racer.result, 1);
        CHECK_EQ(both[1].result, -ECANCELED);
}

SIM_TEST(a_race_of_none_or_of_too_many_is_refused)
{
        CHECK_EQ(eddy_race(NULL, 0, 0), -EINVAL);
        CHECK_EQ(eddy_race(calls, (size_t) INT_MAX + 1, 0), -EINVAL);
}

TEST(outside_of_a_run_it_says_so)
{
        struct eddy_call call = { run, NULL, 1000, NULL };

        CHECK_EQ(eddy_race(&call, 1, 0), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(call.result, EDDY_E_RUN_NOT_RUNNING);
}

/* More than there are stacks for, and then none at all. */
static int races_without_memory(void *arg)
{
        enum { MANY = 200 };
        static struct eddy_call many[MANY];
        static struct runner runners[MANY];
        int won, out = 0;

        (void) arg;
        for (int i = 0; i < MANY; i++) {
                runners[i] = (struct runner){ MS, 1 };
                many[i] = EDDY_CALL(run, &runners[i]);
        }
        allocations_left = 0;
        won = eddy_race(many, MANY, 0);
        allocations_left = -1;
        CHECK_EQ(won, 0);
        for (int i = 0; i < MANY; i++)
                out += many[i].result == -ENOMEM;
        CHECK(out > 0 && out < MANY);
        return 0;
}

TEST(a_call_without_memory_has_failed_and_the_others_go_on)
{
        eddy_alloc_set(starve, NULL);
        CHECK_EQ(sim_run(races_without_memory, NULL), 0);
}

static char dumped[4096];

static void dump_line(const char *line, void *arg)
{
        size_t bytes = strlen(dumped);

        (void) arg;
        snprintf(dumped + bytes, sizeof(dumped) - bytes, "%s\n", line);
}

static int dumps(void *arg)
{
        (void) arg;
        return eddy_dump(dump_line, NULL);
}

SIM_TEST_NO_DEBUG(its_calls_are_named_in_a_dump)
{
        struct runner runner = { MS, 1 };
        struct eddy_call both[] = { EDDY_CALL(run, &runner), EDDY_CALL(dumps, NULL) };

        CHECK_EQ(eddy_race(both, 2, 0), 1);
        CHECK_STR(dumped, "main waits for the tasks of a scope to end\n"
                          "  scope of main; keeps going\n"
                          "    run waits for time to pass\n"
                          "    dumps runs\n");
}

SIM_TEST_AS(debug_mode_does_not_report_the_failures_of_losers_as_unread, EDDY_RUN_DEBUG)
{
        struct runner runners[3] = { { MS, -EIO }, { 2 * MS, -EPERM }, { 3 * MS, 1 } };
        struct ed_run *ed_run = ed_run_of(ed_loop_current);
        struct reports reports = { 0 };

        ed_run->opts.report = reports_add;
        ed_run->opts.report_arg = &reports;
        CHECK_EQ(race(runners, 3, 0), 2);
        CHECK_EQ(reports.count[EDDY_REPORT_UNHANDLED], 0);
        ed_run->opts.report = ed_report_to_stderr;
}
