/*
 * http/many.c - many requests of a client, some at a time: tasks that each take the next request
 * without a response.
 */
#include "eddy/http_many.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/scope.h"
#include "eddy/time.h"
#include "http/client.h"
#include "scope/suspend.h"

struct many {
        eddy_http_client *client;
        const struct eddy_http_request *requests;
        struct eddy_http_result *results;
        size_t n;
        size_t next; /* the first request that no task has taken */
};

static bool is_done(const struct eddy_http_result *result)
{
        return result->error == 0 && result->status != 0;
}

static void result_clear(struct eddy_http_result *result)
{
        ed_free(result->body);
        memset(result, 0, sizeof(*result));
}

static int keep_body(struct eddy_http_result *result, const void *data, size_t bytes)
{
        result->body = ed_alloc(bytes + 1);
        if (!result->body)
                return -ENOMEM;
        if (bytes > 0)
                memcpy(result->body, data, bytes);
        result->body[bytes] = '\0';
        result->body_bytes = bytes;
        return 0;
}

/* Send a request, and read its response into the result. */
static int fetch(eddy_http_client *client, const struct eddy_http_request *request,
                 struct eddy_http_result *result)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        const void *data;
        size_t bytes;
        int err;

        err = eddy_http_client_send(client, request, &response);
        if (err < 0)
                return err;
        result->status = eddy_http_response_status(response);
        err = eddy_http_response_body(response, &data, &bytes);
        return err < 0 ? err : keep_body(result, data, bytes);
}

/* Fetch. The request's fault, or one of this frame, has the response after EDDY_E_HTTP_STATUS. */
static void fetch_one(const struct many *many, size_t i)
{
        struct eddy_http_request request = many->requests[i];
        struct eddy_http_result *result = &many->results[i];
        struct eddy_http_fault own;

        if (!request.ret_fault)
                request.ret_fault = &own;
        result->error = fetch(many->client, &request, result);
        if (result->error == EDDY_E_HTTP_STATUS) {
                result->status = request.ret_fault->status;
                if (keep_body(result, request.ret_fault->body, request.ret_fault->body_bytes) < 0)
                        result->error = -ENOMEM;
        }
}

/* A task: fetch until all requests are taken, or the task or its scope is cancelled. */
static int fetch_run(void *arg)
{
        struct many *many = arg;

        while (many->next < many->n) {
                size_t i = many->next++;
                int err;

                if (is_done(&many->results[i]))
                        continue;
                fetch_one(many, i);
                if (many->results[i].error != -ECANCELED)
                        continue;
                err = eddy_sleep(0); /* a hook or a source of a body may return -ECANCELED too */
                if (err < 0)
                        return err;
        }
        return 0;
}

/* Prepare the results for this call. Returns the number of requests to send. */
static size_t begin(const struct many *many)
{
        size_t left = 0;

        for (size_t i = 0; i < many->n; i++) {
                struct eddy_http_result *result = &many->results[i];

                if (is_done(result))
                        continue;
                result_clear(result);
                result->error = -ECANCELED; /* until it is sent */
                left++;
        }
        return left;
}

static int fetch_all(struct many *many, uint32_t at_once)
{
        struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_KEEP_GOING };
        size_t tasks = begin(many);
        eddy_scope scope;
        int err = 0;

        if (at_once == 0)
                at_once = many->client->pool.connections_max;
        if (tasks > at_once)
                tasks = at_once;
        eddy_scope_begin(&scope, &opts);
        for (size_t i = 0; i < tasks && err >= 0; i++)
                err = eddy_scope_start_named(&scope, fetch_run, many, "http_many");
        err = eddy_scope_end(&scope);
        for (size_t i = 0; i < many->n && err >= 0; i++)
                err = many->results[i].error;
        return err;
}

int eddy_http_fetch_many(eddy_http_client *client, const struct eddy_http_request *requests,
                         size_t n, uint32_t at_once, struct eddy_http_result *results)
{
        struct many many = { .client = client, .requests = requests, .results = results, .n = n };
        struct ed_task *task;
        int err;

        if (!client || (n > 0 && (!requests || !results)))
                return -EINVAL;
        err = ed_suspend_enter(&task);
        if (err < 0)
                return err;
        if (client->pool.member.loop != task->loop)
                return EDDY_E_RUN_OTHER_LOOP;
        client->refs++; /* it may be closed meanwhile */
        err = fetch_all(&many, at_once);
        ed_http_client_unref(client);
        return err;
}

void eddy_http_results_fini(struct eddy_http_result *results, size_t n)
{
        for (size_t i = 0; results && i < n; i++)
                result_clear(&results[i]);
}
