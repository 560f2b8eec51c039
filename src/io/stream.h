/*
 * io/stream.h - the interface for implementing a stream.
 *
 * The public calls go through a table of operations, so that a stream can use another stream (TLS)
 * or memory. Each operation keeps the contract of the public call of its name (eddy/stream.h),
 * including suspension and cancellation.
 */
#ifndef ED_IO_STREAM_H
#define ED_IO_STREAM_H

#include "base/def.h"
#include "eddy/stream.h"
#include "io/watch.h"

/* Counts of the bytes written to a stream. */
struct ed_stream_sent {
        uint64_t left; /* taken by the peer */
        uint64_t held; /* not yet taken by the peer */
};

struct ed_stream_ops {
        int64_t (*read)(eddy_stream *stream, void *buf, size_t bytes);
        int (*writev)(eddy_stream *stream, const struct eddy_slice *slices, size_t n);
        int64_t (*write_some)(eddy_stream *stream, const struct eddy_slice *slices, size_t n);
        int (*shutdown)(eddy_stream *stream);
        bool (*is_readable)(eddy_stream *stream);
        int (*watch_idle)(eddy_stream *stream, eddy_stream_idle_fn *fn, void *arg);
        void (*close)(eddy_stream *stream, bool abort);
        struct ed_stream_sent (*sent)(eddy_stream *stream); /* NULL: unknown */
};

/* The first member of every kind of stream. */
struct eddy_stream {
        const struct ed_stream_ops *ops;
};

/* May be called while a task writes. Zeros if unknown. */
ED_SHARED struct ed_stream_sent ed_stream_sent(eddy_stream *stream);

/*
 * Write part of 'slices', at least one byte (0 if there is none), after a wait if necessary.
 * Returns the count. After an error nothing was written and the stream is unchanged, so a cancelled
 * caller can continue later: this call never leaves a stream broken.
 *
 * Suspends: yes.
 * Errors: those of eddy_stream_writev()
 */
EDDY_MUST_USE static inline int64_t ed_stream_write_some(eddy_stream *stream,
                                                         const struct eddy_slice *slices, size_t n)
{
        return stream->ops->write_some(stream, slices, n);
}

/* The rest of a gathered write: 'slices' without the empty ones and the bytes already written. */
struct ed_slices {
        struct eddy_slice list[EDDY_STREAM_SLICES_MAX];
        size_t first, n;
};

/* Errors: -EINVAL  too many. */
EDDY_MUST_USE int ed_slices_init(struct ed_slices *slices, const struct eddy_slice *list, size_t n);

/* Skip the next 'bytes'. */
void ed_slices_skip(struct ed_slices *slices, size_t bytes);

static inline bool ed_slices_is_empty(const struct ed_slices *slices)
{
        return slices->first == slices->n;
}

#endif
