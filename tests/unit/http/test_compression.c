/*
 * test_compression.c - answers are compressed as the client accepts it, and only where that is right.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "coded.h"
#include "eddy/event.h"
#include "eddy/http_compression.h"
#include "eddy/http_sse_server.h"
#include "eddy/test.h"
#include "http/coding.h"
#include "middleware_test.h"

/* ---- answers --------------------------------------------------------------- */

enum how { WHOLE, UNKNOWN, KNOWN, FLUSHED };

static struct {
        int status;
        struct eddy_http_header headers[4];
        size_t n;
        enum how how;
        struct data body;
        bool is_secret;
} reply;

#define BODY_BYTES ((size_t) 80 * 1000)

static void build_with(const struct eddy_http_compression_opts *opts)
{
        reply.status = 200;
        reply.headers[0] = (struct eddy_http_header){ "Content-Type", "text/plain" };
        reply.n = 1;
        reply.how = WHOLE;
        reply.is_secret = false;
        CHECK_EQ(eddy_http_use_compression(guarded.router, opts), 0);
}

static int send_pieces(eddy_http_exchange *exchange)
{
        const size_t n = reply.body.n;
        size_t at = 0, bytes = 1;
        int err = eddy_http_exchange_begin(exchange, reply.status, reply.headers, reply.n,
                                           reply.how == KNOWN ? (int64_t) n : -1);

        for (; err == 0 && at < n; at += bytes, bytes = bytes * 2 + 1) {
                if (bytes > n - at)
                        bytes = n - at;
                err = eddy_http_exchange_write(exchange, reply.body.bytes + at, bytes);
                if (err == 0 && reply.how == FLUSHED)
                        err = eddy_http_exchange_flush(exchange);
        }
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

static int answer(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        if (reply.is_secret)
                eddy_http_exchange_no_compression(exchange);
        return reply.how == WHOLE
                       ? eddy_http_exchange_respond(exchange, reply.status, reply.headers, reply.n,
                                                    reply.body.bytes, reply.body.n)
                       : send_pieces(exchange);
}

static void build(void)
{
        guarded.show = answer;
        build_with(NULL);
}

/* ---- what the client gets -------------------------------------------------- */

enum { PLAIN_MAX = 1 << 19 };

static unsigned char coded[1 << 16];
TEST_ROOM(unsigned char, plain, PLAIN_MAX);

/* Take the chunks' sizes out of a body. Returns its bytes, or -1 if it is cut. */
static int64_t without_chunks(const char *at, const char *end, unsigned char *out)
{
        size_t n = 0;

        for (;;) {
                char *after;
                size_t bytes = strtoul(at, &after, 16);

                if (after + 2 > end)
                        return -1;
                at = after + 2;
                if (bytes == 0)
                        return (int64_t) n;
                if (at + bytes + 2 > end)
                        return -1;
                memcpy(out + n, at, bytes);
                n += bytes;
                at += bytes + 2;
        }
}

static int64_t decode(const struct ed_coding *coding, size_t bytes)
{
        struct ed_coding_step step = { coded, bytes, plain, PLAIN_MAX };
        void *state = coding->new ();
        int result;

        CHECK(state);
        result = coding->step(state, &step);
        coding->free(state);
        return result == ED_CODING_ENDED && step.in_bytes == 0 ? (int64_t) (PLAIN_MAX - step.room)
                                                               : -1;
}

static const struct ed_coding *coding_of(const char *text)
{
        static const struct ed_coding *const codings[] = { &ed_coding_gzip, &ed_coding_zstd };
        const char *at = strstr(text, "\r\nContent-Encoding: ");

        for (size_t i = 0; at && i < sizeof(codings) / sizeof(codings[0]); i++)
                if (strncmp(at + 20, codings[i]->name, strlen(codings[i]->name)) == 0)
                        return codings[i];
        return NULL;
}

/* Returns the bytes of the body after its coding is decoded, in 'plain'; -1: it is not whole. */
static int64_t body_bytes_of(const struct answer *got)
{
        const struct ed_coding *coding = coding_of(got->text);
        const char *at = strstr(got->text, "\r\n\r\n") + 4, *end = got->text + got->bytes;
        int64_t n = end - at;

        if (strstr(got->text, "Transfer-Encoding: chunked"))
                n = without_chunks(at, end, coded);
        else
                memcpy(coded, at, (size_t) n);
        if (n < 0)
                return n;
        if (coding)
                return decode(coding, (size_t) n);
        memcpy(plain, coded, (size_t) n);
        return n;
}

static const struct answer *ask_accepting(struct site *site, const char *method,
                                          const char *accepted)
{
        char text[300];

        snprintf(text, sizeof(text),
                 "%s /show HTTP/1.1\r\nHost: a\r\nConnection: close\r\n%s%s%s\r\n", method,
                 accepted ? "Accept-Encoding: " : "", accepted ? accepted : "",
                 accepted ? "\r\n" : "");
        return ask(site, text);
}

static void check_body(struct site *site, const char *accepted, const char *coding)
{
        const struct answer *got = ask_accepting(site, "GET", accepted);
        char line[100];

        CHECK_EQ(got->status, reply.status);
        CHECK_HAS(got->text, "\r\nVary: Accept-Encoding\r\n");
        snprintf(line, sizeof(line), "\r\nContent-Encoding: %s\r\n", coding ? coding : "");
        if (coding)
                CHECK_HAS(got->text, line);
        else
                CHECK_HAS_NOT(got->text, "Content-Encoding: ");
        CHECK_EQ(body_bytes_of(got), (int64_t) reply.body.n);
        CHECK(memcmp(plain, reply.body.bytes, reply.body.n) == 0);
}

static const char *const names[] = { "gzip", "zstd" };
enum { NAMES = 2 };

GUARDED_TEST(a_body_in_any_pieces_is_the_same_after_it_is_decoded, build)
{
        static const size_t sizes[] = { 1024, 20000, BODY_BYTES };

        for (size_t i = 0; i < NAMES; i++)
                for (int how = WHOLE; how <= FLUSHED; how++)
                        for (size_t j = 0; j < 3; j++) {
                                reply.how = (enum how) how;
                                reply.body = plain_new(sizes[j]);
                                check_body(site, names[i], names[i]);
                                free(reply.body.bytes);
                        }
}

GUARDED_TEST(all_fields_accept_encoding_count, build)
{
        reply.body = plain_new(2000);
        check_body(site, "deflate\r\nAccept-Encoding: gzip;q=0.5", "gzip");
        check_body(site, "gzip\r\nAccept-Encoding: identity;q=0.5, zstd;q=0.1", "gzip");
        check_body(site, "gzip;q=0.5\r\nAccept-Encoding: identity", NULL);
        free(reply.body.bytes);
}

GUARDED_TEST(coded_bytes_of_a_whole_answer_that_fit_into_a_piece_have_their_length, build)
{
        reply.body = plain_new(20000);
        CHECK_HAS(ask_accepting(site, "GET", "gzip")->text, "\r\nContent-Length: ");
        CHECK_HAS_NOT(ask_accepting(site, "GET", "gzip")->text, "\r\nContent-Length: 20000\r\n");
        CHECK_HAS_NOT(ask_accepting(site, "GET", "gzip")->text, "chunked");
        CHECK_HAS(ask_accepting(site, "GET", NULL)->text, "\r\nContent-Length: 20000\r\n");
        free(reply.body.bytes);
}

static void set_header(size_t i, const char *name, const char *value)
{
        reply.headers[i] = (struct eddy_http_header){ name, value };
        if (reply.n < i + 1)
                reply.n = i + 1;
}

GUARDED_TEST(types_with_a_compression_of_their_own_are_sent_as_they_are, build)
{
        static const struct {
                const char *type;
                bool is_coded;
        } cases[] = {
                { "text/html; charset=utf-8", true },
                { "TEXT/CSS", true },
                { "application/json", true },
                { "application/json;x=y", true },
                { "application/problem+json", true },
                { "application/atom+xml; a=b", true },
                { "image/svg+xml", true },
                { "application/wasm", true },
                { "text/event-stream", false },
                { "text/event-stream; charset=utf-8", false },
                { "text/event-streams", true },
                { "image/png", false },
                { "video/mp4", false },
                { "application/zip", false },
                { "application/octet-stream", false },
                { "application/jsonx", false },
                { "application/jso", false },
                { "font/woff2", false },
                { "", false },
        };

        reply.body = plain_new(2000);
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                set_header(0, "Content-Type", cases[i].type);
                check_body(site, "gzip", cases[i].is_coded ? "gzip" : NULL);
        }
        reply.n = 0;
        check_body(site, "gzip", NULL);
        free(reply.body.bytes);
}

GUARDED_TEST(an_answer_whose_headers_or_status_forbid_it_is_not_compressed, build)
{
        static const struct eddy_http_header forbidding[] = {
                { "content-encoding", "x" },         { "Content-Range", "bytes 0-9/99" },
                { "Content-Digest", "sha-256=:x:" }, { "Cache-Control", "public,  No-Transform" },
                { "Cache-Control", "no-transform" },
        };
        const struct answer *got;

        reply.body = plain_new(2000);
        for (int how = WHOLE; how <= KNOWN; how++)
                for (size_t i = 0; i < sizeof(forbidding) / sizeof(forbidding[0]); i++) {
                        reply.how = (enum how) how;
                        set_header(1, forbidding[i].name, forbidding[i].value);
                        got = ask_accepting(site, "GET", "gzip");
                        CHECK_EQ(got->status, 200);
                        CHECK_HAS_NOT(got->text, "Content-Encoding: gzip");
                        CHECK_HAS(got->text, "Vary: Accept-Encoding");
                }
        set_header(1, "Cache-Control", "no-transformation");
        check_body(site, "gzip", "gzip");
        reply.status = 206;
        check_body(site, "gzip", NULL);
        reply.status = 404;
        check_body(site, "gzip", "gzip");
        reply.status = 304;
        free(reply.body.bytes);
        reply.body.n = 0;
        reply.body.bytes = NULL;
        reply.how = WHOLE;
        CHECK_HAS(ask_accepting(site, "GET", "gzip")->text, "Vary: Accept-Encoding");
        CHECK_HAS_NOT(ask_accepting(site, "GET", "gzip")->text, "Content-Encoding");
        CHECK_HAS(ask(site, GET("/none"))->text, "HTTP/1.1 404");
}

GUARDED_TEST(a_small_body_is_compressed_only_if_the_client_refuses_other_answers, build)
{
        reply.body = plain_new(1023);
        for (int how = WHOLE; how <= KNOWN; how += KNOWN) {
                reply.how = (enum how) how;
                check_body(site, "gzip", NULL);
                check_body(site, "gzip, identity;q=0", "gzip");
                check_body(site, "gzip, *;q=0", "gzip");
                check_body(site, "identity;q=0", NULL);
        }
        reply.how = UNKNOWN;
        check_body(site, "gzip", "gzip");
        free(reply.body.bytes);
}

GUARDED_TEST(a_body_that_would_become_longer_is_sent_as_it_is, build)
{
        uint32_t x = 1;

        reply.body = data_new(8000);
        for (reply.body.n = 0; reply.body.n < 8000; reply.body.n++) {
                x = x * 1664525 + 1013904223;
                reply.body.bytes[reply.body.n] = (unsigned char) (x >> 24);
        }
        for (size_t i = 0; i < NAMES; i++)
                check_body(site, names[i], NULL);
        free(reply.body.bytes);
}

GUARDED_TEST(an_answer_to_head_has_the_headers_of_get_and_no_length_or_body, build)
{
        const struct answer *got;

        reply.body = plain_new(2000);
        set_header(1, "ETag", "\"x\"");
        for (int how = WHOLE; how <= KNOWN; how++) {
                reply.how = (enum how) how;
                got = ask_accepting(site, "HEAD", "gzip");
                CHECK_EQ(got->status, 200);
                CHECK_HAS(got->text, "\r\nContent-Encoding: gzip\r\n");
                CHECK_HAS(got->text, "\r\nETag: W/\"x\"\r\n");
                CHECK_HAS_NOT(got->text, "Content-Length");
                CHECK_STR(body_of(got), "");
                got = ask_accepting(site, "HEAD", NULL);
                CHECK_HAS_NOT(got->text, "Content-Encoding");
                CHECK_STR(body_of(got), "");
        }
        free(reply.body.bytes);
}

GUARDED_TEST(a_compressed_answer_has_a_weak_etag_and_no_ranges, build)
{
        const struct answer *got;

        reply.body = plain_new(2000);
        set_header(1, "etag", "\"abc\"");
        set_header(2, "Accept-Ranges", "bytes");
        set_header(3, "X-Last", "1");
        got = ask_accepting(site, "GET", "zstd");
        CHECK_HAS(got->text, "\r\netag: W/\"abc\"\r\n");
        CHECK_HAS(got->text, "\r\nX-Last: 1\r\n");
        CHECK_HAS_NOT(got->text, "Accept-Ranges");
        got = ask_accepting(site, "GET", NULL);
        CHECK_HAS(got->text, "\r\netag: \"abc\"\r\n");
        CHECK_HAS(got->text, "\r\nAccept-Ranges: bytes\r\n");
        set_header(1, "ETag", "W/\"abc\"");
        CHECK_HAS(ask_accepting(site, "GET", "zstd")->text, "\r\nETag: W/\"abc\"\r\n");
        free(reply.body.bytes);
}

/* The handler has not said what a 200 would be. */
GUARDED_TEST(a_304_has_the_tag_under_which_the_client_has_the_body, build)
{
        static const struct {
                const char *fields, *tag;
        } cases[] = {
                { "Accept-Encoding: gzip\r\nIf-None-Match: W/\"a\"\r\n", "W/\"a\"" },
                { "Accept-Encoding: gzip\r\nIf-None-Match: \"b\"\r\nIf-None-Match: W/\"a\"\r\n",
                  "W/\"a\"" },
                { "Accept-Encoding: gzip\r\nIf-None-Match: \"a\"\r\n", "\"a\"" },
                { "Accept-Encoding: gzip\r\nIf-None-Match: W/\"a\", \"a\"\r\n", "\"a\"" },
                { "Accept-Encoding: gzip\r\nIf-None-Match: *\r\n", "\"a\"" },
                { "Accept-Encoding: gzip\r\n", "\"a\"" },
                { "If-None-Match: W/\"a\"\r\n", "\"a\"" },
        };
        char text[300], line[30];

        reply.status = 304;
        reply.body.n = 0;
        set_header(0, "ETag", "\"a\"");
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                for (int how = WHOLE; how <= UNKNOWN; how++) {
                        const struct answer *got;

                        reply.how = (enum how) how;
                        snprintf(text, sizeof(text), SAY("GET", "/show", "%s"), cases[i].fields);
                        snprintf(line, sizeof(line), "\r\nETag: %s\r\n", cases[i].tag);
                        got = ask(site, text);
                        CHECK_EQ(got->status, 304);
                        CHECK_HAS(got->text, line);
                        CHECK_HAS_NOT(got->text, "Content-Encoding");
                }
}

static int add_etag(eddy_http_exchange *exchange, void *arg)
{
        CHECK_EQ(eddy_http_exchange_add_header(exchange, "ETag", "\"x\""), 0);
        return answer(exchange, arg);
}

GUARDED_TEST(an_added_strong_etag_forbids_compression, build)
{
        reply.body = plain_new(2000);
        guarded.show = add_etag;
        check_body(site, "gzip", NULL);
        free(reply.body.bytes);
}

/* ---- flush ----------------------------------------------------------------- */

static eddy_event may_go_on;

static int flush_and_wait(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_http_exchange_begin(exchange, 200, reply.headers, reply.n, -1), 0);
        CHECK_EQ(eddy_http_exchange_write(exchange, "first, ", 7), 0);
        CHECK_EQ(eddy_http_exchange_flush(exchange), 0);
        CHECK_EQ(eddy_http_exchange_flush(exchange), 0);
        CHECK_EQ(eddy_event_wait(&may_go_on), 0);
        CHECK_EQ(eddy_http_exchange_write(exchange, "second", 6), 0);
        return eddy_http_exchange_end(exchange);
}

/* Decode the chunks that have come so far. Returns the bytes in 'plain'. */
static size_t decode_so_far(const char *text, size_t bytes)
{
        struct ed_coding_step step = { coded, 0, plain, PLAIN_MAX };
        const struct ed_coding *coding = coding_of(text);
        char cut[8192];
        void *state;
        int64_t n;

        CHECK(coding && bytes + 8 < sizeof(cut));
        memcpy(cut, text, bytes);
        memcpy(cut + bytes, "0\r\n\r\n", 5);
        n = without_chunks(strstr(cut, "\r\n\r\n") + 4, cut + bytes + 5, coded);
        if (n < 0)
                return 0;
        step.in_bytes = (size_t) n;
        state = coding->new ();
        CHECK(state);
        CHECK(coding->step(state, &step) >= 0);
        coding->free(state);
        return PLAIN_MAX - step.room;
}

GUARDED_TEST(bytes_that_are_flushed_can_be_decoded_at_once, build)
{
        guarded.show = flush_and_wait;
        for (size_t i = 0; i < NAMES; i++) {
                eddy_stream *stream = site_connect(site);
                char text[8000] = "";
                size_t bytes = 0;
                int64_t n = 1;

                eddy_event_clear(&may_go_on);
                snprintf(text, sizeof(text),
                         "GET /show HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
                         "Accept-Encoding: %s\r\n\r\n",
                         names[i]);
                CHECK_EQ(eddy_stream_write(stream, text, strlen(text)), 0);
                text[0] = '\0';
                do {
                        n = eddy_stream_read(stream, text + bytes, sizeof(text) - 1 - bytes);
                        CHECK(n > 0);
                        bytes += (size_t) n;
                        text[bytes] = '\0';
                } while (!strstr(text, "\r\n\r\n") || decode_so_far(text, bytes) < 7);
                CHECK_EQ(decode_so_far(text, bytes), 7);
                CHECK(memcmp(plain, "first, ", 7) == 0);
                eddy_event_set(&may_go_on);
                while ((n = eddy_stream_read(stream, text + bytes, sizeof(text) - 1 - bytes)) > 0)
                        bytes += (size_t) n;
                CHECK_EQ(without_chunks(strstr(text, "\r\n\r\n") + 4, text + bytes, coded) > 0, 1);
                CHECK_EQ(decode_so_far(text, bytes), 13);
                CHECK(memcmp(plain, "first, second", 13) == 0);
                eddy_stream_close(stream);
        }
}

/* ---- fairness ---------------------------------------------------------------- */

static struct {
        bool is_over;
        int turns; /* of another task, while an answer is compressed */
} beside;

static int count_turns(void *arg)
{
        (void) arg;
        while (!beside.is_over) {
                beside.turns++;
                if (eddy_sleep(0) < 0)
                        return 0;
        }
        return 0;
}

static int answer_beside(eddy_http_exchange *exchange, void *arg)
{
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, count_turns, NULL), 0);
        err = answer(exchange, arg);
        beside.is_over = true;
        CHECK_EQ(eddy_scope_end(&scope), 0);
        return err;
}

enum { ZEROS = 4 << 20 };

TEST_ROOM(char, zeros, ZEROS);

GUARDED_TEST(other_tasks_run_while_a_large_body_is_compressed, build)
{
        guarded.show = answer_beside;
        reply.body = (struct data){ (unsigned char *) zeros, ZEROS };
        for (size_t i = 0; i < NAMES; i++)
                for (int how = WHOLE; how <= KNOWN; how += KNOWN) {
                        reply.how = (enum how) how;
                        beside.is_over = false;
                        beside.turns = 0;
                        CHECK_EQ(ask_accepting(site, "GET", names[i])->status, 200);
                        CHECK(beside.turns >= 15);
                }
}

/* ---- answers that are not whole -------------------------------------------- */

static int mistake; /* of the handler */

static int answer_wrongly(eddy_http_exchange *exchange, void *arg)
{
        const int64_t promised = mistake == 3 ? -1 : 3000;
        static char data[4000];

        (void) arg;
        CHECK_EQ(eddy_http_exchange_begin(exchange, 200, reply.headers, reply.n, promised), 0);
        CHECK_ERR(eddy_http_exchange_begin(exchange, 200, reply.headers, reply.n, promised),
                  EDDY_E_HTTP_STATE);
        CHECK_ERR(eddy_http_exchange_write(exchange, NULL, 1), -EINVAL);
        CHECK_EQ(eddy_http_exchange_write(exchange, data, 2000), 0);
        if (mistake == 1)
                CHECK_ERR(eddy_http_exchange_write(exchange, data, 1001), EDDY_E_HTTP_STATE);
        if (mistake == 2)
                CHECK_ERR(eddy_http_exchange_end(exchange), EDDY_E_HTTP_STATE);
        return mistake == 4 ? -EIO : 0;
}

GUARDED_TEST(an_answer_that_the_handler_does_not_complete_is_not_whole_for_the_client, build)
{
        guarded.show = answer_wrongly;
        for (size_t i = 0; i < NAMES; i++)
                for (mistake = 1; mistake <= 4; mistake++)
                        CHECK_EQ(body_bytes_of(ask_accepting(site, "GET", names[i])), -1);
}

/* ---- options --------------------------------------------------------------- */

static void build_some(void)
{
        guarded.show = answer;
        build_with(&(struct eddy_http_compression_opts){
                .flags = EDDY_HTTP_COMPRESSION_NO_ZSTD, .gzip_level = 9, .bytes_min = 100 });
}

GUARDED_TEST(codings_and_the_smallest_body_are_options, build_some)
{
        reply.body = plain_new(200);
        check_body(site, "gzip, zstd", "gzip");
        check_body(site, "zstd", NULL);
        reply.body.n = 99;
        check_body(site, "gzip", NULL);
        reply.body.n = 200;
        reply.is_secret = true;
        check_body(site, "gzip", NULL);
        free(reply.body.bytes);
}

static void build_off(void)
{
        build();
        CHECK_EQ(eddy_http_use_compression(guarded.router, NULL), 0);
        CHECK_EQ(eddy_http_use_compression(guarded.router,
                                           &(struct eddy_http_compression_opts){
                                                   .flags = EDDY_HTTP_COMPRESSION_OFF }),
                 0);
}

GUARDED_TEST(routes_that_reflect_secrets_turn_it_off, build_off)
{
        reply.body = plain_new(2000);
        check_body(site, "gzip", NULL);
        free(reply.body.bytes);
}

static void build_off_outside(void)
{
        CHECK_EQ(eddy_http_use_compression(guarded.router,
                                           &(struct eddy_http_compression_opts){
                                                   .flags = EDDY_HTTP_COMPRESSION_OFF }),
                 0);
        build();
}

GUARDED_TEST(middleware_that_turns_it_off_does_so_also_for_the_middleware_it_encloses,
             build_off_outside)
{
        const struct answer *got;

        reply.body = plain_new(2000);
        got = ask_accepting(site, "GET", "gzip");
        CHECK_EQ(got->status, 200);
        CHECK_HAS_NOT(got->text, "Content-Encoding: ");
        CHECK_HAS_NOT(got->text, "Vary: ");
        CHECK_EQ(body_bytes_of(got), (int64_t) reply.body.n);
        CHECK(memcmp(plain, reply.body.bytes, reply.body.n) == 0);
        free(reply.body.bytes);
}

TEST(levels_that_do_not_exist_are_mistakes_of_the_router)
{
        static const struct eddy_http_compression_opts bad[] = { { .gzip_level = 10 },
                                                                 { .zstd_level = 7 } };
        const char *text;

        for (size_t i = 0; i < NAMES; i++) {
                CHECK_EQ(eddy_http_router_new(&guarded.router), 0);
                CHECK_ERR(eddy_http_use_compression(guarded.router, &bad[i]), -EINVAL);
                CHECK_ERR(eddy_http_router_check(guarded.router, &text), -EINVAL);
                CHECK_HAS(text, "eddy_http_use_compression()");
                eddy_http_router_free(guarded.router);
        }
}

static int send_events(eddy_http_exchange *exchange, void *arg)
{
        static const struct eddy_http_sse_out event = { .data = "x", .data_bytes = 1 };

        (void) arg;
        CHECK_EQ(eddy_http_exchange_sse_begin(exchange, NULL), 0);
        CHECK_EQ(eddy_http_exchange_sse_send(exchange, &event), 0);
        return eddy_http_exchange_end(exchange);
}

GUARDED_TEST(events_are_not_compressed, build)
{
        guarded.show = send_events;
        CHECK_HAS(ask_accepting(site, "GET", "gzip")->text, "data: x\n\n");
}

/* ---- faults ---------------------------------------------------------------- */

static const char *swept;

static int build_and_ask(void *arg)
{
        const struct eddy_http_header header = { "Accept-Encoding", swept };
        EDDY_AUTO(eddy_http_router) eddy_http_router *router = NULL;
        int err = eddy_http_router_new(&router);

        (void) arg;
        if (err < 0)
                return err;
        guarded.router = router;
        (void) eddy_http_use_compression(router, NULL);
        (void) eddy_http_router_add(router, "GET /", answer, NULL, NULL);
        err = guarded_ask(router, "http://a/", &header, 1);
        return err < 0 ? err : err == 200 || err == 500 ? 0 : -EPROTO;
}

TEST(a_cancel_or_a_shortage_of_memory_at_any_point_leaves_nothing)
{
        reply.status = 200;
        set_header(0, "Content-Type", "text/plain");
        set_header(1, "ETag", "\"x\"");
        reply.body = plain_new(1500);
        for (size_t i = 0; i < NAMES; i++)
                for (int how = WHOLE; how <= UNKNOWN; how++) {
                        swept = names[i];
                        reply.how = (enum how) how;
                        guarded_sweep(build_and_ask);
                }
        free(reply.body.bytes);
}
