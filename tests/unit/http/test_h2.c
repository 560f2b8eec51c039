/*
 * test_h2.c - a connection of HTTP/2, without a server and a client above it: messages cross in both
 * directions, streams have two owners, windows are equal at the end, and limits end a connection.
 */
#include "eddy/test.h"
#include "h2_pair.h"

/* ---- messages -------------------------------------------------------------------- */

static void echo(struct h2_call *call)
{
        unsigned char buf[4096];
        int64_t n = 0;
        int err = h2_respond(call, "200", true);

        while (err == 0 && (n = eddy_stream_read(&call->stream.stream, buf, sizeof(buf))) > 0)
                err = eddy_stream_write(&call->stream.stream, buf, (size_t) n);
        if (err == 0 && n == 0)
                (void) eddy_stream_shutdown(&call->stream.stream);
}

static void say_hello(struct h2_call *call)
{
        struct eddy_slice slice = { "hello", 5 };

        if (strcmp(h2_pseudo(&call->stream.head, ":path"), "/early") == 0)
                (void) h2_respond(call, "103", false);
        (void) !eddy_stream_try_writev(&call->stream.stream, &slice, 1);
        ed_h2_stream_end(&call->stream, NULL);
        (void) h2_respond(call, "200", true);
}

static int check_hello(void *arg)
{
        struct h2_pair pair;
        struct h2_call *call;
        char buf[16];
        int64_t n;

        (void) arg;
        CHECK_EQ(h2_pair_init(&pair, say_hello), 0);
        CHECK_EQ(h2_pair_start(&pair), 0);
        call = h2_request(&pair.client, "GET", "/early", false);
        CHECK_EQ(h2_await(call), 200);
        CHECK_EQ(call->parts[ED_H2_INTERIM], 1);
        CHECK_STR(ed_h2_head_field(&call->stream.head, "X-TEST"), "y");
        n = eddy_stream_read(&call->stream.stream, buf, sizeof(buf));
        CHECK_EQ(n, 5);
        CHECK(memcmp(buf, "hello", 5) == 0);
        CHECK_EQ(eddy_stream_read(&call->stream.stream, buf, sizeof(buf)), 0);
        h2_close(call);
        CHECK_EQ(h2_pair_end(&pair), 0);
        CHECK_EQ(pair.client.result, 0);
        CHECK_EQ(pair.server.result, 0);
        return 0;
}

TEST(a_request_and_its_answer_with_an_interim_one_cross)
{
        http_run(check_hello, NULL);
}

static void check_fields(struct h2_call *call)
{
        const struct ed_h2_head *head = &call->stream.head;
        struct eddy_http_header header;

        CHECK_STR(h2_pseudo(head, ":authority"), "h");
        CHECK_STR(ed_h2_head_field(head, "x-secret"), "s");
        CHECK(!ed_h2_head_field(head, "connection"));
        CHECK_STR(ed_h2_head_field(head, "cookie"), "a=1; b=2");
        CHECK_EQ(ed_h2_head_at(head, 0, &header), 0);
        CHECK_STR(header.name, "x-secret");
        CHECK_EQ(ed_h2_head_at(head, 1, &header), 0);
        CHECK_STR(header.name, "cookie");
        CHECK_EQ(ed_h2_head_at(head, 2, &header), -ENOENT);
        (void) h2_respond(call, "204", false);
}

static int check_fields_of_a_head(void *arg)
{
        struct h2_pair pair;
        struct h2_call *call;

        (void) arg;
        CHECK_EQ(h2_pair_init(&pair, check_fields), 0);
        CHECK_EQ(h2_pair_start(&pair), 0);
        call = h2_request(&pair.client, "GET", "/", false);
        CHECK_EQ(h2_await(call), 204);
        h2_close(call);
        return h2_pair_end(&pair);
}

TEST(crumbs_of_cookies_are_joined_and_fields_of_a_connection_are_left_out)
{
        http_run(check_fields_of_a_head, NULL);
}

enum { BIG = 1 << 20 };

static int send_big(void *arg)
{
        struct h2_call *call = arg;
        uint32_t sum = 0;

        CHECK_EQ(h2_write_bytes(call, BIG, &sum), 0);
        CHECK_EQ(eddy_stream_shutdown(&call->stream.stream), 0);
        return 0;
}

static int check_big(void *arg)
{
        struct h2_pair pair;
        struct h2_call *call;
        uint32_t sum;
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(h2_pair_init(&pair, echo), 0);
        CHECK_EQ(h2_pair_start(&pair), 0);
        call = h2_request(&pair.client, "POST", "/", true);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, send_big, call), 0);
        CHECK_EQ(h2_await(call), 200);
        CHECK_EQ(h2_read_all(call, &sum), BIG);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(call->stream.data_in, BIG);
        CHECK_EQ(call->stream.data_out, BIG);
        h2_close(call);
        return h2_pair_end(&pair);
}

TEST(a_large_body_crosses_both_ways_through_the_windows)
{
        http_run(check_big, NULL);
}

/* ---- owners and windows ---------------------------------------------------------- */

static void wait_for_ever(struct h2_call *call)
{
        char buf[16];

        while (eddy_stream_read(&call->stream.stream, buf, sizeof(buf)) > 0)
                ;
}

enum { CANCELS = 300 };

static int check_cancels(void *arg)
{
        struct h2_pair pair;
        struct h2_call *call;
        uint32_t sum = 0;

        (void) arg;
        CHECK_EQ(h2_pair_init(&pair, echo), 0);
        CHECK_EQ(h2_pair_start(&pair), 0);
        for (int i = 0; i < CANCELS; i++) {
                call = h2_request(&pair.client, "POST", "/", true);
                CHECK(call);
                CHECK_EQ(h2_write_bytes(call, 100 + (size_t) i * 90, &sum), 0);
                if (i % 3 == 1)
                        CHECK_EQ(h2_await(call), 200);
                eddy_stream_abort(&call->stream.stream);
        }
        call = h2_request(&pair.client, "POST", "/", true);
        CHECK_EQ(h2_write_bytes(call, 1000, &sum), 0);
        CHECK_EQ(eddy_stream_shutdown(&call->stream.stream), 0);
        CHECK_EQ(h2_await(call), 200);
        CHECK_EQ(h2_read_all(call, NULL), 1000);
        h2_close(call);
        http_pause(EDDY_MS(10));
        CHECK_EQ(pair.server.calls, 0);
        CHECK_EQ(pair.server.h2.unread, 0);
        CHECK_EQ(pair.client.h2.unread, 0);
        /* One side may send the bytes that the other side is ready to receive. */
        CHECK_EQ(nghttp2_session_get_remote_window_size(pair.client.h2.session),
                 nghttp2_session_get_local_window_size(pair.server.h2.session));
        CHECK_EQ(nghttp2_session_get_remote_window_size(pair.server.h2.session),
                 nghttp2_session_get_local_window_size(pair.client.h2.session));
        return h2_pair_end(&pair);
}

TEST(after_many_cancels_the_windows_of_both_sides_are_equal)
{
        http_run(check_cancels, NULL);
}

/* Send until that waits for ever. */
static int send_for_ever(void *arg)
{
        uint32_t sum = 0;
        int err = 0;

        while (err == 0)
                err = h2_write_bytes(arg, 1000, &sum);
        return err;
}

static int check_unread(void *arg)
{
        struct h2_pair pair;
        struct h2_call *stuck, *call;
        uint32_t sum = 0;

        (void) arg;
        CHECK_EQ(h2_pair_init(&pair, echo), 0);
        CHECK_EQ(h2_pair_start(&pair), 0);
        stuck = h2_request(&pair.client, "POST", "/", true);
        /* Its answer fills the windows, since no task reads it. */
        CHECK_EQ(eddy_call_timeout(send_for_ever, stuck, EDDY_MS(50)), -ETIMEDOUT);
        call = h2_request(&pair.client, "POST", "/", true);
        CHECK_EQ(h2_write_bytes(call, 30000, &sum), 0);
        CHECK_EQ(eddy_stream_shutdown(&call->stream.stream), 0);
        CHECK_EQ(h2_await(call), 200);
        CHECK_EQ(h2_read_all(call, NULL), 30000);
        h2_close(call);
        h2_close(stuck);
        return h2_pair_end(&pair);
}

TEST(a_stream_that_no_task_reads_stalls_no_other)
{
        http_run(check_unread, NULL);
}

/* The client's connection ends while a handler waits, and while the client does. */
static int check_end(void *arg)
{
        struct h2_pair pair;
        struct h2_call *call;

        (void) arg;
        CHECK_EQ(h2_pair_init(&pair, wait_for_ever), 0);
        CHECK_EQ(h2_pair_start(&pair), 0);
        call = h2_request(&pair.client, "POST", "/", true);
        http_pause(EDDY_MS(1));
        CHECK_EQ(pair.server.begun, 1);
        ed_h2_fail(&pair.server.h2, NGHTTP2_INTERNAL_ERROR);
        CHECK_ERR(h2_await(call), -ECONNRESET);
        h2_close(call);
        CHECK_EQ(eddy_scope_end(&pair.scope), 0);
        CHECK_EQ(pair.client.going, NGHTTP2_INTERNAL_ERROR + 1);
        CHECK_EQ(pair.client.calls + pair.server.calls, 0);
        return 0;
}

TEST(streams_end_with_their_connection_and_die_with_their_tasks)
{
        http_run(check_end, NULL);
}

/* A handler that has answered and left: the rest of the request's body is refused without a fault. */
static void answer_early(struct h2_call *call)
{
        (void) h2_respond(call, "403", false);
        call->leaves_early = true;
}

static int check_early(void *arg)
{
        struct h2_pair pair;
        struct h2_call *call;
        uint32_t sum = 0;
        int err = 0;

        (void) arg;
        CHECK_EQ(h2_pair_init(&pair, answer_early), 0);
        CHECK_EQ(h2_pair_start(&pair), 0);
        call = h2_request(&pair.client, "POST", "/", true);
        while (err == 0)
                err = h2_write_bytes(call, 1000, &sum);
        CHECK_ERR(err, -ECONNRESET);
        CHECK_EQ(h2_await(call), 403);
        CHECK_EQ(h2_read_all(call, NULL), 0);
        h2_close(call);
        return h2_pair_end(&pair);
}

TEST(an_early_answer_is_read_though_the_rest_of_the_body_is_refused)
{
        http_run(check_early, NULL);
}

/* ---- limits ------------------------------------------------------------------------ */

TEST(a_bucket_is_empty_after_its_maximum_and_is_filled_at_a_steady_rate)
{
        struct ed_h2_bucket bucket;
        int64_t second = EDDY_SEC(1);

        ed_h2_bucket_init(&bucket, 60, 0);
        for (int i = 0; i < 60; i++)
                CHECK(ed_h2_bucket_take(&bucket, 0));
        CHECK(!ed_h2_bucket_take(&bucket, 0));
        CHECK(ed_h2_bucket_take(&bucket, second));
        CHECK(ed_h2_bucket_take(&bucket, second));
        CHECK(!ed_h2_bucket_take(&bucket, second));
        ed_h2_bucket_add(&bucket, 1);
        CHECK(ed_h2_bucket_take(&bucket, second));
        ed_h2_bucket_add(&bucket, UINT32_MAX);
        for (int i = 0; i < 60; i++)
                CHECK(ed_h2_bucket_take(&bucket, second));
        CHECK(!ed_h2_bucket_take(&bucket, second));
        for (int i = 0; i < 60; i++)
                CHECK(ed_h2_bucket_take(&bucket, 1000 * second));
        CHECK(!ed_h2_bucket_take(&bucket, 1000 * second));
        ed_h2_bucket_init(&bucket, 0, 0);
        for (int i = 0; i < 1000; i++)
                CHECK(ed_h2_bucket_take(&bucket, 0));
}

TEST(fields_above_a_limit_are_counted_and_not_kept)
{
        struct ed_h2_head head;

        ed_h2_head_init(&head, 3, 200);
        CHECK_EQ(ed_h2_head_add(&head, ":path", 5, "/", 1), 0);
        CHECK_EQ(ed_h2_head_add(&head, "a", 1, "b", 1), 0);
        CHECK_EQ(ed_h2_head_add(&head, "cookie", 6, "", 0), 0);
        CHECK_EQ(ed_h2_head_add(&head, "c", 1, "d", 1), -EMSGSIZE);
        CHECK(head.is_too_large);
        CHECK_EQ(head.count, 4);
        CHECK_EQ(head.kept, 1);
        ed_h2_head_clear(&head);
        CHECK(!head.is_too_large);
        CHECK_EQ(ed_h2_head_add(&head, "a", 1, "0123456789012345678901234567890123456789", 40), 0);
        CHECK_EQ(ed_h2_head_add(&head, "cookie", 6, "0123456789012345678901234567890123456789", 40),
                 0);
        CHECK_EQ(ed_h2_head_add(&head, "e", 1, "0123456789012345678901234567890123456789", 40),
                 -EMSGSIZE);
        CHECK_EQ(ed_h2_head_end(&head), 0);
        CHECK_STR(ed_h2_head_field(&head, "Cookie"), "0123456789012345678901234567890123456789");
        CHECK(!h2_pseudo(&head, ":path"));
        ed_h2_head_fini(&head);
}

/* ---- shortages ------------------------------------------------------------------------ */

static int talk(void *arg)
{
        struct h2_pair pair;
        struct h2_call *call;
        uint32_t sum = 0;
        int err = h2_pair_init(&pair, echo), ended;

        (void) arg;
        if (err < 0)
                return err;
        err = h2_pair_start(&pair);
        for (int i = 0; i < 2 && err >= 0; i++) {
                call = h2_request(&pair.client, "POST", "/", true);
                if (!call) {
                        err = -ENOMEM;
                        break;
                }
                err = h2_write_bytes(call, 20000, &sum);
                if (err == 0)
                        err = eddy_stream_shutdown(&call->stream.stream);
                if (err == 0)
                        err = h2_await(call);
                if (err == 200) {
                        int64_t n = h2_read_all(call, NULL);

                        EDDY_TEST_CHECK(n < 0 || n == 20000);
                        err = n < 0 ? (int) n : 0;
                }
                h2_close(call);
        }
        ended = h2_pair_end(&pair);
        return err < 0 ? err : ended;
}

TEST(a_cancel_or_a_shortage_of_memory_at_any_point_leaves_nothing)
{
        struct eddy_test_opts opts = { .name = "h2_talk" };

        CHECK_EQ(eddy_test_run(talk, NULL, &opts, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_SEEDS, talk, NULL, &opts, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_CANCEL, talk, NULL, &opts, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_ALLOC, talk, NULL, &opts, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_ALLOC_FOREVER, talk, NULL, &opts, NULL), 0);
}
