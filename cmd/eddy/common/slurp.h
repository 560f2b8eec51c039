/*
 * common/slurp.h - reads a small file into memory, before the run.
 */
#ifndef ED_CMD_COMMON_SLURP_H
#define ED_CMD_COMMON_SLURP_H

#include <stddef.h>

#include "eddy/def.h"

/*
 * Read a file, or standard input ("-"), of at most 'bytes_max' bytes. The bytes are followed by a
 * NUL. 'option' ("--data @") is for messages. Errors are reported on stderr.
 *
 * Errors: -EFBIG, those of open(2) and read(2), -ENOMEM (not reported)
 * Owns: returns (owned) '*ret_data', to be freed by eddy_free().
 */
EDDY_MUST_USE int ed_slurp(const char *command, const char *option, const char *path,
                           size_t bytes_max, char **ret_data, size_t *ret_bytes);

#endif
