/*
 * http/attempt.c - see attempt.h. Without hooks an attempt costs a test of two pointers.
 */
#include "http/attempt.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "eddy/error.h"
#include "eddy/http_text.h"
#include "eddy/time.h"

static bool has_hooks(const eddy_http_client *client)
{
        return ed_unlikely(client->hooks.before || client->hooks.after);
}

void ed_http_attempt_init(eddy_http_response *response)
{
        response->attempt.number = 0;
        response->in_attempt = false;
}

int ed_http_attempt_begin(eddy_http_response *response, const struct eddy_http_request *request)
{
        eddy_http_client *client = response->client;
        const char *method = ed_http_request_method(request);
        int err;

        if (!has_hooks(client))
                return 0;
        response->attempt = (struct eddy_http_attempt){
                .id = ++client->attempts,
                .number = response->attempt.number + 1,
                .method = method,
                .url = request->url,
                .began_ns = eddy_now(),
                .opaque = response,
        };
        response->in_attempt = true;
        /* The request is gone when its response is read. */
        snprintf(response->method, sizeof(response->method), "%s", method);
        if (!client->hooks.before)
                return 0;
        response->ops->drop_added(response);
        err = client->hooks.before(&response->attempt, client->hooks.arg);
        response->attempt.opaque = NULL;
        return err < 0 ? err : 0;
}

void ed_http_attempt_answered(eddy_http_response *response)
{
        response->attempt.status = response->ops->status(response);
}

void ed_http_attempt_end(eddy_http_response *response, int error)
{
        struct eddy_http_attempt *attempt = &response->attempt;
        const struct eddy_http_hooks *hooks = &response->client->hooks;

        if (ed_likely(!response->in_attempt))
                return;
        response->in_attempt = false;
        attempt->method = response->method;
        if (error < 0)
                attempt->error = error;
        attempt->ended_ns = eddy_now();
        attempt->url = ed_buf_data(&response->url);
        if (hooks->after)
                hooks->after(attempt, hooks->arg);
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
        return response->ops->add_header(response, name, value);
}
