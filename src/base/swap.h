/*
 * base/swap.h - an item for another, in the slot of a ring.
 */
#ifndef ED_BASE_SWAP_H
#define ED_BASE_SWAP_H

#include <stddef.h>

/*
 * Copy what is in a slot to 'ret_before' (NULL: nowhere), and 'item' into the
 * slot.  Byte by byte: 'item' and 'ret_before' may be the same memory.
 */
static inline void ed_swap(void *slot, const void *item, void *ret_before, size_t bytes)
{
        for (size_t i = 0; i < bytes; i++) {
                unsigned char before = ((unsigned char *) slot)[i];

                ((unsigned char *) slot)[i] = ((const unsigned char *) item)[i];
                if (ret_before)
                        ((unsigned char *) ret_before)[i] = before;
        }
}

#endif
