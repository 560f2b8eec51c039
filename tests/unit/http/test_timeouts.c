/*
 * test_timeouts.c - the client's limits of time: each has its own error, and
 * -ETIMEDOUT is left to the scopes of the caller.
 */
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "eddy/stream_ops.h"
#include "eddy/test.h"
#include "http/message.h"
#include "http_test.h"
#include "io/dns.h"
#include "loop/loop.h"

#define LATE_HEAD  SCRIPT("?")
#define SLOW_BODY  "?", "<HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", ".", "<o", ".", "<k"
#define STOPS_BODY SCRIPT("?", "<HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", ".", "<o")

static int get_root(void *arg)
{
        return rig_get(arg, "/");
}

static int get_dead(struct rig *rig)
{
        struct eddy_http_request request = { .url = "http://10.9.9.9/" };
        eddy_http_response *response;

        return eddy_http_client_send(rig->client, &request, &response);
}

/* The call ends with the error, after exactly this time. */
static void check_time(struct rig *rig, int (*fn)(struct rig *), int err, int64_t ns)
{
        int64_t before = eddy_now();

        CHECK_ERR(fn(rig), err);
        CHECK_EQ(eddy_now() - before, ns);
}

static int get(struct rig *rig)
{
        return rig_get(rig, "/");
}

/* ---- pool ------------------------------------------------------------------------ */

/* B20: The limit of the wait for a connection. */
CLIENT_TEST(connection_in_use_makes_the_next_request_wait_for_its_limit,
            OPTIONS(.connections_max = 1, .timeouts.pool_ns = EDDY_SEC(2)),
            SCRIPT("?", "<HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no"), SCRIPT(OK_2))
{
        eddy_http_response *response;

        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
        check_time(rig, get, EDDY_E_HTTP_TIMEOUT_POOL, EDDY_SEC(2));
        CHECK_STATS(rig->client, 1, 0, 0);
        eddy_http_response_close(response);
        CHECK_EQ(rig_get(rig, "/"), 0);
}

/* ---- connect --------------------------------------------------------------------- */

/* B20: The limit of connecting. */
CLIENT_TEST(limit_of_connecting_ends_the_opening,
            OPTIONS(.connections_max = 1, .timeouts.connect_ns = EDDY_SEC(2)), SCRIPT(OK_2))
{
        struct eddy_http_client_stats stats;

        http_let_die();
        check_time(rig, get_dead, EDDY_E_HTTP_TIMEOUT_CONNECT, EDDY_SEC(2));
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_http_client_stats(rig->client, &stats);
        CHECK_EQ(stats.spare, 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
}

/* A name server that takes queries and does not answer. */
static int silent_server(char address[32])
{
        struct sockaddr_in at = { .sin_family = AF_INET };
        socklen_t bytes = sizeof(at);
        int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        CHECK_EQ(bind(fd, (struct sockaddr *) &at, bytes), 0);
        CHECK_EQ(getsockname(fd, (struct sockaddr *) &at, &bytes), 0);
        snprintf(address, 32, "127.0.0.1:%d", ntohs(at.sin_port));
        return fd;
}

static int send_slowly(void *arg)
{
        eddy_http_response *response;

        return eddy_http_client_send(arg, &(struct eddy_http_request){ .url = "http://x.test/" },
                                     &response);
}

static struct eddy_http_fault fault;

static int send_in_a_scope(void *arg)
{
        struct eddy_http_request request = { .url = "http://x.test/", .ret_fault = &fault };
        eddy_http_response *response;

        return eddy_http_client_send(arg, &request, &response);
}

static int name_unanswered(void *arg)
{
        struct eddy_http_request request = { .url = "http://x.test/", .ret_fault = &fault };
        char address[32];
        struct ed_question_opts servers = { .servers = address, .timeout_ms = 60000 };
        int fd = silent_server(address);
        eddy_http_response *response;
        eddy_http_client *client;

        (void) arg;
        CHECK_EQ(ed_dns_set_servers(ed_loop_current, &servers), 0);
        CHECK_EQ(eddy_http_client_new(NULL, &client), 0);
        request.timeouts.connect_ns = EDDY_MS(10);
        CHECK_ERR(eddy_http_client_send(client, &request, &response), EDDY_E_HTTP_TIMEOUT_CONNECT);
        CHECK_STR(fault.text, "the name lookup of x.test had not ended");
        fault.text[0] = '\0';
        CHECK_ERR(eddy_call_timeout(send_in_a_scope, client, EDDY_MS(10)), -ETIMEDOUT);
        CHECK_STR(fault.text, "the name lookup of x.test had not ended");
        CHECK_ERR(eddy_call_timeout(send_slowly, client, EDDY_MS(10)), -ETIMEDOUT);
        eddy_http_client_close(client);
        CHECK_EQ(eddy_sleep(0), 0); /* the last opening ends, which was for other requests too */
        close(fd);
        return 0;
}

/* B15: The close of the client ends its lookups. */
TEST(limit_that_passes_during_the_name_lookup_says_so)
{
        http_run_real(name_unanswered, NULL);
}

/* ---- read ------------------------------------------------------------------------ */

/* B20, B24: The limit of reading. */
CLIENT_TEST(silence_before_the_head_has_a_limit, OPTIONS(.timeouts.read_ns = EDDY_SEC(3)),
            LATE_HEAD)
{
        check_time(rig, get, EDDY_E_HTTP_TIMEOUT_READ, EDDY_SEC(3));
        CHECK_STATS(rig->client, 0, 0, 0);
}

/* B24: The connection is closed. */
CLIENT_TEST(silence_inside_the_body_has_a_limit, OPTIONS(.timeouts.read_ns = EDDY_SEC(3)),
            STOPS_BODY)
{
        check_time(rig, get, EDDY_E_HTTP_TIMEOUT_READ, EDDY_SEC(4));
        CHECK_STATS(rig->client, 0, 0, 0);
}

CLIENT_TEST(slow_body_does_not_reach_the_limit_of_silence,
            OPTIONS(.timeouts.read_ns = EDDY_MS(1500)), SCRIPT(SLOW_BODY))
{
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_STR(rig->body, "ok");
}

/* B11: An idle connection has no such limit, and keeps none from the last response. */
CLIENT_TEST(limit_of_silence_does_not_run_between_requests,
            OPTIONS(.timeouts.read_ns = EDDY_SEC(2)), SCRIPT(OK_2, OK_2, "?"))
{
        for (int i = 0; i < 2; i++) {
                CHECK_EQ(rig_get(rig, "/"), 0);
                http_pause(EDDY_SEC(10));
                CHECK_STATS(rig->client, 1, 1, 0);
        }
        check_time(rig, get, EDDY_E_HTTP_TIMEOUT_READ, EDDY_SEC(2));
        CHECK_EQ(rig->peer.accepted, 1);
}

/* B21: The limit runs only while a call waits for the server. */
CLIENT_TEST(limit_of_silence_does_not_run_while_the_caller_pauses,
            OPTIONS(.timeouts.read_ns = EDDY_SEC(2)),
            SCRIPT("?", "<HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab", ".", ".", ".", ".",
                   "<c"))
{
        eddy_http_response *response;
        int64_t before;
        char buf[8];

        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
        CHECK_EQ(eddy_http_response_read(response, buf, sizeof(buf)), 2);
        http_pause(EDDY_SEC(3));
        CHECK_EQ(eddy_http_response_read(response, buf, sizeof(buf)), 1); /* a second later */
        http_pause(EDDY_SEC(3));
        before = eddy_now();
        CHECK_ERR(eddy_http_response_read(response, buf, sizeof(buf)), EDDY_E_HTTP_TIMEOUT_READ);
        CHECK_EQ(eddy_now() - before, EDDY_SEC(2));
        eddy_http_response_close(response);
        CHECK_STATS(rig->client, 0, 0, 0);
}

static int read_slowly(eddy_http_exchange *exchange, void *arg)
{
        static char piece[100000];
        int64_t n;

        (void) arg;
        while ((n = eddy_http_exchange_read(exchange, piece, sizeof(piece))) > 0) {
                if (eddy_sleep(EDDY_MS(100)) < 0)
                        return -ECANCELED;
                if (strcmp(eddy_http_exchange_path(exchange), "/stops") == 0)
                        (void) eddy_sleep(EDDY_SEC(60));
        }
        return n < 0 ? (int) n : eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok", 2);
}

static int serve_slowly(void *arg)
{
        (void) eddy_http_serve(arg, NULL, read_slowly, NULL);
        return 0;
}

enum { BODY_BYTES = 6 << 20 };

TEST_ROOM(char, long_body, BODY_BYTES);

static int upload_slowly(void *arg)
{
        struct rig rig = { .status = 0 };
        struct eddy_http_request request = { .url = "/",
                                             .body = long_body,
                                             .body_bytes = BODY_BYTES };
        eddy_listener *listener;
        eddy_scope scope;
        int64_t before;

        (void) arg;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        snprintf(rig.url, sizeof(rig.url), "http://127.0.0.1:%u", eddy_listener_port(listener));
        CHECK_EQ(eddy_http_client_new(OPTIONS(.timeouts.read_ns = EDDY_SEC(2)), &rig.client), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, serve_slowly, listener), 0);
        before = eddy_now();
        CHECK_EQ(rig_fetch(&rig, &request), 0);
        CHECK(eddy_now() - before > EDDY_SEC(3));
        request.url = "/stops";
        CHECK_ERR(rig_fetch(&rig, &request), EDDY_E_HTTP_TIMEOUT_READ);
        eddy_http_client_close(rig.client);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_listener_close(listener);
        return 0;
}

/* B20: A peer that takes no bytes reaches the same limit. */
TEST(sending_a_request_restarts_the_limit_of_silence)
{
        http_run(upload_slowly, NULL);
}

/* A stream whose bytes are there when the wait for them has ended, but seen only if asked for. */
struct late {
        eddy_stream stream;
        const char *bytes; /* NULL: none come */
        bool waited, seen;
};

static int64_t late_try_read(eddy_stream *stream, void *buf, size_t bytes)
{
        struct late *late = (struct late *) stream;

        if (!late->seen)
                return -EAGAIN;
        CHECK(bytes >= strlen(late->bytes));
        memcpy(buf, late->bytes, strlen(late->bytes));
        return (int64_t) strlen(late->bytes);
}

static bool late_is_readable(eddy_stream *stream)
{
        struct late *late = (struct late *) stream;

        late->seen = late->waited && late->bytes;
        return late->seen;
}

static int late_wait(eddy_stream *stream, enum eddy_stream_side side)
{
        (void) side;
        ((struct late *) stream)->waited = true;
        return eddy_sleep(EDDY_SEC(60));
}

static void late_close(eddy_stream *stream, unsigned flags)
{
        (void) stream, (void) flags;
}

static int receive_late(const char *bytes)
{
        static const struct eddy_stream_ops ops = { .try_read = late_try_read,
                                                    .is_readable = late_is_readable,
                                                    .wait = late_wait,
                                                    .close = late_close };
        struct late late = { .bytes = bytes };
        eddy_stream *stream = &late.stream;
        int64_t sent_ns = 0;
        struct ed_http_message message = { .stream = &stream,
                                           .read_timeout_ns = EDDY_SEC(2),
                                           .sent_ns = &sent_ns };
        char buf[8];
        int n;

        eddy_stream_init(&late.stream, &ops);
        n = (int) ed_http_message_receive(&message, buf, sizeof(buf));
        eddy_stream_close_now(&late.stream);
        return n;
}

static int receive_both(void *arg)
{
        (void) arg;
        CHECK_EQ(receive_late("late"), 4);
        CHECK_EQ(receive_late(""), 0);
        CHECK_ERR(receive_late(NULL), EDDY_E_HTTP_TIMEOUT_READ);
        return 0;
}

TEST(bytes_that_came_while_the_loop_was_late_count_before_the_limit_of_silence)
{
        http_run(receive_both, NULL);
}

/* ---- total ----------------------------------------------------------------------- */

CLIENT_TEST(total_time_covers_the_head, OPTIONS(.timeouts.total_ns = EDDY_SEC(3)), LATE_HEAD)
{
        check_time(rig, get, EDDY_E_HTTP_TIMEOUT_TOTAL, EDDY_SEC(3));
        CHECK_STATS(rig->client, 0, 0, 0);
}

/* B19: The total time includes the opening of a connection. */
CLIENT_TEST(total_time_covers_the_opening, OPTIONS(.timeouts.total_ns = EDDY_SEC(3)), SCRIPT(OK_2))
{
        http_let_die();
        check_time(rig, get_dead, EDDY_E_HTTP_TIMEOUT_TOTAL, EDDY_SEC(3));
        CHECK_STATS(rig->client, 0, 0, 0);
}

/* B23: Limits of several seconds are exact too. */
CLIENT_TEST(total_time_is_not_rounded, OPTIONS(.timeouts.total_ns = EDDY_MS(7301)), LATE_HEAD)
{
        check_time(rig, get, EDDY_E_HTTP_TIMEOUT_TOTAL, EDDY_MS(7301));
}

/* B19: The total time includes the body. */
CLIENT_TEST(total_time_covers_the_body, OPTIONS(.timeouts.total_ns = EDDY_MS(1500)),
            SCRIPT(SLOW_BODY))
{
        check_time(rig, get, EDDY_E_HTTP_TIMEOUT_TOTAL, EDDY_MS(1500));
        CHECK_STATS(rig->client, 0, 0, 0);
}

/* B19: The total time includes the caller's pauses. */
CLIENT_TEST(total_time_runs_while_the_caller_pauses, OPTIONS(.timeouts.total_ns = EDDY_SEC(2)),
            SCRIPT("?", "<HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"))
{
        eddy_http_response *response;
        char buf[8];

        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
        http_pause(EDDY_SEC(3));
        for (int i = 0; i < 2; i++)
                CHECK_ERR(eddy_http_response_read(response, buf, 8), EDDY_E_HTTP_TIMEOUT_TOTAL);
        eddy_http_response_close(response);
        CHECK_STATS(rig->client, 0, 0, 0);
}

/* B24: A limit closes the connection at once. */
CLIENT_TEST(limit_of_the_body_closes_the_connection_before_the_response_is_closed,
            OPTIONS(.connections_max = 1), STOPS_BODY, STOPS_BODY, SCRIPT(OK_2))
{
        static const int errors[] = { EDDY_E_HTTP_TIMEOUT_TOTAL, EDDY_E_HTTP_TIMEOUT_READ };
        eddy_http_response *responses[2];
        const void *body;
        size_t bytes;

        for (int i = 0; i < 2; i++) {
                struct eddy_http_request request = { .url = "/" };

                request.timeouts.total_ns = i == 0 ? EDDY_SEC(3) : 0;
                request.timeouts.read_ns = i == 1 ? EDDY_SEC(3) : 0;
                CHECK_EQ(rig_send(rig, &request, &responses[i]), 0);
                CHECK_ERR(eddy_http_response_body(responses[i], &body, &bytes), errors[i]);
                CHECK_STATS(rig->client, 0, 0, 0);
        }
        CHECK_EQ(rig_get(rig, "/"), 0);
        for (int i = 0; i < 2; i++) {
                CHECK_ERR(eddy_http_response_body(responses[i], &body, &bytes), errors[i]);
                CHECK_ERR(eddy_http_response_discard(responses[i]), errors[i]);
                eddy_http_response_close(responses[i]);
        }
}

/* B19: After the body the total time has no effect. */
CLIENT_TEST(total_time_ends_with_the_body, OPTIONS(.timeouts.total_ns = EDDY_SEC(2)), SCRIPT(OK_2))
{
        eddy_http_response *response;
        const void *body;
        size_t bytes;

        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        http_pause(EDDY_SEC(3));
        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        CHECK_EQ(eddy_http_response_discard(response), 0);
        eddy_http_response_close(response);
}

/* ---- requests and scopes --------------------------------------------------------- */

CLIENT_TEST(request_has_its_own_limits,
            OPTIONS(.timeouts = { .read_ns = EDDY_SEC(3), .total_ns = EDDY_SEC(9) }), LATE_HEAD)
{
        struct eddy_http_request request = { .url = "/" };
        int64_t before = eddy_now();

        request.timeouts.read_ns = EDDY_SEC(1);
        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_TIMEOUT_READ);
        CHECK_EQ(eddy_now() - before, EDDY_SEC(1));
        before = eddy_now();
        request.timeouts.read_ns = -1;
        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_TIMEOUT_TOTAL);
        CHECK_EQ(eddy_now() - before, EDDY_SEC(9));
        request.timeouts.total_ns = EDDY_SEC(4);
        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_TIMEOUT_TOTAL);
        CHECK_EQ(eddy_now() - before, EDDY_SEC(13));
}

CLIENT_TEST(request_has_its_own_limit_of_a_body, NULL, SCRIPT(OK_2), SCRIPT(OK_2, OK_2))
{
        struct eddy_http_request request = { .url = "/" };

        request.body_bytes_max = 1;
        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_TOO_LARGE);
        request.body_bytes_max = 2;
        CHECK_EQ(rig_fetch(rig, &request), 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
}

/* B22: The deadline that comes first is the result. */
CLIENT_TEST(deadline_of_the_callers_scope_keeps_its_error,
            OPTIONS(.timeouts = { .read_ns = EDDY_SEC(2), .total_ns = EDDY_SEC(2) }), LATE_HEAD)
{
        CHECK_ERR(eddy_call_timeout(get_root, rig, EDDY_SEC(1)), -ETIMEDOUT);
        CHECK_ERR(eddy_call_timeout(get_root, rig, EDDY_SEC(2)), -ETIMEDOUT);
        CHECK_EQ(eddy_call_timeout(get_root, rig, EDDY_SEC(3)), EDDY_E_HTTP_TIMEOUT_TOTAL);
}
