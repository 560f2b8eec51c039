/*
 * http/status_fault.h - a status that is an error: what the caller's fault keeps of the response.
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

#endif
