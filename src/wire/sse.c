/*
 * wire/sse.c - see sse.h.
 */
#include "wire/sse.h"

#include <errno.h>
#include <string.h>

#include "eddy/error.h"

enum { MARK_BYTES = 3 };

static const char mark[MARK_BYTES] = { '\xEF', '\xBB', '\xBF' };

void ed_sse_init(struct ed_sse *sse, size_t bytes_max)
{
        *sse = (struct ed_sse){ .bytes_max = bytes_max, .retry_ms = -1 };
        /* With the NUL or the LF that follows. */
        ed_buf_init(&sse->line, bytes_max + 1);
        ed_buf_init(&sse->data, bytes_max + 1);
        ed_buf_init(&sse->type, bytes_max + 1);
        ed_buf_init(&sse->id, bytes_max + 1);
        ed_buf_init(&sse->last, bytes_max + 1);
}

void ed_sse_fini(struct ed_sse *sse)
{
        ed_buf_fini(&sse->line);
        ed_buf_fini(&sse->data);
        ed_buf_fini(&sse->type);
        ed_buf_fini(&sse->id);
        ed_buf_fini(&sse->last);
}

static void clear(struct ed_buf *buf)
{
        ed_buf_consume(buf, ed_buf_bytes(buf));
}

/* Set the text of a buffer, with a NUL. */
static int set_text(struct ed_buf *buf, const char *text, size_t bytes)
{
        int err;

        clear(buf);
        err = ed_buf_append(buf, text, bytes);
        return err < 0 ? err : ed_buf_append(buf, "", 1);
}

static const char *text_of(const struct ed_buf *buf)
{
        return ed_buf_bytes(buf) > 0 ? ed_buf_data(buf) : "";
}

int ed_sse_set_last_id(struct ed_sse *sse, const char *id)
{
        return set_text(&sse->last, id, strlen(id));
}

const char *ed_sse_last_id(const struct ed_sse *sse)
{
        return text_of(&sse->last);
}

/* Begin an event. */
static void event_clear(struct ed_sse *sse)
{
        clear(&sse->data);
        clear(&sse->type);
        sse->is_given = false;
}

void ed_sse_restart(struct ed_sse *sse)
{
        event_clear(sse);
        clear(&sse->line);
        sse->mark_bytes = 0;
        sse->has_id = sse->is_after_cr = sse->in_comment = false;
}

/* ---- fields ---------------------------------------------------------------- */

/* Set the time to wait before another connection. A value that is not a number is ignored. */
static void set_retry(struct ed_sse *sse, const char *value, size_t bytes)
{
        int64_t ms = 0;

        for (size_t i = 0; i < bytes; i++) {
                if (value[i] < '0' || value[i] > '9')
                        return;
                if (__builtin_mul_overflow(ms, 10, &ms) ||
                    __builtin_add_overflow(ms, value[i] - '0', &ms))
                        ms = INT64_MAX;
        }
        if (bytes > 0)
                sse->retry_ms = ms;
}

static int add_data(struct ed_sse *sse, const char *value, size_t bytes)
{
        int err = ed_buf_append(&sse->data, value, bytes);

        return err < 0 ? err : ed_buf_append(&sse->data, "\n", 1);
}

/* An id counts when its event is complete. */
static int set_id(struct ed_sse *sse, const char *value, size_t bytes)
{
        if (memchr(value, '\0', bytes))
                return 0;
        sse->has_id = true;
        return set_text(&sse->id, value, bytes);
}

static bool is_name(const char *name, size_t bytes, const char *other)
{
        return bytes == strlen(other) && memcmp(name, other, bytes) == 0;
}

/* Use a line that is neither empty nor a comment. */
static int use_field(struct ed_sse *sse, const char *line, size_t bytes)
{
        const char *colon = memchr(line, ':', bytes);
        size_t name_bytes = colon ? (size_t) (colon - line) : bytes;
        size_t at = colon ? name_bytes + 1 : bytes;
        size_t held = ed_buf_bytes(&sse->data) + ed_buf_bytes(&sse->type);

        if (bytes > sse->bytes_max - (held < sse->bytes_max ? held : sse->bytes_max))
                return -EMSGSIZE;
        if (at < bytes && line[at] == ' ')
                at++;
        if (is_name(line, name_bytes, "data"))
                return add_data(sse, line + at, bytes - at);
        if (is_name(line, name_bytes, "event"))
                return set_text(&sse->type, line + at, bytes - at);
        if (is_name(line, name_bytes, "id"))
                return set_id(sse, line + at, bytes - at);
        if (is_name(line, name_bytes, "retry"))
                set_retry(sse, line + at, bytes - at);
        return 0;
}

/* The empty line after an event. Returns true if it has data. */
static bool end_event(struct ed_sse *sse)
{
        if (sse->has_id) {
                struct ed_buf last = sse->last;

                sse->last = sse->id;
                sse->id = last;
                sse->has_id = false;
        }
        if (ed_buf_bytes(&sse->data) == 0) {
                event_clear(sse);
                return false;
        }
        ed_buf_data(&sse->data)[ed_buf_bytes(&sse->data) - 1] = '\0'; /* the last LF */
        sse->is_given = true;
        return true;
}

void ed_sse_event(const struct ed_sse *sse, struct ed_sse_event *ret_event)
{
        const char *type = text_of(&sse->type);

        *ret_event = (struct ed_sse_event){
                .type = *type ? type : "message",
                .data = ed_buf_data(&sse->data),
                .data_bytes = ed_buf_bytes(&sse->data) - 1,
                .id = ed_sse_last_id(sse),
        };
}

/* ---- lines ----------------------------------------------------------------- */

/*
 * Skip a byte order mark at the start of the stream. Returns the number of bytes read. Bytes that
 * have begun like the mark are the first of a line.
 */
static int64_t skip_mark(struct ed_sse *sse, const char *data, size_t bytes)
{
        size_t at = 0;
        int err = 0;

        while (at < bytes && sse->mark_bytes < MARK_BYTES && data[at] == mark[sse->mark_bytes]) {
                sse->mark_bytes++;
                at++;
        }
        if (at < bytes && sse->mark_bytes < MARK_BYTES) {
                err = ed_buf_append(&sse->line, mark, sse->mark_bytes);
                sse->mark_bytes = MARK_BYTES;
        }
        return err < 0 ? err : (int64_t) at;
}

static size_t line_bytes(const char *data, size_t bytes)
{
        size_t n = 0;

        while (n < bytes && data[n] != '\n' && data[n] != '\r')
                n++;
        return n;
}

/* Keep a part of a line, unless it is a comment. */
static int keep_part(struct ed_sse *sse, const char *data, size_t bytes)
{
        size_t held =
                ed_buf_bytes(&sse->line) + ed_buf_bytes(&sse->data) + ed_buf_bytes(&sse->type);

        if (sse->in_comment)
                return 0;
        if (held > sse->bytes_max || bytes > sse->bytes_max - held)
                return -EMSGSIZE;
        return ed_buf_append(&sse->line, data, bytes);
}

/* The rest of a line. Returns 1 if it completes an event. */
static int use_line(struct ed_sse *sse, const char *rest, size_t bytes)
{
        int err = 0;

        if (sse->in_comment) {
                sse->in_comment = false;
        } else if (ed_buf_bytes(&sse->line) > 0) {
                err = keep_part(sse, rest, bytes);
                if (err == 0)
                        err = use_field(sse, ed_buf_data(&sse->line), ed_buf_bytes(&sse->line));
                clear(&sse->line);
        } else if (bytes > 0) {
                err = use_field(sse, rest, bytes);
        } else {
                return end_event(sse);
        }
        return err;
}

/* Returns the bytes read, up to the end of an event. Errors: -EMSGSIZE, -ENOMEM */
static int64_t read_lines(struct ed_sse *sse, const char *data, size_t bytes, bool *ret_is_event)
{
        int64_t skipped = skip_mark(sse, data, bytes);
        size_t at = skipped > 0 ? (size_t) skipped : 0, n;
        int err = skipped < 0 ? (int) skipped : 0;

        while (err == 0 && at < bytes) {
                if (sse->is_after_cr && data[at] == '\n')
                        at++;
                sse->is_after_cr = false;
                if (at < bytes && data[at] == ':' && ed_buf_bytes(&sse->line) == 0)
                        sse->in_comment = true;
                n = line_bytes(data + at, bytes - at);
                if (at + n == bytes) {
                        err = keep_part(sse, data + at, n);
                        at = bytes;
                        break;
                }
                err = use_line(sse, data + at, n);
                at += n + 1;
                sse->is_after_cr = data[at - 1] == '\r';
        }
        *ret_is_event = err > 0;
        return err < 0 ? err : (int64_t) at;
}

int64_t ed_sse_read(struct ed_sse *sse, const char *data, size_t bytes, bool *ret_is_event)
{
        int64_t n;

        if (sse->is_given)
                event_clear(sse);
        n = read_lines(sse, data, bytes, ret_is_event);
        return n == -EMSGSIZE ? EDDY_E_HTTP_TOO_LARGE : n;
}
