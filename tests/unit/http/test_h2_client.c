/*
 * test_h2_client.c - requests by HTTP/2: the same calls as by HTTP/1, many on a connection, and ends of
 * a stream, a connection and a client at any moment.
 */
#include "eddy/test.h"
#include "h2_world.h"

enum { BIG = 1 << 20 };

static struct {
        int refuse;        /* so many requests are refused */
        int at_once, most; /* handlers that run */
        int resets;        /* streams that the client has reset */
        int64_t wait_ns;
        bool hold; /* handlers wait until it is false */
} served;

/* ---- a server --------------------------------------------------------------------- */

static void say(struct h2_call *call, const char *text)
{
        struct eddy_slice slice = { text, strlen(text) };

        if (h2_respond(call, "200", true) < 0 ||
            (slice.bytes > 0 && eddy_stream_try_writev(&call->stream.stream, &slice, 1) < 0))
                return; /* the close resets the stream */
        ed_h2_stream_end(&call->stream, NULL);
}

/* Say what the request was: its fields. */
static void say_fields(struct h2_call *call)
{
        static const char *const names[] = { ":method", ":scheme", ":authority", ":path" };
        const struct ed_h2_head *head = &call->stream.head;
        struct eddy_http_header header;
        char text[1024];
        int at = 0;

        for (int i = 0; i < 4; i++)
                at += snprintf(text + at, sizeof(text) - (size_t) at, "%s=%s\n", names[i],
                               h2_pseudo(head, names[i]));
        for (size_t i = 0; ed_h2_head_at(head, i, &header) == 0; i++)
                at += snprintf(text + at, sizeof(text) - (size_t) at, "%s=%s\n", header.name,
                               header.value);
        say(call, text);
}

/* The request's body comes back, and then its trailers. */
static void echo(struct h2_call *call)
{
        unsigned char buf[4096];
        int64_t n = 0;
        int err = h2_respond(call, "200", true);

        while (err == 0 && (n = eddy_stream_read(&call->stream.stream, buf, sizeof(buf))) > 0)
                err = eddy_stream_write(&call->stream.stream, buf, (size_t) n);
        if (err == 0 && n == 0)
                ed_h2_stream_end(&call->stream,
                                 call->parts[ED_H2_TRAILERS] ? &call->stream.trailers : NULL);
}

static void say_big(struct h2_call *call)
{
        uint32_t sum = 0;

        if (h2_respond(call, "200", true) == 0 && h2_write_bytes(call, BIG, &sum) == 0)
                (void) eddy_stream_shutdown(&call->stream.stream);
        served.resets += call->stream.is_reset;
}

/* Respond with a Content-Length; send the first part of the body at once, and the rest later. */
static void say_slowly(struct h2_call *call, const char *length, size_t rest)
{
        struct ed_h2_fields fields;
        uint32_t sum = 0;

        ed_h2_fields_begin(&fields, call->stream.h2);
        ed_h2_fields_add(&fields, ":status", 7, "200", 3, 0);
        ed_h2_fields_add(&fields, "content-length", 14, length, strlen(length), 0);
        CHECK_EQ(ed_h2_fields_end(&fields), 0);
        CHECK_EQ(ed_h2_stream_respond(&call->stream, true), 0);
        CHECK_EQ(h2_write_bytes(call, 100, &sum), 0);
        (void) eddy_sleep(EDDY_SEC(1));
        if (!call->stream.is_reset && h2_write_bytes(call, rest, &sum) == 0)
                (void) eddy_stream_shutdown(&call->stream.stream);
        served.resets += call->stream.is_reset;
}

/* Send a part of a short body, and no more of it. */
static void say_no_rest(struct h2_call *call)
{
        struct ed_h2_fields fields;
        uint32_t sum = 0;

        ed_h2_fields_begin(&fields, call->stream.h2);
        ed_h2_fields_add(&fields, ":status", 7, "200", 3, 0);
        ed_h2_fields_add(&fields, "content-length", 14, "200", 3, 0);
        CHECK_EQ(ed_h2_fields_end(&fields), 0);
        CHECK_EQ(ed_h2_stream_respond(&call->stream, true), 0);
        CHECK_EQ(h2_write_bytes(call, 100, &sum), 0);
        while (!call->stream.is_reset && eddy_sleep(EDDY_MS(10)) == 0)
                ;
}

/* Announce the length of a body that a response to HEAD, or a 304, does not have. The end comes later. */
static void say_only_length(struct h2_call *call, const char *status)
{
        static const char length[] = "1000000000000";
        struct ed_h2_fields fields;

        ed_h2_fields_begin(&fields, call->stream.h2);
        ed_h2_fields_add(&fields, ":status", 7, status, 3, 0);
        ed_h2_fields_add(&fields, "content-length", 14, length, sizeof(length) - 1, 0);
        CHECK_EQ(ed_h2_fields_end(&fields), 0);
        CHECK_EQ(ed_h2_stream_respond(&call->stream, true), 0);
        (void) eddy_sleep(EDDY_SEC(1));
        ed_h2_stream_end(&call->stream, NULL);
}

static void say_much_head(struct h2_call *call)
{
        char text[4000];
        struct ed_h2_fields fields;

        memset(text, 'x', sizeof(text));
        ed_h2_fields_begin(&fields, call->stream.h2);
        ed_h2_fields_add(&fields, ":status", 7, "200", 3, 0);
        for (int i = 0; i < 10; i++)
                ed_h2_fields_add(&fields, "x", 1, text, sizeof(text), 0);
        CHECK_EQ(ed_h2_fields_end(&fields), 0);
        CHECK_EQ(ed_h2_stream_respond(&call->stream, false), 0);
}

static void wait_on(const struct h2_call *call)
{
        (void) call;
        served.at_once++;
        served.most = served.at_once > served.most ? served.at_once : served.most;
        if (served.wait_ns)
                (void) eddy_sleep(served.wait_ns);
        while (served.hold && eddy_sleep(EDDY_MS(10)) == 0)
                ;
        served.at_once--;
}

static void serve(struct h2_call *call)
{
        const char *path = h2_pseudo(&call->stream.head, ":path");

        if (served.refuse > 0) {
                served.refuse--;
                ed_h2_stream_reset(&call->stream, NGHTTP2_REFUSED_STREAM, -ECANCELED);
        } else if (strcmp(path, "/echo") == 0) {
                echo(call);
        } else if (strcmp(path, "/big") == 0) {
                say_big(call);
        } else if (strcmp(path, "/fields") == 0 || path[1] == '?') {
                say_fields(call);
        } else if (strcmp(path, "/rest/little") == 0) {
                say_slowly(call, "10100", 10000);
        } else if (strcmp(path, "/rest/much") == 0) {
                say_slowly(call, "60100", 60000);
        } else if (strcmp(path, "/rest/none") == 0) {
                say_no_rest(call);
        } else if (strcmp(path, "/length/200") == 0 || strcmp(path, "/length/304") == 0) {
                say_only_length(call, path + sizeof("/length/") - 1);
        } else if (strcmp(path, "/reset") == 0) {
                ed_h2_stream_reset(&call->stream, NGHTTP2_INTERNAL_ERROR, -ECANCELED);
        } else if (strcmp(path, "/reset/later") == 0) {
                CHECK_EQ(h2_respond(call, "200", true), 0);
                (void) eddy_sleep(EDDY_SEC(1));
                ed_h2_stream_reset(&call->stream, NGHTTP2_INTERNAL_ERROR, -ECANCELED);
        } else if (strncmp(path, "/reset/", 7) == 0) {
                ed_h2_stream_reset(&call->stream, (uint32_t) strtoul(path + 7, NULL, 10),
                                   -ECANCELED);
        } else if (strcmp(path, "/refused/early") == 0) {
                CHECK_EQ(h2_respond(call, "413", false), 0);
                call->leaves_early = true;
        } else if (strcmp(path, "/interim") == 0) {
                CHECK_EQ(h2_respond(call, "103", false), 0);
                CHECK_EQ(h2_respond(call, "100", false), 0);
                echo(call);
        } else if (strcmp(path, "/interim/many") == 0) {
                while (h2_respond(call, "103", false) == 0 && eddy_sleep(EDDY_MS(1)) == 0)
                        ;
        } else if (strcmp(path, "/head/much") == 0) {
                say_much_head(call);
        } else if (strcmp(path, "/goaway") == 0) {
                CHECK_EQ(nghttp2_submit_goaway(call->stream.h2->session, NGHTTP2_FLAG_NONE,
                                               call->stream.id, NGHTTP2_NO_ERROR, NULL, 0),
                         0);
                say(call, "last");
        } else {
                wait_on(call);
                say(call, path);
        }
}

/* A test begins with a server that does nothing special. */
#define SERVED_TEST(claim, options)                                                                \
        static void served_##claim(void);                                                          \
        H2_TEST(claim, options, serve)                                                             \
        {                                                                                          \
                memset(&served, 0, sizeof(served));                                                \
                served_##claim();                                                                  \
        }                                                                                          \
        static void served_##claim(void)

/* ---- messages ---------------------------------------------------------------------- */

SERVED_TEST(response_is_one_of_version_2_with_its_head_and_body, NULL)
{
        struct eddy_http_request request = { .method = NULL };
        struct eddy_http_response_info info;
        struct eddy_http_header header;
        struct eddy_http_client_stats stats;
        eddy_http_response *response;
        const void *body;
        size_t bytes;
        char byte;

        CHECK_EQ(h2_ask(&request, "/hello", &response), 0);
        eddy_http_response_info(response, &info);
        CHECK_EQ(info.version, 20);
        CHECK(info.request_sent);
        CHECK_EQ(eddy_http_response_status(response), 200);
        CHECK_STR(eddy_http_response_header(response, "X-Test"), "y");
        CHECK_EQ(eddy_http_response_header_at(response, 0, &header), 0);
        CHECK_STR(header.name, "x-test");
        CHECK_EQ(eddy_http_response_header_at(response, 1, &header), -ENOENT);
        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        CHECK_EQ(bytes, 6);
        CHECK_STR(body, "/hello");
        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        CHECK_EQ(bytes, 6);
        CHECK_EQ(eddy_http_response_read(response, &byte, 1), 0);
        CHECK_EQ(eddy_http_response_trailer_at(response, 0, &header), -ENOENT);
        eddy_http_response_close(response);
        eddy_http_client_stats(h2_world.client, &stats);
        CHECK_EQ(stats.http2_connections, 1);
        CHECK_EQ(stats.streams, 0);
}

SERVED_TEST(fields_of_a_connection_are_left_out_and_host_is_the_authority, NULL)
{
        static const struct eddy_http_header headers[] = {
                { "Host", "other.test" },     { "Connection", "x-hop, keep-alive" },
                { "Keep-Alive", "5" },        { "X-Hop", "1" },
                { "TE", "gzip, trailers" },   { "Proxy-Connection", "close" },
                { "User-Agent", "u" },        { "Accept", "a" },
                { "Authorization", "secret" }
        };
        struct eddy_http_request request = { .headers = headers,
                                             .headers_count =
                                                     sizeof(headers) / sizeof(headers[0]) };
        eddy_http_response *response;
        const void *body;
        size_t bytes;

        CHECK_EQ(h2_ask(&request, "?a=b", &response), 0);
        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        CHECK_STR(body, ":method=GET\n:scheme=http\n:authority=other.test\n:path=/?a=b\n"
                        "te=trailers\nuser-agent=u\naccept=a\nauthorization=secret\n");
        eddy_http_response_close(response);
}

SERVED_TEST(length_without_a_body_is_not_limited_as_one_and_its_end_may_come_later, NULL)
{
        static const struct {
                const char *method, *path;
                int status;
        } cases[] = { { "HEAD", "/length/200", 200 }, { "GET", "/length/304", 304 } };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct eddy_http_request request = { .method = cases[i].method };
                eddy_http_response *response;
                const void *body;
                size_t bytes;

                CHECK_EQ(h2_ask(&request, cases[i].path, &response), 0);
                CHECK_EQ(eddy_http_response_status(response), cases[i].status);
                CHECK_STR(eddy_http_response_header(response, "Content-Length"), "1000000000000");
                CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
                CHECK_EQ(bytes, 0);
                eddy_http_response_close(response);
        }
}

static int64_t read_bytes(void *arg, void *buf, size_t bytes)
{
        size_t *left = arg;

        if (bytes > *left)
                bytes = *left;
        memset(buf, 'b', bytes);
        *left -= bytes;
        return (int64_t) bytes;
}

static void check_echo(struct eddy_http_request *request, size_t bytes)
{
        eddy_http_response *response;
        const void *body;
        size_t got;

        CHECK_EQ(h2_ask(request, "/echo", &response), 0);
        CHECK_EQ(eddy_http_response_body(response, &body, &got), 0);
        CHECK_EQ(got, bytes);
        for (size_t i = 0; i < got; i++)
                if (((const char *) body)[i] != 'b')
                        test_fail(__FILE__, __LINE__, "byte %zu differs", i);
        eddy_http_response_close(response);
}

TEST_ROOM(char, big_body, BIG);

SERVED_TEST(bodies_of_all_sizes_go_both_ways, NULL)
{
        static const size_t sizes[] = { 0,     1,     4095,  16383,  16384,  16385, 65535,
                                        65536, 65537, 70000, 262144, 300000, BIG };

        memset(big_body, 'b', BIG);
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
                size_t left = sizes[i];
                struct eddy_http_body_source source = { .read = read_bytes,
                                                        .arg = &left,
                                                        .bytes = (int64_t) sizes[i] };
                struct eddy_http_request request = { .method = "POST",
                                                     .body = big_body,
                                                     .body_bytes = sizes[i] };

                check_echo(&request, sizes[i]);
                request = (struct eddy_http_request){ .method = "POST", .body_source = &source };
                check_echo(&request, sizes[i]);
                left = sizes[i];
                source.bytes = -1;
                check_echo(&request, sizes[i]);
        }
        CHECK_EQ(h2_world.accepted, 1);
}

SERVED_TEST(trailers_go_both_ways_and_forbidden_ones_do_not, NULL)
{
        const struct eddy_http_header trailers[] = { { "X-Sum", "5" }, { "X-None", NULL } };
        size_t left = 100000;
        struct eddy_http_body_source source = { .read = read_bytes,
                                                .arg = &left,
                                                .bytes = -1,
                                                .trailers = trailers,
                                                .trailers_count = 2 };
        struct eddy_http_request request = { .method = "POST", .body_source = &source };
        eddy_http_response *response;
        struct eddy_http_header trailer;

        CHECK_EQ(h2_ask(&request, "/echo", &response), 0);
        CHECK_EQ(eddy_http_response_discard(response), 0);
        CHECK_STR(eddy_http_response_trailer(response, "x-sum"), "5");
        CHECK_EQ(eddy_http_response_trailer_at(response, 1, &trailer), -ENOENT);
        eddy_http_response_close(response);
}

SERVED_TEST(interim_responses_are_skipped_and_let_an_expected_body_go, NULL)
{
        struct eddy_http_request request = {
                .method = "POST", .body = "b", .body_bytes = 1, .expect_continue_ns = EDDY_SEC(60)
        };
        eddy_http_response *response;
        const void *body;
        size_t bytes;
        int64_t before_ns = eddy_now();

        CHECK_EQ(h2_ask(&request, "/interim", &response), 0);
        CHECK_EQ(eddy_http_response_status(response), 200);
        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        CHECK_STR(body, "b");
        CHECK(eddy_now() - before_ns < EDDY_SEC(1));
        eddy_http_response_close(response);
}

SERVED_TEST(body_is_sent_after_the_time_for_100_continue, NULL)
{
        struct eddy_http_request request = {
                .method = "POST", .body = "b", .body_bytes = 1, .expect_continue_ns = EDDY_SEC(2)
        };
        int64_t before_ns = eddy_now();

        check_echo(&request, 1);
        /* The echo answers at once, so the body is sent then. */
        CHECK(eddy_now() - before_ns < EDDY_SEC(1));
}

SERVED_TEST(response_that_refuses_a_large_body_stops_it, NULL)
{
        struct eddy_http_request request = { .method = "POST",
                                             .body = big_body,
                                             .body_bytes = BIG };
        struct eddy_http_response_info info;
        eddy_http_response *response;

        CHECK_EQ(h2_ask(&request, "/refused/early", &response), 0);
        CHECK_EQ(eddy_http_response_status(response), 413);
        CHECK_EQ(eddy_http_response_discard(response), 0);
        eddy_http_response_info(response, &info);
        CHECK(!info.request_sent);
        eddy_http_response_close(response);
        CHECK_EQ(h2_fetch("GET", "/x", NULL), 200);
        CHECK_EQ(h2_world.accepted, 1);
}

/* ---- many streams --------------------------------------------------------------------- */

static int fetch_some(void *arg)
{
        char path[32], body[64];

        for (int i = 0; i < 10; i++) {
                snprintf(path, sizeof(path), "/%d/%d", *(int *) arg, i);
                CHECK_EQ(h2_fetch("GET", path, body), 200);
                CHECK_STR(body, path);
        }
        return 0;
}

static void fetch_many(int tasks)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < tasks; i++)
                CHECK_EQ(eddy_scope_start_copy(&scope, fetch_some, &i, sizeof(i)), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

SERVED_TEST(a_thousand_requests_share_a_connection, NULL)
{
        fetch_many(100);
        CHECK_EQ(h2_world.accepted, 1);
        CHECK_EQ(h2_latest()->begun, 1000);
        CHECK_STATS(h2_world.client, 1, 1, 0);
}

SERVED_TEST(no_more_streams_are_open_than_the_server_takes, OPTIONS(.connections_max = 1))
{
        h2_world.streams_max = 3;
        served.wait_ns = EDDY_MS(100);
        CHECK_EQ(h2_fetch("GET", "/first", NULL), 200); /* the settings have come */
        fetch_many(10);
        CHECK_EQ(served.most, 3);
        CHECK_EQ(h2_latest()->begun, 101);
}

SERVED_TEST(unread_response_stops_no_other, NULL)
{
        struct eddy_http_request request = { .method = NULL };
        eddy_http_response *unread[20];
        const void *body;
        size_t bytes;

        for (int i = 0; i < 20; i++)
                CHECK_EQ(h2_ask(&request, "/big", &unread[i]), 0);
        http_pause(EDDY_SEC(1));
        CHECK_EQ(h2_fetch("GET", "/x", NULL), 200);
        for (int i = 0; i < 20; i++) {
                CHECK_EQ(eddy_http_response_body(unread[i], &body, &bytes), 0);
                CHECK_EQ(bytes, BIG);
                eddy_http_response_close(unread[i]);
        }
        CHECK_EQ(h2_world.accepted, 1);
        CHECK_EQ(served.resets, 0);
}

/* ---- ends of a stream -------------------------------------------------------------------- */

static void begin_and_close(const char *path)
{
        struct eddy_http_request request = { .method = NULL };
        eddy_http_response *response;
        char buf[50];

        CHECK_EQ(h2_ask(&request, path, &response), 0);
        CHECK(eddy_http_response_read(response, buf, sizeof(buf)) > 0);
        eddy_http_response_close(response);
}

/* B8: A cancel ends one stream. */
SERVED_TEST(response_closed_in_mid_body_resets_its_stream_only, NULL)
{
        for (int i = 0; i < 20; i++)
                begin_and_close("/big");
        http_pause(EDDY_SEC(1));
        CHECK_EQ(served.resets, 20);
        CHECK_EQ(h2_fetch("GET", "/x", NULL), 200);
        CHECK_EQ(h2_world.accepted, 1);
}

SERVED_TEST(little_rest_of_a_known_length_is_dropped_without_a_reset, NULL)
{
        begin_and_close("/rest/little");
        CHECK_EQ(h2_fetch("GET", "/x", NULL), 200);
        http_pause(EDDY_SEC(2));
        CHECK_EQ(served.resets, 0);
        begin_and_close("/rest/much");
        http_pause(EDDY_SEC(2));
        CHECK_EQ(served.resets, 1);
        CHECK_EQ(h2_world.accepted, 1);
        CHECK_STATS(h2_world.client, 1, 1, 0);
}

static void check_rests(uint32_t streams_max)
{
        h2_world.streams_max = streams_max;
        CHECK_EQ(h2_fetch("GET", "/first", NULL), 200); /* the settings have come */
        for (int i = 0; i < 20; i++)
                begin_and_close("/rest/none");
        CHECK_EQ(h2_fetch("GET", "/x", NULL), 200);
        CHECK_EQ(h2_world.accepted, 1);
}

/* The peer counts a stream whose rest is awaited: the last one is left for requests. */
SERVED_TEST(rests_that_never_come_leave_a_stream_to_requests,
            OPTIONS(.connections_max = 1, .timeouts.read_ns = EDDY_SEC(10)))
{
        check_rests(10);
}

SERVED_TEST(rest_that_never_comes_does_not_take_the_only_stream,
            OPTIONS(.connections_max = 1, .timeouts.read_ns = EDDY_SEC(10)))
{
        check_rests(1);
}

/* A server that counts resets would end the connection, with the requests of others. */
SERVED_TEST(connection_drains_before_its_resets_are_too_many, NULL)
{
        for (int i = 0; i < 501; i++)
                begin_and_close("/big");
        CHECK_EQ(h2_fetch("GET", "/x", NULL), 200);
        CHECK_EQ(h2_world.accepted, 2);
        CHECK_EQ(h2_world.sides[0].begun, 501);
}

SERVED_TEST(resets_that_are_slow_never_end_a_connection, NULL)
{
        for (int i = 0; i < 800; i++) {
                begin_and_close("/big");
                http_pause(EDDY_MS(100));
        }
        CHECK_EQ(h2_world.accepted, 1);
}

SERVED_TEST(reset_by_the_server_is_the_requests_error, NULL)
{
        struct eddy_http_fault fault = { .text = "" };
        struct eddy_http_request request = { .ret_fault = &fault };
        eddy_http_response *response;
        char byte;

        CHECK_EQ(h2_fetch("GET", "/x", NULL), 200);
        CHECK_ERR(h2_ask(&request, "/reset", &response), -ECONNRESET);
        CHECK_STR(fault.text, "the server reset the request: INTERNAL_ERROR");
        CHECK_EQ(h2_ask(&request, "/reset/later", &response), 0);
        CHECK_ERR(eddy_http_response_read(response, &byte, 1), -ECONNRESET);
        CHECK_STR(eddy_http_response_fault_text(response),
                  "the server reset the request: INTERNAL_ERROR");
        CHECK_ERR(eddy_http_response_read(response, &byte, 1), -ECONNRESET);
        eddy_http_response_close(response);
        CHECK_EQ(h2_fetch("GET", "/x", NULL), 200);
        CHECK_EQ(h2_world.accepted, 1);
}

SERVED_TEST(stream_that_was_refused_is_repeated_once_whatever_the_method, NULL)
{
        served.refuse = 1;
        CHECK_EQ(h2_fetch("POST", "/x", NULL), 200);
        CHECK_EQ(h2_latest()->begun, 2);
        served.refuse = 2;
        CHECK_ERR(h2_fetch("GET", "/x", NULL), EDDY_E_HTTP_CLOSED);
        CHECK_EQ(h2_latest()->begun, 4);
        CHECK_EQ(h2_world.accepted, 1);
}

/* Only the stream has ended: a text about the connection would mislead. */
SERVED_TEST(fault_names_the_code_of_every_reset, NULL)
{
        static const struct {
                const char *path, *text;
                int err;
        } resets[] = {
                { "/reset/7", "the server reset the request: REFUSED_STREAM", EDDY_E_HTTP_CLOSED },
                { "/reset/8", "the server reset the request: CANCEL", -ECONNRESET },
                { "/reset/11", "the server reset the request: ENHANCE_YOUR_CALM",
                  EDDY_E_HTTP_CLOSED },
                { "/reset/99", "the server reset the request", -ECONNRESET },
        };
        struct eddy_http_fault fault = { .text = "" };
        struct eddy_http_request request = { .ret_fault = &fault };
        eddy_http_response *response;

        for (size_t i = 0; i < sizeof(resets) / sizeof(resets[0]); i++) {
                CHECK_ERR(h2_ask(&request, resets[i].path, &response), resets[i].err);
                CHECK_STR(fault.text, resets[i].text);
        }
}

SERVED_TEST(heads_and_bodies_above_their_limits_are_refused,
            OPTIONS(.head_bytes_max = 20000, .body_bytes_max = 50000))
{
        struct eddy_http_fault fault = { .text = "" };
        struct eddy_http_request request = { .ret_fault = &fault };
        eddy_http_response *response;

        CHECK_ERR(h2_ask(&request, "/head/much", &response), EDDY_E_HTTP_TOO_LARGE);
        CHECK(strstr(fault.text, "head is larger") != NULL);
        CHECK_ERR(h2_ask(&request, "/interim/many", &response), EDDY_E_HTTP_TOO_LARGE);
        CHECK(strstr(fault.text, "interim") != NULL);
        CHECK_ERR(h2_ask(&request, "/rest/much", &response), EDDY_E_HTTP_TOO_LARGE);
        CHECK_EQ(h2_ask(&request, "/big", &response), 0);
        CHECK_ERR(eddy_http_response_discard(response), EDDY_E_HTTP_TOO_LARGE);
        CHECK(strstr(eddy_http_response_fault_text(response), "body is larger") != NULL);
        eddy_http_response_close(response);
        CHECK_EQ(h2_fetch("GET", "/x", NULL), 200);
        CHECK_EQ(h2_world.accepted, 1);
}

SERVED_TEST(time_limits_hold, OPTIONS(.timeouts = { .read_ns = EDDY_SEC(1) }))
{
        served.hold = true;
        CHECK_ERR(h2_fetch("GET", "/x", NULL), EDDY_E_HTTP_TIMEOUT_READ);
        served.hold = false;
        CHECK_EQ(h2_fetch("GET", "/x", NULL), 200);
        CHECK_EQ(h2_world.accepted, 1);
}

/* ---- ends of a connection -------------------------------------------------------------------- */

static int fetch_held(void *arg)
{
        *(int *) arg = h2_fetch("GET", "/held", NULL);
        return 0;
}

SERVED_TEST(goaway_lets_what_was_begun_end_and_sends_the_rest_elsewhere, NULL)
{
        eddy_scope scope;
        int held = 0;
        char body[64];

        eddy_scope_begin(&scope, NULL);
        served.hold = true;
        CHECK_EQ(eddy_scope_start(&scope, fetch_held, &held), 0);
        http_pause(EDDY_MS(50));
        CHECK_EQ(h2_fetch("GET", "/goaway", body), 200);
        CHECK_STR(body, "last");
        served.hold = false;
        CHECK_EQ(h2_fetch("POST", "/x", NULL), 200);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(held, 200);
        CHECK_EQ(h2_world.accepted, 2);
        http_pause(EDDY_MS(50));
        CHECK_EQ(h2_world.sides[0].is_running, false);
}

SERVED_TEST(connection_is_kept_while_its_peer_answers_pings, NULL)
{
        served.wait_ns = EDDY_SEC(300);
        CHECK_EQ(h2_fetch("GET", "/x", NULL), 200);
}

SERVED_TEST(close_of_the_client_ends_its_requests, NULL)
{
        eddy_scope scope;
        int held[3] = { 0 };

        eddy_scope_begin(&scope, NULL);
        served.hold = true;
        for (int i = 0; i < 3; i++)
                CHECK_EQ(eddy_scope_start(&scope, fetch_held, &held[i]), 0);
        http_pause(EDDY_MS(50));
        eddy_http_client_close(h2_world.client);
        h2_world.client = NULL;
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < 3; i++)
                CHECK_ERR(held[i], EDDY_E_HTTP_CLIENT_CLOSED);
        served.hold = false;
}

/* A response outlives its client. */
SERVED_TEST(what_was_received_can_be_read_after_the_client_was_closed, NULL)
{
        struct eddy_http_request request = { .method = NULL };
        eddy_http_response *response;
        const void *body;
        size_t bytes;

        CHECK_EQ(h2_ask(&request, "/x", &response), 0);
        http_pause(EDDY_MS(50));
        eddy_http_client_close(h2_world.client);
        h2_world.client = NULL;
        http_pause(EDDY_SEC(1));
        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        CHECK_STR(body, "/x");
        eddy_http_response_close(response);
}

/* ---- cancels and shortages ---------------------------------------------------------------------- */

static int talk(void *arg)
{
        static char body[40000];
        int err = h2_world_begin(NULL, serve), ended;

        (void) arg;
        memset(&served, 0, sizeof(served));
        if (err < 0)
                return err;
        for (int i = 0; i < 3 && err >= 0; i++) {
                size_t left = 30000;
                struct eddy_http_body_source source = { .read = read_bytes,
                                                        .arg = &left,
                                                        .bytes = -1 };
                struct eddy_http_request request = { .method = "POST",
                                                     .body = i == 0 ? body : NULL,
                                                     .body_bytes = i == 0 ? sizeof(body) : 0,
                                                     .body_source = i == 1 ? &source : NULL };
                eddy_http_response *response;
                const void *data;
                size_t bytes;

                err = h2_ask(&request, i == 2 ? "?x" : "/echo", &response);
                if (err < 0)
                        break;
                err = eddy_http_response_body(response, &data, &bytes);
                EDDY_TEST_CHECK(err < 0 || i == 2 || bytes == (i == 0 ? 40000 : 30000));
                eddy_http_response_close(response);
        }
        ended = h2_world_end();
        return err < 0 ? err : ended;
}

TEST(a_cancel_or_a_shortage_of_memory_at_any_point_of_a_request_leaves_nothing)
{
        struct eddy_test_opts opts = { .name = "h2_client_talk" };

        CHECK_EQ(eddy_test_run(talk, NULL, &opts, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_SEEDS, talk, NULL, &opts, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_CANCEL, talk, NULL, &opts, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_ALLOC, talk, NULL, &opts, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_ALLOC_FOREVER, talk, NULL, &opts, NULL), 0);
}
