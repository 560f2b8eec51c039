/*
 * select/opts.h - the command line of `eddy select`.
 */
#ifndef ED_CMD_SELECT_OPTS_H
#define ED_CMD_SELECT_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/answer/rule.h"
#include "batch/empty_option.h"
#include "batch/opts.h"
#include "select/cell.h"
#include "select/column.h"
#include "select/kept.h"

enum { ED_SELECTED_MAX = 1024 };

struct ed_select_opts {
        const char *answers;
        const char *by;     /* NULL: the order of the answers */
        const char *errors; /* NULL: no such file */
        bool has_errors;    /* --errors was given */
        const char *output; /* NULL: standard output */
        const char *id_column;
        bool by_is_csv;
        uint64_t memory;
        enum ed_cell_format format;
        struct ed_rule rule;
        struct ed_empty_option empty;
        struct ed_kept kept;
        struct ed_column *selected; /* owned */
        size_t selected_count;
        const char *format_word, *to_word; /* of --format and --to; NULL: not given */
        char errors_room[ED_BATCH_PATH_BYTES];
};

/*
 * Parse the command line. Returns 0 if there is work to do. Otherwise returns 1 and the exit code,
 * after printing the help or an error. Call ed_select_opts_fini() in both cases.
 */
int ed_select_opts_parse(struct ed_select_opts *opts, int argc, char **argv, int *ret_exit);
/* Set 'errors' to the errors file that belongs to the answers by its name, if it exists. */
void ed_select_opts_find_errors(struct ed_select_opts *opts);
void ed_select_opts_fini(struct ed_select_opts *opts);

#endif
