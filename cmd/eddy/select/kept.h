/*
 * select/kept.h - the columns of the input that a table keeps. Lines in, cells out; no I/O.
 */
#ifndef ED_CMD_SELECT_KEPT_H
#define ED_CMD_SELECT_KEPT_H

#include <stdbool.h>
#include <stddef.h>

#include "batch/request/columns.h"
#include "select/cell.h"
#include "select/column.h"

enum { ED_KEPT_MAX = ED_COLUMNS_MAX };

/* A zeroed struct keeps nothing. */
struct ed_kept {
        struct ed_column *items; /* owned */
        size_t count;
        bool all; /* --keep '*': all columns of CSV */

        bool is_csv;
        size_t *places;              /* CSV: of each item in the row; owned */
        struct ed_csv_field *fields; /* CSV: of the present row; owned */
        size_t fields_count;
};

/* Keep a column, or all ("*"); 'spec' is borrowed. Errors: as ed_column_read_kept() */
EDDY_MUST_USE int ed_kept_add(struct ed_kept *kept, const char *spec,
                              char error[ED_COLUMN_ERROR_BYTES]);

/*
 * Find the columns in the first row of CSV, and add all others if all are kept, but not 'id'. The
 * order of the columns is then that of the input. 'columns' NULL: the input is not CSV.
 *
 * Errors: -EINVAL  'error' is a sentence;  -ENOMEM
 */
EDDY_MUST_USE int ed_kept_resolve(struct ed_kept *kept, const struct ed_columns *columns,
                                  const char *id, char error[ED_COLUMN_ERROR_BYTES]);

/*
 * Append the cell of column 'index' of a line. The cell is empty if the line has no such value.
 * ed_kept_split() must have been called for the line.
 */
void ed_kept_split(struct ed_kept *kept, const char *line, size_t bytes,
                   struct eddy_json_value *ret_whole);
void ed_kept_cell(const struct ed_kept *kept, size_t index, const struct eddy_json_value *whole,
                  struct ed_draft *row, enum ed_cell_format format);

void ed_kept_fini(struct ed_kept *kept);

#endif
