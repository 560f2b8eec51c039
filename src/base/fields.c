/*
 * base/fields.c - tables of fields: their limits, and what structs own.
 */
#include "base/fields.h"

#include <float.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

/* ---- limits ---------------------------------------------------------------------------------- */

#define TWO_63 9223372036854775808.0
#define TWO_64 18446744073709551616.0

/*
 * The least and greatest integer that a limit allows, exactly. Returns false if there is none: the
 * limit is beyond all numbers of the type.
 */
static bool int_least(int limit, double real, uint64_t integer, int64_t *least)
{
        int64_t number = INT64_MIN;

        if (limit == EDDY_LIMIT_INTEGER) {
                if (real >= 0 && integer > INT64_MAX)
                        return false;
                number = (int64_t) integer;
        } else if (limit == EDDY_LIMIT_REAL) {
                if (real >= TWO_63)
                        return false;
                if (real > -TWO_63) {
                        number = (int64_t) real;
                        number += (double) number < real;
                }
        }
        *least = number > *least ? number : *least;
        return true;
}

static bool int_most(int limit, double real, uint64_t integer, int64_t *most)
{
        int64_t number = INT64_MAX;

        if (limit == EDDY_LIMIT_INTEGER) {
                if (real < 0 || integer <= INT64_MAX)
                        number = (int64_t) integer;
        } else if (limit == EDDY_LIMIT_REAL) {
                if (real < -TWO_63)
                        return false;
                if (real < TWO_63) {
                        number = (int64_t) real;
                        number -= (double) number > real;
                }
        }
        *most = number < *most ? number : *most;
        return true;
}

static bool uint_least(int limit, double real, uint64_t integer, uint64_t *least)
{
        if (limit == EDDY_LIMIT_NONE || real <= 0)
                return true;
        if (limit == EDDY_LIMIT_REAL) {
                if (real >= TWO_64)
                        return false;
                integer = (uint64_t) real;
                integer += (double) integer < real;
        }
        *least = integer;
        return true;
}

static bool uint_most(int limit, double real, uint64_t integer, uint64_t *most)
{
        if (limit == EDDY_LIMIT_NONE)
                return true;
        if (real < 0)
                return false;
        if (limit == EDDY_LIMIT_REAL)
                integer = real >= TWO_64 ? UINT64_MAX : (uint64_t) real;
        *most = integer < *most ? integer : *most;
        return true;
}

bool ed_field_int_range(const struct eddy_field *field, int64_t *ret_least, int64_t *ret_most)
{
        *ret_least = INT64_MIN >> (64 - 8 * field->bytes);
        *ret_most = INT64_MAX >> (64 - 8 * field->bytes);
        if (!field->has_min && !field->has_max)
                return true;
        return int_least(field->has_min, field->min, field->min_integer, ret_least) &&
               int_most(field->has_max, field->max, field->max_integer, ret_most) &&
               *ret_least <= *ret_most;
}

bool ed_field_uint_range(const struct eddy_field *field, uint64_t *ret_least, uint64_t *ret_most)
{
        *ret_least = 0;
        *ret_most = UINT64_MAX >> (64 - 8 * field->bytes);
        if (!field->has_min && !field->has_max)
                return true;
        return uint_least(field->has_min, field->min, field->min_integer, ret_least) &&
               uint_most(field->has_max, field->max, field->max_integer, ret_most) &&
               *ret_least <= *ret_most;
}

bool ed_field_real_range(const struct eddy_field *field, double *ret_least, double *ret_most)
{
        double most = field->bytes == sizeof(float) ? (double) FLT_MAX : DBL_MAX;

        *ret_least = -most;
        *ret_most = most;
        if (field->has_min && ed_field_real(field, field->min) > *ret_least)
                *ret_least = ed_field_real(field, field->min);
        if (field->has_max && ed_field_real(field, field->max) < *ret_most)
                *ret_most = ed_field_real(field, field->max);
        return *ret_least <= *ret_most;
}

/* The smaller of the table's limit and the room of the struct. */
static size_t smaller(size_t most, size_t room)
{
        return most < room ? most : room;
}

void ed_field_bytes_limits(const struct eddy_field *field, size_t *ret_least, size_t *ret_most)
{
        size_t room = field->kind == EDDY_KIND_CHARS ? field->bytes - 1 : SIZE_MAX;

        *ret_least = 0;
        *ret_most = smaller(EDDY_FIELDS_STRING_MAX, room);
        if (field->shape == EDDY_SHAPE_ONE && field->has_length) {
                *ret_least = field->length_min;
                *ret_most = smaller(field->length_max, room);
        } else if (field->shape != EDDY_SHAPE_ONE && field->has_item_length) {
                *ret_least = field->item_length_min;
                *ret_most = smaller(field->item_length_max, room);
        }
}

void ed_field_items_limits(const struct eddy_field *field, size_t *ret_least, size_t *ret_most)
{
        size_t room = field->shape == EDDY_SHAPE_ARRAY ? field->items_max : SIZE_MAX;

        *ret_least = field->has_length ? field->length_min : 0;
        *ret_most = smaller(field->has_length ? field->length_max : EDDY_FIELDS_ITEMS_MAX, room);
}

/* ---- what structs own ------------------------------------------------------------------------ */

/* The structs that a tag chooses have no defaults, because one may overlap the pointers of another. */
static void union_blank(const struct eddy_fields *fields, void *in)
{
        for (size_t i = 1; i < fields->count; i++)
                memset(ed_field_member(&fields->list[i], in), 0, fields->list[i].bytes);
}

void ed_fields_blank(const struct eddy_fields *fields, void *in)
{
        if (ed_fields_are_union(fields)) {
                union_blank(fields, in);
                return;
        }
        for (size_t i = 0; i < fields->count; i++) {
                const struct eddy_field *field = &fields->list[i];
                void *member = ed_field_member(field, in);

                ed_field_set_flag(field->flag, in, false);
                ed_field_set_flag(field->null_flag, in, false);
                if (field->shape != EDDY_SHAPE_ONE)
                        *ed_field_count(field, in) = 0;
                if (ed_field_is_owned(field) ||
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

/* Only the struct that the tag chooses owns something. */
static void union_fini(const struct eddy_fields *fields, void *in)
{
        const struct eddy_field *chosen = ed_field_chosen(fields, in);

        if (chosen)
                eddy_fields_fini(chosen->fields, ed_field_member(chosen, in));
}

void eddy_fields_fini(const struct eddy_fields *fields, void *in)
{
        if (in && ed_fields_are_union(fields)) {
                union_fini(fields, in);
                return;
        }
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
                if (ed_field_is_owned(field)) {
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
