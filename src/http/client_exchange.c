/*
 * http/client_exchange.c - a client's exchange: sends the request on the response's connection, and
 * reads the head of the response.
 *
 * The connection is given back as soon as the exchange is provably over: the request is sent, the
 * response is read to its end, no bytes follow it, both sides keep the connection open, and no call
 * in between failed or was cancelled.
 */
#include <errno.h>

#include "eddy/error.h"
#include "http/client.h"

/*
 * A body up to this size is written together with the head: both fit the kernel's buffer, so the
 * write does not wait for the peer.
 */
enum { SEND_AT_ONCE_BYTES = 16 << 10 };

static int read_head(eddy_http_response *response)
{
        struct ed_http_message *message = &response->message;
        uint32_t interim = 0;
        int64_t n;
        int err;

        for (;;) {
                err = ed_http_message_parse(message);
                if (err < 0)
                        return err;
                if (err == 0) {
                        n = ed_http_message_fill(message);
                        if (n == 0)
                                return EDDY_E_HTTP_CLOSED;
                        if (n < 0)
                                return (int) n;
                        continue;
                }
                if (message->head.status >= 200)
                        return ed_http_message_begin_body(message);
                /*
                 * The client never requests an upgrade, and the number of interim responses is
                 * limited.
                 */
                if (message->head.status == 101 || ++interim > ED_HTTP1_INTERIM_MAX)
                        return EDDY_E_HTTP_INVALID_RESPONSE;
                ed_http_message_skip(message);
                ed_http1_response_init(&message->head, response->fields, &response->client->limits,
                                       (enum ed_http1_answers) message->head.answers);
        }
}

static int write_all(eddy_http_response *response, const struct eddy_http_request *request)
{
        struct eddy_slice slices[2] = {
                { ed_buf_data(&response->out), ed_buf_bytes(&response->out) },
                { request->body, request->body_bytes },
        };
        eddy_stream *stream = response->conn->stream;
        int err;

        if (!stream)
                return EDDY_E_HTTP_CLIENT_CLOSED;
        err = eddy_stream_writev(stream, slices, request->body_bytes > 0 ? 2 : 1);
        if (err < 0 && !response->conn->stream)
                return EDDY_E_HTTP_CLIENT_CLOSED;
        return err;
}

/* Exchange a request that fits in one write. */
static int exchange_small(eddy_http_response *response, const struct eddy_http_request *request)
{
        int err, sent;

        sent = write_all(response, request);
        if (sent < 0) {
                response->tainted = true;
                if (!ed_http_may_have_answered(sent))
                        return sent;
        }
        err = read_head(response);
        /* The write error is more specific than the end of the stream that follows it. */
        if (err == EDDY_E_HTTP_CLOSED && sent < 0)
                return sent;
        return err;
}

/* Returns true if the status means that the rest of the request is unwanted (RFC 9112, 9.3). */
static bool refuses(const eddy_http_response *response)
{
        return response->message.head.status >= 400;
}

/*
 * Exchange a request with a large body. A separate task writes the request, so that this call sees
 * an early response. The call returns with the response's head. A response that refuses the request
 * stops the writing; otherwise the rest is sent while the response is read.
 */
static int exchange_large(eddy_http_response *response, const struct eddy_http_request *request)
{
        struct ed_http_upload *upload = &response->upload;
        struct ed_buf *out = &response->out;
        int err;

        ed_http_upload_init(upload, &response->conn->stream,
                            (struct eddy_slice){ ed_buf_data(out), ed_buf_bytes(out) },
                            (struct eddy_slice){ request->body, request->body_bytes });
        err = ed_http_upload_start(upload);
        if (err < 0)
                return err;
        err = read_head(response);
        if (err >= 0 && !refuses(response) && ed_http_message_is_whole(&response->message))
                ed_http_upload_finish(upload);
        else
                ed_http_upload_pause(upload);
        if (err >= 0 && !refuses(response))
                return ed_http_upload_keep(upload);
        ed_http_upload_drop(upload);
        return err == -ECANCELED && upload->error < 0 ? upload->error : err;
}

int ed_http_response_exchange(eddy_http_response *response, const struct eddy_http_request *request)
{
        if (request->body_bytes <= SEND_AT_ONCE_BYTES)
                return exchange_small(response, request);
        return exchange_large(response, request);
}

void ed_http_response_settle(eddy_http_response *response)
{
        struct ed_http_message *message = &response->message;
        struct ed_http_conn *conn = response->conn;
        bool reusable;

        if (!conn || !ed_http_message_is_whole(message) ||
            ed_http_upload_is_pending(&response->upload))
                return;
        /* The pool checks for bytes that arrived after the last read before the next request. */
        reusable = message->head.keep_alive && !response->closing && !response->tainted &&
                   !response->upload.cut && conn->stream && !ed_http_message_has_more(message);
        response->conn = NULL;
        message->stream = NULL;
        ed_http_pool_release(conn, reusable);
}

void ed_http_response_abandon(eddy_http_response *response)
{
        struct ed_http_message *message = &response->message;

        if (!response->conn)
                return;
        /* The buffer may hold all remaining chunks, unread. */
        if (!response->tainted && message->head_bytes > 0 && !message->outside &&
            ed_http_message_discard_buffered(message) >= 0)
                ed_http_response_settle(response);
        if (response->conn)
                ed_http_pool_release(response->conn, false);
        response->conn = NULL;
}
