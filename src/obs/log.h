/*
 * obs/log.h - the struct of a log, which the files of logs share.
 */
#ifndef ED_OBS_LOG_H
#define ED_OBS_LOG_H

#include "eddy/event.h"
#include "eddy/file.h"
#include "eddy/log.h"
#include "eddy/scope.h"
#include "loop/member.h"
#include "obs/log_line.h"
#include "obs/log_ring.h"

enum { ED_LOG_REPEATS = 64, ED_LOG_MESSAGE_SHOWN = 64 };

/* A message that was logged in this second. */
struct ed_log_repeat {
        uint64_t hash; /* of its level and text */
        int64_t second;
        uint32_t count; /* of lines; those above the limit were left out */
        uint32_t left_out;
        char message[ED_LOG_MESSAGE_SHOWN]; /* cut */
};

struct eddy_log {
        struct ed_member member;
        /* The output: a stream or a file. */
        eddy_stream *stream;
        eddy_file *file;
        bool own_stream;
        enum eddy_log_level level;
        enum eddy_log_format format;
        struct eddy_log_stats stats;
        uint32_t repeats_max;
        struct ed_log_repeat repeats[ED_LOG_REPEATS];

        struct ed_log_ring ring;
        uint64_t unreported; /* dropped lines that no line has reported yet */
        uint64_t reported;   /* dropped lines in the last report ... */
        uint64_t report_end; /* ... written when this number of bytes was removed */

        bool has_writer;     /* a background task was started and has not ended */
        bool is_stopping;    /* the writer must end */
        bool is_writing;     /* a task is in a write */
        bool is_held;        /* the stream may hold bytes that it took */
        eddy_scope *writing; /* of the background task, once it runs; else NULL */
        eddy_event moved;    /* pulses after each write, and when the background task ends */
        uint64_t failures;
        int error; /* of the last failure */

        char line[EDDY_LOG_LINE_MAX], json[EDDY_LOG_LINE_MAX];
};

/* Make a background task that writes the ring, unless there is one. */
void ed_log_writer_start(eddy_log *log);

/* Log how many lines 'repeats_max' has left out, of each message. */
void ed_log_report_left_out(eddy_log *log);

/* Log that lines were dropped, if any were and there is room. */
void ed_log_report_dropped(eddy_log *log);

/* Returns the values of the task's context, as ',"key":value' each; '*ret_bytes' of them. */
const char *ed_log_context(size_t *ret_bytes);

#endif
