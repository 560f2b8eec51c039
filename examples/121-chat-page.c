/*
 * 121-chat-page - a chat with its page: browsers post messages and get all by server-sent events.
 *
 * All handlers share a history of 100 messages, and each has only the number of the last message
 * that it has sent.  A slow browser delays neither a post nor another browser: it misses messages
 * that have left the history, and shows a note.  A browser reconnects by itself, and sends the
 * number of its last message as Last-Event-ID.  Numbers begin at the time of day, so those of an
 * earlier run are lower.  SIGTERM ends all streams: their handlers wait in eddy_serve_idle().
 *
 * Run: D=$(mktemp -d); 121-chat-page 127.0.0.1:0 >$D/log & P=$!; until [ -s $D/log ]; do sleep .05; done; U=$(cat $D/log); say() { curl -s --json "{\"text\":\"$1\"}" $U/messages; }; say 'Ann: Hi'; curl -sN $U/events >$D/1 & until grep -qs Ann: $D/1; do sleep .05; done; say 'Bob: Hello Ann'; until grep -qs Bob $D/1; do sleep .05; done; kill $P; wait; grep ^data $D/1; rm -r $D
 * Time: wall 0 s
 * Output:
 *     data: Ann: Hi
 *     data: Bob: Hello Ann
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/eddy.h"

enum { HISTORY = 100 };
struct message {
        char text[601];
};
static const struct eddy_field message_list[] = {
        EDDY_FIELD(struct message, text, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(1, 600)),
};
static const struct eddy_fields message_fields = EDDY_FIELDS(struct message, message_list, 0);
static const struct eddy_http_route_doc post_doc = { .body = &message_fields };

static struct message history[HISTORY]; /* message N is at N % HISTORY */
static int64_t start, last;             /* last: the number of the last message */
static eddy_event news;

static char page[] =
        "<!doctype html><meta charset=utf-8><title>Chat</title><ul></ul><form>\n"
        "<input name=author required> <input name=text required> <button>Send</button>\n"
        "</form><script>\n"
        "const list = document.querySelector('ul'), form = document.querySelector('form');\n"
        "const show = text => list.appendChild(document.createElement('li')).textContent = text;\n"
        "const events = new EventSource('events');\n"
        "events.onmessage = event => show(event.data);\n"
        "events.addEventListener('gap', () => show('(messages may be missing here)'));\n"
        "form.onsubmit = event => {\n"
        "  const { author, text } = form.elements, type = 'application/json';\n"
        "  const body = JSON.stringify({ text: author.value + ': ' + text.value });\n"
        "  fetch('messages', { method: 'POST', body: new Blob([body], { type }) });\n"
        "  text.value = ''; return false;\n"
        "};</script>\n";

static int show_page(eddy_http_exchange *exchange, void *arg)
{
        static const struct eddy_http_header type = { "Content-Type", "text/html" };

        return eddy_http_exchange_respond(exchange, 200, &type, 1, arg, strlen(arg));
}

static int post(eddy_http_exchange *exchange, void *arg)
{
        history[++last % HISTORY] =
                *(const struct message *) eddy_http_exchange_input(exchange, EDDY_HTTP_BODY);
        eddy_event_set(arg); /* wakes the handlers that wait now */
        eddy_event_clear(arg);
        return eddy_http_exchange_respond(exchange, 204, NULL, 0, NULL, 0);
}

static int wait_for_news(void *arg)
{
        return eddy_event_wait(arg);
}

static int send_events(eddy_http_exchange *exchange, void *arg)
{
        int64_t sent = strtoll(eddy_http_exchange_sse_last_id(exchange), NULL, 10), oldest;
        char id[24];
        struct eddy_http_sse_out gap = { .type = "gap", .data = "" }, event = { .id = id };
        int err = eddy_http_exchange_sse_begin(exchange, NULL);

        while (err == 0) {
                oldest = last - start > HISTORY ? last - HISTORY : start;
                if (sent < oldest || sent > last) {
                        err = sent == 0 ? 0 : eddy_http_exchange_sse_send(exchange, &gap);
                        sent = oldest;
                } else if (sent < last) {
                        event.data = history[++sent % HISTORY].text;
                        event.data_bytes = strlen(event.data);
                        snprintf(id, sizeof(id), "%lld", (long long) sent);
                        err = eddy_http_exchange_sse_send(exchange, &event);
                } else {
                        err = eddy_serve_idle(wait_for_news, arg);
                }
        }
        return eddy_serve_is_stopping() ? eddy_http_exchange_end(exchange) : err;
}

static int serve(eddy_http_router *router, void *arg)
{
        const struct eddy_http_server_opts opts = { .flags = EDDY_HTTP_SERVER_CANCEL_AT_END,
                                                    .drain_ns = EDDY_SEC(2) };

        (void) arg;
        start = last = eddy_time_of_day() / 1000;
        eddy_http_router_add(router, "GET /", show_page, page, NULL);
        eddy_http_router_add(router, "POST /messages", post, &news, &post_doc);
        eddy_http_router_add(router, "GET /events", send_events, &news, NULL);
        puts(eddy_http_run_url(router));
        fflush(stdout);
        return eddy_http_run_serve(router, &opts);
}

int main(int argc, char **argv)
{
        const struct eddy_http_run_opts opts = { .listen = argc > 1 ? argv[1] : "127.0.0.1:8080" };

        return eddy_http_run(&opts, serve, NULL) < 0;
}
