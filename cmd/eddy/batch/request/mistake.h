/*
 * batch/request/mistake.h - sentences about lines that are not requests at all. No I/O.
 */
#ifndef ED_CMD_BATCH_REQUEST_MISTAKE_H
#define ED_CMD_BATCH_REQUEST_MISTAKE_H

#include <stddef.h>

#include "eddy/json.h"

/* Write what is wrong with a line that begins as an object and is not JSON. */
void ed_mistake_of_json(const char *line, size_t bytes, const struct eddy_json_error *fault,
                        char *text, size_t room);

/* Returns what is wrong with a line that begins neither as an object nor as a URL. */
const char *ed_mistake_of_text(const char *line, size_t bytes);

#endif
