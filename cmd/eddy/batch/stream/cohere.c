/*
 * batch/stream/cohere.c - events of Cohere's chat, assembled.
 *
 * An event changes the message by "delta.message". Its members "content", "tool_calls" and "citations"
 * are objects there, which belong to the item with the event's "index".
 */
#include "batch/stream/cohere.h"

#include <string.h>

#include "batch/stream/delta.h"

bool ed_cohere_has_type(const char *type)
{
        static const char *const begins[] = { "message-", "content-", "tool-", "citation-" };

        for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
                if (strncmp(type, begins[i], strlen(begins[i])) == 0)
                        return true;
        return false;
}

static void cohere_message_take(struct ed_cohere *cohere, const struct eddy_json_value *message,
                                uint64_t index)
{
        struct ed_tree *tree = cohere->tree;
        struct ed_tree_node *root = ed_tree_member_of(tree, ed_tree_root(tree), "message"), *node;
        struct eddy_json_value name, value;
        struct eddy_json_cursor cursor;

        if (message->kind != EDDY_JSON_OBJECT || eddy_json_walk(message, &cursor) < 0)
                return;
        while (tree->error == 0 && eddy_json_next(&cursor, &name, &value)) {
                node = ed_tree_member(tree, root, name.text, name.bytes);
                if (value.kind == EDDY_JSON_OBJECT)
                        ed_delta_merge(tree, ed_tree_item(tree, node, index, ED_COHERE_ITEMS_MAX),
                                       &value);
                else if (ed_tree_value_is(&name, "\"tool_plan\"") && value.kind == EDDY_JSON_STRING)
                        ed_tree_join(tree, node, &value);
                else
                        ed_tree_set(tree, node, &value);
        }
}

/* Take the members of "delta", such as those of the last event: the reason and the usage. */
static void cohere_delta_take(struct ed_cohere *cohere, const struct eddy_json_value *delta,
                              uint64_t index)
{
        struct ed_tree *tree = cohere->tree;
        struct eddy_json_value name, value;
        struct eddy_json_cursor cursor;

        if (delta->kind != EDDY_JSON_OBJECT || eddy_json_walk(delta, &cursor) < 0)
                return;
        while (tree->error == 0 && eddy_json_next(&cursor, &name, &value)) {
                if (ed_tree_value_is(&name, "\"message\""))
                        cohere_message_take(cohere, &value, index);
                else
                        ed_tree_set(tree,
                                    ed_tree_member(tree, ed_tree_root(tree), name.text, name.bytes),
                                    &value);
        }
}

void ed_cohere_take(struct ed_cohere *cohere, const char *type, const struct eddy_json_value *event)
{
        struct ed_tree *tree = cohere->tree;
        struct eddy_json_value value;
        uint64_t index = 0;

        if (ed_tree_value_get(event, "index", &value) && eddy_json_uint64(&value, &index) < 0)
                index = 0;
        if (ed_tree_value_get(event, "id", &value))
                ed_tree_set(tree, ed_tree_member_of(tree, ed_tree_root(tree), "id"), &value);
        if (ed_tree_value_get(event, "delta", &value))
                cohere_delta_take(cohere, &value, index);
        if (strcmp(type, "content-delta") == 0 || strncmp(type, "tool-", 5) == 0)
                cohere->has_token = true;
        else if (strcmp(type, "message-end") == 0)
                cohere->is_ended = true;
}
