/*
 * io/stream.h - a write with a callback before its first wait.
 */
#ifndef ED_IO_STREAM_H
#define ED_IO_STREAM_H

#include <stdbool.h>

#include "base/def.h"
#include "eddy/stream.h"

/* Put this into a struct with the data that 'begin' needs. */
struct ed_stream_wait {
        void (*begin)(struct ed_stream_wait *wait); /* before the first wait; does not suspend */
        bool waited;
};

/* As eddy_stream_writev(). If the write has to wait, first calls 'first->begin', once. */
EDDY_MUST_USE ED_SHARED int ed_stream_writev(eddy_stream *stream, const struct eddy_slice *list,
                                             size_t n, struct ed_stream_wait *first);

#endif
