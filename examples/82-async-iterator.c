/*
 * 82-async-iterator - an iterator written by hand: a struct with the place, and a
 * function for the next item.
 *
 * rows_next() may suspend, as __anext__() may.  It returns 1 and a row, 0 after
 * the last row, or an error, so the loop needs no exception for the end.  This is
 * the form of eddy's own iterators, such as eddy_as_completed_next().
 *
 * 47-pages does the same with a generator.  There local variables keep the place,
 * and the generator must be closed; here the struct keeps the place.
 *
 * Run: 82-async-iterator
 * Time: virtual 1.5 s
 * Output:
 *     page 1
 *     row 1
 *     row 2
 *     row 3
 *     page 2
 *     row 4
 *     row 5
 *     row 6
 *     page 3
 *     row 7
 *     no more rows
 */
#include <stdio.h>

#include "eddy/eddy.h"

enum { ROWS = 7, PAGE_ROWS = 3 };

struct rows {
        int page;    /* fetched last; 0: none */
        int row;     /* returned last; 0: none */
        int in_page; /* rows of the page that were not returned yet */
};

static int fetch_page(struct rows *rows)
{
        int left = ROWS - rows->row, err = eddy_sleep(EDDY_MS(500));

        if (err < 0)
                return err;
        rows->in_page = left < PAGE_ROWS ? left : PAGE_ROWS;
        printf("page %d\n", ++rows->page);
        return 0;
}

static int rows_next(struct rows *rows, int *ret_row)
{
        int err = 0;

        if (rows->row == ROWS)
                return 0;
        if (rows->in_page == 0)
                err = fetch_page(rows);
        if (err < 0)
                return err;
        rows->in_page--;
        *ret_row = ++rows->row;
        return 1;
}

static int print_rows(void *arg)
{
        struct rows rows = { 0 };
        int row, more;

        (void) arg;
        while ((more = rows_next(&rows, &row)) > 0)
                printf("row %d\n", row);
        if (more == 0)
                puts("no more rows");
        return more;
}

int main(void)
{
        int err = eddy_run(print_rows, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "82-async-iterator: %s\n", eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
