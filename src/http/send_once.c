/*
 * http/send_once.c - one attempt: borrows a connection, sends the request and reads the head of the
 * response. A stale connection is replaced once.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "eddy/error.h"
#include "eddy/http_text.h"
#include "eddy/url.h"
#include "http/attempt.h"
#include "http/call.h"
#include "http/fault.h"
#include "http/opening.h"
#include "http/origin.h"
#include "http/request_fault.h"
#include "http/time_limit.h"
#include "scope/suspend.h"
#include "tls/config.h"

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

/* Returns true if the server has said that it has done nothing with the request. */
static bool was_refused(const eddy_http_response *response)
{
        return response->ops->was_refused && response->ops->was_refused(response);
}

/* Returns true if the server takes the request that it has refused by HTTP/1 only. */
static bool needs_http1(const eddy_http_response *response)
{
        return response->ops->needs_http1 && response->ops->needs_http1(response);
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

/* An attempt, and its repeats on other connections. */
struct sending {
        eddy_http_response *response;
        const struct eddy_http_request *request;
        struct ed_http_key key;
        bool sent;    /* a byte, or it was tried */
        bool reaches; /* the service is being connected to, or has the request */
};

static int64_t take_slot(void *arg)
{
        const struct sending *sending = arg;
        eddy_http_response *response = sending->response;

        return ed_http_pool_acquire(&response->client->pool, &sending->key, &response->ready_ns,
                                    &response->conn);
}

/* Say which responses keep the pool's connections: callers have not read them to their ends. */
static void note_holders(const eddy_http_client *client, struct eddy_http_fault *fault)
{
        const eddy_http_response *first = NULL;
        char origin[EDDY_HTTP_ORIGIN_BYTES];
        struct eddy_url url;
        int count = 0;

        for (const struct ed_list *link = client->lent.next; link != &client->lent;
             link = link->next) {
                const eddy_http_response *response =
                        ed_container_of(link, const eddy_http_response, link);

                if (!response->conn)
                        continue;
                first = first ? first : response;
                count++;
        }
        /* Neither the password nor the query is shown: both may be secrets. */
        if (!first || eddy_http_url_origin(ed_buf_data(&first->url), origin) < 0 ||
            eddy_url_parse(ed_buf_data(&first->url), strlen(ed_buf_data(&first->url)), &url) < 0)
                return;
        snprintf(fault->text, sizeof(fault->text),
                 "%d response%s not read to the end and not closed; the first is of %s%.*s, for "
                 "%lld ms",
                 count, count == 1 ? " is" : "s are", origin,
                 url.path.bytes < 60 ? (int) url.path.bytes : 60, url.path.text,
                 (long long) ((eddy_now() - first->received_ns) / 1000000));
}

/* Borrow a slot, from the time 'ready_ns' on. */
static int take_in_time(struct sending *sending)
{
        eddy_http_response *response = sending->response;
        int64_t timeout_ns = ed_http_timeout(sending->request->timeouts.pool_ns,
                                             response->client->timeouts.pool_ns);
        int err = (int) ed_http_call(take_slot, sending, time_limit(response->ready_ns, timeout_ns),
                                     EDDY_E_HTTP_TIMEOUT_POOL);

        if (err == EDDY_E_HTTP_TIMEOUT_POOL && sending->request->ret_fault)
                note_holders(response->client, sending->request->ret_fault);
        return err;
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

/*
 * Get a slot for the repetition. A connection that was stale keeps its place, if no other request uses
 * it. 'whole': the server has refused only this request, and any slot will do.
 */
static int renew(struct sending *sending, bool whole)
{
        eddy_http_response *response = sending->response;

        if (whole)
                ed_http_pool_release(response->conn, true);
        else if (ed_http_conn_renew(response->conn))
                return 0;
        sending->reaches = false;
        response->conn = NULL;
        response->ready_ns = eddy_now();
        return take_in_time(sending);
}

/*
 * Connect if necessary and do the exchange. Repeat once if the connection was stale or the server has
 * refused to do anything with the request, and once if the server refused an expectation.
 */
static int send_on(struct sending *sending)
{
        const struct eddy_http_request *request = sending->request;
        eddy_http_response *response = sending->response;
        bool reused, opened, refused, repeated = false;
        int err;

        for (;;) {
                err = ed_http_attempt_begin(response, request);
                if (err < 0) {
                        /* Nothing was sent: the connection is as good as before. */
                        ed_http_pool_release(response->conn, true);
                        response->conn = NULL;
                        return err;
                }
                sending->reaches = true;
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
                sending->sent = true;
                ed_http_attempt_sends(response);
                reused = response->conn->reused && !repeated;
                err = response->ops->exchange(response, request);
                refused = err < 0 && !repeated && was_refused(response);
                if (err >= 0 && expectation_failed(response, request)) {
                        ed_http_attempt_answered(response);
                        ed_http_request_fields_drop_expect(&response->fields);
                } else if (err >= 0 || !(refused || was_stale(response, request, reused, err)) ||
                           !can_repeat(response, request)) {
                        return err;
                }
                sending->key.only_http1 |= refused && needs_http1(response);
                ed_http_attempt_end(response, err);
                ed_http_response_detach(response);
                repeated |= err < 0;
                err = renew(sending, refused || (err >= 0 && response->conn->slots > 1));
                if (err < 0)
                        return err;
        }
}

/* Check the request, and take its headers. */
static int set_fields(eddy_http_response *response, const struct eddy_http_request *request)
{
        int err = ed_http_request_fields_set(&response->fields, response->client, request);

        if (ed_unlikely(err == EDDY_E_HTTP_INVALID_REQUEST))
                ed_http_request_fault(&response->fields, response->client, request);
        return err;
}

/* Returns true if the client's connections may be of a protocol of many slots. */
static bool speaks_many(const eddy_http_client *client)
{
        return client->protocols.plain->slots > 1 || client->protocols.prior ||
               ed_http_offers_many(&client->protocols);
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
                err = set_fields(response, request);
        if (err >= 0)
                err = ed_buf_append(&response->url, request->url, strlen(request->url) + 1);
        if (err < 0)
                return err;
        /* The client's own configuration is the default, also if the request names it. */
        tls = request->tls;
        sending->key = ed_http_key_of(url, tls == response->client->pool.tls ? NULL : tls);
        /* Only HTTP/1 can change to another protocol. */
        sending->key.only_http1 = response->fields.upgrading && speaks_many(response->client);
        return take_in_time(sending);
}

static int send_all(struct sending *sending)
{
        eddy_http_response *response = sending->response;
        int64_t from_ns = response->ready_ns;
        int err;

        err = begin(sending);
        if (err < 0)
                return err;
        response->timings.wait_ns = response->ready_ns - from_ns;
        return send_on(sending);
}

/* Say in words why the response is refused. */
static void note_fault(const eddy_http_response *response, struct eddy_http_fault *ret_fault,
                       int err)
{
        const char *text = response->ops ? response->ops->fault_text(response) : "";

        if (*text && (err == EDDY_E_HTTP_INVALID_RESPONSE || err == EDDY_E_HTTP_TOO_LARGE ||
                      err == EDDY_E_HTTP_CLOSED || err == -ECONNRESET))
                ed_http_fault_of_response(ret_fault, err, text);
}

/* Prepare a response for an attempt. */
static void prepare(struct ed_http_call *call, eddy_http_response *response)
{
        const struct eddy_http_request *request = &call->request;
        const eddy_http_client *client = call->client;

        if (request->ret_fault)
                ed_http_fault_clear(request->ret_fault);
        response->began_ns = call->began_ns;
        response->ready_ns = call->sent++ == 0 ? call->began_ns : eddy_now();
        response->timings.total_ns = -1;
        response->deadline_ns = call->deadline_ns;
        response->conn = NULL;
        response->json_error = NULL;
        response->redirects = 0;
        response->read_timeout_ns =
                ed_http_timeout(request->timeouts.read_ns, client->timeouts.read_ns);
        response->body_bytes_max =
                request->body_bytes_max ? request->body_bytes_max : client->body_bytes_max;
        ed_http_decoded_begin(&response->decoding);
        ed_http_attempt_init(response, request);
        response->attempt.number = call->hooked;
}

/* Hooks see the total time's own error; the scope that has it is outside of this call. */
static int error_for_hooks(const struct ed_http_call *call, int err)
{
        return err == -ECANCELED && call->deadline_ns && ed_http_is_out_of_time()
                       ? EDDY_E_HTTP_TIMEOUT_TOTAL
                       : err;
}

int ed_http_send_once(struct ed_http_call *call)
{
        struct sending sending = { .request = &call->request };
        eddy_http_response *response;
        int err = ed_http_response_new(call->client, &response);

        if (err < 0)
                return err;
        prepare(call, response);
        sending.response = response;
        err = send_all(&sending);
        call->hooked = response->attempt.number;
        call->was_sent = sending.sent;
        call->was_reached = sending.reaches;
        if (call->request.body_source && response->ops)
                call->source_read |= response->ops->took_source(response);
        if (err < 0) {
                ed_http_attempt_end(response, error_for_hooks(call, err));
                note_fault(response, call->request.ret_fault, err);
                ed_http_response_free(response);
                return err;
        }
        ed_http_attempt_answered(response);
        response->ops->settle(response);
        if (!response->conn) { /* the body has arrived too */
                response->timings.total_ns = response->received_ns - response->began_ns;
                ed_http_attempt_end(response, 0);
        }
        call->response = response;
        return 0;
}
