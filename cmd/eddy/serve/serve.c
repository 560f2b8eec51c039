/*
 * serve/serve.c - `eddy serve`: listens, prints its address, and serves a folder until stopped.
 */
#include "serve/serve.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/console.h"
#include "common/option.h"
#include "common/port.h"
#include "eddy/eddy.h"
#include "serve/hosts.h"
#include "serve/opts.h"

enum { CONNECTIONS_SPARE = 64 /* open files that are not clients */, CONNECTIONS_MAX = 50000 };

#define DRAIN_NS EDDY_SEC(5)

struct serving {
        struct ed_serve_opts opts;
        eddy_http_folder *folder;
        uint32_t connections_max; /* of each loop */
        uint32_t loops;
        uint16_t port;        /* the reserved one if there are several loops */
        atomic_int exit_code; /* of the first failure; 0: none */
};

/* The objects of one loop. */
struct serving_loop {
        const struct ed_serve_opts *opts;
        eddy_listener *listener, *metrics_listener;
        eddy_tls_config *tls;
        eddy_signal *hangup; /* with TLS: read the certificate again */
        eddy_log *log;
        eddy_http_router *router;
        eddy_metrics *metrics;
        eddy_http_server_metrics *measured;
};

/*
 * Set the exit code at the first failure, and return true. Returns false at later failures, which
 * are not reported: the other loops fail for the same reason.
 */
static bool fails_first(struct serving *serving, int exit_code)
{
        int none = 0;

        return atomic_compare_exchange_strong(&serving->exit_code, &none, exit_code);
}

/* ---- opening --------------------------------------------------------------- */

/* Report why the address and the port of an option cannot be used. Returns 'err'. */
static int port_failed(struct serving *serving, const char *option, uint16_t port, int err)
{
        if (fails_first(serving, err == -EINVAL ? ED_EXIT_USAGE : ED_EXIT_FAILED))
                ed_console_say("serve", "%s, port %u: %s%s", option, (unsigned) port,
                               err == -EINVAL ? "not an address; names are not looked up: write "
                                                "127.0.0.1 for localhost"
                                              : eddy_error_text(err),
                               err == -EADDRINUSE ? "; give another --port, or 0 for a free one"
                                                  : "");
        return err;
}

static int listen_to(struct serving *serving, const char *option, const char *address,
                     uint16_t port, eddy_listener **ret_listener)
{
        struct eddy_tcp_listen_opts opts = { .reuse_port = serving->loops > 1 };
        int err = eddy_tcp_listen(address, port, &opts, ret_listener);

        return err < 0 ? port_failed(serving, option, port, err) : 0;
}

static int open_tls(struct serving *serving, struct serving_loop *loop)
{
        static const int signo = SIGHUP;
        struct eddy_tls_opts opts = { .flags = EDDY_TLS_SERVER,
                                      .cert_file = serving->opts.cert_file,
                                      .key_file = serving->opts.key_file };
        struct eddy_tls_fault fault = { "" };
        int err = eddy_tls_config_new(&opts, &fault, &loop->tls);

        if (err == 0)
                return eddy_signal_open(&signo, 1, &loop->hangup);
        if (fails_first(serving, err == EDDY_E_TLS_BAD_FILE ? ED_EXIT_USAGE : ED_EXIT_FAILED))
                ed_console_say("serve", "%s: %s", ed_option_of_fault(&fault),
                               fault.text[0] ? fault.text : eddy_error_text(err));
        return err;
}

static int open_log(struct serving *serving, eddy_log **ret_log)
{
        const char *path = serving->opts.log_file;
        struct eddy_log_opts opts = { .path = strcmp(path, "-") == 0 ? NULL : path };
        int err = eddy_log_open(&opts, ret_log);

        if (err == 0)
                return 0;
        if (fails_first(serving, ED_EXIT_FAILED))
                ed_console_say("serve", "--access-log %s: %s", path, eddy_error_text(err));
        return err;
}

static int open_metrics(struct serving *serving, struct serving_loop *loop)
{
        int err = listen_to(serving, "--metrics-port", "127.0.0.1", serving->opts.metrics_port,
                            &loop->metrics_listener);

        if (err == 0)
                err = eddy_metrics_new(NULL, &loop->metrics);
        return err < 0 ? err : eddy_http_server_metrics_new(loop->metrics, &loop->measured);
}

/* ---- hosts ----------------------------------------------------------------- */

static int refuse_host(eddy_http_exchange *exchange, const char *host)
{
        return eddy_http_exchange_fail(exchange, 403,
                                       "the host %.200s is not allowed; to allow it, start eddy "
                                       "serve with --host and its name",
                                       host);
}

/* Middleware: answers only for known hosts. */
static int check_host(eddy_http_exchange *exchange, struct eddy_http_next *next, void *arg)
{
        const struct serving *serving = arg;
        const char *host = eddy_http_exchange_host(exchange);

        return ed_serve_host_is_known(&serving->opts, host) ? eddy_http_next(exchange, next)
                                                            : refuse_host(exchange, host);
}

static int make_router(struct serving *serving, struct serving_loop *loop)
{
        int err = eddy_http_router_new(&loop->router);

        if (err < 0)
                return err;
        if (loop->measured)
                eddy_http_router_use(loop->router, eddy_http_measure, loop->measured);
        if (loop->log)
                eddy_http_use_access_log(loop->router,
                                         &(struct eddy_http_access_log_opts){ .log = loop->log });
        /* With TLS, the client has verified the name with the certificate. */
        if (serving->opts.hosts_count > 0 ||
            (!loop->tls && ed_serve_is_loopback(serving->opts.address)))
                eddy_http_router_use(loop->router, check_host, serving);
        eddy_http_router_add(loop->router, "GET /{path...}", eddy_http_folder_handle,
                             serving->folder, NULL);
        return eddy_http_router_check(loop->router, NULL);
}

static int loop_open(struct serving *serving, struct serving_loop *loop)
{
        const struct ed_serve_opts *opts = &serving->opts;
        int err = listen_to(serving, "--bind", opts->address, serving->port, &loop->listener);

        if (err == 0 && opts->cert_file)
                err = open_tls(serving, loop);
        if (err == 0 && opts->log_file)
                err = open_log(serving, &loop->log);
        if (err == 0 && opts->metrics_port > 0)
                err = open_metrics(serving, loop);
        return err < 0 ? err : make_router(serving, loop);
}

static void loop_close(struct serving_loop *loop)
{
        eddy_http_router_free(loop->router);
        eddy_http_server_metrics_free(loop->measured);
        eddy_metrics_close(loop->metrics);
        eddy_log_close(loop->log);
        eddy_signal_close(loop->hangup);
        eddy_tls_config_close(loop->tls);
        eddy_listener_close(loop->metrics_listener);
        eddy_listener_close(loop->listener);
}

/* ---- serving --------------------------------------------------------------- */

/* Print the address on the first line of standard output, from which programs read the port. */
static int print_address(struct serving *serving, const struct serving_loop *loop)
{
        const char *address = serving->opts.address;
        bool is_v6 = strchr(address, ':') != NULL;

        if (printf("listening on %s://%s%s%s:%u\n", loop->tls ? "https" : "http", is_v6 ? "[" : "",
                   address, is_v6 ? "]" : "", (unsigned) eddy_listener_port(loop->listener)) >= 0 &&
            fflush(stdout) == 0)
                return 0;
        if (fails_first(serving, ED_EXIT_OUTPUT))
                ed_console_say("serve", "cannot write to standard output: %s", strerror(errno));
        return -EIO;
}

static int answer_metrics(eddy_http_exchange *exchange, void *arg)
{
        const struct serving_loop *loop = arg;
        const char *host = eddy_http_exchange_host(exchange);

        return ed_serve_host_is_known(loop->opts, host) ? eddy_http_metrics(exchange, loop->metrics)
                                                        : refuse_host(exchange, host);
}

static int serve_metrics(void *arg)
{
        struct serving_loop *loop = arg;

        return eddy_http_serve(loop->metrics_listener, NULL, answer_metrics, loop);
}

/* Read the certificate again at each SIGHUP. All loops do, and the first one reports. */
static int renew_certificate(void *arg)
{
        struct serving_loop *loop = arg;
        struct eddy_tls_fault fault;
        int err;

        while (eddy_signal_wait(loop->hangup) >= 0) {
                fault.text[0] = '\0';
                err = eddy_tls_config_reload(loop->tls, &fault);
                if (eddy_run_index() > 0)
                        continue;
                if (err < 0)
                        ed_console_say("serve", "%s: %s; the server goes on with the old one",
                                       ed_option_of_fault(&fault),
                                       fault.text[0] ? fault.text : eddy_error_text(err));
                else
                        ed_console_say("serve", "the certificate was read again");
        }
        return 0;
}

static int serve_folder(struct serving *serving, struct serving_loop *loop)
{
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        if (loop->metrics)
                eddy_scope_start(&scope, serve_metrics, loop);
        if (loop->tls)
                eddy_scope_start(&scope, renew_certificate, loop);
        err = eddy_http_serve(
                loop->listener,
                &(struct eddy_http_server_opts){ .connections_max = serving->connections_max,
                                                 .drain_ns = DRAIN_NS,
                                                 .flags = serving->opts.server_flags,
                                                 .tls = loop->tls },
                eddy_http_router_handle, loop->router);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        return err;
}

/* The main task of each loop. */
static int serve_on_loop(void *arg)
{
        struct serving *serving = arg;
        struct serving_loop loop = { .opts = &serving->opts };
        int err = loop_open(serving, &loop);

        if (err == 0 && eddy_run_index() == 0)
                err = print_address(serving, &loop);
        if (err == 0)
                err = serve_folder(serving, &loop);
        loop_close(&loop);
        return err;
}

/* Run the loops. If there are several, reserve a port for their listeners. */
static int run_loops(struct serving *serving)
{
        struct eddy_run_opts opts = { .watchdog_ns = EDDY_SEC(1), .report = ed_console_report };
        int reserved = -1, err;

        serving->port = serving->opts.port;
        if (serving->loops > 1) {
                reserved = ed_port_reserve(serving->opts.address, &serving->port);
                if (reserved < 0)
                        return port_failed(serving, "--bind", serving->port, reserved);
        }
        err = eddy_run_many_with(serving->loops, serve_on_loop, serving, &opts);
        if (reserved >= 0)
                close(reserved);
        return err;
}

/* Set the number of loops and the maximum of connections of each. Returns false after a message. */
static bool set_loops(struct serving *serving)
{
        unsigned long files = ed_console_raise_files("serve"), max;

        if (files == 0)
                return false;
        serving->loops = serving->opts.threads;
        if (serving->loops == 0)
                serving->loops = eddy_cpu_count() < ED_SERVE_THREADS_MAX ? eddy_cpu_count()
                                                                         : ED_SERVE_THREADS_MAX;
        /* Each answer needs two open files: its connection and its file. */
        max = files > 2 * CONNECTIONS_SPARE ? (files - CONNECTIONS_SPARE) / 2
                                            : CONNECTIONS_SPARE / 2;
        max = (max < CONNECTIONS_MAX ? max : CONNECTIONS_MAX) / serving->loops;
        serving->connections_max = max > 0 ? (uint32_t) max : 1;
        return true;
}

static int open_folder(struct serving *serving)
{
        const struct eddy_http_folder_opts opts = { .flags = serving->opts.folder_flags,
                                                    .cache_control = serving->opts.cache_control };
        int err = eddy_http_folder_new(serving->opts.folder, &opts, &serving->folder);

        if (err < 0)
                ed_console_say("serve", "%s: %s", serving->opts.folder, eddy_error_text(err));
        return err;
}

int ed_serve_main(int argc, char **argv)
{
        struct serving serving = { .exit_code = 0 };
        int exit_code, err;

        if (ed_serve_opts_parse(&serving.opts, argc, argv, &exit_code) != 0)
                return exit_code;
        if (!set_loops(&serving))
                return ED_EXIT_FAILED;
        if (open_folder(&serving) < 0)
                return ED_EXIT_USAGE;
        err = run_loops(&serving);
        eddy_http_folder_free(serving.folder);
        exit_code = atomic_load(&serving.exit_code);
        if (exit_code)
                return exit_code;
        if (eddy_run_signal())
                return ED_EXIT_SIGNAL + eddy_run_signal();
        ed_console_say("serve", "%s", eddy_error_text(err));
        return ED_EXIT_FAILED;
}
