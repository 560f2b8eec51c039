/*
 * batch/run/key_file.h - a file with API keys, which another program may replace during the run.
 */
#ifndef ED_CMD_BATCH_RUN_KEY_FILE_H
#define ED_CMD_BATCH_RUN_KEY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "eddy/def.h"

enum { ED_KEY_FILE_BYTES_MAX = 512 << 10 };

/* The state in which a file was read. */
struct ed_key_file {
        bool is_regular; /* other files, such as pipes, are read only once */
        dev_t device;
        ino_t number;
        off_t bytes;
        struct timespec modified, changed;
};

/* Store the state of a file. Returns true if the state has changed, and the file is regular. */
bool ed_key_file_look(const char *path, struct ed_key_file *file);

/*
 * Read a regular file. Does not wait for another program.
 *
 * Errors: those of open(2) and read(2); -EFBIG; -ENOMEM
 * Owns: returns (owned) '*ret_data', to be wiped and freed by eddy_free().
 */
EDDY_MUST_USE int ed_key_file_read(const char *path, char **ret_data, size_t *ret_bytes);

#endif
