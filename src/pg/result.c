/*
 * pg/result.c - results: libpq's, all columns in text format.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/def.h"
#include "base/hex.h"
#include "eddy/uuid.h"
#include "pg/pg.h"

/* The type of the only array whose separator is not a comma: box[]. */
enum { BOX_ARRAY = 1020 };

static const PGresult *of(const eddy_pg_result *result)
{
        return (const PGresult *) result;
}

void eddy_pg_result_free(eddy_pg_result *result)
{
        PQclear((PGresult *) result);
}

int eddy_pg_rows(const eddy_pg_result *result)
{
        return PQntuples(of(result));
}

int eddy_pg_columns(const eddy_pg_result *result)
{
        return PQnfields(of(result));
}

int eddy_pg_column(const eddy_pg_result *result, const char *name)
{
        for (int i = 0; name && i < PQnfields(of(result)); i++)
                if (strcmp(PQfname(of(result), i), name) == 0)
                        return i;
        return -ENOENT;
}

static bool has_column(const eddy_pg_result *result, int column)
{
        return column >= 0 && column < PQnfields(of(result));
}

const char *eddy_pg_column_name(const eddy_pg_result *result, int column)
{
        return has_column(result, column) ? PQfname(of(result), column) : NULL;
}

uint32_t eddy_pg_column_type(const eddy_pg_result *result, int column)
{
        return has_column(result, column) ? PQftype(of(result), column) : 0;
}

const char *eddy_pg_tag(const eddy_pg_result *result)
{
        return result ? PQcmdStatus((PGresult *) result) : "";
}

int64_t eddy_pg_affected(const eddy_pg_result *result)
{
        return result ? strtoll(PQcmdTuples((PGresult *) result), NULL, 10) : 0;
}

static bool has(const eddy_pg_result *result, int row, int column)
{
        return row >= 0 && row < PQntuples(of(result)) && has_column(result, column);
}

bool eddy_pg_is_null(const eddy_pg_result *result, int row, int column)
{
        return !has(result, row, column) || PQgetisnull(of(result), row, column);
}

const char *eddy_pg_get_text(const eddy_pg_result *result, int row, int column, size_t *ret_bytes)
{
        if (eddy_pg_is_null(result, row, column))
                return NULL;
        if (ret_bytes)
                *ret_bytes = (size_t) PQgetlength(of(result), row, column);
        return PQgetvalue(of(result), row, column);
}

static int get(const eddy_pg_result *result, int row, int column, const char **ret_text)
{
        if (!has(result, row, column))
                return -EINVAL;
        *ret_text = eddy_pg_get_text(result, row, column, NULL);
        return *ret_text ? 0 : EDDY_E_PG_IS_NULL;
}

int eddy_pg_get_int(const eddy_pg_result *result, int row, int column, int64_t *ret_number)
{
        const char *text = NULL;
        char *end;
        int64_t number;
        int err = get(result, row, column, &text);

        if (err < 0)
                return err;
        if (*text != '-' && (*text < '0' || *text > '9'))
                return EDDY_E_FIELD_TYPE;
        errno = 0;
        number = strtoll(text, &end, 10);
        if (*end || end == text)
                return EDDY_E_FIELD_TYPE;
        if (errno == ERANGE)
                return EDDY_E_FIELD_RANGE;
        *ret_number = number;
        return 0;
}

int eddy_pg_get_double(const eddy_pg_result *result, int row, int column, double *ret_real)
{
        struct eddy_json_value value = { .kind = EDDY_JSON_NUMBER };
        const char *text = NULL;
        int err = get(result, row, column, &text);

        if (err < 0)
                return err;
        if (strcmp(text, "NaN") == 0)
                *ret_real = __builtin_nan("");
        else if (strcmp(text, "Infinity") == 0)
                *ret_real = __builtin_inf();
        else if (strcmp(text, "-Infinity") == 0)
                *ret_real = -__builtin_inf();
        else if (eddy_json_parse(text, strlen(text), NULL, &value, NULL) < 0)
                return EDDY_E_FIELD_TYPE;
        else
                return eddy_json_double(&value, ret_real);
        return 0;
}

int eddy_pg_get_bool(const eddy_pg_result *result, int row, int column, bool *ret_truth)
{
        const char *text = NULL;
        int err = get(result, row, column, &text);

        if (err < 0)
                return err;
        if ((*text != 't' && *text != 'f') || text[1])
                return EDDY_E_FIELD_TYPE;
        *ret_truth = *text == 't';
        return 0;
}

int eddy_pg_get_time(const eddy_pg_result *result, int row, int column, int64_t *ret_time_ns)
{
        const char *text = NULL;
        int err = get(result, row, column, &text);

        return err < 0 ? err : ed_pg_time_parse(text, ret_time_ns);
}

int eddy_pg_get_uuid(const eddy_pg_result *result, int row, int column, uint8_t ret_uuid[16])
{
        const char *text = NULL;
        struct eddy_uuid uuid;
        int err = get(result, row, column, &text);

        if (err < 0)
                return err;
        if (eddy_uuid_parse(text, strlen(text), &uuid) < 0)
                return EDDY_E_FIELD_TYPE;
        memcpy(ret_uuid, uuid.bytes, sizeof(uuid.bytes));
        return 0;
}

/* "\x00ff..." */
int64_t eddy_pg_get_bytes(const eddy_pg_result *result, int row, int column, void *out, size_t room)
{
        const char *text = NULL;
        size_t bytes;
        int err = get(result, row, column, &text);

        if (err < 0)
                return err;
        bytes = strlen(text);
        if (text[0] != '\\' || text[1] != 'x' || bytes % 2 != 0)
                return EDDY_E_FIELD_TYPE;
        bytes = bytes / 2 - 1;
        if (out && bytes > room)
                return -EMSGSIZE;
        for (size_t i = 0; out && i < bytes; i++) {
                int high = ed_hex_digit(text[2 + 2 * i]), low = ed_hex_digit(text[3 + 2 * i]);

                if (high < 0 || low < 0)
                        return EDDY_E_FIELD_TYPE;
                ((uint8_t *) out)[i] = (uint8_t) (high << 4 | low);
        }
        return (int64_t) bytes;
}

int eddy_pg_get_array(const eddy_pg_result *result, int row, int column, eddy_pg_array *ret_array)
{
        const char *text = NULL;
        int err = get(result, row, column, &text);
        char separator = eddy_pg_column_type(result, column) == BOX_ARRAY ? ';' : ',';

        return err < 0 ? err : ed_pg_array_begin(text, separator, ret_array);
}
