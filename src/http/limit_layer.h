/*
 * http/limit_layer.h - the rate limit and the breaker of attempts.
 */
#ifndef ED_HTTP_LIMIT_LAYER_H
#define ED_HTTP_LIMIT_LAYER_H

#include "base/def.h"

struct ed_http_call;

/* Send when 'request.breaker' and 'request.limiter' allow it. A layer: see call.h.  Suspends. */
EDDY_MUST_USE int ed_http_limit_send(struct ed_http_call *call);

#endif
