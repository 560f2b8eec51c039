/*
 * test_server_pace.c - clients that send a body or take a response slowly: cut
 * below 240 bytes a second over 10 seconds, served above that; and a handler
 * that is slow itself costs its client nothing.
 */
#include <unistd.h>

#include "eddy/http_folder.h"
#include "eddy/test_net.h"
#include "loop/loop.h"
#include "server_test.h"

#define HOST  "Host: h\r\n"
#define CLOSE "Connection: close\r\n"

static struct answer answer;

/* Send the head, and then 'bytes' of the body every 'pause_ns', as long as the server takes them. */
static size_t upload(struct site *site, const char *head, size_t total, size_t bytes,
                     int64_t pause_ns)
{
        eddy_stream *stream = site_connect(site);
        static char body[100000];
        size_t sent = 0;
        int err;

        memset(body, 'b', sizeof(body));
        CHECK(total <= sizeof(body));
        err = eddy_stream_write(stream, head, strlen(head));
        while (err == 0 && sent < total && !eddy_stream_is_readable(stream)) {
                size_t n = total - sent < bytes ? total - sent : bytes;

                http_pause(pause_ns);
                err = eddy_stream_write(stream, body, n);
                sent += n;
        }
        read_answer(stream, &answer);
        eddy_stream_close(stream);
        return sent;
}

/* Take 'bytes' of the response every 'pause_ns', until the server has given up or all came. */
static int64_t download(struct site *site, const char *path, size_t bytes, int64_t pause_ns,
                        int *ret_end)
{
        eddy_stream *stream = site_connect(site);
        char request[100], buf[70000];
        int64_t before = eddy_now(), n;

        site->failed = 0;
        snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\n" HOST CLOSE "\r\n", path);
        CHECK_EQ(eddy_stream_write(stream, request, strlen(request)), 0);
        do {
                http_pause(pause_ns);
                n = eddy_stream_read(stream, buf, bytes);
        } while (n > 0 && site->failed == 0);
        before = eddy_now() - before;
        while (n > 0)
                n = eddy_stream_read(stream, buf, sizeof(buf));
        *ret_end = (int) n;
        eddy_stream_close(stream);
        return before;
}

/* Connections of a small buffer: the server soon waits. */
static void use_buffers(uint32_t bytes)
{
        CHECK_EQ(eddy_test_link_set(&(struct eddy_test_link){ .buffer_bytes = bytes }), 0);
}

/* ---- requests -------------------------------------------------------------- */

SERVER_TEST(body_of_a_byte_a_second_is_cut_after_ten_seconds, NULL)
{
        static const char *const heads[] = {
                "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 1000\r\n\r\n",
                /* The bytes are those of a chunk's size. */
                "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n3e8;x=",
        };

        for (size_t i = 0; i < 2; i++) {
                size_t sent = upload(site, heads[i], 1000, 1, EDDY_SEC(1));

                CHECK(sent >= 9 && sent <= 11);
                CHECK_EQ(answer.status, 408);
                CHECK_HAS(answer.text, "Connection: close\r\n");
                CHECK_ERR(site->failed, EDDY_E_NET_TIMED_OUT);
                site->failed = 0;
        }
}

SERVER_TEST(body_that_stops_is_cut_after_ten_seconds, NULL)
{
        const struct answer *cut;

        cut = ask(site, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 1000\r\n\r\nabc");
        CHECK_EQ(cut->status, 408);
        CHECK(cut->lasted_ns >= EDDY_SEC(10) && cut->lasted_ns < EDDY_SEC(13));
        /* One that has not begun, too. */
        cut = ask(site, "POST /echo HTTP/1.1\r\n" HOST "Expect: 100-continue\r\n"
                        "Content-Length: 1000\r\n\r\n");
        CHECK_EQ(cut->status, 408);
        CHECK(cut->lasted_ns >= EDDY_SEC(10) && cut->lasted_ns < EDDY_SEC(13));
}

SERVER_TEST(body_of_300_bytes_a_second_is_served, NULL)
{
        upload(site, "POST /echo HTTP/1.1\r\n" HOST CLOSE "Content-Length: 30000\r\n\r\n", 30000,
               300, EDDY_SEC(1));
        CHECK_EQ(answer.status, 200);
        CHECK(answer.bytes > 30000);
        /* In larger pieces, further apart. */
        upload(site, "POST /echo HTTP/1.1\r\n" HOST CLOSE "Content-Length: 30000\r\n\r\n", 30000,
               2700, EDDY_SEC(9));
        CHECK_EQ(answer.status, 200);
}

/* Averaged: one slow second among others does no harm, ten do. */
SERVER_TEST(body_that_comes_at_200_bytes_a_second_is_cut, NULL)
{
        size_t sent = upload(site, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 30000\r\n\r\n",
                             30000, 200, EDDY_SEC(1));

        CHECK(sent >= 1800 && sent <= 2200);
        CHECK_EQ(answer.status, 408);
}

SERVER_TEST(requests_on_one_connection_have_their_time_each, NULL)
{
        eddy_stream *stream = site_connect(site);

        for (int i = 0; i < 5; i++) {
                (void) say(stream, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\n", "");
                http_pause(EDDY_SEC(9));
                (void) say(stream, "hello", "\r\n\r\nhello");
        }
        eddy_stream_close(stream);
}

/* Three times 25 seconds between two reads, in which the client's bytes come. */
SERVER_TEST(slow_handler_costs_a_body_nothing, NULL)
{
        struct answer *got = calloc(1, sizeof(*got));
        eddy_stream *stream = site_connect(site);

        CHECK(got);
        (void) say(stream, "POST /slow-echo HTTP/1.1\r\n" HOST CLOSE "Content-Length: 40\r\n\r\n",
                   "");
        http_pause(EDDY_SEC(20));
        CHECK_EQ(eddy_stream_write(stream, "0123456789012345678901234567890123456789", 40), 0);
        read_answer(stream, got);
        CHECK_EQ(got->status, 200);
        eddy_stream_close(stream);
        free(got);
}

SERVER_TEST(any_speed_will_do_if_the_server_says_so,
            SERVER_OPTIONS(.upload_rate_min = -1, .download_rate_min = -1))
{
        int end;

        upload(site, "POST /echo HTTP/1.1\r\n" HOST CLOSE "Content-Length: 60\r\n\r\n", 60, 1,
               EDDY_SEC(2));
        CHECK_EQ(answer.status, 200);
        use_buffers(4000);
        CHECK(download(site, "/flood", 1000, EDDY_SEC(5), &end) > EDDY_SEC(180));
        CHECK_EQ(end, 0);
}

SERVER_TEST(speeds_are_those_of_the_options,
            SERVER_OPTIONS(.upload_rate_min = 1000, .download_rate_min = 2000,
                           .rate_over_ns = EDDY_SEC(2)))
{
        int64_t lasted_ns;
        int end;

        upload(site, "POST /echo HTTP/1.1\r\n" HOST CLOSE "Content-Length: 30000\r\n\r\n", 30000,
               120, EDDY_MS(100));
        CHECK_EQ(answer.status, 200);
        CHECK(upload(site, "POST /echo HTTP/1.1\r\n" HOST CLOSE "Content-Length: 30000\r\n\r\n",
                     30000, 80, EDDY_MS(100)) <= 2000);
        CHECK_EQ(answer.status, 408);
        use_buffers(4000);
        (void) download(site, "/flood", 240, EDDY_MS(100), &end);
        CHECK_EQ(end, 0);
        lasted_ns = download(site, "/flood", 160, EDDY_MS(100), &end);
        CHECK_ERR(end, -ECONNRESET);
        CHECK(lasted_ns < EDDY_SEC(6));
}

/* ---- responses ------------------------------------------------------------- */

SERVER_TEST(response_taken_at_a_byte_a_second_is_reset, NULL)
{
        int64_t lasted_ns;
        int end;

        use_buffers(4000);
        lasted_ns = download(site, "/flood", 1, EDDY_SEC(1), &end);
        CHECK_ERR(end, -ECONNRESET);
        CHECK(lasted_ns >= EDDY_SEC(10) && lasted_ns < EDDY_SEC(22));
        CHECK_ERR(site->failed, EDDY_E_NET_TIMED_OUT);
}

SERVER_TEST(response_taken_at_300_bytes_a_second_is_sent, NULL)
{
        int end;

        use_buffers(4000);
        CHECK(download(site, "/flood", 300, EDDY_SEC(1), &end) > EDDY_SEC(120));
        CHECK_EQ(end, 0);
        CHECK(download(site, "/flood", 3000, EDDY_SEC(9), &end) > EDDY_SEC(100));
        CHECK_EQ(end, 0);
        CHECK_EQ(site->failed, 0);
}

SERVER_TEST(slow_handler_costs_a_response_nothing, NULL)
{
        int end;

        use_buffers(4000);
        CHECK(download(site, "/slow-flood", 1000, EDDY_MS(1), &end) > EDDY_SEC(140));
        CHECK_EQ(end, 0);
}

/* ---- files ----------------------------------------------------------------- */

static struct {
        struct site *site;
        eddy_http_folder *folder;
} files;

static int serve_file(eddy_http_exchange *exchange, void *arg)
{
        int err = eddy_http_folder_handle(exchange, files.folder);

        (void) arg;
        if (err < 0)
                files.site->failed = err;
        return err;
}

static void make_files(struct site *site)
{
        static char text[60000];

        memset(text, 'f', sizeof(text));
        CHECK_EQ(eddy_folder_make("/www", 0), 0);
        CHECK_EQ(eddy_file_write_whole("/www/a", text, sizeof(text), 0), 0);
        CHECK_EQ(eddy_http_folder_new("/www", NULL, &files.folder), 0);
        files.site = site;
        site->handler = serve_file;
        use_buffers(4000);
}

#define FILE_TEST(claim)                                                                           \
        static void file_##claim(struct site *site);                                               \
        TEST(claim)                                                                                \
        {                                                                                          \
                site_run_prepared(NULL, false, make_files, file_##claim);                          \
        }                                                                                          \
        static void file_##claim(struct site *site)

FILE_TEST(file_taken_at_a_byte_a_second_is_reset)
{
        int64_t lasted_ns;
        int end;

        lasted_ns = download(site, "/a", 1, EDDY_SEC(1), &end);
        CHECK_ERR(end, -ECONNRESET);
        CHECK(lasted_ns >= EDDY_SEC(10) && lasted_ns < EDDY_SEC(22));
        CHECK_ERR(site->failed, EDDY_E_NET_TIMED_OUT);
        eddy_http_folder_free(files.folder);
}

FILE_TEST(files_that_are_not_read_are_reset_and_other_clients_are_answered)
{
        static const char get[] = "GET /a HTTP/1.1\r\n" HOST CLOSE "\r\n";
        enum { READERS = 100 };
        eddy_stream *readers[READERS];
        int64_t before = eddy_now();
        int resets = 0;

        for (int i = 0; i < READERS; i++) {
                readers[i] = site_connect(site);
                CHECK_EQ(eddy_stream_write(readers[i], get, sizeof(get) - 1), 0);
        }
        while (eddy_now() - before < EDDY_SEC(25)) {
                const struct answer *other = ask(site, get);

                CHECK(other->status == 200 && other->lasted_ns < EDDY_SEC(1));
                CHECK_EQ(other->error, 0);
                http_pause(EDDY_SEC(1));
        }
        for (int i = 0; i < READERS; i++) {
                read_answer(readers[i], &answer);
                resets += answer.error == -ECONNRESET;
                eddy_stream_close(readers[i]);
        }
        CHECK_EQ(resets, READERS);
        eddy_http_folder_free(files.folder);
}

FILE_TEST(file_taken_at_300_bytes_a_second_is_sent)
{
        int end;

        CHECK(download(site, "/a", 300, EDDY_SEC(1), &end) > EDDY_SEC(120));
        CHECK_EQ(end, 0);
        CHECK_EQ(site->failed, 0);
        eddy_http_folder_free(files.folder);
}

/* ---- small responses ------------------------------------------------------- */

/* Of which the client reads none. */
SERVER_TEST(pipelined_responses_that_stay_unread_are_reset, NULL)
{
        static const char get[] = "GET /ok HTTP/1.1\r\n" HOST "\r\n";
        eddy_stream *stream;
        int64_t before;
        int err = 0;

        use_buffers(4000);
        stream = site_connect(site);
        before = eddy_now();
        while (err == 0 && eddy_now() - before < EDDY_SEC(60)) {
                err = eddy_stream_write(stream, get, sizeof(get) - 1);
                http_pause(EDDY_MS(10));
        }
        CHECK(err < 0);
        CHECK(eddy_now() - before < EDDY_SEC(25));
        eddy_stream_close(stream);
}

/* ---- with the kernel ------------------------------------------------------- */

static void stop_in_the_middle(struct site *site)
{
        const struct answer *cut;
        eddy_stream *stream;

        cut = ask(site, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 1000\r\n\r\nabc");
        CHECK_EQ(cut->status, 408);
        stream = site_connect(site);
        CHECK_EQ(eddy_stream_write(stream, "GET /long-flood HTTP/1.1\r\n" HOST "\r\n", 37), 0);
        while (site->failed != EDDY_E_NET_TIMED_OUT || site->handled < 2)
                http_pause(EDDY_MS(20));
        eddy_stream_close(stream);
}

TEST(clients_of_the_kernel_that_stop_are_cut)
{
        site_run(SERVER_OPTIONS(.rate_over_ns = EDDY_MS(200)), true, stop_in_the_middle);
}

static void listen_on_unix(struct site *site)
{
        char path[64];

        snprintf(path, sizeof(path), "@eddy-pace-%d", (int) getpid());
        CHECK_EQ(eddy_unix_listen(path, NULL, &site->listener), 0);
}

static void stop_on_unix(struct site *site)
{
        int64_t before = eddy_now();
        char path[64];
        eddy_stream *stream;

        snprintf(path, sizeof(path), "@eddy-pace-%d", (int) getpid());
        CHECK_EQ(eddy_unix_connect(path, NULL, &stream), 0);
        CHECK_EQ(eddy_stream_write(stream, "GET /long-flood HTTP/1.1\r\n" HOST "\r\n", 37), 0);
        while (site->failed != EDDY_E_NET_TIMED_OUT && eddy_now() - before < EDDY_SEC(20))
                http_pause(EDDY_MS(20));
        CHECK_ERR(site->failed, EDDY_E_NET_TIMED_OUT);
        eddy_stream_close(stream);
}

TEST(clients_of_a_unix_socket_that_stop_are_cut)
{
        site_run_prepared(SERVER_OPTIONS(.rate_over_ns = EDDY_MS(200)), true, listen_on_unix,
                          stop_on_unix);
}

/* ---- a loop that is late --------------------------------------------------- */

static int64_t (*table_now)(struct ed_sys *sys);
static int64_t ahead_ns;

static int64_t now_ahead(struct ed_sys *sys)
{
        return table_now(sys) + ahead_ns;
}

/* As if the calling task had computed for so long. */
static void keep_the_loop(int64_t ns)
{
        static struct ed_sys_poll wrapped;
        struct ed_sys *sys = ed_loop_current->sys;

        if (sys->poll != &wrapped) {
                wrapped = *sys->poll;
                table_now = wrapped.now;
                wrapped.now = now_ahead;
                sys->poll = &wrapped;
        }
        ahead_ns += ns;
}

/* The bytes had come when the window was over, though nothing had read them. */
SERVER_TEST(loop_that_is_late_costs_a_body_nothing, NULL)
{
        eddy_stream *stream = site_connect(site);

        (void) say(stream, "POST /echo HTTP/1.1\r\n" HOST CLOSE "Content-Length: 5\r\n\r\n", "");
        http_pause(EDDY_SEC(1));
        CHECK_EQ(eddy_stream_write(stream, "hello", 5), 0);
        keep_the_loop(EDDY_SEC(20));
        (void) say(stream, "", "\r\n\r\nhello");
        eddy_stream_close(stream);
}

/* The client took all that there was. */
SERVER_TEST(loop_that_is_late_costs_a_response_nothing, NULL)
{
        char buf[4000];
        eddy_stream *stream;
        int64_t n;

        use_buffers(1000);
        stream = site_connect(site);
        (void) say(stream, "GET /flood HTTP/1.1\r\n" HOST CLOSE "\r\n", "");
        http_pause(EDDY_SEC(1));
        do {
                n = eddy_stream_read(stream, buf, sizeof(buf));
                keep_the_loop(EDDY_SEC(12));
        } while (n > 0);
        CHECK_EQ(n, 0);
        CHECK_EQ(site->failed, 0);
        eddy_stream_close(stream);
}

SERVER_TEST(speeds_and_times_are_checked, NULL)
{
        struct eddy_http_server_opts opts = { .rate_over_ns = -1 };

        CHECK_EQ(eddy_http_serve(site->listener, &opts, NULL, NULL), -EINVAL);
        opts = (struct eddy_http_server_opts){ .flags = 2 * EDDY_HTTP_SERVER_FINISH };
        CHECK_EQ(eddy_http_serve(site->listener, &opts, NULL, NULL), -EINVAL);
}
