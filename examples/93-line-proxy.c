/*
 * 93-line-proxy - a proxy of a line protocol on several loops, with its server and its clients.
 *
 * Each loop has a thread and a listener of its own. The listeners share a port, and the kernel
 * distributes the connections. A connection and its tasks stay on their loop, so the proxy needs no
 * lock. Channels carry messages between the loops: the first loop sends the ports to the others,
 * and each connection reports its count of lines at its end. Here the first loop also runs the
 * server that the proxy forwards to, and the clients.
 *
 *     93-line-proxy LOOPS
 *
 * Run: 93-line-proxy 1
 * Time: wall 0 s
 * Output:
 *     1 loop forwarded 2000 lines of 20 clients
 *
 * Run: 93-line-proxy 4
 * Time: wall 0 s
 * Output:
 *     4 loops forwarded 2000 lines of 20 clients
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/eddy.h"

enum { CLIENTS = 20, LINES = 100, LINE_BYTES_MAX = 512, LOOPS_MAX = 16 };

struct ports {
        uint16_t server, proxy;
};

struct proxy {
        eddy_channel *ports;  /* for each loop but the first */
        eddy_channel *counts; /* lines of a connection; 0: a loop listens */
        eddy_channel *stop;   /* shut down at the end */
        uint32_t lines;       /* forwarded */
};

static struct proxy proxy;

/* Write a line, and take the line that answers it. */
static int ask(eddy_stream *stream, eddy_reader *reader, const char *line, size_t bytes,
               char **ret_line, size_t *ret_bytes)
{
        struct eddy_slice slices[] = { { line, bytes }, { "\n", 1 } };
        int err = eddy_stream_writev(stream, slices, 2);
        int64_t n = err < 0 ? err : eddy_reader_line(reader, ret_line, ret_bytes);

        return n > 0 ? 0 : n == 0 ? -EPIPE : (int) n;
}

/* The server that the proxy forwards to: answers each line in capitals. */
static int shout(eddy_stream *stream, void *arg)
{
        char buf[LINE_BYTES_MAX], *line;
        eddy_reader reader;
        size_t bytes;
        int err = 0;

        (void) arg;
        eddy_reader_init(&reader, stream, buf, sizeof(buf));
        while (err == 0 && eddy_reader_line(&reader, &line, &bytes) > 0) {
                for (size_t i = 0; i < bytes; i++)
                        line[i] = (char) toupper((unsigned char) line[i]);
                line[bytes] = '\n'; /* the place of the line's end */
                err = eddy_stream_write(stream, line, bytes + 1);
        }
        eddy_stream_close(stream);
        return err;
}

/* Forward the lines of a client, and the answers. A line that is too long ends the connection. */
static int forward(eddy_stream *client, void *arg)
{
        const struct ports *ports = arg;
        EDDY_AUTO(eddy_stream) eddy_stream *server = NULL;
        char client_buf[LINE_BYTES_MAX], server_buf[LINE_BYTES_MAX], *line;
        eddy_reader from_client, from_server;
        uint32_t count = 0;
        size_t bytes;
        int err = eddy_tcp_connect("127.0.0.1", ports->server, NULL, &server);

        eddy_reader_init(&from_client, client, client_buf, sizeof(client_buf));
        eddy_reader_init(&from_server, server, server_buf, sizeof(server_buf));
        while (err == 0 && eddy_reader_line(&from_client, &line, &bytes) > 0) {
                err = ask(server, &from_server, line, bytes, &line, &bytes);
                if (err == 0) {
                        line[bytes] = '\n';
                        err = eddy_stream_write(client, line, bytes + 1);
                }
                count += err == 0;
        }
        eddy_stream_close(client);
        return eddy_channel_put(proxy.counts, &count);
}

static int run_client(void *arg)
{
        const struct ports *ports = arg;
        EDDY_AUTO(eddy_stream) eddy_stream *stream = NULL;
        char buf[LINE_BYTES_MAX], *line;
        eddy_reader reader;
        size_t bytes;
        int err = eddy_tcp_connect("127.0.0.1", ports->proxy, NULL, &stream);

        eddy_reader_init(&reader, stream, buf, sizeof(buf));
        for (int i = 0; i < LINES && err == 0; i++) {
                err = ask(stream, &reader, "hello", 5, &line, &bytes);
                if (err == 0 && (bytes != 5 || memcmp(line, "HELLO", 5) != 0))
                        err = -EPROTO;
        }
        return err;
}

/* On the first loop: run the clients when all loops listen, and add up the counts. */
static int run_clients(struct ports *ports)
{
        eddy_scope scope;
        uint32_t count;
        int err = 0;

        for (uint32_t i = 0; i < eddy_run_count() && err == 0; i++)
                err = eddy_channel_get(proxy.counts, &count);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < CLIENTS && err == 0; i++)
                err = eddy_scope_start(&scope, run_client, ports);
        for (int i = 0; i < CLIENTS && err == 0; i++) {
                err = eddy_channel_get(proxy.counts, &count);
                proxy.lines += count;
        }
        return eddy_scope_end_with(&scope, err);
}

struct service {
        eddy_listener *listener;
        eddy_serve_fn *fn;
        void *arg;
};

static int serve(void *arg)
{
        const struct service *service = arg;

        return eddy_serve(service->listener, NULL, service->fn, service->arg);
}

/* Serve until the work is done. */
static int serve_until_end(eddy_listener *listener, eddy_listener *server, struct ports *ports)
{
        struct service forwards = { listener, forward, ports }, shouts = { server, shout, NULL };
        const uint32_t listening = 0;
        char none[sizeof(void *)];
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        err = eddy_scope_start(&scope, serve, &forwards);
        if (err == 0 && server)
                err = eddy_scope_start(&scope, serve, &shouts);
        if (err == 0)
                err = eddy_channel_put(proxy.counts, &listening);
        if (err == 0 && server)
                err = run_clients(ports);
        else if (err == 0)
                err = eddy_channel_get(proxy.stop, none);
        eddy_channel_shutdown(proxy.stop);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        return err == -EPIPE ? 0 : err;
}

/* The main task of each loop. */
static int run(void *arg)
{
        struct eddy_tcp_listen_opts shared = { .reuse_port = true };
        EDDY_AUTO(eddy_listener) eddy_listener *listener = NULL;
        EDDY_AUTO(eddy_listener) eddy_listener *server = NULL;
        struct ports ports = { 0 };
        bool is_first = eddy_run_index() == 0;
        int err;

        (void) arg;
        err = is_first ? eddy_tcp_listen("127.0.0.1", 0, NULL, &server)
                       : eddy_channel_get(proxy.ports, &ports);
        if (err == 0)
                err = eddy_tcp_listen("127.0.0.1", ports.proxy, &shared, &listener);
        if (err < 0)
                return err;
        if (is_first)
                ports = (struct ports){ eddy_listener_port(server), eddy_listener_port(listener) };
        for (uint32_t i = 1; i < eddy_run_count() && is_first && err == 0; i++)
                err = eddy_channel_put(proxy.ports, &ports);
        return err < 0 ? err : serve_until_end(listener, server, &ports);
}

int main(int argc, char **argv)
{
        long loops = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
        int err;

        if (loops < 1 || loops > LOOPS_MAX) {
                fprintf(stderr, "usage: 93-line-proxy LOOPS (1 to %d)\n", LOOPS_MAX);
                return 2;
        }
        err = eddy_channel_new(sizeof(struct ports), LOOPS_MAX, &proxy.ports);
        if (err == 0)
                err = eddy_channel_new(sizeof(uint32_t), LOOPS_MAX, &proxy.counts);
        if (err == 0)
                err = eddy_channel_new(0, 1, &proxy.stop);
        if (err == 0)
                err = eddy_run_many((uint32_t) loops, run, NULL);
        if (err == 0)
                printf("%ld loop%s forwarded %u lines of %d clients\n", loops, loops > 1 ? "s" : "",
                       (unsigned) proxy.lines, CLIENTS);
        else
                fprintf(stderr, "93-line-proxy: %s\n", eddy_error_text(err));
        eddy_channel_release(proxy.ports);
        eddy_channel_release(proxy.counts);
        eddy_channel_release(proxy.stop);
        return err < 0;
}
