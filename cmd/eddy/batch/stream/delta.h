/*
 * batch/stream/delta.h - merges each delta of a stream into the earlier parts of the answer. No
 * I/O.
 */
#ifndef ED_CMD_BATCH_STREAM_DELTA_H
#define ED_CMD_BATCH_STREAM_DELTA_H

#include "batch/stream/tree.h"
#include "eddy/json.h"

enum { ED_DELTA_ITEMS_MAX = 1024 }; /* of items with an index in an array, and of tool calls */

/*
 * Merge a delta into a node:
 *
 *   - strings named "arguments", "content", "data", "input", "reasoning", "reasoning_content",
 *     "refusal", "summary", "text", "thinking" or "transcript" are joined
 *   - objects are merged member by member
 *   - items of arrays are appended; objects with an "index" are merged with the item of that index
 *   - items of "tool_calls" lose "index", which complete answers do not have; if they have no
 *     type, it is "function"; an item without an index belongs to the call with its "id", or, if it
 *     has no id, to the last call
 *   - all other values are replaced, but not by null or an empty value
 */
void ed_delta_merge(struct ed_tree *tree, struct ed_tree_node *node,
                    const struct eddy_json_value *delta);

/* Merge a member of a delta into the node with its name. */
void ed_delta_merge_member(struct ed_tree *tree, struct ed_tree_node *node,
                           const struct eddy_json_value *name, const struct eddy_json_value *value);

#endif
