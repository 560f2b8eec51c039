/*
 * test_client.c - what the client sends, what it makes of responses that are
 * in order, and what its calls promise.
 */
#include <sys/socket.h>

#include "http_test.h"
#include "loop/loop.h"
#include "sim/sim.h"

static const struct eddy_http_request get_root = { .url = "/" };

/* ---- what is sent ---------------------------------------------------------- */

static void check_sent(const struct rig *rig, const char *part)
{
        if (!strstr(rig->peer.last, part))
                test_fail(__FILE__, __LINE__, "'%s' is not in '%s'", part, rig->peer.last);
}

static void check_not_sent(const struct rig *rig, const char *part)
{
        if (strcasestr(rig->peer.last, part))
                test_fail(__FILE__, __LINE__, "'%s' is in '%s'", part, rig->peer.last);
}

CLIENT_TEST(request_is_sent_with_its_needed_fields, NULL, SCRIPT(OK_2))
{
        char host[80];

        CHECK_EQ(rig_get(rig, "/a/b?c=d#e"), 0);
        check_sent(rig, "GET /a/b?c=d HTTP/1.1\r\n");
        snprintf(host, sizeof(host), "Host: %s\r\n", rig->url + strlen("http://"));
        check_sent(rig, host);
        check_sent(rig, "User-Agent: eddy/" EDDY_VERSION "\r\n");
        check_sent(rig, "Accept: */*\r\n");
        check_not_sent(rig, "content-length");
        check_not_sent(rig, "authorization");
        CHECK_STR(strstr(rig->peer.last, "\r\n\r\n"), "\r\n\r\n");
}

CLIENT_TEST(body_is_sent_as_post_with_its_length, NULL, SCRIPT(OK_2, OK_2))
{
        CHECK_EQ(rig_fetch(rig, &(struct eddy_http_request){ .url = "/",
                                                             .body = "hello",
                                                             .body_bytes = 5 }),
                 0);
        check_sent(rig, "POST / HTTP/1.1\r\n");
        check_sent(rig, "Content-Length: 5\r\n");
        CHECK_STR(strstr(rig->peer.last, "\r\n\r\n"), "\r\n\r\nhello");
}

CLIENT_TEST(post_without_body_says_so, NULL, SCRIPT(OK_2, OK_2))
{
        CHECK_EQ(rig_fetch(rig, &(struct eddy_http_request){ .url = "/", .method = "POST" }), 0);
        check_sent(rig, "Content-Length: 0\r\n");
        CHECK_EQ(rig_fetch(rig, &(struct eddy_http_request){ .url = "/", .method = "DELETE" }), 0);
        check_not_sent(rig, "content-length");
}

CLIENT_TEST(headers_of_the_caller_take_the_place_of_ours, OPTIONS(.user_agent = "mine/1"),
            SCRIPT(OK_2, OK_2))
{
        struct eddy_http_header headers[] = {
                { "host", "example.org" },
                { "USER-AGENT", "theirs" },
                { "accept", "text/plain" },
                { "x-more", "  a b\t" },
        };

        CHECK_EQ(rig_get(rig, "/"), 0);
        check_sent(rig, "User-Agent: mine/1\r\n");
        CHECK_EQ(rig_fetch(rig, &(struct eddy_http_request){ .url = "?q",
                                                             .headers = headers,
                                                             .headers_count = 4 }),
                 0);
        check_sent(rig, "GET /?q HTTP/1.1\r\n");
        check_sent(rig, "host: example.org\r\n");
        check_sent(rig, "USER-AGENT: theirs\r\n");
        check_sent(rig, "accept: text/plain\r\n");
        check_sent(rig, "x-more: a b\r\n");
        check_not_sent(rig, "127.0.0.1");
        check_not_sent(rig, "mine/1");
        check_not_sent(rig, "*/*");
}

/* User and password of the URL go into one header and nowhere else. */
CLIENT_TEST(credentials_of_the_url_are_sent_as_basic_authorization, NULL, SCRIPT(OK_2, OK_2, OK_2))
{
        struct eddy_http_header own = { "Authorization", "Bearer x" };
        struct eddy_http_request request = { 0 };
        static const struct {
                const char *userinfo, *expected;
        } cases[] = {
                { "Aladdin:open%20sesame",
                  "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n" },
                { "user", "Authorization: Basic dXNlcjo=\r\n" },
        };
        char url[128];

        for (size_t i = 0; i < 3; i++) {
                eddy_http_response *response;

                snprintf(url, sizeof(url), "http://%s@%s/p", cases[i % 2].userinfo,
                         rig->url + strlen("http://"));
                request.url = url;
                if (i == 2) {
                        request.headers = &own;
                        request.headers_count = 1;
                }
                CHECK_EQ(eddy_http_client_send(rig->client, &request, &response), 0);
                eddy_http_response_close(response);
                check_sent(rig, "GET /p HTTP/1.1\r\nHost: 127.0.0.1:");
                check_not_sent(rig, "Aladdin");
                check_not_sent(rig, "sesame");
                check_not_sent(rig, "@");
                if (i < 2)
                        check_sent(rig, cases[i].expected);
                else
                        check_not_sent(rig, "Basic");
        }
        CHECK_EQ(rig->peer.accepted, 1);
}

/* B47: what would break out of its line is refused before anything is sent. */
CLIENT_TEST(injection_is_refused_before_a_byte_is_sent, NULL, SCRIPT(OK_2))
{
        static const struct eddy_http_header headers[] = {
                { "x", "a\r\nEvil: 1" },
                { "x", "a\nb" },
                { "x", "a\rb" },
                { "x", "\x01" },
                { "x", "a\x7F" },
                { "x\r\nEvil", "1" },
                { "x y", "1" },
                { "", "1" },
                { "x:", "1" },
                { NULL, "1" },
                { "x", NULL },
                { "Transfer-Encoding", "chunked" },
                { "Content-Length", "5" },
                { "content-length", "+0" },
                { "Host", "a\r\nb" },
        };
        static const char *const methods[] = {
                "GET / HTTP/1.1\r\nEvil: 1\r\n\r\n", "GE T", "G\r\nT", "", "G\x01T", "CONNECT"
        };
        static const char *const urls[] = { "/a b",  "/a\r\nEvil: 1", "/a\nb", "/\x7F",
                                            "/\x01", "/a\tb",         ":x/",   "@/\r\n" };
        struct eddy_http_client_stats stats;
        struct eddy_http_request request;

        for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
                request = (struct eddy_http_request){ .url = "/",
                                                      .headers = &headers[i],
                                                      .headers_count = 1 };
                CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_INVALID_REQUEST);
        }
        for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
                request = (struct eddy_http_request){ .url = "/", .method = methods[i] };
                CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_INVALID_REQUEST);
        }
        for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++)
                CHECK_ERR(rig_get(rig, urls[i]), EDDY_E_URL_INVALID);
        http_pause(EDDY_MS(10));
        CHECK_EQ(rig->peer.accepted, 0);
        eddy_http_client_stats(rig->client, &stats);
        CHECK_EQ(stats.requests, 0);
        CHECK_EQ(stats.connections, 0);
        CHECK_STATS(rig->client, 0, 0, 0);
}

#define REQUEST(...)                                                                               \
        {                                                                                          \
                .url = "/", __VA_ARGS__                                                            \
        }
#define HEADER(...) .headers = &(struct eddy_http_header){ __VA_ARGS__ }, .headers_count = 1
#define SOURCE(...)                                                                                \
        .body_source = &(struct eddy_http_body_source)                                             \
        {                                                                                          \
                __VA_ARGS__                                                                        \
        }
#define TRAILERS(name)   .trailers = &(struct eddy_http_header){ name, NULL }, .trailers_count = 1
#define HELLO            .body = "hello", .body_bytes = 5
#define TEXT_OF_METHODS  "method: a method has letters, digits and some signs, without spaces"
#define TEXT_OF_NAMES    "a name has letters, digits and some signs, without spaces"
#define TEXT_OF_CONTROLS "the value has a control character, such as a line end"

static int64_t no_bytes(void *arg, void *buf, size_t bytes)
{
        (void) arg;
        (void) buf;
        (void) bytes;
        return 0;
}

CLIENT_TEST(request_with_too_many_headers_is_refused_also_with_a_host, NULL, SCRIPT(OK_2))
{
        enum { COUNT = 60000 };
        struct eddy_http_fault fault = { "" };
        struct eddy_http_header *headers = malloc(COUNT * sizeof(*headers));

        CHECK(headers);
        for (size_t i = 0; i < COUNT; i++)
                headers[i] = (struct eddy_http_header){ i == 0 ? "Host" : "a", "b" };
        CHECK_ERR(rig_fetch(rig, &(struct eddy_http_request){ .url = "/",
                                                              .headers = headers,
                                                              .headers_count = COUNT,
                                                              .ret_fault = &fault }),
                  EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_STR(fault.text, "headers: the head of the request has more than 256 KiB");
        free(headers);
}

/* The server keeps both connections open. */
static const struct eddy_http_header closing[] = { { "Connection", "close" } };
static const struct eddy_http_client_opts closing_opts = { .headers = closing, .headers_count = 1 };

CLIENT_TEST(request_removes_the_default_header_that_closes_its_connection, &closing_opts,
            SCRIPT(OK_2, OK_2))
{
        static const struct eddy_http_header stays[] = { { "Connection", NULL } };

        CHECK_EQ(rig_fetch(rig, &(struct eddy_http_request){ .url = "/",
                                                             .headers = stays,
                                                             .headers_count = 1 }),
                 0);
        CHECK(!strstr(rig->peer.last, "Connection"));
        CHECK_STATS(rig->client, 1, 1, 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK(strstr(rig->peer.last, "Connection: close"));
        CHECK_STATS(rig->client, 0, 0, 0);
}

CLIENT_TEST(fault_names_the_part_of_a_request_that_is_refused_but_no_value, NULL, SCRIPT(OK_2))
{
        struct eddy_http_header two[] = { { "Content-Length", "5" }, { "content-length", "5" } };
        struct eddy_http_header hosts[] = { { "Host", "a" }, { "Host", "a" } };
        const struct {
                struct eddy_http_request request;
                const char *text;
        } cases[] = {
                { REQUEST(.method = "GE T"), TEXT_OF_METHODS },
                { REQUEST(.method = ""), TEXT_OF_METHODS },
                { REQUEST(.method = "CONNECT"),
                  "method: CONNECT is sent by the options for proxies only" },
                { REQUEST(.method = "TRACE", HELLO), "method: TRACE has no body" },
                { REQUEST(.body_bytes = 1), "body: it is NULL, and 'body_bytes' is above 0" },
                { REQUEST(.expect_continue_ns = -1), "expect_continue_ns: it is negative" },
                { REQUEST(SOURCE(.bytes = 1)), "body_source: set one of 'stream' and 'read'" },
                { REQUEST(SOURCE(.read = no_bytes, .trailers_count = 1)),
                  "body_source: trailers: the list is NULL" },
                { REQUEST(SOURCE(.read = no_bytes, TRAILERS("a"))),
                  "body_source: trailers: only a body of unknown length has them: set 'bytes' to "
                  "-1" },
                { REQUEST(SOURCE(.read = no_bytes, .bytes = -1, TRAILERS("a b"))),
                  "body_source: trailers: number 1: " TEXT_OF_NAMES },
                { REQUEST(SOURCE(.read = no_bytes, .bytes = -1, TRAILERS("Host"))),
                  "body_source: trailers: \"Host\": this name is sent as a header only" },
                { REQUEST(HEADER("a b", "secret")), "headers: number 1: " TEXT_OF_NAMES },
                { REQUEST(HEADER("a\r\nb", "secret")), "headers: number 1: " TEXT_OF_NAMES },
                { REQUEST(HEADER(NULL, "secret")), "headers: number 1: the name is NULL" },
                { REQUEST(HEADER("X-Key", "secret\n")), "headers: \"X-Key\": " TEXT_OF_CONTROLS },
                { REQUEST(HEADER("X-Key", NULL)), "headers: \"X-Key\": the value is NULL, and the "
                                                  "client does not add this header" },
                { REQUEST(HEADER("Transfer-Encoding", "chunked"), HELLO),
                  "headers: \"Transfer-Encoding\": the client sets it, by the body" },
                { REQUEST(HEADER("Content-Length", "4"), HELLO),
                  "headers: \"Content-Length\": it is not the length of the body; the client sets "
                  "it" },
                { REQUEST(.headers = two, .headers_count = 2, HELLO),
                  "headers: \"content-length\": it is given twice" },
                { REQUEST(.headers = hosts, .headers_count = 2),
                  "headers: \"Host\": it is given twice" },
                { REQUEST(HEADER("Host", "a b")), "headers: \"Host\": the value is not a host" },
                { REQUEST(HEADER("Expect", "200-ok"), HELLO, .expect_continue_ns = 1),
                  "headers: \"Expect\": with 'expect_continue_ns' it is one \"100-continue\"" },
                { REQUEST(HEADER("Proxy-Authorization", "secret")),
                  "headers: \"Proxy-Authorization\": no proxy reads the request, and the server "
                  "would get it" },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct eddy_http_request request = cases[i].request;
                struct eddy_http_fault fault;

                request.ret_fault = &fault;
                CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_INVALID_REQUEST);
                CHECK_STR(fault.text, cases[i].text);
        }
        CHECK_EQ(rig->peer.accepted, 0);
}

CLIENT_TEST(fault_names_what_is_too_long_in_a_request, NULL, SCRIPT(OK_2))
{
        static char text[300 << 10];
        struct eddy_http_header header = { "X-Long", text };
        struct eddy_http_fault fault;
        struct eddy_http_request request = { .url = "/", .method = text, .ret_fault = &fault };

        memset(text, 'a', 8191);
        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_STR(fault.text, "method: it has more than 8,190 bytes");
        memset(text, 'a', sizeof(text) - 1);
        request.method = NULL;
        request.headers = &header;
        request.headers_count = 1;
        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_STR(fault.text, "headers: the head of the request has more than 256 KiB");
}

CLIENT_TEST(fault_names_a_host_that_differs_from_the_url_for_a_proxy,
            OPTIONS(.http_proxy = "127.0.0.1:1"), SCRIPT(OK_2))
{
        struct eddy_http_header header = { "Host", "other" };
        struct eddy_http_fault fault;
        struct eddy_http_request request = {
                .url = "/", .headers = &header, .headers_count = 1, .ret_fault = &fault
        };

        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_STR(fault.text,
                  "headers: \"Host\": it is not the host of the URL, and a proxy gets both");
}

static int send_with(struct rig *rig, const char *userinfo)
{
        struct eddy_http_request request = { 0 };
        eddy_http_response *response;
        char url[5000];
        int err;

        snprintf(url, sizeof(url), "http://%s@%s/", userinfo, rig->url + strlen("http://"));
        request.url = url;
        err = eddy_http_client_send(rig->client, &request, &response);
        if (err == 0)
                eddy_http_response_close(response);
        return err;
}

/*
 * B47: by RFC 7617, 2, credentials that would break out of their header, or
 * whose name the server would read as another name and password.
 */
CLIENT_TEST(credentials_that_basic_cannot_hold_are_refused, NULL, SCRIPT(OK_2))
{
        static const char *const refused[] = {
                "a%0d%0aEvil",  "a:b%0a",  "%00",      "a%00:b", "a:%7f",  "a%1F:b",
                "us%3Aer:pass", "us%3aer", "%3Auser:", "%3A",    "a%3A:b", "us%3Aer:pass:word",
        };
        static char long_name[4200];

        for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
                CHECK_ERR(send_with(rig, refused[i]), EDDY_E_URL_CREDENTIALS);
        memset(long_name, 'a', sizeof(long_name) - 1);
        CHECK_ERR(send_with(rig, long_name), EDDY_E_URL_CREDENTIALS);
        CHECK_EQ(rig->peer.accepted, 0);
}

/* A colon in the password, escaped or not, is part of it; a percent sign is decoded once. */
CLIENT_TEST(colon_in_a_password_is_sent, NULL, SCRIPT(OK_2, OK_2, OK_2, OK_2))
{
        static const struct {
                const char *userinfo, *expected;
        } cases[] = {
                { "u:p%3Aw", "Basic dTpwOnc=\r\n" }, /* u:p:w */
                { "u:p:w", "Basic dTpwOnc=\r\n" },
                { ":%3a", "Basic Ojo=\r\n" },         /* :: */
                { "u%253A:p", "Basic dSUzQTpw\r\n" }, /* u%3A:p */
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                CHECK_EQ(send_with(rig, cases[i].userinfo), 0);
                check_sent(rig, cases[i].expected);
        }
}

/* B48: a length that is not the body's, or a body that is not there. */
CLIENT_TEST(length_that_is_not_that_of_the_body_is_refused, NULL, SCRIPT(OK_2))
{
        struct eddy_http_header lengths[] = { { "Content-Length", "4" },
                                              { "Content-Length", "5" } };
        struct eddy_http_request request = {
                .url = "/", .body = "hello", .body_bytes = 5, .headers = lengths, .headers_count = 1
        };

        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_INVALID_REQUEST);
        request.headers_count = 2;
        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_INVALID_REQUEST);
        request.headers = &lengths[1];
        request.headers_count = 1;
        request.body = NULL;
        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_INVALID_REQUEST);
        request.body = "hello";
        CHECK_EQ(rig_fetch(rig, &request), 0);
}

CLIENT_TEST(other_schemes_are_refused, NULL, SCRIPT(OK_2))
{
        static const struct {
                const char *url;
                int error;
        } cases[] = {
                { "ftp://127.0.0.1/", EDDY_E_URL_SCHEME },
                { "/a", EDDY_E_URL_INVALID },
                { "", EDDY_E_URL_INVALID },
                { NULL, EDDY_E_URL_INVALID },
                { "http://", EDDY_E_URL_INVALID },
                { "http://h:99999/", EDDY_E_URL_INVALID },
        };
        eddy_http_response *response = NULL;

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                CHECK_ERR(eddy_http_client_send(rig->client,
                                                &(struct eddy_http_request){ .url = cases[i].url },
                                                &response),
                          cases[i].error);
        CHECK(!response);
        CHECK_STATS(rig->client, 0, 0, 0);
}

/* ---- options --------------------------------------------------------------- */

static int bad_options(void *arg)
{
        eddy_http_client *client = NULL;

        (void) arg;
        CHECK_ERR(eddy_http_client_new(OPTIONS(.user_agent = "a\r\nb"), &client), -EINVAL);
        CHECK_ERR(eddy_http_client_new(OPTIONS(.idle_timeout_ns = -1), &client), -EINVAL);
        CHECK_ERR(eddy_http_client_new(OPTIONS(.timeouts.connect_ns = -1), &client), -EINVAL);
        CHECK_ERR(eddy_http_client_new(
                          OPTIONS(.flags = EDDY_HTTP_CLIENT_HTTP1_ONLY | EDDY_HTTP_CLIENT_H2C),
                          &client),
                  -EINVAL);
        CHECK(!client);
        return 0;
}

TEST(options_that_make_no_sense_are_refused)
{
        eddy_http_client *client;

        http_run(bad_options, NULL);
        CHECK_ERR(eddy_http_client_new(NULL, &client), EDDY_E_RUN_NOT_RUNNING);
        eddy_http_client_close(NULL);
        eddy_http_response_close(NULL);
}

/* ---- responses ------------------------------------------------------------- */

CLIENT_TEST(response_gives_its_status_and_headers, NULL,
            SCRIPT("HTTP/1.1 418 I'm a teapot\r\nA: 1\r\nb:\t two words \r\nEmpty:\r\nA: 2\r\n"
                   "Content-Length: 0\r\n\r\n"))
{
        static const struct eddy_http_header expected[] = {
                { "A", "1" }, { "b", "two words" },      { "Empty", "" },
                { "A", "2" }, { "Content-Length", "0" },
        };
        struct eddy_http_header header = { NULL, NULL };
        eddy_http_response *response;

        CHECK_EQ(rig_send(rig, &get_root, &response), 0);
        CHECK_EQ(eddy_http_response_status(response), 418);
        CHECK_STR(eddy_http_response_header(response, "a"), "1");
        CHECK_STR(eddy_http_response_header(response, "B"), "two words");
        CHECK_STR(eddy_http_response_header(response, "empty"), "");
        CHECK(!eddy_http_response_header(response, "nothing"));
        for (size_t i = 0; i < 5; i++) {
                CHECK_EQ(eddy_http_response_header_at(response, i, &header), 0);
                CHECK_STR(header.name, expected[i].name);
                CHECK_STR(header.value, expected[i].value);
        }
        CHECK_ERR(eddy_http_response_header_at(response, 5, &header), -ENOENT);
        eddy_http_response_close(response);
}

/* B13: 1xx responses are passed over. */
CLIENT_TEST(interim_responses_are_skipped, NULL,
            SCRIPT("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" OK_2,
                   "HTTP/1.1 102 Processing\r\n\r\n", "+HTTP/1.1 103 Hi\r\n\r\n", "+" OK_CHUNKED))
{
        for (int i = 0; i < 2; i++) {
                CHECK_EQ(rig_get(rig, "/"), 0);
                CHECK_EQ(rig->status, 200);
                CHECK_STR(rig->body, "ok");
                CHECK_STATS(rig->client, 1, 1, 0);
        }
        CHECK_EQ(rig->peer.accepted, 1);
}

#define HINT "HTTP/1.1 103 Early Hints\r\n\r\n"

enum { HINT_BYTES = sizeof(HINT) - 1, HINTS_MAX = (64 << 10) / HINT_BYTES };

/* Fill 'text' with interim responses and a response. */
static void hints_write(char *text, size_t count)
{
        for (size_t i = 0; i < count; i++)
                memcpy(text + i * HINT_BYTES, HINT, HINT_BYTES);
        memcpy(text + count * HINT_BYTES, OK_2, sizeof(OK_2));
}

static void take_hints(struct rig *rig)
{
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_STR(rig->body, "ok");
        CHECK_ERR(rig_get(rig, "/"), EDDY_E_HTTP_TOO_LARGE);
        CHECK_STATS(rig->client, 0, 0, 0);
}

/* B13: 64 KiB of them, however many they are. */
TEST(interim_responses_are_limited_by_their_bytes)
{
        static char most[HINTS_MAX * HINT_BYTES + sizeof(OK_2)];
        static char more[(HINTS_MAX + 1) * HINT_BYTES + sizeof(OK_2)];
        const struct script scripts[] = { SCRIPT(most, more) };

        hints_write(most, HINTS_MAX);
        hints_write(more, HINTS_MAX + 1);
        rig_run(scripts, 1, NULL, false, take_hints);
        rig_run(scripts, 1, NULL, true, take_hints);
}

#define PROGRESS "+HTTP/1.1 102 Processing\r\n\r\n"

/* A proxy may send one each second to keep the connection open. */
CLIENT_TEST(interim_responses_end_by_the_time_of_the_request,
            OPTIONS(.timeouts = { .total_ns = EDDY_SEC(10) }),
            SCRIPT("HTTP/1.1 102 Processing\r\n\r\n", PROGRESS, ".", ".", PROGRESS, ".", ".",
                   PROGRESS, ".", ".", PROGRESS, ".", ".", PROGRESS, ".", ".", PROGRESS, ".", ".",
                   PROGRESS, NULL))
{
        CHECK_ERR(rig_get(rig, "/"), EDDY_E_HTTP_TIMEOUT_TOTAL);
}

/* B13: nobody asked for another protocol. */
CLIENT_TEST(switch_of_protocols_is_refused, NULL,
            SCRIPT("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"),
            SCRIPT(OK_2))
{
        CHECK_ERR(rig_get(rig, "/"), EDDY_E_HTTP_INVALID_RESPONSE);
        CHECK_STATS(rig->client, 0, 0, 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
}

/* B14: no body behind HEAD, 204 and 304, whatever their headers say; kept alive. */
CLIENT_TEST_BOTH(responses_without_body_keep_the_connection, NULL,
                 SCRIPT("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
                        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                        "HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n",
                        "HTTP/1.1 204 No Content\r\n\r\n", OK_2))
{
        static const struct {
                const char *method;
                int status;
        } steps[] = { { "HEAD", 200 }, { "HEAD", 200 }, { "GET", 304 }, { "GET", 204 } };

        for (size_t i = 0; i < 4; i++) {
                CHECK_EQ(rig_fetch(rig, &(struct eddy_http_request){ .url = "/",
                                                                     .method = steps[i].method }),
                         0);
                CHECK_EQ(rig->status, steps[i].status);
                CHECK_EQ(rig->body_bytes, 0);
                CHECK_STATS(rig->client, 1, 1, 0);
        }
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_STR(rig->body, "ok");
        CHECK_EQ(rig->peer.accepted, 1);
}

/* B38: without a length the body ends with the connection. */
CLIENT_TEST_BOTH(body_until_close_is_read_to_its_end, NULL,
                 SCRIPT("HTTP/1.1 200 OK\r\n\r\nhel", "+lo", "+!", "~"))
{
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_STR(rig->body, "hello!");
        CHECK_EQ(rig->body_bytes, 6);
        CHECK_STATS(rig->client, 0, 0, 0);
}

/* ---- reading --------------------------------------------------------------- */

CLIENT_TEST(body_can_be_asked_for_twice, NULL, SCRIPT(OK_2, OK_CHUNKED, OK_2_CLOSE))
{
        for (int i = 0; i < 3; i++) {
                eddy_http_response *response;
                const void *first, *second;
                size_t bytes;
                char buf[4];

                CHECK_EQ(rig_send(rig, &get_root, &response), 0);
                CHECK_EQ(eddy_http_response_body(response, &first, &bytes), 0);
                CHECK_STR((const char *) first, "ok");
                CHECK_EQ(bytes, 2);
                CHECK_EQ(eddy_http_response_body(response, &second, &bytes), 0);
                CHECK(second == first);
                CHECK_EQ(bytes, 2);
                CHECK_EQ(eddy_http_response_read(response, buf, sizeof(buf)), 0);
                CHECK_EQ(eddy_http_response_discard(response), 0);
                CHECK_STR(eddy_http_response_header(response, "transfer-encoding")
                                  ? eddy_http_response_header(response, "transfer-encoding")
                                  : "none",
                          i == 1 ? "chunked" : "none");
                eddy_http_response_close(response);
        }
}

#define TEN_CHUNKED                                                                                \
        "?", "<HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n", "+6\r\n456",   \
                "+789\r\n0\r\n\r\n"
#define TEN_BY_LENGTH "?", "<HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123", "+456", "+789"
#define TEN_BY_CLOSE  "?", "<HTTP/1.1 200 OK\r\n\r\n0123", "+456", "+789", "~"

static void read_mixed(struct rig *rig)
{
        for (int how = 0; how < 4; how++) {
                eddy_http_response *response;
                const void *rest;
                char buf[16] = "";
                size_t bytes;
                int64_t n, total = 0;

                CHECK_EQ(rig_send(rig, &get_root, &response), 0);
                CHECK_ERR(eddy_http_response_read(response, buf, 0), -EINVAL);
                CHECK_EQ(eddy_http_response_read(response, buf, 3), 3);
                CHECK(memcmp(buf, "012", 3) == 0);
                switch (how) {
                case 0: /* the rest, bit by bit */
                        while ((n = eddy_http_response_read(response, buf + 3 + total, 1)) > 0)
                                total += n;
                        CHECK_EQ(n, 0);
                        CHECK_EQ(total, 7);
                        CHECK(memcmp(buf, "0123456789", 10) == 0);
                        CHECK_EQ(eddy_http_response_read(response, buf, 1), 0);
                        CHECK_EQ(eddy_http_response_body(response, &rest, &bytes), 0);
                        CHECK_EQ(bytes, 0);
                        break;
                case 1: /* at once */
                        CHECK_EQ(eddy_http_response_body(response, &rest, &bytes), 0);
                        CHECK_STR((const char *) rest, "3456789");
                        CHECK_EQ(bytes, 7);
                        CHECK_EQ(eddy_http_response_read(response, buf, 1), 0);
                        break;
                case 2: /* not at all */
                        CHECK_EQ(eddy_http_response_discard(response), 0);
                        CHECK_EQ(eddy_http_response_discard(response), 0);
                        CHECK_EQ(eddy_http_response_read(response, buf, 1), 0);
                        CHECK_EQ(eddy_http_response_body(response, &rest, &bytes), 0);
                        CHECK_EQ(bytes, 0);
                        CHECK_STR((const char *) rest, "");
                        break;
                default: /* left: the connection ends */
                        break;
                }
                eddy_http_response_close(response);
        }
        CHECK_EQ(rig->peer.requests, 4);
        CHECK_STATS(rig->client, 0, 0, 0);
}

CLIENT_TEST(chunked_body_is_read_in_any_way, NULL,
            SCRIPT(TEN_CHUNKED, TEN_CHUNKED, TEN_CHUNKED, TEN_CHUNKED))
{
        read_mixed(rig);
        CHECK_EQ(rig->peer.accepted, 1);
}

CLIENT_TEST(body_of_stated_length_is_read_in_any_way, NULL,
            SCRIPT(TEN_BY_LENGTH, TEN_BY_LENGTH, TEN_BY_LENGTH, TEN_BY_LENGTH))
{
        read_mixed(rig);
        CHECK_EQ(rig->peer.accepted, 1);
}

CLIENT_TEST(body_until_close_is_read_in_any_way, NULL, SCRIPT(TEN_BY_CLOSE))
{
        read_mixed(rig);
        CHECK_EQ(rig->peer.accepted, 4);
}

/* A read that was cancelled can be done again; the connection is not used again. */
CLIENT_TEST(cancelled_read_loses_no_byte, NULL, SCRIPT(TEN_CHUNKED), SCRIPT(TEN_BY_LENGTH),
            SCRIPT(TEN_BY_CLOSE))
{
        for (int i = 0; i < 3; i++) {
                eddy_http_response *response;
                char buf[16] = "";
                int64_t n, total = 0;
                int cancels = 0;

                CHECK_EQ(rig_send(rig, &get_root, &response), 0);
                do {
                        eddy_scope scope;

                        eddy_scope_begin(&scope,
                                         &(struct eddy_scope_opts){ .timeout_ns = EDDY_MS(3) });
                        n = eddy_http_response_read(response, buf + total,
                                                    sizeof(buf) - (size_t) total);
                        (void) eddy_scope_end(&scope);
                        total += n > 0 ? n : 0;
                        cancels += n == -ECANCELED;
                } while (n > 0 || n == -ECANCELED);
                CHECK_EQ(n, 0);
                CHECK_STR(buf, "0123456789");
                CHECK(cancels >= 2);
                eddy_http_response_close(response);
                CHECK_STATS(rig->client, 0, 0, 0);
        }
}

struct body_call {
        eddy_http_response *response;
        const void *data;
        size_t bytes;
};

static int body_call(void *arg)
{
        struct body_call *call = arg;

        return eddy_http_response_body(call->response, &call->data, &call->bytes);
}

CLIENT_TEST(cancelled_body_can_be_asked_for_again, NULL, SCRIPT(TEN_CHUNKED), SCRIPT(TEN_BY_LENGTH),
            SCRIPT(TEN_BY_CLOSE))
{
        for (int i = 0; i < 3; i++) {
                struct body_call call = { 0 };
                int err, cancels = -1;

                CHECK_EQ(rig_send(rig, &get_root, &call.response), 0);
                do {
                        err = eddy_call_timeout(body_call, &call, EDDY_MS(3));
                        cancels++;
                } while (err == -ETIMEDOUT);
                CHECK_EQ(err, 0);
                CHECK(cancels >= 2);
                CHECK_STR((const char *) call.data, "0123456789");
                CHECK_EQ(call.bytes, 10);
                eddy_http_response_close(call.response);
                CHECK_STATS(rig->client, 0, 0, 0);
        }
}

/* What a cancelled call has taken in, a read gives, and reading goes on behind it. */
CLIENT_TEST(cancelled_body_can_be_read_on, NULL, SCRIPT(TEN_CHUNKED), SCRIPT(TEN_BY_LENGTH),
            SCRIPT(TEN_BY_CLOSE))
{
        for (int i = 0; i < 6; i++) {
                struct body_call call = { 0 };
                char buf[16] = "";
                int64_t n, total = 0;

                rig->peer.accepted = (uint32_t) i % 3;
                CHECK_EQ(rig_send(rig, &get_root, &call.response), 0);
                CHECK_ERR(eddy_call_timeout(body_call, &call, EDDY_MS(13)), -ETIMEDOUT);
                do {
                        n = eddy_http_response_read(call.response, buf + total, i < 3 ? 2 : 1);
                        total += n > 0 ? n : 0;
                        /* The rest of it at once. */
                        if (i >= 3 && total == 2) {
                                CHECK_EQ(body_call(&call), 0);
                                CHECK_STR((const char *) call.data, "23456789");
                                CHECK_EQ(call.bytes, 8);
                                break;
                        }
                } while (n > 0);
                if (i < 3) {
                        CHECK_EQ(n, 0);
                        CHECK_STR(buf, "0123456789");
                }
                eddy_http_response_close(call.response);
                CHECK_STATS(rig->client, 0, 0, 0);
        }
}

/* ---- limits ---------------------------------------------------------------- */

/* B37: the limits of a head, and of its fields. */
CLIENT_TEST(limits_of_a_head_hold, OPTIONS(.head_bytes_max = 100, .headers_max = 3),
            SCRIPT("HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\nContent-Length: 0\r\n\r\n",
                   "HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\nC: 3\r\nContent-Length: 0\r\n\r\n"),
            SCRIPT("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nLong: "
                   "12345678901234567890123456789012345678901234567890\r\n\r\n"),
            SCRIPT("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nLong: "
                   "1234567890123456789012345678901234567890123456789012345678901234\r\n\r\n"))
{
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_ERR(rig_get(rig, "/"), EDDY_E_HTTP_TOO_LARGE);
        CHECK_STATS(rig->client, 0, 0, 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
        eddy_http_client_close(rig->client);
        CHECK_EQ(eddy_http_client_new(OPTIONS(.head_bytes_max = 100), &rig->client), 0);
        CHECK_ERR(rig_get(rig, "/"), EDDY_E_HTTP_TOO_LARGE);
        CHECK_STATS(rig->client, 0, 0, 0);
}

/* B37: a head without an end is given up at its limit, however it trickles in. */
CLIENT_TEST(endless_head_is_given_up, OPTIONS(.head_bytes_max = 100),
            SCRIPT("HTTP/1.1 200 OK\r\n", "+A: 123456789012345678901234567890\r\n",
                   "+A: 123456789012345678901234567890\r\n",
                   "+A: 123456789012345678901234567890\r\n"))
{
        CHECK_ERR(rig_get(rig, "/"), EDDY_E_HTTP_TOO_LARGE);
        CHECK_STATS(rig->client, 0, 0, 0);
}

/* The limit of a body holds for each way to end it. */
CLIENT_TEST(limit_of_a_body_holds, OPTIONS(.body_bytes_max = 9), SCRIPT(TEN_BY_LENGTH),
            SCRIPT(TEN_CHUNKED), SCRIPT(TEN_BY_CLOSE))
{
        for (int i = 0; i < 3; i++) {
                CHECK_ERR(rig_get(rig, "/"), EDDY_E_HTTP_TOO_LARGE);
                CHECK_STATS(rig->client, 0, 0, 0);
        }
}

CLIENT_TEST(body_of_just_the_limit_is_read, OPTIONS(.body_bytes_max = 10),
            SCRIPT(TEN_BY_LENGTH, TEN_CHUNKED, TEN_BY_CLOSE))
{
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(rig_get(rig, "/"), 0);
                CHECK_STR(rig->body, "0123456789");
        }
}

/* ---- when time counts ------------------------------------------------------ */

static int start_calls;
static uint64_t start_open;

static void on_start(const struct eddy_http_attempt *attempt, void *arg)
{
        struct eddy_http_client_stats stats;

        CHECK_EQ(attempt->number, 1);
        eddy_http_client_stats(arg, &stats);
        start_calls++;
        start_open = stats.open;
        CHECK_EQ(stats.waiting, 0);
}

static int fetch_with_start(void *arg)
{
        struct rig *rig = arg;

        struct eddy_http_hooks hooks = { .on_start = on_start, .arg = rig->client };

        return rig_fetch(rig, &(struct eddy_http_request){ .url = "/", .hooks = &hooks });
}

CLIENT_TEST(start_is_called_when_the_slot_is_there, OPTIONS(.connections_max = 1),
            SCRIPT("?", ".", "<" OK_2, OK_2))
{
        eddy_scope scope;

        start_calls = 0;
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, fetch_with_start, rig), 0);
        CHECK_EQ(eddy_scope_start(&scope, fetch_with_start, rig), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(500)), 0);
        /* The check in on_start(): no task waits any more when it is reported. */
        CHECK_EQ(start_calls, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(start_calls, 2);
        CHECK_EQ(start_open, 1);
}

/* What a caller knows of a failure: whether anything was sent before. */
struct sending {
        struct rig *rig;
        const char *url, *method;
        int started, sent;
};

static void note_start(const struct eddy_http_attempt *attempt, void *arg)
{
        struct sending *sending = arg;

        CHECK_EQ(attempt->number, 1);
        CHECK_EQ(sending->sent, 0);
        sending->started++;
}

static void note_send(const struct eddy_http_attempt *attempt, void *arg)
{
        struct sending *sending = arg;
        struct eddy_http_client_stats stats;

        CHECK_EQ(attempt->number, (uint32_t) sending->sent + 1);
        eddy_http_client_stats(sending->rig->client, &stats);
        CHECK(stats.open > 0);
        sending->sent++;
}

static int send_noted(void *arg)
{
        struct sending *sending = arg;
        eddy_http_response *response;
        struct eddy_http_hooks hooks = { .on_start = note_start,
                                         .on_send = note_send,
                                         .arg = sending };
        struct eddy_http_request request = { .method = sending->method,
                                             .url = sending->url,
                                             .hooks = &hooks };
        int err = eddy_http_client_send(sending->rig->client, &request, &response);

        if (err == 0)
                eddy_http_response_close(response);
        return err;
}

static void check_noted(struct rig *rig, const char *method, const char *url, int err, int sent)
{
        struct sending sending = { .rig = rig, .method = method, .url = url ? url : rig->url };

        CHECK_EQ(eddy_call_timeout(send_noted, &sending, EDDY_SEC(10)), err);
        CHECK_EQ(sending.started, 1);
        CHECK_EQ(sending.sent, sent);
}

CLIENT_TEST(send_is_called_only_when_there_is_a_connection,
            OPTIONS(.timeouts.connect_ns = EDDY_SEC(2)), SCRIPT(OK_2, "?", "~"),
            SCRIPT(OK_2, "?", "!"), SCRIPT("?", ".", ".", ".", ".", ".", ".", ".", ".", ".", "."))
{
        char refused[64];

        snprintf(refused, sizeof(refused), "http://127.0.0.2:%u/",
                 eddy_listener_port(rig->peer.listener));
        /* Before the first byte: refused, no such name, nobody answers, too late to connect. */
        check_noted(rig, "POST", refused, -ECONNREFUSED, 0);
        check_noted(rig, "POST", "http://no.such.name/", EDDY_E_DNS_NOT_FOUND, 0);
        http_let_die();
        check_noted(rig, "POST", "http://10.9.9.9/", EDDY_E_HTTP_TIMEOUT_CONNECT, 0);
        /* Answered; repeated by the client itself after a connection that was closed; too late. */
        check_noted(rig, "GET", NULL, 0, 1);
        check_noted(rig, "GET", NULL, 0, 2);
        check_noted(rig, "POST", NULL, -ECONNRESET, 1);
        check_noted(rig, "POST", NULL, -ETIMEDOUT, 1);
}

static int get_dead(void *arg)
{
        struct rig *rig = arg;
        eddy_http_response *response;

        return eddy_http_client_send(
                rig->client, &(struct eddy_http_request){ .url = "http://10.9.9.9/" }, &response);
}

CLIENT_TEST(connect_has_a_time_limit_of_its_own,
            OPTIONS(.timeouts.connect_ns = EDDY_SEC(2), .connections_max = 1), SCRIPT(OK_2))
{
        int64_t before = eddy_now();

        http_let_die();
        CHECK_ERR(get_dead(rig), EDDY_E_HTTP_TIMEOUT_CONNECT);
        CHECK_EQ(eddy_now() - before, EDDY_SEC(2));
        CHECK_STATS(rig->client, 0, 0, 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
}

/* What the kernel gives up is no deadline of ours. */
CLIENT_TEST(connect_that_the_kernel_gives_up_says_so, NULL, SCRIPT(OK_2))
{
        http_let_die();
        CHECK_ERR(get_dead(rig), EDDY_E_NET_TIMED_OUT);
        CHECK_STATS(rig->client, 0, 0, 0);
}

/* B22: The deadline of a scope is reported by the scope, also where both limits would be due. */
CLIENT_TEST(deadline_of_a_scope_is_not_a_time_limit,
            OPTIONS(.timeouts.connect_ns = EDDY_SEC(2), .connections_max = 1), SCRIPT(OK_2))
{
        http_let_die();
        CHECK_ERR(eddy_call_timeout(get_dead, rig, EDDY_SEC(1)), -ETIMEDOUT);
        CHECK_STATS(rig->client, 0, 0, 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
}

static int get_root_of(void *arg)
{
        return rig_get(arg, "/");
}

/* A server that stalls, at each stage of a response. */
CLIENT_TEST(stalling_server_is_left_at_the_deadline, NULL, SCRIPT("?"), SCRIPT("H"),
            SCRIPT("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"),
            SCRIPT("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"),
            SCRIPT("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no"),
            SCRIPT("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
            SCRIPT("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r"),
            SCRIPT("HTTP/1.1 200 OK\r\n\r\nok"), SCRIPT(OK_2))
{
        for (int i = 0; i < 8; i++) {
                int64_t before = eddy_now();

                CHECK_ERR(eddy_call_timeout(get_root_of, rig, EDDY_SEC(1)), -ETIMEDOUT);
                CHECK_EQ(eddy_now() - before, EDDY_SEC(1));
                CHECK_STATS(rig->client, 0, 0, 0);
        }
        CHECK_EQ(rig_get(rig, "/"), 0);
}

/* ---- closing the client ---------------------------------------------------- */

struct late_call {
        struct rig *rig;
        const char *base; /* NULL: the rig's */
        const char *body;
        size_t body_bytes;
        int result;
        bool read;
};

static int late_call(void *arg)
{
        struct late_call *call = arg;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .body = call->body, .body_bytes = call->body_bytes };
        const void *body;
        size_t bytes;
        char url[100];

        snprintf(url, sizeof(url), "%s/", call->base ? call->base : call->rig->url);
        request.url = url;
        call->result = eddy_http_client_send(call->rig->client, &request, &response);
        if (call->result == 0) {
                call->read = true;
                call->result = eddy_http_response_body(response, &body, &bytes);
                /* It fails for good. */
                CHECK_ERR(eddy_http_response_body(response, &body, &bytes), call->result);
        }
        return 0;
}

enum { LARGE_BYTES = 1 << 20 };

TEST_ROOM(char, large, LARGE_BYTES);

/* B15: calls under way end when the client is freed, wherever they are. */
CLIENT_TEST(freeing_the_client_ends_all_calls, OPTIONS(.per_host_max = 3), SCRIPT("?"),
            SCRIPT("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"), SCRIPT(".", ".", ".", "."))
{
        struct late_call calls[] = {
                { .rig = rig },                                           /* waits for the head */
                { .rig = rig },                                           /* reads the body */
                { .rig = rig, .body = large, .body_bytes = LARGE_BYTES }, /* sends */
                { .rig = rig },                                           /* waits for a slot */
                { .rig = rig, .base = "http://10.9.9.9" },                /* connects */
        };
        eddy_scope scope;

        http_let_die();
        eddy_scope_begin(&scope, NULL);
        for (size_t i = 0; i < 5; i++)
                CHECK_EQ(eddy_scope_start(&scope, late_call, &calls[i]), 0);
        http_pause(EDDY_MS(500));
        CHECK_STATS(rig->client, 4, 0, 1);
        eddy_http_client_close(rig->client);
        rig->client = NULL;
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (size_t i = 0; i < 5; i++) {
                CHECK_ERR(calls[i].result, EDDY_E_HTTP_CLIENT_CLOSED);
                CHECK_EQ(calls[i].read, i == 1);
        }
        http_pause(EDDY_MS(10));
        CHECK_EQ(rig->peer.open, 1); /* the one that sleeps */
}

/* B15: a response outlives the client: what was read stays, the rest fails. */
CLIENT_TEST(response_can_be_freed_after_the_client, NULL, SCRIPT(OK_2),
            SCRIPT("?", "<HTTP/1.1 200 OK\r\nContent-Length: 9\r\nA: 1\r\n\r\nok"))
{
        eddy_http_response *whole, *part;
        const void *body;
        char buf[8];
        size_t bytes;

        CHECK_EQ(rig_send(rig, &get_root, &whole), 0);
        rig->peer.accepted = 1;
        eddy_http_client_close(rig->client);
        CHECK_EQ(eddy_http_response_status(whole), 200);
        CHECK_EQ(eddy_http_response_body(whole, &body, &bytes), 0);
        CHECK_STR((const char *) body, "ok");
        eddy_http_response_close(whole);

        CHECK_EQ(eddy_http_client_new(NULL, &rig->client), 0);
        CHECK_EQ(rig_send(rig, &get_root, &part), 0);
        eddy_http_client_close(rig->client);
        rig->client = NULL;
        CHECK_STR(eddy_http_response_header(part, "a"), "1");
        CHECK_EQ(eddy_http_response_read(part, buf, sizeof(buf)), 2);
        CHECK_ERR(eddy_http_response_read(part, buf, sizeof(buf)), EDDY_E_HTTP_CLIENT_CLOSED);
        CHECK_ERR(eddy_http_response_discard(part), EDDY_E_HTTP_CLIENT_CLOSED);
        eddy_http_response_close(part);
}

static int free_client(void *arg)
{
        eddy_http_client_close(arg);
        return 0;
}

/* It works in a cancelled task, and with connections that lie idle. */
CLIENT_TEST(client_is_freed_in_a_cancelled_task, NULL, SCRIPT(OK_2))
{
        eddy_http_response *response;
        eddy_scope scope;

        CHECK_EQ(rig_send(rig, &get_root, &response), 0);
        CHECK_STATS(rig->client, 1, 1, 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        CHECK_ERR(eddy_http_response_discard(response), -ECANCELED);
        eddy_http_response_close(response);
        CHECK_EQ(free_client(rig->client), 0);
        rig->client = NULL;
        (void) eddy_scope_end(&scope);
        http_pause(EDDY_MS(1));
        CHECK_EQ(rig->peer.open, 0);
}

/* ---- large bodies ---------------------------------------------------------- */

static char pattern(size_t i)
{
        return (char) ('a' + (i * 31 + i / 1009) % 26);
}

static int send_large(eddy_http_exchange *exchange, void *arg)
{
        const char *path = eddy_http_exchange_path(exchange);
        const void *body;
        size_t bytes, n;
        int err = 0;

        (void) arg;
        if (strcmp(path, "/echo") == 0) {
                err = eddy_http_exchange_body(exchange, &body, &bytes);
                return err < 0 ? err
                               : eddy_http_exchange_respond(exchange, 200, NULL, 0, body, bytes);
        }
        err = eddy_http_exchange_begin(exchange, 200, NULL, 0,
                                       strcmp(path, "/length") == 0 ? LARGE_BYTES : -1);
        for (size_t at = 0; at < LARGE_BYTES && err == 0; at += n) {
                n = 1 + at % 70001;
                if (n > LARGE_BYTES - at)
                        n = LARGE_BYTES - at;
                err = eddy_http_exchange_write(exchange, large + at, n);
        }
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

static int serve_large(void *arg)
{
        return eddy_http_serve(arg, NULL, send_large, NULL);
}

TEST_ROOM(char, got, LARGE_BYTES + 1);

static void check_large(eddy_http_client *client, const char *base, const char *path, size_t step,
                        bool kept)
{
        struct eddy_http_request request = { 0 };
        eddy_http_response *response;
        const void *body = got;
        size_t bytes = 0;
        char url[100];
        int64_t n = 0;

        snprintf(url, sizeof(url), "%s%s", base, path);
        request.url = url;
        if (strcmp(path, "/echo") == 0) {
                request.body = large;
                request.body_bytes = LARGE_BYTES;
        }
        CHECK_EQ(eddy_http_client_send(client, &request, &response), 0);
        if (step == 0) {
                CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
                CHECK_EQ(((const char *) body)[bytes], '\0');
        } else {
                do {
                        bytes += (size_t) n;
                        CHECK(bytes <= LARGE_BYTES);
                        n = eddy_http_response_read(
                                response, got + bytes,
                                step < LARGE_BYTES + 1 - bytes ? step : LARGE_BYTES + 1 - bytes);
                } while (n > 0);
                CHECK_EQ(n, 0);
        }
        CHECK_EQ(bytes, LARGE_BYTES);
        CHECK(memcmp(body, large, LARGE_BYTES) == 0);
        eddy_http_response_close(response);
        CHECK_STATS(client, kept, kept, 0);
}

static int large_main(void *arg)
{
        static const size_t steps[] = { 0, 1000, 4096, 65536, LARGE_BYTES + 1 };
        eddy_listener *listener;
        eddy_http_client *client;
        struct eddy_http_client_stats stats;
        eddy_scope scope;
        char base[64];

        (void) arg;
        for (size_t i = 0; i < LARGE_BYTES; i++)
                large[i] = pattern(i);
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        snprintf(base, sizeof(base), "http://127.0.0.1:%u", eddy_listener_port(listener));
        CHECK_EQ(eddy_http_client_new(NULL, &client), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, serve_large, listener), 0);
        for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
                check_large(client, base, "/length", steps[i], true);
                check_large(client, base, "/chunked", steps[i], true);
                check_large(client, base, "/echo", steps[i], true);
        }
        eddy_http_client_stats(client, &stats);
        CHECK_EQ(stats.connections, 1);
        eddy_http_client_close(client);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_listener_close(listener);
        return 0;
}

TEST(large_bodies_come_whole_both_ways)
{
        http_run(large_main, NULL);
        http_run_real(large_main, NULL);
}

/* ---- a body that ends with the connection ---------------------------------- */

struct close_server {
        eddy_listener *listener;
        size_t bytes;
        bool reset;
};

/* One connection: a head, a pause, and so many bytes until close. */
static int serve_until_close(void *arg)
{
        struct close_server *server = arg;
        static const char head[] = "HTTP/1.1 200 OK\r\n\r\n";
        eddy_stream *stream;
        char buf[1024];

        CHECK_EQ(eddy_listener_accept(server->listener, &stream), 0);
        CHECK(read_until(stream, buf, sizeof(buf), "\r\n\r\n"));
        CHECK_EQ(eddy_stream_write(stream, head, sizeof(head) - 1), 0);
        (void) eddy_sleep(EDDY_MS(10));
        CHECK_EQ(eddy_stream_write(stream, large, server->bytes), 0);
        if (server->reset) {
                (void) eddy_sleep(EDDY_MS(10));
                eddy_stream_abort(stream);
        } else {
                eddy_stream_close(stream);
        }
        return 0;
}

struct close_case {
        size_t bytes, limit, step;
        bool reset;
        int expected;
};

static int until_close_main(void *arg)
{
        const struct close_case *test = arg;
        struct close_server server = { .bytes = test->bytes, .reset = test->reset };
        eddy_http_response *response;
        eddy_http_client *client;
        eddy_scope scope;
        const void *body;
        char url[64];
        size_t bytes = 0;
        int64_t n = 0;

        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &server.listener), 0);
        snprintf(url, sizeof(url), "http://127.0.0.1:%u/", eddy_listener_port(server.listener));
        CHECK_EQ(eddy_http_client_new(OPTIONS(.body_bytes_max = test->limit), &client), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, serve_until_close, &server), 0);
        CHECK_EQ(
                eddy_http_client_send(client, &(struct eddy_http_request){ .url = url }, &response),
                0);
        if (test->step == 0) {
                n = eddy_http_response_body(response, &body, &bytes);
        } else {
                do {
                        bytes += (size_t) n;
                        n = eddy_http_response_read(response, got, test->step);
                } while (n > 0);
        }
        if (test->expected < 0) {
                CHECK_ERR(n, test->expected);
        } else {
                CHECK_EQ(n, 0);
                CHECK_EQ(bytes, test->bytes);
        }
        eddy_http_response_close(response);
        CHECK_STATS(client, 0, 0, 0);
        eddy_http_client_close(client);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_listener_close(server.listener);
        return 0;
}

/* B38: a body that ends with the connection is never cut silently at a limit. */
TEST(body_until_close_beyond_the_limit_is_an_error)
{
        static const size_t steps[] = { 0, 1, 100, 4096, 8192, 100000 };

        for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
                for (size_t more = 0; more < 2; more++) {
                        struct close_case test = { 6000 + more, 6000, steps[i], false,
                                                   more ? EDDY_E_HTTP_TOO_LARGE : 0 };

                        http_run(until_close_main, &test);
                }
}

TEST(large_body_until_close_comes_whole)
{
        struct close_case at_once = { LARGE_BYTES, 0, 0, false, 0 };
        struct close_case in_steps = { LARGE_BYTES, 0, 10000, false, 0 };

        http_run(until_close_main, &at_once);
        http_run(until_close_main, &in_steps);
        http_run_real(until_close_main, &at_once);
}

/* B38: a reset is not an end. */
TEST(reset_does_not_end_a_body_until_close)
{
        struct close_case at_once = { 5000, 0, 0, true, -ECONNRESET };
        struct close_case in_steps = { 5000, 0, 8192, true, -ECONNRESET };

        http_run(until_close_main, &at_once);
        http_run(until_close_main, &in_steps);
}

/* ---- uploads that are answered early --------------------------------------- */

static int upload(struct rig *rig, eddy_http_response **ret_response)
{
        return rig_send(
                rig,
                &(struct eddy_http_request){
                        .url = "/", .method = "PUT", .body = large, .body_bytes = LARGE_BYTES },
                ret_response);
}

/* B12: an answer that comes before all was sent is read; the connection ends. */
CLIENT_TEST(early_refusal_of_an_upload_is_read, NULL,
            SCRIPT("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno", "."),
            SCRIPT("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno",
                   "."),
            SCRIPT(OK_2))
{
        for (int i = 0; i < 2; i++) {
                eddy_http_response *response;
                const void *body;
                size_t bytes;

                CHECK_EQ(upload(rig, &response), 0);
                CHECK_EQ(eddy_http_response_status(response), 413);
                CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
                CHECK_STR((const char *) body, "no");
                eddy_http_response_close(response);
                CHECK_STATS(rig->client, 0, 0, 0);
        }
        CHECK_EQ(rig_get(rig, "/"), 0);
}

/* A body that breaks while the request still goes out is an error for its reader. */
CLIENT_TEST(broken_body_during_an_upload_is_an_error, NULL,
            SCRIPT("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nx", "."),
            SCRIPT(OK_2))
{
        eddy_http_response *response;
        const void *body;
        size_t bytes;

        CHECK_EQ(upload(rig, &response), 0);
        CHECK_EQ(eddy_http_response_status(response), 200);
        CHECK_ERR(eddy_http_response_body(response, &body, &bytes), EDDY_E_HTTP_INVALID_RESPONSE);
        eddy_http_response_close(response);
        CHECK_STATS(rig->client, 0, 0, 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
}

/* B12: the write fails, and the answer that was sent before it is still read. */
CLIENT_TEST(answer_is_read_though_the_write_failed, NULL,
            SCRIPT("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno", "~"), SCRIPT(OK_2))
{
        eddy_http_response *response;
        int err = upload(rig, &response);

        if (err == 0) {
                CHECK_EQ(eddy_http_response_status(response), 403);
                eddy_http_response_close(response);
        } else {
                /* The reset may overtake the answer. */
                CHECK_ERR(err, -ECONNRESET);
        }
        CHECK_STATS(rig->client, 0, 0, 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
}

/* B7: a deadline in the middle of an upload closes the connection. */
static int upload_call(void *arg)
{
        eddy_http_response *response;

        return upload(arg, &response);
}

CLIENT_TEST(deadline_inside_an_upload_closes_the_connection, NULL, SCRIPT(".", ".", ".", "."),
            SCRIPT(OK_2))
{
        CHECK_ERR(eddy_call_timeout(upload_call, rig, EDDY_SEC(1)), -ETIMEDOUT);
        CHECK_STATS(rig->client, 0, 0, 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
}

/* B10: an upload on a stale connection is sent again from its beginning. */
static int put_twice(eddy_http_exchange *exchange, void *arg)
{
        int *calls = arg;
        const void *body;
        size_t bytes;
        int err;

        (*calls)++;
        if (*calls == 2) {
                eddy_http_exchange_abort(exchange);
                return 0;
        }
        err = eddy_http_exchange_body(exchange, &body, &bytes);
        if (err < 0)
                return err;
        CHECK(*calls == 1 || bytes == LARGE_BYTES);
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, NULL, 0);
}

struct put_server {
        eddy_listener *listener;
        int calls;
};

static int serve_put(void *arg)
{
        struct put_server *server = arg;

        return eddy_http_serve(server->listener, NULL, put_twice, &server->calls);
}

static int put_main(void *arg)
{
        struct put_server server = { 0 };
        struct eddy_http_request request = { .method = "PUT" };
        eddy_http_client *client;
        eddy_scope scope;
        char url[64];

        (void) arg;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &server.listener), 0);
        snprintf(url, sizeof(url), "http://127.0.0.1:%u/", eddy_listener_port(server.listener));
        request.url = url;
        CHECK_EQ(eddy_http_client_new(NULL, &client), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, serve_put, &server), 0);
        for (int i = 0; i < 2; i++) {
                eddy_http_response *response;

                CHECK_EQ(eddy_http_client_send(client, &request, &response), 0);
                CHECK_EQ(eddy_http_response_status(response), 200);
                eddy_http_response_close(response);
                request.body = large;
                request.body_bytes = LARGE_BYTES;
        }
        CHECK_EQ(server.calls, 3);
        CHECK_STATS(client, 1, 1, 0);
        eddy_http_client_close(client);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_listener_close(server.listener);
        return 0;
}

TEST(upload_on_a_stale_connection_is_repeated_whole)
{
        http_run(put_main, NULL);
        http_run_real(put_main, NULL);
}

/* ---- an answer that streams while the request does -------------------------- */

static int serve_echo(void *arg)
{
        return eddy_http_serve(arg, NULL, http_echo, NULL);
}

static int echo_main(void *arg)
{
        eddy_listener *listener;
        eddy_http_client *client;
        eddy_scope scope;
        char base[64];

        (void) arg;
        for (size_t i = 0; i < LARGE_BYTES; i++)
                large[i] = pattern(i);
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        snprintf(base, sizeof(base), "http://127.0.0.1:%u", eddy_listener_port(listener));
        CHECK_EQ(eddy_http_client_new(NULL, &client), 0);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(20) });
        CHECK_EQ(eddy_scope_start(&scope, serve_echo, listener), 0);
        check_large(client, base, "/echo", 0, false);
        check_large(client, base, "/echo", 1000, false);
        check_large(client, base, "/echo", 65536, false);
        eddy_http_client_close(client);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_listener_close(listener);
        return 0;
}

/* B12: a server may answer as it reads: neither side waits for the other for ever. */
TEST(answer_that_streams_while_the_request_does_is_read)
{
        http_run(echo_main, NULL);
        http_run_real(echo_main, NULL);
}

/* A name that is not ASCII is looked up, and stands in Host, as DNS has it. */
CLIENT_TEST_BOTH(host_that_is_not_ascii_is_sent_as_idna, NULL, SCRIPT(OK_2))
{
        eddy_http_response *response;
        char url[96], host[96];
        unsigned port = eddy_listener_port(rig->peer.listener);

        snprintf(url, sizeof(url),
                 "http://B\xC3\xBC"
                 "cher.localhost:%u/x",
                 port);
        snprintf(host, sizeof(host), "\r\nHost: xn--bcher-kva.localhost:%u\r\n", port);
        CHECK_EQ(eddy_http_client_send(rig->client, &(struct eddy_http_request){ .url = url },
                                       &response),
                 0);
        eddy_http_response_close(response);
        CHECK(strstr(rig->peer.last, host));
        CHECK(strstr(rig->peer.last, "GET /x HTTP/1.1\r\n") == rig->peer.last);
}
