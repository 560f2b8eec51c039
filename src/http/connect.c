/*
 * http/connect.c - opening a connection: a task of the client connects, and does the handshake.
 *
 * The task belongs to the client instead of the first request, so a request that is cancelled does
 * not waste the opening: the connection goes to the next request. The client lives until the task
 * has ended.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "eddy/error.h"
#include "eddy/time.h"
#include "eddy/unix.h"
#include "http/client.h"
#include "http/opening.h"
#include "http/pool_origin.h"
#include "io/connect.h"
#include "io/dns.h"
#include "scope/debug/debug.h"
#include "scope/run.h"
#include "scope/suspend.h"
#include "tls/config.h"

/* Make the default configuration, while other tasks that need it wait. */
static int make_tls(struct ed_http_pool *pool, struct eddy_http_fault *fault)
{
        struct eddy_tls_fault tls_fault = { "" };
        int err = 0;

        if (pool->made_tls)
                return 0;
        err = eddy_lock_acquire(&pool->making_tls);
        if (err < 0)
                return err;
        if (!pool->made_tls)
                err = eddy_tls_config_new(NULL, &tls_fault, &pool->made_tls);
        (void) eddy_lock_release(&pool->making_tls);
        memcpy(fault->text, tls_fault.text, sizeof(fault->text));
        return err;
}

_Static_assert(sizeof(((struct eddy_http_fault *) 0)->text) ==
                       sizeof(((struct eddy_tls_fault *) 0)->text),
               "the texts of both faults are copied");

enum { ROUTE_ROOM = 16 + EDDY_ENDPOINT_PATH_MAX + ED_URL_HOST_MAX + ED_PROXY_SECRET_MAX };

/*
 * Write how a server is reached. Sessions of TLS are resumed only on the same route. The password
 * of a proxy is left out: it does not choose the way.
 */
static void route_write(const struct ed_http_conn *conn, char out[ROUTE_ROOM])
{
        const eddy_http_client *client = ed_container_of(conn->pool, eddy_http_client, pool);
        const struct ed_http_key *key = &conn->origin->key;
        const struct ed_http_proxy *proxy =
                ed_http_proxies_find(&client->proxies, key->is_https, key->host, key->port);

        if (client->unix_path[0])
                snprintf(out, ROUTE_ROOM, "%u unix %s", key->port, client->unix_path);
        else if (proxy)
                snprintf(out, ROUTE_ROOM, "%u %s %s:%u %s", key->port,
                         proxy->is_socks ? "socks" : "http", proxy->host, proxy->port, proxy->user);
        else
                snprintf(out, ROUTE_ROOM, "%u", key->port);
}

bool ed_http_speaks_prior(const struct ed_http_conn *conn)
{
        const eddy_http_client *client = ed_container_of(conn->pool, eddy_http_client, pool);
        const struct ed_http_key *key = &conn->origin->key;
        const struct ed_http_proxy *proxy;

        if (!client->protocols.prior || key->is_https || key->only_http1)
                return false;
        proxy = client->unix_path[0] ? NULL
                                     : ed_http_proxies_find(&client->proxies, key->is_https,
                                                            key->host, key->port);
        return !proxy || ed_http_proxy_is_tunnel(proxy, key->is_https);
}

/* Returns the protocol of an open stream. */
static const struct ed_http_protocol *protocol_of(const struct ed_http_conn *conn,
                                                  const eddy_stream *stream)
{
        const struct ed_http_protocols *protocols =
                &ed_container_of(conn->pool, eddy_http_client, pool)->protocols;

        if (conn->origin->key.only_http1)
                return &ed_http1_protocol;
        if (ed_http_speaks_prior(conn))
                return protocols->prior;
        if (conn->origin->key.is_https)
                for (size_t i = 0; i < ED_HTTP_OFFERED_MAX && protocols->offered[i]; i++)
                        if (ed_tls_speaks(stream, protocols->offered[i]->name))
                                return protocols->offered[i];
        return protocols->plain;
}

/* Do the handshake on '*stream', which is replaced. */
static int secure(struct ed_http_conn *conn, struct eddy_http_fault *fault, eddy_stream **stream)
{
        char route[ROUTE_ROOM];
        struct eddy_tls_fault tls_fault = { "" };
        const struct ed_http_key *key = &conn->origin->key;
        const char *alpn = ed_container_of(conn->pool, eddy_http_client, pool)->protocols.alpn;
        struct eddy_tls_conn_opts opts = {
                .ret_fault = &tls_fault,
                .route = route,
                .alpn = key->only_http1 ? ed_http1_protocol.name : alpn,
        };
        struct ed_http_pool *pool = conn->pool;
        eddy_tls_config *tls = key->tls ? key->tls : pool->tls;
        eddy_stream *lower = *stream;
        enum ed_tls_cause cause;
        int err;

        route_write(conn, route);
        err = ed_tls_client(lower, tls ? tls : pool->made_tls, key->host, &opts, &cause, stream);
        if (err >= 0)
                return 0;
        eddy_stream_close_now(lower);
        memcpy(fault->text, tls_fault.text, sizeof(fault->text));
        if (cause != ED_TLS_NO_PROTOCOL)
                return err;
        snprintf(fault->text, sizeof(fault->text), "%s", eddy_error_text(EDDY_E_HTTP_ALPN));
        return EDDY_E_HTTP_ALPN;
}

/* Find the addresses of the host, and connect to one of them. */
static int connect_host(struct ed_http_conn *conn, const char *host, uint16_t port,
                        eddy_stream **ret_stream)
{
        const eddy_http_client *client = ed_container_of(conn->pool, eddy_http_client, pool);
        int64_t began_ns = eddy_now(), named_ns;
        struct ed_found found;
        int err = 0;

        ed_found_init(&found);
        found.n = (size_t) ed_http_overrides_find(&client->overrides, host, port, found.addresses);
        conn->naming = host;
        if (found.n == 0)
                err = ed_found_look_up(host, &found);
        named_ns = eddy_now();
        if (err == 0) {
                conn->name_ns = named_ns - began_ns;
                conn->found = &found;
                err = ed_tcp_connect_found(&found, port, NULL, ret_stream);
        }
        conn->naming = NULL;
        if (conn->found)
                conn->connect_ns = eddy_now() - named_ns;
        conn->found = NULL;
        return err;
}

void ed_http_conn_note_lookup(const struct ed_http_conn *conn, struct eddy_http_fault *fault)
{
        if (conn->naming && !conn->found)
                snprintf(fault->text, sizeof(fault->text), "the name lookup of %s had not ended",
                         conn->naming);
        else if (conn->naming && conn->found->lookup)
                snprintf(fault->text, sizeof(fault->text),
                         "no connection to %s was made, and the name lookup of its other addresses "
                         "had not ended",
                         conn->naming);
}

static int connect_unix(struct ed_http_conn *conn, const char *path, eddy_stream **ret_stream)
{
        int64_t began_ns = eddy_now();
        int err = eddy_unix_connect(path, NULL, ret_stream);

        conn->connect_ns = eddy_now() - began_ns;
        return err;
}

/* Store that the proxy failed, without its credentials. */
static void fault_of_proxy(const struct ed_http_proxy *proxy, int err, const char *reason,
                           struct eddy_http_fault *fault)
{
        bool is_ipv6 = strchr(proxy->host, ':') != NULL;

        snprintf(fault->text, sizeof(fault->text), "proxy %s%.150s%s:%u: %s%s%s",
                 is_ipv6 ? "[" : "", proxy->host, is_ipv6 ? "]" : "", (unsigned) proxy->port,
                 eddy_error_text(err), reason ? ": " : "", reason ? reason : "");
}

/* Connect to the proxy, and by its tunnel to the origin. '*ret_reason' may explain the
 * error, and '*ret_status' is the proxy's answer, if it refused with one. */
static int reach_by(struct ed_http_conn *conn, const struct ed_http_proxy *proxy,
                    const char **ret_reason, int *ret_status, eddy_stream **ret_stream)
{
        const struct ed_http_key *key = &conn->origin->key;
        eddy_stream *stream;
        int64_t began_ns;
        int err;

        err = connect_host(conn, proxy->host, proxy->port, &stream);
        if (err < 0)
                return err;
        began_ns = eddy_now();
        if (ed_http_proxy_is_tunnel(proxy, key->is_https))
                err = ed_http_proxy_tunnel(proxy, stream, key->host, key->port, ret_reason,
                                           ret_status);
        conn->connect_ns += eddy_now() - began_ns;
        if (err < 0)
                eddy_stream_close_now(stream);
        else
                *ret_stream = stream;
        return err;
}

/* Connect to the origin, on its own or by its proxy. */
static int reach(struct ed_http_conn *conn, struct eddy_http_fault *fault, eddy_stream **ret_stream)
{
        const eddy_http_client *client = ed_container_of(conn->pool, eddy_http_client, pool);
        const struct ed_http_key *key = &conn->origin->key;
        const struct ed_http_proxy *proxy;
        const char *reason = NULL;
        int err;

        if (client->unix_path[0])
                return connect_unix(conn, client->unix_path, ret_stream);
        proxy = ed_http_proxies_find(&client->proxies, key->is_https, key->host, key->port);
        if (!proxy)
                return connect_host(conn, key->host, key->port, ret_stream);
        err = reach_by(conn, proxy, &reason, &fault->status, ret_stream);
        if (err < 0 && err != -ECANCELED)
                fault_of_proxy(proxy, err, reason, fault);
        return err;
}

int ed_http_connect(struct ed_http_conn *conn, struct eddy_http_fault *fault,
                    eddy_stream **ret_stream)
{
        const struct ed_http_key *key = &conn->origin->key;
        eddy_stream *stream;
        int64_t began_ns;
        int err = 0;

        if (key->is_https && !key->tls && !conn->pool->tls)
                err = make_tls(conn->pool, fault);
        if (err == 0)
                err = reach(conn, fault, &stream);
        if (err == 0 && conn->unwanted) {
                eddy_stream_close_now(stream);
                return -ECANCELED;
        }
        if (err == 0 && key->is_https) {
                began_ns = eddy_now();
                err = secure(conn, fault, &stream);
                conn->tls_ns = eddy_now() - began_ns;
        }
        if (err < 0)
                return err;
        conn->protocol = protocol_of(conn, stream);
        *ret_stream = stream;
        return 0;
}

/* Connect, and begin the protocol. */
static int open_in(eddy_scope *scope, struct ed_http_conn *conn, struct eddy_http_fault *fault,
                   eddy_stream **ret_stream)
{
        int err;

        conn->name_ns = conn->connect_ns = conn->tls_ns = -1;
        conn->connecting = scope;
        err = conn->pool->connect(conn, fault, ret_stream);
        if (err >= 0)
                conn->slots = conn->protocol->slots;
        if (err >= 0 && conn->protocol->conn->begin) {
                err = conn->protocol->conn->begin(conn, *ret_stream);
                if (err < 0)
                        eddy_stream_close_now(*ret_stream);
        }
        conn->connecting = NULL;
        return err;
}

/* The task. */
static int open_run(void *arg)
{
        struct ed_http_conn *conn = arg;
        struct ed_http_pool *pool = conn->pool;
        eddy_http_client *client = ed_container_of(pool, eddy_http_client, pool);
        struct eddy_scope_opts opts = { .deadline_ns = conn->give_up_ns };
        struct eddy_http_fault fault = { .text = "" };
        eddy_stream *stream = NULL;
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, &opts);
        if (conn->unwanted)
                eddy_scope_cancel(&scope);
        err = open_in(&scope, conn, &fault, &stream);
        (void) eddy_scope_end(&scope);
        if (err >= 0) {
                conn->stream = stream;
                if (pool->closed)
                        ed_http_conn_disconnect(conn);
        }
        /* A borrower was not cancelled itself, if only the task was. */
        if (pool->closed || err == -ECANCELED)
                err = EDDY_E_HTTP_CLIENT_CLOSED;
        if (err >= 0) {
                ed_debug_gone(stream); /* reported as part of the client */
                conn->reused = false;
                if (eddy_stream_peer(stream, &conn->peer) < 0)
                        conn->peer = (struct eddy_endpoint){ .kind = EDDY_ENDPOINT_NONE };
                pool->connections++;
        }
        ed_http_conn_opened(conn, err, &fault);
        ed_http_client_unref(client);
        return 0;
}

int ed_http_connect_start(struct ed_http_conn *conn)
{
        eddy_http_client *client = ed_container_of(conn->pool, eddy_http_client, pool);
        struct ed_task *task;
        int err;

        err = ed_background_start(conn->pool->member.loop, open_run, conn, "http_connect", NULL,
                                  &task);
        if (err < 0)
                return err == -ECANCELED ? EDDY_E_HTTP_CLIENT_CLOSED : err;
        conn->opening = true;
        conn->began_ns = ed_loop_now(conn->pool->member.loop);
        client->refs++;
        return 0;
}
