/*
 * batch/run/receive.h - the second half of an attempt: receives the answer.
 */
#ifndef ED_CMD_BATCH_RUN_RECEIVE_H
#define ED_CMD_BATCH_RUN_RECEIVE_H

#include "batch/run/attempt.h"
#include "eddy/def.h"

/*
 * Read the head of attempt->response, obey its limits, and read its body or its stream.
 *
 * Suspends: yes.
 * Errors: those of eddy_http_response_read(), ed_content_read() and ed_stream_end()
 */
EDDY_MUST_USE int ed_attempt_receive(struct ed_attempt *attempt);

/*
 * An answer with a status of success has an error in its body, or in an event of its stream: keep the
 * code and the status that the error reports. A body without a member "error" is left alone; an
 * event may be the error itself.
 */
void ed_attempt_report(struct ed_attempt *attempt, const char *text, size_t bytes, bool is_event);

#endif
