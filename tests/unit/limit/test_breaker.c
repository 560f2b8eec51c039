/*
 * test_breaker.c - a breaker opens after failures, tries again, and closes.
 */
#include "passed.h"

static int call(eddy_breaker *breaker, enum eddy_breaker_result result)
{
        int ticket = eddy_breaker_enter(breaker);

        if (ticket >= 0)
                eddy_breaker_leave(breaker, ticket, result);
        return ticket < 0 ? ticket : 0;
}

static void calls(eddy_breaker *breaker, int n, enum eddy_breaker_result result)
{
        for (int i = 0; i < n; i++)
                CHECK_EQ(call(breaker, result), 0);
}

static enum eddy_breaker_state state_of(const eddy_breaker *breaker)
{
        struct eddy_breaker_stats stats;

        eddy_breaker_stats(breaker, &stats);
        return stats.state;
}

static eddy_breaker breaker_of(uint32_t percent, uint32_t n, uint32_t trials)
{
        struct eddy_breaker_opts opts = {
                .failed_percent = percent, .calls = n, .trials = trials, .open_ns = EDDY_SEC(5)
        };
        eddy_breaker breaker;

        CHECK_EQ(eddy_breaker_init(&breaker, &opts), 0);
        return breaker;
}

SIM_TEST(a_zeroed_breaker_opens_when_half_of_100_calls_failed)
{
        eddy_breaker breaker = { 0 };

        calls(&breaker, 50, EDDY_BREAKER_WORKED);
        calls(&breaker, 49, EDDY_BREAKER_FAILED);
        CHECK_EQ(state_of(&breaker), EDDY_BREAKER_CLOSED);
        calls(&breaker, 1, EDDY_BREAKER_FAILED);
        CHECK_EQ(state_of(&breaker), EDDY_BREAKER_OPEN);
        CHECK_EQ(call(&breaker, EDDY_BREAKER_WORKED), EDDY_E_BREAKER_OPEN);
        CHECK_EQ(eddy_sleep(EDDY_SEC(59)), 0);
        CHECK_EQ(call(&breaker, EDDY_BREAKER_WORKED), EDDY_E_BREAKER_OPEN);
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        CHECK_EQ(call(&breaker, EDDY_BREAKER_WORKED), 0);
        CHECK_EQ(state_of(&breaker), EDDY_BREAKER_HALF_OPEN);
        calls(&breaker, 9, EDDY_BREAKER_WORKED);
        CHECK_EQ(state_of(&breaker), EDDY_BREAKER_CLOSED);
}

SIM_TEST(only_the_last_calls_count)
{
        eddy_breaker breaker = breaker_of(50, 10, 1);

        for (int i = 0; i < 100; i++) {
                calls(&breaker, 4, EDDY_BREAKER_FAILED);
                calls(&breaker, 6, EDDY_BREAKER_WORKED);
        }
        calls(&breaker, 4, EDDY_BREAKER_FAILED);
        CHECK_EQ(state_of(&breaker), EDDY_BREAKER_CLOSED);
        calls(&breaker, 1, EDDY_BREAKER_FAILED);
        CHECK_EQ(state_of(&breaker), EDDY_BREAKER_OPEN);
}

SIM_TEST(a_half_open_breaker_lets_only_its_trials_through)
{
        eddy_breaker breaker = breaker_of(50, 4, 3);
        int tickets[3];

        calls(&breaker, 4, EDDY_BREAKER_FAILED);
        CHECK_EQ(eddy_sleep(EDDY_SEC(5)), 0);
        for (int i = 0; i < 3; i++) {
                tickets[i] = eddy_breaker_enter(&breaker);
                CHECK(tickets[i] >= 0);
        }
        CHECK_EQ(eddy_breaker_enter(&breaker), EDDY_E_BREAKER_OPEN);
        /* A cancelled trial makes room for another one. */
        eddy_breaker_leave(&breaker, tickets[0], EDDY_BREAKER_UNKNOWN);
        tickets[0] = eddy_breaker_enter(&breaker);
        CHECK(tickets[0] >= 0);
        CHECK_EQ(eddy_breaker_enter(&breaker), EDDY_E_BREAKER_OPEN);
        eddy_breaker_leave(&breaker, tickets[0], EDDY_BREAKER_FAILED);
        eddy_breaker_leave(&breaker, tickets[1], EDDY_BREAKER_WORKED);
        CHECK_EQ(state_of(&breaker), EDDY_BREAKER_HALF_OPEN);
        eddy_breaker_leave(&breaker, tickets[2], EDDY_BREAKER_FAILED);
        CHECK_EQ(state_of(&breaker), EDDY_BREAKER_OPEN);
        CHECK_EQ(eddy_sleep(EDDY_SEC(5)), 0);
        calls(&breaker, 3, EDDY_BREAKER_WORKED);
        CHECK_EQ(state_of(&breaker), EDDY_BREAKER_CLOSED);
}

SIM_TEST(results_of_an_earlier_state_do_not_count)
{
        eddy_breaker breaker = breaker_of(50, 4, 1);
        int early = eddy_breaker_enter(&breaker), trial;

        calls(&breaker, 4, EDDY_BREAKER_FAILED);
        eddy_breaker_leave(&breaker, early, EDDY_BREAKER_WORKED);
        CHECK_EQ(state_of(&breaker), EDDY_BREAKER_OPEN);
        CHECK_EQ(eddy_sleep(EDDY_SEC(5)), 0);
        trial = eddy_breaker_enter(&breaker);
        CHECK(trial >= 0);
        eddy_breaker_leave(&breaker, early, EDDY_BREAKER_WORKED);
        CHECK_EQ(state_of(&breaker), EDDY_BREAKER_HALF_OPEN);
        eddy_breaker_leave(&breaker, EDDY_E_BREAKER_OPEN, EDDY_BREAKER_WORKED);
        eddy_breaker_leave(&breaker, trial, EDDY_BREAKER_WORKED);
        CHECK_EQ(state_of(&breaker), EDDY_BREAKER_CLOSED);
}

SIM_TEST(a_breaker_may_open_before_all_its_calls_are_made)
{
        struct eddy_breaker_opts opts = { .calls = 100, .calls_min = 5, .failed_percent = 100 };
        struct eddy_breaker_stats stats;
        eddy_breaker breaker;

        CHECK_EQ(eddy_breaker_init(&breaker, &opts), 0);
        calls(&breaker, 4, EDDY_BREAKER_FAILED);
        calls(&breaker, 100, EDDY_BREAKER_UNKNOWN);
        CHECK_EQ(state_of(&breaker), EDDY_BREAKER_CLOSED);
        calls(&breaker, 1, EDDY_BREAKER_FAILED);
        CHECK_EQ(call(&breaker, EDDY_BREAKER_WORKED), EDDY_E_BREAKER_OPEN);
        eddy_breaker_stats(&breaker, &stats);
        CHECK_EQ(stats.opened, 1);
        CHECK_EQ(stats.refused, 1);
        CHECK_EQ(stats.counted, 0);
        CHECK_NS(stats.until_ns - CLOCK_BEGINS_NS, EDDY_MIN(1));
}

TEST(options_of_a_breaker_out_of_range_are_refused)
{
        static const struct eddy_breaker_opts wrong[] = {
                { .failed_percent = 101 },
                { .calls = EDDY_BREAKER_CALLS_MAX + 1 },
                { .trials = EDDY_BREAKER_CALLS_MAX + 1 },
                { .calls = 10, .calls_min = 11 },
                { .calls_min = 101 },
                { .open_ns = -1 },
        };
        eddy_breaker breaker;

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
                CHECK_EQ(eddy_breaker_init(&breaker, &wrong[i]), -EINVAL);
        CHECK_EQ(eddy_breaker_init(&breaker, NULL), 0);
}

/* --- a service that fails for a while --- */

enum { CLIENTS = 10 };

static struct {
        eddy_breaker breaker;
        int sent, sent_while_down, refused;
} service;

static bool is_down(void)
{
        return passed_ns() >= EDDY_SEC(10) && passed_ns() < EDDY_SEC(40);
}

static int client(void *arg)
{
        (void) arg;
        while (passed_ns() < EDDY_SEC(60)) {
                int ticket = eddy_breaker_enter(&service.breaker);

                if (ticket < 0)
                        service.refused++;
                CHECK_EQ(eddy_sleep(EDDY_MS(50)), 0);
                if (ticket < 0)
                        continue;
                service.sent++;
                service.sent_while_down += is_down();
                eddy_breaker_leave(&service.breaker, ticket,
                                   is_down() ? EDDY_BREAKER_FAILED : EDDY_BREAKER_WORKED);
        }
        return 0;
}

SIM_TEST(a_service_that_is_down_gets_few_calls_and_all_of_them_soon_after_it_recovers)
{
        eddy_scope scope;

        service.breaker = breaker_of(50, 20, 5);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < CLIENTS; i++)
                eddy_scope_start(&scope, client, NULL);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(state_of(&service.breaker), EDDY_BREAKER_CLOSED);
        /* Of 6,000 calls in 30 s: those that open it, those on their way, and five each 5 s. */
        CHECK(service.sent_while_down <= 20 + CLIENTS + 6 * 5);
        CHECK(service.sent > 200 * 10 + 200 * 14);
}
