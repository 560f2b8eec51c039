/*
 * batch/request/columns.c - see columns.h.
 */
#include "batch/request/columns.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "batch/request/fault.h"
#include "common/csv.h"
#include "common/excerpt.h"
#include "eddy/alloc.h"
#include "eddy/json.h"

struct ed_columns {
        size_t count;
        const char *names[];
};

static bool is_space(char c)
{
        return c == ' ' || c == '\t';
}

const char *ed_columns_trim(const char *name, size_t *bytes)
{
        while (*bytes > 0 && is_space(*name)) {
                name++;
                --*bytes;
        }
        while (*bytes > 0 && is_space(name[*bytes - 1]))
                --*bytes;
        return name;
}

/* Returns true for a text of UTF-16: its characters of ASCII have a NUL, and its beginning may be marked. */
static bool is_utf16(const char *text, size_t bytes)
{
        return memchr(text, '\0', bytes) || (bytes >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 ||
                                                            memcmp(text, "\xfe\xff", 2) == 0));
}

/* Check the name of a column, and that no earlier column has it. */
static int column_check(const struct ed_columns *columns, const char *name, size_t bytes,
                        char *error)
{
        char shown[ED_EXCERPT_BYTES];

        if (memchr(name, '\0', bytes) || !eddy_json_is_utf8(name, bytes))
                return ed_fault_set(error,
                                    "column %zu of the first row, \"%s\", is not UTF-8 text: %s",
                                    columns->count + 1, ed_excerpt(shown, name, bytes),
                                    is_utf16(name, bytes) ? ED_FAULT_UTF16 : ED_FAULT_UTF8);
        for (size_t i = 0; bytes > 0 && i < columns->count; i++)
                if (strlen(columns->names[i]) == bytes &&
                    memcmp(columns->names[i], name, bytes) == 0)
                        return ed_fault_set(error,
                                            "columns %zu and %zu of the first row are both "
                                            "\"%s\": give them different names",
                                            i + 1, columns->count + 1,
                                            ed_excerpt(shown, name, bytes));
        return 0;
}

/* Add the name of a column to 'columns', and its text at 'to'. Returns the bytes used. */
static int64_t column_add(struct ed_columns *columns, const struct ed_csv_field *field, char *to,
                          char *error)
{
        struct ed_draft text = { 0 };
        const char *name = to;
        size_t bytes = 0;
        int err = 0;

        ed_csv_add(field, &text);
        if (!ed_draft_is_whole(&text))
                err = -ENOMEM;
        else if (columns->count == ED_COLUMNS_MAX)
                err = ed_fault_set(error, "the first row has more than %d columns",
                                   (int) ED_COLUMNS_MAX);
        if (err == 0 && text.bytes > 0) {
                bytes = text.bytes;
                name = ed_columns_trim(text.data, &bytes);
                err = column_check(columns, name, bytes, error);
        }
        if (err == 0) {
                if (bytes > 0)
                        memcpy(to, name, bytes);
                to[bytes] = '\0';
                columns->names[columns->count++] = to;
        }
        ed_draft_fini(&text);
        return err < 0 ? err : (int64_t) bytes + 1;
}

int ed_columns_new(const char *row, size_t bytes, struct ed_columns **ret_columns,
                   char error[ED_FAULT_BYTES])
{
        struct ed_csv_cursor cursor = ed_csv_walk(row, bytes);
        struct ed_columns *columns;
        struct ed_csv_field field;
        int64_t used;
        char *to;
        int more;

        /* A field of n bytes and its comma give a name of at most n bytes and its NUL. */
        columns = eddy_malloc(sizeof(*columns) + ED_COLUMNS_MAX * sizeof(columns->names[0]) +
                              bytes + 1);
        if (!columns)
                return -ENOMEM;
        columns->count = 0;
        to = (char *) &columns->names[ED_COLUMNS_MAX];
        while ((more = ed_csv_next(&cursor, &field)) > 0) {
                used = column_add(columns, &field, to, error);
                if (used < 0) {
                        more = (int) used;
                        goto fail_free;
                }
                to += used;
        }
        if (more < 0) {
                (void) ed_fault_set(error,
                                    "column %zu of the first row has a wrong quote: close it "
                                    "before the comma, and write a quote in a field twice",
                                    columns->count + 1);
                goto fail_free;
        }
        *ret_columns = columns;
        return 0;

fail_free:
        eddy_free(columns);
        return more;
}

void ed_columns_free(struct ed_columns *columns)
{
        eddy_free(columns);
}

/* Returns the number of columns if none has this name. */
static size_t column_find(const struct ed_columns *columns, const char *name)
{
        size_t index = 0;

        while (index < columns->count && strcmp(columns->names[index], name) != 0)
                index++;
        return index;
}

bool ed_columns_has(const struct ed_columns *columns, const char *name)
{
        return column_find(columns, name) < columns->count;
}

int ed_columns_field(const struct ed_columns *columns, const char *row, size_t bytes,
                     const char *name, struct ed_draft *value)
{
        struct ed_csv_cursor cursor = ed_csv_walk(row, bytes);
        struct ed_csv_field field = { 0 };
        size_t index = column_find(columns, name);

        if (index == columns->count)
                return -ENOENT;
        for (size_t i = 0; i <= index; i++)
                if (ed_csv_next(&cursor, &field) <= 0)
                        return -EINVAL;
        ed_csv_add(&field, value);
        return ed_draft_is_whole(value) ? 0 : -ENOMEM;
}

bool ed_columns_row_is_empty(const char *row, size_t bytes)
{
        struct ed_csv_cursor cursor = ed_csv_walk(row, bytes);
        struct ed_csv_field field;
        int more;

        while ((more = ed_csv_next(&cursor, &field)) > 0)
                if (field.bytes > 0)
                        return false;
        return more == 0;
}

size_t ed_columns_count(const struct ed_columns *columns)
{
        return columns->count;
}

const char *ed_columns_name(const struct ed_columns *columns, size_t index)
{
        return columns->names[index];
}

/* Report a column that is needed and missing. */
static int column_fault(const struct ed_columns *columns, const char *name, const char *why,
                        char *error)
{
        char shown[ED_EXCERPT_BYTES], list[3 * ED_EXCERPT_BYTES] = "";
        const char *first = columns->names[0];
        char other = strchr(first, ';') ? ';' : strchr(first, '\t') ? '\t' : '\0';
        size_t at = 0, i = 0;

        ed_excerpt(shown, name, strlen(name));
        if (columns->count == 1 && other)
                return ed_fault_set(error, "no column \"%s\": the columns are separated by %s",
                                    shown,
                                    other == ';' ? "\";\": " ED_FAULT_COMMAS(";")
                                                 : "tabs: " ED_FAULT_COMMAS("\\t"));
        for (; i < columns->count && at < sizeof(list) - ED_EXCERPT_BYTES - 8; i++) {
                char column[ED_EXCERPT_BYTES];

                ed_excerpt(column, columns->names[i], strlen(columns->names[i]));
                at += (size_t) snprintf(list + at, sizeof(list) - at, "%s\"%s\"", i > 0 ? ", " : "",
                                        column);
        }
        return ed_fault_set(error, "no column \"%s\", %s: the columns are %s%s", shown, why, list,
                            i < columns->count ? " ..." : "");
}

int ed_columns_need(const struct ed_columns *columns, const char *name, const char *why,
                    char error[ED_FAULT_BYTES])
{
        return ed_columns_has(columns, name) ? 0 : column_fault(columns, name, why, error);
}
