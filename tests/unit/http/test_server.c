/*
 * test_server.c - the server with clients that keep to HTTP: what it answers,
 * what becomes of the connection, and how it stops.
 */
#include <time.h>
#include <unistd.h>

#include "loop/loop.h"
#include "server_test.h"
#include "test/memory.h"

#define HOST       "Host: h\r\n"
#define GET(path)  "GET " path " HTTP/1.1\r\n" HOST "\r\n"
#define LAST(path) "GET " path " HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n"
#define CLOSES     "Connection: close\r\n"

/* ---- one connection, many requests ----------------------------------------- */

SERVER_TEST_BOTH(connection_is_kept_alive, NULL)
{
        eddy_stream *stream = site_connect(site);

        for (int i = 0; i < 3; i++) {
                const char *text = say(stream, GET("/ok"), "\r\n\r\nok");

                CHECK_HAS(text, "HTTP/1.1 200 OK\r\n");
                CHECK_HAS(text, "Content-Length: 2\r\n");
                CHECK_HAS_NOT(text, "Connection:");
        }
        CHECK_EQ(site->handled, 3);
        eddy_stream_close(stream);
}

SERVER_TEST_BOTH(pipelined_requests_are_answered_in_order, NULL)
{
        const struct answer *answer =
                ask(site,
                    GET("/ok") "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello" GET(
                            "/chunked") "POST /echo HTTP/1.1\r\n" HOST
                                        "Transfer-Encoding: chunked\r\n\r\n"
                                        "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n" GET("/nothing")
                                                LAST("/tell"));

        CHECK_EQ(answer->responses, 6);
        CHECK_STR(site->order, "oecent");
        CHECK_HAS(answer->text, "\r\n\r\nokHTTP/1.1");
        CHECK_HAS(answer->text, "\r\n\r\nhelloHTTP/1.1");
        CHECK_HAS(answer->text, "\r\n\r\nabcdeHTTP/1.1");
        CHECK_HAS(answer->text, "GET|/tell|/tell|");
        CHECK_EQ(answer->error, 0);
}

SERVER_TEST_BOTH(request_that_says_close_is_the_last, NULL)
{
        const struct answer *answer = ask(site, LAST("/ok") GET("/ok"));

        CHECK_EQ(answer->responses, 1);
        CHECK_HAS(answer->text, CLOSES);
        CHECK_EQ(answer->error, 0);
        CHECK_EQ(site->handled, 1);
}

SERVER_TEST_BOTH(response_that_says_close_is_the_last, NULL)
{
        const struct answer *answer = ask(site, GET("/last") GET("/ok"));

        CHECK_EQ(answer->responses, 1);
        CHECK_HAS(answer->text, CLOSES);
        CHECK_HAS(answer->text, "\r\n\r\nbye");
        CHECK_EQ(answer->error, 0);
        CHECK_EQ(site->handled, 1);
}

SERVER_TEST(http_1_0_closes_unless_it_says_keep_alive, NULL)
{
        const struct answer *answer = ask(site, "GET /ok HTTP/1.0\r\n\r\n" GET("/ok"));

        CHECK_EQ(answer->responses, 1);
        CHECK_HAS(answer->text, CLOSES);
        answer = ask(site, "GET /ok HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
                           "GET /ok HTTP/1.0\r\n\r\n");
        CHECK_EQ(answer->responses, 2);
        CHECK_HAS(answer->text, "Connection: keep-alive\r\n");
        CHECK_HAS(answer->text, CLOSES);
}

/* A body of unknown length to HTTP/1.0 ends with the connection. */
SERVER_TEST(unknown_length_to_http_1_0_ends_with_the_connection, NULL)
{
        const struct answer *answer =
                ask(site, "GET /chunked HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");

        CHECK_HAS(answer->text, CLOSES);
        CHECK_HAS(answer->text, "\r\n\r\nabcabcabc");
        CHECK_HAS_NOT(answer->text, "chunked");
        CHECK_EQ(answer->error, 0);
}

/* B38: so one that was not finished must not look like an end. */
SERVER_TEST(unfinished_body_to_http_1_0_ends_in_a_reset, NULL)
{
        CHECK_ERR(ask(site, "GET /unended HTTP/1.0\r\n\r\n")->error, -ECONNRESET);
        CHECK_ERR(ask(site, "GET /fail-late HTTP/1.0\r\n\r\n")->error, -ECONNRESET);
        CHECK_ERR(ask(site, "GET /abort-inside HTTP/1.0\r\n\r\n")->error, -ECONNRESET);
}

/* ---- what a response is made of -------------------------------------------- */

SERVER_TEST_BOTH(head_is_answered_without_body, NULL)
{
        const struct answer *answer =
                ask(site, "HEAD /ok HTTP/1.1\r\n" HOST "\r\nHEAD /chunked HTTP/1.1\r\n" HOST
                          "\r\nHEAD /length HTTP/1.1\r\n" HOST "\r\n" LAST("/ok"));

        CHECK_EQ(answer->responses, 4);
        CHECK_HAS(answer->text, "Content-Length: 2\r\n");
        CHECK_HAS(answer->text, "Content-Length: 9\r\n");
        CHECK_HAS(answer->text, "Transfer-Encoding: chunked\r\n");
        CHECK_HAS_NOT(answer->text, "abc");
        CHECK_STR(strstr(answer->text, "\r\n\r\nok"), "\r\n\r\nok");
}

SERVER_TEST(statuses_without_body_have_no_length, NULL)
{
        const struct answer *answer = ask(site, GET("/empty") GET("/not-modified") LAST("/ok"));

        CHECK_EQ(answer->responses, 3);
        CHECK_HAS(answer->text, "HTTP/1.1 204 ");
        CHECK_HAS(answer->text, "HTTP/1.1 304 ");
        CHECK_HAS_NOT(answer->text, "Content-Length: 0");
        CHECK_HAS_NOT(answer->text, "Transfer-Encoding");
}

/* RFC 9110, 15.3.6: clients read a body of a 205, so its length is there, and 0. */
SERVER_TEST(status_205_has_no_content, NULL)
{
        const struct answer *answer = ask(site, GET("/reset") LAST("/ok"));

        CHECK_EQ(answer->responses, 2);
        CHECK_HAS(answer->text, "HTTP/1.1 205 ");
        CHECK_HAS(answer->text, "Content-Length: 0\r\n");
        CHECK_HAS_NOT(answer->text, "Transfer-Encoding");
}

SERVER_TEST(unknown_length_is_chunked, NULL)
{
        const struct answer *answer = ask(site, LAST("/chunked"));

        CHECK_HAS(answer->text, "Transfer-Encoding: chunked\r\n");
        CHECK_HAS(answer->text, "\r\n\r\n3\r\nabc\r\n3\r\nabc\r\n3\r\nabc\r\n0\r\n\r\n");
        CHECK_HAS_NOT(answer->text, "Content-Length");
}

/* B48: more or less than was promised is an error, and the connection ends. */
SERVER_TEST(wrong_lengths_are_errors, NULL)
{
        const struct answer *answer = ask(site, GET("/short") GET("/ok"));

        CHECK_EQ(answer->responses, 1);
        CHECK_ERR(site->failed, EDDY_E_HTTP_STATE);
        site->failed = 0;
        answer = ask(site, GET("/long") GET("/ok"));
        CHECK_EQ(answer->responses, 1);
        CHECK_ERR(site->failed, EDDY_E_HTTP_STATE);
        CHECK_STR(strstr(answer->text, "\r\n\r\n"), "\r\n\r\nabcabc");
}

SERVER_TEST(calls_after_a_response_are_errors, NULL)
{
        const struct answer *answer = ask(site, GET("/twice") LAST("/ok"));

        CHECK_EQ(answer->responses, 2);
        CHECK_HAS(answer->text, "once");
        CHECK_HAS_NOT(answer->text, "twice");
}

SERVER_TEST(handler_that_answers_nothing_answers_404, NULL)
{
        const struct answer *answer = ask(site, GET("/nothing") LAST("/ok"));

        CHECK_EQ(answer->status, 404);
        CHECK_EQ(answer->responses, 2);
}

/* A139: a handler that fails is answered for. */
SERVER_TEST(handler_that_fails_answers_500_and_the_connection_is_kept, NULL)
{
        const struct answer *answer = ask(site, GET("/fail") LAST("/ok"));

        CHECK_EQ(answer->status, 500);
        CHECK_EQ(answer->responses, 2);
        /* Whatever its error is: nothing has cancelled it. */
        CHECK_EQ(ask(site, LAST("/fail-canceled"))->status, 500);
}

SERVER_TEST(handler_that_fails_late_cuts_the_response, NULL)
{
        static const char *const paths[] = { GET("/fail-late") GET("/ok"),
                                             GET("/unended") GET("/ok") };

        for (size_t i = 0; i < 2; i++) {
                const struct answer *answer = ask(site, paths[i]);

                CHECK_EQ(answer->responses, 1);
                CHECK_HAS(answer->text, "3\r\nabc\r\n");
                CHECK_HAS_NOT(answer->text, "0\r\n\r\n");
        }
}

SERVER_TEST_BOTH(abort_drops_the_connection, NULL)
{
        const struct answer *answer = ask(site, GET("/abort"));

        CHECK_EQ(answer->bytes, 0);
        answer = ask(site, GET("/abort-inside"));
        CHECK_EQ(answer->responses, 1);
        CHECK_HAS_NOT(answer->text, "0\r\n\r\n");
}

/* B47: a handler's header cannot break out; nothing is sent then. */
SERVER_TEST(injection_by_the_handler_is_refused, NULL)
{
        const struct answer *answer = ask(site, LAST("/inject"));

        CHECK_EQ(answer->responses, 1);
        CHECK_EQ(answer->status, 200);
        CHECK_HAS(answer->text, "X-Good: 1\r\n");
        CHECK_HAS_NOT(answer->text, "vil");
}

SERVER_TEST(request_is_reported_as_it_was_sent, NULL)
{
        CHECK_HAS(ask(site, LAST("/tell/%20a?b=c?d"))->text,
                  "\r\n\r\nGET|/tell/%20a?b=c?d|/tell/%20a|b=c?d");
        CHECK_HAS(ask(site, "GET http://h/tell?q HTTP/1.1\r\n" HOST CLOSES "\r\n")->text,
                  "\r\n\r\nGET|http://h/tell?q|/tell|q");
        CHECK_EQ(ask(site, "GET http://h?q HTTP/1.1\r\n" HOST CLOSES "\r\n")->status, 404);
}

/* RFC 9112, 3.2.2: beside an absolute target the Host field does not count. */
SERVER_TEST(host_is_that_of_the_target_if_it_has_one, NULL)
{
        static const char *const cases[][2] = {
                { "GET /host HTTP/1.1\r\nHost: h:81\r\n", "[h:81]" },
                { "GET http://G.example:80/host?a HTTP/1.1\r\n" HOST, "[G.example:80]" },
                { "GET http://[::1]/host HTTP/1.1\r\n" HOST, "[[::1]]" },
                { "GET http://g/host HTTP/1.0\r\n", "[g]" },
                { "GET /host HTTP/1.0\r\n", "[]" },
                { "OPTIONS /host HTTP/1.1\r\n" HOST, "[h]" },
        };
        char text[200];

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                snprintf(text, sizeof(text), "%s" CLOSES "\r\n", cases[i][0]);
                CHECK_STR(strstr(ask(site, text)->text, "\r\n\r\n") + 4, cases[i][1]);
        }
}

static void date_field(char *out, size_t room)
{
        struct ed_sys *sys = ed_loop_current->sys;
        time_t now = (time_t) (sys->poll->time_of_day(sys) / EDDY_SEC(1));
        struct tm tm;

        CHECK(gmtime_r(&now, &tm));
        CHECK(strftime(out, room, "\r\nDate: %a, %d %b %Y %H:%M:%S GMT\r\n", &tm) > 0);
}

/* RFC 9110, 6.6.1: the date is there, and it is the time of day. */
SERVER_TEST_BOTH(date_is_that_of_now, NULL)
{
        eddy_stream *stream = site_connect(site);
        char before[64], after[64];

        for (int i = 0; i < 3; i++) {
                const char *text;

                date_field(before, sizeof(before));
                text = say(stream, GET("/ok"), "\r\n\r\nok");
                date_field(after, sizeof(after));
                if (!strstr(text, before))
                        CHECK_HAS(text, after);
                http_pause(EDDY_MS(600));
        }
        eddy_stream_close(stream);
}

/* ---- bodies of requests ---------------------------------------------------- */

static const struct answer *ask_with_body(struct site *site, const char *head, size_t bytes,
                                          const char *next)
{
        size_t room = strlen(head) + bytes + strlen(next);
        char *text = malloc(room + 1);
        const struct answer *answer;

        CHECK(text);
        snprintf(text, room + 1, "%s", head);
        memset(text + strlen(head), 'x', bytes);
        memcpy(text + strlen(head) + bytes, next, strlen(next));
        answer = ask_bytes(site, text, strlen(head) + bytes + strlen(next));
        free(text);
        return answer;
}

SERVER_TEST_BOTH(small_unread_body_is_dropped_and_the_connection_kept, NULL)
{
        const struct answer *answer =
                ask_with_body(site, "POST /ok HTTP/1.1\r\n" HOST "Content-Length: 200000\r\n\r\n",
                              200000, LAST("/tell"));

        CHECK_EQ(answer->responses, 2);
        CHECK_HAS(answer->text, "GET|/tell");
}

#define CHUNKED(rest) "POST /ok HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n" rest

/* The end of a chunked body is known once its bytes have arrived. */
SERVER_TEST_BOTH(unread_chunks_that_have_arrived_do_not_close_the_connection, NULL)
{
        const struct answer *answer =
                ask(site, CHUNKED("3\r\nabc\r\n2\r\nde\r\n0\r\nT: u\r\n\r\n") LAST("/tell"));

        CHECK_EQ(answer->responses, 2);
        CHECK_HAS(answer->text, "GET|/tell");
}

SERVER_TEST(unread_chunks_that_are_incomplete_or_invalid_close_the_connection, NULL)
{
        static const char *const cases[] = {
                CHUNKED("3\r\nabc\r\n0\r\n"),
                CHUNKED("3\r\nabc\r\n"),
                CHUNKED(""),
                CHUNKED("3\r\nabcd\r\n0\r\n\r\n") LAST("/tell"),
                CHUNKED("3\r\nabc\r\nx\r\n\r\n") LAST("/tell"),
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                const struct answer *answer = ask(site, cases[i]);

                CHECK_EQ(answer->responses, 1);
                CHECK_EQ(answer->status, 200);
                CHECK_HAS(answer->text, CLOSES);
        }
}

SERVER_TEST_BOTH(large_unread_body_closes_the_connection, NULL)
{
        const struct answer *answer = ask_with_body(
                site, "POST /ok HTTP/1.1\r\n" HOST "Content-Length: 300000\r\n\r\n", 200000, "");

        CHECK_EQ(answer->responses, 1);
        CHECK_EQ(answer->status, 200);
        CHECK_HAS(answer->text, CLOSES);
}

/* A body that never comes does not hold the connection for ever. */
SERVER_TEST(unread_body_that_does_not_come_is_given_up,
            SERVER_OPTIONS(.head_timeout_ns = EDDY_SEC(5)))
{
        const struct answer *answer =
                ask(site, "POST /ok HTTP/1.1\r\n" HOST "Content-Length: 1000\r\n\r\nabc");

        CHECK_EQ(answer->status, 200);
        CHECK(answer->lasted_ns <= EDDY_SEC(7));
}

SERVER_TEST_BOTH(body_is_asked_for_by_100_continue, NULL)
{
        eddy_stream *stream = site_connect(site);
        struct answer *answer = calloc(1, sizeof(*answer));

        CHECK(answer);
        (void) say(stream,
                   "POST /echo HTTP/1.1\r\n" HOST CLOSES
                   "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n",
                   "HTTP/1.1 100 Continue\r\n\r\n");
        CHECK_EQ(eddy_stream_write(stream, "hello", 5), 0);
        read_answer(stream, answer);
        CHECK_EQ(answer->status, 200);
        CHECK_HAS(answer->text, "\r\n\r\nhello");
        free(answer);
        eddy_stream_close(stream);
}

/* Answered without it, the client does not send the body: the connection ends. */
SERVER_TEST(unwanted_body_is_not_asked_for, NULL)
{
        const struct answer *answer =
                ask(site, "POST /ok HTTP/1.1\r\n" HOST
                          "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n");

        CHECK_EQ(answer->status, 200);
        CHECK_HAS(answer->text, CLOSES);
        CHECK_HAS_NOT(answer->text, "100 Continue");
}

SERVER_TEST(other_expectations_are_refused, NULL)
{
        const struct answer *answer = ask(site, "POST /ok HTTP/1.1\r\n" HOST
                                                "Expect: miracles\r\nContent-Length: 0\r\n\r\n");

        CHECK_EQ(answer->status, 417);
        CHECK_HAS(answer->text, CLOSES);
        CHECK_EQ(site->handled, 0);
}

/* ---- time ------------------------------------------------------------------ */

SERVER_TEST(idle_connection_is_closed_in_its_time, SERVER_OPTIONS(.idle_timeout_ns = EDDY_SEC(5)))
{
        const struct answer *answer = ask(site, "");

        CHECK_EQ(answer->bytes, 0);
        CHECK_EQ(answer->lasted_ns, EDDY_SEC(5));
        answer = ask(site, GET("/ok"));
        CHECK_EQ(answer->responses, 1);
        CHECK_EQ(answer->error, 0);
        CHECK_EQ(answer->lasted_ns, EDDY_SEC(5));
}

SERVER_TEST(head_that_does_not_end_is_answered_408, SERVER_OPTIONS(.head_timeout_ns = EDDY_SEC(3)))
{
        const struct answer *answer = ask(site, "GET / HTTP/1.1\r\nHos");

        CHECK_EQ(answer->status, 408);
        CHECK_HAS(answer->text, CLOSES);
        CHECK(answer->lasted_ns >= EDDY_SEC(3));
        answer = ask(site, GET("/ok") "G");
        CHECK_EQ(answer->responses, 2);
        CHECK_HAS(answer->text, "HTTP/1.1 408 ");
}

static void trickle(struct site *site, const char *text, int64_t pause_ns, struct answer *answer)
{
        eddy_stream *stream = site_connect(site);
        int err = 0;

        for (; *text && err == 0; text++) {
                err = eddy_stream_write(stream, text, 1);
                http_pause(pause_ns);
        }
        read_answer(stream, answer);
        eddy_stream_close(stream);
}

SERVER_TEST(client_that_sends_byte_by_byte_is_served, NULL)
{
        struct answer *answer = calloc(1, sizeof(*answer));

        CHECK(answer);
        trickle(site,
                "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
                "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: u\r\n\r\n" LAST("/ok"),
                EDDY_MS(10), answer);
        CHECK_EQ(answer->responses, 2);
        CHECK_HAS(answer->text, "\r\n\r\nabcde");
        free(answer);
}

SERVER_TEST(trickling_does_not_stretch_the_time_of_a_head,
            SERVER_OPTIONS(.head_timeout_ns = EDDY_SEC(3)))
{
        struct answer *answer = calloc(1, sizeof(*answer));
        int64_t before = eddy_now();

        CHECK(answer);
        trickle(site, "GET /", EDDY_MS(900), answer);
        CHECK_EQ(answer->status, 408);
        CHECK(eddy_now() - before < EDDY_SEC(6));
        free(answer);
}

/* ---- how many -------------------------------------------------------------- */

SERVER_TEST(connections_beyond_the_limit_wait, SERVER_OPTIONS(.connections_max = 2))
{
        eddy_stream *first = site_connect(site), *second = site_connect(site);
        eddy_stream *third;

        (void) say(first, GET("/ok"), "\r\n\r\nok");
        (void) say(second, GET("/ok"), "\r\n\r\nok");
        third = site_connect(site);
        CHECK_EQ(eddy_stream_write(third, GET("/ok"), strlen(GET("/ok"))), 0);
        http_pause(EDDY_SEC(1));
        CHECK_EQ(site->handled, 2);
        eddy_stream_close(first);
        (void) say(third, "", "\r\n\r\nok");
        CHECK_EQ(site->handled, 3);
        eddy_stream_close(second);
        eddy_stream_close(third);
}

/* ---- stopping -------------------------------------------------------------- */

struct stop {
        struct site *site;
        struct answer *answer;
        const char *text;
        int64_t ended_ns;
};

static int stop_client(void *arg)
{
        struct stop *client = arg;
        eddy_stream *stream = site_connect(client->site);

        CHECK_EQ(eddy_stream_write(stream, client->text, strlen(client->text)), 0);
        read_answer(stream, client->answer);
        client->ended_ns = eddy_now();
        eddy_stream_close(stream);
        return 0;
}

/* A client of 'text' is there for half a second, then the server is stopped. */
static void check_stop(struct site *site, const char *text, int64_t expected_ns, int responses)
{
        struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_SHIELD, .timeout_ns = EDDY_MIN(1) };
        struct stop client = { .site = site, .text = text };
        eddy_scope scope;
        int64_t stopped_ns;

        client.answer = calloc(1, sizeof(*client.answer));
        CHECK(client.answer);
        eddy_scope_begin(&scope, &opts);
        CHECK_EQ(eddy_scope_start(&scope, stop_client, &client), 0);
        http_pause(EDDY_MS(500));
        stopped_ns = eddy_now();
        eddy_scope_cancel(site->scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ((client.ended_ns - stopped_ns) / EDDY_MS(10), expected_ns / EDDY_MS(10));
        CHECK_EQ(client.answer->responses, responses);
        if (responses > 0 && expected_ns > 0) /* answered after the stop */
                CHECK_HAS(client.answer->text, CLOSES);
        free(client.answer);
}

/* A135: stopping a server ends its connections, at once if it is to drain none. */
SERVER_TEST(stop_without_drain_ends_all_at_once, NULL)
{
        check_stop(site, GET("/slow"), 0, 0);
}

SERVER_TEST(stop_closes_idle_connections_at_once, SERVER_OPTIONS(.drain_ns = EDDY_SEC(10)))
{
        check_stop(site, GET("/ok"), 0, 1);
}

/* A135: it waits for those that have a request under way. */
SERVER_TEST(stop_lets_a_request_under_way_finish, SERVER_OPTIONS(.drain_ns = EDDY_SEC(10)))
{
        check_stop(site, GET("/slow") GET("/ok"), EDDY_MS(2500), 1);
}

/* A135, A139: and cancels the handlers that take longer, without an answer. */
SERVER_TEST(stop_cancels_requests_that_take_too_long, SERVER_OPTIONS(.drain_ns = EDDY_SEC(1)))
{
        check_stop(site, GET("/slow"), EDDY_SEC(1), 0);
        CHECK_ERR(site->failed, -ECANCELED);
}

static void stop_at_once(struct site *site)
{
        struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_SHIELD, .timeout_ns = EDDY_MIN(1) };
        int64_t before = eddy_now();
        eddy_stream *streams[4];
        eddy_scope scope;

        eddy_scope_begin(&scope, &opts);
        for (int i = 0; i < 4; i++)
                streams[i] = site_connect(site);
        eddy_scope_cancel(site->scope);
        while (site->ended_ns == 0)
                http_pause(EDDY_MS(1));
        CHECK(site->ended_ns - before < EDDY_SEC(1));
        for (int i = 0; i < 4; i++)
                eddy_stream_close(streams[i]);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* In whatever order tasks run, a connection that was just accepted does not hold the server. */
TEST(stop_is_not_held_by_a_new_connection)
{
        for (uint64_t seed = 0; seed < 100; seed++) {
                http_set_seed(seed);
                site_run(SERVER_OPTIONS(.drain_ns = EDDY_SEC(10)), false, stop_at_once);
        }
}

/* ---- idle connections ------------------------------------------------------- */

SERVER_TEST(begun_head_is_kept_while_its_rest_is_late, NULL)
{
        eddy_stream *stream = site_connect(site);
        const char *text = GET("/ok");

        for (int i = 0; i < 2; i++) {
                CHECK_EQ(eddy_stream_write(stream, text, 8), 0);
                CHECK_EQ(eddy_sleep(EDDY_SEC(5)), 0);
                CHECK_HAS(say(stream, text + 8, "\r\n\r\nok"), "HTTP/1.1 200 OK\r\n");
        }
        CHECK_EQ(site->handled, 2);
        eddy_stream_close(stream);
}

SERVER_TEST(stop_ends_a_connection_that_keeps_no_buffer, NULL)
{
        eddy_stream *stream = site_connect(site);
        char byte;
        int err;

        CHECK_HAS(say(stream, GET("/ok"), "\r\n\r\nok"), "HTTP/1.1 200 OK\r\n");
        CHECK_EQ(eddy_sleep(EDDY_SEC(3)), 0);
        eddy_scope_cancel(site->scope);
        EDDY_SCOPE (shield, &err, .flags = EDDY_SCOPE_SHIELD)
                CHECK_EQ(eddy_stream_read(stream, &byte, 1), 0);
        CHECK_EQ(err, 0);
        eddy_stream_close(stream);
}

/* ---- Unix sockets ---------------------------------------------------------- */

static char unix_name[64];

static void listen_on_unix(struct site *site)
{
        snprintf(unix_name, sizeof(unix_name), "@eddy-test-server-%ld", (long) getpid());
        CHECK_EQ(eddy_unix_listen(unix_name, NULL, &site->listener), 0);
}

static void talk_on_unix(struct site *site)
{
        static struct answer answer;
        eddy_stream *stream;

        CHECK_EQ(eddy_unix_connect(unix_name, NULL, &stream), 0);
        CHECK_HAS(say(stream, GET("/ok"), "ok"), "HTTP/1.1 200 OK\r\n");
        CHECK_EQ(eddy_stream_write(stream, LAST("/ok"), strlen(LAST("/ok"))), 0);
        read_answer(stream, &answer);
        CHECK_EQ(answer.status, 200);
        CHECK_EQ(answer.error, 0);
        CHECK_EQ(site->handled, 2);
        eddy_stream_close(stream);
}

TEST(a_server_answers_on_a_unix_socket)
{
        site_run_prepared(NULL, false, listen_on_unix, talk_on_unix);
        site_run_prepared(NULL, true, listen_on_unix, talk_on_unix);
}
