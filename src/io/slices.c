/*
 * io/slices.c - see slices.h.
 */
#include "io/slices.h"

#include <errno.h>

int ed_slices_init(struct ed_slices *slices, const struct eddy_slice *list, size_t n)
{
        if (n > EDDY_STREAM_SLICES_MAX)
                return -EINVAL;
        slices->first = slices->n = 0;
        for (size_t i = 0; i < n; i++)
                if (list[i].bytes > 0)
                        slices->list[slices->n++] = list[i];
        return 0;
}

void ed_slices_skip(struct ed_slices *slices, size_t bytes)
{
        while (bytes > 0) {
                struct eddy_slice *slice = &slices->list[slices->first];
                size_t n = bytes < slice->bytes ? bytes : slice->bytes;

                slice->data = (const char *) slice->data + n;
                slice->bytes -= n;
                bytes -= n;
                if (slice->bytes == 0)
                        slices->first++;
        }
}
