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
 *     float, double                            EDDY_FIELD          a number
 *     char [N]                                 EDDY_FIELD          a string of at most N - 1 bytes
 *     char *                                   EDDY_FIELD          a string (owned)
 *     char *                                   EDDY_FIELD_RAW      any value, as its text (owned)
 *     int or an enum                           EDDY_FIELD_ENUM     a name of a list
 *     struct                                   EDDY_FIELD_STRUCT   nested
 *     T [N] and size_t                         EDDY_FIELD_ARRAY    at most N; T: the first five lines
 *     struct [N] and size_t                    EDDY_FIELD_ARRAY_OF at most N structs
 *     T * and size_t                           EDDY_FIELD_LIST     (owned)
 *     struct * and size_t                      EDDY_FIELD_LIST_OF  (owned)
 *     struct * and size_t                      EDDY_FIELD_MAP      from names to a type (owned)
 *     int or an enum, first in the table       EDDY_FIELD_TAG      chooses one of the other fields
 *
 * The entries of a map are structs of two fields, of which the first is the name:
 *
 *     struct header { char *name; char *value; };         in a struct: struct header *headers;
 *     static const struct eddy_field header_list[] = {                 size_t headers_count;
 *             EDDY_FIELD(struct header, name), EDDY_FIELD(struct header, value) };
 *
 * A tagged union is a table that begins with its tag; a struct for each name of the tag follows, in
 * the order of the names.  {"type": "square", "side": 2} has this table:
 *
 *     struct shape { int type; union { struct circle circle; struct square square; } as; };
 *     static const char *const types[] = { "circle", "square", NULL };
 *     static const struct eddy_field shape_list[] = {
 *             EDDY_FIELD_TAG(struct shape, type, types),
 *             EDDY_FIELD_STRUCT(struct shape, as.circle, &circle_fields),
 *             EDDY_FIELD_STRUCT(struct shape, as.square, &square_fields),
 *     };
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
        EDDY_KIND_DOUBLE, /* a finite double or float; 'bytes' gives the size */
        EDDY_KIND_CHARS,  /* an array of characters that ends in a NUL */
        EDDY_KIND_STRING, /* an owned string that ends in a NUL, or NULL */
        EDDY_KIND_RAW,    /* as EDDY_KIND_STRING: the text of a value */
        EDDY_KIND_ENUM,
        EDDY_KIND_STRUCT,
        EDDY_KIND_TAG /* as EDDY_KIND_ENUM, the first field of a tagged union */
};

enum eddy_field_shape {
        EDDY_SHAPE_ONE,
        EDDY_SHAPE_ARRAY, /* items in the struct */
        EDDY_SHAPE_LIST,  /* a pointer to items, NULL for an empty list */
        EDDY_SHAPE_MAP    /* a list of structs with a name and a value, outside of C an object */
};

enum eddy_field_limit {
        EDDY_LIMIT_NONE,
        EDDY_LIMIT_REAL, /* in 'min' or 'max' */
        EDDY_LIMIT_INTEGER /* in 'min_integer' or 'max_integer', signed if 'min' or 'max' is below 0 */
};

struct eddy_fields;
struct eddy_json_error;

/*
 * The check of a format.  Returns NULL, or the reason why the text is not valid, such as "a slug has
 * no spaces": a text that stays valid.  'text' has 'bytes' bytes and a NUL after them.  It must not
 * suspend.
 */
typedef const char *eddy_format_fn(const char *text, size_t bytes);

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
        const char *const *names;         /* of an enum or tag: the name of 0, 1, ..., and NULL */
        /* Options. */
        const char *as EDDY_UNSET;   /* the name outside of C; NULL: 'name' */
        bool required EDDY_UNSET;    /* must be given; null is allowed only if raw */
        size_t flag EDDY_UNSET;      /* 1 + the offset of a bool, true if it was given; 0: none */
        size_t null_flag EDDY_UNSET; /* 1 + the offset of a bool, true if it was null; 0: none */
        int has_min EDDY_UNSET;      /* enum eddy_field_limit */
        double min EDDY_UNSET;       /* smallest number */
        uint64_t min_integer EDDY_UNSET;
        int has_max EDDY_UNSET;
        double max EDDY_UNSET; /* largest number */
        uint64_t max_integer EDDY_UNSET;
        bool has_length EDDY_UNSET;
        size_t length_min EDDY_UNSET; /* bytes of a string or raw text; items */
        size_t length_max EDDY_UNSET;
        bool has_item_length EDDY_UNSET;
        size_t item_length_min EDDY_UNSET; /* bytes of each string of an array or list */
        size_t item_length_max EDDY_UNSET;
        bool unique EDDY_UNSET;        /* no two items are equal */
        const char *format EDDY_UNSET; /* of a string, or of each string of an array or list */
        eddy_format_fn *format_fn EDDY_UNSET; /* NULL: 'format' is one of those below */
        bool read_only EDDY_UNSET;
        bool write_only EDDY_UNSET;
        const char *description EDDY_UNSET;
        const char *example EDDY_UNSET;       /* JSON */
        const char *default_value EDDY_UNSET; /* JSON */
        uintptr_t reserved[2] EDDY_UNSET;     /* zero */
};

enum { EDDY_FIELDS_STRICT = 1 << 0 /* a field that is not in the table is an error */ };

struct eddy_fields {
        const struct eddy_field *list; /* borrowed as long as the table is used */
        size_t count;
        size_t bytes;          /* of the struct */
        uint32_t flags;        /* EDDY_FIELDS_* */
        const char *name;      /* of the type, as in "struct user"; may be NULL */
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
 * a raw field, to whether it was given.  Without this option a number, a bool, an enum or a struct that
 * was not given is written too, with the value in the struct, for example 0.  A number 0, an empty
 * char [N], array, list or map is then left out if its limits or its format do not allow it.
 */
#define EDDY_FIELD_FLAG(type, member)                                                              \
        .flag = 1 + offsetof(type, member) + EDDY_FIELD_CHECK_AS(FLAG, type, member, bool)
/*
 * The bool member 'member' of the struct is set to whether the field was given as null, which is then
 * apart from missing.  A required field with this option may be null.
 */
#define EDDY_FIELD_NULL_FLAG(type, member)                                                         \
        .null_flag = 1 + offsetof(type, member) + EDDY_FIELD_CHECK_AS(FLAG, type, member, bool)
/*
 * The least and greatest number, exact for integers of 64 bits too.  A double or float is compared with
 * the double or float that is nearest to the limit.
 */
#define EDDY_FIELD_MIN(number)                                                                     \
        .has_min = EDDY_FIELD_LIMIT(number), .min = (double) (number),                             \
        .min_integer = EDDY_FIELD_INTEGER(number)
#define EDDY_FIELD_MAX(number)                                                                     \
        .has_max = EDDY_FIELD_LIMIT(number), .max = (double) (number),                             \
        .max_integer = EDDY_FIELD_INTEGER(number)
/* Bytes of a string, without its NUL, or of a raw text; items of an array, list or map. */
#define EDDY_FIELD_LENGTH(least, most)                                                             \
        .has_length = true, .length_min = (least), .length_max = (most)
/* Bytes of each string of an array or list. */
#define EDDY_FIELD_ITEM_LENGTH(least, most)                                                        \
        .has_item_length = true, .item_length_min = (least), .item_length_max = (most)
/*
 * The items of an array or list, which are neither structs nor raw, differ from each other.  An error
 * names the first item that equals an earlier one.
 */
#define EDDY_FIELD_UNIQUE .unique = true
/*
 * The format of a string, or of each string of an array or list: "email" (as browsers check it),
 * "uuid" (RFC 9562, 4), "date-time" and "date" (RFC 3339, 5.6), "uri" (RFC 3986, with a scheme),
 * "ip", "ipv4", "ipv6".
 */
#define EDDY_FIELD_FORMAT(known) .format = (known)
/* A format of the program's own: its name, and a function that checks it. */
#define EDDY_FIELD_FORMAT_FN(own, function) .format = (own), .format_fn = (function)
/*
 * A field that only a response has, such as an id: a request is written without it, and a reader of a
 * request ignores it, as OpenAPI allows.  EDDY_JSON_REQUEST (eddy/json.h) says that a text is a request;
 * queries and forms always are.
 */
#define EDDY_FIELD_READ_ONLY .read_only = true
/*
 * A field that only a request has, such as a password: a response is written without it, and may be
 * read without it.
 */
#define EDDY_FIELD_WRITE_ONLY .write_only = true
/* For documents.  A default is not applied: give it to the struct before reading. */
#define EDDY_FIELD_DESCRIPTION(text) .description = (text)
#define EDDY_FIELD_EXAMPLE(json)     .example = (json)
#define EDDY_FIELD_DEFAULT(json)     .default_value = (json)

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

/* EDDY_FIELD_MAP(struct answer, headers, headers_count, &header_fields, options ...) */
#define EDDY_FIELD_MAP(type, member, count, ...)                                                   \
        EDDY_FIELD_PUT_MAP(type, member, count, __VA_ARGS__, )
/* EDDY_FIELD_TAG(struct shape, kind, kind_names, options ...) */
#define EDDY_FIELD_TAG(type, member, ...) EDDY_FIELD_PUT_TAG(type, member, __VA_ARGS__, )

/* The table of a struct, from an array of fields and flags. */
#define EDDY_FIELDS(type, list, flags)                                                             \
        {                                                                                          \
                (list), sizeof(list) / sizeof((list)[0]), sizeof(type), (flags), #type,            \
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
 * Check a table: its numbers, names, formats, examples and defaults, and the tables in it.  The error
 * names the field: "users.mail: the format 'emial' is not known".  eddy_json_read() and
 * eddy_json_write() check the tables that they use, except for a name that is given twice.
 *
 * Suspends: no.  Threads: any.
 * Errors: EDDY_E_FIELD_TABLE
 *         -ENOMEM
 */
EDDY_API EDDY_MUST_USE int eddy_fields_check(const struct eddy_fields *fields,
                                             struct eddy_json_error *ret_error);

EDDY_END_DECLS

#include "eddy/fields_macros.h"

#endif
