/*
 * test_access_log.c - the access log has a line for each request, whoever answers it, without secrets;
 * identifiers of requests are in the response and in each line. Much middleware fits a stack.
 */
#include <string.h>

#include "eddy/http_middleware.h"
#include "eddy/uuid.h"
#include "h2_pair.h"
#include "middleware_test.h"

static void build(void)
{
        CHECK_EQ(eddy_http_use_access_log(
                         guarded.router, &(struct eddy_http_access_log_opts){ .log = guarded.log }),
                 0);
}

/* ---- helpers --------------------------------------------------------------- */

static char this_line[8000];

/* Copy the first of the lines to 'this_line'. Returns the others. */
static const char *copy_line(const char *lines)
{
        size_t bytes = strcspn(lines, "\n");

        CHECK(bytes < sizeof(this_line));
        snprintf(this_line, sizeof(this_line), "%.*s", (int) bytes, lines);
        return lines[bytes] ? lines + bytes + 1 : "";
}

/* Send a request and the end. Returns the status of the answer; 0: none. */
static int send_and_end(struct site *site, const char *request)
{
        static struct answer answer;
        eddy_stream *stream = site_connect(site);

        CHECK_EQ(eddy_stream_write(stream, request, strlen(request)), 0);
        CHECK_EQ(eddy_stream_shutdown(stream), 0);
        read_answer(stream, &answer);
        eddy_stream_close(stream);
        return answer.status;
}

static int show_id(eddy_http_exchange *exchange, void *arg)
{
        const char *id = eddy_http_exchange_request_id(exchange);

        (void) arg;
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, id, strlen(id));
}

/* ---- the access log -------------------------------------------------------- */

GUARDED_TEST_WITH(a_line_of_http2_has_its_protocol_and_the_bytes_of_its_body, NULL, build)
{
        struct h2_side client;
        struct h2_call *call;
        const char *lines;
        eddy_scope scope;

        h2_client_init(&client, site_connect(site));
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(h2_client_start(&client, &scope), 0);
        call = h2_request(&client, "GET", "/ok", false);
        CHECK_EQ(h2_await(call), 200);
        h2_close(call);
        h2_client_stop(&client);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(ask(site, GET("/users/7"))->status, 200);
        lines = copy_line(guarded_lines());
        CHECK_HAS(this_line, "\"path\":\"/ok\",");
        CHECK_HAS(this_line, "\"protocol\":\"HTTP/2.0\"}");
        CHECK_HAS_NOT(this_line, "\"sent\":0");
        CHECK_HAS_NOT(lines, "protocol");
}

GUARDED_TEST(a_line_has_the_values_of_its_request, build)
{
        const char *lines;

        CHECK_EQ(ask(site, GET_WITH("/users/7?token=secret", "Authorization: secret\r\n"))->status,
                 200);
        CHECK_EQ(ask(site, GET("/none"))->status, 404);
        lines = guarded_lines();
        CHECK_HAS(lines,
                  "\"level\":\"info\",\"message\":\"request\",\"method\":\"GET\",\"status\":200,"
                  "\"received\":");
        CHECK_HAS(lines, "\"sent\":");
        CHECK_HAS(lines, "\"ms\":0.0,\"client\":\"127.0.0.1\",\"path\":\"/users/7\","
                         "\"route\":\"/users/{id}\"}");
        CHECK_HAS(lines, "\"status\":404");
        CHECK_HAS(lines, "\"path\":\"/none\"}");
        CHECK_HAS_NOT(lines, "secret");
        CHECK_HAS_NOT(lines, "\"sent\":0");
        CHECK_HAS_NOT(lines, "\"received\":0");
}

GUARDED_TEST_WITH(the_status_is_the_one_that_the_client_gets,
                  SERVER_OPTIONS(.body_bytes_max = 100, .head_timeout_ns = EDDY_SEC(5)), build)
{
        static const struct {
                const char *request;
                int status;
                const char *part;
        } cases[] = {
                { GET("/result/0"), 404, "\"level\":\"info\"" },
                { GET("/result/-5"), 500, "\"level\":\"warning\"" },
                { GET("/result/-110"), 503, "\"error\":\"ETIMEDOUT" },
                { SAY("DELETE", "/ok", ""), 405, "\"method\":\"DELETE\"" },
                { SAY("HEAD", "/ok", ""), 200, "\"method\":\"HEAD\"" },
                { SAY("OPTIONS", "/ok", ""), 204, "\"method\":\"OPTIONS\"" },
                { GET("/users/%00"), 400, "\"path\":\"/users/%00\"" },
                { GET("/late"), 200, "\"error\":\"EIO" },
                { SAY("POST", "/body", "Transfer-Encoding: chunked\r\n") "f\r\n", 400, "400" },
                { SAY("POST", "/body", "Transfer-Encoding: chunked\r\n") "!\r\n", 400, "400" },
                { SAY("POST", "/body", "Transfer-Encoding: chunked\r\n") "65\r\n", 413, "413" },
        };

        const char *line;

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                CHECK_EQ(send_and_end(site, cases[i].request), cases[i].status);
        line = guarded_lines();
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                char text[30];

                snprintf(text, sizeof(text), "\"status\":%d,", cases[i].status);
                line = copy_line(line);
                CHECK_HAS(this_line, text);
                CHECK_HAS(this_line, cases[i].part);
        }
        CHECK_STR(line, "");
}

GUARDED_TEST(a_request_without_an_answer_has_status_0, build)
{
        eddy_stream *stream = site_connect(site);

        CHECK_EQ(send_and_end(site, GET("/abort")), 0);
        CHECK_EQ(eddy_stream_write(stream, GET("/wait"), strlen(GET("/wait"))), 0);
        while (guarded.handled == 0)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        (void) copy_line(copy_line(guarded_lines()));
        eddy_stream_close(stream);
        CHECK_HAS(this_line, "\"status\":0,");
        CHECK_HAS(this_line, "\"error\":\"ECANCELED");
}

static int answer_teapot(eddy_http_exchange *exchange, int error, void *arg)
{
        (void) arg;
        return error == -EBUSY ? 0 : eddy_http_exchange_respond(exchange, 418, NULL, 0, "own", 3);
}

static void build_behind_a_proxy(void)
{
        struct eddy_http_trusted_proxies_opts trust = { .networks = "127.0.0.1" };

        CHECK_EQ(eddy_http_use_trusted_proxies(guarded.router, &trust), 0);
        CHECK_EQ(eddy_http_use_request_id(guarded.router, NULL), 0);
        build();
}

GUARDED_TEST_WITH(an_answer_in_place_of_the_handler_is_in_the_line,
                  SERVER_OPTIONS(.on_error = answer_teapot), build_behind_a_proxy)
{
        static const struct {
                const char *request;
                int status;
                const char *part;
        } cases[] = {
                { GET_WITH("/result/-5", "X-Forwarded-For: 192.0.2.7\r\nX-Request-Id: q1\r\n"), 418,
                  "\"route\":\"GET /result/{number}\",\"error\":\"EIO" },
                { GET_WITH("/result/-16", "X-Forwarded-For: 192.0.2.7\r\nX-Request-Id: q1\r\n"),
                  500, "\"error\":\"EBUSY" },
                { GET_WITH("/result/0", "X-Forwarded-For: 192.0.2.7\r\nX-Request-Id: q1\r\n"), 404,
                  "\"route\":\"GET /result/{number}\"" },
        };
        size_t sent[3];
        const char *line;

        for (size_t i = 0; i < 3; i++) {
                const struct answer *answer = ask(site, cases[i].request);

                CHECK_EQ(answer->status, cases[i].status);
                sent[i] = answer->bytes;
        }
        line = guarded_lines();
        for (size_t i = 0; i < 3; i++) {
                char text[80];

                line = copy_line(line);
                snprintf(text, sizeof(text), "\"status\":%d,", cases[i].status);
                CHECK_HAS(this_line, text);
                snprintf(text, sizeof(text), "\"sent\":%zu,", sent[i]);
                CHECK_HAS(this_line, text);
                CHECK_HAS(this_line, cases[i].part);
                CHECK_HAS(this_line, "\"client\":\"192.0.2.7\"");
                CHECK_HAS(this_line, "\"request_id\":\"q1\"");
        }
        CHECK_STR(line, "");
}

/* Middleware that answers errors itself. */
static int rescue(eddy_http_exchange *exchange, struct eddy_http_next *next, void *arg)
{
        int result = eddy_http_next(exchange, next);

        (void) arg;
        return result < 0 ? eddy_http_exchange_respond(exchange, 202, NULL, 0, "saved", 5) : result;
}

static void build_rescued(void)
{
        CHECK_EQ(eddy_http_router_use(guarded.router, rescue, NULL), 0);
        build();
        build();
}

GUARDED_TEST(an_answer_of_middleware_around_the_log_is_in_each_line, build_rescued)
{
        const char *lines;

        CHECK_EQ(ask(site, GET("/result/-5"))->status, 202);
        lines = copy_line(guarded_lines());
        CHECK_HAS(this_line, "\"status\":202,");
        CHECK_HAS_NOT(this_line, "\"sent\":0,");
        lines = copy_line(lines);
        CHECK_HAS(this_line, "\"status\":202,");
        CHECK_HAS(this_line, "\"error\":\"EIO");
        CHECK_STR(lines, "");
}

GUARDED_TEST(long_paths_and_methods_are_cut, build)
{
        static char request[9000];
        char path[7001];

        memset(path, 'p', sizeof(path) - 1);
        path[sizeof(path) - 1] = '\0';
        snprintf(request, sizeof(request), GET("/%s"), path);
        CHECK_EQ(ask(site, request)->status, 404);
        snprintf(request, sizeof(request),
                 "%.1000s / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", path);
        CHECK_EQ(ask(site, request)->status, 404);
        CHECK_EQ(ask(site, GET("/',x"))->status, 404);
        {
                const char *line = copy_line(guarded_lines());

                CHECK(strlen(this_line) < 1300 && strlen(this_line) > 1000);
                line = copy_line(line);
                CHECK(strlen(this_line) < 300);
                (void) copy_line(line);
                CHECK_HAS(this_line, "\"path\":\"/',x\"");
        }
}

GUARDED_TEST(no_request_writes_a_line_of_its_own, build)
{
        const char *lines;

        CHECK_EQ(ask(site, GET("/a%0d%0a%1b[31m{}',:"))->status, 404);
        CHECK_EQ(ask(site, SAY("M'|~{", "/ok", ""))->status, 400);
        CHECK_EQ(ask(site, SAY("M'|~", "/ok", ""))->status, 405);
        lines = copy_line(guarded_lines());
        CHECK_HAS(this_line, "\"path\":\"/a%0d%0a%1b[31m{}',:\"}");
        lines = copy_line(lines);
        CHECK_HAS(this_line, "\"method\":\"M'|~\"");
        CHECK_STR(lines, "");
}

static void build_without_path(void)
{
        struct eddy_http_access_log_opts opts = { .log = guarded.log,
                                                  .flags = EDDY_HTTP_ACCESS_NO_PATH };

        CHECK_EQ(eddy_http_use_access_log(guarded.router, NULL), 0);
        CHECK_EQ(eddy_http_use_access_log(guarded.router, &opts), 0);
}

GUARDED_TEST(paths_can_be_left_out, build_without_path)
{
        const char *lines;

        CHECK_EQ(ask(site, GET("/users/jane"))->status, 200);
        lines = guarded_lines();
        CHECK_HAS(lines, "\"route\":\"/users/{id}\"");
        CHECK_HAS_NOT(lines, "jane");
}

/* ---- identifiers ----------------------------------------------------------- */

static void build_ids(void)
{
        build();
        CHECK_EQ(eddy_http_use_request_id(guarded.router, NULL), 0);
        guarded.show = show_id;
}

GUARDED_TEST(a_safe_identifier_of_the_client_is_kept, build_ids)
{
        const struct answer *answer = ask(site, GET_WITH("/show", "x-request-id: Ab-1_2.z\r\n"));

        CHECK_HAS(answer->text, "X-Request-Id: Ab-1_2.z\r\n");
        CHECK_STR(body_of(answer), "Ab-1_2.z");
        CHECK_HAS(ask(site, GET_WITH("/none", "X-Request-Id: q1\r\n"))->text,
                  "X-Request-Id: q1\r\n");
        CHECK_HAS(ask(site, GET_WITH("/result/-5", "X-Request-Id: q2\r\n"))->text,
                  "X-Request-Id: q2\r\n");
        {
                const char *line = copy_line(guarded_lines());

                CHECK_HAS(this_line, "\"request_id\":\"Ab-1_2.z\"");
                line = copy_line(line);
                CHECK_HAS(this_line, "\"request_id\":\"q1\"");
                (void) copy_line(line);
                CHECK_HAS(this_line, "\"request_id\":\"q2\"");
        }
}

/* Ask with an identifier, and check that the request gets another. */
static void check_new(struct site *site, const char *id)
{
        static char request[9000], last[EDDY_UUID_TEXT_BYTES];
        const struct answer *answer;
        struct eddy_uuid uuid;

        snprintf(request, sizeof(request), GET_WITH("/show", "X-Request-Id: %s\r\n"), id);
        answer = ask(site, request);
        CHECK_EQ(eddy_uuid_parse(body_of(answer), strlen(body_of(answer)), &uuid), 0);
        CHECK(strcmp(body_of(answer), last) != 0);
        snprintf(last, sizeof(last), "%s", body_of(answer));
        snprintf(request, sizeof(request), "X-Request-Id: %s\r\n", last);
        CHECK_HAS(answer->text, request);
}

GUARDED_TEST(an_identifier_that_is_not_safe_is_replaced, build_ids)
{
        char id[EDDY_HTTP_REQUEST_ID_MAX + 2];

        check_new(site, "");
        check_new(site, "a b");
        check_new(site, "a\"b");
        check_new(site, "a,b");
        check_new(site, "\xc3\xa9");
        check_new(site, "<script>");
        memset(id, 'i', sizeof(id) - 1);
        id[sizeof(id) - 1] = '\0';
        check_new(site, id);
        id[sizeof(id) - 2] = '\0';
        {
                static char request[400];

                snprintf(request, sizeof(request), GET_WITH("/show", "X-Request-Id: %s\r\n"), id);
                CHECK_STR(body_of(ask(site, request)), id);
        }
        CHECK_EQ(ask(site, GET("/show"))->status, 200);
}

static void build_own_ids(void)
{
        char header[] = "X-Trace";
        struct eddy_http_request_id_opts opts = { .header = header,
                                                  .flags = EDDY_HTTP_REQUEST_ID_OWN };

        CHECK_EQ(eddy_http_use_request_id(guarded.router, &opts), 0);
        memset(header, 0, sizeof(header));
        guarded.show = show_id;
}

GUARDED_TEST(a_server_may_ignore_the_clients_identifiers, build_own_ids)
{
        const struct answer *answer = ask(site, GET_WITH("/show", "X-Trace: abc\r\n"));

        CHECK_HAS(answer->text, "\r\nX-Trace: ");
        CHECK_HAS_NOT(answer->text, "abc");
        CHECK_EQ(strlen(body_of(answer)), EDDY_UUID_TEXT_BYTES - 1);
}

TEST(a_header_that_is_not_a_name_is_a_mistake_of_the_router)
{
        const char *text;

        CHECK_EQ(eddy_http_router_new(&guarded.router), 0);
        CHECK_ERR(eddy_http_use_request_id(guarded.router,
                                           &(struct eddy_http_request_id_opts){ .header = "a b" }),
                  -EINVAL);
        CHECK_ERR(eddy_http_router_check(guarded.router, &text), -EINVAL);
        CHECK_HAS(text, "'header'");
        eddy_http_router_free(guarded.router);
}

static int answer_nothing(eddy_http_exchange *exchange, void *arg)
{
        (void) exchange;
        (void) arg;
        return 0;
}

static int build_and_ask(void *arg)
{
        struct eddy_http_access_log_opts opts = { .log = NULL };
        EDDY_AUTO(eddy_http_router) eddy_http_router *router = NULL;
        int err = eddy_http_router_new(&router);

        (void) arg;
        if (err < 0)
                return err;
        (void) eddy_http_use_access_log(router, &opts);
        (void) eddy_http_use_request_id(router, NULL);
        (void) eddy_http_router_add(router, "GET /", show_id, NULL, NULL);
        (void) eddy_http_router_add(router, "GET /none", answer_nothing, NULL, NULL);
        err = guarded_ask(router, "http://a/none", NULL, 0);
        if (err >= 0)
                err = err == 404 ? guarded_ask(router, "http://a/", NULL, 0) : err;
        return err < 0 ? err : err == 200 || err == 500 ? 0 : -EPROTO;
}

TEST(a_cancel_or_a_shortage_of_memory_at_any_point_leaves_nothing)
{
        guarded_sweep(build_and_ask);
}

/* ---- nesting --------------------------------------------------------------- */

enum { NESTED = 20 };

static void build_nested(void)
{
        for (int i = 0; i < NESTED; i++) {
                build();
                CHECK_EQ(eddy_http_use_request_id(guarded.router, NULL), 0);
                CHECK_EQ(eddy_http_use_trusted_proxies(guarded.router, NULL), 0);
                CHECK_EQ(eddy_http_use_cors(guarded.router,
                                            &(struct eddy_http_cors_opts){ .origins = "*" }),
                         0);
                CHECK_EQ(eddy_http_use_rate_limit(
                                 guarded.router,
                                 &(struct eddy_http_rate_limit_opts){ .requests = 600 }),
                         0);
                CHECK_EQ(eddy_http_use_timeout(guarded.router, EDDY_MIN(1)), 0);
                CHECK_EQ(eddy_http_use_body_limit(guarded.router, 1000), 0);
        }
}

/* Each adds a frame to the stack of the handler. */
GUARDED_TEST(twenty_of_each_middleware_fit_the_stack_of_a_handler, build_nested)
{
        const char *lines;
        int count = 0;

        CHECK_EQ(ask(site, GET("/ok"))->status, 200);
        CHECK_EQ(ask(site, GET("/none"))->status, 404);
        CHECK_EQ(ask(site, GET("/result/-22"))->status, 500);
        for (lines = guarded_lines(); (lines = strstr(lines, "\"request\"")) != NULL; lines++)
                count++;
        CHECK_EQ(count, 3 * NESTED);
}
