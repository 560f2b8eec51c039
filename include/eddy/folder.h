/*
 * eddy/folder.h - folders: listing, making and removing, without blocking the loop.
 *
 *     struct eddy_folder_entry entry;
 *     eddy_folder *folder;
 *     int n = eddy_folder_open("/etc", &folder);
 *
 *     if (n < 0)
 *             return n;
 *     while ((n = eddy_folder_next(folder, &entry)) > 0)
 *             puts(entry.name);
 *     eddy_folder_close(folder);
 *
 * The calls run on a thread of the run's own pool, as those of eddy/file.h do.
 */
#ifndef EDDY_FOLDER_H
#define EDDY_FOLDER_H

#include "eddy/def.h"
#include "eddy/file.h"

EDDY_BEGIN_DECLS

typedef struct eddy_folder eddy_folder;

enum { EDDY_FOLDER_NAME_MAX = 255 };

struct eddy_folder_entry {
        char name[EDDY_FOLDER_NAME_MAX + 1]; /* without the path; any byte except '/' */
        enum eddy_file_kind kind;
        uint64_t inode;
};

/*
 * Open a folder, to list the names in it.
 *
 * Suspends: yes.
 * Errors: -ENOENT, -ENOTDIR, -EACCES, -EMFILE and others of open(2)
 *         -EAGAIN, -ENOMEM, -ECANCELED  as eddy_file_open()
 * Owns: returns (owned) '*ret_folder', to be closed by eddy_folder_close().
 */
EDDY_API EDDY_MUST_USE int eddy_folder_open(const char *path, eddy_folder **ret_folder);

/*
 * Store the next entry, in the file system's order; "." and ".." are left out.  Returns
 * 1, or 0 after the last.  Whether names that are added or removed meanwhile are found is
 * not defined.
 *
 * Suspends: yes.
 * Errors: -EINVAL  'folder' is NULL
 *         -EBUSY   another task is in a call on the folder
 *         -EIO and others of getdents(2)
 *         -EAGAIN, -ENOMEM, -ECANCELED  as eddy_file_open()
 */
EDDY_API EDDY_MUST_USE int eddy_folder_next(eddy_folder *folder,
                                            struct eddy_folder_entry *ret_entry);

/*
 * Close and free the folder.  No task may be in a call on it.  NULL is ignored.
 *
 * Suspends: no.
 */
EDDY_API void eddy_folder_close(eddy_folder *folder);

/*
 * Wait until the names in the folder are on the disk: new, renamed and removed files.
 *
 * Suspends: yes.
 * Errors: those of eddy_folder_open() and of fsync(2)
 */
EDDY_API EDDY_MUST_USE int eddy_folder_sync(const char *path);

/*
 * Make a folder.  'mode' holds its permissions, which the umask reduces; 0: 0777.
 *
 * Suspends: yes.
 * Errors: -EEXIST, -ENOENT, -EACCES, -ENOSPC and others of mkdir(2)
 *         -EINVAL  a mode above 07777
 *         -EAGAIN, -ENOMEM, -ECANCELED  as eddy_file_open()
 */
EDDY_API EDDY_MUST_USE int eddy_folder_make(const char *path, uint32_t mode);

/*
 * Remove an empty folder.
 *
 * Suspends: yes.
 * Errors: -ENOTEMPTY, -ENOENT, -EACCES, -EBUSY and others of rmdir(2)
 *         -EAGAIN, -ENOMEM, -ECANCELED  as eddy_file_open()
 */
EDDY_API EDDY_MUST_USE int eddy_folder_remove(const char *path);

static inline void eddy_folder_auto_release(eddy_folder **folder)
{
        eddy_folder_close(*folder);
}

EDDY_END_DECLS

#endif
