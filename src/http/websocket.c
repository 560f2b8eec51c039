/*
 * http/websocket.c - the life of a WebSocket; see websocket.h.
 */
#include "http/websocket.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/http_text.h"
#include "eddy/stream_ops.h"
#include "eddy/time.h"
#include "http/time_limit.h"
#include "loop/timer.h"
#include "scope/misuse.h"
#include "scope/suspend.h"

enum { MESSAGE_DEFAULT_BYTES = 1 << 20 };

#define PING_DEFAULT_NS  EDDY_SEC(20)
#define PONG_DEFAULT_NS  EDDY_SEC(20)
#define CLOSE_DEFAULT_NS EDDY_SEC(1)

static const struct eddy_websocket_opts no_opts;

static int check(const struct eddy_websocket_opts *opts)
{
        if (opts->message_bytes_max > SIZE_MAX / 16 || opts->pong_ns < 0 || opts->close_ns < 0 ||
            (!opts->protocols && opts->protocols_count > 0) ||
            (!opts->origins && opts->origins_count > 0) ||
            (!opts->headers && opts->headers_count > 0))
                return -EINVAL;
        for (size_t i = 0; i < opts->protocols_count; i++)
                if (!opts->protocols[i] ||
                    !eddy_http_is_token(opts->protocols[i], strlen(opts->protocols[i])))
                        return -EINVAL;
        for (size_t i = 0; i < opts->origins_count; i++)
                if (!opts->origins[i])
                        return -EINVAL;
        return 0;
}

int ed_websocket_check(const struct eddy_websocket_opts **opts)
{
        if (!*opts)
                *opts = &no_opts;
        return check(*opts);
}

int ed_websocket_new(const struct eddy_websocket_opts *opts, const char *protocol, bool is_server,
                     eddy_websocket **ret_websocket)
{
        size_t bytes = strlen(protocol) + 1;
        eddy_websocket *websocket = ed_alloc_zero(sizeof(*websocket) + bytes);

        if (!websocket)
                return -ENOMEM;
        websocket->is_server = is_server;
        websocket->result = ED_WEBSOCKET_OPEN;
        websocket->message_bytes_max =
                opts->message_bytes_max ? opts->message_bytes_max : MESSAGE_DEFAULT_BYTES;
        websocket->fragment_bytes = opts->fragment_bytes;
        websocket->ping_ns = opts->ping_ns ? opts->ping_ns : PING_DEFAULT_NS;
        websocket->pong_ns = opts->pong_ns ? opts->pong_ns : PONG_DEFAULT_NS;
        websocket->close_ns = opts->close_ns ? opts->close_ns : CLOSE_DEFAULT_NS;
        ed_buf_init(&websocket->message, websocket->message_bytes_max + 1);
        memcpy(websocket->protocol, protocol, bytes);
        *ret_websocket = websocket;
        return 0;
}

int ed_websocket_enter(const eddy_websocket *websocket)
{
        const struct ed_member *member = websocket->stream->member;

        if (!ed_task_running())
                return EDDY_E_RUN_NOT_RUNNING;
        return member ? ed_member_check(member) : 0;
}

void ed_websocket_free(eddy_websocket *websocket)
{
        ed_buf_fini(&websocket->message);
        ed_free(websocket);
}

int eddy_websocket_close_code(const eddy_websocket *websocket)
{
        return websocket ? (int) websocket->code : 0;
}

const char *eddy_websocket_close_reason(const eddy_websocket *websocket)
{
        return websocket ? websocket->reason : "";
}

const char *eddy_websocket_protocol(const eddy_websocket *websocket)
{
        return websocket ? websocket->protocol : "";
}

/* ---- the close --------------------------------------------------------------------- */

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
