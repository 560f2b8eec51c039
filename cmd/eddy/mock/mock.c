/*
 * mock/mock.c - `eddy mock`: listens, prints its address, and serves until stopped.
 */
#include "mock/mock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/console.h"
#include "common/option.h"
#include "eddy/error.h"
#include "eddy/run.h"
#include "eddy/tcp.h"
#include "eddy/time.h"

enum { CONNECTIONS_MAX = 50000, FILES_SPARE = 32 };

struct mock_run {
        struct ed_mock mock;
        uint32_t connections_max;
        int exit_code;
};

/* Print the only line on standard output, from which programs read the port. */
static int say_where(const struct ed_mock_opts *opts, uint16_t port)
{
        bool v6 = strchr(opts->host, ':') != NULL;

        if (printf("listening on http://%s%s%s:%u\n", v6 ? "[" : "", opts->host, v6 ? "]" : "",
                   (unsigned) port) < 0 ||
            fflush(stdout) != 0) {
                ed_console_say("mock", "cannot write to standard output: %s", strerror(errno));
                return ED_EXIT_OUTPUT;
        }
        return ED_EXIT_OK;
}

static int serve(void *arg)
{
        struct mock_run *run = arg;
        const struct ed_mock_opts *opts = &run->mock.opts;
        EDDY_AUTO(eddy_tcp_listener) eddy_tcp_listener *listener = NULL;
        int err;

        err = eddy_tcp_listen(opts->host, opts->port, &listener);
        if (err < 0) {
                ed_console_say("mock", "--listen %s, port %u: %s", opts->host, opts->port,
                               err == -EINVAL ? "not an address; names are not looked up: write "
                                                "127.0.0.1 for localhost"
                                              : eddy_error_text(err));
                run->exit_code = err == -EINVAL ? ED_EXIT_USAGE : ED_EXIT_FAILED;
                return 0;
        }
        run->exit_code = say_where(opts, eddy_tcp_listener_port(listener));
        if (run->exit_code)
                return 0;
        ed_bucket_init(&run->mock.bucket, opts->rate, eddy_now());
        err = eddy_http_serve(
                listener,
                &(struct eddy_http_server_opts){ .connections_max = run->connections_max },
                ed_mock_answer, &run->mock);
        ed_tokens_fini(&run->mock.tokens);
        return err;
}

int ed_mock_main(int argc, char **argv)
{
        /* Static, because its tables are too large for a stack frame. */
        static struct mock_run run;
        unsigned long files;
        int err, signo;

        if (ed_mock_opts_parse(&run.mock.opts, argc, argv, &run.exit_code) != 0)
                return run.exit_code;
        run.exit_code = ed_option_poller("mock");
        if (run.exit_code)
                return run.exit_code;
        files = ed_console_raise_files();
        run.connections_max = files > CONNECTIONS_MAX + FILES_SPARE ? CONNECTIONS_MAX
                              : files > 2 * FILES_SPARE             ? (uint32_t) files - FILES_SPARE
                                                                    : FILES_SPARE;
        ed_random_init(&run.mock.random);
        err = eddy_run(serve, &run, &(struct eddy_run_opts){ .report = ed_console_report });
        signo = eddy_run_signal();
        if (signo)
                return ED_EXIT_SIGNAL + signo;
        if (err < 0) {
                ed_console_say("mock", "%s", eddy_error_text(err));
                return ED_EXIT_FAILED;
        }
        return run.exit_code;
}
