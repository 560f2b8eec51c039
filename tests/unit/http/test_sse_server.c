/*
 * test_sse_server.c - responses of server-sent events.
 *
 * - Each event is sent as text/event-stream says, and eddy's own reader gets the same.
 * - While the handler waits, a comment comes each 15 s; no comment comes inside an event or after the
 *   end.
 * - A client that leaves, or that takes nothing, leaves no handler: 1,000 of them too.
 * - A shortage of memory or a cancel at each point leaves nothing, and no event is lost or doubled.
 */
#include <stdlib.h>
#include <string.h>

#include "eddy/http_sse_server.h"
#include "eddy/test.h"
#include "server_test.h"

#define SAY(method, version) method " / HTTP/" version "\r\nHost: a\r\nConnection: close\r\n\r\n"
#define GET                  SAY("GET", "1.1")

enum { TABS = 1000, SOCKETS = 400 };

static eddy_http_handler_fn *handler;
static struct eddy_http_sse_begin_opts begin_opts;
static int running; /* handlers */
static int result;  /* of the last wait or send of a handler */
static int sent;    /* events */

static int count(eddy_http_exchange *exchange, void *arg)
{
        int err;

        running++;
        err = handler(exchange, arg);
        running--;
        return err;
}

static void prepare(struct site *site)
{
        site->handler = count;
        running = sent = 0;
        result = 1;
}

static void run_with(const struct eddy_http_server_opts *opts, bool real,
                     eddy_http_handler_fn *with, site_fn *fn)
{
        handler = with;
        site_run_prepared(opts, real, prepare, fn);
}

static int send_event(eddy_http_exchange *exchange, const char *type, const char *data,
                      const char *id)
{
        const struct eddy_http_sse_out event = {
                .type = type, .data = data, .data_bytes = data ? strlen(data) : 0, .id = id
        };

        return eddy_http_exchange_sse_send(exchange, &event);
}

/* ---- events ---------------------------------------------------------------- */

static const struct {
        const char *type, *data, *id;
        int64_t retry_ns;
        const char *text;
} rows[] = {
        { NULL, "a", NULL, 0, "data: a\n\n" },
        { "news", "a", "7", EDDY_SEC(2), "event: news\nid: 7\nretry: 2000\ndata: a\n\n" },
        { NULL, "a\nb", NULL, 0, "data: a\ndata: b\n\n" },
        { NULL, "a\r\nb\rc\n", NULL, 0, "data: a\ndata: b\ndata: c\ndata: \n\n" },
        { NULL, "\n\r\r\n", NULL, 0, "data: \ndata: \ndata: \ndata: \n\n" },
        { NULL, "", NULL, 0, "data: \n\n" },
        { NULL, " a", NULL, 0, "data:  a\n\n" },
        { " x", "id: 1", " y", 0, "event:  x\nid:  y\ndata: id: 1\n\n" },
        { NULL, NULL, "8", 0, "id: 8\n\n" },
        { NULL, NULL, "", 1, "id: \nretry: 1\n\n" },
        { NULL, NULL, NULL, INT64_MAX, "retry: 9223372036855\n\n" },
        { NULL, NULL, NULL, 0, "\n" },
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static int send_rows(eddy_http_exchange *exchange, void *arg)
{
        int err = eddy_http_exchange_sse_begin(exchange, NULL);

        (void) arg;
        for (size_t i = 0; i < ROWS && err == 0; i++) {
                struct eddy_http_sse_out event = { .type = rows[i].type,
                                                   .data = rows[i].data,
                                                   .data_bytes =
                                                           rows[i].data ? strlen(rows[i].data) : 0,
                                                   .id = rows[i].id,
                                                   .retry_ns = rows[i].retry_ns };

                err = eddy_http_exchange_sse_send(exchange, &event);
        }
        return err;
}

static void see_rows(struct site *site)
{
        const struct answer *got = ask(site, SAY("GET", "1.0"));
        char all[1024];
        int n = snprintf(all, sizeof(all), "\r\n\r\n");

        for (size_t i = 0; i < ROWS; i++)
                n += snprintf(all + n, sizeof(all) - (size_t) n, "%s", rows[i].text);
        CHECK_EQ(got->status, 200);
        CHECK_HAS(got->text, "\r\nContent-Type: text/event-stream\r\n");
        CHECK_HAS(got->text, "\r\nCache-Control: no-store\r\n");
        CHECK_HAS(got->text, "\r\nX-Accel-Buffering: no\r\n");
        CHECK_HAS_NOT(got->text, "Transfer-Encoding");
        CHECK_STR(strstr(got->text, "\r\n\r\n"), all);
}

TEST(each_event_is_sent_as_its_format_says)
{
        run_with(NULL, false, send_rows, see_rows);
}

/* Sizes around those of the buffers, with each kind of line end. */
static const size_t sizes[] = { 1, 500, 1015, 1016, 1017, 1018, 4000, 16000, 16370, 16384, 70000 };

enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static char *data_of(size_t bytes)
{
        char *data = malloc(bytes);

        CHECK(data != NULL);
        for (size_t i = 0; i < bytes; i++)
                data[i] = i % 7 == 3 ? '\n' : (char) ('a' + i % 26);
        return data;
}

static int send_sizes(eddy_http_exchange *exchange, void *arg)
{
        int err = eddy_http_exchange_sse_begin(exchange, NULL);

        (void) arg;
        for (size_t i = 0; i < SIZES && err == 0; i++) {
                char *data = data_of(sizes[i]);
                const struct eddy_http_sse_out event = { .data = data, .data_bytes = sizes[i] };

                err = eddy_http_exchange_sse_send(exchange, &event);
                free(data);
        }
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

static int read_sizes(void *arg)
{
        const struct eddy_http_sse_opts once = { .flags = EDDY_HTTP_SSE_ONCE };
        struct eddy_http_sse_event event;
        eddy_http_client *client;
        eddy_http_sse *sse;

        (void) arg;
        CHECK_EQ(eddy_http_client_new(&(struct eddy_http_client_opts){ .handler = send_sizes },
                                      &client),
                 0);
        CHECK_EQ(eddy_http_sse_open(client, &(struct eddy_http_request){ .url = "http://a/" },
                                    &once, &sse),
                 0);
        for (size_t i = 0; i < SIZES; i++) {
                char *data = data_of(sizes[i]);

                CHECK_EQ(eddy_http_sse_next(sse, &event), 1);
                CHECK_EQ(event.data_bytes, sizes[i]);
                CHECK(memcmp(event.data, data, sizes[i]) == 0);
                free(data);
        }
        CHECK_EQ(eddy_http_sse_next(sse, &event), 0);
        eddy_http_sse_close(sse);
        eddy_http_client_close(client);
        return 0;
}

TEST(the_reader_gets_data_of_each_size)
{
        http_run(read_sizes, NULL);
}

static int send_wrong(eddy_http_exchange *exchange, void *arg)
{
        static const struct eddy_http_sse_out wrong[] = {
                { .type = "a\nb" },     { .type = "\r" },   { .id = "1\n" },
                { .id = "1\rdata: x" }, { .retry_ns = -1 }, { .data_bytes = 1 },
        };
        const struct eddy_http_sse_out large = {
                .data = "", .data_bytes = (size_t) EDDY_HTTP_SSE_EVENT_BYTES_MAX + 1
        };

        (void) arg;
        CHECK_ERR(send_event(exchange, NULL, "early", NULL), EDDY_E_HTTP_STATE);
        CHECK_EQ(eddy_http_exchange_sse_begin(exchange, NULL), 0);
        CHECK_ERR(eddy_http_exchange_sse_begin(exchange, NULL), EDDY_E_HTTP_STATE);
        CHECK_ERR(eddy_http_exchange_sse_send(exchange, NULL), -EINVAL);
        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
                CHECK_ERR(eddy_http_exchange_sse_send(exchange, &wrong[i]), -EINVAL);
        CHECK_ERR(eddy_http_exchange_sse_send(exchange, &large), EDDY_E_HTTP_TOO_LARGE);
        CHECK_EQ(send_event(exchange, NULL, "right", NULL), 0);
        CHECK_EQ(eddy_http_exchange_end(exchange), 0);
        CHECK_ERR(send_event(exchange, NULL, "late", NULL), EDDY_E_HTTP_STATE);
        return 0;
}

static void see_right(struct site *site)
{
        const struct answer *got = ask(site, GET);

        CHECK_STR(strstr(got->text, "\r\n\r\n"), "\r\n\r\nd\r\ndata: right\n\n\r\n0\r\n\r\n");
}

TEST(an_event_that_breaks_the_format_is_refused_and_not_sent)
{
        run_with(NULL, false, send_wrong, see_right);
}

static int send_last_id(eddy_http_exchange *exchange, void *arg)
{
        int err;

        (void) arg;
        CHECK_EQ(eddy_http_exchange_add_header(exchange, "X-More", "1"), 0);
        err = eddy_http_exchange_sse_begin(exchange, NULL);
        result = err;
        if (err != 0)
                return err;
        return send_event(exchange, "id", eddy_http_exchange_sse_last_id(exchange), NULL);
}

static void see_last_id(struct site *site)
{
        CHECK_HAS(ask(site, GET)->text, "event: id\ndata: \n\n");
        CHECK_HAS(ask(site, "GET / HTTP/1.0\r\nlast-event-id: a 7\r\n\r\n")->text,
                  "event: id\ndata: a 7\n\n");
        CHECK_HAS(ask(site, SAY("HEAD", "1.1"))->text, "\r\nX-More: 1\r\n");
        CHECK_EQ(result, 1);
}

TEST(the_last_id_of_a_client_is_found_and_head_has_no_events)
{
        run_with(NULL, false, send_last_id, see_last_id);
}

/* ---- comments -------------------------------------------------------------- */

static int wait_long(eddy_http_exchange *exchange, void *arg)
{
        int err = eddy_http_exchange_sse_begin(exchange, &begin_opts);

        (void) arg;
        if (err == 0)
                err = result = eddy_sleep(EDDY_SEC(50));
        if (err == 0)
                err = send_event(exchange, NULL, "a", NULL);
        if (err == 0)
                err = eddy_http_exchange_end(exchange);
        return err < 0 ? err : eddy_sleep(EDDY_SEC(50)); /* after the end no comment comes */
}

static void see_comments(struct site *site)
{
        const struct answer *got = ask(site, GET);

        CHECK_STR(
                strstr(got->text, "\r\n\r\n"),
                "\r\n\r\n3\r\n:\n\n\r\n3\r\n:\n\n\r\n3\r\n:\n\n\r\n9\r\ndata: a\n\n\r\n0\r\n\r\n");
        CHECK_EQ(result, 0);
        got = ask(site, SAY("GET", "1.0"));
        CHECK_STR(strstr(got->text, "\r\n\r\n"), "\r\n\r\n:\n\n:\n\n:\n\ndata: a\n\n");
        begin_opts.comment_ns = EDDY_SEC(30);
        got = ask(site, SAY("GET", "1.0"));
        CHECK_STR(strstr(got->text, "\r\n\r\n"), "\r\n\r\n:\n\ndata: a\n\n");
        begin_opts.comment_ns = -1;
        got = ask(site, SAY("GET", "1.0"));
        CHECK_STR(strstr(got->text, "\r\n\r\n"), "\r\n\r\ndata: a\n\n");
        begin_opts.comment_ns = 0;
}

TEST(a_comment_comes_each_15_seconds_while_the_handler_waits)
{
        run_with(NULL, false, wait_long, see_comments);
}

/* The head leaves at once, and each comment when it is due. */
static void see_times(struct site *site)
{
        static char buf[4096];
        eddy_stream *stream = site_connect(site);
        int64_t began_ns = eddy_now();

        CHECK_EQ(eddy_stream_write(stream, GET, strlen(GET)), 0);
        CHECK(read_until(stream, buf, sizeof(buf), "\r\n\r\n"));
        CHECK(eddy_now() - began_ns < EDDY_SEC(1));
        for (int i = 1; i <= 3; i++) {
                CHECK(read_until(stream, buf, sizeof(buf), ":\n\n\r\n"));
                CHECK(eddy_now() - began_ns >= EDDY_SEC(15 * i));
                CHECK(eddy_now() - began_ns < EDDY_SEC(15 * i + 1));
        }
        eddy_stream_close(stream);
}

TEST(the_head_and_each_comment_leave_when_they_are_due)
{
        run_with(NULL, false, wait_long, see_times);
}

/* ---- clients that leave ---------------------------------------------------- */

static int wait_for_ever(eddy_http_exchange *exchange, void *arg)
{
        eddy_event never = { 0 };
        int err = eddy_http_exchange_sse_begin(exchange, &begin_opts);

        (void) arg;
        if (err == 0)
                err = result = eddy_event_wait(&never);
        return err;
}

static void until_running(int n, int64_t max_ns)
{
        int64_t end_ns = eddy_now() + max_ns;

        while (running != n && eddy_now() < end_ns)
                CHECK_EQ(eddy_sleep(EDDY_MS(10)), 0);
        CHECK_EQ(running, n);
}

static eddy_stream *tabs[TABS], *served[TABS];

static void open_tab(eddy_stream *tab)
{
        static char buf[4096];

        CHECK_EQ(eddy_stream_write(tab, GET, strlen(GET)), 0);
        CHECK(read_until(tab, buf, sizeof(buf), "\r\n\r\n"));
}

/* By TCP, as many as the simulated network has sockets for. */
static void close_sockets(struct site *site)
{
        for (int i = 0; i < SOCKETS; i++)
                open_tab(tabs[i] = site_connect(site));
        CHECK_EQ(running, SOCKETS);
        for (int i = 0; i < SOCKETS; i++)
                eddy_stream_close(tabs[i]);
        until_running(0, EDDY_SEC(20));
        CHECK_ERR(result, -ECANCELED);
}

static uint32_t server_flags;

static int serve_tab(void *arg)
{
        const struct eddy_http_server_opts opts = { .flags = server_flags };
        eddy_stream **stream = arg;

        CHECK_EQ(eddy_http_serve_stream(*stream, &opts, count, NULL), 0);
        return 0;
}

/* By streams in memory. Returns how long the last handler ran after the close. */
static int64_t close_pairs(void)
{
        eddy_scope scope;
        int64_t closed_ns;

        handler = wait_for_ever;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < TABS; i++) {
                CHECK_EQ(eddy_stream_pair(NULL, &tabs[i], &served[i]), 0);
                CHECK_EQ(eddy_scope_start(&scope, serve_tab, &served[i]), 0);
                open_tab(tabs[i]);
        }
        CHECK_EQ(running, TABS);
        for (int i = 0; i < TABS; i++)
                eddy_stream_close(tabs[i]);
        closed_ns = eddy_now();
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(running, 0);
        CHECK_ERR(result, -ECANCELED);
        return eddy_now() - closed_ns;
}

static int close_pairs_each_way(void *arg)
{
        (void) arg;
        server_flags = EDDY_HTTP_SERVER_CANCEL_AT_END;
        CHECK(close_pairs() < EDDY_MS(1));
        server_flags = 0; /* a comment finds the closed stream */
        CHECK(close_pairs() <= EDDY_SEC(20));
        return 0;
}

TEST(of_1000_closed_tabs_no_handler_is_left_after_20_seconds)
{
        http_run(close_pairs_each_way, NULL);
        run_with(SERVER_OPTIONS(.flags = EDDY_HTTP_SERVER_CANCEL_AT_END), false, wait_for_ever,
                 close_sockets);
        run_with(NULL, false, wait_for_ever, close_sockets);
}

static void close_real(struct site *site)
{
        eddy_stream *stream = site_connect(site);

        CHECK_HAS(say(stream, GET, "\r\n\r\n"), "text/event-stream");
        CHECK_EQ(running, 1);
        eddy_stream_close(stream);
        while (running > 0)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_ERR(result, -ECANCELED);
}

TEST(on_the_loopback_a_comment_finds_that_the_client_has_left)
{
        begin_opts.comment_ns = EDDY_MS(5);
        run_with(NULL, true, wait_for_ever, close_real);
        begin_opts.comment_ns = 0;
        run_with(SERVER_OPTIONS(.flags = EDDY_HTTP_SERVER_CANCEL_AT_END), true, wait_for_ever,
                 close_real);
}

/* ---- a slow client --------------------------------------------------------- */

static int send_for_ever(eddy_http_exchange *exchange, void *arg)
{
        static char data[1000];
        int err = eddy_http_exchange_sse_begin(exchange, NULL);

        (void) arg;
        memset(data, 'x', sizeof(data) - 1);
        while (err == 0) {
                err = result = send_event(exchange, NULL, data, NULL);
                sent += err == 0;
                if (err == 0)
                        err = eddy_sleep(EDDY_MS(1));
        }
        return err;
}

/* Nothing is queued but what the system's buffers and those of the connection hold. */
static void read_nothing(struct site *site)
{
        eddy_stream *stream = site_connect(site);

        CHECK_EQ(eddy_stream_write(stream, GET, strlen(GET)), 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(5)), 0);
        CHECK_EQ(running, 1);
        CHECK(sent > 0 && sent < 2000);
        until_running(0, EDDY_SEC(60));
        CHECK(result == EDDY_E_NET_TIMED_OUT || result == -ECANCELED);
        eddy_stream_close(stream);
}

TEST(for_a_client_that_reads_nothing_the_handler_waits_and_then_fails)
{
        run_with(NULL, false, send_for_ever, read_nothing);
}

/* Fill the buffers with one event, then wait: only the comments can find that it is stuck. */
static int send_much_and_wait(eddy_http_exchange *exchange, void *arg)
{
        static char data[10000];
        eddy_event never = { 0 };
        int err = eddy_http_exchange_sse_begin(exchange, NULL);

        (void) arg;
        memset(data, 'x', sizeof(data) - 1);
        for (int i = 0; i < 10 && err == 0; i++)
                err = send_event(exchange, NULL, data, NULL);
        if (err == 0)
                err = result = eddy_event_wait(&never);
        return err;
}

static void read_nothing_while_it_waits(struct site *site)
{
        eddy_stream *stream = site_connect(site);

        CHECK_EQ(eddy_stream_write(stream, GET, strlen(GET)), 0);
        until_running(1, EDDY_SEC(1));
        until_running(0, EDDY_SEC(120));
        eddy_stream_close(stream);
}

TEST(a_handler_that_waits_ends_if_its_client_takes_nothing)
{
        run_with(NULL, false, send_much_and_wait, read_nothing_while_it_waits);
}

/* ---- a stop ---------------------------------------------------------------- */

static int64_t stopped_ns, ended_ns; /* the server, and the handler's wait */

static int wait_idle(void *arg)
{
        return eddy_event_wait(arg);
}

static int wait_in_idle(eddy_http_exchange *exchange, void *arg)
{
        eddy_event never = { 0 };
        int err = eddy_http_exchange_sse_begin(exchange, NULL);

        (void) arg;
        if (err == 0)
                result = eddy_serve_idle(wait_idle, &never);
        ended_ns = eddy_now();
        return eddy_http_exchange_end(exchange);
}

static void stop_while_it_waits(struct site *site)
{
        eddy_stream *stream = site_connect(site);

        CHECK_HAS(say(stream, GET, "\r\n\r\n"), "text/event-stream");
        stopped_ns = eddy_now();
        eddy_scope_cancel(site->scope);
        eddy_stream_close(stream);
}

TEST(a_stop_ends_a_wait_in_an_idle_call_before_the_drain_is_over)
{
        run_with(SERVER_OPTIONS(.drain_ns = EDDY_SEC(100)), false, wait_in_idle,
                 stop_while_it_waits);
        CHECK_ERR(result, -ECANCELED);
        CHECK(ended_ns - stopped_ns < EDDY_SEC(1));
        CHECK_EQ(running, 0);
}

/* ---- faults ---------------------------------------------------------------- */

enum { EVENTS = 4 };

/* Continue after the client's last id; one event is large, and comments come in between. */
static int send_from_id(eddy_http_exchange *exchange, void *arg)
{
        static char data[2000];
        const struct eddy_http_sse_begin_opts often = { .comment_ns = EDDY_MS(10) };
        const char *last = eddy_http_exchange_sse_last_id(exchange);
        int at = *last ? *last - '0' : 0, err;
        char id[16];

        (void) arg;
        if (at == EVENTS)
                return eddy_http_exchange_respond(exchange, 204, NULL, 0, NULL, 0);
        memset(data, 'x', sizeof(data) - 1);
        err = eddy_http_exchange_sse_begin(exchange, &often);
        for (int i = at + 1; i <= EVENTS && err == 0; i++) {
                snprintf(id, sizeof(id), "%d", i);
                err = send_event(exchange, "n", i == 2 ? data : "x", id);
                if (err == 0)
                        err = eddy_sleep(EDDY_MS(25));
        }
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

/* Read until an error, or all events; none is missing or comes twice. */
static int read_by_id(void *arg)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        EDDY_AUTO(eddy_http_sse) eddy_http_sse *sse = NULL;
        struct eddy_http_sse_event event;
        int read = 0;
        int err = eddy_http_client_new(&(struct eddy_http_client_opts){ .handler = send_from_id },
                                       &client);

        (void) arg;
        if (err >= 0)
                err = eddy_http_sse_open(client, &(struct eddy_http_request){ .url = "http://a/" },
                                         NULL, &sse);
        while (err >= 0 && (err = eddy_http_sse_next(sse, &event)) > 0) {
                read++;
                CHECK_EQ(*event.id, '0' + read);
                CHECK_EQ(event.data_bytes, read == 2 ? 1999 : 1);
        }
        if (err == 0)
                CHECK_EQ(read, EVENTS);
        return err;
}

TEST(a_cancel_or_a_shortage_of_memory_at_any_point_loses_no_event)
{
        static const int kinds[] = { EDDY_TEST_SEEDS, EDDY_TEST_CANCEL, EDDY_TEST_ALLOC,
                                     EDDY_TEST_ALLOC_FOREVER };

        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                struct eddy_test_sweep sweep;

                CHECK_EQ(eddy_test_sweep(kinds[i], read_by_id, NULL, NULL, &sweep), 0);
                CHECK(sweep.tried > 0);
        }
}
