/*
 * eddy/http_session.h - sessions of an HTTP server's users, kept in a signed cookie.
 *
 *     eddy_http_use_session(router, &(struct eddy_http_session_opts){
 *             .key = key, .key_bytes = 32 });
 *     ...
 *     eddy_http_session *session = eddy_http_exchange_session(exchange);
 *     const char *user = eddy_http_session_get(session, "user");
 *
 * THE COOKIE IS SIGNED, NOT ENCRYPTED.  A user can read all values of the own session, and so can each
 * program that sees the cookie.  Never put a secret in a session: no password, no key of another service, no
 * note about the user that the user may not see.  The signature has one effect: a user cannot change the values.
 *
 * The server stores nothing, so it cannot end a session: a copy of a cookie is valid until its time is
 * over, also after a logout.  Keep 'lifetime_ns' short, or keep a list of ended identifiers
 * (eddy_http_session_id()) and compare it.  For sessions that are large, secret, or that must end at once,
 * store them in a database, and put only the key of the record in the session.
 *
 * A cookie that is forged, cut, too old, or of another program is an empty session, never an error.
 */
#ifndef EDDY_HTTP_SESSION_H
#define EDDY_HTTP_SESSION_H

#include "eddy/def.h"
#include "eddy/fields.h"
#include "eddy/http_exchange.h"
#include "eddy/http_router.h"
#include "eddy/json.h"

EDDY_BEGIN_DECLS

enum {
        EDDY_HTTP_SESSION_KEY_MIN = 32,  /* bytes of a key */
        EDDY_HTTP_SESSION_NAME_MAX = 64, /* bytes of the name of a cookie */
        EDDY_HTTP_SESSION_BYTES_MAX =
                2800, /* of all names and values, with a NUL each; the cookie then
                                               has less than 4 KiB */
        EDDY_HTTP_SESSION_SECURE = 1 << 0, /* flag: the cookie is Secure on all connections */
};

struct eddy_http_session_opts {
        /* of the cookie: letters, digits and "-_.".  Give each program on a host its own name.  If the
         * cookie is Secure, the name begins with "__Host-", which is added.  NULL: "session" */
        const char *name EDDY_UNSET;
        /* 32 random bytes or more, the same in all processes of the server, and secret: a person with
         * the key can be any user */
        const void *key EDDY_UNSET;
        size_t key_bytes EDDY_UNSET;
        /* a former key, by which cookies are still valid; they are signed again by 'key' when their
         * session is next used.  NULL: none */
        const void *old_key EDDY_UNSET;
        size_t old_key_bytes EDDY_UNSET;
        /* from the begin of a session to its end; 0: 7 days; 1 s to 400 days */
        int64_t lifetime_ns EDDY_UNSET;
        /* A session also ends if it is not used for this time.  The cookie is renewed when half of the time
         * is over, so a session may end after half of it.  0: no such end; at least 2 s */
        int64_t idle_ns EDDY_UNSET;
        uint32_t flags EDDY_UNSET;        /* EDDY_HTTP_SESSION_* */
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Add middleware (eddy_http_router_use()) that reads the session of each request before the handler
 * runs, and sets the cookie if the handler has changed the session: HttpOnly, SameSite=Lax, Path=/.  The cookie
 * is Secure if the client uses https (eddy_http_exchange_scheme()) or a flag says so.  A server that a proxy
 * without eddy_http_use_trusted_proxies() serves by https needs EDDY_HTTP_SESSION_SECURE.
 *
 * The cookie is added when the response begins, or when the handler returns 0 or more without a response.  It
 * is not added if the handler returns an error without a response.  Responses whose handler has asked for
 * the session have "Vary: Cookie"; those with a new cookie have "Cache-Control: no-store".
 *
 * SameSite=Lax keeps other sites from sending the cookie with POST, PUT and DELETE, but they can send it
 * with a link: a handler of GET changes nothing.  Old browsers and sibling domains need a token in the form
 * too: eddy_http_session_id().
 *
 * Suspends: no.
 * Errors: those of eddy_http_router_use()
 *         -EINVAL  also: a key has less than EDDY_HTTP_SESSION_KEY_MIN bytes, the name is not valid, or a
 *                  time is out of range
 * Owns: copies 'opts' and the keys, and clears its copy when the router is freed.
 */
EDDY_API int eddy_http_use_session(eddy_http_router *router,
                                   const struct eddy_http_session_opts *opts);

/* The session of a request; valid until the middleware returns. */
typedef struct eddy_http_session eddy_http_session;

/*
 * Returns the session of the request; NULL: the handler is outside of the middleware.  If several such middleware
 * enclose the handler, the session is that of the innermost.
 *
 * Suspends: no.
 */
EDDY_API eddy_http_session *eddy_http_exchange_session(eddy_http_exchange *exchange);

/*
 * Returns the value of a name, or NULL.  A NULL 'session' has no values.
 *
 * Suspends: no.
 * Owns: valid until the session is changed.
 */
EDDY_API const char *eddy_http_session_get(const eddy_http_session *session, const char *name);

/*
 * Set the value of a name; NULL: remove it.  An empty session begins by its first value.
 *
 * Suspends: no.
 * Errors: -EINVAL           'session' or 'name' is NULL
 *         -EMSGSIZE         names and values would have more than EDDY_HTTP_SESSION_BYTES_MAX bytes;
 *                           nothing was changed
 *         EDDY_E_HTTP_STATE the response has begun: the cookie cannot be set
 *         -ENOMEM
 */
EDDY_API EDDY_MUST_USE int eddy_http_session_set(eddy_http_session *session, const char *name,
                                                 const char *value);

/*
 * Read the value of a name as JSON into the struct at 'out' (eddy_json_read()); write it
 * (eddy_json_write()).
 *
 * Suspends: no.
 * Errors: those of eddy_json_read() or of eddy_json_write() and eddy_http_session_set()
 *         -ENOENT  read: the session has no such value
 * Owns: read returns strings and lists (owned), until eddy_fields_fini().
 */
EDDY_API EDDY_MUST_USE int eddy_http_session_read(const eddy_http_session *session,
                                                  const char *name,
                                                  const struct eddy_fields *fields, void *out);
EDDY_API EDDY_MUST_USE int eddy_http_session_write(eddy_http_session *session, const char *name,
                                                   const struct eddy_fields *fields,
                                                   const void *in);

/*
 * Returns the identifier of the session, a random UUID; "" if the session is empty.  It changes when
 * eddy_http_session_renew() or a logout ends the session.  It is not a password: only the whole cookie
 * is a proof.  Uses: a token of a form against forged requests (CSRF), and a list of sessions that were
 * ended early.
 *
 * Suspends: no.
 * Owns: valid until the session is renewed or cleared.
 */
EDDY_API const char *eddy_http_session_id(const eddy_http_session *session);

/*
 * Begin a new session without values, with a new identifier and its full lifetime.  Call it at a login, before
 * the user's name is set: another person may have planted the former cookie and chosen its values (session
 * fixation).  Read the values that are worth keeping, such as a cart, before, and set them again.
 *
 * Suspends: no.
 * Errors: -EINVAL            'session' is NULL
 *         EDDY_E_HTTP_STATE  the response has begun
 *         -ENOMEM            the former session remains
 */
EDDY_API EDDY_MUST_USE int eddy_http_session_renew(eddy_http_session *session);

/*
 * Empty the session, and remove the cookie from the browser: a logout.
 *
 * Suspends: no.
 * Errors: -EINVAL            'session' is NULL
 *         EDDY_E_HTTP_STATE  the response has begun
 */
EDDY_API EDDY_MUST_USE int eddy_http_session_clear(eddy_http_session *session);

EDDY_END_DECLS

#endif
