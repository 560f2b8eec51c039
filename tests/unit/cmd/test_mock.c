/*
 * test_mock.c - what the mock's moods are made of: waits with a median and a
 * tail, a token bucket, a bounded table of tokens.
 */
#include "test.h"

#include <errno.h>

#include "common/duration.h"
#include "eddy/time.h"
#include "mock/bucket.h"
#include "mock/latency.h"
#include "mock/tokens.h"

static int compare(const void *a, const void *b)
{
        int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

        return (x > y) - (x < y);
}

TEST(latency_has_the_median_and_the_p99_asked_for)
{
        enum { DRAWS = 40000 };
        static int64_t draws[DRAWS];
        struct ed_random random = { 5 };

        for (int i = 0; i < DRAWS; i++)
                draws[i] = ed_latency_draw(EDDY_MS(100), EDDY_MS(1000), &random);
        qsort(draws, DRAWS, sizeof(draws[0]), compare);
        CHECK(draws[0] > 0);
        CHECK(draws[DRAWS / 2] > EDDY_MS(97) && draws[DRAWS / 2] < EDDY_MS(103));
        CHECK(draws[DRAWS * 99 / 100] > EDDY_MS(920) && draws[DRAWS * 99 / 100] < EDDY_MS(1080));
        CHECK(draws[DRAWS - 1] <= ED_LATENCY_MAX_NS);
}

TEST(latency_without_a_p99_is_constant)
{
        struct ed_random random = { 5 };

        CHECK_EQ(ed_latency_draw(EDDY_MS(100), 0, &random), EDDY_MS(100));
        CHECK_EQ(ed_latency_draw(EDDY_MS(100), EDDY_MS(100), &random), EDDY_MS(100));
        CHECK_EQ(ed_latency_draw(0, 0, &random), 0);
}

TEST(bucket_lets_a_second_s_worth_through_and_then_the_rate)
{
        struct ed_bucket bucket;
        int64_t wait;
        int taken = 0;

        ed_bucket_init(&bucket, 10, EDDY_SEC(1));
        while ((wait = ed_bucket_take(&bucket, EDDY_SEC(1))) == 0)
                taken++;
        CHECK_EQ(taken, 10);
        CHECK(wait > EDDY_MS(99) && wait < EDDY_MS(101));
        CHECK(ed_bucket_take(&bucket, EDDY_SEC(1) + EDDY_MS(50)) > 0);
        CHECK_EQ(ed_bucket_take(&bucket, EDDY_SEC(1) + wait), 0);
        CHECK(ed_bucket_take(&bucket, EDDY_SEC(1) + wait) > 0);
        /* An hour of rest fills it no higher. */
        for (taken = 0; ed_bucket_take(&bucket, EDDY_SEC(3600)) == 0;)
                taken++;
        CHECK_EQ(taken, 10);
}

TEST(bucket_slower_than_one_per_second_still_lets_one_through)
{
        struct ed_bucket bucket;
        int64_t wait;

        ed_bucket_init(&bucket, 0.1, 0);
        CHECK_EQ(ed_bucket_take(&bucket, 0), 0);
        wait = ed_bucket_take(&bucket, 0);
        CHECK(wait > EDDY_MS(9990) && wait < EDDY_MS(10010));
        CHECK_EQ(ed_bucket_take(&bucket, wait), 0);
}

TEST(bucket_that_hardly_ever_fills_still_limits)
{
        struct ed_bucket bucket;

        ed_bucket_init(&bucket, 1e-14, 0);
        CHECK_EQ(ed_bucket_take(&bucket, 0), 0);
        CHECK_EQ(ed_bucket_take(&bucket, 0), ED_DURATION_MAX_NS);
        CHECK_EQ(ed_bucket_take(&bucket, EDDY_SEC(3600)), ED_DURATION_MAX_NS);
}

TEST(bucket_without_a_rate_is_no_limit)
{
        struct ed_bucket bucket;

        ed_bucket_init(&bucket, 0, 0);
        for (int i = 0; i < 1000; i++)
                CHECK_EQ(ed_bucket_take(&bucket, 0), 0);
}

static struct ed_tokens tokens;

static uint32_t count(const char *token)
{
        uint32_t before;

        CHECK_EQ(ed_tokens_count(&tokens, token, strlen(token), &before), 0);
        return before;
}

TEST(each_token_is_counted_for_itself)
{
        CHECK_EQ(count("a"), 0);
        CHECK_EQ(count("a"), 1);
        CHECK_EQ(count("b"), 0);
        CHECK_EQ(count(""), 0);
        CHECK_EQ(count("a"), 2);
        CHECK_EQ(count("aa"), 0);
        ed_tokens_fini(&tokens);
        CHECK_EQ(count("a"), 0);
        ed_tokens_fini(&tokens);
}

TEST(table_of_tokens_is_bounded_and_forgets_the_oldest)
{
        char token[16];

        for (int i = 0; i < ED_TOKENS_MAX; i++) {
                snprintf(token, sizeof(token), "%d", i);
                CHECK_EQ(count(token), 0);
        }
        CHECK_EQ(tokens.count, ED_TOKENS_MAX);
        CHECK_EQ(count("0"), 1);
        CHECK_EQ(count("new"), 0); /* drives out "0", which came first */
        CHECK_EQ(tokens.count, ED_TOKENS_MAX);
        CHECK_EQ(count("1"), 1);
        CHECK_EQ(count("0"), 0); /* drives out "1" */
        CHECK_EQ(count("new"), 1);
        CHECK_EQ(count("2"), 1);
        CHECK_EQ(count("1"), 0);
        ed_tokens_fini(&tokens);
}

TEST(token_that_is_too_long_is_refused)
{
        char token[ED_TOKEN_BYTES_MAX + 1] = "";
        uint32_t before = 77;

        CHECK_EQ(ed_tokens_count(&tokens, token, sizeof(token), &before), -EINVAL);
        CHECK_EQ(before, 77);
        CHECK_EQ(ed_tokens_count(&tokens, token, sizeof(token) - 1, &before), 0);
        ed_tokens_fini(&tokens);
}
