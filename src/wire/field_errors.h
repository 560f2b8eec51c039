/*
 * wire/field_errors.h - filling a list of errors.
 */
#ifndef ED_WIRE_FIELD_ERRORS_H
#define ED_WIRE_FIELD_ERRORS_H

#include "base/fields.h"
#include "eddy/field_errors.h"

/* Returns true if the next error becomes an entry, unless its texts are too long. */
bool ed_field_errors_has_room(const struct eddy_field_errors *errors);

/*
 * Append an error, or only count it if the list has no room. 'place' may be NULL. Returns 'error', or
 * -ENOMEM.
 */
int ed_field_errors_add(struct eddy_field_errors *errors, int error, uint64_t offset,
                        const struct ed_field_place *place, const char *message);

#endif
