/*
 * batch/stream/candidates.c - chunks of Gemini, assembled.
 */
#include "batch/stream/candidates.h"

#include <errno.h>

bool ed_candidates_are_in(const struct eddy_json_value *event)
{
        struct eddy_json_value value;

        return ed_tree_value_get(event, "candidates", &value) ||
               ed_tree_value_get(event, "promptFeedback", &value);
}

/* Returns true if a part continues the text of the part before: a thought is apart from the answer. */
static bool part_continues(const struct ed_tree_node *last, const struct eddy_json_value *part)
{
        struct eddy_json_value text, thought;
        bool is_thought =
                ed_tree_value_get(part, "thought", &thought) && ed_tree_value_is(&thought, "true");

        return last && ed_tree_find(last, "\"text\"") && ed_tree_value_get(part, "text", &text) &&
               text.kind == EDDY_JSON_STRING &&
               ed_tree_is(ed_tree_find(last, "\"thought\""), "true", 4) == is_thought;
}

static void part_take(struct ed_candidates *candidates, struct ed_tree_node *parts,
                      const struct eddy_json_value *part)
{
        struct ed_tree *tree = candidates->tree;
        struct ed_tree_node *node = ed_tree_last(parts);
        bool continues = part_continues(node, part);
        struct eddy_json_value name, value;
        struct eddy_json_cursor cursor;

        if (part->kind != EDDY_JSON_OBJECT || eddy_json_walk(part, &cursor) < 0)
                return;
        if (!continues)
                node = ed_tree_item(tree, parts, node ? ed_tree_index(node) + 1 : 0,
                                    ED_CANDIDATES_PARTS_MAX);
        while (tree->error == 0 && eddy_json_next(&cursor, &name, &value)) {
                struct ed_tree_node *member = ed_tree_member(tree, node, name.text, name.bytes);

                if (continues && ed_tree_value_is(&name, "\"text\""))
                        ed_tree_join(tree, member, &value);
                else
                        ed_tree_set(tree, member, &value);
                if (value.kind >= EDDY_JSON_STRING && !ed_tree_value_is_blank(&value))
                        candidates->has_token = true;
        }
}

static void content_take(struct ed_candidates *candidates, struct ed_tree_node *content,
                         const struct eddy_json_value *value)
{
        struct ed_tree *tree = candidates->tree;
        struct eddy_json_value name, member, part;
        struct eddy_json_cursor cursor, parts;

        if (value->kind != EDDY_JSON_OBJECT || eddy_json_walk(value, &cursor) < 0)
                return;
        while (tree->error == 0 && eddy_json_next(&cursor, &name, &member)) {
                struct ed_tree_node *node = ed_tree_member(tree, content, name.text, name.bytes);

                if (!ed_tree_value_is(&name, "\"parts\"") || member.kind != EDDY_JSON_ARRAY ||
                    eddy_json_walk(&member, &parts) < 0) {
                        ed_tree_set(tree, node, &member);
                        continue;
                }
                while (tree->error == 0 && eddy_json_next(&parts, NULL, &part))
                        part_take(candidates, node, &part);
        }
}

static void candidate_take(struct ed_candidates *candidates, struct ed_tree_node *list,
                           const struct eddy_json_value *value)
{
        struct ed_tree *tree = candidates->tree;
        struct eddy_json_value name, member;
        struct eddy_json_cursor cursor;
        struct ed_tree_node *candidate;

        candidates->error =
                ed_tree_item_walk(tree, list, value, ED_CANDIDATES_MAX, &candidate, &cursor);
        while (candidate && tree->error == 0 && eddy_json_next(&cursor, &name, &member)) {
                struct ed_tree_node *node = ed_tree_member(tree, candidate, name.text, name.bytes);
                bool was_blank = ed_tree_is_blank(node);

                if (ed_tree_value_is(&name, "\"content\""))
                        content_take(candidates, node, &member);
                else
                        ed_tree_set(tree, node, &member);
                if (ed_tree_value_is(&name, "\"finishReason\"") && was_blank &&
                    !ed_tree_is_blank(node))
                        candidates->finished++;
        }
}

void ed_candidates_take(struct ed_candidates *candidates, const struct eddy_json_value *chunk)
{
        struct ed_tree *tree = candidates->tree;
        struct ed_tree_node *root = ed_tree_root(tree), *node;
        struct eddy_json_value name, value, item;
        struct eddy_json_cursor cursor, list;

        if (eddy_json_walk(chunk, &cursor) < 0)
                return;
        if (ed_tree_value_get(chunk, "promptFeedback.blockReason", &value))
                candidates->is_blocked = true;
        while (candidates->error == 0 && tree->error == 0 &&
               eddy_json_next(&cursor, &name, &value)) {
                node = ed_tree_member(tree, root, name.text, name.bytes);
                if (!ed_tree_value_is(&name, "\"candidates\"") || value.kind != EDDY_JSON_ARRAY ||
                    eddy_json_walk(&value, &list) < 0) {
                        ed_tree_set(tree, node, &value);
                        continue;
                }
                while (candidates->error == 0 && tree->error == 0 &&
                       eddy_json_next(&list, NULL, &item))
                        candidate_take(candidates, node, &item);
        }
}

bool ed_candidates_are_finished(const struct ed_candidates *candidates, uint64_t count)
{
        size_t seen = ed_tree_count(ed_tree_find(candidates->tree->root, "\"candidates\""));

        return candidates->is_blocked ||
               (seen > 0 && candidates->finished == seen && candidates->finished >= count);
}
