/*
 * eddy/process_buffer.h - memory that is shared with worker processes.
 *
 * For large inputs and results of eddy_process_pool_call(): the function and the caller
 * use the same memory, and nothing is copied.
 *
 *     static int square(eddy_process_work *work)
 *     {
 *             size_t bytes;
 *             double *x = eddy_process_work_buffer(work, 0, &bytes);
 *
 *             for (size_t i = 0; i < bytes / sizeof(*x); i++)
 *                     x[i] *= x[i];
 *             return 0;
 *     }
 *
 *     EDDY_AUTO(eddy_process_buffer) eddy_process_buffer *buffer = NULL;
 *     struct eddy_process_call call = { .fn = square, .buffers = &buffer, .buffers_count = 1 };
 *     int err = eddy_process_buffer_new(1000 * sizeof(double), &buffer);
 *
 *     if (err == 0) {
 *             fill(eddy_process_buffer_data(buffer));
 *             err = eddy_process_pool_call(pool, &call);
 *     }
 */
#ifndef EDDY_PROCESS_BUFFER_H
#define EDDY_PROCESS_BUFFER_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

typedef struct eddy_process_buffer eddy_process_buffer;

/*
 * Make memory that calls can share with their workers, filled with zeros.  Any number of
 * calls may use a buffer, even at the same time: their writes are not synchronised.
 *
 * Suspends: no.  Threads: any.
 * Errors: -EINVAL  0 bytes
 *         -ENOMEM, -EMFILE, -ENFILE, -ENOSYS
 * Owns: returns (owned) '*ret_buffer', to be freed by eddy_process_buffer_free() after the
 *       calls that use it.
 */
EDDY_API EDDY_MUST_USE int eddy_process_buffer_new(size_t bytes, eddy_process_buffer **ret_buffer);

/*
 * Returns the memory of a buffer, which begins at a page, or NULL for NULL.
 *
 * Suspends: no.  Threads: any.
 */
EDDY_API void *eddy_process_buffer_data(const eddy_process_buffer *buffer);

/*
 * Unmap and free a buffer.  NULL is ignored.
 *
 * Suspends: no.  Threads: any.
 */
EDDY_API void eddy_process_buffer_free(eddy_process_buffer *buffer);

static inline void eddy_process_buffer_auto_release(eddy_process_buffer **buffer)
{
        eddy_process_buffer_free(*buffer);
}

EDDY_END_DECLS

#endif
