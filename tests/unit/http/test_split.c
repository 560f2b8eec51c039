/*
 * test_split.c - a message that comes in two reads, cut at each place: what its
 * head gave before the body was read holds after it, and is given again, in
 * whichever way the body is read.  For requests and for responses.
 */
#include "http_test.h"

enum {
        TEXT_MAX = 40000,
        HEADERS_MAX = 6,
        CUT_DENSE = 600, /* shorter texts are cut at each place */
        CUT_STEP = 211,
        NEAR = 40, /* as are this many bytes around the ends of heads and bodies */
};

/* How a body is read. */
enum way { WHOLE, BY_3, BY_5000, FIRST_3, NOT_AT_ALL, WAYS };

/* ---- a message ------------------------------------------------------------- */

enum framing { BY_LENGTH, CHUNKED, UNTIL_CLOSE };

struct shape {
        const char *claim;
        const char *before; /* what comes on the connection before it */
        size_t filler;      /* bytes of a field that makes the head large */
        size_t body_bytes;
        enum framing framing;
};

struct message {
        char text[TEXT_MAX];
        size_t bytes;
        size_t body_at; /* in the text */
        struct eddy_http_header headers[HEADERS_MAX];
        size_t headers_count;
        char filler[TEXT_MAX];
        char length[24];
        char body[TEXT_MAX];
        size_t body_bytes;
};

static void text_add(struct message *message, const char *data, size_t bytes)
{
        CHECK(message->bytes + bytes < sizeof(message->text));
        memcpy(message->text + message->bytes, data, bytes);
        message->bytes += bytes;
        message->text[message->bytes] = '\0';
}

static void text_add_str(struct message *message, const char *text)
{
        text_add(message, text, strlen(text));
}

static void field_add(struct message *message, const char *name, const char *value)
{
        CHECK(message->headers_count < HEADERS_MAX);
        message->headers[message->headers_count++] = (struct eddy_http_header){ name, value };
        text_add_str(message, name);
        text_add_str(message, ": ");
        text_add_str(message, value);
        text_add_str(message, "\r\n");
}

static void body_add(struct message *message, enum framing framing)
{
        char size[24];

        for (size_t at = 0, n; at < message->body_bytes; at += n) {
                n = message->body_bytes - at;
                if (framing == CHUNKED) {
                        n = n > 700 ? 700 : n;
                        snprintf(size, sizeof(size), "%zx;a=b\r\n", n);
                        text_add_str(message, size);
                }
                text_add(message, message->body + at, n);
                if (framing == CHUNKED)
                        text_add_str(message, "\r\n");
        }
        if (framing == CHUNKED)
                text_add_str(message, "0\r\n\r\n");
}

static void message_make(struct message *message, const struct shape *shape, const char *first)
{
        memset(message, 0, sizeof(*message));
        message->body_bytes = shape->body_bytes;
        for (size_t i = 0; i < message->body_bytes; i++)
                message->body[i] = (char) ('a' + i % 26);
        text_add_str(message, shape->before);
        text_add_str(message, first);
        field_add(message, "Host", "h.example:81");
        field_add(message, "X-First", "one");
        if (shape->filler > 0) {
                memset(message->filler, 'f', shape->filler);
                field_add(message, "X-Filler", message->filler);
        }
        snprintf(message->length, sizeof(message->length), "%zu", shape->body_bytes);
        if (shape->framing == BY_LENGTH)
                field_add(message, "Content-Length", message->length);
        else if (shape->framing == CHUNKED)
                field_add(message, "Transfer-Encoding", "chunked");
        field_add(message, "X-Last", "two");
        text_add_str(message, "\r\n");
        message->body_at = message->bytes;
        body_add(message, shape->framing);
}

/* The places to cut at: all of a short text, and of a long one those that differ. */
static size_t cut_after(const struct message *message, size_t cut)
{
        size_t ends[] = { 0, message->body_at, message->bytes };

        if (message->bytes < CUT_DENSE)
                return cut + 1;
        for (size_t i = 0; i < 3; i++)
                if (cut + NEAR >= ends[i] && cut < ends[i] + NEAR)
                        return cut + 1;
        for (size_t i = 0; i < 3; i++)
                if (cut < ends[i] && cut + CUT_STEP + NEAR > ends[i])
                        return ends[i] - NEAR;
        return cut + CUT_STEP;
}

/* ---- what its head gives --------------------------------------------------- */

static struct message expected;
static const struct shape *shape_now;
static enum way way_now;
static size_t cut_now;

__attribute__((noreturn)) static void differs(const char *what, const char *when, const char *text)
{
        test_fail(__FILE__, __LINE__, "%s, way %d, cut at %zu: %s %s is '%.60s'", shape_now->claim,
                  way_now, cut_now, what, when, text ? text : "(null)");
}

static void check_text(const char *what, const char *when, const char *text, const char *wanted)
{
        if (!text || strcmp(text, wanted) != 0)
                differs(what, when, text);
}

static void check_headers(const struct eddy_http_header *headers, const char *when)
{
        for (size_t i = 0; i < expected.headers_count; i++) {
                check_text("a name", when, headers[i].name, expected.headers[i].name);
                check_text(expected.headers[i].name, when, headers[i].value,
                           expected.headers[i].value);
        }
}

static void check_body(const char *data, size_t bytes, size_t at)
{
        CHECK(at + bytes <= expected.body_bytes);
        if (memcmp(data, expected.body + at, bytes) != 0)
                differs("the body", "as read", data);
}

typedef int64_t read_fn(void *from, void *buf, size_t bytes);
typedef int body_fn(void *from, const void **ret_data, size_t *ret_bytes);

/* Read the body in the present way. */
static void read_body(void *from, read_fn *read, body_fn *body)
{
        size_t piece = way_now == BY_5000 ? 5000 : 3, at = 0, bytes = 0;
        const void *data = NULL;
        char buf[5000];
        int64_t n = 1;

        if (way_now == NOT_AT_ALL)
                return;
        while (way_now != WHOLE && n > 0 && (way_now != FIRST_3 || at == 0)) {
                n = read(from, buf, piece);
                CHECK(n >= 0);
                check_body(buf, (size_t) n, at);
                at += (size_t) n;
        }
        if (way_now == WHOLE || way_now == FIRST_3) {
                CHECK_EQ(body(from, &data, &bytes), 0);
                check_body(data, bytes, at);
                at += bytes;
        }
        CHECK_EQ(at, expected.body_bytes);
}

/* ---- requests -------------------------------------------------------------- */

#define TARGET "/a%20b/c?token=x&u=v?w"

struct given {
        const char *method, *target, *path, *query, *host;
        struct eddy_http_header headers[HEADERS_MAX];
};

static void given_take(const eddy_http_exchange *exchange, struct given *ret_given)
{
        struct eddy_http_header header;

        ret_given->method = eddy_http_exchange_method(exchange);
        ret_given->target = eddy_http_exchange_target(exchange);
        ret_given->path = eddy_http_exchange_path(exchange);
        ret_given->query = eddy_http_exchange_query(exchange);
        ret_given->host = eddy_http_exchange_host(exchange);
        CHECK_STR(eddy_http_exchange_header(exchange, "hOST"), "h.example:81");
        for (size_t i = 0; i < expected.headers_count; i++)
                CHECK_EQ(eddy_http_exchange_header_at(exchange, i, &ret_given->headers[i]), 0);
        CHECK_EQ(eddy_http_exchange_header_at(exchange, expected.headers_count, &header), -ENOENT);
}

static void given_check(const struct given *given, const char *when)
{
        check_text("the method", when, given->method, "POST");
        check_text("the target", when, given->target, TARGET);
        check_text("the path", when, given->path, "/a%20b/c");
        check_text("the query", when, given->query, "token=x&u=v?w");
        check_text("the host", when, given->host, "h.example:81");
        check_headers(given->headers, when);
}

static int64_t exchange_read(void *from, void *buf, size_t bytes)
{
        return eddy_http_exchange_read(from, buf, bytes);
}

static int exchange_body(void *from, const void **ret_data, size_t *ret_bytes)
{
        return eddy_http_exchange_body(from, ret_data, ret_bytes);
}

static int handle(eddy_http_exchange *exchange, void *arg)
{
        struct given before, after;
        int *handled = arg, err;

        if (strcmp(eddy_http_exchange_path(exchange), "/before") == 0)
                return eddy_http_exchange_respond(exchange, 204, NULL, 0, NULL, 0);
        given_take(exchange, &before);
        given_check(&before, "at first");
        read_body(exchange, exchange_read, exchange_body);
        given_check(&before, "after the body");
        given_take(exchange, &after);
        given_check(&after, "given again");
        err = eddy_http_exchange_respond(exchange, 200, NULL, 0, "fine", 4);
        given_check(&before, "after the response");
        ++*handled;
        return err;
}

struct host {
        eddy_listener *listener;
        int handled;
};

static int serve(void *arg)
{
        struct host *host = arg;

        return eddy_http_serve(host->listener, NULL, handle, &host->handled);
}

static void send_cut(eddy_stream *stream, const char *text, size_t bytes, size_t cut)
{
        if (cut > 0)
                CHECK_EQ(eddy_stream_write(stream, text, cut), 0);
        http_pause(EDDY_MS(1));
        if (bytes > cut)
                CHECK_EQ(eddy_stream_write(stream, text + cut, bytes - cut), 0);
}

static void ask_cut(struct host *host)
{
        uint16_t port = eddy_listener_port(host->listener);
        int before = host->handled;
        eddy_stream *stream;
        char buf[2000];

        CHECK_EQ(eddy_tcp_connect("127.0.0.1", port, NULL, &stream), 0);
        send_cut(stream, expected.text, expected.bytes, cut_now);
        if (!read_until(stream, buf, sizeof(buf), "\r\n\r\nfine"))
                differs("the answer", "at the end", buf);
        CHECK_EQ(host->handled, before + 1);
        eddy_stream_close(stream);
}

#define BEFORE "GET /before HTTP/1.1\r\nHost: h\r\n\r\n"

static const struct shape requests[] = {
        { "length", "", 0, 60, BY_LENGTH },
        { "chunks", "", 0, 60, CHUNKED },
        { "behind another request", BEFORE, 0, 60, BY_LENGTH },
        { "chunks behind another request", BEFORE, 0, 60, CHUNKED },
        { "a body larger than the buffer", "", 0, 9000, BY_LENGTH },
        { "chunks larger than the buffer", BEFORE, 0, 9000, CHUNKED },
        { "a head larger than the buffer", BEFORE, 6000, 500, BY_LENGTH },
        { "a head that fills the buffer", "", 3900, 100, BY_LENGTH },
};

static int ask_all(void *arg)
{
        struct host host = { 0 };
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &host.listener), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, serve, &host), 0);
        for (cut_now = 0; cut_now <= expected.bytes; cut_now = cut_after(&expected, cut_now))
                ask_cut(&host);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_listener_close(host.listener);
        return 0;
}

static void sweep_request(const struct shape *shape)
{
        shape_now = shape;
        message_make(&expected, shape, "POST " TARGET " HTTP/1.1\r\n");
        for (way_now = 0; way_now < WAYS; way_now++)
                http_run(ask_all, NULL);
}

TEST(values_of_a_request_hold_after_its_body_wherever_it_was_cut)
{
        for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
                sweep_request(&requests[i]);
}

/* ---- responses ------------------------------------------------------------- */

static int64_t response_read(void *from, void *buf, size_t bytes)
{
        return eddy_http_response_read(from, buf, bytes);
}

static int response_body(void *from, const void **ret_data, size_t *ret_bytes)
{
        return eddy_http_response_body(from, ret_data, ret_bytes);
}

/* The servers's side: one connection, one request. */
static int answer_cut(void *arg)
{
        eddy_listener *listener = arg;
        eddy_stream *stream;
        char buf[1000];

        CHECK_EQ(eddy_listener_accept(listener, &stream), 0);
        CHECK(read_until(stream, buf, sizeof(buf), "\r\n\r\n"));
        send_cut(stream, expected.text, expected.bytes, cut_now);
        eddy_stream_close(stream);
        return 0;
}

static void headers_take(const eddy_http_response *response, struct eddy_http_header *ret_headers)
{
        struct eddy_http_header header;

        for (size_t i = 0; i < expected.headers_count; i++) {
                CHECK_EQ(eddy_http_response_header_at(response, i, &ret_headers[i]), 0);
                check_text("by name", "at any time",
                           eddy_http_response_header(response, expected.headers[i].name),
                           expected.headers[i].value);
        }
        CHECK_EQ(eddy_http_response_header_at(response, expected.headers_count, &header), -ENOENT);
}

static void fetch_cut(eddy_http_client *client, eddy_listener *listener)
{
        struct eddy_http_header before[HEADERS_MAX], after[HEADERS_MAX];
        eddy_http_response *response;
        char url[64];

        snprintf(url, sizeof(url), "http://127.0.0.1:%u/", eddy_listener_port(listener));
        CHECK_EQ(
                eddy_http_client_send(client, &(struct eddy_http_request){ .url = url }, &response),
                0);
        CHECK_EQ(eddy_http_response_status(response), 200);
        headers_take(response, before);
        check_headers(before, "at first");
        read_body(response, response_read, response_body);
        check_headers(before, "after the body");
        CHECK_EQ(eddy_http_response_discard(response), 0);
        check_headers(before, "after the connection was given back");
        headers_take(response, after);
        check_headers(after, "given again");
        CHECK_EQ(eddy_http_response_status(response), 200);
        eddy_http_response_close(response);
}

#define HINT "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"

static const struct shape responses[] = {
        { "length", "", 0, 60, BY_LENGTH },
        { "chunks", "", 0, 60, CHUNKED },
        { "until close", "", 0, 60, UNTIL_CLOSE },
        { "behind a hint", HINT, 0, 60, BY_LENGTH },
        { "chunks behind hints", HINT HINT, 0, 60, CHUNKED },
        { "a body larger than the buffer", "", 0, 20000, BY_LENGTH },
        { "chunks larger than the buffer", "", 0, 20000, CHUNKED },
        { "until close, larger than the buffer", HINT, 0, 20000, UNTIL_CLOSE },
        { "a head that fills the buffer", HINT, 7000, 12000, BY_LENGTH },
};

static int fetch_all(void *arg)
{
        eddy_listener *listener;
        eddy_http_client *client;
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        CHECK_EQ(eddy_http_client_new(NULL, &client), 0);
        for (cut_now = 0; cut_now <= expected.bytes; cut_now = cut_after(&expected, cut_now)) {
                eddy_scope_begin(&scope, NULL);
                CHECK_EQ(eddy_scope_start(&scope, answer_cut, listener), 0);
                fetch_cut(client, listener);
                CHECK_EQ(eddy_scope_end(&scope), 0);
        }
        eddy_http_client_close(client);
        eddy_listener_close(listener);
        return 0;
}

/* B35: A message means the same wherever it is cut. */
TEST(values_of_a_response_hold_after_its_body_wherever_it_was_cut)
{
        for (size_t i = 0; i < sizeof(responses) / sizeof(responses[0]); i++) {
                shape_now = &responses[i];
                message_make(&expected, shape_now, "HTTP/1.1 200 OK\r\n");
                for (way_now = 0; way_now < WAYS; way_now++)
                        http_run(fetch_all, NULL);
        }
}
