/*
 * test_query.c - structs from queries, forms and pairs, and back: each kind of field, each error, hostile
 * texts, and each allocation that fails.
 */
#include <errno.h>

#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/query.h"

#include "base/fields.h"
#include "starve.h"
#include "test.h"

enum color { RED, GREEN, BLUE };

struct search {
        char *text;
        char name[8];
        bool on;
        int8_t small;
        uint64_t large;
        double ratio;
        enum color color;
        int32_t numbers[3];
        size_t numbers_count;
        char **tags;
        size_t tags_count;
        bool has_small;
};

static const char *const colors[] = { "red", "green", "deep blue", NULL };
static const struct eddy_field search_list[] = {
        EDDY_FIELD(struct search, text, EDDY_FIELD_AS("q"), EDDY_FIELD_LENGTH(0, 100)),
        EDDY_FIELD(struct search, name),
        EDDY_FIELD(struct search, on),
        EDDY_FIELD(struct search, small, EDDY_FIELD_FLAG(struct search, has_small)),
        EDDY_FIELD(struct search, large),
        EDDY_FIELD(struct search, ratio, EDDY_FIELD_MIN(0), EDDY_FIELD_MAX(1)),
        EDDY_FIELD_ENUM(struct search, color, colors),
        EDDY_FIELD_ARRAY(struct search, numbers, numbers_count),
        EDDY_FIELD_LIST(struct search, tags, tags_count, EDDY_FIELD_AS("tags[]"),
                        EDDY_FIELD_LENGTH(0, 4)),
};
static const struct eddy_fields search_fields = EDDY_FIELDS(struct search, search_list, 0);
static const struct eddy_fields strict_fields =
        EDDY_FIELDS(struct search, search_list, EDDY_FIELDS_STRICT);

static const char whole[] =
        "q=two+words%26%3D%2B&name=caf%C3%A9&on=true&small=-128&large=18446744073709551615&"
        "ratio=2.5e-1&color=deep%20blue&numbers=1&tags%5B%5D=a&numbers=-2&tags[]=&numbers=3&other=%"
        "41";

/* Read a copy that ends at its last byte. */
static int read_flags(const struct eddy_fields *fields, const char *text, size_t bytes,
                      unsigned flags, struct search *out, struct eddy_json_error *error)
{
        char *exact = malloc(bytes > 0 ? bytes : 1);
        int err;

        CHECK(exact);
        memcpy(exact, text, bytes);
        err = eddy_query_read(fields, exact, bytes, flags, out, error);
        free(exact);
        return err;
}

static int read_text(const struct eddy_fields *fields, const char *text, struct search *out,
                     struct eddy_json_error *error)
{
        return read_flags(fields, text, strlen(text), 0, out, error);
}

static void check_whole(struct search *search)
{
        CHECK_STR(search->text, "two words&=+");
        CHECK_STR(search->name, "caf\xc3\xa9");
        CHECK(search->on && search->has_small);
        CHECK_EQ(search->small, INT8_MIN);
        CHECK_EQ(search->large, UINT64_MAX);
        CHECK(search->ratio == 0.25);
        CHECK_EQ(search->color, BLUE);
        CHECK_EQ(search->numbers_count, 3);
        CHECK(search->numbers[0] == 1 && search->numbers[1] == -2 && search->numbers[2] == 3);
        CHECK_EQ(search->tags_count, 2);
        CHECK_STR(search->tags[0], "a");
        CHECK_STR(search->tags[1], "");
}

TEST(each_kind_of_field_is_read)
{
        struct search search = { 0 };

        CHECK_EQ(read_text(&search_fields, whole, &search, NULL), 0);
        check_whole(&search);
        eddy_fields_fini(&search_fields, &search);
}

TEST(member_that_is_not_given_keeps_its_default)
{
        static const char *const texts[] = { "", "&&", "other=1&another" };

        for (size_t i = 0; i < 3; i++) {
                struct search search = { .name = "abc", .small = 9, .color = GREEN };

                search.text = (char *) "a literal";
                CHECK_EQ(read_text(&search_fields, texts[i], &search, NULL), 0);
                CHECK_STR(search.name, "abc");
                CHECK(search.small == 9 && search.color == GREEN && !search.has_small);
                CHECK(!search.text && !search.tags && search.numbers_count == 0);
        }
        CHECK_EQ(eddy_query_read(&search_fields, NULL, 0, 0, &(struct search){ 0 }, NULL), 0);
}

TEST(bools_have_eight_words_also_in_capitals)
{
        static const char *const texts[] = { "on=true", "on=TRUE", "on=1",     "on=yes", "on=On",
                                             "on=0",    "on=off",  "on=False", "on=no" };

        for (size_t i = 0; i < 9; i++) {
                struct search search = { .on = i >= 5 };

                CHECK_EQ(read_text(&search_fields, texts[i], &search, NULL), 0);
                CHECK_EQ(search.on, i < 5);
        }
}

TEST(empty_values_are_skipped_on_request)
{
        struct search search = { .small = 5, .name = "abc" };
        struct eddy_json_error error;
        const char *text = "small=&name=&q=&on&tags[]=&tags[]=x";

        CHECK_EQ(read_flags(&search_fields, text, strlen(text), EDDY_QUERY_SKIP_EMPTY, &search,
                            NULL),
                 0);
        CHECK(search.small == 5 && !search.has_small && !search.text);
        CHECK_STR(search.name, "abc");
        CHECK_EQ(search.tags_count, 1);
        eddy_fields_fini(&search_fields, &search);
        CHECK_EQ(read_text(&search_fields, "name=&q=", &search, NULL), 0);
        CHECK_STR(search.name, "");
        CHECK_STR(search.text, "");
        eddy_fields_fini(&search_fields, &search);
        CHECK_EQ(read_text(&search_fields, "small=", &search, &error), EDDY_E_FIELD_TYPE);
        CHECK_STR(error.text, "small: \"\" is not an integer");
}

/* ---- errors ---------------------------------------------------------------------------------- */

struct row {
        const char *text;
        int error;
        const char *path;
        const char *sentence;
};

static void check_row(const struct eddy_fields *fields, const struct row *row)
{
        struct search search = { .small = 7, .text = (char *) "a literal" };
        struct eddy_json_error error;

        if (read_text(fields, row->text, &search, &error) != row->error)
                test_fail(__FILE__, __LINE__, "%s", row->text);
        CHECK_EQ(error.error, row->error);
        CHECK_STR(error.path, row->path);
        CHECK_STR(error.text, row->sentence);
        CHECK(error.line == 0 && error.column == 0);
        CHECK(error.offset == 0 || row->error == EDDY_E_URL_INVALID);
        CHECK(search.small == 7 && strcmp(search.text, "a literal") == 0);
        CHECK_EQ(read_text(fields, row->text, &search, NULL), row->error);
}

TEST(each_error_names_its_field)
{
        static const struct row rows[] = {
                { "small=128", EDDY_E_FIELD_RANGE, "small", "small: 128 is above the maximum 127" },
                { "small=abc", EDDY_E_FIELD_TYPE, "small", "small: \"abc\" is not an integer" },
                { "small=+1", EDDY_E_FIELD_TYPE, "small", "small: \" 1\" is not an integer" },
                { "small=%2B1", EDDY_E_FIELD_TYPE, "small", "small: \"+1\" is not an integer" },
                { "small=007", EDDY_E_FIELD_TYPE, "small", "small: \"007\" is not an integer" },
                { "small=1.0", EDDY_E_FIELD_TYPE, "small", "small: 1.0 is not an integer" },
                { "small=1%20", EDDY_E_FIELD_TYPE, "small", "small: \"1 \" is not an integer" },
                { "small=%0A1", EDDY_E_FIELD_TYPE, "small", "small: \"\\n1\" is not an integer" },
                { "small=null", EDDY_E_FIELD_TYPE, "small", "small: \"null\" is not an integer" },
                { "small=[1]", EDDY_E_FIELD_TYPE, "small", "small: \"[1]\" is not an integer" },
                { "small=%31%00", EDDY_E_FIELD_TYPE, "small",
                  "small: \"1\\u0000\" is not an integer" },
                { "large=-1", EDDY_E_FIELD_RANGE, "large", "large: -1 is below the minimum 0" },
                { "ratio=NaN", EDDY_E_FIELD_TYPE, "ratio", "ratio: \"NaN\" is not a number" },
                { "ratio=1.5", EDDY_E_FIELD_RANGE, "ratio", "ratio: 1.5 is above the maximum 1" },
                { "on=maybe", EDDY_E_FIELD_TYPE, "on", "on: \"maybe\" is not a bool" },
                { "on", EDDY_E_FIELD_TYPE, "on", "on: \"\" is not a bool" },
                { "color=pink", EDDY_E_FIELD_RANGE, "color",
                  "color: \"pink\" is not one of red, green, deep blue" },
                { "name=12345678", EDDY_E_FIELD_LENGTH, "name",
                  "name: a string of 8 bytes, at most 7 are allowed" },
                { "name=a%00b", EDDY_E_FIELD_TEXT, "name", "name: the text has a zero byte" },
                { "name=%FF", EDDY_E_FIELD_TEXT, "name", "name: the text is not UTF-8" },
                { "q=%ED%A0%80", EDDY_E_FIELD_TEXT, "q", "q: the text is not UTF-8" },
                { "small=%FF", EDDY_E_FIELD_TYPE, "small", "small: \"\\udcff\" is not an integer" },
                { "small=1&small=2", EDDY_E_FIELD_DUPLICATE, "small",
                  "small: the field is given twice" },
                { "small=1&small=2&small=x", EDDY_E_FIELD_DUPLICATE, "small",
                  "small: the field is given twice" },
                { "numbers=1&numbers=x", EDDY_E_FIELD_TYPE, "numbers[1]",
                  "numbers[1]: \"x\" is not an integer" },
                { "numbers=1&numbers=2&numbers=3&numbers=4", EDDY_E_FIELD_LENGTH, "numbers",
                  "numbers: more than 3 items" },
                { "q=1&name=%4", EDDY_E_URL_INVALID, "",
                  "byte 10: '%' without two hexadecimal digits" },
                { "%&q=1", EDDY_E_URL_INVALID, "", "byte 1: '%' without two hexadecimal digits" },
                { "other=%zz", EDDY_E_URL_INVALID, "",
                  "byte 7: '%' without two hexadecimal digits" },
        };

        for (size_t i = 0; i < ed_array_count(rows); i++)
                check_row(&search_fields, &rows[i]);
}

TEST(unknown_names_are_refused_by_a_strict_table)
{
        static const struct row rows[] = {
                { "name=a&other=1", EDDY_E_FIELD_UNKNOWN, "other",
                  "other: the field is not known" },
                { "Name=a", EDDY_E_FIELD_UNKNOWN, "Name", "Name: the field is not known" },
                { "name%00=a", EDDY_E_FIELD_UNKNOWN, "name\\u0000",
                  "name\\u0000: the field is not known" },
                { "=a", EDDY_E_FIELD_UNKNOWN, "", "the field is not known" },
        };

        for (size_t i = 0; i < ed_array_count(rows); i++)
                check_row(&strict_fields, &rows[i]);
        CHECK_EQ(read_text(&search_fields, "name%00=a&=b", &(struct search){ 0 }, NULL), 0);
}

TEST(required_field_is_missed)
{
        static const struct eddy_field list[] = {
                EDDY_FIELD(struct search, small, EDDY_FIELD_REQUIRED),
                EDDY_FIELD_LIST(struct search, tags, tags_count, EDDY_FIELD_REQUIRED),
        };
        static const struct eddy_fields fields = EDDY_FIELDS(struct search, list, 0);
        struct search search = { 0 };
        struct eddy_json_error error;
        char *text;
        size_t bytes;

        CHECK_EQ(read_text(&fields, "tags=a", &search, &error), EDDY_E_FIELD_MISSING);
        CHECK_STR(error.path, "small");
        CHECK_EQ(read_flags(&fields, "tags=a&small=", 13, EDDY_QUERY_SKIP_EMPTY, &search, &error),
                 EDDY_E_FIELD_MISSING);
        CHECK_EQ(read_text(&fields, "small=1", &search, &error), EDDY_E_FIELD_MISSING);
        CHECK_STR(error.path, "tags");
        CHECK_EQ(eddy_query_write(&fields, &search, 0, &text, &bytes, &error),
                 EDDY_E_FIELD_MISSING);
        CHECK_STR(error.text, "tags: a query cannot have an empty list");
}

/* ---- pairs ----------------------------------------------------------------------------------- */

TEST(pairs_are_read_as_they_are)
{
        const struct eddy_url_pair pairs[] = {
                { "q", "a+b%20" }, { "small", "-5" }, { "tags[]", "x" }, { "tags[]", "" }
        };
        const struct eddy_url_pair bad[] = { { "q", "a" }, { "small", NULL } };
        struct search search = { 0 };
        struct eddy_json_error error;

        CHECK_EQ(eddy_query_read_pairs(&strict_fields, pairs, 4, 0, &search, NULL), 0);
        CHECK_STR(search.text, "a+b%20");
        CHECK_EQ(search.small, -5);
        CHECK_EQ(search.tags_count, 2);
        eddy_fields_fini(&search_fields, &search);
        CHECK_EQ(eddy_query_read_pairs(&search_fields, bad, 2, 0, &search, &error), -EINVAL);
        CHECK_STR(error.text, "pair 2 has no name or no value");
        CHECK_EQ(eddy_query_read_pairs(&search_fields, NULL, 0, 0, &search, NULL), 0);
        CHECK_EQ(eddy_query_read_pairs(&search_fields, bad, 1, 2, &search, &error), -EINVAL);
        CHECK_EQ(eddy_query_read(&search_fields, "", 0, 2, &search, &error), -EINVAL);
}

TEST(pairs_have_a_maximum)
{
        static char text[2 * (EDDY_QUERY_PAIRS_MAX + 1)];
        struct search search = { 0 };
        struct eddy_json_error error;

        for (size_t i = 0; i < sizeof(text); i++)
                text[i] = i % 2 ? '&' : 'a';
        CHECK_EQ(read_flags(&search_fields, text, sizeof(text) - 2, 0, &search, NULL), 0);
        CHECK_EQ(read_flags(&search_fields, text, sizeof(text), 0, &search, &error),
                 EDDY_E_FIELD_LENGTH);
        CHECK_STR(error.text, "more than 65536 pairs");
        for (size_t i = 0; i < sizeof(text); i++)
                text[i] = '&';
        CHECK_EQ(read_flags(&search_fields, text, sizeof(text), 0, &search, NULL), 0);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void check_written(const struct search *search, unsigned flags, const char *expected)
{
        struct eddy_json_error error;
        char *text;
        size_t bytes;

        CHECK_EQ(eddy_query_write(&search_fields, search, flags, &text, &bytes, &error), 0);
        CHECK_STR(text, expected);
        CHECK_EQ(strlen(text), bytes);
        eddy_free(text);
}

TEST(each_kind_of_field_is_written)
{
        struct search search = { 0 };

        CHECK_EQ(read_text(&search_fields, whole, &search, NULL), 0);
        check_written(&search, 0,
                      "q=two%20words%26%3D%2B&name=caf%C3%A9&on=true&small=-128&"
                      "large=18446744073709551615&ratio=0.25&color=deep%20blue&"
                      "numbers=1&numbers=-2&numbers=3&tags%5B%5D=a&tags%5B%5D=");
        search.ratio = 1e-9;
        search.has_small = false;
        search.numbers_count = 0;
        check_written(&search, EDDY_URL_PLUS,
                      "q=two+words%26%3D%2B&name=caf%C3%A9&on=true&large=18446744073709551615&"
                      "ratio=1e-9&color=deep+blue&tags%5B%5D=a&tags%5B%5D=");
        eddy_fields_fini(&search_fields, &search);
}

TEST(wrong_struct_is_not_written)
{
        struct search search = { .ratio = 2 };
        struct eddy_json_error error;
        char *text = NULL;
        size_t bytes;

        CHECK_EQ(eddy_query_write(&search_fields, &search, 0, &text, &bytes, &error),
                 EDDY_E_FIELD_RANGE);
        CHECK_STR(error.path, "ratio");
        CHECK_EQ(eddy_query_write(&search_fields, &search, EDDY_URL_SLASH, &text, &bytes, NULL),
                 -EINVAL);
        CHECK(!text);
}

struct login {
        int32_t id;
        char *word;
        int32_t *made;
        size_t made_count;
        char *note;
        bool is_null;
};

static const struct eddy_field login_list[] = {
        EDDY_FIELD(struct login, id, EDDY_FIELD_REQUIRED, EDDY_FIELD_READ_ONLY),
        EDDY_FIELD(struct login, word, EDDY_FIELD_REQUIRED, EDDY_FIELD_WRITE_ONLY),
        EDDY_FIELD_LIST(struct login, made, made_count, EDDY_FIELD_REQUIRED, EDDY_FIELD_READ_ONLY),
        EDDY_FIELD(struct login, note, EDDY_FIELD_NULL_FLAG(struct login, is_null)),
};
static const struct eddy_fields login_fields = EDDY_FIELDS(struct login, login_list, 0);

TEST(query_is_written_as_a_request)
{
        char word[] = "secret", *text = NULL;
        struct login login = { .id = 7, .word = word };
        size_t bytes;

        CHECK_EQ(eddy_query_write(&login_fields, &login, 0, &text, &bytes, NULL), 0);
        CHECK_STR(text, "word=secret");
        eddy_free(text);
}

TEST(query_with_null_is_not_written)
{
        char word[] = "secret", *text = NULL;
        struct login login = { .word = word, .is_null = true };
        struct eddy_json_error error;
        size_t bytes;

        CHECK_EQ(eddy_query_write(&login_fields, &login, 0, &text, &bytes, &error),
                 EDDY_E_FIELD_MISSING);
        CHECK_STR(error.text, "note: a query cannot have null");
        CHECK(!text);
}

TEST(table_with_structs_is_refused)
{
        struct outer {
                struct search in;
                char *raw;
        };
        static const struct eddy_field list[] = { EDDY_FIELD_STRUCT(struct outer, in,
                                                                    &search_fields) };
        static const struct eddy_field raw_list[] = { EDDY_FIELD_RAW(struct outer, raw) };
        static const struct eddy_fields fields[] = { EDDY_FIELDS(struct outer, list, 0),
                                                     EDDY_FIELDS(struct outer, raw_list, 0) };
        struct outer outer = { 0 };
        struct eddy_json_error error;
        char *text;
        size_t bytes;

        for (int i = 0; i < 2; i++) {
                CHECK_EQ(eddy_query_check(&fields[i], &error), EDDY_E_FIELD_TABLE);
                CHECK_STR(error.path, i == 0 ? "in" : "raw");
                CHECK_EQ(eddy_query_read(&fields[i], "", 0, 0, &outer, NULL), EDDY_E_FIELD_TABLE);
                CHECK_EQ(eddy_query_write(&fields[i], &outer, 0, &text, &bytes, NULL),
                         EDDY_E_FIELD_TABLE);
        }
        CHECK_EQ(eddy_query_check(&search_fields, NULL), 0);
        CHECK_EQ(eddy_query_check(NULL, NULL), EDDY_E_FIELD_TABLE);
}

/* ---- all errors ------------------------------------------------------------------------------ */

/* "PATH: MESSAGE" of each entry, with a line feed after each. */
static void check_list(struct eddy_field_errors *errors, const char *expected)
{
        char lines[1024] = "";

        for (size_t i = 0; i < errors->count; i++) {
                size_t n = strlen(lines);

                snprintf(lines + n, sizeof(lines) - n, "%s: %s\n", errors->list[i].path,
                         errors->list[i].message);
        }
        CHECK_STR(lines, expected);
        CHECK_EQ(errors->all, errors->count);
        eddy_field_errors_fini(errors);
}

static int read_all(const struct eddy_fields *fields, const char *text, struct search *out,
                    struct eddy_field_errors *errors)
{
        return eddy_query_read_all(fields, text, strlen(text), 0, out, errors);
}

TEST(all_errors_are_listed_in_the_order_of_the_table)
{
        struct eddy_field_errors errors = { 0 };
        struct search search = { .small = 7 };

        CHECK_EQ(read_all(&strict_fields,
                          "other=1&tags[]=%00&color=pink&numbers=x&numbers=2&numbers=3e9&on=&"
                          "ratio=2&small=1&small=x&large=-1&name=12345678&q=%FF&tags[]=b",
                          &search, &errors),
                 EDDY_E_FIELD_TEXT);
        CHECK_EQ(errors.list[0].error, EDDY_E_FIELD_TEXT);
        CHECK_EQ(errors.list[8].steps_count, 2);
        CHECK_EQ(errors.list[8].steps[1].index, 2);
        for (size_t i = 0; i < errors.count; i++)
                CHECK_EQ(errors.list[i].offset, 0);
        check_list(&errors, "q: the text is not UTF-8\n"
                            "name: a string of 8 bytes, at most 7 are allowed\n"
                            "on: \"\" is not a bool\n"
                            "small: the field is given twice\n"
                            "large: -1 is below the minimum 0\n"
                            "ratio: 2 is above the maximum 1\n"
                            "color: \"pink\" is not one of red, green, deep blue\n"
                            "numbers[0]: \"x\" is not an integer\n"
                            "numbers[2]: 3e9 is not an integer\n"
                            "tags[][0]: the text has a zero byte\n"
                            "other: the field is not known\n");
        CHECK(search.small == 7 && !search.text && !search.tags);
}

TEST(faults_of_the_whole_query_are_single_entries)
{
        static const struct eddy_field list[] = { EDDY_FIELD_RAW(struct search, text) };
        static const struct eddy_fields fields = EDDY_FIELDS(struct search, list, 0);
        static char many[2 * (EDDY_QUERY_PAIRS_MAX + 1)];
        struct eddy_field_errors errors = { 0 };
        struct search search = { 0 };

        CHECK_EQ(read_all(&search_fields, "small=x&name=%4&on=%", &search, &errors),
                 EDDY_E_URL_INVALID);
        CHECK_EQ(errors.list[0].offset, 13);
        CHECK_EQ(errors.list[0].steps_count, 0);
        check_list(&errors, ": byte 14: '%' without two hexadecimal digits\n");
        CHECK_EQ(read_all(&fields, "small=x", &search, &errors), EDDY_E_FIELD_TABLE);
        check_list(&errors, ": text: a query has no structs, maps, unions or raw values\n");
        for (size_t i = 0; i < sizeof(many); i++)
                many[i] = i % 2 ? '&' : 'a';
        CHECK_EQ(eddy_query_read_all(&search_fields, many, sizeof(many), 0, &search, &errors),
                 EDDY_E_FIELD_LENGTH);
        check_list(&errors, ": more than 65536 pairs\n");
}

TEST(a_query_and_parameters_of_a_path_share_a_list)
{
        const struct eddy_url_pair pairs[] = { { "small", "a/b" }, { "color", "red" } };
        struct eddy_field_errors errors = { 0 };
        struct search search = { 0 };

        CHECK_EQ(read_all(&search_fields, "on=2&large=x", &search, &errors), EDDY_E_FIELD_TYPE);
        CHECK_EQ(eddy_query_read_pairs_all(&search_fields, pairs, 2, 0, &search, &errors),
                 EDDY_E_FIELD_TYPE);
        CHECK_EQ(eddy_query_read_pairs_all(&search_fields, pairs + 1, 1, 0, &search, &errors), 0);
        CHECK_EQ(search.color, RED);
        check_list(&errors, "on: \"2\" is not a bool\n"
                            "large: \"x\" is not an integer\n"
                            "small: \"a/b\" is not an integer\n");
}

TEST(a_list_is_not_touched_by_success_and_wrong_calls)
{
        const struct eddy_url_pair bad = { "small", NULL };
        struct eddy_field_errors errors = { .max = EDDY_FIELD_ERRORS_MAX + 1 };
        struct search search = { 0 };

        CHECK_EQ(read_all(&search_fields, "small=x", &search, &errors), -EINVAL);
        CHECK_EQ(eddy_query_read_pairs_all(&search_fields, NULL, 0, 0, &search, &errors), -EINVAL);
        errors.max = 1;
        CHECK_EQ(eddy_query_read_pairs_all(&search_fields, &bad, 1, 0, &search, &errors), -EINVAL);
        CHECK_EQ(eddy_query_read_all(&search_fields, "", 0, 2, &search, &errors), -EINVAL);
        CHECK_EQ(read_all(&search_fields, "small=1", &search, &errors), 0);
        CHECK(!errors.list && errors.all == 0 && search.small == 1);
        CHECK_EQ(read_all(&search_fields, "small=x&large=x&on=x", &search, &errors),
                 EDDY_E_FIELD_TYPE);
        CHECK(errors.count == 1 && errors.all == 3 && search.small == 1);
        eddy_field_errors_fini(&errors);
        CHECK_EQ(read_all(&search_fields, "small=x", &search, NULL), EDDY_E_FIELD_TYPE);
}

TEST(read_only_fields_are_ignored)
{
        static const struct eddy_field list[] = {
                EDDY_FIELD(struct search, small, EDDY_FIELD_REQUIRED, EDDY_FIELD_READ_ONLY),
                EDDY_FIELD(struct search, large, EDDY_FIELD_WRITE_ONLY),
        };
        static const struct eddy_fields fields =
                EDDY_FIELDS(struct search, list, EDDY_FIELDS_STRICT);
        struct search search = { .small = 7 };

        CHECK_EQ(read_text(&fields, "small=x&large=5", &search, NULL), 0);
        CHECK_EQ(search.small, 7);
        CHECK_EQ(search.large, 5);
}

TEST(formats_and_unique_items_are_checked)
{
        static const struct eddy_field list[] = {
                EDDY_FIELD(struct search, text, EDDY_FIELD_FORMAT("date")),
                EDDY_FIELD_ARRAY(struct search, numbers, numbers_count, EDDY_FIELD_UNIQUE),
                EDDY_FIELD_LIST(struct search, tags, tags_count, EDDY_FIELD_ITEM_LENGTH(1, 3),
                                EDDY_FIELD_FORMAT("email")),
        };
        static const struct eddy_fields fields = EDDY_FIELDS(struct search, list, 0);
        struct eddy_field_errors errors = { 0 };
        struct search search = { 0 };

        CHECK_EQ(read_text(&fields, "text=2026-01-31&numbers=1&numbers=2&tags=a@b", &search, NULL),
                 0);
        eddy_fields_fini(&fields, &search);
        CHECK(read_all(&fields, "text=2026-02-30&numbers=1&numbers=1&tags=&tags=abc&tags=a@b.c",
                       &search, &errors) < 0);
        check_list(&errors, "text: the date does not exist\n"
                            "numbers[1]: an earlier item is equal\n"
                            "tags[0]: a string of 0 bytes, at least 1 are allowed\n"
                            "tags[1]: an email address has an @-sign\n"
                            "tags[2]: a string of 5 bytes, at most 3 are allowed\n");
}

/* ---- memory ---------------------------------------------------------------------------------- */

TEST(each_allocation_of_a_list_may_fail)
{
        static const char wrong[] = "small=x&numbers=1&numbers=x&large=-1&ratio=3&q=text";
        struct eddy_field_errors errors = { 0 };
        struct search search = { 0 };
        int fails = 0, err;

        eddy_alloc_set(starve, NULL);
        for (;; fails++) {
                allocations_left = fails;
                err = read_all(&search_fields, wrong, &search, &errors);
                CHECK(!search.text);
                if (err != -ENOMEM)
                        break;
                eddy_field_errors_fini(&errors);
        }
        allocations_left = -1;
        CHECK(fails > 8);
        CHECK_EQ(err, EDDY_E_FIELD_TYPE);
        CHECK_EQ(errors.count, 4);
        eddy_field_errors_fini(&errors);
        eddy_alloc_set(NULL, NULL);
}

TEST(each_allocation_may_fail)
{
        struct search search = { 0 };
        struct eddy_json_error error;
        size_t bytes;
        int fails = 0, err;
        char *text;

        eddy_alloc_set(starve, NULL);
        for (;; fails++) {
                allocations_left = fails;
                err = eddy_query_read(&search_fields, whole, sizeof(whole) - 1, 0, &search, &error);
                if (err == 0)
                        break;
                CHECK_EQ(err, -ENOMEM);
                CHECK(!search.text && !search.tags && error.error == -ENOMEM);
        }
        CHECK(fails > 5);
        for (fails = 0;; fails++) {
                allocations_left = fails;
                text = NULL;
                err = eddy_query_write(&search_fields, &search, 0, &text, &bytes, &error);
                if (err == 0)
                        break;
                CHECK(err == -ENOMEM && !text);
        }
        CHECK(fails > 3);
        allocations_left = -1;
        check_whole(&search);
        eddy_free(text);
        eddy_fields_fini(&search_fields, &search);
        eddy_alloc_set(NULL, NULL);
}

/* ---- mutation -------------------------------------------------------------------------------- */

static unsigned chance(uint64_t *seed, size_t below)
{
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        return (unsigned) ((*seed >> 33) % below);
}

/* Change a byte, remove a few, or put a piece in. */
static size_t mutate(char *text, size_t bytes, size_t room, uint64_t *seed)
{
        static const char *const pieces[] = { "%00",  "%",       "%FF",       "&",  "=",
                                              "+",    "%C3",     "&small",    "-1", "1e9",
                                              "&on=", "&q=",     "tags[]",    "&&", "%26",
                                              "%3D",  "numbers", "&color=red" };
        const char *piece = pieces[chance(seed, ed_array_count(pieces))];
        size_t at = chance(seed, bytes + 1), n = strlen(piece), cut;

        switch (chance(seed, 3)) {
        case 0:
                if (at < bytes)
                        text[at] = (char) chance(seed, 256);
                return bytes;
        case 1:
                cut = chance(seed, 4);
                cut = cut < bytes - at ? cut : bytes - at;
                memmove(text + at, text + at + cut, bytes - at - cut);
                return bytes - cut;
        default:
                if (bytes + n > room)
                        return bytes;
                memmove(text + at + n, text + at, bytes - at);
                memcpy(text + at, piece, n);
                return bytes + n;
        }
}

/* A text that is read is written as a text that gives an equal one; a failure has a sentence. */
static bool check_mutant(const struct eddy_fields *fields, const char *text, size_t bytes)
{
        struct search first = { 0 }, second = { 0 };
        struct eddy_field_errors errors = { 0 };
        struct eddy_json_error error = { 0 };
        size_t once_bytes, twice_bytes;
        char *once, *twice;
        int err = read_flags(fields, text, bytes, 0, &first, &error);

        if (err < 0) {
                CHECK(error.error == err && error.text[0] && !first.text && !first.tags);
                CHECK_EQ(eddy_query_read_all(fields, text, bytes, 0, &first, &errors), err);
                CHECK(errors.count > 0 && errors.list[0].error == err);
                CHECK(strstr(error.text, errors.list[0].message) || strlen(error.text) > 250);
                eddy_field_errors_fini(&errors);
                return false;
        }
        CHECK_EQ(eddy_query_write(fields, &first, EDDY_URL_PLUS, &once, &once_bytes, NULL), 0);
        CHECK_EQ(read_flags(fields, once, once_bytes, 0, &second, &error), 0);
        CHECK_EQ(eddy_query_write(fields, &second, EDDY_URL_PLUS, &twice, &twice_bytes, NULL), 0);
        CHECK(once_bytes == twice_bytes && memcmp(once, twice, once_bytes) == 0);
        eddy_free(once);
        eddy_free(twice);
        eddy_fields_fini(fields, &first);
        eddy_fields_fini(fields, &second);
        return true;
}

TEST(mutants_are_read_alike_or_refused)
{
        unsigned mutants = test_is_full() ? 200000 : 5000, read = 0;
        char text[512];

        for (unsigned i = 1; i <= mutants; i++) {
                uint64_t seed = i * 0x9e3779b97f4a7c15u;
                size_t bytes = sizeof(whole) - 1;

                memcpy(text, whole, bytes);
                for (unsigned n = chance(&seed, 4); n > 0; n--)
                        bytes = mutate(text, bytes, sizeof(text), &seed);
                read += check_mutant(&search_fields, text, bytes);
                check_mutant(&strict_fields, text, bytes);
        }
        printf("# %u mutants, %u read\n", mutants, read);
        CHECK(read > mutants / 10 && read < mutants);
}
