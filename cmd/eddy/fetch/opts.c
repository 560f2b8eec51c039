/*
 * fetch/opts.c - reads and checks the command line of `eddy fetch`, before any request is sent.
 */
#include "fetch/opts.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/console.h"
#include "common/duration.h"
#include "common/option.h"
#include "common/slurp.h"
#include "common/url_shown.h"
#include "eddy/alloc.h"
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
        "                           empty lines and lines that begin with # are skipped;\n"
        "                           gzip and zstd are accepted\n"
        "  -X, --method M           GET, or POST with --data, unless given\n"
        "  -H, --header 'NAME: VALUE'\n"
        "                           send this header; may be repeated\n"
        "  -u, --user U[:P]|@FILE   user and password (Basic), from the command line, the first "
        "line\n"
        "                           of FILE, or with the password in EDDY_PASSWORD\n"
        "  --digest                 Digest with SHA-256 for -u or --netrc, instead of Basic\n"
        "  --digest-md5             Digest, also with MD5: for old servers\n"
        "  --netrc                  users and passwords of hosts from ~/.netrc\n"
        "  --netrc-file FILE        the same from FILE\n"
        "  -d, --data D|@FILE       the body: D, or the contents of FILE (@-: standard input);\n"
        "                           for JSON add -H 'Content-Type: application/json'\n"
        "  -L, --location           follow redirects; secret headers and user names of URLs\n"
        "                           stay with their scheme, host and port\n"
        "  --max-redirs N           redirects of one URL, with -L (10)\n"
        "\n"
        "How\n"
        "  -n N                     request the only URL N times\n"
        "  --duration D             request the only URL again and again for D; requests in "
        "flight\n"
        "                           then finish\n"
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
        "                           it is longer, and over an hour ends the attempts "
        "(500ms)\n" ED_CONNECT_HELP
        "  --compressed             ask for compressed responses (gzip, deflate, br, zstd), and\n"
        "                           decompress them\n"
        "Write durations as 250ms, 2.5s, 1m, 2h.  The statuses 408, 425, 429 and 5xx (but not\n"
        "501 and 505) are retried for every method: a server may carry out a POST more than\n"
        "once.  Timeouts and failed connections are retried too, but POST, PATCH and the like\n"
        "only if nothing of the request was sent, or with an Idempotency-Key.  With --attempts\n"
        "1 a POST is sent once.\n"
        "Without -L redirects are not followed; from https to http they never are.  Proxies are\n"
        "those of http_proxy, https_proxy or all_proxy in the environment, except for hosts in\n"
        "no_proxy.\n"
        "\n"
        "Results\n"
        "  -o FILE|-                write lines to FILE, which must be new or empty, except with\n"
        "                           --save; - is standard output, as without -o\n"
        "  --force                  overwrite FILE, or files in the folder of --save\n"
        "  --body                   add \"body\" to each line: a string, or {\"_base64\":...};\n"
        "                           at most 64 MiB each\n"
        "  --save DIR               save each body of a status below 300 as a file in DIR, named\n"
        "                           after the last part of its URL (or \"index\"), with an ending\n"
        "                           for its Content-Type if that part has no dot; \"file\" in the\n"
        "                           line is the name.  The same command continues: URLs whose\n"
        "                           files are in DIR, according to the lines of -o or else a\n"
        "                           record in DIR, are not fetched again, and of a large file\n"
        "                           that was cut only the rest is fetched\n"
        "  --remote-name            with --save: give files the names that the servers send in\n"
        "                           Content-Disposition, if any; DIR may have other files, which\n"
        "                           stay: if a name is taken, \"-\" and 16 digits are added\n"
        "  --progress auto|bar|plain|json|off\n"
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
        "  redirect_refused  deadline_exceeded  out_of_memory\n"
        "The message of a timeout names the limit that passed.  A status of 300 and above counts\n"
        "as failed, with \"error\" null.\n"
        "\n"
        "Ctrl-C, SIGTERM and SIGHUP stop the run: finished results are written, requests in\n"
        "flight are dropped and counted in the summary.  When the reader of the output goes away\n"
        "(| head), the run ends, and the summary says why.\n"
        "\n"
        "Exit: 0 all succeeded, 1 some failed, 2 the command line is wrong, 4 the output failed\n"
        "(a full disk, a file that was removed), 6 another run writes to it, 129, 130 or 143\n"
        "stopped by a signal.\n";

enum { REDIRECTS_DEFAULT = 10 };

enum {
        OPT_PER_HOST = 256,
        OPT_TIMEOUT,
        OPT_CONNECT_TIMEOUT,
        OPT_READ_TIMEOUT,
        OPT_DEADLINE,
        OPT_DURATION,
        OPT_MAX_REDIRS,
        OPT_DIGEST,
        OPT_DIGEST_MD5,
        OPT_NETRC,
        OPT_NETRC_FILE,
        OPT_ATTEMPTS,
        OPT_BACKOFF,
        OPT_COMPRESSED,
        OPT_FORCE,
        OPT_BODY,
        OPT_SAVE,
        OPT_REMOTE_NAME,
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
        { "duration", required_argument, NULL, OPT_DURATION },
        { "attempts", required_argument, NULL, OPT_ATTEMPTS },
        { "backoff", required_argument, NULL, OPT_BACKOFF },
        { "header", required_argument, NULL, 'H' },
        { "method", required_argument, NULL, 'X' },
        { "data", required_argument, NULL, 'd' },
        { "location", no_argument, NULL, 'L' },
        { "max-redirs", required_argument, NULL, OPT_MAX_REDIRS },
        { "user", required_argument, NULL, 'u' },
        { "digest", no_argument, NULL, OPT_DIGEST },
        { "digest-md5", no_argument, NULL, OPT_DIGEST_MD5 },
        { "netrc", no_argument, NULL, OPT_NETRC },
        { "netrc-file", required_argument, NULL, OPT_NETRC_FILE },
        ED_CONNECT_LONGS,
        { "compressed", no_argument, NULL, OPT_COMPRESSED },
        { "force", no_argument, NULL, OPT_FORCE },
        { "body", no_argument, NULL, OPT_BODY },
        { "save", required_argument, NULL, OPT_SAVE },
        { "remote-name", no_argument, NULL, OPT_REMOTE_NAME },
        { "progress", required_argument, NULL, OPT_PROGRESS },
        { "summary", required_argument, NULL, OPT_SUMMARY },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, OPT_VERSION },
        { NULL, 0, NULL, 0 },
};

#define HINT_RATE "-c (no option limits the rate yet; a lower -c sends fewer requests a second)"

#define HINT_CONTINUE "--save (the same command continues files, and skips those that are complete)"

static const struct ed_option_hint hints[] = {
        { "input", "-i" },
        { "output", "-o" },
        { "concurrency", "-c" },
        { "parallel", "-c" },
        { "parallel-max", "-c" },
        { "jobs", "-c" },
        { "request", "--method" },
        { "follow", "--location" },
        { "max-redirect", "--max-redirs" },
        { "location-trusted",
          "--location (headers with secrets are not sent to other hosts: name the last URL)" },
        { "max-time", "--timeout" },
        { "retry", "--attempts" },
        { "retries", "--attempts" },
        { "requests", "-n" },
        { "basic", "-u" },
        { "oauth2-bearer", "-H 'Authorization: Bearer TOKEN', or -H @FILE" },
        { "rate", HINT_RATE },
        { "max-rate", HINT_RATE },
        { "rate-limit", HINT_RATE },
        { "rps", HINT_RATE },
        { "speed-time", "--read-timeout" },
        { "remote-name-all", "--remote-name" },
        { "remote-header-name", "--remote-name" },
        { "content-disposition", "--remote-name" },
        { "output-dir", "--save" },
        { "directory-prefix", "--save" },
        { "continue", HINT_CONTINUE },
        { "continue-at", HINT_CONTINUE },
        { "no-clobber", HINT_CONTINUE },
        { "A", "-H 'User-Agent: NAME'" },
        { "I", "-X HEAD" },
        { "J", "--remote-name" },
        { "O", "--save . --remote-name" },
        { "m", "--timeout" },
        { "s", "--progress off" },
        { "x", "--proxy" },
        { "z", "--duration" },
        { NULL, NULL },
};

static const struct ed_option_set option_set_of_fetch = { "fetch", ":hki:n:c:o:X:H:d:u:L", options,
                                                          hints };

static int data_set(struct ed_fetch_opts *opts, const char *text)
{
        eddy_free(opts->data);
        opts->data = NULL;
        if (*text == '@') {
                opts->data_from_stdin = strcmp(text, "@-") == 0;
                return ed_slurp("fetch", "--data @", text + 1, ED_FETCH_DATA_BYTES_MAX, &opts->data,
                                &opts->data_bytes);
        }
        opts->data_from_stdin = false;
        opts->data_bytes = strlen(text);
        opts->data = eddy_malloc(opts->data_bytes + 1);
        if (!opts->data)
                return -ENOMEM;
        memcpy(opts->data, text, opts->data_bytes + 1);
        return 0;
}

static int limit_set(struct ed_fetch_limit *limit, const char *option, const char *value)
{
        limit->text = value;
        return ed_option_duration("fetch", option, value, 1, &limit->ns);
}

/* curl's -n reads ~/.netrc and has no value, so that a URL follows. */
static int repeat_set(struct ed_fetch_opts *opts, const char *value)
{
        char shown[ED_URL_SHOWN_BYTES];

        if (!strstr(value, "://"))
                return ed_option_count("fetch", "-n", value, 1, ED_FETCH_REPEAT_MAX, &opts->repeat);
        ed_console_usage("fetch",
                         "-n %s: write a number of requests before the URL; for users and "
                         "passwords from ~/.netrc use --netrc",
                         ed_url_shown(shown, value, strlen(value)));
        return -EINVAL;
}

/* Take an option about time, or one of those that all commands which connect have. */
static int time_set(struct ed_fetch_opts *opts, int option, const char *value)
{
        switch (option) {
        case OPT_DURATION:
                return limit_set(&opts->duration, "--duration", value);
        case OPT_TIMEOUT:
                return limit_set(&opts->timeout, "--timeout", value);
        case OPT_CONNECT_TIMEOUT:
                return limit_set(&opts->connect_timeout, "--connect-timeout", value);
        case OPT_READ_TIMEOUT:
                return limit_set(&opts->read_timeout, "--read-timeout", value);
        case OPT_DEADLINE:
                return limit_set(&opts->deadline, "--deadline", value);
        default:
                return ed_connect_set(&opts->connect, "fetch", option, value);
        }
}

static int option_set(struct ed_fetch_opts *opts, int option, const char *value)
{
        static const char *const progress[] = { "auto", "bar", "plain", "json", "off" };
        static const char *const summary[] = { "text", "json" };
        int err = 0;

        switch (option) {
        case 'i':
                return ed_option_once("fetch", "-i", value, &opts->input);
        case 'c':
                return ed_option_count("fetch", "-c", value, 1, ED_FETCH_CONCURRENCY_MAX,
                                       &opts->concurrency);
        case 'n':
                return repeat_set(opts, value);
        case 'o':
                return ed_option_file("fetch", "-o", value, &opts->output);
        case OPT_PER_HOST:
                return ed_option_count("fetch", "--per-host", value, 1, ED_FETCH_CONCURRENCY_MAX,
                                       &opts->per_host);
        case OPT_ATTEMPTS:
                return ed_option_count("fetch", "--attempts", value, 1, ED_FETCH_ATTEMPTS_MAX,
                                       &opts->attempts);
        case OPT_BACKOFF:
                return ed_option_duration("fetch", "--backoff", value, 0, &opts->backoff_ns);
        case 'H':
                return ed_headers_add(&opts->headers, "fetch", value);
        case 'X':
                opts->method = value;
                return ed_headers_check_method("fetch", value);
        case 'd':
                return data_set(opts, value);
        case 'L':
                opts->follow = true;
                return 0;
        case OPT_MAX_REDIRS:
                return ed_option_count("fetch", "--max-redirs", value, 1, ED_FETCH_REDIRECTS_MAX,
                                       &opts->redirects_max);
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
                return ed_option_once("fetch", "--save", value, &opts->save);
        case OPT_REMOTE_NAME:
                opts->remote_name = true;
                break;
        case OPT_PROGRESS:
                err = ed_option_word("fetch", "--progress", value, progress, 5,
                                     "auto, bar, plain, json, off");
                if (err >= 0)
                        opts->progress = (enum ed_show_mode) err;
                break;
        case OPT_SUMMARY:
                err = ed_option_word("fetch", "--summary", value, summary, 2, "text, json");
                if (err >= 0)
                        opts->summary_json = err == 1;
                break;
        default:
                return time_set(opts, option, value);
        }
        return err < 0 ? err : 0;
}

/* Take an option about credentials. Returns false if it is another one. */
static bool credentials_set(struct ed_credentials *credentials, int option, char *value,
                            int *ret_err)
{
        *ret_err = 0;
        switch (option) {
        case 'u':
                *ret_err = ed_credentials_user(credentials, value);
                return true;
        case OPT_DIGEST_MD5:
                credentials->md5 = true;
                credentials->digest = true;
                return true;
        case OPT_DIGEST:
                credentials->digest = true;
                return true;
        case OPT_NETRC:
                credentials->netrc = true;
                return true;
        case OPT_NETRC_FILE:
                credentials->file = value;
                return true;
        default:
                return false;
        }
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

/* Check the options that request the same URL many times. */
static int repeat_check(const struct ed_fetch_opts *opts)
{
        const char *option = opts->repeat ? "-n" : "--duration";

        if (!opts->repeat && !opts->duration.ns)
                return 0;
        if (opts->repeat && opts->duration.ns)
                return ed_console_usage("fetch", "-n and --duration exclude each other");
        if (opts->urls_count != 1 || opts->input)
                return ed_console_usage("fetch", "%s needs exactly one URL, and no -i", option);
        if (opts->save)
                return ed_console_usage("fetch", "%s and --save exclude each other", option);
        return 0;
}

/* Check combinations of options. */
static int opts_check(struct ed_fetch_opts *opts)
{
        char shown[ED_URL_SHOWN_BYTES];
        int err;

        if (opts->urls_count == 0 && !opts->input)
                return ed_console_usage("fetch", "nothing to fetch: name URLs, or a list of them "
                                                 "with -i FILE (-i -: standard input)");
        if (opts->input && strstr(opts->input, "://") && access(opts->input, F_OK) < 0)
                return ed_console_usage("fetch", "-i %s: not a file, but a URL; name it without -i",
                                        ed_url_shown(shown, opts->input, strlen(opts->input)));
        if (opts->output && strcmp(opts->output, "-") == 0)
                opts->output = NULL;
        if (opts->save && strcmp(opts->save, "-") == 0)
                return ed_console_usage("fetch",
                                        "--save -: name a folder, one file is made for "
                                        "each body; or add --body for bodies in the lines");
        if (opts->remote_name && !opts->save)
                return ed_console_usage("fetch", "--remote-name needs --save DIR; --save . is the "
                                                 "current folder");
        if (opts->data_from_stdin && opts->input && strcmp(opts->input, "-") == 0)
                return ed_console_usage("fetch", "-i - and --data @- both read standard input");
        if (opts->body && opts->save)
                return ed_console_usage("fetch", "--body and --save exclude each other");
        if (opts->redirects_max && !opts->follow)
                return ed_console_usage("fetch", "--max-redirs needs -L, which follows redirects");
        if (!opts->redirects_max)
                opts->redirects_max = REDIRECTS_DEFAULT;
        if (!opts->method)
                opts->method = opts->data ? "POST" : "GET";
        err = ed_connect_check(&opts->connect, "fetch");
        if (err == 0)
                err = repeat_check(opts);
        if (err == 0)
                err = ed_credentials_check(&opts->credentials);
        return err ? err : urls_check(opts);
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
        ed_connect_init(&opts->connect);
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
                if (!credentials_set(&opts->credentials, option, optarg, &err))
                        err = option_set(opts, option, optarg);
                if (option == 'H')
                        ed_headers_overwrite(optarg);
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
        ed_headers_fini(&opts->headers);
        ed_credentials_fini(&opts->credentials);
        eddy_free(opts->data);
        opts->data = NULL;
}
