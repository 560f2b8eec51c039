/*
 * select/cell.h - the cells of a table, as CSV (RFC 4180) or as members of a JSON object. Values in,
 * text out; no I/O.
 *
 * CSV: a string is its text, in double quotes if it is empty or has a comma, a quote or the end of
 * a line; numbers, true and false are as written in the answer; an object or an array is its compact
 * JSON text; null and a missing value are an empty cell. JSON: values are as written.
 */
#ifndef ED_CMD_SELECT_CELL_H
#define ED_CMD_SELECT_CELL_H

#include <stdbool.h>
#include <stddef.h>

#include "common/csv.h"
#include "common/draft.h"
#include "eddy/json.h"

enum ed_cell_format { ED_CELL_CSV, ED_CELL_JSON };

/* Append the cell of a value; NULL: it is missing. */
void ed_cell_add_value(struct ed_draft *row, enum ed_cell_format format,
                       const struct eddy_json_value *value);

/* Append the cell of a text. In JSON, bytes that are not UTF-8 become U+FFFD. */
void ed_cell_add_text(struct ed_draft *row, enum ed_cell_format format, const char *text,
                      size_t bytes);

/* Append the cell of a field of CSV, which stays as it is written, quotes included. */
void ed_cell_add_field(struct ed_draft *row, enum ed_cell_format format,
                       const struct ed_csv_field *field);

#endif
