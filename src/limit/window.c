/*
 * limit/window.c - see window.h.
 */
#include "limit/window.h"

#include <stddef.h>

#include "loop/timer.h"

/* A debt cannot grow beyond this sum, so that sums do not overflow. */
#define USED_MAX ((uint64_t) 1 << 62)

void ed_window_init(struct ed_window *window, uint64_t max, int64_t length_ns)
{
        window->length_ns = length_ns;
        window->max = max;
        window->used = 0;
        window->head = 0;
        window->count = 0;
}

static struct ed_window_entry *entry_at(struct ed_window *window, uint32_t i)
{
        return &window->entries[(window->head + i) % ED_WINDOW_ENTRIES];
}

static void expire(struct ed_window *window, int64_t now_ns)
{
        while (window->count > 0 && entry_at(window, 0)->until_ns < now_ns) {
                window->used -= entry_at(window, 0)->amount;
                window->head = (window->head + 1) % ED_WINDOW_ENTRIES;
                window->count--;
        }
}

int64_t ed_window_fits_ns(struct ed_window *window, uint64_t amount, int64_t now_ns)
{
        uint64_t used;
        int64_t at_ns = now_ns;

        expire(window, now_ns);
        used = window->used;
        if (amount > window->max)
                amount = window->max;
        for (uint32_t i = 0; i < window->count && used + amount > window->max; i++) {
                const struct ed_window_entry *entry = entry_at(window, i);

                used -= entry->amount;
                if (entry->until_ns >= at_ns)
                        at_ns = ed_time_after(entry->until_ns, 1);
        }
        return at_ns;
}

/* Returns how long an amount counts. */
static int64_t counts_ns(const struct ed_window *window, uint64_t amount)
{
        double ns = (double) window->length_ns * (double) amount / (double) window->max;

        if (amount <= window->max)
                return window->length_ns;
        return ns < 0x1p62 ? (int64_t) ns + 1 : (int64_t) 1 << 62;
}

void ed_window_add(struct ed_window *window, uint64_t amount, int64_t now_ns)
{
        int64_t grain_ns = window->length_ns / (ED_WINDOW_ENTRIES - 4) + 1;
        int64_t until_ns = ed_time_after(now_ns, counts_ns(window, amount));
        struct ed_window_entry *last;

        expire(window, now_ns);
        if (amount == 0 || window->used > USED_MAX)
                return;
        window->used += amount;
        last = window->count > 0 ? entry_at(window, window->count - 1) : NULL;
        if (last && (now_ns - last->first_ns < grain_ns || window->count == ED_WINDOW_ENTRIES)) {
                last->amount += amount;
                if (until_ns > last->until_ns)
                        last->until_ns = until_ns;
                return;
        }
        *entry_at(window, window->count++) = (struct ed_window_entry){ now_ns, until_ns, amount };
}

/* Returns the entry that has what was added at 'at_ns', or NULL: the last that begins before. */
static struct ed_window_entry *find(struct ed_window *window, int64_t at_ns)
{
        uint32_t low = 0, high = window->count;

        while (low < high) {
                uint32_t middle = low + (high - low) / 2;

                if (entry_at(window, middle)->first_ns <= at_ns)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low > 0 ? entry_at(window, low - 1) : NULL;
}

void ed_window_take_back(struct ed_window *window, uint64_t amount, int64_t at_ns, int64_t now_ns)
{
        struct ed_window_entry *entry;

        expire(window, now_ns);
        entry = find(window, at_ns);
        if (!entry)
                return;
        if (amount > entry->amount)
                amount = entry->amount;
        entry->amount -= amount;
        window->used -= amount;
}
