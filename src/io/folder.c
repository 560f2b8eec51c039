/*
 * io/folder.c - folders: listing, making, removing.
 */
#include "eddy/folder.h"

#include <errno.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "io/beneath.h"
#include "io/file_op.h"
#include "loop/member.h"
#include "scope/debug/debug.h"
#include "scope/misuse.h"
#include "scope/suspend.h"

enum { MODE_MAX = 07777, MODE_DEFAULT = 0777 };

struct eddy_folder {
        struct ed_member member;
        int fd;
        bool is_busy; /* a task waits for more entries */
        size_t next, count;
        struct eddy_folder_entry entries[ED_FILE_ENTRIES];
};

static int64_t open_fd(const char *path)
{
        struct ed_file_op op = { .call = ED_FILE_OPEN_FOLDER, .path = path };

        return path ? ed_file_do(&op) : -EINVAL;
}

static void loop_ends(struct ed_member *member)
{
        eddy_folder *folder = ed_container_of(member, eddy_folder, member);

        member->loop->sys->socket->close(member->loop->sys, folder->fd);
        folder->fd = -1;
}

/* Makes a folder of a descriptor, or of an error. Takes the descriptor. */
static int folder_new(int64_t fd, eddy_folder **ret_folder)
{
        eddy_folder *folder;

        if (fd < 0)
                return (int) fd;
        folder = ed_alloc_zero(sizeof(*folder));
        if (!folder) {
                ed_loop_current->sys->socket->close(ed_loop_current->sys, (int) fd);
                return -ENOMEM;
        }
        folder->fd = (int) fd;
        ed_member_join(&folder->member, ed_loop_current, loop_ends);
        ed_debug_made(folder, ED_DEBUG_FOLDER);
        *ret_folder = folder;
        return 0;
}

int eddy_folder_open(const char *path, eddy_folder **ret_folder)
{
        return folder_new(open_fd(path), ret_folder);
}

int ed_beneath_folder(int folder, const char *path, unsigned flags, eddy_folder **ret_folder)
{
        struct ed_file_op op = { .call = ED_FILE_OPEN_BENEATH,
                                 .fd = folder,
                                 .path = path,
                                 .flags = flags | ED_BENEATH_FOLDER };

        return folder_new(ed_file_do(&op), ret_folder);
}

static int fill(eddy_folder *folder)
{
        struct ed_file_op op = { .call = ED_FILE_LIST,
                                 .fd = folder->fd,
                                 .entries = folder->entries,
                                 .n = ED_FILE_ENTRIES };
        int64_t n;

        folder->is_busy = true;
        n = ed_file_do(&op);
        folder->is_busy = false;
        if (n < 0)
                return (int) n;
        folder->next = 0;
        folder->count = (size_t) n;
        return 0;
}

int eddy_folder_next(eddy_folder *folder, struct eddy_folder_entry *ret_entry)
{
        struct ed_task *task;
        bool has_entry;
        int err;

        if (!folder)
                return -EINVAL;
        err = ed_member_check(&folder->member);
        if (err < 0)
                return err;
        if (folder->is_busy)
                return -EBUSY;
        err = ed_suspend_enter(&task);
        has_entry = folder->next < folder->count;
        if (err == 0 && !has_entry)
                err = fill(folder);
        if (err < 0 || folder->next == folder->count)
                return err;
        *ret_entry = folder->entries[folder->next++];
        /* Last: other tasks that run here may read the next entries. */
        if (has_entry)
                ed_suspend_passed(task);
        return 1;
}

void eddy_folder_close(eddy_folder *folder)
{
        if (!folder || !ed_misuse_may_close(&folder->member, "a folder"))
                return;
        if (folder->member.loop)
                loop_ends(&folder->member);
        ed_member_leave(&folder->member);
        ed_debug_gone(folder);
        ed_free(folder);
}

int eddy_folder_sync(const char *path)
{
        struct ed_file_op op = { .call = ED_FILE_SYNC };
        int64_t fd = open_fd(path);
        int err;

        if (fd < 0)
                return (int) fd;
        op.fd = (int) fd;
        err = (int) ed_file_do(&op);
        ed_loop_current->sys->socket->close(ed_loop_current->sys, op.fd);
        return err;
}

int eddy_folder_make(const char *path, uint32_t mode)
{
        struct ed_file_op op = { .call = ED_FILE_MAKE_FOLDER,
                                 .path = path,
                                 .mode = mode ? mode : MODE_DEFAULT };

        if (!path || mode > MODE_MAX)
                return -EINVAL;
        return (int) ed_file_do(&op);
}

int eddy_folder_remove(const char *path)
{
        struct ed_file_op op = { .call = ED_FILE_REMOVE_FOLDER, .path = path };

        return path ? (int) ed_file_do(&op) : -EINVAL;
}
