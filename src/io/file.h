/*
 * io/file.h - the struct of an open file.
 */
#ifndef ED_IO_FILE_H
#define ED_IO_FILE_H

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

#endif
