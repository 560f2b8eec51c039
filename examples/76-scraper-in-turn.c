/*
 * 76-scraper-in-turn - twenty pages, first all fetched and then all processed.
 *
 * Fetching a page takes 0.2 to 1.2 seconds, in which the program only waits.
 * Processing a page takes 0.4 seconds.  The times add up: no page is processed
 * before the last page has arrived, although the first page arrives after 0.5
 * seconds.
 *
 * Example 77 does the same work with a queue between the two steps.
 *
 * Run: 76-scraper-in-turn
 * Time: virtual 22 s
 * Output:
 *     14.0 s: all 20 pages are fetched
 *     14.4 s: the first page is processed
 *     22.0 s: all 20 pages are processed
 */
#include <stdio.h>

#include "eddy/eddy.h"

enum { PAGES = 20, PROCESS_MS = 400 };

/* How long each page takes to come. */
static const int fetch_ms[PAGES] = { 500,  900, 200, 300,  1200, 700, 400, 1100, 600, 200,
                                     1000, 800, 300, 1200, 900,  500, 700, 1100, 600, 800 };

static int64_t start_ns;

static void say(const char *text)
{
        printf("%.1f s: %s\n", (double) (eddy_now() - start_ns) / 1e9, text);
}

static int fetch(int page)
{
        return eddy_sleep(EDDY_MS(fetch_ms[page]));
}

static int process(int page)
{
        int err = eddy_sleep(EDDY_MS(PROCESS_MS));

        if (err == 0 && page == 0)
                say("the first page is processed");
        return err;
}

static int scrape(void *arg)
{
        int err = 0;

        (void) arg;
        start_ns = eddy_now();
        for (int page = 0; page < PAGES && err == 0; page++)
                err = fetch(page);
        if (err < 0)
                return err;
        say("all 20 pages are fetched");
        for (int page = 0; page < PAGES && err == 0; page++)
                err = process(page);
        if (err < 0)
                return err;
        say("all 20 pages are processed");
        return 0;
}

int main(void)
{
        int err = eddy_run(scrape, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "76-scraper-in-turn: %s\n", eddy_error_text(err));
        return err == 0 ? 0 : 1;
}
