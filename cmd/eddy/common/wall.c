/*
 * common/wall.c - see wall.h.
 */
#include "common/wall.h"

#include <time.h>

int64_t ed_wall_ns(void)
{
        struct timespec now;

        clock_gettime(CLOCK_REALTIME, &now);
        return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}
