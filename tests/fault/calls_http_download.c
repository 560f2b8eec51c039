/*
 * calls_http_download.c - the world of downloads; see every_call.h.
 *
 * Each download that is not cancelled has the whole body, and one that is cancelled leaves no
 * connection in use.
 */
#include "every_call.h"

enum { LOADING = 2, BYTES = 5000, CUTS_MAX = 3 /* fewer than the attempts of a download */ };

static struct {
        eddy_http_client *client;
        int loaded, cuts;
} world;

static char body[BYTES];

/* Some responses are cut. */
static int handle(eddy_http_exchange *exchange, void *arg)
{
        const char *range = eddy_http_exchange_header(exchange, "Range");
        size_t first = range ? (size_t) strtoul(range + 6, NULL, 10) : 0;
        char text[64];
        struct eddy_http_header headers[] = { { "ETag", "\"a\"" }, { "Content-Range", text } };
        int err;

        (void) arg;
        snprintf(text, sizeof(text), "bytes %zu-%d/%d", first, BYTES - 1, BYTES);
        err = eddy_http_exchange_begin(exchange, range ? 206 : 200, headers, range ? 2 : 1,
                                       (int64_t) (BYTES - first));
        if (err == 0)
                err = eddy_http_exchange_write(exchange, body + first, (BYTES - first) / 2);
        if (err == 0 && world_chance(2))
                err = eddy_sleep(world_delay_ns());
        if (err == 0 && world.cuts < CUTS_MAX && world_chance(2)) {
                world.cuts++;
                err = eddy_http_exchange_flush(exchange);
                return err < 0 ? err : -ECONNABORTED;
        }
        if (err == 0)
                err = eddy_http_exchange_write(exchange, body + first + (BYTES - first) / 2,
                                               BYTES - first - (BYTES - first) / 2);
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

static int load(void *arg)
{
        /* A wait that reaches the deadline of a scope is not begun. */
        static const struct eddy_retry_policy at_once = { .attempts = CUTS_MAX + 2, .base_ns = -1 };
        struct eddy_http_request request = { .url = "http://a/" };

        return eddy_http_download(world.client, &request, arg,
                                  &(struct eddy_http_download_opts){ .retry = &at_once });
}

static int load_as_victim(void *arg)
{
        size_t bytes = 0;
        char *data = NULL, path[32];
        eddy_scope shield;
        int err;

        (void) arg;
        snprintf(path, sizeof(path), "/load%d", world.loaded++);
        world_pause();
        err = victim_call(load, path);
        if (err != -ECANCELED)
                CHECK_STR(eddy_error_name(err), eddy_error_name(0));
        if (err == -ECANCELED)
                return 0;
        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        CHECK_EQ(eddy_file_read_whole(path, BYTES, &data, &bytes), 0);
        CHECK_EQ(eddy_scope_end(&shield), 0);
        CHECK_EQ(bytes, BYTES);
        CHECK(memcmp(data, body, BYTES) == 0);
        eddy_free(data);
        return 0;
}

static int world_download(void *arg)
{
        (void) arg;
        for (int i = 0; i < BYTES; i++)
                body[i] = (char) ('a' + i % 23);
        world.loaded = world.cuts = 0;
        CHECK_EQ(eddy_http_client_new(&(struct eddy_http_client_opts){ .handler = handle },
                                      &world.client),
                 0);
        world_begin(LOADING);
        world_run(load_as_victim, NULL, LOADING);
        CHECK_EQ(world.loaded, LOADING);
        world_close_client(world.client);
        return 0;
}
EVERY_POINT_WEB(download, eddy_http_download)
