/*
 * batch/request/template.h - texts with places for the fields of a line, or the columns of CSV: the
 * body of a request, its URL, and the values of headers.
 *
 *     {"model":"m","input":"{{text}}","user":"u-{{id}}"}
 *     http://host/items/{{id}}?q={{term}}
 *
 * JSON: a place {{name}} is inside a string. A string that is only {{name}} is replaced by the
 * field's value with its type (in CSV, a string); in a longer string, the field's text is inserted.
 * A string that is only {{name:json}} is replaced by the field's text as JSON, so that CSV can hold
 * numbers. In the name of a member, a place is always text. \u007b is a brace that does not begin a
 * place. A template must be JSON, which is checked when it is read.
 *
 * URL: a place is in the path or in the query. The field's text is inserted with all bytes
 * percent-encoded except letters, digits and -._~ (RFC 3986, 2.3), so it can be neither the end of
 * a segment nor another parameter.
 *
 * Header: the field's text is inserted as it is.
 */
#ifndef ED_CMD_BATCH_REQUEST_TEMPLATE_H
#define ED_CMD_BATCH_REQUEST_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "batch/request/fault.h"
#include "eddy/def.h"

enum { ED_TEMPLATE_FIELDS_MAX = 256 };

struct ed_template;

/*
 * Read a template of JSON; 'text' is copied.
 *
 * Errors: -EINVAL  'error' is a sentence;  -ENOMEM
 */
EDDY_MUST_USE int ed_template_new(const char *text, size_t bytes, struct ed_template **ret_template,
                                  char error[ED_FAULT_BYTES]);

/*
 * Read a URL, or a path that begins with '/', with places. A place before the path is refused,
 * because the data would choose the host that gets the API key. Only the places are checked.
 * Errors: as ed_template_new()
 */
EDDY_MUST_USE int ed_template_new_url(const char *url, struct ed_template **ret_template,
                                      char error[ED_FAULT_BYTES]);

/* Read the value of a header. Errors: as ed_template_new() */
EDDY_MUST_USE int ed_template_new_header(const char *value, struct ed_template **ret_template,
                                         char error[ED_FAULT_BYTES]);

void ed_template_free(struct ed_template *template);

/* Returns true for the text of a URL or a header that is a template. */
bool ed_template_is(const char *text);

/* The number of places, and the names of their fields. */
size_t ed_template_places(const struct ed_template *template);
const char *ed_template_name(const struct ed_template *template, size_t index);

/*
 * Write the text with "x" in each place, and a NUL. 'room' has as many bytes as the text and its NUL:
 * a place is longer.
 */
void ed_template_sample(const struct ed_template *template, char *room);

#endif
