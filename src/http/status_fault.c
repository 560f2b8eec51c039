/*
 * http/status_fault.c - see status_fault.h.
 */
#include "http/status_fault.h"

#include "eddy/error.h"
#include "http/fault.h"

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
        ed_http_fault_note(fault, "the server answered with the status %d", fault->status);
        return EDDY_E_HTTP_STATUS;
}

void ed_http_body_fault(const eddy_http_response *response, int err, struct eddy_http_fault *fault)
{
        const char *rule = eddy_http_response_fault_text(response);

        if (*rule)
                ed_http_fault_of_response(fault, err, rule);
}
