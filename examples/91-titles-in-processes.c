/*
 * 91-titles-in-processes - seven titles, fetched by worker processes, in the order of the pages.
 *
 * A worker runs a loop of its own for each page.  eddy_process_pool_map() stores the titles
 * in the order of the items, although pages take different times.  Waiting for a network
 * needs no processes: 83-page-titles fetches 41 pages in one.  Processes are useful if parsing a
 * page takes long, or may crash.
 *
 * The program serves the pages itself.  A worker has what existed at
 * eddy_process_pool_prepare(): the URLs are made later, so each is sent with its item.
 *
 * Run: 91-titles-in-processes
 * Time: wall 0.2 to 30 s
 * Output:
 *     Lesson 6100
 *     Lesson 6101
 *     Lesson 6102
 *     Lesson 6103
 *     Lesson 6104
 *     Lesson 6105
 *     Lesson 6106
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/eddy.h"

enum { FIRST = 6100, PAGES = 7, URL_BYTES = 100, TITLE_BYTES = 100 };

static char urls[PAGES][URL_BYTES], titles[PAGES][TITLE_BYTES];

/* --- a site with such pages --- */

static int answer(eddy_http_exchange *exchange, void *arg)
{
        long number = strtol(eddy_http_exchange_path(exchange) + 1, NULL, 10);
        char text[100];
        int err = eddy_sleep(EDDY_MS(200 - 20 * (number % 7))); /* later pages are ready earlier */

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

/* --- in a worker process --- */

struct page {
        const char *url;
        char title[TITLE_BYTES];
};

static int fetch(void *arg)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct page *page = arg;
        struct eddy_http_request request = { .url = page->url };
        const void *html;
        size_t bytes;
        int err = eddy_http_client_new(NULL, &client);

        if (err == 0)
                err = eddy_http_client_send(client, &request, &response);
        if (err == 0)
                err = eddy_http_response_body(response, &html, &bytes);
        if (err < 0)
                return err;
        return sscanf(html, "<html><h1>%99[^<]", page->title) == 1 ? 0 : -ENODATA;
}

static int title_of(eddy_process_work *work)
{
        struct page page = { .url = eddy_process_work_input(work) };
        int err = eddy_run(fetch, &page, NULL);

        return err < 0 ? err : eddy_process_work_reply(work, page.title, strlen(page.title));
}

/* --- in the parent --- */

static int show_titles(uint16_t port)
{
        EDDY_AUTO(eddy_process_pool) eddy_process_pool *pool = NULL;
        struct eddy_process_map map = { .fn = title_of,
                                        .items = urls,
                                        .item_bytes = URL_BYTES,
                                        .count = PAGES,
                                        .results = titles,
                                        .result_bytes = TITLE_BYTES,
                                        .chunk = 1 };
        int err = eddy_process_pool_open(&(struct eddy_process_pool_opts){ .workers_max = PAGES },
                                         &pool);

        if (err < 0)
                return err;
        for (int i = 0; i < PAGES; i++)
                snprintf(urls[i], URL_BYTES, "http://127.0.0.1:%u/%d", (unsigned) port, FIRST + i);
        err = eddy_process_pool_map(pool, &map);
        for (int i = 0; i < PAGES && err == 0; i++)
                puts(titles[i]);
        return err;
}

static int run(void *arg)
{
        eddy_listener *listener;
        int err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listener);

        (void) arg;
        if (err < 0)
                return err;
        EDDY_SCOPE (scope, &err) {
                eddy_scope_start(&scope, serve, listener);
                err = show_titles((uint16_t) eddy_listener_port(listener));
                eddy_scope_cancel(&scope);
        }
        eddy_listener_close(listener);
        return err;
}

int main(void)
{
        int err = eddy_process_pool_prepare();

        if (err == 0)
                err = eddy_run(run, NULL, NULL);
        if (err < 0)
                fprintf(stderr, "91-titles-in-processes: %s\n", eddy_error_text(err));
        return err < 0;
}
