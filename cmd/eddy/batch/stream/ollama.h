/*
 * batch/stream/ollama.h - assembles the lines of Ollama's /api/chat and /api/generate into the
 * whole answer. No I/O.
 */
#ifndef ED_CMD_BATCH_STREAM_OLLAMA_H
#define ED_CMD_BATCH_STREAM_OLLAMA_H

#include <stdbool.h>
#include <stddef.h>

#include "batch/stream/tree.h"
#include "eddy/json.h"

/* Initially all zero, except the tree. */
struct ed_ollama {
        struct ed_tree *tree; /* borrowed: the answer */
        bool has_token;
        bool is_ended; /* "done": true */
};

/* Returns true if an object is such a line: it has "done", true or false. */
bool ed_ollama_is_line(const struct eddy_json_value *object);

/* Take a line, an object. */
void ed_ollama_take(struct ed_ollama *ollama, const struct eddy_json_value *line);

#endif
