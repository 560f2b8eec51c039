/*
 * http/values.h - the values that a program has set for an exchange (eddy/http_value.h).
 */
#ifndef ED_HTTP_VALUES_H
#define ED_HTTP_VALUES_H

#include "eddy/http_value.h"
#include "http/exchange.h"

/* Free all values. Their functions may suspend, and may set values. */
void ed_http_values_fini(eddy_http_exchange *exchange);

#endif
