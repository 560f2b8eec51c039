/*
 * eddy/log.h - structured logs: lines with named values, as JSON or for a terminal.
 *
 *     eddy_log *log;
 *     int err = eddy_log_open(NULL, &log);
 *
 *     if (err < 0)
 *             return err;
 *     eddy_log_info(log, "request served", eddy_log_str("path", path),
 *                   eddy_log_int("status", 200), eddy_log_ms("ms", duration_ns));
 *     eddy_log_close(log);
 *
 * prints, if standard error is a terminal:
 *
 *     12:30:05.123 info  request served  path=/users status=200 ms=1.3
 *
 * and otherwise, in one line:
 *
 *     {"time":"2026-11-23T12:30:05.123Z","level":"info","message":"request served",
 *      "path":"/users","status":200,"ms":1.3}
 *
 * Times are in UTC.  A call puts its line into a buffer and never waits; a
 * background task writes the buffer.  If the reader of the output is slow and the buffer
 * is full, lines are dropped, and a later line reports their number.  After a failed
 * write (a full disk, a closed pipe) the lines in the buffer are dropped, and the next
 * line is tried again.
 *
 * A log belongs to the loop that opened it; a line from another thread is ignored.  Keys
 * are the program's own: letters, digits, '_', '-' and '.'; a value with another key is
 * left out.  The keys "time", "level", "message" and "cut" get a '_' at the end.  All calls
 * ignore a NULL log.
 */
#ifndef EDDY_LOG_H
#define EDDY_LOG_H

#include <stdbool.h>

#include "eddy/def.h"
#include "eddy/each.h"
#include "eddy/stream.h"

EDDY_BEGIN_DECLS

typedef struct eddy_log eddy_log;

enum eddy_log_level {
        EDDY_LOG_DEBUG = -1,
        EDDY_LOG_INFO = 0,
        EDDY_LOG_WARNING = 1,
        EDDY_LOG_ERROR = 2,
        EDDY_LOG_NONE = 3, /* as the lowest level: no line is written */
};

enum eddy_log_format {
        EDDY_LOG_AUTO = 0, /* console format if the output is a terminal, else JSON */
        EDDY_LOG_JSON = 1,
        EDDY_LOG_CONSOLE = 2,
        EDDY_LOG_COLOUR =
                3, /* console format with colours; AUTO has colours unless NO_COLOR is set */
};

enum {
        /* Bytes of a line.  A longer one loses its last values, and a message its bytes after the
         * 2,000th; the line then has "cut":true. */
        EDDY_LOG_LINE_MAX = 16384,
        EDDY_LOG_CONTEXT_MAX = 1000 /* bytes of a task's context, as JSON */
};

/* All zero is the default. */
struct eddy_log_opts {
        const char *path EDDY_UNSET; /* append to this file; NULL: use 'stream' */
        /* write to this stream, which must outlive the log; both NULL: write to standard error */
        eddy_stream *stream EDDY_UNSET;
        int32_t level EDDY_UNSET;  /* the lowest level that is written: enum eddy_log_level */
        int32_t format EDDY_UNSET; /* enum eddy_log_format */
        uint32_t buffer_bytes EDDY_UNSET; /* 0: 1 MiB; more than EDDY_LOG_LINE_MAX */
        /* How many lines with the same message are written in each second.  Further lines are left
         * out, and their number is reported before the next line with this message.  About 50
         * messages are counted at a time; with more in a second, some counts begin again.  0: no
         * limit. */
        uint32_t repeats_max EDDY_UNSET;
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Open a log.  'opts' may be NULL.
 *
 * Suspends: yes, to open 'path'.
 * Errors: -EINVAL  an option is out of range, or both 'path' and 'stream' are given
 *         -ENOMEM, EDDY_E_RUN_NOT_RUNNING; -ECANCELED and others of eddy_file_open()
 * Owns: returns (owned) '*ret_log', to be closed by eddy_log_close().
 */
EDDY_API EDDY_MUST_USE int eddy_log_open(const struct eddy_log_opts *opts, eddy_log **ret_log);

/*
 * Write the lines in the buffer, for at most a second, and free the log; the other lines
 * are lost.  No other task may be in a call on the log.  Works in a cancelled task; outside
 * a task, or on another loop, the call does nothing.  NULL is ignored.
 *
 * Suspends: yes, for at most a second, unless a write to a file takes longer.
 */
EDDY_API void eddy_log_close(eddy_log *log);

/*
 * Wait until the lines logged so far are written.
 *
 * Suspends: yes.
 * Errors: -ECANCELED
 *         EDDY_E_RUN_OTHER_LOOP
 *         -EPIPE, -ENOSPC and others of writing: lines are lost
 */
EDDY_API EDDY_MUST_USE int eddy_log_flush(eddy_log *log);

/* Set the lowest level that is written.  Suspends: no. */
EDDY_API void eddy_log_set_level(eddy_log *log, enum eddy_log_level level);

/*
 * Returns whether lines of this level are written.  Ask before an expensive computation of
 * values.
 *
 * Suspends: no.
 */
EDDY_API bool eddy_log_has(const eddy_log *log, enum eddy_log_level level);

struct eddy_log_stats {
        uint64_t lines;   /* put into the buffer */
        uint64_t dropped; /* because the buffer was full or writing failed */
        uint64_t repeats; /* left out by 'repeats_max' */
        uintptr_t reserved[4];
};

/* Zeros for NULL.  Suspends: no. */
EDDY_API void eddy_log_stats(const eddy_log *log, struct eddy_log_stats *ret_stats);

/* ---- values ------------------------------------------------------------------------ */

enum eddy_log_kind {
        EDDY_LOG_END_,
        EDDY_LOG_INT_,
        EDDY_LOG_UINT_,
        EDDY_LOG_DOUBLE_,
        EDDY_LOG_BOOL_,
        EDDY_LOG_STR_,
        EDDY_LOG_MS_,
        EDDY_LOG_RESULT_,
};

/* A value with its key.  Made by the functions below. */
struct eddy_log_value {
        const char *key;
        enum eddy_log_kind kind;
        size_t bytes; /* of 'text' */
        union {
                int64_t number;
                uint64_t whole;
                double real;
                const char *text;
        } as;
};

#define EDDY_LOG_VALUE_(name, type, kind_, field)                                                  \
        static inline struct eddy_log_value name(const char *key, type value)                      \
        {                                                                                          \
                struct eddy_log_value made;                                                        \
                made.key = key;                                                                    \
                made.kind = kind_;                                                                 \
                made.bytes = 0;                                                                    \
                made.as.field = value;                                                             \
                return made;                                                                       \
        }

EDDY_LOG_VALUE_(eddy_log_int, int64_t, EDDY_LOG_INT_, number)
EDDY_LOG_VALUE_(eddy_log_uint, uint64_t, EDDY_LOG_UINT_, whole)
EDDY_LOG_VALUE_(eddy_log_double, double, EDDY_LOG_DOUBLE_, real)
EDDY_LOG_VALUE_(eddy_log_bool, bool, EDDY_LOG_BOOL_, number)
/* Nanoseconds, written as milliseconds with one decimal. */
EDDY_LOG_VALUE_(eddy_log_ms, int64_t, EDDY_LOG_MS_, number)
/* The result of a call of eddy: the error's name and text, or a number of 0 and above. */
EDDY_LOG_VALUE_(eddy_log_result, int64_t, EDDY_LOG_RESULT_, number)
#undef EDDY_LOG_VALUE_

/* Text; NULL is written as null.  Bytes that are not UTF-8 become U+FFFD. */
EDDY_API struct eddy_log_value eddy_log_str(const char *key, const char *text);
EDDY_API struct eddy_log_value eddy_log_text(const char *key, const char *text, size_t bytes);

/* ---- lines ------------------------------------------------------------------------- */

/*
 * Log a line: a constant message, and values (struct eddy_log_value), the last of which is
 * eddy_log_end().  The macros below add the level and the end.  A value replaces a value
 * with the same key in the task's context; the keys of a call must be distinct.
 *
 * Suspends: no.
 */
EDDY_API void eddy_log_write(eddy_log *log, enum eddy_log_level level, const char *message, ...);
EDDY_API struct eddy_log_value eddy_log_end(void);

/* Private: only values of the functions above compile. */
#ifdef __cplusplus
#define EDDY_LOG_PUT_(log, level, ...) eddy_log_put_((log), (level), __VA_ARGS__)
#else
#define EDDY_LOG_VALUE_ONLY_(value) EDDY_ONLY(struct eddy_log_value, value)
#define EDDY_LOG_VALUES_(...)       EDDY_EACH(EDDY_LOG_VALUE_ONLY_, __VA_ARGS__)
#define EDDY_LOG_TEXT_(text)                                                                       \
        (__extension__ _Generic((text), char * : (text), const char * : (text)))
#define EDDY_LOG_MESSAGE_(message, ...) EDDY_LOG_TEXT_(message), EDDY_LOG_VALUES_(__VA_ARGS__)
#define EDDY_LOG_PUT_(log, level, ...)                                                             \
        eddy_log_write((log), (level), EDDY_LOG_MESSAGE_(__VA_ARGS__, eddy_log_end()))
#endif

#define eddy_log_debug(log, ...)   EDDY_LOG_PUT_(log, EDDY_LOG_DEBUG, __VA_ARGS__)
#define eddy_log_info(log, ...)    EDDY_LOG_PUT_(log, EDDY_LOG_INFO, __VA_ARGS__)
#define eddy_log_warning(log, ...) EDDY_LOG_PUT_(log, EDDY_LOG_WARNING, __VA_ARGS__)
#define eddy_log_error(log, ...)   EDDY_LOG_PUT_(log, EDDY_LOG_ERROR, __VA_ARGS__)

/*
 * Add values to all later lines of this task and of the tasks that it starts later, for
 * example the number of a request or the name of a user.  A value replaces a bound value
 * with the same key.
 * Values that a handler of an HTTP server binds end with its request.
 *
 * Suspends: no.
 * Errors: -ENOSPC  more than EDDY_LOG_CONTEXT_MAX bytes; nothing was added
 *         -ENOMEM, EDDY_E_RUN_NOT_RUNNING
 */
EDDY_API int eddy_log_bind_values(struct eddy_log_value first, ...);
#ifdef __cplusplus
#define eddy_log_bind(...) eddy_log_bind_put_(__VA_ARGS__)
#else
#define eddy_log_bind(...) eddy_log_bind_values(EDDY_LOG_VALUES_(__VA_ARGS__, eddy_log_end()))
#endif

/* Remove all bound values from this task.  Suspends: no.  Errors: as eddy_var_unset(). */
EDDY_API int eddy_log_unbind(void);

static inline void eddy_log_auto_release(eddy_log **log)
{
        eddy_log_close(*log);
}

EDDY_END_DECLS

#ifdef __cplusplus
/* Defined for the type of a value only. */
template <typename T> struct eddy_log_only_;
template <> struct eddy_log_only_<eddy_log_value> {
        static int check()
        {
                return 0;
        }
};
template <typename... Values>
inline void eddy_log_put_(eddy_log *log, enum eddy_log_level level, const char *message,
                          Values... values)
{
        const int checked[] = { 0, eddy_log_only_<Values>::check()... };

        (void) checked;
        eddy_log_write(log, level, message, values..., eddy_log_end());
}
template <typename... Values> inline int eddy_log_bind_put_(eddy_log_value first, Values... values)
{
        const int checked[] = { 0, eddy_log_only_<Values>::check()... };

        (void) checked;
        return eddy_log_bind_values(first, values..., eddy_log_end());
}
#endif

#endif
