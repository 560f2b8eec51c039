/*
 * test_url_parse.c - eddy_url_parse() and eddy_url_format().
 */
#include "eddy/error.h"
#include "eddy/url.h"
#include "test.h"
#include "wire/url.h"

static size_t part_describe(char *out, size_t room, const char *name, struct eddy_url_part part)
{
        int n = part.text ? snprintf(out, room, " %s=%.*s", name, (int) part.bytes, part.text) : 0;

        return (size_t) n;
}

/* The parts that the URL has, in one line. */
static void describe(const char *text, size_t bytes, char *out, size_t room)
{
        struct eddy_url url;
        int err = eddy_url_parse(text, bytes, &url);
        size_t n = 0;

        if (err < 0) {
                snprintf(out, room, " %s", eddy_error_name(err));
                return;
        }
        n += part_describe(out + n, room - n, "scheme", url.scheme);
        n += part_describe(out + n, room - n, "user", url.user);
        n += part_describe(out + n, room - n, "password", url.password);
        n += part_describe(out + n, room - n, "host", url.host);
        if (url.port)
                n += (size_t) snprintf(out + n, room - n, " port=%u", url.port);
        n += part_describe(out + n, room - n, "path", url.path);
        n += part_describe(out + n, room - n, "query", url.query);
        n += part_describe(out + n, room - n, "fragment", url.fragment);
        CHECK(url.reserved[0] == 0 && url.reserved[1] == 0);
}

/* Parse a copy without a NUL, so that the sanitizer sees a read after the end. */
static void check_url(const char *text, const char *expected)
{
        size_t bytes = strlen(text);
        char *exact = malloc(bytes > 0 ? bytes : 1), described[512];

        CHECK(exact);
        memcpy(exact, text, bytes);
        describe(exact, bytes, described, sizeof(described));
        if (strcmp(described + 1, expected) != 0)
                test_fail(__FILE__, __LINE__, "%s gives %s, expected %s", text, described + 1,
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

TEST(parts_are_as_written)
{
        check_url("https://u:p%40@Example.COM:8443/a/b?c=d#e",
                  "scheme=https user=u password=p%40 host=Example.COM port=8443 path=/a/b "
                  "query=c=d fragment=e");
        check_url("HTTP://h", "scheme=HTTP host=h port=80 path=");
        check_url("http://h:/", "scheme=http host=h port=80 path=/");
        check_url("http://[::1]:81", "scheme=http host=::1 port=81 path=");
        check_url("http://b\xc3\xbc"
                  "cher.de/",
                  "scheme=http host=b\xc3\xbc"
                  "cher.de port=80 path=/");
}

TEST(empty_part_is_not_an_absent_part)
{
        check_url("http://h/?", "scheme=http host=h port=80 path=/ query=");
        check_url("http://h/#", "scheme=http host=h port=80 path=/ fragment=");
        check_url("http://h?#", "scheme=http host=h port=80 path= query= fragment=");
        check_url("http://@h/", "scheme=http user= host=h port=80 path=/");
        check_url("http://:@h/", "scheme=http user= password= host=h port=80 path=/");
        check_url("", "path=");
}

/* RFC 3986, 1.1.2 */
TEST(examples_of_the_rfc_are_parsed)
{
        check_url("ftp://ftp.is.co.za/rfc/rfc1808.txt",
                  "scheme=ftp host=ftp.is.co.za path=/rfc/rfc1808.txt");
        check_url("ldap://[2001:db8::7]/c=GB?objectClass?one",
                  "scheme=ldap host=2001:db8::7 path=/c=GB query=objectClass?one");
        check_url("mailto:John.Doe@example.com", "scheme=mailto path=John.Doe@example.com");
        check_url("news:comp.infosystems.www.servers.unix",
                  "scheme=news path=comp.infosystems.www.servers.unix");
        check_url("tel:+1-816-555-1212", "scheme=tel path=+1-816-555-1212");
        check_url("telnet://192.0.2.16:80/", "scheme=telnet host=192.0.2.16 port=80 path=/");
        check_url("urn:oasis:names:specification:docbook:dtd:xml:4.1.2",
                  "scheme=urn path=oasis:names:specification:docbook:dtd:xml:4.1.2");
}

TEST(host_may_be_empty_only_with_another_scheme)
{
        check_url("file:///etc/hosts", "scheme=file host= path=/etc/hosts");
        check_url("x://u@", "scheme=x user=u host= path=");
        CHECK_REFUSED("http://", "http:///a", "https://u@/", "//", "///a", "//u@/", "x://:80/",
                      "http:a", "https:/a", "http:");
}

TEST(relative_reference_has_no_scheme)
{
        check_url("a/b?c#d", "path=a/b query=c fragment=d");
        check_url("//h:81/a", "host=h port=81 path=/a");
        check_url("?a:b", "path= query=a:b");
        check_url("./a:b", "path=./a:b");
        check_url("a/b:c", "path=a/b:c");
        CHECK_REFUSED("1:b", ":", "a_b:c", "%41:b", "-x://h/");
}

TEST(characters_outside_of_urls_are_refused)
{
        static const char *const places[] = { "x://u", "x://u@h/", "x:", "", "?", "#" };
        char text[64];

        for (int c = 1; c < 256; c++) {
                if (c > 0x20 && c < 0x7F && !strchr("\\\"<>%", c))
                        continue;
                for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
                        snprintf(text, sizeof(text), "%s%c@h", places[i], c);
                        CHECK_REFUSED(text);
                }
        }
        CHECK_REFUSED("a%", "a%4", "a%4g", "a#b#c", "x://h:65536/", "x://h:0/", "x://[::1]a/",
                      "x://0x7f.1/", "x://%41/");
}

TEST(text_has_a_maximum)
{
        static char text[EDDY_URL_BYTES_MAX + 1];
        struct eddy_url url;

        memset(text, 'a', sizeof(text));
        CHECK_EQ(eddy_url_parse(text, EDDY_URL_BYTES_MAX, &url), 0);
        CHECK_EQ(url.path.bytes, EDDY_URL_BYTES_MAX);
        CHECK_EQ(eddy_url_parse(text, sizeof(text), &url), EDDY_E_URL_INVALID);
}

TEST(failed_parse_leaves_its_output)
{
        struct eddy_url url = { .port = 1 };

        CHECK_EQ(eddy_url_parse("http://h:0/", 11, &url), EDDY_E_URL_INVALID);
        CHECK_EQ(url.port, 1);
}

/* ---- format ---------------------------------------------------------------------------------- */

static void check_format(const char *text, const char *expected)
{
        struct eddy_url url;
        char out[256];
        int64_t bytes = (int64_t) strlen(expected);

        CHECK_EQ(eddy_url_parse(text, strlen(text), &url), 0);
        CHECK_EQ(eddy_url_format(&url, NULL, 0), bytes);
        memset(out, 'x', sizeof(out));
        CHECK_EQ(eddy_url_format(&url, out, (size_t) bytes), -EMSGSIZE);
        CHECK_EQ(out[0], 'x');
        CHECK_EQ(eddy_url_format(&url, out, (size_t) bytes + 1), bytes);
        CHECK_STR(out, expected);
        CHECK_EQ(out[bytes + 1], 'x');
}

TEST(parts_give_their_text)
{
        static const char *const urls[] = { "http://h",
                                            "http://h/?#",
                                            "x://u:p@[::1]:65535/a?b#c",
                                            "http://@h/",
                                            "http://:@h/",
                                            "file:///a",
                                            "mailto:a@b",
                                            "//h/a",
                                            "",
                                            "a/b",
                                            "?",
                                            "#",
                                            "http://h:8/",
                                            "https://h:80/",
                                            "x://a:b:c@h",
                                            "http://a@b@h/",
                                            "https://h:10/a/.." };

        for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++)
                check_format(urls[i], urls[i]);
}

TEST(default_port_is_left_out)
{
        check_format("http://h:80/", "http://h/");
        check_format("HTTPS://h:0443/", "HTTPS://h/");
        check_format("x://h:080/", "x://h:80/");
        check_format("http://h:/", "http://h/");
}

#define PART(literal)                                                                              \
        {                                                                                          \
                literal, sizeof(literal) - 1                                                       \
        }

TEST(parts_that_would_be_read_otherwise_are_refused)
{
        static const struct eddy_url wrong[] = {
                { .scheme = PART("http"), .path = PART("/a") },
                { .scheme = PART("http"), .host = PART(""), .path = PART("/a") },
                { .scheme = PART(""), .path = PART("a") },
                { .scheme = PART("1x"), .path = PART("a") },
                { .scheme = PART("x:"), .path = PART("a") },
                { .scheme = PART("x"), .path = PART("//h") },
                { .scheme = PART("x"), .host = PART("h"), .path = PART("a") },
                { .scheme = PART("x"), .host = PART("h/a") },
                { .scheme = PART("x"), .host = PART("h:80") },
                { .scheme = PART("x"), .host = PART("a@h") },
                { .scheme = PART("x"), .host = PART("[::1]") },
                { .scheme = PART("x"), .host = PART(""), .port = 80 },
                { .scheme = PART("x"), .port = 80 },
                { .scheme = PART("x"), .user = PART("u"), .path = PART("a") },
                { .scheme = PART("x"), .password = PART("p"), .host = PART("h") },
                { .scheme = PART("x"), .user = PART("a:b"), .host = PART("h") },
                { .scheme = PART("x"), .user = PART("a/b"), .host = PART("h") },
                { .scheme = PART("x"),
                  .user = PART("a"),
                  .password = PART("?"),
                  .host = PART("h") },
                { .scheme = PART("x"), .path = PART("a?b") },
                { .scheme = PART("x"), .path = PART("a#b") },
                { .scheme = PART("x"), .query = PART("a#b") },
                { .scheme = PART("x"), .query = PART("a b") },
                { .scheme = PART("x"), .fragment = PART("a#b") },
                { .scheme = PART("x"), .fragment = PART("\r\n") },
                { .path = PART("a:b") },
                { .path = PART("%4") },
                { .path = PART("a\0b") },
                { .host = PART("") },
        };
        char out[64];

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
                if (eddy_url_format(&wrong[i], out, sizeof(out)) != EDDY_E_URL_INVALID)
                        test_fail(__FILE__, __LINE__, "number %zu", i);
}

TEST(parts_of_two_urls_make_a_third)
{
        struct eddy_url url = { .scheme = PART("https"),
                                .host = PART("::1"),
                                .port = 8443,
                                .path = PART("/v1"),
                                .query = PART("a=1") };
        char out[64];

        CHECK_EQ(eddy_url_format(&url, out, sizeof(out)), 25);
        CHECK_STR(out, "https://[::1]:8443/v1?a=1");
}

TEST(written_text_has_a_maximum)
{
        static char path[EDDY_URL_BYTES_MAX], out[EDDY_URL_BYTES_MAX + 8];
        struct eddy_url url = { .scheme = PART("x"), .path = { path, sizeof(path) - 2 } };

        memset(path, 'a', sizeof(path));
        CHECK_EQ(eddy_url_format(&url, out, sizeof(out)), EDDY_URL_BYTES_MAX);
        url.path.bytes++;
        CHECK_EQ(eddy_url_format(&url, out, sizeof(out)), EDDY_E_URL_INVALID);
}
