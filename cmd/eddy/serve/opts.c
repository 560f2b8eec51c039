/*
 * serve/opts.c - the options of `eddy serve`, and its usage.
 */
#include "serve/opts.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "common/console.h"
#include "common/option.h"
#include "eddy/http_folder.h"
#include "eddy/http_server.h"

enum { PORT_DEFAULT = 8000 };

static const char help[] =
        "Usage: eddy serve DIR [options]\n"
        "\n"
        "A web server for the files in DIR, by HTTP/1.1 and HTTP/2.  Without --bind only this\n"
        "machine can connect.  The first line on standard output is: listening on\n"
        "http://HOST:PORT\n"
        "\n"
        "  --bind ADDRESS       listen on this address; 0.0.0.0 or :: is all addresses, so other\n"
        "                       machines can connect (127.0.0.1)\n"
        "  --port N             listen on this port; 0 is a free port (8000)\n"
        "  --host NAME          also answer requests for this host, such as the public name of a\n"
        "                       proxy; can be repeated (localhost and IP addresses only)\n"
        "  --threads N          serve on N threads; 0 means one for each processor (1)\n"
        "  --cert FILE, --key FILE\n"
        "                       serve https with this certificate and its key (PEM); browsers use\n"
        "                       HTTP/2 only with https\n"
        "  --http1              do not speak HTTP/2\n"
        "  --listing            list the names in a folder that has no index.html\n"
        "  --no-links           follow no symbolic links, not even inside DIR\n"
        "  --precompressed      send a.js.br, a.js.zst or a.js.gz for a.js if the client accepts "
        "it\n"
        "  --cache-control TEXT send Cache-Control: TEXT with files, such as max-age=60\n"
        "  --access-log FILE|-  append a line for each request to FILE; - is standard error\n"
        "  --metrics-port N     serve metrics for Prometheus at http://127.0.0.1:N/metrics\n"
        "  -h, --help, --version\n"
        "\n"
        "Only regular files are sent, and no name, link or rename can lead outside DIR.  Names\n"
        "that begin with a dot are hidden.  Downloads can be resumed (ranges, ETag).  SIGINT\n"
        "(Ctrl-C) or SIGTERM stops the server; answers in progress have 5 seconds to finish.\n"
        "With --cert, SIGHUP reads the certificate and its key again.\n"
        "\n"
        "Exit: 1 the server could not start or failed, 2 the command line is wrong, 4 standard\n"
        "output cannot be written, 130 SIGINT, 143 SIGTERM.\n";

enum {
        OPT_BIND = 256,
        OPT_PORT,
        OPT_HOST,
        OPT_THREADS,
        OPT_CERT,
        OPT_KEY,
        OPT_HTTP1,
        OPT_LISTING,
        OPT_NO_LINKS,
        OPT_PRECOMPRESSED,
        OPT_CACHE_CONTROL,
        OPT_ACCESS_LOG,
        OPT_METRICS_PORT,
};

static const struct option options[] = {
        { "bind", required_argument, NULL, OPT_BIND },
        { "port", required_argument, NULL, OPT_PORT },
        { "host", required_argument, NULL, OPT_HOST },
        { "threads", required_argument, NULL, OPT_THREADS },
        { "cert", required_argument, NULL, OPT_CERT },
        { "key", required_argument, NULL, OPT_KEY },
        { "http1", no_argument, NULL, OPT_HTTP1 },
        { "listing", no_argument, NULL, OPT_LISTING },
        { "no-links", no_argument, NULL, OPT_NO_LINKS },
        { "precompressed", no_argument, NULL, OPT_PRECOMPRESSED },
        { "cache-control", required_argument, NULL, OPT_CACHE_CONTROL },
        { "access-log", required_argument, NULL, OPT_ACCESS_LOG },
        { "metrics-port", required_argument, NULL, OPT_METRICS_PORT },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, ED_OPTION_VERSION },
        { NULL, 0, NULL, 0 },
};

static const struct ed_option_hint hints[] = {
        { "listen", "--bind ADDRESS and --port N" },
        { "allowed-hosts", "--host" },
        { "directory", "DIR, without an option" },
        { "root", "DIR, without an option" },
        { "tls", "--cert" },
        { "certificate", "--cert" },
        { "log", "--access-log" },
        { "metrics", "--metrics-port" },
        { "index", "--listing" },
        { "gzip", "--precompressed" },
        { "p", "--port" },
        { NULL, NULL },
};

static const struct ed_option_set option_set_of_serve = { "serve", ":h", options, hints };

/* Refuses port 0, because 0 in the options means a server without metrics. */
static int metrics_port_set(struct ed_serve_opts *opts, const char *value)
{
        int err = ed_option_port("serve", "--metrics-port", value, value, &opts->metrics_port);

        if (err < 0 || opts->metrics_port > 0)
                return err;
        ed_console_usage("serve", "--metrics-port 0: give the port that Prometheus scrapes");
        return -EINVAL;
}

/* Returns true for a host name, such as "files.example"; false for an IP address, port or URL. */
static bool is_name(const char *text)
{
        const char *dot = strrchr(text, '.'), *last = dot ? dot + 1 : text;

        for (const char *at = text; *at; at++)
                if (!(isalnum((unsigned char) *at) || *at == '-' || *at == '_' ||
                      (*at == '.' && at > text && at[-1] != '.')))
                        return false;
        return last[strspn(last, "0123456789")];
}

static int host_add(struct ed_serve_opts *opts, const char *value)
{
        if (!is_name(value)) {
                ed_console_usage("serve",
                                 "--host %s: not a name such as files.example; to listen on an "
                                 "address, give --bind",
                                 value);
                return -EINVAL;
        }
        if (opts->hosts_count == ED_SERVE_HOSTS_MAX) {
                ed_console_usage("serve", "--host: at most %d names", ED_SERVE_HOSTS_MAX);
                return -EINVAL;
        }
        opts->hosts[opts->hosts_count++] = value;
        return 0;
}

static int serve_option_set(void *arg, int option, char *value)
{
        struct ed_serve_opts *opts = arg;

        switch (option) {
        case OPT_BIND:
                opts->address = value;
                return 0;
        case OPT_PORT:
                return ed_option_port("serve", "--port", value, value, &opts->port);
        case OPT_HOST:
                return host_add(opts, value);
        case OPT_THREADS:
                return ed_option_count("serve", "--threads", value, 0, ED_SERVE_THREADS_MAX,
                                       &opts->threads);
        case OPT_CERT:
                return ed_option_once("serve", "--cert", value, &opts->cert_file);
        case OPT_KEY:
                return ed_option_once("serve", "--key", value, &opts->key_file);
        case OPT_HTTP1:
                opts->server_flags = EDDY_HTTP_SERVER_HTTP1_ONLY;
                return 0;
        case OPT_LISTING:
                opts->folder_flags |= EDDY_HTTP_FOLDER_LISTING;
                return 0;
        case OPT_NO_LINKS:
                opts->folder_flags |= EDDY_HTTP_FOLDER_NO_LINKS;
                return 0;
        case OPT_PRECOMPRESSED:
                opts->folder_flags |= EDDY_HTTP_FOLDER_PRECOMPRESSED;
                return 0;
        case OPT_CACHE_CONTROL:
                return ed_option_once("serve", "--cache-control", value, &opts->cache_control);
        case OPT_ACCESS_LOG:
                return ed_option_file("serve", "--access-log", value, &opts->log_file);
        default:
                return metrics_port_set(opts, value);
        }
}

/* Returns true if the text can be the value of a header. */
static int is_header_text(const char *text)
{
        for (; *text; text++)
                if ((unsigned char) *text < ' ' || *text == 0x7f)
                        return 0;
        return 1;
}

static int line_check(struct ed_serve_opts *opts, int count, char **words)
{
        if (count == 0)
                return ed_console_usage("serve", "name a folder: eddy serve DIR (. for this one)");
        if (count > 1)
                return ed_console_usage("serve", "%s: give one folder", words[1]);
        opts->folder = words[0];
        if (opts->key_file && !opts->cert_file)
                return ed_console_usage("serve", "--key needs --cert, the certificate of the key");
        if (opts->threads != 1 && opts->metrics_port > 0)
                return ed_console_usage("serve",
                                        "--metrics-port with --threads: each thread counts "
                                        "for itself; leave one out");
        if (opts->cache_control && !is_header_text(opts->cache_control))
                return ed_console_usage("serve", "--cache-control: a header has no control "
                                                 "characters");
        return 0;
}

int ed_serve_opts_parse(struct ed_serve_opts *opts, int argc, char **argv, int *ret_exit)
{
        *opts = (struct ed_serve_opts){ .address = "127.0.0.1",
                                        .port = PORT_DEFAULT,
                                        .threads = 1 };
        if (ed_option_walk(&option_set_of_serve, help, argc, argv, serve_option_set, opts,
                           ret_exit) != 0)
                return 1;
        *ret_exit = line_check(opts, argc - optind, argv + optind);
        return *ret_exit ? 1 : 0;
}
