/*
 * common/save_dir.h - a folder for saved files, which a killed run leaves whole: a file has its name
 * only when all its bytes are on the disk, and no file of another program is replaced.
 *
 * A file is written to a temporary name, ".eddy-TAG.part", and then linked to its name. The
 * temporary name stays until the caller has recorded the file: a file that was linked and not
 * recorded can thus be recognised, and its next version replaces it.
 */
#ifndef ED_CMD_COMMON_SAVE_DIR_H
#define ED_CMD_COMMON_SAVE_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/save_name.h"
#include "common/say.h"
#include "eddy/def.h"

struct ed_save_dir {
        const char *path; /* NULL: nothing is saved */
        int fd;           /* -1: not open */
};

/*
 * Make the folder if it does not exist, open and lock it, and remove incomplete files of a killed
 * run. Errors are said.
 *
 * Errors: the exit code, above 0: ED_EXIT_OUTPUT; ED_EXIT_BUSY  another run saves there
 */
EDDY_MUST_USE int ed_save_dir_open(struct ed_save_dir *dir, const struct ed_say *say,
                                   const char *path);

/* Remove the temporary names that are left: all files are recorded. */
void ed_save_dir_clean(const struct ed_save_dir *dir);
void ed_save_dir_close(struct ed_save_dir *dir);

/* A file to save. Everything but 'name' is set by the caller, and borrowed. */
struct ed_save_dir_file {
        const struct ed_save_dir *dir;
        const char *text; /* for ed_save_name() */
        size_t text_bytes;
        const char *type; /* Content-Type; NULL: none */
        uint64_t tag;     /* of the temporary name: no other file of the run has it */
        const void *data;
        size_t bytes;
        char name[ED_SAVE_NAME_BYTES]; /* the name of the saved file */
};

/*
 * Save a file, and wait until it is on the disk. If a file of another program has the name, the name
 * gets the tag. Blocks on the disk.
 *
 * Errors: those of the system, as negative numbers; no file is left; -EEXIST  the name with the tag
 *         is used too
 */
EDDY_MUST_USE int ed_save_dir_put(struct ed_save_dir_file *file);

/* The file is recorded: remove its temporary name. */
void ed_save_dir_recorded(const struct ed_save_dir *dir, uint64_t tag);

#endif
