/*
 * resident.h - how much of a range of memory has pages.
 */
#ifndef ED_TEST_RESIDENT_H
#define ED_TEST_RESIDENT_H

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test.h"

/* Returns the number of whole pages between two addresses that have memory. */
static inline size_t resident_pages(const void *low, const void *high)
{
        static unsigned char pages[1024];
        size_t page = (size_t) sysconf(_SC_PAGESIZE), n = 0, count;
        uintptr_t from = ((uintptr_t) low + page - 1) / page * page;

        count = (uintptr_t) high <= from ? 0 : ((uintptr_t) high - from) / page;
        CHECK(count <= sizeof(pages));
        CHECK_EQ(mincore((void *) from, count * page, pages), 0);
        for (size_t i = 0; i < count; i++)
                n += pages[i] & 1;
        return n;
}

#endif
