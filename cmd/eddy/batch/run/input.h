/*
 * batch/run/input.h - the input of a unit of work, and how far it was read (batch/run/reader.h).
 */
#ifndef ED_CMD_BATCH_RUN_INPUT_H
#define ED_CMD_BATCH_RUN_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "batch/answer/shard_mark.h"
#include "batch/request/bundle.h"
#include "batch/request/range.h"
#include "batch/request/request.h"
#include "batch/run/redirect.h"

enum { ED_INPUT_PATH_BYTES = 256 };

struct ed_batch_input {
        int fd;       /* -1: not open */
        bool is_file; /* and so can be checked before it is sent */
        struct ed_range range;
        uint64_t size;         /* of the file; read only for a shard */
        uint64_t lines_before; /* in the file before the lines of 'range' are counted */
        bool lacks_lines;      /* 'lines_before' is not known yet (batch/run/numbering.h) */
        char shard[ED_SHARD_MARK_BYTES]; /* of the lines of answers; "": none */
        struct ed_request_rules rules;
        struct ed_columns *columns;        /* of CSV */
        struct ed_bundle *bundle;          /* rows that are not sent yet; NULL: none */
        char path[ED_INPUT_PATH_BYTES];    /* of the first request, for the summary */
        char missing[ED_INPUT_PATH_BYTES]; /* of the first request with a 404 */
        struct ed_redirect redirect;
        uint64_t read; /* requests so far */
        bool whole;    /* read to its end, or to --limit */
        bool limited;  /* read to --limit, and there may be more */
        int err;       /* an exit code; 0: none */
};

#endif
