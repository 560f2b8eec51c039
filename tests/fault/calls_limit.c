/*
 * calls_limit.c - the worlds of limits and retries; see every_call.h.
 */
#include "every_call.h"

/* --- a limiter --- */

static struct {
        eddy_limiter *limiter;
        struct eddy_reservation last;
        uint64_t tokens;
        int granted;
} gate;

static int reserve(void *arg)
{
        (void) arg;
        gate.last = (struct eddy_reservation){ 0 };
        return eddy_limiter_reserve(gate.limiter, 1, 2, &gate.last);
}

static int pass_limiter(void *arg)
{
        int err;

        world_pause();
        err = victim_call(reserve, arg);
        if (err == -ECANCELED)
                return 0;
        CHECK_EQ(err, 0);
        gate.granted++;
        gate.tokens += 2;
        return 0;
}

/* Makes reservations possible earlier and later. */
static int change_limiter(void *arg)
{
        struct eddy_reservation own = { 0 };

        (void) arg;
        world_pause();
        if (eddy_limiter_try_reserve(gate.limiter, 1, 3, &own) == 0) {
                world_pause();
                CHECK_EQ(eddy_limiter_release(gate.limiter, &own), 0);
        }
        if (world_chance(2))
                CHECK_EQ(eddy_limiter_pause(gate.limiter, eddy_now() + world_delay_ns()), 0);
        return 0;
}

static int world_limiter(void *arg)
{
        struct eddy_limiter_limit limits[] = {
                { EDDY_LIMITER_REQUESTS, 1 + world_chance(3), EDDY_MS(3) },
                { EDDY_LIMITER_TOKENS, 4, EDDY_MS(2) },
        };
        struct eddy_limiter_opts opts = { .limits = limits,
                                          .limits_count = 2,
                                          .burst_ns = world_chance(2) ? EDDY_MS(1) : -1 };
        int n = 2 + (int) world_chance(4);
        struct eddy_limiter_stats stats;
        eddy_scope scope;

        memset(&gate, 0, sizeof(gate));
        CHECK_EQ(eddy_limiter_new(&opts, &gate.limiter), 0);
        world_begin(n);
        eddy_scope_begin(&scope, NULL);
        world_start(&scope, pass_limiter, arg, n);
        world_start(&scope, change_limiter, NULL, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_limiter_stats(gate.limiter, &stats);
        CHECK_EQ(stats.waiting, 0);
        CHECK_EQ(stats.granted - stats.released, gate.granted);
        CHECK_EQ(stats.tokens, gate.tokens);
        CHECK_EQ(gate.granted, n - victims_cancelled());
        CHECK_EQ(eddy_sleep(EDDY_MS(20)), 0);
        CHECK_EQ(eddy_limiter_try_reserve(gate.limiter, limits[0].amount, 4, NULL), 0);
        eddy_limiter_close(gate.limiter);
        return 0;
}
EVERY_POINT(limiter, eddy_limiter_reserve)

/* --- slots --- */

static struct {
        eddy_concurrency slots;
        uint32_t inside;
        int ticket, served;
} service;

static int take_slot(void *arg)
{
        int ticket = eddy_concurrency_acquire(&service.slots);

        (void) arg;
        if (ticket < 0)
                return ticket;
        service.ticket = ticket;
        return 0;
}

static int use_slot(void *arg)
{
        int err, ticket;

        world_pause();
        err = victim_call(take_slot, arg);
        if (err == -ECANCELED)
                return 0;
        CHECK_EQ(err, 0);
        ticket = service.ticket;
        CHECK(++service.inside <= 4);
        world_pause();
        service.inside--;
        service.served++;
        CHECK_EQ(eddy_concurrency_release(&service.slots, ticket,
                                          world_chance(3) ? EDDY_CONCURRENCY_OK
                                                          : EDDY_CONCURRENCY_OVERLOAD),
                 0);
        return 0;
}

static int world_concurrency(void *arg)
{
        struct eddy_concurrency_opts opts = { .start = 1 + (uint32_t) world_chance(2), .max = 4 };
        int n = 3 + (int) world_chance(4);

        memset(&service, 0, sizeof(service));
        CHECK_EQ(eddy_concurrency_init(&service.slots, &opts), 0);
        world_begin(n);
        world_run(use_slot, arg, n);
        CHECK_EQ(eddy_concurrency_in_use(&service.slots), 0);
        CHECK_EQ(eddy_concurrency_waiting(&service.slots), 0);
        CHECK_EQ(service.served, n - victims_cancelled());
        return 0;
}
EVERY_POINT(concurrency, eddy_concurrency_acquire)

/* --- retries --- */

static struct {
        int attempts, waited;
} work;

static int wait_for_retry(void *arg)
{
        struct eddy_retry_policy policy = { .base_ns = EDDY_MS(3) };
        struct eddy_retry_cause cause = { .status = 503 };
        struct eddy_retry retry;

        (void) arg;
        eddy_retry_begin(&retry, &policy);
        return eddy_retry_wait(&retry, &cause);
}

static int waits_for_retry(void *arg)
{
        int err;

        world_pause();
        err = victim_call(wait_for_retry, arg);
        CHECK(err == 0 || err == -ECANCELED || err == EDDY_E_RETRY_DEADLINE);
        work.waited += err != -ECANCELED;
        return 0;
}

static int world_retry_wait(void *arg)
{
        int n = 2 + (int) world_chance(3);

        memset(&work, 0, sizeof(work));
        world_begin(n);
        world_run(waits_for_retry, arg, n);
        CHECK_EQ(work.waited, n - victims_cancelled());
        return 0;
}
EVERY_POINT(retry_wait, eddy_retry_wait)

/* Fails twice; a cancel is final. */
static int fails_twice(void *arg)
{
        int *failures = arg;
        int err = eddy_sleep(0);

        if (err < 0)
                return err;
        work.attempts++;
        return ++*failures <= 2 ? -ECONNRESET : 0;
}

static int call_with_retries(void *arg)
{
        static const struct eddy_retry_policy policy = { .base_ns = EDDY_MS(2) };
        int failures = 0;

        (void) arg;
        return eddy_retry_call(&policy, fails_twice, &failures);
}

static int retries(void *arg)
{
        int err;

        world_pause();
        err = victim_call(call_with_retries, arg);
        CHECK(err == 0 || err == -ECANCELED || err == -ECONNRESET);
        work.waited += err != -ECANCELED;
        return 0;
}

static int world_retry_call(void *arg)
{
        int n = 2 + (int) world_chance(3);

        memset(&work, 0, sizeof(work));
        world_begin(n);
        world_run(retries, arg, n);
        CHECK_EQ(work.waited, n - victims_cancelled());
        CHECK(work.attempts <= 3 * n);
        return 0;
}
EVERY_POINT(retry_call, eddy_retry_call)

/* --- a pool --- */

static struct {
        eddy_pool *pool;
        int open, inside, served;
} store;

static int open_item(void *arg, void **ret_item)
{
        int err = world_chance(3) ? eddy_sleep(EDDY_US(50)) : 0;

        if (err < 0)
                return err;
        store.open++;
        *ret_item = arg;
        return 0;
}

static void close_item(void *arg, void *item)
{
        (void) arg;
        (void) item;
        if (world_chance(2))
                (void) eddy_sleep(EDDY_US(50));
        store.open--;
}

static int tend_item(void *arg, void *item)
{
        (void) arg;
        (void) item;
        return world_chance(3) ? eddy_sleep(EDDY_US(50)) : 0;
}

static int use_item(void *arg)
{
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        int err = eddy_pool_acquire(store.pool, &loan);

        (void) arg;
        if (err < 0)
                return err;
        CHECK(++store.inside <= 2);
        CHECK(store.open <= 2);
        world_pause();
        store.inside--;
        store.served++;
        return 0;
}

static int uses_item(void *arg)
{
        int err;

        world_pause();
        err = victim_call(use_item, arg);
        CHECK(err == 0 || err == -ECANCELED);
        return 0;
}

static int close_store(void *arg)
{
        (void) arg;
        eddy_pool_close(store.pool);
        return 0;
}

static int closes_store(void *arg)
{
        CHECK_EQ(victim_call(close_store, arg), 0);
        return 0;
}

/* The pool is closed by a task that may be cancelled: then the last loan ends it. */
static int world_pool(void *arg)
{
        static const struct eddy_pool_ops ops = {
                .open = open_item, .close = close_item, .reset = tend_item, .ping = tend_item
        };
        struct eddy_pool_opts opts = { .ops = &ops,
                                       .size = 1 + (uint32_t) world_chance(2),
                                       .ping_after_ns = -1,
                                       .loans_max = world_chance(4) };
        int n = 3 + (int) world_chance(4);

        opts.overflow = 2 - opts.size;
        memset(&store, 0, sizeof(store));
        CHECK_EQ(eddy_pool_new(&opts, &store.pool), 0);
        world_begin(n + 1);
        world_run(uses_item, arg, n);
        CHECK(store.served <= n && store.served >= n - victims_cancelled());
        world_run(closes_store, arg, 1);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(store.open, 0);
        return 0;
}
EVERY_POINT(pool, eddy_pool_acquire_at)
ALSO(pool, eddy_pool_close)
