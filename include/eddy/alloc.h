/*
 * eddy/alloc.h - the one allocator that all of eddy uses.
 *
 * Stacks of tasks are mapped, not allocated; all else comes from here.
 */
#ifndef EDDY_ALLOC_H
#define EDDY_ALLOC_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

/*
 * One function does it all: 'ptr' NULL allocates, 'bytes' 0 frees (and
 * returns NULL), else resizes as realloc(3) does.  A NULL result with
 * 'bytes' above 0 means that there is no memory, and 'ptr' is unharmed.
 */
typedef void *eddy_realloc_fn(void *ctx, void *ptr, size_t bytes);

/*
 * Use 'fn' for all memory from now on; NULL goes back to realloc(3).  Call it
 * before anything else of eddy: memory is freed by the function in force at
 * the time of the free.
 *
 * Suspends: no.  Threads: none may be using eddy.
 * Owns: borrows 'ctx' for ever.
 */
EDDY_API void eddy_alloc_set(eddy_realloc_fn *fn, void *ctx);

/*
 * Memory from the allocator in force.  eddy_free(NULL) does nothing.
 *
 * Suspends: no.  Threads: any, if the allocator in force may be.
 * Errors: NULL when there is no memory.
 */
EDDY_API EDDY_MUST_USE void *eddy_malloc(size_t bytes);
EDDY_API EDDY_MUST_USE void *eddy_realloc(void *ptr, size_t bytes);
EDDY_API void eddy_free(void *ptr);

EDDY_END_DECLS

#endif
