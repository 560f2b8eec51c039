/*
 * http/http1_info.c - see http1_info.h.
 */
#include "http/http1_info.h"

#include <string.h>

#include "base/alloc.h"
#include "eddy/stream_ops.h"
#include "tls/config.h"

/* A question costs a system call, so the answers are kept. Without memory both are unknown. */
static const struct ed_http1_ends *ends_of(struct ed_http1_exchange *exchange)
{
        static const struct ed_http1_ends unknown;

        if (exchange->ends)
                return exchange->ends;
        if (exchange->stream)
                exchange->ends = ed_alloc_zero(sizeof(*exchange->ends));
        if (!exchange->ends)
                return &unknown;
        if (eddy_stream_peer(exchange->stream, &exchange->ends->peer) < 0)
                exchange->ends->peer.kind = EDDY_ENDPOINT_NONE;
        if (eddy_stream_local(exchange->stream, &exchange->ends->local) < 0)
                exchange->ends->local.kind = EDDY_ENDPOINT_NONE;
        return exchange->ends;
}

static void describe_tls(const eddy_stream *stream, struct eddy_http_exchange_info *info)
{
        struct ed_tls_brief brief;

        if (strcmp(eddy_stream_kind(stream), "tls") != 0)
                return;
        ed_tls_brief(stream, &brief);
        info->tls_version = brief.version;
        info->tls_cipher = brief.cipher;
        info->tls_server_name = brief.server_name;
        if (ed_tls_speaks(stream, "http/1.1"))
                info->tls_alpn = "http/1.1";
        else if (ed_tls_speaks(stream, "http/1.0"))
                info->tls_alpn = "http/1.0";
}

void ed_http1_info(eddy_http_exchange *base, struct eddy_http_exchange_info *ret_info)
{
        struct ed_http1_exchange *exchange = ed_http1_exchange_of(base);
        const struct ed_http1_ends *ends = ends_of(exchange);

        *ret_info = (struct eddy_http_exchange_info){
                .version = exchange->message.head.minor > 0 ? 11 : 10,
                .status = exchange->status,
                .received_bytes = ed_http_message_bytes(&exchange->message),
                .sent_bytes = exchange->sent_bytes,
                .started_ns = exchange->started_ns,
                .peer = &ends->peer,
                .local = &ends->local,
                .tls_cipher = "",
                .tls_server_name = "",
                .tls_alpn = "",
        };
        if (!exchange->stream)
                return;
        ret_info->sent_bytes = exchange->stream->taken - exchange->taken_before;
        describe_tls(exchange->stream, ret_info);
}
