/*
 * test_endpoint.c - endpoints and their text: what is read comes back as it was
 * written, and nothing else is read.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "eddy/eddy.h"
#include "test.h"

static const char *written(const struct eddy_endpoint *endpoint)
{
        static char text[EDDY_ENDPOINT_TEXT_BYTES + 1];

        text[EDDY_ENDPOINT_TEXT_BYTES] = 'x';
        eddy_endpoint_format(endpoint, text);
        CHECK_EQ(text[EDDY_ENDPOINT_TEXT_BYTES], 'x');
        return text;
}

TEST(each_text_that_is_read_is_written_again)
{
        static const char *const texts[] = {
                "127.0.0.1:80",
                "0.0.0.0:0",
                "255.255.255.255:65535",
                "[::1]:80",
                "[::]:0",
                "[2001:db8::ff00:42:8329]:443",
                "[::ffff:192.0.2.1]:8080",
                "[fe80::1%2]:80",
                "[fe80::1%999999999]:65535",
                "unix:/run/x.sock",
                "unix:relative/x",
                "unix:./@file",
                "unix:@name",
                "unix:/a:b]c%[",
                "unix:/run/\xc3\xa4.sock",
                "unix: ",
                "unix:unix:@x",
        };

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
                struct eddy_endpoint endpoint;

                CHECK_EQ(eddy_endpoint_parse(texts[i], &endpoint), 0);
                CHECK_STR(written(&endpoint), texts[i]);
        }
}

TEST(parts_of_an_endpoint_are_those_of_its_text)
{
        struct eddy_endpoint endpoint;

        CHECK_EQ(eddy_endpoint_parse("192.0.2.7:8080", &endpoint), 0);
        CHECK_EQ(endpoint.kind, EDDY_ENDPOINT_IP);
        CHECK_EQ(endpoint.port, 8080);
        CHECK_EQ(endpoint.address.family, AF_INET);
        CHECK_EQ(memcmp(endpoint.address.bytes, "\xc0\x00\x02\x07", 4), 0);
        CHECK_EQ(eddy_endpoint_parse("[fe80::a%3]:1", &endpoint), 0);
        CHECK_EQ(endpoint.address.family, AF_INET6);
        CHECK_EQ(endpoint.address.scope_id, 3);
        CHECK_EQ(endpoint.address.bytes[15], 10);
        CHECK_EQ(eddy_endpoint_parse("unix:/x", &endpoint), 0);
        CHECK_EQ(endpoint.kind, EDDY_ENDPOINT_UNIX);
        CHECK_EQ(endpoint.path_bytes, 2);
        CHECK_STR(endpoint.path, "/x");
        CHECK_EQ(eddy_endpoint_parse("unix:@x", &endpoint), 0);
        CHECK_EQ(endpoint.path_bytes, 2);
        CHECK_EQ(memcmp(endpoint.path, "\0x", 3), 0);
}

TEST(hostile_texts_are_refused_with_their_reason)
{
        static const struct {
                const char *text;
                int err;
        } cases[] = {
                { "", EDDY_E_ENDPOINT_ADDRESS },
                { NULL, EDDY_E_ENDPOINT_ADDRESS },
                { ":80", EDDY_E_ENDPOINT_ADDRESS },
                { "localhost:80", EDDY_E_ENDPOINT_ADDRESS },
                { "127.1:80", EDDY_E_ENDPOINT_ADDRESS },
                { "0x7f.0.0.1:80", EDDY_E_ENDPOINT_ADDRESS },
                { "127.0.0.01:80", EDDY_E_ENDPOINT_ADDRESS },
                { "127.0.0.256:80", EDDY_E_ENDPOINT_ADDRESS },
                { " 127.0.0.1:80", EDDY_E_ENDPOINT_ADDRESS },
                { "127.0.0.1 :80", EDDY_E_ENDPOINT_ADDRESS },
                { "[127.0.0.1]:80", EDDY_E_ENDPOINT_ADDRESS },
                { "::1:80", EDDY_E_ENDPOINT_ADDRESS },
                { "[::1:80", EDDY_E_ENDPOINT_ADDRESS },
                { "[]:80", EDDY_E_ENDPOINT_ADDRESS },
                { "[[::1]]:80", EDDY_E_ENDPOINT_ADDRESS },
                { "[::1%]:80", EDDY_E_ENDPOINT_ADDRESS },
                { "[::1%lo]:80", EDDY_E_ENDPOINT_ADDRESS },
                { "[::1%0]:80", EDDY_E_ENDPOINT_ADDRESS },
                { "[::1%99999999999999999999]:80", EDDY_E_ENDPOINT_ADDRESS },
                { "[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]:80",
                  EDDY_E_ENDPOINT_ADDRESS },
                { "127.0.0.1", EDDY_E_ENDPOINT_PORT },
                { "127.0.0.1:", EDDY_E_ENDPOINT_PORT },
                { "127.0.0.1:65536", EDDY_E_ENDPOINT_PORT },
                { "127.0.0.1:99999", EDDY_E_ENDPOINT_PORT },
                { "127.0.0.1:4294967376", EDDY_E_ENDPOINT_PORT },
                { "127.0.0.1:080", EDDY_E_ENDPOINT_PORT },
                { "127.0.0.1:00", EDDY_E_ENDPOINT_PORT },
                { "127.0.0.1:+80", EDDY_E_ENDPOINT_PORT },
                { "127.0.0.1:-1", EDDY_E_ENDPOINT_PORT },
                { "127.0.0.1: 80", EDDY_E_ENDPOINT_PORT },
                { "127.0.0.1:80 ", EDDY_E_ENDPOINT_PORT },
                { "127.0.0.1:80/x", EDDY_E_ENDPOINT_PORT },
                { "127.0.0.1:http", EDDY_E_ENDPOINT_PORT },
                { "127.0.0.1:80:80", EDDY_E_ENDPOINT_PORT },
                { "[::1]", EDDY_E_ENDPOINT_PORT },
                { "[::1]80", EDDY_E_ENDPOINT_PORT },
                { "[::1]:", EDDY_E_ENDPOINT_PORT },
                { "unix:", EDDY_E_ENDPOINT_PATH },
                { "unix:@", EDDY_E_ENDPOINT_PATH },
                { "unix:/a\nb", EDDY_E_ENDPOINT_PATH },
                { "unix:@a\x1b[31m", EDDY_E_ENDPOINT_PATH },
                { "unix:/a\x7f", EDDY_E_ENDPOINT_PATH },
                { "UNIX:/a", EDDY_E_ENDPOINT_ADDRESS },
                { "/run/x.sock", EDDY_E_ENDPOINT_ADDRESS },
                { "@name", EDDY_E_ENDPOINT_ADDRESS },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct eddy_endpoint endpoint = { .port = 7 };

                CHECK_EQ(eddy_endpoint_parse(cases[i].text, &endpoint), cases[i].err);
                CHECK_EQ(endpoint.port, 7); /* unchanged */
        }
}

/* The kernel has room for 108 bytes, one of which is a path's NUL. */
TEST(a_path_of_107_bytes_is_the_longest)
{
        char text[5 + 200] = "unix:";
        struct eddy_endpoint endpoint;

        memset(text + 5, 'x', EDDY_ENDPOINT_PATH_MAX);
        for (int is_name = 0; is_name < 2; is_name++) {
                text[5] = is_name ? '@' : 'x';
                text[5 + EDDY_ENDPOINT_PATH_MAX] = '\0';
                CHECK_EQ(eddy_endpoint_parse(text, &endpoint), 0);
                CHECK_EQ(endpoint.path_bytes, EDDY_ENDPOINT_PATH_MAX);
                CHECK_STR(written(&endpoint), text);
                text[5 + EDDY_ENDPOINT_PATH_MAX] = 'x';
                text[5 + EDDY_ENDPOINT_PATH_MAX + 1] = '\0';
                CHECK_EQ(eddy_endpoint_parse(text, &endpoint), -ENAMETOOLONG);
                CHECK_EQ(eddy_endpoint_unix(text + 5, &endpoint), -ENAMETOOLONG);
        }
}

TEST(an_event_without_a_text_of_its_own_is_written_on_one_line)
{
        struct eddy_endpoint endpoint = { .kind = EDDY_ENDPOINT_NONE };
        char long_path[EDDY_ENDPOINT_PATH_MAX + 1] = "@";

        CHECK_STR(written(&endpoint), "none");
        endpoint.kind = 99;
        CHECK_STR(written(&endpoint), "none");
        endpoint.kind = EDDY_ENDPOINT_UNIX;
        CHECK_STR(written(&endpoint), "unix:");
        /* Of a peer: any bytes. */
        memcpy(endpoint.path, "\0a\0b\n", 5);
        endpoint.path_bytes = 5;
        CHECK_STR(written(&endpoint), "unix:@a?b?");
        /* A file whose name looks like an abstract one, as long as can be. */
        memset(long_path + 1, 'y', sizeof(long_path) - 2);
        memcpy(endpoint.path, long_path, sizeof(long_path));
        endpoint.path_bytes = EDDY_ENDPOINT_PATH_MAX;
        CHECK_EQ(strlen(written(&endpoint)), 5 + 2 + EDDY_ENDPOINT_PATH_MAX);
        endpoint.path_bytes = 255; /* a mistake of the caller's */
        CHECK_STR(written(&endpoint), "unix:");
        endpoint = (struct eddy_endpoint){ .kind = EDDY_ENDPOINT_IP };
        CHECK_STR(written(&endpoint), "?:0");
}

TEST(endpoints_are_equal_if_all_their_parts_are)
{
        static const char *const texts[] = { "127.0.0.1:80", "127.0.0.1:81", "127.0.0.2:80",
                                             "[::1]:80",     "[::1%1]:80",   "[::1%2]:80",
                                             "unix:/x",      "unix:/xy",     "unix:@x",
                                             "unix:x" };
        struct eddy_endpoint a, b, none = { 0 }, unnamed = { .kind = EDDY_ENDPOINT_UNIX };
        size_t n = sizeof(texts) / sizeof(texts[0]);

        for (size_t i = 0; i < n; i++) {
                for (size_t j = 0; j < n; j++) {
                        CHECK_EQ(eddy_endpoint_parse(texts[i], &a), 0);
                        CHECK_EQ(eddy_endpoint_parse(texts[j], &b), 0);
                        CHECK_EQ(eddy_endpoint_is_equal(&a, &b), i == j);
                }
                CHECK(!eddy_endpoint_is_equal(&a, &none));
        }
        CHECK(!eddy_endpoint_is_equal(&none, &none));
        CHECK(!eddy_endpoint_is_equal(&unnamed, &unnamed));
        /* Bytes after an IPv4 address do not count. */
        CHECK_EQ(eddy_endpoint_parse("127.0.0.1:80", &a), 0);
        b = a;
        b.address.bytes[9] = 1;
        CHECK(eddy_endpoint_is_equal(&a, &b));
}
