/*
 * test_draft.c - lines in memory: JSON strings are always valid, bodies that
 * are no text become base64, numbers read as people write them, and a text
 * over its maximum says so instead of being cut.
 */
#include "test.h"

#include "common/draft.h"
#include "eddy/alloc.h"
#include "eddy/json.h"
#include "starve.h"

/* What 'text' holds, for CHECK_STR. */
static const char *str(struct ed_draft *text)
{
        ed_draft_add(text, "", 1);
        return text->data;
}

static void check_json(const char *data, size_t bytes, const char *expected)
{
        struct ed_draft text = { 0 };

        ed_draft_add_json(&text, data, bytes);
        CHECK(ed_draft_is_whole(&text));
        CHECK_STR(str(&text), expected);
        ed_draft_fini(&text);
}

static void check_body(const char *data, size_t bytes, const char *expected)
{
        struct ed_draft text = { 0 };

        ed_draft_add_json_body(&text, data, bytes);
        CHECK_STR(str(&text), expected);
        ed_draft_fini(&text);
}

TEST(json_escapes_each_byte_that_json_forbids)
{
        check_json("", 0, "\"\"");
        check_json("plain", 5, "\"plain\"");
        check_json("a\"b\\c", 5, "\"a\\\"b\\\\c\"");
        check_json("\n\r\t\b\f", 5, "\"\\n\\r\\t\\b\\f\"");
        check_json("\0\x1f\x7f", 3, "\"\\u0000\\u001f\\u007f\"");
}

TEST(json_keeps_utf8_and_replaces_other_bytes)
{
        check_json("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8c\x8a", 11,
                   "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8c\x8a\"");
        check_json("a\xff"
                   "b",
                   3,
                   "\"a\xef\xbf\xbd"
                   "b\"");
        /* A sequence that the end cuts is replaced byte by byte. */
        check_json("\xe2\x82", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"");
}

TEST(utf8_knows_the_limits_of_rfc_3629)
{
        static const struct {
                const char *bytes;
                bool valid;
        } cases[] = {
                { "\xc2\x80", true },
                { "\xc1\xbf", false },
                { "\xe0\xa0\x80", true },
                { "\xe0\x9f\xbf", false },
                { "\xed\x9f\xbf", true },
                { "\xed\xa0\x80", false }, /* a surrogate */
                { "\xee\x80\x80", true },
                { "\xf0\x90\x80\x80", true },
                { "\xf0\x8f\xbf\xbf", false },
                { "\xf4\x8f\xbf\xbf", true },
                { "\xf4\x90\x80\x80", false },
                { "\xf5\x80\x80\x80", false },
                { "\x80", false },
                { "\xc3(", false },
                { "\xe2\x82(", false },
                { "\xf0\x9f\x8c(", false },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                CHECK_EQ(eddy_json_is_utf8(cases[i].bytes, strlen(cases[i].bytes)), cases[i].valid);
}

TEST(utf8_never_reads_after_its_end)
{
        /* Each in a block of its own size, so that a sanitizer sees one byte more. */
        static const char whole[] = "\xf0\x9f\x8c\x8a";

        for (size_t bytes = 1; bytes < 4; bytes++) {
                char *cut = eddy_malloc(bytes);

                CHECK(cut);
                memcpy(cut, whole, bytes);
                CHECK(!eddy_json_is_utf8(cut, bytes));
                eddy_free(cut);
        }
}

TEST(body_is_a_string_or_base64)
{
        check_body("", 0, "\"\"");
        check_body("{}\n", 3, "\"{}\\n\"");
        check_body("a\0b", 3, "\"a\\u0000b\"");
        check_body("\xff", 1, "{\"_base64\":\"/w==\"}");
        check_body("\xff\xfe", 2, "{\"_base64\":\"//4=\"}");
        check_body("\xff\xfe\xfd", 3, "{\"_base64\":\"//79\"}");
        check_body("\xff"
                   "abcd",
                   5, "{\"_base64\":\"/2FiY2Q=\"}");
}

TEST(numbers_are_written_whole)
{
        struct ed_draft text = { 0 };

        ed_draft_add_u64(&text, 0);
        ed_draft_add_str(&text, " ");
        ed_draft_add_u64(&text, UINT64_MAX);
        ed_draft_add_str(&text, " ");
        ed_draft_add_grouped(&text, 999);
        ed_draft_add_str(&text, " ");
        ed_draft_add_grouped(&text, 1000);
        ed_draft_add_str(&text, " ");
        ed_draft_add_grouped(&text, UINT64_MAX);
        CHECK_STR(str(&text), "0 18446744073709551615 999 1,000 18,446,744,073,709,551,615");
        ed_draft_fini(&text);
}

TEST(milliseconds_have_one_decimal_and_are_rounded)
{
        struct ed_draft text = { 0 };

        ed_draft_add_ms(&text, 0);
        ed_draft_add_str(&text, " ");
        ed_draft_add_ms(&text, 49999);
        ed_draft_add_str(&text, " ");
        ed_draft_add_ms(&text, 50000);
        ed_draft_add_str(&text, " ");
        ed_draft_add_ms(&text, 2500000000);
        ed_draft_add_str(&text, " ");
        ed_draft_add_ms(&text, -5);
        CHECK_STR(str(&text), "0.0 0.0 0.1 2500.0 0.0");
        ed_draft_fini(&text);
}

TEST(text_over_its_maximum_is_marked_and_a_reset_unmarks_it)
{
        struct ed_draft text = { .max = 8 };

        ed_draft_add_str(&text, "12345678");
        CHECK(ed_draft_is_whole(&text));
        ed_draft_add_str(&text, "9");
        CHECK(!ed_draft_is_whole(&text));
        ed_draft_add_str(&text, "");
        CHECK_EQ(text.bytes, 8);
        ed_draft_reset(&text, 0);
        CHECK(ed_draft_is_whole(&text));
        CHECK_EQ(text.bytes, 0);
        ed_draft_add_str(&text, "again");
        CHECK_STR(str(&text), "again");
        ed_draft_fini(&text);
}

TEST(text_without_memory_is_marked_and_keeps_its_contents)
{
        struct ed_draft text = { 0 };
        static char large[4096];

        eddy_alloc_set(starve, NULL);
        allocations_left = 1;
        ed_draft_add_str(&text, "kept");
        ed_draft_add(&text, large, sizeof(large));
        CHECK(!ed_draft_is_whole(&text));
        CHECK_EQ(text.bytes, 4);
        CHECK(memcmp(text.data, "kept", 4) == 0);
        ed_draft_fini(&text);
}
