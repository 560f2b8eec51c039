/*
 * test_cut.c - connections cut after every byte, in either direction, by an
 * end and by a reset.  No cut makes half a message pass for a whole one: the
 * scenarios check every byte of the data that was reported as complete.
 */
#include <errno.h>

#include "scenario.h"
#include "test.h"

enum { SAMPLE = 60, BYTES_MAX = 100000 };

/*
 * Cut after 0, 1, 2 ... bytes, until a connection is longer than all that is
 * sent on one: then the program goes through.
 */
static void sweep(const char *name, eddy_task_fn *main_fn, int how, bool by_server)
{
        struct setup setup = { .cut = how, .cut_server = by_server };
        uint64_t step = 1, count = 0, failed = 0, whole = BYTES_MAX;
        struct outcome outcome;

        /* How long the longest connection is: doubled, then halved. */
        for (uint64_t low = 0; whole - low > 1;) {
                uint64_t middle = low ? low + (whole - low) / 2 : 1;

                if (low && low * 2 < whole && whole == BYTES_MAX)
                        middle = low * 2;
                setup.cut_bytes = middle;
                scenario_run(main_fn, &setup, &outcome);
                if (outcome.result == 0)
                        whole = middle;
                else
                        low = middle;
        }
        CHECK(whole > 1 && whole < BYTES_MAX);
        if (!sweep_is_full() && whole > SAMPLE)
                step = whole / SAMPLE;
        for (uint64_t bytes = 0; bytes <= whole + 1; bytes += step) {
                setup.cut_bytes = bytes;
                scenario_run(main_fn, &setup, &outcome);
                CHECK(outcome.result <= 0);
                count++;
                failed += outcome.result < 0;
        }
        CHECK(failed > 0);
        printf("# %s: up to %llu bytes, cut at %llu, %llu failed and said so\n", name,
               (unsigned long long) whole, (unsigned long long) count, (unsigned long long) failed);
}

#define SWEEP(name)                                                                                \
        TEST(the_client_of_##name##_is_cut_off)                                                    \
        {                                                                                          \
                sweep(#name, scenario_##name, ED_SIM_CUT_END, false);                              \
        }                                                                                          \
        TEST(the_client_of_##name##_is_reset)                                                      \
        {                                                                                          \
                sweep(#name, scenario_##name, ED_SIM_CUT_RESET, false);                            \
        }                                                                                          \
        TEST(the_server_of_##name##_is_cut_off)                                                    \
        {                                                                                          \
                sweep(#name, scenario_##name, ED_SIM_CUT_END, true);                               \
        }                                                                                          \
        TEST(the_server_of_##name##_is_reset)                                                      \
        {                                                                                          \
                sweep(#name, scenario_##name, ED_SIM_CUT_RESET, true);                             \
        }
SWEEP(echo)
SWEEP(half_closed)
SWEEP(http)
SWEEP(http_hasty)
SWEEP(https)
