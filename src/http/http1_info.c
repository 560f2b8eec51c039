/*
 * http/http1_info.c - see http1_info.h.
 */
#include "http/http1_info.h"

#include <string.h>

#include "base/alloc.h"
#include "eddy/stream_ops.h"
#include "tls/config.h"

const struct ed_http_ends *ed_http_ends(struct ed_http_ends **ends, const eddy_stream *stream)
{
        static const struct ed_http_ends unknown;

        if (*ends)
                return *ends;
        if (stream)
                *ends = ed_alloc_zero(sizeof(**ends));
        if (!*ends)
                return &unknown;
        if (eddy_stream_peer(stream, &(*ends)->peer) < 0)
                (*ends)->peer.kind = EDDY_ENDPOINT_NONE;
        if (eddy_stream_local(stream, &(*ends)->local) < 0)
                (*ends)->local.kind = EDDY_ENDPOINT_NONE;
        return *ends;
}

void ed_http_describe_tls(const eddy_stream *stream, struct eddy_http_exchange_info *info)
{
        static const char *const protocols[] = { "http/1.1", "h2", "http/1.0" };
        struct ed_tls_brief brief;

        if (strcmp(eddy_stream_kind(stream), "tls") != 0)
                return;
        ed_tls_brief(stream, &brief);
        info->tls_version = brief.version;
        info->tls_cipher = brief.cipher;
        info->tls_server_name = brief.server_name;
        for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++)
                if (ed_tls_speaks(stream, protocols[i]))
                        info->tls_alpn = protocols[i];
}

void ed_http1_info(eddy_http_exchange *base, struct eddy_http_exchange_info *ret_info)
{
        struct ed_http1_exchange *exchange = ed_http1_exchange_of(base);
        const struct ed_http_ends *ends = ed_http_ends(&exchange->ends, exchange->stream);

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
                .number = exchange->number,
        };
        if (!exchange->stream)
                return;
        ret_info->sent_bytes = exchange->stream->taken - exchange->taken_before;
        ed_http_describe_tls(exchange->stream, ret_info);
}
