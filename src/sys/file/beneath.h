/*
 * sys/file/beneath.h - opening a file beneath a folder: ED_FILE_OPEN_BENEATH of files.h.
 */
#ifndef ED_SYS_FILE_BENEATH_H
#define ED_SYS_FILE_BENEATH_H

#include "sys/file/files.h"

/* Run an ED_FILE_OPEN_BENEATH. May wait for a disk. */
int64_t ed_beneath_open(const struct ed_file_op *op);

/* As ed_beneath_open(), but returns -EAGAIN if the open might wait. */
int64_t ed_beneath_open_now(const struct ed_file_op *op);

#endif
