/*
 * test_pool.c - the client's connections: how many there may be, who gets
 * one, which are used again and which never.
 */
#include "http_test.h"

/* ---- fetching side by side ------------------------------------------------- */

enum { FETCHES_MAX = 101 };

static struct {
        struct rig *rig;
        int started; /* on_start was called */
        int order[FETCHES_MAX];
        int done;
} side;

struct fetch {
        int number;
        const char *base; /* NULL: the rig's */
        const char *path;
        int result;
};

static void count_start(const struct eddy_http_attempt *attempt, void *arg)
{
        (void) attempt;
        (void) arg;
        side.started++;
}

static const struct eddy_http_hooks count_hooks = { .on_start = count_start };

static int fetch_run(void *arg)
{
        struct fetch *fetch = arg;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .hooks = &count_hooks };
        char url[200];

        snprintf(url, sizeof(url), "%s%s", fetch->base ? fetch->base : side.rig->url,
                 fetch->path ? fetch->path : "/");
        request.url = url;
        fetch->result = eddy_http_client_send(side.rig->client, &request, &response);
        if (fetch->result == 0)
                fetch->result = eddy_http_response_discard(response);
        side.order[side.done++] = fetch->number;
        return 0;
}

static void side_begin(struct rig *rig)
{
        memset(&side, 0, sizeof(side));
        side.rig = rig;
}

static void start(eddy_scope *scope, struct fetch *fetches, int n)
{
        for (int i = 0; i < n; i++) {
                fetches[i].number = i;
                CHECK_EQ(eddy_scope_start(scope, fetch_run, &fetches[i]), 0);
        }
}

#define SLOW_OK SCRIPT("?", ".", "<" OK_2, "?", ".", "<" OK_2, "?")

/* ---- limits ---------------------------------------------------------------- */

/* B1: never more connections than the limit, connecting ones included. */
CLIENT_TEST(limit_of_all_connections_holds, OPTIONS(.connections_max = 2), SLOW_OK)
{
        struct fetch fetches[4] = { 0 };
        eddy_scope scope;

        side_begin(rig);
        eddy_scope_begin(&scope, NULL);
        start(&scope, fetches, 4);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_STATS(rig->client, 2, 0, 2);
        http_pause(EDDY_MS(500));
        CHECK_STATS(rig->client, 2, 0, 2);
        CHECK_EQ(side.started, 2);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(side.started, 4);
        CHECK_EQ(rig->peer.accepted, 2);
        for (int i = 0; i < 4; i++)
                CHECK_EQ(fetches[i].result, 0);
        CHECK_STATS(rig->client, 2, 2, 0);
}

/* B1: the limit for one host holds beside that of all. */
CLIENT_TEST(limit_per_host_holds, OPTIONS(.connections_max = 5, .per_host_max = 1), SLOW_OK)
{
        struct fetch fetches[2] = { 0 };
        eddy_scope scope;

        side_begin(rig);
        eddy_scope_begin(&scope, NULL);
        start(&scope, fetches, 2);
        http_pause(EDDY_MS(500));
        CHECK_STATS(rig->client, 1, 0, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(rig->peer.accepted, 1);
        CHECK_STATS(rig->client, 1, 1, 0);
}

/* B1, B18: The limit counts idle connections only. */
CLIENT_TEST(limit_of_idle_connections_holds, OPTIONS(.idle_max = 20), SLOW_OK)
{
        static struct fetch fetches[100];
        eddy_scope scope;

        side_begin(rig);
        eddy_scope_begin(&scope, NULL);
        start(&scope, fetches, 100);
        http_pause(EDDY_MS(500));
        CHECK_STATS(rig->client, 100, 0, 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(side.done, 100);
        CHECK_STATS(rig->client, 20, 20, 0);
}

/* B1: The numbers by default. */
CLIENT_TEST(by_default_a_hundred_connections_are_open_and_idle_ones_are_kept_for_15_s, NULL,
            SLOW_OK)
{
        static struct fetch fetches[101];
        eddy_scope scope;

        side_begin(rig);
        eddy_scope_begin(&scope, NULL);
        start(&scope, fetches, 101);
        http_pause(EDDY_MS(500));
        CHECK_STATS(rig->client, 100, 0, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0); /* at 2 s; all but one are idle since 1 s */
        CHECK_STATS(rig->client, 100, 100, 0);
        http_pause(EDDY_MS(13900));
        CHECK_STATS(rig->client, 100, 100, 0);
        http_pause(EDDY_MS(200));
        CHECK_STATS(rig->client, 1, 1, 0);
        http_pause(EDDY_SEC(1));
        CHECK_STATS(rig->client, 0, 0, 0);
}

/* ---- the key --------------------------------------------------------------- */

/* B2: a connection is used again for the same host and port only. */
CLIENT_TEST(connections_are_not_shared_between_ports_or_hosts, NULL, SCRIPT(OK_2, OK_2, OK_2))
{
        struct peer other;
        eddy_scope scope;
        struct fetch fetch = { 0 };
        char url[64];

        side_begin(rig);
        eddy_scope_begin(&scope, NULL);
        peer_start(&other, &scope, rig->peer.scripts, 1);
        snprintf(url, sizeof(url), "http://127.0.0.1:%u", eddy_listener_port(other.listener));
        fetch.base = url;
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(fetch_run(&fetch), 0);
        CHECK_EQ(fetch.result, 0);
        CHECK_STATS(rig->client, 2, 2, 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig->peer.accepted, 1);
        CHECK_EQ(other.accepted, 1);
        /* The same address by another name is another origin. */
        snprintf(url, sizeof(url), "http://localhost:%u", eddy_listener_port(rig->peer.listener));
        CHECK_EQ(fetch_run(&fetch), 0);
        if (fetch.result == 0)
                CHECK_EQ(rig->peer.accepted, 2);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        peer_stop(&other);
}

/* B6: an exchange that is provably over leaves a connection for the next. */
CLIENT_TEST_BOTH(connection_is_used_again, NULL, SCRIPT(OK_2, OK_CHUNKED, OK_2))
{
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(rig_get(rig, "/"), 0);
                CHECK_STR(rig->body, "ok");
                CHECK_STATS(rig->client, 1, 1, 0);
        }
        CHECK_EQ(rig->peer.accepted, 1);
        CHECK_EQ(rig->peer.requests, 3);
}

/* ---- slots are given back -------------------------------------------------- */

/* B3: a connection that fails to connect gives its slot back. */
CLIENT_TEST(refused_connection_gives_its_slot_back, OPTIONS(.connections_max = 1), SCRIPT(OK_2))
{
        struct fetch fetch = { .base = "http://127.0.0.1:1" };

        side_begin(rig);
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(fetch_run(&fetch), 0);
                CHECK_ERR(fetch.result, -ECONNREFUSED);
                CHECK_STATS(rig->client, 0, 0, 0);
        }
        CHECK_EQ(rig_get(rig, "/"), 0);
}

/* B4, B18: waiters of one origin are served in the order they came, one for each slot. */
CLIENT_TEST(waiters_are_served_in_order, OPTIONS(.per_host_max = 1),
            SCRIPT(OK_2, OK_2, OK_2, OK_2, OK_2, OK_2))
{
        struct fetch fetches[6] = { 0 };
        eddy_scope scope;

        side_begin(rig);
        eddy_scope_begin(&scope, NULL);
        start(&scope, fetches, 6);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(side.done, 6);
        for (int i = 0; i < 6; i++)
                CHECK_EQ(side.order[i], i);
        CHECK_EQ(rig->peer.accepted, 1);
}

/* B4: an origin at its own limit keeps no other origin from its connections. */
CLIENT_TEST(origin_at_its_limit_blocks_no_other, OPTIONS(.connections_max = 2, .per_host_max = 1),
            SLOW_OK)
{
        static const struct script quick[] = { SCRIPT(OK_2, OK_2) };
        struct fetch fetches[2] = { 0 }, quick_fetch = { .number = 9 };
        struct peer other;
        eddy_scope scope;
        char url[64];

        side_begin(rig);
        eddy_scope_begin(&scope, NULL);
        peer_start(&other, &scope, quick, 1);
        snprintf(url, sizeof(url), "http://127.0.0.1:%u", eddy_listener_port(other.listener));
        quick_fetch.base = url;
        start(&scope, fetches, 2);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_STATS(rig->client, 1, 0, 1);
        CHECK_EQ(fetch_run(&quick_fetch), 0);
        CHECK_EQ(quick_fetch.result, 0);
        CHECK_EQ(side.order[0], 9); /* before both of the others */
        http_pause(EDDY_SEC(5));
        CHECK_EQ(side.done, 3);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        peer_stop(&other);
}

/* B4: an idle connection to one origin makes room for another. */
CLIENT_TEST(idle_connection_makes_room_for_another_origin, OPTIONS(.connections_max = 1),
            SCRIPT(OK_2, OK_2))
{
        struct fetch fetch = { 0 };
        struct peer other;
        eddy_scope scope;
        char url[64];

        side_begin(rig);
        eddy_scope_begin(&scope, NULL);
        peer_start(&other, &scope, rig->peer.scripts, 1);
        snprintf(url, sizeof(url), "http://127.0.0.1:%u", eddy_listener_port(other.listener));
        fetch.base = url;
        for (int i = 1; i <= 3; i++) {
                CHECK_EQ(rig_get(rig, "/"), 0);
                CHECK_EQ(fetch_run(&fetch), 0);
                CHECK_EQ(fetch.result, 0);
                CHECK_STATS(rig->client, 1, 1, 0);
                CHECK_EQ(rig->peer.accepted, i);
                CHECK_EQ(other.accepted, i);
        }
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        peer_stop(&other);
}

/* B4: a busy origin does not starve the waiter of another. */
CLIENT_TEST(busy_origin_starves_no_other, OPTIONS(.connections_max = 1),
            SCRIPT(OK_2, OK_2, OK_2, OK_2, OK_2, OK_2, OK_2, OK_2, OK_2, OK_2, OK_2))
{
        struct fetch fetches[11] = { 0 };
        struct peer other;
        eddy_scope scope;
        char url[64];
        int at = 0;

        side_begin(rig);
        eddy_scope_begin(&scope, NULL);
        peer_start(&other, &scope, rig->peer.scripts, 1);
        snprintf(url, sizeof(url), "http://127.0.0.1:%u", eddy_listener_port(other.listener));
        fetches[1].base = url;
        start(&scope, fetches, 11);
        while (side.done < 11)
                http_pause(EDDY_SEC(1));
        while (side.order[at] != 1)
                at++;
        CHECK_EQ(at, 9); /* the others do not need a new connection each time either */
        CHECK_STATS(rig->client, 1, 1, 0);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        peer_stop(&other);
}

/* ---- cancelling ------------------------------------------------------------ */

/* B4: a waiter that is cancelled leaves the line, and the next is served. */
CLIENT_TEST(cancelled_waiter_leaves_the_line, OPTIONS(.connections_max = 1), SLOW_OK)
{
        struct fetch fetches[3] = { 0 };
        eddy_task *waiter;
        eddy_scope scope;

        side_begin(rig);
        eddy_scope_begin(&scope, NULL);
        start(&scope, fetches, 1);
        fetches[1].number = 1;
        CHECK_EQ(eddy_scope_start_task(&scope, fetch_run, &fetches[1], NULL, &waiter), 0);
        CHECK_EQ(eddy_scope_start(&scope, fetch_run, &fetches[2]), 0);
        http_pause(EDDY_MS(1));
        CHECK_STATS(rig->client, 1, 0, 2);
        eddy_task_cancel(waiter);
        CHECK_EQ(eddy_task_join(waiter, NULL), 0);
        CHECK_STATS(rig->client, 1, 0, 1);
        CHECK_ERR(fetches[1].result, -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(fetches[2].result, 0);
        eddy_task_release(waiter);
        CHECK_STATS(rig->client, 1, 1, 0);
}

/*
 * B4: a waiter that was given a slot and is cancelled before it runs passes
 * the slot on, be it connected or not.
 */
static void check_pass_on(struct rig *rig, bool reusable)
{
        struct fetch fetches[2] = { { .number = 0 }, { .number = 1 } };
        eddy_http_response *response;
        eddy_task *woken;
        eddy_scope scope;
        int64_t n;
        char buf[8];

        side_begin(rig);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
        CHECK_STATS(rig->client, 1, 0, 0);
        CHECK_EQ(eddy_scope_start_task(&scope, fetch_run, &fetches[0], NULL, &woken), 0);
        CHECK_EQ(eddy_scope_start(&scope, fetch_run, &fetches[1]), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_STATS(rig->client, 1, 0, 2);
        if (reusable) {
                while ((n = eddy_http_response_read(response, buf, sizeof(buf))) > 0)
                        continue;
                CHECK_EQ(n, 0);
        }
        eddy_http_response_close(response);
        CHECK_STATS(rig->client, 1, 0, 1); /* given to the first */
        eddy_task_cancel(woken);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_ERR(fetches[0].result, -ECANCELED);
        CHECK_EQ(fetches[1].result, 0);
        CHECK_EQ(side.started, 1);
        CHECK_EQ(rig->peer.accepted, reusable ? 1 : 2);
        CHECK_STATS(rig->client, 1, 1, 0);
        eddy_task_release(woken);
}

#define CHUNKED_IN_TWO "?", "<HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "+0\r\n\r\n"

CLIENT_TEST(connected_slot_of_a_woken_and_cancelled_waiter_goes_on, OPTIONS(.connections_max = 1),
            SCRIPT(CHUNKED_IN_TWO, OK_2))
{
        check_pass_on(rig, true);
}

CLIENT_TEST(bare_slot_of_a_woken_and_cancelled_waiter_goes_on, OPTIONS(.connections_max = 1),
            SCRIPT(CHUNKED_IN_TWO), SCRIPT(OK_2))
{
        check_pass_on(rig, false);
}

/* B3, B5: cancelled while connecting, the slot is given back. */
CLIENT_TEST(cancel_while_connecting_gives_the_slot_back, OPTIONS(.connections_max = 1),
            SCRIPT(OK_2, OK_2))
{
        struct fetch fetches[2] = { { .number = 0 }, { .number = 1 } };
        eddy_task *connecting;
        eddy_scope scope;

        side_begin(rig);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, fetch_run, &fetches[0], NULL, &connecting), 0);
        CHECK_EQ(eddy_scope_start(&scope, fetch_run, &fetches[1]), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_STATS(rig->client, 1, 0, 1);
        eddy_task_cancel(connecting);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_ERR(fetches[0].result, -ECANCELED);
        CHECK_EQ(fetches[1].result, 0);
        CHECK_EQ(side.started, 2);
        CHECK_STATS(rig->client, 1, 1, 0);
        eddy_task_release(connecting);
}

/* ---- what is used again, and what not -------------------------------------- */

/* B6: not when either side says that the connection closes. */
CLIENT_TEST(connection_that_says_close_is_closed, NULL, SCRIPT(OK_2_CLOSE), SCRIPT(OK_2, OK_2))
{
        struct eddy_http_header close_header = { "connection", "x, Close" };

        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_STATS(rig->client, 0, 0, 0);
        CHECK_EQ(rig_fetch(rig, &(struct eddy_http_request){ .url = "/",
                                                             .headers = &close_header,
                                                             .headers_count = 1 }),
                 0);
        CHECK_STATS(rig->client, 0, 0, 0);
        CHECK_EQ(rig->peer.accepted, 2);
}

/* B6: HTTP/1.0 closes unless it says that it does not. */
CLIENT_TEST(http_1_0_closes_unless_it_says_keep_alive, NULL,
            SCRIPT("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"),
            SCRIPT("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"))
{
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_STATS(rig->client, 0, 0, 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_STATS(rig->client, 1, 1, 0);
}

/* B6: a body that was not read to its end closes the connection. */
CLIENT_TEST(unread_body_closes_the_connection, NULL,
            SCRIPT("?", "<HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"), SCRIPT(OK_2))
{
        eddy_http_response *response;

        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
        CHECK_STATS(rig->client, 1, 0, 0);
        eddy_http_response_close(response);
        CHECK_STATS(rig->client, 0, 0, 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_STR(rig->body, "ok");
}

/* A response that is not read holds its connection: the next waits as long as its scope lets it. */
CLIENT_TEST(unread_response_holds_up_the_next_until_its_deadline, OPTIONS(.connections_max = 1),
            SCRIPT("?", "<HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"), SCRIPT(OK_2))
{
        eddy_http_response *kept, *next = NULL;
        eddy_scope scope;

        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &kept), 0);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(3) });
        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &next), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        CHECK(next == NULL);
        eddy_http_response_close(kept);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig->peer.accepted, 2);
}

/* B6: what was read with the head counts as read, asked for or not. */
CLIENT_TEST(body_that_came_with_the_head_keeps_the_connection, NULL, SCRIPT(OK_2, OK_CHUNKED, OK_2))
{
        eddy_http_response *response;

        for (int i = 0; i < 3; i++) {
                CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
                eddy_http_response_close(response);
                CHECK_STATS(rig->client, 1, 1, 0);
        }
        CHECK_EQ(rig->peer.accepted, 1);
}

/* B6, B40: bytes behind the response close the connection; the next request is fine. */
CLIENT_TEST_BOTH(bytes_after_a_response_close_the_connection, NULL,
                 SCRIPT(OK_2 "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"),
                 SCRIPT(OK_CHUNKED "x"), SCRIPT("HTTP/1.1 204 No Content\r\n\r\nevil"),
                 SCRIPT(OK_2_CLOSE "evil"), SCRIPT(OK_2))
{
        for (int i = 0; i < 5; i++) {
                CHECK_EQ(rig_get(rig, "/"), 0);
                CHECK_STR(rig->body, i == 2 ? "" : "ok");
                CHECK_STATS(rig->client, i == 4, i == 4, 0);
        }
        CHECK_EQ(rig->peer.accepted, 5);
}

/* B7: a deadline in the middle of a response's head closes the connection. */
CLIENT_TEST(deadline_inside_a_head_closes_the_connection, NULL,
            SCRIPT("?", "<HTTP/1.1 200 OK\r\nContent-"), SCRIPT(OK_2))
{
        struct fetch fetch = { 0 };
        int64_t before = eddy_now();

        side_begin(rig);
        CHECK_EQ(eddy_call_timeout(fetch_run, &fetch, EDDY_SEC(2)), 0);
        CHECK_ERR(fetch.result, -ECANCELED);
        CHECK_EQ(eddy_now() - before, EDDY_SEC(2));
        CHECK_STATS(rig->client, 0, 0, 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_STR(rig->body, "ok");
}

/* B7: and so does one in the middle of a body. */
CLIENT_TEST(deadline_inside_a_body_closes_the_connection, NULL,
            SCRIPT("?", "<HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", ".", ".", "<1234567"),
            SCRIPT(OK_2))
{
        struct fetch fetch = { 0 };

        side_begin(rig);
        CHECK_EQ(eddy_call_timeout(fetch_run, &fetch, EDDY_SEC(1)), 0);
        CHECK_ERR(fetch.result, -ECANCELED);
        CHECK_STATS(rig->client, 0, 0, 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_STR(rig->body, "ok");
}

/* ---- lying idle ------------------------------------------------------------ */

/* B9: an idle connection is closed when its time is over, and not before. */
CLIENT_TEST(idle_connection_expires, OPTIONS(.idle_timeout_ns = EDDY_SEC(3)), SCRIPT(OK_2, OK_2))
{
        CHECK_EQ(rig_get(rig, "/"), 0);
        http_pause(EDDY_MS(2999));
        CHECK_STATS(rig->client, 1, 1, 0);
        http_pause(EDDY_MS(2));
        CHECK_STATS(rig->client, 0, 0, 0);
        http_pause(EDDY_MS(1));
        CHECK_EQ(rig->peer.open, 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig->peer.accepted, 2);
}

/* B9: each by its own time. */
CLIENT_TEST(idle_connections_expire_each_in_its_time, OPTIONS(.idle_timeout_ns = EDDY_SEC(3)),
            SCRIPT("?", ".", "<" OK_2, OK_2), SCRIPT("?", ".", ".", "<" OK_2))
{
        struct fetch fetches[2] = { 0 };
        eddy_scope scope;

        side_begin(rig);
        eddy_scope_begin(&scope, NULL);
        start(&scope, fetches, 2);
        CHECK_EQ(eddy_scope_end(&scope), 0); /* at 2 s */
        CHECK_STATS(rig->client, 2, 2, 0);
        http_pause(EDDY_MS(2100));
        CHECK_STATS(rig->client, 1, 1, 0);
        http_pause(EDDY_SEC(1));
        CHECK_STATS(rig->client, 0, 0, 0);
}

/* B9: the peer closes an idle connection: it is gone before anybody takes it. */
CLIENT_TEST_BOTH(idle_connection_that_the_peer_closes_is_dropped, NULL, SCRIPT(OK_2, "+", "~"),
                 SCRIPT(OK_2, "+", "!"), SCRIPT(OK_2))
{
        for (int i = 0; i < 2; i++) {
                CHECK_EQ(rig_get(rig, "/"), 0);
                CHECK_STATS(rig->client, 1, 1, 0);
                http_pause(EDDY_MS(100));
                CHECK_STATS(rig->client, 0, 0, 0);
        }
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig->peer.accepted, 3);
        CHECK_EQ(rig->peer.requests, 3);
}

/* B9: bytes on an idle connection are no answer to the next request. */
CLIENT_TEST_BOTH(bytes_on_an_idle_connection_drop_it, NULL,
                 SCRIPT(OK_2, "+HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"), SCRIPT(OK_2))
{
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_STATS(rig->client, 1, 1, 0);
        http_pause(EDDY_MS(100));
        CHECK_STATS(rig->client, 0, 0, 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_STR(rig->body, "ok");
        CHECK_EQ(rig->peer.accepted, 2);
}

/* B9: the time of an idle connection does not run while it is in use. */
CLIENT_TEST(connection_in_use_does_not_expire, OPTIONS(.idle_timeout_ns = EDDY_SEC(2)),
            SCRIPT(OK_2, "?", ".", ".", ".", "<" OK_2, OK_2))
{
        CHECK_EQ(rig_get(rig, "/"), 0);
        http_pause(EDDY_SEC(1));
        CHECK_EQ(rig_get(rig, "/"), 0); /* takes 3 s */
        CHECK_STATS(rig->client, 1, 1, 0);
        http_pause(EDDY_MS(1500));
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig->peer.accepted, 1);
}

#define KEEPS(parameters)                                                                          \
        "HTTP/1.1 200 OK\r\nKeep-Alive: " parameters "\r\nContent-Length: 2\r\n\r\nok"

/* The server closes its idle connections after 5 s: none is used in the last second. */
CLIENT_TEST(connection_is_not_used_in_the_last_second_that_the_server_keeps_it, NULL,
            SCRIPT(KEEPS("max=100, Timeout=5"), KEEPS("timeout=5"), OK_2), SCRIPT(OK_2))
{
        CHECK_EQ(rig_get(rig, "/"), 0);
        http_pause(EDDY_MS(3999));
        CHECK_EQ(rig_get(rig, "/"), 0);
        http_pause(EDDY_MS(3999));
        CHECK_EQ(rig_get(rig, "/"), 0);
        /* The time is that of the connection, also after a response without the field. */
        CHECK_EQ(rig->peer.accepted, 1);
        http_pause(EDDY_SEC(4));
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig->peer.accepted, 2);
        http_pause(EDDY_SEC(14));
        CHECK_STATS(rig->client, 1, 1, 0);
}

CLIENT_TEST(connection_that_the_server_keeps_for_a_second_is_not_kept, NULL,
            SCRIPT(KEEPS("timeout=1")), SCRIPT(KEEPS("timeout=0")), SCRIPT(KEEPS("timeout=2")))
{
        for (int i = 0; i < 2; i++) {
                CHECK_EQ(rig_get(rig, "/"), 0);
                CHECK_STATS(rig->client, 0, 0, 0);
        }
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_STATS(rig->client, 1, 1, 0);
        CHECK_EQ(rig->peer.accepted, 3);
}

/* The client's own time is shorter, or the server's is not a number. */
CLIENT_TEST(own_time_of_idle_connections_holds_too, OPTIONS(.idle_timeout_ns = EDDY_SEC(3)),
            SCRIPT(KEEPS("timeout=60")),
            SCRIPT(KEEPS("timeout=0x1, timeout=, timeout, timeout=-1, max=1"), OK_2))
{
        CHECK_EQ(rig_get(rig, "/"), 0);
        http_pause(EDDY_MS(3001));
        CHECK_STATS(rig->client, 0, 0, 0);
        for (int i = 0; i < 2; i++) {
                CHECK_EQ(rig_get(rig, "/"), 0);
                http_pause(EDDY_MS(2999));
                CHECK_STATS(rig->client, 1, 1, 0);
        }
        CHECK_EQ(rig->peer.accepted, 2);
}

/* ---- the connection that was closed as we sent ------------------------------ */

/* A first exchange, and one whose connection the server closes or resets. */
static void fetch_stale(struct rig *rig, const char *method, int error)
{
        struct eddy_http_request request = { .url = "/", .method = method, .hooks = &count_hooks };

        side_begin(rig);
        CHECK_EQ(rig_get(rig, "/"), 0);
        if (error == 0)
                CHECK_EQ(rig_fetch(rig, &request), 0);
        else
                CHECK_ERR(rig_fetch(rig, &request), error);
        CHECK_EQ(side.started, 1);
}

#define STALE_TEST(method, ...)                                                                    \
        CLIENT_TEST_BOTH(stale_##method##_is_repeated_once, NULL, __VA_ARGS__)                     \
        {                                                                                          \
                struct eddy_http_client_stats stats;                                               \
                                                                                                   \
                fetch_stale(rig, #method, 0);                                                      \
                CHECK_EQ(rig->peer.accepted, 2);                                                   \
                CHECK_EQ(rig->peer.requests, 3);                                                   \
                CHECK_STATS(rig->client, 1, 1, 0);                                                 \
                eddy_http_client_stats(rig->client, &stats);                                       \
                CHECK_EQ(stats.requests, 3);                                                       \
                CHECK_EQ(stats.connections, 2);                                                    \
        }

/* An idempotent request on a stale connection is repeated on a new one. */
STALE_TEST(GET, SCRIPT(OK_2, "?", "~"), SCRIPT(OK_2, OK_2))
STALE_TEST(PUT, SCRIPT(OK_2, "?", "!"), SCRIPT(OK_2, OK_2))
STALE_TEST(DELETE, SCRIPT(OK_2, "?", "~"), SCRIPT(OK_2, OK_2))
STALE_TEST(OPTIONS, SCRIPT(OK_2, "?", "!"), SCRIPT(OK_2, OK_2))
STALE_TEST(TRACE, SCRIPT(OK_2, "?", "~"), SCRIPT(OK_2, OK_2))
STALE_TEST(HEAD, SCRIPT(OK_2, "?", "~"), SCRIPT("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"))

CLIENT_TEST(stale_request_is_not_repeated_twice, NULL, SCRIPT(OK_2, "?", "~"), SCRIPT("?", "~"))
{
        /* B10: a new connection that is closed as well is an error. */
        fetch_stale(rig, "GET", EDDY_E_HTTP_CLOSED);
        CHECK_EQ(rig->peer.accepted, 2);
        CHECK_STATS(rig->client, 0, 0, 0);
}

/* B10: not on a connection that was new. */
CLIENT_TEST(request_on_a_new_connection_is_not_repeated, NULL, SCRIPT("?", "~"))
{
        CHECK_ERR(rig_get(rig, "/"), EDDY_E_HTTP_CLOSED);
        CHECK_EQ(rig->peer.accepted, 1);
}

/* B10: not a method that does something each time it is asked. */
CLIENT_TEST_BOTH(stale_post_is_not_repeated, NULL, SCRIPT(OK_2, "?", "~"), SCRIPT(OK_2))
{
        fetch_stale(rig, "POST", EDDY_E_HTTP_CLOSED);
        CHECK_EQ(rig->peer.accepted, 1);
        CHECK_STATS(rig->client, 0, 0, 0);
}

/* The server recognizes the repetition by the key, also one whose value is empty. */
CLIENT_TEST_BOTH(stale_post_with_an_idempotency_key_is_repeated_once, NULL, SCRIPT(OK_2, "?", "~"),
                 SCRIPT(OK_2, "?", "!"), SCRIPT(OK_2, "H", "~"), SCRIPT("?", "~"),
                 SCRIPT(OK_2, "?", "~"), SCRIPT("?", "~"))
{
        static const struct eddy_http_header keys[] = { { "Idempotency-Key", "1" },
                                                        { "x-idempotency-key", "" } };
        struct eddy_http_request request = {
                .url = "/", .body = "a", .body_bytes = 1, .headers_count = 1
        };

        CHECK_EQ(rig_get(rig, "/"), 0);
        for (int i = 0; i < 2; i++) {
                request.headers = &keys[i];
                CHECK_EQ(rig_fetch(rig, &request), 0);
                CHECK_EQ(rig->peer.accepted, (uint32_t) i + 2);
        }
        /* Not after a byte of an answer, and not on a new connection. */
        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_CLOSED);
        CHECK_EQ(rig->peer.accepted, 3);
        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_CLOSED);
        CHECK_EQ(rig->peer.accepted, 4);
        /* Not twice. */
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_CLOSED);
        CHECK_EQ(rig->peer.accepted, 6);
}

CLIENT_TEST(stale_patch_is_not_repeated, NULL, SCRIPT(OK_2, "?", "!"), SCRIPT(OK_2))
{
        fetch_stale(rig, "PATCH", -ECONNRESET);
        CHECK_EQ(rig->peer.accepted, 1);
}

/* B10: not once a byte of a response has come, be it of a 1xx. */
CLIENT_TEST(request_is_not_repeated_after_a_byte_of_a_response, NULL, SCRIPT(OK_2, "H", "~"))
{
        fetch_stale(rig, "GET", EDDY_E_HTTP_CLOSED);
        CHECK_EQ(rig->peer.accepted, 1);
        CHECK_STATS(rig->client, 0, 0, 0);
}

CLIENT_TEST(request_is_not_repeated_after_an_interim_response, NULL,
            SCRIPT(OK_2, "HTTP/1.1 103 Early Hints\r\n\r\n", "~"))
{
        fetch_stale(rig, "GET", EDDY_E_HTTP_CLOSED);
        CHECK_EQ(rig->peer.accepted, 1);
}

/* B10: not after garbage. */
CLIENT_TEST(garbage_on_a_used_connection_is_not_repeated, NULL, SCRIPT(OK_2, "garbage\r\n\r\n"))
{
        fetch_stale(rig, "GET", EDDY_E_HTTP_INVALID_RESPONSE);
        CHECK_EQ(rig->peer.accepted, 1);
        CHECK_STATS(rig->client, 0, 0, 0);
}

/* B17: an IPv4 address in a form that hides which is refused, unconnected. */
CLIENT_TEST(ipv4_address_that_is_not_canonical_is_refused, NULL, SCRIPT(OK_2))
{
        static const char *const bases[] = { "http://2130706433", "http://017700000001",
                                             "http://127.1",      "http://0x7f.0.0.1",
                                             "http://127.0.0.01", "http://0x7f000001" };
        struct eddy_http_client_stats stats;

        side_begin(rig);
        for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
                struct fetch fetch = { .base = bases[i] };

                CHECK_EQ(fetch_run(&fetch), 0);
                if (fetch.result != EDDY_E_DNS_BAD_NAME)
                        CHECK_ERR(fetch.result, EDDY_E_URL_INVALID);
                side.done = 0;
        }
        eddy_http_client_stats(rig->client, &stats);
        CHECK_EQ(stats.connections, 0);
        CHECK_STATS(rig->client, 0, 0, 0);
}
