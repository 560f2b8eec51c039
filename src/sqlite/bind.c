/*
 * sqlite/bind.c - values for the parameters of a statement: by position, or by name from a struct.
 */
#include <errno.h>
#include <string.h>

#include "base/fields.h"
#include "sqlite/sqlite.h"

static int bind_one(sqlite3_stmt *handle, int at, const struct eddy_sqlite_value *value, bool copy)
{
        sqlite3_destructor_type owner = copy ? SQLITE_TRANSIENT : SQLITE_STATIC;

        switch (value->type) {
        case EDDY_SQLITE_NULL:
                return sqlite3_bind_null(handle, at);
        case EDDY_SQLITE_INT:
                return sqlite3_bind_int64(handle, at, value->integer);
        case EDDY_SQLITE_REAL:
                return sqlite3_bind_double(handle, at, value->real);
        case EDDY_SQLITE_TEXT:
                return sqlite3_bind_text64(handle, at, value->data, value->bytes, owner,
                                           SQLITE_UTF8);
        case EDDY_SQLITE_BLOB:
                /* SQLite takes a null address for NULL. */
                return sqlite3_bind_blob64(handle, at, value->bytes ? value->data : "",
                                           value->bytes, owner);
        default:
                return SQLITE_MISUSE;
        }
}

/* --- by name --- */

const struct eddy_field *ed_sqlite_field(const struct eddy_fields *fields, const char *name)
{
        for (size_t i = 0; i < fields->count; i++)
                if (strcmp(ed_field_name(&fields->list[i]), name) == 0)
                        return &fields->list[i];
        return NULL;
}

/* Returns the name of an enum's number, or NULL. */
static const char *name_of(const struct eddy_field *field, int64_t number)
{
        for (int64_t i = 0; i <= number && field->names[i]; i++)
                if (i == number)
                        return field->names[i];
        return NULL;
}

/* Returns a value without a type if the member cannot be one. */
static struct eddy_sqlite_value value_of(const struct eddy_field *field, const void *in)
{
        static const struct eddy_sqlite_value none = { .type = -1 };
        const char *at = (const char *) in + field->offset, *name;
        uint64_t number;

        if (field->shape != EDDY_SHAPE_ONE)
                return none;
        if (!ed_field_flag(field->flag, in, true) || ed_field_flag(field->null_flag, in, false))
                return eddy_sqlite_null();
        switch (field->kind) {
        case EDDY_KIND_BOOL:
                return eddy_sqlite_int(*(const bool *) (const void *) at);
        case EDDY_KIND_INT:
                return eddy_sqlite_int(ed_field_int_get(at, field->bytes));
        case EDDY_KIND_UINT:
                number = ed_field_uint_get(at, field->bytes);
                return number <= INT64_MAX ? eddy_sqlite_int((int64_t) number) : none;
        case EDDY_KIND_DOUBLE:
                return eddy_sqlite_real(ed_field_double_get(at, field->bytes));
        case EDDY_KIND_CHARS:
                return eddy_sqlite_text_n(at, strnlen(at, field->bytes));
        case EDDY_KIND_STRING:
        case EDDY_KIND_RAW:
                return eddy_sqlite_text(*(char *const *) (const void *) at);
        case EDDY_KIND_ENUM:
                name = name_of(field, ed_field_int_get(at, field->bytes));
                return name ? eddy_sqlite_text(name) : none;
        default:
                return none;
        }
}

/* Each parameter has the name of a field. */
static int bind_struct(eddy_sqlite_conn *conn, sqlite3_stmt *handle,
                       const struct eddy_sqlite_value values[2], bool copy)
{
        const struct eddy_fields *fields = values[0].data;
        const void *in = values[1].data;
        int count = sqlite3_bind_parameter_count(handle);

        if (!fields || !in)
                return ed_sqlite_refuse(conn, -EINVAL, "the struct or its table is NULL");
        if (fields->bytes != values[1].bytes)
                return ed_sqlite_refuse(conn, EDDY_E_FIELD_TABLE,
                                        "the table is of a struct of another size");
        for (int i = 1; i <= count; i++) {
                const char *name = sqlite3_bind_parameter_name(handle, i);
                const struct eddy_field *field = name ? ed_sqlite_field(fields, name + 1) : NULL;
                struct eddy_sqlite_value value;
                int rc;

                if (!field)
                        return ed_sqlite_refuse(conn, EDDY_E_SQLITE_SQL,
                                                "the struct has no field for the parameter %s",
                                                name ? name : "without a name");
                value = value_of(field, in);
                rc = bind_one(handle, i, &value, copy);
                if (rc == SQLITE_MISUSE)
                        return ed_sqlite_refuse(conn, EDDY_E_FIELD_TYPE,
                                                "the field for the parameter %s is not a value",
                                                name);
                if (rc != SQLITE_OK)
                        return ed_sqlite_fail(conn, rc);
        }
        return 0;
}

int ed_sqlite_bind(eddy_sqlite_conn *conn, struct ed_sqlite_statement *statement,
                   const struct eddy_sqlite_value *values, size_t count, bool copy)
{
        int wanted = sqlite3_bind_parameter_count(statement->handle);

        if (count == 2 && values[0].type == EDDY_SQLITE_FIELDS_)
                return bind_struct(conn, statement->handle, values, copy);
        if ((size_t) wanted != count)
                return ed_sqlite_refuse(conn, EDDY_E_SQLITE_SQL,
                                        "the statement has %d parameters, but got %zu values",
                                        wanted, count);
        for (int i = 0; i < wanted; i++) {
                int rc = bind_one(statement->handle, i + 1, &values[i], copy);

                if (rc == SQLITE_MISUSE)
                        return ed_sqlite_refuse(conn, -EINVAL, "value %d has no type", i + 1);
                if (rc != SQLITE_OK)
                        return ed_sqlite_fail(conn, rc);
        }
        return 0;
}
