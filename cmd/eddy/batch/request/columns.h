/*
 * batch/request/columns.h - the names of the columns of CSV, in its first row.
 */
#ifndef ED_CMD_BATCH_REQUEST_COLUMNS_H
#define ED_CMD_BATCH_REQUEST_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "batch/request/fault.h"
#include "common/draft.h"
#include "eddy/def.h"

enum { ED_COLUMNS_MAX = 1024 };

struct ed_columns;

/* Returns true for a row whose fields are all empty, such as ",,,". */
bool ed_columns_row_is_empty(const char *row, size_t bytes);

/*
 * Read the first row: the names, without the blanks around them. A name may be empty, but no
 * template can use an empty name.
 *
 * Errors: -EINVAL  'error' is a sentence;  -ENOMEM
 */
EDDY_MUST_USE int ed_columns_new(const char *row, size_t bytes, struct ed_columns **ret_columns,
                                 char error[ED_FAULT_BYTES]);
void ed_columns_free(struct ed_columns *columns);

size_t ed_columns_count(const struct ed_columns *columns);
const char *ed_columns_name(const struct ed_columns *columns, size_t index);
bool ed_columns_has(const struct ed_columns *columns, const char *name);

/*
 * Check that a column is there. 'why' is a clause for the message, such as "which --body has".
 *
 * Errors: -EINVAL  'error' is a sentence that names the columns
 */
EDDY_MUST_USE int ed_columns_need(const struct ed_columns *columns, const char *name,
                                  const char *why, char error[ED_FAULT_BYTES]);

/* Returns 'name' without the blanks around it, and shortens '*bytes'. */
const char *ed_columns_trim(const char *name, size_t *bytes);

/*
 * Append a field of a row, unquoted.
 *
 * Errors: -ENOENT  no column has this name;  -EINVAL  bad quotes, or the row is too short;  -ENOMEM
 */
EDDY_MUST_USE int ed_columns_field(const struct ed_columns *columns, const char *row, size_t bytes,
                                   const char *name, struct ed_draft *value);

#endif
