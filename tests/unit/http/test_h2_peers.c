/*
 * test_h2_peers.c - the client of HTTP/2 and peers that end at each byte, say what HTTP/2 forbids, or
 * are silent.
 */
#include "eddy/test.h"
#include "h2_world.h"

#define BYTES(text) text, sizeof(text) - 1

/* Frames, with the length of the payload and the stream's number as characters. */
#define SETTINGS              "\0\0\0\4\0\0\0\0\0"
#define SETTINGS_ACK          "\0\0\0\4\1\0\0\0\0"
#define HEADERS(bytes, flags) "\0\0" bytes "\1" flags "\0\0\0\1"
#define DATA(bytes, flags)    "\0\0" bytes "\0" flags "\0\0\0\1"
#define STATUS_200            "\x88"
#define ANSWER                SETTINGS HEADERS("\1", "\4") STATUS_200 DATA("\3", "\0") "abc" DATA("\2", "\1") "de"

enum { HEAD_END = 9 + 10, DATA_BEGIN = HEAD_END };

static struct {
        const char *text;
        size_t bytes;
        int connections; /* so far */
        bool is_silent;  /* the peer keeps the connection after its bytes */
        bool is_ended;   /* a peer has seen the end */
} raw;

/* Read the preface and the request, which comes soon after. Returns 0 at the end. */
static int64_t read_request(eddy_stream *stream)
{
        char buf[2048];
        int64_t n = eddy_stream_read(stream, buf, sizeof(buf));

        (void) eddy_sleep(EDDY_MS(5));
        while (n > 0 && eddy_stream_is_readable(stream) > 0)
                n = eddy_stream_read(stream, buf, sizeof(buf));
        return n;
}

/* Wait for the request, say the bytes, and end. */
static void say_raw(eddy_stream *stream)
{
        char buf[2048];
        int64_t n = read_request(stream);

        raw.connections++;
        if (n > 0 && raw.bytes > 0)
                (void) !eddy_stream_write(stream, raw.text, raw.bytes);
        while (n > 0 && raw.is_silent)
                n = eddy_stream_read(stream, buf, sizeof(buf));
}

static void say(const char *text, size_t bytes)
{
        raw.text = text;
        raw.bytes = bytes;
        raw.connections = 0;
        raw.is_silent = false;
}

static void run_raw(void (*fn)(void))
{
        struct h2_world_call call = { .fn = fn, .peer = say_raw };

        http_run(h2_world_main, &call);
}

/* ---- ends at each byte ----------------------------------------------------------------- */

static void check_cut(void)
{
        char body[64] = "";
        int status = h2_fetch("GET", "/", body);

        if (raw.bytes == sizeof(ANSWER) - 1) {
                CHECK_EQ(status, 200);
                CHECK_STR(body, "abcde");
        } else {
                CHECK_ERR(status,
                          raw.bytes < HEAD_END ? EDDY_E_HTTP_CLOSED : EDDY_E_HTTP_TRUNCATED);
        }
        CHECK_EQ(raw.connections, 1);
}

TEST(peer_that_ends_at_any_byte_is_an_error_unless_all_has_come)
{
        for (size_t n = 0; n < sizeof(ANSWER); n++) {
                say(ANSWER, n);
                run_raw(check_cut);
        }
}

/* ---- faults of one message ---------------------------------------------------------------- */

struct fault {
        const char *name;
        const char *text;
        size_t bytes;
};

static const struct fault *fault;

static void check_fault(void)
{
        struct eddy_http_fault text = { .text = "" };
        struct eddy_http_request request = { .ret_fault = &text };
        eddy_http_response *response = NULL;
        int err = h2_ask(&request, "/", &response);

        if (err >= 0)
                err = eddy_http_response_discard(response);
        if (err != EDDY_E_HTTP_INVALID_RESPONSE)
                test_fail(__FILE__, __LINE__, "%s: %s", fault->name,
                          err < 0 ? eddy_error_name(err) : "success");
        if (response)
                snprintf(text.text, sizeof(text.text), "%s",
                         eddy_http_response_fault_text(response));
        CHECK(strstr(text.text, "_ERROR") || strstr(text.text, "CALM") ||
              strstr(text.text, "may not speak HTTP/2"));
        eddy_http_response_close(response);
}

static void check_no_http2(void)
{
        struct eddy_http_fault text = { .text = "" };
        struct eddy_http_request request = { .ret_fault = &text };
        eddy_http_response *response;

        CHECK_ERR(h2_ask(&request, "/", &response), EDDY_E_HTTP_INVALID_RESPONSE);
        CHECK(strstr(text.text, ": no valid SETTINGS came; the server may not speak HTTP/2") !=
              NULL);
}

TEST(server_that_answers_by_http_1_is_said_not_to_speak_http_2)
{
        say(BYTES("HTTP/1.1 505 HTTP Version Not Supported\r\nContent-Length: 0\r\n\r\n"));
        run_raw(check_no_http2);
        say(BYTES("HTTP/1.0 400 Bad Request\r\n\r\n"));
        run_raw(check_no_http2);
}

#define EVIL(bytes, fields) HEADERS(bytes, "\5") fields
#define NEW_FIELD           "\0" /* a literal field with a new name, which is not indexed */

static const struct fault faults[] = {
        { "no status", BYTES(SETTINGS EVIL("\5", NEW_FIELD "\1a\1b")) },
        { "status 101", BYTES(SETTINGS EVIL("\6", "\x08\3"
                                                  "101"
                                                  "\x84")) },
        { "status of letters", BYTES(SETTINGS EVIL("\5", "\x08\3"
                                                         "2xx")) },
        { "status twice", BYTES(SETTINGS EVIL("\2", STATUS_200 STATUS_200)) },
        { "status after a field", BYTES(SETTINGS EVIL("\6", NEW_FIELD "\1a\1b" STATUS_200)) },
        { "upper case", BYTES(SETTINGS EVIL("\6", STATUS_200 NEW_FIELD "\1A\1b")) },
        { "a line end", BYTES(SETTINGS EVIL("\6", STATUS_200 NEW_FIELD "\1a\1\n")) },
        { "connection", BYTES(SETTINGS EVIL("\22", STATUS_200 NEW_FIELD "\12connection\4x, y")) },
        { "transfer-encoding",
          BYTES(SETTINGS EVIL("\34", STATUS_200 NEW_FIELD "\21transfer-encoding\7chunked")) },
        { "more than Content-Length",
          BYTES(SETTINGS HEADERS("\5", "\4") STATUS_200 "\x0f\x0d\1"
                                                        "1" DATA("\2", "\1") "ab") },
        { "less than Content-Length",
          BYTES(SETTINGS HEADERS("\5", "\4") STATUS_200 "\x0f\x0d\1"
                                                        "3" DATA("\2", "\1") "ab") },
        { "DATA before the head", BYTES(SETTINGS DATA("\2", "\1") "ab") },
        { "DATA on a stream that does not exist", BYTES(SETTINGS "\0\0\1\0\1\0\0\0\5"
                                                                 "a") },
        { "a frame that is too large", BYTES("\1\0\0\4\0\0\0\0\0") },
        { "a table of HPACK that does not exist", BYTES(SETTINGS EVIL("\1", "\xff")) },
        { "PUSH_PROMISE", BYTES(SETTINGS SETTINGS_ACK "\0\0\5\5\4\0\0\0\1"
                                                      "\0\0\0\2\x82") },
        { "PUSH_PROMISE before the settings are answered", BYTES(SETTINGS "\0\0\5\5\4\0\0\0\1"
                                                                          "\0\0\0\2\x82") },
        { "status 099", BYTES(SETTINGS EVIL("\5", "\x08\3"
                                                  "099")) },
        { "status 000", BYTES(SETTINGS EVIL("\5", "\x08\3"
                                                  "000")) },
        { "trailers with a pseudo-header", BYTES(SETTINGS HEADERS("\1", "\4") STATUS_200 DATA(
                                                   "\2", "\0") "ab" EVIL("\1", STATUS_200)) },
        { "a third head",
          BYTES(SETTINGS HEADERS("\1", "\4") STATUS_200 HEADERS("\5", "\4") NEW_FIELD "\1a\1b") },
        { "an even stream", BYTES(SETTINGS "\0\0\1\1\5\0\0\0\2\x88") },
        { "a stream that was not opened", BYTES(SETTINGS "\0\0\1\1\5\0\0\0\7\x88") },
        { "RST_STREAM of a stream that was not opened",
          BYTES(SETTINGS "\0\0\4\3\0\0\0\0\7\0\0\0\0") },
        { "a window that overflows", BYTES(SETTINGS "\0\0\4\x8\0\0\0\0\0"
                                                    "\x7f\xff\xff\xff") },
        { "an initial window that is too large", BYTES("\0\0\6\4\0\0\0\0\0\0\4\xff\xff\xff\xff") },
        { "Content-Length twice",
          BYTES(SETTINGS HEADERS("\11", "\4") STATUS_200 "\x0f\x0d\1"
                                                         "2\x0f\x0d\1"
                                                         "3" DATA("\2", "\1") "ab") },
        { "Content-Length with a sign",
          BYTES(SETTINGS HEADERS("\6", "\4") STATUS_200 "\x0f\x0d\2"
                                                        "+2" DATA("\2", "\1") "ab") },
        { "HTTP/1", BYTES("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n") },
        { "SETTINGS of a stream", BYTES("\0\0\0\4\0\0\0\0\1") },
        { "a window of nothing", BYTES(SETTINGS "\0\0\4\x8\0\0\0\0\0"
                                                "\0\0\0\0") },
};

TEST(answer_that_http_2_forbids_is_an_error_with_a_reason)
{
        for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
                fault = &faults[i];
                say(fault->text, fault->bytes);
                raw.is_silent = true;
                run_raw(check_fault);
        }
}

/* ---- floods and silence -------------------------------------------------------------------- */

static void flood(eddy_stream *stream, const char *frame, size_t bytes)
{
        char buf[2048];

        (void) read_request(stream);
        (void) !eddy_stream_write(stream, SETTINGS, sizeof(SETTINGS) - 1);
        for (int i = 0; i < 1000000; i++)
                if (eddy_stream_write(stream, frame, bytes) < 0 ||
                    (eddy_stream_is_readable(stream) > 0 &&
                     eddy_stream_read(stream, buf, sizeof(buf)) <= 0))
                        break;
}

static void flood_of_pings(eddy_stream *stream)
{
        flood(stream, BYTES("\0\0\10\6\0\0\0\0\0"
                            "12345678"));
}

static void flood_of_settings(eddy_stream *stream)
{
        flood(stream, BYTES(SETTINGS));
}

static void flood_of_unknown_frames(eddy_stream *stream)
{
        flood(stream, BYTES("\0\0\0\x77\0\0\0\0\0"));
}

static void flood_of_goaways(eddy_stream *stream)
{
        flood(stream, BYTES("\0\0\10\7\0\0\0\0\0"
                            "\x7f\xff\xff\xff\0\0\0\0"));
}

static void flood_of_empty_data(eddy_stream *stream)
{
        (void) read_request(stream);
        (void) !eddy_stream_write(stream, BYTES(SETTINGS HEADERS("\1", "\4") STATUS_200));
        for (int i = 0; i < 1000000; i++)
                if (eddy_stream_write(stream, BYTES(DATA("\0", "\0"))) < 0)
                        break;
}

/* A field of 4 KB in the table of HPACK, and then a byte for each copy of it. */
static void bomb(eddy_stream *stream)
{
        static char entry[9 + 7 + 3900], copies[9 + 16000];
        char *at = entry;

        memcpy(at, "\0\0\0\1\0\0\0\0\1", 9);
        at[1] = (char) ((sizeof(entry) - 9) >> 8);
        at[2] = (char) (sizeof(entry) - 9);
        /* The status, and a literal field "a" with a value of 3,900 bytes, which is indexed. */
        memcpy(at + 9, "\x88\x40\1a\x7f", 5);
        at += 14;
        *at++ = (char) 0xbd; /* 3900 = 127 + 61 + 128 * 29 */
        *at++ = 29;
        memset(at, 'x', (size_t) (entry + sizeof(entry) - at));
        memcpy(copies, "\0\0\0\x9\0\0\0\0\1", 9);
        copies[1] = (char) (16000 >> 8);
        copies[2] = (char) 16000;
        memset(copies + 9, '\xbe', 16000);
        (void) read_request(stream);
        (void) !eddy_stream_write(stream, SETTINGS, sizeof(SETTINGS) - 1);
        (void) !eddy_stream_write(stream, entry, sizeof(entry));
        while (eddy_stream_write(stream, copies, sizeof(copies)) == 0)
                ;
}

static int flooded_main(void *arg)
{
        h2_peer_fn *const *peers = arg;

        for (int i = 0; peers[i]; i++) {
                CHECK_EQ(h2_world_begin(NULL, NULL), 0);
                h2_world.peer = peers[i];
                CHECK_ERR(h2_fetch("GET", "/", NULL), EDDY_E_HTTP_INVALID_RESPONSE);
                CHECK_EQ(h2_world_end(), 0);
        }
        return 0;
}

TEST(peer_that_sends_frames_that_cost_it_nothing_ends_the_connection)
{
        static h2_peer_fn *const peers[] = { flood_of_pings,
                                             flood_of_settings,
                                             flood_of_unknown_frames,
                                             flood_of_goaways,
                                             flood_of_empty_data,
                                             bomb,
                                             NULL };

        http_run(flooded_main, (void *) (uintptr_t) peers);
}

/* Frames that may follow an answer for a while. Sets 'raw.is_ended' if the client ends the connection. */
static void flood_after_answer(eddy_stream *stream)
{
        static char frames[200 * 16], buf[2048];

        (void) read_request(stream);
        (void) !eddy_stream_write(stream, ANSWER, sizeof(ANSWER) - 1);
        for (size_t i = 0; i < 200; i++)
                memcpy(frames + i * raw.bytes, raw.text, raw.bytes);
        for (int i = 0; i < 1000 && !raw.is_ended; i++)
                raw.is_ended = eddy_stream_write(stream, frames, 200 * raw.bytes) < 0 ||
                               (eddy_stream_is_readable(stream) > 0 &&
                                eddy_stream_read(stream, buf, sizeof(buf)) <= 0);
}

static int ended_main(void *arg)
{
        (void) arg;
        CHECK_EQ(h2_world_begin(NULL, NULL), 0);
        h2_world.peer = flood_after_answer;
        CHECK_EQ(h2_fetch("GET", "/", NULL), 200);
        for (int i = 0; i < 5000 && !raw.is_ended; i++)
                http_pause(EDDY_US(100));
        CHECK(raw.is_ended);
        CHECK_EQ(h2_world_end(), 0);
        return 0;
}

TEST(peer_that_sends_a_flood_for_a_stream_that_has_ended_ends_the_connection)
{
        static const struct {
                const char *text;
                size_t bytes;
        } frames[] = {
                { BYTES(HEADERS("\5", "\5") NEW_FIELD "\1a\1b") }, { BYTES(DATA("\1", "\0") "a") },
                { BYTES("\0\0\4\3\0\0\0\0\1\0\0\0\0") },   /* RST_STREAM */
                { BYTES("\0\0\4\x8\0\0\0\0\1\0\0\0\1") },  /* WINDOW_UPDATE */
                { BYTES("\0\0\5\2\0\0\0\0\1\0\0\0\0\0") }, /* PRIORITY */
        };

        for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
                say(frames[i].text, frames[i].bytes);
                raw.is_ended = false;
                http_run(ended_main, NULL);
        }
}

static void check_silence(void)
{
        int64_t before_ns = eddy_now();

        CHECK_ERR(h2_fetch("GET", "/", NULL), EDDY_E_NET_TIMED_OUT);
        CHECK(eddy_now() - before_ns < EDDY_SEC(60));
        CHECK_EQ(raw.connections, 1);
}

TEST(peer_that_does_not_answer_a_ping_is_given_up)
{
        say(SETTINGS, sizeof(SETTINGS) - 1);
        raw.is_silent = true;
        run_raw(check_silence);
}

/* The answer to a PING waits for the bytes that fill a slow path after a gap. */
static void answer_after_gap(eddy_stream *stream)
{
        (void) read_request(stream);
        CHECK_EQ(eddy_stream_write(stream, BYTES(SETTINGS HEADERS("\1", "\4") STATUS_200)), 0);
        (void) eddy_sleep(EDDY_SEC(31));
        for (int i = 0; i < 40 && eddy_sleep(EDDY_SEC(1)) == 0; i++)
                if (eddy_stream_write(stream, BYTES(DATA("\5", "\0") "hello")) < 0)
                        return;
        (void) !eddy_stream_write(stream, BYTES(DATA("\0", "\1")));
        while (read_request(stream) > 0)
                continue;
}

static int gap_main(void *arg)
{
        struct eddy_http_request request = { .timeouts.read_ns = EDDY_SEC(100) };
        eddy_http_response *response;
        const void *data;
        size_t bytes;

        (void) arg;
        CHECK_EQ(h2_world_begin(NULL, NULL), 0);
        h2_world.peer = answer_after_gap;
        CHECK_EQ(h2_ask(&request, "/", &response), 0);
        CHECK_EQ(eddy_http_response_body(response, &data, &bytes), 0);
        CHECK_EQ(bytes, 200);
        eddy_http_response_close(response);
        CHECK_EQ(h2_world_end(), 0);
        return 0;
}

TEST(peer_whose_bytes_arrive_before_its_answer_to_a_ping_is_not_given_up)
{
        http_run(gap_main, NULL);
}

/* The peer has opened the window of the connection only: the body waits, and nothing else does. */
static void check_zero_window(void)
{
        static char body[100000];
        struct eddy_http_request request = { .method = "POST",
                                             .body = body,
                                             .body_bytes = sizeof(body),
                                             .timeouts = { .total_ns = EDDY_SEC(5) } };
        eddy_http_response *response;

        CHECK_ERR(h2_ask(&request, "/", &response), EDDY_E_HTTP_TIMEOUT_TOTAL);
}

TEST(peer_that_opens_no_window_is_ended_by_the_callers_time)
{
        say(BYTES("\0\0\6\4\0\0\0\0\0"
                  "\0\4\0\0\0\0"));
        raw.is_silent = true;
        run_raw(check_zero_window);
}

/* A GOAWAY that excludes the request: it is sent again, whatever its method. */
static void check_goaway(void)
{
        CHECK_ERR(h2_fetch("POST", "/", NULL), EDDY_E_HTTP_CLOSED);
        CHECK_EQ(raw.connections, 2);
}

TEST(request_above_the_last_id_of_goaway_is_repeated_once)
{
        say(BYTES(SETTINGS "\0\0\10\7\0\0\0\0\0"
                           "\0\0\0\0\0\0\0\0"));
        raw.is_silent = true;
        run_raw(check_goaway);
}

/* ---- a response before the end of the request ------------------------------------------ */

/* The peer needs no more of the request (RFC 9113, 8.1). */
static void check_early_answer(void)
{
        static char body[300000];
        struct eddy_http_request request = { .method = "POST",
                                             .body = body,
                                             .body_bytes = sizeof(body) };
        eddy_http_response *response;
        const void *data;
        size_t bytes;
        int err = h2_ask(&request, "/", &response);

        CHECK_EQ(err, 0);
        CHECK_EQ(eddy_http_response_status(response), 200);
        err = eddy_http_response_body(response, &data, &bytes);
        CHECK_EQ(err, 0);
        CHECK_EQ(bytes, 5);
        eddy_http_response_close(response);
        CHECK_EQ(raw.connections, 1);
}

TEST(response_before_the_end_of_the_request_is_a_response)
{
        say(BYTES(ANSWER "\0\0\4\3\0\0\0\0\1\0\0\0\0"));
        raw.is_silent = true;
        run_raw(check_early_answer);
}

/* ---- interim responses -------------------------------------------------------------------- */

static void flood_of_interims(eddy_stream *stream)
{
        (void) read_request(stream);
        (void) !eddy_stream_write(stream, SETTINGS, sizeof(SETTINGS) - 1);
        for (int i = 0; i < 100000; i++)
                if (eddy_stream_write(stream, BYTES(HEADERS("\5", "\4") "\x08\3"
                                                                        "103")) < 0)
                        break;
}

static int interims_main(void *arg)
{
        (void) arg;
        CHECK_EQ(h2_world_begin(NULL, NULL), 0);
        h2_world.peer = flood_of_interims;
        CHECK_ERR(h2_fetch("GET", "/", NULL), EDDY_E_HTTP_TOO_LARGE);
        CHECK_EQ(h2_world_end(), 0);
        return 0;
}

TEST(interim_responses_without_an_end_are_limited)
{
        http_run(interims_main, NULL);
}

/* ---- requests that have not left ----------------------------------------------------------- */

/* Read nothing while a body and another request wait, and refuse what has not been sent. */
static void go_away_unread(eddy_stream *stream)
{
        static char buf[65536];
        int64_t n;

        if (raw.connections++ > 0) {
                (void) read_request(stream);
                (void) !eddy_stream_write(stream, BYTES(ANSWER));
                while (eddy_stream_read(stream, buf, sizeof(buf)) > 0)
                        continue;
                return;
        }
        (void) !eddy_stream_write(stream, BYTES("\0\0\6\4\0\0\0\0\0\0\4\0\x7f\0\0"
                                                "\0\0\4\x8\0\0\0\0\0\0\x7f\0\0"));
        CHECK_EQ(eddy_sleep(EDDY_SEC(2)), 0);
        (void) !eddy_stream_write(stream, BYTES("\0\0\10\7\0\0\0\0\0\0\0\0\1\0\0\0\0"));
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        while ((n = eddy_stream_read(stream, buf, sizeof(buf))) > 0) {
                /* RFC 9113, 6.4: a stream that was not begun is never reset. */
                CHECK(!memmem(buf, (size_t) n, "\0\0\4\3\0\0\0\0\3", 9));
                if (eddy_stream_is_readable(stream) <= 0 && eddy_sleep(EDDY_MS(100)) == 0 &&
                    eddy_stream_is_readable(stream) <= 0)
                        (void) !eddy_stream_write(stream, &ANSWER[sizeof(SETTINGS) - 1],
                                                  sizeof(ANSWER) - sizeof(SETTINGS));
        }
}

enum { BIG_BODY = 4 << 20 };

TEST_ROOM(char, big_body, BIG_BODY);

static int send_big(void *arg)
{
        struct eddy_http_request request = { .method = "POST",
                                             .body = big_body,
                                             .body_bytes = BIG_BODY };
        eddy_http_response *response = NULL;

        *(int *) arg = h2_ask(&request, "/", &response);
        if (response)
                CHECK_EQ(eddy_http_response_discard(response), 0);
        eddy_http_response_close(response);
        return 0;
}

static int unread_main(void *arg)
{
        eddy_scope scope;
        int big = 1;

        (void) arg;
        raw.connections = 0;
        CHECK_EQ(h2_world_begin(NULL, NULL), 0);
        h2_world.peer = go_away_unread;
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, send_big, &big), 0);
        http_pause(EDDY_SEC(1));
        CHECK_EQ(h2_fetch("POST", "/", NULL), 200);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(raw.connections, 2);
        CHECK_EQ(big, 0);
        CHECK_EQ(h2_world_end(), 0);
        return 0;
}

TEST(request_that_was_not_sent_before_goaway_is_sent_elsewhere)
{
        http_run(unread_main, NULL);
}
