/*
 * http/client.c - the client: sends a request and reads the head of its response.
 */
#include "http/client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/http_text.h"
#include "eddy/version.h"
#include "http/attempt.h"
#include "http/opening.h"
#include "http/origin.h"
#include "http/time_limit.h"
#include "scope/debug/debug.h"
#include "scope/misuse.h"
#include "scope/suspend.h"
#include "tls/config.h"

enum { CONNECTIONS_DEFAULT = 100 };

#define IDLE_TIMEOUT_DEFAULT_NS ((int64_t) 15 * 1000000000)
#define BODY_DEFAULT_BYTES      ((uint64_t) 64 << 20)

static void set_options(eddy_http_client *client, const struct eddy_http_client_opts *opts)
{
        static const struct ed_http_protocols http1 = {
                .alpn = "http/1.1",
                .plain = &ed_http1_protocol,
                .offered = { &ed_http1_protocol },
        };
        struct ed_http_pool *pool = &client->pool;

        client->protocols = http1;
        pool->connect = opts->handler ? ed_http_mock_connect : ed_http_connect;
        pool->connections_max = opts->connections_max ? opts->connections_max : CONNECTIONS_DEFAULT;
        pool->per_host_max = opts->per_host_max ? opts->per_host_max : pool->connections_max;
        pool->idle_max = opts->idle_max;
        pool->tls = opts->tls;
        pool->idle_timeout_ns =
                opts->idle_timeout_ns ? opts->idle_timeout_ns : IDLE_TIMEOUT_DEFAULT_NS;
        client->timeouts = opts->timeouts;
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

/* Take the options that say where to connect. free_routes() is due after a failure too. */
static int set_routes(eddy_http_client *client, const struct eddy_http_client_opts *opts)
{
        struct eddy_endpoint endpoint;
        int err;

        if (opts->handler)
                return ed_http_mock_new(opts->handler, opts->handler_arg, &client->mock);
        err = ed_http_overrides_init(&client->overrides, opts->resolve, opts->resolve_count);
        if (err < 0)
                return err;
        if (!opts->unix_path)
                return ed_http_proxies_init(&client->proxies, opts->http_proxy, opts->https_proxy,
                                            opts->no_proxy);
        err = eddy_endpoint_unix(opts->unix_path, &endpoint);
        if (err < 0)
                return err;
        memcpy(client->unix_path, opts->unix_path, strlen(opts->unix_path) + 1);
        return 0;
}

static void free_routes(eddy_http_client *client)
{
        ed_http_proxies_fini(&client->proxies);
        ed_http_overrides_fini(&client->overrides);
}

int eddy_http_client_new(const struct eddy_http_client_opts *opts, eddy_http_client **ret_client)
{
        static const struct eddy_http_client_opts defaults;
        struct ed_loop *loop = ed_loop_current;
        const char *user_agent;
        eddy_http_client *client;
        int err = -ENOMEM;

        if (!opts)
                opts = &defaults;
        user_agent = opts->user_agent ? opts->user_agent : "eddy/" EDDY_VERSION;
        if (!loop)
                return EDDY_E_RUN_NOT_RUNNING;
        if (!eddy_http_is_value(user_agent, strlen(user_agent)) ||
            opts->head_bytes_max > INT32_MAX || opts->headers_max > UINT16_MAX ||
            opts->idle_timeout_ns < 0 || opts->timeouts.pool_ns < 0 ||
            opts->timeouts.connect_ns < 0 || opts->timeouts.read_ns < 0 ||
            opts->timeouts.total_ns < 0 || ed_tls_config_has_alpn(opts->tls))
                return -EINVAL;
        client = ed_alloc_zero(sizeof(*client));
        if (!client)
                return -ENOMEM;
        client->user_agent_bytes = strlen(user_agent);
        client->user_agent = ed_alloc(client->user_agent_bytes + 1);
        if (!client->user_agent)
                goto free_client;
        memcpy(client->user_agent, user_agent, client->user_agent_bytes + 1);
        set_options(client, opts);
        err = set_routes(client, opts);
        if (err < 0)
                goto free_routes;
        ed_http_pool_init(&client->pool, loop);
        ed_list_init(&client->spares);
        ed_list_init(&client->http1_spares);
        client->refs = 1;
        if (opts->tls)
                ed_tls_config_ref(opts->tls);
        ed_debug_made(client, ED_DEBUG_CLIENT);
        *ret_client = client;
        return 0;

free_routes:
        free_routes(client);
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
        free_routes(client);
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
        };
}

/* ---- sending --------------------------------------------------------------- */

/*
 * Returns true if the failure suggests that the server had closed an idle connection before it read
 * the request, and the request allows a repetition.
 */
static bool was_stale(const eddy_http_response *response, const struct eddy_http_request *request,
                      bool reused, int err)
{
        if (!reused || response->ops->was_answered(response))
                return false;
        if (err != EDDY_E_HTTP_CLOSED && err != EDDY_E_TLS_TRUNCATED && err != -ECONNRESET &&
            err != -EPIPE)
                return false;
        return eddy_http_request_is_idempotent(request);
}

/* Returns true if the whole body can be sent again. */
static bool can_repeat(const eddy_http_response *response, const struct eddy_http_request *request)
{
        const struct eddy_http_body_source *source = request->body_source;

        if (!source || !response->ops->took_source(response))
                return true;
        return source->rewind && source->rewind(source->arg) >= 0;
}

/* Returns true if the server refused only the expectation of "100 Continue". */
static bool expectation_failed(const eddy_http_response *response,
                               const struct eddy_http_request *request)
{
        return ed_unlikely(response->fields.expect_ns > 0) &&
               response->ops->status(response) == 417 && can_repeat(response, request);
}

/* Returns the end of a time that begins at 'now_ns'; 0 if the time is 0: no limit. */
static int64_t time_limit(int64_t now_ns, int64_t timeout_ns)
{
        return timeout_ns ? ed_time_after(now_ns, timeout_ns) : 0;
}

/* A call that sends. */
struct sending {
        eddy_http_response *response;
        const struct eddy_http_request *request;
        struct ed_http_key key;
};

static int64_t take_slot(void *arg)
{
        const struct sending *sending = arg;
        eddy_http_response *response = sending->response;

        return ed_http_pool_acquire(&response->client->pool, &sending->key, &response->ready_ns,
                                    &response->conn);
}

/* Borrow a slot, from the time 'ready_ns' on. */
static int take_in_time(struct sending *sending)
{
        eddy_http_response *response = sending->response;
        int64_t timeout_ns = ed_http_timeout(sending->request->timeouts.pool_ns,
                                             response->client->timeouts.pool_ns);

        return (int) ed_http_call(take_slot, sending, time_limit(response->ready_ns, timeout_ns),
                                  EDDY_E_HTTP_TIMEOUT_POOL);
}

static int64_t open_connection(void *arg)
{
        const struct sending *sending = arg;

        return ed_http_conn_open(&sending->response->conn, sending->request->ret_fault);
}

/*
 * Wait until the response's connection is open. After an error the slot is given back. The opening
 * continues for other requests, unless its time has passed.
 */
static int open_in_time(struct sending *sending)
{
        eddy_http_response *response = sending->response;
        int64_t timeout_ns = ed_http_timeout(sending->request->timeouts.connect_ns,
                                             response->client->timeouts.connect_ns);
        int64_t deadline_ns = time_limit(eddy_now(), timeout_ns);
        struct ed_task *task;
        int err;

        err = (int) ed_http_call(open_connection, sending, deadline_ns,
                                 EDDY_E_HTTP_TIMEOUT_CONNECT);
        response->ready_ns = eddy_now();
        if ((err == EDDY_E_HTTP_TIMEOUT_CONNECT || err == -ECANCELED) && response->conn &&
            sending->request->ret_fault)
                ed_http_conn_note_lookup(response->conn, sending->request->ret_fault);
        /* The connection is still unused: if a cancel came meanwhile, pass it on. */
        if (err >= 0)
                err = ed_suspend_enter(&task);
        if (err < 0 && response->conn)
                ed_http_pool_release(response->conn, err == -ECANCELED);
        if (err < 0)
                response->conn = NULL;
        return err;
}

/* Note the connection's data in the response. 'opened': the response waited for its opening. */
static void note_connection(eddy_http_response *response, bool opened)
{
        const struct ed_http_conn *conn = response->conn;

        response->peer = conn->peer;
        response->timings.name_ns = opened ? conn->name_ns : -1;
        response->timings.connect_ns = opened ? conn->connect_ns : -1;
        response->timings.tls_ns = opened ? conn->tls_ns : -1;
        response->timings.first_byte_ns = -1;
}

/* Attach the connection's protocol. After an error the slot, which is unused, is given back. */
static int attach(eddy_http_response *response)
{
        int err = ed_http_response_attach(response);

        if (err < 0) {
                ed_http_pool_release(response->conn, true);
                response->conn = NULL;
        }
        return err;
}

/* The connection was stale. Keep its place, or if other requests still use it, get another slot. */
static int renew(struct sending *sending)
{
        eddy_http_response *response = sending->response;

        if (ed_http_conn_renew(response->conn))
                return 0;
        response->conn = NULL;
        response->ready_ns = eddy_now();
        return take_in_time(sending);
}

/*
 * Connect if necessary and do the exchange. Repeat once on a new connection if the old one was
 * stale, and once if the server refused an expectation.
 */
static int send_on(struct sending *sending)
{
        const struct eddy_http_request *request = sending->request;
        eddy_http_response *response = sending->response;
        bool reused, opened, repeated = false;
        int err;

        for (;;) {
                err = ed_http_attempt_begin(response, request);
                if (err < 0) {
                        /* Nothing was sent: the connection is as good as before. */
                        ed_http_pool_release(response->conn, true);
                        response->conn = NULL;
                        return err;
                }
                opened = !response->conn->stream;
                if (opened) {
                        err = open_in_time(sending);
                        if (err < 0)
                                return err;
                }
                err = attach(response);
                if (err < 0)
                        return err;
                note_connection(response, opened);
                response->client->requests++;
                ed_http_attempt_sends(response);
                reused = response->conn->reused && !repeated;
                err = response->ops->exchange(response, request);
                if (err >= 0 && expectation_failed(response, request)) {
                        ed_http_attempt_answered(response);
                        ed_http_request_fields_drop_expect(&response->fields);
                } else if (err >= 0 || !was_stale(response, request, reused, err) ||
                           !can_repeat(response, request)) {
                        return err;
                }
                ed_http_attempt_end(response, err);
                ed_http_response_detach(response);
                repeated |= err < 0;
                err = renew(sending);
                if (err < 0)
                        return err;
        }
}

/* Check the request, and borrow a slot for it. */
static int begin(struct sending *sending)
{
        const struct eddy_http_request *request = sending->request;
        eddy_http_response *response = sending->response;
        struct ed_url *url = &response->fields.url;
        eddy_tls_config *tls;
        int err;

        if (ed_tls_config_has_alpn(request->tls))
                return -EINVAL;
        err = ed_http_url_read(request->url, url);
        if (err >= 0)
                err = ed_http_request_fields_set(&response->fields, response->client, request);
        if (err >= 0)
                err = ed_buf_append(&response->url, request->url, strlen(request->url) + 1);
        if (err < 0)
                return err;
        /* The client's own configuration is the default, also if the request names it. */
        tls = request->tls;
        sending->key = ed_http_key_of(url, tls == response->client->pool.tls ? NULL : tls);
        response->ready_ns = response->began_ns;
        return take_in_time(sending);
}

static int64_t send_all(void *arg)
{
        struct sending *sending = arg;
        eddy_http_response *response = sending->response;
        int err;

        err = begin(sending);
        if (err < 0)
                return err;
        response->timings.wait_ns = response->ready_ns - response->began_ns;
        return send_on(sending);
}

/* Say in words why the response is refused. */
static void note_fault(const eddy_http_response *response, struct eddy_http_fault *ret_fault,
                       int err)
{
        const char *text = response->ops ? response->ops->fault_text(response) : "";

        if (ret_fault && *text &&
            (err == EDDY_E_HTTP_INVALID_RESPONSE || err == EDDY_E_HTTP_TOO_LARGE))
                snprintf(ret_fault->text, sizeof(ret_fault->text), "%s: %s", eddy_error_text(err),
                         text);
}

static int send_in_time(eddy_http_response *response, const struct eddy_http_request *request)
{
        int64_t timeout_ns =
                ed_http_timeout(request->timeouts.total_ns, response->client->timeouts.total_ns);
        struct sending sending = { .response = response, .request = request };

        response->began_ns = eddy_now();
        response->timings.total_ns = -1;
        response->deadline_ns = time_limit(response->began_ns, timeout_ns);
        response->conn = NULL;
        response->json_error = NULL;
        response->read_timeout_ns =
                ed_http_timeout(request->timeouts.read_ns, response->client->timeouts.read_ns);
        response->body_bytes_max = request->body_bytes_max ? request->body_bytes_max
                                                           : response->client->body_bytes_max;
        ed_http_decoded_begin(&response->decoding);
        return (int) ed_http_call(send_all, &sending, response->deadline_ns,
                                  EDDY_E_HTTP_TIMEOUT_TOTAL);
}

int eddy_http_client_send(eddy_http_client *client, const struct eddy_http_request *request,
                          eddy_http_response **ret_response)
{
        eddy_http_response *response;
        struct ed_task *task;
        int err;

        if (!client || !request || !ret_response)
                return -EINVAL;
        if (request->ret_fault) {
                request->ret_fault->text[0] = '\0';
                request->ret_fault->status = 0;
                request->ret_fault->body[0] = '\0';
                request->ret_fault->body_bytes = 0;
        }
        err = ed_suspend_enter(&task);
        if (err < 0)
                return err;
        if (client->pool.member.loop != task->loop)
                return EDDY_E_RUN_OTHER_LOOP;
        err = ed_http_response_new(client, &response);
        if (err < 0)
                return err;
        ed_http_attempt_init(response, request);
        err = send_in_time(response, request);
        if (err < 0) {
                ed_http_attempt_end(response, err);
                note_fault(response, request->ret_fault, err);
                ed_http_response_free(response);
                return err;
        }
        ed_http_attempt_answered(response);
        response->ops->settle(response);
        if (!response->conn) { /* the body has arrived too */
                response->timings.total_ns = response->received_ns - response->began_ns;
                ed_http_attempt_end(response, 0);
        }
        ed_debug_made(response, ED_DEBUG_RESPONSE);
        *ret_response = response;
        return 0;
}
