/*
 * report/page.h - the page: totals, tables and plots in one HTML text that needs nothing else. No
 * I/O.
 */
#ifndef ED_CMD_REPORT_PAGE_H
#define ED_CMD_REPORT_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "batch/tokens.h"
#include "common/draft.h"
#include "report/totals.h"

/* Texts are borrowed, and not escaped yet. */
struct ed_page {
        const char *title;
        const char *output; /* names of the files */
        const char *errors; /* NULL: none */
        const char *log;    /* NULL: none */
        int64_t made_ms;    /* since 1970 */
        bool has_price;
        struct ed_price price;
};

/* Append the page. 'totals' are sorted. */
void ed_page_add(struct ed_draft *out, const struct ed_page *page, const struct ed_totals *totals);

#endif
