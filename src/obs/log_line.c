/*
 * obs/log_line.c - the text of a line of a log.
 */
#include "obs/log_line.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/def.h"
#include "base/utf8.h"
#include "eddy/error.h"
#include "eddy/json.h"
#include "eddy/rfc3339.h"
#include "wire/json.h"

/* "2026-11-23T" */
enum { DATE_BYTES = 11 };

/* --- parts --- */

static void add(struct ed_log_line *line, const char *text, size_t bytes)
{
        line->is_cut = line->is_cut || bytes > (size_t) (line->end - line->at);
        if (line->is_cut)
                return;
        memcpy(line->at, text, bytes);
        line->at += bytes;
}

void ed_log_line_text(struct ed_log_line *line, const char *text)
{
        add(line, text, strlen(text));
}

static void add_printf(struct ed_log_line *line, const char *format, ...) EDDY_PRINTF(2, 3);
static void add_printf(struct ed_log_line *line, const char *format, ...)
{
        char text[64];
        va_list args;

        va_start(args, format);
        vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        ed_log_line_text(line, text);
}

void ed_log_line_string(struct ed_log_line *line, const char *text, size_t bytes)
{
        size_t room = (size_t) (line->end - line->at);

        /* A text that cannot fit is not read. The worst case is next, so most texts are read once. */
        if (bytes > room || (6 * bytes + 2 > room && eddy_json_quoted_bytes(text, bytes) > room))
                line->is_cut = true;
        if (!line->is_cut)
                line->at += eddy_json_quote(text, bytes, line->at);
}

/* Escape a control character: C0, DEL, or C1, which some terminals obey too. */
static void add_control(struct ed_log_line *line, unsigned c)
{
        if (c == '\n' || c == '\r' || c == '\t')
                ed_log_line_text(line, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
        else
                add_printf(line, "\\u%04x", c);
}

void ed_log_line_plain(struct ed_log_line *line, const char *text, size_t bytes)
{
        const unsigned char *at = (const unsigned char *) text, *end = at + bytes;

        while (at < end && !line->is_cut) {
                size_t n = ed_utf8_length(at, (size_t) (end - at));

                if (n == 0)
                        ed_log_line_text(line, "\xef\xbf\xbd"); /* U+FFFD */
                else if (at[0] < ' ' || at[0] == 0x7f)
                        add_control(line, at[0]);
                else if (at[0] == 0xc2 && at[1] < 0xa0)
                        add_control(line, at[1]);
                else
                        add(line, (const char *) at, n);
                at += n ? n : 1;
        }
}

void ed_log_line_time(struct ed_log_line *line, int64_t time_ns, bool with_date)
{
        char text[EDDY_RFC3339_TEXT_BYTES];
        size_t bytes = eddy_rfc3339_format(time_ns, 3, text);

        if (with_date)
                add(line, text, bytes);
        else
                add(line, text + DATE_BYTES, bytes - DATE_BYTES - 1); /* without the "Z" */
}

/* --- values --- */

static bool is_key(const char *key)
{
        if (!key || !*key)
                return false;
        for (; *key; key++)
                if (!((*key >= 'a' && *key <= 'z') || (*key >= 'A' && *key <= 'Z') ||
                      (*key >= '0' && *key <= '9') || strchr("_-.", *key)))
                        return false;
        return true;
}

/* Keys that the log writes itself; a value of such a key gets another one. */
static bool is_taken(const char *key)
{
        return strcmp(key, "time") == 0 || strcmp(key, "level") == 0 ||
               strcmp(key, "message") == 0 || strcmp(key, "cut") == 0;
}

/* JSON has no infinity. */
static void add_double(struct ed_log_line *line, double number)
{
        char text[ED_JSON_DOUBLE_BYTES];

        if (__builtin_isfinite(number))
                add(line, text, ed_json_double_print(number, text));
        else
                ed_log_line_text(line, "null");
}

/* Milliseconds with one decimal. */
static void add_ms(struct ed_log_line *line, int64_t ns)
{
        int64_t tenths = ns / 100000 + (ns % 100000 >= 50000) - (ns % 100000 <= -50000);
        int64_t positive = tenths < 0 ? -tenths : tenths;

        add_printf(line, "%s%" PRId64 ".%" PRId64, tenths < 0 ? "-" : "", positive / 10,
                   positive % 10);
}

static void add_result(struct ed_log_line *line, int64_t result)
{
        char text[256];
        int err = (int) result;

        if (result >= 0 || result != err) {
                add_printf(line, "%" PRId64, result);
                return;
        }
        snprintf(text, sizeof(text), "%s: %s", eddy_error_name(err), eddy_error_text(err));
        ed_log_line_string(line, text, strlen(text));
}

static void add_value(struct ed_log_line *line, const struct eddy_log_value *value)
{
        switch (value->kind) {
        case EDDY_LOG_INT_:
                add_printf(line, "%" PRId64, value->as.number);
                break;
        case EDDY_LOG_UINT_:
                add_printf(line, "%" PRIu64, value->as.whole);
                break;
        case EDDY_LOG_DOUBLE_:
                add_double(line, value->as.real);
                break;
        case EDDY_LOG_BOOL_:
                ed_log_line_text(line, value->as.number ? "true" : "false");
                break;
        case EDDY_LOG_MS_:
                add_ms(line, value->as.number);
                break;
        case EDDY_LOG_RESULT_:
                add_result(line, value->as.number);
                break;
        case EDDY_LOG_STR_:
                if (value->as.text)
                        ed_log_line_string(line, value->as.text, value->bytes);
                else
                        ed_log_line_text(line, "null");
                break;
        case EDDY_LOG_END_:
                break;
        }
}

void ed_log_line_value(struct ed_log_line *line, const struct eddy_log_value *value)
{
        char *before = line->at;

        if (value->kind == EDDY_LOG_END_ || !is_key(value->key))
                return;
        ed_log_line_text(line, ",\"");
        ed_log_line_text(line, value->key);
        ed_log_line_text(line, is_taken(value->key) ? "_\":" : "\":");
        add_value(line, value);
        if (line->is_cut)
                line->at = before; /* not a part of a value */
}

/* --- values that are JSON already --- */

/* Returns the end of the value that begins after a key's colon. */
static const char *value_end(const char *at, const char *end)
{
        if (*at != '"') {
                while (at < end && *at != ',')
                        at++;
                return at;
        }
        for (at++; *at != '"'; at++)
                at += *at == '\\';
        return at + 1;
}

/* A value of ',"key":value ...'. */
struct part {
        const char *key, *key_end, *value, *end;
};

static struct part part_at(const char *at, const char *end)
{
        struct part part = { .key = at + 2 };

        part.key_end = strchr(part.key, '"');
        part.value = part.key_end + 2;
        part.end = value_end(part.value, end);
        return part;
}

/* Returns true if this part is the value of a key, as ed_log_line_value() writes it. */
static bool is_of_key(const struct part *part, const char *key)
{
        size_t bytes = strlen(key);
        bool taken = is_taken(key);

        return (size_t) (part->key_end - part->key) == bytes + taken &&
               memcmp(part->key, key, bytes) == 0 && (!taken || part->key[bytes] == '_');
}

size_t ed_log_line_remove(struct ed_log_line *line, size_t bytes, const char *key)
{
        char *at = line->begin, *end = line->begin + bytes;

        while (at < end && key) {
                struct part part = part_at(at, end);
                size_t part_bytes = (size_t) (part.end - at);

                if (is_of_key(&part, key)) {
                        memmove(at, part.end, (size_t) (line->at - part.end));
                        line->at -= part_bytes;
                        return part_bytes;
                }
                at += part_bytes;
        }
        return 0;
}

void ed_log_line_json(struct ed_log_line *line, const char *json, size_t bytes)
{
        const char *at = json, *end = json + bytes;

        if (bytes <= (size_t) (line->end - line->at)) {
                add(line, json, bytes);
                return;
        }
        while (at < end && !line->is_cut) {
                struct part part = part_at(at, end);

                add(line, at, (size_t) (part.end - at));
                at = part.end;
        }
}

/* --- for a terminal --- */

/* Returns true for a JSON string that reads the same without its quotes. */
static bool is_word(const char *value, const char *end)
{
        if (*value != '"' || end - value < 3)
                return false;
        for (const char *at = value + 1; at < end - 1; at++)
                if ((unsigned char) *at <= ' ' || *at == '\\' || *at == '=' || *at == '"')
                        return false;
        return true;
}

void ed_log_line_console(struct ed_log_line *line, const char *json, size_t bytes, bool colour)
{
        const char *at = json, *end = json + bytes;

        while (at < end && !line->is_cut) {
                struct part part = part_at(at, end);
                bool bare = is_word(part.value, part.end);
                char *before = line->at;

                ed_log_line_text(line, colour ? " \x1b[36m" : " ");
                add(line, part.key, (size_t) (part.key_end - part.key));
                ed_log_line_text(line, colour ? "\x1b[0m=" : "=");
                ed_log_line_plain(line, part.value + bare,
                                  (size_t) (part.end - part.value) - 2 * bare);
                if (line->is_cut)
                        line->at = before;
                at = part.end;
        }
}
