/*
 * 130-file-answer - an HTTP server that answers with a file.
 *
 * The file is read and sent in pieces, so a large file needs little memory, and other requests are
 * handled meanwhile.  The path comes from the program, so a client cannot ask for another file.
 * 65-send-file also saves the body of a request as a file.
 *
 *     130-file-answer FILE [PORT]
 *
 * Run: d=$(mktemp -d); seq 1000000 >$d/report; sh -c 'echo $$; exec 130-file-answer $0' $d/report | { read P; read U; get() { curl -sw '%{http_code} %{content_type}\n' $U/report "$@"; }; get -o $d/got; cmp $d/report $d/got; get -o $d/got & get -o $d/got.2; wait; cat $d/got $d/got.2 | wc -c; rm $d/report; get -o /dev/null -w '%{http_code}\n'; kill $P; }; rm -r $d
 * Time: wall 0 s
 * Output:
 *     200 text/plain
 *     200 text/plain
 *     200 text/plain
 *     13777792
 *     404
 */
#include <stdio.h>
#include <stdlib.h>

#include "eddy/eddy.h"

static uint16_t port;

static int send_report(eddy_http_exchange *exchange, void *path)
{
        static const struct eddy_http_header type = { "Content-Type", "text/plain" };
        EDDY_AUTO(eddy_file) eddy_file *file = NULL;
        int err = eddy_file_open(path, EDDY_FILE_READ, 0, &file);

        if (err == -ENOENT)
                return eddy_http_exchange_fail(exchange, 404, "there is no report today");
        if (err < 0)
                return err; /* 500 */
        return eddy_http_exchange_respond_file(exchange, 200, &type, 1, file, 0,
                                               EDDY_HTTP_FILE_REST);
}

static int serve(void *path)
{
        EDDY_AUTO(eddy_listener) eddy_listener *listener = NULL;
        EDDY_AUTO(eddy_http_router) eddy_http_router *router = NULL;
        int err = eddy_tcp_listen("127.0.0.1", port, NULL, &listener);

        if (err == 0)
                err = eddy_http_router_new(&router);
        if (err < 0)
                return err;
        eddy_http_router_add(router, "GET /report", send_report, path, NULL);
        printf("http://127.0.0.1:%u\n", eddy_listener_port(listener));
        fflush(stdout);
        return eddy_http_serve(listener, NULL, eddy_http_router_handle, router);
}

int main(int argc, char **argv)
{
        int err;

        port = argc > 2 ? (uint16_t) strtoul(argv[2], NULL, 10) : 0;
        err = argc > 1 ? eddy_run(serve, argv[1], NULL) : -EINVAL;
        if (err != -ECANCELED) /* by SIGTERM or Ctrl-C */
                fprintf(stderr, "130-file-answer: %s\n", eddy_error_text(err));
        return err != -ECANCELED;
}
