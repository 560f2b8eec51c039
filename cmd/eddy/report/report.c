/*
 * report/report.c - `eddy report`: reads the files of a run, which may still be active, and writes
 * the page.
 *
 * The files are not locked. Each file is read up to its size at the start, so the report ends even
 * if the run writes faster than the report reads. The errors file is opened first: a run removes a
 * failure from it after the answer is in the output.
 *
 * With --by, failures are read twice: only after all lines is it known which of them count.
 */
#include "report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch/answer/belonging.h"
#include "batch/answer/shard_seen.h"
#include "batch/request/line_id.h"
#include "batch/request/walk.h"
#include "common/console.h"
#include "common/draft.h"
#include "common/file_lock.h"
#include "common/inputs.h"
#include "common/lines.h"
#include "common/read_some.h"
#include "common/reading.h"
#include "common/reading_show.h"
#include "common/replace.h"
#include "common/unpack.h"
#include "eddy/alloc.h"
#include "eddy/time.h"
#include "report/causes.h"
#include "report/opts.h"
#include "report/page.h"
#include "report/totals.h"

enum { WAIT_MS = 200, READ_BYTES = 64 << 10 };

/* A file to read. */
struct report_file {
        const char *option; /* for messages */
        const char *path;
        bool is_output, is_log;
        bool has_failures; /* that are to be read again */
        int fd;
        uint64_t left; /* bytes to read; UINT64_MAX: to the end */
        struct stat st;
};

struct report {
        struct ed_report_opts opts;
        struct ed_totals totals;
        struct ed_completeness completeness;
        struct ed_walk walk; /* of the file of requests */
        struct ed_record record;
        struct report_file files[3]; /* errors, answers, log */
        unsigned files_count;
        bool is_again;              /* failures are read again */
        struct ed_shard_seen shard; /* of the answers */
        char buf[READ_BYTES];
};

/* ---- reading ------------------------------------------------------------------------------- */

/* Add the id of a line of the input. */
static int id_take(void *arg, const struct ed_line *line)
{
        struct report *report = arg;
        struct ed_completeness *completeness = &report->completeness;
        struct ed_line_id id;
        int more = ed_line_id_read(&report->walk.rules, line, &id);

        if (more <= 0)
                return more;
        return id.is_empty ? ed_completeness_empty(completeness, id.text, id.bytes)
                           : ed_completeness_request(completeness, id.text, id.bytes);
}

/* Read the ids of the requests. Returns the exit code. */
static int input_read(struct report *report)
{
        const struct ed_report_opts *opts = &report->opts;
        int code;

        if (!opts->by)
                return 0;
        report->completeness.input = opts->by;
        report->completeness.shard = report->walk.shard = opts->shard;
        code = ed_empty_option_open(&report->opts.empty, "report", &report->walk.rules);
        if (code)
                return code;
        report->walk.rules.id_column = opts->id_column;
        code = ed_walk_requests(&report->walk, opts->by, strcmp(opts->format, "csv") == 0, id_take,
                                report);
        report->completeness.is_table = report->walk.columns != NULL;
        return code;
}

static enum ed_completeness_result result_of(const struct ed_record *record)
{
        if (record->is_ok)
                return ED_COMPLETENESS_OK;
        if (record->is_named)
                return ED_COMPLETENESS_NAMED;
        if (record->is_for_good)
                return ED_COMPLETENESS_FOR_GOOD;
        return record->is_final ? ED_COMPLETENESS_FINAL : ED_COMPLETENESS_FAILED;
}

/* Count an answer or a failure, unless it does not count, or not yet. */
static void record_count(struct report *report, struct report_file *file)
{
        const struct ed_record *record = &report->record;
        bool counts;

        if (!report->is_again && record->is_ok)
                ed_shard_seen_add(&report->shard, record->shard);
        if (report->is_again && record->is_ok)
                return;
        if (report->is_again)
                counts = ed_completeness_failure(&report->completeness, record->whole_id,
                                                 record->whole_id_bytes, result_of(record));
        else
                counts = ed_completeness_line(&report->completeness, record->whole_id,
                                              record->whole_id_bytes, result_of(record));
        file->has_failures |= !record->is_ok && !counts;
        if (counts)
                ed_totals_add(&report->totals, record);
}

/* Count a line. Returns false if the line does not have the format of its file. */
static bool report_line_add(struct report *report, struct report_file *file,
                            const struct ed_line *line)
{
        struct ed_record_attempt attempt;

        if (line->is_too_long)
                return false;
        if (file->is_log) {
                if (ed_record_read_log(line->data, line->bytes, &attempt) < 0)
                        return false;
                ed_totals_add_log(&report->totals, &attempt);
                return true;
        }
        report->record.is_output = file->is_output;
        if (ed_record_read(&report->record, line->data, line->bytes) < 0)
                return false;
        record_count(report, file);
        return true;
}

/* Count a line that does not have the format of its file, at the first reading. */
static void damage_count(struct report *report, const struct report_file *file, bool at_end)
{
        if (report->is_again)
                return;
        if (at_end)
                report->totals.torn++;
        else if (file->is_log)
                report->totals.log_damaged++;
        else
                report->totals.damaged++;
}

/*
 * Count the complete lines. At the end of the file, the bytes after the last line feed count only
 * if they are a complete line, because the run may still be writing them.
 */
static void lines_count(struct report *report, struct report_file *file, struct ed_lines *lines,
                        bool at_end)
{
        struct ed_line line;

        while (ed_lines_next(lines, at_end, &line))
                if (!ed_answer_is_blank(line.data, line.bytes) &&
                    !report_line_add(report, file, &line))
                        damage_count(report, file, at_end);
}

/* Decompress bytes that were read, 0 at the end, and count their lines. */
static int bytes_take(struct report *report, struct report_file *file, struct ed_unpack *unpack,
                      struct ed_lines *lines, size_t bytes)
{
        const char *data = bytes > 0 ? report->buf : NULL;
        int64_t n = 1;

        while (n > 0) {
                size_t room_bytes, taken;
                char *room = ed_lines_room(lines, &room_bytes);

                if (!room)
                        return -ENOMEM;
                n = ed_unpack_some(unpack, data, bytes, &taken, room, room_bytes);
                if (n < 0)
                        return n == -EINVAL ? -EBADMSG : (int) n;
                data = data ? data + taken : NULL;
                bytes -= taken;
                ed_lines_grow(lines, (size_t) n);
                lines_count(report, file, lines, false);
        }
        return 0;
}

static int file_read(struct report *report, struct report_file *file)
{
        uint64_t left = file->left, done = 0;
        struct ed_reading reading;
        struct ed_unpack unpack;
        struct ed_lines lines;
        ssize_t n = 1;
        int err = 0;

        ed_reading_begin(&reading, file->path, left == UINT64_MAX ? 0 : left);
        ed_unpack_init(&unpack);
        ed_lines_init(&lines, ED_DRAFT_BYTES_MAX, false);
        while (err == 0 && n > 0) {
                size_t bytes = left < READ_BYTES ? (size_t) left : READ_BYTES;

                n = bytes > 0 ? ed_read_some(file->fd, report->buf, bytes, -1) : 0;
                err = n < 0 ? (int) n : bytes_take(report, file, &unpack, &lines, (size_t) n);
                if (n > 0 && left != UINT64_MAX)
                        left -= (uint64_t) n;
                done += n > 0 ? (uint64_t) n : 0;
                ed_reading_at(&reading, done);
        }
        ed_reading_end();
        if (err == 0)
                lines_count(report, file, &lines, true);
        ed_lines_fini(&lines);
        ed_unpack_fini(&unpack);
        return err;
}

/* Open a file of the run. Returns 0 or an error. */
static int file_open_to_read(struct report *report, const char *option, const char *path)
{
        struct report_file *file = &report->files[report->files_count];

        *file = (struct report_file){ .option = option, .path = path, .left = UINT64_MAX };
        file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (file->fd < 0)
                return -errno;
        report->files_count++;
        if (fstat(file->fd, &file->st) < 0)
                return -errno;
        if (S_ISDIR(file->st.st_mode))
                return -EISDIR;
        if (S_ISREG(file->st.st_mode))
                file->left = (uint64_t) file->st.st_size;
        return 0;
}

static int read_refuse(const char *option, const char *path, int err)
{
        ed_console_say("report", "%s %s: %s", option, path,
                       err == -ENOMEM    ? "out of memory"
                       : err == -EBADMSG ? "the compressed data are damaged or end early"
                                         : strerror(-err));
        return ED_EXIT_INPUT;
}

/*
 * Open the errors file and the output. `eddy batch` writes both to one file if both have the same
 * name. Returns the exit code.
 */
static int answers_open(struct report *report)
{
        struct ed_report_opts *opts = &report->opts;
        struct report_file *output;
        int err = opts->errors ? file_open_to_read(report, "--errors", opts->errors) : 0;

        if (err < 0)
                return read_refuse("--errors", opts->errors, err);
        output = &report->files[report->files_count];
        err = file_open_to_read(report, "OUT", opts->answers);
        if (err < 0)
                return read_refuse("OUT", opts->answers, err);
        if (opts->errors && output->st.st_ino == report->files[0].st.st_ino &&
            output->st.st_dev == report->files[0].st.st_dev) {
                close(report->files[0].fd);
                report->files[0] = *output;
                output = &report->files[--report->files_count - 1];
                opts->errors = NULL;
        }
        output->is_output = true;
        report->completeness.is_active = ed_file_lock_is_held(output->fd);
        return 0;
}

/* Open all files. Returns the exit code. */
static int files_open(struct report *report)
{
        struct ed_report_opts *opts = &report->opts;
        int err = answers_open(report);

        if (err || !opts->log)
                return err;
        err = file_open_to_read(report, "--log", opts->log);
        if (err < 0)
                return read_refuse("--log", opts->log, err);
        report->files[report->files_count - 1].is_log = true;
        report->totals.has_log = true;
        return 0;
}

/* Refuse files that do not belong together. Returns 0 or the exit code. */
static int belonging_check(const struct report *report)
{
        const struct ed_report_opts *opts = &report->opts;
        const struct ed_completeness *completeness = &report->completeness;
        const struct ed_shard_seen *shard = &report->shard;

        if (ed_completeness_is_empty(completeness))
                return 0; /* the answers are those of another day */
        if (opts->shard.count > 0 && completeness->placed == 0 &&
            ed_shard_seen_differs(shard, opts->shard)) {
                ed_console_say("report",
                               "%s: the output is of shard %u/%u, not of %u/%u: give --shard %u/%u",
                               opts->answers, shard->shard.index, shard->shard.count,
                               opts->shard.index, opts->shard.count, shard->shard.index,
                               shard->shard.count);
                return ED_EXIT_INPUT;
        }
        return ed_belonging_check(
                "report", &(struct ed_belonging){ .answers = opts->answers,
                                                  .requests = opts->by,
                                                  .shard = opts->shard,
                                                  .lacks_column = opts->by && !opts->id_column &&
                                                                  strcmp(opts->format, "csv") == 0,
                                                  .placed = completeness->placed,
                                                  .strange = completeness->strange,
                                                  .odd = report->totals.damaged });
}

/* Read the failures of a file again. Returns the exit code. */
static int failures_read(struct report *report, struct report_file *file)
{
        int err = lseek(file->fd, 0, SEEK_SET) < 0 ? -errno : file_read(report, file);

        if (err != -ESPIPE)
                return err < 0 ? read_refuse(file->option, file->path, err) : 0;
        ed_console_say("report",
                       "%s %s: a pipe cannot be read twice, as --by needs: name a file instead",
                       file->option, file->path);
        return ED_EXIT_INPUT;
}

/* Read all files. Returns the exit code. */
static int files_read(struct report *report)
{
        int code = 0;

        report->record.accept = &report->opts.accept;
        report->record.rule = &report->opts.rule;
        for (unsigned i = 0; i < report->files_count; i++) {
                struct report_file *file = &report->files[i];
                int err = file_read(report, file);

                if (err < 0)
                        return read_refuse(file->option, file->path, err);
        }
        report->is_again = true;
        for (unsigned i = 0; code == 0 && i < report->files_count; i++)
                if (report->files[i].has_failures)
                        code = failures_read(report, &report->files[i]);
        return code ? code : belonging_check(report);
}

/* ---- writing ------------------------------------------------------------------------------- */

/* Returns true if a file is empty, or begins as a page does. */
static bool is_replaceable(const char *path)
{
        static const char start[] = "<!DOCTYPE html>";
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        char data[sizeof(start) - 1];
        ssize_t n = fd < 0 ? -1 : ed_read_some(fd, data, sizeof(data), 0);

        if (fd >= 0)
                close(fd);
        return n == 0 || (n == (ssize_t) sizeof(data) && memcmp(data, start, sizeof(data)) == 0);
}

/* Refuse to write the page over a file of the run, or another file that is not a page. */
static int page_check(const struct report *report)
{
        struct stat st;

        if (strcmp(report->opts.page, "-") == 0 || stat(report->opts.page, &st) < 0)
                return 0;
        for (unsigned i = 0; i < report->files_count; i++)
                if (report->files[i].st.st_dev == st.st_dev &&
                    report->files[i].st.st_ino == st.st_ino && S_ISREG(st.st_mode))
                        return ed_console_usage("report",
                                                "-o %s: this is a file of the run; name another",
                                                report->opts.page);
        if (S_ISREG(st.st_mode) && !is_replaceable(report->opts.page))
                return ed_console_usage("report",
                                        "-o %s: this is not a page of eddy report; name another "
                                        "file, or remove it",
                                        report->opts.page);
        return ed_inputs_check("report", "-o", report->opts.page);
}

/* Append the number of lines whose requests are not in the input, or not in its shard. */
static void strange_add(struct ed_draft *text, const struct report *report)
{
        struct ed_shard shard = report->opts.shard;

        if (report->completeness.strange == 0)
                return;
        ed_draft_add_grouped(text, report->completeness.strange);
        ed_draft_add_str(text, report->completeness.strange == 1 ? " line has" : " lines have");
        if (shard.count > 0)
                ed_draft_add_printf(text, " an id that shard %u/%u of %s does not have\n",
                                    shard.index, shard.count, report->opts.by);
        else
                ed_draft_add_printf(text, " an id that %s does not have\n", report->opts.by);
}

/* Append which --shard the output needs, if it is of one shard. */
static void shard_add(struct ed_draft *text, const struct report *report)
{
        const struct ed_shard_seen *seen = &report->shard;
        struct ed_shard shard = report->opts.shard;

        if (shard.count > 0 ? !ed_shard_seen_differs(seen, shard)
                            : !report->opts.by || !ed_shard_seen_is_one(seen) ||
                                      !ed_completeness_lacks(&report->completeness))
                return;
        ed_shard_seen_print(seen, text);
        if (shard.count > 0)
                ed_draft_add_printf(text, ", not of shard %u/%u\n", shard.index, shard.count);
        else
                ed_draft_add_printf(text, ": add --shard %u/%u to count only its requests\n",
                                    seen->shard.index, seen->shard.count);
}

/* Print whether all is complete, and the causes of failures. */
static void text_print(const struct report *report)
{
        struct ed_draft text = { 0 };

        ed_draft_add_str(&text, "eddy report: ");
        ed_completeness_print(&report->completeness, &text);
        ed_draft_add_str(&text, "\n");
        strange_add(&text, report);
        shard_add(&text, report);
        if (report->completeness.empty > 0) {
                ed_draft_add_grouped(&text, report->completeness.empty);
                ed_draft_add_printf(&text, " %s empty, and %s left out\n",
                                    report->completeness.empty == 1 ? "request is" : "requests are",
                                    report->completeness.empty == 1 ? "is" : "are");
        }
        ed_causes_add(&text, &report->totals);
        if (strcmp(report->opts.page, "-") != 0)
                ed_draft_add_printf(&text, "the page: %s\n", report->opts.page);
        if (ed_draft_is_whole(&text)) {
                ed_console_mask(text.data, text.bytes, "\n");
                (void) ed_console_write(text.data, text.bytes, WAIT_MS);
        }
        ed_draft_fini(&text);
}

static int page_make(const struct report *report)
{
        const struct ed_report_opts *opts = &report->opts;
        struct ed_page page = { .title = opts->title,
                                .output = opts->answers,
                                .errors = opts->errors,
                                .log = opts->log,
                                .completeness = &report->completeness,
                                .made_ms = eddy_time_of_day() / EDDY_MS(1),
                                .has_price = opts->has_price,
                                .price = opts->price };
        struct ed_draft out = { 0 };
        int err = -ENOMEM;

        ed_page_add(&out, &page, &report->totals);
        if (ed_draft_is_whole(&out))
                err = ed_replace_whole(opts->page, out.data, out.bytes);
        ed_draft_fini(&out);
        if (err == 0)
                text_print(report);
        if (err == 0 || (err == -EPIPE && strcmp(opts->page, "-") == 0))
                return opts->check && ed_completeness_lacks(&report->completeness) ? ED_EXIT_FAILED
                                                                                   : ED_EXIT_OK;
        ed_console_say("report", "-o %s: %s", opts->page,
                       err == -ENOMEM ? "out of memory" : strerror(-err));
        return ED_EXIT_OUTPUT;
}

int ed_report_main(int argc, char **argv)
{
        struct report *report = eddy_malloc(sizeof(*report));
        int code;

        if (!report) {
                ed_console_say("report", "out of memory");
                return ED_EXIT_FAILED;
        }
        memset(report, 0, sizeof(*report));
        report->walk.command = "report";
        if (ed_report_opts_parse(&report->opts, argc, argv, &code) == 0) {
                ed_reading_show("report", ed_show_choose(ED_SHOW_AUTO, report->opts.page));
                code = files_open(report);
                if (code == 0)
                        code = page_check(report);
                if (code == 0)
                        code = input_read(report);
                if (code == 0)
                        code = files_read(report);
                if (code == 0) {
                        ed_totals_sort(&report->totals);
                        code = page_make(report);
                }
        }
        for (unsigned i = 0; i < report->files_count; i++)
                close(report->files[i].fd);
        ed_empty_option_fini(&report->opts.empty, &report->walk.rules);
        ed_rule_fini(&report->opts.rule);
        ed_shard_names_fini(&report->opts.names);
        ed_accept_fini(&report->opts.accept);
        ed_completeness_fini(&report->completeness);
        ed_walk_fini(&report->walk);
        eddy_free(report);
        return code;
}
