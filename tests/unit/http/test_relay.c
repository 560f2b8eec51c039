/*
 * test_relay.c - what a reverse proxy passes on.
 *
 * - Bodies of each length and framing, and trailers, pass in both directions.
 * - Headers that concern one connection do not pass, and those about the client are the proxy's.
 * - Each failure has its status; an answer that breaks off does not look whole.
 * - A shortage of memory or a cancel at each point leaves nothing, and no answer looks whole that is not.
 */
#include <stdlib.h>
#include <string.h>

#include "coded.h"
#include "eddy/http_relay.h"
#include "eddy/test.h"
#include "server_test.h"

#define CLOSES      "Connection: close\r\n"
#define TEXT(lines) "GET /x HTTP/1.1\r\nHost: a\r\n" lines "\r\n"

enum { BODY_BYTES = 300000, PIECE = 7000 };

static eddy_http_handler_fn *backend;
static struct eddy_http_client_opts inner;
static const char *server;
static int result; /* of the proxy's last call of eddy_http_relay_response() or _fail() */

/* The proxy, whose other server is 'backend'. */
static int pass_on(eddy_http_exchange *exchange, void *arg)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request;
        int err;

        (void) arg;
        inner.handler = backend;
        err = eddy_http_client_new(&inner, &client);
        if (err < 0)
                return err;
        err = eddy_http_relay_request(exchange, server, &request);
        if (err == 0)
                err = eddy_http_client_send(client, &request, &response);
        result = err == 0 ? eddy_http_relay_response(exchange, response)
                          : eddy_http_relay_fail(exchange, err);
        return result;
}

static void prepare(struct site *site)
{
        site->handler = pass_on;
}

static void run_before(eddy_http_handler_fn *with, const char *url, site_fn *fn)
{
        backend = with;
        server = url;
        inner = (struct eddy_http_client_opts){ .connections_max = 0 };
        site_run_prepared(SERVER_OPTIONS(.body_bytes_max = UINT64_MAX), false, prepare, fn);
}

/* ---- requests -------------------------------------------------------------- */

/* Answer with the method, the target and the headers as they came, a line each. */
static int show_request(eddy_http_exchange *exchange, void *arg)
{
        struct eddy_http_header header;
        char text[8000];
        size_t bytes;

        (void) arg;
        bytes = (size_t) snprintf(text, sizeof(text), "%s %s\n",
                                  eddy_http_exchange_method(exchange),
                                  eddy_http_exchange_target(exchange));
        for (size_t i = 0; eddy_http_exchange_header_at(exchange, i, &header) == 0; i++)
                bytes += (size_t) snprintf(text + bytes, sizeof(text) - bytes, "%s: %s\n",
                                           header.name, header.value);
        return eddy_http_exchange_respond_text(exchange, 200, text);
}

#define OWN                                                                                        \
        "X-Forwarded-For: 127.0.0.1\nX-Forwarded-Proto: http\nX-Forwarded-Host: a\n"               \
        "Forwarded: for=127.0.0.1;proto=http;host=\"a\"\nVia: 1.1 eddy\n"

static const struct {
        const char *request;
        const char *shown;
} requests[] = {
        { TEXT(CLOSES), "GET /x\nHost: b.test\n" OWN },
        { TEXT(CLOSES "Accept: a/b\r\nUser-Agent: u\r\nAccept-Encoding: gzip\r\n"),
          "GET /x\nHost: b.test\nAccept: a/b\nUser-Agent: u\nAccept-Encoding: gzip\n" OWN },
        { TEXT("Connection: , close ,A,b\t,, \"c\"\r\nA: 1\r\nB: 2\r\nC: 3\r\nAb: 4\r\nconnection: "
               "AB\r\n"),
          "GET /x\nHost: b.test\nC: 3\n" OWN },
        { TEXT("Connection: close, host, forwarded, x-forwarded-for, via, accept\r\nAccept: "
               "a/b\r\n"),
          "GET /x\nHost: b.test\n" OWN },
        { TEXT(CLOSES
               "Forwarded: for=9.9.9.9\r\nX-Forwarded-For: 9.9.9.9\r\nx-forwarded-port: 1\r\n"
               "X-Forwarded: 1\r\nVia: 1.1 first\r\n"),
          "GET /x\nHost: b.test\nX-Forwarded: 1\nVia: 1.1 first\n" OWN },
        { TEXT(CLOSES "X_Forwarded_For: 9.9.9.9\r\nx-forwarded_proto: https\r\nX_Forwarded: 1\r\n"),
          "GET /x\nHost: b.test\nX_Forwarded: 1\n" OWN },
        { TEXT(CLOSES
               "TE: trailers\r\nKeep-Alive: 1\r\nProxy-Connection: close\r\nTrailer: X\r\nProxy: "
               "b\r\n"
               "Proxy-Authorization: Basic YTpi\r\nUpgrade: h2c\r\nCookie: a=b\r\nCookie: c=d\r\n"),
          "GET /x\nHost: b.test\nCookie: a=b\nCookie: c=d\n" OWN },
        { "POST //x/../%2f?a=?&b HTTP/1.1\r\nHost: a\r\n" CLOSES "Content-Length: 0\r\n\r\n",
          "POST //x/../%2f?a=?&b\nHost: b.test\n" OWN "Content-Length: 0\n" },
        { "GET /? HTTP/1.1\r\nHost: a\r\n" CLOSES "\r\n", "GET /?\nHost: b.test\n" OWN },
        { "GET http://a?b HTTP/1.1\r\nHost: a\r\n" CLOSES "\r\n", "GET /?b\nHost: b.test\n" OWN },
        { "GET /x HTTP/1.0\r\n\r\n", "GET /x\nHost: b.test\nX-Forwarded-For: 127.0.0.1\n"
                                     "X-Forwarded-Proto: http\n"
                                     "Forwarded: for=127.0.0.1;proto=http\nVia: 1.1 eddy\n" },
};

static void see_requests(struct site *site)
{
        for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
                CHECK_STR(strstr(ask(site, requests[i].request)->text, "\r\n\r\n") + 4,
                          requests[i].shown);
}

TEST(each_request_passes_without_the_headers_of_one_connection)
{
        run_before(show_request, "http://b.test", see_requests);
        run_before(show_request, "http://b.test///", see_requests);
}

static int send_by_http2(void *arg)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        const struct eddy_http_client_opts opts = { .handler = pass_on,
                                                    .flags = EDDY_HTTP_CLIENT_H2C };
        static const struct eddy_http_header headers[] = {
                { "Accept", "a/b" },
                { "User-Agent", NULL },
                { "Accept-Encoding", NULL },
                { "TE", "trailers" },
        };
        struct eddy_http_request request = { .url = "http://a/x?y",
                                             .headers = headers,
                                             .headers_count = 4 };
        const void *body;
        size_t bytes;

        (void) arg;
        CHECK_EQ(eddy_http_client_new(&opts, &client), 0);
        CHECK_EQ(eddy_http_client_send(client, &request, &response), 0);
        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        CHECK_STR(body, "GET /x?y\nHost: b.test\naccept: a/b\nX-Forwarded-For: unknown\n"
                        "X-Forwarded-Proto: http\nX-Forwarded-Host: a\n"
                        "Forwarded: for=unknown;proto=http;host=\"a\"\n"
                        "Via: 2.0 eddy\n");
        return 0;
}

TEST(a_request_by_http_2_passes_to_a_server_of_http_1)
{
        backend = show_request;
        server = "http://b.test";
        inner = (struct eddy_http_client_opts){ .connections_max = 0 };
        http_run(send_by_http2, NULL);
}

static void see_base(struct site *site)
{
        static const char *const paths[] = { "/..",          "/../x", "/a/../../x", "/%2e%2E/x",
                                             "/a%2f..%2f..", "/.",    "/x%00" };

        for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
                char text[100];

                snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: a\r\n" CLOSES "\r\n",
                         paths[i]);
                CHECK_EQ(ask(site, text)->status, 400);
        }
        CHECK_HAS(ask(site, TEXT(CLOSES))->text, "\r\n\r\nGET /base/x\nHost: b.test:81\n");
}

TEST(a_path_of_the_server_goes_before_that_of_the_request)
{
        run_before(show_request, "http://b.test:81/base/", see_base);
}

static int pass_trusted(eddy_http_exchange *exchange, void *arg)
{
        const struct eddy_http_trusted_proxies_opts trusted = {
                .networks = "127.0.0.1", .flags = EDDY_HTTP_TRUST_PROTO | EDDY_HTTP_TRUST_HOST
        };
        EDDY_AUTO(eddy_http_router) eddy_http_router *router = NULL;
        int err;

        (void) arg;
        CHECK_EQ(eddy_http_router_new(&router), 0);
        CHECK_EQ(eddy_http_use_trusted_proxies(router, &trusted), 0);
        CHECK_EQ(eddy_http_router_add(router, "/{path...}", pass_on, NULL, NULL), 0);
        err = eddy_http_router_handle(exchange, router);
        return err;
}

static void prepare_trusted(struct site *site)
{
        site->handler = pass_trusted;
}

static void see_trusted(struct site *site)
{
        const char *text =
                ask(site, TEXT(CLOSES "X-Forwarded-For: 9.9.9.9, 2001:db8::7\r\n"
                                      "X-Forwarded-Proto: https\r\nX-Forwarded-Host: c.test:8\r\n"))
                        ->text;

        CHECK_HAS(text, "\nX-Forwarded-For: 2001:db8::7\nX-Forwarded-Proto: https\n"
                        "X-Forwarded-Host: c.test:8\n"
                        "Forwarded: for=\"[2001:db8::7]\";proto=https;host=\"c.test:8\"\n");
}

TEST(the_client_is_the_one_that_trusted_proxies_report)
{
        backend = show_request;
        server = "http://b.test";
        site_run_prepared(NULL, false, prepare_trusted, see_trusted);
}

static int refuse(eddy_http_exchange *exchange, void *arg)
{
        struct eddy_http_request request = { .url = "kept" };

        (void) arg;
        CHECK_ERR(eddy_http_relay_request(exchange, "http://b", &request), -ENOTSUP);
        CHECK_ERR(eddy_http_relay_request(exchange, NULL, &request), -EINVAL);
        CHECK_ERR(eddy_http_relay_request(exchange, "http://b", NULL), -EINVAL);
        CHECK_ERR(eddy_http_relay_request(NULL, "http://b", &request), -EINVAL);
        CHECK_ERR(eddy_http_relay_response(exchange, NULL), -EINVAL);
        CHECK_STR(request.url, "kept");
        return eddy_http_exchange_respond_text(exchange, 200, "refused");
}

static void prepare_refusing(struct site *site)
{
        site->handler = refuse;
}

static void see_refused(struct site *site)
{
        CHECK_HAS(ask(site, "OPTIONS * HTTP/1.1\r\nHost: a\r\n" CLOSES "\r\n")->text, "refused");
}

TEST(a_request_that_is_not_for_a_path_is_refused)
{
        site_run_prepared(NULL, false, prepare_refusing, see_refused);
}

/* ---- responses ------------------------------------------------------------- */

static int answer_status(eddy_http_exchange *exchange, void *arg)
{
        static const struct eddy_http_header headers[] = {
                { "X-A", "1" },        { "Keep-Alive", "timeout=5" },
                { "Set-Cookie", "a" }, { "Upgrade", "h2" },
                { "Date", "then" },    { "Set-Cookie", "b" },
        };
        int status = (int) strtol(eddy_http_exchange_path(exchange) + 1, NULL, 10);

        (void) arg;
        return eddy_http_exchange_respond(exchange, status, headers, 6, "abc",
                                          status == 200 || status == 500 ? 3 : 0);
}

static void see_statuses(struct site *site)
{
        static const char *const requests_of[] = { "GET /200", "HEAD /200", "GET /204", "GET /205",
                                                   "GET /304", "GET /500",  "GET /999" };
        char text[128];

        for (size_t i = 0; i < 7; i++) {
                const struct answer *got;
                bool has_body = i == 0 || i == 5, has_length = i != 2 && i != 4;

                snprintf(text, sizeof(text), "%s HTTP/1.1\r\nHost: a\r\n" CLOSES "\r\n",
                         requests_of[i]);
                got = ask(site, text);
                CHECK_EQ(got->status, strtol(strchr(requests_of[i], '/') + 1, NULL, 10));
                CHECK_HAS(got->text,
                          "\r\nX-A: 1\r\nSet-Cookie: a\r\nDate: then\r\nSet-Cookie: b\r\n");
                CHECK_HAS_NOT(got->text, "Transfer-Encoding");
                CHECK_EQ(strstr(got->text, "Content-Length") != NULL, has_length);
                if (i <= 1)
                        CHECK_HAS(got->text, "\r\nContent-Length: 3\r\n");
                CHECK_STR(strstr(got->text, "\r\n\r\n"), has_body ? "\r\n\r\nabc" : "\r\n\r\n");
                CHECK_EQ(result, 0);
        }
}

TEST(each_status_passes_with_its_headers_and_body)
{
        run_before(answer_status, "http://b", see_statuses);
}

/* Send the body back as it comes, with its number of bytes as a trailer. */
static int echo(eddy_http_exchange *exchange, void *arg)
{
        const char *length = eddy_http_exchange_header(exchange, "Content-Length");
        char buf[PIECE], total[24];
        int64_t n, bytes = 0;
        int err = eddy_http_exchange_begin(exchange, 201, NULL, 0,
                                           length ? strtoll(length, NULL, 10) : -1);

        (void) arg;
        while (err == 0 && (n = eddy_http_exchange_read(exchange, buf, sizeof(buf))) != 0) {
                err = n < 0 ? (int) n : eddy_http_exchange_write(exchange, buf, (size_t) n);
                bytes += n;
        }
        snprintf(total, sizeof(total), "%lld", (long long) bytes);
        if (err == 0 && !length)
                err = eddy_http_exchange_add_trailer(exchange, "X-Bytes", total);
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

struct sending {
        int64_t sent, bytes;
};

static unsigned char byte_at(int64_t i)
{
        return (unsigned char) (i * 7 + i / 253);
}

static int64_t read_bytes(void *arg, void *buf, size_t bytes)
{
        struct sending *sending = arg;
        int64_t n = sending->bytes - sending->sent;

        if (n > (int64_t) bytes)
                n = (int64_t) bytes;
        for (int64_t i = 0; i < n; i++)
                ((unsigned char *) buf)[i] = byte_at(sending->sent + i);
        sending->sent += n;
        return n;
}

/* Send a body through the proxy and compare what comes back. Returns 0 only if it is whole. */
static int send_through(eddy_http_client *client, int64_t bytes, bool chunked)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct sending sending = { 0, bytes };
        struct eddy_http_body_source source = { .read = read_bytes,
                                                .arg = &sending,
                                                .bytes = chunked ? -1 : bytes };
        struct eddy_http_request request = { .method = "PUT",
                                             .url = "http://a/x",
                                             .body_source = &source };
        unsigned char buf[PIECE + 1];
        int64_t got = 0, n;
        int err = eddy_http_client_send(client, &request, &response);

        if (err < 0)
                return err;
        if (eddy_http_response_status(response) != 201)
                return -EIO; /* the proxy's own answer: 500 or 502 */
        while ((n = eddy_http_response_read(response, buf, sizeof(buf))) > 0)
                for (int64_t i = 0; i < n; i++, got++)
                        if (buf[i] != byte_at(got))
                                CHECK_EQ(buf[i], byte_at(got));
        if (n < 0)
                return (int) n;
        CHECK_EQ(got, bytes);
        if (chunked)
                CHECK_EQ(strtoll(eddy_http_response_trailer(response, "X-Bytes"), NULL, 10), bytes);
        return 0;
}

static int send_sizes(void *arg)
{
        static const int64_t sizes[] = { 0, 1, 16383, 16384, 16385, 65536, BODY_BYTES };
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        const struct eddy_http_client_opts opts = { .handler = pass_on,
                                                    .flags = *(const uint32_t *) arg };

        CHECK_EQ(eddy_http_client_new(&opts, &client), 0);
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
                for (int chunked = 0; chunked <= 1; chunked++)
                        CHECK_EQ(send_through(client, sizes[i], chunked), 0);
        return 0;
}

TEST(bodies_of_each_size_pass_in_both_directions_at_once)
{
        /* The version of HTTP before the proxy, and after it. */
        static uint32_t versions[][2] = {
                { 0, 0 },
                { 0, EDDY_HTTP_CLIENT_H2C },
                { EDDY_HTTP_CLIENT_H2C, 0 },
                { EDDY_HTTP_CLIENT_H2C, EDDY_HTTP_CLIENT_H2C },
        };

        backend = echo;
        server = "http://b";
        for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
                inner = (struct eddy_http_client_opts){ .flags = versions[i][1] };
                http_run(send_sizes, &versions[i][0]);
        }
}

static int answer_coded(eddy_http_exchange *exchange, void *arg)
{
        static const struct eddy_http_header coding = { "Content-Encoding", "gzip" };
        struct data plain = plain_new(BODY_BYTES), coded = gzip_code(plain);
        int err = eddy_http_exchange_respond(exchange, 200, &coding, 1, coded.bytes, coded.n);

        (void) arg;
        free(plain.bytes);
        free(coded.bytes);
        return err;
}

/* Returns the bytes of the body that comes through the proxy. */
static int64_t bytes_through(const char **ret_coding)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        const void *body;
        size_t bytes;

        CHECK_EQ(eddy_http_client_new(&(struct eddy_http_client_opts){ .handler = pass_on },
                                      &client),
                 0);
        CHECK_EQ(eddy_http_client_send(client, &(struct eddy_http_request){ .url = "http://a/" },
                                       &response),
                 0);
        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        *ret_coding = eddy_http_response_header(response, "Content-Encoding") ? "gzip" : "none";
        return (int64_t) bytes;
}

static int pass_coded(void *arg)
{
        const char *coding;

        (void) arg;
        inner.decode = false;
        CHECK(bytes_through(&coding) < BODY_BYTES);
        CHECK_STR(coding, "gzip");
        inner.decode = true;
        CHECK_EQ(bytes_through(&coding), BODY_BYTES);
        CHECK_STR(coding, "none");
        return 0;
}

TEST(a_decoded_body_passes_without_its_coding)
{
        backend = answer_coded;
        server = "http://b";
        inner = (struct eddy_http_client_opts){ .connections_max = 0 };
        http_run(pass_coded, NULL);
}

/* Answer as answer_coded() does, with tags and digests; or 304. */
static int answer_tagged(eddy_http_exchange *exchange, void *arg)
{
        static const struct eddy_http_header headers[] = {
                { "ETag", "\"a\"" },           { "Content-Encoding", "gzip" },
                { "Accept-Ranges", "bytes" },  { "Repr-Digest", "sha-256=:x:" },
                { "Content-Digest", "md5=x" }, { "X-Last", "1" },
        };
        struct data plain, coded;
        int err;

        (void) arg;
        if (eddy_http_exchange_header(exchange, "If-None-Match"))
                return eddy_http_exchange_respond(exchange, 304, headers, 1, NULL, 0);
        plain = plain_new(100);
        coded = gzip_code(plain);
        err = eddy_http_exchange_respond(exchange, 200, headers, 6, coded.bytes, coded.n);
        free(plain.bytes);
        free(coded.bytes);
        return err;
}

static void see_tagged(struct site *site)
{
        const struct answer *answer;

        inner.decode = true;
        answer = ask(site, TEXT(CLOSES));
        CHECK_HAS(answer->text, "\r\nETag: W/\"a\"\r\n");
        CHECK_HAS(answer->text, "\r\nX-Last: 1\r\n");
        CHECK_HAS_NOT(answer->text, "Digest");
        CHECK_HAS_NOT(answer->text, "Accept-Ranges");
        answer = ask(site, TEXT(CLOSES "If-None-Match: W/\"a\"\r\n"));
        CHECK_EQ(answer->status, 304);
        CHECK_HAS(answer->text, "\r\nETag: W/\"a\"\r\n");
        answer = ask(site, TEXT(CLOSES "If-None-Match: \"a\"\r\n"));
        CHECK_HAS(answer->text, "\r\nETag: \"a\"\r\n");
        inner.decode = false;
        answer = ask(site, TEXT(CLOSES));
        CHECK_HAS(answer->text, "\r\nETag: \"a\"\r\n");
        CHECK_HAS(answer->text, "\r\nRepr-Digest: ");
        answer = ask(site, TEXT(CLOSES "If-None-Match: W/\"a\"\r\n"));
        CHECK_HAS(answer->text, "\r\nETag: \"a\"\r\n");
}

TEST(a_decoded_body_has_a_weak_tag_and_no_digest_of_its_coded_bytes)
{
        run_before(answer_tagged, "http://b", see_tagged);
}

/* Answer a part of a body (206), or a body in a coding that is unknown. */
static int answer_undecodable(eddy_http_exchange *exchange, void *arg)
{
        bool is_part = strcmp(eddy_http_exchange_path(exchange), "/part") == 0;
        const struct eddy_http_header coding = { "Content-Encoding", is_part ? "gzip" : "gzip, x" };

        (void) arg;
        return eddy_http_exchange_respond(exchange, is_part ? 206 : 200, &coding, 1, "bytes", 5);
}

static void see_undecodable(struct site *site)
{
        const struct answer *answer;

        inner.decode = true;
        answer = ask(site, TEXT(CLOSES));
        CHECK_EQ(answer->status, 200);
        CHECK_HAS(answer->text, "\r\nContent-Encoding: gzip, x\r\n");
        CHECK_HAS(answer->text, "\r\nContent-Length: 5\r\n");
        CHECK_HAS(answer->text, "\r\n\r\nbytes");
        answer = ask(site, "GET /part HTTP/1.1\r\nHost: a\r\n" CLOSES "\r\n");
        CHECK_EQ(answer->status, 206);
        CHECK_HAS(answer->text, "\r\nContent-Encoding: gzip\r\n");
        CHECK_HAS(answer->text, "\r\n\r\nbytes");
}

TEST(a_body_that_the_client_cannot_decode_passes_as_it_came)
{
        run_before(answer_undecodable, "http://b", see_undecodable);
}

/* ---- failures -------------------------------------------------------------- */

static const struct {
        int error;
        int status; /* 0: the connection ends without an answer */
        int result;
} failures[] = {
        { -ECONNREFUSED, 502, 0 },
        { -ECONNRESET, 502, 0 },
        { EDDY_E_HTTP_INVALID_RESPONSE, 502, 0 },
        { EDDY_E_HTTP_TOO_LARGE, 502, 0 },
        { EDDY_E_HTTP_CLOSED, 502, 0 },
        { EDDY_E_DNS_NOT_FOUND, 502, 0 },
        { EDDY_E_TLS_EXPIRED, 502, 0 },
        { -EIO, 502, 0 },
        { EDDY_E_HTTP_STATUS, 502, 0 },
        { EDDY_E_HTTP_TIMEOUT_POOL, 504, 0 },
        { EDDY_E_HTTP_TIMEOUT_CONNECT, 504, 0 },
        { EDDY_E_HTTP_TIMEOUT_READ, 504, 0 },
        { EDDY_E_HTTP_TIMEOUT_TOTAL, 504, 0 },
        { EDDY_E_NET_TIMED_OUT, 504, 0 },
        { -ETIMEDOUT, 504, 0 },
        { -ENOTSUP, 501, 0 },
        { EDDY_E_URL_INVALID, 400, 0 },
        { -ENOMEM, 500, -ENOMEM },
        { -ECANCELED, 500, -ECANCELED },
};

static int fail_by_number(eddy_http_exchange *exchange, void *arg)
{
        size_t i = strtoul(eddy_http_exchange_path(exchange) + 1, NULL, 10);

        (void) arg;
        result = eddy_http_relay_fail(exchange, failures[i].error);
        return result;
}

static void prepare_failing(struct site *site)
{
        site->handler = fail_by_number;
}

static void see_failures(struct site *site)
{
        char text[128];

        for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
                snprintf(text, sizeof(text), "GET /%zu HTTP/1.1\r\nHost: a\r\n" CLOSES "\r\n", i);
                CHECK_EQ(ask(site, text)->status, failures[i].status);
                CHECK_EQ(result, failures[i].result);
                if (failures[i].error == EDDY_E_HTTP_STATUS)
                        CHECK_HAS(ask(site, text)->text, "answered with an error status");
        }
}

TEST(each_failure_of_the_other_server_has_its_status)
{
        site_run_prepared(NULL, false, prepare_failing, see_failures);
}

static void see_broken_upload(struct site *site)
{
        const char *head = "PUT /x HTTP/1.1\r\nHost: a\r\n" CLOSES;
        char text[256];

        snprintf(text, sizeof(text), "%sTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nx\r\n", head);
        CHECK_EQ(ask(site, text)->status, 400);
        CHECK_ERR(result, EDDY_E_HTTP_INVALID_REQUEST);
}

static int read_whole(eddy_http_exchange *exchange, void *arg)
{
        const void *body;
        size_t bytes;
        int err = eddy_http_exchange_body(exchange, &body, &bytes);

        (void) arg;
        CHECK(err < 0); /* a part of the body never looks whole */
        return err;
}

TEST(a_body_that_the_client_breaks_is_not_the_other_servers_fault)
{
        run_before(read_whole, "http://b", see_broken_upload);
}

static int break_off(eddy_http_exchange *exchange, void *arg)
{
        bool chunked = strcmp(eddy_http_exchange_path(exchange), "/chunked") == 0;

        (void) arg;
        CHECK_EQ(eddy_http_exchange_begin(exchange, 200, NULL, 0, chunked ? -1 : 10), 0);
        CHECK_EQ(eddy_http_exchange_write(exchange, "abc", 3), 0);
        CHECK_EQ(eddy_http_exchange_flush(exchange), 0);
        eddy_http_exchange_abort(exchange);
        return 0;
}

static void see_broken_answers(struct site *site)
{
        const struct answer *got = ask(site, "GET /chunked HTTP/1.1\r\nHost: a\r\n\r\n");

        CHECK_STR(strstr(got->text, "\r\n\r\n"), "\r\n\r\n3\r\nabc\r\n");
        CHECK(result < 0);
        got = ask(site, "GET /length HTTP/1.1\r\nHost: a\r\n\r\n");
        CHECK_HAS(got->text, "\r\nContent-Length: 10\r\n");
        CHECK_STR(strstr(got->text, "\r\n\r\n"), "\r\n\r\nabc");
        CHECK(result < 0);
        got = ask(site, "GET /chunked HTTP/1.0\r\n\r\n");
        CHECK_ERR(got->error, -ECONNRESET);
        CHECK(result < 0);
}

TEST(an_answer_that_breaks_off_does_not_look_whole)
{
        run_before(break_off, "http://b", see_broken_answers);
}

static int send_one(void *arg)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        const struct eddy_http_client_opts opts = { .handler = pass_on };
        int err = eddy_http_client_new(&opts, &client);

        (void) arg;
        return err < 0 ? err : send_through(client, 3 * PIECE, true);
}

TEST(a_cancel_or_a_shortage_of_memory_at_any_point_leaves_nothing)
{
        static const int kinds[] = { EDDY_TEST_SEEDS, EDDY_TEST_CANCEL, EDDY_TEST_ALLOC,
                                     EDDY_TEST_ALLOC_FOREVER };

        backend = echo;
        server = "http://b";
        inner = (struct eddy_http_client_opts){ .connections_max = 0 };
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                struct eddy_test_sweep sweep;

                CHECK_EQ(eddy_test_sweep(kinds[i], send_one, NULL, NULL, &sweep), 0);
                CHECK(sweep.tried > 0);
        }
}
