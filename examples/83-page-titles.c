/*
 * 83-page-titles - the titles of 41 pages, fetched at once through a single client.
 *
 * The client keeps at most ten connections, and 41 tasks share them: a task whose
 * turn has not come waits for a connection.  Pages arrive in any order, but each
 * task writes into its own struct, so the titles are in the order of the pages.
 * Each page has five seconds; the first failure cancels the other pages.
 *
 * Without an argument the program serves the pages itself, each after 0.1 to 0.3
 * seconds; one by one they would take 8.1 seconds.  An argument is the URL of
 * another site, with %d for the number of the page.
 *
 * Run: 83-page-titles
 * Time: wall 0.8 to 5 s
 * Output: 83-page-titles.txt
 * Run: 83-page-titles $MOCK/status/404?page=%d 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     83-page-titles: $MOCK/status/404?page=<n>: status 404
 * Run: 83-page-titles $MOCK/slow-body/10?page=%d 2>&1
 * Exit: 1
 * Time: wall 5 s
 * Output:
 *     83-page-titles: $MOCK/slow-body/10?page=<n>: the request was not complete within its time
 * Run: 83-page-titles http://127.0.0.1:1/%d 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     83-page-titles: http://127.0.0.1:1/<n>: Connection refused
 * Run: 83-page-titles $MOCK/echo?page=%d 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     83-page-titles: $MOCK/echo?page=<n>: the page has no title
 * Run: 83-page-titles $MOCK/echo 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     83-page-titles: $MOCK/echo: no %d for the number of the page
 * Run: timeout --foreground --preserve-status -s INT 1 83-page-titles $MOCK/delay/10?page=%d 2>&1
 * Exit: 130
 * Time: wall 1 s
 * Output:
 *     83-page-titles: stopped by Ctrl-C
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/eddy.h"

enum { FIRST = 6100, PAGES = 41, AT_ONCE = 10 };

struct page {
        char url[300];
        char title[300];
        int status; /* 0: no response has come */
};

static struct page pages[PAGES];
static char why[400]; /* the failure, as a text */
static eddy_http_client *client;

/* --- a site with such pages --- */

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

static int serve(void *listener)
{
        return eddy_http_serve(listener, NULL, answer, NULL);
}

/* --- its reader --- */

/* Store the text of the first <h1>. */
static int find_title(const char *html, struct page *page)
{
        const char *tag = strstr(html, "<h1");
        const char *from = tag ? strchr(tag, '>') : NULL;
        const char *to = from ? strstr(from, "</h1>") : NULL;

        if (!to || (size_t) (to - from) > sizeof(page->title))
                return -ENODATA;
        snprintf(page->title, sizeof(page->title), "%.*s", (int) (to - from - 1), from + 1);
        return 0;
}

static int fetch(void *arg)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct page *page = arg;
        struct eddy_http_request request = { .url = page->url };
        const void *html;
        size_t bytes;
        int err = eddy_http_client_send(client, &request, &response);

        if (err < 0)
                return err;
        page->status = eddy_http_response_status(response);
        if (page->status != 200)
                return -EPROTO;
        err = eddy_http_response_body(response, &html, &bytes);
        return err < 0 ? err : find_title(html, page);
}

/* Write the URL of each page, the number in the place of %d. */
static int set_urls(const char *pattern)
{
        const char *place = strstr(pattern, "%d");

        if (!place || strlen(pattern) + 10 > sizeof(pages->url)) {
                snprintf(why, sizeof(why), "%.300s: %s", pattern,
                         place ? "too long" : "no %d for the number of the page");
                return -EINVAL;
        }
        for (int i = 0; i < PAGES; i++)
                snprintf(pages[i].url, sizeof(pages[i].url), "%.*s%d%s", (int) (place - pattern),
                         pattern, FIRST + i, place + 2);
        return 0;
}

static void say_why(const struct page *page, int err)
{
        if (err == -EPROTO && page->status != 200)
                snprintf(why, sizeof(why), "%.299s: status %d", page->url, page->status);
        else
                snprintf(why, sizeof(why), "%.299s: %s", page->url,
                         err == -ENODATA ? "the page has no title" : eddy_error_text(err));
}

static int show_titles(const char *pattern)
{
        struct eddy_call calls[PAGES];
        int64_t start_ns = eddy_now();
        int err = set_urls(pattern);

        if (err < 0)
                return err;
        for (int i = 0; i < PAGES; i++)
                calls[i] = EDDY_CALL(fetch, &pages[i]);
        err = eddy_gather(calls, PAGES, 0);
        for (int i = 0; i < PAGES && err < 0 && err != -ECANCELED; i++)
                if (calls[i].result == err)
                        say_why(&pages[i], err);
        if (err < 0)
                return err;
        for (int i = 0; i < PAGES; i++)
                printf("%d: %s\n", FIRST + i, pages[i].title);
        printf("%d pages in %.1f s\n", PAGES, (double) (eddy_now() - start_ns) / 1e9);
        return 0;
}

static int show_own(void)
{
        eddy_listener *listener;
        char pattern[64];
        int err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listener);

        if (err < 0)
                return err;
        snprintf(pattern, sizeof(pattern), "http://127.0.0.1:%u/%%d", eddy_listener_port(listener));
        EDDY_SCOPE (scope, &err) {
                eddy_scope_start(&scope, serve, listener);
                err = show_titles(pattern);
                eddy_scope_cancel(&scope);
        }
        eddy_listener_close(listener);
        return err;
}

static int run(void *pattern)
{
        struct eddy_http_client_opts opts = { .connections_max = AT_ONCE,
                                              .timeouts.total_ns = EDDY_SEC(5) };
        int err = eddy_http_client_new(&opts, &client);

        if (err < 0)
                return err;
        err = pattern ? show_titles(pattern) : show_own();
        eddy_http_client_close(client);
        return err;
}

int main(int argc, char **argv)
{
        int err = argc <= 2 ? eddy_run(run, argv[1], NULL) : -E2BIG;
        int stopped = err == -ECANCELED && eddy_run_signal() == SIGINT;

        if (err < 0)
                fprintf(stderr, "83-page-titles: %s\n",
                        stopped    ? "stopped by Ctrl-C"
                        : argc > 2 ? "too many arguments (usage: 83-page-titles [URL])"
                        : why[0]   ? why
                                   : eddy_error_text(err));
        return err == 0 ? 0 : stopped ? 130 : 1;
}
