/*
 * test_cookie_text.c - the value of Set-Cookie and the dates in it: each rule of RFC 6265bis, 5.1.1 and
 * 5.6, hostile texts, and each text at the end of its memory.
 */
#include <stdint.h>

#include "eddy/http_cookies.h"
#include "http/cookie_text.h"
#include "test.h"

enum { NOW_S = 1700000000 };

/* Parse a copy that ends where its memory does. */
static bool parse(const char *text, struct ed_cookie_parts *ret)
{
        static char *copy;
        size_t bytes = strlen(text);

        free(copy);
        copy = malloc(bytes ? bytes : 1);
        CHECK(copy);
        memcpy(copy, text, bytes);
        return ed_set_cookie_parse(copy, bytes, NOW_S, ret);
}

static void check_part(struct eddy_url_part part, const char *expected, const char *text)
{
        if (part.bytes != strlen(expected) || memcmp(part.text, expected, part.bytes) != 0)
                test_fail(__FILE__, __LINE__, "\"%s\" gives \"%.*s\", expected \"%s\"", text,
                          (int) part.bytes, part.text, expected);
}

static void check_pair(const char *text, const char *name, const char *value)
{
        struct ed_cookie_parts parts;

        CHECK(parse(text, &parts));
        check_part(parts.name, name, text);
        check_part(parts.value, value, text);
}

static void check_path(const char *text, const char *path)
{
        struct ed_cookie_parts parts;

        CHECK(parse(text, &parts));
        if (path[0] == '\0')
                CHECK_EQ(parts.path.bytes, 0);
        else
                check_part(parts.path, path, text);
}

static void check_domain(const char *text, const char *domain)
{
        struct ed_cookie_parts parts;

        CHECK(parse(text, &parts));
        if (domain[0] == '\0')
                CHECK_EQ(parts.domain.bytes, 0);
        else
                check_part(parts.domain, domain, text);
}

static void check_expiry(const char *text, int64_t expires_s)
{
        struct ed_cookie_parts parts;

        CHECK(parse(text, &parts));
        if (parts.expires_s != expires_s)
                test_fail(__FILE__, __LINE__, "\"%s\" expires at %lld, expected %lld", text,
                          (long long) parts.expires_s, (long long) expires_s);
}

static void check_refused(const char *text)
{
        struct ed_cookie_parts parts;

        if (parse(text, &parts))
                test_fail(__FILE__, __LINE__, "\"%s\" was accepted", text);
}

TEST(a_pair_ends_at_the_first_semicolon_and_loses_its_white_space)
{
        check_pair("a=b", "a", "b");
        check_pair(" \ta \t= b\t; Path=/", "a", "b");
        check_pair("a=b=c; x", "a", "b=c");
        check_pair("a=\"b c\"", "a", "\"b c\"");
        check_pair("a=b, c=d", "a", "b, c=d");
        check_pair("a=", "a", "");
        check_pair("a=;", "a", "");
        check_pair("a=b;;;", "a", "b");
        check_pair("a=\xC3\xA9\xFF", "a", "\xC3\xA9\xFF");
}

TEST(a_pair_without_a_name_is_a_value)
{
        check_pair("b", "", "b");
        check_pair("=b", "", "b");
        check_pair("==b", "", "=b");
        check_refused("");
        check_refused("=");
        check_refused("; Path=/");
        check_refused(" = ; a=b");
}

/* B33, B34: curl CVE-2022-35252: such a cookie makes servers refuse each later request. */
TEST(a_cookie_with_a_control_character_is_ignored)
{
        char text[] = "a=b?c; Path=/";

        for (int c = 1; c < 0x20; c++) {
                text[3] = (char) c;
                check_refused(text);
        }
        text[3] = 0x7F;
        check_refused(text);
        check_refused("a\tb=c");
        check_refused("a=b\tc");
        check_refused("a=b; Path=/\x01");
        check_refused("a=b; Path=/a\tb");
        CHECK(!ed_set_cookie_parse("a=b\0c", 5, NOW_S, &(struct ed_cookie_parts){ 0 }));
}

/* B33: curl CVE-2022-32205: cookies without a limit fill requests and memory. */
TEST(a_cookie_longer_than_its_limit_is_ignored)
{
        static char text[EDDY_HTTP_COOKIE_BYTES_MAX + 16];
        struct ed_cookie_parts parts;

        memset(text, 'x', sizeof(text) - 1);
        text[1] = '=';
        text[EDDY_HTTP_COOKIE_BYTES_MAX + 1] = '\0'; /* "x=" and one less than the limit */
        CHECK(parse(text, &parts));
        CHECK_EQ(parts.value.bytes, EDDY_HTTP_COOKIE_BYTES_MAX - 1);
        text[EDDY_HTTP_COOKIE_BYTES_MAX + 1] = 'x';
        text[EDDY_HTTP_COOKIE_BYTES_MAX + 2] = '\0';
        check_refused(text);
}

TEST(the_last_attribute_counts_and_unknown_ones_do_not)
{
        struct ed_cookie_parts parts;

        check_domain("a=b; domain=a.test; DOMAIN = .B.test ", "B.test");
        check_domain("a=b; Domain=..b.test", ".b.test");
        check_domain("a=b; Domain=a.test; Domain=", "");
        check_domain("a=b; Domain", "");
        check_path("a=b; Path=/a; path=/b/", "/b/");
        check_path("a=b; Path=/a; Path=b", "");
        check_path("a=b; Path=", "");
        check_path("a=b; Path", "");
        check_path("a=b; Path=/x=y", "/x=y");
        CHECK(parse("a=b; SECURE=no; HttpOnly; SameSite=strict; Partitioned; Priority=High",
                    &parts));
        CHECK(parts.secure && parts.http_only);
        CHECK_EQ(parts.same_site, EDDY_HTTP_SAME_SITE_STRICT);
        CHECK(parse("a=b; Secured; Http-Only; SameSite=Lax; SameSite=other", &parts));
        CHECK(!parts.secure && !parts.http_only);
        CHECK_EQ(parts.same_site, EDDY_HTTP_SAME_SITE_UNSET);
        CHECK(parse("a=b;samesite=NONE", &parts));
        CHECK_EQ(parts.same_site, EDDY_HTTP_SAME_SITE_NONE);
}

TEST(an_attribute_longer_than_1024_bytes_is_ignored)
{
        static char text[1100] = "a=b; Path=/a; Path=";

        memset(text + 19, '/', 1024);
        check_path(text, text + 19);
        text[19 + 1024] = '/';
        check_path(text, "/a");
}

/* B32: the rules of eddy/http_cookies.h. */
TEST(max_age_goes_before_expires)
{
        check_expiry("a=b", ED_COOKIE_SESSION);
        check_expiry("a=b; Max-Age=60", NOW_S + 60);
        check_expiry("a=b; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", NOW_S + 60);
        check_expiry("a=b; Max-Age=60; max-age=70", NOW_S + 70);
        check_expiry("a=b; Max-Age=0", INT64_MIN);
        check_expiry("a=b; Max-Age=-1", INT64_MIN);
        check_expiry("a=b; Max-Age=-99999999999999999999999", INT64_MIN);
        check_expiry("a=b; Expires=Thu, 01 Jan 1970 00:00:01 GMT", 1);
        check_expiry("a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT", -1);
        check_expiry("a=b; Max-Age=; Expires=Thu, 01 Jan 1970 00:00:01 GMT", 1);
        check_expiry("a=b; Max-Age=+1", ED_COOKIE_SESSION);
        check_expiry("a=b; Max-Age=-", ED_COOKIE_SESSION);
        check_expiry("a=b; Max-Age=1.5", ED_COOKIE_SESSION);
        check_expiry("a=b; Max-Age=\xD9\xA1", ED_COOKIE_SESSION); /* an Arabic 1 */
        check_expiry("a=b; Max-Age=60; Max-Age=x", NOW_S + 60);
        check_expiry("a=b; Expires=never", ED_COOKIE_SESSION);
}

TEST(a_time_is_at_most_400_days_from_now)
{
        check_expiry("a=b; Max-Age=34560000", NOW_S + 34560000);
        check_expiry("a=b; Max-Age=34560001", NOW_S + 34560000);
        check_expiry("a=b; Max-Age=18446744073709551616", NOW_S + 34560000);
        check_expiry("a=b; Expires=Fri, 31 Dec 9999 23:59:59 GMT", NOW_S + 34560000);
}

static void check_date(const char *text, int64_t expected)
{
        int64_t seconds = INT64_MIN;
        size_t bytes = strlen(text);
        char *copy = malloc(bytes ? bytes : 1);

        CHECK(copy);
        memcpy(copy, text, bytes);
        if (!ed_cookie_date_parse(copy, bytes, &seconds))
                seconds = INT64_MIN;
        if (seconds != expected)
                test_fail(__FILE__, __LINE__, "\"%s\" is %lld, expected %lld", text,
                          (long long) seconds, (long long) expected);
        free(copy);
}

TEST(dates_have_any_order_and_separators)
{
        check_date("Sun, 06 Nov 1994 08:49:37 GMT", 784111777);
        check_date("Sunday, 06-Nov-94 08:49:37 GMT", 784111777);
        check_date("Sun Nov  6 08:49:37 1994", 784111777);
        check_date("1994 november 6 8:49:37", 784111777);
        check_date("08:49:37x 6th NOV/1994y", 784111777);
        check_date("((6))Nov 94;8:49:37", 784111777);
        check_date("6 Nov 1994 08:49:37 +0200", 784111777);
        check_date("01 Jan 1970 00:00:00", 0);
        check_date("31 Dec 1969 23:59:59", -1);
        check_date("29 Feb 2000 12:00:00", 951825600);
        check_date("01 Jan 69 00:00:00", 3124224000);
        check_date("01 Jan 70 00:00:00", 0);
        check_date("01 Jan 1601 00:00:00", -11644473600);
        check_date("31 Dec 9999 23:59:59", 253402300799);
}

TEST(dates_that_do_not_exist_or_lack_a_part_are_refused)
{
        static const char *const texts[] = {
                "",
                "GMT",
                "Sun, 06 Nov 1994",
                "06 1994 08:49:37",
                "Nov 1994 08:49:37",
                "06 Nov 08:49:37",
                "06 Nov 1994 08:49",
                "06 Nov 1994 008:49:37",
                "06 Nov 1994 08:49:370",
                "06 Nov 1994 24:00:00",
                "06 Nov 1994 08:60:00",
                "06 Nov 1994 08:49:60",
                "00 Nov 1994 08:49:37",
                "31 Nov 1994 08:49:37",
                "29 Feb 1900 08:49:37",
                "06 Nov 1600 08:49:37",
                "06 Nov 19940 08:49:37",
                "006 Nov 1994 08:49:37",
                "06 No 1994 08:49:37",
                "\xD9\xA0\xD9\xA6 Nov 1994 08:49:37", /* Arabic digits */
        };

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
                check_date(texts[i], INT64_MIN);
}

TEST(each_start_of_a_text_is_read_within_its_memory)
{
        static const char text[] =
                " a = b ; Domain=.x.test ; Path = /p ; Max-Age = -10 ; Secure ;"
                "Expires=Sun, 06 Nov 1994 08:49:37 GMT; SameSite = Lax ; HttpOnly";
        char start[sizeof(text)];

        for (size_t bytes = 0; bytes < sizeof(text); bytes++) {
                struct ed_cookie_parts parts;

                memcpy(start, text, bytes);
                start[bytes] = '\0';
                CHECK_EQ(parse(start, &parts), bytes > 1);
        }
}
