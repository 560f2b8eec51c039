/*
 * eddy/pg_result.h - the result of a PostgreSQL command: rows, values, counts.
 *
 *     EDDY_AUTO(eddy_pg_result) eddy_pg_result *result = NULL;
 *     int err = eddy_pg_query(pg, "select id, name from users", NULL, 0, &result);
 *
 *     for (int row = 0; err == 0 && row < eddy_pg_rows(result); row++) {
 *             err = eddy_pg_get_int(result, row, 0, &id);
 *             ...
 *     }
 *
 * Rows and columns are counted from 0.  A result remains valid after its connection is closed.
 * The functions do not suspend, and any thread may call them.
 */
#ifndef EDDY_PG_RESULT_H
#define EDDY_PG_RESULT_H

#include <stdbool.h>

#include "eddy/def.h"
#include "eddy/fields.h"
#include "eddy/json.h"
#include "eddy/pg.h"

EDDY_BEGIN_DECLS

/* NULL is ignored. */
EDDY_API void eddy_pg_result_free(eddy_pg_result *result);

EDDY_API int eddy_pg_rows(const eddy_pg_result *result);
EDDY_API int eddy_pg_columns(const eddy_pg_result *result);

/* Returns the column with that name, or -ENOENT. */
EDDY_API int eddy_pg_column(const eddy_pg_result *result, const char *name);

/* Returns the name of a column, or NULL.  Valid as long as the result. */
EDDY_API const char *eddy_pg_column_name(const eddy_pg_result *result, int column);

/* Returns the type of a column: an oid of pg_type, or 0. */
EDDY_API uint32_t eddy_pg_column_type(const eddy_pg_result *result, int column);

/* Returns the command tag, such as "INSERT 0 1".  Never NULL; valid as long as the result. */
EDDY_API const char *eddy_pg_tag(const eddy_pg_result *result);

/* Returns the number of rows that the command has returned, inserted, changed, deleted or copied. */
EDDY_API int64_t eddy_pg_affected(const eddy_pg_result *result);

/* Returns true if the value is NULL, or if there is no such row or column. */
EDDY_API bool eddy_pg_is_null(const eddy_pg_result *result, int row, int column);

/*
 * Get a value.
 *
 *     _get_int     int2, int4, int8, oid, and others whose text is an integer
 *     _get_double  float4, float8, integers and numeric, which is rounded; also NaN and infinities
 *     _get_bool    bool
 *     _get_time    date, timestamp, timestamptz: nanoseconds since 1970 in UTC; INT64_MAX for
 *                  infinity, INT64_MIN for -infinity; the session's DateStyle must be ISO, as by default
 *     _get_uuid    uuid: 16 bytes
 *
 * Errors: EDDY_E_PG_IS_NULL   the value is NULL
 *         EDDY_E_FIELD_TYPE   the value has another form
 *         EDDY_E_FIELD_RANGE  the number does not fit; the time is outside the years 1678 to 2261
 *         -EINVAL             there is no such row or column
 */
EDDY_API EDDY_MUST_USE int eddy_pg_get_int(const eddy_pg_result *result, int row, int column,
                                           int64_t *ret_number);
EDDY_API EDDY_MUST_USE int eddy_pg_get_double(const eddy_pg_result *result, int row, int column,
                                              double *ret_real);
EDDY_API EDDY_MUST_USE int eddy_pg_get_bool(const eddy_pg_result *result, int row, int column,
                                            bool *ret_truth);
EDDY_API EDDY_MUST_USE int eddy_pg_get_time(const eddy_pg_result *result, int row, int column,
                                            int64_t *ret_time_ns);
EDDY_API EDDY_MUST_USE int eddy_pg_get_uuid(const eddy_pg_result *result, int row, int column,
                                            uint8_t ret_uuid[16]);

/*
 * Returns the text of any value, as the server writes it; use it for numeric and json.  The text
 * ends in a NUL that '*ret_bytes' (may be NULL) does not count.  Returns NULL if the value is NULL
 * or does not exist.  Valid as long as the result.
 */
EDDY_API const char *eddy_pg_get_text(const eddy_pg_result *result, int row, int column,
                                      size_t *ret_bytes);

/*
 * Store the bytes of a bytea at 'out', and return their number.  If 'out' is NULL, only return the
 * number.
 *
 * Errors: -EMSGSIZE  there are more than 'room' bytes
 *         and those of eddy_pg_get_int()
 */
EDDY_API EDDY_MUST_USE int64_t eddy_pg_get_bytes(const eddy_pg_result *result, int row, int column,
                                                 void *out, size_t room);

/* A walk over the elements of an array with one dimension. */
typedef struct eddy_pg_array {
        const char *at;
        char separator;
        bool is_first;
        uintptr_t reserved[2];
} eddy_pg_array;

/* Begin the walk.  Errors: as eddy_pg_get_int(); an array of arrays is an EDDY_E_FIELD_TYPE. */
EDDY_API EDDY_MUST_USE int eddy_pg_get_array(const eddy_pg_result *result, int row, int column,
                                             eddy_pg_array *ret_array);

/*
 * Store the text of the next element at 'out' with a NUL, and return its length in bytes without
 * the NUL.  A NULL element is stored as "", and '*ret_is_null' (may be NULL) is set to true.
 *
 * Errors: -ENOENT            there is no further element
 *         -EMSGSIZE          'room' is too small; the walk has not moved
 *         EDDY_E_FIELD_TYPE  the text is not that of an array
 */
EDDY_API EDDY_MUST_USE int64_t eddy_pg_array_next(eddy_pg_array *array, char *out, size_t room,
                                                  bool *ret_is_null);

/*
 * Read a row into the struct at 'out', which 'fields' describes.  Columns are matched to fields by
 * name; NULL is a missing value.  Depending on the kind of the field:
 *   - a number or bool takes such a column; an integer also takes a time: nanoseconds since 1970
 *   - a string takes the text of any column
 *   - a raw field, struct, list or map takes json; a list or an array of numbers, bools or strings
 *     also takes an array of the server
 * A column without a field is ignored, unless the table has EDDY_FIELDS_STRICT.  A scalar or char [N]
 * whose column is NULL, or is not in the result, keeps its value: set '*out' to its defaults before
 * each row, or use EDDY_FIELD_REQUIRED.  'ret_error' may be NULL.
 *
 * Errors: -EINVAL  there is no such row
 *         EDDY_E_FIELD_TABLE  also: the table is a tagged union
 *         those of eddy_json_read()
 * Owns: as eddy_json_read()
 */
EDDY_API EDDY_MUST_USE int eddy_pg_row(const eddy_pg_result *result, int row,
                                       const struct eddy_fields *fields, void *out,
                                       struct eddy_json_error *ret_error);

static inline void eddy_pg_result_auto_release(eddy_pg_result **result)
{
        eddy_pg_result_free(*result);
}

EDDY_END_DECLS

#endif
