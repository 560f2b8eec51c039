/*
 * io/stream.h - a write that does something before it waits.
 */
#ifndef ED_IO_STREAM_H
#define ED_IO_STREAM_H

#include <stdbool.h>

#include "base/def.h"
#include "eddy/stream.h"

/* A member of what 'begin' needs. */
struct ed_stream_wait {
        void (*begin)(struct ed_stream_wait *wait); /* before the first wait; does not suspend */
        bool waited;
};

/* eddy_stream_writev() that calls 'first->begin' before its first wait, if it has to wait. */
EDDY_MUST_USE ED_SHARED int ed_stream_writev(eddy_stream *stream, const struct eddy_slice *list,
                                             size_t n, struct ed_stream_wait *first);

#endif
