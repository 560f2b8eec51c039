/*
 * wire/route.h - patterns such as "GET /users/{id}", and a tree that finds the pattern of a path.
 *
 * A tree has a node for each segment of its patterns. The children of a node with a text are in a hash
 * table of the whole tree, so the time of a search depends on the segments of the path and not on the
 * number of patterns. A search tries a text before a parameter, and a parameter before the rest of a
 * path, and goes back if a choice leads to no pattern. It visits each node at most once.
 */
#ifndef ED_WIRE_ROUTE_H
#define ED_WIRE_ROUTE_H

#include <stdbool.h>

#include "base/def.h"
#include "base/hash_table.h"
#include "eddy/http_router.h"

enum {
        ED_ROUTE_SEGMENTS_MAX = EDDY_HTTP_ROUTE_DEPTH_MAX,
        ED_ROUTE_NAME_BYTES_MAX = 64, /* of a parameter's name */
        ED_ROUTE_FAULT_BYTES = 600,   /* of a sentence with its NUL */
        ED_ROUTE_METHODS_MAX = 32,    /* of one path, in an answer */
};

/* A pattern. The caller embeds it, and finds its own struct by it. */
struct ed_route {
        struct ed_route *next; /* of its node */
        struct ed_route *next_added;
        char *text;          /* owned: the whole pattern; the parameters' names follow */
        const char *path;    /* in 'text' */
        size_t method_bytes; /* 0: any method */
        const char *names;   /* of the parameters, each with a NUL */
        uint32_t count;      /* of parameters, also that of the rest */
        bool has_rest;       /* the last parameter is the rest of the path */
};

struct ed_route_node {
        struct ed_hash_node in_table; /* of a node with a text */
        const struct ed_route_node *parent;
        struct ed_route_node *next_made;
        struct ed_route_node *param; /* the child that is a parameter */
        struct ed_route *ends;       /* patterns that end here */
        struct ed_route *rests;      /* patterns that end here with the rest of the path */
        uint32_t texts;              /* children with a text */
        char text[];                 /* decoded */
};

/* A tree is zero before its first use. */
struct ed_route_tree {
        struct ed_hash_table table;
        struct ed_route_node *root; /* NULL: empty */
        struct ed_route_node *made; /* all nodes but the root */
        struct ed_route *first;     /* all patterns in the order added */
        struct ed_route *last;
};

/*
 * Make a route of the pattern "[METHOD ]PATH", below the path 'prefix' ("" or as "/api").
 *
 * Errors: EDDY_E_HTTP_ROUTE  the pattern is not valid; 'fault' has a sentence
 *         -ENOMEM
 * Owns: returns (owned) the text of '*route', until ed_route_fini().
 */
EDDY_MUST_USE ED_SHARED int ed_route_init(struct ed_route *route, const char *prefix,
                                          const char *pattern, char fault[ED_ROUTE_FAULT_BYTES]);
ED_SHARED void ed_route_fini(struct ed_route *route);

/*
 * Add a route to a tree.
 *
 * Errors: EDDY_E_HTTP_ROUTE  another route matches the same requests; 'fault' has a sentence
 *         -ENOMEM
 * Owns: borrows 'route' as long as the tree is used.
 */
EDDY_MUST_USE ED_SHARED int ed_route_tree_add(struct ed_route_tree *tree, struct ed_route *route,
                                              char fault[ED_ROUTE_FAULT_BYTES]);

/* Free the tree's own memory, and make the tree empty. */
ED_SHARED void ed_route_tree_fini(struct ed_route_tree *tree);

/* A path, of which each segment is decoded and ends in a NUL. */
struct ed_route_path {
        char *at;  /* of the first segment */
        char *end; /* of the NUL of the last */
};

/*
 * Decode a path that begins with '/' to 'out', which has strlen(path) + 1 bytes. Returns NULL, or a
 * sentence if the path is not valid: a wrong '%', %00, or a segment with the part "." or "..".
 */
EDDY_MUST_USE ED_SHARED const char *ed_route_split(const char *path, char *out,
                                                   struct ed_route_path *ret_path);

/* The result of a search. */
struct ed_route_match {
        const struct ed_route *route; /* NULL: none */
        uint32_t count;
        const char *values[EDDY_HTTP_ROUTE_PARAMS_MAX]; /* of route->count parameters */
};

/*
 * Find the route of a request; HEAD finds a route of GET too. Returns true if there is one. The values
 * are in the memory of 'path', which is changed.
 */
ED_SHARED bool ed_route_find(const struct ed_route_tree *tree, const char *method,
                             const struct ed_route_path *path, struct ed_route_match *ret_match);

/*
 * Store the routes of a path, one for each method, in the order in which a search finds them. Returns
 * their number; 0: the path has no route. A route for any method is the last.
 */
ED_SHARED size_t ed_route_methods(const struct ed_route_tree *tree,
                                  const struct ed_route_path *path,
                                  const struct ed_route *out[ED_ROUTE_METHODS_MAX]);

#endif
