/*
 * http/run.c - a program that is an HTTP server, see eddy/http_run.h.
 *
 * A failure is kept in words, and reported when all loops have ended.
 */
#include "http/run.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "eddy/endpoint.h"
#include "eddy/error.h"
#include "eddy/run_many.h"
#include "eddy/scope.h"
#include "eddy/tcp.h"
#include "eddy/time.h"
#include "eddy/tls.h"
#include "eddy/unix.h"
#include "http/router.h"
#include "scope/report.h"
#include "scope/suspend.h"

#define DRAIN_DEFAULT_NS EDDY_SEC(10)

/* Keep the words of the first failure.  Returns 'err'. */
static int EDDY_PRINTF(3, 4) failed(struct ed_http_run *run, int err, const char *format, ...)
{
        va_list args;

        if (err == -ECANCELED)
                return err;
        ed_mutex_lock(&run->lock);
        if (!run->is_told) {
                va_start(args, format);
                (void) vsnprintf(run->text, sizeof(run->text), format, args);
                va_end(args);
        }
        run->is_told = true;
        ed_mutex_unlock(&run->lock);
        return err;
}

static bool is_unix(const struct ed_http_run *run)
{
        return run->opts.listen && strncmp(run->opts.listen, "unix:", strlen("unix:")) == 0;
}

/* ---- serving --------------------------------------------------------------- */

static int open_tls(struct ed_http_run *run, eddy_tls_config **ret_tls)
{
        const struct eddy_tls_opts opts = { .flags = EDDY_TLS_SERVER,
                                            .cert_file = run->opts.cert_file,
                                            .key_file = run->opts.key_file };
        struct eddy_tls_fault fault = { "" };
        int err = eddy_tls_config_new(&opts, &fault, ret_tls);

        if (err < 0)
                failed(run, err, "cannot use the certificate: %s",
                       fault.text[0] ? fault.text : eddy_error_text(err));
        return err;
}

/* Listen on the address of 'at', and on the port of all loops. */
static int listen_tcp(struct ed_http_run *run, struct eddy_endpoint *at,
                      eddy_listener **ret_listener)
{
        const struct eddy_tcp_listen_opts opts = { .reuse_port = eddy_run_count() > 1 };
        char text[EDDY_ENDPOINT_TEXT_BYTES], *address = text;
        int err;

        eddy_endpoint_format(at, text);
        *strrchr(text, ':') = '\0';
        if (text[0] == '[') {
                address++;
                *strchr(text, ']') = '\0';
        }
        /* The lock is held, because the first loop selects the port of all. */
        ed_mutex_lock(&run->lock);
        if (run->port)
                at->port = run->port;
        err = eddy_tcp_listen(address, at->port, &opts, ret_listener);
        if (err == 0)
                run->port = eddy_listener_port(*ret_listener);
        ed_mutex_unlock(&run->lock);
        return err;
}

static int start_listening(struct ed_http_run *run, eddy_listener **ret_listener)
{
        const struct eddy_unix_listen_opts unix_opts = { .replace_stale = true };
        const char *text = run->opts.listen ? run->opts.listen : "127.0.0.1:8080";
        struct eddy_endpoint at;
        int err = eddy_endpoint_parse(text, &at);

        if (err == 0 && is_unix(run))
                err = eddy_unix_listen(text + strlen("unix:"), &unix_opts, ret_listener);
        else if (err == 0)
                err = listen_tcp(run, &at, ret_listener);
        if (err < 0)
                failed(run, err, "cannot listen on %s: %s%s", text, eddy_error_text(err),
                       err == EDDY_E_ENDPOINT_ADDRESS || err == EDDY_E_ENDPOINT_PORT
                               ? "; write 127.0.0.1:8080, or [::]:8080 for all addresses"
                               : "");
        return err;
}

static void write_url(struct ed_http_run_loop *loop)
{
        struct eddy_endpoint endpoint = eddy_listener_endpoint(loop->listener);
        char text[EDDY_ENDPOINT_TEXT_BYTES];

        eddy_endpoint_format(&endpoint, text);
        snprintf(loop->url, sizeof(loop->url), "%s%s",
                 is_unix(loop->run) ? ""
                 : loop->tls        ? "https://"
                                    : "http://",
                 text);
}

/* Check the routes, read the certificate and listen, unless this was tried. */
static int begin(eddy_http_router *router)
{
        struct ed_http_run_loop *loop = router->loop;
        struct ed_task *task;
        int err;

        if (loop->has_begun)
                return loop->err;
        err = ed_suspend_enter(&task);
        if (err < 0)
                return err; /* it is not kept: the caller was cancelled */
        err = ed_http_router_ready(router);
        if (err < 0 && err != -ENOMEM)
                failed(loop->run, err, "%s", ""); /* it is reported already */
        if (err == 0 && loop->run->opts.cert_file)
                err = open_tls(loop->run, &loop->tls);
        if (err == -ECANCELED)
                return err;
        if (err == 0)
                err = start_listening(loop->run, &loop->listener);
        if (err == 0)
                write_url(loop);
        loop->has_begun = true;
        loop->err = err;
        return err;
}

const char *eddy_http_run_url(eddy_http_router *router)
{
        return router && router->loop && begin(router) == 0 ? router->loop->url : "";
}

/* Close the listener at a cancel, which is the stop, or when the server has ended. */
static int close_at_stop(void *arg)
{
        struct ed_http_run_loop *loop = arg;

        (void) eddy_sleep(INT64_MAX);
        eddy_listener_close(loop->listener);
        loop->listener = NULL;
        return 0;
}

static int serve(eddy_http_router *router, const struct eddy_http_server_opts *opts)
{
        struct ed_http_run_loop *loop = router->loop;
        eddy_scope scope;
        int err, end_err;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, close_at_stop, loop);
        err = eddy_http_serve(loop->listener, opts, eddy_http_router_handle, router);
        eddy_scope_cancel(&scope);
        end_err = eddy_scope_end(&scope);
        if (err == -ECANCELED && end_err < 0)
                err = end_err; /* the task was not started, or as before */
        return failed(loop->run, err, "cannot serve: %s", eddy_error_text(err));
}

/* Returns why the flags cannot be used together, or NULL. */
static const char *why_excluded(uint32_t flags)
{
        if (flags & EDDY_HTTP_SERVER_HTTP1_ONLY && flags & EDDY_HTTP_SERVER_HTTP2_ONLY)
                return "EDDY_HTTP_SERVER_HTTP1_ONLY excludes EDDY_HTTP_SERVER_HTTP2_ONLY";
        if (flags & EDDY_HTTP_SERVER_FINISH && flags & EDDY_HTTP_SERVER_CANCEL_AT_END)
                return "EDDY_HTTP_SERVER_FINISH excludes EDDY_HTTP_SERVER_CANCEL_AT_END";
        return NULL;
}

int eddy_http_run_serve(eddy_http_router *router, const struct eddy_http_server_opts *opts)
{
        struct ed_http_run_loop *loop = router ? router->loop : NULL;
        struct eddy_http_server_opts own = { .drain_ns = 0 };
        const char *why;
        int err;

        if (!loop)
                return -EINVAL;
        if (opts)
                own = *opts;
        if (own.drain_ns == 0)
                own.drain_ns = DRAIN_DEFAULT_NS;
        if (own.tls && loop->run->opts.cert_file)
                return failed(loop->run, -EINVAL, "'cert_file' excludes the server's option 'tls'");
        why = why_excluded(own.flags);
        if (why)
                return failed(loop->run, -EINVAL, "flags: %s", why);
        err = begin(router);
        if (err < 0)
                return err;
        if (!loop->listener)
                return EDDY_E_HTTP_STATE;
        if (loop->tls)
                own.tls = loop->tls;
        return serve(router, &own);
}

/* ---- running --------------------------------------------------------------- */

int ed_http_run_loop(struct ed_http_run *run)
{
        struct ed_http_run_loop loop = { .run = run };
        eddy_http_router *router;
        int err = eddy_http_router_new(&router);

        if (err < 0)
                return err;
        router->loop = &loop;
        err = run->fn(router, run->arg);
        eddy_listener_close(loop.listener);
        eddy_tls_config_close(loop.tls);
        eddy_http_router_free(router);
        if (err < 0)
                failed(run, err, "the server %s: %s",
                       loop.has_begun ? "has ended" : "did not start", eddy_error_text(err));
        return err;
}

/* The main task of each loop. */
static int main_task(void *run)
{
        return ed_http_run_loop(run);
}

static int check_opts(struct ed_http_run *run)
{
        const struct eddy_http_run_opts *opts = &run->opts;

        if (!run->fn)
                return failed(run, -EINVAL, "eddy_http_run() needs a function");
        if (is_unix(run) && opts->threads > 1)
                return failed(run, -EINVAL, "several threads cannot share a Unix socket");
        if (opts->key_file && !opts->cert_file)
                return failed(run, -EINVAL, "'key_file' needs 'cert_file'");
        return 0;
}

static void report(const struct ed_http_run *run, int err)
{
        const struct eddy_run_opts *opts = run->opts.run;
        eddy_report_fn *fn = opts && opts->report ? opts->report : ed_report_to_stderr;
        const struct eddy_report report = { .kind = EDDY_REPORT_SERVER,
                                            .error = err,
                                            .text = run->text };

        fn(&report, opts ? opts->report_arg : NULL);
}

int eddy_http_run(const struct eddy_http_run_opts *opts, eddy_http_run_fn *fn, void *arg)
{
        struct ed_http_run run = { .fn = fn, .arg = arg };
        int err;

        if (opts)
                run.opts = *opts;
        ed_mutex_init(&run.lock);
        err = check_opts(&run);
        if (err == 0)
                err = eddy_run_many_with(run.opts.threads ? run.opts.threads : 1, main_task, &run,
                                         run.opts.run);
        if (err == -ECANCELED && eddy_run_signal())
                err = 0;
        if (err < 0 && err != -ECANCELED) {
                failed(&run, err, "the server did not start: %s", eddy_error_text(err));
                if (run.text[0])
                        report(&run, err);
        }
        ed_mutex_fini(&run.lock);
        return err;
}
