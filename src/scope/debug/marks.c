/*
 * scope/debug/marks.c - see marks.h.
 */
#include "scope/debug/marks.h"

#include "base/alloc.h"

struct ed_mark *ed_marks_put(struct ed_marks *marks, const void *thing)
{
        struct ed_mark *mark = ed_marks_find(marks, thing);

        if (!mark) {
                mark = marks->table.count < ED_MARKS_MAX ? ed_alloc_debug(sizeof(*mark)) : NULL;
                if (!mark)
                        return NULL;
                marks->table.is_debug = true;
                ed_hash_table_add(&marks->table, &mark->node, ed_hash_address(thing));
        }
        *mark = (struct ed_mark){ .node = mark->node, .thing = thing, .number = ++marks->numbers };
        return mark;
}

struct ed_mark *ed_marks_find(const struct ed_marks *marks, const void *thing)
{
        uint64_t hash = ed_hash_address(thing);

        ed_hash_each (node, &marks->table, hash) {
                struct ed_mark *mark = ed_container_of(node, struct ed_mark, node);

                if (mark->thing == thing)
                        return mark;
        }
        return NULL;
}

void ed_marks_drop(struct ed_marks *marks, struct ed_mark *mark)
{
        ed_hash_table_remove(&marks->table, &mark->node);
        ed_free(mark);
}

struct ed_mark *ed_marks_after(const struct ed_marks *marks, int kind, uint64_t number)
{
        struct ed_mark *first = NULL;

        ed_hash_table_each_safe (node, &marks->table) {
                struct ed_mark *mark = ed_container_of(node, struct ed_mark, node);

                if (mark->kind == kind && mark->number > number &&
                    (!first || mark->number < first->number))
                        first = mark;
        }
        return first;
}

void ed_marks_fini(struct ed_marks *marks)
{
        ed_hash_table_each_safe (node, &marks->table) {
                ed_free(ed_container_of(node, struct ed_mark, node));
        }
        ed_hash_table_fini(&marks->table);
        *marks = (struct ed_marks){ 0 };
}
