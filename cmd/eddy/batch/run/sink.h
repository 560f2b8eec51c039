/*
 * batch/run/sink.h - where the lines of answers go: the files, the ids that have a line, and counts.
 * batch/run/checkpoint.h opens and cleans the files.
 */
#ifndef ED_CMD_BATCH_RUN_SINK_H
#define ED_CMD_BATCH_RUN_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "batch/answer/answers_file.h"
#include "batch/request/ids.h"
#include "batch/run/held.h"
#include "batch/run/saved.h"
#include "common/output.h"
#include "common/save_dir.h"

struct ed_batch_sink {
        struct ed_ids *ids;
        struct ed_ids *only;        /* the ids to send; NULL: all */
        struct ed_ids *bad_lines;   /* "line-N" of lines that were not requests; NULL: none */
        struct ed_ids *errors_only; /* ids whose answer is only in the errors file; NULL: none */
        struct ed_ids *refused;     /* ids that an earlier run got refused; NULL: none */
        struct ed_answers_file answers; /* the files of answers and errors, if used */
        struct ed_answers_file failures;
        struct ed_output output;
        struct ed_output errors; /* if there is an errors file */
        struct ed_save_dir save; /* of --save; path NULL: none */
        int save_err;            /* the first file that could not be saved */
        struct ed_saved saved;
        struct ed_batch_held held;
        uint64_t ok, failed;               /* lines of this run */
        uint64_t accepted, accepted_final; /* failures among them: accepted by their id; because
                                              they are final */
        uint64_t renewed;     /* requests that have changed, and whose new form has an answer */
        uint64_t failed_left; /* failures of the input that this run has not tried again */
        bool moved;           /* the output or the errors file, during the run */
};

#endif
