/*
 * batch/run/reader.c - reads the input twice if it is a file: to check it, and to send it.
 */
#include "batch/run/reader.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch/request/api_path.h"
#include "batch/request/line_id.h"
#include "batch/request/source.h"
#include "batch/run/job.h"
#include "batch/run/sendable.h"
#include "batch/run/shard.h"
#include "batch/run/stop.h"
#include "common/exit.h"
#include "common/shell_word.h"
#include "common/url_parts.h"
#include "eddy/alloc.h"
#include "eddy/stream.h"

enum { FAULTS_SHOWN = 5, NAMES_SHOWN_BYTES = 300, LINE_ID_BYTES = 32 };

/* The check of the input. */
struct check {
        struct ed_batch_unit *unit;
        const struct ed_line *line;
        uint64_t faults, changed;
        bool is_array;            /* a single array instead of lines */
        uint64_t nameless;        /* lines of a shard without an id of their own */
        uint64_t nameless_number; /* of the first of them */
        uint64_t good, bad;  /* lines that can be sent, and others; read up to the first good one */
        uint64_t bad_number; /* of the first bad line */
        char bad_text[ED_REQUEST_ERROR_BYTES];
};

static int source_init(struct ed_source *source, struct ed_batch_unit *unit, ed_source_fn *take,
                       void *arg)
{
        return ed_source_init(
                source,
                &(struct ed_source_opts){ .say = &unit->run->say,
                                          .path = unit->paths->input,
                                          .line_bytes_max = ED_SOURCE_LINE_BYTES_MAX,
                                          .csv = strcmp(unit->run->settings->format, "csv") == 0,
                                          .range = unit->input.range,
                                          .rules = &unit->input.rules,
                                          .columns = &unit->input.columns,
                                          .take = take,
                                          .arg = arg });
}

/* ---- opening ------------------------------------------------------------------------------- */

int ed_reader_open(struct ed_batch_unit *unit)
{
        const struct ed_batch_settings *settings = unit->run->settings;
        const char *path = unit->paths->input;
        struct stat st;
        int exit_code = ed_source_open(&unit->run->say, path, &st, &unit->input.fd);

        if (exit_code)
                return exit_code;
        if (strcmp(path, "-") == 0 && isatty(STDIN_FILENO))
                ed_say(&unit->run->say, "requests are read from the terminal, up to Ctrl-D");
        unit->input.is_file = S_ISREG(st.st_mode);
        exit_code = ed_unit_shard_open(unit, &st);
        if (exit_code)
                return exit_code;
        if (unit->input.range.at > 0 &&
            lseek(unit->input.fd, (off_t) unit->input.range.at, SEEK_SET) < 0)
                return ed_source_fault(&unit->run->say, path, -errno);
        unit->input.rules = (struct ed_request_rules){ .method = settings->method,
                                                       .url = settings->url,
                                                       .id_column = settings->id_column,
                                                       .templates = unit->run->templates,
                                                       .skip_empty = settings->skip_empty };
        return 0;
}

void ed_reader_close(struct ed_batch_unit *unit)
{
        if (unit->input.fd > STDIN_FILENO)
                close(unit->input.fd);
        unit->input.fd = -1;
        ed_columns_free(unit->input.columns);
        unit->input.columns = NULL;
}

/* Write the id of a line without an id. Returns its size. */
static size_t line_id(uint64_t number, char id[LINE_ID_BYTES])
{
        return (size_t) snprintf(id, LINE_ID_BYTES, "line-%llu", (unsigned long long) number);
}

/* Returns false for a line that `eddy retry` leaves out: neither its id nor its number has failed. */
static bool id_is_wanted(const struct ed_batch_unit *unit, uint64_t number, const char *id,
                         size_t bytes)
{
        char line[LINE_ID_BYTES];

        if (!unit->sink.only || ed_ids_flags(unit->sink.only, id, bytes) != 0)
                return true;
        bytes = line_id(number, line);
        return unit->sink.bad_lines && ed_ids_flags(unit->sink.bad_lines, line, bytes) != 0;
}

/* Returns true for a request whose failure is accepted. 'request' may be one of a line that is none. */
static bool is_accepted(const struct ed_batch_unit *unit, const struct ed_request *request)
{
        return ed_accept_has(unit->run->accept, request->id, request->id_bytes,
                             ed_answer_mark(request->id, request->id_bytes, request->hash));
}

/*
 * Note that a line that was not a request in an earlier run is one with another id now: its error is
 * removed at the end. Errors: -ENOMEM
 */
static int correction_note(struct ed_batch_unit *unit, uint64_t number, const char *id,
                           size_t id_bytes)
{
        char line[LINE_ID_BYTES];
        size_t bytes;
        int flags;

        if (!unit->sink.bad_lines)
                return 0;
        bytes = line_id(number, line);
        if (ed_ids_flags(unit->sink.bad_lines, line, bytes) == 0 ||
            (bytes == id_bytes && memcmp(line, id, bytes) == 0))
                return 0;
        flags = ed_ids_add(unit->sink.bad_lines, line, bytes, 0, ED_IDS_READ, NULL);
        return flags < 0 ? flags : 0;
}

/*
 * The output has an answer that is a failure if its request was to an API: settle that. 'flags' are
 * those of the id. Returns them as they are now, or an error.
 */
static int doubt_settle(struct ed_batch_unit *unit, const struct ed_request *request, int flags)
{
        bool is_answered = flags & ED_IDS_ANSWERED;
        int err = 0;

        if (flags < 0 || !(flags & ED_IDS_DOUBTED) || flags & ED_IDS_READ ||
            (!request->url && !request->is_empty))
                return flags;
        if (!request->body || !ed_api_path_is(request->url)) {
                ed_ids_remove(unit->sink.ids, request->id, request->id_bytes, ED_IDS_DOUBTED);
                err = ed_ids_add(unit->sink.ids, request->id, request->id_bytes, 0, ED_IDS_ANSWERED,
                                 NULL);
                unit->sink.held.answered += !is_answered;
                return err < 0 ? err : flags | ED_IDS_ANSWERED;
        }
        if (unit->checked.total_is_known)
                return flags; /* the check has settled it */
        unit->sink.held.output_failures++;
        if (is_answered)
                return flags;
        unit->sink.held.not_ok++;
        ed_ids_set_hash(unit->sink.ids, request->id, request->id_bytes,
                        ed_answer_mark(request->id, request->id_bytes, request->hash));
        if (unit->sink.only)
                err = ed_ids_add(unit->sink.only, request->id, request->id_bytes, 0, ED_IDS_FAILED,
                                 NULL);
        return err < 0 ? err : flags;
}

/* ---- the check ----------------------------------------------------------------------------- */

/* Report what makes the input unusable. Later faults are only counted. */
static void fault_say(struct check *check, const struct ed_request *request, const char *what)
{
        const struct ed_request_rules *rules = &check->unit->input.rules;

        if (check->faults++ >= FAULTS_SHOWN)
                return;
        (void) !ed_unit_lines_count(
                check->unit); /* a file that cannot be read ends the check soon */
        ed_say(&check->unit->run->say, "%s: %s %llu: %.100s \"%.100s\" %s",
               check->unit->paths->input, ed_line_word(rules),
               (unsigned long long) ed_unit_line_number(check->unit, check->line),
               ed_line_id_word(rules), request->id, what);
}

/* Report an id that an earlier line has. */
static void twice_say(struct check *check, const struct ed_request *request)
{
        fault_say(check, request,
                  check->unit->input.columns
                          ? "was used by an earlier row, which eddy check names; ids must differ"
                          : "was used by an earlier line, which eddy check names; ids must differ");
}

/* Report a request that differs from the one that was answered. */
static void changed_say(struct check *check, const struct ed_request *request)
{
        fault_say(
                check, request,
                "has an answer, but its request has changed since (method, URL, headers or body): "
                "use another id, or give --on-changed send");
        check->changed++;
}

/* Report the rows whose ids are their numbers, although the input has a column of ids. */
static void lack_id_say(const struct ed_batch_unit *unit)
{
        unsigned long long count = unit->checked.lack_id;

        if (count > 0)
                ed_say(&unit->run->say,
                       "%s: %.100s is empty in %llu row%s: %s line-N, the number of the row, which "
                       "changes if rows are added or sorted",
                       unit->paths->input, ed_line_id_word(&unit->input.rules), count,
                       count == 1 ? "" : "s", count == 1 ? "its id is" : "their ids are");
}

/* Make a request that has only an id, for a line that is not a request. */
static int blank_request(uint64_t number, struct ed_request **ret_request)
{
        struct ed_request *request = eddy_malloc(sizeof(*request) + LINE_ID_BYTES);
        char *id = (char *) (request + 1);

        if (!request)
                return -ENOMEM;
        *request = (struct ed_request){ .id = id, .number = number };
        request->id_bytes = line_id(number, id);
        *ret_request = request;
        return 0;
}

/*
 * Take a new id from a line whose rest need not be read, because it has no answer to compare with.
 * Returns 1 if that was possible.
 */
static int line_check_id(struct ed_batch_unit *unit, const struct ed_line *line)
{
        const char *id;
        size_t bytes;

        if (unit->input.columns || unit->input.rules.skip_empty ||
            !ed_request_peek_id(line->data, line->bytes, &id, &bytes) ||
            ed_ids_flags(unit->sink.ids, id, bytes) &
                    (ED_IDS_ANSWERED | ED_IDS_READ | ED_IDS_DOUBTED) ||
            ed_accept_knows(unit->run->accept, id, bytes))
                return 0;
        ed_accept_meet(unit->run->accept, id, bytes);
        unit->checked.requests++;
        unit->checked.total += id_is_wanted(unit, ed_unit_line_number(unit, line), id, bytes);
        if (correction_note(unit, ed_unit_line_number(unit, line), id, bytes) < 0)
                return -ENOMEM;
        return ed_ids_add(unit->sink.ids, id, bytes, 0, ED_IDS_READ, NULL) < 0 ? -ENOMEM : 1;
}

/* Note whether a line can be sent. 'text' is what is wrong with it; empty: nothing. */
static void line_note(struct check *check, uint64_t number, const char *text)
{
        if (!*text) {
                check->good++;
                return;
        }
        if (check->bad++ > 0)
                return;
        check->bad_number = number;
        snprintf(check->bad_text, sizeof(check->bad_text), "%s", text);
}

/* Count an id that has an answer. */
static void known_note(struct ed_batch_unit *unit, int flags, bool same)
{
        if (!(flags & ED_IDS_ANSWERED) || flags & ED_IDS_READ)
                return;
        unit->checked.known++;
        unit->checked.changed += !same;
}

/* Count a request that has no answer. */
static void to_send_note(struct ed_batch_unit *unit, const struct ed_request *request)
{
        bool is_wanted = id_is_wanted(unit, request->number, request->id, request->id_bytes);

        if (!is_accepted(unit, request)) {
                unit->checked.total += is_wanted;
                return;
        }
        unit->checked.accepted++;
        if (ed_accept_takes(unit->run->accept, request->id, request->id_bytes, false))
                return; /* by its id */
        unit->checked.accepted_final++;
        unit->checked.accepted_final_wanted += is_wanted;
}

/*
 * The whole input is known. If no request has an answer to it as it is now, final failures are not
 * accepted: answers to former requests say nothing about the command or the server.
 */
static void accepted_settle(struct ed_batch_unit *unit)
{
        struct ed_batch_checked *checked = &unit->checked;

        if (checked->known > checked->changed || checked->accepted_final == 0)
                return;
        ed_accept_settle(unit->run->accept, false);
        checked->accepted -= checked->accepted_final;
        checked->total += checked->accepted_final_wanted;
}

/* A line that is too long gets an error under its number. */
static int long_line_check(struct check *check, const struct ed_line *line)
{
        struct ed_request *request;
        int err = ed_unit_lines_count(check->unit);
        uint64_t number = ed_unit_line_number(check->unit, line);

        if (err < 0)
                return err;
        line_note(check, number, "the line is too long");
        if (blank_request(number, &request) < 0)
                return -ENOMEM;
        check->unit->checked.requests++;
        to_send_note(check->unit, request);
        ed_request_free(request);
        return 0;
}

/*
 * A line that --skip-empty leaves out, in the check or in the run. Its id is one of the input, so that
 * its answer stays, and its error is removed at the end. Returns the flags of the id, or an error.
 */
static int empty_note(struct ed_batch_unit *unit, const struct ed_request *request)
{
        int flags =
                ed_ids_add(unit->sink.ids, request->id, request->id_bytes, 0, ED_IDS_READ, NULL);

        ed_accept_meet(unit->run->accept, request->id, request->id_bytes);
        flags = doubt_settle(unit, request, flags);
        if (flags < 0 || flags & ED_IDS_READ || unit->checked.total_is_known)
                return flags;
        if (flags & ED_IDS_ANSWERED)
                known_note(unit, flags, true);
        else
                unit->checked.empty +=
                        id_is_wanted(unit, request->number, request->id, request->id_bytes);
        return flags;
}

static int empty_check(struct check *check, struct ed_request *request)
{
        int flags = empty_note(check->unit, request);

        if (flags >= 0 && flags & ED_IDS_READ)
                twice_say(check, request);
        else if (flags >= 0 && flags & ED_IDS_ANSWERED)
                check->unit->checked.requests++;
        if (flags >= 0)
                flags = correction_note(check->unit, request->number, request->id,
                                        request->id_bytes);
        ed_request_free(request);
        return flags < 0 ? flags : 0;
}

/* A line of a shard has no id of its own, by which its answer could be known among all shards. */
static void nameless_note(struct check *check, const struct ed_line *line,
                          struct ed_request *request)
{
        if (check->nameless++ == 0)
                check->nameless_number = ed_unit_line_number(check->unit, line);
        ed_request_free(request);
}

static void nameless_say(const struct check *check)
{
        /*
         * A line that has a custom_id, or is not a request, stays as it is. Other lines get an id at their
         * beginning: null is replaced, and a URL becomes an object.
         */
        static const char program[] =
                "import json, sys; exec(\"for n, s in enumerate(open(0, \\\"rb"
                "\\\"), 1):\\n "
                "v, u = 0, s.decode(\\\"utf-8-sig\\\", \\\"replace\\\").strip()\\n "
                "try: v = json.loads(s)\\n "
                "except ValueError: pass\\n "
                "i = {\\\"custom_id\\\": \\\"line-%d\\\" % n}\\n "
                "if u[:4].lower() == \\\"http\\\": s = json.dumps({**i, \\\"url\\\""
                ": u}).encode() + b\\\"\\\\n\\\"\\n "
                "elif type(v) is dict and v.get(\\\"custom_id\\\") in (None, \\\""
                "\\\"): s = (json.dumps({**v, **i}) + \\\"\\\\n\\\").encode() if \\\""
                "custom_id\\\" in v or not v else s.replace(b\\\"{\\\", json.dump"
                "s(i)[:-1].encode() + b\\\", \\\", 1)\\n "
                "sys.stdout.buffer.write(s)\")";
        const struct ed_batch_unit *unit = check->unit;
        struct ed_draft files = { 0 };

        ed_shell_copy_add(&files, unit->paths->input, "ids");
        ed_draft_add(&files, "", 1);
        ed_say(&unit->run->say,
               "%s: line %llu has no custom_id%s: --shard needs an id in each line, so that "
               "eddy collect can join the outputs; nothing was sent",
               unit->paths->input, (unsigned long long) check->nameless_number,
               check->nameless > 1 ? ", and others lack it too" : "");
        ed_say(&unit->run->say, "add ids, for example by python3 -c '%s' %s", program,
               ed_draft_is_whole(&files) && files.bytes <= NAMES_SHOWN_BYTES ? files.data
                                                                             : "<IN >NEW.jsonl");
        ed_draft_fini(&files);
}

/*
 * Read a line. If it is not a request, or has no id, its number is known then. Errors: those of
 * ed_request_read() and ed_unit_lines_count()
 */
static int line_read(struct ed_batch_unit *unit, const struct ed_line *line,
                     struct ed_request **ret_request, char error[ED_REQUEST_ERROR_BYTES])
{
        int counted, err = ed_request_read(&unit->input.rules, line->data, line->bytes,
                                           ed_unit_line_number(unit, line), ret_request, error);

        if (!unit->input.lacks_lines ||
            (err != -EINVAL && !(*ret_request && (*ret_request)->lacks_id)))
                return err;
        ed_request_free(*ret_request);
        *ret_request = NULL;
        counted = ed_unit_lines_count(unit);
        return counted < 0 ? counted
                           : ed_request_read(&unit->input.rules, line->data, line->bytes,
                                             ed_unit_line_number(unit, line), ret_request, error);
}

static int line_check(void *arg, const struct ed_line *line)
{
        struct check *check = arg;
        struct ed_batch_unit *unit = check->unit;
        char error[ED_REQUEST_ERROR_BYTES];
        struct ed_request *request = NULL;
        bool same = true;
        int flags, err;

        check->line = line;
        if (line->is_too_long)
                return long_line_check(check, line);
        err = check->good > 0 ? line_check_id(unit, line) : 0;
        if (err != 0)
                return err < 0 ? err : 0;
        *error = '\0';
        check->is_array |= line->number == 1 && unit->input.range.at == 0 && line->bytes > 0 &&
                           *line->data == '[';
        err = line_read(unit, line, &request, error);
        if (err <= 0 && err != -EINVAL)
                return err;
        if (request && request->lacks_id && unit->run->settings->shard.count > 0) {
                nameless_note(check, line, request);
                return 0;
        }
        if (err == ED_REQUEST_EMPTY)
                return empty_check(check, request);
        if (err > 0 && check->good == 0)
                ed_sendable_check(unit, request, error);
        line_note(check, ed_unit_line_number(unit, line), error);
        unit->checked.requests++;
        unit->checked.lack_id += request && request->has_empty_id;
        /* A line that is not a request gets an error under its number. */
        if (!request && blank_request(ed_unit_line_number(unit, line), &request) < 0)
                return -ENOMEM;
        flags = correction_note(unit, request->number, request->id, request->id_bytes);
        if (flags >= 0)
                flags = ed_ids_add(unit->sink.ids, request->id, request->id_bytes,
                                   ed_answer_mark(request->id, request->id_bytes, request->hash),
                                   ED_IDS_READ, &same);
        flags = doubt_settle(unit, request, flags);
        if (flags >= 0 && flags & ED_IDS_READ)
                twice_say(check, request);
        else if (flags > 0 && flags & ED_IDS_ANSWERED && !same && !unit->run->settings->changed_ok)
                changed_say(check, request);
        if (flags >= 0)
                known_note(unit, flags, same);
        if (flags >= 0 && (!(flags & ED_IDS_ANSWERED) || !same))
                to_send_note(unit, request);
        ed_request_free(request);
        return flags < 0 ? flags : 0;
}

/*
 * Learn whether the input has lines that can be sent, or none at all. A shard without such a line is judged
 * as the whole file is, so that its failures and its exit code do not depend on the number of shards.
 */
static int is_sendable(const struct check *check, bool *ret_sendable)
{
        struct ed_batch_unit *unit = check->unit;
        struct ed_sendable whole;
        int err;

        *ret_sendable = check->bad == 0 || (check->good > 0 && !check->is_array);
        if (*unit->input.shard == '\0' || check->good + check->nameless > 0)
                return 0;
        err = ed_sendable_look(unit, &whole);
        if (err < 0)
                return err;
        *ret_sendable = check->bad == 0 || whole.can;
        unit->checked.is_blank = whole.is_blank;
        return 0;
}

int ed_reader_check(struct ed_batch_unit *unit)
{
        off_t at = unit->input.is_file ? lseek(unit->input.fd, 0, SEEK_CUR) : -1;
        struct check check = { .unit = unit };
        struct ed_source source;
        const char *word;
        bool sendable;
        int err;

        if (at < 0)
                return 0;
        /* The errors of lines that were no requests have numbers. */
        err = unit->sink.bad_lines ? ed_unit_lines_count(unit) : 0;
        if (err < 0)
                return ed_source_fault(&unit->run->say, unit->paths->input, err);
        err = source_init(&source, unit, line_check, &check);
        if (err == 0)
                err = ed_source_read(&source, unit->input.fd, at);
        unit->checked.bytes = source.bytes;
        ed_source_fini(&source);
        if (err < 0)
                return ed_source_fault(&unit->run->say, unit->paths->input, err);
        err = is_sendable(&check, &sendable);
        if (err < 0)
                return ed_source_fault(&unit->run->say, unit->paths->input, err);
        word = ed_line_word(&unit->input.rules);
        if (!sendable) {
                ed_say(&unit->run->say, "%s: %s %llu: %s", unit->paths->input, word,
                       (unsigned long long) check.bad_number, check.bad_text);
                ed_say(&unit->run->say, "%s has no %s that can be sent; nothing was sent",
                       unit->paths->input, word);
                return ED_EXIT_INPUT;
        }
        if (check.nameless > 0) {
                nameless_say(&check);
                return ED_EXIT_INPUT;
        }
        if (check.faults > FAULTS_SHOWN)
                ed_say(&unit->run->say, "%s: and %llu more such %ss", unit->paths->input,
                       (unsigned long long) check.faults - FAULTS_SHOWN, word);
        if (check.changed > 0 && ed_line_url_has_host(&unit->input.rules))
                ed_say(&unit->run->say, "%s", ED_LINE_HOST_HINT);
        if (check.faults > 0) {
                ed_say(&unit->run->say, "nothing was sent");
                return ED_EXIT_INPUT;
        }
        unit->checked.total_is_known = true;
        accepted_settle(unit);
        lack_id_say(unit);
        return 0;
}

/* ---- the run ------------------------------------------------------------------------------- */

/* Returns true for a request that is not sent, because its failure is accepted. */
static bool accepted_skip(struct ed_batch_unit *unit, const struct ed_request *request)
{
        if (!is_accepted(unit, request))
                return false;
        unit->checked.accepted += !unit->checked.total_is_known;
        return true;
}

/*
 * Decide about a request: 1 to send it, 0 to skip it, because it has its answer or an
 * accepted failure. An id that an earlier line of a pipe had gets an error under the line's number.
 */
static int request_admit(struct ed_batch_unit *unit, const struct ed_line *line,
                         struct ed_request **request, char *error)
{
        const struct ed_request_rules *rules = &unit->input.rules;
        struct ed_request *refused;
        bool same = true;
        int flags =
                ed_ids_add(unit->sink.ids, (*request)->id, (*request)->id_bytes,
                           ed_answer_mark((*request)->id, (*request)->id_bytes, (*request)->hash),
                           ED_IDS_READ, &same);

        flags = doubt_settle(unit, *request, flags);
        if (flags < 0)
                return flags;
        if (!unit->checked.total_is_known)
                known_note(unit, flags, same);
        if (flags & ED_IDS_READ)
                snprintf(error, ED_REQUEST_ERROR_BYTES,
                         "%.100s \"%.100s\" was used by an earlier %s; ids must differ",
                         ed_line_id_word(rules), (*request)->id, ed_line_word(rules));
        else if (flags & ED_IDS_ANSWERED && !same && !unit->run->settings->changed_ok)
                snprintf(error, ED_REQUEST_ERROR_BYTES,
                         "%.100s \"%.100s\" has an answer, but its request has changed since: "
                         "use another id, or give --on-changed send",
                         ed_line_id_word(rules), (*request)->id);
        else if (flags & ED_IDS_ANSWERED && same)
                return 0;
        else {
                /* An old failure of a changed request stays until there is a new line. */
                ed_ids_remove(unit->sink.ids, (*request)->id, (*request)->id_bytes,
                              ED_IDS_ANSWERED);
                return !accepted_skip(unit, *request);
        }
        flags = ed_unit_lines_count(unit);
        if (flags < 0)
                return flags;
        if (blank_request(ed_unit_line_number(unit, line), &refused) < 0)
                return -ENOMEM;
        ed_request_free(*request);
        *request = refused;
        return 1;
}

void ed_reader_path(const char *url, char path[ED_INPUT_PATH_BYTES])
{
        struct ed_url_parts parts = ed_url_parts(url);

        snprintf(path, ED_INPUT_PATH_BYTES, "%.*s", (int) (parts.query - parts.path), parts.path);
}

static int empty_pass(struct ed_batch_unit *unit, struct ed_request *request)
{
        int flags = correction_note(unit, request->number, request->id, request->id_bytes);

        if (flags >= 0)
                flags = empty_note(unit, request);
        /* An error of an earlier run is removed at the end, as if this run had written another. */
        if (flags >= 0 && !(flags & ED_IDS_READ))
                flags = ed_ids_add(unit->sink.ids, request->id, request->id_bytes, 0, ED_IDS_FAILED,
                                   NULL);
        ed_request_free(request);
        return flags < 0 ? flags : 0;
}

/* Send the rows that were put together. */
static int bundle_send(struct ed_batch_unit *unit)
{
        struct ed_bundle *bundle = unit->input.bundle;
        uint64_t rows = bundle ? bundle->count : 0;
        int err = 0;

        unit->input.bundle = NULL;
        if (bundle)
                err = ed_jobs_add_bundle(unit, bundle);
        if (err < 0)
                unit->run->stats.not_started += rows;
        return err;
}

static void read_count(struct ed_batch_unit *unit)
{
        unit->run->stats.read++;
        unit->input.read++;
}

/* Put a request (owned on success) to those that are sent as one. Returns 1, 0 if it is sent alone. */
static int bundle_put(struct ed_batch_unit *unit, struct ed_request *request)
{
        struct ed_bundle **bundle = &unit->input.bundle;
        int err = 0;

        if (*bundle && ed_bundle_add(*bundle, request) > 0)
                return 1;
        err = bundle_send(unit);
        if (err == 0)
                err = ed_bundle_new(unit->run->settings->rows, bundle);
        if (err < 0)
                return err;
        if (ed_bundle_add(*bundle, request) > 0)
                return 1;
        ed_bundle_free(*bundle);
        *bundle = NULL;
        return 0;
}

/* Send a request (owned), perhaps together with later ones. 'error' may be NULL. */
static int request_send(struct ed_batch_unit *unit, struct ed_request *request, const char *error)
{
        int err;

        if (unit->run->settings->rows > 1 && !error) {
                err = bundle_put(unit, request);
                if (err > 0) {
                        read_count(unit);
                        return ed_bundle_is_full(unit->input.bundle) ? bundle_send(unit) : 0;
                }
        } else {
                err = bundle_send(unit);
        }
        if (err < 0) {
                ed_request_free(request);
                return err;
        }
        err = ed_jobs_add(unit, request, error);
        if (err == 0)
                read_count(unit);
        return err;
}

/* The input ends: send the last rows, unless the run is stopped. */
static int bundle_end(struct ed_batch_unit *unit, int err)
{
        int sent;

        if (err == -ECANCELED && unit->input.bundle) {
                unit->run->stats.not_started += unit->input.bundle->count;
                ed_bundle_free(unit->input.bundle);
                unit->input.bundle = NULL;
        }
        sent = bundle_send(unit);
        return sent < 0 ? sent : err;
}

/* Start the job of a line. */
static int line_send(void *arg, const struct ed_line *line)
{
        struct ed_batch_unit *unit = arg;
        char error[ED_REQUEST_ERROR_BYTES] = "";
        struct ed_request *request = NULL;
        int err = -EINVAL;

        if (line->is_too_long) {
                snprintf(error, sizeof(error), "the line is longer than %d MiB",
                         ED_SOURCE_LINE_BYTES_MAX >> 20);
                err = ed_unit_lines_count(unit);
                err = err == 0 ? -EINVAL : err;
        } else {
                err = line_read(unit, line, &request, error);
        }
        if (err <= 0 && err != -EINVAL)
                return err;
        if (err == ED_REQUEST_EMPTY)
                return empty_pass(unit, request);
        if (!request && blank_request(ed_unit_line_number(unit, line), &request) < 0)
                return -ENOMEM;
        unit->checked.lack_id += request->has_empty_id && !unit->checked.total_is_known;
        err = correction_note(unit, request->number, request->id, request->id_bytes);
        if (err == 0)
                err = request_admit(unit, line, &request, error);
        if (err > 0 && !id_is_wanted(unit, request->number, request->id, request->id_bytes))
                err = 0;
        if (err <= 0) {
                ed_request_free(request);
                return err;
        }
        if (unit->input.read == 0 && request->url)
                ed_reader_path(request->url, unit->input.path);
        err = request_send(unit, request, *error ? error : NULL);
        if (err < 0)
                return err;
        return unit->run->settings->limit > 0 && unit->input.read >= unit->run->settings->limit
                       ? -ENODATA
                       : 0;
}

static int stream_take(struct ed_source *source, eddy_stream *stream)
{
        for (;;) {
                size_t room = ed_source_room(source);
                int64_t n = room > 0 ? eddy_stream_read(stream, source->buf, room) : 0;
                int err;

                if (n < 0)
                        return (int) n;
                err = ed_source_take(source, source->buf, (size_t) n);
                if (err < 0 || n == 0)
                        return err;
        }
}

/* The input was read to its end. Returns true, after a message, if it was longer when it was checked. */
static bool input_is_cut(const struct ed_batch_unit *unit, uint64_t bytes)
{
        if (bytes >= unit->checked.bytes)
                return false;
        ed_say(&unit->run->say,
               "%s ended early: it had %llu bytes when it was checked, and has %llu; put the "
               "rest back, and run the same command again",
               unit->paths->input, (unsigned long long) unit->checked.bytes,
               (unsigned long long) bytes);
        return true;
}

int ed_reader_run(void *arg)
{
        struct ed_batch_unit *unit = arg;
        eddy_stream *stream = NULL;
        struct ed_source source;
        bool cut;
        int err = source_init(&source, unit, line_send, unit);

        if (err == 0)
                err = eddy_stream_from_fd(unit->input.fd, 0, &stream);
        if (err == 0)
                err = stream_take(&source, stream);
        err = bundle_end(unit, err);
        eddy_stream_close(stream);
        cut = err == 0 && input_is_cut(unit, source.bytes);
        if (!unit->checked.total_is_known)
                lack_id_say(unit);
        ed_source_fini(&source);
        unit->input.whole = (err == 0 && !cut) || err == -ENODATA;
        unit->input.limited = err == -ENODATA && (!unit->checked.total_is_known ||
                                                  unit->checked.total > unit->input.read);
        if (!unit->input.whole && err != -ECANCELED) {
                unit->input.err = cut ? ED_EXIT_INPUT
                                      : ed_source_fault(&unit->run->say, unit->paths->input, err);
                ed_batch_stop(unit->run, ED_STOP_INPUT, ED_BATCH_DRAIN_NS, NULL);
        }
        return 0;
}
