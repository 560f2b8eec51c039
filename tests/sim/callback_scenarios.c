/*
 * callback_scenarios.c - a program of callbacks of the loop: soon, later, at a
 * time, and as if from another thread; some ask for themselves again, and some
 * are cancelled.
 */
#include <errno.h>

#include "eddy/eddy.h"
#include "scenario.h"
#include "test.h"

enum { HANDLES = 12, TURNS = 3 };

static struct bells {
        eddy_handle handles[HANDLES];
        int rung[HANDLES];
        int left; /* to ring for the last time */
        eddy_event finished;
} bells;

/* In turn in each of the ways. */
static int set_bell(int i, eddy_task_fn *ring, void *arg)
{
        eddy_handle *handle = &bells.handles[i];

        switch (i % 4) {
        case 0:
                return eddy_loop_call_soon(NULL, handle, ring, arg);
        case 1:
                return eddy_loop_call_later(NULL, handle, EDDY_MS(i % 3), ring, arg);
        case 2:
                return eddy_loop_call_at(NULL, handle, eddy_now() + EDDY_MS(1), ring, arg);
        default:
                return eddy_loop_call_threadsafe(eddy_loop_current(), handle, ring, arg);
        }
}

static int ring(void *arg)
{
        int *rung = arg, i = (int) (rung - bells.rung);

        CHECK(++*rung <= TURNS);
        if (*rung < TURNS)
                return set_bell(i, ring, arg);
        if (--bells.left == 0)
                CHECK_EQ(eddy_event_set(&bells.finished), 0);
        return 0;
}

static int set_bells(void)
{
        int err = 0;

        for (int i = 0; i < HANDLES && err == 0; i++) {
                err = set_bell(i, ring, &bells.rung[i]);
                bells.left += err == 0;
        }
        /* One of each way is taken back at once; it never rings. */
        for (int i = 0; i < 4 && err == 0; i++) {
                CHECK_EQ(eddy_handle_cancel(&bells.handles[i]), 1);
                CHECK_EQ(eddy_handle_cancel(&bells.handles[i]), 0);
                bells.left--;
        }
        return err;
}

int scenario_callbacks(void *arg)
{
        int err;

        (void) arg;
        memset(&bells, 0, sizeof(bells));
        /* Made first, so that to be refused one is the program's to see. */
        if (!eddy_loop_current())
                return -ENOMEM;
        err = set_bells();
        if (err == 0)
                err = eddy_event_wait(&bells.finished);
        for (int i = 0; i < HANDLES; i++) {
                int cancelled = eddy_handle_cancel(&bells.handles[i]);

                CHECK(!eddy_handle_is_scheduled(&bells.handles[i]));
                if (err == 0)
                        CHECK(cancelled == 0 && bells.rung[i] == (i < 4 ? 0 : TURNS));
        }
        return err;
}
