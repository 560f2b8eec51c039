/*
 * http/status_fault.h - what the caller's fault keeps of a response that is an error.
 */
#ifndef ED_HTTP_STATUS_FAULT_H
#define ED_HTTP_STATUS_FAULT_H

#include "eddy/http_client.h"

/*
 * Note the status and the first bytes of the body in 'fault', which may be NULL. The response stays
 * the caller's. Returns EDDY_E_HTTP_STATUS, also if the body cannot be read or the task is cancelled.
 *
 * Suspends: yes.
 */
EDDY_MUST_USE int ed_http_status_fault(eddy_http_response *response, struct eddy_http_fault *fault);

/*
 * Note the error of a call that reads the body in 'fault', which may be NULL, with the rule that the
 * body does not follow, if there is one.
 */
void ed_http_body_fault(const eddy_http_response *response, int err, struct eddy_http_fault *fault);

#endif
