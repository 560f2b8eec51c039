/*
 * report/completeness.h - whether each request of an input has an answer. No I/O.
 *
 *     ed_completeness_request() for each id of the input, then
 *     ed_completeness_line() for each line of the answers and errors, and then again
 *     ed_completeness_failure() for each line that is a failure, in the same order
 *
 * A failure counts if its request has no answer, and no later failure. That is known only at the end of
 * the lines.
 */
#ifndef ED_CMD_REPORT_COMPLETENESS_H
#define ED_CMD_REPORT_COMPLETENESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/request/ids.h"
#include "common/draft.h"
#include "common/shard.h"
#include "eddy/def.h"

enum ed_completeness_result {
        ED_COMPLETENESS_FAILED,
        ED_COMPLETENESS_FOR_GOOD, /* failed, as it would again */
        ED_COMPLETENESS_FINAL, /* failed, and is accepted if there is an answer: a server may be down */
        ED_COMPLETENESS_NAMED, /* failed, and is accepted by its id */
        ED_COMPLETENESS_OK,
};

/* All zero: the input is not known. */
struct ed_completeness {
        struct ed_ids *ids;
        const char *input;              /* NULL: not known */
        struct ed_shard shard;          /* of it; all zero: all of it */
        bool is_active;                 /* a run may add answers */
        bool is_table;                  /* the input is CSV, which may have no row */
        uint64_t requests;              /* ids of the input */
        uint64_t answered;              /* of them */
        uint64_t failed, finals, named; /* of them, without an answer, by result */
        uint64_t for_good;              /* of 'failed' */
        const char *flaw;               /* why a whole is not exact; NULL: it is */
        uint64_t empty;                 /* lines of the input that --skip-empty leaves out */
        uint64_t placed;   /* lines with ids of the input, or all lines if it is not known */
        uint64_t strange;  /* lines with other ids */
        uint64_t replaced; /* failures that do not count */
        uint64_t numbered, settled; /* failures seen by ed_completeness_line() and _failure() */
};

void ed_completeness_fini(struct ed_completeness *completeness);

/* Add an id of the input. Errors: -ENOMEM */
EDDY_MUST_USE int ed_completeness_request(struct ed_completeness *completeness, const char *id,
                                          size_t bytes);

/*
 * Add the id of a line that --skip-empty leaves out. It is a request only if it has an answer. Errors:
 * -ENOMEM
 */
EDDY_MUST_USE int ed_completeness_empty(struct ed_completeness *completeness, const char *id,
                                        size_t bytes);

/*
 * Add a line. Returns true if it counts, false if its id is not in the input, or if it is a failure, which
 * ed_completeness_failure() judges. If the input is not known, all lines count.
 */
bool ed_completeness_line(struct ed_completeness *completeness, const char *id, size_t bytes,
                          enum ed_completeness_result result);

/* Returns true if a failure counts. It is final if any failure of its request is. */
bool ed_completeness_failure(struct ed_completeness *completeness, const char *id, size_t bytes,
                             enum ed_completeness_result result);

/* Returns the number of requests whose failures are accepted, and of those that failed otherwise. */
uint64_t ed_completeness_accepted(const struct ed_completeness *completeness);
uint64_t ed_completeness_failed(const struct ed_completeness *completeness);

/* Returns true if the input has no request, and a run ends with 0: there is nothing to send. */
bool ed_completeness_is_empty(const struct ed_completeness *completeness);

/* Returns true if a request has neither an answer nor an accepted failure, or that is not known. */
bool ed_completeness_lacks(const struct ed_completeness *completeness);

/* Append the sentence with which a report begins, without a line feed. */
void ed_completeness_print(const struct ed_completeness *completeness, struct ed_draft *out);

#endif
