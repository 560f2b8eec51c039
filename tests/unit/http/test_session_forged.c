/*
 * test_session_forged.c - each way to forge a session's cookie, by name, with the number of its variants: a
 * server accepts none. Several cookies of the name; cookies that were planted before a login.
 */
#include <stdlib.h>
#include <string.h>

#include "eddy/test.h"
#include "session_test.h"

enum { VALUE_BYTES = 2 * ED_SESSION_TEXT_MAX };

/* ---- a valid cookie, of which the forms are made ---------------------------- */

static struct {
        char text[ED_SESSION_TEXT_MAX + 1];
        size_t chars;
        unsigned char raw[ED_SESSION_ROOM];
        size_t bytes; /* of 'raw', with the signature */
        int64_t now_s;
} good, other;

static void sign_good(void)
{
        good.now_s = eddy_time_of_day() / EDDY_SEC(1);
        good.chars = session_sign("ada", "session", KEY, good.now_s, good.now_s + 500, good.text);
        good.bytes = (size_t) eddy_base64_decode(good.text, good.chars, good.raw);
        other.chars = session_sign("eve", "session", KEY, good.now_s, good.now_s + 500, other.text);
        other.bytes = (size_t) eddy_base64_decode(other.text, other.chars, other.raw);
        CHECK_EQ(good.bytes, other.bytes);
}

static bool encode(const unsigned char *raw, size_t bytes, char *out)
{
        eddy_base64_encode(raw, bytes, out);
        return true;
}

/* Write a cookie of the good one's bytes, with another signature. */
static bool encode_with(const unsigned char *signature, char *out)
{
        unsigned char raw[ED_SESSION_ROOM];

        memcpy(raw, good.raw, good.bytes - ED_HMAC_BYTES);
        memcpy(raw + good.bytes - ED_HMAC_BYTES, signature, ED_HMAC_BYTES);
        return encode(raw, good.bytes, out);
}

/* Sign any bytes as the server would. */
static bool encode_signed(unsigned char *raw, size_t bytes, char *out)
{
        struct ed_session_keys keys = { .count = 0 };

        CHECK_EQ(ed_session_keys_add(&keys, "session", KEY, 32), 0);
        CHECK_EQ(ed_hmac_sha256(keys.key[0], ED_HMAC_BYTES, raw, bytes, raw + bytes), 0);
        return encode(raw, bytes + ED_HMAC_BYTES, out);
}

static bool sign_for(const char *name, const char *key, int64_t begun_s, int64_t ends_s, char *out)
{
        session_sign("ada", name, key, good.now_s + begun_s, good.now_s + ends_s, out);
        return true;
}

/* ---- the forms: each writes its variant 'i', or returns false after the last -- */

static bool with_a_bit_flipped(size_t i, char *out)
{
        unsigned char raw[ED_SESSION_ROOM];

        if (i >= good.bytes * 8)
                return false;
        memcpy(raw, good.raw, good.bytes);
        raw[i / 8] ^= (unsigned char) (1 << i % 8);
        return encode(raw, good.bytes, out);
}

static bool cut_at_a_character(size_t i, char *out)
{
        if (i < good.chars)
                return snprintf(out, good.chars + 1, "%.*s", (int) i, good.text) >= 0;
        return i < 2 * good.chars - 1 &&
               snprintf(out, good.chars + 1, "%s", good.text + i - good.chars + 1) >= 0;
}

static bool with_more_characters(size_t i, char *out)
{
        static const char *const more[] = { "A", "=", "==", "AAAA", ".", "%00", "%3D", "&x", "/" };

        if (i >= 2 * sizeof(more) / sizeof(more[0]))
                return false;
        if (i % 2)
                snprintf(out, VALUE_BYTES, "%s%s", more[i / 2], good.text);
        else
                snprintf(out, VALUE_BYTES, "%s%s", good.text, more[i / 2]);
        return true;
}

/* The first bytes of a session, and the rest of another one. */
static bool of_two_sessions(size_t i, char *out)
{
        unsigned char raw[ED_SESSION_ROOM];
        const size_t user_at = good.bytes - ED_HMAC_BYTES - sizeof("ada");

        /* Up to the name, the sessions are the same; the last bytes may be so too. */
        if (user_at + 1 + i + 4 > good.bytes)
                return false;
        memcpy(raw, good.raw, good.bytes);
        memcpy(raw + user_at + 1 + i, other.raw + user_at + 1 + i, good.bytes - user_at - 1 - i);
        return encode(raw, good.bytes, out);
}

static bool with_a_signature_that_needs_no_key(size_t i, char *out)
{
        static const char *const keys[] = { "", "session", "secret", "eddy session cookie session",
                                            KEY };
        unsigned char signature[ED_HMAC_BYTES];
        const size_t signed_bytes = good.bytes - ED_HMAC_BYTES;

        if (i == 0 || i == 1) {
                memset(signature, i ? 0xff : 0, sizeof(signature));
                return encode_with(signature, out);
        }
        if (i == 2)
                return encode(good.raw, signed_bytes, out);
        if (i - 3 >= sizeof(keys) / sizeof(keys[0]))
                return false;
        /* The last is the program's key, from which that of the cookies is derived. */
        CHECK_EQ(
                ed_hmac_sha256(keys[i - 3], strlen(keys[i - 3]), good.raw, signed_bytes, signature),
                0);
        return encode_with(signature, out);
}

static bool signed_by_another_key(size_t i, char *out)
{
        char key[] = KEY;

        if (i >= 32)
                return i == 32 && sign_for("session", OLD_KEY, 0, 500, out);
        key[i] ^= 1;
        return sign_for("session", key, 0, 500, out);
}

static bool signed_for_another_name(size_t i, char *out)
{
        static const char *const names[] = { "__Host-session", "Session", "SESSION", "session2",
                                             "sessio",         "other",   "id",      "" };

        return i < sizeof(names) / sizeof(names[0]) && sign_for(names[i], KEY, 0, 500, out);
}

static bool that_has_ended(size_t i, char *out)
{
        static const int32_t day = 24 * 3600;
        const struct {
                int64_t begun_s, ends_s;
        } times[] = { { -10, 0 },
                      { -10, -1 },
                      { 0, 0 },
                      { -7 * day, 500 },
                      { -400 * day, 400 * day },
                      { 0, -good.now_s },
                      { 0, INT64_MIN / 2 } };

        return i < sizeof(times) / sizeof(times[0]) &&
               sign_for("session", KEY, times[i].begun_s, times[i].ends_s, out);
}

static bool in_another_spelling(size_t i, char *out)
{
        static const struct {
                const char *before, *after;
        } more[] = { { "", "=" },   { "", "==" }, { " ", "%20" }, { "%22", "%22" },
                     { "'", "'" },  { "", "," },  { "(", ")" },   { "%", "" },
                     { "", "\tA" }, { "", " A" }, { "\"", "" } };
        const size_t count = sizeof(more) / sizeof(more[0]);

        if (i < count)
                return snprintf(out, VALUE_BYTES, "%s%s%s", more[i].before, good.text,
                                more[i].after) >= 0;
        memcpy(out, good.text, good.chars + 1);
        if (i == count) /* the letters of another base64, if there are any */
                return strpbrk(out, "+/") ? *strpbrk(out, "+/") = '-' : (out[0] = '-');
        if (i == count + 1)
                for (char *at = out; *at; at++)
                        *at = *at >= 'a' && *at <= 'z' ? (char) (*at - 'a' + 'A') : *at;
        return i == count + 1;
}

/* Signed with the right key, but not in the format of a session. */
static bool in_another_format(size_t i, char *out)
{
        unsigned char raw[2 * ED_SESSION_ROOM] = { 0 };
        size_t bytes = good.bytes - ED_HMAC_BYTES;

        memcpy(raw, good.raw, bytes);
        switch (i) {
        case 0:
                raw[0] = 0;
                break;
        case 1:
                raw[0] = 2;
                break;
        case 2:
                bytes--; /* the value's NUL */
                break;
        case 3:
                raw[bytes++] = 'x';
                break;
        case 4:
                bytes -= sizeof("ada"); /* a name without a value */
                break;
        case 5:
                bytes = ED_SESSION_HEAD_BYTES - 1;
                break;
        case 6:
                bytes = ED_SESSION_BYTES_MAX + 1;
                break;
        default:
                return false;
        }
        return encode_signed(raw, bytes, out);
}

static bool of_any_text(size_t i, char *out)
{
        static const char *const texts[] = {
                "",
                "ada",
                "user=ada",
                "{\"user\":\"ada\"}",
                "eyJhbGciOiJub25lIn0.eyJ1c2VyIjoiYWRhIn0.",
                "00000000-0000-4000-8000-000000000000",
                "AQ==",
                "%00",
                "true",
                "deleted",
                "\xff\xfe",
        };
        const size_t count = sizeof(texts) / sizeof(texts[0]);

        if (i < count)
                return snprintf(out, VALUE_BYTES, "%s", texts[i]) >= 0;
        if (i > count + 1)
                return false;
        /* Larger than any cookie, of which the good one may be the begin. */
        memset(out, 'A', ED_SESSION_TEXT_MAX + 1000);
        out[ED_SESSION_TEXT_MAX + 1000] = '\0';
        if (i == count)
                memcpy(out, good.text, good.chars);
        return true;
}

static const struct {
        const char *name;
        bool (*make)(size_t i, char *out);
        size_t count;
} forms[] = {
        { "with a bit flipped", with_a_bit_flipped, 592 },
        { "cut at a character", cut_at_a_character, 199 },
        { "with more characters", with_more_characters, 18 },
        { "of two sessions", of_two_sessions, 32 },
        { "with a signature that needs no key", with_a_signature_that_needs_no_key, 8 },
        { "signed by another key", signed_by_another_key, 33 },
        { "signed for another name", signed_for_another_name, 8 },
        { "that has ended", that_has_ended, 7 },
        { "in another spelling", in_another_spelling, 13 },
        { "signed in another format", in_another_format, 7 },
        { "of any text", of_any_text, 13 },
};

/* The last requests of a browser were answered as without a session. */
static void check_refused(struct site *site, const char *name, size_t i)
{
        const char *user = session_visit(site, session_show);

        if (strcmp(user, "none") != 0 || browser.got->status != 200 ||
            strstr(browser.got->text, "Set-Cookie"))
                test_fail(__FILE__, __LINE__, "a cookie %s, variant %zu: %d %s", name, i,
                          browser.got->status, user);
}

GUARDED_TEST(no_forged_cookie_of_any_form_is_accepted, session_build)
{
        static char value[VALUE_BYTES];

        sign_good();
        for (size_t f = 0; f < sizeof(forms) / sizeof(forms[0]); f++) {
                size_t i = 0;

                for (; forms[f].make(i, value); i++) {
                        CHECK(strcmp(value, good.text) != 0);
                        snprintf(browser.cookie, sizeof(browser.cookie), "session=%s", value);
                        check_refused(site, forms[f].name, i);
                }
                if (i != forms[f].count)
                        test_fail(__FILE__, __LINE__, "%zu cookies %s", i, forms[f].name);
        }
        snprintf(browser.cookie, sizeof(browser.cookie), "session=%s", good.text);
        CHECK_STR(session_visit(site, session_show), "ada");
}

GUARDED_TEST(a_valid_value_under_any_other_name_is_no_session, session_build)
{
        static const char *const names[] = { "Session",        "SESSION",        "session2",
                                             "xsession",       "session ",       "session[]",
                                             "__Host-session", "$session",       "session%00",
                                             "sess%69on",      "%73ession",      "session.0",
                                             "\"session\"",    "\xc2\xa0session" };

        sign_good();
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                snprintf(browser.cookie, sizeof(browser.cookie), "%s=%s", names[i], good.text);
                check_refused(site, names[i], i);
        }
}

/* ---- several cookies -------------------------------------------------------- */

static void check_user(struct site *site, const char *cookies, const char *user)
{
        snprintf(browser.cookie, sizeof(browser.cookie), "%s", cookies);
        CHECK_STR(session_visit(site, session_show), user);
        CHECK_HAS_NOT(browser.got->text, "Set-Cookie");
}

/* Browsers send the cookie of the longest path first, which another program may have planted. */
GUARDED_TEST(the_first_valid_cookie_is_the_session_whatever_is_before_it, session_build)
{
        static const char *const before[] = { "forged", "", "AQ==", "\"" };
        static char ended[ED_SESSION_TEXT_MAX + 1], text[sizeof(browser.cookie)];

        sign_good();
        sign_for("session", KEY, -100, -1, ended);
        for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
                snprintf(text, sizeof(text), "session=%s; session=%s", before[i], good.text);
                check_user(site, text, "ada");
                snprintf(text, sizeof(text), "session=%s; session=%s", good.text, before[i]);
                check_user(site, text, "ada");
        }
        snprintf(text, sizeof(text), "session=%s; a=b; session=%s", ended, good.text);
        check_user(site, text, "ada");
        snprintf(text, sizeof(text), "session=forged\r\nX: y\r\nCookie: session=%s", good.text);
        check_user(site, text, "ada");
        snprintf(text, sizeof(text), "session=%s; session=%s", other.text, good.text);
        check_user(site, text, "eve");
        snprintf(text, sizeof(text), "session=%s; session=forged", ended);
        check_user(site, text, "none");
}

GUARDED_TEST(a_request_has_at_most_32_cookies_verified, session_build)
{
        static char text[8192];
        int n = 0;

        sign_good();
        for (int i = 0; i < 32; i++) {
                CHECK(i == 0 || text[0]);
                snprintf(text + n, sizeof(text) - (size_t) n, "session=%s", good.text);
                check_user(site, text, "ada");
                n += snprintf(text + n, sizeof(text) - (size_t) n, "session=%.*s; ",
                              (int) good.chars - 4, good.text);
        }
        snprintf(text + n, sizeof(text) - (size_t) n, "session=%s", good.text);
        check_user(site, text, "none");
}

/* ---- fixation --------------------------------------------------------------- */

static char ids[2][EDDY_UUID_TEXT_BYTES];

static int note_and_log_in(eddy_http_exchange *exchange, void *arg)
{
        eddy_http_session *session = eddy_http_exchange_session(exchange);
        int err;

        (void) arg;
        snprintf(ids[0], sizeof(ids[0]), "%s", eddy_http_session_id(session));
        err = session_log_in(exchange, arg);
        snprintf(ids[1], sizeof(ids[1]), "%s", eddy_http_session_id(session));
        CHECK(!eddy_http_session_get(session, "next"));
        return err;
}

/* Log in with what was planted; the person who planted it gets nothing by it. */
static void check_planted(struct site *site, const char *planted, const char *its_user)
{
        snprintf(browser.cookie, sizeof(browser.cookie), "%s", planted);
        CHECK_STR(session_visit(site, note_and_log_in), "ada");
        CHECK(strlen(ids[1]) == 36 && strcmp(ids[0], ids[1]) != 0);
        CHECK(strcmp(browser.cookie, planted) != 0);
        CHECK_STR(session_visit(site, session_show), "ada");
        CHECK_STR(session_visit(site, session_log_out), "none");
        CHECK_STR(browser.cookie, "");
        snprintf(browser.cookie, sizeof(browser.cookie), "%s", planted);
        CHECK_STR(session_visit(site, session_show), its_user);
}

static int begin_without_a_user(eddy_http_exchange *exchange, void *arg)
{
        eddy_http_session *session = eddy_http_exchange_session(exchange);

        (void) arg;
        CHECK_EQ(eddy_http_session_set(session, "next", "https://evil.test/"), 0);
        return session_answer(exchange, session);
}

GUARDED_TEST(a_login_changes_the_identifier_and_the_cookie_whatever_was_planted, session_build)
{
        static char text[sizeof(browser.cookie)], ended[ED_SESSION_TEXT_MAX + 1];

        sign_good();
        check_planted(site, "", "none");
        check_planted(site, "session=forged", "none");
        CHECK_STR(session_visit(site, begin_without_a_user), "none");
        snprintf(text, sizeof(text), "%s", browser.cookie);
        check_planted(site, text, "none");
        snprintf(text, sizeof(text), "session=%s", other.text);
        check_planted(site, text, "eve");
        snprintf(text, sizeof(text), "session=forged; session=%s", other.text);
        check_planted(site, text, "eve");
        sign_for("session", KEY, -100, -1, ended);
        snprintf(text, sizeof(text), "session=%s", ended);
        check_planted(site, text, "none");
        sign_for("session", OLD_KEY, 0, 500, ended);
        snprintf(text, sizeof(text), "session=%s", ended);
        check_planted(site, text, "none");
}
