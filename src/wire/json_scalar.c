/*
 * wire/json_scalar.c - read numbers, strings and names of a list from a text, and report errors.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "eddy/error.h"
#include "wire/field_errors.h"
#include "wire/format.h"
#include "wire/json.h"
#include "wire/json_reading.h"

enum { SHOWN_BYTES_MAX = 40, LIMIT_BYTES = 32 };

/* Count the error, and append it to the list if that has room. */
static EDDY_PRINTF(5, 0) int list_error(struct ed_json_reading *reading, int error, uint64_t offset,
                                        const struct ed_field_place *place, const char *format,
                                        va_list args)
{
        char sentence[EDDY_JSON_TEXT_BYTES] = "";

        if (error == -ENOMEM)
                return error;
        if (reading->refused++ == 0)
                reading->first = error;
        if (ed_field_errors_has_room(reading->errors))
                vsnprintf(sentence, sizeof(sentence), format, args);
        return ed_field_errors_add(reading->errors, error, offset, place, sentence);
}

int ed_json_refuse(struct ed_json_reading *reading, int error, const struct eddy_json_value *value,
                   const struct ed_field_place *place, const char *format, ...)
{
        uint64_t offset = (uint64_t) (value->text - reading->text);
        char sentence[EDDY_JSON_TEXT_BYTES];
        va_list args;

        if (!reading->errors && !reading->error)
                return error;
        va_start(args, format);
        if (reading->errors) {
                error = list_error(reading, error, reading->is_of_texts ? 0 : offset, place, format,
                                   args);
                va_end(args);
                return error;
        }
        vsnprintf(sentence, sizeof(sentence), format, args);
        va_end(args);
        return ed_json_fail(reading->error, error, reading->is_of_texts ? NULL : reading->text,
                            offset, place, "%s", sentence);
}

/* As the value is written, cut. */
static int shown_bytes(const struct eddy_json_value *value)
{
        return value->bytes > SHOWN_BYTES_MAX ? SHOWN_BYTES_MAX : (int) value->bytes;
}

int ed_json_refuse_type(struct ed_json_reading *reading, const struct eddy_json_value *value,
                        const struct ed_field_place *place, const char *wanted)
{
        static const char *const found[] = {
                [EDDY_JSON_NONE] = "nothing",     [EDDY_JSON_NULL] = "null",
                [EDDY_JSON_BOOL] = "a bool",      [EDDY_JSON_NUMBER] = "a number",
                [EDDY_JSON_STRING] = "a string",  [EDDY_JSON_ARRAY] = "an array",
                [EDDY_JSON_OBJECT] = "an object",
        };

        if (reading->is_of_texts)
                return ed_json_refuse(reading, EDDY_E_FIELD_TYPE, value, place, "%.*s is not %s",
                                      shown_bytes(value), value->text, wanted);
        return ed_json_refuse(reading, EDDY_E_FIELD_TYPE, value, place, "%s is needed, not %s",
                              wanted, found[value->kind]);
}

static int fail_range(struct ed_json_reading *reading, const struct eddy_json_value *value,
                      const struct ed_field_place *place, bool is_above, const char *limit)
{
        return ed_json_refuse(reading, EDDY_E_FIELD_RANGE, value, place, "%.*s is %s %s",
                              shown_bytes(value), value->text,
                              is_above ? "above the maximum" : "below the minimum", limit);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static int fail_integer(struct ed_json_reading *reading, const struct eddy_json_value *value,
                        const struct ed_field_place *place)
{
        if (value->kind != EDDY_JSON_NUMBER)
                return ed_json_refuse_type(reading, value, place, "an integer");
        return ed_json_refuse(reading, EDDY_E_FIELD_TYPE, value, place, "%.*s is not an integer",
                              shown_bytes(value), value->text);
}

static int read_int(struct ed_json_reading *reading, const struct eddy_field *field,
                    const struct eddy_json_value *value, void *at,
                    const struct ed_field_place *place)
{
        int64_t least, most, number = 0;
        int err = eddy_json_int64(value, &number);
        bool is_below, is_above;
        char limit[LIMIT_BYTES];

        if (err == EDDY_E_FIELD_TYPE)
                return fail_integer(reading, value, place);
        (void) ed_field_int_range(field, &least, &most);
        is_below = err < 0 ? value->text[0] == '-' : number < least;
        is_above = err < 0 ? !is_below : number > most;
        if (is_below || is_above) {
                snprintf(limit, sizeof(limit), "%" PRId64, is_above ? most : least);
                return fail_range(reading, value, place, is_above, limit);
        }
        ed_field_int_put(at, field->bytes, (uint64_t) number);
        return 0;
}

static int read_uint(struct ed_json_reading *reading, const struct eddy_field *field,
                     const struct eddy_json_value *value, void *at,
                     const struct ed_field_place *place)
{
        uint64_t least, most, number = 0;
        int err = eddy_json_uint64(value, &number);
        bool is_below, is_above;
        char limit[LIMIT_BYTES];

        if (err == EDDY_E_FIELD_TYPE)
                return fail_integer(reading, value, place);
        (void) ed_field_uint_range(field, &least, &most);
        is_below = err < 0 ? value->text[0] == '-' : number < least;
        is_above = err < 0 ? !is_below : number > most;
        if (is_below || is_above) {
                snprintf(limit, sizeof(limit), "%" PRIu64, is_above ? most : least);
                return fail_range(reading, value, place, is_above, limit);
        }
        ed_field_int_put(at, field->bytes, number);
        return 0;
}

static int read_double(struct ed_json_reading *reading, const struct eddy_field *field,
                       const struct eddy_json_value *value, void *at,
                       const struct ed_field_place *place)
{
        bool is_float = field->bytes == sizeof(float), is_above;
        double number = 0, stored;
        int err = eddy_json_double(value, &number);
        char limit[LIMIT_BYTES];

        if (err == EDDY_E_FIELD_TYPE)
                return ed_json_refuse_type(reading, value, place, "a number");
        if (err < 0 || (is_float && !ed_field_is_float(number)))
                return ed_json_refuse(reading, EDDY_E_FIELD_RANGE, value, place,
                                      "%.*s does not fit into a %s", shown_bytes(value),
                                      value->text, is_float ? "float" : "double");
        stored = ed_field_real(field, number);
        is_above = field->has_max && stored > ed_field_real(field, field->max);
        if (is_above || (field->has_min && stored < ed_field_real(field, field->min))) {
                snprintf(limit, sizeof(limit), "%.17g", is_above ? field->max : field->min);
                return fail_range(reading, value, place, is_above, limit);
        }
        ed_field_double_put(at, field->bytes, number);
        return 0;
}

/* ---- strings --------------------------------------------------------------------------------- */

/* The bytes of a string after its conversion, if the field may have that number. */
static int64_t string_bytes(struct ed_json_reading *reading, const struct eddy_field *field,
                            const struct eddy_json_value *value, const struct ed_field_place *place)
{
        int64_t bytes = eddy_json_string(value, NULL, 0);
        size_t least, most;

        if (bytes == EDDY_E_FIELD_TYPE)
                return ed_json_refuse_type(reading, value, place, "a string");
        if (bytes < 0)
                return ed_json_refuse(reading, (int) bytes, value, place,
                                      reading->is_of_texts
                                              ? "the text is not UTF-8"
                                              : "the string has half of a surrogate pair");
        ed_field_bytes_limits(field, &least, &most);
        if ((uint64_t) bytes < least || (uint64_t) bytes > most)
                return ed_json_refuse(reading, EDDY_E_FIELD_LENGTH, value, place,
                                      "a string of %" PRId64 " bytes, %s %zu are allowed", bytes,
                                      (uint64_t) bytes < least ? "at least" : "at most",
                                      (uint64_t) bytes < least ? least : most);
        return bytes;
}

/* Convert to a C string, and check its format. */
static int convert(struct ed_json_reading *reading, const struct eddy_field *field,
                   const struct eddy_json_value *value, char *out, size_t room,
                   const struct ed_field_place *place)
{
        int64_t bytes = eddy_json_string(value, out, room);
        const char *fault;

        if (bytes < 0)
                return (int) bytes;
        if (strlen(out) != (size_t) bytes)
                return ed_json_refuse(reading, EDDY_E_FIELD_TEXT, value, place,
                                      reading->is_of_texts ? "the text has a zero byte"
                                                           : "the string has \\u0000");
        fault = ed_format_fault(field, out, (size_t) bytes);
        return fault ? ed_json_refuse(reading, EDDY_E_FIELD_FORMAT, value, place, "%s", fault) : 0;
}

static int read_string(struct ed_json_reading *reading, const struct eddy_field *field,
                       const struct eddy_json_value *value, char **at,
                       const struct ed_field_place *place)
{
        int64_t bytes = string_bytes(reading, field, value, place);
        char *string;

        if (bytes < 0)
                return (int) bytes;
        string = ed_alloc((size_t) bytes + 1);
        if (!string)
                return ed_json_refuse(reading, -ENOMEM, value, place, "out of memory");
        *at = string; /* freed with the copy of the struct */
        return convert(reading, field, value, string, (size_t) bytes + 1, place);
}

static int read_chars(struct ed_json_reading *reading, const struct eddy_field *field,
                      const struct eddy_json_value *value, char *at,
                      const struct ed_field_place *place)
{
        int64_t bytes = string_bytes(reading, field, value, place);

        return bytes < 0 ? (int) bytes : convert(reading, field, value, at, field->bytes, place);
}

static int read_raw(struct ed_json_reading *reading, const struct eddy_field *field,
                    const struct eddy_json_value *value, char **at,
                    const struct ed_field_place *place)
{
        char *text = ed_alloc(value->bytes + 1);
        int64_t bytes;
        size_t least, most;

        if (!text)
                return ed_json_refuse(reading, -ENOMEM, value, place, "out of memory");
        *at = text; /* freed with the copy of the struct */
        bytes = eddy_json_compact(value->text, value->bytes, text, NULL, NULL);
        if (bytes < 0)
                return ed_json_refuse(reading, (int) bytes, value, place, "the value is not valid");
        text[bytes] = '\0';
        ed_field_bytes_limits(field, &least, &most);
        if ((uint64_t) bytes >= least && (uint64_t) bytes <= most)
                return 0;
        return ed_json_refuse(reading, EDDY_E_FIELD_LENGTH, value, place,
                              "a text of %" PRId64 " bytes, %zu to %zu are allowed", bytes, least,
                              most);
}

static int read_enum(struct ed_json_reading *reading, const struct eddy_field *field,
                     const struct eddy_json_value *value, int *at,
                     const struct ed_field_place *place)
{
        char names[EDDY_JSON_TEXT_BYTES] = "";
        struct ed_text list = { names, sizeof(names) };

        if (value->kind != EDDY_JSON_STRING)
                return ed_json_refuse_type(reading, value, place, "a string");
        for (int i = 0; field->names[i]; i++) {
                if (eddy_json_is(value, field->names[i])) {
                        *at = i;
                        return 0;
                }
                ed_text_add(&list, "%s%s", i > 0 ? ", " : "", field->names[i]);
        }
        return ed_json_refuse(reading, EDDY_E_FIELD_RANGE, value, place, "%.*s is not one of %s",
                              shown_bytes(value), value->text, names);
}

int ed_json_read_scalar(struct ed_json_reading *reading, const struct eddy_field *field,
                        const struct eddy_json_value *value, void *at,
                        const struct ed_field_place *place)
{
        switch (field->kind) {
        case EDDY_KIND_BOOL:
                return eddy_json_bool(value, at) < 0
                               ? ed_json_refuse_type(reading, value, place, "a bool")
                               : 0;
        case EDDY_KIND_INT:
                return read_int(reading, field, value, at, place);
        case EDDY_KIND_UINT:
                return read_uint(reading, field, value, at, place);
        case EDDY_KIND_DOUBLE:
                return read_double(reading, field, value, at, place);
        case EDDY_KIND_CHARS:
                return read_chars(reading, field, value, at, place);
        case EDDY_KIND_STRING:
                return read_string(reading, field, value, at, place);
        case EDDY_KIND_RAW:
                return read_raw(reading, field, value, at, place);
        default:
                return read_enum(reading, field, value, at, place);
        }
}
