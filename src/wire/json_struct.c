/*
 * wire/json_struct.c - read lists, maps, unions and structs from a text that is valid JSON.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fields.h"
#include "eddy/error.h"
#include "wire/json_reading.h"

static int read_one(struct ed_json_reading *reading, const struct eddy_field *field,
                    const struct eddy_json_value *value, void *at,
                    const struct ed_field_place *place)
{
        if (field->kind == EDDY_KIND_STRUCT)
                return ed_json_read_struct(reading, field->fields, value, at, place);
        return ed_json_read_scalar(reading, field, value, at, place);
}

/* ---- arrays and lists ------------------------------------------------------------------------ */

/* Append an item of zeros to the list and return it, or NULL if memory runs out. */
static void *add_item(const struct eddy_field *field, void *out, size_t *room)
{
        size_t *count = ed_field_count(field, out), bytes;
        char *items = ed_field_items(field, out);

        if (ed_field_is_owned(field) && *count == *room) {
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

/* Append an item, or report that the field has too many. Returns NULL after that, and the error. */
static void *next_item(struct ed_json_reading *reading, const struct eddy_field *field,
                       const struct eddy_json_value *value, void *out, size_t *room,
                       const struct ed_field_place *place, int *ret_error)
{
        size_t least, most;
        void *at = NULL;

        ed_field_items_limits(field, &least, &most);
        if (*ed_field_count(field, out) == most)
                *ret_error = ed_json_refuse(reading, EDDY_E_FIELD_LENGTH, value, place,
                                            "more than %zu items", most);
        else if (!(at = add_item(field, out, room)))
                *ret_error = ed_json_refuse(reading, -ENOMEM, value, place, "out of memory");
        return at;
}

static int check_least(struct ed_json_reading *reading, const struct eddy_field *field,
                       const struct eddy_json_value *value, void *out,
                       const struct ed_field_place *place)
{
        size_t count = *ed_field_count(field, out), least, most;

        ed_field_items_limits(field, &least, &most);
        if (count >= least)
                return 0;
        return ed_json_refuse(reading, EDDY_E_FIELD_LENGTH, value, place,
                              "%zu items, at least %zu are needed", count, least);
}

/* The value and the name of the item or member 'index'. */
static void find_nth(const struct eddy_json_value *value, size_t index,
                     struct eddy_json_value *ret_name, struct eddy_json_value *ret_item)
{
        struct eddy_json_cursor cursor;

        if (eddy_json_walk(value, &cursor) < 0)
                return;
        for (size_t i = 0; i <= index; i++)
                (void) eddy_json_next(&cursor, ret_name, ret_item);
}

static int check_unique(struct ed_json_reading *reading, const struct eddy_field *field,
                        const struct eddy_json_value *value, void *out,
                        struct ed_field_place *place)
{
        size_t count = *ed_field_count(field, out), twin;
        struct eddy_json_value name, item = *value;
        int err;

        err = ed_field_twin(field, ed_field_items(field, out), field->bytes, count, &twin);
        if (err < 0)
                return ed_json_refuse(reading, err, value, place, "out of memory");
        if (twin == count)
                return 0;
        find_nth(value, twin, &name, &item);
        place->index = twin;
        place->has_index = true;
        err = ed_json_refuse(reading, EDDY_E_FIELD_UNIQUE, &item, place,
                             "an earlier item is equal");
        place->has_index = false;
        return err;
}

static int read_items(struct ed_json_reading *reading, const struct eddy_field *field,
                      const struct eddy_json_value *value, void *out, struct ed_field_place *place)
{
        uint64_t refused = reading->refused;
        struct eddy_json_cursor cursor;
        struct eddy_json_value item;
        size_t room = 0;
        int err = 0;

        if (value->kind != EDDY_JSON_ARRAY || eddy_json_walk(value, &cursor) < 0)
                return ed_json_refuse_type(reading, value, place, "an array");
        while (ed_json_goes_on(reading, err) && eddy_json_next(&cursor, NULL, &item)) {
                void *at = next_item(reading, field, value, out, &room, place, &err);

                if (!at)
                        return err;
                place->index = *ed_field_count(field, out) - 1;
                place->has_index = true;
                err = read_one(reading, field, &item, at, place);
                place->has_index = false;
        }
        if (ed_json_goes_on(reading, err))
                err = check_least(reading, field, value, out, place);
        if (err == 0 && field->unique && reading->refused == refused)
                err = check_unique(reading, field, value, out, place);
        return err;
}

/* ---- maps ------------------------------------------------------------------------------------ */

static int read_value(struct ed_json_reading *reading, const struct eddy_field *field,
                      const struct eddy_json_value *value, void *out, struct ed_field_place *place);

static struct ed_field_place place_of_name(const struct ed_field_place *up,
                                           const struct eddy_json_value *name)
{
        return (struct ed_field_place){
                .up = up, .name = name->text + 1, .name_bytes = name->bytes - 2, .is_escaped = true
        };
}

static int read_entry(struct ed_json_reading *reading, const struct eddy_fields *entry,
                      const struct eddy_json_value *name, const struct eddy_json_value *value,
                      void *at, const struct ed_field_place *up)
{
        struct ed_field_place place = place_of_name(up, name);
        int err = read_one(reading, &entry->list[0], name, ed_field_member(&entry->list[0], at),
                           &place);

        return ed_json_goes_on(reading, err)
                       ? read_value(reading, &entry->list[1], value, at, &place)
                       : err;
}

static int check_names(struct ed_json_reading *reading, const struct eddy_field *field,
                       const struct eddy_json_value *value, void *out,
                       const struct ed_field_place *up)
{
        const struct eddy_field *name_field = &field->fields->list[0];
        size_t count = *ed_field_count(field, out), twin;
        char *items = ed_field_items(field, out);
        struct eddy_json_value name = *value, item;
        struct ed_field_place place;
        int err;

        if (count == 0)
                return 0;
        err = ed_field_twin(name_field, items + name_field->offset, field->bytes, count, &twin);
        if (err < 0)
                return ed_json_refuse(reading, err, value, up, "out of memory");
        if (twin == count)
                return 0;
        find_nth(value, twin, &name, &item);
        place = place_of_name(up, &name);
        return ed_json_refuse(reading, EDDY_E_FIELD_DUPLICATE, &name, &place,
                              "the name is given twice");
}

static int read_map(struct ed_json_reading *reading, const struct eddy_field *field,
                    const struct eddy_json_value *value, void *out,
                    const struct ed_field_place *place)
{
        uint64_t refused = reading->refused;
        struct eddy_json_value name, member;
        struct eddy_json_cursor cursor;
        size_t room = 0;
        int err = 0;

        if (value->kind != EDDY_JSON_OBJECT || eddy_json_walk(value, &cursor) < 0)
                return ed_json_refuse_type(reading, value, place, "an object");
        while (ed_json_goes_on(reading, err) && eddy_json_next(&cursor, &name, &member)) {
                void *at = next_item(reading, field, value, out, &room, place, &err);

                if (!at)
                        return err;
                err = read_entry(reading, field->fields, &name, &member, at, place);
        }
        if (ed_json_goes_on(reading, err))
                err = check_least(reading, field, value, out, place);
        if (err == 0 && reading->refused == refused)
                err = check_names(reading, field, value, out, place);
        return err;
}

/* ---- structs --------------------------------------------------------------------------------- */

static int read_value(struct ed_json_reading *reading, const struct eddy_field *field,
                      const struct eddy_json_value *value, void *out, struct ed_field_place *place)
{
        int err;

        if (value->kind == EDDY_JSON_NULL) {
                ed_field_set_flag(field->null_flag, out, true);
                if (field->kind != EDDY_KIND_RAW && (!field->required || field->null_flag))
                        return 0;
                if (field->kind != EDDY_KIND_RAW)
                        return ed_json_refuse(reading, EDDY_E_FIELD_TYPE, value, place,
                                              "null is not allowed");
        }
        if (field->shape == EDDY_SHAPE_ONE)
                err = read_one(reading, field, value, ed_field_member(field, out), place);
        else if (field->shape == EDDY_SHAPE_MAP)
                err = read_map(reading, field, value, out, place);
        else
                err = read_items(reading, field, value, out, place);
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

static int refuse_name(struct ed_json_reading *reading, int error,
                       const struct eddy_json_value *name, const struct ed_field_place *up,
                       const char *sentence)
{
        struct ed_field_place place = place_of_name(up, name);

        return ed_json_refuse(reading, error, name, &place, "%s", sentence);
}

/* An object, as it is read. */
struct object {
        const struct eddy_fields *fields;
        const char *tag; /* the name of the tag, which is not in the table; NULL: none */
        bool has_tag;
        size_t first; /* the field where the search for the next name begins */
        uint64_t seen[EDDY_FIELDS_MAX / 64];
};

static bool was_seen(const struct object *object, size_t i)
{
        return object->seen[i / 64] >> (i % 64) & 1;
}

/* A name that is not in the table. */
static int read_other(struct ed_json_reading *reading, struct object *object,
                      const struct eddy_json_value *name, const struct ed_field_place *place)
{
        if (object->tag && eddy_json_is(name, object->tag)) {
                if (object->has_tag)
                        return refuse_name(reading, EDDY_E_FIELD_DUPLICATE, name, place,
                                           "the field is given twice");
                object->has_tag = true;
                return 0;
        }
        if (object->fields->flags & EDDY_FIELDS_STRICT)
                return refuse_name(reading, EDDY_E_FIELD_UNKNOWN, name, place,
                                   "the field is not known");
        return 0;
}

static int read_member(struct ed_json_reading *reading, struct object *object,
                       const struct eddy_json_value *name, const struct eddy_json_value *value,
                       void *out, const struct ed_field_place *up)
{
        const struct eddy_fields *fields = object->fields;
        size_t i = find_field(fields, name, object->first);
        struct ed_field_place place;

        if (i == fields->count)
                return read_other(reading, object, name, up);
        object->first = i + 1 < fields->count ? i + 1 : 0;
        if (reading->is_request && fields->list[i].read_only)
                return 0;
        if (was_seen(object, i))
                return refuse_name(reading, EDDY_E_FIELD_DUPLICATE, name, up,
                                   "the field is given twice");
        object->seen[i / 64] |= (uint64_t) 1 << (i % 64);
        place = ed_field_place_of(up, &fields->list[i]);
        return read_value(reading, &fields->list[i], value, out, &place);
}

static int refuse_missing(struct ed_json_reading *reading, const struct eddy_field *field,
                          const struct eddy_json_value *value, const struct ed_field_place *up)
{
        struct ed_field_place place = ed_field_place_of(up, field);

        return ed_json_refuse(reading, EDDY_E_FIELD_MISSING, value, &place, "the field is missing");
}

static bool is_needed(const struct ed_json_reading *reading, const struct eddy_field *field)
{
        return field->required && !(reading->is_request ? field->read_only : field->write_only);
}

/* Read the members of an object, of which 'tag' (or NULL) is not in the table. */
static int read_members(struct ed_json_reading *reading, const struct eddy_fields *fields,
                        const char *tag, const struct eddy_json_value *value, void *out,
                        const struct ed_field_place *place)
{
        struct object object = { .fields = fields, .tag = tag };
        struct eddy_json_value name, member;
        struct eddy_json_cursor cursor;
        int err = 0;

        if (value->kind != EDDY_JSON_OBJECT || eddy_json_walk(value, &cursor) < 0)
                return ed_json_refuse_type(reading, value, place, "an object");
        while (ed_json_goes_on(reading, err) && eddy_json_next(&cursor, &name, &member))
                err = read_member(reading, &object, &name, &member, out, place);
        for (size_t i = 0; ed_json_goes_on(reading, err) && i < fields->count; i++)
                if (!was_seen(&object, i) && is_needed(reading, &fields->list[i]))
                        err = refuse_missing(reading, &fields->list[i], value, place);
        return err;
}

/* The tag may be any member of the object, so find it first. */
static int read_union(struct ed_json_reading *reading, const struct eddy_fields *fields,
                      const struct eddy_json_value *value, void *out,
                      const struct ed_field_place *up)
{
        struct ed_field_place place = ed_field_place_of(up, &fields->list[0]);
        const struct eddy_field *tag = &fields->list[0], *chosen;
        struct eddy_json_value name, member;
        struct eddy_json_cursor cursor;
        int err;

        if (value->kind != EDDY_JSON_OBJECT || eddy_json_walk(value, &cursor) < 0)
                return ed_json_refuse_type(reading, value, up, "an object");
        do {
                if (!eddy_json_next(&cursor, &name, &member))
                        return refuse_missing(reading, tag, value, up);
        } while (!eddy_json_is(&name, place.name));
        err = read_one(reading, tag, &member, ed_field_member(tag, out), &place);
        chosen = err < 0 ? NULL : ed_field_chosen(fields, out);
        return chosen ? read_members(reading, chosen->fields, place.name, value,
                                     ed_field_member(chosen, out), up)
                      : err;
}

int ed_json_read_struct(struct ed_json_reading *reading, const struct eddy_fields *fields,
                        const struct eddy_json_value *value, void *out,
                        const struct ed_field_place *place)
{
        if (ed_fields_are_union(fields))
                return read_union(reading, fields, value, out, place);
        return read_members(reading, fields, NULL, value, out, place);
}

int ed_json_field_check(const struct eddy_field *field, size_t struct_bytes, const char *text,
                        struct eddy_json_error *ret_error)
{
        struct ed_json_reading reading = { .text = text, .error = ret_error };
        struct ed_field_place place = ed_field_place_of(NULL, field);
        struct eddy_field one = *field;
        struct eddy_fields fields = { .list = &one, .count = 1, .bytes = struct_bytes };
        struct eddy_json_value value;
        void *copy;
        int err = eddy_json_parse(text, strlen(text), NULL, &value, ret_error);

        if (err < 0)
                return err;
        if (one.kind == EDDY_KIND_TAG) /* which is not the table of a union here */
                one.kind = EDDY_KIND_ENUM;
        copy = ed_alloc_zero(struct_bytes);
        if (!copy)
                return ed_json_refuse(&reading, -ENOMEM, &value, NULL, "out of memory");
        err = read_value(&reading, &one, &value, copy, &place);
        eddy_fields_fini(&fields, copy);
        ed_free(copy);
        return err;
}
