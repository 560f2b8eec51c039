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
int64_t ed_sys_write_quietly(int fd, const void *data, size_t bytes);

/*
 * Write text to the standard error descriptor. Safe in signal handlers. Drops the rest if the
 * descriptor is closed, or has no room for 200 ms.
 */
ED_SHARED void ed_sys_write_error(const char *text, size_t bytes);

/*
 * Open a new or existing file to replace its contents.  Returns a descriptor, close-on-exec.
 * Errors: those of open(2).
 */
int ed_sys_output_open(const char *path);
/* Errors: those of close(2), -EINTR excepted. */
int ed_sys_output_close(int fd);

#endif
