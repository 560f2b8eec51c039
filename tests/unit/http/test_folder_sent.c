/*
 * test_folder_sent.c - large files of a folder over sockets, whose pages the kernel sends: whole files,
 * ranges and methods, clients that are slow or gone, and files that change meanwhile.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "eddy/test.h"
#include "loop/loop.h"
#include "server_test.h"
#include "sys/socket/table.h"

enum { LARGE = 1500007, HUGE = 24 << 20, BEGUN = 300000 };

TEST_ROOM(char, large, HUGE);

static struct {
        struct eddy_http_server_opts opts;
        eddy_http_folder *folder;
        eddy_listener *listener;
        char path[64]; /* of the folder */
        int64_t bytes; /* of the file */
        int sends;     /* of pages */
        const struct ed_sys_socket *table;
        struct ed_sys_socket counted;
        void (*fn)(void);
} site_of_files;

/* ---- a server of one file -------------------------------------------------- */

static const char *path_of(const char *name)
{
        static char path[128];

        snprintf(path, sizeof(path), "%s/%s", site_of_files.path, name);
        return path;
}

static int64_t counted_send_file(struct ed_sys *sys, int fd, int file, int64_t offset, size_t bytes)
{
        int64_t n = site_of_files.table->send_file(sys, fd, file, offset, bytes);

        site_of_files.sends += n > 0;
        return n;
}

static void count_sends(void)
{
        struct ed_sys *sys = ed_loop_current->sys;

        site_of_files.sends = 0;
        site_of_files.table = sys->socket;
        site_of_files.counted = *sys->socket;
        site_of_files.counted.send_file = counted_send_file;
        sys->socket = &site_of_files.counted;
}

static int serve(void *arg)
{
        (void) arg;
        return eddy_http_serve(site_of_files.listener, &site_of_files.opts, eddy_http_folder_handle,
                               site_of_files.folder);
}

static int run(void *arg)
{
        eddy_scope scope;
        int err;

        (void) arg;
        for (int64_t i = 0; i < site_of_files.bytes; i++)
                large[i] = (char) (i * 31 + i / 256);
        err = eddy_folder_make(site_of_files.path, 0);
        if (err == 0)
                err = eddy_file_write_whole(path_of("large.bin"), large,
                                            (size_t) site_of_files.bytes, 0);
        if (err == 0)
                err = eddy_http_folder_new(site_of_files.path, NULL, &site_of_files.folder);
        if (err == 0)
                err = eddy_tcp_listen("127.0.0.1", 0, NULL, &site_of_files.listener);
        CHECK_EQ(err, 0);
        count_sends();
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve, NULL);
        site_of_files.fn();
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        ed_loop_current->sys->socket = site_of_files.table;
        eddy_listener_close(site_of_files.listener);
        eddy_http_folder_free(site_of_files.folder);
        return 0;
}

static void run_on(bool real, int64_t bytes, void (*fn)(void))
{
        site_of_files.bytes = bytes;
        site_of_files.fn = fn;
        site_of_files.opts = (struct eddy_http_server_opts){ .drain_ns = EDDY_MS(1) };
        snprintf(site_of_files.path, sizeof(site_of_files.path), "/tmp/eddy-sent-%d",
                 (int) getpid());
        if (real) {
                http_run_real(run, NULL);
                CHECK_EQ(unlink(path_of("large.bin")), 0);
                CHECK_EQ(rmdir(site_of_files.path), 0);
        } else {
                snprintf(site_of_files.path, sizeof(site_of_files.path), "/www");
                CHECK_EQ(eddy_test_run(run, NULL, &(struct eddy_test_opts){ .seed = 5 }, NULL), 0);
        }
        /* Some file systems of the kernel do not say what is in the cache. */
        CHECK(real || site_of_files.sends > 0);
}

static eddy_stream *connect_to_server(void)
{
        eddy_stream *stream;

        CHECK_EQ(eddy_tcp_connect("127.0.0.1", eddy_listener_port(site_of_files.listener), NULL,
                                  &stream),
                 0);
        return stream;
}

/* ---- whole files and ranges ------------------------------------------------ */

static void check_get(eddy_http_client *client, const char *method, const char *range, int status,
                      int64_t first, int64_t bytes)
{
        struct eddy_http_header header = { "Range", range };
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        const void *body;
        size_t n;
        char url[64];

        snprintf(url, sizeof(url), "http://127.0.0.1:%u/large.bin",
                 (unsigned) eddy_listener_port(site_of_files.listener));
        CHECK_EQ(
                eddy_http_client_send(client,
                                      &(struct eddy_http_request){ .method = method,
                                                                   .url = url,
                                                                   .headers = &header,
                                                                   .headers_count = range ? 1 : 0 },
                                      &response),
                0);
        CHECK_EQ(eddy_http_response_status(response), status);
        CHECK_EQ(eddy_http_response_body(response, &body, &n), 0);
        if (first < 0) {
                CHECK((int64_t) n > bytes); /* several parts with their heads */
                return;
        }
        CHECK_EQ(n, (size_t) bytes);
        CHECK(memcmp(body, large + first, n) == 0);
}

static void get_all(void)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;

        CHECK_EQ(eddy_http_client_new(&(struct eddy_http_client_opts){ .connections_max = 1 },
                                      &client),
                 0);
        check_get(client, "GET", NULL, 200, 0, LARGE);
        check_get(client, "HEAD", NULL, 200, 0, 0);
        check_get(client, "GET", "bytes=1-1200000", 206, 1, 1200000);
        check_get(client, "GET", "bytes=-1000000", 206, LARGE - 1000000, 1000000);
        check_get(client, "GET", "bytes=7-7", 206, 7, 1);
        check_get(client, "GET", "bytes=0-699999,700001-", 206, -1, LARGE - 1);
        check_get(client, "GET", "bytes=9999999-", 416, -1, 0);
        check_get(client, "GET", NULL, 200, 0, LARGE);
}

TEST(files_and_ranges_arrive_whole_and_the_connection_is_kept)
{
        run_on(false, LARGE, get_all);
        run_on(true, LARGE, get_all);
}

/* ---- files that change ----------------------------------------------------- */

#define GET "GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n"

/* Returns the bytes that come until the connection ends. */
static int64_t read_to_end(eddy_stream *stream)
{
        static char buf[65536];
        int64_t total = 0, n;

        while ((n = eddy_stream_read(stream, buf, sizeof(buf))) > 0)
                total += n;
        return total;
}

/* Returns a connection that has brought a part of the answer. */
static eddy_stream *begin_answer(void)
{
        static char buf[1000];
        eddy_stream *stream = connect_to_server();
        int64_t n;

        CHECK_EQ(eddy_stream_write(stream, GET, strlen(GET)), 0);
        for (int64_t left = BEGUN; left > 0; left -= n) {
                n = eddy_stream_read(stream, buf, sizeof(buf));
                CHECK(n > 0);
        }
        return stream;
}

static void change(bool shrinks)
{
        eddy_stream *stream = begin_answer();
        eddy_file *file;

        CHECK_EQ(eddy_file_open(path_of("large.bin"), EDDY_FILE_WRITE, 0, &file), 0);
        if (shrinks)
                CHECK_EQ(eddy_file_truncate(file, site_of_files.bytes - 1000000), 0);
        else
                CHECK_EQ(eddy_file_write_at(file, "x", 1, 0), 0);
        eddy_file_close(file);
        CHECK(read_to_end(stream) < site_of_files.bytes - BEGUN - 1000);
        eddy_stream_close(stream);
}

static void change_shrinks(void)
{
        change(true);
}

static void change_writes(void)
{
        change(false);
}

TEST(a_file_that_shrinks_or_is_written_while_its_pages_are_sent_breaks_the_connection)
{
        run_on(false, LARGE, change_shrinks);
        run_on(false, LARGE, change_writes);
        run_on(true, HUGE, change_shrinks);
        run_on(true, HUGE, change_writes);
}

/* ---- clients --------------------------------------------------------------- */

static void leave_early(void)
{
        eddy_stream *stream = begin_answer();

        CHECK_EQ(eddy_stream_shutdown(stream), 0);
        eddy_stream_abort(stream);
        eddy_stream_abort(begin_answer());
}

TEST(a_client_that_leaves_early_does_no_harm)
{
        run_on(false, LARGE, leave_early);
        run_on(true, HUGE, leave_early);
}

/* The client takes nothing for longer than the server allows. */
static void take_nothing(void)
{
        eddy_stream *stream = begin_answer();

        http_pause(EDDY_SEC(600));
        CHECK(read_to_end(stream) < LARGE - BEGUN - 1000);
        eddy_stream_close(stream);
}

TEST(a_client_that_takes_too_few_bytes_of_a_file_is_disconnected)
{
        run_on(false, LARGE, take_nothing);
}

/* ---- sweeps ---------------------------------------------------------------- */

static int ask_once(void)
{
        EDDY_AUTO(eddy_stream) eddy_stream *stream = NULL;
        static char buf[4096];
        int64_t n = eddy_tcp_connect("127.0.0.1", eddy_listener_port(site_of_files.listener), NULL,
                                     &stream);

        if (n == 0)
                n = eddy_stream_write(stream, GET, strlen(GET));
        if (n == 0)
                n = eddy_stream_shutdown(stream);
        while (n >= 0 && (n = eddy_stream_read(stream, buf, sizeof(buf))) > 0)
                continue;
        return n < 0 ? (int) n : 0;
}

static int ask_a_server(void *arg)
{
        eddy_scope scope;
        int err = eddy_folder_make("/www", 0);

        (void) arg;
        site_of_files.folder = NULL;
        site_of_files.listener = NULL;
        if (err == 0)
                err = eddy_file_write_whole("/www/large.bin", large, 100000, 0);
        if (err == 0)
                err = eddy_http_folder_new("/www", NULL, &site_of_files.folder);
        if (err == 0)
                err = eddy_tcp_listen("127.0.0.1", 0, NULL, &site_of_files.listener);
        if (err == 0) {
                eddy_scope_begin(&scope, NULL);
                eddy_scope_start(&scope, serve, NULL);
                err = ask_once();
                eddy_scope_cancel(&scope);
                (void) eddy_scope_end(&scope);
        }
        eddy_listener_close(site_of_files.listener);
        eddy_http_folder_free(site_of_files.folder);
        return err;
}

TEST(a_cancel_or_a_failure_at_any_point_of_a_file_leaves_nothing)
{
        static const int kinds[] = { EDDY_TEST_SEEDS, EDDY_TEST_CANCEL, EDDY_TEST_ALLOC,
                                     EDDY_TEST_CALLS };

        site_of_files.opts = (struct eddy_http_server_opts){ .drain_ns = EDDY_MS(1) };
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                struct eddy_test_sweep sweep;

                CHECK_EQ(eddy_test_sweep(kinds[i], ask_a_server, NULL,
                                         &(struct eddy_test_opts){ .seed = 5 }, &sweep),
                         0);
                CHECK(sweep.tried > 0);
        }
}
