/*
 * calls_datagrams.c - the worlds of datagrams, in memory, and of descriptors over Unix streams, on
 * the real clock; see every_call.h.
 */
#include "every_call.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

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
        eddy_scope sending;

        udp_begin();
        world_begin(CALLS);
        eddy_scope_begin(&sending, NULL);
        world_start(&sending, send_numbers, arg, 1);
        world_run(receive_victim, arg, 1);
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
        udp_begin();
        world_begin(CALLS);
        world_run(send_victim, arg, 1);
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
        udp_begin();
        world_begin(CONNECTING * CONNECTS);
        world_run(connect_victim, arg, CONNECTING);
        udp_end();
        return 0;
}
EVERY_POINT_ON(udp_connect, eddy_udp_connect, on_late_udp)

/* --- descriptors --- */

enum { PASSED = 3 };

static struct {
        eddy_stream *here, *there;
        int sent, received;
} pass;

static int pass_one(void *arg)
{
        int fd = STDERR_FILENO;
        int64_t n = eddy_unix_send_fds(pass.here, "x", 1, &fd, 1);

        (void) arg;
        pass.sent += n == 1;
        return n < 0 ? (int) n : 0;
}

static int take_one(void *arg)
{
        struct eddy_unix_fds fds;
        char byte;
        int64_t n = eddy_unix_receive_fds(pass.there, &byte, 1, &fds);

        (void) arg;
        if (n < 0)
                return (int) n;
        CHECK_EQ(n, 1);
        CHECK_EQ(fds.count, 1);
        CHECK_EQ(close(fds.fds[0]), 0);
        pass.received++;
        return 0;
}

static int pass_victim(void *arg)
{
        for (int i = 0; i < PASSED; i++) {
                int err = victim_call(pass_one, arg);

                CHECK(err == 0 || err == -ECANCELED);
                (void) eddy_sleep(EDDY_US(100) * (int64_t) world_chance(3));
        }
        return 0;
}

static int take_victim(void *arg)
{
        for (int i = 0; i < PASSED && pass.received < PASSED; i++) {
                int err = victim_call(take_one, arg);

                CHECK(err == 0 || err == -ECANCELED);
        }
        return 0;
}

/* As many come as were sent; those that are late wait for a descriptor more. */
static int world_pass(void *arg)
{
        eddy_scope taking;
        int fds[2];

        memset(&pass, 0, sizeof(pass));
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
        CHECK_EQ(eddy_stream_from_fd(fds[0], EDDY_STREAM_OWN_FD, &pass.here), 0);
        CHECK_EQ(eddy_stream_from_fd(fds[1], EDDY_STREAM_OWN_FD, &pass.there), 0);
        world_begin(2 * PASSED);
        eddy_scope_begin(&taking, NULL);
        world_start(&taking, take_victim, arg, 1);
        world_run(pass_victim, arg, 1);
        while (pass.sent < PASSED)
                CHECK_EQ(pass_one(NULL), 0);
        CHECK_EQ(eddy_scope_end(&taking), 0);
        while (pass.received < pass.sent)
                CHECK_EQ(take_one(NULL), 0);
        eddy_stream_close(pass.here);
        eddy_stream_close(pass.there);
        return 0;
}
EVERY_POINT_ON(pass, eddy_unix_receive_fds, on_epoll)
ALSO(pass, eddy_unix_send_fds)
