/*
 * batch/answers.h - the file of answers, which is also the checkpoint of the run, and the file of
 * errors: opened, locked, repaired and read before the run, cleaned after it.
 */
#ifndef ED_CMD_BATCH_ANSWERS_H
#define ED_CMD_BATCH_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

#include "batch/ids.h"
#include "eddy/def.h"

/* The former contents of the files. */
struct ed_answers_found {
        uint64_t ok;      /* ids with an answer below 400 in the output */
        uint64_t failed;  /* ids of the errors file, which are tried again */
        uint64_t torn;    /* bytes of a last line without its end, cut off */
        uint64_t damaged; /* lines that are not answers, moved to FILE.damaged */
        uint64_t twice;   /* lines of an id that had one already, removed */
};

struct ed_answers {
        int fd; /* -1: not open; locked (flock) and at its end, O_APPEND */
        const char *path;
        uint64_t bytes;
};

/*
 * Open a file for appending, or make it, and lock it. 'command' is for messages, 'option' the
 * file's option ("-o", "--errors"); 'path' is borrowed until ed_answers_close(). A last line without
 * a line feed is cut off; damaged lines are moved to PATH.damaged. Both are added to 'found', whose
 * other numbers the caller counts. Errors are reported on stderr.
 *
 * Errors: the exit code, above 0: ED_EXIT_OUTPUT, or ED_EXIT_USAGE if another run has locked the
 *         file, it is not a regular file, or it has contents but no answer (it is not changed then)
 */
EDDY_MUST_USE int ed_answers_open(struct ed_answers *answers, const char *command,
                                  const char *option, const char *path,
                                  struct ed_answers_found *found);

/*
 * Call fn for each whole line of the file, without its line feed, in order; a result other than 0
 * ends the walk and is returned. Blocks on the disk: not for use on a loop.
 *
 * Errors: those of read(2), as negative numbers; -ENOMEM; -EMSGSIZE  a line is longer than
 *         ED_DRAFT_BYTES_MAX; those of fn
 */
typedef int ed_answers_fn(void *arg, const char *line, size_t bytes);
EDDY_MUST_USE int ed_answers_each(const struct ed_answers *answers, ed_answers_fn *fn, void *arg);

/*
 * Replace the file by one with only those lines for which keep() returns true: written beside it,
 * synced, renamed over it. The new file is locked before it gets the name; it has another 'fd'.
 * Nothing is written if all lines are kept. keep() is called once for each line, in order;
 * 'ret_removed' may be NULL.
 *
 * Errors: the system's, as negative numbers; the file is unchanged, unless its folder could not be
 *         synced; -ENOENT  the name is not that of the file any more
 */
typedef bool ed_answers_keep_fn(void *arg, const char *line, size_t bytes);
EDDY_MUST_USE int ed_answers_prune(struct ed_answers *answers, ed_answers_keep_fn *keep, void *arg,
                                   uint64_t *ret_removed);

void ed_answers_close(struct ed_answers *answers);

#endif
