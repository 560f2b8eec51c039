/*
 * batch/answer/split.c - see split.h.
 */
#include "batch/answer/split.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "eddy/alloc.h"

enum { DIGITS_MAX = 18 }; /* of numbers that are divided */

/* ---- finding --------------------------------------------------------------------------------- */

/* Store an item under its index. */
static int item_take(struct ed_split *split, const struct eddy_json_value *value, size_t number,
                     char *fault)
{
        struct eddy_json_value index;
        uint64_t row;

        if (value->kind != EDDY_JSON_OBJECT || eddy_json_get(value, "index", &index) < 0 ||
            eddy_json_uint64(&index, &row) < 0) {
                snprintf(fault, ED_SPLIT_FAULT_BYTES, "item %zu of \"data\" has no \"index\"",
                         number);
                return -EINVAL;
        }
        if (row >= split->rows || split->items[row].value.kind != EDDY_JSON_NONE) {
                snprintf(fault, ED_SPLIT_FAULT_BYTES,
                         "item %zu of \"data\" has the \"index\" %llu%s", number,
                         (unsigned long long) row,
                         row >= split->rows ? ", but there are fewer rows (indexes begin at 0)"
                                            : ", which an earlier item has too");
                return -EINVAL;
        }
        split->items[row] = (struct ed_split_item){ *value, index };
        return 0;
}

static int items_take(struct ed_split *split, char *fault)
{
        struct eddy_json_cursor cursor;
        struct eddy_json_value item;
        size_t count = 0;
        int err = eddy_json_walk(&split->data, &cursor);

        while (err == 0 && eddy_json_next(&cursor, NULL, &item))
                count++;
        if (err < 0 || count != split->rows) {
                snprintf(fault, ED_SPLIT_FAULT_BYTES, "\"data\" has %zu item%s for %zu rows", count,
                         count == 1 ? "" : "s", split->rows);
                return -EINVAL;
        }
        err = eddy_json_walk(&split->data, &cursor);
        for (count = 1; err == 0 && eddy_json_next(&cursor, NULL, &item); count++)
                err = item_take(split, &item, count, fault);
        return err;
}

int ed_split_begin(struct ed_split *split, const char *body, size_t bytes, size_t rows,
                   char fault[ED_SPLIT_FAULT_BYTES])
{
        int err;

        *split = (struct ed_split){ .rows = rows };
        if (eddy_json_parse(body, bytes, NULL, &split->whole, NULL) < 0 ||
            split->whole.kind != EDDY_JSON_OBJECT ||
            eddy_json_get(&split->whole, "data", &split->data) < 0 ||
            split->data.kind != EDDY_JSON_ARRAY) {
                snprintf(fault, ED_SPLIT_FAULT_BYTES, "the answer has no list \"data\"");
                return -EINVAL;
        }
        if (eddy_json_get(&split->whole, "usage", &split->usage) < 0)
                split->usage.kind = EDDY_JSON_NONE;
        split->items = eddy_malloc(rows * sizeof(split->items[0]));
        if (!split->items)
                return -ENOMEM;
        memset(split->items, 0, rows * sizeof(split->items[0]));
        err = items_take(split, fault);
        if (err < 0)
                ed_split_end(split);
        return err;
}

void ed_split_end(struct ed_split *split)
{
        eddy_free(split->items);
        *split = (struct ed_split){ 0 };
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Append the row's share of a number. The first row has all of a number that cannot be divided. */
static void number_add(const struct ed_split *split, size_t row, const char *text, size_t bytes,
                       struct ed_draft *body)
{
        uint64_t number = 0;
        size_t digits = 0;

        while (digits < bytes && digits < DIGITS_MAX && text[digits] >= '0' && text[digits] <= '9')
                number = number * 10 + (uint64_t) (text[digits++] - '0');
        if (digits == bytes)
                ed_draft_add_u64(body, number / split->rows + (row < number % split->rows));
        else if (row == 0)
                ed_draft_add(body, text, bytes);
        else
                ed_draft_add_str(body, "0");
}

/* Append the usage, with the row's share of each number. */
static void usage_add(const struct ed_split *split, size_t row, struct ed_draft *body)
{
        const char *at = split->usage.text, *end = at + split->usage.bytes;

        while (at < end) {
                const char *from = at;

                if (*at == '"') {
                        for (at++; *at != '"'; at++)
                                at += *at == '\\';
                        at++;
                        ed_draft_add(body, from, (size_t) (at - from));
                } else if (*at == '-' || (*at >= '0' && *at <= '9')) {
                        while (at < end && strchr("+-.0123456789eE", *at))
                                at++;
                        number_add(split, row, from, (size_t) (at - from), body);
                } else {
                        ed_draft_add(body, at++, 1);
                }
        }
}

/* Append the item of a row, whose index becomes 0. */
static void item_add(const struct ed_split_item *item, struct ed_draft *body)
{
        const char *index_end = item->index.text + item->index.bytes;

        ed_draft_add_str(body, "[");
        ed_draft_add(body, item->value.text, (size_t) (item->index.text - item->value.text));
        ed_draft_add_str(body, "0");
        ed_draft_add(body, index_end, (size_t) (item->value.text + item->value.bytes - index_end));
        ed_draft_add_str(body, "]");
}

void ed_split_write(const struct ed_split *split, size_t row, struct ed_draft *body)
{
        const char *at = split->whole.text, *end = at + split->whole.bytes;
        bool has_usage = split->usage.kind != EDDY_JSON_NONE;

        for (int i = 0; i < 2; i++) {
                bool is_usage = has_usage && (i == 0) == (split->usage.text < split->data.text);
                const struct eddy_json_value *value = is_usage ? &split->usage : &split->data;

                if (!has_usage && i > 0)
                        break;
                ed_draft_add(body, at, (size_t) (value->text - at));
                if (is_usage)
                        usage_add(split, row, body);
                else
                        item_add(&split->items[row], body);
                at = value->text + value->bytes;
        }
        ed_draft_add(body, at, (size_t) (end - at));
}
