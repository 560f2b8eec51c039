/*
 * http/upload.h - a request on its way out while its response may come in.
 *
 * A server may answer before it has read the whole request.  So a request that
 * does not fit the kernel's buffer is written by a task of its own, which runs
 * while a call of the client reads: first the call that sends, then those that
 * read the body.  Between these calls nothing is written, and nothing is read
 * beyond the buffer of the message: both sides are held up, not buffered.
 */
#ifndef ED_HTTP_UPLOAD_H
#define ED_HTTP_UPLOAD_H

#include <errno.h>
#include <stdbool.h>

#include "eddy/scope.h"
#include "eddy/stream.h"

/* All zero: nothing is to be written. */
struct ed_http_upload {
        eddy_stream **stream;      /* NULL in there: closed with the client */
        struct eddy_slice left[2]; /* of the head, of the body */
        char *copy;                /* the rest of the body, owned; NULL: it is the caller's */
        eddy_scope sending;        /* around the task that writes */
        bool started;              /* that scope has begun */
        bool finishing;            /* the response is there: who writes must move on */
        bool cut;                  /* the rest will not be written */
        int error;                 /* of this system, that ended the writing; or 0 */
};

/* Whether a write failed because the peer does not read any more: it may have answered before. */
static inline bool ed_http_may_have_answered(int err)
{
        return err == -EPIPE || err == -ECONNRESET;
}

/*
 * Begin with a request of these two parts.
 *
 * Owns: borrows both, and 'stream' (the variable), until the upload is done,
 *       dropped or, of the body, kept.
 */
void ed_http_upload_init(struct ed_http_upload *upload, eddy_stream **stream,
                         struct eddy_slice head, struct eddy_slice body);

/* Whether something is still to be written. */
static inline bool ed_http_upload_is_pending(const struct ed_http_upload *upload)
{
        return upload->left[0].bytes + upload->left[1].bytes > 0;
}

/*
 * Write what is left from now on, as far as the stream takes it, until one of
 * the two below, which do nothing if nothing was left here.  If writing fails
 * by no doing of the peer, the caller's calls in between are cancelled and
 * 'error' says why.
 *
 * Suspends: no.
 * Errors: -ENOMEM, -ECANCELED; nothing was begun
 */
EDDY_MUST_USE int ed_http_upload_start(struct ed_http_upload *upload);

/* Stop writing; what is left can be written later. */
void ed_http_upload_pause(struct ed_http_upload *upload);

/*
 * The whole response is there: write the rest as long as the peer takes some
 * of it, and drop what it does not take within a second.
 */
void ed_http_upload_finish(struct ed_http_upload *upload);

/*
 * The caller's memory goes: copy what is left of the body.  The head is
 * expected to stay.
 *
 * Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_http_upload_keep(struct ed_http_upload *upload);

/* Write no more.  If something was left, the stream must not be used again ('cut'). */
void ed_http_upload_drop(struct ed_http_upload *upload);

#endif
