/*
 * report/opts.c - options, and the names of files that follow from the name of the output.
 */
#include "report/opts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "batch/answer/errors_name.h"
#include "batch/answer/rule_option.h"
#include "batch/request/accept_option.h"
#include "batch/request/source.h"
#include "batch/shard_names.h"
#include "batch/shard_option.h"
#include "batch/shard_setup.h"
#include "common/console.h"
#include "common/option.h"

static const char help[] =
        "Usage: eddy report OUT [--by IN] [-o PAGE] [options]\n"
        "\n"
        "Writes an HTML page about an output of `eddy batch`, during or after the run: whether "
        "each\n"
        "request of IN has an answer, the causes of failures, totals, latencies and tokens, in "
        "tables\n"
        "and plots.  The page is a single file without scripts, and loads nothing.  The first\n"
        "line of the page, and the ten largest causes, are also printed on stderr.\n"
        "\n"
        "  OUT                      the output of eddy batch; files in the formats of OpenAI and\n"
        "                           vLLM have no times, so their page has fewer plots\n"
        "  --by IN                  the file of requests, to report those without an answer\n"
        "  --format auto|json|csv   of IN: csv if its name ends in .csv, .csv.gz or .csv.zst "
        "(auto)\n"
        "  --id-column NAME         the column of CSV that is the id (custom_id)\n"
        "  --shard i/n              count only the requests of this shard of IN; auto and\n"
        "                           auto/n as for eddy batch; %i in the names of OUT and "
        "other\n"
        "                           files is i\n" ED_EMPTY_OPTION_HELP
        "  --errors FILE            the errors file (OUT's name with .errors.jsonl, if it exists)\n"
        "  --log FILE               the log of eddy batch --log, to show refusals\n"
        "  -o, --output PAGE|-      write the page to PAGE; - is standard output (OUT.html)\n"
        "  --ok EXPR, --schema FILE\n"
        "                           those of the run, if it had these options\n"
        "  --accept-failed, --accept-failed-ids FILE\n"
        "                           those of the run; the failures that they accept are counted\n"
        "  --check                  status 1 unless each request of IN has an answer, or its "
        "failure\n"
        "                           is accepted\n"
        "  --price IN/OUT           prices of a million tokens, such as 0.15/0.60\n"
        "  --title TEXT             the heading of the page (the name of OUT)\n"
        "  -h, --help, --version\n"
        "\n"
        "An incomplete last line is ignored.  The page shows the number of lines that are not\n"
        "answers.\n"
        "\n"
        "Exit: 0 the page was written, 1 with --check: not complete, 2 the command line is wrong,\n"
        "3 a file cannot be read, or OUT has lines but no answer to a request of IN, 4 the page\n"
        "could not be written.\n";

enum {
        OPT_ERRORS = 256,
        OPT_BY,
        OPT_CHECK,
        OPT_FORMAT,
        OPT_ID_COLUMN,
        OPT_SHARD,
        OPT_LOG,
        OPT_OK,
        OPT_PRICE,
        OPT_SCHEMA,
        OPT_ACCEPT,
        OPT_ACCEPT_IDS,
        OPT_TITLE
};

static const struct option options[] = {
        { "by", required_argument, NULL, OPT_BY },
        { "format", required_argument, NULL, OPT_FORMAT },
        { "id-column", required_argument, NULL, OPT_ID_COLUMN },
        { "shard", required_argument, NULL, OPT_SHARD },
        { "errors", required_argument, NULL, OPT_ERRORS },
        { "log", required_argument, NULL, OPT_LOG },
        { "output", required_argument, NULL, 'o' },
        { "ok", required_argument, NULL, OPT_OK },
        { "schema", required_argument, NULL, OPT_SCHEMA },
        { "accept-failed", no_argument, NULL, OPT_ACCEPT },
        { "accept-failed-ids", required_argument, NULL, OPT_ACCEPT_IDS },
        { "check", no_argument, NULL, OPT_CHECK },
        ED_EMPTY_OPTION_LONGS,
        { "price", required_argument, NULL, OPT_PRICE },
        { "title", required_argument, NULL, OPT_TITLE },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, ED_OPTION_VERSION },
        { NULL, 0, NULL, 0 },
};

static const struct ed_option_hint hints[] = {
        { "input", "--by, and OUT without an option" },
        { "cost", "--price" },
        { "html", "-o" },
        { NULL, NULL },
};

static const struct ed_option_set option_set_of_report = { "report", ":hH:o:", options, hints };

static int price_set(struct ed_report_opts *opts, const char *value)
{
        const char *why = NULL;

        if (ed_price_parse(value, &opts->price, &why) < 0) {
                ed_console_usage("report", "--price %s: %s", value, why);
                return -EINVAL;
        }
        opts->has_price = true;
        return 0;
}

static int report_option_set(void *arg, int option, char *value)
{
        struct ed_report_opts *opts = arg;
        int err = ed_empty_option_set(&opts->empty, "report", option, value);

        if (err != 0)
                return err;
        switch (option) {
        case 'o':
                return ed_option_file("report", "-o", value, &opts->page);
        case OPT_BY:
                return ed_option_once("report", "--by", value, &opts->by);
        case OPT_FORMAT:
                return ed_option_format("report", value, &opts->format);
        case OPT_ID_COLUMN:
                return ed_option_once("report", "--id-column", value, &opts->id_column);
        case OPT_SHARD:
                return ed_shard_option_read("report", value, &opts->shard);
        case OPT_ERRORS:
                return ed_option_once("report", "--errors", value, &opts->errors);
        case OPT_LOG:
                return ed_option_once("report", "--log", value, &opts->log);
        case OPT_SCHEMA:
                return ed_rule_set_schema(&opts->rule, "report", value);
        case OPT_OK:
                return ed_rule_set_ok(&opts->rule, "report", value);
        case OPT_CHECK:
                opts->check = true;
                return 0;
        case OPT_ACCEPT:
                return ed_accept_all_finals(&opts->accept);
        case OPT_ACCEPT_IDS:
                return ed_accept_read_ids(&opts->accept, "report", value);
        case OPT_TITLE:
                return ed_option_once("report", "--title", value, &opts->title);
        default:
                return price_set(opts, value);
        }
}

/* Set the names of files that no option gives. */
static int names_complete(struct ed_report_opts *opts)
{
        const char *slash = strrchr(opts->answers, '/');

        if (strlen(opts->answers) + sizeof(".errors.jsonl") > PATH_MAX)
                return ed_console_usage("report", "the name of OUT is too long");
        if (!opts->page) {
                snprintf(opts->page_room, sizeof(opts->page_room), "%s.html", opts->answers);
                opts->page = opts->page_room;
        }
        if (!opts->title) {
                snprintf(opts->title_room, sizeof(opts->title_room), "%s",
                         slash && slash[1] ? slash + 1 : opts->answers);
                opts->title = opts->title_room;
        }
        if (!opts->errors &&
            ed_errors_find(opts->answers, opts->errors_room, sizeof(opts->errors_room)))
                opts->errors = opts->errors_room;
        return 0;
}

/* Check the options of the file of requests. Returns 0 or the exit code. */
static int input_check(struct ed_report_opts *opts)
{
        const char *option = opts->format            ? "--format"
                             : opts->id_column       ? "--id-column"
                             : opts->check           ? "--check"
                             : opts->shard.count > 0 ? "--shard"
                             : opts->empty.skip      ? "--skip-empty"
                                                     : NULL;

        if (!opts->by && option)
                return ed_console_usage("report", "%s needs --by IN, the file of requests", option);
        if (opts->by && (!opts->format || strcmp(opts->format, "auto") == 0))
                opts->format = ed_source_is_csv(opts->by) ? "csv" : "json";
        if (opts->id_column && strcmp(opts->format, "csv") != 0)
                return ed_console_usage("report", ED_SOURCE_ID_COLUMN_FAULT);
        return opts->by ? ed_shard_setup_input("report", opts->shard, opts->by,
                                               strcmp(opts->format, "csv") == 0, opts->id_column)
                        : 0;
}

/* Put the number of the shard into the names of files. Returns 0 or the exit code. */
static int names_fill(struct ed_report_opts *opts)
{
        const char **const names[] = { &opts->answers, &opts->errors, &opts->log, &opts->page };
        int exit_code = 0;

        for (size_t i = 0; exit_code == 0 && i < sizeof(names) / sizeof(names[0]); i++)
                exit_code = ed_shard_names_set(&opts->names, "report", opts->shard, "OUT", false,
                                               names[i]);
        return exit_code;
}

static int line_finish(struct ed_report_opts *opts, int argc, char **argv)
{
        int exit_code;

        if (optind == argc)
                return ed_console_usage("report", "name the output of eddy batch: eddy report OUT");
        if (optind + 1 < argc)
                return ed_console_usage("report",
                                        "%s and %s: give one output; eddy collect joins those of "
                                        "several runs",
                                        argv[optind], argv[optind + 1]);
        opts->answers = argv[optind];
        if (strcmp(opts->answers, "-") == 0)
                return ed_console_usage("report", "-: name a file; OUT cannot be standard input");
        if (input_check(opts))
                return ED_EXIT_USAGE;
        exit_code = names_fill(opts);
        return exit_code ? exit_code : names_complete(opts);
}

int ed_report_opts_parse(struct ed_report_opts *opts, int argc, char **argv, int *ret_exit)
{
        memset(opts, 0, sizeof(*opts));
        if (ed_option_walk(&option_set_of_report, help, argc, argv, report_option_set, opts,
                           ret_exit))
                return 1;
        *ret_exit = line_finish(opts, argc, argv);
        return *ret_exit ? 1 : 0;
}
