/*
 * collect/collect.c - reads the requests and the outputs, and writes the answers in the order of the
 * requests.
 *
 * The outputs are not locked: a run may be writing to them. Each is read once, up to its size when it
 * was opened. The requests are read a second time if some lack answers, for their ids and their shards.
 */
#include "collect/collect.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch/answer/answer_line.h"
#include "batch/answer/belonging.h"
#include "batch/answer/shard_mark.h"
#include "batch/request/line_id.h"
#include "batch/request/source.h"
#include "batch/request/walk.h"
#include "batch/sort/merge_sort.h"
#include "collect/collected.h"
#include "collect/findings.h"
#include "collect/opts.h"
#include "collect/parts.h"
#include "collect/pick.h"
#include "collect/shards.h"
#include "common/console.h"
#include "common/file_lock.h"
#include "common/reading_show.h"
#include "common/result.h"
#include "eddy/alloc.h"
#include "report/record.h"
#include "report/totals.h"

enum { WAIT_MS = 200 };

struct collect_run {
        struct ed_collect_opts opts;
        struct ed_parts parts;
        struct ed_walk walk;
        bool is_packed; /* the file of requests */
        struct ed_collected collected;
        struct ed_shards shards;
        struct ed_findings findings;
        struct ed_merge_sort *sorter;
        struct ed_pick pick;
        struct ed_result all, errors;
        const struct ed_result *broken; /* the output that could not be written */
        bool is_closed;                 /* the reader of standard output has ended */
        uint64_t failures;              /* written to 'errors' */
        uint64_t old_odd, old_lost; /* lines of a file to replace: no answers; answers only there */
        struct ed_totals causes;    /* of failures that are not accepted */
        struct ed_record record;

        struct ed_part *part; /* the file that is read */
        const char *path;
        bool has_odd; /* it has a line that is not an answer */
        char path_room[ED_PART_PATH_BYTES];
        char id[ED_ANSWER_ID_ROOM];
};

static int collect_say_memory(void)
{
        ed_console_say("collect", "out of memory");
        return ED_EXIT_FAILED;
}

/* ---- the requests ---------------------------------------------------------------------------- */

static int request_add(void *arg, const struct ed_line *line)
{
        struct collect_run *run = arg;
        struct ed_line_id id;
        int more = ed_line_id_read(&run->walk.rules, line, &id);

        return more <= 0 ? more
                         : ed_collected_request(&run->collected, id.text, id.bytes, line->number,
                                                id.is_empty);
}

/* Read the ids of the requests. Returns 0 or the exit code. */
static int requests_read(struct collect_run *run)
{
        const struct ed_collect_opts *opts = &run->opts;
        int exit_code = ed_walk_requests(&run->walk, opts->by, opts->is_csv, request_add, run);

        if (exit_code)
                return exit_code;
        run->is_packed = run->walk.kind == ED_UNPACK_GZIP || run->walk.kind == ED_UNPACK_ZSTD;
        if (opts->shards > 0 && run->is_packed)
                return ed_console_usage(
                        "collect",
                        "--shards: %s is compressed, and its bytes are not those of "
                        "the runs; name the file that they read",
                        run->opts.by);
        if (run->collected.end == 0 && !run->walk.columns) {
                ed_console_say("collect", "%s: the file of requests has no request", run->opts.by);
                return ED_EXIT_INPUT;
        }
        return ed_collected_seal(&run->collected) < 0 ? collect_say_memory() : 0;
}

/* ---- the outputs ----------------------------------------------------------------------------- */

/* Returns true if a line has its line feed. */
static bool is_ended(const struct ed_line *line)
{
        return line->data[line->next - line->offset - 1] == '\n';
}

/* Note a line that is not an answer: it is damaged, or the last one of a run that was killed. */
static void line_refuse(struct collect_run *run, const struct ed_line *line)
{
        char text[ED_SAMPLE_TEXT_BYTES + 64];
        int n;

        if (!is_ended(line)) {
                n = snprintf(text, sizeof(text), "%.*s (%zu bytes)", ED_SAMPLE_TEXT_BYTES - 32,
                             run->path, line->bytes);
                ed_sample_add(&run->findings.torn, text, (size_t) n);
                return;
        }
        run->findings.odd_lines++;
        if (run->has_odd)
                return;
        run->has_odd = true;
        n = snprintf(text, sizeof(text), "line %" PRIu64 " of %.*s", line->number,
                     ED_SAMPLE_TEXT_BYTES - 32, run->path);
        ed_sample_add(&run->findings.odd, text, (size_t) n);
}

/* Returns 1 if a line is an answer, 0 if it is a failure. Errors: -ENOMEM */
static int line_judge(const struct collect_run *run, const struct ed_answer_seen *seen,
                      bool is_errors)
{
        const struct ed_rule *rule = &run->opts.rule;
        int judged;

        if (!rule->ok && !rule->schema)
                return seen->is_ok;
        judged = ed_rule_judge_line(rule, seen, !is_errors);
        return judged < 0 ? judged : judged != ED_RULE_LINE_FAILED;
}

/* Note the shard of the first line of a file, and that of its first answer. */
static void mark_note(struct collect_run *run, const struct ed_answer_seen *seen, bool is_answer)
{
        struct ed_part *part = run->part;
        char mark[ED_SHARD_MARK_BYTES];
        struct ed_shard shard;
        uint64_t size;

        if (part->first > 0 && (part->has_answer || !is_answer))
                return;
        ed_shard_mark_read(seen, mark);
        if (part->first == 0)
                ed_shards_mark(&run->shards, mark);
        if (!is_answer)
                return;
        part->has_answer = true;
        part->is_marked = ed_shard_mark_parse(mark, &shard, &size);
        part->marked_index = part->is_marked ? shard.index : 0;
}

/* Note the first and the last request of a file. */
static void place_note(struct ed_part *part, uint64_t place)
{
        if (part->first == 0 || place < part->first)
                part->first = place;
        if (place > part->last)
                part->last = place;
}

static int line_collect(struct collect_run *run, const struct ed_line *line,
                        const struct ed_answer_seen *seen)
{
        int is_answer = line_judge(run, seen, run->part->is_errors), err;
        uint64_t place;

        if (is_answer < 0)
                return is_answer;
        err = ed_collected_line(&run->collected, seen->id, seen->id_bytes, is_answer, &place);
        if (err < 0 || place == ED_PLACE_NONE)
                return err;
        mark_note(run, seen, is_answer);
        place_note(run->part, place);
        err = ed_merge_sort_add(run->sorter, ed_pick_key(place, is_answer), line->data,
                                line->bytes);
        return err < 0 ? ed_walk_end(&run->walk, ed_result_temporary_fault(&run->all, err)) : 0;
}

static int line_add(void *arg, const struct ed_line *line)
{
        struct collect_run *run = arg;
        struct ed_answer_seen seen;

        if (line->is_too_long) {
                ed_console_say("collect", "%s: line %" PRIu64 " is longer than %zu MiB", run->path,
                               line->number, ED_DRAFT_BYTES_MAX >> 20);
                return ed_walk_end(&run->walk, ED_EXIT_INPUT);
        }
        if (ed_answer_is_blank(line->data, line->bytes))
                return 0;
        if (ed_answer_read(line->data, line->bytes, run->id, &seen) == 0)
                return line_collect(run, line, &seen);
        line_refuse(run, line);
        return 0;
}

/* Read a file. Returns 0 or the exit code. */
static int part_read(struct collect_run *run, struct ed_part *part)
{
        const struct ed_say say = ed_console_voice("collect");
        struct ed_source_opts opts = { .say = &say,
                                       .path = run->path_room,
                                       .line_bytes_max = ED_DRAFT_BYTES_MAX,
                                       .rules = &run->walk.rules,
                                       .take = line_add,
                                       .arg = run };
        struct ed_source source;
        struct stat st;
        int fd, err, exit_code;

        if (!ed_part_path(&run->parts, part, run->path_room))
                return 0; /* an errors file that its run has just removed */
        run->part = part;
        run->path = run->path_room;
        run->has_odd = false;
        exit_code = ed_source_open(&say, run->path, &st, &fd);
        if (exit_code)
                return exit_code;
        if (S_ISREG(st.st_mode)) {
                part->is_active = ed_file_lock_is_held(fd);
                if (part->is_active && !part->is_errors) /* a run locks both its files */
                        ed_sample_add(&run->findings.active, run->path, strlen(run->path));
                opts.range.bytes = (uint64_t) st.st_size;
        }
        err = ed_source_init(&source, &opts);
        if (err == 0)
                err = ed_source_read(&source, fd, -1);
        ed_source_fini(&source);
        if (fd != STDIN_FILENO)
                close(fd);
        if (err == -ECANCELED)
                return run->walk.exit_code;
        return err < 0 ? ed_source_fault(&say, run->path, err) : 0;
}

/* Refuse files that do not belong together. Returns 0 or the exit code. */
static int collect_places_check(const struct collect_run *run)
{
        const struct ed_collected *collected = &run->collected;
        bool lacks_column = run->opts.is_csv && !run->opts.id_column;

        return ed_belonging_check("collect",
                                  &(struct ed_belonging){ .answers = run->parts.names[0],
                                                          .requests = run->opts.by,
                                                          .lacks_column = lacks_column,
                                                          .placed = collected->placed,
                                                          .strange = collected->foreign.count,
                                                          .odd = run->findings.odd_lines });
}

static int parts_read(struct collect_run *run)
{
        int exit_code = 0;

        for (size_t i = 0; exit_code == 0 && i < run->parts.count; i++)
                exit_code = part_read(run, &run->parts.items[i]);
        return exit_code ? exit_code : collect_places_check(run);
}

/* ---- the files to replace --------------------------------------------------------------------- */

/* Count what a file to replace has that the outputs do not have. */
static int old_take(void *arg, const struct ed_line *line)
{
        struct collect_run *run = arg;
        struct ed_collected *collected = &run->collected;
        struct ed_answer_seen seen;
        uint64_t place;
        int is_answer;

        if (ed_answer_is_blank(line->data, line->bytes))
                return 0;
        if (line->is_too_long || ed_answer_read(line->data, line->bytes, run->id, &seen) < 0) {
                run->old_odd += is_ended(line);
                return 0;
        }
        is_answer = line_judge(run, &seen, false);
        if (is_answer < 0)
                return is_answer;
        place = ed_id_places_find(&collected->places, seen.id, seen.id_bytes);
        run->old_lost +=
                is_answer && place != ED_PLACE_NONE && !ed_bits_has(&collected->answered, place);
        return 0;
}

/* Read a file to replace, if it has anything. Returns 0 or the exit code. */
static int old_read(struct collect_run *run, const char *path)
{
        const struct ed_say say = ed_console_voice("collect");
        struct ed_source_opts opts = { .say = &say,
                                       .path = path,
                                       .line_bytes_max = ED_DRAFT_BYTES_MAX,
                                       .rules = &run->walk.rules,
                                       .take = old_take,
                                       .arg = run };
        struct ed_source source;
        struct stat st;
        int fd, err, exit_code;

        run->old_odd = run->old_lost = 0;
        if (!path || stat(path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
                return 0;
        exit_code = ed_source_open(&say, path, &st, &fd);
        if (exit_code)
                return exit_code;
        err = ed_source_init(&source, &opts);
        if (err == 0)
                err = ed_source_read(&source, fd, -1);
        ed_source_fini(&source);
        close(fd);
        return err < 0 ? ed_source_fault(&say, path, err) : 0;
}

/* Refuse to replace a file with answers that no output has, or of another kind. Returns 0 or the exit code. */
static int old_check(struct collect_run *run)
{
        const struct ed_collect_opts *opts = &run->opts;
        char room[ED_GROUPED_BYTES];
        int exit_code = old_read(run, opts->output);

        if (exit_code == 0 && run->old_lost > 0)
                return ed_console_usage("collect",
                                        "-o %s: this file has %s answer%s that the outputs lack, "
                                        "and would be replaced: name it as one of OUT, and another "
                                        "file as -o",
                                        opts->output, ed_grouped(run->old_lost, room),
                                        run->old_lost == 1 ? "" : "s");
        if (exit_code == 0 && run->old_odd > 0)
                return ed_console_usage(
                        "collect",
                        "-o %s: this file has lines that are not answers, and would "
                        "be replaced: name another file, or remove it",
                        opts->output);
        if (exit_code == 0)
                exit_code = old_read(run, opts->errors);
        if (exit_code == 0 && run->old_odd > 0)
                return ed_console_usage("collect",
                                        "--errors %s: this file has lines that are not failures, "
                                        "and would be replaced: name another file, or remove it",
                                        opts->errors);
        return exit_code;
}

/* ---- the result ------------------------------------------------------------------------------ */

static int text_write(struct collect_run *run, struct ed_result *result, const char *text,
                      size_t bytes)
{
        int err = ed_result_add(result, text, bytes);

        if (err == -EPIPE && !result->path) {
                run->is_closed = true; /* the findings are still of use */
                return 0;
        }
        if (err < 0)
                run->broken = result;
        return err;
}

/* Note a failure: its cause, unless it is accepted. Returns as ed_collected_failed(). */
static int failure_note(struct collect_run *run, uint64_t place)
{
        const struct ed_record *record = &run->record;
        enum ed_collected_failure failure = ED_COLLECTED_AGAIN;
        int err;

        /* As in a run: if no request has an answer, the command or the server is likely to be wrong. */
        if (record->is_named || (record->is_final && run->collected.answered_count > 0))
                failure = ED_COLLECTED_ACCEPTED;
        else if (record->is_for_good && run->collected.answered_count > 0)
                failure = ED_COLLECTED_FOR_GOOD;
        err = ed_collected_failed(&run->collected, record->whole_id, record->whole_id_bytes, place,
                                  failure);
        if (err > 0 && failure != ED_COLLECTED_ACCEPTED)
                ed_totals_add(&run->causes, record);
        return err;
}

/* Write a failure, and find out if it is accepted. */
static int failure_write(struct collect_run *run, uint64_t place, const char *line, size_t bytes)
{
        int err;

        if (ed_record_read(&run->record, line, bytes - 1) < 0)
                return -EINVAL; /* cannot be: the line was read before */
        err = failure_note(run, place);
        if (err <= 0 || !run->opts.errors)
                return err < 0 ? err : 0;
        run->failures++;
        return text_write(run, &run->errors, line, bytes);
}

static int picked_write(void *arg, uint64_t place, bool is_answer, const char *line, size_t bytes)
{
        struct collect_run *run = arg;

        if (!is_answer)
                return failure_write(run, place, line, bytes);
        return run->is_closed ? 0 : text_write(run, &run->all, line, bytes);
}

/* Complete both files. The answers come first: if they fail, nothing was changed. */
static int results_finish(struct collect_run *run)
{
        int err = run->is_closed ? 0 : ed_result_finish(&run->all);

        run->broken = &run->all;
        if (err == -EPIPE && !run->all.path)
                err = 0;
        if (err < 0 || !run->opts.errors)
                return err;
        run->broken = &run->errors;
        return run->failures > 0 ? ed_result_finish(&run->errors) : ed_result_remove(&run->errors);
}

/* Write the files. Returns 0 or the exit code. */
static int results_write(struct collect_run *run)
{
        bool is_disk = false;
        int err;

        run->pick.fn = picked_write;
        run->pick.arg = run;
        err = ed_merge_sort_finish(run->sorter, ed_pick_take, &run->pick, &is_disk);
        if (is_disk)
                return ed_result_temporary_fault(&run->all, err);
        if (err == 0)
                err = ed_pick_finish(&run->pick);
        if (err == 0)
                err = results_finish(run);
        if (err < 0)
                return run->broken && err != -ENOMEM ? ed_result_fault(run->broken, err)
                                                     : collect_say_memory();
        run->findings.equal = run->pick.equal;
        return 0;
}

/* ---- the findings ---------------------------------------------------------------------------- */

/* Find the ids of requests without an answer, and the shards of those that lack one. */
static int lack_note(void *arg, const struct ed_line *line)
{
        struct collect_run *run = arg;
        struct ed_collected *collected = &run->collected;
        struct ed_sample *ids = &collected->missing_ids;
        struct ed_line_id id;
        int err = ed_shards_line(&run->shards, line->number, line->offset,
                                 ed_bits_has(&collected->lacking, line->number));

        if (err < 0)
                return err;
        if (ids->count == ED_SAMPLE_MAX || ids->count == collected->missing_count)
                return run->shards.count > 0 ? 0 : ed_walk_end(&run->walk, 0);
        if (!ed_bits_has(&collected->missing, line->number))
                return 0;
        err = ed_line_id_read(&run->walk.rules, line, &id);
        if (err > 0)
                ed_sample_add(ids, id.text, id.bytes);
        return err < 0 ? err : 0;
}

/* Read the requests again, if they can be read again. Returns 0 or the exit code. */
static int lacks_find(struct collect_run *run)
{
        struct ed_collected *collected = &run->collected;
        struct stat st;
        int exit_code;

        if (ed_collected_end(collected) < 0)
                return collect_say_memory();
        if (collected->missing_count + collected->failed_count == collected->for_good_count ||
            stat(run->opts.by, &st) < 0 || !S_ISREG(st.st_mode))
                return 0;
        run->shards.input = run->opts.by;
        run->shards.size = run->is_packed ? 0 : (uint64_t) st.st_size;
        if (!run->opts.is_csv && !run->is_packed && ed_shards_begin(&run->shards, &run->parts) < 0)
                return collect_say_memory();
        exit_code = ed_walk_requests(&run->walk, run->opts.by, run->opts.is_csv, lack_note, run);
        if (collected->missing_ids.count == ED_SAMPLE_MAX)
                collected->missing_ids.count = collected->missing_count;
        return exit_code;
}

static void findings_show(const struct collect_run *run)
{
        struct ed_draft text = { 0 };

        ed_draft_add_str(&text, "eddy collect: ");
        ed_findings_print(&run->findings, &text);
        if (ed_draft_is_whole(&text)) {
                ed_console_mask(text.data, text.bytes, "\n");
                (void) ed_console_write(text.data, text.bytes, WAIT_MS);
        }
        ed_draft_fini(&text);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Find the files to collect, and open those to write. Returns 0 or the exit code. */
static int files_prepare(struct collect_run *run)
{
        const struct ed_collect_opts *opts = &run->opts;
        const struct ed_parts_taboo taboos[] = {
                { opts->by, "this is the file of requests, --by IN; name the outputs" },
                { opts->output, "this file is also that of -o ALL; name another as ALL" },
                { opts->errors,
                  "this is the errors file of ALL; name another as ALL, or --errors" },
                { NULL, NULL },
        };
        int exit_code = ed_parts_find(&run->parts, taboos);

        if (exit_code == 0)
                exit_code = ed_result_open(&run->all, opts->output);
        if (exit_code == 0 && ed_result_is(&run->all, opts->by))
                return ed_console_usage("collect",
                                        "-o %s: this is the file of requests; name another file",
                                        opts->output);
        if (exit_code == 0 && opts->errors)
                exit_code = ed_result_open(&run->errors, opts->errors);
        if (exit_code == 0 && opts->errors && ed_result_is(&run->errors, opts->by))
                return ed_console_usage("collect",
                                        "--errors %s: this is the file of requests; name another "
                                        "file",
                                        opts->errors);
        if (exit_code == 0 &&
            ed_merge_sort_new((size_t) opts->memory, ed_result_folder(&run->all), &run->sorter) < 0)
                exit_code = collect_say_memory();
        return exit_code;
}

static int collect(struct collect_run *run)
{
        int exit_code;

        run->walk.command = "collect";
        run->walk.rules.id_column = run->opts.id_column;
        run->parts.names = run->opts.names;
        run->parts.names_count = run->opts.names_count;
        run->parts.shards = run->opts.shards;
        run->findings.opts = &run->opts;
        run->findings.collected = &run->collected;
        run->findings.parts = &run->parts;
        run->findings.shards = &run->shards;
        run->findings.causes = &run->causes;
        run->shards.given = run->opts.shards;
        run->record.accept = &run->opts.accept;
        run->record.rule = &run->opts.rule;
        run->record.is_output = true;
        exit_code = ed_empty_option_open(&run->opts.empty, "collect", &run->walk.rules);
        if (exit_code == 0)
                exit_code = files_prepare(run);
        if (exit_code == 0)
                exit_code = requests_read(run);
        if (exit_code == 0)
                exit_code = parts_read(run);
        if (exit_code == 0)
                exit_code = old_check(run);
        if (exit_code == 0)
                exit_code = results_write(run);
        if (exit_code)
                return exit_code;
        exit_code = lacks_find(run);
        findings_show(run);
        return exit_code == 0 && !ed_collected_is_whole(&run->collected) ? ED_EXIT_FAILED
                                                                         : exit_code;
}

int ed_collect_main(int argc, char **argv)
{
        struct collect_run *run = eddy_malloc(sizeof(*run));
        int exit_code;

        if (!run)
                return collect_say_memory();
        memset(run, 0, sizeof(*run));
        ed_collected_init(&run->collected);
        ed_result_init(&run->all, "collect");
        ed_result_init(&run->errors, "collect");
        run->errors.option = "--errors";
        if (ed_collect_opts_parse(&run->opts, argc, argv, &exit_code) == 0) {
                ed_reading_show("collect", ed_show_choose(ED_SHOW_AUTO, run->opts.output));
                exit_code = collect(run);
        }
        ed_pick_fini(&run->pick);
        ed_merge_sort_free(run->sorter);
        ed_shards_fini(&run->shards);
        ed_parts_fini(&run->parts);
        ed_collected_fini(&run->collected);
        ed_walk_fini(&run->walk);
        ed_result_end(&run->errors);
        ed_result_end(&run->all);
        ed_empty_option_fini(&run->opts.empty, &run->walk.rules);
        ed_collect_opts_fini(&run->opts);
        eddy_free(run);
        return exit_code;
}
