/*
 * sys/above_stdio.c - keeping new descriptors off the numbers of the standard streams.
 */
#include "sys/above_stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int ed_fd_above_stdio(int fd)
{
        int moved;

        if (fd < 0 || fd > STDERR_FILENO)
                return fd < 0 ? -errno : fd;
        moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (moved < 0)
                return fd;
        close(fd);
        return moved;
}
