/*
 * batch/stream/stream.h - the answer to a request for a stream: bytes in, the object of the whole
 * answer out. No I/O.
 *
 * The first bytes of the answer decide its form, because servers send streams under any Content-Type:
 *
 *   data: {...}        server-sent events
 *   {"done":false,...} a line for each part, as Ollama sends them
 *   [{...},            a list of chunks, as Gemini sends it, once it is whole
 *   other bytes        the answer of a server that ignores "stream", which is kept as it is
 */
#ifndef ED_CMD_BATCH_STREAM_STREAM_H
#define ED_CMD_BATCH_STREAM_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/stream/assembly.h"
#include "batch/stream/events.h"
#include "common/draft.h"
#include "eddy/def.h"

enum { ED_STREAM_FAULT_BYTES = 256 };

enum ed_stream_form {
        ED_STREAM_UNKNOWN, /* not enough bytes yet */
        ED_STREAM_EVENTS,
        ED_STREAM_LINES,
        ED_STREAM_BODY, /* not a stream */
        ED_STREAM_LIST, /* a body that is a list of chunks, known at its end */
};

struct ed_stream {
        enum ed_stream_form form;
        struct ed_events events;
        struct ed_assembly *assembly;
        struct ed_draft head; /* the bytes until the form is known; then the rest of a line, or the
                                 whole of a body */
        char bad[64];         /* the beginning of an event that is not a JSON object */
        int error;            /* of an earlier call; 0: none */
};

/* Errors: -ENOMEM */
EDDY_MUST_USE int ed_stream_init(struct ed_stream *stream);
void ed_stream_fini(struct ed_stream *stream);

/* Take bytes. After an error, all further calls return this error. Errors: those of
 * ed_assembly_take() */
EDDY_MUST_USE int ed_stream_take(struct ed_stream *stream, const char *data, size_t bytes);

/*
 * The HTTP body has ended, or cannot be read any further. Append the whole answer to 'body'.
 *
 * Errors: EDDY_E_HTTP_TRUNCATED         the stream is empty, or ended before the answer was complete
 *         EDDY_E_HTTP_INVALID_RESPONSE  the stream reported an error, or is not of a known kind
 *         EDDY_E_HTTP_TOO_LARGE, -ENOMEM
 *         'fault' is a sentence about the error, or empty
 */
EDDY_MUST_USE int ed_stream_end(struct ed_stream *stream, struct ed_draft *body,
                                char fault[ED_STREAM_FAULT_BYTES]);

#endif
