/*
 * base/alloc.h - memory, through the one allocator hook.
 */
#ifndef ED_BASE_ALLOC_H
#define ED_BASE_ALLOC_H

#include <string.h>

#include "base/def.h"
#include "eddy/alloc.h"

/* The allocator in force, to stand before it. */
ED_SHARED void ed_alloc_hook(eddy_realloc_fn **ret_fn, void **ret_ctx);

static inline void *ed_alloc(size_t bytes)
{
        return eddy_malloc(bytes);
}

/* Zeroed memory, or NULL. */
static inline void *ed_alloc_zero(size_t bytes)
{
        void *ptr = eddy_malloc(bytes);

        if (ptr)
                memset(ptr, 0, bytes);
        return ptr;
}

static inline void *ed_realloc(void *ptr, size_t bytes)
{
        return eddy_realloc(ptr, bytes);
}

static inline void ed_free(void *ptr)
{
        eddy_free(ptr);
}

#endif
