/*
 * base/alloc.c - the allocator hook.
 */
#include "base/alloc.h"

#include <stdlib.h>

__thread bool ed_alloc_is_debug;

static void *realloc_system(void *ctx, void *ptr, size_t bytes)
{
        (void) ctx;
        if (bytes == 0) {
                free(ptr);
                return NULL;
        }
        return realloc(ptr, bytes);
}

static struct {
        eddy_realloc_fn *fn;
        void *ctx;
} hook = { realloc_system, NULL };

void eddy_alloc_set(eddy_realloc_fn *fn, void *ctx)
{
        hook.fn = fn ? fn : realloc_system;
        hook.ctx = ctx;
}

void ed_alloc_hook(eddy_realloc_fn **ret_fn, void **ret_ctx)
{
        *ret_fn = hook.fn;
        *ret_ctx = hook.ctx;
}

/* A size of 0 would free the block, so ask for 1 byte: NULL then always means "no memory". */
void *eddy_malloc(size_t bytes)
{
        return hook.fn(hook.ctx, NULL, bytes ? bytes : 1);
}

void *eddy_realloc(void *ptr, size_t bytes)
{
        return hook.fn(hook.ctx, ptr, bytes ? bytes : 1);
}

void eddy_free(void *ptr)
{
        if (ptr)
                hook.fn(hook.ctx, ptr, 0);
}
