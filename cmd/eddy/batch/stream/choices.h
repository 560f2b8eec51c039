/*
 * batch/stream/choices.h - assembles the chunks of OpenAI's chat completions and completions into
 * the whole completion. No I/O.
 */
#ifndef ED_CMD_BATCH_STREAM_CHOICES_H
#define ED_CMD_BATCH_STREAM_CHOICES_H

#include <stdbool.h>
#include <stddef.h>

#include "batch/stream/tree.h"
#include "eddy/json.h"

enum { ED_CHOICES_MAX = 128 };

/* Initially all zero, except the tree. */
struct ed_choices {
        struct ed_tree *tree; /* borrowed: the completion */
        size_t finished;      /* choices with a finish_reason */
        bool is_chat;
        bool has_token;
        int error; /* -EBADMSG: a chunk is wrong; 0: none. Other errors are in the tree */
};

/* Take a chunk, an object. */
void ed_choices_take(struct ed_choices *choices, const struct eddy_json_value *chunk);

/* Returns true if there are choices, and all choices so far have finished. */
bool ed_choices_are_finished(const struct ed_choices *choices);

#endif
