/*
 * base/alloc.h - memory, through the allocator hook.
 */
#ifndef ED_BASE_ALLOC_H
#define ED_BASE_ALLOC_H

#include <stdbool.h>
#include <string.h>

#include "base/def.h"
#include "eddy/alloc.h"

/* Returns the current allocator, for a hook that wraps it. */
ED_SHARED void ed_alloc_hook(eddy_realloc_fn **ret_fn, void **ret_ctx);

static inline void *ed_alloc(size_t bytes)
{
        return eddy_malloc(bytes);
}

/* Returns zeroed memory, or NULL. */
static inline void *ed_alloc_zero(size_t bytes)
{
        void *ptr = eddy_malloc(bytes);

        if (ptr)
                memset(ptr, 0, bytes);
        return ptr;
}

/*
 * Set while this thread allocates memory that only debug mode needs. The test kit does not count
 * such allocations, so a run has equal numbers with and without debug mode.
 */
extern ED_SHARED __thread bool ed_alloc_is_debug __attribute__((tls_model("initial-exec")));

/* Returns zeroed memory that only debug mode needs, or NULL. */
static inline void *ed_alloc_debug(size_t bytes)
{
        void *ptr;

        ed_alloc_is_debug = true;
        ptr = ed_alloc_zero(bytes);
        ed_alloc_is_debug = false;
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
