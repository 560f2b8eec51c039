/*
 * calls_http_json.c - the world of a call that sends a request and reads its answer as JSON, with
 * retries, a limiter and a breaker; see every_call.h.
 *
 * Each caller that is not cancelled gets the answer to its own request.
 */
#include "every_call.h"
#include "http_item.h"

enum { ASKING = 3 };

static struct {
        eddy_http_client *client;
        int asked;
        bool failed; /* the handler has refused a request */
} world;

static int handle(eddy_http_exchange *exchange, void *arg)
{
        const void *data;
        size_t bytes;
        int err = eddy_http_exchange_body(exchange, &data, &bytes);

        (void) arg;
        if (err == 0 && world_chance(2))
                err = eddy_sleep(world_delay_ns());
        if (err < 0)
                return err;
        if (!world.failed) {
                world.failed = true;
                return eddy_http_exchange_respond(exchange, 503, NULL, 0, NULL, 0);
        }
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, data, bytes);
}

static int ask_call(void *arg)
{
        struct item *item = arg;
        struct item answer = { 0 };
        int err = eddy_http_client_json(
                world.client,
                &(struct eddy_http_request){ .url = "items", .json = { &item_fields, item } },
                &item_fields, &answer, NULL);

        CHECK_EQ(answer.id, err == 0 ? item->id : 0);
        return err;
}

static int ask_as_victim(void *arg)
{
        struct item item = { (uint32_t) (7 + world.asked) };
        int err;

        (void) arg;
        world_pause();
        err = victim_call(ask_call, &item);
        CHECK(err == 0 || err == -ECANCELED);
        world.asked++;
        return 0;
}

static int world_client_json(void *arg)
{
        static const struct eddy_retry_policy retry = { .base_ns = EDDY_MS(1) };
        eddy_breaker breaker;
        eddy_limiter *limiter;

        (void) arg;
        world.asked = 0;
        world.failed = false;
        CHECK_EQ(eddy_breaker_init(&breaker, NULL), 0);
        CHECK_EQ(eddy_limiter_new(NULL, &limiter), 0);
        CHECK_EQ(eddy_http_client_new(&(struct eddy_http_client_opts){ .handler = handle,
                                                                       .connections_max = 2,
                                                                       .base_url = "http://a/v1",
                                                                       .retry = &retry,
                                                                       .limiter = limiter,
                                                                       .breaker = &breaker },
                                      &world.client),
                 0);
        world_begin(ASKING);
        world_run(ask_as_victim, NULL, ASKING);
        CHECK_EQ(world.asked, ASKING);
        world_close_client(world.client);
        eddy_limiter_close(limiter);
        return 0;
}
EVERY_POINT_WEB(client_json, eddy_http_client_json)
