/*
 * test_url_fault.c - a URL's usual mistakes are named, and nothing is wrong
 * with a URL that the library takes.
 */
#include "test.h"

#include "common/random.h"
#include "common/url_fault.h"
#include "wire/url.h"

static const char *fault_of(const char *url)
{
        static char text[ED_URL_FAULT_BYTES];

        return ed_url_fault(url, strlen(url), text);
}

static bool is_valid(const char *url)
{
        struct ed_url parsed;

        return ed_url_parse(url, strlen(url), &parsed) == 0;
}

TEST(usual_mistakes_are_named)
{
        static const struct {
                const char *url, *words;
        } mistakes[] = {
                { "example.com/a", "no scheme: begin it with http://" },
                { "localhost:8080", "no scheme" },
                { "//127.0.0.1/", "no scheme" },
                { "http:/x", "no scheme" },
                { "{\"url\":\"http://h/\"}", "this line is JSON; the input is one URL per line" },
                { "\"http://h/\"", "begins with a quote; write the URL without quotes" },
                { "'http://h/'", "begins with a quote" },
                { "http://", "no host" },
                { "http:///path", "no host" },
                { "http://:80/", "no host" },
                { "http://h/a b", "a space in it: write %20" },
                { "http://h:1 http://h:2", "several URLs: write each on a line of its own" },
                { "http://h/a\thttps://h/b", "several URLs" },
                { "http://h/a?b=https://h/ c", "a space in it: write %20" },
                { "http://h/caf\xc3\xa9", "write %C3" },
                { "http://h/100%", "write %25" },
                { "http://h/%zz?x", "write %25" },
                { "http://h/a#b#c", "a # in it: write %23" },
                { "http://127.0.0.1:99999/", "port 99999 is not within 1 to 65535" },
                { "http://127.0.0.1:65536", "port 65536 is not within 1 to 65535" },
                { "http://h:0/", "port 0 is not within 1 to 65535" },
                { "http://h:http/", "port http is not a number from 1 to 65535" },
                { "http://u:p@[::1]:99999/", "port 99999 is" },
                { "http://h:11111111111111111111111111111/", "port 11111111111111111111 is not" },
                { "http://::1/", "IPv6 address without brackets" },
                { "http://fe80::1:8080/", "IPv6 address without brackets" },
                { "http://[::1/", "[ without a ]" },
                { "http://127.1/", "127.1 is not an IPv4 address: write four numbers" },
                { "http://127.1:80/", "127.1 is not an IPv4 address" },
                { "http://2130706433/", "2130706433 is not an IPv4 address" },
                { "http://0x7f.1/", "0x7f.1 is not" },
                { "http://127.0.0.0x1/", "127.0.0.0x1 is not" },
                { "http://256.0.0.1/", "256.0.0.1 is not" },
                { "http://127.0.0.01/", "127.0.0.01 is not" },
        };

        for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
                const char *fault = fault_of(mistakes[i].url);

                CHECK(!is_valid(mistakes[i].url));
                if (!fault || !strstr(fault, mistakes[i].words))
                        test_fail(__FILE__, __LINE__, "%s: %s", mistakes[i].url,
                                  fault ? fault : "(nothing)");
        }
}

TEST(bytes_that_need_an_escape_are_those_that_the_library_refuses)
{
        static const char *const forms[] = { "http://h/a%cb", "http://h/?a%cb", "http://h/#a%cb",
                                             "http://a%cb:c@h/" };
        char url[64];

        for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
                for (int c = 1; c < 256; c++) {
                        const char *percent = strchr(forms[i], '%');
                        size_t at = (size_t) (percent - forms[i]);

                        /* These end the user's part. */
                        if (i == 3 && strchr("/?#", c))
                                continue;
                        snprintf(url, sizeof(url), "%.*s%c%s", (int) at, forms[i], c, percent + 2);
                        if (is_valid(url) != !fault_of(url))
                                test_fail(__FILE__, __LINE__, "%s: %s", url,
                                          is_valid(url) ? fault_of(url) : "valid");
                }
}

TEST(nothing_is_wrong_with_a_valid_url)
{
        static const char *const urls[] = {
                "http://127.0.0.1:8080/bytes/1",
                "HTTPS://user:p%40ss@example.com:65535/a?b=c#d",
                "http://[::ffff:1.2.3.4]:80?q",
                "http://b\303\274cher.example./%20/{x}",
        };
        static const char bytes[] = "/:?#[]@%. 09azAZ{}|\\^`<>\"\x01\x7f\x80\xc3\xff-_~";
        struct ed_random random = { 1 };
        char url[128], mutant[128];
        int valid = 0;

        for (int i = 0; i < 200000; i++) {
                size_t length, edits = 1 + ed_random_next(&random) % 3;

                snprintf(url, sizeof(url), "%s", urls[ed_random_next(&random) % 4]);
                for (size_t edit = 0; edit < edits; edit++) {
                        char c = bytes[ed_random_next(&random) % (sizeof(bytes) - 1)];
                        size_t at;

                        length = strlen(url);
                        at = ed_random_next(&random) % (length + 1);
                        if (ed_random_next(&random) % 3 == 0)
                                snprintf(mutant, sizeof(mutant), "%.*s%s", (int) at, url,
                                         at < length ? url + at + 1 : "");
                        else
                                snprintf(mutant, sizeof(mutant), "%.*s%c%s", (int) at, url, c,
                                         url + at);
                        memcpy(url, mutant, sizeof(url));
                }
                if (!is_valid(url))
                        continue;
                valid++;
                if (fault_of(url))
                        test_fail(__FILE__, __LINE__, "%s: %s", url, fault_of(url));
        }
        CHECK(valid > 20000);
}
