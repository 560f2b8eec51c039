/*
 * fault_proxy.c - see fault_proxy.h.
 */
#include "fault_proxy.h"

#include <errno.h>
#include <string.h>

#include "eddy/test.h"
#include "test.h"

enum { PIECE_BYTES = 16 << 10 };

/* A connection: both directions run in its task's scope. */
struct link {
        struct fault_proxy *proxy;
        eddy_stream *client, *server;
        uint64_t passed_up, passed_down;
        bool is_reset;
};

struct flow {
        struct link *link;
        const struct fault_way *way;
        eddy_stream *from, *to;
        uint64_t *passed, *passed_last; /* of the link, and of the proxy */
};

static int stall(void)
{
        return eddy_sleep(EDDY_SEC(365 * 86400L));
}

/* How many bytes may be read now; 0: the fault's byte is reached. */
static size_t room_of(const struct flow *flow)
{
        const struct fault_way *way = flow->way;
        size_t room = PIECE_BYTES;

        if (way->piece_bytes > 0 && way->piece_bytes < room)
                room = way->piece_bytes;
        if (way->then != FAULT_NOTHING && way->then != FAULT_DAMAGE) {
                uint64_t left = way->bytes > *flow->passed ? way->bytes - *flow->passed : 0;

                room = left < room ? (size_t) left : room;
        }
        return room;
}

static int64_t time_of(const struct fault_way *way, size_t bytes)
{
        int64_t ns = way->delay_ns;

        if (way->jitter_ns > 0)
                ns += (int64_t) eddy_test_chance((uint64_t) way->jitter_ns);
        if (way->bytes_per_s > 0)
                ns += (int64_t) bytes * EDDY_SEC(1) / way->bytes_per_s;
        return ns;
}

/* Change the byte of the fault, if the piece has it. */
static void damage(const struct flow *flow, char *data, size_t bytes)
{
        const struct fault_way *way = flow->way;

        if (way->then == FAULT_DAMAGE && way->bytes >= *flow->passed &&
            way->bytes - *flow->passed < bytes)
                data[way->bytes - *flow->passed] ^= 0x55;
}

/* Pass a piece on. Below 0: nothing more can pass. */
static int pass(struct flow *flow, char *data, size_t bytes)
{
        const struct fault_way *way = flow->way;
        int64_t ns = time_of(way, bytes);
        int err = ns > 0 ? eddy_sleep(ns) : 0;

        if (err < 0)
                return err;
        damage(flow, data, bytes);
        if (way->tap && *flow->passed < way->tap_room) {
                size_t room = way->tap_room - (size_t) *flow->passed;

                memcpy((char *) way->tap + *flow->passed, data, bytes < room ? bytes : room);
        }
        /* Before the receiver has them. */
        *flow->passed += bytes;
        *flow->passed_last = *flow->passed;
        return eddy_stream_write(flow->to, data, bytes);
}

/* The fault's byte is reached. Ends the connection by a negative result. */
static int fault(struct flow *flow)
{
        switch (flow->way->then) {
        case FAULT_END:
                return -EPIPE;
        case FAULT_RESET:
                flow->link->is_reset = true;
                return -EPIPE;
        default:
                return stall();
        }
}

static int flow_run(void *arg)
{
        struct flow *flow = arg;
        char piece[PIECE_BYTES];
        int64_t n;

        for (;;) {
                size_t room = room_of(flow);

                if (room == 0)
                        return fault(flow);
                n = eddy_stream_read(flow->from, piece, room);
                if (n <= 0)
                        break;
                /* The fault may be newer than the read. */
                room = room_of(flow);
                n = pass(flow, piece, (size_t) n < room ? (size_t) n : room);
                if (n < 0)
                        break;
        }
        if (n < 0) {
                flow->link->is_reset |= n == -ECONNRESET;
                return (int) n;
        }
        if (flow->way->end_delay_ns > 0)
                n = eddy_sleep(flow->way->end_delay_ns);
        return n < 0 ? (int) n : eddy_stream_shutdown(flow->to);
}

/* The task of a connection, which the copy of its struct lives in. */
static int link_run(void *arg)
{
        struct link *link = arg;
        struct fault_proxy *proxy = link->proxy;
        struct flow up = {
                link, &proxy->up, link->client, NULL, &link->passed_up, &proxy->passed_up
        };
        struct flow down = { link,         &proxy->down,       NULL,
                             link->client, &link->passed_down, &proxy->passed_down };
        eddy_scope scope;
        int err = -ECONNREFUSED;

        if (!proxy->is_down)
                err = eddy_tcp_connect(proxy->host, proxy->port, NULL, &link->server);
        if (err == 0) {
                up.to = down.from = link->server;
                eddy_scope_begin(&scope, NULL);
                eddy_scope_start_named(&scope, flow_run, &up, "fault_up");
                eddy_scope_start_named(&scope, flow_run, &down, "fault_down");
                (void) eddy_scope_end(&scope);
        }
        if (err < 0 || link->is_reset) {
                eddy_stream_abort(link->client);
                eddy_stream_abort(link->server);
        } else {
                eddy_stream_close(link->client);
                eddy_stream_close(link->server);
        }
        proxy->open--;
        return 0;
}

static int proxy_run(void *arg)
{
        struct fault_proxy *proxy = arg;
        struct link link = { .proxy = proxy };

        while (eddy_listener_accept(proxy->listener, &link.client) == 0) {
                proxy->accepted++;
                proxy->open++;
                proxy->passed_up = proxy->passed_down = 0;
                CHECK_EQ(eddy_scope_start_copy(proxy->scope, link_run, &link, sizeof(link)), 0);
        }
        return 0;
}

void fault_proxy_start(struct fault_proxy *proxy, eddy_scope *scope)
{
        proxy->accepted = proxy->open = 0;
        proxy->scope = scope;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &proxy->listener), 0);
        proxy->own_port = eddy_listener_port(proxy->listener);
        CHECK_EQ(eddy_scope_start_named(scope, proxy_run, proxy, "fault_proxy"), 0);
}

void fault_proxy_stop(struct fault_proxy *proxy)
{
        eddy_listener_close(proxy->listener);
        CHECK_EQ(proxy->open, 0);
}
