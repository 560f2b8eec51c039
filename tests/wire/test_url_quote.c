/*
 * test_url_quote.c - eddy_url_quote() and eddy_url_unquote().
 */
#include "eddy/error.h"
#include "eddy/url.h"
#include "test.h"

static void check_quote(const char *text, unsigned flags, const char *expected)
{
        char out[64];
        int64_t bytes = (int64_t) strlen(expected);

        memset(out, 'x', sizeof(out));
        CHECK_EQ(eddy_url_quote(text, strlen(text), flags, NULL, 0), bytes);
        CHECK_EQ(eddy_url_quote(text, strlen(text), flags, out, (size_t) bytes), -EMSGSIZE);
        CHECK_EQ(out[0], 'x');
        CHECK_EQ(eddy_url_quote(text, strlen(text), flags, out, (size_t) bytes + 1), bytes);
        CHECK_STR(out, expected);
}

TEST(all_but_unreserved_characters_are_quoted)
{
        for (int c = 0; c < 256; c++) {
                char byte = (char) c, out[4], expected[4] = { byte, '\0' };
                bool is_kept = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                               (c >= 'a' && c <= 'z') || (c && strchr("-._~", c));

                if (!is_kept)
                        snprintf(expected, sizeof(expected), "%%%02X", c);
                CHECK_EQ(eddy_url_quote(&byte, 1, 0, out, sizeof(out)), is_kept ? 1 : 3);
                CHECK_STR(out, expected);
        }
}

TEST(flags_choose_space_and_slash)
{
        check_quote("a b/c+d", 0, "a%20b%2Fc%2Bd");
        check_quote("a b/c+d", EDDY_URL_PLUS, "a+b%2Fc%2Bd");
        check_quote("a b/c+d", EDDY_URL_SLASH, "a%20b/c%2Bd");
        check_quote("a b/c+d", EDDY_URL_PLUS | EDDY_URL_SLASH, "a+b/c%2Bd");
        check_quote("", 0, "");
        CHECK_EQ(eddy_url_quote("a", 1, 4, NULL, 0), -EINVAL);
        CHECK_EQ(eddy_url_unquote("a", 1, EDDY_URL_SLASH, NULL, 0), -EINVAL);
}

static void check_unquote(const char *text, unsigned flags, const char *expected, int64_t bytes)
{
        size_t text_bytes = strlen(text);
        char *exact = malloc(text_bytes > 0 ? text_bytes : 1), out[64];

        CHECK(exact);
        memcpy(exact, text, text_bytes);
        memset(out, 'x', sizeof(out));
        CHECK_EQ(eddy_url_unquote(exact, text_bytes, flags, NULL, 0), bytes);
        if (bytes >= 0)
                CHECK_EQ(eddy_url_unquote(exact, text_bytes, flags, out, (size_t) bytes),
                         -EMSGSIZE);
        CHECK_EQ(out[0], 'x');
        CHECK_EQ(eddy_url_unquote(exact, text_bytes, flags, out, sizeof(out)), bytes);
        if (bytes >= 0)
                CHECK(memcmp(out, expected, (size_t) bytes + 1) == 0);
        free(exact);
}

TEST(percent_and_two_digits_are_a_byte)
{
        check_unquote("a%20b%2fC%2F", 0, "a b/C/", 6);
        check_unquote("%00a%ff", 0, "\0a\xff", 3);
        check_unquote("%25%32%30", 0, "%20", 3);
        check_unquote("a+b", 0, "a+b", 3);
        check_unquote("a+b%2B", EDDY_URL_PLUS, "a b+", 4);
        check_unquote("", 0, "", 0);
        check_unquote("\xc3\xa4 <", 0, "\xc3\xa4 <", 4);
}

TEST(percent_without_two_digits_is_refused)
{
        static const char *const wrong[] = { "%", "a%", "%4", "%4g", "%g4", "%%41", "%-1", "% 1" };

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
                check_unquote(wrong[i], 0, NULL, EDDY_E_URL_INVALID);
}

TEST(text_is_decoded_in_place)
{
        char text[] = "a%20b%41";

        CHECK_EQ(eddy_url_unquote(text, strlen(text), 0, text, sizeof(text)), 4);
        CHECK_STR(text, "a bA");
}

TEST(all_bytes_come_back)
{
        static const unsigned flags[] = { 0, EDDY_URL_PLUS };
        char data[256], quoted[3 * 256 + 1], out[257];

        for (int c = 0; c < 256; c++)
                data[c] = (char) c;
        for (int i = 0; i < 2; i++) {
                int64_t n = eddy_url_quote(data, 256, flags[i], quoted, sizeof(quoted));

                CHECK(n > 0);
                CHECK_EQ(eddy_url_unquote(quoted, (size_t) n, flags[i], out, sizeof(out)), 256);
                CHECK(memcmp(out, data, 256) == 0);
        }
}
