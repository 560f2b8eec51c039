/*
 * batch/sort/memory_option.c - see memory_option.h.
 */
#include "batch/sort/memory_option.h"

#include <errno.h>

#include "batch/sort/merge_sort.h"
#include "common/console.h"
#include "common/option.h"

int ed_memory_option(const char *command, const char *value, uint64_t *ret_memory)
{
        uint64_t memory;
        int err = ed_option_amount(command, "--memory", value, &memory);

        if (err < 0)
                return err;
        if (memory < ED_MERGE_SORT_MEMORY_MIN || memory > ED_MERGE_SORT_MEMORY_MAX) {
                ed_console_usage(command, "--memory %s: give bytes from 300k to 64G", value);
                return -EINVAL;
        }
        *ret_memory = memory;
        return 0;
}
