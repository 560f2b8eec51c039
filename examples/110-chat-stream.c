/*
 * 110-chat-stream - a chat answer, token by token, that is cancelled when its reader leaves.
 *
 * An API of chat completions streams its answer as server-sent events; the last one is "[DONE]".
 * eddy_http_sse_next() waits for the next event.  The reader leaves after three tokens, and its task
 * is cancelled.  That closes the connection, and the server stops its work on a thousand tokens.
 *
 * Run: 110-chat-stream
 * Time: wall 0 s
 * Output:
 *     token 1
 *     token 2
 *     token 3
 *     the reader leaves
 *     the server stops its work
 */
#include <stdio.h>
#include <string.h>

#include "eddy/eddy.h"

static eddy_event third_token, stopped;

static int complete(eddy_http_exchange *exchange, void *arg)
{
        static const struct eddy_http_header type = { "Content-Type", "text/event-stream" };
        int err = eddy_http_exchange_begin(exchange, 200, &type, 1, -1);
        char text[128];

        (void) arg;
        for (int i = 1; i <= 1000 && err == 0; i++) {
                snprintf(text, sizeof(text),
                         "data: {\"choices\":[{\"delta\":{\"content\":\"token %d\"}}]}\n\n", i);
                err = eddy_http_exchange_write(exchange, text, strlen(text));
                if (err == 0)
                        err = eddy_sleep(EDDY_MS(20)); /* the model works */
        }
        if (err == 0)
                return eddy_http_exchange_write(exchange, "data: [DONE]\n\n", 14);
        puts("the server stops its work");
        eddy_event_set(&stopped);
        return err;
}

static int serve(void *listener)
{
        struct eddy_http_server_opts opts = { .flags = EDDY_HTTP_SERVER_CANCEL_AT_END };

        return eddy_http_serve(listener, &opts, complete, NULL);
}

/* Print the token of an event. */
static int print_token(const struct eddy_http_sse_event *event)
{
        struct eddy_json_value value;
        char token[64];
        int64_t n = eddy_json_parse(event->data, event->data_bytes, NULL, &value, NULL);

        if (n == 0)
                n = eddy_json_get(&value, "choices[0].delta.content", &value);
        if (n == 0)
                n = eddy_json_string(&value, token, sizeof(token));
        if (n >= 0)
                puts(token);
        return n < 0 ? (int) n : 0;
}

static int read_answer(void *listener)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        EDDY_AUTO(eddy_http_sse) eddy_http_sse *sse = NULL;
        char url[64];
        struct eddy_http_request request = { .url = url, .body = "{}", .body_bytes = 2 };
        struct eddy_http_sse_event event;
        int tokens = 0, err = eddy_http_client_new(NULL, &client);

        snprintf(url, sizeof(url), "http://127.0.0.1:%u/", eddy_listener_port(listener));
        if (err == 0)
                err = eddy_http_sse_open(client, &request, NULL, &sse);
        while (err == 0 && (err = eddy_http_sse_next(sse, &event)) > 0 &&
               strcmp(event.data, "[DONE]") != 0) {
                err = print_token(&event);
                if (++tokens == 3)
                        eddy_event_set(&third_token);
        }
        return err < 0 ? err : 0;
}

static int run(void *arg)
{
        EDDY_AUTO(eddy_listener) eddy_listener *listener = NULL;
        eddy_task *reader;
        eddy_scope scope;
        int err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listener);

        (void) arg;
        if (err < 0)
                return err;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve, listener);
        err = eddy_scope_start_task(&scope, read_answer, listener, NULL, &reader);
        if (err == 0)
                err = eddy_event_wait(&third_token);
        if (err == 0) {
                puts("the reader leaves");
                eddy_task_cancel(reader);
                eddy_task_release(reader);
                err = eddy_event_wait(&stopped);
        }
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        return err;
}

int main(void)
{
        return eddy_run(run, NULL, NULL) < 0 ? 1 : 0;
}
