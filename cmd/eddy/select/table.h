/*
 * select/table.h - joins the rows of an input with their answers, in the order of the input: pieces of
 * rows in any order in, whole rows out. The pieces go through a sorter, so memory is limited.
 *
 * A piece belongs to a place: the number of a line of the input. The row of a place is its first
 * piece, then that of its last answer, or else of its last failure, or else that of a request that is
 * left out, or else the row's end without an answer.
 */
#ifndef ED_CMD_SELECT_TABLE_H
#define ED_CMD_SELECT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/sort/merge_sort.h"
#include "common/draft.h"
#include "eddy/def.h"

enum ed_table_kind {
        ED_TABLE_ROW = 'R',    /* begins the row of a place */
        ED_TABLE_ANSWER = 'A', /* ends it */
        ED_TABLE_FAILURE = 'F',
        ED_TABLE_EMPTY = 'E',   /* left out by --skip-empty; before the others of its place */
        ED_TABLE_STRANGE = 'S', /* a whole row, with ED_PLACE_NONE */
};

enum { ED_TABLE_HEAD_BYTES = 1 };

typedef int ed_table_fn(void *arg, const char *data, size_t bytes);

/* Zero but for the sorter, the end and fn. */
struct ed_table {
        struct ed_merge_sort *sorter; /* borrowed */
        const char *blank_end;        /* the end of a row without an answer; borrowed */
        size_t blank_end_bytes;
        ed_table_fn *fn; /* gets the rows, each with a line feed */
        void *arg;
        uint64_t answered, failed, empty,
                unanswered; /* rows, without strange ones; set by finish */
        uint64_t repeated;  /* answers that a later one of their row replaces */

        struct ed_draft piece; /* the present piece, as it arrives */
        struct ed_draft best;  /* the end of the present row */
        char best_kind;        /* 0: none */
        bool has_row;
};

/* Empty a draft for a piece, of which the caller appends the text. */
void ed_table_piece_begin(struct ed_draft *piece);

/* Add a piece. Errors: those of ed_merge_sort_add(); -ENOMEM  the piece is not whole */
EDDY_MUST_USE int ed_table_add(struct ed_table *table, uint64_t place, enum ed_table_kind kind,
                               struct ed_draft *piece);

/*
 * Output all rows. Errors: those of the temporary file, for which '*ret_is_disk' is true; -ENOMEM;
 * those of fn
 */
EDDY_MUST_USE int ed_table_finish(struct ed_table *table, bool *ret_is_disk);

void ed_table_fini(struct ed_table *table);

#endif
