/*
 * sys/file/notify.c - changes of files, from the kernel's inotify.
 */
#include "sys/file/notify.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "sys/above_stdio.h"

/* Linux 4.18; an older kernel ignores this flag and returns the existing watch. */
#ifndef IN_MASK_CREATE
#define IN_MASK_CREATE 0x10000000
#endif

enum {
        WATCHED = IN_CREATE | IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM |
                  IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_EXCL_UNLINK | IN_MASK_CREATE,
};

static const struct {
        uint32_t mask;
        unsigned flag;
} flags[] = {
        { IN_CREATE, ED_NOTIFY_CREATED },
        { IN_MODIFY | IN_ATTRIB, ED_NOTIFY_CHANGED },
        { IN_CLOSE_WRITE, ED_NOTIFY_WRITTEN },
        { IN_DELETE, ED_NOTIFY_REMOVED },
        { IN_MOVED_FROM, ED_NOTIFY_MOVED_FROM },
        { IN_MOVED_TO, ED_NOTIFY_MOVED_TO },
        /* The first may be lost in an overflow, and some file systems report only the last. */
        { IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED, ED_NOTIFY_GONE },
        { IN_Q_OVERFLOW, ED_NOTIFY_LOST },
        { IN_ISDIR, ED_NOTIFY_FOLDER },
};

int ed_notify_open(struct ed_sys *sys)
{
        (void) sys;
        return ed_fd_above_stdio(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
}

int ed_notify_add(struct ed_sys *sys, int fd, const char *path)
{
        int watch = inotify_add_watch(fd, path, WATCHED);

        (void) sys;
        return watch < 0 ? -errno : watch;
}

void ed_notify_remove(struct ed_sys *sys, int fd, int watch)
{
        (void) sys;
        (void) inotify_rm_watch(fd, watch);
}

int64_t ed_notify_read(struct ed_sys *sys, int fd, void *buf, size_t bytes)
{
        ssize_t n;

        (void) sys;
        do
                n = read(fd, buf, bytes);
        while (n < 0 && errno == EINTR);
        return n < 0 ? -errno : n;
}

size_t ed_notify_parse(const char *at, size_t bytes, struct ed_notify_event *ret_event)
{
        struct inotify_event event;

        ed_assert(bytes >= sizeof(event), "the kernel gave a part of an event");
        memcpy(&event, at, sizeof(event));
        ed_assert(bytes - sizeof(event) >= event.len, "the kernel gave a part of an event");
        *ret_event = (struct ed_notify_event){
                .watch = event.wd,
                .cookie = event.cookie,
                .name = event.len > 0 ? at + sizeof(event) : "",
        };
        for (size_t i = 0; i < ed_array_count(flags); i++)
                if (event.mask & flags[i].mask)
                        ret_event->flags |= flags[i].flag;
        return sizeof(event) + event.len;
}
