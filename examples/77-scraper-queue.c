/*
 * 77-scraper-queue - twenty pages, each processed while the next ones are fetched.
 *
 * A task fetches the pages and puts them into a queue; another task takes them out
 * and processes them.  The pages and their times are those of example 76.  The
 * processing adds almost no time now, because it happens while the fetching task
 * waits: only the processing of the last page adds time.
 *
 * The queue has room for five pages.  If the processing were slower, the fetching
 * task would wait in put(), and memory would not grow.  After the last page the
 * queue is shut down, which ends the loop of the processing task.
 *
 * Run: 77-scraper-queue
 * Time: virtual 14.4 s
 * Output:
 *     0.9 s: the first page is processed
 *     14.0 s: all 20 pages are fetched
 *     14.4 s: all 20 pages are processed
 *     65 % of the 22.0 s in turn
 */
#include <stdio.h>

#include "eddy/eddy.h"

enum { PAGES = 20, PROCESS_MS = 400, ROOM = 5 };

/* How long each page takes to come. */
static const int fetch_ms[PAGES] = { 500,  900, 200, 300,  1200, 700, 400, 1100, 600, 200,
                                     1000, 800, 300, 1200, 900,  500, 700, 1100, 600, 800 };

static int64_t start_ns;

static double seconds(void)
{
        return (double) (eddy_now() - start_ns) / 1e9;
}

static int fetch_all(void *queue)
{
        int err = 0;

        for (int page = 0; page < PAGES && err == 0; page++) {
                err = eddy_sleep(EDDY_MS(fetch_ms[page]));
                if (err == 0)
                        err = eddy_queue_put(queue, &page);
        }
        if (err == 0)
                printf("%.1f s: all 20 pages are fetched\n", seconds());
        eddy_queue_shutdown(queue, 0);
        return err;
}

static int process_all(void *queue)
{
        int page, err;

        while ((err = eddy_queue_get(queue, &page)) == 0) {
                err = eddy_sleep(EDDY_MS(PROCESS_MS));
                if (err < 0)
                        return err;
                if (page == 0)
                        printf("%.1f s: the first page is processed\n", seconds());
        }
        return err == -EPIPE ? 0 : err; /* shut down, and empty */
}

static int scrape(void *arg)
{
        EDDY_AUTO(eddy_queue) eddy_queue queue = { 0 };
        double in_turn = PAGES * PROCESS_MS / 1e3;
        int err = eddy_queue_init(&queue, sizeof(int), ROOM);

        (void) arg;
        if (err < 0)
                return err;
        start_ns = eddy_now();
        EDDY_SCOPE (scope, &err) {
                eddy_scope_start(&scope, fetch_all, &queue);
                eddy_scope_start(&scope, process_all, &queue);
        }
        if (err < 0)
                return err;
        for (int page = 0; page < PAGES; page++)
                in_turn += fetch_ms[page] / 1e3;
        printf("%.1f s: all 20 pages are processed\n", seconds());
        printf("%.0f %% of the %.1f s in turn\n", 100 * seconds() / in_turn, in_turn);
        return 0;
}

int main(void)
{
        int err = eddy_run(scrape, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "77-scraper-queue: %s\n", eddy_error_text(err));
        return err == 0 ? 0 : 1;
}
