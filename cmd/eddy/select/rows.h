/*
 * select/rows.h - the text of a table's rows: its header, the beginning of a row from a line of the
 * input, and the end of a row from a line of the answers. Lines in, text out; no I/O.
 */
#ifndef ED_CMD_SELECT_ROWS_H
#define ED_CMD_SELECT_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/draft.h"
#include "eddy/def.h"
#include "report/record.h"
#include "select/cell.h"
#include "select/column.h"
#include "select/kept.h"

/* Zero but for the format and the columns; these are borrowed. */
struct ed_rows {
        enum ed_cell_format format;
        const char *id_name;
        struct ed_kept *kept;
        struct ed_column *selected;
        size_t selected_count;
        struct ed_draft room; /* of ed_column_get() */
};

/*
 * Check that all columns have different names. Returns NULL, or a name that two columns have.
 */
const char *ed_rows_repeated_name(const struct ed_rows *rows);

/* Append the row of names, with its line feed; JSON has none. */
void ed_rows_add_names(const struct ed_rows *rows, struct ed_draft *text);

/* Append the beginning of the row of an id; 'line' NULL: it is not in the input. */
void ed_rows_add_begin(struct ed_rows *rows, const char *id, size_t id_bytes, const char *line,
                       size_t bytes, struct ed_draft *row);

/*
 * Append the end of the row, with the values of an answer, or with the error of a failure. Counts the
 * values that an answer lacks.
 */
void ed_rows_add_end(struct ed_rows *rows, const struct ed_record *record, struct ed_draft *row);

/* Append the end of a row without an answer; 'error' is the reason. */
void ed_rows_add_blank_end(const struct ed_rows *rows, const char *error, struct ed_draft *row);

void ed_rows_fini(struct ed_rows *rows);

#endif
