/*
 * batch/stream/choices.c - chunks of chat completions and completions, assembled.
 *
 * A choice has the members of a complete one from its first chunk on, so that writing the object
 * needs no further step.
 */
#include "batch/stream/choices.h"

#include <errno.h>

#include "batch/stream/delta.h"

/* Returns whether a delta has more than a role. */
static bool delta_has_token(const struct eddy_json_value *delta)
{
        struct eddy_json_value name, value;
        struct eddy_json_cursor cursor;

        if (delta->kind != EDDY_JSON_OBJECT || eddy_json_walk(delta, &cursor) < 0)
                return false;
        while (eddy_json_next(&cursor, &name, &value)) {
                if (!ed_tree_value_is(&name, "\"role\"") && value.kind >= EDDY_JSON_STRING &&
                    !ed_tree_value_is_blank(&value))
                        return true;
        }
        return false;
}

static void choice_take_delta(struct ed_choices *choices, struct ed_tree_node *choice,
                              const struct eddy_json_value *delta)
{
        struct ed_tree *tree = choices->tree;
        struct ed_tree_node *message = ed_tree_member_of(tree, choice, "message");

        if (delta->kind != EDDY_JSON_OBJECT)
                return;
        choices->is_chat = true;
        if (ed_tree_is_blank(message)) {
                ed_tree_set_member(tree, message, "\"role\"", "\"assistant\"");
                ed_tree_set_member(tree, message, "\"content\"", "null");
        }
        ed_delta_merge(tree, message, delta);
        choices->has_token = choices->has_token || delta_has_token(delta);
}

/* Take a member of a choice. */
static void choice_take_member(struct ed_choices *choices, struct ed_tree_node *choice,
                               const struct eddy_json_value *name,
                               const struct eddy_json_value *value)
{
        struct ed_tree *tree = choices->tree;
        struct ed_tree_node *node;
        bool was_blank;

        if (ed_tree_value_is(name, "\"delta\"")) {
                choice_take_delta(choices, choice, value);
                return;
        }
        if (ed_tree_value_is(name, "\"message\"")) {
                ed_tree_set_members(tree, ed_tree_member_of(tree, choice, "message"), value);
                return;
        }
        node = ed_tree_member(tree, choice, name->text, name->bytes);
        was_blank = ed_tree_is_blank(node);
        ed_delta_merge_member(tree, node, name, value);
        if (ed_tree_value_is(name, "\"text\"") && !ed_tree_value_is_blank(value))
                choices->has_token = true;
        if (ed_tree_value_is(name, "\"finish_reason\"") && was_blank && !ed_tree_is_blank(node))
                choices->finished++;
}

static void choice_take(struct ed_choices *choices, struct ed_tree_node *list,
                        const struct eddy_json_value *value)
{
        struct ed_tree *tree = choices->tree;
        struct eddy_json_value name, member;
        struct eddy_json_cursor cursor;
        struct ed_tree_node *choice;

        choices->error = ed_tree_item_walk(tree, list, value, ED_CHOICES_MAX, &choice, &cursor);
        if (!choice)
                return;
        if (ed_tree_is_blank(choice)) {
                if (!ed_tree_value_get(value, "index", &member))
                        ed_tree_set_member(tree, choice, "\"index\"", "0");
                else
                        ed_tree_set(tree, ed_tree_member_of(tree, choice, "index"), &member);
                if (ed_tree_value_get(value, "delta", &member))
                        (void) ed_tree_member_of(tree, choice, "message");
                (void) ed_tree_member_of(tree, choice, "finish_reason");
        }
        while (tree->error == 0 && eddy_json_next(&cursor, &name, &member))
                choice_take_member(choices, choice, &name, &member);
}

/* Take the member "choices" of a chunk. */
static void list_take(struct ed_choices *choices, struct ed_tree_node *list,
                      const struct eddy_json_value *value)
{
        struct eddy_json_cursor cursor;
        struct eddy_json_value item;

        if (value->kind != EDDY_JSON_ARRAY || eddy_json_walk(value, &cursor) < 0)
                return;
        if (ed_tree_count(list) == 0)
                ed_tree_set_text(choices->tree, list, "[]", 2);
        while (choices->error == 0 && choices->tree->error == 0 &&
               eddy_json_next(&cursor, NULL, &item))
                choice_take(choices, list, &item);
}

void ed_choices_take(struct ed_choices *choices, const struct eddy_json_value *chunk)
{
        struct ed_tree *tree = choices->tree;
        struct ed_tree_node *root = ed_tree_root(tree), *node;
        struct eddy_json_value name, value;
        struct eddy_json_cursor cursor;

        if (eddy_json_walk(chunk, &cursor) < 0)
                return;
        while (choices->error == 0 && tree->error == 0 && eddy_json_next(&cursor, &name, &value)) {
                /* The padding of a chunk, which hides the length of its token. */
                if (ed_tree_value_is(&name, "\"obfuscation\""))
                        continue;
                node = ed_tree_member(tree, root, name.text, name.bytes);
                if (ed_tree_value_is(&name, "\"choices\""))
                        list_take(choices, node, &value);
                else if (!ed_tree_value_is(&name, "\"object\"") ||
                         !ed_tree_value_is(&value, "\"chat.completion.chunk\""))
                        ed_tree_set(tree, node, &value);
        }
        if (choices->is_chat && ed_tree_is_blank(ed_tree_find(root, "\"object\"")))
                ed_tree_set_member(tree, root, "\"object\"", "\"chat.completion\"");
}

bool ed_choices_are_finished(const struct ed_choices *choices)
{
        size_t count = ed_tree_count(ed_tree_find(choices->tree->root, "\"choices\""));

        return count > 0 && choices->finished == count;
}
