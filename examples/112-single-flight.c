/*
 * 112-single-flight - a cache of pages: however many tasks ask for a page, it is fetched once.
 *
 * The first task that asks starts the fetch, and all wait for its future.  The fetch belongs to the
 * cache's scope and not to the task that asked, so a reader that leaves cancels nothing.  The page
 * is served by a handler of the client: this program needs no network.
 *
 * Run: 112-single-flight
 * Time: wall 0.2 to 3 s
 * Output:
 *     a reader left after 100 ms
 *     a reader has "page 1"
 *     a reader has "page 1"
 *     a late reader has "page 1"
 *     requests: 1
 */
#include <stdio.h>

#include "eddy/eddy.h"

struct page {
        const char *url;
        bool is_asked_for;
        struct eddy_http_result result;
        eddy_future fetched;
};

static struct {
        eddy_http_client *client;
        eddy_scope *scope; /* of the fetches */
        struct page page;
        int requests;
} cache = { .page.url = "https://pages.test/1" };

static int serve(eddy_http_exchange *exchange, void *arg)
{
        int err = eddy_sleep(EDDY_MS(200));

        (void) arg;
        cache.requests++;
        return err < 0 ? err : eddy_http_exchange_respond(exchange, 200, NULL, 0, "page 1", 6);
}

static int fetch(void *arg)
{
        struct page *page = arg;
        struct eddy_http_request request = { .url = page->url };
        int err = eddy_http_fetch_many(cache.client, &request, 1, 1, &page->result);

        page->is_asked_for = err == 0; /* a failure is not kept: the next reader tries again */
        return eddy_future_set(&page->fetched, err, page->result.body);
}

/* Returns the text of a page, from the cache if possible. */
static int page_get(struct page *page, const char **ret_text)
{
        int err, result;

        if (!page->is_asked_for) {
                eddy_future_fini(&page->fetched); /* of a failure before */
                err = eddy_scope_start(cache.scope, fetch, page);
                if (err < 0)
                        return err;
                page->is_asked_for = true;
        }
        err = eddy_future_wait(&page->fetched, &result);
        *ret_text = eddy_future_value(&page->fetched);
        return err < 0 ? err : result;
}

static int read_page(void *who)
{
        const char *text;
        int err = page_get(&cache.page, &text);

        if (err == 0)
                printf("%s has \"%s\"\n", (const char *) who, text);
        return err;
}

static int leave_early(void *arg)
{
        int err = eddy_call_timeout(read_page, arg, EDDY_MS(100));

        if (err == -ETIMEDOUT)
                puts("a reader left after 100 ms");
        return err == -ETIMEDOUT ? 0 : err;
}

static int run(void *arg)
{
        struct eddy_http_client_opts opts = { .handler = serve };
        eddy_scope fetches, readers;
        int err = eddy_http_client_new(&opts, &cache.client);

        (void) arg;
        if (err < 0)
                return err;
        eddy_scope_begin(&fetches, NULL);
        cache.scope = &fetches;
        eddy_scope_begin(&readers, NULL);
        eddy_scope_start(&readers, leave_early, (char[]){ "a patient reader" });
        eddy_scope_start(&readers, read_page, (char[]){ "a reader" });
        eddy_scope_start(&readers, read_page, (char[]){ "a reader" });
        err = eddy_scope_end(&readers);
        if (err == 0)
                err = read_page((char[]){ "a late reader" });
        (void) eddy_scope_end(&fetches);
        printf("requests: %d\n", cache.requests);
        eddy_http_results_fini(&cache.page.result, 1);
        eddy_future_fini(&cache.page.fetched);
        eddy_http_client_close(cache.client);
        return err;
}

int main(void)
{
        return eddy_run(run, NULL, NULL) < 0;
}
