/*
 * 43-newest-wins - a search as the user types: the newest request supersedes
 * the one before it.
 *
 * Cancelling the older search is one line, and not a failure of the scope that
 * owns both.  A search that was superseded cannot answer late, over the newer
 * one's answer: it was cancelled before the newer one starts, and prints
 * nothing after its wait has returned -ECANCELED.
 *
 * Run: 43-newest-wins
 * Time: virtual 0.9 s
 * Output:
 *     0.0 s: searching for e
 *     0.2 s: e is superseded
 *     0.2 s: searching for ed
 *     0.4 s: ed is superseded
 *     0.4 s: searching for eddy
 *     0.9 s: found 1 page on eddy
 */
#include <stdio.h>

#include "eddy/eddy.h"

struct box {
        int64_t began_ns;
        eddy_scope *scope;
        eddy_task *newest;
};

struct search {
        const struct box *box;
        const char *words;
};

static void say(const struct box *box, const char *before, const char *words, const char *after)
{
        printf("%.1f s: %s%s%s\n", (double) (eddy_now() - box->began_ns) / 1e9, before, words,
               after);
}

static int search(void *arg)
{
        const struct search *search = arg;
        int err;

        say(search->box, "searching for ", search->words, "");
        err = eddy_sleep(EDDY_MS(500)); /* the server */
        if (err == -ECANCELED)
                say(search->box, "", search->words, " is superseded");
        if (err < 0)
                return err;
        say(search->box, "found 1 page on ", search->words, "");
        return 0;
}

static int search_for(struct box *box, struct search *request)
{
        if (box->newest)
                eddy_task_cancel(box->newest);
        eddy_task_release(box->newest);
        box->newest = NULL;
        return eddy_scope_start_task(box->scope, search, request, NULL, &box->newest);
}

/* A user types, a key every 200 ms. */
static int type(struct box *box, struct search *requests, int n)
{
        int err = 0;

        for (int i = 0; i < n && err == 0; i++) {
                err = search_for(box, &requests[i]);
                if (err == 0)
                        err = eddy_sleep(EDDY_MS(200));
        }
        return err;
}

static int run(void *arg)
{
        struct box box = { .began_ns = eddy_now() };
        struct search requests[] = { { &box, "e" }, { &box, "ed" }, { &box, "eddy" } };
        int err;

        (void) arg;
        EDDY_SCOPE (scope, &err) {
                box.scope = &scope;
                err = type(&box, requests, 3);
        }
        eddy_task_release(box.newest);
        return err;
}

int main(void)
{
        return eddy_run(run, NULL, NULL) == 0 ? 0 : 1;
}
