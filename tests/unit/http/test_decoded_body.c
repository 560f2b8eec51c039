/*
 * test_decoded_body.c - a client that asks for compressed responses: bodies read whole, in pieces
 * and after a cancel; responses that are cut, damaged or too large; and what the request says.
 */
#include "coded.h"
#include "http_test.h"

enum { PLAIN_BYTES = 100000 };

static struct {
        eddy_listener *listener;
        eddy_http_client *client;
        struct data plain;
        char url[64];
        char accepted[64]; /* Accept-Encoding of the last request */
} site;

static const struct {
        const char *path, *coding;
        struct data (*code)(struct data plain);
} resources[] = {
        { "/gzip", "gzip", gzip_code },
        { "/x-gzip", "X-GZip", gzip_code },
        { "/deflate", "deflate", deflate_code },
        { "/bare", "deflate", bare_code },
        { "/br", "br", brotli_code },
        { "/zstd", "zstd", zstd_code },
};

enum { RESOURCES = sizeof(resources) / sizeof(resources[0]) };

static int answer(eddy_http_exchange *exchange, const char *coding, const void *body, size_t bytes)
{
        struct eddy_http_header header = { "Content-Encoding", coding };

        return eddy_http_exchange_respond(exchange, 200, &header, coding ? 1 : 0, body, bytes);
}

static int answer_coded(eddy_http_exchange *exchange, const char *coding,
                        struct data (*code)(struct data), struct data plain)
{
        struct data coded = code(plain);
        int err = answer(exchange, coding, coded.bytes, coded.n);

        free(coded.bytes);
        return err;
}

/* Half of the bytes, and the other half ten seconds later. */
static int answer_slowly(eddy_http_exchange *exchange)
{
        struct data coded = gzip_code(site.plain);
        struct eddy_http_header header = { "Content-Encoding", "gzip" };
        int err = eddy_http_exchange_begin(exchange, 200, &header, 1, -1);

        if (err >= 0)
                err = eddy_http_exchange_write(exchange, coded.bytes, coded.n / 2);
        if (err >= 0)
                err = eddy_sleep(EDDY_SEC(10));
        if (err >= 0)
                err = eddy_http_exchange_write(exchange, coded.bytes + coded.n / 2,
                                               coded.n - coded.n / 2);
        if (err >= 0)
                err = eddy_http_exchange_end(exchange);
        free(coded.bytes);
        return err;
}

static int handle(eddy_http_exchange *exchange, void *arg)
{
        const char *path = eddy_http_exchange_path(exchange);
        const char *accepted = eddy_http_exchange_header(exchange, "Accept-Encoding");

        (void) arg;
        snprintf(site.accepted, sizeof(site.accepted), "%s", accepted ? accepted : "");
        for (unsigned i = 0; i < RESOURCES; i++)
                if (strcmp(path, resources[i].path) == 0)
                        return answer_coded(exchange, resources[i].coding, resources[i].code,
                                            site.plain);
        if (strcmp(path, "/plain") == 0)
                return answer(exchange, NULL, site.plain.bytes, site.plain.n);
        if (strcmp(path, "/slow") == 0)
                return answer_slowly(exchange);
        if (strcmp(path, "/unknown") == 0)
                return answer(exchange, "compress", "abc", 3);
        if (strcmp(path, "/unknown-empty") == 0)
                return answer(exchange, "gzip, compress", "", 0);
        if (strcmp(path, "/damaged") == 0)
                return answer(exchange, "gzip", "<html>not gzip</html>", 21);
        if (strcmp(path, "/cut") == 0)
                return answer(exchange, "gzip", "\x1f\x8b\x08\0\0\0\0\0\0\3", 10);
        if (strcmp(path, "/empty") == 0)
                return answer(exchange, "gzip", "", 0);
        return 0;
}

static int serve(void *arg)
{
        (void) arg;
        return eddy_http_serve(site.listener, NULL, handle, NULL);
}

struct visit {
        void (*fn)(void);
        struct eddy_http_client_opts opts;
};

static int visit_main(void *arg)
{
        const struct visit *visit = arg;
        eddy_scope scope;

        memset(&site, 0, sizeof(site));
        site.plain = plain_new(PLAIN_BYTES);
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &site.listener), 0);
        snprintf(site.url, sizeof(site.url), "http://127.0.0.1:%u",
                 eddy_listener_port(site.listener));
        CHECK_EQ(eddy_http_client_new(&visit->opts, &site.client), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve, NULL);
        visit->fn();
        eddy_http_client_close(site.client);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_listener_close(site.listener);
        free(site.plain.bytes);
        return 0;
}

/* A case with a client of these options. */
#define VISIT(claim, ...)                                                                          \
        static void visit_##claim(void);                                                           \
        TEST(claim)                                                                                \
        {                                                                                          \
                struct visit visit = { visit_##claim, { __VA_ARGS__ } };                           \
                http_run(visit_main, &visit);                                                      \
        }                                                                                          \
        static void visit_##claim(void)

static eddy_http_response *get(const char *method, const char *path,
                               const struct eddy_http_header *header)
{
        char url[128];
        struct eddy_http_request request = {
                .method = method, .url = url, .headers = header, .headers_count = header ? 1 : 0
        };
        eddy_http_response *response = NULL;

        snprintf(url, sizeof(url), "%s%s", site.url, path);
        CHECK_EQ(eddy_http_client_send(site.client, &request, &response), 0);
        CHECK_EQ(eddy_http_response_status(response), 200);
        return response;
}

/* The result of reading the whole body, which is to be the plain text. */
static int body_of(const char *path)
{
        eddy_http_response *response = get(NULL, path, NULL);
        const void *body;
        size_t bytes;
        int err = eddy_http_response_body(response, &body, &bytes);

        if (err >= 0) {
                CHECK_EQ(bytes, site.plain.n);
                CHECK(memcmp(body, site.plain.bytes, bytes) == 0);
                CHECK_EQ(((const char *) body)[bytes], '\0');
        }
        eddy_http_response_close(response);
        return err;
}

static void read_rest(eddy_http_response *response, size_t at, size_t piece)
{
        static unsigned char buf[PLAIN_BYTES + 1];

        for (;;) {
                int64_t n = eddy_http_response_read(response, buf, piece);

                CHECK(n >= 0);
                if (n == 0)
                        break;
                CHECK(at + (size_t) n <= site.plain.n);
                CHECK(memcmp(buf, site.plain.bytes + at, (size_t) n) == 0);
                at += (size_t) n;
        }
        CHECK_EQ(at, site.plain.n);
        CHECK_EQ(eddy_http_response_read(response, buf, piece), 0);
}

VISIT(each_coding_is_decoded_and_its_connection_kept, .decode = true)
{
        static const size_t pieces[] = { 1, 1000, PLAIN_BYTES + 1 };

        for (unsigned i = 0; i < RESOURCES; i++) {
                CHECK_EQ(body_of(resources[i].path), 0);
                for (unsigned p = 0; p < 3; p++) {
                        eddy_http_response *response = get(NULL, resources[i].path, NULL);

                        CHECK_STR(eddy_http_response_header(response, "content-encoding"),
                                  resources[i].coding);
                        read_rest(response, 0, pieces[p]);
                        eddy_http_response_close(response);
                }
        }
        CHECK_EQ(body_of("/plain"), 0);
        CHECK_STATS(site.client, 1, 1, 0);
}

VISIT(request_names_the_codings_unless_the_caller_does, .decode = true)
{
        CHECK_EQ(body_of("/gzip"), 0);
        CHECK_STR(site.accepted, "gzip, deflate, br, zstd");
        eddy_http_response_close(
                get(NULL, "/gzip", &(struct eddy_http_header){ "accept-encoding", "br" }));
        CHECK_STR(site.accepted, "br");
}

VISIT(client_without_the_option_neither_asks_nor_decodes, .decode = false)
{
        eddy_http_response *response = get(NULL, "/damaged", NULL);
        const void *body;
        size_t bytes;

        CHECK_STR(site.accepted, "");
        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        CHECK_STR(body, "<html>not gzip</html>");
        eddy_http_response_close(response);
}

VISIT(body_that_is_cut_damaged_or_of_an_unknown_coding_is_an_error_each_time, .decode = true)
{
        static const struct {
                const char *path;
                int err;
        } cases[] = { { "/cut", EDDY_E_HTTP_CODING_INVALID },
                      { "/damaged", EDDY_E_HTTP_CODING_INVALID },
                      { "/unknown", EDDY_E_HTTP_CODING_UNKNOWN } };

        for (unsigned i = 0; i < 3; i++) {
                eddy_http_response *response = get(NULL, cases[i].path, NULL);
                const void *body;
                size_t bytes;
                char buf[10];

                CHECK_ERR(eddy_http_response_read(response, buf, sizeof(buf)), cases[i].err);
                CHECK_ERR(eddy_http_response_read(response, buf, sizeof(buf)), cases[i].err);
                CHECK_ERR(eddy_http_response_body(response, &body, &bytes), cases[i].err);
                eddy_http_response_close(response);
                CHECK_ERR(body_of(cases[i].path), cases[i].err);
        }
        CHECK_EQ(body_of("/gzip"), 0);
}

#define DEFLATED "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n"
#define CUT      "x\234\313" /* the begin of a zlib stream */

/* B45: A whole message is damaged; a message that ends with its connection may be cut. */
CLIENT_TEST(coding_that_ends_early_is_cut_only_if_the_connection_ends_the_body,
            OPTIONS(.decode = true),
            SCRIPT(DEFLATED "Content-Length: 3\r\n\r\n" CUT,
                   DEFLATED "Transfer-Encoding: chunked\r\n\r\n3\r\n" CUT "\r\n0\r\n\r\n",
                   DEFLATED "Content-Length: 4\r\n\r\n" CUT, "~"),
            SCRIPT(DEFLATED "\r\n" CUT, "~"))
{
        CHECK_ERR(rig_get(rig, "/"), EDDY_E_HTTP_CODING_INVALID);
        CHECK_ERR(rig_get(rig, "/"), EDDY_E_HTTP_CODING_INVALID);
        CHECK_EQ(rig->peer.accepted, 1);
        CHECK_ERR(rig_get(rig, "/"), EDDY_E_HTTP_TRUNCATED);
        CHECK_ERR(rig_get(rig, "/"), EDDY_E_HTTP_TRUNCATED);
        CHECK_EQ(rig->peer.accepted, 2);
}

VISIT(empty_body_and_the_response_to_head_are_empty, .decode = true)
{
        eddy_http_response *response = get(NULL, "/empty", NULL);
        const void *body;
        size_t bytes;
        char byte;

        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        CHECK_EQ(bytes, 0);
        CHECK_STR(body, "");
        eddy_http_response_close(response);
        response = get("HEAD", "/gzip", NULL);
        CHECK_EQ(eddy_http_response_read(response, &byte, 1), 0);
        eddy_http_response_close(response);
        CHECK_STATS(site.client, 1, 1, 0);
}

VISIT(unknown_coding_of_no_bytes_is_no_error, .decode = true)
{
        static const char *const methods[] = { "HEAD", "GET" };
        static const char *const paths[] = { "/unknown", "/unknown-empty" };

        for (int i = 0; i < 2; i++) {
                eddy_http_response *response = get(methods[i], paths[i], NULL);
                const void *body;
                size_t bytes;
                char byte;

                CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
                CHECK_EQ(bytes, 0);
                eddy_http_response_close(response);
                response = get(methods[i], paths[i], NULL);
                CHECK_EQ(eddy_http_response_read(response, &byte, 1), 0);
                CHECK_EQ(eddy_http_response_read(response, &byte, 1), 0);
                eddy_http_response_close(response);
        }
        CHECK_STATS(site.client, 1, 1, 0);
}

static int discard(void *response)
{
        return eddy_http_response_discard(response);
}

VISIT(reads_after_a_cancelled_discard_decode_nothing, .decode = true)
{
        eddy_http_response *response = get(NULL, "/slow", NULL);
        const void *body;
        size_t bytes;
        char buf[10];

        CHECK_ERR(eddy_call_timeout(discard, response, EDDY_SEC(1)), -ETIMEDOUT);
        CHECK_ERR(eddy_http_response_read(response, buf, sizeof(buf)), EDDY_E_HTTP_STATE);
        CHECK_ERR(eddy_http_response_body(response, &body, &bytes), EDDY_E_HTTP_STATE);
        CHECK_EQ(eddy_http_response_discard(response), 0);
        CHECK_EQ(eddy_http_response_read(response, buf, sizeof(buf)), 0);
        eddy_http_response_close(response);
}

VISIT(body_larger_than_its_limit_once_decoded_is_an_error, .decode = true, .body_bytes_max = 99999)
{
        CHECK_ERR(body_of("/br"), EDDY_E_HTTP_TOO_LARGE);
        CHECK_ERR(body_of("/gzip"), EDDY_E_HTTP_TOO_LARGE);
}

VISIT(body_that_is_dropped_is_not_decoded_and_its_connection_kept, .decode = true)
{
        eddy_http_response *response = get(NULL, "/damaged", NULL);
        char buf[10];

        CHECK_EQ(eddy_http_response_discard(response), 0);
        CHECK_EQ(eddy_http_response_read(response, buf, sizeof(buf)), 0);
        eddy_http_response_close(response);
        response = get(NULL, "/gzip", NULL);
        CHECK(eddy_http_response_read(response, buf, sizeof(buf)) > 0);
        CHECK_EQ(eddy_http_response_discard(response), 0);
        CHECK_EQ(eddy_http_response_read(response, buf, sizeof(buf)), 0);
        eddy_http_response_close(response);
        CHECK_STATS(site.client, 1, 1, 0);
}

/* A gathering that is cancelled in the middle; its bytes are not lost. */
static eddy_http_response *half_gathered(void)
{
        eddy_http_response *response = get(NULL, "/slow", NULL);
        const void *body;
        size_t bytes;
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(1) });
        CHECK_ERR(eddy_http_response_body(response, &body, &bytes), -ECANCELED);
        CHECK_ERR(eddy_http_response_body(response, &body, &bytes), -ECANCELED);
        CHECK_ERR(eddy_http_response_read(response, &bytes, 1), -ECANCELED);
        CHECK_ERR(eddy_scope_end(&scope), -ETIMEDOUT);
        return response;
}

VISIT(reading_continues_after_a_cancel_in_either_way, .decode = true)
{
        eddy_http_response *response = half_gathered();
        const void *body;
        size_t bytes;

        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        CHECK_EQ(bytes, site.plain.n);
        CHECK(memcmp(body, site.plain.bytes, bytes) == 0);
        eddy_http_response_close(response);
        response = half_gathered();
        read_rest(response, 0, 777);
        eddy_http_response_close(response);
}

VISIT(body_after_reads_is_the_rest, .decode = true)
{
        eddy_http_response *response = get(NULL, "/zstd", NULL);
        char buf[1000];
        const void *body;
        size_t bytes;
        int64_t n = eddy_http_response_read(response, buf, sizeof(buf));

        CHECK(n > 0);
        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        CHECK_EQ(bytes, site.plain.n - (size_t) n);
        CHECK(memcmp(body, site.plain.bytes + n, bytes) == 0);
        CHECK_EQ(eddy_http_response_read(response, buf, sizeof(buf)), 0);
        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        CHECK_EQ(bytes, site.plain.n - (size_t) n);
        eddy_http_response_close(response);
}
