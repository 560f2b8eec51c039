/*
 * select/rows.c - see rows.h.
 */
#include "select/rows.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ERROR_NAME "error"

/* Begin the cell of a column. */
static void cell_begin(const struct ed_rows *rows, struct ed_draft *row, const char *name)
{
        ed_draft_add(row, ",", 1);
        if (rows->format == ED_CELL_CSV)
                return;
        ed_draft_add_json_str(row, name);
        ed_draft_add(row, ":", 1);
}

/* End a row with its error; NULL: none. */
static void error_add(const struct ed_rows *rows, struct ed_draft *row, const char *error)
{
        cell_begin(rows, row, ERROR_NAME);
        if (error)
                ed_cell_add_text(row, rows->format, error, strlen(error));
        else
                ed_cell_add_value(row, rows->format, NULL);
        if (rows->format == ED_CELL_JSON)
                ed_draft_add(row, "}", 1);
}

static const char *name_at(const struct ed_rows *rows, size_t index)
{
        if (index == 0)
                return rows->id_name;
        if (index <= rows->kept->count)
                return rows->kept->items[index - 1].name;
        index -= rows->kept->count + 1;
        return index < rows->selected_count ? rows->selected[index].name : ERROR_NAME;
}

static size_t names_count(const struct ed_rows *rows)
{
        return rows->kept->count + rows->selected_count + 2;
}

const char *ed_rows_repeated_name(const struct ed_rows *rows)
{
        for (size_t i = 1; i < names_count(rows); i++)
                for (size_t k = 0; k < i; k++)
                        if (strcmp(name_at(rows, i), name_at(rows, k)) == 0)
                                return name_at(rows, i);
        return NULL;
}

void ed_rows_add_names(const struct ed_rows *rows, struct ed_draft *text)
{
        if (rows->format == ED_CELL_JSON)
                return;
        for (size_t i = 0; i < names_count(rows); i++) {
                if (i > 0)
                        ed_draft_add(text, ",", 1);
                ed_cell_add_text(text, ED_CELL_CSV, name_at(rows, i), strlen(name_at(rows, i)));
        }
        ed_draft_add(text, "\n", 1);
}

void ed_rows_add_begin(struct ed_rows *rows, const char *id, size_t id_bytes, const char *line,
                       size_t bytes, struct ed_draft *row)
{
        struct eddy_json_value whole;

        if (rows->format == ED_CELL_JSON) {
                ed_draft_add(row, "{", 1);
                ed_draft_add_json_str(row, rows->id_name);
                ed_draft_add(row, ":", 1);
        }
        ed_cell_add_text(row, rows->format, id, id_bytes);
        if (line)
                ed_kept_split(rows->kept, line, bytes, &whole);
        for (size_t i = 0; i < rows->kept->count; i++) {
                cell_begin(rows, row, rows->kept->items[i].name);
                if (line)
                        ed_kept_cell(rows->kept, i, &whole, row, rows->format);
                else
                        ed_cell_add_value(row, rows->format, NULL);
        }
}

/* Find the body of an answer, which is in the line as it was received if it is JSON or a text. */
static bool body_find(const struct eddy_json_value *line, struct eddy_json_value *ret_body)
{
        struct eddy_json_value inner;

        if (eddy_json_get(line, "response.body", ret_body) < 0)
                return false;
        if (eddy_json_get(ret_body, "_json", &inner) == 0 ||
            eddy_json_get(ret_body, "_text", &inner) == 0)
                *ret_body = inner;
        return true;
}

/* Append the value of a column. Returns false if the line lacks it. */
static bool value_add(struct ed_rows *rows, const struct ed_column *column,
                      const struct eddy_json_value *whole, struct ed_draft *row)
{
        struct eddy_json_value value;
        int err = whole ? ed_column_get(column, whole, &rows->room, &value) : -ENOENT;

        cell_begin(rows, row, column->name);
        ed_cell_add_value(row, rows->format, err == 0 ? &value : NULL);
        if (err == -ENOMEM)
                row->failed = true;
        return err == 0;
}

static void failure_add(const struct ed_rows *rows, const struct ed_record *record,
                        struct ed_draft *row)
{
        char error[ED_RECORD_CAUSE_BYTES + ED_RECORD_MESSAGE_BYTES + 2];

        snprintf(error, sizeof(error), "%s%s%s", record->cause, *record->message ? ": " : "",
                 record->message);
        error_add(rows, row, error);
}

void ed_rows_add_end(struct ed_rows *rows, const struct ed_record *record, struct ed_draft *row)
{
        struct eddy_json_value body;
        bool has_body = record->is_ok && body_find(&record->line, &body);

        for (size_t i = 0; i < rows->selected_count; i++) {
                struct ed_column *column = &rows->selected[i];
                const struct eddy_json_value *whole = column->is_of_line ? &record->line
                                                      : has_body         ? &body
                                                                         : NULL;

                column->missing += !value_add(rows, column, whole, row) && record->is_ok;
        }
        if (record->is_ok)
                error_add(rows, row, NULL);
        else
                failure_add(rows, record, row);
}

void ed_rows_add_blank_end(const struct ed_rows *rows, const char *error, struct ed_draft *row)
{
        for (size_t i = 0; i < rows->selected_count; i++) {
                cell_begin(rows, row, rows->selected[i].name);
                ed_cell_add_value(row, rows->format, NULL);
        }
        error_add(rows, row, error);
}

void ed_rows_fini(struct ed_rows *rows)
{
        ed_draft_fini(&rows->room);
}
