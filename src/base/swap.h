/*
 * base/swap.h - replacing an item in the slot of a ring.
 */
#ifndef ED_BASE_SWAP_H
#define ED_BASE_SWAP_H

#include <stddef.h>

/*
 * Copy the slot's item to 'ret_before' (NULL: discard it), then 'item' into the slot. Copies byte
 * by byte, because 'item' and 'ret_before' may be the same memory.
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
