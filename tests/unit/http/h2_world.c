/*
 * h2_world.c - see h2_world.h.
 */
#include "h2_world.h"

#include "http/opening.h"
#include "http/pool_origin.h"

struct h2_world h2_world;

static int peer_run(void *arg)
{
        h2_world.peer(arg);
        eddy_stream_close(arg);
        return 0;
}

static int side_run(void *side)
{
        if (h2_world.silent_ns)
                (void) eddy_sleep(h2_world.silent_ns);
        return h2_side_run(side);
}

/* In place of the network. */
static int connect_pair(struct ed_http_conn *conn, struct eddy_http_fault *fault,
                        eddy_stream **ret_stream)
{
        struct h2_side *side;
        eddy_stream *ours, *theirs;
        int err;

        (void) fault;
        if (h2_world.connect_ns) {
                err = eddy_sleep(++h2_world.connects * h2_world.connect_ns);
                if (err < 0)
                        return err;
        }
        CHECK(h2_world.accepted < H2_SIDES_MAX);
        side = &h2_world.sides[h2_world.accepted];
        err = eddy_stream_pair(NULL, &ours, &theirs);
        if (err < 0)
                return err;
        if (h2_world.peer) {
                err = eddy_scope_start(&h2_world.scope, peer_run, theirs);
        } else {
                h2_server_init(side, theirs, h2_world.handler);
                if (h2_world.streams_max)
                        side->opts.streams_max = h2_world.streams_max;
                if (h2_world.stream_window)
                        side->opts.stream_window = h2_world.stream_window;
                err = eddy_scope_start(&h2_world.scope, side_run, side);
        }
        if (err < 0) {
                eddy_stream_close_now(ours);
                eddy_stream_close_now(theirs);
                return err;
        }
        h2_world.accepted++;
        conn->protocol = conn->origin->key.only_http1 ? &ed_http1_protocol : &ed_h2_protocol;
        *ret_stream = ours;
        return 0;
}

int h2_world_begin(const struct eddy_http_client_opts *opts, h2_handler_fn *handler)
{
        int err;

        memset(&h2_world, 0, sizeof(h2_world));
        h2_world.handler = handler;
        err = eddy_http_client_new(opts, &h2_world.client);
        if (err < 0)
                return err;
        h2_world.client->pool.connect = connect_pair;
        h2_world.client->protocols.prior = &ed_h2_protocol;
        eddy_scope_begin(&h2_world.scope,
                         &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_KEEP_GOING });
        return 0;
}

int h2_world_end(void)
{
        int err;

        if (h2_world.client) {
                CHECK_EQ(h2_world.client->h2_streams, 0);
                CHECK_EQ(h2_world.client->pool.in_use, 0);
                CHECK_EQ(h2_world.client->pool.waiting, 0);
        }
        eddy_http_client_close(h2_world.client);
        err = eddy_scope_end(&h2_world.scope);
        for (int i = 0; i < h2_world.accepted && !h2_world.peer; i++) {
                CHECK_EQ(h2_world.sides[i].calls, 0);
                CHECK_EQ(h2_world.sides[i].h2.kept, 0);
        }
        return err;
}

int h2_world_main(void *arg)
{
        const struct h2_world_call *call = arg;

        CHECK_EQ(h2_world_begin(call->opts, call->handler), 0);
        h2_world.peer = call->peer;
        call->fn();
        CHECK_EQ(h2_world_end(), 0);
        return 0;
}

int h2_ask(struct eddy_http_request *request, const char *path, eddy_http_response **ret_response)
{
        char url[128];

        snprintf(url, sizeof(url), "http://h.test%s", path);
        request->url = url;
        return eddy_http_client_send(h2_world.client, request, ret_response);
}

int h2_fetch(const char *method, const char *path, char ret_body[64])
{
        struct eddy_http_request request = { .method = method };
        eddy_http_response *response;
        const void *body;
        size_t bytes;
        int err = h2_ask(&request, path, &response);

        if (err < 0)
                return err;
        err = eddy_http_response_body(response, &body, &bytes);
        if (err >= 0 && ret_body)
                snprintf(ret_body, 64, "%.*s", (int) (bytes < 63 ? bytes : 63),
                         (const char *) body);
        if (err >= 0)
                err = eddy_http_response_status(response);
        eddy_http_response_close(response);
        return err;
}

struct h2_side *h2_latest(void)
{
        return &h2_world.sides[h2_world.accepted - 1];
}
