/*
 * io/file.c - open files: reading, writing, syncing.
 */
#include "io/file.h"

#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "io/beneath.h"
#include "io/file_op.h"
#include "io/slices.h"
#include "scope/debug/debug.h"
#include "scope/misuse.h"
#include "scope/suspend.h"

enum { MODE_MAX = 07777, MODE_DEFAULT = 0666 };

enum {
        FLAGS = EDDY_FILE_READ | EDDY_FILE_WRITE | EDDY_FILE_APPEND | EDDY_FILE_CREATE |
                EDDY_FILE_NEW | EDDY_FILE_TRUNCATE | EDDY_FILE_NO_FOLLOW | EDDY_FILE_LOCK,
};

/* --- opening and closing --- */

static void loop_ends(struct ed_member *member)
{
        eddy_file *file = ed_container_of(member, eddy_file, member);

        member->loop->sys->socket->close(member->loop->sys, file->fd);
        file->fd = -1;
}

/* The memory comes first: an open that fails for the lack of it makes no file. */
static int open_by(struct ed_file_op *op, eddy_file **ret_file)
{
        eddy_file *file = ed_alloc_zero(sizeof(*file));
        int64_t fd;

        if (!file)
                return -ENOMEM;
        fd = ed_file_do(op);
        if (fd < 0) {
                ed_free(file);
                return (int) fd;
        }
        file->fd = (int) fd;
        ed_member_join(&file->member, ed_loop_current, loop_ends);
        ed_debug_made(file, ED_DEBUG_FILE);
        *ret_file = file;
        return 0;
}

/* open(2) without writing would truncate too, and with a lock before the lock. */
static bool are_valid(unsigned flags)
{
        const unsigned writes = EDDY_FILE_WRITE | EDDY_FILE_APPEND;

        return !(flags & ~(unsigned) FLAGS) && flags & (EDDY_FILE_READ | writes) &&
               (!(flags & EDDY_FILE_TRUNCATE) || (flags & writes && !(flags & EDDY_FILE_LOCK)));
}

int eddy_file_open(const char *path, unsigned flags, uint32_t mode, eddy_file **ret_file)
{
        struct ed_file_op op = { .call = ED_FILE_OPEN,
                                 .path = path,
                                 .flags = flags,
                                 .mode = mode ? mode : MODE_DEFAULT };

        if (!path || !are_valid(flags) || mode > MODE_MAX)
                return -EINVAL;
        return open_by(&op, ret_file);
}

int eddy_file_temporary(const char *folder, eddy_file **ret_file)
{
        struct ed_file_op op = { .call = ED_FILE_OPEN_UNNAMED, .path = folder };

        if (!folder)
                op.path = secure_getenv("TMPDIR");
        if (!op.path || !*op.path)
                op.path = "/tmp";
        return open_by(&op, ret_file);
}

int ed_beneath_file(int folder, const char *path, unsigned flags, struct eddy_file_info *ret_info,
                    eddy_file **ret_file)
{
        struct ed_file_op op = { .call = ED_FILE_OPEN_BENEATH,
                                 .fd = folder,
                                 .path = path,
                                 .flags = flags,
                                 .info = ret_info };

        return open_by(&op, ret_file);
}

void eddy_file_close(eddy_file *file)
{
        if (!file || !ed_misuse_may_close(&file->member, "a file"))
                return;
        if (file->member.loop)
                loop_ends(&file->member);
        ed_member_leave(&file->member);
        ed_debug_gone(file);
        ed_free(file);
}

int eddy_file_fd(const eddy_file *file)
{
        return file ? file->fd : -1;
}

/* Do an operation on an open file. Errors: EDDY_E_RUN_OTHER_LOOP, those of ed_file_do(). */
static int64_t file_do(const eddy_file *file, struct ed_file_op *op)
{
        int err = ed_file_check(file);

        if (err < 0)
                return err;
        op->fd = file->fd;
        return ed_file_do(op);
}

/* --- reading --- */

int64_t eddy_file_readv(eddy_file *file, const struct eddy_space *spaces, size_t n, int64_t offset)
{
        struct ed_file_op op = { .call = ED_FILE_READ, .spaces = spaces, .n = n, .offset = offset };
        size_t bytes = 0;

        if (!file || n > EDDY_FILE_SLICES_MAX || offset < -1)
                return -EINVAL;
        for (size_t i = 0; i < n; i++)
                bytes |= spaces[i].bytes;
        if (bytes == 0)
                return -EINVAL;
        return file_do(file, &op);
}

int64_t eddy_file_read(eddy_file *file, void *buf, size_t bytes)
{
        return eddy_file_readv(file, &(struct eddy_space){ buf, bytes }, 1, -1);
}

int64_t eddy_file_read_at(eddy_file *file, void *buf, size_t bytes, int64_t offset)
{
        if (offset < 0)
                return -EINVAL;
        return eddy_file_readv(file, &(struct eddy_space){ buf, bytes }, 1, offset);
}

bool ed_file_is_cached(const eddy_file *file, int64_t offset)
{
        struct ed_sys *sys = file->member.loop->sys;
        char byte;
        const struct eddy_space space = { &byte, 1 };
        struct ed_file_op op = {
                .call = ED_FILE_READ, .fd = file->fd, .spaces = &space, .n = 1, .offset = offset
        };

        return sys->file->try_run(sys, &op) == 1;
}

/* --- writing --- */

/* Errors: -EINVAL, EDDY_E_FILE_SYNC. */
static int check_writable(const eddy_file *file)
{
        if (!file)
                return -EINVAL;
        return file->is_lost ? EDDY_E_FILE_SYNC : 0;
}

/* Without bytes to write, a task still yields in its turn and notices a cancel. */
static int write_none(void)
{
        struct ed_task *task;
        int err = ed_suspend_enter(&task);

        if (err == 0)
                ed_suspend_passed(task);
        return err;
}

/* Write all bytes of 'slices', of which each call may take only some. */
static int write_all(const eddy_file *file, struct ed_slices *slices, int64_t offset)
{
        if (ed_slices_is_empty(slices))
                return write_none();
        while (!ed_slices_is_empty(slices)) {
                struct ed_file_op op = { .call = ED_FILE_WRITE,
                                         .slices = slices->list + slices->first,
                                         .n = slices->n - slices->first,
                                         .offset = offset };
                int64_t n = file_do(file, &op);

                if (n <= 0)
                        return n < 0 ? (int) n : -EIO;
                ed_slices_skip(slices, (size_t) n);
                if (offset >= 0)
                        offset += n;
        }
        return 0;
}

int eddy_file_writev(eddy_file *file, const struct eddy_slice *list, size_t n, int64_t offset)
{
        struct ed_slices slices;
        int err = check_writable(file);

        if (err == 0 && offset < -1)
                err = -EINVAL;
        if (err == 0)
                err = ed_slices_init(&slices, list, n);
        return err < 0 ? err : write_all(file, &slices, offset);
}

int eddy_file_write(eddy_file *file, const void *data, size_t bytes)
{
        return eddy_file_writev(file, &(struct eddy_slice){ data, bytes }, 1, -1);
}

int eddy_file_write_at(eddy_file *file, const void *data, size_t bytes, int64_t offset)
{
        if (offset < 0)
                return -EINVAL;
        return eddy_file_writev(file, &(struct eddy_slice){ data, bytes }, 1, offset);
}

/* Returns true if the sync was refused: this kind of file has none. */
static bool is_refusal(int64_t err)
{
        return err == -EINVAL || err == -EROFS || err == -EBADF;
}

int eddy_file_sync(eddy_file *file, unsigned flags)
{
        struct ed_file_op op = { .call = ED_FILE_SYNC, .flags = flags };
        int err = check_writable(file);

        if (err == 0 && flags & ~(unsigned) EDDY_FILE_DATA_ONLY)
                err = -EINVAL;
        if (err < 0)
                return err;
        err = (int) file_do(file, &op);
        /* The kernel reports a failure once, and forgets the bytes that it could not write. */
        if (op.result < 0 && !is_refusal(op.result))
                file->is_lost = true;
        else if (err == 0 && file->is_lost)
                err = EDDY_E_FILE_SYNC; /* another task's sync received the report */
        return err;
}

int eddy_file_truncate(eddy_file *file, int64_t bytes)
{
        struct ed_file_op op = { .call = ED_FILE_TRUNCATE, .offset = bytes };
        int err = check_writable(file);

        if (err == 0 && bytes < 0)
                err = -EINVAL;
        if (err < 0)
                return err;
        return (int) file_do(file, &op);
}

int eddy_file_seek(eddy_file *file, int64_t offset)
{
        struct ed_file_op op = { .call = ED_FILE_SEEK, .offset = offset };
        int64_t at;
        int err;

        err = ed_file_check(file);
        if (err == 0 && offset < 0)
                err = -EINVAL;
        if (err < 0)
                return err;
        op.fd = file->fd;
        at = file->member.loop->sys->file->try_run(file->member.loop->sys, &op);
        return at < 0 ? (int) at : 0;
}

/* --- describing --- */

int eddy_file_chmod(eddy_file *file, uint32_t mode)
{
        struct ed_file_op op = { .call = ED_FILE_CHMOD, .mode = mode };

        if (!file || mode > MODE_MAX)
                return -EINVAL;
        return (int) file_do(file, &op);
}

int eddy_file_stat(eddy_file *file, struct eddy_file_info *ret_info)
{
        struct ed_file_op op = { .call = ED_FILE_STAT, .info = ret_info };

        if (!file)
                return -EINVAL;
        return (int) file_do(file, &op);
}
