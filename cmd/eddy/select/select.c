/*
 * select/select.c - reads the requests, the answers and the failures, and writes the table.
 *
 * The files are not locked: a run may be writing to them. Without --by, the answers are read twice,
 * the first time for the places of their ids; between the two, lines may be added and moved.
 *
 * A run moves lines between the errors file and the output: it writes the new line, and then removes the
 * old one. The failures are read before the answers, and again afterwards if their file has changed.
 * Otherwise a line that is moved between the two could be missed.
 */
#include "select/select.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "batch/answer/belonging.h"
#include "batch/answer/shard_seen.h"
#include "batch/request/line_id.h"
#include "batch/request/walk.h"
#include "batch/sort/id_places.h"
#include "common/bits.h"
#include "common/console.h"
#include "common/inputs.h"
#include "common/reading_show.h"
#include "common/result.h"
#include "report/record.h"
#include "select/opts.h"
#include "select/rows.h"
#include "select/table.h"

struct select_run {
        struct ed_select_opts opts;
        struct ed_walk walk;
        struct ed_id_places places;
        struct ed_merge_sort *sorter;
        struct ed_result result;
        struct ed_rows rows;
        struct ed_table table;
        struct ed_record record;
        struct ed_draft piece, blank_end;

        const char *path;       /* the file of answers or errors that is read */
        uint64_t places_before; /* without --by: of the lines of the file before it */
        struct ed_bits begun;   /* without --by: the places whose rows have their first piece */
        uint64_t lines;         /* of the present file */
        bool is_ready;          /* the columns are known */
        bool is_again;          /* failures are read again: those of known requests count */
        uint64_t odd, strange;  /* lines that are not answers; with an id that IN does not have */
        uint64_t strange_ok;    /* those of them that are answers */
        uint64_t placed, strange_failed;
        struct ed_shard_seen shard; /* of the answers */
};

static int select_say_memory(void)
{
        ed_console_say("select", "out of memory");
        return ED_EXIT_FAILED;
}

static int piece_add(struct select_run *run, uint64_t place, enum ed_table_kind kind)
{
        int err = ed_table_add(&run->table, place, kind, &run->piece);

        return err < 0 ? ed_walk_end(&run->walk, ed_result_temporary_fault(&run->result, err)) : 0;
}

/* ---- the columns ----------------------------------------------------------------------------- */

/* Find the columns, once the first row of the input is known. Returns 0 or the exit code. */
static int columns_ready(struct select_run *run)
{
        struct ed_rows *rows = &run->rows;
        char error[ED_COLUMN_ERROR_BYTES];
        const char *repeated;
        int err;

        if (run->is_ready)
                return 0;
        run->is_ready = true;
        err = ed_kept_resolve(&run->opts.kept, run->walk.columns, rows->id_name, error);
        if (err == -ENOMEM)
                return select_say_memory();
        if (err < 0)
                return ed_console_usage("select", "%s", error);
        repeated = ed_rows_repeated_name(rows);
        if (repeated)
                return ed_console_usage(
                        "select",
                        "two columns are named %s: give one of them another name, as "
                        "--select NAME=PTR or --keep NAME=%s",
                        repeated, repeated);
        ed_rows_add_blank_end(rows, "not answered", &run->blank_end);
        run->table.blank_end = run->blank_end.data;
        run->table.blank_end_bytes = run->blank_end.bytes;
        return ed_draft_is_whole(&run->blank_end) ? 0 : select_say_memory();
}

/* ---- the requests ---------------------------------------------------------------------------- */

static int request_take(void *arg, const struct ed_line *line)
{
        struct select_run *run = arg;
        struct ed_line_id id;
        int err = columns_ready(run);

        if (err)
                return ed_walk_end(&run->walk, err);
        err = ed_line_id_read(&run->walk.rules, line, &id);
        if (err <= 0)
                return err;
        err = ed_id_places_add(&run->places, id.text, id.bytes, line->number);
        if (err < 0)
                return err;
        ed_table_piece_begin(&run->piece);
        ed_rows_add_begin(&run->rows, id.text, id.bytes, line->data, line->bytes, &run->piece);
        err = piece_add(run, line->number, ED_TABLE_ROW);
        if (err < 0 || !id.is_empty)
                return err;
        ed_table_piece_begin(&run->piece);
        ed_rows_add_blank_end(&run->rows, "skipped: empty", &run->piece);
        return piece_add(run, line->number, ED_TABLE_EMPTY);
}

/* ---- the answers ----------------------------------------------------------------------------- */

/* Read a line of answers. Returns 1; 0 if it is none; or ends the walk. */
static int record_take(struct select_run *run, const struct ed_line *line)
{
        run->lines = line->number;
        if (line->is_too_long) {
                ed_console_say("select", "%s: line %" PRIu64 " is longer than %zu MiB", run->path,
                               line->number, ED_DRAFT_BYTES_MAX >> 20);
                return ed_walk_end(&run->walk, ED_EXIT_INPUT);
        }
        if (ed_answer_is_blank(line->data, line->bytes))
                return 0;
        return ed_record_read(&run->record, line->data, line->bytes) == 0 ? 1 : -EINVAL;
}

/* Without --by: the place of an id is that of its first line. */
static int answer_place(void *arg, const struct ed_line *line)
{
        struct select_run *run = arg;
        int kind = record_take(run, line);

        if (kind == 0 || kind == -EINVAL)
                return 0;
        if (kind < 0)
                return kind;
        return ed_id_places_add(&run->places, run->record.whole_id, run->record.whole_id_bytes,
                                run->places_before + line->number);
}

/* Begin the piece of an answer that has no request: a whole row. */
static int strange_add(struct select_run *run)
{
        struct ed_record *record = &run->record;

        run->strange++;
        run->strange_ok += record->is_ok;
        run->strange_failed += !record->is_ok;
        ed_table_piece_begin(&run->piece);
        ed_rows_add_begin(&run->rows, record->whole_id, record->whole_id_bytes, NULL, 0,
                          &run->piece);
        ed_rows_add_end(&run->rows, record, &run->piece);
        return piece_add(run, ED_PLACE_NONE, ED_TABLE_STRANGE);
}

/* Without --by: the row of a place begins with its first line. Ends the walk on an error. */
static int row_begin(struct select_run *run, uint64_t place)
{
        const struct ed_record *record = &run->record;
        int added = ed_bits_add(&run->begun, place);

        if (added <= 0)
                return added;
        ed_table_piece_begin(&run->piece);
        ed_rows_add_begin(&run->rows, record->whole_id, record->whole_id_bytes, NULL, 0,
                          &run->piece);
        return piece_add(run, place, ED_TABLE_ROW);
}

static int answer_take(void *arg, const struct ed_line *line)
{
        struct select_run *run = arg;
        struct ed_record *record = &run->record;
        int kind = record_take(run, line), err = 0;
        uint64_t place;

        if (kind == -EINVAL) {
                run->odd += !run->is_again;
                return 0;
        }
        if (kind <= 0)
                return kind;
        place = ed_id_places_find(&run->places, record->whole_id, record->whole_id_bytes);
        if (place == ED_PLACE_NONE)
                return run->is_again ? 0 : strange_add(run);
        run->placed++;
        if (record->is_ok)
                ed_shard_seen_add(&run->shard, record->shard);
        if (!run->opts.by)
                err = row_begin(run, place);
        if (err < 0)
                return err;
        ed_table_piece_begin(&run->piece);
        ed_rows_add_end(&run->rows, record, &run->piece);
        return piece_add(run, place, record->is_ok ? ED_TABLE_ANSWER : ED_TABLE_FAILURE);
}

/* Read the answers or the failures. Returns 0 or the exit code. */
static int answers_walk(struct select_run *run, const char *path, ed_source_fn *take)
{
        run->path = path;
        run->lines = 0;
        run->record.is_output = path == run->opts.answers;
        return ed_walk_answers(&run->walk, path, take, run);
}

/* Without --by: find the places of all ids. Returns 0 or the exit code. */
static int places_read(struct select_run *run)
{
        int exit_code = answers_walk(run, run->opts.answers, answer_place);

        run->places_before = run->lines;
        if (exit_code == 0 && run->opts.errors)
                exit_code = answers_walk(run, run->opts.errors, answer_place);
        return exit_code;
}

/* Find the errors file, which a run may have made since the start, and its size. */
static void errors_look(struct select_run *run, struct stat *ret_st)
{
        struct ed_select_opts *opts = &run->opts;

        if (!opts->errors && !opts->has_errors)
                ed_select_opts_find_errors(opts);
        if (!opts->errors || stat(opts->errors, ret_st) < 0)
                *ret_st = (struct stat){ 0 };
}

/* Read the failures, the answers, and failures that have come since. Returns 0 or the exit code. */
static int answers_read(struct select_run *run)
{
        struct stat before, after;
        int exit_code = 0;

        errors_look(run, &before);
        if (run->opts.errors)
                exit_code = answers_walk(run, run->opts.errors, answer_take);
        if (exit_code == 0)
                exit_code = answers_walk(run, run->opts.answers, answer_take);
        if (exit_code)
                return exit_code;
        errors_look(run, &after);
        if (!S_ISREG(after.st_mode) ||
            (after.st_ino == before.st_ino && after.st_dev == before.st_dev &&
             after.st_size == before.st_size))
                return 0;
        run->is_again = true;
        return answers_walk(run, run->opts.errors, answer_take);
}

/* ---- the table ------------------------------------------------------------------------------- */

static int row_out(void *arg, const char *data, size_t bytes)
{
        struct select_run *run = arg;

        return ed_result_add(&run->result, data, bytes);
}

/* Write the table. Returns 0 or the exit code. */
static int table_write(struct select_run *run)
{
        bool is_disk = false;
        int err;

        ed_draft_reset(&run->piece, 0);
        ed_rows_add_names(&run->rows, &run->piece);
        if (!ed_draft_is_whole(&run->piece))
                return select_say_memory();
        err = ed_result_add(&run->result, run->piece.data, run->piece.bytes);
        if (err == 0)
                err = ed_table_finish(&run->table, &is_disk);
        if (err == 0)
                err = ed_result_finish(&run->result);
        if (err == -ENOMEM || is_disk)
                return ed_result_temporary_fault(&run->result, err);
        return err < 0 ? ed_result_fault(&run->result, err) : 0;
}

/* Report the numbers of rows. */
static void rows_report(const struct select_run *run)
{
        const struct ed_table *table = &run->table;
        uint64_t answered = table->answered + run->strange_ok;
        uint64_t failed = table->failed + run->strange_failed;
        uint64_t rows = answered + failed + table->unanswered + table->empty;
        char room[5][ED_GROUPED_BYTES];

        ed_console_say("select", "%s: %s row%s: %s answered, %s failed, %s not answered%s%s%s",
                       run->opts.output ? run->opts.output : "standard output",
                       ed_grouped(rows, room[0]), rows == 1 ? "" : "s",
                       ed_grouped(answered, room[1]), ed_grouped(failed, room[2]),
                       ed_grouped(table->unanswered, room[3]), table->empty > 0 ? ", " : "",
                       table->empty > 0 ? ed_grouped(table->empty, room[4]) : "",
                       table->empty > 0 ? " empty" : "");
}

/* Report that the rows of other shards are not answered. */
static void shard_report(const struct select_run *run)
{
        struct ed_draft text = { 0 };

        if (!run->opts.by || run->table.unanswered == 0 || !ed_shard_seen_is_one(&run->shard))
                return;
        ed_shard_seen_print(&run->shard, &text);
        ed_draft_add_str(&text, ": eddy collect joins the outputs of all shards");
        if (ed_draft_is_whole(&text))
                ed_console_say("select", "%.*s", (int) text.bytes, text.data);
        ed_draft_fini(&text);
}

/* Report the rows of the table, and all that a reader of it might miss. */
static void table_report(const struct select_run *run)
{
        const struct ed_table *table = &run->table;
        const struct ed_select_opts *opts = &run->opts;
        uint64_t answers = table->answered + run->strange_ok + table->repeated;
        char room[2][ED_GROUPED_BYTES];

        for (size_t i = 0; i < opts->selected_count; i++) {
                const struct ed_column *column = &opts->selected[i];

                if (column->missing > 0)
                        ed_console_say("select", "column %s: %s of %s answers have no such value",
                                       column->name, ed_grouped(column->missing, room[0]),
                                       ed_grouped(answers, room[1]));
        }
        if (table->repeated > 0)
                ed_console_say("select", "%s %s that a later one of the same id replaces",
                               ed_grouped(table->repeated, room[0]),
                               table->repeated == 1 ? "answer" : "answers");
        if (run->strange > 0 && opts->by)
                ed_console_say("select", "%s %s that %s does not have; now at the end",
                               ed_grouped(run->strange, room[0]),
                               run->strange == 1 ? "line has an id" : "lines have ids", opts->by);
        if (run->odd > 0)
                ed_console_say("select", "%s %s, and left out", ed_grouped(run->odd, room[0]),
                               run->odd == 1 ? "line is not an answer" : "lines are not answers");
        shard_report(run);
        rows_report(run);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Without --by: refuse a pipe, which cannot be read twice. Returns 0 or the exit code. */
static int pipes_check(const struct ed_select_opts *opts)
{
        const char *const paths[] = { opts->answers, opts->errors };
        struct stat st;

        for (size_t i = 0; !opts->by && i < 2; i++)
                if (paths[i] && stat(paths[i], &st) == 0 && S_ISFIFO(st.st_mode))
                        return ed_console_usage("select",
                                                "%s: a pipe has no order of its own: name the file "
                                                "of requests as --by IN, or a file instead of the "
                                                "pipe",
                                                paths[i]);
        return 0;
}

/* Open the table, unless it would replace a file that is read. Returns 0 or the exit code. */
static int table_open(struct select_run *run)
{
        const struct ed_select_opts *opts = &run->opts;
        const char *const inputs[] = { opts->answers, opts->errors, opts->by };

        for (size_t i = 0; opts->output && i < 3; i++)
                if (inputs[i] && strcmp(inputs[i], "-") != 0 &&
                    ed_inputs_is_same(opts->output, inputs[i]))
                        return ed_console_usage("select",
                                                "-o %s: this file is read for the table; name "
                                                "another file",
                                                opts->output);
        return ed_result_open(&run->result, opts->output);
}

/* Read all files. Returns 0 or the exit code. */
static int files_read(struct select_run *run)
{
        const struct ed_select_opts *opts = &run->opts;
        int exit_code;

        if (opts->by)
                exit_code =
                        ed_walk_requests(&run->walk, opts->by, opts->by_is_csv, request_take, run);
        else
                exit_code = places_read(run);
        if (exit_code == 0)
                exit_code = columns_ready(run);
        if (exit_code)
                return exit_code;
        ed_id_places_seal(&run->places);
        exit_code = answers_read(run);
        if (exit_code)
                return exit_code;
        return ed_belonging_check(
                "select",
                &(struct ed_belonging){ .answers = opts->answers,
                                        .requests = opts->by,
                                        .lacks_column = opts->by_is_csv && !opts->id_column,
                                        .placed = run->placed,
                                        .strange = run->strange,
                                        .odd = run->odd });
}

static int table_make(struct select_run *run)
{
        struct ed_select_opts *opts = &run->opts;
        int exit_code;

        exit_code = pipes_check(opts);
        if (exit_code == 0)
                exit_code = table_open(run);
        if (exit_code)
                return exit_code;
        if (ed_merge_sort_new((size_t) opts->memory, ed_result_folder(&run->result), &run->sorter) <
            0)
                return select_say_memory();
        exit_code = ed_empty_option_open(&opts->empty, "select", &run->walk.rules);
        if (exit_code)
                return exit_code;
        run->walk.rules.id_column = opts->id_column;
        run->record.rule = &opts->rule;
        run->rows = (struct ed_rows){ .format = opts->format,
                                      .id_name = opts->id_column ? opts->id_column : "custom_id",
                                      .kept = &opts->kept,
                                      .selected = opts->selected,
                                      .selected_count = opts->selected_count };
        run->table = (struct ed_table){ .sorter = run->sorter, .fn = row_out, .arg = run };
        exit_code = files_read(run);
        if (exit_code == 0)
                exit_code = table_write(run);
        if (exit_code == 0)
                table_report(run);
        return exit_code;
}

int ed_select_main(int argc, char **argv)
{
        /* Static, because it is too large for a stack frame. */
        static struct select_run run = { .walk.command = "select" };
        int exit_code;

        ed_id_places_init(&run.places);
        ed_result_init(&run.result, "select");
        if (ed_select_opts_parse(&run.opts, argc, argv, &exit_code) == 0) {
                ed_reading_show("select", ed_show_choose(ED_SHOW_AUTO, run.opts.output));
                exit_code = table_make(&run);
        }
        ed_table_fini(&run.table);
        ed_rows_fini(&run.rows);
        ed_merge_sort_free(run.sorter);
        ed_id_places_fini(&run.places);
        ed_bits_fini(&run.begun);
        ed_walk_fini(&run.walk);
        ed_result_end(&run.result);
        ed_draft_fini(&run.piece);
        ed_draft_fini(&run.blank_end);
        ed_empty_option_fini(&run.opts.empty, &run.walk.rules);
        ed_select_opts_fini(&run.opts);
        return exit_code;
}
