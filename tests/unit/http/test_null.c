/*
 * test_null.c - calls on a NULL client or response, as a program makes after a request that failed,
 * and calls with NULL where a result goes: each returns -EINVAL or does nothing.
 */
#include "http_test.h"

static int no_handler(eddy_http_exchange *exchange, void *arg)
{
        (void) exchange;
        (void) arg;
        return -EIO; /* must not run */
}

static void check_null_response(void)
{
        struct eddy_http_header header = { "untouched", "untouched" };
        struct eddy_http_response_info info;
        const void *data = "untouched";
        size_t bytes = 99;
        struct eddy_retry_hint hint = { .has_wait = true, .wait_ns = 9, .should = 9 };
        char byte;

        eddy_http_response_retry_hint(NULL, &hint);
        CHECK(!hint.has_wait);
        CHECK_EQ(hint.wait_ns, 0);
        CHECK_EQ(hint.should, 0);
        CHECK_EQ(eddy_http_response_status(NULL), 0);
        CHECK(eddy_http_response_header(NULL, "a") == NULL);
        CHECK(eddy_http_response_trailer(NULL, "a") == NULL);
        CHECK_EQ(eddy_http_response_header_at(NULL, 0, &header), -EINVAL);
        CHECK_EQ(eddy_http_response_trailer_at(NULL, 0, &header), -EINVAL);
        CHECK_STR(header.name, "untouched");
        CHECK_EQ(eddy_http_response_read(NULL, &byte, 1), -EINVAL);
        CHECK_EQ(eddy_http_response_body(NULL, &data, &bytes), -EINVAL);
        CHECK_STR(data, "untouched");
        CHECK_EQ(bytes, 99);
        CHECK_EQ(eddy_http_response_json(NULL, NULL, &byte), -EINVAL);
        CHECK(eddy_http_response_json_error(NULL) == NULL);
        CHECK_STR(eddy_http_response_fault_text(NULL), "");
        CHECK_EQ(eddy_http_response_discard(NULL), -EINVAL);
        eddy_http_response_info(NULL, &info);
        CHECK_EQ(info.version, 0);
        CHECK_STR(info.url, "");
        CHECK_EQ(info.peer->kind, EDDY_ENDPOINT_NONE);
        CHECK_EQ(info.timings.wait_ns, -1);
        CHECK_EQ(info.timings.total_ns, -1);
        eddy_http_response_close(NULL);
}

static int null_handles(void *arg)
{
        struct eddy_http_request request = { .url = "http://127.0.0.1:1/" };
        struct eddy_http_client_stats stats = { .open = 9 };
        eddy_http_response *response = NULL;

        (void) arg;
        check_null_response();
        CHECK(!eddy_http_request_is_idempotent(NULL));
        CHECK_EQ(eddy_http_client_send(NULL, &request, &response), -EINVAL);
        CHECK(response == NULL);
        eddy_http_client_stats(NULL, &stats);
        CHECK_EQ(stats.open, 0);
        eddy_http_client_close(NULL);
        CHECK_EQ(eddy_http_serve(NULL, NULL, no_handler, NULL), -EINVAL);
        return 0;
}

TEST(calls_on_a_null_client_or_response_return_einval)
{
        http_run(null_handles, NULL);
}

CLIENT_TEST(calls_without_a_place_for_the_result_return_einval, NULL, SCRIPT(OK_2, OK_2))
{
        struct eddy_http_request request = { .url = rig->url };
        eddy_http_response *response = NULL;
        const void *data;
        size_t bytes;

        CHECK_EQ(eddy_http_client_send(rig->client, &request, NULL), -EINVAL);
        CHECK_EQ(eddy_http_client_send(rig->client, NULL, &response), -EINVAL);
        CHECK_ERR(eddy_http_client_send(rig->client, &(struct eddy_http_request){ .url = NULL },
                                        &response),
                  EDDY_E_URL_INVALID);
        CHECK(response == NULL);
        eddy_http_client_stats(rig->client, NULL);
        CHECK_EQ(rig->peer.accepted, 0);
        CHECK_EQ(eddy_http_client_send(rig->client, &request, &response), 0);
        CHECK(eddy_http_response_header(response, NULL) == NULL);
        CHECK(eddy_http_response_trailer(response, NULL) == NULL);
        CHECK_EQ(eddy_http_response_header_at(response, 0, NULL), -EINVAL);
        CHECK_EQ(eddy_http_response_trailer_at(response, 0, NULL), -EINVAL);
        eddy_http_response_info(response, NULL);
        CHECK_EQ(eddy_http_response_read(response, NULL, 1), -EINVAL);
        CHECK_EQ(eddy_http_response_body(response, NULL, &bytes), -EINVAL);
        CHECK_EQ(eddy_http_response_body(response, &data, NULL), -EINVAL);
        /* Nothing was lost. */
        CHECK_EQ(eddy_http_response_body(response, &data, &bytes), 0);
        CHECK_STR(data, "ok");
        eddy_http_response_close(response);
        CHECK_STATS(rig->client, 1, 1, 0);
}
