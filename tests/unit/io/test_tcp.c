/*
 * test_tcp.c - listening and accepting: addresses, the backlog, running out
 * of descriptors, cancelling and closing.
 */
#include <errno.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cancel_at.h"
#include "eddy/test.h"
#include "io_test.h"

static eddy_listener *listener;
static uint16_t port;

static void listen_on(const char *address)
{
        CHECK_EQ(eddy_tcp_listen(address, 0, NULL, &listener), 0);
        port = eddy_listener_port(listener);
        CHECK(port != 0);
}

struct accepting {
        eddy_stream *stream;
        int result;
};

static int accept_one(void *arg)
{
        struct accepting *a = arg;

        a->result = eddy_listener_accept(listener, &a->stream);
        return 0;
}

static int addresses(void *arg)
{
        static const char *const bad[] = { "",      "localhost", "127.1",    "127.0.0.1 ",
                                           "[::1]", "::1::",     "1.2.3.4.", "0x7f.0.0.1" };
        eddy_listener *other = NULL;

        for (size_t i = 0; i < ed_array_count(bad); i++) {
                CHECK_EQ(eddy_tcp_listen(bad[i], 0, NULL, &other), -EINVAL);
                CHECK(!other);
        }
        listen_on("127.0.0.1");
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", port, NULL, &other), -EADDRINUSE);
        CHECK_EQ(eddy_tcp_listen("192.0.2.1", 0, NULL, &other), -EADDRNOTAVAIL);
        CHECK(!other);
        eddy_listener_close(listener);
        eddy_listener_close(NULL);
        return 0;
}

TEST(listening_takes_addresses_only)
{
        io_run(addresses);
}

static int both_families(void *arg)
{
        static const char *const lists[][2] = {
                { "127.0.0.1", "127.0.0.1" },
                { "0.0.0.0", "127.0.0.1" },
                { "::1", "::1" },
                { "::", "::1" },
        };

        for (size_t i = 0; i < ed_array_count(lists); i++) {
                struct accepting a = { NULL, 1 };
                eddy_stream *stream;
                char buf[4];

                if (i == 2 && !io_has_ipv6())
                        break;
                listen_on(lists[i][0]);
                CHECK_EQ(eddy_tcp_connect(lists[i][1], port, NULL, &stream), 0);
                accept_one(&a);
                CHECK_EQ(a.result, 0);
                /* A135: what was accepted lives on without the listener. */
                eddy_listener_close(listener);
                CHECK_EQ(eddy_stream_write(stream, "hi", 2), 0);
                CHECK_EQ(eddy_stream_read(a.stream, buf, 4), 2);
                eddy_stream_close(stream);
                eddy_stream_close(a.stream);
        }
        return 0;
}

TEST(ipv4_and_ipv6_are_accepted_and_outlive_the_listener)
{
        io_run(both_families);
}

/* Connects a socket with a small receive buffer. Returns its descriptor. */
static int connect_small(void)
{
        struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), bytes = 4096;

        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        CHECK(fd >= 0);
        CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)), 0);
        CHECK_EQ(connect(fd, (struct sockaddr *) &to, sizeof(to)), 0);
        return fd;
}

static int unread(void *arg)
{
        static const char piece[64 << 10];
        const struct eddy_slice slice = { piece, sizeof(piece) };
        eddy_stream *stream;
        int64_t n, taken = 0;
        int fd;

        listen_on("127.0.0.1");
        fd = connect_small();
        CHECK_EQ(eddy_listener_accept(listener, &stream), 0);
        while ((n = eddy_stream_try_writev(stream, &slice, 1)) > 0)
                taken += n;
        CHECK_EQ(n, -EAGAIN);
        CHECK(taken >= 128 << 10);
        CHECK(taken <= 320 << 10);
        close(fd);
        eddy_stream_close(stream);
        eddy_listener_close(listener);
        return 0;
}

/* Without a limit a kernel takes megabytes for each peer, for a thousand slow readers gigabytes. */
TEST(kernel_keeps_little_for_a_peer_that_does_not_read)
{
        io_run(unread);
}

static int waiting(void *arg)
{
        struct accepting a = { NULL, 1 };
        eddy_stream *stream;
        eddy_scope scope;

        listen_on("127.0.0.1");
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, accept_one, &a);
        io_settle();
        CHECK_EQ(a.result, 1);
        CHECK_EQ(eddy_listener_accept(listener, &stream), -EBUSY);
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", port, NULL, &stream), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(a.result, 0);
        eddy_stream_close(stream);
        eddy_stream_close(a.stream);
        eddy_listener_close(listener);
        return 0;
}

TEST(accept_waits_and_is_for_one_task_at_a_time)
{
        io_run(waiting);
}

/* A134: one event may stand for many connections. */
static int backlog(void *arg)
{
        enum { N = 20 };
        eddy_stream *streams[N], *accepted[N];

        listen_on("127.0.0.1");
        for (int i = 0; i < N; i++)
                CHECK_EQ(eddy_tcp_connect("127.0.0.1", port, NULL, &streams[i]), 0);
        for (int i = 0; i < N; i++)
                CHECK_EQ(eddy_listener_accept(listener, &accepted[i]), 0);
        for (int i = 0; i < N; i++) {
                eddy_stream_close(streams[i]);
                eddy_stream_close(accepted[i]);
        }
        eddy_listener_close(listener);
        return 0;
}

TEST(the_backlog_is_drained)
{
        io_run(backlog);
}

/* -- cancelling ------------------------------------------------------------- */

static int accept_call(void *arg)
{
        struct accepting *a = arg;

        return a->result = eddy_listener_accept(listener, &a->stream);
}

static int connect_without_the_loop(void)
{
        struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        CHECK_EQ(connect(fd, (struct sockaddr *) &address, sizeof(address)), 0);
        return fd;
}

/* A137: a connection is delivered or stays where it was. */
static int cancelled(void *arg)
{
        struct accepting a = { NULL, 1 };
        eddy_stream *stream;
        bool reached;
        int fd;

        listen_on("127.0.0.1");
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", port, NULL, &stream), 0);
        CHECK_EQ(cancel_at(0, accept_call, &a, &reached), -ECANCELED);
        CHECK(!a.stream);
        CHECK_EQ(cancel_at(1, accept_call, &a, &reached), 0);
        CHECK(!reached);
        eddy_stream_close(a.stream);
        eddy_stream_close(stream);
        a.stream = NULL;
        CHECK_EQ(cancel_at(1, accept_call, &a, &reached), -ECANCELED);
        CHECK(reached && !a.stream);
        /* The event and the cancel in one turn: it stays in the backlog. */
        fd = connect_without_the_loop();
        CHECK_EQ(cancel_at(1, accept_call, &a, &reached), -ECANCELED);
        CHECK(reached && !a.stream);
        CHECK_EQ(accept_call(&a), 0);
        eddy_stream_close(a.stream);
        close(fd);
        eddy_listener_close(listener);
        return 0;
}

TEST(a_cancelled_accept_loses_no_connection)
{
        io_run(cancelled);
}

static int expired(void *arg)
{
        struct accepting a = { NULL, 1 };

        listen_on("127.0.0.1");
        CHECK_EQ(eddy_call_timeout(accept_call, &a, EDDY_MS(5)), -ETIMEDOUT);
        CHECK_EQ(a.result, -ECANCELED);
        eddy_listener_close(listener);
        return 0;
}

TEST(a_deadline_ends_an_accept)
{
        io_run(expired);
}

static int closed(void *arg)
{
        struct accepting a = { NULL, 1 };
        eddy_scope scope;

        listen_on("127.0.0.1");
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, accept_one, &a);
        io_settle();
        eddy_listener_close(listener);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(a.result, -ECANCELED);
        return 0;
}

TEST(closing_the_listener_wakes_accept)
{
        io_run(closed);
}

/* -- failing ---------------------------------------------------------------- */

static struct {
        const int *errors; /* for each call; 0 ends them */
        int calls;
        int (*accept)(struct ed_sys *, int);
} script;

static int scripted_accept(struct ed_sys *sys, int fd)
{
        int err = *script.errors;

        script.calls++;
        if (err == 0)
                return script.accept(sys, fd);
        script.errors++;
        return err;
}

static void use_script(const int *errors)
{
        struct io_tables *tables = io_tables();

        if (tables->socket.accept != scripted_accept)
                script.accept = tables->socket.accept;
        tables->socket.accept = scripted_accept;
        script.errors = errors;
        script.calls = 0;
}

static int aborted(void *arg)
{
        static const int errors[] = { -ECONNABORTED, -EPROTO,       -ENETDOWN,
                                      -EHOSTUNREACH, -ECONNABORTED, 0 };
        static const int bad[] = { -EOPNOTSUPP, 0 };
        struct accepting a = { NULL, 1 };
        eddy_stream *stream;

        listen_on("127.0.0.1");
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", port, NULL, &stream), 0);
        use_script(errors);
        CHECK_EQ(accept_call(&a), 0);
        CHECK_EQ(script.calls, 6);
        eddy_stream_close(a.stream);
        eddy_stream_close(stream);
        /* Errors that belong to no connection are reported. */
        use_script(bad);
        CHECK_EQ(accept_call(&a), -EOPNOTSUPP);
        eddy_listener_close(listener);
        return 0;
}

/* A134: aborted connections are skipped. */
TEST(accept_skips_connections_that_were_aborted)
{
        io_run(aborted);
}

static int no_room(void *arg)
{
        static const int errors[] = { -EMFILE, -ENFILE, -ENOBUFS, -ENOMEM, -EMFILE,
                                      -EMFILE, -EMFILE, -EMFILE,  0 };
        struct accepting a = { NULL, 1 };
        eddy_stream *streams[2];
        eddy_scope scope;
        bool reached;

        listen_on("127.0.0.1");
        /* After this the listener's events are heard. */
        CHECK_EQ(cancel_at(1, accept_call, &a, &reached), -ECANCELED);
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", port, NULL, &streams[0]), 0);
        use_script(errors);
        io_clock_advance(0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, accept_one, &a);
        for (int i = 1; i <= 4; i++) {
                io_settle();
                CHECK_EQ(script.calls, i); /* a second has to pass first */
                /* Another connection does not shorten it. */
                if (i == 1)
                        CHECK_EQ(eddy_tcp_connect("127.0.0.1", port, NULL, &streams[1]), 0);
                io_clock_advance(EDDY_SEC(1));
        }
        io_settle();
        CHECK_EQ(script.calls, 5);
        /* Cancelled, and closed, while it waits for that second. */
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        CHECK_EQ(a.result, -ECANCELED);
        CHECK_EQ(cancel_at(1, accept_call, &a, &reached), -ECANCELED);
        CHECK(reached);
        io_clock_advance(EDDY_SEC(1)); /* nothing of those waits is left */
        io_settle();
        CHECK_EQ(script.calls, 6);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, accept_one, &a);
        io_settle();
        CHECK_EQ(script.calls, 7);
        /* The second passes in the turn of the cancel. */
        cancel_soon(&scope);
        io_clock_advance(EDDY_SEC(1));
        (void) eddy_scope_end(&scope);
        CHECK_EQ(a.result, -ECANCELED);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, accept_one, &a);
        io_settle();
        CHECK_EQ(script.calls, 8);
        eddy_listener_close(listener);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(a.result, -ECANCELED);
        eddy_stream_close(streams[0]);
        eddy_stream_close(streams[1]);
        return 0;
}

TEST(without_room_accept_waits_a_second_and_can_be_cancelled)
{
        io_run(no_room);
}

static struct {
        int count;
        int error;
        char text[300];
} reports;

static void on_report(const struct eddy_report *report, void *arg)
{
        (void) arg;
        if (report->kind != EDDY_REPORT_ACCEPT)
                return;
        reports.count++;
        reports.error = report->error;
        snprintf(reports.text, sizeof(reports.text), "%s", report->text);
}

/* Accept a connection after 'n' tries that fail for 'error', a second apart. */
static void accept_after(int n, int error)
{
        static int errors[1001];
        struct accepting a = { NULL, 1 };
        int64_t before_ns = eddy_now();
        eddy_stream *stream;

        for (int i = 0; i < n; i++)
                errors[i] = error;
        errors[n] = 0;
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", port, NULL, &stream), 0);
        use_script(errors);
        CHECK_EQ(accept_call(&a), 0);
        CHECK_EQ(eddy_now() - before_ns, n * EDDY_SEC(1));
        eddy_stream_close(a.stream);
        eddy_stream_close(stream);
}

static int episodes(void *arg)
{
        (void) arg;
        listen_on("127.0.0.1");
        accept_after(1000, -EMFILE);
        CHECK_EQ(reports.count, 1);
        CHECK_EQ(reports.error, -EMFILE);
        CHECK(strstr(reports.text, "ulimit -n"));
        /* Connections that were taken in between do not end it; a minute without a failure does. */
        accept_after(0, 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(58)), 0);
        accept_after(5, -ENOMEM);
        CHECK_EQ(reports.count, 1);
        CHECK_EQ(eddy_sleep(EDDY_SEC(61)), 0);
        accept_after(5, -ENOMEM);
        CHECK_EQ(reports.count, 2);
        CHECK_EQ(reports.error, -ENOMEM);
        CHECK(strstr(reports.text, "memory"));
        eddy_listener_close(listener);
        return 0;
}

/* A134: a shortage is reported, and once. */
TEST(shortage_is_reported_once_per_episode)
{
        struct eddy_run_opts run = { .report = on_report,
                                     .flags = EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG };
        struct eddy_test_opts opts = { .run = &run };

        CHECK_EQ(eddy_test_run(episodes, NULL, &opts, NULL), 0);
}

static struct {
        int failures;
        int (*watch)(struct ed_sys *sys, int fd, struct ed_target *target);
} watches;

static int scripted_watch(struct ed_sys *sys, int fd, struct ed_target *target)
{
        return watches.failures-- > 0 ? -ENOSPC : watches.watch(sys, fd, target);
}

static int not_watched(void *arg)
{
        struct accepting a = { NULL, 1 };
        eddy_stream *stream;
        eddy_scope scope;

        (void) arg;
        listen_on("127.0.0.1");
        watches.watch = io_tables()->poll.watch;
        watches.failures = 3;
        io_tables()->poll.watch = scripted_watch;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, accept_one, &a);
        CHECK_EQ(eddy_sleep(EDDY_SEC(4)), 0);
        CHECK_EQ(watches.failures, -1);
        CHECK_EQ(a.result, 1);
        CHECK_EQ(reports.count, 1);
        CHECK_EQ(reports.error, -ENOSPC);
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", port, NULL, &stream), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(a.result, 0);
        eddy_stream_close(a.stream);
        eddy_stream_close(stream);
        eddy_listener_close(listener);
        return 0;
}

TEST(listener_that_cannot_be_watched_is_tried_again)
{
        struct eddy_run_opts run = { .report = on_report,
                                     .flags = EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG };
        struct eddy_test_opts opts = { .run = &run };

        CHECK_EQ(eddy_test_run(not_watched, NULL, &opts, NULL), 0);
}

static int out_of_descriptors(void *arg)
{
        struct rlimit limit, tight;
        struct accepting a = { NULL, 1 };
        eddy_stream *stream;
        eddy_scope scope;
        int highest;

        listen_on("127.0.0.1");
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", port, NULL, &stream), 0);
        CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
        highest = ed_loop_current->sys->socket->open(ed_loop_current->sys, AF_INET, 1);
        ed_loop_current->sys->socket->close(ed_loop_current->sys, highest);
        tight = limit;
        tight.rlim_cur = (rlim_t) highest;
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
        io_clock_advance(0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, accept_one, &a);
        io_settle();
        CHECK_EQ(a.result, 1);
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
        io_clock_advance(EDDY_SEC(1));
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(a.result, 0);
        eddy_stream_close(a.stream);
        eddy_stream_close(stream);
        eddy_listener_close(listener);
        return 0;
}

/* A134: out of descriptors it waits; the connection is not lost. */
TEST(accept_goes_on_when_there_are_descriptors_again)
{
        const char *preloaded = getenv("LD_PRELOAD");

        if (preloaded && strstr(preloaded, "vgpreload"))
                test_skip("Valgrind closes what is accepted above the limit");
        io_run(out_of_descriptors);
}

static int no_memory(void *arg)
{
        eddy_listener *none = NULL;
        struct accepting a = { NULL, 1 };
        eddy_stream *stream;
        eddy_scope scope;

        io_fail_allocations(0);
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &none), -ENOMEM);
        io_fail_allocations(-1);
        CHECK(!none);
        listen_on("127.0.0.1");
        io_fail_allocations(0);
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", port, NULL, &stream), -ENOMEM);
        io_fail_allocations(-1);
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", port, NULL, &stream), 0);
        io_clock_advance(0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, accept_one, &a);
        io_fail_allocations(0);
        io_settle();
        io_fail_allocations(-1);
        CHECK_EQ(a.result, 1);
        io_clock_advance(EDDY_SEC(1));
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(a.result, 0);
        eddy_stream_close(a.stream);
        eddy_stream_close(stream);
        eddy_listener_close(listener);
        return 0;
}

TEST(without_memory_nothing_is_lost)
{
        io_run(no_memory);
}
