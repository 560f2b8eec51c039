/*
 * counted.h - an allocator that counts the bytes in use, and the most of them.
 */
#ifndef ED_HTTP_COUNTED_H
#define ED_HTTP_COUNTED_H

#include <stdlib.h>

#include "test.h"

static size_t used, used_most;

static void *count_bytes(void *ctx, void *ptr, size_t bytes)
{
        size_t *block = ptr ? (size_t *) ptr - 2 : NULL;

        (void) ctx;
        if (block)
                used -= block[0];
        if (bytes == 0) {
                free(block);
                return NULL;
        }
        block = realloc(block, bytes + 2 * sizeof(*block));
        CHECK(block != NULL);
        block[0] = bytes;
        used += bytes;
        used_most = used > used_most ? used : used_most;
        return block + 2;
}

#endif
