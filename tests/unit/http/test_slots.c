/*
 * test_slots.c - connections with many slots: who gets one, when a connection ends, and who waits
 * for an opening.
 */
#include <eddy/test.h>

#include "fake_protocol.h"
#include "http_test.h"

enum { BORROWERS_MAX = 100 };

/* Borrowers that each hold a slot for a time. */
static struct {
        eddy_http_client *client;
        const char *host;
        int64_t hold_ns;
        bool is_https;
        int err; /* of the last one that failed */
        int failed;
        int served;
        int64_t last_ns; /* when the last one was served */
} group;

static int borrower_run(void *arg)
{
        struct ed_http_conn *conn;
        int err;

        (void) arg;
        err = fake_borrow(group.client, group.host, group.is_https, &conn);
        if (err < 0) {
                group.err = err;
                group.failed++;
                return 0;
        }
        CHECK(conn->stream != NULL);
        group.served++;
        group.last_ns = eddy_now();
        (void) eddy_sleep(group.hold_ns);
        ed_http_pool_release(conn, true);
        return 0;
}

static void start(eddy_scope *scope, int n)
{
        for (int i = 0; i < n; i++)
                CHECK_EQ(eddy_scope_start(scope, borrower_run, NULL), 0);
}

typedef void slots_fn(eddy_http_client *client);

struct slots_call {
        const struct eddy_http_client_opts *opts;
        slots_fn *fn;
};

static int slots_main(void *arg)
{
        const struct slots_call *call = arg;
        eddy_http_client *client = fake_client(call->opts);

        memset(&group, 0, sizeof(group));
        group.client = client;
        group.host = "a";
        call->fn(client);
        CHECK_EQ(client->pool.in_use, 0);
        CHECK_EQ(client->pool.waiting, 0);
        eddy_http_client_close(client);
        CHECK_EQ(fake.ended, fake.closed);
        return 0;
}

/* SLOTS_TEST(claim, OPTIONS(...)) { ... client ... } */
#define SLOTS_TEST(claim, options)                                                                 \
        static void slots_##claim(eddy_http_client *client);                                       \
        TEST(claim)                                                                                \
        {                                                                                          \
                struct slots_call call = { (options), slots_##claim };                             \
                http_run(slots_main, &call);                                                       \
        }                                                                                          \
        static void slots_##claim(eddy_http_client *client)

static struct ed_http_conn *borrow(eddy_http_client *client, const char *host)
{
        struct ed_http_conn *conn;

        CHECK_EQ(fake_borrow(client, host, false, &conn), 0);
        return conn;
}

static void release(struct ed_http_conn *conn)
{
        ed_http_pool_release(conn, true);
}

/* ---- slots ---------------------------------------------------------------- */

SLOTS_TEST(slots_of_one_connection_are_lent_before_another_is_opened, NULL)
{
        struct ed_http_conn *conns[FAKE_SLOTS + 1];

        for (int i = 0; i <= FAKE_SLOTS; i++)
                conns[i] = borrow(client, "a");
        for (int i = 1; i < FAKE_SLOTS; i++)
                CHECK(conns[i] == conns[0]);
        CHECK(conns[FAKE_SLOTS] != conns[0]);
        CHECK_STATS(client, 2, 0, 0);
        for (int i = 0; i <= FAKE_SLOTS; i++)
                release(conns[i]);
        CHECK_STATS(client, 2, 2, 0);
        CHECK_EQ(fake.closed, 0);
}

SLOTS_TEST(fullest_connection_is_lent_first, NULL)
{
        struct ed_http_conn *conns[2 * FAKE_SLOTS], *next;

        for (int i = 0; i < 2 * FAKE_SLOTS; i++)
                conns[i] = borrow(client, "a");
        for (int i = 0; i < 3; i++)
                release(conns[i]); /* 5 are lent */
        for (int i = 0; i < 5; i++)
                release(conns[FAKE_SLOTS + i]); /* 3 are lent */
        for (int i = 0; i < 3; i++) {
                next = borrow(client, "a");
                CHECK(next == conns[0]);
        }
        next = borrow(client, "a");
        CHECK(next == conns[FAKE_SLOTS]);
        for (int i = 0; i < FAKE_SLOTS; i++)
                release(conns[0]);
        for (int i = 0; i < 4; i++)
                release(conns[FAKE_SLOTS]);
}

SLOTS_TEST(connection_that_drains_ends_with_its_last_slot, NULL)
{
        struct ed_http_conn *first = borrow(client, "a"), *second = borrow(client, "a"), *other;

        CHECK(first == second);
        ed_http_conn_drain(first);
        other = borrow(client, "a");
        CHECK(other != first);
        release(first);
        CHECK_EQ(fake.closed, 0);
        release(second);
        CHECK_EQ(fake.closed, 1);
        release(other);
        CHECK_STATS(client, 1, 1, 0);
        ed_http_conn_drain(other);
        CHECK_EQ(fake.closed, 2);
        CHECK_STATS(client, 0, 0, 0);
}

/* B8: The end of an exchange leaves the others of its connection alone. */
SLOTS_TEST(slot_that_is_not_reusable_closes_the_stream_of_no_other, NULL)
{
        struct ed_http_conn *first = borrow(client, "a"), *second = borrow(client, "a");

        ed_http_pool_release(first, false);
        CHECK_EQ(fake.closed, 0);
        CHECK(second->stream != NULL);
        release(second);
        CHECK_EQ(fake.closed, 1);
        CHECK_STATS(client, 0, 0, 0);
}

SLOTS_TEST(repetition_gets_the_place_only_of_a_connection_of_its_own, NULL)
{
        struct ed_http_conn *first = borrow(client, "a"), *second = borrow(client, "a");

        CHECK(!ed_http_conn_renew(first));
        CHECK(second->stream != NULL);
        CHECK(ed_http_conn_renew(second));
        CHECK(second->stream == NULL);
        CHECK_EQ(fake.closed, 1);
        CHECK_EQ(ed_http_conn_open(&second, NULL), 0);
        CHECK_EQ(fake.openings, 2);
        release(second);
}

SLOTS_TEST(waiters_get_slots_that_the_peer_adds, OPTIONS(.connections_max = 1))
{
        struct ed_http_conn *conn = borrow(client, "a");
        eddy_scope scope;

        ed_http_conn_set_slots(conn, 1);
        eddy_scope_begin(&scope, NULL);
        start(&scope, 10);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_STATS(client, 1, 0, 10);
        group.hold_ns = EDDY_SEC(1);
        ed_http_conn_set_slots(conn, 4);
        CHECK_STATS(client, 1, 0, 7);
        CHECK_EQ(conn->lent, 4);
        ed_http_conn_set_slots(conn, 0);
        http_pause(EDDY_SEC(2));
        CHECK_EQ(conn->lent, 1);
        CHECK_STATS(client, 1, 0, 7);
        ed_http_conn_set_slots(conn, UINT32_MAX);
        CHECK_EQ(conn->slots, ED_HTTP_SLOTS_MAX);
        CHECK_STATS(client, 1, 0, 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(group.served, 10);
        release(conn);
}

SLOTS_TEST(connection_without_slots_is_not_kept, NULL)
{
        struct ed_http_conn *conn = borrow(client, "a");

        ed_http_conn_set_slots(conn, 0);
        release(conn);
        CHECK_EQ(fake.closed, 1);
        conn = borrow(client, "a");
        release(conn);
        CHECK_STATS(client, 1, 1, 0);
        ed_http_conn_set_slots(conn, 0);
        CHECK_STATS(client, 0, 0, 0);
}

/* ---- fairness --------------------------------------------------------------- */

static int ask_other(void *arg)
{
        struct ed_http_conn *conn;

        CHECK_EQ(fake_borrow(group.client, "other", false, &conn), 0);
        *(int64_t *) arg = eddy_now();
        release(conn);
        return 0;
}

/* Requests of one origin overlap, so its connection never comes back as a whole by itself. */
SLOTS_TEST(origin_whose_requests_overlap_starves_no_other, OPTIONS(.connections_max = 1))
{
        struct ed_http_conn *conn = borrow(client, "a");
        int64_t served_ns = 0;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, ask_other, &served_ns), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_STATS(client, 1, 0, 1);
        for (int i = 0; i < ED_HTTP_HANDOVERS_MAX * FAKE_SLOTS; i++) {
                struct ed_http_conn *next = borrow(client, "a");

                CHECK(next == conn);
                release(conn);
                conn = next;
        }
        start(&scope, 1);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_STATS(client, 1, 0, 2);
        release(conn);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(served_ns > 0 && served_ns <= group.last_ns);
        CHECK_EQ(group.served, 1);
}

/* ---- idle connections --------------------------------------------------------- */

/* B1: Also with connections of many slots. */
SLOTS_TEST(idle_connections_are_at_most_the_given_number, OPTIONS(.idle_max = 3))
{
        struct ed_http_conn *conns[5];

        for (int i = 0; i < 5; i++) {
                char host[2] = { (char) ('a' + i), '\0' };

                conns[i] = borrow(client, host);
        }
        CHECK_STATS(client, 5, 0, 0);
        for (int i = 0; i < 5; i++)
                release(conns[i]);
        CHECK_STATS(client, 3, 3, 0);
        CHECK_EQ(fake.closed, 2);
        /* The ones that were used last are kept. */
        CHECK(borrow(client, "e") == conns[4]);
        CHECK_EQ(fake.openings, 5);
        release(conns[4]);
}

/* ---- waiting for ALPN --------------------------------------------------------- */

static void burst(eddy_scope *scope, int n, bool is_https)
{
        group.is_https = is_https;
        eddy_scope_begin(scope, NULL);
        start(scope, n);
        http_pause(EDDY_MS(1));
}

SLOTS_TEST(burst_to_an_unknown_origin_opens_one_connection, NULL)
{
        eddy_scope scope;

        fake.opening_ns = EDDY_MS(10);
        group.hold_ns = EDDY_MS(100);
        burst(&scope, 3 * FAKE_SLOTS, true);
        http_pause(EDDY_MS(5));
        CHECK_EQ(fake.openings, 1);
        http_pause(EDDY_MS(10));
        CHECK_EQ(group.served, FAKE_SLOTS);
        /* The rest knows the number of slots. */
        CHECK_EQ(fake.openings, 3);
        CHECK_EQ(client->pool.open, 1 + 2 * FAKE_SLOTS);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(group.served, 3 * FAKE_SLOTS);
        CHECK_EQ(fake.openings, 3);
        CHECK_STATS(client, 3, 3, 0);
}

SLOTS_TEST(burst_waits_for_a_slow_handshake_at_most_a_second, NULL)
{
        int64_t before = eddy_now();
        eddy_scope scope;

        fake.opening_ns = EDDY_SEC(5);
        burst(&scope, 20, true);
        http_pause(ED_HTTP_OPENING_LENT_NS - EDDY_MS(2));
        CHECK_EQ(fake.openings, 1);
        http_pause(EDDY_MS(2));
        CHECK_EQ(fake.openings, 20);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(group.served, 20);
        CHECK(eddy_now() - before <= EDDY_SEC(5) + ED_HTTP_OPENING_LENT_NS);
}

SLOTS_TEST(burst_opens_at_once_when_connections_have_one_slot, NULL)
{
        struct ed_http_conn *conn;
        eddy_scope scope;

        fake.is_single = true;
        fake.opening_ns = EDDY_MS(10);
        group.hold_ns = EDDY_MS(100);
        burst(&scope, 20, true);
        CHECK_EQ(fake.openings, 1);
        http_pause(EDDY_MS(10));
        CHECK_EQ(fake.openings, 20);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_STATS(client, 20, 20, 0);
        CHECK_EQ(fake_borrow(client, "a", true, &conn), 0);
        /* The origin is known. */
        for (int i = 0; i < 19; i++)
                ed_http_conn_drain(
                        ed_container_of(client->pool.idle.next, struct ed_http_conn, link));
        burst(&scope, 20, true);
        CHECK_EQ(fake.openings, 40);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        release(conn);
}

SLOTS_TEST(burst_of_http_does_not_wait, NULL)
{
        eddy_scope scope;

        fake.opening_ns = EDDY_MS(10);
        burst(&scope, 20, false);
        CHECK_EQ(fake.openings, 20);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(group.served, 20);
}

SLOTS_TEST(client_that_offers_only_one_slot_does_not_wait, NULL)
{
        eddy_scope scope;

        client->protocols.offered[0] = client->protocols.offered[1];
        client->protocols.offered[1] = NULL;
        fake.is_single = true;
        fake.opening_ns = EDDY_MS(10);
        burst(&scope, 20, true);
        CHECK_EQ(fake.openings, 20);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

SLOTS_TEST(burst_after_a_failed_opening_does_not_wait_again, NULL)
{
        int64_t before = eddy_now();
        eddy_scope scope;

        fake.opening_ns = EDDY_MS(10);
        fake.error = -ECONNREFUSED;
        burst(&scope, 20, true);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(group.failed, 20);
        CHECK_ERR(group.err, -ECONNREFUSED);
        CHECK_EQ(fake.openings, 20);
        CHECK(eddy_now() - before <= EDDY_MS(20));
}

SLOTS_TEST(those_that_wait_for_an_opening_are_cancelled_one_by_one, NULL)
{
        eddy_task *first;
        eddy_scope scope, others;

        fake.opening_ns = EDDY_MS(10);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, borrower_run, NULL, NULL, &first), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        burst(&others, 0, true);
        start(&others, 3);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_scope_cancel(&others);
        CHECK_EQ(eddy_scope_end(&others), 0);
        CHECK_EQ(group.failed, 3);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(group.served, 1);
        eddy_task_release(first);
        CHECK_STATS(client, 1, 1, 0);
}

/* The opening goes to the next of those that wait for it, whose own place is given back. */
SLOTS_TEST(opening_of_a_cancelled_borrower_goes_to_one_that_waits_for_it, NULL)
{
        eddy_task *first;
        eddy_scope scope;

        group.is_https = true;
        fake.opening_ns = EDDY_MS(10);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, borrower_run, NULL, NULL, &first), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        start(&scope, 2);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(client->pool.open, 3);
        eddy_task_cancel(first);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(client->pool.open, 2);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(group.failed, 1);
        CHECK_EQ(group.served, 2);
        CHECK_EQ(fake.openings, 1);
        eddy_task_release(first);
}

SLOTS_TEST(slot_that_comes_back_goes_to_one_that_waits_for_an_opening, NULL)
{
        struct ed_http_conn *conn;
        eddy_scope scope;

        for (int i = 0; i < FAKE_SLOTS; i++)
                CHECK_EQ(fake_borrow(client, "a", true, &conn), 0);
        fake.opening_ns = EDDY_MS(30);
        burst(&scope, 2, true);
        CHECK_EQ(fake.openings, 2);
        CHECK_EQ(client->pool.open, 3);
        release(conn);
        http_pause(EDDY_MS(1));
        CHECK_EQ(group.served, 1);
        CHECK_EQ(client->pool.open, 2);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(group.served, 2);
        for (int i = 1; i < FAKE_SLOTS; i++)
                release(conn);
}

SLOTS_TEST(close_wakes_those_that_wait_for_an_opening, NULL)
{
        eddy_scope scope;

        fake.opening_ns = EDDY_MS(10);
        burst(&scope, 20, true);
        ed_http_pool_close(&client->pool);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(group.failed, 20);
        CHECK_ERR(group.err, EDDY_E_HTTP_CLIENT_CLOSED);
}

/* The connection ends after its slot was granted, and before the borrower runs. */
SLOTS_TEST(slot_of_a_connection_that_has_ended_is_replaced, OPTIONS(.connections_max = 1))
{
        struct ed_http_conn *conn = borrow(client, "a"), *second = borrow(client, "a");
        eddy_scope scope;

        ed_http_conn_set_slots(conn, 2);
        eddy_scope_begin(&scope, NULL);
        start(&scope, 2);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_STATS(client, 1, 0, 2);
        release(second); /* to a waiter */
        CHECK_STATS(client, 1, 0, 1);
        ed_http_conn_drain(conn);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(group.served, 0);
        CHECK_STATS(client, 1, 0, 2);
        release(conn);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(group.served, 2);
        CHECK_EQ(fake.openings, 2);
}

/* ---- sweeps -------------------------------------------------------------------- */

/* A borrower of a sweep; some change the connection. */
static int swept_run(void *arg)
{
        int number = *(const int *) arg;
        struct ed_http_conn *conn;
        int err;

        err = fake_borrow(group.client, number % 4 == 3 ? "other" : "a", true, &conn);
        if (err < 0)
                return err;
        if (number == 2)
                ed_http_conn_set_slots(conn, 3);
        if (number == 4)
                ed_http_conn_drain(conn);
        err = eddy_sleep(EDDY_MS(1));
        if (number == 6)
                ed_http_conn_set_slots(conn, FAKE_SLOTS);
        ed_http_pool_release(conn, number != 8);
        return err;
}

static int swept_main(void *arg)
{
        eddy_http_client *client;
        eddy_scope scope;
        int err;

        (void) arg;
        err = fake_client_new(OPTIONS(.connections_max = 4, .per_host_max = 3), &client);
        if (err < 0)
                return err;
        fake.opening_ns = EDDY_MS(3);
        group.client = client;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 14; i++)
                (void) eddy_scope_start_copy(&scope, swept_run, &i, sizeof(i));
        err = eddy_scope_end(&scope);
        CHECK_EQ(client->pool.in_use, 0);
        CHECK_EQ(client->pool.waiting, 0);
        CHECK(client->pool.open <= 4);
        eddy_http_client_close(client);
        return err;
}

/* R1, R17 */
TEST(faults_cancels_and_orders_lose_no_slot)
{
        static const int sweeps[] = { EDDY_TEST_SEEDS, EDDY_TEST_CANCEL, EDDY_TEST_CANCEL_TASK,
                                      EDDY_TEST_ALLOC, EDDY_TEST_ALLOC_FOREVER };
        struct eddy_test_sweep figures;

        for (size_t i = 0; i < sizeof(sweeps) / sizeof(sweeps[0]); i++) {
                CHECK_EQ(eddy_test_sweep(sweeps[i], swept_main, NULL, NULL, &figures), 0);
                CHECK(figures.tried > 0);
                printf("# %llu of %llu points\n", (unsigned long long) figures.tried,
                       (unsigned long long) figures.count);
        }
}
