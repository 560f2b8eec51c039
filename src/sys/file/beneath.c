/*
 * sys/file/beneath.c - opening a file beneath a folder.
 *
 * openat2(2) resolves the path (Linux 5.6). A filter of system calls, such as that of an old container
 * program, can forbid it; then the path is opened part by part, and follows no symbolic link.
 */
#include "sys/file/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/above_stdio.h"
#include "sys/file/describe.h"
#include "sys/libc.h"

/* The argument of openat2(2), whose header old systems lack. */
struct how {
        uint64_t flags, mode, resolve;
};

enum {
        NO_MAGICLINKS = 0x02, /* such as /proc/self/fd/0 */
        NO_SYMLINKS = 0x04,
        BENEATH = 0x08,
        CACHED = 0x20, /* Linux 5.12 */
        TRIES = 16,
};

/* O_NONBLOCK: a FIFO without a writer does not wait, and is then refused. */
static int flags_of(const struct ed_file_op *op)
{
        return O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK |
               (op->flags & ED_BENEATH_FOLDER ? O_DIRECTORY : 0);
}

/* Errors: -EAGAIN: a rename at the same time, or, with CACHED, not in the cache. */
static int64_t open_at_once(const struct ed_file_op *op, uint64_t resolve)
{
        struct how how = { .flags = (uint64_t) flags_of(op),
                           .resolve = resolve | BENEATH | NO_MAGICLINKS };
        int fd;

        if (op->flags & ED_BENEATH_NO_LINKS)
                how.resolve |= NO_SYMLINKS;
        do
                fd = (int) syscall(SYS_openat2, op->fd, op->path, &how, sizeof(how));
        while (fd < 0 && errno == EINTR);
        return ed_fd_above_stdio(fd);
}

/* --- part by part --- */

static int64_t open_part(int folder, const char *name, int flags)
{
        int fd;

        do
                fd = openat(folder, name, flags | O_NOFOLLOW);
        while (fd < 0 && errno == EINTR);
        return ed_fd_above_stdio(fd);
}

static int64_t open_by_parts(const struct ed_file_op *op)
{
        const int through = O_PATH | O_DIRECTORY | O_CLOEXEC;
        const char *path = op->path;
        int64_t fd = op->fd;

        for (;;) {
                char name[EDDY_FOLDER_NAME_MAX + 1];
                size_t bytes = strcspn(path, "/");
                int64_t next = bytes == 0 ? -ENOENT : bytes >= sizeof(name) ? -ENAMETOOLONG : 0;

                if (next == 0) {
                        memcpy(name, path, bytes);
                        name[bytes] = '\0';
                        path += bytes;
                        next = strcmp(name, "..") == 0
                                       ? -EXDEV
                                       : open_part((int) fd, name, *path ? through : flags_of(op));
                }
                if (fd != op->fd)
                        close((int) fd);
                if (next < 0 || !*path++)
                        return next;
                fd = next;
        }
}

/* --- the kind --- */

/* Returns 'fd' if it is what the operation opens, else closes it. */
static int64_t checked(const struct ed_file_op *op, int64_t fd)
{
        struct stat found = { 0 };
        int64_t err = 0;

        if (fd < 0 || op->flags & ED_BENEATH_FOLDER)
                return fd;
        if (fstat((int) fd, &found) < 0)
                err = -errno;
        else if (!S_ISREG(found.st_mode))
                err = S_ISDIR(found.st_mode) ? -EISDIR : -ENXIO;
        if (err < 0) {
                close((int) fd);
                return err;
        }
        ed_file_describe(&found, op->info);
        return fd;
}

int64_t ed_beneath_open(const struct ed_file_op *op)
{
        int64_t fd = -EAGAIN;

        for (int i = 0; i < TRIES && fd == -EAGAIN; i++)
                fd = open_at_once(op, 0);
        if (fd == -ENOSYS || fd == -EPERM)
                fd = open_by_parts(op);
        return fd == -EAGAIN ? -EBUSY : checked(op, fd);
}

int64_t ed_beneath_open_now(const struct ed_file_op *op)
{
        int64_t fd = open_at_once(op, CACHED);

        /* An old kernel does not know CACHED. */
        return fd == -ENOSYS || fd == -EPERM || fd == -EINVAL ? -EAGAIN : checked(op, fd);
}
