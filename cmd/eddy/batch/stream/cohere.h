/*
 * batch/stream/cohere.h - assembles the events of Cohere's chat (version 2) into the whole answer.
 * No I/O.
 */
#ifndef ED_CMD_BATCH_STREAM_COHERE_H
#define ED_CMD_BATCH_STREAM_COHERE_H

#include <stdbool.h>

#include "batch/stream/tree.h"
#include "eddy/json.h"

enum { ED_COHERE_ITEMS_MAX = 1024 }; /* of the content, calls and citations */

/* Initially all zero, except the tree. */
struct ed_cohere {
        struct ed_tree *tree; /* borrowed: the answer */
        bool has_token;
        bool is_ended;
};

/* Returns true if chats have events of this type. */
bool ed_cohere_has_type(const char *type);

/* Take an event, an object. */
void ed_cohere_take(struct ed_cohere *cohere, const char *type,
                    const struct eddy_json_value *event);

#endif
