/*
 * 99-redis-cache - a cache in Redis that fetches each key once, even if many tasks ask at the same time.
 *
 * The first task that asks for a key starts a flight: a task that looks for the key in Redis and,
 * if it is not there, fetches the value and stores it for a limited time.  Other tasks that ask for
 * the key wait for the same flight.  The flight belongs to the scope of the cache and not to the
 * task that asked first, so if that request is cancelled, the others still get their answer.  A
 * second program finds the values that the first one has stored.
 *
 *     99-redis-cache URL MILLISECONDS KEY...      ask for each key in four tasks
 *
 * Run: D=$(mktemp -d); redis-server --port 0 --unixsocket $D/s --save '' --logfile /dev/null >/dev/null & R=$!; while [ ! -S $D/s ]; do sleep 0.05; done; c() { 99-redis-cache unix://$D/s "$@"; }; c 60000 a b c; c 60000 b c d; c 1 x; sleep 0.1; c 1 x; kill $R; wait; rm -r $D
 * Time: wall 0 s
 * Output:
 *     12 requests, 3 fetches
 *     12 requests, 1 fetches
 *     4 requests, 1 fetches
 *     4 requests, 1 fetches
 */
#include <eddy/eddy.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS_EACH = 4 };

struct flight {
        const char *key;
        char value[64];
        eddy_future landed;
        struct flight *next;
        int users; /* the flight's task, and the waiting tasks */
};

static struct cache {
        eddy_redis *redis;
        eddy_scope scope; /* of the flights */
        struct flight *flights;
        long long lifetime_ms;
        int requests, fetches;
} cache;

static void unuse(struct flight *flight)
{
        if (--flight->users == 0)
                free(flight);
}

/* Ask the slow source. */
static int fetch(const char *key, char *value, size_t room)
{
        cache.fetches++;
        snprintf(value, room, "the value of %s", key);
        return eddy_sleep(EDDY_MS(50));
}

static int look_up(struct flight *flight)
{
        EDDY_AUTO(eddy_redis_reply) eddy_redis_reply *reply = NULL;
        int err = eddy_redis_command(cache.redis, &reply, "GET %s", flight->key);

        if (err == 0 && eddy_redis_reply_text(reply, NULL)) {
                snprintf(flight->value, sizeof(flight->value), "%s",
                         eddy_redis_reply_text(reply, NULL));
                return 0;
        }
        if (err == 0)
                err = fetch(flight->key, flight->value, sizeof(flight->value));
        return err < 0 ? err
                       : eddy_redis_command(cache.redis, NULL, "SET %s %s PX %lld", flight->key,
                                            flight->value, cache.lifetime_ms);
}

/* A task for each flight.  If it fails, the waiting tasks get its error. */
static int fly(void *arg)
{
        struct flight *flight = arg, **at = &cache.flights;
        int err = look_up(flight);

        while (*at != flight)
                at = &(*at)->next;
        *at = flight->next;
        eddy_future_set(&flight->landed, err, NULL);
        unuse(flight);
        return 0;
}

/* Find or start the key's flight.  Returns NULL if memory is short or the cache is ending. */
static struct flight *board(const char *key)
{
        struct flight *flight = cache.flights;

        while (flight && strcmp(flight->key, key) != 0)
                flight = flight->next;
        if (flight)
                return flight;
        flight = calloc(1, sizeof(*flight));
        if (!flight)
                return NULL;
        flight->key = key;
        if (eddy_scope_start(&cache.scope, fly, flight) < 0) {
                free(flight);
                return NULL;
        }
        flight->users = 1;
        flight->next = cache.flights;
        cache.flights = flight;
        return flight;
}

static int cache_get(const char *key, char *value, size_t room)
{
        struct flight *flight = board(key);
        int result = 0, err;

        if (!flight)
                return -ENOMEM;
        flight->users++;
        err = eddy_future_wait(&flight->landed, &result);
        if (err == 0)
                err = result;
        if (err == 0)
                snprintf(value, room, "%s", flight->value);
        unuse(flight);
        return err;
}

static int request(void *arg)
{
        char value[64];

        cache.requests++;
        return cache_get(arg, value, sizeof(value));
}

static int cache_main(void *arg)
{
        char **argv = arg;
        eddy_scope scope;
        int err = eddy_redis_new(&(struct eddy_redis_opts){ .url = argv[1] }, &cache.redis);

        if (err < 0)
                return err;
        cache.lifetime_ms = strtoll(argv[2], NULL, 10);
        eddy_scope_begin(&cache.scope, NULL);
        eddy_scope_begin(&scope, NULL);
        for (char **key = argv + 3; *key; key++)
                for (int i = 0; i < TASKS_EACH; i++)
                        eddy_scope_start(&scope, request, *key);
        err = eddy_scope_end(&scope);
        err = eddy_scope_end_with(&cache.scope, err);
        eddy_redis_close(cache.redis);
        if (err == 0)
                printf("%d requests, %d fetches\n", cache.requests, cache.fetches);
        return err;
}

int main(int argc, char **argv)
{
        int err;

        if (argc < 4) {
                fprintf(stderr, "usage: 99-redis-cache URL MILLISECONDS KEY...\n");
                return 2;
        }
        err = eddy_run(cache_main, argv, NULL);
        if (err < 0)
                fprintf(stderr, "99-redis-cache: %s\n", eddy_error_text(err));
        return err < 0;
}
