/*
 * http/status_fault.c - see status_fault.h.
 */
#include "http/status_fault.h"

#include <stdio.h>

#include "eddy/error.h"

int ed_http_status_fault(eddy_http_response *response, struct eddy_http_fault *fault)
{
        int64_t n;

        if (!fault)
                return EDDY_E_HTTP_STATUS;
        fault->status = eddy_http_response_status(response);
        fault->body_bytes = 0;
        do {
                n = eddy_http_response_read(response, fault->body + fault->body_bytes,
                                            EDDY_HTTP_FAULT_BODY_BYTES - fault->body_bytes);
                fault->body_bytes += n > 0 ? (size_t) n : 0;
        } while (n > 0 && fault->body_bytes < EDDY_HTTP_FAULT_BODY_BYTES);
        fault->body[fault->body_bytes] = '\0';
        snprintf(fault->text, sizeof(fault->text), "the server answered with the status %d",
                 fault->status);
        return EDDY_E_HTTP_STATUS;
}
