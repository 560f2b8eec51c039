/*
 * io/file.h - the struct of an open file.
 */
#ifndef ED_IO_FILE_H
#define ED_IO_FILE_H

#include <stdbool.h>

#include "eddy/file.h"
#include "loop/member.h"
#include "sys/file/files.h"

struct eddy_file {
        struct ed_member member;
        int fd;       /* -1: closed at the end of its loop */
        bool is_lost; /* a sync failed: written bytes may be lost */
};

/* Errors: -EINVAL; EDDY_E_RUN_OTHER_LOOP. */
static inline int ed_file_check(const eddy_file *file)
{
        return file ? ed_member_check(&file->member) : -EINVAL;
}

/*
 * Returns true if the byte at 'offset' can be read without waiting for the disk. The file must
 * belong to the current loop.
 *
 * Suspends: no.
 */
ED_SHARED bool ed_file_is_cached(const eddy_file *file, int64_t offset);

#endif
