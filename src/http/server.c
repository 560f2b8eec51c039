/*
 * http/server.c - see server.h.
 */
#include "http/server.h"

#include <errno.h>

#include "eddy/time.h"
#include "http/failure.h"
#include "http/input.h"
#include "http/router.h"
#include "http/values.h"
#include "loop/loop.h"
#include "scope/handler.h"
#include "tls/config.h"
#include "wire/http1.h"

#define BODY_DEFAULT_BYTES      ((uint64_t) 16 << 20)
#define HEAD_TIMEOUT_DEFAULT_NS EDDY_SEC(30)
#define IDLE_TIMEOUT_DEFAULT_NS EDDY_SEC(75)
#define RATE_OVER_DEFAULT_NS    EDDY_SEC(10)
#define NS_PER_S                ((int64_t) 1000000000)

/* Set the defaults in place of zeros. */
static void set_defaults(struct eddy_http_server_opts *opts)
{
        if (!opts->head_bytes_max)
                opts->head_bytes_max = ED_HTTP1_HEAD_BYTES_MAX;
        if (!opts->headers_max)
                opts->headers_max = ED_HTTP1_FIELDS_MAX;
        if (!opts->body_bytes_max)
                opts->body_bytes_max = BODY_DEFAULT_BYTES;
        if (!opts->head_timeout_ns)
                opts->head_timeout_ns = HEAD_TIMEOUT_DEFAULT_NS;
        if (!opts->idle_timeout_ns)
                opts->idle_timeout_ns = IDLE_TIMEOUT_DEFAULT_NS;
        if (!opts->rate_over_ns)
                opts->rate_over_ns = RATE_OVER_DEFAULT_NS;
}

/* A handler cannot both finish and be cancelled, and a server speaks at least one version. */
static bool flags_are_valid(uint32_t flags)
{
        const uint32_t ends = EDDY_HTTP_SERVER_FINISH | EDDY_HTTP_SERVER_CANCEL_AT_END;
        const uint32_t only = EDDY_HTTP_SERVER_HTTP1_ONLY | EDDY_HTTP_SERVER_HTTP2_ONLY;

        return !(flags & ~(ends | only)) && (flags & ends) != ends && (flags & only) != only;
}

int ed_http_server_init(struct ed_http_server *server, const struct eddy_http_server_opts *opts,
                        eddy_http_handler_fn *handler, void *arg)
{
        static const struct eddy_http_server_opts defaults;
        struct eddy_http_server_opts *own = &server->opts;

        *server = (struct ed_http_server){
                .opts = opts ? *opts : defaults, .handler = handler, .arg = arg, .date_s = -1
        };
        if (!handler || own->head_bytes_max > INT32_MAX || own->headers_max > UINT16_MAX ||
            own->head_timeout_ns < 0 || own->idle_timeout_ns < 0 || own->rate_over_ns < 0 ||
            own->drain_ns < 0 || !flags_are_valid(own->flags) || ed_tls_config_has_alpn(own->tls) ||
            (own->tls && !ed_tls_config_is_server(own->tls)))
                return -EINVAL;
        set_defaults(own);
        return handler == eddy_http_router_handle ? ed_http_router_ready(arg) : 0;
}

void ed_http_server_fini(struct ed_http_server *server)
{
        ed_http1_rooms_fini(&server->rooms);
        ed_h2_exchanges_free(server);
}

const char *ed_http_server_date(struct ed_http_server *server)
{
        struct ed_sys *sys = ed_loop_current->sys;
        int64_t now_s = sys->poll->time_of_day(sys) / NS_PER_S;

        if (now_s != server->date_s && eddy_http_date_format(now_s, server->date) >= 0)
                server->date_s = now_s;
        return server->date;
}

/* Free memory of the exchange that few requests have. */
static void end(eddy_http_exchange *exchange)
{
        ed_http_values_fini(exchange);
        ed_http_wrong_fini(exchange);
}

int ed_http_server_handle(const struct ed_http_server *server, eddy_http_exchange *exchange)
{
        struct ed_handler_call call;
        int result;

        exchange->input_error = 0;
        exchange->input_detail = NULL;
        ed_handler_begin(&call);
        result = server->handler(exchange, server->arg);
        if (ed_unlikely(result < 0 || exchange->after))
                ed_http_server_returned(server, exchange, result);
        if (ed_unlikely(exchange->values || exchange->wrong))
                end(exchange);
        ed_handler_end(&call);
        return result;
}
