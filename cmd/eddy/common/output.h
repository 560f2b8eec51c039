/*
 * common/output.h - writes result lines to a file or a pipe: whole lines, with one write for all
 * lines of a turn of the loop.
 *
 * A line that was begun is finished even if the run is cancelled, until the time limit of
 * ed_output_stop(). After the first failure, nothing more is written. A file then ends after its
 * last whole line; in other outputs, at most the last line is incomplete.
 *
 * If another program makes the file shorter, such as truncate(1) or logrotate's copytruncate,
 * nothing more is written to it: 'cut' is set, and further lines go to the file NAME.rescued. The
 * caller finds 'cut' after the first of these lines, and ends the run.
 */
#ifndef ED_CMD_COMMON_OUTPUT_H
#define ED_CMD_COMMON_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/say.h"
#include "eddy/scope.h"
#include "eddy/semaphore.h"
#include "eddy/stream.h"

struct ed_output_line;

struct ed_output {
        int fd;
        bool own_fd;
        bool regular;        /* a file, whose writes never wait */
        bool named;          /* a file that had a name at the start */
        off_t start;         /* position of a file's first line */
        const char *name;    /* for messages */
        eddy_stream *stream; /* unless the output is a file */
        eddy_semaphore turn;
        int err; /* the first failure */
        int64_t stop_ns;
        uint64_t lines; /* written */
        uint64_t bytes;
        uint64_t added;  /* number of the last line added */
        uint64_t number; /* number of the last line written */
        size_t waiting_bytes;
        struct ed_output_line *first, **last; /* added lines, by number */
        char *batch;                          /* lines that are written together */
        bool cut;                             /* another program has made the file shorter */
        uint64_t cut_from, cut_to;            /* its bytes before and after */
        char *rescue;       /* the file that has the lines since then: NAME.rescued; NULL: none */
        uint64_t cut_lines; /* written before */
        bool torn;          /* the file ends with part of a line that could not be cut off */
        bool removed;       /* found at the end: the file was removed */
        int save_err;       /* found by a sync or at the end: the file may not be on the disk */
};

/*
 * Open 'path' for appending, or standard output (NULL). A file must be new or empty, unless 'force'
 * empties it. The file is locked, so that two runs cannot mix their lines. Errors are said.
 *
 * Errors: the exit code, above 0
 */
EDDY_MUST_USE int ed_output_open(struct ed_output *output, const struct ed_say *say,
                                 const char *path, bool force);

/*
 * Use an open file as output, beginning at its end; 'name' is for messages. The caller has locked
 * it. ed_output_close() closes it, which ends the lock.
 *
 * Errors: -EINVAL  not a file, or not opened with O_APPEND; the system's. The file stays open.
 */
EDDY_MUST_USE int ed_output_adopt(struct ed_output *output, int fd, const char *name);

/* Call inside eddy_run(). Errors: -ENOMEM, and as eddy_stream_from_fd() */
EDDY_MUST_USE int ed_output_begin(struct ed_output *output);
void ed_output_end(struct ed_output *output);

/*
 * Write a line, including its line feed, together with lines that other tasks add in this turn of
 * the loop.
 *
 * Suspends: yes, but is not cancelled before the time given to ed_output_stop().
 * Errors: the output's first failure; -ETIMEDOUT  there was no time left
 */
EDDY_MUST_USE int ed_output_line(struct ed_output *output, const char *line, size_t bytes);

/* Say that the file was cut, with its sizes, and where the lines since then are. */
void ed_output_say_cut(const struct ed_output *output, const struct ed_say *say);

/* Limit writing to 'deadline_ns', because the run ends. A later call can only shorten the time. */
void ed_output_stop(struct ed_output *output, int64_t deadline_ns);

/*
 * Close the output. For a file, check that it has all lines that were written, and set 'cut',
 * 'removed' and 'save_err'. With 'sync', the lines of a file are on the disk when this returns.
 */
void ed_output_close(struct ed_output *output, bool sync);

/* Release what ed_output_close() has kept for messages. */
void ed_output_fini(struct ed_output *output);

#endif
