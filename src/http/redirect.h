/*
 * http/redirect.h - the layer of a call that follows redirects.
 */
#ifndef ED_HTTP_REDIRECT_H
#define ED_HTTP_REDIRECT_H

#include "base/def.h"

struct ed_http_call;

/*
 * Send the request, and follow at most 'redirects_max' redirects of the request.
 *
 * Suspends: yes.
 * Errors: -ELOOP, EDDY_E_HTTP_STATUS, -ENOMEM, those of the next layer
 */
EDDY_MUST_USE int ed_http_redirect_send(struct ed_http_call *call);

#endif
