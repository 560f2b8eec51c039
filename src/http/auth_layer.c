/*
 * http/auth_layer.c - see auth_layer.h.
 */
#include "http/auth_layer.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/base64.h"
#include "eddy/error.h"
#include "eddy/http_response.h"
#include "eddy/time.h"
#include "http/auth.h"
#include "http/call.h"
#include "http/fault.h"
#include "http/key.h"
#include "http/origin.h"
#include "http/userinfo.h"
#include "wire/netrc.h"

enum { STATUS_UNAUTHORIZED = 401 };

/* A request that is sent with credentials. */
struct sending {
        struct ed_http_call *call;
        eddy_http_auth *auth;
        struct ed_url url;
        const char *user; /* of Digest */
        const char *password;
};

static int set_value(struct sending *sending, const char *value)
{
        sending->call->auth_is_set = true;
        return ed_http_call_set_header(sending->call, "Authorization", value);
}

/*
 * Returns true if the response is a 401, and the request can be repeated. The response is then dropped,
 * which suspends. Below 0: the source of the body failed to begin again.
 */
static int may_repeat(struct ed_http_call *call)
{
        const struct eddy_http_body_source *source = call->request.body_source;

        if (source && !source->rewind &&
            (call->source_read || call->response->ops->took_source(call->response)))
                return 0;
        ed_http_call_drop(call);
        if (ed_http_call_rewind(call))
                return 1;
        ed_http_fault_note(call->request.ret_fault,
                           "401, and 'rewind' of the request's body failed");
        return EDDY_E_HTTP_INVALID_REQUEST;
}

static bool is_refused(const struct ed_http_call *call)
{
        return eddy_http_response_status(call->response) == STATUS_UNAUTHORIZED;
}

/* ---- Bearer ---------------------------------------------------------------- */

static int renew(struct sending *sending, uint64_t generation)
{
        int err = ed_auth_renew(sending->auth, generation);

        if (err == EDDY_E_HTTP_STATE)
                ed_http_fault_note(sending->call->request.ret_fault,
                                   "'refresh' returned 0 without eddy_http_auth_set_token()");
        if (err == -EDEADLK)
                ed_http_fault_note(sending->call->request.ret_fault,
                                   "a request within 'refresh' needs EDDY_HTTP_NO_AUTH");
        /* Without this, an error of the token's server would look like an error of the request. */
        else if (err < 0 && err != EDDY_E_HTTP_STATE && err != -ECANCELED && err != -ENOMEM)
                ed_http_fault_note(sending->call->request.ret_fault, "auth: 'refresh' returned: %s",
                                   eddy_error_text(err));
        return err;
}

static int send_token(struct sending *sending)
{
        eddy_http_auth *auth = sending->auth;
        uint64_t generation;
        int err = 0;

        if (auth->refresh && (!auth->value || eddy_now() >= auth->expires_ns))
                err = renew(sending, auth->generation);
        if (err >= 0)
                err = set_value(sending, auth->value);
        if (err < 0)
                return err;
        generation = auth->generation;
        err = ed_http_call_retry(sending->call);
        if (err < 0 || !auth->refresh || !is_refused(sending->call))
                return err;
        err = may_repeat(sending->call);
        if (err <= 0)
                return err;
        /* Another request may have renewed the token since. */
        if (auth->generation == generation)
                err = renew(sending, generation);
        if (err >= 0)
                err = set_value(sending, auth->value);
        return err < 0 ? err : ed_http_call_retry(sending->call);
}

/* ---- Digest ---------------------------------------------------------------- */

/* Set the header by the session of the origin, if there is one. */
static int answer(struct sending *sending)
{
        struct ed_auth_session *session = ed_auth_session_find(sending->auth, &sending->url);
        size_t bytes = sending->url.slash_first + sending->url.target_bytes;
        struct ed_digest_use use = {
                .user = sending->user,
                .password = sending->password,
                .method = ed_http_request_method(&sending->call->request),
                .target_bytes = bytes,
        };
        struct ed_buf value;
        char *target;
        int err;

        if (!session || session->count == UINT32_MAX)
                return 0;
        target = ed_http_call_keep(sending->call, bytes + 1);
        if (!target)
                return -ENOMEM;
        target[0] = '/';
        memcpy(target + sending->url.slash_first, sending->url.target, sending->url.target_bytes);
        use.target = target;
        use.cnonce = session->cnonce;
        use.count = ++session->count;
        ed_buf_init(&value, ED_DIGEST_HEADER_MAX);
        err = ed_digest_write(&session->digest, &use, &value);
        if (err >= 0)
                err = ed_buf_append(&value, "", 1);
        if (err >= 0)
                err = set_value(sending, ed_buf_data(&value));
        ed_buf_fini(&value);
        return err;
}

/* Find the first challenge of the response that is supported, in any of its headers. */
static bool read_challenge(struct sending *sending, struct ed_digest *ret_digest)
{
        const eddy_http_response *response = sending->call->response;
        struct eddy_http_header header;

        for (size_t i = 0; eddy_http_response_header_at(response, i, &header) == 0; i++) {
                struct ed_auth_text text = { header.value, header.value + strlen(header.value) };
                struct ed_challenge challenge;

                if (strcasecmp(header.name, "WWW-Authenticate") != 0)
                        continue;
                while (ed_challenge_next(&text, &challenge) > 0)
                        if (ed_digest_read(&challenge, sending->auth->flags & EDDY_HTTP_AUTH_MD5,
                                           ret_digest))
                                return true;
        }
        return false;
}

/* Take the nonce that the server wants next. With "-sess" the secret is bound to the first one. */
static void note_next(struct sending *sending)
{
        const char *info =
                eddy_http_response_header(sending->call->response, "Authentication-Info");
        struct ed_auth_session *session;
        char nonce[ED_DIGEST_TEXT_ROOM];

        if (!info || !ed_digest_read_next(info, strlen(info), nonce))
                return;
        session = ed_auth_session_find(sending->auth, &sending->url);
        if (session && !session->digest.is_session)
                ed_auth_session_next(session, nonce);
}

/*
 * Take the challenge of a 401. Returns 1 if the request can be repeated with it. 'is_answer': the
 * request already answered a challenge of this call.
 */
static int take_challenge(struct sending *sending, bool is_answer)
{
        struct ed_digest *digest = ed_alloc(sizeof(*digest));
        int err = 0;

        if (!digest)
                err = -ENOMEM;
        else if (!read_challenge(sending, digest) || (is_answer && !digest->is_stale))
                ed_auth_session_drop(sending->auth, &sending->url);
        else
                err = ed_auth_session_set(sending->auth, &sending->url, digest);
        if (err >= 0 && ed_auth_session_find(sending->auth, &sending->url))
                err = may_repeat(sending->call);
        else if (err < 0)
                ed_http_call_drop(sending->call);
        ed_free(digest);
        return err;
}

static int send_digest(struct sending *sending)
{
        int err;

        /* Without credentials, or with those for a nonce that is too old; for a challenge; and once
         * more if the nonce was too old already. */
        for (int i = 0;; i++) {
                err = answer(sending);
                if (err >= 0)
                        err = ed_http_call_retry(sending->call);
                if (err < 0)
                        return err;
                if (!is_refused(sending->call)) {
                        note_next(sending);
                        return 0;
                }
                if (i == 2)
                        return 0;
                err = take_challenge(sending, i > 0);
                if (err <= 0)
                        return err;
        }
}

/* ---- the layer ------------------------------------------------------------- */

/* Send as Basic the credentials of a netrc file. */
static int send_basic(struct sending *sending)
{
        size_t user = strlen(sending->user), password = strlen(sending->password);
        size_t bytes = user + 1 + password;
        char *plain = ed_http_call_keep(sending->call, bytes);
        char *value = ed_http_call_keep(sending->call,
                                        ED_HTTP_BASIC_BYTES + EDDY_BASE64_BYTES(bytes) + 1);
        int err;

        if (!plain || !value)
                return -ENOMEM;
        if (strchr(sending->user, ':'))
                return EDDY_E_HTTP_NETRC;
        memcpy(plain, sending->user, user);
        plain[user] = ':';
        memcpy(plain + user + 1, sending->password, password);
        value[ed_http_basic_write(plain, bytes, value)] = '\0';
        err = set_value(sending, value);
        return err < 0 ? err : ed_http_call_retry(sending->call);
}

static int send_netrc(struct sending *sending)
{
        struct ed_netrc_entry *entry = (void *) ed_http_call_keep(sending->call, sizeof(*entry));
        int found;

        if (!entry)
                return -ENOMEM;
        found = ed_netrc_find(sending->auth->netrc, sending->auth->netrc_bytes, sending->url.host,
                              entry);
        if (found <= 0)
                return found < 0 ? found : ed_http_call_retry(sending->call);
        sending->user = entry->login;
        sending->password = entry->password;
        return sending->auth->flags & EDDY_HTTP_AUTH_DIGEST ? send_digest(sending)
                                                            : send_basic(sending);
}

static int send_with(struct sending *sending)
{
        eddy_http_auth *auth = sending->auth;
        int err;

        if (auth->has_token)
                return send_token(sending);
        if (auth->netrc)
                return send_netrc(sending);
        if (auth->flags & EDDY_HTTP_AUTH_DIGEST) {
                sending->user = auth->user;
                sending->password = auth->password;
                return send_digest(sending);
        }
        err = set_value(sending, auth->value);
        return err < 0 ? err : ed_http_call_retry(sending->call);
}

/*
 * Returns true if the credentials may be sent. A redirect to another origin ends that for the rest of
 * the call, also for a later redirect back.
 */
static bool may_send(const struct ed_http_call *call, const struct ed_url *url, bool is_first)
{
        struct ed_http_key key, first_key;
        struct ed_url first;

        if (is_first)
                return !call->auth_is_client || (call->at_base && !url->has_userinfo);
        if (ed_http_url_read(call->auth_url, &first) < 0)
                return false;
        key = ed_http_key_of(url, NULL);
        first_key = ed_http_key_of(&first, NULL);
        return ed_http_key_equal(&key, &first_key);
}

int ed_http_auth_send(struct ed_http_call *call)
{
        struct sending sending = { .call = call, .auth = call->request.auth };
        bool is_first = !call->auth_url;
        int err;

        /* Also of a request with a header of its own: a redirect may take the header away. */
        if (is_first)
                call->auth_url = call->request.url;
        if (ed_http_call_names(call, "Authorization") && !call->auth_is_set)
                return ed_http_call_retry(call);
        err = ed_http_url_read(call->request.url, &sending.url);
        if (err < 0)
                return err;
        if (!may_send(call, &sending.url, is_first)) {
                call->request.auth = NULL;
                return ed_http_call_retry(call);
        }
        ed_auth_ref(sending.auth);
        err = send_with(&sending);
        ed_auth_unref(sending.auth);
        return err;
}
