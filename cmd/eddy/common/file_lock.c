/*
 * common/file_lock.c - see file_lock.h.
 */
#include "common/file_lock.h"

#include <errno.h>
#include <sys/file.h>

bool ed_file_lock_is_held(int fd)
{
        if (flock(fd, LOCK_SH | LOCK_NB) < 0)
                return errno == EWOULDBLOCK;
        flock(fd, LOCK_UN);
        return false;
}
