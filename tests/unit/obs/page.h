/*
 * page.h - a strict parser of a page of metrics: text format 0.0.4.
 */
#ifndef ED_OBS_PAGE_H
#define ED_OBS_PAGE_H

/*
 * Check a page: HELP and TYPE once and before their lines, the lines of a metric together, names,
 * labels, escapes and values well-formed, no series twice, and the buckets of each histogram rising
 * up to its count. The case fails at the first fault. Returns the number of lines with values.
 */
int page_check(const char *text);

/* Returns the text of the value of a series, by its name and labels as on the page, or NULL. */
const char *page_value(const char *text, const char *series);

#endif
