/*
 * The watch on loops that do not turn: see turning.h.
 */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "../../turning.h"
#include "io_test.h"

static volatile int endless = 1;

static int hold_run(void *arg)
{
        (void) arg;
        /* ThreadSanitizer calls a handler only in functions that it knows, as close(). */
        while (endless)
                (void) close(-1);
        return 0;
}

/* Ten turns of a timer that counts processor time. */
#define HELD_NS EDDY_MS(200)

TEST_DIES(a_loop_that_does_not_turn_ends_the_case, SIGABRT)
{
        turning_watch_for(HELD_NS);
        io_run(hold_run);
}

static int turn_run(void *arg)
{
        clock_t end = clock() + CLOCKS_PER_SEC;

        (void) arg;
        while (clock() < end)
                CHECK_EQ(eddy_sleep(0), 0);
        return 0;
}

TEST(a_loop_that_is_busy_and_turns_does_not_end_the_case)
{
        turning_watch_for(HELD_NS);
        io_run(turn_run);
}
