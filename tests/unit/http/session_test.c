/*
 * session_test.c - see session_test.h.
 */
#include "session_test.h"

#include <stdlib.h>
#include <string.h>

#include "eddy/test.h"

struct browser browser;

/* ---- a browser with one cookie --------------------------------------------- */

const char *session_visit(struct site *site, eddy_http_handler_fn *handler)
{
        static char request[16384];
        const char *set;

        guarded.show = handler;
        snprintf(request, sizeof(request),
                 "GET /show HTTP/1.1\r\nHost: a\r\nConnection: close\r\n%s%s%s\r\n",
                 browser.cookie[0] ? "Cookie: " : "", browser.cookie,
                 browser.cookie[0] ? "\r\n" : "");
        browser.got = ask(site, request);
        set = strstr(browser.got->text, "\r\nSet-Cookie: ");
        if (set) {
                set += strlen("\r\nSet-Cookie: ");
                snprintf(browser.cookie, sizeof(browser.cookie), "%.*s", (int) strcspn(set, ";"),
                         set);
                if (strstr(set, "Max-Age=0;"))
                        browser.cookie[0] = '\0';
        }
        return body_of(browser.got);
}

int session_answer(eddy_http_exchange *exchange, eddy_http_session *session)
{
        const char *user = eddy_http_session_get(session, "user");

        return eddy_http_exchange_respond_text(exchange, 200, user ? user : "none");
}

int session_show(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return session_answer(exchange, eddy_http_exchange_session(exchange));
}

int session_log_in(eddy_http_exchange *exchange, void *arg)
{
        eddy_http_session *session = eddy_http_exchange_session(exchange);

        (void) arg;
        CHECK_EQ(eddy_http_session_renew(session), 0);
        CHECK_EQ(eddy_http_session_set(session, "user", "ada"), 0);
        return session_answer(exchange, session);
}

int session_log_out(eddy_http_exchange *exchange, void *arg)
{
        eddy_http_session *session = eddy_http_exchange_session(exchange);

        (void) arg;
        CHECK_EQ(eddy_http_session_clear(session), 0);
        CHECK_STR(eddy_http_session_id(session), "");
        return session_answer(exchange, session);
}

void session_build_with(const struct eddy_http_session_opts *opts)
{
        browser.cookie[0] = '\0';
        CHECK_EQ(eddy_http_use_session(guarded.router, opts), 0);
}

void session_build(void)
{
        session_build_with(OPTS());
}

/* ---- cookies of other servers ----------------------------------------------- */

size_t session_sign(const char *user, const char *name, const void *key, int64_t begun_s,
                    int64_t ends_s, char *out)
{
        unsigned char data[ED_SESSION_ROOM];
        struct ed_session_text text = { .data = data };
        struct ed_session_keys keys = { .count = 0 };
        struct eddy_uuid id = { { 7 } };

        CHECK_EQ(ed_session_keys_add(&keys, name, key, 32), 0);
        ed_session_text_begin(&text, &id, begun_s, ends_s);
        CHECK_EQ(ed_session_text_set(&text, "user", user), 1);
        CHECK_EQ(ed_session_text_sign(&text, &keys, out), 0);
        return strlen(out);
}

void session_set_signed(const char *as, const char *name, const void *key)
{
        int64_t now_s = eddy_time_of_day() / EDDY_SEC(1);
        char out[ED_SESSION_TEXT_MAX + 1];

        session_sign("ada", name, key, now_s, now_s + 60, out);
        snprintf(browser.cookie, sizeof(browser.cookie), "%s=%s", as, out);
}
