/*
 * calls_http_relay.c - the worlds of a reverse proxy; see every_call.h.
 *
 * An answer that reaches the reader whole has all its bytes, and no other answer looks whole.
 */
#include "every_call.h"

enum { READING = 2, PIECES = 4 };

static struct {
        eddy_http_client *outer, *inner;
        bool fails; /* the proxy answers an error, else it passes an answer on */
        int read;
} world;

struct relaying {
        eddy_http_exchange *exchange;
        eddy_http_response *response;
};

/* The other server: an answer in pieces, with pauses. */
static int answer_in_pieces(eddy_http_exchange *exchange, void *arg)
{
        int err = eddy_http_exchange_begin(exchange, 200, NULL, 0, -1);

        (void) arg;
        for (int i = 0; i < PIECES && err == 0; i++) {
                err = eddy_http_exchange_write(exchange, "piece", 5);
                if (err == 0 && world_chance(2))
                        err = eddy_sleep(world_delay_ns());
        }
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

static int relay_call(void *arg)
{
        const struct relaying *relaying = arg;

        return world.fails ? eddy_http_relay_fail(relaying->exchange, -ECONNRESET)
                           : eddy_http_relay_response(relaying->exchange, relaying->response);
}

static int pass_as_victim(eddy_http_exchange *exchange, void *arg)
{
        struct relaying relaying = { exchange, NULL };
        struct eddy_http_request request;
        int err = eddy_http_relay_request(exchange, "http://b", &request);

        (void) arg;
        world_pause();
        if (err == 0 && !world.fails)
                err = eddy_http_client_send(world.inner, &request, &relaying.response);
        if (err == 0)
                err = victim_call(relay_call, &relaying);
        eddy_http_response_close(relaying.response);
        return err;
}

static int read_once(void *arg)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .url = "http://a/" };
        int err = eddy_http_client_send(world.outer, &request, &response), status;
        const void *body;
        size_t bytes;

        (void) arg;
        if (err == 0)
                err = eddy_http_response_body(response, &body, &bytes);
        status = eddy_http_response_status(response);
        if (err < 0 || status != (world.fails ? 502 : 200))
                CHECK(world_is_cancelled());
        else if (!world.fails)
                CHECK_EQ(bytes, PIECES * 5);
        world.read++;
        return 0;
}

static int run_readers(bool fails)
{
        eddy_scope reading;

        world.fails = fails;
        world.read = 0;
        CHECK_EQ(
                eddy_http_client_new(&(struct eddy_http_client_opts){ .handler = answer_in_pieces },
                                     &world.inner),
                0);
        CHECK_EQ(eddy_http_client_new(&(struct eddy_http_client_opts){ .handler = pass_as_victim },
                                      &world.outer),
                 0);
        world_begin(READING);
        eddy_scope_begin(&reading, NULL);
        world_start(&reading, read_once, NULL, READING);
        CHECK_EQ(eddy_scope_end(&reading), 0);
        CHECK_EQ(world.read, READING);
        world_close_client(world.outer);
        world_close_client(world.inner);
        return 0;
}

static int world_relay_response(void *arg)
{
        (void) arg;
        return run_readers(false);
}
EVERY_POINT_WEB(relay_response, eddy_http_relay_response)

static int world_relay_fail(void *arg)
{
        (void) arg;
        return run_readers(true);
}
EVERY_POINT_WEB(relay_fail, eddy_http_relay_fail)
