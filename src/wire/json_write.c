/*
 * wire/json_write.c - write a struct that a table describes.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fields.h"
#include "eddy/error.h"
#include "wire/format.h"
#include "wire/json.h"

#define FAIL(writing, code, place, ...)                                                            \
        ed_json_fail((writing)->error, code, NULL, 0, place, __VA_ARGS__)

enum { NUMBER_BYTES = 32 };

struct writing {
        struct ed_buf out;
        struct eddy_json_error *error;
        uint32_t depth; /* of arrays and objects */
        bool is_request;
};

/* Names the reason of an error of a buffer. */
static int fail_room(const struct writing *writing, int error, const struct ed_field_place *place)
{
        if (error == -EMSGSIZE)
                return FAIL(writing, error, place, "the text exceeds EDDY_JSON_WRITTEN_MAX bytes");
        return FAIL(writing, error, place, "out of memory");
}

static int add(struct writing *writing, const char *text, size_t bytes,
               const struct ed_field_place *place)
{
        int err = ed_buf_append(&writing->out, text, bytes);

        return err < 0 ? fail_room(writing, err, place) : 0;
}

static int add_quoted(struct writing *writing, const char *text, size_t bytes,
                      const struct ed_field_place *place)
{
        size_t quoted = eddy_json_quoted_bytes(text, bytes);
        char *room;
        int err = ed_buf_reserve(&writing->out, quoted, &room);

        if (err < 0)
                return fail_room(writing, err, place);
        ed_buf_grow(&writing->out, eddy_json_quote(text, bytes, room));
        return 0;
}

/* ---- scalars --------------------------------------------------------------------------------- */

static int fail_range(const struct writing *writing, const struct ed_field_place *place,
                      const char *shown, bool is_above, const char *limit)
{
        return FAIL(writing, EDDY_E_FIELD_RANGE, place, "%s is %s %s", shown,
                    is_above ? "above the maximum" : "below the minimum", limit);
}

/* Faster than snprintf(). */
static int add_integer(struct writing *writing, bool is_negative, uint64_t digits,
                       const struct ed_field_place *place)
{
        char text[NUMBER_BYTES], *end = text + sizeof(text), *at = end;

        do {
                *--at = (char) ('0' + digits % 10);
                digits /= 10;
        } while (digits > 0);
        if (is_negative)
                *--at = '-';
        return add(writing, at, (size_t) (end - at), place);
}

static int write_int(struct writing *writing, const struct eddy_field *field, const void *at,
                     const struct ed_field_place *place)
{
        int64_t number = ed_field_int_get(at, field->bytes), least, most;
        char text[NUMBER_BYTES], limit[NUMBER_BYTES];

        (void) ed_field_int_range(field, &least, &most);
        if (number >= least && number <= most)
                return add_integer(writing, number < 0,
                                   number < 0 ? 0 - (uint64_t) number : (uint64_t) number, place);
        snprintf(text, sizeof(text), "%" PRId64, number);
        snprintf(limit, sizeof(limit), "%" PRId64, number > most ? most : least);
        return fail_range(writing, place, text, number > most, limit);
}

static int write_uint(struct writing *writing, const struct eddy_field *field, const void *at,
                      const struct ed_field_place *place)
{
        uint64_t number = ed_field_uint_get(at, field->bytes), least, most;
        char text[NUMBER_BYTES], limit[NUMBER_BYTES];

        (void) ed_field_uint_range(field, &least, &most);
        if (number >= least && number <= most)
                return add_integer(writing, false, number, place);
        snprintf(text, sizeof(text), "%" PRIu64, number);
        snprintf(limit, sizeof(limit), "%" PRIu64, number > most ? most : least);
        return fail_range(writing, place, text, number > most, limit);
}

static int write_double(struct writing *writing, const struct eddy_field *field, const void *at,
                        const struct ed_field_place *place)
{
        double number = ed_field_double_get(at, field->bytes);
        bool is_above = field->has_max && number > ed_field_real(field, field->max);
        char text[NUMBER_BYTES], limit[NUMBER_BYTES];
        int err;

        if (is_above || (field->has_min && number < ed_field_real(field, field->min))) {
                snprintf(text, sizeof(text), "%.17g", number);
                snprintf(limit, sizeof(limit), "%.17g", is_above ? field->max : field->min);
                return fail_range(writing, place, text, is_above, limit);
        }
        err = field->bytes == sizeof(float) ? ed_json_float_write(&writing->out, (float) number)
                                            : ed_json_double_write(&writing->out, number);
        if (err == EDDY_E_FIELD_RANGE) {
                snprintf(text, sizeof(text), "%.17g", number);
                return FAIL(writing, err, place, "%s is not a number of JSON", text);
        }
        return err < 0 ? fail_room(writing, err, place) : 0;
}

static int write_string(struct writing *writing, const struct eddy_field *field, const char *text,
                        size_t bytes, const struct ed_field_place *place)
{
        const char *fault;
        size_t least, most;

        ed_field_bytes_limits(field, &least, &most);
        if (bytes < least || bytes > most)
                return FAIL(writing, EDDY_E_FIELD_LENGTH, place,
                            "a string of %zu bytes, %zu to %zu are allowed", bytes, least, most);
        if (!eddy_json_is_utf8(text, bytes))
                return FAIL(writing, EDDY_E_FIELD_TEXT, place, "the string is not UTF-8");
        fault = ed_format_fault(field, text, bytes);
        if (fault)
                return FAIL(writing, EDDY_E_FIELD_FORMAT, place, "%s", fault);
        return add_quoted(writing, text, bytes, place);
}

static int write_chars(struct writing *writing, const struct eddy_field *field, const char *text,
                       const struct ed_field_place *place)
{
        size_t bytes = strnlen(text, field->bytes);

        if (bytes == field->bytes)
                return FAIL(writing, EDDY_E_FIELD_TEXT, place, "the array has no NUL");
        return write_string(writing, field, text, bytes, place);
}

static int write_raw(struct writing *writing, const struct eddy_field *field, const char *text,
                     const struct ed_field_place *place)
{
        /* A reader of the whole text has this limit, and tables are less deep. */
        struct eddy_json_opts opts = { .depth_max = EDDY_JSON_DEPTH_DEFAULT - writing->depth };
        struct eddy_json_error error;
        size_t bytes = strlen(text), least, most;
        int64_t written;
        char *room;
        int err = ed_buf_reserve(&writing->out, bytes, &room);

        if (err < 0)
                return fail_room(writing, err, place);
        written = eddy_json_compact(text, bytes, room, &opts, &error);
        if (written < 0)
                return FAIL(writing, (int) written, place, "%s", error.text);
        ed_field_bytes_limits(field, &least, &most);
        if ((uint64_t) written < least || (uint64_t) written > most)
                return FAIL(writing, EDDY_E_FIELD_LENGTH, place,
                            "a text of %" PRId64 " bytes, %zu to %zu are allowed", written, least,
                            most);
        ed_buf_grow(&writing->out, (size_t) written);
        return 0;
}

static int write_enum(struct writing *writing, const struct eddy_field *field, int number,
                      const struct ed_field_place *place)
{
        for (int i = 0; field->names[i]; i++)
                if (i == number)
                        return add_quoted(writing, field->names[i], strlen(field->names[i]), place);
        return FAIL(writing, EDDY_E_FIELD_RANGE, place, "%d has no name", number);
}

/* ---- items and members ----------------------------------------------------------------------- */

static int write_struct(struct writing *writing, const struct eddy_fields *fields, const void *in,
                        const struct ed_field_place *place);

static int write_one(struct writing *writing, const struct eddy_field *field, const void *at,
                     const struct ed_field_place *place)
{
        const char *string;

        switch (field->kind) {
        case EDDY_KIND_BOOL:
                return *(const bool *) at ? add(writing, "true", 4, place)
                                          : add(writing, "false", 5, place);
        case EDDY_KIND_INT:
                return write_int(writing, field, at, place);
        case EDDY_KIND_UINT:
                return write_uint(writing, field, at, place);
        case EDDY_KIND_DOUBLE:
                return write_double(writing, field, at, place);
        case EDDY_KIND_CHARS:
                return write_chars(writing, field, at, place);
        case EDDY_KIND_ENUM:
        case EDDY_KIND_TAG:
                return write_enum(writing, field, *(const int *) at, place);
        case EDDY_KIND_STRUCT:
                return write_struct(writing, field->fields, at, place);
        default:
                string = *(char *const *) at;
                if (!string)
                        return FAIL(writing, EDDY_E_FIELD_MISSING, place, "the string is NULL");
                if (field->kind == EDDY_KIND_RAW)
                        return write_raw(writing, field, string, place);
                return write_string(writing, field, string, strlen(string), place);
        }
}

/* The number of items, and that the field allows it. */
static int check_count(const struct writing *writing, const struct eddy_field *field,
                       const char *items, size_t count, const struct ed_field_place *place)
{
        size_t least, most;

        ed_field_items_limits(field, &least, &most);
        if (count >= least && count <= most && (count == 0 || items))
                return 0;
        return FAIL(writing, EDDY_E_FIELD_LENGTH, place, "%zu items, %zu to %zu are allowed",
                    items ? count : 0, least, most);
}

static int check_unique(const struct writing *writing, const struct eddy_field *field,
                        const char *items, size_t count, struct ed_field_place *place)
{
        size_t twin;
        int err = ed_field_twin(field, items, field->bytes, count, &twin);

        if (err < 0)
                return fail_room(writing, err, place);
        if (twin == count)
                return 0;
        place->index = twin;
        place->has_index = true;
        return FAIL(writing, EDDY_E_FIELD_UNIQUE, place, "an earlier item is equal");
}

static int write_items(struct writing *writing, const struct eddy_field *field, const void *in,
                       struct ed_field_place *place)
{
        /* The functions that find members serve readers too. */
        void *from = (void *) (uintptr_t) in;
        const char *items = ed_field_items(field, from);
        size_t count = *ed_field_count(field, from);
        int err = check_count(writing, field, items, count, place);

        if (err == 0)
                err = add(writing, "[", 1, place);
        writing->depth++;
        for (size_t i = 0; err == 0 && i < count; i++) {
                place->index = i;
                place->has_index = true;
                err = i > 0 ? add(writing, ",", 1, place) : 0;
                if (err == 0)
                        err = write_one(writing, field, items + i * field->bytes, place);
                place->has_index = false;
        }
        writing->depth--;
        /* Only now are arrays of characters known to end in a NUL. */
        if (err == 0 && field->unique)
                err = check_unique(writing, field, items, count, place);
        return err < 0 ? err : add(writing, "]", 1, place);
}

/* ---- maps ------------------------------------------------------------------------------------ */

static int write_value(struct writing *writing, const struct eddy_field *field, const void *in,
                       struct ed_field_place *place);

/*
 * Returns true if the member is 0 or empty, and the field does not allow that: a text without the field
 * was read into zeros, and is to be written without the field again.
 */
static bool is_wrong_zero(const struct eddy_field *field, const void *in)
{
        void *from = (void *) (uintptr_t) in;
        const char *member = ed_field_member(field, from);
        size_t least, most;
        uint64_t uint_least, uint_most;
        int64_t int_least, int_most;
        double real_least, real_most;

        if (field->shape != EDDY_SHAPE_ONE) {
                ed_field_items_limits(field, &least, &most);
                return least > 0 && *ed_field_count(field, from) == 0;
        }
        switch (field->kind) {
        case EDDY_KIND_INT:
                (void) ed_field_int_range(field, &int_least, &int_most);
                return ed_field_int_get(member, field->bytes) == 0 &&
                       (int_least > 0 || int_most < 0);
        case EDDY_KIND_UINT:
                (void) ed_field_uint_range(field, &uint_least, &uint_most);
                return ed_field_uint_get(member, field->bytes) == 0 && uint_least > 0;
        case EDDY_KIND_DOUBLE:
                (void) ed_field_real_range(field, &real_least, &real_most);
                return ed_field_double_get(member, field->bytes) == 0 &&
                       (real_least > 0 || real_most < 0);
        case EDDY_KIND_CHARS:
                ed_field_bytes_limits(field, &least, &most);
                return !*member && (least > 0 || ed_format_fault(field, "", 0));
        default:
                return false;
        }
}

static bool has_limits(const struct eddy_field *field)
{
        return field->has_min || field->has_max || field->has_length || field->format;
}

static bool is_absent(const struct writing *writing, const struct eddy_field *field, const void *in)
{
        bool is_pointer = field->kind == EDDY_KIND_STRING || field->kind == EDDY_KIND_RAW;
        const void *member = (const char *) in + field->offset;

        if (writing->is_request ? field->read_only : field->write_only)
                return true;
        if (field->required || ed_field_flag(field->null_flag, in, false))
                return false;
        if (!ed_field_flag(field->flag, in, true))
                return true;
        if (field->shape == EDDY_SHAPE_ONE && is_pointer)
                return !*(char *const *) member;
        return !field->flag && has_limits(field) && is_wrong_zero(field, in);
}

/* The name of an entry of a map. */
static const char *name_of(const struct eddy_field *field, const char *entry)
{
        const char *member = entry + field->offset;

        return field->kind == EDDY_KIND_CHARS ? member : *(char *const *) (const void *) member;
}

/* A value that is absent is null, because the name is there. */
static int write_entry(struct writing *writing, const struct eddy_fields *fields, const char *entry,
                       const struct ed_field_place *up)
{
        const struct eddy_field *name = &fields->list[0], *value = &fields->list[1];
        struct ed_field_place place = { .up = up, .name = name_of(name, entry) };
        int err;

        if (!place.name)
                return FAIL(writing, EDDY_E_FIELD_MISSING, up, "a name is NULL");
        place.name_bytes = name->kind == EDDY_KIND_CHARS ? strnlen(place.name, name->bytes)
                                                         : strlen(place.name);
        err = write_one(writing, name, entry + name->offset, &place);
        if (err == 0)
                err = add(writing, ":", 1, &place);
        if (err < 0)
                return err;
        return is_absent(writing, value, entry) ? add(writing, "null", 4, &place)
                                                : write_value(writing, value, entry, &place);
}

static int check_names(const struct writing *writing, const struct eddy_field *field,
                       const char *items, size_t count, const struct ed_field_place *up)
{
        const struct eddy_field *name = &field->fields->list[0];
        struct ed_field_place place = { .up = up };
        size_t twin = 0;
        int err = count == 0
                          ? 0
                          : ed_field_twin(name, items + name->offset, field->bytes, count, &twin);

        if (err < 0)
                return fail_room(writing, err, up);
        if (twin == count)
                return 0;
        place.name = name_of(name, items + twin * field->bytes);
        place.name_bytes = strlen(place.name);
        return FAIL(writing, EDDY_E_FIELD_DUPLICATE, &place, "the name is given twice");
}

static int write_map(struct writing *writing, const struct eddy_field *field, const void *in,
                     const struct ed_field_place *place)
{
        void *from = (void *) (uintptr_t) in;
        const char *items = ed_field_items(field, from);
        size_t count = *ed_field_count(field, from);
        int err = check_count(writing, field, items, count, place);

        if (err == 0)
                err = add(writing, "{", 1, place);
        writing->depth++;
        for (size_t i = 0; err == 0 && i < count; i++) {
                err = i > 0 ? add(writing, ",", 1, place) : 0;
                if (err == 0)
                        err = write_entry(writing, field->fields, items + i * field->bytes, place);
        }
        writing->depth--;
        if (err == 0)
                err = check_names(writing, field, items, count, place);
        return err < 0 ? err : add(writing, "}", 1, place);
}

/* ---- structs --------------------------------------------------------------------------------- */

static int write_value(struct writing *writing, const struct eddy_field *field, const void *in,
                       struct ed_field_place *place)
{
        if (ed_field_flag(field->null_flag, in, false))
                return add(writing, "null", 4, place);
        if (field->shape == EDDY_SHAPE_ONE)
                return write_one(writing, field, (const char *) in + field->offset, place);
        return field->shape == EDDY_SHAPE_MAP ? write_map(writing, field, in, place)
                                              : write_items(writing, field, in, place);
}

/* Append the members of a struct; 'is_first' says that no other member is before them. */
static int write_members(struct writing *writing, const struct eddy_fields *fields, const void *in,
                         bool is_first, const struct ed_field_place *up)
{
        int err = 0;

        for (size_t i = 0; err == 0 && i < fields->count; i++) {
                const struct eddy_field *field = &fields->list[i];
                struct ed_field_place place;

                if (is_absent(writing, field, in))
                        continue;
                place = ed_field_place_of(up, field);
                err = is_first ? 0 : add(writing, ",", 1, &place);
                is_first = false;
                if (err == 0)
                        err = add_quoted(writing, place.name, place.name_bytes, &place);
                if (err == 0)
                        err = add(writing, ":", 1, &place);
                if (err == 0)
                        err = write_value(writing, field, in, &place);
        }
        return err;
}

/* The tag, and the members of the struct that the tag chooses. */
static int write_union(struct writing *writing, const struct eddy_fields *fields, const void *in,
                       const struct ed_field_place *up)
{
        const struct eddy_fields tag = { .list = fields->list, .count = 1 };
        const struct eddy_field *chosen = ed_field_chosen(fields, in);
        int err = write_members(writing, &tag, in, true, up);

        if (err < 0 || !chosen)
                return err;
        return write_members(writing, chosen->fields, (const char *) in + chosen->offset, false,
                             up);
}

static int write_struct(struct writing *writing, const struct eddy_fields *fields, const void *in,
                        const struct ed_field_place *up)
{
        int err = add(writing, "{", 1, up);

        writing->depth++;
        if (err == 0)
                err = ed_fields_are_union(fields) ? write_union(writing, fields, in, up)
                                                  : write_members(writing, fields, in, true, up);
        writing->depth--;
        return err < 0 ? err : add(writing, "}", 1, up);
}

int eddy_json_write_as(const struct eddy_fields *fields, const void *in, unsigned flags,
                       char **ret_text, size_t *ret_bytes, struct eddy_json_error *ret_error)
{
        struct writing writing = { .error = ret_error, .is_request = flags & EDDY_JSON_REQUEST };
        int err;

        if (flags & ~(unsigned) EDDY_JSON_REQUEST)
                return FAIL(&writing, -EINVAL, NULL, "an unknown flag");
        err = ed_fields_check(fields, ret_error);
        if (err < 0)
                return err;
        ed_buf_init(&writing.out, EDDY_JSON_WRITTEN_MAX);
        err = write_struct(&writing, fields, in, NULL);
        if (err == 0)
                err = add(&writing, "", 1, NULL);
        if (err < 0) {
                ed_buf_fini(&writing.out);
                return err;
        }
        *ret_text = writing.out.memory; /* nothing was consumed, so it begins there */
        *ret_bytes = ed_buf_bytes(&writing.out) - 1;
        return 0;
}

int eddy_json_write(const struct eddy_fields *fields, const void *in, char **ret_text,
                    size_t *ret_bytes, struct eddy_json_error *ret_error)
{
        return eddy_json_write_as(fields, in, 0, ret_text, ret_bytes, ret_error);
}
