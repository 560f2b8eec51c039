/*
 * fetch/opts.c - reads and checks the command line of `eddy fetch`, before any request is sent.
 */
#include "fetch/opts.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/console.h"
#include "common/duration.h"
#include "common/option.h"
#include "eddy/alloc.h"
#include "eddy/http_text.h"
#include "eddy/time.h"
#include "eddy/version.h"

static const char help[] =
        "Usage: eddy fetch [URL ...] [-i FILE|-] [-o FILE] [options]\n"
        "\n"
        "Fetches URLs, many at a time, and writes one line of JSON for each as it finishes:\n"
        "  "
        "{\"index\":0,\"url\":\"http://...\",\"status\":200,\"bytes\":12,\"ms\":3.4,\"attempts\":1,"
        "\"error\":null}\n"
        "\n"
        "Requests\n"
        "  URL ...                  http or https URLs\n"
        "  -i FILE|-                read more, one per line, from FILE or - (standard input);\n"
        "                           empty lines and lines that begin with # are skipped\n"
        "  -X, --method M           GET, or POST with --data, unless given\n"
        "  -H, --header 'NAME: VALUE'\n"
        "                           send this header; may be repeated\n"
        "  -d, --data D|@FILE       the body: D, or the contents of FILE (@-: standard input);\n"
        "                           for JSON add -H 'Content-Type: application/json'\n"
        "\n"
        "How\n"
        "  -c N                     requests at a time, 1 to 65536 (50)\n"
        "  --per-host N             requests at a time to one host and port (no further limit)\n"
        "  --timeout D              for one attempt, from the start of its connect (60s)\n"
        "  --connect-timeout D      for name lookup, connect, the proxy's CONNECT or SOCKS, and\n"
        "                           TLS handshake (5s)\n"
        "  --read-timeout D         for a time in which no byte is sent or received (none)\n"
        "  --deadline D             for the whole run; URLs read but not finished by then get\n"
        "                           the error deadline_exceeded (none)\n"
        "  --attempts N             in all, for one URL (3)\n"
        "  --backoff D              a random wait of up to D before the second attempt, 2D before\n"
        "                           the third, and so on up to a minute; Retry-After counts if\n"
        "                           it is longer, and over an hour ends the attempts (500ms)\n"
        "  --cacert FILE            trust the certificates in FILE (PEM), not the system's\n"
        "  --cert FILE, --key FILE  this program's own certificate and its key (PEM)\n"
        "  -k, --insecure           accept any certificate: anyone can then read and change\n"
        "                           what is sent\n"
        "  --proxy URL              use this proxy, "
        "[http://|socks5://][USER:PASSWORD@]HOST[:PORT],\n"
        "                           in place of those of the environment; '' is none\n"
        "  --unix-socket PATH       connect to this Unix socket for every URL, without a proxy\n"
        "  --resolve HOST:PORT:ADDRESS[,ADDRESS]...\n"
        "                           connect to ADDRESS for this host and port; HOST * is any;\n"
        "                           may be repeated\n"
        "  --compressed             ask for compressed responses (gzip, deflate, br, zstd), and\n"
        "                           decompress them\n"
        "Write durations as 250ms, 2.5s, 1m, 2h.  The statuses 408, 425, 429 and 5xx (but not\n"
        "501 and 505) are retried for every method: a server may carry out a POST more than\n"
        "once.  Timeouts and failed connections are retried too, but POST, PATCH and the like\n"
        "only if nothing of the request was sent.  With --attempts 1 a POST is sent once.\n"
        "Redirects are not followed.  Proxies are those of http_proxy, https_proxy or all_proxy\n"
        "in the environment, except for hosts in no_proxy.\n"
        "\n"
        "Results\n"
        "  -o FILE|-                write lines to FILE, which must be new or empty; - is\n"
        "                           standard output, as without -o\n"
        "  --force                  overwrite FILE, or files in the folder of --save\n"
        "  --body                   add \"body\" to each line: a string, or {\"_base64\":...};\n"
        "                           at most 64 MiB each\n"
        "  --save DIR               write each body to DIR/INDEX\n"
        "  --progress auto|bar|plain|off\n"
        "                           on stderr: a bar on a terminal, else a line each 10 s (auto)\n"
        "  --summary text|json      on stderr, at the end (text)\n"
        "  -h, --help, --version\n"
        "\n"
        "\"index\" counts the URLs from 0, those of the command line first.  \"status\" is null\n"
        "when there was no response.  \"bytes\", \"ms\" and \"status\" are those of the last\n"
        "attempt; \"ms\" runs from the start of its connect.\n"
        "\"error\" is {\"code\":...,\"message\":...} with one of the codes\n"
        "  invalid_request_line  tls_error  dns_error  connect_error  connection_reset\n"
        "  request_timeout  stream_truncated  invalid_response  response_too_large\n"
        "  deadline_exceeded  out_of_memory\n"
        "The message of a timeout names the limit that passed.  A status of 400 and above counts\n"
        "as failed, with \"error\" null.\n"
        "\n"
        "Ctrl-C (or SIGTERM) stops the run: finished results are written, requests in flight are\n"
        "dropped and counted in the summary.  When the reader of the output goes away (| head),\n"
        "the run ends, and the summary says why.\n"
        "\n"
        "Exit: 0 all succeeded, 1 some failed, 2 the command line is wrong, 4 the output failed\n"
        "(a full disk, a file that was removed), 130 or 143 stopped by SIGINT or SIGTERM.\n";

enum {
        OPT_PER_HOST = 256,
        OPT_TIMEOUT,
        OPT_CONNECT_TIMEOUT,
        OPT_READ_TIMEOUT,
        OPT_DEADLINE,
        OPT_ATTEMPTS,
        OPT_BACKOFF,
        OPT_CACERT,
        OPT_CERT,
        OPT_KEY,
        OPT_PROXY,
        OPT_COMPRESSED,
        OPT_UNIX_SOCKET,
        OPT_RESOLVE,
        OPT_FORCE,
        OPT_BODY,
        OPT_SAVE,
        OPT_PROGRESS,
        OPT_SUMMARY,
        OPT_VERSION,
};

static const struct option options[] = {
        { "per-host", required_argument, NULL, OPT_PER_HOST },
        { "timeout", required_argument, NULL, OPT_TIMEOUT },
        { "connect-timeout", required_argument, NULL, OPT_CONNECT_TIMEOUT },
        { "read-timeout", required_argument, NULL, OPT_READ_TIMEOUT },
        { "deadline", required_argument, NULL, OPT_DEADLINE },
        { "attempts", required_argument, NULL, OPT_ATTEMPTS },
        { "backoff", required_argument, NULL, OPT_BACKOFF },
        { "header", required_argument, NULL, 'H' },
        { "method", required_argument, NULL, 'X' },
        { "data", required_argument, NULL, 'd' },
        { "cacert", required_argument, NULL, OPT_CACERT },
        { "cert", required_argument, NULL, OPT_CERT },
        { "key", required_argument, NULL, OPT_KEY },
        { "insecure", no_argument, NULL, 'k' },
        { "proxy", required_argument, NULL, OPT_PROXY },
        { "compressed", no_argument, NULL, OPT_COMPRESSED },
        { "unix-socket", required_argument, NULL, OPT_UNIX_SOCKET },
        { "resolve", required_argument, NULL, OPT_RESOLVE },
        { "force", no_argument, NULL, OPT_FORCE },
        { "body", no_argument, NULL, OPT_BODY },
        { "save", required_argument, NULL, OPT_SAVE },
        { "progress", required_argument, NULL, OPT_PROGRESS },
        { "summary", required_argument, NULL, OPT_SUMMARY },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, OPT_VERSION },
        { NULL, 0, NULL, 0 },
};

#define HINT_RATE "-c (no option limits the rate yet; a lower -c sends fewer requests a second)"

static const struct ed_option_hint hints[] = {
        { "input", "-i" },
        { "output", "-o" },
        { "concurrency", "-c" },
        { "parallel", "-c" },
        { "parallel-max", "-c" },
        { "jobs", "-c" },
        { "request", "--method" },
        { "max-time", "--timeout" },
        { "retry", "--attempts" },
        { "retries", "--attempts" },
        { "rate", HINT_RATE },
        { "max-rate", HINT_RATE },
        { "rate-limit", HINT_RATE },
        { "rps", HINT_RATE },
        { "speed-time", "--read-timeout" },
        { NULL, NULL },
};

static const struct ed_option_set option_set_of_fetch = { "fetch", ":hki:c:o:X:H:d:", options,
                                                          hints };

static int header_add(struct ed_fetch_opts *opts, const char *text)
{
        static const char *const own[] = { "Content-Length", "Transfer-Encoding", "Connection" };
        size_t name_bytes = strcspn(text, ":");
        const char *value = text + name_bytes;
        char *copy;

        if (*value != ':' || !eddy_http_is_token(text, name_bytes)) {
                ed_console_usage("fetch", "--header %s: write it as 'NAME: VALUE'", text);
                return -EINVAL;
        }
        for (value++; *value == ' ' || *value == '\t';)
                value++;
        if (!eddy_http_is_value(value, strlen(value))) {
                ed_console_usage("fetch", "--header %s: the value contains a control character",
                                 text);
                return -EINVAL;
        }
        for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
                if (strncasecmp(text, own[i], name_bytes) == 0 && own[i][name_bytes] == '\0') {
                        ed_console_usage("fetch", "--header %s: eddy sets this one itself", text);
                        return -EINVAL;
                }
        }
        if (opts->headers_count == ED_FETCH_HEADERS_MAX) {
                ed_console_usage("fetch", "--header: at most %d are possible",
                                 ED_FETCH_HEADERS_MAX);
                return -EINVAL;
        }
        copy = eddy_malloc(strlen(text) + 2);
        if (!copy)
                return -ENOMEM;
        memcpy(copy, text, name_bytes);
        copy[name_bytes] = '\0';
        memcpy(copy + name_bytes + 1, value, strlen(value) + 1);
        opts->headers[opts->headers_count++] =
                (struct eddy_http_header){ .name = copy, .value = copy + name_bytes + 1 };
        return 0;
}

/* Make room for at least one byte after 'opts->data_bytes'. */
static int data_grow(struct ed_fetch_opts *opts, size_t *room)
{
        char *data;

        if (opts->data_bytes < *room)
                return 0;
        data = eddy_realloc(opts->data, *room ? *room * 2 : 65536);
        if (!data)
                return -ENOMEM;
        *room = *room ? *room * 2 : 65536;
        opts->data = data;
        return 0;
}

/* Read a whole file, at most ED_FETCH_DATA_BYTES_MAX bytes. */
static int data_read(struct ed_fetch_opts *opts, int fd, const char *path)
{
        size_t room = 0;

        opts->data_bytes = 0;
        for (;;) {
                int err = data_grow(opts, &room);
                ssize_t n;

                if (err < 0)
                        return err;
                n = read(fd, opts->data + opts->data_bytes, room - opts->data_bytes);
                if (n == 0)
                        return 0;
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0) {
                        err = -errno;
                        ed_console_usage("fetch", "--data @%s: %s", path, strerror(-err));
                        return err;
                }
                opts->data_bytes += (size_t) n;
                if (opts->data_bytes > ED_FETCH_DATA_BYTES_MAX) {
                        ed_console_usage("fetch", "--data @%s: larger than 64 MiB", path);
                        return -EFBIG;
                }
        }
}

static int data_set(struct ed_fetch_opts *opts, const char *text)
{
        const char *path = text + 1;
        int fd, err;

        eddy_free(opts->data);
        opts->data = NULL;
        if (*text != '@') {
                opts->data_bytes = strlen(text);
                opts->data = eddy_malloc(opts->data_bytes + 1);
                if (!opts->data)
                        return -ENOMEM;
                memcpy(opts->data, text, opts->data_bytes + 1);
                return 0;
        }
        opts->data_from_stdin = strcmp(path, "-") == 0;
        if (opts->data_from_stdin)
                return data_read(opts, STDIN_FILENO, path);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0) {
                err = -errno;
                ed_console_usage("fetch", "--data @%s: %s", path, strerror(-err));
                return err;
        }
        err = data_read(opts, fd, path);
        close(fd);
        return err;
}

/* Returns the position of 'value' in a list, or -EINVAL after a message with the list. */
static int word_find(const char *option, const char *value, const char *const *words, int n,
                     const char *shown)
{
        for (int i = 0; i < n; i++) {
                if (strcmp(value, words[i]) == 0)
                        return i;
        }
        ed_console_usage("fetch", "%s %s: give one of %s", option, value, shown);
        return -EINVAL;
}

static int method_set(struct ed_fetch_opts *opts, const char *value)
{
        static const char *const methods[] = { "GET",    "HEAD",    "POST",  "PUT",
                                               "DELETE", "OPTIONS", "PATCH", "TRACE" };

        for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
                if (strcasecmp(value, methods[i]) == 0 && strcmp(value, methods[i]) != 0) {
                        ed_console_usage("fetch", "--method %s: did you mean %s, in capitals?",
                                         value, methods[i]);
                        return -EINVAL;
                }
        }
        if (!eddy_http_is_token(value, strlen(value)) || strlen(value) > 32) {
                ed_console_usage("fetch", "--method %s: not a method", value);
                return -EINVAL;
        }
        if (strcmp(value, "CONNECT") == 0) {
                ed_console_usage("fetch", "--method CONNECT: it is for proxies, not for URLs");
                return -EINVAL;
        }
        opts->method = value;
        return 0;
}

/* Refuse a second value, because the first would be ignored silently. */
static int once(const char *option, const char **ret_value, const char *value)
{
        if (*ret_value) {
                ed_console_usage("fetch", "%s %s: %s %s was given already; give one", option, value,
                                 option, *ret_value);
                return -EINVAL;
        }
        *ret_value = value;
        return 0;
}

static int resolve_add(struct ed_fetch_opts *opts, const char *value)
{
        if (opts->resolve_count == ED_FETCH_RESOLVE_MAX) {
                ed_console_usage("fetch", "--resolve: at most %d are possible",
                                 (int) ED_FETCH_RESOLVE_MAX);
                return -EINVAL;
        }
        opts->resolve[opts->resolve_count++] = value;
        return 0;
}

static int limit_set(struct ed_fetch_limit *limit, const char *option, const char *value)
{
        limit->text = value;
        return ed_option_duration("fetch", option, value, 1, &limit->ns);
}

/* The options for connections: TLS and routes. */
static int connection_set(struct ed_fetch_opts *opts, int option, const char *value)
{
        switch (option) {
        case 'k':
                opts->insecure = true;
                return 0;
        case OPT_CACERT:
                return once("--cacert", &opts->ca_file, value);
        case OPT_CERT:
                return once("--cert", &opts->cert_file, value);
        case OPT_KEY:
                return once("--key", &opts->key_file, value);
        case OPT_PROXY:
                opts->http_proxy = opts->https_proxy = value;
                opts->proxy_origin = "--proxy";
                return 0;
        case OPT_UNIX_SOCKET:
                return once("--unix-socket", &opts->unix_path, value);
        case OPT_RESOLVE:
                return resolve_add(opts, value);
        default:
                return -EINVAL;
        }
}

static int option_set(struct ed_fetch_opts *opts, int option, const char *value)
{
        static const char *const progress[] = { "auto", "bar", "plain", "off" };
        static const char *const summary[] = { "text", "json" };
        int err = 0;

        switch (option) {
        case 'i':
                return once("-i", &opts->input, value);
        case 'c':
                return ed_option_count("fetch", "-c", value, 1, ED_FETCH_CONCURRENCY_MAX,
                                       &opts->concurrency);
        case 'o':
                return once("-o", &opts->output, value);
        case OPT_PER_HOST:
                return ed_option_count("fetch", "--per-host", value, 1, ED_FETCH_CONCURRENCY_MAX,
                                       &opts->per_host);
        case OPT_ATTEMPTS:
                return ed_option_count("fetch", "--attempts", value, 1, ED_FETCH_ATTEMPTS_MAX,
                                       &opts->attempts);
        case OPT_TIMEOUT:
                return limit_set(&opts->timeout, "--timeout", value);
        case OPT_CONNECT_TIMEOUT:
                return limit_set(&opts->connect_timeout, "--connect-timeout", value);
        case OPT_READ_TIMEOUT:
                return limit_set(&opts->read_timeout, "--read-timeout", value);
        case OPT_DEADLINE:
                return limit_set(&opts->deadline, "--deadline", value);
        case OPT_BACKOFF:
                return ed_option_duration("fetch", "--backoff", value, 0, &opts->backoff_ns);
        case 'H':
                return header_add(opts, value);
        case 'X':
                return method_set(opts, value);
        case 'd':
                return data_set(opts, value);
        case OPT_COMPRESSED:
                opts->compressed = true;
                return 0;
        case OPT_FORCE:
                opts->force = true;
                break;
        case OPT_BODY:
                opts->body = true;
                break;
        case OPT_SAVE:
                return once("--save", &opts->save, value);
        case OPT_PROGRESS:
                err = word_find("--progress", value, progress, 4, "auto, bar, plain, off");
                if (err >= 0)
                        opts->progress = (enum ed_progress_mode) err;
                break;
        case OPT_SUMMARY:
                err = word_find("--summary", value, summary, 2, "text, json");
                if (err >= 0)
                        opts->summary_json = err == 1;
                break;
        default:
                return connection_set(opts, option, value);
        }
        return err < 0 ? err : 0;
}

/* Report arguments that are recognisably not URLs. */
static int urls_check(const struct ed_fetch_opts *opts)
{
        struct stat st;

        for (size_t i = 0; i < opts->urls_count; i++) {
                const char *url = opts->urls[i];

                if (strcmp(url, "-") == 0)
                        return ed_console_usage(
                                "fetch",
                                "-: not a URL; to read URLs from standard input, add -i -");
                if (!strstr(url, "://") && stat(url, &st) == 0 && S_ISREG(st.st_mode))
                        return ed_console_usage(
                                "fetch", "%s: a file, not a URL; to read URLs from it, add -i %s",
                                url, url);
        }
        return 0;
}

/* Check combinations of options. */
static int opts_check(struct ed_fetch_opts *opts)
{
        if (opts->urls_count == 0 && !opts->input)
                return ed_console_usage("fetch", "nothing to fetch: name URLs, or a list of them "
                                                 "with -i FILE (-i -: standard input)");
        if (opts->input && strstr(opts->input, "://") && access(opts->input, F_OK) < 0)
                return ed_console_usage("fetch", "-i %s: not a file, but a URL; name it without -i",
                                        ed_option_without_password(opts->input));
        if (opts->output && strcmp(opts->output, "-") == 0)
                opts->output = NULL;
        if (opts->save && strcmp(opts->save, "-") == 0)
                return ed_console_usage("fetch",
                                        "--save -: name a folder, one file is made for "
                                        "each body; or add --body for bodies in the lines");
        if (opts->data_from_stdin && opts->input && strcmp(opts->input, "-") == 0)
                return ed_console_usage("fetch", "-i - and --data @- both read standard input");
        if (opts->key_file && !opts->cert_file)
                return ed_console_usage("fetch",
                                        "--key %s: needs --cert, the certificate of the key",
                                        opts->key_file);
        if (opts->insecure && opts->ca_file)
                return ed_console_usage("fetch", "--insecure and --cacert exclude each other");
        if (opts->insecure)
                ed_console_say("fetch",
                               "--insecure: certificates are not checked, so anyone on the "
                               "way can read and change what is sent");
        if (opts->body && opts->save)
                return ed_console_usage("fetch", "--body and --save exclude each other");
        if (!opts->method)
                opts->method = opts->data ? "POST" : "GET";
        return urls_check(opts);
}

/* Returns the variable's value, or NULL if it is empty or not set in small or capital letters. */
static const char *variable(const char *small, const char *capital)
{
        const char *value = getenv(small);

        if ((!value || !*value) && capital)
                value = getenv(capital);
        return value && *value ? value : NULL;
}

/*
 * Take the proxies of the environment. HTTP_PROXY is ignored: in a CGI program, the client's header
 * "Proxy" sets it.
 */
static void proxies_take(struct ed_fetch_opts *opts)
{
        const char *all = variable("all_proxy", "ALL_PROXY");

        opts->http_proxy = variable("http_proxy", NULL);
        opts->https_proxy = variable("https_proxy", "HTTPS_PROXY");
        if (!opts->http_proxy)
                opts->http_proxy = all;
        if (!opts->https_proxy)
                opts->https_proxy = all;
        opts->no_proxy = variable("no_proxy", "NO_PROXY");
        opts->proxy_origin = "http_proxy, https_proxy or all_proxy in the environment";
}

int ed_fetch_opts_parse(struct ed_fetch_opts *opts, int argc, char **argv, int *ret_exit)
{
        int option, err;

        *opts = (struct ed_fetch_opts){
                .concurrency = 50,
                .attempts = 3,
                .timeout = { EDDY_SEC(60), "60s" },
                .connect_timeout = { EDDY_SEC(5), "5s" },
                .backoff_ns = EDDY_MS(500),
        };
        proxies_take(opts);
        optind = 1;
        while ((option = ed_option_next(&option_set_of_fetch, argc, argv)) != -1) {
                if (option == 'h') {
                        *ret_exit = ed_console_print("fetch", help);
                        return 1;
                }
                if (option == OPT_VERSION) {
                        *ret_exit = ed_console_print("fetch", "eddy " EDDY_VERSION "\n");
                        return 1;
                }
                if (option == 0) {
                        *ret_exit = ED_EXIT_USAGE;
                        return 1;
                }
                err = option_set(opts, option, optarg);
                if (err < 0) {
                        *ret_exit = ED_EXIT_USAGE;
                        if (err == -ENOMEM) {
                                ed_console_say("fetch", "out of memory");
                                *ret_exit = ED_EXIT_FAILED;
                        }
                        return 1;
                }
        }
        opts->urls = argv + optind;
        opts->urls_count = (size_t) (argc - optind);
        *ret_exit = opts_check(opts);
        return *ret_exit ? 1 : 0;
}

void ed_fetch_opts_fini(struct ed_fetch_opts *opts)
{
        for (size_t i = 0; i < opts->headers_count; i++)
                eddy_free((char *) opts->headers[i].name);
        eddy_free(opts->data);
        opts->headers_count = 0;
        opts->data = NULL;
}
