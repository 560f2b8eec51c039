/*
 * http/upload.c - the task that sends the rest of a request while its response is read.
 */
#include "http/upload.h"

#include <string.h>

#include "base/alloc.h"
#include "eddy/time.h"

/* After responding, a peer may stop taking the rest of the request for this long. */
#define STALL_NS ((int64_t) 1000000000)

void ed_http_upload_init(struct ed_http_upload *upload, eddy_stream **stream,
                         struct eddy_slice head, struct eddy_slice body)
{
        upload->stream = stream;
        upload->left[0] = head;
        upload->left[1] = body;
        upload->started = upload->finishing = upload->cut = false;
        upload->error = 0;
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

/* The task: write until the request is sent, the task is stopped, or the stream fails. */
static int upload_run(void *arg)
{
        struct ed_http_upload *upload = arg;
        int64_t n;

        while (ed_http_upload_is_pending(upload) && *upload->stream) {
                n = eddy_stream_write_some(*upload->stream, upload->left, 2);
                if (n == -ECANCELED)
                        return 0;
                if (n < 0) {
                        ed_http_upload_drop(upload);
                        upload->error = ed_http_may_have_answered((int) n) ? 0 : (int) n;
                        return upload->error;
                }
                skip(upload, (size_t) n);
                upload->sent_ns = eddy_now();
                if (upload->finishing)
                        eddy_scope_set_deadline(&upload->sending, eddy_now() + STALL_NS);
        }
        ed_http_upload_drop(upload); /* all is written, or the client was closed */
        /* The stream may hold the last bytes. */
        if (*upload->stream && eddy_stream_writev(*upload->stream, NULL, 0) < 0)
                return 0; /* the response finds the failure */
        return 0;
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

/* Stop the task. A failure is in 'error'; the caller's next call reports a cancel from outside. */
static void stop(struct ed_http_upload *upload)
{
        (void) eddy_scope_end(&upload->sending);
        upload->started = false;
}

void ed_http_upload_pause(struct ed_http_upload *upload)
{
        if (!upload->started)
                return;
        eddy_scope_cancel(&upload->sending);
        stop(upload);
}

void ed_http_upload_finish(struct ed_http_upload *upload)
{
        if (!upload->started)
                return;
        upload->finishing = true;
        eddy_scope_set_deadline(&upload->sending, eddy_now() + STALL_NS);
        stop(upload);
        ed_http_upload_drop(upload);
}

int ed_http_upload_keep(struct ed_http_upload *upload)
{
        size_t bytes = upload->left[1].bytes;
        char *copy;

        if (bytes == 0)
                return 0;
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
        ed_free(upload->copy);
        upload->copy = NULL;
}
