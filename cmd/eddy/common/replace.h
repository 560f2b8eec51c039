/*
 * common/replace.h - a file that is written beside its name and gets the name when it is whole.
 */
#ifndef ED_CMD_COMMON_REPLACE_H
#define ED_CMD_COMMON_REPLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "eddy/def.h"

struct ed_replace {
        int fd;          /* of the new file; -1: none */
        int lock_fd;     /* of the file that has the name; -1: there is none */
        struct stat old; /* of that file */
        char *real;      /* the name, without symbolic links */
        char *temp;      /* the name of the new file */
        char *folder;    /* of both */
};

/*
 * Make a new file beside 'path', with the mode of the file that has the name; lock that file
 * against `eddy batch`. SIGINT, SIGTERM and SIGHUP remove the new file from now on, and end the
 * program.
 *
 * Errors: -EBUSY  a run writes to the file;  -EEXIST  it is not a regular file;  the system's
 */
EDDY_MUST_USE int ed_replace_begin(struct ed_replace *replace, const char *path);

/* Write the new file to the disk, and give it the name. Errors: the system's */
EDDY_MUST_USE int ed_replace_commit(struct ed_replace *replace);

/* Remove the new file, unless it has the name; free all. */
void ed_replace_end(struct ed_replace *replace);

#endif
