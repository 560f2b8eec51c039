/*
 * http/call.h - one call of eddy_http_client_send(), which passes through layers.
 *
 * Each layer is a function of one file, and calls the next layer, directly or several times:
 *
 *     client_send.c    the total time, and the judgement of the status
 *     redirect.c       redirects
 *     auth_layer.c     credentials, and the answer to a challenge
 *     retry_layer.c    other attempts after failures that may pass
 *     limit_layer.c    the rate limit and the breaker
 *     cookie_layer.c   the jar's cookies, of each attempt
 *     send_once.c      one attempt on a connection
 *
 * A layer whose option is not set is left out by the inline functions below, which cost one test
 * each. Every layer returns 0 with 'response' set, whose head has arrived, or an error with
 * 'response' NULL. -ECANCELED is passed on at once. All layers run in the scope of the total time.
 *
 * A layer may change 'request' before it calls the next one. To repeat a request, a layer drops the
 * response (ed_http_call_drop()), and rewinds the body (ed_http_call_rewind()).
 */
#ifndef ED_HTTP_CALL_H
#define ED_HTTP_CALL_H

#include <stdbool.h>

#include "http/auth_layer.h"
#include "http/client.h"
#include "http/cookie_layer.h"
#include "http/limit_layer.h"
#include "http/redirect.h"
#include "http/retry_layer.h"

enum {
        ED_HTTP_REQUEST_FLAGS = EDDY_HTTP_STATUS_IS_ERROR | EDDY_HTTP_ANY_STATUS |
                                EDDY_HTTP_NO_RETRY | EDDY_HTTP_NO_LIMIT | EDDY_HTTP_NO_COOKIES |
                                EDDY_HTTP_REDIRECT_TO_HTTP | EDDY_HTTP_REDIRECT_SAME_METHOD |
                                EDDY_HTTP_NO_AUTH,
};

struct ed_http_call {
        eddy_http_client *client; /* holds a reference */
        /* The effective request: a copy, with the client's options and headers merged in. */
        struct eddy_http_request request;
        eddy_http_response *response; /* of the last attempt; owned; NULL: none */
        int64_t began_ns;
        int64_t deadline_ns; /* end of the total time; 0: none */
        uint32_t sent;       /* attempts that were begun */
        uint32_t hooked;     /* attempts that hooks have seen */
        bool was_sent;       /* the last attempt sent a byte, or tried to */
        bool was_reached;    /* ... waited for the service, not for a connection of the pool */
        bool source_read;    /* an attempt has read 'request.body_source' since the last rewind */
        bool at_base;        /* the URL has the origin of the client's base URL, or there is none */

        /* For auth_layer.c. */
        const char *auth_url; /* the URL whose origin gets the credentials; NULL: not known yet */
        bool auth_is_client;  /* 'request.auth' is the client's option */
        bool auth_is_set;     /* the layer has set the header Authorization */

        /* Private. */
        struct ed_http_kept *kept;        /* texts that live until the call ends */
        struct eddy_http_header *headers; /* owned; NULL: those of 'request' are the caller's */
        size_t headers_room;
        struct eddy_http_body_source source; /* of a body that the client makes itself */
        void (*body_free)(void *arg);        /* of the body's memory; NULL: none */
        void *body_arg;
};

/*
 * Begin a call, in which only 'client' and 'request' are set: make 'request', a copy of the caller's,
 * the effective one. end() is due after an error too.
 *
 * Errors: EDDY_E_URL_*, EDDY_E_HTTP_INVALID_REQUEST, EDDY_E_FIELD_*, EDDY_E_JSON_*, -EMSGSIZE,
 *         -EINVAL, -ENOMEM
 */
EDDY_MUST_USE int ed_http_call_begin(struct ed_http_call *call);

/* End a call. The response, if there is one, is the caller's; it keeps what it still needs. */
void ed_http_call_end(struct ed_http_call *call);

/* Returns memory that is wiped and freed when the call ends, or NULL if there is none. */
EDDY_MUST_USE char *ed_http_call_keep(struct ed_http_call *call, size_t bytes);

/*
 * Replace the URL by a copy of 'text', which must be absolute.
 *
 * Errors: EDDY_E_URL_*, -ENOMEM
 */
EDDY_MUST_USE int ed_http_call_set_url(struct ed_http_call *call, const char *text, size_t bytes);

/*
 * Replace all headers of this name by one, whose texts are copied; value NULL: only remove them. An
 * attempt checks them.
 *
 * Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_http_call_set_header(struct ed_http_call *call, const char *name,
                                          const char *value);

/* Returns the value of the first header of this name in the request; NULL: there is none. */
const char *ed_http_call_header(const struct ed_http_call *call, const char *name);

/* Returns true if the caller or the client has set the header, or removed it with the value NULL. */
bool ed_http_call_names(const struct ed_http_call *call, const char *name);

/*
 * End the exchange of 'response', if there is one. A short rest of the body is read, so that the
 * connection can be kept: at most 64 KiB, in at most a second. In a cancelled task nothing is read.
 *
 * Suspends: yes.
 */
void ed_http_call_drop(struct ed_http_call *call);

/*
 * Prepare the body for another attempt, directly before it. Returns false if the body was read and
 * cannot be read again.
 */
EDDY_MUST_USE bool ed_http_call_rewind(struct ed_http_call *call);

/*
 * Prepare the body that is a form with files ('request.multipart'): look up the sizes of its files.
 * note_form() stores in the caller's fault which part an attempt could not read, if this was so.
 *
 * Suspends: yes.
 * Errors: those of eddy_http_multipart_open()
 */
EDDY_MUST_USE int ed_http_call_start_form(struct ed_http_call *call);
void ed_http_call_note_form(struct ed_http_call *call);

/*
 * Add a Content-Type, unless the caller or the client names this header. Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_http_call_set_type(struct ed_http_call *call, const char *type);

/* Remove the body. Headers that describe it are the layer's to remove. */
void ed_http_call_drop_body(struct ed_http_call *call);

/* ---- the layers, from the innermost -------------------------------------------- */

/* Make one attempt, and a second one if the connection was stale.  Suspends. */
EDDY_MUST_USE int ed_http_send_once(struct ed_http_call *call);

static inline int ed_http_call_cookies(struct ed_http_call *call)
{
        return call->request.cookies ? ed_http_cookies_send(call) : ed_http_send_once(call);
}

static inline int ed_http_call_limit(struct ed_http_call *call)
{
        return call->request.limiter || call->request.breaker ? ed_http_limit_send(call)
                                                              : ed_http_call_cookies(call);
}

static inline int ed_http_call_retry(struct ed_http_call *call)
{
        return call->request.retry ? ed_http_retry_send(call) : ed_http_call_limit(call);
}

static inline int ed_http_call_authorize(struct ed_http_call *call)
{
        return ed_unlikely(call->request.auth != NULL) ? ed_http_auth_send(call)
                                                       : ed_http_call_retry(call);
}

static inline int ed_http_call_follow(struct ed_http_call *call)
{
        return call->request.redirects_max > 0 ? ed_http_redirect_send(call)
                                               : ed_http_call_authorize(call);
}

#endif
