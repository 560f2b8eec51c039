/*
 * 13-two-clocks - two tasks that say the time, with pauses left to chance, for
 * fifty seconds.
 *
 * eddy_run() makes the loop, and ends when its work is done: about fifty
 * seconds from the start.  The Python program gets a loop by hand (newer
 * versions refuse that outside a loop) and runs it for ever, long after both
 * tasks have ended.
 *
 * On the virtual clock of the tests all of it takes no time, and the same chance
 * gives the same times in every run.
 *
 * Run: 13-two-clocks
 * Time: virtual 52 s
 * Output: 13-two-clocks.txt
 */
#include <inttypes.h>
#include <stdio.h>

#include "eddy/eddy.h"

struct speaker {
        int number;
        uint32_t chance;
        int64_t began_ns;
};

/* 0 to 5; a plain congruential generator is chance enough here. */
static int some_seconds(struct speaker *speaker)
{
        speaker->chance = speaker->chance * 1664525 + 1013904223;
        return (int) ((speaker->chance >> 16) % 6);
}

static int say_the_time(void *arg)
{
        struct speaker *speaker = arg;
        int64_t end_ns = speaker->began_ns + EDDY_SEC(50);

        for (;;) {
                int64_t now_ns = eddy_now();
                int err;

                printf("Loop: %d Time: %" PRId64 " s\n", speaker->number,
                       (now_ns - speaker->began_ns) / EDDY_SEC(1));
                if (now_ns + EDDY_SEC(1) >= end_ns)
                        return 0;
                err = eddy_sleep(EDDY_SEC(some_seconds(speaker)));
                if (err < 0)
                        return err;
        }
}

static int run(void *arg)
{
        struct speaker first = { .number = 1, .chance = 1, .began_ns = eddy_now() };
        struct speaker second = { .number = 2, .chance = 2, .began_ns = eddy_now() };
        struct eddy_call calls[] = { EDDY_CALL(say_the_time, &first),
                                     EDDY_CALL(say_the_time, &second) };

        (void) arg;
        return eddy_gather(calls, 2, 0);
}

int main(void)
{
        return eddy_run(run, NULL, NULL) == 0 ? 0 : 1;
}
