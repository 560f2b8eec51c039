/*
 * common/inputs.h - the files that options name to be read, such as that of --schema: each reader of
 * such a file notes it here, and no result of the command may replace it. Not thread-safe.
 */
#ifndef ED_CMD_COMMON_INPUTS_H
#define ED_CMD_COMMON_INPUTS_H

#include <stdbool.h>

#include "eddy/def.h"

/*
 * Note that an option reads a file. 'option' is borrowed, up to a space or an "@" ("--body @"). Other
 * files than regular ones are not noted. Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_inputs_add(const char *option, const char *path);

/*
 * Check that a result may be written to a file, which need not exist. Returns 0, or the exit code
 * after a message that names 'option'.
 */
EDDY_MUST_USE int ed_inputs_check(const char *command, const char *option, const char *path);

/* Returns true if two names are of one file, which need not exist. */
bool ed_inputs_is_same(const char *a, const char *b);

#endif
