/*
 * batch/answer/body_error.h - errors that an API reports in the body of an answer with a status of
 * success, or in an event of a stream. No I/O.
 */
#ifndef ED_CMD_BATCH_ANSWER_BODY_ERROR_H
#define ED_CMD_BATCH_ANSWER_BODY_ERROR_H

#include <stdbool.h>

#include "eddy/json.h"

/*
 * Find the member "error" of a body, or of the first item of a list. A value without contents (null,
 * false, "", {}) is not an error.
 */
bool ed_body_error_find(const struct eddy_json_value *body, struct eddy_json_value *ret_error);

/*
 * Returns the status that an answer with this error would have, from 400 to 599, by its code, its
 * type or its status, as OpenAI, Anthropic, Gemini and others name them; 0: unknown. 'error' is the
 * value of "error", or an event that is the error.
 */
int ed_body_error_status(const struct eddy_json_value *error);

#endif
