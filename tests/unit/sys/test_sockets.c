/*
 * test_sockets.c - sockets of the table: each case runs on the kernel and on
 * the simulation, which must not be distinguishable.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "at.h"
#include "sim/sim.h"
#include "sys/sys.h"
#include "test.h"

struct seen {
        struct ed_target target;
        unsigned events; /* since last asked */
        int times;
};

struct world {
        struct ed_sys *sys;
        int listener, client, server;
        uint16_t port;
        struct seen seen_listener, seen_client, seen_server;
};

static const struct eddy_address loopback = { .family = AF_INET, .bytes = { 127, 0, 0, 1 } };

static void on_events(struct ed_target *target, unsigned events)
{
        struct seen *seen = (struct seen *) target;

        seen->events |= events;
        seen->times++;
}

static void poll_once(struct world *w, int64_t timeout_ns)
{
        struct ed_event events[ED_EVENTS_MAX];
        int n = w->sys->poll->poll(w->sys, timeout_ns, events, ED_EVENTS_MAX);

        for (int i = 0; i < n; i++)
                events[i].target->on_events(events[i].target, events[i].events);
}

/* Let all that is due happen. */
static void settle(struct world *w)
{
        for (int i = 0; i < 5; i++)
                poll_once(w, 1000000);
}

/* Poll until 'seen' has those events, and forget them; at most two seconds. */
static void expect(struct world *w, struct seen *seen, unsigned events)
{
        for (int i = 0; i < 200 && (seen->events & events) != events; i++)
                poll_once(w, 10000000);
        CHECK_EQ(seen->events & events, events);
        seen->events = 0;
}

static void watch(struct world *w, int fd, struct seen *seen)
{
        *seen = (struct seen){ .target = { on_events } };
        CHECK_EQ(w->sys->poll->watch(w->sys, fd, &seen->target), 0);
}

static int new_socket(struct world *w)
{
        int fd = w->sys->socket->open(w->sys, AF_INET, ED_SOCKET_STREAM);

        CHECK(fd >= 0);
        return fd;
}

static void listen_somewhere(struct world *w)
{
        w->listener = w->sys->socket->open(w->sys, AF_INET, ED_SOCKET_LISTENER);
        CHECK(w->listener >= 0);
        CHECK_EQ(listen_at(w->sys, w->listener, AT(&loopback, 0)), 0);
        w->port = (uint16_t) port_of(w->sys, w->listener);
        CHECK(w->port > 0);
        watch(w, w->listener, &w->seen_listener);
}

static void connect_client(struct world *w)
{
        w->client = new_socket(w);
        CHECK_EQ(w->sys->socket->connect(w->sys, w->client, AT(&loopback, w->port)), -EINPROGRESS);
        watch(w, w->client, &w->seen_client);
}

/* A client and a server's end, connected and watched, with no event left. */
static void connect_pair(struct world *w)
{
        listen_somewhere(w);
        connect_client(w);
        expect(w, &w->seen_client, ED_EVENT_WRITE);
        CHECK_EQ(w->sys->socket->connect_result(w->sys, w->client), 0);
        expect(w, &w->seen_listener, ED_EVENT_READ);
        w->server = w->sys->socket->accept(w->sys, w->listener);
        CHECK(w->server >= 0);
        watch(w, w->server, &w->seen_server);
        expect(w, &w->seen_server, ED_EVENT_WRITE);
        settle(w);
        w->seen_client.events = w->seen_server.events = w->seen_listener.events = 0;
}

static int64_t send_text(struct world *w, int fd, const char *text)
{
        struct eddy_slice slice = { text, strlen(text) };

        return w->sys->socket->send(w->sys, fd, &slice, 1);
}

static int64_t recv_some(struct world *w, int fd)
{
        char buf[1024];

        return w->sys->socket->recv(w->sys, fd, buf, sizeof(buf));
}

/* Fails unless the next bytes there are 'text'. */
static void expect_text(struct world *w, int fd, const char *text)
{
        char buf[256] = "";

        CHECK_EQ(w->sys->socket->recv(w->sys, fd, buf, sizeof(buf) - 1), strlen(text));
        CHECK_STR(buf, text);
}

static void run_on_epoll(void (*fn)(struct world *w))
{
        struct world w = { .client = -1, .server = -1, .listener = -1 };

        CHECK_EQ(ed_sys_epoll_new(&w.sys), 0);
        fn(&w);
        w.sys->free(w.sys);
}

static void run_on_sim(void (*fn)(struct world *w))
{
        struct world w = { .client = -1, .server = -1, .listener = -1 };
        struct ed_sim_opts opts = { 0 };

        CHECK_EQ(ed_sim_new(&opts, &w.sys), 0);
        fn(&w);
        w.sys->free(w.sys);
}

/* Two cases: one on the kernel, one on the simulation. */
#define BOTH(claim)                                                                                \
        static void claim(struct world *w);                                                        \
        TEST(epoll_##claim)                                                                        \
        {                                                                                          \
                run_on_epoll(claim);                                                               \
        }                                                                                          \
        TEST(sim_##claim)                                                                          \
        {                                                                                          \
                run_on_sim(claim);                                                                 \
        }                                                                                          \
        static void claim(struct world *w)

BOTH(a_connect_is_under_way_first_and_writable_when_done)
{
        listen_somewhere(w);
        connect_client(w);
        expect(w, &w->seen_client, ED_EVENT_WRITE);
        CHECK_EQ(w->sys->socket->connect_result(w->sys, w->client), 0);
        CHECK_EQ(w->sys->socket->connect_result(w->sys, w->client), 0);
}

BOTH(a_refused_connect_is_reported_once)
{
        listen_somewhere(w);
        w->sys->socket->close(w->sys, w->listener);
        connect_client(w);
        expect(w, &w->seen_client, ED_EVENT_READ | ED_EVENT_WRITE | ED_EVENT_END);
        CHECK_EQ(w->sys->socket->connect_result(w->sys, w->client), -ECONNREFUSED);
        CHECK_EQ(w->sys->socket->connect_result(w->sys, w->client), -EINPROGRESS);
}

BOTH(connections_are_accepted_in_the_order_made)
{
        int clients[3];

        listen_somewhere(w);
        for (int i = 0; i < 3; i++) {
                connect_client(w);
                expect(w, &w->seen_client, ED_EVENT_WRITE);
                clients[i] = w->client;
        }
        for (int i = 2; i >= 0; i--)
                CHECK_EQ(send_text(w, clients[i], (const char *[]){ "0", "1", "2" }[i]), 1);
        settle(w);
        for (int i = 0; i < 3; i++) {
                int fd = w->sys->socket->accept(w->sys, w->listener);

                CHECK(fd >= 0);
                expect_text(w, fd, (const char *[]){ "0", "1", "2" }[i]);
        }
        CHECK_EQ(w->sys->socket->accept(w->sys, w->listener), -EAGAIN);
}

BOTH(an_empty_stream_says_again)
{
        connect_pair(w);
        CHECK_EQ(recv_some(w, w->client), -EAGAIN);
        CHECK(!w->sys->poll->is_readable(w->sys, w->client));
        CHECK(w->sys->poll->is_writable(w->sys, w->client));
}

BOTH(bytes_arrive_with_an_event)
{
        connect_pair(w);
        CHECK_EQ(send_text(w, w->client, "hello"), 5);
        expect(w, &w->seen_server, ED_EVENT_READ);
        CHECK(w->sys->poll->is_readable(w->sys, w->server));
        expect_text(w, w->server, "hello");
        CHECK_EQ(recv_some(w, w->server), -EAGAIN);
}

BOTH(a_change_is_reported_once)
{
        connect_pair(w);
        CHECK_EQ(send_text(w, w->client, "a"), 1);
        expect(w, &w->seen_server, ED_EVENT_READ);
        w->seen_server.times = 0;
        settle(w);
        CHECK_EQ(w->seen_server.times, 0);
        CHECK_EQ(send_text(w, w->client, "b"), 1);
        expect(w, &w->seen_server, ED_EVENT_READ);
        CHECK_EQ(w->seen_server.times, 1);
        expect_text(w, w->server, "ab");
}

BOTH(a_watch_reports_what_is_ready_already)
{
        connect_pair(w);
        w->sys->poll->unwatch(w->sys, w->server);
        CHECK_EQ(send_text(w, w->client, "a"), 1);
        settle(w);
        CHECK_EQ(w->seen_server.events, 0);
        watch(w, w->server, &w->seen_server);
        expect(w, &w->seen_server, ED_EVENT_READ | ED_EVENT_WRITE);
}

BOTH(watching_twice_is_refused)
{
        struct seen other = { .target = { on_events } };

        connect_pair(w);
        CHECK_EQ(w->sys->poll->watch(w->sys, w->server, &other.target), -EEXIST);
}

BOTH(a_fresh_socket_is_at_its_end)
{
        struct seen seen;
        int fd = new_socket(w);

        watch(w, fd, &seen);
        expect(w, &seen, ED_EVENT_WRITE | ED_EVENT_END);
}

BOTH(a_full_stream_says_again_and_reports_room)
{
        static unsigned char out[65536], in[65536];
        size_t sent = 0, got = 0;
        int64_t n;

        connect_pair(w);
        for (;;) {
                struct eddy_slice slice = { out, sizeof(out) };

                for (size_t i = 0; i < sizeof(out); i++)
                        out[i] = (unsigned char) ((sent + i) % 251);
                n = w->sys->socket->send(w->sys, w->client, &slice, 1);
                if (n == -EAGAIN)
                        break;
                CHECK(n > 0);
                sent += (size_t) n;
                poll_once(w, 0);
        }
        settle(w);
        w->seen_client.events = 0;
        CHECK(!w->sys->poll->is_writable(w->sys, w->client));
        CHECK(w->sys->socket->unsent(w->sys, w->client) > 0);
        CHECK(w->sys->socket->unsent(w->sys, w->client) <= sent);
        while (got < sent) {
                n = w->sys->socket->recv(w->sys, w->server, in, sizeof(in));
                if (n == -EAGAIN) {
                        settle(w);
                        continue;
                }
                CHECK(n > 0);
                for (size_t i = 0; i < (size_t) n; i++)
                        CHECK_EQ(in[i], (got + i) % 251);
                got += (size_t) n;
        }
        expect(w, &w->seen_client, ED_EVENT_WRITE);
        CHECK(w->sys->poll->is_writable(w->sys, w->client));
        /* The kernel may acknowledge the last bytes a little later. */
        for (int i = 0; i < 200 && w->sys->socket->unsent(w->sys, w->client) > 0; i++)
                poll_once(w, 10000000);
        CHECK_EQ(w->sys->socket->unsent(w->sys, w->client), 0);
}

BOTH(a_gathered_send_keeps_its_order)
{
        struct eddy_slice slices[4] = { { "one ", 4 }, { "", 0 }, { "two ", 4 }, { "three", 5 } };

        connect_pair(w);
        CHECK_EQ(w->sys->socket->send(w->sys, w->client, slices, 4), 13);
        expect(w, &w->seen_server, ED_EVENT_READ);
        expect_text(w, w->server, "one two three");
}

BOTH(transfers_are_held_below_the_maximum)
{
        struct eddy_slice slices[2] = { { "ab", 2 }, { "cd", 2 } };
        char buf[8];

        connect_pair(w);
        w->sys->transfer_max = 1;
        CHECK_EQ(w->sys->socket->send(w->sys, w->client, slices, 2), 1);
        CHECK_EQ(send_text(w, w->client, "xy"), 1);
        settle(w);
        CHECK_EQ(w->sys->socket->recv(w->sys, w->server, buf, sizeof(buf)), 1);
        CHECK_EQ(buf[0], 'a');
        CHECK_EQ(w->sys->socket->recv(w->sys, w->server, buf, sizeof(buf)), 1);
        CHECK_EQ(buf[0], 'x');
        CHECK_EQ(w->sys->socket->recv(w->sys, w->server, buf, sizeof(buf)), -EAGAIN);
}

BOTH(an_end_comes_after_the_bytes_and_leaves_the_other_way_open)
{
        connect_pair(w);
        CHECK_EQ(send_text(w, w->client, "last"), 4);
        CHECK_EQ(w->sys->socket->shutdown(w->sys, w->client), 0);
        expect(w, &w->seen_server, ED_EVENT_READ | ED_EVENT_END);
        expect_text(w, w->server, "last");
        CHECK_EQ(recv_some(w, w->server), 0);
        CHECK_EQ(recv_some(w, w->server), 0);
        CHECK_EQ(send_text(w, w->server, "answer"), 6);
        expect(w, &w->seen_client, ED_EVENT_READ);
        expect_text(w, w->client, "answer");
}

BOTH(sending_after_shutdown_is_a_broken_pipe)
{
        connect_pair(w);
        CHECK_EQ(w->sys->socket->shutdown(w->sys, w->client), 0);
        CHECK_EQ(send_text(w, w->client, "x"), -EPIPE);
        CHECK_EQ(send_text(w, w->client, "x"), -EPIPE);
}

BOTH(what_was_sent_before_close_is_read)
{
        connect_pair(w);
        CHECK_EQ(send_text(w, w->client, "bye"), 3);
        w->sys->socket->close(w->sys, w->client);
        expect(w, &w->seen_server, ED_EVENT_READ | ED_EVENT_END);
        expect_text(w, w->server, "bye");
        CHECK_EQ(recv_some(w, w->server), 0);
}

BOTH(sending_to_who_has_closed_works_once_and_breaks_then)
{
        connect_pair(w);
        w->sys->socket->close(w->sys, w->client);
        expect(w, &w->seen_server, ED_EVENT_END);
        CHECK_EQ(send_text(w, w->server, "lost"), 4);
        expect(w, &w->seen_server, ED_EVENT_READ | ED_EVENT_WRITE | ED_EVENT_END);
        CHECK_EQ(send_text(w, w->server, "lost"), -EPIPE);
        CHECK_EQ(send_text(w, w->server, "lost"), -EPIPE);
        CHECK_EQ(recv_some(w, w->server), 0);
}

BOTH(closing_with_bytes_unread_resets)
{
        connect_pair(w);
        CHECK_EQ(send_text(w, w->server, "unread"), 6);
        expect(w, &w->seen_client, ED_EVENT_READ);
        w->sys->socket->close(w->sys, w->client);
        expect(w, &w->seen_server, ED_EVENT_READ | ED_EVENT_WRITE | ED_EVENT_END);
        CHECK_EQ(recv_some(w, w->server), -ECONNRESET);
        CHECK_EQ(recv_some(w, w->server), 0);
        CHECK_EQ(send_text(w, w->server, "x"), -EPIPE);
}

BOTH(an_abort_resets_and_a_send_hears_of_it)
{
        connect_pair(w);
        w->sys->socket->abort(w->sys, w->client);
        expect(w, &w->seen_server, ED_EVENT_READ | ED_EVENT_WRITE | ED_EVENT_END);
        CHECK_EQ(send_text(w, w->server, "x"), -ECONNRESET);
        CHECK_EQ(send_text(w, w->server, "x"), -EPIPE);
        CHECK_EQ(recv_some(w, w->server), 0);
}

BOTH(bytes_that_arrived_before_a_reset_are_read)
{
        connect_pair(w);
        CHECK_EQ(send_text(w, w->client, "first"), 5);
        expect(w, &w->seen_server, ED_EVENT_READ);
        w->sys->socket->abort(w->sys, w->client);
        expect(w, &w->seen_server, ED_EVENT_END);
        expect_text(w, w->server, "first");
        CHECK_EQ(recv_some(w, w->server), -ECONNRESET);
        CHECK_EQ(recv_some(w, w->server), 0);
}

BOTH(closing_a_listener_resets_who_was_not_accepted)
{
        listen_somewhere(w);
        connect_client(w);
        expect(w, &w->seen_client, ED_EVENT_WRITE);
        w->sys->socket->close(w->sys, w->listener);
        expect(w, &w->seen_client, ED_EVENT_READ | ED_EVENT_END);
        CHECK_EQ(recv_some(w, w->client), -ECONNRESET);
}

BOTH(who_gave_up_before_being_accepted_is_accepted_and_at_its_end)
{
        int fd;

        listen_somewhere(w);
        connect_client(w);
        expect(w, &w->seen_client, ED_EVENT_WRITE);
        CHECK_EQ(send_text(w, w->client, "x"), 1);
        w->sys->socket->close(w->sys, w->client);
        expect(w, &w->seen_listener, ED_EVENT_READ);
        fd = w->sys->socket->accept(w->sys, w->listener);
        CHECK(fd >= 0);
        expect_text(w, fd, "x");
        CHECK_EQ(recv_some(w, fd), 0);
}

BOTH(a_socket_that_is_not_connected_refuses_transfers)
{
        int fd = new_socket(w);

        CHECK_EQ(recv_some(w, fd), -ENOTCONN);
        CHECK_EQ(send_text(w, fd, "x"), -EPIPE);
        CHECK_EQ(w->sys->socket->shutdown(w->sys, fd), -ENOTCONN);
}

BOTH(a_connect_says_once_that_it_is_done_and_refuses_then)
{
        connect_pair(w);
        CHECK_EQ(w->sys->socket->connect(w->sys, w->client, AT(&loopback, w->port)), 0);
        CHECK_EQ(w->sys->socket->connect(w->sys, w->client, AT(&loopback, w->port)), -EISCONN);
        CHECK_EQ(w->sys->socket->connect(w->sys, w->server, AT(&loopback, w->port)), -EISCONN);
}

BOTH(a_port_is_listened_on_once)
{
        int fd = new_socket(w);

        listen_somewhere(w);
        CHECK_EQ(listen_at(w->sys, fd, AT(&loopback, w->port)), -EADDRINUSE);
        w->sys->socket->close(w->sys, w->listener);
        fd = new_socket(w);
        CHECK_EQ(listen_at(w->sys, fd, AT(&loopback, w->port)), 0);
}

BOTH(who_listens_everywhere_hears_the_loopback)
{
        static const struct eddy_address any = { .family = AF_INET };

        w->listener = w->sys->socket->open(w->sys, AF_INET, ED_SOCKET_LISTENER);
        CHECK_EQ(listen_at(w->sys, w->listener, AT(&any, 0)), 0);
        w->port = (uint16_t) port_of(w->sys, w->listener);
        connect_client(w);
        expect(w, &w->seen_client, ED_EVENT_WRITE);
        CHECK_EQ(w->sys->socket->connect_result(w->sys, w->client), 0);
}

BOTH(only_listeners_accept)
{
        connect_pair(w);
        CHECK_EQ(w->sys->socket->accept(w->sys, w->client), -EINVAL);
        CHECK_EQ(w->sys->socket->accept(w->sys, w->listener), -EAGAIN);
}

BOTH(a_descriptor_that_is_not_open_is_refused)
{
        enum { NONE = 900 };

        struct seen seen = { .target = { on_events } };

        CHECK_EQ(w->sys->poll->watch(w->sys, NONE, &seen.target), -EBADF);
        CHECK_EQ(w->sys->socket->connect(w->sys, NONE, AT(&loopback, 1)), -EBADF);
        CHECK_EQ(listen_at(w->sys, NONE, AT(&loopback, 0)), -EBADF);
        CHECK_EQ(w->sys->socket->accept(w->sys, NONE), -EBADF);
        CHECK_EQ(recv_some(w, NONE), -EBADF);
        CHECK_EQ(send_text(w, NONE, "x"), -EBADF);
        CHECK_EQ(w->sys->socket->read(w->sys, NONE, &seen, 1), -EBADF);
        CHECK_EQ(w->sys->socket->write(w->sys, NONE, "x", 1, false), -EBADF);
        CHECK_EQ(w->sys->socket->write(w->sys, NONE, "x", 1, true), -EBADF);
        CHECK_EQ(w->sys->socket->shutdown(w->sys, NONE), -EBADF);
        CHECK_EQ(port_of(w->sys, NONE), -EBADF);
        CHECK_EQ(w->sys->socket->connect_result(w->sys, NONE), -EBADF);
        w->sys->poll->unwatch(w->sys, NONE);
        CHECK(w->sys->poll->is_readable(w->sys, NONE));
        CHECK(w->sys->poll->is_writable(w->sys, NONE));
        CHECK_EQ(w->sys->socket->unsent(w->sys, NONE), 0);
}

BOTH(a_family_that_is_unknown_is_refused)
{
        CHECK_EQ(w->sys->socket->open(w->sys, 9999, ED_SOCKET_STREAM), -EAFNOSUPPORT);
}

BOTH(a_descriptor_that_was_closed_is_given_out_again)
{
        int first = new_socket(w), second = new_socket(w);

        CHECK(second > first);
        w->sys->socket->close(w->sys, first);
        CHECK_EQ(new_socket(w), first);
}

BOTH(a_closed_descriptor_has_no_events_left)
{
        connect_pair(w);
        CHECK_EQ(send_text(w, w->client, "x"), 1);
        w->sys->poll->unwatch(w->sys, w->server);
        w->sys->socket->close(w->sys, w->server);
        w->seen_server.times = 0;
        settle(w);
        CHECK_EQ(w->seen_server.times, 0);
}

BOTH(a_wake_ends_the_next_poll)
{
        struct ed_event events[4];

        w->sys->poll->wake(w->sys);
        w->sys->poll->wake(w->sys);
        CHECK_EQ(w->sys->poll->poll(w->sys, -1, events, 4), 0);
}

BOTH(polls_store_no_more_events_than_asked_for)
{
        struct ed_event events[2];
        struct seen seen[5];
        int got = 0, n;

        for (int i = 0; i < 5; i++)
                watch(w, new_socket(w), &seen[i]);
        while ((n = w->sys->poll->poll(w->sys, 1000000, events, 2)) > 0) {
                CHECK(n <= 2);
                for (int i = 0; i < n; i++)
                        on_events(events[i].target, events[i].events);
                got += n;
        }
        CHECK_EQ(got, 5);
        for (int i = 0; i < 5; i++)
                CHECK_EQ(seen[i].times, 1);
}

BOTH(time_goes_on_in_a_poll_that_waits)
{
        int64_t before = w->sys->poll->now(w->sys), day = w->sys->poll->time_of_day(w->sys);

        poll_once(w, 20000000);
        CHECK(w->sys->poll->now(w->sys) - before >= 20000000);
        CHECK(w->sys->poll->time_of_day(w->sys) - day >= 10000000);
}

BOTH(random_bytes_fill_all_of_what_is_asked_for)
{
        unsigned char buf[37];
        bool seen[37] = { false };

        for (int turn = 0; turn < 20; turn++) {
                memset(buf, 0, sizeof(buf));
                w->sys->poll->random(w->sys, buf, sizeof(buf) - 1);
                CHECK_EQ(buf[36], 0);
                for (int i = 0; i < 36; i++)
                        seen[i] |= buf[i] != 0;
        }
        for (int i = 0; i < 36; i++)
                CHECK(seen[i]);
}
