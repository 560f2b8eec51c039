/*
 * http/router.c - building routers, see eddy/http_router.h; http/router_handle.c has the serving.
 */
#include "http/router.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fields.h"
#include "eddy/error.h"
#include "http/route_doc.h"

int eddy_http_router_new(eddy_http_router **ret_router)
{
        eddy_http_router *router = ed_alloc_zero(sizeof(*router));

        if (!router)
                return -ENOMEM;
        *ret_router = router;
        return 0;
}

void eddy_http_router_free(eddy_http_router *router)
{
        if (!router)
                return;
        ed_route_tree_fini(&router->tree);
        while (router->routes) {
                struct ed_http_route *route = router->routes;

                router->routes = route->next_owned;
                if (route->release)
                        route->release(route->arg);
                ed_route_fini(&route->base);
                ed_free(route);
        }
        while (router->middleware) {
                struct ed_http_middleware *middleware = router->middleware;

                router->middleware = middleware->next;
                if (middleware->release)
                        middleware->release(middleware->arg);
                ed_free(middleware);
        }
        while (router->subs) {
                eddy_http_router *sub = router->subs;

                router->subs = sub->next_sub;
                eddy_http_router_free(sub);
        }
        ed_free(router);
}

int ed_http_router_failed(eddy_http_router *router, int err, const char *text)
{
        for (; router; router = router->parent)
                if (router->err == 0 || router->lacks) {
                        router->err = err;
                        router->lacks = false;
                        snprintf(router->text, sizeof(router->text), "%s", text);
                }
        return err;
}

/* Refuse to change a router that is part of another. */
static int refuse_mounted(eddy_http_router *router)
{
        return ed_http_router_failed(router, EDDY_E_HTTP_STATE,
                                     "a router cannot be changed after it was mounted in another");
}

/* Check the description of a route. */
static int check_doc(const char *pattern, const struct eddy_http_route_doc *doc, char *text)
{
        struct eddy_json_error error;
        int err = ed_http_route_doc_check(doc, &error);

        if (err == EDDY_E_HTTP_ROUTE)
                snprintf(text, ED_ROUTE_FAULT_BYTES, "the route \"%.230s\": %s", pattern,
                         error.text);
        return err;
}

/* Returns true if the pattern of the route has a parameter with the name. */
static bool has_param(const struct ed_route *route, const char *name)
{
        const char *at = route->names;

        for (uint32_t i = 0; i < route->count; i++, at += strlen(at) + 1)
                if (strcmp(at, name) == 0)
                        return true;
        return false;
}

/*
 * Keep the error that a field of the parameters' table is not in the pattern. The prefix with which the
 * router is mounted may have it.
 */
static int lacks(eddy_http_router *router, const struct ed_http_route *route, const char *name)
{
        if (router->err == 0) {
                router->err = EDDY_E_HTTP_ROUTE;
                router->lacks = true;
                snprintf(router->text, sizeof(router->text),
                         "the route \"%.300s\": its table 'params' has the field \"%.100s\", which "
                         "is not a parameter of the pattern",
                         route->base.text, name);
        }
        return EDDY_E_HTTP_ROUTE;
}

/* Check that the pattern has the parameters that are read. */
static int check_params(eddy_http_router *router, const struct ed_http_route *route)
{
        const struct eddy_fields *params = route->doc ? route->doc->params : NULL;

        for (size_t i = 0; params && i < params->count; i++) {
                const char *name = ed_field_name(&params->list[i]);

                if (!has_param(&route->base, name))
                        return lacks(router, route, name);
        }
        return 0;
}

int eddy_http_router_add(eddy_http_router *router, const char *pattern,
                         eddy_http_handler_fn *handler, void *arg,
                         const struct eddy_http_route_doc *doc)
{
        char text[ED_ROUTE_FAULT_BYTES] = "there is not enough memory for a route";
        struct ed_http_route *route;
        int err;

        if (router->parent)
                return refuse_mounted(router);
        if (!pattern || !handler)
                return ed_http_router_failed(router, -EINVAL,
                                             "a route has no pattern or no handler (NULL)");
        route = ed_alloc_zero(sizeof(*route));
        if (!route)
                return ed_http_router_failed(router, -ENOMEM, text);
        err = ed_route_init(&route->base, "", pattern, text);
        if (err >= 0 && doc)
                err = check_doc(pattern, doc, text);
        if (err >= 0)
                err = ed_route_tree_add(&router->tree, &route->base, text);
        if (err < 0) {
                ed_route_fini(&route->base);
                ed_free(route);
                return ed_http_router_failed(router, err, text);
        }
        route->handler = handler;
        route->arg = arg;
        route->doc = doc;
        route->owner = router;
        route->next_owned = router->routes;
        router->routes = route;
        return check_params(router, route);
}

void ed_http_router_own_last(eddy_http_router *router, void (*release)(void *arg))
{
        router->routes->release = release;
}

int eddy_http_router_use(eddy_http_router *router, eddy_http_middleware_fn *middleware, void *arg)
{
        struct ed_http_middleware *added, **at = &router->middleware;

        if (router->parent)
                return refuse_mounted(router);
        if (!middleware)
                return ed_http_router_failed(router, -EINVAL, "a middleware is NULL");
        added = ed_alloc(sizeof(*added));
        if (!added)
                return ed_http_router_failed(router, -ENOMEM,
                                             "there is not enough memory for a middleware");
        *added = (struct ed_http_middleware){ .fn = middleware, .arg = arg };
        while (*at)
                at = &(*at)->next;
        *at = added;
        return 0;
}

int ed_http_router_use_own(eddy_http_router *router, eddy_http_middleware_fn *middleware, void *arg,
                           void (*release)(void *arg))
{
        struct ed_http_middleware *last;
        int err;

        if (!arg)
                return ed_http_router_failed(router, -ENOMEM,
                                             "there is not enough memory for a middleware");
        err = eddy_http_router_use(router, middleware, arg);
        if (err < 0) {
                release(arg);
                return err;
        }
        for (last = router->middleware; last->next; last = last->next)
                ;
        last->release = release;
        return 0;
}

/* ---- mounting -------------------------------------------------------------- */

/* Check the path of a mounted router as a pattern of its own. */
static int check_prefix(const char *prefix, char *text)
{
        struct ed_route route;
        int err = 0;

        if (!prefix[0])
                return 0;
        if (prefix[0] == '/' && prefix[strlen(prefix) - 1] != '/')
                err = ed_route_init(&route, "", prefix, text);
        else
                err = EDDY_E_HTTP_ROUTE;
        if (err >= 0) {
                err = route.has_rest || strchr(prefix, ' ') ? EDDY_E_HTTP_ROUTE : 0;
                ed_route_fini(&route);
        } else if (err != EDDY_E_HTTP_ROUTE) {
                return err;
        }
        if (err < 0)
                snprintf(
                        text, ED_ROUTE_FAULT_BYTES,
                        "the prefix \"%.300s\": write \"\", or a path without a '/' at its end and "
                        "without {rest...}, as in \"/api\"",
                        prefix);
        return err;
}

/* Move a route of 'sub' into the tree of 'router'. */
static int move_route(eddy_http_router *router, const char *prefix, struct ed_route *base,
                      char *text)
{
        struct ed_route old = *base;
        int err = ed_route_init(base, prefix, old.text, text);

        if (err < 0) {
                *base = old;
                return err;
        }
        ed_route_fini(&old);
        return ed_route_tree_add(&router->tree, base, text);
}

/* Move all routes of 'sub', of which none is in a tree if one of them fails. */
static int move_routes(eddy_http_router *router, const char *prefix, eddy_http_router *sub,
                       char *text)
{
        struct ed_route *base, *next;
        int err = check_prefix(prefix, text);

        for (base = sub->tree.first; base && err >= 0; base = next) {
                next = base->next_added;
                err = move_route(router, prefix, base, text);
        }
        ed_route_tree_fini(&sub->tree);
        return err;
}

/* Check the parameters of the routes of 'sub', which now have their prefix. */
static int check_moved(eddy_http_router *router, const eddy_http_router *sub)
{
        int err = 0;

        for (const struct ed_http_route *route = sub->routes; route && err == 0;
             route = route->next_owned)
                err = check_params(router, route);
        for (sub = sub->subs; sub && err == 0; sub = sub->next_sub)
                err = check_moved(router, sub);
        return err;
}

int eddy_http_router_mount(eddy_http_router *router, const char *prefix, eddy_http_router *sub)
{
        char text[ED_ROUTE_FAULT_BYTES] = "there is not enough memory for the routes of a router";
        int err;

        if (router->parent)
                return refuse_mounted(router);
        if (!prefix || !sub || sub == router)
                return ed_http_router_failed(
                        router, -EINVAL,
                        "a mounted router or its prefix is NULL, or it is mounted in itself");
        if (sub->parent)
                return ed_http_router_failed(router, EDDY_E_HTTP_STATE,
                                             "a router was mounted twice");
        sub->parent = router;
        sub->next_sub = router->subs;
        router->subs = sub;
        if (sub->err < 0 && !sub->lacks)
                return ed_http_router_failed(router, sub->err, sub->text);
        err = move_routes(router, prefix, sub, text);
        if (err < 0)
                return ed_http_router_failed(router, err, text);
        return sub->lacks ? check_moved(router, sub) : 0;
}

int eddy_http_router_check(const eddy_http_router *router, const char **ret_text)
{
        if (ret_text)
                *ret_text = router->text;
        return router->err;
}
