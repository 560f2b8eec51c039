/*
 * sys/file/beneath.h - opening a file beneath a folder: ED_FILE_OPEN_BENEATH of files.h.
 */
#ifndef ED_SYS_FILE_BENEATH_H
#define ED_SYS_FILE_BENEATH_H

#include "sys/file/files.h"

/* Open; may wait for a disk. */
int64_t ed_beneath_open(const struct ed_file_op *op);

/* The same by what the kernel has in its cache. Errors: also -EAGAIN: it may have to wait. */
int64_t ed_beneath_open_now(const struct ed_file_op *op);

#endif
