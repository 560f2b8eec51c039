/*
 * test_h2_vendors.c - the client of HTTP/2 and what servers of others do: settings that change while
 * requests run, tiny windows, a wish for HTTP/1, and responses that are one head.
 */
#include "eddy/test.h"
#include "h2_world.h"

#define BYTES(text) text, sizeof(text) - 1
#define SETTINGS    "\0\0\0\4\0\0\0\0\0"

enum { UPLOAD_BYTES = 300000, AT_ONCE = 10 };

static struct {
        nghttp2_settings_entry entry; /* that the server sends ... */
        int after;                    /* ... with this request */
        int begun;
        int at_once, most_before, most_after; /* handlers that run */
        uint32_t sum;                         /* of the request's body */
} served;

/* ---- settings while requests run ----------------------------------------------------- */

static void change_settings(struct h2_call *call)
{
        CHECK_EQ(nghttp2_submit_settings(call->stream.h2->session, NGHTTP2_FLAG_NONE, &served.entry,
                                         1),
                 0);
        ed_h2_wake(call->stream.h2);
}

static void say_hello(struct h2_call *call)
{
        const struct eddy_slice hello = { "hello", 5 };

        if (h2_respond(call, "200", true) == 0 &&
            eddy_stream_try_writev(&call->stream.stream, &hello, 1) == 5)
                ed_h2_stream_end(&call->stream, NULL);
}

/* Take no further stream for a second, and then five. */
static void pause_streams(struct h2_call *call)
{
        if (++served.begun == 1) {
                change_settings(call);
                (void) eddy_sleep(EDDY_SEC(1));
                served.entry.value = 5;
                change_settings(call);
        }
        served.at_once++;
        served.most_after = served.at_once > served.most_after ? served.at_once : served.most_after;
        (void) eddy_sleep(EDDY_MS(100));
        served.at_once--;
        say_hello(call);
}

/* Answer slowly, and change the settings once. */
static void answer_slowly(struct h2_call *call)
{
        int number = ++served.begun;
        int *most = number > served.after + AT_ONCE ? &served.most_after : &served.most_before;

        served.at_once++;
        *most = served.at_once > *most ? served.at_once : *most;
        if (number == served.after)
                change_settings(call);
        (void) eddy_sleep(EDDY_MS(100));
        served.at_once--;
        say_hello(call);
}

static int fetch_ten(void *arg)
{
        char body[64];

        (void) arg;
        for (int i = 0; i < 10; i++) {
                CHECK_EQ(h2_fetch("POST", "/", body), 200);
                CHECK_STR(body, "hello");
        }
        return 0;
}

static void fetch_hundred(void)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < AT_ONCE; i++)
                CHECK_EQ(eddy_scope_start(&scope, fetch_ten, NULL), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

H2_TEST(server_that_lowers_its_number_of_streams_gets_no_more_than_that,
        OPTIONS(.connections_max = 1), answer_slowly)
{
        memset(&served, 0, sizeof(served));
        served.entry = (nghttp2_settings_entry){ NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 2 };
        served.after = 20;
        fetch_hundred();
        CHECK_EQ(h2_world.accepted, 1);
        CHECK_EQ(served.most_before, AT_ONCE);
        CHECK_EQ(served.most_after, 2);
        CHECK_EQ(served.begun, 100);
}

H2_TEST(server_that_takes_no_stream_for_a_while_gets_none, OPTIONS(.connections_max = 1),
        pause_streams)
{
        eddy_scope scope;

        memset(&served, 0, sizeof(served));
        served.entry = (nghttp2_settings_entry){ NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 0 };
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, fetch_ten, NULL), 0);
        http_pause(EDDY_MS(500));
        fetch_hundred();
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(h2_world.accepted, 1);
        CHECK_EQ(served.most_after, 5);
        CHECK_EQ(served.begun, 110);
}

/* Its settings come late, and connections open one after another. */
H2_TEST(server_that_takes_one_stream_refuses_no_request_twice, OPTIONS(.connections_max = 16),
        answer_slowly)
{
        memset(&served, 0, sizeof(served));
        h2_world.streams_max = 1;
        h2_world.connect_ns = EDDY_MS(20);
        h2_world.silent_ns = EDDY_MS(50);
        fetch_hundred();
        CHECK_EQ(served.begun, 100);
}

H2_TEST(server_without_a_table_of_fields_understands_all_requests, NULL, answer_slowly)
{
        memset(&served, 0, sizeof(served));
        served.entry = (nghttp2_settings_entry){ NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, 0 };
        served.after = 20;
        fetch_hundred();
        CHECK_EQ(served.begun, 100);
        CHECK_EQ(h2_world.accepted, 1);
        CHECK_EQ(nghttp2_session_get_hd_inflate_dynamic_table_size(h2_latest()->h2.session), 0);
}

/* ---- windows and frames --------------------------------------------------------------- */

/* Read a part of the body, change the settings, and read the rest a little later. */
static void read_between_settings(struct h2_call *call)
{
        unsigned char byte;
        int64_t n;

        for (int64_t got = 0; (n = eddy_stream_read(&call->stream.stream, &byte, 1)) > 0;) {
                served.sum = served.sum * 31 + byte;
                if (++got == 100000) {
                        change_settings(call);
                        (void) eddy_sleep(EDDY_SEC(1));
                        served.entry.value = 1 << 20;
                        if (served.entry.settings_id == NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE)
                                change_settings(call);
                }
        }
        CHECK_EQ(n, 0);
        say_hello(call);
}

static char upload[UPLOAD_BYTES];

/* Send the body. Returns its sum. */
static uint32_t send_upload(size_t bytes)
{
        struct eddy_http_request request = { .method = "POST",
                                             .body = upload,
                                             .body_bytes = bytes };
        eddy_http_response *response;
        uint32_t sum = 0;

        for (size_t i = 0; i < bytes; i++) {
                upload[i] = (char) (i * 7);
                sum = sum * 31 + (unsigned char) upload[i];
        }
        CHECK_EQ(h2_ask(&request, "/", &response), 0);
        CHECK_EQ(eddy_http_response_status(response), 200);
        CHECK_EQ(eddy_http_response_discard(response), 0);
        eddy_http_response_close(response);
        return sum;
}

H2_TEST(window_that_becomes_negative_in_a_body_loses_no_byte, NULL, read_between_settings)
{
        memset(&served, 0, sizeof(served));
        served.entry = (nghttp2_settings_entry){ NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0 };
        CHECK_EQ(send_upload(UPLOAD_BYTES), served.sum);
}

H2_TEST(server_that_takes_frames_of_16_mib_gets_the_body, NULL, read_between_settings)
{
        memset(&served, 0, sizeof(served));
        served.entry = (nghttp2_settings_entry){ NGHTTP2_SETTINGS_MAX_FRAME_SIZE, 16777215 };
        CHECK_EQ(send_upload(UPLOAD_BYTES), served.sum);
        CHECK_EQ(send_upload(UPLOAD_BYTES), send_upload(UPLOAD_BYTES));
}

static void read_by_bytes(struct h2_call *call)
{
        unsigned char byte;
        int64_t n;

        while ((n = eddy_stream_read(&call->stream.stream, &byte, 1)) > 0)
                served.sum = served.sum * 31 + byte;
        CHECK_EQ(n, 0);
        say_hello(call);
}

H2_TEST(window_of_a_byte_gets_the_body, NULL, read_by_bytes)
{
        memset(&served, 0, sizeof(served));
        h2_world.stream_window = 1;
        CHECK_EQ(h2_fetch("GET", "/", NULL), 200); /* the settings have come */
        served.sum = 0;
        CHECK_EQ(send_upload(1000), served.sum);
}

/* ---- raw answers ------------------------------------------------------------------------ */

static struct {
        const char *text;
        size_t bytes;
        int connections; /* so far */
        int by_http1;    /* of them */
        bool in_advance; /* the answer does not wait for a request */
} raw;

/* Answer one request, by the version that it has, and wait for the end. */
static void say_raw(eddy_stream *stream)
{
        static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        char buf[2048];
        int64_t n;

        if (raw.connections++ == 0 && raw.in_advance)
                (void) !eddy_stream_write(stream, raw.text, raw.bytes);
        n = eddy_stream_read(stream, buf, sizeof(buf));
        if (n > 3 && memcmp(buf, "PRI", 3) != 0) {
                raw.by_http1++;
                (void) !eddy_stream_write(stream, answer, sizeof(answer) - 1);
        } else if (n > 0 && !raw.in_advance) {
                (void) eddy_sleep(EDDY_MS(5));
                (void) !eddy_stream_write(stream, raw.text, raw.bytes);
        }
        while (n > 0)
                n = eddy_stream_read(stream, buf, sizeof(buf));
}

static void run_raw(void (*fn)(void), const char *text, size_t bytes)
{
        struct h2_world_call call = { .fn = fn, .peer = say_raw };

        memset(&raw, 0, sizeof(raw));
        raw.text = text;
        raw.bytes = bytes;
        http_run(h2_world_main, &call);
}

/* An error of gRPC is one frame HEADERS. */
static void check_one_head(void)
{
        struct eddy_http_request request = { .method = "POST" };
        eddy_http_response *response;
        struct eddy_http_header header;
        const void *body;
        size_t bytes;

        CHECK_EQ(h2_ask(&request, "/", &response), 0);
        CHECK_EQ(eddy_http_response_status(response), 200);
        CHECK_STR(eddy_http_response_header(response, "grpc-status"), "5");
        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        CHECK_EQ(bytes, 0);
        CHECK_EQ(eddy_http_response_trailer_at(response, 0, &header), -ENOENT);
        eddy_http_response_close(response);
        CHECK_EQ(raw.connections, 1);
}

TEST(fields_of_a_response_that_is_one_head_are_headers)
{
        run_raw(check_one_head, BYTES(SETTINGS "\0\0\20\1\5\0\0\0\1"
                                               "\x88\0\13grpc-status\1"
                                               "5"));
}

/* The client has one authority for each connection, so another connection would be no better. */
static void check_misdirected(void)
{
        CHECK_EQ(h2_fetch("GET", "/", NULL), 421);
        CHECK_EQ(raw.connections, 1);
}

TEST(misdirected_request_is_a_status_and_not_repeated)
{
        run_raw(check_misdirected, BYTES(SETTINGS "\0\0\5\1\5\0\0\0\1"
                                                  "\x08\3"
                                                  "421"));
}

static void check_http1_required(void)
{
        struct eddy_http_request request = { .method = "POST", .body = "b", .body_bytes = 1 };
        struct eddy_http_response_info info;
        eddy_http_response *response;
        const void *body;
        size_t bytes;

        CHECK_EQ(h2_ask(&request, "/", &response), 0);
        eddy_http_response_info(response, &info);
        CHECK_EQ(info.version, 11);
        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        CHECK_STR(body, "hello");
        eddy_http_response_close(response);
        CHECK_EQ(raw.connections, 2);
        CHECK_EQ(raw.by_http1, 1);
}

TEST(request_that_the_server_wants_by_http_1_is_sent_so_whatever_the_method)
{
        run_raw(check_http1_required, BYTES(SETTINGS "\0\0\4\3\0\0\0\0\1\0\0\0\xd"));
}

TEST(connection_that_ends_since_the_server_wants_http_1_is_followed_by_one_of_http_1)
{
        run_raw(check_http1_required, BYTES(SETTINGS "\0\0\10\7\0\0\0\0\0"
                                                     "\0\0\0\0\0\0\0\xd"));
}

static void check_http1_required_in_advance(void)
{
        raw.in_advance = true;
        check_http1_required();
}

TEST(server_that_wants_http_1_before_a_request_comes_gets_it)
{
        run_raw(check_http1_required_in_advance, BYTES(SETTINGS "\0\0\10\7\0\0\0\0\0"
                                                                "\0\0\0\0\0\0\0\xd"));
}

/* The response has begun: the request was worked on. */
static void check_http1_required_late(void)
{
        CHECK_ERR(h2_fetch("GET", "/", NULL), -ECONNRESET);
        CHECK_EQ(raw.connections, 1);
}

TEST(wish_for_http_1_in_a_response_is_an_error)
{
        run_raw(check_http1_required_late, BYTES(SETTINGS "\0\0\1\1\4\0\0\0\1\x88"
                                                          "\0\0\4\3\0\0\0\0\1\0\0\0\xd"));
}
