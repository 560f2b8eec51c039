/*
 * 134-websocket-echo - a WebSocket in both roles: a server with a page, and a client.
 *
 * With a port the program is a server that sends each message back; its page does that in a browser.
 * With a URL the program is a client that sends its arguments and prints the answers.  Pages of other
 * sites cannot connect: the server compares the header Origin with Host.
 *
 * Run: ws() { exec 134-websocket-echo "$@"; }; U=$(mktemp); ws 0 >$U & P=$!; until read L <$U; do sleep 0.1; done; (ws "$L" one 'zwei Wörter' bye); curl -s -o /dev/null -w '%{http_code}\n' http${L#ws}; kill $P; rm $U
 * Time: wall 0 s
 * Output:
 *     one
 *     zwei Wörter
 *     closed with 4000: you said bye
 *     426
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/eddy.h"

static char page[] =
        "<!doctype html><meta charset=utf-8><title>Echo</title>\n"
        "<form><input autofocus> <button>Send</button></form><ol></ol><script>\n"
        "const show = text => document.querySelector('ol').append(\n"
        "  Object.assign(document.createElement('li'), { textContent: text }));\n"
        "const socket = new WebSocket(location.href.replace(/^http/, 'ws') + 'echo');\n"
        "socket.onopen = () => show('connected');\n"
        "socket.onmessage = event => show(event.data);\n"
        "socket.onclose = event => show('closed with ' + event.code + ': ' + event.reason);\n"
        "document.querySelector('form').onsubmit = event => {\n"
        "  const input = document.querySelector('input');\n"
        "  socket.send(input.value); input.value = ''; event.preventDefault();\n"
        "};</script>\n";

static int show_page(eddy_http_exchange *exchange, void *arg)
{
        static const struct eddy_http_header type = { "Content-Type", "text/html" };

        (void) arg;
        return eddy_http_exchange_respond(exchange, 200, &type, 1, page, strlen(page));
}

static int echo(eddy_http_exchange *exchange, void *arg)
{
        EDDY_AUTO(eddy_websocket) eddy_websocket *websocket = NULL;
        struct eddy_websocket_message message;
        int err = eddy_websocket_accept(exchange, NULL, &websocket);

        (void) arg;
        while (err >= 0 && (err = eddy_websocket_read(websocket, &message)) > 0) {
                if (strcmp(message.data, "bye") == 0) {
                        eddy_websocket_close(websocket, 4000, "you said bye");
                        websocket = NULL;
                        break;
                }
                err = eddy_websocket_write(websocket, message.kind, message.data, message.bytes);
        }
        return err;
}

static int serve(uint16_t port)
{
        EDDY_AUTO(eddy_listener) eddy_listener *listener = NULL;
        EDDY_AUTO(eddy_http_router) eddy_http_router *router = NULL;
        int err = eddy_tcp_listen("127.0.0.1", port, NULL, &listener);

        if (err < 0 || (err = eddy_http_router_new(&router)) < 0)
                return err;
        eddy_http_router_add(router, "GET /", show_page, NULL, NULL);
        eddy_http_router_add(router, "GET /echo", echo, NULL, NULL);
        printf("ws://127.0.0.1:%u/echo\n", eddy_listener_port(listener));
        fflush(stdout);
        return eddy_http_serve(listener, NULL, eddy_http_router_handle, router);
}

/* Send each argument, and print the answer. */
static int talk(char **args)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        EDDY_AUTO(eddy_websocket) eddy_websocket *websocket = NULL;
        struct eddy_websocket_message message;
        int err = eddy_http_client_new(NULL, &client);

        if (err == 0)
                err = eddy_websocket_connect(client, args[0], NULL, &websocket);
        for (int i = 1; args[i] && err >= 0; i++) {
                err = eddy_websocket_write(websocket, EDDY_WEBSOCKET_TEXT, args[i],
                                           strlen(args[i]));
                if (err < 0 || (err = eddy_websocket_read(websocket, &message)) <= 0)
                        break;
                printf("%s\n", message.data);
        }
        if (err == EDDY_E_WEBSOCKET_CLOSED) {
                printf("closed with %d: %s\n", eddy_websocket_close_code(websocket),
                       eddy_websocket_close_reason(websocket));
                err = 0;
        }
        return err < 0 ? err : 0;
}

static int run(void *arg)
{
        char **args = arg;

        return strchr(args[1], ':') ? talk(args + 1) : serve((uint16_t) strtoul(args[1], NULL, 10));
}

int main(int argc, char **argv)
{
        int err;

        if (argc < 2)
                return fprintf(stderr, "134-websocket-echo PORT | URL [MESSAGE ...]\n");
        err = eddy_run(run, argv, NULL);
        if (err < 0 && !eddy_run_signal())
                fprintf(stderr, "134-websocket-echo: %s\n", eddy_error_text(err));
        return err < 0 && !eddy_run_signal();
}
