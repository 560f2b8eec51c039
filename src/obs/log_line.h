/*
 * obs/log_line.h - the text of a line of a log.
 */
#ifndef ED_OBS_LOG_LINE_H
#define ED_OBS_LOG_LINE_H

#include "eddy/log.h"

/*
 * A line in the making. Text that does not fit is left out as a whole: 'is_cut' is then set, and
 * nothing more is added. Values are made as JSON, ',"key":value' each; a line for a terminal is made
 * from that text.
 */
struct ed_log_line {
        char *begin, *at, *end;
        bool is_cut;
};

/* Append a value, unless its key is not valid. */
void ed_log_line_value(struct ed_log_line *line, const struct eddy_log_value *value);

/* Remove the value of this key, if one of the first '*bytes' bytes has it; returns its bytes. */
size_t ed_log_line_remove(struct ed_log_line *line, size_t bytes, const char *key);

/* Append values that are JSON already, as many as fit. */
void ed_log_line_json(struct ed_log_line *line, const char *json, size_t bytes);

/*
 * Append ' key=value' for each of these values. Strings are written without quotes if they are one
 * word. Characters that control a terminal are escaped.
 */
void ed_log_line_console(struct ed_log_line *line, const char *json, size_t bytes, bool colour);

void ed_log_line_text(struct ed_log_line *line, const char *text);

/* Append an RFC 3339 time with milliseconds (UTC), or only the time of day. */
void ed_log_line_time(struct ed_log_line *line, int64_t time_ns, bool with_date);

/* Append a JSON string. */
void ed_log_line_string(struct ed_log_line *line, const char *text, size_t bytes);

/* Append text for a terminal: its control characters are escaped, as in a JSON string. */
void ed_log_line_plain(struct ed_log_line *line, const char *text, size_t bytes);

#endif
