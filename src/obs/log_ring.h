/*
 * obs/log_ring.h - the buffer of a log: a ring of whole lines that wait to be written.
 */
#ifndef ED_OBS_LOG_RING_H
#define ED_OBS_LOG_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eddy/stream.h"

struct ed_log_ring {
        char *memory;
        size_t size, head, count;
        uint64_t added, removed; /* bytes so far */
        char last;               /* the last byte that was written */
        bool is_broken_off;      /* the ring begins with a line break that ends a cut line */
};

/* Errors: -ENOMEM. */
int ed_log_ring_init(struct ed_log_ring *ring, size_t size);
void ed_log_ring_fini(struct ed_log_ring *ring);

/* Returns true if 'bytes' more fit. */
bool ed_log_ring_has_room(const struct ed_log_ring *ring, size_t bytes);

/* Add a line, for which there is room. After a line that was cut by an error, a line break first. */
void ed_log_ring_add(struct ed_log_ring *ring, const char *line, size_t bytes);

/* Returns the oldest bytes that are in one piece, at most 'max'. */
struct eddy_slice ed_log_ring_piece(const struct ed_log_ring *ring, size_t max);

/* The oldest 'bytes' bytes were written. */
void ed_log_ring_remove(struct ed_log_ring *ring, size_t bytes);

/*
 * Drop all bytes, because writing failed; 'is_cut': after an unknown part of a line. Returns the
 * number of lines, one that was written in part included.
 */
size_t ed_log_ring_drop(struct ed_log_ring *ring, bool is_cut);

#endif
