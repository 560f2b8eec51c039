/*
 * test_digest.c - Digest without a network: the examples of RFC 7616, 3.9, and of RFC 2617, 3.5; each
 * algorithm; which challenges are refused; texts that must be quoted.
 */
#include <errno.h>
#include <stdio.h>

#include "http/digest.h"
#include "test.h"

static bool read(const char *value, bool allow_md5, struct ed_digest *ret)
{
        struct ed_auth_text text = { value, value + strlen(value) };
        struct ed_challenge challenge;

        CHECK_EQ(ed_challenge_next(&text, &challenge), 1);
        return ed_digest_read(&challenge, allow_md5, ret);
}

/* Returns the answer to a challenge, valid until the next call. */
static const char *answer(const char *value, const struct ed_digest_use *use)
{
        static char text[4096];
        struct ed_digest digest;
        struct ed_buf out;

        CHECK(read(value, true, &digest));
        ed_buf_init(&out, sizeof(text) - 1);
        CHECK_EQ(ed_digest_write(&digest, use, &out), 0);
        memcpy(text, ed_buf_data(&out), ed_buf_bytes(&out));
        text[ed_buf_bytes(&out)] = '\0';
        ed_buf_fini(&out);
        return text;
}

static void check_has(const char *text, const char *part)
{
        if (!strstr(text, part))
                test_fail(__FILE__, __LINE__, "'%s' is not in %s", part, text);
}

#define CNONCE "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
#define CHALLENGE(algorithm)                                                                       \
        "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm=" algorithm     \
        ", nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", "                               \
        "opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""

static const struct ed_digest_use mufasa = {
        .user = "Mufasa",
        .password = "Circle of Life",
        .method = "GET",
        .target = "/dir/index.html",
        .target_bytes = 15,
        .cnonce = CNONCE,
        .count = 1,
};

TEST(the_example_of_rfc_7616_is_answered_in_its_words)
{
        CHECK_STR(
                answer(CHALLENGE("SHA-256"), &mufasa),
                "Digest username=\"Mufasa\", realm=\"http-auth@example.org\", "
                "nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", uri=\"/dir/index.html\", "
                "algorithm=SHA-256, "
                "response=\"753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1\", "
                "opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\", qop=auth, "
                "cnonce=\"" CNONCE "\", nc=00000001");
        check_has(answer(CHALLENGE("MD5"), &mufasa),
                  "response=\"8ca523f5e9506fed4657c9700eebdbec\"");
}

/* The hashes are those of Python's hashlib. */
TEST(each_algorithm_is_computed)
{
        static const struct {
                const char *challenge;
                const char *response;
        } list[] = {
                { CHALLENGE("md5-SESS"),
                  "=MD5-sess, response=\"e783283f46242139c486a698fec7211d\"" },
                { CHALLENGE("SHA-256-sess"),
                  "=SHA-256-sess, response=\""
                  "2fd51b3a77ad75bad6afad6003e818d767133c46d9e2749e7f5232ae1ea3efd7\"" },
                { CHALLENGE("SHA-512-256"),
                  "=SHA-512-256, response=\""
                  "430d05014cecc49cab6fbe03176d41a1da86cbfe24a16580e22aaad928d960d0\"" },
                { CHALLENGE("SHA-512-256-sess"),
                  "=SHA-512-256-sess, response=\""
                  "3f2a34f923c38b0fb26dce2fdfc2ce326c23cecf86fbb1444f3e51fbbc2cb92e\"" },
        };

        for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
                check_has(answer(list[i].challenge, &mufasa), list[i].response);
}

TEST(the_examples_of_rfc_2617_and_2069_are_answered)
{
#define OLD "Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\""
        struct ed_digest_use use = mufasa;
        const char *text;

        use.password = "Circle Of Life";
        use.cnonce = "0a4f113b";
        text = answer(OLD ", qop=\"auth,auth-int\"", &use);
        check_has(text, "response=\"6629fae49393a05397450978507c4ef1\"");
        CHECK(!strstr(text, "algorithm"));
        use.password = "CircleOfLife";
        text = answer(OLD, &use);
        check_has(text, "response=\"1949323746fe6a43ef61f9606e7febea\"");
        CHECK(!strstr(text, "qop") && !strstr(text, "nc=") && !strstr(text, "cnonce"));
}

TEST(a_user_that_is_not_ascii_is_hashed_or_coded_if_the_server_asks)
{
#define DOE                                                                                        \
        "Digest realm=\"api@example.org\", qop=auth, algorithm=SHA-512-256, "                      \
        "nonce=\"5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK\""
        struct ed_digest_use use = {
                .user = "J\xc3\xa4s\xc3\xb8n Doe",
                .password = "Secret, or not?",
                .method = "GET",
                .target = "/doe.json",
                .target_bytes = 9,
                .cnonce = "NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm",
                .count = 1,
        };
        const char *text = answer(DOE ", charset=UTF-8, userhash=true", &use);

        check_has(text,
                  "username=\"793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b\"");
        check_has(text, ", userhash=true,");
        check_has(text, "7a4e1192babbba02e91182d2895bfdbf7adafc6e48d4e517ca301974843d840c");
        text = answer(DOE ", charset=UTF-8", &use);
        check_has(text, "Digest username*=UTF-8''J%C3%A4s%C3%B8n%20Doe, realm");
        text = answer(DOE, &use);
        check_has(text, "username=\"J\xc3\xa4s\xc3\xb8n Doe\"");
        use.user = "kim";
        text = answer(DOE ", charset=UTF-8", &use);
        check_has(text, "username=\"kim\"");
}

/* B49: Quotes and backslashes are escaped. */
TEST(texts_are_quoted_and_hashed_without_the_backslashes)
{
        struct ed_digest_use use = mufasa;
        const char *text;

        use.user = "a\"b\\c";
        use.count = 0xABCDEF01;
        text = answer("Digest realm=\"r\\\"\\\\x\", nonce=\"n\", algorithm=SHA-256, qop=auth",
                      &use);
        check_has(text, "username=\"a\\\"b\\\\c\", realm=\"r\\\"\\\\x\", nonce=\"n\"");
        check_has(text, "nc=abcdef01");
        check_has(text, "8771b94a3ea0e02935088c652d30c07b08e07ec59d2f684320cb4271a3424207");
}

TEST(md5_and_challenges_without_qop_are_refused_unless_allowed)
{
        struct ed_digest digest;

        CHECK(read(CHALLENGE("SHA-256"), false, &digest));
        CHECK(!read(CHALLENGE("MD5"), false, &digest));
        CHECK(!read(CHALLENGE("MD5-sess"), false, &digest));
        CHECK(!read("Digest realm=a, nonce=b, qop=auth", false, &digest));
        CHECK(read("Digest realm=a, nonce=b, qop=auth", true, &digest));
        CHECK(!read("Digest realm=a, nonce=b, algorithm=SHA-256", false, &digest));
        CHECK(read("Digest realm=a, nonce=b, algorithm=SHA-256", true, &digest));
}

TEST(other_challenges_are_refused)
{
        static const char *const texts[] = {
                "Basic realm=a, nonce=b, qop=auth",
                "Digest nonce=b, qop=auth",
                "Digest realm=a, qop=auth",
                "Digest realm=a, nonce=\"\", qop=auth",
                "Digest realm=a, nonce=b, qop=auth-int",
                "Digest realm=a, nonce=b, qop=\"authx, xauth\"",
                "Digest realm=a, nonce=b, qop=\"\"",
                "Digest realm=a, nonce=b, qop=auth, algorithm=SHA-1",
                "Digest realm=a, nonce=b, qop=auth, algorithm=\"\"",
                "Digest YWJj",
        };
        struct ed_digest digest;

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
                if (read(texts[i], true, &digest))
                        test_fail(__FILE__, __LINE__, "'%s' was read", texts[i]);
        CHECK(read("digest REALM=a, Nonce=b, QOP=\"auth-int , AUTH\", x=y, stale=TRUE", true,
                   &digest));
        CHECK(digest.is_stale);
        CHECK(read("digest realm=\"\", nonce=b, stale=1", true, &digest));
        CHECK(!digest.is_stale);
}

TEST(texts_of_a_challenge_have_at_most_512_bytes)
{
        char text[1024];
        struct ed_digest digest;

        snprintf(text, sizeof(text), "Digest realm=a, qop=auth, nonce=%0512d", 1);
        CHECK(read(text, true, &digest));
        CHECK_EQ(strlen(digest.nonce), 512);
        snprintf(text, sizeof(text), "Digest realm=a, qop=auth, nonce=%0513d", 1);
        CHECK(!read(text, true, &digest));
        snprintf(text, sizeof(text), "Digest realm=%0513d, qop=auth, nonce=1", 1);
        CHECK(!read(text, true, &digest));
        snprintf(text, sizeof(text), "Digest realm=a, qop=auth, nonce=1, opaque=%0513d", 1);
        CHECK(!read(text, true, &digest));
}

static bool next(const char *value, char out[ED_DIGEST_TEXT_ROOM])
{
        return ed_digest_read_next(value, strlen(value), out);
}

TEST(the_next_nonce_is_read)
{
        char out[ED_DIGEST_TEXT_ROOM];

        CHECK(next("rspauth=\"6629\", cnonce=\"0a4f\", nc=00000001, nextnonce=\"a\\\"b\", qop=auth",
                   out));
        CHECK_STR(out, "a\"b");
        CHECK(!next("qop=auth", out));
        CHECK(!next("nextnonce=\"\"", out));
        CHECK(!next("nextnonce=\"a", out));
        CHECK(!next("", out));
}

TEST(an_answer_that_does_not_fit_fails)
{
        struct ed_digest digest;
        struct ed_buf out;
        size_t whole;

        CHECK(read(CHALLENGE("SHA-256"), false, &digest));
        ed_buf_init(&out, ED_DIGEST_HEADER_MAX);
        CHECK_EQ(ed_digest_write(&digest, &mufasa, &out), 0);
        whole = ed_buf_bytes(&out);
        ed_buf_fini(&out);
        for (size_t max = 0; max < whole; max++) {
                ed_buf_init(&out, max);
                CHECK_EQ(ed_digest_write(&digest, &mufasa, &out), -EMSGSIZE);
                ed_buf_fini(&out);
        }
}
