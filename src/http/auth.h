/*
 * http/auth.h - credentials: internals of eddy/http_auth.h.
 */
#ifndef ED_HTTP_AUTH_H
#define ED_HTTP_AUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "eddy/event.h"
#include "eddy/http_auth.h"
#include "eddy/scope.h"
#include "http/digest.h"
#include "wire/url.h"

enum {
        ED_AUTH_TEXT_MAX = 4096,   /* bytes of a user and of a password */
        ED_AUTH_TOKEN_MAX = 16384, /* bytes */
        ED_AUTH_SESSIONS_MAX = 16, /* origins whose challenges are kept */
};

/* The challenge of an origin that was answered last. */
struct ed_auth_session {
        struct ed_list link;
        struct ed_digest digest;
        char cnonce[ED_DIGEST_CNONCE_ROOM];
        uint32_t count; /* requests with the nonce */
        bool is_https;
        uint16_t port;
        char host[ED_URL_HOST_MAX + 1];
};

/* Lives until its owner, the clients, and the calls that use it have released it. */
struct eddy_http_auth {
        uint32_t refs;
        unsigned flags;
        char *user;     /* owned; NULL: none */
        char *password; /* owned */
        char *value;    /* owned: of Authorization, for Basic and Bearer; NULL: none yet */
        char *netrc;    /* owned; NULL: none */
        size_t netrc_bytes;

        /* Tokens. */
        bool has_token; /* 'token' or 'refresh' was set */
        bool is_refreshing;
        bool is_freed;       /* by its owner: no more calls of 'refresh' */
        bool is_begun;       /* 'scope' is open */
        int refresh_err;     /* of the last call of 'refresh' */
        uint64_t generation; /* tokens that were set */
        int64_t expires_ns;  /* of the token; INT64_MAX: never */
        int (*refresh)(eddy_http_auth *auth, void *arg);
        void *arg;
        eddy_event refreshed; /* no call of 'refresh' is in progress */
        eddy_scope scope;     /* around the call of 'refresh' */

        /* Digest. */
        struct ed_list sessions; /* the latest first */
        uint32_t sessions_count;
};

static inline eddy_http_auth *ed_auth_ref(eddy_http_auth *auth)
{
        auth->refs++;
        return auth;
}

void ed_auth_unref(eddy_http_auth *auth);

/*
 * Wait until the token is another one than that of 'generation', which a call of 'refresh' gets.
 * Suspends.
 *
 * Errors: those of 'refresh'
 *         EDDY_E_HTTP_STATE          'refresh' set no token
 *         EDDY_E_HTTP_CLIENT_CLOSED  the owner frees the credentials, or the run ends
 *         -EDEADLK                   the call is within 'refresh'
 *         -ECANCELED, -ENOMEM
 */
EDDY_MUST_USE int ed_auth_renew(eddy_http_auth *auth, uint64_t generation);

/* Returns the session of the URL's origin, or NULL. Valid until the next suspension. */
struct ed_auth_session *ed_auth_session_find(eddy_http_auth *auth, const struct ed_url *url);

/* Keep a challenge, in place of an earlier one of the origin. Errors: -ENOMEM */
EDDY_MUST_USE int ed_auth_session_set(eddy_http_auth *auth, const struct ed_url *url,
                                      const struct ed_digest *digest);

/* Forget the session of the URL's origin, if there is one. */
void ed_auth_session_drop(eddy_http_auth *auth, const struct ed_url *url);

/* Take another nonce for the session, and count from 0. */
void ed_auth_session_next(struct ed_auth_session *session, const char *nonce);

#endif
