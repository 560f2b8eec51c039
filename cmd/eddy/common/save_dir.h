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
#include <time.h>

#include "common/save_name.h"
#include "common/say.h"
#include "eddy/def.h"

struct ed_save_dir {
        const char *path; /* NULL: nothing is saved */
        int fd;           /* -1: not open */
        bool replaces;    /* files that were there when the folder was opened */
        struct timespec opened;
};

/*
 * Make the folder if it does not exist, open and lock it, and remove incomplete files of a killed
 * run. With 'replaces', a file whose name was used before gets this name all the same. Errors are
 * said.
 *
 * Errors: the exit code, above 0: ED_EXIT_OUTPUT; ED_EXIT_BUSY  another run saves there
 */
EDDY_MUST_USE int ed_save_dir_open(struct ed_save_dir *dir, const struct ed_say *say,
                                   const char *path, bool replaces);

/*
 * Returns true if the folder does not exist, or has only files that a killed run has left: temporary
 * names, and other names of their files.
 */
bool ed_save_dir_is_empty(const char *path);

/* Returns true if the folder has a file of this name and size. */
bool ed_save_dir_has(const struct ed_save_dir *dir, const char *name, uint64_t bytes);

/* Remove the temporary names that are left: all files are recorded. */
void ed_save_dir_clean(const struct ed_save_dir *dir);
void ed_save_dir_close(struct ed_save_dir *dir);

/* A file that is saved. */
struct ed_save_dir_file {
        const struct ed_save_dir *dir;
        uint64_t tag;  /* of the temporary name: no other file of the run has it */
        int fd;        /* -1: not open */
        bool has_part; /* the temporary name is that of this file */
        char names[2][ED_SAVE_NAME_BYTES]; /* without and with the tag */
        const char *name;                  /* of the two; set when the file is kept */
};

/* Set the names of a file, as ed_save_name() makes them. */
void ed_save_dir_name(struct ed_save_dir_file *file, const struct ed_save_dir *dir, uint64_t tag,
                      enum ed_save_origin origin, const char *text, size_t bytes, const char *type);

/*
 * Open a file under its temporary name, and write to 'fd'. Then either keep it: wait until it is on
 * the disk, and give it its name, which gets the tag if another file has it. Or drop it. Both close
 * 'fd'. Keeping blocks on the disk.
 *
 * Errors: those of the system, as negative numbers; no file is left then; -EEXIST  the name with the
 *         tag is used too
 */
EDDY_MUST_USE int ed_save_dir_begin(struct ed_save_dir_file *file);
EDDY_MUST_USE int ed_save_dir_keep(struct ed_save_dir_file *file);
void ed_save_dir_drop(struct ed_save_dir_file *file);

/* The file is recorded: remove its temporary name. */
void ed_save_dir_recorded(struct ed_save_dir_file *file);

#endif
