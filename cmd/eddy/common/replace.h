/*
 * common/replace.h - replaces a file: writes a new file in the same folder, and renames it when it
 * is complete.
 */
#ifndef ED_CMD_COMMON_REPLACE_H
#define ED_CMD_COMMON_REPLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "eddy/def.h"

struct ed_replace {
        int fd;          /* of the new file; -1: none */
        int lock_fd;     /* of the old file, which has the name; -1: there is none */
        struct stat old; /* of the old file */
        char *real;      /* the name, without symbolic links */
        char *temp;      /* the name of the new file */
        char *folder;    /* of both files */
};

/*
 * Make a new file in the folder of 'path', with the mode of the old file, and lock the old file
 * against `eddy batch`. From now on, SIGINT, SIGTERM and SIGHUP remove the new file and end the
 * program. At most two files may be replaced at a time.
 *
 * Errors: -EBUSY  a run writes to the old file;  -EEXIST  'path' is not a regular file;  the
 *         system's
 */
EDDY_MUST_USE int ed_replace_begin(struct ed_replace *replace, const char *path);

/* Flush the new file to the disk, and rename it. Errors: the system's */
EDDY_MUST_USE int ed_replace_commit(struct ed_replace *replace);

/* Remove the old file, if there was one, instead of replacing it. Errors: the system's */
EDDY_MUST_USE int ed_replace_remove(struct ed_replace *replace);

/* Remove the new file, unless it was renamed, and free everything. */
void ed_replace_end(struct ed_replace *replace);

/*
 * Write all of a file: replaces a regular file, and writes to a device, to a pipe, or to standard
 * output ("-"). Errors: as ed_replace_begin(), those of open(2) and write(2)
 */
EDDY_MUST_USE int ed_replace_whole(const char *path, const void *data, size_t bytes);

/*
 * Replace a file by a short text, as ed_replace_whole() does. SIGINT, SIGTERM and SIGHUP wait until
 * this is done, and have the same effect as before. Errors: as ed_replace_begin()
 */
EDDY_MUST_USE int ed_replace_short(const char *path, const void *data, size_t bytes);

#endif
