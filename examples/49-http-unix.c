/*
 * 49-http-unix - HTTP over a Unix socket, for the processes of one machine and one
 * user.
 *
 * Only the call that listens differs from a server on a port.  The mode of the
 * socket file decides which processes may connect, and `replace_stale` lets the
 * server start again after it was killed.  Closing the listener removes the file.
 * With curl the request would be `curl --unix-socket PATH http://localhost/name`.
 *
 * Run: 49-http-unix
 * Time: wall 0 s
 * Output:
 *     the socket file has mode 600
 *     HTTP/1.1 200 OK
 *     you asked for /name
 *     the file is gone
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eddy/eddy.h"

static char path[64];

static int answer(eddy_http_exchange *exchange, void *arg)
{
        char text[200];

        (void) arg;
        snprintf(text, sizeof(text), "you asked for %s\n", eddy_http_exchange_path(exchange));
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, text, strlen(text));
}

static int serve(void *listener)
{
        return eddy_http_serve(listener, NULL, answer, NULL);
}

/* Send a request, and print the first and the last line of the response. */
static int ask(void)
{
        static const char request[] =
                "GET /name HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        EDDY_AUTO(eddy_stream) eddy_stream *stream = NULL;
        char response[1000];
        size_t bytes = 0;
        int64_t n = eddy_unix_connect(path, NULL, &stream);

        if (n == 0)
                n = eddy_stream_write(stream, request, strlen(request));
        while (n >= 0 && bytes < sizeof(response) - 1) {
                n = eddy_stream_read(stream, response + bytes, sizeof(response) - 1 - bytes);
                if (n <= 0)
                        break;
                bytes += (size_t) n;
        }
        if (n < 0)
                return (int) n;
        response[bytes] = '\0';
        printf("%.*s\n", (int) strcspn(response, "\r\n"), response);
        if (strstr(response, "\r\n\r\n"))
                fputs(strstr(response, "\r\n\r\n") + 4, stdout);
        return 0;
}

static int run(void *arg)
{
        struct eddy_unix_listen_opts opts = { .mode = 0600, .replace_stale = true };
        eddy_listener *listener;
        struct stat file;
        int err = eddy_unix_listen(path, &opts, &listener);

        (void) arg;
        if (err < 0)
                return err;
        if (stat(path, &file) == 0)
                printf("the socket file has mode %o\n", (unsigned) (file.st_mode & 0777));
        EDDY_SCOPE (scope, &err, .timeout_ns = EDDY_SEC(5)) {
                eddy_scope_start(&scope, serve, listener);
                err = ask();
                eddy_scope_cancel(&scope);
        }
        eddy_listener_close(listener);
        puts(access(path, F_OK) == 0 ? "the file is left" : "the file is gone");
        return err;
}

int main(void)
{
        int err;

        snprintf(path, sizeof(path), "/tmp/eddy-example-%ld.sock", (long) getpid());
        err = eddy_run(run, NULL, NULL);
        if (err < 0)
                fprintf(stderr, "49-http-unix: %s: %s\n", path, eddy_error_text(err));
        return err == 0 ? 0 : 1;
}
