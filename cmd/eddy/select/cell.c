/*
 * select/cell.c - see cell.h.
 */
#include "select/cell.h"

#include <string.h>

/* Append a text in double quotes, with the quotes in it doubled. */
static void quoted_add(struct ed_draft *row, const char *text, size_t bytes)
{
        const char *end = text + bytes;

        ed_draft_add(row, "\"", 1);
        while (text < end) {
                const char *quote = memchr(text, '"', (size_t) (end - text));
                const char *to = quote ? quote + 1 : end;

                ed_draft_add(row, text, (size_t) (to - text));
                if (quote)
                        ed_draft_add(row, "\"", 1);
                text = to;
        }
        ed_draft_add(row, "\"", 1);
}

static bool needs_quotes(const char *text, size_t bytes)
{
        for (size_t i = 0; i < bytes; i++)
                if (text[i] == ',' || text[i] == '"' || text[i] == '\r' || text[i] == '\n')
                        return true;
        return bytes == 0;
}

static void csv_add(struct ed_draft *row, const char *text, size_t bytes)
{
        if (needs_quotes(text, bytes))
                quoted_add(row, text, bytes);
        else
                ed_draft_add(row, text, bytes);
}

void ed_cell_add_text(struct ed_draft *row, enum ed_cell_format format, const char *text,
                      size_t bytes)
{
        if (format == ED_CELL_JSON)
                ed_draft_add_json(row, text, bytes);
        else
                csv_add(row, text, bytes);
}

/* Append the text of a string. A string that has none, with half of a pair, is as it is written. */
static void string_add(struct ed_draft *row, const struct eddy_json_value *value)
{
        struct ed_draft text = { 0 };
        char *room = ed_draft_room(&text, value->bytes);
        int64_t bytes = room ? eddy_json_string(value, room, value->bytes) : 0;

        if (!room)
                row->failed = true;
        else if (bytes < 0)
                csv_add(row, value->text + 1, value->bytes - 2);
        else
                csv_add(row, room, (size_t) bytes);
        ed_draft_fini(&text);
}

/* Append the compact text of a value. */
static void json_add(struct ed_draft *row, const struct eddy_json_value *value)
{
        static const struct eddy_json_opts deep = { .depth_max = EDDY_JSON_DEPTH_MAX };
        char *room = ed_draft_room(row, value->bytes);
        int64_t bytes;

        if (!room)
                return;
        bytes = eddy_json_compact(value->text, value->bytes, room, &deep, NULL);
        if (bytes >= 0)
                row->bytes += (size_t) bytes;
        else
                row->failed = true;
}

/* Append the compact text of an object or an array as a field of CSV. */
static void nested_add(struct ed_draft *row, const struct eddy_json_value *value)
{
        struct ed_draft text = { 0 };

        json_add(&text, value);
        if (ed_draft_is_whole(&text))
                csv_add(row, text.data, text.bytes);
        else
                row->failed = true;
        ed_draft_fini(&text);
}

void ed_cell_add_value(struct ed_draft *row, enum ed_cell_format format,
                       const struct eddy_json_value *value)
{
        bool is_null = !value || value->kind == EDDY_JSON_NULL;

        if (format == ED_CELL_JSON && is_null)
                ed_draft_add_str(row, "null");
        else if (format == ED_CELL_JSON)
                json_add(row, value);
        else if (!is_null && value->kind == EDDY_JSON_STRING)
                string_add(row, value);
        else if (!is_null && (value->kind == EDDY_JSON_ARRAY || value->kind == EDDY_JSON_OBJECT))
                nested_add(row, value);
        else if (!is_null)
                ed_draft_add(row, value->text, value->bytes);
}

void ed_cell_add_field(struct ed_draft *row, enum ed_cell_format format,
                       const struct ed_csv_field *field)
{
        struct ed_draft text = { 0 };

        if (format == ED_CELL_CSV) {
                if (field->is_quoted)
                        ed_draft_add(row, "\"", 1);
                if (field->is_quoted || field->bytes == 0)
                        ed_draft_add(row, field->text, field->bytes);
                else
                        csv_add(row, field->text, field->bytes);
                if (field->is_quoted)
                        ed_draft_add(row, "\"", 1);
                return;
        }
        ed_csv_add(field, &text);
        if (ed_draft_is_whole(&text))
                ed_draft_add_json(row, text.data ? text.data : "", text.bytes);
        else
                row->failed = true;
        ed_draft_fini(&text);
}
