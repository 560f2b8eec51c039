/*
 * test_dns_name.c - host names and addresses as they are spelled.
 */
#include <errno.h>
#include <sys/socket.h>

#include "eddy/error.h"
#include "io/dns_name.h"
#include "io/found.h"
#include "test.h"

static int parse(const char *host, struct ed_name *name)
{
        memset(name, 0xaa, sizeof(*name));
        return ed_name_parse(host, name);
}

TEST(names_are_put_in_lower_case)
{
        static const char *const names[][2] = {
                { "example.com", "example.com" },
                { "Example.COM", "example.com" },
                { "a.b.c.", "a.b.c." },
                { "with-hyphen_and_underscore", NULL },
                { "1.example", NULL },
                { "0x.example.x0", NULL },
                { "a", NULL },
                { "0xg", NULL },
                { "1a", NULL },
                { "999.1.1.1e", NULL },
        };
        struct ed_name name;

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                CHECK_EQ(parse(names[i][0], &name), 0);
                CHECK_EQ(name.kind, ED_NAME_ASK);
                CHECK_STR(name.text, names[i][1] ? names[i][1] : names[i][0]);
        }
}

TEST(a_text_that_is_not_a_name_is_refused)
{
        static const char *const names[] = {
                "",
                ".",
                "a..b",
                ".a",
                "a b",
                "a\tb",
                "a\nb",
                "a/b",
                "a:b",
                "a@b",
                "a%b",
                "a%00b",
                "[::1]",
                "a\"b",
                "a'b",
                "a,b",
                "a;b",
                "http://a",
                "a\x01",
                "a\x7f",
                " a",
                "a ",
                "*",
                "a?b",
                "a#b",
                "\xff\xfe",
                "\xc3\x28",
                "..",
                "a\\b",
                "::1::",
                "1:2",
                "fe80::1%",
                "fe80::1%eth0",
                "fe80::1%0",
                "fe80::1%01",
                "fe80::1%1x",
                "::1%9999999999",
        };
        struct ed_name name, untouched;

        memset(&untouched, 0xaa, sizeof(untouched));
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                if (parse(names[i], &name) != EDDY_E_DNS_BAD_NAME)
                        test_fail(__FILE__, __LINE__, "'%s' is taken", names[i]);
                CHECK(memcmp(&name, &untouched, sizeof(name)) == 0);
        }
}

/* B17: what other programs take for an address, and filters do not. */
TEST(other_spellings_of_ipv4_are_refused)
{
        static const char *const names[] = {
                "127.1",
                "2130706433",
                "0x7f.1",
                "017700000001",
                "0x7f000001",
                "127.0.0.01",
                "127.0.0.1.",
                "127.0.0.256",
                "1.2.3.4.5",
                "1.2.3",
                "0x7F.0.0.1",
                "00.0.0.0",
                "127.0.0.0x1",
                "a.1",
                "example.0x1f",
                "1",
                "0",
                "0x",
                "256.256.256.256",
                "127.0.0.1234567890123456789",
                "1.2.3.4 ",
                "\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1",
                "127\xe3\x80\x82"
                "0\xe3\x80\x82"
                "0\xe3\x80\x82"
                "1",
        };
        struct ed_name name;

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                if (parse(names[i], &name) != EDDY_E_DNS_BAD_NAME)
                        test_fail(__FILE__, __LINE__, "'%s' is taken", names[i]);
}

TEST(addresses_need_no_asking)
{
        struct ed_name name;

        CHECK_EQ(parse("192.0.2.255", &name), 0);
        CHECK_EQ(name.kind, ED_NAME_ADDRESS);
        CHECK_EQ(name.address.family, AF_INET);
        CHECK(memcmp(name.address.bytes, "\xc0\x00\x02\xff\0\0\0\0\0\0\0\0\0\0\0\0", 16) == 0);
        CHECK_EQ(parse("0.0.0.0", &name), 0);
        CHECK_EQ(name.kind, ED_NAME_ADDRESS);
        CHECK_EQ(parse("2001:DB8::1", &name), 0);
        CHECK_EQ(name.address.family, AF_INET6);
        CHECK_EQ(name.address.scope_id, 0);
        CHECK(memcmp(name.address.bytes, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1", 16) == 0);
        CHECK_EQ(parse("fe80::1%12", &name), 0);
        CHECK_EQ(name.address.scope_id, 12);
        CHECK_EQ(parse("::ffff:127.0.0.1", &name), 0);
        CHECK_EQ(name.address.family, AF_INET6);
}

TEST(lengths_are_bounded)
{
        static char text[2000];
        struct ed_name name;

        memset(text, 'a', sizeof(text));
        text[63] = '\0';
        CHECK_EQ(parse(text, &name), 0);
        text[63] = 'a';
        text[64] = '\0';
        CHECK_EQ(parse(text, &name), EDDY_E_DNS_BAD_NAME);
        text[64] = 'a';
        for (int i = 63; i < 260; i += 64)
                text[i] = '.';
        text[253] = '\0';
        CHECK_EQ(parse(text, &name), 0);
        text[253] = '.'; /* the final dot does not count */
        text[254] = '\0';
        CHECK_EQ(parse(text, &name), 0);
        CHECK_EQ(strlen(name.text), 254);
        text[253] = 'a';
        CHECK_EQ(parse(text, &name), EDDY_E_DNS_BAD_NAME);
        memset(text, 'a', sizeof(text));
        text[sizeof(text) - 1] = '\0';
        CHECK_EQ(parse(text, &name), EDDY_E_DNS_BAD_NAME);
        memset(text, 0xc3, sizeof(text));
        text[sizeof(text) - 1] = '\0';
        CHECK_EQ(parse(text, &name), EDDY_E_DNS_BAD_NAME);
}

/* RFC 6761, 6.3 and 6.4. */
TEST(localhost_and_invalid_are_known)
{
        static const struct {
                const char *name;
                enum ed_name_kind kind;
        } names[] = {
                { "localhost", ED_NAME_LOOPBACK },     { "LOCALHOST.", ED_NAME_LOOPBACK },
                { "a.b.localhost", ED_NAME_LOOPBACK }, { "notlocalhost", ED_NAME_ASK },
                { "localhost.com", ED_NAME_ASK },      { "invalid", ED_NAME_NONE },
                { "a.Invalid.", ED_NAME_NONE },        { "notinvalid", ED_NAME_ASK },
                { "invalid.com", ED_NAME_ASK },
        };
        struct ed_name name;

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                CHECK_EQ(parse(names[i].name, &name), 0);
                CHECK_EQ(name.kind, names[i].kind);
        }
}

TEST(names_in_other_scripts_are_converted)
{
        static const char *const names[][2] = {
                { "b\xc3\xbc"
                  "cher.example",
                  "xn--bcher-kva.example" },
                { "B\xc3\x9c"
                  "CHER.example",
                  "xn--bcher-kva.example" },
                { "stra\xc3\x9f"
                  "e.example",
                  "xn--strae-oqa.example" }, /* not "strasse" */
                { "\xe4\xbe\x8b\xe3\x81\x88.example", "xn--r8jz45g.example" },
        };
        struct ed_name name;

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                CHECK_EQ(parse(names[i][0], &name), 0);
                CHECK_EQ(name.kind, ED_NAME_ASK);
                CHECK_STR(name.text, names[i][1]);
        }
        /* What comes out of the conversion is checked like any other name. */
        CHECK_EQ(parse("\xef\xbd\x8c"
                       "ocalhost",
                       &name),
                 0);
        CHECK_EQ(name.kind, ED_NAME_LOOPBACK);
        CHECK_EQ(parse("a\xef\xbc\x8f"
                       "b",
                       &name),
                 EDDY_E_DNS_BAD_NAME); /* a wide slash */
}

static struct eddy_address made(uint16_t family, uint8_t last)
{
        struct eddy_address address = { .family = family };

        address.bytes[family == AF_INET6 ? 15 : 3] = last;
        return address;
}

/* RFC 8305, 4. */
TEST(families_take_turns_and_ipv6_begins)
{
        struct eddy_address list[6], out[6];

        for (uint8_t i = 0; i < 4; i++)
                list[i] = made(AF_INET, i);
        list[4] = made(AF_INET6, 4);
        list[5] = made(AF_INET6, 5);
        CHECK_EQ(ed_dns_order(list, 6, AF_INET6, out, 6), 6);
        CHECK_EQ(out[0].bytes[15], 4);
        CHECK_EQ(out[1].bytes[3], 0);
        CHECK_EQ(out[2].bytes[15], 5);
        CHECK_EQ(out[3].bytes[3], 1);
        CHECK_EQ(out[4].bytes[3], 2);
        CHECK_EQ(out[5].bytes[3], 3);
        CHECK_EQ(ed_dns_order(list, 6, AF_INET6, out, 2), 2);
        CHECK_EQ(out[1].family, AF_INET);
        CHECK_EQ(ed_dns_order(list, 4, AF_INET6, out, 6), 4);
        CHECK_EQ(ed_dns_order(list, 0, AF_INET6, out, 6), 0);
}
