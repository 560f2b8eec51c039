/*
 * test_split.c - the answer to several rows becomes one for each row, with exact sums of tokens; and
 * answers that cannot be split.
 */
#include "test.h"

#include <errno.h>

#include "batch/answer/split.h"
#include "eddy/alloc.h"
#include "starve.h"

static char fault[ED_SPLIT_FAULT_BYTES];

static void check_split(const char *body, size_t rows, const char *const *expected)
{
        size_t bytes = strlen(body);
        char *copy = malloc(bytes);
        struct ed_split split;

        CHECK(copy);
        memcpy(copy, body, bytes);
        CHECK_EQ(ed_split_begin(&split, copy, bytes, rows, fault), 0);
        for (size_t i = 0; i < rows; i++) {
                struct ed_draft text = { 0 };

                ed_split_write(&split, i, &text);
                ed_draft_add(&text, "", 1);
                CHECK(ed_draft_is_whole(&text));
                CHECK_STR(text.data, expected[i]);
                ed_draft_fini(&text);
        }
        ed_split_end(&split);
        free(copy);
}

static void check_fault(const char *body, size_t rows, const char *expected)
{
        struct ed_split split;

        CHECK_EQ(ed_split_begin(&split, body, strlen(body), rows, fault), -EINVAL);
        CHECK_STR(fault, expected);
        CHECK(!split.items);
}

TEST(each_row_has_the_item_of_its_index)
{
        check_split(
                "{\"object\":\"list\",\"data\":[{\"index\":1,\"embedding\":[1,2]},"
                "{\"embedding\":\"AAA=\",\"index\" : 0 , \"x\":\"y\"}],\"model\":\"m\"}",
                2,
                (const char *const[]){
                        "{\"object\":\"list\",\"data\":[{\"embedding\":\"AAA=\",\"index\" : 0 , "
                        "\"x\":\"y\"}],\"model\":\"m\"}",
                        "{\"object\":\"list\",\"data\":[{\"index\":0,\"embedding\":[1,2]}],"
                        "\"model\":\"m\"}" });
        check_split("{\"data\":[{\"index\":0}]}", 1,
                    (const char *const[]){ "{\"data\":[{\"index\":0}]}" });
}

TEST(tokens_are_divided_and_their_sum_is_exact)
{
        /* Before the data, and after them. */
        check_split(
                "{\"usage\":{\"prompt_tokens\":8,\"a\":{\"b\":[1,null]},\"\\\"7\":\"7\"},"
                "\"data\":[{\"index\":0},{\"index\":1},{\"index\":2}]}",
                3,
                (const char *const[]){
                        "{\"usage\":{\"prompt_tokens\":3,\"a\":{\"b\":[1,null]},\"\\\"7\":\"7\"},"
                        "\"data\":[{\"index\":0}]}",
                        "{\"usage\":{\"prompt_tokens\":3,\"a\":{\"b\":[0,null]},\"\\\"7\":\"7\"},"
                        "\"data\":[{\"index\":0}]}",
                        "{\"usage\":{\"prompt_tokens\":2,\"a\":{\"b\":[0,null]},\"\\\"7\":\"7\"},"
                        "\"data\":[{\"index\":0}]}" });
        check_split("{\"data\":[{\"index\":0},{\"index\":1}],\"usage\":{\"cost\":0.25,\"n\":-3,"
                    "\"big\":12345678901234567890,\"e\":1e3,\"t\":5}}",
                    2,
                    (const char *const[]){
                            "{\"data\":[{\"index\":0}],\"usage\":{\"cost\":0.25,\"n\":-3,"
                            "\"big\":12345678901234567890,\"e\":1e3,\"t\":3}}",
                            "{\"data\":[{\"index\":0}],\"usage\":{\"cost\":0,\"n\":0,"
                            "\"big\":0,\"e\":0,\"t\":2}}" });
        check_split("{\"usage\":null,\"data\":[{\"index\":0},{\"index\":1}]}", 2,
                    (const char *const[]){ "{\"usage\":null,\"data\":[{\"index\":0}]}",
                                           "{\"usage\":null,\"data\":[{\"index\":0}]}" });
        check_split("{\"usage\":7,\"data\":[{\"index\":1},{\"index\":0}]}", 2,
                    (const char *const[]){ "{\"usage\":4,\"data\":[{\"index\":0}]}",
                                           "{\"usage\":3,\"data\":[{\"index\":0}]}" });
}

TEST(answer_without_one_item_for_each_row_is_refused)
{
        check_fault("{\"data\":[{\"index\":0}]}", 2, "\"data\" has 1 item for 2 rows");
        check_fault("{\"data\":[]}", 2, "\"data\" has 0 items for 2 rows");
        check_fault("{\"data\":[{\"index\":0},{\"index\":1},{\"index\":2}]}", 2,
                    "\"data\" has 3 items for 2 rows");
        check_fault("{\"data\":[{\"index\":1},{\"index\":1}]}", 2,
                    "item 2 of \"data\" has the \"index\" 1, which an earlier item has too");
        check_fault("{\"data\":[{\"index\":1},{\"index\":2}]}", 2,
                    "item 2 of \"data\" has the \"index\" 2, but there are fewer rows (indexes "
                    "begin at 0)");
        check_fault("{\"data\":[{\"index\":0},{\"x\":1}]}", 2,
                    "item 2 of \"data\" has no \"index\"");
        check_fault("{\"data\":[{\"index\":-1},{\"index\":0}]}", 2,
                    "item 1 of \"data\" has no \"index\"");
        check_fault("{\"data\":[{\"index\":\"0\"},{\"index\":1}]}", 2,
                    "item 1 of \"data\" has no \"index\"");
        check_fault("{\"data\":[[0],[1]]}", 2, "item 1 of \"data\" has no \"index\"");
        check_fault("{\"data\":{\"a\":{\"index\":0}}}", 1, "the answer has no list \"data\"");
        check_fault("{\"embeddings\":[[1],[2]]}", 2, "the answer has no list \"data\"");
        check_fault("[{\"index\":0}]", 1, "the answer has no list \"data\"");
        check_fault("<html>", 2, "the answer has no list \"data\"");
        check_fault("", 2, "the answer has no list \"data\"");
}

TEST(answer_that_is_cut_at_any_byte_is_refused)
{
        static const char body[] =
                "{\"data\":[{\"index\":0,\"e\":[1.5]},{\"index\":1}],\"usage\":{\"t\":5}}";

        for (size_t bytes = 0; bytes < sizeof(body) - 1; bytes++) {
                char *copy = malloc(bytes ? bytes : 1);
                struct ed_split split;

                CHECK(copy);
                memcpy(copy, body, bytes);
                CHECK_EQ(ed_split_begin(&split, copy, bytes, 2, fault), -EINVAL);
                free(copy);
        }
}

TEST(answer_with_a_wrong_byte_does_no_harm)
{
        static const char whole[] =
                "{\"usage\":{\"t\":51},\"data\":[{\"index\":0,\"e\":[1.5]},{\"index\":1}]}";
        static const char wrong[] = "\"\\{}[]:,\0\xff"
                                    "5n -";
        char body[sizeof(whole)];

        for (size_t at = 0; at < (sizeof(whole) - 1) * (sizeof(wrong) - 1); at++) {
                struct ed_split split;
                int err;

                memcpy(body, whole, sizeof(whole));
                body[at / (sizeof(wrong) - 1)] = wrong[at % (sizeof(wrong) - 1)];
                err = ed_split_begin(&split, body, sizeof(whole) - 1, 2, fault);
                CHECK(err == 0 || err == -EINVAL);
                for (size_t i = 0; err == 0 && i < 2; i++) {
                        struct ed_draft text = { 0 };

                        ed_split_write(&split, i, &text);
                        CHECK_EQ(eddy_json_check(text.data, text.bytes, NULL, NULL), 0);
                        ed_draft_fini(&text);
                }
                ed_split_end(&split);
        }
}

TEST(lack_of_memory_is_an_error)
{
        static const char body[] = "{\"data\":[{\"index\":0},{\"index\":1}]}";
        struct ed_split split;

        eddy_alloc_set(starve, NULL);
        allocations_left = 0;
        CHECK_EQ(ed_split_begin(&split, body, sizeof(body) - 1, 2, fault), -ENOMEM);
        CHECK(!split.items);
        allocations_left = -1;
        eddy_alloc_set(NULL, NULL);
}
