/*
 * base/fields.h - access to the members that a table of fields describes.
 */
#ifndef ED_BASE_FIELDS_H
#define ED_BASE_FIELDS_H

#include <string.h>

#include "base/def.h"
#include "eddy/fields.h"

/* A wrong field and the fields around it, for its path. */
struct ed_field_place {
        const struct ed_field_place *up; /* NULL: the outermost struct */
        const char *name;
        size_t name_bytes;
        size_t index;
        bool has_index;
        bool is_escaped; /* 'name' is in a text of JSON, between quotes */
};

static inline const char *ed_field_name(const struct eddy_field *field)
{
        return field->as ? field->as : field->name;
}

static inline struct ed_field_place ed_field_place_of(const struct ed_field_place *up,
                                                      const struct eddy_field *field)
{
        const char *name = ed_field_name(field);

        return (struct ed_field_place){ .up = up, .name = name, .name_bytes = strlen(name) };
}

/* Returns true for a pointer to items: a list or a map. */
static inline bool ed_field_is_owned(const struct eddy_field *field)
{
        return field->shape >= EDDY_SHAPE_LIST;
}

/* Returns true if the table begins with a tag. */
static inline bool ed_fields_are_union(const struct eddy_fields *fields)
{
        return fields->count > 0 && fields->list && fields->list[0].kind == EDDY_KIND_TAG;
}

/* Returns the field of a union that the tag in the struct chooses, or NULL. */
static inline const struct eddy_field *ed_field_chosen(const struct eddy_fields *fields,
                                                       const void *in)
{
        int tag;

        memcpy(&tag, (const char *) in + fields->list[0].offset, sizeof(tag));
        return tag >= 0 && (size_t) tag < fields->count - 1 ? &fields->list[1 + tag] : NULL;
}

/* The number of items of an array or list in the struct at 'in'. */
static inline size_t *ed_field_count(const struct eddy_field *field, void *in)
{
        return (size_t *) (void *) ((char *) in + field->count_offset);
}

static inline void *ed_field_member(const struct eddy_field *field, void *in)
{
        return (char *) in + field->offset;
}

/* The items of an array or list; NULL if a list has none. */
static inline char *ed_field_items(const struct eddy_field *field, void *in)
{
        void *member = ed_field_member(field, in);

        return ed_field_is_owned(field) ? *(char **) member : (char *) member;
}

/* Sets and reads a flag of a field, which is one more than its offset; without a flag nothing
 * happens, and 'usual' is returned. */
static inline void ed_field_set_flag(size_t flag, void *in, bool given)
{
        if (flag > 0)
                *(bool *) (void *) ((char *) in + flag - 1) = given;
}

static inline bool ed_field_flag(size_t flag, const void *in, bool usual)
{
        return flag == 0 ? usual : *(const bool *) (const void *) ((const char *) in + flag - 1);
}

/* Integers of 1, 2, 4 or 8 bytes. */
static inline void ed_field_int_put(void *at, size_t bytes, uint64_t number)
{
        uint32_t four = (uint32_t) number;
        uint16_t two = (uint16_t) number;
        uint8_t one = (uint8_t) number;

        if (bytes == 8)
                memcpy(at, &number, 8);
        else if (bytes == 4)
                memcpy(at, &four, 4);
        else if (bytes == 2)
                memcpy(at, &two, 2);
        else
                memcpy(at, &one, 1);
}

static inline uint64_t ed_field_uint_get(const void *at, size_t bytes)
{
        uint64_t eight = 0;
        uint32_t four;
        uint16_t two;

        if (bytes == 1)
                return *(const uint8_t *) at;
        if (bytes == 2) {
                memcpy(&two, at, 2);
                return two;
        }
        if (bytes == 4) {
                memcpy(&four, at, 4);
                return four;
        }
        memcpy(&eight, at, 8);
        return eight;
}

/* The sign is the highest bit of the bytes. */
static inline int64_t ed_field_int_get(const void *at, size_t bytes)
{
        uint64_t number = ed_field_uint_get(at, bytes), sign = (uint64_t) 1 << (8 * bytes - 1);

        return (int64_t) ((number ^ sign) - sign);
}

/* A double, or a float of the nearest value. */
static inline void ed_field_double_put(void *at, size_t bytes, double number)
{
        float four = (float) number;

        if (bytes == sizeof(float))
                memcpy(at, &four, sizeof(four));
        else
                memcpy(at, &number, sizeof(number));
}

static inline double ed_field_double_get(const void *at, size_t bytes)
{
        double number;
        float four;

        if (bytes == sizeof(float)) {
                memcpy(&four, at, sizeof(four));
                return (double) four;
        }
        memcpy(&number, at, sizeof(number));
        return number;
}

/* Returns true if the nearest float is finite. */
static inline bool ed_field_is_float(double number)
{
        /* The greatest float and half of its last bit. */
        return number < 0x1.ffffffp127 && number > -0x1.ffffffp127;
}

/* The number as the field stores it. */
static inline double ed_field_real(const struct eddy_field *field, double number)
{
        return field->bytes == sizeof(float) && ed_field_is_float(number) ? (double) (float) number
                                                                          : number;
}

/* The least and greatest number of bytes of a string or raw text, and of items. */
void ed_field_bytes_limits(const struct eddy_field *field, size_t *ret_least, size_t *ret_most);
void ed_field_items_limits(const struct eddy_field *field, size_t *ret_least, size_t *ret_most);

/* The numbers that an integer field allows. Returns false if there is none. */
bool ed_field_int_range(const struct eddy_field *field, int64_t *ret_least, int64_t *ret_most);
bool ed_field_uint_range(const struct eddy_field *field, uint64_t *ret_least, uint64_t *ret_most);

/* The numbers that a double or float allows; the limits of a float are the nearest floats. */
bool ed_field_real_range(const struct eddy_field *field, double *ret_least, double *ret_most);

/*
 * Find two equal strings, numbers or bools of 'field' among items of a list: the first is at 'items', and
 * each next one 'stride' bytes further. Stores the index of the first item that equals an earlier
 * one, or 'count'.
 *
 * Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_field_twin(const struct eddy_field *field, const char *items, size_t stride,
                                size_t count, size_t *ret_index);

/* Make strings, lists and unions NULL and empty, and flags false, without freeing. */
void ed_fields_blank(const struct eddy_fields *fields, void *in);

/* Write the path, as in "users[3].age"; a path that is too long is cut. */
void ed_field_path(const struct ed_field_place *place, char *out, size_t room);

#endif
