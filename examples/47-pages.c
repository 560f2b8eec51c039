/*
 * 47-pages - the items of a slow source that gives them page by page.
 *
 * items() turns pages into items, and its reader has a plain loop.  A page is
 * fetched only when its first item is asked for, so leaving the loop early
 * fetches no page too many.  Closing the generator, or the end of its scope,
 * makes its yield return -ECANCELED, and the generator's own function releases
 * what it holds.  All of that has one deadline.
 *
 * Run: 47-pages
 * Time: virtual 1.5 s
 * Output:
 *     page 1 fetched
 *     apple
 *     banana
 *     cherry
 *     page 2 fetched
 *     damson
 *     elderberry
 *     fig
 *     page 3 fetched
 *     grape: that is the one
 *     cursor closed
 */
#include <stdio.h>
#include <string.h>

#include "eddy/eddy.h"

enum { PAGE_ITEMS = 3, PAGES = 4 };

static const char *const fruits[PAGES * PAGE_ITEMS] = { "apple",  "banana",     "cherry",
                                                        "damson", "elderberry", "fig",
                                                        "grape",  "hazelnut",   "ilama",
                                                        "jujube", "kiwi",       "lemon" };

struct cursor {
        int pages; /* fetched so far */
        const char *items[PAGE_ITEMS];
};

/* Half a second for each page.  Returns how many items it has; 0: there are no more. */
static int fetch_page(struct cursor *cursor)
{
        int err = eddy_sleep(EDDY_MS(500));

        if (err < 0)
                return err;
        if (cursor->pages == PAGES)
                return 0;
        memcpy(cursor->items, &fruits[cursor->pages * PAGE_ITEMS], sizeof(cursor->items));
        printf("page %d fetched\n", ++cursor->pages);
        return PAGE_ITEMS;
}

static int items(eddy_generator *gen, void *arg)
{
        struct cursor cursor = { 0 };
        int n = 1, err = 0;

        (void) arg;
        while (err == 0 && n > 0) {
                n = fetch_page(&cursor);
                for (int i = 0; i < n && err == 0; i++)
                        err = eddy_generator_yield(gen, &cursor.items[i]);
        }
        puts("cursor closed");
        return n < 0 ? n : err;
}

static int look_for_grape(void *arg)
{
        struct eddy_scope_opts opts = { .timeout_ns = EDDY_SEC(5) };
        const char *fruit;
        eddy_generator gen;
        eddy_scope scope;
        int more;

        (void) arg;
        eddy_scope_begin(&scope, &opts);
        eddy_generator_begin(&gen, &scope, items, NULL, sizeof(fruit));
        while ((more = eddy_generator_next(&gen, &fruit)) > 0) {
                if (strcmp(fruit, "grape") == 0) {
                        printf("%s: that is the one\n", fruit);
                        break;
                }
                puts(fruit);
        }
        return eddy_scope_end_with(&scope, more < 0 ? more : 0); /* closes the generator */
}

int main(void)
{
        int err = eddy_run(look_for_grape, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "47-pages: %s\n", eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
