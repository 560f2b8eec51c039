/*
 * disk_calls.c - the system's calls on files, on a simulated disk.
 */
#include "disk_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

enum { FD_FIRST = 1 << 20, FDS = 64, OPS_ROOM_FIRST = 64 };

struct disk_fd {
        struct ed_disk_node *node; /* NULL: closed */
        int flags;
        uint64_t position;
};

struct ed_disk disk;

static struct disk_fd fds[FDS];
static struct disk_log *record_log;
static bool disk_is_made;
static long calls_made, calls_failing = -1;
static int fail_error, fail_kinds;
static bool fail_forever;

/* --- the disk and its log --- */

void disk_make(void)
{
        if (disk_is_made)
                ed_disk_fini(&disk);
        CHECK_EQ(ed_disk_init(&disk), 0);
        disk_is_made = true;
        memset(fds, 0, sizeof(fds));
}

void disk_record(struct disk_log *log)
{
        record_log = log;
}

void disk_log_free(struct disk_log *log)
{
        for (size_t i = 0; i < log->count; i++)
                free(log->ops[i].data);
        free(log->ops);
        *log = (struct disk_log){ 0 };
}

static struct disk_op *op_add(enum disk_op_kind kind, const struct ed_disk_node *node)
{
        struct disk_log *log = record_log;
        struct disk_op *op;

        if (!log)
                return NULL;
        if (log->count == log->room) {
                log->room = log->room ? 2 * log->room : OPS_ROOM_FIRST;
                log->ops = realloc(log->ops, log->room * sizeof(*log->ops));
                CHECK(log->ops != NULL);
        }
        op = &log->ops[log->count++];
        *op = (struct disk_op){ .kind = kind, .node = node ? node->number : 0 };
        return op;
}

static void op_name(struct disk_op *op, const char *name, const char *to)
{
        if (!op)
                return;
        CHECK(strlen(name) < DISK_NAME_BYTES && strlen(to) < DISK_NAME_BYTES);
        snprintf(op->name, sizeof(op->name), "%s", name);
        snprintf(op->to, sizeof(op->to), "%s", to);
}

static struct ed_disk_node *node_of(uint64_t number)
{
        ed_list_each (link, &disk.nodes) {
                struct ed_disk_node *node = ed_container_of(link, struct ed_disk_node, link);

                if (node->number == number)
                        return node;
        }
        test_fail(__FILE__, __LINE__, "no node %llu", (unsigned long long) number);
}

static int op_perform(const struct disk_op *op)
{
        struct ed_disk_node *node;

        switch (op->kind) {
        case DISK_MAKE:
                return ed_disk_make(&disk, op->name, false, 0644, &node);
        case DISK_WRITE:
                return ed_disk_write(&disk, node_of(op->node), op->data, op->bytes, op->offset);
        case DISK_TRUNCATE:
                return ed_disk_truncate(&disk, node_of(op->node), op->offset);
        case DISK_SYNC:
                return ed_disk_sync(&disk, node_of(op->node));
        case DISK_RENAME:
                return ed_disk_rename(&disk, op->name, op->to, false);
        default:
                return ed_disk_remove(&disk, op->name, false);
        }
}

void disk_replay(const struct disk_log *log, size_t count)
{
        for (size_t i = 0; i < count; i++)
                CHECK_EQ(op_perform(&log->ops[i]), 0);
}

uint64_t disk_crash(void)
{
        uint64_t states;

        CHECK_EQ(ed_disk_power_off(&disk, &states), 0);
        memset(fds, 0, sizeof(fds));
        return states;
}

void disk_enter(uint64_t state)
{
        CHECK_EQ(ed_disk_power_on(&disk, state), 0);
        memset(fds, 0, sizeof(fds));
}

const struct ed_disk_node *disk_file(const char *name)
{
        struct ed_disk_node *node;

        return ed_disk_find(&disk, name, &node) == 0 ? node : NULL;
}

const char *disk_name(uint64_t node)
{
        for (size_t i = 0; i < disk.now.count; i++)
                if (disk.now.list[i]->node->number == node)
                        return disk.now.list[i]->name;
        return NULL;
}

void disk_fail(long calls, int error, bool forever)
{
        calls_failing = calls;
        calls_made = 0;
        fail_kinds = 0;
        fail_error = error;
        fail_forever = forever;
}

int disk_failed(void)
{
        return fail_kinds;
}

int disk_open_count(void)
{
        int count = 0;

        for (int i = 0; i < FDS; i++)
                count += fds[i].node != NULL;
        return count;
}

/* Returns true, with errno, if this call is to fail. */
static bool call_fails(enum disk_op_kind kind)
{
        long call = calls_made++;

        if (calls_failing < 0 || call < calls_failing || (call > calls_failing && !fail_forever))
                return false;
        errno = fail_error;
        fail_kinds |= 1 << kind;
        return true;
}

/* --- names and descriptors --- */

/* Returns the name on the disk, or NULL. */
static const char *name_on_disk(const char *path)
{
        size_t bytes = sizeof(DISK_FOLDER) - 1;

        if (strncmp(path, DISK_FOLDER, bytes) != 0 || (path[bytes] && path[bytes] != '/'))
                return NULL;
        return path[bytes] ? path + bytes : "/";
}

static struct disk_fd *fd_on_disk(int fd)
{
        if (fd < FD_FIRST || fd >= FD_FIRST + FDS || !fds[fd - FD_FIRST].node)
                return NULL;
        return &fds[fd - FD_FIRST];
}

static int fd_new(struct ed_disk_node *node, int flags)
{
        for (int i = 0; i < FDS; i++)
                if (!fds[i].node) {
                        fds[i] = (struct disk_fd){ node, flags, 0 };
                        return FD_FIRST + i;
                }
        test_fail(__FILE__, __LINE__, "too many files are open");
}

/* Returns what a call returns, from a negative error. */
static int result_of(int err)
{
        if (err >= 0)
                return err;
        errno = -err;
        return -1;
}

static int stat_of(const struct ed_disk_node *node, struct stat *st)
{
        *st = (struct stat){
                .st_dev = 1,
                .st_ino = node->number,
                .st_mode = node->is_folder ? S_IFDIR | 0755 : S_IFREG | node->mode,
                .st_nlink = ed_disk_has_name(&disk, node),
                .st_size = (off_t) node->now.bytes,
        };
        return 0;
}

/* --- the calls --- */

#define REAL(result, name, ...)                                                                    \
        result __real_##name(__VA_ARGS__);                                                         \
        result __wrap_##name(__VA_ARGS__)

REAL(int, open64, const char *path, int flags, ...);
REAL(int, close, int fd);
REAL(ssize_t, write, int fd, const void *data, size_t bytes);
REAL(ssize_t, pread64, int fd, void *data, size_t bytes, off_t offset);
REAL(off_t, lseek64, int fd, off_t offset, int whence);
REAL(int, fsync, int fd);
REAL(int, fdatasync, int fd);
REAL(int, ftruncate64, int fd, off_t bytes);
REAL(int, fstat64, int fd, struct stat *st);
REAL(int, stat64, const char *path, struct stat *st);
REAL(int, lstat64, const char *path, struct stat *st);
REAL(int, rename, const char *from, const char *to);
REAL(int, unlink, const char *path);
REAL(char *, realpath, const char *path, char *room);
REAL(int, flock, int fd, int how);
REAL(int, fcntl64, int fd, int command, ...);
REAL(int, fchown, int fd, uid_t owner, gid_t group);
REAL(int, fchmod, int fd, mode_t mode);
REAL(int, mkostemp64, char *path, int flags);

int __wrap_open64(const char *path, int flags, ...)
{
        const char *name = name_on_disk(path);
        struct ed_disk_node *node = NULL;
        va_list args;
        mode_t mode;
        int err;

        va_start(args, flags);
        mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
        va_end(args);
        if (!name)
                return __real_open64(path, flags, mode);
        err = ed_disk_find(&disk, name, &node);
        if (err == 0 && flags & O_EXCL)
                err = -EEXIST;
        if (err == 0 && !node->is_folder && flags & O_DIRECTORY)
                err = -ENOTDIR;
        if (err == -ENOENT && flags & O_CREAT) {
                if (call_fails(DISK_MAKE))
                        return -1;
                err = ed_disk_make(&disk, name, false, 0644, &node);
                if (err == 0)
                        op_name(op_add(DISK_MAKE, node), name, "");
        }
        return err < 0 ? result_of(err) : fd_new(node, flags);
}

int __wrap_mkostemp64(char *path, int flags)
{
        char *end = path + strlen(path) - 6;
        static unsigned number;

        if (!name_on_disk(path))
                return __real_mkostemp64(path, flags);
        snprintf(end, 7, "%06u", ++number % 1000000);
        return __wrap_open64(path, O_RDWR | O_CREAT | O_EXCL, 0600);
}

int __wrap_close(int fd)
{
        struct disk_fd *file = fd_on_disk(fd);

        if (!file)
                return __real_close(fd);
        file->node = NULL;
        return 0;
}

ssize_t __wrap_write(int fd, const void *data, size_t bytes)
{
        struct disk_fd *file = fd_on_disk(fd);
        bool fails = file && bytes > 0 && call_fails(DISK_WRITE);
        struct disk_op *op;
        uint64_t offset;

        if (fd == STDERR_FILENO)
                return (ssize_t) bytes; /* messages */
        if (!file)
                return __real_write(fd, data, bytes);
        /* A disk that fills up takes a part of the last write. */
        if (fails && errno == ENOSPC && bytes > 1 && fail_forever &&
            calls_made - 1 == calls_failing)
                bytes /= 2;
        else if (fails)
                return -1;
        offset = file->flags & O_APPEND ? file->node->now.bytes : file->position;
        file->position = offset + bytes;
        CHECK_EQ(ed_disk_write(&disk, file->node, data, bytes, offset), 0);
        op = op_add(DISK_WRITE, file->node);
        if (op) {
                op->offset = offset;
                op->bytes = bytes;
                op->data = malloc(bytes);
                memcpy(op->data, data, bytes);
        }
        return (ssize_t) bytes;
}

ssize_t __wrap_pread64(int fd, void *data, size_t bytes, off_t offset)
{
        struct disk_fd *file = fd_on_disk(fd);

        if (!file)
                return __real_pread64(fd, data, bytes, offset);
        return (ssize_t) ed_disk_read(file->node, data, bytes, (uint64_t) offset);
}

off_t __wrap_lseek64(int fd, off_t offset, int whence)
{
        return fd_on_disk(fd) ? offset : __real_lseek64(fd, offset, whence);
}

static int disk_sync(struct disk_fd *file)
{
        if (call_fails(DISK_SYNC)) {
                /* As Linux does: what could not be written is never tried again. */
                ed_disk_lose(&disk, file->node);
                return -1;
        }
        op_add(DISK_SYNC, file->node);
        return result_of(ed_disk_sync(&disk, file->node));
}

int __wrap_fsync(int fd)
{
        struct disk_fd *file = fd_on_disk(fd);

        return file ? disk_sync(file) : __real_fsync(fd);
}

int __wrap_fdatasync(int fd)
{
        struct disk_fd *file = fd_on_disk(fd);

        return file ? disk_sync(file) : __real_fdatasync(fd);
}

int __wrap_ftruncate64(int fd, off_t bytes)
{
        struct disk_fd *file = fd_on_disk(fd);
        struct disk_op *op;

        if (!file)
                return __real_ftruncate64(fd, bytes);
        if (call_fails(DISK_TRUNCATE))
                return -1;
        op = op_add(DISK_TRUNCATE, file->node);
        if (op)
                op->offset = (uint64_t) bytes;
        return result_of(ed_disk_truncate(&disk, file->node, (uint64_t) bytes));
}

int __wrap_fstat64(int fd, struct stat *st)
{
        struct disk_fd *file = fd_on_disk(fd);

        return file ? stat_of(file->node, st) : __real_fstat64(fd, st);
}

int __wrap_stat64(const char *path, struct stat *st)
{
        const char *name = name_on_disk(path);
        struct ed_disk_node *node;
        int err;

        if (!name)
                return __real_stat64(path, st);
        err = ed_disk_find(&disk, name, &node);
        return err < 0 ? result_of(err) : stat_of(node, st);
}

int __wrap_lstat64(const char *path, struct stat *st)
{
        return name_on_disk(path) ? __wrap_stat64(path, st) : __real_lstat64(path, st);
}

int __wrap_rename(const char *from, const char *to)
{
        const char *name = name_on_disk(from);

        if (!name)
                return __real_rename(from, to);
        if (call_fails(DISK_RENAME))
                return -1;
        op_name(op_add(DISK_RENAME, NULL), name, name_on_disk(to));
        return result_of(ed_disk_rename(&disk, name, name_on_disk(to), false));
}

int __wrap_unlink(const char *path)
{
        const char *name = name_on_disk(path);

        if (!name)
                return __real_unlink(path);
        if (!disk_file(name))
                return result_of(-ENOENT);
        if (call_fails(DISK_REMOVE))
                return -1;
        op_name(op_add(DISK_REMOVE, NULL), name, "");
        return result_of(ed_disk_remove(&disk, name, false));
}

char *__wrap_realpath(const char *path, char *room)
{
        if (!name_on_disk(path))
                return __real_realpath(path, room);
        if (!disk_file(name_on_disk(path))) {
                errno = ENOENT;
                return NULL;
        }
        if (!room)
                return strdup(path);
        snprintf(room, PATH_MAX, "%s", path);
        return room;
}

int __wrap_flock(int fd, int how)
{
        return fd_on_disk(fd) ? 0 : __real_flock(fd, how);
}

int __wrap_fcntl64(int fd, int command, ...)
{
        const struct disk_fd *file = fd_on_disk(fd);
        va_list args;
        long arg;

        va_start(args, command);
        arg = va_arg(args, long);
        va_end(args);
        if (!file)
                return __real_fcntl64(fd, command, arg);
        if (command == F_DUPFD_CLOEXEC)
                return fd_new(file->node, file->flags);
        CHECK_EQ(command, F_GETFL);
        return file->flags;
}

int __wrap_fchown(int fd, uid_t owner, gid_t group)
{
        return fd_on_disk(fd) ? 0 : __real_fchown(fd, owner, group);
}

int __wrap_fchmod(int fd, mode_t mode)
{
        return fd_on_disk(fd) ? 0 : __real_fchmod(fd, mode);
}
