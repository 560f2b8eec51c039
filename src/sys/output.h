/*
 * sys/output.h - writing without SIGPIPE, and to standard error.
 */
#ifndef ED_SYS_OUTPUT_H
#define ED_SYS_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/def.h"

/*
 * write(2) without the SIGPIPE that accompanies EPIPE: the signal is blocked during the write and
 * removed from the thread, unless one was pending before. Sockets have a flag for this; pipes do
 * not. Returns bytes, or -errno.
 */
ED_SHARED int64_t ed_sys_write_quietly(int fd, const void *data, size_t bytes);

/* sendfile(2) without SIGPIPE, for which it has no flag. Returns 0 at the end of the file. */
int64_t ed_sys_send_file_quietly(int fd, int file, int64_t offset, size_t bytes);

/*
 * Write text to the standard error descriptor. Safe in signal handlers. Drops the rest if the
 * descriptor is closed, or has no room for 200 ms.
 */
ED_SHARED void ed_sys_write_error(const char *text, size_t bytes);

/*
 * A file to be replaced.  If it is a regular file, or there is none, another file is written beside
 * it, and gets its name at the end.
 */
struct ed_sys_output {
        int fd;
        const char *path; /* borrowed */
        char *temp;       /* NULL: 'path' itself is written */
};

/* Errors: those of open(2), -ENOMEM. */
EDDY_MUST_USE int ed_sys_output_open(struct ed_sys_output *output, const char *path);

/* 'err': of the writes; below 0 the old file remains.  Errors: 'err', close(2), rename(2). */
EDDY_MUST_USE int ed_sys_output_close(struct ed_sys_output *output, int err);

/* Returns the number of this process; a forked child has its own. */
ED_SHARED int ed_sys_process_number(void);

/* Returns a path that is valid in any working directory, for ed_free(); NULL without memory. */
char *ed_sys_output_path(const char *path);

#endif
