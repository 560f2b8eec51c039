/*
 * http/websocket_close.c - the close of a WebSocket; see websocket.h.
 */
#include <errno.h>

#include "eddy/error.h"
#include "eddy/stream_ops.h"
#include "eddy/time.h"
#include "http/time_limit.h"
#include "http/websocket.h"
#include "loop/timer.h"
#include "scope/misuse.h"

struct closing {
        eddy_websocket *websocket;
        unsigned code;
        const char *reason;
};

/* Drop bytes until the peer closes the connection. */
static void drain(eddy_websocket *websocket)
{
        int64_t n;

        do
                n = eddy_stream_read(websocket->stream, websocket->in, sizeof(websocket->in));
        while (n > 0);
}

/*
 * Both closes. A server closes the connection first (RFC 6455, 7.1.1). After an error of the peer the
 * connection ends in order too: a reset could reach the peer before our close.
 */
static void close_both(struct closing *closing)
{
        eddy_websocket *websocket = closing->websocket;
        struct eddy_websocket_message message;
        int err = 0;

        if (!websocket->is_close_sent)
                err = ed_websocket_send_close(websocket, closing->code, closing->reason);
        while (err >= 0 && websocket->result == ED_WEBSOCKET_OPEN)
                err = eddy_websocket_read(websocket, &message);
        if (err == -ECANCELED || websocket->code == EDDY_WEBSOCKET_LOST)
                return;
        if (websocket->result < 0 && websocket->result != EDDY_E_WEBSOCKET_CLOSED)
                (void) eddy_stream_shutdown(websocket->stream);
        else if (websocket->is_server)
                return;
        drain(websocket);
}

static int64_t close_in_order(void *arg)
{
        struct closing *closing = arg;

        close_both(closing);
        eddy_stream_close(closing->websocket->stream); /* may wait too */
        return 0;
}

void eddy_websocket_close(eddy_websocket *websocket, int code, const char *reason)
{
        struct closing closing = { .websocket = websocket,
                                   .code = code ? (unsigned) code : EDDY_WEBSOCKET_NORMAL,
                                   .reason = reason ? reason : "" };

        if (!websocket)
                return;
        if (websocket->stream->member &&
            !ed_misuse_may_close(websocket->stream->member, "a WebSocket"))
                return;
        if (!ed_websocket_code_is_valid(closing.code))
                closing.code = EDDY_WEBSOCKET_NO_CODE;
        if (ed_websocket_enter(websocket) < 0) /* its run has ended */
                eddy_stream_close(websocket->stream);
        else
                (void) ed_http_call_until(close_in_order, &closing,
                                          ed_time_after(eddy_now(), websocket->close_ns),
                                          EDDY_E_NET_TIMED_OUT);
        ed_websocket_free(websocket);
}
