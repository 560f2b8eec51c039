/*
 * starve.h - an allocator that gives out, for eddy_alloc_set().
 */
#ifndef ED_TEST_STARVE_H
#define ED_TEST_STARVE_H

#include <stdlib.h>

/* So many more allocations succeed; below 0: all. */
static int allocations_left = -1;

static inline void *starve(void *ctx, void *ptr, size_t bytes)
{
        (void) ctx;
        if (bytes == 0) {
                free(ptr);
                return NULL;
        }
        if (allocations_left == 0)
                return NULL;
        if (allocations_left > 0)
                allocations_left--;
        return realloc(ptr, bytes);
}

#endif
