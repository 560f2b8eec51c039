/*
 * fetch/save.h - a folder with one file per response body, named by the end of its URL
 * (common/save_dir.h).
 */
#ifndef ED_CMD_FETCH_SAVE_H
#define ED_CMD_FETCH_SAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/save_dir.h"
#include "eddy/def.h"

struct ed_save {
        struct ed_save_dir dir;
        int err; /* the first failure: a full disk affects all bodies */
};

/*
 * Open the folder, creating it if necessary. A folder that is not empty is refused, unless its files
 * may be replaced ('force'), or belong to the run that is continued ('resumes'). Errors are reported
 * on stderr.
 *
 * Errors: the exit code, above 0
 */
EDDY_MUST_USE int ed_save_open(struct ed_save *save, const char *command, const char *path,
                               bool force, bool resumes);
void ed_save_close(struct ed_save *save);

/*
 * Begin the file of a URL; 'type' is the Content-Type, or NULL. Errors: the system's. The first
 * error is also kept in 'save->err'.
 */
EDDY_MUST_USE int ed_save_file_begin(struct ed_save *save, const char *url, uint64_t index,
                                     const char *type, struct ed_save_dir_file *file);

/* Set only the names of a file that ed_save_file_find() has found. */
void ed_save_file_name(struct ed_save_dir_file *file, const char *url, const char *type);

/*
 * Find the file that an earlier run has not completed, and read its note. Returns its bytes. Errors:
 * those of ed_save_dir_find()
 */
EDDY_MUST_USE int64_t ed_save_file_find(struct ed_save *save, const char *url, uint64_t index,
                                        char note[ED_SAVE_DIR_NOTE_BYTES],
                                        struct ed_save_dir_file *file);

EDDY_MUST_USE int ed_save_file_write(struct ed_save *save, struct ed_save_dir_file *file,
                                     const void *data, size_t bytes);

/*
 * Give the file its name, when all of it is on the disk. The file is closed in any way.
 *
 * Suspends: yes, and is not cancelled.
 */
EDDY_MUST_USE int ed_save_file_keep(struct ed_save *save, struct ed_save_dir_file *file);

#endif
