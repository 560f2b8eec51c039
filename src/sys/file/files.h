/*
 * sys/file/files.h - an operation on a file or a folder: its arguments and its result.
 */
#ifndef ED_SYS_FILE_FILES_H
#define ED_SYS_FILE_FILES_H

#include "base/list.h"
#include "eddy/file.h"
#include "eddy/folder.h"
#include "sys/sys.h"

/* The calls, and the fields of struct ed_file_op that each uses beside 'result'. */
enum ed_file_call {
        ED_FILE_OPEN,         /* path, flags, mode; the result is a descriptor */
        ED_FILE_OPEN_UNNAMED, /* path: the folder; the result is a descriptor */
        ED_FILE_OPEN_FOLDER,  /* path; the result is a descriptor */
        ED_FILE_READ,         /* fd, spaces, n, offset; the result is the number of bytes */
        ED_FILE_WRITE,        /* fd, slices, n, offset; the same */
        ED_FILE_SYNC,         /* fd, flags: EDDY_FILE_DATA_ONLY */
        ED_FILE_TRUNCATE,     /* fd, offset: the size */
        ED_FILE_CHMOD,        /* fd, mode */
        ED_FILE_SEEK,         /* fd, offset; try() always does it */
        ED_FILE_STAT,         /* fd, info */
        ED_FILE_LIST, /* fd of a folder, entries: ED_FILE_ENTRIES; the result is their number */
        ED_FILE_STAT_PATH,     /* path, flags: EDDY_PATH_NO_FOLLOW, info */
        ED_FILE_RENAME,        /* path, to, flags: EDDY_PATH_KEEP */
        ED_FILE_REMOVE,        /* path */
        ED_FILE_MAKE_FOLDER,   /* path, mode */
        ED_FILE_REMOVE_FOLDER, /* path */
        /*
         * fd of a folder, path beneath it, flags: ED_BENEATH_*, info: of a regular file; the result
         * is a descriptor
         */
        ED_FILE_OPEN_BENEATH,
        ED_FILE_CALLS,
};

/*
 * Flags of ED_FILE_OPEN_BENEATH, which opens a regular file or a folder for reading. Neither "..",
 * nor a symbolic link, nor a concurrent rename can lead outside the folder. Errors: -EXDEV: the
 * path leads outside; -ELOOP; -EISDIR: a folder, without ED_BENEATH_FOLDER; -ENXIO: neither a file
 * nor a folder; -EBUSY: names were renamed during each attempt; those of open(2).
 */
enum {
        ED_BENEATH_FOLDER = 1 << 0,
        ED_BENEATH_NO_LINKS = 1 << 1, /* symbolic links fail with -ELOOP */
};

/* The maximum number of entries that one ED_FILE_LIST stores; 0: the folder's end. */
enum { ED_FILE_ENTRIES = 64 };

/* An operation. The task that waits for it has it on its stack. */
struct ed_file_op {
        enum ed_file_call call;
        int fd;
        unsigned flags;
        uint32_t mode;
        const char *path, *to;
        int64_t offset; /* -1: at the position */
        union {
                const struct eddy_space *spaces;
                const struct eddy_slice *slices;
                struct eddy_folder_entry *entries;
                struct eddy_file_info *info;
        };
        size_t n;
        int64_t result;        /* 0 and above, or -errno */
        struct ed_target done; /* submit() only: notified when 'result' is set */
        void *owner;           /* submit() only: the caller's */
        struct ed_list link;   /* the table's three, while submitted */
        int64_t end_ns;
        bool begun;
};

/*
 * The operations of a table that uses the kernel. run() may wait for a disk, on any thread; try()
 * returns -EAGAIN if it would have to.
 */
int64_t ed_file_try(struct ed_sys *sys, struct ed_file_op *op);
ED_SHARED void ed_file_run(struct ed_sys *sys, struct ed_file_op *op);

#endif
