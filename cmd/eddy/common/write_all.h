/*
 * common/write_all.h - writes all bytes to a descriptor.
 */
#ifndef ED_CMD_COMMON_WRITE_ALL_H
#define ED_CMD_COMMON_WRITE_ALL_H

#include <stddef.h>

#include "eddy/def.h"

/*
 * Write all bytes. Blocks the thread, also if the descriptor is in non-blocking mode, as standard
 * output may be.
 *
 * Errors: those of write(2), -EINTR and -EAGAIN excepted
 */
EDDY_MUST_USE int ed_write_all(int fd, const void *data, size_t bytes);

#endif
