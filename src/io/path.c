/*
 * io/path.c - names of files: describing, renaming, removing.
 */
#include "eddy/path.h"

#include <errno.h>

#include "io/file_op.h"

int eddy_path_stat(const char *path, unsigned flags, struct eddy_file_info *ret_info)
{
        struct ed_file_op op = {
                .call = ED_FILE_STAT_PATH, .path = path, .flags = flags, .info = ret_info
        };

        if (!path || flags & ~(unsigned) EDDY_PATH_NO_FOLLOW)
                return -EINVAL;
        return (int) ed_file_do(&op);
}

int eddy_path_rename(const char *from, const char *to, unsigned flags)
{
        struct ed_file_op op = { .call = ED_FILE_RENAME, .path = from, .to = to, .flags = flags };

        if (!from || !to || flags & ~(unsigned) EDDY_PATH_KEEP)
                return -EINVAL;
        return (int) ed_file_do(&op);
}

int eddy_path_remove(const char *path)
{
        struct ed_file_op op = { .call = ED_FILE_REMOVE, .path = path };

        return path ? (int) ed_file_do(&op) : -EINVAL;
}
