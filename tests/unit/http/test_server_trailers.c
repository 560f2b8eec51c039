/*
 * test_server_trailers.c - trailers at a server: a handler reads those of a request once its body has
 * ended, and adds some to its answer, which only a body in chunks carries; names that may not come
 * after a body are refused, and an answer keeps what was added before a failure.
 */
#include <string.h>

#include "server_test.h"
#include "wire/http1.h"

#define GET(path)  "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"
#define POST(path) "POST " path " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

enum { SEEN_BYTES = 1024 };

/* ---- handlers ---------------------------------------------------------------- */

/* Writes the trailers of a request: "name=value;". */
static void see(const eddy_http_exchange *exchange, char seen[SEEN_BYTES])
{
        struct eddy_http_header trailer;
        size_t at = 0;

        seen[0] = '\0';
        for (size_t i = 0; eddy_http_exchange_trailer_at(exchange, i, &trailer) == 0; i++)
                at += (size_t) snprintf(seen + at, SEEN_BYTES - at, "%s=%s;", trailer.name,
                                        trailer.value);
        CHECK(at < SEEN_BYTES);
}

/* Answers with the trailers of the request; "/whole" reads the body at once, others by the byte. */
static int echo(eddy_http_exchange *exchange, const char *path)
{
        char seen[SEEN_BYTES], byte;
        const void *body;
        size_t bytes;
        int64_t n = 1;

        see(exchange, seen);
        CHECK_STR(seen, "");
        if (strcmp(path, "/whole") == 0)
                n = eddy_http_exchange_body(exchange, &body, &bytes);
        while (n > 0 && (n = eddy_http_exchange_read(exchange, &byte, 1)) > 0) {
                see(exchange, seen);
                CHECK_STR(seen, "");
        }
        see(exchange, seen);
        if (n < 0) {
                CHECK_STR(seen, "");
                return (int) n;
        }
        if (strcmp(path, "/find") == 0) {
                CHECK_STR(eddy_http_exchange_trailer(exchange, "dIGEST"), "a b");
                CHECK(!eddy_http_exchange_trailer(exchange, "Digest2"));
        }
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, seen, strlen(seen));
}

static int add(eddy_http_exchange *exchange, const char *name, const char *value)
{
        return eddy_http_exchange_add_trailer(exchange, name, value);
}

static const struct eddy_http_header announced = { "Trailer", "X-Time, Content-Digest" };

/* An answer with trailers, added between its pieces. The texts are copied. */
static int answer(eddy_http_exchange *exchange, int status, int64_t body_bytes, int result)
{
        char name[] = "X-Time", value[] = "7";

        CHECK_EQ(eddy_http_exchange_add_header(exchange, "X-Added", "1"), 0);
        CHECK_ERR(add(exchange, "X-Time", "7"), EDDY_E_HTTP_STATE);
        CHECK_EQ(eddy_http_exchange_begin(exchange, status, &announced, 1, body_bytes), 0);
        CHECK_EQ(
                eddy_http_exchange_write(exchange, "abc", body_bytes == 0 || status != 200 ? 0 : 3),
                0);
        CHECK_EQ(add(exchange, name, value), result);
        memset(name, 'z', 3);
        value[0] = '8';
        CHECK_EQ(eddy_http_exchange_flush(exchange), 0);
        CHECK_EQ(add(exchange, "Content-Digest", ""), result);
        CHECK_EQ(eddy_http_exchange_end(exchange), 0);
        CHECK_ERR(add(exchange, "X-Late", "1"), EDDY_E_HTTP_STATE);
        return 0;
}

static void refuse_bad(eddy_http_exchange *exchange)
{
        static const struct eddy_http_header bad[] = {
                { NULL, "1" },
                { "x", NULL },
                { "", "1" },
                { "x y", "1" },
                { "x", "a\r\nEvil: 1" },
                { "Transfer-Encoding", "chunked" },
                { "content-LENGTH", "3" },
                { "Content-Type", "a/b" },
                { "Content-Security-Policy", "a" },
                { "Host", "b" },
                { "Trailer", "x" },
                { "TE", "trailers" },
                { "Connection", "close" },
                { "Keep-Alive", "timeout=1" },
                { "Upgrade", "h2c" },
                { "Authorization", "Basic eA==" },
                { "Set-Cookie", "a=b" },
                { "WWW-Authenticate", "Basic" },
                { "Proxy-Authenticate", "Basic" },
                { "Cache-Control", "no-store" },
                { "Location", "/" },
                { "Retry-After", "1" },
        };

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                CHECK_ERR(add(exchange, bad[i].name, bad[i].value), EDDY_E_HTTP_INVALID_ANSWER);
}

/* Adds trailers up to a limit: of their number, or of their bytes. */
static int fill(eddy_http_exchange *exchange, const char *path)
{
        static char value[ED_HTTP1_TRAILERS_BYTES_MAX + 1];

        CHECK_EQ(eddy_http_exchange_begin(exchange, 200, NULL, 0, -1), 0);
        if (strcmp(path, "/bad") == 0)
                refuse_bad(exchange);
        if (strcmp(path, "/count") == 0) {
                for (int i = 0; i < ED_HTTP1_TRAILERS_MAX; i++)
                        CHECK_EQ(add(exchange, "X", "v"), 0);
                CHECK_ERR(add(exchange, "X", "v"), EDDY_E_HTTP_TOO_LARGE);
        }
        if (strcmp(path, "/bytes") == 0) {
                /* "X: ", the value and CR LF, and the empty line. */
                memset(value, 'v', ED_HTTP1_TRAILERS_BYTES_MAX - 6);
                CHECK_ERR(add(exchange, "X", value), EDDY_E_HTTP_TOO_LARGE);
                value[ED_HTTP1_TRAILERS_BYTES_MAX - 7] = '\0';
                CHECK_EQ(add(exchange, "X", value), 0);
                CHECK_ERR(add(exchange, "Y", ""), EDDY_E_HTTP_TOO_LARGE);
        }
        return eddy_http_exchange_end(exchange);
}

/* Without memory for a trailer, the answer has those before it. */
static int starved(eddy_http_exchange *exchange)
{
        static char large[6000];
        int err, left = 0;

        memset(large, 'v', sizeof(large) - 1);
        CHECK_EQ(eddy_http_exchange_begin(exchange, 200, NULL, 0, -1), 0);
        do {
                http_memory_fails(left++);
                err = add(exchange, "X-First", "1");
                if (err == 0)
                        err = add(exchange, "X-Large", large);
                (void) http_memory_is_back();
                CHECK(err == 0 || err == -ENOMEM);
        } while (err < 0);
        CHECK(left > 1);
        return eddy_http_exchange_end(exchange);
}

static int handle(eddy_http_exchange *exchange, void *arg)
{
        static const struct {
                const char *path;
                int status;
        } bare[] = { { "/204", 204 }, { "/205", 205 }, { "/304", 304 } };
        const char *path = eddy_http_exchange_path(exchange);

        (void) arg;
        if (strcmp(path, "/parts") == 0)
                return answer(exchange, 200, -1, 0);
        if (strcmp(path, "/length") == 0)
                return answer(exchange, 200, 3, EDDY_E_HTTP_STATE);
        for (size_t i = 0; i < sizeof(bare) / sizeof(bare[0]); i++)
                if (strcmp(path, bare[i].path) == 0)
                        return answer(exchange, bare[i].status, -1, 0);
        if (strcmp(path, "/bad") == 0 || strcmp(path, "/count") == 0 || strcmp(path, "/bytes") == 0)
                return fill(exchange, path);
        return strcmp(path, "/starved") == 0 ? starved(exchange) : echo(exchange, path);
}

static void prepare(struct site *site)
{
        site->handler = handle;
}

#define TRAILERS_TEST(claim)                                                                       \
        static void trailers_##claim(struct site *site);                                           \
        TEST(claim)                                                                                \
        {                                                                                          \
                site_run_prepared(NULL, false, prepare, trailers_##claim);                         \
        }                                                                                          \
        static void trailers_##claim(struct site *site)

/* ---- of requests ------------------------------------------------------------- */

static const char with_trailers[] =
        POST("/read") "3\r\nabc\r\n0\r\nDigest: a b \r\nX:\r\nx: 2\r\n\r\n";

TRAILERS_TEST(trailers_of_a_request_are_known_once_its_body_has_ended)
{
        eddy_stream *stream = site_connect(site);

        CHECK_HAS(say(stream, with_trailers, "x=2;"), "\r\n\r\nDigest=a b;X=;x=2;");
        CHECK_HAS(say(stream, POST("/whole") "3\r\nabc\r\n0\r\nDigest: a b\r\n\r\n", "b;"),
                  "\r\n\r\nDigest=a b;");
        CHECK_HAS(say(stream, POST("/find") "0\r\nDigest: a b\r\n\r\n", "b;"),
                  "\r\n\r\nDigest=a b;");
        /* The next request has none, with and without a body. */
        CHECK_HAS(say(stream, POST("/read") "0\r\n\r\n", "\r\n\r\n"), "Content-Length: 0\r\n");
        CHECK_HAS(say(stream, GET("/read"), "\r\n\r\n"), "Content-Length: 0\r\n");
        eddy_stream_close(stream);
}

TRAILERS_TEST(trailers_that_come_byte_by_byte_are_the_same)
{
        eddy_stream *stream = site_connect(site);
        char buf[SEEN_BYTES];

        for (size_t i = 0; i + 1 < sizeof(with_trailers); i++) {
                CHECK_EQ(eddy_stream_write(stream, &with_trailers[i], 1), 0);
                http_pause(EDDY_MS(1));
        }
        CHECK(read_until(stream, buf, sizeof(buf), "\r\n\r\nDigest=a b;X=;x=2;"));
        eddy_stream_close(stream);
}

TRAILERS_TEST(trailers_of_a_request_that_is_cut_are_not_shown)
{
        size_t head = strlen(POST("/read"));

        /* The handler checks that it sees none. */
        for (size_t bytes = head; bytes + 1 < sizeof(with_trailers); bytes++) {
                eddy_stream *stream = site_connect(site);
                static struct answer cut;

                CHECK_EQ(eddy_stream_write(stream, with_trailers, bytes), 0);
                CHECK_EQ(eddy_stream_shutdown(stream), 0);
                read_answer(stream, &cut);
                CHECK_EQ(cut.status, 400);
                eddy_stream_close(stream);
        }
}

TRAILERS_TEST(trailers_of_a_request_that_are_forbidden_or_too_many_are_refused)
{
        static const char *const bad[] = { "Content-Length: 3",
                                           "Transfer-Encoding: chunked",
                                           "Host: b",
                                           "Authorization: x",
                                           "x y: 1",
                                           ": 1" };
        static char many[ED_HTTP1_TRAILERS_BYTES_MAX * 2];
        char text[300];
        size_t at;

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                snprintf(text, sizeof(text), "%s0\r\nX: 1\r\n%s\r\n\r\n", POST("/read"), bad[i]);
                CHECK_EQ(ask(site, text)->status, 400);
        }
        at = (size_t) snprintf(many, sizeof(many), "%s0\r\n", POST("/read"));
        for (int i = 0; i <= ED_HTTP1_TRAILERS_MAX; i++)
                at += (size_t) snprintf(many + at, sizeof(many) - at, "X: 1\r\n");
        snprintf(many + at, sizeof(many) - at, "\r\n");
        CHECK_EQ(ask(site, many)->status, 431);
        at = (size_t) snprintf(many, sizeof(many), "%s0\r\nX: ", POST("/read"));
        memset(many + at, 'v', ED_HTTP1_TRAILERS_BYTES_MAX);
        snprintf(many + at + ED_HTTP1_TRAILERS_BYTES_MAX,
                 sizeof(many) - at - ED_HTTP1_TRAILERS_BYTES_MAX, "\r\n\r\n");
        CHECK_EQ(ask(site, many)->status, 431);
}

/* ---- of answers -------------------------------------------------------------- */

TRAILERS_TEST(trailers_of_an_answer_come_after_its_last_chunk)
{
        eddy_stream *stream = site_connect(site);
        const char *text = say(stream, GET("/parts"), "\r\nContent-Digest: \r\n\r\n");

        CHECK_HAS(text, "\r\nTrailer: X-Time, Content-Digest\r\n");
        CHECK_HAS(text, "\r\nTransfer-Encoding: chunked\r\n");
        CHECK_HAS(text, "\r\n\r\n3\r\nabc\r\n0\r\nX-Time: 7\r\nContent-Digest: \r\n\r\n");
        /* The connection is kept, and the next answer has no trailers. */
        CHECK_HAS(say(stream, GET("/parts"), "Content-Digest: \r\n\r\n"),
                  "\r\n0\r\nX-Time: 7\r\nContent-Digest: \r\n\r\n");
        text = say(stream, GET("/read"), "\r\n\r\n");
        CHECK_HAS_NOT(text, "X-Time");
        CHECK_HAS_NOT(text, "X-Added");
        eddy_stream_close(stream);
}

TRAILERS_TEST(answers_without_chunks_have_no_trailers)
{
        static const char *const heads[] = { "HEAD /parts HTTP/1.1\r\nHost: a\r\n\r\n", GET("/204"),
                                             GET("/304") };
        eddy_stream *stream = site_connect(site);
        const struct answer *old;

        for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
                CHECK_HAS_NOT(say(stream, heads[i], "\r\n\r\n"), "X-Time:");
                /* Nothing has followed that head: the next answer is found. */
                CHECK_HAS(say(stream, GET("/read"), "\r\n\r\n"), "HTTP/1.1 200 OK\r\nDate: ");
        }
        CHECK_HAS(say(stream, GET("/205"), "\r\n\r\n"), "Content-Length: 0\r\n");
        CHECK_HAS(say(stream, GET("/length"), "abc"), "Content-Length: 3\r\n");
        CHECK_HAS(say(stream, GET("/read"), "\r\n\r\n"), "HTTP/1.1 200 OK\r\nDate: ");
        eddy_stream_close(stream);
        old = ask(site, "GET /parts HTTP/1.0\r\n\r\n");
        CHECK_HAS(old->text, "\r\n\r\nabc");
        CHECK_HAS_NOT(old->text, "X-Time:");
        CHECK_HAS_NOT(old->text, "chunked");
}

TRAILERS_TEST(names_that_a_client_must_know_before_the_body_are_refused)
{
        CHECK_HAS(ask(site, "GET /bad HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")->text,
                  "\r\n\r\n0\r\n\r\n");
}

TRAILERS_TEST(answer_is_whole_although_memory_for_a_trailer_is_missing)
{
        const char *text =
                ask(site, "GET /starved HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")->text;

        CHECK_HAS(text, "\r\n\r\n0\r\nX-First: 1\r\n");
        CHECK_HAS(text, "vvvv\r\n\r\n");
}

/* ---- with the client --------------------------------------------------------- */

/* Reads an answer and counts its trailers named X. */
static size_t xs_of(eddy_http_client *client, const char *path, size_t value_bytes)
{
        struct eddy_http_request request = { .url = path };
        struct eddy_http_header trailer;
        eddy_http_response *response;
        const void *body;
        size_t bytes, count = 0;

        CHECK_EQ(eddy_http_client_send(client, &request, &response), 0);
        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        while (eddy_http_response_trailer_at(response, count, &trailer) == 0) {
                CHECK_STR(trailer.name, "X");
                CHECK_EQ(strlen(trailer.value), value_bytes);
                count++;
        }
        eddy_http_response_close(response);
        return count;
}

TRAILERS_TEST(clients_read_the_trailers_of_an_answer_up_to_the_limits)
{
        struct eddy_http_client_opts opts = { 0 };
        struct eddy_http_request request = { .url = "/parts" };
        eddy_http_response *response;
        eddy_http_client *client;
        const void *body;
        char base[64];
        size_t bytes;

        snprintf(base, sizeof(base), "http://127.0.0.1:%u", site->port);
        opts.base_url = base;
        CHECK_EQ(eddy_http_client_new(&opts, &client), 0);
        CHECK_EQ(eddy_http_client_send(client, &request, &response), 0);
        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        CHECK_EQ(bytes, 3);
        CHECK_STR(eddy_http_response_trailer(response, "x-time"), "7");
        CHECK_STR(eddy_http_response_trailer(response, "Content-Digest"), "");
        CHECK(!eddy_http_response_trailer(response, "X-Added"));
        eddy_http_response_close(response);
        CHECK_EQ(xs_of(client, "/count", 1), ED_HTTP1_TRAILERS_MAX);
        CHECK_EQ(xs_of(client, "/bytes", ED_HTTP1_TRAILERS_BYTES_MAX - 7), 1);
        CHECK_EQ(xs_of(client, "/bad", 0), 0);
        eddy_http_client_close(client);
}
