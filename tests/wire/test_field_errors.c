/*
 * test_field_errors.c - all errors of a text: each kind, paths of any length, more errors than a list
 * has room for, allocations that fail, and agreement with the first error.
 */
#include <errno.h>

#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/field_errors.h"
#include "eddy/json.h"

#include "starve.h"
#include "test.h"

struct circle {
        float radius;
};

struct square {
        double side;
        char *name;
};

struct shape {
        int type;
        union {
                struct circle circle;
                struct square square;
        } as;
};

struct header {
        char *name;
        char *value;
};

struct count {
        char name[8];
        uint8_t number;
};

struct user {
        char name[16];
        char *mail;
        uint8_t age;
        bool has_age, no_age;
        int64_t low;
        uint64_t high;
        char words[24][6];
        size_t words_count;
        double *numbers;
        size_t numbers_count;
        struct header *headers;
        size_t headers_count;
        struct count *counts;
        size_t counts_count;
        struct shape shape;
        struct shape *shapes;
        size_t shapes_count;
        char *id;
        char *password;
        char slug[16];
};

static const char *slug_fault(const char *text, size_t bytes)
{
        return memchr(text, ' ', bytes) ? "a slug has no spaces" : NULL;
}

static const struct eddy_field circle_list[] = {
        EDDY_FIELD(struct circle, radius, EDDY_FIELD_REQUIRED, EDDY_FIELD_MIN(0)),
};
static const struct eddy_fields circle_fields =
        EDDY_FIELDS(struct circle, circle_list, EDDY_FIELDS_STRICT);
static const struct eddy_field square_list[] = {
        EDDY_FIELD(struct square, side, EDDY_FIELD_REQUIRED),
        EDDY_FIELD(struct square, name),
};
static const struct eddy_fields square_fields =
        EDDY_FIELDS(struct square, square_list, EDDY_FIELDS_STRICT);
static const char *const types[] = { "circle", "square", NULL };
static const struct eddy_field shape_list[] = {
        EDDY_FIELD_TAG(struct shape, type, types),
        EDDY_FIELD_STRUCT(struct shape, as.circle, &circle_fields),
        EDDY_FIELD_STRUCT(struct shape, as.square, &square_fields),
};
static const struct eddy_fields shape_fields = EDDY_FIELDS(struct shape, shape_list, 0);
static const struct eddy_field header_list[] = {
        EDDY_FIELD(struct header, name, EDDY_FIELD_LENGTH(1, 40)),
        EDDY_FIELD(struct header, value),
};
static const struct eddy_fields header_fields = EDDY_FIELDS(struct header, header_list, 0);
static const struct eddy_field count_list[] = {
        EDDY_FIELD(struct count, name),
        EDDY_FIELD(struct count, number, EDDY_FIELD_REQUIRED),
};
static const struct eddy_fields count_fields = EDDY_FIELDS(struct count, count_list, 0);
static const struct eddy_field user_list[] = {
        EDDY_FIELD(struct user, name, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(1, 15)),
        EDDY_FIELD(struct user, mail, EDDY_FIELD_FORMAT("email")),
        EDDY_FIELD(struct user, age, EDDY_FIELD_FLAG(struct user, has_age),
                   EDDY_FIELD_NULL_FLAG(struct user, no_age), EDDY_FIELD_MAX(150)),
        EDDY_FIELD(struct user, low, EDDY_FIELD_MIN(-9007199254740993)),
        EDDY_FIELD(struct user, high, EDDY_FIELD_MAX(18446744073709551614u)),
        EDDY_FIELD_ARRAY(struct user, words, words_count, EDDY_FIELD_ITEM_LENGTH(1, 5),
                         EDDY_FIELD_UNIQUE),
        EDDY_FIELD_LIST(struct user, numbers, numbers_count, EDDY_FIELD_UNIQUE),
        EDDY_FIELD_MAP(struct user, headers, headers_count, &header_fields),
        EDDY_FIELD_MAP(struct user, counts, counts_count, &count_fields, EDDY_FIELD_LENGTH(1, 30)),
        EDDY_FIELD_STRUCT(struct user, shape, &shape_fields),
        EDDY_FIELD_LIST_OF(struct user, shapes, shapes_count, &shape_fields),
        EDDY_FIELD(struct user, id, EDDY_FIELD_REQUIRED, EDDY_FIELD_READ_ONLY),
        EDDY_FIELD(struct user, password, EDDY_FIELD_REQUIRED, EDDY_FIELD_WRITE_ONLY),
        EDDY_FIELD(struct user, slug, EDDY_FIELD_FORMAT_FN("slug", slug_fault)),
};
static const struct eddy_fields user_fields =
        EDDY_FIELDS(struct user, user_list, EDDY_FIELDS_STRICT);

static const char good[] =
        "{\"name\":\"Ada\",\"mail\":\"ada@example.org\",\"age\":null,\"low\":-9007199254740993,"
        "\"high\":18446744073709551614,\"words\":[\"t\",\"k\",\"a\",\"b\",\"c\",\"d\",\"e\",\"f\","
        "\"g\",\"h\",\"i\",\"j\",\"l\",\"m\",\"n\",\"o\",\"p\",\"q\",\"r\",\"s\"],"
        "\"numbers\":[1,2,0.5],"
        "\"headers\":{\"accept\":\"*/*\",\"\\u00e9\":null},\"counts\":{\"a\":1,\"b\":2},"
        "\"shape\":{\"type\":\"square\",\"side\":2,\"name\":\"s\"},"
        "\"shapes\":[{\"radius\":0.25,\"type\":\"circle\"},{\"type\":\"square\",\"side\":1}],"
        "\"id\":\"7\",\"password\":\"secret\",\"slug\":\"a-b\"}";

/* Each wrong field of a document, as "path: message", one a line. */
static int read_all(const char *text, unsigned flags, struct user *user, char *out, size_t room)
{
        struct eddy_field_errors errors = { 0 };
        int err = eddy_json_read_all(&user_fields, text, strlen(text), flags, user, &errors);
        size_t at = 0;

        out[0] = '\0';
        for (size_t i = 0; i < errors.count; i++) {
                const struct eddy_field_error *error = &errors.list[i];

                CHECK(error->error < 0 && error->offset <= strlen(text));
                at += (size_t) snprintf(out + at, room - at, "%s: %s\n", error->path,
                                        error->message);
                CHECK(at < room);
        }
        CHECK_EQ(errors.all, errors.count);
        CHECK_EQ(err, errors.count ? errors.list[0].error : 0);
        eddy_field_errors_fini(&errors);
        return err;
}

TEST(a_right_text_leaves_the_list_alone)
{
        struct eddy_field_errors errors = { 0 };
        struct user user = { 0 };

        CHECK_EQ(eddy_json_read_all(&user_fields, good, strlen(good), EDDY_JSON_REQUEST, &user,
                                    &errors),
                 0);
        CHECK(!errors.list && errors.count == 0 && errors.all == 0);
        CHECK(user.no_age && !user.has_age && !user.id);
        CHECK_EQ(user.low, -9007199254740993);
        CHECK(user.high == UINT64_MAX - 1);
        CHECK_EQ(user.words_count, 20);
        CHECK_EQ(user.headers_count, 2);
        CHECK_STR(user.headers[0].name, "accept");
        CHECK_STR(user.headers[0].value, "*/*");
        CHECK_STR(user.headers[1].name, "\xc3\xa9");
        CHECK(!user.headers[1].value);
        CHECK_EQ(user.counts_count, 2);
        CHECK_STR(user.counts[1].name, "b");
        CHECK_EQ(user.counts[1].number, 2);
        CHECK_EQ(user.shape.type, 1);
        CHECK(user.shape.as.square.side == 2);
        CHECK_STR(user.shape.as.square.name, "s");
        CHECK_EQ(user.shapes_count, 2);
        CHECK(user.shapes[0].type == 0 && user.shapes[0].as.circle.radius == 0.25f);
        CHECK(user.shapes[1].type == 1 && user.shapes[1].as.square.side == 1);
        CHECK_STR(user.password, "secret");
        eddy_fields_fini(&user_fields, &user);
}

static const char head[] = "{\"name\":\"A\",\"id\":\"\",\"password\":\"\"";

static const struct {
        const char *rest, *errors;
        int first;
} wrong[] = {
        { ",\"age\":151,\"mail\":\"x\"",
          "age: 151 is above the maximum 150\n"
          "mail: an email address has an @-sign\n",
          EDDY_E_FIELD_RANGE },
        { ",\"mail\":\"x\"", "mail: an email address has an @-sign\n", EDDY_E_FIELD_FORMAT },
        { ",\"slug\":\"a b\"", "slug: a slug has no spaces\n", EDDY_E_FIELD_FORMAT },
        { ",\"low\":-9007199254740994",
          "low: -9007199254740994 is below the minimum -9007199254740993\n", EDDY_E_FIELD_RANGE },
        { ",\"high\":18446744073709551615",
          "high: 18446744073709551615 is above the maximum 18446744073709551614\n",
          EDDY_E_FIELD_RANGE },
        { ",\"words\":[\"\",\"123456\",1,null,\"a\",\"a\"]",
          "words[0]: a string of 0 bytes, at least 1 are allowed\n"
          "words[1]: a string of 6 bytes, at most 5 are allowed\n"
          "words[2]: a string is needed, not a number\n"
          "words[3]: a string is needed, not null\n",
          EDDY_E_FIELD_LENGTH },
        { ",\"words\":[\"a\",\"b\",\"a\"]", "words[2]: an earlier item is equal\n",
          EDDY_E_FIELD_UNIQUE },
        { ",\"numbers\":[1,-0.0,0,1]", "numbers[2]: an earlier item is equal\n",
          EDDY_E_FIELD_UNIQUE },
        { ",\"numbers\":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,4,1]",
          "numbers[19]: an earlier item is equal\n", EDDY_E_FIELD_UNIQUE },
        { ",\"headers\":[]", "headers: an object is needed, not an array\n", EDDY_E_FIELD_TYPE },
        { ",\"headers\":{\"\":\"x\",\"a.b\":1,\"c\":\"\\u0000\"}",
          "headers.: a string of 0 bytes, at least 1 are allowed\n"
          "headers.a.b: a string is needed, not a number\n"
          "headers.c: the string has \\u0000\n",
          EDDY_E_FIELD_LENGTH },
        { ",\"headers\":{\"a\":\"x\",\"b\":\"y\",\"\\u0061\":\"z\"}",
          "headers.\\u0061: the name is given twice\n", EDDY_E_FIELD_DUPLICATE },
        { ",\"headers\":{\"\\u0000\":\"x\"}", "headers.\\u0000: the string has \\u0000\n",
          EDDY_E_FIELD_TEXT },
        { ",\"counts\":{}", "counts: 0 items, at least 1 are needed\n", EDDY_E_FIELD_LENGTH },
        { ",\"counts\":{\"12345678\":1,\"a\":256,\"b\":null}",
          "counts.12345678: a string of 8 bytes, at most 7 are allowed\n"
          "counts.a: 256 is above the maximum 255\n"
          "counts.b: null is not allowed\n",
          EDDY_E_FIELD_LENGTH },
        { ",\"shape\":{\"side\":1}", "shape.type: the field is missing\n", EDDY_E_FIELD_MISSING },
        { ",\"shape\":{\"type\":\"line\",\"side\":1}",
          "shape.type: \"line\" is not one of circle, square\n", EDDY_E_FIELD_RANGE },
        { ",\"shape\":{\"type\":null}", "shape.type: a string is needed, not null\n",
          EDDY_E_FIELD_TYPE },
        { ",\"shape\":[]", "shape: an object is needed, not an array\n", EDDY_E_FIELD_TYPE },
        { ",\"shape\":{\"side\":true,\"name\":1,\"type\":\"square\",\"x\":1,\"type\":\"circle\"}",
          "shape.side: a number is needed, not a bool\n"
          "shape.name: a string is needed, not a number\n"
          "shape.x: the field is not known\n"
          "shape.type: the field is given twice\n",
          EDDY_E_FIELD_TYPE },
        { ",\"shapes\":[{\"type\":\"circle\",\"side\":1},{},{\"type\":\"circle\",\"radius\":-1},"
          "{\"type\":\"circle\",\"radius\":1e39}]",
          "shapes[0].side: the field is not known\n"
          "shapes[0].radius: the field is missing\n"
          "shapes[1].type: the field is missing\n"
          "shapes[2].radius: -1 is below the minimum 0\n"
          "shapes[3].radius: 1e39 does not fit into a float\n",
          EDDY_E_FIELD_UNKNOWN },
        { ",\"name\":2,\"what\\n\":1",
          "name: the field is given twice\n"
          "what\\n: the field is not known\n",
          EDDY_E_FIELD_DUPLICATE },
};

TEST(each_kind_of_error_is_listed_with_its_path)
{
        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                struct user user = { .age = 9 };
                char text[512], found[2048];

                snprintf(text, sizeof(text), "%s%s}", head, wrong[i].rest);
                CHECK_EQ(read_all(text, 0, &user, found, sizeof(found)), wrong[i].first);
                CHECK_STR(found, wrong[i].errors);
                CHECK(user.age == 9 && !user.headers && !user.id);
        }
}

TEST(missing_fields_are_listed_after_wrong_ones)
{
        struct user user = { 0 };
        char found[512];

        CHECK_EQ(read_all("{\"age\":-1}", 0, &user, found, sizeof(found)), EDDY_E_FIELD_RANGE);
        CHECK_STR(found, "age: -1 is below the minimum 0\n"
                         "name: the field is missing\n"
                         "id: the field is missing\n");
        CHECK_EQ(read_all("{\"id\":[]}", EDDY_JSON_REQUEST, &user, found, sizeof(found)),
                 EDDY_E_FIELD_MISSING);
        CHECK_STR(found, "name: the field is missing\n"
                         "password: the field is missing\n");
}

TEST(a_text_that_is_not_json_is_one_error)
{
        struct eddy_field_errors errors = { 0 };
        struct user user = { 0 };

        CHECK_EQ(eddy_json_read_all(&user_fields, "{\n\"name\":}", 10, 0, &user, &errors),
                 EDDY_E_JSON_SYNTAX);
        CHECK_EQ(errors.count, 1);
        CHECK_EQ(errors.list[0].error, EDDY_E_JSON_SYNTAX);
        CHECK_EQ(errors.list[0].offset, 9);
        CHECK_EQ(errors.list[0].steps_count, 0);
        CHECK_STR(errors.list[0].path, "");
        CHECK(strncmp(errors.list[0].message, "line 2, column 8: ", 18) == 0);
        /* Another text's errors follow. */
        CHECK_EQ(eddy_json_read_all(&user_fields, "[]", 2, 0, &user, &errors), EDDY_E_FIELD_TYPE);
        CHECK_EQ(errors.count, 2);
        CHECK_STR(errors.list[1].message, "an object is needed, not an array");
        CHECK_STR(errors.list[1].path, "");
        eddy_field_errors_fini(&errors);
        eddy_field_errors_fini(NULL);
        CHECK(!errors.list && errors.all == 0 && errors.bytes == 0);
}

TEST(steps_name_the_fields_and_indices_of_a_path)
{
        static const char text[] =
                "{\"name\":\"A\",\"id\":\"\",\"shapes\":[{\"type\":\"circle\","
                "\"radius\":\"\"}],\"headers\":{\"\\u00e9\\\"\":0},\"\\ud800\":1}";
        struct eddy_field_errors errors = { 0 };
        const struct eddy_field_error *error;
        struct user user = { 0 };

        CHECK_EQ(eddy_json_read_all(&user_fields, text, strlen(text), 0, &user, &errors),
                 EDDY_E_FIELD_TYPE);
        CHECK_EQ(errors.count, 3);
        error = &errors.list[0];
        CHECK_EQ(error->steps_count, 3);
        CHECK_STR(error->steps[0].name, "shapes");
        CHECK(!error->steps[1].name && error->steps[1].index == 0);
        CHECK_STR(error->steps[2].name, "radius");
        CHECK_EQ(error->offset, strstr(text, "\"\"}]") - text);
        error = &errors.list[1];
        CHECK_EQ(error->steps_count, 2);
        CHECK_STR(error->steps[1].name, "\xc3\xa9\"");
        CHECK_STR(error->path, "headers.\\u00e9\\\"");
        /* A name that is not UTF-8 after its escapes keeps them. */
        CHECK_STR(errors.list[2].steps[0].name, "\\ud800");
        eddy_field_errors_fini(&errors);
}

TEST(a_path_of_any_length_is_whole)
{
        struct eddy_field_errors errors = { 0 };
        struct eddy_json_error cut;
        struct user user = { 0 };
        char name[3000], text[3100], path[3100];

        memset(name, 'n', sizeof(name));
        for (size_t bytes = 1; bytes < sizeof(name); bytes = bytes < 300 ? bytes + 1 : bytes * 2) {
                snprintf(text, sizeof(text),
                         "{\"name\":\"A\",\"id\":\"\",\"headers\":{\"%.*s\":1}}", (int) bytes,
                         name);
                snprintf(path, sizeof(path), "headers.%.*s", (int) bytes, name);
                CHECK(eddy_json_read_all(&user_fields, text, strlen(text), 0, &user, &errors) < 0);
                CHECK_STR(errors.list[errors.count - 1].path, path);
                CHECK_EQ(strlen(errors.list[errors.count - 1].steps[1].name), bytes);
                CHECK(eddy_json_read(&user_fields, text, strlen(text), &user, &cut) < 0);
                CHECK(strncmp(cut.path, path, 100) == 0);
                eddy_field_errors_fini(&errors);
        }
}

/* {"counts": {"a": {}, ...}} with an error for each entry. */
static char *make_wrong(size_t count)
{
        size_t room = 100 + 20 * count, at;
        char *text = malloc(room);

        CHECK(text);
        at = (size_t) snprintf(text, room, "%s,\"numbers\":[", head);
        for (size_t i = 0; i < count; i++)
                at += (size_t) snprintf(text + at, room - at, "%s\"%zu\"", i ? "," : "", i);
        snprintf(text + at, room - at, "]}");
        return text;
}

TEST(errors_above_the_maximum_are_counted)
{
        static const struct {
                size_t max, errors, entries;
        } rows[] = {
                { 0, 99, 99 }, { 0, 100, 100 },    { 0, 101, 100 },      { 1, 5, 1 },
                { 3, 4, 3 },   { 1000, 999, 999 }, { 1000, 1000, 1000 }, { 1000, 5000, 1000 }
        };

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                struct eddy_field_errors errors = { .max = rows[i].max };
                char *text = make_wrong(rows[i].errors), path[32];
                struct user user = { 0 };

                CHECK_EQ(eddy_json_read_all(&user_fields, text, strlen(text), 0, &user, &errors),
                         EDDY_E_FIELD_TYPE);
                CHECK_EQ(errors.count, rows[i].entries);
                CHECK_EQ(errors.all, rows[i].errors);
                snprintf(path, sizeof(path), "numbers[%zu]", errors.count - 1);
                CHECK_STR(errors.list[errors.count - 1].path, path);
                eddy_field_errors_fini(&errors);
                CHECK_EQ(errors.max, rows[i].max);
                free(text);
        }
}

TEST(texts_above_the_maximum_are_counted)
{
        size_t bytes = EDDY_FIELD_ERRORS_BYTES / 5, room = 4 * bytes;
        struct eddy_field_errors errors = { 0 };
        char *text = malloc(room), *name = malloc(bytes);
        struct user user = { 0 };

        CHECK(text && name);
        memset(name, 'n', bytes);
        snprintf(text, room, "%s,\"%.*s1\":1,\"%.*s2\":1,\"%.*s3\":1,\"x\":1}", head, (int) bytes,
                 name, (int) bytes, name, (int) bytes, name);
        CHECK_EQ(eddy_json_read_all(&user_fields, text, strlen(text), 0, &user, &errors),
                 EDDY_E_FIELD_UNKNOWN);
        CHECK_EQ(errors.all, 4);
        CHECK_EQ(errors.count, 3);
        CHECK(errors.bytes <= EDDY_FIELD_ERRORS_BYTES);
        CHECK_STR(errors.list[2].path, "x");
        eddy_field_errors_fini(&errors);
        free(text);
        free(name);
}

TEST(options_that_are_not_known_are_refused)
{
        struct eddy_field_errors errors = { .max = EDDY_FIELD_ERRORS_MAX + 1 };
        struct user user = { 0 };

        CHECK_EQ(eddy_json_read_all(&user_fields, good, strlen(good), 0, &user, &errors), -EINVAL);
        CHECK_EQ(eddy_json_read_all(&user_fields, good, strlen(good), 2, &user, NULL), -EINVAL);
        CHECK_EQ(eddy_json_read_all(&user_fields, "{}", 2, 0, &user, NULL), EDDY_E_FIELD_MISSING);
}

/* Each allocation fails once, of values and of entries; nothing leaks (ASan). */
TEST(without_memory_the_list_ends_and_the_call_is_enomem)
{
        struct eddy_field_errors whole = { 0 };
        struct user user = { 0 };
        char text[2048];
        int failed = 0;

        snprintf(text, sizeof(text), "%.*s,\"a\":1,\"b\":1,\"c\":{},\"d\":[],\"age\":1}",
                 (int) strlen(good) - 1, good);
        CHECK(eddy_json_read_all(&user_fields, text, strlen(text), 0, &user, &whole) < 0);
        CHECK_EQ(whole.count, 5);
        eddy_alloc_set(starve, NULL);
        for (int n = 0;; n++) {
                struct eddy_field_errors errors = { 0 };
                int err;

                allocations_left = n;
                err = eddy_json_read_all(&user_fields, text, strlen(text), 0, &user, &errors);
                allocations_left = -1;
                CHECK(errors.count <= whole.count);
                for (size_t i = 0; i < errors.count; i++) {
                        CHECK_STR(errors.list[i].path, whole.list[i].path);
                        CHECK_STR(errors.list[i].message, whole.list[i].message);
                }
                eddy_field_errors_fini(&errors);
                if (err != -ENOMEM)
                        break;
                failed++;
        }
        CHECK(failed >= 21);
        eddy_alloc_set(NULL, NULL);
        eddy_field_errors_fini(&whole);
}

static bool is_prefix(const char *cut, const char *whole)
{
        size_t bytes = strlen(cut);

        if (bytes > 3 && strcmp(cut + bytes - 3, "...") == 0)
                bytes -= 3;
        return strncmp(cut, whole, bytes) == 0;
}

/* Both modes agree on a text: that it is right, or on its first error. */
static bool agree(const char *text, size_t bytes)
{
        struct eddy_field_errors errors = { 0 };
        struct user one = { 0 }, all = { 0 };
        struct eddy_json_error error;
        int err = eddy_json_read(&user_fields, text, bytes, &one, &error);

        CHECK_EQ(eddy_json_read_all(&user_fields, text, bytes, 0, &all, &errors), err);
        if (err == 0) {
                CHECK(errors.all == 0 && !errors.list);
        } else {
                CHECK(errors.count > 0);
                CHECK_EQ(errors.list[0].error, err);
                CHECK_EQ(errors.list[0].offset, error.offset);
                CHECK(is_prefix(error.path, errors.list[0].path));
                CHECK(strstr(error.text, errors.list[0].message));
        }
        eddy_field_errors_fini(&errors);
        eddy_fields_fini(&user_fields, &one);
        eddy_fields_fini(&user_fields, &all);
        return err == 0;
}

TEST(the_first_error_of_each_mutant_is_that_of_the_list)
{
        static const char bytes[] = "\"\\{}[],:0-9e.nt \x80";
        int right = 0, wrong_count = 0;

        for (size_t at = 0; at < strlen(good); at++)
                for (size_t i = 0; i < sizeof(bytes) + 1; i++) {
                        char text[sizeof(good) + 8];
                        size_t length = strlen(good);

                        memcpy(text, good, length);
                        if (i < sizeof(bytes) - 1)
                                text[at] = bytes[i];
                        else if (i == sizeof(bytes) - 1)
                                memmove(text + at, good + at + 1, --length - at);
                        else
                                length = at;
                        if (agree(text, length))
                                right++;
                        else
                                wrong_count++;
                }
        CHECK(right > 0 && wrong_count > 1000);
}
