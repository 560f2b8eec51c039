/*
 * test_sim.c - what the simulated table has beyond the kernel: a clock that
 * jumps, chance from a seed, late and cut streams.
 */
#include <signal.h>

#include "eddy/error.h"
#include "sim_pair.h"

static uint64_t chance(uint64_t *state)
{
        *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
        return *state >> 33;
}

/* --- the clock --- */

TEST(the_clock_jumps_to_the_deadline)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ 0 });
        int64_t start = sys->poll->now(sys), day = sys->poll->time_of_day(sys);

        CHECK_EQ(turn(sys, 3600 * S), 0);
        CHECK_EQ(sys->poll->now(sys) - start, 3600 * S);
        CHECK_EQ(sys->poll->time_of_day(sys) - day, 3600 * S);
        sys->free(sys);
}

TEST(the_clock_does_not_move_between_polls)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ 0 });
        int64_t start = sys->poll->now(sys);
        struct pair p;

        CHECK(start > 0);
        connect_pair(&p, sys);
        start = sys->poll->now(sys);
        CHECK_EQ(send_text(&p, p.client, "x"), 1);
        CHECK_EQ(recv_some(&p, p.server), 1);
        CHECK_EQ(sys->poll->now(sys), start);
        sys->free(sys);
}

TEST(a_poll_that_does_not_wait_takes_a_little_time)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ 0 });
        int64_t start = sys->poll->now(sys);

        for (int i = 0; i < 1000; i++)
                CHECK_EQ(turn(sys, 0), 0);
        CHECK(sys->poll->now(sys) - start >= 1000);
        CHECK(sys->poll->now(sys) - start <= 10 * MS);
        sys->free(sys);
}

TEST(a_wait_that_nothing_can_end_says_so)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ 0 });
        int64_t start = sys->poll->now(sys);
        struct pair p;

        CHECK_EQ(turn(sys, -1), -EDEADLK);
        CHECK_EQ(sys->poll->now(sys), start);
        connect_pair(&p, sys);
        CHECK_EQ(turn(sys, -1), -EDEADLK);
        CHECK_EQ(send_text(&p, p.client, "x"), 1);
        CHECK_EQ(turn(sys, -1), 1);
        sys->free(sys);
}

TEST(an_event_ends_a_wait_before_its_deadline)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ .latency_ns = 5 * MS });
        struct pair p;
        int64_t start;

        connect_pair(&p, sys);
        start = sys->poll->now(sys);
        CHECK_EQ(send_text(&p, p.client, "x"), 1);
        CHECK_EQ(turn(sys, 100 * MS), 1);
        CHECK_EQ(sys->poll->now(sys) - start, 5 * MS);
        sys->free(sys);
}

TEST(a_deadline_comes_before_a_later_arrival)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ .latency_ns = 5 * MS });
        struct pair p;
        int64_t start;

        connect_pair(&p, sys);
        start = sys->poll->now(sys);
        CHECK_EQ(send_text(&p, p.client, "x"), 1);
        CHECK_EQ(turn(sys, 2 * MS), 0);
        CHECK_EQ(sys->poll->now(sys) - start, 2 * MS);
        CHECK_EQ(recv_some(&p, p.server), -EAGAIN);
        CHECK_EQ(turn(sys, 3 * MS), 1);
        CHECK_EQ(recv_some(&p, p.server), 1);
        sys->free(sys);
}

/* --- chance --- */

TEST(without_a_seed_the_first_goes_first)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ 0 });

        for (uint32_t n = 1; n < 100; n++)
                CHECK_EQ(sys->choose(sys, n), 0);
        sys->free(sys);
}

TEST(with_a_seed_every_choice_is_made)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ .seed = 7 });
        unsigned times[8] = { 0 };

        for (int i = 0; i < 8000; i++) {
                uint32_t chosen = sys->choose(sys, 8);

                CHECK(chosen < 8);
                times[chosen]++;
        }
        /* 1,000 each are expected; 5 sigma are 148. */
        for (int i = 0; i < 8; i++)
                CHECK(times[i] > 850 && times[i] < 1150);
        CHECK_EQ(sys->choose(sys, 1), 0);
        sys->free(sys);
}

TEST(random_bytes_follow_from_the_seed)
{
        unsigned char a[100], b[100], c[100], d[100];
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ .seed = 1 });

        sys->poll->random(sys, a, sizeof(a));
        sys->poll->random(sys, d, sizeof(d));
        CHECK(memcmp(a, d, sizeof(a)) != 0);
        sys->free(sys);
        sys = sim_new((struct ed_sim_opts){ .seed = 1 });
        sys->poll->random(sys, b, sizeof(b));
        CHECK(memcmp(a, b, sizeof(a)) == 0);
        sys->free(sys);
        sys = sim_new((struct ed_sim_opts){ .seed = 2 });
        sys->poll->random(sys, c, sizeof(c));
        CHECK(memcmp(a, c, sizeof(a)) != 0);
        sys->free(sys);
}

TEST(asking_for_random_bytes_changes_no_choice)
{
        uint32_t choices[2][50];

        for (int turn = 0; turn < 2; turn++) {
                struct ed_sys *sys = sim_new((struct ed_sim_opts){ .seed = 9 });

                for (int i = 0; i < 50; i++) {
                        unsigned char buf[16];

                        if (turn == 1)
                                sys->poll->random(sys, buf, sizeof(buf));
                        choices[turn][i] = sys->choose(sys, 1000);
                }
                sys->free(sys);
        }
        CHECK(memcmp(choices[0], choices[1], sizeof(choices[0])) == 0);
}

/* A program against the table that does this and that; returns its trace. */
static uint64_t wander(uint64_t seed)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ .seed = seed,
                                                           .latency_ns = MS,
                                                           .jitter_ns = 3 * MS,
                                                           .chop = true,
                                                           .buffer_bytes = 64 });
        uint64_t trace;
        struct pair p;

        connect_pair(&p, sys);
        for (int i = 0; i < 30; i++) {
                (void) send_text(&p, p.client, "some bytes that are on their way");
                (void) turn(sys, 2 * MS);
                (void) recv_some(&p, p.server);
                (void) sys->choose(sys, 3);
        }
        trace = ed_sim_trace(sys);
        sys->free(sys);
        return trace;
}

TEST(the_same_seed_gives_the_same_trace)
{
        for (uint64_t seed = 0; seed < 50; seed++)
                CHECK_EQ(wander(seed), wander(seed));
}

TEST(other_seeds_give_other_traces)
{
        uint64_t traces[100];

        for (uint64_t seed = 0; seed < 100; seed++) {
                traces[seed] = wander(seed);
                for (uint64_t other = 0; other < seed; other++)
                        CHECK(traces[seed] != traces[other]);
        }
}

/* --- late streams --- */

TEST(bytes_the_end_and_a_connection_are_late_by_the_latency)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ .latency_ns = 10 * MS });
        int64_t start = sys->poll->now(sys);
        struct pair p = { .sys = sys };

        listen_somewhere(&p);
        connect_client(&p);
        CHECK_EQ(p.sys->socket->connect_result(sys, p.client), -EINPROGRESS);
        CHECK_EQ(recv_some(&p, p.client), -EAGAIN);
        CHECK_EQ(send_text(&p, p.client, "x"), -EAGAIN);
        CHECK_EQ(turn(sys, -1), 1);
        /* There and back. */
        CHECK_EQ(sys->poll->now(sys) - start, 20 * MS);
        CHECK_EQ(p.sys->socket->connect_result(sys, p.client), 0);
        p.server = p.sys->socket->accept(sys, p.listener);
        watch(&p, p.server, &p.seen_server);
        (void) turn(sys, 0);
        start = sys->poll->now(sys);
        CHECK_EQ(send_text(&p, p.client, "x"), 1);
        CHECK_EQ(p.sys->socket->shutdown(sys, p.client), 0);
        CHECK_EQ(recv_some(&p, p.server), -EAGAIN);
        while (!(p.seen_server.events & ED_EVENT_END))
                CHECK(turn(sys, -1) > 0);
        CHECK_EQ(sys->poll->now(sys) - start, 10 * MS);
        CHECK_EQ(recv_some(&p, p.server), 1);
        CHECK_EQ(recv_some(&p, p.server), 0);
        sys->free(sys);
}

TEST(datagrams_that_are_late_at_random_keep_their_order)
{
        for (uint64_t seed = 1; seed < 50; seed++) {
                struct ed_sys *sys =
                        sim_new((struct ed_sim_opts){ .seed = seed, .jitter_ns = 50 * MS });
                unsigned char next = 0, buf[512];
                int64_t n = 1;
                struct pair p;

                connect_pair(&p, sys);
                for (int i = 0; i < 200; i++) {
                        unsigned char byte = (unsigned char) i;
                        struct eddy_slice slice = { &byte, 1 };

                        CHECK_EQ(p.sys->socket->send(sys, p.client, &slice, 1), 1);
                        (void) turn(sys, MS);
                }
                p.sys->socket->close(sys, p.client);
                while (n != 0) {
                        n = p.sys->socket->recv(sys, p.server, buf, sizeof(buf));
                        if (n == -EAGAIN)
                                CHECK(turn(sys, -1) > 0);
                        for (int64_t i = 0; i < n; i++)
                                CHECK_EQ(buf[i], next++);
                }
                CHECK_EQ(next, 200);
                sys->free(sys);
        }
}

TEST(a_reset_drops_the_bytes_on_their_way)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ .latency_ns = MS });
        struct pair p;

        connect_pair(&p, sys);
        CHECK_EQ(send_text(&p, p.client, "lost"), 4);
        p.sys->socket->abort(sys, p.client);
        CHECK_EQ(turn(sys, -1), 1);
        CHECK_EQ(recv_some(&p, p.server), -ECONNRESET);
        sys->free(sys);
}

TEST(bytes_that_reach_a_closed_socket_are_answered_by_a_reset)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ .latency_ns = MS });
        struct pair p;

        connect_pair(&p, sys);
        CHECK_EQ(send_text(&p, p.client, "too late"), 8);
        p.sys->socket->close(sys, p.server);
        while (send_text(&p, p.client, "x") == 1)
                CHECK(turn(sys, -1) >= 0);
        CHECK(!(p.seen_client.events & ED_EVENT_READ) || recv_some(&p, p.client) == 0);
        CHECK_EQ(send_text(&p, p.client, "x"), -EPIPE);
        sys->free(sys);
}

/* --- chopped streams --- */

/*
 * One side sends 'total' bytes, the other receives them, each acting on events
 * alone and taking a short transfer for a drained one, as streams do.
 */
static void pump(struct pair *p, size_t total, size_t piece, uint64_t *state)
{
        unsigned char buf[1024];
        size_t sent = 0, got = 0;
        bool can_send = true, can_recv = true;

        while (got < total) {
                if (!can_send && !can_recv)
                        CHECK(turn(p->sys, -1) > 0);
                can_send |= (p->seen_client.events & ED_EVENT_WRITE) != 0;
                can_recv |= (p->seen_server.events & ED_EVENT_READ) != 0;
                p->seen_client.events = p->seen_server.events = 0;
                if (can_send && (sent < total || got == total)) {
                        size_t n = 1 + chance(state) % piece;
                        struct eddy_slice slice = { buf, n < total - sent ? n : total - sent };
                        int64_t moved;

                        for (size_t i = 0; i < slice.bytes; i++)
                                buf[i] = (unsigned char) ((sent + i) % 253);
                        moved = p->sys->socket->send(p->sys, p->client, &slice, 1);
                        CHECK(moved > 0 || moved == -EAGAIN);
                        can_send = moved == (int64_t) slice.bytes;
                        sent += moved > 0 ? (size_t) moved : 0;
                }
                can_send &= sent < total;
                if (can_recv) {
                        size_t n = 1 + chance(state) % piece;
                        int64_t moved = p->sys->socket->recv(p->sys, p->server, buf, n);

                        CHECK(moved > 0 || moved == -EAGAIN);
                        for (int64_t i = 0; i < moved; i++)
                                CHECK_EQ(buf[i], (got + (size_t) i) % 253);
                        can_recv = moved == (int64_t) n;
                        got += moved > 0 ? (size_t) moved : 0;
                }
        }
        CHECK_EQ(sent, total);
}

TEST(a_reader_that_takes_short_for_drained_loses_no_wakeup)
{
        for (uint64_t seed = 0; seed < 200; seed++) {
                uint64_t state = seed;
                struct ed_sys *sys = sim_new((struct ed_sim_opts){
                        .seed = seed,
                        .chop = true,
                        .jitter_ns = (int64_t) (chance(&state) % 3) * MS,
                        .buffer_bytes = (uint32_t) (1 + chance(&state) % 300) });
                struct pair p;

                connect_pair(&p, sys);
                pump(&p, 5000, 1 + chance(&state) % 400, &state);
                sys->free(sys);
        }
}

TEST(chopping_cuts_transfers)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ .seed = 3, .chop = true });
        int whole = 0;
        struct pair p;

        connect_pair(&p, sys);
        for (int i = 0; i < 1000; i++) {
                int64_t n = send_text(&p, p.client, "0123456789");

                CHECK(n >= 1 && n <= 10);
                whole += n == 10;
                while (recv_some(&p, p.server) > 0)
                        continue;
        }
        CHECK(whole > 200 && whole < 450);
        sys->free(sys);
}

/* --- connections that fail --- */

TEST(a_full_backlog_makes_clients_ask_again)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ .backlog = 1 });
        int64_t start = sys->poll->now(sys);
        struct pair p = { .sys = sys };
        int second;

        listen_somewhere(&p);
        connect_client(&p);
        CHECK_EQ(p.sys->socket->connect_result(sys, p.client), 0);
        second = p.sys->socket->open(sys, AF_INET, ED_SOCKET_STREAM);
        CHECK_EQ(p.sys->socket->connect(sys, second, AT(&loopback, p.port)), -EINPROGRESS);
        (void) turn(sys, 500 * MS);
        CHECK_EQ(p.sys->socket->connect_result(sys, second), -EINPROGRESS);
        CHECK(p.sys->socket->accept(sys, p.listener) >= 0);
        while (p.sys->socket->connect_result(sys, second) == -EINPROGRESS)
                CHECK(turn(sys, S) >= 0);
        CHECK_EQ(p.sys->socket->connect_result(sys, second), 0);
        CHECK(sys->poll->now(sys) - start >= S);
        CHECK(p.sys->socket->accept(sys, p.listener) >= 0);
        sys->free(sys);
}

TEST(an_address_that_never_answers_times_out_after_two_minutes)
{
        static const struct eddy_address dead = { .family = AF_INET, .bytes = { 192, 0, 2, 1 } };
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ 0 });
        int64_t start = sys->poll->now(sys);
        struct seen seen = { .target = { on_events } };
        int fd;

        CHECK_EQ(ed_sim_address_dead(sys, &dead), 0);
        fd = sys->socket->open(sys, AF_INET, ED_SOCKET_STREAM);
        CHECK_EQ(sys->socket->connect(sys, fd, AT(&dead, 80)), -EINPROGRESS);
        CHECK_EQ(sys->poll->watch(sys, fd, &seen.target), 0);
        CHECK_EQ(turn(sys, -1), 1);
        CHECK_EQ(sys->poll->now(sys) - start, 127 * S);
        CHECK_EQ(sys->socket->connect_result(sys, fd), -ETIMEDOUT);
        sys->free(sys);
}

/* The events that come to 'seen' until nothing happens any more. */
static unsigned events_until_rest(struct ed_sys *sys, struct seen *seen)
{
        seen->events = 0;
        while (turn(sys, MS) > 0)
                continue;
        return seen->events;
}

TEST(only_the_wanted_direction_of_a_foreign_socket_is_reported)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ 0 });
        struct seen seen = { .target = { on_events } };
        struct pair p;
        int fd;

        connect_pair(&p, sys);
        sys->poll->unwatch(sys, p.server);
        fd = sys->poll->watch_foreign(sys, p.server, ED_EVENT_READ, &seen.target);
        CHECK_EQ(fd, p.server);
        CHECK_EQ(events_until_rest(sys, &seen), 0);
        CHECK_EQ(sys->poll->rewatch_foreign(sys, fd, ED_EVENT_WRITE, &seen.target), 0);
        CHECK_EQ(events_until_rest(sys, &seen), ED_EVENT_WRITE);
        CHECK_EQ(send_text(&p, p.client, "x"), 1);
        CHECK(!(events_until_rest(sys, &seen) & ED_EVENT_READ));
        CHECK_EQ(sys->poll->rewatch_foreign(sys, fd, ED_EVENT_READ, &seen.target), 0);
        CHECK_EQ(events_until_rest(sys, &seen), ED_EVENT_READ);
        CHECK_EQ(p.sys->socket->shutdown(sys, p.client), 0);
        CHECK_EQ(events_until_rest(sys, &seen), ED_EVENT_READ | ED_EVENT_END);
        sys->poll->unwatch_foreign(sys, fd, &seen.target);
        CHECK_EQ(sys->poll->rewatch_foreign(sys, fd, ED_EVENT_READ, &seen.target), -ENOENT);
        sys->free(sys);
}

TEST(a_connect_that_is_given_up_reaches_no_server)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ .latency_ns = MS });
        struct pair p = { .sys = sys };

        listen_somewhere(&p);
        connect_client(&p);
        p.sys->socket->close(sys, p.client);
        CHECK_EQ(turn(sys, S), 0);
        CHECK_EQ(p.sys->socket->accept(sys, p.listener), -EAGAIN);
        sys->free(sys);
}

TEST(ipv6_any_hears_both_families)
{
        static const struct eddy_address any6 = { .family = AF_INET6 };
        static const struct eddy_address one6 = { .family = AF_INET6, .bytes = { [15] = 1 } };
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ 0 });
        const struct eddy_address *to[2] = { &one6, &loopback };
        int listener = sys->socket->open(sys, AF_INET6, ED_SOCKET_LISTENER), fd;

        CHECK_EQ(listen_at(sys, listener, AT(&any6, 8080)), 0);
        for (int i = 0; i < 2; i++) {
                fd = sys->socket->open(sys, to[i]->family, ED_SOCKET_STREAM);
                CHECK_EQ(sys->socket->connect(sys, fd, AT(to[i], 8080)), -EINPROGRESS);
                CHECK_EQ(sys->socket->connect_result(sys, fd), 0);
        }
        sys->free(sys);
}

TEST(a_cut_ends_a_stream_after_its_number_of_bytes)
{
        for (uint64_t bytes = 0; bytes <= 5; bytes++) {
                struct ed_sys *sys = sim_new((struct ed_sim_opts){ 0 });
                char buf[16] = "";
                struct pair p;

                ed_sim_cut(sys, ED_SIM_CUT_END, true, bytes);
                connect_pair(&p, sys);
                CHECK_EQ(send_text(&p, p.client, "question"), 8);
                CHECK_EQ(send_text(&p, p.server, "answer"), bytes ? (int) bytes : -ECONNRESET);
                if (bytes) {
                        CHECK_EQ(p.sys->socket->recv(sys, p.client, buf, sizeof(buf)), bytes);
                        CHECK(memcmp(buf, "answer", bytes) == 0);
                        CHECK_EQ(send_text(&p, p.server, "answer"), -ECONNRESET);
                }
                CHECK_EQ(recv_some(&p, p.client), 0);
                CHECK_EQ(recv_some(&p, p.server), 8);
                sys->free(sys);
        }
}

TEST(a_cut_resets_both_sides_after_its_number_of_bytes)
{
        for (int by_server = 0; by_server < 2; by_server++) {
                struct ed_sys *sys = sim_new((struct ed_sim_opts){ .latency_ns = MS });
                int from, to;
                struct pair p;

                ed_sim_cut(sys, ED_SIM_CUT_RESET, by_server, 7);
                connect_pair(&p, sys);
                from = by_server ? p.server : p.client;
                to = by_server ? p.client : p.server;
                CHECK_EQ(send_text(&p, to, "the other way is not counted"), 28);
                CHECK_EQ(send_text(&p, from, "four"), 4);
                CHECK_EQ(send_text(&p, from, "four"), 3);
                (void) turn(sys, S);
                CHECK_EQ(recv_some(&p, to), 7);
                CHECK_EQ(recv_some(&p, to), -ECONNRESET);
                CHECK_EQ(recv_some(&p, from), 28);
                CHECK_EQ(recv_some(&p, from), -ECONNRESET);
                sys->free(sys);
        }
}

TEST(a_cut_that_is_taken_back_leaves_connections_whole)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ 0 });
        struct pair p;

        ed_sim_cut(sys, ED_SIM_CUT_RESET, false, 1);
        ed_sim_cut(sys, ED_SIM_CUT_NONE, false, 0);
        connect_pair(&p, sys);
        CHECK_EQ(send_text(&p, p.client, "four"), 4);
        CHECK_EQ(send_text(&p, p.client, "four"), 4);
        CHECK_EQ(recv_some(&p, p.server), 8);
        sys->free(sys);
}

/* --- names --- */

TEST(names_are_those_that_were_added)
{
        static const struct eddy_address two[2] = {
                { .family = AF_INET, .bytes = { 10, 0, 0, 1 } },
                { .family = AF_INET6, .bytes = { 0xfd, [15] = 1 } },
        };
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ 0 });
        struct eddy_address found[4] = { 0 };
        char name[300];

        CHECK_EQ(ed_sim_name_add(sys, "api.example", two, 2), 0);
        CHECK_EQ(ed_sim_name_add(sys, "empty.example", NULL, 0), 0);
        CHECK_EQ(sys->lookup(sys, "API.example", found, 4), 2);
        CHECK(memcmp(found, two, sizeof(two)) == 0);
        CHECK_EQ(sys->lookup(sys, "api.example", found, 1), 1);
        CHECK_EQ(sys->lookup(sys, "empty.example", found, 4), EDDY_E_DNS_NO_ADDRESS);
        CHECK_EQ(sys->lookup(sys, "other.example", found, 4), EDDY_E_DNS_NOT_FOUND);
        memset(name, 'a', sizeof(name));
        name[254] = '\0';
        CHECK_EQ(ed_sim_name_add(sys, name, two, 2), -EINVAL);
        CHECK_EQ(ed_sim_name_add(sys, "", two, 2), -EINVAL);
        name[253] = '\0';
        CHECK_EQ(ed_sim_name_add(sys, name, two, 2), 0);
        for (char more[] = { 'A', '\0' }; more[0] < 'A' + ED_SIM_NAMES_MAX - 3; more[0]++)
                CHECK_EQ(ed_sim_name_add(sys, more, two, 1), 0);
        CHECK_EQ(ed_sim_name_add(sys, "too many", two, 1), -ENOSPC);
        /* What is added again is replaced. */
        CHECK_EQ(ed_sim_name_add(sys, "API.example", two + 1, 1), 0);
        CHECK_EQ(sys->lookup(sys, "api.example", found, 4), 1);
        CHECK(memcmp(found, two + 1, sizeof(two[1])) == 0);
        sys->free(sys);
}

/* --- bounds and balance --- */

TEST(sockets_are_bounded)
{
        struct ed_sim_end end;
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ .sockets_max = 4, .end = &end });
        struct pair p;
        int fd;

        connect_pair(&p, sys);
        fd = sys->socket->open(sys, AF_INET, ED_SOCKET_STREAM);
        CHECK(fd >= 0);
        CHECK_EQ(sys->socket->open(sys, AF_INET, ED_SOCKET_STREAM), -EMFILE);
        CHECK_EQ(sys->socket->connect(sys, fd, AT(&loopback, p.port)), -EINPROGRESS);
        CHECK_EQ(sys->socket->accept(sys, p.listener), -EMFILE);
        sys->socket->close(sys, p.client);
        /* Nobody was lost for want of room. */
        CHECK_EQ(sys->socket->accept(sys, p.listener), p.client);
        CHECK_EQ(ed_sim_sockets(sys), 4);
        sys->free(sys);
        CHECK_EQ(end.sockets, 4);
}

TEST(a_descriptor_that_a_program_closed_is_not_counted_as_open)
{
        struct ed_sim_end end;
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ .end = &end });
        struct pair p;

        connect_pair(&p, sys);
        CHECK_EQ(send_text(&p, p.client, "x"), 1);
        CHECK_EQ(recv_some(&p, p.server), 1);
        sys->socket->close(sys, p.client);
        sys->socket->abort(sys, p.server);
        sys->socket->close(sys, p.listener);
        CHECK_EQ(ed_sim_sockets(sys), 0);
        CHECK_EQ(turn(sys, -1), -EDEADLK);
        sys->free(sys);
        CHECK_EQ(end.sockets, 0);
        CHECK_EQ(end.moved, 1);
}

TEST(options_out_of_range_are_refused)
{
        struct ed_sim_opts bad[] = {
                { .latency_ns = -1 },
                { .jitter_ns = -1 },
                { .buffer_bytes = ED_SIM_BUFFER_MAX + 1 },
                { .sockets_max = ED_SIM_SOCKETS_MAX + 1 },
        };
        struct ed_sys *sys = NULL;

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                CHECK_EQ(ed_sim_new(&bad[i], &sys), -EINVAL);
        CHECK(!sys);
}

TEST_DIES(closing_twice_is_not_forgiven, SIGABRT)
{
        struct ed_sys *sys = sim_new((struct ed_sim_opts){ 0 });
        int fd = sys->socket->open(sys, AF_INET, ED_SOCKET_STREAM);

        sys->socket->close(sys, fd);
        sys->socket->close(sys, fd);
}
