/*
 * batch/request/template.h - makes the bodies of requests from a JSON text with places for the
 * fields of a line, or the columns of CSV.
 *
 *     {"model":"m","input":"{{text}}","user":"u-{{id}}"}
 *
 * A place {{name}} is inside a string. A string that is only {{name}} is replaced by the field's
 * value with its type (in CSV, a string); in a longer string, the field's text is inserted. A
 * string that is only {{name:json}} is replaced by the field's text as JSON, so that CSV can hold
 * numbers. In the name of a member, a place is always text. \u007b is a brace that does not begin a
 * place. A template must be JSON, which is checked when it is read.
 */
#ifndef ED_CMD_BATCH_REQUEST_TEMPLATE_H
#define ED_CMD_BATCH_REQUEST_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/draft.h"
#include "eddy/def.h"
#include "eddy/json.h"

enum { ED_TEMPLATE_FIELDS_MAX = 256, ED_TEMPLATE_ERROR_BYTES = 320, ED_COLUMNS_MAX = 1024 };

struct ed_template;
struct ed_columns;

/*
 * Read a template; 'text' is copied.
 *
 * Errors: -EINVAL  'error' is a sentence;  -ENOMEM
 */
EDDY_MUST_USE int ed_template_new(const char *text, size_t bytes, struct ed_template **ret_template,
                                  char error[ED_TEMPLATE_ERROR_BYTES]);
void ed_template_free(struct ed_template *template);

/* Returns false if the bodies of all lines are the same. */
bool ed_template_has_places(const struct ed_template *template);

/*
 * Read the first row of CSV: the names of the columns, without the blanks around them. A name may
 * be empty, but no template can use an empty name. Errors: as ed_template_new()
 */
EDDY_MUST_USE int ed_columns_new(const char *row, size_t bytes, struct ed_columns **ret_columns,
                                 char error[ED_TEMPLATE_ERROR_BYTES]);
void ed_columns_free(struct ed_columns *columns);

/*
 * Check that the columns have those that are needed: 'id', named by --id-column, and those of the
 * template. Both may be NULL. Errors: -EINVAL  'error' is a sentence
 */
EDDY_MUST_USE int ed_columns_check(const struct ed_columns *columns, const char *id,
                                   const struct ed_template *template,
                                   char error[ED_TEMPLATE_ERROR_BYTES]);

/*
 * Check that there is a column; 'why' is a clause for the message: "which --keep names". Errors: -EINVAL
 * 'error' is a sentence
 */
EDDY_MUST_USE int ed_columns_need(const struct ed_columns *columns, const char *name,
                                  const char *why, char error[ED_TEMPLATE_ERROR_BYTES]);

bool ed_columns_has(const struct ed_columns *columns, const char *name);

/* Returns the number of columns, and the name of each, from 0. */
size_t ed_columns_count(const struct ed_columns *columns);
const char *ed_columns_name(const struct ed_columns *columns, size_t index);

/*
 * Append the body for a line to 'body'. The line is an object ('columns' is NULL), or a row of CSV.
 *
 * Errors: -EINVAL  the line lacks a field, or has a wrong number of columns; 'error' is a sentence
 *         -ENOMEM
 */
EDDY_MUST_USE int ed_template_fill(const struct ed_template *template,
                                   const struct ed_columns *columns, const char *line, size_t bytes,
                                   struct ed_draft *body, char error[ED_TEMPLATE_ERROR_BYTES]);

/*
 * Append a field of a row of CSV, unquoted.
 *
 * Errors: -ENOENT  no column has this name;  -EINVAL  bad quotes, or the row is too short;  -ENOMEM
 */
EDDY_MUST_USE int ed_columns_field(const struct ed_columns *columns, const char *row, size_t bytes,
                                   const char *name, struct ed_draft *value);

#endif
