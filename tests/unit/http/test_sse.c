/*
 * test_sse.c - streams of server-sent events: reconnection, what ends them, cancels between any two
 * bytes, and what a server sees when the reader leaves.
 */
#include "coded.h"
#include "eddy/test.h"
#include "http_test.h"

#define HEAD   "HTTP/1.1 200 OK\r\n"
#define EVENTS HEAD "Content-Type: text/event-stream\r\n\r\n" /* until the close */
#define CHUNKED                                                                                    \
        HEAD "Content-Type: Text/Event-Stream; charset=utf-8\r\n"                                  \
             "Transfer-Encoding: chunked\r\n\r\n"
#define NO_CONTENT "HTTP/1.1 204 No Content\r\n\r\n"

static eddy_http_sse *open_events(struct rig *rig, const struct eddy_http_sse_opts *opts)
{
        struct eddy_http_request request = { .url = rig->url };
        eddy_http_sse *sse;

        CHECK_EQ(eddy_http_sse_open(rig->client, &request, opts, &sse), 0);
        return sse;
}

static void check_event(eddy_http_sse *sse, const char *type, const char *data, const char *id)
{
        struct eddy_http_sse_event event;

        CHECK_EQ(eddy_http_sse_next(sse, &event), 1);
        CHECK_STR(event.type, type);
        CHECK_STR(event.data, data);
        CHECK_EQ(event.data_bytes, strlen(data));
        CHECK_STR(event.id, id);
}

static int next_result(eddy_http_sse *sse)
{
        struct eddy_http_sse_event event;

        return eddy_http_sse_next(sse, &event);
}

static struct eddy_http_sse_info info_of(const eddy_http_sse *sse)
{
        struct eddy_http_sse_info info;

        eddy_http_sse_info(sse, &info);
        return info;
}

static bool was_asked(const struct rig *rig, const char *line)
{
        return strstr(rig->peer.last, line) != NULL;
}

CLIENT_TEST_BOTH(events_are_read_in_order, NULL,
                 SCRIPT(EVENTS ": hello\n\nevent: a\nid: 1\nretry: 7000\ndata: x\ndata: y\n\n",
                        "<data: z\r\n\r\n"))
{
        eddy_http_sse *sse = open_events(rig, NULL);

        CHECK_EQ(info_of(sse).retry_ns, EDDY_SEC(3));
        check_event(sse, "a", "x\ny", "1");
        check_event(sse, "message", "z", "1");
        CHECK(was_asked(rig, "\r\nAccept: text/event-stream\r\n"));
        CHECK(was_asked(rig, "\r\nCache-Control: no-store\r\n"));
        CHECK(!was_asked(rig, "Last-Event-ID"));
        CHECK_EQ(info_of(sse).retry_ns, EDDY_SEC(7));
        CHECK_EQ(info_of(sse).connections, 1);
        CHECK_STR(info_of(sse).last_event_id, "1");
        CHECK_EQ(eddy_http_response_status(info_of(sse).response), 200);
        eddy_http_sse_close(sse);
        CHECK_STATS(rig->client, 0, 0, 0);
}

CLIENT_TEST(headers_of_the_caller_replace_those_of_the_stream, NULL, SCRIPT(EVENTS "data: a\n\n"))
{
        const struct eddy_http_header headers[] = { { "accept", "a/b" },
                                                    { "cache-control", "no-cache" } };
        struct eddy_http_request request = { .url = rig->url,
                                             .headers = headers,
                                             .headers_count = 2 };
        eddy_http_sse *sse;

        CHECK_EQ(eddy_http_sse_open(rig->client, &request, NULL, &sse), 0);
        CHECK(was_asked(rig, "\r\naccept: a/b\r\n"));
        CHECK(was_asked(rig, "\r\ncache-control: no-cache\r\n"));
        CHECK(!was_asked(rig, "event-stream") && !was_asked(rig, "no-store"));
        eddy_http_sse_close(sse);
}

/* ---- reconnection ----------------------------------------------------------- */

CLIENT_TEST(stream_that_ends_is_continued_by_the_last_id, NULL,
            SCRIPT(EVENTS "data: a\nid: 5\n\nid: 6\ndata: lost\n", "~"), SCRIPT(EVENTS, "~"),
            SCRIPT(CHUNKED "9\r\ndata: b\n\n\r\n0\r\n\r\n"))
{
        eddy_http_sse *sse = open_events(rig, NULL);
        int64_t began_ns;

        check_event(sse, "message", "a", "5");
        CHECK(!was_asked(rig, "Last-Event-ID"));
        began_ns = eddy_now();
        check_event(sse, "message", "b", "5");
        CHECK(was_asked(rig, "\r\nLast-Event-ID: 5\r\n"));
        CHECK(eddy_now() - began_ns >= 2 * EDDY_SEC(3));
        CHECK(eddy_now() - began_ns < 2 * EDDY_SEC(4) + EDDY_MS(100));
        CHECK_EQ(info_of(sse).connections, 3);
        eddy_http_sse_close(sse);
}

CLIENT_TEST(stream_that_breaks_is_continued_after_the_time_of_the_server, NULL,
            SCRIPT(EVENTS "retry: 20000\n\nretry: x\ndata: a\n\n", "!"),
            SCRIPT(CHUNKED "9\r\ndata: b\n\n\r\n", "~"), SCRIPT(EVENTS "data: c\n\n"))
{
        eddy_http_sse *sse = open_events(rig, NULL);
        int64_t began_ns = eddy_now();

        check_event(sse, "message", "a", "");
        check_event(sse, "message", "b", "");
        CHECK(eddy_now() - began_ns >= EDDY_SEC(20));
        check_event(sse, "message", "c", "");
        CHECK(eddy_now() - began_ns >= EDDY_SEC(40));
        CHECK(!was_asked(rig, "Last-Event-ID"));
        eddy_http_sse_close(sse);
}

CLIENT_TEST(id_that_a_header_cannot_have_is_not_sent, NULL,
            SCRIPT(EVENTS "id: a\x01\ndata: a\n\n", "~"), SCRIPT(EVENTS "data: b\n\n"))
{
        eddy_http_sse *sse = open_events(rig, NULL);

        check_event(sse, "message", "a", "a\x01");
        check_event(sse, "message", "b", "a\x01");
        CHECK(!was_asked(rig, "Last-Event-ID"));
        eddy_http_sse_close(sse);
}

CLIENT_TEST(empty_id_ends_the_id, NULL, SCRIPT(EVENTS "data: a\n\nid:\ndata: b\n\n", "~"),
            SCRIPT(EVENTS "data: c\n\n"))
{
        eddy_http_sse *sse = open_events(rig, &(struct eddy_http_sse_opts){ .last_event_id = "x" });

        CHECK(was_asked(rig, "\r\nLast-Event-ID: x\r\n"));
        check_event(sse, "message", "a", "x");
        check_event(sse, "message", "b", "");
        check_event(sse, "message", "c", "");
        CHECK(!was_asked(rig, "Last-Event-ID"));
        eddy_http_sse_close(sse);
}

/* A server's huge time counts as an hour; the run would end before. */
CLIENT_TEST(time_of_a_server_has_a_maximum, NULL,
            SCRIPT(EVENTS "retry: 99999999999999\n\ndata: a\n\n"))
{
        eddy_http_sse *sse = open_events(rig, NULL);

        check_event(sse, "message", "a", "");
        CHECK_EQ(info_of(sse).retry_ns, EDDY_MIN(60));
        eddy_http_sse_close(sse);
}

CLIENT_TEST(silence_breaks_a_stream, OPTIONS(.timeouts = { .read_ns = EDDY_SEC(2) }),
            SCRIPT(EVENTS "data: a\n\n", ".", "<:\n", ".", "<:\n", "."),
            SCRIPT(EVENTS "data: b\n\n"))
{
        eddy_http_sse *sse = open_events(rig, NULL);

        check_event(sse, "message", "a", "");
        check_event(sse, "message", "b", "");
        CHECK_EQ(info_of(sse).connections, 2);
        eddy_http_sse_close(sse);
}

/* ---- what ends the events --------------------------------------------------- */

CLIENT_TEST(status_204_ends_the_events, NULL, SCRIPT(EVENTS "data: a\n\n", "~"), SCRIPT(NO_CONTENT))
{
        eddy_http_sse *sse = open_events(rig, NULL);

        check_event(sse, "message", "a", "");
        CHECK_EQ(next_result(sse), 0);
        CHECK_EQ(next_result(sse), 0);
        CHECK_EQ(rig->peer.requests, 2);
        CHECK(info_of(sse).response == NULL);
        eddy_http_sse_close(sse);
}

CLIENT_TEST(events_may_end_before_they_begin, NULL, SCRIPT(NO_CONTENT))
{
        eddy_http_sse *sse = open_events(rig, NULL);

        CHECK_EQ(next_result(sse), 0);
        eddy_http_sse_close(sse);
        CHECK_STATS(rig->client, 1, 1, 0);
}

static int open_result(struct rig *rig, struct eddy_http_fault *fault)
{
        struct eddy_http_request request = { .url = rig->url, .ret_fault = fault };
        eddy_http_sse *sse = NULL;
        int err = eddy_http_sse_open(rig->client, &request, NULL, &sse);

        CHECK(err < 0 && !sse);
        return err;
}

CLIENT_TEST(response_of_another_kind_is_an_error, NULL,
            SCRIPT(HEAD "Content-Type: text/html\r\nContent-Length: 2\r\n\r\nok",
                   HEAD "Content-Type: text/event-streams\r\nContent-Length: 2\r\n\r\nok",
                   HEAD "Content-Type: text/event-strea\r\nContent-Length: 2\r\n\r\nok", OK_2,
                   "HTTP/1.1 401 No\r\nContent-Length: 14\r\n\r\n{\"error\":\"no\"}",
                   "HTTP/1.1 302 No\r\nLocation: /a\r\nContent-Length: 0\r\n\r\n",
                   "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"))
{
        struct eddy_http_fault fault;

        CHECK_ERR(open_result(rig, NULL), EDDY_E_HTTP_CONTENT_TYPE);
        CHECK_ERR(open_result(rig, NULL), EDDY_E_HTTP_CONTENT_TYPE);
        CHECK_ERR(open_result(rig, &fault), EDDY_E_HTTP_CONTENT_TYPE);
        CHECK_STR(fault.text,
                  "the response has the Content-Type text/event-strea; text/event-stream is "
                  "expected");
        CHECK_ERR(open_result(rig, &fault), EDDY_E_HTTP_CONTENT_TYPE);
        CHECK_STR(fault.text, "the response has no Content-Type; text/event-stream is expected");
        CHECK_ERR(open_result(rig, &fault), EDDY_E_HTTP_STATUS);
        CHECK_EQ(fault.status, 401);
        CHECK_EQ(fault.body_bytes, 14);
        CHECK_STR(fault.body, "{\"error\":\"no\"}");
        CHECK(strstr(fault.text, "401"));
        CHECK_ERR(open_result(rig, &fault), EDDY_E_HTTP_STATUS);
        CHECK_EQ(fault.status, 302);
        CHECK_STR(fault.body, "");
        CHECK_ERR(open_result(rig, NULL), EDDY_E_HTTP_STATUS);
        CHECK_EQ(rig->peer.requests, 7);
}

CLIENT_TEST(final_status_ends_the_reconnection, NULL, SCRIPT(EVENTS "data: a\n\n", "~"),
            SCRIPT("HTTP/1.1 404 No\r\nContent-Length: 4\r\n\r\ngone"))
{
        struct eddy_http_fault fault;
        struct eddy_http_request request = { .url = rig->url, .ret_fault = &fault };
        eddy_http_sse *sse;

        CHECK_EQ(eddy_http_sse_open(rig->client, &request, NULL, &sse), 0);
        check_event(sse, "message", "a", "");
        CHECK_ERR(next_result(sse), EDDY_E_HTTP_STATUS);
        CHECK_ERR(next_result(sse), EDDY_E_HTTP_STATUS);
        CHECK_EQ(fault.status, 404);
        CHECK_STR(fault.body, "gone");
        CHECK_EQ(rig->peer.requests, 2);
        eddy_http_sse_close(sse);
}

#define BUSY "HTTP/1.1 503 No\r\nRetry-After: 50\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

CLIENT_TEST(passing_status_is_tried_again_after_its_time, NULL, SCRIPT(EVENTS "data: a\n\n", "~"),
            SCRIPT(BUSY), SCRIPT(BUSY), SCRIPT(EVENTS "data: b\n\n"))
{
        eddy_http_sse *sse = open_events(rig, NULL);
        int64_t began_ns = eddy_now();

        check_event(sse, "message", "a", "");
        check_event(sse, "message", "b", "");
        CHECK(eddy_now() - began_ns >= EDDY_SEC(100));
        eddy_http_sse_close(sse);
}

CLIENT_TEST(connections_that_fail_in_a_row_are_counted, NULL, SCRIPT(EVENTS "data: a\n\n", "~"),
            SCRIPT("?", "~"), SCRIPT("?", "!"), SCRIPT(EVENTS, "~"), SCRIPT("?", "~"))
{
        eddy_http_sse *sse = open_events(
                rig, &(struct eddy_http_sse_opts){ .reconnects_max = 3, .retry_ns = EDDY_MS(1) });

        check_event(sse, "message", "a", "");
        CHECK_ERR(next_result(sse), EDDY_E_HTTP_CLOSED);
        CHECK_ERR(next_result(sse), EDDY_E_HTTP_CLOSED);
        CHECK_EQ(rig->peer.accepted, 4 + 3); /* the fourth had a stream */
        CHECK(info_of(sse).response == NULL);
        eddy_http_sse_close(sse);
}

static void check_once(struct rig *rig, const struct eddy_http_request *request,
                       const struct eddy_http_sse_opts *opts, int result)
{
        struct eddy_http_request whole = *request;
        eddy_http_sse *sse;

        whole.url = rig->url;
        CHECK_EQ(eddy_http_sse_open(rig->client, &whole, opts, &sse), 0);
        check_event(sse, "message", "a", "");
        CHECK_EQ(next_result(sse), result);
        CHECK_EQ(next_result(sse), result);
        eddy_http_sse_close(sse);
}

CLIENT_TEST(request_that_may_not_be_repeated_is_sent_once, NULL, SCRIPT(EVENTS "data: a\n\n", "~"),
            SCRIPT(CHUNKED "9\r\ndata: a\n\n\r\n", "~"), SCRIPT(EVENTS "data: a\n\n", "~"))
{
        struct eddy_http_request post = { .body = "{}", .body_bytes = 2 };
        struct eddy_http_request get = { .method = "GET" };

        check_once(rig, &post, NULL, 0);
        check_once(rig, &post, NULL, EDDY_E_HTTP_TRUNCATED);
        check_once(rig, &get, &(struct eddy_http_sse_opts){ .flags = EDDY_HTTP_SSE_ONCE }, 0);
        CHECK_EQ(rig->peer.requests, 3);
}

CLIENT_TEST(event_that_is_too_large_is_an_error, NULL,
            SCRIPT(EVENTS "data: 123\n\n", "<: a long comment\ndata: 1234\n\n"))
{
        struct eddy_http_fault fault;
        struct eddy_http_request request = { .url = rig->url, .ret_fault = &fault };
        struct eddy_http_sse_opts opts = { .event_bytes_max = 9 };
        eddy_http_sse *sse;

        CHECK_EQ(eddy_http_sse_open(rig->client, &request, &opts, &sse), 0);
        check_event(sse, "message", "123", "");
        CHECK_STR(fault.text, "");
        CHECK_ERR(next_result(sse), EDDY_E_HTTP_TOO_LARGE);
        CHECK_STR(fault.text, "an event is larger than 9 bytes (event_bytes_max)");
        CHECK_ERR(next_result(sse), EDDY_E_HTTP_TOO_LARGE);
        CHECK_EQ(rig->peer.requests, 1);
        eddy_http_sse_close(sse);
}

CLIENT_TEST(limit_of_a_body_is_that_of_the_request_only, OPTIONS(.body_bytes_max = 3),
            SCRIPT(EVENTS "data: a\n\ndata: a\n\n"), SCRIPT(EVENTS "data: a\n\n", "+data: b\n\n"))
{
        struct eddy_http_fault fault;
        struct eddy_http_request request = { .url = rig->url,
                                             .body_bytes_max = 12,
                                             .ret_fault = &fault };
        eddy_http_sse *sse = open_events(rig, NULL);

        check_event(sse, "message", "a", "");
        check_event(sse, "message", "a", "");
        eddy_http_sse_close(sse);
        CHECK_EQ(eddy_http_sse_open(rig->client, &request,
                                    &(struct eddy_http_sse_opts){ .flags = EDDY_HTTP_SSE_ONCE },
                                    &sse),
                 0);
        check_event(sse, "message", "a", "");
        CHECK_ERR(next_result(sse), EDDY_E_HTTP_TOO_LARGE);
        CHECK_STR(fault.text,
                  "the message is larger than its limit: the body is larger than its limit");
        eddy_http_sse_close(sse);
}

CLIENT_TEST(arguments_of_a_stream_of_events_are_checked, NULL, SCRIPT(EVENTS "data: a\n\n"))
{
        struct eddy_http_fault fault;
        struct eddy_http_request request = { .url = rig->url, .ret_fault = &fault };
        struct eddy_http_sse_event event;
        static const struct {
                struct eddy_http_sse_opts opts;
                const char *text;
        } wrong[] = {
                { { .event_bytes_max = EDDY_HTTP_SSE_EVENT_BYTES_MAX + 1U },
                  "event_bytes_max: it is above the maximum" },
                { { .retry_ns = -1 }, "retry_ns: it is negative" },
                { { .flags = 2 }, "flags: a flag is unknown" },
                { { .last_event_id = "a\n" }, "last_event_id: a header cannot have this value" },
        };
        eddy_http_sse *sse;

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                CHECK_EQ(eddy_http_sse_open(rig->client, &request, &wrong[i].opts, &sse), -EINVAL);
                CHECK_STR(fault.text, wrong[i].text);
        }
        CHECK_EQ(eddy_http_sse_open(NULL, &request, NULL, &sse), -EINVAL);
        CHECK_EQ(eddy_http_sse_open(rig->client, NULL, NULL, &sse), -EINVAL);
        CHECK_EQ(eddy_http_sse_open(rig->client, &request, NULL, NULL), -EINVAL);
        CHECK_EQ(eddy_http_sse_next(NULL, &event), -EINVAL);
        eddy_http_sse_info(NULL, NULL);
        CHECK_STR(info_of(NULL).last_event_id, "");
        eddy_http_sse_close(NULL);
        sse = open_events(rig, NULL);
        CHECK_EQ(eddy_http_sse_next(sse, NULL), -EINVAL);
        check_event(sse, "message", "a", "");
        eddy_http_client_close(rig->client);
        CHECK_ERR(next_result(sse), EDDY_E_HTTP_CLIENT_CLOSED);
        eddy_http_sse_close(sse);
        rig->client = NULL;
}

/* ---- cancels ---------------------------------------------------------------- */

/* A chat answer: three tokens, byte by byte; the second reader gets a stream that ends. */
static const char chat[] = "data: {\"token\":\"a\"}\r\n\r\n: ping\n\ndata: {\"token\":\"b\"}\n\n"
                           "id: 7\rdata: {\"token\":\"c\"}\r\rdata: [DONE]\n\n";

static struct {
        int answers, cancelled, ended;
        int64_t last_ns; /* of the last byte, or of the cancel */
        bool cuts;       /* the first answer ends in the middle */
} server;

static int answer_bytes(eddy_http_exchange *exchange, size_t first, size_t end)
{
        int err = eddy_http_exchange_begin(
                exchange, 200, &(struct eddy_http_header){ "Content-Type", "text/event-stream" }, 1,
                -1);

        for (size_t i = first; i < end && err == 0; i++) {
                err = eddy_http_exchange_write(exchange, chat + i, 1);
                if (err == 0)
                        err = eddy_http_exchange_flush(exchange);
                if (err == 0)
                        err = eddy_sleep(EDDY_MS(10));
        }
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

static int chat_handle(eddy_http_exchange *exchange, void *arg)
{
        size_t bytes = sizeof(chat) - 1;
        const char *id = eddy_http_exchange_header(exchange, "Last-Event-ID");
        int err;

        (void) arg;
        if (server.cuts)
                err = id ? answer_bytes(exchange, (size_t) (strstr(chat, "data: [DONE]") - chat),
                                        bytes)
                         : answer_bytes(exchange, 0, bytes - 5);
        else
                err = answer_bytes(exchange, 0, bytes);
        server.answers++;
        server.cancelled += err < 0;
        server.last_ns = eddy_now();
        return err;
}

static const char *const tokens[] = { "{\"token\":\"a\"}", "{\"token\":\"b\"}", "{\"token\":\"c\"}",
                                      "[DONE]" };

struct reading {
        eddy_http_sse *sse;
        int events;
};

static int read_events(void *arg)
{
        struct reading *reading = arg;
        struct eddy_http_sse_event event;
        int err;

        while (reading->events < 4) {
                err = eddy_http_sse_next(reading->sse, &event);
                if (err <= 0)
                        return err;
                CHECK_STR(event.data, tokens[reading->events]);
                reading->events++;
        }
        return 0;
}

static int with_chat(eddy_task_fn *fn, bool cuts)
{
        eddy_http_client *client;
        struct eddy_http_request request = { .url = "http://a/" };
        struct reading reading = { .events = 0 };
        int err = eddy_http_client_new(OPTIONS(.handler = chat_handle), &client);

        memset(&server, 0, sizeof(server));
        server.cuts = cuts;
        if (err < 0)
                return err;
        err = eddy_http_sse_open(client, &request, NULL, &reading.sse);
        if (err == 0) {
                err = fn(&reading);
                eddy_http_sse_close(reading.sse);
        }
        eddy_http_client_close(client);
        return err;
}

/* Cancelled each few bytes, with the last event in another stream. */
static int read_in_short_times(void *arg)
{
        struct reading *reading = arg;
        int err, cancels = 0;

        while ((err = eddy_call_timeout(read_events, reading, EDDY_MS(11))) == -ETIMEDOUT)
                cancels++;
        CHECK(cancels > 60);
        return err;
}

static int read_a_cut_chat_in_short_times(void *arg)
{
        int err = with_chat(read_in_short_times, true);

        (void) arg;
        CHECK_EQ(server.answers, 2);
        return err;
}

TEST(events_are_cancelled_between_any_two_bytes_and_none_is_lost)
{
        http_run(read_a_cut_chat_in_short_times, NULL);
}

static int64_t leave_ns;

static int read_for_a_while(void *arg)
{
        struct reading *reading = arg;
        int64_t left_ns;

        CHECK_ERR(eddy_call_timeout(read_events, reading, leave_ns), -ETIMEDOUT);
        eddy_http_sse_close(reading->sse);
        reading->sse = NULL;
        left_ns = eddy_now();
        CHECK_EQ(server.answers, 0);
        http_pause(EDDY_MS(100));
        CHECK_EQ(server.answers, 1);
        CHECK_EQ(server.cancelled, 1);
        CHECK(server.last_ns - left_ns <= EDDY_MS(10));
        return 0;
}

static int leave_at_any_time(void *arg)
{
        (void) arg;
        /* Between each two bytes, and so between any two tokens. */
        for (size_t i = 0; i + 2 < sizeof(chat); i++) {
                leave_ns = EDDY_MS(10) * (int64_t) i + EDDY_MS(5);
                CHECK_EQ(with_chat(read_for_a_while, false), 0);
        }
        return 0;
}

TEST(server_stops_when_the_reader_leaves_between_any_two_tokens)
{
        http_run(leave_at_any_time, NULL);
}

static int second_reader(void *arg)
{
        CHECK_EQ(next_result(arg), -EBUSY);
        return 0;
}

static int read_twice(void *arg)
{
        struct reading *reading = arg;
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, second_reader, reading->sse);
        err = read_events(reading);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        return err;
}

static int two_read(void *arg)
{
        (void) arg;
        return with_chat(read_twice, false);
}

TEST(one_task_reads_events)
{
        http_run(two_read, NULL);
}

static int read_a_cut_chat(void *arg)
{
        (void) arg;
        return with_chat(read_events, true);
}

TEST(events_survive_cancels_and_short_memory)
{
        CHECK_EQ(eddy_test_run(read_a_cut_chat, NULL, NULL, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_CANCEL, read_a_cut_chat, NULL, NULL, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_ALLOC, read_a_cut_chat, NULL, NULL, NULL), 0);
}

/* A reader that waits for events before a deadline gets the deadline, also between two streams. */
CLIENT_TEST(deadline_ends_the_wait_for_another_stream, NULL, SCRIPT(EVENTS "data: a\n\n", "~"),
            SCRIPT(EVENTS "data: b\n\n"))
{
        struct reading reading = { .sse = open_events(rig, NULL), .events = 0 };

        check_event(reading.sse, "message", "a", "");
        CHECK_ERR(eddy_call_timeout(read_events, &reading, EDDY_MS(500)), -ETIMEDOUT);
        CHECK_EQ(rig->peer.requests, 1);
        check_event(reading.sse, "message", "b", "");
        eddy_http_sse_close(reading.sse);
}
