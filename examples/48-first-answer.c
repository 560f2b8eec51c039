/*
 * 48-first-answer - three mirrors, asked one after the other: the first good
 * answer wins.
 *
 * The second mirror is asked when the first has not answered within a second,
 * and the third as soon as the second has failed.  The answer of the third
 * cancels the question to the first, and eddy_race() returns when that has
 * ended too.  Connections to a host with several addresses are made like this
 * (RFC 8305, "Happy Eyeballs").
 *
 * Two mirrors may answer at the same moment: then the loser's result is good too,
 * and what it holds must be given back.
 *
 * Run: 48-first-answer
 * Time: virtual 1.7 s
 * Output:
 *     0.0 s: asking the first mirror
 *     1.0 s: asking the second mirror
 *     1.2 s: the second mirror has failed
 *     1.2 s: asking the third mirror
 *     1.7 s: the third mirror answers
 *     1.7 s: the first mirror is not needed any more
 *     the third mirror has won
 */
#include <stdio.h>

#include "eddy/eddy.h"

struct mirror {
        const char *name;
        int64_t takes_ns;
        int result;
};

static int64_t began_ns;

static void say(const char *before, const char *name, const char *after)
{
        printf("%.1f s: %s%s%s\n", (double) (eddy_now() - began_ns) / 1e9, before, name, after);
}

static int ask(void *arg)
{
        const struct mirror *mirror = arg;
        int err;

        say("asking ", mirror->name, "");
        err = eddy_sleep(mirror->takes_ns);
        if (err < 0) {
                say("", mirror->name, " is not needed any more");
                return err;
        }
        say("", mirror->name, mirror->result < 0 ? " has failed" : " answers");
        return mirror->result;
}

static int run(void *arg)
{
        struct mirror mirrors[] = {
                { "the first mirror", EDDY_SEC(5), 1 },
                { "the second mirror", EDDY_MS(200), -EIO },
                { "the third mirror", EDDY_MS(500), 3 },
        };
        struct eddy_call calls[3];
        int won;

        (void) arg;
        began_ns = eddy_now();
        for (int i = 0; i < 3; i++)
                calls[i] = EDDY_CALL(ask, &mirrors[i]);
        won = eddy_race(calls, 3, EDDY_SEC(1));
        if (won < 0)
                return won;
        printf("%s has won\n", mirrors[won].name);
        return 0;
}

int main(void)
{
        return eddy_run(run, NULL, NULL) == 0 ? 0 : 1;
}
