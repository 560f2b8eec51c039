/*
 * test_sim_link.c - how connections of the simulated table are: each as was set
 * when it was made, stalled, overtaking others, or a pair without a listener.
 */
#include "sim_pair.h"

/* Let so much time pass. */
static void pass(struct ed_sys *sys, int64_t duration_ns)
{
        int64_t until_ns = sys->poll->now(sys) + duration_ns;

        while (sys->poll->now(sys) < until_ns)
                CHECK(turn(sys, until_ns - sys->poll->now(sys)) >= 0);
}

TEST(a_link_is_of_the_connections_made_after_it_was_set)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ .latency_ns = 5 * MS });
        struct pair first, second;
        int64_t begin;

        connect_pair(&first, sys);
        CHECK_EQ(ed_sim_link_set(sys, &(struct ed_sim_link){ .buffer_bytes = 4 }), 0);
        connect_pair(&second, sys);
        CHECK_EQ(send_text(&second, second.client, "at once"), 4);
        CHECK_EQ(recv_some(&second, second.server), 4);
        CHECK_EQ(send_text(&first, first.client, "later"), 5);
        pass(sys, 5 * MS - 1);
        CHECK_EQ(recv_some(&first, first.server), -EAGAIN);
        pass(sys, 1);
        CHECK_EQ(recv_some(&first, first.server), 5);
        CHECK_EQ(ed_sim_link_set(sys, NULL), 0);
        begin = sys->poll->now(sys);
        connect_pair(&second, sys);
        CHECK(sys->poll->now(sys) - begin >= 10 * MS);
        sys->free(sys);
}

TEST(a_link_out_of_range_is_refused_and_changes_nothing)
{
        struct ed_sim_link bad[] = {
                { .latency_ns = -1 },
                { .jitter_ns = -1 },
                { .stall_ns = -1 },
                { .latency_ns = ED_SIM_DELAY_MAX + 1 },
                { .cut = ED_SIM_CUT_RESET + 1 },
                { .cut = -1 },
                { .buffer_bytes = ED_SIM_BUFFER_MAX + 1 },
        };
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ 0 });
        struct pair p;
        int fds[2];

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                bad[i].chop = true;
                CHECK_EQ(ed_sim_link_set(sys, &bad[i]), -EINVAL);
                CHECK_EQ(ed_sim_pair(sys, &bad[i], fds), -EINVAL);
        }
        CHECK_EQ(ed_sim_sockets(sys), 0);
        connect_pair(&p, sys);
        CHECK_EQ(send_text(&p, p.client, "whole"), 5);
        sys->free(sys);
}

TEST(a_stall_holds_up_bytes_after_its_number_of_bytes)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ 0 });
        struct ed_sim_link link = { .latency_ns = MS, .stall_ns = 10 * S, .stall_bytes = 6 };
        struct eddy_slice slices[2] = { { "of this half ", 13 }, { "comes later", 11 } };
        int64_t begin;
        struct pair p;

        CHECK_EQ(ed_sim_link_set(sys, &link), 0);
        connect_pair(&p, sys);
        begin = sys->poll->now(sys);
        CHECK_EQ(send_text(&p, p.client, "on"), 2);
        CHECK_EQ(p.sys->socket->send(sys, p.client, slices, 2), 24);
        CHECK_EQ(p.sys->socket->shutdown(sys, p.client), 0);
        CHECK_EQ(send_text(&p, p.server, "not this way"), 12);
        pass(sys, MS);
        CHECK_EQ(recv_some(&p, p.client), 12);
        CHECK_EQ(recv_some(&p, p.server), 6);
        CHECK_EQ(recv_some(&p, p.server), -EAGAIN);
        while ((p.seen_server.events & ED_EVENT_END) == 0)
                CHECK(turn(sys, -1) >= 0);
        CHECK_EQ(sys->poll->now(sys) - begin, 10 * S + MS);
        CHECK_EQ(recv_some(&p, p.server), 20);
        CHECK_EQ(recv_some(&p, p.server), 0);
        sys->free(sys);
}

TEST(a_stall_of_the_accepting_side_begins_with_its_first_byte_and_ends_once)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ 0 });
        struct ed_sim_link link = { .by_server = true, .stall_ns = S };
        int64_t begin;
        struct pair p;

        CHECK_EQ(ed_sim_link_set(sys, &link), 0);
        connect_pair(&p, sys);
        begin = sys->poll->now(sys);
        CHECK_EQ(send_text(&p, p.server, "a"), 1);
        CHECK_EQ(recv_some(&p, p.client), -EAGAIN);
        CHECK_EQ(turn(sys, -1), 1);
        CHECK_EQ(sys->poll->now(sys) - begin, S);
        CHECK_EQ(send_text(&p, p.server, "b"), 1);
        CHECK_EQ(recv_some(&p, p.client), 2);
        sys->free(sys);
}

/* The order in which five connections are accepted, and then reported by a poll; a number each. */
static void orders_of(uint64_t seed, bool reorder, int *ret_accepted, int *ret_figures)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ .seed = seed });
        struct pair p = { .sys = sys };
        struct ed_event events[ED_EVENTS_MAX];
        struct seen seen[5];
        int clients[5], n;
        char byte;

        CHECK_EQ(ed_sim_link_set(sys, &(struct ed_sim_link){ .reorder = reorder }), 0);
        listen_somewhere(&p);
        for (int i = 0; i < 5; i++) {
                connect_client(&p);
                clients[i] = p.client;
                while (p.sys->socket->connect_result(sys, p.client) == -EINPROGRESS)
                        CHECK(turn(sys, -1) >= 0);
                CHECK_EQ(send_text(&p, p.client, (const char *[]){ "1", "2", "3", "4", "5" }[i]),
                         1);
                p.sys->poll->unwatch(sys, clients[i]);
        }
        (void) turn(sys, 0);
        *ret_accepted = *ret_figures = 0;
        for (int i = 0; i < 5; i++) {
                int fd = p.sys->socket->accept(sys, p.listener);

                CHECK_EQ(p.sys->socket->recv(sys, fd, &byte, 1), 1);
                *ret_accepted = *ret_accepted * 10 + byte - '0';
                watch(&p, clients[i], &seen[i]);
        }
        CHECK_EQ(p.sys->socket->accept(sys, p.listener), -EAGAIN);
        n = p.sys->poll->poll(sys, 0, events, ED_EVENTS_MAX);
        CHECK_EQ(n, 5);
        for (int i = 0; i < n; i++)
                *ret_figures =
                        *ret_figures * 10 + (int) ((struct seen *) events[i].target - seen) + 1;
        sys->free(sys);
}

TEST(those_that_may_overtake_are_accepted_and_reported_in_any_order)
{
        enum { SEEDS = 2000 };

        static bool accepted[100000], reported[100000];
        int in_order = 0, accepted_orders = 0, reported_orders = 0, a, b;

        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
                orders_of(seed, true, &a, &b);
                accepted_orders += !accepted[a];
                accepted[a] = true;
                reported_orders += !reported[b];
                reported[b] = true;
                orders_of(seed, false, &a, &b);
                in_order += a == 12345;
        }
        CHECK_EQ(accepted_orders, 120);
        CHECK_EQ(reported_orders, 120);
        CHECK_EQ(in_order, SEEDS);
        orders_of(0, true, &a, &b);
        CHECK_EQ(a, 12345);
        CHECK_EQ(b, 12345);
}

TEST(a_pair_is_connected_both_ways)
{
        struct ed_sim_end end;
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ .sockets_max = 3, .end = &end });
        struct ed_sim_link link = { .cut = ED_SIM_CUT_END, .by_server = true, .cut_bytes = 2 };
        struct pair p = { .sys = sys };
        uint64_t calls = ed_sim_calls(sys);
        int fds[2], other[2] = { -7, -7 };

        CHECK_EQ(ed_sim_pair(sys, &link, fds), 0);
        CHECK_EQ(ed_sim_pair(sys, &link, other), -EMFILE);
        CHECK_EQ(other[0], -7);
        CHECK_EQ(ed_sim_calls(sys), calls);
        CHECK_EQ(p.sys->socket->connect_result(sys, fds[0]), 0);
        CHECK_EQ(p.sys->socket->connect(sys, fds[1], AT(&loopback, 1)), -EISCONN);
        CHECK_EQ(send_text(&p, fds[1], "up"), 2);
        CHECK_EQ(recv_some(&p, fds[0]), 2);
        CHECK_EQ(send_text(&p, fds[0], "down"), 2);
        CHECK_EQ(recv_some(&p, fds[1]), 2);
        CHECK_EQ(recv_some(&p, fds[1]), 0);
        p.sys->socket->close(sys, fds[0]);
        p.sys->socket->close(sys, fds[1]);
        sys->free(sys);
        CHECK_EQ(end.sockets, 0);
}

TEST(a_writer_that_waits_for_room_is_notified)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ .buffer_bytes = 9 });
        struct pair p;

        connect_pair(&p, sys);
        CHECK_EQ(send_text(&p, p.client, "seven b"), 7);
        while (turn(sys, 0) > 0)
                continue;
        CHECK(!p.sys->poll->is_writable(sys, p.client));
        p.seen_client.events = 0;
        CHECK_EQ(recv_some(&p, p.server), 7);
        CHECK_EQ(turn(sys, 0), 1);
        CHECK(p.seen_client.events & ED_EVENT_WRITE);
        sys->free(sys);
}

TEST(a_pipe_is_not_a_socket)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ 0 });
        int fds[2];
        char buf[4];

        CHECK_EQ(ed_sim_pipe(sys, fds), 0);
        CHECK_EQ(port_of(sys, fds[0]), -ENOTSOCK);
        CHECK_EQ(port_of(sys, fds[1]), -ENOTSOCK);
        CHECK_EQ(sys->socket->write(sys, fds[1], "abc", 3, true), 3);
        sys->socket->close(sys, fds[1]);
        CHECK_EQ(sys->socket->read(sys, fds[0], buf, sizeof(buf)), 3);
        CHECK_EQ(sys->socket->read(sys, fds[0], buf, sizeof(buf)), 0);
        sys->free(sys);
}

TEST(a_table_is_a_simulation_even_when_functions_of_it_were_replaced)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ 0 }), *kernel;
        struct ed_sys_poll poll = *sys->poll;

        CHECK(ed_sys_is_sim(sys));
        sys->poll = &poll;
        CHECK(ed_sys_is_sim(sys));
        sys->free(sys);
        CHECK_EQ(ed_sys_epoll_new(&kernel), 0);
        CHECK(!ed_sys_is_sim(kernel));
        kernel->free(kernel);
}
