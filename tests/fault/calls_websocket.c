/*
 * calls_websocket.c - the worlds of WebSocket; see every_call.h.
 *
 * Two tasks talk to a handler that sends each message back. Each caller that is not cancelled gets its
 * own messages, and a read that is cancelled loses none.
 */
#include "every_call.h"

enum { TALKING = 2 };

static struct {
        eddy_http_client *client;
        eddy_task_fn *call; /* the client's call that may be cancelled; NULL: the server's accept */
        int talked;
} world;

struct talk {
        eddy_http_exchange *exchange;
        eddy_websocket *websocket;
        struct eddy_websocket_message message;
};

static int accept_call(void *arg)
{
        struct talk *talk = arg;

        return eddy_websocket_accept(talk->exchange, NULL, &talk->websocket);
}

static int connect_call(void *arg)
{
        struct talk *talk = arg;

        return eddy_websocket_connect(world.client, "ws://a/", NULL, &talk->websocket);
}

static int write_call(void *arg)
{
        struct talk *talk = arg;

        return eddy_websocket_write(talk->websocket, EDDY_WEBSOCKET_TEXT, "hello", 5);
}

static int ping_call(void *arg)
{
        struct talk *talk = arg;

        return eddy_websocket_ping(talk->websocket, "x", 1);
}

static int read_call(void *arg)
{
        struct talk *talk = arg;

        return eddy_websocket_read(talk->websocket, &talk->message);
}

static int close_call(void *arg)
{
        struct talk *talk = arg;

        eddy_websocket_close(talk->websocket, 0, NULL);
        talk->websocket = NULL;
        return 0;
}

static int handle(eddy_http_exchange *exchange, void *arg)
{
        struct talk talk = { .exchange = exchange };
        int err = world_chance(2) ? eddy_sleep(world_delay_ns()) : 0;

        (void) arg;
        if (err == 0)
                err = world.call ? accept_call(&talk) : victim_call(accept_call, &talk);
        while (err >= 0 && (err = read_call(&talk)) > 0) {
                world_pause();
                err = eddy_websocket_write(talk.websocket, talk.message.kind, talk.message.data,
                                           talk.message.bytes);
        }
        eddy_websocket_close(talk.websocket, EDDY_WEBSOCKET_GOING_AWAY, NULL);
        return err;
}

/* A call of the client: in this world it may be the one that is cancelled. */
static int call(eddy_task_fn *fn, struct talk *talk)
{
        return fn == world.call ? victim_call(fn, talk) : fn(talk);
}

static int talk_as_victim(void *arg)
{
        struct talk talk = { .websocket = NULL };
        int err;

        (void) arg;
        world_pause();
        err = call(connect_call, &talk);
        if (err == 0)
                err = call(write_call, &talk);
        if (err == 0)
                err = call(ping_call, &talk);
        if (err == 0)
                err = call(read_call, &talk);
        if (err == -ECANCELED && world.call == read_call && !world_is_cancelled())
                err = read_call(&talk);
        CHECK(err == 1 || world_is_cancelled());
        if (err == 1)
                CHECK_STR(talk.message.data, "hello");
        world.talked++;
        if (talk.websocket)
                (void) call(close_call, &talk);
        return 0;
}

static int run_talks(eddy_task_fn *fn)
{
        world.call = fn;
        world.talked = 0;
        CHECK_EQ(eddy_http_client_new(
                         &(struct eddy_http_client_opts){ .handler = handle, .connections_max = 2 },
                         &world.client),
                 0);
        world_begin(TALKING);
        world_run(talk_as_victim, NULL, TALKING);
        CHECK_EQ(world.talked, TALKING);
        world_close_client(world.client);
        return 0;
}

static int world_websocket_accept(void *arg)
{
        (void) arg;
        return run_talks(NULL);
}
EVERY_POINT_WEB(websocket_accept, eddy_websocket_accept)

static int world_websocket_connect(void *arg)
{
        (void) arg;
        return run_talks(connect_call);
}
EVERY_POINT_WEB(websocket_connect, eddy_websocket_connect)

static int world_websocket_write(void *arg)
{
        (void) arg;
        return run_talks(write_call);
}
EVERY_POINT_WEB(websocket_write, eddy_websocket_write)

static int world_websocket_ping(void *arg)
{
        (void) arg;
        return run_talks(ping_call);
}
EVERY_POINT_WEB(websocket_ping, eddy_websocket_ping)

static int world_websocket_read(void *arg)
{
        (void) arg;
        return run_talks(read_call);
}
EVERY_POINT_WEB(websocket_read, eddy_websocket_read)

static int world_websocket_close(void *arg)
{
        (void) arg;
        return run_talks(close_call);
}
EVERY_POINT_WEB(websocket_close, eddy_websocket_close)
