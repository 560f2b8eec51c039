/*
 * test_route.c - the tree of routes: patterns and paths that are valid and those that are not, the order
 * of matches, conflicts, a comparison with a search that tries each pattern, and each allocation that
 * fails.
 */
#include <errno.h>

#include "base/random.h"
#include "eddy/alloc.h"
#include "eddy/error.h"
#include "starve.h"
#include "test.h"
#include "wire/route.h"

enum { ROUTES_MAX = 24 };

static struct {
        struct ed_route_tree tree;
        struct ed_route routes[ROUTES_MAX];
        size_t count;
        char fault[ED_ROUTE_FAULT_BYTES];
        struct ed_route_match match;
        char room[4096];
        char found[600]; /* the pattern and the values, with spaces between them */
} site;

static void reset(void)
{
        ed_route_tree_fini(&site.tree);
        while (site.count > 0)
                ed_route_fini(&site.routes[--site.count]);
}

static int add(const char *pattern)
{
        struct ed_route *route = &site.routes[site.count];
        int err = ed_route_init(route, "", pattern, site.fault);

        CHECK(site.count < ROUTES_MAX);
        if (err < 0)
                return err;
        err = ed_route_tree_add(&site.tree, route, site.fault);
        if (err < 0)
                ed_route_fini(route);
        else
                site.count++;
        return err;
}

/* Returns the pattern of a request and the values of its parameters; "" without a route. */
static const char *find(const char *method, const char *path)
{
        struct ed_route_path segments;
        size_t n = 0;

        CHECK(!ed_route_split(path, site.room, &segments));
        site.found[0] = '\0';
        if (!ed_route_find(&site.tree, method, &segments, &site.match))
                return "";
        n += (size_t) snprintf(site.found, 300, "%s", site.match.route->text);
        CHECK_EQ(site.match.count, site.match.route->count);
        for (uint32_t i = 0; i < site.match.count; i++)
                n += (size_t) snprintf(site.found + n, sizeof(site.found) - n, " %s",
                                       site.match.values[i]);
        return site.found;
}

/* ---- patterns -------------------------------------------------------------- */

TEST(patterns_that_are_not_valid_are_refused_with_a_reason)
{
        static const struct {
                const char *pattern, *part;
        } cases[] = {
                { "", "write a path" },
                { " ", "write a path" },
                { "GET", "write a path" },
                { "GET ", "write a path" },
                { " /a", "write a path" },
                { "GET  /a", "write a path" },
                { "users", "the pattern \"users\": write a path" },
                { "GET users", "as in \"GET /users\"" },
                { "G{T /a", "the method is not a token" },
                { "/a b", "write a path" },
                { "GET /a b", "no '?', '#', space" },
                { "/a?b", "no '?'" },
                { "/a#", "no '?'" },
                { "/a\tb", "control character" },
                { "/a\x7f", "control character" },
                { "/a{id}", "a whole segment" },
                { "/{id}.json", "a whole segment" },
                { "/{id", "a whole segment" },
                { "/{", "a whole segment" },
                { "/id}", "%7B" },
                { "/{}", "1 to 64 letters" },
                { "/{...}", "1 to 64 letters" },
                { "GET /{a b}", "1 to 64 letters" },
                { "/{a.b}", "1 to 64 letters" },
                { "/{a}/{a}", "two parameters have the name \"a\"" },
                { "/{a}/{a...}", "two parameters have the name \"a\"" },
                { "/{a...}/b", "\"{a...}\" is not the last segment" },
                { "/{a...}/", "\"{a...}\" is not the last segment" },
                { "/a%", "two hexadecimal digits" },
                { "/a%4", "two hexadecimal digits" },
                { "/a%4/b", "two hexadecimal digits" },
                { "/a%00", "%00" },
                { "/a/../b", "\"..\"" },
                { "/%2e", "\".\"" },
                { "/a%2f..", "\"..\"" },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                CHECK_EQ(add(cases[i].pattern), EDDY_E_HTTP_ROUTE);
                if (!strstr(site.fault, cases[i].part))
                        test_fail(__FILE__, __LINE__, "%s: %s", cases[i].pattern, site.fault);
        }
}

TEST(limits_of_patterns_are_exact)
{
        char pattern[EDDY_HTTP_ROUTE_BYTES_MAX + 2], name[] = "/{p00}";
        size_t n = 0;

        memset(pattern, 'a', sizeof(pattern));
        pattern[0] = '/';
        pattern[EDDY_HTTP_ROUTE_BYTES_MAX + 1] = '\0';
        CHECK_EQ(add(pattern), EDDY_E_HTTP_ROUTE);
        pattern[EDDY_HTTP_ROUTE_BYTES_MAX] = '\0';
        CHECK_EQ(add(pattern), 0);
        memset(pattern, '/', ED_ROUTE_SEGMENTS_MAX + 1);
        pattern[ED_ROUTE_SEGMENTS_MAX + 1] = '\0';
        CHECK_EQ(add(pattern), EDDY_E_HTTP_ROUTE);
        pattern[ED_ROUTE_SEGMENTS_MAX] = '\0';
        CHECK_EQ(add(pattern), 0);
        for (int i = 0; i < EDDY_HTTP_ROUTE_PARAMS_MAX; i++) {
                name[3] = (char) ('0' + i / 10);
                name[4] = (char) ('0' + i % 10);
                memcpy(pattern + n, name, sizeof(name));
                n += sizeof(name) - 1;
        }
        CHECK_EQ(add(pattern), 0);
        memcpy(pattern + n, "/{x...}", 8);
        CHECK_EQ(add(pattern), EDDY_E_HTTP_ROUTE);
        memcpy(pattern, "/{", 2);
        memset(pattern + 2, 'n', ED_ROUTE_NAME_BYTES_MAX + 1);
        memcpy(pattern + 3 + ED_ROUTE_NAME_BYTES_MAX, "}", 2);
        CHECK_EQ(add(pattern), EDDY_E_HTTP_ROUTE);
        memcpy(pattern + 2 + ED_ROUTE_NAME_BYTES_MAX, "}", 2);
        CHECK_EQ(add(pattern), 0);
        reset();
}

TEST(patterns_that_match_the_same_requests_are_refused_and_both_named)
{
        CHECK_EQ(add("GET /users/{id}"), 0);
        CHECK_EQ(add("POST /users/{name}"), 0);
        CHECK_EQ(add("/users/{other}"), 0);
        CHECK_EQ(add("GET /users/{rest...}"), 0);
        CHECK_EQ(add("GET /users/{name}"), EDDY_E_HTTP_ROUTE);
        CHECK_STR(site.fault,
                  "the patterns \"GET /users/{id}\" and \"GET /users/{name}\" match the "
                  "same requests");
        CHECK_EQ(add("/users/{name}"), EDDY_E_HTTP_ROUTE);
        CHECK_EQ(add("GET /users/{all...}"), EDDY_E_HTTP_ROUTE);
        CHECK_EQ(add("GET /a"), 0);
        CHECK_EQ(add("GET /%61"), EDDY_E_HTTP_ROUTE);
        CHECK_EQ(site.count, 5);
        CHECK_STR(find("GET", "/users/7"), "GET /users/{id} 7");
        reset();
}

/* ---- requests -------------------------------------------------------------- */

TEST(a_text_goes_before_a_parameter_and_a_parameter_before_the_rest)
{
        static const char *const patterns[] = { "GET /{rest...}",     "GET /u/{id}",
                                                "GET /u/me",          "GET /u/me/{x}/end",
                                                "GET /u/{id}/{y}",    "GET /u/{all...}",
                                                "GET /{a}/{b}/{c}/d", "GET /" };
        static const char *const requests[][2] = {
                { "/", "GET /" },
                { "/u", "GET /{rest...} u" },
                { "/u/", "GET /u/{all...} " },
                { "/u/me", "GET /u/me" },
                { "/u/you", "GET /u/{id} you" },
                { "/u/me/1/end", "GET /u/me/{x}/end 1" },
                { "/u/me/1/d", "GET /u/{all...} me/1/d" },
                { "/v/me/1/d", "GET /{a}/{b}/{c}/d v me 1" },
                { "/u/me/1", "GET /u/{id}/{y} me 1" },
                { "/u/me/", "GET /u/{all...} me/" },
                { "//", "GET /{rest...} /" },
        };

        for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
                CHECK_EQ(add(patterns[i]), 0);
        for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
                CHECK_STR(find("GET", requests[i][0]), requests[i][1]);
        reset();
}

TEST(each_segment_is_decoded_by_itself)
{
        CHECK_EQ(add("GET /f/{name}"), 0);
        CHECK_EQ(add("GET /f/a%2Fb"), 0);
        CHECK_EQ(add("GET /caf\xC3\xA9/%7Bx%7D"), 0);
        CHECK_EQ(add("GET /r/{rest...}"), 0);
        CHECK_STR(find("GET", "/f/x%2Fy"), "GET /f/{name} x/y");
        CHECK_STR(find("GET", "/%66/a%2fb"), "GET /f/a%2Fb");
        CHECK_STR(find("GET", "/f/a/b"), "");
        CHECK_STR(find("GET", "/f%2Fa"), "");
        CHECK_STR(find("GET", "/caf%c3%A9/{x}"), "GET /caf\xC3\xA9/%7Bx%7D");
        CHECK_STR(find("GET", "/r/a%2Fb/%20c//d"), "GET /r/{rest...} a/b/ c//d");
        CHECK_STR(find("GET", "/F/x"), "");
        CHECK_STR(find("GET", "/f/%25"), "GET /f/{name} %");
        CHECK_STR(find("GET", "/f/..."), "GET /f/{name} ...");
        CHECK_STR(find("GET", "/f/.a"), "GET /f/{name} .a");
        reset();
}

TEST(paths_that_are_not_valid_are_refused)
{
        static const char *const paths[] = { "/%",      "/%4",     "/%4g",     "/a%/b",
                                             "/a%2/b",  "/%00",    "/a/b%00c", "/.",
                                             "/..",     "/a/./b",  "/a/..",    "/%2e%2E",
                                             "/.%2e/a", "/a%2f..", "/..%2fa",  "/a%2F.%2Fb" };
        struct ed_route_path path;

        for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
                CHECK(ed_route_split(paths[i], site.room, &path));
}

TEST(head_finds_get_and_a_pattern_without_a_method_comes_last)
{
        CHECK_EQ(add("GET /a"), 0);
        CHECK_EQ(add("/a"), 0);
        CHECK_EQ(add("HEAD /b"), 0);
        CHECK_EQ(add("GET /b"), 0);
        CHECK_EQ(add("GET /{x}"), 0);
        CHECK_EQ(add("DELETE /{y}"), 0);
        CHECK_STR(find("GET", "/a"), "GET /a");
        CHECK_STR(find("HEAD", "/a"), "GET /a");
        CHECK_STR(find("PUT", "/a"), "/a");
        CHECK_STR(find("HEAD", "/b"), "HEAD /b");
        CHECK_STR(find("HEAD", "/c"), "GET /{x} c");
        CHECK_STR(find("DELETE", "/b"), "DELETE /{y} b");
        CHECK_STR(find("get", "/b"), "");
        CHECK_STR(find("GETS", "/b"), "");
        CHECK_STR(find("POST", "/b"), "");
        reset();
}

/* ---- beside a search that tries each pattern -------------------------------- */

enum { NO_MATCH = 1000 };

/*
 * Returns the order of a pattern for a path, both not decoded: for each segment the kind of match. The
 * text is of ranks '0' for a text, '1' for a parameter and '2' for the rest; false: no match.
 */
static bool rank(const char *pattern, const char *path, char *ret_rank)
{
        for (;;) {
                size_t have = strcspn(++pattern, "/"), is = strcspn(++path, "/");

                if (pattern[0] == '{' && have > 4 && memcmp(pattern + have - 4, "...", 3) == 0) {
                        *ret_rank++ = '2';
                        break;
                }
                if (pattern[0] == '{' ? is == 0 : have != is || memcmp(pattern, path, is) != 0)
                        return false;
                *ret_rank++ = pattern[0] == '{' ? '1' : '0';
                pattern += have;
                path += is;
                if (!*pattern || !*path) {
                        *ret_rank = '\0';
                        return !*pattern && !*path;
                }
        }
        *ret_rank = '\0';
        return true;
}

/* Append the rank of the method: its own, GET for HEAD, any. */
static bool rank_method(const struct ed_route *route, const char *method, char *text)
{
        char *end = text + strlen(text);

        *end = '0';
        if (route->method_bytes == 0)
                *end = '2';
        else if (strncmp(route->text, method, route->method_bytes) != 0 ||
                 strlen(method) != route->method_bytes) {
                if (strcmp(method, "HEAD") != 0 || strncmp(route->text, "GET ", 4) != 0)
                        return false;
                *end = '1';
        }
        end[1] = '\0';
        return true;
}

static const struct ed_route *find_slowly(const char *method, const char *path)
{
        const struct ed_route *found = NULL;
        char best[80] = "9", text[80];

        for (size_t i = 0; i < site.count; i++) {
                if (rank(site.routes[i].path, path, text) &&
                    rank_method(&site.routes[i], method, text) && strcmp(text, best) < 0) {
                        memcpy(best, text, sizeof(best));
                        found = &site.routes[i];
                }
        }
        return found;
}

static const char *const methods[] = { "GET", "HEAD", "POST", "X" };

/* Make a pattern or a path of a few segments. */
static void make(uint64_t *seed, bool is_pattern, char out[200])
{
        static const char *const segments[] = { "a", "b", "ab", "", "c", "{x}", "{x}", "{x...}" };
        size_t count = 1 + ed_splitmix_next(seed) % 5, n = 0;
        unsigned name = 0;

        if (is_pattern && ed_splitmix_next(seed) % 4 > 0)
                n = (size_t) snprintf(out, 200, "%s ", methods[ed_splitmix_next(seed) % 3]);
        for (size_t i = 0; i < count; i++) {
                const char *segment = segments[ed_splitmix_next(seed) % (is_pattern ? 8 : 5)];

                if (segment[0] == '{' && (segment[2] == '}' || i + 1 < count))
                        n += (size_t) snprintf(out + n, 200 - n, "/{p%u}", name++);
                else
                        n += (size_t) snprintf(out + n, 200 - n, "/%s", segment);
        }
}

static bool is_same_method(const struct ed_route *a, const struct ed_route *b)
{
        return a->method_bytes == b->method_bytes && memcmp(a->text, b->text, a->method_bytes) == 0;
}

/* Each method of a route that matches is there once, by a route that matches. */
static void compare_methods(const char *path)
{
        const struct ed_route *routes[ED_ROUTE_METHODS_MAX];
        struct ed_route_path segments;
        char text[80];
        size_t n;

        CHECK(!ed_route_split(path, site.room, &segments));
        n = ed_route_methods(&site.tree, &segments, routes);
        for (size_t i = 0; i < n; i++)
                CHECK(rank(routes[i]->path, path, text));
        for (size_t i = 0; i < site.count; i++) {
                int same = 0;

                for (size_t k = 0; k < n; k++)
                        same += is_same_method(routes[k], &site.routes[i]);
                CHECK_EQ(same > 0 ? same : !rank(site.routes[i].path, path, text), 1);
        }
}

/* Ask for a path, and compare the route and the methods of the path. */
static void compare(const char *method, const char *path)
{
        const struct ed_route *expected = find_slowly(method, path);

        (void) find(method, path);
        if (site.match.route != expected)
                test_fail(__FILE__, __LINE__, "%s %s: found %s, expected %s", method, path,
                          site.match.route ? site.match.route->text : "none",
                          expected ? expected->text : "none");
        compare_methods(path);
}

TEST(the_tree_agrees_with_a_search_of_all_patterns)
{
        uint64_t seed = 39;
        char text[200];

        for (int i = 0; i < 3000; i++) {
                for (int k = 0; k < 14; k++) {
                        make(&seed, true, text);
                        if (add(text) < 0)
                                CHECK(strstr(site.fault, "match the same requests"));
                }
                for (int k = 0; k < 30; k++) {
                        make(&seed, false, text);
                        compare(methods[ed_splitmix_next(&seed) % 4], text);
                }
                reset();
        }
}

/* ---- short memory ---------------------------------------------------------- */

TEST(each_allocation_may_fail)
{
        static const char *const patterns[] = { "GET /a/b", "GET /a/{x}", "/a/{y...}", "GET /c",
                                                "GET /d",   "GET /e",     "GET /f" };
        int fails = 0, refused = 1;

        eddy_alloc_set(starve, NULL);
        for (; refused > 0; fails++) {
                allocations_left = fails;
                refused = 0;
                for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
                        int err = add(patterns[i]);

                        CHECK(err == 0 || err == -ENOMEM);
                        refused += err < 0;
                }
                allocations_left = 1000;
                /* A pattern that was refused can be added again. */
                for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
                        CHECK(add(patterns[i]) == 0 || strstr(site.fault, "match the same"));
                CHECK_STR(find("GET", "/a/q"), "GET /a/{x} q");
                CHECK_STR(find("GET", "/f"), "GET /f");
                reset();
        }
        CHECK(fails > 10);
        eddy_alloc_set(NULL, NULL);
}
