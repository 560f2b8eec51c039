/*
 * fetch/save.h - a folder with one file per response body, named by its index.
 *
 * A body is written to INDEX.part and gets its name when it is whole, so that
 * a file named INDEX is never half of one.
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
        int err; /* the first failure: a full disk is one for all bodies */
};

/* One body on its way to disk. */
struct ed_save_file {
        uint64_t index;
        int fd; /* -1: none */
};

/*
 * Make the folder if need be and open it.  One that has something in it is
 * refused without 'force'.  Says what is wrong on stderr.
 *
 * Errors: the exit code, above 0
 */
EDDY_MUST_USE int ed_save_open(struct ed_save *save, const char *command, const char *path,
                               bool force);
void ed_save_close(struct ed_save *save);

/* Errors: -errno of the system, also kept in 'save->err'. */
EDDY_MUST_USE int ed_save_file_begin(struct ed_save *save, uint64_t index,
                                     struct ed_save_file *ret_file);
EDDY_MUST_USE int ed_save_file_write(struct ed_save *save, struct ed_save_file *file,
                                     const void *data, size_t bytes);

/* Give it its name.  The file is closed in any case. */
EDDY_MUST_USE int ed_save_file_keep(struct ed_save *save, struct ed_save_file *file);

/* Remove it, if there is one. */
void ed_save_file_drop(struct ed_save *save, struct ed_save_file *file);

#endif
