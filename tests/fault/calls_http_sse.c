/*
 * calls_http_sse.c - the worlds of streams of events; see every_call.h.
 *
 * Each reader that is not cancelled gets all events, each of them once. Of a sender that is cancelled,
 * the reader gets the first events.
 */
#include "every_call.h"

enum { READING = 2, EVENTS = 4 };

static struct {
        eddy_http_client *client;
        bool opens; /* the call that opens a stream is cancelled, else the one that reads */
        int read;
} world;

/* Two streams: the second one continues the first by the id. */
static int handle(eddy_http_exchange *exchange, void *arg)
{
        static const struct eddy_http_header type = { "Content-Type", "text/event-stream" };
        const char *id = eddy_http_exchange_header(exchange, "Last-Event-ID");
        int at = id ? *id - '0' : 0, err;
        char text[64];

        (void) arg;
        if (at == EVENTS)
                return eddy_http_exchange_respond(exchange, 204, NULL, 0, NULL, 0);
        err = eddy_http_exchange_begin(exchange, 200, &type, 1, -1);
        for (int i = at + 1; i <= EVENTS && err == 0 && (at > 0 || i <= EVENTS / 2); i++) {
                snprintf(text, sizeof(text), "retry: 1\nid: %d\ndata: %d\n\n", i, i);
                err = eddy_http_exchange_write(exchange, text, strlen(text));
                if (err == 0 && world_chance(2))
                        err = eddy_sleep(world_delay_ns());
        }
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

static int open_call(void *arg)
{
        struct eddy_http_request request = { .url = "http://a/" };
        eddy_http_sse **sse = arg;

        return eddy_http_sse_open(world.client, &request, NULL, sse);
}

struct reading {
        eddy_http_sse *sse;
        int events;
};

static int next_call(void *arg)
{
        struct reading *reading = arg;
        struct eddy_http_sse_event event;
        int err;

        while ((err = eddy_http_sse_next(reading->sse, &event)) > 0)
                CHECK_EQ(*event.data, '0' + ++reading->events);
        return err;
}

static int read_as_victim(void *arg)
{
        struct reading reading = { .events = 0 };
        int err;

        (void) arg;
        world_pause();
        err = world.opens ? victim_call(open_call, &reading.sse) : open_call(&reading.sse);
        if (err == 0)
                err = world.opens ? next_call(&reading) : victim_call(next_call, &reading);
        CHECK(err == 0 || err == -ECANCELED);
        if (err == 0)
                CHECK_EQ(reading.events, EVENTS);
        eddy_http_sse_close(reading.sse);
        world.read++;
        return 0;
}

static int run_readers(bool opens)
{
        world.opens = opens;
        world.read = 0;
        CHECK_EQ(eddy_http_client_new(&(struct eddy_http_client_opts){ .handler = handle },
                                      &world.client),
                 0);
        world_begin(READING);
        world_run(read_as_victim, NULL, READING);
        CHECK_EQ(world.read, READING);
        world_close_client(world.client);
        return 0;
}

static int world_sse_open(void *arg)
{
        (void) arg;
        return run_readers(true);
}
EVERY_POINT_WEB(sse_open, eddy_http_sse_open)

static int world_sse_next(void *arg)
{
        (void) arg;
        return run_readers(false);
}
EVERY_POINT_WEB(sse_next, eddy_http_sse_next)

/* ---- sending --------------------------------------------------------------- */

static int sent; /* events */

static int send_call(void *arg)
{
        const struct eddy_http_sse_begin_opts opts = { .comment_ns = EDDY_MS(1) };
        int err = eddy_http_exchange_sse_begin(arg, &opts);

        for (int i = 1; i <= EVENTS && err == 0; i++) {
                const char data = (char) ('0' + i);
                const struct eddy_http_sse_out event = { .data = &data, .data_bytes = 1 };

                err = eddy_http_exchange_sse_send(arg, &event);
                if (err == 0)
                        sent++;
                if (err == 0 && world_chance(2))
                        err = eddy_sleep(world_delay_ns());
        }
        return err < 0 ? err : eddy_http_exchange_end(arg);
}

static int send_as_victim(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        world_pause();
        return victim_call(send_call, exchange);
}

static int read_once(void *arg)
{
        struct eddy_http_request request = { .url = "http://a/" };
        const struct eddy_http_sse_opts once = { .flags = EDDY_HTTP_SSE_ONCE };
        struct reading reading = { .events = 0 };
        int err = eddy_http_sse_open(world.client, &request, &once, &reading.sse);

        (void) arg;
        if (err == 0)
                err = next_call(&reading);
        if (err < 0)
                CHECK(world_is_cancelled());
        if (err == 0)
                CHECK_EQ(reading.events, EVENTS);
        eddy_http_sse_close(reading.sse);
        world.read++;
        return 0;
}

static int world_sse_send(void *arg)
{
        (void) arg;
        world.read = sent = 0;
        CHECK_EQ(eddy_http_client_new(&(struct eddy_http_client_opts){ .handler = send_as_victim },
                                      &world.client),
                 0);
        world_begin(READING);
        world_run(read_once, NULL, READING);
        CHECK_EQ(world.read, READING);
        if (!world_is_cancelled())
                CHECK_EQ(sent, READING * EVENTS);
        world_close_client(world.client);
        return 0;
}
EVERY_POINT_WEB(sse_send, eddy_http_exchange_sse_send)
ALSO(sse_send, eddy_http_exchange_sse_begin)
