/*
 * test_cookies.c - the cookie jar: which hosts may set which cookies, which requests get them, in which
 * order, what is dropped when the jar is full, and memory that fails. Time is virtual.
 */
#include <stdint.h>

#include "http_test.h"

enum { ROOM = EDDY_HTTP_COOKIE_HEADER_MAX + 1 };

static eddy_http_cookies *jar;

/* JAR_TEST(claim) { ... jar ... } */
#define JAR_TEST(claim)                                                                            \
        static void jar_##claim(void);                                                             \
        static int run_##claim(void *arg)                                                          \
        {                                                                                          \
                (void) arg;                                                                        \
                CHECK_EQ(eddy_http_cookies_new(&jar), 0);                                          \
                jar_##claim();                                                                     \
                eddy_http_cookies_free(jar);                                                       \
                return 0;                                                                          \
        }                                                                                          \
        TEST(claim)                                                                                \
        {                                                                                          \
                http_run(run_##claim, NULL);                                                       \
        }                                                                                          \
        static void jar_##claim(void)

#define SET(url, text)     CHECK_EQ(eddy_http_cookies_set(jar, url, text), 1)
#define REFUSED(url, text) CHECK_EQ(eddy_http_cookies_set(jar, url, text), 0)

static void check_header(int line, const char *url, const char *expected)
{
        static char value[ROOM];
        int64_t bytes = eddy_http_cookies_header(jar, url, value, sizeof(value));

        CHECK_EQ(bytes, (int64_t) strlen(value));
        CHECK_EQ(eddy_http_cookies_header(jar, url, NULL, 0), bytes);
        if (strcmp(value, expected) != 0)
                test_fail(__FILE__, line, "%s gets \"%s\", expected \"%s\"", url, value, expected);
}

#define HEADER(url, expected) check_header(__LINE__, url, expected)

static int count(void)
{
        struct eddy_http_cookie cookie;
        int n = 0;

        while (eddy_http_cookies_at(jar, (size_t) n, &cookie) == 0)
                n++;
        return n;
}

/* ---- hosts -------------------------------------------------------------------------- */

/* B32: the rules of eddy/http_cookies.h. */
JAR_TEST(a_cookie_without_a_domain_goes_to_its_host_alone)
{
        SET("http://a.test/", "a=1");
        HEADER("http://a.test/", "a=1");
        HEADER("https://a.test:8443/x?y", "a=1");
        HEADER("http://A.TEST", "a=1");
        HEADER("http://b.a.test/", "");
        HEADER("http://test/", "");
        HEADER("http://a.test./", "");
}

JAR_TEST(a_cookie_with_a_domain_goes_to_hosts_below)
{
        SET("http://w.a.test/", "a=1; Domain=.A.test");
        HEADER("http://w.a.test/", "a=1");
        HEADER("http://a.test/", "a=1");
        HEADER("http://x.y.a.test/", "a=1");
        HEADER("http://test/", "");
}

/* B32: curl CVE-2013-1944: a comparison of the ends without the dot. */
JAR_TEST(a_name_that_only_ends_like_the_domain_gets_no_cookie)
{
        SET("http://a.test/", "a=1; Domain=a.test");
        HEADER("http://ba.test/", "");
        REFUSED("http://ba.test/", "b=1; Domain=a.test");
        REFUSED("http://a.test/", "b=1; Domain=b.test");
        REFUSED("http://a.test/", "b=1; Domain=w.a.test");
}

/* B32: curl CVE-2014-3620 and CVE-2023-46218: letters of another case went round the list. */
JAR_TEST(no_cookie_of_a_public_suffix_in_any_case)
{
        static const char *const suffixes[] = {
                "co.uk", "Co.Uk", ".CO.UK", "uk", "UK", "github.io", "GITHUB.io", "xn--55qx5d.cn"
        };

        for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
                char url[64], text[64];

                snprintf(url, sizeof(url), "http://w.a.%s/", suffixes[i] + (suffixes[i][0] == '.'));
                snprintf(text, sizeof(text), "a=1; Domain=%s", suffixes[i]);
                REFUSED(url, text);
        }
        REFUSED("http://a.test/", "a=1; Domain=test");
        SET("http://w.a.co.uk/", "a=1; Domain=A.co.uk");
        HEADER("http://x.a.co.uk/", "a=1");
}

JAR_TEST(a_host_that_is_a_public_suffix_has_cookies_of_its_own)
{
        SET("http://github.io/", "a=1; Domain=github.io");
        HEADER("http://github.io/", "a=1");
        HEADER("http://a.github.io/", "");
        SET("http://localhost:8080/", "b=1; Domain=localhost");
        HEADER("http://localhost:8081/", "b=1");
        HEADER("http://a.localhost/", "");
}

/* B32: curl CVE-2022-27779 and CVE-2026-8924: "com." was not found in the list. */
JAR_TEST(a_domain_with_a_final_dot_is_refused)
{
        REFUSED("http://a.co.uk./", "a=1; Domain=co.uk.");
        REFUSED("http://a.co.uk./", "a=1; Domain=a.co.uk.");
        REFUSED("http://a.co.uk/", "a=1; Domain=co.uk.");
        REFUSED("http://a.test/", "a=1; Domain=a.test.");
        SET("http://a.test./", "a=1");
        HEADER("http://a.test./", "a=1");
        HEADER("http://a.test/", "");
}

/* B32: curl CVE-2014-3613: parts of an address were taken for a domain. */
JAR_TEST(an_address_has_cookies_of_its_own_alone)
{
        REFUSED("http://192.168.0.1/", "a=1; Domain=168.0.1");
        REFUSED("http://192.168.0.1/", "a=1; Domain=.0.1");
        REFUSED("http://192.168.0.1/", "a=1; Domain=1");
        SET("http://192.168.0.1/", "a=1; Domain=192.168.0.1");
        SET("http://[::1]/", "b=1");
        HEADER("http://192.168.0.1/", "a=1");
        HEADER("http://[::1]:81/", "b=1");
        HEADER("http://1.192.168.0.1.test/", "");
        REFUSED("http://[::1]/", "c=1; Domain=[::1]");
}

JAR_TEST(an_international_name_is_its_ascii_form)
{
        SET("http://w.b\xC3\xBC"
            "cher.de/",
            "a=1; Domain=xn--bcher-kva.de");
        HEADER("http://xn--bcher-kva.de/", "a=1");
        HEADER("http://B\xC3\x9C"
               "CHER.de/",
               "a=1");
        REFUSED("http://b\xC3\xBC"
                "cher.de/",
                "b=1; Domain=b\xC3\xBC"
                "cher.de");
}

JAR_TEST(a_domain_that_is_not_a_host_is_refused)
{
        REFUSED("http://a.test/", "a=1; Domain=a.test/x");
        REFUSED("http://a.test/", "a=1; Domain=a.test:80");
        REFUSED("http://a.test/", "a=1; Domain=a..test");
        REFUSED("http://a.test/", "a=1; Domain=*.test");
        REFUSED("http://a.test/", "a=1; Domain=..a.test");
}

/* ---- paths -------------------------------------------------------------------------- */

JAR_TEST(a_path_includes_the_paths_below)
{
        SET("http://a.test/x", "a=1; Path=/p");
        HEADER("http://a.test/p", "a=1");
        HEADER("http://a.test/p/", "a=1");
        HEADER("http://a.test/p/q?r", "a=1");
        HEADER("http://a.test/p?q=/", "a=1");
        HEADER("http://a.test/pq", "");
        HEADER("http://a.test/P", "");
        HEADER("http://a.test/?/p", "");
        HEADER("http://a.test?/p", "");
        SET("http://a.test/x", "b=1; Path=/q/");
        HEADER("http://a.test/q/r", "b=1");
        HEADER("http://a.test/q", "");
}

JAR_TEST(the_default_path_is_the_folder_of_the_request)
{
        SET("http://a.test/p/q/r?s/t", "a=1");
        HEADER("http://a.test/p/q", "a=1");
        HEADER("http://a.test/p/q/z", "a=1");
        HEADER("http://a.test/p/", "");
        SET("http://b.test/p", "a=1");
        HEADER("http://b.test/", "a=1");
        SET("http://c.test", "a=1");
        HEADER("http://c.test/x", "a=1");
        SET("http://d.test?x/y/z", "a=1; Path=relative");
        HEADER("http://d.test/", "a=1");
        SET("http://e.test/p/", "a=1");
        HEADER("http://e.test/p", "a=1");
        HEADER("http://e.test/q", "");
}

/* B33: curl CVE-2025-9086: a comparison of paths read after a "/" at the end. */
JAR_TEST(the_path_of_one_slash_is_compared_within_its_memory)
{
        SET("https://a.test/", "a=1; Path=/; Secure");
        REFUSED("http://a.test/", "a=2; Path=/");
        HEADER("https://a.test/", "a=1");
}

JAR_TEST(a_path_longer_than_its_limit_is_refused)
{
        char url[EDDY_HTTP_COOKIE_PATH_MAX + 32] = "http://a.test/";

        memset(url + 14, 'x', EDDY_HTTP_COOKIE_PATH_MAX - 1);
        memcpy(url + 14 + EDDY_HTTP_COOKIE_PATH_MAX - 1, "/y", 3);
        SET(url, "a=1");
        HEADER(url, "a=1");
        memcpy(url + 14 + EDDY_HTTP_COOKIE_PATH_MAX - 1, "x/y", 4);
        REFUSED(url, "b=1");
        HEADER("http://a.test/", "");
}

/* ---- secure cookies ------------------------------------------------------------------ */

/* B32: the rules of eddy/http_cookies.h. */
JAR_TEST(a_secure_cookie_is_for_https)
{
        REFUSED("http://a.test/", "a=1; Secure");
        SET("https://a.test/", "a=1; Secure");
        HEADER("https://a.test/", "a=1");
        HEADER("http://a.test/", "");
}

JAR_TEST(http_neither_replaces_nor_hides_a_secure_cookie)
{
        SET("https://w.a.test/x", "a=1; Secure; Path=/x");
        REFUSED("http://w.a.test/x", "a=2; Path=/x");
        REFUSED("http://w.a.test/x", "a=2; Path=/x/y");
        REFUSED("http://w.a.test/x", "a=2; Path=/x; Domain=a.test");
        REFUSED("http://v.w.a.test/x", "a=2; Path=/x; Domain=w.a.test");
        REFUSED("http://w.a.test/x", "a=2; Path=/x; Max-Age=0");
        SET("http://w.a.test/x", "b=2; Path=/x");
        SET("http://w.a.test/x", "a=2; Path=/");
        SET("http://v.a.test/x", "a=3; Path=/x");
        HEADER("https://w.a.test/x", "a=1; b=2; a=2");
        SET("https://w.a.test/x", "a=4; Path=/x");
        HEADER("http://w.a.test/x", "a=4; b=2; a=2");
}

JAR_TEST(prefixes_require_the_attributes_they_promise)
{
        REFUSED("https://a.test/", "__Secure-a=1");
        REFUSED("http://a.test/", "__Secure-a=1; Secure");
        REFUSED("https://a.test/", "__SECURE-a=1");
        SET("https://a.test/", "__Secure-a=1; Secure; Domain=a.test");
        REFUSED("https://a.test/", "__Host-a=1; Secure");
        REFUSED("https://a.test/", "__Host-a=1; Secure; Path=/x");
        REFUSED("https://a.test/", "__Host-a=1; Path=/");
        REFUSED("https://a.test/", "__host-a=1; Secure; Path=/; Domain=a.test");
        SET("https://a.test/", "__Host-a=1; Secure; Path=/");
        REFUSED("https://a.test/", "__Host-b; Secure; Path=/");
        REFUSED("https://a.test/", "=__Secure-b=1; Secure; Path=/");
        HEADER("https://a.test/", "__Secure-a=1; __Host-a=1");
}

/* ---- order, replacing, times ---------------------------------------------------------- */

JAR_TEST(longer_paths_come_first_then_those_that_were_set_first)
{
        SET("http://w.a.test/", "a=1; Path=/");
        SET("http://w.a.test/", "b=1; Path=/p/q");
        SET("http://w.a.test/", "c=1; Path=/p; Domain=a.test");
        SET("http://w.a.test/", "d=1; Path=/p");
        SET("http://w.a.test/", "c=2; Path=/p; Domain=a.test");
        HEADER("http://w.a.test/p/q", "b=1; c=2; d=1; a=1");
}

JAR_TEST(name_domain_and_path_are_one_cookie)
{
        SET("http://a.test/", "a=1");
        SET("http://a.test/", "a=2");
        SET("http://a.test/", "A=3");
        SET("http://a.test/", "a=4; Path=/x");
        SET("http://a.test/", "a=5; Domain=a.test");
        CHECK_EQ(count(), 4);
        HEADER("http://a.test/", "a=2; A=3; a=5");
        SET("http://a.test/", "a=; Max-Age=0");
        HEADER("http://a.test/", "A=3; a=5");
}

/* An escape that was decoded could end the line of the header. */
JAR_TEST(an_escape_in_a_cookie_is_not_decoded)
{
        SET("http://a.test/", "a%0d%0ab=c%0d%0aEvil:%201%00; Path=/");
        HEADER("http://a.test/", "a%0d%0ab=c%0d%0aEvil:%201%00");
}

JAR_TEST(a_cookie_without_a_name_is_sent_as_its_value)
{
        SET("http://a.test/", "x");
        SET("http://a.test/", "a=");
        HEADER("http://a.test/", "x; a=");
        SET("http://a.test/", "y");
        HEADER("http://a.test/", "y; a=");
}

JAR_TEST(a_cookie_ends_at_its_time)
{
        SET("http://a.test/", "a=1; Max-Age=10");
        SET("http://a.test/", "b=1");
        http_pause(EDDY_SEC(9));
        HEADER("http://a.test/", "a=1; b=1");
        http_pause(EDDY_SEC(2));
        HEADER("http://a.test/", "b=1");
        CHECK_EQ(count(), 1);
        SET("http://a.test/", "b=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT");
        HEADER("http://a.test/", "");
        CHECK_EQ(count(), 0);
}

/* ---- limits ----------------------------------------------------------------------------- */

static void set_number(const char *host, int number, const char *rest)
{
        char url[64], text[64];

        snprintf(url, sizeof(url), "https://%s/", host);
        snprintf(text, sizeof(text), "c%d=1%s", number, rest);
        SET(url, text);
}

static bool has(const char *host, int number)
{
        static char value[ROOM];
        char url[64], name[32];
        int64_t bytes;

        snprintf(url, sizeof(url), "https://%s/", host);
        snprintf(name, sizeof(name), " c%d=1;", number);
        value[0] = ' ';
        bytes = eddy_http_cookies_header(jar, url, value + 1, sizeof(value) - 2);
        CHECK(bytes >= 0);
        memcpy(value + 1 + bytes, ";", 2);
        return strstr(value, name);
}

JAR_TEST(a_full_domain_drops_expired_then_insecure_then_unused_cookies)
{
        for (int i = 0; i < 48; i++)
                set_number("a.test", i, "; Secure");
        set_number("a.test", 48, "; Max-Age=10; Secure");
        set_number("a.test", 49, "");
        http_pause(EDDY_SEC(11));
        CHECK_EQ(count(), 49);
        set_number("a.test", 50, "; Secure");
        CHECK(has("a.test", 49) && has("a.test", 0));
        set_number("a.test", 51, "; Secure");
        CHECK(!has("a.test", 49) && has("a.test", 0));
        CHECK_EQ(count(), 50);
        SET("https://a.test/", "c0=1; Path=/; Secure"); /* used */
        set_number("a.test", 52, "; Secure");
        CHECK_EQ(count(), 50);
        CHECK(has("a.test", 0));
}

JAR_TEST(a_full_jar_drops_the_cookie_sent_least_recently)
{
        char host[32];

        for (int i = 0; i < EDDY_HTTP_COOKIES_MAX; i++) {
                snprintf(host, sizeof(host), "h%d.test", i);
                set_number(host, i, "");
        }
        CHECK_EQ(count(), EDDY_HTTP_COOKIES_MAX);
        CHECK(has("h0.test", 0));
        set_number("new.test", 1, "");
        CHECK_EQ(count(), EDDY_HTTP_COOKIES_MAX);
        CHECK(has("h0.test", 0) && has("new.test", 1) && !has("h1.test", 1) && has("h2.test", 2));
}

JAR_TEST(a_header_is_at_most_8190_bytes)
{
        static char text[4000], value[ROOM];
        int64_t bytes;

        for (int i = 0; i < 5; i++) {
                snprintf(text, sizeof(text), "c%d=", i);
                memset(text + 3, 'a' + i, 2500);
                memcpy(text + 2503, "; Path=/", 9);
                SET("http://a.test/", text);
        }
        SET("http://a.test/", "last=1; Path=/");
        bytes = eddy_http_cookies_header(jar, "http://a.test/", value, sizeof(value));
        CHECK_EQ(bytes, 3 * 2503 + 3 * 2 + 6);
        CHECK_STR(value + bytes - 8, "; last=1");
}

JAR_TEST(a_buffer_that_is_too_small_is_unchanged)
{
        char out[8] = "before";

        SET("http://a.test/", "abc=def");
        CHECK_EQ(eddy_http_cookies_header(jar, "http://a.test/", out, 7), -EMSGSIZE);
        CHECK_STR(out, "before");
        CHECK_EQ(eddy_http_cookies_header(jar, "http://b.test/", out, 0), -EMSGSIZE);
        CHECK_EQ(eddy_http_cookies_header(jar, "http://a.test/", out, 8), 7);
        CHECK_STR(out, "abc=def");
}

/* ---- the program's own ------------------------------------------------------------------- */

#define COOKIE(...) (&(struct eddy_http_cookie){ __VA_ARGS__ })

JAR_TEST(a_program_may_add_read_and_remove_cookies)
{
        struct eddy_http_cookie cookie;

        CHECK_EQ(eddy_http_cookies_add(jar, COOKIE(.name = "a", .value = "1", .domain = "A.test",
                                                   .with_subdomains = true, .secure = true,
                                                   .same_site = EDDY_HTTP_SAME_SITE_LAX)),
                 0);
        SET("http://b.test/x/", "b=2; Max-Age=10; HttpOnly");
        HEADER("https://w.a.test/", "a=1");
        CHECK_EQ(eddy_http_cookies_at(jar, 0, &cookie), 0);
        CHECK_STR(cookie.name, "a");
        CHECK_STR(cookie.value, "1");
        CHECK_STR(cookie.domain, "a.test");
        CHECK_STR(cookie.path, "/");
        CHECK(cookie.expires_s == 0 && cookie.with_subdomains && cookie.secure);
        CHECK(!cookie.http_only);
        CHECK_EQ(cookie.same_site, EDDY_HTTP_SAME_SITE_LAX);
        CHECK_EQ(eddy_http_cookies_at(jar, 1, &cookie), 0);
        CHECK_STR(cookie.path, "/x");
        CHECK(cookie.expires_s > 0 && cookie.http_only && !cookie.with_subdomains);
        CHECK_EQ(eddy_http_cookies_at(jar, 2, &cookie), -ENOENT);
        CHECK_EQ(eddy_http_cookies_remove(jar, "b.test", NULL, "a"), 0);
        CHECK_EQ(eddy_http_cookies_end_session(jar), 1);
        CHECK_EQ(count(), 1);
        CHECK_EQ(eddy_http_cookies_remove(jar, "b.test", "/x", "b"), 1);
        SET("http://b.test/", "a=1");
        SET("http://b.test/", "b=1");
        CHECK_EQ(eddy_http_cookies_remove(jar, NULL, NULL, NULL), 2);
        CHECK_EQ(
                eddy_http_cookies_add(jar, COOKIE(.name = "a", .domain = "a.test", .expires_s = 1)),
                0);
        CHECK_EQ(count(), 0);
}

JAR_TEST(cookies_of_a_program_are_checked)
{
        static char longer[EDDY_HTTP_COOKIE_BYTES_MAX + 1];
        static const struct eddy_http_cookie wrong[] = {
                { .domain = "a.test" },
                { .name = "a=", .domain = "a.test" },
                { .name = "a;", .domain = "a.test" },
                { .name = " a", .domain = "a.test" },
                { .name = "a", .value = "b;c", .domain = "a.test" },
                { .name = "a", .value = "b\r\nX: y", .domain = "a.test" },
                { .name = "a", .value = "b\tc", .domain = "a.test" },
                { .name = "a", .value = "b ", .domain = "a.test" },
                { .name = "a", .domain = "" },
                { .name = "a", .domain = ".a.test" },
                { .name = "a", .domain = "a.test." },
                { .name = "a", .domain = "a test" },
                { .name = "a", .domain = "co.uk", .with_subdomains = true },
                { .name = "a", .domain = "1.2.3.4", .with_subdomains = true },
                { .name = "a", .domain = "a.test", .path = "" },
                { .name = "a", .domain = "a.test", .path = "x" },
                { .name = "a", .domain = "a.test", .path = "/\n" },
                { .name = "a", .domain = "a.test", .same_site = 4 },
                { .name = "__Secure-a", .domain = "a.test" },
                { .name = "__Host-a", .domain = "a.test", .secure = true, .path = "/x" },
        };

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
                CHECK_EQ(eddy_http_cookies_add(jar, &wrong[i]), -EINVAL);
        memset(longer, 'x', sizeof(longer) - 1);
        CHECK_EQ(eddy_http_cookies_add(jar,
                                       COOKIE(.name = "a", .value = longer, .domain = "a.test")),
                 -EMSGSIZE);
        longer[0] = '/';
        CHECK_EQ(
                eddy_http_cookies_add(jar, COOKIE(.name = "a", .path = longer, .domain = "a.test")),
                -EMSGSIZE);
        CHECK_EQ(count(), 0);
}

JAR_TEST(null_and_bad_urls_are_errors)
{
        char out[8];

        CHECK_EQ(eddy_http_cookies_new(NULL), -EINVAL);
        eddy_http_cookies_free(NULL);
        CHECK_EQ(eddy_http_cookies_set(NULL, "http://a.test/", "a=1"), -EINVAL);
        CHECK_EQ(eddy_http_cookies_set(jar, NULL, "a=1"), -EINVAL);
        CHECK_EQ(eddy_http_cookies_set(jar, "http://a.test/", NULL), -EINVAL);
        CHECK_ERR(eddy_http_cookies_set(jar, "a.test", "a=1"), EDDY_E_URL_INVALID);
        CHECK_ERR(eddy_http_cookies_set(jar, "ftp://a.test/", "a=1"), EDDY_E_URL_SCHEME);
        CHECK_EQ(eddy_http_cookies_header(NULL, "http://a.test/", out, 8), -EINVAL);
        CHECK_EQ(eddy_http_cookies_header(jar, NULL, out, 8), -EINVAL);
        CHECK_ERR(eddy_http_cookies_header(jar, "http://127.1/", out, 8), EDDY_E_URL_INVALID);
        CHECK_EQ(eddy_http_cookies_add(NULL, COOKIE(.name = "a", .domain = "a.test")), -EINVAL);
        CHECK_EQ(eddy_http_cookies_add(jar, NULL), -EINVAL);
        CHECK_EQ(eddy_http_cookies_add(jar, COOKIE(.name = "a")), -EINVAL);
        CHECK_EQ(eddy_http_cookies_remove(NULL, NULL, NULL, NULL), -EINVAL);
        CHECK_EQ(eddy_http_cookies_end_session(NULL), -EINVAL);
        CHECK_EQ(eddy_http_cookies_at(NULL, 0, &(struct eddy_http_cookie){ 0 }), -EINVAL);
        CHECK_EQ(eddy_http_cookies_at(jar, 0, NULL), -EINVAL);
        CHECK_EQ(eddy_http_cookies_load(NULL, "x"), -EINVAL);
        CHECK_EQ(eddy_http_cookies_load(jar, NULL), -EINVAL);
        CHECK_EQ(eddy_http_cookies_save(NULL, "x"), -EINVAL);
        CHECK_EQ(eddy_http_cookies_save(jar, NULL), -EINVAL);
}

JAR_TEST(an_allocation_that_fails_changes_nothing)
{
        int failed = 0;

        SET("http://a.test/", "a=1");
        for (int n = 0; n < 4; n++) {
                char out[32] = "";
                int err;

                http_memory_fails(n);
                err = eddy_http_cookies_set(jar, "http://a.test/", "a=2");
                http_memory_is_back();
                CHECK(err == 1 || err == -ENOMEM);
                failed += err < 0;
                if (err < 0)
                        HEADER("http://a.test/", "a=1");
                SET("http://a.test/", "a=1");
                http_memory_fails(n);
                err = (int) eddy_http_cookies_header(jar, "http://a.test/", out, sizeof(out));
                http_memory_is_back();
                CHECK(err == 3 || err == -ENOMEM);
                failed += err < 0;
        }
        CHECK(failed >= 2);
}
