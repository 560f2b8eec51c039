/*
 * test_key_text.c - keys in files, in the output of a command, and the life of JSON Web Tokens.
 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch/run/key_text.h"
#include "common/duration.h"
#include "eddy/base64.h"
#include "eddy/time.h"

#define NOW_S  INT64_C(1700000000)
#define NOW_NS (NOW_S * 1000000000)

enum { TOKEN_BYTES = 12 << 10 };

/* A token with this payload, in base64url without padding. */
static char token[TOKEN_BYTES];

static const char *token_make(const char *payload)
{
        char *at = token + snprintf(token, sizeof(token), "eyJhbGciOiJub25lIn0.");
        size_t bytes = eddy_base64_encode(payload, strlen(payload), at);

        while (bytes > 0 && at[bytes - 1] == '=')
                bytes--;
        for (size_t i = 0; i < bytes; i++)
                at[i] = at[i] == '+' ? '-' : at[i] == '/' ? '_' : at[i];
        memcpy(at + bytes, ".c2ln", sizeof(".c2ln"));
        return token;
}

static int64_t life_of(const char *text)
{
        return ed_key_text_jwt_life(text, strlen(text), NOW_NS);
}

TEST(life_of_a_jwt_is_read_at_every_length_of_its_base64url)
{
        /* The tildes and question marks make - and _ of the alphabet. */
        static const char more[] = "~?~?~?~?~?~?";
        char payload[128];

        for (int n = 0; n < 12; n++) {
                snprintf(payload, sizeof(payload), "{\"sub\":\"%.*s\",\"exp\":%lld}", n, more,
                         (long long) NOW_S + 60);
                CHECK_EQ(life_of(token_make(payload)), EDDY_SEC(60));
        }
        CHECK(strpbrk(token_make("{\"a\":\"~~~~~~~~~\",\"exp\":1700000001}"), "-_") != NULL);
        CHECK_EQ(life_of(token), EDDY_SEC(1));
        /* Within a second, by a clock with nanoseconds. */
        CHECK_EQ(ed_key_text_jwt_life(token, strlen(token), NOW_NS + 250000000), EDDY_MS(750));
        CHECK_EQ(life_of(token_make("{\"exp\":1700000000.5}")), EDDY_MS(500));
        CHECK_EQ(life_of(token_make("{\"exp\":1.70000001e9}")), EDDY_SEC(10));
}

TEST(expired_tokens_and_other_texts_have_no_known_life)
{
        static const char *const payloads[] = {
                "",
                "{}",
                "[1700000060]",
                "1700000060",
                "{\"exp\":\"1700000060\"}",
                "{\"exp\":null}",
                "{\"exp\":true}",
                "{\"exp\":[1700000060]}",
                "{\"exp\":{}}",
                "{\"exp\":1700000060",
                "{\"exp\":1700000060}x",
                "{\"exp\":0}",
                "{\"exp\":-1}",
                "{\"exp\":-1e308}",
                "{\"exp\":1e999}",
                "{\"exp\":1700000000}",
                "{\"exp\":1699999999}",
                "{\"iat\":1700000060}",
                "\xff\xfe",
        };
        static const char *const texts[] = {
                "",
                ".",
                "..",
                "...",
                "sk-1234",
                "a.b",
                "a.b.c",
                "a.eyJleHAiOjE3MDAwMDAwNjB9",
                "a.eyJleHAiOjE3MDAwMDAwNjB9.c.d",
                "a.eyJleHAiOjE3MDAwMDAwNjB9=.c",
                "a.eyJleHAiOjE3MDAwMDAwNjB9A.c",
                "a.eyJleHAiOjE3MDAwMDAwNjB/.c",
                "a.eyJleHAiOjE3MDAwMDAwNjB+.c",
                "a.eyJleHAi OjE3MDAwMDAwNjB9.c",
                "a.====.c",
                "a.=.c",
        };

        CHECK_EQ(life_of("a.eyJleHAiOjE3MDAwMDAwNjB9.c"), EDDY_SEC(60));
        for (size_t i = 0; i < sizeof(payloads) / sizeof(payloads[0]); i++)
                CHECK_EQ(life_of(token_make(payloads[i])), -1);
        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
                CHECK_EQ(life_of(texts[i]), -1);
        CHECK_EQ(life_of(token_make("{\"exp\":1e300}")), ED_DURATION_MAX_NS);
}

TEST(deep_and_large_tokens_are_read_within_their_limits)
{
        static char payload[TOKEN_BYTES];

        /* Nested deeper than JSON may be. */
        memset(payload, '[', 4000);
        payload[4000] = '\0';
        CHECK_EQ(life_of(token_make(payload)), -1);
        /* As long as a key may be, and longer. */
        for (int bytes = 5000; bytes <= 7000; bytes += 2000) {
                snprintf(payload, sizeof(payload), "{\"exp\":1700000005,\"a\":\"%0*d\"}", bytes, 0);
                token_make(payload);
                CHECK_EQ(life_of(token), strlen(token) <= ED_KEY_BYTES_MAX ? EDDY_SEC(5) : -1);
        }
}

TEST(every_cut_and_every_changed_byte_of_a_token_is_read_without_harm)
{
        char copy[128];
        size_t bytes = strlen(token_make("{\"sub\":\"u\",\"exp\":1700000060}"));

        memcpy(copy, token, bytes);
        for (size_t i = 0; i < bytes; i++) {
                char *exact = malloc(i ? i : 1);

                memcpy(exact, copy, i);
                CHECK(ed_key_text_jwt_life(exact, i, NOW_NS) >= -1);
                free(exact);
                for (int c = 0; c < 256; c++) {
                        token[i] = (char) c;
                        CHECK(ed_key_text_jwt_life(token, bytes, NOW_NS) >= -1);
                }
                token[i] = copy[i];
        }
}

/* ---- the output of a command ----------------------------------------------------------------- */

static struct ed_key_text got;
static const char *why;

static int output_read(const char *output, size_t bytes)
{
        return ed_key_text_output(output, bytes, NOW_NS, &got, &why);
}

static int text_read(const char *output)
{
        return output_read(output, strlen(output));
}

static bool got_is(const char *key, int64_t life_ns)
{
        return got.bytes == strlen(key) && memcmp(got.at, key, got.bytes) == 0 &&
               got.life_ns == life_ns;
}

TEST(key_is_line_1_and_its_life_is_line_2_of_the_output)
{
        static const struct {
                const char *output, *key;
                int64_t life_ns;
        } cases[] = {
                { "tok", "tok", -1 },
                { "tok\n", "tok", -1 },
                { "tok\r\n", "tok", -1 },
                { " tok \t\n", "tok", -1 },
                { "tok\n\n", "tok", -1 },
                { "tok\n\r\n", "tok", -1 },
                { "tok\n3600", "tok", EDDY_SEC(3600) },
                { "tok\n3600\n", "tok", EDDY_SEC(3600) },
                { "tok\r\n3600\r\n", "tok", EDDY_SEC(3600) },
                { "tok\n 1.5 \n", "tok", EDDY_MS(1500) },
                { "tok\n3600\nanything else\n", "tok", EDDY_SEC(3600) },
                { "tok\n\n60\n", "tok", -1 },
                { "a b\n", "a b", -1 },
        };
        char output[512];

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                CHECK_EQ(text_read(cases[i].output), 0);
                CHECK(got_is(cases[i].key, cases[i].life_ns));
        }
        /* Line 2 is worth more than the token's own time. */
        token_make("{\"exp\":1700000060}");
        CHECK_EQ(text_read(token), 0);
        CHECK(got_is(token, EDDY_SEC(60)));
        snprintf(output, sizeof(output), "%.400s\n30\n", token);
        CHECK_EQ(text_read(output), 0);
        CHECK(got_is(token, EDDY_SEC(30)));
}

TEST(output_without_a_key_is_refused_with_the_reason)
{
        static char large[64 << 10];
        static const struct {
                const char *output, *why;
        } cases[] = {
                { "", "printed nothing" },
                { "\n", "line 1" },
                { " \r\n", "line 1" },
                { "\ntok\n", "line 1" },
                { "to\x01k\n", "header" },
                { "to\rk\n", "header" },
                { "{\"access_token\":\"tok\"}\n", "JSON" },
                { "{\n\"access_token\":\"tok\"}\n", "JSON" },
                { "tok\n0\n", "line 2" },
                { "tok\n-1\n", "line 2" },
                { "tok\n60s\n", "line 2" },
                { "tok\n1e3\n", "line 2" },
                { "tok\nnan\n", "line 2" },
                { "tok\n99999999999999999999\n", "line 2" },
                { "tok\nexpires soon\n", "line 2" },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                CHECK_EQ(text_read(cases[i].output), -EINVAL);
                CHECK(strstr(why, cases[i].why) != NULL);
        }
        CHECK_EQ(output_read("to\0k\n", 5), -EINVAL);
        CHECK_EQ(output_read("\0", 1), -EINVAL);
        CHECK_EQ(output_read("tok\n6\0\n", 7), -EINVAL);
        /* 64 KiB: as one line it is too long, as a key and further lines it is not. */
        memset(large, 'k', sizeof(large));
        CHECK_EQ(output_read(large, sizeof(large)), -EINVAL);
        CHECK_EQ(output_read(large, ED_KEY_BYTES_MAX + 1), -EINVAL);
        CHECK_EQ(output_read(large, ED_KEY_BYTES_MAX), 0);
        large[100] = large[103] = '\n';
        large[101] = large[102] = '9';
        CHECK_EQ(output_read(large, sizeof(large)), 0);
        CHECK(got.bytes == 100 && got.life_ns == EDDY_SEC(99));
}

/* ---- files ----------------------------------------------------------------------------------- */

static const char *keys_of(const char *text, size_t bytes)
{
        static char list[256];
        const char *at = text;
        struct ed_key_text key = { 0 };
        size_t n = 0;

        list[0] = '\0';
        while (ed_key_text_next(&at, text + bytes, &key))
                n += (size_t) snprintf(list + n, sizeof(list) - n, "%d:%.*s;", (int) key.line,
                                       (int) key.bytes, key.at);
        return list;
}

#define KEYS_OF(text) keys_of(text, sizeof(text) - 1)

TEST(file_has_a_key_a_line_without_comments_and_blank_lines)
{
        CHECK_STR(KEYS_OF(""), "");
        CHECK_STR(KEYS_OF("\n\r\n \n#a\n  # b"), "");
        CHECK_STR(KEYS_OF("a"), "1:a;");
        CHECK_STR(KEYS_OF("a\n"), "1:a;");
        CHECK_STR(KEYS_OF("# first\r\na\r\n\r\n b \n#c\nd#e"), "2:a;4:b;6:d#e;");
        CHECK(ed_key_text_fault("a", 1) == NULL);
        CHECK(ed_key_text_fault("", 0) != NULL);
        CHECK(ed_key_text_fault("a\0b", 3) != NULL);
        CHECK(ed_key_text_fault("a\nb", 3) != NULL);
}
