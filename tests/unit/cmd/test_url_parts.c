/*
 * test_url_parts.c - the parts of URLs and paths.
 */
#include "common/url_parts.h"

#include "test.h"

static void check_parts(const char *url, const char *expected)
{
        struct ed_url_parts parts = ed_url_parts(url);
        char text[200];

        snprintf(text, sizeof(text), "%.*s|%.*s|%.*s|%.*s|%s%s", (int) (parts.authority - url), url,
                 (int) (parts.host - parts.authority), parts.authority,
                 (int) (parts.path - parts.host), parts.host, (int) (parts.query - parts.path),
                 parts.path, parts.query, parts.has_userinfo ? "|userinfo" : "");
        if (strcmp(text, expected) != 0)
                test_fail(__FILE__, __LINE__, "%s gives %s, expected %s", url, text, expected);
}

TEST(url_has_five_parts)
{
        check_parts("http://h", "http://||h||");
        check_parts("http://h/a?b#c", "http://||h|/a|?b#c");
        check_parts("https://u:p@h:1/a", "https://|u:p@|h:1|/a||userinfo");
        check_parts("http://@h", "http://|@|h|||userinfo");
}

TEST(user_information_ends_at_the_last_at_sign_of_the_authority)
{
        check_parts("http://a@b@c/d@e", "http://|a@b@|c|/d@e||userinfo");
        check_parts("http://h?a@b", "http://||h||?a@b");
        check_parts("http://h#a@b", "http://||h||#a@b");
}

TEST(path_has_no_scheme_and_no_host)
{
        check_parts("/v1/a?u=http://h@x", "|||/v1/a|?u=http://h@x");
        check_parts("", "||||");
}

TEST(segments_of_dots_are_found_in_the_path_only)
{
        static const char *const dotted[] = { "/.",      "/..",         "/a/../b",
                                              "/./",     "http://h/..", "/%2e",
                                              "/%2E%2e", "/.%2e/a",     "http://h/a/.?q",
                                              "/..#f" };
        static const char *const others[] = { "/",      "/...",      "/a.",     "/.a",
                                              "/..a/b", "/%2",       "/%2e.x",  "/a?/..",
                                              "/a#/.",  "http://..", "http://h" };

        for (size_t i = 0; i < sizeof(dotted) / sizeof(dotted[0]); i++)
                CHECK(ed_url_has_dots(dotted[i]));
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
                CHECK(!ed_url_has_dots(others[i]));
}
