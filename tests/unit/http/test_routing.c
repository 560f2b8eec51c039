/*
 * test_routing.c - requests to a router, those of docs/http_requests.md: each gets the route, the answer
 * or the refusal of its rule.
 */
#include <stdlib.h>
#include <string.h>

#include "eddy/http_router.h"
#include "server_test.h"

static const struct routed {
        const char *claim, *request;
        int status;
        const char *part;
} cases[] = {
#define ROUTE(claim, rule, why, request, status, part) { #claim, request, status, part },
#include "routes.h"
#undef ROUTE
};

static eddy_http_router *router;

/* Answer with the pattern and the parameters. */
static int show(eddy_http_exchange *exchange, void *arg)
{
        static const char *const names[] = { "v", "id", "rest" };
        char text[500];
        int n = snprintf(text, sizeof(text), "%s", eddy_http_exchange_route(exchange));

        (void) arg;
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                const char *value = eddy_http_exchange_param(exchange, names[i]);

                if (value)
                        n += snprintf(text + n, sizeof(text) - (size_t) n, " %s=[%s]", names[i],
                                      value);
        }
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, text, (size_t) n);
}

static int route(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_router_handle(exchange, router);
}

static void prepare(struct site *site)
{
        static const char *const patterns[] = {
                "GET /", "GET /users/me", "GET /users/{id}", "DELETE /users/{id}",
                "/any",  "OPTIONS /own",  "GET /folder/",    "GET /files/{rest...}"
        };
        eddy_http_router *api;

        CHECK_EQ(eddy_http_router_new(&router), 0);
        CHECK_EQ(eddy_http_router_new(&api), 0);
        for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
                CHECK_EQ(eddy_http_router_add(router, patterns[i], show, NULL, NULL), 0);
        CHECK_EQ(eddy_http_router_add(api, "GET /users/{id}", show, NULL, NULL), 0);
        CHECK_EQ(eddy_http_router_add(api, "POST /users/{id}", show, NULL, NULL), 0);
        CHECK_EQ(eddy_http_router_mount(router, "/api/{v}", api), 0);
        site->handler = route;
}

static void ask_cases(struct site *site)
{
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                const struct routed *routed = &cases[i];
                const struct answer *answer;
                char text[300];

                snprintf(text, sizeof(text), "%s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
                         routed->request);
                answer = ask(site, text);
                if (answer->status != routed->status || !strstr(answer->text, routed->part))
                        test_fail(__FILE__, __LINE__, "%s: '%s' is answered by '%s'", routed->claim,
                                  routed->request, answer->text);
                CHECK_EQ(answer->responses, 1);
                if (strncmp(routed->request, "HEAD ", 5) == 0)
                        CHECK_STR(strstr(answer->text, "\r\n\r\n"), "\r\n\r\n");
        }
        eddy_http_router_free(router);
}

TEST(each_request_to_a_router_has_the_answer_of_its_rule)
{
        site_run_prepared(NULL, false, prepare, ask_cases);
}
