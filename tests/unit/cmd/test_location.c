/*
 * test_location.c - the URL to which an answer redirects.
 */
#include "test.h"

#include "common/location.h"

TEST(location_is_relative_to_the_url_of_the_request)
{
        static const char *const cases[][3] = {
                { "http://h/a/b?q", "https://g:8/c?d#e", "https://g:8/c?d#e" },
                { "http://u:p@h:8/a/b?q", "//g/c", "http://g/c" },
                { "http://u:p@h:8/a/b?q", "/c", "http://h:8/c" },
                { "http://h/a/b?q=/x", "c", "http://h/a/c" },
                { "http://h/a/b?q", "?r", "http://h/a/b?r" },
                { "http://h/a/b?q", "#f", "http://h/a/b?q#f" },
                { "http://h/a/b?q", "", "http://h/a/b?q" },
                { "http://h", "c", "http://h/c" },
                { "http://h", "/c", "http://h/c" },
                { "http://h?q", "?r", "http://h?r" },
                { "http://h/a/b/c", "../d/./e", "http://h/a/d/e" },
                { "http://h/a", "/caf\303\251 1%2", "http://h/caf%C3%A9%201%252" },
                { "http://h/a", "b%2Fc%", "http://h/b%2Fc%25" },
                { "http://h/a", "\\\\g/", "http://h/%5C%5Cg/" },
                { "https://h/a", "http://127.1/b", "http://127.1/b" },
                { "https://h/a", "//u:p@127.1/b", "https://u:p@127.1/b" },
                { "https://h/a", "http:u:p@g//b", "g//b" },
                { "https://h/a", "https:", "https:" },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct ed_draft text = { 0 };

                ed_location_add(&text, cases[i][0], cases[i][1]);
                ed_draft_add(&text, "", 1);
                CHECK(ed_draft_is_whole(&text));
                CHECK_STR(text.data, cases[i][2]);
                ed_draft_fini(&text);
        }
}

TEST(bare_url_has_no_user_name_and_no_query)
{
        static const char *const cases[][2] = {
                { "https://u:p@h:8/a/b?q=@#f", "https://h:8/a/b" },
                { "https://h/a#f?q", "https://h/a" },
                { "http://u@h?q", "http://h" },
                { "http://h", "http://h" },
                { "mailto:a?b", "mailto:a" },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct ed_draft text = { 0 };

                ed_location_add_bare(&text, cases[i][0]);
                ed_draft_add(&text, "", 1);
                CHECK(ed_draft_is_whole(&text));
                CHECK_STR(text.data, cases[i][1]);
                ed_draft_fini(&text);
        }
}

TEST(host_moves_if_nothing_else_of_the_url_changes)
{
        CHECK(ed_location_moves_host("http://h/a?b", "https://h/a?b"));
        CHECK(ed_location_moves_host("http://u@h/a?b", "http://g/a?b"));
        CHECK(ed_location_moves_host("http://h", "http://h:81/"));
        CHECK(!ed_location_moves_host("http://h/a?b", "http://h/a?b"));
        CHECK(!ed_location_moves_host("http://h/a?b", "https://h/a"));
        CHECK(!ed_location_moves_host("http://h/a", "https://h/login"));
        CHECK(!ed_location_moves_host("http://h/a", "mailto:a"));
}
