/*
 * test_h2_server.c - a server's connections by HTTP/2: the same handlers give the same answers as by
 * HTTP/1, an answer that is not whole is a reset, and clients that go or stop do no harm.
 */
#include "eddy/test.h"
#include "h2_pair.h"
#include "h2_raw.h"
#include "server_test.h"

/* A client's connection to the site. */
struct talk {
        struct h2_side client;
        eddy_scope scope;
        char body[8192]; /* of the last answer, with a NUL */
        int64_t bytes;   /* or an error */
};

static struct talk talk;

static void talk_begin(struct site *site)
{
        memset(&talk, 0, sizeof(talk));
        h2_client_init(&talk.client, site_connect(site));
        eddy_scope_begin(&talk.scope, NULL);
        CHECK_EQ(h2_client_start(&talk.client, &talk.scope), 0);
}

static void talk_end(void)
{
        h2_client_stop(&talk.client);
        CHECK_EQ(eddy_scope_end(&talk.scope), 0);
        CHECK_EQ(talk.client.calls, 0);
}

/* Read the body into 'talk', and return the status. The call remains. */
static int take_answer(struct h2_call *call)
{
        int status = h2_await(call);
        int64_t n = 0;

        talk.bytes = 0;
        while (status > 0 &&
               (n = eddy_stream_read(&call->stream.stream, talk.body + talk.bytes,
                                     sizeof(talk.body) - 1 - (size_t) talk.bytes)) > 0)
                talk.bytes += n;
        talk.body[talk.bytes] = '\0';
        if (n < 0)
                talk.bytes = n;
        return status;
}

static int ask_for(const char *method, const char *path)
{
        struct h2_call *call = h2_send(&talk.client, method, path, false, NULL, 0);
        int status = take_answer(call);

        h2_close(call);
        return status;
}

static int post(const char *path, const char *body, const struct eddy_http_header *headers,
                size_t n)
{
        struct h2_call *call = h2_send(&talk.client, "POST", path, true, headers, n);
        int status;

        CHECK_EQ(eddy_stream_write(&call->stream.stream, body, strlen(body)), 0);
        CHECK_EQ(eddy_stream_shutdown(&call->stream.stream), 0);
        status = take_answer(call);
        h2_close(call);
        return status;
}

/* ---- answers ---------------------------------------------------------------------- */

SERVER_TEST(a_handler_answers_as_by_http1, NULL)
{
        static const struct {
                const char *path;
                int status;
                const char *body; /* NULL: a document of the server */
        } cases[] = {
                { "/ok", 200, "ok" },
                { "/tell?a=1", 200, "GET|/tell?a=1|/tell|a=1" },
                { "/host", 200, "[h]" },
                { "/chunked", 200, "abcabcabc" },
                { "/length", 200, "abcabcabc" },
                { "/empty", 204, "" },
                { "/reset", 205, "" },
                { "/not-modified", 304, "" },
                { "/twice", 200, "once" },
                { "/inject", 200, "fine" },
                { "/last", 200, "bye" },
                { "/fail", 500, NULL },
                { "/nowhere", 404, NULL },
                { "/ok", 200, "ok" },
        };

        talk_begin(site);
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                CHECK_EQ(ask_for("GET", cases[i].path), cases[i].status);
                if (cases[i].body)
                        CHECK_STR(talk.body, cases[i].body);
                else
                        CHECK_HAS(talk.body, "\"status\":");
                CHECK_EQ(talk.bytes, strlen(talk.body));
        }
        CHECK_EQ(ask_for("HEAD", "/ok"), 200);
        CHECK_EQ(talk.bytes, 0);
        talk_end();
}

SERVER_TEST(a_body_of_a_request_is_read, SERVER_OPTIONS(.body_bytes_max = 20))
{
        static const struct eddy_http_header length[] = { { "content-length", "30" } };
        static const struct eddy_http_header expect[] = { { "expect", "100-continue" } };
        static const struct eddy_http_header other[] = { { "expect", "magic" } };

        talk_begin(site);
        CHECK_EQ(post("/echo", "12345678901234567890", NULL, 0), 200);
        CHECK_STR(talk.body, "12345678901234567890");
        CHECK_EQ(post("/echo", "", NULL, 0), 200);
        CHECK_STR(talk.body, "");
        CHECK_EQ(post("/echo", "123456789012345678901", NULL, 0), 413);
        CHECK_EQ(post("/echo", "123456789012345678901234567890", length, 1), 413);
        CHECK_EQ(post("/echo", "abc", expect, 1), 200);
        CHECK_STR(talk.body, "abc");
        CHECK_EQ(post("/echo", "abc", other, 1), 417);
        talk_end();
}

SERVER_TEST(an_answer_that_is_not_whole_ends_in_a_reset, NULL)
{
        static const char *const paths[] = { "/short",     "/long",         "/unended",
                                             "/fail-late", "/abort-inside", "/abort" };

        talk_begin(site);
        for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
                int status = ask_for("GET", paths[i]);

                CHECK(status == 200 || status == -ECONNRESET);
                CHECK(status < 0 || talk.bytes == -ECONNRESET);
        }
        CHECK_EQ(ask_for("GET", "/ok"), 200);
        talk_end();
}

/* ---- what a handler sees ------------------------------------------------------------- */

static int see_version(eddy_http_exchange *exchange, void *arg)
{
        struct eddy_http_exchange_info info;
        struct eddy_http_header header;

        (void) arg;
        eddy_http_exchange_info(exchange, &info);
        CHECK_EQ(info.version, 20);
        CHECK(info.received_bytes > 0);
        CHECK_EQ(info.peer->kind, EDDY_ENDPOINT_IP);
        CHECK_STR(eddy_http_exchange_header(exchange, "Host"), "h");
        CHECK_STR(eddy_http_exchange_header(exchange, "COOKIE"), "a=1; b=2");
        for (size_t i = 0; eddy_http_exchange_header_at(exchange, i, &header) == 0; i++)
                CHECK(header.name[0] != ':');
        CHECK_ERR(eddy_http_exchange_upgrade(exchange, NULL, 0, NULL, NULL, NULL),
                  EDDY_E_HTTP_STATE);
        CHECK_EQ(info.sent_bytes, 0);
        CHECK_EQ(eddy_http_exchange_respond(exchange, 200, NULL, 0, "2", 1), 0);
        eddy_http_exchange_info(exchange, &info);
        CHECK_EQ(info.status, 200);
        CHECK(info.sent_bytes >= 1); /* for a log, before the bytes have left */
        return 0;
}

static void set_see_version(struct site *site)
{
        site->handler = see_version;
}

static void check_version(struct site *site)
{
        struct h2_call *call;

        talk_begin(site);
        call = h2_request(&talk.client, "GET", "/", false);
        CHECK_EQ(take_answer(call), 200);
        CHECK_STR(ed_h2_head_field(&call->stream.head, "content-length"), "1");
        CHECK(ed_h2_head_field(&call->stream.head, "date"));
        h2_close(call);
        talk_end();
}

TEST(a_handler_sees_the_version_the_host_and_joined_cookies)
{
        site_run_prepared(NULL, false, set_see_version, check_version);
}

static int speak_in_parts(eddy_http_exchange *exchange, void *arg)
{
        static const struct eddy_http_header hint = { "Link", "</a>" }, added = { "X-Own", "1" };
        char buf[16];
        int64_t n;
        int err = eddy_http_exchange_early_hints(exchange, &hint, 1);

        (void) arg;
        CHECK(!eddy_http_exchange_trailer(exchange, "x-in"));
        do
                n = eddy_http_exchange_read(exchange, buf, sizeof(buf));
        while (n > 0);
        if (n < 0)
                return (int) n;
        CHECK_STR(eddy_http_exchange_trailer(exchange, "X-In"), "t");
        if (err == 0)
                err = eddy_http_exchange_add_header(exchange, "X-Added", "2");
        if (err == 0)
                err = eddy_http_exchange_begin(exchange, 200, &added, 1, -1);
        if (err == 0)
                err = eddy_http_exchange_write(exchange, "part", 4);
        if (err == 0)
                err = eddy_http_exchange_flush(exchange);
        if (err == 0)
                err = eddy_http_exchange_add_trailer(exchange, "X-Out", "u");
        CHECK_ERR(eddy_http_exchange_add_trailer(exchange, "content-length", "1"),
                  EDDY_E_HTTP_INVALID_ANSWER);
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

static void set_speak_in_parts(struct site *site)
{
        site->handler = speak_in_parts;
}

static void check_parts(struct site *site)
{
        struct ed_h2_head trailers;
        struct h2_call *call;

        talk_begin(site);
        ed_h2_head_init(&trailers, 10, 1000);
        CHECK_EQ(ed_h2_head_add(&trailers, "x-in", 4, "t", 1), 0);
        call = h2_send(&talk.client, "POST", "/", true, NULL, 0);
        CHECK_EQ(eddy_stream_write(&call->stream.stream, "body", 4), 0);
        ed_h2_stream_end(&call->stream, &trailers);
        CHECK_EQ(take_answer(call), 200);
        CHECK_EQ(call->parts[ED_H2_INTERIM], 1);
        CHECK_EQ(call->parts[ED_H2_TRAILERS], 1);
        CHECK_STR(talk.body, "part");
        CHECK_STR(ed_h2_head_field(&call->stream.head, "x-own"), "1");
        CHECK_STR(ed_h2_head_field(&call->stream.head, "x-added"), "2");
        CHECK_STR(ed_h2_head_field(&call->stream.trailers, "x-out"), "u");
        h2_close(call);
        ed_h2_head_fini(&trailers);
        talk_end();
}

TEST(hints_pieces_and_trailers_cross)
{
        site_run_prepared(NULL, false, set_speak_in_parts, check_parts);
}

static int read_body(void *exchange)
{
        const void *body;
        size_t bytes;

        return eddy_http_exchange_body(exchange, &body, &bytes);
}

/* A call that gathers the body is cancelled before it has come as a whole. */
static int read_in_parts(eddy_http_exchange *exchange, void *arg)
{
        const void *body, *again;
        size_t bytes;
        char part[4];

        (void) arg;
        CHECK_EQ(eddy_call_timeout(read_body, exchange, EDDY_MS(500)), -ETIMEDOUT);
        CHECK_EQ(eddy_http_exchange_read(exchange, part, sizeof(part)), 4);
        CHECK(memcmp(part, "1234", 4) == 0);
        CHECK_EQ(eddy_http_exchange_body(exchange, &body, &bytes), 0);
        CHECK_EQ(bytes, 6);
        CHECK_STR(body, "567890");
        CHECK_EQ(eddy_http_exchange_body(exchange, &again, &bytes), 0);
        CHECK(again == body && bytes == 6);
        CHECK_EQ(eddy_http_exchange_read(exchange, part, sizeof(part)), 0);
        return eddy_http_exchange_respond_text(exchange, 200, "read");
}

static void set_read_in_parts(struct site *site)
{
        site->handler = read_in_parts;
}

static void send_in_parts(struct site *site)
{
        struct h2_call *call;

        talk_begin(site);
        call = h2_send(&talk.client, "POST", "/", true, NULL, 0);
        CHECK_EQ(eddy_stream_write(&call->stream.stream, "12345", 5), 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        CHECK_EQ(eddy_stream_write(&call->stream.stream, "67890", 5), 0);
        CHECK_EQ(eddy_stream_shutdown(&call->stream.stream), 0);
        CHECK_EQ(take_answer(call), 200);
        h2_close(call);
        talk_end();
}

TEST(no_byte_of_a_body_is_lost_by_a_cancel_and_the_body_stays_where_it_is)
{
        site_run_prepared(NULL, false, set_read_in_parts, send_in_parts);
}

/* ---- unread bodies ---------------------------------------------------------------------- */

enum { WINDOW_BYTES = 64 << 10, UNREAD = 11, UNREAD_ALL = 12 };

static int unread;

static int read_late(eddy_http_exchange *exchange, void *arg)
{
        bool is_late = strcmp(eddy_http_exchange_path(exchange), "/late") == 0;
        const void *body;
        size_t bytes;

        (void) arg;
        unread += is_late;
        if (is_late)
                (void) eddy_sleep(EDDY_SEC(30));
        CHECK_EQ(eddy_http_exchange_body(exchange, &body, &bytes), 0);
        unread -= is_late;
        return eddy_http_exchange_respond_text(exchange, 200, "read");
}

static void set_read_late(struct site *site)
{
        site->handler = read_late;
        unread = 0;
}

static struct h2_call *send_bytes(const char *path, size_t bytes)
{
        struct h2_call *call = h2_send(&talk.client, "POST", path, true, NULL, 0);
        uint32_t sum = 0;

        CHECK_EQ(h2_write_bytes(call, bytes, &sum), 0);
        CHECK_EQ(eddy_stream_shutdown(&call->stream.stream), 0);
        return call;
}

static void send_beside_unread(struct site *site)
{
        struct h2_call *late[UNREAD], *call;

        talk_begin(site);
        for (int i = 0; i < UNREAD; i++)
                late[i] = send_bytes("/late", WINDOW_BYTES);
        http_pause(EDDY_SEC(1));
        CHECK_EQ(unread, UNREAD);
        call = send_bytes("/now", 2 << 20);
        CHECK_EQ(take_answer(call), 200);
        CHECK_EQ(unread, UNREAD);
        h2_close(call);
        for (int i = 0; i < UNREAD; i++) {
                CHECK_EQ(take_answer(late[i]), 200);
                h2_close(late[i]);
        }
        talk_end();
}

TEST(bodies_that_eleven_handlers_do_not_read_stop_no_other)
{
        site_run_prepared(NULL, false, set_read_late, send_beside_unread);
}

/* The window of the connection is full for longer than the time of the minimum speed. */
static void send_after_unread(struct site *site)
{
        struct h2_call *late[UNREAD_ALL], *call;

        talk_begin(site);
        for (int i = 0; i < UNREAD_ALL; i++)
                late[i] = send_bytes("/late", WINDOW_BYTES);
        http_pause(EDDY_SEC(1));
        CHECK_EQ(unread, UNREAD_ALL);
        call = send_bytes("/now", WINDOW_BYTES);
        CHECK_EQ(take_answer(call), 200);
        h2_close(call);
        for (int i = 0; i < UNREAD_ALL; i++) {
                CHECK_EQ(take_answer(late[i]), 200);
                h2_close(late[i]);
        }
        talk_end();
}

TEST(a_body_that_the_window_of_the_connection_keeps_back_is_not_too_slow)
{
        site_run_prepared(NULL, false, set_read_late, send_after_unread);
}

/* ---- clients that go ------------------------------------------------------------------- */

SERVER_TEST(a_reset_of_the_client_cancels_its_handler_and_no_other, NULL)
{
        struct h2_call *gone, *call;

        talk_begin(site);
        gone = h2_send(&talk.client, "GET", "/slow", false, NULL, 0);
        call = h2_send(&talk.client, "GET", "/slow", false, NULL, 0);
        http_pause(EDDY_SEC(1));
        eddy_stream_abort(&gone->stream.stream);
        http_pause(EDDY_SEC(1));
        CHECK_ERR(site->failed, -ECANCELED);
        CHECK_EQ(take_answer(call), 200);
        CHECK_STR(talk.body, "slow");
        h2_close(call);
        talk_end();
}

SERVER_TEST(a_client_that_closes_its_connection_cancels_its_handlers, NULL)
{
        struct h2_call *call;

        talk_begin(site);
        call = h2_send(&talk.client, "GET", "/slow", false, NULL, 0);
        http_pause(EDDY_SEC(1));
        ed_h2_fail(&talk.client.h2, NGHTTP2_INTERNAL_ERROR);
        http_pause(EDDY_SEC(1));
        CHECK_ERR(site->failed, -ECANCELED);
        h2_close(call);
        talk_end();
}

/* Ask for a path, and end the sending. */
static void ask_and_end(struct site *site, const char *path)
{
        h2_raw_begin(site_connect(site));
        h2_raw_send_get(1, "/ok", H2_END_STREAM | H2_END_HEADERS);
        h2_raw_send_get(3, path, H2_END_STREAM | H2_END_HEADERS);
        CHECK_EQ(eddy_stream_shutdown(h2_raw.stream), 0);
        h2_raw_read_for(EDDY_SEC(2));
        CHECK(h2_raw.is_over);
}

static int answer_late(eddy_http_exchange *exchange, void *arg)
{
        int err = 0;

        if (strcmp(eddy_http_exchange_path(exchange), "/late") == 0)
                err = eddy_sleep(EDDY_MS(900));
        (void) arg;
        return err < 0 ? err : eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok", 2);
}

static void set_answer_late(struct site *site)
{
        site->handler = answer_late;
}

static void check_answers_at_end(struct site *site)
{
        ask_and_end(site, "/late");
        CHECK_EQ(h2_raw.heads, 2);
        CHECK_EQ(h2_raw.data, 4);
        h2_raw_end();
}

TEST(a_client_that_ends_its_sending_gets_the_answers_of_a_second)
{
        site_run_prepared(NULL, false, set_answer_late, check_answers_at_end);
}

SERVER_TEST(a_second_after_a_client_has_ended_its_sending_its_handlers_are_cancelled, NULL)
{
        ask_and_end(site, "/slow");
        CHECK_EQ(h2_raw.heads, 1);
        CHECK_ERR(site->failed, -ECANCELED);
        h2_raw_end();
}

SERVER_TEST(a_client_that_ends_its_sending_inside_a_request_gets_no_answer, NULL)
{
        h2_raw_begin(site_connect(site));
        h2_raw_send_get(1, "/echo", H2_END_HEADERS);
        CHECK_EQ(eddy_stream_shutdown(h2_raw.stream), 0);
        h2_raw_read_for(EDDY_MS(10));
        CHECK(h2_raw.is_over);
        h2_raw_end();
}

static void check_no_answer_at_end(struct site *site)
{
        ask_and_end(site, "/late");
        CHECK(h2_raw.data <= 2);
        h2_raw_end();
}

TEST(a_server_that_cancels_at_the_end_does_not_wait)
{
        site_run_prepared(SERVER_OPTIONS(.flags = EDDY_HTTP_SERVER_CANCEL_AT_END), false,
                          set_answer_late, check_no_answer_at_end);
}

SERVER_TEST(a_handler_finishes_without_its_client_if_the_server_is_asked_to,
            SERVER_OPTIONS(.flags = EDDY_HTTP_SERVER_FINISH))
{
        struct h2_call *call;

        talk_begin(site);
        call = h2_send(&talk.client, "GET", "/slow", false, NULL, 0);
        http_pause(EDDY_SEC(1));
        eddy_stream_abort(&call->stream.stream);
        http_pause(EDDY_SEC(4));
        CHECK_ERR(site->failed, -ECONNRESET);
        talk_end();
}

/* ---- stops and times ---------------------------------------------------------------------- */

/* A server of one stream, with a scope that can be cancelled alone. */
struct stoppable {
        eddy_stream *stream;
        eddy_scope scope;
        int result, handled;
};

static int answer_later(eddy_http_exchange *exchange, void *arg)
{
        struct stoppable *server = arg;
        int err = eddy_sleep(EDDY_SEC(3));

        if (err < 0)
                return err;
        server->handled++;
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, "late", 4);
}

static int serve_until_stopped(void *arg)
{
        struct stoppable *server = arg;

        eddy_scope_begin(&server->scope, NULL);
        server->result = eddy_http_serve_stream(
                server->stream, SERVER_OPTIONS(.drain_ns = EDDY_SEC(10)), answer_later, server);
        (void) eddy_scope_end(&server->scope);
        return 0;
}

static int check_stop(void *arg)
{
        struct stoppable server = { .handled = 0 };
        struct h2_call *early, *late;
        eddy_stream *ours;

        (void) arg;
        memset(&talk, 0, sizeof(talk));
        CHECK_EQ(eddy_stream_pair(NULL, &ours, &server.stream), 0);
        h2_client_init(&talk.client, ours);
        eddy_scope_begin(&talk.scope, NULL);
        CHECK_EQ(eddy_scope_start(&talk.scope, serve_until_stopped, &server), 0);
        CHECK_EQ(h2_client_start(&talk.client, &talk.scope), 0);
        early = h2_send(&talk.client, "GET", "/", false, NULL, 0);
        http_pause(EDDY_SEC(1));
        eddy_scope_cancel(&server.scope);
        /* On its way when the first GOAWAY is sent. */
        late = h2_send(&talk.client, "GET", "/", false, NULL, 0);
        CHECK_EQ(take_answer(early), 200);
        CHECK_STR(talk.body, "late");
        CHECK_EQ(take_answer(late), 200);
        h2_close(early);
        h2_close(late);
        CHECK_EQ(eddy_scope_end(&talk.scope), 0);
        CHECK_EQ(server.handled, 2);
        CHECK_ERR(server.result, -ECANCELED);
        CHECK_EQ(talk.client.goings, 2);
        CHECK_EQ(talk.client.going_ids[0], INT32_MAX);
        CHECK_EQ(talk.client.going_ids[1], 3);
        CHECK_EQ(talk.client.going, NGHTTP2_NO_ERROR + 1);
        CHECK_EQ(talk.client.result, 0);
        return 0;
}

TEST(a_stop_lets_requests_finish_also_those_on_their_way)
{
        http_run(check_stop, NULL);
}

SERVER_TEST(an_idle_connection_ends_after_its_time, SERVER_OPTIONS(.idle_timeout_ns = EDDY_SEC(5)))
{
        int64_t since_ns;

        talk_begin(site);
        CHECK_EQ(ask_for("GET", "/ok"), 200);
        since_ns = eddy_now();
        CHECK_EQ(eddy_scope_end(&talk.scope), 0);
        CHECK_EQ((eddy_now() - since_ns) / EDDY_SEC(1), 5);
        CHECK_EQ(talk.client.going, NGHTTP2_NO_ERROR + 1);
        CHECK_EQ(talk.client.result, 0);
}

/* ---- other protocols on the port ------------------------------------------------------------- */

SERVER_TEST(http1_is_spoken_on_the_same_port, NULL)
{
        CHECK_EQ(ask(site, "GET /ok HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")->status,
                 200);
        CHECK_EQ(ask(site, "PRI * HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")->status, 400);
        CHECK_EQ(ask(site, "PRI / HTTP/2.0\r\n\r\nSM\r\n\r\n")->status, 505);
}

SERVER_TEST(http2_can_be_turned_off, SERVER_OPTIONS(.flags = EDDY_HTTP_SERVER_HTTP1_ONLY))
{
        CHECK_EQ(ask(site, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")->status, 505);
}

SERVER_TEST(http1_can_be_turned_off, SERVER_OPTIONS(.flags = EDDY_HTTP_SERVER_HTTP2_ONLY))
{
        CHECK_EQ(ask(site, "GET /ok HTTP/1.1\r\nHost: h\r\n\r\n")->responses, 0);
        talk_begin(site);
        CHECK_EQ(ask_for("GET", "/ok"), 200);
        talk_end();
}

/* ---- shortages ----------------------------------------------------------------------------- */

struct call {
        eddy_stream *stream;
        int result;
};

static int echo_or_hint(eddy_http_exchange *exchange, void *arg)
{
        static const struct eddy_http_header hint = { "Link", "</a>" };
        const void *data;
        size_t bytes;
        int err;

        (void) arg;
        if (strcmp(eddy_http_exchange_method(exchange), "GET") == 0) {
                err = eddy_http_exchange_early_hints(exchange, &hint, 1);
                if (err == 0)
                        err = eddy_http_exchange_add_header(exchange, "X-Added", "2");
                if (err == 0)
                        err = eddy_http_exchange_begin(exchange, 200, NULL, 0, -1);
                if (err == 0)
                        err = eddy_http_exchange_write(exchange, "part", 4);
                if (err == 0)
                        err = eddy_http_exchange_add_trailer(exchange, "X-Out", "u");
                return err < 0 ? err : eddy_http_exchange_end(exchange);
        }
        err = eddy_http_exchange_body(exchange, &data, &bytes);
        return err < 0 ? err : eddy_http_exchange_respond(exchange, 200, NULL, 0, data, bytes);
}

static int serve(void *arg)
{
        struct call *call = arg;

        call->result = eddy_http_serve_stream(call->stream, NULL, echo_or_hint, NULL);
        return 0;
}

/* Returns 0, or an error of a request. */
static int exchange_one(struct h2_side *client, const char *method)
{
        struct h2_call *call = h2_request(client, method, "/", method[0] == 'P');
        uint32_t sum = 0;
        int64_t n;
        int err = 0;

        if (!call)
                return -ENOMEM;
        if (method[0] == 'P') {
                err = h2_write_bytes(call, 3000, &sum);
                if (err == 0)
                        err = eddy_stream_shutdown(&call->stream.stream);
        }
        if (err == 0)
                err = h2_await(call);
        if (err == 200) {
                n = h2_read_all(call, NULL);
                EDDY_TEST_CHECK(n < 0 || n == (method[0] == 'P' ? 3000 : 4));
                err = n < 0 ? (int) n : 0;
        } else if (err > 0) {
                err = -EIO; /* the server has answered a shortage */
        }
        h2_close(call);
        return err;
}

static int talk_to_server(void *arg)
{
        struct h2_side client;
        struct call call;
        eddy_stream *ours;
        eddy_scope scope;
        int err = eddy_stream_pair(NULL, &ours, &call.stream), ended;

        (void) arg;
        if (err < 0)
                return err;
        h2_client_init(&client, ours);
        eddy_scope_begin(&scope, NULL);
        err = eddy_scope_start(&scope, serve, &call);
        if (err < 0) {
                eddy_stream_close(call.stream);
                eddy_stream_close(ours);
        } else {
                err = h2_client_start(&client, &scope);
        }
        if (err == 0)
                err = exchange_one(&client, "POST");
        if (err == 0)
                err = exchange_one(&client, "GET");
        h2_client_stop(&client);
        ended = eddy_scope_end(&scope);
        return err < 0 ? err : ended;
}

TEST(a_cancel_or_a_shortage_of_memory_at_any_point_of_a_server_leaves_nothing)
{
        struct eddy_test_opts opts = { .name = "h2_server" };

        CHECK_EQ(eddy_test_run(talk_to_server, NULL, &opts, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_SEEDS, talk_to_server, NULL, &opts, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_CANCEL, talk_to_server, NULL, &opts, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_ALLOC, talk_to_server, NULL, &opts, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_ALLOC_FOREVER, talk_to_server, NULL, &opts, NULL), 0);
}
