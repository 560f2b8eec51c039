/*
 * report/opts.h - the command line of `eddy report`.
 */
#ifndef ED_CMD_REPORT_OPTS_H
#define ED_CMD_REPORT_OPTS_H

#include <limits.h>
#include <stdbool.h>

#include "batch/answer/rule.h"
#include "batch/empty_option.h"
#include "batch/request/accept.h"
#include "batch/request/tokens.h"
#include "batch/shard_names.h"
#include "common/shard.h"
#include "eddy/def.h"

/* Texts are borrowed from the command line, or are in the rooms. */
struct ed_report_opts {
        const char *answers;
        const char *errors; /* NULL: none */
        const char *log;    /* NULL: none */
        const char *by;     /* the file of requests, "-": standard input; NULL: none */
        const char *format; /* of 'by': "json" or "csv" */
        const char *id_column;
        struct ed_shard shard; /* of 'by'; all zero: all of it */
        struct ed_shard_names names;
        const char *page; /* "-": standard output */
        const char *title;
        bool check; /* the exit code depends on completeness */
        struct ed_rule rule;
        struct ed_empty_option empty;
        struct ed_accept accept;
        bool has_price;
        struct ed_price price;
        char errors_room[PATH_MAX];
        char page_room[PATH_MAX];
        char title_room[PATH_MAX];
};

/* Errors: 1, and '*ret_exit' is the exit code: --help was printed, or a message */
EDDY_MUST_USE int ed_report_opts_parse(struct ed_report_opts *opts, int argc, char **argv,
                                       int *ret_exit);

#endif
