/*
 * http/client.c - the client: its options, its counters and its end.
 */
#include "http/client.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/http_text.h"
#include "eddy/version.h"
#include "http/auth.h"
#include "http/fault.h"
#include "http/opening.h"
#include "scope/debug/debug.h"
#include "scope/misuse.h"
#include "tls/config.h"

enum {
        CONNECTIONS_DEFAULT = 100,
        CLIENT_FLAGS = EDDY_HTTP_STATUS_IS_ERROR | EDDY_HTTP_REDIRECT_TO_HTTP |
                       EDDY_HTTP_REDIRECT_SAME_METHOD | EDDY_HTTP_CLIENT_HTTP1_ONLY |
                       EDDY_HTTP_CLIENT_H2C,
};

#define IDLE_TIMEOUT_DEFAULT_NS ((int64_t) 15 * 1000000000)
#define BODY_DEFAULT_BYTES      ((uint64_t) 64 << 20)

static void set_options(eddy_http_client *client, const struct eddy_http_client_opts *opts)
{
        static const struct ed_http_protocols http1 = {
                .alpn = "http/1.1",
                .plain = &ed_http1_protocol,
                .offered = { &ed_http1_protocol },
        };
        static const struct ed_http_protocols http2 = {
                .alpn = "h2,http/1.1",
                .plain = &ed_http1_protocol,
                .offered = { &ed_h2_protocol, &ed_http1_protocol },
        };
        struct ed_http_pool *pool = &client->pool;

        client->protocols = opts->flags & EDDY_HTTP_CLIENT_HTTP1_ONLY ? http1 : http2;
        if (opts->flags & EDDY_HTTP_CLIENT_H2C)
                client->protocols.prior = &ed_h2_protocol;
        pool->connect = opts->handler ? ed_http_mock_connect : ed_http_connect;
        pool->connections_max = opts->connections_max ? opts->connections_max : CONNECTIONS_DEFAULT;
        pool->per_host_max = opts->per_host_max ? opts->per_host_max : pool->connections_max;
        pool->idle_max = opts->idle_max;
        pool->tls = opts->tls;
        pool->idle_timeout_ns =
                opts->idle_timeout_ns ? opts->idle_timeout_ns : IDLE_TIMEOUT_DEFAULT_NS;
        client->timeouts = opts->timeouts;
        client->flags = opts->flags;
        client->redirects_max = opts->redirects_max;
        client->cookies = opts->cookies;
        client->has_retry = opts->retry != NULL;
        if (opts->retry)
                client->retry = *opts->retry;
        client->limiter = opts->limiter;
        client->breaker = opts->breaker;
        client->decode = opts->decode;
        if (opts->hooks)
                client->hooks = *opts->hooks;
        client->body_bytes_max = opts->body_bytes_max ? opts->body_bytes_max : BODY_DEFAULT_BYTES;
        client->limits.fields_max = opts->headers_max ? opts->headers_max : ED_HTTP1_FIELDS_MAX;
        client->limits.head_bytes_max =
                opts->head_bytes_max ? opts->head_bytes_max : ED_HTTP1_HEAD_BYTES_MAX;
        /* Limit only the whole head: some responses have a single long line. */
        client->limits.line_bytes_max = client->limits.head_bytes_max;
}

/* Store why an option is refused. Returns 'err'. */
static int refuse(const struct eddy_http_client_opts *opts, int err, const char *sentence)
{
        if (opts->ret_fault && err != -ENOMEM)
                snprintf(opts->ret_fault->text, sizeof(opts->ret_fault->text), "%s", sentence);
        return err;
}

/* Returns what is wrong with a number, a text or a flag of the options; NULL: nothing. */
static const char *bad_option(const struct eddy_http_client_opts *opts)
{
        const struct eddy_http_timeouts *times = &opts->timeouts;

        if (opts->user_agent && !eddy_http_is_value(opts->user_agent, strlen(opts->user_agent)))
                return "user_agent: the value has a control character, such as a line end";
        if (opts->head_bytes_max > INT32_MAX)
                return "head_bytes_max: it is above 2147483647";
        if (opts->headers_max > UINT16_MAX)
                return "headers_max: it is above 65535";
        if (opts->idle_timeout_ns < 0)
                return "idle_timeout_ns: it is negative";
        if (times->pool_ns < 0 || times->connect_ns < 0 || times->read_ns < 0 ||
            times->total_ns < 0)
                return "timeouts: a time is negative; 0 means no limit";
        if (opts->flags & ~(unsigned) CLIENT_FLAGS)
                return "flags: a flag is unknown, or belongs to a request";
        if (opts->flags & EDDY_HTTP_CLIENT_HTTP1_ONLY && opts->flags & EDDY_HTTP_CLIENT_H2C)
                return "flags: EDDY_HTTP_CLIENT_HTTP1_ONLY excludes EDDY_HTTP_CLIENT_H2C";
        if (opts->redirects_max < 0)
                return "redirects_max: it is negative; 0 follows none";
        if (ed_tls_config_has_alpn(opts->tls))
                return "tls: the configuration has a list 'alpn', which the client sets itself";
        return NULL;
}

/* Take the options that say where to connect. free_options() is due after a failure too. */
static int set_routes(eddy_http_client *client, const struct eddy_http_client_opts *opts)
{
        struct eddy_endpoint endpoint;
        int err;

        if (opts->handler)
                return ed_http_mock_new(opts->handler, opts->handler_arg, &client->mock);
        err = ed_http_overrides_init(&client->overrides, opts->resolve, opts->resolve_count);
        if (err < 0)
                return refuse(opts, err, "resolve: write HOST:PORT:ADDRESS[,ADDRESS]...");
        if (!opts->unix_path) {
                err = ed_http_proxies_init(&client->proxies, opts->http_proxy, opts->https_proxy,
                                           opts->no_proxy);
                return err < 0 ? refuse(opts, err,
                                        "http_proxy, https_proxy: write "
                                        "[SCHEME://][USER[:PASSWORD]@]HOST[:PORT] with http or "
                                        "socks5")
                               : 0;
        }
        err = eddy_endpoint_unix(opts->unix_path, &endpoint);
        if (err < 0)
                return refuse(opts, err, "unix_path: it is empty or too long");
        memcpy(client->unix_path, opts->unix_path, strlen(opts->unix_path) + 1);
        return 0;
}

static void free_options(eddy_http_client *client)
{
        ed_http_defaults_fini(&client->defaults);
        ed_http_proxies_fini(&client->proxies);
        ed_http_overrides_fini(&client->overrides);
}

int eddy_http_client_new(const struct eddy_http_client_opts *opts, eddy_http_client **ret_client)
{
        static const struct eddy_http_client_opts defaults;
        struct ed_loop *loop = ed_loop_current;
        const char *user_agent, *bad;
        eddy_http_client *client;
        int err = -ENOMEM;

        if (!opts)
                opts = &defaults;
        if (opts->ret_fault)
                ed_http_fault_clear(opts->ret_fault);
        user_agent = opts->user_agent ? opts->user_agent : "eddy/" EDDY_VERSION;
        if (!loop)
                return EDDY_E_RUN_NOT_RUNNING;
        bad = bad_option(opts);
        if (bad)
                return refuse(opts, -EINVAL, bad);
        client = ed_alloc_zero(sizeof(*client));
        if (!client)
                return -ENOMEM;
        client->user_agent_bytes = strlen(user_agent);
        client->user_agent = ed_alloc(client->user_agent_bytes + 1);
        if (!client->user_agent)
                goto free_client;
        memcpy(client->user_agent, user_agent, client->user_agent_bytes + 1);
        set_options(client, opts);
        err = ed_http_defaults_init(&client->defaults, opts);
        if (err >= 0)
                err = set_routes(client, opts);
        if (err < 0)
                goto free_options;
        ed_http_pool_init(&client->pool, loop);
        ed_list_init(&client->spares);
        ed_list_init(&client->lent);
        ed_list_init(&client->http1_spares);
        ed_list_init(&client->http1_buffers);
        ed_list_init(&client->h2_spares);
        client->refs = 1;
        if (opts->tls)
                ed_tls_config_ref(opts->tls);
        if (opts->auth)
                client->auth = ed_auth_ref(opts->auth);
        ed_debug_made(client, ED_DEBUG_CLIENT);
        *ret_client = client;
        return 0;

free_options:
        free_options(client);
        ed_free(client->user_agent);
free_client:
        ed_free(client);
        return err;
}

void ed_http_client_unref(eddy_http_client *client)
{
        if (--client->refs > 0)
                return;
        ed_http_pool_fini(&client->pool);
        if (client->auth)
                ed_auth_unref(client->auth);
        free_options(client);
        ed_h2_memory_fini(&client->h2_memory);
        ed_free(client->user_agent);
        ed_free(client);
}

void eddy_http_client_close(eddy_http_client *client)
{
        if (!client || !ed_misuse_may_close(&client->pool.member, "an HTTP client"))
                return;
        ed_debug_gone(client);
        ed_http_pool_close(&client->pool);
        ed_http_mock_close(client->mock);
        ed_http_responses_drop(client);
        ed_http_client_unref(client);
}

void eddy_http_client_stats(const eddy_http_client *client,
                            struct eddy_http_client_stats *ret_stats)
{
        if (!ret_stats)
                return;
        *ret_stats = (struct eddy_http_client_stats){ 0 };
        if (!client)
                return;
        *ret_stats = (struct eddy_http_client_stats){
                .requests = client->requests,
                .connections = client->pool.connections,
                .open = client->pool.idle_count + client->pool.in_use,
                .idle = client->pool.idle_count,
                .spare = client->pool.open - client->pool.idle_count - client->pool.in_use,
                .waiting = client->pool.waiting,
                .http2_connections = client->h2_connections,
                .streams = client->h2_streams,
        };
}
