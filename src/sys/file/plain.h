/*
 * sys/file/plain.h - files of the user and of the system, outside of the table: the caller is on a
 * thread, or needs little of them.
 */
#ifndef ED_SYS_FILE_PLAIN_H
#define ED_SYS_FILE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/def.h"
#include "eddy/def.h"

/* Make a file, and open it for writing. Returns a descriptor, or -errno; -EEXIST: there is one. */
ED_SHARED EDDY_MUST_USE int ed_file_make(const char *path, unsigned mode);

/* Append text to a file of the user's own, which is made if there is none; may lose the text. */
ED_SHARED void ed_file_append(const char *path, const char *text, size_t bytes);

/* Returns 1 if it is a regular file that only its user may use, else 0. Errors: those of stat(2). */
ED_SHARED EDDY_MUST_USE int ed_file_is_private(const char *path);

/* Returns true if the folder can be read, and 'is_one_fn' is true for a name in it. */
ED_SHARED bool ed_folder_has(const char *path, bool (*is_one_fn)(const char *name));

/*
 * Stores the home folder of the user that the process acts as, from the list of users. Returns false
 * if it is unknown or has no room.
 */
ED_SHARED bool ed_user_home(char *path, size_t room);

#endif
