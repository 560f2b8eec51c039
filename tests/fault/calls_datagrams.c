/*
 * calls_datagrams.c - the worlds of datagrams; see every_call.h.
 */
#include "every_call.h"

#include "loop/loop.h"

enum { DATAGRAMS = 6, CALLS = 8, CONNECTING = 5, CONNECTS = 3 };

/* No small buffers: a datagram that does not fit is lost. */
static const struct every_setup on_late_udp = { .late = true, .chop = 2 };

static struct {
        eddy_udp *server, *client;
        struct eddy_endpoint at;
        int sent, received;
} udp;

static void udp_begin(void)
{
        memset(&udp, 0, sizeof(udp));
        CHECK_EQ(eddy_udp_bind("127.0.0.1", 0, NULL, &udp.server), 0);
        CHECK_EQ(eddy_udp_local(udp.server, &udp.at), 0);
        CHECK_EQ(eddy_udp_connect("127.0.0.1", udp.at.port, NULL, &udp.client), 0);
}

static void udp_end(void)
{
        eddy_udp_close(udp.server);
        eddy_udp_close(udp.client);
}

/* --- receiving --- */

static int receive_one(void *arg)
{
        struct eddy_udp_message message = { .data = NULL };
        struct eddy_endpoint from;
        int number = -1;
        int64_t n;

        (void) arg;
        message.data = &number;
        message.bytes = sizeof(number);
        switch (world_chance(3)) {
        case 0:
                n = eddy_udp_receive(udp.server, &number, sizeof(number));
                break;
        case 1:
                n = eddy_udp_receive_from(udp.server, &number, sizeof(number), &from);
                break;
        default:
                n = eddy_udp_receive_batch(udp.server, &message, 1);
        }
        if (n < 0)
                return (int) n;
        CHECK_EQ(number, udp.received);
        udp.received++;
        return 0;
}

static int receive_victim(void *arg)
{
        int err = 0;

        for (int i = 0; i < CALLS && udp.received < DATAGRAMS && err == 0; i++) {
                err = victim_call(receive_one, arg);
                CHECK(err == 0 || err == -ECANCELED);
                if (err == -ECANCELED && world_chance(2))
                        err = 0;
        }
        return 0;
}

static int send_numbers(void *arg)
{
        (void) arg;
        for (int i = 0; i < DATAGRAMS; i++) {
                world_pause();
                CHECK_EQ(eddy_udp_send(udp.client, &i, sizeof(i)), 0);
        }
        return 0;
}

/* A receive that was cancelled takes no datagram. */
static int world_udp_receive(void *arg)
{
        eddy_scope sending, receiving;

        udp_begin();
        world_begin(CALLS);
        eddy_scope_begin(&sending, NULL);
        world_start(&sending, send_numbers, arg, 1);
        eddy_scope_begin(&receiving, NULL);
        world_start(&receiving, receive_victim, arg, 1);
        CHECK_EQ(eddy_scope_end(&receiving), 0);
        while (udp.received < DATAGRAMS)
                CHECK_EQ(receive_one(NULL), 0);
        CHECK_EQ(eddy_scope_end(&sending), 0);
        udp_end();
        return 0;
}
EVERY_POINT_ON(udp_receive, eddy_udp_receive, on_late_udp)
ALSO(udp_receive, eddy_udp_receive_from)
ALSO(udp_receive, eddy_udp_receive_batch)

/* --- sending --- */

static int send_one(void *arg)
{
        int number = udp.sent;
        struct eddy_udp_message message = { .bytes = sizeof(number) };
        int n;

        (void) arg;
        message.data = &number;
        switch (world_chance(3)) {
        case 0:
                n = eddy_udp_send(udp.client, &number, sizeof(number));
                break;
        case 1:
                n = eddy_udp_send_to(udp.client, &number, sizeof(number), &udp.at);
                break;
        default:
                n = eddy_udp_send_batch(udp.client, &message, 1);
        }
        udp.sent += n >= 0;
        return n < 0 ? n : 0;
}

static int send_victim(void *arg)
{
        for (int i = 0; i < CALLS; i++) {
                int err;

                world_pause();
                err = victim_call(send_one, arg);
                CHECK(err == 0 || err == -ECANCELED);
        }
        return 0;
}

/* A send that was cancelled sends nothing. */
static int world_udp_send(void *arg)
{
        eddy_scope sending;

        udp_begin();
        world_begin(CALLS);
        eddy_scope_begin(&sending, NULL);
        world_start(&sending, send_victim, arg, 1);
        CHECK_EQ(eddy_scope_end(&sending), 0);
        while (udp.received < udp.sent)
                CHECK_EQ(receive_one(NULL), 0);
        CHECK_EQ(eddy_udp_send(udp.client, &udp.sent, sizeof(udp.sent)), 0);
        CHECK_EQ(receive_one(NULL), 0);
        udp_end();
        return 0;
}
EVERY_POINT_ON(udp_send, eddy_udp_send, on_late_udp)
ALSO(udp_send, eddy_udp_send_to)
ALSO(udp_send, eddy_udp_send_batch)

/* --- connecting --- */

static int connect_one(void *arg)
{
        eddy_udp *client;
        int err = eddy_udp_connect("127.0.0.1", udp.at.port, NULL, &client);

        (void) arg;
        if (err == 0)
                eddy_udp_close(client);
        return err;
}

static int connect_victim(void *arg)
{
        for (int i = 0; i < CONNECTS; i++) {
                int err;

                world_pause();
                err = victim_call(connect_one, arg);
                CHECK(err == 0 || err == -ECANCELED);
        }
        return 0;
}

/* The kit finds a socket that is left. */
static int world_udp_connect(void *arg)
{
        eddy_scope connecting;

        udp_begin();
        world_begin(CONNECTING * CONNECTS);
        eddy_scope_begin(&connecting, NULL);
        world_start(&connecting, connect_victim, arg, CONNECTING);
        CHECK_EQ(eddy_scope_end(&connecting), 0);
        udp_end();
        return 0;
}
EVERY_POINT_ON(udp_connect, eddy_udp_connect, on_late_udp)
