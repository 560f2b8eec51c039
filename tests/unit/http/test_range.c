/*
 * test_range.c - which responses continue a body that was cut.
 */
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "http/range.h"

/* Fields, "Name: value" each. */
struct fields {
        const char *items[8];
};

static const char *field(const void *arg, const char *name)
{
        const struct fields *fields = arg;
        size_t bytes = strlen(name);

        for (int i = 0; i < 8 && fields->items[i]; i++)
                if (strncasecmp(fields->items[i], name, bytes) == 0 &&
                    fields->items[i][bytes] == ':')
                        return fields->items[i] + bytes + 2;
        return NULL;
}

/* Returns true if the value of Content-Range continues ten bytes, of which the last five are left. */
static bool continues(const char *value, uint64_t total)
{
        struct eddy_http_range range = { .validator = "\"a\"", .total = total };
        char line[100];
        struct fields fields = { { "ETag: \"a\"", line } };
        uint64_t bytes = 0;

        snprintf(line, sizeof(line), "Content-Range: %s", value);
        if (ed_http_range_judge(&range, 5, 206, field, &fields, &bytes) !=
            EDDY_HTTP_RANGE_CONTINUED)
                return false;
        CHECK(bytes >= 1 && bytes <= 5 && range.total == 10);
        return true;
}

TEST(content_range_continues_only_with_the_same_start_and_length)
{
        static const char *const good[] = { "bytes 5-9/10", "Bytes 5-5/10", "bytes 05-009/010" };
        static const char *const bad[] = {
                "",
                "bytes",
                "bytes ",
                "bytes 5",
                "bytes 5-",
                "bytes 5-9",
                "bytes 5-9/",
                "bytes 5-9/10 ",
                "bytes 5-9/10x",
                "bytes  5-9/10",
                "bytes 4-9/10",
                "bytes 6-9/10",
                "bytes 5-10/10",
                "bytes 5-10/11",
                "bytes 5-8/9",
                "bytes 5-4/10",
                "bytes -5/10",
                "bytes=5-9/10",
                "bytes 5-9/-10",
                "bytes */10",
                "bytes +5-9/10",
                "lines 5-9/10",
                "bytes 5-9/10,bytes 5-9/10",
                ",",
                "bytes 18446744073709551621-18446744073709551625/18446744073709551626",
                "bytes 5-9/18446744073709551615",
                "bytes 5-18446744073709551615/10",
        };

        for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
                CHECK(continues(good[i], 10));
                CHECK(continues(good[i], EDDY_HTTP_RANGE_UNKNOWN));
        }
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                CHECK(!continues(bad[i], 10));
        CHECK(continues("bytes 5-9/*", 10));
        CHECK(!continues("bytes 5-9/*", EDDY_HTTP_RANGE_UNKNOWN));
        CHECK(!continues("bytes 5-10/*", 10));
        CHECK(!continues("bytes 5-9/**", 10));
}

TEST(status_decides_if_a_response_is_the_whole_or_a_failure)
{
        static const struct {
                int status;
                enum eddy_http_range_answer answer;
        } rows[] = { { 200, EDDY_HTTP_RANGE_WHOLE },   { 203, EDDY_HTTP_RANGE_WHOLE },
                     { 206, EDDY_HTTP_RANGE_REFUSED }, { 302, EDDY_HTTP_RANGE_FAILED },
                     { 404, EDDY_HTTP_RANGE_FAILED },  { 416, EDDY_HTTP_RANGE_REFUSED },
                     { 503, EDDY_HTTP_RANGE_FAILED } };

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                struct eddy_http_range range = { .validator = "\"a\"", .total = 10 };
                struct fields none = { { NULL } };
                uint64_t bytes;

                CHECK(ed_http_range_judge(&range, 5, rows[i].status, field, &none, &bytes) ==
                      rows[i].answer);
        }
}

TEST(validator_is_strong_and_of_ascii)
{
        static const struct {
                const char *tag, *validator;
        } rows[] = {
                { "ETag: \"a\"", "\"a\"" }, { "ETag: \"\"", "\"\"" }, { "ETag: W/\"a\"", "" },
                { "ETag: w/\"a\"", "" },    { "ETag: \"", "" },       { "ETag: a", "" },
                { "ETag: \"a\"b\"", "" },   { "ETag: \"a b\"", "" },  { "ETag: \"\xc3\xbc\"", "" },
                { "ETag: ,", "" },          { "ETag: ", "" }
        };

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                struct fields fields = { { rows[i].tag, "Content-Length: 10" } };
                struct eddy_http_range range;

                ed_http_range_note(&range, field, &fields, 0);
                CHECK_STR(range.validator, rows[i].validator);
                CHECK(range.total == 10);
        }
}
