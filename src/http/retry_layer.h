/*
 * http/retry_layer.h - other attempts after failures that may pass.
 */
#ifndef ED_HTTP_RETRY_LAYER_H
#define ED_HTTP_RETRY_LAYER_H

#include "base/def.h"

struct ed_http_call;

/* Send by the policy 'request.retry'. A layer: see call.h.  Suspends. */
EDDY_MUST_USE int ed_http_retry_send(struct ed_http_call *call);

#endif
