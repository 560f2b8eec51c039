/*
 * batch/stream/events.c - splits a stream of server-sent events.
 *
 * A line that is whole in the bytes of one call is used there; only a beginning is copied.
 */
#include "batch/stream/events.h"

#include <errno.h>
#include <string.h>

/* Memory that is kept from line to line and from event to event. */
enum { KEEP_BYTES = 16384 };

void ed_events_fini(struct ed_events *events)
{
        ed_draft_fini(&events->line);
        ed_draft_fini(&events->data);
        ed_draft_fini(&events->type);
}

/* Append to a draft of at most ED_EVENTS_BYTES_MAX bytes. */
static int event_piece_add(struct ed_draft *draft, const void *data, size_t bytes)
{
        if (bytes > ED_EVENTS_BYTES_MAX - draft->bytes)
                return -EMSGSIZE;
        ed_draft_add(draft, data, bytes);
        return ed_draft_is_whole(draft) ? 0 : -ENOMEM;
}

/* An empty line ends the event. An event without data is dropped, with its type. */
static int event_end(struct ed_events *events, ed_events_fn *fn, void *arg)
{
        const char *type = "", *data = events->data.bytes > 0 ? events->data.data : "";
        int err = 0;

        if (events->has_data) {
                if (events->type.bytes > 0) {
                        ed_draft_add(&events->type, "", 1);
                        if (!ed_draft_is_whole(&events->type))
                                return -ENOMEM;
                        type = events->type.data;
                }
                err = fn(arg, type, data, events->data.bytes);
        }
        ed_draft_reset(&events->data, KEEP_BYTES);
        ed_draft_reset(&events->type, KEEP_BYTES);
        events->has_data = false;
        return err;
}

/* Take a field: "name: value", "name:value" or "name". */
static int event_field_take(struct ed_events *events, const char *line, size_t bytes)
{
        const char *colon = memchr(line, ':', bytes), *value = line + bytes;
        size_t name_bytes = colon ? (size_t) (colon - line) : bytes;
        int err = 0;

        if (colon) {
                value = colon + 1;
                if (value < line + bytes && *value == ' ')
                        value++;
        }
        bytes = (size_t) (line + bytes - value);
        if (name_bytes == 4 && memcmp(line, "data", 4) == 0) {
                if (events->has_data)
                        err = event_piece_add(&events->data, "\n", 1);
                events->has_data = true;
                return err < 0 ? err : event_piece_add(&events->data, value, bytes);
        }
        if (name_bytes == 5 && memcmp(line, "event", 5) == 0) {
                ed_draft_reset(&events->type, KEEP_BYTES);
                return event_piece_add(&events->type, value, bytes);
        }
        return 0;
}

static int event_line_take(struct ed_events *events, const char *line, size_t bytes,
                           ed_events_fn *fn, void *arg)
{
        if (!events->begun) {
                events->begun = true;
                if (bytes >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) {
                        line += 3;
                        bytes -= 3;
                }
        }
        if (bytes == 0)
                return event_end(events, fn, arg);
        return event_field_take(events, line, bytes);
}

/* Take the end of a line, whose beginning may be in events->line. */
static int event_line_end(struct ed_events *events, const char *rest, size_t bytes,
                          ed_events_fn *fn, void *arg)
{
        int err;

        if (events->line.bytes == 0)
                return event_line_take(events, rest, bytes, fn, arg);
        err = event_piece_add(&events->line, rest, bytes);
        if (err < 0)
                return err;
        err = event_line_take(events, events->line.data, events->line.bytes, fn, arg);
        ed_draft_reset(&events->line, KEEP_BYTES);
        return err;
}

/* The end of a line is the first CR or LF. '*lf', the first LF, is kept from line to line, so that
 * each byte is searched for an LF only once. */
static const char *event_line_break(const char *at, const char *end, const char **lf)
{
        const char *cr;

        if (*lf < at) {
                *lf = memchr(at, '\n', (size_t) (end - at));
                if (!*lf)
                        *lf = end;
        }
        cr = memchr(at, '\r', (size_t) (*lf - at));
        return cr ? cr : *lf;
}

static int events_split(struct ed_events *events, const char *at, size_t bytes, ed_events_fn *fn,
                        void *arg)
{
        const char *end = at + bytes, *lf = memchr(at, '\n', bytes);
        int err;

        lf = lf ? lf : end;
        while (at < end) {
                const char *stop;

                if (events->after_cr) {
                        events->after_cr = false;
                        if (*at == '\n') {
                                at++;
                                continue;
                        }
                }
                stop = event_line_break(at, end, &lf);
                if (stop == end)
                        return event_piece_add(&events->line, at, (size_t) (end - at));
                events->after_cr = *stop == '\r';
                err = event_line_end(events, at, (size_t) (stop - at), fn, arg);
                if (err != 0)
                        return err;
                at = stop + 1;
        }
        return 0;
}

int ed_events_take(struct ed_events *events, const void *data, size_t bytes, ed_events_fn *fn,
                   void *arg)
{
        if (events->error == 0 && bytes > 0)
                events->error = events_split(events, data, bytes, fn, arg);
        return events->error;
}
