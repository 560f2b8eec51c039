/*
 * test_url_query.c - the pairs of queries and forms.
 */
#include "eddy/error.h"
#include "eddy/url.h"
#include "test.h"

/* All pairs in one line; the query is a copy without a NUL. */
static void describe(const char *text, char *out, size_t room)
{
        size_t bytes = strlen(text);
        char *exact = malloc(bytes > 0 ? bytes : 1), pair_room[128];
        struct eddy_url_part query = { exact, bytes };
        struct eddy_url_pair pair;
        int more;

        CHECK(exact);
        memcpy(exact, text, bytes);
        *out = '\0';
        while ((more = eddy_url_query_next(&query, pair_room, sizeof(pair_room), &pair)) != 0) {
                size_t n = strlen(out);

                if (more < 0)
                        snprintf(out + n, room - n, "[%s]", eddy_error_name(more));
                else
                        snprintf(out + n, room - n, "[%s|%s]", pair.name, pair.value);
        }
        CHECK_EQ(query.bytes, 0);
        free(exact);
}

static void check_pairs(const char *text, const char *expected)
{
        char described[256];

        describe(text, described, sizeof(described));
        CHECK_STR(described, expected);
}

TEST(pairs_are_decoded_in_order)
{
        check_pairs("a=1&b=2&a=3", "[a|1][b|2][a|3]");
        check_pairs("na%3Dme=va%26lue", "[na=me|va&lue]");
        check_pairs("a+b=c+d%2B", "[a b|c d+]");
        check_pairs("q=caf%C3%A9", "[q|caf\xc3\xa9]");
        check_pairs("a=b=c", "[a|b=c]");
        check_pairs("a;b=1;c", "[a;b|1;c]");
}

TEST(empty_names_and_values)
{
        check_pairs("", "");
        check_pairs("&&&", "");
        check_pairs("a", "[a|]");
        check_pairs("a=", "[a|]");
        check_pairs("=a", "[|a]");
        check_pairs("=", "[|]");
        check_pairs("&a&&b&", "[a|][b|]");
}

TEST(malformed_pair_is_passed_over)
{
        check_pairs("a=1&b=100%&c=3", "[a|1][EDDY_E_URL_INVALID][c|3]");
        check_pairs("%=1", "[EDDY_E_URL_INVALID]");
        check_pairs("a=%00", "[EDDY_E_URL_INVALID]");
        check_pairs("%00=a&b", "[EDDY_E_URL_INVALID][b|]");
}

TEST(absent_query_has_no_pairs)
{
        struct eddy_url_part query = { NULL, 0 };
        struct eddy_url_pair pair;
        char out[8];

        CHECK_EQ(eddy_url_query_next(&query, out, sizeof(out), &pair), 0);
        CHECK_EQ(eddy_url_query_next(&query, NULL, 0, &pair), 0);
        CHECK_EQ(eddy_url_query_get(NULL, 0, "a", out, sizeof(out)), -ENOENT);
}

TEST(room_of_a_pair)
{
        struct eddy_url_part query = { "ab=%63d&e", 9 };
        struct eddy_url_pair pair = { NULL, NULL };
        char out[6] = "xxxxx";

        CHECK_EQ(eddy_url_query_next(&query, out, 5, &pair), -EMSGSIZE);
        CHECK_STR(out, "xxxxx");
        CHECK_EQ(query.bytes, 9);
        CHECK(!pair.name);
        CHECK_EQ(eddy_url_query_next(&query, out, 6, &pair), 1);
        CHECK_STR(pair.name, "ab");
        CHECK_STR(pair.value, "cd");
        CHECK_EQ(eddy_url_query_next(&query, out, 1, &pair), -EMSGSIZE);
        CHECK_EQ(eddy_url_query_next(&query, out, 3, &pair), 1);
        CHECK_EQ(eddy_url_query_next(&query, out, 0, &pair), 0);
}

static void check_get(const char *query, const char *name, const char *expected)
{
        char out[64] = "x";
        int64_t n = eddy_url_query_get(query, strlen(query), name, out, sizeof(out));

        CHECK_EQ(n, (int64_t) strlen(expected));
        CHECK_STR(out, expected);
}

TEST(first_pair_of_a_name_is_found)
{
        char out[4] = "x";

        check_get("a=1&b=2&a=3", "a", "1");
        check_get("ab=1&a=2&", "a", "2");
        check_get("%61+b=%31", "a b", "1");
        check_get("a", "a", "");
        check_get("=1", "", "1");
        check_get("%=1&a%00b=3&a=2", "a", "2");
        CHECK_EQ(eddy_url_query_get("ab=1", 4, "a", out, sizeof(out)), -ENOENT);
        CHECK_EQ(eddy_url_query_get("a=1", 3, "ab", out, sizeof(out)), -ENOENT);
        CHECK_EQ(eddy_url_query_get("a=%0", 4, "a", out, sizeof(out)), EDDY_E_URL_INVALID);
        CHECK_EQ(eddy_url_query_get("a=%00", 5, "a", out, sizeof(out)), EDDY_E_URL_INVALID);
        CHECK_EQ(eddy_url_query_get("a=1234", 6, "a", out, sizeof(out)), -EMSGSIZE);
        CHECK_STR(out, "x");
        CHECK_EQ(eddy_url_query_get("a=1234", 6, "a", NULL, 0), 4);
}

/* ---- writing --------------------------------------------------------------------------------- */

TEST(pairs_are_written_quoted)
{
        static const struct eddy_url_pair pairs[] = { { "q", "caf\xc3\xa9 & bar" },
                                                      { "a=b", "" },
                                                      { "", "+" } };
        static const char expected[] = "q=caf%C3%A9%20%26%20bar&a%3Db=&=%2B";
        static const char plus[] = "q=caf%C3%A9+%26+bar&a%3Db=&=%2B";
        char out[64] = "x";

        CHECK_EQ(eddy_url_query_write(pairs, 3, 0, NULL, 0), (int64_t) strlen(expected));
        CHECK_EQ(eddy_url_query_write(pairs, 3, 0, out, strlen(expected)), -EMSGSIZE);
        CHECK_STR(out, "x");
        CHECK_EQ(eddy_url_query_write(pairs, 3, 0, out, sizeof(expected)),
                 (int64_t) strlen(expected));
        CHECK_STR(out, expected);
        CHECK_EQ(eddy_url_query_write(pairs, 3, EDDY_URL_PLUS, out, sizeof(out)),
                 (int64_t) strlen(plus));
        CHECK_STR(out, plus);
        CHECK_EQ(eddy_url_query_write(pairs, 0, 0, out, sizeof(out)), 0);
        CHECK_STR(out, "");
}

TEST(wrong_arguments_are_refused)
{
        static const struct eddy_url_pair pairs[] = { { "a", NULL }, { NULL, "a" } };
        char url[32] = "x";

        CHECK_EQ(eddy_url_query_write(pairs, 1, 0, NULL, 0), -EINVAL);
        CHECK_EQ(eddy_url_query_write(pairs + 1, 1, 0, NULL, 0), -EINVAL);
        CHECK_EQ(eddy_url_query_write(pairs, 0, EDDY_URL_SLASH, NULL, 0), -EINVAL);
        CHECK_EQ(eddy_url_query_add(url, sizeof(url), NULL, "a"), -EINVAL);
        CHECK_EQ(eddy_url_query_add(url, sizeof(url), "a", NULL), -EINVAL);
        CHECK_EQ(eddy_url_query_add(NULL, 0, "a", "b"), -EINVAL);
        CHECK_STR(url, "x");
}

static void check_add(const char *before, const char *name, const char *value, const char *after)
{
        size_t bytes = strlen(after);
        char *url = malloc(bytes + 1);

        CHECK(url);
        memcpy(url, before, strlen(before) + 1);
        CHECK_EQ(eddy_url_query_add(url, bytes, name, value), -EMSGSIZE);
        CHECK_STR(url, before);
        CHECK_EQ(eddy_url_query_add(url, bytes + 1, name, value), (int64_t) bytes);
        CHECK_STR(url, after);
        free(url);
}

TEST(pair_is_added_to_a_url)
{
        check_add("http://h/", "a", "b c", "http://h/?a=b%20c");
        check_add("http://h/?", "a", "b", "http://h/?a=b");
        check_add("http://h/?x", "a", "b", "http://h/?x&a=b");
        check_add("http://h/?x&", "a", "b", "http://h/?x&a=b");
        check_add("http://h/?x=?", "a", "b", "http://h/?x=?&a=b");
        check_add("http://h/#f?g", "a", "b", "http://h/?a=b#f?g");
        check_add("http://h/?x#f&", "a", "b", "http://h/?x&a=b#f&");
        check_add("http://h/&", "a", "b", "http://h/&?a=b");
        check_add("", "", "", "?=");
        check_add("#", "a", "", "?a=#");
}

TEST(written_pairs_are_read_back)
{
        static const unsigned flags[] = { 0, EDDY_URL_PLUS };
        char name[256], out[1024], room[512];

        for (int c = 1; c < 256; c++)
                name[c - 1] = (char) c;
        name[255] = '\0';
        for (int i = 0; i < 2; i++) {
                struct eddy_url_pair pair = { name, "v" };
                int64_t n = eddy_url_query_write(&pair, 1, flags[i], out, sizeof(out));
                struct eddy_url_part query = { out, (size_t) n };

                CHECK(n > 0);
                CHECK_EQ(eddy_url_query_next(&query, room, sizeof(room), &pair), 1);
                CHECK_STR(pair.name, name);
                CHECK_EQ(eddy_url_query_next(&query, room, sizeof(room), &pair), 0);
        }
}
