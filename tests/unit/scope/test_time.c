/*
 * test_time.c - the time of day: of the loop's table in a run, of the kernel elsewhere.
 */
#include <pthread.h>
#include <time.h>

#include "sim_run.h"

static int64_t kernels_time(void)
{
        struct timespec now;

        CHECK_EQ(clock_gettime(CLOCK_REALTIME, &now), 0);
        return EDDY_SEC(now.tv_sec) + now.tv_nsec;
}

/* The clock may be set while the test runs, but hardly by a day. */
static void check_is_kernels(int64_t time_ns)
{
        CHECK(llabs(time_ns - kernels_time()) < EDDY_SEC(86400));
}

SIM_TEST(the_time_of_day_moves_with_the_virtual_clock)
{
        int64_t day_ns = eddy_time_of_day(), now_ns = eddy_now();

        CHECK_EQ(eddy_sleep(EDDY_MIN(30)), 0);
        CHECK_EQ(eddy_time_of_day() - day_ns, eddy_now() - now_ns);
        CHECK(eddy_time_of_day() >= day_ns + EDDY_MIN(30));
}

static int read_time(void *arg)
{
        *(int64_t *) arg = eddy_time_of_day();
        return 0;
}

TEST(each_simulated_run_begins_at_the_same_time_of_day)
{
        int64_t first_ns = 0, second_ns = 1;

        CHECK_EQ(sim_run(read_time, &first_ns), 0);
        CHECK_EQ(sim_run(read_time, &second_ns), 0);
        CHECK_EQ(first_ns, second_ns);
}

TEST(a_run_on_the_kernel_has_its_time_of_day)
{
        int64_t time_ns = 0;

        CHECK_EQ(eddy_run(read_time, &time_ns, NULL), 0);
        check_is_kernels(time_ns);
}

static void *read_in_a_thread(void *arg)
{
        return read_time(arg) == 0 ? arg : NULL;
}

TEST(a_thread_without_a_loop_reads_the_kernels_time_of_day)
{
        int64_t time_ns = 0;
        pthread_t thread;

        check_is_kernels(eddy_time_of_day());
        CHECK_EQ(pthread_create(&thread, NULL, read_in_a_thread, &time_ns), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        check_is_kernels(time_ns);
}
