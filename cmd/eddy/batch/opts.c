/*
 * batch/opts.c - reads and checks the command line of `eddy batch`, before any request is sent.
 */
#include "batch/opts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "batch/answer/errors_name.h"
#include "batch/answer/rule_option.h"
#include "batch/base_url_option.h"
#include "batch/key_option.h"
#include "batch/packed_output.h"
#include "batch/request/accept_option.h"
#include "batch/request/bundle.h"
#include "batch/request/source.h"
#include "batch/request/tokens.h"
#include "batch/shard_option.h"
#include "batch/shard_setup.h"
#include "batch/template_option.h"
#include "batch/url_option.h"
#include "common/console.h"
#include "common/option.h"
#include "eddy/alloc.h"
#include "eddy/http_text.h"
#include "eddy/time.h"
#include "eddy/version.h"

static const char help[] =
        "Usage: eddy batch IN [-o OUT] [--base-url URL] [options]\n"
        "\n"
        "Sends a file of API requests, many at a time, and writes one line of JSON for each\n"
        "answer.  OUT is also the checkpoint: after any stop, the same command sends only the\n"
        "requests that have no answer yet.  eddy check IN examines IN, and sends nothing.\n"
        "\n"
        "  eddy batch requests.jsonl -o answers.jsonl --base-url http://127.0.0.1:8000\n"
        "  eddy batch requests.jsonl -o answers.jsonl --base-url https://api.openai.com \\\n"
        "          --api-key-env OPENAI_API_KEY --rpm 5000 --tpm 2M -c 256\n"
        "  eddy batch texts.csv -o out.jsonl --url http://127.0.0.1:8000/v1/embeddings \\\n"
        "          --body '{\"model\":\"m\",\"input\":\"{{text}}\"}'\n"
        "  eddy batch items.csv -o out.jsonl --url "
        "'http://127.0.0.1:8000/items/{{id}}?q={{term}}'\n"
        "\n"
        "Input\n"
        "  IN                       a file, or - for standard input; gzip and zstd are accepted\n"
        "  Each line has one of these forms:\n"
        "    {\"custom_id\":\"a\",\"method\":\"POST\",\"url\":\"/v1/embeddings\",\"body\":{...}}\n"
        "                           as in OpenAI's batch files; also \"headers\", \"metadata\",\n"
        "                           \"timeout\" (seconds), any method, and absolute URLs\n"
        "    {\"url\":\"/v1/audio/transcriptions\",\"form\":{...},\"files\":{\"file\":\"a.mp3\"}}\n"
        "                           a form with files (multipart/form-data), which are read when\n"
        "                           they are sent\n"
        "    {...}                  a bare body, with --url; with {{name}} there or in --body, an\n"
        "                           object of fields\n"
        "    {\"method\":\"GET\",\"url\":...,\"header\":{\"A\":[\"b\"]},\"body\":\"base64\"}   "
        "vegeta\n"
        "    {\"custom_id\":\"a\",\"params\":{...}}, {\"key\":\"a\",\"request\":{...}}\n"
        "                           batch files of Anthropic, and of Gemini with --url\n"
        "    https://host/path      a URL\n"
        "    a,b,c                  CSV, with --url and a column as {{name}} in --url, --body or\n"
        "                           -H; the first row names the columns\n"
        "  Lines without custom_id get the id line-N.\n"
        "  --format auto|json|csv   auto: csv if IN ends in .csv, .csv.gz or .csv.zst (auto)\n"
        "  --id-column NAME         the column of CSV that is the id (custom_id)\n"
        "  --skip-empty             leave out a line if all its fields that {{name}} refers to "
        "are\n"
        "                           empty, null or blank\n"
        "  --shard i/n|auto|auto/n  send only the lines of shard i, from 0, of n shards of IN; "
        "auto:\n"
        "                           that of the Slurm or Kubernetes task; %i in a file name "
        "becomes\n"
        "                           i; --rpm, --tpm and --max-cost apply to all shards together\n"
        "  --base-url URL|@FILE     prepend URL to each \"url\" that begins with /; if it is\n"
        "                           repeated, the one with the fewest requests in flight is used;\n"
        "                           FILE has one per line, and is read again when it changes\n"
        "  --url URL                the URL of lines that are bare bodies, or rows of CSV; "
        "{{name}}\n"
        "                           in its path or query is replaced by that field, encoded\n"
        "  --body JSON|@FILE        the body; {{name}} in a string is replaced by that field\n"
        "  --rows-per-request N     send up to N lines that differ only in the text \"input\" of "
        "their\n"
        "                           bodies as one request, for embeddings; each gets its own line\n"
        "  -X, --method M           for lines without a method (POST with a body, else GET)\n"
        "  -H, --header 'NAME: VALUE'|@FILE\n"
        "                           send this header, or those in FILE; may be repeated; {{name}}\n"
        "                           in VALUE is replaced by that field\n"
        "  --api-key-env NAME, --api-key-file FILE\n"
        "                           send \"Authorization: Bearer KEY\", only to the hosts of\n"
        "                           --base-url and --url; FILE is read again when it changes, and\n"
        "                           may have several keys, one per line, each with its own limits\n"
        "  --api-key-command CMD    send the key that this shell command prints; it is run again\n"
        "                           before the key expires; line 2 may be its lifetime in seconds\n"
        "  --api-key-header NAME    send the key in this header instead (Azure: api-key,\n"
        "                           Anthropic: x-api-key, Gemini: x-goog-api-key)\n"
        "  --idempotency-header NAME\n"
        "                           send this header, with a value that depends only on custom_id\n"
        "                           and the request, so that servers recognise repetitions\n"
        "\n"
        "Output\n"
        "  -o, --output FILE        write successful answers to FILE; it may exist\n"
        "  --errors FILE            write all other results to FILE (the output's name with\n"
        "                           .errors.jsonl; without -o, the output)\n"
        "  --ok EXPR                an answer is successful if EXPR holds (a status of 200 to "
        "299;\n"
        "                           for chat, embeddings and other such APIs also JSON without an\n"
        "                           error), such as 'status in (200, 404)' or\n"
        "                           'status == 200 and json(\"/error\") == null'\n"
        "  --schema FILE            an answer is successful only if this JSON Schema accepts it: "
        "the\n"
        "                           JSON in the content of a chat answer, or else the "
        "body\n" ED_ACCEPT_HELP
        "  --ordered                write answers in the order of the input\n"
        "  --save DIR               save answers that are not JSON, such as audio and images, as\n"
        "                           files in DIR, named after the ids; the lines name the files\n"
        "  --no-meta                leave out \"x_meta\", for strict readers of OpenAI's format\n"
        "  --on-changed stop|send   if a request has changed since it was answered, stop before\n"
        "                           sending anything, or send it again (stop)\n"
        "  --log FILE               append one line of JSON for each attempt\n"
        "  --metrics HOST:PORT      serve a page for Prometheus during the run\n"
        "  --progress auto|bar|plain|json|off\n"
        "                           show progress on stderr (auto); SIGUSR1 prints it at any time\n"
        "  --summary text|json      the summary on stderr; json is an OpenAI Batch object (text)\n"
        "  --summary-file FILE      write that object to FILE when the run ends; until then its\n"
        "                           status is in_progress\n"
        "\n"
        "Pace\n"
        "  -c, --concurrency N|auto\n"
        "                           requests at a time, 1 to 65536; auto adapts to what the\n"
        "                           servers accept (50)\n"
        "  --ramp D                 increase the number of requests to -c over this time (1s)\n"
        "  --rpm N, --tpm N         requests or tokens per minute, for each base URL or host; 2M\n"
        "                           is two million; limits in the headers of answers also apply\n"
        "  --burst D                send at once what --rpm and --tpm allow in this time (1s)\n"
        "  --timeout D              limit for one attempt, from the start of its connect (600s)\n"
        "  --connect-timeout D      limit for name lookup, connect, proxy, TLS handshake (5s)\n"
        "  --idle-timeout D         limit for a time in which no byte is sent or received (600s)\n"
        "  -L, --location           follow up to 10 redirects of a request that keep its method "
        "and\n"
        "                           body: 307 and 308, and for GET 301, 302 and 303 too; keys "
        "stay\n"
        "                           with their scheme, host and port; each counts for --rpm\n"
        "  --max-attempts N         attempts for each request, including the first (6)\n"
        "  --retry-if EXPR          attempt again also if EXPR holds, written as for --ok\n"
        "  --retry-base D, --retry-max D\n"
        "                           longest random wait before the second attempt, and before\n"
        "                           any attempt (500ms, 60s)\n"
        "  --max-throttle-wait D    stop using a server that refuses requests for longer (1h)\n"
        "  A refusal, such as 429, or 402, 403, 420 or 503 with Retry-After, pauses the base URL\n"
        "  or host; it does not count as an attempt.  Another 402, and other answers to a key\n"
        "  without credit, end the use of the server.\n"
        "\n"
        "Ending the run\n"
        "  --limit N                send at most N requests\n"
        "  --max-errors N           end after more than N failed requests; without it, the run\n"
        "                           ends if the first 20 requests judged all get the same 4xx,\n"
        "                           or an answer that --ok or --schema does not accept\n"
        "  --price IN/OUT           prices of a million tokens, such as 0.15/0.60\n"
        "  --max-cost AMOUNT        end when the answers have cost this much; requires --price\n"
        "  --deadline D             end after this time\n"
        "\n"
        "Connections\n" ED_CONNECT_HELP "  -h, --help, --version\n"
        "\n"
        "Write durations as 250ms, 2.5s, 1m, 2h.  After Ctrl-C no request is started, and the\n"
        "run waits up to 30 s for answers; a second Ctrl-C drops the requests in flight; a third\n"
        "ends the program at once.  On resuming, requests whose answers were not written are sent\n"
        "again: a server may receive a request twice.\n"
        "\n"
        "Exit: 0 all succeeded, 1 some failed, 2 the command line is wrong, 3 the input cannot be\n"
        "used, 4 the output could not be written, 5 stopped by a limit (quota, --max-errors,\n"
        "--max-cost), because a server refuses the API key (401), because --api-key-command\n"
        "fails, or because the first 20 requests failed alike, 6 another run writes to the\n"
        "output, 75 stopped but resumable (--deadline, --max-throttle-wait, no server can be\n"
        "reached), 129, 130 or 143 stopped by a signal.\n";

static const char retry_help[] =
        "Usage: eddy retry IN -o OUT [options of eddy batch]\n"
        "\n"
        "Sends only the failed requests of IN again: those whose ids are in the errors file.\n"
        "Answers are added to OUT, and the old errors are removed.\n"
        "\n"
        "  eddy retry requests.jsonl -o answers.jsonl --base-url http://127.0.0.1:8000\n"
        "\n"
        "  IN                       the file of requests, as for eddy batch\n"
        "  -o, --output OUT         the file of answers\n"
        "  --errors FILE            the errors file (OUT's name with .errors.jsonl)\n"
        "  -h, --help, --version\n"
        "\n"
        "All other options, and the exit status, are those of eddy batch, which also sends\n"
        "requests that have neither an answer nor an error.\n";

enum { REDIRECTS_MAX = 10 };

enum {
        OPT_ERRORS = 256,
        OPT_FORMAT,
        OPT_ID_COLUMN,
        OPT_SKIP_EMPTY,
        OPT_SHARD,
        OPT_BASE_URL,
        OPT_URL,
        OPT_BODY,
        OPT_KEY_ENV,
        OPT_KEY_FILE,
        OPT_KEY_COMMAND,
        OPT_KEY_HEADER,
        OPT_IDEMPOTENCY,
        OPT_ROWS,
        OPT_ORDERED,
        OPT_NO_META,
        OPT_SAVE,
        OPT_OK,
        OPT_RETRY_IF,
        OPT_SCHEMA,
        OPT_ACCEPT,
        OPT_ACCEPT_IDS,
        OPT_CHANGED,
        OPT_LOG,
        OPT_METRICS,
        OPT_PROGRESS,
        OPT_SUMMARY,
        OPT_SUMMARY_FILE,
        OPT_RAMP,
        OPT_RPM,
        OPT_TPM,
        OPT_BURST,
        OPT_TIMEOUT,
        OPT_CONNECT_TIMEOUT,
        OPT_IDLE_TIMEOUT,
        OPT_ATTEMPTS,
        OPT_RETRY_BASE,
        OPT_RETRY_MAX,
        OPT_THROTTLE,
        OPT_LIMIT,
        OPT_MAX_ERRORS,
        OPT_PRICE,
        OPT_MAX_COST,
        OPT_DEADLINE,
        OPT_VERSION,
};

const struct option ed_opts_longs[] = {
        { "output", required_argument, NULL, 'o' },
        { "errors", required_argument, NULL, OPT_ERRORS },
        { "format", required_argument, NULL, OPT_FORMAT },
        { "id-column", required_argument, NULL, OPT_ID_COLUMN },
        { "skip-empty", no_argument, NULL, OPT_SKIP_EMPTY },
        { "shard", required_argument, NULL, OPT_SHARD },
        { "base-url", required_argument, NULL, OPT_BASE_URL },
        { "url", required_argument, NULL, OPT_URL },
        { "body", required_argument, NULL, OPT_BODY },
        { "method", required_argument, NULL, 'X' },
        { "location", no_argument, NULL, 'L' },
        { "header", required_argument, NULL, 'H' },
        { "api-key-env", required_argument, NULL, OPT_KEY_ENV },
        { "api-key-file", required_argument, NULL, OPT_KEY_FILE },
        { "api-key-command", required_argument, NULL, OPT_KEY_COMMAND },
        { "api-key-header", required_argument, NULL, OPT_KEY_HEADER },
        { "idempotency-header", required_argument, NULL, OPT_IDEMPOTENCY },
        { "rows-per-request", required_argument, NULL, OPT_ROWS },
        { "ordered", no_argument, NULL, OPT_ORDERED },
        { "save", required_argument, NULL, OPT_SAVE },
        { "no-meta", no_argument, NULL, OPT_NO_META },
        { "ok", required_argument, NULL, OPT_OK },
        { "retry-if", required_argument, NULL, OPT_RETRY_IF },
        { "schema", required_argument, NULL, OPT_SCHEMA },
        { "accept-failed", no_argument, NULL, OPT_ACCEPT },
        { "accept-failed-ids", required_argument, NULL, OPT_ACCEPT_IDS },
        { "on-changed", required_argument, NULL, OPT_CHANGED },
        { "log", required_argument, NULL, OPT_LOG },
        { "metrics", required_argument, NULL, OPT_METRICS },
        { "progress", required_argument, NULL, OPT_PROGRESS },
        { "summary", required_argument, NULL, OPT_SUMMARY },
        { "summary-file", required_argument, NULL, OPT_SUMMARY_FILE },
        { "concurrency", required_argument, NULL, 'c' },
        { "ramp", required_argument, NULL, OPT_RAMP },
        { "rpm", required_argument, NULL, OPT_RPM },
        { "tpm", required_argument, NULL, OPT_TPM },
        { "burst", required_argument, NULL, OPT_BURST },
        { "timeout", required_argument, NULL, OPT_TIMEOUT },
        { "connect-timeout", required_argument, NULL, OPT_CONNECT_TIMEOUT },
        { "idle-timeout", required_argument, NULL, OPT_IDLE_TIMEOUT },
        { "max-attempts", required_argument, NULL, OPT_ATTEMPTS },
        { "retry-base", required_argument, NULL, OPT_RETRY_BASE },
        { "retry-max", required_argument, NULL, OPT_RETRY_MAX },
        { "max-throttle-wait", required_argument, NULL, OPT_THROTTLE },
        { "limit", required_argument, NULL, OPT_LIMIT },
        { "max-errors", required_argument, NULL, OPT_MAX_ERRORS },
        { "price", required_argument, NULL, OPT_PRICE },
        { "max-cost", required_argument, NULL, OPT_MAX_COST },
        { "deadline", required_argument, NULL, OPT_DEADLINE },
        ED_CONNECT_LONGS,
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, OPT_VERSION },
        { NULL, 0, NULL, 0 },
};

static const struct ed_option_hint hints[] = {
        { "input", "IN, without an option" },
        { "id", "--id-column" },
        { "id-field", "--id-column" },
        { "parallel", "-c" },
        { "jobs", "-c" },
        { "workers", "-c" },
        { "endpoint", "--base-url" },
        { "host", "--base-url" },
        { "model", "\"model\" in the bodies" },
        { "max-tokens", "\"max_tokens\" in the bodies" },
        { "max-retries", "--max-attempts" },
        { "batch-size", "--rows-per-request" },
        { "rows", "--rows-per-request" },
        { "request", "--method" },
        { "data", "--body" },
        { "max-time", "--timeout" },
        { "read-timeout", "--idle-timeout" },
        { "attempts", "--max-attempts" },
        { "retry", "--max-attempts" },
        { "ignore-errors", "--accept-failed" },
        { "success", "--ok" },
        { "success-if", "--ok" },
        { "accept", "--ok" },
        { "retry-on", "--retry-if" },
        { "retries", "--max-attempts" },
        { "backoff", "--retry-base" },
        { "rate", "--rpm" },
        { "rps", "--rpm (60 times as much)" },
        { "api-key-cmd", "--api-key-command" },
        { "token-command", "--api-key-command" },
        { "api-key", "--api-key-env or --api-key-file, which keep the key out of `ps`" },
        { "resume", "nothing: the same command resumes" },
        { NULL, NULL },
};

static const struct ed_option_set option_set_of_batch = { "batch", ED_OPTS_SHORTS, ed_opts_longs,
                                                          hints };

static int duration_set(const char *option, const char *value, int64_t min_ns, int64_t *ret_ns,
                        const char **ret_text)
{
        if (ret_text)
                *ret_text = value;
        return ed_option_duration("batch", option, value, min_ns, ret_ns);
}

static int body_set(struct ed_batch_opts *opts, const char *text)
{
        eddy_free(opts->settings.body);
        opts->settings.body = NULL;
        return ed_template_body_read("batch", text, &opts->settings.body,
                                     &opts->settings.body_bytes);
}

static int header_name_set(const char *option, const char *value, const char **ret_name)
{
        if (!eddy_http_is_token(value, strlen(value))) {
                ed_console_usage("batch", "%s %s: not a header's name", option, value);
                return -EINVAL;
        }
        return ed_option_once("batch", option, value, ret_name);
}

static int concurrency_set(struct ed_batch_opts *opts, const char *value)
{
        opts->settings.concurrency_auto = strcmp(value, "auto") == 0;
        if (opts->settings.concurrency_auto)
                return 0;
        if (!*value || value[strspn(value, "0123456789")]) {
                ed_console_usage("batch", "-c %s: give a number from 1 to %d, or auto", value,
                                 (int) ED_BATCH_CONCURRENCY_MAX);
                return -EINVAL;
        }
        return ed_option_count("batch", "-c", value, 1, ED_BATCH_CONCURRENCY_MAX,
                               &opts->settings.concurrency);
}

static int word_set(const char *option, const char *value, const char *const *words, int n,
                    const char *shown, int *ret_number)
{
        int number = ed_option_word("batch", option, value, words, n, shown);

        if (number < 0)
                return number;
        *ret_number = number;
        return 0;
}

static int summary_file_set(struct ed_batch_opts *opts, const char *value)
{
        if (strcmp(value, "-") != 0)
                return ed_option_file("batch", "--summary-file", value, &opts->summary_file);
        ed_console_usage("batch",
                         "--summary-file -: name a file; --summary json writes the same summary to "
                         "standard error");
        return -EINVAL;
}

/* Set an option that names a file, a folder or an address. */
static int place_set(struct ed_batch_opts *opts, int option, const char *value)
{
        switch (option) {
        case OPT_ERRORS:
                return ed_option_file("batch", "--errors", value, &opts->paths.errors);
        case 'L':
                opts->settings.redirects_max = REDIRECTS_MAX;
                return 0;
        case OPT_SAVE:
                return ed_option_once("batch", "--save", value, &opts->paths.save);
        case OPT_LOG:
                return ed_option_file("batch", "--log", value, &opts->log);
        case OPT_METRICS:
                return ed_option_once("batch", "--metrics", value, &opts->metrics);
        default:
                return ed_connect_set(&opts->connect, "batch", option, value);
        }
}

/* Set an option for requests or results. */
static int content_set(struct ed_batch_opts *opts, int option, const char *value)
{
        static const char *const changed[] = { "stop", "send" };
        static const char *const progress[] = { "auto", "bar", "plain", "json", "off" };
        static const char *const summary[] = { "text", "json" };
        static const char *const formats[] = { "auto", "json", "csv" };
        int number = 0, err;

        switch (option) {
        case OPT_FORMAT:
                opts->settings.format = value;
                return word_set("--format", value, formats, 3, "auto, json, csv", &number);
        case OPT_SHARD:
                err = ed_option_once("batch", "--shard", value, &opts->shard_text);
                return err < 0 ? err : ed_shard_option_read("batch", value, &opts->settings.shard);
        case OPT_ID_COLUMN:
                return ed_option_once("batch", "--id-column", value, &opts->settings.id_column);
        case OPT_OK:
                return ed_rule_set_ok(&opts->settings.rule, "batch", value);
        case OPT_RETRY_IF:
                return ed_rule_set_retry_if(&opts->settings.rule, "batch", value);
        case OPT_SCHEMA:
                return ed_rule_set_schema(&opts->settings.rule, "batch", value);
        case OPT_ACCEPT:
                return ed_accept_all_finals(&opts->accept);
        case OPT_ACCEPT_IDS:
                return ed_accept_read_ids(&opts->accept, "batch", value);
        case OPT_CHANGED:
                err = word_set("--on-changed", value, changed, 2, "stop, send", &number);
                opts->settings.changed_ok = number == 1;
                return err;
        case OPT_PROGRESS:
                err = word_set("--progress", value, progress, 5, "auto, bar, plain, json, off",
                               &number);
                opts->progress = (enum ed_show_mode) number;
                return err;
        case OPT_SUMMARY:
                err = word_set("--summary", value, summary, 2, "text, json", &number);
                opts->summary_json = number == 1;
                return err;
        case OPT_BASE_URL:
                return ed_base_url_option_add(&opts->settings.bases, "batch", value);
        case OPT_URL:
                return ed_option_once("batch", "--url", value, &opts->settings.url);
        case OPT_BODY:
                return body_set(opts, value);
        case 'X':
                opts->settings.method = value;
                return ed_headers_check_method("batch", value);
        case 'H':
                return ed_headers_add(&opts->settings.headers, "batch", value);
        case OPT_KEY_ENV:
                return ed_key_option_env(&opts->keys, value);
        case OPT_KEY_FILE:
                return ed_key_option_file(&opts->keys, value);
        case OPT_KEY_COMMAND:
                return ed_key_option_command(&opts->keys, value);
        case OPT_KEY_HEADER:
                return header_name_set("--api-key-header", value, &opts->settings.api_key_header);
        case OPT_IDEMPOTENCY:
                return header_name_set("--idempotency-header", value,
                                       &opts->settings.idempotency_header);
        case OPT_ROWS:
                return ed_option_count("batch", "--rows-per-request", value, 1, ED_BUNDLE_ROWS_MAX,
                                       &opts->settings.rows);
        default:
                return place_set(opts, option, value);
        }
}

static int price_set(struct ed_batch_opts *opts, const char *value)
{
        const char *why;

        if (ed_price_parse(value, &opts->settings.price, &why) == 0)
                return 0;
        ed_console_usage("batch",
                         "--price %s %s: write it as IN/OUT, the cost of a million tokens, such as "
                         "0.15/0.60",
                         value, why);
        return -EINVAL;
}

static int cost_set(struct ed_batch_opts *opts, const char *value)
{
        if (ed_price_amount_parse(value, &opts->settings.max_cost) == 0 &&
            opts->settings.max_cost > 0)
                return 0;
        ed_console_usage("batch", "--max-cost %s: give an amount above 0, such as 2.50", value);
        return -EINVAL;
}

/* Set an option for the pace, or a flag. */
static int option_set(struct ed_batch_opts *opts, int option, const char *value)
{
        switch (option) {
        case 'o':
                return ed_option_file("batch", "-o", value, &opts->paths.output);
        case 'c':
                return concurrency_set(opts, value);
        case OPT_SUMMARY_FILE:
                return summary_file_set(opts, value);
        case OPT_ORDERED:
                opts->settings.ordered = true;
                return 0;
        case OPT_SKIP_EMPTY:
                opts->settings.skip_empty = true;
                return 0;
        case OPT_NO_META:
                opts->settings.meta = false;
                return 0;
        case OPT_RAMP:
                return duration_set("--ramp", value, 0, &opts->settings.ramp_ns, NULL);
        case OPT_RPM:
                return ed_option_amount("batch", "--rpm", value, &opts->settings.rpm);
        case OPT_TPM:
                return ed_option_amount("batch", "--tpm", value, &opts->settings.tpm);
        case OPT_BURST:
                return duration_set("--burst", value, 1, &opts->settings.burst_ns, NULL);
        case OPT_TIMEOUT:
                return duration_set("--timeout", value, 1, &opts->settings.timeout_ns,
                                    &opts->settings.timeout_text);
        case OPT_CONNECT_TIMEOUT:
                return duration_set("--connect-timeout", value, 1,
                                    &opts->settings.connect_timeout_ns,
                                    &opts->settings.connect_timeout_text);
        case OPT_IDLE_TIMEOUT:
                return duration_set("--idle-timeout", value, 1, &opts->settings.idle_timeout_ns,
                                    &opts->settings.idle_timeout_text);
        case OPT_ATTEMPTS:
                return ed_option_count("batch", "--max-attempts", value, 1, ED_BATCH_ATTEMPTS_MAX,
                                       &opts->settings.attempts);
        case OPT_RETRY_BASE:
                return duration_set("--retry-base", value, 0, &opts->settings.retry_base_ns, NULL);
        case OPT_RETRY_MAX:
                return duration_set("--retry-max", value, 1, &opts->settings.retry_max_ns, NULL);
        case OPT_THROTTLE:
                return duration_set("--max-throttle-wait", value, 1,
                                    &opts->settings.throttle_wait_max_ns, NULL);
        case OPT_LIMIT:
                opts->limit_text = value;
                return ed_option_amount("batch", "--limit", value, &opts->settings.limit);
        case OPT_MAX_ERRORS:
                return ed_option_count("batch", "--max-errors", value, 0, UINT32_MAX - 1,
                                       &opts->settings.max_errors);
        case OPT_PRICE:
                return price_set(opts, value);
        case OPT_MAX_COST:
                return cost_set(opts, value);
        case OPT_DEADLINE:
                return duration_set("--deadline", value, 1, &opts->deadline_ns,
                                    &opts->deadline_text);
        default:
                return content_set(opts, option, value);
        }
}

int ed_opts_errors_name(const char *command, const char *output, char room[ED_BATCH_PATH_BYTES])
{
        if (!ed_errors_name(output, room, ED_BATCH_PATH_BYTES))
                return ed_console_usage(command, "-o: the path is longer than %d bytes",
                                        ED_BATCH_PATH_BYTES - 16);
        return 0;
}

static int errors_name(struct ed_batch_opts *opts)
{
        opts->paths.errors = opts->errors_room;
        return ed_opts_errors_name("batch", opts->paths.output, opts->errors_room);
}

/* Check --base-url and --url. */
static int urls_check(struct ed_batch_opts *opts)
{
        struct ed_bases *bases = &opts->settings.bases;
        int exit_code =
                ed_base_url_option_check(bases, "batch", opts->paths.input, opts->keys.count);

        if (exit_code || !opts->settings.url)
                return exit_code;
        return ed_url_option_check("batch", opts->settings.url, ed_bases_count(bases) > 0);
}

/* Check combinations of options. */
static int opts_check(struct ed_batch_opts *opts)
{
        bool csv = strcmp(opts->settings.format, "csv") == 0;
        int err = urls_check(opts);

        if (strcmp(opts->settings.format, "auto") == 0)
                csv = ed_source_is_csv(opts->paths.input);
        opts->settings.format = csv ? "csv" : "json";
        if (err == 0)
                err = ed_shard_setup(opts, csv);
        if (err)
                return err;
        if (csv && !ed_template_options_suit_csv(opts->settings.url, opts->settings.body,
                                                 &opts->settings.headers))
                return ed_console_usage("batch", ED_TEMPLATE_OPTIONS_CSV_FAULT);
        if (opts->settings.id_column && !csv)
                return ed_console_usage("batch", ED_SOURCE_ID_COLUMN_FAULT);
        if (opts->settings.body && !opts->settings.url)
                return ed_console_usage("batch", "--body needs --url, to which it is sent");
        if (opts->settings.max_cost && opts->settings.price.input == 0 &&
            opts->settings.price.output == 0)
                return ed_console_usage("batch", "--max-cost needs --price IN/OUT");
        if (opts->settings.api_key_header && opts->keys.kind == ED_API_KEY_NONE)
                return ed_console_usage("batch", "--api-key-header needs --api-key-env, "
                                                 "--api-key-file or --api-key-command");
        if (opts->settings.redirects_max && opts->settings.api_key_header &&
            !eddy_http_header_is_secret(opts->settings.api_key_header))
                return ed_console_usage(
                        "batch",
                        "-L may send the key of --api-key-header %s to other hosts, "
                        "because the name does not end with key or token: leave "
                        "out -L",
                        opts->settings.api_key_header);
        if (opts->keys.kind != ED_API_KEY_NONE && ed_bases_count(&opts->settings.bases) == 0 &&
            !opts->settings.url)
                return ed_console_usage("batch", "an API key is sent to the hosts of --base-url "
                                                 "and --url only; give one of them");
        if (opts->paths.output && strcmp(opts->paths.output, "-") == 0)
                opts->paths.output = NULL;
        if (opts->settings.only_failed && !opts->paths.output)
                return ed_console_usage("retry", "-o OUT is missing: its errors file names the "
                                                 "requests that are sent");
        if (opts->paths.errors && !opts->paths.output)
                return ed_console_usage("batch", "--errors needs -o");
        if (opts->paths.save && (!*opts->paths.save || strcmp(opts->paths.save, "-") == 0))
                return ed_console_usage("batch", "--save %s: name a folder", opts->paths.save);
        if (opts->paths.save && !opts->paths.output)
                return ed_console_usage("batch", "--save needs -o: its lines name the files");
        if (opts->accept.found && !opts->paths.output)
                return ed_console_usage("batch",
                                        "--accept-failed needs -o: its errors file has the "
                                        "failures that are accepted");
        if (opts->accept.finals && !opts->settings.meta)
                return ed_console_usage("batch", "--accept-failed needs \"final\" of x_meta, which "
                                                 "--no-meta leaves out: give only one of them");
        if (opts->paths.errors && strcmp(opts->paths.errors, opts->paths.output) == 0)
                return ed_console_usage("batch",
                                        "--errors %s: this is the output; name another "
                                        "file",
                                        opts->paths.errors);
        if (opts->paths.output && !opts->paths.errors)
                err = errors_name(opts);
        if (err == 0 && opts->paths.output)
                err = ed_packed_output_check("batch", opts->paths.output);
        return err ? err : ed_connect_check(&opts->connect, "batch");
}

static int arguments_take(struct ed_batch_opts *opts, int argc, char **argv)
{
        const char *command = opts->settings.only_failed ? "retry" : "batch";

        if (optind == argc)
                return ed_console_usage(command,
                                        "name the file of requests, or - for standard "
                                        "input: eddy %s IN -o OUT",
                                        command);
        if (optind + 1 < argc)
                return ed_console_usage(command, "%s: there is one input, %s; did you mean -o %s?",
                                        argv[optind + 1], argv[optind], argv[optind + 1]);
        opts->paths.input = argv[optind];
        return opts_check(opts);
}

int ed_batch_opts_parse(struct ed_batch_opts *opts, int argc, char **argv, int *ret_exit)
{
        int option, err;

        *opts = (struct ed_batch_opts){ 0 };
        opts->settings = (struct ed_batch_settings){
                .format = "auto",
                .concurrency = 50,
                .ramp_ns = EDDY_SEC(1),
                .max_errors = UINT32_MAX,
                .timeout_ns = EDDY_SEC(600),
                .connect_timeout_ns = EDDY_SEC(5),
                .idle_timeout_ns = EDDY_SEC(600),
                .timeout_text = "600s",
                .connect_timeout_text = "5s",
                .idle_timeout_text = "600s",
                .attempts = 6,
                .retry_base_ns = EDDY_MS(500),
                .retry_max_ns = EDDY_SEC(60),
                .throttle_wait_max_ns = EDDY_MIN(60),
                .meta = true,
                .only_failed = strcmp(argv[0], "retry") == 0,
        };
        if (opts->settings.only_failed)
                ed_console_sign("retry");
        ed_connect_init(&opts->connect);
        optind = 1;
        while ((option = ed_option_next(&option_set_of_batch, argc, argv)) != -1) {
                if (option == 'h' || option == OPT_VERSION) {
                        const char *text = opts->settings.only_failed ? retry_help : help;

                        *ret_exit = ed_console_print(
                                "batch", option == 'h' ? text : "eddy " EDDY_VERSION "\n");
                        return 1;
                }
                err = option == 0 ? -EINVAL : option_set(opts, option, optarg);
                if (option == 'H')
                        ed_headers_overwrite(optarg);
                if (err < 0) {
                        *ret_exit = ED_EXIT_USAGE;
                        if (err == -ENOMEM) {
                                ed_console_say("batch", "out of memory");
                                *ret_exit = ED_EXIT_FAILED;
                        }
                        return 1;
                }
        }
        *ret_exit = arguments_take(opts, argc, argv);
        return *ret_exit ? 1 : 0;
}

void ed_batch_opts_fini(struct ed_batch_opts *opts)
{
        ed_headers_fini(&opts->settings.headers);
        ed_bases_fini(&opts->settings.bases);
        ed_shard_names_fini(&opts->names);
        ed_rule_fini(&opts->settings.rule);
        ed_accept_fini(&opts->accept);
        eddy_free(opts->settings.body);
        opts->settings.body = NULL;
        ed_api_keys_fini(&opts->keys);
}
