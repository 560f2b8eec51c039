/*
 * A program that waits for nothing but an idle stream's callback is not in a
 * deadlock: the callback may wake a task.
 */
#include <errno.h>

#include "eddy/eddy.h"
#include "test.h"

static eddy_semaphore heard = EDDY_SEMAPHORE(0, 0);

static void on_idle(void *arg)
{
        (void) arg;
        eddy_semaphore_release(&heard);
}

static int wait_for_callback(void *arg)
{
        eddy_stream *client = NULL, *server = NULL;
        eddy_listener *listener = NULL;

        (void) arg;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", eddy_listener_port(listener), NULL, &client), 0);
        CHECK_EQ(eddy_listener_accept(listener, &server), 0);
        CHECK_EQ(eddy_stream_watch_idle(client, on_idle, NULL), 0);
        /* The byte is on its way, and nothing else can happen. */
        CHECK_EQ(eddy_stream_write(server, "x", 1), 0);
        CHECK_EQ(eddy_semaphore_acquire(&heard), 0);
        eddy_stream_close(client);
        eddy_stream_close(server);
        eddy_listener_close(listener);
        return 0;
}

TEST(waiting_for_an_idle_callback_is_not_a_deadlock)
{
        CHECK_EQ(eddy_run(wait_for_callback, NULL, NULL), 0);
}
