/*
 * test_short.c - every transfer cut to one byte, and to a few, on the
 * simulation and on the kernel.
 */
#include "scenario.h"
#include "test.h"

static void run_short(const char *name, eddy_task_fn *main_fn, bool on_epoll)
{
        static const size_t limits[] = { 1, 2, 7 };
        uint64_t moved = 0, calls = 0;
        struct outcome outcome;

        /* Each transfer is a call of the system, and the kernel's buffers hold either amount. */
        if (on_epoll && !test_is_full())
                scenario_upload_bytes = 20000;
        for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
                struct setup setup = { .transfer_max = limits[i], .on_epoll = on_epoll };

                scenario_run(main_fn, &setup, &outcome);
                CHECK_EQ(outcome.result, 0);
                moved += outcome.end.moved;
                calls += outcome.end.calls;
        }
        if (on_epoll)
                printf("# R4: %s: 3 runs with transfers of 1, 2 and 7 bytes on the kernel\n", name);
        else
                printf("# R4: %s: 3 runs with transfers of 1, 2 and 7 bytes, %llu bytes moved by "
                       "%llu calls\n",
                       name, (unsigned long long) moved, (unsigned long long) calls);
}

#define ON_SIM(name)                                                                               \
        TEST(sim_one_byte_at_a_time_##name)                                                        \
        {                                                                                          \
                run_short(#name, scenario_##name, false);                                          \
        }
#define ON_EPOLL(name)                                                                             \
        TEST(epoll_one_byte_at_a_time_##name)                                                      \
        {                                                                                          \
                run_short(#name, scenario_##name, true);                                           \
        }
SCENARIOS(ON_SIM)
NET_SCENARIOS(ON_EPOLL)

/* Without any limit: the scenarios mean the same on both tables. */
#define WHOLE(name)                                                                                \
        TEST(epoll_whole_##name)                                                                   \
        {                                                                                          \
                struct setup setup = { .on_epoll = true };                                         \
                struct outcome outcome;                                                            \
                                                                                                   \
                scenario_run(scenario_##name, &setup, &outcome);                                   \
                CHECK_EQ(outcome.result, 0);                                                       \
        }
CORE_SCENARIOS(WHOLE)
