/*
 * wire/websocket_mask.c - masks of payloads; see websocket.h.
 *
 * Vectors of gcc and clang exist for every processor. A mask of four bytes is repeated to a vector, so
 * one turn is for 32 bytes.
 */
#include <string.h>

#include "wire/websocket.h"

enum { LANES = 16, TURN = 2 * LANES };

typedef unsigned char lanes __attribute__((vector_size(LANES)));

void ed_websocket_mask(void *out, const void *data, size_t bytes,
                       const unsigned char mask[ED_WEBSOCKET_MASK_BYTES], uint64_t at)
{
        const unsigned char *from = data;
        unsigned char key[LANES], *to = out;
        lanes all, first, second;
        size_t i = 0;

        for (size_t lane = 0; lane < LANES; lane++)
                key[lane] = mask[(at + lane) % ED_WEBSOCKET_MASK_BYTES];
        memcpy(&all, key, LANES);
        for (; bytes - i >= TURN; i += TURN) {
                memcpy(&first, from + i, LANES);
                memcpy(&second, from + i + LANES, LANES);
                first ^= all;
                second ^= all;
                memcpy(to + i, &first, LANES);
                memcpy(to + i + LANES, &second, LANES);
        }
        for (; i < bytes; i++)
                to[i] = from[i] ^ key[i % ED_WEBSOCKET_MASK_BYTES];
}
