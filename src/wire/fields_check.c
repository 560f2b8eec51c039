/*
 * wire/fields_check.c - whether a table of fields is usable: a fault names its field.
 */
#include <errno.h>
#include <string.h>

#include "base/fields.h"
#include "eddy/error.h"
#include "wire/format.h"
#include "wire/json.h"
#include "wire/json_reading.h"

/* The tables around a table, and where the table is. */
struct around {
        const struct around *up;
        const struct eddy_fields *fields;
        const struct ed_field_place *place;
        struct eddy_json_error *error;
        int depth;
};

#define FAIL(around, place, ...)                                                                   \
        ed_json_fail((around)->error, EDDY_E_FIELD_TABLE, NULL, 0, place, __VA_ARGS__)

static bool is_inside(const struct eddy_fields *fields, size_t offset, size_t bytes)
{
        return offset <= fields->bytes && bytes <= fields->bytes - offset;
}

static bool is_string(const struct eddy_field *field)
{
        return field->kind == EDDY_KIND_CHARS || field->kind == EDDY_KIND_STRING;
}

static bool is_number(const struct eddy_field *field)
{
        return field->kind == EDDY_KIND_INT || field->kind == EDDY_KIND_UINT ||
               field->kind == EDDY_KIND_DOUBLE;
}

static bool is_list(const struct eddy_field *field)
{
        return field->shape == EDDY_SHAPE_ARRAY || field->shape == EDDY_SHAPE_LIST;
}

/* ---- types and places of members ------------------------------------------------------------- */

static bool has_size_of_kind(const struct eddy_field *field)
{
        switch (field->kind) {
        case EDDY_KIND_BOOL:
                return field->bytes == sizeof(bool);
        case EDDY_KIND_INT:
        case EDDY_KIND_UINT:
                return field->bytes == 1 || field->bytes == 2 || field->bytes == 4 ||
                       field->bytes == 8;
        case EDDY_KIND_DOUBLE:
                return field->bytes == sizeof(double) || field->bytes == sizeof(float);
        case EDDY_KIND_ENUM:
        case EDDY_KIND_TAG:
                return field->bytes == sizeof(int) && field->names;
        case EDDY_KIND_STRING:
        case EDDY_KIND_RAW:
                return field->bytes == sizeof(char *);
        case EDDY_KIND_STRUCT:
                return field->fields && field->bytes == field->fields->bytes;
        default:
                return field->kind == EDDY_KIND_CHARS && field->bytes > 0;
        }
}

static const char *member_fault(const struct eddy_fields *fields, const struct eddy_field *field)
{
        size_t items = 1, bytes;

        if (!has_size_of_kind(field))
                return "it has another size than its kind, or no list of names, or no table";
        if (field->flag > fields->bytes || field->null_flag > fields->bytes)
                return "its flag is outside of the struct";
        if (field->shape < EDDY_SHAPE_ONE || field->shape > EDDY_SHAPE_MAP)
                return "its shape is not known";
        if (ed_field_is_owned(field))
                return is_inside(fields, field->offset, sizeof(void *)) &&
                                       is_inside(fields, field->count_offset, sizeof(size_t))
                               ? NULL
                               : "the list is outside of the struct";
        if (field->shape == EDDY_SHAPE_ARRAY)
                items = field->items_max;
        if (items == 0 || __builtin_mul_overflow(items, field->bytes, &bytes) ||
            !is_inside(fields, field->offset, bytes) ||
            (field->shape == EDDY_SHAPE_ARRAY &&
             !is_inside(fields, field->count_offset, sizeof(size_t))))
                return "it is outside of the struct";
        return NULL;
}

/* ---- options --------------------------------------------------------------------------------- */

static bool is_limit(int limit, double number)
{
        return limit >= EDDY_LIMIT_NONE && limit <= EDDY_LIMIT_INTEGER && number == number;
}

static const char *limit_fault(const struct eddy_field *field)
{
        int64_t least, most;
        uint64_t positive_least, positive_most;
        double real_least, real_most;
        bool is_possible;

        if (!is_number(field))
                return "it has a minimum or maximum, but is not a number";
        if (!is_limit(field->has_min, field->min) || !is_limit(field->has_max, field->max))
                return "its minimum or maximum is not a number";
        if (field->kind == EDDY_KIND_INT)
                is_possible = ed_field_int_range(field, &least, &most);
        else if (field->kind == EDDY_KIND_UINT)
                is_possible = ed_field_uint_range(field, &positive_least, &positive_most);
        else
                is_possible = ed_field_real_range(field, &real_least, &real_most);
        return is_possible ? NULL : "its minimum and maximum allow no number of its type";
}

static const char *length_fault(const struct eddy_field *field)
{
        size_t least, most;

        if (field->has_length && field->shape == EDDY_SHAPE_ONE && !is_string(field) &&
            field->kind != EDDY_KIND_RAW)
                return "it has a length, but is neither a string nor a list";
        if (field->has_item_length && (!is_list(field) || !is_string(field)))
                return "its items have a length, but are not strings";
        ed_field_bytes_limits(field, &least, &most);
        if (least > most)
                return "its length allows no string";
        if (field->shape == EDDY_SHAPE_ONE)
                return NULL;
        ed_field_items_limits(field, &least, &most);
        return least > most ? "its length allows no number of items" : NULL;
}

static const char *other_fault(const struct eddy_field *field)
{
        if (field->unique &&
            (!is_list(field) || field->kind == EDDY_KIND_STRUCT || field->kind == EDDY_KIND_RAW))
                return "it is unique, but is not a list of scalars or strings";
        if (field->format && !is_string(field))
                return "it has a format, but is not a string";
        if (field->format_fn && !field->format)
                return "its format has no name";
        if (field->read_only && field->write_only)
                return "it is both read-only and write-only";
        if (field->names && !field->names[0])
                return "its list of names is empty";
        return NULL;
}

/* An entry of a map is a name and a value. */
static const char *map_fault(const struct eddy_field *field)
{
        const struct eddy_fields *entry = field->fields;

        if (field->kind != EDDY_KIND_STRUCT)
                return "a map has no table of its entries";
        if (entry->count != 2 || !entry->list || entry->list[0].shape != EDDY_SHAPE_ONE ||
            !is_string(&entry->list[0]))
                return "the table of a map has two fields, of which the first is a string";
        for (size_t i = 0; i < entry->count; i++)
                if (entry->list[i].read_only || entry->list[i].write_only)
                        return "the name or value of a map is read-only or write-only";
        return NULL;
}

/* ---- tagged unions --------------------------------------------------------------------------- */

static bool has_name(const struct eddy_fields *fields, const char *name)
{
        for (size_t i = 0; fields->list && i < fields->count; i++)
                if (fields->list[i].name && strcmp(ed_field_name(&fields->list[i]), name) == 0)
                        return true;
        return false;
}

/* The tag is first, and each other field is a struct that one of its names chooses. */
static const char *union_fault(const struct eddy_fields *fields, const struct eddy_field *field)
{
        size_t names = 0;

        if (!ed_fields_are_union(fields))
                return "a tag is not the first field";
        if (field->flag || field->null_flag)
                return "a tag or a struct that it chooses has a flag";
        if (field->read_only || field->write_only)
                return "a tag or a struct that it chooses is read-only or write-only";
        if (field != fields->list) {
                if (field->kind != EDDY_KIND_STRUCT || field->shape != EDDY_SHAPE_ONE)
                        return "it follows a tag, but is not a struct";
                if (field->fields->count > EDDY_FIELDS_MAX || ed_fields_are_union(field->fields))
                        return "a struct that a tag chooses is a tagged union itself";
                return has_name(field->fields, ed_field_name(fields->list))
                               ? "it has a field with the name of the tag"
                               : NULL;
        }
        while (names <= EDDY_FIELDS_MAX && field->names[names])
                names++;
        if (field->shape != EDDY_SHAPE_ONE)
                return "a tag is not one value";
        return names + 1 == fields->count ? NULL : "the tag does not have one name for each struct";
}

/* ---- memory ---------------------------------------------------------------------------------- */

static bool meet(size_t a, size_t a_bytes, size_t b, size_t b_bytes)
{
        return a < b + b_bytes && b < a + a_bytes;
}

static size_t member_bytes(const struct eddy_field *field)
{
        if (ed_field_is_owned(field))
                return sizeof(void *);
        return field->shape == EDDY_SHAPE_ARRAY ? field->items_max * field->bytes : field->bytes;
}

static bool meets_count(const struct eddy_field *field, size_t offset, size_t bytes)
{
        return field->shape != EDDY_SHAPE_ONE &&
               meet(field->count_offset, sizeof(size_t), offset, bytes);
}

static bool share_memory(const struct eddy_field *a, const struct eddy_field *b)
{
        size_t a_bytes = member_bytes(a), b_bytes = member_bytes(b);

        return (a != b && meet(a->offset, a_bytes, b->offset, b_bytes)) ||
               meets_count(a, b->offset, b_bytes) || meets_count(b, a->offset, a_bytes) ||
               (a != b && b->shape != EDDY_SHAPE_ONE &&
                meets_count(a, b->count_offset, sizeof(size_t)));
}

/* Returns true if the field has pointers, a count or a tag, which no other field may change. */
static bool has_pointers(const struct eddy_field *field)
{
        enum {
                KINDS = 1 << EDDY_KIND_STRING | 1 << EDDY_KIND_RAW | 1 << EDDY_KIND_STRUCT |
                        1 << EDDY_KIND_TAG
        };

        return field->shape != EDDY_SHAPE_ONE || (KINDS >> field->kind & 1);
}

/* The structs that a tag chooses may share memory with each other. */
static int check_shared(const struct around *here)
{
        const struct eddy_fields *fields = here->fields;
        size_t rivals = ed_fields_are_union(fields) ? 1 : fields->count;

        for (size_t i = 0; i < rivals; i++) {
                const struct eddy_field *a = &fields->list[i], *b = a;
                bool a_has = has_pointers(a);

                for (; b < fields->list + fields->count; b++) {
                        struct ed_field_place place;

                        if ((!a_has && !has_pointers(b)) || !share_memory(a, b))
                                continue;
                        place = ed_field_place_of(here->place, a_has ? a : b);
                        return FAIL(here, &place, "it shares a pointer, a count or a struct");
                }
        }
        return 0;
}

/* Returns true if the byte at 'at' is part of a pointer, a count, a tag or an array of the struct. */
static bool is_on_pointer(const struct eddy_fields *fields, size_t at)
{
        for (size_t i = 0; i < fields->count; i++) {
                const struct eddy_field *field = &fields->list[i];
                bool is_struct = field->kind == EDDY_KIND_STRUCT && field->shape == EDDY_SHAPE_ONE;

                if (meets_count(field, at, 1))
                        return true;
                if (!has_pointers(field) || !meet(field->offset, member_bytes(field), at, 1))
                        continue;
                if (!is_struct || is_on_pointer(field->fields, at - field->offset))
                        return true;
        }
        return false;
}

/* A flag is one more than its offset. */
static int check_flags(const struct around *here)
{
        const struct eddy_fields *fields = here->fields;

        for (size_t i = 0; i < fields->count; i++) {
                const struct eddy_field *field = &fields->list[i];
                struct ed_field_place place;

                if ((!field->flag || !is_on_pointer(fields, field->flag - 1)) &&
                    (!field->null_flag || !is_on_pointer(fields, field->null_flag - 1)))
                        continue;
                place = ed_field_place_of(here->place, field);
                return FAIL(here, &place, "its flag is on a pointer, a count, a tag or an array");
        }
        return 0;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static int check_table(const struct eddy_fields *fields, const struct around *up,
                       const struct ed_field_place *place, struct eddy_json_error *error);

/* Returns the reason why a field is not usable, or NULL. Each call checks tables, so this is fast. */
static const char *field_fault(const struct eddy_fields *fields, const struct eddy_field *field)
{
        const char *reason = member_fault(fields, field);

        if (!reason && (field->has_min || field->has_max))
                reason = limit_fault(field);
        if (!reason && (field->has_length || field->has_item_length))
                reason = length_fault(field);
        if (!reason)
                reason = other_fault(field);
        if (!reason && field->shape == EDDY_SHAPE_MAP)
                reason = map_fault(field);
        if (!reason && (field->kind == EDDY_KIND_TAG || ed_fields_are_union(fields)))
                reason = union_fault(fields, field);
        return reason;
}

static int check_field(const struct around *here, size_t i)
{
        const struct eddy_field *field = &here->fields->list[i];
        struct ed_field_place place;
        const char *reason;

        if (!field->name)
                return FAIL(here, here->place, "field %zu has no name", i);
        reason = field_fault(here->fields, field);
        if (!reason && !field->format && field->kind != EDDY_KIND_STRUCT)
                return 0;
        place = ed_field_place_of(here->place, field);
        if (reason)
                return FAIL(here, &place, "%s", reason);
        if (field->format && !ed_format_fn(field))
                return FAIL(here, &place, "the format '%s' is not known", field->format);
        if (field->kind == EDDY_KIND_STRUCT)
                return check_table(field->fields, here, &place, here->error);
        return 0;
}

static int check_table(const struct eddy_fields *fields, const struct around *up,
                       const struct ed_field_place *place, struct eddy_json_error *error)
{
        struct around here = { up, fields, place, error, up ? up->depth + 1 : 1 };
        int err = 0;

        if (!fields || (fields->count > 0 && !fields->list))
                return FAIL(&here, place, "the table has no fields");
        if (fields->count > EDDY_FIELDS_MAX)
                return FAIL(&here, place, "the table has more than EDDY_FIELDS_MAX fields");
        if (fields->flags & ~(uint32_t) EDDY_FIELDS_STRICT)
                return FAIL(&here, place, "the table has an unknown flag");
        if (here.depth > EDDY_FIELDS_DEPTH_MAX)
                return FAIL(&here, place,
                            "more than EDDY_FIELDS_DEPTH_MAX tables are inside of each other");
        for (; up; up = up->up)
                if (up->fields == fields)
                        return FAIL(&here, place, "the table is inside of itself");
        for (size_t i = 0; i < fields->count && err == 0; i++)
                err = check_field(&here, i);
        if (err == 0)
                err = check_shared(&here);
        return err < 0 ? err : check_flags(&here);
}

/* ---- examples and defaults ------------------------------------------------------------------- */

static int check_text(const struct eddy_fields *fields, const struct eddy_field *field,
                      const struct ed_field_place *place, const char *what, const char *text,
                      struct eddy_json_error *ret_error)
{
        struct eddy_json_error error;
        int err = text ? ed_json_field_check(field, fields->bytes, text, &error) : 0;

        if (err == 0)
                return 0;
        if (err == -ENOMEM)
                return ed_json_fail(ret_error, err, NULL, 0, place, "out of memory");
        return ed_json_fail(ret_error, EDDY_E_FIELD_TABLE, NULL, 0, place, "the %s is wrong: %s",
                            what, error.text);
}

static int check_texts(const struct eddy_fields *fields, const struct ed_field_place *up,
                       struct eddy_json_error *ret_error)
{
        int err = 0;

        for (size_t i = 0; i < fields->count && err == 0; i++) {
                const struct eddy_field *field = &fields->list[i];
                struct ed_field_place place = ed_field_place_of(up, field);

                err = check_text(fields, field, &place, "example", field->example, ret_error);
                if (err == 0)
                        err = check_text(fields, field, &place, "default", field->default_value,
                                         ret_error);
                if (err == 0 && field->kind == EDDY_KIND_STRUCT)
                        err = check_texts(field->fields, &place, ret_error);
        }
        return err;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/*
 * The tables whose examples and defaults were checked, each by a hash of its address: these texts do
 * not matter to a reader, so a table that is forgotten, or taken for another, does no harm.
 */
static uint64_t known[64];

static uint64_t hash(const struct eddy_fields *fields)
{
        uint64_t number = (uintptr_t) fields ^ ((uint64_t) (uintptr_t) fields->list << 20);

        return (number + fields->count) * 0x9e3779b97f4a7c15u;
}

int ed_fields_check(const struct eddy_fields *fields, struct eddy_json_error *ret_error)
{
        int err = check_table(fields, NULL, NULL, ret_error);
        uint64_t own, *slot;

        if (err < 0)
                return err;
        own = hash(fields);
        slot = &known[own >> 58];
        if (__atomic_load_n(slot, __ATOMIC_RELAXED) == own)
                return 0;
        err = check_texts(fields, NULL, ret_error);
        if (err == 0)
                __atomic_store_n(slot, own, __ATOMIC_RELAXED);
        return err;
}

/* ---- names ----------------------------------------------------------------------------------- */

static const char *name_given_twice(const struct eddy_field *field)
{
        for (size_t i = 0; field->names && field->names[i]; i++)
                for (size_t j = 0; j < i; j++)
                        if (strcmp(field->names[i], field->names[j]) == 0)
                                return field->names[i];
        return NULL;
}

static int check_names(const struct eddy_fields *fields, const struct ed_field_place *up,
                       struct eddy_json_error *error)
{
        int err = 0;

        for (size_t i = 0; i < fields->count && err == 0; i++) {
                const struct eddy_field *field = &fields->list[i];
                struct ed_field_place place = ed_field_place_of(up, field);
                const char *twice = name_given_twice(field);

                if (twice)
                        return ed_json_fail(error, EDDY_E_FIELD_TABLE, NULL, 0, &place,
                                            "it has the name '%s' twice", twice);
                /* The fields of an entry and of a union have no names outside of C. */
                for (size_t j = 0; j < i && !ed_fields_are_union(fields); j++)
                        if (strcmp(ed_field_name(field), ed_field_name(&fields->list[j])) == 0)
                                return ed_json_fail(error, EDDY_E_FIELD_TABLE, NULL, 0, &place,
                                                    "two fields have this name");
                if (field->kind == EDDY_KIND_STRUCT)
                        err = check_names(field->fields, &place, error);
        }
        return err;
}

int eddy_fields_check(const struct eddy_fields *fields, struct eddy_json_error *ret_error)
{
        int err = check_table(fields, NULL, NULL, ret_error);

        if (err == 0)
                err = check_texts(fields, NULL, ret_error);
        return err < 0 ? err : check_names(fields, NULL, ret_error);
}
