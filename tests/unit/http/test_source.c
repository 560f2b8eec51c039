/*
 * test_source.c - request bodies from a stream or a function: how they are sent,
 * how they fail, and when they are sent again.
 */
#include "eddy/test.h"
#include "http_test.h"

enum { BYTES = 100000 };

static char body[BYTES];

struct source {
        struct eddy_http_body_source source;
        size_t at, end, piece;
        int err;          /* at the end */
        int64_t pause_ns; /* before each piece; 0: a millisecond */
        int rewinds;
};

static int64_t source_read(void *arg, void *buf, size_t bytes)
{
        struct source *source = arg;
        size_t n = source->end - source->at;

        if (n > bytes)
                n = bytes;
        if (source->piece && n > source->piece)
                n = source->piece;
        if (eddy_sleep(source->pause_ns ? source->pause_ns : EDDY_MS(1)) < 0)
                return -ECANCELED;
        if (n == 0)
                return source->err;
        memcpy(buf, body + source->at, n);
        source->at += n;
        return (int64_t) n;
}

static int source_rewind(void *arg)
{
        struct source *source = arg;

        source->at = 0;
        source->rewinds++;
        return 0;
}

static struct eddy_http_request from(struct source *source, int64_t bytes)
{
        source->source.read = source_read;
        source->source.arg = source;
        source->source.bytes = bytes;
        return (struct eddy_http_request){ .url = "/", .body_source = &source->source };
}

/* ---- a server that compares ------------------------------------------------------- */

static struct {
        char method[8], length[16], coding[16];
        bool same;
        bool early;       /* begin to answer before the body was read */
        bool early_whole; /* answer before the body was read */
        bool begun;       /* the answer has begun early */
        int status;       /* of an early answer; 0: 200 */
        size_t bytes;
} seen;

static void note(char *out, size_t room, const char *text)
{
        snprintf(out, room, "%s", text ? text : "");
}

static int answer(eddy_http_exchange *exchange)
{
        int err;

        if (!seen.early)
                return eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok", 2);
        err = eddy_http_exchange_write(exchange, "ok", 2);
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

static int compare(eddy_http_exchange *exchange, void *arg)
{
        const void *data = NULL;
        size_t bytes = 0;
        int err;

        (void) arg;
        note(seen.method, sizeof(seen.method), eddy_http_exchange_method(exchange));
        note(seen.length, sizeof(seen.length),
             eddy_http_exchange_header(exchange, "content-length"));
        note(seen.coding, sizeof(seen.coding),
             eddy_http_exchange_header(exchange, "transfer-encoding"));
        if (seen.early) {
                err = eddy_http_exchange_begin(exchange, seen.status ? seen.status : 200, NULL, 0,
                                               2);
                if (err < 0)
                        return err;
                seen.begun = true;
        }
        if (seen.early_whole) {
                err = seen.early ? eddy_sleep(EDDY_MS(1)) : 0;
                if (err >= 0)
                        err = answer(exchange);
                if (err < 0)
                        return err;
        }
        err = eddy_http_exchange_body(exchange, &data, &bytes);
        if (err < 0)
                return err;
        seen.bytes = bytes;
        seen.same = bytes <= BYTES && memcmp(data, body, bytes) == 0;
        return seen.early_whole ? 0 : answer(exchange);
}

static int serve(void *arg)
{
        (void) eddy_http_serve(arg, NULL, compare, NULL);
        return 0;
}

struct world {
        struct rig rig;
        void (*fn)(struct rig *rig);
};

static int world_main(void *arg)
{
        struct world *world = arg;
        eddy_listener *listener;
        eddy_scope scope;

        memset(&seen, 0, sizeof(seen));
        for (size_t i = 0; i < BYTES; i++)
                body[i] = (char) (i * 7 + i / 251);
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        snprintf(world->rig.url, sizeof(world->rig.url), "http://127.0.0.1:%u",
                 eddy_listener_port(listener));
        CHECK_EQ(eddy_http_client_new(NULL, &world->rig.client), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, serve, listener), 0);
        world->fn(&world->rig);
        eddy_http_client_close(world->rig.client);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_listener_close(listener);
        return 0;
}

#define SOURCE_TEST(claim)                                                                         \
        static void world_##claim(struct rig *rig);                                                \
        TEST(claim)                                                                                \
        {                                                                                          \
                struct world world = { .fn = world_##claim };                                      \
                                                                                                   \
                http_run(world_main, &world);                                                      \
        }                                                                                          \
        static void world_##claim(struct rig *rig)

/* ---- sending ---------------------------------------------------------------------- */

SOURCE_TEST(source_of_unknown_length_is_sent_in_chunks)
{
        struct source source = { .end = BYTES, .piece = 7001 };
        struct eddy_http_request request = from(&source, -1);

        CHECK_EQ(rig_fetch(rig, &request), 0);
        CHECK_STR(seen.method, "POST");
        CHECK_STR(seen.length, "");
        CHECK_STR(seen.coding, "chunked");
        CHECK_EQ(seen.bytes, BYTES);
        CHECK(seen.same);
        CHECK_STATS(rig->client, 1, 1, 0);
}

/* B48: A longer source is read up to the length. */
SOURCE_TEST(source_of_known_length_is_sent_with_the_length)
{
        struct source source = { .end = BYTES };
        struct eddy_http_request request = from(&source, BYTES - 5);

        request.method = "PUT";
        CHECK_EQ(rig_fetch(rig, &request), 0);
        CHECK_STR(seen.method, "PUT");
        CHECK_STR(seen.length, "99995");
        CHECK_STR(seen.coding, "");
        CHECK_EQ(seen.bytes, BYTES - 5);
        CHECK(seen.same);
        CHECK_EQ(source.at, BYTES - 5); /* no byte more was taken */
        CHECK_STATS(rig->client, 1, 1, 0);
}

SOURCE_TEST(source_that_ends_at_once_is_an_empty_body)
{
        struct source source = { .end = 0 };
        struct eddy_http_request request = from(&source, -1);

        CHECK_EQ(rig_fetch(rig, &request), 0);
        CHECK_STR(seen.length, "");
        CHECK_STR(seen.coding, "chunked");
        CHECK_EQ(seen.bytes, 0);
        CHECK_STATS(rig->client, 1, 1, 0);
}

SOURCE_TEST(source_of_no_bytes_is_not_read_and_sent_with_the_length_0)
{
        struct source source = { .end = 50, .err = -EIO };
        struct eddy_http_request request = from(&source, 0);

        request.method = "PUT";
        CHECK_EQ(rig_fetch(rig, &request), 0);
        CHECK_STR(seen.method, "PUT");
        CHECK_STR(seen.length, "0");
        CHECK_STR(seen.coding, "");
        CHECK_EQ(seen.bytes, 0);
        CHECK_EQ(source.at, 0);
        CHECK_STATS(rig->client, 1, 1, 0);
        request.headers = &(struct eddy_http_header){ "Content-Length", "0" };
        request.headers_count = 1;
        CHECK_EQ(rig_fetch(rig, &request), 0);
        CHECK_STR(seen.length, "0");
        CHECK_STATS(rig->client, 1, 1, 0);
}

SOURCE_TEST(source_is_read_further_while_the_response_is_read)
{
        struct source source = { .end = BYTES };
        struct eddy_http_request request = from(&source, BYTES);
        struct eddy_http_response_info info;
        eddy_http_response *response;
        const void *data;
        size_t bytes;

        seen.early = true;
        CHECK_EQ(rig_send(rig, &request, &response), 0);
        CHECK(source.at < BYTES);
        eddy_http_response_info(response, &info);
        CHECK(!info.request_sent);
        CHECK_EQ(eddy_http_response_body(response, &data, &bytes), 0);
        eddy_http_response_info(response, &info);
        CHECK(info.request_sent);
        CHECK_EQ(bytes, 2);
        CHECK_EQ(seen.bytes, BYTES);
        CHECK(seen.same);
        eddy_http_response_close(response);
        CHECK_STATS(rig->client, 1, 1, 0);
}

SOURCE_TEST(slow_source_is_sent_to_its_end_after_an_early_whole_response)
{
        seen.early_whole = true;
        for (int i = 0; i < 4; i++) {
                struct source source = { .end = 50, .piece = 10, .pause_ns = EDDY_MS(1500) };
                struct eddy_http_request request = from(&source, i < 2 ? -1 : 50);

                seen.early = i % 2 == 1;
                seen.bytes = 0;
                CHECK_EQ(rig_fetch(rig, &request), 0);
                CHECK_EQ(eddy_sleep(EDDY_MS(10)), 0);
                CHECK_EQ(seen.bytes, 50);
                CHECK(seen.same);
        }
}

static int feed(void *arg)
{
        eddy_stream *stream = arg;

        CHECK_EQ(eddy_stream_write(stream, body, BYTES), 0);
        eddy_stream_close(stream);
        return 0;
}

/* Make a source of one end of a connection, and return the other end. */
static eddy_stream *source_connect(struct eddy_http_body_source *source)
{
        eddy_listener *listener;
        eddy_stream *stream;

        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", eddy_listener_port(listener), NULL, &source->stream),
                 0);
        CHECK_EQ(eddy_listener_accept(listener, &stream), 0);
        eddy_listener_close(listener);
        return stream;
}

SOURCE_TEST(stream_is_sent_to_its_end)
{
        struct eddy_http_body_source source = { .bytes = -1 };
        eddy_stream *stream = source_connect(&source);
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, feed, stream), 0);
        CHECK_EQ(rig_fetch(rig, &(struct eddy_http_request){ .url = "/", .body_source = &source }),
                 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(seen.bytes, BYTES);
        CHECK(seen.same);
        eddy_stream_close(source.stream);
}

/* ---- failing ---------------------------------------------------------------------- */

/* B48: No shorter body passes for a whole one. */
SOURCE_TEST(source_that_ends_too_early_fails_the_request)
{
        struct source source = { .end = 50 };
        struct eddy_http_request request = from(&source, 51);

        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_BODY_LENGTH);
        CHECK_STATS(rig->client, 0, 0, 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
}

SOURCE_TEST(error_of_a_source_is_the_error_of_the_request)
{
        struct source source = { .end = 50000, .err = -EIO };
        struct eddy_http_request request = from(&source, -1);

        CHECK_ERR(rig_fetch(rig, &request), -EIO);
        CHECK_STATS(rig->client, 0, 0, 0);
        source = (struct source){ .err = -ECANCELED }; /* though nothing was cancelled */
        request = from(&source, -1);
        CHECK_ERR(rig_fetch(rig, &request), -ECANCELED);
        CHECK_EQ(rig_get(rig, "/"), 0);
}

static int close_later(void *arg)
{
        int err = eddy_sleep(EDDY_MS(100));

        eddy_stream_close(arg);
        return err;
}

SOURCE_TEST(stream_closed_by_another_task_is_not_a_cancel)
{
        struct eddy_http_body_source source = { .bytes = -1 };
        eddy_stream *stream = source_connect(&source);
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, close_later, source.stream), 0);
        CHECK_ERR(rig_fetch(rig, &(struct eddy_http_request){ .url = "/", .body_source = &source }),
                  -EBADF);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_stream_close(stream);
}

/* The server answers at once, or begins to. */
static void fail_after_response(struct rig *rig, struct source source, int64_t bytes, int err)
{
        seen.early_whole = true;
        for (int i = 0; i < 2; i++) {
                struct source copy = source;
                struct eddy_http_request request = from(&copy, bytes);

                seen.early = i == 1;
                CHECK_ERR(rig_fetch(rig, &request), err);
                CHECK_STATS(rig->client, 0, 0, 0);
        }
}

SOURCE_TEST(error_of_a_source_after_an_early_whole_response_is_reported)
{
        struct source source = { .end = 50, .pause_ns = EDDY_MS(100) };

        fail_after_response(rig, source, 51, EDDY_E_HTTP_BODY_LENGTH);
        source.err = -EIO;
        fail_after_response(rig, source, -1, -EIO);
        fail_after_response(rig, source, 51, -EIO);
}

/* Fails some turns after the response has begun: '*arg'. */
static int64_t fail_after_turns(void *arg, void *buf, size_t bytes)
{
        int *turns = arg;

        (void) buf;
        (void) bytes;
        while (!seen.begun || (*turns)-- > 0)
                if (eddy_sleep(0) < 0)
                        return -ECANCELED;
        return -EIO;
}

static int fetch_failing(void *arg)
{
        struct rig *rig = arg;

        return rig_fetch(rig,
                         &(struct eddy_http_request){ .url = "/", .body_source = rig->source });
}

/* The server waits for the rest of the request before it ends its response. */
SOURCE_TEST(error_of_a_source_at_the_time_of_an_early_head_ends_the_request)
{
        for (int i = 0; i < 300; i++) { /* the loop polls after some of them */
                int64_t before_ns = eddy_now();
                int turns = i;
                struct eddy_http_body_source source = { .read = fail_after_turns,
                                                        .arg = &turns,
                                                        .bytes = -1 };

                seen.early = true;
                seen.begun = false;
                rig->source = &source;
                CHECK_ERR(eddy_call_timeout(fetch_failing, rig, EDDY_MIN(1)), -EIO);
                CHECK(eddy_now() - before_ns < EDDY_SEC(1));
                CHECK_STATS(rig->client, 0, 0, 0);
        }
}

/* A refusal stops the sending, so the source's later error does not count. */
SOURCE_TEST(error_of_a_source_at_the_time_of_a_refusal_leaves_the_response_whole)
{
        int refused = 0;

        for (int i = 0; i < 300; i++) {
                int turns = i, err;
                struct eddy_http_body_source source = { .read = fail_after_turns,
                                                        .arg = &turns,
                                                        .bytes = -1 };
                struct eddy_http_request request = { .url = "/", .body_source = &source };
                eddy_http_response *response;

                seen.early = seen.early_whole = true;
                seen.begun = false;
                seen.status = 400;
                err = rig_send(rig, &request, &response);
                if (err < 0) {
                        CHECK_ERR(err, -EIO);
                        continue;
                }
                CHECK_EQ(eddy_http_response_status(response), 400);
                CHECK_EQ(eddy_http_response_discard(response), 0);
                eddy_http_response_close(response);
                refused++;
        }
        CHECK(refused > 0 && refused < 300);
}

static int read_body(void *arg)
{
        const void *data;
        size_t bytes;

        return eddy_http_response_body(arg, &data, &bytes);
}

SOURCE_TEST(cancel_while_the_rest_of_a_source_is_sent_loses_nothing)
{
        struct source source = { .end = 50, .piece = 10, .pause_ns = EDDY_MS(500) };
        struct eddy_http_request request = from(&source, 50);
        eddy_http_response *response;

        seen.early = seen.early_whole = true;
        CHECK_EQ(rig_send(rig, &request, &response), 0);
        CHECK_ERR(eddy_call_timeout(read_body, response, EDDY_SEC(1)), -ETIMEDOUT);
        CHECK_EQ(read_body(response), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(10)), 0);
        CHECK_EQ(seen.bytes, 50);
        CHECK(seen.same);
        eddy_http_response_close(response);
}

SOURCE_TEST(request_with_a_source_and_memory_is_refused)
{
        struct source source = { .end = 50 };
        struct eddy_http_request request = from(&source, -1);

        request.body = "x";
        request.body_bytes = 1;
        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_INVALID_REQUEST);
        request = from(&source, -1);
        source.source.read = NULL;
        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_INVALID_REQUEST);
        request = from(&source, -1);
        request.headers = &(struct eddy_http_header){ "Content-Length", "50" };
        request.headers_count = 1;
        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_EQ(source.at, 0);
}

/* ---- sending again ---------------------------------------------------------------- */

static int put_stale(struct rig *rig, struct source *source)
{
        struct eddy_http_request request = from(source, -1);

        CHECK_EQ(rig_get(rig, "/"), 0);
        request.method = "PUT";
        return rig_fetch(rig, &request);
}

/* B10: A body that cannot begin again ends the request. */
CLIENT_TEST(source_that_was_read_is_not_sent_again, NULL, SCRIPT(OK_2, "?", "~"), SCRIPT(OK_2))
{
        struct source source = { .end = 50 };

        CHECK(put_stale(rig, &source) < 0);
        CHECK_EQ(rig->peer.accepted, 1);
        CHECK_STATS(rig->client, 0, 0, 0);
}

/* B10: One that can is sent again. */
CLIENT_TEST(source_that_can_be_rewound_is_sent_again, NULL, SCRIPT(OK_2, "?", "~"),
            SCRIPT("?", ".", "<" OK_2))
{
        struct source source = { .end = 50, .source.rewind = source_rewind };

        CHECK_EQ(put_stale(rig, &source), 0);
        CHECK_EQ(rig->peer.accepted, 2);
        CHECK_EQ(source.rewinds, 1);
        CHECK_EQ(source.at, 50);
}
