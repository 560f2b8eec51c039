/*
 * test_json_read.c - structs from texts: each kind of field, each limit, each error with its path;
 * a failure leaves the struct as it was, at each allocation too.
 */
#include <errno.h>

#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/json.h"

#include "starve.h"
#include "test.h"

enum color { RED, GREEN, BLUE };

struct point {
        double x, y;
        char *label;
        bool has_y;
};

struct thing {
        bool on;
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        double number;
        char text[8];
        char *string;
        char *raw;
        enum color color;
        struct point point;
        int32_t array[3];
        size_t array_count;
        char words[2][4];
        size_t words_count;
        struct point points[2];
        size_t points_count;
        char **strings;
        size_t strings_count;
        struct point *path;
        size_t path_count;
        int not_a_field;
        bool has_i32;
};

static const struct eddy_field point_list[] = {
        EDDY_FIELD(struct point, x, EDDY_FIELD_REQUIRED),
        EDDY_FIELD(struct point, y, EDDY_FIELD_FLAG(struct point, has_y), EDDY_FIELD_MIN(-1.5),
                   EDDY_FIELD_MAX(1e3)),
        EDDY_FIELD(struct point, label),
};
static const struct eddy_fields point_fields =
        EDDY_FIELDS(struct point, point_list, EDDY_FIELDS_STRICT);
static const char *const colors[] = { "red", "green", "blue", NULL };
static const struct eddy_field thing_list[] = {
        EDDY_FIELD(struct thing, on),
        EDDY_FIELD(struct thing, i8),
        EDDY_FIELD(struct thing, i16),
        EDDY_FIELD(struct thing, i32, EDDY_FIELD_FLAG(struct thing, has_i32), EDDY_FIELD_MIN(-5),
                   EDDY_FIELD_MAX(50)),
        EDDY_FIELD(struct thing, i64),
        EDDY_FIELD(struct thing, u8),
        EDDY_FIELD(struct thing, u16),
        EDDY_FIELD(struct thing, u32, EDDY_FIELD_MIN(7)),
        EDDY_FIELD(struct thing, u64),
        EDDY_FIELD(struct thing, number),
        EDDY_FIELD(struct thing, text),
        EDDY_FIELD(struct thing, string, EDDY_FIELD_AS("the-string"), EDDY_FIELD_LENGTH(2, 6)),
        EDDY_FIELD_RAW(struct thing, raw, EDDY_FIELD_LENGTH(0, 20)),
        EDDY_FIELD_ENUM(struct thing, color, colors),
        EDDY_FIELD_STRUCT(struct thing, point, &point_fields),
        EDDY_FIELD_ARRAY(struct thing, array, array_count, EDDY_FIELD_MAX(9)),
        EDDY_FIELD_ARRAY(struct thing, words, words_count),
        EDDY_FIELD_ARRAY_OF(struct thing, points, points_count, &point_fields),
        EDDY_FIELD_LIST(struct thing, strings, strings_count, EDDY_FIELD_LENGTH(1, 5)),
        EDDY_FIELD_LIST_OF(struct thing, path, path_count, &point_fields),
};
static const struct eddy_fields thing_fields = EDDY_FIELDS(struct thing, thing_list, 0);

static const char whole[] =
        "{\"on\":true,\"i8\":-128,\"i16\":-32768,\"i32\":50,\"i64\":-9223372036854775808,"
        "\"u8\":255,\"u16\":65535,\"u32\":4294967295,\"u64\":18446744073709551615,"
        "\"number\":-2.5e-7,\"text\":\"1234567\",\"the-string\":\"\\u00e9\\ud83d\\ude00\","
        "\"raw\":{ \"a\" : [ 1 ] },\"color\":\"blue\",\"point\":{\"x\":1,\"y\":-1.5},"
        "\"array\":[1,2,9],\"words\":[\"abc\",\"\"],\"points\":[{\"x\":1},{\"label\":\"p\",\"x\":2}"
        "],"
        "\"strings\":[\"a\",\"b\",\"c\",\"d\",\"e\"],\"path\":[{\"x\":0},{\"x\":1,\"label\":\"q\"}]"
        ","
        "\"unknown\":{\"on\":[false]}}";

TEST(each_kind_of_field_is_read)
{
        struct thing thing = { .not_a_field = 42 };

        CHECK_EQ(eddy_json_read(&thing_fields, whole, strlen(whole), &thing, NULL), 0);
        CHECK(thing.on);
        CHECK_EQ(thing.i8, INT8_MIN);
        CHECK_EQ(thing.i16, INT16_MIN);
        CHECK_EQ(thing.i32, 50);
        CHECK(thing.has_i32);
        CHECK_EQ(thing.i64, INT64_MIN);
        CHECK_EQ(thing.u8, UINT8_MAX);
        CHECK_EQ(thing.u16, UINT16_MAX);
        CHECK_EQ(thing.u32, UINT32_MAX);
        CHECK_EQ(thing.u64, UINT64_MAX);
        CHECK(thing.number == -2.5e-7);
        CHECK_STR(thing.text, "1234567");
        CHECK_STR(thing.string, "\xc3\xa9\xf0\x9f\x98\x80");
        CHECK_STR(thing.raw, "{\"a\":[1]}");
        CHECK_EQ(thing.color, BLUE);
        CHECK(thing.point.x == 1 && thing.point.y == -1.5 && thing.point.has_y);
        CHECK(!thing.point.label);
        CHECK_EQ(thing.array_count, 3);
        CHECK_EQ(thing.array[2], 9);
        CHECK_EQ(thing.words_count, 2);
        CHECK_STR(thing.words[0], "abc");
        CHECK_EQ(thing.points_count, 2);
        CHECK(!thing.points[0].has_y);
        CHECK_STR(thing.points[1].label, "p");
        CHECK_EQ(thing.strings_count, 5);
        CHECK_STR(thing.strings[4], "e");
        CHECK_EQ(thing.path_count, 2);
        CHECK_STR(thing.path[1].label, "q");
        CHECK_EQ(thing.not_a_field, 42);
        eddy_fields_fini(&thing_fields, &thing);
        CHECK(!thing.string && !thing.raw && !thing.strings && !thing.path);
        CHECK_EQ(thing.strings_count + thing.path_count + thing.points_count, 0);
        CHECK(!thing.points[1].label);
        eddy_fields_fini(&thing_fields, &thing);
        eddy_fields_fini(&thing_fields, NULL);
}

TEST(fields_that_are_missing_or_null_keep_their_defaults)
{
        static const char *const texts[] = {
                "{}",
                "{\"i32\":null,\"text\":null,\"the-string\":null,\"color\":null,\"point\":null,"
                "\"array\":null,\"strings\":null,\"path\":null,\"on\":null}"
        };

        for (size_t i = 0; i < 2; i++) {
                struct thing thing = { .on = true, .i32 = 9, .text = "dflt", .color = GREEN };

                thing.has_i32 = true;
                thing.string = (char *) "a literal";
                thing.array_count = 2;
                thing.point.x = 5;
                CHECK_EQ(eddy_json_read(&thing_fields, texts[i], strlen(texts[i]), &thing, NULL),
                         0);
                CHECK(thing.on && thing.i32 == 9 && thing.color == GREEN && thing.point.x == 5);
                CHECK(!thing.has_i32);
                CHECK_STR(thing.text, "dflt");
                CHECK(!thing.string && !thing.strings && !thing.path);
                CHECK_EQ(thing.array_count, 0);
                eddy_fields_fini(&thing_fields, &thing);
        }
}

/* 2^53 + 3 is between two doubles. */
TEST(a_double_is_compared_with_the_double_that_is_nearest_to_its_limit)
{
        static const struct eddy_field list[] = {
                EDDY_FIELD(struct thing, number, EDDY_FIELD_MAX(9007199254740995)),
        };
        static const struct eddy_fields fields = EDDY_FIELDS(struct thing, list, 0);
        static const char nearest[] = "{\"number\":9007199254740996}",
                          above[] = "{\"number\":9007199254740998}";
        struct thing thing = { 0 };

        CHECK_EQ(eddy_json_read(&fields, nearest, strlen(nearest), &thing, NULL), 0);
        CHECK(thing.number == 9007199254740996.0);
        CHECK_EQ(eddy_json_read(&fields, above, strlen(above), &thing, NULL), EDDY_E_FIELD_RANGE);
}

TEST(a_raw_field_keeps_null)
{
        struct thing thing = { 0 };

        CHECK_EQ(eddy_json_read(&thing_fields, "{\"raw\":null}", 12, &thing, NULL), 0);
        CHECK_STR(thing.raw, "null");
        eddy_fields_fini(&thing_fields, &thing);
}

static const struct {
        const char *text;
        int error;
        const char *path;
        const char *sentence;
} wrong[] = {
#define ROW(text, error, path, sentence) { text, EDDY_E_FIELD_##error, path, sentence },
        ROW("{\"i8\":128}", RANGE, "i8", "i8: 128 is above the maximum 127") ROW(
                "{\"i8\":-129}", RANGE, "i8",
                "i8: -129 is below the minimum -128") ROW("{\"u8\":256}", RANGE, "u8",
                                                          "u8: 256 is above the maximum 255")
                ROW("{\"u8\":-1}", RANGE, "u8", "u8: -1 is below the minimum 0") ROW(
                        "{\"u32\":6}", RANGE, "u32",
                        "u32: 6 is below the minimum 7") ROW("{\"i16\":32768}", RANGE, "i16",
                                                             "i16: 32768 is above the maximum "
                                                             "32767") ROW("{\"u16\":65536}", RANGE,
                                                                          "u16",
                                                                          "u16: 65536 is above the "
                                                                          "maximum 65535")
                        ROW("{\"i32\":51}", RANGE,
                            "i32", "i32: 51 is above the maximum 50") ROW("{\"i32\":-6}",
                                                                          RANGE, "i32", "i32: -6 is below the minimum -5") ROW("{\"i32\":99999999999999999999}",
                                                                                                                               RANGE, "i32", "i32: 99999999999999999999 is above the maximum 50") ROW("{\"i64\":9223372036854775808}", RANGE, "i64", "i64: 9223372036854775808 is above the maximum 9223372036854775807") ROW("{\"u64\":18446744073709551616}", RANGE, "u64", "u64: 18446744073709551616 is above the maximum 18446744073709551615") ROW("{\"number\":1e999}",
                                                                                                                                                                                                                                                                                                                                                                                                                                                         RANGE, "number", "number: 1e999 does not fit into a double") ROW("{\"point\":{\"x\":0,\"y\":-1.6}}",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                          RANGE, "point.y",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                          "point.y: -1.6 is below the minimum -1.5") ROW("{\"path\":[{\"x\":0},{\"x\":1,\"y\":1001}]}",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                         RANGE,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                         "path[1].y", "path[1].y: 1001 is above the maximum 1000") ROW("{\"array\":[1,10]}", RANGE, "array[1]", "array[1]: 10 is above the maximum 9") ROW("{\"color\":\"pink\"}",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           RANGE, "color", "color: \"pink\" is not one of red, green, blue") ROW("{\"i8\":1.5}",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 TYPE, "i8", "i8: 1.5 is not an integer") ROW("{\"u8\":1e2}",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              TYPE,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              "u8", "u8: 1e2 is not an integer") ROW("{\"i8\":\"1\"}", TYPE, "i8", "i8: an integer is needed, not a string") ROW("{\"on\":1}",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 TYPE, "on", "on: a bool is needed, not a number") ROW("{\"number\":true}",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                       TYPE,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                       "number", "number: a number is needed, not a bool") ROW("{\"text\":[]}", TYPE,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "text",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "text: a string is needed, not an array")
                                ROW("{\"color\":1}", TYPE, "color", "color: a string is needed, not a number") ROW(
                                        "{\"point\":[]}", TYPE,
                                        "point", "point: an object is needed, not an array") ROW("{"
                                                                                                 "\"array\":{}}",
                                                                                                 TYPE,
                                                                                                 "a"
                                                                                                 "r"
                                                                                                 "r"
                                                                                                 "a"
                                                                                                 "y",
                                                                                                 "a"
                                                                                                 "r"
                                                                                                 "r"
                                                                                                 "a"
                                                                                                 "y"
                                                                                                 ":"
                                                                                                 " "
                                                                                                 "a"
                                                                                                 "n"
                                                                                                 " "
                                                                                                 "a"
                                                                                                 "r"
                                                                                                 "r"
                                                                                                 "a"
                                                                                                 "y"
                                                                                                 " "
                                                                                                 "i"
                                                                                                 "s"
                                                                                                 " "
                                                                                                 "n"
                                                                                                 "e"
                                                                                                 "e"
                                                                                                 "d"
                                                                                                 "e"
                                                                                                 "d"
                                                                                                 ","
                                                                                                 " "
                                                                                                 "n"
                                                                                                 "o"
                                                                                                 "t"
                                                                                                 " "
                                                                                                 "a"
                                                                                                 "n"
                                                                                                 " "
                                                                                                 "o"
                                                                                                 "b"
                                                                                                 "j"
                                                                                                 "e"
                                                                                                 "c"
                                                                                                 "t")
                                        ROW("{\"array\":[1,null]}", TYPE, "array[1]", "array[1]: an integer is needed, not null") ROW(
                                                "{\"point\":{\"x\":null}}",
                                                TYPE, "point.x",
                                                "point.x: null is not allowed") ROW("[]", TYPE, "", "line 1, column 1: an object is needed, not an array")
                                                ROW("{\"text\":\"12345678\"}", LENGTH, "text", "text: a string of 8 bytes, at most 7 are allowed") ROW(
                                                        "{\"the-string\":\"1\"}", LENGTH,
                                                        "the-string",
                                                        "the-string: a string of 1 bytes, at least "
                                                        "2 are allowed") ROW("{\"the-string\":"
                                                                             "\"1234567\"}",
                                                                             LENGTH, "the-string",
                                                                             "the-string: a string "
                                                                             "of 7 bytes, at most "
                                                                             "6 are allowed") ROW("{\"raw\":[1,2,3,4,5,6,7,8,9,10]}",
                                                                                                  LENGTH,
                                                                                                  "raw",
                                                                                                  "raw: a text of 22 bytes, 0 to 20 are "
                                                                                                  "allowed")
                                                        ROW("{\"array\":[1,2,3,4]}", LENGTH,
                                                            "array",
                                                            "array: more than 3 "
                                                            "items") ROW("{\"strings\":[]}", LENGTH,
                                                                         "strings",
                                                                         "strings: 0 items, at "
                                                                         "least 1 "
                                                                         "are needed")
                                                                ROW("{\"strings\""
                                                                    ":[\"\",\"\","
                                                                    "\"\",\"\","
                                                                    "\"\",\"\"]}",
                                                                    LENGTH,
                                                                    "strings",
                                                                    "strings: "
                                                                    "more than 5 "
                                                                    "items") ROW("{\"words\":["
                                                                                 "\"abcd\"]}",
                                                                                 LENGTH,
                                                                                 "words[0]",
                                                                                 "words[0]: a "
                                                                                 "string of 4 "
                                                                                 "bytes, at most 3 "
                                                                                 "are allowed")
                                                                        ROW("{\"text\":"
                                                                            "\"a\\u0000b\"}",
                                                                            TEXT, "text",
                                                                            "text: the string "
                                                                            "has "
                                                                            "\\u0000") ROW("{\""
                                                                                           "the"
                                                                                           "-"
                                                                                           "str"
                                                                                           "ing"
                                                                                           "\":"
                                                                                           "\"a"
                                                                                           "\\u"
                                                                                           "0"
                                                                                           "000"
                                                                                           "b\""
                                                                                           "}",
                                                                                           TEXT,
                                                                                           "the"
                                                                                           "-st"
                                                                                           "rin"
                                                                                           "g",
                                                                                           "the"
                                                                                           "-"
                                                                                           "str"
                                                                                           "ing"
                                                                                           ":"
                                                                                           " th"
                                                                                           "e "
                                                                                           "str"
                                                                                           "ing"
                                                                                           " "
                                                                                           "has"
                                                                                           " "
                                                                                           "\\u"
                                                                                           "000"
                                                                                           "0")
                                                                                ROW("{\"strings"
                                                                                    "\":["
                                                                                    "\"a\","
                                                                                    "\"\\ud800"
                                                                                    "\"]}",
                                                                                    TEXT,
                                                                                    "strings["
                                                                                    "1]",
                                                                                    "strings[1]"
                                                                                    ": "
                                                                                    "the "
                                                                                    "string "
                                                                                    "has half "
                                                                                    "of a "
                                                                                    "surrogate "
                                                                                    "pair")
                                                                                        ROW("{"
                                                                                            "\""
                                                                                            "po"
                                                                                            "in"
                                                                                            "ts"
                                                                                            "\""
                                                                                            ":["
                                                                                            "{"
                                                                                            "\""
                                                                                            "x"
                                                                                            "\""
                                                                                            ":0"
                                                                                            "},"
                                                                                            "{}"
                                                                                            "]"
                                                                                            "}",
                                                                                            MISSING,
                                                                                            "points"
                                                                                            "[1].x",
                                                                                            "po"
                                                                                            "in"
                                                                                            "ts"
                                                                                            "[1"
                                                                                            "]."
                                                                                            "x:"
                                                                                            " t"
                                                                                            "he"
                                                                                            " f"
                                                                                            "ie"
                                                                                            "ld"
                                                                                            " i"
                                                                                            "s "
                                                                                            "mi"
                                                                                            "ss"
                                                                                            "in"
                                                                                            "g") ROW("{\"point\":{\"x\":1,\"z\":2}}",
                                                                                                     UNKNOWN,
                                                                                                     "point.z",
                                                                                                     "point.z: the field is not known")
                                                                                                ROW("{\"poi"
                                                                                                    "nt\":{"
                                                                                                    "\"x\":"
                                                                                                    "1,"
                                                                                                    "\"\\u0"
                                                                                                    "07f"
                                                                                                    "\xc3"
                                                                                                    "\xa9\\"
                                                                                                    "n\":2}"
                                                                                                    "}",
                                                                                                    UNKNOWN,
                                                                                                    "point."
                                                                                                    "\\u007"
                                                                                                    "f??"
                                                                                                    "\\n",
                                                                                                    "point."
                                                                                                    "\\u007"
                                                                                                    "f??"
                                                                                                    "\\n: "
                                                                                                    "the "
                                                                                                    "field "
                                                                                                    "is "
                                                                                                    "not "
                                                                                                    "known") ROW("{\"on\":true,\"\\u006fn\":true}",
                                                                                                                 DUPLICATE,
                                                                                                                 "\\u006fn",
                                                                                                                 "\\u006fn: the field is given twice")
                                                                                                        ROW("{\"i8\":null,\"i8\":1}",
                                                                                                            DUPLICATE,
                                                                                                            "i8",
                                                                                                            "i8: the field is given twice")
#undef ROW
};

TEST(each_error_names_its_field_and_leaves_the_struct_as_it_was)
{
        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                struct eddy_json_error error;
                struct thing thing, before;
                size_t bytes = strlen(wrong[i].text);

                memset(&thing, 0x5a, sizeof(thing));
                before = thing;
                CHECK_EQ(eddy_json_read(&thing_fields, wrong[i].text, bytes, &thing, &error),
                         wrong[i].error);
                CHECK_EQ(error.error, wrong[i].error);
                CHECK_STR(error.text, wrong[i].sentence);
                CHECK_STR(error.path, wrong[i].path);
                CHECK(error.offset < bytes);
                CHECK_EQ(memcmp(&thing, &before, sizeof(thing)), 0);
                CHECK_EQ(eddy_json_read(&thing_fields, wrong[i].text, bytes, &thing, NULL),
                         wrong[i].error);
        }
}

TEST(a_text_that_is_not_json_is_an_error_before_any_field)
{
        struct eddy_json_error error;
        struct thing thing = { .i8 = 3 };

        CHECK_EQ(eddy_json_read(&thing_fields, "{\"i8\":1,}", 9, &thing, &error),
                 EDDY_E_JSON_SYNTAX);
        CHECK_EQ(thing.i8, 3);
        CHECK_EQ(error.offset, 8);
}

/* Each allocation fails once; the struct stays as it was, and nothing leaks (ASan). */
TEST(each_allocation_that_fails_is_enomem_and_changes_nothing)
{
        int failed = 0;

        for (int n = 0;; n++) {
                struct eddy_json_error error = { 0 };
                struct thing thing = { .i8 = 7 };
                int err;

                eddy_alloc_set(starve, NULL);
                allocations_left = n;
                err = eddy_json_read(&thing_fields, whole, strlen(whole), &thing, &error);
                allocations_left = -1;
                if (err == 0) {
                        eddy_fields_fini(&thing_fields, &thing);
                        break;
                }
                CHECK_EQ(err, -ENOMEM);
                CHECK_EQ(error.error, -ENOMEM);
                CHECK_EQ(thing.i8, 7);
                CHECK(!thing.string && !thing.path);
                failed++;
        }
        CHECK(failed >= 12);
}

TEST(a_cut_at_each_byte_leaks_nothing_and_changes_nothing)
{
        for (size_t bytes = 0; bytes < sizeof(whole) - 1; bytes++) {
                struct thing thing = { .i8 = 7 };
                char *cut = malloc(bytes ? bytes : 1);

                CHECK(cut);
                memcpy(cut, whole, bytes);
                CHECK(eddy_json_read(&thing_fields, cut, bytes, &thing, NULL) < 0);
                CHECK_EQ(thing.i8, 7);
                free(cut);
        }
}

TEST(a_path_that_is_too_long_is_cut)
{
        struct deep {
                char *leaf;
        };
        static const char name[] =
                "a_name_of_a_field_that_is_much_longer_than_names_of_fields_should_"
                "be_and_longer_than_the_room_for_the_path_in_the_details_of_the_"
                "error_which_ends_in_a_NUL";
        const struct eddy_field list[] = { EDDY_FIELD(struct deep, leaf, EDDY_FIELD_AS(name)) };
        const struct eddy_fields fields = EDDY_FIELDS(struct deep, list, 0);
        struct eddy_json_error error;
        struct deep deep = { NULL };
        char text[400];

        snprintf(text, sizeof(text), "{\"%s\":1}", name);
        CHECK_EQ(eddy_json_read(&fields, text, strlen(text), &deep, &error), EDDY_E_FIELD_TYPE);
        CHECK_EQ(strlen(error.path), EDDY_JSON_PATH_BYTES - 1);
        CHECK_STR(error.path + EDDY_JSON_PATH_BYTES - 4, "...");
        CHECK(strlen(error.text) < EDDY_JSON_TEXT_BYTES);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void check_table(const struct eddy_fields *fields, const char *reason)
{
        struct eddy_json_error error;
        struct thing thing;
        size_t bytes;
        char *text;

        CHECK_EQ(eddy_fields_check(fields, &error), EDDY_E_FIELD_TABLE);
        CHECK_STR(error.text, reason);
        CHECK_EQ(eddy_json_read(fields, "{}", 2, &thing, &error), EDDY_E_FIELD_TABLE);
        CHECK_STR(error.text, reason);
        CHECK_EQ(eddy_json_write(fields, &thing, &text, &bytes, &error), EDDY_E_FIELD_TABLE);
        CHECK_STR(error.text, reason);
}

/* The fault of a field, whichever it is. */
static void check_fault(const struct eddy_fields *fields, const char *sentence)
{
        struct eddy_json_error error;
        char reason[EDDY_JSON_TEXT_BYTES];

        CHECK_EQ(eddy_fields_check(fields, &error), EDDY_E_FIELD_TABLE);
        snprintf(reason, sizeof(reason), "%s: %s", error.path, sentence);
        check_table(fields, reason);
}

TEST(a_table_that_is_not_usable_is_an_error)
{
        static const struct eddy_field many[EDDY_FIELDS_MAX + 1];
        struct eddy_field field = thing_list[0];
        struct eddy_fields fields = { &field, 1, sizeof(struct thing), 0, NULL, { 0, 0 } };
        struct eddy_json_error error;
        struct eddy_fields chain[EDDY_FIELDS_DEPTH_MAX + 1];
        struct eddy_field links[EDDY_FIELDS_DEPTH_MAX + 1];

        CHECK_EQ(eddy_fields_check(&thing_fields, NULL), 0);
        CHECK_EQ(eddy_fields_check(&fields, NULL), 0);
        check_table(&(struct eddy_fields){ many, EDDY_FIELDS_MAX + 1, 8, 0, NULL, { 0, 0 } },
                    "the table has more than EDDY_FIELDS_MAX fields");
        check_table(NULL, "the table has no fields");
        fields.flags = 2;
        check_table(&fields, "the table has an unknown flag");
        fields.flags = 0;
        fields.bytes = 0;
        check_table(&fields, "on: it is outside of the struct");
        fields.bytes = sizeof(struct thing);
        field.name = NULL;
        check_table(&fields, "field 0 has no name");
        field.name = "a";
        field.flag = sizeof(struct thing) + 1;
        check_table(&fields, "a: its flag is outside of the struct");
        field.flag = 0;
        field.bytes = 2;
        check_table(&fields,
                    "a: it has another size than its kind, or no list of names, or no table");
        field.bytes = 1;
        field.shape = 9;
        check_table(&fields, "a: its shape is not known");
        field.shape = EDDY_SHAPE_ARRAY;
        check_table(&fields, "a: it is outside of the struct");
        field.shape = EDDY_SHAPE_LIST;
        field.count_offset = sizeof(struct thing);
        check_table(&fields, "a: the list is outside of the struct");

        field = (struct eddy_field){
                .name = "a", .kind = EDDY_KIND_STRUCT, .fields = &fields, .bytes = fields.bytes
        };
        check_table(&fields, "a: the table is inside of itself");
        for (size_t i = 0; i <= EDDY_FIELDS_DEPTH_MAX; i++) {
                chain[i] = (struct eddy_fields){ &links[i], i < EDDY_FIELDS_DEPTH_MAX, 8, 0, NULL,
                                                 { 0, 0 } };
                links[i] = (struct eddy_field){ .name = "a",
                                                .kind = EDDY_KIND_STRUCT,
                                                .bytes = 8,
                                                .fields = i < EDDY_FIELDS_DEPTH_MAX ? &chain[i + 1]
                                                                                    : NULL };
        }
        CHECK_EQ(eddy_fields_check(&chain[1], NULL), 0);
        CHECK_EQ(eddy_fields_check(&chain[0], &error), EDDY_E_FIELD_TABLE);
        CHECK(strncmp(error.text, "a.a.a.", 6) == 0);
        CHECK(strstr(error.text, ".a.a: more than EDDY_FIELDS_DEPTH_MAX tables are inside of each "
                                 "other"));
}

struct shared {
        union {
                char *string;
                uint64_t number;
        } either;
        int64_t *numbers;
        int64_t *others;
        size_t count;
        size_t others_count;
};

static void check_shared(struct eddy_field first, struct eddy_field second)
{
        const struct eddy_field both[2] = { first, second }, turned[2] = { second, first };
        const struct eddy_fields fields = EDDY_FIELDS(struct shared, both, 0);
        const struct eddy_fields back = EDDY_FIELDS(struct shared, turned, 0);

        check_fault(&fields, "it shares a pointer, a count or a struct");
        check_fault(&back, "it shares a pointer, a count or a struct");
}

/* Otherwise a text could choose the pointers that are freed, or the end of a list. */
TEST(a_table_whose_fields_share_a_pointer_or_a_count_is_an_error)
{
        static const struct eddy_field lists[] = {
                EDDY_FIELD_LIST(struct shared, numbers, count),
                EDDY_FIELD_LIST(struct shared, others, count),
                EDDY_FIELD_LIST(struct shared, numbers, others_count),
                EDDY_FIELD_LIST(struct shared, others, others_count),
        };
        static const struct eddy_field ones[] = {
                EDDY_FIELD(struct shared, either.string),
                EDDY_FIELD(struct shared, either.number),
                EDDY_FIELD(struct shared, count),
        };
        const struct eddy_field other[] = { lists[0], lists[3], ones[1], ones[1] };
        const struct eddy_fields usable = EDDY_FIELDS(struct shared, other, 0);
        struct eddy_field own = lists[0];
        struct eddy_fields alone = { &own, 1, sizeof(struct shared), 0, NULL, { 0, 0 } };

        check_shared(lists[0], lists[1]);
        check_shared(lists[0], lists[2]);
        check_shared(lists[0], lists[0]);
        check_shared(ones[0], ones[1]);
        check_shared(ones[0], ones[0]);
        check_shared(lists[0], ones[2]);
        own.count_offset = own.offset;
        check_fault(&alone, "it shares a pointer, a count or a struct");
        CHECK_EQ(eddy_json_read(&usable, "{}", 2, &(struct shared){ .count = 0 }, NULL), 0);
}

struct flagged {
        bool has;
        char *text;
        long *list;
        size_t count;
        struct {
                char *text;
                bool has;
        } inner;
};

/* The table of struct flagged, one of whose fields has its flag at 'at'. */
static const char *fault_of_flag_at(size_t at)
{
        static const struct eddy_field inner_list[] = {
                EDDY_FIELD(struct flagged, inner.text, EDDY_FIELD_AS("text")),
        };
        static struct eddy_field inner_field;
        struct eddy_fields inner = { 0 }, fields = { 0 };
        struct eddy_field list[] = {
                EDDY_FIELD(struct flagged, text),
                EDDY_FIELD_LIST(struct flagged, list, count),
                EDDY_FIELD_STRUCT(struct flagged, inner, &inner),
        };
        static struct eddy_json_error error;

        inner_field = inner_list[0];
        inner_field.offset = 0;
        inner = (struct eddy_fields){ .list = &inner_field,
                                      .count = 1,
                                      .bytes = sizeof(((struct flagged *) 0)->inner) };
        list[0].flag = at + 1;
        fields = (struct eddy_fields){ .list = list, .count = 3, .bytes = sizeof(struct flagged) };
        return eddy_fields_check(&fields, &error) < 0 ? strstr(error.text, "its flag") : NULL;
}

TEST(a_flag_on_a_pointer_is_a_fault_of_the_table)
{
        static const char fault[] = "its flag is on a pointer, a count, a tag or an array";

        CHECK(fault_of_flag_at(offsetof(struct flagged, has)) == NULL);
        CHECK(fault_of_flag_at(offsetof(struct flagged, inner.has)) == NULL);
        for (size_t byte = 0; byte < sizeof(void *); byte++) {
                CHECK_STR(fault_of_flag_at(offsetof(struct flagged, text) + byte), fault);
                CHECK_STR(fault_of_flag_at(offsetof(struct flagged, list) + byte), fault);
                CHECK_STR(fault_of_flag_at(offsetof(struct flagged, count) + byte), fault);
                CHECK_STR(fault_of_flag_at(offsetof(struct flagged, inner.text) + byte), fault);
        }
}

TEST(a_name_that_is_given_twice_is_found_by_the_check)
{
        struct eddy_field list[2] = { thing_list[0], thing_list[1] };
        struct eddy_json_error error;
        struct eddy_fields fields = { list, 2, sizeof(struct thing), 0, NULL, { 0, 0 } };

        CHECK_EQ(eddy_fields_check(&fields, NULL), 0);
        list[1].as = "on";
        CHECK_EQ(eddy_fields_check(&fields, &error), EDDY_E_FIELD_TABLE);
        CHECK_STR(error.text, "on: two fields have this name");
}

TEST(all_fields_of_the_largest_table_are_distinguished)
{
        static struct eddy_field list[EDDY_FIELDS_MAX];
        static char names[EDDY_FIELDS_MAX][8];
        static uint8_t out[EDDY_FIELDS_MAX];
        struct eddy_fields fields = { list, EDDY_FIELDS_MAX, sizeof(out), EDDY_FIELDS_STRICT,
                                      NULL, { 0, 0 } };
        char text[EDDY_FIELDS_MAX * 16] = "{";
        size_t bytes = 1;

        for (size_t i = 0; i < EDDY_FIELDS_MAX; i++) {
                snprintf(names[i], sizeof(names[i]), "f%zu", i);
                list[i] = (struct eddy_field){ .name = names[i],
                                               .kind = EDDY_KIND_UINT,
                                               .bytes = 1,
                                               .offset = i,
                                               .required = true };
        }
        for (size_t i = EDDY_FIELDS_MAX; i-- > 0;)
                bytes += (size_t) snprintf(text + bytes, sizeof(text) - bytes, "\"f%zu\":%zu%c", i,
                                           i, i > 0 ? ',' : '}');
        CHECK_EQ(eddy_json_read(&fields, text, bytes, out, NULL), 0);
        for (size_t i = 0; i < EDDY_FIELDS_MAX; i++)
                CHECK_EQ(out[i], i);
        memcpy(text + bytes - 1, ",\"f200\":0}", 11);
        CHECK_EQ(eddy_json_read(&fields, text, bytes + 9, out, NULL), EDDY_E_FIELD_DUPLICATE);
}
