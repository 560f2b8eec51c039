/*
 * obs/log.c - logs: lines into the ring.
 */
#include "obs/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "eddy/error.h"
#include "eddy/time.h"
#include "sys/terminal.h"

enum { BUFFER_BYTES = 1 << 20, STDERR = 2, LEVELS = 4, REPEATS_LOOKED_AT = 8 };

/* Bytes of a message that are written; escaped, each takes at most six. */
enum { MESSAGE_MAX = 2000 };
_Static_assert(EDDY_LOG_LINE_MAX > 6 * MESSAGE_MAX + 200, "a line has room for its message");

/* --- making a line --- */

static void begin_json(struct ed_log_line *line, enum eddy_log_level level, int64_t time_ns,
                       const char *message, size_t bytes)
{
        static const char *const names[LEVELS] = { "debug", "info", "warning", "error" };

        ed_log_line_text(line, "{\"time\":\"");
        ed_log_line_time(line, time_ns, true);
        ed_log_line_text(line, "\",\"level\":\"");
        ed_log_line_text(line, names[level - EDDY_LOG_DEBUG]);
        ed_log_line_text(line, "\",\"message\":");
        ed_log_line_string(line, message, bytes);
}

static void begin_console(struct ed_log_line *line, enum eddy_log_level level, int64_t time_ns,
                          const char *message, size_t bytes, bool colour)
{
        static const char *const colours[LEVELS] = { "\x1b[90m", "\x1b[32m", "\x1b[33m",
                                                     "\x1b[31m" };
        static const char *const names[LEVELS] = { "debug", "info ", "warn ", "error" };

        ed_log_line_time(line, time_ns, false);
        ed_log_line_text(line, " ");
        if (colour)
                ed_log_line_text(line, colours[level - EDDY_LOG_DEBUG]);
        ed_log_line_text(line, names[level - EDDY_LOG_DEBUG]);
        ed_log_line_text(line, colour ? "\x1b[0m  " : "  ");
        ed_log_line_plain(line, message, bytes);
        ed_log_line_text(line, " ");
}

/* Returns the bytes of a message that are written: whole characters of UTF-8. */
static size_t message_bytes(const char *message)
{
        size_t bytes = strnlen(message, MESSAGE_MAX + 1);

        if (bytes <= MESSAGE_MAX)
                return bytes;
        bytes = MESSAGE_MAX;
        while (bytes > MESSAGE_MAX - 4 && ((unsigned char) message[bytes] & 0xc0) == 0x80)
                bytes--;
        return bytes;
}

/* Make a line in log->line of the values in log->json; returns its bytes with the line's end. */
static size_t build(eddy_log *log, enum eddy_log_level level, const char *message,
                    const struct ed_log_line *values)
{
        static const char json_cut[] = ",\"cut\":true}\n", console_cut[] = " cut=true\n";
        struct ed_log_line line = { log->line, log->line,
                                    log->line + sizeof(log->line) - sizeof(json_cut), false };
        struct ed_sys *sys = log->member.loop->sys;
        int64_t time_ns = sys->poll->time_of_day(sys);
        size_t bytes = message_bytes(message), json_bytes = (size_t) (values->at - values->begin);
        bool json = log->format == EDDY_LOG_JSON, colour = log->format == EDDY_LOG_COLOUR;
        bool is_cut;

        if (json) {
                begin_json(&line, level, time_ns, message, bytes);
                ed_log_line_json(&line, values->begin, json_bytes);
        } else {
                begin_console(&line, level, time_ns, message, bytes, colour);
                ed_log_line_console(&line, values->begin, json_bytes, colour);
        }
        is_cut = line.is_cut || values->is_cut || message[bytes];
        line.is_cut = false;
        line.end = log->line + sizeof(log->line);
        if (is_cut)
                ed_log_line_text(&line, json ? json_cut : console_cut);
        else
                ed_log_line_text(&line, json ? "}\n" : "\n");
        return (size_t) (line.at - log->line);
}

static struct ed_log_line begin_values(eddy_log *log)
{
        return (struct ed_log_line){ log->json, log->json, log->json + sizeof(log->json) - 1,
                                     false };
}

/* --- putting lines into the ring --- */

/* Returns false if the ring is full. */
static bool put(eddy_log *log, size_t bytes)
{
        if (!ed_log_ring_has_room(&log->ring, bytes))
                return false;
        ed_log_ring_add(&log->ring, log->line, bytes);
        ed_log_writer_start(log);
        return true;
}

static void put_or_drop(eddy_log *log, size_t bytes)
{
        if (put(log, bytes)) {
                log->stats.lines++;
        } else {
                log->stats.dropped++;
                log->unreported++;
        }
}

/* Log about the log itself. */
static bool report(eddy_log *log, const char *message, uint64_t count, const char *of)
{
        const struct eddy_log_value values[] = { eddy_log_uint("count", count),
                                                 eddy_log_str("of", of) };
        struct ed_log_line json = begin_values(log);

        for (size_t i = 0; i < (of ? 2 : 1); i++)
                ed_log_line_value(&json, &values[i]);
        return put(log, build(log, EDDY_LOG_WARNING, message, &json));
}

/* The ring has one report at a time, so that a slow output does not get as many as lines. */
void ed_log_report_dropped(eddy_log *log)
{
        uint64_t dropped = log->unreported;

        if (dropped == 0 || log->ring.removed < log->report_end ||
            !report(log, "log lines were dropped", dropped, NULL))
                return;
        log->reported = dropped;
        log->unreported = 0;
        log->report_end = log->ring.added;
}

/* --- repeated lines --- */

static uint64_t hash_of(enum eddy_log_level level, const char *message)
{
        return ed_hash(ED_HASH_EMPTY ^ (uint64_t) (level + 1), message, strlen(message));
}

/* Without room for the report its count is kept. */
static void report_left_out(eddy_log *log, struct ed_log_repeat *repeat)
{
        if (repeat->left_out > 0 &&
            report(log, "repeated log lines were left out", repeat->left_out, repeat->message))
                repeat->left_out = 0;
}

void ed_log_report_left_out(eddy_log *log)
{
        for (size_t i = 0; i < ED_LOG_REPEATS; i++)
                report_left_out(log, &log->repeats[i]);
}

/* Returns the place of a message, or else the place near it that was not used for the longest time. */
static struct ed_log_repeat *find_repeat(eddy_log *log, uint64_t hash)
{
        struct ed_log_repeat *oldest = &log->repeats[hash % ED_LOG_REPEATS];

        for (uint64_t i = 0; i < REPEATS_LOOKED_AT; i++) {
                struct ed_log_repeat *repeat = &log->repeats[(hash + i) % ED_LOG_REPEATS];

                if (repeat->hash == hash)
                        return repeat;
                if (repeat->second < oldest->second)
                        oldest = repeat;
        }
        return oldest;
}

static void repeat_begin(struct ed_log_repeat *repeat, uint64_t hash, int64_t second,
                         const char *message)
{
        size_t bytes = strnlen(message, sizeof(repeat->message) - 1);
        uint32_t unreported = repeat->hash == hash ? repeat->left_out : 0;

        *repeat = (struct ed_log_repeat){ .hash = hash, .second = second, .left_out = unreported };
        memcpy(repeat->message, message, bytes);
}

/*
 * Returns true if a line must be left out, because enough lines of its message were written. A
 * message may push another out of its place, and the count of the other begins again.
 */
static bool is_repeated(eddy_log *log, enum eddy_log_level level, const char *message)
{
        struct ed_log_repeat *repeat;
        uint64_t hash;
        int64_t second;

        if (log->repeats_max == 0)
                return false;
        hash = hash_of(level, message);
        second = eddy_now() / EDDY_SEC(1);
        repeat = find_repeat(log, hash);
        if (repeat->hash != hash || repeat->second != second) {
                report_left_out(log, repeat);
                repeat_begin(repeat, hash, second, message);
        }
        if (repeat->count < log->repeats_max) {
                repeat->count++;
                return false;
        }
        repeat->left_out++;
        log->stats.repeats++;
        return true;
}

/* --- the public calls --- */

bool eddy_log_has(const eddy_log *log, enum eddy_log_level level)
{
        return log && level >= log->level && level < EDDY_LOG_NONE && level >= EDDY_LOG_DEBUG;
}

void eddy_log_write(eddy_log *log, enum eddy_log_level level, const char *message, ...)
{
        struct eddy_log_value value;
        struct ed_log_line json;
        size_t context_bytes;
        const char *context;
        va_list args;

        if (!eddy_log_has(log, level) || !message || ed_member_check(&log->member) < 0 ||
            is_repeated(log, level, message))
                return;
        ed_log_report_dropped(log);
        json = begin_values(log);
        context = ed_log_context(&context_bytes);
        ed_log_line_json(&json, context, context_bytes);
        va_start(args, message);
        while ((value = va_arg(args, struct eddy_log_value)).kind != EDDY_LOG_END_) {
                context_bytes -= ed_log_line_remove(&json, context_bytes, value.key);
                ed_log_line_value(&json, &value);
        }
        va_end(args);
        put_or_drop(log, build(log, level, message, &json));
}

struct eddy_log_value eddy_log_end(void)
{
        return (struct eddy_log_value){ .kind = EDDY_LOG_END_ };
}

struct eddy_log_value eddy_log_text(const char *key, const char *text, size_t bytes)
{
        return (struct eddy_log_value){
                .key = key, .kind = EDDY_LOG_STR_, .bytes = bytes, .as.text = text
        };
}

struct eddy_log_value eddy_log_str(const char *key, const char *text)
{
        return eddy_log_text(key, text, text ? strlen(text) : 0);
}

void eddy_log_set_level(eddy_log *log, enum eddy_log_level level)
{
        if (log)
                log->level = level;
}

void eddy_log_stats(const eddy_log *log, struct eddy_log_stats *ret_stats)
{
        *ret_stats = log ? log->stats : (struct eddy_log_stats){ 0 };
}

/* --- opening --- */

static int check_opts(const struct eddy_log_opts *opts)
{
        bool level_ok = opts->level >= EDDY_LOG_DEBUG && opts->level <= EDDY_LOG_NONE;
        bool format_ok = opts->format >= EDDY_LOG_AUTO && opts->format <= EDDY_LOG_COLOUR;
        bool room_ok = opts->buffer_bytes == 0 || opts->buffer_bytes > EDDY_LOG_LINE_MAX;

        return level_ok && format_ok && room_ok && !(opts->path && opts->stream) ? 0 : -EINVAL;
}

static int open_output(eddy_log *log, const struct eddy_log_opts *opts)
{
        if (opts->path)
                return eddy_file_open(opts->path, EDDY_FILE_APPEND | EDDY_FILE_CREATE, 0,
                                      &log->file);
        log->stream = opts->stream;
        log->own_stream = !opts->stream;
        return opts->stream ? 0 : eddy_stream_from_fd(STDERR, 0, &log->stream);
}

static enum eddy_log_format choose_format(const eddy_log *log)
{
        int fd = log->stream ? eddy_stream_fd(log->stream) : eddy_file_fd(log->file);

        if (!ed_is_terminal(fd))
                return EDDY_LOG_JSON;
        return getenv("NO_COLOR") ? EDDY_LOG_CONSOLE : EDDY_LOG_COLOUR;
}

int eddy_log_open(const struct eddy_log_opts *opts, eddy_log **ret_log)
{
        static const struct eddy_log_opts none;
        eddy_log *log;
        int err = check_opts(opts ? opts : &none);

        if (!ed_loop_current)
                return EDDY_E_RUN_NOT_RUNNING;
        if (err < 0)
                return err;
        opts = opts ? opts : &none;
        log = ed_alloc_zero(sizeof(*log));
        if (!log)
                return -ENOMEM;
        ed_member_join(&log->member, ed_loop_current, NULL);
        log->level = (enum eddy_log_level) opts->level;
        log->repeats_max = opts->repeats_max;
        err = ed_log_ring_init(&log->ring, opts->buffer_bytes ? opts->buffer_bytes : BUFFER_BYTES);
        if (err == 0)
                err = open_output(log, opts);
        if (err < 0) {
                ed_member_leave(&log->member);
                ed_log_ring_fini(&log->ring);
                ed_free(log);
                return err;
        }
        log->format = opts->format == EDDY_LOG_AUTO ? choose_format(log)
                                                    : (enum eddy_log_format) opts->format;
        *ret_log = log;
        return 0;
}
