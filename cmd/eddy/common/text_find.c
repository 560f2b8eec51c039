/*
 * common/text_find.c - compares the first and the last byte of the part at sixteen places at once.
 */
#include "common/text_find.h"

#include <stdint.h>
#include <string.h>

enum { LANES = 16 };

typedef char lanes __attribute__((vector_size(LANES)));

static inline lanes lanes_at(const char *at)
{
        lanes word;

        memcpy(&word, at, sizeof(word));
        return word;
}

static inline lanes lanes_of(char c)
{
        return (lanes){ c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c };
}

bool ed_text_has(const char *text, size_t bytes, const char *part, size_t part_bytes)
{
        const lanes first = lanes_of(part[0]), last = lanes_of(part[part_bytes - 1]);
        const char *end = text + bytes;

        while ((size_t) (end - text) >= LANES + part_bytes - 1) {
                lanes equal = (lanes) ((lanes_at(text) == first) &
                                       (lanes_at(text + part_bytes - 1) == last));
                uint64_t halves[2];

                memcpy(halves, &equal, sizeof(halves));
                if ((halves[0] | halves[1]) &&
                    memmem(text, LANES + part_bytes - 1, part, part_bytes))
                        return true;
                text += LANES;
        }
        return memmem(text, (size_t) (end - text), part, part_bytes) != NULL;
}
