/*
 * select/column.h - a column of a table: its name, and the place of its value in a JSON text. No I/O.
 *
 *     answer=/choices/0/message/content         into the body of an answer
 *     attempts=line:/x_meta/attempts            into its line
 *     label=/choices/0/message/content#/label   into a string that is itself JSON
 *
 * Without NAME=, the name is the last part of the pointer, or the whole specification if that part
 * is empty or a number.
 */
#ifndef ED_CMD_SELECT_COLUMN_H
#define ED_CMD_SELECT_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/draft.h"
#include "eddy/def.h"
#include "eddy/json.h"

enum { ED_COLUMN_ERROR_BYTES = 320, ED_COLUMN_NAME_BYTES_MAX = 1024 };

/* A zeroed column has no memory. */
struct ed_column {
        char *name;          /* owned */
        const char *pointer; /* borrows the specification */
        size_t pointer_bytes;
        const char *inner; /* after '#'; NULL: none */
        size_t inner_bytes;
        bool is_of_line;
        uint64_t missing; /* values that were not found, counted by the caller */
};

/*
 * Read a column of an answer; 'spec' is borrowed.
 *
 * Errors: -EINVAL  'error' is a sentence;  -ENOMEM
 */
EDDY_MUST_USE int ed_column_read(const char *spec, struct ed_column *ret_column,
                                 char error[ED_COLUMN_ERROR_BYTES]);

/*
 * Read a column of the input: [NAME=]COLUMN, where COLUMN is the name of a column of CSV or of a
 * member of a line, or a pointer into the line. Errors: as ed_column_read()
 */
EDDY_MUST_USE int ed_column_read_kept(const char *spec, struct ed_column *ret_column,
                                      char error[ED_COLUMN_ERROR_BYTES]);
void ed_column_fini(struct ed_column *column);

/*
 * Find the value of a column. 'room' keeps the text of a string that is JSON, and is emptied first.
 *
 * Errors: -ENOENT  the text has no such value, or the string is not JSON;  -ENOMEM
 */
EDDY_MUST_USE int ed_column_get(const struct ed_column *column, const struct eddy_json_value *whole,
                                struct ed_draft *room, struct eddy_json_value *ret_value);

#endif
