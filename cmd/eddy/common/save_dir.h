/*
 * common/save_dir.h - a folder for saved files, which a killed run leaves whole: a file has its name
 * only when all its bytes are on the disk, and no file of another program is replaced.
 *
 * A file is written to a temporary name, ".eddy-TAG.part", and then linked to its name. The
 * temporary name stays until the caller has recorded the file: a file that was linked and not
 * recorded can thus be recognised, and its next version replaces it.
 *
 * A file that is not complete may have a note beside it, ".eddy-TAG.note", with what a later run needs
 * to continue the file.
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

enum {
        ED_SAVE_DIR_NAMES_MAX = 100, /* that are tried for a file */
        ED_SAVE_DIR_NOTE_BYTES = 4096,
};

/* How a folder is opened. */
enum {
        ED_SAVE_DIR_REPLACES = 1 << 0,  /* a file whose name was used before gets it all the same */
        ED_SAVE_DIR_CONTINUES = 1 << 1, /* incomplete files with notes stay: a run continues them */
};

struct ed_save_dir {
        const char *path; /* NULL: nothing is saved */
        int fd;           /* -1: not open */
        unsigned flags;
        bool has_notes; /* incomplete files with notes were there when the folder was opened */
        struct timespec opened;
};

/*
 * Make the folder if it does not exist, open and lock it, and remove incomplete files of a killed
 * run. Errors are said.
 *
 * Errors: the exit code, above 0: ED_EXIT_OUTPUT; ED_EXIT_BUSY  another run saves there
 */
EDDY_MUST_USE int ed_save_dir_open(struct ed_save_dir *dir, const struct ed_say *say,
                                   const char *path, unsigned flags);

/*
 * Open a folder only for ed_save_dir_has(): nothing is made, locked or removed. If it cannot be
 * opened, it has no file.
 */
void ed_save_dir_look(struct ed_save_dir *dir, const char *path);

/*
 * Returns true if the folder does not exist, or has only files that a killed run has left: temporary
 * names, other names of their files, and notes; and an empty file 'record', unless that is NULL.
 */
bool ed_save_dir_is_empty(const char *path, const char *record);

/* Returns true if the folder has a file of this name and size. */
bool ed_save_dir_has(const struct ed_save_dir *dir, const char *name, uint64_t bytes);

/* Remove the temporary names that are left, but with 'keeps_notes' not those that have notes. */
void ed_save_dir_clean(const struct ed_save_dir *dir, bool keeps_notes);
void ed_save_dir_close(struct ed_save_dir *dir);

/* A file that is saved. */
struct ed_save_dir_file {
        const struct ed_save_dir *dir;
        uint64_t tag;  /* of the temporary name: no other file of the run has it */
        int fd;        /* -1: not open */
        bool has_part; /* the temporary name is that of this file */
        bool has_note; /* beside the temporary name */
        char names[2][ED_SAVE_NAME_BYTES]; /* without and with a tag */
        const char *name;                  /* of the two; set when the file is kept */
};

/* Set the names of a file, as ed_save_name() makes them. */
void ed_save_dir_name(struct ed_save_dir_file *file, const struct ed_save_dir *dir, uint64_t tag,
                      enum ed_save_origin origin, const char *text, size_t bytes, const char *type);

/* Set only the names, of a file that was resumed. */
void ed_save_dir_set_names(struct ed_save_dir_file *file, enum ed_save_origin origin,
                           const char *text, size_t bytes, const char *type);

/*
 * Open a file under its temporary name, and write to 'fd'. Then either keep it: wait until it is on
 * the disk, and give it its name, which gets the tag if another file has it, or else one of the next
 * tags. Or drop it. Both close 'fd'. Keeping blocks on the disk.
 *
 * Errors: those of the system, as negative numbers; no file is left then; -EEXIST  all of
 *         ED_SAVE_DIR_NAMES_MAX names are used
 */
EDDY_MUST_USE int ed_save_dir_begin(struct ed_save_dir_file *file);
EDDY_MUST_USE int ed_save_dir_keep(struct ed_save_dir_file *file);
void ed_save_dir_drop(struct ed_save_dir_file *file);

/* The file is recorded: remove its temporary name, and its note. */
void ed_save_dir_recorded(struct ed_save_dir_file *file);

/* Write the note of a file that has none. Errors: those of the system; the file has no note then */
EDDY_MUST_USE int ed_save_dir_note(struct ed_save_dir_file *file, const void *data, size_t bytes);

/*
 * Find the incomplete file with this tag, and read its note, which gets a NUL. The file is not opened.
 * Returns its bytes. Errors: -ENOENT  the file or its note is missing, or is of another kind
 */
EDDY_MUST_USE int64_t ed_save_dir_find(struct ed_save_dir_file *file, const struct ed_save_dir *dir,
                                       uint64_t tag, char note[ED_SAVE_DIR_NOTE_BYTES]);

/* Close a file that is not complete; ed_save_dir_reopen() continues it, or ed_save_dir_drop() ends it. */
void ed_save_dir_pause(struct ed_save_dir_file *file);

/*
 * Open a file of 'bytes' bytes again, and cut it off after 'kept' bytes, where the next ones are
 * written. Errors: those of the system; -ESTALE  the file was changed
 */
EDDY_MUST_USE int ed_save_dir_reopen(struct ed_save_dir_file *file, uint64_t bytes, uint64_t kept);

/* Close a file that is not complete. If it has a note, a later run can continue it; or it is dropped. */
void ed_save_dir_leave(struct ed_save_dir_file *file);

#endif
