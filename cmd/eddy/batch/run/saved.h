/*
 * batch/run/saved.h - counts for --save: the files of a run, answers without one, and files of earlier
 * runs. The only I/O is a look at a folder.
 */
#ifndef ED_CMD_BATCH_RUN_SAVED_H
#define ED_CMD_BATCH_RUN_SAVED_H

#include <stdint.h>

#include "batch/answer/answer_line.h"
#include "common/draft.h"
#include "common/save_dir.h"

enum { ED_SAVED_KINDS = 8 };

/* Files, and the name of the first one. */
struct ed_saved_files {
        uint64_t count;
        char first[ED_SAVE_NAME_BYTES];
};

struct ed_saved {
        uint64_t files, json, empty; /* answers of this run: with a file, and two kinds without */
        struct ed_saved_kind {
                const char *ending; /* of the type: ".png" */
                uint64_t files;
        } kinds[ED_SAVED_KINDS]; /* further kinds are only in 'files' */
        unsigned kinds_count;
        struct ed_saved_files missing; /* of answers of earlier runs */
        struct ed_saved_files old;     /* of answers that were removed from the output */
};

/* A file was saved; 'type' is its Content-Type, or NULL. */
void ed_saved_add(struct ed_saved *saved, const char *type);

/* If a line of an earlier run has a file, note it if the folder does not have it. */
void ed_saved_note_missing(struct ed_saved *saved, const struct ed_save_dir *dir,
                           const struct ed_answer_seen *line);

/* A line is removed from the output: note its file, if the folder has it. */
void ed_saved_note_old(struct ed_saved *saved, const struct ed_save_dir *dir,
                       const struct ed_answer_seen *line);

/* Append the line of the summary, or its JSON object. */
void ed_saved_print(const struct ed_saved *saved, const char *path, struct ed_draft *text);
void ed_saved_print_json(const struct ed_saved *saved, struct ed_draft *text);

#endif
