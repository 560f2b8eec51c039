/*
 * test_response_stream.c - the body of a response as a stream: lines, coded bodies, limits, cancels,
 * and who closes what.
 */
#include "coded.h"
#include "eddy/test.h"
#include "http_test.h"

#define HEAD      "HTTP/1.1 200 OK\r\n"
#define LINES     HEAD "Transfer-Encoding: chunked\r\n\r\n4\r\na\nb\r\r\n3\r\n\ncc\r\n"
#define LAST      "1\r\nd\r\n0\r\n\r\n"
#define FIRST_SIX HEAD "Content-Length: 9\r\n\r\nabcdef"

/* Open the body of a request as a stream, which closes its response. */
static eddy_stream *open_body(struct rig *rig)
{
        eddy_http_response *response;
        eddy_stream *stream;

        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
        CHECK_EQ(eddy_http_response_stream(response, EDDY_HTTP_STREAM_OWN, &stream), 0);
        return stream;
}

static void check_line(eddy_reader *reader, const char *expected)
{
        char *line;
        size_t bytes;

        CHECK(eddy_reader_line(reader, &line, &bytes) > 0);
        CHECK_STR(line, expected);
}

CLIENT_TEST_BOTH(body_is_read_by_lines_and_its_connection_kept, NULL, SCRIPT(LINES LAST, OK_2))
{
        eddy_stream *stream = open_body(rig);
        struct eddy_endpoint peer;
        eddy_reader reader;
        char buf[64], *line;
        size_t bytes;

        eddy_reader_init(&reader, stream, buf, sizeof(buf));
        check_line(&reader, "a");
        check_line(&reader, "b");
        check_line(&reader, "ccd");
        CHECK_EQ(eddy_reader_line(&reader, &line, &bytes), 0);
        CHECK_EQ(eddy_reader_line(&reader, &line, &bytes), 0);
        CHECK_STR(eddy_stream_kind(stream), "http body");
        CHECK_EQ(eddy_stream_peer(stream, &peer), 0);
        CHECK_EQ(peer.port, eddy_listener_port(rig->peer.listener));
        CHECK_EQ(eddy_stream_local(stream, &peer), -ENOTSUP);
        CHECK_EQ(eddy_stream_fd(stream), -1);
        eddy_stream_close(stream);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig->peer.accepted, 1);
        CHECK_STATS(rig->client, 1, 1, 0);
}

CLIENT_TEST(stream_without_the_response_leaves_it_open, NULL, SCRIPT(FIRST_SIX, "<ghi"))
{
        eddy_http_response *response;
        eddy_stream *stream;
        const void *body;
        size_t bytes;
        char buf[4];

        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
        CHECK_EQ(eddy_http_response_stream(response, 0, &stream), 0);
        CHECK_EQ(eddy_stream_try_read(stream, buf, 4), -EAGAIN);
        CHECK_EQ(eddy_stream_is_readable(stream), 0);
        CHECK_EQ(eddy_stream_wait(stream, EDDY_STREAM_READING), 0);
        CHECK_EQ(eddy_stream_is_readable(stream), 1);
        CHECK_EQ(eddy_stream_wait(stream, EDDY_STREAM_READING), 0);
        CHECK_EQ(eddy_stream_try_read(stream, buf, 4), 4);
        CHECK(memcmp(buf, "abcd", 4) == 0);
        eddy_stream_close(stream);
        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        /* The stream had read ahead. */
        CHECK(bytes <= 3);
        CHECK(memcmp(body, &"ghi"[3 - bytes], bytes) == 0);
        eddy_http_response_close(response);
}

CLIENT_TEST(writes_to_a_body_are_refused, NULL, SCRIPT(LINES LAST))
{
        eddy_stream *stream = open_body(rig);
        struct eddy_slice slice = { "a", 1 };

        CHECK_EQ(eddy_stream_write(stream, "a", 1), -EBADF);
        CHECK_EQ(eddy_stream_try_writev(stream, &slice, 1), -EBADF);
        CHECK_EQ(eddy_stream_wait(stream, EDDY_STREAM_WRITING), -EBADF);
        CHECK_EQ(eddy_stream_shutdown(stream), -EBADF);
        CHECK_EQ(eddy_stream_watch_idle(stream, NULL, NULL), -ENOTSUP);
        eddy_stream_abort(stream);
}

CLIENT_TEST(error_of_a_body_is_returned_again, NULL, SCRIPT(FIRST_SIX, "~"))
{
        eddy_stream *stream = open_body(rig);
        char buf[16];
        int64_t n, all = 0;

        while ((n = eddy_stream_read(stream, buf, sizeof(buf))) > 0)
                all += n;
        CHECK_EQ(all, 6);
        CHECK_ERR(n, EDDY_E_HTTP_TRUNCATED);
        CHECK_ERR(eddy_stream_read(stream, buf, 1), EDDY_E_HTTP_TRUNCATED);
        eddy_stream_close(stream);
}

CLIENT_TEST(limits_of_the_body_are_those_of_the_request, OPTIONS(.body_bytes_max = 5),
            SCRIPT(LINES "+" LAST))
{
        eddy_stream *stream = open_body(rig);
        char buf[16];
        int64_t n;

        while ((n = eddy_stream_read(stream, buf, sizeof(buf))) > 0)
                continue;
        CHECK_ERR(n, EDDY_E_HTTP_TOO_LARGE);
        eddy_stream_close(stream);
}

CLIENT_TEST(silence_ends_a_body, OPTIONS(.timeouts = { .read_ns = EDDY_SEC(2) }),
            SCRIPT(FIRST_SIX, ".", ".", ".", "<ghi"))
{
        eddy_stream *stream = open_body(rig);
        char buf[16];

        CHECK_EQ(eddy_stream_read(stream, buf, sizeof(buf)), 6);
        CHECK_ERR(eddy_stream_read(stream, buf, sizeof(buf)), EDDY_E_HTTP_TIMEOUT_READ);
        eddy_stream_close(stream);
        CHECK_STATS(rig->client, 0, 0, 0);
}

/* ---- cancels ---------------------------------------------------------------- */

static int read_line(void *reader)
{
        char *line;
        size_t bytes;
        int64_t n = eddy_reader_line(reader, &line, &bytes);

        return n < 0 ? (int) n : 0;
}

CLIENT_TEST(cancelled_read_loses_nothing, NULL,
            SCRIPT(HEAD "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n", ".", ".", "<2\r\nb\n\r\n",
                   "<0\r\n\r\n"))
{
        eddy_stream *stream = open_body(rig);
        eddy_reader reader;
        char buf[16];

        eddy_reader_init(&reader, stream, buf, sizeof(buf));
        CHECK_ERR(eddy_call_timeout(read_line, &reader, EDDY_SEC(1)), -ETIMEDOUT);
        check_line(&reader, "ab");
        eddy_stream_close(stream);
}

struct waiting {
        eddy_stream *stream;
        int64_t result;
};

static int wait_for_more(void *arg)
{
        struct waiting *waiting = arg;
        char buf[16];

        do {
                waiting->result = eddy_stream_read(waiting->stream, buf, sizeof(buf));
        } while (waiting->result > 0);
        return 0;
}

static void check_close_beside_a_reader(struct rig *rig, bool own, void (*close)(eddy_stream *))
{
        struct waiting waiting = { .result = 1 };
        eddy_http_response *response;
        eddy_scope scope;

        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
        CHECK_EQ(eddy_http_response_stream(response, own ? EDDY_HTTP_STREAM_OWN : 0,
                                           &waiting.stream),
                 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, wait_for_more, &waiting), 0);
        http_pause(EDDY_MS(100));
        CHECK_EQ(eddy_stream_read(waiting.stream, &(char){ 0 }, 1), -EBUSY);
        close(waiting.stream);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_ERR(waiting.result, -ECANCELED);
        if (!own)
                eddy_http_response_close(response);
        CHECK_STATS(rig->client, 0, 0, 0);
}

CLIENT_TEST_BOTH(close_ends_the_read_of_another_task, NULL, SCRIPT(FIRST_SIX))
{
        check_close_beside_a_reader(rig, true, eddy_stream_close);
        check_close_beside_a_reader(rig, false, eddy_stream_close);
        check_close_beside_a_reader(rig, true, eddy_stream_abort);
}

/* ---- sweeps ----------------------------------------------------------------- */

static int handle(eddy_http_exchange *exchange, void *arg)
{
        int err = eddy_http_exchange_begin(exchange, 200, NULL, 0, -1);

        (void) arg;
        for (int i = 0; i < 3 && err == 0; i++) {
                err = eddy_http_exchange_write(exchange, "one line\n", 9);
                if (err == 0)
                        err = eddy_sleep(EDDY_MS(10));
        }
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

static int read_all(eddy_http_client *client)
{
        struct eddy_http_request request = { .url = "http://a/" };
        eddy_http_response *response;
        eddy_stream *stream;
        eddy_reader reader;
        char buf[32], *line;
        size_t bytes;
        int64_t n;
        int err = eddy_http_client_send(client, &request, &response);

        if (err < 0)
                return err;
        err = eddy_http_response_stream(response, EDDY_HTTP_STREAM_OWN, &stream);
        if (err < 0) {
                eddy_http_response_close(response);
                return err;
        }
        eddy_reader_init(&reader, stream, buf, sizeof(buf));
        while ((n = eddy_reader_line(&reader, &line, &bytes)) > 0)
                CHECK_STR(line, "one line");
        eddy_stream_close(stream);
        return (int) n;
}

static int swept(void *arg)
{
        eddy_http_client *client;
        int err = eddy_http_client_new(OPTIONS(.handler = handle), &client);

        (void) arg;
        if (err < 0)
                return err;
        err = read_all(client);
        eddy_http_client_close(client);
        return err;
}

TEST(bodies_as_streams_survive_cancels_and_short_memory)
{
        CHECK_EQ(eddy_test_run(swept, NULL, NULL, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_CANCEL, swept, NULL, NULL, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_ALLOC, swept, NULL, NULL, NULL), 0);
}

CLIENT_TEST(arguments_of_a_body_stream_are_checked, NULL, SCRIPT(OK_2))
{
        eddy_http_response *response;
        eddy_stream *stream;

        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
        CHECK_EQ(eddy_http_response_stream(NULL, 0, &stream), -EINVAL);
        CHECK_EQ(eddy_http_response_stream(response, 0, NULL), -EINVAL);
        CHECK_EQ(eddy_http_response_stream(response, 2, &stream), -EINVAL);
        eddy_http_response_close(response);
}
