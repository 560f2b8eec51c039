/*
 * session_test.h - what the tests of sessions share: a browser with one cookie, the handlers of a login, and
 * cookies that the test signs itself.
 */
#ifndef ED_HTTP_SESSION_TEST_H
#define ED_HTTP_SESSION_TEST_H

#include "eddy/http_session.h"
#include "http/session_text.h"
#include "middleware_test.h"

#define KEY     "0123456789abcdef0123456789abcdef"
#define OLD_KEY "old old old old old old old old "

#define OPTS(...)                                                                                  \
        (&(const struct eddy_http_session_opts){ .key = KEY, .key_bytes = 32, __VA_ARGS__ })

struct browser {
        char cookie[8192]; /* name=value; "": none */
        const struct answer *got;
};

extern struct browser browser;

/* Ask with the cookie, and keep the one of the answer. Returns its body. */
const char *session_visit(struct site *site, eddy_http_handler_fn *handler);

/* Handlers. The answer is the user's name, or "none". */
int session_show(eddy_http_exchange *exchange, void *arg);
int session_log_in(eddy_http_exchange *exchange, void *arg);
int session_log_out(eddy_http_exchange *exchange, void *arg);
int session_answer(eddy_http_exchange *exchange, eddy_http_session *session);

/* Add the middleware to the router of the test, and begin without a cookie. */
void session_build_with(const struct eddy_http_session_opts *opts);
void session_build(void);

/*
 * Sign a session of a user as a server with these options does, into ED_SESSION_TEXT_MAX + 1 bytes.
 * Returns the characters.
 */
size_t session_sign(const char *user, const char *name, const void *key, int64_t begun_s,
                    int64_t ends_s, char *out);

/* Let the browser have a cookie 'as' of Ada that is signed for 'name' and has not ended. */
void session_set_signed(const char *as, const char *name, const void *key);

#endif
