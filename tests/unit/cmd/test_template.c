/*
 * test_template.c - bodies from templates: places in strings, types of values, rows of CSV, and
 * results that are JSON whatever the fields hold.
 */
#include "test.h"

#include <errno.h>

#include "batch/request/filling.h"
#include "batch/request/templates.h"
#include "eddy/alloc.h"
#include "eddy/json.h"
#include "starve.h"

static char error[ED_FAULT_BYTES];

static struct ed_template *template_of(const char *text)
{
        struct ed_template *template = NULL;

        CHECK_EQ(ed_template_new(text, strlen(text), &template, error), 0);
        return template;
}

static struct ed_columns *columns_of(const char *row)
{
        struct ed_columns *columns = NULL;

        CHECK_EQ(ed_columns_new(row, strlen(row), &columns, error), 0);
        return columns;
}

/* Checks the body for a line: of an object, or, with names, of CSV; or the error. */
static void check_filled(const char *text, const char *names, const char *line, const char *body)
{
        struct ed_template *template = template_of(text);
        struct ed_columns *columns = names ? columns_of(names) : NULL;
        struct ed_draft draft = { 0 };
        int err = ed_template_fill(template, columns, line, strlen(line), &draft, error);

        if (err == 0) {
                CHECK_EQ(eddy_json_check(draft.data, draft.bytes, NULL, NULL), 0);
                ed_draft_add(&draft, "", 1);
                CHECK_STR(draft.data, body);
        } else {
                CHECK_EQ(err, -EINVAL);
                CHECK_STR(error, body);
        }
        ed_draft_fini(&draft);
        ed_columns_free(columns);
        ed_template_free(template);
}

static void check_refused(const char *text, const char *expected)
{
        struct ed_template *template;

        CHECK_EQ(ed_template_new(text, strlen(text), &template, error), -EINVAL);
        CHECK_STR(error, expected);
}

static void check_columns_refused(const char *row, const char *expected)
{
        struct ed_columns *columns;

        CHECK_EQ(ed_columns_new(row, strlen(row), &columns, error), -EINVAL);
        CHECK_STR(error, expected);
}

TEST(whole_string_becomes_the_value_with_its_type)
{
        check_filled("{\"a\": \"{{x}}\"}", NULL, "{\"x\": 1.50}", "{\"a\": 1.50}");
        check_filled("[\"{{x}}\",\"{{ y }}\"]", NULL, "{\"y\":[1, {\"z\":null}],\"x\":\"s\\n\"}",
                     "[\"s\\n\",[1, {\"z\":null}]]");
        check_filled("\"{{x}}\"", NULL, "{\"x\":null}", "null");
}

TEST(text_is_inserted_in_a_longer_string)
{
        check_filled("\"u-{{x}}!\"", NULL, "{\"x\":\"\\\"\\u00e9\\\\\"}", "\"u-\\\"\\u00e9\\\\!\"");
        check_filled("\"{{x}}{{y}}\"", NULL, "{\"x\":12,\"y\":true}", "\"12true\"");
        check_filled("\" {{x}}\"", NULL, "{\"x\":{\"a\":\"b\\\"\"}}",
                     "\" {\\\"a\\\":\\\"b\\\\\\\"\\\"}\"");
}

TEST(place_in_a_name_is_text)
{
        check_filled("{\"{{x}}\" : 1}", NULL, "{\"x\":5}", "{\"5\" : 1}");
        check_refused("{\"{{x:json}}\":1}",
                      "{{x:json}} in the template is only a part of a string: "
                      "write it alone in its string, or without \":json\"");
}

TEST(json_of_a_text_is_inserted)
{
        check_filled("{\"n\":\"{{n:json}}\"}", "n", "5", "{\"n\":5}");
        check_filled("[\"{{n:json}}\"]", "n", "\"{\"\"a\"\": [1]}\"", "[{\"a\": [1]}]");
        check_filled("[\"{{n:json}}\"]", NULL, "{\"n\":\"{\\\"a\\\":1}\"}", "[{\"a\":1}]");
        check_filled("[\"{{n:json}}\"]", NULL, "{\"n\":7}", "[7]");
        check_filled(
                "[\"{{n:json}}\"]", "n", "5,6",
                "the row has 2 columns, and the first row has 1: put fields with commas in double "
                "quotes");
        check_filled("[\"{{n:json}}\"]", "n", "abc",
                     "\"n\" is abc, and \"{{n:json}}\" needs JSON: write JSON such as 5, or "
                     "omit \":json\"");
        check_filled("[\"{{n:json}}\"]", "n,m", ",",
                     "\"n\" is empty, and \"{{n:json}}\" needs JSON: write JSON such as null, or "
                     "omit \":json\"");
        check_filled("[\"{{n:json}}\"]", NULL, "{\"n\":\"1],[2\"}",
                     "\"n\" is 1],[2, and \"{{n:json}}\" needs JSON: write JSON such as 5, or "
                     "omit \":json\"");
}

TEST(row_of_csv_gives_strings)
{
        check_filled("{\"a\":\"{{a}}\",\"b\":\"<{{b}}>\"}", "a,b", "5,x \"y\"",
                     "{\"a\":\"5\",\"b\":\"<x \\\"y\\\">\"}");
        check_filled("[\"{{a}}\",\"{{b c}}\"]", " a ,\"b c\"", "\"l1\nl2, \"\"q\"\"\",",
                     "[\"l1\\nl2, \\\"q\\\"\",\"\"]");
        check_filled("\"{{b}}\"", ",b", "0,x", "\"x\"");
        check_filled("\"{{a}}\"", "a,b", "\"\"\"\",\"\"", "\"\\\"\"");
}

TEST(wrong_rows_are_refused)
{
        check_filled(
                "\"{{a}}\"", "a,b", "1",
                "the row has 1 column, and the first row has 2: put fields with commas in double "
                "quotes");
        check_filled("\"{{a}}\"", "a,b", "1,\"x\"y",
                     "column 2 of the row has a wrong quote: close it before the comma, and write "
                     "a quote in a field twice");
        check_filled("\"{{a}}\"", "a,b", "1,\"x",
                     "column 2 of the row has a wrong quote: close it before the comma, and write "
                     "a quote in a field twice");
        check_filled("\"{{a}}\"", "a", "\xff", "\"a\" is not UTF-8 text: " ED_FAULT_UTF8);
        check_filled("\"{{c}}\"", "a", "1",
                     "the first row has no column \"c\", and the template has {{c}}");
        check_columns_refused("a,a", "columns 1 and 2 of the first row are both \"a\": give them "
                                     "different names");
        check_columns_refused("a,\"b", "column 2 of the first row has a wrong quote: close it "
                                       "before the comma, and write a quote in a field twice");
        check_columns_refused(
                "\xff\x1b", "column 1 of the first row, \"??\", is not UTF-8 text: " ED_FAULT_UTF8);
}

TEST(lines_without_a_field_are_refused)
{
        check_filled("\"{{a}}\"", NULL, "{\"b\":1}",
                     "the line has no field \"a\", and the template has {{a}}");
        check_filled("\"{{a}}\"", NULL, "[1]",
                     "the line is not an object, and the template has fields: write an object such "
                     "as {\"name\":\"value\"}");
        check_filled("\"constant\"", NULL, "anything", "\"constant\"");
        check_filled("\"{{a}}{{a}}\"", NULL, "{\"a\":1,\"a\":2}", "\"11\"");
}

TEST(wrong_templates_are_refused)
{
        check_refused(
                "{\"a\":{{x}}}",
                "the template is not JSON: line 1, column 7: a name in quotes expected, found "
                "'{': write \"{{x}}\", in double quotes, and \"{{name:json}}\" for a number");
        check_refused(
                "[{{ a b }},2]",
                "the template is not JSON: line 1, column 3: a name in quotes expected, found "
                "'{': write \"{{ a b }}\", in double quotes, and \"{{name:json}}\" for a number");
        check_refused("{\"a\":1{{x}}}",
                      "the template is not JSON: line 1, column 7: ',' or '}' expected after a "
                      "member, found '{': write \"{{x}}\", in double quotes, and \"{{name:json}}\" "
                      "for a number");
        check_refused(
                "{\"a\":{{x}",
                "the template is not JSON: line 1, column 7: a name in quotes expected, found "
                "'{'");
        check_refused("{{",
                      "the template is not JSON: line 1, column 2: a name in quotes expected, "
                      "found '{'");
        check_refused("\"{{x\"", "{{x in the template has no }}: write it after the name of the "
                                 "field, or \\u007b for a brace");
        check_refused("\"{{ }}\"",
                      "{{ }} in the template is not the name of a field: write {{name}}, "
                      "at most 256 bytes, or \\u007b for a brace");
        check_refused("\"{{{x}}}\"", "{{{x}} in the template is not the name of a field: write "
                                     "{{name}}, at most 256 bytes, or \\u007b for a brace");
        check_refused("\"{{a\\u0000}}\"",
                      "{{a\\u0000}} in the template is not the name of a field: write {{name}}, at "
                      "most 256 bytes, or \\u007b for a brace");
        check_filled("\"\\u007b{x}} {{x}}\"", NULL, "{\"x\":1}", "\"\\u007b{x}} 1\"");
        check_filled("\"{{a\\\\}} {{\\\"}}\"", NULL, "{\"a\\\\\":1,\"\\\"\":2}", "\"1 2\"");
}

static void part_add(char *text, size_t *bytes, const char *part, const char *rest)
{
        size_t n = strlen(part), more = strlen(rest);

        memcpy(text + *bytes, part, n);
        memcpy(text + *bytes + n, rest, more);
        *bytes += n + more;
}

TEST(numbers_of_places_columns_and_bytes_have_a_maximum)
{
        enum { PLACES = ED_TEMPLATE_FIELDS_MAX, NAMES = ED_COLUMNS_MAX };
        static char text[8 * NAMES];
        char number[16];
        struct ed_template *template;
        struct ed_columns *columns;
        struct ed_draft body = { 0 };
        size_t bytes;

        for (int extra = 0; extra < 2; extra++) {
                bytes = 0;
                part_add(text, &bytes, "\"", "");
                for (int i = 0; i < PLACES + extra; i++)
                        part_add(text, &bytes, "{{x}}", "");
                part_add(text, &bytes, "\"", "");
                CHECK_EQ(ed_template_new(text, bytes, &template, error), extra ? -EINVAL : 0);
                if (extra)
                        break;
                CHECK_EQ(ed_template_fill(template, NULL, "{\"x\":7}", 7, &body, error), 0);
                CHECK_EQ(body.bytes, PLACES + 2);
                ed_draft_fini(&body);
                ed_template_free(template);
        }
        CHECK_STR(error, "the template has more than 256 fields in {{}}");
        for (int extra = 0; extra < 2; extra++) {
                bytes = 0;
                for (int i = 0; i < NAMES + extra; i++) {
                        snprintf(number, sizeof(number), "%d", i);
                        part_add(text, &bytes, i ? "," : "", number);
                }
                CHECK_EQ(ed_columns_new(text, bytes, &columns, error), extra ? -EINVAL : 0);
                if (!extra)
                        ed_columns_free(columns);
        }
        CHECK_STR(error, "the first row has more than 1024 columns");
        CHECK_EQ(ed_template_new(text, ((size_t) 16 << 20) + 1, &template, error), -EINVAL);
        CHECK_STR(error, "the template has 16777217 bytes; at most 16777216 are possible");
}

static void check_lacking(const char *row, const char *id, const char *expected)
{
        struct ed_templates templates = { .body = template_of("{\"a\":\"{{text}}\"}") };
        struct ed_columns *columns = columns_of(row);

        CHECK_EQ(ed_templates_check(&templates, columns, id, error), -EINVAL);
        CHECK_STR(error, expected);
        ed_columns_free(columns);
        ed_templates_fini(&templates);
}

TEST(missing_column_is_named_with_those_that_are_there)
{
        struct ed_columns *columns = columns_of("id,text");

        CHECK_EQ(ed_templates_check(&(struct ed_templates){ 0 }, columns, "id", error), 0);
        CHECK(ed_columns_has(columns, "text") && !ed_columns_has(columns, "custom_id"));
        ed_columns_free(columns);
        check_lacking("id,txt", NULL,
                      "no column \"text\", which --body has: the columns are \"id\", \"txt\"; "
                      "for the text {{ itself, write \\u007b\\u007b");
        check_lacking("text", "id",
                      "no column \"id\", which --id-column names: the columns are \"text\"");
        check_lacking(
                "id;text", NULL,
                "no column \"text\": the columns are separated by \";\": separate them by commas, "
                "for example by python3 -c 'import csv,sys; csv.writer(sys.stdout).writerows("
                "csv.reader(sys.stdin,delimiter=\";\"))' <IN >NEW.csv");
        check_lacking(
                "id\ttext", NULL,
                "no column \"text\": the columns are separated by tabs: separate them by commas, "
                "for example by python3 -c 'import csv,sys; csv.writer(sys.stdout).writerows("
                "csv.reader(sys.stdin,delimiter=\"\\t\"))' <IN >NEW.csv");
        check_lacking("a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z,aa,ab,ac,ad,ae,af", NULL,
                      "no column \"text\", which --body has: the columns are \"a\", \"b\", \"c\", "
                      "\"d\", \"e\", \"f\", \"g\", \"h\", \"i\", \"j\", \"k\", \"l\", \"m\", "
                      "\"n\", \"o\", \"p\", \"q\", \"r\", \"s\", \"t\", \"u\", \"v\", \"w\", "
                      "\"x\", \"y\" ...; for the text {{ itself, write \\u007b\\u007b");
}

TEST(field_of_a_row_is_found_by_name)
{
        struct ed_columns *columns = columns_of("id,\"te\"\"xt\"");
        struct ed_draft value = { 0 };

        CHECK_EQ(ed_columns_field(columns, "1,\"a\"\"b\"", 8, "te\"xt", &value), 0);
        CHECK_EQ(value.bytes, 3);
        CHECK(memcmp(value.data, "a\"b", 3) == 0);
        CHECK_EQ(ed_columns_field(columns, "1,2", 3, "none", &value), -ENOENT);
        CHECK_EQ(ed_columns_field(columns, "1", 1, "te\"xt", &value), -EINVAL);
        CHECK_EQ(ed_columns_field(columns, "\"1,2", 4, "id", &value), -EINVAL);
        CHECK_EQ(value.bytes, 3);
        ed_draft_fini(&value);
        ed_columns_free(columns);
}

/* Each allocation fails in turn. Returns false if none did. */
static bool template_starved(int left)
{
        struct ed_template *template = NULL;
        struct ed_columns *columns = NULL;
        struct ed_draft body = { 0 };
        int err;

        eddy_alloc_set(starve, NULL);
        allocations_left = left;
        err = ed_template_new("[\"{{a}}\",\"{{b:json}}\"]", 22, &template, error);
        if (err == 0)
                err = ed_columns_new("a,b", 3, &columns, error);
        if (err == 0)
                err = ed_template_fill(template, columns, "x,\"[1]\"", 7, &body, error);
        if (err == 0)
                err = ed_template_fill(template, NULL, "{\"a\":1,\"b\":\"2\"}", 15, &body, error);
        ed_draft_fini(&body);
        ed_columns_free(columns);
        ed_template_free(template);
        allocations_left = -1;
        eddy_alloc_set(NULL, NULL);
        CHECK(err == 0 || err == -ENOMEM);
        return err < 0;
}

TEST(lack_of_memory_is_an_error)
{
        int left = 0;

        while (template_starved(left))
                left++;
        CHECK(left >= 8);
}
