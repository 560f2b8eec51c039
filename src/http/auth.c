/*
 * http/auth.c - credentials: made, refreshed, and freed.
 */
#include "http/auth.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/base64.h"
#include "eddy/error.h"
#include "eddy/file_whole.h"
#include "eddy/http_text.h"
#include "eddy/time.h"
#include "http/client.h"
#include "http/fault.h"
#include "http/userinfo.h"
#include "scope/run.h"
#include "scope/scope.h"
#include "wire/netrc.h"

static void wipe(char *text)
{
        if (text)
                ed_http_userinfo_free(text, strlen(text));
}

void ed_auth_unref(eddy_http_auth *auth)
{
        if (--auth->refs > 0)
                return;
        wipe(auth->user);
        wipe(auth->password);
        wipe(auth->value);
        if (auth->netrc)
                ed_http_userinfo_free(auth->netrc, auth->netrc_bytes);
        while (!ed_list_is_empty(&auth->sessions)) {
                struct ed_list *first = auth->sessions.next;

                ed_list_remove(first);
                ed_free(ed_container_of(first, struct ed_auth_session, link));
        }
        ed_free(auth);
}

/* ---- making ---------------------------------------------------------------- */

/* Returns true if a text may be sent as a user or a password. */
static bool is_text(const char *text)
{
        size_t bytes = strlen(text);

        return bytes <= ED_AUTH_TEXT_MAX && eddy_http_is_value(text, bytes) && !strchr(text, '\t');
}

static bool is_token(const char *token)
{
        size_t bytes = strlen(token);

        if (bytes == 0 || bytes > ED_AUTH_TOKEN_MAX)
                return false;
        return strspn(token,
                      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=") ==
               bytes;
}

/* Returns why an option is refused, without its value; NULL: none is. */
static const char *bad_option(const struct eddy_http_auth_opts *opts)
{
        bool is_digest = opts->flags & EDDY_HTTP_AUTH_DIGEST;
        bool has_token = opts->token || opts->refresh;
        int kinds = (opts->user != NULL) + has_token + (opts->netrc_path != NULL);

        if (kinds != 1)
                return kinds == 0 ? "user, token, refresh, netrc_path: none is set"
                                  : "user, token, refresh, netrc_path: two kinds are set";
        if (opts->flags & ~(unsigned) (EDDY_HTTP_AUTH_DIGEST | EDDY_HTTP_AUTH_MD5))
                return "flags: a flag is unknown";
        if (opts->flags && !is_digest)
                return "flags: EDDY_HTTP_AUTH_MD5 belongs to EDDY_HTTP_AUTH_DIGEST";
        if (is_digest && has_token)
                return "flags: EDDY_HTTP_AUTH_DIGEST needs a user and a password, not a token";
        if (opts->password && !opts->user)
                return "password: it needs a user";
        if (opts->user && !is_text(opts->user))
                return "user: it has a control character, or more than 4,096 bytes";
        if (opts->user && !is_digest && strchr(opts->user, ':'))
                return "user: Basic cannot send a user with a colon";
        if (opts->password && !is_text(opts->password))
                return "password: it has a control character, or more than 4,096 bytes";
        if (opts->token && !is_token(opts->token))
                return "token: it is empty, has more than 16,384 bytes, or other characters than "
                       "letters, digits and -._~+/=";
        return NULL;
}

static char *copy(const char *text)
{
        size_t bytes = strlen(text) + 1;
        char *copied = ed_alloc(bytes);

        return copied ? memcpy(copied, text, bytes) : NULL;
}

/* Make the value for Basic. */
static int make_basic(eddy_http_auth *auth)
{
        size_t user = strlen(auth->user), password = strlen(auth->password);
        size_t bytes = user + 1 + password;
        char *plain = ed_alloc(bytes);

        auth->value = ed_alloc(ED_HTTP_BASIC_BYTES + EDDY_BASE64_BYTES(bytes) + 1);
        if (plain && auth->value) {
                memcpy(plain, auth->user, user);
                plain[user] = ':';
                memcpy(plain + user + 1, auth->password, password);
                auth->value[ed_http_basic_write(plain, bytes, auth->value)] = '\0';
                ed_http_userinfo_free(plain, bytes);
                return 0;
        }
        ed_free(plain);
        ed_free(auth->value);
        auth->value = NULL;
        return -ENOMEM;
}

static int set_user(eddy_http_auth *auth, const struct eddy_http_auth_opts *opts)
{
        auth->user = copy(opts->user);
        auth->password = copy(opts->password ? opts->password : "");
        if (!auth->user || !auth->password)
                return -ENOMEM;
        return auth->flags & EDDY_HTTP_AUTH_DIGEST ? 0 : make_basic(auth);
}

/* Read the file of hosts. */
static int set_netrc(eddy_http_auth *auth, const struct eddy_http_auth_opts *opts)
{
        size_t line = 0;
        int err = eddy_file_read_whole(opts->netrc_path, ED_NETRC_BYTES_MAX, &auth->netrc,
                                       &auth->netrc_bytes);

        if (err < 0) {
                ed_http_fault_note(opts->ret_fault, "netrc_path: %s: %s", opts->netrc_path,
                                   eddy_error_text(err));
                return err;
        }
        err = ed_netrc_check(auth->netrc, auth->netrc_bytes, &line);
        if (err < 0)
                ed_http_fault_note(opts->ret_fault, "netrc_path: %s:%zu: %s", opts->netrc_path,
                                   line, eddy_error_text(err));
        if (err < 0 && opts->ret_netrc_line)
                *opts->ret_netrc_line = line;
        return err;
}

int eddy_http_auth_new(const struct eddy_http_auth_opts *opts, eddy_http_auth **ret_auth)
{
        eddy_http_auth *auth;
        const char *bad;
        int err = 0;

        if (!opts || !ret_auth)
                return -EINVAL;
        if (opts->ret_fault)
                ed_http_fault_clear(opts->ret_fault);
        bad = bad_option(opts);
        if (bad) {
                ed_http_fault_note(opts->ret_fault, "%s", bad);
                return -EINVAL;
        }
        auth = ed_alloc_zero(sizeof(*auth));
        if (!auth)
                return -ENOMEM;
        auth->refs = 1;
        auth->flags = opts->flags;
        auth->has_token = opts->token || opts->refresh;
        auth->refresh = opts->refresh;
        auth->arg = opts->arg;
        ed_list_init(&auth->sessions);
        if (opts->user)
                err = set_user(auth, opts);
        else if (opts->token)
                err = eddy_http_auth_set_token(auth, opts->token, 0);
        else if (opts->netrc_path)
                err = set_netrc(auth, opts);
        if (err < 0)
                ed_auth_unref(auth);
        else
                *ret_auth = auth;
        return err;
}

/* ---- tokens ---------------------------------------------------------------- */

int eddy_http_auth_set_token(eddy_http_auth *auth, const char *token, int64_t lifetime_ns)
{
        static const char scheme[] = "Bearer ";
        char *value;

        if (!auth || !auth->has_token || !token || !is_token(token) || lifetime_ns < 0)
                return -EINVAL;
        value = ed_alloc(sizeof(scheme) + strlen(token));
        if (!value)
                return -ENOMEM;
        memcpy(value, scheme, sizeof(scheme) - 1);
        memcpy(value + sizeof(scheme) - 1, token, strlen(token) + 1);
        wipe(auth->value);
        auth->value = value;
        auth->expires_ns = lifetime_ns ? ed_time_after(eddy_now(), lifetime_ns) : INT64_MAX;
        auth->generation++;
        return 0;
}

/* The task that calls 'refresh'. */
static int refresh_run(void *arg)
{
        eddy_http_auth *auth = arg;
        uint64_t generation = auth->generation;
        int err = -ECANCELED;

        eddy_scope_begin(&auth->scope, NULL);
        auth->is_begun = true;
        if (!auth->is_freed)
                err = auth->refresh(auth, auth->arg);
        auth->is_begun = false;
        (void) eddy_scope_end(&auth->scope);
        if (err >= 0)
                err = auth->generation == generation ? EDDY_E_HTTP_STATE : 0;
        /* Only this task was cancelled, not those that wait. */
        auth->refresh_err = err == -ECANCELED ? EDDY_E_HTTP_CLIENT_CLOSED : err;
        auth->is_refreshing = false;
        (void) eddy_event_set(&auth->refreshed);
        ed_auth_unref(auth);
        return 0;
}

static int refresh_start(eddy_http_auth *auth)
{
        struct ed_task *task;
        int err;

        if (auth->is_freed)
                return EDDY_E_HTTP_CLIENT_CLOSED;
        err = ed_background_start(ed_loop_current, refresh_run, auth, "http_auth_refresh", NULL,
                                  &task);
        if (err < 0)
                return err == -ECANCELED ? EDDY_E_HTTP_CLIENT_CLOSED : err;
        ed_auth_ref(auth);
        auth->is_refreshing = true;
        auth->refresh_err = 0;
        eddy_event_clear(&auth->refreshed);
        return 0;
}

/* Returns true if the running task is in a call of 'refresh'. */
static bool is_in_refresh(eddy_http_auth *auth)
{
        struct ed_task *task = ed_task_running();
        const struct ed_node *node = task ? task->inner : NULL;

        while (auth->is_begun && node && node != &ed_scope_of(&auth->scope)->node)
                node = node->parent;
        return auth->is_begun && node;
}

int ed_auth_renew(eddy_http_auth *auth, uint64_t generation)
{
        int err = 0;

        if (is_in_refresh(auth))
                return -EDEADLK;
        if (auth->generation == generation && !auth->is_refreshing)
                err = refresh_start(auth);
        while (err >= 0 && auth->generation == generation) {
                err = eddy_event_wait(&auth->refreshed);
                if (err >= 0 && auth->generation == generation && !auth->is_refreshing)
                        err = auth->refresh_err;
        }
        return err;
}

void eddy_http_auth_free(eddy_http_auth *auth)
{
        struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_SHIELD, .deadline_ns = INT64_MAX };
        eddy_scope scope;

        if (!auth)
                return;
        auth->is_freed = true;
        if (auth->is_begun)
                eddy_scope_cancel(&auth->scope);
        if (auth->is_refreshing && !is_in_refresh(auth)) {
                eddy_scope_begin(&scope, &opts);
                while (auth->is_refreshing && eddy_event_wait(&auth->refreshed) >= 0)
                        ;
                (void) eddy_scope_end(&scope); /* an enclosing shield may have ended the wait */
        }
        ed_auth_unref(auth);
}

/* ---- sessions of Digest ---------------------------------------------------- */

struct ed_auth_session *ed_auth_session_find(eddy_http_auth *auth, const struct ed_url *url)
{
        ed_list_each (link, &auth->sessions) {
                struct ed_auth_session *session =
                        ed_container_of(link, struct ed_auth_session, link);

                if (session->is_https == url->is_https && session->port == url->port &&
                    strcmp(session->host, url->host) == 0) {
                        ed_list_remove(link);
                        ed_list_push_front(&auth->sessions, link);
                        return session;
                }
        }
        return NULL;
}

static void draw_cnonce(struct ed_auth_session *session)
{
        static const char digits[] = "0123456789abcdef";
        unsigned char bytes[(ED_DIGEST_CNONCE_ROOM - 1) / 2];

        ed_loop_current->sys->poll->random(ed_loop_current->sys, bytes, sizeof(bytes));
        for (size_t i = 0; i < sizeof(bytes); i++) {
                session->cnonce[2 * i] = digits[bytes[i] >> 4];
                session->cnonce[2 * i + 1] = digits[bytes[i] & 15];
        }
        session->count = 0;
}

static void session_free(eddy_http_auth *auth, struct ed_auth_session *session)
{
        ed_list_remove(&session->link);
        ed_free(session);
        auth->sessions_count--;
}

int ed_auth_session_set(eddy_http_auth *auth, const struct ed_url *url,
                        const struct ed_digest *digest)
{
        struct ed_auth_session *session = ed_auth_session_find(auth, url);

        if (!session) {
                session = ed_alloc_zero(sizeof(*session));
                if (!session)
                        return -ENOMEM;
                session->is_https = url->is_https;
                session->port = url->port;
                memcpy(session->host, url->host, url->host_bytes);
                if (auth->sessions_count == ED_AUTH_SESSIONS_MAX)
                        session_free(auth, ed_container_of(auth->sessions.prev,
                                                           struct ed_auth_session, link));
                ed_list_push_front(&auth->sessions, &session->link);
                auth->sessions_count++;
        }
        session->digest = *digest;
        draw_cnonce(session);
        return 0;
}

void ed_auth_session_drop(eddy_http_auth *auth, const struct ed_url *url)
{
        struct ed_auth_session *session = ed_auth_session_find(auth, url);

        if (session)
                session_free(auth, session);
}

void ed_auth_session_next(struct ed_auth_session *session, const char *nonce)
{
        memcpy(session->digest.nonce, nonce, strlen(nonce) + 1);
        draw_cnonce(session);
}
