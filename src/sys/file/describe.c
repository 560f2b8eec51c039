/*
 * sys/file/describe.c - see describe.h.
 */
#include "sys/file/describe.h"

enum eddy_file_kind ed_file_kind_of(mode_t mode)
{
        if (S_ISREG(mode))
                return EDDY_FILE_REGULAR;
        if (S_ISDIR(mode))
                return EDDY_FILE_FOLDER;
        return S_ISLNK(mode) ? EDDY_FILE_LINK : EDDY_FILE_OTHER;
}

/* File systems store times that do not fit. */
static int64_t nanoseconds(const struct timespec *time)
{
        int64_t ns;

        if (__builtin_mul_overflow((int64_t) time->tv_sec, 1000000000, &ns) ||
            __builtin_add_overflow(ns, time->tv_nsec, &ns))
                return time->tv_sec < 0 ? INT64_MIN : INT64_MAX;
        return ns;
}

void ed_file_describe(const struct stat *found, struct eddy_file_info *ret_info)
{
        enum { PERMISSIONS = 07777 };

        *ret_info = (struct eddy_file_info){
                .kind = ed_file_kind_of(found->st_mode),
                .mode = found->st_mode & PERMISSIONS,
                .user = found->st_uid,
                .group = found->st_gid,
                .bytes = found->st_size,
                .modified_ns = nanoseconds(&found->st_mtim),
                .device = found->st_dev,
                .inode = found->st_ino,
                .links = found->st_nlink,
        };
}
