/*
 * io/slices.h - the part of a gathered write that is still to be written.
 */
#ifndef ED_IO_SLICES_H
#define ED_IO_SLICES_H

#include <stdbool.h>

#include "base/def.h"
#include "eddy/stream.h"

/* 'slices' without the empty ones and the bytes already written. */
struct ed_slices {
        struct eddy_slice list[EDDY_STREAM_SLICES_MAX];
        size_t first, n;
};

/* Errors: -EINVAL  too many. */
EDDY_MUST_USE ED_SHARED int ed_slices_init(struct ed_slices *slices, const struct eddy_slice *list,
                                           size_t n);

/* Skip the next 'bytes'. */
ED_SHARED void ed_slices_skip(struct ed_slices *slices, size_t bytes);

static inline bool ed_slices_is_empty(const struct ed_slices *slices)
{
        return slices->first == slices->n;
}

#endif
