/*
 * common/watched_file.c - see watched_file.h.
 */
#include "common/watched_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/read_some.h"
#include "eddy/alloc.h"

static bool is_same_time(const struct timespec *a, const struct timespec *b)
{
        return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool ed_watched_file_look(const char *path, struct ed_watched_file *file)
{
        struct ed_watched_file now = { 0 };
        struct stat st;
        bool is_same;

        /* A missing file is a state of its own. */
        if (stat(path, &st) == 0)
                now = (struct ed_watched_file){ S_ISREG(st.st_mode), st.st_dev,  st.st_ino,
                                                st.st_size,          st.st_mtim, st.st_ctim };
        else
                now.is_regular = true;
        is_same = now.is_regular == file->is_regular && now.device == file->device &&
                  now.number == file->number && now.bytes == file->bytes &&
                  is_same_time(&now.modified, &file->modified) &&
                  is_same_time(&now.changed, &file->changed);
        *file = now;
        return !is_same;
}

/* Read 'room' bytes, or those up to the end of the file. */
static int64_t fd_read(int fd, char *data, size_t room)
{
        size_t bytes = 0;

        while (bytes < room) {
                ssize_t n = ed_read_some(fd, data + bytes, room - bytes, -1);

                if (n < 0)
                        return n;
                if (n == 0)
                        break;
                bytes += (size_t) n;
        }
        return (int64_t) bytes;
}

int ed_watched_file_read(const char *path, size_t bytes_max, char **ret_data, size_t *ret_bytes)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        int64_t n = -ENOMEM;
        char *data = NULL;
        struct stat st;

        if (fd < 0)
                return -errno;
        if (fstat(fd, &st) < 0)
                n = -errno;
        else if (!S_ISREG(st.st_mode))
                n = -EINVAL;
        else if (st.st_size > (off_t) bytes_max)
                n = -EFBIG;
        else
                data = eddy_malloc((size_t) st.st_size + 1);
        if (data)
                n = fd_read(fd, data, (size_t) st.st_size);
        close(fd);
        if (n < 0) {
                eddy_free(data);
                return (int) n;
        }
        data[n] = '\0';
        *ret_data = data;
        *ret_bytes = (size_t) n;
        return 0;
}
