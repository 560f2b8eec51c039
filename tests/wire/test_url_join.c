/*
 * test_url_join.c - eddy_url_join().
 */
#include "eddy/error.h"
#include "eddy/url.h"
#include "test.h"

static void check_join(const char *base, const char *reference, const char *expected)
{
        size_t bytes = strlen(expected);
        char *out = malloc(bytes + 1);

        CHECK(out);
        memset(out, 'x', bytes + 1);
        CHECK_EQ(eddy_url_join(base, reference, NULL, 0), (int64_t) bytes);
        CHECK_EQ(eddy_url_join(base, reference, out, bytes), -EMSGSIZE);
        CHECK_EQ(out[0], 'x');
        CHECK_EQ(eddy_url_join(base, reference, out, bytes + 1), (int64_t) bytes);
        if (strcmp(out, expected) != 0)
                test_fail(__FILE__, __LINE__, "%s and %s give %s, expected %s", base, reference,
                          out, expected);
        free(out);
}

static void check_joins(const char *base, const char *const (*pairs)[2], size_t count)
{
        for (size_t i = 0; i < count; i++)
                check_join(base, pairs[i][0], pairs[i][1]);
}

#define CHECK_JOINS(base, ...)                                                                     \
        check_joins(base, (const char *const[][2]){ __VA_ARGS__ },                                 \
                    sizeof((const char *const[][2]){ __VA_ARGS__ }) / sizeof(char *[2]))

static const char rfc[] = "http://a/b/c/d;p?q";

/* RFC 3986, 5.4.1 */
TEST(normal_examples_of_the_rfc)
{
        CHECK_JOINS(rfc, { "g:h", "g:h" }, { "g", "http://a/b/c/g" }, { "./g", "http://a/b/c/g" },
                    { "g/", "http://a/b/c/g/" }, { "/g", "http://a/g" }, { "//g", "http://g" },
                    { "?y", "http://a/b/c/d;p?y" }, { "g?y", "http://a/b/c/g?y" },
                    { "#s", "http://a/b/c/d;p?q#s" }, { "g#s", "http://a/b/c/g#s" },
                    { "g?y#s", "http://a/b/c/g?y#s" }, { ";x", "http://a/b/c/;x" },
                    { "g;x", "http://a/b/c/g;x" }, { "g;x?y#s", "http://a/b/c/g;x?y#s" },
                    { "", "http://a/b/c/d;p?q" }, { ".", "http://a/b/c/" },
                    { "./", "http://a/b/c/" }, { "..", "http://a/b/" }, { "../", "http://a/b/" },
                    { "../g", "http://a/b/g" }, { "../..", "http://a/" }, { "../../", "http://a/" },
                    { "../../g", "http://a/g" });
}

/* RFC 3986, 5.4.2 */
TEST(abnormal_examples_of_the_rfc)
{
        CHECK_JOINS(rfc, { "../../../g", "http://a/g" }, { "../../../../g", "http://a/g" },
                    { "/./g", "http://a/g" }, { "/../g", "http://a/g" },
                    { "g.", "http://a/b/c/g." }, { ".g", "http://a/b/c/.g" },
                    { "g..", "http://a/b/c/g.." }, { "..g", "http://a/b/c/..g" },
                    { "./../g", "http://a/b/g" }, { "./g/.", "http://a/b/c/g/" },
                    { "g/./h", "http://a/b/c/g/h" }, { "g/../h", "http://a/b/c/h" },
                    { "g;x=1/./y", "http://a/b/c/g;x=1/y" }, { "g;x=1/../y", "http://a/b/c/y" },
                    { "g?y/./x", "http://a/b/c/g?y/./x" }, { "g?y/../x", "http://a/b/c/g?y/../x" },
                    { "g#s/./x", "http://a/b/c/g#s/./x" }, { "g#s/../x", "http://a/b/c/g#s/../x" },
                    { "http:g", "http:g" });
}

/* RFC 3986, 5.2.4: the two examples. */
TEST(dot_segments_of_the_algorithm)
{
        check_join("x://h", "/a/b/c/./../../g", "x://h/a/g");
        check_join("x:y", "mid/content=5/../6", "x:mid/6");
}

TEST(base_without_a_path_has_its_root)
{
        CHECK_JOINS("http://a", { "g", "http://a/g" }, { "", "http://a" }, { "?q", "http://a?q" },
                    { "../g", "http://a/g" }, { ".", "http://a/" }, { "#", "http://a#" });
        CHECK_JOINS("http://a?b/c", { "g", "http://a/g" }, { "", "http://a?b/c" });
}

TEST(empty_segments_count_as_segments)
{
        CHECK_JOINS("http://a//b//c", { "g", "http://a//b//g" }, { "..", "http://a//b/" },
                    { "../..", "http://a//" }, { "../../..", "http://a/" },
                    { ".//g", "http://a//b///g" }, { "/..//g", "http://a//g" });
}

TEST(base_fragment_is_dropped_and_user_kept)
{
        CHECK_JOINS("http://u:p@a:81/b?c#d", { "", "http://u:p@a:81/b?c" },
                    { "e", "http://u:p@a:81/e" }, { "//f", "http://f" },
                    { "//v@f/g", "http://v@f/g" }, { "?", "http://u:p@a:81/b?" });
}

TEST(dots_of_the_base_stay_if_the_reference_has_no_path)
{
        CHECK_JOINS("http://a/b/../c", { "", "http://a/b/../c" }, { "?q", "http://a/b/../c?q" },
                    { "d", "http://a/d" });
}

TEST(encoded_dots_are_kept)
{
        check_join("http://a/b/c", "%2e%2E/d", "http://a/b/%2e%2E/d");
}

TEST(scheme_of_the_reference_replaces_all)
{
        CHECK_JOINS("http://a/b", { "https://h/./c/../d", "https://h/d" },
                    { "HTTP://h", "HTTP://h" }, { "mailto:a@b", "mailto:a@b" },
                    { "file:///a/..", "file:///" });
}

/* A path that begins with "//" would be read as a host. */
TEST(path_never_becomes_a_host)
{
        CHECK_JOINS("x:/a/b", { "..//evil", "x:/.//evil" }, { "/.//evil", "x:/.//evil" },
                    { "/..//evil/..", "x:/.//" }, { ".//", "x:/a//" },
                    { "../..//evil", "x:/.//evil" });
        check_join("x://h/a", "/.//evil", "x://h//evil");
        check_join("x:/.//evil", "f", "x:/.//f");
        check_join("x:/a", "y:/b/..//c", "y:/.//c");
}

/* 5.2.4 keeps the slash before a segment, even if the first one is removed. */
TEST(paths_without_a_root)
{
        CHECK_JOINS("x:a/b", { "c", "x:a/c" }, { "../c", "x:/c" }, { "..", "x:/" },
                    { "../../c", "x:/c" }, { "/c", "x:/c" }, { ".", "x:a/" });
        CHECK_JOINS("x:a", { "b", "x:b" }, { "./b", "x:b" }, { "../b", "x:b" }, { "..", "x:" },
                    { "./.", "x:" }, { "b/..", "x:/" }, { "b/../..", "x:/" }, { "../..", "x:" });
        CHECK_JOINS("x:../a/b", { "c", "x:a/c" }, { "../c", "x:/c" });
        CHECK_JOINS("x:./a", { "../c", "x:c" }, { ".", "x:" });
}

TEST(invalid_texts_are_refused)
{
        static const char *const wrong[][2] = {
                { "", "a" },
                { "/a", "b" },
                { "//h/a", "b" },
                { "http:a", "b" },
                { "http://", "b" },
                { "http://h/ ", "b" },
                { "http://h/", " " },
                { "http://h/", "a\n" },
                { "http://h/", "a:%" },
                { "http://h/", "1:" },
                { "http://h/", "//" },
                { "http://h/", "//a b/" },
                { "http://h/", "///evil" },
                { "http://h/", "//127.1/" },
                { "http://h/", "\\\\evil" },
                { "http://h/", "//h:99999/" },
        };
        char out[64] = "x";

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                int64_t n = eddy_url_join(wrong[i][0], wrong[i][1], out, sizeof(out));

                if (n != EDDY_E_URL_INVALID)
                        test_fail(__FILE__, __LINE__, "%s and %s give %s", wrong[i][0], wrong[i][1],
                                  out);
                CHECK_STR(out, "x");
        }
}

TEST(result_has_a_maximum)
{
        static char base[EDDY_URL_BYTES_MAX + 1], reference[64], out[EDDY_URL_BYTES_MAX + 64];

        memset(base, 'a', EDDY_URL_BYTES_MAX);
        memcpy(base, "http://h/", 9);
        base[EDDY_URL_BYTES_MAX - 1] = '/';
        snprintf(reference, sizeof(reference), "%s", "bb");
        CHECK_EQ(eddy_url_join(base, "", out, sizeof(out)), EDDY_URL_BYTES_MAX);
        CHECK_EQ(eddy_url_join(base, reference, out, sizeof(out)), EDDY_E_URL_INVALID);
        CHECK_EQ(eddy_url_join(base, "../bb", out, sizeof(out)), 11);
}
