/*
 * select/kept.c - see kept.h.
 */
#include "select/kept.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "eddy/alloc.h"

static int column_add(struct ed_kept *kept, const struct ed_column *column,
                      char error[ED_COLUMN_ERROR_BYTES])
{
        struct ed_column *items;

        if (kept->count == ED_KEPT_MAX) {
                snprintf(error, ED_COLUMN_ERROR_BYTES, "more than %d columns", (int) ED_KEPT_MAX);
                return -EINVAL;
        }
        items = eddy_realloc(kept->items, (kept->count + 1) * sizeof(*items));
        if (!items)
                return -ENOMEM;
        kept->items = items;
        kept->items[kept->count++] = *column;
        return 0;
}

int ed_kept_add(struct ed_kept *kept, const char *spec, char error[ED_COLUMN_ERROR_BYTES])
{
        struct ed_column column;
        int err;

        if (strcmp(spec, "*") == 0) {
                kept->all = true;
                return 0;
        }
        err = ed_column_read_kept(spec, &column, error);
        if (err < 0)
                return err;
        err = column_add(kept, &column, error);
        if (err < 0)
                ed_column_fini(&column);
        return err;
}

/* Returns the item that keeps a column of CSV, or NULL. */
static const struct ed_column *item_find(const struct ed_kept *kept, const char *name)
{
        for (size_t i = 0; i < kept->count; i++)
                if (strcmp(kept->items[i].pointer, name) == 0)
                        return &kept->items[i];
        return NULL;
}

/* Keep a column of CSV that no option names. */
static int name_add(struct ed_kept *all, const char *name, char error[ED_COLUMN_ERROR_BYTES])
{
        struct ed_column column = { .pointer = name, .pointer_bytes = strlen(name) };
        int err;

        column.name = eddy_malloc(column.pointer_bytes + 1);
        if (!column.name)
                return -ENOMEM;
        memcpy(column.name, name, column.pointer_bytes + 1);
        err = column_add(all, &column, error);
        if (err < 0)
                ed_column_fini(&column);
        return err;
}

/* Replace the items by all columns but that of the id, in the order of the input. */
static int all_keep(struct ed_kept *kept, const struct ed_columns *columns, const char *id,
                    char error[ED_COLUMN_ERROR_BYTES])
{
        struct ed_kept all = { 0 };
        int err = 0;

        for (size_t i = 0; err == 0 && i < ed_columns_count(columns); i++) {
                const char *name = ed_columns_name(columns, i);
                const struct ed_column *item = item_find(kept, name);

                if (!item && strcmp(name, id) == 0)
                        continue;
                err = name_add(&all, name, error);
                if (err == 0 && item) {
                        char *renamed = item->name;
                        struct ed_column *last = &all.items[all.count - 1];

                        kept->items[item - kept->items].name = last->name;
                        last->name = renamed;
                }
        }
        for (size_t i = 0; i < kept->count; i++)
                ed_column_fini(&kept->items[i]);
        eddy_free(kept->items);
        kept->items = all.items;
        kept->count = all.count;
        return err;
}

/* Find each item in the row of names. */
static int places_find(struct ed_kept *kept, const struct ed_columns *columns)
{
        size_t count = ed_columns_count(columns);

        kept->places = eddy_malloc((kept->count + 1) * sizeof(*kept->places));
        kept->fields = eddy_malloc(count * sizeof(*kept->fields));
        if (!kept->places || !kept->fields)
                return -ENOMEM;
        for (size_t i = 0; i < kept->count; i++) {
                size_t place = 0;

                while (strcmp(ed_columns_name(columns, place), kept->items[i].pointer) != 0)
                        place++;
                kept->places[i] = place;
        }
        kept->fields_count = count;
        return 0;
}

int ed_kept_resolve(struct ed_kept *kept, const struct ed_columns *columns, const char *id,
                    char error[ED_COLUMN_ERROR_BYTES])
{
        int err = 0;

        kept->is_csv = columns;
        if (!columns && kept->all) {
                snprintf(error, ED_COLUMN_ERROR_BYTES,
                         "--keep '*': it keeps all columns of CSV, but the input is JSON: name the "
                         "members to "
                         "keep");
                return -EINVAL;
        }
        if (!columns)
                return 0;
        for (size_t i = 0; err == 0 && i < kept->count; i++)
                err = ed_columns_need(columns, kept->items[i].pointer, "which --keep names", error);
        if (err == 0 && kept->all)
                err = all_keep(kept, columns, id, error);
        return err < 0 ? err : places_find(kept, columns);
}

void ed_kept_split(struct ed_kept *kept, const char *line, size_t bytes,
                   struct eddy_json_value *ret_whole)
{
        static const struct eddy_json_opts deep = { .depth_max = EDDY_JSON_DEPTH_MAX };
        struct ed_csv_cursor cursor = ed_csv_walk(line, bytes);
        struct ed_csv_field field = { "", 0, false };
        int more = 1;

        *ret_whole = (struct eddy_json_value){ 0 };
        if (!kept->is_csv) {
                if (kept->count > 0 && eddy_json_parse(line, bytes, &deep, ret_whole, NULL) < 0)
                        *ret_whole = (struct eddy_json_value){ 0 };
                return;
        }
        for (size_t i = 0; i < kept->fields_count; i++) {
                if (more > 0)
                        more = ed_csv_next(&cursor, &field);
                if (more <= 0)
                        field = (struct ed_csv_field){ "", 0, false };
                kept->fields[i] = field;
        }
}

/* Find a member of a line by its name. */
static bool member_find(const struct eddy_json_value *whole, const char *name,
                        struct eddy_json_value *ret_value)
{
        struct eddy_json_value member;
        struct eddy_json_cursor cursor;

        if (whole->kind != EDDY_JSON_OBJECT || eddy_json_walk(whole, &cursor) < 0)
                return false;
        while (eddy_json_next(&cursor, &member, ret_value))
                if (eddy_json_is(&member, name))
                        return true;
        return false;
}

void ed_kept_cell(const struct ed_kept *kept, size_t index, const struct eddy_json_value *whole,
                  struct ed_draft *row, enum ed_cell_format format)
{
        const struct ed_column *column = &kept->items[index];
        struct eddy_json_value value;
        struct ed_draft room = { 0 };
        int err = -ENOENT;

        if (kept->is_csv) {
                ed_cell_add_field(row, format, &kept->fields[kept->places[index]]);
                return;
        }
        if (column->pointer[0] == '/')
                err = ed_column_get(column, whole, &room, &value);
        else if (member_find(whole, column->pointer, &value))
                err = 0;
        ed_cell_add_value(row, format, err == 0 ? &value : NULL);
        if (err == -ENOMEM)
                row->failed = true;
        ed_draft_fini(&room);
}

void ed_kept_fini(struct ed_kept *kept)
{
        for (size_t i = 0; i < kept->count; i++)
                ed_column_fini(&kept->items[i]);
        eddy_free(kept->items);
        eddy_free(kept->places);
        eddy_free(kept->fields);
        *kept = (struct ed_kept){ 0 };
}
