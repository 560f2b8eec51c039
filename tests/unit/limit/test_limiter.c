/*
 * test_limiter.c - limits in time: bounds of each window, order, corrections and pauses.
 */
#include "line.h"
#include "other_loop.h"
#include "passed.h"

enum { GRANTS = 3000 };

static int64_t granted_ns[GRANTS];

static eddy_limiter *limiter_of(uint64_t amount, int64_t window_ns, int64_t burst_ns)
{
        struct eddy_limiter_limit limit = { EDDY_LIMITER_REQUESTS, amount, window_ns };
        struct eddy_limiter_opts opts = { .limits = &limit,
                                          .limits_count = 1,
                                          .burst_ns = burst_ns };
        eddy_limiter *limiter;

        CHECK_EQ(eddy_limiter_new(&opts, &limiter), 0);
        return limiter;
}

static eddy_limiter *limiter_of_both(uint64_t requests, uint64_t tokens, int64_t burst_ns)
{
        struct eddy_limiter_limit limits[] = { { EDDY_LIMITER_REQUESTS, requests, EDDY_MIN(1) },
                                               { EDDY_LIMITER_TOKENS, tokens, EDDY_MIN(1) } };
        struct eddy_limiter_opts opts = { .limits = limits,
                                          .limits_count = 2,
                                          .burst_ns = burst_ns };
        eddy_limiter *limiter;

        CHECK_EQ(eddy_limiter_new(&opts, &limiter), 0);
        return limiter;
}

static uint64_t waiting(const eddy_limiter *limiter)
{
        struct eddy_limiter_stats stats;

        eddy_limiter_stats(limiter, &stats);
        return stats.waiting;
}

/* --- windows --- */

/* The most grants in a window that ends with a grant; 'closed': with both its ends. */
static int most_in(int n, int64_t window_ns, bool closed)
{
        int most = 0;

        for (int last = 0, first = 0; last < n; last++) {
                while (granted_ns[last] - granted_ns[first] > window_ns ||
                       (!closed && granted_ns[last] - granted_ns[first] == window_ns))
                        first++;
                if (last - first + 1 > most)
                        most = last - first + 1;
        }
        return most;
}

static void reserve_all(eddy_limiter *limiter, int n, int64_t pause_ns)
{
        for (int i = 0; i < n; i++) {
                struct eddy_reservation reservation;

                CHECK_EQ(eddy_limiter_reserve(limiter, 1, 0, &reservation), 0);
                CHECK_EQ(reservation.requests, 1);
                CHECK_EQ(reservation.at_ns, eddy_now());
                granted_ns[i] = reservation.at_ns;
                if (pause_ns > 0)
                        CHECK_EQ(eddy_sleep(pause_ns), 0);
        }
}

SIM_TEST(at_600_a_minute_no_minute_holds_more_than_600_and_no_second_more_than_10)
{
        eddy_limiter *limiter = limiter_of(600, EDDY_MIN(1), 0);
        int64_t start_ns = eddy_now();

        reserve_all(limiter, GRANTS, 0);
        CHECK_EQ(most_in(GRANTS, EDDY_MIN(1), true), 600);
        CHECK_EQ(most_in(GRANTS, EDDY_SEC(1), false), 10);
        /* The rate is kept too. */
        CHECK(eddy_now() - start_ns < EDDY_SEC(GRANTS / 10));
        CHECK(eddy_now() - start_ns > EDDY_SEC(GRANTS / 10) - EDDY_SEC(2));
        eddy_limiter_close(limiter);
}

/* Grants that come one by one share entries of the log. */
SIM_TEST(the_bounds_hold_for_grants_that_come_evenly_or_after_a_pause)
{
        for (int64_t pause_ns = EDDY_MS(1); pause_ns < EDDY_SEC(1); pause_ns = pause_ns * 7 / 2) {
                eddy_limiter *limiter = limiter_of(600, EDDY_MIN(1), 0);
                int64_t start_ns = eddy_now();
                int64_t least_ns = pause_ns > EDDY_MS(100) ? pause_ns : EDDY_MS(100);

                reserve_all(limiter, GRANTS, pause_ns);
                CHECK(most_in(GRANTS, EDDY_MIN(1), true) <= 600);
                CHECK(most_in(GRANTS, EDDY_SEC(1), false) <= 10);
                CHECK((double) (eddy_now() - start_ns) <= 1.006 * (double) least_ns * GRANTS);
                eddy_limiter_close(limiter);
        }
}

SIM_TEST(a_burst_raises_the_bound_of_a_second_and_never_that_of_the_minute)
{
        static const struct {
                int64_t burst_ns;
                int at_once, in_a_second;
        } cases[] = { { EDDY_SEC(5), 50, 50 },
                      { EDDY_SEC(60), 600, 600 },
                      { -1, 600, 600 },
                      { EDDY_MIN(60), 600, 600 },
                      { EDDY_MS(100), 1, 10 } };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                eddy_limiter *limiter = limiter_of(600, EDDY_MIN(1), cases[i].burst_ns);

                reserve_all(limiter, GRANTS, 0);
                CHECK_EQ(most_in(GRANTS, 0, true), cases[i].at_once);
                CHECK_EQ(most_in(GRANTS, EDDY_SEC(1), false), cases[i].in_a_second);
                CHECK(most_in(GRANTS, EDDY_MIN(1), true) <= 600);
                CHECK(granted_ns[GRANTS - 1] - granted_ns[0] <= EDDY_SEC(300) + EDDY_MS(1500));
                eddy_limiter_close(limiter);
        }
}

SIM_TEST(a_share_that_is_not_a_whole_number_costs_no_rate)
{
        static const uint64_t amounts[] = { 1, 7, 30, 59, 61, 90, 119, 1001 };

        for (size_t i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++) {
                eddy_limiter *limiter = limiter_of(amounts[i], EDDY_MIN(1), 0);
                int n = (int) amounts[i] * 2 + 1;
                int64_t start_ns = eddy_now();

                reserve_all(limiter, n, 0);
                CHECK(most_in(n, EDDY_MIN(1), true) <= (int) amounts[i]);
                CHECK((double) (eddy_now() - start_ns) <= 1.006 * (double) EDDY_MIN(2));
                CHECK(eddy_now() - start_ns >= EDDY_MIN(2));
                eddy_limiter_close(limiter);
        }
}

SIM_TEST(the_tightest_of_several_windows_applies)
{
        struct eddy_limiter_limit limits[] = {
                { EDDY_LIMITER_REQUESTS, 5, EDDY_SEC(1) },
                { EDDY_LIMITER_REQUESTS, 100, EDDY_MIN(1) },
                { EDDY_LIMITER_REQUESTS, 500, EDDY_MIN(10) },
        };
        struct eddy_limiter_opts opts = { .limits = limits, .limits_count = 3, .burst_ns = -1 };
        eddy_limiter *limiter;

        CHECK_EQ(eddy_limiter_new(&opts, &limiter), 0);
        reserve_all(limiter, GRANTS, 0);
        CHECK_EQ(most_in(GRANTS, EDDY_SEC(1), true), 5);
        CHECK_EQ(most_in(GRANTS, EDDY_MIN(1), true), 100);
        CHECK_EQ(most_in(GRANTS, EDDY_MIN(10), true), 500);
        eddy_limiter_close(limiter);
}

SIM_TEST(sums_of_huge_amounts_do_not_overflow)
{
        eddy_limiter *limiter;
        struct eddy_reservation last;

        CHECK_EQ(eddy_limiter_new(NULL, &limiter), 0);
        for (int i = 0; i < 40000; i++)
                CHECK_EQ(eddy_limiter_try_reserve(limiter, 1, EDDY_LIMITER_AMOUNT_MAX, &last), 0);
        for (int i = 0; i < 40000; i++) {
                last.tokens = EDDY_LIMITER_AMOUNT_MAX;
                CHECK_EQ(eddy_limiter_reconcile(limiter, &last, 1, 0), 0);
        }
        eddy_limiter_close(limiter);
        limiter = limiter_of_both(1, 2, 0);
        for (int i = 0; i < 40000; i++) {
                last.tokens = 0;
                CHECK_EQ(eddy_limiter_reconcile(limiter, &last, 1, EDDY_LIMITER_AMOUNT_MAX), 0);
        }
        CHECK_EQ(eddy_limiter_try_reserve(limiter, 0, 1, NULL), -EAGAIN);
        for (int i = 0; i < 40000; i++) {
                last.tokens = EDDY_LIMITER_AMOUNT_MAX;
                CHECK_EQ(eddy_limiter_reconcile(limiter, &last, 1, 0), 0);
        }
        eddy_limiter_close(limiter);
}

SIM_TEST(without_limits_all_is_granted)
{
        eddy_limiter *limiter;
        int64_t start_ns = eddy_now();

        CHECK_EQ(eddy_limiter_new(NULL, &limiter), 0);
        reserve_all(limiter, GRANTS, 0);
        CHECK(eddy_now() - start_ns < EDDY_MS(1));
        CHECK_EQ(eddy_limiter_reserve(limiter, 0, 0, NULL), 0);
        CHECK_EQ(eddy_limiter_reserve(limiter, EDDY_LIMITER_AMOUNT_MAX, EDDY_LIMITER_AMOUNT_MAX,
                                      NULL),
                 0);
        CHECK_EQ(eddy_limiter_reserve(limiter, EDDY_LIMITER_AMOUNT_MAX + 1, 0, NULL),
                 EDDY_E_LIMITER_AMOUNT);
        eddy_limiter_close(limiter);
}

/* --- tokens --- */

SIM_TEST(a_reservation_above_its_share_waits_for_all_of_it_and_takes_its_time)
{
        eddy_limiter *limiter = limiter_of_both(600, 60000, 0);

        CHECK_EQ(eddy_limiter_reserve(limiter, 1, 5000, NULL), 0);
        CHECK_NS(passed_ns(), 0);
        CHECK_EQ(eddy_limiter_reserve(limiter, 1, 1000, NULL), 0);
        CHECK_NS(passed_ns(), EDDY_SEC(5));
        CHECK_EQ(eddy_limiter_reserve(limiter, 1, 500, NULL), 0);
        CHECK_NS(passed_ns(), EDDY_MS(5500));
        CHECK_EQ(eddy_limiter_reserve(limiter, 1, 1001, NULL), 0);
        CHECK_NS(passed_ns(), EDDY_MS(6500));
        CHECK_EQ(eddy_limiter_reserve(limiter, 1, 1000, NULL), 0);
        CHECK_NS(passed_ns(), EDDY_MS(7501));
        eddy_limiter_close(limiter);
}

SIM_TEST(requests_above_their_share_count_for_longer)
{
        eddy_limiter *limiter = limiter_of(600, EDDY_MIN(1), 0);

        CHECK_EQ(eddy_limiter_reserve(limiter, 25, 0, NULL), 0);
        CHECK_EQ(eddy_limiter_reserve(limiter, 1, 0, NULL), 0);
        CHECK_NS(passed_ns(), EDDY_MS(2500));
        eddy_limiter_close(limiter);
}

/* Whatever part of the share a reservation is. */
SIM_TEST(the_rate_of_tokens_is_kept_and_no_minute_holds_more_than_the_limit)
{
        static const uint64_t sizes[] = { 1, 700, 1000, 1499, 1500, 1501, 2000, 4000 };

        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
                eddy_limiter *limiter = limiter_of_both(1000000, 90000, 0);
                int64_t start_ns = eddy_now(), ideal_ns;
                int n = sizes[i] == 1 ? 100 : (int) (450000 / sizes[i]);

                for (int k = 0; k < n; k++) {
                        CHECK_EQ(eddy_limiter_reserve(limiter, 1, sizes[i], NULL), 0);
                        granted_ns[k] = eddy_now();
                }
                ideal_ns = (int64_t) ((double) n * (double) sizes[i] * 1e9 / 1500);
                CHECK((double) (eddy_now() - start_ns) <= 1.03 * (double) ideal_ns);
                CHECK(most_in(n, EDDY_MIN(1), true) * (int64_t) sizes[i] <= 90000);
                eddy_limiter_close(limiter);
        }
}

SIM_TEST(an_amount_above_a_limit_fails_at_once)
{
        eddy_limiter *limiter = limiter_of_both(2, 100, -1);

        CHECK_EQ(eddy_limiter_reserve(limiter, 2, 100, NULL), 0);
        CHECK_EQ(eddy_limiter_reserve(limiter, 1, 101, NULL), EDDY_E_LIMITER_AMOUNT);
        CHECK_EQ(eddy_limiter_reserve(limiter, 3, 1, NULL), EDDY_E_LIMITER_AMOUNT);
        CHECK_EQ(eddy_limiter_try_reserve(limiter, 3, 1, NULL), EDDY_E_LIMITER_AMOUNT);
        CHECK_EQ(eddy_limiter_try_reserve(limiter, 0, 101, NULL), EDDY_E_LIMITER_AMOUNT);
        CHECK_EQ(eddy_limiter_try_reserve(limiter, 0, 1, NULL), -EAGAIN);
        CHECK_EQ(eddy_limiter_try_reserve(limiter, 0, 0, NULL), 0);
        CHECK_NS(passed_ns(), 0);
        eddy_limiter_close(limiter);
}

/* --- the line --- */

struct turn {
        struct waiter waiter;
        uint64_t tokens;
        struct eddy_reservation reservation;
};

static int takes_turn(void *arg)
{
        struct turn *turn = arg;

        turn->waiter.err =
                eddy_limiter_reserve(turn->waiter.thing, 1, turn->tokens, &turn->reservation);
        if (turn->waiter.err == 0)
                order[order_count++] = turn->waiter.id;
        return turn->waiter.err;
}

static void line_up(eddy_scope *scope, struct turn *turns, eddy_limiter *limiter,
                    const uint64_t *tokens)
{
        order_count = 0;
        for (int i = 0; i < WAITERS; i++) {
                turns[i] = (struct turn){ .waiter = { .thing = limiter, .id = i, .err = 1 },
                                          .tokens = tokens[i] };
                CHECK_EQ(eddy_scope_start_task(scope, takes_turn, &turns[i], NULL,
                                               &turns[i].waiter.task),
                         0);
        }
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(waiting(limiter), WAITERS);
}

static void let_turns_go(struct turn *turns)
{
        for (int i = 0; i < WAITERS; i++)
                eddy_task_release(turns[i].waiter.task);
}

SIM_TEST(a_small_reservation_does_not_overtake_a_large_one)
{
        static const uint64_t tokens[WAITERS] = { 90, 1, 80, 1, 1 };
        eddy_limiter *limiter = limiter_of_both(1000, 100, -1);
        struct turn turns[WAITERS];
        eddy_scope scope;

        CHECK_EQ(eddy_limiter_reserve(limiter, 1, 50, NULL), 0);
        eddy_scope_begin(&scope, NULL);
        line_up(&scope, turns, limiter, tokens);
        CHECK_EQ(eddy_limiter_try_reserve(limiter, 1, 1, NULL), -EAGAIN);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(order_count, WAITERS);
        for (int i = 0; i < WAITERS; i++)
                CHECK_EQ(order[i], i);
        CHECK_NS(turns[0].reservation.at_ns - CLOCK_BEGINS_NS, EDDY_MIN(1));
        CHECK_NS(turns[1].reservation.at_ns - CLOCK_BEGINS_NS, EDDY_MIN(1));
        CHECK_NS(turns[2].reservation.at_ns - CLOCK_BEGINS_NS, EDDY_MIN(2));
        let_turns_go(turns);
        eddy_limiter_close(limiter);
}

/* Whoever it is: the others are granted as if it had never been there. */
SIM_TEST(a_cancelled_waiter_has_reserved_nothing)
{
        static const uint64_t tokens[WAITERS] = { 60, 40, 100, 30, 30 };

        for (int who = 0; who < WAITERS; who++) {
                eddy_limiter *limiter = limiter_of_both(1000, 100, -1);
                struct eddy_limiter_stats stats;
                struct turn turns[WAITERS];
                eddy_scope scope;
                uint64_t sum = 0;

                CHECK_EQ(eddy_limiter_reserve(limiter, 1, 100, NULL), 0);
                eddy_scope_begin(&scope, NULL);
                line_up(&scope, turns, limiter, tokens);
                eddy_task_cancel(turns[who].waiter.task);
                CHECK_EQ(waiting(limiter), WAITERS - 1);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                for (int i = 0; i < WAITERS; i++) {
                        CHECK_EQ(turns[i].waiter.err, i == who ? -ECANCELED : 0);
                        CHECK_EQ(turns[i].reservation.tokens, i == who ? 0 : tokens[i]);
                        sum += turns[i].reservation.tokens;
                }
                eddy_limiter_stats(limiter, &stats);
                CHECK_EQ(stats.tokens, 100 + sum);
                CHECK_EQ(stats.granted, WAITERS);
                CHECK_EQ(stats.next_ns, 0);
                let_turns_go(turns);
                eddy_limiter_close(limiter);
        }
}

SIM_TEST(when_the_first_waiter_is_cancelled_the_next_one_goes_at_once_if_it_fits)
{
        static const uint64_t tokens[WAITERS] = { 90, 10, 20, 10, 10 };
        eddy_limiter *limiter = limiter_of_both(1000, 100, -1);
        struct turn turns[WAITERS];
        eddy_scope scope;

        CHECK_EQ(eddy_limiter_reserve(limiter, 1, 50, NULL), 0);
        eddy_scope_begin(&scope, NULL);
        line_up(&scope, turns, limiter, tokens);
        eddy_task_cancel(turns[0].waiter.task);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(order_count, WAITERS - 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        let_turns_go(turns);
        eddy_limiter_close(limiter);
}

SIM_TEST(a_granted_reservation_outlives_a_cancel_that_comes_later)
{
        static const uint64_t tokens[WAITERS] = { 100, 100, 100, 100, 100 };
        eddy_limiter *limiter = limiter_of_both(1000, 100, -1);
        struct eddy_reservation first;
        struct turn turns[WAITERS];
        eddy_scope scope;

        CHECK_EQ(eddy_limiter_reserve(limiter, 1, 100, &first), 0);
        eddy_scope_begin(&scope, NULL);
        line_up(&scope, turns, limiter, tokens);
        CHECK_EQ(eddy_limiter_release(limiter, &first), 0);
        eddy_task_cancel(turns[0].waiter.task);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(turns[0].waiter.err, 0);
        CHECK_EQ(turns[0].reservation.tokens, 100);
        CHECK_EQ(turns[1].waiter.err, 1);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        let_turns_go(turns);
        eddy_limiter_close(limiter);
}

/* --- corrections --- */

SIM_TEST(unused_tokens_are_free_for_others_at_once)
{
        eddy_limiter *limiter = limiter_of_both(600, 60000, 0);
        struct eddy_reservation a, b;

        CHECK_EQ(eddy_limiter_reserve(limiter, 1, 1000, &a), 0);
        CHECK_EQ(eddy_limiter_try_reserve(limiter, 1, 400, NULL), -EAGAIN);
        CHECK_EQ(eddy_limiter_reconcile(limiter, &a, 1, 600), 0);
        CHECK_EQ(a.tokens, 600);
        CHECK_EQ(eddy_limiter_try_reserve(limiter, 1, 401, NULL), -EAGAIN);
        CHECK_EQ(eddy_limiter_try_reserve(limiter, 1, 400, &b), 0);
        /* A second correction counts from the first one. */
        CHECK_EQ(eddy_limiter_reconcile(limiter, &a, 1, 500), 0);
        CHECK_EQ(eddy_limiter_try_reserve(limiter, 1, 101, NULL), -EAGAIN);
        CHECK_EQ(eddy_limiter_try_reserve(limiter, 1, 100, NULL), 0);
        eddy_limiter_close(limiter);
}

SIM_TEST(tokens_that_left_the_window_are_not_given_back)
{
        eddy_limiter *limiter = limiter_of_both(600, 100, -1);
        struct eddy_reservation a;

        CHECK_EQ(eddy_limiter_reserve(limiter, 1, 100, &a), 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(61)), 0);
        CHECK_EQ(eddy_limiter_reserve(limiter, 1, 100, NULL), 0);
        CHECK_EQ(eddy_limiter_release(limiter, &a), 0);
        CHECK_EQ(eddy_limiter_try_reserve(limiter, 0, 1, NULL), -EAGAIN);
        eddy_limiter_close(limiter);
}

SIM_TEST(tokens_used_beyond_the_reservation_are_a_debt)
{
        eddy_limiter *limiter = limiter_of_both(600, 100, -1);
        struct eddy_reservation a;

        CHECK_EQ(eddy_limiter_reserve(limiter, 1, 50, &a), 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(10)), 0);
        CHECK_EQ(eddy_limiter_reconcile(limiter, &a, 1, 130), 0);
        CHECK_EQ(eddy_limiter_reserve(limiter, 1, 21, NULL), 0);
        CHECK_NS(passed_ns(), EDDY_SEC(70)); /* 80 of the debt count until then */
        eddy_limiter_close(limiter);
}

SIM_TEST(a_debt_beyond_the_whole_limit_lasts_in_proportion)
{
        eddy_limiter *limiter = limiter_of_both(600, 100, -1);
        struct eddy_reservation a;

        CHECK_EQ(eddy_limiter_reserve(limiter, 1, 50, &a), 0);
        CHECK_EQ(eddy_limiter_reconcile(limiter, &a, 1, 350), 0);
        CHECK_EQ(eddy_limiter_reserve(limiter, 1, 100, NULL), 0);
        CHECK_NS(passed_ns(), EDDY_MIN(3));
        CHECK_EQ(eddy_limiter_reconcile(limiter, &a, 1, EDDY_LIMITER_AMOUNT_MAX + 1), -EINVAL);
        eddy_limiter_close(limiter);
}

SIM_TEST(a_release_gives_all_back_and_happens_once)
{
        eddy_limiter *limiter = limiter_of_both(1, 100, -1);
        struct eddy_reservation a, none = { 0 };
        struct eddy_limiter_stats stats;

        CHECK_EQ(eddy_limiter_release(limiter, &none), 0);
        CHECK_EQ(eddy_limiter_reserve(limiter, 1, 100, &a), 0);
        CHECK_EQ(eddy_limiter_release(limiter, &a), 0);
        CHECK_EQ(eddy_limiter_release(limiter, &a), 0);
        CHECK_EQ(eddy_limiter_try_reserve(limiter, 1, 100, NULL), 0);
        eddy_limiter_stats(limiter, &stats);
        CHECK_EQ(stats.released, 1);
        CHECK_EQ(stats.granted, 2);
        CHECK_EQ(stats.requests, 1);
        eddy_limiter_close(limiter);
}

/* --- pauses --- */

SIM_TEST(a_pause_stops_all_and_only_this_limiter)
{
        static const uint64_t tokens[WAITERS] = { 1, 1, 1, 1, 1 };
        eddy_limiter *limiter = limiter_of_both(600, 60000, -1);
        eddy_limiter *other = limiter_of_both(600, 60000, -1);
        struct eddy_limiter_stats stats;
        struct turn turns[WAITERS];
        eddy_scope scope;

        CHECK_EQ(eddy_limiter_pause(limiter, eddy_now() + EDDY_SEC(3)), 0);
        CHECK_EQ(eddy_limiter_pause(limiter, eddy_now() + EDDY_SEC(1)), 0); /* no shorter */
        eddy_scope_begin(&scope, NULL);
        line_up(&scope, turns, limiter, tokens);
        CHECK_EQ(eddy_limiter_try_reserve(other, 1, 1, NULL), 0);
        eddy_limiter_stats(limiter, &stats);
        CHECK_NS(stats.paused_until_ns - CLOCK_BEGINS_NS, EDDY_SEC(3));
        CHECK_NS(stats.next_ns - CLOCK_BEGINS_NS, EDDY_SEC(3));
        CHECK_EQ(stats.pauses, 1);
        CHECK_EQ(eddy_sleep(EDDY_SEC(2)), 0);
        CHECK_EQ(order_count, 0);
        CHECK_EQ(eddy_limiter_pause(limiter, eddy_now() + EDDY_SEC(3)), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(order_count, WAITERS);
        CHECK_NS(passed_ns(), EDDY_SEC(5));
        eddy_limiter_stats(limiter, &stats);
        CHECK_EQ(stats.paused_until_ns, 0);
        let_turns_go(turns);
        eddy_limiter_close(limiter);
        eddy_limiter_close(other);
}

SIM_TEST(resuming_ends_a_pause)
{
        static const uint64_t tokens[WAITERS] = { 1, 1, 1, 1, 1 };
        eddy_limiter *limiter = limiter_of_both(600, 60000, -1);
        struct turn turns[WAITERS];
        eddy_scope scope;

        CHECK_EQ(eddy_limiter_pause(limiter, INT64_MAX), 0);
        eddy_scope_begin(&scope, NULL);
        line_up(&scope, turns, limiter, tokens);
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        CHECK_EQ(eddy_limiter_resume(limiter), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_NS(passed_ns(), EDDY_SEC(1));
        let_turns_go(turns);
        eddy_limiter_close(limiter);
}

static int waits_for_ever(void *arg)
{
        eddy_limiter *limiter = limiter_of(1, EDDY_SEC(1), 0);
        int err;

        (void) arg;
        CHECK_EQ(eddy_limiter_pause(limiter, INT64_MAX), 0);
        err = eddy_limiter_reserve(limiter, 1, 0, NULL);
        CHECK_EQ(err, -ECANCELED);
        eddy_limiter_close(limiter);
        return err;
}

static void ignore(const struct eddy_report *report, void *arg)
{
        (void) report;
        (void) arg;
}

TEST(an_endless_pause_that_no_task_can_end_is_a_deadlock)
{
        CHECK_EQ(sim_run_with(waits_for_ever, NULL, 0, (struct eddy_run_opts){ .report = ignore }),
                 -EDEADLK);
}

/* --- changing limits --- */

SIM_TEST(a_lowered_limit_fails_the_waiters_that_it_can_never_grant)
{
        static const uint64_t tokens[WAITERS] = { 50, 90, 50, 50, 91 };
        struct eddy_limiter_limit lower = { EDDY_LIMITER_TOKENS, 50, EDDY_MIN(1) };
        eddy_limiter *limiter = limiter_of_both(600, 100, -1);
        struct turn turns[WAITERS];
        eddy_scope scope;

        CHECK_EQ(eddy_limiter_reserve(limiter, 1, 100, NULL), 0);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_KEEP_GOING });
        line_up(&scope, turns, limiter, tokens);
        CHECK_EQ(eddy_limiter_set_limit(limiter, &lower), 0);
        CHECK_EQ(eddy_scope_end(&scope), EDDY_E_LIMITER_AMOUNT);
        for (int i = 0; i < WAITERS; i++)
                CHECK_EQ(turns[i].waiter.err, tokens[i] > 50 ? EDDY_E_LIMITER_AMOUNT : 0);
        CHECK_NS(passed_ns(), EDDY_MIN(3));
        let_turns_go(turns);
        eddy_limiter_close(limiter);
}

SIM_TEST(limits_can_be_raised_added_and_removed)
{
        struct eddy_limiter_limit limit = { EDDY_LIMITER_REQUESTS, 20, EDDY_MIN(1) };
        eddy_limiter *limiter = limiter_of(10, EDDY_MIN(1), -1);

        reserve_all(limiter, 10, 0);
        CHECK_EQ(eddy_limiter_set_limit(limiter, &limit), 0);
        reserve_all(limiter, 10, 0);
        CHECK_EQ(eddy_limiter_try_reserve(limiter, 1, 0, NULL), -EAGAIN);
        limit.amount = 0;
        CHECK_EQ(eddy_limiter_set_limit(limiter, &limit), 0);
        CHECK_EQ(eddy_limiter_set_limit(limiter, &limit), 0); /* not there any more */
        reserve_all(limiter, 100, 0);
        limit = (struct eddy_limiter_limit){ EDDY_LIMITER_REQUESTS, 1, EDDY_SEC(1) };
        CHECK_EQ(eddy_limiter_set_limit(limiter, &limit), 0);
        CHECK_EQ(eddy_limiter_try_reserve(limiter, 1, 0, NULL), 0);
        CHECK_EQ(eddy_limiter_try_reserve(limiter, 1, 0, NULL), -EAGAIN);
        eddy_limiter_close(limiter);
}

SIM_TEST(limits_out_of_range_are_refused)
{
        static const struct eddy_limiter_limit wrong[] = {
                { EDDY_LIMITER_REQUESTS, 0, EDDY_MIN(1) },
                { EDDY_LIMITER_REQUESTS, EDDY_LIMITER_AMOUNT_MAX + 1, EDDY_MIN(1) },
                { EDDY_LIMITER_REQUESTS, 1, EDDY_MS(1) - 1 },
                { EDDY_LIMITER_REQUESTS, 1, EDDY_MIN(24 * 60) * 366 + 1 },
                { EDDY_LIMITER_REQUESTS, 1, -1 },
                { (enum eddy_limiter_unit) 2, 1, EDDY_MIN(1) },
        };
        struct eddy_limiter_limit limits[EDDY_LIMITER_LIMITS_MAX + 1];
        eddy_limiter *limiter = limiter_of(1, EDDY_SEC(1), 0);
        struct eddy_limiter_opts opts = { .limits = limits, .limits_count = 1 };
        eddy_limiter *none = NULL;

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                limits[0] = wrong[i];
                CHECK_EQ(eddy_limiter_new(&opts, &none), -EINVAL);
                if (wrong[i].amount > 0)
                        CHECK_EQ(eddy_limiter_set_limit(limiter, &wrong[i]), -EINVAL);
        }
        for (int i = 0; i <= EDDY_LIMITER_LIMITS_MAX; i++)
                limits[i] = (struct eddy_limiter_limit){ EDDY_LIMITER_TOKENS, 1, EDDY_SEC(i + 1) };
        opts.limits_count = EDDY_LIMITER_LIMITS_MAX + 1;
        CHECK_EQ(eddy_limiter_new(&opts, &none), -EINVAL);
        CHECK(none == NULL);
        for (int i = 1; i < EDDY_LIMITER_LIMITS_MAX; i++)
                CHECK_EQ(eddy_limiter_set_limit(limiter, &limits[i]), 0);
        CHECK_EQ(eddy_limiter_set_limit(limiter, &limits[0]), -ENOSPC);
        eddy_limiter_close(limiter);
}

SIM_TEST(all_limits_of_a_unit_and_window_are_changed)
{
        struct eddy_limiter_limit limits[] = { { EDDY_LIMITER_TOKENS, 10, EDDY_MIN(1) },
                                               { EDDY_LIMITER_TOKENS, 20, EDDY_MIN(1) },
                                               { EDDY_LIMITER_TOKENS, 500, EDDY_MIN(2) },
                                               { EDDY_LIMITER_TOKENS, 30, EDDY_MIN(1) } };
        struct eddy_limiter_opts opts = { .limits = limits, .limits_count = 4, .burst_ns = -1 };
        eddy_limiter *limiter;

        CHECK_EQ(eddy_limiter_new(&opts, &limiter), 0);
        CHECK_EQ(eddy_limiter_try_reserve(limiter, 0, 11, NULL), EDDY_E_LIMITER_AMOUNT);
        limits[0].amount = 100;
        CHECK_EQ(eddy_limiter_set_limit(limiter, &limits[0]), 0);
        CHECK_EQ(eddy_limiter_try_reserve(limiter, 0, 101, NULL), EDDY_E_LIMITER_AMOUNT);
        CHECK_EQ(eddy_limiter_try_reserve(limiter, 0, 100, NULL), 0);
        limits[0].amount = 0;
        CHECK_EQ(eddy_limiter_set_limit(limiter, &limits[0]), 0);
        CHECK_EQ(eddy_limiter_try_reserve(limiter, 0, 400, NULL), 0);
        CHECK_EQ(eddy_limiter_try_reserve(limiter, 0, 1, NULL), -EAGAIN);
        eddy_limiter_close(limiter);
}

/* --- making and closing --- */

TEST(a_limiter_needs_a_run)
{
        eddy_limiter *limiter = NULL;

        CHECK_EQ(eddy_limiter_new(NULL, &limiter), EDDY_E_RUN_NOT_RUNNING);
        CHECK(limiter == NULL);
}

SIM_TEST(closing_fails_the_waiters)
{
        static const uint64_t tokens[WAITERS] = { 1, 1, 1, 1, 1 };
        eddy_limiter *limiter = limiter_of_both(600, 100, -1);
        struct turn turns[WAITERS];
        eddy_scope scope;

        CHECK_EQ(eddy_limiter_reserve(limiter, 1, 100, NULL), 0);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_KEEP_GOING });
        line_up(&scope, turns, limiter, tokens);
        eddy_limiter_close(limiter);
        CHECK_EQ(timers_armed(), 0);
        CHECK_EQ(eddy_scope_end(&scope), EDDY_E_LIMITER_CLOSED);
        for (int i = 0; i < WAITERS; i++)
                CHECK_EQ(turns[i].waiter.err, EDDY_E_LIMITER_CLOSED);
        let_turns_go(turns);
}

static int uses_foreign(void *arg)
{
        struct eddy_limiter_limit limit = { EDDY_LIMITER_REQUESTS, 1, EDDY_SEC(1) };
        struct eddy_reservation reservation = { .requests = 1 };
        struct eddy_ratelimit seen = { 1, 1, 1, 1, false };
        eddy_limiter *limiter = arg;

        CHECK_EQ(eddy_limiter_reserve(limiter, 1, 0, NULL), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_limiter_try_reserve(limiter, 1, 0, NULL), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_limiter_reconcile(limiter, &reservation, 1, 0), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_limiter_release(limiter, &reservation), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_limiter_pause(limiter, INT64_MAX), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_limiter_resume(limiter), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_limiter_set_limit(limiter, &limit), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_limiter_learn(limiter, EDDY_LIMITER_REQUESTS, &seen), EDDY_E_RUN_OTHER_LOOP);
        return 0;
}

SIM_TEST(a_limiter_of_another_loop_is_refused)
{
        eddy_limiter *limiter = limiter_of(1, EDDY_SEC(1), 0);

        CHECK_EQ(on_other_loop(uses_foreign, limiter), 0);
        eddy_limiter_close(limiter);
}

SIM_TEST(calls_on_a_null_limiter_return_einval)
{
        struct eddy_limiter_limit limit = { EDDY_LIMITER_REQUESTS, 1, EDDY_SEC(1) };
        struct eddy_reservation reservation = { .requests = 1 }, none = { 0 };
        struct eddy_limiter_stats stats = { .granted = 9 };
        struct eddy_ratelimits seen = EDDY_RATELIMITS;

        CHECK_EQ(eddy_limiter_reserve(NULL, 1, 0, &reservation), -EINVAL);
        CHECK_EQ(eddy_limiter_try_reserve(NULL, 1, 0, &reservation), -EINVAL);
        CHECK_EQ(eddy_limiter_reconcile(NULL, &reservation, 1, 0), -EINVAL);
        CHECK_EQ(eddy_limiter_release(NULL, &reservation), -EINVAL);
        CHECK_EQ(eddy_limiter_release(NULL, &none), -EINVAL);
        CHECK_EQ(eddy_limiter_pause(NULL, eddy_now() + 1), -EINVAL);
        CHECK_EQ(eddy_limiter_resume(NULL), -EINVAL);
        CHECK_EQ(eddy_limiter_set_limit(NULL, &limit), -EINVAL);
        CHECK_EQ(eddy_limiter_learn(NULL, EDDY_LIMITER_REQUESTS, &seen.requests), -EINVAL);
        eddy_limiter_stats(NULL, &stats);
        CHECK_EQ(stats.granted, 0);
        CHECK_EQ(reservation.requests, 1);
        eddy_limiter_close(NULL);
}

/* --- memory --- */

static int makes_limiters(void *arg)
{
        struct eddy_limiter_limit limits[] = { { EDDY_LIMITER_REQUESTS, 10, EDDY_SEC(1) },
                                               { EDDY_LIMITER_TOKENS, 10, EDDY_SEC(1) } };
        struct eddy_limiter_opts opts = { .limits = limits, .limits_count = 2 };
        EDDY_AUTO(eddy_limiter) eddy_limiter *limiter = NULL;
        int err = eddy_limiter_new(&opts, &limiter);

        (void) arg;
        if (err < 0)
                return err;
        limits[0].window_ns = EDDY_MIN(1);
        err = eddy_limiter_set_limit(limiter, &limits[0]);
        if (err < 0)
                return err;
        for (int i = 0; i < 30 && err == 0; i++)
                err = eddy_limiter_reserve(limiter, 0, 1, NULL);
        return err;
}

TEST(each_failing_allocation_is_an_error_and_leaves_nothing)
{
        struct eddy_test_sweep sweep;

        CHECK_EQ(eddy_test_sweep(EDDY_TEST_ALLOC, makes_limiters, NULL, NULL, &sweep), 0);
        CHECK(sweep.failed >= 4);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_CANCEL, makes_limiters, NULL, NULL, &sweep), 0);
        CHECK(sweep.failed >= 2);
}
