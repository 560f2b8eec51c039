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
