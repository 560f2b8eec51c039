/*
 * http/upload.c - the task that sends the rest of a request while its response is read.
 */
#include "http/upload.h"

#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/time.h"
#include "wire/http1.h"

enum {
        PIECE_BYTES = 16 << 10, /* at most read from a source at once */
        CHUNK_END_BYTES = 2,
        PEER_STOPPED = 1, /* a step's result: the peer takes no more, and may have answered */
};

/* After responding, a peer may stop taking the rest of the request for this long. */
#define STALL_NS ((int64_t) 1000000000)

void ed_http_upload_init(struct ed_http_upload *upload, eddy_stream **stream,
                         struct eddy_slice head, struct eddy_slice body)
{
        upload->stream = stream;
        upload->left[0] = head;
        upload->left[1] = body;
        upload->started = upload->writing = upload->finishing = upload->cut = false;
        upload->source_has_more = upload->source_was_read = false;
        upload->error = 0;
}

int ed_http_upload_init_from(struct ed_http_upload *upload, eddy_stream **stream,
                             struct eddy_slice head, const struct eddy_http_body_source *source)
{
        ed_http_upload_init(upload, stream, head, (struct eddy_slice){ NULL, 0 });
        upload->piece = ed_alloc(ED_HTTP1_CHUNK_HEAD_MAX + PIECE_BYTES + CHUNK_END_BYTES);
        if (!upload->piece)
                return -ENOMEM;
        upload->source = *source;
        upload->source_left = source->bytes;
        upload->source_has_more = source->bytes != 0;
        return 0;
}

static int64_t source_read(struct ed_http_upload *upload, char *buf, size_t bytes)
{
        const struct eddy_http_body_source *source = &upload->source;
        int64_t n;

        upload->source_was_read = true;
        n = source->stream ? eddy_stream_read(source->stream, buf, bytes)
                           : source->read(source->arg, buf, bytes);
        /* Another task has closed the stream; the request was not cancelled. */
        if (n == -ECANCELED && source->stream && !eddy_scope_is_cancelled(&upload->sending))
                return -EBADF;
        return n > (int64_t) bytes ? -EINVAL : n;
}

/* Read the next piece of a source, whose bytes are sent as they are. Suspends. */
static int next_piece(struct ed_http_upload *upload)
{
        bool is_known = upload->source.bytes >= 0;
        size_t bytes = PIECE_BYTES;
        int64_t n;

        if (is_known && (int64_t) bytes > upload->source_left)
                bytes = (size_t) upload->source_left;
        n = source_read(upload, upload->piece, bytes);
        if (n < 0 || (n == 0 && is_known))
                return n < 0 ? (int) n : EDDY_E_HTTP_BODY_LENGTH;
        upload->source_left -= n;
        upload->source_has_more = is_known ? upload->source_left > 0 : n > 0;
        upload->left[1] = (struct eddy_slice){ upload->piece, (size_t) n };
        return 0;
}

/* The source has ended: its trailers have their values. */
static int last_chunk(struct ed_http_upload *upload)
{
        int n = ed_http1_last_chunk(upload->piece, upload->source.trailers,
                                    upload->source.trailers_count);

        if (n < 0)
                return n;
        upload->source_has_more = false;
        upload->left[1] = (struct eddy_slice){ upload->piece, (size_t) n };
        return 0;
}

/* Read the next chunk of a source of unknown length. Suspends. */
static int next_chunk(struct ed_http_upload *upload)
{
        char head[ED_HTTP1_CHUNK_HEAD_MAX], *data = upload->piece + ED_HTTP1_CHUNK_HEAD_MAX;
        size_t head_bytes;
        int64_t n;

        n = source_read(upload, data, PIECE_BYTES);
        if (n < 0)
                return (int) n;
        if (n == 0)
                return last_chunk(upload);
        head_bytes = ed_http1_chunk_head(head, (uint64_t) n);
        memcpy(data - head_bytes, head, head_bytes);
        memcpy(data + n, "\r\n", CHUNK_END_BYTES);
        upload->left[1] =
                (struct eddy_slice){ data - head_bytes, head_bytes + (size_t) n + CHUNK_END_BYTES };
        return 0;
}

static void skip(struct ed_http_upload *upload, size_t bytes)
{
        for (int i = 0; i < 2; i++) {
                struct eddy_slice *slice = &upload->left[i];
                size_t n = bytes < slice->bytes ? bytes : slice->bytes;

                slice->data = (const char *) slice->data + n;
                slice->bytes -= n;
                bytes -= n;
        }
}

/* Begin or end a wait for the peer. After the response its time is limited. */
static void set_writing(struct ed_http_upload *upload, bool writing)
{
        upload->writing = writing;
        if (upload->finishing)
                (void) eddy_scope_set_deadline(&upload->sending,
                                               writing ? eddy_now() + STALL_NS : 0);
}

/* Write some of what is there, or read more from the source. */
static int upload_step(struct ed_http_upload *upload)
{
        int64_t n;

        if (upload->left[0].bytes + upload->left[1].bytes == 0)
                return upload->source.bytes < 0 && !upload->ended ? next_chunk(upload)
                                                                  : next_piece(upload);
        set_writing(upload, true);
        n = eddy_stream_write_some(*upload->stream, upload->left, 2);
        set_writing(upload, false);
        if (n < 0)
                return ed_http_may_have_answered((int) n) ? PEER_STOPPED : (int) n;
        skip(upload, (size_t) n);
        upload->sent_ns = eddy_now();
        return 0;
}

/* The request is in the stream. */
static int end_request(struct ed_http_upload *upload)
{
        return upload->ended && *upload->stream ? upload->ended(upload) : 0;
}

/* The task: write until the request is sent, the task is stopped, or the stream fails. */
static int upload_run(void *arg)
{
        struct ed_http_upload *upload = arg;
        int err;

        while (ed_http_upload_is_pending(upload) && *upload->stream) {
                err = upload_step(upload);
                if (err == 0 && !ed_http_upload_is_pending(upload))
                        err = end_request(upload);
                if (err == -ECANCELED && eddy_scope_is_cancelled(&upload->sending))
                        return 0;
                if (err != 0) {
                        ed_http_upload_drop(upload);
                        upload->error = err == PEER_STOPPED ? 0 : err;
                        /* A cancel of this task alone is not a failure, yet the server would wait. */
                        if (err == -ECANCELED)
                                eddy_scope_cancel(&upload->sending);
                        return upload->error;
                }
        }
        ed_http_upload_drop(upload); /* all is written, or the client was closed */
        /* The stream may hold the last bytes. */
        set_writing(upload, true);
        err = *upload->stream ? eddy_stream_writev(*upload->stream, NULL, 0) : 0;
        upload->cut |= err < 0 && err != -ECANCELED;
        return 0; /* the response finds the failure */
}

int ed_http_upload_start(struct ed_http_upload *upload)
{
        int err;

        if (!ed_http_upload_is_pending(upload))
                return 0;
        eddy_scope_begin(&upload->sending, NULL);
        err = eddy_scope_start_named(&upload->sending, upload_run, upload, "http_upload");
        if (err < 0)
                (void) eddy_scope_end(&upload->sending);
        upload->started = err >= 0;
        return err;
}

/* Stop the task. A failure is in 'error'; the result reports a cancel from outside. */
static int stop(struct ed_http_upload *upload)
{
        int err = eddy_scope_end(&upload->sending);

        upload->started = false;
        return err;
}

void ed_http_upload_pause(struct ed_http_upload *upload)
{
        if (!upload->started)
                return;
        eddy_scope_cancel(&upload->sending);
        (void) stop(upload);
}

int ed_http_upload_finish(struct ed_http_upload *upload)
{
        int err;

        if (!upload->started)
                return upload->error;
        upload->finishing = true;
        set_writing(upload, upload->writing);
        err = stop(upload);
        if (upload->error < 0)
                return upload->error;
        if (err == -ECANCELED && ed_http_upload_is_pending(upload))
                return err;
        ed_http_upload_drop(upload);
        return 0;
}

int ed_http_upload_keep(struct ed_http_upload *upload)
{
        size_t bytes = upload->left[1].bytes;
        char *copy;

        if (bytes == 0 || upload->piece)
                return 0; /* nothing is left, or the rest is the upload's own */
        copy = ed_alloc(bytes);
        if (!copy)
                return -ENOMEM;
        memcpy(copy, upload->left[1].data, bytes);
        upload->left[1].data = upload->copy = copy;
        return 0;
}

void ed_http_upload_drop(struct ed_http_upload *upload)
{
        upload->cut |= ed_http_upload_is_pending(upload);
        upload->left[0].bytes = upload->left[1].bytes = 0;
        upload->source_has_more = false;
        ed_free(upload->copy);
        ed_free(upload->piece);
        upload->copy = upload->piece = NULL;
}

int ed_http_upload_answered(struct ed_http_upload *upload, int err, bool is_refused, bool is_whole)
{
        if (err >= 0 && !is_refused && is_whole)
                err = ed_http_upload_finish(upload);
        else
                ed_http_upload_pause(upload);
        if (err >= 0 && !is_refused)
                return upload->error < 0 ? upload->error : ed_http_upload_keep(upload);
        ed_http_upload_drop(upload);
        if (err == -ECANCELED && upload->error < 0)
                return upload->error;
        upload->error = 0; /* the request was refused, or has failed */
        return err;
}

int64_t ed_http_upload_read(struct ed_http_upload *upload, int64_t n, bool at_end)
{
        if (at_end)
                n = ed_http_upload_finish(upload);
        else
                ed_http_upload_pause(upload);
        return n == -ECANCELED && upload->error < 0 ? upload->error : n;
}
