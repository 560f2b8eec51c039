/*
 * 44-best-answer - the best answer within a second: when time is up, what is
 * complete is returned.
 *
 * All sources have one deadline.  When it passes, those that are not ready are
 * cancelled, and the scope returns -ETIMEDOUT, which is not a failure here:
 * each source that was ready has left its answer in the caller's array.  With
 * KEEP_GOING, a source that fails does not cancel the others.
 *
 * Run: 44-best-answer
 * Time: virtual 1 s
 * Output:
 *     cache: the price was 41 (60 % sure)
 *     database: Input/output error
 *     branch office: the price is 42 (90 % sure)
 *     head office: not in time
 *     best: the price is 42 (90 % sure)
 */
#include <stdio.h>

#include "eddy/eddy.h"

enum { SOURCES = 4 };

struct source {
        const char *name;
        const char *says;
        int64_t needs_ns;
        int sure_percent; /* 0: it fails */
        int result;       /* -ECANCELED: was not in time */
};

static int ask(void *arg)
{
        struct source *source = arg;

        source->result = eddy_sleep(source->needs_ns);
        if (source->result == 0 && source->sure_percent == 0)
                source->result = -EIO;
        return source->result;
}

/* Until all have answered or time is up.  Only a cancel from outside is an error here. */
static int ask_all(struct source *sources, int64_t timeout_ns)
{
        struct eddy_scope_opts opts = { .timeout_ns = timeout_ns, .flags = EDDY_SCOPE_KEEP_GOING };
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, &opts);
        for (int i = 0; i < SOURCES; i++)
                eddy_scope_start(&scope, ask, &sources[i]);
        err = eddy_scope_end(&scope);
        return err == -ECANCELED ? err : 0;
}

static void say(const char *who, const struct source *source)
{
        if (source->result == 0)
                printf("%s: %s (%d %% sure)\n", who, source->says, source->sure_percent);
        else
                printf("%s: %s\n", who,
                       source->result == -ECANCELED ? "not in time"
                                                    : eddy_error_text(source->result));
}

static int run(void *arg)
{
        struct source sources[SOURCES] = {
                { "cache", "the price was 41", EDDY_MS(1), 60, -ECANCELED },
                { "database", "", EDDY_MS(300), 0, -ECANCELED },
                { "branch office", "the price is 42", EDDY_MS(800), 90, -ECANCELED },
                { "head office", "the price will be 43", EDDY_MS(1500), 100, -ECANCELED },
        };
        const struct source *best = NULL;
        int err = ask_all(sources, EDDY_SEC(1));

        (void) arg;
        for (int i = 0; i < SOURCES && err == 0; i++) {
                const struct source *source = &sources[i];

                say(source->name, source);
                if (source->result == 0 && (!best || source->sure_percent > best->sure_percent))
                        best = source;
        }
        if (best)
                say("best", best);
        return err;
}

int main(void)
{
        return eddy_run(run, NULL, NULL) == 0 ? 0 : 1;
}
