/*
 * test_h2_cut.c - clients of HTTP/2 that end at any byte, and whose bytes are changed anywhere: the server
 * ends the connection, and nothing is left.
 */
#include "eddy/test.h"
#include "h2_raw.h"
#include "http_test.h"

enum { CHANGES = 400 };

/* A client's bytes: requests with and without bodies, one of which it resets. */
struct session {
        eddy_stream *ours, *theirs;
        unsigned char bytes[2048];
        size_t n;
};

static struct session session;

/* Record what the client sends, from the end of a pair that no server has. */
static int record(void *arg)
{
        static const char body[100] = "body";
        int64_t n;

        (void) arg;
        CHECK_EQ(eddy_stream_pair(NULL, &session.ours, &session.theirs), 0);
        h2_raw_begin(session.ours);
        h2_raw_send_get(1, "/", H2_END_STREAM | H2_END_HEADERS);
        h2_raw_send_get(3, "/post", H2_END_HEADERS);
        h2_raw_send_frame(NGHTTP2_DATA, 0, 3, body, sizeof(body));
        h2_raw_send_get(5, "/split", H2_END_STREAM);
        h2_raw_send_frame(NGHTTP2_CONTINUATION, H2_END_HEADERS, 5,
                          "\x00\x01"
                          "a\x01"
                          "b",
                          5);
        h2_raw_send_frame(NGHTTP2_DATA, H2_END_STREAM, 3, body, sizeof(body));
        h2_raw_send_get(7, "/wait", H2_END_HEADERS);
        h2_raw_send_frame(NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 7, "\3abc\0\0\0", 7);
        h2_raw_send_frame(NGHTTP2_PRIORITY, 0, 7, "\0\0\0\1\7", 5);
        h2_raw_send_number(NGHTTP2_WINDOW_UPDATE, 0, 1000);
        h2_raw_send_frame(NGHTTP2_PING, 0, 0, "12345678", 8);
        h2_raw_send_number(NGHTTP2_RST_STREAM, 7, NGHTTP2_CANCEL);
        h2_raw_send_frame(NGHTTP2_GOAWAY, 0, 0, "\0\0\0\0\0\0\0\0", 8);
        CHECK(!h2_raw.is_broken);
        n = eddy_stream_read(session.theirs, session.bytes, sizeof(session.bytes));
        CHECK(n > 300);
        session.n = (size_t) n;
        eddy_stream_abort(session.ours);
        eddy_stream_close(session.theirs);
        return 0;
}

static int handle(eddy_http_exchange *exchange, void *arg)
{
        const void *body;
        size_t bytes;
        int err = 0;

        (void) arg;
        if (strcmp(eddy_http_exchange_path(exchange), "/wait") == 0)
                err = eddy_sleep(EDDY_SEC(1));
        if (err == 0)
                err = eddy_http_exchange_body(exchange, &body, &bytes);
        return err < 0 ? err : eddy_http_exchange_respond(exchange, 200, NULL, 0, body, bytes);
}

static int serve(void *arg)
{
        (void) arg;
        (void) eddy_http_serve_stream(session.theirs, NULL, handle, NULL);
        return 0;
}

/* Read all, so that the server's writes do not wait. */
static int drain(void *arg)
{
        char buf[4096];

        (void) arg;
        while (eddy_stream_read(session.ours, buf, sizeof(buf)) > 0)
                ;
        return 0;
}

/* Send the first bytes, in pieces, to a server, and end. 'reset': by a reset. */
static void send_part(const unsigned char *bytes, size_t n, size_t piece, bool reset)
{
        eddy_stream *ours;
        eddy_scope scope;
        int err = 0;

        CHECK_EQ(eddy_stream_pair(NULL, &session.ours, &session.theirs), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, serve, NULL), 0);
        CHECK_EQ(eddy_scope_start(&scope, drain, NULL), 0);
        for (size_t at = 0; at < n && err == 0; at += piece) {
                err = eddy_stream_write(session.ours, bytes + at, n - at < piece ? n - at : piece);
                if (err == 0)
                        err = eddy_sleep(1);
        }
        ours = session.ours;
        if (!reset) {
                (void) eddy_stream_shutdown(ours);
                (void) eddy_sleep(EDDY_SEC(60)); /* the server ends the connection */
        }
        session.ours = NULL; /* the reading task may not have begun */
        if (reset)
                eddy_stream_abort(ours);
        else
                eddy_stream_close(ours);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

static int cut_everywhere(void *arg)
{
        const size_t *piece = arg;

        CHECK_EQ(record(NULL), 0);
        for (size_t n = 0; n <= session.n; n++)
                send_part(session.bytes, n, *piece, n % 2 == 0);
        return 0;
}

TEST(a_client_that_ends_at_any_byte_leaves_nothing)
{
        static const size_t pieces[] = { 1, 7, 4096 };

        for (size_t i = 0; i < 3; i++)
                CHECK_EQ(eddy_test_run(cut_everywhere, (void *) (uintptr_t) &pieces[i],
                                       &(struct eddy_test_opts){ .limit_ns = -1 }, NULL),
                         0);
}

static int change_anywhere(void *arg)
{
        unsigned char bytes[sizeof(session.bytes)];

        (void) arg;
        CHECK_EQ(record(NULL), 0);
        for (int i = 0; i < CHANGES; i++) {
                memcpy(bytes, session.bytes, session.n);
                for (uint64_t n = 1 + eddy_test_chance(3); n > 0; n--)
                        bytes[eddy_test_chance(session.n)] = (unsigned char) eddy_test_chance(256);
                send_part(bytes, session.n, 1 + eddy_test_chance(session.n), false);
        }
        return 0;
}

TEST(a_client_whose_bytes_are_changed_anywhere_leaves_nothing)
{
        for (uint64_t seed = 1; seed <= 5; seed++)
                CHECK_EQ(eddy_test_run(change_anywhere, NULL,
                                       &(struct eddy_test_opts){ .seed = seed, .limit_ns = -1 },
                                       NULL),
                         0);
}
