/*
 * test_dfs.c - the search itself: how many schedules small programs have, and
 * what it finds in those with a fault.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "loom.h"

static struct dfs_result result;

static void explore(void (*program)(void), int bound)
{
        dfs_explore(program, bound, &result);
}

/* --- counting --- */

static void two_points(void *arg)
{
        (void) arg;
        dfs_point();
        dfs_point();
}

static void two_threads(void)
{
        (void) dfs_thread(two_points, NULL);
        (void) dfs_thread(two_points, NULL);
}

/* Three steps each: 6! / (3! 3!) = 20 orders, of which so many have at most 0, 1 ... preemptions. */
TEST(every_order_is_explored_once)
{
        static const int expected[] = { 2, 6, 14, 18, 20, 20 };

        for (int bound = 0; bound < 6; bound++) {
                explore(two_threads, bound);
                CHECK(!result.found);
                CHECK_EQ(result.schedules, expected[bound]);
        }
}

static int chosen[2][3];

static void choose_twice(void)
{
        int first = dfs_choose(2);

        chosen[first][dfs_choose(3)]++;
}

TEST(every_choice_is_taken_once)
{
        explore(choose_twice, 0);
        CHECK_EQ(result.schedules, 6);
        for (int i = 0; i < 6; i++)
                CHECK_EQ(chosen[i / 3][i % 3], 1);
}

/* --- finding --- */

static _Atomic int counter;

static void add_one_badly(void *arg)
{
        (void) arg;
        atomic_store(&counter, atomic_load(&counter) + 1);
}

static void add_two(void)
{
        int a, b;

        counter = 0;
        a = dfs_thread(add_one_badly, NULL);
        b = dfs_thread(add_one_badly, NULL);
        dfs_join(a);
        dfs_join(b);
        DFS_CHECK_EQ(counter, 2);
}

TEST(an_update_that_is_lost_takes_one_preemption)
{
        explore(add_two, 0);
        CHECK(!result.found);
        explore(add_two, 1);
        CHECK(result.found);
        CHECK(strstr(result.problem, "counter is 1, expected 2 (2)") != NULL);
        CHECK(result.schedule[0] != 0);
        _Exit(0); /* what a failed run leaves behind is no leak */
}

static pthread_mutex_t mutexes[2];

static void lock_both(void *arg)
{
        int first = *(const int *) arg;

        pthread_mutex_lock(&mutexes[first]);
        pthread_mutex_lock(&mutexes[1 - first]);
        pthread_mutex_unlock(&mutexes[1 - first]);
        pthread_mutex_unlock(&mutexes[first]);
}

static void lock_crosswise(void)
{
        static const int first[] = { 0, 1 };

        for (int i = 0; i < 2; i++)
                pthread_mutex_init(&mutexes[i], NULL);
        (void) dfs_thread(lock_both, (void *) &first[0]);
        (void) dfs_thread(lock_both, (void *) &first[1]);
}

TEST(a_deadlock_names_the_wait_of_each_thread)
{
        explore(lock_crosswise, 0);
        CHECK(!result.found);
        explore(lock_crosswise, 1);
        CHECK(result.found);
        CHECK_STR(result.problem,
                  "no thread can go on; thread 1 waits for a mutex; thread 2 waits for a mutex");
        _Exit(0);
}

static void spin(void)
{
        for (;;)
                dfs_point();
}

TEST(a_run_without_end_is_found)
{
        explore(spin, 0);
        CHECK_STR(result.problem, "a run goes on for ever");
        _Exit(0);
}

/* --- what threads have for themselves --- */

static void *own;

static void set_own(void *arg)
{
        DFS_CHECK(own == NULL);
        own = arg;
        dfs_point();
        DFS_CHECK(own == arg);
}

static void two_with_own(void)
{
        static int a, b;

        (void) dfs_thread(set_own, &a);
        (void) dfs_thread(set_own, &b);
}

TEST(a_local_is_each_threads_own)
{
        dfs_local(&own);
        explore(two_with_own, 2);
        CHECK(!result.found);
        CHECK_EQ(result.schedules, 6);
        CHECK(own == NULL);
}
