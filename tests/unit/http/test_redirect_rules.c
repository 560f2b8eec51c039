/*
 * test_redirect_rules.c - the rules of redirects: which method follows, which headers stay, and the URL to
 * which a Location leads. Memory that fails is in test_redirect.c.
 */
#include "test.h"

#include "eddy/error.h"
#include "http/redirect_rules.h"
#include "wire/url.h"

enum { ROOM = 1 << 18 };

TEST(five_statuses_are_redirects)
{
        static const int redirects[] = { 301, 302, 303, 307, 308 };
        size_t found = 0;

        for (int status = 100; status < 600; status++) {
                bool is_one = found < 5 && status == redirects[found];

                CHECK_EQ(ed_redirect_has_status(status), is_one);
                found += is_one;
        }
}

TEST(post_becomes_get_after_301_302_and_303)
{
        static const char *const methods[] = { "GET", "HEAD", "POST", "PUT", "DELETE", "post" };
        static const bool after_302[] = { false, false, true, false, false, false };

        for (size_t i = 0; i < 6; i++) {
                CHECK_EQ(ed_redirect_becomes_get(301, methods[i]), after_302[i]);
                CHECK_EQ(ed_redirect_becomes_get(302, methods[i]), after_302[i]);
                CHECK_EQ(ed_redirect_becomes_get(303, methods[i]), i != 1);
                CHECK(!ed_redirect_becomes_get(307, methods[i]));
                CHECK(!ed_redirect_becomes_get(308, methods[i]));
        }
}

/* urllib3 CVE-2023-45803 and Content-* of a body that is not sent. */
TEST(headers_of_a_body_do_not_describe_a_get)
{
        static const char *const dropped[] = { "Content-Type",     "content-length",
                                               "Content-Encoding", "Content-Language",
                                               "Expect",           "Transfer-Encoding",
                                               "Trailer" };
        static const char *const kept[] = { "Accept", "User-Agent", "Contents", "Range",
                                            "Expectation" };

        for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++)
                CHECK(ed_redirect_is_of_body(dropped[i]));
        for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
                CHECK(!ed_redirect_is_of_body(kept[i]));
}

TEST(credentials_and_host_are_of_an_origin)
{
        static const char *const dropped[] = { "Authorization",       "AUTHORIZATION", "Cookie",
                                               "Proxy-Authorization", "X-Api-Key",     "Host" };
        static const char *const kept[] = { "Accept", "Idempotency-Key", "Content-Type", "Hosts" };

        for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++)
                CHECK(ed_redirect_is_of_origin(dropped[i]));
        for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
                CHECK(!ed_redirect_is_of_origin(kept[i]));
}

/* ---- the URL -------------------------------------------------------------- */

static void check_join(int line, const char *base, const char *location, const char *expected,
                       int leaves)
{
        struct ed_buf out;
        int result;

        ed_buf_init(&out, ROOM);
        result = ed_redirect_join(base, location, &out);
        if (result != leaves)
                test_fail(__FILE__, line, "\"%s\" from \"%s\" is %d, expected %d", location, base,
                          result, leaves);
        else if (result >= 0 && strcmp(ed_buf_data(&out), expected) != 0)
                test_fail(__FILE__, line, "\"%s\" from \"%s\" leads to \"%s\", expected \"%s\"",
                          location, base, ed_buf_data(&out), expected);
        ed_buf_fini(&out);
}

#define STAYS(base, location, expected)  check_join(__LINE__, base, location, expected, 0)
#define LEAVES(base, location, expected) check_join(__LINE__, base, location, expected, 1)
#define REFUSED(base, location, error)   check_join(__LINE__, base, location, "", error)

TEST(location_is_joined_to_the_url)
{
        STAYS("http://a.test/x/y?q", "z", "http://a.test/x/z");
        STAYS("http://a.test/x/y?q", "/z?r=1", "http://a.test/z?r=1");
        STAYS("http://a.test/x/y?q", "../../z", "http://a.test/z");
        STAYS("http://a.test/x?q", "?r", "http://a.test/x?r");
        STAYS("http://a.test", "/", "http://a.test/");
        LEAVES("http://a.test/x", "//b.test/y", "http://b.test/y");
        LEAVES("http://a.test/x", "https://a.test/x", "https://a.test/x");
}

/* B29: the table of docs/design/redirects.md. */
TEST(fragment_stays_unless_location_has_one)
{
        STAYS("http://a.test/x#part", "/y", "http://a.test/y#part");
        STAYS("http://a.test/x#part", "/y#other", "http://a.test/y#other");
        STAYS("http://a.test/x#part", "/y#", "http://a.test/y#");
        LEAVES("http://a.test/x#part", "http://b.test/", "http://b.test/#part");
}

/* curl CVE-2022-27774: another port or scheme of the same host is another origin. */
TEST(scheme_host_and_port_are_the_origin)
{
        STAYS("http://a.test/x", "http://A.TEST:80/y", "http://A.TEST/y");
        STAYS("https://a.test:443/x", "https://a.test/y", "https://a.test/y");
        STAYS("http://b\xc3\xbc"
              "cher.test/x",
              "http://xn--bcher-kva.test/y", "http://xn--bcher-kva.test/y");
        LEAVES("http://a.test/x", "http://a.test:8080/y", "http://a.test:8080/y");
        LEAVES("http://a.test/x", "https://a.test/y", "https://a.test/y");
        LEAVES("http://a.test/x", "http://www.a.test/y", "http://www.a.test/y");
        LEAVES("http://a.test/x", "http://a.test./y", "http://a.test./y");
}

TEST(user_information_stays_within_an_origin)
{
        STAYS("http://u:p@a.test/x", "/y", "http://u:p@a.test/y");
        STAYS("http://u:p@a.test/x", "http://a.test/y", "http://u:p@a.test/y");
        STAYS("http://u:p@a.test/x", "http://v@a.test/y", "http://v@a.test/y");
        LEAVES("http://u:p@a.test/x", "//b.test/y", "http://b.test/y");
        LEAVES("http://u:p@a.test/x", "https://a.test/y", "https://a.test/y");
        LEAVES("http://u:p@a.test/x", "http://a.test:81/y", "http://a.test:81/y");
}

TEST(spaces_and_bytes_outside_ascii_are_quoted_after_the_host)
{
        STAYS("http://a.test/x", "/\xc3\xa9 b?\xff#\x80", "http://a.test/%C3%A9%20b?%FF#%80");
        STAYS("http://a.test/x", "http://a.test/\xc3\xa9", "http://a.test/%C3%A9");
        LEAVES("http://a.test/x", "http://b\xc3\xbc.test/\xc3\xa9", "http://b\xc3\xbc.test/%C3%A9");
        REFUSED("http://a.test/x", "http://b c.test/", EDDY_E_URL_INVALID);
        REFUSED("http://a.test/x", "//\xff/", EDDY_E_URL_INVALID);
}

/* curl CVE-2009-0037 and CVE-2024-2004. */
TEST(other_schemes_are_refused)
{
        REFUSED("http://a.test/", "file:///etc/passwd", EDDY_E_URL_SCHEME);
        REFUSED("http://a.test/", "ftp://a.test/", EDDY_E_URL_SCHEME);
        REFUSED("http://a.test/", "javascript:alert(1)", EDDY_E_URL_INVALID);
        REFUSED("http://a.test/", "data:,x", EDDY_E_URL_INVALID);
}

/* curl CVE-2016-8624 and CVE-2022-27780, aiohttp's forms of addresses: another host than a check found. */
TEST(location_that_parsers_read_differently_is_refused)
{
        static const char *const refused[] = {
                "http://a.test\\@b.test/",
                "/\\b.test",
                "http://127.1/",
                "http://2130706433/",
                "http://0x7f.1/",
                "http://a%2fb.test/",
                "http:",
                "http:b",
                "http://",
                "///x",
                "http://a.test:99999/",
                "http://[::1/",
                "/a%2",
                "/a\tb",
                "/a\x7f",
        };

        for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
                REFUSED("http://a.test/", refused[i], EDDY_E_URL_INVALID);
}

TEST(longest_url_is_joined_and_a_longer_one_refused)
{
        static char location[EDDY_URL_BYTES_MAX + 2], expected[EDDY_URL_BYTES_MAX + 2];
        size_t host = strlen("http://a.test");

        memset(location, 'a', sizeof(location) - 1);
        location[0] = '/';
        location[EDDY_URL_BYTES_MAX - host] = '\0';
        memcpy(expected, "http://a.test", host);
        memcpy(expected + host, location, EDDY_URL_BYTES_MAX - host + 1);
        STAYS("http://a.test/", location, expected);
        location[EDDY_URL_BYTES_MAX - host] = 'a';
        location[EDDY_URL_BYTES_MAX - host + 1] = '\0';
        REFUSED("http://a.test/", location, EDDY_E_URL_INVALID);
        /* Quotes triple the bytes. */
        memset(location + 1, 0xE9, sizeof(location) - 3);
        location[sizeof(location) - 1] = '\0';
        REFUSED("http://a.test/", location, EDDY_E_URL_INVALID);
}
