/*
 * eddy/alloc.h - the memory allocator of the library.
 *
 * All memory except the stacks of tasks, which are mapped, comes from this
 * allocator.
 */
#ifndef EDDY_ALLOC_H
#define EDDY_ALLOC_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

/*
 * An allocator in one function: it allocates if 'ptr' is NULL, frees and
 * returns NULL if 'bytes' is 0, and else resizes as realloc(3) does.  A NULL
 * result with 'bytes' above 0 means out of memory; 'ptr' is then unchanged.
 */
typedef void *eddy_realloc_fn(void *ctx, void *ptr, size_t bytes);

/*
 * Use 'fn' for all memory from now on; NULL restores realloc(3).  Call this
 * function before any other function of eddy, because the function that is set
 * at the time of a free frees the memory.
 *
 * Suspends: no.  Threads: none may be using eddy.
 * Owns: borrows 'ctx' for ever.
 */
EDDY_API void eddy_alloc_set(eddy_realloc_fn *fn, void *ctx);

/*
 * Allocate, resize and free memory with the current allocator.
 * eddy_free(NULL) does nothing.
 *
 * Suspends: no.  Threads: any, if the current allocator is thread-safe.
 * Errors: NULL if the memory cannot be allocated.
 */
EDDY_API EDDY_MUST_USE void *eddy_malloc(size_t bytes);
EDDY_API EDDY_MUST_USE void *eddy_realloc(void *ptr, size_t bytes);
EDDY_API void eddy_free(void *ptr);

EDDY_END_DECLS

#endif
