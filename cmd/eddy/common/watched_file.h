/*
 * common/watched_file.h - a small file that another program may change or replace during the run.
 */
#ifndef ED_CMD_COMMON_WATCHED_FILE_H
#define ED_CMD_COMMON_WATCHED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "eddy/def.h"

/* The state in which a file was seen. */
struct ed_watched_file {
        bool is_regular; /* or missing; other files, such as pipes, are read only once */
        dev_t device;
        ino_t number;
        off_t bytes;
        struct timespec modified, changed;
};

/* Store the state of a file, to which links lead. Returns true if the state has changed. */
bool ed_watched_file_look(const char *path, struct ed_watched_file *file);

/*
 * Read a regular file of at most 'bytes_max' bytes. A NUL follows the bytes. Does not wait for
 * another program.
 *
 * Errors: those of open(2) and read(2); -EINVAL  not a regular file; -EFBIG; -ENOMEM
 * Owns: returns (owned) '*ret_data', to be freed by eddy_free(), and wiped if it is secret.
 */
EDDY_MUST_USE int ed_watched_file_read(const char *path, size_t bytes_max, char **ret_data,
                                       size_t *ret_bytes);

#endif
