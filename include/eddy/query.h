/*
 * eddy/query.h - queries, forms and path parameters to and from structs.
 *
 *     struct search {
 *             char text[100];
 *             uint32_t page;
 *             int64_t *tags;
 *             size_t tags_count;
 *     };
 *
 *     static const struct eddy_field search_list[] = {
 *             EDDY_FIELD(struct search, text, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(1, 99)),
 *             EDDY_FIELD(struct search, page, EDDY_FIELD_MIN(1)),
 *             EDDY_FIELD_LIST(struct search, tags, tags_count, EDDY_FIELD_AS("tag")),
 *     };
 *     static const struct eddy_fields search_fields = EDDY_FIELDS(struct search, search_list, 0);
 *
 *     struct search search = { .page = 1 };
 *
 *     // text=two+words&tag=3&tag=5
 *     err = eddy_query_read(&search_fields, query, bytes, 0, &search, &error);
 *     if (err < 0)
 *             return reject(error.text);        // "page: \"x\" is not an integer"
 *     ...
 *     eddy_fields_fini(&search_fields, &search);
 *
 * The table is one of eddy/fields.h, and may serve for JSON too (eddy/json.h).  All values are texts:
 *
 *     field                value
 *     bool                 true, false, 1, 0, yes, no, on or off, also in capitals
 *     integer, number      as in JSON: 12, -1, 2.5e3; not +1, 007, 0x1f, " 1" or an empty text
 *     string               any UTF-8 without NUL
 *     enum                 a name of its list
 *     array, list          the name once for each item: tag=3&tag=5
 *
 * A name is spelled as in the table: for tags[]=3, use EDDY_FIELD_AS("tags[]").  Pairs are split and
 * decoded as by eddy_url_query_next(): '+' is a space.  A field that is not a list and is given twice
 * is an error, because two programs would choose different values.  Nested structs, maps, unions and
 * raw fields have no place in a query: a table that has them is not usable here.  Read-only fields are
 * ignored, because a query is part of a request (EDDY_FIELD_READ_ONLY).
 *
 * No function here suspends.  Threads: any.
 */
#ifndef EDDY_QUERY_H
#define EDDY_QUERY_H

#include "eddy/def.h"
#include "eddy/field_errors.h"
#include "eddy/fields.h"
#include "eddy/json.h"
#include "eddy/url.h"

EDDY_BEGIN_DECLS

enum { EDDY_QUERY_PAIRS_MAX = 1 << 16 /* of one query or form, known or not */ };

enum {
        /*
         * A pair with an empty value is skipped, as if it were not given.  Browsers send each empty
         * input of a form so.
         */
        EDDY_QUERY_SKIP_EMPTY = 1 << 0,
};

/*
 * Read a query without its '?', or a body of application/x-www-form-urlencoded, into the struct at
 * 'out'.  As eddy_json_read(): members that are not given keep their values, strings and lists
 * become NULL and empty, and on failure 'out' is not changed.  Errors are in the order of the table.
 * In the error, 'line' and 'column' are 0, and 'offset' is 0 except for EDDY_E_URL_INVALID.
 *
 * Errors: EDDY_E_URL_INVALID      a '%' without two hexadecimal digits; no field is read
 *         EDDY_E_FIELD_TYPE       the value is not a bool, an integer or a number
 *         EDDY_E_FIELD_TEXT       a string has %00 or is not UTF-8
 *         EDDY_E_FIELD_UNKNOWN    a name that is not in the table, with EDDY_FIELDS_STRICT
 *         EDDY_E_FIELD_DUPLICATE  a field that is neither an array nor a list is given twice
 *         EDDY_E_FIELD_RANGE, _LENGTH, _MISSING, and others of fields, as eddy_json_read()
 *         EDDY_E_FIELD_LENGTH     more than EDDY_QUERY_PAIRS_MAX pairs
 *         EDDY_E_FIELD_TABLE      the table is not usable, or not for a query; the text names the
 *                                 field and the reason
 *         -EMSGSIZE               the values have more than EDDY_JSON_WRITTEN_MAX bytes
 *         -EINVAL                 an unknown flag
 *         -ENOMEM
 * Owns: returns strings and lists (owned), until eddy_fields_fini().
 */
EDDY_API EDDY_MUST_USE int eddy_query_read(const struct eddy_fields *fields, const char *query,
                                           size_t bytes, unsigned flags, void *out,
                                           struct eddy_json_error *ret_error);

/*
 * Read pairs that are decoded already, such as the parameters of a path, cookies or the texts of a
 * multipart form.
 *
 * Errors: as eddy_query_read(), except EDDY_E_URL_INVALID
 *         -EINVAL  an unknown flag; a name or value is NULL
 */
EDDY_API EDDY_MUST_USE int eddy_query_read_pairs(const struct eddy_fields *fields,
                                                 const struct eddy_url_pair *pairs, size_t count,
                                                 unsigned flags, void *out,
                                                 struct eddy_json_error *ret_error);

/*
 * Read as eddy_query_read() and eddy_query_read_pairs() do, and append all wrong fields to '*errors', as
 * eddy_json_read_all() does (eddy/field_errors.h).  A malformed '%', too many pairs and a table that
 * is not usable are single errors with an empty path.  'errors' may be NULL.
 *
 * Errors: as eddy_query_read() and eddy_query_read_pairs()
 *         -EINVAL  also: errors->max is above EDDY_FIELD_ERRORS_MAX; without an entry
 *         -ENOMEM  also: for the list, which then lacks errors; without an entry
 * Owns: as eddy_json_read_all()
 */
EDDY_API EDDY_MUST_USE int eddy_query_read_all(const struct eddy_fields *fields, const char *query,
                                               size_t bytes, unsigned flags, void *out,
                                               struct eddy_field_errors *errors);
EDDY_API EDDY_MUST_USE int eddy_query_read_pairs_all(const struct eddy_fields *fields,
                                                     const struct eddy_url_pair *pairs,
                                                     size_t count, unsigned flags, void *out,
                                                     struct eddy_field_errors *errors);

/*
 * Write the struct at 'in' as a query or form, in the order of the table; eddy_query_read() reads the
 * text as an equal struct.  Fields that are absent, as eddy_json_write() defines it, are left out,
 * and so are read-only fields and empty arrays and lists.  A space becomes %20, or '+' with
 * EDDY_URL_PLUS, as browsers write forms.
 *
 * Errors: as eddy_json_write()
 *         EDDY_E_FIELD_MISSING  also: a required array or list is empty; a null flag is true
 *         EDDY_E_FIELD_TABLE    as eddy_query_read()
 *         -EINVAL               an unknown flag
 * Owns: returns '*ret_text' (owned), with a NUL that '*ret_bytes' does not count, until eddy_free().
 */
EDDY_API EDDY_MUST_USE int eddy_query_write(const struct eddy_fields *fields, const void *in,
                                            unsigned flags, char **ret_text, size_t *ret_bytes,
                                            struct eddy_json_error *ret_error);

/*
 * Check that a table is usable for a query, for example when a program starts.
 *
 * Errors: EDDY_E_FIELD_TABLE
 */
EDDY_API EDDY_MUST_USE int eddy_query_check(const struct eddy_fields *fields,
                                            struct eddy_json_error *ret_error);

EDDY_END_DECLS

#endif
