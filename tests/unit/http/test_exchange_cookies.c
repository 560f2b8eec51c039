/*
 * test_exchange_cookies.c - the cookies of a request are read strictly, and those for a client are safe by
 * default.
 */
#include <string.h>

#include "eddy/http_exchange_cookies.h"
#include "middleware_test.h"

#define COOKIE(text) GET_WITH("/show", "Cookie: " text "\r\n")

static int show_cookie(eddy_http_exchange *exchange, void *arg)
{
        const char *value;
        size_t bytes;

        (void) arg;
        if (eddy_http_exchange_cookie(exchange, "id", &value, &bytes) < 0)
                return eddy_http_exchange_respond(exchange, 200, NULL, 0, "none", 4);
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, value, bytes);
}

static void build(void)
{
        guarded.show = show_cookie;
}

GUARDED_TEST(a_cookie_is_found_by_its_name, build)
{
        static const struct {
                const char *request, *value;
        } cases[] = {
                { COOKIE("id=7"), "7" },
                { COOKIE("a=1; id=7; b=2"), "7" },
                { COOKIE("a=1;id=7;b=2"), "7" },
                { COOKIE(" ;; \tid=7\t ;"), "7" },
                { COOKIE("id=\"7\""), "7" },
                { COOKIE("id="), "" },
                { COOKIE("id=a=b"), "a=b" },
                { COOKIE("id=1; id=2"), "1" },
                { GET_WITH("/show", "Cookie: a=1\r\ncookie: id=7\r\n"), "7" },
                { COOKIE("id=a b; id=7"), "7" },
                { COOKIE("id=\xc3\xa9; id=7"), "7" },
                { COOKIE("x=\"; id=7; y=\""), "7" },
                { COOKIE("a=b,id=7"), "none" },
                { COOKIE("ID=7"), "none" },
                { COOKIE("id"), "none" },
                { COOKIE("idx=7; xid=7; id =7; id= 7"), "none" },
                { COOKIE("=id=7; =7; \xc2\xa0id=7; \xe3\x80\x80id=7"), "none" },
                { COOKIE("id=\""), "none" },
                { COOKIE("id=a\"b"), "none" },
                { COOKIE("id=a\\b"), "none" },
                { COOKIE("id=a,b"), "none" },
                { COOKIE(""), "none" },
                { GET_WITH("/show", "Set-Cookie: id=7\r\n"), "none" },
                { GET("/show"), "none" },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                CHECK_STR(body_of(ask(site, cases[i].request)), cases[i].value);
}

/* ---- cookies for a client -------------------------------------------------- */

#define SET(...) ((struct eddy_http_set_cookie){ __VA_ARGS__ })

static struct eddy_http_set_cookie wanted;
static int result;

static int set_cookie(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        result = eddy_http_exchange_set_cookie(exchange, &wanted);
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, NULL, 0);
}

static void build_set(void)
{
        guarded.show = set_cookie;
}

static void check_set(struct site *site, struct eddy_http_set_cookie cookie, const char *line)
{
        char text[300];

        wanted = cookie;
        snprintf(text, sizeof(text), "\r\nSet-Cookie: %s\r\n", line);
        CHECK_HAS(ask(site, GET("/show"))->text, text);
        CHECK_EQ(result, 0);
}

GUARDED_TEST(a_cookie_is_safe_unless_flags_say_otherwise, build_set)
{
        check_set(site, SET(.name = "id", .value = "7"),
                  "id=7; Path=/; Secure; HttpOnly; SameSite=Lax");
        check_set(site, SET(.name = "__Host-id", .value = "", .max_age_s = 3600),
                  "__Host-id=; Path=/; Max-Age=3600; Secure; HttpOnly; SameSite=Lax");
        check_set(site,
                  SET(.name = "__Secure-id", .value = "7", .domain = "a.test", .path = "/x",
                      .same_site = EDDY_HTTP_SAME_SITE_STRICT),
                  "__Secure-id=7; Path=/x; Domain=a.test; Secure; HttpOnly; SameSite=Strict");
        check_set(site,
                  SET(.name = "id", .value = "7", .same_site = EDDY_HTTP_SAME_SITE_NONE,
                      .flags = EDDY_HTTP_SET_COOKIE_SCRIPTS),
                  "id=7; Path=/; Secure; SameSite=None");
        check_set(site, SET(.name = "id", .value = "7", .flags = EDDY_HTTP_SET_COOKIE_INSECURE),
                  "id=7; Path=/; HttpOnly; SameSite=Lax");
        check_set(site, SET(.name = "id"),
                  "id=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Lax");
}

GUARDED_TEST(a_cookie_that_browsers_would_refuse_is_an_error, build_set)
{
        static char large[4200];
        const uint8_t insecure = EDDY_HTTP_SET_COOKIE_INSECURE;
        const struct eddy_http_set_cookie bad[] = {
                SET(.name = NULL, .value = "7"),
                SET(.name = "", .value = "7"),
                SET(.name = "a b", .value = "7"),
                SET(.name = "a=b", .value = "7"),
                SET(.name = "a", .value = "7; Domain=evil.test"),
                SET(.name = "a", .value = "7\r\nEvil: 1"),
                SET(.name = "a", .value = "\"7\""),
                SET(.name = "a", .value = "\xc3\xa9"),
                SET(.name = "a", .value = "7", .path = "x"),
                SET(.name = "a", .value = "7", .path = "/;x"),
                SET(.name = "a", .value = "7", .path = "/\r\n"),
                SET(.name = "a", .value = "7", .domain = ""),
                SET(.name = "a", .value = "7", .domain = "a; Path=/"),
                SET(.name = "a", .value = "7", .max_age_s = -1),
                SET(.name = "a", .value = "7", .same_site = 9),
                SET(.name = "__Host-a", .value = "7", .domain = "a.test"),
                SET(.name = "__hOST-a", .value = "7", .path = "/x"),
                SET(.name = "__Host-a", .value = "7", .flags = insecure),
                SET(.name = "__secure-a", .value = "7", .flags = insecure),
                SET(.name = "a", .value = "7", .flags = insecure,
                    .same_site = EDDY_HTTP_SAME_SITE_NONE),
                SET(.name = "a", .value = large),
        };

        memset(large, 'x', sizeof(large) - 1);
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                wanted = bad[i];
                CHECK_HAS_NOT(ask(site, GET("/show"))->text, "Set-Cookie");
                CHECK_ERR(result, -EINVAL);
        }
        for (size_t bytes = 4040; bytes < 4060; bytes++) {
                large[bytes] = '\0';
                wanted = SET(.name = "a", .value = large);
                (void) ask(site, GET("/show"));
                CHECK_EQ(result, bytes + strlen("a=; Path=/; Secure; HttpOnly; SameSite=Lax") > 4096
                                         ? -EINVAL
                                         : 0);
                large[bytes] = 'x';
        }
}

static int build_and_ask(void *arg)
{
        EDDY_AUTO(eddy_http_router) eddy_http_router *router = NULL;
        int err = eddy_http_router_new(&router);

        (void) arg;
        if (err < 0)
                return err;
        wanted = SET(.name = "a", .value = "7");
        (void) eddy_http_router_add(router, "GET /", set_cookie, NULL, NULL);
        err = guarded_ask(router, "http://a/", NULL, 0);
        return err < 0 ? err : err == 200 || err == 500 ? 0 : -EPROTO;
}

TEST(a_cancel_or_a_shortage_of_memory_at_any_point_leaves_nothing)
{
        guarded_sweep(build_and_ask);
}
