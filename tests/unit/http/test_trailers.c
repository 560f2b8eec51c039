/*
 * test_trailers.c - trailers after a request's body: their values are read at its end, and names and
 * values that cannot be sent are refused.
 */
#include "http_test.h"
#include "wire/http1.h"

enum { BODY_BYTES = 10, SEEN_BYTES = 16384 };

static struct {
        eddy_listener *listener;
        const char *end; /* of the request */
        char seen[SEEN_BYTES];
        bool is_whole;
} peer;

/* A body that counts its bytes, and sets a trailer at its end. */
struct body {
        size_t at;
        char digest[32];
        struct eddy_http_header *trailer;
};

static int64_t body_read(void *arg, void *buf, size_t bytes)
{
        struct body *body = arg;

        (void) bytes;
        if (body->at == BODY_BYTES) {
                snprintf(body->digest, sizeof(body->digest), "bytes=%zu", body->at);
                body->trailer->value = body->digest;
                return 0;
        }
        memcpy(buf, "0123456789", BODY_BYTES);
        body->at += BODY_BYTES;
        return BODY_BYTES;
}

static int body_rewind(void *arg)
{
        struct body *body = arg;

        body->at = 0;
        return 0;
}

static int peer_run(void *arg)
{
        eddy_stream *stream;

        (void) arg;
        if (eddy_listener_accept(peer.listener, &stream) < 0)
                return 0; /* no request was sent */
        peer.is_whole = read_until(stream, peer.seen, SEEN_BYTES, peer.end);
        if (peer.is_whole)
                CHECK_EQ(eddy_stream_write(stream, "HTTP/1.1 204 No Content\r\n\r\n", 27), 0);
        eddy_stream_close(stream);
        return 0;
}

/* Send a request to a peer that keeps its bytes, up to 'end'. Returns its result. */
static int send_to_peer(const struct eddy_http_request *request, const char *end)
{
        struct eddy_http_request own = *request;
        eddy_http_response *response;
        eddy_http_client *client;
        eddy_scope scope;
        char url[64];
        int err;

        peer.end = end;
        peer.seen[0] = '\0';
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &peer.listener), 0);
        snprintf(url, sizeof(url), "http://127.0.0.1:%u/", eddy_listener_port(peer.listener));
        own.url = url;
        CHECK_EQ(eddy_http_client_new(NULL, &client), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, peer_run, NULL);
        err = eddy_http_client_send(client, &own, &response);
        if (err == 0)
                eddy_http_response_close(response);
        eddy_http_client_close(client);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_listener_close(peer.listener);
        return err;
}

static int trailers_are_sent(void *arg)
{
        struct eddy_http_header trailers[] = { { "Digest", NULL },
                                               { "X-None", NULL },
                                               { "X-Kind", "a b" } };
        struct body body = { .trailer = &trailers[0] };
        const struct eddy_http_body_source source = { .read = body_read,
                                                      .rewind = body_rewind,
                                                      .arg = &body,
                                                      .bytes = -1,
                                                      .trailers = trailers,
                                                      .trailers_count = 3 };
        const struct eddy_http_header own = { "trailer", "Digest, X-Kind" };
        struct eddy_http_request request = { .body_source = &source };

        (void) arg;
        CHECK_EQ(send_to_peer(&request, "\r\n0\r\nDigest: bytes=10\r\nX-Kind: a b\r\n\r\n"), 0);
        CHECK(strstr(peer.seen, "\r\nTrailer: Digest\r\nTrailer: X-None\r\nTrailer: X-Kind\r\n"));
        CHECK(strstr(peer.seen, "\r\n\r\na\r\n0123456789\r\n0\r\nDigest"));
        request.headers = &own;
        request.headers_count = 1;
        body.at = 0;
        CHECK_EQ(send_to_peer(&request, "\r\n0\r\nDigest: bytes=10\r\nX-Kind: a b\r\n\r\n"), 0);
        CHECK(strstr(peer.seen, "\r\ntrailer: Digest, X-Kind\r\n"));
        CHECK(!strstr(peer.seen, "\r\nTrailer:"));
        return 0;
}

TEST(trailers_have_the_values_at_the_end_of_the_body)
{
        http_run(trailers_are_sent, NULL);
}

/* The result of a request with trailers; all but 'last' are valid. */
static int result_of(const char *name, const char *value, size_t count, int64_t bytes)
{
        struct eddy_http_header trailers[ED_HTTP1_TRAILERS_MAX + 1], unused;
        struct body body = { .trailer = &unused };
        const struct eddy_http_body_source source = { .read = body_read,
                                                      .arg = &body,
                                                      .bytes = bytes,
                                                      .trailers = trailers,
                                                      .trailers_count = count };

        for (size_t i = 0; i < count; i++)
                trailers[i] = (struct eddy_http_header){ "X-Valid", "1" };
        trailers[count - 1] = (struct eddy_http_header){ name, value };
        return send_to_peer(&(struct eddy_http_request){ .body_source = &source }, "\r\n0\r\n");
}

#define REFUSED(...) CHECK_ERR(result_of(__VA_ARGS__), EDDY_E_HTTP_INVALID_REQUEST)

static int trailers_are_refused(void *arg)
{
        static const char *const forbidden[] = { "Content-Length",
                                                 "transfer-encoding",
                                                 "HOST",
                                                 "Authorization",
                                                 "Trailer",
                                                 "Cookie",
                                                 "TE" };
        static char value[ED_HTTP1_TRAILERS_BYTES_MAX + 1];

        (void) arg;
        for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
                REFUSED(forbidden[i], "1", 1, -1);
                CHECK_STR(peer.seen, "");
        }
        REFUSED("", "1", 1, -1);
        REFUSED("a:", "1", 2, -1);
        REFUSED(NULL, "1", 1, -1);
        REFUSED("X-A", "1", 1, BODY_BYTES);
        REFUSED("X-A", "1", ED_HTTP1_TRAILERS_MAX + 1, -1);
        CHECK_STR(peer.seen, "");
        REFUSED("X-A", "1\r\nX-B: 2", 1, -1);
        CHECK(!peer.is_whole && !strstr(peer.seen, "X-B"));
        CHECK_EQ(result_of("X-A", "1", ED_HTTP1_TRAILERS_MAX, -1), 0);

        /* "X-A: ", the value, and two line ends. */
        memset(value, 'v', sizeof(value));
        value[ED_HTTP1_TRAILERS_BYTES_MAX - 9] = '\0';
        CHECK_EQ(result_of("X-A", value, 1, -1), 0);
        value[ED_HTTP1_TRAILERS_BYTES_MAX - 9] = 'v';
        value[ED_HTTP1_TRAILERS_BYTES_MAX - 8] = '\0';
        REFUSED("X-A", value, 1, -1);
        return 0;
}

TEST(trailers_that_cannot_be_sent_are_refused)
{
        http_run(trailers_are_refused, NULL);
}

/* A server of eddy reads the limit that the client keeps. */
static int largest_trailers(void *arg)
{
        static char value[ED_HTTP1_TRAILERS_BYTES_MAX];
        struct eddy_http_header trailer = { "X-A", value }, unused;
        struct body body = { .trailer = &unused };
        const struct eddy_http_body_source source = { .read = body_read,
                                                      .arg = &body,
                                                      .bytes = -1,
                                                      .trailers = &trailer,
                                                      .trailers_count = 1 };
        eddy_http_response *response;
        eddy_http_client *client;

        (void) arg;
        memset(value, 'v', sizeof(value));
        value[ED_HTTP1_TRAILERS_BYTES_MAX - 9] = '\0';
        CHECK_EQ(eddy_http_client_new(OPTIONS(.handler = http_echo), &client), 0);
        CHECK_EQ(eddy_http_client_send(
                         client,
                         &(struct eddy_http_request){ .url = "http://a/", .body_source = &source },
                         &response),
                 0);
        CHECK_EQ(eddy_http_response_status(response), 200);
        eddy_http_response_close(response);
        eddy_http_client_close(client);
        return 0;
}

TEST(largest_trailers_are_accepted_by_a_server)
{
        http_run(largest_trailers, NULL);
}
