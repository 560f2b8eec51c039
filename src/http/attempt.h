/*
 * http/attempt.h - the attempts of a client's requests, and the hooks around them.
 */
#ifndef ED_HTTP_ATTEMPT_H
#define ED_HTTP_ATTEMPT_H

#include "http/client.h"

/* Prepare for the first attempt of a request. */
void ed_http_attempt_init(eddy_http_response *response, const struct eddy_http_request *request);

/*
 * Begin the next attempt. After an error the attempt must be ended too.
 *
 * Errors: those of the hook
 */
EDDY_MUST_USE int ed_http_attempt_begin(eddy_http_response *response,
                                        const struct eddy_http_request *request);

/* The attempt has a connection, and its first byte is about to be sent. */
void ed_http_attempt_sends(eddy_http_response *response);

/* The head of the response has arrived. */
void ed_http_attempt_answered(eddy_http_response *response);

/*
 * A call that reads the response returns 'result'; 'ended': at the body's end. This ends the attempt
 * unless reading can go on.
 */
void ed_http_attempt_read(eddy_http_response *response, int64_t result, bool ended);

/* End the attempt with an error, or with 0 for what was noted. Harmless if none is in progress. */
void ed_http_attempt_end(eddy_http_response *response, int error);

#endif
