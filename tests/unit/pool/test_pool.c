/*
 * test_pool.c - a pool of connections to a server that this file simulates.
 */
#include <stdlib.h>

#include "passed.h"

/* A connection is a number, and what the server knows about it. */
struct conn {
        int id;
        bool is_open;
        bool is_busy;  /* in the middle of a request */
        bool is_dirty; /* a transaction is open */
        bool is_lost;  /* the peer has closed it, or is gone */
        bool is_owned; /* a test's task uses it */
};

enum { CONNS = 4096 };

static struct server {
        struct conn conns[CONNS];
        int made, open, open_most, opening, opening_most;
        int opens_to_fail, open_error, pings, resets, closed, closed_at_once;
        int64_t open_takes_ns, ping_takes_ns, reset_takes_ns, close_takes_ns;
        bool ping_fails, reset_fails;
        int64_t began_ns[64];
        char fault[32]; /* of the last opening that failed */
} server;

static const eddy_var opened_var = EDDY_VAR("opened", int);

static int conn_open(void *arg, void **ret_item)
{
        struct conn *conn = &server.conns[server.made % CONNS];
        int err = 0;

        CHECK(arg == &server);
        if (server.made < 64)
                server.began_ns[server.made] = passed_ns();
        conn->id = server.made++;
        CHECK_EQ(eddy_var_set(&opened_var, &conn->id), 0);
        server.opening++;
        if (server.opening > server.opening_most)
                server.opening_most = server.opening;
        if (server.open_takes_ns)
                err = eddy_sleep(server.open_takes_ns);
        server.opening--;
        if (err == 0 && server.opens_to_fail > 0) {
                server.opens_to_fail--;
                err = server.open_error ? server.open_error : -ECONNREFUSED;
                snprintf(server.fault, sizeof(server.fault), "refused: %d", conn->id);
        }
        if (err < 0)
                return err;
        *conn = (struct conn){ .id = conn->id, .is_open = true };
        server.open++;
        if (server.open > server.open_most)
                server.open_most = server.open;
        *ret_item = conn;
        return 0;
}

static void conn_close(void *arg, void *item)
{
        struct conn *conn = item;

        (void) arg;
        CHECK(conn->is_open);
        CHECK(!conn->is_owned);
        if (eddy_task_current())
                CHECK_EQ(eddy_var_set(&opened_var, &conn->id), 0);
        if (server.close_takes_ns && eddy_sleep(server.close_takes_ns) < 0)
                server.closed_at_once++;
        conn->is_open = false;
        server.open--;
        server.closed++;
}

static int conn_reset(void *arg, void *item)
{
        struct conn *conn = item;
        int err = server.reset_takes_ns ? eddy_sleep(server.reset_takes_ns) : 0;

        (void) arg;
        CHECK(conn->is_open && !conn->is_owned);
        CHECK_EQ(eddy_var_set(&opened_var, &conn->id), 0);
        server.resets++;
        if (err < 0)
                return err;
        conn->is_dirty = false;
        return server.reset_fails ? -EIO : 0;
}

static int conn_ping(void *arg, void *item)
{
        struct conn *conn = item;
        int err = server.ping_takes_ns ? eddy_sleep(server.ping_takes_ns) : 0;

        (void) arg;
        CHECK(conn->is_open && !conn->is_owned);
        server.pings++;
        return err < 0 ? err : server.ping_fails || conn->is_lost ? -EPIPE : 0;
}

static int conn_check(void *arg, void *item)
{
        const struct conn *conn = item;

        (void) arg;
        CHECK(conn->is_open);
        if (conn->is_busy || conn->is_lost)
                return EDDY_POOL_BROKEN;
        return conn->is_dirty ? EDDY_POOL_USED : EDDY_POOL_READY;
}

static void conn_fault(void *arg, struct eddy_pool_fault *ret_fault)
{
        CHECK(arg == &server);
        CHECK_STR(ret_fault->text, "");
        snprintf(ret_fault->code, sizeof(ret_fault->code), "R1");
        snprintf(ret_fault->text, sizeof(ret_fault->text), "%s", server.fault);
}

static const struct eddy_pool_ops conn_ops = { .open = conn_open,
                                               .close = conn_close,
                                               .reset = conn_reset,
                                               .ping = conn_ping,
                                               .check = conn_check,
                                               .fault = conn_fault };
/* A lost peer is only found by a ping. */
static const struct eddy_pool_ops blind_ops = { .open = conn_open,
                                                .close = conn_close,
                                                .ping = conn_ping };

static eddy_pool *pool_of(struct eddy_pool_opts opts)
{
        eddy_pool *pool;

        server = (struct server){ .made = 0 };
        if (!opts.ops)
                opts.ops = &conn_ops;
        opts.arg = &server;
        CHECK_EQ(eddy_pool_new(&opts, &pool), 0);
        return pool;
}

static struct eddy_pool_stats stats_of(const eddy_pool *pool)
{
        struct eddy_pool_stats stats;

        eddy_pool_stats(pool, &stats);
        return stats;
}

static int id_of(const eddy_pool_loan *loan)
{
        return ((struct conn *) loan->item)->id;
}

static eddy_pool_loan lent_by(eddy_pool *pool)
{
        eddy_pool_loan loan = { 0 };

        CHECK_EQ(eddy_pool_acquire(pool, &loan), 0);
        return loan;
}

static void end(eddy_pool *pool)
{
        eddy_pool_close(pool);
        CHECK_EQ(server.open, 0);
}

/* --- loans --- */

/* D1, D32: none is open before the first loan. */
SIM_TEST(items_are_opened_when_needed_and_used_again)
{
        eddy_pool *pool = pool_of((struct eddy_pool_opts){ .size = 3 });

        CHECK_EQ(server.made, 0);
        for (int i = 0; i < 5; i++) {
                eddy_pool_loan loan = lent_by(pool);

                CHECK_EQ(id_of(&loan), 0);
                CHECK_EQ(eddy_pool_release(&loan), 0);
                CHECK(!loan.item);
        }
        CHECK_EQ(server.made, 1);
        CHECK_EQ(stats_of(pool).loans, 5);
        CHECK_EQ(stats_of(pool).idle, 1);
        end(pool);
}

static void lend_three_and_return(eddy_pool *pool)
{
        eddy_pool_loan loans[3];

        for (int i = 0; i < 3; i++)
                loans[i] = lent_by(pool);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(eddy_pool_release(&loans[i]), 0);
}

/* An item is opened, reset and closed in the task that happens to need that. */
SIM_TEST(values_that_an_operation_sets_end_with_it)
{
        eddy_pool *pool = pool_of((struct eddy_pool_opts){ .size = 1 });
        eddy_pool_loan loan = lent_by(pool);

        CHECK(!eddy_var_get(&opened_var));
        ((struct conn *) loan.item)->is_dirty = true;
        CHECK_EQ(eddy_pool_release(&loan), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(server.resets, 1);
        CHECK(!eddy_var_get(&opened_var));
        end(pool);
        CHECK(!eddy_var_get(&opened_var));
}

/* D1, D11: the order of loans. */
SIM_TEST(the_last_item_used_is_lent_first_or_the_longest_idle_one_by_option)
{
        for (int fifo = 0; fifo < 2; fifo++) {
                eddy_pool *pool = pool_of((struct eddy_pool_opts){ .fifo = fifo });
                eddy_pool_loan loan;

                lend_three_and_return(pool);
                loan = lent_by(pool);
                CHECK_EQ(id_of(&loan), fifo ? 0 : 2);
                CHECK_EQ(eddy_pool_release(&loan), 0);
                end(pool);
        }
}

/* D11, D32: the overflow. */
SIM_TEST(items_above_the_size_are_closed_when_they_come_back)
{
        eddy_pool *pool = pool_of((struct eddy_pool_opts){ .size = 1, .overflow = 2 });

        lend_three_and_return(pool);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(server.open, 1);
        CHECK_EQ(stats_of(pool).open, 1);
        CHECK_EQ(stats_of(pool).closed, 2);
        end(pool);
}

struct borrower {
        eddy_pool *pool;
        int err;
        int id;
        int64_t at_ns, holds_ns;
};

static int borrow(void *arg)
{
        struct borrower *borrower = arg;
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };

        borrower->err = eddy_pool_acquire(borrower->pool, &loan);
        borrower->at_ns = passed_ns();
        if (borrower->err < 0)
                return 0;
        borrower->id = id_of(&loan);
        (void) eddy_sleep(borrower->holds_ns);
        return 0;
}

/* D12, D31, D32: the deadline is that of the caller, who sees that it was cancelled. */
SIM_TEST(tasks_wait_in_order_and_within_their_deadlines)
{
        eddy_pool *pool = pool_of((struct eddy_pool_opts){ .size = 1 });
        struct eddy_scope_opts limit = { .timeout_ns = EDDY_MS(15) };
        struct borrower borrowers[3], late = { .pool = pool };
        eddy_scope scope, limited;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 3; i++) {
                borrowers[i] = (struct borrower){ .pool = pool, .holds_ns = EDDY_MS(10) };
                eddy_scope_start(&scope, borrow, &borrowers[i]);
        }
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_scope_begin(&limited, &limit);
        (void) borrow(&late);
        CHECK_EQ(eddy_scope_end(&limited), -ETIMEDOUT);
        CHECK_EQ(late.err, -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(borrowers[i].err, 0);
                CHECK_NS(borrowers[i].at_ns, EDDY_MS(10) * i);
        }
        CHECK_EQ(stats_of(pool).waits, 2);
        CHECK_NS(stats_of(pool).waited_max_ns, EDDY_MS(20));
        CHECK_EQ(stats_of(pool).waiting, 0);
        CHECK_EQ(server.made, 1);
        end(pool);
}

/* D12, D21: a full line. */
SIM_TEST(too_many_waiting_tasks_are_refused)
{
        eddy_pool *pool = pool_of((struct eddy_pool_opts){ .size = 1, .waiters_max = 1 });
        struct borrower first = { .pool = pool }, second = first;
        eddy_pool_loan loan = lent_by(pool);
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, borrow, &first);
        eddy_scope_start(&scope, borrow, &second);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(second.err, EDDY_E_POOL_FULL);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(first.err, 0);
        end(pool);
}

/* D3, D7, D18: an old copy is refused. */
SIM_TEST(a_loan_is_given_back_once)
{
        eddy_pool *pool = pool_of((struct eddy_pool_opts){ .size = 1 });
        eddy_pool_loan loan = lent_by(pool), copy = loan, again;

        CHECK_EQ(eddy_pool_acquire(pool, &loan), -EBUSY);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        CHECK_EQ(eddy_pool_release(&loan), 0); /* empty now */
        again = copy;
        CHECK_EQ(eddy_pool_release(&again), -EINVAL);
        loan = lent_by(pool);
        again = copy;
        CHECK_EQ(eddy_pool_release(&again), -EINVAL);
        CHECK_EQ(stats_of(pool).lent, 1);
        CHECK_EQ(eddy_pool_discard(&loan), 0);
        end(pool);
        CHECK_EQ(eddy_pool_release(NULL), 0);
        CHECK_EQ(eddy_pool_acquire(NULL, &loan), -EINVAL);
}

/* --- the state of items --- */

/* D4, D14, D25, D27: giving back does not wait. */
SIM_TEST(a_used_item_is_reset_by_the_pool_before_the_next_loan)
{
        eddy_pool *pool = pool_of((struct eddy_pool_opts){ .size = 1 });
        eddy_pool_loan loan = lent_by(pool);

        server.reset_takes_ns = EDDY_MS(3);
        ((struct conn *) loan.item)->is_dirty = true;
        CHECK_EQ(eddy_pool_release(&loan), 0);
        CHECK_NS(passed_ns(), 0);
        loan = lent_by(pool);
        CHECK_NS(passed_ns(), EDDY_MS(3));
        CHECK_EQ(id_of(&loan), 0);
        CHECK(!((struct conn *) loan.item)->is_dirty);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        CHECK_EQ(server.resets, 1);
        end(pool);
}

/* D4, D14: the place is free again. */
SIM_TEST(an_item_is_closed_if_its_reset_fails_or_hangs)
{
        for (int hangs = 0; hangs < 2; hangs++) {
                eddy_pool *pool = pool_of((struct eddy_pool_opts){ .size = 1 });
                eddy_pool_loan loan = lent_by(pool);
                int64_t began_ns = passed_ns();

                server.reset_fails = !hangs;
                server.reset_takes_ns = hangs ? EDDY_MIN(60) : 0;
                ((struct conn *) loan.item)->is_dirty = true;
                CHECK_EQ(eddy_pool_release(&loan), 0);
                loan = lent_by(pool);
                CHECK_NS(passed_ns() - began_ns, hangs ? EDDY_SEC(5) : 0);
                CHECK_EQ(id_of(&loan), 1);
                CHECK_EQ(stats_of(pool).broken, 1);
                CHECK_EQ(eddy_pool_release(&loan), 0);
                end(pool);
        }
}

/* D19, D22, D28: no other task gets the answer. */
SIM_TEST(an_item_in_the_middle_of_a_request_is_closed)
{
        eddy_pool *pool = pool_of((struct eddy_pool_opts){ .size = 1 });
        eddy_pool_loan loan = lent_by(pool);

        ((struct conn *) loan.item)->is_busy = true;
        CHECK_EQ(eddy_pool_release(&loan), 0);
        loan = lent_by(pool);
        CHECK_EQ(id_of(&loan), 1);
        CHECK_EQ(server.resets, 0);
        CHECK_EQ(eddy_pool_discard(&loan), 0);
        loan = lent_by(pool);
        CHECK_EQ(id_of(&loan), 2);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        CHECK_EQ(server.open_most, 1);
        end(pool);
}

/* D10, D23: noticed before the loan. */
SIM_TEST(an_idle_item_that_its_peer_has_closed_is_replaced)
{
        eddy_pool *pool = pool_of((struct eddy_pool_opts){ .size = 3 });
        eddy_pool_loan loan;

        lend_three_and_return(pool);
        for (int i = 0; i < 3; i++)
                server.conns[i].is_lost = true;
        loan = lent_by(pool);
        CHECK_EQ(id_of(&loan), 3);
        CHECK_EQ(server.open, 1);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        end(pool);
}

/* D16, D23: they are replaced. */
SIM_TEST(after_a_failed_ping_older_items_are_not_lent)
{
        eddy_pool *pool = pool_of((struct eddy_pool_opts){ .ops = &blind_ops, .size = 3 });
        eddy_pool_loan loan;

        lend_three_and_return(pool);
        CHECK_EQ(eddy_sleep(EDDY_SEC(29)), 0);
        loan = lent_by(pool); /* not yet pinged */
        CHECK_EQ(server.pings, 0);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(31)), 0);
        server.ping_fails = true;
        loan = lent_by(pool);
        CHECK_EQ(id_of(&loan), 3);
        CHECK_EQ(server.pings, 1);
        CHECK_EQ(server.open, 1);
        CHECK_EQ(stats_of(pool).broken, 1);
        CHECK_EQ(stats_of(pool).expired, 2);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        end(pool);
}

SIM_TEST(a_ping_that_hangs_is_a_failure)
{
        eddy_pool *pool = pool_of((struct eddy_pool_opts){ .size = 1, .ping_after_ns = -1 });
        eddy_pool_loan loan = lent_by(pool);

        CHECK_EQ(eddy_pool_release(&loan), 0);
        server.ping_takes_ns = EDDY_MIN(60);
        CHECK_EQ(eddy_sleep(1), 0);
        loan = lent_by(pool);
        CHECK_NS(passed_ns(), EDDY_SEC(5));
        CHECK_EQ(id_of(&loan), 1);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        end(pool);
}

/* --- age --- */

/* D6: by a timer. */
SIM_TEST(items_are_closed_after_their_idle_time)
{
        eddy_pool *pool =
                pool_of((struct eddy_pool_opts){ .size = 3, .idle_max_ns = EDDY_SEC(10) });
        eddy_pool_loan loan;

        lend_three_and_return(pool);
        CHECK_EQ(eddy_sleep(EDDY_SEC(6)), 0);
        loan = lent_by(pool);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(5)), 0);
        CHECK_EQ(server.open, 1);
        CHECK_EQ(eddy_sleep(EDDY_SEC(6)), 0);
        CHECK_EQ(server.open, 0);
        CHECK_EQ(stats_of(pool).open, 0);
        CHECK_EQ(stats_of(pool).expired, 3);
        end(pool);
}

/* D6, D15, D17: silently, at the next loan. */
SIM_TEST(an_item_is_replaced_after_its_age_its_loans_or_when_all_are_expired)
{
        struct eddy_pool_opts cases[] = { { .age_max_ns = EDDY_SEC(1) },
                                          { .loans_max = 1 },
                                          { .size = 1 } };

        for (int i = 0; i < 3; i++) {
                eddy_pool *pool = pool_of(cases[i]);
                eddy_pool_loan loan = lent_by(pool);

                if (i == 0)
                        CHECK_EQ(eddy_sleep(EDDY_SEC(2)), 0);
                if (i == 2)
                        eddy_pool_expire(pool);
                CHECK_EQ(server.open, 1); /* while it is lent */
                CHECK_EQ(eddy_pool_release(&loan), 0);
                loan = lent_by(pool);
                CHECK_EQ(id_of(&loan), 1);
                CHECK_EQ(stats_of(pool).expired, 1);
                CHECK_EQ(eddy_pool_release(&loan), 0);
                eddy_pool_expire(pool);
                CHECK_EQ(eddy_sleep(0), 0);
                CHECK_EQ(server.open, 0);
                end(pool);
        }
}

/* --- opening --- */

SIM_TEST(each_error_of_an_opening_goes_to_the_borrower)
{
        static const int errors[] = { -EAGAIN, -EBUSY, -ETIMEDOUT, -ECANCELED, EDDY_E_POOL_CLOSED };
        eddy_pool *pool = pool_of((struct eddy_pool_opts){ .size = 1 });
        eddy_pool_loan loan = { 0 };

        for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
                server.open_error = errors[i];
                server.opens_to_fail = 1;
                CHECK_EQ(eddy_pool_acquire(pool, &loan), errors[i]);
                CHECK_EQ(server.made, (int) i + 1);
        }
        loan = lent_by(pool);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        end(pool);
}

struct refused {
        eddy_pool *pool;
        eddy_pool_loan loan;
        struct eddy_pool_fault fault;
};

static int be_refused(void *arg)
{
        struct refused *refused = arg;

        refused->loan.ret_fault = &refused->fault;
        CHECK_EQ(eddy_pool_acquire(refused->pool, &refused->loan), -ECONNREFUSED);
        return 0;
}

SIM_TEST(the_reason_for_a_failed_opening_goes_to_the_loan_that_failed)
{
        eddy_pool *pool = pool_of((struct eddy_pool_opts){ .size = 2, .waiters_max = 1 });
        struct refused both[2] = { { .pool = pool }, { .pool = pool } };
        struct eddy_pool_fault fault;
        eddy_pool_loan loan = { .ret_fault = &fault };
        eddy_scope scope;

        server.opens_to_fail = 2;
        server.open_takes_ns = EDDY_MS(10);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, be_refused, &both[0]);
        eddy_scope_start(&scope, be_refused, &both[1]);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_STR(both[0].fault.text, "refused: 0");
        CHECK_STR(both[1].fault.text, "refused: 1");
        CHECK_STR(both[1].fault.code, "R1");
        /* A later loan has no reason, of a success or of another error. */
        fault = both[0].fault;
        CHECK_EQ(eddy_pool_acquire(pool, &loan), 0);
        CHECK_STR(fault.text, "");
        CHECK_EQ(eddy_pool_release(&loan), 0);
        CHECK(loan.ret_fault == &fault);
        CHECK_EQ(eddy_pool_acquire(pool, &loan), 0);
        fault = both[0].fault;
        CHECK_EQ(eddy_pool_acquire(pool, &loan), -EBUSY); /* not a call of the pool yet */
        CHECK_STR(fault.text, "refused: 0");
        CHECK_EQ(eddy_pool_release(&loan), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_pool_acquire(pool, &loan), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_STR(fault.text, "");
        end(pool);
}

/* D2, D13, D18, D24, D30: the next in line opens. */
SIM_TEST(a_failed_or_cancelled_opening_gives_its_place_to_the_next)
{
        eddy_pool *pool = pool_of((struct eddy_pool_opts){ .size = 1 });
        struct borrower borrowers[3];
        eddy_task *second;
        eddy_scope scope;

        server.opens_to_fail = 1;
        server.open_takes_ns = EDDY_MS(10);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 3; i++)
                borrowers[i] = (struct borrower){ .pool = pool };
        eddy_scope_start(&scope, borrow, &borrowers[0]);
        CHECK_EQ(eddy_scope_start_task(&scope, borrow, &borrowers[1], NULL, &second), 0);
        eddy_scope_start(&scope, borrow, &borrowers[2]);
        CHECK_EQ(eddy_sleep(EDDY_MS(15)), 0);
        eddy_task_cancel(second);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_task_release(second);
        CHECK_EQ(borrowers[0].err, -ECONNREFUSED);
        CHECK_EQ(borrowers[1].err, -ECANCELED);
        CHECK_EQ(borrowers[2].err, 0);
        CHECK_NS(borrowers[2].at_ns, EDDY_MS(25));
        CHECK_EQ(stats_of(pool).failed, 2);
        end(pool);
}

/* D13, D24, D31: others borrow meanwhile. */
SIM_TEST(an_opening_that_hangs_fails_after_its_limit_and_keeps_no_other_place)
{
        eddy_pool *pool =
                pool_of((struct eddy_pool_opts){ .size = 2, .open_timeout_ns = EDDY_SEC(2) });
        struct eddy_pool_fault fault;
        eddy_pool_loan loan = lent_by(pool), other = { .ret_fault = &fault };

        server.open_takes_ns = EDDY_MIN(60);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        loan = lent_by(pool);
        snprintf(server.fault, sizeof(server.fault), "%s", "");
        CHECK_EQ(eddy_pool_acquire(pool, &other), -ETIMEDOUT);
        CHECK_STR(fault.text, "the opening took longer than 2000 ms (open_timeout_ns)");
        CHECK_NS(passed_ns(), EDDY_SEC(2));
        CHECK_EQ(stats_of(pool).open, 1);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        end(pool);
}

static void borrow_all(eddy_pool *pool, struct borrower *borrowers, int n)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < n; i++) {
                borrowers[i] = (struct borrower){ .pool = pool, .holds_ns = EDDY_SEC(10) };
                eddy_scope_start(&scope, borrow, &borrowers[i]);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

SIM_TEST(openings_at_the_same_time_and_their_rate_are_limited)
{
        eddy_pool *pool = pool_of((struct eddy_pool_opts){ .size = 6, .opening_max = 2 });
        struct borrower borrowers[6];

        server.open_takes_ns = EDDY_MS(10);
        borrow_all(pool, borrowers, 6);
        CHECK_EQ(server.opening_most, 2);
        CHECK_NS(borrowers[5].at_ns, EDDY_MS(30));
        end(pool);
        pool = pool_of((struct eddy_pool_opts){ .size = 3, .opening_gap_ns = EDDY_MS(100) });
        borrow_all(pool, borrowers, 3);
        for (int i = 1; i < 3; i++)
                CHECK_NS(server.began_ns[i] - server.began_ns[0], EDDY_MS(100) * i);
        end(pool);
}

SIM_TEST(a_server_that_returns_is_not_flooded_with_openings)
{
        eddy_pool *pool = pool_of((struct eddy_pool_opts){ .size = 8, .opening_max = 2 });
        struct borrower borrowers[8];

        borrow_all(pool, borrowers, 8);
        for (int i = 0; i < 8; i++)
                server.conns[i].is_lost = true;
        server.opening_most = 0;
        server.open_takes_ns = EDDY_MS(10);
        borrow_all(pool, borrowers, 8);
        CHECK_EQ(server.opening_most, 2);
        for (int i = 0; i < 8; i++)
                CHECK_EQ(borrowers[i].err, 0);
        CHECK_EQ(stats_of(pool).open, 8);
        end(pool);
}

/* --- the end --- */

/* D8, D20: closing. */
SIM_TEST(closing_waits_for_loans_and_refuses_others)
{
        eddy_pool *pool = pool_of((struct eddy_pool_opts){ .size = 1 });
        struct borrower borrowers[2];
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 2; i++) {
                borrowers[i] = (struct borrower){ .pool = pool, .holds_ns = EDDY_MS(7) };
                eddy_scope_start(&scope, borrow, &borrowers[i]);
        }
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        end(pool);
        CHECK_NS(passed_ns(), EDDY_MS(7));
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(borrowers[0].err, 0);
        CHECK_EQ(borrowers[1].err, EDDY_E_POOL_CLOSED);
}

SIM_TEST(closing_stops_openings)
{
        eddy_pool *pool = pool_of((struct eddy_pool_opts){ .size = 1, .open_timeout_ns = -1 });
        struct borrower borrower = { .pool = pool };
        eddy_scope scope;

        server.open_takes_ns = EDDY_MIN(60);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, borrow, &borrower);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        end(pool);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(borrower.err, EDDY_E_POOL_CLOSED);
}

/* D8, D20: at once. */
SIM_TEST(a_cancelled_closing_leaves_the_end_to_the_last_loan)
{
        for (int late = 0; late < 2; late++) {
                eddy_pool *pool = pool_of((struct eddy_pool_opts){ .size = 2 });
                struct eddy_scope_opts limit = { .timeout_ns = late ? EDDY_MS(3) : -1 };
                eddy_pool_loan first = lent_by(pool), second = lent_by(pool);
                eddy_scope scope;

                eddy_scope_begin(&scope, &limit);
                eddy_pool_close(pool);
                (void) eddy_scope_end(&scope);
                CHECK_EQ(server.open, 2);
                CHECK(((struct conn *) first.item)->is_open);
                CHECK_EQ(eddy_pool_release(&first), 0);
                CHECK_EQ(eddy_pool_release(&second), 0);
                CHECK_EQ(eddy_sleep(0), 0);
                CHECK_EQ(server.open, 0);
        }
}

/* D19, D31: the limit of a close. */
SIM_TEST(an_item_that_closes_slowly_is_closed_within_the_limit)
{
        eddy_pool *pool =
                pool_of((struct eddy_pool_opts){ .size = 1, .close_timeout_ns = EDDY_SEC(1) });
        eddy_pool_loan loan = lent_by(pool);

        server.close_takes_ns = EDDY_MIN(60);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        end(pool);
        CHECK_NS(passed_ns(), EDDY_SEC(1));
        CHECK_EQ(server.closed_at_once, 1);
}

SIM_TEST(the_borrowers_of_a_pool_are_named)
{
        eddy_pool *pool = pool_of((struct eddy_pool_opts){ .size = 3 });
        eddy_pool_loan first = lent_by(pool), second = { 0 };
        struct eddy_pool_borrower borrowers[3] = { { 0 } };

        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(eddy_pool_acquire_at(pool, &second, "app.c:7"), 0);
        CHECK_EQ(eddy_pool_borrowers(pool, borrowers, 0), 2);
        CHECK_EQ(eddy_pool_borrowers(pool, borrowers, 3), 2);
        for (int i = 0; i < 2; i++) {
                bool is_second = strcmp(borrowers[i].place, "app.c:7") == 0;

                CHECK(is_second || strstr(borrowers[i].place, "test_pool.c:"));
                CHECK_NS(borrowers[i].since_ns - CLOCK_BEGINS_NS, is_second ? EDDY_MS(1) : 0);
        }
        CHECK_EQ(eddy_pool_release(&first), 0);
        CHECK_EQ(eddy_pool_release(&second), 0);
        end(pool);
}

static int borrow_here(void *arg)
{
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };

        return eddy_pool_acquire_at(arg, &loan, "app.c:8");
}

/* The place and the time of the only borrower. */
static void check_borrower(const eddy_pool *pool, const char *place, int64_t since_ns)
{
        struct eddy_pool_borrower borrower;

        CHECK_EQ(eddy_pool_borrowers(pool, &borrower, 1), 1);
        CHECK_STR(borrower.place, place);
        CHECK_NS(borrower.since_ns - CLOCK_BEGINS_NS, since_ns);
}

SIM_TEST(the_borrower_of_an_item_is_named_while_the_item_is_opened_or_handed_over)
{
        eddy_pool *pool = pool_of((struct eddy_pool_opts){ .size = 1 });
        eddy_pool_loan first = { 0 };
        eddy_scope scope;

        CHECK_EQ(eddy_pool_acquire_at(pool, &first, "app.c:7"), 0);
        CHECK_EQ(eddy_pool_discard(&first), 0);
        server.open_takes_ns = EDDY_MS(10);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, borrow_here, pool);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        check_borrower(pool, "app.c:8", 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        /* The task that waits has not run since its turn came. */
        CHECK_EQ(eddy_pool_acquire_at(pool, &first, "app.c:7"), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, borrow_here, pool);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        check_borrower(pool, "app.c:7", EDDY_MS(10));
        CHECK_EQ(eddy_pool_release(&first), 0);
        check_borrower(pool, "app.c:8", EDDY_MS(11));
        CHECK_EQ(eddy_scope_end(&scope), 0);
        end(pool);
}

/* --- the release of the argument --- */

static int releases;

static void conn_release(void *arg)
{
        CHECK(arg == &server);
        CHECK_EQ(server.open, 0);
        releases++;
}

static int close_in_cancelled(void *arg)
{
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), -ECANCELED);
        eddy_pool_close(arg);
        return 0;
}

/* When the last item is closed and not before, also if the pool's close could not wait for it. */
SIM_TEST(the_argument_is_released_once_after_the_last_item)
{
        struct eddy_pool_ops ops = conn_ops;
        struct eddy_pool_opts opts = { .ops = &ops, .size = 3 };
        eddy_pool_loan loan, last;
        eddy_pool *pool;

        ops.release = conn_release;
        releases = 0;
        end(pool_of(opts)); /* nothing was opened */
        CHECK_EQ(releases, 1);

        pool = pool_of(opts);
        server.close_takes_ns = EDDY_MS(5);
        lend_three_and_return(pool);
        CHECK_EQ(releases, 1);
        end(pool); /* waits for idle items */
        CHECK_EQ(releases, 2);

        pool = pool_of(opts);
        server.close_takes_ns = EDDY_MS(5);
        loan = lent_by(pool);
        last = lent_by(pool);
        CHECK_EQ(eddy_call_timeout(close_in_cancelled, pool, EDDY_MS(1)), 0);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(10)), 0);
        CHECK_EQ(server.open, 1);
        CHECK_EQ(releases, 2);
        CHECK_EQ(eddy_pool_release(&last), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(10)), 0);
        CHECK_EQ(releases, 3);
}

static int refused(void *arg)
{
        struct eddy_pool_opts bad[] = {
                { .size = 1 },
                { .ops = &(struct eddy_pool_ops){ .open = conn_open } },
                { .ops = &(struct eddy_pool_ops){ .close = conn_close } },
                { .ops = &conn_ops, .size = EDDY_POOL_ITEMS_MAX + 1 },
                { .ops = &conn_ops, .overflow = UINT32_MAX },
                { .ops = &conn_ops, .waiters_max = EDDY_POOL_WAITERS_MAX + 1 },
                { .ops = &conn_ops, .opening_gap_ns = -1 },
                { .ops = &conn_ops, .age_max_ns = -1 },
        };
        eddy_pool *pool = NULL;

        (void) arg;
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                CHECK_EQ(eddy_pool_new(&bad[i], &pool), -EINVAL);
        CHECK_EQ(eddy_pool_new(NULL, &pool), -EINVAL);
        eddy_pool_close(pool);
        return 0;
}

TEST(options_of_a_pool_out_of_range_are_refused)
{
        CHECK_EQ(refused(NULL), 0);
        CHECK_EQ(
                eddy_pool_new(&(struct eddy_pool_opts){ .ops = &conn_ops }, &(eddy_pool *){ NULL }),
                EDDY_E_RUN_NOT_RUNNING);
}

static int acquire_closed(void *arg)
{
        eddy_pool_loan loan = { 0 };

        CHECK_EQ(eddy_pool_acquire(arg, &loan), EDDY_E_POOL_CLOSED);
        CHECK(!loan.item);
        return 0;
}

/* The waiter gets the place of an opening that failed, or an item, and the pool closes at once. */
SIM_TEST(a_waiter_that_gets_a_place_as_the_pool_closes_opens_nothing)
{
        for (int is_open = 0; is_open < 2; is_open++) {
                eddy_pool *pool = pool_of((struct eddy_pool_opts){ .size = 1 });
                eddy_pool_loan loan = { 0 };
                int64_t began_ns;
                eddy_scope scope;

                server.open_takes_ns = EDDY_SEC(1);
                server.opens_to_fail = !is_open;
                eddy_scope_begin(&scope, NULL);
                if (is_open)
                        loan = lent_by(pool);
                CHECK_EQ(eddy_scope_start(&scope, acquire_closed, pool), 0);
                if (is_open) {
                        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
                        CHECK_EQ(eddy_pool_release(&loan), 0);
                } else {
                        CHECK_EQ(eddy_pool_acquire(pool, &loan), -ECONNREFUSED);
                }
                CHECK_EQ(stats_of(pool).waiting, 0);
                began_ns = passed_ns();
                end(pool);
                CHECK_EQ(passed_ns(), began_ns);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                CHECK_EQ(server.made, 1);
        }
}

/* --- many random users --- */

enum { USERS = 40, TURNS = 60 };

static unsigned seed;

static unsigned at_random(unsigned below)
{
        seed = seed * 1103515245 + 12345;
        return seed / 65536 % below;
}

/* Use a connection; whoever else has it at the same time is a fault of the pool. */
static void use(struct conn *conn)
{
        CHECK(conn->is_open && !conn->is_owned && !conn->is_busy && !conn->is_dirty);
        conn->is_owned = true;
        conn->is_busy = true;
        conn->is_dirty = at_random(2) == 0;
        if (eddy_sleep(EDDY_US(at_random(300))) == 0)
                conn->is_busy = false;
        conn->is_owned = false;
}

static int user(void *arg)
{
        eddy_pool *pool = arg;

        for (int i = 0; i < TURNS; i++) {
                struct eddy_scope_opts limit = { .timeout_ns = EDDY_US(at_random(800)) + 1 };
                eddy_pool_loan loan = { 0 };
                eddy_scope scope;
                int err;

                eddy_scope_begin(&scope, at_random(3) ? NULL : &limit);
                err = eddy_pool_acquire(pool, &loan);
                if (err == 0)
                        use(loan.item);
                if (at_random(20) == 0)
                        CHECK_EQ(eddy_pool_discard(&loan), 0);
                else
                        CHECK_EQ(eddy_pool_release(&loan), 0);
                (void) eddy_scope_end(&scope);
                server.opens_to_fail += at_random(50) == 0;
                server.ping_fails = at_random(50) == 0;
                server.reset_fails = at_random(10) == 0;
                if (at_random(100) == 0)
                        server.conns[at_random((unsigned) server.made) % CONNS].is_lost = true;
        }
        return 0;
}

static void many_users(unsigned number)
{
        eddy_pool *pool =
                pool_of((struct eddy_pool_opts){ .size = 3,
                                                 .overflow = number % 4,
                                                 .opening_max = 1 + number % 3,
                                                 .opening_gap_ns = number % 2 ? EDDY_US(30) : 0,
                                                 .ping_after_ns = EDDY_US(50),
                                                 .idle_max_ns = EDDY_US(400),
                                                 .loans_max = 20,
                                                 .fifo = number % 5 == 0 });
        struct eddy_pool_stats stats;
        eddy_scope scope;

        seed = number;
        server.open_takes_ns = EDDY_US(40);
        server.reset_takes_ns = EDDY_US(20);
        server.ping_takes_ns = EDDY_US(10);
        server.close_takes_ns = EDDY_US(15);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < USERS; i++)
                eddy_scope_start(&scope, user, pool);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        stats = stats_of(pool);
        CHECK(server.open_most <= (int) (3 + number % 4));
        CHECK(server.opening_most <= (int) (1 + number % 3));
        CHECK_EQ(stats.lent + stats.waiting + stats.opening + stats.idle + stats.open, 0);
        CHECK_EQ(stats.opened, stats.closed);
        CHECK(stats.loans > USERS * TURNS / 4);
        end(pool);
}

/* D30, D33: the size is kept. */
SIM_TEST(no_item_is_lent_twice_or_lost_by_users_that_are_cancelled_at_random)
{
        for (unsigned i = 1; i <= 20; i++)
                many_users(i);
}
