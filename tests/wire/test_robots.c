/*
 * test_robots.c - the rules of a robots.txt (RFC 9309).
 *
 * - The examples of the RFC are decided as the RFC says.
 * - Groups: of the agent, else of "*"; several groups of a name are one.
 * - The longest rule decides; '*' and '$' are found as by a matcher that tries all ways.
 * - A text that ends at any byte, and any bytes, are read within their bounds.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "eddy/robots.h"
#include "test.h"

static bool allows(const char *text, const char *target)
{
        return eddy_robots_allow(text, strlen(text), "foobot", target);
}

/* Decide by a rule "Disallow: RULE" alone. */
static bool disallows(const char *rule, const char *target)
{
        char text[200];

        snprintf(text, sizeof(text), "User-agent: *\nDisallow: %s\n", rule);
        return !allows(text, target);
}

TEST(the_examples_of_the_rfc_are_decided)
{
        const char *simple =
                "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\n"
                "User-Agent: "
                "foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n\n"
                "User-Agent: barbot\nUser-Agent: bazbot\nDisallow: /example/page.html\n\n"
                "User-Agent: quxbot\n\nEOF\n";
        const struct {
                const char *agent, *target;
                bool is_allowed;
        } rows[] = {
                { "foobot", "/example/page.html", true },
                { "foobot", "/example/other", false },
                { "foobot", "/example/allowed.gif", true },
                { "foobot", "/", false },
                { "barbot", "/example/page.html", false },
                { "bazbot", "/example/page.html", false },
                { "BAZBOT", "/example/page", true },
                { "quxbot", "/example/a.gif", true },
                { "other", "/a.gif", false },
                { "other", "/a.gif?b", true },
                { "other", "/example/", false },
                { "other", "/publications/", true },
                { "other", "/publications/a.gif", true },
        };

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
                if (eddy_robots_allow(simple, strlen(simple), rows[i].agent, rows[i].target) !=
                    rows[i].is_allowed)
                        test_fail(__FILE__, __LINE__, "%s %s", rows[i].agent, rows[i].target);
        CHECK(allows("User-Agent: foobot\nAllow: /example/page/\nDisallow: "
                     "/example/page/disallowed.gif\n",
                     "/example/page/"));
        CHECK(!allows("User-Agent: foobot\nAllow: /example/page/\nDisallow: "
                      "/example/page/disallowed.gif\n",
                      "/example/page/disallowed.gif"));
}

TEST(groups_of_one_name_are_one_group)
{
        const char *text = "user-agent: foobot\ndisallow: /a\nuser-agent: *\ndisallow: /c\n"
                           "USER-AGENT: FooBot/2.1 (about)\nDisallow: /b\n";

        CHECK(!allows(text, "/a") && !allows(text, "/b") && allows(text, "/c"));
        CHECK(!eddy_robots_allow(text, strlen(text), "foo", "/c"));
        CHECK(eddy_robots_allow(text, strlen(text), "foo", "/a"));
        CHECK(!eddy_robots_allow(text, strlen(text), "", "/c"));
        /* Other lines do not end the list of a group's names. */
        CHECK(!allows("User-agent: foobot\nSitemap: /x\nUser-agent: bar\nDisallow: /a\n", "/a"));
        /* A rule before each group has no effect. */
        CHECK(allows("Disallow: /\nUser-agent: *\nDisallow: /b\n", "/a"));
}

TEST(the_longest_rule_decides_and_allow_if_equal)
{
        CHECK(allows("User-agent: *\nDisallow: /a\nAllow: /a\n", "/a/b"));
        CHECK(allows("User-agent: *\nAllow: /a/b\nDisallow: /a\n", "/a/b"));
        CHECK(!allows("User-agent: *\nAllow: /a\nDisallow: /a/b\n", "/a/b"));
        CHECK(!allows("User-agent: *\nAllow: /a/\nDisallow: /*.html\n", "/a/b.html"));
        CHECK(allows("User-agent: *\nDisallow:\n", "/a"));
        CHECK(eddy_robots_allow(NULL, 0, "foobot", "/"));
        CHECK(allows("", "/") && allows("<html>404</html>", "/"));
        CHECK(allows("User-agent: *\nDisallow: /\n", "/robots.txt"));
        CHECK(!allows("User-agent: *\nDisallow: /\n", "/robots.txt2"));
}

TEST(lines_have_comments_white_space_and_any_end)
{
        CHECK(!allows("\xEF\xBB\xBFUser-agent:* # all\r\n \t Disallow \t:\t /a#b\r\n", "/a"));
        CHECK(!allows("User-agent: *\rDisallow: /a", "/a"));
        CHECK(!allows("User-agent: *\n\n#x\nDisallow: /a", "/a"));
        CHECK(allows("User-agent: *\nDisallow /a\n: /a\nDisallow: /b", "/a"));
}

TEST(escaped_bytes_are_equal_unless_they_have_a_meaning)
{
        CHECK(disallows("/foo/bar?baz=quz", "/foo/bar?baz=quz"));
        CHECK(disallows("/foo/bar/\xE3\x83\x84", "/foo/bar/%E3%83%84"));
        CHECK(disallows("/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84"));
        CHECK(disallows("/foo/bar/%62%61%7A", "/foo/bar/baz"));
        CHECK(!disallows("/a%2Fb", "/a/b") && disallows("/a%2Fb", "/a%2fb") &&
              !disallows("/a/b", "/a%2Fb"));
        CHECK(disallows("/path/file-with-a-%2A.html", "/path/file-with-a-*.html"));
        CHECK(!disallows("/path/file-with-a-%2A.html", "/path/file-with-a-b.html"));
        CHECK(disallows("/path/foo-%24", "/path/foo-$") &&
              !disallows("/path/foo-%24", "/path/foo-"));
        CHECK(disallows("/%zz%", "/%zz%4"));
        CHECK(!disallows("/a$", "/a$b") && disallows("/a%24", "/a$b"));
}

/* Decides by trying all ways; rules and targets without escapes. */
static bool tries(const char *rule, const char *target)
{
        if (*rule == '*') {
                for (;; target++) {
                        if (tries(rule + 1, target))
                                return true;
                        if (!*target)
                                return false;
                }
        }
        if (!*rule || (*rule == '$' && !rule[1]))
                return !*rule || !*target;
        return *rule == *target && tries(rule + 1, target + 1);
}

static void fill(char *out, size_t bytes_max, const char *letters, uint64_t *seed)
{
        size_t n, count = strlen(letters);

        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        n = (size_t) (*seed >> 33) % (bytes_max - 1);
        out[0] = '/';
        for (size_t i = 1; i <= n; i++) {
                *seed = *seed * 6364136223846793005u + 1442695040888963407u;
                out[i] = letters[(*seed >> 33) % count];
        }
        out[n + 1] = '\0';
}

TEST(wildcards_match_as_by_trying_all_ways)
{
        char rule[12], target[16];
        uint64_t seed = 7;
        int matched = 0;

        for (int i = 0; i < 100000; i++) {
                fill(rule, 10, "ab*$", &seed);
                fill(target, 14, "abb$", &seed);
                matched += tries(rule, target);
                if (disallows(rule, target) != tries(rule, target))
                        test_fail(__FILE__, __LINE__, "%s %s", rule, target);
        }
        CHECK(matched > 10000 && matched < 90000);
}

TEST(a_text_that_ends_at_any_byte_is_read_within_its_bounds)
{
        static const char text[] =
                "\xEF\xBB\xBFUser-agent: foobot\r\nDisallow: /a%2*b$\n#\nAllow: *%\n";
        uint64_t seed = 3;

        for (size_t n = 0; n < sizeof(text); n++) {
                char *copy = malloc(n ? n : 1); /* the sanitizer sees a read after it */

                memcpy(copy, text, n);
                (void) eddy_robots_allow(copy, n, "foobot", "/a%2");
                (void) eddy_robots_allow(copy, n, "foobot", "");
                for (size_t i = 0; i < n; i++) {
                        seed = seed * 6364136223846793005u + 1442695040888963407u;
                        copy[seed % n] = (char) (seed >> 40);
                        (void) eddy_robots_allow(copy, n, "foobot", "/a%2Fb%");
                }
                free(copy);
        }
}
