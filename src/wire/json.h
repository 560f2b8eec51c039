/*
 * wire/json.h - JSON: what the files of the reader and the writer share.
 */
#ifndef ED_WIRE_JSON_H
#define ED_WIRE_JSON_H

#include "base/buf.h"
#include "base/fields.h"
#include "eddy/field_errors.h"
#include "eddy/json.h"

/*
 * Fill '*ret_error' (NULL: ignored) for the byte 'offset' of a text. The sentence begins with the
 * path of the field ("PATH: ..."), or, if 'place' is NULL or has no path, with the position ("line 1,
 * column 2: ...").
 * Characters that are not printable become '?'. Returns 'error'.
 */
ED_SHARED int ed_json_fail(struct eddy_json_error *ret_error, int error, const char *text,
                           uint64_t offset, const struct ed_field_place *place, const char *format,
                           ...) EDDY_PRINTF(6, 7);

/* Replace each byte that is not printable ASCII by '?'. */
void ed_json_make_printable(char *text);

/*
 * Check a table as eddy_fields_check() does, except for names that are given twice.
 *
 * Errors: EDDY_E_FIELD_TABLE
 *         -ENOMEM
 */
EDDY_MUST_USE int ed_fields_check(const struct eddy_fields *fields,
                                  struct eddy_json_error *ret_error);

/*
 * As eddy_json_read_all(), or as eddy_json_read() if 'errors' is NULL, for a request whose text was made
 * from the texts of a query: errors have no offset, and a string where a number is needed is called by
 * its text.
 */
EDDY_MUST_USE int ed_json_read_texts(const struct eddy_fields *fields, const char *text,
                                     size_t bytes, void *out, struct eddy_field_errors *errors,
                                     struct eddy_json_error *ret_error);

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

/* As ed_json_double_write(): the shortest form that a reader rounds to the same float. */
EDDY_MUST_USE int ed_json_float_write(struct ed_buf *buf, float number);

#endif
