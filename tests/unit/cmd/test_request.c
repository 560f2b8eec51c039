/*
 * test_request.c - lines of the input as requests: their shapes, the sentences about wrong lines,
 * ids that survive errors, the hash, hostile lines, and no memory.
 */
#include "test.h"

#include <errno.h>

#include "batch/request/request.h"
#include "eddy/alloc.h"
#include "starve.h"

static const struct ed_request_rules no_rules, url_rules = { .url = "/v1/x" };
static char error[ED_REQUEST_ERROR_BYTES];

static struct ed_request *request_of(const struct ed_request_rules *rules, const char *line)
{
        struct ed_request *request = NULL;
        /* In memory of its size, so that a read beyond it is found. */
        size_t bytes = strlen(line);
        char *copy = malloc(bytes ? bytes : 1);
        int result;

        CHECK(copy);
        memcpy(copy, line, bytes);
        snprintf(error, sizeof(error), "none");
        result = ed_request_read(rules, copy, bytes, 7, &request, error);
        free(copy);
        CHECK_STR(error, "none");
        CHECK_EQ(result, 1);
        return request;
}

/* Checks method, URL and body: "POST /x {}". */
static void check_request(const struct ed_request_rules *rules, const char *line, const char *id,
                          const char *expected)
{
        struct ed_request *request = request_of(rules, line);
        char text[1000];

        CHECK_STR(request->id, id);
        CHECK_EQ(request->id_bytes, strlen(id));
        CHECK_EQ(request->number, 7);
        snprintf(text, sizeof(text), "%s %s %s", request->method, request->url,
                 request->body ? request->body : "-");
        CHECK_STR(text, expected);
        CHECK_EQ(request->body_bytes, request->body ? strlen(request->body) : 0);
        CHECK(request->hash != 0);
        ed_request_free(request);
}

/* Checks the sentence, and the id that the line still has (NULL: none). */
static void check_fault(const struct ed_request_rules *rules, const char *line, const char *id,
                        const char *expected)
{
        struct ed_request *request;

        CHECK_EQ(ed_request_read(rules, line, strlen(line), 7, &request, error), -EINVAL);
        CHECK_STR(error, expected);
        CHECK_EQ(request != NULL, id != NULL);
        if (request) {
                CHECK_STR(request->id, id);
                CHECK_EQ(request->number, 7);
                CHECK(!request->url && !request->method && !request->body);
        }
        ed_request_free(request);
}

static uint64_t hash_of(const struct ed_request_rules *rules, const char *line)
{
        struct ed_request *request = request_of(rules, line);
        uint64_t hash = request->hash;

        ed_request_free(request);
        return hash;
}

TEST(line_of_openai_is_a_request)
{
        check_request(&no_rules,
                      "{\"custom_id\":\"request-1\",\"method\":\"POST\",\"url\":\"/v1/chat\","
                      "\"body\": {\"a\": [1.50, \"\\u00e9\"]} }",
                      "request-1", "POST /v1/chat {\"a\": [1.50, \"\\u00e9\"]}");
        check_request(&no_rules, " {\"url\":\"https:\\/\\/h\\/x\",\"custom_id\":\"\\u00e9\"}\r",
                      "\xc3\xa9", "GET https://h/x -");
        check_request(&no_rules,
                      "{\"method\":\"PUT\",\"url\":\"HTTP://h\",\"body\":[1],\"more\":2}", "line-7",
                      "PUT HTTP://h [1]");
        check_request(&no_rules, "{\"url\":\"/x\",\"body\":\"text\",\"method\":null}", "line-7",
                      "POST /x \"text\"");
        check_request(&no_rules, "{\"custom_id\":-12345678901234567890123,\"url\":\"/\"}",
                      "-12345678901234567890123", "GET / -");
        check_request(&url_rules, "{\"custom_id\":\"a\",\"body\":{}}", "a", "POST /v1/x {}");
        check_request(&url_rules, "{\"url\":\"/y\",\"body\":{},\"more\":1}", "line-7",
                      "POST /y {}");
}

TEST(headers_metadata_and_timeout_are_kept)
{
        struct ed_request *request =
                request_of(&no_rules, "{\"url\":\"/x\",\"timeout\":1.5,\"metadata\":{\"a\": [1]},"
                                      "\"headers\":{\"X-A\":\"b\\u00e9\",\"X-B\":[\"1\",\"\"]}}");

        CHECK_EQ(request->timeout_ns, 1500000000);
        CHECK_STR(request->metadata, "{\"a\": [1]}");
        CHECK_EQ(request->metadata_bytes, 10);
        CHECK_EQ(request->headers_count, 3);
        CHECK_STR(request->headers[0].name, "X-A");
        CHECK_STR(request->headers[0].value, "b\xc3\xa9");
        CHECK_STR(request->headers[1].name, "X-B");
        CHECK_STR(request->headers[1].value, "1");
        CHECK_STR(request->headers[2].name, "X-B");
        CHECK_STR(request->headers[2].value, "");
        CHECK(!request->is_url && !request->body_is_json);
        ed_request_free(request);
}

TEST(bare_body_is_sent_without_its_id)
{
        check_request(&url_rules, "{\"model\":\"m\", \"input\":\"x\"}", "line-7",
                      "POST /v1/x {\"model\":\"m\", \"input\":\"x\"}");
        check_request(&url_rules, "{ \"custom_id\" : 5 , \"input\":\"x\", \"b\":1}", "5",
                      "POST /v1/x { \"input\":\"x\", \"b\":1}");
        check_request(&url_rules, "{\"input\":\"x\" ,\"custom_id\":\"i\", \"b\":1}", "i",
                      "POST /v1/x {\"input\":\"x\", \"b\":1}");
        check_request(&url_rules, "{\"input\":\"x\",\"custom_id\":\"i\" }", "i",
                      "POST /v1/x {\"input\":\"x\" }");
        check_request(&url_rules, "{\"custom_id\":\"i\"}", "i", "POST /v1/x {}");
        check_request(&url_rules, "{\"custom_id\":null,\"a\":1}", "line-7",
                      "POST /v1/x {\"custom_id\":null,\"a\":1}");
        check_request(&url_rules, "{\"subject\":\"s\",\"body\":\"b\"}", "line-7",
                      "POST /v1/x {\"subject\":\"s\",\"body\":\"b\"}");
        check_request(&url_rules, "{\"url\":\"http://h/a.png\",\"model\":\"m\"}", "line-7",
                      "POST /v1/x {\"url\":\"http://h/a.png\",\"model\":\"m\"}");
        check_request(&url_rules, "{}", "line-7", "POST /v1/x {}");
}

TEST(target_of_vegeta_is_a_request)
{
        struct ed_request *request = request_of(
                &no_rules,
                "{\"method\":\"POST\",\"url\":\"http://h/\",\"header\":{\"A\":[\"b\",\"c\"]"
                "},\"body\":\"AAH\\/\"}");

        CHECK_EQ(request->headers_count, 2);
        CHECK_EQ(request->body_bytes, 3);
        CHECK(memcmp(request->body, "\0\x01\xff", 3) == 0);
        CHECK(!request->body_is_json);
        ed_request_free(request);
        check_request(&no_rules, "{\"method\":\"GET\",\"url\":\"http://h/\",\"header\":{}}",
                      "line-7", "GET http://h/ -");
        check_fault(&no_rules, "{\"url\":\"/\",\"header\":{},\"body\":{\"a\":1}}", NULL,
                    "\"body\" is {\"a\":1}: a line with \"header\" has base64 there; write "
                    "\"headers\" for a body of JSON");
        check_fault(
                &no_rules, "{\"url\":\"/\",\"header\":{},\"body\":\"abc\"}", NULL,
                "\"body\" is \"abc\": this is not base64; write \"headers\" instead of \"header\" "
                "for a body of JSON");
        check_fault(&no_rules, "{\"url\":\"/\",\"header\":{},\"headers\":{}}", NULL,
                    "the line has \"header\" and \"headers\": write all in \"headers\"");
}

TEST(url_alone_is_a_request)
{
        struct ed_request_rules head = { .method = "HEAD" };
        struct ed_request *request = request_of(&no_rules, "  https://h/p?q=1 \r");

        CHECK(request->is_url);
        CHECK_STR(request->url, "https://h/p?q=1");
        ed_request_free(request);
        check_request(&head, "/path", "line-7", "HEAD /path -");
        check_fault(&no_rules, "https://h/a b", NULL,
                    "the URL has the byte 32 in it, a space: write %20");
}

TEST(blank_lines_and_comments_are_skipped)
{
        static const char *const lines[] = { "", " ", "\t\r", "# text", "  #" };
        struct ed_request *request;

        for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
                CHECK_EQ(ed_request_read(&no_rules, lines[i], strlen(lines[i]), 1, &request, error),
                         0);
                CHECK(!request);
        }
}

TEST(template_makes_the_body)
{
        struct ed_request_rules rules = { .url = "/v1/x" }, own_urls = { 0 };
        struct ed_template *template = NULL, *constant = NULL;

        CHECK_EQ(ed_template_new("{\"in\":\"{{url}}\",\"n\":2}", 22, &template, error), 0);
        CHECK_EQ(ed_template_new("[1]", 3, &constant, error), 0);
        rules.templates.body = template;
        own_urls.templates.body = template;
        check_request(&rules, "{\"url\":\"u\",\"custom_id\":3,\"method\":5}", "3",
                      "POST /v1/x {\"in\":\"u\",\"n\":2}");
        check_request(&own_urls, "{\"url\":\"/u\",\"method\":\"PUT\",\"more\":1}", "line-7",
                      "PUT /u {\"in\":\"/u\",\"n\":2}");
        check_fault(&rules, "{\"custom_id\":\"a\"}", "a",
                    "the line has no field \"url\", and the template has {{url}}");
        own_urls.templates.body = constant;
        check_request(&own_urls, "http://h/", "line-7", "POST http://h/ [1]");
        ed_template_free(template);
        ed_template_free(constant);
}

TEST(template_makes_the_url_and_headers)
{
        struct ed_template_header headers[2] = { { "X-T", NULL }, { "X-U", NULL } };
        struct ed_request_rules rules = { .url = "/i/{{id}}" }, bare = { .url = "/v1/x" };
        struct ed_columns *columns = NULL;
        struct ed_request *request;
        uint64_t hash;

        CHECK_EQ(ed_template_new_url(rules.url, &rules.templates.url, error), 0);
        check_request(&rules, "{\"id\":1,\"method\":\"PUT\",\"body\":{}}", "line-7", "GET /i/1 -");
        check_fault(&rules, "{\"custom_id\":\"a\"}", "a",
                    "the line has no field \"id\", and the URL has {{id}}");
        check_fault(&rules, "http://h/", NULL,
                    "the line is a URL, and --url has fields: write an object such as "
                    "{\"name\":\"value\"}, or omit --url");
        rules.method = "DELETE";
        check_request(&rules, "{\"id\":\"a/b\",\"custom_id\":3}", "3", "DELETE /i/a%2Fb -");
        hash = hash_of(&rules, "{\"id\":1}");
        CHECK(hash != hash_of(&rules, "{\"id\":2}"));
        CHECK_EQ(hash, hash_of(&rules, "{\"id\":\"1\",\"other\":2}"));
        CHECK_EQ(ed_columns_new("id,custom_id", 12, &columns, error), 0);
        rules.columns = columns;
        check_request(&rules, "5,x", "x", "DELETE /i/5 -");

        CHECK_EQ(ed_template_new_header("t-{{id}}", &headers[0].value, error), 0);
        CHECK_EQ(ed_template_new_header("{{custom_id}}", &headers[1].value, error), 0);
        bare.templates.headers = headers;
        bare.templates.headers_count = 2;
        request = request_of(&bare, "{\"id\":5,\"custom_id\":\"c\"}");
        CHECK_STR(request->body, "{\"id\":5}");
        CHECK_EQ(request->headers_count, 2);
        CHECK_STR(request->headers[0].name, "X-T");
        CHECK_STR(request->headers[0].value, "t-5");
        CHECK_STR(request->headers[1].value, "c");
        ed_request_free(request);
        CHECK(hash_of(&bare, "{\"id\":5,\"custom_id\":\"c\"}") !=
              hash_of(&bare, "{\"id\":5,\"custom_id\":\"d\"}"));
        request = request_of(&bare, "{\"id\":5,\"custom_id\":\"c\",\"url\":\"/\",\"body\":{},"
                                    "\"headers\":{\"x-t\":\"own\"}}");
        CHECK_EQ(request->headers_count, 2);
        CHECK_STR(request->headers[0].value, "own");
        CHECK_STR(request->headers[1].value, "c");
        ed_request_free(request);
        check_fault(&bare, "{\"id\":\"a\\nb\",\"custom_id\":\"c\"}", "c",
                    "\"id\" has a line feed or another control character, and the header has "
                    "{{id}}: remove it");
        ed_template_free(headers[0].value);
        ed_template_free(headers[1].value);
        ed_template_free(rules.templates.url);
        ed_columns_free(columns);
}

TEST(length_of_a_url_has_a_maximum)
{
        static char line[(64 << 10) + 8];
        struct ed_request *request;

        memset(line, 'a', sizeof(line));
        memcpy(line, "http://h/", 9);
        for (size_t bytes = (64 << 10) - 1; bytes <= (64 << 10) + 2; bytes++) {
                int result = ed_request_read(&no_rules, line, bytes, 7, &request, error);

                CHECK_EQ(result, bytes <= 64 << 10 ? 1 : -EINVAL);
                ed_request_free(request);
        }
        CHECK_STR(error, "the URL has 65538 bytes; at most 65536 are possible");
        line[0] = '/';
        for (size_t bytes = (64 << 10) - 9; bytes <= (64 << 10) - 7; bytes++) {
                int result = ed_request_read(&no_rules, line, bytes, 7, &request, error);

                CHECK_EQ(result, bytes <= (64 << 10) - 8 ? 1 : -EINVAL);
                ed_request_free(request);
        }
        CHECK_STR(error, "the URL has 65529 bytes; at most 65528 are possible");
}

TEST(line_with_empty_fields_is_left_out_with_its_id)
{
        static const char *const empty[] = { "{\"custom_id\":\"a\",\"x\":null}",
                                             "{\"custom_id\":\"a\",\"x\":\" \",\"y\":1}" };
        struct ed_request_rules rules = { .url = "/{{x}}", .skip_empty = true };
        struct ed_request *request;

        CHECK_EQ(ed_template_new_url(rules.url, &rules.templates.url, error), 0);
        for (size_t i = 0; i < 2; i++) {
                CHECK_EQ(ed_request_read(&rules, empty[i], strlen(empty[i]), 7, &request, error),
                         ED_REQUEST_EMPTY);
                CHECK(request->is_empty && !request->url && !request->method);
                CHECK_STR(request->id, "a");
                ed_request_free(request);
        }
        CHECK_EQ(ed_request_read(&rules, "{\"x\":\"\"}", 8, 7, &request, error), ED_REQUEST_EMPTY);
        CHECK_STR(request->id, "line-7");
        ed_request_free(request);
        CHECK_EQ(ed_request_read(&rules, "{\"x\":\"\"", 7, 7, &request, error), -EINVAL);
        CHECK_EQ(ed_request_read(&rules, " ", 1, 7, &request, error), 0);
        check_fault(&rules, "{\"custom_id\":\"a\"}", "a",
                    "the line has no field \"x\", and the URL has {{x}}");
        check_request(&rules, "{\"x\":0}", "line-7", "GET /0 -");
        ed_template_free(rules.templates.url);
}

TEST(row_of_csv_is_a_request)
{
        struct ed_request_rules rules = { .url = "/v1/x" };
        struct ed_template *template = NULL;
        struct ed_columns *columns = NULL;
        struct ed_request *request;

        CHECK_EQ(ed_template_new("{\"in\":\"{{text}}\"}", 17, &template, error), 0);
        CHECK_EQ(ed_columns_new("custom_id,text", 14, &columns, error), 0);
        rules.columns = columns;
        rules.templates.body = template;
        check_request(&rules, "a1,\"x\ny\"", "a1", "POST /v1/x {\"in\":\"x\\ny\"}");
        check_request(&rules, ",# {", "line-7", "POST /v1/x {\"in\":\"# {\"}");
        check_fault(
                &rules, "a", "a",
                "the row has 1 column, and the first row has 2: put fields with commas in double "
                "quotes");
        check_fault(&rules, "\xff,b", NULL, "custom_id is not UTF-8 text: " ED_FAULT_UTF8);
        check_fault(&rules, "a,\"b", "a",
                    "column 2 of the row has a wrong quote: close it before the comma, and write a "
                    "quote in a field twice");
        CHECK_EQ(ed_request_read(&rules, " ", 1, 1, &request, error), 0);
        rules.id_column = "text";
        check_request(&rules, "a1,b1", "b1", "POST /v1/x {\"in\":\"b1\"}");
        rules.id_column = NULL;
        rules.url = NULL;
        check_fault(&rules, "a,b", "a", "rows of CSV have no URL: give --url");
        ed_template_free(template);
        ed_columns_free(columns);
}

TEST(common_mistakes_are_named_with_their_remedy)
{
        static const struct {
                const char *line, *sentence;
        } mistakes[] = {
                { "{'url': '/'}",
                  "column 2: a name in quotes expected, found ''': write strings in "
                  "double quotes, as json.dumps() does" },
                { "{\"url\":None}",
                  "column 8: a value expected, found 'N': JSON has null, true and "
                  "false, but neither NaN nor Infinity" },
                { "{\"url\":\"/\", }",
                  "column 13: a name in quotes expected, found '}': remove the "
                  "comma before it" },
                { "{\"url\":\"/\"},", "column 12: the text continues after its value, found ',': "
                                      "remove the comma" },
                { "{\"url\":\"/\"}{\"url\":\"/\"}",
                  "column 12: the text continues after its value, found '{': write each request on "
                  "one line, as jq -c does" },
                { "{",
                  "column 2: the text ends here; a name in quotes expected: write each request "
                  "on one line, as jq -c does" },
                { "{\"url\":\"/\xe9\"}", "column 10: the string is not UTF-8, found the byte 0xE9: "
                                         "convert the input to UTF-8, for example by iconv -f "
                                         "WINDOWS-1252 -t UTF-8" },
        };
        static const struct {
                const char *line, *sentence;
        } texts[] = {
                { "[{\"url\":\"/\"}]", "the line is an array: write each request on a line of its "
                                       "own, as jq -c '.[]' does" },
                { "[", "the line is an array: write each request on a line of its own, as jq -c "
                       "'.[]' does" },
                { "\"url\": \"/\",", "the line is a part of a JSON text: write each request on one "
                                     "line, as jq -c does" },
                { "},", "the line is a part of a JSON text: write each request on one line, as jq "
                        "-c does" },
                { "// text", "the line begins with //: write comments with #, and URLs with "
                             "http://" },
                { "a\tb",
                  "the line has fields that are separated by tabs: separate them by commas, "
                  "for example by python3 -c 'import csv,sys; csv.writer(sys.stdout)"
                  ".writerows(csv.reader(sys.stdin,delimiter=\"\\t\"))' <IN >NEW.csv" },
                { "example.com/", "the line is neither a JSON object nor a URL: begin it with {, "
                                  "http:// or https://, or give --format csv" },
                { "PK\3\4", "the line is not text: the input is JSON, URLs or CSV, as it is or "
                            "compressed by gzip or zstd" },
                { "BZh9\xff", "the line is not text: the input is JSON, URLs or CSV, as it is or "
                              "compressed by gzip or zstd" },
                { "\xff\xfe{", "the line is not UTF-8: convert the input to UTF-8, from UTF-16 by "
                               "iconv -f UTF-16 -t UTF-8" },
        };
        char sentence[ED_REQUEST_ERROR_BYTES];
        struct ed_request *request;

        for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
                snprintf(sentence, sizeof(sentence), "the line is not JSON: %s",
                         mistakes[i].sentence);
                check_fault(&no_rules, mistakes[i].line, NULL, sentence);
        }
        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
                check_fault(&no_rules, texts[i].line, NULL, texts[i].sentence);
        CHECK_EQ(ed_request_read(&no_rules, "{\0", 3, 1, &request, error), -EINVAL);
        CHECK(strstr(error, "iconv -f UTF-16"));
        CHECK_EQ(ed_request_read(&no_rules, "\0{", 3, 1, &request, error), -EINVAL);
        CHECK(strstr(error, "iconv -f UTF-16"));
}

/* Checks a line with a misspelt member beside its URL and body. */
static void check_misspelt(const char *name, const char *meant)
{
        char line[160], text[160];

        snprintf(line, sizeof(line), "{\"url\":\"/\",\"body\":{},\"x\":1,\"%s\":\"a\"}", name);
        snprintf(text, sizeof(text), "\"%s\" is not a member of a request: write \"%s\"", name,
                 meant);
        check_fault(&no_rules, line, NULL, text);
}

TEST(other_members_beside_a_body_are_ignored)
{
        static const char *const names[] = {
                "model", "uri",    "id",   "code",
                "type",  "BODY",   "urls", "_url",
                "name",  "body_2", "",     "a-name-that-is-longer-than-any-name-of-a-member",
        };
        char line[160];

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                snprintf(line, sizeof(line), "{\"url\":\"/\",\"body\":{},\"%s\":1}", names[i]);
                check_request(&no_rules, line, "line-7", "POST / {}");
        }
        check_request(&url_rules, "{\"metdata\":1}", "line-7", "POST /v1/x {\"metdata\":1}");
}

TEST(sentences_name_the_member_the_value_and_the_remedy)
{
        check_fault(&no_rules, "{\"url\":}", NULL,
                    "the line is not JSON: column 8: a value expected, found '}'");
        check_fault(&no_rules, "{\"custom_id\":\"a\",\"method\":5,\"url\":\"/\"}", "a",
                    "\"method\" is 5: write a string such as \"POST\"");
        check_fault(&no_rules, "{\"method\":\"A B\",\"url\":\"/\"}", NULL,
                    "\"method\" is \"A B\": write a method such as \"POST\"");
        check_fault(&no_rules, "{\"method\":\"post\",\"url\":\"/\"}", NULL,
                    "\"method\" is \"post\": write it in capitals");
        check_fault(&no_rules, "{\"url\":\"/\",\"customId\":\"a\"}", NULL,
                    "\"customId\" is not a member of a request: write \"custom_id\"");
        check_fault(&no_rules, "{\"x\":1,\"custom-ID\":\"a\",\"url\":\"/\",\"body\":{}}", NULL,
                    "\"custom-ID\" is not a member of a request: write \"custom_id\"");
        check_misspelt("Custom_id", "custom_id");
        check_misspelt("CUSTOMID", "custom_id");
        check_misspelt("costum_id", "custom_id");
        check_misspelt("metdata", "metadata");
        check_misspelt("time_out", "timeout");
        check_misspelt("Headers", "headers");
        check_misspelt("methode", "method");
        check_fault(&no_rules, "{\"url\":\"/\",\"file\":{}}", NULL,
                    "\"file\" is not a member of a request: write \"files\"");
        check_fault(&no_rules, "{\"URL\":\"/\"}", NULL,
                    "\"URL\" is not a member of a request: write \"url\"");
        check_fault(&no_rules, "{\"url\":\"/\",\"body\":\"{\\\"a\\\":1}\"}", NULL,
                    "\"body\" is \"{\\\"a\\\":1}\": this is a string with an object in it; write "
                    "the object");
        check_fault(&no_rules, "{\"custom_id\":\"a\",\"body\":{}}", "a",
                    "\"url\" is missing: add it to the line, or give --url");
        check_fault(&no_rules, "{\"url\":[],\"body\":{}}", NULL,
                    "\"url\" is []: write a string such as \"/v1/embeddings\"");
        check_fault(&no_rules, "{\"url\":\"ftp://h\",\"body\":{}}", NULL,
                    "the URL \"ftp://h\" does not begin with http://, https:// or /: write a "
                    "URL such as \"/v1/embeddings\"");
        check_fault(
                &no_rules, "{\"url\":\"ftp://u:secret@h\",\"body\":{}}", NULL,
                "the URL \"ftp://***@h\" does not begin with http://, https:// or /: write a URL "
                "such as \"/v1/embeddings\"");
        check_fault(&no_rules, "{\"url\":\"/a\\u0000b\",\"body\":{}}", NULL,
                    "the URL has the byte 0 in it: write %00");
        check_fault(&no_rules, "{\"url\":\"/\",\"url\":\"/\",\"custom_id\":1}", NULL,
                    "\"url\" occurs twice: remove one of them");
        check_fault(
                &no_rules, "{\"url\":\"/\",\"model\":\"m\"}", NULL,
                "\"model\" is not a member of a request: write it in \"body\", or give --url if "
                "lines are bodies");
        check_fault(&no_rules, "{\"url\":\"/\\ud800\"}", NULL,
                    "\"url\" has half of a surrogate pair: write both halves, such as "
                    "\\ud83c\\udf0a, or the character");
        for (int i = 0; i < 5; i++) {
                static const char *const values[] = { "0", "-1", "86401", "\"5\"", "1e999" };
                char line[100], text[100];

                snprintf(line, sizeof(line), "{\"url\":\"/\",\"timeout\":%s}", values[i]);
                snprintf(text, sizeof(text),
                         "\"timeout\" is %s: write seconds, above 0 and at most "
                         "86400, such as 30",
                         values[i]);
                check_fault(&no_rules, line, NULL, text);
        }
}

TEST(wrong_headers_are_refused_and_values_are_not_shown)
{
        check_fault(&no_rules, "{\"url\":\"/\",\"headers\":\"A: secret\"}", NULL,
                    "\"headers\" is not an object: write {\"X-Name\":\"value\"}");
        check_fault(&no_rules, "{\"url\":\"/\",\"headers\":{\"A\":5}}", NULL,
                    "header \"A\": the value is not a string: write a string such as "
                    "\"text/plain\"");
        check_fault(&no_rules, "{\"url\":\"/\",\"headers\":{\"A\":[\"b\",[]]}}", NULL,
                    "header \"A\": the value is not a string: write a string such as "
                    "\"text/plain\"");
        check_fault(&no_rules, "{\"url\":\"/\",\"headers\":{\"A b\":\"c\"}}", NULL,
                    "header \"A b\": the name of a header has only letters, digits and characters "
                    "such as -: write \"Content-Type\"");
        check_fault(&no_rules, "{\"url\":\"/\",\"headers\":{\"A\":\"secret\\r\\nB: c\"}}", NULL,
                    "header \"A\": its value has a control character or half of a surrogate pair: "
                    "remove it");
        check_fault(&no_rules, "{\"url\":\"/\",\"headers\":{\"A\":\"b\\u0000\"}}", NULL,
                    "header \"A\": its value has a control character or half of a surrogate pair: "
                    "remove it");
        check_fault(&no_rules, "{\"url\":\"/\",\"headers\":{\"content-length\":\"5\"}}", NULL,
                    "header \"content-length\" is set by the program: remove it from the line");
        check_fault(&no_rules, "{\"url\":\"/\",\"headers\":{\"Transfer-\\u0045ncoding\":\"5\"}}",
                    NULL,
                    "header \"Transfer-\\u0045ncoding\" is set by the program: remove it from the "
                    "line");
        check_fault(&no_rules, "{\"url\":\"/\",\"headers\":{\"Connection\":\"close\"}}", NULL,
                    "header \"Connection\" is set by the program: remove it from the line");
}

TEST(wrong_ids_are_refused)
{
        static const char *const values[] = { "1.0", "1e3", "true", "[1]", "{}" };
        char line[2000], text[200], digits[600];

        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
                snprintf(line, sizeof(line), "{\"url\":\"/\",\"custom_id\":%s}", values[i]);
                snprintf(text, sizeof(text), "\"custom_id\" is %s: write a string or an integer",
                         values[i]);
                check_fault(&no_rules, line, NULL, text);
        }
        check_fault(&no_rules, "{\"custom_id\":\"\",\"url\":\"/\"}", NULL,
                    "\"custom_id\" is empty: write a text, or leave it out");
        check_fault(&no_rules, "{\"custom_id\":\"a\\u0000\",\"url\":\"/\"}", NULL,
                    "\"custom_id\" has \\u0000 in it: remove it");
        memset(digits, '1', sizeof(digits));
        for (int bytes = ED_REQUEST_ID_BYTES_MAX; bytes <= ED_REQUEST_ID_BYTES_MAX + 1; bytes++)
                for (int quoted = 0; quoted < 2; quoted++) {
                        const char *quote = quoted ? "\"" : "";

                        snprintf(line, sizeof(line), "{\"url\":\"/\",\"custom_id\":%s%.*s%s}",
                                 quote, bytes, digits, quote);
                        if (bytes > ED_REQUEST_ID_BYTES_MAX)
                                check_fault(
                                        &no_rules, line, NULL,
                                        "custom_id is 513 bytes long; at most 512 are possible");
                        else
                                ed_request_free(request_of(&no_rules, line));
                }
}

TEST(number_of_headers_has_a_maximum)
{
        char line[2000];

        for (int count = ED_REQUEST_HEADERS_MAX; count <= ED_REQUEST_HEADERS_MAX + 1; count++) {
                int bytes = snprintf(line, sizeof(line), "{\"url\":\"/\",\"headers\":{\"a\":[\"\"");

                for (int i = 1; i < count; i++)
                        bytes +=
                                snprintf(line + bytes, sizeof(line) - (size_t) bytes, ",\"%d\"", i);
                snprintf(line + bytes, sizeof(line) - (size_t) bytes, "]}}");
                if (count > ED_REQUEST_HEADERS_MAX)
                        check_fault(&no_rules, line, NULL,
                                    "the line has more than 64 headers; at most 64 are possible");
                else
                        ed_request_free(request_of(&no_rules, line));
        }
}

/* Checks a part: "name=value", or "name@path;filename;type". */
static void check_part(const struct ed_request *request, size_t i, const char *expected)
{
        const struct eddy_http_part *part = &request->parts[i];
        char text[200];

        CHECK(i < request->parts_count);
        if (part->path)
                snprintf(text, sizeof(text), "%s@%s;%s;%s", part->name, part->path,
                         part->filename ? part->filename : "-", part->type ? part->type : "-");
        else
                snprintf(text, sizeof(text), "%s=%.*s", part->name, (int) part->data_bytes,
                         (const char *) part->data);
        CHECK_STR(text, expected);
}

TEST(form_and_files_are_parts_in_their_order)
{
        struct ed_request *request = request_of(
                &no_rules,
                "{\"files\":{\"f\":\"a/b\",\"g\":[{\"path\":\"c\",\"type\":\"t/"
                "u\"},null,\"\\u00e9\"]},"
                "\"url\":\"/"
                "x\",\"form\":{\"m\":\"\",\"n\":null,\"o\":[1.50,true,\"z\"]},\"other\":1}");
        static const char *const parts[] = { "m=",        "o=1.50",    "o=true",        "o=z",
                                             "f@a/b;-;-", "g@c;-;t/u", "g@\xc3\xa9;-;-" };

        CHECK_STR(request->method, "POST");
        CHECK(!request->body && !request->body_is_json && !request->is_url);
        CHECK_EQ(request->parts_count, 7);
        for (size_t i = 0; i < 7; i++)
                check_part(request, i, parts[i]);
        ed_request_free(request);
        /* With --url, a line with other members and without "url" is a body. */
        check_request(&url_rules, "{\"a\":1,\"files\":{\"f\":\"a\"}}", "line-7",
                      "POST /v1/x {\"a\":1,\"files\":{\"f\":\"a\"}}");
        request = request_of(&url_rules, "{\"files\":{\"f\":\"a\"}}");
        CHECK_EQ(request->parts_count, 1);
        ed_request_free(request);
        /* With a body, other members are ignored. */
        check_request(&no_rules, "{\"url\":\"/\",\"body\":{},\"form\":1,\"file\":\"a\"}", "line-7",
                      "POST / {}");
        check_request(&no_rules, "{\"url\":\"/\",\"files\":null}", "line-7", "GET / -");
}

TEST(hash_of_a_form_is_that_of_its_fields_and_paths)
{
        static const char *const others[] = {
                "{\"url\":\"/x\",\"form\":{\"a\":\"b\"},\"files\":{\"f\":\"c\"}}",
                "{\"url\":\"/x\",\"form\":{\"a\":\"c\"},\"files\":{\"f\":\"c\"}}",
                "{\"url\":\"/x\",\"files\":{\"f\":\"c\"}}",
                "{\"url\":\"/x\",\"files\":{\"f\":\"d\"}}",
                "{\"url\":\"/x\",\"form\":{\"f\":\"c\"},\"files\":{\"f\":\"c\"}}",
                "{\"url\":\"/x\",\"method\":\"POST\"}",
        };

        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
                for (size_t k = 0; k < i; k++)
                        CHECK(hash_of(&no_rules, others[i]) != hash_of(&no_rules, others[k]));
        CHECK_EQ(hash_of(&no_rules, others[0]),
                 hash_of(&no_rules, "{\"files\": {\"f\" :\"c\"},\"form\":{\"a\": \"b\"},"
                                    "\"url\":\"/x\"}"));
}

TEST(hash_is_that_of_the_request_and_not_of_its_white_space)
{
        static const char *const others[] = {
                "{\"url\":\"/x\",\"body\":{\"a\":\"b \"}}",
                "{\"url\":\"/x\",\"body\":{\"a\":\"b\"},\"method\":\"PUT\"}",
                "{\"url\":\"/y\",\"body\":{\"a\":\"b\"}}",
                "{\"url\":\"/x\",\"body\":{\"a\":\"b\"},\"headers\":{\"A\":\"b\"}}",
                "{\"url\":\"/x\",\"body\":{\"a\":\"b\"},\"headers\":{\"A\":\"c\"}}",
                "{\"url\":\"/x\",\"method\":\"POST\"}",
        };
        uint64_t hash = hash_of(&no_rules, "{\"url\":\"/x\",\"body\":{\"a\":\"b\"}}");

        CHECK_EQ(hash, hash_of(&no_rules, "{\"url\":\"\\/x\",\"method\":\"POST\", \"timeout\":5,"
                                          "\"custom_id\":5,\"body\": { \"a\" :\t\"b\" } }"));
        CHECK_EQ(hash, hash_of(&(struct ed_request_rules){ .url = "/x" }, "{ \"a\": \"b\"}"));
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
                uint64_t other = hash_of(&no_rules, others[i]);

                CHECK(other != hash);
                for (size_t k = 0; k < i; k++)
                        CHECK(other != hash_of(&no_rules, others[k]));
        }
        /* Files of results keep it: it must not change between versions and machines. */
        CHECK_EQ(hash, 0xce5ca2175af3231f);
}

TEST(body_says_how_many_tokens_and_whether_it_streams)
{
        static const struct {
                const char *body;
                uint64_t tokens;
                bool streams;
        } bodies[] = {
                { "{\"max_tokens\":10}", 10, false },
                { "{\"max_completion_tokens\":10,\"n\":3,\"stream\":true}", 30, true },
                { "{\"max_output_tokens\":20,\"max_tokens\":5,\"stream\":false}", 20, false },
                { "{\"max_tokens\":18446744073709551615,\"n\":2}", UINT64_MAX, false },
                { "{\"max_tokens\":-1,\"n\":0,\"stream\":1}", 0, false },
                { "{\"max_tokens\":\"5\",\"a\":{\"max_tokens\":5,\"stream\":true}}", 0, false },
                { "[{\"max_tokens\":5}]", 0, false },
        };

        for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
                struct ed_request *request;
                char line[200];

                snprintf(line, sizeof(line), "{\"url\":\"/\",\"body\":%s}", bodies[i].body);
                request = request_of(&no_rules, line);
                CHECK_EQ(request->output_tokens_max, bodies[i].tokens);
                CHECK_EQ(request->streams, bodies[i].streams);
                CHECK(request->body_is_json);
                ed_request_free(request);
        }
}

static const char full_line[] =
        "{\"custom_id\":\"request-1\",\"method\":\"POST\",\"url\":\"http://h/v1/x\",\"timeout\":5,"
        "\"headers\":{\"X-A\":\"b\",\"X-B\":[\"c\"]},\"metadata\":{\"a\":\"b\"},\"body\":{\"n\":2}"
        "}";

/* Makes rules whose URL and header have places. */
static void rules_fill(struct ed_request_rules *rules, struct ed_template_header *header)
{
        rules->url = "/{{url}}?{{timeout}}";
        rules->skip_empty = true;
        rules->templates.headers = header;
        rules->templates.headers_count = 1;
        header->name = "X";
        CHECK_EQ(ed_template_new_url(rules->url, &rules->templates.url, error), 0);
        CHECK_EQ(ed_template_new_header("{{method}}", &header->value, error), 0);
}

static void rules_free(struct ed_request_rules *rules)
{
        ed_template_free(rules->templates.url);
        ed_template_free(rules->templates.headers->value);
}

TEST(damaged_lines_do_no_harm_to_urls_and_headers)
{
        static const char bytes[] = "\"\\{}[]:,\0\xff\xed/ u0e";
        char *line = malloc(sizeof(full_line) - 1);
        size_t size = sizeof(full_line) - 1;
        struct ed_template_header header;
        struct ed_request_rules rules = { 0 };

        rules_fill(&rules, &header);
        CHECK(line);
        for (size_t at = 0; at < size * (sizeof(bytes) - 1); at++) {
                struct ed_request *request;
                int result;

                memcpy(line, full_line, size);
                line[at / (sizeof(bytes) - 1)] = bytes[at % (sizeof(bytes) - 1)];
                result = ed_request_read(&rules, line, size, 1, &request, error);
                CHECK(result == 0 || result == 1 || result == -EINVAL);
                CHECK(result != 1 || (request->url[0] == '/' && !strpbrk(request->url, " \r\n\"") &&
                                      request->headers_count == 1 && !request->body));
                ed_request_free(request);
        }
        free(line);
        rules_free(&rules);
}

TEST(lack_of_memory_for_urls_and_headers_is_an_error)
{
        static const char *const lines[] = {
                full_line, "{\"custom_id\":\"a\",\"url\":\"\",\"timeout\":null,\"method\":\" \"}"
        };
        struct ed_template_header header;
        struct ed_request_rules rules = { 0 };

        rules_fill(&rules, &header);
        for (size_t i = 0; i < 2; i++) {
                int result = -ENOMEM, left = 0;

                for (; result == -ENOMEM; left++) {
                        struct ed_request *request;

                        eddy_alloc_set(starve, NULL);
                        allocations_left = left;
                        result = ed_request_read(&rules, lines[i], strlen(lines[i]), 1, &request,
                                                 error);
                        CHECK(result != -ENOMEM || !request);
                        ed_request_free(request);
                        allocations_left = -1;
                        eddy_alloc_set(NULL, NULL);
                }
                CHECK_EQ(result, i == 0 ? 1 : ED_REQUEST_EMPTY);
                CHECK(left > 4);
        }
        rules_free(&rules);
}

TEST(damaged_lines_do_no_harm)
{
        static const char bytes[] = "\"\\{}[]:,\0\xff\xed/ u0e";
        struct ed_request_rules rules[] = { { 0 }, { .url = "/v1/x" }, { 0 }, { .url = "/" } };
        struct ed_template *template = NULL;
        struct ed_columns *columns = NULL;
        char *line = malloc(sizeof(full_line) - 1);
        size_t size = sizeof(full_line) - 1;

        CHECK_EQ(ed_template_new("[\"{{url}}\",\"-{{metadata}}\"]", 27, &template, error), 0);
        CHECK_EQ(ed_columns_new("url,metadata", 12, &columns, error), 0);
        rules[2].templates.body = rules[3].templates.body = template;
        rules[3].columns = columns;
        CHECK(line);
        for (size_t at = 0; at < size * (sizeof(bytes) - 1); at++) {
                struct ed_request *request;
                int result;

                memcpy(line, full_line, size);
                line[at / (sizeof(bytes) - 1)] = bytes[at % (sizeof(bytes) - 1)];
                for (size_t i = 0; i < 4; i++) {
                        result = ed_request_read(&rules[i], line, size, 1, &request, error);
                        CHECK(result == 0 || result == 1 || result == -EINVAL);
                        CHECK(result != 1 || (request && request->url && request->method));
                        CHECK(strlen(error) < sizeof(error));
                        ed_request_free(request);
                }
        }
        free(line);
        ed_template_free(template);
        ed_columns_free(columns);
}

TEST(damaged_forms_do_no_harm)
{
        static const char bytes[] = "\"\\{}[]:,\0\xff u0e";
        static const char form[] =
                "{\"url\":\"/\",\"form\":{\"a\":[1,\"b\\ud83c\\udf0a\"]},\"files\":"
                "{\"f\":[\"c\",{\"path\":\"d\",\"name\":\"e\",\"type\":\"t/u\"}]}}";
        size_t size = sizeof(form) - 1;
        char *line = malloc(size);

        CHECK(line);
        for (size_t at = 0; at < size * (sizeof(bytes) - 1); at++) {
                struct ed_request *request;
                int result;

                memcpy(line, form, size);
                line[at / (sizeof(bytes) - 1)] = bytes[at % (sizeof(bytes) - 1)];
                result = ed_request_read(&no_rules, line, size, 1, &request, error);
                CHECK(result == 1 || result == -EINVAL);
                CHECK(strlen(error) < sizeof(error));
                for (size_t i = 0; result == 1 && i < request->parts_count; i++)
                        CHECK(request->parts[i].name &&
                              !request->parts[i].path == !!request->parts[i].data);
                ed_request_free(request);
        }
        free(line);
}

TEST(lack_of_memory_is_an_error)
{
        static const char *const lines[] = { full_line, "{\"custom_id\":1,\"a\":2}",
                                             "{\"custom_id\":1,\"method\":2,\"url\":\"/\"}",
                                             "{\"url\":\"/\",\"form\":{\"a\":1},"
                                             "\"files\":{\"f\":\"b\"}}",
                                             "https://h/" };

        for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
                int result = -ENOMEM, left = 0;

                for (; result == -ENOMEM; left++) {
                        struct ed_request *request;

                        eddy_alloc_set(starve, NULL);
                        allocations_left = left;
                        result = ed_request_read(&url_rules, lines[i], strlen(lines[i]), 1,
                                                 &request, error);
                        CHECK(result != -ENOMEM || !request);
                        ed_request_free(request);
                        allocations_left = -1;
                        eddy_alloc_set(NULL, NULL);
                }
                CHECK_EQ(result, i == 2 ? -EINVAL : 1);
                CHECK(left > 1);
        }
}
