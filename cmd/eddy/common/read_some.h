/*
 * common/read_some.h - reads bytes from a descriptor.
 */
#ifndef ED_CMD_COMMON_READ_SOME_H
#define ED_CMD_COMMON_READ_SOME_H

#include <stddef.h>
#include <sys/types.h>

#include "eddy/def.h"

/*
 * Read up to 'bytes' from 'at', or, if 'at' is -1, from the descriptor's position. Blocks the thread,
 * also if the descriptor is in non-blocking mode, as standard input may be. Returns 0 at the end.
 *
 * Errors: those of read(2), as negative numbers, -EINTR and -EAGAIN excepted
 */
EDDY_MUST_USE ssize_t ed_read_some(int fd, void *data, size_t bytes, off_t at);

#endif
