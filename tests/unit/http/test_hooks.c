/*
 * test_hooks.c - a client's hooks: once before and once after each attempt, with its result.
 */
#include "eddy/test.h"
#include "http_test.h"

enum { NOTES_MAX = 8 };

static struct {
        int begun, ended;
        int refuse;           /* what 'before' returns */
        uint32_t refuse_from; /* in attempts of this number and above */
        char trace[16384];
        int added; /* what adding the header returned */
        struct eddy_http_attempt first[NOTES_MAX], last[NOTES_MAX];
        char url[128], method[32];
} notes;

static int before(struct eddy_http_attempt *attempt, void *arg)
{
        char value[32];

        CHECK(arg == &notes);
        CHECK_EQ(notes.begun, notes.ended); /* one request at a time */
        CHECK_EQ(attempt->ended_ns, 0);
        CHECK_EQ(attempt->status, 0);
        notes.first[notes.begun++] = *attempt;
        if (notes.refuse < 0 && attempt->number >= notes.refuse_from)
                return notes.refuse;
        if (notes.trace[0]) {
                notes.added = eddy_http_attempt_add_header(attempt, "X-Trace", notes.trace);
                return notes.added;
        }
        snprintf(value, sizeof(value), "attempt-%llu", (unsigned long long) attempt->id);
        CHECK_EQ(eddy_http_attempt_add_header(attempt, "X-Attempt", value), 0);
        CHECK_EQ(eddy_http_attempt_add_header(attempt, "X-More", "1"), 0);
        return 0;
}

static void after(const struct eddy_http_attempt *attempt, void *arg)
{
        struct eddy_http_attempt late = *attempt;

        CHECK(arg == &notes);
        CHECK_EQ(notes.begun, notes.ended + 1);
        CHECK_EQ(attempt->id, notes.first[notes.ended].id);
        CHECK_EQ(attempt->number, notes.first[notes.ended].number);
        CHECK(attempt->ended_ns >= attempt->began_ns && attempt->began_ns > 0);
        CHECK_EQ(eddy_http_attempt_add_header(&late, "X-Late", "1"), -EINVAL);
        snprintf(notes.url, sizeof(notes.url), "%s", attempt->url);
        snprintf(notes.method, sizeof(notes.method), "%s", attempt->method);
        notes.last[notes.ended++] = *attempt;
}

static const struct eddy_http_hooks hooks = { .before = before, .after = after, .arg = &notes };

#define HOOKED OPTIONS(.hooks = &hooks)

static void check_note(int i, uint64_t id, uint32_t number, int status, int error)
{
        CHECK(i < notes.ended);
        CHECK_EQ(notes.last[i].id, id);
        CHECK_EQ(notes.last[i].number, number);
        CHECK_EQ(notes.last[i].status, status);
        CHECK_EQ(notes.last[i].error, error);
}

CLIENT_TEST(hooks_run_around_each_request_and_add_headers, HOOKED,
            SCRIPT(OK_2, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", OK_CHUNKED))
{
        char url[128];

        CHECK_EQ(rig_get(rig, "/a"), 0);
        CHECK(strstr(rig->peer.last, "\r\nX-Attempt: attempt-1\r\nX-More: 1\r\n\r\n"));
        snprintf(url, sizeof(url), "%s/a", rig->url);
        CHECK_STR(notes.url, url);
        CHECK_STR(notes.method, "GET");
        CHECK_EQ(rig_get(rig, "/b"), 0);
        CHECK(strstr(rig->peer.last, "\r\nX-Attempt: attempt-2\r\nX-More: 1\r\n\r\n"));
        CHECK_EQ(rig_fetch(rig,
                           &(struct eddy_http_request){
                                   .url = "/c", .method = "PUT", .body = "x", .body_bytes = 1 }),
                 0);
        CHECK_STR(notes.method, "PUT");
        CHECK_EQ(notes.ended, 3);
        check_note(0, 1, 1, 200, 0);
        check_note(1, 2, 1, 404, 0);
        check_note(2, 3, 1, 200, 0);
        CHECK_STATS(rig->client, 1, 1, 0);
}

CLIENT_TEST(a_repetition_is_an_attempt_of_its_own_with_its_own_headers, HOOKED,
            SCRIPT(OK_2, "?", "!"), SCRIPT(OK_2))
{
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(notes.ended, 3);
        check_note(1, 2, 1, 0, -ECONNRESET);
        check_note(2, 3, 2, 200, 0);
        CHECK(strstr(rig->peer.last, "\r\nX-Attempt: attempt-3\r\nX-More: 1\r\n\r\n"));
        CHECK(!strstr(rig->peer.last, "attempt-2"));
}

CLIENT_TEST(an_attempt_that_fails_has_its_error,
            OPTIONS(.hooks = &hooks, .timeouts.read_ns = EDDY_SEC(2)), SCRIPT("?", "~"),
            SCRIPT("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\no"), SCRIPT("?", "."))
{
        eddy_http_response *response;

        CHECK_EQ(rig_get(rig, "/"), EDDY_E_HTTP_CLOSED);
        check_note(0, 1, 1, 0, EDDY_E_HTTP_CLOSED);
        CHECK_EQ(rig_get(rig, "/"), EDDY_E_HTTP_TIMEOUT_READ);
        check_note(1, 2, 1, 200, EDDY_E_HTTP_TIMEOUT_READ);
        CHECK_EQ(notes.last[1].ended_ns - notes.last[1].began_ns >= EDDY_SEC(2), 1);
        CHECK_EQ(eddy_http_client_send(rig->client,
                                       &(struct eddy_http_request){ .url = "http://127.0.0.1:1/" },
                                       &response),
                 -ECONNREFUSED);
        check_note(2, 3, 1, 0, -ECONNREFUSED);
}

static int get_late(void *arg)
{
        struct eddy_http_request request = { .url = "/" };

        request.timeouts.total_ns = EDDY_SEC(2);
        return rig_fetch(arg, &request);
}

/* B22: Hooks see the same difference. */
CLIENT_TEST(the_total_time_has_its_error_and_a_deadline_of_the_caller_is_a_cancel, HOOKED,
            SCRIPT("?"))
{
        CHECK_ERR(get_late(rig), EDDY_E_HTTP_TIMEOUT_TOTAL);
        check_note(0, 1, 1, 0, EDDY_E_HTTP_TIMEOUT_TOTAL);
        CHECK_ERR(eddy_call_timeout(get_late, rig, EDDY_SEC(2)), -ETIMEDOUT);
        check_note(1, 2, 1, 0, -ECANCELED);
}

CLIENT_TEST(a_response_that_is_closed_early_or_after_a_cancel_ends_its_attempt, HOOKED,
            SCRIPT("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\no"))
{
        eddy_http_response *response;
        eddy_scope scope;
        char byte[8];

        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
        CHECK_EQ(notes.ended, 0);
        eddy_http_response_close(response);
        check_note(0, 1, 1, 200, 0);
        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(1) });
        CHECK_EQ(eddy_http_response_read(response, byte, sizeof(byte)), 1);
        CHECK_EQ(eddy_http_response_read(response, byte, sizeof(byte)), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        CHECK_EQ(notes.ended, 1);
        eddy_http_response_close(response);
        check_note(1, 2, 1, 200, -ECANCELED);
}

CLIENT_TEST(a_hook_can_refuse_a_request, HOOKED, SCRIPT(OK_2, OK_2))
{
        notes.refuse = -EACCES;
        CHECK_EQ(rig_get(rig, "/"), -EACCES);
        check_note(0, 1, 1, 0, -EACCES);
        CHECK_EQ(rig->peer.requests, 0);
        notes.refuse = 0;
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_STATS(rig->client, 1, 1, 0);
}

CLIENT_TEST(a_refused_request_keeps_its_connection, HOOKED, SCRIPT(OK_2, OK_2))
{
        CHECK_EQ(rig_get(rig, "/"), 0);
        notes.refuse = -EACCES;
        CHECK_EQ(rig_get(rig, "/"), -EACCES);
        CHECK_STATS(rig->client, 1, 1, 0);
        notes.refuse = 0;
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig->peer.requests, 2);
        CHECK_STATS(rig->client, 1, 1, 0);
}

/* The stale connection is closed already: its place is given back, and nothing is sent. */
CLIENT_TEST(a_hook_can_refuse_a_repetition, HOOKED, SCRIPT(OK_2, "?", "!"), SCRIPT(OK_2))
{
        notes.refuse = -EACCES;
        notes.refuse_from = 2;
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig_get(rig, "/"), -EACCES);
        CHECK_EQ(notes.ended, 3);
        check_note(1, 2, 1, 0, -ECONNRESET);
        check_note(2, 3, 2, 0, -EACCES);
        CHECK_EQ(rig->peer.accepted, 1);
        CHECK_STATS(rig->client, 0, 0, 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
        check_note(3, 4, 1, 200, 0);
        CHECK_STATS(rig->client, 1, 1, 0);
}

CLIENT_TEST(a_hook_can_refuse_the_repetition_without_an_expectation, HOOKED,
            SCRIPT("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n"), SCRIPT(OK_2))
{
        struct eddy_http_request request = {
                .method = "PUT",
                .url = "/",
                .body = "x",
                .body_bytes = 1,
                .expect_continue_ns = EDDY_SEC(1),
        };

        notes.refuse = -EACCES;
        notes.refuse_from = 2;
        CHECK_EQ(rig_fetch(rig, &request), -EACCES);
        CHECK_EQ(notes.ended, 2);
        check_note(0, 1, 1, 417, 0);
        check_note(1, 2, 2, 0, -EACCES);
        CHECK_STATS(rig->client, 0, 0, 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig->peer.accepted, 2);
}

/* Closes the client that makes the attempt. */
static int closes_before(struct eddy_http_attempt *attempt, void *arg)
{
        struct rig **rig = arg;

        (void) attempt;
        if (*rig) {
                eddy_http_client_close((*rig)->client);
                (*rig)->client = NULL;
        }
        return 0;
}

static void closes_after(const struct eddy_http_attempt *attempt, void *arg)
{
        (void) attempt;
        (void) closes_before(NULL, arg);
}

static struct rig *to_close;
static const struct eddy_http_hooks closing_before = { .before = closes_before, .arg = &to_close };
static const struct eddy_http_hooks closing_after = { .after = closes_after, .arg = &to_close };

CLIENT_TEST(a_client_may_be_closed_before_an_attempt, OPTIONS(.hooks = &closing_before),
            SCRIPT(OK_2, OK_2))
{
        CHECK_EQ(rig_get(rig, "/"), 0);
        to_close = rig;
        CHECK_EQ(rig_get(rig, "/"), EDDY_E_HTTP_CLIENT_CLOSED);
}

CLIENT_TEST(a_client_may_be_closed_before_it_connects, OPTIONS(.hooks = &closing_before),
            SCRIPT(OK_2))
{
        to_close = rig;
        CHECK_EQ(rig_get(rig, "/"), EDDY_E_HTTP_CLIENT_CLOSED);
}

CLIENT_TEST(a_client_may_be_closed_when_its_response_is_closed, OPTIONS(.hooks = &closing_after),
            SCRIPT("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\no"))
{
        eddy_http_response *response;

        to_close = rig;
        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
        eddy_http_response_close(response);
        CHECK(!rig->client);
}

CLIENT_TEST(a_client_may_be_closed_after_an_attempt, OPTIONS(.hooks = &closing_after), SCRIPT(OK_2))
{
        to_close = rig;
        CHECK_EQ(rig_get(rig, "/"), 0);
}

CLIENT_TEST(a_request_that_has_no_attempt_calls_no_hook, HOOKED, SCRIPT(OK_2))
{
        struct eddy_http_request request = { .url = "/", .method = "NOT VALID" };

        CHECK_EQ(rig_fetch(rig, &request), EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_EQ(notes.begun, 0);
}

static int adds_wrong(struct eddy_http_attempt *attempt, void *arg)
{
        static const char *const wrong[][2] = {
                { "Host", "h" },
                { "content-length", "5" },
                { "Transfer-Encoding", "chunked" },
                { "Connection", "close" },
                { "Proxy-Authorization", "Basic YTpi" },
                { "a b", "1" },
                { "", "1" },
                { "X-A", "1\r\nX-B: 2" },
                { "X-A", "1\nX-B: 2" },
                { "X-A", "1\r" },
                { "X-A\r\nX-B", "1" },
                { "X-A:", "1" },
                { NULL, "1" },
                { "X-A", NULL },
        };

        (void) arg;
        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
                CHECK_ERR(eddy_http_attempt_add_header(attempt, wrong[i][0], wrong[i][1]),
                          EDDY_E_HTTP_INVALID_REQUEST);
        return eddy_http_attempt_add_header(attempt, "X-Empty", "");
}

static const struct eddy_http_hooks wrong_hooks = { .before = adds_wrong };

/* B47: Headers that hooks add. */
CLIENT_TEST(headers_that_http_forbids_are_refused_and_change_nothing,
            OPTIONS(.hooks = &wrong_hooks), SCRIPT(OK_2))
{
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK(strstr(rig->peer.last, "\r\nX-Empty: \r\n\r\n"));
        CHECK(!strstr(rig->peer.last, "X-A"));
}

CLIENT_TEST(headers_beyond_the_limit_of_a_head_are_refused, HOOKED, SCRIPT(OK_2))
{
        struct eddy_http_header large = { "X-Large", NULL };
        char *value = malloc(250 << 10);

        CHECK(value);
        memset(value, 'a', (250 << 10) - 1);
        value[(250 << 10) - 1] = '\0';
        large.value = value;
        memset(notes.trace, 'b', sizeof(notes.trace) - 1);
        CHECK_EQ(rig_fetch(rig, &(struct eddy_http_request){ .url = "/",
                                                             .headers = &large,
                                                             .headers_count = 1 }),
                 EDDY_E_HTTP_INVALID_REQUEST);
        check_note(0, 1, 1, 0, EDDY_E_HTTP_INVALID_REQUEST);
        free(value);
        notes.trace[0] = '\0';
        CHECK_EQ(rig_get(rig, "/"), 0);
}

/* --- a server's wish --- */

CLIENT_TEST(
        a_response_says_when_to_try_again, NULL,
        SCRIPT("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nRetry-After: Sun, 06 Nov 1994 08:50:07 "
               "GMT\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nx-should-retry: true\r\n\r\n",
               OK_2, "HTTP/1.1 429 No\r\nContent-Length: 0\r\nX-RateLimit-Retry-After: 7\r\n\r\n",
               "HTTP/1.1 429 No\r\nContent-Length: 0\r\nX-RateLimit-Retry-After: 7\r\n"
               "Retry-After: 3\r\n\r\n"))
{
        static const int64_t waits_ns[] = { EDDY_SEC(7), EDDY_SEC(3) };
        struct eddy_retry_hint hint;
        eddy_http_response *response;

        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
        eddy_http_response_retry_hint(response, &hint);
        CHECK(hint.has_wait);
        CHECK_EQ(hint.wait_ns, EDDY_SEC(30));
        CHECK_EQ(hint.should, 1);
        eddy_http_response_close(response);
        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
        eddy_http_response_retry_hint(response, &hint);
        CHECK(!hint.has_wait);
        CHECK_EQ(hint.should, 0);
        eddy_http_response_close(response);
        for (int i = 0; i < 2; i++) {
                CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
                eddy_http_response_retry_hint(response, &hint);
                CHECK(hint.has_wait);
                CHECK_EQ(hint.wait_ns, waits_ns[i]);
                eddy_http_response_close(response);
        }
}

/* ---- hooks of a client and of a request ------------------------------------------ */

static struct {
        char text[200];
        int refuse; /* what the client's 'before' returns */
} order;

static void note(const char *hook, const void *arg)
{
        size_t at = strlen(order.text);

        snprintf(order.text + at, sizeof(order.text) - at, "%s %s, ", (const char *) arg, hook);
}

static void order_start(const struct eddy_http_attempt *attempt, void *arg)
{
        CHECK_EQ(attempt->number, 1);
        note("starts", arg);
}

static int order_before(struct eddy_http_attempt *attempt, void *arg)
{
        (void) attempt;
        note("before", arg);
        return order.refuse;
}

static void order_send(const struct eddy_http_attempt *attempt, void *arg)
{
        (void) attempt;
        note("sends", arg);
}

static void order_after(const struct eddy_http_attempt *attempt, void *arg)
{
        (void) attempt;
        note("after", arg);
}

#define ORDER(name)                                                                                \
        {                                                                                          \
                .on_start = order_start, .before = order_before, .on_send = order_send,            \
                .after = order_after, .arg = name                                                  \
        }

static char client_name[] = "client", request_name[] = "request";
static const struct eddy_http_hooks client_order = ORDER(client_name);

CLIENT_TEST(hooks_of_a_request_follow_those_of_the_client_one_by_one,
            OPTIONS(.hooks = &client_order), SCRIPT(OK_2, OK_2))
{
        struct eddy_http_hooks own = ORDER(request_name);

        order.text[0] = '\0';
        CHECK_EQ(rig_fetch(rig, &(struct eddy_http_request){ .url = "/", .hooks = &own }), 0);
        CHECK_STR(order.text, "client starts, request starts, client before, request before, "
                              "client sends, request sends, client after, request after, ");
        order.text[0] = '\0';
        order.refuse = -EIO;
        CHECK_ERR(rig_fetch(rig, &(struct eddy_http_request){ .url = "/", .hooks = &own }), -EIO);
        order.refuse = 0;
        CHECK_STR(order.text, "client starts, request starts, client before, client after, "
                              "request after, ");
}

/* ---- memory ------------------------------------------------------------------ */

static int memory_left;

static int adds_without_memory(struct eddy_http_attempt *attempt, void *arg)
{
        int err;

        (void) arg;
        http_memory_fails(memory_left);
        err = eddy_http_attempt_add_header(attempt, "X-Trace", "1");
        http_memory_is_back();
        return err;
}

CLIENT_TEST(without_memory_a_header_of_a_hook_ends_the_request_before_it_is_sent, NULL,
            SCRIPT(OK_2))
{
        struct eddy_http_hooks own = { .before = adds_without_memory };
        struct eddy_http_request request = { .url = "/", .hooks = &own };
        int err = -ENOMEM;

        for (memory_left = 0; memory_left < 3 && err == -ENOMEM; memory_left++) {
                err = rig_fetch(rig, &request);
                CHECK(err == 0 || err == -ENOMEM);
                CHECK(memory_left > 0 || err == -ENOMEM);
        }
        CHECK_EQ(err, 0);
        CHECK_EQ(rig->peer.requests, 1);
}
