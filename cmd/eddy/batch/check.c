/*
 * batch/check.c - reads a file of requests, and reports what is wrong with it and what it amounts
 * to. The report is the result, on standard output.
 */
#include "batch/check.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "batch/answer/answer_line.h"
#include "batch/answer/answers_file.h"
#include "batch/answer/rule_option.h"
#include "batch/answer/shard_mark.h"
#include "batch/base_url_option.h"
#include "batch/empty_fields.h"
#include "batch/files_check.h"
#include "batch/first_request.h"
#include "batch/opts.h"
#include "batch/packed_output.h"
#include "batch/request/accept_option.h"
#include "batch/request/api_path.h"
#include "batch/request/bundle.h"
#include "batch/request/ids.h"
#include "batch/request/line_id.h"
#include "batch/request/shard_range.h"
#include "batch/request/source.h"
#include "batch/request/tokens.h"
#include "batch/shard_names.h"
#include "batch/shard_option.h"
#include "batch/shard_setup.h"
#include "batch/tally.h"
#include "batch/template_option.h"
#include "batch/url_option.h"
#include "common/console.h"
#include "common/draft.h"
#include "common/duration.h"
#include "common/headers.h"
#include "common/option.h"
#include "common/reading_show.h"
#include "eddy/alloc.h"
#include "eddy/error.h"

enum { FAULTS_LISTED = 20, KINDS_LISTED = 20, CHANGED_NAMED = 3 };

static const char help[] =
        "Usage: eddy check IN [-o OUT] [options]\n"
        "\n"
        "Reads a file of requests for eddy batch without sending anything.  Reports lines that\n"
        "are not requests and ids that occur twice, the number, sizes, tokens, cost and time of\n"
        "the requests, and the first one as it would be sent.\n"
        "\n"
        "  eddy check requests.jsonl -o answers.jsonl --rpm 5000 --tpm 2M --price 0.15/0.60\n"
        "\n"
        "  IN                       a file, or - for standard input; gzip and zstd are accepted\n"
        "  -o, --output OUT         the file of answers, which need not exist and is not changed:\n"
        "                           requests with an answer in OUT are not counted\n"
        "  --errors FILE            the errors file of eddy batch, whose answers that are\n"
        "                           successful count too (OUT's name with .errors.jsonl)\n"
        "\n"
        "Lines (as for eddy batch)\n"
        "  --format auto|json|csv   auto: csv if IN ends in .csv, .csv.gz or .csv.zst (auto)\n"
        "  --id-column NAME         the column of CSV that is the id (custom_id)\n"
        "  --skip-empty             leave out a line if all its fields that {{name}} refers to "
        "are\n"
        "                           empty, null or blank\n"
        "  --shard i/n|auto|auto/n  only the lines of this shard, with its part of --rpm and "
        "--tpm\n"
        "  --url URL                the URL of lines that are bare bodies, or rows of CSV; "
        "{{name}}\n"
        "                           in its path or query is replaced by that field, encoded\n"
        "  --body JSON|@FILE        the body; {{name}} in a string is replaced by that field\n"
        "  --rows-per-request N     also count the requests of up to N lines each\n"
        "  -H, --header 'NAME: VALUE'|@FILE\n"
        "                           as for eddy batch; needed only if VALUE has {{name}}\n"
        "  -X, --method M           for lines without a method (POST with a body, else GET)\n"
        "  --ok EXPR, --schema FILE\n"
        "                           answers in OUT that do not meet them count as failures\n"
        "  --accept-failed, --accept-failed-ids FILE\n"
        "                           as for eddy batch; accepted failures are counted separately\n"
        "\n"
        "Estimates\n"
        "  --rpm N, --tpm N         requests and tokens per minute; 2M is two million\n"
        "  --base-url URL|@FILE     as for eddy batch; --rpm and --tpm apply to each base URL\n"
        "  -c, --concurrency N      requests at a time, with --latency (50)\n"
        "  --latency D              the duration of one request, such as 2.5s\n"
        "  --price IN/OUT           prices of a million tokens, such as 0.15/0.60\n"
        "  -h, --help, --version\n"
        "\n"
        "Other options of eddy batch are accepted, and have no effect.\n"
        "\n"
        "Exit: 0 usable, 1 usable but with bad lines, files that cannot be read or requests over\n"
        "--tpm, 2 the command line is wrong, 3 not usable (ids that occur twice, requests that\n"
        "changed after they were answered, no requests, or a file of the command that cannot be\n"
        "read), 4 the report could not be written.\n";

enum {
        OPT_ERRORS = 256,
        OPT_FORMAT,
        OPT_ID_COLUMN,
        OPT_SKIP_EMPTY,
        OPT_SHARD,
        OPT_BASE_URL,
        OPT_URL,
        OPT_BODY,
        OPT_ROWS,
        OPT_RPM,
        OPT_TPM,
        OPT_LATENCY,
        OPT_OK,
        OPT_RETRY_IF,
        OPT_SCHEMA,
        OPT_ACCEPT,
        OPT_ACCEPT_IDS,
        OPT_PRICE,
        OPT_UNUSED, /* an option of eddy batch without a meaning here */
};

static const struct option check_longs[] = {
        { "output", required_argument, NULL, 'o' },
        { "errors", required_argument, NULL, OPT_ERRORS },
        { "format", required_argument, NULL, OPT_FORMAT },
        { "id-column", required_argument, NULL, OPT_ID_COLUMN },
        { "skip-empty", no_argument, NULL, OPT_SKIP_EMPTY },
        { "shard", required_argument, NULL, OPT_SHARD },
        { "base-url", required_argument, NULL, OPT_BASE_URL },
        { "url", required_argument, NULL, OPT_URL },
        { "body", required_argument, NULL, OPT_BODY },
        { "rows-per-request", required_argument, NULL, OPT_ROWS },
        { "method", required_argument, NULL, 'X' },
        { "rpm", required_argument, NULL, OPT_RPM },
        { "tpm", required_argument, NULL, OPT_TPM },
        { "concurrency", required_argument, NULL, 'c' },
        { "latency", required_argument, NULL, OPT_LATENCY },
        { "ok", required_argument, NULL, OPT_OK },
        { "retry-if", required_argument, NULL, OPT_RETRY_IF },
        { "schema", required_argument, NULL, OPT_SCHEMA },
        { "accept-failed", no_argument, NULL, OPT_ACCEPT },
        { "accept-failed-ids", required_argument, NULL, OPT_ACCEPT_IDS },
        { "price", required_argument, NULL, OPT_PRICE },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, ED_OPTION_VERSION },
        { NULL, 0, NULL, 0 },
};

static const struct ed_option_hint check_hints[] = {
        { "input", "IN, without an option" },
        { NULL, NULL },
};

enum { OWN_COUNT = sizeof(check_longs) / sizeof(check_longs[0]) - 1, LONGS_MAX = 128 };

/* Own options, and those of eddy batch, so that its command can be checked as it is. */
static struct option all_longs[LONGS_MAX + 1];

static const struct ed_option_set check_option_set = { "check", ED_OPTS_SHORTS, all_longs,
                                                       check_hints };

static bool is_own(const char *name)
{
        for (size_t i = 0; i < OWN_COUNT; i++)
                if (strcmp(check_longs[i].name, name) == 0)
                        return true;
        return false;
}

static void longs_join(void)
{
        size_t n = OWN_COUNT;

        memcpy(all_longs, check_longs, sizeof(check_longs));
        for (const struct option *option = ed_opts_longs; option->name && n < LONGS_MAX; option++) {
                if (is_own(option->name))
                        continue;
                all_longs[n] = *option;
                all_longs[n++].val = OPT_UNUSED;
        }
}

/* The kinds of faults of lines. */
enum { BAD, NAMELESS, TWICE, CHANGED, LARGE, LACKS_FILE, FAULTS_COUNT };

struct check_fault {
        uint64_t count;
        const char *singular, *plural; /* "bad line" */
};

struct check_run {
        const char *input, *output, *errors, *format, *body_text;
        struct ed_bases bases;
        char errors_room[ED_BATCH_PATH_BYTES];
        char *body; /* owned */
        size_t body_bytes;
        bool has_price;
        struct ed_price price;
        struct ed_tally_pace pace;
        struct ed_rule rule;
        struct ed_accept accept;

        struct ed_shard shard;
        struct ed_shard_names names;
        char mark[ED_SHARD_MARK_BYTES]; /* of the shard; "": none */
        bool has_other;                 /* the output has an answer of another shard */
        struct ed_range range;

        struct ed_request_rules rules;
        struct ed_headers headers;
        struct ed_columns *columns;
        struct ed_ids *ids;
        struct ed_tally tally; /* of requests to send */
        struct ed_empty_fields empty_fields;
        struct ed_files_count files;
        uint32_t rows;            /* in a request, at most */
        struct ed_bundle *bundle; /* the last rows; NULL: none */
        uint64_t alone;           /* requests that cannot be sent with others */
        bool lacks_rows;          /* the first request is one of these */
        struct ed_draft report;
        struct ed_draft changed; /* the requests that have changed, one by one */
        struct ed_draft first;   /* the first request to send */
        struct check_fault faults[FAULTS_COUNT];
        uint64_t lines, bytes;
        uint64_t requests, answered; /* lines that are requests; those that have their answer */
        uint64_t accepted;           /* requests whose failure is accepted */
        uint64_t accepted_final;     /* those that are not named */
        bool has_answers;            /* the output has an answer that may be a success */
        uint64_t empty;              /* lines that --skip-empty leaves out */
        uint64_t lack_id;            /* rows with an empty field for the id */
        uint64_t odd;                /* lines of the output that are not answers */
        uint64_t not_ok;             /* answers that are not successes, although their status is */
        uint64_t largest_bytes, largest_line;
        char id[ED_ANSWER_ID_ROOM];
};

/* ---- the answers ----------------------------------------------------------------------------- */

/* Report answers that eddy batch would refuse. */
static void other_say(struct check_run *run, const struct ed_answer_seen *seen)
{
        char other[ED_SHARD_MARK_BYTES];

        run->has_other = true;
        ed_shard_mark_read(seen, other);
        ed_console_say("check", "%s has answers of shard %s, and this is shard %s", run->output,
                       other, run->mark);
}

static int answer_note(void *arg, const char *line, size_t bytes)
{
        struct check_run *run = arg;
        struct ed_answer_seen seen;
        int flags, judged;

        if (ed_answer_read(line, bytes, run->id, &seen) < 0) {
                run->odd++;
                return 0;
        }
        if (*run->mark && !run->has_other &&
            ed_shard_mark_compare(&seen, run->mark) == ED_SHARD_MARK_OTHER)
                other_say(run, &seen);
        judged = ed_rule_judge_line(&run->rule, &seen, true);
        if (judged <= ED_RULE_LINE_FAILED) {
                run->not_ok += judged == ED_RULE_LINE_FAILED && seen.is_ok;
                return judged < 0 ? judged : ed_accept_note(&run->accept, &seen);
        }
        run->has_answers = true;
        flags = ed_ids_add(run->ids, seen.id, seen.id_bytes, seen.mark,
                           judged == ED_RULE_LINE_OK ? ED_IDS_ANSWERED : ED_IDS_DOUBTED, NULL);
        return flags < 0 ? flags : 0;
}

/* A line of the errors file: it may be a success by the rule of this command. */
static int failure_note(void *arg, const char *line, size_t bytes)
{
        struct check_run *run = arg;
        struct ed_answer_seen seen;
        int flags, judged;

        if (ed_answer_read(line, bytes, run->id, &seen) < 0)
                return 0;
        judged = ed_rule_judge_line(&run->rule, &seen, false);
        if (judged != ED_RULE_LINE_OK)
                return judged < 0 ? judged : ed_accept_note(&run->accept, &seen);
        run->has_answers = true;
        flags = ed_ids_add(run->ids, seen.id, seen.id_bytes, seen.mark, ED_IDS_ANSWERED, NULL);
        return flags < 0 ? flags : 0;
}

/* Read a file of answers. It is neither locked nor changed: a run may be writing to it. */
static int file_note(struct check_run *run, const char *option, const char *path,
                     ed_answers_file_fn *fn)
{
        struct ed_answers_file answers = { .path = path };
        struct stat st;
        int err;

        answers.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (answers.fd < 0 && errno == ENOENT)
                return 0;
        if (answers.fd < 0 || fstat(answers.fd, &st) < 0) {
                ed_console_say("check", "%s %s: %s", option, path, strerror(errno));
                ed_answers_file_close(&answers);
                return ED_EXIT_INPUT;
        }
        if (!S_ISREG(st.st_mode)) {
                ed_answers_file_close(&answers);
                return ed_console_usage("check",
                                        "%s %s: not a regular file; name the file of answers",
                                        option, path);
        }
        err = ed_answers_file_each(&answers, fn, run);
        ed_answers_file_close(&answers);
        if (err == 0)
                return 0;
        ed_console_say("check", "%s %s: %s", option, path, eddy_error_text(err));
        return err == -ENOMEM ? ED_EXIT_FAILED : ED_EXIT_INPUT;
}

/* Read the output, and then the errors file, as eddy batch does. */
static int answers_note(struct check_run *run)
{
        int exit_code;

        if (!run->output)
                return 0;
        exit_code = ed_packed_output_check("check", run->output);
        if (exit_code == 0)
                exit_code = file_note(run, "-o", run->output, answer_note);
        if (exit_code == 0 && !run->errors) {
                exit_code = ed_opts_errors_name("check", run->output, run->errors_room);
                run->errors = run->errors_room;
        }
        return exit_code ? exit_code : file_note(run, "--errors", run->errors, failure_note);
}

/* ---- the lines ------------------------------------------------------------------------------- */

/* Count a fault; the first ones of a kind are listed. */
EDDY_PRINTF(4, 5)
static void fault_add(struct check_run *run, struct check_fault *fault, uint64_t line,
                      const char *format, ...)
{
        struct ed_draft *list = fault == &run->faults[CHANGED] ? &run->changed : &run->report;
        char text[ED_REQUEST_ERROR_BYTES + 256];
        va_list args;

        if (fault->count++ >= FAULTS_LISTED)
                return;
        va_start(args, format);
        vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        /* The text of users must not move the cursor. */
        for (char *at = text; *at; at++)
                if ((unsigned char) *at < 0x20 || *at == 0x7f)
                        *at = '?';
        ed_draft_add_printf(list, "%s %" PRIu64 ": %s\n", ed_line_word(&run->rules), line, text);
}

/* Report an id that an earlier line has. */
static void twice_add(struct check_run *run, const struct ed_request *request)
{
        const char *word = ed_line_word(&run->rules), *id_word = ed_line_id_word(&run->rules);
        uint64_t earlier = ed_ids_line(run->ids, request->id, request->id_bytes);
        struct check_fault *fault = &run->faults[TWICE];

        if (earlier > 0)
                fault_add(run, fault, request->number,
                          "%.100s \"%.100s\" was used by %s %" PRIu64 "; ids must differ", id_word,
                          request->id, word, earlier);
        else
                fault_add(run, fault, request->number,
                          "%.100s \"%.100s\" was used by an earlier %s; ids must differ", id_word,
                          request->id, word);
}

/* An answer of this id is a failure if its request was to an API. Returns the flags. */
static int doubt_settle(struct check_run *run, const struct ed_request *request, int flags)
{
        if (!(flags & ED_IDS_DOUBTED) || flags & (ED_IDS_READ | ED_IDS_ANSWERED))
                return flags;
        if (!request->url || (request->body && ed_api_path_is(request->url))) {
                run->not_ok++;
                return flags;
        }
        return flags | ED_IDS_ANSWERED;
}

static int request_note(struct check_run *run, const struct ed_request *request)
{
        bool same = true;
        int flags = ed_ids_add(run->ids, request->id, request->id_bytes,
                               ed_answer_mark(request->id, request->id_bytes, request->hash),
                               ED_IDS_READ, &same);

        if (flags < 0)
                return flags;
        flags = doubt_settle(run, request, flags);
        if (flags & ED_IDS_READ) {
                twice_add(run, request);
                return 0;
        }
        ed_ids_set_line(run->ids, request->id, request->id_bytes, request->number);
        if (flags & ED_IDS_ANSWERED && !same)
                fault_add(run, &run->faults[CHANGED], request->number,
                          "%.100s \"%.100s\" has an answer, but its request has changed since "
                          "(method, URL, headers or body); use another id, or give eddy batch "
                          "--on-changed send",
                          ed_line_id_word(&run->rules), request->id);
        else if (flags & ED_IDS_ANSWERED && request->url)
                run->answered++;
        if (flags & ED_IDS_ANSWERED)
                return same ? 0 : 1;
        if (!ed_accept_has(&run->accept, request->id, request->id_bytes,
                           ed_answer_mark(request->id, request->id_bytes, request->hash)))
                return 1;
        run->accepted++;
        run->accepted_final +=
                !ed_accept_takes(&run->accept, request->id, request->id_bytes, false);
        return 0;
}

/* Find a request that eddy batch would refuse. */
static void tokens_check(struct check_run *run, const struct ed_request *request)
{
        uint64_t tokens = ed_tokens_estimate(request);

        if (run->pace.tpm > 0 && tokens > run->pace.tpm)
                fault_add(run, &run->faults[LARGE], request->number,
                          "the request may need %" PRIu64 " tokens, more than --tpm %" PRIu64
                          ": raise --tpm, or lower its max_tokens",
                          tokens, run->pace.tpm);
}

/* A line that --skip-empty leaves out: its id counts as that of a request. */
static int empty_note(struct check_run *run, const struct ed_request *request)
{
        int flags = ed_ids_add(run->ids, request->id, request->id_bytes, 0, ED_IDS_READ, NULL);

        if (flags < 0)
                return flags;
        if (flags & ED_IDS_READ) {
                twice_add(run, request);
                return 0;
        }
        ed_ids_set_line(run->ids, request->id, request->id_bytes, request->number);
        if (flags & (ED_IDS_ANSWERED | ED_IDS_DOUBTED)) {
                run->requests++;
                run->answered++;
        } else {
                run->empty++;
        }
        return 0;
}

/* Report a request whose files cannot be read now. */
static void files_note(struct check_run *run, const struct ed_request *request)
{
        char error[ED_REQUEST_ERROR_BYTES];

        if (ed_files_check(&run->files, request, error) < 0)
                fault_add(run, &run->faults[LACKS_FILE], request->number, "%.100s \"%s\": %s",
                          ed_line_id_word(&run->rules), request->id, error);
}

static int first_note(struct check_run *run, const struct ed_request *request)
{
        return ed_first_request_add(request,
                                    &(struct ed_first_request_opts){
                                            .base = ed_bases_at(&run->bases, 0),
                                            .url = run->rules.url,
                                            .headers = &run->headers,
                                            .templates = &run->rules.templates,
                                    },
                                    &run->first);
}

/* End the rows that are sent together. Errors: -ENOMEM */
static int bundle_end(struct check_run *run)
{
        struct ed_bundle *bundle = run->bundle;
        int err = 0;

        if (bundle && run->pace.sent == 1 && bundle->count > 0) {
                err = ed_bundle_take(bundle, 0, bundle->count);
                if (err == 0)
                        err = first_note(run, &bundle->request);
        }
        ed_bundle_free(bundle);
        run->bundle = NULL;
        return err;
}

/* Begin with other rows. Returns 1 if the request (owned then) is the first of them, or 0. */
static int bundle_begin(struct check_run *run, struct ed_request *request)
{
        int err = bundle_end(run);

        run->pace.sent++;
        if (err == 0)
                err = ed_bundle_new(run->rows, &run->bundle);
        return err == 0 ? ed_bundle_add(run->bundle, request) : err;
}

/* Count the requests that are sent. Takes the request if it is one of several rows. */
static int sent_note(struct check_run *run, struct ed_request **request)
{
        int added = run->bundle ? ed_bundle_add(run->bundle, *request) : 0;

        if (added == 0)
                added = bundle_begin(run, *request);
        if (added > 0)
                *request = NULL;
        if (added != 0)
                return added < 0 ? added : 0;
        ed_bundle_free(run->bundle);
        run->bundle = NULL;
        run->alone++;
        return run->pace.sent == 1 ? first_note(run, *request) : 0;
}

/* Count a request that is to be sent. Takes it if it is one of several rows. */
static int to_send_note(struct check_run *run, const struct ed_line *line,
                        struct ed_request **request)
{
        bool is_first = run->tally.requests == 0;
        int err = ed_empty_fields_note(&run->empty_fields, &run->rules, line->data, line->bytes,
                                       line->number);

        if (err < 0)
                return err;
        ed_tally_add(&run->tally, *request);
        tokens_check(run, *request);
        files_note(run, *request);
        if (run->rows > 1)
                return sent_note(run, request);
        return is_first ? first_note(run, *request) : 0;
}

static int line_note(void *arg, const struct ed_line *line)
{
        struct check_run *run = arg;
        char error[ED_REQUEST_ERROR_BYTES];
        struct ed_request *request = NULL;
        uint64_t bytes = line->next - line->offset;
        int err;

        run->lines = line->number;
        if (bytes > run->largest_bytes) {
                run->largest_bytes = bytes;
                run->largest_line = line->number;
        }
        if (line->is_too_long) {
                fault_add(run, &run->faults[BAD], line->number, "the line is longer than %d MiB",
                          ED_SOURCE_LINE_BYTES_MAX >> 20);
                return bundle_end(run);
        }
        err = ed_request_read(&run->rules, line->data, line->bytes, line->number, &request, error);
        if (err == 0 || err == -ENOMEM)
                return err;
        if (err == ED_REQUEST_EMPTY) {
                err = empty_note(run, request);
                ed_request_free(request);
                return err;
        }
        if (err == -EINVAL) {
                fault_add(run, &run->faults[BAD], line->number, "%.100s%s%s%s%s",
                          request ? ed_line_id_word(&run->rules) : "", request ? " \"" : "",
                          request ? request->id : "", request ? "\": " : "", error);
                err = bundle_end(run);
        } else if (request->lacks_id && run->shard.count > 0) {
                fault_add(run, &run->faults[NAMELESS], line->number,
                          "the line has no custom_id, which --shard needs");
        } else if (run->requests++ == 0) {
                run->lacks_rows = run->rows > 1 && !ed_bundle_can(request);
                if (run->lacks_rows)
                        ed_console_say("check", "%s: %s %" PRIu64 ": " ED_BUNDLE_FAULT, run->input,
                                       ed_line_word(&run->rules), line->number);
        }
        run->lack_id += request && request->has_empty_id;
        /* A bad line with an id gets its error under this id, which must differ too. */
        if (err != -ENOMEM)
                err = request ? request_note(run, request) : 0;
        if (err > 0 && request->url)
                err = to_send_note(run, line, &request);
        ed_request_free(request);
        return err < 0 ? err : 0;
}

static int shard_find(struct check_run *run, const struct ed_say *say, int fd,
                      const struct stat *st)
{
        int err = ed_shard_range_find(say, run->input, fd, st, run->shard, &run->range);

        if (err)
                return err;
        err = ed_shard_lines_before(fd, run->range.at, &run->range.lines);
        return err < 0 ? ed_source_fault(say, run->input, err) : 0;
}

static int lines_note(struct check_run *run)
{
        const struct ed_say say = ed_console_voice("check");
        struct ed_source source;
        struct stat st;
        int fd, err, exit_code = ed_source_open(&say, run->input, &st, &fd);

        if (exit_code == 0 && run->shard.count > 0)
                exit_code = shard_find(run, &say, fd, &st);
        if (exit_code) {
                if (fd > STDIN_FILENO)
                        close(fd);
                return exit_code;
        }
        if (fd == STDIN_FILENO && isatty(fd))
                ed_console_say("check", "requests are read from the terminal, up to Ctrl-D");
        err = ed_source_init(&source,
                             &(struct ed_source_opts){ .say = &say,
                                                       .path = run->input,
                                                       .line_bytes_max = ED_SOURCE_LINE_BYTES_MAX,
                                                       .csv = strcmp(run->format, "csv") == 0,
                                                       .range = run->range,
                                                       .rules = &run->rules,
                                                       .columns = &run->columns,
                                                       .take = line_note,
                                                       .arg = run });
        if (err == 0)
                err = ed_source_read(&source, fd,
                                     run->shard.count > 0 ? (off_t) run->range.at : -1);
        if (err == 0)
                err = bundle_end(run);
        run->bytes = source.lines.offset - run->range.at;
        ed_source_fini(&source);
        if (fd != STDIN_FILENO)
                close(fd);
        return err < 0 ? ed_source_fault(&say, run->input, err) : 0;
}

/* ---- the report ------------------------------------------------------------------------------ */

static void more_add(struct ed_draft *report, const struct check_fault *fault)
{
        uint64_t more = fault->count > FAULTS_LISTED ? fault->count - FAULTS_LISTED : 0;

        if (more > 0)
                ed_draft_add_printf(report, "and %" PRIu64 " more %s\n", more,
                                    more == 1 ? fault->singular : fault->plural);
}

static void row_add(struct ed_draft *report, const char *name, uint64_t count)
{
        ed_draft_add_printf(report, "%-16s", name);
        ed_draft_add_grouped(report, count);
}

/* Append the requests that have an answer in the output, and the others. */
static void sent_counts_add(struct check_run *run)
{
        struct ed_draft *report = &run->report;

        /* Without an answer to a request as it is now, a run does not accept final failures. */
        uint64_t refused = run->answered > 0 ? 0 : run->accepted_final;
        uint64_t accepted = run->accepted - refused;

        row_add(report, "answered", run->answered);
        ed_draft_add_str(report, " of them\n");
        if (accepted > 0) {
                row_add(report, "accepted", accepted);
                ed_draft_add_str(report, accepted == 1 ? " failure\n" : " failures\n");
        }
        row_add(report, "to send", run->tally.requests + refused);
        ed_draft_add_str(report,
                         run->faults[CHANGED].count > 0 ? ", with --on-changed send\n" : "\n");
}

static void counts_add(struct check_run *run)
{
        struct ed_draft *report = &run->report;
        const char *word = ed_line_word(&run->rules);

        if (report->bytes > 0)
                ed_draft_add_str(report, "\n");
        row_add(report, "requests", run->requests);
        ed_draft_add_str(report, "\n");
        if (run->empty > 0) {
                row_add(report, "skipped", run->empty);
                ed_draft_add_printf(report, " empty %s%s\n", word, run->empty == 1 ? "" : "s");
        }
        for (int i = 0; i < FAULTS_COUNT; i++) {
                const struct check_fault *fault = &run->faults[i];

                if (fault->count == 0)
                        continue;
                row_add(report, fault->plural, fault->count);
                ed_draft_add_str(report, "\n");
        }
        if (run->lack_id > 0) {
                row_add(report, "empty ids", run->lack_id);
                ed_draft_add_str(report,
                                 run->lack_id == 1
                                         ? ", which becomes line-N, the number of the row\n"
                                         : ", which become line-N, the number of the row\n");
        }
        if (run->output)
                sent_counts_add(run);
        if (run->rows > 1) {
                row_add(report, "sent as", run->pace.sent);
                ed_draft_add_printf(report, " request%s\n", run->pace.sent == 1 ? "" : "s");
        }
        if (run->alone > 0) {
                row_add(report, "alone", run->alone);
                ed_draft_add_str(report, run->alone == 1
                                                 ? " of them, without a text \"input\"\n"
                                                 : " of them, without a text \"input\" each\n");
        }
        if (run->not_ok > 0) {
                row_add(report, "not ok", run->not_ok);
                ed_draft_add_str(report, run->not_ok == 1
                                                 ? " answer, whose request is sent again\n"
                                                 : " answers, whose requests are sent again\n");
        }
        if (run->odd > 0) {
                row_add(report, "damaged", run->odd);
                ed_draft_add_str(report, run->odd == 1
                                                 ? " line of the output, which is not an answer\n"
                                                 : " lines of the output, which are not answers\n");
        }
        row_add(report, "bytes", run->bytes);
        ed_draft_add_str(report, " of input");
        if (run->largest_line > 0) {
                ed_draft_add_printf(report, ", the largest %s is %s ", word, word);
                ed_draft_add_u64(report, run->largest_line);
                ed_draft_add_str(report, " with ");
                ed_draft_add_grouped(report, run->largest_bytes);
                ed_draft_add_str(report, " bytes");
        }
        ed_draft_add_str(report, "\n");
}

static void kinds_add(struct check_run *run)
{
        struct ed_tally *tally = &run->tally;
        struct ed_draft *report = &run->report;
        uint64_t others = tally->others;

        ed_tally_order(tally);
        for (size_t i = 0; i < tally->kinds_count; i++) {
                const struct ed_tally_kind *kind = &tally->kinds[i];

                if (i >= KINDS_LISTED) {
                        others += kind->count;
                        continue;
                }
                row_add(report, i == 0 ? "kinds" : "", kind->count);
                ed_draft_add_printf(report, " %s %s\n", kind->name, kind->model);
                /* No blank at the end of the line. */
                if (!*kind->model && ed_draft_is_whole(report)) {
                        report->bytes -= 2;
                        ed_draft_add_str(report, "\n");
                }
        }
        if (others > 0) {
                row_add(report, "", others);
                ed_draft_add_str(report, " others\n");
        }
}

static void empty_fields_add(struct check_run *run)
{
        if (run->empty_fields.fields_count == 0)
                return;
        ed_draft_add_printf(&run->report, "%-16s", "empty fields");
        ed_empty_fields_add(&run->empty_fields, &run->report);
        ed_draft_add_str(&run->report, "\n");
}

static void tokens_add(struct check_run *run)
{
        const struct ed_tally *tally = &run->tally;
        struct ed_draft *report = &run->report;
        uint64_t in = tally->input_tokens, out = tally->output_tokens;

        if (in == 0 && out == 0)
                return;
        ed_draft_add_printf(report, "%-16sabout ", "tokens");
        if (out > 0) {
                ed_draft_add_grouped(report, in > UINT64_MAX - out ? UINT64_MAX : in + out);
                ed_draft_add_str(report, ": ");
        }
        ed_draft_add_grouped(report, in);
        ed_draft_add_str(report, " of input");
        if (out > 0) {
                ed_draft_add_str(report, ", at most ");
                ed_draft_add_grouped(report, out);
                ed_draft_add_str(report, " of output");
        }
        ed_draft_add_str(report, "\n");
        if (tally->unlimited == 0)
                return;
        row_add(report, "", tally->unlimited);
        ed_draft_add_str(report, tally->unlimited == 1
                                         ? " request has no max_tokens: its output is not counted\n"
                                         : " requests have no max_tokens: their output is not "
                                           "counted\n");
}

static void estimates_add(struct check_run *run)
{
        const struct ed_tally *tally = &run->tally;
        struct ed_draft *report = &run->report;
        uint64_t in = tally->input_tokens, out = tally->output_tokens;
        char text[ED_DURATION_TEXT_BYTES];
        const char *limit;
        int64_t ns = ed_tally_time(tally, &run->pace, &limit);

        if (run->has_price)
                ed_draft_add_printf(report, "%-16sabout %.6g\n", "cost",
                                    (double) ed_tokens_cost(&run->price, in, out) / 1e6);
        if (limit) {
                ed_duration_print(ns, text);
                ed_draft_add_printf(report, "%-16s%s%s, because of %s\n", "time",
                                    ns == ED_DURATION_MAX_NS ? "more than " : "at least ", text,
                                    limit);
        }
}

/* Append the requests that have changed: as one line if they are many, and all that have an answer. */
static void changed_add(struct check_run *run)
{
        uint64_t count = run->faults[CHANGED].count;

        if (count <= CHANGED_NAMED || run->answered > 0) {
                ed_draft_add(&run->report, run->changed.data, run->changed.bytes);
                more_add(&run->report, &run->faults[CHANGED]);
                return;
        }
        ed_draft_add_str(&run->report, "all ");
        ed_draft_add_grouped(&run->report, count);
        ed_draft_add_printf(&run->report,
                            " answers in %s are to other requests (method, URL, headers or body): "
                            "eddy batch --on-changed send sends these again; another -o keeps "
                            "the answers apart\n",
                            run->output);
}

static int report_print(struct check_run *run)
{
        changed_add(run);
        for (int i = 0; i < FAULTS_COUNT; i++)
                if (i != CHANGED)
                        more_add(&run->report, &run->faults[i]);
        if (run->faults[CHANGED].count > 0 && ed_line_url_has_host(&run->rules))
                ed_draft_add_str(&run->report, ED_LINE_HOST_HINT "\n");
        counts_add(run);
        if (run->tally.requests > 0) {
                kinds_add(run);
                empty_fields_add(run);
                ed_files_count_add(&run->files, &run->report);
                tokens_add(run);
                estimates_add(run);
                ed_draft_add(&run->report, run->first.data, run->first.bytes);
        }
        ed_draft_add(&run->report, "", 1);
        if (!ed_draft_is_whole(&run->report)) {
                ed_console_say("check", "out of memory");
                return ED_EXIT_FAILED;
        }
        return ed_console_print("check", run->report.data);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Set what depends on --shard. Returns 0 or the exit code. */
static int shard_set(struct check_run *run)
{
        struct ed_shard shard = run->shard;
        struct stat st;
        int err = ed_shard_setup_input("check", shard, run->input, strcmp(run->format, "csv") == 0,
                                       run->rules.id_column);

        if (err == 0 && shard.count > 0) {
                if (stat(run->input, &st) == 0)
                        ed_shard_mark_print(shard, (uint64_t) st.st_size, run->mark);
                run->pace.rpm = ed_shard_part(shard, run->pace.rpm);
                run->pace.tpm = ed_shard_part(shard, run->pace.tpm);
        }
        if (err == 0)
                err = ed_shard_names_set(&run->names, "check", shard, "-o", true, &run->output);
        return err ? err
                   : ed_shard_names_set(&run->names, "check", shard, "--errors", true,
                                        &run->errors);
}

static int price_take(struct check_run *run, const char *value)
{
        const char *why;

        run->has_price = true;
        if (ed_price_parse(value, &run->price, &why) == 0)
                return 0;
        ed_console_usage("check",
                         "--price %s %s: write it as IN/OUT, the cost of a million tokens, such as "
                         "0.15/0.60",
                         value, why);
        return -EINVAL;
}

static int option_take(struct check_run *run, int option, const char *value)
{
        int number;

        switch (option) {
        case 'o':
                return ed_option_once("check", "-o", value, &run->output);
        case OPT_ERRORS:
                return ed_option_once("check", "--errors", value, &run->errors);
        case 'c':
                if (strcmp(value, "auto") == 0)
                        return 0;
                return ed_option_count("check", "-c", value, 1, 65536, &run->pace.concurrency);
        case 'X':
                run->rules.method = value;
                return ed_headers_check_method("check", value);
        case 'H':
                return ed_headers_add(&run->headers, "check", value);
        case OPT_FORMAT:
                return ed_option_format("check", value, &run->format);
        case OPT_ID_COLUMN:
                return ed_option_once("check", "--id-column", value, &run->rules.id_column);
        case OPT_SKIP_EMPTY:
                run->rules.skip_empty = true;
                return 0;
        case OPT_SHARD:
                return ed_shard_option_read("check", value, &run->shard);
        case OPT_BASE_URL:
                return ed_base_url_option_add(&run->bases, "check", value);
        case OPT_URL:
                number = ed_option_once("check", "--url", value, &run->rules.url);
                return number < 0 || ed_url_option_check("check", value, true) ? -EINVAL : 0;
        case OPT_BODY:
                return ed_option_once("check", "--body", value, &run->body_text);
        case OPT_ROWS:
                return ed_option_count("check", "--rows-per-request", value, 1, ED_BUNDLE_ROWS_MAX,
                                       &run->rows);
        case OPT_RPM:
                return ed_option_amount("check", "--rpm", value, &run->pace.rpm);
        case OPT_TPM:
                return ed_option_amount("check", "--tpm", value, &run->pace.tpm);
        case OPT_LATENCY:
                return ed_option_duration("check", "--latency", value, 1, &run->pace.latency_ns);
        case OPT_OK:
                return ed_rule_set_ok(&run->rule, "check", value);
        case OPT_RETRY_IF:
                return ed_rule_set_retry_if(&run->rule, "check", value);
        case OPT_SCHEMA:
                return ed_rule_set_schema(&run->rule, "check", value);
        case OPT_ACCEPT:
                return ed_accept_all_finals(&run->accept);
        case OPT_ACCEPT_IDS:
                return ed_accept_read_ids(&run->accept, "check", value);
        case OPT_PRICE:
                return price_take(run, value);
        case 'k':
        case OPT_UNUSED:
                return 0;
        default:
                return -EINVAL;
        }
}

static int memory_fault(void)
{
        ed_console_say("check", "out of memory");
        return ED_EXIT_FAILED;
}

/* Check combinations of options, and read the templates. Returns 0 or the exit code. */
static int options_check(struct check_run *run)
{
        int err = ed_base_url_option_check(&run->bases, "check", run->input, 0);

        if (err)
                return err;
        run->pace.servers = (unsigned) ed_bases_count(&run->bases);
        if (strcmp(run->format, "auto") == 0)
                run->format = ed_source_is_csv(run->input) ? "csv" : "json";
        if (strcmp(run->format, "csv") == 0 &&
            !ed_template_options_suit_csv(run->rules.url, run->body_text, &run->headers))
                return ed_console_usage("check", ED_TEMPLATE_OPTIONS_CSV_FAULT);
        if (run->rules.id_column && strcmp(run->format, "csv") != 0)
                return ed_console_usage("check", ED_SOURCE_ID_COLUMN_FAULT);
        if (run->body_text && !run->rules.url)
                return ed_console_usage("check", "--body needs --url, to which it is sent");
        err = shard_set(run);
        if (err)
                return err;
        err = run->body_text
                      ? ed_template_body_read("check", run->body_text, &run->body, &run->body_bytes)
                      : 0;
        if (err < 0)
                return err == -ENOMEM ? memory_fault() : ED_EXIT_USAGE;
        return ed_template_options_open("check",
                                        &(struct ed_template_options){
                                                .body = run->body,
                                                .body_bytes = run->body_bytes,
                                                .url = run->rules.url,
                                                .headers = &run->headers,
                                                .skip_empty = run->rules.skip_empty,
                                        },
                                        &run->rules.templates);
}

/* Set an option; a header may be secret, so it is not left in the command line. */
static int option_set(void *arg, int option, char *value)
{
        int err = option_take(arg, option, value);

        if (option == 'H')
                ed_headers_overwrite(value);
        return err;
}

/* Returns 0 if there is work to do; otherwise 1 and the exit code. */
static int options_parse(struct check_run *run, int argc, char **argv, int *ret_exit)
{
        longs_join();
        if (ed_option_walk(&check_option_set, help, argc, argv, option_set, run, ret_exit))
                return 1;
        if (optind + 1 == argc) {
                run->input = argv[optind];
                *ret_exit = options_check(run);
        } else if (optind == argc) {
                *ret_exit =
                        ed_console_usage("check", "name the file of requests, or - for standard "
                                                  "input: eddy check IN");
        } else {
                *ret_exit =
                        ed_console_usage("check", "%s: there is one input, %s; did you mean -o %s?",
                                         argv[optind + 1], argv[optind], argv[optind + 1]);
        }
        return *ret_exit != 0;
}

static int check_all(struct check_run *run)
{
        int exit_code;
        bool is_empty;

        if (ed_ids_new(&run->ids) < 0 || ed_tally_init(&run->tally) < 0)
                return memory_fault();
        if (run->rules.templates.url)
                run->tally.url = run->rules.url; /* one kind, not one of each row */
        ed_reading_show("check", ed_show_choose(ED_SHOW_AUTO, NULL));
        exit_code = answers_note(run);
        ed_accept_settle(&run->accept, run->has_answers);
        if (exit_code == 0)
                exit_code = lines_note(run);
        if (exit_code == 0)
                exit_code = report_print(run);
        if (exit_code)
                return exit_code;
        is_empty = run->requests + run->empty == 0;
        if (is_empty && run->columns && run->shard.count == 0 && run->faults[BAD].count == 0) {
                ed_console_say("check", "%s: no rows: nothing to send", run->input);
                return ED_EXIT_OK;
        }
        if (is_empty && run->shard.count > 0)
                ed_console_say("check", "%s: shard %u/%u has no request", run->input,
                               run->shard.index, run->shard.count);
        else if (is_empty)
                ed_console_say("check", "%s: the input has no request", run->input);
        /* A shard without a line is answered as it is. */
        if ((is_empty && run->shard.count == 0) || run->has_other ||
            run->faults[NAMELESS].count > 0 || run->lacks_rows || run->faults[TWICE].count > 0 ||
            run->faults[CHANGED].count > 0)
                return ED_EXIT_INPUT;
        if (run->faults[BAD].count > 0 || run->faults[LARGE].count > 0 ||
            run->faults[LACKS_FILE].count > 0)
                return ED_EXIT_FAILED;
        return ED_EXIT_OK;
}

int ed_check_main(int argc, char **argv)
{
        /* Static, because it is too large for a stack frame. */
        static struct check_run run = {
                .format = "auto",
                .pace = { .concurrency = 50 },
                .faults = { [BAD] = { 0, "bad line", "bad lines" },
                            [NAMELESS] = { 0, "without an id", "without an id" },
                            [TWICE] = { 0, "repeated id", "repeated ids" },
                            [CHANGED] = { 0, "changed request", "changed" },
                            [LARGE] = { 0, "request over --tpm", "over --tpm" },
                            [LACKS_FILE] = { 0, "request without its files", "lack a file" } },
        };
        int exit_code;

        if (options_parse(&run, argc, argv, &exit_code) == 0)
                exit_code = check_all(&run);
        ed_draft_fini(&run.report);
        ed_draft_fini(&run.changed);
        ed_draft_fini(&run.first);
        ed_tally_fini(&run.tally);
        ed_ids_free(run.ids);
        ed_columns_free(run.columns);
        ed_bundle_free(run.bundle);
        ed_bases_fini(&run.bases);
        ed_rule_fini(&run.rule);
        ed_accept_fini(&run.accept);
        ed_templates_fini(&run.rules.templates);
        ed_headers_fini(&run.headers);
        ed_shard_names_fini(&run.names);
        eddy_free(run.body);
        return exit_code;
}
