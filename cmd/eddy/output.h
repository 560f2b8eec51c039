/*
 * output.h - where results go: whole lines, one writer at a time.
 *
 * A line that was begun is finished even when the run has been cancelled,
 * for as long as ed_output_stop() allows.  After the first failure nothing
 * more is written, so that at most the last line is torn.
 */
#ifndef ED_CMD_OUTPUT_H
#define ED_CMD_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "eddy/scope.h"
#include "eddy/semaphore.h"
#include "eddy/stream.h"

struct ed_output_write;

struct ed_output {
        int fd;
        bool own_fd;
        bool regular;     /* opened by us and empty at first: what is torn can be cut off */
        const char *name; /* for messages */
        eddy_stream *stream;
        eddy_semaphore turn;
        int err; /* the first failure */
        int64_t stop_ns;
        uint64_t lines;
        uint64_t bytes;
        struct ed_output_write *writes; /* under way and waiting */
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

/* Inside eddy_run().  Errors: as eddy_stream_from_fd() */
EDDY_MUST_USE int ed_output_begin(struct ed_output *output);
void ed_output_end(struct ed_output *output);

/*
 * Write a line, its line feed included.  Other tasks may be at it: they take
 * turns.
 *
 * Suspends: yes, but is not cancelled before the time given to ed_output_stop().
 * Errors: the output's first failure; -ETIMEDOUT  there was no time left
 */
EDDY_MUST_USE int ed_output_line(struct ed_output *output, const char *line, size_t bytes);

/* The run ends: writing has until 'deadline_ns'. */
void ed_output_stop(struct ed_output *output, int64_t deadline_ns);

/* Errors: what closing failed with: some systems say only then that a disk is full */
EDDY_MUST_USE int ed_output_close(struct ed_output *output);

#endif
