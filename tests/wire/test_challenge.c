/*
 * test_challenge.c - challenges of WWW-Authenticate: the examples of RFC 9110, 7616 and 7617, lists of
 * challenges with and without parameters, hostile texts, and each text at the end of its memory.
 */
#include <errno.h>
#include <stdio.h>

#include "test.h"
#include "wire/challenge.h"

/* Write a value's challenges as "SCHEME(name=value;...)" and the result of the last call. */
static const char *read_all(const char *value, size_t bytes)
{
        static char out[4096];
        char *copy = malloc(bytes ? bytes : 1);
        struct ed_auth_text text = { copy, copy + bytes };
        struct ed_challenge challenge;
        struct ed_auth_param param;
        char unquoted[256];
        size_t n = 0;
        int err;

        CHECK(copy);
        memcpy(copy, value, bytes);
        while ((err = ed_challenge_next(&text, &challenge)) > 0) {
                n += (size_t) snprintf(out + n, sizeof(out) - n, "%.*s(",
                                       (int) challenge.scheme_bytes, challenge.scheme);
                while ((err = ed_auth_param_next(&challenge.params, &param)) > 0) {
                        CHECK(ed_auth_param_copy(&param, unquoted, sizeof(unquoted)));
                        n += (size_t) snprintf(out + n, sizeof(out) - n, "%.*s=%s;",
                                               (int) param.name_bytes, param.name, unquoted);
                }
                CHECK_EQ(err, 0);
                n += (size_t) snprintf(out + n, sizeof(out) - n, ")");
                CHECK(n < sizeof(out));
        }
        free(copy);
        snprintf(out + n, sizeof(out) - n, "%s", err < 0 ? "!" : "");
        return out;
}

static void check(const char *value, const char *expected)
{
        const char *seen = read_all(value, strlen(value));

        if (strcmp(seen, expected) != 0)
                test_fail(__FILE__, __LINE__, "'%s' gives %s, expected %s", value, seen, expected);
}

TEST(the_examples_of_the_rfcs_are_read)
{
        check("Basic realm=\"simple\", Newauth realm=\"apps\", type=1, title=\"Login to "
              "\\\"apps\\\"\"",
              "Basic(realm=simple;)Newauth(realm=apps;type=1;title=Login to \"apps\";)");
        check("Basic realm=\"foo\", charset=\"UTF-8\"", "Basic(realm=foo;charset=UTF-8;)");
        check("Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm=SHA-256, "
              "nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\"",
              "Digest(realm=http-auth@example.org;qop=auth, auth-int;algorithm=SHA-256;"
              "nonce=7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v;)");
}

TEST(commas_separate_challenges_and_parameters)
{
        check("", "");
        check(" , ,\t, ", "");
        check("Negotiate", "Negotiate()");
        check("Negotiate, NTLM", "Negotiate()NTLM()");
        check("Negotiate YWJj==, Basic realm=a", "Negotiate()Basic(realm=a;)");
        check("Negotiate abc , Basic realm=a", "Negotiate()Basic(realm=a;)");
        check("Basic  realm = \"a\" ,,\tx=y,", "Basic(realm=a;x=y;)");
        check("Basic realm=\"a, Digest b=c\", Bearer", "Basic(realm=a, Digest b=c;)Bearer()");
        check("Basic realm=\"\"", "Basic(realm=;)");
        check("Bearer scope=\"a b\", error=invalid_token, Digest x=1",
              "Bearer(scope=a b;error=invalid_token;)Digest(x=1;)");
        check("Basic realm=\"\xc3\xa9\"", "Basic(realm=\xc3\xa9;)");
}

TEST(other_texts_are_refused)
{
        static const char *const texts[] = {
                "=",
                "\"a\"",
                "Basic realm=",
                "Basic realm=\"a",
                "Basic =a",
                "Basic realm=a b",
                "Basic realm=\"a\"b",
                "Basic realm=\"a\\",
                "Basic\trealm=a",
                "Basic a=1, A=2",
                "Basic a=b;c=d",
                "Basic realm=\"a\x01\"",
                "Basic realm=\"\\\x7f\"",
                "(a)",
        };

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
                const char *seen = read_all(texts[i], strlen(texts[i]));

                if (seen[strlen(seen) - 1] != '!' && strcmp(texts[i], "Basic realm=") != 0)
                        test_fail(__FILE__, __LINE__, "'%s' gives %s", texts[i], seen);
        }
        CHECK_STR(read_all("Basic realm=\"a\0b\"", 17), "!");
}

TEST(a_mistake_spares_the_challenges_before_it)
{
        check("Basic realm=a, Digest nonce=\"", "Basic(realm=a;)!");
}

TEST(a_challenge_has_at_most_32_parameters)
{
        char text[512] = "X ", expected[512] = "X(";
        size_t bytes;

        for (int i = 0; i < ED_AUTH_PARAMS_MAX; i++) {
                snprintf(text + strlen(text), 16, "a%d=1,", i);
                snprintf(expected + strlen(expected), 16, "a%d=1;", i);
        }
        bytes = strlen(expected);
        snprintf(expected + bytes, sizeof(expected) - bytes, ")");
        check(text, expected);
        bytes = strlen(text);
        snprintf(text + bytes, sizeof(text) - bytes, "b=2");
        check(text, "!");
}

TEST(a_value_that_does_not_fit_is_not_copied)
{
        struct ed_auth_param param = {
                .name = "A", .name_bytes = 1, .value = "a\\\"c", .value_bytes = 4
        };
        char out[4];

        CHECK(ed_auth_param_copy(&param, out, 4));
        CHECK_STR(out, "a\"c");
        CHECK(!ed_auth_param_copy(&param, out, 3));
        CHECK(!ed_auth_param_copy(&param, out, 0));
        CHECK(ed_auth_param_is(&param, "a"));
        CHECK(!ed_auth_param_is(&param, "ab"));
}

TEST(any_byte_and_any_end_is_survived)
{
        static const char value[] = "Negotiate YQ==, Digest realm=\"a\\\"b\", nonce=abc, "
                                    "qop=\"auth,x\" , Basic realm=x";
        char text[sizeof(value)];

        for (size_t at = 0; at < sizeof(value) - 1; at++) {
                (void) read_all(value, at);
                for (int byte = 0; byte < 256; byte++) {
                        memcpy(text, value, sizeof(value));
                        text[at] = (char) byte;
                        (void) read_all(text, sizeof(value) - 1);
                }
        }
}
