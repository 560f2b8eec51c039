/*
 * test_problems.c - errors of handlers as answers: each has its status, the reason goes to the log and
 * never to the client, and the connection is kept if its framing is whole.
 */
#include <stdlib.h>
#include <string.h>

#include "eddy/http_input.h"
#include "server_test.h"

#define GET(path)     "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"
#define LAST(path)    "GET " path " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
#define CHUNKED(path) "POST " path " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
#define CLOSES        "Connection: close\r\n"
#define PROBLEM       "Content-Type: application/problem+json\r\n"

static struct {
        eddy_stream *near, *far;
        eddy_log *log;
        int error, status; /* the last of on_error */
        int errors;
} seen;

static int read_whole(eddy_http_exchange *exchange)
{
        const void *body;
        size_t bytes;

        return eddy_http_exchange_body(exchange, &body, &bytes);
}

/* The path is the result, as in /-5, or names another way to fail. */
static int handle(eddy_http_exchange *exchange, void *arg)
{
        const char *path = eddy_http_exchange_path(exchange);

        (void) arg;
        CHECK_EQ(eddy_log_bind(eddy_log_str("id", "r7")), 0);
        if (strcmp(path, "/late") == 0) {
                CHECK_EQ(eddy_http_exchange_begin(exchange, 200, NULL, 0, -1), 0);
                CHECK_EQ(eddy_http_exchange_write(exchange, "abc", 3), 0);
                return -EIO;
        }
        if (strcmp(path, "/whole") == 0) {
                CHECK_EQ(eddy_http_exchange_respond(exchange, 200, NULL, 0, "abc", 3), 0);
                return -EIO;
        }
        if (strcmp(path, "/abort") == 0) {
                eddy_http_exchange_abort(exchange);
                return -EIO;
        }
        if (strcmp(path, "/wait") == 0)
                return eddy_sleep(EDDY_SEC(60));
        if (strcmp(path, "/body") == 0)
                return read_whole(exchange);
        if (strcmp(path, "/json") == 0)
                return eddy_http_exchange_json(exchange, NULL, NULL); /* no Content-Type */
        if (strcmp(path, "/other") == 0)
                return read_whole(exchange) < 0 ? -EIO : 0;
        CHECK_EQ(eddy_http_exchange_add_header(exchange, "X-Id", "r7"), 0);
        return (int) strtol(path + 1, NULL, 10);
}

static void prepare(struct site *site)
{
        memset(&seen, 0, sizeof(seen));
        site->handler = handle;
        CHECK_EQ(eddy_stream_pair(NULL, &seen.near, &seen.far), 0);
        CHECK_EQ(eddy_log_open(
                         &(struct eddy_log_opts){ .stream = seen.near, .format = EDDY_LOG_JSON },
                         &seen.log),
                 0);
        site->opts.log = seen.log;
        site->opts.body_bytes_max = 1000;
}

/* Returns the lines of the log after it was closed. */
static const char *lines_of_log(void)
{
        static char lines[32768];
        size_t bytes = 0;
        int64_t n;

        eddy_log_close(seen.log);
        eddy_stream_close(seen.near);
        do {
                n = eddy_stream_read(seen.far, lines + bytes, sizeof(lines) - 1 - bytes);
                bytes += n > 0 ? (size_t) n : 0;
        } while (n > 0);
        lines[bytes] = '\0';
        eddy_stream_close(seen.far);
        return lines;
}

static int answer_teapot(eddy_http_exchange *exchange, int error, void *arg)
{
        static const struct eddy_http_header type = { "Content-Type", "text/x-own" };

        CHECK(arg);
        seen.error = error;
        seen.status = eddy_http_error_status(exchange, error);
        seen.errors++;
        if (error == -EAGAIN)
                return 0;
        if (error == -EBUSY)
                return -EIO;
        return eddy_http_exchange_respond(exchange, 418, &type, 1, "own", 3);
}

static void prepare_own(struct site *site)
{
        prepare(site);
        site->opts.on_error = answer_teapot;
}

#define PROBLEM_TEST(claim, before)                                                                \
        static void problem_##claim(struct site *site);                                            \
        TEST(claim)                                                                                \
        {                                                                                          \
                site_run_prepared(NULL, false, before, problem_##claim);                           \
        }                                                                                          \
        static void problem_##claim(struct site *site)

PROBLEM_TEST(each_error_has_its_status_and_keeps_the_connection, prepare)
{
        static const struct {
                int error, status;
                const char *title;
        } cases[] = {
                { EDDY_E_JSON_SYNTAX, 500, "Internal Server Error" },
                { EDDY_E_HTTP_TOO_LARGE, 500, "Internal Server Error" },
                { EDDY_E_FIELD_TYPE, 500, "Internal Server Error" },
                { EDDY_E_FIELD_TABLE, 500, "Internal Server Error" },
                { -ETIMEDOUT, 503, "Service Unavailable" },
                { -EIO, 500, "Internal Server Error" },
                { -ECANCELED, 500, "Internal Server Error" },
                { -ENOMEM, 500, "Internal Server Error" },
                { EDDY_E_HTTP_TRUNCATED, 500, "Internal Server Error" },
                { EDDY_E_NET_TIMED_OUT, 500, "Internal Server Error" },
                { EDDY_E_URL_SCHEME, 500, "Internal Server Error" },
                { -4000, 500, "Internal Server Error" },
                { INT32_MIN, 500, "Internal Server Error" },
        };
        eddy_stream *stream = site_connect(site);
        char request[100], line[100], body[100];

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                const char *text;

                snprintf(request, sizeof(request), GET("/%d"), cases[i].error);
                snprintf(line, sizeof(line), "HTTP/1.1 %d %s\r\nX-Id: r7\r\n" PROBLEM,
                         cases[i].status, cases[i].title);
                snprintf(body, sizeof(body), "\r\n\r\n{\"title\":\"%s\",\"status\":%d}",
                         cases[i].title, cases[i].status);
                text = say(stream, request, "}");
                CHECK_HAS(text, line);
                CHECK_HAS(text, body);
                CHECK_HAS_NOT(text, CLOSES);
        }
        eddy_stream_close(stream);
        CHECK_HAS(lines_of_log(), "EDDY_E_FIELD_TABLE");
}

PROBLEM_TEST(the_log_has_the_reason_and_the_bound_values, prepare)
{
        const char *first, *second;

        CHECK_EQ(ask(site, GET("/-5?token=secret") LAST("/-65536"))->responses, 2);
        (void) ask(site, LAST("/-66816"));
        first = lines_of_log();
        CHECK_HAS(first, "\"level\":\"error\",\"message\":\"the handler failed\"");
        CHECK_HAS(first, "EIO");
        CHECK_HAS(first, "\"method\":\"GET\",\"path\":\"/-5\",\"status\":500");
        CHECK_HAS(first, "\"id\":\"r7\"");
        CHECK_HAS_NOT(first, "secret");
        second = strchr(first, '\n') + 1;
        CHECK_HAS(second, "\"status\":500");
}

PROBLEM_TEST(an_error_of_the_client_is_logged_at_level_info, prepare)
{
        CHECK_EQ(ask(site, LAST("/json"))->status, 415);
        CHECK_HAS(lines_of_log(), "\"level\":\"info\",\"message\":\"the request was refused\"");
}

PROBLEM_TEST(after_the_answer_has_begun_the_connection_closes, prepare)
{
        const struct answer *answer = ask(site, GET("/late") GET("/-5"));

        CHECK_EQ(answer->responses, 1);
        CHECK_EQ(answer->status, 200);
        CHECK_HAS_NOT(answer->text, "0\r\n\r\n");
        CHECK_HAS(lines_of_log(),
                  "\"level\":\"error\",\"message\":\"the handler failed after it had "
                  "begun a response\"");
}

PROBLEM_TEST(after_a_whole_answer_the_connection_is_kept, prepare)
{
        CHECK_EQ(ask(site, GET("/whole") LAST("/whole"))->responses, 2);
        CHECK_HAS(lines_of_log(), "after it had begun a response");
}

PROBLEM_TEST(an_abort_is_not_answered, prepare)
{
        CHECK_EQ(ask(site, GET("/abort") GET("/-5"))->bytes, 0);
        CHECK_HAS(lines_of_log(), "\"message\":\"the handler failed\"");
}

PROBLEM_TEST(a_handler_whose_client_is_gone_has_not_failed, prepare)
{
        eddy_stream *stream = site_connect(site);

        CHECK_EQ(eddy_stream_write(stream, GET("/wait"), strlen(GET("/wait"))), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(10)), 0);
        eddy_stream_abort(stream);
        CHECK_EQ(eddy_sleep(EDDY_MS(10)), 0);
        CHECK_STR(lines_of_log(), "");
}

PROBLEM_TEST(an_answer_to_head_has_no_body, prepare)
{
        const struct answer *answer =
                ask(site, "HEAD /-5 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");

        CHECK_EQ(answer->status, 500);
        CHECK_HAS(answer->text, PROBLEM);
        CHECK_HAS_NOT(answer->text, "{");
        (void) lines_of_log();
}

PROBLEM_TEST(a_body_that_cannot_be_read_has_its_own_status_and_closes, prepare)
{
        const struct answer *answer = ask(site, CHUNKED("/body") "5z\r\n");

        CHECK_EQ(answer->status, 400);
        CHECK_HAS(answer->text, PROBLEM);
        CHECK_HAS(answer->text, "\"status\":400,\"detail\":\"");
        CHECK_HAS(answer->text, CLOSES);
        /* Whatever the handler makes of the error. */
        answer = ask(site, CHUNKED("/other") "fffff\r\n");
        CHECK_EQ(answer->status, 413);
        CHECK_HAS(answer->text, PROBLEM);
        CHECK_HAS(answer->text, CLOSES);
        (void) lines_of_log();
}

/* The body is larger than what is dropped to keep a connection. */
PROBLEM_TEST(an_unread_body_decides_whether_the_connection_is_kept, prepare)
{
        eddy_stream *stream = site_connect(site);
        const char *text =
                say(stream, "POST /-5 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", "}");

        CHECK_HAS_NOT(text, CLOSES);
        CHECK_HAS(say(stream, CHUNKED("/-5") "3\r\nab", "}"), CLOSES);
        eddy_stream_close(stream);
        (void) lines_of_log();
}

/* Ask with 'count' headers more. */
static const struct answer *ask_with_headers(struct site *site, size_t count)
{
        static char text[4000];
        size_t n = (size_t) snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: a\r\n");

        for (size_t i = 0; i < count; i++)
                n += (size_t) snprintf(text + n, sizeof(text) - n, "X: 1\r\n");
        snprintf(text + n, sizeof(text) - n, "\r\n");
        return ask(site, text);
}

static void check_problem(const struct answer *answer, int status, const char *detail)
{
        char text[200];

        CHECK_EQ(answer->status, status);
        CHECK_EQ(answer->responses, 1);
        CHECK_HAS(answer->text, PROBLEM);
        snprintf(text, sizeof(text), "\"status\":%d%s", status, detail);
        CHECK_HAS(answer->text, text);
}

PROBLEM_TEST(a_refusal_before_the_handler_is_a_problem, prepare)
{
        static const struct {
                const char *request;
                int status;
                const char *detail;
        } cases[] = {
                { "BAD\r\n\r\n", 400, ",\"detail\":\"" },
                { "GET / HTTP/9.9\r\n\r\n", 505, ",\"detail\":\"" },
                { "GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n", 417,
                  ",\"detail\":\"Expect is other than 100-continue\"}" },
                { "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n", 413,
                  ",\"detail\":\"the body is too large\"}" },
                { "GET / HTTP/1.1\r\nHost: ", 408, ",\"detail\":\"the request took too long\"}" },
                { LAST("/0"), 404, "}" },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                check_problem(ask(site, cases[i].request), cases[i].status, cases[i].detail);
        check_problem(ask_with_headers(site, 128), 431, ",\"detail\":\"");
        CHECK_STR(lines_of_log(), "");
}

PROBLEM_TEST(on_error_answers_in_place_of_the_server, prepare_own)
{
        const struct answer *answer = ask(site, GET("/-5") LAST("/-5"));

        CHECK_EQ(answer->responses, 2);
        CHECK_HAS(answer->text, "HTTP/1.1 418 ");
        CHECK_HAS(answer->text, "X-Id: r7\r\nContent-Type: text/x-own\r\n");
        CHECK_EQ(seen.error, -EIO);
        CHECK_EQ(seen.status, 500);
        CHECK_EQ(seen.errors, 2);
        CHECK_EQ(ask(site, LAST("/json"))->status, 418);
        CHECK_EQ(seen.status, 415);
        CHECK_HAS(lines_of_log(), "\"status\":418");
}

PROBLEM_TEST(without_an_answer_of_on_error_the_server_answers, prepare_own)
{
        CHECK_EQ(ask(site, LAST("/-11"))->status, 500);
        CHECK_EQ(ask(site, LAST("/-16"))->status, 500);
        CHECK_EQ(seen.errors, 2);
        (void) lines_of_log();
}

PROBLEM_TEST(on_error_gets_the_error_of_reading_and_not_that_of_a_cut_answer, prepare_own)
{
        CHECK_EQ(ask(site, CHUNKED("/other") "fffff\r\n")->status, 418);
        CHECK_EQ(seen.error, EDDY_E_HTTP_TOO_LARGE);
        CHECK_EQ(ask(site, GET("/late"))->status, 200);
        CHECK_EQ(ask(site, GET("/abort"))->bytes, 0);
        CHECK_EQ(seen.errors, 1);
        (void) lines_of_log();
}
