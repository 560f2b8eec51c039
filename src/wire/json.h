/*
 * wire/json.h - JSON: what the files of the reader and the writer share.
 */
#ifndef ED_WIRE_JSON_H
#define ED_WIRE_JSON_H

#include "base/buf.h"
#include "base/fields.h"
#include "eddy/json.h"

/*
 * Fill '*ret_error' (NULL: ignored) for the byte 'offset' of a text. The sentence begins with the
 * path of the field ("PATH: ..."), or, if 'place' is NULL or has no path, with the position ("line 1,
 * column 2: ...").
 * Characters that are not printable become '?'. Returns 'error'.
 */
int ed_json_fail(struct eddy_json_error *ret_error, int error, const char *text, uint64_t offset,
                 const struct ed_field_place *place, const char *format, ...) EDDY_PRINTF(6, 7);

enum { ED_JSON_DOUBLE_BYTES = 64 };

/*
 * Print a finite number so that eddy_json_double() reads the same one: the shortest form, as in 0.1,
 * 1e+21, with a point in every locale. Returns the bytes without the NUL.
 */
ED_SHARED size_t ed_json_double_print(double number, char text[ED_JSON_DOUBLE_BYTES]);

/*
 * Append a number as ed_json_double_print() does.
 *
 * Errors: EDDY_E_FIELD_RANGE  not finite
 *         those of ed_buf_append()
 */
EDDY_MUST_USE ED_SHARED int ed_json_double_write(struct ed_buf *buf, double number);

#endif
