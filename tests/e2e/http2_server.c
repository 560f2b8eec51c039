/*
 * http2_server.c - a server of HTTP/2, for clients of others.
 *
 *     http2_server shared            HTTP/1 and HTTP/2 on a port without TLS
 *     http2_server only              HTTP/2 alone, without TLS
 *     http2_server tls CERT KEY      both with TLS
 *
 * The first line of output has the port, which the environment variable PORT may give. The last, after
 * SIGTERM, has the counters.
 *
 *     /           "hello\n"; a POST is read first
 *     /echo       the body goes back as it comes
 *     /parts      hints, pieces and a trailer
 *     /sent       the body is read; the answer is its number of bytes, and its trailer X-Sum
 *     /save       the body becomes the file in the environment variable SAVE
 *     /paced      a line, and another one when the file in the environment variable GO exists
 *     /wait       an answer after ten seconds
 *     /file       the file in the environment variable FILE
 *     /events     events without an end
 *     /large      ten million bytes, which are in memory
 *     /held       the bytes of memory that eddy's allocator has given out, and the most since the last question
 */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/eddy.h"

enum { PIECE_BYTES = 16 << 10, LARGE_BYTES = 10000000 };

static struct eddy_http2_server_stats stats;

static size_t held, held_most;

static void note_held(size_t bytes)
{
        size_t now = __atomic_add_fetch(&held, bytes, __ATOMIC_RELAXED);

        if (now > __atomic_load_n(&held_most, __ATOMIC_RELAXED))
                __atomic_store_n(&held_most, now, __ATOMIC_RELAXED);
}

static void *count_held(void *ctx, void *ptr, size_t bytes)
{
        (void) ctx;
        __atomic_fetch_sub(&held, malloc_usable_size(ptr), __ATOMIC_RELAXED);
        if (bytes == 0) {
                free(ptr);
                return NULL;
        }
        ptr = realloc(ptr, bytes);
        if (!ptr)
                abort();
        note_held(malloc_usable_size(ptr));
        return ptr;
}

static int send_held(eddy_http_exchange *exchange)
{
        size_t now = __atomic_load_n(&held, __ATOMIC_RELAXED);
        char text[64];

        snprintf(text, sizeof(text), "%zu %zu\n", now,
                 __atomic_exchange_n(&held_most, now, __ATOMIC_RELAXED));
        return eddy_http_exchange_respond_text(exchange, 200, text);
}

static int echo(eddy_http_exchange *exchange)
{
        char buf[PIECE_BYTES];
        int64_t n = 0;
        int err = eddy_http_exchange_begin(exchange, 200, NULL, 0, -1);

        while (err == 0 && (n = eddy_http_exchange_read(exchange, buf, sizeof(buf))) > 0)
                err = eddy_http_exchange_write(exchange, buf, (size_t) n);
        if (err < 0 || n < 0)
                return err < 0 ? err : (int) n;
        return eddy_http_exchange_end(exchange);
}

static int parts(eddy_http_exchange *exchange)
{
        static const struct eddy_http_header hint = { "Link", "</style.css>; rel=preload" };
        static const struct eddy_http_header named = { "Trailer", "X-Sum" };
        int err = eddy_http_exchange_early_hints(exchange, &hint, 1);

        if (err == 0)
                err = eddy_http_exchange_begin(exchange, 200, &named, 1, -1);
        for (int i = 0; i < 3 && err == 0; i++) {
                err = eddy_http_exchange_write(exchange, "part\n", 5);
                if (err == 0)
                        err = eddy_sleep(EDDY_MS(1));
        }
        if (err == 0)
                err = eddy_http_exchange_add_trailer(exchange, "X-Sum", "3");
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

static int say_sent(eddy_http_exchange *exchange)
{
        char text[64];
        const char *sum;
        const void *body;
        size_t bytes;
        int err = eddy_http_exchange_body(exchange, &body, &bytes);

        if (err < 0)
                return err;
        sum = eddy_http_exchange_trailer(exchange, "X-Sum");
        snprintf(text, sizeof(text), "%zu %s", bytes, sum ? sum : "none");
        return eddy_http_exchange_respond_text(exchange, 200, text);
}

static int save(eddy_http_exchange *exchange)
{
        char buf[PIECE_BYTES];
        eddy_file *file;
        int64_t n = 0;
        int err = eddy_file_open(getenv("SAVE"), EDDY_FILE_WRITE | EDDY_FILE_CREATE, 0600, &file);

        if (err < 0)
                return err;
        while (err == 0 && (n = eddy_http_exchange_read(exchange, buf, sizeof(buf))) > 0)
                err = eddy_file_write(file, buf, (size_t) n);
        eddy_file_close(file);
        if (err < 0 || n < 0)
                return err < 0 ? err : (int) n;
        return eddy_http_exchange_respond_text(exchange, 200, "saved\n");
}

static int write_paced(eddy_http_exchange *exchange)
{
        struct eddy_file_info info;
        int err = eddy_http_exchange_begin(exchange, 200, NULL, 0, -1);

        if (err == 0)
                err = eddy_http_exchange_write(exchange, "first\n", 6);
        while (err == 0 && eddy_path_stat(getenv("GO"), 0, &info) == -ENOENT)
                err = eddy_sleep(EDDY_MS(5));
        if (err == 0)
                err = eddy_http_exchange_write(exchange, "last\n", 5);
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

static int events(eddy_http_exchange *exchange)
{
        int err = eddy_http_exchange_begin(exchange, 200, NULL, 0, -1);

        while (err == 0) {
                err = eddy_http_exchange_write(exchange, "data: x\n\n", 9);
                if (err == 0)
                        err = eddy_sleep(EDDY_MS(10));
        }
        return err;
}

static int send_large(eddy_http_exchange *exchange)
{
        static const char piece[PIECE_BYTES];
        int64_t left = LARGE_BYTES;
        int err = eddy_http_exchange_begin(exchange, 200, NULL, 0, left);

        while (err == 0 && left > 0) {
                size_t bytes = left < PIECE_BYTES ? (size_t) left : PIECE_BYTES;

                err = eddy_http_exchange_write(exchange, piece, bytes);
                left -= (int64_t) bytes;
        }
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

static int send_file(eddy_http_exchange *exchange)
{
        struct eddy_file_info info;
        eddy_file *file;
        int err = eddy_file_open(getenv("FILE"), EDDY_FILE_READ, 0, &file);

        if (err < 0)
                return err;
        err = eddy_file_stat(file, &info);
        if (err == 0)
                err = eddy_http_exchange_respond_file(exchange, 200, NULL, 0, file, 0,
                                                      (uint64_t) info.bytes);
        eddy_file_close(file);
        return err;
}

static int handle(eddy_http_exchange *exchange, void *arg)
{
        const char *path = eddy_http_exchange_path(exchange);
        const void *body;
        size_t bytes;
        int err = 0;

        (void) arg;
        if (strcmp(path, "/echo") == 0)
                return echo(exchange);
        if (strcmp(path, "/parts") == 0)
                return parts(exchange);
        if (strcmp(path, "/sent") == 0)
                return say_sent(exchange);
        if (strcmp(path, "/save") == 0)
                return save(exchange);
        if (strcmp(path, "/paced") == 0)
                return write_paced(exchange);
        if (strcmp(path, "/events") == 0)
                return events(exchange);
        if (strcmp(path, "/large") == 0)
                return send_large(exchange);
        if (strcmp(path, "/held") == 0)
                return send_held(exchange);
        if (strcmp(path, "/file") == 0)
                return send_file(exchange);
        if (strcmp(path, "/wait") == 0)
                err = eddy_sleep(EDDY_SEC(10));
        else if (strcmp(eddy_http_exchange_method(exchange), "POST") == 0)
                err = eddy_http_exchange_body(exchange, &body, &bytes);
        return err < 0 ? err : eddy_http_exchange_respond_text(exchange, 200, "hello\n");
}

static int serve(void *arg)
{
        char **words = arg;
        const struct eddy_http2_server_opts http2 = { .stats = &stats };
        struct eddy_http_server_opts opts = { .http2 = &http2,
                                              .body_bytes_max = UINT64_MAX,
                                              .drain_ns = EDDY_MIN(1) };
        const char *port = getenv("PORT");
        eddy_tls_config *tls = NULL;
        eddy_listener *listener;
        int err = 0;

        if (strcmp(words[1], "only") == 0)
                opts.flags = EDDY_HTTP_SERVER_HTTP2_ONLY;
        if (strcmp(words[1], "tls") == 0)
                err = eddy_tls_config_new(&(struct eddy_tls_opts){ .flags = EDDY_TLS_SERVER,
                                                                   .cert_file = words[2],
                                                                   .key_file = words[3] },
                                          NULL, &tls);
        opts.tls = tls;
        if (err == 0)
                err = eddy_tcp_listen("127.0.0.1", port ? (uint16_t) strtoul(port, NULL, 10) : 0,
                                      NULL, &listener);
        if (err < 0)
                return err;
        printf("%u\n", eddy_listener_port(listener));
        fflush(stdout);
        err = eddy_http_serve(listener, &opts, handle, NULL);
        eddy_listener_close(listener);
        eddy_tls_config_close(tls);
        printf("open=%" PRIu64 " streams=%" PRIu64 " resets=%" PRIu64 " refused=%" PRIu64 "\n",
               stats.open, stats.streams, stats.resets, stats.refused);
        return err == -ECANCELED ? 0 : err;
}

int main(int argc, char **argv)
{
        if (argc < 2)
                return 2;
        eddy_alloc_set(count_held, NULL);
        return eddy_run(serve, argv, NULL) < 0;
}
