/*
 * report/html.h - escapes text from files for HTML. No I/O.
 */
#ifndef ED_CMD_REPORT_HTML_H
#define ED_CMD_REPORT_HTML_H

#include <stddef.h>

#include "common/draft.h"

/*
 * Append a text, safe between tags and in quoted attributes: & < > " ' are escaped. Control
 * characters, and bytes that are not UTF-8, become U+FFFD.
 */
void ed_html_add(struct ed_draft *out, const char *text, size_t bytes);
void ed_html_add_str(struct ed_draft *out, const char *text);

#endif
