/*
 * test_layers.c - the layers of a call together: credentials, cookies and bodies of requests that are
 * repeated and redirected at the same time, and calls whose client is closed between two requests.
 *
 * A handler is the network. It notes each request.
 */
#include "eddy/test.h"
#include "http_test.h"

enum { LOG_BYTES = 4096, SOME = 6 };

/* The answers in turn; the last one goes on. 0: the connection is closed without an answer. */
struct answer {
        int status;
        const char *location, *set_cookie, *challenge;
};

static struct {
        const struct answer *answers;
        int count, calls;
        char log[LOG_BYTES];
        size_t log_bytes;
        eddy_http_client *client;
        struct eddy_http_fault fault;
        bool answers_early;
} seen;

static void note(const char *text)
{
        size_t bytes = strlen(text);

        CHECK(seen.log_bytes + bytes < LOG_BYTES);
        memcpy(seen.log + seen.log_bytes, text, bytes + 1);
        seen.log_bytes += bytes;
}

static void note_header(eddy_http_exchange *exchange, const char *name)
{
        const char *value = eddy_http_exchange_header(exchange, name);

        if (!value)
                return;
        note(" ");
        /* A random part of Digest follows. */
        note(strncmp(value, "Digest ", 7) == 0 ? "Digest" : value);
}

static int note_request(eddy_http_exchange *exchange)
{
        const void *data;
        size_t bytes;
        int err;

        note(eddy_http_exchange_method(exchange));
        note(" ");
        note(eddy_http_exchange_host(exchange));
        note(eddy_http_exchange_path(exchange));
        note_header(exchange, "Authorization");
        note_header(exchange, "Cookie");
        note_header(exchange, "X-Api-Key");
        if (seen.answers_early) {
                note("\n");
                return 0;
        }
        err = eddy_http_exchange_body(exchange, &data, &bytes);
        if (err >= 0 && bytes > 0)
                note(memmem(data, bytes, "whole body", 10) ? " [whole]" : " [other]");
        note("\n");
        return err;
}

static int handle(eddy_http_exchange *exchange, void *arg)
{
        const struct answer *answer =
                &seen.answers[seen.calls < seen.count ? seen.calls : seen.count - 1];
        struct eddy_http_header headers[3];
        size_t n = 0;
        int err;

        (void) arg;
        seen.calls++;
        err = note_request(exchange);
        if (err < 0)
                return err;
        if (answer->status == 0) {
                eddy_http_exchange_abort(exchange);
                return 0;
        }
        if (answer->location)
                headers[n++] = (struct eddy_http_header){ "Location", answer->location };
        if (answer->set_cookie)
                headers[n++] = (struct eddy_http_header){ "Set-Cookie", answer->set_cookie };
        if (answer->challenge)
                headers[n++] = (struct eddy_http_header){ "WWW-Authenticate", answer->challenge };
        return eddy_http_exchange_respond(exchange, answer->status, headers, n, "ok",
                                          answer->status == 204 ? 0 : 2);
}

static int client_new(const struct eddy_http_client_opts *opts, const struct answer *answers,
                      int count)
{
        struct eddy_http_client_opts own = *opts;

        memset(&seen, 0, sizeof(seen));
        seen.answers = answers;
        seen.count = count;
        own.handler = handle;
        return eddy_http_client_new(&own, &seen.client);
}

static int fetch(const struct eddy_http_request *request)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request own = *request;
        const void *data;
        size_t bytes;
        int err;

        own.ret_fault = &seen.fault;
        err = eddy_http_client_send(seen.client, &own, &response);
        if (err >= 0)
                err = eddy_http_response_body(response, &data, &bytes);
        return err < 0 ? err : eddy_http_response_status(response);
}

#define FETCH(...) fetch(&(struct eddy_http_request){ __VA_ARGS__ })
#define NEW(options, ...)                                                                          \
        new_of(options, (const struct answer[]){ __VA_ARGS__ },                                    \
               sizeof((const struct answer[]){ __VA_ARGS__ }) / sizeof(struct answer))

/* The answers live as long as the test's frame. */
static void new_of(const struct eddy_http_client_opts *opts, const struct answer *answers, size_t n)
{
        CHECK_EQ(client_new(opts, answers, (int) n), 0);
}

static const struct eddy_retry_policy again = { .attempts = 3, .base_ns = -1 };

/* LAYERS_TEST(claim) { ... } */
#define LAYERS_TEST(claim)                                                                         \
        static void layers_##claim(void);                                                          \
        static int run_##claim(void *arg)                                                          \
        {                                                                                          \
                (void) arg;                                                                        \
                layers_##claim();                                                                  \
                return 0;                                                                          \
        }                                                                                          \
        TEST(claim)                                                                                \
        {                                                                                          \
                http_run(run_##claim, NULL);                                                       \
        }                                                                                          \
        static void layers_##claim(void)

/* ---- secrets ------------------------------------------------------------------------ */

/* A header of the request's own hides its option 'auth', until a redirect takes the header away. */
LAYERS_TEST(credentials_that_a_header_replaces_reach_no_other_origin)
{
        static const struct eddy_http_header own = { "Authorization", "own" };
        struct eddy_http_auth_opts opts = { .token = "secret" };
        eddy_http_auth *auth;

        CHECK_EQ(eddy_http_auth_new(&opts, &auth), 0);
        NEW(OPTIONS(.redirects_max = 9), { .status = 307, .location = "http://b.test/y" },
            { .status = 307, .location = "http://a.test/z" }, { .status = 200 });
        CHECK_EQ(FETCH(.url = "http://a.test/x", .auth = auth, .headers = &own, .headers_count = 1),
                 200);
        CHECK_STR(seen.log, "GET a.test/x own\nGET b.test/y\nGET a.test/z\n");
        eddy_http_client_close(seen.client);
        /* The same with a default header of the client. */
        NEW(OPTIONS(.redirects_max = 9, .headers = &own, .headers_count = 1),
            { .status = 307, .location = "http://b.test/y" }, { .status = 200 });
        CHECK_EQ(FETCH(.url = "http://a.test/x", .auth = auth), 200);
        CHECK_STR(seen.log, "GET a.test/x own\nGET b.test/y\n");
        eddy_http_client_close(seen.client);
        eddy_http_auth_free(auth);
}

/* Each kind of credentials, of the client and of the request, with an attempt that fails at each hop. */
LAYERS_TEST(credentials_end_at_another_origin_also_with_retries)
{
        static const struct answer answers[] = {
                { .status = 503 }, { .status = 307, .location = "//b.test/y" },
                { .status = 503 }, { .status = 307, .location = "//a.test/z" },
                { .status = 503 }, { .status = 200 },
        };
        static const struct eddy_http_header key = { "X-Api-Key", "key" };
        struct eddy_http_auth_opts opts[] = { { .token = "secret" },
                                              { .user = "kim", .password = "secret" } };

        for (int i = 0; i < 4; i++) {
                struct eddy_http_client_opts client = { .redirects_max = 9, .retry = &again };
                eddy_http_auth *auth;
                char expected[400];
                const char *value = i % 2 ? "Basic a2ltOnNlY3JldA==" : "Bearer secret";

                CHECK_EQ(eddy_http_auth_new(&opts[i % 2], &auth), 0);
                client.auth = i < 2 ? auth : NULL;
                CHECK_EQ(client_new(&client, answers, 6), 0);
                CHECK_EQ(FETCH(.url = "http://a.test/x", .auth = i < 2 ? NULL : auth,
                               .headers = &key, .headers_count = 1),
                         200);
                snprintf(expected, sizeof(expected),
                         "GET a.test/x %s key\nGET a.test/x %s key\nGET b.test/y\nGET b.test/y\n"
                         "GET a.test/z\nGET a.test/z\n",
                         value, value);
                CHECK_STR(seen.log, expected);
                eddy_http_client_close(seen.client);
                eddy_http_auth_free(auth);
        }
}

/* Another origin's challenge is not answered, neither with Digest nor with the URL's user. */
LAYERS_TEST(challenge_of_another_origin_is_the_response)
{
        static const char challenge[] = "Digest realm=\"r\", nonce=\"n\", qop=\"auth\", "
                                        "algorithm=SHA-256";
        struct eddy_http_auth_opts opts = { .user = "kim",
                                            .password = "secret",
                                            .flags = EDDY_HTTP_AUTH_DIGEST };
        eddy_http_auth *auth;

        CHECK_EQ(eddy_http_auth_new(&opts, &auth), 0);
        NEW(OPTIONS(.redirects_max = 9, .auth = auth), { .status = 401, .challenge = challenge },
            { .status = 307, .location = "http://b.test/y" },
            { .status = 401, .challenge = challenge });
        CHECK_EQ(FETCH(.url = "http://a.test/x"), 401);
        CHECK_STR(seen.log, "GET a.test/x\nGET a.test/x Digest\nGET b.test/y\n");
        seen.calls = 1;
        seen.log_bytes = 0;
        CHECK_EQ(FETCH(.url = "http://u:p@a.test/x"), 401);
        CHECK_STR(seen.log, "GET a.test/x Basic dTpw\nGET b.test/y\n");
        eddy_http_client_close(seen.client);
        eddy_http_auth_free(auth);
}

LAYERS_TEST(cookies_of_a_failed_attempt_are_not_those_of_the_next_url)
{
        eddy_http_cookies *jar;

        CHECK_EQ(eddy_http_cookies_new(&jar), 0);
        CHECK(eddy_http_cookies_set(jar, "http://a.test/in/x", "in=1; Path=/in") >= 0);
        NEW(OPTIONS(.redirects_max = 9, .cookies = jar, .retry = &again), { .status = 0 },
            { .status = 302, .location = "/out", .set_cookie = "new=2; Path=/" },
            { .status = 200 });
        CHECK_EQ(FETCH(.url = "http://a.test/in/x"), 200);
        CHECK_STR(seen.log, "GET a.test/in/x in=1\nGET a.test/in/x in=1\nGET a.test/out new=2\n");
        eddy_http_client_close(seen.client);
        eddy_http_cookies_free(jar);
}

/* ---- bodies ------------------------------------------------------------------------- */

static int64_t slow_read(void *arg, void *buf, size_t bytes)
{
        int *pieces = arg;
        int err = eddy_sleep(EDDY_MS(50));

        (void) bytes;
        if (err < 0)
                return err;
        if (++*pieces > 3)
                return 0;
        memcpy(buf, "whole body", 10);
        return 10;
}

static int slow_rewind(void *arg)
{
        *(int *) arg = 0;
        return 0;
}

LAYERS_TEST(form_with_a_source_is_sent_whole_by_each_layer_that_repeats)
{
        static const char challenge[] = "Digest realm=\"r\", nonce=\"n\", qop=\"auth\", "
                                        "algorithm=SHA-256";
        int pieces = 0;
        struct eddy_http_body_source source = {
                .read = slow_read, .rewind = slow_rewind, .arg = &pieces, .bytes = -1
        };
        struct eddy_http_part parts[] = { { .name = "a", .data = "1", .data_bytes = 1 },
                                          { .name = "b", .source = &source } };
        struct eddy_http_multipart form = { .parts = parts, .parts_count = 2 };
        struct eddy_http_auth_opts opts = { .user = "kim",
                                            .password = "secret",
                                            .flags = EDDY_HTTP_AUTH_DIGEST };
        eddy_http_auth *auth;

        CHECK_EQ(eddy_http_auth_new(&opts, &auth), 0);
        NEW(OPTIONS(.redirects_max = 9, .auth = auth, .retry = &again), { .status = 503 },
            { .status = 401, .challenge = challenge }, { .status = 0 }, { .status = 503 },
            { .status = 307, .location = "/y" }, { .status = 200 });
        CHECK_EQ(FETCH(.method = "PUT", .url = "http://a.test/x", .multipart = &form), 200);
        CHECK_STR(seen.log, "PUT a.test/x [whole]\nPUT a.test/x [whole]\n"
                            "PUT a.test/x Digest [whole]\nPUT a.test/x Digest [whole]\n"
                            "PUT a.test/x Digest [whole]\nPUT a.test/y Digest [whole]\n");
        /* A server that answers before it reads: the source may be within a read. */
        seen.answers_early = true;
        seen.calls = 0;
        CHECK_EQ(FETCH(.method = "PUT", .url = "http://a.test/x", .multipart = &form), 200);
        seen.calls = 0;
        CHECK_ERR(FETCH(.method = "PUT", .url = "http://a.test/x", .multipart = &form,
                        .retry = &(struct eddy_retry_policy){ .attempts = 1 },
                        .flags = EDDY_HTTP_STATUS_IS_ERROR),
                  EDDY_E_HTTP_STATUS);
        eddy_http_client_close(seen.client);
        eddy_http_auth_free(auth);
}

LAYERS_TEST(request_with_a_form_is_a_post)
{
        static const struct eddy_http_multipart form = { 0 };

        CHECK(!eddy_http_request_is_idempotent(&(struct eddy_http_request){ .multipart = &form }));
        NEW(OPTIONS(.retry = &again), { .status = 500 });
        CHECK_EQ(FETCH(.url = "http://a.test/x", .multipart = &form), 500);
        CHECK_EQ(seen.calls, 1);
        eddy_http_client_close(seen.client);
}

LAYERS_TEST(upgrade_with_a_body_of_any_kind_is_not_sent)
{
        static const struct eddy_http_header upgrade = { "Upgrade", "echo" };
        static const struct eddy_http_multipart form = { 0 };
        static const struct eddy_fields fields = { 0 };
        struct eddy_http_request requests[] = { { .multipart = &form },
                                                { .form = { &fields, &fields } },
                                                { .json = { &fields, &fields } } };
        eddy_http_response *response;
        eddy_stream *stream;

        NEW(OPTIONS(.redirects_max = 9), { .status = 200 });
        for (int i = 0; i < 3; i++) {
                requests[i].url = "http://a.test/";
                requests[i].headers = &upgrade;
                requests[i].headers_count = 1;
                CHECK_ERR(eddy_http_client_upgrade(seen.client, &requests[i], &response, &stream),
                          EDDY_E_HTTP_INVALID_REQUEST);
        }
        CHECK_EQ(seen.calls, 0);
        eddy_http_client_close(seen.client);
}

LAYERS_TEST(header_without_a_name_is_refused_by_each_call)
{
        static const struct eddy_http_header header = { NULL, "value" };
        struct eddy_http_request request = { .url = "http://a.test/",
                                             .headers = &header,
                                             .headers_count = 1 };
        eddy_http_sse *sse;

        NEW(OPTIONS(.redirects_max = 9), { .status = 200 });
        CHECK_ERR(fetch(&request), EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_ERR(eddy_http_sse_open(seen.client, &request, NULL, &sse),
                  EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_ERR(eddy_http_download(seen.client, &request, "/out", NULL),
                  EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_EQ(seen.calls, 0);
        eddy_http_client_close(seen.client);
}

LAYERS_TEST(options_of_the_client_do_not_change_the_attempts_of_a_stream_of_events)
{
        static const struct eddy_http_multipart form = { 0 };
        struct eddy_http_request request = { .url = "http://a.test/", .ret_fault = &seen.fault };
        eddy_http_sse *sse;

        NEW(OPTIONS(.retry = &again, .flags = EDDY_HTTP_STATUS_IS_ERROR), { .status = 503 },
            { .status = 204 });
        CHECK_ERR(eddy_http_sse_open(seen.client, &request, NULL, &sse), EDDY_E_HTTP_STATUS);
        CHECK_EQ(seen.calls, 1);
        CHECK_EQ(seen.fault.status, 503);
        CHECK_STR(seen.fault.body, "ok");
        request.multipart = &form;
        CHECK_EQ(eddy_http_sse_open(seen.client, &request, NULL, &sse), 0);
        CHECK_STR(seen.log, "GET a.test/\nPOST a.test/ [other]\n");
        eddy_http_sse_close(sse);
        eddy_http_client_close(seen.client);
}

/* ---- time --------------------------------------------------------------------------- */

static int64_t began_ns;

CLIENT_TEST(rest_of_an_error_that_is_dropped_is_within_the_total_time,
            OPTIONS(.flags = EDDY_HTTP_STATUS_IS_ERROR, .timeouts.total_ns = EDDY_MS(300)),
            SCRIPT("HTTP/1.1 500 x\r\nContent-Length: 9\r\n\r\nbegin", NULL))
{
        began_ns = eddy_now();
        CHECK_ERR(rig_get(rig, "/"), EDDY_E_HTTP_STATUS);
        CHECK_EQ((eddy_now() - began_ns) / EDDY_MS(1), 300);
}

/* ---- many requests ------------------------------------------------------------------ */

static struct eddy_http_request requests[SOME];
static struct eddy_http_result results[SOME];

static int fetch_some(void *arg)
{
        const struct rig *rig = arg;

        CHECK_ERR(eddy_http_fetch_many(rig->client, requests, SOME, 1, results),
                  EDDY_E_HTTP_CLIENT_CLOSED);
        return 0;
}

CLIENT_TEST(client_that_is_closed_ends_all_requests_of_a_call, NULL,
            SCRIPT(OK_2, "HTTP/1.1 200 OK\r\n", NULL))
{
        eddy_scope scope;

        for (int i = 0; i < SOME; i++)
                requests[i] = (struct eddy_http_request){ .url = rig->url };
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, fetch_some, rig);
        http_pause(EDDY_SEC(1));
        eddy_http_client_close(rig->client);
        rig->client = NULL;
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < SOME; i++)
                CHECK_EQ(results[i].error, i < 1 ? 0 : EDDY_E_HTTP_CLIENT_CLOSED);
        eddy_http_results_fini(results, SOME);
}

LAYERS_TEST(status_that_is_an_error_is_in_its_result_and_fetched_again)
{
        NEW(OPTIONS(.flags = EDDY_HTTP_STATUS_IS_ERROR), { .status = 404 }, { .status = 200 },
            { .status = 302, .location = "ftp://x" }, { .status = 503 }, { .status = 200 });
        for (int i = 0; i < SOME; i++)
                requests[i] = (struct eddy_http_request){ .url = "http://a.test/",
                                                          .redirects_max = i == 2 ? 1 : 0 };
        requests[3].flags = EDDY_HTTP_ANY_STATUS;
        requests[4].ret_fault = &seen.fault;
        CHECK_ERR(eddy_http_fetch_many(seen.client, requests, SOME, 1, results),
                  EDDY_E_HTTP_STATUS);
        CHECK_ERR(results[0].error, EDDY_E_HTTP_STATUS);
        CHECK_EQ(results[0].status, 404);
        CHECK_STR(results[0].body, "ok");
        CHECK_ERR(results[2].error, EDDY_E_HTTP_STATUS);
        CHECK_EQ(results[2].status, 302);
        CHECK_EQ(results[2].body_bytes, 0);
        CHECK_EQ(results[3].error, 0);
        CHECK_EQ(results[3].status, 503);
        CHECK_EQ(seen.calls, SOME);
        CHECK_EQ(eddy_http_fetch_many(seen.client, requests, SOME, 1, results), 0);
        CHECK_EQ(seen.calls, SOME + 2);
        CHECK_EQ(results[0].status, 200);
        CHECK_EQ(results[2].status, 200);
        eddy_http_results_fini(results, SOME);
        eddy_http_client_close(seen.client);
}

/* ---- cancels and memory ------------------------------------------------------------- */

static int use_all(void *arg)
{
        static const char challenge[] = "Digest realm=\"r\", nonce=\"n\", qop=\"auth\", "
                                        "algorithm=SHA-256";
        static const struct answer answers[] = {
                { .status = 503 },
                { .status = 401, .challenge = challenge },
                { .status = 307, .location = "/y", .set_cookie = "a=1; Path=/" },
                { .status = 307, .location = "http://b.test/z" },
                { .status = 0 },
                { .status = 404 },
        };
        struct eddy_http_part part = { .name = "a", .data = "whole body", .data_bytes = 10 };
        struct eddy_http_multipart form = { .parts = &part, .parts_count = 1 };
        struct eddy_http_auth_opts opts = { .user = "kim",
                                            .password = "secret",
                                            .flags = EDDY_HTTP_AUTH_DIGEST };
        struct eddy_http_client_opts client = { .redirects_max = 9,
                                                .retry = &again,
                                                .flags = EDDY_HTTP_STATUS_IS_ERROR,
                                                .timeouts.total_ns = EDDY_SEC(60) };
        eddy_http_cookies *jar = NULL;
        eddy_http_auth *auth = NULL;
        int err;

        (void) arg;
        err = eddy_http_cookies_new(&jar);
        if (err >= 0)
                err = eddy_http_auth_new(&opts, &auth);
        client.cookies = jar;
        client.auth = auth;
        if (err >= 0)
                err = client_new(&client, answers, 6);
        if (err >= 0) {
                err = FETCH(.method = "PUT", .url = "http://a.test/x", .multipart = &form);
                eddy_http_client_close(seen.client);
        }
        eddy_http_auth_free(auth);
        eddy_http_cookies_free(jar);
        return err == EDDY_E_HTTP_STATUS || err > 0 ? 0 : err;
}

TEST(cancel_or_shortage_at_any_point_of_all_layers_leaves_nothing)
{
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_CANCEL, use_all, NULL, NULL, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_ALLOC, use_all, NULL, NULL, NULL), 0);
}
