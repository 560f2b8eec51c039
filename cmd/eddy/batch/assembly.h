/*
 * batch/assembly.h - the answers of streams, assembled into the object that the same request
 * returns without "stream". No I/O.
 *
 * Four kinds of streams are known: chat completions and completions of OpenAI, the events of
 * /v1/responses (whose last event has the whole response), and the messages of Anthropic. Members
 * that none of them has are kept; the last value wins.
 */
#ifndef ED_CMD_BATCH_ASSEMBLY_H
#define ED_CMD_BATCH_ASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>

#include "common/draft.h"
#include "eddy/def.h"

struct ed_assembly;

/* Errors: -ENOMEM */
EDDY_MUST_USE int ed_assembly_new(struct ed_assembly **ret_assembly);
void ed_assembly_free(struct ed_assembly *assembly);

/*
 * Take an event; an ed_events_fn with an ed_assembly as 'arg'. After an error all further calls
 * return this error.
 *
 * Errors: -EBADMSG   the event is not a JSON object, or reports an error: ed_assembly_error()
 *         -EMSGSIZE  more than ED_TREE_BYTES_MAX, ED_CHOICES_MAX, ED_DELTA_ITEMS_MAX tool calls
 *                    or ED_MESSAGE_BLOCKS_MAX blocks of content
 *         -ENOMEM
 */
int ed_assembly_take(void *assembly, const char *type, const char *data, size_t bytes);

/* Returns whether an event had the first piece of an answer: text, a tool call, reasoning. */
bool ed_assembly_has_token(const struct ed_assembly *assembly);

/* Returns whether the stream reached its end: [DONE], a finish_reason of every choice so far, or
 * the event that ends a response or message. Ask after the last byte of the stream. */
bool ed_assembly_is_whole(const struct ed_assembly *assembly);

/* Returns the error that the stream reported, as JSON text, or NULL. The error of a response that
 * failed is returned too, although its event is not an error: its body is the whole response. */
const char *ed_assembly_error(const struct ed_assembly *assembly, size_t *ret_bytes);

/*
 * Append the assembled object, which may have white space between its tokens, as the events have.
 *
 * Errors: -EBADMSG  there was no event to assemble, or only those of an unknown kind of stream
 *         -EMSGSIZE, -ENOMEM  ed_assembly_take() returned this error
 *         -ENOMEM
 */
EDDY_MUST_USE int ed_assembly_write(const struct ed_assembly *assembly, struct ed_draft *body);

#endif
