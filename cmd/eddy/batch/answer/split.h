/*
 * batch/answer/split.h - splits the answer to several rows (batch/request/bundle.h) into an answer
 * for each: its "data" has one item for each row, whose "index" is the number of the row. No I/O.
 *
 *     {"data":[{"index":1,"embedding":[1]},{"index":0,"embedding":[2]}],"usage":{"total_tokens":5}}
 *       -->  {"data":[{"index":0,"embedding":[2]}],"usage":{"total_tokens":3}}
 *            {"data":[{"index":0,"embedding":[1]}],"usage":{"total_tokens":2}}
 *
 * Each number of the usage is divided among the rows, so that the sum is exact: whole numbers evenly,
 * the remainder to the first rows; the first row has all of any other number.
 */
#ifndef ED_CMD_BATCH_ANSWER_SPLIT_H
#define ED_CMD_BATCH_ANSWER_SPLIT_H

#include <stddef.h>

#include "common/draft.h"
#include "eddy/def.h"
#include "eddy/json.h"

enum { ED_SPLIT_FAULT_BYTES = 160 };

/* The item of a row. */
struct ed_split_item {
        struct eddy_json_value value; /* of kind EDDY_JSON_NONE: none so far */
        struct eddy_json_value index; /* in 'value' */
};

/* All zero: nothing was split. Borrows the body. */
struct ed_split {
        struct eddy_json_value whole, data, usage; /* 'usage' of kind EDDY_JSON_NONE: none */
        size_t rows;
        struct ed_split_item *items; /* in the order of the rows */
};

/*
 * Find the parts of a body.
 *
 * Errors: -EINVAL  the body has not exactly one item for each row; 'fault' is a sentence;  -ENOMEM
 */
EDDY_MUST_USE int ed_split_begin(struct ed_split *split, const char *body, size_t bytes,
                                 size_t rows, char fault[ED_SPLIT_FAULT_BYTES]);
void ed_split_end(struct ed_split *split);

/* Append the answer for a row, from 0. */
void ed_split_write(const struct ed_split *split, size_t row, struct ed_draft *body);

#endif
