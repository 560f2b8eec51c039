/*
 * test_router.c - routers: parameters, the router's own answers, mounted routers, middleware, mistakes of
 * building, and a shortage of memory or a cancel at each point.
 */
#include <stdlib.h>
#include <string.h>

#include "eddy/http_middleware.h"
#include "eddy/http_router.h"
#include "eddy/test.h"
#include "server_test.h"

#define SAY(method, path) method " " path " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
#define GET(path)         SAY("GET", path)
#define PROBLEM           "Content-Type: application/problem+json\r\n"

static eddy_http_router *root, *other;
static char order[64]; /* of the middleware of a request */
static char x[] = "x"; /* of handlers */

static void note(const char *text)
{
        size_t n = strlen(order);

        snprintf(order + n, sizeof(order) - n, "%s", text);
}

/* Answer with the route, the argument and the values of the parameters a, b and rest. */
static int show(eddy_http_exchange *exchange, void *arg)
{
        static const char *const names[] = { "a", "b", "rest", "none" };
        char text[2048];
        int n = snprintf(text, sizeof(text), "%s (%s)", eddy_http_exchange_route(exchange),
                         (const char *) arg);

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                const char *value = eddy_http_exchange_param(exchange, names[i]);

                if (value)
                        n += snprintf(text + n, sizeof(text) - (size_t) n, " %s=[%s]", names[i],
                                      value);
        }
        note("h");
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, text, (size_t) n);
}

static int fail(eddy_http_exchange *exchange, void *arg)
{
        (void) exchange;
        (void) arg;
        return -ETIMEDOUT;
}

/* ---- middleware ------------------------------------------------------------ */

static int wrap(eddy_http_exchange *exchange, struct eddy_http_next *next, void *arg)
{
        int err;

        note(arg);
        err = eddy_http_next(exchange, next);
        note(err < 0 ? "!" : ".");
        return err;
}

static int add_id(eddy_http_exchange *exchange, struct eddy_http_next *next, void *arg)
{
        int err = eddy_http_exchange_add_header(exchange, "X-Id", arg);

        return err < 0 ? err : eddy_http_next(exchange, next);
}

static int refuse(eddy_http_exchange *exchange, struct eddy_http_next *next, void *arg)
{
        (void) next;
        (void) arg;
        return eddy_http_exchange_respond(exchange, 401, NULL, 0, "no", 2);
}

static int try_twice(eddy_http_exchange *exchange, struct eddy_http_next *next, void *arg)
{
        int err = eddy_http_next(exchange, next);

        (void) arg;
        return err < 0 ? eddy_http_next(exchange, next) : err;
}

/* ---- building -------------------------------------------------------------- */

static int add(const char *pattern)
{
        return eddy_http_router_add(root, pattern, show, x, NULL);
}

static eddy_http_router *sub_new(const char *const *patterns, const char *arg)
{
        eddy_http_router *sub;

        CHECK_EQ(eddy_http_router_new(&sub), 0);
        for (; *patterns; patterns++)
                CHECK_EQ(eddy_http_router_add(sub, *patterns, show, (void *) (uintptr_t) arg, NULL),
                         0);
        return sub;
}

static void check_fault(int err, const char *part)
{
        const char *text;

        CHECK_ERR(eddy_http_router_check(root, &text), err);
        CHECK_HAS(text, part);
        eddy_http_router_free(root);
        CHECK_EQ(eddy_http_router_new(&root), 0);
}

TEST(the_first_mistake_of_building_is_kept)
{
        static const char *const users[] = { "GET /users", NULL };
        eddy_http_router *sub;
        const char *text;

        eddy_http_router_free(NULL);
        CHECK_EQ(eddy_http_router_new(&root), 0);
        CHECK_EQ(add("GET /a/{id}"), 0);
        CHECK_EQ(eddy_http_router_check(root, &text), 0);
        CHECK_STR(text, "");
        CHECK_ERR(add("GET /a/{name}"), EDDY_E_HTTP_ROUTE);
        CHECK_ERR(add("GET"), EDDY_E_HTTP_ROUTE);
        CHECK_ERR(eddy_http_router_check(root, NULL), EDDY_E_HTTP_ROUTE);
        check_fault(EDDY_E_HTTP_ROUTE, "\"GET /a/{id}\" and \"GET /a/{name}\"");
        CHECK_ERR(add(NULL), -EINVAL);
        check_fault(-EINVAL, "NULL");
        CHECK_ERR(eddy_http_router_add(root, "/", NULL, NULL, NULL), -EINVAL);
        check_fault(-EINVAL, "NULL");
        CHECK_ERR(eddy_http_router_use(root, NULL, NULL), -EINVAL);
        check_fault(-EINVAL, "middleware");
        CHECK_ERR(eddy_http_router_mount(root, "/a", root), -EINVAL);
        check_fault(-EINVAL, "mounted in itself");
        CHECK_ERR(eddy_http_router_mount(root, "/a", NULL), -EINVAL);
        check_fault(-EINVAL, "NULL");
        CHECK_EQ(add("GET /api/users"), 0);
        CHECK_ERR(eddy_http_router_mount(root, "/api", sub_new(users, "s")), EDDY_E_HTTP_ROUTE);
        check_fault(EDDY_E_HTTP_ROUTE, "\"GET /api/users\" and \"GET /api/users\"");
        sub = sub_new(users, "s");
        CHECK_ERR(eddy_http_router_add(sub, "/{", show, NULL, NULL), EDDY_E_HTTP_ROUTE);
        CHECK_ERR(eddy_http_router_mount(root, "/api", sub), EDDY_E_HTTP_ROUTE);
        check_fault(EDDY_E_HTTP_ROUTE, "the pattern \"/{\"");
        sub = sub_new(users, "s");
        CHECK_EQ(eddy_http_router_mount(root, "/api", sub), 0);
        CHECK_ERR(eddy_http_router_mount(root, "/b", sub), EDDY_E_HTTP_STATE);
        check_fault(EDDY_E_HTTP_STATE, "mounted twice");
        sub = sub_new(users, "s");
        CHECK_EQ(eddy_http_router_mount(root, "/api", sub), 0);
        CHECK_ERR(eddy_http_router_add(sub, "/b", show, NULL, NULL), EDDY_E_HTTP_STATE);
        CHECK_ERR(eddy_http_router_use(sub, wrap, NULL), EDDY_E_HTTP_STATE);
        CHECK_ERR(eddy_http_router_mount(sub, "/", root), EDDY_E_HTTP_STATE);
        eddy_http_router_free(root);
}

TEST(a_router_does_not_serve_without_middleware_that_came_to_a_mounted_one_too_late)
{
        static const char *const users[] = { "GET /users", NULL };
        const struct eddy_http_cors_opts wrong = { .origins = "*, https://a" };
        eddy_http_router *middle, *sub = sub_new(users, "s");

        CHECK_EQ(eddy_http_router_new(&root), 0);
        CHECK_EQ(eddy_http_router_new(&middle), 0);
        CHECK_EQ(eddy_http_router_mount(middle, "/b", sub), 0);
        CHECK_EQ(eddy_http_router_mount(root, "/a", middle), 0);
        CHECK_ERR(eddy_http_router_use(sub, wrap, NULL), EDDY_E_HTTP_STATE);
        check_fault(EDDY_E_HTTP_STATE, "after it was mounted");
        sub = sub_new(users, "s");
        CHECK_EQ(eddy_http_router_mount(root, "/a", sub), 0);
        CHECK_ERR(eddy_http_use_cors(sub, &wrong), -EINVAL);
        check_fault(-EINVAL, "origins");
        eddy_http_router_free(root);
}

static const struct eddy_field bad_list[] = { { .name = "bad", .kind = 99, .bytes = 4 } };
static const struct eddy_fields bad_fields = { .list = bad_list, .count = 1, .bytes = 4 };

TEST(descriptions_that_are_not_usable_are_refused)
{
        static const struct eddy_http_route_doc docs[] = { { .params = &bad_fields },
                                                           { .query = &bad_fields },
                                                           { .body = &bad_fields },
                                                           { .form = &bad_fields },
                                                           { .body = &bad_fields,
                                                             .form = &bad_fields } };

        CHECK_EQ(eddy_http_router_new(&root), 0);
        for (size_t i = 0; i < sizeof(docs) / sizeof(docs[0]); i++) {
                CHECK_ERR(eddy_http_router_add(root, "GET /a", show, x, &docs[i]),
                          EDDY_E_HTTP_ROUTE);
                check_fault(EDDY_E_HTTP_ROUTE, i < 4 ? "the route \"GET /a\": bad: "
                                                     : "either 'body' or 'form', not both");
        }
        eddy_http_router_free(root);
}

struct place {
        int64_t team;
        int64_t id;
};

static const struct eddy_field place_list[] = {
        EDDY_FIELD(struct place, team, EDDY_FIELD_AS("team-id")),
        EDDY_FIELD(struct place, id, EDDY_FIELD_REQUIRED),
};
static const struct eddy_fields place_fields = EDDY_FIELDS(struct place, place_list, 0);
static const struct eddy_http_route_doc place_doc = { .params = &place_fields };

static int show_place(eddy_http_exchange *exchange, void *arg)
{
        const struct place *place = eddy_http_exchange_input(exchange, EDDY_HTTP_PATH);
        char text[60];
        int n = snprintf(text, sizeof(text), "%lld/%lld", (long long) place->team,
                         (long long) place->id);

        (void) arg;
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, text, (size_t) n);
}

/* A router with a route that lacks "team-id", in as many others as 'depth' says. */
static eddy_http_router *places_new(int depth)
{
        eddy_http_router *router;

        CHECK_EQ(eddy_http_router_new(&router), 0);
        if (depth > 0)
                CHECK_ERR(eddy_http_router_mount(router, "/deep", places_new(depth - 1)),
                          EDDY_E_HTTP_ROUTE);
        else
                CHECK_ERR(eddy_http_router_add(router, "GET /{id}", show_place, NULL, &place_doc),
                          EDDY_E_HTTP_ROUTE);
        return router;
}

TEST(a_table_with_a_field_that_is_not_in_the_pattern_is_refused)
{
        static const char *const patterns[] = { "GET /a", "GET /{id}", "GET /{team-id}/{ID}",
                                                "GET /{id}/{team-id...}" };

        CHECK_EQ(eddy_http_router_new(&root), 0);
        for (size_t i = 0; i < 3; i++) {
                CHECK_ERR(eddy_http_router_add(root, patterns[i], show_place, NULL, &place_doc),
                          EDDY_E_HTTP_ROUTE);
                check_fault(EDDY_E_HTTP_ROUTE, i == 2 ? "the field \"id\", which is not"
                                                      : "the field \"team-id\", which is not");
        }
        CHECK_EQ(eddy_http_router_add(root, patterns[3], show_place, NULL, &place_doc), 0);
        CHECK_ERR(eddy_http_router_mount(root, "/x/{other}", places_new(1)), EDDY_E_HTTP_ROUTE);
        check_fault(EDDY_E_HTTP_ROUTE, "the route \"GET /x/{other}/deep/{id}\": its table 'params' "
                                       "has the field \"team-id\"");
        (void) eddy_http_router_add(root, "GET /{id}", show_place, NULL, &place_doc);
        CHECK_ERR(eddy_http_router_use(root, NULL, NULL), -EINVAL);
        check_fault(-EINVAL, "a middleware is NULL");
        eddy_http_router_free(root);
}

static int ask_places(void *arg)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        struct eddy_http_client_opts opts = { .handler = eddy_http_router_handle,
                                              .handler_arg = root };
        char text[20];

        (void) arg;
        CHECK_EQ(eddy_http_client_new(&opts, &client), 0);
        CHECK_EQ(eddy_http_client_send(
                         client,
                         &(struct eddy_http_request){ .url = "http://a/teams/7/deep/deep/9" },
                         &response),
                 0);
        CHECK_EQ(eddy_http_response_status(response), 200);
        CHECK_EQ(eddy_http_response_read(response, text, sizeof(text)), 3);
        CHECK(memcmp(text, "7/9", 3) == 0);
        return 0;
}

TEST(the_prefix_of_a_mount_may_have_the_parameters_of_a_table)
{
        CHECK_EQ(eddy_http_router_new(&root), 0);
        CHECK_EQ(eddy_http_router_mount(root, "/teams/{team-id}", places_new(2)), 0);
        CHECK_EQ(eddy_http_router_check(root, NULL), 0);
        http_run(ask_places, NULL);
        eddy_http_router_free(root);
}

TEST(prefixes_that_are_not_valid_are_refused)
{
        static const char *const prefixes[] = {
                "/", "/a/", "a", "/{x...}", "GET /a", "/{", "/a b"
        };
        static const char *const users[] = { "GET /users", NULL };

        CHECK_EQ(eddy_http_router_new(&root), 0);
        for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
                CHECK_ERR(eddy_http_router_mount(root, prefixes[i], sub_new(users, "s")),
                          EDDY_E_HTTP_ROUTE);
                check_fault(EDDY_E_HTTP_ROUTE, "the prefix");
        }
        eddy_http_router_free(root);
}

/* ---- a site ---------------------------------------------------------------- */

static int route(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        order[0] = '\0';
        return eddy_http_router_handle(exchange, root);
}

static int inner(eddy_http_exchange *exchange, void *arg)
{
        int err = eddy_http_router_handle(exchange, arg);

        note(eddy_http_exchange_route(exchange));
        return err;
}

/* Routers: the root with middleware A and B, /api with C, /api/v1/{a} with D. */
static void build(void)
{
        static const char *const api[] = { "GET /users/{b}", "/any", "POST /users/{b}", NULL };
        static const char *const v1[] = { "GET /{b}", "GET /twice/{b}", NULL };
        eddy_http_router *sub, *deep, *closed;

        CHECK_EQ(eddy_http_router_new(&root), 0);
        CHECK_EQ(eddy_http_router_use(root, wrap, (void *) (uintptr_t) "A"), 0);
        CHECK_EQ(add("GET /"), 0);
        CHECK_EQ(add("GET /a/{a}"), 0);
        CHECK_EQ(add("PUT /a/{a}"), 0);
        CHECK_EQ(add("GET /files/{rest...}"), 0);
        CHECK_EQ(add("OPTIONS /own"), 0);
        CHECK_EQ(add("/every"), 0);
        CHECK_EQ(eddy_http_router_add(root, "GET /fail", fail, NULL, NULL), 0);
        deep = sub_new(v1, "deep");
        CHECK_EQ(eddy_http_router_use(deep, wrap, (void *) (uintptr_t) "D"), 0);
        sub = sub_new(api, "sub");
        CHECK_EQ(eddy_http_router_use(sub, wrap, (void *) (uintptr_t) "C"), 0);
        CHECK_EQ(eddy_http_router_mount(sub, "/v1/{a}", deep), 0);
        CHECK_EQ(eddy_http_router_mount(root, "/api", sub), 0);
        CHECK_EQ(eddy_http_router_new(&closed), 0);
        CHECK_EQ(eddy_http_router_use(closed, refuse, NULL), 0);
        CHECK_EQ(eddy_http_router_add(closed, "GET /", show, x, NULL), 0);
        CHECK_EQ(eddy_http_router_mount(root, "/closed", closed), 0);
        CHECK_EQ(eddy_http_router_use(root, wrap, (void *) (uintptr_t) "B"), 0);
        CHECK_EQ(eddy_http_router_use(root, add_id, (void *) (uintptr_t) "7"), 0);
        CHECK_EQ(eddy_http_router_check(root, NULL), 0);
}

static void prepare(struct site *site)
{
        site->handler = route;
}

#define ROUTER_TEST(claim)                                                                         \
        static void router_##claim(struct site *site);                                             \
        TEST(claim)                                                                                \
        {                                                                                          \
                build();                                                                           \
                site_run_prepared(NULL, false, prepare, router_##claim);                           \
                eddy_http_router_free(root);                                                       \
        }                                                                                          \
        static void router_##claim(struct site *site)

/* Returns the body of the answer. */
static const char *body_of(const struct answer *answer)
{
        return strstr(answer->text, "\r\n\r\n") + 4;
}

ROUTER_TEST(a_route_has_its_argument_its_pattern_and_its_parameters)
{
        CHECK_STR(body_of(ask(site, GET("/?q"))), "GET / (x)");
        CHECK_STR(body_of(ask(site, GET("/a/%20z%2f?a=no"))), "GET /a/{a} (x) a=[ z/]");
        CHECK_STR(body_of(ask(site, GET("/files/x/y"))), "GET /files/{rest...} (x) rest=[x/y]");
        CHECK_STR(body_of(ask(site, GET("http://a/files/"))), "GET /files/{rest...} (x) rest=[]");
        CHECK_STR(body_of(ask(site, SAY("PATCH", "/every"))), "/every (x)");
}

ROUTER_TEST(routes_of_a_mounted_router_are_below_its_prefix)
{
        CHECK_STR(body_of(ask(site, GET("/api/users/5"))), "GET /api/users/{b} (sub) b=[5]");
        CHECK_STR(body_of(ask(site, GET("/api/v1/p/q"))), "GET /api/v1/{a}/{b} (deep) a=[p] b=[q]");
        CHECK_STR(body_of(ask(site, SAY("DELETE", "/api/any"))), "/api/any (sub)");
        CHECK_EQ(ask(site, GET("/users/5"))->status, 404);
        CHECK_EQ(ask(site, GET("/api"))->status, 404);
}

ROUTER_TEST(middleware_encloses_the_handler_from_the_outermost_router_on)
{
        (void) ask(site, GET("/"));
        CHECK_STR(order, "ABh..");
        (void) ask(site, GET("/api/users/5"));
        CHECK_STR(order, "ABCh...");
        (void) ask(site, GET("/api/v1/p/q"));
        CHECK_STR(order, "ABCDh....");
        CHECK_EQ(ask(site, GET("/closed/"))->status, 401);
        CHECK_STR(order, "AB..");
        CHECK_HAS(ask(site, GET("/"))->text, "X-Id: 7\r\n");
}

ROUTER_TEST(the_routers_own_answers_have_middleware_too)
{
        const struct answer *answer = ask(site, GET("/none"));

        CHECK_EQ(answer->status, 404);
        CHECK_HAS(answer->text, "X-Id: 7\r\n" PROBLEM);
        CHECK_HAS(answer->text, "{\"title\":\"Not Found\",\"status\":404}");
        CHECK_STR(order, "AB..");
        answer = ask(site, SAY("PATCH", "/api/users/5"));
        CHECK_EQ(answer->status, 405);
        CHECK_HAS(answer->text, "Allow: GET, POST, HEAD, OPTIONS\r\n");
        CHECK_STR(order, "ABC...");
        (void) ask(site, SAY("OPTIONS", "/api/v1/p/q"));
        CHECK_STR(order, "ABCD....");
        CHECK_EQ(ask(site, SAY("OPTIONS", "/closed/"))->status, 401);
}

ROUTER_TEST(head_and_options_are_automatic)
{
        const struct answer *answer = ask(site, SAY("HEAD", "/a/1"));

        CHECK_EQ(answer->status, 200);
        CHECK_HAS(answer->text, "Content-Length: 20\r\n");
        CHECK_STR(body_of(answer), "");
        answer = ask(site, SAY("OPTIONS", "/a/1"));
        CHECK_EQ(answer->status, 204);
        CHECK_HAS(answer->text, "Allow: GET, PUT, HEAD, OPTIONS\r\n");
        answer = ask(site, SAY("OPTIONS", "/own"));
        CHECK_STR(body_of(answer), "OPTIONS /own (x)");
        CHECK_HAS(ask(site, GET("/own"))->text, "Allow: OPTIONS\r\n");
        CHECK_EQ(ask(site, SAY("OPTIONS", "/none"))->status, 404);
        CHECK_EQ(ask(site, SAY("OPTIONS", "*"))->status, 204);
        CHECK_EQ(ask(site, SAY("HEAD", "/own"))->status, 405);
}

ROUTER_TEST(a_path_that_is_not_valid_is_a_bad_request)
{
        static const char *const requests[] = { GET("/a/%00"), GET("/files/%2e%2E/x"),
                                                GET("/files/a%2f../x"), GET("/a/..") };

        for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
                const struct answer *answer = ask(site, requests[i]);

                CHECK_EQ(answer->status, 400);
                CHECK_HAS(answer->text, "\"status\":400,\"detail\":\"");
                CHECK_STR(order, "AB..");
        }
}

ROUTER_TEST(an_error_passes_the_middleware_and_is_answered_by_the_server)
{
        CHECK_EQ(ask(site, GET("/fail"))->status, 503);
        CHECK_STR(order, "AB!!");
}

ROUTER_TEST(a_path_of_any_length_has_its_route)
{
        static char request[4096], value[2100];

        for (size_t bytes = 480; bytes <= 2000; bytes += bytes < 520 ? 1 : 740) {
                memset(value, 'v', bytes);
                value[bytes] = '\0';
                snprintf(request, sizeof(request), GET("/a/%s"), value);
                CHECK_HAS(ask(site, request)->text, value);
        }
}

/* ---- other uses ------------------------------------------------------------ */

static void build_twice(void)
{
        CHECK_EQ(eddy_http_router_new(&root), 0);
        CHECK_EQ(eddy_http_router_new(&other), 0);
        CHECK_EQ(eddy_http_router_add(other, "GET /{a}/{rest...}", show, x, NULL), 0);
        CHECK_EQ(eddy_http_router_add(root, "/{b}/{all...}", inner, other, NULL), 0);
        CHECK_EQ(eddy_http_router_use(root, try_twice, NULL), 0);
        CHECK_EQ(eddy_http_router_use(root, wrap, (void *) (uintptr_t) "T"), 0);
        CHECK_EQ(eddy_http_router_add(root, "GET /fail", fail, NULL, NULL), 0);
}

static void ask_twice(struct site *site)
{
        CHECK_STR(body_of(ask(site, GET("/p/q/r"))),
                  "GET /{a}/{rest...} (x) a=[p] b=[p] rest=[q/r]");
        CHECK_STR(order, "Th/{b}/{all...}.");
        CHECK_EQ(ask(site, GET("/fail"))->status, 503);
        CHECK_STR(order, "T!T!");
}

TEST(a_router_in_a_handler_and_a_second_call_of_next_work)
{
        build_twice();
        site_run_prepared(NULL, false, prepare, ask_twice);
        eddy_http_router_free(root);
        eddy_http_router_free(other);
}

static int get(eddy_http_client *client, const char *url)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        int err =
                eddy_http_client_send(client, &(struct eddy_http_request){ .url = url }, &response);

        return err < 0 ? err : eddy_http_response_status(response);
}

static int ask_broken(void *arg)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;

        (void) arg;
        CHECK_EQ(eddy_http_client_new(
                         &(struct eddy_http_client_opts){ .handler = eddy_http_router_handle,
                                                          .handler_arg = root },
                         &client),
                 0);
        CHECK_EQ(get(client, "http://a/a/1"), 500);
        return 0;
}

TEST(a_router_with_a_mistake_serves_nothing_and_reports_the_mistake)
{
        struct eddy_test_result result;

        build();
        CHECK_ERR(add("GET /"), EDDY_E_HTTP_ROUTE);
        (void) eddy_test_run(ask_broken, NULL, NULL, &result);
        CHECK_HAS(result.problem,
                  "the router serves no request: the patterns \"GET /\" and \"GET /\"");
        eddy_http_router_free(root);
}

static int serve_broken(void *arg)
{
        EDDY_AUTO(eddy_listener) eddy_listener *listener = NULL;

        (void) arg;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        return eddy_http_serve(listener, NULL, eddy_http_router_handle, root);
}

static int serve_none(void *arg)
{
        EDDY_AUTO(eddy_listener) eddy_listener *listener = NULL;

        (void) arg;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        return eddy_http_serve(listener, NULL, eddy_http_router_handle, NULL);
}

TEST(a_server_does_not_start_with_a_router_that_has_a_mistake)
{
        struct eddy_test_result result;

        build();
        CHECK_ERR(add("GET /"), EDDY_E_HTTP_ROUTE);
        (void) eddy_test_run(serve_broken, NULL, NULL, &result);
        CHECK_EQ(result.result, EDDY_E_HTTP_ROUTE);
        CHECK_HAS(result.problem,
                  "the router serves no request: the patterns \"GET /\" and \"GET /\"");
        (void) eddy_test_run(serve_none, NULL, NULL, &result);
        CHECK_EQ(result.result, -EINVAL);
        eddy_http_router_free(root);
}

/* ---- faults ---------------------------------------------------------------- */

/* Build a router and ask it. */
static int build_and_ask(void *arg)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        EDDY_AUTO(eddy_http_router) eddy_http_router *router = NULL;
        eddy_http_router *sub;
        char url[800] = "http://a/s/";
        int err = eddy_http_router_new(&router);

        (void) arg;
        if (err < 0)
                return err;
        (void) eddy_http_router_use(router, add_id, (void *) (uintptr_t) "7");
        (void) eddy_http_router_add(router, "GET /s/{a}", show, x, NULL);
        err = eddy_http_router_new(&sub);
        if (err < 0)
                return err;
        (void) eddy_http_router_add(sub, "GET /t/{a}", show, x, NULL);
        (void) eddy_http_router_add(sub, "GET /u", show, x, NULL);
        (void) eddy_http_router_mount(router, "/m", sub);
        err = eddy_http_router_check(router, NULL);
        if (err >= 0)
                err = eddy_http_client_new(
                        &(struct eddy_http_client_opts){ .handler = eddy_http_router_handle,
                                                         .handler_arg = router },
                        &client);
        memset(url + 11, 'v', 600);
        if (err >= 0)
                err = get(client, url);
        if (err == 200)
                err = get(client, "http://a/m/t/1");
        if (err == 200)
                err = get(client, "http://a/m/u/none");
        return err < 0 ? err : err == 404 || err == 500 ? 0 : -EPROTO;
}

TEST(a_cancel_or_a_shortage_of_memory_at_any_point_leaves_nothing)
{
        static const int kinds[] = { EDDY_TEST_SEEDS, EDDY_TEST_CANCEL, EDDY_TEST_ALLOC,
                                     EDDY_TEST_ALLOC_FOREVER };

        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                struct eddy_test_sweep sweep;

                CHECK_EQ(eddy_test_sweep(kinds[i], build_and_ask, NULL, NULL, &sweep), 0);
                CHECK(sweep.tried > 0);
        }
}
