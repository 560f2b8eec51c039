/*
 * http/h2_memory.h - memory for the sessions of nghttp2, which allocates four blocks for each request.
 * Small blocks that were freed are kept for the next of their size, up to a limit, for all
 * connections of a server or a client together.
 */
#ifndef ED_HTTP_H2_MEMORY_H
#define ED_HTTP_H2_MEMORY_H

#include <stddef.h>

enum { ED_H2_MEMORY_CLASSES = 8 }; /* of 64 bytes each */

struct ed_h2_block;

/* All zeros: empty. */
struct ed_h2_memory {
        struct ed_h2_block *kept[ED_H2_MEMORY_CLASSES];
        size_t bytes; /* of the kept blocks */
};

/* The functions of nghttp2_mem, with a struct ed_h2_memory. */
void *ed_h2_malloc(size_t bytes, void *memory);
void *ed_h2_calloc(size_t n, size_t bytes, void *memory);
void *ed_h2_realloc(void *ptr, size_t bytes, void *memory);
void ed_h2_free(void *ptr, void *memory);

/* Free the kept blocks. */
void ed_h2_memory_fini(struct ed_h2_memory *memory);

#endif
