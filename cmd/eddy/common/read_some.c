/*
 * common/read_some.c - see read_some.h.
 */
#include "common/read_some.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

ssize_t ed_read_some(int fd, void *data, size_t bytes, off_t at)
{
        for (;;) {
                ssize_t n = at < 0 ? read(fd, data, bytes) : pread(fd, data, bytes, at);

                if (n < 0 && errno == EAGAIN)
                        poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, -1);
                else if (n >= 0 || errno != EINTR)
                        return n < 0 ? -errno : n;
        }
}
