/*
 * eddy/json.h - JSON (RFC 8259): check, compact, look up values, read structs, write structs.
 *
 *     struct eddy_json_value answer, tokens;
 *     struct eddy_json_error error;
 *     uint64_t n;
 *
 *     if (eddy_json_parse(body, bytes, NULL, &answer, &error) < 0)
 *             return reject(error.text);
 *     if (eddy_json_get(&answer, "usage.total_tokens", &tokens) == 0 &&
 *         eddy_json_uint64(&tokens, &n) == 0)
 *             count(n);
 *
 * eddy_json_read() and eddy_json_write() convert between texts and C structs, which a table
 * describes (eddy/fields.h).  For documents of unknown shape, use jansson, which builds trees.
 *
 * A text is valid if it follows the grammar of RFC 8259 to its end and is UTF-8.  The choices that
 * the RFC leaves:
 *
 *   - a text may be any value, not only an object or array
 *   - a byte order mark at the start is an error (8.1)
 *   - nesting deeper than a limit is an error (9); the length and range of numbers and the length
 *     of strings are not limited until a value is converted
 *   - an object may have a name twice: the checks accept it, eddy_json_get() finds the first,
 *     eddy_json_read() refuses it (4)
 *   - an escape may be half of a surrogate pair, as in "\ud800": the checks accept it, and a
 *     conversion of the string refuses it, because it has no UTF-8 (8.2)
 *   - a string may contain \u0000; a conversion to a C string refuses it
 *
 * No function here suspends.  Threads: any.
 */
#ifndef EDDY_JSON_H
#define EDDY_JSON_H

#include <stdbool.h>

#include "eddy/def.h"
#include "eddy/fields.h"

EDDY_BEGIN_DECLS

enum {
        EDDY_JSON_DEPTH_DEFAULT = 128,
        EDDY_JSON_DEPTH_MAX = 1024,
        EDDY_JSON_PATH_BYTES = 128,  /* of a path in an error, with its NUL; a longer one is cut */
        EDDY_JSON_TEXT_BYTES = 256,  /* of the sentence of an error, with its NUL */
        EDDY_JSON_NUMBER_BYTES = 512 /* of a number that is converted to a double */
};

/* Zero is the default of each option. */
struct eddy_json_opts {
        uint32_t depth_max EDDY_UNSET; /* nested arrays and objects, at most EDDY_JSON_DEPTH_MAX; 0:
                               EDDY_JSON_DEPTH_DEFAULT */
        uint32_t flags EDDY_UNSET;     /* zero */
        uintptr_t reserved[2] EDDY_UNSET;
};

/*
 * The details of a failure.  A NULL pointer to this struct is allowed everywhere.  Each function
 * writes the whole struct on failure, and does not touch it on success.
 */
struct eddy_json_error {
        int error;       /* what the call returns */
        uint64_t offset; /* of the first byte that is wrong, from 0; of a wrong field: its value */
        uint64_t line;   /* from 1; ended by LF */
        uint64_t column; /* in bytes, from 1 */
        char path[EDDY_JSON_PATH_BYTES]; /* the wrong field, as in "users[3].age"; may be empty */
        /* For a message: "PATH: sentence", or, if 'path' is empty, "line 1, column 2: sentence";
         * printable ASCII without a full stop. */
        char text[EDDY_JSON_TEXT_BYTES];
        uintptr_t reserved[2]; /* zero */
};

/*
 * Check that 'text' is a valid JSON text of 'bytes' bytes.  Allocates nothing.
 *
 * Errors: EDDY_E_JSON_SYNTAX     a character that the grammar does not allow; an empty text
 *         EDDY_E_JSON_TRUNCATED  the text ends inside a value
 *         EDDY_E_JSON_NUMBER     a malformed number, such as 01, 1. or +1
 *         EDDY_E_JSON_STRING     a string has a control character or a wrong escape
 *         EDDY_E_JSON_UTF8       a string is not UTF-8 (RFC 3629)
 *         EDDY_E_JSON_DEPTH      more nested arrays and objects than opts->depth_max
 *         -EINVAL                opts->depth_max is above EDDY_JSON_DEPTH_MAX, or an unknown flag
 */
EDDY_API EDDY_MUST_USE int eddy_json_check(const char *text, size_t bytes,
                                           const struct eddy_json_opts *opts,
                                           struct eddy_json_error *ret_error);

/*
 * Check a text as eddy_json_check() does, and write it without the white space between its tokens to
 * 'out', which has room for 'bytes' bytes and does not overlap 'text'.  The result has no line break, and
 * strings and numbers keep their spelling.  Returns the bytes written; no NUL is added.  The
 * content of 'out' is undefined beyond these bytes and on failure.
 */
EDDY_API EDDY_MUST_USE int64_t eddy_json_compact(const char *text, size_t bytes, char *out,
                                                 const struct eddy_json_opts *opts,
                                                 struct eddy_json_error *ret_error);

/* ---- values in a text ------------------------------------------------------------------------ */

enum eddy_json_kind {
        EDDY_JSON_NONE, /* of a zeroed struct */
        EDDY_JSON_NULL,
        EDDY_JSON_BOOL,
        EDDY_JSON_NUMBER,
        EDDY_JSON_STRING,
        EDDY_JSON_ARRAY,
        EDDY_JSON_OBJECT
};

/* A value of a valid text, as written there.  Borrows the text. */
struct eddy_json_value {
        const char *text; /* from the first byte of the value; a string begins with its quote */
        size_t bytes;
        int kind; /* enum eddy_json_kind */
};

/*
 * Check a text as eddy_json_check() does and store its value, for the functions below.  They never
 * read beyond 'bytes', even if the text was changed meanwhile.
 */
EDDY_API EDDY_MUST_USE int eddy_json_parse(const char *text, size_t bytes,
                                           const struct eddy_json_opts *opts,
                                           struct eddy_json_value *ret_value,
                                           struct eddy_json_error *ret_error);

/*
 * Find a value by its path from 'value': names with dots between them and indices from 0 in
 * brackets, as in "choices[0].message.content".  The empty path is 'value' itself.  Only
 * eddy_json_next() finds a name that is empty or contains a dot or a bracket.  The time is linear
 * in the bytes before the value: use eddy_json_next() to pick several members.
 *
 * Errors: -ENOENT  the text has no such value
 *         -EINVAL  the path is not well-formed
 */
EDDY_API EDDY_MUST_USE int eddy_json_get(const struct eddy_json_value *value, const char *path,
                                         struct eddy_json_value *ret_value);

/* The place of a walk over the members of an object or the items of an array. */
struct eddy_json_cursor {
        const char *at;
        const char *end;
        bool is_object;
};

/*
 * Begin a walk over the members or items of 'value', in their order.
 *
 * Errors: EDDY_E_FIELD_TYPE  'value' is neither an object nor an array
 */
EDDY_API EDDY_MUST_USE int eddy_json_walk(const struct eddy_json_value *value,
                                          struct eddy_json_cursor *ret_cursor);

/*
 * Store the next value, and in '*ret_name' its name: a value of kind EDDY_JSON_STRING, or of kind
 * EDDY_JSON_NONE for an item of an array.  'ret_name' may be NULL.  Returns false after the last
 * value.
 */
EDDY_API bool eddy_json_next(struct eddy_json_cursor *cursor, struct eddy_json_value *ret_name,
                             struct eddy_json_value *ret_value);

/* Returns true if 'value' is a string that equals 'text' after its escapes are converted. */
EDDY_API bool eddy_json_is(const struct eddy_json_value *value, const char *text);

/*
 * Convert a value.  Integers have neither a fraction nor an exponent: 1.0 and 1e3 are doubles only.
 * A double is the nearest one, in every locale.
 *
 * Errors: EDDY_E_FIELD_TYPE   the value is of another type
 *         EDDY_E_FIELD_RANGE  the number does not fit; a double would be infinite; a double is
 *                             written with more than EDDY_JSON_NUMBER_BYTES bytes
 */
EDDY_API EDDY_MUST_USE int eddy_json_bool(const struct eddy_json_value *value, bool *ret_bool);
EDDY_API EDDY_MUST_USE int eddy_json_int64(const struct eddy_json_value *value,
                                           int64_t *ret_number);
EDDY_API EDDY_MUST_USE int eddy_json_uint64(const struct eddy_json_value *value,
                                            uint64_t *ret_number);
EDDY_API EDDY_MUST_USE int eddy_json_double(const struct eddy_json_value *value,
                                            double *ret_number);

/*
 * Convert a string to UTF-8 and store it with a NUL at 'out', which has room for 'room' bytes;
 * value->bytes always suffice.  A NULL 'out' only counts.  Returns the bytes without the NUL; the
 * string may contain NULs.  'out' is not changed on failure.
 *
 * Errors: EDDY_E_FIELD_TYPE  the value is not a string
 *         EDDY_E_FIELD_TEXT  the string has half of a surrogate pair
 *         -EMSGSIZE          'room' is too small
 */
EDDY_API EDDY_MUST_USE int64_t eddy_json_string(const struct eddy_json_value *value, char *out,
                                                size_t room);

/* ---- writing strings ------------------------------------------------------------------------- */

/*
 * Write 'bytes' bytes as a JSON string with its quotes to 'out', which has room for
 * eddy_json_quoted_bytes() bytes.  Control characters, quotes and backslashes are escaped.  Each
 * byte that is not UTF-8 becomes U+FFFD, so the result is always valid.  Returns the bytes written;
 * no NUL is added.  'out' does not overlap 'data'.  Neither function can fail.
 */
EDDY_API size_t eddy_json_quote(const void *data, size_t bytes, char *out);

/* Returns the number of bytes that eddy_json_quote() writes: at most 6 for each byte, plus 2. */
EDDY_API size_t eddy_json_quoted_bytes(const void *data, size_t bytes);

/* Returns true for UTF-8 (RFC 3629: shortest forms, no surrogates). */
EDDY_API bool eddy_json_is_utf8(const void *data, size_t bytes);

/* ---- structs --------------------------------------------------------------------------------- */

/* A flag: the text is a request, not a response.  See EDDY_FIELD_READ_ONLY. */
enum { EDDY_JSON_REQUEST = 1 << 0 };

/*
 * Read a text into the struct at 'out', which 'fields' describes.  The error names the first wrong
 * field: "users[3].age: 300 is above the maximum 150".  Scalars and char [N] that the text does not
 * give, or gives as null, keep their values, so 'out' may hold defaults.  Each char * and list that
 * is not given becomes NULL and empty: for a default, test for NULL after the call.  The former
 * strings and lists of 'out' are not freed.  On failure 'out' is not changed.
 *
 * Errors: those of eddy_json_check(), with EDDY_JSON_DEPTH_DEFAULT
 *         EDDY_E_FIELD_TYPE       a value of another type
 *         EDDY_E_FIELD_RANGE      a number outside its limits; a name that an enum does not have
 *         EDDY_E_FIELD_LENGTH     a string or an array outside its limits
 *         EDDY_E_FIELD_TEXT       a string with \u0000 or half of a surrogate pair
 *         EDDY_E_FIELD_MISSING    a required field is missing
 *         EDDY_E_FIELD_UNKNOWN    a field that is not in the table, with EDDY_FIELDS_STRICT
 *         EDDY_E_FIELD_DUPLICATE  a field of the table, or a name of a map, is given twice
 *         EDDY_E_FIELD_FORMAT     a string without its format
 *         EDDY_E_FIELD_UNIQUE     two equal items, with EDDY_FIELD_UNIQUE
 *         EDDY_E_FIELD_TABLE      the table is not usable; the text names the reason
 *         -ENOMEM
 * Owns: returns strings and lists (owned), until eddy_fields_fini().
 */
EDDY_API EDDY_MUST_USE int eddy_json_read(const struct eddy_fields *fields, const char *text,
                                          size_t bytes, void *out,
                                          struct eddy_json_error *ret_error);

/*
 * Write the struct at 'in' as a compact JSON text, in the order of the table.  Optional fields that
 * are absent are left out: those whose flag is false, and strings that are NULL.  A field whose null
 * flag is true is null, and so is the value of a map's entry that is absent.  A text that is written
 * can be read: limits, formats and equal items are checked.
 *
 * Errors: EDDY_E_FIELD_RANGE, _LENGTH, _MISSING, _FORMAT, _UNIQUE, _TABLE  as eddy_json_read(); a
 *                            double that is infinite or not a number is out of range
 *         EDDY_E_FIELD_DUPLICATE  a name of a map is there twice
 *         EDDY_E_FIELD_TEXT  a string is not UTF-8, or an array of characters has no NUL
 *         EDDY_E_JSON_*      a raw field is not JSON, or makes the text deeper than
 *                            EDDY_JSON_DEPTH_DEFAULT
 *         -EMSGSIZE          the text would exceed EDDY_JSON_WRITTEN_MAX bytes
 *         -ENOMEM
 * Owns: returns '*ret_text' (owned), with a NUL that '*ret_bytes' does not count, until eddy_free().
 */
#define EDDY_JSON_WRITTEN_MAX ((size_t) 1 << 30)
EDDY_API EDDY_MUST_USE int eddy_json_write(const struct eddy_fields *fields, const void *in,
                                           char **ret_text, size_t *ret_bytes,
                                           struct eddy_json_error *ret_error);

/*
 * As eddy_json_write(); 'flags' is 0 or EDDY_JSON_REQUEST.
 *
 * Errors: as eddy_json_write()
 *         -EINVAL  an unknown flag
 * Owns: as eddy_json_write()
 */
EDDY_API EDDY_MUST_USE int eddy_json_write_as(const struct eddy_fields *fields, const void *in,
                                              unsigned flags, char **ret_text, size_t *ret_bytes,
                                              struct eddy_json_error *ret_error);

EDDY_END_DECLS

#endif
