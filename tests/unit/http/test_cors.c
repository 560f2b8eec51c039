/*
 * test_cors.c - the answers to pages of other origins, as the Fetch standard has them.
 */
#include <string.h>

#include "eddy/http_middleware.h"
#include "middleware_test.h"

#define PREFLIGHT(origin)                                                                          \
        SAY("OPTIONS", "/users/7",                                                                 \
            "Origin: " origin "\r\nAccess-Control-Request-Method: PUT\r\n"                         \
            "Access-Control-Request-Headers: content-type\r\n")
#define FROM(origin) GET_WITH("/ok", "Origin: " origin "\r\n")
#define ALLOWS       "Access-Control-Allow-"
#define ASKED        "Vary: Access-Control-Request-Method, Access-Control-Request-Headers\r\n"

static void build(void)
{
        char origins[] = "https://a.test,http://localhost:3000 , capacitor://localhost";
        struct eddy_http_cors_opts opts = { .origins = origins,
                                            .exposed = "X-Request-Id",
                                            .flags = EDDY_HTTP_CORS_CREDENTIALS };

        CHECK_EQ(eddy_http_use_cors(guarded.router, &opts), 0);
        memset(origins, 'x', sizeof(origins));
}

static void check_allowed(const struct answer *answer, const char *origin)
{
        char line[200];

        snprintf(line, sizeof(line), ALLOWS "Origin: %s\r\n", origin);
        CHECK_HAS(answer->text, line);
        CHECK_HAS(answer->text, ALLOWS "Credentials: true\r\n");
        CHECK_HAS(answer->text, "Vary: Origin\r\n");
}

GUARDED_TEST(pages_of_an_origin_in_the_list_may_read_each_response, build)
{
        const struct answer *answer = ask(site, FROM("https://a.test"));

        CHECK_STR(body_of(answer), "ok");
        check_allowed(answer, "https://a.test");
        CHECK_HAS(answer->text, "Access-Control-Expose-Headers: X-Request-Id\r\n");
        CHECK_HAS_NOT(answer->text, "Max-Age");
        check_allowed(ask(site, FROM("http://localhost:3000")), "http://localhost:3000");
        check_allowed(ask(site, FROM("capacitor://localhost")), "capacitor://localhost");
        check_allowed(ask(site, GET_WITH("/none", "Origin: https://a.test\r\n")), "https://a.test");
        check_allowed(ask(site, GET_WITH("/result/-5", "Origin: https://a.test\r\n")),
                      "https://a.test");
        check_allowed(ask(site, SAY("DELETE", "/ok", "Origin: https://a.test\r\n")),
                      "https://a.test");
}

GUARDED_TEST(pages_of_other_origins_may_not, build)
{
        static const char *const requests[] = {
                FROM("null"),
                FROM(""),
                FROM("*"),
                FROM("https://a.test.evil.test"),
                FROM("https://a.tes"),
                FROM("http://a.test"),
                FROM("https://a.test:443"),
                FROM("https://a.test,http://localhost:3000"),
                FROM("https://A.test"),
                FROM("https://b.test"),
                FROM("xxxxx"),
                GET("/ok"),
                FROM("https://a.test/"),
        };

        for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
                const struct answer *answer = ask(site, requests[i]);

                CHECK_EQ(answer->status, 200);
                CHECK_HAS_NOT(answer->text, "Access-Control");
                CHECK_HAS(answer->text, "Vary: Origin\r\n");
        }
}

GUARDED_TEST(a_preflight_is_answered_without_the_handler, build)
{
        const struct answer *answer = ask(site, PREFLIGHT("https://a.test"));

        CHECK_EQ(answer->status, 204);
        check_allowed(answer, "https://a.test");
        CHECK_HAS(answer->text, ALLOWS "Methods: GET, HEAD, POST, PUT, PATCH, DELETE\r\n");
        CHECK_HAS(answer->text, ALLOWS "Headers: Content-Type\r\n");
        CHECK_HAS(answer->text, "Access-Control-Max-Age: 600\r\n");
        CHECK_HAS(answer->text, ASKED);
        CHECK_HAS_NOT(answer->text, "Expose");
        answer = ask(site, PREFLIGHT("https://b.test"));
        CHECK_EQ(answer->status, 204);
        CHECK_HAS(answer->text, ASKED);
        CHECK_HAS(answer->text, "Vary: Origin\r\n");
        CHECK_HAS_NOT(answer->text, "Access-Control-Allow");
        answer = ask(site, SAY("OPTIONS", "/ok",
                               "Origin: https://a.test\r\nAccess-Control-Request-Method: GET\r\n"
                               "Access-Control-Request-Private-Network: true\r\n"));
        CHECK_EQ(answer->status, 204);
        CHECK_HAS_NOT(answer->text, "Network");
        CHECK_EQ(guarded.handled, 0);
}

GUARDED_TEST(other_requests_with_options_have_their_handler, build)
{
        CHECK_STR(body_of(ask(site, SAY("OPTIONS", "/users/7", "Origin: https://a.test\r\n"))),
                  "ok");
        CHECK_STR(body_of(ask(site, SAY("OPTIONS", "/users/7",
                                        "Access-Control-Request-Method: PUT\r\n"))),
                  "ok");
        CHECK_EQ(guarded.handled, 2);
}

static void build_for_all(void)
{
        struct eddy_http_cors_opts opts = { .origins = "*", .methods = "*", .headers = "*" };

        opts.max_age_ns = -1;
        CHECK_EQ(eddy_http_use_cors(guarded.router, &opts), 0);
}

GUARDED_TEST(all_pages_may_read_if_the_origins_are_a_star, build_for_all)
{
        CHECK_HAS(ask(site, FROM("null"))->text, ALLOWS "Origin: *\r\n");
        CHECK_HAS(ask(site, GET("/ok"))->text, ALLOWS "Origin: *\r\n");
        CHECK_HAS_NOT(ask(site, FROM("https://a.test"))->text, "Vary");
        CHECK_HAS_NOT(ask(site, FROM("https://a.test"))->text, "Credentials");
        CHECK_HAS(ask(site, PREFLIGHT("https://a.test"))->text, "Access-Control-Max-Age: 0\r\n");
        CHECK_HAS(ask(site, PREFLIGHT("https://a.test"))->text, ALLOWS "Headers: *\r\n");
}

static void build_for_none(void)
{
        CHECK_EQ(eddy_http_use_cors(guarded.router, NULL), 0);
}

GUARDED_TEST(without_origins_no_page_may_read, build_for_none)
{
        CHECK_HAS_NOT(ask(site, FROM("https://a.test"))->text, "Access-Control");
        CHECK_HAS_NOT(ask(site, FROM(""))->text, "Access-Control");
}

/* ---- mistakes -------------------------------------------------------------- */

#define CORS(...) ((struct eddy_http_cors_opts){ __VA_ARGS__ })

TEST(options_that_are_not_safe_are_mistakes_of_the_router)
{
        const uint32_t credentials = EDDY_HTTP_CORS_CREDENTIALS;
        const struct eddy_http_cors_opts bad[] = {
                CORS(.origins = "*", .flags = credentials),
                CORS(.origins = "null"),
                CORS(.origins = "https://a.test https://b.test"),
                CORS(.origins = "https://a.test, *"),
                CORS(.origins = "https://a.test/"),
                CORS(.origins = "https://A.test"),
                CORS(.origins = "https://a.test:443"),
                CORS(.origins = "https://*.a.test"),
                CORS(.origins = "a.test"),
                CORS(.origins = "app://"),
                CORS(.origins = "app://x/y"),
                CORS(.methods = "GET POST"),
                CORS(.methods = "*", .flags = credentials),
                CORS(.headers = "*", .flags = credentials),
                CORS(.headers = "a, *"),
                CORS(.headers = "a\r\nb"),
                CORS(.exposed = "a b"),
        };
        const char *text;

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                CHECK_EQ(eddy_http_router_new(&guarded.router), 0);
                CHECK_ERR(eddy_http_use_cors(guarded.router, &bad[i]), -EINVAL);
                CHECK_ERR(eddy_http_router_check(guarded.router, &text), -EINVAL);
                CHECK_HAS(text, "eddy_http_use_cors()");
                eddy_http_router_free(guarded.router);
        }
}

static int answer_ok(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok", 2);
}

static int build_and_ask(void *arg)
{
        static const struct eddy_http_header origin = { "Origin", "https://a.test" };
        struct eddy_http_cors_opts opts = CORS(.origins = "https://a.test", .exposed = "X-A");
        EDDY_AUTO(eddy_http_router) eddy_http_router *router = NULL;
        int err = eddy_http_router_new(&router);

        (void) arg;
        if (err < 0)
                return err;
        (void) eddy_http_use_cors(router, &opts);
        (void) eddy_http_router_add(router, "GET /", answer_ok, NULL, NULL);
        err = guarded_ask(router, "http://a/", &origin, 1);
        return err < 0 ? err : err == 200 || err == 500 ? 0 : -EPROTO;
}

TEST(a_cancel_or_a_shortage_of_memory_at_any_point_leaves_nothing)
{
        guarded_sweep(build_and_ask);
}
