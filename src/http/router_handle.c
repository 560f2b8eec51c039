/*
 * http/router_handle.c - serving a request by a router: its route, the middleware, the handler.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "http/problem.h"
#include "http/route_doc.h"
#include "http/router.h"
#include "scope/report.h"
#include "scope/task.h"

enum {
        ROOM_BYTES = 500,  /* for a decoded path in the frame */
        ALLOW_BYTES = 512, /* of the header Allow with its NUL; further methods are left out */
};

/* A request in a router. */
struct routing {
        struct ed_http_params params;
        const eddy_http_router *router;
        const eddy_http_router *owner; /* its middleware encloses the handler, or the answer */
        struct ed_route_path path;
        const char *wrong; /* why the path is not valid; NULL: it is valid */
};

/* The place in the middleware. */
struct eddy_http_next {
        const struct routing *routing;
        const eddy_http_router *router;
        const struct ed_http_middleware *middleware; /* the next of this router; NULL: none */
};

/* ---- answers of the router ------------------------------------------------- */

/* Write the names of the methods of a path to 'allow'. */
static void write_allow(const struct ed_route *const *routes, size_t count, char *allow)
{
        static const char options[] = "OPTIONS";
        bool has_head = false, has_get = false, has_options = false;
        size_t n = 0;

        for (size_t i = 0; i < count; i++) {
                size_t bytes = routes[i]->method_bytes;

                if (bytes == 0 || n + bytes + 20 > ALLOW_BYTES)
                        continue;
                memcpy(allow + n, routes[i]->text, bytes);
                memcpy(allow + n + bytes, ", ", 2);
                n += bytes + 2;
                has_get |= bytes == 3 && memcmp(routes[i]->text, "GET", 3) == 0;
                has_head |= bytes == 4 && memcmp(routes[i]->text, "HEAD", 4) == 0;
                has_options |= bytes == 7 && memcmp(routes[i]->text, options, 7) == 0;
        }
        if (has_get && !has_head) {
                memcpy(allow + n, "HEAD, ", 6);
                n += 6;
        }
        if (!has_options)
                memcpy(allow + n, options, sizeof(options));
        else
                allow[n - 2] = '\0';
}

/* Answer a path that has routes, but none for the method. */
static int answer_method(eddy_http_exchange *exchange, const struct ed_route *const *routes,
                         size_t count)
{
        char allow[ALLOW_BYTES];
        int err;

        write_allow(routes, count, allow);
        err = eddy_http_exchange_add_header(exchange, "Allow", allow);
        if (err < 0)
                return err;
        if (strcmp(eddy_http_exchange_method(exchange), "OPTIONS") == 0)
                return eddy_http_exchange_respond(exchange, 204, NULL, 0, NULL, 0);
        return ed_http_problem_respond(exchange, 405, NULL);
}

/* Answer a request without a route. */
static int answer_itself(eddy_http_exchange *exchange, const struct routing *routing)
{
        const struct ed_route *routes[ED_ROUTE_METHODS_MAX];
        size_t count;

        if (routing->wrong)
                return ed_http_problem_respond(exchange, 400, routing->wrong);
        if (!routing->path.at) /* "*" */
                return strcmp(eddy_http_exchange_method(exchange), "OPTIONS") == 0
                               ? eddy_http_exchange_respond(exchange, 204, NULL, 0, NULL, 0)
                               : ed_http_problem_respond(exchange, 404, NULL);
        count = ed_route_methods(&routing->router->tree, &routing->path, routes);
        return count > 0 ? answer_method(exchange, routes, count)
                         : ed_http_problem_respond(exchange, 404, NULL);
}

/* ---- middleware ------------------------------------------------------------ */

/* Returns the router in 'router' that is 'owner' or contains it. */
static const eddy_http_router *towards(const eddy_http_router *router,
                                       const eddy_http_router *owner)
{
        while (owner->parent != router)
                owner = owner->parent;
        return owner;
}

int eddy_http_next(eddy_http_exchange *exchange, struct eddy_http_next *next)
{
        const struct routing *routing = next->routing;
        const struct ed_http_middleware *middleware = next->middleware;
        const eddy_http_router *router = next->router;
        const struct ed_http_route *route;
        int err;

        while (!middleware && router != routing->owner) {
                router = towards(router, routing->owner);
                middleware = router->middleware;
        }
        if (middleware) {
                struct eddy_http_next inner = { routing, router, middleware->next };

                return middleware->fn(exchange, &inner, middleware->arg);
        }
        if (!routing->params.match.route)
                return answer_itself(exchange, routing);
        route = ed_container_of(routing->params.match.route, struct ed_http_route, base);
        err = route->doc ? ed_http_route_doc_read(route->doc, exchange) : 0;
        if (err < 0)
                return err;
        err = route->handler(exchange, route->arg);
        return err < 0 && route->doc ? ed_http_route_doc_answer(route->doc, exchange, err) : err;
}

/* ---- serving --------------------------------------------------------------- */

/* Find the route of a request whose path has been decoded. */
static void find(const eddy_http_router *router, eddy_http_exchange *exchange,
                 struct routing *routing)
{
        struct ed_route_match *match = &routing->params.match;
        const struct ed_route *routes[ED_ROUTE_METHODS_MAX], *route;

        if (ed_route_find(&router->tree, eddy_http_exchange_method(exchange), &routing->path,
                          match))
                route = match->route;
        else if (ed_route_methods(&router->tree, &routing->path, routes) > 0)
                route = routes[0];
        else
                return;
        routing->owner = ed_container_of(route, const struct ed_http_route, base)->owner;
}

static int serve(const eddy_http_router *router, eddy_http_exchange *exchange, const char *path,
                 char *room)
{
        struct routing routing = { .router = router, .owner = router };
        struct eddy_http_next next = { &routing, router, router->middleware };
        int result;

        routing.params.match.route = NULL;
        routing.params.outer = exchange->params;
        if (path[0] == '/') {
                routing.wrong = ed_route_split(path, room, &routing.path);
                if (!routing.wrong)
                        find(router, exchange, &routing);
        }
        exchange->params = &routing.params;
        result = eddy_http_next(exchange, &next);
        exchange->params = routing.params.outer;
        return result;
}

int ed_http_router_ready(const eddy_http_router *router)
{
        char text[ED_ROUTE_FAULT_BYTES + 64];

        if (!router)
                return -EINVAL;
        if (router->err == 0)
                return 0;
        snprintf(text, sizeof(text), "the router serves no request: %s", router->text);
        if (router->err != -ENOMEM && ed_loop_current)
                ed_report_task(ed_loop_current, EDDY_REPORT_MISUSE, router->err, ed_task_running(),
                               text);
        return router->err;
}

int eddy_http_router_handle(eddy_http_exchange *exchange, void *arg)
{
        const eddy_http_router *router = arg;
        const char *path = eddy_http_exchange_path(exchange);
        char room[ROOM_BYTES + 1], *large = NULL;
        size_t bytes = strlen(path);
        int result;

        if (ed_unlikely(!router || router->err < 0))
                return ed_http_router_ready(router);
        if (bytes > ROOM_BYTES) {
                large = ed_alloc(bytes + 1);
                if (!large)
                        return -ENOMEM;
        }
        result = serve(router, exchange, path, large ? large : room);
        ed_free(large);
        return result;
}

const char *eddy_http_exchange_param(const eddy_http_exchange *exchange, const char *name)
{
        for (const struct ed_http_params *params = exchange->params; params;
             params = params->outer) {
                const struct ed_route *route = params->match.route;
                const char *at = route ? route->names : NULL;

                for (uint32_t i = 0; route && i < route->count; i++, at += strlen(at) + 1)
                        if (strcmp(at, name) == 0)
                                return params->match.values[i];
        }
        return NULL;
}

const char *eddy_http_exchange_route(const eddy_http_exchange *exchange)
{
        const struct ed_http_params *params = exchange->params;

        return params && params->match.route ? params->match.route->text : "";
}
