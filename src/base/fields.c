/*
 * base/fields.c - tables of fields: whether they are usable, and what structs own.
 */
#include "base/fields.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "eddy/error.h"

/* The tables around a table. */
struct around {
        const struct around *up;
        const struct eddy_fields *fields;
        int depth;
};

static bool is_inside(const struct eddy_fields *fields, size_t offset, size_t bytes)
{
        return offset <= fields->bytes && bytes <= fields->bytes - offset;
}

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
                return field->bytes == sizeof(double);
        case EDDY_KIND_ENUM:
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

/* Returns the reason why a field is not usable, or NULL. */
static const char *field_fault(const struct eddy_fields *fields, const struct eddy_field *field)
{
        size_t items = 1, bytes;

        if (!field->name)
                return "a field has no name";
        if (!has_size_of_kind(field))
                return "a field has another size than its kind, or no list of names, or no table";
        if (field->shape == EDDY_SHAPE_LIST)
                return is_inside(fields, field->offset, sizeof(void *)) &&
                                       is_inside(fields, field->count_offset, sizeof(size_t))
                               ? NULL
                               : "a list is outside of its struct";
        if (field->shape == EDDY_SHAPE_ARRAY)
                items = field->items_max;
        else if (field->shape != EDDY_SHAPE_ONE)
                return "a field has an unknown shape";
        if (items == 0 || __builtin_mul_overflow(items, field->bytes, &bytes) ||
            !is_inside(fields, field->offset, bytes) ||
            (field->shape == EDDY_SHAPE_ARRAY &&
             !is_inside(fields, field->count_offset, sizeof(size_t))))
                return "a field is outside of its struct";
        return NULL;
}

static bool meet(size_t a, size_t a_bytes, size_t b, size_t b_bytes)
{
        return a < b + b_bytes && b < a + a_bytes;
}

static size_t member_bytes(const struct eddy_field *field)
{
        if (field->shape == EDDY_SHAPE_LIST)
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

/* Returns true if the field has pointers or a count, which no other field may change. */
static bool has_pointers(const struct eddy_field *field)
{
        return field->shape != EDDY_SHAPE_ONE || field->kind == EDDY_KIND_STRING ||
               field->kind == EDDY_KIND_RAW || field->kind == EDDY_KIND_STRUCT;
}

static bool shares_pointers(const struct eddy_fields *fields)
{
        for (size_t i = 0; i < fields->count; i++)
                for (size_t j = 0; has_pointers(&fields->list[i]) && j < fields->count; j++)
                        if (share_memory(&fields->list[i], &fields->list[j]))
                                return true;
        return false;
}

/* Returns true if the byte at 'at' is part of a pointer, a count or an array of the struct. */
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
static bool has_flag_on_pointer(const struct eddy_fields *fields)
{
        for (size_t i = 0; i < fields->count; i++)
                if (fields->list[i].flag && is_on_pointer(fields, fields->list[i].flag - 1))
                        return true;
        return false;
}

static const char *table_fault(const struct eddy_fields *fields, const struct around *up)
{
        struct around here = { .up = up, .fields = fields, .depth = up ? up->depth + 1 : 1 };
        const char *reason = NULL;

        if (!fields || (fields->count > 0 && !fields->list))
                return "the table has no fields";
        if (fields->count > EDDY_FIELDS_MAX)
                return "a table has more than EDDY_FIELDS_MAX fields";
        if (fields->flags & ~(uint32_t) EDDY_FIELDS_STRICT)
                return "a table has an unknown flag";
        if (here.depth > EDDY_FIELDS_DEPTH_MAX)
                return "more than EDDY_FIELDS_DEPTH_MAX tables are inside of each other";
        for (; up; up = up->up)
                if (up->fields == fields)
                        return "a table is inside of itself";
        for (size_t i = 0; i < fields->count && !reason; i++) {
                const struct eddy_field *field = &fields->list[i];

                reason = field_fault(fields, field);
                if (!reason && field->flag > fields->bytes)
                        reason = "a flag is outside of its struct";
                if (!reason && field->kind == EDDY_KIND_STRUCT)
                        reason = table_fault(field->fields, &here);
        }
        if (!reason && shares_pointers(fields))
                reason = "two fields share a pointer, a count or a struct";
        if (!reason && has_flag_on_pointer(fields))
                reason = "a flag is on a pointer, a count or an array";
        return reason;
}

bool ed_fields_are_usable(const struct eddy_fields *fields, const char **ret_reason)
{
        *ret_reason = table_fault(fields, NULL);
        return !*ret_reason;
}

static bool has_names_twice(const struct eddy_fields *fields)
{
        for (size_t i = 0; i < fields->count; i++) {
                const struct eddy_field *field = &fields->list[i];

                for (size_t j = 0; j < i; j++)
                        if (strcmp(ed_field_name(field), ed_field_name(&fields->list[j])) == 0)
                                return true;
                if (field->kind == EDDY_KIND_STRUCT && has_names_twice(field->fields))
                        return true;
        }
        return false;
}

int eddy_fields_check(const struct eddy_fields *fields)
{
        const char *reason;

        if (!ed_fields_are_usable(fields, &reason) || has_names_twice(fields))
                return EDDY_E_FIELD_TABLE;
        return 0;
}

/* The limits of the table, and the room of the struct. */
static void cap(const struct eddy_field *field, bool is_limited, size_t usual, size_t room,
                size_t *ret_least, size_t *ret_most)
{
        size_t most = is_limited ? field->length_max : usual;

        *ret_least = is_limited ? field->length_min : 0;
        *ret_most = most < room ? most : room;
}

void ed_field_bytes_limits(const struct eddy_field *field, size_t *ret_least, size_t *ret_most)
{
        cap(field, field->has_length && field->shape == EDDY_SHAPE_ONE, EDDY_FIELDS_STRING_MAX,
            field->kind == EDDY_KIND_CHARS ? field->bytes - 1 : SIZE_MAX, ret_least, ret_most);
}

void ed_field_items_limits(const struct eddy_field *field, size_t *ret_least, size_t *ret_most)
{
        cap(field, field->has_length, EDDY_FIELDS_ITEMS_MAX,
            field->shape == EDDY_SHAPE_ARRAY ? field->items_max : SIZE_MAX, ret_least, ret_most);
}

void ed_fields_blank(const struct eddy_fields *fields, void *in)
{
        for (size_t i = 0; i < fields->count; i++) {
                const struct eddy_field *field = &fields->list[i];
                void *member = ed_field_member(field, in);

                ed_field_set_flag(field, in, false);
                if (field->shape != EDDY_SHAPE_ONE)
                        *ed_field_count(field, in) = 0;
                if (field->shape == EDDY_SHAPE_LIST ||
                    (field->shape == EDDY_SHAPE_ONE &&
                     (field->kind == EDDY_KIND_STRING || field->kind == EDDY_KIND_RAW)))
                        *(void **) member = NULL;
                else if (field->shape == EDDY_SHAPE_ONE && field->kind == EDDY_KIND_STRUCT)
                        ed_fields_blank(field->fields, member);
        }
}

static void one_fini(const struct eddy_field *field, void *at)
{
        if (field->kind == EDDY_KIND_STRUCT) {
                eddy_fields_fini(field->fields, at);
        } else if (field->kind == EDDY_KIND_STRING || field->kind == EDDY_KIND_RAW) {
                ed_free(*(void **) at);
                *(void **) at = NULL;
        }
}

void eddy_fields_fini(const struct eddy_fields *fields, void *in)
{
        for (size_t i = 0; in && i < fields->count; i++) {
                const struct eddy_field *field = &fields->list[i];
                char *items = ed_field_items(field, in);

                if (field->shape == EDDY_SHAPE_ONE) {
                        one_fini(field, items);
                        continue;
                }
                for (size_t n = 0; items && n < *ed_field_count(field, in); n++)
                        one_fini(field, items + n * field->bytes);
                *ed_field_count(field, in) = 0;
                if (field->shape == EDDY_SHAPE_LIST) {
                        ed_free(items);
                        *(void **) ed_field_member(field, in) = NULL;
                }
        }
}

static void path_add(const struct ed_field_place *place, struct ed_text *text)
{
        if (!place)
                return;
        path_add(place->up, text);
        ed_text_add(text, "%s%.*s", place->up ? "." : "", (int) place->name_bytes, place->name);
        if (place->has_index)
                ed_text_add(text, "[%zu]", place->index);
}

void ed_field_path(const struct ed_field_place *place, char *out, size_t room)
{
        struct ed_text text = { out, room };

        out[0] = '\0';
        path_add(place, &text);
}
