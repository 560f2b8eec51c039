/*
 * eddy/fields.h - the description of a C struct: a table of its fields.
 *
 *     struct user {
 *             char name[64];
 *             uint8_t age;
 *             bool has_age;
 *             char *email;
 *             int64_t *groups;
 *             size_t groups_count;
 *     };
 *
 *     static const struct eddy_field user_list[] = {
 *             EDDY_FIELD(struct user, name, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(1, 63)),
 *             EDDY_FIELD(struct user, age, EDDY_FIELD_FLAG(struct user, has_age), EDDY_FIELD_MAX(150)),
 *             EDDY_FIELD(struct user, email, EDDY_FIELD_AS("e-mail")),
 *             EDDY_FIELD_LIST(struct user, groups, groups_count),
 *     };
 *     static const struct eddy_fields user_fields = EDDY_FIELDS(struct user, user_list, 0);
 *
 * With this table eddy_json_read() fills a struct from a text, and eddy_json_write() writes the
 * struct as a text (eddy/json.h).  A table names members of the struct in any order and need not
 * name all.  Two fields must not share a pointer, a count or a struct.
 *
 * The macros find the type of the member and its size, and do not compile if the type cannot be a
 * field.  They need C99, or C++20, which has designated initialisers: options are then given in the
 * order of struct eddy_field.
 *
 *     member                                   macro               value
 *     bool                                     EDDY_FIELD          true or false
 *     int8_t ... int64_t, uint8_t ... uint64_t EDDY_FIELD          an integer
 *     double                                   EDDY_FIELD          a number
 *     char [N]                                 EDDY_FIELD          a string of at most N - 1 bytes
 *     char *                                   EDDY_FIELD          a string (owned)
 *     char *                                   EDDY_FIELD_RAW      any value, as its text (owned)
 *     int or an enum                           EDDY_FIELD_ENUM     a name of a list
 *     struct                                   EDDY_FIELD_STRUCT   nested
 *     T [N] and size_t                         EDDY_FIELD_ARRAY    at most N; T: the first five types
 *     struct [N] and size_t                    EDDY_FIELD_ARRAY_OF at most N structs
 *     T * and size_t                           EDDY_FIELD_LIST     (owned)
 *     struct * and size_t                      EDDY_FIELD_LIST_OF  (owned)
 */
#ifndef EDDY_FIELDS_H
#define EDDY_FIELDS_H

#include <stdbool.h>

#include "eddy/def.h"

EDDY_BEGIN_DECLS

enum {
        EDDY_FIELDS_MAX = 256,            /* fields of one table */
        EDDY_FIELDS_DEPTH_MAX = 32,       /* nested tables */
        EDDY_FIELDS_STRING_MAX = 1 << 24, /* bytes of an owned string or raw text ... */
        EDDY_FIELDS_ITEMS_MAX = 1 << 16   /* ... and items of an owned list, without
                                             EDDY_FIELD_LENGTH */
};

enum eddy_field_kind {
        EDDY_KIND_BOOL = 1,
        EDDY_KIND_INT,    /* signed; 'bytes' gives the size */
        EDDY_KIND_UINT,   /* unsigned */
        EDDY_KIND_DOUBLE, /* finite */
        EDDY_KIND_CHARS,  /* an array of characters that ends in a NUL */
        EDDY_KIND_STRING, /* an owned string that ends in a NUL, or NULL */
        EDDY_KIND_RAW,    /* as EDDY_KIND_STRING: the text of a value */
        EDDY_KIND_ENUM,
        EDDY_KIND_STRUCT
};

enum eddy_field_shape {
        EDDY_SHAPE_ONE,
        EDDY_SHAPE_ARRAY, /* items in the struct */
        EDDY_SHAPE_LIST   /* a pointer to items, NULL for an empty list */
};

struct eddy_fields;

/* Made by the macros below.  Zero is the default of each option. */
struct eddy_field {
        const char *name;                 /* of the member */
        int kind;                         /* enum eddy_field_kind, of an item */
        int shape;                        /* enum eddy_field_shape */
        size_t offset;                    /* of the member */
        size_t bytes;                     /* of an item */
        size_t items_max;                 /* of EDDY_SHAPE_ARRAY */
        size_t count_offset;              /* of the number of items, a size_t */
        const struct eddy_fields *fields; /* of EDDY_KIND_STRUCT */
        const char *const *names;         /* of EDDY_KIND_ENUM: the name of 0, 1, ..., and NULL */
        /* Options. */
        const char *as EDDY_UNSET; /* the name outside of C; NULL: 'name' */
        bool required EDDY_UNSET;  /* must be given; null is allowed only if raw */
        size_t flag EDDY_UNSET;    /* 1 + the offset of a bool, true if it was given; 0: none */
        bool has_min EDDY_UNSET;
        double min EDDY_UNSET; /* smallest number; exact up to 2^53 */
        bool has_max EDDY_UNSET;
        double max EDDY_UNSET; /* largest number */
        bool has_length EDDY_UNSET;
        size_t length_min EDDY_UNSET; /* bytes of a string or raw text; items */
        size_t length_max EDDY_UNSET;
        uintptr_t reserved[2] EDDY_UNSET; /* zero */
};

enum { EDDY_FIELDS_STRICT = 1 << 0 /* a field that is not in the table is an error */ };

struct eddy_fields {
        const struct eddy_field *list; /* borrowed as long as the table is used */
        size_t count;
        size_t bytes;          /* of the struct */
        uint32_t flags;        /* EDDY_FIELDS_* */
        uintptr_t reserved[2]; /* zero */
};

/* ---- options --------------------------------------------------------------------------------- */

/* The name of the field, if it is not the member's. */
#define EDDY_FIELD_AS(text) .as = (text)
/*
 * The field must be given.  Without this option it may be missing or null.  A raw field stores null
 * as its text.
 */
#define EDDY_FIELD_REQUIRED .required = true
/*
 * The bool member 'member' of the struct is set to whether the field was given and was not null; of
 * a raw field, to whether it was given.
 */
#define EDDY_FIELD_FLAG(type, member)                                                              \
        .flag = 1 + offsetof(type, member) + EDDY_FIELD_CHECK_AS(FLAG, type, member, bool)
/* The least and greatest number.  Beyond 2^53 the limit is rounded to a double. */
#define EDDY_FIELD_MIN(number) .has_min = true, .min = (double) (number)
#define EDDY_FIELD_MAX(number) .has_max = true, .max = (double) (number)
/* Bytes of a string, without its NUL, or of a raw text; items of an array or list. */
#define EDDY_FIELD_LENGTH(least, most)                                                             \
        .has_length = true, .length_min = (least), .length_max = (most)

/* ---- fields ---------------------------------------------------------------------------------- */

/* EDDY_FIELD(struct user, age, options ...) */
#define EDDY_FIELD(...) EDDY_FIELD_PUT_ONE(__VA_ARGS__, )
/* EDDY_FIELD_RAW(struct line, body, options ...) */
#define EDDY_FIELD_RAW(...) EDDY_FIELD_PUT_RAW(__VA_ARGS__, )
/*
 * EDDY_FIELD_ENUM(struct user, color, color_names, options ...), with
 * static const char *const color_names[] = { "red", "green", NULL };
 */
#define EDDY_FIELD_ENUM(type, member, ...) EDDY_FIELD_PUT_ENUM(type, member, __VA_ARGS__, )
/* EDDY_FIELD_STRUCT(struct user, address, &address_fields, options ...) */
#define EDDY_FIELD_STRUCT(type, member, ...) EDDY_FIELD_PUT_STRUCT(type, member, __VA_ARGS__, )
/* EDDY_FIELD_ARRAY(struct user, scores, scores_count, options ...), and the list */
#define EDDY_FIELD_ARRAY(type, member, ...) EDDY_FIELD_PUT_ARRAY(type, member, __VA_ARGS__, )
#define EDDY_FIELD_LIST(type, member, ...)  EDDY_FIELD_PUT_LIST(type, member, __VA_ARGS__, )
/* EDDY_FIELD_ARRAY_OF(struct user, homes, homes_count, &address_fields, options ...), and the list */
#define EDDY_FIELD_ARRAY_OF(type, member, count, ...)                                              \
        EDDY_FIELD_PUT_ARRAY_OF(type, member, count, __VA_ARGS__, )
#define EDDY_FIELD_LIST_OF(type, member, count, ...)                                               \
        EDDY_FIELD_PUT_LIST_OF(type, member, count, __VA_ARGS__, )

/* The table of a struct, from an array of fields and flags. */
#define EDDY_FIELDS(type, list, flags)                                                             \
        {                                                                                          \
                (list), sizeof(list) / sizeof((list)[0]), sizeof(type), (flags),                   \
                {                                                                                  \
                        0, 0                                                                       \
                }                                                                                  \
        }

/*
 * Free the strings and lists of the struct at 'in', and those of the structs in it; they become
 * NULL and empty.  NULL is ignored.
 *
 * Suspends: no.  Threads: any.
 */
EDDY_API void eddy_fields_fini(const struct eddy_fields *fields, void *in);

/*
 * Check a table: its numbers, its names and the tables in it.  eddy_json_read() and
 * eddy_json_write() check the tables that they use, except for a name that two fields have.
 *
 * Suspends: no.  Threads: any.
 * Errors: EDDY_E_FIELD_TABLE
 */
EDDY_API EDDY_MUST_USE int eddy_fields_check(const struct eddy_fields *fields);

EDDY_END_DECLS

#include "eddy/fields_macros.h"

#endif
