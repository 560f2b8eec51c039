/*
 * wire/route_tree.c - a tree of routes, see route.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "wire/route.h"

static struct ed_route_node *node_of(struct ed_hash_node *node)
{
        return ed_container_of(node, struct ed_route_node, in_table);
}

/* Hash a segment below a node, and store the segment's bytes. */
static uint64_t hash_of(const struct ed_route_node *parent, const char *text, size_t *ret_bytes)
{
        uint64_t hash = ED_HASH_EMPTY ^ (uint64_t) (uintptr_t) parent;
        size_t n = 0;

        for (; text[n]; n++)
                hash = ed_hash(hash, text + n, 1);
        *ret_bytes = n;
        return ed_hash_number(hash);
}

static struct ed_route_node *child_with(const struct ed_route_tree *tree,
                                        const struct ed_route_node *parent, const char *text,
                                        uint64_t hash)
{
        ed_hash_each (node, &tree->table, hash)
                if (node_of(node)->parent == parent && strcmp(node_of(node)->text, text) == 0)
                        return node_of(node);
        return NULL;
}

/* ---- building -------------------------------------------------------------- */

static struct ed_route_node *node_new(struct ed_route_tree *tree,
                                      const struct ed_route_node *parent, const char *text,
                                      size_t bytes)
{
        struct ed_route_node *node = ed_alloc_zero(sizeof(*node) + bytes + 1);

        if (!node)
                return NULL;
        node->parent = parent;
        memcpy(node->text, text, bytes);
        node->next_made = tree->made;
        tree->made = node;
        return node;
}

/* Returns the child for a segment of a pattern, which is made if it is missing; NULL: no memory. */
static struct ed_route_node *child_for(struct ed_route_tree *tree, struct ed_route_node *parent,
                                       const char *text, bool is_param)
{
        struct ed_route_node *child;
        uint64_t hash;
        size_t bytes;

        if (is_param) {
                if (!parent->param)
                        parent->param = node_new(tree, parent, "", 0);
                return parent->param;
        }
        hash = hash_of(parent, text, &bytes);
        child = child_with(tree, parent, text, hash);
        if (child)
                return child;
        child = node_new(tree, parent, text, bytes);
        if (!child)
                return NULL;
        ed_hash_table_add(&tree->table, &child->in_table, hash);
        parent->texts++;
        return child;
}

/* Returns a route of the list for the same method, or NULL. */
static const struct ed_route *same_in(const struct ed_route *list, const struct ed_route *route)
{
        for (; list; list = list->next)
                if (list->method_bytes == route->method_bytes &&
                    memcmp(list->text, route->text, route->method_bytes) == 0)
                        return list;
        return NULL;
}

/* Put the route into the list of a node. */
static int end_at(struct ed_route_tree *tree, struct ed_route **list, struct ed_route *route,
                  char *fault)
{
        const struct ed_route *same = same_in(*list, route);

        if (same) {
                snprintf(fault, ED_ROUTE_FAULT_BYTES,
                         "the patterns \"%.230s\" and \"%.230s\" match the same requests",
                         same->text, route->text);
                return EDDY_E_HTTP_ROUTE;
        }
        while (*list)
                list = &(*list)->next;
        *list = route;
        route->next = NULL;
        route->next_added = NULL;
        if (tree->last)
                tree->last->next_added = route;
        else
                tree->first = route;
        tree->last = route;
        return 0;
}

int ed_route_tree_add(struct ed_route_tree *tree, struct ed_route *route,
                      char fault[ED_ROUTE_FAULT_BYTES])
{
        char decoded[EDDY_HTTP_ROUTE_BYTES_MAX + 1];
        struct ed_route_path path;
        struct ed_route_node *node;

        if (!tree->root)
                tree->root = ed_alloc_zero(sizeof(*tree->root) + 1);
        node = tree->root;
        /* The pattern was checked when the route was made. */
        if (!node || ed_route_split(route->path, decoded, &path))
                return -ENOMEM;
        /* 'as' is the segment as written: a text may have a brace after it is decoded. */
        for (const char *at = path.at, *as = route->path; at <= path.end; at += strlen(at) + 1) {
                bool is_param = *++as == '{';

                as += strcspn(as, "/");
                if (route->has_rest && !*as)
                        return end_at(tree, &node->rests, route, fault);
                node = child_for(tree, node, at, is_param);
                if (!node)
                        return -ENOMEM;
        }
        return end_at(tree, &node->ends, route, fault);
}

void ed_route_tree_fini(struct ed_route_tree *tree)
{
        while (tree->made) {
                struct ed_route_node *node = tree->made;

                tree->made = node->next_made;
                ed_free(node);
        }
        ed_free(tree->root);
        ed_hash_table_fini(&tree->table);
        *tree = (struct ed_route_tree){ 0 };
}

/* ---- searching ------------------------------------------------------------- */

struct search {
        const struct ed_route_tree *tree;
        const char *end;    /* of the path */
        const char *method; /* NULL: collect the methods */
        size_t method_bytes;
        struct ed_route_match *match;
        const struct ed_route **methods;
        size_t methods_count;
};

/* Add the routes of a list for methods that were not found yet. */
static void collect(struct search *search, const struct ed_route *list)
{
        for (; list; list = list->next) {
                size_t i = 0;

                while (i < search->methods_count &&
                       (search->methods[i]->method_bytes != list->method_bytes ||
                        memcmp(search->methods[i]->text, list->text, list->method_bytes) != 0))
                        i++;
                if (i == search->methods_count && i < ED_ROUTE_METHODS_MAX)
                        search->methods[search->methods_count++] = list;
        }
}

/* Returns the route of the list for the method: the method's own, of GET for HEAD, or for any. */
static const struct ed_route *for_method(struct search *search, const struct ed_route *list)
{
        const struct ed_route *get = NULL, *any = NULL;

        if (ed_unlikely(!search->method)) {
                collect(search, list);
                return NULL;
        }
        for (; list; list = list->next) {
                if (list->method_bytes == search->method_bytes &&
                    memcmp(list->text, search->method, search->method_bytes) == 0)
                        return list;
                if (list->method_bytes == 0)
                        any = list;
                else if (list->method_bytes == 3 && memcmp(list->text, "GET", 3) == 0)
                        get = list;
        }
        if (get && search->method_bytes == 4 && memcmp(search->method, "HEAD", 4) == 0)
                return get;
        return any;
}

/* Search below a node, from the segment 'at'. The depth of the recursion is that of the tree. */
static const struct ed_route *search_below(struct search *search, const struct ed_route_node *node,
                                           const char *at)
{
        struct ed_route_match *match = search->match;
        const struct ed_route *route = NULL;
        size_t bytes;

        if (at > search->end)
                return for_method(search, node->ends);
        if (node->texts > 0) {
                uint64_t hash = hash_of(node, at, &bytes);
                const struct ed_route_node *child = child_with(search->tree, node, at, hash);

                route = child ? search_below(search, child, at + bytes + 1) : NULL;
        } else {
                bytes = strlen(at);
        }
        if (!route && node->param && bytes > 0) {
                match->values[match->count++] = at;
                route = search_below(search, node->param, at + bytes + 1);
                if (!route)
                        match->count--;
        }
        if (!route && node->rests) {
                route = for_method(search, node->rests);
                if (route)
                        match->values[match->count++] = at;
        }
        return route;
}

bool ed_route_find(const struct ed_route_tree *tree, const char *method,
                   const struct ed_route_path *path, struct ed_route_match *ret_match)
{
        struct search search = { .tree = tree,
                                 .end = path->end,
                                 .method = method,
                                 .method_bytes = strlen(method),
                                 .match = ret_match };

        ret_match->count = 0;
        ret_match->route = tree->root ? search_below(&search, tree->root, path->at) : NULL;
        if (!ret_match->route)
                return false;
        if (ret_match->route->has_rest)
                for (char *at = path->at + (ret_match->values[ret_match->count - 1] - path->at);
                     at < path->end; at++)
                        if (!*at)
                                *at = '/';
        return true;
}

size_t ed_route_methods(const struct ed_route_tree *tree, const struct ed_route_path *path,
                        const struct ed_route *out[ED_ROUTE_METHODS_MAX])
{
        struct ed_route_match match = { .count = 0 };
        struct search search = { .tree = tree, .end = path->end, .match = &match, .methods = out };

        if (tree->root)
                (void) search_below(&search, tree->root, path->at);
        return search.methods_count;
}
