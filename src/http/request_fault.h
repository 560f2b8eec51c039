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

#endif
