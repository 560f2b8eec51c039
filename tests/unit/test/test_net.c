/*
 * The network of a run of the kit: late, cut, stalled, out of order; pairs,
 * names and addresses that nothing answers at.
 */
#include <eddy/eddy.h>
#include <eddy/test.h>
#include <eddy/test_net.h>
#include <errno.h>
#include <sys/socket.h>

#include "test.h"

#define MS EDDY_MS(1)

static const struct eddy_address here = { .family = AF_INET, .bytes = { 127, 0, 0, 1 } };
static const struct eddy_address far = { .family = AF_INET, .bytes = { 10, 0, 0, 9 } };

/* A case whose body is the main task of a run. */
#define NET_TEST(claim)                                                                            \
        static void net_##claim(void);                                                             \
        static int main_##claim(void *arg)                                                         \
        {                                                                                          \
                (void) arg;                                                                        \
                net_##claim();                                                                     \
                return 0;                                                                          \
        }                                                                                          \
        TEST(claim)                                                                                \
        {                                                                                          \
                CHECK_EQ(eddy_test_run(main_##claim, NULL, NULL, NULL), 0);                        \
        }                                                                                          \
        static void net_##claim(void)

/* --- where it can be called --- */

static int refused_by_all(void *arg)
{
        struct eddy_test_link link = { 0 };
        eddy_stream *first = NULL, *second = NULL;

        (void) arg;
        CHECK_EQ(eddy_test_link_set(&link), EDDY_E_TEST_NO_RUN);
        CHECK_EQ(eddy_test_stream_pair(NULL, &first, &second), EDDY_E_TEST_NO_RUN);
        CHECK_EQ(eddy_test_name_add("api.example", &here, 1), EDDY_E_TEST_NO_RUN);
        CHECK_EQ(eddy_test_address_dead(&far), EDDY_E_TEST_NO_RUN);
        CHECK_EQ(eddy_test_thread_job_ns(MS), EDDY_E_TEST_NO_RUN);
        CHECK(!first && !second);
        return 0;
}

TEST(outside_of_a_run_of_the_kit_all_is_refused)
{
        (void) refused_by_all(NULL);
        CHECK_EQ(eddy_run(refused_by_all, NULL, NULL), 0);
}

NET_TEST(numbers_out_of_range_are_refused)
{
        struct eddy_test_link bad[] = {
                { .delay_ns = -1 },
                { .jitter_ns = -1 },
                { .jitter_ns = INT64_MAX },
                { .stall_ns = -1 },
                { .cut = EDDY_TEST_CUT_RESET + 1 },
                { .buffer_bytes = UINT32_MAX },
        };
        eddy_stream *first = NULL, *second = NULL;

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                CHECK_EQ(eddy_test_link_set(&bad[i]), -EINVAL);
                CHECK_EQ(eddy_test_stream_pair(&bad[i], &first, &second), -EINVAL);
        }
        CHECK(!first && !second);
        CHECK_EQ(eddy_test_thread_job_ns(0), -EINVAL);
        CHECK_EQ(eddy_test_thread_job_ns(-1), -EINVAL);
        CHECK_EQ(eddy_test_thread_job_ns(INT64_MAX), -EINVAL);
}

/* --- pairs --- */

static void write_text(eddy_stream *stream, const char *text)
{
        CHECK_EQ(eddy_stream_write(stream, text, strlen(text)), 0);
}

/* Fails unless that comes next, in whatever pieces. */
static void expect_text(eddy_stream *stream, const char *text)
{
        char got[64] = "";

        for (size_t at = 0; at < strlen(text);) {
                int64_t n = eddy_stream_read(stream, got + at, strlen(text) - at);

                CHECK(n > 0);
                at += (size_t) n;
        }
        CHECK_STR(got, text);
}

static int64_t read_byte(eddy_stream *stream)
{
        char byte;

        return eddy_stream_read(stream, &byte, 1);
}

NET_TEST(a_pair_carries_bytes_both_ways_and_their_ends)
{
        eddy_stream *first, *second;

        CHECK_EQ(eddy_test_stream_pair(NULL, &first, &second), 0);
        write_text(first, "there");
        expect_text(second, "there");
        write_text(second, "and back");
        CHECK_EQ(eddy_stream_shutdown(second), 0);
        expect_text(first, "and back");
        CHECK_EQ(read_byte(first), 0);
        eddy_stream_close(first);
        CHECK_EQ(read_byte(second), 0);
        eddy_stream_close(second);
}

NET_TEST(a_pair_is_late_by_its_delay)
{
        struct eddy_test_link link = { .delay_ns = 30 * MS };
        eddy_stream *first, *second;
        int64_t begin = eddy_now();

        CHECK_EQ(eddy_test_stream_pair(&link, &first, &second), 0);
        write_text(first, "x");
        expect_text(second, "x");
        CHECK(eddy_now() - begin >= 30 * MS && eddy_now() - begin < 31 * MS);
        eddy_stream_close(first);
        eddy_stream_close(second);
}

NET_TEST(a_buffer_holds_its_number_of_bytes)
{
        struct eddy_scope_opts opts = { .timeout_ns = MS };
        struct eddy_test_link link = { .buffer_bytes = 4 };
        eddy_stream *first, *second;
        eddy_scope scope;

        CHECK_EQ(eddy_test_stream_pair(&link, &first, &second), 0);
        write_text(first, "four");
        eddy_scope_begin(&scope, &opts);
        CHECK_EQ(eddy_stream_write(first, "x", 1), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        expect_text(second, "four");
        eddy_stream_close(first);
        eddy_stream_close(second);
}

NET_TEST(the_first_end_is_the_server_whose_bytes_are_counted)
{
        struct eddy_test_link link = { .cut = EDDY_TEST_CUT_END, .by_server = 1, .cut_bytes = 3 };
        eddy_stream *first, *second;

        CHECK_EQ(eddy_test_stream_pair(&link, &first, &second), 0);
        write_text(second, "more than three");
        expect_text(first, "more than three");
        CHECK(eddy_stream_write(first, "abcdef", 6) < 0);
        expect_text(second, "abc");
        CHECK_EQ(read_byte(second), 0);
        eddy_stream_close(first);
        eddy_stream_close(second);
}

NET_TEST(a_cut_by_a_reset_is_one_for_both)
{
        struct eddy_test_link link = { .cut = EDDY_TEST_CUT_RESET, .cut_bytes = 2 };
        eddy_stream *first, *second;

        CHECK_EQ(eddy_test_stream_pair(&link, &first, &second), 0);
        CHECK(eddy_stream_write(second, "abc", 3) < 0);
        expect_text(first, "ab");
        CHECK_EQ(read_byte(first), -ECONNRESET);
        eddy_stream_close(first);
        eddy_stream_close(second);
}

NET_TEST(a_stall_holds_up_the_bytes_after_its_place)
{
        struct eddy_test_link link = { .stall_ns = EDDY_MIN(1), .stall_bytes = 2 };
        eddy_stream *first, *second;
        int64_t begin = eddy_now();

        CHECK_EQ(eddy_test_stream_pair(&link, &first, &second), 0);
        write_text(second, "on time? no");
        expect_text(first, "on");
        CHECK(eddy_now() - begin < MS);
        expect_text(first, " time? no");
        CHECK(eddy_now() - begin >= EDDY_MIN(1));
        eddy_stream_close(first);
        eddy_stream_close(second);
}

/* More pieces than are distinguished on their way. */
NET_TEST(a_stall_holds_up_nothing_that_came_before_it)
{
        struct eddy_test_link link = { .delay_ns = EDDY_SEC(1),
                                       .stall_ns = EDDY_MIN(1),
                                       .stall_bytes = 50 };
        eddy_stream *first, *second;
        int64_t begin = eddy_now();

        CHECK_EQ(eddy_test_stream_pair(&link, &first, &second), 0);
        for (int i = 0; i < 60; i++) {
                write_text(second, "x");
                CHECK_EQ(eddy_sleep(MS), 0);
        }
        for (int i = 0; i < 50; i++)
                CHECK_EQ(read_byte(first), 1);
        CHECK(eddy_now() - begin < EDDY_SEC(2));
        for (int i = 0; i < 10; i++)
                CHECK_EQ(read_byte(first), 1);
        CHECK(eddy_now() - begin >= EDDY_MIN(1));
        eddy_stream_close(first);
        eddy_stream_close(second);
}

/* All allocations and calls of a pair may fail, and nothing is left then. */
static int make_pair(void *arg)
{
        eddy_stream *first, *second;
        int err = eddy_test_stream_pair(NULL, &first, &second);

        (void) arg;
        if (err < 0)
                return err;
        err = eddy_stream_write(first, "x", 1);
        if (err == 0)
                err = (int) read_byte(second);
        eddy_stream_close(first);
        eddy_stream_close(second);
        return err;
}

TEST(a_pair_that_fails_leaves_nothing)
{
        struct eddy_test_sweep sweep;

        CHECK_EQ(eddy_test_sweep(EDDY_TEST_ALLOC, make_pair, NULL, NULL, &sweep), 0);
        CHECK(sweep.failed >= 4);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_CALLS, make_pair, NULL, NULL, &sweep), 0);
        CHECK(sweep.failed >= 2);
}

/* --- connections --- */

enum { CLIENTS = 5 };

struct crowd {
        eddy_listener *listener;
        int number;
};

static int say_number(void *arg)
{
        struct crowd *crowd = arg;
        char digit = (char) ('1' + crowd->number++);
        eddy_stream *stream;
        int err = eddy_tcp_connect("127.0.0.1", eddy_listener_port(crowd->listener), NULL, &stream);

        if (err < 0)
                return err;
        err = eddy_stream_write(stream, &digit, 1);
        eddy_stream_close(stream);
        return err;
}

/* In which order clients are accepted that connected one after the other, as digits. */
static int order_of_accepts(void *arg)
{
        struct crowd crowd = { 0 };
        int order = 0;

        CHECK_EQ(eddy_test_link_set(arg), 0);
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &crowd.listener), 0);
        for (int i = 0; i < CLIENTS; i++)
                CHECK_EQ(say_number(&crowd), 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        for (int i = 0; i < CLIENTS; i++) {
                eddy_stream *stream;
                char digit;

                CHECK_EQ(eddy_listener_accept(crowd.listener, &stream), 0);
                CHECK_EQ(eddy_stream_read(stream, &digit, 1), 1);
                order = order * 10 + digit - '0';
                eddy_stream_close(stream);
        }
        eddy_listener_close(crowd.listener);
        return order;
}

TEST(connections_overtake_each_other_only_if_they_may)
{
        struct eddy_test_link may = { .reorder = 1 }, plain = { 0 };
        int late = 0;

        for (uint64_t seed = 1; seed <= 40; seed++) {
                struct eddy_test_opts opts = { .seed = seed };
                int order = eddy_test_run(order_of_accepts, &may, &opts, NULL);

                CHECK_EQ(eddy_test_run(order_of_accepts, &may, &opts, NULL), order);
                CHECK_EQ(eddy_test_run(order_of_accepts, &plain, &opts, NULL), 12345);
                late += order != 12345;
        }
        CHECK(late > 30);
}

NET_TEST(a_link_is_of_the_connections_made_from_then_on)
{
        struct eddy_test_link link = { .delay_ns = 10 * MS };
        eddy_listener *listener;
        eddy_stream *client, *server;
        int64_t begin = eddy_now();

        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        CHECK_EQ(eddy_test_link_set(&link), 0);
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", eddy_listener_port(listener), NULL, &client), 0);
        CHECK(eddy_now() - begin >= 20 * MS && eddy_now() - begin < 21 * MS);
        CHECK_EQ(eddy_test_link_set(NULL), 0);
        CHECK_EQ(eddy_listener_accept(listener, &server), 0);
        begin = eddy_now();
        write_text(server, "still late");
        expect_text(client, "still late");
        CHECK(eddy_now() - begin >= 10 * MS);
        eddy_stream_close(client);
        eddy_stream_close(server);
        begin = eddy_now();
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", eddy_listener_port(listener), NULL, &client), 0);
        CHECK(eddy_now() - begin < MS);
        eddy_stream_close(client);
        eddy_listener_close(listener);
}

/* --- names, addresses, threads --- */

NET_TEST(names_are_those_that_were_added_as_they_were_added_last)
{
        struct eddy_address found[2];

        CHECK_EQ(eddy_dns_lookup("api.example", found, 2), EDDY_E_DNS_NOT_FOUND);
        CHECK_EQ(eddy_test_name_add("API.example", &here, 1), 0);
        CHECK_EQ(eddy_dns_lookup("api.example", found, 2), 1);
        CHECK(memcmp(&found[0], &here, sizeof(here)) == 0);
        CHECK_EQ(eddy_test_name_add("api.example", &far, 1), 0);
        CHECK_EQ(eddy_dns_lookup("api.example", found, 2), 1);
        CHECK(memcmp(&found[0], &far, sizeof(far)) == 0);
        CHECK_EQ(eddy_test_name_add("api.example", NULL, 0), 0);
        CHECK_EQ(eddy_dns_lookup("api.example", found, 2), EDDY_E_DNS_NO_ADDRESS);
        CHECK_EQ(eddy_dns_lookup("localhost", found, 2), 2);
        CHECK_EQ(eddy_test_name_add("b\xc3\xbc"
                                    "cher.example",
                                    &here, 1),
                 0);
        CHECK_EQ(eddy_dns_lookup("xn--bcher-kva.example", found, 2), 1);
}

NET_TEST(names_that_are_never_asked_for_cannot_be_added)
{
        char name[] = "na";

        CHECK_EQ(eddy_test_name_add("localhost", &here, 1), -EINVAL);
        CHECK_EQ(eddy_test_name_add("10.0.0.1", &here, 1), -EINVAL);
        CHECK_EQ(eddy_test_name_add("no name", &here, 1), -EINVAL);
        CHECK_EQ(eddy_test_name_add("", &here, 1), -EINVAL);
        CHECK_EQ(eddy_test_name_add("many.example", &here, EDDY_DNS_ADDRESSES_MAX + 1), -EINVAL);
        for (int i = 0; i < EDDY_TEST_NAMES_MAX; i++, name[1]++) {
                if (name[1] == 'z' + 1)
                        name[1] = '0';
                CHECK_EQ(eddy_test_name_add(name, &here, 1), 0);
        }
        CHECK_EQ(eddy_test_name_add("one.more", &here, 1), -ENOSPC);
        CHECK_EQ(eddy_test_name_add("na", &far, 1), 0);
}

NET_TEST(a_dead_address_answers_no_request)
{
        struct eddy_address other = far;
        int64_t begin = eddy_now();
        eddy_stream *stream;

        CHECK_EQ(eddy_test_address_dead(&far), 0);
        CHECK_EQ(eddy_tcp_connect("10.0.0.9", 80, NULL, &stream), EDDY_E_NET_TIMED_OUT);
        CHECK(eddy_now() - begin >= EDDY_MIN(2) && eddy_now() - begin < EDDY_MIN(3));
        CHECK_EQ(eddy_tcp_connect("10.0.0.8", 80, NULL, &stream), -ECONNREFUSED);
        for (int i = 1; i < EDDY_TEST_DEAD_MAX; i++) {
                other.bytes[3]++;
                CHECK_EQ(eddy_test_address_dead(&other), 0);
        }
        CHECK_EQ(eddy_test_address_dead(&far), 0);
        other.bytes[3]++;
        CHECK_EQ(eddy_test_address_dead(&other), -ENOSPC);
}

static int answer(void *arg)
{
        (void) arg;
        return 42;
}

NET_TEST(jobs_of_threads_last_as_long_as_was_said)
{
        int64_t begin;

        CHECK_EQ(eddy_test_thread_job_ns(EDDY_SEC(3)), 0);
        begin = eddy_now();
        CHECK_EQ(eddy_to_thread(answer, NULL), 42);
        CHECK(eddy_now() - begin >= EDDY_SEC(3) && eddy_now() - begin < EDDY_SEC(3) + MS);
}

/* --- debug mode --- */

static int answers_late(void *stream)
{
        int err = eddy_sleep(EDDY_SEC(100));

        if (err == 0)
                err = eddy_stream_write(stream, "x", 1);
        return err;
}

/* Waits for the network, without a deadline. */
static int waits_long(void *arg)
{
        eddy_stream *server, *client;
        eddy_scope scope;
        char byte;

        (void) arg;
        CHECK_EQ(eddy_test_stream_pair(NULL, &server, &client), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, answers_late, server), 0);
        CHECK_EQ(eddy_stream_read(client, &byte, 1), 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_stream_close(server);
        eddy_stream_close(client);
        return 0;
}

static void expect_wait(const struct eddy_report *report, void *arg)
{
        if (report->kind != EDDY_REPORT_WAIT)
                return;
        CHECK(strncmp(report->text, "has waited ", 11) == 0);
        CHECK(strtol(report->text + 11, NULL, 10) / 1000 == 99 ||
              strtol(report->text + 11, NULL, 10) / 1000 == 100);
        ++*(int *) arg;
}

/* When the clock comes there: no timer of debug mode wakes the run, whose points are the same. */
TEST(a_long_wait_is_reported_in_debug_mode_and_adds_no_suspension_point)
{
        int reports = 0;
        struct eddy_run_opts debug = { .flags = EDDY_RUN_DEBUG,
                                       .report = expect_wait,
                                       .report_arg = &reports },
                             plain = { .flags = EDDY_RUN_NO_DEBUG };
        struct eddy_test_result results[2];

        CHECK_EQ(eddy_test_run(waits_long, NULL, &(struct eddy_test_opts){ .run = &debug },
                               &results[0]),
                 0);
        CHECK_EQ(reports, 1);
        CHECK_EQ(eddy_test_run(waits_long, NULL, &(struct eddy_test_opts){ .run = &plain },
                               &results[1]),
                 0);
        CHECK_EQ(results[0].points, results[1].points);
        CHECK_EQ(results[0].calls, results[1].calls);
        CHECK_EQ(results[0].allocations, results[1].allocations);
        CHECK_EQ(results[0].trace, results[1].trace);
}
