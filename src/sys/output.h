/*
 * sys/output.h - writing without SIGPIPE, and to standard error.
 */
#ifndef ED_SYS_OUTPUT_H
#define ED_SYS_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/def.h"

/*
 * write(2) without the SIGPIPE that comes with EPIPE: held back while it is
 * written, and taken from the thread unless one was pending before.  Sockets
 * have a flag for that; pipes have not.  Returns bytes, or -errno.
 */
int64_t ed_sys_write_quietly(int fd, const void *data, size_t bytes);

/*
 * Write text to the standard error descriptor; for signal handlers too.  The
 * rest is dropped if it is closed, or takes no more for a fifth of a second.
 */
ED_SHARED void ed_sys_write_error(const char *text, size_t bytes);

#endif
