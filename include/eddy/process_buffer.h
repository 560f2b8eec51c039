/*
 * eddy/process_buffer.h - memory that is shared with worker processes.
 *
 * For inputs and results of eddy_process_pool_call() that are large: the function and the
 * caller see the same bytes, and nothing is copied.
 */
#ifndef EDDY_PROCESS_BUFFER_H
#define EDDY_PROCESS_BUFFER_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

typedef struct eddy_process_buffer eddy_process_buffer;

/*
 * Make memory that calls can share with their workers, filled with zeros, for inputs and
 * results that are large or not copied.  A buffer may be used by any number of calls, also at
 * once.
 *
 * Suspends: no.  Threads: any.
 * Errors: -EINVAL  0 bytes
 *         -ENOMEM, -EMFILE, -ENFILE, -ENOSYS
 * Owns: returns (owned) '*ret_buffer', to be freed by eddy_process_buffer_free() after the
 *       calls that use it.
 */
EDDY_API EDDY_MUST_USE int eddy_process_buffer_new(size_t bytes, eddy_process_buffer **ret_buffer);

/*
 * Returns the memory of a buffer, which begins at a page.  NULL for NULL.
 *
 * Suspends: no.  Threads: any.
 */
EDDY_API void *eddy_process_buffer_data(const eddy_process_buffer *buffer);

/* Unmaps and frees a buffer.  NULL is ignored. */
EDDY_API void eddy_process_buffer_free(eddy_process_buffer *buffer);

static inline void eddy_process_buffer_auto_release(eddy_process_buffer **buffer)
{
        eddy_process_buffer_free(*buffer);
}

EDDY_END_DECLS

#endif
