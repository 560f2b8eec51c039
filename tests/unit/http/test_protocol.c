/*
 * test_protocol.c - a response gets its protocol's part after its connection is open: here HTTP/1,
 * counted.
 */
#include "http/client.h"
#include "http_test.h"

static struct {
        struct ed_http_response_ops ops;
        struct ed_http_protocol protocol;
        int attached;
        int detached;
} counted;

static int count_attach(eddy_http_response *response)
{
        CHECK(response->conn && response->conn->stream);
        CHECK(!response->part);
        counted.attached++;
        return ed_http1_protocol.response->attach(response);
}

static void count_detach(eddy_http_response *response)
{
        counted.detached++;
        ed_http1_protocol.response->detach(response);
}

static void count(struct rig *rig)
{
        counted.ops = *ed_http1_protocol.response;
        counted.ops.attach = count_attach;
        counted.ops.detach = count_detach;
        counted.protocol = ed_http1_protocol;
        counted.protocol.response = &counted.ops;
        counted.attached = counted.detached = 0;
        rig->client->protocols.plain = &counted.protocol;
}

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

CLIENT_TEST_BOTH(protocol_is_attached_to_an_open_connection, NULL, SCRIPT(OK))
{
        count(rig);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(counted.attached, 1);
        CHECK_EQ(counted.detached, 1);
}

CLIENT_TEST(request_that_is_not_valid_meets_no_protocol, NULL, SCRIPT(OK))
{
        struct eddy_http_header wrong = { "X-Wrong", "a\nb" };
        struct eddy_http_request request = { .url = "/", .headers = &wrong, .headers_count = 1 };

        count(rig);
        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_EQ(counted.attached, 0);
        CHECK_EQ(rig->peer.accepted, 0);
}

CLIENT_TEST_BOTH(repetition_on_a_second_connection_attaches_again, NULL, SCRIPT(OK, "~"),
                 SCRIPT(OK))
{
        count(rig);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig->peer.accepted, 2);
        CHECK_EQ(counted.attached, counted.detached);
        CHECK(counted.attached == 2 || counted.attached == 3);
}

/* The size of a head is limited before a connection is opened. */
CLIENT_TEST(head_above_its_limit_opens_no_connection, NULL, SCRIPT(OK))
{
        static char value[ED_HTTP_REQUEST_HEAD_MAX / 2];
        struct eddy_http_header header = { "X-Long", value };
        const struct eddy_http_header headers[] = { header, header };
        struct eddy_http_request request = { .url = "/", .headers = headers, .headers_count = 2 };

        memset(value, 'a', sizeof(value) - 1);
        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_EQ(rig->peer.accepted, 0);
}

/* A value that two headers share is a host in one of them only. */
CLIENT_TEST(text_of_host_may_be_another_value_too, NULL, SCRIPT(OK))
{
        static const char text[] = "a.test";
        struct eddy_http_header headers[] = { { "X-Copy", text }, { "Host", text } };
        struct eddy_http_request request = { .url = "/", .headers = headers, .headers_count = 2 };

        CHECK_EQ(rig_fetch(rig, &request), 0);
        CHECK(strstr(rig->peer.last, "X-Copy: a.test\r\nHost: a.test\r\n"));
        headers[1].value = "a b";
        headers[0].value = "a b";
        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_EQ(rig->peer.requests, 1);
}
