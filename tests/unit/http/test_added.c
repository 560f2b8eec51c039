/*
 * test_added.c - headers that a handler adds before its answer begins: they are copied, checked and
 * limited, they end with their request, and the server's own answers have those that suit them.
 */
#include <string.h>

#include "server_test.h"

#define GET(path)  "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"
#define LAST(path) "GET " path " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

static int add(eddy_http_exchange *exchange, const char *name, const char *value)
{
        return eddy_http_exchange_add_header(exchange, name, value);
}

static int add_copied(eddy_http_exchange *exchange)
{
        char name[] = "X-Id", value[] = "7";

        CHECK_EQ(add(exchange, name, value), 0);
        memset(name, 'z', 4);
        value[0] = '8';
        CHECK_EQ(add(exchange, "ETag", "\"e\""), 0);
        return add(exchange, "Content-Type", "text/html");
}

static void refuse_bad(eddy_http_exchange *exchange)
{
        static const struct eddy_http_header bad[] = {
                { NULL, "1" },
                { "x", NULL },
                { "", "1" },
                { "x y", "1" },
                { "x", "a\r\nEvil: 1" },
                { "Content-Length", "3" },
                { "Connection", "keep" },
                { "transfer-encoding", "gzip" },
        };

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                CHECK_ERR(add(exchange, bad[i].name, bad[i].value), EDDY_E_HTTP_INVALID_ANSWER);
}

static int fill(eddy_http_exchange *exchange)
{
        static char value[1000];
        int n = 0, err;

        memset(value, 'v', sizeof(value) - 1);
        while ((err = add(exchange, "X", value)) == 0)
                n++;
        CHECK_EQ(n, 16);
        return err;
}

static int answer(eddy_http_exchange *exchange, const char *path)
{
        static const struct eddy_http_header own = { "X-Id", "own" };

        if (strcmp(path, "/whole") == 0)
                return eddy_http_exchange_respond(exchange, 200, &own, 1, "abc", 3);
        if (strcmp(path, "/parts") == 0) {
                CHECK_EQ(eddy_http_exchange_begin(exchange, 200, NULL, 0, 0), 0);
                CHECK_ERR(add(exchange, "X", "1"), EDDY_E_HTTP_STATE);
                return eddy_http_exchange_end(exchange);
        }
        if (strcmp(path, "/close") == 0) {
                CHECK_EQ(add(exchange, "Connection", "close"), 0);
                return eddy_http_exchange_respond(exchange, 200, NULL, 0, "abc", 3);
        }
        if (strcmp(path, "/bad") == 0)
                refuse_bad(exchange);
        if (strcmp(path, "/full") == 0)
                CHECK_ERR(fill(exchange), EDDY_E_HTTP_INVALID_ANSWER);
        if (strcmp(path, "/bad") == 0 || strcmp(path, "/full") == 0)
                return eddy_http_exchange_respond(exchange, 200, NULL, 0, "fine", 4);
        return strcmp(path, "/fail") == 0 ? -EIO : 0;
}

static int handle(eddy_http_exchange *exchange, void *arg)
{
        const char *path = eddy_http_exchange_path(exchange);
        int err = strcmp(path, "/plain") == 0 ? 0 : add_copied(exchange);

        (void) arg;
        return err < 0 ? err : answer(exchange, path);
}

static void prepare(struct site *site)
{
        site->handler = handle;
}

#define ADDED_TEST(claim)                                                                          \
        static void added_##claim(struct site *site);                                              \
        TEST(claim)                                                                                \
        {                                                                                          \
                site_run_prepared(NULL, false, prepare, added_##claim);                            \
        }                                                                                          \
        static void added_##claim(struct site *site)

ADDED_TEST(added_headers_come_before_those_of_the_answer)
{
        eddy_stream *stream = site_connect(site);

        CHECK_HAS(say(stream, GET("/whole"), "abc"),
                  "X-Id: 7\r\nETag: \"e\"\r\nContent-Type: text/html\r\nX-Id: own\r\n");
        CHECK_HAS(say(stream, GET("/parts"), "\r\n\r\n"), "X-Id: 7\r\n");
        CHECK_HAS_NOT(say(stream, GET("/plain"), "}"), "X-Id");
        eddy_stream_close(stream);
        CHECK_HAS(ask(site, GET("/close"))->text, "Connection: close\r\n");
}

ADDED_TEST(the_servers_own_answer_has_those_that_are_not_of_the_content)
{
        eddy_stream *stream = site_connect(site);
        const char *text = say(stream, GET("/none"), "}");
        const struct answer *failed;

        CHECK_HAS(text, "404 Not Found\r\nX-Id: 7\r\n");
        CHECK_HAS_NOT(text, "ETag");
        eddy_stream_close(stream);
        failed = ask(site, LAST("/fail"));
        CHECK_HAS(failed->text, "500 Internal Server Error\r\nX-Id: 7\r\n"
                                "Content-Type: application/problem+json");
        CHECK_HAS_NOT(failed->text, "text/html");
}

ADDED_TEST(headers_that_http_forbids_are_not_added)
{
        eddy_stream *stream = site_connect(site);

        CHECK_HAS_NOT(say(stream, GET("/bad"), "fine"), "Evil");
        CHECK_HAS(say(stream, GET("/full"), "fine"), "X: vvv");
        eddy_stream_close(stream);
}
