/*
 * test_handler.c - what a handler may leave on its connection's task: nothing of it reaches the
 * next request.
 */
#include "eddy/test.h"
#include "server_test.h"

#define HOST      "Host: h\r\n"
#define GET(path) "GET " path " HTTP/1.1\r\n" HOST "\r\n"

#define HANDLER_TEST(claim, function)                                                              \
        static void site_##claim(struct site *site);                                               \
        static void prepare_##claim(struct site *site)                                             \
        {                                                                                          \
                site->handler = (function);                                                        \
        }                                                                                          \
        TEST(claim)                                                                                \
        {                                                                                          \
                site_run_prepared(NULL, false, prepare_##claim, site_##claim);                     \
        }                                                                                          \
        static void site_##claim(struct site *site)

/* ---- values and log values ------------------------------------------------- */

static const eddy_var user_var = EDDY_VAR("user", char[16]);

/* Answer with the user and the bound log values that the request begins with, and bind its own. */
static int bind_user(eddy_http_exchange *exchange, void *arg)
{
        const char *user = eddy_http_exchange_header(exchange, "X-User");
        const char *seen = eddy_var_get(&user_var);
        char copy[16] = "", text[32];
        int n = snprintf(text, sizeof(text), "[%s]", seen ? seen : "");

        (void) arg;
        if (user) {
                snprintf(copy, sizeof(copy), "%s", user);
                CHECK_EQ(eddy_var_set(&user_var, copy), 0);
                CHECK_STR((const char *) eddy_var_get(&user_var), user);
        }
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, text, (size_t) n);
}

HANDLER_TEST(a_value_that_a_handler_sets_ends_with_its_request, bind_user)
{
        eddy_stream *stream = site_connect(site);

        say(stream, "GET /a HTTP/1.1\r\n" HOST "X-User: alice\r\n\r\n", "\r\n\r\n[]");
        CHECK_HAS(say(stream, GET("/b"), "]"), "\r\n\r\n[]");
        eddy_stream_close(stream);
}

static void set_before(struct site *site)
{
        static const char user[16] = "server";

        CHECK_EQ(eddy_var_set(&user_var, user), 0);
        site->handler = bind_user;
}

static void ask_twice(struct site *site)
{
        eddy_stream *stream = site_connect(site);

        say(stream, "GET /a HTTP/1.1\r\n" HOST "X-User: alice\r\n\r\n", "\r\n\r\n[server]");
        say(stream, GET("/b"), "\r\n\r\n[server]");
        eddy_stream_close(stream);
}

TEST(each_request_begins_with_the_values_of_the_server)
{
        site_run_prepared(NULL, false, set_before, ask_twice);
}

static int set_user(const char *name)
{
        char copy[16] = "";

        snprintf(copy, sizeof(copy), "%s", name);
        return eddy_var_set(&user_var, copy);
}

/* Answer as bind_user(), but fail after a value was set. */
static int fail_with_user(eddy_http_exchange *exchange, void *arg)
{
        if (!eddy_http_exchange_header(exchange, "X-User"))
                return bind_user(exchange, arg);
        CHECK_EQ(set_user("handler"), 0);
        return -EIO;
}

/* Answer with the user of the handler, and set another one. */
static int answer_user(eddy_http_exchange *exchange, int error, void *arg)
{
        const char *user = eddy_var_get(&user_var);

        (void) error;
        (void) arg;
        CHECK_STR(user, "handler");
        CHECK_EQ(set_user("on_error"), 0);
        return eddy_http_exchange_respond(exchange, 500, NULL, 0, "<failed>", 8);
}

static void prepare_failing(struct site *site)
{
        site->opts.on_error = answer_user;
        site->handler = fail_with_user;
}

static void ask_failing(struct site *site)
{
        eddy_stream *stream = site_connect(site);

        say(stream, "GET /a HTTP/1.1\r\n" HOST "X-User: alice\r\n\r\n", "<failed>");
        CHECK_HAS(say(stream, GET("/b"), "]"), "\r\n\r\n[]");
        eddy_stream_close(stream);
}

TEST(values_of_a_handler_that_fails_and_of_on_error_end_with_the_request)
{
        site_run_prepared(NULL, false, prepare_failing, ask_failing);
}

static eddy_log *log_of_lines;

static int log_user(eddy_http_exchange *exchange, void *arg)
{
        const char *user = eddy_http_exchange_header(exchange, "X-User");

        (void) arg;
        if (user)
                CHECK_EQ(eddy_log_bind(eddy_log_str("user", user)), 0);
        eddy_log_info(log_of_lines, "served");
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok", 2);
}

HANDLER_TEST(a_log_value_that_a_handler_binds_ends_with_its_request, log_user)
{
        eddy_stream *stream = site_connect(site), *near, *far;
        char lines[1024];

        CHECK_EQ(eddy_stream_pair(NULL, &near, &far), 0);
        CHECK_EQ(eddy_log_open(&(struct eddy_log_opts){ .stream = near }, &log_of_lines), 0);
        say(stream, "GET /a HTTP/1.1\r\n" HOST "X-User: alice\r\n\r\n", "ok");
        say(stream, GET("/b"), "ok");
        eddy_log_close(log_of_lines);
        eddy_stream_close(near);
        CHECK(read_until(far, lines, sizeof(lines), "served\"}\n"));
        eddy_stream_close(far);
        CHECK_HAS(lines, "alice");
        CHECK_HAS_NOT(strchr(lines, '\n'), "alice");
        eddy_stream_close(stream);
}

/* ---- answers that are not valid HTTP --------------------------------------- */

/* What a handler answers, and the reason that the report of it has. */
static const struct wrong {
        int status;
        struct eddy_http_header header;
        size_t body_bytes;
        const char *reason;
} wrongs[] = {
        { 200,
          { "X-Id", "a\r\nEvil: 1" },
          0,
          "the value of the header \"X-Id\" has a control character" },
        { 200, { "X\r\nEvil", "1" }, 0, "the name of the header \"X??Evil\" is not a token" },
        { 200, { "", "1" }, 0, "the name of the header \"\" is not a token" },
        { 200, { NULL, "1" }, 0, "a header has no name (NULL)" },
        { 200, { "X-Id", NULL }, 0, "a header has no value (X-Id)" },
        { 200,
          { "Content-Length", "3" },
          0,
          "the server writes the header \"Content-Length\" itself: leave it out" },
        { 200, { "connection", "upgrade" }, 0, "the header \"connection\" can only be \"close\"" },
        { 99, { "X-Id", "1" }, 0, "the status 99 is not one from 200 to 999" },
        { 204, { "X-Id", "1" }, 1, "a response with the status 204 has no body" },
};

static const struct wrong *wrong;
static bool is_ignored;

static int answer_wrongly(eddy_http_exchange *exchange, void *arg)
{
        int err = eddy_http_exchange_respond(exchange, wrong->status, &wrong->header, 1, "x",
                                             wrong->body_bytes);

        (void) arg;
        CHECK_ERR(err, EDDY_E_HTTP_INVALID_ANSWER);
        return is_ignored ? 0 : err;
}

static int serve_wrongly(void *arg)
{
        (void) eddy_http_serve(arg, NULL, answer_wrongly, NULL);
        return 0;
}

static int ask_for_wrong(void *arg)
{
        struct answer *answer = arg;
        eddy_listener *listener;
        eddy_stream *stream;
        eddy_scope scope;

        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 80, NULL, &listener), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, serve_wrongly, listener), 0);
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", 80, NULL, &stream), 0);
        CHECK_EQ(eddy_stream_write(stream, GET("/a?secret"), strlen(GET("/a?secret"))), 0);
        read_answer(stream, answer);
        eddy_stream_close(stream);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_listener_close(listener);
        return 0;
}

/* The client sees a 500; the program's report names the header, but not its value. */
TEST(an_answer_that_is_not_valid_is_reported_with_the_headers_name)
{
        static struct answer answer;
        struct eddy_test_result result;
        char expected[256];

        for (size_t i = 0; i < 2 * sizeof(wrongs) / sizeof(wrongs[0]); i++) {
                wrong = &wrongs[i / 2];
                is_ignored = i % 2 == 1;
                (void) eddy_test_run(ask_for_wrong, &answer, NULL, &result);
                CHECK_EQ(answer.status, 500);
                CHECK_EQ(answer.responses, 1);
                CHECK_HAS_NOT(answer.text, "X-Id");
                snprintf(expected, sizeof(expected),
                         "http_connection the answer to GET /a was refused: %s", wrong->reason);
                CHECK_STR(result.problem, expected);
        }
}
