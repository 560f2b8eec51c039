/*
 * wire/json_read.c - read a text into a struct that a table describes.
 *
 * The text is checked first. The values then go into a copy of the struct, which replaces the
 * caller's only if all of them are right.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fields.h"
#include "base/text.h"
#include "eddy/error.h"
#include "wire/json.h"

#define FAIL(reading, code, value, place, ...)                                                     \
        ed_json_fail((reading)->error, code, (reading)->is_of_texts ? NULL : (reading)->text,      \
                     (uint64_t) ((value)->text - (reading)->text), place, __VA_ARGS__)

enum { SHOWN_BYTES_MAX = 40, LIMIT_BYTES = 32 };

struct reading {
        const char *text;
        struct eddy_json_error *error;
        bool is_of_texts; /* made from the texts of a query: places in it mean nothing */
};

/* As the value is written, cut. */
static int shown_bytes(const struct eddy_json_value *value)
{
        return value->bytes > SHOWN_BYTES_MAX ? SHOWN_BYTES_MAX : (int) value->bytes;
}

static int fail_type(const struct reading *reading, const struct eddy_json_value *value,
                     const struct ed_field_place *place, const char *wanted)
{
        static const char *const found[] = {
                [EDDY_JSON_NONE] = "nothing",     [EDDY_JSON_NULL] = "null",
                [EDDY_JSON_BOOL] = "a bool",      [EDDY_JSON_NUMBER] = "a number",
                [EDDY_JSON_STRING] = "a string",  [EDDY_JSON_ARRAY] = "an array",
                [EDDY_JSON_OBJECT] = "an object",
        };

        if (reading->is_of_texts)
                return FAIL(reading, EDDY_E_FIELD_TYPE, value, place, "%.*s is not %s",
                            shown_bytes(value), value->text, wanted);
        return FAIL(reading, EDDY_E_FIELD_TYPE, value, place, "%s is needed, not %s", wanted,
                    found[value->kind]);
}

static int fail_range(const struct reading *reading, const struct eddy_json_value *value,
                      const struct ed_field_place *place, bool is_above, const char *limit)
{
        return FAIL(reading, EDDY_E_FIELD_RANGE, value, place, "%.*s is %s %s", shown_bytes(value),
                    value->text, is_above ? "above the maximum" : "below the minimum", limit);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static int fail_integer(const struct reading *reading, const struct eddy_json_value *value,
                        const struct ed_field_place *place)
{
        if (value->kind != EDDY_JSON_NUMBER)
                return fail_type(reading, value, place, "an integer");
        return FAIL(reading, EDDY_E_FIELD_TYPE, value, place, "%.*s is not an integer",
                    shown_bytes(value), value->text);
}

static int read_int(const struct reading *reading, const struct eddy_field *field,
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

static int read_uint(const struct reading *reading, const struct eddy_field *field,
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

static int read_double(const struct reading *reading, const struct eddy_field *field,
                       const struct eddy_json_value *value, void *at,
                       const struct ed_field_place *place)
{
        bool is_float = field->bytes == sizeof(float), is_above;
        double number = 0;
        int err = eddy_json_double(value, &number);
        char limit[LIMIT_BYTES];

        if (err == EDDY_E_FIELD_TYPE)
                return fail_type(reading, value, place, "a number");
        if (err < 0 || (is_float && !ed_field_is_float(number)))
                return FAIL(reading, EDDY_E_FIELD_RANGE, value, place,
                            "%.*s does not fit into a %s", shown_bytes(value), value->text,
                            is_float ? "float" : "double");
        is_above = field->has_max && number > field->max;
        if (is_above || (field->has_min && number < field->min)) {
                snprintf(limit, sizeof(limit), "%.17g", is_above ? field->max : field->min);
                return fail_range(reading, value, place, is_above, limit);
        }
        ed_field_double_put(at, field->bytes, number);
        return 0;
}

/* ---- strings --------------------------------------------------------------------------------- */

/* The bytes of a string after its conversion, if the field may have that number. */
static int64_t string_bytes(const struct reading *reading, const struct eddy_field *field,
                            const struct eddy_json_value *value, const struct ed_field_place *place)
{
        int64_t bytes = eddy_json_string(value, NULL, 0);
        size_t least, most;

        if (bytes == EDDY_E_FIELD_TYPE)
                return fail_type(reading, value, place, "a string");
        if (bytes < 0)
                return FAIL(reading, (int) bytes, value, place,
                            reading->is_of_texts ? "the text is not UTF-8"
                                                 : "the string has half of a surrogate pair");
        ed_field_bytes_limits(field, &least, &most);
        if ((uint64_t) bytes < least || (uint64_t) bytes > most)
                return FAIL(reading, EDDY_E_FIELD_LENGTH, value, place,
                            "a string of %" PRId64 " bytes, %s %zu are allowed", bytes,
                            (uint64_t) bytes < least ? "at least" : "at most",
                            (uint64_t) bytes < least ? least : most);
        return bytes;
}

static int convert(const struct reading *reading, const struct eddy_json_value *value, char *out,
                   size_t room, const struct ed_field_place *place)
{
        int64_t bytes = eddy_json_string(value, out, room);

        if (bytes < 0)
                return (int) bytes;
        return strlen(out) == (size_t) bytes
                       ? 0
                       : FAIL(reading, EDDY_E_FIELD_TEXT, value, place, "the string has \\u0000");
}

static int read_string(const struct reading *reading, const struct eddy_field *field,
                       const struct eddy_json_value *value, char **at,
                       const struct ed_field_place *place)
{
        int64_t bytes = string_bytes(reading, field, value, place);
        char *string;

        if (bytes < 0)
                return (int) bytes;
        string = ed_alloc((size_t) bytes + 1);
        if (!string)
                return FAIL(reading, -ENOMEM, value, place, "out of memory");
        *at = string; /* freed with the copy of the struct */
        return convert(reading, value, string, (size_t) bytes + 1, place);
}

static int read_chars(const struct reading *reading, const struct eddy_field *field,
                      const struct eddy_json_value *value, char *at,
                      const struct ed_field_place *place)
{
        int64_t bytes = string_bytes(reading, field, value, place);

        return bytes < 0 ? (int) bytes : convert(reading, value, at, field->bytes, place);
}

static int read_raw(const struct reading *reading, const struct eddy_field *field,
                    const struct eddy_json_value *value, char **at,
                    const struct ed_field_place *place)
{
        char *text = ed_alloc(value->bytes + 1);
        int64_t bytes;
        size_t least, most;

        if (!text)
                return FAIL(reading, -ENOMEM, value, place, "out of memory");
        *at = text; /* freed with the copy of the struct */
        bytes = eddy_json_compact(value->text, value->bytes, text, NULL, NULL);
        if (bytes < 0)
                return FAIL(reading, (int) bytes, value, place, "the value is not valid");
        text[bytes] = '\0';
        ed_field_bytes_limits(field, &least, &most);
        if ((uint64_t) bytes >= least && (uint64_t) bytes <= most)
                return 0;
        return FAIL(reading, EDDY_E_FIELD_LENGTH, value, place,
                    "a text of %" PRId64 " bytes, %zu to %zu are allowed", bytes, least, most);
}

static int read_enum(const struct reading *reading, const struct eddy_field *field,
                     const struct eddy_json_value *value, int *at,
                     const struct ed_field_place *place)
{
        char names[EDDY_JSON_TEXT_BYTES] = "";
        struct ed_text list = { names, sizeof(names) };

        if (value->kind != EDDY_JSON_STRING)
                return fail_type(reading, value, place, "a string");
        for (int i = 0; field->names[i]; i++) {
                if (eddy_json_is(value, field->names[i])) {
                        *at = i;
                        return 0;
                }
                ed_text_add(&list, "%s%s", i > 0 ? ", " : "", field->names[i]);
        }
        return FAIL(reading, EDDY_E_FIELD_RANGE, value, place, "%.*s is not one of %s",
                    shown_bytes(value), value->text, names);
}

/* ---- items and members ----------------------------------------------------------------------- */

static int read_struct(const struct reading *reading, const struct eddy_fields *fields,
                       const struct eddy_json_value *value, void *out,
                       const struct ed_field_place *place);

static int read_one(const struct reading *reading, const struct eddy_field *field,
                    const struct eddy_json_value *value, void *at,
                    const struct ed_field_place *place)
{
        switch (field->kind) {
        case EDDY_KIND_BOOL:
                return eddy_json_bool(value, at) < 0 ? fail_type(reading, value, place, "a bool")
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
        case EDDY_KIND_ENUM:
        case EDDY_KIND_TAG:
                return read_enum(reading, field, value, at, place);
        default:
                return read_struct(reading, field->fields, value, at, place);
        }
}

/* Append an item of zeros to the list and return it, or NULL if memory runs out. */
static void *add_item(const struct eddy_field *field, void *out, size_t *room)
{
        size_t *count = ed_field_count(field, out), bytes;
        char *items = ed_field_items(field, out);

        if (field->shape == EDDY_SHAPE_LIST && *count == *room) {
                *room = *room ? *room * 2 : 4;
                if (__builtin_mul_overflow(*room, field->bytes, &bytes))
                        return NULL;
                items = ed_realloc(items, bytes);
                if (!items)
                        return NULL;
                *(char **) ed_field_member(field, out) = items;
        }
        items += *count * field->bytes;
        memset(items, 0, field->bytes);
        ++*count;
        return items;
}

static int read_items(const struct reading *reading, const struct eddy_field *field,
                      const struct eddy_json_value *value, void *out, struct ed_field_place *place)
{
        struct eddy_json_cursor cursor;
        struct eddy_json_value item;
        size_t least, most, room = 0;
        int err = 0;

        if (value->kind != EDDY_JSON_ARRAY || eddy_json_walk(value, &cursor) < 0)
                return fail_type(reading, value, place, "an array");
        ed_field_items_limits(field, &least, &most);
        while (err == 0 && eddy_json_next(&cursor, NULL, &item)) {
                size_t count = *ed_field_count(field, out);
                void *at;

                if (count == most)
                        return FAIL(reading, EDDY_E_FIELD_LENGTH, value, place,
                                    "more than %zu items", most);
                at = add_item(field, out, &room);
                if (!at)
                        return FAIL(reading, -ENOMEM, value, place, "out of memory");
                place->index = count;
                place->has_index = true;
                err = read_one(reading, field, &item, at, place);
                place->has_index = false;
        }
        if (err == 0 && *ed_field_count(field, out) < least)
                return FAIL(reading, EDDY_E_FIELD_LENGTH, value, place,
                            "%zu items, at least %zu are needed", *ed_field_count(field, out),
                            least);
        return err;
}

static int read_field(const struct reading *reading, const struct eddy_field *field,
                      const struct eddy_json_value *value, void *out,
                      const struct ed_field_place *up)
{
        struct ed_field_place place = { .up = up, .name = ed_field_name(field) };
        int err;

        place.name_bytes = strlen(place.name);
        if (value->kind == EDDY_JSON_NULL && field->kind != EDDY_KIND_RAW) {
                if (!field->required)
                        return 0;
                return FAIL(reading, EDDY_E_FIELD_TYPE, value, &place, "null is not allowed");
        }
        if (field->shape != EDDY_SHAPE_ONE)
                err = read_items(reading, field, value, out, &place);
        else
                err = read_one(reading, field, value, ed_field_member(field, out), &place);
        if (err == 0)
                ed_field_set_flag(field->flag, out, true);
        return err;
}

/* Returns the index of the field with that name, looking from 'first' on, or 'count'. */
static size_t find_field(const struct eddy_fields *fields, const struct eddy_json_value *name,
                         size_t first)
{
        for (size_t n = 0; n < fields->count; n++) {
                size_t i = first + n < fields->count ? first + n : first + n - fields->count;

                if (eddy_json_is(name, ed_field_name(&fields->list[i])))
                        return i;
        }
        return fields->count;
}

static int fail_name(const struct reading *reading, int error, const struct eddy_json_value *name,
                     const struct ed_field_place *up, const char *what)
{
        struct ed_field_place place = { .up = up, .name = name->text + 1 };

        place.name_bytes = name->bytes - 2 > SHOWN_BYTES_MAX ? SHOWN_BYTES_MAX : name->bytes - 2;
        return FAIL(reading, error, name, &place, "%s", what);
}

static int read_struct(const struct reading *reading, const struct eddy_fields *fields,
                       const struct eddy_json_value *value, void *out,
                       const struct ed_field_place *place)
{
        uint64_t seen[EDDY_FIELDS_MAX / 64] = { 0 };
        struct eddy_json_value name, member;
        struct eddy_json_cursor cursor;
        size_t first = 0;

        if (value->kind != EDDY_JSON_OBJECT || eddy_json_walk(value, &cursor) < 0)
                return fail_type(reading, value, place, "an object");
        while (eddy_json_next(&cursor, &name, &member)) {
                size_t i = find_field(fields, &name, first);
                int err;

                if (i == fields->count && !(fields->flags & EDDY_FIELDS_STRICT))
                        continue;
                if (i == fields->count)
                        return fail_name(reading, EDDY_E_FIELD_UNKNOWN, &name, place,
                                         "the field is not known");
                if (seen[i / 64] >> (i % 64) & 1)
                        return fail_name(reading, EDDY_E_FIELD_DUPLICATE, &name, place,
                                         "the field is given twice");
                seen[i / 64] |= (uint64_t) 1 << (i % 64);
                first = i + 1 < fields->count ? i + 1 : 0;
                err = read_field(reading, &fields->list[i], &member, out, place);
                if (err < 0)
                        return err;
        }
        for (size_t i = 0; i < fields->count; i++) {
                const struct eddy_field *field = &fields->list[i];
                struct ed_field_place missing = { .up = place, .name = ed_field_name(field) };

                missing.name_bytes = strlen(missing.name);
                if (field->required && !(seen[i / 64] >> (i % 64) & 1))
                        return FAIL(reading, EDDY_E_FIELD_MISSING, value, &missing,
                                    "the field is missing");
        }
        return 0;
}

static int read_all(struct reading reading, const struct eddy_fields *fields, size_t bytes,
                    void *out)
{
        struct eddy_json_error *ret_error = reading.error;
        struct eddy_json_value value;
        void *copy;
        int err;

        err = ed_fields_check(fields, ret_error);
        if (err < 0)
                return err;
        err = eddy_json_parse(reading.text, bytes, NULL, &value, ret_error);
        if (err < 0)
                return err;
        copy = ed_alloc(fields->bytes);
        if (!copy)
                return FAIL(&reading, -ENOMEM, &value, NULL, "out of memory");
        memcpy(copy, out, fields->bytes);
        ed_fields_blank(fields, copy);
        err = read_struct(&reading, fields, &value, copy, NULL);
        if (err == 0)
                memcpy(out, copy, fields->bytes);
        else
                eddy_fields_fini(fields, copy);
        ed_free(copy);
        return err;
}

int eddy_json_read(const struct eddy_fields *fields, const char *text, size_t bytes, void *out,
                   struct eddy_json_error *ret_error)
{
        return read_all((struct reading){ .text = text, .error = ret_error }, fields, bytes, out);
}

int ed_json_read_texts(const struct eddy_fields *fields, const char *text, size_t bytes, void *out,
                       struct eddy_json_error *ret_error)
{
        return read_all((struct reading){ .text = text, .error = ret_error, .is_of_texts = true },
                        fields, bytes, out);
}
