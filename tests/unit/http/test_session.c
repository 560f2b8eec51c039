/*
 * test_session.c - a session lasts over requests, and a cookie that the server has not signed, or not for
 * this, is an empty session.
 */
#include <stdlib.h>
#include <string.h>

#include "eddy/http_sse_server.h"
#include "eddy/test.h"
#include "session_test.h"

#define DAY EDDY_SEC((int64_t) 24 * 3600)

static int called; /* the result of the handler's call */

/* ---- sessions -------------------------------------------------------------- */

GUARDED_TEST(a_session_lasts_from_login_to_logout, session_build)
{
        CHECK_STR(session_visit(site, session_show), "none");
        CHECK_HAS_NOT(browser.got->text, "Set-Cookie");
        CHECK_HAS(browser.got->text, "\r\nVary: Cookie\r\n");
        CHECK_STR(session_visit(site, session_log_in), "ada");
        CHECK_HAS(browser.got->text, "\r\nSet-Cookie: session=");
        CHECK_HAS(browser.got->text, "; Path=/; Max-Age=604800; HttpOnly; SameSite=Lax\r\n");
        CHECK_HAS(browser.got->text, "\r\nCache-Control: no-store\r\n");
        for (int i = 0; i < 3; i++) {
                CHECK_STR(session_visit(site, session_show), "ada");
                CHECK_HAS_NOT(browser.got->text, "Set-Cookie");
                CHECK_HAS_NOT(browser.got->text, "no-store");
        }
        CHECK_STR(session_visit(site, session_log_out), "none");
        CHECK_HAS(browser.got->text, "\r\nSet-Cookie: session=; Path=/; Max-Age=0; HttpOnly");
        CHECK_STR(session_visit(site, session_log_out), "none");
        CHECK_HAS_NOT(browser.got->text, "Set-Cookie");
        CHECK_HAS_NOT(ask(site, GET("/ok"))->text, "Vary");
        CHECK_STR(guarded_lines(), "");
}

static int change_much(eddy_http_exchange *exchange, void *arg)
{
        eddy_http_session *session = eddy_http_exchange_session(exchange);

        (void) arg;
        CHECK_EQ(eddy_http_session_set(session, "a", "1"), 0);
        CHECK_EQ(eddy_http_session_set(session, "b", ""), 0);
        CHECK_EQ(eddy_http_session_set(session, "c d;\xc3\xa9", "x\r\n\"y"), 0);
        CHECK_EQ(eddy_http_session_set(session, "a", "22"), 0);
        CHECK_EQ(eddy_http_session_set(session, "d", eddy_http_session_get(session, "a")), 0);
        CHECK_EQ(eddy_http_session_set(session, "a", eddy_http_session_get(session, "a") + 1), 0);
        CHECK_EQ(eddy_http_session_set(session, "none", NULL), 0);
        return eddy_http_exchange_respond_text(exchange, 200, "");
}

static int check_much(eddy_http_exchange *exchange, void *arg)
{
        eddy_http_session *session = eddy_http_exchange_session(exchange);

        (void) arg;
        CHECK_STR(eddy_http_session_get(session, "a"), "2");
        CHECK_STR(eddy_http_session_get(session, "b"), "");
        CHECK_STR(eddy_http_session_get(session, "c d;\xc3\xa9"), "x\r\n\"y");
        CHECK_STR(eddy_http_session_get(session, "d"), "22");
        CHECK(!eddy_http_session_get(session, "none"));
        CHECK(!eddy_http_session_get(session, ""));
        CHECK_EQ(eddy_http_session_set(session, "b", NULL), 0);
        CHECK(!eddy_http_session_get(session, "b"));
        CHECK_EQ(eddy_http_session_set(session, "d", "22"), 0);
        return eddy_http_exchange_respond_text(exchange, 200, "");
}

GUARDED_TEST(a_session_has_any_texts_by_any_names, session_build)
{
        session_visit(site, change_much);
        CHECK_HAS(browser.got->text, "Set-Cookie");
        session_visit(site, check_much);
        CHECK_HAS(browser.got->text, "Set-Cookie");
}

struct cart {
        char *name;
        int32_t items;
};

static const struct eddy_field cart_list[] = { EDDY_FIELD(struct cart, name, EDDY_FIELD_REQUIRED),
                                               EDDY_FIELD(struct cart, items) };
static const struct eddy_fields cart_fields = EDDY_FIELDS(struct cart, cart_list, 0);

static int write_cart(eddy_http_exchange *exchange, void *arg)
{
        char name[] = "books";

        (void) arg;
        called = eddy_http_session_write(eddy_http_exchange_session(exchange), "cart", &cart_fields,
                                         &(struct cart){ name, 7 });
        return eddy_http_exchange_respond_text(exchange, 200, "");
}

static int read_cart(eddy_http_exchange *exchange, void *arg)
{
        eddy_http_session *session = eddy_http_exchange_session(exchange);
        struct cart cart = { NULL, 0 };
        char text[40];

        (void) arg;
        called = eddy_http_session_read(session, "cart", &cart_fields, &cart);
        snprintf(text, sizeof(text), "%s %d", cart.name ? cart.name : "", (int) cart.items);
        eddy_fields_fini(&cart_fields, &cart);
        CHECK_ERR(eddy_http_session_read(session, "none", &cart_fields, &cart), -ENOENT);
        return eddy_http_exchange_respond_text(exchange, 200, text);
}

GUARDED_TEST(a_struct_is_kept_by_its_table_of_fields, session_build)
{
        session_visit(site, write_cart);
        CHECK_EQ(called, 0);
        CHECK_STR(session_visit(site, read_cart), "books 7");
        CHECK_EQ(called, 0);
}

static size_t wanted_bytes;

static int fill(eddy_http_exchange *exchange, void *arg)
{
        static char large[EDDY_HTTP_SESSION_BYTES_MAX + 10];
        eddy_http_session *session = eddy_http_exchange_session(exchange);

        (void) arg;
        memset(large, 'x', sizeof(large));
        large[wanted_bytes] = '\0';
        called = eddy_http_session_set(session, "n", large);
        if (called < 0)
                CHECK(!eddy_http_session_get(session, "n") && !eddy_http_session_id(session)[0]);
        return session_answer(exchange, session);
}

GUARDED_TEST(the_largest_session_is_a_cookie_of_less_than_4_kib, session_build)
{
        wanted_bytes = EDDY_HTTP_SESSION_BYTES_MAX - 3;
        session_visit(site, fill);
        CHECK_EQ(called, 0);
        CHECK(strstr(browser.got->text, "Set-Cookie: ") &&
              strcspn(strstr(browser.got->text, "Set-Cookie: "), "\r") < 4096);
        session_visit(site, session_show);
        CHECK_HAS_NOT(browser.got->text, "Set-Cookie");
        for (size_t more = 0; more < 8; more++) {
                browser.cookie[0] = '\0';
                wanted_bytes = EDDY_HTTP_SESSION_BYTES_MAX - 2 + more;
                session_visit(site, fill);
                CHECK_ERR(called, -EMSGSIZE);
                CHECK_HAS_NOT(browser.got->text, "Set-Cookie");
        }
}

/* ---- forged cookies -------------------------------------------------------- */

static void check_no_session(struct site *site, const char *value)
{
        snprintf(browser.cookie, sizeof(browser.cookie), "session=%s", value);
        CHECK_STR(session_visit(site, session_show), "none");
        CHECK_EQ(browser.got->status, 200);
        CHECK_HAS_NOT(browser.got->text, "Set-Cookie");
}

GUARDED_TEST(a_cookie_with_any_character_changed_or_cut_is_an_empty_session, session_build)
{
        char good[1000], bad[1010];
        size_t bytes;

        session_visit(site, session_log_in);
        snprintf(good, sizeof(good), "%s", browser.cookie + strlen("session="));
        bytes = strlen(good);
        for (size_t i = 0; i < bytes; i++) {
                memcpy(bad, good, bytes + 1);
                bad[i] = bad[i] == 'A' ? 'B' : 'A';
                check_no_session(site, bad);
                bad[i] = '\0';
                check_no_session(site, bad);
                check_no_session(site, good + i + 1);
        }
        snprintf(bad, sizeof(bad), "%s=", good);
        check_no_session(site, bad);
        snprintf(bad, sizeof(bad), "%sAAAA", good);
        check_no_session(site, bad);
        snprintf(browser.cookie, sizeof(browser.cookie), "session=%s", good);
        CHECK_STR(session_visit(site, session_show), "ada");
}

TEST(each_of_256_values_of_each_byte_of_a_cookie_is_refused)
{
        char out[ED_SESSION_TEXT_MAX + 1];
        unsigned char data[ED_SESSION_ROOM];
        struct ed_session_text text = { .data = data };
        struct ed_session_keys keys = { .count = 0 };
        size_t bytes = session_sign("ada", "session", KEY, 1, 2, out);

        CHECK_EQ(ed_session_keys_add(&keys, "session", KEY, 32), 0);
        CHECK_EQ(ed_session_text_verify(out, bytes, &keys, &text), 0);
        for (size_t i = 0; i < bytes; i++) {
                const char right = out[i];

                for (int byte = 0; byte < 256; byte++) {
                        out[i] = (char) byte;
                        if (out[i] != right)
                                CHECK_EQ(ed_session_text_verify(out, bytes, &keys, &text), -1);
                }
                out[i] = right;
        }
        CHECK_EQ(ed_session_text_verify(out, bytes, &keys, &text), 0);
}

GUARDED_TEST(the_cookie_of_another_program_with_the_key_is_an_empty_session, session_build)
{
        static const char *const others[] = { "Session", "session2", "sessio", "",
                                              "__Host-session" };

        session_set_signed("session", "session", KEY);
        CHECK_STR(session_visit(site, session_show), "ada");
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
                session_set_signed("session", others[i], KEY);
                CHECK_STR(session_visit(site, session_show), "none");
        }
        session_set_signed("session2", "session", KEY);
        CHECK_STR(session_visit(site, session_show), "none");
        session_set_signed("session", "session", OLD_KEY);
        CHECK_STR(session_visit(site, session_show), "none");
}

static void build_rotated(void)
{
        session_build_with(OPTS(.old_key = OLD_KEY, .old_key_bytes = 32));
}

GUARDED_TEST(a_cookie_of_the_former_key_is_valid_and_is_signed_again, build_rotated)
{
        session_set_signed("session", "session", OLD_KEY);
        CHECK_HAS_NOT(ask(site, GET("/ok"))->text, "Set-Cookie");
        CHECK_STR(session_visit(site, session_show), "ada");
        CHECK_HAS(browser.got->text, "Set-Cookie: session=");
        CHECK_STR(session_visit(site, session_show), "ada");
        CHECK_HAS_NOT(browser.got->text, "Set-Cookie");
}

/* ---- the end --------------------------------------------------------------- */

/* A test has ten minutes of virtual time. */
static void build_short(void)
{
        session_build_with(OPTS(.lifetime_ns = EDDY_SEC(300)));
}

GUARDED_TEST(a_cookie_that_is_sent_again_after_its_lifetime_is_an_empty_session, build_short)
{
        session_visit(site, session_log_in);
        CHECK_HAS(browser.got->text, "Max-Age=300;");
        CHECK_EQ(eddy_sleep(EDDY_SEC(297)), 0);
        CHECK_STR(session_visit(site, session_show), "ada");
        CHECK_EQ(eddy_sleep(EDDY_SEC(4)), 0);
        CHECK_STR(session_visit(site, session_show), "none");
        CHECK_HAS_NOT(browser.got->text, "Set-Cookie");
}

GUARDED_TEST(a_shorter_lifetime_also_ends_cookies_that_were_signed_before, session_build)
{
        int64_t now_s = eddy_time_of_day() / EDDY_SEC(1);
        char out[ED_SESSION_TEXT_MAX + 1];

        session_sign("ada", "session", KEY, now_s - 8 * 24 * 3600, now_s + 9 * 24 * 3600, out);
        check_no_session(site, out);
        session_sign("ada", "session", KEY, now_s - 6 * 24 * 3600, now_s + 9 * 24 * 3600, out);
        snprintf(browser.cookie, sizeof(browser.cookie), "session=%s", out);
        CHECK_STR(session_visit(site, session_show), "ada");
}

/* The server's clock was ahead, and was set right. */
GUARDED_TEST(a_cookie_of_a_clock_that_was_ahead_does_not_outlast_the_lifetime, session_build)
{
        int64_t now_s = eddy_time_of_day() / EDDY_SEC(1);
        char out[ED_SESSION_TEXT_MAX + 1];

        session_sign("ada", "session", KEY, now_s + 400, now_s + 400 + 7 * 24 * 3600, out);
        check_no_session(site, out);
        session_sign("ada", "session", KEY, now_s + 200, now_s + 200 + 7 * 24 * 3600, out);
        snprintf(browser.cookie, sizeof(browser.cookie), "session=%s", out);
        CHECK_STR(session_visit(site, session_show), "ada");
}

static void build_idle(void)
{
        session_build_with(OPTS(.lifetime_ns = EDDY_SEC(480), .idle_ns = EDDY_SEC(60)));
}

GUARDED_TEST(a_session_that_is_used_lasts_to_its_lifetime_and_an_idle_one_ends, build_idle)
{
        session_visit(site, session_log_in);
        CHECK_HAS(browser.got->text, "Max-Age=60;");
        CHECK_EQ(eddy_sleep(EDDY_SEC(29)), 0);
        CHECK_STR(session_visit(site, session_show), "ada");
        CHECK_HAS_NOT(browser.got->text, "Set-Cookie");
        CHECK_EQ(eddy_sleep(EDDY_SEC(32)), 0);
        CHECK_STR(session_visit(site, session_show), "none");
        session_visit(site, session_log_in);
        for (int i = 0; i < 10; i++) {
                CHECK_EQ(eddy_sleep(EDDY_SEC(40)), 0);
                CHECK_STR(session_visit(site, session_show), "ada");
                CHECK_HAS(browser.got->text, "Max-Age=60;");
        }
        CHECK_EQ(eddy_sleep(EDDY_SEC(61)), 0);
        CHECK_STR(session_visit(site, session_show), "none");
}

GUARDED_TEST(use_does_not_move_the_end_of_the_lifetime, build_idle)
{
        int64_t began_ns = eddy_now();

        session_visit(site, session_log_in);
        while (eddy_now() - began_ns < EDDY_SEC(480 - 35)) {
                CHECK_EQ(eddy_sleep(EDDY_SEC(31)), 0);
                CHECK_STR(session_visit(site, session_show), "ada");
        }
        CHECK_EQ(eddy_sleep(began_ns + EDDY_SEC(481) - eddy_now()), 0);
        CHECK_STR(session_visit(site, session_show), "none");
}

/* ---- fixation -------------------------------------------------------------- */

static char id[2][EDDY_UUID_TEXT_BYTES];

static int plant(eddy_http_exchange *exchange, void *arg)
{
        eddy_http_session *session = eddy_http_exchange_session(exchange);

        (void) arg;
        CHECK_STR(eddy_http_session_id(session), "");
        CHECK_EQ(eddy_http_session_set(session, "next", "https://evil.test/"), 0);
        snprintf(id[0], sizeof(id[0]), "%s", eddy_http_session_id(session));
        return session_answer(exchange, session);
}

static int look_for_planted(eddy_http_exchange *exchange, void *arg)
{
        eddy_http_session *session = eddy_http_exchange_session(exchange);

        (void) arg;
        CHECK(!eddy_http_session_get(session, "next"));
        snprintf(id[1], sizeof(id[1]), "%s", eddy_http_session_id(session));
        return session_answer(exchange, session);
}

GUARDED_TEST(a_cookie_that_another_person_has_planted_gets_nothing_by_a_login, session_build)
{
        char planted[sizeof(browser.cookie)];

        session_visit(site, plant);
        snprintf(planted, sizeof(planted), "%s", browser.cookie);
        CHECK_STR(session_visit(site, session_log_in), "ada");
        CHECK_STR(session_visit(site, look_for_planted), "ada");
        CHECK_EQ(strlen(id[0]), 36);
        CHECK_EQ(strlen(id[1]), 36);
        CHECK(strcmp(id[0], id[1]) != 0);
        snprintf(browser.cookie, sizeof(browser.cookie), "%s", planted);
        CHECK_STR(session_visit(site, session_show), "none");
}

GUARDED_TEST(a_login_begins_the_lifetime_again, build_short)
{
        session_visit(site, plant);
        CHECK_EQ(eddy_sleep(EDDY_SEC(250)), 0);
        session_visit(site, session_log_in);
        CHECK_EQ(eddy_sleep(EDDY_SEC(250)), 0);
        CHECK_STR(session_visit(site, session_show), "ada");
}

/* ---- https ----------------------------------------------------------------- */

static void build_secure(void)
{
        session_build_with(OPTS(.name = "app", .flags = EDDY_HTTP_SESSION_SECURE));
}

GUARDED_TEST(a_secure_cookie_has_the_prefix_host, build_secure)
{
        session_visit(site, session_log_in);
        CHECK_HAS(browser.got->text, "\r\nSet-Cookie: __Host-app=");
        CHECK_HAS(browser.got->text,
                  "; Path=/; Max-Age=604800; Secure; HttpOnly; SameSite=Lax\r\n");
        CHECK_STR(session_visit(site, session_show), "ada");
        memmove(browser.cookie, browser.cookie + strlen("__Host-"),
                strlen(browser.cookie) + 1 - strlen("__Host-"));
        CHECK_STR(session_visit(site, session_show), "none");
}

static void build_behind_proxy(void)
{
        struct eddy_http_trusted_proxies_opts proxies = { .networks = "127.0.0.0/8",
                                                          .flags = EDDY_HTTP_TRUST_PROTO };

        CHECK_EQ(eddy_http_use_trusted_proxies(guarded.router, &proxies), 0);
        session_build();
}

GUARDED_TEST(the_cookie_is_secure_if_the_client_uses_https, build_behind_proxy)
{
        static const char https[] =
                GET_WITH("/show", "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\n");

        guarded.show = session_log_in;
        CHECK_HAS(ask(site, https)->text, "Set-Cookie: __Host-session=");
        CHECK_HAS(ask(site, https)->text, "; Secure; HttpOnly");
        CHECK_HAS(ask(site, GET("/show"))->text, "Set-Cookie: session=");
}

/* ---- the answer ------------------------------------------------------------ */

static int set_late(eddy_http_exchange *exchange, void *arg)
{
        eddy_http_session *session = eddy_http_exchange_session(exchange);

        (void) arg;
        CHECK_EQ(eddy_http_session_set(session, "user", "ada"), 0);
        CHECK_EQ(eddy_http_exchange_begin(exchange, 200, NULL, 0, -1), 0);
        CHECK_ERR(eddy_http_session_set(session, "user", "bob"), EDDY_E_HTTP_STATE);
        CHECK_ERR(eddy_http_session_renew(session), EDDY_E_HTTP_STATE);
        CHECK_ERR(eddy_http_session_clear(session), EDDY_E_HTTP_STATE);
        CHECK_ERR(eddy_http_session_write(session, "user", &cart_fields, &(struct cart){ NULL, 0 }),
                  EDDY_E_HTTP_STATE);
        return eddy_http_exchange_end(exchange);
}

GUARDED_TEST(a_change_after_the_response_has_begun_is_an_error, session_build)
{
        session_visit(site, set_late);
        CHECK_STR(session_visit(site, session_show), "ada");
}

static int set_and_return(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_http_session_set(eddy_http_exchange_session(exchange), "user", "ada"), 0);
        return called;
}

static int set_and_refuse(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_http_session_set(eddy_http_exchange_session(exchange), "user", "ada"), 0);
        return eddy_http_exchange_fail(exchange, 403, "%s", "no");
}

static int set_and_send_events(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_http_session_set(eddy_http_exchange_session(exchange), "user", "ada"), 0);
        CHECK_EQ(eddy_http_exchange_sse_begin(exchange, NULL), 0);
        return eddy_http_exchange_end(exchange);
}

/* No cache may keep such an answer, also if the server makes it. */
GUARDED_TEST(each_answer_with_the_cookie_is_not_stored, session_build)
{
        static eddy_http_handler_fn *const handlers[] = { session_log_in, set_and_refuse,
                                                          set_and_return };
        static const int statuses[] = { 200, 403, 404 };

        called = 0;
        for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++) {
                browser.cookie[0] = '\0';
                session_visit(site, handlers[i]);
                CHECK_EQ(browser.got->status, statuses[i]);
                CHECK_HAS(browser.got->text, "\r\nSet-Cookie: session=");
                CHECK_HAS(browser.got->text, "\r\nCache-Control: no-store\r\n");
        }
}

static int set_and_be_refused(eddy_http_exchange *exchange, void *arg)
{
        struct eddy_http_header bad = { "Content-Length", "7" };

        (void) arg;
        CHECK_EQ(eddy_http_session_set(eddy_http_exchange_session(exchange), "user", "ada"), 0);
        return eddy_http_exchange_respond(exchange, 200, &bad, 1, NULL, 0);
}

/* The mistake of the handler is reported, so this is not a request of a site. */
static int ask_refused(void *arg)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        eddy_http_router *router;

        (void) arg;
        CHECK_EQ(eddy_http_router_new(&router), 0);
        eddy_http_use_session(router, OPTS());
        eddy_http_router_add(router, "GET /", set_and_be_refused, NULL, NULL);
        CHECK_EQ(eddy_http_client_new(
                         &(struct eddy_http_client_opts){ .handler = eddy_http_router_handle,
                                                          .handler_arg = router },
                         &client),
                 0);
        CHECK_EQ(eddy_http_client_send(client, &(struct eddy_http_request){ .url = "http://a/" },
                                       &response),
                 0);
        CHECK_EQ(eddy_http_response_status(response), 500);
        CHECK(eddy_http_response_header(response, "Set-Cookie"));
        CHECK_STR(eddy_http_response_header(response, "Cache-Control"), "no-store");
        eddy_http_response_close(response);
        response = NULL;
        eddy_http_router_free(router);
        return 0;
}

TEST(the_servers_own_answer_with_the_cookie_is_not_stored)
{
        struct eddy_test_result result;

        (void) eddy_test_run(ask_refused, NULL, NULL, &result);
        CHECK_EQ(result.result, 0);
        CHECK_HAS(result.problem, "was refused: the server writes the header");
}

static int set_after_refused(eddy_http_exchange *exchange, void *arg)
{
        eddy_http_session *session = eddy_http_exchange_session(exchange);
        struct eddy_http_header bad = { "Content-Length", "7" };

        (void) arg;
        CHECK_EQ(eddy_http_session_set(session, "user", "bob"), 0);
        CHECK_ERR(eddy_http_exchange_respond(exchange, 200, &bad, 1, NULL, 0),
                  EDDY_E_HTTP_INVALID_ANSWER);
        CHECK_EQ(eddy_http_session_clear(session), 0);
        return session_answer(exchange, session);
}

GUARDED_TEST(the_cookie_is_in_each_response_that_the_handler_makes, session_build)
{
        session_visit(site, set_and_refuse);
        CHECK_EQ(browser.got->status, 403);
        CHECK_STR(session_visit(site, session_show), "ada");
        browser.cookie[0] = '\0';
        session_visit(site, set_and_send_events);
        CHECK_STR(session_visit(site, session_show), "ada");
        browser.cookie[0] = '\0';
        called = 0;
        session_visit(site, set_and_return);
        CHECK_EQ(browser.got->status, 404);
        CHECK_STR(session_visit(site, session_show), "ada");
        browser.cookie[0] = '\0';
        called = -EIO;
        session_visit(site, set_and_return);
        CHECK_EQ(browser.got->status, 500);
        CHECK_HAS_NOT(browser.got->text, "Set-Cookie");
        session_visit(site, set_after_refused);
        CHECK_HAS(browser.got->text, "Set-Cookie: session=; Path=/; Max-Age=0;");
}

static int use_none(eddy_http_exchange *exchange, void *arg)
{
        eddy_http_session *session = eddy_http_exchange_session(exchange);
        struct cart cart = { NULL, 0 };

        (void) arg;
        CHECK(!session && !eddy_http_session_get(session, "user"));
        CHECK_STR(eddy_http_session_id(session), "");
        CHECK_ERR(eddy_http_session_set(session, "user", "ada"), -EINVAL);
        CHECK_ERR(eddy_http_session_renew(session), -EINVAL);
        CHECK_ERR(eddy_http_session_clear(session), -EINVAL);
        CHECK_ERR(eddy_http_session_read(session, "cart", &cart_fields, &cart), -ENOENT);
        CHECK_ERR(eddy_http_session_write(session, "cart", &cart_fields, &cart), -EINVAL);
        return eddy_http_exchange_respond_text(exchange, 200, "ok");
}

static void build_none(void)
{
}

GUARDED_TEST(without_the_middleware_there_is_no_session, build_none)
{
        CHECK_STR(session_visit(site, use_none), "ok");
}

static void build_two(void)
{
        session_build_with(OPTS(.name = "outer"));
        session_build();
}

GUARDED_TEST(the_session_is_that_of_the_innermost_middleware, build_two)
{
        session_visit(site, session_log_in);
        CHECK_HAS(browser.got->text, "Set-Cookie: session=");
        CHECK_HAS_NOT(browser.got->text, "outer");
}

/* ---- mistakes and faults --------------------------------------------------- */

TEST(options_that_are_not_safe_are_mistakes_of_the_router)
{
        static char name[EDDY_HTTP_SESSION_NAME_MAX + 2];
        const struct eddy_http_session_opts bad[] = {
                { .key = NULL },
                { .key = KEY, .key_bytes = 31 },
                { .key_bytes = 32 },
                *OPTS(.old_key = OLD_KEY, .old_key_bytes = 31),
                *OPTS(.old_key_bytes = 32),
                *OPTS(.old_key = OLD_KEY),
                *OPTS(.name = ""),
                *OPTS(.name = "a b"),
                *OPTS(.name = "a;b"),
                *OPTS(.name = "__Host-a"),
                *OPTS(.name = "__secure-a"),
                *OPTS(.name = name),
                *OPTS(.lifetime_ns = 1),
                *OPTS(.lifetime_ns = -1),
                *OPTS(.lifetime_ns = 401 * DAY),
                *OPTS(.idle_ns = EDDY_SEC(1)),
                *OPTS(.idle_ns = -1),
        };
        const char *text;

        memset(name, 'x', sizeof(name) - 1);
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                CHECK_EQ(eddy_http_router_new(&guarded.router), 0);
                CHECK_ERR(eddy_http_use_session(guarded.router, &bad[i]), -EINVAL);
                CHECK_ERR(eddy_http_router_check(guarded.router, &text), -EINVAL);
                CHECK_HAS(text, "eddy_http_use_session()");
                CHECK_HAS_NOT(text, "0123456789");
                eddy_http_router_free(guarded.router);
        }
        CHECK_EQ(eddy_http_router_new(&guarded.router), 0);
        CHECK_ERR(eddy_http_use_session(guarded.router, NULL), -EINVAL);
        eddy_http_router_free(guarded.router);
}

static char swept_cookie[sizeof(browser.cookie)];

static int log_in_or_fail(eddy_http_exchange *exchange, void *arg)
{
        eddy_http_session *session = eddy_http_exchange_session(exchange);
        int err;

        (void) arg;
        if (!eddy_http_session_get(session, "user"))
                return -EPROTO;
        err = eddy_http_session_renew(session);
        if (err == 0)
                err = eddy_http_session_write(session, "cart", &cart_fields,
                                              &(struct cart){ swept_cookie, 1 });
        return err < 0 ? err : eddy_http_exchange_respond_text(exchange, 200, "ok");
}

static int build_and_ask(void *arg)
{
        const struct eddy_http_header header = { "Cookie", swept_cookie };
        EDDY_AUTO(eddy_http_router) eddy_http_router *router = NULL;
        int err = eddy_http_router_new(&router);

        (void) arg;
        if (err < 0)
                return err;
        session_set_signed("session", "session", KEY);
        memcpy(swept_cookie, browser.cookie, strlen(browser.cookie) + 1);
        (void) eddy_http_use_session(router, OPTS());
        (void) eddy_http_router_add(router, "GET /", log_in_or_fail, NULL, NULL);
        err = guarded_ask(router, "http://a/", &header, 1);
        return err < 0 ? err : err == 200 || err == 500 ? 0 : -EPROTO;
}

TEST(a_cancel_or_a_shortage_of_memory_at_any_point_leaves_nothing)
{
        guarded_sweep(build_and_ask);
}
