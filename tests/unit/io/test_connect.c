/*
 * test_connect.c - connecting: the race of addresses, its order and its
 * timing, what is left of it after a win, a failure and a cancel.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cancel_at.h"
#include "io_test.h"

/* -- sockets of the test's own ------------------------------------------------ */

/* A listening socket with no room left: who connects to it waits. */
struct full {
        int listening;
        int filling[4];
        uint16_t port;
};

static socklen_t loopback(int family, uint16_t port, struct sockaddr_storage *ret)
{
        memset(ret, 0, sizeof(*ret));
        if (family == AF_INET6) {
                struct sockaddr_in6 *in6 = (struct sockaddr_in6 *) ret;

                in6->sin6_family = AF_INET6;
                in6->sin6_port = htons(port);
                in6->sin6_addr = in6addr_loopback;
                return sizeof(*in6);
        } else {
                struct sockaddr_in *in = (struct sockaddr_in *) ret;

                in->sin_family = AF_INET;
                in->sin_port = htons(port);
                in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
                return sizeof(*in);
        }
}

static int bound(int family, uint16_t port)
{
        struct sockaddr_storage address;
        socklen_t bytes = loopback(family, port, &address);
        int one = 1, fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        CHECK(fd >= 0);
        if (family == AF_INET6)
                CHECK_EQ(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one)), 0);
        if (bind(fd, (struct sockaddr *) &address, bytes) == 0)
                return fd;
        close(fd);
        return -1;
}

static uint16_t port_of(int fd)
{
        struct sockaddr_storage address;
        socklen_t bytes = sizeof(address);

        CHECK_EQ(getsockname(fd, (struct sockaddr *) &address, &bytes), 0);
        return ntohs(((struct sockaddr_in *) &address)->sin_port);
}

static void full_open(struct full *full, int family)
{
        struct sockaddr_storage address;
        socklen_t bytes;

        full->listening = bound(family, 0);
        CHECK(full->listening >= 0);
        full->port = port_of(full->listening);
        CHECK_EQ(listen(full->listening, 0), 0);
        bytes = loopback(family, full->port, &address);
        for (int i = 0; i < 4; i++) {
                full->filling[i] = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
                (void) !connect(full->filling[i], (struct sockaddr *) &address, bytes);
        }
}

static void full_close(struct full *full)
{
        for (int i = 0; i < 4; i++)
                close(full->filling[i]);
        close(full->listening);
}

/* A port that is free in both families, listened on in IPv4 only. */
static uint16_t listen_v4_only(eddy_listener **ret_listener)
{
        for (;;) {
                uint16_t port;
                int fd;

                CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, ret_listener), 0);
                port = eddy_listener_port(*ret_listener);
                if (!io_has_ipv6())
                        return port;
                fd = bound(AF_INET6, port);
                if (fd >= 0) {
                        close(fd);
                        return port;
                }
                eddy_listener_close(*ret_listener);
        }
}

struct connecting {
        const char *host;
        uint16_t port;
        eddy_stream *stream;
        int result;
};

static int connect_call(void *arg)
{
        struct connecting *c = arg;

        return c->result = eddy_tcp_connect(c->host, c->port, NULL, &c->stream);
}

/* -- one address -------------------------------------------------------------- */

static int refused(void *arg)
{
        int fd = bound(AF_INET, 0); /* bound and not listening: refused for sure */
        struct connecting c = { "127.0.0.1", port_of(fd), NULL, 1 };

        CHECK_EQ(connect_call(&c), -ECONNREFUSED);
        CHECK(!c.stream);
        close(fd);
        return 0;
}

TEST(a_refused_connection_says_so)
{
        io_run(refused);
}

static int blackhole(void *arg)
{
        struct connecting c = { .host = "127.0.0.1", .result = 1 };
        struct full full;
        bool reached;

        full_open(&full, AF_INET);
        c.port = full.port;
        CHECK_EQ(cancel_at(0, connect_call, &c, &reached), -ECANCELED);
        CHECK_EQ(cancel_at(1, connect_call, &c, &reached), -ECANCELED);
        CHECK(reached);
        CHECK_EQ(eddy_call_timeout(connect_call, &c, EDDY_MS(20)), -ETIMEDOUT);
        CHECK_EQ(c.result, -ECANCELED);
        CHECK(!c.stream);
        full_close(&full);
        return 0;
}

/* A138: no descriptor is left over; io_run() counts them. */
TEST(a_connect_that_hangs_can_be_cancelled)
{
        io_run(blackhole);
}

static int sockets_opened;
static int (*real_socket)(struct ed_sys *sys, int family, int kind);

static int counting_socket(struct ed_sys *sys, int family, int kind)
{
        sockets_opened++;
        return real_socket(sys, family, kind);
}

static int cancelled(void *arg)
{
        eddy_listener *listener;
        struct connecting c = { .host = "127.0.0.1", .result = 1 };
        bool reached;

        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        c.port = eddy_listener_port(listener);
        real_socket = io_tables()->socket.open;
        io_tables()->socket.open = counting_socket;
        CHECK_EQ(cancel_at(0, connect_call, &c, &reached), -ECANCELED);
        CHECK_EQ(sockets_opened, 0); /* it does nothing at all */
        /* Connected and cancelled in one turn: readiness is no result. */
        CHECK_EQ(cancel_at(1, connect_call, &c, &reached), -ECANCELED);
        CHECK(reached);
        CHECK_EQ(sockets_opened, 1);
        CHECK(!c.stream);
        CHECK_EQ(cancel_at(2, connect_call, &c, &reached), 0);
        CHECK(!reached); /* a single address has one wait */
        eddy_stream_close(c.stream);
        eddy_listener_close(listener);
        return 0;
}

/* A137, A138: cancelled before it began and in the turn in which it connected. */
TEST(a_cancelled_connect_leaves_nothing)
{
        io_run(cancelled);
}

static int port_asked;

static int same_port(struct ed_sys *sys, int fd, enum eddy_stream_end end,
                     struct eddy_endpoint *ret_endpoint)
{
        *ret_endpoint =
                (struct eddy_endpoint){ .kind = EDDY_ENDPOINT_IP, .port = (uint16_t) port_asked };
        return 0;
}

static int own_echo(void *arg)
{
        eddy_listener *listener;
        struct connecting c = { .host = "127.0.0.1", .result = 1 };

        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        c.port = eddy_listener_port(listener);
        port_asked = c.port;
        io_tables()->socket.endpoint = same_port;
        CHECK_EQ(connect_call(&c), -ECONNREFUSED);
        CHECK(!c.stream);
        eddy_listener_close(listener);
        return 0;
}

TEST(a_socket_that_was_connected_to_itself_counts_as_refused)
{
        io_run(own_echo);
}

static int timed_out(struct ed_sys *sys, int fd)
{
        return -ETIMEDOUT;
}

static int kernel_timeout(void *arg)
{
        eddy_listener *listener;
        struct connecting c = { .host = "127.0.0.1", .result = 1 };

        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        c.port = eddy_listener_port(listener);
        io_tables()->socket.connect_result = timed_out;
        CHECK_EQ(connect_call(&c), EDDY_E_NET_TIMED_OUT);
        eddy_listener_close(listener);
        return 0;
}

TEST(a_timeout_of_the_kernel_has_a_code_of_its_own)
{
        io_run(kernel_timeout);
}

static int no_descriptors(struct ed_sys *sys, int family, int kind)
{
        return -EMFILE;
}

static int without_sockets(void *arg)
{
        struct connecting c = { .host = "localhost", .port = 1, .result = 1 };

        io_tables()->socket.open = no_descriptors;
        CHECK_EQ(connect_call(&c), -EMFILE);
        c.host = "no such name";
        CHECK_EQ(connect_call(&c), EDDY_E_DNS_BAD_NAME);
        c.host = "nowhere.invalid";
        CHECK_EQ(connect_call(&c), EDDY_E_DNS_NOT_FOUND);
        CHECK(!c.stream);
        return 0;
}

TEST(a_connect_that_cannot_begin_says_why)
{
        io_run(without_sockets);
}

/* -- the race ------------------------------------------------------------------ */

static int fall_back(void *arg)
{
        eddy_listener *listener;
        struct connecting c = { .host = "localhost", .result = 1 };
        eddy_stream *accepted;
        int64_t start;

        c.port = listen_v4_only(&listener);
        io_clock_advance(0);
        start = eddy_now();
        CHECK_EQ(connect_call(&c), 0);
        CHECK_EQ(eddy_now(), start); /* a failure does not wait for the stagger */
        CHECK_EQ(eddy_listener_accept(listener, &accepted), 0);
        CHECK_EQ(eddy_stream_write(c.stream, "x", 1), 0);
        io_clock_advance(EDDY_MS(300)); /* no timer of the race is left */
        io_settle();
        eddy_stream_close(c.stream);
        eddy_stream_close(accepted);
        eddy_listener_close(listener);
        return 0;
}

/* A136: ::1 refuses, 127.0.0.1 answers. */
TEST(a_refused_address_hands_over_to_the_next_at_once)
{
        io_run(fall_back);
}

static int staggered(void *arg)
{
        struct connecting c = { .host = "localhost", .result = 1 };
        eddy_listener *listener = NULL;
        struct full full;
        int64_t start, took;
        int fds;

        for (;;) {
                full_open(&full, AF_INET6);
                if (eddy_tcp_listen("127.0.0.1", full.port, NULL, &listener) == 0)
                        break;
                full_close(&full);
        }
        c.port = full.port;
        fds = io_open_fds();
        io_clock_advance(0);
        start = eddy_now();
        CHECK_EQ(connect_call(&c), 0);
        took = eddy_now() - start;
        CHECK(took >= EDDY_MS(250));
        CHECK(took < EDDY_MS(251));
        CHECK_EQ(io_open_fds(), fds + 1); /* the loser is closed */
        eddy_stream_close(c.stream);

        /* Cancelled at each of its waits: the first attempt; both. */
        for (int n = 1; n <= 2; n++) {
                bool reached;

                c.stream = NULL;
                CHECK_EQ(cancel_at(n, connect_call, &c, &reached), -ECANCELED);
                CHECK(reached && !c.stream);
                CHECK_EQ(io_open_fds(), fds);
        }
        eddy_listener_close(listener);
        full_close(&full);
        return 0;
}

/* A136: the race is staggered, its losers are closed. */
TEST(a_silent_address_is_given_a_quarter_of_a_second)
{
        if (!io_has_ipv6())
                test_skip("there is no IPv6 here");
        io_run(staggered);
}

/* -- order, with a table that knows names ---------------------------------------- */

static struct {
        struct eddy_address list[EDDY_DNS_ADDRESSES_MAX];
        int n;
        const int *results; /* of the connects in turn; the last goes on for ever */
        int results_n;
        struct eddy_address tried[64];
        int64_t at_ns[64];
        int tries;
} net;

static int know(struct ed_sys *sys, const char *name, struct eddy_address *ret, size_t max)
{
        memcpy(ret, net.list, (size_t) net.n * sizeof(*ret));
        return net.n;
}

static int try(struct ed_sys *sys, int fd, const struct eddy_endpoint *to)
{
        int i = net.tries++;

        net.tried[i] = to->address;
        net.at_ns[i] = eddy_now();
        return net.results[i < net.results_n ? i : net.results_n - 1];
}

/* For addresses of either family, which are not really connected to. */
static int socket_of_any(struct ed_sys *sys, int family, int kind)
{
        return real_socket(sys, AF_INET, kind);
}

static void use_net(void)
{
        real_socket = io_tables()->socket.open;
        io_tables()->socket.open = socket_of_any;
        ed_loop_current->sys->lookup = know;
        io_tables()->socket.connect = try;
}

static void add(const char *text)
{
        struct eddy_address *address = &net.list[net.n++];

        memset(address, 0, sizeof(*address));
        address->family = strchr(text, ':') ? AF_INET6 : AF_INET;
        CHECK_EQ(inet_pton(address->family, text, address->bytes), 1);
}

static const char *tried(int i, char *buf)
{
        return inet_ntop(net.tried[i].family, net.tried[i].bytes, buf, INET6_ADDRSTRLEN);
}

static int ordered(void *arg)
{
        static const int results[] = { -EHOSTUNREACH, -ENETUNREACH, -ENETUNREACH, -ENETUNREACH,
                                       -ECONNREFUSED };
        static const char *const expected[] = { "2001:db8::1", "192.0.2.1", "2001:db8::2",
                                                "192.0.2.2", "192.0.2.3" };
        struct connecting c = { .host = "many.test", .port = 1, .result = 1 };
        char buf[INET6_ADDRSTRLEN];

        add("192.0.2.1");
        add("192.0.2.2");
        add("2001:db8::1");
        add("192.0.2.3");
        add("2001:db8::2");
        use_net();
        net.results = results;
        net.results_n = ed_array_count(results);
        CHECK_EQ(connect_call(&c), -ECONNREFUSED); /* of the last */
        CHECK_EQ(net.tries, 5);
        for (int i = 0; i < 5; i++)
                CHECK_STR(tried(i, buf), expected[i]);
        return 0;
}

/* A136: as RFC 8305, 4 has it: IPv6 first, families in turn; if all fail, the last error is returned. */
TEST(addresses_are_tried_ipv6_first_and_in_turn)
{
        io_run(ordered);
}

static int deaf_watch(struct ed_sys *sys, int fd, struct ed_target *target)
{
        return 0;
}

static int paced(void *arg)
{
        static const int results[] = { -EINPROGRESS };
        struct connecting c = { .host = "many.test", .port = 1, .result = 1 };
        eddy_scope scope;

        for (int i = 1; i <= EDDY_DNS_ADDRESSES_MAX; i++) {
                char text[32];

                snprintf(text, sizeof(text), "192.0.2.%d", i);
                add(text);
        }
        use_net();
        io_tables()->poll.watch = deaf_watch;
        net.results = results;
        net.results_n = ed_array_count(results);
        io_clock_advance(0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, connect_call, &c);
        CHECK_EQ(eddy_sleep(0), 0);
        for (int i = 1; i <= EDDY_DNS_ADDRESSES_MAX; i++) {
                CHECK_EQ(net.tries, i);
                io_clock_advance(EDDY_MS(240));
                CHECK_EQ(eddy_sleep(EDDY_US(10)), 0);
                CHECK_EQ(net.tries, i);
                io_clock_advance(EDDY_MS(10));
                CHECK_EQ(eddy_sleep(EDDY_US(10)), 0);
        }
        CHECK_EQ(net.tries, EDDY_DNS_ADDRESSES_MAX);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        CHECK_EQ(c.result, -ECANCELED);
        return 0;
}

TEST(each_attempt_gets_its_time_before_the_next_begins)
{
        io_run(paced);
}

static int handed_over(void *arg)
{
        static const int results[] = { -EINPROGRESS, -ECONNREFUSED, -EINPROGRESS };
        struct connecting c = { .host = "many.test", .port = 1, .result = 1 };
        eddy_scope scope;

        add("2001:db8::1");
        add("192.0.2.1");
        add("2001:db8::2");
        add("192.0.2.2");
        use_net();
        io_tables()->poll.watch = deaf_watch;
        net.results = results;
        net.results_n = ed_array_count(results);
        io_clock_advance(0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, connect_call, &c);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(net.tries, 1);
        io_clock_advance(EDDY_MS(250));
        CHECK_EQ(eddy_sleep(EDDY_US(10)), 0);
        CHECK_EQ(net.tries, 3); /* the second failed at once, so the third has begun */
        /* The fourth falls due in the turn of the cancel. */
        cancel_soon(&scope);
        io_clock_advance(EDDY_MS(250));
        (void) eddy_scope_end(&scope);
        CHECK_EQ(net.tries, 3);
        CHECK_EQ(c.result, -ECANCELED);
        return 0;
}

/* A136, A138: a failure starts the next at once; a cancel ends all that are under way. */
TEST(a_failure_brings_the_next_attempt_forward)
{
        io_run(handed_over);
}

/* -- memory ----------------------------------------------------------------------- */

static int no_memory(void *arg)
{
        eddy_listener *listener;
        struct connecting c = { .host = "localhost", .result = 1 };
        int failures = 0;

        c.port = listen_v4_only(&listener);
        for (int n = 0;; n++) {
                int result;

                io_fail_allocations(n);
                result = connect_call(&c);
                io_fail_allocations(-1);
                if (result == 0)
                        break;
                CHECK_EQ(result, -ENOMEM);
                CHECK(!c.stream);
                failures++;
        }
        CHECK(failures >= 2); /* a stream for each address */
        eddy_stream_close(c.stream);
        eddy_listener_close(listener);
        return 0;
}

/* A138: nor when the stream that the connection is for cannot be made. */
TEST(every_allocation_of_a_connect_may_fail)
{
        io_run(no_memory);
}
