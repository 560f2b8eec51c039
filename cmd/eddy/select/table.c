/*
 * select/table.c - see table.h. A piece in the sorter is its kind and its text.
 */
#include "select/table.h"

#include <errno.h>

enum { KEEP_BYTES = 1 << 20 };

void ed_table_piece_begin(struct ed_draft *piece)
{
        static const char head[ED_TABLE_HEAD_BYTES];

        ed_draft_reset(piece, KEEP_BYTES);
        ed_draft_add(piece, head, sizeof(head));
}

int ed_table_add(struct ed_table *table, uint64_t place, enum ed_table_kind kind,
                 struct ed_draft *piece)
{
        if (!ed_draft_is_whole(piece))
                return -ENOMEM;
        *piece->data = (char) kind;
        return ed_merge_sort_add(table->sorter, place, piece->data, piece->bytes);
}

static int text_out(struct ed_table *table, const char *text, size_t bytes)
{
        return bytes > 0 ? table->fn(table->arg, text, bytes) : 0;
}

/* Output the end of the present row, if there is one. */
static int row_end(struct ed_table *table)
{
        int err;

        if (!table->has_row)
                return 0;
        table->has_row = false;
        table->answered += table->best_kind == ED_TABLE_ANSWER;
        table->failed += table->best_kind == ED_TABLE_FAILURE;
        table->empty += table->best_kind == ED_TABLE_EMPTY;
        table->unanswered += table->best_kind == 0;
        if (table->best_kind)
                err = text_out(table, table->best.data, table->best.bytes);
        else
                err = text_out(table, table->blank_end, table->blank_end_bytes);
        table->best_kind = 0;
        return err < 0 ? err : text_out(table, "\n", 1);
}

/* Keep the end of the present row, unless a failure would replace an answer. */
static int end_keep(struct ed_table *table, char kind, const char *text, size_t bytes)
{
        if (table->best_kind == ED_TABLE_ANSWER && kind == ED_TABLE_FAILURE)
                return 0;
        table->repeated += table->best_kind == ED_TABLE_ANSWER;
        ed_draft_reset(&table->best, KEEP_BYTES);
        ed_draft_add(&table->best, text, bytes);
        table->best_kind = kind;
        return ed_draft_is_whole(&table->best) ? 0 : -ENOMEM;
}

static int piece_take(struct ed_table *table, char kind, const char *text, size_t bytes)
{
        int err;

        if (kind == ED_TABLE_ANSWER || kind == ED_TABLE_FAILURE || kind == ED_TABLE_EMPTY)
                return end_keep(table, kind, text, bytes);
        err = row_end(table);
        table->has_row = kind == ED_TABLE_ROW;
        if (err == 0)
                err = text_out(table, text, bytes);
        if (err == 0 && kind == ED_TABLE_STRANGE)
                err = text_out(table, "\n", 1);
        return err;
}

/* Take sorted text, in pieces of any size. */
static int sorted_take(void *arg, uint64_t place, const char *data, size_t bytes, bool is_end)
{
        struct ed_table *table = arg;
        struct ed_draft *piece = &table->piece;
        int err;

        (void) place;
        if (piece->bytes > 0 || !is_end) {
                ed_draft_add(piece, data, bytes);
                if (!ed_draft_is_whole(piece))
                        return -ENOMEM;
                data = piece->data;
                bytes = piece->bytes;
        }
        if (!is_end)
                return 0;
        err = piece_take(table, *data, data + ED_TABLE_HEAD_BYTES, bytes - ED_TABLE_HEAD_BYTES - 1);
        ed_draft_reset(piece, KEEP_BYTES);
        return err;
}

int ed_table_finish(struct ed_table *table, bool *ret_is_disk)
{
        int err;

        table->piece.max = ED_DRAFT_BYTES_MAX + 1; /* with the line feed */
        err = ed_merge_sort_finish(table->sorter, sorted_take, table, ret_is_disk);
        return err < 0 ? err : row_end(table);
}

void ed_table_fini(struct ed_table *table)
{
        ed_draft_fini(&table->piece);
        ed_draft_fini(&table->best);
}
