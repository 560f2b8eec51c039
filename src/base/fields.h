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
};

static inline const char *ed_field_name(const struct eddy_field *field)
{
        return field->as ? field->as : field->name;
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

        return field->shape == EDDY_SHAPE_LIST ? *(char **) member : (char *) member;
}

/* Sets and reads the flag that says whether an optional field was given; without a flag nothing
 * happens, and true is returned. */
static inline void ed_field_set_flag(const struct eddy_field *field, void *in, bool given)
{
        if (field->flag > 0)
                *(bool *) (void *) ((char *) in + field->flag - 1) = given;
}

static inline bool ed_field_flag(const struct eddy_field *field, const void *in)
{
        return field->flag == 0 ||
               *(const bool *) (const void *) ((const char *) in + field->flag - 1);
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

/* The least and greatest number of bytes of a string or raw text, and of items. */
void ed_field_bytes_limits(const struct eddy_field *field, size_t *ret_least, size_t *ret_most);
void ed_field_items_limits(const struct eddy_field *field, size_t *ret_least, size_t *ret_most);

/* Returns false if the table cannot be used; '*ret_reason' is a sentence then. Names that are given
 * twice are not looked for. */
bool ed_fields_are_usable(const struct eddy_fields *fields, const char **ret_reason);

/* Make strings and lists NULL and empty, and flags false, without freeing. */
void ed_fields_blank(const struct eddy_fields *fields, void *in);

/* Write the path, as in "users[3].age"; a path that is too long is cut. */
void ed_field_path(const struct ed_field_place *place, char *out, size_t room);

#endif
