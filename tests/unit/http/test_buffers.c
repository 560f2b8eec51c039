/*
 * test_buffers.c - a client's buffers for HTTP/1: a request that waits has none, and a response keeps
 * its own until it is closed.
 */
#include <stdio.h>

#include "http/client.h"
#include "http_test.h"

enum { REQUESTS = 8 };

/* Each request is answered a second after it came: all are under way together. */
#define ANSWER "?", ".", "<HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

static int get(void *arg)
{
        CHECK_EQ(rig_get(arg, "/"), 0);
        return 0;
}

static void get_together(struct rig *rig)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < REQUESTS; i++)
                CHECK_EQ(eddy_scope_start(&scope, get, rig), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

CLIENT_TEST(requests_that_wait_have_no_buffer_and_their_responses_share_one, NULL,
            SCRIPT(ANSWER, ANSWER))
{
        for (int round = 0; round < 2; round++) {
                get_together(rig);
                CHECK_EQ(rig->peer.accepted, REQUESTS);
                CHECK_EQ(rig->client->http1_spares_count, REQUESTS);
                CHECK_EQ(rig->client->http1_buffers_count, 1);
        }
}

CLIENT_TEST(a_response_keeps_its_buffer_until_it_is_closed, NULL,
            SCRIPT("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst",
                   "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond"))
{
        eddy_http_response *first, *second;
        const void *body;
        size_t bytes;

        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &first), 0);
        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &second), 0);
        CHECK_EQ(rig->client->http1_buffers_count, 0);
        CHECK_EQ(eddy_http_response_body(first, &body, &bytes), 0);
        CHECK_STR(body, "first");
        CHECK_EQ(eddy_http_response_body(second, &body, &bytes), 0);
        CHECK_STR(body, "second");
        eddy_http_response_close(first);
        CHECK_EQ(rig->client->http1_buffers_count, 1);
        eddy_http_response_close(second);
        CHECK_EQ(rig->client->http1_buffers_count, 2);
}
