/*
 * fetch/save.h - a folder with one file per response body, named by its index.
 *
 * A body is written to INDEX.part and renamed when complete, so a file named INDEX is never
 * partial.
 */
#ifndef ED_CMD_FETCH_SAVE_H
#define ED_CMD_FETCH_SAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eddy/def.h"

struct ed_save {
        const char *path;
        int dir_fd;
        int err; /* the first failure: a full disk affects all bodies */
};

/* A body being saved. */
struct ed_save_file {
        uint64_t index;
        int fd; /* -1: none */
};

/*
 * Open the folder, creating it if necessary. A folder that is not empty is refused without 'force'.
 * Errors are reported on stderr.
 *
 * Errors: the exit code, above 0
 */
EDDY_MUST_USE int ed_save_open(struct ed_save *save, const char *command, const char *path,
                               bool force);
void ed_save_close(struct ed_save *save);

/* Errors: the system's. The first error is also kept in 'save->err'. */
EDDY_MUST_USE int ed_save_file_begin(struct ed_save *save, uint64_t index,
                                     struct ed_save_file *ret_file);
EDDY_MUST_USE int ed_save_file_write(struct ed_save *save, struct ed_save_file *file,
                                     const void *data, size_t bytes);

/* Rename the file to its final name. The file is closed in any case. */
EDDY_MUST_USE int ed_save_file_keep(struct ed_save *save, struct ed_save_file *file);

/* Remove the file, if it exists. */
void ed_save_file_drop(struct ed_save *save, struct ed_save_file *file);

#endif
