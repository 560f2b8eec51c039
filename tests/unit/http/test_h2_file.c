/*
 * test_h2_file.c - files as responses by HTTP/2: streams that wait for a window hold little memory, and
 * the pieces that are read as there is room make the file.
 */
#include "counted.h"
#include "h2_raw.h"
#include "server_test.h"

enum {
        STREAMS = 100,
        MEMORY_BYTES_MAX = 1 << 20,
        KEPT_BYTES = 128 << 10, /* at most, of other parts; that of the requests is 300 KB */
        BYTES = 300000,
        REQUESTS = 32
};

static char contents[BYTES];

static int send_file(eddy_http_exchange *exchange, void *arg)
{
        eddy_file *file;
        int err = eddy_file_open("/file", EDDY_FILE_READ, 0, &file);

        (void) arg;
        if (err < 0)
                return err;
        err = eddy_http_exchange_respond_file(exchange, 200, NULL, 0, file, 0, BYTES);
        eddy_file_close(file);
        return err;
}

static int send_pieces(eddy_http_exchange *exchange, void *arg)
{
        int err = eddy_http_exchange_begin(exchange, 200, NULL, 0, BYTES);

        (void) arg;
        if (err == 0)
                err = eddy_http_exchange_write(exchange, contents, BYTES);
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

static void make_file(struct site *site)
{
        for (int i = 0; i < BYTES; i++)
                contents[i] = (char) (i * 31 + i / 256);
        CHECK_EQ(eddy_file_write_whole("/file", contents, BYTES, 0), 0);
        site->handler = send_file;
}

static void use_pieces(struct site *site)
{
        site->handler = send_pieces;
}

/* ---- memory --------------------------------------------------------------------------- */

static void set_window(uint16_t window)
{
        const unsigned char setting[6] = { [1] = NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                           [4] = (unsigned char) (window >> 8),
                                           [5] = (unsigned char) window };

        h2_raw_send_frame(NGHTTP2_SETTINGS, 0, 0, setting, sizeof(setting));
}

/* Begin the requests without a window, and with a window of a byte. */
static void hold_streams(struct site *site)
{
        size_t before;

        h2_raw_begin(site_connect(site));
        set_window(0);
        h2_raw_send_get(1, "/", H2_END_STREAM | H2_END_HEADERS);
        h2_raw_read_for(EDDY_MS(100));
        before = used_most = used;
        for (uint32_t i = 1; i < STREAMS; i++)
                h2_raw_send_get(2 * i + 1, "/", H2_END_STREAM | H2_END_HEADERS);
        h2_raw_read_for(EDDY_MS(100));
        CHECK_EQ(h2_raw.heads, STREAMS);
        CHECK_EQ(h2_raw.data, 0);
        set_window(1);
        h2_raw_read_for(EDDY_MS(100));
        CHECK_EQ(h2_raw.data, STREAMS);
        CHECK(used_most - before <= MEMORY_BYTES_MAX);
        for (uint32_t i = 0; i < STREAMS; i++)
                h2_raw_send_number(NGHTTP2_RST_STREAM, 2 * i + 1, NGHTTP2_CANCEL);
        h2_raw_read_for(EDDY_MS(100));
        CHECK(!h2_raw.is_over);
        h2_raw_end();
}

TEST(responses_that_wait_for_a_window_hold_a_megabyte_at_most)
{
        eddy_alloc_set(count_bytes, NULL);
        site_run_prepared(NULL, false, make_file, hold_streams);
        site_run_prepared(NULL, false, use_pieces, hold_streams);
        CHECK_EQ(used, 0);
}

/* Memory is kept for further requests until the last connection has ended. */
static void connect_and_end(struct site *site)
{
        size_t idle = used;

        h2_raw_begin(site_connect(site));
        for (uint32_t i = 0; i < STREAMS; i++)
                h2_raw_send_get(2 * i + 1, "/ok", H2_END_STREAM | H2_END_HEADERS);
        h2_raw_read_for(EDDY_MS(100));
        CHECK_EQ(h2_raw.heads, STREAMS);
        CHECK(used > idle + KEPT_BYTES);
        h2_raw_end();
        CHECK_EQ(eddy_sleep(EDDY_SEC(2)), 0);
        CHECK(used <= idle + KEPT_BYTES);
}

TEST(a_server_without_connections_keeps_no_memory_for_them)
{
        eddy_alloc_set(count_bytes, NULL);
        site_run(NULL, false, connect_and_end);
}

/* ---- the bytes ------------------------------------------------------------------------ */

static eddy_http_client *client;
static char url[64];

static int fetch_file(void *arg)
{
        struct eddy_http_request request = { .url = url };
        struct eddy_http_response_info info;
        eddy_http_response *response;
        const void *body;
        size_t bytes;
        int err = eddy_http_client_send(client, &request, &response);

        (void) arg;
        if (err < 0)
                return err;
        eddy_http_response_info(response, &info);
        err = eddy_http_response_body(response, &body, &bytes);
        if (err >= 0) {
                CHECK_EQ(info.version, 20);
                CHECK_EQ(bytes, BYTES);
                CHECK(memcmp(body, contents, BYTES) == 0);
        }
        eddy_http_response_close(response);
        return err;
}

static void fetch_files(struct site *site)
{
        eddy_scope scope;

        snprintf(url, sizeof(url), "http://127.0.0.1:%u/", site->port);
        CHECK_EQ(eddy_http_client_new(
                         &(struct eddy_http_client_opts){ .flags = EDDY_HTTP_CLIENT_H2C }, &client),
                 0);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < REQUESTS; i++)
                CHECK_EQ(eddy_scope_start(&scope, fetch_file, NULL), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_http_client_close(client);
}

TEST(files_that_share_a_connection_arrive_whole)
{
        site_run_prepared(NULL, false, make_file, fetch_files);
        site_run_prepared(NULL, false, use_pieces, fetch_files);
}
