/*
 * collect/opts.h - the command line of `eddy collect`.
 */
#ifndef ED_CMD_COLLECT_OPTS_H
#define ED_CMD_COLLECT_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/answer/rule.h"
#include "batch/empty_option.h"
#include "batch/opts.h"
#include "batch/request/accept.h"

struct ed_collect_opts {
        char *const *names; /* of the files to collect; borrowed */
        size_t names_count;
        const char *by;
        const char *output; /* NULL: standard output */
        const char *errors; /* the new errors file; NULL: none */
        const char *id_column;
        const char *format; /* json or csv, after the parsing */
        bool is_csv;
        uint32_t shards; /* 0: not given */
        uint64_t memory;
        struct ed_rule rule;
        struct ed_accept accept;
        struct ed_empty_option empty;
        char errors_room[ED_BATCH_PATH_BYTES];
};

/*
 * Parse the command line. Returns 0 if there is work to do. Otherwise returns 1 and the exit code,
 * after printing the help or an error. Call ed_collect_opts_fini() in both cases.
 */
int ed_collect_opts_parse(struct ed_collect_opts *opts, int argc, char **argv, int *ret_exit);
void ed_collect_opts_fini(struct ed_collect_opts *opts);

#endif
