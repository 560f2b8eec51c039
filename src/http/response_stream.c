/*
 * http/response_stream.c - a stream over the body of a response.
 *
 * The operations of a stream must not suspend, so the wait of a reader reads the body into a buffer,
 * from which the next try takes it.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/scope.h"
#include "eddy/stream_ops.h"
#include "http/client.h"

enum { BUFFER_BYTES = 16 << 10 };

struct body_stream {
        struct eddy_stream stream;
        eddy_http_response *response;
        eddy_scope *reading; /* of the task in a wait; NULL: none */
        bool own;
        bool is_closed; /* freed when no task is in a wait */
        bool is_ended;
        int err;        /* of the last wait, not returned yet; 0: none */
        size_t at, end; /* the bytes in 'buf' that were not returned yet */
        char buf[BUFFER_BYTES];
};

static struct body_stream *self(const eddy_stream *stream)
{
        return ed_container_of(stream, struct body_stream, stream);
}

static int64_t body_stream_try_read(eddy_stream *stream, void *buf, size_t bytes)
{
        struct body_stream *s = self(stream);
        size_t n = s->end - s->at;
        int err = s->err;

        if (n == 0) {
                s->err = 0;
                return err < 0 || s->is_ended ? err : -EAGAIN;
        }
        if (n > bytes)
                n = bytes;
        memcpy(buf, s->buf + s->at, n);
        s->at += n;
        return (int64_t) n;
}

static bool body_stream_is_readable(eddy_stream *stream)
{
        struct body_stream *s = self(stream);

        return s->at < s->end || s->is_ended || s->err < 0;
}

static int64_t body_stream_try_writev(eddy_stream *stream, const struct eddy_slice *slices,
                                      size_t n)
{
        (void) stream, (void) slices, (void) n;
        return -EBADF;
}

static int body_stream_shutdown(eddy_stream *stream)
{
        (void) stream;
        return -EBADF;
}

static void body_stream_destroy(struct body_stream *s)
{
        if (s->own)
                eddy_http_response_close(s->response);
        ed_free(s);
}

/* Read into the buffer. The scope is that which a close cancels. */
static int body_stream_fill(struct body_stream *s)
{
        eddy_scope scope;
        int64_t n;

        eddy_scope_begin(&scope, NULL);
        s->reading = &scope;
        n = eddy_http_response_read(s->response, s->buf, sizeof(s->buf));
        s->reading = NULL;
        (void) eddy_scope_end(&scope);
        if (s->is_closed) {
                body_stream_destroy(s);
                return -ECANCELED;
        }
        if (n == -ECANCELED)
                return -ECANCELED;
        s->err = n < 0 ? (int) n : 0;
        s->is_ended = n == 0;
        s->at = 0;
        s->end = n > 0 ? (size_t) n : 0;
        return 0;
}

static int body_stream_wait(eddy_stream *stream, enum eddy_stream_side side)
{
        if (side == EDDY_STREAM_WRITING)
                return -EBADF;
        return body_stream_is_readable(stream) ? 0 : body_stream_fill(self(stream));
}

static void body_stream_close(eddy_stream *stream, unsigned flags)
{
        struct body_stream *s = self(stream);

        (void) flags;
        s->is_closed = true;
        if (s->reading)
                eddy_scope_cancel(s->reading);
        else
                body_stream_destroy(s);
}

static int body_stream_endpoint(const eddy_stream *stream, enum eddy_stream_end end,
                                struct eddy_endpoint *ret_endpoint)
{
        const struct eddy_endpoint *peer = &self(stream)->response->peer;

        if (end == EDDY_STREAM_LOCAL || peer->kind == EDDY_ENDPOINT_NONE)
                return -ENOTSUP;
        *ret_endpoint = *peer;
        return 0;
}

static const struct eddy_stream_ops body_stream_ops = {
        .kind = "http body",
        .try_read = body_stream_try_read,
        .try_writev = body_stream_try_writev,
        .wait = body_stream_wait,
        .is_readable = body_stream_is_readable,
        .shutdown = body_stream_shutdown,
        .close = body_stream_close,
        .endpoint = body_stream_endpoint,
};

int eddy_http_response_stream(eddy_http_response *response, unsigned flags,
                              eddy_stream **ret_stream)
{
        struct body_stream *s;
        int err;

        if (!response || !ret_stream || flags & ~(unsigned) EDDY_HTTP_STREAM_OWN)
                return -EINVAL;
        err = ed_member_check(&response->client->pool.member);
        if (err < 0)
                return err;
        s = ed_alloc(sizeof(*s));
        if (!s)
                return -ENOMEM;
        s->response = response;
        s->reading = NULL;
        s->own = flags & EDDY_HTTP_STREAM_OWN;
        s->is_closed = s->is_ended = false;
        s->err = 0;
        s->at = s->end = 0;
        eddy_stream_init(&s->stream, &body_stream_ops);
        s->stream.member = &response->client->pool.member;
        *ret_stream = &s->stream;
        return 0;
}
