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
#include "eddy/http_server.h"
#include "eddy/time.h"
#include "eddy/version.h"
#include "mock/dialect.h"
#include "mock/mock.h"
#include "mock/model.h"
#include "mock/number.h"

/* The default duration of --stall. */
#define STALL_NS EDDY_SEC(600)

/* The default time that the refusals of --refuse state. */
#define REFUSE_NS EDDY_SEC(1)

enum { LIMIT_MAX = 1000000000, DIMENSIONS = 8 };

/* The options, and values that are checked after the last option. */
struct mock_line {
        struct ed_mock_opts *opts;
        int64_t p99_ns;
};

static const char help[] =
        "Usage: eddy mock [options]\n"
        "\n"
        "A test server that delays, limits or fails requests on demand.  It also has an API in\n"
        "OpenAI's format.  Its first line on standard output is: listening on http://HOST:PORT\n"
        "\n"
        "  --listen HOST:PORT   the address, and the port or 0 for a free port (127.0.0.1:0)\n"
        "  --threads N          serve on N threads; 0 means one for each processor (1)\n"
        "  --tls                serve https, with a certificate for localhost, 127.0.0.1 and ::1\n"
        "                       that is made for this run; the second line on standard output\n"
        "                       names its file, which clients need as --cacert\n"
        "  --cert FILE, --key FILE\n"
        "                       serve https with this certificate and its key (PEM)\n"
        "  --http1              do not speak HTTP/2\n"
        "Slow answers:\n"
        "  --latency D          wait D before each answer (none)\n"
        "  --latency-p99 D      wait a random time with the median --latency; one answer in a\n"
        "                       hundred takes longer than D\n"
        "  --latency lognormal:MEDIAN:SIGMA, uniform:MIN:MAX, exp:MEAN or pareto:MIN:ALPHA\n"
        "                       wait a random time with this distribution\n"
        "  --token-latency D    wait D before each event of a stream; D as for --latency (none)\n"
        "Limits:\n"
        "  --rate-limit N/s     answer 429 with Retry-After above N requests per second (N/m: per\n"
        "                       minute)\n"
        "  --rpm N, --tpm N     serve N requests or tokens per minute for each key, with headers\n"
        "                       x-ratelimit-*, and answer 429 rate_limit_exceeded above\n"
        "  --quota N            for each key, answer 429 insufficient_quota after N requests\n"
        "  --wave PERIOD:LENGTH[:RETRY_AFTER]\n"
        "                       every PERIOD, answer 429 to all requests for LENGTH\n"
        "  --refuse N[:D]       refuse the first N requests, and ask them to wait for D (1s)\n"
        "  --capacity N         serve N requests at a time and refuse others at once; 8@0s,2@10s\n"
        "                       is 8 at first, and 2 from 10 seconds after the start\n"
        "  --capacity-status S  the status of these refusals, 429 or 503 (429)\n"
        "  --vendor NAME        report limits and refuse as the API of this vendor does, in its "
        "headers\n"
        "                       and errors; NAME is one that --vendor help lists (OpenAI's form)\n"
        "  --retry-after FORM   the form of the time in refusals: seconds, ms (also\n"
        "                       retry-after-ms), date or none (seconds)\n"
        "Failures (P is a percentage such as 5%, or a fraction such as 0.05):\n"
        "  --errors P, --error-rate P\n"
        "                       answer this fraction of requests with a 500 or 503 (0)\n"
        "  --truncate P         end the body of this fraction of answers early (0)\n"
        "  --stall P[:D]        stop within the body of this fraction of answers for D (10m), and\n"
        "                       then drop the connection (0)\n"
        "  --seed N             repeat the random choices, for requests that arrive in the same\n"
        "                       order\n"
        "API:\n"
        "  --api-key KEY[,rpm=N][,tpm=N][,quota=N]\n"
        "                       answer 401 to requests without KEY in \"Authorization: Bearer\"\n"
        "                       or api-key; may be repeated (every key is accepted); the limits\n"
        "                       are those of this key alone\n"
        "  --token-life D       grant tokens at /oauth/token, and answer 401 to requests without\n"
        "                       a token younger than D\n"
        "  --model NAME         answer 404 for other models; may be repeated (every model exists)\n"
        "  --dimensions N       the length of an embedding (8)\n"
        "  --completion-tokens N\n"
        "                       the number of words in an answer without max_tokens (8 to 40)\n"
        "\n"
        "  -h, --help, --version\n"
        "Write durations as 250ms, 2.5s, 1m.\n"
        "\n";

static const char help_end[] =
        "\n"
        "A request with a body above 16 MiB is answered by 413.\n"
        "\n"
        "Exit: 129, 130 or 143 stopped by SIGHUP, SIGINT or SIGTERM, 1 the server could not listen "
        "or accept\n"
        "connections, 2 the command line is wrong, 4 the first line could not be written.\n";

enum {
        OPT_LISTEN = 256,
        OPT_THREADS,
        OPT_LATENCY,
        OPT_LATENCY_P99,
        OPT_TOKEN_LATENCY,
        OPT_ERROR_RATE,
        OPT_ERRORS,
        OPT_TRUNCATE,
        OPT_STALL,
        OPT_SEED,
        OPT_RATE_LIMIT,
        OPT_RPM,
        OPT_TPM,
        OPT_QUOTA,
        OPT_WAVE,
        OPT_REFUSE,
        OPT_CAPACITY,
        OPT_CAPACITY_STATUS,
        OPT_RETRY_AFTER,
        OPT_VENDOR,
        OPT_API_KEY,
        OPT_TOKEN_LIFE,
        OPT_MODEL,
        OPT_DIMENSIONS,
        OPT_COMPLETION_TOKENS,
        OPT_TLS,
        OPT_CERT,
        OPT_KEY,
        OPT_HTTP1,
        OPT_VERSION
};

static const struct option options[] = {
        { "listen", required_argument, NULL, OPT_LISTEN },
        { "threads", required_argument, NULL, OPT_THREADS },
        { "latency", required_argument, NULL, OPT_LATENCY },
        { "latency-p99", required_argument, NULL, OPT_LATENCY_P99 },
        { "token-latency", required_argument, NULL, OPT_TOKEN_LATENCY },
        { "error-rate", required_argument, NULL, OPT_ERROR_RATE },
        { "errors", required_argument, NULL, OPT_ERRORS },
        { "truncate", required_argument, NULL, OPT_TRUNCATE },
        { "stall", required_argument, NULL, OPT_STALL },
        { "seed", required_argument, NULL, OPT_SEED },
        { "rate-limit", required_argument, NULL, OPT_RATE_LIMIT },
        { "rpm", required_argument, NULL, OPT_RPM },
        { "tpm", required_argument, NULL, OPT_TPM },
        { "quota", required_argument, NULL, OPT_QUOTA },
        { "wave", required_argument, NULL, OPT_WAVE },
        { "refuse", required_argument, NULL, OPT_REFUSE },
        { "capacity", required_argument, NULL, OPT_CAPACITY },
        { "capacity-status", required_argument, NULL, OPT_CAPACITY_STATUS },
        { "retry-after", required_argument, NULL, OPT_RETRY_AFTER },
        { "vendor", required_argument, NULL, OPT_VENDOR },
        { "api-key", required_argument, NULL, OPT_API_KEY },
        { "token-life", required_argument, NULL, OPT_TOKEN_LIFE },
        { "model", required_argument, NULL, OPT_MODEL },
        { "dimensions", required_argument, NULL, OPT_DIMENSIONS },
        { "completion-tokens", required_argument, NULL, OPT_COMPLETION_TOKENS },
        { "tls", no_argument, NULL, OPT_TLS },
        { "cert", required_argument, NULL, OPT_CERT },
        { "key", required_argument, NULL, OPT_KEY },
        { "http1", no_argument, NULL, OPT_HTTP1 },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, OPT_VERSION },
        { NULL, 0, NULL, 0 },
};

static const struct ed_option_hint hints[] = {
        { "port", "--listen" },   { "host", "--listen" },   { "bind", "--listen" },
        { "delay", "--latency" }, { "token", "--api-key" }, { "concurrency", "--capacity" },
        { NULL, NULL },
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

/* Parse a fraction of the requests: 5% or 0.05. */
static int part_set(const char *option, const char *value, double *ret_part)
{
        const char *end = ed_number_read_part(value, ret_part);

        if (end && *end == '\0')
                return 0;
        ed_console_usage("mock", "%s %s: give a number from 0 to 1, or a percentage such as 5%%",
                         option, value);
        return -EINVAL;
}

/* Parse P or P:D. */
static int stall_set(struct ed_mock_opts *opts, const char *value)
{
        const char *why = "is not P% or P%:D, as in 5% or 5%:30s";
        const char *end = ed_number_read_part(value, &opts->stall_rate);

        if (end && *end == ':')
                end = ed_number_read_duration(end + 1, "", &opts->stall_ns, &why);
        if (end && *end == '\0')
                return 0;
        ed_console_usage("mock", "--stall %s %s", value, why);
        return -EINVAL;
}

static int rate_limit_set(struct ed_mock_opts *opts, const char *value)
{
        double count;
        const char *end = ed_number_read(value, &count);
        double seconds = !end ? 0 : strcmp(end, "/s") == 0 ? 1 : strcmp(end, "/m") == 0 ? 60 : 0;

        if (seconds <= 0 || count <= 0) {
                ed_console_usage("mock", "--rate-limit %s: write it as 10/s or 600/m", value);
                return -EINVAL;
        }
        opts->rate = count / seconds;
        return 0;
}

/* Parse N or N:D. */
static int refuse_set(struct ed_mock_opts *opts, const char *value)
{
        const char *why = "is not N or N:D, as in 3 or 3:10s", *end;
        double count;

        opts->refuse_ns = REFUSE_NS;
        end = ed_number_read(value, &count);
        if (end && *end == ':')
                end = ed_number_read_duration(end + 1, "", &opts->refuse_ns, &why);
        if (end && *end == '\0' && count >= 1 && count <= LIMIT_MAX && count == (uint32_t) count) {
                opts->refuse = (uint32_t) count;
                return 0;
        }
        ed_console_usage("mock", "--refuse %s %s", value, why);
        return -EINVAL;
}

static int retry_after_set(struct ed_mock_opts *opts, const char *value)
{
        static const char *const forms[] = {
                [ED_RETRY_AFTER_SECONDS] = "seconds",
                [ED_RETRY_AFTER_MS] = "ms",
                [ED_RETRY_AFTER_DATE] = "date",
                [ED_RETRY_AFTER_NONE] = "none",
        };

        for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
                if (strcmp(value, forms[i]) != 0)
                        continue;
                opts->retry_after = (enum ed_mock_retry_after) i;
                return 0;
        }
        ed_console_usage("mock", "--retry-after %s: write seconds, ms, date or none", value);
        return -EINVAL;
}

/* Choose the dialect of a vendor. */
static int vendor_set(struct ed_mock_opts *opts, const char *value)
{
        struct ed_draft names = { 0 };

        opts->vendor = ed_dialect_find(value);
        if (opts->vendor)
                return 0;
        ed_dialect_names(&names);
        ed_draft_add(&names, "", 1);
        ed_console_usage("mock", "--vendor %s: write %s", value,
                         ed_draft_is_whole(&names) ? names.data : "the name of a vendor");
        ed_draft_fini(&names);
        return -EINVAL;
}

/* Print the names of the vendors. Returns the exit code. */
static int vendors_print(void)
{
        struct ed_draft text = { 0 };
        int exit_code = ED_EXIT_FAILED;

        for (const char *const *vendor = ed_vendors; *vendor; vendor++) {
                ed_draft_add_str(&text, *vendor);
                ed_draft_add_str(&text, "\n");
        }
        ed_draft_add(&text, "", 1);
        if (ed_draft_is_whole(&text))
                exit_code = ed_console_print("mock", text.data);
        ed_draft_fini(&text);
        return exit_code;
}

static int capacity_status_set(struct ed_mock_opts *opts, const char *value)
{
        if (strcmp(value, "429") != 0 && strcmp(value, "503") != 0) {
                ed_console_usage("mock", "--capacity-status %s: write 429 or 503", value);
                return -EINVAL;
        }
        opts->capacity_status = value[0] == '4' ? 429 : 503;
        return 0;
}

/* Add a name to a list. */
static int name_add(const char *option, const char *value, const char **names, uint32_t max,
                    uint32_t *count)
{
        if (*value == '\0') {
                ed_console_usage("mock", "%s: an empty value; give a name", option);
                return -EINVAL;
        }
        if (*count == max) {
                ed_console_usage("mock", "%s %s: there are more than %u", option, value, max);
                return -EINVAL;
        }
        names[(*count)++] = value;
        return 0;
}

/* Returns 'err', after a message if it is negative. */
static int value_check(const char *option, const char *value, int err, const char *why)
{
        if (err < 0)
                ed_console_usage("mock", "%s%s%s %s", option, *value ? " " : ": ",
                                 *value ? value : "an empty value", why);
        return err;
}

/* Read one limit of a key: ",rpm=10". Returns the text after it, or NULL. */
static const char *limit_read(const char *at, struct ed_limits *limits)
{
        const struct {
                const char *name;
                uint32_t *limit;
        } all[] = { { ",rpm=", &limits->rpm },
                    { ",tpm=", &limits->tpm },
                    { ",quota=", &limits->quota } };

        for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
                size_t bytes = strlen(all[i].name);
                const char *end;
                double count;

                if (strncmp(at, all[i].name, bytes) != 0)
                        continue;
                end = ed_number_read(at + bytes, &count);
                if (!end || (*end && *end != ',') || count < 1 || count > LIMIT_MAX ||
                    count != (uint32_t) count)
                        return NULL;
                *all[i].limit = (uint32_t) count;
                return end;
        }
        return NULL;
}

/* Returns where the limits of a key begin, or its end: a key may have commas. */
static const char *limits_find(const char *value)
{
        static const char *const names[] = { ",rpm=", ",tpm=", ",quota=" };
        const char *first = value + strlen(value);

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                const char *found = strstr(value, names[i]);

                if (found && found < first)
                        first = found;
        }
        return first;
}

static int api_key_add(struct ed_mock_opts *opts, const char *value)
{
        const char *texts[ED_MOCK_API_KEYS_MAX], *at = limits_find(value);
        struct ed_mock_api_key *key = &opts->api_keys[opts->api_keys_count];
        int err = name_add("--api-key", at == value ? "" : value, texts, ED_MOCK_API_KEYS_MAX,
                           &opts->api_keys_count);

        if (err < 0)
                return err;
        *key = (struct ed_mock_api_key){ .text = value, .bytes = (size_t) (at - value) };
        while (at && *at)
                at = limit_read(at, &key->limits);
        if (at)
                return 0;
        ed_console_usage("mock", "--api-key: write its limits as KEY,rpm=60,tpm=1000,quota=10");
        return -EINVAL;
}

/* Set an option of the API. */
static int api_option_set(struct ed_mock_opts *opts, int option, const char *value)
{
        switch (option) {
        case OPT_API_KEY:
                return api_key_add(opts, value);
        case OPT_TOKEN_LIFE:
                return ed_option_duration("mock", "--token-life", value, 1, &opts->token_life_ns);
        case OPT_MODEL:
                return name_add("--model", value, opts->models, ED_MOCK_MODELS_MAX,
                                &opts->models_count);
        case OPT_RPM:
                return ed_option_count("mock", "--rpm", value, 1, LIMIT_MAX, &opts->limits.rpm);
        case OPT_TPM:
                return ed_option_count("mock", "--tpm", value, 1, LIMIT_MAX, &opts->limits.tpm);
        case OPT_QUOTA:
                return ed_option_count("mock", "--quota", value, 1, LIMIT_MAX, &opts->limits.quota);
        case OPT_DIMENSIONS:
                return ed_option_count("mock", "--dimensions", value, 1, ED_MODEL_DIMENSIONS_MAX,
                                       &opts->openai.dimensions);
        case OPT_COMPLETION_TOKENS:
                return ed_option_count("mock", "--completion-tokens", value, 1, ED_OPENAI_WORDS_MAX,
                                       &opts->openai.words);
        default:
                return -EINVAL;
        }
}

/* Set an option that delays, limits or fails. */
static int mood_option_set(struct ed_mock_opts *opts, int option, const char *value)
{
        const char *why = "";
        int err;

        switch (option) {
        case OPT_LATENCY:
                err = ed_latency_parse(value, &opts->latency, &why);
                return value_check("--latency", value, err, why);
        case OPT_TOKEN_LATENCY:
                err = ed_latency_parse(value, &opts->token_latency, &why);
                return value_check("--token-latency", value, err, why);
        case OPT_ERROR_RATE:
                return part_set("--error-rate", value, &opts->error_rate);
        case OPT_ERRORS:
                return part_set("--errors", value, &opts->error_rate);
        case OPT_TRUNCATE:
                return part_set("--truncate", value, &opts->truncate_rate);
        case OPT_STALL:
                return stall_set(opts, value);
        case OPT_SEED:
                opts->seeded = true;
                return ed_option_count("mock", "--seed", value, 0, UINT32_MAX, &opts->seed);
        case OPT_RATE_LIMIT:
                return rate_limit_set(opts, value);
        case OPT_WAVE:
                err = ed_wave_parse(value, &opts->wave, &why);
                return value_check("--wave", value, err, why);
        case OPT_REFUSE:
                return refuse_set(opts, value);
        case OPT_CAPACITY:
                err = ed_schedule_parse(value, &opts->capacity, &why);
                return value_check("--capacity", value, err, why);
        case OPT_CAPACITY_STATUS:
                return capacity_status_set(opts, value);
        case OPT_RETRY_AFTER:
                return retry_after_set(opts, value);
        case OPT_VENDOR:
                return vendor_set(opts, value);
        default:
                return api_option_set(opts, option, value);
        }
}

static int option_set(struct mock_line *line, int option, const char *value)
{
        struct ed_mock_opts *opts = line->opts;

        switch (option) {
        case OPT_LISTEN:
                return listen_set(opts, value);
        case OPT_THREADS:
                return ed_option_count("mock", "--threads", value, 0, ED_MOCK_THREADS_MAX,
                                       &opts->threads);
        case OPT_LATENCY_P99:
                return ed_option_duration("mock", "--latency-p99", value, 0, &line->p99_ns);
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
        case OPT_HTTP1:
                opts->server_flags = EDDY_HTTP_SERVER_HTTP1_ONLY;
                return 0;
        default:
                return mood_option_set(opts, option, value);
        }
}

/* Apply --latency-p99. */
static int p99_apply(struct mock_line *line)
{
        struct ed_latency *latency = &line->opts->latency;

        if (line->p99_ns == 0)
                return 0;
        if (latency->kind != ED_LATENCY_CONSTANT)
                return ed_console_usage("mock",
                                        "--latency-p99 needs a --latency that is a duration, the "
                                        "median, not a distribution");
        if (latency->ns == 0)
                return ed_console_usage("mock", "--latency-p99 needs --latency, the median");
        if (line->p99_ns < latency->ns)
                return ed_console_usage("mock",
                                        "--latency-p99 is below --latency, which is the median");
        if (line->p99_ns > ED_LATENCY_MAX_NS)
                return ed_console_usage("mock", "--latency-p99 is at most 1h");
        *latency = ed_latency_of_p99(latency->ns, line->p99_ns);
        return 0;
}

static int line_check(struct mock_line *line, const char *word)
{
        const struct ed_mock_opts *opts = line->opts;

        if (word)
                return ed_console_usage("mock",
                                        "%s: mock has options only; where to listen is given as "
                                        "--listen HOST:PORT",
                                        word);
        if (opts->key_file && !opts->cert_file)
                return ed_console_usage("mock",
                                        "--key needs --cert, the certificate of the key; a key "
                                        "that clients must give is --api-key");
        return p99_apply(line);
}

int ed_mock_opts_parse(struct ed_mock_opts *opts, int argc, char **argv, int *ret_exit)
{
        struct mock_line line = { .opts = opts };
        int option;

        *opts = (struct ed_mock_opts){ .host = "127.0.0.1",
                                       .threads = 1,
                                       .stall_ns = STALL_NS,
                                       .capacity_status = 429,
                                       .openai = { .dimensions = DIMENSIONS } };
        optind = 1;
        while ((option = ed_option_next(&option_set_of_mock, argc, argv)) != -1) {
                if (option == 'h')
                        *ret_exit = help_print();
                else if (option == OPT_VENDOR && strcmp(optarg, "help") == 0)
                        *ret_exit = vendors_print();
                else if (option == OPT_VERSION)
                        *ret_exit = ed_console_print("mock", "eddy " EDDY_VERSION "\n");
                else if (option == 0 || option_set(&line, option, optarg) < 0)
                        *ret_exit = ED_EXIT_USAGE;
                else
                        continue;
                return 1;
        }
        *ret_exit = line_check(&line, argv[optind]);
        return *ret_exit ? 1 : 0;
}
