/*
 * test_server_hostile.c - the server with clients that mean ill or are
 * broken: at most one answer of 4xx or 5xx, and the connection is closed.
 */
#include "server_test.h"
#include "wire/http1.h"

/* ---- the corpus of the wire floor ------------------------------------------ */

struct refused {
        const char *claim;
        const char *kind;
        const char *limits;
        const char *expected;
        const char *data;
        size_t bytes;
};

static const struct refused corpus[] = {
#define CASE(claim, kind, limits, expected, input)                                                 \
        { #claim, #kind, #limits, expected, input, sizeof(input) - 1 },
#include "corpus.h"
#undef CASE
};

/* Whether it is a request whose head must be refused under the server's own limits. */
static bool must_be_refused(const struct refused *one)
{
        return strcmp(one->kind, "REQUEST") == 0 && strcmp(one->limits, "DEFAULT") == 0 &&
               (strncmp(one->expected, "fault ", 6) == 0 ||
                strncmp(one->expected, "limit ", 6) == 0);
}

/* Returns true if a server that also speaks HTTP/2 takes the bytes as the beginning of that. */
static bool begins_http2(const char *data)
{
        return strncmp(data, "PRI * HTTP/2.0\r\n\r\n", 18) == 0;
}

static void check_refused(struct site *site, const struct refused *one)
{
        const struct answer *answer = ask_bytes(site, one->data, one->bytes);

        if (answer->responses != 1 || answer->status < 400 || answer->error != 0 ||
            !strstr(answer->text, "Connection: close\r\n"))
                test_fail(__FILE__, __LINE__, "%s: %d responses, %d, %s: %s", one->claim,
                          answer->responses, answer->status, eddy_error_name(answer->error),
                          answer->text);
        CHECK_EQ(site->handled, 0);
}

/* B35: the messages that must be refused, sent to the whole server. */
SERVER_TEST(forbidden_requests_are_refused_and_the_connection_closed, NULL)
{
        int n = 0;

        for (size_t i = 0; i < sizeof(corpus) / sizeof(corpus[0]); i++) {
                if (!must_be_refused(&corpus[i]) || begins_http2(corpus[i].data))
                        continue;
                check_refused(site, &corpus[i]);
                n++;
        }
        CHECK(n >= 50);
}

struct raw {
        const char *claim;
        const char *expected;
        const char *data;
        size_t bytes;
};

static const struct raw requests[] = {
#define REQUEST(claim, rfc, must, why, expected, input)                                            \
        { #claim, expected, input, sizeof(input) - 1 },
#include "requests.h"
#undef REQUEST
};
#define HOST "Host: h\r\n"

/* The status that the codec's words stand for; 0: it is accepted. */
static int status_expected(const char *expected)
{
        static const struct {
                const char *name;
                int status;
        } faults[] = {
#define FAULT_STATUS(name, status, text) { #name, status },
                ED_HTTP1_FAULTS(FAULT_STATUS)
#undef FAULT_STATUS
        };
        const char *last = strrchr(expected, ' ');

        if (strstr(expected, "fault ") || strstr(expected, "limit "))
                for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
                        if (strcmp(last + 1, faults[i].name) == 0)
                                return faults[i].status;
        return strstr(expected, " expects ") ? 417 : 0;
}

static void check_answer(struct site *site, const struct raw *raw)
{
        int status = status_expected(raw->expected), before = site->handled;
        const struct answer *answer = ask_bytes(site, raw->data, raw->bytes);
        bool is_of_head = strncmp(raw->expected, "fault ", 6) == 0 ||
                          strncmp(raw->expected, "limit ", 6) == 0;

        if (status == 0) {
                /* Of what there is or is not, at the site. */
                if (answer->status != 200 && answer->status != 404)
                        test_fail(__FILE__, __LINE__, "%s: %s", raw->claim, answer->text);
                CHECK(site->handled > before);
                return;
        }
        if (answer->status != status || answer->responses != 1 || answer->error != 0 ||
            !strstr(answer->text, "Connection: close\r\n"))
                test_fail(__FILE__, __LINE__, "%s: %d responses, %s: %s", raw->claim,
                          answer->responses, eddy_error_name(answer->error), answer->text);
        if (is_of_head)
                CHECK_EQ(site->handled, before);
}

/* B35: each request of the table, sent to the whole server, is accepted or refused as it says. */
SERVER_TEST(requests_are_answered_as_their_table_says,
            SERVER_OPTIONS(.idle_timeout_ns = EDDY_SEC(1)))
{
        for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
                if (!begins_http2(requests[i].data))
                        check_answer(site, &requests[i]);
        CHECK(sizeof(requests) / sizeof(requests[0]) >= 245);
}

SERVER_TEST(the_preface_of_http_2_is_refused_by_a_server_of_http_1_only,
            SERVER_OPTIONS(.flags = EDDY_HTTP_SERVER_HTTP1_ONLY))
{
        int n = 0;

        for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
                if (!begins_http2(requests[i].data))
                        continue;
                check_answer(site, &requests[i]);
                n++;
        }
        CHECK_EQ(n, 1);
}

/* B36: and those whose body is at fault, where the handler reads it. */
SERVER_TEST(forbidden_bodies_are_refused_and_the_connection_closed, NULL)
{
        static const char *const bodies[] = {
                "x\r\n",
                "+1\r\na\r\n0\r\n\r\n",
                "1\r\nab\r\n0\r\n\r\n",
                "1\na\n0\n\n",
                "-1\r\n",
                "1 \r\na\r\n0\r\n\r\n",
                "1;\001\r\na\r\n",
                "FFFFFFFFFFFFFFFFF\r\n",
                "0\r\nA b\r\n",
                "0\r\nContent-Length: 1\r\n\r\n",
                "0\r\n\n",
                "\r\n",
        };
        static char text[512];

        for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
                const struct answer *answer;

                snprintf(text, sizeof(text),
                         "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n%s"
                         "GET /ok HTTP/1.1\r\n" HOST "\r\n",
                         bodies[i]);
                answer = ask(site, text);
                if (answer->responses != 1 || answer->status < 400 || answer->status >= 500)
                        test_fail(__FILE__, __LINE__, "body %zu: %s", i, answer->text);
                CHECK_HAS(answer->text, "Connection: close\r\n");
                CHECK_STR(site->order, "e");
                site->order[0] = '\0';
        }
}

/* A request that the client cuts short is not answered as if it were whole. */
static const char whole[] = "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 4\r\n\r\nabcd";

SERVER_TEST(request_cut_at_every_byte_is_never_taken_for_whole, NULL)
{
        struct answer *answer = calloc(1, sizeof(*answer));

        CHECK(answer);
        for (size_t n = 0; n <= strlen(whole); n++) {
                eddy_stream *stream = site_connect(site);

                CHECK_EQ(eddy_stream_write(stream, whole, n), 0);
                CHECK_EQ(eddy_stream_shutdown(stream), 0);
                read_answer(stream, answer);
                if (n == strlen(whole)) {
                        CHECK_EQ(answer->status, 200);
                } else {
                        CHECK(answer->responses <= 1);
                        CHECK(answer->responses == 0 ||
                              (answer->status >= 400 && answer->status < 500));
                }
                eddy_stream_close(stream);
        }
        free(answer);
}

/* ---- limits ---------------------------------------------------------------- */

static const struct answer *ask_long(struct site *site, const char *before, size_t fill,
                                     const char *after)
{
        size_t bytes = strlen(before) + fill + strlen(after);
        char *text = malloc(bytes + 1);
        const struct answer *answer;

        CHECK(text);
        memcpy(text, before, strlen(before));
        memset(text + strlen(before), 'a', fill);
        memcpy(text + strlen(before) + fill, after, strlen(after));
        answer = ask_bytes(site, text, bytes);
        free(text);
        return answer;
}

#define LAST_HOST " HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n"

/* B37: the limits of a request's head. */
SERVER_TEST(limits_of_a_head_are_reported_by_their_status, NULL)
{
        CHECK_EQ(ask_long(site, "GET /ok?", 7000, LAST_HOST)->status, 200);
        CHECK_EQ(ask_long(site, "GET /ok?", 9000, LAST_HOST)->status, 414);
        CHECK_EQ(ask_long(site, "GET /ok HTTP/1.1\r\n" HOST "A: ", 9000, "\r\n\r\n")->status, 431);
        CHECK_EQ(ask(site, "GET /ok HTTP/2.0\r\n" HOST "\r\n")->status, 505);
        CHECK_EQ(ask(site, "POST /ok HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n")
                         ->status,
                 501);
        CHECK_EQ(ask(site, "POST /ok HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip\r\n\r\n")->status,
                 400);
        CHECK_EQ(ask(site, "GET /ok HTTP/1.1\r\n\r\n")->status, 400);
}

SERVER_TEST(number_of_headers_is_limited, SERVER_OPTIONS(.headers_max = 3))
{
        CHECK_EQ(ask(site, "GET /ok HTTP/1.1\r\n" HOST "A: 1\r\nConnection: close\r\n\r\n")->status,
                 200);
        CHECK_EQ(ask(site, "GET /ok HTTP/1.1\r\n" HOST "A: 1\r\nB: 2\r\nC: 3\r\n\r\n")->status,
                 431);
}

SERVER_TEST(bytes_of_a_head_are_limited, SERVER_OPTIONS(.head_bytes_max = 200))
{
        CHECK_EQ(ask_long(site, "GET /ok HTTP/1.1\r\n" HOST "Connection: close\r\nA: ", 100,
                          "\r\n\r\n")
                         ->status,
                 200);
        CHECK_EQ(ask_long(site, "GET /ok HTTP/1.1\r\n" HOST "Connection: close\r\nA: ", 200,
                          "\r\n\r\n")
                         ->status,
                 431);
}

#define INNER "GET /evil HTTP/1.1\r\n" HOST "\r\n"
#define AFTER "GET /last HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n"

/* The handler of "/ok" does not read the body: CL.0, TE.0, and the forms with Expect and Upgrade. */
SERVER_TEST(a_request_inside_a_body_that_is_not_read_is_never_answered, NULL)
{
        static const char *const heads[] = {
                "POST /ok HTTP/1.1\r\n" HOST,
                "GET /ok HTTP/1.1\r\n" HOST,
                "HEAD /ok HTTP/1.1\r\n" HOST,
                "OPTIONS /ok HTTP/1.1\r\n" HOST,
                "POST /ok HTTP/1.1\r\n" HOST "Expect: 100-continue\r\n",
                "GET /ok HTTP/1.1\r\n" HOST "Connection: Upgrade\r\nUpgrade: h2c\r\n",
        };

        for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
                char text[500];

                snprintf(text, sizeof(text), "%sContent-Length: %zu\r\n\r\n" INNER AFTER, heads[i],
                         strlen(INNER));
                CHECK(ask(site, text)->responses <= 2);
                snprintf(text, sizeof(text),
                         "%sTransfer-Encoding: chunked\r\n\r\n%zx\r\n" INNER "\r\n0\r\n\r\n" AFTER,
                         heads[i], strlen(INNER));
                CHECK(ask(site, text)->responses <= 2);
        }
        CHECK(strchr(site->order, 'o') && strchr(site->order, 'l'));
        CHECK(!strchr(site->order, 'e'));
}

SERVER_TEST(body_is_limited, SERVER_OPTIONS(.body_bytes_max = 1000))
{
        const struct answer *answer;

        answer = ask_long(site,
                          "POST /echo HTTP/1.1\r\n" HOST
                          "Connection: close\r\nContent-Length: 1000\r\n\r\n",
                          1000, "");
        CHECK_EQ(answer->status, 200);
        answer = ask_long(site, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 1001\r\n\r\n", 1001,
                          "");
        CHECK_EQ(answer->status, 413);
        CHECK_EQ(site->handled, 1);
        answer = ask_long(
                site, "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n3E9\r\n",
                1001, "\r\n0\r\n\r\n");
        CHECK_EQ(answer->status, 413);
        CHECK_HAS(answer->text, "Connection: close\r\n");
}

/*
 * RFC 9112, 9.6: a refusal reaches a client that is still sending, also when
 * requests before it were fine.
 */
SERVER_TEST_BOTH(refusal_reaches_a_client_that_is_still_sending,
                 SERVER_OPTIONS(.body_bytes_max = 1000))
{
        static const char *const before[] = { "", "GET /ok HTTP/1.1\r\n" HOST "\r\n" };
        static const char *const heads[] = {
                "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 200000\r\n\r\n",
                "POST /echo HTTP/1.1\r\n" HOST "Expect: x\r\nContent-Length: 900\r\n\r\n",
        };
        struct answer *answer = calloc(1, sizeof(*answer));
        static char body[200000];
        char text[256];

        CHECK(answer);
        for (int i = 0; i < 4; i++) {
                eddy_stream *stream = site_connect(site);
                size_t bytes = i / 2 ? 900 : sizeof(body);
                bool sent = true;

                if (i % 2)
                        (void) say(stream, before[1], "\r\n\r\nok");
                snprintf(text, sizeof(text), "%s", heads[i / 2]);
                CHECK_EQ(eddy_stream_write(stream, text, strlen(text)), 0);
                /* The refusal is sent before the body comes. */
                http_pause(EDDY_MS(20));
                for (size_t at = 0; at < bytes && sent; at += bytes / 10) {
                        sent = eddy_stream_write(stream, body, bytes / 10) == 0;
                        http_pause(EDDY_MS(1));
                }
                CHECK(sent);
                read_answer(stream, answer);
                CHECK_EQ(answer->status, i / 2 ? 417 : 413);
                CHECK_EQ(answer->error, 0);
                eddy_stream_close(stream);
        }
        free(answer);
}

/* The same for a last response, when the client had sent more. */
SERVER_TEST_BOTH(last_response_reaches_a_client_that_sends_on, NULL)
{
        struct answer *answer = calloc(1, sizeof(*answer));
        static char more[100000];
        eddy_stream *stream = site_connect(site);
        static const char request[] = "GET /last HTTP/1.1\r\n" HOST "\r\n";

        CHECK(answer);
        memset(more, 'x', sizeof(more));
        memcpy(more, request, sizeof(request) - 1);
        CHECK_EQ(eddy_stream_write(stream, more, sizeof(more)), 0);
        http_pause(EDDY_MS(20));
        read_answer(stream, answer);
        CHECK_EQ(answer->status, 200);
        CHECK_HAS(answer->text, "bye");
        CHECK_EQ(answer->error, 0);
        eddy_stream_close(stream);
        free(answer);
}

/* ---- garbage --------------------------------------------------------------- */

SERVER_TEST(garbage_harms_no_other_request, NULL)
{
        static char text[3000];
        uint64_t state = 1;

        for (int round = 0; round < 200; round++) {
                const struct answer *answer;
                size_t n = 1 + (size_t) round * 13 % sizeof(text);

                for (size_t i = 0; i < n; i++) {
                        state = state * 6364136223846793005 + 1442695040888963407;
                        text[i] = (char) (state >> 56);
                }
                answer = ask_bytes(site, text, n);
                CHECK(answer->responses <= 1);
                CHECK(answer->responses == 0 || answer->status >= 400);
        }
        CHECK_EQ(site->handled, 0);
        CHECK_EQ(ask(site, "GET /ok HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n")->status, 200);
}
