/*
 * http/upload.h - sending a request while its response may arrive.
 *
 * A server may answer before it has read the whole request. A request that does not fit the
 * kernel's buffer is therefore written by a separate task, which runs while a call of the client
 * reads: first the call that sends, then those that read the body. Between these calls nothing is
 * written, and nothing is read beyond the message's buffer: both directions wait instead of
 * buffering.
 *
 * A body from a source is read by the same task, piece by piece. If its length is unknown, HTTP/1
 * sends chunks. With 'ended', the bytes are written to the stream without chunks, and 'ended' ends
 * the request.
 */
#ifndef ED_HTTP_UPLOAD_H
#define ED_HTTP_UPLOAD_H

#include <errno.h>
#include <stdbool.h>

#include "eddy/http_client.h"
#include "eddy/scope.h"
#include "eddy/stream.h"

/* All zero: there is nothing to write. */
struct ed_http_upload {
        eddy_stream **stream;      /* points to NULL after the client was closed */
        struct eddy_slice left[2]; /* unsent parts of the head and the body */
        char *copy;                /* the rest of the body, owned; NULL: the body is the caller's */
        /* Ends the request after the last byte. NULL: HTTP/1, whose messages contain their end. */
        int (*ended)(struct ed_http_upload *upload);
        struct eddy_http_body_source source;
        bool source_has_more; /* the source was not read to its end */
        bool source_was_read; /* the source was asked for bytes */
        int64_t source_left;  /* of a source of known length */
        char *piece;          /* room for a piece of the source, owned */
        eddy_scope sending;   /* scope of the writing task */
        bool started;         /* the scope has begun */
        bool writing;         /* the task waits for the peer, not for the source */
        bool finishing;       /* the response is complete: the writer must make progress */
        bool cut;             /* the rest will not be written */
        int64_t sent_ns;      /* when bytes were last sent */
        int error;            /* local error that ended the upload, or 0 */
};

/*
 * Returns true if a write failed because the peer stopped reading; the peer may have answered
 * before.
 */
static inline bool ed_http_may_have_answered(int err)
{
        return err == -EPIPE || err == -ECONNRESET;
}

/*
 * Prepare a request that consists of these two parts.
 *
 * Owns: borrows both, and 'stream' (the variable), until the upload is done or dropped, or the body
 * is kept.
 */
void ed_http_upload_init(struct ed_http_upload *upload, eddy_stream **stream,
                         struct eddy_slice head, struct eddy_slice body);

/*
 * Prepare a request whose body is read from a source.
 *
 * Errors: -ENOMEM
 * Owns: as above; borrows what 'source' refers to until the upload is done or dropped.
 */
EDDY_MUST_USE int ed_http_upload_init_from(struct ed_http_upload *upload, eddy_stream **stream,
                                           struct eddy_slice head,
                                           const struct eddy_http_body_source *source);

/* Returns true if part of the request is still unsent. */
static inline bool ed_http_upload_is_pending(const struct ed_http_upload *upload)
{
        return upload->left[0].bytes + upload->left[1].bytes > 0 || upload->source_has_more;
}

/*
 * Start writing the rest of the request, as far as the stream takes it, until pause or finish is
 * called. Pause and finish do nothing if nothing was left to write. If writing fails for a reason
 * other than the peer, the caller's calls in between are cancelled and 'error' has the reason.
 *
 * Suspends: no.
 * Errors: -ENOMEM, -ECANCELED; nothing was begun
 */
EDDY_MUST_USE int ed_http_upload_start(struct ed_http_upload *upload);

/* Stop writing; the rest can be written later. */
void ed_http_upload_pause(struct ed_http_upload *upload);

/*
 * The whole response has arrived: write the rest as long as the peer takes some of it, and drop the
 * rest after the peer took nothing for a second. The time in which a source is read does not count.
 * Returns 0 if the rest was sent, or dropped because of the peer.
 *
 * Suspends: yes.
 * Errors: 'error'; -ECANCELED: the rest can be written later
 */
EDDY_MUST_USE int ed_http_upload_finish(struct ed_http_upload *upload);

/*
 * End a call that has sent the request and read the head of the response, which may have failed by
 * 'err'. The rest of a request that was refused, or has failed, is dropped. If the response is whole,
 * the rest is finished, else it is kept, and is sent while the body is read. Returns the result of
 * the call.
 *
 * Suspends: yes.
 * Errors: 'err'; 'error'; -ECANCELED, -ENOMEM
 */
EDDY_MUST_USE int ed_http_upload_answered(struct ed_http_upload *upload, int err, bool is_refused,
                                          bool is_whole);

/*
 * End a call that has read some of the response's body, or its end. Returns 'n', or the error that
 * ended the upload and thereby the call.
 *
 * Suspends: yes.
 */
EDDY_MUST_USE int64_t ed_http_upload_read(struct ed_http_upload *upload, int64_t n, bool at_end);

/*
 * Copy the rest of the body, because the caller's memory is about to end. The head must stay.
 *
 * Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_http_upload_keep(struct ed_http_upload *upload);

/*
 * Drop the rest of the request. If anything was left, 'cut' is set and the stream must not be used
 * again.
 */
void ed_http_upload_drop(struct ed_http_upload *upload);

#endif
