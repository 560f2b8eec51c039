/*
 * eddy/http_value.h - values of a request: middleware sets them, handlers get them, and they end with
 * the request.  Other libraries call this dependency injection.
 *
 *     static const char user_key[] = "user";
 *
 *     static int sign_in(eddy_http_exchange *exchange, struct eddy_http_next *next, void *arg)
 *     {
 *             struct user *user = find_user(arg, eddy_http_exchange_header(exchange, "Authorization"));
 *             int err;
 *
 *             if (!user)
 *                     return eddy_http_exchange_fail(exchange, 401, "%s", "sign in first");
 *             err = eddy_http_exchange_set(exchange, user_key, user, free_user);
 *             if (err < 0) {
 *                     free_user(user);
 *                     return err;
 *             }
 *             return eddy_http_next(exchange, next);
 *     }
 *
 *     const struct user *user = eddy_http_exchange_get(exchange, user_key);
 *
 * A value of a task, which the tasks that it starts inherit, is an eddy_var (eddy/var.h).
 */
#ifndef EDDY_HTTP_VALUE_H
#define EDDY_HTTP_VALUE_H

#include "eddy/def.h"
#include "eddy/http_exchange.h"

EDDY_BEGIN_DECLS

/* Frees a value.  Called in the task of the handler, after the handler has returned; may suspend. */
typedef void eddy_http_value_fn(void *value);

/*
 * Set the value of a key, which is the address of any object of the program.  The former value of the
 * key is freed.  When the request has ended, the values are freed in the reverse order of their
 * keys' first calls, by 'free_value', which may be NULL.  A NULL 'value' is not freed.
 *
 * Suspends: no, unless the former value's function does.
 * Errors: -EINVAL  'key' is NULL
 *         -ENOMEM  the key still has no value
 * Owns: takes 'value', unless the call fails.
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_set(eddy_http_exchange *exchange, const void *key,
                                                  void *value, eddy_http_value_fn *free_value);

/*
 * Returns the value of a key, or NULL.
 *
 * Suspends: no.
 * Owns: valid until the request ends, or the key is set again.
 */
EDDY_API void *eddy_http_exchange_get(const eddy_http_exchange *exchange, const void *key);

EDDY_END_DECLS

#endif
