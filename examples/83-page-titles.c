/*
 * 83-page-titles - the titles of 41 pages, fetched at once through a single client.
 *
 * The client keeps at most ten connections, and 41 requests share them.  Pages arrive in
 * any order, but each request has its own result, so the titles are in the order of the
 * pages.  Each page has five seconds.  If a page fails, the program prints no titles.
 *
 * Without an argument the program answers the requests itself, without sockets, each
 * after 0.1 to 0.3 seconds; one by one they would take 8.1 seconds.  An argument is the
 * URL of another site's pages without the number.
 *
 * Run: 83-page-titles
 * Time: wall 0.8 to 5 s
 * Output: 83-page-titles.txt
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/eddy.h"

enum { FIRST = 6100, PAGES = 41, AT_ONCE = 10 };

static char urls[PAGES][300];
static struct eddy_http_request requests[PAGES];
static struct eddy_http_result results[PAGES];

/* The client's option 'handler': answers in place of a site. */
static int answer(eddy_http_exchange *exchange, void *arg)
{
        long number = strtol(eddy_http_exchange_path(exchange) + 1, NULL, 10);
        char text[100];
        int err = eddy_sleep(EDDY_MS(100 + 50 * (number % 5))); /* some pages overtake others */

        (void) arg;
        if (err < 0)
                return err;
        snprintf(text, sizeof(text), "<html><h1>Lesson %ld</h1></html>\n", number);
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, text, strlen(text));
}

/* Returns the text of the first <h1> and stores its length, or NULL. */
static const char *find_title(const char *html, int *ret_bytes)
{
        const char *tag = strstr(html, "<h1");
        const char *from = tag ? strchr(tag, '>') : NULL;
        const char *to = from ? strstr(from, "</h1>") : NULL;

        *ret_bytes = to ? (int) (to - from - 1) : 0;
        return to ? from + 1 : NULL;
}

/* Returns the exit status.  After a failure no title is printed. */
static int show_titles(void)
{
        const char *titles[PAGES], *why;
        int bytes[PAGES];

        for (int i = 0; i < PAGES; i++) {
                titles[i] = results[i].error ? NULL : find_title(results[i].body, &bytes[i]);
                if (titles[i])
                        continue;
                why = results[i].error ? eddy_error_text(results[i].error) : "no title";
                if (results[i].error == EDDY_E_HTTP_STATUS)
                        fprintf(stderr, "83-page-titles: %s: status %d\n", urls[i],
                                results[i].status);
                else
                        fprintf(stderr, "83-page-titles: %s: %s\n", urls[i], why);
                return 1;
        }
        for (int i = 0; i < PAGES; i++)
                printf("%d: %.*s\n", FIRST + i, bytes[i], titles[i]);
        return 0;
}

static int fetch_pages(eddy_http_client *client, const char *prefix)
{
        for (int i = 0; i < PAGES; i++) {
                int n = snprintf(urls[i], sizeof(urls[i]), "%s%d", prefix, FIRST + i);

                if (n >= (int) sizeof(urls[i]))
                        return -ENAMETOOLONG;
                requests[i].url = urls[i];
        }
        return eddy_http_fetch_many(client, requests, PAGES, PAGES, results);
}

static int run(void *prefix)
{
        struct eddy_http_client_opts opts = { .connections_max = AT_ONCE,
                                              .timeouts.total_ns = EDDY_SEC(5),
                                              .flags = EDDY_HTTP_STATUS_IS_ERROR,
                                              .handler = prefix ? NULL : answer };
        int64_t start_ns = eddy_now();
        eddy_http_client *client;
        int err = eddy_http_client_new(&opts, &client);

        if (err < 0)
                return err;
        err = fetch_pages(client, prefix ? prefix : "http://lessons.test/");
        if (err != -ECANCELED && err != -ENAMETOOLONG)
                err = show_titles();
        if (err == 0)
                printf("%d pages in %.1f s\n", PAGES, (double) (eddy_now() - start_ns) / 1e9);
        eddy_http_results_fini(results, PAGES);
        eddy_http_client_close(client);
        return err;
}

int main(int argc, char **argv)
{
        int status = eddy_run(run, argc > 1 ? argv[1] : NULL, NULL);

        if (status < 0)
                fprintf(stderr, "83-page-titles: %s\n",
                        status == -ECANCELED ? "stopped by Ctrl-C" : eddy_error_text(status));
        return status == -ECANCELED ? 130 : status != 0;
}
