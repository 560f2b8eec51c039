/*
 * 26-page - the smallest client: get a page and print it.
 *
 * The page is printed when all of it has arrived.  A page that is not complete within five seconds
 * is a failure, and so is a status of 400 or more; then nothing is printed on stdout.
 *
 * The client, the response and the page are released on every way out.  For more than one request,
 * keep the client: example 12.
 *
 * Run: 26-page $MOCK/bytes/26
 * Time: wall 0 s
 * Output:
 *     abcdefghijklmnopqrstuvwxyz
 * Run: 26-page $MOCK/stream/3
 * Time: wall 0 s
 * Output:
 *     {"line":0}
 *     {"line":1}
 *     {"line":2}
 *     ...
 * Run: 26-page $MOCK/status/404
 * Exit: 1
 * Time: wall 0 s
 * Output:
 * Run: 26-page $MOCK/slow-body/10
 * Exit: 1
 * Time: wall 5 to 9 s
 * Output:
 */
#include <stdio.h>

#include "eddy/eddy.h"

static struct eddy_http_fault fault; /* has the status of a response that is a failure */

static int print_page(void *url)
{
        struct eddy_http_client_opts opts = { .timeouts.total_ns = EDDY_SEC(5) };
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .url = url,
                                             .flags = EDDY_HTTP_STATUS_IS_ERROR,
                                             .ret_fault = &fault };
        const void *page = NULL;
        size_t bytes = 0;
        int err = eddy_http_client_new(&opts, &client);

        if (err == 0)
                err = eddy_http_client_send(client, &request, &response);
        if (err == 0)
                err = eddy_http_response_body(response, &page, &bytes);
        if (err == 0 && (fwrite(page, 1, bytes, stdout) != bytes || putchar('\n') == EOF))
                err = -EIO;
        return err;
}

int main(int argc, char **argv)
{
        int err;

        if (argc != 2) {
                fputs("26-page: give one URL (usage: 26-page URL)\n", stderr);
                return 1;
        }
        err = eddy_run(print_page, argv[1], NULL);
        if (err == EDDY_E_HTTP_STATUS)
                fprintf(stderr, "26-page: %s: HTTP status %d\n", argv[1], fault.status);
        else if (err < 0)
                fprintf(stderr, "26-page: %s: %s\n", argv[1],
                        err == -ECANCELED ? "stopped by Ctrl-C" : eddy_error_text(err));
        return err == -ECANCELED ? 130 : err < 0;
}
