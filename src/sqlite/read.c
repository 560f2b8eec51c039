/*
 * sqlite/read.c - reading rows into C structs: a row becomes a JSON object, or all rows an array, which
 * eddy_json_read() reads.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fields.h"
#include "eddy/error.h"
#include "eddy/json.h"
#include "sqlite/rows.h"
#include "wire/json.h"

enum { JSON_MAX = 32 << 20, INT_BYTES = 24 };

static int add_quoted(struct ed_buf *json, const char *text, size_t bytes)
{
        size_t quoted = eddy_json_quoted_bytes(text, bytes);
        char *room;
        int err = ed_buf_reserve(json, quoted, &room);

        if (err == 0)
                ed_buf_grow(json, eddy_json_quote(text, bytes, room));
        return err;
}

static int add_integer(struct ed_buf *json, const struct eddy_field *field, int64_t integer)
{
        char text[INT_BYTES];
        int n;

        if (field && field->kind == EDDY_KIND_BOOL && (integer == 0 || integer == 1))
                n = snprintf(text, sizeof(text), "%s", integer ? "true" : "false");
        else
                n = snprintf(text, sizeof(text), "%lld", (long long) integer);
        return ed_buf_append(json, text, (size_t) n);
}

/* Text that is a JSON value, for fields that are not one scalar. */
static int add_text(struct ed_buf *json, const struct eddy_field *field, const char *text,
                    size_t bytes)
{
        bool is_json = field && (field->kind == EDDY_KIND_RAW || field->kind == EDDY_KIND_STRUCT ||
                                 field->shape != EDDY_SHAPE_ONE);

        if (is_json && eddy_json_check(text, bytes, NULL, NULL) == 0)
                return ed_buf_append(json, text, bytes);
        return add_quoted(json, text, bytes);
}

static int add_cell(struct ed_buf *json, const struct ed_sqlite_row *row,
                    const struct ed_sqlite_cell *cell, const struct eddy_field *field)
{
        switch (cell->type) {
        case EDDY_SQLITE_INT:
                return add_integer(json, field, cell->as.integer);
        case EDDY_SQLITE_REAL:
                return isfinite(cell->as.real) ? ed_json_double_write(json, cell->as.real)
                                               : EDDY_E_FIELD_TYPE;
        case EDDY_SQLITE_TEXT:
                return add_text(json, field, ed_sqlite_cell_data(row, cell), cell->bytes);
        case EDDY_SQLITE_BLOB:
                return EDDY_E_FIELD_TYPE;
        default:
                return ed_buf_append(json, "null", 4);
        }
}

/*
 * NULL is left out unless the field has a flag for it, and so are columns that the table does not name and
 * does not refuse.
 */
static int make_object(const eddy_sqlite_rows *rows, const struct eddy_fields *fields,
                       struct ed_buf *json, const char **ret_name)
{
        const char *name = ed_buf_data(&rows->names);
        int err = ed_buf_append(json, "{", 1);
        bool is_first = true;

        for (int i = 0; i < rows->columns && err == 0; i++, name += strlen(name) + 1) {
                const struct ed_sqlite_cell *cell = &rows->present->cells[i];
                const struct eddy_field *field = ed_sqlite_field(fields, name);

                if (field ? cell->type == EDDY_SQLITE_NULL && !field->null_flag
                          : !(fields->flags & EDDY_FIELDS_STRICT))
                        continue;
                *ret_name = name;
                if (!is_first)
                        err = ed_buf_append(json, ",", 1);
                is_first = false;
                if (err == 0)
                        err = add_quoted(json, name, strlen(name));
                if (err == 0)
                        err = ed_buf_append(json, ":", 1);
                if (err == 0)
                        err = add_cell(json, rows->present, cell, field);
        }
        return err == 0 ? ed_buf_append(json, "}", 1) : err;
}

/* Refuse a table that no row has. */
static int check_row(const struct eddy_fields *fields, struct eddy_json_error *error)
{
        if (!ed_fields_are_union(fields))
                return 0;
        snprintf(error->text, sizeof(error->text), "a row cannot be a tagged union");
        return EDDY_E_FIELD_TABLE;
}

/* Check the table, unless an earlier row was read with it. */
static int check_table(const eddy_sqlite_rows *rows, const struct eddy_fields *fields,
                       struct eddy_json_error *error)
{
        int err;

        if (rows->checked == fields)
                return 0;
        err = eddy_fields_check(fields, error);
        if (err == 0)
                err = check_row(fields, error);
        if (err == 0)
                ((eddy_sqlite_rows *) (uintptr_t) rows)->checked = fields;
        return err;
}

int eddy_sqlite_rows_read(const eddy_sqlite_rows *rows, const struct eddy_fields *fields, void *out,
                          struct eddy_sqlite_fault *ret_fault)
{
        struct eddy_sqlite_fault fault = { .offset = -1 };
        struct eddy_json_error error = { .error = 0 };
        const char *name = "";
        struct ed_buf json;
        int err;

        if (!rows || !rows->present || !fields || !out)
                return -EINVAL;
        ed_buf_init(&json, JSON_MAX);
        err = check_table(rows, fields, &error);
        if (err == 0) {
                err = make_object(rows, fields, &json, &name);
                if (err < 0)
                        snprintf(error.text, sizeof(error.text), "%s: %s", name,
                                 eddy_error_text(err));
        }
        if (err == 0)
                err = eddy_json_read(fields, ed_buf_data(&json), ed_buf_bytes(&json), out, &error);
        ed_buf_fini(&json);
        if (err < 0 && ret_fault) {
                snprintf(fault.text, sizeof(fault.text), "%s", error.text);
                *ret_fault = fault;
        }
        return err;
}

/* --- the only row --- */

/* Returns 1, or 0 for none. */
static int read_only_row(eddy_sqlite_conn *conn, eddy_sqlite_rows *rows,
                         const struct eddy_fields *fields, void *out)
{
        int err = ed_sqlite_rows_advance(rows);

        if (err <= 0)
                return err;
        if (rows->next < ed_buf_bytes(&rows->batch))
                return ed_sqlite_refuse(conn, EDDY_E_SQLITE_MANY_ROWS,
                                        "the query has more than one row");
        err = eddy_sqlite_rows_read(rows, fields, out, &conn->fault);
        return err < 0 ? err : 1;
}

int eddy_sqlite_one_or_none(eddy_sqlite_conn *conn, const char *sql,
                            const struct eddy_sqlite_value *values, size_t count,
                            const struct eddy_fields *fields, void *out)
{
        struct ed_sqlite_run run = { sql, values, count, 1 };
        eddy_sqlite_rows *rows;
        int err;

        if (!conn || !fields || !out)
                return -EINVAL;
        ed_sqlite_hold(conn);
        err = ed_sqlite_rows_open(conn, &run, 2, &rows);
        if (err == 0) {
                err = read_only_row(conn, rows, fields, out);
                eddy_sqlite_rows_close(rows);
        }
        ed_sqlite_let_go(conn);
        return err;
}

int eddy_sqlite_one(eddy_sqlite_conn *conn, const char *sql, const struct eddy_sqlite_value *values,
                    size_t count, const struct eddy_fields *fields, void *out)
{
        int err;

        if (!conn)
                return -EINVAL;
        ed_sqlite_hold(conn);
        err = eddy_sqlite_one_or_none(conn, sql, values, count, fields, out);
        if (err == 0)
                err = ed_sqlite_refuse(conn, EDDY_E_SQLITE_NO_ROW, "the query has no row");
        ed_sqlite_let_go(conn);
        return err < 0 ? err : 0;
}

/* --- all rows --- */

/* Check a table of one list. */
static int check_list(const struct eddy_fields *fields, struct eddy_json_error *error)
{
        const struct eddy_field *list = fields->list;
        int err = eddy_fields_check(fields, error);

        if (err < 0)
                return err;
        if (fields->count == 1 && list->kind == EDDY_KIND_STRUCT &&
            (list->shape == EDDY_SHAPE_LIST || list->shape == EDDY_SHAPE_ARRAY))
                return check_row(list->fields, error);
        snprintf(error->text, sizeof(error->text),
                 "a table of one field is needed, a list of structs");
        return EDDY_E_FIELD_TABLE;
}

/* Append the rows as an array. */
static int add_rows(eddy_sqlite_rows *rows, const struct eddy_fields *fields, struct ed_buf *json,
                    struct eddy_json_error *error)
{
        const char *name = "", *before = "[";
        int err;

        while ((err = eddy_sqlite_rows_next(rows)) > 0) {
                err = ed_buf_append(json, before, 1);
                if (err == 0)
                        err = make_object(rows, fields, json, &name);
                if (err < 0) {
                        snprintf(error->text, sizeof(error->text), "%s: %s", name,
                                 eddy_error_text(err));
                        return err;
                }
                before = ",";
        }
        if (err == 0 && *before == '[')
                err = ed_buf_append(json, "[", 1);
        return err == 0 ? ed_buf_append(json, "]", 1) : err;
}

/* {"NAME":[...]} */
static int read_all(eddy_sqlite_rows *rows, const struct eddy_fields *fields, void *out,
                    struct eddy_json_error *error)
{
        const struct eddy_field *list = fields->list;
        const char *name = ed_field_name(list);
        struct ed_buf json;
        int err;

        ed_buf_init(&json, JSON_MAX);
        err = ed_buf_append(&json, "{", 1);
        if (err == 0)
                err = add_quoted(&json, name, strlen(name));
        if (err == 0)
                err = ed_buf_append(&json, ":", 1);
        if (err == 0)
                err = add_rows(rows, list->fields, &json, error);
        if (err == 0)
                err = ed_buf_append(&json, "}", 1);
        if (err == 0)
                err = eddy_json_read(fields, ed_buf_data(&json), ed_buf_bytes(&json), out, error);
        ed_buf_fini(&json);
        return err;
}

int eddy_sqlite_all(eddy_sqlite_conn *conn, const char *sql, const struct eddy_sqlite_value *values,
                    size_t count, const struct eddy_fields *fields, void *out)
{
        struct ed_sqlite_run run = { sql, values, count, 1 };
        struct eddy_json_error error = { .error = 0 };
        eddy_sqlite_rows *rows;
        int err;

        if (!conn || !fields || !out)
                return -EINVAL;
        ed_sqlite_hold(conn);
        err = check_list(fields, &error);
        if (err == 0)
                err = ed_sqlite_rows_open(conn, &run, EDDY_SQLITE_BATCH_ROWS, &rows);
        if (err == 0) {
                err = read_all(rows, fields, out, &error);
                eddy_sqlite_rows_close(rows);
        }
        if (error.text[0])
                err = ed_sqlite_refuse(conn, err, "%s", error.text);
        ed_sqlite_let_go(conn);
        return err;
}
