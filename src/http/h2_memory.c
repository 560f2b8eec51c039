/*
 * http/h2_memory.c - see h2_memory.h.
 */
#include "http/h2_memory.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

#ifdef ED_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes)   ((void) (at), (void) (bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void) (at), (void) (bytes))
#endif

enum { CLASS_BYTES = 64, KEPT_BYTES_MAX = 512 << 10, LARGE = ED_H2_MEMORY_CLASSES };

/* In front of the caller's bytes. */
struct ed_h2_block {
        _Alignas(max_align_t) size_t class; /* LARGE: not kept */
        struct ed_h2_block *next;           /* while it is kept */
        char bytes[] __attribute__((aligned));
};

static struct ed_h2_block *block_of(void *ptr)
{
        return (void *) ((char *) ptr - sizeof(struct ed_h2_block));
}

static size_t class_of(size_t bytes)
{
        size_t class = bytes > 0 ? (bytes - 1) / CLASS_BYTES : 0;

        return class < LARGE ? class : LARGE;
}

static size_t room_of(size_t class)
{
        return (class + 1) * CLASS_BYTES;
}

void *ed_h2_malloc(size_t bytes, void *arg)
{
        struct ed_h2_memory *memory = arg;
        size_t class = class_of(bytes);
        struct ed_h2_block *block = class < LARGE ? memory->kept[class] : NULL;

        if (block) {
                memory->kept[class] = block->next;
                memory->bytes -= room_of(class);
                ASAN_UNPOISON_MEMORY_REGION(block->bytes, room_of(class));
                return block->bytes;
        }
        if (bytes > SIZE_MAX - sizeof(*block))
                return NULL;
        block = ed_alloc(sizeof(*block) + (class < LARGE ? room_of(class) : bytes));
        if (!block)
                return NULL;
        block->class = class;
        return block->bytes;
}

void ed_h2_free(void *ptr, void *arg)
{
        struct ed_h2_memory *memory = arg;
        struct ed_h2_block *block;

        if (!ptr)
                return;
        block = block_of(ptr);
        if (block->class == LARGE || memory->bytes + room_of(block->class) > KEPT_BYTES_MAX) {
                ed_free(block);
                return;
        }
        block->next = memory->kept[block->class];
        memory->kept[block->class] = block;
        memory->bytes += room_of(block->class);
        ASAN_POISON_MEMORY_REGION(block->bytes, room_of(block->class));
}

void *ed_h2_calloc(size_t n, size_t bytes, void *arg)
{
        void *ptr;

        if (bytes && n > SIZE_MAX / bytes)
                return NULL;
        ptr = ed_h2_malloc(n * bytes, arg);
        return ptr ? memset(ptr, 0, n * bytes) : NULL;
}

void *ed_h2_realloc(void *ptr, size_t bytes, void *arg)
{
        struct ed_h2_block *block;
        void *moved;

        if (!ptr)
                return ed_h2_malloc(bytes, arg);
        block = block_of(ptr);
        if (block->class == LARGE) {
                if (bytes > SIZE_MAX - sizeof(*block))
                        return NULL;
                block = ed_realloc(block, sizeof(*block) + bytes);
                return block ? block->bytes : NULL;
        }
        if (bytes <= room_of(block->class))
                return ptr;
        moved = ed_h2_malloc(bytes, arg);
        if (!moved)
                return NULL;
        memcpy(moved, ptr, room_of(block->class));
        ed_h2_free(ptr, arg);
        return moved;
}

void ed_h2_memory_fini(struct ed_h2_memory *memory)
{
        for (size_t class = 0; class < LARGE; class ++) {
                struct ed_h2_block *block;

                while ((block = memory->kept[class]) != NULL) {
                        memory->kept[class] = block->next;
                        ed_free(block);
                }
        }
        memory->bytes = 0;
}
