/*
 * 131-sessions - an HTTP server whose users log in and out.
 *
 * The session is in a cookie that the server signs, so the server stores nothing, and users cannot
 * change the values.  Users can read the values, so never put a secret in a session.
 *
 * A page of another site can make a browser send a form to this server (CSRF).  The cookie is
 * SameSite=Lax, so the browser sends the cookie with a link on another site, but not with a form.
 * Therefore only POST changes anything here.  A login begins a new session, because another person
 * may have planted the former cookie.
 *
 *     131-sessions [ADDRESS:PORT]
 *
 * Run: J=$(mktemp); sh -c 'echo $$; exec 131-sessions 127.0.0.1:0' | { read P; read U; C="curl -s -b $J -c $J"; $C $U; $C -d 'name=ada&password=guess' $U/login; $C -d 'name=ada&password=engine' $U/login; $C $U; $C $U; V=$(awk '$6=="session" {print $7}' $J); curl -s -b session=$(echo $V | tr A-Za-z B-ZAb-za) $U; curl -s -b session=${V%????} $U; $C -d '' $U/logout; $C $U; kill $P; }; rm $J
 * Time: wall 0 s
 * Output:
 *     please log in
 *     wrong name or password
 *     welcome
 *     ada, page 1
 *     ada, page 2
 *     please log in
 *     please log in
 *     goodbye
 *     please log in
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eddy/eddy.h"

struct login {
        char *name;
        char *password;
};

static const struct eddy_field login_list[] = { EDDY_FIELD(struct login, name, EDDY_FIELD_REQUIRED),
                                                EDDY_FIELD(struct login, password,
                                                           EDDY_FIELD_REQUIRED) };
static const struct eddy_fields login_fields = EDDY_FIELDS(struct login, login_list, 0);

static int show(eddy_http_exchange *exchange, void *arg)
{
        eddy_http_session *session = eddy_http_exchange_session(exchange);
        const char *user = eddy_http_session_get(session, "user");
        const char *pages = eddy_http_session_get(session, "pages");
        char number[24], text[100];
        int err;

        (void) arg;
        if (!user)
                return eddy_http_exchange_respond_text(exchange, 401, "please log in\n");
        snprintf(number, sizeof(number), "%ld", (pages ? strtol(pages, NULL, 10) : 0) + 1);
        snprintf(text, sizeof(text), "%s, page %s\n", user, number);
        err = eddy_http_session_set(session, "pages", number); /* after this, 'user' is not valid */
        return err < 0 ? err : eddy_http_exchange_respond_text(exchange, 200, text);
}

static int log_in(eddy_http_exchange *exchange, void *arg)
{
        eddy_http_session *session = eddy_http_exchange_session(exchange);
        struct login login = { NULL, NULL };
        int err = eddy_http_exchange_form_read(exchange, &login_fields, 0, &login);
        bool is_ada;

        (void) arg;
        if (err < 0)
                return err;
        /* A real program stores a slow hash of each password, such as Argon2. */
        is_ada = strcmp(login.name, "ada") == 0 && strcmp(login.password, "engine") == 0;
        if (is_ada && (err = eddy_http_session_renew(session)) == 0)
                err = eddy_http_session_set(session, "user", login.name);
        eddy_fields_fini(&login_fields, &login);
        if (err < 0 || is_ada)
                return err < 0 ? err : eddy_http_exchange_respond_text(exchange, 200, "welcome\n");
        return eddy_http_exchange_respond_text(exchange, 403, "wrong name or password\n");
}

static int log_out(eddy_http_exchange *exchange, void *arg)
{
        int err = eddy_http_session_clear(eddy_http_exchange_session(exchange));

        (void) arg;
        return err < 0 ? err : eddy_http_exchange_respond_text(exchange, 200, "goodbye\n");
}

static int serve(eddy_http_router *router, void *arg)
{
        char key[32]; /* read it from a file if sessions must survive a restart */

        (void) arg;
        if (getentropy(key, sizeof(key)) < 0)
                return -EIO;
        eddy_http_use_session(router, &(struct eddy_http_session_opts){ .key = key,
                                                                        .key_bytes = sizeof(key),
                                                                        .idle_ns = EDDY_MIN(30) });
        eddy_http_router_add(router, "GET /", show, NULL, NULL);
        eddy_http_router_add(router, "POST /login", log_in, NULL, NULL);
        eddy_http_router_add(router, "POST /logout", log_out, NULL, NULL);
        puts(eddy_http_run_url(router));
        fflush(stdout);
        return eddy_http_run_serve(router, NULL);
}

int main(int argc, char **argv)
{
        const struct eddy_http_run_opts opts = { .listen = argc > 1 ? argv[1] : "127.0.0.1:8080" };

        return eddy_http_run(&opts, serve, NULL) < 0;
}
