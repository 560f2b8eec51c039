/*
 * collect/opts.c - options, and what follows from the names of files.
 */
#include "collect/opts.h"

#include <errno.h>
#include <string.h>

#include "batch/answer/errors_name.h"
#include "batch/answer/rule_option.h"
#include "batch/request/accept_option.h"
#include "batch/request/source.h"
#include "batch/sort/memory_option.h"
#include "collect/numbered.h"
#include "common/console.h"
#include "common/inputs.h"
#include "common/option.h"
#include "common/shard.h"
#include "common/table_name.h"

static const char help[] =
        "Usage: eddy collect OUT... --by IN [-o ALL] [options]\n"
        "\n"
        "Joins the outputs of several runs of eddy batch, such as those of --shard, in the order "
        "of\n"
        "the requests, and checks that each request has one answer.  It lists the requests that\n"
        "have none, and the commands to run for them.  The outputs stay as they are.\n"
        "\n"
        "  eddy collect out.*.jsonl --by requests.jsonl -o all.jsonl\n"
        "  eddy collect out.%i.jsonl --shards 64 --by requests.jsonl -o all.jsonl\n"
        "\n"
        "  OUT...                   the outputs; their errors files are found by their names, or "
        "are\n"
        "                           named here too.  With --shards N, %i in a name is each number\n"
        "                           from 0 to N - 1\n"
        "  --by IN                  the file of requests; gzip and zstd are decompressed, here "
        "and\n"
        "                           in OUT\n"
        "  -o, --output ALL         write the answers to ALL, which is replaced when it is "
        "complete,\n"
        "                           and compressed if its name ends in .gz or .zst; - is standard\n"
        "                           output (-)\n"
        "  --errors FILE            write the failures of requests without an answer to FILE, "
        "which\n"
        "                           is replaced, or removed if all have one (ALL's name with\n"
        "                           .errors.jsonl)\n"
        "  --shards N               the runs had --shard I/N: report which shards lack answers; "
        "not\n"
        "                           needed if the lines of OUT have x_meta, or if the names of "
        "OUT\n"
        "                           have all numbers from 0 to N - 1\n"
        "  --accept-failed, --accept-failed-ids FILE\n"
        "                           those of the runs: the failures that they accept are complete\n"
        "  --ok EXPR, --schema FILE\n"
        "                           those of the runs, if they had these options\n"
        "  --format auto|json|csv   auto: csv if IN ends in .csv, .csv.gz or .csv.zst (auto)\n"
        "  --id-column NAME         the column of CSV that is the id "
        "(custom_id)\n" ED_EMPTY_OPTION_HELP
        "  --memory N               bytes of memory for lines, such as 256M; more lines need a\n"
        "                           temporary file, beside ALL or in TMPDIR; each id takes "
        "another\n"
        "                           17 bytes (64M)\n"
        "  -h, --help, --version\n"
        "\n"
        "If an id has several answers, ALL has the last one, in the order of the files.\n"
        "\n"
        "Exit: 0 each request has one answer, 1 some have none, failed, or have several, or a "
        "line\n"
        "has an id that is not in IN (ALL has all answers that there are), or out of memory, 2 "
        "the\n"
        "command line is wrong, 3 a file cannot be read, or no OUT has an answer to a request of "
        "IN,\n"
        "4 the output could not be written, 6 a run writes to ALL, 129, 130 or 143 stopped by a\n"
        "signal (ALL is unchanged).\n";

enum {
        OPT_BY = 256,
        OPT_ERRORS,
        OPT_SHARDS,
        OPT_ACCEPT,
        OPT_ACCEPT_IDS,
        OPT_OK,
        OPT_SCHEMA,
        OPT_FORMAT,
        OPT_ID_COLUMN,
        OPT_MEMORY
};

static const struct option options[] = {
        { "by", required_argument, NULL, OPT_BY },
        { "output", required_argument, NULL, 'o' },
        { "errors", required_argument, NULL, OPT_ERRORS },
        { "shards", required_argument, NULL, OPT_SHARDS },
        { "accept-failed", no_argument, NULL, OPT_ACCEPT },
        { "accept-failed-ids", required_argument, NULL, OPT_ACCEPT_IDS },
        { "ok", required_argument, NULL, OPT_OK },
        { "schema", required_argument, NULL, OPT_SCHEMA },
        { "format", required_argument, NULL, OPT_FORMAT },
        { "id-column", required_argument, NULL, OPT_ID_COLUMN },
        { "memory", required_argument, NULL, OPT_MEMORY },
        ED_EMPTY_OPTION_LONGS,
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, ED_OPTION_VERSION },
        { NULL, 0, NULL, 0 },
};

static const struct ed_option_hint hints[] = {
        { "input", "--by, and OUT without an option" },
        { "order", "--by" },
        { "buffer-size", "--memory" },
        { NULL, NULL },
};

static const struct ed_option_set option_set_of_collect = { "collect", ":hH:o:", options, hints };

static int collect_option_set(void *arg, int option, char *value)
{
        struct ed_collect_opts *opts = arg;
        int err = ed_empty_option_set(&opts->empty, "collect", option, value);

        if (err != 0)
                return err;
        switch (option) {
        case OPT_BY:
                return ed_option_once("collect", "--by", value, &opts->by);
        case OPT_ERRORS:
                return ed_option_result("collect", "--errors", value, &opts->errors);
        case OPT_SHARDS:
                return ed_option_count("collect", "--shards", value, 1, ED_SHARD_COUNT_MAX,
                                       &opts->shards);
        case OPT_ACCEPT:
                return ed_accept_all_finals(&opts->accept);
        case OPT_ACCEPT_IDS:
                return ed_accept_read_ids(&opts->accept, "collect", value);
        case OPT_OK:
                return ed_rule_set_ok(&opts->rule, "collect", value);
        case OPT_SCHEMA:
                return ed_rule_set_schema(&opts->rule, "collect", value);
        case OPT_FORMAT:
                return ed_option_format("collect", value, &opts->format);
        case OPT_ID_COLUMN:
                return ed_option_once("collect", "--id-column", value, &opts->id_column);
        case OPT_MEMORY:
                return ed_memory_option("collect", value, &opts->memory);
        default:
                if (ed_table_name_refuse("collect", value))
                        return -EINVAL;
                return ed_option_result("collect", "-o", value, &opts->output);
        }
}

/* Check the names of the outputs. Returns 0 or the exit code. */
static int names_check(const struct ed_collect_opts *opts)
{
        bool has_stdin = opts->by && strcmp(opts->by, "-") == 0;

        for (size_t i = 0; i < opts->names_count; i++) {
                const char *name = opts->names[i];

                if (ed_numbered_is_form(name) && opts->shards == 0)
                        return ed_console_usage(
                                "collect",
                                "%s: %%i is the number of a shard: give --shards N, "
                                "the number of all",
                                name);
                if (strcmp(name, "-") != 0)
                        continue;
                if (has_stdin)
                        return ed_console_usage("collect",
                                                "-: standard input is read only once; name a file");
                has_stdin = true;
        }
        return 0;
}

/* Set the name of the new errors file. Returns 0 or the exit code. */
static int errors_complete(struct ed_collect_opts *opts)
{
        if (opts->errors && strcmp(opts->errors, "-") == 0)
                return ed_console_usage("collect", "--errors -: name a file");
        if (!opts->errors && opts->output) {
                if (!ed_errors_name_of_packed(opts->output, opts->errors_room,
                                              sizeof(opts->errors_room)))
                        return ed_console_usage("collect", "the name of ALL is too long");
                opts->errors = opts->errors_room;
        }
        if (opts->errors && opts->output && ed_inputs_is_same(opts->errors, opts->output))
                return ed_console_usage("collect",
                                        "--errors %s: this is also the file of -o; name another",
                                        opts->errors);
        return 0;
}

/* Check what needs more than one option. Returns 0 or the exit code. */
static int collect_options_check(struct ed_collect_opts *opts)
{
        bool is_auto = !opts->format || strcmp(opts->format, "auto") == 0;
        int exit_code;

        if (opts->names_count == 0)
                return ed_console_usage(
                        "collect", "name the outputs of eddy batch: eddy collect OUT... --by IN "
                                   "-o ALL");
        if (!opts->by)
                return ed_console_usage("collect", "--by IN is missing: name the file of requests");
        exit_code = names_check(opts);
        if (exit_code)
                return exit_code;
        if (opts->output && strcmp(opts->output, "-") == 0)
                opts->output = NULL;
        opts->is_csv = is_auto ? ed_source_is_csv(opts->by) : strcmp(opts->format, "csv") == 0;
        if (opts->id_column && !opts->is_csv)
                return ed_console_usage("collect", ED_SOURCE_ID_COLUMN_FAULT);
        if (opts->shards > 0 && opts->is_csv)
                return ed_console_usage("collect",
                                        "--shards: shards are parts of JSON lines, and --by %s is "
                                        "CSV; leave --shards out",
                                        opts->by);
        return errors_complete(opts);
}

int ed_collect_opts_parse(struct ed_collect_opts *opts, int argc, char **argv, int *ret_exit)
{
        *opts = (struct ed_collect_opts){ .memory = ED_MEMORY_DEFAULT };
        if (ed_option_walk(&option_set_of_collect, help, argc, argv, collect_option_set, opts,
                           ret_exit))
                return 1;
        opts->names = argv + optind;
        opts->names_count = (size_t) (argc - optind);
        *ret_exit = collect_options_check(opts);
        return *ret_exit != 0;
}

void ed_collect_opts_fini(struct ed_collect_opts *opts)
{
        ed_rule_fini(&opts->rule);
        ed_accept_fini(&opts->accept);
}
