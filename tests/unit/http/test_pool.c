/*
 * test_pool.c - the client's connections: how many there may be, who gets
 * one, which are used again and which never.
 */
#include "http_test.h"

/* ---- fetching side by side ------------------------------------------------- */

enum { FETCHES_MAX = 12 };

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

static void count_start(void *arg)
{
        (void) arg;
        side.started++;
}

static int fetch_run(void *arg)
{
        struct fetch *fetch = arg;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .on_start = count_start };
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

/* B1.1: never more connections than the limit, connecting ones included. */
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

/* B1.1: the limit for one host holds beside that of all. */
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

/* ---- the key --------------------------------------------------------------- */

/* B1.2: a connection is used again for the same host and port only. */
CLIENT_TEST(connections_are_not_shared_between_ports_or_hosts, NULL, SCRIPT(OK_2, OK_2, OK_2))
{
        struct peer other;
        eddy_scope scope;
        struct fetch fetch = { 0 };
        char url[64];

        side_begin(rig);
        eddy_scope_begin(&scope, NULL);
        peer_start(&other, &scope, rig->peer.scripts, 1);
        snprintf(url, sizeof(url), "http://127.0.0.1:%u", eddy_tcp_listener_port(other.listener));
        fetch.base = url;
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(fetch_run(&fetch), 0);
        CHECK_EQ(fetch.result, 0);
        CHECK_STATS(rig->client, 2, 2, 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig->peer.accepted, 1);
        CHECK_EQ(other.accepted, 1);
        /* The same address by another name is another origin. */
        snprintf(url, sizeof(url), "http://localhost:%u",
                 eddy_tcp_listener_port(rig->peer.listener));
        CHECK_EQ(fetch_run(&fetch), 0);
        if (fetch.result == 0)
                CHECK_EQ(rig->peer.accepted, 2);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        peer_stop(&other);
}

/* B1.2: the case of a host's name makes no difference. */
CLIENT_TEST(connection_is_used_again, NULL, SCRIPT(OK_2, OK_CHUNKED, OK_2))
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

/* B1.3: a connection that fails to connect gives its slot back. */
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

/* B1.4: those who wait for one origin are served in the order they came. */
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
