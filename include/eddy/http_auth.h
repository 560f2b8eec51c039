/*
 * eddy/http_auth.h - the credentials of requests: Basic, Bearer, Digest, tokens that are refreshed,
 * and netrc files.
 *
 *     EDDY_AUTO(eddy_http_auth) eddy_http_auth *auth = NULL;
 *     int err = eddy_http_auth_new(
 *             &(struct eddy_http_auth_opts){ .user = "kim", .password = password }, &auth);
 *
 *     if (err < 0)
 *             return err;
 *     err = eddy_http_client_new(&(struct eddy_http_client_opts){ .auth = auth }, &client);
 *
 * A request uses the first of: a header Authorization of the caller or of the client's options; the
 * request's option 'auth'; the user in its URL (Basic); the client's option 'auth'.  The
 * flag EDDY_HTTP_NO_AUTH of a request turns both options off.
 *
 * Credentials go to the origin (scheme, host and port) of the request's URL only.  After a redirect
 * to another origin no credentials are sent, also not those that a netrc file has for it.  If the
 * client has a base URL, its option 'auth' is used only for that URL's origin.
 *
 * Further errors of a request with credentials:
 *     those of 'refresh'           the text of 'ret_fault' then begins with "auth: 'refresh' returned"
 *     EDDY_E_HTTP_STATE            'refresh' returned 0 and set no token
 *     EDDY_E_HTTP_CLIENT_CLOSED    the credentials were freed during 'refresh'
 *     EDDY_E_HTTP_NETRC            the user of a netrc file contains a colon, and Digest is not set
 *     EDDY_E_HTTP_INVALID_REQUEST  'rewind' of the body failed after a 401
 *     -EDEADLK                     the request is within 'refresh', and needs EDDY_HTTP_NO_AUTH
 *
 * The header Authorization is readable by anyone on the way unless the URL is https; this is also
 * true of Digest's answers, from which a weak password can be guessed.  Secrets are wiped from memory
 * when they are freed, and are in no error's text.
 */
#ifndef EDDY_HTTP_AUTH_H
#define EDDY_HTTP_AUTH_H

#include <stddef.h>

#include "eddy/def.h"

EDDY_BEGIN_DECLS

typedef struct eddy_http_auth eddy_http_auth;
struct eddy_http_fault; /* eddy/http_request.h */

enum {
        /*
         * Digest (RFC 7616) for 'user' or 'netrc_path', in place of Basic.  The first request to an
         * origin is sent without credentials, and after the server's challenge (401) repeated with
         * them; later requests have them at once.  The first challenge that is supported is
         * answered: SHA-256 or SHA-512-256, also "-sess"; qop "auth".  A repetition needs a body
         * that can be sent again; otherwise, or if no challenge is supported, the 401 is the
         * response.
         */
        EDDY_HTTP_AUTH_DIGEST = 1 << 0,
        /* Digest also with MD5, and without qop (RFC 2069): for old servers only. */
        EDDY_HTTP_AUTH_MD5 = 1 << 1,
};

/* 'user', 'token' or 'refresh', or 'netrc_path' is set.  All texts are copied. */
struct eddy_http_auth_opts {
        const char *user EDDY_UNSET;
        const char *password EDDY_UNSET; /* NULL: "" */
        const char *token EDDY_UNSET;    /* Bearer (RFC 6750) */
        /*
         * Gets a token and passes it to eddy_http_auth_set_token(); returns 0 or an error.  Called
         * before a request if there is no token or its lifetime is over, and once after a 401 to a
         * request with the newest token; that request is then repeated.  Runs in a task of its own,
         * one at a time; requests wait for it.  Cancelling a request, also the first one, does not
         * cancel it.  An error is the result of the requests that wait; a later request tries again.
         * May suspend; has no time limit of its own.  Requests of 'refresh' need the flag
         * EDDY_HTTP_NO_AUTH if they have this auth.
         */
        int (*refresh)(eddy_http_auth *auth, void *arg) EDDY_UNSET;
        void *arg EDDY_UNSET; /* of 'refresh'; borrowed until eddy_http_auth_free() returns */
        /*
         * A file in the format of ~/.netrc, at most 128 KiB, which is read once.  A host has the
         * user and password of its first entry "machine", compared without regard to case, or of
         * "default".  Words have at most 1,024 bytes; comments, words in quotes and "macdef" are as
         * in curl.  The file's permissions are not checked.  A host without an entry gets no
         * credentials.
         */
        const char *netrc_path EDDY_UNSET;
        size_t *ret_netrc_line EDDY_UNSET; /* after EDDY_E_HTTP_NETRC; NULL: not wanted */
        unsigned flags EDDY_UNSET;         /* EDDY_HTTP_AUTH_* */
        /* The text names the option that is refused, or the file and its line; never a value.  NULL:
         * not wanted. */
        struct eddy_http_fault *ret_fault EDDY_UNSET;
        uintptr_t reserved[3] EDDY_UNSET; /* zero */
};

/*
 * Make credentials.  Any number of clients and requests of one loop may use them.
 *
 * Suspends: yes if 'netrc_path' is set; else no.
 * Errors: -EINVAL  'opts' or 'ret_auth' is NULL; no or two kinds of credentials are set, or flags
 *                  that do not fit them; the user contains a colon (not with Digest), a text
 *                  contains a control character, or is longer than 4,096 bytes; 'token' is not valid
 *         EDDY_E_HTTP_NETRC  the file does not follow its format
 *         those of eddy_file_read_whole() for 'netrc_path'
 *         -ENOMEM
 * Owns: returns (owned) '*ret_auth', to be freed by eddy_http_auth_free().
 */
EDDY_API EDDY_MUST_USE int eddy_http_auth_new(const struct eddy_http_auth_opts *opts,
                                              eddy_http_auth **ret_auth);

/*
 * Set the token.  'lifetime_ns' is the time in which it is valid, from now on, in nanoseconds, as in
 * "expires_in" of an answer of OAuth; 0: until the server refuses it.  Requests that are in progress
 * keep the former token.
 *
 * Suspends: no.
 * Errors: -EINVAL  'auth' or 'token' is NULL, or 'auth' has neither 'token' nor 'refresh'; the token
 *                  is empty, has more than 16,384 bytes, or characters other than letters, digits
 *                  and "-._~+/=" (RFC 6750, 2.1); the time is negative
 *         -ENOMEM
 */
EDDY_API EDDY_MUST_USE int eddy_http_auth_set_token(eddy_http_auth *auth, const char *token,
                                                    int64_t lifetime_ns);

/*
 * Free credentials, after the requests that have them as an option have ended.  Clients keep a
 * reference.  A call of 'refresh' is cancelled, and 'refresh' is not called any more; requests that
 * wait for it fail with EDDY_E_HTTP_CLIENT_CLOSED.  Works in a cancelled task.  NULL is ignored.
 *
 * Suspends: only until a call of 'refresh', which is cancelled, has returned; not within that call.
 */
EDDY_API void eddy_http_auth_free(eddy_http_auth *auth);

static inline void eddy_http_auth_auto_release(eddy_http_auth **auth)
{
        eddy_http_auth_free(*auth);
}

EDDY_END_DECLS

#endif
