/*
 * http/auth_layer.h - the layer of a call that adds credentials, and repeats a request after a 401.
 */
#ifndef ED_HTTP_AUTH_LAYER_H
#define ED_HTTP_AUTH_LAYER_H

#include "base/def.h"

struct ed_http_call;

/* Send the request with the credentials of its option 'auth', which is set.  Suspends. */
EDDY_MUST_USE int ed_http_auth_send(struct ed_http_call *call);

#endif
