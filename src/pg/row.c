/*
 * pg/row.c - reading a row into a struct: the row becomes a JSON object, whose values have the
 * forms of the struct's fields.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/fields.h"
#include "eddy/error.h"
#include "pg/pg.h"

enum { ROW_BYTES_MAX = 1 << 30 };

/* Types of the server whose texts are times. */
enum { DATE = 1082, TIMESTAMP = 1114, TIMESTAMPTZ = 1184, JSON = 114, JSONB = 3802, BOOL = 16 };

static const struct eddy_field *find(const struct eddy_fields *fields, const char *name)
{
        for (size_t i = 0; i < fields->count; i++) {
                const struct eddy_field *field = &fields->list[i];

                if (strcmp(field->as ? field->as : field->name, name) == 0)
                        return field;
        }
        return NULL;
}

static int put(struct ed_buf *buf, const char *text)
{
        return ed_buf_append(buf, text, strlen(text));
}

static int put_quoted(struct ed_buf *buf, const char *text)
{
        size_t bytes = strlen(text);
        char *room;
        int err = ed_buf_reserve(buf, eddy_json_quoted_bytes(text, bytes), &room);

        if (err == 0)
                ed_buf_grow(buf, eddy_json_quote(text, bytes, room));
        return err;
}

/* The text of a number remains; another one is quoted, so that it is of the wrong type. */
static int put_plain(struct ed_buf *buf, const char *text)
{
        struct eddy_json_value value;

        if (eddy_json_parse(text, strlen(text), NULL, &value, NULL) == 0 &&
            value.kind == EDDY_JSON_NUMBER)
                return put(buf, text);
        return put_quoted(buf, text);
}

static int put_bool(struct ed_buf *buf, const char *text)
{
        if (text[0] && !text[1] && (*text == 't' || *text == 'f'))
                return put(buf, *text == 't' ? "true" : "false");
        return put_quoted(buf, text);
}

static int put_int(struct ed_buf *buf, const char *text, uint32_t type)
{
        int64_t time_ns;
        char number[32];

        if ((type != DATE && type != TIMESTAMP && type != TIMESTAMPTZ) ||
            ed_pg_time_parse(text, &time_ns) < 0)
                return put_plain(buf, text);
        snprintf(number, sizeof(number), "%lld", (long long) time_ns);
        return put(buf, number);
}

/* Exactly one value: a text may have the rest of the object, with fields that are not in the row. */
static int put_json(struct ed_buf *buf, const char *text)
{
        int err = eddy_json_check(text, strlen(text), NULL, NULL);

        return err < 0 ? err : put(buf, text);
}

static bool is_json(uint32_t type)
{
        return type == JSON || type == JSONB;
}

static int put_raw(struct ed_buf *buf, const char *text, uint32_t type)
{
        if (is_json(type))
                return put_json(buf, text);
        return type == BOOL ? put_bool(buf, text) : put_plain(buf, text);
}

static int put_one(struct ed_buf *buf, int kind, const char *text, uint32_t type)
{
        switch (kind) {
        case EDDY_KIND_BOOL:
                return put_bool(buf, text);
        case EDDY_KIND_INT:
        case EDDY_KIND_UINT:
                return put_int(buf, text, type);
        case EDDY_KIND_DOUBLE:
                return put_plain(buf, text);
        case EDDY_KIND_RAW:
                return put_raw(buf, text, type);
        case EDDY_KIND_STRUCT:
                return put_json(buf, text);
        default:
                return put_quoted(buf, text);
        }
}

/* Write each element with the help of a buffer for its text. */
static int put_elements(struct ed_buf *buf, eddy_pg_array *array, int kind, struct ed_buf *element,
                        size_t room)
{
        char *text;
        int err = ed_buf_reserve(element, room, &text);

        for (bool first = true; err == 0; first = false) {
                bool is_null = false;
                int64_t bytes = eddy_pg_array_next(array, text, room, &is_null);

                if (bytes == -ENOENT)
                        return 0;
                err = bytes < 0 ? (int) bytes : 0;
                if (err == 0 && !first)
                        err = put(buf, ",");
                if (err == 0)
                        err = is_null ? put(buf, "null") : put_one(buf, kind, text, 0);
        }
        return err;
}

static int put_list(struct ed_buf *buf, int kind, const char *text, uint32_t type)
{
        struct ed_buf element;
        eddy_pg_array array;
        int err;

        if (kind == EDDY_KIND_STRUCT || is_json(type) || ed_pg_array_begin(text, ',', &array) < 0)
                return put_json(buf, text);
        ed_buf_init(&element, ROW_BYTES_MAX);
        err = put(buf, "[");
        if (err == 0)
                err = put_elements(buf, &array, kind, &element, strlen(text) + 1);
        if (err == 0)
                err = put(buf, "]");
        ed_buf_fini(&element);
        return err;
}

static int put_column(struct ed_buf *buf, const eddy_pg_result *result, int row, int column,
                      const struct eddy_fields *fields)
{
        const char *name = eddy_pg_column_name(result, column);
        const char *text = eddy_pg_get_text(result, row, column, NULL);
        uint32_t type = eddy_pg_column_type(result, column);
        const struct eddy_field *field = find(fields, name);
        int err = put_quoted(buf, name);

        if (err == 0)
                err = put(buf, ":");
        if (err < 0)
                return err;
        /* A strict table refuses the name. */
        if (!text || !field)
                return put(buf, "null");
        if (field->shape != EDDY_SHAPE_ONE)
                return put_list(buf, field->kind, text, type);
        return put_one(buf, field->kind, text, type);
}

int eddy_pg_row(const eddy_pg_result *result, int row, const struct eddy_fields *fields, void *out,
                struct eddy_json_error *ret_error)
{
        struct eddy_json_error wrong = { .error = 0 };
        struct ed_buf buf;
        int err;

        if (row < 0 || row >= eddy_pg_rows(result) || !fields || !out)
                return -EINVAL;
        ed_buf_init(&buf, ROW_BYTES_MAX);
        err = ed_fields_are_union(fields) ? EDDY_E_FIELD_TABLE : put(&buf, "{");
        if (err == EDDY_E_FIELD_TABLE)
                snprintf(wrong.text, sizeof(wrong.text), "a row cannot be a tagged union");
        for (int i = 0; i < eddy_pg_columns(result) && err == 0; i++) {
                if (i > 0)
                        err = put(&buf, ",");
                if (err == 0)
                        err = put_column(&buf, result, row, i, fields);
                if (err < 0)
                        snprintf(wrong.text, sizeof(wrong.text), "%s: %s",
                                 eddy_pg_column_name(result, i), eddy_error_text(err));
        }
        if (err == 0)
                err = put(&buf, "}");
        wrong.error = err;
        if (err == 0)
                err = eddy_json_read(fields, ed_buf_data(&buf), ed_buf_bytes(&buf), out, &wrong);
        if (err < 0 && ret_error)
                *ret_error = wrong;
        ed_buf_fini(&buf);
        return err;
}
