/*
 * 65-send-file - a file as the body of a request and of a response.
 *
 * The server saves the body of a PUT as a file and answers a GET with the file; the client
 * sends a file and gets it back.  Server and client send the file in pieces, so a large
 * file needs little memory.  A server limits bodies to 16 MiB unless 'body_bytes_max' allows more.
 * The client gives up if no byte is sent or received for ten seconds.
 *
 * Run: d=$(mktemp -d); seq 100000 >$d/from; 65-send-file $d/from $d/to; cmp $d/from $d/to; rm -r $d
 * Time: wall 0 s
 * Output:
 *     PUT 204, 0 bytes
 *     GET 200, 588895 bytes
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/eddy.h"

enum {
        BUF_BYTES = 64 * 1024,
        FOR_WRITING = EDDY_FILE_WRITE | EDDY_FILE_CREATE | EDDY_FILE_TRUNCATE,
};

static char failure[400]; /* for main() */

struct app {
        const char *from, *to;
        eddy_listener *listener;
};

static int save_body(eddy_http_exchange *exchange, const char *path)
{
        EDDY_AUTO(eddy_file) eddy_file *file = NULL;
        char *buf = malloc(BUF_BYTES);
        int64_t n;
        int err = !buf ? -ENOMEM : eddy_file_open(path, FOR_WRITING, 0, &file);

        while (err == 0 && (n = eddy_http_exchange_read(exchange, buf, BUF_BYTES)) != 0)
                err = n < 0 ? (int) n : eddy_file_write(file, buf, (size_t) n);
        free(buf);
        return err < 0 ? err : eddy_http_exchange_respond(exchange, 204, NULL, 0, NULL, 0);
}

static int handle(eddy_http_exchange *exchange, void *arg)
{
        EDDY_AUTO(eddy_file) eddy_file *file = NULL;
        const struct app *app = arg;
        int err;

        if (strcmp(eddy_http_exchange_method(exchange), "PUT") == 0)
                return save_body(exchange, app->to);
        err = eddy_file_open(app->to, EDDY_FILE_READ, 0, &file);
        if (err == -ENOENT)
                return 0; /* 404 */
        if (err < 0)
                return err; /* 500 */
        return eddy_http_exchange_respond_file(exchange, 200, NULL, 0, file, 0,
                                               EDDY_HTTP_FILE_REST);
}

static int serve(void *arg)
{
        const struct app *app = arg;

        return eddy_http_serve(app->listener, NULL, handle, arg);
}

static int send_request(eddy_http_client *client, const struct eddy_http_request *request)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        const void *body;
        size_t bytes;
        int err = eddy_http_client_send(client, request, &response);

        if (err == 0)
                err = eddy_http_response_body(response, &body, &bytes);
        if (err < 0)
                return err;
        if (eddy_http_response_status(response) >= 400) {
                snprintf(failure, sizeof(failure), "%s: status %d", request->method,
                         eddy_http_response_status(response));
                return -EPROTO;
        }
        printf("%s %d, %zu bytes\n", request->method, eddy_http_response_status(response), bytes);
        return 0;
}

static int send_and_get(const struct app *app)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        EDDY_AUTO(eddy_file) eddy_file *file = NULL;
        struct eddy_http_file_body body;
        char url[64];
        int err = eddy_http_client_new(
                &(struct eddy_http_client_opts){ .timeouts.read_ns = EDDY_SEC(10) }, &client);

        snprintf(url, sizeof(url), "http://127.0.0.1:%u/", eddy_listener_port(app->listener));
        if (err == 0)
                err = eddy_file_open(app->from, EDDY_FILE_READ, 0, &file);
        if (err == 0)
                err = eddy_http_file_body_init(&body, file, 0, EDDY_HTTP_FILE_REST);
        if (err < 0)
                snprintf(failure, sizeof(failure), "%s: %s", app->from, eddy_error_text(err));
        if (err == 0)
                err = send_request(
                        client, &(struct eddy_http_request){
                                        .method = "PUT", .url = url, .body_source = &body.source });
        if (err == 0)
                err = send_request(client,
                                   &(struct eddy_http_request){ .method = "GET", .url = url });
        return err;
}

static int run(void *arg)
{
        struct app *app = arg;
        eddy_scope scope;
        int err = eddy_tcp_listen("127.0.0.1", 0, NULL, &app->listener);

        if (err < 0)
                return err;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve, app);
        err = send_and_get(app);
        eddy_scope_cancel(&scope);
        err = eddy_scope_end_with(&scope, err);
        eddy_listener_close(app->listener);
        return err;
}

int main(int argc, char **argv)
{
        struct app app = { .from = argv[1], .to = argc == 3 ? argv[2] : NULL };
        int err = argc == 3 ? eddy_run(run, &app, NULL) : -EINVAL;
        const char *reason = argc != 3
                                     ? "two names of files are needed (usage: 65-send-file FROM TO)"
                             : failure[0]        ? failure
                             : err == -ECANCELED ? "stopped by Ctrl-C"
                                                 : eddy_error_text(err);

        if (err < 0)
                fprintf(stderr, "65-send-file: %s\n", reason);
        return err == -ECANCELED ? 130 : err < 0;
}
