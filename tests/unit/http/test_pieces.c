/*
 * test_pieces.c - answers in pieces leave in one write: the head, small pieces and the end are kept
 * until a piece does not fit, the end, a flush, or until the handler waits. The handler's stream has a
 * gate that counts writes, refuses some, and fails.
 */
#include <string.h>

#include "eddy/stream_ops.h"
#include "eddy/test.h"
#include "http/http1_server.h"
#include "server_test.h"

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

enum { LARGE = 40000 };

static char large[LARGE];

static struct {
        struct eddy_stream_ops ops;
        const struct eddy_stream_ops *below;
        eddy_stream *stream;
        int writes;         /* that took bytes */
        size_t first_bytes; /* of the first of them */
        int full;           /* so many tries find no room */
        int full_again;     /* and so many after each that takes bytes */
        size_t room;        /* bytes that one try takes; 0: all */
        int error;          /* of each try */
        eddy_event go;      /* the client lets the handler continue */
} gate;

static int64_t gate_try_writev(eddy_stream *stream, const struct eddy_slice *slices, size_t n)
{
        struct eddy_slice first = slices[0];
        int64_t taken;

        if (gate.error < 0)
                return gate.error;
        if (gate.full > 0) {
                gate.full--;
                return -EAGAIN;
        }
        if (gate.room > 0 && first.bytes > gate.room)
                first.bytes = gate.room;
        taken = gate.room > 0 ? gate.below->try_writev(stream, &first, 1)
                              : gate.below->try_writev(stream, slices, n);
        if (taken > 0)
                gate.full = gate.full_again;
        if (taken > 0 && gate.writes++ == 0)
                gate.first_bytes = (size_t) taken;
        return taken;
}

/* The socket has room, so a wait for it would not wait. */
static int gate_wait(eddy_stream *stream, enum eddy_stream_side side)
{
        return side == EDDY_STREAM_WRITING ? eddy_sleep(EDDY_MS(1))
                                           : gate.below->wait(stream, side);
}

static void gate_put(eddy_http_exchange *exchange)
{
        memset(&gate, 0, sizeof(gate));
        gate.stream = ed_http1_exchange_of(exchange)->stream;
        gate.below = gate.stream->ops;
        gate.ops = *gate.below;
        gate.ops.try_writev = gate_try_writev;
        gate.ops.wait = gate_wait;
        gate.stream->ops = &gate.ops;
}

/* ---- running ------------------------------------------------------------------ */

static eddy_http_handler_fn *handler;

static int handle(eddy_http_exchange *exchange, void *arg)
{
        int err;

        gate_put(exchange);
        err = handler(exchange, arg);
        if (gate.error == 0)
                gate.stream->ops = gate.below;
        return err;
}

static void prepare(struct site *site)
{
        site->handler = handle;
}

/* PIECES_TEST(claim, handler) { ... site ... } */
#define PIECES_TEST(claim, fn)                                                                     \
        static void pieces_##claim(struct site *site);                                             \
        TEST(claim)                                                                                \
        {                                                                                          \
                handler = (fn);                                                                    \
                site_run_prepared(NULL, false, prepare, pieces_##claim);                           \
        }                                                                                          \
        static void pieces_##claim(struct site *site)

static int begin(eddy_http_exchange *exchange, int64_t bytes)
{
        return eddy_http_exchange_begin(exchange, 200, NULL, 0, bytes);
}

static int put(eddy_http_exchange *exchange, const char *text)
{
        return eddy_http_exchange_write(exchange, text, strlen(text));
}

/* The path is the answer's kind. */
static int in_one_write(eddy_http_exchange *exchange, void *arg)
{
        const char *path = eddy_http_exchange_path(exchange);
        int status = strcmp(path, "/none") == 0 ? 204 : 200;
        bool known = strcmp(path, "/known") == 0;

        (void) arg;
        CHECK_EQ(eddy_http_exchange_begin(exchange, status, NULL, 0, known ? 6 : -1), 0);
        if (status == 200) {
                CHECK_EQ(put(exchange, "abc"), 0);
                CHECK_EQ(put(exchange, "def"), 0);
        }
        CHECK_EQ(gate.writes, 0);
        CHECK_EQ(eddy_http_exchange_end(exchange), 0);
        CHECK_EQ(gate.writes, 1);
        return 0;
}

PIECES_TEST(begin_write_and_end_are_one_write, in_one_write)
{
        CHECK_HAS(ask(site, GET("/"))->text, "chunked\r\nConnection: close\r\n\r\n"
                                             "3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n");
        CHECK_HAS(ask(site, GET("/known"))->text,
                  "Content-Length: 6\r\nConnection: close\r\n\r\nabcdef");
        CHECK_HAS(ask(site, GET("/none"))->text, "204 No Content\r\n");
        CHECK_HAS(ask(site, "GET / HTTP/1.0\r\n\r\n")->text, "Connection: close\r\n\r\nabcdef");
        CHECK_HAS_NOT(ask(site, "HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")->text,
                      "abc");
        CHECK_EQ(ask(site, "GET / HTTP/1.1\r\nHost: a\r\n\r\n" GET("/known"))->responses, 2);
        CHECK_EQ(site->handled, 7);
        CHECK_EQ(site->failed, 0);
}

/* ---- when kept bytes leave ------------------------------------------------------- */

static int wait_after_each(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        CHECK_EQ(begin(exchange, -1), 0);
        CHECK_EQ(gate.writes, 0);
        CHECK_EQ(eddy_event_wait(&gate.go), 0);
        CHECK_EQ(gate.writes, 1);
        eddy_event_clear(&gate.go);
        CHECK_EQ(put(exchange, "abc"), 0);
        CHECK_EQ(gate.writes, 1);
        CHECK_EQ(eddy_event_wait(&gate.go), 0);
        CHECK_EQ(gate.writes, 2);
        CHECK_EQ(put(exchange, "def"), 0);
        CHECK_EQ(eddy_sleep(0), 0); /* others run first */
        CHECK_EQ(gate.writes, 3);
        return eddy_http_exchange_end(exchange);
}

/* The client lets the handler continue only when it has what the handler wrote. */
static void continue_it(struct site *site)
{
        eddy_stream *stream = site_connect(site);

        CHECK(say(stream, GET("/"), "\r\n\r\n") != NULL);
        CHECK_EQ(eddy_event_set(&gate.go), 0);
        CHECK(say(stream, "", "abc\r\n") != NULL);
        CHECK_EQ(eddy_event_set(&gate.go), 0);
        CHECK(say(stream, "", "def\r\n0\r\n\r\n") != NULL);
        eddy_stream_close(stream);
}

PIECES_TEST(kept_bytes_leave_when_the_handler_waits, wait_after_each)
{
        continue_it(site);
        CHECK_EQ(gate.writes, 4);
}

static int read_after_begin(eddy_http_exchange *exchange, void *arg)
{
        const void *body;
        size_t bytes;

        (void) arg;
        CHECK_EQ(begin(exchange, -1), 0);
        CHECK_EQ(eddy_http_exchange_body(exchange, &body, &bytes), 0);
        CHECK_EQ(eddy_http_exchange_write(exchange, body, bytes), 0);
        return eddy_http_exchange_end(exchange);
}

PIECES_TEST(a_head_leaves_when_the_handler_waits_for_the_body, read_after_begin)
{
        eddy_stream *stream = site_connect(site);

        CHECK(say(stream, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n", "\r\n\r\n") !=
              NULL);
        CHECK(say(stream, "abc", "3\r\nabc\r\n0\r\n\r\n") != NULL);
        eddy_stream_close(stream);
}

static int flush_each(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        CHECK_ERR(eddy_http_exchange_flush(exchange), EDDY_E_HTTP_STATE);
        CHECK_EQ(begin(exchange, 6), 0);
        CHECK_EQ(eddy_http_exchange_flush(exchange), 0);
        CHECK_EQ(gate.writes, 1);
        CHECK_EQ(eddy_http_exchange_flush(exchange), 0);
        CHECK_EQ(gate.writes, 1);
        CHECK_EQ(put(exchange, "abc"), 0);
        CHECK_EQ(eddy_http_exchange_flush(exchange), 0);
        CHECK_EQ(gate.writes, 2);
        CHECK_EQ(put(exchange, "def"), 0);
        CHECK_EQ(eddy_http_exchange_end(exchange), 0);
        CHECK_EQ(gate.writes, 3);
        CHECK_ERR(eddy_http_exchange_flush(exchange), EDDY_E_HTTP_STATE);
        return 0;
}

PIECES_TEST(flush_sends_what_is_kept, flush_each)
{
        CHECK_HAS(ask(site, GET("/"))->text, "\r\n\r\nabcdef");
        CHECK_EQ(site->failed, 0);
}

static int write_large(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        CHECK_EQ(begin(exchange, LARGE + 3), 0);
        CHECK_EQ(put(exchange, "abc"), 0);
        CHECK_EQ(eddy_http_exchange_write(exchange, large, LARGE), 0);
        CHECK(gate.first_bytes > LARGE + 3);
        return eddy_http_exchange_end(exchange);
}

PIECES_TEST(a_large_piece_leaves_in_one_write_with_what_is_kept, write_large)
{
        const struct answer *answer;

        memset(large, 'x', sizeof(large));
        answer = ask(site, GET("/"));
        CHECK_HAS(answer->text, "\r\n\r\nabcxxx");
        CHECK(answer->bytes > LARGE + 3);
        CHECK_EQ(gate.writes, 1);
}

static int write_many(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        CHECK_EQ(begin(exchange, 30000), 0);
        for (int i = 0; i < 100; i++) /* fewer calls than a task makes before it yields */
                CHECK_EQ(eddy_http_exchange_write(exchange, large, 300), 0);
        return eddy_http_exchange_end(exchange);
}

PIECES_TEST(many_small_pieces_leave_in_few_writes, write_many)
{
        memset(large, 'x', sizeof(large));
        CHECK(ask(site, GET("/"))->bytes > 30000);
        CHECK_EQ(gate.writes, 2);
}

static int leave_open(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        CHECK_EQ(begin(exchange, -1), 0);
        CHECK_EQ(put(exchange, "abc"), 0);
        if (strcmp(eddy_http_exchange_path(exchange), "/abort") == 0)
                eddy_http_exchange_abort(exchange);
        return strcmp(eddy_http_exchange_path(exchange), "/fail") == 0 ? -EIO : 0;
}

PIECES_TEST(kept_bytes_leave_if_the_handler_returns_without_an_end, leave_open)
{
        static const char *const paths[] = { GET("/"), GET("/abort"), GET("/fail") };

        for (size_t i = 0; i < 3; i++) {
                const struct answer *answer = ask(site, paths[i]);

                CHECK_HAS(answer->text, "3\r\nabc\r\n");
                CHECK_HAS_NOT(answer->text, "0\r\n\r\n");
                CHECK_EQ(answer->responses, 1);
        }
}

/* ---- a stream that does not take them at once -------------------------------------- */

static int wait_while_full(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        gate.full = 3;
        gate.room = 7;
        CHECK_EQ(begin(exchange, -1), 0);
        CHECK_EQ(eddy_sleep(0), 0); /* the rest of the head is on its way */
        CHECK_EQ(gate.writes, 0);
        CHECK_EQ(put(exchange, "abc"), 0);
        CHECK(gate.writes > 1);
        CHECK_EQ(eddy_event_wait(&gate.go), 0);
        gate.full = 1;
        CHECK_EQ(put(exchange, "def"), 0);
        return eddy_sleep(0); /* and returns meanwhile */
}

PIECES_TEST(a_rest_is_sent_when_there_is_room_again, wait_while_full)
{
        eddy_stream *stream = site_connect(site);
        struct answer answer;

        CHECK(say(stream, GET("/"), "3\r\nabc\r\n") != NULL);
        CHECK_EQ(eddy_event_set(&gate.go), 0);
        read_answer(stream, &answer);
        CHECK_STR(answer.text, "3\r\ndef\r\n");
        eddy_stream_close(stream);
}

/* The client is gone while a task sends a rest for a handler that waits. */
static int wait_for_ever(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        gate.full = 1000;
        CHECK_EQ(begin(exchange, -1), 0);
        return eddy_event_wait(&gate.go);
}

PIECES_TEST(a_rest_ends_with_its_connection, wait_for_ever)
{
        eddy_stream *stream = site_connect(site);

        CHECK_EQ(eddy_stream_write(stream, GET("/"), strlen(GET("/"))), 0);
        http_pause(EDDY_MS(20));
        eddy_stream_abort(stream);
        http_pause(EDDY_MS(20));
        CHECK_ERR(site->failed, -ECANCELED);
        CHECK_EQ(gate.writes, 0);
}

static int find_error(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        CHECK_EQ(begin(exchange, -1), 0);
        gate.error = -EPIPE;
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_ERR(put(exchange, "abc"), -EPIPE);
        CHECK_ERR(eddy_http_exchange_flush(exchange), -EPIPE);
        CHECK_ERR(eddy_http_exchange_end(exchange), -EPIPE);
        gate.error = 0;
        CHECK_ERR(eddy_http_exchange_end(exchange), -EPIPE);
        return 0;
}

PIECES_TEST(an_error_of_kept_bytes_is_returned_by_the_next_call, find_error)
{
        const struct answer *answer = ask(site, "GET / HTTP/1.1\r\nHost: a\r\n\r\n" GET("/"));

        CHECK_EQ(answer->bytes, 0);
        CHECK_EQ(site->handled, 1);
}

/* ---- cancels ------------------------------------------------------------------------ */

static int flush(void *arg)
{
        return eddy_http_exchange_flush(arg);
}

static int time_out(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        CHECK_EQ(begin(exchange, -1), 0);
        gate.full = 1000;
        CHECK_ERR(eddy_call_timeout(flush, exchange, EDDY_MS(10)), -ETIMEDOUT);
        CHECK_EQ(gate.writes, 0);
        gate.full = 0;
        CHECK_EQ(put(exchange, "abc"), 0);
        return eddy_http_exchange_end(exchange);
}

PIECES_TEST(a_cancelled_flush_loses_no_byte, time_out)
{
        CHECK_HAS(ask(site, GET("/"))->text, "\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
}

static int end(void *arg)
{
        return eddy_http_exchange_end(arg);
}

static int end_late(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        CHECK_EQ(begin(exchange, -1), 0);
        CHECK_EQ(put(exchange, "abc"), 0);
        gate.full = 1000;
        CHECK_ERR(eddy_call_timeout(end, exchange, EDDY_MS(10)), -ETIMEDOUT);
        gate.full = 0;
        CHECK_EQ(gate.writes, 0);
        return eddy_http_exchange_end(exchange);
}

PIECES_TEST(an_end_after_a_cancelled_end_sends_one_last_chunk, end_late)
{
        const struct answer *answer = ask(site, GET("/"));

        CHECK_HAS(answer->text, "\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
        CHECK_HAS_NOT(answer->text, "0\r\n\r\n0\r\n");
}

static int respond_ok(void *arg)
{
        return eddy_http_exchange_respond(arg, 200, NULL, 0, "abc", 3);
}

static int respond_late(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        gate.full = 1000;
        CHECK_ERR(eddy_call_timeout(respond_ok, exchange, EDDY_MS(10)), -ETIMEDOUT);
        gate.full = 0;
        return 0;
}

PIECES_TEST(a_cancelled_respond_sends_no_head_alone, respond_late)
{
        CHECK_EQ(ask(site, GET("/"))->bytes, 0);
}

/* A stop of the server cancels a handler that has begun its answer. */
static int begin_cancelled(eddy_http_exchange *exchange, void *arg)
{
        struct site *site = arg;

        CHECK_EQ(begin(exchange, 3), 0);
        eddy_scope_cancel(site->scope);
        while (eddy_sleep(EDDY_MS(1)) == 0)
                continue;
        CHECK_ERR(put(exchange, "abc"), -ECANCELED);
        return -ECANCELED;
}

PIECES_TEST(a_stop_of_the_server_ends_an_answer_in_pieces, begin_cancelled)
{
        const struct answer *answer = ask(site, GET("/"));

        CHECK_HAS_NOT(answer->text, "abc");
        CHECK_EQ(site->handled, 1);
}

/* ---- refused, and several tasks ------------------------------------------------------- */

static int begin_badly(eddy_http_exchange *exchange, void *arg)
{
        static const struct eddy_http_header bad = { "X", "a\nb" };
        const void *body;
        size_t bytes;

        (void) arg;
        CHECK_ERR(eddy_http_exchange_begin(exchange, 200, &bad, 1, -1), EDDY_E_HTTP_INVALID_ANSWER);
        CHECK_EQ(eddy_http_exchange_body(exchange, &body, &bytes), 0);
        CHECK_EQ(begin(exchange, (int64_t) bytes), 0);
        CHECK_ERR(begin(exchange, 3), EDDY_E_HTTP_STATE);
        CHECK_EQ(eddy_http_exchange_write(exchange, body, bytes), 0);
        return eddy_http_exchange_end(exchange);
}

PIECES_TEST(a_refused_head_leaves_no_byte, begin_badly)
{
        eddy_stream *stream = site_connect(site);
        const char *text = say(stream,
                               "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
                               "Expect: 100-continue\r\n\r\n",
                               "\r\n\r\n");

        CHECK_STR(text, "HTTP/1.1 100 Continue\r\n\r\n");
        CHECK_HAS(say(stream, "abc", "abc"), "HTTP/1.1 200 OK\r\n");
        eddy_stream_close(stream);
}

static int write_second(void *arg)
{
        CHECK_ERR(put(arg, "def"), -EBUSY);
        return 0;
}

static int write_in_two_tasks(eddy_http_exchange *exchange, void *arg)
{
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(begin(exchange, 3), 0);
        gate.full = 10;
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, write_second, exchange), 0);
        CHECK_EQ(eddy_http_exchange_flush(exchange), 0);
        return eddy_scope_end(&scope);
}

PIECES_TEST(a_second_writer_is_refused, write_in_two_tasks)
{
        CHECK_HAS_NOT(ask(site, GET("/"))->text, "def");
}

static int write_first(void *arg)
{
        CHECK_EQ(put(arg, "abc"), 0);
        return 0;
}

/* The head cannot leave at once, so both tasks wait for it. The write of the first one waits too. */
static int write_after_the_head(eddy_http_exchange *exchange, void *arg)
{
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(begin(exchange, -1), 0);
        gate.full = gate.full_again = 5;
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, write_first, exchange), 0);
        CHECK_EQ(eddy_scope_start(&scope, write_second, exchange), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        gate.full_again = 0;
        return eddy_http_exchange_end(exchange);
}

PIECES_TEST(a_refused_second_writer_does_not_fail_the_first, write_after_the_head)
{
        CHECK_HAS(ask(site, GET("/"))->text, "\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
        CHECK_EQ(site->failed, 0);
}

static int write_null(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        CHECK_EQ(begin(exchange, 3), 0);
        CHECK_ERR(eddy_http_exchange_write(exchange, NULL, 3), -EINVAL);
        CHECK_EQ(eddy_http_exchange_write(exchange, NULL, 0), 0);
        CHECK_EQ(put(exchange, "abc"), 0);
        CHECK_ERR(put(exchange, "d"), EDDY_E_HTTP_STATE);
        return eddy_http_exchange_end(exchange);
}

PIECES_TEST(a_refused_piece_sends_nothing, write_null)
{
        CHECK_HAS(ask(site, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")->text, "\r\n\r\nabc");
        CHECK_EQ(site->failed, 0);
}
