/*
 * sys/file/notify.h - changes of files, from the kernel's inotify.
 */
#ifndef ED_SYS_FILE_NOTIFY_H
#define ED_SYS_FILE_NOTIFY_H

#include "sys/sys.h"

/* An event of the kernel; several flags may be set. */
enum {
        ED_NOTIFY_CREATED = 1 << 0,
        ED_NOTIFY_CHANGED = 1 << 1,
        ED_NOTIFY_REMOVED = 1 << 2,
        ED_NOTIFY_MOVED_FROM = 1 << 3,
        ED_NOTIFY_MOVED_TO = 1 << 4,
        ED_NOTIFY_GONE = 1 << 5,
        ED_NOTIFY_LOST = 1 << 6, /* events were lost */
        ED_NOTIFY_FOLDER = 1 << 7,
        ED_NOTIFY_WRITTEN = 1 << 8, /* a file that was open for writing was closed */
};

struct ed_notify_event {
        int watch;
        unsigned flags; /* 0: not for the program */
        uint32_t cookie;
        const char *name; /* in the buffer; "" if there is none */
};

/* Returns a descriptor that becomes readable with events. */
int ed_notify_open(struct ed_sys *sys);
/* Returns the number of the watch. Errors: -EEXIST, those of inotify_add_watch(2). */
int ed_notify_add(struct ed_sys *sys, int fd, const char *path);
void ed_notify_remove(struct ed_sys *sys, int fd, int watch);
/* Returns the bytes of whole events that were stored, or -errno. */
int64_t ed_notify_read(struct ed_sys *sys, int fd, void *buf, size_t bytes);

/* Read the event at 'at', of 'bytes' that were stored; returns its size. */
size_t ed_notify_parse(const char *at, size_t bytes, struct ed_notify_event *ret_event);

#endif
