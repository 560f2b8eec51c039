/*
 * batch/stream/candidates.h - assembles the chunks of Gemini's streamGenerateContent into the whole
 * answer. No I/O.
 */
#ifndef ED_CMD_BATCH_STREAM_CANDIDATES_H
#define ED_CMD_BATCH_STREAM_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>

#include "batch/stream/tree.h"
#include "eddy/json.h"

enum { ED_CANDIDATES_MAX = 128, ED_CANDIDATES_PARTS_MAX = 1024 };

/* Initially all zero, except the tree. */
struct ed_candidates {
        struct ed_tree *tree; /* borrowed: the answer */
        size_t finished;      /* candidates with a finishReason */
        bool is_blocked;      /* the API refused the prompt and sent no candidates */
        bool has_token;
        int error; /* -EBADMSG: a chunk is wrong; 0: none. Other errors are in the tree */
};

/* Returns true if an event is such a chunk. */
bool ed_candidates_are_in(const struct eddy_json_value *event);

/* Take a chunk, an object. Pieces of text are joined; other parts are appended. */
void ed_candidates_take(struct ed_candidates *candidates, const struct eddy_json_value *chunk);

/* Returns true if all candidates so far have finished, and are at least 'count', or if the prompt
 * was refused. */
bool ed_candidates_are_finished(const struct ed_candidates *candidates, uint64_t count);

#endif
