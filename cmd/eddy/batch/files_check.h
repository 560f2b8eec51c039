/*
 * batch/files_check.h - looks up the files that a request sends, for `eddy check`.
 */
#ifndef ED_CMD_BATCH_FILES_CHECK_H
#define ED_CMD_BATCH_FILES_CHECK_H

#include <stdint.h>

#include "batch/request/request.h"
#include "common/draft.h"
#include "eddy/def.h"

/* The files of all requests. All zero is the start. */
struct ed_files_count {
        uint64_t files;
        uint64_t bytes;
};

/*
 * Add the files of a request. Blocks.
 *
 * Errors: -EINVAL  'error' is a sentence about the first file that cannot be sent
 */
EDDY_MUST_USE int ed_files_check(struct ed_files_count *count, const struct ed_request *request,
                                 char error[ED_REQUEST_ERROR_BYTES]);

/* Append a line with the counts if a request has files. */
void ed_files_count_add(const struct ed_files_count *count, struct ed_draft *report);

#endif
