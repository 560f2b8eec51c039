/*
 * wire/format.h - the formats of strings that a table of fields can name.
 */
#ifndef ED_WIRE_FORMAT_H
#define ED_WIRE_FORMAT_H

#include "base/def.h"
#include "eddy/fields.h"

struct ed_format {
        const char *name;
        eddy_format_fn *fn;
        const char *type; /* of its error, as in eddy/field_errors.h */
};

/* Find the format that a field names, which may be its own. Returns false if it is not known. */
bool ed_format_of(const struct eddy_field *field, struct ed_format *ret_format);

#endif
