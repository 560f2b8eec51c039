/*
 * batch/request/range.h - a part of a file of requests, which begins and ends between two lines. The
 * lines of a part have the numbers that they have in the whole file.
 */
#ifndef ED_CMD_BATCH_REQUEST_RANGE_H
#define ED_CMD_BATCH_REQUEST_RANGE_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: the whole file. */
struct ed_range {
        uint64_t at;    /* its first byte; above 0, the file is not compressed and not CSV */
        uint64_t bytes; /* 0: to the end */
        uint64_t lines; /* before it */
        bool is_empty;  /* it has no line; then the others count for nothing */
};

#endif
