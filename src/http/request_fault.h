/*
 * http/request_fault.h - the reason in words for which a request is refused. Only a request that was
 * refused is read again for this, so that others pay nothing.
 */
#ifndef ED_HTTP_REQUEST_FAULT_H
#define ED_HTTP_REQUEST_FAULT_H

#include "http/request_fields.h"

/*
 * Store in the request's 'ret_fault', if there is one, the part that ed_http_request_fields_set() has
 * refused with EDDY_E_HTTP_INVALID_REQUEST, and why. No value is stored: a header may be a secret.
 */
void ed_http_request_fault(const struct ed_http_request_fields *fields,
                           const eddy_http_client *client, const struct eddy_http_request *request);

/*
 * Store why the request's URL is refused with 'err', unless a layer has stored a reason. The URL
 * itself is not stored: it may have a password.
 */
void ed_http_request_fault_url(const eddy_http_client *client,
                               const struct eddy_http_request *request, int err);

/* Store that 'headers' is missing. Returns EDDY_E_HTTP_INVALID_REQUEST. */
int ed_http_request_fault_headers(const struct eddy_http_request *request);

/* Returns an error if the request has a number of headers without the headers. */
static inline int ed_http_request_check_headers(const struct eddy_http_request *request)
{
        if (ed_unlikely(!request->headers && request->headers_count > 0))
                return ed_http_request_fault_headers(request);
        return 0;
}

#endif
