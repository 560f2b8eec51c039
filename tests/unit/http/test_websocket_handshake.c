/*
 * test_websocket_handshake.c - the requests and answers that begin a WebSocket (RFC 6455, 4).
 *
 * - A server accepts each valid request, and answers all others with a status that says why.
 * - A page of another site is refused unless the program allows its origin.
 * - A client takes a connection only if the answer is for its own key and has what was offered.
 */
#include <string.h>

#include "http/websocket.h"
#include "server_test.h"

#define KEY "dGhlIHNhbXBsZSBub25jZQ=="

/* ---- requests ---------------------------------------------------------------------- */

static struct eddy_websocket_opts opts;
static int result; /* of the last accept */
static char protocol[32];

static int accept_one(eddy_http_exchange *exchange, void *arg)
{
        EDDY_AUTO(eddy_websocket) eddy_websocket *websocket = NULL;
        struct eddy_websocket_message message;

        (void) arg;
        result = eddy_websocket_accept(exchange, &opts, &websocket);
        if (result < 0)
                return result;
        snprintf(protocol, sizeof(protocol), "%s", eddy_websocket_protocol(websocket));
        return eddy_websocket_read(websocket, &message);
}

static void prepare(struct site *site)
{
        site->handler = accept_one;
}

/* A request line, 'headers', and the usual ones that are not among them. */
static const struct answer *ask_with(struct site *site, const char *line, const char *headers)
{
        static const char *const usual[] = { "Host: a.example:8080", "Upgrade: websocket",
                                             "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                                             ("Sec-WebSocket-Key: " KEY) };
        char text[2048];
        int n = snprintf(text, sizeof(text), "%s\r\n%s", line, headers);

        for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
                char name[40];

                snprintf(name, sizeof(name), "%.*s:", (int) strcspn(usual[i], ":"), usual[i]);
                if (!strstr(headers, name))
                        n += snprintf(text + n, sizeof(text) - (size_t) n, "%s\r\n", usual[i]);
        }
        n += snprintf(text + n, sizeof(text) - (size_t) n, "\r\n");
        /* a close of WebSocket; after another answer than 101, not a request */
        memcpy(text + n, "\x88\x80\0\0\0\0\r\n\r\n", 10);
        return ask_bytes(site, text, (size_t) n + 10);
}

#define GET "GET / HTTP/1.1"

static const struct {
        const char *line, *headers;
        const char *part; /* of the answer */
} requests[] = {
        { GET, "", "HTTP/1.1 101 " },
        { GET, "", "\r\nUpgrade: websocket\r\n" },
        { GET, "", "\r\nConnection: Upgrade\r\n" },
        { GET, "", "\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n" },
        { GET, "", "\r\n\r\n\x88" }, /* the answer to the close */
        { GET, "Upgrade: h2c, WebSocket\r\nConnection: keep-alive, UPGRADE\r\n", "HTTP/1.1 101 " },
        { GET, "Sec-WebSocket-Extensions: permessage-deflate\r\n", "HTTP/1.1 101 " },
        { GET, "Connection: notupgrade\r\n", "HTTP/1.1 426 " },
        { GET, "Connection: close\r\n", "HTTP/1.1 426 " },
        { GET, "Upgrade: websockets\r\n", "HTTP/1.1 426 " },
        { GET, "Upgrade: websockets\r\n", "\r\nUpgrade: websocket\r\n" },
        { GET, "Upgrade: websockets\r\n", "\r\nConnection: Upgrade\r\n" },
        { GET, "Content-Length: 0\r\n", "HTTP/1.1 101 " },
        { GET, "Content-Length: 10\r\n", "HTTP/1.1 400 " },
        { GET, "Content-Length: 10\r\n", "a WebSocket's request has no body" },
        { GET, "Transfer-Encoding: chunked\r\n", "HTTP/1.1 400 " },
        { "GET / HTTP/1.0", "", "HTTP/1.1 426 " },
        { "POST / HTTP/1.1", "Content-Length: 0\r\n", "HTTP/1.1 400 " },
        { GET, "Sec-WebSocket-Version: 8\r\n", "HTTP/1.1 426 " },
        { GET, "Sec-WebSocket-Version: 8\r\n", "\r\nSec-WebSocket-Version: 13\r\n" },
        { GET, "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Version: 13\r\n", "HTTP/1.1 426 " },
        { GET, "Sec-WebSocket-Key: \r\n", "HTTP/1.1 400 " },
        { GET, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=\r\n", "HTTP/1.1 400 " },
        { GET, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQQQ\r\n", "HTTP/1.1 400 " },
        { GET, "Sec-WebSocket-Key: dGhl!HNhbXBsZSBub25jZQ==\r\n", "HTTP/1.1 400 " },
        { GET, "Sec-WebSocket-Key: " KEY "\r\nSec-WebSocket-Key: " KEY "\r\n", "HTTP/1.1 400 " },
};

static void see_requests(struct site *site)
{
        for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
                const struct answer *got = ask_with(site, requests[i].line, requests[i].headers);

                CHECK_HAS(got->text, requests[i].part);
                CHECK_EQ(result, strstr(got->text, " 101 ") ? 0 : EDDY_E_WEBSOCKET_HANDSHAKE);
        }
}

TEST(a_valid_request_is_accepted_and_each_other_is_answered_with_the_reason)
{
        opts = (struct eddy_websocket_opts){ 0 };
        site_run_prepared(NULL, false, prepare, see_requests);
}

static const char *const listed[] = { "https://app.example.com", "null" };

static const struct {
        const char *headers;
        bool is_listed, is_any, is_accepted;
} origins[] = {
        { "Origin: http://a.example:8080\r\n", false, false, true },
        { "Origin: HTTPS://A.Example:8080\r\n", false, false, true },
        { "Host: a.example:443\r\nOrigin: https://a.example\r\n", false, false, true },
        { "Host: a.example:80\r\nOrigin: http://a.example\r\n", false, false, true },
        { "Host: a.example\r\nOrigin: https://a.example\r\n", false, false, true },
        { "Host: a.example:80\r\nOrigin: https://a.example\r\n", false, false, false },
        { "Origin: http://a.example\r\n", false, false, false },
        { "Origin: http://a.example:80801\r\n", false, false, false },
        { "Origin: http://a.example:808\r\n", false, false, false },
        { "Origin: http://b.a.example:8080\r\n", false, false, false },
        { "Origin: http://evil.example\r\n", false, false, false },
        { "Origin: http://a.example:8080.evil.example\r\n", false, false, false },
        { "Origin: http://\r\n", false, false, false },
        { "Origin: \r\n", false, false, false },
        { "Origin: null\r\n", false, false, false },
        { "Origin: a.example:8080\r\n", false, false, false },
        { "Origin: http://a.example:8080\r\nOrigin: http://evil.example\r\n", false, false, false },
        { "Origin: https://app.example.com\r\n", true, false, true },
        { "Origin: http://app.example.com\r\n", true, false, false },
        { "Origin: null\r\n", true, false, true },
        { "Origin: http://evil.example\r\n", true, false, false },
        { "Origin: http://evil.example\r\n", false, true, true },
};

static void see_origins(struct site *site)
{
        for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++) {
                const struct answer *got;

                opts = (struct eddy_websocket_opts){
                        .origins = listed,
                        .origins_count = origins[i].is_listed ? 2 : 0,
                        .flags = origins[i].is_any ? EDDY_WEBSOCKET_ANY_ORIGIN : 0,
                };
                got = ask_with(site, GET, origins[i].headers);
                if (got->status != (origins[i].is_accepted ? 0 : 403) ||
                    !strstr(got->text, " 101 ") == origins[i].is_accepted)
                        test_fail(__FILE__, __LINE__, "%s: %s", origins[i].headers, got->text);
        }
}

TEST(a_page_of_another_site_may_connect_only_if_its_origin_is_allowed)
{
        site_run_prepared(NULL, false, prepare, see_origins);
}

static void see_protocols(struct site *site)
{
        static const char *const known[] = { "chat.v2", "chat" };
        static const struct {
                const char *headers, *chosen;
        } rows[] = {
                { "", "" },
                { "Sec-WebSocket-Protocol: chat\r\n", "chat" },
                { "Sec-WebSocket-Protocol: Chat, chats, xchat\r\n", "" },
                { "Sec-WebSocket-Protocol: x, chat ,chat.v2\r\n", "chat.v2" },
                { "Sec-WebSocket-Protocol: chat\r\nSec-WebSocket-Protocol: chat.v2\r\n",
                  "chat.v2" },
                { "Sec-WebSocket-Protocol: ,,\r\n", "" },
        };

        opts = (struct eddy_websocket_opts){ .protocols = known, .protocols_count = 2 };
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                const struct answer *got = ask_with(site, GET, rows[i].headers);
                char header[64];

                CHECK_HAS(got->text, " 101 ");
                CHECK_STR(protocol, rows[i].chosen);
                snprintf(header, sizeof(header), "Sec-WebSocket-Protocol: %s\r\n", rows[i].chosen);
                if (*rows[i].chosen)
                        CHECK_HAS(got->text, header);
                else
                        CHECK_HAS_NOT(got->text, "Sec-WebSocket-Protocol");
        }
}

TEST(a_server_takes_the_first_of_its_own_subprotocols_that_is_offered)
{
        site_run_prepared(NULL, false, prepare, see_protocols);
}

/* ---- answers ----------------------------------------------------------------------- */

static const char *const offered[] = { "chat", "log" };

/* "KEY" becomes the answer to the key. */
static const struct {
        struct eddy_http_header headers[4];
        const char *why; /* NULL: valid */
} answers[] = {
        { { { "Upgrade", "websocket" }, { "Sec-WebSocket-Accept", "KEY" } }, NULL },
        { { { "Upgrade", "WebSocket" }, { "Sec-WebSocket-Accept", "KEY" } }, NULL },
        { { { "Upgrade", "websocket" },
            { "Sec-WebSocket-Accept", "KEY" },
            { "Sec-WebSocket-Protocol", "log" } },
          NULL },
        { { { "Upgrade", "echo" }, { "Sec-WebSocket-Accept", "KEY" } },
          "the server's header Upgrade is not \"websocket\"" },
        { { { "Upgrade", "websocket" } },
          "the server's Sec-WebSocket-Accept does not answer the key" },
        { { { "Upgrade", "websocket" },
            { "Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" } },
          "the server's Sec-WebSocket-Accept does not answer the key" },
        { { { "Upgrade", "websocket" },
            { "Sec-WebSocket-Accept", "KEY" },
            { "Sec-WebSocket-Accept", "KEY" } },
          "the server's Sec-WebSocket-Accept does not answer the key" },
        { { { "Upgrade", "websocket" },
            { "Sec-WebSocket-Accept", "KEY" },
            { "Sec-WebSocket-Extensions", "permessage-deflate" } },
          "the server uses an extension that was not offered" },
        { { { "Upgrade", "websocket" },
            { "Sec-WebSocket-Accept", "KEY" },
            { "Sec-WebSocket-Protocol", "Chat" } },
          "the server's Sec-WebSocket-Protocol was not offered" },
        { { { "Upgrade", "websocket" },
            { "Sec-WebSocket-Accept", "KEY" },
            { "Sec-WebSocket-Protocol", "chat" },
            { "Sec-WebSocket-Protocol", "chat" } },
          "the server's Sec-WebSocket-Protocol was not offered" },
};

static size_t row;

static int answer_row(eddy_http_exchange *exchange, void *arg)
{
        struct eddy_http_header headers[4];
        char accept[ED_WEBSOCKET_ACCEPT_CHARS + 1], byte;
        eddy_stream *stream;
        const void *early;
        size_t n = 0, bytes;

        (void) arg;
        CHECK_STR(eddy_http_exchange_header(exchange, "Upgrade"), "websocket");
        CHECK_STR(eddy_http_exchange_header(exchange, "Connection"), "Upgrade");
        CHECK_STR(eddy_http_exchange_header(exchange, "Sec-WebSocket-Version"), "13");
        CHECK_STR(eddy_http_exchange_header(exchange, "Sec-WebSocket-Protocol"), "chat, log");
        CHECK_STR(eddy_http_exchange_header(exchange, "X-More"), "1");
        CHECK_EQ(ed_websocket_accept_of(eddy_http_exchange_header(exchange, "Sec-WebSocket-Key"),
                                        accept),
                 0);
        for (; n < 4 && answers[row].headers[n].name; n++) {
                headers[n] = answers[row].headers[n];
                if (strcmp(headers[n].value, "KEY") == 0)
                        headers[n].value = accept;
        }
        CHECK_EQ(eddy_http_exchange_upgrade(exchange, headers, n, &stream, &early, &bytes), 0);
        while (eddy_stream_read(stream, &byte, 1) > 0)
                ;
        eddy_stream_close(stream);
        return 0;
}

static int connect_rows(void *arg)
{
        static const struct eddy_http_header more = { "X-More", "1" };
        struct eddy_http_fault fault;
        const struct eddy_websocket_opts wanted = { .protocols = offered,
                                                    .protocols_count = 2,
                                                    .headers = &more,
                                                    .headers_count = 1,
                                                    .close_ns = EDDY_MS(1),
                                                    .ret_fault = &fault };
        eddy_http_client *client;

        (void) arg;
        CHECK_EQ(eddy_http_client_new(OPTIONS(.handler = answer_row), &client), 0);
        for (row = 0; row < sizeof(answers) / sizeof(answers[0]); row++) {
                eddy_websocket *websocket = NULL;
                int err = eddy_websocket_connect(client, row % 2 ? "ws://a/" : "http://a/?b",
                                                 &wanted, &websocket);

                CHECK_EQ(err, answers[row].why ? EDDY_E_WEBSOCKET_HANDSHAKE : 0);
                if (answers[row].why)
                        CHECK_STR(fault.text, answers[row].why);
                else
                        CHECK_STR(eddy_websocket_protocol(websocket), row == 2 ? "log" : "");
                eddy_websocket_close(websocket, 0, NULL);
        }
        eddy_http_client_close(client);
        return 0;
}

TEST(a_client_takes_only_an_answer_to_its_own_key_that_fits_its_offer)
{
        http_run(connect_rows, NULL);
}

static int refuse_all(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_exchange_respond(exchange, 403, NULL, 0, "no", 2);
}

static int connect_wrong(void *arg)
{
        static const struct eddy_http_header own[] = { { "Sec-WebSocket-Key", KEY },
                                                       { "upgrade", "x" },
                                                       { "CONNECTION", "x" } };
        static const char *const no_tokens[] = { "a b", "", NULL };
        struct eddy_http_fault fault;
        struct eddy_websocket_opts wanted = { .ret_fault = &fault };
        eddy_websocket *websocket = NULL;
        eddy_http_client *client;

        (void) arg;
        CHECK_EQ(eddy_http_client_new(OPTIONS(.handler = refuse_all), &client), 0);
        CHECK_ERR(eddy_websocket_connect(client, "wss://a/", &wanted, &websocket),
                  EDDY_E_WEBSOCKET_HANDSHAKE);
        CHECK_EQ(fault.status, 403);
        CHECK_STR(fault.text, "the server answered 403 instead of 101");
        CHECK_ERR(eddy_websocket_connect(client, "ftp://a/", &wanted, &websocket),
                  EDDY_E_URL_SCHEME);
        CHECK_STR(fault.text, "url: write ws:// or wss://");
        CHECK_ERR(eddy_websocket_connect(NULL, "ws://a/", NULL, &websocket), -EINVAL);
        CHECK_ERR(eddy_websocket_connect(client, NULL, NULL, &websocket), -EINVAL);
        CHECK_ERR(eddy_websocket_connect(client, "ws://a/", NULL, NULL), -EINVAL);
        for (size_t i = 0; i < 3; i++) {
                wanted = (struct eddy_websocket_opts){ .headers = own + i, .headers_count = 1 };
                CHECK_ERR(eddy_websocket_connect(client, "ws://a/", &wanted, &websocket), -EINVAL);
                wanted = (struct eddy_websocket_opts){ .protocols = no_tokens + i,
                                                       .protocols_count = 1 };
                CHECK_ERR(eddy_websocket_connect(client, "ws://a/", &wanted, &websocket), -EINVAL);
        }
        CHECK(websocket == NULL);
        eddy_http_client_close(client);
        return 0;
}

TEST(a_status_other_than_101_and_options_that_are_wrong_are_errors)
{
        http_run(connect_wrong, NULL);
}
