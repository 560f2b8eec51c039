/*
 * places.c - see places.h.
 */
#include "places.h"

#include <stdint.h>

#include "test.h"

enum { PLACES_MAX = 1024 };

/* Where the program begins in memory; by the linker. */
extern const char __executable_start[];

static uintptr_t places[PLACES_MAX];
static int count;

void places_note(const void *address)
{
        uintptr_t place = (uintptr_t) address - (uintptr_t) __executable_start;

        for (int i = 0; i < count; i++)
                if (places[i] == place)
                        return;
        CHECK(count < PLACES_MAX);
        places[count++] = place;
}

int places_print(void)
{
        for (int i = 0; i < count && getenv("EDDY_TEST_PLACES"); i++)
                printf("# place %#llx\n", (unsigned long long) places[i]);
        return count;
}
