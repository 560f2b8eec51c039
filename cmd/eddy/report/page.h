/*
 * report/page.h - the page: totals, tables and plots in a single, self-contained HTML text. No I/O.
 */
#ifndef ED_CMD_REPORT_PAGE_H
#define ED_CMD_REPORT_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "batch/request/tokens.h"
#include "common/draft.h"
#include "report/completeness.h"
#include "report/totals.h"

enum { ED_PAGE_CAUSES_MAX = 20 }; /* others are counted together */

/* Texts are borrowed, and are not escaped. */
struct ed_page {
        const char *title;
        const char *output; /* the name of the output file */
        const char *errors; /* NULL: none */
        const char *log;    /* NULL: none */
        int64_t made_ms;    /* since 1970 */
        const struct ed_completeness *completeness;
        bool has_price;
        struct ed_price price;
};

/* Append the page. Call ed_totals_sort() before. */
void ed_page_add(struct ed_draft *out, const struct ed_page *page, const struct ed_totals *totals);

#endif
