/*
 * test_schema.c - JSON Schema of tables: each kind, shape and option, names of definitions, and each
 * allocation that fails. test_schema_judge.c has the verdicts of a validator.
 */
#include <errno.h>
#include <math.h>

#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/schema.h"

#include "base/fields.h"
#include "starve.h"
#include "test.h"

struct point {
        double x;
        float y;
};

struct label {
        char key[4];
        char *value;
};

struct shape {
        int type;
        union {
                struct point spot;
                struct label sign;
        } as;
};

struct thing {
        bool on;
        int8_t small;
        int64_t i64;
        uint64_t u64;
        double ratio;
        char text[8];
        char *string, *raw;
        int color;
        struct point at;
        struct shape shape;
        int32_t numbers[3];
        size_t numbers_count;
        struct point *path;
        size_t path_count;
        char **words;
        size_t words_count;
        struct label *labels;
        size_t labels_count;
        bool is_null;
};

static const struct eddy_field point_list[] = {
        EDDY_FIELD(struct point, x, EDDY_FIELD_REQUIRED),
        EDDY_FIELD(struct point, y, EDDY_FIELD_MIN(-1.5), EDDY_FIELD_MAX(INT64_MAX)),
};
static const struct eddy_fields point_fields =
        EDDY_FIELDS(struct point, point_list, EDDY_FIELDS_STRICT);
static const struct eddy_fields other_point_fields = EDDY_FIELDS(struct point, point_list, 0);

static const struct eddy_field label_list[] = {
        EDDY_FIELD(struct label, key),
        EDDY_FIELD(struct label, value, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(1, 9)),
};
static const struct eddy_fields label_fields = EDDY_FIELDS(struct label, label_list, 0);

static const char *const types[] = { "spot", "road sign", NULL };
static const struct eddy_field shape_list[] = {
        EDDY_FIELD_TAG(struct shape, type, types, EDDY_FIELD_AS("kind")),
        EDDY_FIELD_STRUCT(struct shape, as.spot, &point_fields),
        EDDY_FIELD_STRUCT(struct shape, as.sign, &label_fields),
};
static const struct eddy_fields shape_fields = EDDY_FIELDS(struct shape, shape_list, 0);

#define PREFIX "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","

/* Returns the schema, owned, after a check that its text is valid and ends in a NUL. */
static char *schema_of(const struct eddy_fields *fields, const struct eddy_schema_opts *opts)
{
        struct eddy_json_error error;
        char *text;
        size_t bytes;

        CHECK_EQ(eddy_schema_write(fields, opts, &text, &bytes, &error), 0);
        CHECK_EQ(strlen(text), bytes);
        CHECK_EQ(eddy_json_check(text, bytes, NULL, NULL), 0);
        return text;
}

static void check_schema(const struct eddy_fields *fields, const struct eddy_schema_opts *opts,
                         const char *expected)
{
        char *text = schema_of(fields, opts);

        CHECK_STR(text, expected);
        eddy_free(text);
}

/* The schema of one field, as a member of "properties". */
static void check_field(struct eddy_field field, const char *expected)
{
        const struct eddy_fields fields = { .list = &field,
                                            .count = 1,
                                            .bytes = sizeof(struct thing) };
        char *text = schema_of(&fields, NULL), *end;
        const char *begin = strstr(text, "\"properties\":{");

        CHECK(begin);
        begin = strchr(begin + strlen("\"properties\":{"), ':') + 1;
        end = text + (begin - text) + strlen(expected);
        CHECK(strlen(begin) >= strlen(expected));
        if (*end != '}')
                test_fail(__FILE__, __LINE__, "%s", begin);
        *end = '\0';
        CHECK_STR(begin, expected);
        eddy_free(text);
}

#define FIELD(...) ((struct eddy_field) __VA_ARGS__)

TEST(scalars_have_exact_limits)
{
        check_field(FIELD(EDDY_FIELD(struct thing, on, EDDY_FIELD_REQUIRED)),
                    "{\"type\":\"boolean\"}");
        check_field(FIELD(EDDY_FIELD(struct thing, on)), "{\"type\":[\"boolean\",\"null\"]}");
        check_field(FIELD(EDDY_FIELD(struct thing, small, EDDY_FIELD_REQUIRED)),
                    "{\"type\":\"integer\",\"format\":\"int8\",\"minimum\":-128,\"maximum\":127}");
        check_field(FIELD(EDDY_FIELD(struct thing, i64, EDDY_FIELD_REQUIRED,
                                     EDDY_FIELD_MIN(INT64_MIN + 1))),
                    "{\"type\":\"integer\",\"format\":\"int64\",\"minimum\":-9223372036854775807,"
                    "\"maximum\":9223372036854775807}");
        check_field(FIELD(EDDY_FIELD(struct thing, u64, EDDY_FIELD_REQUIRED, EDDY_FIELD_MIN(0.5),
                                     EDDY_FIELD_MAX(UINT64_MAX - 1))),
                    "{\"type\":\"integer\",\"format\":\"uint64\",\"minimum\":1,"
                    "\"maximum\":18446744073709551614}");
        check_field(FIELD(EDDY_FIELD(struct thing, ratio, EDDY_FIELD_REQUIRED)),
                    "{\"type\":\"number\",\"format\":\"double\"}");
        check_field(FIELD(EDDY_FIELD(struct thing, ratio, EDDY_FIELD_MIN(-3), EDDY_FIELD_MAX(0.1))),
                    "{\"type\":[\"number\",\"null\"],\"format\":\"double\",\"minimum\":-3,"
                    "\"maximum\":0.1}");
        check_field(FIELD(EDDY_FIELD(struct thing, ratio, EDDY_FIELD_REQUIRED,
                                     EDDY_FIELD_MIN(-HUGE_VAL), EDDY_FIELD_MAX(HUGE_VAL))),
                    "{\"type\":\"number\",\"format\":\"double\"}");
        check_field(
                FIELD(EDDY_FIELD(struct point, y, EDDY_FIELD_REQUIRED, EDDY_FIELD_MAX(HUGE_VAL))),
                "{\"type\":\"number\",\"format\":\"float\",\"minimum\":-3.4028234663852886e+38,"
                "\"maximum\":3.4028234663852886e+38}");
        check_field(FIELD(EDDY_FIELD(struct point, y, EDDY_FIELD_REQUIRED)),
                    "{\"type\":\"number\",\"format\":\"float\",\"minimum\":-3.4028234663852886e+38,"
                    "\"maximum\":3.4028234663852886e+38}");
}

TEST(strings_have_lengths_and_formats)
{
        check_field(FIELD(EDDY_FIELD(struct thing, text, EDDY_FIELD_REQUIRED)),
                    "{\"type\":\"string\",\"maxLength\":7}");
        check_field(FIELD(EDDY_FIELD(struct thing, string)), "{\"type\":[\"string\",\"null\"]}");
        check_field(FIELD(EDDY_FIELD(struct thing, string, EDDY_FIELD_REQUIRED,
                                     EDDY_FIELD_LENGTH(2, 50), EDDY_FIELD_FORMAT("email"))),
                    "{\"type\":\"string\",\"minLength\":2,\"maxLength\":50,\"format\":\"email\"}");
        check_field(
                FIELD(EDDY_FIELD(struct thing, string, EDDY_FIELD_REQUIRED,
                                 EDDY_FIELD_FORMAT("ip"))),
                "{\"type\":\"string\",\"anyOf\":[{\"format\":\"ipv4\"},{\"format\":\"ipv6\"}]}");
        check_field(FIELD(EDDY_FIELD_RAW(struct thing, raw, EDDY_FIELD_REQUIRED,
                                         EDDY_FIELD_LENGTH(0, 9))),
                    "{}");
        check_field(FIELD(EDDY_FIELD_ENUM(struct thing, color, types, EDDY_FIELD_REQUIRED)),
                    "{\"type\":\"string\",\"enum\":[\"spot\",\"road sign\"]}");
        check_field(FIELD(EDDY_FIELD_ENUM(struct thing, color, types)),
                    "{\"type\":[\"string\",\"null\"],\"enum\":[\"spot\",\"road sign\",null]}");
        check_field(FIELD(EDDY_FIELD_ENUM(struct thing, color, types, EDDY_FIELD_REQUIRED,
                                          EDDY_FIELD_NULL_FLAG(struct thing, is_null))),
                    "{\"type\":[\"string\",\"null\"],\"enum\":[\"spot\",\"road sign\",null]}");
}

TEST(items_are_described)
{
        check_field(
                FIELD(EDDY_FIELD_ARRAY(struct thing, numbers, numbers_count, EDDY_FIELD_REQUIRED,
                                       EDDY_FIELD_MIN(0), EDDY_FIELD_MAX(9),
                                       EDDY_FIELD_LENGTH(1, 5), EDDY_FIELD_UNIQUE)),
                "{\"type\":\"array\",\"items\":{\"type\":\"integer\",\"format\":\"int32\","
                "\"minimum\":0,\"maximum\":9},\"minItems\":1,\"maxItems\":3,"
                "\"uniqueItems\":true}");
        check_field(FIELD(EDDY_FIELD_LIST(struct thing, words, words_count,
                                          EDDY_FIELD_ITEM_LENGTH(1, 20))),
                    "{\"type\":[\"array\",\"null\"],\"items\":{\"type\":\"string\",\"minLength\":1,"
                    "\"maxLength\":20}}");
        check_field(FIELD(EDDY_FIELD_LIST_OF(struct thing, path, path_count, &point_fields,
                                             EDDY_FIELD_REQUIRED)),
                    "{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/point\"}}");
        check_field(
                FIELD(EDDY_FIELD_MAP(struct thing, labels, labels_count, &label_fields,
                                     EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(1, 4))),
                "{\"type\":\"object\",\"propertyNames\":{\"maxLength\":3},"
                "\"additionalProperties\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":9},"
                "\"minProperties\":1,\"maxProperties\":4}");
        check_field(FIELD(EDDY_FIELD_STRUCT(struct thing, at, &point_fields)),
                    "{\"anyOf\":[{\"$ref\":\"#/$defs/point\"},{\"type\":\"null\"}]}");
}

TEST(documentation_is_written)
{
        check_field(FIELD(EDDY_FIELD(struct thing, on, EDDY_FIELD_REQUIRED, EDDY_FIELD_READ_ONLY,
                                     EDDY_FIELD_DESCRIPTION("Whether it \"runs\""),
                                     EDDY_FIELD_EXAMPLE("true"), EDDY_FIELD_DEFAULT("false"))),
                    "{\"type\":\"boolean\",\"description\":\"Whether it \\\"runs\\\"\","
                    "\"default\":false,\"examples\":[true],\"readOnly\":true}");
        check_field(
                FIELD(EDDY_FIELD_STRUCT(struct thing, at, &point_fields, EDDY_FIELD_REQUIRED,
                                        EDDY_FIELD_WRITE_ONLY, EDDY_FIELD_EXAMPLE("{\"x\":1}"))),
                "{\"$ref\":\"#/$defs/point\",\"examples\":[{\"x\":1}],\"writeOnly\":true}");
}

TEST(documents_have_their_definitions)
{
        static const struct eddy_schema_opts opts = { .id = "https://example.com/p",
                                                      .title = "A point" };

        check_schema(&point_fields, &opts,
                     PREFIX "\"$id\":\"https://example.com/p\",\"title\":\"A point\","
                            "\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"number\","
                            "\"format\":\"double\"},\"y\":{\"type\":[\"number\",\"null\"],"
                            "\"format\":\"float\",\"minimum\":-1.5,"
                            "\"maximum\":9223372036854775807}},\"required\":[\"x\"],"
                            "\"additionalProperties\":false}");
        check_schema(&(struct eddy_fields){ .bytes = 1 }, NULL,
                     PREFIX "\"type\":\"object\",\"properties\":{}}");
}

/* A union, its definitions, and a prefix. */
TEST(a_union_is_one_of_its_structs)
{
        static const struct eddy_schema_opts opts = { .ref_prefix = "#/components/schemas/" };
        char *text = schema_of(&shape_fields, &opts);

        CHECK(strstr(text, PREFIX
                     "\"type\":\"object\",\"oneOf\":[{\"$ref\":\"#/components/schemas/"
                     "shape_spot\"},"
                     "{\"$ref\":\"#/components/schemas/shape_road_sign\"}],\"discriminator\":{"
                     "\"propertyName\":\"kind\",\"mapping\":{"
                     "\"spot\":\"#/components/schemas/shape_spot\","
                     "\"road sign\":\"#/components/schemas/shape_road_sign\"}},\"$defs\":{"
                     "\"shape_spot\":{\"type\":\"object\",\"properties\":{\"kind\":{"
                     "\"const\":\"spot\"},\"x\":") == text);
        CHECK(strstr(text, "\"required\":[\"kind\",\"x\"],\"additionalProperties\":false},"
                           "\"shape_road_sign\":{\"type\":\"object\",\"properties\":{\"kind\":{"
                           "\"const\":\"road sign\"},\"key\":"));
        eddy_free(text);
}

/* ---- several tables -------------------------------------------------------------------------- */

static const struct eddy_field thing_list[] = {
        EDDY_FIELD_STRUCT(struct thing, at, &other_point_fields),
        EDDY_FIELD_STRUCT(struct thing, shape, &shape_fields, EDDY_FIELD_REQUIRED),
        EDDY_FIELD_LIST_OF(struct thing, path, path_count, &point_fields),
        EDDY_FIELD_MAP(struct thing, labels, labels_count, &label_fields),
};
static const struct eddy_fields thing_fields = EDDY_FIELDS(struct thing, thing_list, 0);

/* The names of the definitions, with spaces between them. */
static void names_of(const char *text, char *out, size_t room)
{
        struct eddy_json_value all, name, value;
        struct eddy_json_cursor cursor;

        *out = '\0';
        CHECK_EQ(eddy_json_parse(text, strlen(text), NULL, &all, NULL), 0);
        CHECK_EQ(eddy_json_walk(&all, &cursor), 0);
        while (eddy_json_next(&cursor, &name, &value)) {
                size_t n = strlen(out);

                snprintf(out + n, room - n, "%s%.*s", n > 0 ? " " : "", (int) name.bytes - 2,
                         name.text + 1);
        }
}

TEST(definitions_have_distinct_names)
{
        const struct eddy_fields *const tables[] = { &thing_fields, &point_fields, &thing_fields };
        struct eddy_json_error error;
        char *text, names[256];
        size_t bytes;

        CHECK_EQ(eddy_schema_write_defs(tables, 3, NULL, &text, &bytes, &error), 0);
        names_of(text, names, sizeof(names));
        CHECK_STR(names, "thing point point_2 shape shape_spot shape_road_sign");
        CHECK(strstr(text, "\"at\":{\"anyOf\":[{\"$ref\":\"#/$defs/point_2\"}"));
        CHECK(strstr(text, "\"items\":{\"$ref\":\"#/$defs/point\"}"));
        eddy_free(text);
        CHECK_EQ(eddy_schema_write_defs(NULL, 0, NULL, &text, &bytes, &error), 0);
        CHECK_STR(text, "{}");
        eddy_free(text);
}

TEST(names_of_types_become_names_of_definitions)
{
        static const struct {
                const char *type, *name;
        } rows[] = {
                { "struct user", "user" },         { "user_t", "user_t" }, { "union u", "u" },
                { "ns::user<1>", "ns__user_1_" },  { NULL, "table" },      { "struct ", "table" },
                { "caf\xc3\xa9.b-c", "caf__.b-c" }
        };
        char *text, names[256], longest[300];
        size_t bytes;

        for (size_t i = 0; i < ed_array_count(rows); i++) {
                const struct eddy_fields fields = { .bytes = 1, .name = rows[i].type };
                const struct eddy_fields *table = &fields;

                CHECK_EQ(eddy_schema_write_defs(&table, 1, NULL, &text, &bytes, NULL), 0);
                names_of(text, names, sizeof(names));
                CHECK_STR(names, rows[i].name);
                eddy_free(text);
        }
        memset(longest, 'x', sizeof(longest) - 1);
        longest[sizeof(longest) - 1] = '\0';
        {
                const struct eddy_fields a = { .bytes = 1, .name = longest }, b = a;
                const struct eddy_fields *const tables[] = { &a, &b };

                CHECK_EQ(eddy_schema_write_defs(tables, 2, NULL, &text, &bytes, NULL), 0);
                names_of(text, names, sizeof(names));
                CHECK(strlen(names) <= 2 * EDDY_SCHEMA_NAME_BYTES_MAX + 1);
                CHECK_STR(names + strlen(names) - 3, "x_2");
                eddy_free(text);
        }
}

TEST(maximum_of_definitions)
{
        enum { TABLES = EDDY_SCHEMA_DEFS_MAX + 1 };
        static struct eddy_fields all[TABLES];
        static const struct eddy_fields *tables[TABLES];
        static char names[TABLES][8];
        struct eddy_json_error error;
        char *text = NULL;
        size_t bytes;

        for (size_t i = 0; i < TABLES; i++) {
                snprintf(names[i], sizeof(names[i]), "t%zu", i);
                all[i] = (struct eddy_fields){ .bytes = 1, .name = names[i] };
                tables[i] = &all[i];
        }
        CHECK_EQ(eddy_schema_write_defs(tables, TABLES, NULL, &text, &bytes, &error), -EMSGSIZE);
        CHECK_STR(error.text, "more than EDDY_SCHEMA_DEFS_MAX definitions");
        CHECK(!text);
}

TEST(wrong_tables_and_options_are_refused)
{
        static const struct eddy_field list[] = { EDDY_FIELD(struct thing, string,
                                                             EDDY_FIELD_FORMAT("emial")) };
        static const struct eddy_fields fields = EDDY_FIELDS(struct thing, list, 0);
        const struct eddy_fields *const tables[] = { &point_fields, &fields };
        struct eddy_json_error error;
        char *text = NULL;
        size_t bytes;

        CHECK_EQ(eddy_schema_write(&fields, NULL, &text, &bytes, &error), EDDY_E_FIELD_TABLE);
        CHECK_STR(error.path, "string");
        CHECK_EQ(eddy_schema_write_defs(tables, 2, NULL, &text, &bytes, NULL), EDDY_E_FIELD_TABLE);
        CHECK_EQ(eddy_schema_write(NULL, NULL, &text, &bytes, NULL), EDDY_E_FIELD_TABLE);
        CHECK_EQ(eddy_schema_write(&point_fields, &(struct eddy_schema_opts){ .flags = 1 }, &text,
                                   &bytes, &error),
                 -EINVAL);
        CHECK(!text);
}

TEST(each_allocation_may_fail)
{
        char *expected = schema_of(&thing_fields, NULL), *text = NULL;
        struct eddy_json_error error;
        int fails = 0, err;
        size_t bytes;

        eddy_alloc_set(starve, NULL);
        for (;; fails++) {
                allocations_left = fails;
                err = eddy_schema_write(&thing_fields, NULL, &text, &bytes, &error);
                if (err == 0)
                        break;
                CHECK(err == -ENOMEM && error.error == -ENOMEM && !text);
        }
        allocations_left = -1;
        CHECK(fails > 2);
        CHECK_STR(text, expected);
        eddy_free(text);
        eddy_alloc_set(NULL, NULL);
        eddy_free(expected);
}
