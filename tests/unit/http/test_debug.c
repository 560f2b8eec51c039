/*
 * test_debug.c - debug mode: what of the net and of HTTP is left at the end of
 * a run.
 */
#include "../scope/debug_test.h"

/* What is left stays in sight, so that it is no leak to whoever looks for those. */
static eddy_listener *listener;
static eddy_stream *streams[2];
static eddy_http_client *client;
static eddy_http_response *response;
static eddy_thread_pool *pool;

static int leaves_a_connection(void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 80, NULL, &listener), 0);
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", 80, NULL, &streams[0]), 0);
        CHECK_EQ(eddy_listener_accept(listener, &streams[1]), 0);
        return 0;
}

TEST(streams_and_listeners_that_are_left_are_reported_with_where_they_were_made)
{
        CHECK_EQ(debug_run(leaves_a_connection, NULL), 0);
        CHECK_STR(reported, "eddy: left when the run ended:\n"
                            "  a stream, made at program+0x1234\n"
                            "  a stream, made at program+0x1234\n"
                            "  a listener, made at program+0x1234\n");
}

static int answers(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, "hello", 5);
}

static int serves(void *arg)
{
        (void) arg;
        return eddy_http_serve(listener, NULL, answers, NULL);
}

static int asks(void *arg)
{
        struct eddy_http_request request = { .url = "http://127.0.0.1/" };
        bool leaves = *(const bool *) arg;
        eddy_scope scope;

        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 80, NULL, &listener), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_task_release(start_named(&scope, "server", serves, NULL));
        CHECK_EQ(eddy_http_client_new(NULL, &client), 0);
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(eddy_http_client_send(client, &request, &response), 0);
                if (i < 2 || !leaves)
                        eddy_http_response_close(response);
        }
        if (!leaves)
                eddy_http_client_close(client);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_listener_close(listener);
        return 0;
}

TEST(responses_and_clients_that_are_left_are_reported)
{
        bool leaves = true;

        CHECK_EQ(debug_run(asks, &leaves), 0);
        CHECK_STR(reported, "eddy: left when the run ended:\n"
                            "  an HTTP response, made at program+0x1234\n"
                            "  an HTTP client, made at program+0x1234\n");
}

TEST(an_object_that_was_given_back_is_not_reported)
{
        bool leaves = false;

        CHECK_EQ(debug_run(asks, &leaves), 0);
        CHECK_STR(reported, "");
}

static int makes_a_client(void *arg)
{
        (void) arg;
        return eddy_http_client_new(NULL, &client);
}

TEST(an_object_given_back_between_steps_of_the_loop_is_not_reported)
{
        struct ed_run *run = debug_run_still(leaves_a_connection, NULL);

        CHECK_EQ(ed_run_main(run, makes_a_client, NULL), 0);
        eddy_stream_close(streams[0]);
        eddy_stream_close(streams[1]);
        eddy_listener_close(listener);
        eddy_http_client_close(client);
        ed_run_close(run);
        CHECK_STR(reported, "");
}

static int makes_a_pool(void *arg)
{
        CHECK_EQ(eddy_thread_pool_new(NULL, &pool), 0);
        if (arg)
                eddy_thread_pool_close(pool);
        return 0;
}

TEST(a_thread_pool_that_is_left_is_reported)
{
        CHECK_EQ(debug_run(makes_a_pool, reported), 0);
        CHECK_STR(reported, "");
        CHECK_EQ(debug_run(makes_a_pool, NULL), 0);
        CHECK_STR(reported, "eddy: left when the run ended:\n"
                            "  a thread pool, made at program+0x1234\n");
}

static int opens_a_signal(void *arg)
{
        eddy_signal *signal;
        int signo = 10;

        CHECK_EQ(eddy_signal_open(&signo, 1, &signal), 0);
        if (arg)
                eddy_signal_close(signal);
        else
                *(eddy_signal **) &streams[0] = signal;
        return 0;
}

TEST(an_open_signal_that_is_left_is_reported)
{
        CHECK_EQ(debug_run(opens_a_signal, reported), 0);
        CHECK_STR(reported, "");
        CHECK_EQ(debug_run(opens_a_signal, NULL), 0);
        CHECK_STR(reported, "eddy: left when the run ended:\n"
                            "  an open signal, made at program+0x1234\n");
}

/* --- names --- */

static char dumped[8192];

static void dump_line(const char *line, void *arg)
{
        size_t bytes = strlen(dumped);

        (void) arg;
        snprintf(dumped + bytes, sizeof(dumped) - bytes, "%s\n", line);
}

/* While the rest of the body is on its way. */
static int dumps(eddy_http_exchange *exchange, void *arg)
{
        char first[1];

        CHECK_EQ(eddy_http_exchange_read(exchange, first, 1), 1);
        CHECK_EQ(eddy_dump(dump_line, NULL), 0);
        return answers(exchange, arg);
}

static int serves_dumps(void *arg)
{
        (void) arg;
        return eddy_http_serve(listener, NULL, dumps, NULL);
}

enum { BODY_BYTES = 4 << 20 };

TEST_ROOM(char, body, BODY_BYTES);

static int sends_much(void *arg)
{
        struct eddy_http_request request = { .url = "http://127.0.0.1/",
                                             .body = body,
                                             .body_bytes = BODY_BYTES };
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 80, NULL, &listener), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, serves_dumps, NULL), 0);
        CHECK_EQ(eddy_http_client_new(NULL, &client), 0);
        CHECK_EQ(eddy_http_client_send(client, &request, &response), 0);
        eddy_http_response_close(response);
        eddy_http_client_close(client);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_listener_close(listener);
        return 0;
}

TEST(tasks_of_the_client_and_the_server_are_named_by_their_work)
{
        CHECK_EQ(debug_run(sends_much, NULL), 0);
        CHECK(strstr(dumped, " serves_dumps waits for ") != NULL);
        CHECK(strstr(dumped, " serve_keeper waits for ") != NULL);
        CHECK(strstr(dumped, " http_connection runs") != NULL);
        CHECK(strstr(dumped, " http_upload waits for ") != NULL);
}
