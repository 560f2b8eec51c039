/*
 * batch/stream/message.c - events of a message, assembled.
 */
#include "batch/stream/message.h"

#include <errno.h>
#include <string.h>

#include "eddy/alloc.h"

/* Put the input of a tool, which was received as pieces of JSON text, in its place. Text that is
 * not JSON, because the answer reached its maximum, is kept as "partial_json". */
static void block_end(struct ed_message *message, struct ed_tree_node *block)
{
        static const struct eddy_json_opts opts = { .depth_max = ED_TREE_DEPTH_MAX };
        struct ed_tree *tree = message->tree;
        struct ed_tree_node *partial = ed_tree_find(block, "\"partial_json\"");
        struct ed_draft text = { 0 };
        struct eddy_json_value string;
        int64_t bytes = -1;
        char *input;

        if (!partial)
                return;
        ed_tree_write(partial, &text);
        input = ed_draft_is_whole(&text) ? eddy_malloc(text.bytes) : NULL;
        if (!input) {
                message->error = -ENOMEM;
        } else {
                string = (struct eddy_json_value){ text.data, text.bytes, EDDY_JSON_STRING };
                bytes = eddy_json_string(&string, input, text.bytes);
        }
        if (bytes >= 0 && eddy_json_check(input, (size_t) bytes, &opts, NULL) == 0) {
                ed_tree_remove(tree, block, "\"partial_json\"");
                ed_tree_set_text(tree, ed_tree_member_of(tree, block, "input"), input,
                                 (size_t) bytes);
        } else if (bytes == 0) {
                ed_tree_remove(tree, block, "\"partial_json\"");
        }
        eddy_free(input);
        ed_draft_fini(&text);
}

static void block_take_delta(struct ed_message *message, struct ed_tree_node *block,
                             const struct eddy_json_value *delta)
{
        struct ed_tree *tree = message->tree;
        struct eddy_json_value name, value;
        struct eddy_json_cursor cursor;

        if (delta->kind != EDDY_JSON_OBJECT || eddy_json_walk(delta, &cursor) < 0)
                return;
        while (tree->error == 0 && eddy_json_next(&cursor, &name, &value)) {
                if (ed_tree_value_is(&name, "\"type\""))
                        continue;
                if (ed_tree_value_is(&name, "\"citation\""))
                        ed_tree_append(tree, ed_tree_member_of(tree, block, "citations"), &value);
                else if (value.kind == EDDY_JSON_STRING &&
                         !ed_tree_value_is(&name, "\"signature\""))
                        ed_tree_join(tree, ed_tree_member(tree, block, name.text, name.bytes),
                                     &value);
                else
                        ed_tree_set(tree, ed_tree_member(tree, block, name.text, name.bytes),
                                    &value);
                if (value.kind >= EDDY_JSON_STRING && !ed_tree_value_is_blank(&value))
                        message->has_token = true;
        }
}

/* Take content_block_start, content_block_delta or content_block_stop. */
static void block_take(struct ed_message *message, const char *type,
                       const struct eddy_json_value *event)
{
        struct ed_tree *tree = message->tree;
        struct eddy_json_value value;
        struct ed_tree_node *block;
        uint64_t index;

        if (!ed_tree_value_get(event, "index", &value) || eddy_json_uint64(&value, &index) < 0) {
                message->error = -EBADMSG;
                return;
        }
        block = ed_tree_item(tree, ed_tree_member_of(tree, ed_tree_root(tree), "content"), index,
                             ED_MESSAGE_BLOCKS_MAX);
        if (strcmp(type, "content_block_stop") == 0) {
                block_end(message, block);
        } else if (ed_tree_value_get(event, "content_block", &value)) {
                ed_tree_set_members(tree, block, &value);
                if (!ed_tree_is(ed_tree_find(block, "\"type\""), "\"text\"", 6))
                        message->has_token = true;
        } else if (ed_tree_value_get(event, "delta", &value)) {
                block_take_delta(message, block, &value);
        }
}

/* Take message_delta: counts of tokens so far, and members of the message. */
static void message_take_delta(struct ed_message *message, const struct eddy_json_value *event)
{
        struct ed_tree *tree = message->tree;
        struct ed_tree_node *root = ed_tree_root(tree), *node;
        struct eddy_json_value name, value;
        struct eddy_json_cursor cursor;

        if (eddy_json_walk(event, &cursor) < 0)
                return;
        while (tree->error == 0 && eddy_json_next(&cursor, &name, &value)) {
                if (ed_tree_value_is(&name, "\"type\""))
                        continue;
                if (ed_tree_value_is(&name, "\"delta\"")) {
                        ed_tree_set_members(tree, root, &value);
                        continue;
                }
                node = ed_tree_member(tree, root, name.text, name.bytes);
                if (ed_tree_value_is(&name, "\"usage\""))
                        ed_tree_set_members(tree, node, &value);
                else
                        ed_tree_set(tree, node, &value);
        }
}

bool ed_message_has_type(const char *type)
{
        return strncmp(type, "message_", 8) == 0 || strncmp(type, "content_block_", 14) == 0;
}

void ed_message_take(struct ed_message *message, const char *type,
                     const struct eddy_json_value *event)
{
        struct eddy_json_value value;

        if (strncmp(type, "content_block_", 14) == 0)
                block_take(message, type, event);
        else if (strcmp(type, "message_start") == 0 && ed_tree_value_get(event, "message", &value))
                ed_tree_set_members(message->tree, ed_tree_root(message->tree), &value);
        else if (strcmp(type, "message_delta") == 0)
                message_take_delta(message, event);
        else if (strcmp(type, "message_stop") == 0)
                message->is_ended = true;
}
