/*
 * fetch/output.h - result lines into a file or a pipe: whole lines, one write for
 * the lines of a turn of the loop.
 *
 * A line that was begun is finished even when the run has been cancelled,
 * for as long as ed_output_stop() allows.  After the first failure nothing
 * more is written.  A file then ends after its last whole line; elsewhere at
 * most the last line is torn.
 */
#ifndef ED_CMD_FETCH_OUTPUT_H
#define ED_CMD_FETCH_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "eddy/scope.h"
#include "eddy/semaphore.h"
#include "eddy/stream.h"

struct ed_output_line;

struct ed_output {
        int fd;
        bool own_fd;
        bool regular;        /* a file, which never makes a write wait */
        bool named;          /* a file that had a name at the start */
        off_t start;         /* of a file: the place of the first line */
        const char *name;    /* for messages */
        eddy_stream *stream; /* unless it is a file */
        eddy_semaphore turn;
        int err; /* the first failure */
        int64_t stop_ns;
        uint64_t lines; /* written */
        uint64_t bytes;
        uint64_t added;                       /* the number of the last line that was handed over */
        uint64_t number;                      /* of the last line that was written */
        struct ed_output_line *first, **last; /* handed over, by number */
        char *batch;                          /* lines that are written together */
        bool torn;    /* the file ends with a part of a line, which could not be cut off */
        bool removed; /* found at the end: the file has no name any more */
        int save_err; /* found at the end: the file may not be on the disk */
};

/*
 * Open 'path' for appending, or standard output (NULL).  A file must be new
 * or empty, else 'force' empties it; it is locked, so that two runs cannot
 * mix their lines.  Says what is wrong on stderr.
 *
 * Errors: the exit code, above 0
 */
EDDY_MUST_USE int ed_output_open(struct ed_output *output, const char *command, const char *path,
                                 bool force);

/* Inside eddy_run().  Errors: -ENOMEM, and as eddy_stream_from_fd() */
EDDY_MUST_USE int ed_output_begin(struct ed_output *output);
void ed_output_end(struct ed_output *output);

/*
 * Write a line, its line feed included, together with the lines that other
 * tasks hand over in this turn of the loop.
 *
 * Suspends: yes, but is not cancelled before the time given to ed_output_stop().
 * Errors: the output's first failure; -ETIMEDOUT  there was no time left
 */
EDDY_MUST_USE int ed_output_line(struct ed_output *output, const char *line, size_t bytes);

/* The run ends: writing has until 'deadline_ns'. */
void ed_output_stop(struct ed_output *output, int64_t deadline_ns);

/*
 * Close what was opened, and find out whether a file has all that was
 * written: 'removed' and 'save_err'.  With 'sync' a file's lines are
 * on the disk when this returns.
 */
void ed_output_close(struct ed_output *output, bool sync);

#endif
