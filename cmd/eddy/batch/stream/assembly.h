/*
 * batch/stream/assembly.h - assembles the events of a stream into the object that the same request
 * returns without "stream". No I/O.
 *
 * These kinds of streams are known: OpenAI's chat completions and completions, the events of
 * /v1/responses (whose last event has the whole response), Anthropic's messages, Gemini's
 * candidates, Cohere's chat, and Ollama's chat and generate. Unknown members are kept; if they
 * repeat, the last value is kept.
 */
#ifndef ED_CMD_BATCH_STREAM_ASSEMBLY_H
#define ED_CMD_BATCH_STREAM_ASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/draft.h"
#include "eddy/def.h"

struct ed_assembly;

/* Errors: -ENOMEM */
EDDY_MUST_USE int ed_assembly_new(struct ed_assembly **ret_assembly);
void ed_assembly_free(struct ed_assembly *assembly);

/*
 * Take an event. This is an ed_events_fn whose 'arg' is the ed_assembly. After an error, all
 * further calls return this error.
 *
 * Errors: -EBADMSG   the event is not a JSON object, or reports an error: ed_assembly_error()
 *         -EMSGSIZE  more than ED_TREE_BYTES_MAX, ED_CHOICES_MAX, ED_DELTA_ITEMS_MAX tool calls
 *                    or ED_MESSAGE_BLOCKS_MAX blocks of content
 *         -ENOMEM
 */
int ed_assembly_take(void *assembly, const char *type, const char *data, size_t bytes);

/* Returns true if an event had the first piece of an answer: text, a tool call, or reasoning. */
bool ed_assembly_has_token(const struct ed_assembly *assembly);

/* Returns true if the stream sent its end: [DONE], or the event that ends a response or message.
 * Later events are ignored. */
bool ed_assembly_is_ended(const struct ed_assembly *assembly);

/* Returns true if the stream sent its end, or at least 'choices' choices and a finish_reason of each.
 * Only details, such as the usage, may follow. */
bool ed_assembly_is_finished(const struct ed_assembly *assembly, uint64_t choices);

/* The same for any number of choices. Call this after the last byte of the stream. */
bool ed_assembly_is_whole(const struct ed_assembly *assembly);

/* Returns true if there was an event with data, other than [DONE]. */
bool ed_assembly_has_event(const struct ed_assembly *assembly);

/* Returns true if the stream is of one of the kinds above. */
bool ed_assembly_is_known(const struct ed_assembly *assembly);

/* Returns the error that the stream reported, as JSON text without a NUL after it, or NULL. This
 * may be the error of a failed response, although its event is not an error but has the whole
 * response. */
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
