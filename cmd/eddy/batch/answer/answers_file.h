/*
 * batch/answer/answers_file.h - the file of answers, which is also the checkpoint of the run, and
 * the errors file: opens, locks, repairs and reads them before the run, and removes old lines after
 * the run.
 */
#ifndef ED_CMD_BATCH_ANSWER_ANSWERS_FILE_H
#define ED_CMD_BATCH_ANSWER_ANSWERS_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "batch/answer/answer_line.h"
#include "common/say.h"
#include "eddy/def.h"

/* The repairs of a file. */
struct ed_answers_file_found {
        uint64_t rejected; /* lines that are not answers, moved to FILE.rejected */
        uint64_t torn;     /* bytes of an incomplete last line, moved to it too */
        bool ended;        /* the last line was whole, and got its line feed */
};

struct ed_answers_file {
        int fd; /* -1: not open; locked (flock) and at its end, O_APPEND */
        const char *path;
        uint64_t bytes;
};

/*
 * Open a file for appending, or make it, and lock it. 'option' is the file's option ("-o",
 * "--errors"), for messages; 'path' is borrowed until ed_answers_file_close(). Lines that are not
 * answers, and an incomplete last line, are moved to PATH.rejected; a last line that is whole gets
 * its line feed; blank lines stay. These repairs are added to 'found'. take() is called once for
 * each answer that the file has then, in order, so that the file is read once; it may be NULL. On
 * return, all lines and the file's name are on the disk. Errors are said.
 *
 * Errors: the exit code, above 0: ED_EXIT_OUTPUT, or ED_EXIT_USAGE if another run has locked the
 *         file, it is not a regular file, or it has contents but no answer (it is not changed then)
 */
typedef void ed_answers_file_take_fn(void *arg, const struct ed_answer_seen *seen);
EDDY_MUST_USE int ed_answers_file_open(struct ed_answers_file *answers, const struct ed_say *say,
                                       const char *option, const char *path,
                                       struct ed_answers_file_found *found,
                                       ed_answers_file_take_fn *take, void *arg);

/*
 * Call fn for each line of the file, without its line feed, in order. A last line without a line
 * feed counts only if it is an answer. A result other than 0 ends the walk and is returned. Blocks
 * on the disk: not for use on a loop.
 *
 * Errors: those of read(2), as negative numbers; -ENOMEM; -EMSGSIZE  a line is longer than
 *         ED_DRAFT_BYTES_MAX; those of fn
 */
typedef int ed_answers_file_fn(void *arg, const char *line, size_t bytes);
EDDY_MUST_USE int ed_answers_file_each(const struct ed_answers_file *answers,
                                       ed_answers_file_fn *fn, void *arg);

/*
 * Remove the lines for which keep() returns false: write a new file in the same folder, sync it,
 * and rename it over the old file. The new file is locked before it is renamed, and 'fd' changes.
 * Lines at the end are cut off instead, which needs no space on the disk. If all lines are kept,
 * nothing is written. keep() is called once for each line, in order; 'ret_removed' may be NULL.
 *
 * Errors: the system's, as negative numbers; the file is unchanged, unless its folder could not be
 *         synced; -ENOENT  the name no longer belongs to the file
 */
typedef bool ed_answers_file_keep_fn(void *arg, const char *line, size_t bytes);
EDDY_MUST_USE int ed_answers_file_prune(struct ed_answers_file *answers,
                                        ed_answers_file_keep_fn *keep, void *arg,
                                        uint64_t *ret_removed);

/*
 * Move the lines for which keep() returns false to the end of another file: append them there, wait
 * for the disk, and then remove them as ed_answers_file_prune() does. keep() is called twice for
 * each line, with the same result. If 'no_error' is true, the lines are successes: an "error" in a
 * moved line becomes null.
 *
 * Errors: those of ed_answers_file_prune(); no line is lost then, but lines may be in both files
 */
EDDY_MUST_USE int ed_answers_file_move(struct ed_answers_file *from, struct ed_answers_file *to,
                                       bool no_error, ed_answers_file_keep_fn *keep, void *arg,
                                       uint64_t *ret_moved);

/* Wait until all lines are on the disk. Errors: those of fsync(2), as negative numbers */
EDDY_MUST_USE int ed_answers_file_sync(const struct ed_answers_file *answers);

enum ed_answers_file_place {
        ED_ANSWERS_FILE_HERE,  /* the name is that of the file, as it was when it was opened */
        ED_ANSWERS_FILE_MOVED, /* the file has another name */
        ED_ANSWERS_FILE_GONE,  /* it has none: another program removed or replaced it */
};

enum ed_answers_file_place ed_answers_file_place(const struct ed_answers_file *answers);

void ed_answers_file_close(struct ed_answers_file *answers);

#endif
