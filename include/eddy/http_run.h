/*
 * eddy/http_run.h - a program that is an HTTP server: a call listens, serves, stops at a signal.
 *
 *     static int hello(eddy_http_exchange *exchange, void *arg)
 *     {
 *             return eddy_http_exchange_respond_text(exchange, 200, "hello\n");
 *     }
 *
 *     static int serve(eddy_http_router *router, void *arg)
 *     {
 *             eddy_http_router_add(router, "GET /", hello, NULL, NULL);
 *             return eddy_http_run_serve(router, NULL);
 *     }
 *
 *     int main(void)
 *     {
 *             struct eddy_http_run_opts opts = { .listen = "127.0.0.1:8080" };
 *
 *             return eddy_http_run(&opts, serve, NULL) < 0;
 *     }
 *
 * The function opens the objects that the handlers need, such as a pool of a database, before it
 * calls eddy_http_run_serve().  When that call returns, no handler runs, so the function closes the
 * objects.
 */
#ifndef EDDY_HTTP_RUN_H
#define EDDY_HTTP_RUN_H

#include "eddy/def.h"
#include "eddy/http_router.h"
#include "eddy/http_server.h"
#include "eddy/run.h"

EDDY_BEGIN_DECLS

/*
 * Adds routes to 'router', which is empty, and returns the result of eddy_http_run_serve(router,
 * ...).  The function is called as the main task of a loop (eddy/run.h), so it may suspend.  The
 * router is freed after the function has returned.
 */
typedef int eddy_http_run_fn(eddy_http_router *router, void *arg);

/* All zero is the default. */
struct eddy_http_run_opts {
        /* "127.0.0.1:8080", "[::]:8080" (all addresses), or "unix:/run/app.sock", see eddy/endpoint.h;
         * port 0: a free port; a stale Unix socket is replaced; NULL: "127.0.0.1:8080" */
        const char *listen EDDY_UNSET;
        /* https: the files of the certificate with its chain, and of the key; NULL: http.  The files
         * are read once, at the start.  To read a new certificate while the server runs, leave
         * 'cert_file' unset, and give eddy_http_run_serve() the server's option 'tls': 'fn' makes
         * the configuration, and a task of 'fn' calls eddy_tls_config_reload(), for example after
         * SIGHUP (eddy/signal.h), which otherwise ends the process */
        const char *cert_file EDDY_UNSET;
        const char *key_file EDDY_UNSET; /* NULL: the key is in 'cert_file' */
        uint32_t threads EDDY_UNSET;     /* each with a loop; 0: 1; see eddy_cpu_count() */
        uint32_t reserved32 EDDY_UNSET;  /* zero */
        const struct eddy_run_opts *run EDDY_UNSET; /* of each loop; borrowed; NULL: the defaults */
        uintptr_t reserved[4] EDDY_UNSET;           /* zero */
};

/*
 * Run a server until SIGINT or SIGTERM: start a loop, make a router, and call fn(router, arg).  The
 * first signal stops the server (eddy_http_run_serve()), or cancels 'fn' before it serves.  The second
 * signal ends the process at once.
 *
 * With several threads, each thread calls 'fn' with a router of its own, so each opens its own pool
 * of a database, and a line that 'fn' prints comes once for each thread.  The kernel distributes the
 * connections among the threads.  Another process of the same user can then listen on the same port
 * without an error.  If 'fn' fails on a thread, all threads stop.
 *
 * Returns 0 after a stop by a signal, else the result of 'fn'.  An error, except -ECANCELED, is
 * reported in words (EDDY_REPORT_SERVER, by default a line on standard error), such as "cannot
 * listen on 127.0.0.1:80: Permission denied".
 *
 * Errors: -EINVAL      an option is not valid, or excludes another
 *         EDDY_E_ENDPOINT_*    'listen' is not an address and a port, or a path
 *         EDDY_E_TLS_BAD_FILE  a file of the certificate is missing or has the wrong contents
 *         -EADDRINUSE, -EACCES, ...  of eddy_tcp_listen() and eddy_unix_listen()
 *         and those of eddy_run_many() and of 'fn'
 * Threads: any that does not run a loop; with several threads, 'fn' runs on them at the same time.
 * Owns: borrows 'opts' and 'arg'.
 */
EDDY_API int eddy_http_run(const struct eddy_http_run_opts *opts, eddy_http_run_fn *fn, void *arg);

/*
 * In a function of eddy_http_run(): listen, and return the URL, such as "http://127.0.0.1:8080" or
 * "unix:/run/app.sock", for example to print the URL.  Clients that connect then wait until
 * eddy_http_run_serve() is called.  Returns "" if the server cannot listen, a route is wrong, or
 * the certificate cannot be used: eddy_http_run_serve() then returns the error.  The scheme is
 * https if the option 'cert_file' is set.
 *
 * Suspends: yes.
 * Owns: valid until the function of eddy_http_run() returns.
 */
EDDY_API const char *eddy_http_run_url(eddy_http_router *router);

/*
 * In a function of eddy_http_run(): listen, unless eddy_http_run_url() already does, and serve the
 * router's requests until the caller is cancelled, as eddy_http_serve().  At a cancel the listener
 * is closed at once, so another process can listen on the port, and requests in progress have
 * opts.drain_ns to finish, or 10 seconds if 'drain_ns' is 0 or 'opts' is NULL.
 *
 * Suspends: yes.
 * Errors: -ECANCELED         the server was asked to stop
 *         EDDY_E_HTTP_STATE  the second call
 *         -EINVAL            'router' is not the router of eddy_http_run()
 *         and those of eddy_http_run() and eddy_http_serve()
 * Owns: borrows 'router' and 'opts'.
 */
EDDY_API int eddy_http_run_serve(eddy_http_router *router,
                                 const struct eddy_http_server_opts *opts);

EDDY_END_DECLS

#endif
