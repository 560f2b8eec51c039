/*
 * wire/format.h - the formats of strings that a table of fields can name.
 */
#ifndef ED_WIRE_FORMAT_H
#define ED_WIRE_FORMAT_H

#include "base/def.h"
#include "eddy/fields.h"

/* Returns the check of the format that a field names, which may be its own, or NULL if it is not known. */
eddy_format_fn *ed_format_fn(const struct eddy_field *field);

/* Returns NULL, or the reason why a text does not have the format of the field, if that has one. */
const char *ed_format_fault(const struct eddy_field *field, const char *text, size_t bytes);

#endif
