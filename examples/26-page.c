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
 *
 * Run: 26-page $MOCK/stream/3
 * Time: wall 0 s
 * Output:
 *     {"line":0}
 *     {"line":1}
 *     {"line":2}
 *     ...
 *
 * Run: 26-page $MOCK/status/404
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *
 * Run: 26-page $MOCK/slow-body/10
 * Exit: 1
 * Time: wall 5 to 9 s
 * Output:
 *
 * Run: 26-page $MOCK/status/404 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     26-page: $MOCK/status/404: HTTP status 404
 *
 * Run: 26-page $MOCK/slow-body/10 2>&1
 * Exit: 1
 * Time: wall 5 s
 * Output:
 *     26-page: $MOCK/slow-body/10: the request was not complete within its time
 *
 * Run: 26-page http://127.0.0.1:1/ 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     26-page: http://127.0.0.1:1/: Connection refused
 *
 * Run: timeout --foreground --preserve-status -s INT 1 26-page $MOCK/slow-body/10 2>&1
 * Exit: 130
 * Time: wall 1 s
 * Output:
 *     26-page: $MOCK/slow-body/10: stopped by Ctrl-C
 *
 * Run: 26-page 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     26-page: give one URL (usage: 26-page URL)
 */
#include <stdio.h>

#include "eddy/eddy.h"

struct page {
        const char *url;
        int status; /* 0 without an answer */
};

static int print_page(void *arg)
{
        struct eddy_http_client_opts opts = { .timeouts = { .total_ns = EDDY_SEC(5) } };
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct page *page = arg;
        struct eddy_http_request request = { .url = page->url };
        const void *text;
        size_t bytes;
        int err = eddy_http_client_new(&opts, &client);

        if (err == 0)
                err = eddy_http_client_send(client, &request, &response);
        if (err < 0)
                return err;
        page->status = eddy_http_response_status(response);
        if (page->status >= 400)
                return -EPROTO;
        err = eddy_http_response_body(response, &text, &bytes);
        if (err < 0)
                return err;
        return fwrite(text, 1, bytes, stdout) == bytes && putchar('\n') != EOF ? 0 : -EIO;
}

static int fail(const struct page *page, int err)
{
        const char *why = err == -ECANCELED ? "stopped by Ctrl-C" : eddy_error_text(err);
        char status[32];

        if (page->status >= 400) {
                snprintf(status, sizeof(status), "HTTP status %d", page->status);
                why = status;
        }
        fprintf(stderr, "26-page: %s: %s\n", page->url, why);
        return err == -ECANCELED ? 130 : 1;
}

int main(int argc, char **argv)
{
        struct page page = { .url = argc == 2 ? argv[1] : NULL };
        int err;

        if (!page.url) {
                fputs("26-page: give one URL (usage: 26-page URL)\n", stderr);
                return 1;
        }
        err = eddy_run(print_page, &page, NULL);
        return err < 0 ? fail(&page, err) : 0;
}
