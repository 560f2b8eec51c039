/*
 * common/bits.c - see bits.h.
 */
#include "common/bits.h"

#include <errno.h>
#include <string.h>

#include "eddy/alloc.h"

enum { ROOM_LEAST = 1024 };

void ed_bits_fini(struct ed_bits *bits)
{
        eddy_free(bits->data);
        *bits = (struct ed_bits){ 0 };
}

bool ed_bits_has(const struct ed_bits *bits, uint64_t number)
{
        return number / 8 < bits->bytes && bits->data[number / 8] & 1 << number % 8;
}

int ed_bits_add(struct ed_bits *bits, uint64_t number)
{
        size_t at = (size_t) (number / 8), bytes;
        uint8_t *data;

        if (ed_bits_has(bits, number))
                return 0;
        if (at >= bits->bytes) {
                bytes = at + at / 4 + ROOM_LEAST;
                data = eddy_realloc(bits->data, bytes);
                if (!data)
                        return -ENOMEM;
                memset(data + bits->bytes, 0, bytes - bits->bytes);
                bits->data = data;
                bits->bytes = bytes;
        }
        bits->data[at] |= (uint8_t) (1 << number % 8);
        return 1;
}
