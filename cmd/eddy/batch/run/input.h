/*
 * batch/run/input.h - opens the input of a run, checks it before anything is sent, and reads it.
 */
#ifndef ED_CMD_BATCH_RUN_INPUT_H
#define ED_CMD_BATCH_RUN_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "batch/request/range.h"
#include "batch/request/request.h"
#include "eddy/def.h"
#include "eddy/scope.h"

struct ed_batch_unit;

struct ed_batch_input {
        int fd;       /* -1: not open */
        bool is_file; /* and so can be checked before it is sent */
        struct ed_range range;
        struct ed_request_rules rules;
        struct ed_columns *columns; /* of CSV */
        char path[256];             /* of the first request, for the summary */
        uint64_t read;              /* requests so far */
        bool whole;                 /* read to its end, or to --limit */
        bool limited;               /* read to --limit, and there may be more */
        int err;                    /* an exit code; 0: none */
};

/* Open the input, at its range, which is set. Returns 0 or the exit code, after a message. */
EDDY_MUST_USE int ed_input_open(struct ed_batch_unit *unit);
void ed_input_close(struct ed_batch_unit *unit);

/*
 * If the input is a file, read it to its end before anything is sent: count the requests without an
 * answer, and refuse ids that occur twice and ids whose request has changed since it was answered.
 * Blocks on the disk. Returns 0 or the exit code, after messages.
 */
EDDY_MUST_USE int ed_input_check(struct ed_batch_unit *unit);

/* The task of the reader, which starts a job for each line until the input or the run ends. */
eddy_task_fn ed_input_read;

#endif
