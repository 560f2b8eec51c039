/*
 * test_json_value.c - values inside of a text: walks, paths, conversions; strings that are written.
 */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <time.h>

#include "eddy/error.h"
#include "eddy/json.h"

#include "test.h"

static const char answer[] =
        "{ \"id\": \"batch_1\", \"custom_id\": \"r\\u0065q-\\ud83d\\ude00\",\n"
        "  \"body\" : { \"model\" : \"m\", \"messages\": [ {\"role\":\"user\", "
        "\"content\":\"]}\\\"{[\"}, {} ] },\n"
        "  \"usage\":{\"total_tokens\":123,\"cost\":-1.5e-3,\"list\":[[1,2],[],[3]]},\"id\":2,\n"
        "  \"on\":true,\"off\":false,\"none\":null}";

static struct eddy_json_value parsed(const char *text)
{
        struct eddy_json_value value = { 0 };

        CHECK_EQ(eddy_json_parse(text, strlen(text), NULL, &value, NULL), 0);
        return value;
}

static struct eddy_json_value found(const char *path)
{
        struct eddy_json_value root = parsed(answer), value = { 0 };

        CHECK_EQ(eddy_json_get(&root, path, &value), 0);
        return value;
}

static void check_slice(const char *path, const char *slice)
{
        struct eddy_json_value value = found(path);

        CHECK_EQ(value.bytes, strlen(slice));
        CHECK_EQ(memcmp(value.text, slice, value.bytes), 0);
}

TEST(a_path_finds_the_slice_of_a_value)
{
        check_slice("id", "\"batch_1\"");
        check_slice("body.messages[0].content", "\"]}\\\"{[\"");
        check_slice("body.messages[1]", "{}");
        check_slice("body.messages", "[ {\"role\":\"user\", \"content\":\"]}\\\"{[\"}, {} ]");
        check_slice("usage.total_tokens", "123");
        check_slice("usage.list[2][0]", "3");
        check_slice("usage.list[0]", "[1,2]");
        check_slice("on", "true");
        check_slice("none", "null");
        check_slice("", answer);
        CHECK_EQ(found("usage").kind, EDDY_JSON_OBJECT);
        CHECK_EQ(found("usage.list").kind, EDDY_JSON_ARRAY);
        CHECK_EQ(found("off").kind, EDDY_JSON_BOOL);
        CHECK_EQ(found("none").kind, EDDY_JSON_NULL);
}

TEST(a_path_that_leads_nowhere_is_enoent_and_a_wrong_one_einval)
{
        static const char *const nowhere[] = { "x",
                                               "id.x",
                                               "id[0]",
                                               "usage.list[3]",
                                               "body[0]",
                                               "usage.list.x",
                                               "usage.list[1][0]",
                                               "none.x",
                                               "usage.list[18446744073709551615]" };
        static const char *const wrong[] = {
                ".",  "a.", ".a",   "a..b", "[",         "[]",   "[-1]",
                "[1", "a]", "a[x]", "[0]a", "usage.[0]", "x..y", "usage.list[18446744073709551616]"
        };
        struct eddy_json_value root = parsed(answer), value = { .kind = 42 };

        for (size_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++)
                CHECK_EQ(eddy_json_get(&root, nowhere[i], &value), -ENOENT);
        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
                if (eddy_json_get(&root, wrong[i], &value) != -EINVAL)
                        test_fail(__FILE__, __LINE__, "%s", wrong[i]);
        CHECK_EQ(value.kind, 42);
}

TEST(a_walk_gives_names_and_values_in_order)
{
        static const char *const names[] = { "id", "custom_id", "body", "usage",
                                             "id", "on",        "off",  "none" };
        struct eddy_json_value root = parsed(answer), name, value;
        struct eddy_json_cursor cursor;
        size_t n = 0;

        CHECK_EQ(eddy_json_walk(&root, &cursor), 0);
        for (; eddy_json_next(&cursor, &name, &value); n++)
                CHECK(eddy_json_is(&name, names[n]));
        CHECK_EQ(n, 8);
        CHECK(!eddy_json_next(&cursor, &name, &value));

        value = found("usage.list[0]");
        CHECK_EQ(eddy_json_walk(&value, &cursor), 0);
        for (n = 0; eddy_json_next(&cursor, &name, &value); n++) {
                CHECK_EQ(name.kind, EDDY_JSON_NONE);
                CHECK_EQ(value.kind, EDDY_JSON_NUMBER);
        }
        CHECK_EQ(n, 2);
        value = found("usage.list[1]");
        CHECK_EQ(eddy_json_walk(&value, &cursor), 0);
        CHECK(!eddy_json_next(&cursor, NULL, &value));
        value = found("on");
        CHECK_EQ(eddy_json_walk(&value, &cursor), EDDY_E_FIELD_TYPE);
        value = (struct eddy_json_value){ 0 };
        CHECK_EQ(eddy_json_walk(&value, &cursor), EDDY_E_FIELD_TYPE);
}

static void walk_all(const struct eddy_json_value *value)
{
        struct eddy_json_value name, item;
        struct eddy_json_cursor cursor;
        char text[64];
        int64_t bytes = eddy_json_string(value, text, sizeof(text));
        double number;

        CHECK(bytes < (int64_t) sizeof(text));
        (void) eddy_json_is(value, "x");
        if (eddy_json_double(value, &number) == 0)
                CHECK(isfinite(number));
        if (eddy_json_walk(value, &cursor) < 0)
                return;
        while (eddy_json_next(&cursor, &name, &item))
                walk_all(&item);
}

/* The contract: after a change of the text results are wrong, but reads stay inside. */
TEST(a_walk_over_a_text_that_has_changed_ends_and_stays_inside)
{
        size_t bytes = sizeof(answer) - 1;
        char *text = malloc(bytes);

        CHECK(text);
        memcpy(text, answer, bytes);
        for (size_t at = 0; at < bytes; at++) {
                static const char changes[] = "\0 \"\\{}[],:u0x";

                for (size_t c = 0; c < sizeof(changes) - 1; c++) {
                        struct eddy_json_value value = { text, bytes, EDDY_JSON_OBJECT };

                        text[at] = changes[c];
                        walk_all(&value);
                        CHECK(eddy_json_get(&value, "usage.list[2][0]", &value) <= 0);
                }
                text[at] = answer[at];
        }
        for (size_t n = 0; n < bytes; n++) {
                char *cut = malloc(n ? n : 1);
                struct eddy_json_value value = { cut, n, EDDY_JSON_OBJECT };

                CHECK(cut);
                memcpy(cut, answer, n);
                walk_all(&value);
                value = (struct eddy_json_value){ cut, n, EDDY_JSON_STRING };
                walk_all(&value);
                value = (struct eddy_json_value){ cut, n, EDDY_JSON_NUMBER };
                walk_all(&value);
                free(cut);
        }
        free(text);
}

static void check_string(const char *text, const char *expected, size_t bytes)
{
        struct eddy_json_value value = parsed(text);
        char out[64];

        CHECK_EQ(eddy_json_string(&value, NULL, 0), bytes);
        CHECK_EQ(eddy_json_string(&value, out, bytes), -EMSGSIZE);
        CHECK_EQ(eddy_json_string(&value, out, bytes + 1), bytes);
        CHECK_EQ(memcmp(out, expected, bytes + 1), 0);
        if (strlen(expected) == bytes)
                CHECK(eddy_json_is(&value, expected));
        CHECK(!eddy_json_is(&value, "another"));
}

TEST(strings_are_converted_to_utf8)
{
        check_string("\"\"", "", 0);
        check_string("\"plain\"", "plain", 5);
        check_string("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8);
        check_string("\"\\u0041\\u00e9\\u20AC\"", "A\xc3\xa9\xe2\x82\xac", 6);
        check_string("\"\\ud83d\\ude00!\"", "\xf0\x9f\x98\x80!", 5);
        check_string("\"\\uD800\\uDC00\\udbff\\udfff\"", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", 8);
        check_string("\"\\u0000a\"", "\0a", 2);
        check_string("\"\xc3\xa9\"", "\xc3\xa9", 2);
}

TEST(half_of_a_pair_has_no_utf8_and_the_output_is_untouched)
{
        static const char *const texts[] = { "\"a\\ud800\"",        "\"a\\udc00\"",
                                             "\"a\\ud800x\"",       "\"a\\ud800\\n\"",
                                             "\"a\\ud800\\u0041\"", "\"a\\ud800\\ud800\"",
                                             "\"a\\udc00\\ud800\"", "\"a\\ud800\\ue000\"",
                                             "\"a\\udbff\\udbff\"" };

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
                struct eddy_json_value value = parsed(texts[i]);
                char out[16] = "before";

                CHECK_EQ(eddy_json_string(&value, out, sizeof(out)), EDDY_E_FIELD_TEXT);
                CHECK_STR(out, "before");
                CHECK(!eddy_json_is(&value, "a"));
        }
}

TEST(integers_are_exact_to_their_limits)
{
        static const struct {
                const char *text;
                int error, error_unsigned;
                int64_t number;
        } cases[] = {
                { "0", 0, 0, 0 },
                { "-0", 0, 0, 0 },
                { "9223372036854775807", 0, 0, INT64_MAX },
                { "9223372036854775808", EDDY_E_FIELD_RANGE, 0, 0 },
                { "-9223372036854775808", 0, EDDY_E_FIELD_RANGE, INT64_MIN },
                { "-9223372036854775809", EDDY_E_FIELD_RANGE, EDDY_E_FIELD_RANGE, 0 },
                { "18446744073709551615", EDDY_E_FIELD_RANGE, 0, 0 },
                { "18446744073709551616", EDDY_E_FIELD_RANGE, EDDY_E_FIELD_RANGE, 0 },
                { "99999999999999999999999999", EDDY_E_FIELD_RANGE, EDDY_E_FIELD_RANGE, 0 },
                { "1.0", EDDY_E_FIELD_TYPE, EDDY_E_FIELD_TYPE, 0 },
                { "1e3", EDDY_E_FIELD_TYPE, EDDY_E_FIELD_TYPE, 0 },
                { "99999999999999999999999999.5", EDDY_E_FIELD_TYPE, EDDY_E_FIELD_TYPE, 0 },
                { "\"1\"", EDDY_E_FIELD_TYPE, EDDY_E_FIELD_TYPE, 0 },
                { "true", EDDY_E_FIELD_TYPE, EDDY_E_FIELD_TYPE, 0 },
                { "null", EDDY_E_FIELD_TYPE, EDDY_E_FIELD_TYPE, 0 },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct eddy_json_value value = parsed(cases[i].text);
                int64_t number = 77;
                uint64_t positive = 77;

                CHECK_EQ(eddy_json_int64(&value, &number), cases[i].error);
                CHECK_EQ(number, cases[i].error ? 77 : cases[i].number);
                CHECK_EQ(eddy_json_uint64(&value, &positive), cases[i].error_unsigned);
                CHECK_EQ(positive == 77, cases[i].error_unsigned != 0);
        }
}

TEST(bools_are_true_or_false_only)
{
        struct eddy_json_value yes = parsed("true"), no = parsed("false"), other = parsed("1");
        bool is = false;

        CHECK_EQ(eddy_json_bool(&yes, &is), 0);
        CHECK(is);
        CHECK_EQ(eddy_json_bool(&no, &is), 0);
        CHECK(!is);
        CHECK_EQ(eddy_json_bool(&other, &is), EDDY_E_FIELD_TYPE);
}

static double double_of(const char *text)
{
        struct eddy_json_value value = parsed(text);
        double number = 0;

        CHECK_EQ(eddy_json_double(&value, &number), 0);
        return number;
}

TEST(doubles_are_the_nearest_and_finite)
{
        struct eddy_json_value value = parsed("1e309");
        char long_one[EDDY_JSON_NUMBER_BYTES + 3];
        double number = 5;

        CHECK(double_of("0.1") == 0.1);
        CHECK(double_of("-1.5E+3") == -1500);
        CHECK(double_of("9007199254740993") == 9007199254740992.0);
        CHECK(double_of("9007199254740995") == 9007199254740996.0);
        CHECK(double_of("-18446744073709551615") == -18446744073709551616.0);
        CHECK(double_of("18446744073709551616") == 18446744073709551616.0);
        CHECK(double_of("1.7976931348623157e308") == 1.7976931348623157e308);
        CHECK(double_of("5e-324") == 5e-324);
        CHECK(double_of("1e-400") == 0);
        CHECK(signbit(double_of("-0")) && signbit(double_of("-0.0")));
        CHECK_EQ(eddy_json_double(&value, &number), EDDY_E_FIELD_RANGE);
        memset(long_one, '1', sizeof(long_one));
        long_one[1] = '.';
        long_one[EDDY_JSON_NUMBER_BYTES] = '\0';
        CHECK(double_of(long_one) > 1.1);
        long_one[EDDY_JSON_NUMBER_BYTES] = '1';
        long_one[EDDY_JSON_NUMBER_BYTES + 1] = '\0';
        value = parsed(long_one);
        CHECK_EQ(eddy_json_double(&value, &number), EDDY_E_FIELD_RANGE);
        CHECK(number == 5);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void check_quoted(const char *data, size_t bytes, const char *expected)
{
        size_t room = eddy_json_quoted_bytes(data, bytes);
        char *in = malloc(bytes ? bytes : 1), *out = malloc(room);

        CHECK(in && out);
        memcpy(in, data, bytes);
        CHECK_EQ(room, strlen(expected));
        CHECK_EQ(eddy_json_quote(in, bytes, out), room);
        CHECK_EQ(memcmp(out, expected, room), 0);
        free(in);
        free(out);
}

TEST(strings_are_written_so_that_they_can_be_read)
{
        check_quoted("", 0, "\"\"");
        check_quoted("a\"b\\c/", 6, "\"a\\\"b\\\\c/\"");
        check_quoted("\n\r\t\b\f\0\x1f\x7f", 8, "\"\\n\\r\\t\\b\\f\\u0000\\u001f\\u007f\"");
        check_quoted("0123456789abcdef\n0123456789abcdef", 33,
                     "\"0123456789abcdef\\n0123456789abcdef\"");
        check_quoted("\xc3\xa9\xf0\x9f\x98\x80", 6, "\"\xc3\xa9\xf0\x9f\x98\x80\"");
        check_quoted("\xe2\x82", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"");
}

TEST(random_bytes_are_written_as_valid_strings_and_utf8_comes_back)
{
        unsigned seed = 7;

        for (int round = 0; round < 20000; round++) {
                char data[40], quoted[6 * 40 + 2], back[4 * 40];
                size_t bytes = (size_t) round % sizeof(data), n;
                struct eddy_json_value value;

                for (size_t i = 0; i < bytes; i++) {
                        unsigned kind = (seed = seed * 1103515245 + 12345) >> 28;
                        unsigned char c = (unsigned char) (seed >> 16);

                        data[i] = (char) (kind < 12 ? c & 0x7f : c);
                }
                n = eddy_json_quote(data, bytes, quoted);
                CHECK_EQ(n, eddy_json_quoted_bytes(data, bytes));
                CHECK_EQ(eddy_json_parse(quoted, n, NULL, &value, NULL), 0);
                CHECK_EQ(value.bytes, n);
                CHECK(eddy_json_string(&value, back, sizeof(back)) >= (int64_t) bytes);
                if (eddy_json_is_utf8(data, bytes))
                        CHECK_EQ(memcmp(back, data, bytes), 0);
                CHECK(eddy_json_is_utf8(back, strlen(back)));
        }
}

static void sum_sizes(const char *text, size_t bytes, int *counts)
{
        if (eddy_json_is_utf8(text, bytes))
                counts[bytes]++;
}

/* RFC 3629: 128 texts of one byte, and so on. */
TEST(utf8_has_the_number_of_texts_that_rfc_3629_gives)
{
        int counts[4] = { 0 };
        char text[3];

        for (int a = 0; a < 256; a++) {
                text[0] = (char) a;
                sum_sizes(text, 1, counts);
                for (int b = 0; b < 256; b++) {
                        text[1] = (char) b;
                        sum_sizes(text, 2, counts);
                        for (int c = 0; c < 256; c++) {
                                text[2] = (char) c;
                                sum_sizes(text, 3, counts);
                        }
                }
        }
        CHECK_EQ(counts[1], 128);
        CHECK_EQ(counts[2], 128 * 128 + 1920);
        CHECK_EQ(counts[3], 128 * 128 * 128 + 2 * 128 * 1920 + 61440);
}
