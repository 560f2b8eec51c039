/*
 * One run of the kit: what it gives, what it counts, what it finds.
 */
#include <eddy/eddy.h>
#include <eddy/test.h>
#include <errno.h>

#include "test.h"

#define MS EDDY_MS(1)

static int nothing(void *arg)
{
        (void) arg;
        return 7;
}

TEST(run_gives_the_result_of_main)
{
        struct eddy_test_result result;

        CHECK_EQ(eddy_test_run(nothing, NULL, NULL, &result), 7);
        CHECK_EQ(result.result, 7);
        CHECK(result.points > 0 && result.allocations > 0);
        CHECK_STR(result.problem, "");
        CHECK_EQ(eddy_test_run(nothing, NULL, NULL, NULL), 7);
}

static int sleep_for(void *arg)
{
        return eddy_sleep(*(int64_t *) arg);
}

TEST(time_passes_by_itself)
{
        int64_t ns = EDDY_SEC(60);
        struct eddy_test_result result;

        CHECK_EQ(eddy_test_run(sleep_for, &ns, NULL, &result), 0);
        CHECK(result.lasted_ns >= ns && result.lasted_ns < ns + MS);
}

static int wait_for_ever(void *arg)
{
        eddy_event event = { 0 };

        (void) arg;
        return eddy_event_wait(&event);
}

TEST(deadlock_is_found_and_named)
{
        struct eddy_test_result result;

        CHECK_EQ(eddy_test_run(wait_for_ever, NULL, NULL, &result), EDDY_E_TEST_FOUND);
        CHECK(strstr(result.problem, "main waits for"));
        CHECK_EQ(result.result, -EDEADLK);
}

static void *lost[2];

static int loses_memory(void *arg)
{
        (void) arg;
        lost[0] = eddy_malloc(100);
        lost[1] = eddy_malloc(11);
        return lost[0] && lost[1] ? 0 : -ENOMEM;
}

TEST(memory_that_is_left_is_found)
{
        struct eddy_test_result result;

        CHECK_EQ(eddy_test_run(loses_memory, NULL, NULL, &result), EDDY_E_TEST_FOUND);
        CHECK_EQ(result.left.allocations, 2);
        CHECK_EQ(result.left.bytes, 111);
}

static int worker(void *arg)
{
        eddy_event *event = arg;

        return eddy_event_wait(event);
}

static int leaves_a_task(void *arg)
{
        static eddy_event never;

        (void) arg;
        CHECK_EQ(eddy_background(worker, &never), 0);
        return eddy_background(sleep_for, (int64_t[]){ EDDY_SEC(1) });
}

TEST(task_that_is_left_is_found)
{
        struct eddy_test_result result;

        CHECK_EQ(eddy_test_run(leaves_a_task, NULL, NULL, &result), EDDY_E_TEST_FOUND);
        CHECK_EQ(result.left.tasks, 1);
}

static int spins(void *arg)
{
        (void) arg;
        for (;;)
                (void) eddy_sleep(0);
        return 0;
}

TEST(run_that_spins_is_ended)
{
        struct eddy_test_result result;

        CHECK_EQ(eddy_test_run(spins, NULL, NULL, &result), EDDY_E_TEST_FOUND);
        CHECK_EQ(eddy_test_run(nothing, NULL, NULL, &result), 7);
}
