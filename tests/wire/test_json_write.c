/*
 * test_json_write.c - texts from structs: shortest numbers, what is left out, what is refused; and
 * random tables with random structs, which come back as they were written.
 */
#include <errno.h>
#include <locale.h>
#include <math.h>

#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/json.h"

#include "starve.h"
#include "test.h"

struct one {
        double number;
        char *string;
        char *raw;
        int32_t i32;
        bool has_i32;
        char text[4];
        int color;
        int64_t *list;
        size_t list_count;
};

static const char *const colors[] = { "red", "green", NULL };
static const struct eddy_field one_list[] = {
        EDDY_FIELD(struct one, number, EDDY_FIELD_MAX(1e300)),
        EDDY_FIELD(struct one, string, EDDY_FIELD_LENGTH(0, 5)),
        EDDY_FIELD_RAW(struct one, raw),
        EDDY_FIELD(struct one, i32, EDDY_FIELD_FLAG(struct one, has_i32), EDDY_FIELD_MIN(0)),
        EDDY_FIELD(struct one, text),
        EDDY_FIELD_ENUM(struct one, color, colors, EDDY_FIELD_AS("c\"d")),
        EDDY_FIELD_LIST(struct one, list, list_count, EDDY_FIELD_LENGTH(0, 3)),
};
static const struct eddy_fields one_fields = EDDY_FIELDS(struct one, one_list, 0);

static void check_written(const struct one *one, const char *expected)
{
        char *text;
        size_t bytes;

        CHECK_EQ(eddy_json_write(&one_fields, one, &text, &bytes, NULL), 0);
        CHECK_STR(text, expected);
        CHECK_EQ(bytes, strlen(expected));
        eddy_free(text);
}

TEST(a_struct_is_written_in_the_order_of_its_table)
{
        int64_t list[2] = { INT64_MIN, INT64_MAX };
        struct one one = { .number = 0.1, .text = "abc", .list = list, .list_count = 2 };

        check_written(&one, "{\"number\":0.1,\"text\":\"abc\",\"c\\\"d\":\"red\","
                            "\"list\":[-9223372036854775808,9223372036854775807]}");
        one.string = (char *) "\xc3\xa9\n";
        one.raw = (char *) " [ 1, {\"a\" : 2 } ]\n";
        one.i32 = 5;
        one.has_i32 = true;
        one.list_count = 0;
        check_written(&one, "{\"number\":0.1,\"string\":\"\xc3\xa9\\n\",\"raw\":[1,{\"a\":2}],"
                            "\"i32\":5,\"text\":\"abc\",\"c\\\"d\":\"red\",\"list\":[]}");
}

static void check_refused(const struct one *one, int expected, const char *sentence)
{
        struct eddy_json_error error;
        char *text = NULL;
        size_t bytes = 5;

        CHECK_EQ(eddy_json_write(&one_fields, one, &text, &bytes, &error), expected);
        CHECK_EQ(error.error, expected);
        CHECK_STR(error.text, sentence);
        CHECK(!text && bytes == 5);
}

TEST(a_struct_that_could_not_be_read_is_not_written)
{
        int64_t list[4] = { 0 };

        check_refused(&(struct one){ .number = NAN }, EDDY_E_FIELD_RANGE,
                      "number: nan is not a number of JSON");
        check_refused(&(struct one){ .number = -INFINITY }, EDDY_E_FIELD_RANGE,
                      "number: -inf is not a number of JSON");
        check_refused(&(struct one){ .number = INFINITY }, EDDY_E_FIELD_RANGE,
                      "number: inf is above the maximum 1.0000000000000001e+300");
        check_refused(&(struct one){ .has_i32 = true, .i32 = -1 }, EDDY_E_FIELD_RANGE,
                      "i32: -1 is below the minimum 0");
        check_refused(&(struct one){ .color = 2 }, EDDY_E_FIELD_RANGE, "c\"d: 2 has no name");
        check_refused(&(struct one){ .color = -1 }, EDDY_E_FIELD_RANGE, "c\"d: -1 has no name");
        check_refused(&(struct one){ .string = (char *) "123456" }, EDDY_E_FIELD_LENGTH,
                      "string: a string of 6 bytes, 0 to 5 are allowed");
        check_refused(&(struct one){ .string = (char *) "\xff" }, EDDY_E_FIELD_TEXT,
                      "string: the string is not UTF-8");
        check_refused(&(struct one){ .text = { 'a', 'b', 'c', 'd' } }, EDDY_E_FIELD_TEXT,
                      "text: the array has no NUL");
        check_refused(&(struct one){ .list = list, .list_count = 4 }, EDDY_E_FIELD_LENGTH,
                      "list: 4 items, 0 to 3 are allowed");
        check_refused(&(struct one){ .list_count = 1 }, EDDY_E_FIELD_LENGTH,
                      "list: 0 items, 0 to 3 are allowed");
        check_refused(&(struct one){ .raw = (char *) "{" }, EDDY_E_JSON_TRUNCATED,
                      "raw: line 1, column 2: the text ends here; a name in quotes expected");
        check_refused(&(struct one){ .raw = (char *) "" }, EDDY_E_JSON_TRUNCATED,
                      "raw: line 1, column 1: the text ends here; a value expected");
}

/* Members whose limits or formats do not allow 0 or nothing. */
struct picky {
        int32_t i32, below;
        uint8_t u8;
        double real;
        float small;
        char name[8], id[40];
        int64_t array[4], *list;
        size_t array_count, list_count;
        bool flag;
        int32_t flagged;
};

static const struct eddy_field picky_list[] = {
        EDDY_FIELD(struct picky, i32, EDDY_FIELD_MIN(1)),
        EDDY_FIELD(struct picky, below, EDDY_FIELD_MAX(-1)),
        EDDY_FIELD(struct picky, u8, EDDY_FIELD_MIN(1), EDDY_FIELD_MAX(9)),
        EDDY_FIELD(struct picky, real, EDDY_FIELD_MIN(0.5)),
        EDDY_FIELD(struct picky, small, EDDY_FIELD_MAX(-0.5)),
        EDDY_FIELD(struct picky, name, EDDY_FIELD_LENGTH(1, 7)),
        EDDY_FIELD(struct picky, id, EDDY_FIELD_FORMAT("uuid")),
        EDDY_FIELD_ARRAY(struct picky, array, array_count, EDDY_FIELD_LENGTH(1, 4)),
        EDDY_FIELD_LIST(struct picky, list, list_count, EDDY_FIELD_LENGTH(1, 4)),
        EDDY_FIELD(struct picky, flagged, EDDY_FIELD_FLAG(struct picky, flag), EDDY_FIELD_MIN(1)),
};
static const struct eddy_fields picky_fields = EDDY_FIELDS(struct picky, picky_list, 0);

static void check_picky(const struct picky *picky, const char *expected)
{
        size_t bytes;
        char *text;

        CHECK_EQ(eddy_json_write(&picky_fields, picky, &text, &bytes, NULL), 0);
        CHECK_STR(text, expected);
        eddy_free(text);
}

TEST(a_zero_that_its_limits_do_not_allow_is_left_out)
{
        struct picky picky = { 0 };

        CHECK_EQ(eddy_json_read(&picky_fields, "{}", 2, &picky, NULL), 0);
        check_picky(&picky, "{}");
        picky = (struct picky){ .i32 = 1, .below = -1, .u8 = 9, .real = 0.5, .small = -0.5f };
        check_picky(&picky, "{\"i32\":1,\"below\":-1,\"u8\":9,\"real\":0.5,\"small\":-0.5}");
        picky = (struct picky){ .name = "a", .array_count = 1, .list = &(int64_t){ 0 } };
        picky.list_count = 1;
        check_picky(&picky, "{\"name\":\"a\",\"array\":[0],\"list\":[0]}");
}

TEST(a_wrong_value_is_an_error_if_it_is_required_or_said_to_be_given_or_not_zero)
{
        static const struct picky wrong[] = {
                { .flag = true }, { .i32 = -1 },  { .below = 1 },         { .u8 = 10 },
                { .real = 0.25 }, { .small = 1 }, { .name = "12345678" }, { .id = "x" },
        };
        static const struct eddy_field list[] = {
                EDDY_FIELD(struct picky, i32, EDDY_FIELD_REQUIRED, EDDY_FIELD_MIN(1)),
        };
        static const struct eddy_fields fields = EDDY_FIELDS(struct picky, list, 0);
        size_t bytes;
        char *text;

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
                CHECK(eddy_json_write(&picky_fields, &wrong[i], &text, &bytes, NULL) < 0);
        CHECK_EQ(eddy_json_write(&fields, &(struct picky){ 0 }, &text, &bytes, NULL),
                 EDDY_E_FIELD_RANGE);
}

TEST(a_raw_text_has_limits_after_its_white_space_is_gone)
{
        struct raw {
                char *text;
        };
        const struct eddy_field list[] = { EDDY_FIELD_RAW(struct raw, text,
                                                          EDDY_FIELD_LENGTH(3, 5)) };
        const struct eddy_fields fields = EDDY_FIELDS(struct raw, list, 0);
        struct eddy_json_error error;
        size_t bytes;
        char *text;

        CHECK_EQ(eddy_json_write(&fields, &(struct raw){ (char *) "[ ]" }, &text, &bytes, &error),
                 EDDY_E_FIELD_LENGTH);
        CHECK_STR(error.text, "text: a text of 2 bytes, 3 to 5 are allowed");
        CHECK_EQ(eddy_json_write(&fields, &(struct raw){ (char *) "123456" }, &text, &bytes, NULL),
                 EDDY_E_FIELD_LENGTH);
        CHECK_EQ(eddy_json_write(&fields, &(struct raw){ (char *) " [  1  ] " }, &text, &bytes,
                                 NULL),
                 0);
        CHECK_STR(text, "{\"text\":[1]}");
        eddy_free(text);
}

/* The depth of the raw field adds to that of the structs around it. */
TEST(a_raw_text_that_is_too_deep_to_be_read_is_not_written)
{
        char raw[2 * EDDY_JSON_DEPTH_DEFAULT + 1] = "";
        struct one one = { .raw = raw }, back = { 0 };
        const size_t depth = EDDY_JSON_DEPTH_DEFAULT - 1;
        size_t bytes;
        char *text;

        memset(raw, '[', depth + 1);
        memset(raw + depth + 1, ']', depth + 1);
        CHECK_EQ(eddy_json_write(&one_fields, &one, &text, &bytes, NULL), EDDY_E_JSON_DEPTH);
        memset(raw + depth, ']', depth);
        raw[2 * depth] = '\0';
        CHECK_EQ(eddy_json_write(&one_fields, &one, &text, &bytes, NULL), 0);
        CHECK_EQ(eddy_json_read(&one_fields, text, bytes, &back, NULL), 0);
        CHECK_STR(back.raw, raw);
        eddy_fields_fini(&one_fields, &back);
        eddy_free(text);
}

TEST(a_required_string_that_is_null_is_missing)
{
        struct must {
                char *string;
        };
        const struct eddy_field list[] = { EDDY_FIELD(struct must, string, EDDY_FIELD_REQUIRED) };
        const struct eddy_fields fields = EDDY_FIELDS(struct must, list, 0);
        struct eddy_json_error error;
        struct must must = { NULL };
        size_t bytes;
        char *text;

        CHECK_EQ(eddy_json_write(&fields, &must, &text, &bytes, &error), EDDY_E_FIELD_MISSING);
        CHECK_STR(error.text, "string: the string is NULL");
}

static void check_number(double number, const char *expected)
{
        char text[160];

        snprintf(text, sizeof(text), "{\"number\":%s,\"text\":\"\",\"c\\\"d\":\"red\",\"list\":[]}",
                 expected);
        check_written(&(struct one){ .number = number }, text);
}

TEST(doubles_are_written_in_their_shortest_form_in_every_locale)
{
        const char *locale = setlocale(LC_NUMERIC, "de_DE.UTF-8");

        check_number(0, "0");
        check_number(-0.0, "-0");
        check_number(1, "1");
        check_number(-1.5, "-1.5");
        check_number(0.1, "0.1");
        check_number(1.0 / 3, "0.3333333333333333");
        check_number(9.95, "9.95"); /* 9.949999999999999 with 16 digits */
        check_number(0.1 + 0.2, "0.30000000000000004");
        check_number(123456789012345680.0, "123456789012345680");
        check_number(1e20, "100000000000000000000");
        check_number(1e21, "1e+21");
        check_number(1.25e-6, "0.00000125");
        check_number(1e-7, "1e-7");
        check_number(-1.5e-9, "-1.5e-9");
        check_number(5e-324, "5e-324");
        check_number(2.2250738585072014e-308, "2.2250738585072014e-308");
        check_number(9007199254740993.0, "9007199254740992");
        printf("# locale: %s\n", locale ? locale : "C");
}

static unsigned random_word(uint64_t *seed)
{
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        return (unsigned) (*seed >> 33);
}

TEST(random_doubles_come_back_exactly)
{
        uint64_t seed = 11;

        for (int i = 0; i < 200000; i++) {
                uint64_t bits = (uint64_t) random_word(&seed) << 33 ^
                                (uint64_t) random_word(&seed) << 11 ^ random_word(&seed);
                struct one one = { 0 }, back = { 0 };
                char *text;
                size_t bytes;

                memcpy(&one.number, &bits, sizeof(bits));
                if (i % 2)
                        one.number =
                                (double) (int) random_word(&seed) / (1 + random_word(&seed) % 1000);
                if (!isfinite(one.number) || one.number > 1e300)
                        continue;
                CHECK_EQ(eddy_json_write(&one_fields, &one, &text, &bytes, NULL), 0);
                CHECK_EQ(eddy_json_read(&one_fields, text, bytes, &back, NULL), 0);
                CHECK_EQ(memcmp(&one.number, &back.number, sizeof(double)), 0);
                eddy_free(text);
                eddy_fields_fini(&one_fields, &back);
        }
}

TEST(each_allocation_of_a_write_that_fails_is_enomem)
{
        int64_t list[3] = { 1, 2, 3 };
        char long_text[2000];
        int failed = 0;

        memset(long_text, '7', sizeof(long_text));
        long_text[sizeof(long_text) - 1] = '\0';
        eddy_alloc_set(starve, NULL);
        for (int n = 0;; n++) {
                struct one one = { .raw = long_text, .list = list, .list_count = 3 };
                struct eddy_json_error error;
                char *text = NULL;
                size_t bytes;
                int err;

                allocations_left = n;
                err = eddy_json_write(&one_fields, &one, &text, &bytes, &error);
                allocations_left = -1;
                if (err == 0) {
                        eddy_free(text);
                        break;
                }
                CHECK_EQ(err, -ENOMEM);
                CHECK(!text);
                failed++;
        }
        CHECK(failed >= 2);
}

/* ---- random tables --------------------------------------------------------------------------- */

enum { FIELDS = 12, STRUCT_BYTES = 1024, LEVELS = 3 };

struct table {
        struct eddy_field list[FIELDS];
        struct eddy_fields fields;
};

static const char *const names[FIELDS] = { "a", "b", "c d", "\xc3\xa9", "e\"", "f.g",
                                           "",  "h", "\\i", "j\n",      "k",   "l" };

/* Room for a member; the struct has no other layout than this. */
static size_t take(size_t *at, size_t bytes)
{
        size_t offset = (*at + 7) & ~(size_t) 7;

        *at = offset + bytes;
        CHECK(*at <= STRUCT_BYTES);
        return offset;
}

static size_t bytes_of(int kind, uint64_t *seed, const struct table *inner)
{
        switch (kind) {
        case EDDY_KIND_BOOL:
                return 1;
        case EDDY_KIND_INT:
        case EDDY_KIND_UINT:
                return (size_t) 1 << random_word(seed) % 4;
        case EDDY_KIND_CHARS:
                return 1 + random_word(seed) % 20;
        case EDDY_KIND_ENUM:
                return sizeof(int);
        case EDDY_KIND_STRUCT:
                return inner->fields.bytes;
        default:
                return 8;
        }
}

static void table_init(struct table *table, uint64_t *seed, const struct table *inner)
{
        size_t at = 0, count = random_word(seed) % (FIELDS + 1);

        for (size_t i = 0; i < count; i++) {
                struct eddy_field *field = &table->list[i];
                int kind = 1 + (int) (random_word(seed) % (inner ? 9 : 8));

                *field = (struct eddy_field){ .name = names[i], .kind = kind };
                field->bytes = bytes_of(kind, seed, inner);
                field->fields = kind == EDDY_KIND_STRUCT ? &inner->fields : NULL;
                field->names = kind == EDDY_KIND_ENUM ? colors : NULL;
                if (kind != EDDY_KIND_RAW && kind != EDDY_KIND_ENUM && field->bytes < 200)
                        field->shape = (int) (random_word(seed) % 3);
                field->required = random_word(seed) % 4 == 0;
                if (field->shape == EDDY_SHAPE_ARRAY)
                        field->items_max = 1 + random_word(seed) % 2;
                if (at + field->bytes * 2 + 40 > STRUCT_BYTES / (inner ? 1 : 4))
                        break;
                field->offset = take(&at, field->shape == EDDY_SHAPE_LIST ? 8
                                          : field->shape == EDDY_SHAPE_ARRAY
                                                  ? field->bytes * field->items_max
                                                  : field->bytes);
                if (field->shape != EDDY_SHAPE_ONE)
                        field->count_offset = take(&at, sizeof(size_t));
                if (random_word(seed) % 2)
                        field->flag = 1 + take(&at, 1);
                table->fields.count = i + 1;
        }
        table->fields.list = table->list;
        table->fields.bytes = (at + 7) & ~(size_t) 7;
}

static char *random_text(uint64_t *seed, char *out, size_t bytes_max)
{
        static const char *const units[] = { "a", "\"", "\\", "\n", "\xc3\xa9", "\xf0\x9f\x98\x80",
                                             "/" };
        size_t at = 0, wanted = random_word(seed) % (bytes_max + 1);

        for (;;) {
                const char *unit = units[random_word(seed) % 7];
                size_t n = strlen(unit);

                if (at + n > wanted)
                        break;
                memcpy(out + at, unit, n);
                at += n;
        }
        out[at] = '\0';
        return out;
}

static char *owned(const char *text)
{
        char *copy = eddy_malloc(strlen(text) + 1);

        CHECK(copy);
        return memcpy(copy, text, strlen(text) + 1);
}

static void fill(const struct eddy_fields *fields, char *out, uint64_t *seed);

static void fill_one(const struct eddy_field *field, char *at, uint64_t *seed)
{
        static const char *const raws[] = { "null", "1.50", "\"x\"", "[1,{\"a\":[]}]", "{}" };
        double number = (double) (int) random_word(seed) / 128;
        char text[64];
        int color = (int) (random_word(seed) % 2);

        switch (field->kind) {
        case EDDY_KIND_BOOL:
                *at = (char) (random_word(seed) % 2);
                break;
        case EDDY_KIND_INT:
        case EDDY_KIND_UINT:
                for (size_t i = 0; i < field->bytes; i++)
                        at[i] = (char) random_word(seed);
                break;
        case EDDY_KIND_DOUBLE:
                memcpy(at, &number, sizeof(number));
                break;
        case EDDY_KIND_CHARS:
                random_text(seed, at, field->bytes - 1);
                break;
        case EDDY_KIND_STRING:
                *(char **) (void *) at = owned(random_text(seed, text, 40));
                break;
        case EDDY_KIND_RAW:
                *(char **) (void *) at = owned(raws[random_word(seed) % 5]);
                break;
        case EDDY_KIND_ENUM:
                memcpy(at, &color, sizeof(color));
                break;
        default:
                fill(field->fields, at, seed);
        }
}

static void fill(const struct eddy_fields *fields, char *out, uint64_t *seed)
{
        for (size_t i = 0; i < fields->count; i++) {
                const struct eddy_field *field = &fields->list[i];
                char *items = out + field->offset;
                size_t count = random_word(seed) % 4;

                if (field->flag > 0)
                        out[field->flag - 1] = (char) (field->required || random_word(seed) % 2);
                if (field->flag > 0 && !out[field->flag - 1])
                        continue;
                if (field->shape == EDDY_SHAPE_ONE) {
                        fill_one(field, items, seed);
                        continue;
                }
                if (field->shape == EDDY_SHAPE_ARRAY && count > field->items_max)
                        count = field->items_max;
                if (field->shape == EDDY_SHAPE_LIST && count > 0) {
                        char *list = eddy_malloc(count * field->bytes);

                        CHECK(list);
                        memset(list, 0, count * field->bytes);
                        memcpy(items, &list, sizeof(list));
                        items = list;
                }
                for (size_t n = 0; n < count; n++)
                        fill_one(field, items + n * field->bytes, seed);
                memcpy(out + field->count_offset, &count, sizeof(count));
        }
}

/* The struct that is read is written as the text that was read: the texts are equal, and each
 * value of the struct is in the text. */
TEST(random_structs_come_back_from_random_tables)
{
        uint64_t seed = 3;
        size_t texts = 0, longest = 0;

        for (int round = 0; round < 3000; round++) {
                static _Alignas(16) char in[STRUCT_BYTES], out[STRUCT_BYTES];
                struct table tables[LEVELS] = { 0 };
                const struct eddy_fields *fields = &tables[LEVELS - 1].fields;
                struct eddy_json_error error;
                char *text, *again;
                size_t bytes, again_bytes;

                for (int i = 0; i < LEVELS; i++)
                        table_init(&tables[i], &seed, i > 0 ? &tables[i - 1] : NULL);
                CHECK_EQ(eddy_fields_check(fields, NULL), 0);
                memset(in, 0, sizeof(in));
                memset(out, 0, sizeof(out));
                fill(fields, in, &seed);
                if (eddy_json_write(fields, in, &text, &bytes, &error) < 0)
                        test_fail(__FILE__, __LINE__, "%s", error.text);
                if (eddy_json_read(fields, text, bytes, out, &error) < 0)
                        test_fail(__FILE__, __LINE__, "%s in %s", error.text, text);
                CHECK_EQ(eddy_json_write(fields, out, &again, &again_bytes, NULL), 0);
                CHECK_STR(again, text);
                longest = bytes > longest ? bytes : longest;
                texts++;
                eddy_free(text);
                eddy_free(again);
                eddy_fields_fini(fields, in);
                eddy_fields_fini(fields, out);
        }
        printf("# %zu random structs, the longest text has %zu bytes\n", texts, longest);
}
