/*
 * test_url.c - URLs are read in one way or refused.
 */
#include "eddy/error.h"
#include "test.h"
#include "wire/url.h"

/* The parts of a URL in one line: scheme|userinfo|kind host|port|target. */
static void describe(const char *text, size_t bytes, char *out, size_t room)
{
        static const char *const kinds[] = { "name", "idn", "ipv4", "ipv6" };
        struct ed_url url;
        int err = ed_url_parse(text, bytes, &url);

        if (err < 0) {
                snprintf(out, room, "%s", eddy_error_name(err));
                return;
        }
        CHECK_EQ(strlen(url.host), url.host_bytes);
        snprintf(out, room, "%s|%.*s%s|%s %s|%u|%s%.*s", url.is_https ? "https" : "http",
                 (int) url.userinfo_bytes, url.userinfo ? url.userinfo : "",
                 url.has_userinfo ? "@" : "", kinds[url.host_kind], url.host, url.port,
                 url.slash_first ? "/" : "", (int) url.target_bytes, url.target);
}

static void check_url(const char *text, const char *expected)
{
        char described[512];
        char *exact = malloc(strlen(text) + 1);

        /* Without its NUL, so that the sanitizer sees a read beyond the end. */
        CHECK(exact);
        exact = realloc(exact, strlen(text) ? strlen(text) : 1);
        CHECK(exact);
        memcpy(exact, text, strlen(text));
        describe(exact, strlen(text), described, sizeof(described));
        if (strcmp(described, expected) != 0)
                test_fail(__FILE__, __LINE__, "%s gives %s, expected %s", text, described,
                          expected);
        free(exact);
}

static void check_refused(const char *const *urls, size_t count)
{
        for (size_t i = 0; i < count; i++)
                check_url(urls[i], "EDDY_E_URL_INVALID");
}

#define CHECK_REFUSED(...)                                                                         \
        check_refused((const char *const[]){ __VA_ARGS__ },                                        \
                      sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

TEST(url_is_taken_apart)
{
        check_url("http://h/", "http||name h|80|/");
        check_url("https://h/a/b?c=d&e", "https||name h|443|/a/b?c=d&e");
        check_url("http://h:8080/a", "http||name h|8080|/a");
        check_url("http://u:p@h/a", "http|u:p@|name h|80|/a");
        check_url("http://a.b-c_d.e0/", "http||name a.b-c_d.e0|80|/");
}

TEST(scheme_and_host_are_read_in_any_case)
{
        check_url("HTTP://ExAmPlE.COM/Path", "http||name example.com|80|/Path");
        check_url("hTTps://[2001:DB8::A]/", "https||ipv6 2001:db8::a|443|/");
}

TEST(missing_path_is_a_slash)
{
        check_url("http://h", "http||name h|80|/");
        check_url("http://h?a", "http||name h|80|/?a");
        check_url("http://h:81?", "http||name h|81|/?");
        check_url("http://h#a", "http||name h|80|/");
}

TEST(fragment_is_dropped_but_checked)
{
        check_url("http://h/a?b#c/d?e", "http||name h|80|/a?b");
        check_url("http://h/a#", "http||name h|80|/a");
        CHECK_REFUSED("http://h/a#b\n", "http://h/a#b#c", "http://h/a#\"");
}

TEST(other_schemes_are_named_as_such)
{
        check_url("ftp://h/", "EDDY_E_URL_SCHEME");
        check_url("file:///etc/passwd", "EDDY_E_URL_SCHEME");
        check_url("httpx://h/", "EDDY_E_URL_SCHEME");
        check_url("ws+a.b-c://h/", "EDDY_E_URL_SCHEME");
}

TEST(a_url_without_a_scheme_is_refused)
{
        CHECK_REFUSED("", "h", "h/a", "/a", "//h/a", "://h/", "http:h", "http:/h", "http//h",
                      "1http://h/", "ht\ttp://h/", " http://h/", "mailto:a@b", "http:", "http:/");
}

TEST(empty_host_is_refused)
{
        CHECK_REFUSED("http://", "http:///", "http:///a", "http://?a", "http://#a", "http://:80/",
                      "http://u@/", "http://@/", "http://[]/", "http://./", "http://../");
}

TEST(port_is_1_to_65535)
{
        check_url("http://h:1/", "http||name h|1|/");
        check_url("http://h:65535/", "http||name h|65535|/");
        check_url("http://h:00080/", "http||name h|80|/");
        check_url("https://h:/", "https||name h|443|/");
        CHECK_REFUSED("http://h:0/", "http://h:65536/", "http://h:99999999999999999999/",
                      "http://h:+80/", "http://h:-1/", "http://h:8a/", "http://h:80:80/",
                      "http://h:0x50/", "http://h:80%20/", "http://[::1]80/", "http://[::1]a:80/");
}

static bool has_port(const char *text)
{
        struct ed_url url;

        CHECK_EQ(ed_url_parse(text, strlen(text), &url), 0);
        return url.has_port;
}

TEST(port_in_the_text_is_noticed_though_it_is_the_default)
{
        CHECK(has_port("http://h:80/"));
        CHECK(has_port("https://[::1]:443"));
        CHECK(has_port("http://u:p@1.2.3.4:81?a"));
        CHECK(!has_port("http://h/:80"));
        CHECK(!has_port("http://h:/"));
        CHECK(!has_port("http://[::80]"));
        CHECK(!has_port("http://u:80@h"));
}

/* Into memory of just the right size. */
static void check_decoded(const char *text, const char *expected, int err)
{
        size_t room = strlen(expected);
        char *out = malloc(room + 1);

        CHECK(out);
        out = realloc(out, room ? room : 1);
        CHECK(out);
        CHECK_EQ(ed_url_decode(text, strlen(text), out, room), err < 0 ? err : (int64_t) room);
        if (err == 0)
                CHECK(memcmp(out, expected, room) == 0);
        free(out);
}

TEST(escapes_are_decoded_and_no_control_character_passes)
{
        check_decoded("", "", 0);
        check_decoded("abc", "abc", 0);
        check_decoded("p%40ss%2f%3A%25", "p@ss/:%", 0);
        check_decoded("%c3%A9\xc3\xa9", "\xc3\xa9\xc3\xa9", 0);
        check_decoded("a%4", "abc", EDDY_E_URL_INVALID);
        check_decoded("a%", "abc", EDDY_E_URL_INVALID);
        check_decoded("%4g", "abc", EDDY_E_URL_INVALID);
        check_decoded("%00", "abc", EDDY_E_URL_CREDENTIALS);
        check_decoded("a%0d%0a", "abc", EDDY_E_URL_CREDENTIALS);
        check_decoded("%7f", "abc", EDDY_E_URL_CREDENTIALS);
        check_decoded("abcd", "abc", EDDY_E_URL_CREDENTIALS);
        check_decoded("ab%63%64", "abc", EDDY_E_URL_CREDENTIALS);
}

TEST(user_information_ends_at_the_last_at_sign)
{
        check_url("http://good@evil@h/", "http|good@evil@|name h|80|/");
        check_url("http://good:80@h/", "http|good:80@|name h|80|/");
        check_url("http://@h/", "http|@|name h|80|/");
        check_url("http://h/a@b", "http||name h|80|/a@b");
        check_url("http://h?@b", "http||name h|80|/?@b");
        CHECK_REFUSED("http://a b@h/", "http://\303\244@h/", "http://a%@h/", "http://a\\@h/");
}

TEST(control_characters_and_spaces_are_refused_everywhere)
{
        for (int c = 1; c < 256; c++) {
                bool is_refused = c <= 0x20 || c >= 0x7F || strchr("\"<>\\", c);
                char path[] = "http://h/a?b", query[] = "http://h/a?b", host[] = "http://hah/";
                char described[512];

                path[9] = (char) c;
                query[11] = (char) c;
                host[8] = (char) c;
                describe(path, sizeof(path) - 1, described, sizeof(described));
                CHECK_EQ(strcmp(described, "EDDY_E_URL_INVALID") == 0, is_refused || c == '%');
                describe(query, sizeof(query) - 1, described, sizeof(described));
                CHECK_EQ(strcmp(described, "EDDY_E_URL_INVALID") == 0, is_refused || c == '%');
                describe(host, sizeof(host) - 1, described, sizeof(described));
                if (is_refused)
                        CHECK_STR(described, "EDDY_E_URL_INVALID");
        }
        check_url("http://h/a\303\244", "EDDY_E_URL_INVALID");
}

TEST(nul_is_refused_everywhere)
{
        static const char url[] = "http://u@h:80/a?b#c";

        for (size_t i = 0; i < sizeof(url) - 1; i++) {
                char copy[sizeof(url)];
                struct ed_url parsed;

                memcpy(copy, url, sizeof(url));
                copy[i] = '\0';
                CHECK(ed_url_parse(copy, sizeof(url) - 1, &parsed) < 0);
        }
}

TEST(backslash_does_not_end_a_host)
{
        CHECK_REFUSED("http://good\\@evil/", "http:\\\\h\\", "http://h\\a", "http:/\\h/");
}

TEST(escape_in_a_host_is_refused)
{
        CHECK_REFUSED("http://a%2fb/", "http://a%00b/", "http://%68/", "http://a%40b/",
                      "http://[::1%25eth0]/", "http://[fe80::1%eth0]/", "http://127.0.0.1%2f/");
}

TEST(escape_in_path_and_query_must_be_whole)
{
        check_url("http://h/%00%fF?%20", "http||name h|80|/%00%fF?%20");
        CHECK_REFUSED("http://h/%", "http://h/%2", "http://h/%2x", "http://h/%x2", "http://h/?100%",
                      "http://h/%%20");
}

TEST(characters_that_browsers_leave_are_taken_in_path_and_query)
{
        check_url("http://h/a[0]{b}|c^d`?e[]={f}|^`", "http||name h|80|/a[0]{b}|c^d`?e[]={f}|^`");
}

TEST(other_characters_in_a_host_are_refused)
{
        CHECK_REFUSED("http://a,b/", "http://a;b/", "http://a!b/", "http://a*b/", "http://a$b/",
                      "http://a&b/", "http://a(b)/", "http://a+b/", "http://a=b/", "http://a~b/",
                      "http://a[b/", "http://a]b/", "http://a|b/", "http://{a}/", "http://a'b/");
}

TEST(labels_are_1_to_63_bytes)
{
        char url[200] = "http://";

        memset(url + 7, 'a', 64);
        memcpy(url + 70, ".b/", 4);
        check_url(url, "http||name "
                       "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.b|80|/");
        memset(url + 7, 'a', 64);
        memcpy(url + 71, ".b/", 4);
        CHECK_REFUSED(url, "http://a..b/", "http://.a/", "http://a../");
        memcpy(url + 71, "/", 2);
        CHECK_REFUSED(url);
        check_url("http://a.b./", "http||name a.b.|80|/");
}

TEST(host_has_at_most_253_bytes)
{
        char url[400] = "http://";
        struct ed_url parsed;

        for (size_t i = 0; i < 254; i++)
                url[7 + i] = i % 2 == 0 ? 'a' : '.';
        CHECK_EQ(ed_url_parse(url, 7 + 253, &parsed), 0);
        CHECK_EQ(parsed.host_bytes, 253);
        CHECK_EQ(ed_url_parse(url, 7 + 254, &parsed), EDDY_E_URL_INVALID);
}

TEST(url_has_at_most_64_kib)
{
        size_t bytes = ED_URL_BYTES_MAX;
        char *url = malloc(bytes + 1);
        struct ed_url parsed;

        CHECK(url);
        memset(url, 'a', bytes + 1);
        memcpy(url, "http://h/", 9);
        CHECK_EQ(ed_url_parse(url, bytes, &parsed), 0);
        CHECK_EQ(ed_url_parse(url, bytes + 1, &parsed), EDDY_E_URL_INVALID);
        free(url);
}

TEST(ipv4_address_of_four_numbers_is_read)
{
        check_url("http://127.0.0.1/", "http||ipv4 127.0.0.1|80|/");
        check_url("http://255.255.255.255:1/", "http||ipv4 255.255.255.255|1|/");
        check_url("http://0.0.0.0/", "http||ipv4 0.0.0.0|80|/");
}

/* B17: Other forms of IPv4 addresses. */
TEST(ipv4_address_in_another_form_is_refused)
{
        CHECK_REFUSED("http://2130706433/", "http://017700000001/", "http://127.1/",
                      "http://127.0.1/", "http://0x7f.1/", "http://0x7f000001/",
                      "http://0X7F.0.0.1/", "http://127.0.0.01/", "http://127.0.0.1./",
                      "http://127.0.0.1.1/", "http://256.0.0.1/", "http://1.2.3.4.5/",
                      "http://127.0.0.0x1/", "http://a.1/", "http://a.0x/", "http://1.2.3.1234/",
                      "http://1e3.0/", "http://0/");
}

TEST(name_with_a_number_that_is_not_last_is_a_name)
{
        check_url("http://1.a/", "http||name 1.a|80|/");
        check_url("http://127.0.0.1.nip.io/", "http||name 127.0.0.1.nip.io|80|/");
        check_url("http://0xg/", "http||name 0xg|80|/");
        check_url("http://1a/", "http||name 1a|80|/");
}

TEST(ipv6_address_in_brackets_is_read)
{
        check_url("http://[::]/", "http||ipv6 ::|80|/");
        check_url("http://[::1]:81/", "http||ipv6 ::1|81|/");
        check_url("http://[1:2:3:4:5:6:7:8]/", "http||ipv6 1:2:3:4:5:6:7:8|80|/");
        check_url("http://[1::8]/", "http||ipv6 1::8|80|/");
        check_url("http://[1:2:3:4:5:6:7::]/", "http||ipv6 1:2:3:4:5:6:7::|80|/");
        check_url("http://[::ffff:1.2.3.4]/", "http||ipv6 ::ffff:1.2.3.4|80|/");
        check_url("http://[1:2:3:4:5:6:1.2.3.4]/", "http||ipv6 1:2:3:4:5:6:1.2.3.4|80|/");
}

TEST(ipv6_address_that_is_none_is_refused)
{
        CHECK_REFUSED("http://[1]/", "http://[:]/", "http://[:::]/", "http://[1:::2]/",
                      "http://[::1::2]/", "http://[1:2:3:4:5:6:7]/", "http://[1:2:3:4:5:6:7:8:9]/",
                      "http://[1:2:3:4:5:6:7:8::]/", "http://[::12345]/", "http://[::g]/",
                      "http://[:1:2:3:4:5:6:7:8]/", "http://[1:2:3:4:5:6:7:8:]/",
                      "http://[::1.2.3]/", "http://[::1.2.3.256]/", "http://[::1.2.3.4:5]/",
                      "http://[1:2:3:4:5:6:7:1.2.3.4]/", "http://[::1/", "http://::1/",
                      "http://[v1.a]/", "http://[127.0.0.1]/", "http://[h]/", "http://x[::1]/",
                      "http://[[::1]]/", "http://[1:]/");
}

TEST(name_above_ascii_is_marked_for_idna)
{
        check_url("http://b\303\274cher.DE/", "http||idn b\303\274cher.de|80|/");
        check_url("http://\344\276\213.jp/", "http||idn \344\276\213.jp|80|/");
        check_url("http://\360\237\230\200/", "http||idn \360\237\230\200|80|/");
}

TEST(name_in_broken_utf8_is_refused)
{
        CHECK_REFUSED("http://\200/", "http://\303/", "http://\303a/", "http://\300\257/",
                      "http://\340\200\257/", "http://\355\240\200/", "http://\360\200\200\257/",
                      "http://\364\220\200\200/", "http://\365\200\200\200/", "http://\344\276/",
                      "http://\377/");
}

TEST(host_put_in_is_checked_as_one_read)
{
        struct ed_url url;

        CHECK_EQ(ed_url_parse("http://\303\244.de/", 13, &url), 0);
        CHECK_EQ(ed_url_set_host(&url, "XN--4ca.de", 10), 0);
        CHECK_STR(url.host, "xn--4ca.de");
        CHECK_EQ(url.host_kind, ED_URL_NAME);
        /* Full-width digits become these. */
        CHECK_EQ(ed_url_set_host(&url, "127.1", 5), EDDY_E_URL_INVALID);
        CHECK_STR(url.host, "xn--4ca.de");
}

static bool same_origin(const char *a, const char *b)
{
        struct ed_url url_a, url_b;

        CHECK_EQ(ed_url_parse(a, strlen(a), &url_a), 0);
        CHECK_EQ(ed_url_parse(b, strlen(b), &url_b), 0);
        return url_a.is_https == url_b.is_https && url_a.port == url_b.port &&
               strcmp(url_a.host, url_b.host) == 0;
}

TEST(origin_is_scheme_host_and_port)
{
        CHECK(same_origin("http://h/a", "http://u@H:80/b?c"));
        CHECK(same_origin("https://h:443/", "https://h"));
        CHECK(!same_origin("http://h/", "https://h/"));
        CHECK(!same_origin("http://h/", "http://h:81/"));
        CHECK(!same_origin("http://h:443/", "https://h/"));
        CHECK(!same_origin("http://h/", "http://g/"));
        CHECK(!same_origin("http://h/", "http://hh/"));
}

static void check_authority(const char *text, const char *expected)
{
        char out[ED_URL_AUTHORITY_ROOM];
        struct ed_url url;

        CHECK_EQ(ed_url_parse(text, strlen(text), &url), 0);
        CHECK_EQ(ed_url_authority(&url, out), strlen(expected));
        CHECK_STR(out, expected);
}

TEST(authority_leaves_out_the_schemes_own_port)
{
        check_authority("http://H:80/", "h");
        check_authority("https://h:443/", "h");
        check_authority("http://h:443/", "h:443");
        check_authority("http://h:5/", "h:5");
        check_authority("http://h:65535/", "h:65535");
        check_authority("http://h:10000/", "h:10000");
        check_authority("http://u:p@[::1]:8080/", "[::1]:8080");
}

TEST(longest_authority_fits_its_room)
{
        char url[300] = "http://";

        for (size_t i = 0; i < 253; i++)
                url[7 + i] = i % 2 == 0 ? 'a' : '.';
        memcpy(url + 260, ":65535", 7);
        check_authority(url, url + 7);
}
