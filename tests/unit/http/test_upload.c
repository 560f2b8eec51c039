/*
 * test_upload.c - large requests whose answer begins before they are sent:
 * refused, answered at once, echoed, flooded; and what is left of them when
 * something goes wrong in the middle.
 *
 * The client returns with the answer's head, neither side waits for the
 * other for ever, and no byte of either direction is lost or kept in memory
 * without a bound.
 */
#include "cancel_at.h"
#include "eddy/test.h"
#include "eddy/test_net.h"
#include "http_test.h"
#include "loop/loop.h"

/* On the loopback more than any pair of socket buffers holds. */
enum { BODY_MAX = 16 << 20, BODY_IN_MEMORY = 1 << 20, PIECE = 8 << 10 };

TEST_ROOM(char, body, BODY_MAX);
TEST_ROOM(char, got, BODY_MAX);
TEST_ROOM(char, taken, BODY_MAX / 4);
static size_t body_bytes;

/* ---- a server of raw bytes ---------------------------------------------------- */

static struct {
        eddy_listener *listener;
        eddy_http_client *client;
        eddy_scope scope;
        eddy_task_fn *serve; /* given the stream of a connection, which it does not close */
        char url[64];
        size_t received; /* bytes of the request's body, as sent */
        size_t sent;     /* bytes of the answer's body */
        int connections;
} world;

static char pattern(size_t i)
{
        return (char) (i * 31 + i / 253);
}

static void body_fill(void)
{
        for (size_t i = 0; i < body_bytes; i++)
                body[i] = pattern(i);
}

/* Read a request's head byte by byte, so that nothing of the body is taken. */
static bool take_head(eddy_stream *stream)
{
        char head[1024];

        for (size_t n = 0; n < sizeof(head); n++) {
                if (eddy_stream_read(stream, head + n, 1) <= 0)
                        return false;
                if (n >= 3 && memcmp(head + n - 3, "\r\n\r\n", 4) == 0)
                        return true;
        }
        return false;
}

/* Some of the request's body: 0 when all has come, or at the end. */
static int64_t take_body(eddy_stream *stream, char *buf, size_t room)
{
        size_t want = body_bytes - world.received < room ? body_bytes - world.received : room;
        int64_t n = want ? eddy_stream_read(stream, buf, want) : 0;

        if (n > 0) {
                for (int64_t i = 0; i < n; i++)
                        CHECK_EQ(buf[i], pattern(world.received + (size_t) i));
                world.received += (size_t) n;
        }
        return n;
}

static int say(eddy_stream *stream, const char *text)
{
        return eddy_stream_write(stream, text, strlen(text));
}

static int serve_one(void *arg)
{
        (void) world.serve(arg);
        eddy_stream_close(arg);
        return 0;
}

static int accept_all(void *arg)
{
        eddy_stream *stream;

        (void) arg;
        while (eddy_listener_accept(world.listener, &stream) == 0) {
                world.connections++;
                CHECK_EQ(eddy_scope_start(&world.scope, serve_one, stream), 0);
        }
        return 0;
}

static int64_t stay_open(eddy_stream *stream)
{
        (void) stream;
        return eddy_sleep(EDDY_MIN(5));
}

/* ---- a client ------------------------------------------------------------------- */

static int post(eddy_http_response **ret_response)
{
        int err = eddy_http_client_send(world.client,
                                        &(struct eddy_http_request){
                                                .url = world.url,
                                                .body = body,
                                                .body_bytes = body_bytes,
                                        },
                                        ret_response);

        /* The caller's memory is his own again: whatever is still sent is not read from there. */
        memset(body, '?', body_bytes);
        return err;
}

static bool was_sent(const eddy_http_response *response)
{
        struct eddy_http_response_info info;

        eddy_http_response_info(response, &info);
        return info.request_sent;
}

struct world_call {
        eddy_task_fn *serve;
        void (*steps)(void);
        const struct eddy_test_link *link;
        bool real;
};

static int world_main(void *arg)
{
        const struct world_call *call = arg;

        memset(&world, 0, sizeof(world));
        body_bytes = call->real ? BODY_MAX : BODY_IN_MEMORY;
        body_fill();
        world.serve = call->serve;
        if (call->link)
                CHECK_EQ(eddy_test_link_set(call->link), 0);
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &world.listener), 0);
        snprintf(world.url, sizeof(world.url), "http://127.0.0.1:%u/",
                 eddy_listener_port(world.listener));
        CHECK_EQ(eddy_http_client_new(NULL, &world.client), 0);
        eddy_scope_begin(&world.scope, NULL);
        CHECK_EQ(eddy_scope_start(&world.scope, accept_all, NULL), 0);
        call->steps();
        eddy_http_client_close(world.client);
        eddy_scope_cancel(&world.scope);
        CHECK_EQ(eddy_scope_end(&world.scope), 0);
        eddy_listener_close(world.listener);
        return 0;
}

/* In memory, with buffers of several sizes, and on the loopback. */
static void world_run(eddy_task_fn *serve, void (*steps)(void))
{
        static const uint32_t buffers[] = { 0, 1000, 70000 };
        struct eddy_test_link link = { .delay_ns = EDDY_US(100) };
        struct world_call call = { serve, steps, &link };

        for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
                link.buffer_bytes = buffers[i];
                http_run(world_main, &call);
        }
        call.link = NULL;
        call.real = true;
        http_run_real(world_main, &call);
}

/* ---- refused ---------------------------------------------------------------------- */

static int refuse(void *arg)
{
        if (!take_head(arg) ||
            say(arg, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 7\r\n\r\n") < 0)
                return 0;
        /* The rest comes when the client has returned from its call. */
        if (eddy_sleep(EDDY_SEC(2)) < 0 || say(arg, "too big") < 0)
                return 0;
        return (int) stay_open(arg);
}

static void early_refusal(void)
{
        int64_t begun_ns = eddy_now();
        eddy_http_response *response;
        const void *data;
        size_t bytes;

        CHECK_EQ(post(&response), 0);
        CHECK_EQ(eddy_http_response_status(response), 413);
        CHECK(eddy_now() - begun_ns < EDDY_SEC(2));
        CHECK(!was_sent(response));
        CHECK_EQ(eddy_http_response_body(response, &data, &bytes), 0);
        CHECK_STR(data, "too big");
        CHECK(!was_sent(response));
        CHECK_STATS(world.client, 0, 0, 0);
        eddy_http_response_close(response);
}

/* B12: An early answer ends the sending. */
TEST(a_refusal_is_returned_at_once_and_its_body_can_be_read)
{
        world_run(refuse, early_refusal);
}

/* ---- answered at once ---------------------------------------------------------------- */

#define INTERIM "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
#define WHOLE   "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

/* The whole answer first; then the request is read, slowly. */
static int answer_first(void *arg)
{
        int64_t n = 1;

        while (take_head(arg)) {
                if (say(arg, INTERIM) < 0 || eddy_sleep(EDDY_MS(1)) < 0 || say(arg, WHOLE) < 0)
                        return 0;
                world.received = 0;
                while (n > 0 && world.received < body_bytes) {
                        n = eddy_sleep(EDDY_MS(20));
                        if (n == 0)
                                n = take_body(arg, taken, body_bytes / 4);
                }
        }
        return 0;
}

static void whole_upload(void)
{
        for (int i = 0; i < 2; i++) {
                eddy_http_response *response;
                const void *data;
                size_t bytes;

                body_fill();
                CHECK_EQ(post(&response), 0);
                CHECK_EQ(eddy_http_response_status(response), 200);
                CHECK_EQ(eddy_http_response_body(response, &data, &bytes), 0);
                CHECK_STR(data, "ok");
                CHECK(was_sent(response));
                eddy_http_response_close(response);
                /* All was sent, so the connection is used again. */
                CHECK_STATS(world.client, 1, 1, 0);
        }
        while (world.received < body_bytes)
                http_pause(EDDY_MS(20));
        CHECK_EQ(world.connections, 1);
}

TEST(a_request_that_is_answered_first_is_still_sent_whole)
{
        struct eddy_test_link link = { .buffer_bytes = 200000 };
        struct world_call call = { answer_first, whole_upload, &link };

        http_run(world_main, &call);
        call.link = NULL;
        call.real = true;
        http_run_real(world_main, &call);
}

/* The whole answer, and the request is never read. */
static int answer_only(void *arg)
{
        if (!take_head(arg) || say(arg, WHOLE) < 0)
                return 0;
        return (int) stay_open(arg);
}

static void given_up(void)
{
        int64_t begun_ns = eddy_now();
        eddy_http_response *response;
        const void *data;
        size_t bytes;

        CHECK_EQ(post(&response), 0);
        CHECK_EQ(eddy_http_response_status(response), 200);
        CHECK_EQ(eddy_http_response_body(response, &data, &bytes), 0);
        CHECK_STR(data, "ok");
        CHECK(!was_sent(response));
        CHECK(eddy_now() - begun_ns < EDDY_SEC(4));
        CHECK_STATS(world.client, 0, 0, 0);
        eddy_http_response_close(response);
}

TEST(a_peer_that_takes_no_more_after_its_answer_is_given_up_after_a_second)
{
        world_run(answer_only, given_up);
}

/* ---- echoed -------------------------------------------------------------------------- */

/* One task that reads and writes in turn: it does not read while it cannot write. */
static int echo(void *arg)
{
        char head[128], buf[PIECE];
        int64_t n;

        if (!take_head(arg))
                return 0;
        snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", body_bytes);
        if (say(arg, head) < 0)
                return 0;
        while ((n = take_body(arg, buf, sizeof(buf))) > 0) {
                if (eddy_stream_write(arg, buf, (size_t) n) < 0)
                        return 0;
                world.sent += (size_t) n;
        }
        return (int) stay_open(arg);
}

static void check_got(size_t bytes)
{
        CHECK_EQ(bytes, body_bytes);
        for (size_t i = 0; i < body_bytes; i++)
                if (got[i] != pattern(i))
                        test_fail(__FILE__, __LINE__, "byte %zu is wrong", i);
}

/* Read to the end; returns how much has come. */
static size_t read_rest(eddy_http_response *response, size_t at)
{
        int64_t n;

        while ((n = eddy_http_response_read(response, got + at,
                                            body_bytes - at < 5000 ? body_bytes - at + 1 : 5000)) >
               0)
                at += (size_t) n;
        CHECK_EQ(n, 0);
        return at;
}

static void echo_in_pieces(void)
{
        eddy_http_response *response;

        CHECK_EQ(post(&response), 0);
        CHECK(world.received < body_bytes);
        CHECK(!was_sent(response));
        check_got(read_rest(response, 0));
        CHECK(was_sent(response));
        CHECK_EQ(world.received, body_bytes);
        CHECK_STATS(world.client, 1, 1, 0);
        eddy_http_response_close(response);
}

TEST(an_echo_is_read_in_pieces_while_the_request_goes_out)
{
        world_run(echo, echo_in_pieces);
}

static void echo_at_once(void)
{
        eddy_http_response *response;
        const void *data;
        size_t bytes;

        CHECK_EQ(post(&response), 0);
        CHECK_EQ(eddy_http_response_body(response, &data, &bytes), 0);
        memcpy(got, data, bytes);
        check_got(bytes);
        CHECK_STATS(world.client, 1, 1, 0);
        eddy_http_response_close(response);
}

/* B12: Neither side waits for the other without an end. */
TEST(an_echo_is_read_whole_while_the_request_goes_out)
{
        world_run(echo, echo_at_once);
}

static void echo_dropped(void)
{
        eddy_http_response *response;

        CHECK_EQ(post(&response), 0);
        CHECK_EQ(eddy_http_response_discard(response), 0);
        CHECK_EQ(world.sent, body_bytes);
        CHECK_STATS(world.client, 1, 1, 0);
        eddy_http_response_close(response);
}

TEST(an_echo_is_dropped_while_the_request_goes_out)
{
        world_run(echo, echo_dropped);
}

/* The answer is not read: the connection ends with the response. */
static void echo_unread(void)
{
        eddy_http_response *response;

        CHECK_EQ(post(&response), 0);
        eddy_http_response_close(response);
        CHECK_STATS(world.client, 0, 0, 0);
        http_pause(EDDY_MS(50));
        CHECK(world.received < body_bytes);
}

TEST(an_answer_that_is_not_read_ends_the_upload)
{
        world_run(echo, echo_unread);
}

/* ---- flooded --------------------------------------------------------------------------- */

/* An answer without end, and nothing of the request is read. */
static int flood(void *arg)
{
        static const char zeros[PIECE];
        int err;

        if (!take_head(arg))
                return 0;
        err = say(arg, "HTTP/1.1 200 OK\r\n\r\n");
        while (err == 0) {
                err = eddy_stream_write(arg, zeros, sizeof(zeros));
                world.sent += sizeof(zeros);
        }
        return 0;
}

static size_t most_bytes, now_bytes;

/* Counts what is allocated; each block has its size before it. */
static void *count_bytes(void *arg, void *ptr, size_t bytes)
{
        size_t *block = ptr ? (size_t *) ptr - 2 : NULL;

        (void) arg;
        if (block)
                now_bytes -= *block;
        if (bytes == 0) {
                free(block);
                return NULL;
        }
        block = realloc(block, bytes + 2 * sizeof(*block));
        CHECK(block);
        *block = bytes;
        now_bytes += bytes;
        if (now_bytes > most_bytes)
                most_bytes = now_bytes;
        return block + 2;
}

/* The request's copy, and little else. */
static void flooded(void)
{
        eddy_http_response *response;
        static char buf[100000];
        size_t before;

        most_bytes = now_bytes;
        before = now_bytes;
        CHECK_EQ(post(&response), 0);
        CHECK_EQ(eddy_http_response_status(response), 200);
        /* A second for the flood, in which nobody reads. */
        http_pause(EDDY_SEC(1));
        CHECK(most_bytes - before < body_bytes + (256 << 10));
        for (size_t at = 0; at < (size_t) (40 << 20);) {
                int64_t n = eddy_http_response_read(response, buf, sizeof(buf));

                CHECK(n > 0);
                at += (size_t) n;
        }
        CHECK(most_bytes - before < body_bytes + (256 << 10));
        eddy_http_response_close(response);
        CHECK_STATS(world.client, 0, 0, 0);
}

TEST(a_flood_is_held_up_and_not_kept)
{
        struct world_call call = { flood, flooded, NULL, true };

        eddy_alloc_set(count_bytes, NULL);
        http_run_real(world_main, &call);
}

/* ---- cancelled in the middle -------------------------------------------------------------- */

static struct {
        eddy_http_response *response;
        size_t at;
} reading;

static int read_call(void *arg)
{
        int64_t n = eddy_http_response_read(
                reading.response, got + reading.at,
                body_bytes - reading.at < PIECE ? body_bytes - reading.at + 1 : PIECE);

        (void) arg;
        if (n > 0)
                reading.at += (size_t) n;
        return (int) n;
}

/* A read that was cancelled loses nothing of either direction. */
static void echo_with_cancels(void)
{
        int cancelled = 0, n = 1;
        bool reached;

        reading.at = 0;
        CHECK_EQ(post(&reading.response), 0);
        for (int i = 0; n > 0 || n == -ECANCELED; i++) {
                n = cancel_at(i % 4, read_call, NULL, &reached);
                cancelled += n == -ECANCELED;
        }
        CHECK_EQ(n, 0);
        CHECK(cancelled > 5);
        check_got(reading.at);
        eddy_http_response_close(reading.response);
        /* As after any cancelled read. */
        CHECK_STATS(world.client, 0, 0, 0);
}

TEST(a_cancelled_read_loses_nothing_of_request_or_answer)
{
        world_run(echo, echo_with_cancels);
}

/* ---- broken in the middle ------------------------------------------------------------------- */

static int reset_after_some(void *arg)
{
        char buf[PIECE];

        if (!take_head(arg) || say(arg, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello") < 0)
                return 0;
        for (int i = 0; i < 10 && take_body(arg, buf, sizeof(buf)) > 0; i++)
                continue;
        return 0; /* with bytes unread, this resets it */
}

static void broken_upload(void)
{
        eddy_http_response *response;
        const void *data;
        size_t bytes;
        int err = post(&response);

        if (err == 0) {
                CHECK_EQ(eddy_http_response_status(response), 200);
                err = eddy_http_response_body(response, &data, &bytes);
                CHECK(err == -ECONNRESET || err == EDDY_E_HTTP_TRUNCATED);
                CHECK_EQ(eddy_http_response_body(response, &data, &bytes), err);
                eddy_http_response_close(response);
        } else {
                CHECK_EQ(err, -ECONNRESET); /* the reset may overtake the answer */
        }
        CHECK_STATS(world.client, 0, 0, 0);
}

TEST(a_connection_that_breaks_during_an_upload_is_an_error)
{
        world_run(reset_after_some, broken_upload);
}

/* ---- a system that cannot send ---------------------------------------------------------------- */

static int64_t (*real_send)(struct ed_sys *, int, const struct eddy_slice *, size_t);
static size_t sends_fail_at; /* bytes that go out before */

static int64_t failing_send(struct ed_sys *sys, int fd, const struct eddy_slice *slices, size_t n)
{
        if (slices->bytes > PIECE && world.received >= sends_fail_at)
                return -ENOBUFS;
        return real_send(sys, fd, slices, n);
}

/* The peer waits for the rest: without the error of the write nobody would go on. */
static void no_room(void)
{
        static struct ed_sys_socket wrapped;
        struct ed_sys *sys = ed_loop_current->sys;
        int64_t begun_ns = eddy_now();
        eddy_http_response *response;
        const void *data;
        size_t bytes;
        int err;

        wrapped = *sys->socket;
        real_send = wrapped.send;
        wrapped.send = failing_send;
        sys->socket = &wrapped;
        err = post(&response);
        if (sends_fail_at > 0) {
                CHECK_EQ(err, 0);
                err = eddy_http_response_body(response, &data, &bytes);
                CHECK_EQ(eddy_http_response_body(response, &data, &bytes), err);
                eddy_http_response_close(response);
        }
        CHECK_EQ(err, -ENOBUFS);
        CHECK(eddy_now() - begun_ns < EDDY_SEC(1));
        CHECK_STATS(world.client, 0, 0, 0);
}

TEST(a_write_that_fails_ends_the_call_that_reads_meanwhile)
{
        struct eddy_test_link link = { .buffer_bytes = 70000 };
        struct world_call call = { echo, no_room, &link };

        http_run(world_main, &call);
        sends_fail_at = 200000;
        http_run(world_main, &call);
}
