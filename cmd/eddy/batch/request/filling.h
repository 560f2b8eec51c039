/*
 * batch/request/filling.h - fills a template with the fields of a line: of a JSON object, or of a
 * row of CSV.
 *
 * The URL and headers take texts, numbers and booleans; null is an empty text. An empty text is an
 * error in the path of a URL, which would be that of something else, and so are segments . and ..
 */
#ifndef ED_CMD_BATCH_REQUEST_FILLING_H
#define ED_CMD_BATCH_REQUEST_FILLING_H

#include <stddef.h>

#include "batch/request/columns.h"
#include "batch/request/template.h"
#include "common/draft.h"
#include "eddy/def.h"

/* The most bytes of a filled URL, and of the value of a header. */
enum { ED_FILLING_TEXT_BYTES_MAX = 64 << 10 };

/*
 * Append the filled template for a line to 'filled'. The line is an object ('columns' is NULL), or a
 * row of CSV.
 *
 * Errors: -EINVAL  the line lacks a field, has a wrong number of columns, or has a value that the
 *                  place cannot have; 'error' is a sentence
 *         -ENOMEM
 */
EDDY_MUST_USE int ed_template_fill(const struct ed_template *template,
                                   const struct ed_columns *columns, const char *line, size_t bytes,
                                   struct ed_draft *filled, char error[ED_FAULT_BYTES]);

/*
 * Returns 1 if all fields of the template are in the line, and each is null, empty, or only white
 * space; 0 if not, and for a line that cannot be filled in. Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_template_is_blank(const struct ed_template *template,
                                       const struct ed_columns *columns, const char *line,
                                       size_t bytes);

/* Call 'fn' with the name of each place whose field is so. Errors: -ENOMEM */
EDDY_MUST_USE int ed_template_each_blank(const struct ed_template *template,
                                         const struct ed_columns *columns, const char *line,
                                         size_t bytes, void (*fn)(void *arg, const char *name),
                                         void *arg);

#endif
