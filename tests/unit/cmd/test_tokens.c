/*
 * test_tokens.c - the estimate of a request never overflows, the average follows the answers, and
 * costs are exact.
 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "batch/answer/usage.h"
#include "batch/request/tokens.h"

static uint64_t estimate(const char *body, uint64_t output_max)
{
        struct ed_request request = { .body = body,
                                      .body_bytes = strlen(body),
                                      .output_tokens_max = output_max };

        return ed_tokens_estimate(&request);
}

TEST(estimate_is_a_quarter_of_the_bytes_rounded_up_and_the_maximum_of_the_output)
{
        CHECK_EQ(estimate("", 0), 0);
        CHECK_EQ(estimate("a", 0), 1);
        CHECK_EQ(estimate("abcd", 0), 1);
        CHECK_EQ(estimate("abcde", 100), 102);
        CHECK_EQ(estimate("0123456789abcdef0123", 0), 5);
        CHECK(estimate("abcd", UINT64_MAX) == UINT64_MAX);
}

TEST(bytes_that_are_not_ascii_are_half_a_token)
{
        CHECK_EQ(estimate("\xe4\xb8\xad", 0), 2);
        CHECK_EQ(estimate("\xe4\xb8\xad\xe6\x96\x87", 0), 3);
        CHECK_EQ(estimate("abcd\xe4\xb8\xad\xe6\x96\x87"
                          "efgh\xe4\xb8\xad\xe6\x96\x87",
                          7),
                 2 + 6 + 7);
}

TEST(mean_is_exact_at_first_and_then_follows_the_answers)
{
        struct ed_tokens_mean mean = { 0 };

        CHECK_EQ(ed_tokens_mean(&mean), 0);
        ed_tokens_mean_add(&mean, 100);
        CHECK_EQ(ed_tokens_mean(&mean), 100);
        ed_tokens_mean_add(&mean, 0);
        CHECK_EQ(ed_tokens_mean(&mean), 50);
        ed_tokens_mean_add(&mean, 200);
        CHECK_EQ(ed_tokens_mean(&mean), 100);
        for (int i = 0; i < 1000; i++)
                ed_tokens_mean_add(&mean, 700);
        CHECK_EQ(ed_tokens_mean(&mean), 700);
        ed_tokens_mean_add(&mean, 700 + 32 * 10);
        CHECK_EQ(ed_tokens_mean(&mean), 710);
        for (int i = 0; i < 1000; i++)
                ed_tokens_mean_add(&mean, 0);
        CHECK(ed_tokens_mean(&mean) <= 1);
        for (int i = 0; i < 1000; i++)
                ed_tokens_mean_add(&mean, UINT64_MAX);
        CHECK(ed_tokens_mean(&mean) <= ED_USAGE_TOKENS_MAX);
}

static void check_price(const char *text, uint64_t input, uint64_t output)
{
        struct ed_price price;
        const char *why = NULL;

        if (ed_price_parse(text, &price, &why) != 0)
                test_fail(__FILE__, __LINE__, "\"%s\" %s", text, why);
        CHECK_EQ(price.input, input);
        CHECK_EQ(price.output, output);
}

TEST(prices_are_read_exactly)
{
        check_price("0.15/0.60", 150000, 600000);
        check_price("3/15", 3000000, 15000000);
        check_price("0/0", 0, 0);
        check_price("0.000001/000.1", 1, 100000);
        check_price("1000000/1000000.000000", 1000000000000, 1000000000000);
}

TEST(prices_that_are_not_two_numbers_are_refused)
{
        static const char *const wrong[] = {
                "",
                "/",
                "1",
                "1/",
                "/1",
                "1/2/3",
                "1,5/2",
                "-1/2",
                "+1/2",
                " 1/2",
                "1/2 ",
                "1e3/2",
                "0x1/2",
                ".5/1",
                "1./2",
                "1/2.",
                "a/b",
                "1 / 2",
                "inf/nan",
                "$1/2",
                "1.1.1/2",
                "1/2\n",
                "1//2",
                "0.0000001/1",
                "1000000.000001/1",
                "1000001/1",
                "99999999999999999999999/1",
        };

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                struct ed_price price = { 5, 6 };
                const char *why = NULL;

                if (ed_price_parse(wrong[i], &price, &why) != -EINVAL)
                        test_fail(__FILE__, __LINE__, "\"%s\" was read", wrong[i]);
                CHECK(why && *why);
                CHECK(price.input == 5 && price.output == 6);
        }
}

TEST(amounts_are_read_like_prices)
{
        uint64_t micro = 5;

        CHECK_EQ(ed_price_amount_parse("2.50", &micro), 0);
        CHECK_EQ(micro, 2500000);
        CHECK_EQ(ed_price_amount_parse("2.50/1", &micro), -EINVAL);
        CHECK_EQ(ed_price_amount_parse("", &micro), -EINVAL);
        CHECK_EQ(ed_price_amount_parse("-1", &micro), -EINVAL);
        CHECK_EQ(micro, 2500000);
}

TEST(cost_is_exact_and_rounded_once)
{
        struct ed_price price = { .input = 150000, .output = 600000 };
        struct ed_price tiny = { .input = 1, .output = 1 };
        struct ed_price large = { .input = 1000000000000, .output = 1000000000000 };

        CHECK_EQ(ed_tokens_cost(&price, 0, 0), 0);
        CHECK_EQ(ed_tokens_cost(&price, 1000000, 1000000), 750000);
        /* 0.15 * 12345678901 + 0.6 * 9876543210, in millionths. */
        CHECK_EQ(ed_tokens_cost(&price, 12345678901, 9876543210), 1851851835 + 5925925926);
        CHECK_EQ(ed_tokens_cost(&tiny, 499999, 0), 0);
        CHECK_EQ(ed_tokens_cost(&tiny, 500000, 0), 1);
        CHECK_EQ(ed_tokens_cost(&tiny, 300000, 200000), 1);
        CHECK_EQ(ed_tokens_cost(&tiny, 1499999, 0), 1);
        CHECK_EQ(ed_tokens_cost(&large, 999999, 999999), 1999998000000);
        CHECK(ed_tokens_cost(&large, UINT64_MAX, UINT64_MAX) == UINT64_MAX);
        CHECK(ed_tokens_cost(&price, UINT64_MAX, 0) == 2767011611056432742);
}
