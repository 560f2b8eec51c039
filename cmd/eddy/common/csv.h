/*
 * common/csv.h - CSV (RFC 4180): the ends of rows, and the fields of a row. Bytes in, fields out; no
 * I/O. A field in double quotes may have commas, line feeds and doubled quotes; a quote within another
 * field is a character.
 */
#ifndef ED_CMD_COMMON_CSV_H
#define ED_CMD_COMMON_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/draft.h"
#include "eddy/def.h"

/*
 * Find the line feed that ends a row, from 'at' on: a line feed in quotes does not end it. '*place'
 * is the state of the scan, 0 at the beginning of a row. Returns the position of the line feed, or
 * 'bytes' if the row does not end.
 */
size_t ed_csv_row_end(const char *data, size_t bytes, size_t at, uint8_t *place);

/* A walk over the fields of a row. */
struct ed_csv_cursor {
        const char *at, *end;
        bool ended;
};

struct ed_csv_field {
        const char *text; /* in the row, without the outer quotes */
        size_t bytes;
        bool is_quoted; /* quotes in the text are doubled */
};

struct ed_csv_cursor ed_csv_walk(const char *row, size_t bytes);

/* Store the next field. Returns 1, or 0 after the last field. Errors: -EINVAL  a misplaced quote */
EDDY_MUST_USE int ed_csv_next(struct ed_csv_cursor *cursor, struct ed_csv_field *ret_field);

/* Append the value of a field. */
void ed_csv_add(const struct ed_csv_field *field, struct ed_draft *value);

#endif
