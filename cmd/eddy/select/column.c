/*
 * select/column.c - see column.h.
 */
#include "select/column.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/excerpt.h"
#include "common/json_pointer.h"
#include "eddy/alloc.h"

#define OF_LINE "line:"

static int EDDY_PRINTF(2, 3)
        column_fault(char error[ED_COLUMN_ERROR_BYTES], const char *format, ...)
{
        va_list args;

        va_start(args, format);
        vsnprintf(error, ED_COLUMN_ERROR_BYTES, format, args);
        va_end(args);
        return -EINVAL;
}

static bool begins_with(const char *text, const char *begin)
{
        return strncmp(text, begin, strlen(begin)) == 0;
}

/* Set the name to a part of a pointer, without its escapes. */
static int name_set(struct ed_column *column, const char *name, size_t bytes, bool is_part)
{
        size_t n = 0;

        column->name = eddy_malloc(bytes + 1);
        if (!column->name)
                return -ENOMEM;
        for (size_t i = 0; i < bytes; i++) {
                bool is_escape = is_part && name[i] == '~' && i + 1 < bytes;

                column->name[n++] = !is_escape ? name[i] : name[++i] == '1' ? '/' : '~';
        }
        column->name[n] = '\0';
        return 0;
}

/* Name a column by the last part of its pointer. */
static int name_guess(struct ed_column *column, const char *spec)
{
        const char *from = column->inner_bytes > 0 ? column->inner : column->pointer;
        size_t bytes = column->inner_bytes > 0 ? column->inner_bytes : column->pointer_bytes;
        const char *slash = bytes > 0 ? memrchr(from, '/', bytes) : NULL, *part;
        bool is_number = true;
        size_t part_bytes;

        if (!slash)
                return name_set(column, spec, strlen(spec), false);
        part = slash + 1;
        part_bytes = (size_t) (from + bytes - part);
        for (size_t i = 0; i < part_bytes; i++)
                is_number = is_number && part[i] >= '0' && part[i] <= '9';
        if (is_number)
                return name_set(column, spec, strlen(spec), false);
        return name_set(column, part, part_bytes, true);
}

/* Returns the "#" between two pointers: before a "/" or at the end. NULL: there is one pointer. */
static const char *inner_find(const char *pointer)
{
        const char *mark = strchr(pointer, '#');

        while (mark && mark[1] != '\0' && mark[1] != '/')
                mark = strchr(mark + 1, '#');
        return mark;
}

static int pointer_read(struct ed_column *column, const char *text, const char *spec,
                        char error[ED_COLUMN_ERROR_BYTES])
{
        const char *pointer = text, *inner;
        char shown[ED_EXCERPT_BYTES];

        column->is_of_line = begins_with(text, OF_LINE);
        if (column->is_of_line)
                pointer += strlen(OF_LINE);
        inner = inner_find(pointer);
        column->pointer = pointer;
        column->pointer_bytes = inner ? (size_t) (inner - pointer) : strlen(pointer);
        column->inner = inner ? inner + 1 : NULL;
        column->inner_bytes = inner ? strlen(inner + 1) : 0;
        if (ed_json_pointer_is_valid(pointer, column->pointer_bytes) &&
            ed_json_pointer_is_valid(inner ? inner + 1 : "", column->inner_bytes))
                return 0;
        return column_fault(error,
                            "%s: not a JSON Pointer: write it as "
                            "answer=/choices/0/message/content, with a '/' before each name and "
                            "number, and '~1' for a '/' in a name",
                            ed_excerpt(shown, spec, strlen(spec)));
}

/* Read NAME=. Returns the text after it, or the whole if it does not begin with a name. */
static int name_read(struct ed_column *column, const char *spec, const char **ret_rest,
                     char error[ED_COLUMN_ERROR_BYTES])
{
        const char *equals = strchr(spec, '=');
        char shown[ED_EXCERPT_BYTES];

        *ret_rest = spec;
        if (*spec == '/' || !equals)
                return 0;
        if (equals == spec || equals - spec > ED_COLUMN_NAME_BYTES_MAX)
                return column_fault(error, "%s: the name of the column is %s",
                                    ed_excerpt(shown, spec, strlen(spec)),
                                    equals == spec ? "empty" : "too long");
        *ret_rest = equals + 1;
        return name_set(column, spec, (size_t) (equals - spec), false);
}

static int column_end(int err, struct ed_column *column, struct ed_column *ret_column)
{
        if (err < 0)
                ed_column_fini(column);
        else
                *ret_column = *column;
        return err;
}

int ed_column_read(const char *spec, struct ed_column *ret_column,
                   char error[ED_COLUMN_ERROR_BYTES])
{
        struct ed_column column = { 0 };
        const char *rest = spec;
        int err = begins_with(spec, OF_LINE) ? 0 : name_read(&column, spec, &rest, error);

        if (err == 0)
                err = pointer_read(&column, rest, spec, error);
        if (err == 0 && !column.name && column.pointer_bytes + column.inner_bytes == 0)
                err = column_fault(error,
                                   "'%s' is the whole %s, which needs a name: write it as NAME=%s",
                                   spec, column.is_of_line ? "line" : "body", rest);
        if (err == 0 && !column.name)
                err = name_guess(&column, spec);
        return column_end(err, &column, ret_column);
}

int ed_column_read_kept(const char *spec, struct ed_column *ret_column,
                        char error[ED_COLUMN_ERROR_BYTES])
{
        struct ed_column column = { 0 };
        const char *rest;
        int err = name_read(&column, spec, &rest, error);

        if (err == 0 && *rest == '/') {
                err = pointer_read(&column, rest, spec, error);
                if (err == 0 && !column.name)
                        err = name_guess(&column, spec);
        } else if (err == 0) {
                column.pointer = rest;
                column.pointer_bytes = strlen(rest);
                if (!*rest)
                        err = column_fault(error, "the name of the column is empty");
                else if (!column.name)
                        err = name_set(&column, rest, strlen(rest), false);
        }
        return column_end(err, &column, ret_column);
}

void ed_column_fini(struct ed_column *column)
{
        eddy_free(column->name);
        column->name = NULL;
}

/* Find the value in a string that is JSON. */
static int inner_get(const struct ed_column *column, const struct eddy_json_value *string,
                     struct ed_draft *room, struct eddy_json_value *ret_value)
{
        static const struct eddy_json_opts deep = { .depth_max = EDDY_JSON_DEPTH_MAX };
        struct eddy_json_value whole;
        int64_t bytes;
        char *text;

        if (string->kind != EDDY_JSON_STRING)
                return -ENOENT;
        ed_draft_reset(room, SIZE_MAX);
        text = ed_draft_room(room, string->bytes);
        if (!text)
                return -ENOMEM;
        bytes = eddy_json_string(string, text, string->bytes);
        if (bytes < 0 || eddy_json_parse(text, (size_t) bytes, &deep, &whole, NULL) < 0)
                return -ENOENT;
        return ed_json_pointer_get(&whole, column->inner, column->inner_bytes, ret_value);
}

int ed_column_get(const struct ed_column *column, const struct eddy_json_value *whole,
                  struct ed_draft *room, struct eddy_json_value *ret_value)
{
        struct eddy_json_value value;
        int err = ed_json_pointer_get(whole, column->pointer, column->pointer_bytes, &value);

        if (err == 0 && column->inner)
                err = inner_get(column, &value, room, &value);
        if (err == 0)
                *ret_value = value;
        return err;
}
