/*
 * batch/command.h - `eddy batch` or `eddy retry`: the command line, its run, and how the run ended.
 */
#ifndef ED_CMD_BATCH_COMMAND_H
#define ED_CMD_BATCH_COMMAND_H

#include <stdbool.h>

#include "batch/metrics.h"
#include "batch/opts.h"
#include "batch/run/run.h"
#include "batch/run/unit.h"
#include "common/show.h"

struct ed_batch_command {
        char *const *argv;
        struct ed_batch_opts opts;
        struct ed_batch_run run;
        struct ed_batch_unit unit; /* the only one */
        struct ed_show show;
        struct ed_batch_metrics *metrics; /* NULL: none */
        int signo;                        /* the signal that ended the run; 0: none */
        bool setup_failed;                /* an option cannot be used, which was reported */
        bool has_begun;                   /* the files are open, and requests may be sent */
        int exit_code;                    /* -1: the run has not ended */
        int summary_fd;                   /* locks the file of --summary-file; -1: not open */
};

#endif
