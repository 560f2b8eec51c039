/*
 * sys/process/shared.c - memory that is shared with worker processes: a file without a name,
 * mapped.
 */
#include "sys/process/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sys/above_stdio.h"

struct eddy_process_buffer {
        void *data;
        size_t bytes;
        int fd;
};

int ed_process_buffer_fd(const eddy_process_buffer *buffer)
{
        return buffer->fd;
}

/* A worker must not cut the file, since the parent would die of a touch after its end. */
static int memory_open(size_t bytes)
{
        int fd = memfd_create("eddy buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING), err;

        fd = ed_fd_above_stdio(fd);
        if (fd < 0)
                return fd;
        if (ftruncate(fd, (off_t) bytes) == 0 &&
            fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
                return fd;
        err = -errno;
        (void) close(fd);
        return err;
}

int eddy_process_buffer_new(size_t bytes, eddy_process_buffer **ret_buffer)
{
        eddy_process_buffer *buffer;
        void *data;
        int fd;

        if (bytes == 0 || bytes > INT64_MAX)
                return -EINVAL;
        buffer = ed_alloc(sizeof(*buffer));
        if (!buffer)
                return -ENOMEM;
        fd = memory_open(bytes);
        if (fd < 0) {
                ed_free(buffer);
                return fd;
        }
        data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (data == MAP_FAILED) {
                int err = -errno;

                (void) close(fd);
                ed_free(buffer);
                return err;
        }
        *buffer = (struct eddy_process_buffer){ data, bytes, fd };
        *ret_buffer = buffer;
        return 0;
}

void *eddy_process_buffer_data(const eddy_process_buffer *buffer)
{
        return buffer ? buffer->data : NULL;
}

void eddy_process_buffer_free(eddy_process_buffer *buffer)
{
        if (!buffer)
                return;
        (void) munmap(buffer->data, buffer->bytes);
        (void) close(buffer->fd);
        ed_free(buffer);
}
