/*
 * common/result.h - the result of a command that reads files: standard output, or a file that is
 * replaced when the result is complete, and compressed if its name ends in .gz or .zst. Blocks; not
 * for use on a loop.
 */
#ifndef ED_CMD_COMMON_RESULT_H
#define ED_CMD_COMMON_RESULT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/pack.h"
#include "common/replace.h"
#include "eddy/def.h"

struct ed_result {
        const char *command; /* for messages */
        const char *option;  /* that names the file; for messages. ed_result_init() sets "-o" */
        const char *path;    /* NULL: standard output */
        struct ed_replace replace;
        struct ed_pack pack;
        char *buf; /* bytes that are added, and then room for those that are packed */
        size_t used;
};

/* Initialise; ed_result_end() may be called then. */
void ed_result_init(struct ed_result *result, const char *command);

/*
 * Open the result 'path' (borrowed); NULL or "-" is standard output. Returns 0 or the exit code, after a
 * message.
 */
EDDY_MUST_USE int ed_result_open(struct ed_result *result, const char *path);

/* Returns true if an input, 'path', is the file that the result replaces. */
bool ed_result_is(const struct ed_result *result, const char *path);

/* Returns the folder for temporary files: that of the result, or TMPDIR. */
const char *ed_result_folder(const struct ed_result *result);

/* Add bytes. Errors: -ENOMEM, those of write(2) */
EDDY_MUST_USE int ed_result_add(struct ed_result *result, const char *data, size_t bytes);

/* Write the rest, and replace the file. Errors: -ENOMEM, the system's */
EDDY_MUST_USE int ed_result_finish(struct ed_result *result);

/* Remove the file that the result would replace, if there is one. Errors: the system's */
EDDY_MUST_USE int ed_result_remove(struct ed_result *result);

/* Report an error of these functions. Returns the exit code. */
int ed_result_fault(const struct ed_result *result, int err);

/* Report an error of a temporary file in ed_result_folder(). Returns the exit code. */
int ed_result_temporary_fault(const struct ed_result *result, int err);

/* Remove a file that is not finished, and free everything. */
void ed_result_end(struct ed_result *result);

#endif
