/*
 * io/new_file.h - a file that gets its name when it is complete: a temporary file in the same
 * folder is written and then renamed.
 */
#ifndef ED_IO_NEW_FILE_H
#define ED_IO_NEW_FILE_H

#include "base/def.h"
#include "eddy/file.h"

struct ed_new_file {
        eddy_file *file; /* open for writing, until ed_new_file_keep() */
        const char *path;
        char *folder; /* of the file, with a '/' at its end; "": the current one */
        char *temporary;
};

/*
 * Make the temporary file, with permissions as in eddy_file_open(). After an error nothing is left.
 *
 * Suspends: yes. Errors: -EINVAL: an empty path; EDDY_E_RUN_NOT_RUNNING; those of eddy_file_open()
 * Owns: borrows 'path'; the caller calls ed_new_file_fini().
 */
ED_SHARED EDDY_MUST_USE int ed_new_file_begin(struct ed_new_file *file, const char *path,
                                              uint32_t mode);

enum {
        ED_NEW_FILE_NEW = 1 << 0,     /* fail with -EEXIST if there is a file of that name */
        ED_NEW_FILE_NO_SYNC = 1 << 1, /* do not wait until the name is on the disk */
};

/*
 * Close the file, give it its name, and sync the folder. A cancel before the file has its name leaves
 * only the temporary file; a later one has no effect.
 *
 * Suspends: yes. Errors: those of eddy_path_rename(); those of eddy_folder_sync(): the file has its name
 */
ED_SHARED EDDY_MUST_USE int ed_new_file_keep(struct ed_new_file *file, unsigned flags);

/* Remove the temporary file, also in a cancelled task, and free the rest. Suspends: yes. */
ED_SHARED void ed_new_file_fini(struct ed_new_file *file);

#endif
