/*
 * common/write_all.c - see write_all.h.
 */
#include "common/write_all.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

int ed_write_all(int fd, const void *data, size_t bytes)
{
        const char *next = data;

        while (bytes > 0) {
                ssize_t n = write(fd, next, bytes);

                if (n > 0) {
                        next += n;
                        bytes -= (size_t) n;
                } else if (n == 0) {
                        return -EIO;
                } else if (errno == EAGAIN) {
                        poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, -1);
                } else if (errno != EINTR) {
                        return -errno;
                }
        }
        return 0;
}
