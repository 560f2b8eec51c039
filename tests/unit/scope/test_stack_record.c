/*
 * test_stack_record.c - how deep the stacks of tasks have been, for each of
 * their functions.
 */
#include <signal.h>
#include <sys/resource.h>

#include "co/depth.h"
#include "sim_run.h"

#if defined(ED_ASAN) || defined(ED_TSAN) || !defined(__OPTIMIZE__)
enum { SLACK = 1024 }; /* frames have more around their arrays, or nothing in registers */
#else
enum { SLACK = 256 };
#endif

static struct eddy_stack_record records[EDDY_STACK_RECORDS_MAX];

static int records_get(void)
{
        int n = eddy_stack_records(records, ed_array_count(records));

        CHECK(n >= 0);
        return n;
}

static const struct eddy_stack_record *record_of(eddy_task_fn *fn, uint32_t flags)
{
        int n = records_get();

        for (int i = 0; i < n; i++)
                if (records[i].fn == fn && records[i].flags == flags)
                        return &records[i];
        test_fail(__FILE__, __LINE__, "there is no record");
}

static int debug_run(eddy_task_fn *fn)
{
        CHECK_EQ(setenv("EDDY_DEBUG", "1", 1), 0);
        return sim_run(fn, NULL);
}

/* A case whose body is the main task of a run in debug mode. */
#define DEBUG_TEST(claim)                                                                          \
        static int main_##claim(void *arg);                                                        \
        TEST(claim)                                                                                \
        {                                                                                          \
                CHECK_EQ(debug_run(main_##claim), 0);                                              \
        }                                                                                          \
        static int main_##claim(void *arg)

/* --- tasks of a known depth --- */

static size_t known; /* bytes between the top of the stack and the array that was used last */

static __attribute__((noinline)) void use(unsigned calls)
{
        const struct ed_stack *stack = ed_task_running()->stack;
        volatile char array[1000];

        if ((char *) array < stack->bottom || (char *) array > stack->top)
                test_skip("arrays are not on the stack here");
        for (size_t i = 0; i < sizeof(array); i++)
                array[i] = 'x';
        known = (size_t) (stack->top - (char *) array);
        if (calls > 1)
                use(calls - 1);
        array[0] = 'y'; /* so that it is no jump */
}

static int goes_deep(void *arg)
{
        (void) arg;
        use(20);
        return 0;
}

static int goes_as_deep_as_asked(void *arg)
{
        use(*(unsigned *) arg);
        return 0;
}

static int stays_shallow(void *arg)
{
        (void) arg;
        return 0;
}

static void run_task(eddy_task_fn *fn, void *arg, uint32_t flags)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, fn, arg, &(struct eddy_task_opts){ .flags = flags },
                                       NULL),
                 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

DEBUG_TEST(a_known_depth_is_measured)
{
        const struct eddy_stack_record *record;

        (void) arg;
        run_task(goes_deep, NULL, 0);
        record = record_of(goes_deep, 0);
        CHECK_EQ(record->tasks, 1);
        CHECK(record->deepest_bytes + 16 > known && record->deepest_bytes < known + SLACK);
        CHECK(record->room_bytes > (size_t) 200 * 1024);
        return 0;
}

DEBUG_TEST(the_kept_record_is_the_deepest)
{
        unsigned depths[] = { 3, 17, 9 };
        size_t deepest = 0;

        (void) arg;
        for (size_t i = 0; i < ed_array_count(depths); i++) {
                run_task(goes_as_deep_as_asked, &depths[i], 0);
                deepest = known > deepest ? known : deepest;
        }
        CHECK_EQ(record_of(goes_as_deep_as_asked, 0)->tasks, 3);
        CHECK(record_of(goes_as_deep_as_asked, 0)->deepest_bytes + 16 > deepest);
        CHECK(record_of(goes_as_deep_as_asked, 0)->deepest_bytes < deepest + SLACK);
        return 0;
}

DEBUG_TEST(a_shallow_task_on_a_deep_ones_stack_is_shallow)
{
        size_t shallow;

        (void) arg;
        run_task(stays_shallow, NULL, 0);
        shallow = record_of(stays_shallow, 0)->deepest_bytes;
        CHECK(shallow < 3 * SLACK + sizeof(struct ed_task));
        /* Last in, first out: each has the stack of the one before. */
        for (int i = 0; i < 5; i++) {
                run_task(goes_deep, NULL, 0);
                run_task(stays_shallow, NULL, 0);
        }
        CHECK_EQ(record_of(stays_shallow, 0)->tasks, 6);
        CHECK_EQ(record_of(goes_deep, 0)->tasks, 5);
        CHECK(record_of(stays_shallow, 0)->deepest_bytes < shallow + SLACK);
        return 0;
}

/* When stacks are no longer cleared behind each of a function's tasks. */
DEBUG_TEST(among_many_shallow_tasks_the_one_that_goes_deep_is_seen)
{
        unsigned shallow = 2, deep = 15;

        (void) arg;
        for (int i = 0; i < 200; i++)
                run_task(goes_as_deep_as_asked, &shallow, 0);
        CHECK(record_of(goes_as_deep_as_asked, 0)->deepest_bytes < known + SLACK);
        run_task(goes_as_deep_as_asked, &deep, 0);
        CHECK_EQ(record_of(goes_as_deep_as_asked, 0)->tasks, 201);
        CHECK(record_of(goes_as_deep_as_asked, 0)->deepest_bytes + 16 > known);
        CHECK(record_of(goes_as_deep_as_asked, 0)->deepest_bytes < known + SLACK);
        return 0;
}

enum { LARGE_BYTES = 50 * 1000 };

/* A local array that no byte is written of, or a small one. */
static int has_an_array(void *arg)
{
        volatile char array[LARGE_BYTES];

        __asm__ volatile("" : : "r"(array) : "memory");
        known = (size_t) (ed_task_running()->stack->top - (char *) array);
        return eddy_sleep(*(int64_t *) arg);
}

static int may_have_an_array(void *arg)
{
        return arg ? has_an_array(arg) : stays_shallow(arg);
}

/* On a stack that was not cleared: only the stack pointer of a suspending call shows it. */
DEBUG_TEST(an_array_that_is_not_written_counts)
{
        int64_t no_time = 0;

        (void) arg;
        for (int i = 0; i < 200; i++)
                run_task(may_have_an_array, NULL, 0);
        run_task(may_have_an_array, &no_time, 0);
        if (known > (size_t) 100 * 1024)
                test_skip("arrays are not on the stack here");
        CHECK(known > LARGE_BYTES);
        CHECK(record_of(may_have_an_array, 0)->deepest_bytes + 16 > known);
        CHECK(record_of(may_have_an_array, 0)->deepest_bytes < known + 2 * SLACK);
        return 0;
}

DEBUG_TEST(the_first_tasks_of_a_function_are_measured_on_a_deep_ones_stack_too)
{
        unsigned middling = 9;

        (void) arg;
        for (int i = 0; i < 200; i++)
                run_task(goes_deep, NULL, 0);
        for (int i = 0; i < 2; i++)
                run_task(goes_as_deep_as_asked, &middling, 0);
        CHECK(record_of(goes_as_deep_as_asked, 0)->deepest_bytes + 16 > known);
        CHECK(record_of(goes_as_deep_as_asked, 0)->deepest_bytes < known + SLACK);
        return 0;
}

DEBUG_TEST(among_many_deep_tasks_a_shallow_one_is_not_taken_for_one)
{
        size_t shallow;

        (void) arg;
        for (int i = 0; i < 200; i++)
                run_task(goes_deep, NULL, 0);
        for (int i = 0; i < 300; i++)
                run_task(stays_shallow, NULL, 0);
        shallow = record_of(stays_shallow, 0)->deepest_bytes;
        CHECK(shallow > sizeof(struct ed_task) && shallow < 3 * SLACK + sizeof(struct ed_task));
        for (int i = 0; i < 300; i++) {
                run_task(goes_deep, NULL, 0);
                run_task(stays_shallow, NULL, 0);
        }
        CHECK(record_of(stays_shallow, 0)->deepest_bytes < shallow + SLACK);
        CHECK_EQ(record_of(stays_shallow, 0)->tasks, 600);
        return 0;
}

/* What is less deep than a stack was used is not seen, until that is cleared again. */
DEBUG_TEST(a_stack_is_cleared_again_after_some_of_many_tasks)
{
        unsigned shallow = 2, middling = 9;

        (void) arg;
        for (int i = 0; i < 100; i++)
                run_task(goes_as_deep_as_asked, &shallow, 0);
        for (int i = 0; i < 100; i++)
                run_task(goes_deep, NULL, 0);
        for (int i = 0; i < 300; i++)
                run_task(goes_as_deep_as_asked, &middling, 0);
        CHECK(record_of(goes_as_deep_as_asked, 0)->deepest_bytes + 16 > known);
        CHECK(record_of(goes_as_deep_as_asked, 0)->deepest_bytes < known + SLACK);
        return 0;
}

/* So many that are as deep as 'depth' says, and another as deep as 'last'. */
static void run_at_once(unsigned n, unsigned *depth, unsigned *last)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (unsigned i = 0; i <= n; i++)
                CHECK_EQ(eddy_scope_start(&scope, goes_as_deep_as_asked, i < n ? depth : last), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

static long faults(void)
{
        struct rusage usage;

        CHECK_EQ(getrusage(RUSAGE_SELF, &usage), 0);
        return usage.ru_minflt;
}

#if defined(ED_ASAN) || defined(ED_TSAN) || defined(ED_UNDER_VALGRIND)
static const bool faults_are_ours = false;
#else
static const bool faults_are_ours = true;
#endif

/* To read a page that nobody has touched is a fault, and a stack has 60 of them. */
DEBUG_TEST(stacks_that_are_new_are_not_read_whole_for_a_function_that_is_known)
{
        unsigned shallow = 2, deep = 15, many = 400;
        long before;

        (void) arg;
        for (int i = 0; i < 100; i++)
                run_task(goes_as_deep_as_asked, &shallow, 0);
        before = faults();
        run_at_once(many, &shallow, &shallow);
        if (faults_are_ours)
                CHECK(faults() - before < 20 * (long) many);
        CHECK(record_of(goes_as_deep_as_asked, 0)->deepest_bytes < known + SLACK);
        /* The last one has a new stack. */
        run_at_once(many + 1, &shallow, &deep);
        CHECK(record_of(goes_as_deep_as_asked, 0)->deepest_bytes + 16 > known);
        CHECK(record_of(goes_as_deep_as_asked, 0)->deepest_bytes < known + SLACK);
        return 0;
}

DEBUG_TEST(a_function_has_a_record_for_each_size_of_stack)
{
        const struct eddy_stack_record *record;
        size_t room;

        (void) arg;
        run_task(goes_deep, NULL, EDDY_TASK_STACK_64K);
        run_task(stays_shallow, NULL, EDDY_TASK_STACK_64K);
        run_task(stays_shallow, NULL, 0);
        record = record_of(goes_deep, EDDY_TASK_STACK_64K);
        CHECK(record->deepest_bytes + 16 > known && record->deepest_bytes < known + SLACK);
        room = record->room_bytes;
        record = record_of(stays_shallow, 0);
        CHECK_EQ(record->tasks, 1);
        CHECK(record->room_bytes > 4 * room);
        CHECK_EQ(record_of(stays_shallow, EDDY_TASK_STACK_64K)->room_bytes, room);
        return 0;
}

DEBUG_TEST(the_deepest_comes_first_and_no_more_than_wanted_are_given)
{
        int n;

        (void) arg;
        run_task(stays_shallow, NULL, 0);
        run_task(goes_deep, NULL, 0);
        n = records_get();
        CHECK_EQ(n, 3);
        for (int i = 1; i < n; i++)
                CHECK(records[i - 1].deepest_bytes >= records[i].deepest_bytes);
        CHECK(records[0].fn == goes_deep);
        memset(records, 0, sizeof(records));
        CHECK_EQ(eddy_stack_records(records, 1), 1);
        CHECK(records[0].fn == goes_deep && !records[1].fn);
        CHECK_EQ(eddy_stack_records(NULL, 0), 0);
        return 0;
}

/* --- tasks that still run --- */

static int goes_deep_and_waits(void *arg)
{
        (void) arg;
        use(20);
        return eddy_sleep(MS);
}

DEBUG_TEST(a_task_that_still_runs_counts_as_deep_as_it_has_been)
{
        const struct eddy_stack_record *record;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, goes_deep_and_waits, arg), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        record = record_of(goes_deep_and_waits, 0);
        CHECK_EQ(record->tasks, 0);
        CHECK(record->deepest_bytes + 16 > known && record->deepest_bytes < known + SLACK);
        CHECK(record_of(main_a_task_that_still_runs_counts_as_deep_as_it_has_been, 0)
                      ->deepest_bytes > sizeof(struct ed_task));
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(record_of(goes_deep_and_waits, 0)->tasks, 1);
        return 0;
}

/* --- whose function --- */

static int yields_one(eddy_generator *gen, void *arg)
{
        int err;

        use(20);
        err = eddy_generator_yield(gen, arg);
        return err < 0 ? err : 0;
}

DEBUG_TEST(calls_of_a_gather_and_generators_count_for_their_own_functions)
{
        struct eddy_call calls[] = { { .fn = goes_deep }, { .fn = stays_shallow } };
        eddy_generator gen;
        eddy_scope scope;
        int item = 1;

        (void) arg;
        CHECK_EQ(eddy_gather(calls, 2, 0), 0);
        CHECK_EQ(record_of(goes_deep, 0)->tasks, 1);
        CHECK_EQ(record_of(stays_shallow, 0)->tasks, 1);
        eddy_scope_begin(&scope, NULL);
        eddy_generator_begin(&gen, &scope, yields_one, &item, sizeof(item));
        CHECK_EQ(eddy_generator_next(&gen, &item), 1);
        CHECK_EQ(eddy_generator_close(&gen), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(record_of((eddy_task_fn *) (uintptr_t) yields_one, 0)->tasks, 1);
        return 0;
}

/* --- bounds --- */

/* clang-format off */
/* More functions than there are places, each of its own. */
#define FN1(n)                                                                                     \
        static int fn_##n(void *arg)                                                               \
        {                                                                                          \
                (void) arg;                                                                        \
                return (int) (0x##n##u & 0u);                                                      \
        }
#define FN16(n)                                                                                    \
        FN1(n##0) FN1(n##1) FN1(n##2) FN1(n##3) FN1(n##4) FN1(n##5) FN1(n##6) FN1(n##7)            \
        FN1(n##8) FN1(n##9) FN1(n##a) FN1(n##b) FN1(n##c) FN1(n##d) FN1(n##e) FN1(n##f)
#define NAMES16(n)                                                                                 \
        fn_##n##0, fn_##n##1, fn_##n##2, fn_##n##3, fn_##n##4, fn_##n##5, fn_##n##6, fn_##n##7,    \
        fn_##n##8, fn_##n##9, fn_##n##a, fn_##n##b, fn_##n##c, fn_##n##d, fn_##n##e, fn_##n##f,
#define ALL(of)                                                                                    \
        of(0) of(1) of(2) of(3) of(4) of(5) of(6) of(7) of(8) of(9)                                \
        of(a) of(b) of(c) of(d) of(e) of(f) of(10) of(11)

ALL(FN16)
static eddy_task_fn *const many[] = { ALL(NAMES16) };
/* clang-format on */

DEBUG_TEST(functions_beyond_the_maximum_are_others)
{
        unsigned others = 0, reported = 0;
        int n;

        (void) arg;
        /* Main's is still running, and is the last that has no place. */
        for (size_t i = 0; i < ed_array_count(many); i++)
                run_task(many[i], NULL, i % 3 == 0 ? EDDY_TASK_STACK_64K : 0);
        n = records_get();
        CHECK_EQ(n, EDDY_STACK_RECORDS_MAX);
        for (int i = 0; i < n; i++) {
                if (!records[i].fn) {
                        CHECK_STR(records[i].name, "(others)");
                        others += (unsigned) records[i].tasks;
                } else {
                        CHECK_EQ(records[i].tasks, 1);
                        reported++;
                }
        }
        CHECK_EQ(reported, EDDY_STACK_FUNCTIONS_MAX);
        CHECK_EQ(others, ed_array_count(many) - EDDY_STACK_FUNCTIONS_MAX);
        return 0;
}

/* --- what a run prints --- */

static char reported[4096];
static size_t reported_bytes;
static unsigned reported_lines;

static void tell(const struct eddy_report *report, void *arg)
{
        (void) arg;
        if (report->kind == EDDY_REPORT_LAG)
                return;
        if (report->kind != EDDY_REPORT_DUMP)
                return;
        reported_bytes += (size_t) snprintf(
                reported + reported_bytes, sizeof(reported) - reported_bytes, "%s\n", report->text);
        CHECK(reported_bytes < sizeof(reported));
        reported_lines++;
}

static int run_and_print(eddy_task_fn *fn, const char *debug)
{
        CHECK_EQ(setenv("EDDY_DEBUG", debug, 1), 0);
        return sim_run_with(fn, NULL, 0, (struct eddy_run_opts){ .report = tell });
}

static int runs_two(void *arg)
{
        for (int i = 0; i < 40; i++)
                run_task(goes_deep, arg, EDDY_TASK_STACK_64K);
        run_task(stays_shallow, arg, 0);
        return 0;
}

/* The lines that follow the first are of a function's name and numbers. */
static bool line_is(const char *line, size_t least, size_t most, const char *rest)
{
        char expected[128];
        const char *at = strstr(line, ": ");
        size_t bytes = at ? strtoull(at + 2, NULL, 10) : 0;

        snprintf(expected, sizeof(expected), ": %zu of %s", bytes, rest);
        return at && strncmp(line, "  ", 2) == 0 && bytes + 16 > least && bytes < most &&
               strncmp(at, expected, strlen(expected)) == 0;
}

TEST(the_end_of_a_run_in_debug_mode_prints_the_deepest)
{
        char large[64], small[64];
        const char *line;

        snprintf(small, sizeof(small), "%zu bytes, 40 tasks\n", ed_stack_room(ED_STACK_SMALL));
        snprintf(large, sizeof(large), "%zu bytes, 1 task\n", ed_stack_room(ED_STACK_DEFAULT));
        CHECK_EQ(run_and_print(runs_two, "1"), 0);
        CHECK_EQ(reported_lines, 4);
        line = strchr(reported, '\n') + 1;
        CHECK(strncmp(reported, "the deepest stacks, by the function of their tasks:\n",
                      (size_t) (line - reported)) == 0);
        CHECK(line_is(line, known, known + SLACK, small));
        line = strchr(line, '\n') + 1;
        CHECK(line_is(line, sizeof(struct ed_task), known, large));
        line = strchr(line, '\n') + 1;
        CHECK(line_is(line, sizeof(struct ed_task), known, large));
}

static int runs_twenty(void *arg)
{
        for (int i = 0; i < 20; i++)
                run_task(many[i], arg, 0);
        return 0;
}

TEST(of_many_functions_sixteen_are_reported)
{
        CHECK_EQ(run_and_print(runs_twenty, "1"), 0);
        CHECK_EQ(reported_lines, 1 + 16 + 1);
        CHECK_STR(reported + reported_bytes - strlen("  and 5 more\n"), "  and 5 more\n");
}

static int raises_quit(void *arg)
{
        (void) arg;
        CHECK_EQ(raise(SIGQUIT), 0);
        do
                CHECK_EQ(eddy_sleep(MS), 0);
        while (reported_lines < 4);
        CHECK(strstr(reported, "the deepest stacks, by the function of their tasks:\n") != NULL);
        CHECK(strstr(reported, " bytes, still running\n") != NULL);
        return 0;
}

TEST(sigquit_prints_them_too)
{
        CHECK_EQ(setenv("EDDY_DEBUG", "1", 1), 0);
        CHECK_EQ(eddy_run(raises_quit, NULL, &(struct eddy_run_opts){ .report = tell }), 0);
}

/* --- where there are none --- */

static int asks_without_debug_mode(void *arg)
{
        run_task(goes_deep, arg, 0);
        CHECK_EQ(eddy_stack_records(records, 1), -ENOTSUP);
        return 0;
}

TEST(without_debug_mode_nothing_is_measured)
{
        CHECK_EQ(run_and_print(asks_without_debug_mode, "0"), 0);
        CHECK_EQ(reported_lines, 0);
}

TEST(outside_of_a_run_records_are_absent)
{
        CHECK_EQ(eddy_stack_records(records, 1), EDDY_E_RUN_NOT_RUNNING);
}
