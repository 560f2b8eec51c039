/*
 * test_concurrency.c - slots: first come, first served; their number follows a simulated server.
 */
#include "line.h"
#include "other_loop.h"
#include "passed.h"

static void init(eddy_concurrency *slots, uint32_t start, uint32_t min, uint32_t max)
{
        struct eddy_concurrency_opts opts = { .start = start, .min = min, .max = max };

        CHECK_EQ(eddy_concurrency_init(slots, &opts), 0);
}

/* --- the line --- */

static int takes(void *arg)
{
        struct waiter *w = arg;

        w->err = eddy_concurrency_acquire(w->thing);
        if (w->err >= 0)
                order[order_count++] = w->id;
        return w->err < 0 ? w->err : 0;
}

SIM_TEST(slots_go_to_the_longest_waiter)
{
        eddy_concurrency slots;
        struct waiter waiters[WAITERS];
        eddy_scope scope;
        int ticket;

        init(&slots, 1, 1, 1);
        ticket = eddy_concurrency_acquire(&slots);
        CHECK(ticket >= 0);
        CHECK_EQ(eddy_concurrency_try_acquire(&slots), -EAGAIN);
        eddy_scope_begin(&scope, NULL);
        line_start(&scope, waiters, takes, &slots);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(eddy_concurrency_waiting(&slots), WAITERS);
        CHECK_EQ(eddy_concurrency_release(&slots, ticket, EDDY_CONCURRENCY_OK), 0);
        CHECK_EQ(eddy_concurrency_try_acquire(&slots), -EAGAIN);
        for (int i = 1; i < WAITERS; i++)
                CHECK_EQ(eddy_concurrency_release(&slots, ticket, EDDY_CONCURRENCY_OK), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        check_all_went_on_in_order();
        CHECK_EQ(eddy_concurrency_in_use(&slots), 1);
        CHECK_EQ(eddy_concurrency_release(&slots, ticket, EDDY_CONCURRENCY_OK), 0);
        CHECK_EQ(eddy_concurrency_release(&slots, ticket, EDDY_CONCURRENCY_OK), -EINVAL);
        let_go(waiters);
}

SIM_TEST(a_cancelled_waiter_has_no_slot)
{
        for (int who = 0; who < WAITERS; who++) {
                eddy_concurrency slots;
                struct waiter waiters[WAITERS];
                eddy_scope scope;
                int ticket;

                order_count = 0;
                init(&slots, 1, 1, 1);
                ticket = eddy_concurrency_acquire(&slots);
                eddy_scope_begin(&scope, NULL);
                line_start(&scope, waiters, takes, &slots);
                CHECK_EQ(eddy_sleep(0), 0);
                eddy_task_cancel(waiters[who].task);
                CHECK_EQ(eddy_concurrency_waiting(&slots), WAITERS - 1);
                for (int i = 0; i < WAITERS; i++)
                        CHECK_EQ(eddy_concurrency_release(&slots, ticket, EDDY_CONCURRENCY_OK), 0);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                check_all_went_on_but(waiters, who);
                CHECK_EQ(eddy_concurrency_in_use(&slots), 0);
                let_go(waiters);
        }
}

TEST(options_of_slots_out_of_range_are_refused)
{
        static const struct eddy_concurrency_opts wrong[] = {
                { .max = EDDY_CONCURRENCY_MAX + 1 },
                { .start = 3, .max = 2 },
                { .start = 3, .min = 4 },
                { .min = 5, .max = 4 },
        };
        eddy_concurrency slots;

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
                CHECK_EQ(eddy_concurrency_init(&slots, &wrong[i]), -EINVAL);
        init(&slots, 0, 20, 0);
        CHECK_EQ(eddy_concurrency_limit(&slots), 20);
        init(&slots, 0, 0, 3);
        CHECK_EQ(eddy_concurrency_limit(&slots), 3);
        CHECK_EQ(eddy_concurrency_init(&slots, NULL), 0);
        CHECK_EQ(eddy_concurrency_limit(&slots), 8);
}

static int uses_foreign(void *slots)
{
        CHECK_EQ(eddy_concurrency_acquire(slots), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_concurrency_release(slots, 0, EDDY_CONCURRENCY_OK), EDDY_E_RUN_OTHER_LOOP);
        return 0;
}

SIM_TEST(slots_that_tasks_of_another_loop_wait_for_are_refused)
{
        eddy_concurrency slots;
        struct waiter waiters[WAITERS];
        eddy_scope scope;

        init(&slots, 1, 1, 1);
        CHECK(eddy_concurrency_acquire(&slots) >= 0);
        eddy_scope_begin(&scope, NULL);
        line_start(&scope, waiters, takes, &slots);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(on_other_loop(uses_foreign, &slots), 0);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        let_go(waiters);
}

/* --- a server whose capacity changes --- */

enum { PHASES = 6, PHASE_S = 60, CLIENTS = 200 };

static const uint32_t capacities[PHASES] = { 20, 80, 80, 10, 40, 100 };

static struct {
        eddy_concurrency slots;
        uint64_t random;
        uint32_t busy;
        uint64_t served, refused;
        uint32_t highest, lowest;
} server;

static uint32_t capacity(void)
{
        int64_t phase = passed_ns() / EDDY_SEC(PHASE_S);

        return capacities[phase < PHASES ? phase : PHASES - 1];
}

static int64_t service_ns(void)
{
        server.random ^= server.random << 13;
        server.random ^= server.random >> 7;
        server.random ^= server.random << 17;
        return EDDY_MS(50) + (int64_t) (server.random % 100) * EDDY_MS(1);
}

/* A refusal takes a moment too. */
static bool is_served(void)
{
        if (server.busy >= capacity()) {
                CHECK_EQ(eddy_sleep(EDDY_MS(10)), 0);
                server.refused++;
                return false;
        }
        server.busy++;
        CHECK_EQ(eddy_sleep(service_ns()), 0);
        server.busy--;
        server.served++;
        return true;
}

static int sends(void *arg)
{
        (void) arg;
        while (passed_ns() < EDDY_SEC(PHASE_S * PHASES)) {
                int ticket = eddy_concurrency_acquire(&server.slots);
                uint32_t limit = eddy_concurrency_limit(&server.slots);

                CHECK(ticket >= 0);
                if (limit > server.highest)
                        server.highest = limit;
                if (limit < server.lowest)
                        server.lowest = limit;
                CHECK_EQ(eddy_concurrency_release(&server.slots, ticket,
                                                  is_served() ? EDDY_CONCURRENCY_OK
                                                              : EDDY_CONCURRENCY_OVERLOAD),
                         0);
        }
        return 0;
}

static void send_all(uint32_t start, uint32_t min, uint32_t max, int clients)
{
        eddy_scope scope;

        memset(&server, 0, sizeof(server));
        server.random = 7;
        server.lowest = UINT32_MAX;
        init(&server.slots, start, min, max);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < clients; i++)
                eddy_scope_start(&scope, sends, NULL);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_concurrency_in_use(&server.slots), 0);
}

/* The best fixed number keeps the server busy all the time, at the price of refusals. */
SIM_TEST(slots_that_adapt_get_nine_tenths_of_the_servers_rate_with_few_refusals)
{
        uint64_t best = 0;

        for (int i = 0; i < PHASES; i++)
                best += capacities[i] * (uint64_t) (PHASE_S * 1000 / 100);
        send_all(0, 0, 0, CLIENTS);
        printf("# served %llu of %llu, refused %llu\n", (unsigned long long) server.served,
               (unsigned long long) best, (unsigned long long) server.refused);
        CHECK(server.served >= best * 9 / 10);
        CHECK(server.refused * 100 < server.served);
}

SIM_TEST(the_limit_stays_within_its_bounds)
{
        send_all(0, 30, 50, CLIENTS);
        CHECK_EQ(server.lowest, 30);
        CHECK_EQ(server.highest, 50);
}

SIM_TEST(the_limit_does_not_grow_while_slots_are_unused)
{
        send_all(0, 0, 0, 5);
        CHECK_EQ(server.highest, 8);
}

SIM_TEST(one_overload_of_many_calls_at_once_counts_once)
{
        eddy_concurrency slots;
        int tickets[30];

        init(&slots, 30, 1, 100);
        for (int i = 0; i < 30; i++) {
                tickets[i] = eddy_concurrency_try_acquire(&slots);
                CHECK(tickets[i] >= 0);
        }
        for (int i = 0; i < 30; i++)
                CHECK_EQ(eddy_concurrency_release(&slots, tickets[i], EDDY_CONCURRENCY_OVERLOAD),
                         0);
        CHECK_EQ(eddy_concurrency_limit(&slots), 20);
        for (int i = 0; i < 20; i++)
                CHECK(eddy_concurrency_try_acquire(&slots) >= 0);
        CHECK_EQ(eddy_concurrency_try_acquire(&slots), -EAGAIN);
        for (int i = 0; i < 20; i++)
                CHECK_EQ(eddy_concurrency_release(&slots, -1, EDDY_CONCURRENCY_UNKNOWN), 0);
}

/* A round of successes with all slots in use. */
static void work_a_round(eddy_concurrency *slots)
{
        uint32_t n = eddy_concurrency_limit(slots);

        while (eddy_concurrency_in_use(slots) < n)
                CHECK(eddy_concurrency_try_acquire(slots) >= 0);
        for (uint32_t i = 0; i < n; i++) {
                int ticket;

                CHECK_EQ(eddy_concurrency_release(slots, (int) slots->epoch, EDDY_CONCURRENCY_OK),
                         0);
                ticket = eddy_concurrency_try_acquire(slots);
                CHECK(ticket >= 0);
        }
}

SIM_TEST(an_overload_returns_to_the_limit_that_worked_and_then_falls_by_a_third)
{
        eddy_concurrency slots;

        init(&slots, 40, 1, 1000);
        work_a_round(&slots);
        CHECK_EQ(eddy_concurrency_limit(&slots), 45);
        CHECK_EQ(eddy_concurrency_release(&slots, (int) slots.epoch, EDDY_CONCURRENCY_OVERLOAD), 0);
        CHECK_EQ(eddy_concurrency_limit(&slots), 40);
        CHECK_EQ(eddy_concurrency_release(&slots, (int) slots.epoch, EDDY_CONCURRENCY_OVERLOAD), 0);
        CHECK_EQ(eddy_concurrency_limit(&slots), 26);
        while (eddy_concurrency_in_use(&slots) > 0)
                CHECK_EQ(eddy_concurrency_release(&slots, -1, EDDY_CONCURRENCY_UNKNOWN), 0);
        /* Half of the way to the limit that failed, 40. */
        work_a_round(&slots);
        CHECK_EQ(eddy_concurrency_limit(&slots), 26 + (39 - 26) / 2);
}
