/*
 * mock/mock.c - `eddy mock`: listens, prints its address, and serves until stopped.
 */
#include "mock/mock.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/console.h"
#include "common/hangup.h"
#include "common/option.h"
#include "common/port.h"
#include "eddy/channel.h"
#include "eddy/error.h"
#include "eddy/run_many.h"
#include "eddy/scope.h"
#include "eddy/tcp.h"
#include "eddy/thread.h"
#include "eddy/time.h"

#define CERTIFICATE_NS EDDY_SEC(30 * 86400)

enum { CONNECTIONS_MAX = 50000, FILES_SPARE = 32 };

/* A certificate that was made for this run. If 'folder' is "", there is none. */
struct made {
        char folder[64];
        char cert_file[96];
        char key_file[96];
};

struct mock_run {
        struct made made;
        struct ed_mock mock;
        uint32_t connections_max; /* of each loop */
        eddy_channel *ports;      /* from the first loop to the others */
        int exit_code;            /* protected by mock.lock */
        bool hangup;              /* SIGHUP ended the run */
};

/* The first exit code that is not 0 counts. */
static void exit_with(struct mock_run *run, int exit_code)
{
        pthread_mutex_lock(&run->mock.lock);
        if (run->exit_code == 0)
                run->exit_code = exit_code;
        pthread_mutex_unlock(&run->mock.lock);
}

/* Print the address on the first line of standard output, from which programs read the port. */
static int say_where(const struct ed_mock_opts *opts, const struct made *made, uint16_t port)
{
        bool v6 = strchr(opts->host, ':') != NULL;

        if (printf("listening on %s://%s%s%s:%u\n", opts->tls ? "https" : "http", v6 ? "[" : "",
                   opts->host, v6 ? "]" : "", (unsigned) port) < 0 ||
            (made->folder[0] && printf("certificate %s\n", made->cert_file) < 0) ||
            fflush(stdout) != 0) {
                ed_console_say("mock", "cannot write to standard output: %s", strerror(errno));
                return ED_EXIT_OUTPUT;
        }
        return ED_EXIT_OK;
}

/* Returns the folder for temporary files. TMPDIR is ignored if its name is too long. */
static const char *folder_parent(void)
{
        static const char name[] = "/eddy-mock-XXXXXX";
        const char *parent = getenv("TMPDIR");

        if (!parent || !*parent ||
            strlen(parent) + sizeof(name) > sizeof(((struct made *) 0)->folder))
                return "/tmp";
        return parent;
}

static int make_certificate(struct made *made)
{
        int err;

        snprintf(made->folder, sizeof(made->folder), "%s/eddy-mock-XXXXXX", folder_parent());
        if (!mkdtemp(made->folder)) {
                err = -errno;
                made->folder[0] = '\0';
                return err;
        }
        snprintf(made->cert_file, sizeof(made->cert_file), "%s/cert.pem", made->folder);
        snprintf(made->key_file, sizeof(made->key_file), "%s/key.pem", made->folder);
        return eddy_tls_make_certificate("localhost,127.0.0.1,::1", CERTIFICATE_NS, made->cert_file,
                                         made->key_file);
}

static void made_remove(struct made *made)
{
        if (!made->folder[0])
                return;
        unlink(made->cert_file);
        unlink(made->key_file);
        rmdir(made->folder);
        made->folder[0] = '\0';
}

/* Make the TLS configuration. Without --tls, leaves '*ret_tls' unchanged and returns 0. */
static int tls_open(struct mock_run *run, eddy_tls_config **ret_tls)
{
        const struct ed_mock_opts *opts = &run->mock.opts;
        struct eddy_tls_opts tls_opts = { .flags = EDDY_TLS_SERVER,
                                          .cert_file = opts->cert_file,
                                          .key_file = opts->key_file };
        struct eddy_tls_fault fault = { "" };
        int err = 0;

        if (!opts->tls)
                return 0;
        if (!opts->cert_file) {
                if (eddy_run_index() == 0)
                        err = make_certificate(&run->made);
                tls_opts.cert_file = run->made.cert_file;
                tls_opts.key_file = run->made.key_file;
        }
        if (err == 0)
                err = eddy_tls_config_new(&tls_opts, &fault, ret_tls);
        if (err == 0)
                return 0;
        if (opts->cert_file)
                ed_console_say("mock", "%s: %s", ed_option_of_fault(&fault),
                               fault.text[0] ? fault.text : eddy_error_text(err));
        else
                ed_console_say("mock",
                               "--tls: cannot write a certificate to a folder in %s: %s; set "
                               "TMPDIR, or give --cert and --key",
                               folder_parent(), fault.text[0] ? fault.text : eddy_error_text(err));
        exit_with(run, err == EDDY_E_TLS_BAD_FILE ? ED_EXIT_USAGE : ED_EXIT_FAILED);
        return err;
}

/* Report why the address and the port cannot be used. Returns 'err'. */
static int port_failed(struct mock_run *run, uint16_t port, int err)
{
        ed_console_say("mock", "--listen %s, port %u: %s%s", run->mock.opts.host, port,
                       err == -EINVAL ? "not an address; names are not looked up: write "
                                        "127.0.0.1 for localhost"
                                      : eddy_error_text(err),
                       err == -EADDRINUSE ? "; give another port, or 0 for a free one" : "");
        exit_with(run, err == -EINVAL ? ED_EXIT_USAGE : ED_EXIT_FAILED);
        return err;
}

/* Listen on this loop's listener. Loops share a port by SO_REUSEPORT. */
static int listen_on(struct mock_run *run, uint16_t port, eddy_listener **ret_listener)
{
        struct eddy_tcp_listen_opts listen_opts = { .reuse_port = eddy_run_count() > 1 };
        int err = eddy_tcp_listen(run->mock.opts.host, port, &listen_opts, ret_listener);

        return err < 0 ? port_failed(run, port, err) : 0;
}

/* On the first loop: print the address, and send the port to the other loops. */
static int begin(struct mock_run *run, uint16_t port)
{
        int err = say_where(&run->mock.opts, &run->made, port);

        if (err) {
                exit_with(run, err);
                return -EIO;
        }
        run->mock.start_ns = eddy_now();
        ed_bucket_init(&run->mock.bucket, run->mock.opts.rate, run->mock.start_ns);
        for (uint32_t i = 1; i < eddy_run_count() && err == 0; i++)
                err = eddy_channel_put(run->ports, &port);
        return err;
}

static int watch_hangup(void *arg)
{
        struct mock_run *run = arg;

        if (ed_hangup_wait() < 0)
                return 0;
        run->hangup = true;
        return -EINTR; /* cancels the server of this loop, whose failure then cancels the others */
}

static int serve_on_loop(struct mock_run *run)
{
        EDDY_AUTO(eddy_tls_config) eddy_tls_config *tls = NULL;
        EDDY_AUTO(eddy_listener) eddy_listener *listener = NULL;
        uint16_t port = run->mock.opts.port;
        int err = 0;

        if (eddy_run_index() > 0)
                err = eddy_channel_get(run->ports, &port);
        if (err == 0)
                err = listen_on(run, port, &listener);
        if (err == 0)
                err = tls_open(run, &tls);
        if (err == 0 && eddy_run_index() == 0)
                err = begin(run, eddy_listener_port(listener));
        if (err < 0)
                return err;
        return eddy_http_serve(
                listener,
                &(struct eddy_http_server_opts){ .connections_max = run->connections_max,
                                                 .flags = run->mock.opts.server_flags,
                                                 .tls = tls },
                ed_mock_answer, &run->mock);
}

/* The main task of each loop. */
static int serve(void *arg)
{
        struct mock_run *run = arg;
        eddy_scope scope;
        int err, hangup_err;

        if (eddy_run_index() > 0)
                return serve_on_loop(run);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, watch_hangup, run);
        err = serve_on_loop(run);
        eddy_scope_cancel(&scope);
        hangup_err = eddy_scope_end(&scope);
        return hangup_err == -EINTR ? hangup_err : err;
}

/* The share of each loop in the open files. */
static uint32_t connections_of(unsigned long files, uint32_t loops)
{
        unsigned long max = files > CONNECTIONS_MAX + FILES_SPARE ? CONNECTIONS_MAX
                            : files > 2 * FILES_SPARE             ? files - FILES_SPARE
                                                                  : FILES_SPARE;

        return max / loops > 0 ? (uint32_t) (max / loops) : 1;
}

/* Runs the loops. Returns the exit code, or a negative error. */
static int run_loops(struct mock_run *run)
{
        struct eddy_run_opts opts = { .watchdog_ns = EDDY_SEC(1), .report = ed_console_report };
        unsigned long files = ed_console_raise_files("mock");
        uint32_t loops = run->mock.opts.threads;
        int reserved = -1, err;

        if (files == 0)
                return ED_EXIT_FAILED;
        if (loops == 0)
                loops = eddy_cpu_count() < ED_MOCK_THREADS_MAX ? eddy_cpu_count()
                                                               : ED_MOCK_THREADS_MAX;
        run->connections_max = connections_of(files, loops);
        err = eddy_channel_new(sizeof(uint16_t), loops, &run->ports);
        if (err < 0)
                return err;
        pthread_mutex_init(&run->mock.lock, NULL);
        if (loops > 1)
                reserved = ed_port_reserve(run->mock.opts.host, &run->mock.opts.port);
        err = loops > 1 && reserved < 0 ? port_failed(run, run->mock.opts.port, reserved)
                                        : eddy_run_many_with(loops, serve, run, &opts);
        if (reserved >= 0)
                close(reserved);
        pthread_mutex_destroy(&run->mock.lock);
        eddy_channel_release(run->ports);
        ed_tokens_fini(&run->mock.tokens);
        made_remove(&run->made);
        return run->exit_code ? run->exit_code : err;
}

int ed_mock_main(int argc, char **argv)
{
        /* Static, because its tables are too large for a stack frame. */
        static struct mock_run run;
        struct ed_random own; /* apart from --seed, so that tokens of another run are not valid */
        int err, signo;

        if (ed_mock_opts_parse(&run.mock.opts, argc, argv, &run.exit_code) != 0)
                return run.exit_code;
        if (run.mock.opts.seeded)
                run.mock.random.state = run.mock.opts.seed;
        else
                ed_random_init(&run.mock.random);
        ed_random_init(&own);
        run.mock.secret = ed_random_next(&own);
        err = run_loops(&run);
        signo = run.hangup ? SIGHUP : eddy_run_signal();
        if (signo)
                return ED_EXIT_SIGNAL + signo;
        if (err < 0) {
                ed_console_say("mock", "%s", eddy_error_text(err));
                return ED_EXIT_FAILED;
        }
        return err;
}
