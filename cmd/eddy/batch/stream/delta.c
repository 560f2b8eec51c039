/*
 * batch/stream/delta.c - merges deltas.
 */
#include "batch/stream/delta.h"

/* Objects that are nested deeper than this are replaced. Audio, logprobs and functions are at 2. */
enum { DEPTH_MAX = 8 };

static const char *const delta_joined[] = {
        "\"arguments\"",         "\"content\"", "\"data\"",     "\"input\"", "\"reasoning\"",
        "\"refusal\"",           "\"summary\"", "\"thinking\"", "\"text\"",  "\"transcript\"",
        "\"reasoning_content\"",
};

static bool name_is_joined(const struct eddy_json_value *name)
{
        for (size_t i = 0; i < sizeof(delta_joined) / sizeof(delta_joined[0]); i++) {
                if (ed_tree_value_is(name, delta_joined[i]))
                        return true;
        }
        return false;
}

/* Returns the call that an item without an index belongs to. */
static struct ed_tree_node *tool_call_find(struct ed_tree *tree, struct ed_tree_node *calls,
                                           const struct eddy_json_value *item)
{
        struct ed_tree_node *call = ed_tree_last(calls);
        struct eddy_json_value id;
        uint64_t index = call ? ed_tree_index(call) + 1 : 0;

        if (eddy_json_get(item, "id", &id) < 0 || id.kind != EDDY_JSON_STRING || id.bytes == 2)
                return call ? call : ed_tree_item(tree, calls, index, ED_DELTA_ITEMS_MAX);
        for (call = ed_tree_first(calls); call; call = ed_tree_next(call)) {
                if (ed_tree_is(ed_tree_find(call, "\"id\""), id.text, id.bytes))
                        return call;
        }
        return ed_tree_item(tree, calls, index, ED_DELTA_ITEMS_MAX);
}

static void members_merge(struct ed_tree *tree, struct ed_tree_node *node,
                          const struct eddy_json_value *object, bool is_call, int depth);

static void items_merge(struct ed_tree *tree, struct ed_tree_node *node, bool are_calls,
                        const struct eddy_json_value *array, int depth)
{
        struct eddy_json_value item, value;
        struct eddy_json_cursor cursor;
        uint64_t index;

        if (eddy_json_walk(array, &cursor) < 0)
                return;
        while (tree->error == 0 && eddy_json_next(&cursor, NULL, &item)) {
                struct ed_tree_node *child;

                if (item.kind == EDDY_JSON_OBJECT && eddy_json_get(&item, "index", &value) == 0 &&
                    eddy_json_uint64(&value, &index) == 0 && index <= UINT32_MAX) {
                        child = ed_tree_item(tree, node, index, ED_DELTA_ITEMS_MAX);
                } else if (item.kind == EDDY_JSON_OBJECT && are_calls) {
                        child = tool_call_find(tree, node, &item);
                } else {
                        ed_tree_append(tree, node, &item);
                        continue;
                }
                members_merge(tree, child, &item, are_calls, depth + 1);
                if (are_calls && ed_tree_is_blank(ed_tree_find(child, "\"type\"")))
                        ed_tree_set_text(tree, ed_tree_member_of(tree, child, "type"),
                                         "\"function\"", 10);
        }
}

/* Merge a value into the node of its name. */
static void value_merge(struct ed_tree *tree, struct ed_tree_node *node,
                        const struct eddy_json_value *name, const struct eddy_json_value *value,
                        int depth)
{
        if (ed_tree_value_is_blank(value))
                ed_tree_set(tree, node, value);
        else if (value->kind == EDDY_JSON_STRING && name_is_joined(name))
                ed_tree_join(tree, node, value);
        else if (value->kind == EDDY_JSON_ARRAY && depth < DEPTH_MAX)
                items_merge(tree, node, ed_tree_value_is(name, "\"tool_calls\""), value, depth);
        else if (value->kind == EDDY_JSON_OBJECT && depth < DEPTH_MAX)
                members_merge(tree, node, value, false, depth + 1);
        else
                ed_tree_set(tree, node, value);
}

static void members_merge(struct ed_tree *tree, struct ed_tree_node *node,
                          const struct eddy_json_value *object, bool is_call, int depth)
{
        struct eddy_json_value name, value;
        struct eddy_json_cursor cursor;

        if (eddy_json_walk(object, &cursor) < 0)
                return;
        while (tree->error == 0 && eddy_json_next(&cursor, &name, &value)) {
                if (is_call && ed_tree_value_is(&name, "\"index\""))
                        continue;
                value_merge(tree, ed_tree_member(tree, node, name.text, name.bytes), &name, &value,
                            depth);
        }
}

void ed_delta_merge(struct ed_tree *tree, struct ed_tree_node *node,
                    const struct eddy_json_value *delta)
{
        if (delta->kind == EDDY_JSON_OBJECT)
                members_merge(tree, node, delta, false, 0);
}

void ed_delta_merge_member(struct ed_tree *tree, struct ed_tree_node *node,
                           const struct eddy_json_value *name, const struct eddy_json_value *value)
{
        value_merge(tree, node, name, value, 0);
}
