/*
 * http/redirect_rules.h - the request that follows a redirect (RFC 9110, 15.4).
 *
 * An origin is a scheme, a host and a port. A redirect to another origin takes no credentials along.
 */
#ifndef ED_HTTP_REDIRECT_RULES_H
#define ED_HTTP_REDIRECT_RULES_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/def.h"

/* Returns true if a response with this status and a Location can be followed. */
bool ed_redirect_has_status(int status);

/*
 * Returns true if the next request is a GET without a body: after 303 whatever the method was, and after 301
 * and 302 if it was POST, as browsers do. HEAD stays HEAD, and 307 and 308 change nothing.
 */
bool ed_redirect_becomes_get(int status, const char *method);

/* Returns true if a header describes the body, which a GET does not have. */
bool ed_redirect_is_of_body(const char *name);

/*
 * Returns true if a header must not reach another origin: credentials, also those that only their
 * names show ("X-Api-Key"), and Host, which names the former origin.
 */
bool ed_redirect_is_of_origin(const char *name);

/*
 * Append to 'out', which must be empty, the URL and a NUL to which a Location of a response to 'base'
 * leads. 'base' may have a fragment and user information. Location's spaces and bytes above 0x7F
 * are quoted, except in the host. The fragment of 'base' remains unless Location has one
 * (RFC 9110, 10.2.2); the user information remains within an origin.
 *
 * Returns 1 if the URL has another origin than 'base', else 0.
 *
 * Errors: EDDY_E_URL_INVALID, EDDY_E_URL_SCHEME, EDDY_E_DNS_BAD_NAME
 *         -ENOMEM
 */
EDDY_MUST_USE int ed_redirect_join(const char *base, const char *location, struct ed_buf *out);

#endif
