/*
 * batch/sort/sort_command.c - reads the ids of the requests with their places, and sorts the
 * answers by them.
 */
#include "batch/sort/sort_command.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "batch/answer/answer_line.h"
#include "batch/answer/belonging.h"
#include "batch/request/line_id.h"
#include "batch/request/walk.h"
#include "batch/sort/id_places.h"
#include "batch/sort/memory_option.h"
#include "batch/sort/merge_sort.h"
#include "common/console.h"
#include "common/draft.h"
#include "common/option.h"
#include "common/reading_show.h"
#include "common/result.h"
#include "common/table_name.h"

static const char help[] =
        "Usage: eddy sort OUT --by IN [-o SORTED] [options]\n"
        "\n"
        "Puts the answers of eddy batch into the order of their requests.  Lines whose id is not\n"
        "in IN, and lines that are not answers, go to the end, in their original order.\n"
        "\n"
        "  eddy sort answers.jsonl --by requests.jsonl -o sorted.jsonl\n"
        "\n"
        "  OUT                      the file of answers, or of errors\n"
        "  --by IN                  the file of requests; gzip and zstd are decompressed\n"
        "  --format auto|json|csv   auto: csv if IN ends in .csv, .csv.gz or .csv.zst (auto)\n"
        "  --id-column NAME         the column of CSV that is the id (custom_id)\n"
        "  -o, --output SORTED      write to SORTED, which is replaced when sorting is complete, "
        "and\n"
        "                           compressed if its name ends in .gz or .zst; SORTED may be\n"
        "                           OUT; - is standard output (-)\n"
        "  --memory N               bytes of memory for lines, such as 256M; larger files are\n"
        "                           sorted with a temporary file, beside SORTED or in TMPDIR;\n"
        "                           each id takes another 16 bytes (64M)\n"
        "  -h, --help, --version\n"
        "\n"
        "Exit: 0 sorted, 1 out of memory, 2 the command line is wrong, 3 a file cannot be read, or "
        "OUT\n"
        "has no answer to a request of IN, 4 the output could not be written, 6 a run writes to "
        "the\n"
        "output, 129, 130 or 143 stopped by a signal (SORTED is unchanged).\n";

enum { OPT_BY = 256, OPT_FORMAT, OPT_ID_COLUMN, OPT_MEMORY };

static const struct option sort_longs[] = {
        { "by", required_argument, NULL, OPT_BY },
        { "format", required_argument, NULL, OPT_FORMAT },
        { "id-column", required_argument, NULL, OPT_ID_COLUMN },
        { "output", required_argument, NULL, 'o' },
        { "memory", required_argument, NULL, OPT_MEMORY },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, ED_OPTION_VERSION },
        { NULL, 0, NULL, 0 },
};

static const struct ed_option_hint sort_hints[] = {
        { "input", "--by, and OUT without an option" },
        { "order", "--by" },
        { "buffer-size", "--memory" },
        { NULL, NULL },
};

static const struct ed_option_set sort_option_set = { "sort", ":ho:", sort_longs, sort_hints };

struct sort_run {
        const char *answers, *by, *format, *output; /* 'output' NULL: standard output */
        uint64_t memory;

        struct ed_walk walk;
        struct ed_id_places places;
        struct ed_merge_sort *sorter;
        struct ed_result result;
        uint64_t odd, strange; /* lines that are not answers; with an id that IN does not have */
        uint64_t placed;       /* lines with an id that IN has */
        char id[ED_ANSWER_ID_ROOM];
};

static int say_memory(void)
{
        ed_console_say("sort", "out of memory");
        return ED_EXIT_FAILED;
}

/* ---- the requests ---------------------------------------------------------------------------- */

static int place_take(void *arg, const struct ed_line *line)
{
        struct sort_run *run = arg;
        struct ed_line_id id;
        int more = ed_line_id_read(&run->walk.rules, line, &id);

        if (more <= 0)
                return more;
        return ed_id_places_add(&run->places, id.text, id.bytes, line->number);
}

/* ---- the answers ----------------------------------------------------------------------------- */

static int answer_sort(void *arg, const struct ed_line *line)
{
        struct sort_run *run = arg;
        struct ed_answer_seen seen;
        uint64_t place = ED_PLACE_NONE;
        int err;

        if (line->is_too_long) {
                ed_console_say("sort", "%s: line %" PRIu64 " is longer than %zu MiB", run->answers,
                               line->number, ED_DRAFT_BYTES_MAX >> 20);
                return ed_walk_end(&run->walk, ED_EXIT_INPUT);
        }
        if (ed_answer_is_blank(line->data, line->bytes))
                return 0;
        if (ed_answer_read(line->data, line->bytes, run->id, &seen) < 0) {
                run->odd++;
        } else {
                place = ed_id_places_find(&run->places, seen.id, seen.id_bytes);
                if (place == ED_PLACE_NONE)
                        run->strange++;
                else
                        run->placed++;
        }
        err = ed_merge_sort_add(run->sorter, place, line->data, line->bytes);
        return err < 0 ? ed_walk_end(&run->walk, ed_result_temporary_fault(&run->result, err)) : 0;
}

/* ---- the output ------------------------------------------------------------------------------ */

static int sorted_write(void *arg, uint64_t key, const char *data, size_t bytes, bool is_end)
{
        struct sort_run *run = arg;

        (void) key, (void) is_end;
        return ed_result_add(&run->result, data, bytes);
}

/* Refuse an output that is the input, and one that cannot be replaced. */
static int output_open(struct sort_run *run)
{
        int exit_code = ed_result_open(&run->result, run->output);

        if (exit_code == 0 && ed_result_is(&run->result, run->by))
                return ed_console_usage("sort",
                                        "-o %s: this is the file of requests; name another "
                                        "file",
                                        run->output);
        return exit_code;
}

static int sorted_finish(struct sort_run *run)
{
        bool is_disk;
        int err = ed_merge_sort_finish(run->sorter, sorted_write, run, &is_disk);

        if (is_disk)
                return ed_result_temporary_fault(&run->result, err);
        if (err == 0)
                err = ed_result_finish(&run->result);
        return err < 0 ? ed_result_fault(&run->result, err) : 0;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int option_apply(void *arg, int option, char *value)
{
        struct sort_run *run = arg;

        switch (option) {
        case OPT_BY:
                return ed_option_once("sort", "--by", value, &run->by);
        case 'o':
                if (ed_table_name_refuse("sort", value))
                        return -EINVAL;
                return ed_option_result("sort", "-o", value, &run->output);
        case OPT_FORMAT:
                return ed_option_format("sort", value, &run->format);
        case OPT_ID_COLUMN:
                return ed_option_once("sort", "--id-column", value, &run->walk.rules.id_column);
        case OPT_MEMORY:
                return ed_memory_option("sort", value, &run->memory);
        default:
                return -EINVAL;
        }
}

/* Check the arguments. Returns 0 or the exit code. */
static int arguments_check(struct sort_run *run, int argc, char **argv)
{
        if (optind == argc)
                return ed_console_usage(
                        "sort", "name the file of answers: eddy sort OUT --by IN -o SORTED");
        if (optind + 1 < argc)
                return ed_console_usage("sort",
                                        "%s: there is one file of answers, %s; did you mean "
                                        "--by %s?",
                                        argv[optind + 1], argv[optind], argv[optind + 1]);
        run->answers = argv[optind];
        if (!run->by)
                return ed_console_usage("sort", "--by IN is missing: name the file of requests");
        if (strcmp(run->by, "-") == 0 && strcmp(run->answers, "-") == 0)
                return ed_console_usage("sort",
                                        "OUT and --by are both standard input; name a file");
        if (run->output && strcmp(run->output, "-") == 0)
                run->output = NULL;
        if (strcmp(run->format, "auto") == 0)
                run->format = ed_source_is_csv(run->by) ? "csv" : "json";
        if (run->walk.rules.id_column && strcmp(run->format, "csv") != 0)
                return ed_console_usage("sort", ED_SOURCE_ID_COLUMN_FAULT);
        return 0;
}

/* Returns 0 if there is work to do; otherwise 1 and the exit code. */
static int command_parse(struct sort_run *run, int argc, char **argv, int *ret_exit)
{
        if (ed_option_walk(&sort_option_set, help, argc, argv, option_apply, run, ret_exit))
                return 1;
        *ret_exit = arguments_check(run, argc, argv);
        return *ret_exit != 0;
}

/* Refuse files that do not belong together. Returns 0 or the exit code. */
static int places_check(const struct sort_run *run)
{
        bool is_csv = strcmp(run->format, "csv") == 0;

        return ed_belonging_check(
                "sort",
                &(struct ed_belonging){ .answers = run->answers,
                                        .requests = run->by,
                                        .lacks_column = is_csv && !run->walk.rules.id_column,
                                        .placed = run->placed,
                                        .strange = run->strange,
                                        .odd = run->odd });
}

/* Read and sort, into an output that is open. */
static int answers_sort(struct sort_run *run)
{
        bool in_place = ed_result_is(&run->result, run->answers);
        int exit_code = ed_walk_requests(&run->walk, run->by, strcmp(run->format, "csv") == 0,
                                         place_take, run);
        char room[ED_GROUPED_BYTES];

        if (exit_code)
                return exit_code;
        ed_id_places_seal(&run->places);
        exit_code = ed_walk_answers(&run->walk, run->answers, answer_sort, run);
        if (exit_code)
                return exit_code;
        if (in_place && (run->walk.kind == ED_UNPACK_GZIP || run->walk.kind == ED_UNPACK_ZSTD) &&
            ed_pack_kind_of(run->output) == ED_PACK_PLAIN)
                return ed_console_usage("sort",
                                        "-o %s: this file is compressed, and the sorted one "
                                        "is not, because of its name; name another file",
                                        run->output);
        exit_code = places_check(run);
        if (exit_code == 0)
                exit_code = sorted_finish(run);
        if (exit_code == 0 && run->strange > 0)
                ed_console_say("sort", "%s %s that %s does not have; now at the end",
                               ed_grouped(run->strange, room),
                               run->strange == 1 ? "line has an id" : "lines have ids", run->by);
        if (exit_code == 0 && run->odd > 0)
                ed_console_say("sort", "%s %s; now at the end", ed_grouped(run->odd, room),
                               run->odd == 1 ? "line is not an answer" : "lines are not answers");
        return exit_code;
}

int ed_sort_main(int argc, char **argv)
{
        /* Static, because it is too large for a stack frame. */
        static struct sort_run run = { .format = "auto",
                                       .memory = ED_MEMORY_DEFAULT,
                                       .walk.command = "sort" };
        int exit_code;

        ed_id_places_init(&run.places);
        ed_result_init(&run.result, "sort");
        if (command_parse(&run, argc, argv, &exit_code) == 0) {
                ed_reading_show("sort", ed_show_choose(ED_SHOW_AUTO, run.output));
                exit_code = output_open(&run);
                if (exit_code == 0 &&
                    ed_merge_sort_new((size_t) run.memory, ed_result_folder(&run.result),
                                      &run.sorter) < 0)
                        exit_code = say_memory();
                if (exit_code == 0)
                        exit_code = answers_sort(&run);
        }
        ed_merge_sort_free(run.sorter);
        ed_id_places_fini(&run.places);
        ed_walk_fini(&run.walk);
        ed_result_end(&run.result);
        return exit_code;
}
