/*
 * calls_http_many.c - the world of a call that sends many requests; see every_call.h.
 *
 * Each caller that is not cancelled gets all responses, each in its own result.
 */
#include "every_call.h"

enum { FETCHING = 2, REQUESTS = 5, AT_ONCE = 2 };

static struct {
        eddy_http_client *client;
        int fetched;
} world;

static int handle(eddy_http_exchange *exchange, void *arg)
{
        const char *path = eddy_http_exchange_path(exchange);
        int err = world_chance(2) ? eddy_sleep(world_delay_ns()) : 0;

        (void) arg;
        return err < 0 ? err
                       : eddy_http_exchange_respond(exchange, 200, NULL, 0, path, strlen(path));
}

static int fetch_call(void *arg)
{
        static struct eddy_http_request requests[REQUESTS];
        static char urls[REQUESTS][16];

        for (int i = 0; i < REQUESTS; i++) {
                snprintf(urls[i], sizeof(urls[i]), "http://a/%d", i);
                requests[i].url = urls[i];
        }
        return eddy_http_fetch_many(world.client, requests, REQUESTS, AT_ONCE, arg);
}

static int fetch_as_victim(void *arg)
{
        struct eddy_http_result results[REQUESTS] = { 0 };
        int err;

        (void) arg;
        world_pause();
        err = victim_call(fetch_call, results);
        CHECK(err == 0 || err == -ECANCELED);
        for (int i = 0; i < REQUESTS; i++) {
                CHECK(err < 0 || results[i].error == 0);
                if (results[i].error == 0 && results[i].status)
                        CHECK_EQ(results[i].body[1], '0' + i);
        }
        eddy_http_results_fini(results, REQUESTS);
        world.fetched++;
        return 0;
}

static int world_fetch_many(void *arg)
{
        (void) arg;
        world.fetched = 0;
        CHECK_EQ(eddy_http_client_new(
                         &(struct eddy_http_client_opts){ .handler = handle, .connections_max = 3 },
                         &world.client),
                 0);
        world_begin(FETCHING);
        world_run(fetch_as_victim, NULL, FETCHING);
        CHECK_EQ(world.fetched, FETCHING);
        world_close_client(world.client);
        return 0;
}
EVERY_POINT_WEB(fetch_many, eddy_http_fetch_many)
