/*
 * test_alike.c - the first results of a run, all the same refusal or not.
 */
#include "test.h"

#include <errno.h>

#include "batch/run/alike.h"
#include "common/outcome.h"

/* Returns the number of results until the rule says that all are alike; 0: it does not. */
static int full_after(int cause, int other, int other_at)
{
        struct ed_alike alike = { 0 };

        for (int i = 0; i < 100; i++) {
                ed_alike_add(&alike, ed_alike_begin(&alike, 1), i == other_at ? other : cause,
                             i == 0 ? "first" : "later");
                if (ed_alike_is_full(&alike, 64)) {
                        CHECK_STR(alike.text, "first");
                        CHECK_EQ(alike.cause, cause);
                        return i + 1;
                }
        }
        return 0;
}

TEST(twenty_equal_refusals_are_alike)
{
        static const int refusals[] = { 300,
                                        302,
                                        308,
                                        399,
                                        400,
                                        404,
                                        405,
                                        413,
                                        422,
                                        499,
                                        ED_E_ANSWER_NOT_OK,
                                        ED_E_ANSWER_NOT_SCHEMA };
        static const int others[] = { 0,
                                      200,
                                      299,
                                      401,
                                      402,
                                      403,
                                      408,
                                      409,
                                      425,
                                      429,
                                      500,
                                      503,
                                      ED_E_ANSWER_HAS_ERROR,
                                      ED_E_ANSWER_NOT_JSON };

        for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
                CHECK_EQ(full_after(refusals[i], 0, -1), ED_ALIKE_MAX);
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
                CHECK_EQ(full_after(others[i], 0, -1), 0);
}

TEST(another_result_among_the_first_ends_the_rule)
{
        for (int at = 0; at < ED_ALIKE_MAX; at++) {
                CHECK_EQ(full_after(404, 0, at), 0);
                CHECK_EQ(full_after(404, 400, at), 0);
        }
        CHECK_EQ(full_after(404, 0, ED_ALIKE_MAX), ED_ALIKE_MAX);
}

TEST(later_requests_count_if_there_are_more_than_can_be_in_flight)
{
        struct ed_alike alike = { 0 };

        CHECK_EQ(ed_alike_begin(&alike, 19), 0);
        CHECK_EQ(ed_alike_begin(&alike, 500), 19);
        CHECK_EQ(ed_alike_begin(&alike, 1), ED_ALIKE_PLACES);
        for (int i = 1; i < ED_ALIKE_MAX + 64; i++) { /* the first one has no result */
                ed_alike_add(&alike, i, 404, "");
                CHECK(!ed_alike_is_full(&alike, 64));
        }
        ed_alike_add(&alike, ED_ALIKE_PLACES, 404, "");
        CHECK(ed_alike_is_full(&alike, 64));
}

TEST(failures_that_say_nothing_about_the_request_do_not_count)
{
        static const int silent[] = { 401,
                                      402,
                                      403,
                                      408,
                                      409,
                                      425,
                                      429,
                                      500,
                                      503,
                                      529,
                                      -ECONNRESET,
                                      -ETIMEDOUT,
                                      ED_E_ANSWER_HAS_ERROR,
                                      ED_E_ANSWER_NOT_JSON };

        for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
                CHECK_EQ(full_after(404, silent[i], 3), ED_ALIKE_MAX + 1);
                CHECK_EQ(full_after(ED_E_ANSWER_NOT_SCHEMA, silent[i], 19), ED_ALIKE_MAX + 1);
        }
        CHECK_EQ(full_after(404, 302, 3), 0);
        CHECK_EQ(full_after(404, ED_E_ANSWER_NOT_ROWS, 3), 0);
}

TEST(a_request_that_is_tried_again_does_not_hold_up_the_others)
{
        struct ed_alike alike = { 0 };

        CHECK_EQ(ed_alike_begin(&alike, 64), 0);
        for (int i = 1; i <= ED_ALIKE_MAX; i++) {
                ed_alike_add(&alike, i, 404, "");
                CHECK(!ed_alike_is_full(&alike, 64));
        }
        ed_alike_pass(&alike, 0);
        CHECK(ed_alike_is_full(&alike, 64));
        /* Its later result counts, and that of a request which was counted stays. */
        ed_alike_add(&alike, 0, 404, "");
        ed_alike_add(&alike, 1, 500, "");
        CHECK(ed_alike_is_full(&alike, 64));
        ed_alike_add(&alike, 21, 0, "");
        CHECK(!ed_alike_is_full(&alike, 64));
}
