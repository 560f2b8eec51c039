/*
 * eddy/sqlite_value.h - values for the parameters of SQLite's statements.
 *
 *     err = eddy_sqlite_exec(conn, "UPDATE users SET name = ? WHERE id = ?",
 *                            EDDY_SQLITE_BIND(eddy_sqlite_text("Ann"), eddy_sqlite_int(7)));
 */
#ifndef EDDY_SQLITE_VALUE_H
#define EDDY_SQLITE_VALUE_H

#include "eddy/def.h"
#include "eddy/each.h"

EDDY_BEGIN_DECLS

struct eddy_fields; /* eddy/fields.h */

enum eddy_sqlite_type {
        EDDY_SQLITE_NULL,
        EDDY_SQLITE_INT,
        EDDY_SQLITE_REAL,
        EDDY_SQLITE_TEXT, /* UTF-8 */
        EDDY_SQLITE_BLOB,
        EDDY_SQLITE_FIELDS_ /* private: the next value is a struct */
};

/* A value for a parameter of a statement; made by the functions below. */
struct eddy_sqlite_value {
        int type;
        uint32_t reserved32;
        size_t bytes; /* of 'data' */
        int64_t integer;
        double real;
        const void *data; /* borrowed until the call returns */
};

static inline struct eddy_sqlite_value eddy_sqlite_null(void)
{
        struct eddy_sqlite_value value = { EDDY_SQLITE_NULL, 0, 0, 0, 0.0, NULL };

        return value;
}

static inline struct eddy_sqlite_value eddy_sqlite_int(int64_t integer)
{
        struct eddy_sqlite_value value = { EDDY_SQLITE_INT, 0, 0, integer, 0.0, NULL };

        return value;
}

/* SQLite stores NaN as NULL. */
static inline struct eddy_sqlite_value eddy_sqlite_real(double real)
{
        struct eddy_sqlite_value value = { EDDY_SQLITE_REAL, 0, 0, 0, real, NULL };

        return value;
}

/* NULL is the value NULL. */
static inline struct eddy_sqlite_value eddy_sqlite_text_n(const char *text, size_t bytes)
{
        struct eddy_sqlite_value value = {
                text ? EDDY_SQLITE_TEXT : EDDY_SQLITE_NULL, 0, bytes, 0, 0.0, text
        };

        return value;
}

static inline struct eddy_sqlite_value eddy_sqlite_text(const char *text)
{
        return eddy_sqlite_text_n(text, text ? __builtin_strlen(text) : 0);
}

static inline struct eddy_sqlite_value eddy_sqlite_blob(const void *data, size_t bytes)
{
        struct eddy_sqlite_value value = {
                data ? EDDY_SQLITE_BLOB : EDDY_SQLITE_NULL, 0, bytes, 0, 0.0, data
        };

        return value;
}

/* Private. */
static inline struct eddy_sqlite_value eddy_sqlite_fields_(const struct eddy_fields *fields)
{
        struct eddy_sqlite_value value = { EDDY_SQLITE_FIELDS_, 0, 0, 0, 0.0, fields };

        return value;
}

#define EDDY_SQLITE_VALUE_ONLY_(value) EDDY_ONLY(struct eddy_sqlite_value, value)
#define EDDY_SQLITE_VALUES_(...)                                                                   \
        (const struct eddy_sqlite_value[])                                                         \
        {                                                                                          \
                EDDY_EACH(EDDY_SQLITE_VALUE_ONLY_, __VA_ARGS__)                                    \
        }

/* Makes the arguments 'values' and 'count'; in C++ pass an array.  Without values pass NULL, 0. */
#define EDDY_SQLITE_BIND(...)                                                                      \
        EDDY_SQLITE_VALUES_(__VA_ARGS__),                                                          \
                sizeof(EDDY_SQLITE_VALUES_(__VA_ARGS__)) / sizeof(struct eddy_sqlite_value)

/* Private: the size of a void is 1, and no error of the compiler. */
#define EDDY_SQLITE_CHECK_STRUCT_(in)                                                              \
        EDDY_CHECK_(!__builtin_types_compatible_p(__typeof__(*(in)), void),                        \
                    "EDDY_SQLITE_BIND_STRUCT: the pointer is a void *: convert it",                \
                    void_pointer_for_EDDY_SQLITE_BIND_STRUCT)

/*
 * Makes the arguments 'values' and 'count' from the struct at 'in', which the table 'fields'
 * describes (eddy/fields.h): the parameter ":name" gets the value of the field with this name.
 * Fields without a parameter are ignored.
 *
 *     err = eddy_sqlite_exec(conn, "UPDATE users SET name = :name WHERE id = :id",
 *                            EDDY_SQLITE_BIND_STRUCT(&user_fields, &user));
 *
 * 'in' is a pointer to the struct's type: convert the result of eddy_http_exchange_input() to it.
 *
 * A bool becomes 0 or 1, an enum its name, and a raw field its text.  A string that is NULL becomes
 * NULL, and so does a field that was not given or was null according to its flag.  The limits of
 * fields are not checked: an empty char [N] becomes the text '', also if its length or format does
 * not allow that, and a row with it cannot be read into the struct.  Use a char *, or
 * EDDY_FIELD_FLAG, for a field that may be missing.  The call returns
 *
 *         EDDY_E_SQLITE_SQL   the table has no field for a parameter
 *         EDDY_E_FIELD_TYPE   the field is a list, a map or a struct, an enum without a name, or an
 *                             integer above INT64_MAX
 *         EDDY_E_FIELD_TABLE  the table is of a struct of another size
 */
#define EDDY_SQLITE_BIND_STRUCT(fields, in)                                                        \
        EDDY_SQLITE_BIND(eddy_sqlite_fields_(fields),                                              \
                         eddy_sqlite_blob((in), sizeof(*(in)) + EDDY_SQLITE_CHECK_STRUCT_(in)))

EDDY_END_DECLS

#endif
