/*
 * test_expect.c - "Expect: 100-continue": the body waits for the server's word, for some time.
 */
#include "http_test.h"

#define CONTINUE "HTTP/1.1 100 Continue\r\n\r\n"
#define OK       "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define REFUSED  "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n"
#define FAILED   "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n"
#define BODY     "the body\r\n\r\n" /* ends as a head does, so that the peer reads it alone */

static const struct eddy_http_request put_body = {
        .method = "PUT",
        .url = "/",
        .body = BODY,
        .body_bytes = sizeof(BODY) - 1,
        .expect_continue_ns = EDDY_SEC(1),
};

/* A source that counts its reads. */
struct counted {
        int reads;
        bool done;
};

static int64_t counted_read(void *arg, void *buf, size_t bytes)
{
        struct counted *counted = arg;

        counted->reads++;
        if (counted->done)
                return 0;
        counted->done = true;
        CHECK(bytes >= sizeof(BODY) - 1);
        memcpy(buf, BODY, sizeof(BODY) - 1);
        return sizeof(BODY) - 1;
}

static int put_source(struct rig *rig, struct counted *counted)
{
        struct eddy_http_body_source source = { .read = counted_read,
                                                .arg = counted,
                                                .bytes = sizeof(BODY) - 1 };

        return rig_fetch(rig, &(struct eddy_http_request){ .method = "PUT",
                                                           .url = "/",
                                                           .body_source = &source,
                                                           .expect_continue_ns = EDDY_SEC(1) });
}

static bool expects(const struct rig *rig)
{
        return strcasestr(rig->peer.last, "\r\nexpect:") != NULL;
}

/* ---- the body is sent ------------------------------------------------------ */

CLIENT_TEST_BOTH(body_follows_100_continue, NULL, SCRIPT(CONTINUE, OK, OK))
{
        CHECK_EQ(rig_fetch(rig, &put_body), 0);
        CHECK_STR(rig->peer.last, BODY);
        CHECK_STR(rig->body, "ok");
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig->peer.accepted, 1);
        CHECK(!expects(rig));
}

CLIENT_TEST(head_asks_for_100_continue, NULL, SCRIPT(REFUSED))
{
        CHECK_EQ(rig_fetch(rig, &put_body), 0);
        CHECK(strstr(rig->peer.last, "\r\nExpect: 100-continue\r\n"));
        CHECK(strstr(rig->peer.last, "\r\nContent-Length: 12\r\n"));
}

CLIENT_TEST(body_follows_when_the_time_has_passed, NULL, SCRIPT("?", OK))
{
        int64_t began_ns = eddy_now();

        CHECK_EQ(rig_fetch(rig, &put_body), 0);
        CHECK_STR(rig->peer.last, BODY);
        CHECK(eddy_now() - began_ns >= EDDY_SEC(1));
        CHECK_EQ(rig->status, 200);
}

CLIENT_TEST(server_of_http_1_0_gets_the_body_after_the_time, NULL,
            SCRIPT("?", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"))
{
        CHECK_EQ(rig_fetch(rig, &put_body), 0);
        CHECK_STR(rig->peer.last, BODY);
        CHECK_STR(rig->body, "ok");
}

/* The time of a silence would be shorter than this wait, and does not run in it. */
CLIENT_TEST(time_of_reads_does_not_run_before_the_body,
            OPTIONS(.timeouts = { .read_ns = EDDY_MS(100) }), SCRIPT("?", OK))
{
        CHECK_EQ(rig_fetch(rig, &put_body), 0);
        CHECK_EQ(rig->status, 200);
}

CLIENT_TEST(source_is_read_after_100_continue, NULL, SCRIPT(CONTINUE, OK))
{
        struct counted counted = { 0 };

        CHECK_EQ(put_source(rig, &counted), 0);
        CHECK_EQ(counted.reads, 1);
        CHECK_STR(rig->peer.last, BODY);
}

/* The server answers without the body, and takes it: the connection stays in step. */
CLIENT_TEST(body_follows_an_early_answer_that_does_not_refuse, NULL, SCRIPT(OK, "?", OK))
{
        CHECK_EQ(rig_fetch(rig, &put_body), 0);
        CHECK_EQ(rig->status, 200);
        http_pause(EDDY_MS(10)); /* the peer reads the body alone */
        CHECK_EQ(rig_get(rig, "/next"), 0);
        CHECK_EQ(rig->peer.accepted, 1);
        CHECK(strstr(rig->peer.last, "GET /next"));
}

/* ---- the body is saved ----------------------------------------------------- */

/* B13: A refusal in place of 100 Continue is the response. */
CLIENT_TEST_BOTH(answer_that_refuses_saves_the_body, NULL, SCRIPT(REFUSED, "?"), SCRIPT(OK))
{
        struct counted counted = { 0 };

        CHECK_EQ(put_source(rig, &counted), 0);
        CHECK_EQ(rig->status, 413);
        CHECK_EQ(counted.reads, 0);
        /* The server still waits for the body: the next request has a connection of its own. */
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig->status, 200);
        CHECK_EQ(rig->peer.accepted, 2);
}

CLIENT_TEST(request_whose_body_was_saved_is_not_sent, NULL, SCRIPT(REFUSED))
{
        struct eddy_http_response_info info;
        eddy_http_response *response;

        CHECK_EQ(rig_send(rig, &put_body, &response), 0);
        eddy_http_response_info(response, &info);
        CHECK(!info.request_sent);
        eddy_http_response_close(response);
        CHECK(!strstr(rig->peer.last, BODY));
}

/* ---- 417 ------------------------------------------------------------------- */

CLIENT_TEST_BOTH(expectation_that_fails_is_left_out_once, NULL, SCRIPT(FAILED), SCRIPT(OK))
{
        struct counted counted = { 0 };

        CHECK_EQ(put_source(rig, &counted), 0);
        CHECK_EQ(rig->status, 200);
        CHECK_EQ(rig->peer.accepted, 2);
        CHECK(!expects(rig));
}

CLIENT_TEST(second_417_is_the_answer, NULL, SCRIPT(FAILED), SCRIPT(FAILED))
{
        CHECK_EQ(rig_fetch(rig, &put_body), 0);
        CHECK_EQ(rig->status, 417);
        CHECK_EQ(rig->peer.accepted, 2);
}

/* The source was read after the time, and cannot be read again. */
CLIENT_TEST(late_417_is_the_answer_if_the_body_is_gone, NULL, SCRIPT("?", FAILED))
{
        struct counted counted = { 0 };

        CHECK_EQ(put_source(rig, &counted), 0);
        CHECK_EQ(rig->status, 417);
        CHECK_EQ(rig->peer.accepted, 1);
}

/* ---- what the caller gives --------------------------------------------------- */

CLIENT_TEST(expect_of_the_caller_is_not_doubled, NULL, SCRIPT(FAILED), SCRIPT(OK, OK))
{
        struct eddy_http_header headers[] = { { "expect", "100-Continue" }, { "Host", "a.test" } };
        struct eddy_http_request request = put_body;

        request.headers = headers;
        request.headers_count = 2;
        CHECK_EQ(rig_fetch(rig, &request), 0);
        CHECK_EQ(rig->status, 200);
        CHECK(!expects(rig));
        CHECK(strstr(rig->peer.last, "\r\nHost: a.test\r\n"));
        /* Without the option it is the caller's affair. */
        request.expect_continue_ns = 0;
        CHECK_EQ(rig_fetch(rig, &request), 0);
        CHECK(strstr(rig->peer.last, "\r\nexpect: 100-Continue\r\n"));
        CHECK_EQ(rig->peer.accepted, 2);
}

CLIENT_TEST(other_expectations_are_refused, NULL, SCRIPT(OK))
{
        struct eddy_http_header headers[] = { { "Expect", "200-ok" } };
        struct eddy_http_request request = put_body;

        request.headers = headers;
        request.headers_count = 1;
        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_INVALID_REQUEST);
        request.headers_count = 0;
        request.expect_continue_ns = -1;
        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_EQ(rig->peer.accepted, 0);
}

/* ---- what a hook adds --------------------------------------------------------- */

static int adds_expect(struct eddy_http_attempt *attempt, void *arg)
{
        return eddy_http_attempt_add_header(attempt, "expect", arg);
}

static const struct eddy_http_hooks adds_continue = { .before = adds_expect,
                                                      .arg = (void *) "100-Continue" };
static const struct eddy_http_hooks adds_other = { .before = adds_expect,
                                                   .arg = (void *) "200-ok" };

/* RFC 9110, 10.1.1: also the repetition after 417 is without it. */
CLIENT_TEST(expect_of_a_hook_is_not_doubled, OPTIONS(.hooks = &adds_continue), SCRIPT(REFUSED),
            SCRIPT(FAILED), SCRIPT(OK, OK))
{
        struct eddy_http_request request = put_body;
        const char *first;

        CHECK_EQ(rig_fetch(rig, &request), 0);
        first = strcasestr(rig->peer.last, "\r\nexpect:");
        CHECK(first && !strcasestr(first + 1, "\r\nexpect:"));
        CHECK_EQ(rig_fetch(rig, &request), 0);
        CHECK_EQ(rig->status, 200);
        CHECK(!expects(rig));
        /* Without the option it is the hook's affair. */
        request.expect_continue_ns = 0;
        CHECK_EQ(rig_fetch(rig, &request), 0);
        CHECK(strstr(rig->peer.last, "\r\nexpect: 100-Continue\r\n"));
        CHECK_EQ(rig->peer.accepted, 3);
}

CLIENT_TEST(other_expectations_of_a_hook_are_refused, OPTIONS(.hooks = &adds_other), SCRIPT(OK))
{
        struct eddy_http_request request = put_body;

        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_EQ(rig->peer.accepted, 0);
}

CLIENT_TEST(request_without_a_body_expects_nothing, NULL, SCRIPT(OK, OK))
{
        struct eddy_http_request request = { .url = "/", .expect_continue_ns = EDDY_SEC(1) };

        CHECK_EQ(rig_fetch(rig, &request), 0);
        CHECK(!expects(rig));
        request.method = "POST";
        request.body = "";
        CHECK_EQ(rig_fetch(rig, &request), 0);
        CHECK(!expects(rig));
}

/* ---- servers that are not in order ------------------------------------------- */

CLIENT_TEST(other_interim_answers_do_not_start_the_body, NULL,
            SCRIPT("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
                   "+HTTP/1.1 102 Processing\r\n\r\n", "+HTTP/1.1 1",
                   "+00 Continue\r\n\r\n" CONTINUE, OK, OK))
{
        CHECK_EQ(rig_fetch(rig, &put_body), 0);
        CHECK_STR(rig->peer.last, BODY);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig->peer.accepted, 1);
}

CLIENT_TEST(late_100_continue_is_passed_over, NULL, SCRIPT("?", CONTINUE, "<" OK, OK))
{
        CHECK_EQ(rig_fetch(rig, &put_body), 0);
        CHECK_STR(rig->body, "ok");
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig->peer.accepted, 1);
}

CLIENT_TEST(answer_after_100_continue_that_refuses_stops_the_body, NULL,
            SCRIPT(CONTINUE REFUSED, "?"), SCRIPT(OK))
{
        struct counted counted = { 0 };

        CHECK_EQ(put_source(rig, &counted), 0);
        CHECK_EQ(rig->status, 413);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig->status, 200);
}

CLIENT_TEST(continue_after_the_answer_is_not_of_the_next_request, NULL, SCRIPT(OK CONTINUE, "?"),
            SCRIPT(OK))
{
        CHECK_EQ(rig_fetch(rig, &put_body), 0);
        CHECK_EQ(rig->status, 200);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig->peer.accepted, 2);
}

CLIENT_TEST(close_in_place_of_100_continue_is_an_error, NULL, SCRIPT("?", "~"))
{
        struct eddy_http_request request = put_body;

        request.expect_continue_ns = INT64_MAX;
        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_CLOSED);
        CHECK_EQ(rig->peer.accepted, 1);
}

/* B13: Interim responses have a limit. */
CLIENT_TEST(interim_answers_without_end_are_refused, NULL, SCRIPT(CONTINUE, "<" CONTINUE, "~"))
{
        CHECK_ERR(rig_fetch(rig, &put_body), EDDY_E_HTTP_CLOSED);
}

CLIENT_TEST(total_time_ends_the_wait, OPTIONS(.timeouts = { .total_ns = EDDY_MS(100) }),
            SCRIPT("?", "."))
{
        CHECK_ERR(rig_fetch(rig, &put_body), EDDY_E_HTTP_TIMEOUT_TOTAL);
        CHECK_STATS(rig->client, 0, 0, 0);
}

static int cancelled_put(void *arg)
{
        return rig_fetch(arg, &put_body);
}

CLIENT_TEST(cancel_ends_the_wait, NULL, SCRIPT("?", "."))
{
        CHECK_ERR(eddy_call_timeout(cancelled_put, rig, EDDY_MS(10)), -ETIMEDOUT);
        CHECK_STATS(rig->client, 0, 0, 0);
}
