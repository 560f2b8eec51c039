/*
 * test_sim_fault.c - calls of the simulated table that are made to fail.
 */
#include <limits.h>

#include "eddy/error.h"
#include "sim_pair.h"

TEST(the_nth_fallible_call_fails_and_no_other)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ 0 });
        struct pair p;

        connect_pair(&p, sys);
        ed_sim_fail_at(sys, 2, -ENOBUFS);
        CHECK_EQ(send_text(&p, p.client, "a"), 1);
        CHECK_EQ(send_text(&p, p.client, "b"), -ENOBUFS);
        CHECK_EQ(send_text(&p, p.client, "c"), 1);
        CHECK_EQ(recv_some(&p, p.server), 2);
        ed_sim_fail_at(sys, 1, -EIO);
        ed_sim_fail_at(sys, 0, 0);
        CHECK_EQ(send_text(&p, p.client, "d"), 1);
        sys->free(sys);
}

TEST(every_fallible_call_can_fail)
{
        static const struct eddy_slice slice = { "x", 1 };
        struct ed_sim_end end;
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ .end = &end });
        struct eddy_address addresses[1];
        struct seen seen = { .target = { on_events } };
        struct ed_worker *worker;
        uint64_t calls;
        struct pair p;
        char buf[1];

        connect_pair(&p, sys);
        calls = ed_sim_calls(sys);
#define FAILS(call)                                                                                \
        ed_sim_fail_at(sys, 1, -EIO);                                                              \
        CHECK_EQ(call, -EIO)
        FAILS(p.sys->poll->watch(sys, p.listener, &seen.target));
        FAILS(p.sys->socket->open(sys, AF_INET, ED_SOCKET_STREAM));
        FAILS(p.sys->socket->connect(sys, p.client, AT(&loopback, 1)));
        FAILS(listen_at(sys, p.client, AT(&loopback, 1)));
        FAILS(p.sys->socket->accept(sys, p.listener));
        FAILS(p.sys->socket->recv(sys, p.client, buf, 1));
        FAILS(p.sys->socket->send(sys, p.client, &slice, 1));
        FAILS(p.sys->socket->read(sys, p.client, buf, 1));
        FAILS(p.sys->socket->write(sys, p.client, "x", 1, true));
        FAILS(p.sys->socket->shutdown(sys, p.client));
        FAILS(p.sys->lookup(sys, "name", addresses, 1));
        FAILS(p.sys->socket->connect_result(sys, p.client));
        FAILS(p.sys->worker->start(sys, "name", &worker));
        FAILS(p.sys->socket->bind(sys, p.client, AT(&loopback, 0)));
        FAILS(p.sys->socket->keepalive(sys, p.client, 1));
#undef FAILS
        CHECK_EQ(ed_sim_calls(sys) - calls, 15);
        CHECK_EQ(recv_some(&p, p.server), -EAGAIN);
        CHECK_EQ(send_text(&p, p.client, "x"), 1);
        sys->free(sys);
        CHECK_EQ(end.faults, 15);
}

/*
 * A function of the parts that a simulation has, or lookup(), either is of a kind that can be made
 * to fail, or is one of these, which cannot fail or fail only for descriptors that are none: now,
 * time_of_day, random, wake, unwatch, is_readable, is_writable, ready, unwatch_foreign;
 * file_remove, endpoint, limit_unsent, unsent, close and abort of sockets; option_value, group and error
 * of datagrams; cpu_count, run, end and abandon of workers; and watch_foreign, rewatch_foreign, bind_port
 * and send_file, which fail as watch, bind and send do. Operations on files have kinds of their own.
 */
TEST(every_function_of_the_table_has_a_kind_or_cannot_fail)
{
        enum { CANNOT = 26, LOOKUP = 1, DATAGRAMS = ED_SIM_CALLS - ED_SIM_CALL_OPTION };
        size_t bytes = sizeof(struct ed_sys_poll) + sizeof(struct ed_sys_socket) +
                       sizeof(struct ed_sys_datagram) + sizeof(struct ed_sys_worker);

        CHECK_EQ(bytes / sizeof(void *) + LOOKUP - CANNOT, ED_SIM_CALL_FILE_OPEN - 1 + DATAGRAMS);
}

TEST(a_part_that_a_simulation_lacks_is_null)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ 0 });

        CHECK(!sys->unix_fds && !sys->notify && !sys->process && !sys->zygote && !sys->embed);
        sys->free(sys);
}

TEST(every_kind_has_a_name_and_errors_of_its_own)
{
        for (int i = 1; i < ED_SIM_CALLS; i++) {
                const int *errors = ed_sim_call_errors((enum ed_sim_call) i);

                CHECK(ed_sim_call_name((enum ed_sim_call) i)[0]);
                CHECK(errors[0] < 0);
                for (int n = 0; errors[n]; n++)
                        for (int m = 0; m < n; m++)
                                CHECK(errors[n] < 0 && errors[n] != errors[m]);
        }
        CHECK(ed_sim_is_passing(ED_SIM_CALL_RECV, -EAGAIN));
        CHECK(ed_sim_is_passing(ED_SIM_CALL_SEND, ED_SIM_SHORT));
        CHECK(ed_sim_is_passing(ED_SIM_CALL_POLL, -EINTR));
        CHECK(!ed_sim_is_passing(ED_SIM_CALL_RECV, -ECONNRESET));
        CHECK(!ed_sim_is_passing(ED_SIM_CALL_WORKER_NEW, -EAGAIN));
}

TEST(kinds_may_be_noted_from_a_later_call_on)
{
        uint8_t kinds[2] = { 0 };
        struct ed_sys *sys =
                sim_new((struct ed_sim_opts){ .kinds = kinds, .kinds_skip = 1, .kinds_max = 1 });
        int fd = sys->socket->open(sys, AF_INET, ED_SOCKET_LISTENER);

        CHECK_EQ(listen_at(sys, fd, AT(&loopback, 0)), 0);
        CHECK_EQ(sys->socket->accept(sys, fd), -EAGAIN);
        CHECK(kinds[0] == ED_SIM_CALL_LISTEN && kinds[1] == 0);
        sys->free(sys);
}

TEST(kinds_are_noted_in_the_order_of_calls_as_far_as_there_is_room)
{
        uint8_t kinds[3] = { 0 };
        struct ed_sys *sys =
                sim_new((struct ed_sim_opts){ .kinds = kinds, .kinds_max = sizeof(kinds) - 1 });
        int fd = sys->socket->open(sys, AF_INET, ED_SOCKET_LISTENER);

        CHECK_EQ(listen_at(sys, fd, AT(&loopback, 0)), 0);
        CHECK_EQ(sys->socket->accept(sys, fd), -EAGAIN);
        CHECK_EQ(kinds[0], ED_SIM_CALL_SOCKET);
        CHECK_EQ(kinds[1], ED_SIM_CALL_LISTEN);
        CHECK_EQ(kinds[2], 0);
        CHECK_EQ(ed_sim_calls(sys), 3);
        sys->free(sys);
}

TEST(a_short_transfer_moves_a_part_and_the_rest_is_reported)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ 0 });
        struct pair p;

        connect_pair(&p, sys);
        ed_sim_fail_at(sys, 1, ED_SIM_SHORT);
        CHECK_EQ(send_text(&p, p.client, "abcdef"), 1);
        CHECK_EQ(send_text(&p, p.client, "bcdef"), 5);
        (void) turn(sys, 0);
        p.seen_server.events = 0;
        ed_sim_fail_at(sys, 1, ED_SIM_SHORT);
        CHECK_EQ(recv_some(&p, p.server), 1);
        CHECK_EQ(turn(sys, 0), 1);
        CHECK(p.seen_server.events & ED_EVENT_READ);
        CHECK_EQ(recv_some(&p, p.server), 5);
        /* It is spent on that call, even if that one could not be short. */
        ed_sim_fail_at(sys, 1, ED_SIM_SHORT);
        CHECK_EQ(recv_some(&p, p.server), -EAGAIN);
        CHECK_EQ(send_text(&p, p.client, "whole"), 5);
        CHECK_EQ(recv_some(&p, p.server), 5);
        sys->free(sys);
}

TEST(with_a_seed_a_short_transfer_is_of_any_length_below_all)
{
        bool seen[6] = { false };

        for (uint64_t seed = 1; seed <= 100; seed++) {
                struct ed_sys *sys = sim_new((struct ed_sim_opts){ .seed = seed });
                struct pair p;
                int64_t n;

                connect_pair(&p, sys);
                ed_sim_fail_at(sys, 1, ED_SIM_SHORT);
                n = send_text(&p, p.client, "abcde");
                CHECK(n >= 1 && n <= 4);
                seen[n] = true;
                sys->free(sys);
        }
        CHECK(seen[1] && seen[2] && seen[3] && seen[4]);
}

TEST(a_finding_that_was_put_off_is_reported_again)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ 0 });
        struct seen seen_listener;
        struct pair p;

        connect_pair(&p, sys);
        CHECK_EQ(send_text(&p, p.client, "x"), 1);
        (void) turn(sys, 0);
        p.seen_server.events = p.seen_client.events = 0;
        ed_sim_fail_at(sys, 1, -EAGAIN);
        CHECK_EQ(recv_some(&p, p.server), -EAGAIN);
        CHECK_EQ(turn(sys, 0), 1);
        CHECK(p.seen_server.events & ED_EVENT_READ);
        CHECK_EQ(recv_some(&p, p.server), 1);
        ed_sim_fail_at(sys, 1, -EAGAIN);
        CHECK_EQ(send_text(&p, p.client, "y"), -EAGAIN);
        CHECK_EQ(turn(sys, 0), 1);
        CHECK(p.seen_client.events & ED_EVENT_WRITE);
        watch(&p, p.listener, &seen_listener);
        connect_client(&p);
        (void) turn(sys, 0);
        seen_listener.events = 0;
        ed_sim_fail_at(sys, 1, -EAGAIN);
        CHECK_EQ(p.sys->socket->accept(sys, p.listener), -EAGAIN);
        (void) turn(sys, 0);
        CHECK(seen_listener.events & ED_EVENT_READ);
        CHECK(p.sys->socket->accept(sys, p.listener) >= 0);
        sys->free(sys);
}

TEST(an_interrupted_poll_has_no_events_and_loses_none)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ 0 });
        int64_t begin;
        struct pair p;

        connect_pair(&p, sys);
        CHECK_EQ(send_text(&p, p.client, "x"), 1);
        begin = sys->poll->now(sys);
        sys->poll->wake(sys);
        ed_sim_fail_at(sys, 1, -EINTR);
        CHECK_EQ(turn(sys, S), 0);
        CHECK_EQ(sys->poll->now(sys), begin);
        CHECK_EQ(turn(sys, S), 1);
        CHECK(p.seen_server.events & ED_EVENT_READ);
        sys->poll->wake(sys);
        ed_sim_fail_at(sys, 1, -EINTR);
        CHECK_EQ(turn(sys, -1), 0);
        CHECK_EQ(turn(sys, -1), 0);
        CHECK_EQ(turn(sys, -1), -EDEADLK);
        sys->free(sys);
}
