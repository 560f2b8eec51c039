/*
 * http/attempt.c - see attempt.h. Without hooks an attempt costs a few tests of pointers.
 */
#include "http/attempt.h"

#include <string.h>
#include <strings.h>

#include "eddy/error.h"
#include "eddy/http_text.h"
#include "eddy/time.h"

static bool are_set(const struct eddy_http_hooks *hooks)
{
        return hooks->before || hooks->after || hooks->on_start || hooks->on_send;
}

void ed_http_attempt_init(eddy_http_response *response, const struct eddy_http_request *request)
{
        static const struct eddy_http_hooks none;

        response->attempt.number = 0;
        response->in_attempt = false;
        response->hooks = request->hooks ? *request->hooks : none;
        response->is_hooked = are_set(&response->client->hooks) || are_set(&response->hooks);
}

/* Keep the method, because the request is gone when its response is read. */
static void keep_method(eddy_http_response *response, const char *method)
{
        size_t bytes = strnlen(method, sizeof(response->method) - 1);

        memcpy(response->method, method, bytes);
        response->method[bytes] = '\0';
}

static void start(const eddy_http_response *response, const struct eddy_http_hooks *hooks)
{
        if (hooks->on_start && response->attempt.number == 1)
                hooks->on_start(&response->attempt, hooks->arg);
}

/* Call the function 'before' of one owner, which may add headers. */
static int call_before(eddy_http_response *response, const struct eddy_http_hooks *hooks)
{
        int err = 0;

        if (hooks->before) {
                response->attempt.opaque = response;
                err = hooks->before(&response->attempt, hooks->arg);
                response->attempt.opaque = NULL;
        }
        return err < 0 ? err : 0;
}

int ed_http_attempt_begin(eddy_http_response *response, const struct eddy_http_request *request)
{
        eddy_http_client *client = response->client;
        const char *method;
        int err;

        if (ed_likely(!response->is_hooked))
                return 0;
        method = ed_http_request_method(request);
        response->attempt = (struct eddy_http_attempt){
                .id = ++client->attempts,
                .number = response->attempt.number + 1,
                .method = method,
                .url = request->url,
                .began_ns = eddy_now(),
        };
        response->in_attempt = true;
        keep_method(response, method);
        ed_http_request_fields_drop_added(&response->fields);
        start(response, &client->hooks);
        start(response, &response->hooks);
        err = call_before(response, &client->hooks);
        return err < 0 ? err : call_before(response, &response->hooks);
}

void ed_http_attempt_sends(eddy_http_response *response)
{
        const struct eddy_http_hooks *own = &response->hooks, *all = &response->client->hooks;

        if (ed_likely(!response->is_hooked))
                return;
        if (all->on_send)
                all->on_send(&response->attempt, all->arg);
        if (own->on_send)
                own->on_send(&response->attempt, own->arg);
}

void ed_http_attempt_answered(eddy_http_response *response)
{
        response->attempt.status = response->ops->status(response);
}

void ed_http_attempt_end(eddy_http_response *response, int error)
{
        struct eddy_http_attempt *attempt = &response->attempt;
        const struct eddy_http_hooks *own = &response->hooks, *all = &response->client->hooks;

        if (ed_likely(!response->in_attempt))
                return;
        response->in_attempt = false;
        attempt->method = response->method;
        if (error < 0)
                attempt->error = error;
        attempt->ended_ns = eddy_now();
        attempt->url = ed_buf_data(&response->url);
        if (all->after)
                all->after(attempt, all->arg);
        if (own->after)
                own->after(attempt, own->arg);
}

void ed_http_attempt_read(eddy_http_response *response, int64_t result, bool ended)
{
        if (result >= 0 || result == -ECANCELED)
                response->attempt.error = result < 0 ? (int) result : 0;
        if (ended)
                ed_http_attempt_end(response, 0);
        else if (result < 0 && result != -ECANCELED && result != -EINVAL &&
                 result != EDDY_E_HTTP_STATE)
                ed_http_attempt_end(response, (int) result);
}

/* Headers that decide how the message ends, and where it goes; and credentials for a proxy. */
static bool is_reserved(const char *name)
{
        return strcasecmp(name, "host") == 0 || strcasecmp(name, "connection") == 0 ||
               strcasecmp(name, "content-length") == 0 ||
               strcasecmp(name, "transfer-encoding") == 0 ||
               strcasecmp(name, "proxy-authorization") == 0;
}

int eddy_http_attempt_add_header(struct eddy_http_attempt *attempt, const char *name,
                                 const char *value)
{
        eddy_http_response *response = attempt->opaque;

        if (!response)
                return -EINVAL;
        if (!name || !value || !eddy_http_is_token(name, strlen(name)) ||
            !eddy_http_is_value(value, strlen(value)) || is_reserved(name))
                return EDDY_E_HTTP_INVALID_REQUEST;
        return ed_http_request_fields_add(&response->fields, name, value);
}
