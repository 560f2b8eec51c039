/*
 * draw/fold.c - nodes are grouped by the path of names above them, first only large groups, until
 * the picture fits.
 */
#include "draw/fold.h"

#include <errno.h>
#include <string.h>

#include "eddy/alloc.h"

/* How much is folded. Fewer lines follow with each step. */
struct level {
        uint32_t least; /* tasks in a group */
        bool scopes;    /* scopes of one place are a group */
        enum { NAMES_EXACT, NAMES_WITHOUT_DIGITS, NAMES_ANY } names;
};

static const struct level levels[] = {
        { UINT32_MAX, false, NAMES_EXACT }, { 1000, false, NAMES_EXACT },
        { 100, false, NAMES_EXACT },        { 30, false, NAMES_EXACT },
        { 10, false, NAMES_EXACT },         { 4, false, NAMES_EXACT },
        { 2, false, NAMES_EXACT },          { 2, true, NAMES_EXACT },
        { 2, true, NAMES_WITHOUT_DIGITS },  { 2, true, NAMES_ANY },
};

enum { LEVELS = sizeof(levels) / sizeof(levels[0]) };

/* The path of each node: the same number for nodes with the same names above them. */
struct paths {
        struct ed_draw_table numbers;
        uint32_t *of;               /* of each node */
        uint32_t *count;            /* of nodes, by path */
        struct ed_draw_names plain; /* names without digits */
};

/* Kinds of keys of lines. */
enum { KEY_PATH = 1, KEY_LANE, KEY_LOOP };

void ed_draw_fold_fini(struct ed_draw_fold *fold)
{
        eddy_free(fold->lines);
        eddy_free(fold->line_of);
        eddy_free(fold->next);
        eddy_free(fold->order);
        memset(fold, 0, sizeof(*fold));
}

/* ---- paths --------------------------------------------------------------------------------- */

/* Replace each run of digits by a number sign. */
static int plain_name(struct paths *paths, const char *name, uint32_t *ret_number)
{
        char plain[ED_DRAW_NAME_BYTES];
        size_t bytes = 0;

        for (const char *at = name; *at; at++) {
                bool is_digit = *at >= '0' && *at <= '9';

                if (!is_digit)
                        plain[bytes++] = *at;
                else if (bytes == 0 || plain[bytes - 1] != '#')
                        plain[bytes++] = '#';
        }
        return ed_draw_names_add(&paths->plain, plain, bytes, ret_number);
}

static int path_add(struct paths *paths, const struct ed_draw_run *run, uint32_t at,
                    const struct level *level)
{
        const struct ed_draw_node *node = &run->nodes[at];
        uint64_t above = (uint64_t) 1 << 60 | (uint64_t) node->loop;
        uint32_t name = node->kind == ED_DRAW_SCOPE ? node->place : node->name, path;
        uint64_t key;
        int err = 0;

        if (node->parent != ED_DRAW_NONE)
                above = paths->of[node->parent];
        if (node->kind == ED_DRAW_TASK && level->names == NAMES_WITHOUT_DIGITS)
                err = plain_name(paths, ed_draw_text(run, node->name), &name);
        else if (node->kind == ED_DRAW_TASK && level->names == NAMES_ANY)
                name = ED_DRAW_NAMELESS;
        key = (uint64_t) node->kind << 32 | name;
        path = ed_draw_table_get(&paths->numbers, above, key);
        if (path == ED_DRAW_NONE) {
                path = (uint32_t) paths->numbers.cells.count;
                if (err == 0)
                        err = ed_draw_table_set(&paths->numbers, above, key, path);
        }
        if (err < 0)
                return err;
        paths->of[at] = path;
        paths->count[path]++;
        return 0;
}

static void paths_fini(struct paths *paths)
{
        eddy_free(paths->of);
        eddy_free(paths->count);
        ed_draw_table_fini(&paths->numbers);
        ed_draw_names_fini(&paths->plain);
}

static int paths_init(struct paths *paths, const struct ed_draw_run *run, const struct level *level)
{
        size_t bytes = run->nodes_count * sizeof(uint32_t);
        int err = 0;

        *paths = (struct paths){ .of = eddy_malloc(bytes), .count = eddy_malloc(bytes) };
        if (!paths->of || !paths->count)
                return -ENOMEM;
        memset(paths->count, 0, bytes);
        for (uint32_t i = 0; i < run->nodes_count && err == 0; i++)
                err = path_add(paths, run, i, level);
        return err;
}

/* ---- lines --------------------------------------------------------------------------------- */

static int line_add(struct ed_draw_fold *fold, enum ed_draw_kind kind, int64_t loop,
                    uint32_t parent)
{
        uint32_t at = fold->lines_count;

        if (ed_draw_grow(&fold->lines, &fold->lines_room, at, sizeof(*fold->lines)) < 0)
                return -ENOMEM;
        fold->lines[at] = (struct ed_draw_line){ .kind = (uint8_t) kind,
                                                 .loop = loop,
                                                 .first = ED_DRAW_NONE,
                                                 .last = ED_DRAW_NONE,
                                                 .parent = parent,
                                                 .first_child = ED_DRAW_NONE,
                                                 .last_child = ED_DRAW_NONE,
                                                 .next = ED_DRAW_NONE,
                                                 .shown = ED_DRAW_NONE };
        fold->lines_count++;
        if (parent == ED_DRAW_NONE)
                return 0;
        fold->lines[at].depth = fold->lines[parent].depth + 1;
        if (fold->lines[parent].last_child == ED_DRAW_NONE)
                fold->lines[parent].first_child = at;
        else
                fold->lines[fold->lines[parent].last_child].next = at;
        fold->lines[parent].last_child = at;
        return 0;
}

static void member_add(struct ed_draw_fold *fold, const struct ed_draw_run *run, uint32_t at,
                       uint32_t node)
{
        struct ed_draw_line *line = &fold->lines[at];

        if (line->last == ED_DRAW_NONE)
                line->first = node;
        else
                fold->next[line->last] = node;
        line->last = node;
        line->count++;
        line->is_mixed |= run->nodes[node].name != run->nodes[line->first].name;
        fold->line_of[node] = at;
        fold->next[node] = ED_DRAW_NONE;
}

/* A pass over the nodes. */
struct pass {
        struct ed_draw_fold *fold;
        const struct ed_draw_run *run;
        const struct level *level;
        struct paths paths;
        struct ed_draw_table lines; /* by line above and key */
        bool *is_folded;            /* of each node */
};

/* Find or add the line with a key below another line. */
static int line_find(struct pass *pass, enum ed_draw_kind kind, int64_t loop, uint32_t parent,
                     uint64_t key, uint32_t *ret_line)
{
        int err = 0;

        *ret_line = ed_draw_table_get(&pass->lines, parent, key);
        if (*ret_line != ED_DRAW_NONE)
                return 0;
        *ret_line = pass->fold->lines_count;
        err = line_add(pass->fold, kind, loop, parent);
        return err < 0 ? err : ed_draw_table_set(&pass->lines, parent, key, *ret_line);
}

static bool is_folded(const struct pass *pass, uint32_t at)
{
        const struct ed_draw_node *node = &pass->run->nodes[at];

        if (node->kind == ED_DRAW_TASK)
                return pass->paths.count[pass->paths.of[at]] >= pass->level->least;
        return pass->level->scopes ||
               (node->parent != ED_DRAW_NONE && pass->is_folded[node->parent]);
}

static int node_place(struct pass *pass, uint32_t at)
{
        const struct ed_draw_node *node = &pass->run->nodes[at];
        uint32_t parent = ED_DRAW_NONE, line;
        int err = 0;

        if (node->parent != ED_DRAW_NONE)
                parent = pass->fold->line_of[node->parent];
        else if (pass->run->loops > 1)
                err = line_find(pass, ED_DRAW_LOOP, node->loop, ED_DRAW_NONE,
                                (uint64_t) KEY_LOOP << 56 | (uint64_t) node->loop, &parent);
        pass->is_folded[at] = is_folded(pass, at);
        if (err < 0)
                return err;
        if (node->kind == ED_DRAW_LOOP && parent != ED_DRAW_NONE) {
                line = parent;
        } else if (node->kind == ED_DRAW_SCOPE && node->children == 0) {
                err = line_find(pass, ED_DRAW_SCOPE, node->loop, parent, (uint64_t) KEY_LANE << 56,
                                &line);
                if (err == 0)
                        pass->fold->lines[line].is_lane = true;
        } else if (pass->is_folded[at]) {
                err = line_find(pass, node->kind, node->loop, parent,
                                (uint64_t) KEY_PATH << 56 | pass->paths.of[at], &line);
        } else {
                line = pass->fold->lines_count;
                err = line_add(pass->fold, node->kind, node->loop, parent);
        }
        if (err < 0)
                return err;
        member_add(pass->fold, pass->run, line, at);
        return 0;
}

/* Returns 1 if there are more than 'lines_max' lines. */
static int pass_make(struct pass *pass, uint32_t lines_max)
{
        bool is_last = pass->level == &levels[LEVELS - 1];
        int err;

        pass->fold->lines_count = 0;
        err = paths_init(&pass->paths, pass->run, pass->level);
        pass->is_folded = eddy_malloc(pass->run->nodes_count * sizeof(bool));
        if (!pass->is_folded)
                err = -ENOMEM;
        for (uint32_t i = 0; i < pass->run->nodes_count && err == 0; i++) {
                err = node_place(pass, i);
                if (err == 0 && !is_last && pass->fold->lines_count > lines_max)
                        err = 1;
        }
        eddy_free(pass->is_folded);
        ed_draw_table_fini(&pass->lines);
        paths_fini(&pass->paths);
        return err;
}

/* ---- order --------------------------------------------------------------------------------- */

static int fold_init(struct ed_draw_fold *fold, const struct ed_draw_run *run, uint32_t lines_max)
{
        size_t bytes = run->nodes_count * sizeof(uint32_t);

        memset(fold, 0, sizeof(*fold));
        fold->line_of = eddy_malloc(bytes);
        fold->next = eddy_malloc(bytes);
        fold->order = eddy_malloc(lines_max * sizeof(uint32_t));
        if (!fold->line_of || !fold->next || !fold->order)
                return -ENOMEM;
        for (uint32_t i = 0; i < run->nodes_count; i++)
                fold->line_of[i] = fold->next[i] = ED_DRAW_NONE;
        return 0;
}

/* Count the tasks below each line. Lines follow the line above them. */
static void tasks_count(struct ed_draw_fold *fold)
{
        for (uint32_t i = fold->lines_count; i-- > 0;) {
                struct ed_draw_line *line = &fold->lines[i];

                if (line->kind == ED_DRAW_TASK)
                        line->tasks += line->count;
                if (line->parent != ED_DRAW_NONE)
                        fold->lines[line->parent].tasks += line->tasks;
        }
}

/* Show a line, or count it as hidden if the picture is full. */
static void line_show(struct ed_draw_fold *fold, uint32_t at, uint32_t lines_max)
{
        struct ed_draw_line *line = &fold->lines[at];

        if (fold->shown < lines_max) {
                line->shown = fold->shown;
                fold->order[fold->shown++] = at;
                for (; at != ED_DRAW_NONE; at = fold->lines[at].parent)
                        fold->lines[at].end = fold->shown;
                return;
        }
        fold->hidden++;
        fold->hidden_tasks += line->kind == ED_DRAW_TASK ? line->count : 0;
}

/* Walk over the tree: each line before the lines below it. */
static void lines_order(struct ed_draw_fold *fold, uint32_t lines_max)
{
        for (uint32_t root = 0; root < fold->lines_count; root++) {
                uint32_t at = root;

                if (fold->lines[root].parent != ED_DRAW_NONE)
                        continue;
                while (at != ED_DRAW_NONE) {
                        line_show(fold, at, lines_max);
                        if (fold->lines[at].first_child != ED_DRAW_NONE) {
                                at = fold->lines[at].first_child;
                                continue;
                        }
                        while (at != root && fold->lines[at].next == ED_DRAW_NONE)
                                at = fold->lines[at].parent;
                        at = at == root ? ED_DRAW_NONE : fold->lines[at].next;
                }
        }
}

int ed_draw_fold(struct ed_draw_fold *fold, const struct ed_draw_run *run, uint32_t lines_max)
{
        int err = fold_init(fold, run, lines_max);

        for (size_t i = 0; i < LEVELS && err >= 0; i++) {
                struct pass pass = { .fold = fold, .run = run, .level = &levels[i] };

                err = pass_make(&pass, lines_max);
                fold->is_any_name = levels[i].names == NAMES_ANY;
                if (err == 0)
                        break;
        }
        if (err < 0) {
                ed_draw_fold_fini(fold);
                return err;
        }
        tasks_count(fold);
        lines_order(fold, lines_max);
        return 0;
}

int ed_draw_unfold(struct ed_draw_fold *fold, const struct ed_draw_run *run,
                   const struct ed_draw_fold *folded, uint32_t line, uint32_t lines_max)
{
        int err = fold_init(fold, run, lines_max);
        uint32_t count = 0;

        for (uint32_t at = folded->lines[line].first; at != ED_DRAW_NONE && err == 0;
             at = folded->next[at]) {
                if (count++ >= lines_max) {
                        fold->hidden++;
                        fold->hidden_tasks++;
                        continue;
                }
                err = line_add(fold, run->nodes[at].kind, run->nodes[at].loop, ED_DRAW_NONE);
                if (err == 0)
                        member_add(fold, run, fold->lines_count - 1, at);
        }
        if (err < 0) {
                ed_draw_fold_fini(fold);
                return err;
        }
        tasks_count(fold);
        lines_order(fold, lines_max);
        return 0;
}
