/*
 * test_bundle.c - rows that are sent as one request: the body, which rows go together, parts, the
 * key of a repetition, and no memory.
 */
#include "test.h"

#include <errno.h>

#include "batch/request/bundle.h"
#include "eddy/alloc.h"
#include "starve.h"

static const struct ed_request_rules rules = { .url = "/v1/embeddings" };
static char error[ED_REQUEST_ERROR_BYTES];

static struct ed_request *request_of(const char *line)
{
        struct ed_request *request;

        CHECK_EQ(ed_request_read(&rules, line, strlen(line), 7, &request, error), 1);
        return request;
}

static struct ed_bundle *bundle_of(const char *const *lines, size_t count)
{
        struct ed_bundle *bundle;

        CHECK_EQ(ed_bundle_new(count, &bundle), 0);
        for (size_t i = 0; i < count; i++)
                CHECK_EQ(ed_bundle_add(bundle, request_of(lines[i])), 1);
        CHECK(ed_bundle_is_full(bundle));
        return bundle;
}

static void check_can(const char *line, bool expected)
{
        struct ed_request *request = request_of(line);

        CHECK_EQ(ed_bundle_can(request), expected);
        ed_request_free(request);
}

TEST(texts_of_rows_become_a_list)
{
        static const char *const lines[] = {
                "{\"custom_id\":\"a\",\"model\":\"m\",\"input\": \"x\\\"]\" , \"user\":\"u\"}",
                "{\"custom_id\":\"b\",\"model\":\"m\",\"input\": \"\" , \"user\":\"u\"}",
                "{\"custom_id\":\"c\",\"model\":\"m\",\"input\": \"\xc3\xa9\" , \"user\":\"u\"}",
        };
        struct ed_bundle *bundle = bundle_of(lines, 3);

        CHECK_EQ(ed_bundle_take(bundle, 0, 3), 0);
        CHECK_STR(bundle->request.body,
                  "{\"model\":\"m\",\"input\": [\"x\\\"]\",\"\",\"\xc3\xa9\"] , \"user\":\"u\"}");
        CHECK_EQ(bundle->request.body_bytes, strlen(bundle->request.body));
        CHECK_STR(bundle->request.id, "a");
        CHECK_EQ(ed_bundle_take(bundle, 1, 2), 0);
        CHECK_STR(bundle->request.body,
                  "{\"model\":\"m\",\"input\": [\"\",\"\xc3\xa9\"] , \"user\":\"u\"}");
        CHECK_EQ(ed_bundle_take(bundle, 2, 1), 0);
        CHECK_STR(bundle->request.body,
                  "{\"model\":\"m\",\"input\": \"\xc3\xa9\" , \"user\":\"u\"}");
        CHECK_EQ(ed_request_key(&bundle->request), ed_request_key(bundle->rows[2].request));
        ed_bundle_free(bundle);
}

TEST(rows_that_differ_beside_the_text_do_not_go_together)
{
        static const char first[] = "{\"url\":\"/x\",\"body\":{\"m\":1,\"input\":\"a\"}}";
        static const struct {
                const char *line;
                int added;
        } others[] = {
                { "{\"custom_id\":\"b\",\"url\":\"/x\",\"body\":{\"m\":1,\"input\":\"longer\"}}",
                  1 },
                { "{\"metadata\":1,\"url\":\"/x\",\"body\":{\"m\":1,\"input\":\"b\"}}", 1 },
                { "{\"url\":\"/y\",\"body\":{\"m\":1,\"input\":\"a\"}}", 0 },
                { "{\"url\":\"/x\",\"body\":{\"m\":2,\"input\":\"a\"}}", 0 },
                { "{\"url\":\"/x\",\"body\":{\"m\":1,\"input\":\"a\",\"n\":1}}", 0 },
                { "{\"url\":\"/x\",\"body\":{\"m\":1,\"input\":[\"a\"]}}", 0 },
                { "{\"url\":\"/x\",\"body\":{\"m\":1,\"input\":5}}", 0 },
                { "{\"url\":\"/x\",\"timeout\":5,\"body\":{\"m\":1,\"input\":\"a\"}}", 0 },
                { "{\"url\":\"/x\",\"method\":\"PUT\",\"body\":{\"m\":1,\"input\":\"a\"}}", 0 },
                { "{\"url\":\"/x\",\"headers\":{\"A\":\"b\"},\"body\":{\"m\":1,\"input\":\"a\"}}",
                  0 },
        };

        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
                struct ed_request *request = request_of(others[i].line);
                struct ed_bundle *bundle;

                CHECK_EQ(ed_bundle_new(3, &bundle), 0);
                CHECK_EQ(ed_bundle_add(bundle, request_of(first)), 1);
                CHECK_EQ(ed_bundle_add(bundle, request), others[i].added);
                if (!others[i].added)
                        ed_request_free(request);
                ed_bundle_free(bundle);
        }
}

TEST(only_a_body_with_one_text_can_be_a_row)
{
        check_can("{\"model\":\"m\",\"input\":\"a\"}", true);
        check_can("{\"model\":\"m\",\"text\":\"a\"}", false);
        check_can("{\"model\":\"m\",\"input\":\"a\",\"input\":\"b\"}", false);
        check_can("{\"model\":\"m\",\"input\":null}", false);
        check_can("{\"model\":\"m\",\"input\":\"a\",\"stream\":true}", false);
        check_can("{\"messages\":[],\"input\":\"a\"}", false);
        check_can("{\"url\":\"/v1/responses\",\"body\":{\"input\":\"a\"}}", false);
        check_can("{\"url\":\"/x\",\"body\":[\"input\"]}", false);
        check_can("{\"url\":\"/x\",\"body\":\"input\"}", false);
        check_can("{\"url\":\"/x\",\"header\":{},\"body\":\"eyJpbnB1dCI6ImEifQ==\"}", false);
        check_can("https://h/x", false);
}

TEST(bundle_has_a_most_of_rows_and_bytes)
{
        size_t bytes = ED_BUNDLE_BYTES_MAX - 1000;
        static const char begin[] = "{\"input\":\"";
        char *line = malloc(bytes + 100), *text;
        struct ed_request *request;
        struct ed_bundle *bundle;

        CHECK(line);
        memcpy(line, begin, sizeof(begin));
        text = line + strlen(begin);
        memset(text, 'x', bytes);
        memcpy(text + bytes, "\"}", 3);
        CHECK_EQ(ed_bundle_new(ED_BUNDLE_ROWS_MAX, &bundle), 0);
        /* A single row is not refused because of its size. */
        CHECK_EQ(ed_bundle_add(bundle, request_of(line)), 1);
        request = request_of("{\"input\":\"a\"}");
        CHECK_EQ(ed_bundle_add(bundle, request), 0);
        ed_bundle_free(bundle);
        CHECK_EQ(ed_bundle_new(1, &bundle), 0);
        CHECK_EQ(ed_bundle_add(bundle, request), 1);
        request = request_of("{\"input\":\"b\"}");
        CHECK_EQ(ed_bundle_add(bundle, request), 0);
        ed_request_free(request);
        ed_bundle_free(bundle);
        free(line);
}

TEST(key_of_a_repetition_depends_on_all_rows)
{
        static const char *const lines[][2] = {
                { "{\"custom_id\":\"a\",\"input\":\"x\"}",
                  "{\"custom_id\":\"b\",\"input\":\"y\"}" },
                { "{\"custom_id\":\"a\",\"input\":\"x\"}",
                  "{\"custom_id\":\"c\",\"input\":\"y\"}" },
                { "{\"custom_id\":\"a\",\"input\":\"x\"}",
                  "{\"custom_id\":\"b\",\"input\":\"z\"}" },
                { "{\"custom_id\":\"b\",\"input\":\"y\"}",
                  "{\"custom_id\":\"a\",\"input\":\"x\"}" },
        };
        uint64_t keys[4];

        for (size_t i = 0; i < 4; i++) {
                struct ed_bundle *bundle = bundle_of(lines[i], 2);

                CHECK_EQ(ed_bundle_take(bundle, 0, 2), 0);
                keys[i] = ed_request_key(&bundle->request);
                CHECK_EQ(ed_bundle_take(bundle, 0, 1), 0);
                CHECK_EQ(ed_bundle_take(bundle, 0, 2), 0);
                CHECK_EQ(ed_request_key(&bundle->request), keys[i]);
                for (size_t j = 0; j < i; j++)
                        CHECK(keys[i] != keys[j]);
                ed_bundle_free(bundle);
        }
}

TEST(part_is_kept_if_memory_is_short)
{
        static const char *const lines[] = { "{\"input\":\"a\"}", "{\"input\":\"b\"}",
                                             "{\"input\":\"c\"}" };
        struct ed_bundle *bundle = bundle_of(lines, 3);

        CHECK_EQ(ed_bundle_take(bundle, 0, 3), 0);
        eddy_alloc_set(starve, NULL);
        allocations_left = 0;
        CHECK_EQ(ed_bundle_take(bundle, 0, 2), -ENOMEM);
        CHECK_STR(bundle->request.body, "{\"input\":[\"a\",\"b\",\"c\"]}");
        CHECK_EQ(bundle->part, 3);
        CHECK_EQ(ed_bundle_take(bundle, 1, 1), 0);
        CHECK_STR(bundle->request.body, "{\"input\":\"b\"}");
        allocations_left = -1;
        eddy_alloc_set(NULL, NULL);
        ed_bundle_free(bundle);
        ed_bundle_free(NULL);
}
