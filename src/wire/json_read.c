/*
 * wire/json_read.c - read a text into a struct that a table describes.
 *
 * The text is checked first. The values then go into a copy of the struct, which replaces the
 * caller's only if all of them are right.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fields.h"
#include "eddy/error.h"
#include "wire/field_errors.h"
#include "wire/json.h"
#include "wire/json_reading.h"

static int read_checked(struct ed_json_reading *reading, const struct eddy_fields *fields,
                        const struct eddy_json_value *value, void *out)
{
        void *copy = ed_alloc(fields->bytes);
        int err;

        if (!copy)
                return ed_json_refuse(reading, -ENOMEM, value, NULL, "out of memory");
        memcpy(copy, out, fields->bytes);
        ed_fields_blank(fields, copy);
        err = ed_json_read_struct(reading, fields, value, copy, NULL);
        if (ed_json_goes_on(reading, err) && reading->refused > 0)
                err = reading->first;
        if (err == 0)
                memcpy(out, copy, fields->bytes);
        else
                eddy_fields_fini(fields, copy);
        ed_free(copy);
        return err;
}

static int read_all(struct ed_json_reading reading, const struct eddy_fields *fields, size_t bytes,
                    void *out)
{
        struct eddy_json_error error, *ret_error = reading.errors ? &error : reading.error;
        struct eddy_json_value value;
        int err = ed_fields_check(fields, ret_error);

        if (err == 0)
                err = eddy_json_parse(reading.text, bytes, NULL, &value, ret_error);
        if (err == 0)
                return read_checked(&reading, fields, &value, out);
        return reading.errors && err != -ENOMEM
                       ? ed_field_errors_add(reading.errors, err, error.offset, NULL, error.text)
                       : err;
}

int eddy_json_read(const struct eddy_fields *fields, const char *text, size_t bytes, void *out,
                   struct eddy_json_error *ret_error)
{
        return read_all((struct ed_json_reading){ .text = text, .error = ret_error }, fields, bytes,
                        out);
}

int eddy_json_read_all(const struct eddy_fields *fields, const char *text, size_t bytes,
                       unsigned flags, void *out, struct eddy_field_errors *errors)
{
        struct ed_json_reading reading = { .text = text,
                                           .errors = errors,
                                           .is_request = flags & EDDY_JSON_REQUEST };

        if (flags & ~(unsigned) EDDY_JSON_REQUEST)
                return -EINVAL;
        if (errors && errors->max > EDDY_FIELD_ERRORS_MAX)
                return -EINVAL;
        return read_all(reading, fields, bytes, out);
}

int ed_json_read_texts(const struct eddy_fields *fields, const char *text, size_t bytes, void *out,
                       struct eddy_field_errors *errors, struct eddy_json_error *ret_error)
{
        struct ed_json_reading reading = { .text = text,
                                           .error = ret_error,
                                           .errors = errors,
                                           .is_of_texts = true,
                                           .is_request = true };

        return read_all(reading, fields, bytes, out);
}
