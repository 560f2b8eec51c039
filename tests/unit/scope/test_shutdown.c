/*
 * test_shutdown.c - how a run ends: the order, the tasks that are waited for, the
 * reports of tasks that fail then, and the effect of a signal.
 */
#include <pthread.h>
#include <signal.h>

#include "sim_run.h"

static char trace[256];

static void note(const char *what)
{
        size_t used = strlen(trace);

        snprintf(trace + used, sizeof(trace) - used, "%s ", what);
}

/* --- order --- */

static int own_task(void *arg)
{
        (void) arg;
        if (eddy_sleep(10 * MS) == 0)
                note("own");
        return 0;
}

static int goes_on(void *arg)
{
        eddy_scope shield;
        int err = eddy_sleep(EDDY_SEC(3600));

        (void) arg;
        note(err == -ECANCELED ? "cancelled" : "slept");
        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        note("cleaned");
        return eddy_scope_end(&shield);
}

static int finishes(void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        note("finished");
        return 0;
}

static int main_in_order(void *arg)
{
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_background(goes_on, NULL), 0);
        CHECK_EQ(eddy_background(finishes, NULL), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, own_task, NULL), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        note("main");
        return 9;
}

/*
 * A104: main's own tasks, main, then the background: what finishes in its
 * time, the cancel of the rest, its cleanup; then the run returns main's result.
 */
TEST(a_run_ends_in_order)
{
        struct ed_sim_end end;
        struct ed_sim_opts sim = { .end = &end };
        struct eddy_run_opts opts = { .drain_ns = EDDY_SEC(2) };
        struct ed_sys *sys;

        CHECK_EQ(ed_sim_new(&sim, &sys), 0);
        CHECK_EQ(ed_run_on(sys, main_in_order, NULL, &opts, NULL), 9);
        CHECK_STR(trace, "own main finished cancelled cleaned ");
        CHECK_NS(end.lasted_ns, EDDY_SEC(3) + 10 * MS);
}

/* --- failures --- */

static int fails_in_cleanup(void *arg)
{
        int err = eddy_sleep(EDDY_SEC(3600));

        note(err == -ECANCELED ? "cancelled" : "slept");
        return (int) (intptr_t) arg;
}

static int main_leaves_failing(void *arg)
{
        CHECK_EQ(eddy_background(fails_in_cleanup, (void *) (intptr_t) -EIO), 0);
        CHECK_EQ(eddy_background(fails_in_cleanup, (void *) (intptr_t) -ECANCELED), 0);
        CHECK_EQ(eddy_background(fails_in_cleanup, (void *) 3), 0);
        return (int) (intptr_t) arg;
}

/* A105: what is left over and fails when it is cancelled is reported; main's result stays. */
TEST(a_failure_in_the_last_cleanup_is_reported_and_mains_result_stays)
{
        static const int mains[] = { 4, 0, -EPERM, -ECANCELED };

        for (int i = 0; i < 4; i++) {
                struct reports reports = { 0 };
                struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_DEBUG,
                                              .drain_ns = -1,
                                              .report = reports_add,
                                              .report_arg = &reports };

                trace[0] = '\0';
                CHECK_EQ(sim_run_with(main_leaves_failing, (void *) (intptr_t) mains[i], 0, opts),
                         mains[i]);
                CHECK_STR(trace, "cancelled cancelled cancelled ");
                CHECK_EQ(reports.count[EDDY_REPORT_BACKGROUND], 1);
                CHECK_EQ(reports.error, -EIO);
        }
}

/* A82: the waiter was cancelled; the task it waited for fails later, which is reported once. */
static int fails_later(void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_sleep(10 * MS), 0);
        return -EIO;
}

struct owner {
        eddy_task *task;
        int joined;
};

static int joins(void *arg)
{
        struct owner *owner = arg;

        owner->joined = eddy_task_join(owner->task, NULL);
        return owner->joined;
}

SIM_TEST(a_failure_after_its_waiter_was_cancelled_is_reported_once)
{
        struct eddy_scope_errors errors;
        struct owner owner = { .joined = 1 };
        eddy_scope scope, waiters;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .errors = &errors });
        CHECK_EQ(eddy_scope_start_task(&scope, fails_later, NULL, NULL, &owner.task), 0);
        eddy_scope_begin(&waiters, NULL);
        CHECK_EQ(eddy_scope_start(&waiters, joins, &owner), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_scope_cancel(&waiters);
        CHECK_EQ(eddy_scope_end(&waiters), 0);
        CHECK_EQ(owner.joined, -ECANCELED);
        CHECK(!eddy_task_is_done(owner.task));
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
        CHECK_EQ(errors.count, 1);
        eddy_task_release(owner.task);
}

static int main_forgets_failing(void *arg)
{
        (void) arg;
        return eddy_background(fails_later, NULL);
}

/* A82, A105: one that nobody waits for is reported once. */
TEST(a_failure_without_a_waiter_is_reported_once)
{
        struct reports reports = { 0 };
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = &reports };

        CHECK_EQ(sim_run_with(main_forgets_failing, NULL, 0, opts), 0);
        CHECK_EQ(reports.count[EDDY_REPORT_BACKGROUND], 1);
        CHECK_EQ(reports.error, -EIO);
}

/* --- started late --- */

struct late {
        int started, refused, depth;
};

static int starts_more(void *arg)
{
        struct late *late = arg;
        int err = eddy_sleep(MS);

        late->started++;
        if (err < 0) {
                /* Cancelled: a scope of its own takes no more either, the background none. */
                eddy_scope scope;

                eddy_scope_begin(&scope, NULL);
                late->refused += eddy_scope_start(&scope, starts_more, late) == -ECANCELED;
                (void) eddy_scope_end(&scope);
                late->refused += eddy_background(starts_more, late) == -ECANCELED;
                return err;
        }
        return late->depth-- > 0 ? eddy_background(starts_more, late) : 0;
}

static int main_starts_chain(void *arg)
{
        return eddy_background(starts_more, arg);
}

/* A106: each that is started while the run drains is waited for, as long as that takes. */
TEST(tasks_started_by_tasks_that_drain_are_all_waited_for)
{
        struct late late = { .depth = 1000 };

        CHECK_EQ(sim_run(main_starts_chain, &late), 0);
        CHECK_EQ(late.started, 1001);
        CHECK_EQ(late.refused, 0);
}

/* A106: and drain_ns bounds it, even if they go on for ever. */
TEST(tasks_that_start_others_for_ever_end_when_the_draining_does)
{
        struct late late = { .depth = 1 << 30 };
        struct eddy_run_opts opts = { .drain_ns = 100 * MS };

        CHECK_EQ(sim_run_with(main_starts_chain, &late, 0, opts), 0);
        CHECK(late.started >= 90 && late.started <= 101);
        CHECK_EQ(late.refused, 2);
}

static int cleans_up_with_tasks(void *arg)
{
        eddy_scope shield;

        if (eddy_sleep(EDDY_SEC(3600)) == 0)
                return -EIO;
        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        for (int i = 0; i < 3; i++)
                CHECK_EQ(eddy_scope_start(&shield, finishes, arg), 0);
        return eddy_scope_end(&shield);
}

static int main_leaves_cleaner(void *arg)
{
        return eddy_background(cleans_up_with_tasks, arg);
}

/* A106: tasks that a shielded cleanup starts then run, and the run waits for them. */
TEST(tasks_of_a_shielded_cleanup_run_to_their_end)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_DEBUG, .drain_ns = -1 };

        CHECK_EQ(sim_run_with(main_leaves_cleaner, NULL, 0, opts), 0);
        CHECK_STR(trace, "finished finished finished ");
}

/* --- signals --- */

static int cancelled_twice(void *arg)
{
        int own_first = arg != NULL;

        if (own_first)
                eddy_task_cancel(eddy_task_current());
        raise(SIGINT);
        while (eddy_sleep(MS) == 0)
                continue;
        if (!own_first)
                eddy_task_cancel(eddy_task_current());
        /* The signal is seen when the loop looks. */
        while (!eddy_run_signal())
                (void) eddy_sleep(0);
        return eddy_sleep(0);
}

/* A109: main cancelled by itself, and by a signal, in either order: a cancel, and the signal is known. */
TEST(main_cancelled_by_itself_and_by_a_signal_is_cancelled)
{
        CHECK_EQ(eddy_run(cancelled_twice, NULL, NULL), -ECANCELED);
        CHECK_EQ(eddy_run_signal(), SIGINT);
        CHECK_EQ(eddy_run(cancelled_twice, (void *) 1, NULL), -ECANCELED);
        CHECK_EQ(eddy_run_signal(), SIGINT);
}

static int swallows(void *arg)
{
        raise(SIGTERM);
        while (eddy_sleep(MS) == 0)
                continue;
        note("swallowed");
        return (int) (intptr_t) arg;
}

/* A109: main gets over the signal and has a result, or a failure: the run returns that. */
TEST(main_that_gets_over_a_signal_returns_as_if_there_was_none)
{
        CHECK_EQ(eddy_run(swallows, (void *) 12, NULL), 12);
        CHECK_EQ(eddy_run(swallows, (void *) (intptr_t) -EIO, NULL), -EIO);
        CHECK_STR(trace, "swallowed swallowed ");
}

static int sleeps_a_little(void *arg)
{
        (void) arg;
        return eddy_sleep(MS);
}

static void *runs_on_a_thread(void *arg)
{
        struct sigaction *during = arg;
        int err = eddy_run(sleeps_a_little, NULL, NULL);

        CHECK_EQ(sigaction(SIGINT, NULL, during), 0);
        return (void *) (intptr_t) err;
}

static int runs_another_beside(void *arg)
{
        pthread_t thread;
        void *result;

        CHECK_EQ(pthread_create(&thread, NULL, runs_on_a_thread, arg), 0);
        CHECK_EQ(pthread_join(thread, &result), 0);
        CHECK_EQ((intptr_t) result, 0);
        /* The run beside it has come and gone; the signal is still this one's. */
        raise(SIGINT);
        return eddy_sleep(EDDY_SEC(60));
}

/* A110: a second loop on another thread runs without the signals, and leaves them as they are. */
TEST(a_run_beside_another_leaves_its_signals_alone)
{
        struct sigaction before, during, after;

        CHECK_EQ(sigaction(SIGINT, NULL, &before), 0);
        CHECK_EQ(eddy_run(runs_another_beside, &during,
                          &(struct eddy_run_opts){ .flags = EDDY_RUN_NO_WATCHDOG }),
                 -ECANCELED);
        CHECK_EQ(eddy_run_signal(), SIGINT);
        CHECK_EQ(sigaction(SIGINT, NULL, &after), 0);
        CHECK(during.sa_handler != before.sa_handler);
        CHECK(after.sa_handler == before.sa_handler);
}
