/*
 * common/reading.c - see reading.h.
 */
#include "common/reading.h"

#include <stddef.h>

#include "eddy/time.h"

#define FIRST_NS EDDY_SEC(2)

static const struct ed_reading_watch *watch; /* NULL: none */

void ed_reading_watch(const struct ed_reading_watch *next)
{
        watch = next;
}

void ed_reading_begin(struct ed_reading *reading, const char *path, uint64_t total)
{
        *reading = (struct ed_reading){ .path = path, .total = total };
        if (watch)
                reading->next_ns = eddy_now() + FIRST_NS;
}

void ed_reading_at(struct ed_reading *reading, uint64_t bytes)
{
        int64_t now_ns;

        if (!watch)
                return;
        now_ns = eddy_now();
        if (now_ns < reading->next_ns)
                return;
        watch->show(reading, bytes);
        reading->next_ns = now_ns + watch->interval_ns;
}

void ed_reading_end(void)
{
        if (watch)
                watch->end();
}
