/*
 * test_bombs.c - small bodies that decode to large ones: in each coding, each way to read a body ends at its
 * limit, and takes the memory of the limit and of the decoder, not that of the body. A server decodes none.
 */
#include <stdlib.h>

#include "coded.h"
#include "counted.h"
#include "http_test.h"

enum {
        BOMB_BYTES = 32 << 20,
        LIMIT_BYTES = 1 << 20,
        /* the limit twice, while a buffer grows; the window of brotli, 4 MiB; connections and tasks.
         * zstd's memory is not eddy's. */
        MEMORY_BYTES_MAX = 2 * LIMIT_BYTES + (5 << 20)
};

static const struct {
        const char *name;
        struct data (*code)(struct data);
} codings[] = {
        { "gzip", gzip_code },
        { "deflate", deflate_code },
        { "br", brotli_code },
        { "zstd", zstd_code },
};

static struct data bomb;
static const char *coding;

static int serve(eddy_http_exchange *exchange, void *arg)
{
        const struct eddy_http_header headers[] = { { "Content-Encoding", coding },
                                                    { "Content-Type", "text/event-stream" },
                                                    { "ETag", "\"a\"" } };

        (void) arg;
        return eddy_http_exchange_respond(exchange, 200, headers, 3, bomb.bytes, bomb.n);
}

/* ---- the ways to read a body -------------------------------------------------------------------- */

static eddy_http_client *client;

static const struct eddy_http_request request = { .url = "http://a/" };

static int read_whole(eddy_http_response *response)
{
        const void *data;
        size_t bytes;

        return eddy_http_response_body(response, &data, &bytes);
}

static int read_pieces(eddy_http_response *response)
{
        char buf[4096];
        int64_t n, total = 0;

        while ((n = eddy_http_response_read(response, buf, sizeof(buf))) > 0)
                total += n;
        CHECK(total <= LIMIT_BYTES);
        return (int) n;
}

/* A line may be longer than the buffer: its pieces end at the limit of the body. */
static int read_lines(eddy_http_response *response)
{
        static char buf[4096];
        eddy_reader reader;
        eddy_stream *stream;
        size_t bytes;
        char *line;
        bool is_end;
        int64_t n;

        CHECK_EQ(eddy_http_response_stream(response, 0, &stream), 0);
        eddy_reader_init(&reader, stream, buf, sizeof(buf));
        CHECK_ERR(eddy_reader_line(&reader, &line, &bytes), EDDY_E_STREAM_LIMIT);
        do
                n = eddy_reader_line_piece(&reader, &line, &bytes, &is_end);
        while (n > 0);
        eddy_stream_close(stream);
        return (int) n;
}

static int read_events(void)
{
        struct eddy_http_sse_event event;
        eddy_http_sse *sse;
        int err = eddy_http_sse_open(client, &request,
                                     &(struct eddy_http_sse_opts){ .event_bytes_max = LIMIT_BYTES,
                                                                   .flags = EDDY_HTTP_SSE_ONCE },
                                     &sse);

        CHECK_EQ(err, 0);
        err = eddy_http_sse_next(sse, &event);
        eddy_http_sse_close(sse);
        return err;
}

/* The bytes of a download are those of the server. */
static void download(void)
{
        struct eddy_http_download_result result;
        struct eddy_http_download_opts opts = { .ret_result = &result };

        CHECK_EQ(eddy_http_download(client, &request, "/bomb", &opts), 0);
        CHECK_EQ(result.bytes, bomb.n);
}

/* ---- memory ------------------------------------------------------------------------------------- */

typedef int read_fn(eddy_http_response *response);

static int run_all(void *arg)
{
        static read_fn *const ways[] = { read_whole, read_pieces, read_lines };

        (void) arg;
        CHECK_EQ(eddy_http_client_new(
                         OPTIONS(.handler = serve, .decode = true, .body_bytes_max = LIMIT_BYTES),
                         &client),
                 0);
        for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
                eddy_http_response *response;

                CHECK_EQ(eddy_http_client_send(client, &request, &response), 0);
                CHECK_ERR(ways[i](response), EDDY_E_HTTP_TOO_LARGE);
                eddy_http_response_close(response);
        }
        CHECK_ERR(read_events(), EDDY_E_HTTP_TOO_LARGE);
        download();
        eddy_http_client_close(client);
        return 0;
}

/* B42, B46: By all calls that read a body. */
TEST(each_way_to_read_a_bomb_ends_at_its_limit)
{
        eddy_alloc_set(count_bytes, NULL);
        for (size_t c = 0; c < sizeof(codings) / sizeof(codings[0]); c++) {
                struct data zeros = { calloc(BOMB_BYTES, 1), BOMB_BYTES };

                CHECK(zeros.bytes != NULL);
                coding = codings[c].name;
                bomb = codings[c].code(zeros);
                free(zeros.bytes);
                CHECK(bomb.n < BOMB_BYTES / 500);
                used_most = used;
                http_run(run_all, NULL);
                CHECK(used_most < MEMORY_BYTES_MAX);
                CHECK_EQ(used, 0);
                free(bomb.bytes);
        }
}

/* ---- a server ----------------------------------------------------------------------------------- */

struct named {
        char *name;
};
static const struct eddy_field named_list[] = { EDDY_FIELD(struct named, name) };
static const struct eddy_fields named_fields = EDDY_FIELDS(struct named, named_list, 0);

static int take_whole(eddy_http_exchange *exchange)
{
        const void *data;
        size_t bytes;

        CHECK_EQ(eddy_http_exchange_body(exchange, &data, &bytes), 0);
        CHECK(bytes == bomb.n && memcmp(data, bomb.bytes, bytes) == 0);
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, NULL, 0);
}

static int take_pieces(eddy_http_exchange *exchange)
{
        char buf[4096];
        int64_t n, total = 0;

        while ((n = eddy_http_exchange_read(exchange, buf, sizeof(buf))) > 0)
                total += n;
        CHECK(n == 0 && (size_t) total == bomb.n);
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, NULL, 0);
}

static int take_json(eddy_http_exchange *exchange)
{
        struct named named;

        return eddy_http_exchange_json(exchange, &named_fields, &named);
}

static int take_form(eddy_http_exchange *exchange)
{
        struct named named = { NULL };
        int err = eddy_http_exchange_form_read(exchange, &named_fields, 0, &named);

        CHECK(err < 0 || !named.name);
        if (err == 0)
                eddy_fields_fini(&named_fields, &named);
        return err < 0 ? err : eddy_http_exchange_respond(exchange, 200, NULL, 0, NULL, 0);
}

static int take_multipart(eddy_http_exchange *exchange)
{
        eddy_http_multipart_reader *reader;
        struct eddy_http_multipart_part part;
        int err = eddy_http_exchange_multipart(exchange, NULL, &reader);

        if (err < 0)
                return err;
        err = eddy_http_multipart_next(reader, &part);
        eddy_http_multipart_reader_close(reader);
        return err;
}

static const struct {
        const char *type;
        int (*take)(eddy_http_exchange *exchange);
        int status;
} ways_to_take[] = {
        { "application/octet-stream", take_whole, 200 },
        { "application/octet-stream", take_pieces, 200 },
        { "application/json", take_json, 415 },
        { "application/x-www-form-urlencoded", take_form, 415 },
        { "multipart/form-data; boundary=b", take_multipart, 415 },
};
static size_t way;

static int take(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return ways_to_take[way].take(exchange);
}

static int send_bombs(void *arg)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *sender = NULL;

        (void) arg;
        CHECK_EQ(eddy_http_client_new(OPTIONS(.handler = take), &sender), 0);
        for (way = 0; way < sizeof(ways_to_take) / sizeof(ways_to_take[0]); way++) {
                const struct eddy_http_header headers[] = {
                        { "Content-Encoding", coding }, { "Content-Type", ways_to_take[way].type }
                };
                struct eddy_http_request bombing = { .url = "http://a/",
                                                     .method = "POST",
                                                     .headers = headers,
                                                     .headers_count = 2,
                                                     .body = bomb.bytes,
                                                     .body_bytes = bomb.n };
                eddy_http_response *response;

                CHECK_EQ(eddy_http_client_send(sender, &bombing, &response), 0);
                CHECK_EQ(eddy_http_response_status(response), ways_to_take[way].status);
                eddy_http_response_close(response);
        }
        return 0;
}

/* A body that is taken as bytes is that which the client has sent; one that must be parsed is refused. */
TEST(no_way_to_read_the_body_of_a_request_decodes_a_bomb)
{
        eddy_alloc_set(count_bytes, NULL);
        for (size_t c = 0; c < sizeof(codings) / sizeof(codings[0]); c++) {
                struct data zeros = { calloc(BOMB_BYTES, 1), BOMB_BYTES };

                CHECK(zeros.bytes != NULL);
                coding = codings[c].name;
                bomb = codings[c].code(zeros);
                free(zeros.bytes);
                used_most = used;
                http_run(send_bombs, NULL);
                CHECK(used_most < LIMIT_BYTES);
                CHECK_EQ(used, 0);
                free(bomb.bytes);
        }
}
