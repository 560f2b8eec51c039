/*
 * calls_http.c - the worlds of an HTTP client and server; see every_call.h.
 *
 * Victims are those who ask, or the server's handler, or the server itself.
 * Each caller that is not cancelled gets a full answer, or an error.
 */
#include "every_call.h"
#include "http/router.h"
#include "http/run.h"

enum { ASKING = 2, BYTES = 300, PART = 120 };

static struct {
        eddy_listener *listener;
        eddy_http_client *client;
        char url[64];
        eddy_task_fn *ask;    /* what a client does, with a response */
        eddy_task_fn *answer; /* what the handler does, as a victim */
        eddy_http_response *response[ASKING];
        eddy_http_exchange *exchange;
        int turns; /* of each who asks */
        int asked, answered, handled, served;
        bool drain, answer_unread; /* the answer reads the request itself */
        bool listens;              /* a server of eddy_http_run() */
        char place[32];
} web;

static void fill(char *buf, size_t at, size_t n)
{
        for (size_t i = 0; i < n; i++)
                buf[i] = (char) ('a' + (at + i) % 26);
}

static void check_bytes(const char *buf, size_t at, size_t n)
{
        for (size_t i = 0; i < n; i++)
                CHECK_EQ(buf[i], (char) ('a' + (at + i) % 26));
}

/* --- the server --- */

static int respond_in_parts(eddy_http_exchange *exchange)
{
        char body[BYTES];
        int err = eddy_http_exchange_begin(exchange, 200, NULL, 0, web.drain ? BYTES : -1);

        fill(body, 0, BYTES);
        for (size_t at = 0, n; at < BYTES && err == 0; at += n) {
                n = BYTES - at < PART ? BYTES - at : PART;
                err = eddy_http_exchange_write(exchange, body + at, n);
                if (err == 0 && world_chance(4))
                        err = eddy_http_exchange_flush(exchange);
                if (err == 0 && world_chance(2))
                        err = eddy_sleep(world_delay_ns());
        }
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

static int respond_at_once(eddy_http_exchange *exchange)
{
        char body[BYTES];
        int err = eddy_sleep(world_delay_ns());

        fill(body, 0, BYTES);
        return err < 0 ? err : eddy_http_exchange_respond(exchange, 200, NULL, 0, body, BYTES);
}

static int handle(eddy_http_exchange *exchange, void *arg)
{
        const void *data;
        size_t bytes;
        int err;

        (void) arg;
        /* All of the request first: neither side reads while it writes. */
        err = web.answer_unread ? 0 : eddy_http_exchange_body(exchange, &data, &bytes);
        if (err < 0)
                return err;
        if (web.answer)
                err = victim_call(web.answer, exchange);
        else
                err = world_chance(2) ? respond_in_parts(exchange) : respond_at_once(exchange);
        web.handled++;
        return err;
}

static int serve(void *arg)
{
        struct eddy_http_server_opts opts = { .drain_ns = web.drain ? EDDY_MS(2) : 0 };

        (void) arg;
        return eddy_http_serve(web.listener, &opts, handle, NULL);
}

static int serve_task(void *arg)
{
        int err = serve(arg);

        CHECK_EQ(err, -ECANCELED);
        web.served++;
        return 0;
}

/* Listen and connect by a Unix socket, or by TCP. */
static bool by_path;

static void web_begin(void)
{
        /* One connection to fight for, at times. */
        struct eddy_http_client_opts opts = { .per_host_max = 1 + (uint32_t) world_chance(2) };

        /* Limits that are never reached, at times. */
        if (world_chance(2))
                opts.timeouts = (struct eddy_http_timeouts){ EDDY_MIN(1), EDDY_MIN(1), EDDY_MIN(1),
                                                             EDDY_MIN(1) };
        memset(&web, 0, sizeof(web));
        web.turns = 2;
        web.drain = world_chance(2);
        if (by_path) {
                opts.unix_path = "@web";
                CHECK_EQ(eddy_unix_listen(opts.unix_path, NULL, &web.listener), 0);
        } else {
                CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &web.listener), 0);
        }
        CHECK_EQ(eddy_http_client_new(&opts, &web.client), 0);
        snprintf(web.url, sizeof(web.url), "http://127.0.0.1:%u/",
                 by_path ? 80 : eddy_listener_port(web.listener));
}

void world_close_client(eddy_http_client *client)
{
        struct eddy_http_client_stats stats;

        eddy_http_client_stats(client, &stats);
        CHECK_EQ(stats.waiting, 0);
        CHECK_EQ(stats.open, stats.idle);
        eddy_http_client_close(client);
}

static void web_end(void)
{
        world_close_client(web.client);
        eddy_listener_close(web.listener);
}

/* --- the client --- */

/* Sources of bodies, which live as long as their responses. */
static struct source {
        struct eddy_http_body_source source;
        size_t at;
} sources[4 * ASKING];
static size_t sources_used;

static int64_t source_read(void *arg, void *buf, size_t bytes)
{
        struct source *source = arg;
        size_t n = BYTES - source->at < PART ? BYTES - source->at : PART;

        CHECK(bytes >= n);
        if (world_chance(2) && eddy_sleep(world_delay_ns()) < 0)
                return -ECANCELED;
        fill(buf, source->at, n);
        source->at += n;
        return (int64_t) n;
}

static const struct eddy_http_body_source *source_next(void)
{
        struct source *source = &sources[sources_used++ % (4 * ASKING)];

        *source = (struct source){ .source = { .read = source_read, .arg = source } };
        source->source.bytes = world_chance(2) ? BYTES : -1;
        return &source->source;
}

static int send_request(eddy_http_response **ret_response)
{
        char body[BYTES];
        struct eddy_http_request request = { .url = web.url };

        if (world_chance(3) == 0) {
                request.method = "PUT";
                request.body_source = source_next();
        } else if (web.answer || world_chance(2)) {
                fill(body, 0, BYTES);
                request.method = "PUT";
                request.body = body;
                request.body_bytes = BYTES;
        }
        return eddy_http_client_send(web.client, &request, ret_response);
}

/* 'arg': where the response goes. */
static int send_call(void *arg)
{
        eddy_http_response **response = arg;
        int err = send_request(response);

        CHECK_EQ(err == 0, *response != NULL);
        return err;
}

static int check_whole(eddy_http_response *response)
{
        const void *data = NULL;
        size_t bytes = 0;
        int err = eddy_http_response_body(response, &data, &bytes);

        CHECK_EQ(err == 0, data != NULL);
        if (err == 0) {
                CHECK_EQ(eddy_http_response_status(response), 200);
                CHECK_EQ(bytes, BYTES);
                check_bytes(data, 0, bytes);
        }
        return err;
}

static int body_call(void *arg)
{
        return check_whole(arg);
}

static int read_call(void *arg)
{
        char buf[70];
        size_t at = 0;
        int64_t n;

        while ((n = eddy_http_response_read(arg, buf, sizeof(buf))) > 0) {
                check_bytes(buf, at, (size_t) n);
                at += (size_t) n;
        }
        if (n == 0)
                CHECK_EQ(at, BYTES);
        return (int) n;
}

/* The body is not JSON, which is found when all of it has been read. */
static int json_call(void *arg)
{
        static const struct eddy_fields none;
        int err = eddy_http_response_json(arg, &none, NULL);

        CHECK_EQ(err == EDDY_E_JSON_SYNTAX, eddy_http_response_json_error(arg) != NULL);
        return err == EDDY_E_JSON_SYNTAX ? 0 : err;
}

static int discard_call(void *arg)
{
        return eddy_http_response_discard(arg);
}

/* With web.ask: the response's body is what is cancelled, else the request. */
static int ask_as_victim(void *arg)
{
        for (int i = 0; i < 2; i++) {
                eddy_http_response *response = NULL;
                int err;

                world_pause();
                err = web.ask ? send_call(&response) : victim_call(send_call, &response);
                if (err == 0)
                        err = web.ask ? victim_call(web.ask, response) : check_whole(response);
                /* In a task that was cancelled for good, what follows is as well. */
                CHECK(err == 0 || err == -ECANCELED);
                web.answered += err == 0;
                web.asked++;
                eddy_http_response_close(response);
        }
        (void) arg;
        return 0;
}

static int run_clients(eddy_task_fn *ask)
{
        eddy_scope serving;

        web_begin();
        web.ask = ask;
        world_begin(2 * ASKING);
        eddy_scope_begin(&serving, NULL);
        world_start(&serving, serve_task, NULL, 1);
        world_run(ask_as_victim, NULL, ASKING);
        CHECK_EQ(web.asked, 2 * ASKING);
        /* The pool is none the worse. */
        web.ask = NULL;
        {
                eddy_http_response *response = NULL;

                CHECK_EQ(send_call(&response), 0);
                CHECK_EQ(check_whole(response), 0);
                eddy_http_response_close(response);
        }
        eddy_scope_cancel(&serving);
        CHECK_EQ(eddy_scope_end(&serving), 0);
        CHECK_EQ(web.served, 1);
        web_end();
        return 0;
}

static int world_send(void *arg)
{
        (void) arg;
        return run_clients(NULL);
}
EVERY_POINT_WEB(send, eddy_http_client_send)

static int world_send_by_path(void *arg)
{
        by_path = true;
        return world_send(arg);
}
EVERY_POINT_WEB(send_by_path, eddy_http_client_send)

static int world_response_body(void *arg)
{
        (void) arg;
        return run_clients(body_call);
}
EVERY_POINT_WEB(response_body, eddy_http_response_body)

static int world_response_json(void *arg)
{
        (void) arg;
        return run_clients(json_call);
}
EVERY_POINT_WEB(response_json, eddy_http_response_json)

static int world_response_read(void *arg)
{
        (void) arg;
        return run_clients(read_call);
}
EVERY_POINT_WEB(response_read, eddy_http_response_read)

static int world_response_discard(void *arg)
{
        (void) arg;
        return run_clients(discard_call);
}
EVERY_POINT_WEB(response_discard, eddy_http_response_discard)

/* --- the handler is cancelled --- */

static int ask_and_see(void *arg)
{
        for (int i = 0; i < web.turns; i++) {
                eddy_http_response *response = NULL;
                int err;

                world_pause();
                err = send_call(&response);
                if (err == 0 && eddy_http_response_status(response) == 200)
                        err = check_whole(response);
                /* Whole, or known not to be. */
                if (err < 0)
                        CHECK(world_is_cancelled());
                web.answered += err == 0;
                web.asked++;
                eddy_http_response_close(response);
        }
        (void) arg;
        return 0;
}

static int run_handler_for(eddy_task_fn *answer, bool reads, eddy_task_fn *ask)
{
        eddy_scope serving;

        web_begin();
        web.answer = answer;
        web.answer_unread = reads;
        world_begin(2 * ASKING);
        eddy_scope_begin(&serving, NULL);
        world_start(&serving, serve_task, NULL, 1);
        world_run(ask, NULL, ASKING);
        CHECK_EQ(web.asked, 2 * ASKING);
        world_cancels_too();
        eddy_scope_cancel(&serving);
        CHECK_EQ(eddy_scope_end(&serving), 0);
        web_end();
        return 0;
}

static int run_handler(eddy_task_fn *answer, bool reads)
{
        return run_handler_for(answer, reads, ask_and_see);
}

static int exchange_read(void *arg)
{
        char buf[70];
        size_t at = 0;
        int64_t n;

        while ((n = eddy_http_exchange_read(arg, buf, sizeof(buf))) > 0) {
                check_bytes(buf, at, (size_t) n);
                at += (size_t) n;
        }
        if (n < 0)
                return (int) n;
        CHECK_EQ(at, BYTES);
        return respond_at_once(arg);
}

static int world_exchange_read(void *arg)
{
        (void) arg;
        return run_handler(exchange_read, true);
}
EVERY_POINT_WEB(exchange_read, eddy_http_exchange_read)

static int exchange_body(void *arg)
{
        const void *data;
        size_t bytes;
        int err = eddy_http_exchange_body(arg, &data, &bytes);

        if (err < 0)
                return err;
        CHECK_EQ(bytes, BYTES);
        check_bytes(data, 0, bytes);
        return respond_at_once(arg);
}

static int world_exchange_body(void *arg)
{
        (void) arg;
        return run_handler(exchange_body, true);
}
EVERY_POINT_WEB(exchange_body, eddy_http_exchange_body)

static int answer_route(eddy_http_exchange *exchange, void *arg)
{
        CHECK(arg == &web);
        CHECK_STR(eddy_http_exchange_param(exchange, "path"), "");
        return respond_at_once(exchange);
}

static int call_next(eddy_http_exchange *exchange, struct eddy_http_next *next, void *arg)
{
        int err = eddy_http_next(exchange, next);

        CHECK(arg == &web);
        return err;
}

static eddy_http_router *routes;

/* By the route of a router, through middleware. */
static int exchange_route(void *exchange)
{
        return eddy_http_router_handle(exchange, routes);
}

/* The server counts a request after its handler, so the metrics live as long as the server. */
static int world_exchange_route(void *arg)
{
        const struct eddy_metrics_opts own = { .without_process = true, .without_loop = true };
        eddy_http_server_metrics *measured;
        eddy_metrics *metrics;
        int err;

        (void) arg;
        CHECK_EQ(eddy_metrics_new(&own, &metrics), 0);
        CHECK_EQ(eddy_http_server_metrics_new(metrics, &measured), 0);
        CHECK_EQ(eddy_http_router_new(&routes), 0);
        CHECK_EQ(eddy_http_router_use(routes, eddy_http_measure, measured), 0);
        CHECK_EQ(eddy_http_router_use(routes, call_next, &web), 0);
        CHECK_EQ(eddy_http_router_add(routes, "/{path...}", answer_route, &web, NULL), 0);
        err = run_handler(exchange_route, false);
        eddy_http_router_free(routes);
        eddy_http_server_metrics_free(measured);
        eddy_metrics_close(metrics);
        return err;
}
EVERY_POINT_WEB(exchange_route, eddy_http_router_handle)
ALSO(exchange_route, eddy_http_next)
ALSO(exchange_route, eddy_http_measure)

static int exchange_hints(void *arg)
{
        const struct eddy_http_header hint = { "Link", "</a>; rel=preload" };
        int err = 0;

        for (int i = 0; i < 2 && err == 0; i++)
                err = eddy_http_exchange_early_hints(arg, &hint, 1);
        return err < 0 ? err : respond_at_once(arg);
}

static int world_exchange_hints(void *arg)
{
        (void) arg;
        return run_handler(exchange_hints, false);
}
EVERY_POINT_WEB(exchange_hints, eddy_http_exchange_early_hints)

struct readiness {
        eddy_http_exchange *exchange;
        int result;
};

static int answer_in_check(void *arg)
{
        struct readiness *readiness = arg;

        readiness->result = respond_at_once(readiness->exchange);
        return readiness->result;
}

/* The check answers, so the handler's own answer comes too late. */
static int exchange_ready(void *arg)
{
        struct readiness readiness = { arg, 0 };
        const struct eddy_http_check check = { "answers", answer_in_check, &readiness };
        struct eddy_http_ready_opts opts = { .checks = &check,
                                             .checks_count = 1,
                                             .timeout_ns = EDDY_SEC(1000) };
        int err = eddy_http_handle_ready(arg, &opts);

        CHECK(err == EDDY_E_HTTP_STATE || err == -ECANCELED);
        err = eddy_http_handle_live(arg, NULL);
        CHECK(err == EDDY_E_HTTP_STATE || err == -ECANCELED);
        return readiness.result;
}

static int world_exchange_ready(void *arg)
{
        (void) arg;
        return run_handler(exchange_ready, false);
}
EVERY_POINT_WEB(exchange_ready, eddy_http_handle_ready)
ALSO(exchange_ready, eddy_http_handle_live)

static int exchange_respond(void *arg)
{
        return respond_at_once(arg);
}

static int world_exchange_respond(void *arg)
{
        (void) arg;
        return run_handler(exchange_respond, false);
}
EVERY_POINT_WEB(exchange_respond, eddy_http_exchange_respond)

static int respond_with(eddy_http_exchange *exchange, eddy_file *file)
{
        struct eddy_http_file_body source;
        char body[BYTES];
        int err;

        fill(body, 0, BYTES);
        err = eddy_file_write(file, body, BYTES);
        if (err == 0)
                err = eddy_http_file_body_init(&source, file, 0, BYTES);
        if (err < 0)
                return err;
        return eddy_http_exchange_respond_file(exchange, 200, NULL, 0, file, 0,
                                               EDDY_HTTP_FILE_REST);
}

static int exchange_file(void *arg)
{
        eddy_file *file;
        int err = eddy_file_temporary(NULL, &file);

        if (err < 0)
                return err;
        err = respond_with(arg, file);
        eddy_file_close(file);
        return err;
}

static int world_exchange_file(void *arg)
{
        (void) arg;
        return run_handler(exchange_file, false);
}
EVERY_POINT_WEB(exchange_file, eddy_http_exchange_respond_file)
ALSO(exchange_file, eddy_http_file_body_init)

static int exchange_in_parts(void *arg)
{
        return respond_in_parts(arg);
}

static int world_exchange_write(void *arg)
{
        (void) arg;
        return run_handler(exchange_in_parts, false);
}
EVERY_POINT_WEB(exchange_write, eddy_http_exchange_write)
ALSO(exchange_write, eddy_http_exchange_begin)
ALSO(exchange_write, eddy_http_exchange_end)
ALSO(exchange_write, eddy_http_exchange_flush)

/* --- the page of metrics --- */

static eddy_metrics *metrics;

static int ask_page_once(void)
{
        static const char page[] = "# TYPE a_total counter\na_total 0\n";
        char url[100];
        struct eddy_http_request request = { .url = url };
        eddy_http_response *response = NULL;
        const void *data;
        size_t bytes;
        int err;

        snprintf(url, sizeof(url), "%smetrics", web.url);
        err = eddy_http_client_send(web.client, &request, &response);
        if (err == 0)
                err = eddy_http_response_body(response, &data, &bytes);
        if (err == 0 && eddy_http_response_status(response) == 200)
                CHECK_STR(data, page);
        eddy_http_response_close(response);
        return err;
}

static int ask_page(void *arg)
{
        for (int i = 0; i < web.turns; i++) {
                int err;

                world_pause();
                err = ask_page_once();
                if (err < 0)
                        CHECK(world_is_cancelled());
                web.answered += err == 0;
                web.asked++;
        }
        (void) arg;
        return 0;
}

static int answer_page(void *arg)
{
        return eddy_http_metrics(arg, metrics);
}

static int world_http_metrics(void *arg)
{
        struct eddy_metrics_opts opts = { .without_process = 1, .without_loop = 1 };
        int err;

        (void) arg;
        CHECK_EQ(eddy_metrics_new(&opts, &metrics), 0);
        CHECK(eddy_metrics_counter(metrics, "a_total", NULL, NULL) != NULL);
        err = run_handler_for(answer_page, false, ask_page);
        eddy_metrics_close(metrics);
        return err;
}
EVERY_POINT_WEB(http_metrics, eddy_http_metrics)

/* --- the handler takes the stream --- */

static const char upgrade_request[] = "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\n"
                                      "Upgrade: echo\r\n\r\nearly";

/* Returns whether the whole answer came. */
static bool ask_upgrade_once(eddy_stream *stream)
{
        char text[300] = "";
        size_t held = 0;
        int64_t n;

        if (eddy_stream_write(stream, upgrade_request, sizeof(upgrade_request) - 1) < 0)
                return false;
        while (held < sizeof(text) - 1 &&
               (n = eddy_stream_read(stream, text + held, sizeof(text) - 1 - held)) > 0)
                held += (size_t) n;
        return held > 5 && strcmp(text + held - 5, "early") == 0;
}

static int ask_upgrade(void *arg)
{
        for (int i = 0; i < web.turns; i++) {
                eddy_stream *stream = NULL;
                bool whole;

                world_pause();
                CHECK_EQ(eddy_tcp_connect("127.0.0.1", eddy_listener_port(web.listener), NULL,
                                          &stream),
                         0);
                whole = ask_upgrade_once(stream);
                CHECK(whole || world_is_cancelled());
                web.answered += whole;
                web.asked++;
                eddy_stream_close(stream);
        }
        (void) arg;
        return 0;
}

static int exchange_upgrade(void *arg)
{
        struct eddy_http_header header = { "Upgrade", "echo" };
        const void *early;
        size_t early_bytes = 0;
        eddy_stream *stream = NULL;
        int err = eddy_http_exchange_upgrade(arg, &header, 1, &stream, &early, &early_bytes);

        CHECK_EQ(err == 0, stream != NULL);
        if (err == 0)
                err = eddy_stream_write(stream, early, early_bytes);
        /* The rest may come later. */
        for (size_t at = early_bytes; at < 5 && err == 0; at++) {
                char c;

                err = (int) eddy_stream_read(stream, &c, 1);
                if (err > 0)
                        err = eddy_stream_write(stream, &c, 1);
        }
        eddy_stream_close(stream);
        return err;
}

static int world_exchange_upgrade(void *arg)
{
        (void) arg;
        return run_handler_for(exchange_upgrade, true, ask_upgrade);
}
EVERY_POINT_WEB(exchange_upgrade, eddy_http_exchange_upgrade)

/* --- the server is cancelled --- */

/* Also by a deadline, with requests under way that may or may not be drained. */
static int serve_as_victim(void *arg)
{
        CHECK_EQ(victim_call(serve, arg), -ECANCELED);
        web.served++;
        return 0;
}

static int world_serve(void *arg)
{
        eddy_scope serving, asking;

        web_begin();
        web.turns = 1;
        world_begin(1);
        eddy_scope_begin(&serving, NULL);
        world_start(&serving, serve_as_victim, arg, 1);
        eddy_scope_begin(&asking, &(struct eddy_scope_opts){ .timeout_ns = EDDY_MS(500) });
        world_start(&asking, ask_and_see, NULL, ASKING);
        (void) eddy_scope_end(&asking);
        world_cancels_too();
        eddy_scope_cancel(&serving);
        CHECK_EQ(eddy_scope_end(&serving), 0);
        CHECK_EQ(web.served, 1);
        web_end();
        return 0;
}
EVERY_POINT_WEB(serve, eddy_http_serve)

/* --- a server of a program that is one --- */

static int serve_as_program(void *router)
{
        struct eddy_http_server_opts opts = { .drain_ns = web.drain ? EDDY_MS(2) : 1 };
        const char *url = world_chance(2) ? eddy_http_run_url(router) : "";

        if (url[0])
                snprintf(web.url, sizeof(web.url), "%s/", url);
        web.listens = true;
        return eddy_http_run_serve(router, &opts);
}

/* The function of the program. */
static int program(eddy_http_router *router, void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_http_router_add(router, "/{path...}", handle, NULL, NULL), 0);
        return victim_call(serve_as_program, router);
}

static int run_program(void *run)
{
        CHECK_EQ(ed_http_run_loop(run), -ECANCELED);
        web.served++;
        return 0;
}

static int world_run_serve(void *arg)
{
        struct ed_http_run run = { .fn = program };
        eddy_scope serving, asking;

        (void) arg;
        web_begin();
        /* On the port of the listener of web_begin(). */
        run.opts.listen = web.place;
        snprintf(web.place, sizeof(web.place), "127.0.0.1:%u", eddy_listener_port(web.listener));
        eddy_listener_close(web.listener);
        web.listener = NULL;
        web.turns = 1;
        ed_mutex_init(&run.lock);
        world_begin(1);
        eddy_scope_begin(&serving, NULL);
        world_start(&serving, run_program, &run, 1);
        while (!web.listens)
                CHECK_EQ(eddy_sleep(EDDY_US(100)), 0);
        eddy_scope_begin(&asking, &(struct eddy_scope_opts){ .timeout_ns = EDDY_MS(500) });
        world_start(&asking, ask_and_see, NULL, ASKING);
        (void) eddy_scope_end(&asking);
        world_cancels_too();
        eddy_scope_cancel(&serving);
        CHECK_EQ(eddy_scope_end(&serving), 0);
        CHECK_EQ(web.served, 1);
        ed_mutex_fini(&run.lock);
        web_end();
        return 0;
}
ALSO(run_serve, eddy_http_run_url)
EVERY_POINT_WEB(run_serve, eddy_http_run_serve)

/* --- one stream is served --- */

enum { GIVEN = 3 };

static int answer_given(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return world_chance(2) ? respond_in_parts(exchange) : respond_at_once(exchange);
}

static int serve_given(void *arg)
{
        struct eddy_http_server_opts opts = { .drain_ns = world_chance(2) ? EDDY_MS(2) : 0 };

        return eddy_http_serve_stream(arg, &opts, answer_given, NULL);
}

static int serve_given_as_victim(void *arg)
{
        int err = victim_call(serve_given, arg);

        CHECK(err == 0 || err == -ECANCELED);
        web.served++;
        return 0;
}

/* Send the request in two parts. Returns the bytes of the answer. */
static size_t ask_given_once(eddy_stream *stream)
{
        static const char request[] = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        const size_t first = 1 + world_chance(sizeof(request) - 2);
        size_t held = 0;
        char text[300];
        int64_t n;

        if (eddy_stream_write(stream, request, first) < 0)
                return 0;
        world_pause();
        if (eddy_stream_write(stream, request + first, sizeof(request) - 1 - first) < 0)
                return 0;
        while ((n = eddy_stream_read(stream, text, sizeof(text))) > 0)
                held += (size_t) n;
        return held;
}

/* The stream is closed at the end, whatever happened. */
static int ask_given(void *arg)
{
        size_t held;

        world_pause();
        held = ask_given_once(arg);
        CHECK(world_is_cancelled() || held > BYTES);
        eddy_stream_close(arg);
        return 0;
}

static int world_serve_stream(void *arg)
{
        eddy_stream *client, *server;
        eddy_scope scope;

        (void) arg;
        memset(&web, 0, sizeof(web));
        world_begin(GIVEN);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < GIVEN; i++) {
                CHECK_EQ(eddy_stream_pair(NULL, &client, &server), 0);
                world_start(&scope, serve_given_as_victim, server, 1);
                world_start(&scope, ask_given, client, 1);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(web.served, GIVEN);
        return 0;
}
EVERY_POINT_WEB(serve_stream, eddy_http_serve_stream)
