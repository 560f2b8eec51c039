/*
 * report/completeness.h - whether each request of an input has an answer. No I/O.
 *
 *     ed_completeness_request() for each id of the input, then
 *     ed_completeness_line() for each line of the answers and errors
 */
#ifndef ED_CMD_REPORT_COMPLETENESS_H
#define ED_CMD_REPORT_COMPLETENESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/request/ids.h"
#include "common/draft.h"
#include "eddy/def.h"

enum ed_completeness_result {
        ED_COMPLETENESS_FAILED,
        ED_COMPLETENESS_ACCEPTED, /* failed, and is not sent again */
        ED_COMPLETENESS_OK,
};

/* All zero: the input is not known. */
struct ed_completeness {
        struct ed_ids *ids;
        const char *input;                      /* NULL: not known */
        uint64_t requests;                      /* ids of the input */
        uint64_t answered;                      /* of them */
        uint64_t accepted, failed;              /* of them, without an answer */
        uint64_t strange;                       /* lines with other ids */
        uint64_t lines[ED_COMPLETENESS_OK + 1]; /* by result, also if the input is not known */
};

void ed_completeness_fini(struct ed_completeness *completeness);

/* Add an id of the input. Errors: -ENOMEM */
EDDY_MUST_USE int ed_completeness_request(struct ed_completeness *completeness, const char *id,
                                          size_t bytes);

/* Add a line. Errors: -ENOMEM */
EDDY_MUST_USE int ed_completeness_line(struct ed_completeness *completeness, const char *id,
                                       size_t bytes, enum ed_completeness_result result);

/* Returns true if a request has neither an answer nor an accepted failure, or that is not known. */
bool ed_completeness_lacks(const struct ed_completeness *completeness);

/* Append the sentence with which a report begins, without a line feed. */
void ed_completeness_print(const struct ed_completeness *completeness, struct ed_draft *out);

#endif
