/*
 * test_url_shown.c - messages show a URL without its user name, password, query and fragment.
 */
#include "test.h"

#include <string.h>

#include "common/url_shown.h"

static void check_shown(const char *url, const char *expected)
{
        char room[ED_URL_SHOWN_BYTES];

        CHECK_STR(ed_url_shown(room, url, strlen(url)), expected);
}

TEST(credentials_and_queries_are_left_out)
{
        check_shown("http://h", "http://h");
        check_shown("/v1/x", "/v1/x");
        check_shown("", "");
        check_shown("http://h/x?key=secret", "http://h/x?***");
        check_shown("http://h?", "http://h?***");
        check_shown("http://h/x#secret", "http://h/x#***");
        check_shown("/v1/x?key=secret", "/v1/x?***");
        check_shown("http://u:secret@h:1/x?key=secret", "http://***@h:1/x?***");
        check_shown("u:secret@h:1", "***@h:1");
        check_shown("http://u:s/ecret@h", "http://***@h");
        check_shown("http://u:se://cret@h", "http://***@h");
}

TEST(nothing_after_the_scheme_is_shown_if_an_at_sign_follows_a_question_mark)
{
        check_shown("http://u:sec?ret@h", "http://***");
        check_shown("http://h/?key=sec@ret", "http://***");
        check_shown("u:sec#ret@h", "***");
        check_shown("u:sec?ret://x@h", "***");
}

TEST(a_long_url_is_cut)
{
        char url[2 * ED_URL_SHOWN_BYTES], room[ED_URL_SHOWN_BYTES];

        for (size_t bytes = 1; bytes < sizeof(url); bytes++) {
                memset(url, 'a', sizeof(url));
                memcpy(url + bytes - 1, "?", 1);
                ed_url_shown(room, url, sizeof(url));
                CHECK(strlen(room) < sizeof(room));
                CHECK(bytes > ED_URL_SHOWN_BYTES - 8 || strstr(room, "?***"));
        }
}
