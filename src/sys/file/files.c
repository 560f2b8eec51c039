/*
 * sys/file/files.c - operations on files and folders, for tables that use the kernel.
 */
#include "sys/file/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "eddy/path.h"
#include "sys/above_stdio.h"
#include "sys/file/beneath.h"
#include "sys/file/describe.h"
#include "sys/libc.h"

#ifdef ED_MSAN
#include <sanitizer/msan_interface.h>
#endif

_Static_assert(sizeof(struct eddy_space) == sizeof(struct iovec) &&
                       offsetof(struct eddy_space, data) == offsetof(struct iovec, iov_base) &&
                       offsetof(struct eddy_space, bytes) == offsetof(struct iovec, iov_len) &&
                       sizeof(struct eddy_slice) == sizeof(struct iovec) &&
                       offsetof(struct eddy_slice, bytes) == offsetof(struct iovec, iov_len),
               "the kernel takes both kinds of pieces as they are");

/* --- reading and writing --- */

static int64_t result_of(int64_t result)
{
        return result < 0 ? -errno : result;
}

/* MemorySanitizer does not see what preadv2(2) and getdents64(2) store. */
static void mark_stored(const void *data, int64_t bytes)
{
#ifdef ED_MSAN
        if (bytes > 0)
                __msan_unpoison(data, (size_t) bytes);
#else
        (void) data;
        (void) bytes;
#endif
}

static void mark_read(const struct ed_file_op *op, int64_t bytes)
{
        for (size_t i = 0; i < op->n && bytes > 0; i++) {
                int64_t n = (int64_t) op->spaces[i].bytes;

                mark_stored(op->spaces[i].data, n < bytes ? n : bytes);
                bytes -= n;
        }
}

/* Copying more than this from the cache would keep the loop from its other tasks. */
enum { NOW_BYTES_MAX = 256 * 1024 };

static bool is_large(const struct ed_file_op *op)
{
        size_t left = NOW_BYTES_MAX;

        for (size_t i = 0; i < op->n; i++) {
                if (op->spaces[i].bytes > left)
                        return true;
                left -= op->spaces[i].bytes;
        }
        return false;
}

/*
 * A thread repeats a read that brings no bytes. Old file systems and devices refuse the flag, and
 * with the flag Linux 5.9 and 5.10 return 0 before the end of a file too (preadv2(2), BUGS).
 */
static int64_t read_now(const struct ed_file_op *op)
{
        const struct iovec *pieces = (const struct iovec *) op->spaces;
        ssize_t n = is_large(op) ? 0 : preadv2(op->fd, pieces, (int) op->n, op->offset, RWF_NOWAIT);

        if (n <= 0)
                return -EAGAIN;
        mark_read(op, n);
        return n;
}

static int64_t read_waiting(const struct ed_file_op *op)
{
        const struct iovec *pieces = (const struct iovec *) op->spaces;
        ssize_t n;

        do
                n = op->offset < 0 ? readv(op->fd, pieces, (int) op->n)
                                   : preadv(op->fd, pieces, (int) op->n, op->offset);
        while (n < 0 && errno == EINTR);
        return result_of(n);
}

static int64_t write_waiting(const struct ed_file_op *op)
{
        const struct iovec *pieces = (const struct iovec *) op->slices;
        ssize_t n;

        do
                n = op->offset < 0 ? writev(op->fd, pieces, (int) op->n)
                                   : pwritev(op->fd, pieces, (int) op->n, op->offset);
        while (n < 0 && errno == EINTR);
        return result_of(n);
}

/* --- opening --- */

static int open_flags(unsigned flags)
{
        bool writes = flags & (EDDY_FILE_WRITE | EDDY_FILE_APPEND);
        int access = !writes ? O_RDONLY : flags & EDDY_FILE_READ ? O_RDWR : O_WRONLY;

        return access | O_CLOEXEC | O_NOCTTY | (flags & EDDY_FILE_APPEND ? O_APPEND : 0) |
               (flags & (EDDY_FILE_CREATE | EDDY_FILE_NEW) ? O_CREAT : 0) |
               (flags & EDDY_FILE_NEW ? O_EXCL : 0) | (flags & EDDY_FILE_TRUNCATE ? O_TRUNC : 0) |
               (flags & EDDY_FILE_NO_FOLLOW ? O_NOFOLLOW : 0);
}

static int64_t open_at(const char *path, int flags, uint32_t mode)
{
        int fd;

        do
                fd = openat(AT_FDCWD, path, flags, (mode_t) mode);
        while (fd < 0 && errno == EINTR);
        return ed_fd_above_stdio(fd);
}

/* Make a file with a name and remove the name, for file systems without unnamed files. */
static int64_t open_removed(const char *folder)
{
        size_t bytes = strlen(folder) + sizeof("/.eddy-XXXXXX");
        char *path = ed_alloc(bytes);
        int64_t fd;

        if (!path)
                return -ENOMEM;
        snprintf(path, bytes, "%s/.eddy-XXXXXX", folder);
        fd = ed_fd_above_stdio(mkostemp(path, O_CLOEXEC));
        if (fd >= 0)
                (void) unlink(path);
        ed_free(path);
        return fd;
}

static int64_t open_unnamed(const char *folder)
{
        int64_t fd = open_at(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

        return fd == -EOPNOTSUPP || fd == -EISDIR ? open_removed(folder) : fd;
}

/* --- describing --- */

static int64_t stat_fd(const struct ed_file_op *op)
{
        struct stat found = { 0 };

        if (fstat(op->fd, &found) < 0)
                return -errno;
        ed_file_describe(&found, op->info);
        return 0;
}

static int64_t stat_path(const struct ed_file_op *op)
{
        int flags = op->flags & EDDY_PATH_NO_FOLLOW ? AT_SYMLINK_NOFOLLOW : 0;
        struct stat found = { 0 };

        if (fstatat(AT_FDCWD, op->path, &found, flags) < 0)
                return -errno;
        ed_file_describe(&found, op->info);
        return 0;
}

/* --- opening with a lock --- */

enum { LOCK_TRIES = 100 };

/* Returns true if the path names the open file: no other program has removed or replaced the file. */
static bool is_named(const struct ed_file_op *op, int fd)
{
        struct eddy_file_info open_file, here;
        const struct ed_file_op of_file = { .fd = fd, .info = &open_file };
        const struct ed_file_op of_path = { .path = op->path,
                                            .flags = op->flags & EDDY_FILE_NO_FOLLOW
                                                             ? EDDY_PATH_NO_FOLLOW
                                                             : 0,
                                            .info = &here };

        return stat_fd(&of_file) == 0 && stat_path(&of_path) == 0 &&
               open_file.device == here.device && open_file.inode == here.inode;
}

/* Errors: -EAGAIN  the path names another file; -EBUSY */
static int64_t open_locked_once(const struct ed_file_op *op)
{
        int64_t fd = open_at(op->path, open_flags(op->flags), op->mode);
        int result;

        if (fd < 0)
                return fd;
        do
                result = flock((int) fd, LOCK_EX | LOCK_NB);
        while (result < 0 && errno == EINTR);
        if (result == 0 && is_named(op, (int) fd))
                return fd;
        result = result == 0 ? -EAGAIN : errno == EWOULDBLOCK ? -EBUSY : -errno;
        close((int) fd);
        return result;
}

static int64_t open_locked(const struct ed_file_op *op)
{
        int64_t fd = -EAGAIN;

        for (int i = 0; i < LOCK_TRIES && fd == -EAGAIN; i++)
                fd = open_locked_once(op);
        return fd == -EAGAIN ? -EBUSY : fd;
}

/* --- folders --- */

/* An entry as getdents64(2) stores it. */
struct dirent_now {
        uint64_t inode;
        int64_t next;
        uint16_t bytes;
        uint8_t kind;
        char name[];
};

static bool is_dots(const char *name)
{
        return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Some file systems do not store the kind in the folder. */
static enum eddy_file_kind kind_of_entry(int folder, const struct dirent_now *from)
{
        struct stat found = { 0 };

        if (from->kind != DT_UNKNOWN)
                return ed_file_kind_of(DTTOIF(from->kind));
        if (fstatat(folder, from->name, &found, AT_SYMLINK_NOFOLLOW) < 0)
                return EDDY_FILE_OTHER;
        return ed_file_kind_of(found.st_mode);
}

static void store_entry(int folder, const struct dirent_now *from, struct eddy_folder_entry *entry)
{
        entry->kind = kind_of_entry(folder, from);
        entry->inode = from->inode;
        snprintf(entry->name, sizeof(entry->name), "%s", from->name);
}

/*
 * Store the entries of one call of the kernel. Each takes 24 bytes or more, so there is room for
 * them all.
 */
static int64_t list_once(const struct ed_file_op *op, size_t *ret_stored)
{
        _Alignas(struct dirent_now) char buf[24 * ED_FILE_ENTRIES];
        int64_t n = result_of(getdents64(op->fd, buf, sizeof(buf)));

        mark_stored(buf, n);
        *ret_stored = 0;
        for (int64_t at = 0; at < n;) {
                const struct dirent_now *from = (const void *) (buf + at);

                if (!is_dots(from->name))
                        store_entry(op->fd, from, &op->entries[(*ret_stored)++]);
                at += from->bytes;
        }
        return n;
}

static int64_t list(const struct ed_file_op *op)
{
        size_t stored;
        int64_t n;

        do
                n = list_once(op, &stored);
        while (n > 0 && stored == 0);
        return n < 0 ? n : (int64_t) stored;
}

/* --- all calls --- */

/*
 * Some file systems, such as NFS, cannot rename without replacing: there the file gets the new name in
 * addition, and then loses the old one. Folders and systems without links keep the first error.
 */
static int64_t link_and_remove(const struct ed_file_op *op, int64_t err)
{
        int64_t linked = result_of(linkat(AT_FDCWD, op->path, AT_FDCWD, op->to, 0));

        if (linked < 0)
                return linked == -EEXIST ? linked : err;
        return result_of(unlink(op->path));
}

static int64_t rename_path(const struct ed_file_op *op)
{
        const bool keeps = op->flags & EDDY_PATH_KEEP;
        int64_t err = result_of(
                renameat2(AT_FDCWD, op->path, AT_FDCWD, op->to, keeps ? RENAME_NOREPLACE : 0));

        return err == -EINVAL && keeps ? link_and_remove(op, err) : err;
}

static int64_t sync_fd(const struct ed_file_op *op)
{
        return result_of(op->flags & EDDY_FILE_DATA_ONLY ? fdatasync(op->fd) : fsync(op->fd));
}

static int64_t perform(const struct ed_file_op *op)
{
        switch (op->call) {
        case ED_FILE_OPEN:
                if (op->flags & EDDY_FILE_LOCK)
                        return open_locked(op);
                return open_at(op->path, open_flags(op->flags), op->mode);
        case ED_FILE_OPEN_UNNAMED:
                return open_unnamed(op->path);
        case ED_FILE_OPEN_FOLDER:
                return open_at(op->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
        case ED_FILE_READ:
                return read_waiting(op);
        case ED_FILE_WRITE:
                return write_waiting(op);
        case ED_FILE_SYNC:
                return sync_fd(op);
        case ED_FILE_TRUNCATE:
                return result_of(ftruncate(op->fd, op->offset));
        case ED_FILE_CHMOD:
                return result_of(fchmod(op->fd, (mode_t) op->mode));
        case ED_FILE_STAT:
                return stat_fd(op);
        case ED_FILE_STAT_PATH:
                return stat_path(op);
        case ED_FILE_LIST:
                return list(op);
        case ED_FILE_RENAME:
                return rename_path(op);
        case ED_FILE_REMOVE:
                return result_of(unlink(op->path));
        case ED_FILE_MAKE_FOLDER:
                return result_of(mkdir(op->path, (mode_t) op->mode));
        case ED_FILE_REMOVE_FOLDER:
                return result_of(rmdir(op->path));
        case ED_FILE_OPEN_BENEATH:
                return ed_beneath_open(op);
        case ED_FILE_SEEK: /* never waits */
        case ED_FILE_CALLS:
                break;
        }
        return -EINVAL;
}

int64_t ed_file_try(struct ed_sys *sys, struct ed_file_op *op)
{
        (void) sys;
        switch (op->call) {
        case ED_FILE_READ:
                return read_now(op);
        case ED_FILE_SEEK:
                return result_of(lseek(op->fd, op->offset, SEEK_SET));
        case ED_FILE_OPEN_BENEATH:
                return ed_beneath_open_now(op);
        default:
                return -EAGAIN;
        }
}

void ed_file_run(struct ed_sys *sys, struct ed_file_op *op)
{
        (void) sys;
        op->result = perform(op);
}
