/*
 * cross_scenarios.c - programs of what goes between loops, here on one loop:
 * channels, and tasks started from elsewhere.
 */
#include <errno.h>

#include "eddy/eddy.h"
#include "scenario.h"
#include "test.h"

enum { ITEMS = 50, ROOM = 2, REMOTES = 4 };

/* --- a channel --- */

struct pipe {
        eddy_channel *channel;
        int64_t put, sum_put, got, sum_got;
        int producers;
};

static int produce(void *arg)
{
        struct pipe *pipe = arg;
        int err = 0;

        tasks_begun++;
        for (int64_t i = 1; i <= ITEMS && err == 0; i++) {
                err = eddy_channel_put(pipe->channel, &i);
                if (err == 0) {
                        pipe->put++;
                        pipe->sum_put += i;
                }
        }
        if (--pipe->producers == 0)
                eddy_channel_shutdown(pipe->channel);
        tasks_ended++;
        return err;
}

static int consume(void *arg)
{
        struct pipe *pipe = arg;
        int64_t item;
        int err;

        tasks_begun++;
        while ((err = eddy_channel_get(pipe->channel, &item)) == 0) {
                pipe->got++;
                pipe->sum_got += item;
                err = eddy_sleep(0);
                if (err < 0)
                        break;
        }
        tasks_ended++;
        return err == -EPIPE ? 0 : err;
}

int scenario_channel(void *arg)
{
        struct pipe pipe = { .producers = 2 };
        eddy_scope scope;
        int started = 0, err;
        int64_t item;

        (void) arg;
        err = eddy_channel_new(sizeof(int64_t), ROOM, &pipe.channel);
        if (err < 0)
                return err;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 4; i++)
                started += eddy_scope_start(&scope, i < 2 ? produce : consume, &pipe) == 0;
        err = eddy_scope_end(&scope);
        if (err == 0 && started < 4)
                err = -ECANCELED;
        while (eddy_channel_try_get(pipe.channel, &item) == 0) {
                pipe.got++;
                pipe.sum_got += item;
        }
        CHECK_EQ(pipe.got, pipe.put);
        CHECK_EQ(pipe.sum_got, pipe.sum_put);
        if (err == 0 && !one_was_cancelled())
                CHECK_EQ(pipe.got, 2 * ITEMS);
        eddy_channel_release(pipe.channel);
        return err;
}

/* --- tasks started from elsewhere --- */

static int nap(void *arg)
{
        int err;

        tasks_begun++;
        err = eddy_sleep(*(int64_t *) arg);
        tasks_ended++;
        return err;
}

/* Tell those that were started to stop, and see to it that they did: they borrow from here. */
static void stop_remotes(eddy_remote **remotes, int n)
{
        struct eddy_scope_opts shield = { .flags = EDDY_SCOPE_SHIELD };
        eddy_scope scope;

        eddy_scope_begin(&scope, &shield);
        for (int i = 0; i < n; i++)
                eddy_remote_cancel(remotes[i]);
        for (int i = 0; i < n; i++) {
                CHECK_EQ(eddy_remote_wait(remotes[i], NULL), 0);
                eddy_remote_release(remotes[i]);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

int scenario_remote(void *arg)
{
        int64_t naps[REMOTES] = { 0, EDDY_MS(3), EDDY_US(1), EDDY_MS(1) };
        eddy_loop *loop = eddy_loop_current();
        eddy_remote *remotes[REMOTES];
        int n, result, err = 0;

        (void) arg;
        if (!loop)
                return -ENOMEM;
        for (n = 0; n < REMOTES; n++) {
                err = eddy_loop_start_threadsafe(loop, nap, &naps[n], &remotes[n]);
                if (err < 0)
                        break;
        }
        for (int i = 0; i < n && err == 0; i++) {
                err = eddy_remote_wait(remotes[i], &result);
                if (err == 0)
                        err = result;
        }
        stop_remotes(remotes, n);
        return err;
}
