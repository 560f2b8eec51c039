/*
 * draw/fold.h - the lines of a picture: a tree of tasks and scopes, folded until it fits. No I/O.
 *
 * A line is a task, a scope, or a group: tasks of one name in one scope, or scopes. Scopes without
 * tasks, which are mostly deadlines of single calls, share a line, because the scopes of a task
 * that are not nested do not overlap.
 */
#ifndef ED_CMD_DRAW_FOLD_H
#define ED_CMD_DRAW_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "draw/model.h"
#include "eddy/def.h"

struct ed_draw_line {
        uint8_t kind;         /* ED_DRAW_TASK, ED_DRAW_SCOPE or ED_DRAW_LOOP */
        bool is_lane;         /* scopes without tasks */
        bool is_mixed;        /* a group with tasks of several names */
        uint32_t count;       /* nodes; 0 for a loop without events of its own */
        uint32_t first, last; /* nodes */
        int64_t loop;
        uint32_t parent, first_child, last_child, next; /* lines */
        uint32_t depth;
        uint32_t shown; /* place in 'order', or ED_DRAW_NONE */
        uint32_t tasks; /* of this line and those below it in the tree */
        uint32_t end;   /* of a shown line: the place after its last descendant */
};

struct ed_draw_fold {
        struct ed_draw_line *lines;
        uint32_t lines_count, lines_room;
        uint32_t *line_of; /* of each node */
        uint32_t *next;    /* the next node of the same line */
        uint32_t *order;   /* the lines that are shown, from the top */
        uint32_t shown;
        uint32_t hidden, hidden_tasks; /* lines that did not fit, and their tasks */
        bool is_any_name; /* groups may have tasks of any name; else names differ only in digits */
};

/* Make at most 'lines_max' lines. Errors: -ENOMEM */
EDDY_MUST_USE int ed_draw_fold(struct ed_draw_fold *fold, const struct ed_draw_run *run,
                               uint32_t lines_max);

/*
 * Make a line for each task of a line of another picture, at most 'lines_max'. Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_draw_unfold(struct ed_draw_fold *fold, const struct ed_draw_run *run,
                                 const struct ed_draw_fold *folded, uint32_t line,
                                 uint32_t lines_max);

void ed_draw_fold_fini(struct ed_draw_fold *fold);

#endif
