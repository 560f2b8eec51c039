/*
 * http/cookie_layer.h - the layer of a call that sends a jar's cookies and keeps those of the response.
 */
#ifndef ED_HTTP_COOKIE_LAYER_H
#define ED_HTTP_COOKIE_LAYER_H

#include "base/def.h"

struct ed_http_call;

/*
 * Make one attempt with the cookies of the request's jar. A Cookie of the caller replaces the jar's.
 *
 * Suspends: yes.
 * Errors: -ENOMEM, those of the next layer
 */
EDDY_MUST_USE int ed_http_cookies_send(struct ed_http_call *call);

#endif
