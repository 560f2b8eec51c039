/*
 * test_handler.c - what a handler may leave on its connection's task: nothing of it reaches the
 * next request.
 */
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
