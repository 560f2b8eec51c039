/*
 * test_dump.c - the tree of scopes and tasks in words, word for word.
 */
#include <signal.h>

#include "sys/fault/symbol.h"

#include "sim_run.h"

/* --- what a dump says --- */

static char reported[192 * 1024];
static size_t reported_bytes;
static unsigned reported_lines;
static size_t longest;

static void tell(const char *line, void *arg)
{
        size_t bytes = strlen(line);

        CHECK(arg == reported);
        CHECK(reported_bytes + bytes + 2 < sizeof(reported));
        memcpy(reported + reported_bytes, line, bytes);
        reported_bytes += bytes;
        reported[reported_bytes++] = '\n';
        reported[reported_bytes] = '\0';
        reported_lines++;
        longest = bytes > longest ? bytes : longest;
}

static const char *dump(void)
{
        reported_bytes = longest = 0;
        reported_lines = 0;
        reported[0] = '\0';
        CHECK_EQ(eddy_dump(tell, reported), 0);
        return reported;
}

static void start_named(eddy_scope *scope, const char *name, eddy_task_fn *fn, void *arg)
{
        CHECK_EQ(eddy_scope_start_task(scope, fn, arg, &(struct eddy_task_opts){ .name = name },
                                       NULL),
                 0);
}

static int sleeps(void *arg)
{
        (void) arg;
        return eddy_sleep(EDDY_SEC(10));
}

/* --- one task, one scope --- */

SIM_TEST(a_task_alone_is_one_line)
{
        CHECK_STR(dump(), "main runs\n");
}

static eddy_lock lock;

static int locks(void *arg)
{
        int err = eddy_lock_acquire(&lock);

        if (err < 0)
                return err;
        err = eddy_sleep(EDDY_MS(20));
        if (err == 0 && arg)
                dump();
        eddy_lock_release(&lock);
        return err;
}

SIM_TEST_NO_DEBUG(a_lock_is_shown_with_its_holder_and_a_scope_with_its_deadline)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_US(499500) });
        start_named(&scope, "salary", locks, reported);
        start_named(&scope, "rent", locks, NULL);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_STR(reported, "main waits for the tasks of a scope to end; deadline in 480 ms\n"
                            "  scope of main; deadline in 480 ms\n"
                            "    salary runs; deadline in 480 ms\n"
                            "    rent waits for a lock, held by salary; deadline in 480 ms\n");
}

static int leaves_the_lock(void *arg)
{
        (void) arg;
        return eddy_lock_acquire(&lock);
}

SIM_TEST_NO_DEBUG(a_lock_that_was_left_locked_is_reported)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        start_named(&scope, "first", leaves_the_lock, NULL);
        start_named(&scope, "second", leaves_the_lock, NULL);
        CHECK_EQ(eddy_sleep(MS), 0);
        /* At the address of the first. */
        start_named(&scope, "third", sleeps, NULL);
        CHECK_STR(dump(), "main runs\n"
                          "  scope of main\n"
                          "    second waits for a lock, left locked by a task that has ended\n"
                          "    third is ready\n");
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* --- scopes in scopes --- */

SIM_TEST(flags_cancels_and_the_first_of_the_deadlines_are_shown)
{
        struct eddy_scope_opts outer_opts = { .timeout_ns = EDDY_MS(100) };
        struct eddy_scope_opts shield_opts = { .flags = EDDY_SCOPE_SHIELD };
        struct eddy_scope_opts inner_opts = { .timeout_ns = EDDY_SEC(60),
                                              .flags = EDDY_SCOPE_KEEP_GOING };
        eddy_scope outer, shield, inner;

        eddy_scope_begin(&outer, &outer_opts);
        start_named(&outer, "short", sleeps, NULL);
        eddy_scope_begin(&shield, &shield_opts);
        eddy_scope_begin(&inner, &inner_opts);
        start_named(&inner, "long", sleeps, NULL);
        eddy_scope_cancel(&outer);
        CHECK_STR(dump(), "main runs; deadline in 5000 ms\n"
                          "  scope of main; deadline in 100 ms; cancelled\n"
                          "    short is ready; deadline in 100 ms; cancelled\n"
                          "    scope of main; deadline in 5000 ms; shield\n"
                          "      scope of main; deadline in 60000 ms; keeps going\n"
                          "        long is ready; deadline in 5000 ms\n");
        eddy_scope_cancel(&inner);
        CHECK_EQ(eddy_scope_end(&inner), 0);
        CHECK_EQ(eddy_scope_end(&shield), 0);
        CHECK_EQ(eddy_scope_end(&outer), 0);
}

SIM_TEST(a_deadline_that_the_loop_is_late_for_has_passed)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = -1 });
        CHECK_STR(dump(), "main runs; deadline passed; cancelled\n"
                          "  scope of main; deadline passed; cancelled\n");
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

static int waits_in_the_background(void *arg)
{
        (void) arg;
        return eddy_sleep(MS);
}

SIM_TEST(background_tasks_are_beside_main)
{
        const char *said;

        CHECK_EQ(eddy_background(waits_in_the_background, NULL), 0);
        said = dump();
        CHECK(strncmp(said, "main runs\n", 10) == 0);
        CHECK_EQ(reported_lines, 2);
        CHECK(said[10] != ' ');
        CHECK(strstr(said, " is ready\n") != NULL);
}

/* --- debug mode --- */

static int takes_the_lock_and_dumps(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_MS(500) });
        start_named(&scope, "salary", locks, NULL);
        CHECK_EQ(eddy_sleep(EDDY_MS(5)), 0);
        start_named(&scope, "rent", locks, NULL);
        CHECK_EQ(eddy_sleep(EDDY_MS(10)), 0);
        dump();
        eddy_scope_cancel(&scope);
        (void) arg;
        return eddy_scope_end(&scope);
}

TEST(in_debug_mode_a_dump_says_for_how_long_a_task_has_been_parked)
{
        CHECK_EQ(setenv("EDDY_DEBUG", "1", 1), 0);
        CHECK_EQ(sim_run(takes_the_lock_and_dumps, NULL), 0);
        CHECK_STR(reported, "main runs; deadline in 485 ms\n"
                            "  scope of main; deadline in 485 ms\n"
                            "    salary waits for time to pass; parked 15 ms; deadline in 485 ms\n"
                            "    rent waits for a lock, held by salary; parked 10 ms; deadline in "
                            "485 ms\n");
}

TEST(debug_mode_is_off_unless_the_environment_says_1)
{
        CHECK_EQ(setenv("EDDY_DEBUG", "0", 1), 0);
        CHECK_EQ(sim_run(takes_the_lock_and_dumps, NULL), 0);
        CHECK(strstr(reported, "parked") == NULL);
}

/* A21: the option wins over the environment. */
TEST(the_option_wins_over_the_environment)
{
        struct eddy_run_opts on = { .flags = EDDY_RUN_DEBUG }, off = { .flags = EDDY_RUN_NO_DEBUG };
        struct eddy_run_opts both = { .flags = EDDY_RUN_DEBUG | EDDY_RUN_NO_DEBUG };

        CHECK_EQ(setenv("EDDY_DEBUG", "1", 1), 0);
        CHECK_EQ(sim_run_with(takes_the_lock_and_dumps, NULL, 0, off), 0);
        CHECK(strstr(reported, "parked") == NULL);
        CHECK_EQ(unsetenv("EDDY_DEBUG"), 0);
        CHECK_EQ(sim_run_with(takes_the_lock_and_dumps, NULL, 0, on), 0);
        CHECK(strstr(reported, "parked") != NULL);
        CHECK_EQ(sim_run_with(takes_the_lock_and_dumps, NULL, 0, both), -EINVAL);
}

static bool main_is_over; /* the end of a run tells of its stacks */

static void add_line(const struct eddy_report *report, void *arg)
{
        if (main_is_over)
                return;
        CHECK_EQ(report->kind, EDDY_REPORT_DUMP);
        CHECK(report->task == NULL);
        tell(report->text, arg);
}

static int waits_for_the_report(void *arg)
{
        unsigned lines = (unsigned) (uintptr_t) arg;

        CHECK_EQ(raise(SIGQUIT), 0);
        do
                CHECK_EQ(eddy_sleep(MS), 0);
        while (reported_lines < lines);
        main_is_over = true;
        return 0;
}

static const struct eddy_run_opts report_opts = { .flags = EDDY_RUN_NO_WATCHDOG,
                                                  .report = add_line,
                                                  .report_arg = reported };

TEST(sigquit_gives_the_dump_to_the_report_and_the_run_goes_on)
{
        CHECK_EQ(setenv("EDDY_DEBUG", "1", 1), 0);
        CHECK_EQ(eddy_run(waits_for_the_report, (void *) 2, &report_opts), 0);
        CHECK_EQ(reported_lines, 4);
        CHECK(strstr(reported, "SIGQUIT: the tasks of this run:\nmain ") == reported);
        CHECK(strstr(reported, "\nthe deepest stacks, by the function of their tasks:\n  ") !=
              NULL);
}

TEST_DIES(after_the_run_sigquit_acts_as_before, SIGQUIT)
{
        CHECK_EQ(setenv("EDDY_DEBUG", "1", 1), 0);
        CHECK_EQ(eddy_run(waits_for_the_report, (void *) 2, &report_opts), 0);
        (void) raise(SIGQUIT);
}

TEST_DIES(without_debug_mode_sigquit_ends_the_process, SIGQUIT)
{
        CHECK_EQ(unsetenv("EDDY_DEBUG"), 0);
        (void) eddy_run(waits_for_the_report, (void *) 2, &report_opts);
}

static volatile sig_atomic_t handled;

static void on_quit(int signo)
{
        handled = signo;
}

TEST(a_handler_of_the_program_keeps_sigquit)
{
        CHECK_EQ(setenv("EDDY_DEBUG", "1", 1), 0);
        CHECK(signal(SIGQUIT, on_quit) != SIG_ERR);
        CHECK_EQ(eddy_run(waits_for_the_report, (void *) 0, &report_opts), 0);
        CHECK_EQ(handled, SIGQUIT);
        CHECK_EQ(reported_lines, 0);
}

/* --- stacks --- */

static char caller[64];

static __attribute__((noinline)) int sleeps_inside(void)
{
        int err;

        ed_sys_symbol(__builtin_return_address(0), caller, sizeof(caller));
        err = eddy_sleep(EDDY_SEC(10));
        return err < 0 ? err : 1;
}

static int calls_one_that_sleeps(void *arg)
{
        int err = sleeps_inside();

        (void) arg;
        return err < 0 ? err : 0;
}

SIM_TEST_NO_DEBUG(a_stack_says_where_a_task_is_that_has_run)
{
        const char *stack;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        start_named(&scope, "deep", calls_one_that_sleeps, NULL);
        CHECK_EQ(eddy_sleep(MS), 0);
        start_named(&scope, "new", sleeps, NULL);
        dump();
        CHECK_EQ(reported_lines, 4);
        reported_lines = 0;
        reported_bytes = 0;
        CHECK_EQ(eddy_dump_with(tell, reported, EDDY_DUMP_STACKS), 0);
        CHECK_EQ(reported_lines, 5);
        stack = strstr(reported, "    deep waits for time to pass\n      in ");
        CHECK(stack != NULL);
        stack = strstr(stack, caller);
        CHECK(stack != NULL && strchr(stack, '\n') < strstr(reported, "    new is ready\n"));
        CHECK_EQ(eddy_dump_with(tell, reported, 2), -EINVAL);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* --- bounds --- */

SIM_TEST(lines_beyond_the_maximum_are_counted)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < EDDY_DUMP_LINES_MAX + 5; i++)
                start_named(&scope, "many", sleeps, NULL);
        dump();
        CHECK_EQ(reported_lines, EDDY_DUMP_LINES_MAX + 1);
        CHECK_STR(reported + reported_bytes - 11, "and 7 more\n");
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

static void nest(int levels)
{
        struct eddy_scope_opts opts = { .timeout_ns = EDDY_SEC(60),
                                        .flags = EDDY_SCOPE_KEEP_GOING };
        eddy_scope scope;

        if (levels == 0) {
                dump();
                return;
        }
        eddy_scope_begin(&scope, &opts);
        nest(levels - 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

SIM_TEST(levels_beyond_the_twentieth_are_not_indented_further)
{
        const char *deep = "\n                                        scope of main;";

        nest(30);
        CHECK_EQ(reported_lines, 31);
        CHECK(strstr(reported, deep) != NULL);
        CHECK(strstr(reported, "                                         ") == NULL);
        CHECK(longest < EDDY_DUMP_LINE_BYTES);
}

/* --- where it can be called --- */

TEST(outside_of_a_run_there_is_nothing_to_dump)
{
        CHECK_EQ(eddy_dump(tell, reported), EDDY_E_RUN_NOT_RUNNING);
}

SIM_TEST(a_dump_needs_a_listener)
{
        CHECK_EQ(eddy_dump(NULL, NULL), -EINVAL);
}
