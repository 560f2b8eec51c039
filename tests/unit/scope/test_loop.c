/*
 * test_loop.c - callbacks of the loop: their order, their cancelling, their
 * failures, and descriptors.
 */
#include <string.h>

#include "sim_run.h"
#include "starve.h"
#include "sys/sys.h"

/* --- a record of what ran, in words --- */

static char ran[512];

static int note(void *arg)
{
        size_t used = strlen(ran);

        snprintf(ran + used, sizeof(ran) - used, "%s%s", used ? " " : "", (const char *) arg);
        return 0;
}

static void soon(eddy_handle *handle, const char *word)
{
        CHECK_EQ(eddy_loop_call_soon(NULL, handle, note, (void *) word), 0);
}

/* A1: callbacks run first in, first out, each once, and not inside the call. */
SIM_TEST(call_soon_is_first_in_first_out)
{
        eddy_handle handles[3] = { 0 };

        soon(&handles[0], "a");
        soon(&handles[1], "b");
        soon(&handles[2], "c");
        CHECK_STR(ran, "");
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(eddy_sleep(1), 0);
        CHECK_STR(ran, "a b c");
}

/* --- turns --- */

static eddy_handle nested_handle, endless_handle;

static int note_and_nest(void *arg)
{
        (void) note(arg);
        soon(&nested_handle, "nested");
        return 0;
}

/*
 * A2, A3, A6: what a callback asks for runs a turn later, after the timers
 * that are due, which run by their times, a time in the past first.
 */
SIM_TEST(a_nested_callback_runs_after_the_timers_that_are_due)
{
        eddy_handle handles[4] = { 0 };

        CHECK_EQ(eddy_loop_call_soon(NULL, &handles[0], note_and_nest, (void *) "soon1"), 0);
        soon(&handles[1], "soon2");
        CHECK_EQ(eddy_loop_call_later(NULL, &handles[2], 0, note, (void *) "later0"), 0);
        CHECK_EQ(eddy_loop_call_later(NULL, &handles[3], -5, note, (void *) "later-5"), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_STR(ran, "soon1 soon2 later-5 later0 nested");
}

/* A7: equal times run in the order asked for. */
SIM_TEST(equal_times_run_in_the_order_asked_for)
{
        eddy_handle handles[4] = { 0 };
        int64_t at_ns = eddy_now() + MS;

        for (int i = 0; i < 4; i++)
                CHECK_EQ(eddy_loop_call_at(NULL, &handles[i], at_ns, note,
                                           (void *) &"a\0b\0c\0d"[2 * i]),
                         0);
        CHECK_EQ(eddy_handle_when(&handles[2]), at_ns);
        CHECK_EQ(eddy_sleep(2 * MS), 0);
        CHECK_STR(ran, "a b c d");
        CHECK_EQ(eddy_handle_when(&handles[2]), 0);
}

static int again_until_stopped(void *arg)
{
        uint64_t *turns = arg;

        ++*turns;
        return eddy_loop_call_soon(NULL, &endless_handle, again_until_stopped, turns);
}

/* A2: a callback that always asks for the next starves neither timers nor tasks. */
SIM_TEST(a_callback_that_rearms_itself_starves_no_task)
{
        uint64_t turns = 0;

        CHECK_EQ(eddy_loop_call_soon(NULL, &endless_handle, again_until_stopped, &turns), 0);
        CHECK_EQ(eddy_sleep(EDDY_US(50)), 0);
        CHECK(turns > 1);
        CHECK_EQ(eddy_handle_cancel(&endless_handle), 1);
}

struct soon_world {
        int order[6];
        int n;
        eddy_handle handles[6];
};

static struct soon_world world;

static int note_number(void *arg)
{
        world.order[world.n++] = (int) (intptr_t) arg;
        return 0;
}

static int random_main(void *arg)
{
        (void) arg;
        for (int i = 0; i < 6; i++)
                CHECK_EQ(eddy_loop_call_soon(NULL, &world.handles[i], note_number,
                                             (void *) (intptr_t) i),
                         0);
        while (world.n < 6)
                CHECK_EQ(eddy_sleep(0), 0);
        for (int i = 0; i < 6; i++)
                CHECK_EQ(world.order[i], i);
        return 0;
}

/* A1: also where the order of tasks is left to chance. */
TEST(callbacks_keep_their_order_under_any_schedule)
{
        for (uint64_t seed = 1; seed <= 100; seed++) {
                memset(&world, 0, sizeof(world));
                CHECK_EQ(sim_run_with(random_main, NULL, seed, (struct eddy_run_opts){ 0 }), 0);
        }
}

/* --- cancelling --- */

/* A9: cancelling twice is harmless, and what is cancelled never runs. */
SIM_TEST(a_cancelled_callback_never_runs)
{
        eddy_handle handles[3] = { 0 };

        soon(&handles[0], "a");
        soon(&handles[1], "b");
        soon(&handles[2], "c");
        CHECK_EQ(eddy_handle_is_scheduled(&handles[1]), 1);
        CHECK_EQ(eddy_handle_cancel(&handles[1]), 1);
        CHECK_EQ(eddy_handle_cancel(&handles[1]), 0);
        CHECK_EQ(eddy_handle_is_scheduled(&handles[1]), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_STR(ran, "a c");
        CHECK_EQ(eddy_handle_cancel(&handles[0]), 0);
        soon(&handles[1], "again");
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_STR(ran, "a c again");
}

/* A8, A9: a cancelled timer is gone at once; so is one whose time has come. */
SIM_TEST(a_cancelled_timer_never_runs)
{
        eddy_handle handles[100] = { 0 };

        for (int i = 0; i < 100; i++)
                CHECK_EQ(eddy_loop_call_later(NULL, &handles[i], EDDY_SEC(i), note, (void *) "x"),
                         0);
        for (int i = 0; i < 100; i++)
                if (i != 50)
                        CHECK_EQ(eddy_handle_cancel(&handles[i]), 1);
        CHECK_EQ(eddy_sleep(EDDY_SEC(200)), 0);
        CHECK_STR(ran, "x");
}

static int cancels(void *arg)
{
        return note((void *) (eddy_handle_cancel(arg) ? "cancelled" : "too late"));
}

/* A9: a callback may cancel another that is ready in the same turn, and not itself. */
SIM_TEST(a_callback_may_cancel_the_next)
{
        eddy_handle handles[2] = { 0 }, own = { 0 };

        CHECK_EQ(eddy_loop_call_soon(NULL, &handles[0], cancels, &handles[1]), 0);
        soon(&handles[1], "b");
        CHECK_EQ(eddy_loop_call_soon(NULL, &own, cancels, &own), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_STR(ran, "cancelled too late");
}

SIM_TEST(a_handle_that_is_scheduled_is_busy)
{
        eddy_handle handle = { 0 };

        CHECK_EQ(eddy_loop_call_later(NULL, &handle, MS, note, (void *) "a"), 0);
        CHECK_EQ(eddy_loop_call_soon(NULL, &handle, note, (void *) "b"), -EBUSY);
        CHECK_EQ(eddy_loop_call_later(NULL, &handle, MS, note, (void *) "b"), -EBUSY);
        CHECK_EQ(eddy_sleep(2 * MS), 0);
        CHECK_STR(ran, "a");
}

/* --- what callbacks may not do, and failures --- */

static int suspends(void *arg)
{
        (void) arg;
        CHECK(eddy_task_current() == NULL);
        CHECK_EQ(eddy_sleep(MS), EDDY_E_RUN_NOT_RUNNING);
        return note((void *) "refused");
}

SIM_TEST(a_callback_cannot_suspend)
{
        eddy_handle handle = { 0 };

        CHECK_EQ(eddy_loop_call_soon(NULL, &handle, suspends, NULL), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_STR(ran, "refused");
}

static int fails(void *arg)
{
        (void) arg;
        return -EIO;
}

static int failing_main(void *arg)
{
        eddy_handle handles[2] = { 0 };

        (void) arg;
        CHECK_EQ(eddy_loop_call_soon(NULL, &handles[0], fails, NULL), 0);
        soon(&handles[1], "goes on");
        CHECK_EQ(eddy_sleep(MS), 0);
        return 7;
}

/* A17, A18: a callback's failure is reported, and the loop goes on. */
TEST(a_failing_callback_is_reported_and_the_loop_goes_on)
{
        struct reports reports = { 0 };
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = &reports };

        CHECK_EQ(sim_run_with(failing_main, NULL, 0, opts), 7);
        CHECK_STR(ran, "goes on");
        CHECK_EQ(reports.count[EDDY_REPORT_CALLBACK], 1);
        CHECK_EQ(reports.error, -EIO);
}

TEST(outside_of_a_run_the_loop_is_absent)
{
        eddy_handle handle = { 0 };

        CHECK(eddy_loop_current() == NULL);
        CHECK_EQ(eddy_loop_call_soon(NULL, &handle, note, (void *) "x"), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_loop_call_later(NULL, &handle, 1, note, (void *) "x"),
                 EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_loop_watch(NULL, &handle, 0, EDDY_LOOP_READ, note, (void *) "x"),
                 EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_loop_call_threadsafe(NULL, &handle, note, (void *) "x"),
                 EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_loop_start_threadsafe(NULL, note, (void *) "x", NULL),
                 EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_loop_close(NULL), 0);
        CHECK_EQ(eddy_handle_cancel(&handle), 0);
}

/* No loop given is the present one, also for a call that could come from any thread. */
SIM_TEST(no_loop_is_the_present_one)
{
        eddy_handle handle = { 0 };

        CHECK_EQ(eddy_loop_call_threadsafe(NULL, &handle, note, (void *) "a"), 0);
        CHECK_EQ(eddy_sleep(1), 0);
        CHECK_STR(ran, "a");
}

static int asks_without_memory(void *arg)
{
        eddy_handle handle = { 0 };

        (void) arg;
        allocations_left = 0;
        CHECK(eddy_loop_current() == NULL);
        CHECK_EQ(eddy_loop_call_threadsafe(NULL, &handle, note, (void *) "x"), -ENOMEM);
        CHECK_EQ(eddy_loop_start_threadsafe(NULL, note, (void *) "x", NULL), -ENOMEM);
        allocations_left = -1;
        CHECK(eddy_loop_current() != NULL);
        CHECK_EQ(eddy_loop_call_threadsafe(NULL, &handle, note, (void *) "a"), 0);
        CHECK_EQ(eddy_loop_start_threadsafe(NULL, note, (void *) "b", NULL), 0);
        return eddy_sleep(1);
}

TEST(without_memory_for_it_the_present_loop_is_none_and_calls_say_why)
{
        eddy_alloc_set(starve, NULL);
        CHECK_EQ(sim_run(asks_without_memory, NULL), 0);
        CHECK_STR(ran, "a b");
}

static int leaves_handle(void *arg)
{
        return eddy_loop_call_later(NULL, arg, EDDY_SEC(100), note, (void *) "never");
}

TEST(a_callback_scheduled_for_after_the_end_never_runs)
{
        struct eddy_test_result result;
        eddy_handle handle = { 0 };

        CHECK_EQ(sim_run_leaving(leaves_handle, &handle, 0, (struct eddy_run_opts){ 0 }, &result),
                 0);
        CHECK_EQ(result.left.timers, 1);
        CHECK_STR(ran, "");
        CHECK_EQ(eddy_handle_is_scheduled(&handle), 0);
        CHECK_EQ(eddy_handle_cancel(&handle), 0);
}

static int background_note(void *arg)
{
        CHECK_EQ(eddy_sleep(MS), 0);
        return note(arg);
}

static int starts_background(void *arg)
{
        return eddy_background(background_note, arg);
}

SIM_TEST(a_callback_may_start_a_task)
{
        eddy_handle handle = { 0 };

        CHECK_EQ(eddy_loop_call_soon(NULL, &handle, starts_background, (void *) "task"), 0);
        CHECK_EQ(eddy_sleep(2 * MS), 0);
        CHECK_STR(ran, "task");
}

/* --- variables --- */

static const eddy_var colour = EDDY_VAR("colour", char[8]);

static int note_colour(void *arg)
{
        const char *value = eddy_var_get(&colour);

        (void) arg;
        return note((void *) (value ? value : "none"));
}

static int fails_after_note(void *arg)
{
        (void) note_colour(arg);
        return -EIO;
}

static void note_in_report(const struct eddy_report *report, void *arg)
{
        if (report->kind == EDDY_REPORT_CALLBACK)
                (void) note_colour(arg);
}

static int variables_main(void *arg)
{
        static eddy_handle handles[5];
        eddy_loop *loop = eddy_loop_current();

        (void) arg;
        CHECK_EQ(eddy_var_set(&colour, "red\0\0\0\0"), 0);
        CHECK_EQ(eddy_loop_call_threadsafe(loop, &handles[0], note_colour, NULL), 0);
        CHECK_EQ(eddy_loop_call_soon(NULL, &handles[1], fails_after_note, NULL), 0);
        CHECK_EQ(eddy_loop_call_later(NULL, &handles[2], MS, note_colour, NULL), 0);
        CHECK_EQ(eddy_loop_call_later(NULL, &handles[3], MS, note_colour, NULL), 0);
        CHECK_EQ(eddy_loop_call_later(NULL, &handles[4], EDDY_SEC(9), note_colour, NULL), 0);
        CHECK_EQ(eddy_var_set(&colour, "blue\0\0\0"), 0);
        CHECK_EQ(eddy_handle_cancel(&handles[3]), 1);
        return eddy_sleep(2 * MS);
}

/* A49, A19: a callback sees what its scheduler's variables were then, and so does its report. */
TEST(a_callback_sees_the_variables_of_its_scheduler)
{
        struct eddy_run_opts opts = { .report = note_in_report };
        struct eddy_test_result result;

        CHECK_EQ(sim_run_leaving(variables_main, NULL, 0, opts, &result), 0);
        CHECK_EQ(result.left.timers, 1);
        CHECK_STR(ran, "red red red red");
}

/* --- the real clock --- */

static int sleeps_briefly(void *arg)
{
        struct eddy_run_info before, after;

        (void) arg;
        CHECK_EQ(eddy_run_info(&before), 0);
        for (int i = 0; i < 5; i++) {
                int64_t begin_ns = eddy_now();

                CHECK_EQ(eddy_sleep(EDDY_US(1 + i * 20)), 0);
                CHECK(eddy_now() - begin_ns >= EDDY_US(1 + i * 20));
        }
        CHECK_EQ(eddy_run_info(&after), 0);
        CHECK(after.polls - before.polls <= 20);
        return 0;
}

/* A4, A5: very short sleeps wait in the poll and do not spin, and none is too short. */
TEST(very_short_sleeps_do_not_spin)
{
        CHECK_EQ(eddy_run(sleeps_briefly, NULL, NULL), 0);
}
