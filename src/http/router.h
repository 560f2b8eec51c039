/*
 * http/router.h - a router: the tree of its routes, its middleware and the routers mounted in it.
 *
 * The routes of a mounted router are moved into the tree of the router above, so a request is searched
 * once. A route remembers the router to which it was added, whose middleware encloses it.
 */
#ifndef ED_HTTP_ROUTER_H
#define ED_HTTP_ROUTER_H

#include "eddy/http_router.h"
#include "http/exchange.h"
#include "wire/route.h"

struct ed_http_run_loop;

struct ed_http_middleware {
        struct ed_http_middleware *next;
        eddy_http_middleware_fn *fn;
        void *arg;
        void (*release)(void *arg); /* NULL: 'arg' is the program's */
};

struct ed_http_route {
        struct ed_route base;
        eddy_http_handler_fn *handler;
        void *arg;
        const struct eddy_http_route_doc *doc; /* NULL: none */
        const eddy_http_router *owner;         /* the router to which it was added */
        void (*release)(void *arg);            /* NULL: 'arg' is the program's */
        struct ed_http_route *next_owned;
};

struct eddy_http_router {
        struct ed_route_tree tree;             /* empty after it was mounted */
        struct ed_http_route *routes;          /* owned */
        struct ed_http_middleware *middleware; /* owned; the outermost first */
        eddy_http_router *parent;              /* NULL: not mounted */
        eddy_http_router *subs;                /* owned: mounted in it */
        eddy_http_router *next_sub;
        struct ed_http_run_loop *loop; /* of eddy_http_run(); NULL: none */
        int err;                       /* the first of building; 0: none */
        bool lacks;                    /* 'err' is that of lacks(); any other error replaces it */
        char text[ED_ROUTE_FAULT_BYTES];
};

/* The route of a request and its parameters, in the frame of the router that serves. */
struct ed_http_params {
        const struct ed_http_params *outer; /* of a router that has called this one; NULL: none */
        struct ed_route_match match;
};

/*
 * Returns 0, -EINVAL without a router, or the first error of building it, which is reported unless it is
 * -ENOMEM: the program has not called eddy_http_router_check().
 */
int ed_http_router_ready(const eddy_http_router *router);

/*
 * Keep the first error of building a router and its sentence, also in the routers that contain it.
 * Returns 'err'.
 */
int ed_http_router_failed(eddy_http_router *router, int err, const char *text);

/*
 * Give the argument of the route that was added last to the router, which frees it by 'release'.
 */
void ed_http_router_own_last(eddy_http_router *router, void (*release)(void *arg));

/*
 * Add middleware whose argument belongs to the router. It is freed by 'release'.
 *
 * Errors: those of eddy_http_router_use(); kept in the router
 *         -ENOMEM  also: 'arg' is NULL
 * Owns: takes 'arg', also after an error.
 */
int ed_http_router_use_own(eddy_http_router *router, eddy_http_middleware_fn *middleware, void *arg,
                           void (*release)(void *arg));

#endif
