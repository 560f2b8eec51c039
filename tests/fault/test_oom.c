/*
 * test_oom.c - every allocation made to fail: the Nth alone, the Nth with all
 * after it, and the Nth with each one after it, in turn.  The program goes on
 * or says so; nothing crashes, leaks or hangs.
 */
#include <errno.h>

#include "eddy/eddy.h"
#include "places.h"
#include "scenario.h"
#include "scope/run.h"
#include "test.h"

/* Of the pairs, where a run takes long, except in `make torture`: this many first and second ones each. */
enum { PAIRS_SAMPLE = 12 };

static bool refuse; /* all that is asked for */

/* The linker has the library ask here, so that it is seen who asks. */
void *__real_eddy_malloc(size_t bytes);
void *__real_eddy_realloc(void *ptr, size_t bytes);
void *__wrap_eddy_malloc(size_t bytes);
void *__wrap_eddy_realloc(void *ptr, size_t bytes);

void *__wrap_eddy_malloc(size_t bytes)
{
        void *ptr = refuse ? NULL : __real_eddy_malloc(bytes);

        if (!ptr)
                places_note(__builtin_return_address(0));
        return ptr;
}

void *__wrap_eddy_realloc(void *ptr, size_t bytes)
{
        void *moved = __real_eddy_realloc(ptr, bytes);

        if (!moved)
                places_note(__builtin_return_address(0));
        return moved;
}

/* At most 'sample' of the pairs; 0: all. */
static void sweep(const char *name, eddy_task_fn *main_fn, uint64_t sample)
{
        static const int ways[] = { EDDY_TEST_ALLOC, EDDY_TEST_ALLOC_FOREVER,
                                    EDDY_TEST_ALLOC_TWICE };
        struct eddy_test_sweep figures = { 0 };
        uint64_t runs = 0, failed = 0;

        for (int i = 0; i < 3; i++) {
                figures = scenario_sweep(name, main_fn, ways[i], (struct ed_sim_opts){ 0 },
                                         ways[i] == EDDY_TEST_ALLOC_TWICE ? sample : 0);
                runs += figures.runs - 1;
                failed += figures.failed;
        }
        CHECK(failed > 0 || getenv("EDDY_TEST_REPLAY"));
        printf("# R1: %s: %llu allocations, from %d places, %llu runs, %llu failed and said so, "
               "%llu did without\n",
               name, (unsigned long long) figures.count, places_print(), (unsigned long long) runs,
               (unsigned long long) failed, (unsigned long long) (runs - failed));
}

#define SWEEP(name)                                                                                \
        TEST(no_memory_in_##name)                                                                  \
        {                                                                                          \
                sweep(#name, scenario_##name,                                                      \
                      scenario_##name == scenario_https ? PAIRS_SAMPLE : 0);                       \
        }
SCENARIOS(SWEEP)

TEST(no_memory_in_debug_mode)
{
        CHECK_EQ(setenv("EDDY_DEBUG", "1", 1), 0);
        sweep("locks in debug mode", scenario_locks, PAIRS_SAMPLE);
        sweep("handles in debug mode", scenario_handles, PAIRS_SAMPLE);
        sweep("echo in debug mode", scenario_echo, PAIRS_SAMPLE);
}

/* A deadlock is reported nevertheless, if necessary in fewer words. */
static int wait_for_ever(void *arg)
{
        eddy_event event = { 0 };

        (void) arg;
        refuse = true;
        return eddy_event_wait(&event);
}

static void expect_deadlock(const struct eddy_report *report, void *arg)
{
        if (report->kind != EDDY_REPORT_DEADLOCK)
                return;
        CHECK(strstr(report->text, "main waits for"));
        ++*(int *) arg;
}

TEST(no_memory_for_the_words_of_a_deadlock)
{
        int figures = 0;
        struct eddy_run_opts opts = { .report = expect_deadlock, .report_arg = &figures };
        struct ed_sys *sys;

        CHECK_EQ(ed_sim_new(&(struct ed_sim_opts){ 0 }, &sys), 0);
        CHECK_EQ(ed_run_on(sys, wait_for_ever, NULL, &opts, NULL), -EDEADLK);
        CHECK_EQ(figures, 1);
        CHECK_EQ(places_print(), 1);
}
