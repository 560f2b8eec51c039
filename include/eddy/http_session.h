/*
 * eddy/http_session.h - sessions of an HTTP server's users, kept in a signed cookie.
 *
 *     eddy_http_use_session(router, &(struct eddy_http_session_opts){
 *             .key = key, .key_bytes = 32 });
 *     ...
 *     eddy_http_session *session = eddy_http_exchange_session(exchange);
 *     const char *user = eddy_http_session_get(session, "user");
 *
 * THE COOKIE IS SIGNED, NOT ENCRYPTED.  Users can read all values of their own sessions, and so can
 * any program that sees the cookie.  Never put a secret in a session: no password, no key of
 * another service, no note that the user may not see.  The signature only keeps users from changing
 * the values.
 *
 * The server stores nothing, so it cannot end a session: a copy of a cookie is valid until the
 * session expires, even after a logout.  Keep 'lifetime_ns' short, or keep a list of ended
 * identifiers and look up eddy_http_session_id() in it.  If sessions are large or secret, or must
 * end at once, store them in a database, and put only the key of the record in the session.
 *
 * A cookie that is forged, cut, expired, or of another program is an empty session, not an error.
 * If a request has several cookies of the name, the first valid cookie among the first 32 is the
 * session, so an invalid cookie that a program on a sibling domain has set does not hide it.
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
                2800, /* of all names and values, with a NUL each; keeps the cookie below 4 KiB */
        EDDY_HTTP_SESSION_SECURE = 1 << 0, /* flag: the cookie is Secure on all connections */
};

struct eddy_http_session_opts {
        /* of the cookie: letters, digits and "-_.".  Give each program on a host its own name.  If
         * the cookie is Secure, the prefix "__Host-" is added.  NULL: "session" */
        const char *name EDDY_UNSET;
        /* 32 random bytes or more, the same in all processes of the server.  Keep the key secret: a
         * person who has it can log in as any user */
        const void *key EDDY_UNSET;
        size_t key_bytes EDDY_UNSET;
        /* a former key, whose cookies are still accepted; a cookie is signed with 'key' when its
         * session is next used.  NULL: none */
        const void *old_key EDDY_UNSET;
        size_t old_key_bytes EDDY_UNSET;
        /* from the start of a session to its end: 1 s to 400 days; 0: 7 days */
        int64_t lifetime_ns EDDY_UNSET;
        /* A session also ends if it is not used for this time: at least 2 s; 0: no such limit.  The
         * cookie is renewed only after half of the time, so a session can end after half of it */
        int64_t idle_ns EDDY_UNSET;
        uint32_t flags EDDY_UNSET;        /* EDDY_HTTP_SESSION_* */
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Add middleware (eddy_http_router_use()) that reads the session of each request before the handler
 * runs, and sets the cookie if the handler has changed the session: HttpOnly, SameSite=Lax, Path=/.
 * The cookie is Secure if the client uses https (eddy_http_exchange_scheme()), or always with the
 * flag EDDY_HTTP_SESSION_SECURE.  Use the flag if a proxy terminates https for the server and
 * eddy_http_use_trusted_proxies() is not used.
 *
 * The cookie is added when the response begins, or when the handler returns 0 or more without a
 * response.  It is not added if the handler returns an error without a response.  A response whose
 * handler has asked for the session has "Vary: Cookie"; a response with a new cookie has
 * "Cache-Control: no-store".
 *
 * SameSite=Lax keeps other sites from sending the cookie with POST, PUT and DELETE.  A link on
 * another site still sends the cookie, so handlers of GET must not change anything.  If old
 * browsers or untrusted sibling domains matter, add a token to forms too: eddy_http_session_id().
 *
 * Suspends: no.
 * Errors: those of eddy_http_router_use()
 *         -EINVAL  also: a key has fewer than EDDY_HTTP_SESSION_KEY_MIN bytes, the name is not
 *                  valid, or a time is out of range
 * Owns: copies 'opts' and the keys, and clears its copy when the router is freed.
 */
EDDY_API int eddy_http_use_session(eddy_http_router *router,
                                   const struct eddy_http_session_opts *opts);

/* The session of a request; valid until the middleware returns. */
typedef struct eddy_http_session eddy_http_session;

/*
 * Returns the session of the request, or NULL if no session middleware encloses the handler.  If
 * several do, the session is that of the innermost.
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
 * Set the value of a name; a NULL 'value' removes the name.  Setting a value in an empty session
 * begins a session.
 *
 * Suspends: no.
 * Errors: -EINVAL           'session' or 'name' is NULL
 *         -EMSGSIZE         names and values would have more than EDDY_HTTP_SESSION_BYTES_MAX
 *                           bytes; nothing was changed
 *         EDDY_E_HTTP_STATE the response has begun, so the cookie cannot be set
 *         -ENOMEM
 */
EDDY_API EDDY_MUST_USE int eddy_http_session_set(eddy_http_session *session, const char *name,
                                                 const char *value);

/*
 * Read the value of a name as JSON into the struct at 'out' (eddy_json_read()), or write the struct
 * at 'in' as the value (eddy_json_write()).
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
 * Returns the identifier of the session, a random UUID; "" if the session is empty.  The identifier
 * changes when eddy_http_session_renew() or a logout ends the session.  It does not authenticate a
 * user; only the whole cookie does.  Use it as the token of a form against forged requests (CSRF),
 * or in a list of sessions that were ended early.
 *
 * Suspends: no.
 * Owns: valid until the session is renewed or cleared.
 */
EDDY_API const char *eddy_http_session_id(const eddy_http_session *session);

/*
 * Begin a new session without values, with a new identifier and the full lifetime.  Call this at a
 * login, before the user's name is set, because another person may have planted the former cookie
 * and chosen its values (session fixation).  To keep values, such as a cart, read them before the
 * call and set them again afterwards.
 *
 * Suspends: no.
 * Errors: -EINVAL            'session' is NULL
 *         EDDY_E_HTTP_STATE  the response has begun
 *         -ENOMEM            the former session remains
 */
EDDY_API EDDY_MUST_USE int eddy_http_session_renew(eddy_http_session *session);

/*
 * Log out: empty the session, and remove the cookie from the browser.
 *
 * Suspends: no.
 * Errors: -EINVAL            'session' is NULL
 *         EDDY_E_HTTP_STATE  the response has begun
 */
EDDY_API EDDY_MUST_USE int eddy_http_session_clear(eddy_http_session *session);

EDDY_END_DECLS

#endif
