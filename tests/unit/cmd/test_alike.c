/*
 * test_alike.c - the first results of a run, all the same refusal or not.
 */
#include "test.h"

#include "batch/run/alike.h"
#include "common/outcome.h"

/* Returns the number of results until the rule says that all are alike; 0: it does not. */
static int full_after(int cause, int other, int other_at)
{
        struct ed_alike alike = { 0 };

        for (int i = 0; i < 100; i++) {
                ed_alike_add(&alike, ed_alike_begin(&alike), i == other_at ? other : cause,
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
        static const int refusals[] = {
                400, 404, 405, 413, 422, 499, ED_E_ANSWER_NOT_OK, ED_E_ANSWER_NOT_SCHEMA
        };
        static const int others[] = { 0,
                                      200,
                                      302,
                                      399,
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

        for (int i = 0; i < ED_ALIKE_MAX; i++)
                CHECK(ed_alike_begin(&alike));
        CHECK(!ed_alike_begin(&alike));
        for (int i = 0; i < ED_ALIKE_MAX + 64 - 1; i++) {
                ed_alike_add(&alike, i == 0, 404, "");
                CHECK(!ed_alike_is_full(&alike, 64));
        }
        ed_alike_add(&alike, false, 404, "");
        CHECK(ed_alike_is_full(&alike, 64));
}
