/*
 * batch/message.h - events of Anthropic's messages, assembled into the whole message. No I/O.
 */
#ifndef ED_CMD_BATCH_MESSAGE_H
#define ED_CMD_BATCH_MESSAGE_H

#include <stdbool.h>

#include "batch/tree.h"
#include "eddy/json.h"

enum { ED_MESSAGE_BLOCKS_MAX = 1024 }; /* of the content */

/* Zero, but for the tree, is the start. */
struct ed_message {
        struct ed_tree *tree; /* borrowed: the message */
        bool has_token;
        bool is_ended;
        int error; /* -EBADMSG: an event is wrong; -ENOMEM; 0. Others are in the tree */
};

/* Returns whether events of this type are those of messages. */
bool ed_message_has_type(const char *type);

/* Take an event, an object. Types that mean nothing, such as "ping", are ignored. */
void ed_message_take(struct ed_message *message, const char *type,
                     const struct eddy_json_value *event);

#endif
