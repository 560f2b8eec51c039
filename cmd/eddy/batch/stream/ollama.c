/*
 * batch/stream/ollama.c - lines of Ollama, assembled.
 */
#include "batch/stream/ollama.h"

bool ed_ollama_is_line(const struct eddy_json_value *object)
{
        struct eddy_json_value done;

        return object->kind == EDDY_JSON_OBJECT && eddy_json_get(object, "done", &done) == 0 &&
               done.kind == EDDY_JSON_BOOL;
}

/* Texts are joined, and calls of tools are appended: each line has whole calls. */
static void ollama_member_take(struct ed_ollama *ollama, struct ed_tree_node *node,
                               const struct eddy_json_value *name,
                               const struct eddy_json_value *value)
{
        static const char *const joined[] = { "\"content\"", "\"response\"", "\"thinking\"" };
        struct ed_tree *tree = ollama->tree;
        struct eddy_json_cursor cursor;
        struct eddy_json_value item;

        for (size_t i = 0; i < sizeof(joined) / sizeof(joined[0]); i++) {
                if (value->kind != EDDY_JSON_STRING || !ed_tree_value_is(name, joined[i]))
                        continue;
                ed_tree_join(tree, node, value);
                ollama->has_token |= !ed_tree_value_is_blank(value);
                return;
        }
        if (!ed_tree_value_is(name, "\"tool_calls\"") || value->kind != EDDY_JSON_ARRAY ||
            eddy_json_walk(value, &cursor) < 0) {
                ed_tree_set(tree, node, value);
                return;
        }
        while (tree->error == 0 && eddy_json_next(&cursor, NULL, &item)) {
                ed_tree_append(tree, node, &item);
                ollama->has_token = true;
        }
}

static void ollama_message_take(struct ed_ollama *ollama, struct ed_tree_node *message,
                                const struct eddy_json_value *value)
{
        struct ed_tree *tree = ollama->tree;
        struct eddy_json_value name, member;
        struct eddy_json_cursor cursor;

        if (value->kind != EDDY_JSON_OBJECT || eddy_json_walk(value, &cursor) < 0)
                return;
        while (tree->error == 0 && eddy_json_next(&cursor, &name, &member))
                ollama_member_take(ollama, ed_tree_member(tree, message, name.text, name.bytes),
                                   &name, &member);
}

void ed_ollama_take(struct ed_ollama *ollama, const struct eddy_json_value *line)
{
        struct ed_tree *tree = ollama->tree;
        struct eddy_json_value name, value;
        struct eddy_json_cursor cursor;

        if (eddy_json_walk(line, &cursor) < 0)
                return;
        while (tree->error == 0 && eddy_json_next(&cursor, &name, &value)) {
                struct ed_tree_node *node =
                        ed_tree_member(tree, ed_tree_root(tree), name.text, name.bytes);

                if (ed_tree_value_is(&name, "\"message\""))
                        ollama_message_take(ollama, node, &value);
                else
                        ollama_member_take(ollama, node, &name, &value);
                if (ed_tree_value_is(&name, "\"done\"") && ed_tree_value_is(&value, "true"))
                        ollama->is_ended = true;
        }
}
