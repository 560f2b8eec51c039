/*
 * batch/sort/memory_option.h - the option --memory of the commands that sort.
 */
#ifndef ED_CMD_BATCH_SORT_MEMORY_OPTION_H
#define ED_CMD_BATCH_SORT_MEMORY_OPTION_H

#include <stdint.h>

#include "eddy/def.h"

#define ED_MEMORY_DEFAULT ((uint64_t) 64000000)

/* Set the memory for lines. Errors: -EINVAL, after a message of 'command' */
EDDY_MUST_USE int ed_memory_option(const char *command, const char *value, uint64_t *ret_memory);

#endif
