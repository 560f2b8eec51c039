/*
 * calls_http_upgrade.c - the world of a client that offers another protocol; see every_call.h.
 *
 * Each caller that is not cancelled gets the stream, with its first bytes.
 */
#include "every_call.h"

enum { ASKING = 2 };

static const struct eddy_http_header offered = { "Upgrade", "echo" };

static struct {
        eddy_http_client *client;
        int asked;
} world;

static int handle(eddy_http_exchange *exchange, void *arg)
{
        eddy_stream *stream;
        const void *early;
        size_t early_bytes;
        int err = world_chance(2) ? eddy_sleep(world_delay_ns()) : 0;

        (void) arg;
        if (err == 0)
                err = eddy_http_exchange_upgrade(exchange, &offered, 1, &stream, &early,
                                                 &early_bytes);
        if (err < 0)
                return err;
        err = eddy_stream_write(stream, "x", 1);
        eddy_stream_close(stream);
        return err;
}

struct asking {
        eddy_http_response *response;
        eddy_stream *stream;
};

static int upgrade_call(void *arg)
{
        struct eddy_http_request request = { .url = "http://a/",
                                             .headers = &offered,
                                             .headers_count = 1 };
        struct asking *asking = arg;

        return eddy_http_client_upgrade(world.client, &request, &asking->response, &asking->stream);
}

static int ask_as_victim(void *arg)
{
        struct asking asking = { NULL, NULL };
        char text;
        int err;

        (void) arg;
        world_pause();
        err = victim_call(upgrade_call, &asking);
        CHECK(err == 0 || err == -ECANCELED);
        if (err == 0) {
                int64_t n = eddy_stream_read(asking.stream, &text, 1);

                CHECK(n == 1 || n == -ECANCELED);
        }
        eddy_stream_close(asking.stream);
        eddy_http_response_close(asking.response);
        world.asked++;
        return 0;
}

static int world_upgrade(void *arg)
{
        (void) arg;
        world.asked = 0;
        CHECK_EQ(eddy_http_client_new(
                         &(struct eddy_http_client_opts){ .handler = handle, .connections_max = 1 },
                         &world.client),
                 0);
        world_begin(ASKING);
        world_run(ask_as_victim, NULL, ASKING);
        CHECK_EQ(world.asked, ASKING);
        world_close_client(world.client);
        return 0;
}
EVERY_POINT_WEB(upgrade, eddy_http_client_upgrade)
