/*
 * common/wall.h - the time of day.
 */
#ifndef ED_CMD_COMMON_WALL_H
#define ED_CMD_COMMON_WALL_H

#include <stdint.h>

/* Returns nanoseconds since 1970. Read it when it is needed: the distance to eddy_now() changes when
 * the clock is set, and when the machine sleeps. */
int64_t ed_wall_ns(void);

#endif
