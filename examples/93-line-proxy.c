/*
 * 93-line-proxy - a proxy of a line protocol on several loops, with its server and its clients.
 *
 * Each loop has a thread and a listener of its own. The listeners share a port, and the kernel
 * distributes the connections. A connection and its tasks stay on their loop, and each loop counts
 * its own lines, so the proxy needs no lock. A channel carries messages between the loops: the
 * first loop sends the ports to the others. SIGTERM ends all loops. Here the first loop also runs
 * the server that the proxy forwards to, and the clients, and then raises SIGTERM itself.
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
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/eddy.h"

enum { CLIENTS = 20, LINES = 100, LINE_BYTES_MAX = 512, LOOPS_MAX = 16 };

struct ports {
        uint16_t server, proxy;
};

/* The data of a loop, which only its own thread uses during the run. */
struct loop {
        struct ports ports;
        uint32_t lines; /* forwarded */
};

static struct loop loops[LOOPS_MAX];
static eddy_channel *ports_for_loops;

/* Write a line, and read the line that answers it. */
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

static int serve_shouts(void *listener)
{
        return eddy_serve(listener, NULL, shout, NULL);
}

/* Forward the lines of a client, and the answers. A line that is too long ends the connection. */
static int forward(eddy_stream *client, void *arg)
{
        struct loop *loop = arg;
        EDDY_AUTO(eddy_stream) eddy_stream *server = NULL;
        char client_buf[LINE_BYTES_MAX], server_buf[LINE_BYTES_MAX], *line;
        eddy_reader from_client, from_server;
        size_t bytes;
        int err = eddy_tcp_connect("127.0.0.1", loop->ports.server, NULL, &server);

        eddy_reader_init(&from_client, client, client_buf, sizeof(client_buf));
        eddy_reader_init(&from_server, server, server_buf, sizeof(server_buf));
        while (err == 0 && eddy_reader_line(&from_client, &line, &bytes) > 0) {
                err = ask(server, &from_server, line, bytes, &line, &bytes);
                if (err == 0) {
                        line[bytes] = '\n';
                        err = eddy_stream_write(client, line, bytes + 1);
                }
                loop->lines += err == 0;
        }
        eddy_stream_close(client);
        return err;
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

/* Run the clients, and then stop all loops. */
static int run_clients(void *ports)
{
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < CLIENTS; i++)
                eddy_scope_start(&scope, run_client, ports);
        err = eddy_scope_end(&scope);
        if (err == 0)
                raise(SIGTERM);
        return err;
}

/* The main task of each loop. */
static int run(void *arg)
{
        struct eddy_tcp_listen_opts shared = { .reuse_port = true };
        EDDY_AUTO(eddy_listener) eddy_listener *listener = NULL;
        EDDY_AUTO(eddy_listener) eddy_listener *server = NULL;
        struct loop *loop = &loops[eddy_run_index()];
        bool is_first = eddy_run_index() == 0;
        eddy_scope scope;
        int err;

        (void) arg;
        err = is_first ? eddy_tcp_listen("127.0.0.1", 0, NULL, &server)
                       : eddy_channel_get(ports_for_loops, &loop->ports);
        if (err == 0)
                err = eddy_tcp_listen("127.0.0.1", loop->ports.proxy, &shared, &listener);
        if (err < 0)
                return err;
        eddy_scope_begin(&scope, NULL);
        if (is_first) {
                loop->ports.server = eddy_listener_port(server);
                loop->ports.proxy = eddy_listener_port(listener);
                for (uint32_t i = 1; i < eddy_run_count() && err == 0; i++)
                        err = eddy_channel_put(ports_for_loops, &loop->ports);
                eddy_scope_start(&scope, serve_shouts, server);
                eddy_scope_start(&scope, run_clients, &loop->ports);
        }
        if (err == 0)
                err = eddy_serve(listener, NULL, forward, loop);
        return eddy_scope_end_with(&scope, err);
}

int main(int argc, char **argv)
{
        long n = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
        unsigned lines = 0;
        int err;

        if (n < 1 || n > LOOPS_MAX) {
                fprintf(stderr, "usage: 93-line-proxy LOOPS (1 to %d)\n", LOOPS_MAX);
                return 2;
        }
        err = eddy_channel_new(sizeof(struct ports), LOOPS_MAX, &ports_for_loops);
        if (err == 0)
                err = eddy_run_many((uint32_t) n, run, NULL);
        if (err == -ECANCELED && eddy_run_signal() == SIGTERM)
                err = 0;
        for (long i = 0; i < n; i++)
                lines += loops[i].lines;
        if (err == 0)
                printf("%ld loop%s forwarded %u lines of %d clients\n", n, n > 1 ? "s" : "", lines,
                       CLIENTS);
        else
                fprintf(stderr, "93-line-proxy: %s\n", eddy_error_text(err));
        eddy_channel_release(ports_for_loops);
        return err < 0;
}
