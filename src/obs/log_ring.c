/*
 * obs/log_ring.c - the buffer of a log.  Lines that it has no room for: put_or_drop() in log.c.
 */
#include "obs/log_ring.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"

int ed_log_ring_init(struct ed_log_ring *ring, size_t size)
{
        *ring = (struct ed_log_ring){ .memory = ed_alloc(size), .size = size, .last = '\n' };
        return ring->memory ? 0 : -ENOMEM;
}

void ed_log_ring_fini(struct ed_log_ring *ring)
{
        ed_free(ring->memory);
}

bool ed_log_ring_has_room(const struct ed_log_ring *ring, size_t bytes)
{
        return bytes < ring->size - ring->count; /* and a line break */
}

static void add(struct ed_log_ring *ring, const char *data, size_t bytes)
{
        size_t tail = (ring->head + ring->count) % ring->size, first = ring->size - tail;

        if (first > bytes)
                first = bytes;
        memcpy(ring->memory + tail, data, first);
        memcpy(ring->memory, data + first, bytes - first);
        ring->count += bytes;
        ring->added += bytes;
}

void ed_log_ring_add(struct ed_log_ring *ring, const char *line, size_t bytes)
{
        if (ring->count == 0 && ring->last != '\n') {
                ring->is_broken_off = true;
                add(ring, "\n", 1);
        }
        add(ring, line, bytes);
}

struct eddy_slice ed_log_ring_piece(const struct ed_log_ring *ring, size_t max)
{
        size_t bytes = ring->size - ring->head;

        if (bytes > ring->count)
                bytes = ring->count;
        return (struct eddy_slice){ ring->memory + ring->head, bytes < max ? bytes : max };
}

void ed_log_ring_remove(struct ed_log_ring *ring, size_t bytes)
{
        if (bytes == 0)
                return;
        ring->last = ring->memory[(ring->head + bytes - 1) % ring->size];
        ring->is_broken_off = false;
        ring->head = (ring->head + bytes) % ring->size;
        ring->count -= bytes;
        ring->removed += bytes;
}

size_t ed_log_ring_drop(struct ed_log_ring *ring, bool is_cut)
{
        size_t lines = 0;

        for (size_t i = 0; i < ring->count; i++)
                lines += ring->memory[(ring->head + i) % ring->size] == '\n';
        lines -= ring->is_broken_off;
        ring->is_broken_off = false;
        if (is_cut)
                ring->last = '\0';
        ring->removed = ring->added;
        ring->head = ring->count = 0;
        return lines;
}
