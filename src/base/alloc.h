/*
 * base/alloc.h - memory, through the one allocator hook.
 */
#ifndef ED_BASE_ALLOC_H
#define ED_BASE_ALLOC_H

#include <stdbool.h>
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

/*
 * While this thread asks for memory that only debug mode needs: the test kit
 * does not count it, so that its numbers are those of the same run without
 * debug mode.
 */
extern ED_SHARED __thread bool ed_alloc_is_debug __attribute__((tls_model("initial-exec")));

/* Zeroed memory that only debug mode needs, or NULL. */
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
