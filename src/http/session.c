/*
 * http/session.c - the session of a request: its values, and its cookie when the answer begins.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/http_forwarded.h"
#include "eddy/http_text.h"
#include "eddy/time.h"
#include "http/exchange.h"
#include "http/exchange_cookies.h"
#include "http/router.h"
#include "http/session_text.h"

#define PREFIX             "__Host-"
#define LIFETIME_DEFAULT_S ((int64_t) 7 * 24 * 3600)
#define LIFETIME_MAX_S     ((int64_t) 400 * 24 * 3600) /* of a cookie, in browsers */

enum {
        COOKIES_MAX = 32, /* of the name, that a request has verified: each costs an HMAC a key */
        CLOCKS_DIFFER_S = 300, /* at most, between servers with the same key */
};

/* A cookie's name and its keys. */
struct kind {
        char name[sizeof(PREFIX) + EDDY_HTTP_SESSION_NAME_MAX];
        struct ed_session_keys keys;
};

/* Shared by all requests. */
struct sessions {
        int64_t lifetime_s;
        int64_t idle_s; /* 0: none */
        bool always_secure;
        struct kind plain, secure;
};

/* In the frame of the middleware. */
struct eddy_http_session {
        struct ed_http_before before;
        eddy_http_session *outer;
        eddy_http_exchange *exchange;
        const struct sessions *sessions;
        const struct kind *kind;
        struct ed_session_text text; /* 'data' owned, NULL: no memory yet; no bytes: empty */
        char id[EDDY_UUID_TEXT_BYTES];
        bool has_cookie;   /* the client has one of this name, valid or not */
        bool is_aged;      /* the cookie is valid, but is to be signed again */
        bool is_changed;   /* by the handler */
        bool is_asked_for; /* by the handler */
        bool varies;       /* "Vary: Cookie" was added */
        bool may_be_begun; /* the answer */
};

/* ---- time ------------------------------------------------------------------ */

static int64_t now_s(void)
{
        return eddy_time_of_day() / EDDY_SEC(1);
}

/* Returns when a session ends that began then and is used now. */
static int64_t end_of(const struct sessions *sessions, int64_t begun_s, int64_t at_s)
{
        int64_t end_s = begun_s + sessions->lifetime_s;

        return sessions->idle_s && at_s + sessions->idle_s < end_s ? at_s + sessions->idle_s
                                                                   : end_s;
}

/*
 * Returns true if the session has ended, also by a lifetime that is shorter than when it was signed. A
 * session that begins later than now was signed by a wrong clock: its end is wrong too.
 */
static bool is_over(const struct sessions *sessions, const struct ed_session_text *text,
                    int64_t at_s)
{
        const int64_t age_s = at_s - ed_session_text_begun(text);

        return at_s >= ed_session_text_ends(text) || age_s >= sessions->lifetime_s ||
               age_s < -CLOCKS_DIFFER_S;
}

/* ---- reading --------------------------------------------------------------- */

static void show_id(eddy_http_session *session)
{
        struct eddy_uuid id;

        ed_session_text_id(&session->text, &id);
        eddy_uuid_format(&id, session->id);
}

static int need_memory(eddy_http_session *session)
{
        if (!session->text.data)
                session->text.data = ed_alloc(ED_SESSION_ROOM);
        return session->text.data ? 0 : -ENOMEM;
}

/* Take what the cookie holds, if it is valid now. */
static void accept(eddy_http_session *session, int signer)
{
        const struct sessions *sessions = session->sessions;
        const int64_t at_s = now_s();
        int64_t ends_s, end_s;

        if (signer < 0 || is_over(sessions, &session->text, at_s)) {
                session->text.bytes = 0;
                return;
        }
        show_id(session);
        session->is_aged = signer > 0;
        ends_s = ed_session_text_ends(&session->text);
        end_s = end_of(sessions, ed_session_text_begun(&session->text), at_s);
        if (sessions->idle_s && ends_s - at_s <= sessions->idle_s / 2 && end_s > ends_s) {
                ed_session_text_set_end(&session->text, end_s);
                session->is_aged = true;
        }
}

/* A forged or expired cookie, of a longer path for example, does not hide a valid one. */
static int open_session(eddy_http_session *session)
{
        struct ed_http_cookie_place place = { 0 };
        const char *name = session->kind->name, *cookie;
        size_t bytes;

        for (int i = 0;
             i < COOKIES_MAX && session->text.bytes == 0 &&
             ed_http_exchange_cookie_next(session->exchange, name, &place, &cookie, &bytes) == 0;
             i++) {
                int err = need_memory(session);

                if (err < 0)
                        return err;
                session->has_cookie = true;
                accept(session,
                       ed_session_text_verify(cookie, bytes, &session->kind->keys, &session->text));
        }
        return 0;
}

/* ---- the cookie ------------------------------------------------------------ */

static int set_cookie(eddy_http_session *session, const char *value)
{
        struct eddy_http_set_cookie cookie = { .name = session->kind->name,
                                               .value = value,
                                               .flags = session->kind == &session->sessions->secure
                                                                ? 0
                                                                : EDDY_HTTP_SET_COOKIE_INSECURE };
        int err;

        if (value)
                cookie.max_age_s = ed_session_text_ends(&session->text) - now_s();
        if (cookie.max_age_s < 1)
                cookie.max_age_s = 1;
        err = eddy_http_exchange_set_cookie(session->exchange, &cookie);
        if (err == 0)
                err = eddy_http_exchange_add_header(session->exchange, "Cache-Control", "no-store");
        return err;
}

static int sign(eddy_http_session *session)
{
        char *value = ed_alloc(ED_SESSION_TEXT_MAX + 1);
        int err = -ENOMEM;

        if (value)
                err = ed_session_text_sign(&session->text, &session->kind->keys, value);
        if (err == 0)
                err = set_cookie(session, value);
        session->has_cookie |= err == 0;
        ed_free(value);
        return err;
}

/* The answer begins. */
static int save(struct ed_http_before *before)
{
        eddy_http_session *session = (eddy_http_session *) before;
        int err = 0;

        session->may_be_begun = true;
        if (session->is_asked_for && !session->varies) {
                err = eddy_http_exchange_add_header(session->exchange, "Vary", "Cookie");
                session->varies = err == 0;
        }
        if (err == 0 && session->is_asked_for && (session->is_changed || session->is_aged)) {
                if (session->text.bytes)
                        err = sign(session);
                else if (session->has_cookie)
                        err = set_cookie(session, NULL);
                if (err == 0)
                        session->is_changed = session->is_aged = false;
        }
        return err;
}

static int run(eddy_http_exchange *exchange, struct eddy_http_next *next, void *arg)
{
        const struct sessions *sessions = arg;
        bool is_secure = sessions->always_secure ||
                         strcmp(eddy_http_exchange_scheme(exchange), "https") == 0;
        eddy_http_session session = { .before = { exchange->before, save },
                                      .outer = exchange->session,
                                      .exchange = exchange,
                                      .sessions = sessions,
                                      .kind = is_secure ? &sessions->secure : &sessions->plain };
        int err, result = open_session(&session);

        if (result == 0) {
                exchange->before = &session.before;
                exchange->session = &session;
                result = eddy_http_next(exchange, next);
                exchange->before = session.before.outer;
                exchange->session = session.outer;
                err = result < 0 ? 0 : save(&session.before);
                if (err < 0 && err != EDDY_E_HTTP_STATE)
                        result = err;
        }
        ed_free(session.text.data);
        return result;
}

/* ---- the calls of handlers ------------------------------------------------- */

eddy_http_session *eddy_http_exchange_session(eddy_http_exchange *exchange)
{
        if (exchange->session)
                exchange->session->is_asked_for = true;
        return exchange->session;
}

const char *eddy_http_session_get(const eddy_http_session *session, const char *name)
{
        return session && name && session->text.bytes ? ed_session_text_get(&session->text, name)
                                                      : NULL;
}

const char *eddy_http_session_id(const eddy_http_session *session)
{
        return session ? session->id : "";
}

/* Returns 0 if the session may be changed. */
static int check_change(const eddy_http_session *session)
{
        struct eddy_http_exchange_info info;

        if (!session)
                return -EINVAL;
        if (!session->may_be_begun)
                return 0;
        eddy_http_exchange_info(session->exchange, &info);
        return info.status ? EDDY_E_HTTP_STATE : 0;
}

static int begin(eddy_http_session *session)
{
        const int64_t at_s = now_s();
        struct eddy_uuid id;
        int err = need_memory(session);

        if (err < 0)
                return err;
        eddy_uuid_v4(&id);
        ed_session_text_begin(&session->text, &id, at_s, end_of(session->sessions, at_s, at_s));
        show_id(session);
        return 0;
}

static void empty(eddy_http_session *session)
{
        session->text.bytes = 0;
        session->id[0] = '\0';
}

int eddy_http_session_renew(eddy_http_session *session)
{
        int err = check_change(session);

        if (err == 0)
                err = begin(session);
        if (err == 0)
                session->is_changed = true;
        return err;
}

int eddy_http_session_clear(eddy_http_session *session)
{
        int err = check_change(session);

        if (err == 0) {
                empty(session);
                session->is_changed = true;
        }
        return err;
}

int eddy_http_session_set(eddy_http_session *session, const char *name, const char *value)
{
        int err = check_change(session);
        bool was_empty;

        if (err < 0)
                return err;
        if (!name)
                return -EINVAL;
        was_empty = session->text.bytes == 0;
        if (was_empty && !value)
                return 0;
        if (was_empty)
                err = begin(session);
        if (err == 0)
                err = ed_session_text_set(&session->text, name, value);
        if (err < 0) {
                if (was_empty)
                        empty(session);
                return err;
        }
        session->is_changed |= err > 0;
        return 0;
}

int eddy_http_session_read(const eddy_http_session *session, const char *name,
                           const struct eddy_fields *fields, void *out)
{
        const char *text = eddy_http_session_get(session, name);

        return text ? eddy_json_read(fields, text, strlen(text), out, NULL) : -ENOENT;
}

int eddy_http_session_write(eddy_http_session *session, const char *name,
                            const struct eddy_fields *fields, const void *in)
{
        size_t bytes;
        char *text;
        int err = check_change(session);

        if (err == 0)
                err = eddy_json_write(fields, in, &text, &bytes, NULL);
        if (err < 0)
                return err;
        err = eddy_http_session_set(session, name, text);
        eddy_free(text);
        return err;
}

/* ---- building -------------------------------------------------------------- */

/* Returns the reason why the options are not valid, or NULL. */
static const char *fault_of(const struct eddy_http_session_opts *opts)
{
        const char *name = opts->name ? opts->name : "session";

        if (!eddy_http_is_token(name, strlen(name)) || strlen(name) > EDDY_HTTP_SESSION_NAME_MAX ||
            strncasecmp(name, "__", 2) == 0)
                return "the option 'name' of eddy_http_use_session() is not a name of a cookie "
                       "with "
                       "1 to 64 letters, digits, '-', '_' and '.', or begins with \"__\"";
        if (!opts->key || opts->key_bytes < EDDY_HTTP_SESSION_KEY_MIN ||
            opts->key_bytes > INT32_MAX)
                return "the option 'key' of eddy_http_use_session() has less than 32 bytes: use 32 "
                       "random bytes";
        if ((opts->old_key || opts->old_key_bytes) &&
            (!opts->old_key || opts->old_key_bytes < EDDY_HTTP_SESSION_KEY_MIN ||
             opts->old_key_bytes > INT32_MAX))
                return "the option 'old_key' of eddy_http_use_session() has less than 32 bytes: "
                       "use "
                       "the former key";
        if (opts->lifetime_ns &&
            (opts->lifetime_ns < EDDY_SEC(1) || opts->lifetime_ns > LIFETIME_MAX_S * EDDY_SEC(1)))
                return "the option 'lifetime_ns' of eddy_http_use_session() is not 1 s to 400 days";
        if (opts->idle_ns &&
            (opts->idle_ns < EDDY_SEC(2) || opts->idle_ns > LIFETIME_MAX_S * EDDY_SEC(1)))
                return "the option 'idle_ns' of eddy_http_use_session() is not 2 s to 400 days";
        return NULL;
}

static int fill_kind(struct kind *kind, const char *prefix,
                     const struct eddy_http_session_opts *opts)
{
        int err;

        snprintf(kind->name, sizeof(kind->name), "%s%s", prefix,
                 opts->name ? opts->name : "session");
        err = ed_session_keys_add(&kind->keys, kind->name, opts->key, opts->key_bytes);
        if (err == 0 && opts->old_key)
                err = ed_session_keys_add(&kind->keys, kind->name, opts->old_key,
                                          opts->old_key_bytes);
        return err;
}

static void sessions_free(void *arg)
{
        explicit_bzero(arg, sizeof(struct sessions));
        ed_free(arg);
}

static struct sessions *sessions_new(const struct eddy_http_session_opts *opts)
{
        struct sessions *sessions = ed_alloc_zero(sizeof(*sessions));

        if (!sessions)
                return NULL;
        sessions->lifetime_s =
                opts->lifetime_ns ? opts->lifetime_ns / EDDY_SEC(1) : LIFETIME_DEFAULT_S;
        sessions->idle_s = opts->idle_ns / EDDY_SEC(1);
        sessions->always_secure = opts->flags & EDDY_HTTP_SESSION_SECURE;
        if (fill_kind(&sessions->plain, "", opts) < 0 ||
            fill_kind(&sessions->secure, PREFIX, opts) < 0) {
                sessions_free(sessions);
                return NULL;
        }
        return sessions;
}

int eddy_http_use_session(eddy_http_router *router, const struct eddy_http_session_opts *opts)
{
        static const struct eddy_http_session_opts none;
        const char *fault = fault_of(opts ? opts : &none);

        if (fault)
                return ed_http_router_failed(router, -EINVAL, fault);
        return ed_http_router_use_own(router, run, sessions_new(opts), sessions_free);
}
