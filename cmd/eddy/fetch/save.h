/*
 * fetch/save.h - a folder with one file per response body, named by the server or by the end of its
 * URL (common/save_dir.h).
 *
 * Without -o, the folder has a record: the lines of the files that were saved, for a later run that
 * continues.
 */
#ifndef ED_CMD_FETCH_SAVE_H
#define ED_CMD_FETCH_SAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/save_dir.h"
#include "eddy/def.h"

/* In the folder. No body gets this name, because it begins with a dot. */
#define ED_SAVE_RECORD ".eddy-saved.jsonl"

struct ed_save {
        struct ed_save_dir dir;
        bool remote_name; /* a name that the server gives counts */
        int record;       /* open for appending; -1: none */
        int err;          /* the first failure: a full disk affects all bodies */
        uint64_t renamed; /* files that got another name, because theirs was used */
};

/* How a folder is opened. */
struct ed_save_opts {
        const char *path;
        bool force;       /* files are replaced, and an earlier record does not count */
        bool resumes;     /* files of the folder belong to the run that is continued */
        bool remote_name; /* other files may be in the folder too: they stay */
        bool has_record;
};

/*
 * Open the folder, creating it if necessary. Without 'force', 'resumes' or 'remote_name', a folder
 * that has files is refused, unless it has a record and 'has_record' is set. Errors are reported on
 * stderr.
 *
 * Errors: the exit code, above 0
 */
EDDY_MUST_USE int ed_save_open(struct ed_save *save, const char *command,
                               const struct ed_save_opts *opts);

/* Wait until the record is on the disk. The first error is kept in 'save->err'. */
void ed_save_sync(struct ed_save *save);
void ed_save_close(struct ed_save *save);

/* The head of a response, as far as names depend on it. */
struct ed_save_head {
        const char *type;        /* NULL: none */
        const char *disposition; /* Content-Disposition; NULL: none */
};

/*
 * Begin the file of a URL. Errors: the system's. The first error is also kept in 'save->err'.
 */
EDDY_MUST_USE int ed_save_file_begin(struct ed_save *save, const char *url, uint64_t index,
                                     const struct ed_save_head *head,
                                     struct ed_save_dir_file *file);

/* Set only the names of a file that ed_save_file_find() has found, from its name in an earlier run. */
void ed_save_file_name(struct ed_save_dir_file *file, const char *name);

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

/* Append the line of a file to the record, if there is one. Errors: the system's, kept as above */
EDDY_MUST_USE int ed_save_record(struct ed_save *save, const char *line, size_t bytes);

#endif
