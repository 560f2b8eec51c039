/*
 * test_base_url.c - lists of base URLs: the lines of a file, their faults, and those that are the same.
 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "batch/request/base_url.h"

static char why[ED_BASE_URLS_WHY_BYTES];

static int list_read(struct ed_base_urls *urls, const char *text)
{
        *urls = (struct ed_base_urls){ 0 };
        return ed_base_urls_read(urls, text, strlen(text), why);
}

TEST(lines_are_urls_and_blank_lines_and_comments_are_skipped)
{
        struct ed_base_urls urls;

        CHECK_EQ(
                list_read(&urls,
                          "\xEF\xBB\xBF# a list\n\n  http://a:1/v1 \r\n\thttps://b\n #x\nhttp://c"),
                0);
        CHECK_EQ(urls.count, 3);
        CHECK_STR(urls.items[0]->text, "http://a:1/v1");
        CHECK_STR(urls.items[1]->text, "https://b");
        CHECK_STR(urls.items[2]->text, "http://c");
        CHECK(ed_base_urls_have(&urls, "HTTP://A:1/v1//") &&
              !ed_base_urls_have(&urls, "http://a:1"));
        CHECK_EQ(ed_base_urls_add(&urls, "http://c/"), -EEXIST);
        ed_base_urls_fini(&urls);
        CHECK_EQ(list_read(&urls, ""), 0);
        CHECK_EQ(urls.count, 0);
}

TEST(url_that_occurs_twice_counts_once)
{
        struct ed_base_urls urls, rest = { 0 }, given = { 0 };

        CHECK_EQ(list_read(&urls, "http://a\nhttp://A/\nhttp://a/x\nhttp://b\n"), 0);
        CHECK_EQ(urls.count, 3);
        CHECK_EQ(ed_base_urls_add(&given, "http://a/"), 0);
        CHECK_EQ(ed_base_urls_take(&rest, &urls, &given), 0);
        CHECK_EQ(rest.count, 2);
        CHECK_STR(rest.items[0]->text, "http://a/x");
        CHECK_EQ(urls.count, 0);
        ed_base_urls_fini(&rest);
        ed_base_urls_fini(&given);
        ed_base_urls_fini(&urls);
}

TEST(line_that_is_not_a_url_is_named_with_its_number_and_without_secrets)
{
        static const struct {
                const char *text, *why;
        } bad[] = {
                { "\n#\nhost:80\n",
                  "line 3: host:80: write http://HOST[:PORT][/PATH] or https, without ? and #" },
                { "http://a\nhttp://u:secret@b?key=c\n",
                  "line 2: http://***@b?***: write http://HOST[:PORT][/PATH] or https, without ? "
                  "and #" },
                { "http://a,http://b\n", "line 1: http://a,http://b: this is more than one URL; "
                                         "write each on its own line" },
                { "http://a b\n", "line 1: " },
                { "http://{{host}}/\n", "line 1: http://{{host}}/: {{name}} is replaced in" },
                { "ftp://a\n", "line 1: ftp://a: " },
                { "/v1\n", "line 1: /v1: write http" },
        };

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                struct ed_base_urls urls;

                CHECK_EQ(list_read(&urls, bad[i].text), -EINVAL);
                CHECK_EQ(strncmp(why, bad[i].why, strlen(bad[i].why)), 0);
                CHECK(strstr(why, "secret") == NULL);
                ed_base_urls_fini(&urls);
        }
}

TEST(zero_byte_in_a_line_is_a_fault)
{
        static const char text[] = "http://a\0b\n";
        struct ed_base_urls urls = { 0 };

        CHECK_EQ(ed_base_urls_read(&urls, text, sizeof(text) - 1, why), -EINVAL);
        CHECK(strstr(why, "zero byte") != NULL);
        ed_base_urls_fini(&urls);
}

TEST(list_has_4096_urls_and_no_more)
{
        struct ed_base_urls urls = { 0 };
        char line[64];

        for (int i = 0; i <= ED_BASE_URLS_MAX; i++) {
                snprintf(line, sizeof(line), "http://127.0.%d.%d:8000\n", i / 256, i % 256);
                CHECK_EQ(ed_base_urls_read(&urls, line, strlen(line), why),
                         i < ED_BASE_URLS_MAX ? 0 : -EINVAL);
        }
        CHECK_STR(why, "line 1: http://127.0.16.0:8000: at most 4,096 base URLs are possible");
        CHECK_EQ(urls.count, ED_BASE_URLS_MAX);
        /* One that the list has is not one more. */
        CHECK_EQ(ed_base_urls_read(&urls, "http://127.0.0.0:8000", 21, why), 0);
        ed_base_urls_fini(&urls);
}
