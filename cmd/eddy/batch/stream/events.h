/*
 * batch/stream/events.h - parses server-sent events (the HTML standard, 9.2.6): bytes in, events
 * out. No I/O.
 *
 * The fields "id" and "retry" are ignored, because they are for clients that reconnect.
 */
#ifndef ED_CMD_BATCH_STREAM_EVENTS_H
#define ED_CMD_BATCH_STREAM_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/draft.h"
#include "eddy/def.h"

enum { ED_EVENTS_BYTES_MAX = 64 << 20 };

/* Splits a stream into events. Initially all zero. */
struct ed_events {
        struct ed_draft line; /* the beginning of a line */
        struct ed_draft data; /* of the event so far */
        struct ed_draft type;
        bool has_data;
        bool after_cr;
        bool begun; /* a byte order mark was skipped, if there was one */
        int error;  /* of an earlier call; 0: none */
};

/* 'type' is "" if the stream gives none. The texts are valid during the call. */
typedef int ed_events_fn(void *arg, const char *type, const char *data, size_t bytes);

void ed_events_fini(struct ed_events *events);

/*
 * Take bytes of the stream, and call fn for each complete event. A result of fn other than 0 ends
 * the call and is returned. After an error, including one of fn, all further calls return this
 * error. At the end of the stream, an event without an empty line after it is ignored.
 *
 * Errors: -EMSGSIZE  a line or an event is longer than ED_EVENTS_BYTES_MAX;  -ENOMEM; those of fn
 */
EDDY_MUST_USE int ed_events_take(struct ed_events *events, const void *data, size_t bytes,
                                 ed_events_fn *fn, void *arg);

#endif
