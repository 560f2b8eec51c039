/*
 * server_eddy.c - an HTTP server whose handler answers 128 bytes, in one of three ways.
 *
 *     server_eddy respond   eddy_http_exchange_respond()
 *     server_eddy known     begin with the body's length, write, end
 *     server_eddy unknown   begin without a length, write, end: the body is chunked
 *
 * Prints its port, serves until SIGTERM, and then prints how many requests it answered.
 */
#include <eddy/eddy.h>
#include <errno.h>

#include "bench.h"

enum { BODY_BYTES = 128 };

static const struct eddy_http_header headers[] = { { "Content-Type", "text/plain" } };
static char body[BODY_BYTES];
static long answers;

static int respond(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        answers++;
        return eddy_http_exchange_respond(exchange, 200, headers, 1, body, BODY_BYTES);
}

static int respond_in_pieces(eddy_http_exchange *exchange, int64_t bytes)
{
        int err = eddy_http_exchange_begin(exchange, 200, headers, 1, bytes);

        answers++;
        if (err == 0)
                err = eddy_http_exchange_write(exchange, body, BODY_BYTES);
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

static int respond_known(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return respond_in_pieces(exchange, BODY_BYTES);
}

static int respond_unknown(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return respond_in_pieces(exchange, -1);
}

static eddy_http_handler_fn *handler_of(const char *name)
{
        if (strcmp(name, "respond") == 0)
                return respond;
        if (strcmp(name, "known") == 0)
                return respond_known;
        if (strcmp(name, "unknown") == 0)
                return respond_unknown;
        bench_die(name, "no such way to answer");
}

static int serve(void *arg)
{
        EDDY_AUTO(eddy_listener) eddy_listener *listener = NULL;
        int err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listener);

        if (err < 0)
                return err;
        if (printf("%u\n", eddy_listener_port(listener)) < 0 || fflush(stdout) != 0)
                return -EIO;
        return eddy_http_serve(listener, NULL, handler_of(arg), NULL);
}

int main(int argc, char **argv)
{
        int err;

        if (argc != 2)
                bench_die("usage", "server_eddy respond|known|unknown");
        handler_of(argv[1]);
        memset(body, 'x', BODY_BYTES - 1);
        body[BODY_BYTES - 1] = '\n';
        err = eddy_run(serve, argv[1], NULL);
        if (err < 0 && err != -ECANCELED)
                bench_die("server_eddy", eddy_error_text(err));
        printf("{\"peer\": \"eddy " EDDY_VERSION "\", \"ops\": %ld}\n", answers);
        return 0;
}
