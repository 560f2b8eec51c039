/*
 * fuzz_route.c - any lines as patterns of routes, and the last line as a request.
 *
 * A pattern that is refused has a sentence. A route that is found is also found by a tree that has only
 * this route, with the same values; if none is found, no route has a tree of its own that finds it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/error.h"
#include "wire/route.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { ROUTES_MAX = 20 };

static struct ed_route routes[ROUTES_MAX];
static size_t count;

static void require(bool is_so)
{
        if (!is_so)
                abort();
}

static void add(struct ed_route_tree *tree, const char *pattern)
{
        char fault[ED_ROUTE_FAULT_BYTES] = "";
        struct ed_route *route = &routes[count];
        int err = ed_route_init(route, "", pattern, fault);

        if (err == 0) {
                err = ed_route_tree_add(tree, route, fault);
                if (err < 0)
                        ed_route_fini(route);
                else
                        count++;
        }
        require(err == 0 ||
                (err == EDDY_E_HTTP_ROUTE && fault[0] && strlen(fault) < sizeof(fault)));
}

/* Find a request in a tree. The values are in the memory that is returned. */
static char *find(const struct ed_route_tree *tree, const char *method, const char *path,
                  struct ed_route_match *ret_match)
{
        char *room = malloc(strlen(path) + 1);
        struct ed_route_path segments;

        require(room);
        require(!ed_route_split(path, room, &segments));
        require(ed_route_find(tree, method, &segments, ret_match) == !!ret_match->route);
        if (ret_match->route)
                require(ret_match->count == ret_match->route->count);
        return room;
}

/* Find a request by one route alone, and compare the values. */
static bool is_found_alone(const struct ed_route *route, const char *method, const char *path,
                           const struct ed_route_match *match)
{
        struct ed_route_tree tree = { .root = NULL };
        struct ed_route_match alone;
        struct ed_route copy;
        char fault[ED_ROUTE_FAULT_BYTES], *room;
        bool is_found;

        require(ed_route_init(&copy, "", route->text, fault) == 0);
        require(ed_route_tree_add(&tree, &copy, fault) == 0);
        room = find(&tree, method, path, &alone);
        is_found = alone.route != NULL;
        if (is_found && match->route == route)
                for (uint32_t i = 0; i < match->count; i++)
                        require(strcmp(match->values[i], alone.values[i]) == 0);
        free(room);
        ed_route_tree_fini(&tree);
        ed_route_fini(&copy);
        return is_found;
}

static void request(const struct ed_route_tree *tree, const char *method, const char *path)
{
        const struct ed_route *methods[ED_ROUTE_METHODS_MAX];
        char *room = malloc(strlen(path) + 1);
        struct ed_route_path segments;
        struct ed_route_match match;

        require(room);
        if (!ed_route_split(path, room, &segments)) {
                size_t n = ed_route_methods(tree, &segments, methods);
                char *values = find(tree, method, path, &match);

                require(match.route ? n > 0 : n <= count);
                for (size_t i = 0; i < count; i++)
                        require(is_found_alone(&routes[i], method, path, &match)
                                        ? match.route != NULL
                                        : match.route != &routes[i]);
                free(values);
        }
        free(room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
        struct ed_route_tree tree = { .root = NULL };
        char *text = malloc(bytes + 1), *line = text, *end, *space;

        require(text);
        if (bytes > 0)
                memcpy(text, data, bytes);
        text[bytes] = '\0';
        for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
                *end = '\0';
                if (count < ROUTES_MAX)
                        add(&tree, line);
        }
        space = strchr(line, ' ');
        if (space && space[1] == '/') {
                *space = '\0';
                request(&tree, line, space + 1);
        }
        ed_route_tree_fini(&tree);
        while (count > 0)
                ed_route_fini(&routes[--count]);
        free(text);
        return 0;
}
