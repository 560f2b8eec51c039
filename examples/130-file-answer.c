/*
 * 130-file-answer - an HTTP server that answers with a file.
 *
 * The file is read and sent in pieces, so a large file needs little memory, and other requests are
 * handled meanwhile.  The path comes from the program, so a client cannot ask for another file.
 * 65-send-file also saves the body of a request as a file.
 *
 *     130-file-answer FILE [ADDRESS:PORT]
 *
 * Run: d=$(mktemp -d); seq 1000000 >$d/report; sh -c 'echo $$; exec 130-file-answer $0 127.0.0.1:0' $d/report | { read P; read U; get() { curl -sw '%{http_code} %{content_type}\n' $U/report "$@"; }; get -o $d/got; cmp $d/report $d/got; get -o $d/got & get -o $d/got.2; wait; cat $d/got $d/got.2 | wc -c; rm $d/report; get -o /dev/null -w '%{http_code}\n'; kill $P; }; rm -r $d
 * Time: wall 0 s
 * Output:
 *     200 text/plain
 *     200 text/plain
 *     200 text/plain
 *     13777792
 *     404
 */
#include <stdio.h>

#include "eddy/eddy.h"

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

static int serve(eddy_http_router *router, void *path)
{
        eddy_http_router_add(router, "GET /report", send_report, path, NULL);
        puts(eddy_http_run_url(router));
        fflush(stdout);
        return eddy_http_run_serve(router, NULL);
}

int main(int argc, char **argv)
{
        const struct eddy_http_run_opts opts = { .listen = argc > 2 ? argv[2] : "127.0.0.1:8080" };

        return argc < 2 || eddy_http_run(&opts, serve, argv[1]) < 0;
}
