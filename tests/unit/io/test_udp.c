/*
 * test_udp.c - datagrams: whole or not at all, with a peer and without; batches, errors that the
 * network reports, groups; and cancels, closes and shortages in each call. The first cases run on
 * the kernel and in memory.
 */
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../scope/sim_run.h"
#include "cancel_at.h"
#include "io_test.h"

/* A case on the kernel, and one in memory. */
#define BOTH(claim)                                                                                \
        static int both_##claim(void *arg);                                                        \
        TEST(claim)                                                                                \
        {                                                                                          \
                io_run(both_##claim);                                                              \
        }                                                                                          \
        TEST(claim##_in_memory)                                                                    \
        {                                                                                          \
                CHECK_EQ(sim_run(both_##claim, NULL), 0);                                          \
        }                                                                                          \
        static int both_##claim(void *arg)

static eddy_udp *bind_at(const char *address, const struct eddy_udp_opts *opts)
{
        eddy_udp *udp;

        CHECK_EQ(eddy_udp_bind(address, 0, opts, &udp), 0);
        return udp;
}

static struct eddy_endpoint local_of(const eddy_udp *udp)
{
        struct eddy_endpoint at;

        CHECK_EQ(eddy_udp_local(udp, &at), 0);
        return at;
}

static eddy_udp *connect_to(const char *host, const eddy_udp *peer)
{
        eddy_udp *udp;

        CHECK_EQ(eddy_udp_connect(host, local_of(peer).port, NULL, &udp), 0);
        return udp;
}

static void send_text(eddy_udp *udp, const char *text, const eddy_udp *to)
{
        struct eddy_endpoint at = local_of(to);

        CHECK_EQ(eddy_udp_send_to(udp, text, strlen(text), &at), 0);
}

static void expect_text(eddy_udp *udp, const char *text)
{
        char buf[64];
        int64_t n = eddy_udp_receive(udp, buf, sizeof(buf));

        CHECK_EQ(n, strlen(text));
        CHECK_EQ(memcmp(buf, text, (size_t) n), 0);
}

/* A port that nothing receives on. */
static uint16_t free_port(void)
{
        eddy_udp *udp = bind_at("127.0.0.1", NULL);
        uint16_t port = local_of(udp).port;

        eddy_udp_close(udp);
        return port;
}

/* -- whole datagrams --------------------------------------------------------- */

static void echo_at(const char *address)
{
        eddy_udp *server = bind_at(address, NULL), *client = bind_at(address, NULL);
        struct eddy_endpoint from, at = local_of(client);
        char buf[16];

        CHECK_EQ(at.kind, EDDY_ENDPOINT_IP);
        CHECK(at.port > 0);
        CHECK(eddy_udp_fd(client) >= 0);
        send_text(client, "hello", server);
        CHECK_EQ(eddy_udp_receive_from(server, buf, sizeof(buf), &from), 5);
        CHECK_EQ(memcmp(buf, "hello", 5), 0);
        CHECK(eddy_endpoint_is_equal(&from, &at));
        CHECK_EQ(eddy_udp_send_to(server, buf, 4, &from), 0);
        expect_text(client, "hell");
        CHECK_EQ(eddy_udp_peer(client, &from), -ENOTCONN);
        eddy_udp_close(server);
        eddy_udp_close(client);
}

BOTH(a_datagram_comes_whole_and_with_its_sender)
{
        (void) arg;
        echo_at("127.0.0.1");
        if (ed_sys_is_sim(ed_loop_current->sys) || io_has_ipv6())
                echo_at("::1");
        return 0;
}

BOTH(a_socket_with_a_peer_receives_from_nobody_else)
{
        eddy_udp *server = bind_at("127.0.0.1", NULL), *other = bind_at("127.0.0.1", NULL);
        eddy_udp *client = connect_to("127.0.0.1", server);
        struct eddy_endpoint peer, at = local_of(server);

        (void) arg;
        CHECK_EQ(eddy_udp_peer(client, &peer), 0);
        CHECK(eddy_endpoint_is_equal(&peer, &at));
        peer = local_of(client);
        CHECK_EQ(peer.address.bytes[0], 127);
        send_text(other, "stray", client);
        send_text(server, "answer", client);
        expect_text(client, "answer");
        CHECK_EQ(eddy_udp_send(client, "x", 1), 0);
        expect_text(server, "x");
        CHECK_EQ(eddy_udp_send(server, "x", 1), -EDESTADDRREQ);
        eddy_udp_close(server);
        eddy_udp_close(other);
        eddy_udp_close(client);
        return 0;
}

static int connect_by_name(void *arg)
{
        struct eddy_endpoint local = { .kind = EDDY_ENDPOINT_IP,
                                       .address = { .family = AF_INET,
                                                    .bytes = { 127, 0, 0, 1 } } };
        struct eddy_udp_opts opts = { .local = &local };
        eddy_udp *server = bind_at("127.0.0.1", NULL), *client;

        (void) arg;
        /* Only addresses of the own one's family are tried. */
        CHECK_EQ(eddy_udp_connect("localhost", local_of(server).port, &opts, &client), 0);
        CHECK_EQ(eddy_udp_send(client, "x", 1), 0);
        expect_text(server, "x");
        eddy_udp_close(client);
        CHECK_EQ(eddy_udp_connect("::1", 1, &opts, &client), EDDY_E_DNS_NO_ADDRESS);
        CHECK_EQ(eddy_udp_connect("x.invalid", 1, NULL, &client), EDDY_E_DNS_NOT_FOUND);
        CHECK_EQ(eddy_udp_connect("127.0.0.1", 0, NULL, &client), -EINVAL);
        local.kind = EDDY_ENDPOINT_UNIX;
        CHECK_EQ(eddy_udp_connect("127.0.0.1", 1, &opts, &client), -EINVAL);
        eddy_udp_close(server);
        return 0;
}

TEST(a_peer_has_a_name)
{
        io_run(connect_by_name);
}

BOTH(an_empty_datagram_is_not_an_end)
{
        eddy_udp *server = bind_at("127.0.0.1", NULL), *client = connect_to("127.0.0.1", server);
        char buf[4];

        (void) arg;
        CHECK_EQ(eddy_udp_send(client, NULL, 0), 0);
        CHECK_EQ(eddy_udp_send(client, "x", 1), 0);
        CHECK_EQ(eddy_udp_receive(server, buf, sizeof(buf)), 0);
        expect_text(server, "x");
        eddy_udp_close(server);
        eddy_udp_close(client);
        return 0;
}

BOTH(a_datagram_that_is_too_long_is_never_cut_in_silence)
{
        eddy_udp *server = bind_at("127.0.0.1", NULL), *client = connect_to("127.0.0.1", server);
        struct eddy_udp_message message;
        char buf[9];

        (void) arg;
        for (int i = 0; i < 3; i++)
                CHECK_EQ(eddy_udp_send(client, "0123456789", 10), 0);
        CHECK_EQ(eddy_udp_receive(server, buf, sizeof(buf)), -EMSGSIZE);
        message = (struct eddy_udp_message){ .data = buf, .bytes = 4 };
        CHECK_EQ(eddy_udp_receive_batch(server, &message, 1), 1);
        CHECK_EQ(message.length, 10);
        CHECK_EQ(memcmp(buf, "0123", 4), 0);
        CHECK_EQ(message.endpoint.port, local_of(client).port);
        expect_text(server, "0123456789");
        eddy_udp_close(server);
        eddy_udp_close(client);
        return 0;
}

BOTH(a_datagram_has_a_maximum)
{
        eddy_udp *server = bind_at("127.0.0.1", NULL), *client = connect_to("127.0.0.1", server);
        char *data = calloc(1, EDDY_UDP_BYTES_MAX + 1);

        (void) arg;
        CHECK(data);
        CHECK_EQ(eddy_udp_send(client, data, EDDY_UDP_BYTES_MAX + 1), -EMSGSIZE);
        CHECK_EQ(eddy_udp_send(client, data, EDDY_UDP_BYTES_MAX), 0);
        CHECK_EQ(eddy_udp_receive(server, data, EDDY_UDP_BYTES_MAX), EDDY_UDP_BYTES_MAX);
        free(data);
        eddy_udp_close(server);
        eddy_udp_close(client);
        return 0;
}

/* -- batches ----------------------------------------------------------------- */

static void batch_make(struct eddy_udp_message *messages, char (*room)[4])
{
        for (int i = 0; i < EDDY_UDP_BATCH_MAX; i++) {
                snprintf(room[i], sizeof(room[i]), "%d", i);
                messages[i] = (struct eddy_udp_message){ .data = room[i],
                                                         .bytes = (size_t) (i < 10 ? 1 : 2) };
        }
}

BOTH(a_batch_is_sent_and_received_in_order)
{
        eddy_udp *server = bind_at("127.0.0.1", NULL), *client = connect_to("127.0.0.1", server);
        struct eddy_udp_message messages[EDDY_UDP_BATCH_MAX + 1];
        char room[EDDY_UDP_BATCH_MAX][4], number[12];
        int got = 0;

        (void) arg;
        batch_make(messages, room);
        CHECK_EQ(eddy_udp_send_batch(client, messages, 0), -EINVAL);
        CHECK_EQ(eddy_udp_send_batch(client, messages, EDDY_UDP_BATCH_MAX + 1), -EINVAL);
        CHECK_EQ(eddy_udp_receive_batch(server, messages, 0), -EINVAL);
        CHECK_EQ(eddy_udp_receive_batch(server, messages, EDDY_UDP_BATCH_MAX + 1), -EINVAL);
        messages[3].endpoint = local_of(server);
        CHECK_EQ(eddy_udp_send_batch(client, messages, EDDY_UDP_BATCH_MAX), EDDY_UDP_BATCH_MAX);
        memset(room, 0, sizeof(room));
        for (int n; got < EDDY_UDP_BATCH_MAX; got += n) {
                for (int i = got; i < EDDY_UDP_BATCH_MAX; i++)
                        messages[i].bytes = sizeof(room[i]);
                n = eddy_udp_receive_batch(server, messages + got,
                                           (size_t) (EDDY_UDP_BATCH_MAX - got));
                CHECK(n > 0);
        }
        for (int i = 0; i < EDDY_UDP_BATCH_MAX; i++) {
                CHECK_EQ(messages[i].length, i < 10 ? 1 : 2);
                snprintf(number, sizeof(number), "%d", i);
                CHECK_STR(room[i], number);
                CHECK_EQ(messages[i].endpoint.port, local_of(client).port);
        }
        eddy_udp_close(server);
        eddy_udp_close(client);
        return 0;
}

BOTH(a_batch_ends_before_a_datagram_that_cannot_be_sent)
{
        eddy_udp *server = bind_at("127.0.0.1", NULL), *client = connect_to("127.0.0.1", server);
        char *data = calloc(1, EDDY_UDP_BYTES_MAX + 1);
        struct eddy_udp_message messages[] = { { .data = data, .bytes = 1 },
                                               { .data = data, .bytes = EDDY_UDP_BYTES_MAX + 1 },
                                               { .data = data, .bytes = 1 } };

        (void) arg;
        CHECK_EQ(eddy_udp_send_batch(client, messages, 3), 1);
        CHECK_EQ(eddy_udp_send_batch(client, messages + 1, 2), -EMSGSIZE);
        CHECK_EQ(eddy_udp_send_batch(client, messages + 2, 1), 1);
        free(data);
        eddy_udp_close(server);
        eddy_udp_close(client);
        return 0;
}

/* -- errors ------------------------------------------------------------------ */

BOTH(a_refusal_ends_the_next_receive_or_send_once)
{
        eddy_udp *client;
        char byte;

        (void) arg;
        CHECK_EQ(eddy_udp_connect("127.0.0.1", free_port(), NULL, &client), 0);
        CHECK_EQ(eddy_udp_send(client, "x", 1), 0);
        CHECK_EQ(eddy_udp_receive(client, &byte, 1), -ECONNREFUSED);
        CHECK_EQ(eddy_udp_send(client, "x", 1), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(5)), 0);
        CHECK_EQ(eddy_udp_send(client, "x", 1), -ECONNREFUSED);
        CHECK_EQ(eddy_udp_send(client, "x", 1), 0);
        eddy_udp_close(client);
        return 0;
}

static int receive_refusal(void *arg)
{
        char byte;

        CHECK_EQ(eddy_udp_receive(arg, &byte, 1), -ECONNREFUSED);
        return 0;
}

BOTH(a_refusal_wakes_a_task_that_receives)
{
        eddy_udp *client;
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_udp_connect("127.0.0.1", free_port(), NULL, &client), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, receive_refusal, client);
        CHECK_EQ(eddy_sleep(EDDY_MS(2)), 0);
        CHECK_EQ(eddy_udp_send(client, "x", 1), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_udp_close(client);
        return 0;
}

static void errors_at(const char *address, int type, int code)
{
        struct eddy_udp_opts opts = { .errors = true };
        eddy_udp *udp = bind_at(address, &opts), *gone = bind_at(address, NULL);
        struct eddy_endpoint to = local_of(gone);
        struct eddy_udp_error error = { .error = 1 };
        char byte;

        eddy_udp_close(gone);
        CHECK_EQ(eddy_udp_error(udp, &error), -EAGAIN);
        CHECK_EQ(error.error, 1);
        CHECK_EQ(eddy_udp_send_to(udp, "x", 1, &to), 0);
        CHECK_EQ(eddy_udp_receive(udp, &byte, 1), -ECONNREFUSED);
        CHECK_EQ(eddy_udp_error(udp, &error), 0);
        CHECK_EQ(error.error, -ECONNREFUSED);
        CHECK_EQ(error.type, type);
        CHECK_EQ(error.code, code);
        CHECK_EQ(error.mtu, 0);
        CHECK(eddy_endpoint_is_equal(&error.to, &to));
        to.port = 0;
        CHECK(eddy_endpoint_is_equal(&error.reporter, &to));
        CHECK_EQ(eddy_udp_error(udp, &error), -EAGAIN);
        eddy_udp_close(udp);
}

static int reported_errors(void *arg)
{
        (void) arg;
        errors_at("127.0.0.1", 3, 3); /* RFC 792: destination unreachable, port */
        if (io_has_ipv6())
                errors_at("::1", 1, 4); /* RFC 4443, the same */
        return 0;
}

TEST(a_socket_without_a_peer_reports_errors_with_their_details)
{
        if (getenv("EDDY_TEST_QEMU"))
                test_skip("qemu reads an error from an empty queue of errors");
        io_run(reported_errors);
}

static int receive_call(void *arg)
{
        char byte;
        int64_t n = eddy_udp_receive(arg, &byte, 1);

        return n < 0 ? (int) n : 0;
}

static int no_errors(void *arg)
{
        eddy_udp *udp = bind_at("127.0.0.1", NULL);
        struct eddy_endpoint to = local_of(udp);

        (void) arg;
        to.port = free_port();
        CHECK_EQ(eddy_udp_send_to(udp, "x", 1, &to), 0);
        CHECK_EQ(eddy_call_timeout(receive_call, udp, EDDY_MS(20)), -ETIMEDOUT);
        send_text(udp, "y", udp);
        expect_text(udp, "y");
        eddy_udp_close(udp);
        return 0;
}

TEST(without_the_option_a_socket_without_a_peer_reports_no_errors)
{
        io_run(no_errors);
}

BOTH(an_endpoint_that_is_no_receiver_is_refused)
{
        eddy_udp *udp = bind_at("127.0.0.1", NULL);
        struct eddy_endpoint to = { .kind = EDDY_ENDPOINT_NONE }, at = local_of(udp);
        struct eddy_udp_message message = { .data = (void *) "x", .bytes = 1, .endpoint = at };

        (void) arg;
        CHECK_EQ(eddy_udp_send_to(udp, "x", 1, &to), -EINVAL);
        CHECK_EQ(eddy_udp_send_to(udp, "x", 1, NULL), -EINVAL);
        CHECK_EQ(eddy_endpoint_unix("/x", &to), 0);
        CHECK_EQ(eddy_udp_send_to(udp, "x", 1, &to), -EINVAL);
        at.port = 0;
        CHECK_EQ(eddy_udp_send_to(udp, "x", 1, &at), -EINVAL);
        message.endpoint.port = 0;
        CHECK_EQ(eddy_udp_send_batch(udp, &message, 1), -EINVAL);
        eddy_udp_close(udp);
        return 0;
}

/* -- waiting ------------------------------------------------------------------ */

static int expect_canceled(void *arg)
{
        CHECK_EQ(receive_call(arg), -ECANCELED);
        return 0;
}

BOTH(a_close_ends_the_tasks_in_its_calls)
{
        eddy_udp *udp = bind_at("127.0.0.1", NULL);
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, expect_canceled, udp);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(receive_call(udp), -EBUSY);
        send_text(udp, "x", udp); /* its event has not come when the socket is closed */
        eddy_udp_close(udp);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        return 0;
}

/* Sends to itself when the main task waits, so that event and cancel come together. */
static int send_soon(void *arg)
{
        send_text(arg, "x", arg);
        return 0;
}

static int receive_beside_sender(void *arg)
{
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, send_soon, arg);
        err = receive_call(arg);
        (void) eddy_scope_end(&scope);
        return err;
}

BOTH(a_cancelled_receive_takes_no_datagram)
{
        eddy_udp *udp = bind_at("127.0.0.1", NULL);
        bool reached = true;
        int lost = 0;

        (void) arg;
        CHECK_EQ(cancel_at(0, receive_call, udp, &reached), -ECANCELED);
        CHECK_EQ(eddy_call_timeout(receive_call, udp, EDDY_MS(1)), -ETIMEDOUT);
        for (int n = 1; reached; n++) {
                int err = cancel_at(n, receive_beside_sender, udp, &reached);

                CHECK(err == 0 || err == -ECANCELED);
                if (err == -ECANCELED) {
                        expect_text(udp, "x");
                        lost++;
                }
                CHECK_EQ(eddy_call_timeout(receive_call, udp, EDDY_MS(1)), -ETIMEDOUT);
        }
        CHECK(lost > 0);
        eddy_udp_close(udp);
        return 0;
}

static int connect_call(void *arg)
{
        return eddy_udp_connect("localhost", 9, NULL, arg);
}

static int cancelled_connect(void *arg)
{
        eddy_udp *udp = NULL;
        bool reached = true;

        (void) arg;
        for (int n = 0; reached; n++) {
                int err = cancel_at(n, connect_call, &udp, &reached);

                CHECK_EQ(err, reached ? -ECANCELED : 0);
                CHECK(!reached || !udp);
        }
        eddy_udp_close(udp);
        return 0;
}

/* A138: io_run() counts the descriptors. */
TEST(a_cancelled_connect_leaves_nothing)
{
        io_run(cancelled_connect);
}

static int full_times;

static int (*real_send)(struct ed_sys *sys, int fd, const struct eddy_udp_message *messages,
                        size_t n);

static int full_then_room(struct ed_sys *sys, int fd, const struct eddy_udp_message *messages,
                          size_t n)
{
        if (full_times-- > 0)
                return -EAGAIN;
        return real_send(sys, fd, messages, n);
}

static int send_call(void *arg)
{
        return eddy_udp_send(arg, "x", 1);
}

/* The loopback has always room, so the table says otherwise. */
static int wait_for_room(void *arg)
{
        eddy_udp *server = bind_at("127.0.0.1", NULL), *client = connect_to("127.0.0.1", server);
        bool reached;

        (void) arg;
        real_send = ed_loop_current->sys->datagram->send;
        io_tables()->datagram.send = full_then_room;
        full_times = 1;
        CHECK_EQ(eddy_udp_send(client, "x", 1), 0);
        expect_text(server, "x");
        full_times = 1000;
        CHECK_EQ(cancel_at(1, send_call, client, &reached), -ECANCELED);
        CHECK_EQ(eddy_call_timeout(send_call, client, EDDY_MS(2)), -ETIMEDOUT);
        full_times = 0;
        CHECK_EQ(eddy_call_timeout(receive_call, server, EDDY_MS(2)), -ETIMEDOUT);
        eddy_udp_close(server);
        eddy_udp_close(client);
        return 0;
}

TEST(a_send_waits_for_room)
{
        io_run(wait_for_room);
}

/* -- a flood ------------------------------------------------------------------ */

enum { FLOOD = 5000, FLOOD_BYTES = 1000 };

static uint64_t allocations;

static void *counting(void *ctx, void *ptr, size_t bytes)
{
        (void) ctx;
        allocations += !ptr && bytes > 0;
        if (bytes == 0) {
                free(ptr);
                return NULL;
        }
        return realloc(ptr, bytes);
}

/* What does not fit is lost, and no memory of this process is used for it. */
static int flood(void *arg)
{
        struct eddy_udp_opts opts = { .receive_bytes = 64 * 1024 };
        eddy_udp *server = bind_at("127.0.0.1", &opts), *client = connect_to("127.0.0.1", server);
        char data[FLOOD_BYTES] = { 0 };
        uint64_t before;
        int got = 0, last = -1, i;

        (void) arg;
        eddy_alloc_set(counting, NULL);
        before = allocations;
        for (i = 0; i < FLOOD; i++) {
                memcpy(data, &i, sizeof(i));
                CHECK_EQ(eddy_udp_send(client, data, sizeof(data)), 0);
        }
        CHECK_EQ(allocations, before);
        while (eddy_call_timeout(receive_call, server, EDDY_MS(20)) == -EMSGSIZE)
                got++;
        CHECK(got > 0 && got <= 2 * 64 * 1024 / FLOOD_BYTES);
        /* The socket goes on. */
        for (i = 0; i < 10; i++) {
                memcpy(data, &i, sizeof(i));
                CHECK_EQ(eddy_udp_send(client, data, sizeof(data)), 0);
                CHECK_EQ(eddy_udp_receive(server, data, sizeof(data)), FLOOD_BYTES);
                memcpy(&last, data, sizeof(last));
                CHECK_EQ(last, i);
        }
        eddy_alloc_set(NULL, NULL);
        eddy_udp_close(server);
        eddy_udp_close(client);
        return 0;
}

TEST(a_flood_with_a_slow_reader_takes_no_memory)
{
        io_run(flood);
}

/* -- options ------------------------------------------------------------------ */

static int options(void *arg)
{
        struct eddy_udp_opts opts = { .broadcast = true, .receive_bytes = 1 << 16 };
        struct eddy_udp_opts too_much = { .send_bytes = UINT32_MAX };
        eddy_udp *udp = bind_at("127.0.0.1", NULL), *other;

        (void) arg;
        CHECK_EQ(eddy_udp_option(udp, EDDY_UDP_BROADCAST), 0);
        CHECK_EQ(eddy_udp_set_option(udp, EDDY_UDP_BROADCAST, 1), 0);
        CHECK_EQ(eddy_udp_option(udp, EDDY_UDP_BROADCAST), 1);
        CHECK_EQ(eddy_udp_set_option(udp, EDDY_UDP_BROADCAST, 2), -EINVAL);
        CHECK_EQ(eddy_udp_set_option(udp, EDDY_UDP_TTL, 0), -EINVAL);
        CHECK_EQ(eddy_udp_set_option(udp, EDDY_UDP_TTL, 7), 0);
        CHECK_EQ(eddy_udp_option(udp, EDDY_UDP_TTL), 7);
        CHECK_EQ(eddy_udp_set_option(udp, EDDY_UDP_SEND_BYTES, 1 << 15), 0);
        CHECK(eddy_udp_option(udp, EDDY_UDP_SEND_BYTES) >= 1 << 15);
        CHECK_EQ(eddy_udp_set_option(udp, EDDY_UDP_MULTICAST_TTL, 256), -EINVAL);
        CHECK_EQ(eddy_udp_set_option(udp, EDDY_UDP_MULTICAST_INTERFACE, -1), -EINVAL);
        CHECK_EQ(eddy_udp_set_option(udp, EDDY_UDP_OPTIONS, 1), -EINVAL);
        CHECK_EQ(eddy_udp_option(udp, EDDY_UDP_OPTIONS), -EINVAL);
        CHECK(eddy_udp_set_option(udp, EDDY_UDP_MULTICAST_INTERFACE, 1 << 20) < 0);
        CHECK_EQ(eddy_udp_option(udp, EDDY_UDP_MULTICAST_INTERFACE), 0);
        eddy_udp_close(udp);
        udp = bind_at("127.0.0.1", &opts);
        CHECK_EQ(eddy_udp_option(udp, EDDY_UDP_BROADCAST), 1);
        CHECK(eddy_udp_option(udp, EDDY_UDP_RECEIVE_BYTES) >= 1 << 16);
        CHECK_EQ(eddy_udp_bind("127.0.0.1", 0, &too_much, &other), -EINVAL);
        opts.local = &(struct eddy_endpoint){ .kind = EDDY_ENDPOINT_IP };
        CHECK_EQ(eddy_udp_bind("127.0.0.1", 0, &opts, &other), -EINVAL);
        CHECK_EQ(eddy_udp_bind("localhost", 0, NULL, &other), -EINVAL);
        CHECK_EQ(eddy_udp_bind(NULL, 0, NULL, &other), -EINVAL);
        eddy_udp_close(udp);
        return 0;
}

TEST(options_are_checked_set_and_read)
{
        io_run(options);
}

static int broadcasts(void *arg)
{
        eddy_udp *udp = bind_at("0.0.0.0", NULL);
        struct eddy_endpoint to = { .kind = EDDY_ENDPOINT_IP,
                                    .port = local_of(udp).port,
                                    .address = { .family = AF_INET,
                                                 .bytes = { 127, 255, 255, 255 } } };

        (void) arg;
        CHECK_EQ(eddy_udp_send_to(udp, "x", 1, &to), -EACCES);
        CHECK_EQ(eddy_udp_set_option(udp, EDDY_UDP_BROADCAST, 1), 0);
        CHECK_EQ(eddy_udp_send_to(udp, "x", 1, &to), 0);
        expect_text(udp, "x");
        eddy_udp_close(udp);
        return 0;
}

TEST(a_broadcast_needs_the_option)
{
        io_run(broadcasts);
}

BOTH(a_port_is_shared_only_if_all_agree)
{
        struct eddy_udp_opts opts = { .reuse_port = true };
        eddy_udp *a = bind_at("127.0.0.1", NULL), *b;

        (void) arg;
        CHECK_EQ(eddy_udp_bind("127.0.0.1", local_of(a).port, &opts, &b), -EADDRINUSE);
        eddy_udp_close(a);
        a = bind_at("127.0.0.1", &opts);
        CHECK_EQ(eddy_udp_bind("127.0.0.1", local_of(a).port, NULL, &b), -EADDRINUSE);
        CHECK_EQ(eddy_udp_bind("127.0.0.1", local_of(a).port, &opts, &b), 0);
        eddy_udp_close(a);
        eddy_udp_close(b);
        return 0;
}

static int both_families(void *arg)
{
        struct eddy_udp_opts only = { .v6_only = true };
        eddy_udp *both = bind_at("::", NULL), *v6 = bind_at("::", &only), *v4;
        struct eddy_endpoint from, to = { .kind = EDDY_ENDPOINT_IP };
        char byte;

        (void) arg;
        v4 = bind_at("127.0.0.1", NULL);
        to.address = local_of(v4).address;
        to.port = local_of(both).port;
        CHECK_EQ(eddy_udp_send_to(v4, "x", 1, &to), 0);
        CHECK_EQ(eddy_udp_receive_from(both, &byte, 1, &from), 1);
        CHECK_EQ(from.address.family, AF_INET6);
        CHECK_EQ(from.address.bytes[11], 0xff); /* ::ffff:127.0.0.1 */
        CHECK_EQ(eddy_udp_send_to(both, "y", 1, &from), 0);
        expect_text(v4, "y");
        to = local_of(v6);
        CHECK_EQ(eddy_udp_send_to(v4, "x", 1, &to), -EAFNOSUPPORT);
        eddy_udp_close(both);
        eddy_udp_close(v6);
        eddy_udp_close(v4);
        return 0;
}

TEST(a_socket_of_ipv6_also_receives_ipv4_by_default)
{
        if (!io_has_ipv6())
                test_skip("no IPv6 here");
        io_run(both_families);
}

/* -- groups ------------------------------------------------------------------- */

static const char *why_not; /* a case on groups cannot run */

/* Two receivers of a group on the loopback get each datagram; after leaving none. */
static void group_at(const char *any, const char *group, uint32_t by)
{
        struct eddy_udp_opts opts = { .reuse_port = true };
        eddy_udp *a = bind_at(any, &opts), *b, *sender;
        struct eddy_endpoint to = { .kind = EDDY_ENDPOINT_IP, .port = local_of(a).port };
        char text[EDDY_ENDPOINT_TEXT_BYTES];
        int err = eddy_udp_join(a, group, by);

        if (err < 0) {
                why_not = "this system allows no groups on the loopback";
                eddy_udp_close(a);
                return;
        }
        CHECK_EQ(eddy_udp_join(a, group, by), -EADDRINUSE);
        CHECK_EQ(eddy_udp_bind(any, to.port, &opts, &b), 0);
        CHECK_EQ(eddy_udp_join(b, group, by), 0);
        snprintf(text, sizeof(text), strchr(group, ':') ? "[%s]:%u" : "%s:%u", group, to.port);
        CHECK_EQ(eddy_endpoint_parse(text, &to), 0);
        sender = bind_at(strchr(group, ':') ? "::1" : "127.0.0.1", NULL);
        CHECK_EQ(eddy_udp_set_option(sender, EDDY_UDP_MULTICAST_INTERFACE, (int) by), 0);
        CHECK_EQ(eddy_udp_option(sender, EDDY_UDP_MULTICAST_INTERFACE), by);
        CHECK_EQ(eddy_udp_set_option(sender, EDDY_UDP_MULTICAST_TTL, 0), 0);
        CHECK_EQ(eddy_udp_option(sender, EDDY_UDP_MULTICAST_TTL), 0);
        err = eddy_udp_send_to(sender, "all", 3, &to);
        if (err == 0) {
                expect_text(a, "all");
                expect_text(b, "all");
                CHECK_EQ(eddy_udp_leave(b, group, by), 0);
                CHECK_EQ(eddy_udp_leave(b, group, by), -EADDRNOTAVAIL);
                CHECK_EQ(eddy_udp_set_option(sender, EDDY_UDP_MULTICAST_LOOP, 0), 0);
                CHECK_EQ(eddy_udp_option(sender, EDDY_UDP_MULTICAST_LOOP), 0);
        } else {
                why_not = "the loopback carries no multicast here";
        }
        eddy_udp_close(sender);
        eddy_udp_close(a);
        eddy_udp_close(b);
}

static int groups_ip4(void *arg)
{
        (void) arg;
        group_at("0.0.0.0", "239.1.2.3", if_nametoindex("lo"));
        return 0;
}

TEST(a_group_reaches_all_its_members)
{
        if (if_nametoindex("lo") == 0)
                test_skip("the loopback has another name");
        io_run(groups_ip4);
        if (why_not)
                test_skip(why_not);
}

static int groups_ip6(void *arg)
{
        (void) arg;
        group_at("::", "ff01::1:2:3", if_nametoindex("lo"));
        return 0;
}

TEST(a_group_of_ipv6_reaches_all_its_members)
{
        if (if_nametoindex("lo") == 0 || !io_has_ipv6())
                test_skip("no loopback with IPv6");
        io_run(groups_ip6);
        if (why_not)
                test_skip(why_not);
}

static int bad_groups(void *arg)
{
        eddy_udp *udp = bind_at("0.0.0.0", NULL);

        (void) arg;
        CHECK_EQ(eddy_udp_join(udp, "127.0.0.1", 0), -EINVAL);
        CHECK_EQ(eddy_udp_join(udp, "ff01::1", 0), -EINVAL);
        CHECK_EQ(eddy_udp_join(udp, "group", 0), -EINVAL);
        CHECK_EQ(eddy_udp_join(udp, NULL, 0), -EINVAL);
        CHECK(eddy_udp_join(udp, "239.1.2.3", 1 << 20) < 0);
        CHECK(eddy_udp_leave(udp, "239.1.2.3", 0) < 0);
        eddy_udp_close(udp);
        return 0;
}

TEST(a_group_has_an_address_of_the_sockets_family)
{
        io_run(bad_groups);
}

/* -- shortages, misuse --------------------------------------------------------- */

static int socket_fails(struct ed_sys *sys, int family, int kind)
{
        (void) sys;
        (void) family;
        (void) kind;
        return -EMFILE;
}

static int option_fails(struct ed_sys *sys, int fd, int family, int option, int value)
{
        (void) sys;
        (void) fd;
        (void) family;
        (void) option;
        (void) value;
        return -ENOBUFS;
}

static int fails_to_connect(struct ed_sys *sys, int fd, const struct eddy_endpoint *to)
{
        (void) sys;
        (void) fd;
        (void) to;
        return -ENETUNREACH;
}

static int shortages(void *arg)
{
        struct eddy_udp_opts opts = { .errors = true };
        const struct io_tables real = *io_tables();
        eddy_udp *udp = NULL;

        (void) arg;
        io_fail_allocations(0);
        CHECK_EQ(eddy_udp_bind("127.0.0.1", 0, NULL, &udp), -ENOMEM);
        io_fail_allocations(-1);
        io_tables()->socket.open = socket_fails;
        CHECK_EQ(eddy_udp_bind("127.0.0.1", 0, NULL, &udp), -EMFILE);
        io_tables()->socket.open = real.socket.open;
        io_tables()->datagram.option = option_fails;
        CHECK_EQ(eddy_udp_bind("127.0.0.1", 0, &opts, &udp), -ENOBUFS);
        CHECK_EQ(eddy_udp_bind("127.0.0.1", 0, NULL, &udp), 0);
        eddy_udp_close(udp);
        udp = NULL;
        io_tables()->datagram.option = real.datagram.option;
        io_tables()->socket.connect = fails_to_connect;
        CHECK_EQ(eddy_udp_connect("localhost", 9, NULL, &udp), -ENETUNREACH);
        *io_tables() = real;
        CHECK(udp == NULL);
        CHECK_EQ(eddy_udp_bind("192.0.2.1", 0, NULL, &udp), -EADDRNOTAVAIL);
        return 0;
}

TEST(a_shortage_is_reported_and_leaves_nothing)
{
        io_run(shortages);
}

static int null_calls(void *arg)
{
        struct eddy_udp_message message = { .data = NULL };
        struct eddy_endpoint at = { .kind = EDDY_ENDPOINT_IP, .port = 1 };
        struct eddy_udp_error error;
        char byte;

        (void) arg;
        CHECK_EQ(eddy_udp_send(NULL, "x", 1), -EINVAL);
        CHECK_EQ(eddy_udp_send_to(NULL, "x", 1, &at), -EINVAL);
        CHECK_EQ(eddy_udp_send_batch(NULL, &message, 1), -EINVAL);
        CHECK_EQ(eddy_udp_receive(NULL, &byte, 1), -EINVAL);
        CHECK_EQ(eddy_udp_receive_from(NULL, &byte, 1, NULL), -EINVAL);
        CHECK_EQ(eddy_udp_receive_batch(NULL, &message, 1), -EINVAL);
        CHECK_EQ(eddy_udp_error(NULL, &error), -EINVAL);
        CHECK_EQ(eddy_udp_set_option(NULL, EDDY_UDP_TTL, 1), -EINVAL);
        CHECK_EQ(eddy_udp_option(NULL, EDDY_UDP_TTL), -EINVAL);
        CHECK_EQ(eddy_udp_join(NULL, "239.1.2.3", 0), -EINVAL);
        CHECK_EQ(eddy_udp_leave(NULL, "239.1.2.3", 0), -EINVAL);
        CHECK_EQ(eddy_udp_local(NULL, &at), -EINVAL);
        CHECK_EQ(eddy_udp_peer(NULL, &at), -EINVAL);
        CHECK_EQ(eddy_udp_fd(NULL), -1);
        eddy_udp_close(NULL);
        return 0;
}

TEST(calls_without_a_socket_or_a_run_say_so)
{
        eddy_udp *udp;

        CHECK_EQ(eddy_run(null_calls, NULL, NULL), 0);
        CHECK_EQ(eddy_udp_bind("127.0.0.1", 0, NULL, &udp), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_udp_connect("127.0.0.1", 9, NULL, &udp), EDDY_E_RUN_NOT_RUNNING);
}

SIM_TEST(a_call_that_a_simulation_lacks_is_refused)
{
        struct eddy_udp_opts opts = { .errors = true };
        struct eddy_udp_error error;
        eddy_udp *udp = bind_at("0.0.0.0", NULL), *other;

        CHECK_EQ(eddy_udp_bind("127.0.0.1", 0, &opts, &other), -ENOTSUP);
        CHECK_EQ(eddy_udp_join(udp, "239.1.2.3", 0), -ENOTSUP);
        CHECK_EQ(eddy_udp_error(udp, &error), -ENOTSUP);
        CHECK_EQ(eddy_udp_set_option(udp, EDDY_UDP_TTL, 2), -ENOTSUP);
        CHECK_EQ(eddy_udp_option(udp, EDDY_UDP_TTL), -ENOTSUP);
        eddy_udp_close(udp);
}
