/*
 * mock/opts.c - the command line of `eddy mock`.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "common/console.h"
#include "common/draft.h"
#include "common/option.h"
#include "eddy/version.h"
#include "mock/latency.h"
#include "mock/mock.h"

static const char help[] =
        "Usage: eddy mock [options]\n"
        "\n"
        "A web server that answers slowly, limits and fails on demand.  Its first line on\n"
        "standard output is: listening on http://HOST:PORT\n"
        "\n"
        "  --listen HOST:PORT   an address, and a port or 0 for a free one (127.0.0.1:0)\n"
        "  --latency D          wait that long before each answer (none)\n"
        "  --latency-p99 D      half of the answers take less than --latency, half more, and one\n"
        "                       in a hundred more than this\n"
        "  --error-rate P       answer that part of the requests, 0 to 1, by a 500 or 503 (0)\n"
        "  --rate-limit N/s     answer 429 with Retry-After above N requests per second (or N/m:\n"
        "                       per minute)\n"
        "  --tls                serve https, with a certificate for localhost, 127.0.0.1 and ::1\n"
        "                       that is made for this run, in a file that the second line of\n"
        "                       standard output names: give it to clients by --cacert\n"
        "  --cert FILE, --key FILE\n"
        "                       serve https with this certificate and its key (PEM)\n"
        "  -h, --help, --version\n"
        "Write durations as 250ms, 2.5s, 1m.\n"
        "\n";

static const char help_end[] =
        "\n"
        "SIGINT or SIGTERM stops it: exit 130 or 143.  Else: 1 it could not serve, 2 the command\n"
        "line is wrong, 4 the first line could not be written.\n";

enum {
        OPT_LISTEN = 256,
        OPT_LATENCY,
        OPT_LATENCY_P99,
        OPT_ERROR_RATE,
        OPT_RATE_LIMIT,
        OPT_TLS,
        OPT_CERT,
        OPT_KEY,
        OPT_VERSION
};

static const struct option options[] = {
        { "listen", required_argument, NULL, OPT_LISTEN },
        { "latency", required_argument, NULL, OPT_LATENCY },
        { "latency-p99", required_argument, NULL, OPT_LATENCY_P99 },
        { "error-rate", required_argument, NULL, OPT_ERROR_RATE },
        { "rate-limit", required_argument, NULL, OPT_RATE_LIMIT },
        { "tls", no_argument, NULL, OPT_TLS },
        { "cert", required_argument, NULL, OPT_CERT },
        { "key", required_argument, NULL, OPT_KEY },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, OPT_VERSION },
        { NULL, 0, NULL, 0 },
};

static const struct ed_option_hint hints[] = {
        { "port", "--listen" },   { "host", "--listen" },       { "bind", "--listen" },
        { "delay", "--latency" }, { "errors", "--error-rate" }, { NULL, NULL },
};

static const struct ed_option_set option_set_of_mock = { "mock", ":h", options, hints };

static int help_print(void)
{
        struct ed_draft text = { 0 };
        int exit_code = ED_EXIT_FAILED;

        ed_draft_add_str(&text, help);
        ed_draft_add_str(&text, ed_mock_routes);
        ed_draft_add(&text, help_end, sizeof(help_end)); /* including its NUL */
        if (ed_draft_is_whole(&text))
                exit_code = ed_console_print("mock", text.data);
        ed_draft_fini(&text);
        return exit_code;
}

/* Parse HOST:PORT; an IPv6 address must be in brackets. */
static int listen_set(struct ed_mock_opts *opts, const char *value)
{
        const char *colon = strrchr(value, ':'), *host = value;
        size_t bytes = colon ? (size_t) (colon - value) : 0;
        uint16_t port;

        if (bytes >= 2 && value[0] == '[' && value[bytes - 1] == ']') {
                host++;
                bytes -= 2;
        }
        if (bytes == 0 || colon[1] == '\0' || bytes >= sizeof(opts->host)) {
                ed_console_usage("mock", "--listen %s: write HOST:PORT, as in 127.0.0.1:8080",
                                 value);
                return -EINVAL;
        }
        if (ed_option_port("mock", "--listen", value, colon + 1, &port) < 0)
                return -EINVAL;
        memcpy(opts->host, host, bytes);
        opts->host[bytes] = '\0';
        opts->port = port;
        return 0;
}

/* Read a number with decimals. Returns the text after it, or NULL. */
static const char *number_read(const char *text, double *ret_number)
{
        double number = 0, place = 1;
        int digits = 0;

        for (; *text >= '0' && *text <= '9' && digits < 15; text++, digits++)
                number = number * 10 + (*text - '0');
        if (*text == '.') {
                for (text++; *text >= '0' && *text <= '9' && digits < 15; text++, digits++) {
                        place /= 10;
                        number += place * (*text - '0');
                }
        }
        *ret_number = number;
        return digits > 0 ? text : NULL;
}

static int error_rate_set(struct ed_mock_opts *opts, const char *value)
{
        double part;
        const char *end = number_read(value, &part);

        if (!end || *end || part > 1) {
                ed_console_usage("mock", "--error-rate %s: give a number from 0 to 1", value);
                return -EINVAL;
        }
        opts->error_rate = part;
        return 0;
}

static int rate_limit_set(struct ed_mock_opts *opts, const char *value)
{
        double count;
        const char *end = number_read(value, &count);
        double seconds = !end ? 0 : strcmp(end, "/s") == 0 ? 1 : strcmp(end, "/m") == 0 ? 60 : 0;

        if (seconds <= 0 || count <= 0) {
                ed_console_usage("mock", "--rate-limit %s: write it as 10/s or 600/m", value);
                return -EINVAL;
        }
        opts->rate = count / seconds;
        return 0;
}

static int option_set(struct ed_mock_opts *opts, int option, const char *value)
{
        switch (option) {
        case OPT_LISTEN:
                return listen_set(opts, value);
        case OPT_LATENCY:
                return ed_option_duration("mock", "--latency", value, 0, &opts->latency_ns);
        case OPT_LATENCY_P99:
                return ed_option_duration("mock", "--latency-p99", value, 0, &opts->latency_p99_ns);
        case OPT_ERROR_RATE:
                return error_rate_set(opts, value);
        case OPT_RATE_LIMIT:
                return rate_limit_set(opts, value);
        case OPT_TLS:
                opts->tls = true;
                return 0;
        case OPT_CERT:
                opts->tls = true;
                opts->cert_file = value;
                return 0;
        case OPT_KEY:
                opts->key_file = value;
                return 0;
        default:
                return -EINVAL;
        }
}

static int opts_check(const struct ed_mock_opts *opts, const char *word)
{
        if (word)
                return ed_console_usage("mock",
                                        "%s: mock has options only; where to listen is given as "
                                        "--listen HOST:PORT",
                                        word);
        if (opts->key_file && !opts->cert_file)
                return ed_console_usage("mock", "--key needs --cert, the certificate of the key");
        if (opts->latency_p99_ns > 0 && opts->latency_ns == 0)
                return ed_console_usage("mock", "--latency-p99 needs --latency, the median");
        if (opts->latency_p99_ns > 0 && opts->latency_p99_ns < opts->latency_ns)
                return ed_console_usage("mock",
                                        "--latency-p99 is below --latency, which is the median");
        if (opts->latency_ns > ED_LATENCY_MAX_NS || opts->latency_p99_ns > ED_LATENCY_MAX_NS)
                return ed_console_usage("mock", "--latency and --latency-p99 are at most 1h");
        return 0;
}

int ed_mock_opts_parse(struct ed_mock_opts *opts, int argc, char **argv, int *ret_exit)
{
        int option;

        *opts = (struct ed_mock_opts){ .host = "127.0.0.1" };
        optind = 1;
        while ((option = ed_option_next(&option_set_of_mock, argc, argv)) != -1) {
                if (option == 'h')
                        *ret_exit = help_print();
                else if (option == OPT_VERSION)
                        *ret_exit = ed_console_print("mock", "eddy " EDDY_VERSION "\n");
                else if (option == 0 || option_set(opts, option, optarg) < 0)
                        *ret_exit = ED_EXIT_USAGE;
                else
                        continue;
                return 1;
        }
        *ret_exit = opts_check(opts, argv[optind]);
        return *ret_exit ? 1 : 0;
}
