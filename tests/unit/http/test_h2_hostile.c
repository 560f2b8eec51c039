/*
 * test_h2_hostile.c - servers that send a client of HTTP/2 any frames, in any order, while its requests
 * are cancelled: nothing is left, and the next server is served.
 */
#include "h2_world.h"

static uint64_t state;

static uint32_t any(uint32_t n)
{
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return (uint32_t) (state >> 32) % n;
}

static bool send_frame(eddy_stream *stream, int type, int flags, uint32_t id, const char *payload,
                       size_t bytes)
{
        static char frame[9 + 16384];

        frame[0] = 0;
        frame[1] = (char) (bytes >> 8);
        frame[2] = (char) bytes;
        frame[3] = (char) type;
        frame[4] = (char) flags;
        frame[5] = frame[6] = 0;
        frame[7] = (char) (id >> 8);
        frame[8] = (char) id;
        memcpy(frame + 9, payload, bytes);
        return eddy_stream_write(stream, frame, 9 + bytes) >= 0;
}

static bool send_any(eddy_stream *stream, uint32_t id)
{
        static const struct {
                const char *text;
                size_t bytes;
        } heads[] = {
                { "\x88", 1 }, /* 200 */
                { "\x88\x0f\x0d\x03"
                  "100",
                  7 }, /* ... with Content-Length */
                { "\x08\3"
                  "103",
                  5 },
                { "\x08\3"
                  "100",
                  5 },
                { "\x8d", 1 },     /* 404 */
                { "\x89", 1 },     /* 204 */
                { "\0\1a\1b", 5 }, /* trailers */
        };
        static const char body[5000] = { 20 };
        int end = any(3) ? 0 : NGHTTP2_FLAG_END_STREAM;
        uint32_t i = any(sizeof(heads) / sizeof(heads[0]));
        const char setting[6] = { 0, "\1\3\4\6"[any(4)], 0, 0, (char) any(256), (char) any(256) };
        const char number[4] = { 0, 0, (char) any(256), (char) (1 + any(255)) };
        const char code[4] = { 0, 0, 0, (char) any(14) };
        const char going[8] = { 0, 0, 0, (char) any(10), 0, 0, 0, (char) any(14) };

        switch (any(14)) {
        case 0:
        case 1:
        case 2:
        case 3:
        case 4:
                return send_frame(stream, NGHTTP2_HEADERS, end | NGHTTP2_FLAG_END_HEADERS, id,
                                  heads[i].text, heads[i].bytes);
        case 5:
        case 6:
        case 7:
        case 8:
                return send_frame(stream, NGHTTP2_DATA, end | (any(2) ? NGHTTP2_FLAG_PADDED : 0),
                                  id, body, any(2) ? 100 : 21 + any(sizeof(body) - 21));
        case 9:
                return send_frame(stream, NGHTTP2_RST_STREAM, 0, id, code, 4);
        case 10:
                return send_frame(stream, NGHTTP2_WINDOW_UPDATE, 0, any(2) ? id : 0, number, 4);
        case 11:
                return send_frame(stream, NGHTTP2_SETTINGS, 0, 0, setting, 6);
        case 12:
                return any(4) || send_frame(stream, NGHTTP2_GOAWAY, 0, 0, going, 8);
        default:
                return send_frame(stream, NGHTTP2_PING, 0, 0, body, 8);
        }
}

static void serve_any(eddy_stream *stream)
{
        static char buf[4096];

        if (!send_frame(stream, NGHTTP2_SETTINGS, 0, 0, "", 0))
                return;
        (void) eddy_sleep(EDDY_MS(5));
        for (uint32_t frames = 5 + any(60); frames > 0; frames--) {
                uint32_t id = any(50) ? 1 + 2 * any(6) : any(14);

                while (eddy_stream_is_readable(stream) > 0)
                        if (eddy_stream_read(stream, buf, sizeof(buf)) <= 0)
                                return;
                if (!send_any(stream, id))
                        return;
                if (any(3) == 0)
                        (void) eddy_sleep(any(10) ? EDDY_MS(any(5)) : EDDY_SEC(any(5)));
        }
        /* The connection stays open for a while, or ends. */
        if (any(2))
                (void) eddy_sleep(EDDY_SEC(any(5)));
}

static int ask_any(void *arg)
{
        static char body[100000];
        struct eddy_http_request request = { .method = any(2) ? "GET" : "POST" };
        eddy_http_response *response = NULL;
        const void *data;
        size_t bytes;
        char piece[500];
        int err;

        (void) arg;
        if (request.method[0] == 'P') {
                request.body = body;
                request.body_bytes = any(2) ? 10 : sizeof(body);
        }
        request.timeouts.total_ns = EDDY_MS(1 + any(10) * any(300));
        err = h2_ask(&request, "/", &response);
        if (err == 0 && any(2))
                err = eddy_http_response_body(response, &data, &bytes);
        else if (err == 0)
                (void) !eddy_http_response_read(response, piece, sizeof(piece));
        /* A connection that the peer has closed is never reported as an error of the socket. */
        CHECK(err != -EPIPE);
        eddy_http_response_close(response);
        return 0;
}

static int ask_in_time(void *arg)
{
        (void) eddy_call_timeout(ask_any, arg, EDDY_MS(1 + any(2000)));
        return 0;
}

static void ask_many(void)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 8; i++)
                CHECK_EQ(eddy_scope_start(&scope, ask_in_time, NULL), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

static int hostile_main(void *arg)
{
        (void) arg;
        for (int i = 0; i < 20; i++) {
                CHECK_EQ(h2_world_begin(NULL, NULL), 0);
                h2_world.peer = serve_any;
                ask_many();
                CHECK_EQ(h2_world_end(), 0);
        }
        return 0;
}

TEST(any_frames_of_servers_leave_nothing)
{
        state = 88172645463325252;
        for (int i = 0; i < (test_is_full() ? 200 : 3); i++)
                http_run(hostile_main, NULL);
}
