/*
 * wire/sse.h - a stream of server-sent events, text/event-stream (WHATWG HTML, 9.2.6): bytes in,
 * events out; no I/O.
 *
 * A line ends in LF, CR, or CR LF, which may be cut anywhere: an event is complete at the CR of its
 * empty line, and an LF that follows is skipped. Bytes that are not UTF-8 stay as they are. The id of
 * the last event is kept over ed_sse_restart(), as browsers do.
 */
#ifndef ED_WIRE_SSE_H
#define ED_WIRE_SSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/def.h"

struct ed_sse {
        struct ed_buf line; /* the part of a line that was received */
        struct ed_buf data; /* of the event, with an LF after each of its lines */
        struct ed_buf type; /* of the event, with a NUL; empty: not given */
        struct ed_buf id;   /* of the event, with a NUL; counts only if 'has_id' */
        struct ed_buf last; /* the id of the last event, with a NUL; empty: none */
        size_t bytes_max;   /* of line, data and type together */
        int64_t retry_ms;   /* the last one that was given; -1: none */
        uint8_t mark_bytes; /* of a byte order mark at the start; 3: the start is over */
        bool has_id;
        bool is_after_cr;
        bool in_comment;
        bool is_given; /* the event was given: the next call begins another one */
};

/* An event; valid until the next call. */
struct ed_sse_event {
        const char *type; /* "message" if the server gives none */
        const char *data; /* with a NUL after it */
        size_t data_bytes;
        const char *id; /* of this or the last earlier event that had one; "": none */
};

/* Allocates nothing. */
ED_SHARED void ed_sse_init(struct ed_sse *sse, size_t bytes_max);
ED_SHARED void ed_sse_fini(struct ed_sse *sse);

/* Set the id of the last event. Errors: -ENOMEM, -EMSGSIZE */
EDDY_MUST_USE ED_SHARED int ed_sse_set_last_id(struct ed_sse *sse, const char *id);

/* Returns the id of the last event, "" if there is none. */
ED_SHARED const char *ed_sse_last_id(const struct ed_sse *sse);

/* Another stream begins: drop an event that is not complete. */
ED_SHARED void ed_sse_restart(struct ed_sse *sse);

/*
 * Read from the next 'bytes' bytes of the stream, up to and including the end of an event.
 * Returns the number of bytes read: all of them, unless an event is complete. After an error the
 * stream cannot be continued.
 *
 * Errors: EDDY_E_HTTP_TOO_LARGE  a line or an event is larger than the maximum
 *         -ENOMEM
 */
EDDY_MUST_USE ED_SHARED int64_t ed_sse_read(struct ed_sse *sse, const char *data, size_t bytes,
                                            bool *ret_is_event);

/* Store the event that ed_sse_read() has completed. */
ED_SHARED void ed_sse_event(const struct ed_sse *sse, struct ed_sse_event *ret_event);

#endif
