/*
 * batch/stream/message.h - assembles the events of Anthropic's messages into the whole message. No
 * I/O.
 */
#ifndef ED_CMD_BATCH_STREAM_MESSAGE_H
#define ED_CMD_BATCH_STREAM_MESSAGE_H

#include <stdbool.h>

#include "batch/stream/tree.h"
#include "eddy/json.h"

enum { ED_MESSAGE_BLOCKS_MAX = 1024 }; /* of the content */

/* Initially all zero, except the tree. */
struct ed_message {
        struct ed_tree *tree; /* borrowed: the message */
        bool has_token;
        bool is_ended;
        int error; /* -EBADMSG: an event is wrong; -ENOMEM; 0: none. Others are in the tree */
};

/* Returns true if messages have events of this type. */
bool ed_message_has_type(const char *type);

/* Take an event, an object. Types without content, such as "ping", are ignored. */
void ed_message_take(struct ed_message *message, const char *type,
                     const struct eddy_json_value *event);

#endif
