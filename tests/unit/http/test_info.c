/*
 * test_info.c - what a response reports: version, URL, peer, durations, trailers.
 */
#include <unistd.h>

#include "http_test.h"

#define SLOW_OK "?", ".", "<HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", ".", "<ok"

static struct eddy_http_response_info info_of(const eddy_http_response *response)
{
        struct eddy_http_response_info info;

        eddy_http_response_info(response, &info);
        return info;
}

CLIENT_TEST(durations_are_those_of_the_steps, NULL, SCRIPT(SLOW_OK, SLOW_OK))
{
        for (int i = 0; i < 2; i++) {
                struct eddy_http_timings timings;
                eddy_http_response *response;

                CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
                timings = info_of(response).timings;
                CHECK_EQ(timings.wait_ns, 0);
                CHECK_EQ(timings.name_ns >= 0, i == 0);
                CHECK_EQ(timings.connect_ns >= 0, i == 0);
                CHECK_EQ(timings.tls_ns, -1);
                CHECK(timings.first_byte_ns >= EDDY_SEC(1) &&
                      timings.first_byte_ns < EDDY_MS(1100));
                CHECK_EQ(timings.total_ns, -1);
                CHECK_EQ(eddy_http_response_discard(response), 0);
                timings = info_of(response).timings;
                CHECK(timings.total_ns >= EDDY_SEC(2) && timings.total_ns < EDDY_MS(2200));
                http_pause(EDDY_SEC(1));
                CHECK_EQ(info_of(response).timings.total_ns, timings.total_ns);
                eddy_http_response_close(response);
        }
        CHECK_EQ(rig->peer.accepted, 1);
}

CLIENT_TEST(time_ends_when_the_body_has_arrived_not_when_it_is_read, NULL,
            SCRIPT("?", ".", "<" OK_2))
{
        struct eddy_http_timings timings;
        eddy_http_response *response;

        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
        timings = info_of(response).timings;
        CHECK(timings.total_ns >= timings.first_byte_ns && timings.total_ns < EDDY_MS(1100));
        http_pause(EDDY_SEC(1));
        CHECK_EQ(eddy_http_response_discard(response), 0);
        CHECK_EQ(info_of(response).timings.total_ns, timings.total_ns);
        eddy_http_response_close(response);
}

struct waiting {
        struct rig *rig;
        int64_t wait_ns, connect_ns;
};

static int wait_run(void *arg)
{
        struct waiting *waiting = arg;
        struct eddy_http_response_info info;
        eddy_http_response *response;

        CHECK_EQ(rig_send(waiting->rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
        info = info_of(response);
        waiting->wait_ns = info.timings.wait_ns;
        waiting->connect_ns = info.timings.connect_ns;
        CHECK_EQ(eddy_http_response_discard(response), 0);
        eddy_http_response_close(response);
        return 0;
}

CLIENT_TEST(wait_for_a_slot_is_a_step, OPTIONS(.connections_max = 1), SCRIPT(SLOW_OK, OK_2))
{
        struct waiting waiting[2] = { { rig, 0, 0 }, { rig, 0, 0 } };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, wait_run, &waiting[0]), 0);
        CHECK_EQ(eddy_scope_start(&scope, wait_run, &waiting[1]), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(waiting[0].wait_ns, 0);
        CHECK(waiting[0].connect_ns >= 0);
        CHECK(waiting[1].wait_ns >= EDDY_SEC(2));
        CHECK_EQ(waiting[1].connect_ns, -1);
}

CLIENT_TEST_BOTH(url_version_and_peer_are_reported, NULL,
                 SCRIPT(OK_2, "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"))
{
        for (int i = 0; i < 2; i++) {
                char url[100], peer[EDDY_ENDPOINT_TEXT_BYTES], path[20];
                eddy_http_response *response;
                struct eddy_http_response_info info;

                snprintf(path, sizeof(path), "/path?%d", i);
                snprintf(url, sizeof(url), "%s%s", rig->url, path);
                CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = path }, &response), 0);
                info = info_of(response);
                CHECK_STR(info.url, url);
                CHECK_EQ(info.version, i == 0 ? 11 : 10);
                CHECK(info.request_sent);
                eddy_endpoint_format(info.peer, peer);
                CHECK_STR(peer, rig->url + strlen("http://"));
                eddy_http_response_close(response);
        }
}

/* ---- trailers ----------------------------------------------------------------------- */

#define CHUNKED_HEAD "<HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

CLIENT_TEST_BOTH(trailers_are_known_at_the_end_of_the_body, NULL,
                 SCRIPT("?", CHUNKED_HEAD, "+2\r\nok\r\n0\r\nA: \t one two \t\r\nb",
                        "+B:\r\nA: 2\r", "+\n\r\n", OK_2))
{
        struct eddy_http_header trailer;
        eddy_http_response *response;
        char buf[8];

        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
        CHECK(!eddy_http_response_trailer(response, "a"));
        CHECK_EQ(eddy_http_response_read(response, buf, sizeof(buf)), 2);
        CHECK(!eddy_http_response_trailer(response, "a"));
        CHECK_EQ(eddy_http_response_read(response, buf, sizeof(buf)), 0);
        CHECK_STR(eddy_http_response_trailer(response, "a"), "one two");
        CHECK_STR(eddy_http_response_trailer(response, "BB"), "");
        CHECK(!eddy_http_response_trailer(response, "c"));
        CHECK_EQ(eddy_http_response_trailer_at(response, 2, &trailer), 0);
        CHECK_STR(trailer.name, "A");
        CHECK_STR(trailer.value, "2");
        CHECK_EQ(eddy_http_response_trailer_at(response, 3, &trailer), -ENOENT);
        eddy_http_response_close(response);
        /* The next response has none. */
        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
        CHECK_EQ(eddy_http_response_discard(response), 0);
        CHECK(!eddy_http_response_trailer(response, "a"));
        eddy_http_response_close(response);
        CHECK_EQ(rig->peer.accepted, 1);
}

/* B36: Trailers that RFC 9110, 6.5.1 forbids are dropped. */
CLIENT_TEST_BOTH(forbidden_trailer_is_dropped_and_does_not_fail_the_message, NULL,
                 SCRIPT("?", CHUNKED_HEAD, "+2\r\nok\r\n0\r\nA: 1\r\nContent-Len",
                        "+gth: 5\r\n 6\r\nB: 2\r\n\r\n", OK_2))
{
        struct eddy_http_header trailer;
        eddy_http_response *response;

        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
        CHECK_EQ(eddy_http_response_discard(response), 0);
        CHECK_STR(eddy_http_response_trailer(response, "A"), "1");
        CHECK_STR(eddy_http_response_trailer(response, "B"), "2");
        CHECK(!eddy_http_response_trailer(response, "Content-Length"));
        CHECK_EQ(eddy_http_response_trailer_at(response, 2, &trailer), -ENOENT);
        eddy_http_response_close(response);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig->peer.accepted, 1);
}

/* ---- folded fields ------------------------------------------------------------------- */

CLIENT_TEST_BOTH(folded_fields_and_trailers_are_read_with_spaces, NULL,
                 SCRIPT("?", "<HTTP/1.1 200 OK\r\nA: one\r", "+\n", "+ two\r\n\tthree\r\nTransfer-",
                        "+Encoding:\r\n", "+ chunked\r\nB:\r\n b\r\n\r\n2\r\nok\r\n0\r\nC: c\r\n",
                        "+ \t d\r\n\r\n", OK_2))
{
        eddy_http_response *response;
        const void *body;
        size_t bytes;

        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
        CHECK_STR(eddy_http_response_header(response, "A"), "one   two  \tthree");
        CHECK_STR(eddy_http_response_header(response, "B"), "b");
        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        CHECK_EQ(bytes, 2);
        CHECK_STR(eddy_http_response_trailer(response, "C"), "c d");
        eddy_http_response_close(response);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig->peer.accepted, 1);
}

/* ---- the request --------------------------------------------------------------------- */

/* The server answers a request that it does not read, and closes. */
static int answer_at_once(void *arg)
{
        static const char answer[] =
                "HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno";
        eddy_stream *stream;

        while (eddy_listener_accept(arg, &stream) == 0) {
                CHECK_EQ(eddy_stream_write(stream, answer, sizeof(answer) - 1), 0);
                eddy_stream_close(stream);
        }
        return 0;
}

static void pause_before_sending(const struct eddy_http_attempt *attempt, void *arg)
{
        (void) attempt;
        (void) arg;
        CHECK_EQ(eddy_sleep(EDDY_MS(50)), 0);
}

static int send_late(void *arg)
{
        static const struct eddy_http_hooks hooks = { .on_send = pause_before_sending };
        struct eddy_http_request request = { .url = "http://h/", .hooks = &hooks };
        char path[64];
        struct eddy_http_client_opts opts = { .unix_path = path };
        eddy_http_response *response;
        eddy_http_client *client;
        eddy_listener *listener;
        eddy_scope scope;

        (void) arg;
        snprintf(path, sizeof(path), "@eddy-info-%d", (int) getpid());
        CHECK_EQ(eddy_unix_listen(opts.unix_path, NULL, &listener), 0);
        CHECK_EQ(eddy_http_client_new(&opts, &client), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, answer_at_once, listener), 0);
        for (int i = 0; i < 2; i++) { /* the second response is in the memory of the first */
                CHECK_EQ(eddy_http_client_send(client, &request, &response), 0);
                CHECK_EQ(eddy_http_response_status(response), 413);
                CHECK(!info_of(response).request_sent);
                eddy_http_response_close(response);
        }
        eddy_http_client_close(client);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_listener_close(listener);
        return 0;
}

TEST(request_that_the_peer_does_not_take_is_reported)
{
        http_run_real(send_late, NULL);
}
