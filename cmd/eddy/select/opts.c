/*
 * select/opts.c - options, and what follows from the names of files.
 */
#include "select/opts.h"

#include <errno.h>
#include <string.h>

#include "batch/answer/errors_name.h"
#include "batch/answer/rule_option.h"
#include "batch/request/source.h"
#include "batch/sort/memory_option.h"
#include "common/console.h"
#include "common/inputs.h"
#include "common/option.h"
#include "common/pack.h"
#include "common/table_name.h"
#include "eddy/alloc.h"

static const char help[] =
        "Usage: eddy select OUT --select [NAME=]PTR... [--by IN] [--keep COLUMN...] [-o TABLE]\n"
        "\n"
        "Writes a table, as CSV or JSON lines, with values of the answers of eddy batch: one row\n"
        "for each request, in the order of the requests.\n"
        "\n"
        "  eddy select answers.jsonl --by texts.csv --keep text \\\n"
        "          --select answer=/choices/0/message/content -o table.csv\n"
        "\n"
        "The columns are the id, those of --keep, those of --select, and 'error'.  A request that\n"
        "failed, or has no answer yet, has a row with an error and without values.\n"
        "\n"
        "  OUT                      the file of answers\n"
        "  --select [NAME=]PTR      a column: a JSON Pointer into the body of the answer, such as\n"
        "                           /usage/total_tokens; line:/x_meta/attempts points into the\n"
        "                           line of OUT; /choices/0/message/content#/label points into a\n"
        "                           string that is itself JSON; without NAME, the name is the "
        "last\n"
        "                           part of the pointer; may be repeated\n"
        "  --by IN                  the file of requests, for its order and --keep; without it,\n"
        "                           the order of OUT\n"
        "  --keep [NAME=]COLUMN     a column of IN: a column of CSV, a member of the lines, or a\n"
        "                           JSON Pointer into them; '*' is all columns of CSV; may be\n"
        "                           repeated\n"
        "  --errors FILE            the errors file (OUT's name with .errors.jsonl, if it exists)\n"
        "  --ok EXPR, --schema FILE\n"
        "                           those of the run, if it had these options\n"
        "  --format auto|json|csv   auto: csv if IN ends in .csv, .csv.gz or .csv.zst (auto)\n"
        "  --id-column NAME         the column of CSV that is the id "
        "(custom_id)\n" ED_EMPTY_OPTION_HELP
        "  -o, --output TABLE       write to TABLE, which is replaced when it is complete, and\n"
        "                           compressed if its name ends in .gz or .zst; - is standard\n"
        "                           output (-)\n"
        "  --to auto|csv|json       auto: json if TABLE ends in .jsonl, .ndjson or .json, before "
        ".gz\n"
        "                           or .zst (auto)\n"
        "  --memory N               bytes of memory for rows, such as 256M; larger tables need a\n"
        "                           temporary file, beside TABLE or in TMPDIR; each id takes\n"
        "                           another 16 bytes (64M)\n"
        "  -h, --help, --version\n"
        "\n"
        "Exit: 0 the table was written, 1 out of memory, 2 the command line is wrong, 3 a file\n"
        "cannot be read, or OUT has no answer to a request of IN, 4 the output could not be\n"
        "written, 6 a run writes to TABLE, 129, 130 or 143 stopped by a signal (TABLE is\n"
        "unchanged).\n";

enum {
        OPT_BY = 256,
        OPT_ERRORS,
        OPT_FORMAT,
        OPT_ID_COLUMN,
        OPT_KEEP,
        OPT_MEMORY,
        OPT_OK,
        OPT_SCHEMA,
        OPT_SELECT,
        OPT_TO
};

static const struct option options[] = {
        { "select", required_argument, NULL, OPT_SELECT },
        { "by", required_argument, NULL, OPT_BY },
        { "keep", required_argument, NULL, OPT_KEEP },
        { "errors", required_argument, NULL, OPT_ERRORS },
        { "ok", required_argument, NULL, OPT_OK },
        { "schema", required_argument, NULL, OPT_SCHEMA },
        { "format", required_argument, NULL, OPT_FORMAT },
        { "id-column", required_argument, NULL, OPT_ID_COLUMN },
        ED_EMPTY_OPTION_LONGS,
        { "output", required_argument, NULL, 'o' },
        { "to", required_argument, NULL, OPT_TO },
        { "memory", required_argument, NULL, OPT_MEMORY },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, ED_OPTION_VERSION },
        { NULL, 0, NULL, 0 },
};

static const struct ed_option_hint hints[] = {
        { "input", "--by, and OUT without an option" },
        { "order", "--by" },
        { "columns", "--select and --keep" },
        { "fields", "--select and --keep" },
        { "csv", "--to csv" },
        { "json", "--to json" },
        { "jsonl", "--to json" },
        { NULL, NULL },
};

static const struct ed_option_set option_set_of_select = { "select", ":hH:o:", options, hints };

static int select_add(struct ed_select_opts *opts, const char *value)
{
        char error[ED_COLUMN_ERROR_BYTES];
        struct ed_column column, *selected;
        int err;

        if (opts->selected_count == ED_SELECTED_MAX) {
                ed_console_usage("select", "--select: more than %d columns", (int) ED_SELECTED_MAX);
                return -EINVAL;
        }
        err = ed_column_read(value, &column, error);
        if (err == -EINVAL)
                ed_console_usage("select", "--select %s", error);
        if (err < 0)
                return err;
        selected = eddy_realloc(opts->selected, (opts->selected_count + 1) * sizeof(*selected));
        if (!selected) {
                ed_column_fini(&column);
                return -ENOMEM;
        }
        opts->selected = selected;
        opts->selected[opts->selected_count++] = column;
        return 0;
}

static int keep_add(struct ed_select_opts *opts, const char *value)
{
        char error[ED_COLUMN_ERROR_BYTES];
        int err = ed_kept_add(&opts->kept, value, error);

        if (err == -EINVAL)
                ed_console_usage("select", "--keep %s: %s", value, error);
        return err;
}

static int to_set(struct ed_select_opts *opts, const char *value)
{
        static const char *const to[] = { "auto", "csv", "json" };
        int err = ed_option_word("select", "--to", value, to, 3, "auto, csv, json");

        opts->to_word = value;
        return err < 0 ? err : 0;
}

static int select_option_set(void *arg, int option, char *value)
{
        struct ed_select_opts *opts = arg;
        int err = ed_empty_option_set(&opts->empty, "select", option, value);

        if (err != 0)
                return err;
        switch (option) {
        case OPT_SELECT:
                return select_add(opts, value);
        case OPT_KEEP:
                return keep_add(opts, value);
        case OPT_BY:
                return ed_option_once("select", "--by", value, &opts->by);
        case OPT_ERRORS:
                return ed_option_once("select", "--errors", value, &opts->errors);
        case OPT_OK:
                return ed_rule_set_ok(&opts->rule, "select", value);
        case OPT_SCHEMA:
                return ed_rule_set_schema(&opts->rule, "select", value);
        case OPT_FORMAT:
                return ed_option_format("select", value, &opts->format_word);
        case OPT_ID_COLUMN:
                return ed_option_once("select", "--id-column", value, &opts->id_column);
        case OPT_TO:
                return to_set(opts, value);
        case OPT_MEMORY:
                return ed_memory_option("select", value, &opts->memory);
        default:
                return ed_option_result("select", "-o", value, &opts->output);
        }
}

void ed_select_opts_find_errors(struct ed_select_opts *opts)
{
        if (strcmp(opts->answers, "-") != 0 &&
            ed_errors_find(opts->answers, opts->errors_room, sizeof(opts->errors_room)) &&
            !ed_inputs_is_same(opts->errors_room, opts->answers))
                opts->errors = opts->errors_room;
}

static bool is_auto(const char *word)
{
        return !word || strcmp(word, "auto") == 0;
}

/* Returns true if the name of the table, without .gz or .zst, is that of JSON lines. */
static bool name_is_json(const char *path)
{
        static const char *const ends[] = { ".jsonl", ".ndjson", ".json" };
        size_t bytes = ed_pack_stem_bytes(path);

        for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
                size_t end_bytes = strlen(ends[i]);

                if (bytes >= end_bytes && memcmp(path + bytes - end_bytes, ends[i], end_bytes) == 0)
                        return true;
        }
        return false;
}

/* Refuse the name of a format that is not written. Returns 0 or the exit code. */
static int table_name_check(const struct ed_select_opts *opts)
{
        const char *end =
                opts->output ? ed_table_name_end(opts->output, ed_pack_stem_bytes(opts->output))
                             : NULL;

        if (!end || !is_auto(opts->to_word) || strcmp(end, ".csv") == 0)
                return 0;
        return ed_console_usage("select",
                                "-o %s: the table is CSV or JSON lines, not %s: name it .csv or "
                                ".jsonl, and convert it, for example in pandas or DuckDB",
                                opts->output, end);
}

/* Set what follows from the names of files. */
static void select_names_complete(struct ed_select_opts *opts)
{
        bool to_json = opts->output && name_is_json(opts->output);

        if (opts->output && strcmp(opts->output, "-") == 0)
                opts->output = NULL;
        if (opts->by)
                opts->by_is_csv = is_auto(opts->format_word)
                                          ? ed_source_is_csv(opts->by)
                                          : strcmp(opts->format_word, "csv") == 0;
        if (!is_auto(opts->to_word))
                to_json = strcmp(opts->to_word, "json") == 0;
        opts->format = to_json ? ED_CELL_JSON : ED_CELL_CSV;
        opts->has_errors = opts->errors;
        if (!opts->errors)
                ed_select_opts_find_errors(opts);
        else if (ed_inputs_is_same(opts->errors, opts->answers))
                opts->errors = NULL;
}

/* Returns 0 or the exit code. */
static int select_arguments_check(struct ed_select_opts *opts, int argc, char **argv)
{
        bool is_stdin;

        if (optind == argc)
                return ed_console_usage("select", "name the file of answers: eddy select OUT "
                                                  "--select answer=/choices/0/message/content");
        if (optind + 1 < argc)
                return ed_console_usage("select",
                                        "%s: there is one file of answers, %s; did you mean "
                                        "--select %s?",
                                        argv[optind + 1], argv[optind], argv[optind + 1]);
        opts->answers = argv[optind];
        is_stdin = strcmp(opts->answers, "-") == 0;
        if (opts->selected_count == 0)
                return ed_console_usage("select",
                                        "--select PTR is missing: name the values of the answers, "
                                        "such as --select answer=/choices/0/message/content");
        if (!opts->by && is_stdin)
                return ed_console_usage("select", "-: standard input has no order of its own: name "
                                                  "the file of requests as --by IN");
        if (is_stdin && strcmp(opts->by, "-") == 0)
                return ed_console_usage("select",
                                        "OUT and --by are both standard input; name a file");
        if (!opts->by && (opts->kept.count > 0 || opts->kept.all))
                return ed_console_usage("select", "--keep needs the file of requests: --by IN");
        select_names_complete(opts);
        return table_name_check(opts);
}

/* Check what needs more than one option. Returns 0 or the exit code. */
static int select_options_check(struct ed_select_opts *opts, int argc, char **argv)
{
        int exit_code = select_arguments_check(opts, argc, argv);

        if (exit_code == 0 && opts->id_column && !opts->by)
                return ed_console_usage("select",
                                        "--id-column %s needs the file of requests: give --by IN "
                                        "too, or leave --id-column out",
                                        opts->id_column);
        if (exit_code == 0 && opts->empty.skip && !opts->by)
                return ed_console_usage("select",
                                        "--skip-empty needs the file of requests: --by IN");
        if (exit_code == 0 && opts->id_column && !opts->by_is_csv)
                return ed_console_usage("select", ED_SOURCE_ID_COLUMN_FAULT);
        return exit_code;
}

int ed_select_opts_parse(struct ed_select_opts *opts, int argc, char **argv, int *ret_exit)
{
        *opts = (struct ed_select_opts){ .memory = ED_MEMORY_DEFAULT };
        if (ed_option_walk(&option_set_of_select, help, argc, argv, select_option_set, opts,
                           ret_exit))
                return 1;
        *ret_exit = select_options_check(opts, argc, argv);
        return *ret_exit != 0;
}

void ed_select_opts_fini(struct ed_select_opts *opts)
{
        for (size_t i = 0; i < opts->selected_count; i++)
                ed_column_fini(&opts->selected[i]);
        eddy_free(opts->selected);
        opts->selected = NULL;
        ed_kept_fini(&opts->kept);
        ed_rule_fini(&opts->rule);
}
