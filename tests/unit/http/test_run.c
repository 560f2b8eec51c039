/*
 * test_run.c - a program that is a server: its URL, what it reports if it cannot serve, and
 * that a signal stops it at any time without a loss.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../tls/tls_test.h"
#include "eddy/alloc.h"
#include "eddy/http_answer.h"
#include "eddy/http_run.h"
#include "eddy/run_many.h"
#include "eddy/serve.h"
#include "eddy/test.h"
#include "http/router.h"
#include "http/run.h"
#include "middleware_test.h"

enum { LOOPS = 3 };

static struct {
        eddy_http_handler_fn *handler; /* of "/" */
        eddy_task_fn *client;          /* NULL: none; the first loop starts it */
        struct eddy_http_client_opts client_opts;
        struct eddy_http_server_opts *server_opts;
        char url[200];
        _Atomic bool is_announced;
        _Atomic int announced, called, answered[LOOPS];
        _Atomic bool is_open; /* what the function opens for the handlers */
        int status;           /* of the answer to the client */
        int reports, kind, error;
        char text[600];
} world;

static void keep_report(const struct eddy_report *report, void *arg)
{
        (void) arg;
        if (report->kind != EDDY_REPORT_SERVER && report->kind != EDDY_REPORT_MISUSE)
                return; /* of debug mode */
        world.reports++;
        world.kind = report->kind;
        world.error = report->error;
        snprintf(world.text, sizeof(world.text), "%s", report->text);
}

static const struct eddy_run_opts run_opts = { .flags = EDDY_RUN_NO_WATCHDOG,
                                               .report = keep_report };

/* Keep the URL, for the client. */
static void keep_url(eddy_http_router *router)
{
        const char *url = eddy_http_run_url(router);

        if (!url[0])
                return;
        if (world.announced > 0 && world.is_announced)
                CHECK_STR(url, world.url);
        snprintf(world.url, sizeof(world.url), "%s", url);
        world.announced++;
        atomic_store(&world.is_announced, true);
}

#define AT(place, ...)                                                                             \
        (&(const struct eddy_http_run_opts){ .listen = (place), .run = &run_opts, __VA_ARGS__ })
#define OPTS(...) AT("127.0.0.1:0", __VA_ARGS__)

static int stop(void)
{
        return kill(getpid(), SIGTERM);
}

static uint16_t port_of_url(void)
{
        return (uint16_t) strtoul(strrchr(world.url, ':') + 1, NULL, 10);
}

/* Ask for "/" when the server listens. Returns the status, or an error. */
static int ask_server(void)
{
        struct eddy_http_request request = { .url = world.client_opts.unix_path ? "http://a/"
                                                                                : world.url };
        eddy_http_response *response;
        eddy_http_client *client;
        int status;

        while (!atomic_load(&world.is_announced))
                CHECK_EQ(eddy_sleep(0), 0);
        status = eddy_http_client_new(&world.client_opts, &client);
        if (status < 0)
                return status;
        status = eddy_http_client_send(client, &request, &response);
        if (status == 0) {
                status = eddy_http_response_status(response);
                eddy_http_response_close(response);
        }
        eddy_http_client_close(client);
        return status;
}

static int ask_and_stop(void *arg)
{
        (void) arg;
        world.status = ask_server();
        return stop();
}

static int ask_once(void *arg)
{
        (void) arg;
        world.status = ask_server();
        return 0;
}

static int answer(eddy_http_exchange *exchange, void *arg)
{
        CHECK_EQ(*(_Atomic bool *) arg, true);
        atomic_fetch_add(&world.answered[eddy_run_index()], 1);
        return eddy_http_exchange_respond_text(exchange, 200, "ok");
}

/* The function of a server. */
static int serve(eddy_http_router *router, void *arg)
{
        int err;

        (void) arg;
        world.called++;
        world.is_open = true;
        eddy_http_router_add(router, "GET /", world.handler ? world.handler : answer,
                             &world.is_open, NULL);
        if (world.client && eddy_run_index() == 0)
                CHECK_EQ(eddy_background(world.client, NULL), 0);
        if (eddy_run_index() == 0)
                keep_url(router);
        err = eddy_http_run_serve(router, world.server_opts);
        if (eddy_run_count() == 1)
                world.is_open = false;
        return err;
}

/* ---- serving --------------------------------------------------------------- */

TEST(it_serves_at_the_address_of_its_url_and_a_signal_is_a_success)
{
        world.client = ask_and_stop;
        CHECK_EQ(eddy_http_run(OPTS(), serve, NULL), 0);
        CHECK_EQ(strncmp(world.url, "http://127.0.0.1:", strlen("http://127.0.0.1:")), 0);
        CHECK_EQ(world.status, 200);
        CHECK_EQ(world.announced, 1);
        CHECK_EQ(world.called, 1);
        CHECK_EQ(world.reports, 0);
        CHECK_EQ(eddy_run_signal(), SIGTERM);
}

TEST(a_port_is_free_again_for_the_next_server_in_the_process)
{
        world.client = ask_and_stop;
        CHECK_EQ(eddy_http_run(OPTS(), serve, NULL), 0);
        world.is_announced = false;
        CHECK_EQ(eddy_http_run(AT(strstr(world.url, "127")), serve, NULL), 0);
        CHECK_EQ(world.status, 200);
        CHECK_EQ(world.announced, 2);
}

TEST(a_unix_socket_has_a_url_and_is_removed_at_the_end)
{
        char text[220], *path = text + strlen("unix:");

        snprintf(text, sizeof(text), "unix:%s/socket", tls_folder());
        world.client = ask_and_stop;
        world.client_opts.unix_path = path;
        CHECK_EQ(eddy_http_run(AT(text), serve, NULL), 0);
        CHECK_STR(world.url, text);
        CHECK_EQ(world.status, 200);
        CHECK_EQ(access(path, F_OK), -1);
}

static int make_certificate(void *files)
{
        tls_files_make(files, "127.0.0.1");
        return 0;
}

static struct tls_files files;

static int ask_https(void *arg)
{
        struct eddy_tls_opts opts = { .ca_file = files.cert };
        eddy_tls_config *tls;

        CHECK_EQ(eddy_tls_config_new(&opts, NULL, &tls), 0);
        world.client_opts.tls = tls;
        ask_and_stop(arg);
        eddy_tls_config_close(tls);
        return 0;
}

TEST(with_a_certificate_it_serves_https)
{
        CHECK_EQ(eddy_run(make_certificate, &files, NULL), 0);
        world.client = ask_https;
        CHECK_EQ(eddy_http_run(OPTS(.cert_file = files.cert, .key_file = files.key), serve, NULL),
                 0);
        CHECK_EQ(strncmp(world.url, "https://127.0.0.1:", strlen("https://127.0.0.1:")), 0);
        CHECK_EQ(world.status, 200);
}

/* Ask until each loop has answered. */
static int ask_all_loops(void *arg)
{
        (void) arg;
        for (int i = 0; i < LOOPS; i++)
                while (!atomic_load(&world.answered[i]))
                        CHECK_EQ(ask_server(), 200);
        return stop();
}

TEST(several_threads_share_a_free_port)
{
        world.client = ask_all_loops;
        CHECK_EQ(eddy_http_run(OPTS(.threads = LOOPS), serve, NULL), 0);
        CHECK_EQ(world.announced, 1);
        CHECK_EQ(world.called, LOOPS);
        CHECK_EQ(world.reports, 0);
}

static int fail_on_the_last_loop(eddy_http_router *router, void *arg)
{
        int err;

        (void) arg;
        if (eddy_run_index() == LOOPS - 1)
                return -EIO;
        err = eddy_http_run_serve(router, NULL);
        CHECK_EQ(err, -ECANCELED);
        atomic_fetch_add(&world.called, 1);
        return err;
}

TEST(if_the_function_fails_on_a_thread_the_other_threads_stop)
{
        CHECK_EQ(eddy_http_run(OPTS(.threads = LOOPS), fail_on_the_last_loop, NULL), -EIO);
        CHECK_EQ(world.called, LOOPS - 1);
        CHECK_EQ(world.announced, 0);
        CHECK_EQ(world.reports, 1);
        CHECK_STR(world.text, "the server did not start: " EIO_TEXT);
}

/* ---- a stop ---------------------------------------------------------------- */

/* Answer after the listener of the server is closed. */
static int stop_and_answer(eddy_http_exchange *exchange, void *arg)
{
        eddy_stream *stream;
        int err;

        CHECK_EQ(stop(), 0);
        do { /* a connection that was not accepted is reset */
                err = eddy_tcp_connect("127.0.0.1", port_of_url(), NULL, &stream);
                if (err == 0)
                        eddy_stream_close(stream);
        } while (err == 0 || err == -ECONNRESET);
        CHECK_EQ(err, -ECONNREFUSED);
        CHECK(eddy_serve_is_stopping());
        return answer(exchange, arg);
}

TEST(a_request_in_progress_is_answered_after_a_stop_has_closed_the_listener)
{
        world.handler = stop_and_answer;
        world.client = ask_once;
        CHECK_EQ(eddy_http_run(OPTS(), serve, NULL), 0);
        CHECK_EQ(world.status, 200);
        CHECK_EQ(world.reports, 0);
}

static int stop_and_wait(eddy_http_exchange *exchange, void *arg)
{
        int err;

        (void) arg;
        CHECK_EQ(stop(), 0);
        err = eddy_sleep(EDDY_MIN(10));
        CHECK_EQ(err, -ECANCELED);
        atomic_fetch_add(&world.answered[0], 1);
        return eddy_http_exchange_respond_text(exchange, 200, "late");
}

TEST(a_request_that_outlasts_the_drain_is_cancelled)
{
        struct eddy_http_server_opts opts = { .drain_ns = 1 };

        world.server_opts = &opts;
        world.handler = stop_and_wait;
        world.client = ask_once;
        CHECK_EQ(eddy_http_run(OPTS(), serve, NULL), 0);
        CHECK_EQ(world.answered[0], 1);
        CHECK(world.status < 0);
}

static int stop_before_serving(eddy_http_router *router, void *arg)
{
        int err;

        (void) arg;
        CHECK_EQ(stop(), 0);
        err = eddy_sleep(EDDY_MIN(10)); /* a slow database */
        CHECK_EQ(err, -ECANCELED);
        CHECK_STR(eddy_http_run_url(router), "");
        CHECK_EQ(eddy_http_run_serve(router, NULL), -ECANCELED);
        return err;
}

TEST(a_stop_before_it_serves_is_a_success_too)
{
        CHECK_EQ(eddy_http_run(OPTS(), stop_before_serving, NULL), 0);
        CHECK_EQ(world.announced, 0);
        CHECK_EQ(world.reports, 0);
}

static int stop_twice(eddy_http_exchange *exchange, void *arg)
{
        (void) exchange;
        (void) arg;
        CHECK_EQ(stop(), 0);
        while (!eddy_serve_is_stopping())
                CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(stop(), 0);
        return eddy_sleep(EDDY_MIN(10));
}

TEST_DIES(a_second_signal_ends_the_process_during_the_drain, SIGTERM)
{
        world.handler = stop_twice;
        world.client = ask_once;
        (void) eddy_http_run(OPTS(), serve, NULL);
}

/* ---- what fails ------------------------------------------------------------ */

#define CHECK_REPORT(err, part)                                                                    \
        do {                                                                                       \
                CHECK_EQ(world.reports, 1);                                                        \
                CHECK_EQ(world.kind, EDDY_REPORT_SERVER);                                          \
                CHECK_EQ(world.error, err);                                                        \
                CHECK_HAS(world.text, part);                                                       \
                CHECK_EQ(world.announced, 0);                                                      \
                world.reports = 0;                                                                 \
        } while (0)

#define CHECK_FAILS(opts, fn, err, part)                                                           \
        do {                                                                                       \
                CHECK_ERR(eddy_http_run(opts, fn, NULL), err);                                     \
                CHECK_REPORT(err, part);                                                           \
        } while (0)

/* Returns a socket that listens on a port of its own. */
static int taken_port(uint16_t *ret_port)
{
        struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
        socklen_t bytes = sizeof(at);
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        CHECK(fd >= 0);
        CHECK_EQ(bind(fd, (struct sockaddr *) &at, sizeof(at)), 0);
        CHECK_EQ(listen(fd, 1), 0);
        CHECK_EQ(getsockname(fd, (struct sockaddr *) &at, &bytes), 0);
        *ret_port = ntohs(at.sin_port);
        return fd;
}

TEST(a_port_in_use_is_reported_with_its_address_on_one_loop_and_on_several)
{
        uint16_t port;
        char at[40], text[100];
        int fd = taken_port(&port);

        snprintf(at, sizeof(at), "127.0.0.1:%u", (unsigned) port);
        snprintf(text, sizeof(text), "cannot listen on %s: %s", at, eddy_error_text(-EADDRINUSE));
        CHECK_FAILS(AT(at), serve, -EADDRINUSE, text);
        CHECK_FAILS(AT(at, .threads = LOOPS), serve, -EADDRINUSE, text);
        CHECK_EQ(close(fd), 0);
}

TEST(a_name_instead_of_an_address_is_reported)
{
        CHECK_FAILS(AT("localhost:80"), serve, EDDY_E_ENDPOINT_ADDRESS,
                    "cannot listen on localhost:80: ");
        CHECK_HAS(world.text, "; write 127.0.0.1:8080, or [::]:8080 for all addresses");
        CHECK_FAILS(AT(":9080"), serve, EDDY_E_ENDPOINT_ADDRESS, "cannot listen on :9080: ");
        CHECK_HAS(world.text, "; write 127.0.0.1:8080, or [::]:8080 for all addresses");
        CHECK_FAILS(AT("127.0.0.1"), serve, EDDY_E_ENDPOINT_PORT, "cannot listen on 127.0.0.1: ");
        CHECK_FAILS(AT("unix:"), serve, EDDY_E_ENDPOINT_PATH, "cannot listen on unix:: ");
        /* An address of no machine (RFC 3849). */
        CHECK_FAILS(AT("[2001:db8::1]:0"), serve, world.error,
                    "cannot listen on [2001:db8::1]:0: ");
}

TEST(a_unix_socket_that_cannot_be_made_is_reported)
{
        CHECK_FAILS(AT("unix:/nonexistent/socket"), serve, -ENOENT,
                    "cannot listen on unix:/nonexistent/socket: ");
}

TEST(wrong_files_of_a_certificate_are_reported_by_name)
{
        CHECK_FAILS(OPTS(.cert_file = "/nonexistent/cert"), serve, EDDY_E_TLS_BAD_FILE,
                    "/nonexistent/cert");
        CHECK_EQ(eddy_run(make_certificate, &files, NULL), 0);
        CHECK_FAILS(OPTS(.cert_file = files.cert, .key_file = "/nonexistent/key"), serve,
                    EDDY_E_TLS_BAD_FILE, "/nonexistent/key");
        CHECK_FAILS(OPTS(.cert_file = files.cert, .key_file = files.cert), serve,
                    EDDY_E_TLS_BAD_FILE, "cannot use the certificate: ");
}

static int fail(eddy_http_router *router, void *arg)
{
        (void) router;
        (void) arg;
        return -EIO;
}

static int serve_in_a_scope(eddy_http_router *router, void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = 1 });
        CHECK_EQ(eddy_http_run_serve(router, NULL), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        CHECK(eddy_http_run_url(router)[0]);
        CHECK_ERR(eddy_http_run_serve(router, NULL), EDDY_E_HTTP_STATE);
        return 0;
}

TEST(a_program_may_stop_its_server_by_a_scope_and_cannot_serve_again)
{
        CHECK_EQ(eddy_http_run(OPTS(), serve_in_a_scope, NULL), 0);
        CHECK_EQ(world.reports, 0);
}

static int give_up(eddy_http_router *router, void *arg)
{
        (void) router;
        (void) arg;
        return -ECANCELED;
}

static int serve_nothing(eddy_http_router *router, void *arg)
{
        (void) router;
        (void) arg;
        return 7;
}

TEST(the_result_of_a_function_that_does_not_serve_is_that_of_the_run)
{
        CHECK_FAILS(OPTS(), fail, -EIO, "the server did not start: " EIO_TEXT);
        CHECK_EQ(eddy_http_run(OPTS(), serve_nothing, NULL), 7);
        CHECK_ERR(eddy_http_run(OPTS(), give_up, NULL), -ECANCELED);
        CHECK_EQ(world.reports, 0);
}

static int serve_wrong_route(eddy_http_router *router, void *arg)
{
        (void) arg;
        eddy_http_router_add(router, "no path", answer, NULL, NULL);
        CHECK_STR(eddy_http_run_url(router), "");
        return eddy_http_run_serve(router, NULL);
}

TEST(a_wrong_route_is_reported_once_and_nothing_listens)
{
        CHECK_ERR(eddy_http_run(OPTS(), serve_wrong_route, NULL), EDDY_E_HTTP_ROUTE);
        CHECK_EQ(world.reports, 1);
        CHECK_EQ(world.kind, EDDY_REPORT_MISUSE);
        CHECK_HAS(world.text, "no path");
        CHECK_EQ(world.announced, 0);
}

static int serve_with_tls(eddy_http_router *router, void *arg)
{
        struct eddy_tls_opts opts = { .flags = EDDY_TLS_SERVER,
                                      .cert_file = files.cert,
                                      .key_file = files.key };
        struct eddy_http_server_opts server_opts = { .drain_ns = 0 };
        int err;

        (void) arg;
        CHECK_EQ(eddy_tls_config_new(&opts, NULL, &server_opts.tls), 0);
        err = eddy_http_run_serve(router, &server_opts);
        eddy_tls_config_close(server_opts.tls);
        return err;
}

static int serve_in_no_time(eddy_http_router *router, void *arg)
{
        (void) arg;
        return eddy_http_run_serve(router, &(struct eddy_http_server_opts){ .drain_ns = -1 });
}

static int serve_with_flags(eddy_http_router *router, void *flags)
{
        return eddy_http_run_serve(
                router, &(struct eddy_http_server_opts){ .flags = *(const uint32_t *) flags });
}

TEST(flags_that_exclude_each_other_are_named)
{
        uint32_t versions = EDDY_HTTP_SERVER_HTTP1_ONLY | EDDY_HTTP_SERVER_HTTP2_ONLY;
        uint32_t ends = EDDY_HTTP_SERVER_FINISH | EDDY_HTTP_SERVER_CANCEL_AT_END;

        CHECK_ERR(eddy_http_run(OPTS(), serve_with_flags, &versions), -EINVAL);
        CHECK_HAS(world.text,
                  "flags: EDDY_HTTP_SERVER_HTTP1_ONLY excludes EDDY_HTTP_SERVER_HTTP2_ONLY");
        CHECK_ERR(eddy_http_run(OPTS(), serve_with_flags, &ends), -EINVAL);
        CHECK_HAS(world.text, "flags: EDDY_HTTP_SERVER_FINISH excludes");
}

TEST(options_that_are_wrong_or_exclude_each_other_are_refused_with_a_reason)
{
        CHECK_EQ(eddy_run(make_certificate, &files, NULL), 0);
        CHECK_FAILS(OPTS(.key_file = "key"), serve, -EINVAL, "'key_file' needs 'cert_file'");
        CHECK_FAILS(AT("unix:a", .threads = 2), serve, -EINVAL, "cannot share a Unix socket");
        CHECK_FAILS(OPTS(.cert_file = files.cert, .key_file = files.key), serve_with_tls, -EINVAL,
                    "'cert_file' excludes");
        CHECK_FAILS(OPTS(), NULL, -EINVAL, "needs a function");
        CHECK_FAILS(OPTS(.threads = EDDY_RUN_MANY_MAX + 1), serve, -EINVAL, "did not start");
        CHECK_EQ(world.called, 0);
        CHECK_ERR(eddy_http_run(OPTS(), serve_in_no_time, NULL), -EINVAL);
        CHECK_HAS(world.text, "cannot serve: ");
}

static int run_inside(void *arg)
{
        eddy_http_router *router = arg;

        CHECK_FAILS(OPTS(), serve, EDDY_E_RUN_NESTED, "did not start");
        CHECK_ERR(eddy_http_run_serve(router, NULL), -EINVAL);
        CHECK_ERR(eddy_http_run_serve(NULL, NULL), -EINVAL);
        CHECK_STR(eddy_http_run_url(router), "");
        CHECK_STR(eddy_http_run_url(NULL), "");
        return 0;
}

TEST(neither_call_is_for_a_loop_and_a_router_of_the_program)
{
        eddy_http_router *router;

        CHECK_EQ(eddy_http_router_new(&router), 0);
        CHECK_EQ(eddy_run(run_inside, router, NULL), 0);
        eddy_http_router_free(router);
}

/* ---- sweeps ---------------------------------------------------------------- */

static int64_t handler_ns;

static int handle_swept(eddy_http_exchange *exchange, void *arg)
{
        int err;

        (void) arg;
        world.called++;
        err = eddy_sleep(handler_ns);
        return err < 0 ? err : eddy_http_exchange_respond_text(exchange, 200, "ok");
}

static int swept_server(eddy_http_router *router, void *arg)
{
        (void) arg;
        (void) eddy_http_router_add(router, "GET /", handle_swept, NULL, NULL);
        keep_url(router);
        return eddy_http_run_serve(router, NULL);
}

static int serve_swept(void *run)
{
        int err = ed_http_run_loop(run);

        return err == -ECANCELED ? 0 : err;
}

static int ask_swept(void *arg)
{
        (void) arg;
        world.status = ask_server();
        return world.status < 0 ? world.status : 0;
}

/* Serve, and stop the server when the handler of a request has begun. */
static int serve_and_stop(struct ed_http_run *run)
{
        eddy_scope asking, serving;
        int err = 0, end_err;

        eddy_scope_begin(&asking, NULL);
        eddy_scope_begin(&serving, NULL);
        eddy_scope_start(&serving, serve_swept, run);
        while (err == 0 && !world.is_announced)
                err = eddy_sleep(EDDY_MS(1));
        if (err == 0)
                eddy_scope_start(&asking, ask_swept, NULL);
        while (err == 0 && world.called == 0)
                err = eddy_sleep(EDDY_MS(1));
        eddy_scope_cancel(&serving);
        end_err = eddy_scope_end(&serving);
        err = err < 0 && err != -ECANCELED ? err : end_err;
        end_err = eddy_scope_end(&asking);
        return err < 0 ? err : end_err;
}

static int run_swept(void *arg)
{
        struct ed_http_run run = { .opts.listen = "127.0.0.1:0", .fn = swept_server };
        int err;

        (void) arg;
        ed_mutex_init(&run.lock);
        world.is_announced = false;
        world.called = 0;
        err = serve_and_stop(&run);
        ed_mutex_fini(&run.lock);
        return err;
}

TEST(without_an_option_requests_have_ten_seconds_after_a_stop)
{
        struct eddy_test_result result;

        handler_ns = EDDY_MS(9900);
        CHECK_EQ(eddy_test_run(run_swept, NULL, NULL, &result), 0);
        CHECK_EQ(world.status, 200);
        handler_ns = EDDY_MIN(10);
        CHECK(eddy_test_run(run_swept, NULL, NULL, &result) < 0);
        CHECK(world.status < 0);
        CHECK(result.lasted_ns >= EDDY_SEC(10) && result.lasted_ns < EDDY_SEC(11));
}

TEST(a_cancel_or_a_shortage_of_memory_at_any_point_leaves_nothing)
{
        struct eddy_test_sweep sweep;

        handler_ns = EDDY_MS(1);
        guarded_sweep(run_swept);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_CALLS, run_swept, NULL, NULL, &sweep), 0);
        CHECK(sweep.tried > 0);
}

static _Atomic int allocations_left;

static void *allocates_some(void *arg, void *old, size_t bytes)
{
        (void) arg;
        if (bytes == 0) {
                free(old);
                return NULL;
        }
        return atomic_fetch_sub(&allocations_left, 1) > 0 ? realloc(old, bytes) : NULL;
}

static int stop_when_listening(eddy_http_router *router, void *arg)
{
        (void) arg;
        if (eddy_run_index() == 0) {
                keep_url(router);
                if (world.announced)
                        CHECK_EQ(stop(), 0);
        }
        return eddy_http_run_serve(router, NULL);
}

TEST(without_memory_the_server_does_not_start_and_leaves_nothing)
{
        int err = -ENOMEM;

        eddy_alloc_set(allocates_some, NULL);
        for (int i = 0; i < 500 && err < 0; i++) {
                atomic_store(&allocations_left, i);
                world.reports = 0;
                world.announced = 0;
                err = eddy_http_run(OPTS(.threads = 2), stop_when_listening, NULL);
                if (err == 0 && world.announced == 0)
                        err = -ENOMEM;
                CHECK(err == 0 || world.reports > 0);
        }
        eddy_alloc_set(NULL, NULL);
        CHECK_EQ(err, 0);
}
