/*
 * test_json_kinds.c - maps, tagged unions, nulls, formats, unique items, and fields of requests or
 * responses only: what is written is read again, and what cannot be read is not written.
 */
#include <errno.h>
#include <math.h>

#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/field_errors.h"
#include "eddy/json.h"

#include "starve.h"
#include "test.h"

struct circle {
        float radius;
        char *label;
};

struct line {
        double from[2];
        size_t from_count;
};

struct shape {
        int type;
        union {
                struct circle circle;
                struct line line;
        } as;
};

/* The value of an entry is a list. */
struct group {
        char name[8];
        char **users;
        size_t users_count;
        bool has_users;
};

struct tag {
        char *name;
        struct shape shape;
};

struct all {
        struct group *groups;
        size_t groups_count;
        struct tag *tags;
        size_t tags_count;
        struct shape one;
        int32_t number;
        bool number_is_null;
        char *text;
        bool text_is_null;
        int16_t *unique;
        size_t unique_count;
        char *id;
        char *secret;
        char when[32];
        float ratio;
        bool has_when;
};

static const struct eddy_field circle_list[] = {
        EDDY_FIELD(struct circle, radius, EDDY_FIELD_REQUIRED),
        EDDY_FIELD(struct circle, label),
};
static const struct eddy_fields circle_fields = EDDY_FIELDS(struct circle, circle_list, 0);
static const struct eddy_field line_list[] = {
        EDDY_FIELD_ARRAY(struct line, from, from_count),
};
static const struct eddy_fields line_fields = EDDY_FIELDS(struct line, line_list, 0);
static const char *const types[] = { "circle", "line", NULL };
static const struct eddy_field shape_list[] = {
        EDDY_FIELD_TAG(struct shape, type, types),
        EDDY_FIELD_STRUCT(struct shape, as.circle, &circle_fields),
        EDDY_FIELD_STRUCT(struct shape, as.line, &line_fields),
};
static const struct eddy_fields shape_fields = EDDY_FIELDS(struct shape, shape_list, 0);
static const struct eddy_field group_list[] = {
        EDDY_FIELD(struct group, name),
        EDDY_FIELD_LIST(struct group, users, users_count, EDDY_FIELD_FLAG(struct group, has_users)),
};
static const struct eddy_fields group_fields = EDDY_FIELDS(struct group, group_list, 0);
static const struct eddy_field tag_list[] = {
        EDDY_FIELD(struct tag, name, EDDY_FIELD_LENGTH(1, 4)),
        EDDY_FIELD_STRUCT(struct tag, shape, &shape_fields),
};
static const struct eddy_fields tag_fields = EDDY_FIELDS(struct tag, tag_list, 0);
static const struct eddy_field all_list[] = {
        EDDY_FIELD_MAP(struct all, groups, groups_count, &group_fields, EDDY_FIELD_LENGTH(0, 20)),
        EDDY_FIELD_MAP(struct all, tags, tags_count, &tag_fields),
        EDDY_FIELD_STRUCT(struct all, one, &shape_fields),
        EDDY_FIELD(struct all, number, EDDY_FIELD_REQUIRED,
                   EDDY_FIELD_NULL_FLAG(struct all, number_is_null)),
        EDDY_FIELD(struct all, text, EDDY_FIELD_NULL_FLAG(struct all, text_is_null)),
        EDDY_FIELD_LIST(struct all, unique, unique_count, EDDY_FIELD_UNIQUE),
        EDDY_FIELD(struct all, id, EDDY_FIELD_REQUIRED, EDDY_FIELD_READ_ONLY),
        EDDY_FIELD(struct all, secret, EDDY_FIELD_REQUIRED, EDDY_FIELD_WRITE_ONLY),
        EDDY_FIELD(struct all, when, EDDY_FIELD_FLAG(struct all, has_when),
                   EDDY_FIELD_FORMAT("date-time")),
        EDDY_FIELD(struct all, ratio),
};
static const struct eddy_fields all_fields = EDDY_FIELDS(struct all, all_list, 0);

#define SHAPE "{\"type\":\"line\",\"from\":[1,2.5]}"
static const char request[] =
        "{\"groups\":{\"a\":[\"x\",\"y\"],\"\":null,\"b\":[]},\"tags\":{\"t\":" SHAPE ",\"u\":"
        "{\"type\":\"circle\",\"radius\":0.1,\"label\":\"l\"}},\"one\":" SHAPE
        ",\"number\":null,\"text\":null,\"unique\":[3,1,2],\"secret\":\"s\","
        "\"when\":\"2026-01-31T08:30:00Z\",\"ratio\":0.1}";

static int write_as(const struct all *all, unsigned flags, char **text)
{
        struct eddy_json_error error;
        size_t bytes;
        int err;

        *text = NULL;
        err = eddy_json_write_as(&all_fields, all, flags, text, &bytes, &error);
        if (err < 0)
                CHECK_EQ(error.error, err);
        return err;
}

TEST(a_request_that_is_read_is_written_again)
{
        struct eddy_json_error error;
        struct all all = { 0 };
        char *text;

        CHECK_EQ(eddy_json_read_all(&all_fields, request, strlen(request), EDDY_JSON_REQUEST, &all,
                                    NULL),
                 0);
        CHECK(all.number_is_null && all.text_is_null && all.has_when);
        CHECK_EQ(all.groups_count, 3);
        CHECK(all.groups[0].has_users && !all.groups[1].has_users && all.groups[2].has_users);
        CHECK_EQ(all.one.as.line.from_count, 2);
        CHECK_EQ(write_as(&all, EDDY_JSON_REQUEST, &text), 0);
        CHECK_STR(text, request);
        eddy_free(text);
        eddy_fields_fini(&all_fields, &all);
        CHECK(!all.groups && !all.tags);
        /* It lacks what a response needs. */
        CHECK_EQ(eddy_json_read(&all_fields, request, strlen(request), &all, &error),
                 EDDY_E_FIELD_MISSING);
        CHECK_STR(error.text, "id: the field is missing");
}

TEST(only_a_response_has_read_only_fields_and_only_a_request_has_write_only_ones)
{
        struct all all = { .id = (char *) "i", .secret = (char *) "s", .number = 4 };
        struct all back = { .number = 3 };
        char *text;

        CHECK_EQ(write_as(&all, 0, &text), 0);
        CHECK_STR(text, "{\"groups\":{},\"tags\":{},\"one\":{\"type\":\"circle\",\"radius\":0},"
                        "\"number\":4,\"unique\":[],\"id\":\"i\",\"ratio\":0}");
        CHECK_EQ(eddy_json_read(&all_fields, text, strlen(text), &back, NULL), 0);
        CHECK(back.id && !back.secret && back.number == 4 && !back.text_is_null);
        eddy_fields_fini(&all_fields, &back);
        eddy_free(text);
        all.id = NULL;
        CHECK_EQ(write_as(&all, 0, &text), EDDY_E_FIELD_MISSING);
        CHECK_EQ(write_as(&all, EDDY_JSON_REQUEST, &text), 0);
        CHECK(strstr(text, "\"secret\":\"s\"") && !strstr(text, "\"id\""));
        eddy_free(text);
        CHECK_EQ(write_as(&all, 2, &text), -EINVAL);
}

/* The value may have any type, and the field may be there twice. */
TEST(a_request_ignores_the_value_of_a_read_only_field)
{
        static const char text[] = "{\"id\":[1],\"number\":1,\"secret\":\"\",\"id\":{}}";
        struct all all = { 0 };

        CHECK_EQ(eddy_json_read_all(&all_fields, text, strlen(text), EDDY_JSON_REQUEST, &all, NULL),
                 0);
        CHECK(!all.id);
        eddy_fields_fini(&all_fields, &all);
}

TEST(a_struct_that_could_not_be_read_again_is_not_written)
{
        struct group groups[25] = { { .name = "a" }, { .name = "b" }, { .name = "a" } };
        struct tag tags[20] = { { .name = NULL } };
        int16_t numbers[40];
        struct all all = { .id = (char *) "i", .secret = (char *) "s" };
        char *text;

        all.groups = groups;
        all.groups_count = 3;
        CHECK_EQ(write_as(&all, 0, &text), EDDY_E_FIELD_DUPLICATE);
        all.groups_count = 21;
        CHECK_EQ(write_as(&all, 0, &text), EDDY_E_FIELD_LENGTH);
        memset(groups[0].name, 'n', sizeof(groups[0].name)); /* without its NUL */
        all.groups_count = 1;
        CHECK_EQ(write_as(&all, 0, &text), EDDY_E_FIELD_TEXT);
        all.groups_count = 0;
        all.tags = tags;
        all.tags_count = 1;
        CHECK_EQ(write_as(&all, 0, &text), EDDY_E_FIELD_MISSING);
        tags[0].name = (char *) "longer";
        CHECK_EQ(write_as(&all, 0, &text), EDDY_E_FIELD_LENGTH);
        tags[0].name = (char *) "tag";
        tags[0].shape.type = 2;
        CHECK_EQ(write_as(&all, 0, &text), EDDY_E_FIELD_RANGE);
        tags[0].shape.type = -1;
        CHECK_EQ(write_as(&all, 0, &text), EDDY_E_FIELD_RANGE);
        all.tags_count = 0;
        for (int i = 0; i < 40; i++)
                numbers[i] = (int16_t) (i * 37 % 41);
        all.unique = numbers;
        all.unique_count = 40;
        CHECK_EQ(write_as(&all, 0, &text), 0);
        eddy_free(text);
        numbers[39] = numbers[7];
        CHECK_EQ(write_as(&all, 0, &text), EDDY_E_FIELD_UNIQUE);
        all.unique_count = 39;
        all.has_when = true;
        CHECK_EQ(write_as(&all, 0, &text), EDDY_E_FIELD_FORMAT);
}

/* The twin of each pair of places is found, in short and in long lists. */
TEST(equal_items_are_found_wherever_they_are)
{
        int16_t numbers[40];
        struct all all = { .id = (char *) "i", .unique = numbers };
        struct eddy_json_error error;
        size_t bytes;
        char *text, path[32];

        for (size_t count = 2; count <= 40; count += count < 20 ? 1 : 10)
                for (size_t i = 0; i < count; i++)
                        for (size_t j = i + 1; j < count; j++) {
                                for (size_t n = 0; n < count; n++)
                                        numbers[n] = (int16_t) (n * 17 % 41);
                                numbers[j] = numbers[i];
                                all.unique_count = count;
                                CHECK_EQ(eddy_json_write(&all_fields, &all, &text, &bytes, &error),
                                         EDDY_E_FIELD_UNIQUE);
                                snprintf(path, sizeof(path), "unique[%zu]", j);
                                CHECK_STR(error.path, path);
                        }
}

TEST(without_memory_nothing_is_written)
{
        struct all all = { 0 };
        int failed = 0;
        char big[1200];
        char *text;
        int at = snprintf(big, sizeof(big), "%.*s,\"unique\":[0", (int) strlen(request) - 1,
                          request);

        memcpy(strstr(big, "\"unique\""), "\"unused\"", 8);
        for (int i = 1; i < 40; i++)
                at += snprintf(big + at, sizeof(big) - (size_t) at, ",%d", i);
        snprintf(big + at, sizeof(big) - (size_t) at, "]}");
        CHECK_EQ(eddy_json_read_all(&all_fields, big, strlen(big), EDDY_JSON_REQUEST, &all, NULL),
                 0);
        eddy_alloc_set(starve, NULL);
        for (int n = 0;; n++, failed++) {
                int err;

                allocations_left = n;
                err = write_as(&all, EDDY_JSON_REQUEST, &text);
                allocations_left = -1;
                if (err == 0)
                        break;
                CHECK_EQ(err, -ENOMEM);
        }
        CHECK(failed >= 2);
        eddy_free(text);
        eddy_alloc_set(NULL, NULL);
        eddy_fields_fini(&all_fields, &all);
}

/* ---- limits of floats ------------------------------------------------------------------------ */

struct share {
        float least, most;
};

static const struct eddy_field share_list[] = {
        EDDY_FIELD(struct share, least, EDDY_FIELD_MIN(0.7)),
        EDDY_FIELD(struct share, most, EDDY_FIELD_MAX(0.1)),
};
static const struct eddy_fields share_fields = EDDY_FIELDS(struct share, share_list, 0);

TEST(a_float_at_its_limit_is_read_and_written)
{
        static const char text[] = "{\"least\":0.7,\"most\":0.1}";
        static const char wrong[] = "{\"least\":0.6999999,\"most\":0.1000001}";
        struct share share = { 0, 0 }, made = { 0.7f, 0.1f };
        struct eddy_field_errors errors = { 0 };
        char *written;
        size_t bytes;

        CHECK_EQ(eddy_json_read(&share_fields, text, strlen(text), &share, NULL), 0);
        CHECK(share.least == made.least && share.most == made.most);
        CHECK_EQ(eddy_json_write(&share_fields, &share, &written, &bytes, NULL), 0);
        CHECK_STR(written, text);
        eddy_free(written);
        CHECK_EQ(eddy_json_read_all(&share_fields, wrong, strlen(wrong), 0, &share, &errors),
                 EDDY_E_FIELD_RANGE);
        CHECK_EQ(errors.count, 2);
        CHECK_STR(errors.list[1].message, "0.1000001 is above the maximum 0.10000000000000001");
        eddy_field_errors_fini(&errors);
}

/* ---- tables that cannot work ----------------------------------------------------------------- */

struct sample {
        int32_t number;
        float ratio;
        double real;
        char *text;
        bool *list;
        size_t list_count;
        struct shape shape;
        struct group *groups;
        size_t groups_count;
};

/* A request would have null for the value. */
static const struct eddy_field group_of_responses_list[] = {
        EDDY_FIELD(struct group, name),
        EDDY_FIELD_LIST(struct group, users, users_count, EDDY_FIELD_READ_ONLY),
};
static const struct eddy_fields group_of_responses_fields =
        EDDY_FIELDS(struct group, group_of_responses_list, 0);

/* A response would lack the tag. */
static const struct eddy_field tag_of_requests_list[] = {
        EDDY_FIELD_TAG(struct shape, type, types, EDDY_FIELD_WRITE_ONLY),
        EDDY_FIELD_STRUCT(struct shape, as.circle, &circle_fields),
        EDDY_FIELD_STRUCT(struct shape, as.line, &line_fields),
};
static const struct eddy_fields tag_of_requests_fields =
        EDDY_FIELDS(struct shape, tag_of_requests_list, 0);

static const struct {
        struct eddy_field field;
        const char *text;
} rows[] = {
        { EDDY_FIELD(struct sample, text, EDDY_FIELD_FORMAT("emial")),
          "in.text: the format 'emial' is not known" },
        { EDDY_FIELD(struct sample, text, EDDY_FIELD_FORMAT("email"), EDDY_FIELD_DEFAULT("\"x\"")),
          "in.text: the default is wrong: text: an email address has an @-sign" },
        { EDDY_FIELD(struct sample, number, EDDY_FIELD_MAX(5), EDDY_FIELD_DEFAULT("6")),
          "in.number: the default is wrong: number: 6 is above the maximum 5" },
        { EDDY_FIELD(struct sample, number, EDDY_FIELD_EXAMPLE("[")),
          "in.number: the example is wrong: line 1, column 2: the text ends here; a "
          "value expected" },
        { EDDY_FIELD_LIST(struct sample, list, list_count, EDDY_FIELD_EXAMPLE("[true,0]")),
          "in.list: the example is wrong: list[1]: a bool is needed, not a number" },
        { EDDY_FIELD_STRUCT(struct sample, shape, &shape_fields,
                            EDDY_FIELD_DEFAULT("{\"type\":\"circle\"}")),
          "in.shape: the default is wrong: shape.radius: the field is missing" },
        { EDDY_FIELD_MAP(struct sample, groups, groups_count, &group_fields,
                         EDDY_FIELD_DEFAULT("{\"a\":1}")),
          "in.groups: the default is wrong: groups.a: an array is needed, not a number" },
        { EDDY_FIELD(struct sample, number, EDDY_FIELD_MIN(6), EDDY_FIELD_MAX(5)),
          "in.number: its minimum and maximum allow no number of its type" },
        { EDDY_FIELD(struct sample, ratio, EDDY_FIELD_MIN(1e39)),
          "in.ratio: its minimum and maximum allow no number of its type" },
        { EDDY_FIELD(struct sample, real, EDDY_FIELD_MIN(HUGE_VAL)),
          "in.real: its minimum and maximum allow no number of its type" },
        { EDDY_FIELD_MAP(struct sample, groups, groups_count, &group_of_responses_fields),
          "in.groups: the name or value of a map is read-only or write-only" },
        { EDDY_FIELD_STRUCT(struct sample, shape, &tag_of_requests_fields),
          "in.shape.type: a tag or a struct that it chooses is read-only or write-only" },
};

TEST(a_table_that_cannot_work_is_an_error_of_the_first_call_that_names_the_field)
{
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                struct outside {
                        struct sample in;
                } out = { 0 };
                const struct eddy_fields inner = { .list = &rows[i].field,
                                                   .count = 1,
                                                   .bytes = sizeof(struct sample) };
                const struct eddy_field list[] = { EDDY_FIELD_STRUCT(struct outside, in, &inner) };
                const struct eddy_fields fields = EDDY_FIELDS(struct outside, list, 0);
                struct eddy_field_errors errors = { 0 };
                struct eddy_json_error error;
                size_t bytes;
                char *text;

                CHECK_EQ(eddy_json_read(&fields, "{}", 2, &out, &error), EDDY_E_FIELD_TABLE);
                CHECK_STR(error.text, rows[i].text);
                CHECK_EQ(eddy_json_write(&fields, &out, &text, &bytes, &error), EDDY_E_FIELD_TABLE);
                CHECK_STR(error.text, rows[i].text);
                CHECK_EQ(eddy_fields_check(&fields, &error), EDDY_E_FIELD_TABLE);
                CHECK_STR(error.text, rows[i].text);
                CHECK_EQ(eddy_json_read_all(&fields, "{}", 2, 0, &out, &errors),
                         EDDY_E_FIELD_TABLE);
                CHECK_EQ(errors.count, 1);
                CHECK_STR(errors.list[0].message, rows[i].text);
                eddy_field_errors_fini(&errors);
        }
}

TEST(right_examples_and_defaults_are_accepted)
{
        static const struct eddy_field list[] = {
                EDDY_FIELD(struct sample, number, EDDY_FIELD_REQUIRED, EDDY_FIELD_DEFAULT("5"),
                           EDDY_FIELD_EXAMPLE("-1")),
                EDDY_FIELD(struct sample, text, EDDY_FIELD_DEFAULT("null"),
                           EDDY_FIELD_EXAMPLE("\"a\"")),
                EDDY_FIELD_STRUCT(struct sample, shape, &shape_fields,
                                  EDDY_FIELD_EXAMPLE("{\"type\":\"circle\",\"radius\":1,"
                                                     "\"label\":\"l\"}")),
                EDDY_FIELD_MAP(struct sample, groups, groups_count, &group_fields,
                               EDDY_FIELD_DEFAULT("{\"a\":[\"b\"]}")),
        };
        static const struct eddy_fields fields = EDDY_FIELDS(struct sample, list, 0);
        struct eddy_json_error error;
        struct sample sample = { 0 };
        int failed = 0, err;

        eddy_alloc_set(starve, NULL);
        for (allocations_left = 0; (err = eddy_fields_check(&fields, &error)) < 0; failed++) {
                CHECK_EQ(err, -ENOMEM);
                CHECK_STR(error.text + strlen(error.path), ": out of memory");
                allocations_left = failed + 1;
        }
        allocations_left = -1;
        eddy_alloc_set(NULL, NULL);
        CHECK(failed >= 8);
        CHECK_EQ(eddy_json_read(&fields, "{\"number\":1}", 12, &sample, &error), 0);
        eddy_fields_fini(&fields, &sample);
}
