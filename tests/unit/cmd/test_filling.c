/*
 * test_filling.c - URLs and headers from templates: each byte in each place, texts that a place cannot
 * have, maximums, empty fields. test_template.c has those of JSON.
 */
#include "test.h"

#include <errno.h>

#include "batch/request/filling.h"
#include "batch/request/templates.h"
#include "eddy/alloc.h"
#include "eddy/http_text.h"
#include "starve.h"

static char error[ED_FAULT_BYTES];

static struct ed_template *url_of(const char *text)
{
        struct ed_template *template = NULL;

        CHECK_EQ(ed_template_new_url(text, &template, error), 0);
        return template;
}

static struct ed_template *header_of(const char *text)
{
        struct ed_template *template = NULL;

        CHECK_EQ(ed_template_new_header(text, &template, error), 0);
        return template;
}

static struct ed_columns *columns_of(const char *row)
{
        struct ed_columns *columns = NULL;

        CHECK_EQ(ed_columns_new(row, strlen(row), &columns, error), 0);
        return columns;
}

/* Checks the text for a line: of an object, or, with names, of CSV; or the error. Frees the template. */
static void check_filled(struct ed_template *template, const char *names, const char *line,
                         const char *expected)
{
        struct ed_columns *columns = names ? columns_of(names) : NULL;
        struct ed_draft draft = { 0 };
        int err = ed_template_fill(template, columns, line, strlen(line), &draft, error);

        if (err == 0) {
                ed_draft_add(&draft, "", 1);
                CHECK_STR(draft.data, expected);
        } else {
                CHECK_EQ(err, -EINVAL);
                CHECK_STR(error, expected);
        }
        ed_draft_fini(&draft);
        ed_columns_free(columns);
        ed_template_free(template);
}

static void check_refused(const char *url, const char *expected)
{
        struct ed_template *template;

        CHECK_EQ(ed_template_new_url(url, &template, error), -EINVAL);
        CHECK_STR(error, expected);
}

TEST(fields_are_inserted_into_path_and_query)
{
        check_filled(url_of("http://h/items/{{id}}?q={{term}}&{{id}}=1"), "id,term", "7,a b",
                     "http://h/items/7?q=a%20b&7=1");
        check_filled(url_of("/a-{{ x }}.{{y}}"), NULL, "{\"y\":1.50,\"x\":true}", "/a-true.1.50");
        check_filled(url_of("/{{x}}"), NULL, "{\"x\":\"\\u00e9\\n\\/\"}", "/%C3%A9%0A%2F");
        check_filled(url_of("http://h?{{x}}"), NULL, "{\"x\":1e+5}", "http://h?1e%2B5");
        check_filled(url_of("/{{a/b?c#d}}/{{e}}"), "a/b?c#d,e", "1,2", "/1/2");
        check_filled(url_of("/x?{{a?b}}"), NULL, "{\"a?b\":\"/\"}", "/x?%2F");
        check_filled(url_of("/{{x}}"), "x", "\"say \"\"hi\"\"\"", "/say%20%22hi%22");
}

TEST(place_that_would_choose_the_host_is_refused)
{
        static const char *const urls[] = {
                "{{x}}",          "{{x}}/a",           "{{x}}://h/",      "http://{{x}}",
                "http://{{x}}/",  "http://h{{x}}/",    "http://h:{{x}}/", "http://{{x}}@h/",
                "ht{{x}}p://h/a", "http://h{{x}}?a=b", "h/{{x}}",
        };

        for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++)
                check_refused(urls[i],
                              "{{x}} is not in the path or the query: the data would choose the "
                              "host, to which the API key is sent; write the host");
        check_refused("/a#{{x}}", "{{x}} is after #, which is not sent");
}

TEST(wrong_places_are_refused)
{
        check_refused("/{{x:json}}",
                      "{{x:json}} in the URL: \":json\" is for --body; write it without");
        check_refused("/{{x", "{{x in the URL has no }}: write it after the name of the field, or "
                              "%7B for a brace");
        check_refused("/{{}}",
                      "{{}} in the URL is not the name of a field: write {{name}}, at most "
                      "256 bytes, or %7B for a brace");
        check_refused("/{{\xff}}",
                      "{{?}} in the URL is not the name of a field: write {{name}}, at "
                      "most 256 bytes, or %7B for a brace");
}

TEST(path_cannot_have_an_empty_or_dotted_segment)
{
        static const char empty[] = "\"x\" is empty, and the path of the URL has {{x}}: write a "
                                    "value, or remove the line";
        static const char dots[] = "a segment of the URL is \".\" or \"..\", which means another "
                                   "path: write another value";

        check_filled(url_of("/a/{{x}}"), "x,y", ",1", empty);
        check_filled(url_of("/a-{{x}}"), NULL, "{\"x\":\"\"}", empty);
        check_filled(url_of("/{{x}}"), NULL, "{\"x\":null}", empty);
        check_filled(url_of("/a?b={{x}}"), NULL, "{\"x\":null}", "/a?b=");
        check_filled(url_of("/a?b={{x}}"), "x,y", ",1", "/a?b=");
        check_filled(url_of("/a/{{x}}"), "x", "..", dots);
        check_filled(url_of("/a/{{x}}/b"), "x", ".", dots);
        check_filled(url_of("http://h/{{x}}{{x}}?q"), "x", ".", dots);
        check_filled(url_of("/%2e{{x}}"), "x", ".", dots);
        check_filled(url_of("/a/{{x}}"), "x", "...", "/a/...");
        check_filled(url_of("/a?{{x}}"), "x", "..", "/a?..");
        check_filled(url_of("/{{x}}"), "x", "%2e", "/%252e");
}

TEST(fields_that_are_missing_or_of_a_wrong_kind_are_errors)
{
        check_filled(url_of("/{{x}}"), NULL, "{\"y\":1}",
                     "the line has no field \"x\", and the URL has {{x}}");
        check_filled(url_of("/a?{{x}}"), NULL, "{\"x\":[1]}",
                     "\"x\" is an object or an array, and the URL has {{x}}: write a text or a "
                     "number");
        check_filled(header_of("{{x}}"), NULL, "{\"x\":{}}",
                     "\"x\" is an object or an array, and the header has {{x}}: write a text or a "
                     "number");
        check_filled(url_of("/{{x}}"), NULL, "{\"x\":\"\\ud83c\"}",
                     "\"x\" has half of a surrogate pair");
        check_filled(url_of("/{{x}}"), "x", "\xff", "\"x\" is not UTF-8 text: " ED_FAULT_UTF8);
        check_filled(url_of("/{{x}}"), NULL, "[1]",
                     "the line is not an object, and the URL has fields: write an object such as "
                     "{\"name\":\"value\"}");
        check_filled(
                url_of("/{{x}}"), "x,y", "1",
                "the row has 1 column, and the first row has 2: put fields with commas in double "
                "quotes");
}

/* Fills a template with a byte below 128. */
static int byte_fill(struct ed_template *template, int c, struct ed_draft *draft)
{
        char line[32];
        int n = snprintf(line, sizeof(line), "{\"x\":\"\\u%04x\"}", (unsigned) c);

        return ed_template_fill(template, NULL, line, (size_t) n, draft, error);
}

TEST(each_byte_is_encoded_in_a_url)
{
        static const char plain[] =
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
        struct ed_template *templates[] = { url_of("/_{{x}}"), url_of("/?{{x}}") };

        for (size_t i = 0; i < 2; i++) {
                for (int c = 0; c < 0x80; c++) {
                        struct ed_draft draft = { 0 };
                        char expected[8];

                        CHECK_EQ(byte_fill(templates[i], c, &draft), 0);
                        ed_draft_add(&draft, "", 1);
                        if (c != 0 && strchr(plain, c))
                                snprintf(expected, sizeof(expected), "%c", c);
                        else
                                snprintf(expected, sizeof(expected), "%%%02X", (unsigned) c);
                        CHECK_STR(draft.data + 2, expected);
                        ed_draft_fini(&draft);
                }
                ed_template_free(templates[i]);
        }
}

TEST(each_byte_is_sent_as_it_is_in_a_header_or_is_an_error)
{
        struct ed_template *template = header_of("<{{x}}>");

        for (int c = 0; c < 0x80; c++) {
                struct ed_draft draft = { 0 };
                int err = byte_fill(template, c, &draft);

                CHECK_EQ(err, (c < 0x20 && c != '\t') || c == 0x7f ? -EINVAL : 0);
                if (err == 0) {
                        CHECK_EQ(draft.bytes, 3);
                        CHECK_EQ(draft.data[1], c);
                        CHECK(eddy_http_is_value(draft.data, draft.bytes));
                } else {
                        CHECK_STR(error, "\"x\" has a line feed or another control character, and "
                                         "the header has {{x}}: remove it");
                }
                ed_draft_fini(&draft);
        }
        ed_template_free(template);
        check_filled(header_of("t-{{x}}"), "x", "\xc3\xa9", "t-\xc3\xa9");
        check_filled(header_of("{{x}}"), NULL, "{\"x\":null}", "");
}

TEST(bytes_above_127_are_sent_as_utf_8)
{
        struct ed_template *path = url_of("/{{x}}"), *header = header_of("{{x}}");
        struct ed_columns *columns = columns_of("x");

        for (int c = 0x80; c < 0x100; c++) {
                struct ed_draft draft = { 0 };
                char alone = (char) c;

                CHECK_EQ(ed_template_fill(path, columns, &alone, 1, &draft, error), -EINVAL);
                CHECK_EQ(ed_template_fill(header, columns, &alone, 1, &draft, error), -EINVAL);
                ed_draft_fini(&draft);
        }
        for (int c = 0x80; c < 0xc0; c++) {
                struct ed_draft draft = { 0 };
                char both[] = { (char) 0xc3, (char) c }, expected[16];

                CHECK_EQ(ed_template_fill(path, columns, both, 2, &draft, error), 0);
                ed_draft_add(&draft, "", 1);
                snprintf(expected, sizeof(expected), "/%%C3%%%02X", (unsigned) c);
                CHECK_STR(draft.data, expected);
                ed_draft_fini(&draft);
        }
        ed_columns_free(columns);
        ed_template_free(path);
        ed_template_free(header);
}

TEST(sizes_have_a_maximum)
{
        static char line[ED_FILLING_TEXT_BYTES_MAX + 2];
        struct ed_template *url = url_of("/{{x}}"), *header = header_of("{{x}}");
        struct ed_columns *columns = columns_of("x");

        memset(line, 'a', sizeof(line));
        for (int more = -2; more <= 2; more++) {
                size_t bytes = (size_t) (ED_FILLING_TEXT_BYTES_MAX + more);
                struct ed_draft draft = { 0 };

                CHECK_EQ(ed_template_fill(url, columns, line, bytes, &draft, error),
                         more < 0 ? 0 : -EINVAL);
                if (more == 0)
                        CHECK_STR(error, "the URL has 65537 bytes; at most 65536 are possible");
                ed_draft_fini(&draft);
                CHECK_EQ(ed_template_fill(header, columns, line, bytes, &draft, error),
                         more <= 0 ? 0 : -EINVAL);
                if (more == 1)
                        CHECK_STR(error, "\"x\" has 65537 bytes, and the header has {{x}}: at most "
                                         "65536 are possible");
                ed_draft_fini(&draft);
        }
        ed_columns_free(columns);
        ed_template_free(url);
        ed_template_free(header);
}

TEST(sample_has_a_letter_in_each_place)
{
        struct ed_template *template = url_of("/{{a}}/{{b}}?{{c}}");
        char room[32];

        ed_template_sample(template, room);
        CHECK_STR(room, "/x/x?x");
        ed_template_free(template);
}

static int blank_of(const char *names, const char *line)
{
        struct ed_template_header header = { "X", header_of("{{c}}") };
        struct ed_templates templates = { .url = url_of("/{{a}}"), .headers = &header };
        struct ed_columns *columns = names ? columns_of(names) : NULL;
        int blank;

        templates.headers_count = 1;
        CHECK_EQ(ed_template_new("[\"{{b}}\"]", 9, &templates.body, error), 0);
        blank = ed_templates_are_blank(&templates, columns, line, strlen(line));
        ed_template_free(templates.url);
        ed_template_free(templates.body);
        ed_template_free(header.value);
        ed_columns_free(columns);
        return blank;
}

TEST(line_is_blank_if_all_fields_that_are_used_are)
{
        CHECK_EQ(blank_of("a,b,c,d", ",,,x"), 1);
        CHECK_EQ(blank_of("a,b,c,d", " ,\"\n\t\",,x"), 1);
        CHECK_EQ(blank_of("a,b,c,d", "0,,,"), 0);
        CHECK_EQ(blank_of("a,b,c,d", ",x,,"), 0);
        CHECK_EQ(blank_of("a,b,c,d", ",,x,"), 0);
        CHECK_EQ(blank_of("a,b,c,d", ",,"), 0);
        CHECK_EQ(blank_of(NULL, "{\"a\":null,\"b\":\"\",\"c\":\" \\n\\t\",\"d\":1}"), 1);
        CHECK_EQ(blank_of(NULL, "{\"a\":null,\"b\":\"\",\"c\":0}"), 0);
        CHECK_EQ(blank_of(NULL, "{\"a\":null,\"b\":\"\",\"c\":[]}"), 0);
        CHECK_EQ(blank_of(NULL, "{\"a\":null,\"b\":\"\"}"), 0);
        CHECK_EQ(blank_of(NULL, "{\"a\":"), 0);
        CHECK_EQ(ed_templates_are_blank(&(struct ed_templates){ 0 }, NULL, "{}", 2), 0);
}

/* Each allocation fails in turn. Returns false if none did. */
static bool filling_starved(int left)
{
        struct ed_template *url = NULL, *header = NULL;
        struct ed_columns *columns = NULL;
        struct ed_draft filled = { 0 };
        int err;

        eddy_alloc_set(starve, NULL);
        allocations_left = left;
        err = ed_template_new_url("/{{a}}?{{b}}", &url, error);
        if (err == 0)
                err = ed_template_new_header("{{b}}", &header, error);
        if (err == 0)
                err = ed_columns_new("a,b", 3, &columns, error);
        if (err == 0)
                err = ed_template_fill(url, columns, "x,y", 3, &filled, error);
        if (err == 0)
                err = ed_template_fill(header, NULL, "{\"b\":\"x\"}", 9, &filled, error);
        if (err == 0)
                err = ed_template_is_blank(header, NULL, "{\"b\":\"x\"}", 9);
        ed_draft_fini(&filled);
        ed_columns_free(columns);
        ed_template_free(url);
        ed_template_free(header);
        allocations_left = -1;
        eddy_alloc_set(NULL, NULL);
        CHECK(err == 0 || err == -ENOMEM);
        return err < 0;
}

TEST(lack_of_memory_is_an_error)
{
        int left = 0;

        while (filling_starved(left))
                left++;
        CHECK(left >= 9);
}
