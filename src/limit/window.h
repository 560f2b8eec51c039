/*
 * limit/window.h - what was admitted within the last 'length_ns'.
 *
 * A log of amounts, the oldest first.  Amounts that come close together share an entry, which counts
 * until the last of them has left the window, so that the log has a fixed size and the sum is never
 * too low.  The sum of a window is too high by at most what comes within 1/250 of its length.
 */
#ifndef ED_LIMIT_WINDOW_H
#define ED_LIMIT_WINDOW_H

#include <stdint.h>

enum { ED_WINDOW_ENTRIES = 256 };

struct ed_window_entry {
        int64_t first_ns; /* of the first amount */
        int64_t until_ns; /* counts up to and including this time */
        uint64_t amount;
};

struct ed_window {
        int64_t length_ns;
        uint64_t max;  /* the sum that may be reached */
        uint64_t used; /* the sum; above 'max' after a debt */
        uint32_t head, count;
        struct ed_window_entry entries[ED_WINDOW_ENTRIES];
};

/* Initialise an empty window of memory that need not be zeroed. */
void ed_window_init(struct ed_window *window, uint64_t max, int64_t length_ns);

/* Returns the first time from 'now_ns' at which 'amount' fits.  An amount above 'max' fits alone. */
int64_t ed_window_fits_ns(struct ed_window *window, uint64_t amount, int64_t now_ns);

/* Adds an amount.  Amounts above 'max' count for longer, in proportion. */
void ed_window_add(struct ed_window *window, uint64_t amount, int64_t now_ns);

/* Takes back at most 'amount' of what was added at 'at_ns', unless that has left the window. */
void ed_window_take_back(struct ed_window *window, uint64_t amount, int64_t at_ns, int64_t now_ns);

#endif
