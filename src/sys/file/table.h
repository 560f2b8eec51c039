/*
 * sys/file/table.h - the parts of the table for files.
 */
#ifndef ED_SYS_FILE_TABLE_H
#define ED_SYS_FILE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ed_file_op;
struct ed_sys;

/* Operations on files (sys/file/files.h), done at once. */
struct ed_sys_file {
        /* Do an operation if that needs no wait. Returns its result, or -EAGAIN. */
        int64_t (*try_run)(struct ed_sys *sys, struct ed_file_op *op);
        /* Do an operation and store its result. May wait for a disk. Any thread. */
        void (*run)(struct ed_sys *sys, struct ed_file_op *op);
};

/* Operations on files that complete later. */
struct ed_sys_file_queue {
        /* Begin an operation that completes by itself: poll() notifies 'op->done'. */
        void (*submit)(struct ed_sys *sys, struct ed_file_op *op);
        /*
         * Returns true if the operation is dropped: never done, and not notified. Otherwise the
         * caller's memory is in use until poll() notifies 'op->done'.
         */
        bool (*cancel)(struct ed_sys *sys, struct ed_file_op *op);
};

/* Changes of files (sys/file/notify.h). */
struct ed_sys_notify {
        int (*open)(struct ed_sys *sys);
        int (*add)(struct ed_sys *sys, int fd, const char *path);
        void (*remove)(struct ed_sys *sys, int fd, int watch);
        int64_t (*read)(struct ed_sys *sys, int fd, void *buf, size_t bytes);
};

#endif
