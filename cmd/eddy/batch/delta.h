/*
 * batch/delta.h - the deltas of a stream of answers, merged into what was received before. No I/O.
 */
#ifndef ED_CMD_BATCH_DELTA_H
#define ED_CMD_BATCH_DELTA_H

#include "batch/tree.h"
#include "eddy/json.h"

enum { ED_DELTA_ITEMS_MAX = 1024 }; /* with an index, in one array; tool calls */

/*
 * Merge a delta into a node:
 *
 *   - strings named "arguments", "content", "data", "input", "reasoning", "reasoning_content",
 *     "refusal", "summary", "text", "thinking" or "transcript" are joined
 *   - objects are merged member by member
 *   - items of arrays are appended; objects with an "index" are merged with the item of that index
 *   - items of "tool_calls" lose "index", which complete answers do not have, and their type is
 *     "function" if they give none; without an index they belong to the call with their "id", or
 *     without an id to the last one
 *   - all other values are replaced, but not by null or an empty one
 */
void ed_delta_merge(struct ed_tree *tree, struct ed_tree_node *node,
                    const struct eddy_json_value *delta);

/* Merge one member of a delta into the node of its name. */
void ed_delta_merge_member(struct ed_tree *tree, struct ed_tree_node *node,
                           const struct eddy_json_value *name, const struct eddy_json_value *value);

#endif
