/*
 * eddy/path.h - names of files: describing, renaming and removing, without blocking the
 * loop.
 *
 * A path is a string as open(2) takes it.  The calls run on a thread of the run's own
 * pool, as those of eddy/file.h do.  They do not make names survive a crash of the
 * machine: see eddy_folder_sync().
 */
#ifndef EDDY_PATH_H
#define EDDY_PATH_H

#include "eddy/def.h"
#include "eddy/file.h"

EDDY_BEGIN_DECLS

/*
 * Describe the file at a path; of a symbolic link, its target unless
 * EDDY_PATH_NO_FOLLOW is given.
 *
 * Suspends: yes.
 * Errors: -EINVAL  an unknown flag
 *         -ENOENT, -ENOTDIR, -EACCES, -ELOOP and others of stat(2)
 *         -EAGAIN, -ENOMEM, -ECANCELED  as eddy_file_open()
 */
enum { EDDY_PATH_NO_FOLLOW = 1 << 0 };
EDDY_API EDDY_MUST_USE int eddy_path_stat(const char *path, unsigned flags,
                                          struct eddy_file_info *ret_info);

/*
 * Rename a file or folder in the same file system.  A file at 'to' is replaced, unless
 * EDDY_PATH_KEEP is given.  On a file system that cannot rename without replacing, such as NFS,
 * a file has both names for a moment with EDDY_PATH_KEEP.
 *
 * Suspends: yes.
 * Errors: -EINVAL  an unknown flag; 'to' is inside of 'from'; or the file system does not
 *                  have EDDY_PATH_KEEP for a folder, and has no links
 *         -EEXIST  'to' exists, with EDDY_PATH_KEEP
 *         -ENOENT, -EXDEV, -EACCES, -EISDIR, -ENOTEMPTY and others of rename(2)
 *         -EAGAIN, -ENOMEM, -ECANCELED  as eddy_file_open()
 */
enum { EDDY_PATH_KEEP = 1 << 0 };
EDDY_API EDDY_MUST_USE int eddy_path_rename(const char *from, const char *to, unsigned flags);

/*
 * Remove the name of a file.  The file itself is freed when no name and no descriptor
 * is left.
 *
 * Suspends: yes.
 * Errors: -ENOENT, -EISDIR, -EACCES, -EBUSY and others of unlink(2)
 *         -EAGAIN, -ENOMEM, -ECANCELED  as eddy_file_open()
 */
EDDY_API EDDY_MUST_USE int eddy_path_remove(const char *path);

EDDY_END_DECLS

#endif
