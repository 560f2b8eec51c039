/*
 * 14-page-sizes - two pages at once, and how long each is.
 *
 * Both `Run` lines come first, because both requests are in progress together; then each answer is
 * printed as it comes.  eddy_gather() waits for all calls.
 *
 * The first failure cancels the other requests: no answer, a status of 400 or more, or a page that
 * is not complete within five seconds.  The client's total_ns covers the whole page, not only the
 * head of the response.
 *
 * Run: 14-page-sizes $MOCK/delay/0.3 $MOCK/bytes/5000
 * Time: wall 0.3 s
 * Output:
 *     Run $MOCK/delay/0.3
 *     Run $MOCK/bytes/5000
 *     $MOCK/bytes/5000: 5000 bytes
 *     $MOCK/delay/0.3: 17 bytes
 *
 * Run: 14-page-sizes $MOCK/delay/9 $MOCK/status/404
 * Exit: 1
 * Time: wall 0 to 5 s
 * Output:
 *     Run $MOCK/delay/9
 *     Run $MOCK/status/404
 *
 * Run: 14-page-sizes $MOCK/slow-body/10
 * Exit: 1
 * Time: wall 5 to 9 s
 * Output:
 *     Run $MOCK/slow-body/10
 */
#include <stdio.h>

#include "eddy/eddy.h"

enum { URLS_MAX = 16 };

struct page {
        eddy_http_client *client;
        const char *url;
        int status; /* 0 without an answer */
};

struct pages {
        struct page list[URLS_MAX];
        struct eddy_call calls[URLS_MAX];
        size_t n;
};

static int call_url(void *arg)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct page *page = arg;
        struct eddy_http_request request = { .url = page->url };
        const void *text;
        size_t bytes;
        int err;

        printf("Run %s\n", page->url);
        err = eddy_http_client_send(page->client, &request, &response);
        if (err < 0)
                return err;
        page->status = eddy_http_response_status(response);
        if (page->status >= 400)
                return -EPROTO;
        err = eddy_http_response_body(response, &text, &bytes);
        if (err == 0)
                printf("%s: %zu bytes\n", page->url, bytes);
        return err;
}

static int call_all(void *arg)
{
        struct eddy_http_client_opts opts = { .timeouts = { .total_ns = EDDY_SEC(5) } };
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        struct pages *pages = arg;
        int err = eddy_http_client_new(&opts, &client);

        if (err < 0)
                return err;
        for (size_t i = 0; i < pages->n; i++) {
                pages->list[i].client = client;
                pages->calls[i] = EDDY_CALL(call_url, &pages->list[i]);
        }
        return eddy_gather(pages->calls, pages->n, 0);
}

/* Prints which page failed and why. */
static int fail(const struct pages *pages, int err)
{
        const char *why = err == -ECANCELED ? "stopped by Ctrl-C" : eddy_error_text(err);
        char status[32];
        size_t i = 0;

        while (i + 1 < pages->n && pages->calls[i].result != err)
                i++;
        if (pages->list[i].status >= 400) {
                snprintf(status, sizeof(status), "HTTP status %d", pages->list[i].status);
                why = status;
        }
        fflush(stdout);
        fprintf(stderr, "14-page-sizes: %s: %s\n", pages->list[i].url, why);
        return err == -ECANCELED ? 130 : 1;
}

int main(int argc, char **argv)
{
        struct pages pages = { .n = argc > 0 ? (size_t) argc - 1 : 0 };
        int err;

        if (pages.n < 1 || pages.n > URLS_MAX) {
                fputs("14-page-sizes: give 1 to 16 URLs (usage: 14-page-sizes URL ...)\n", stderr);
                return 1;
        }
        for (size_t i = 0; i < pages.n; i++)
                pages.list[i].url = argv[i + 1];
        err = eddy_run(call_all, &pages, NULL);
        return err < 0 ? fail(&pages, err) : 0;
}
