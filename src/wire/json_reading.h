/*
 * wire/json_reading.h - reading a struct from a text: what the files of the reader share.
 */
#ifndef ED_WIRE_JSON_READING_H
#define ED_WIRE_JSON_READING_H

#include <errno.h>

#include "base/fields.h"
#include "eddy/field_errors.h"
#include "eddy/json.h"

/* The state of a call, which ends at the first error, or appends all errors to a list. */
struct ed_json_reading {
        const char *text;
        struct eddy_json_error *error;    /* of the first error; NULL: without details */
        struct eddy_field_errors *errors; /* NULL: the first error ends the call */
        uint64_t refused;                 /* errors so far, if there is a list ... */
        int first;                        /* ... and the first of them */
        bool is_of_texts;                 /* made from the texts of a query: offsets mean nothing */
        bool is_request;
};

/* Returns true if the reading continues after 'err'. */
static inline bool ed_json_goes_on(const struct ed_json_reading *reading, int err)
{
        return err == 0 || (reading->errors && err != -ENOMEM);
}

/* Report an error at a value or name. Returns 'error', or -ENOMEM. */
int ed_json_refuse(struct ed_json_reading *reading, int error, const struct eddy_json_value *value,
                   const struct ed_field_place *place, const char *format, ...) EDDY_PRINTF(5, 6);

/* Report that a value is not what 'wanted' says, as in "an integer". */
int ed_json_refuse_type(struct ed_json_reading *reading, const struct eddy_json_value *value,
                        const struct ed_field_place *place, const char *wanted);

/*
 * Read a value that is not an object into the item at 'at', which owns what it stores also after a
 * failure.
 */
EDDY_MUST_USE int ed_json_read_scalar(struct ed_json_reading *reading,
                                      const struct eddy_field *field,
                                      const struct eddy_json_value *value, void *at,
                                      const struct ed_field_place *place);

/* Read an object into the struct at 'out', which owns what it stores also after a failure. */
EDDY_MUST_USE int ed_json_read_struct(struct ed_json_reading *reading,
                                      const struct eddy_fields *fields,
                                      const struct eddy_json_value *value, void *out,
                                      const struct ed_field_place *place);

/*
 * Check that the text is a value of the field, such as its default. 'struct_bytes' is the size of the
 * struct of the field.
 *
 * Errors: those of eddy_json_read()
 */
EDDY_MUST_USE int ed_json_field_check(const struct eddy_field *field, size_t struct_bytes,
                                      const char *text, struct eddy_json_error *ret_error);

#endif
