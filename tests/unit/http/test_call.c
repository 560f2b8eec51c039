/*
 * test_call.c - what a call makes of the client's options and a request: the URL, the headers, the
 * body, and the judgement of the status.
 */
#include "eddy/test.h"
#include "http_test.h"

enum { SEEN_BYTES = 2000 };

struct user {
        char name[40];
        uint32_t age;
};

static const struct eddy_field user_list[] = {
        EDDY_FIELD(struct user, name, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(1, 39)),
        EDDY_FIELD(struct user, age, 0),
};
static const struct eddy_fields user_fields = EDDY_FIELDS(struct user, user_list, 0);
static const struct user zoe = { .name = "Zoe & Tim", .age = 7 };
static const struct user unnamed = { .name = "" };

static struct {
        eddy_http_client *client;
        struct eddy_http_fault fault;
        int calls, status;
        const char *answer;
        char target[200], method[16], body[200], headers[SEEN_BYTES];
} seen;

static int handle(eddy_http_exchange *exchange, void *arg)
{
        struct eddy_http_header header;
        const void *data;
        size_t bytes, at = 0;
        int err = eddy_http_exchange_body(exchange, &data, &bytes);

        (void) arg;
        if (err < 0)
                return err;
        seen.calls++;
        snprintf(seen.target, sizeof(seen.target), "%s%s", eddy_http_exchange_host(exchange),
                 eddy_http_exchange_target(exchange));
        snprintf(seen.method, sizeof(seen.method), "%s", eddy_http_exchange_method(exchange));
        snprintf(seen.body, sizeof(seen.body), "%.*s", (int) bytes, (const char *) data);
        seen.headers[0] = '\0';
        for (size_t i = 0; eddy_http_exchange_header_at(exchange, i, &header) == 0; i++)
                at += (size_t) snprintf(seen.headers + at, sizeof(seen.headers) - at, "%s: %s\n",
                                        header.name, header.value);
        return eddy_http_exchange_respond(exchange, seen.status ? seen.status : 200, NULL, 0,
                                          seen.answer ? seen.answer : "ok",
                                          seen.answer ? strlen(seen.answer) : 2);
}

static int client_new(const struct eddy_http_client_opts *opts)
{
        struct eddy_http_client_opts own = *opts;

        memset(&seen, 0, sizeof(seen));
        own.handler = handle;
        own.ret_fault = &seen.fault;
        return eddy_http_client_new(&own, &seen.client);
}

/* Returns the status, or an error. */
static int fetch(const struct eddy_http_request *request)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request own = *request;
        const void *data;
        size_t bytes;
        int err;

        own.ret_fault = &seen.fault;
        seen.target[0] = '\0';
        err = eddy_http_client_send(seen.client, &own, &response);
        if (err >= 0)
                err = eddy_http_response_body(response, &data, &bytes);
        return err < 0 ? err : eddy_http_response_status(response);
}

#define FETCH(...) fetch(&(struct eddy_http_request){ __VA_ARGS__ })

static bool sent(const char *line)
{
        return strstr(seen.headers, line) != NULL;
}

/* ---- the URL ------------------------------------------------------------------------ */

static void check_join(const char *base, const char *url, const char *target)
{
        CHECK_EQ(client_new(OPTIONS(.base_url = base)), 0);
        CHECK_EQ(FETCH(.url = url), 200);
        CHECK_STR(seen.target, target);
        eddy_http_client_close(seen.client);
}

static int joins(void *arg)
{
        static const char *const bases[] = { "http://api.test/v1", "http://api.test/v1/" };

        (void) arg;
        for (int i = 0; i < 2; i++) {
                check_join(bases[i], "users", "api.test/v1/users");
                check_join(bases[i], "/users", "api.test/v1/users");
                check_join(bases[i], "./users/", "api.test/v1/users/");
                check_join(bases[i], "users?a=/b#c", "api.test/v1/users?a=/b");
                check_join(bases[i], "/a:b", "api.test/v1/a:b");
                check_join(bases[i], "../../../x", "api.test/x");
                check_join(bases[i], "http://other.test/v2", "other.test/v2");
        }
        check_join(bases[0], "", "api.test/v1");
        check_join(bases[0], "?page=2", "api.test/v1?page=2");
        check_join(bases[1], "", "api.test/v1/");
        check_join("http://api.test", "users", "api.test/users");
        check_join("http://api.test:81", "/", "api.test:81/");
        return 0;
}

TEST(relative_url_is_below_the_base_url)
{
        http_run(joins, NULL);
}

static int refused_urls(void *arg)
{
        (void) arg;
        CHECK_EQ(client_new(OPTIONS(.base_url = "http://api.test/v1")), 0);
        CHECK_ERR(FETCH(.url = "//evil.test/x"), EDDY_E_URL_INVALID);
        CHECK_STR(seen.fault.text,
                  "url: a URL that begins with \"//\" is not joined to base_url: write the scheme "
                  "too");
        CHECK_ERR(FETCH(.url = NULL), EDDY_E_URL_INVALID);
        CHECK_STR(seen.fault.text, "url: the request has none");
        CHECK_ERR(FETCH(.url = "a b"), EDDY_E_URL_INVALID);
        CHECK(strncmp(seen.fault.text, "url: quote the parts ", 21) == 0);
        CHECK_ERR(FETCH(.url = "ftp://api.test/"), EDDY_E_URL_SCHEME);
        CHECK_STR(seen.fault.text, "url: write http:// or https://");
        CHECK_EQ(seen.calls, 0);
        eddy_http_client_close(seen.client);
        CHECK_EQ(client_new(OPTIONS(.connections_max = 0)), 0);
        CHECK_ERR(FETCH(.url = "/users"), EDDY_E_URL_INVALID);
        CHECK(strncmp(seen.fault.text, "url: it is relative: ", 21) == 0);
        CHECK_ERR(FETCH(.url = "ftp://a/"), EDDY_E_URL_SCHEME);
        CHECK_STR(seen.fault.text, "url: write http:// or https://");
        CHECK_ERR(FETCH(.url = "http://a%3Ab:c@a/"), EDDY_E_URL_CREDENTIALS);
        CHECK_STR(seen.fault.text, "");
        CHECK_ERR(FETCH(.url = NULL, .query = { &user_fields, &zoe }), EDDY_E_URL_INVALID);
        CHECK_STR(seen.fault.text, "url: the request has none");
        eddy_http_client_close(seen.client);
        return 0;
}

TEST(url_of_another_host_without_a_scheme_is_refused)
{
        http_run(refused_urls, NULL);
}

static int missing_lists(void *arg)
{
        static const struct eddy_http_multipart form = { .parts_count = 1 };
        struct eddy_http_request request = { .url = "http://a/",
                                             .headers_count = 1,
                                             .ret_fault = &seen.fault };
        eddy_http_sse *sse;

        (void) arg;
        CHECK_ERR(client_new(OPTIONS(.headers_count = 1)), EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_STR(seen.fault.text, "headers: it is NULL, and 'headers_count' is above 0");
        CHECK_ERR(eddy_http_client_new(OPTIONS(.resolve_count = 1, .ret_fault = &seen.fault),
                                       &seen.client),
                  -EINVAL);
        CHECK(strncmp(seen.fault.text, "resolve: ", 9) == 0);
        CHECK_EQ(client_new(OPTIONS(.connections_max = 0)), 0);
        CHECK_ERR(fetch(&request), EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_STR(seen.fault.text, "headers: it is NULL, and 'headers_count' is above 0");
        CHECK_ERR(eddy_http_sse_open(seen.client, &request, NULL, &sse),
                  EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_STR(seen.fault.text, "headers: it is NULL, and 'headers_count' is above 0");
        CHECK_ERR(eddy_http_download(seen.client, &request, "/tmp/none", NULL),
                  EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_STR(seen.fault.text, "headers: it is NULL, and 'headers_count' is above 0");
        CHECK(eddy_http_request_is_idempotent(&request));
        CHECK_ERR(FETCH(.url = "http://a/", .query = { &user_fields, NULL }),
                  EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_STR(seen.fault.text, "query: 'value' is NULL, and 'fields' is not");
        CHECK_ERR(FETCH(.url = "http://a/", .json = { &user_fields, NULL }),
                  EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_STR(seen.fault.text, "json: 'value' is NULL, and 'fields' is not");
        CHECK_ERR(FETCH(.url = "http://a/", .form = { &user_fields, NULL }),
                  EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_STR(seen.fault.text, "form: 'value' is NULL, and 'fields' is not");
        CHECK_ERR(FETCH(.url = "http://a/", .multipart = &form), -EINVAL);
        CHECK_STR(seen.fault.text, "multipart: 'parts' is NULL, or has too many parts");
        CHECK_ERR(FETCH(.url = "http://a/", .flags = 1u << 30), -EINVAL);
        CHECK_STR(seen.fault.text, "flags: a flag is unknown");
        CHECK_EQ(seen.calls, 0);
        eddy_http_client_close(seen.client);
        return 0;
}

TEST(missing_list_or_value_is_refused_by_its_name)
{
        http_run(missing_lists, NULL);
}

static int queries(void *arg)
{
        (void) arg;
        CHECK_EQ(client_new(OPTIONS(.base_url = "http://a")), 0);
        CHECK_EQ(FETCH(.url = "x", .query = { &user_fields, &zoe }), 200);
        CHECK_STR(seen.target, "a/x?name=Zoe%20%26%20Tim&age=7");
        CHECK_EQ(FETCH(.url = "x?b=c#d?e", .query = { &user_fields, &zoe }), 200);
        CHECK_STR(seen.target, "a/x?b=c&name=Zoe%20%26%20Tim&age=7");
        CHECK_EQ(FETCH(.url = "http://b/#d?e", .query = { &user_fields, &zoe }), 200);
        CHECK_STR(seen.target, "b/?name=Zoe%20%26%20Tim&age=7");
        CHECK_ERR(FETCH(.url = "x", .query = { &user_fields, &unnamed }), EDDY_E_FIELD_LENGTH);
        CHECK(strncmp(seen.fault.text, "query: name", 11) == 0);
        eddy_http_client_close(seen.client);
        return 0;
}

TEST(query_is_appended_before_the_fragment)
{
        http_run(queries, NULL);
}

/* ---- the headers -------------------------------------------------------------------- */

static const struct eddy_http_header defaults[] = {
        { "X-Version", "1" },
        { "Authorization", "Bearer secret" },
        { "accept", "text/plain" },
        { "x-api-key", "another secret" },
};

static int headers(void *arg)
{
        static const struct eddy_http_header other[] = { { "x-VERSION", "2" },
                                                         { "X-version", "3" } };
        static const struct eddy_http_header none[] = { { "X-Version", NULL },
                                                        { "Accept", NULL },
                                                        { "user-agent", NULL } };

        (void) arg;
        CHECK_EQ(client_new(OPTIONS(.headers = defaults, .headers_count = 4)), 0);
        CHECK_EQ(FETCH(.url = "http://a"), 200);
        CHECK(sent("X-Version: 1\n") && sent("accept: text/plain\n") && !sent("Accept:"));
        CHECK(sent("Authorization: Bearer secret\n") && sent("User-Agent: eddy/"));
        CHECK_EQ(FETCH(.url = "http://a", .headers = other, .headers_count = 2), 200);
        CHECK(sent("x-VERSION: 2\nX-version: 3\n") && !sent("X-Version: 1"));
        CHECK(sent("Authorization: Bearer secret\n"));
        CHECK_EQ(FETCH(.url = "http://u:p@a", .headers = none, .headers_count = 3), 200);
        CHECK(!sent("X-Version") && !sent("ccept:") && !sent("User-Agent"));
        CHECK(sent("Authorization: Bearer secret\n") && !sent("Basic"));
        eddy_http_client_close(seen.client);
        return 0;
}

TEST(header_of_a_request_replaces_or_removes_the_default_one)
{
        http_run(headers, NULL);
}

static int fixed_headers(void *arg)
{
        static const char *const names[] = { "Host",       "content-length", "Transfer-Encoding",
                                             "Connection", "Expect",         "X-Other" };

        (void) arg;
        CHECK_EQ(client_new(OPTIONS(.connections_max = 0)), 0);
        for (int i = 0; i < 6; i++) {
                struct eddy_http_header header = { names[i], NULL };

                CHECK_ERR(FETCH(.url = "http://a", .headers = &header, .headers_count = 1),
                          EDDY_E_HTTP_INVALID_REQUEST);
        }
        eddy_http_client_close(seen.client);
        return 0;
}

TEST(header_that_the_client_does_not_add_cannot_be_removed)
{
        http_run(fixed_headers, NULL);
}

static int other_origins(void *arg)
{
        (void) arg;
        CHECK_EQ(client_new(OPTIONS(.base_url = "http://u:p@API.test:80/v1", .headers = defaults,
                                    .headers_count = 4)),
                 0);
        CHECK_EQ(FETCH(.url = "x"), 200);
        CHECK(sent("x-api-key: another secret\n"));
        CHECK(sent("Authorization: Bearer secret\n"));
        CHECK_EQ(FETCH(.url = "http://api.test/v2"), 200);
        CHECK(sent("Authorization: Bearer secret\n"));
        CHECK_EQ(FETCH(.url = "http://evil.test/v1"), 200);
        CHECK(!sent("Authorization") && !sent("secret") && sent("X-Version: 1\n"));
        CHECK_EQ(FETCH(.url = "https://api.test/v1"), 200);
        CHECK(!sent("Authorization") && sent("X-Version: 1\n"));
        CHECK_EQ(FETCH(.url = "http://api.test:81/v1", .headers = defaults + 1, .headers_count = 1),
                 200);
        CHECK(sent("Authorization: Bearer secret\n")); /* the request's own */
        eddy_http_client_close(seen.client);
        return 0;
}

TEST(default_credentials_are_sent_only_to_the_base_urls_origin)
{
        http_run(other_origins, NULL);
}

static void check_refused(const struct eddy_http_client_opts *opts, int err, const char *text)
{
        CHECK_ERR(client_new(opts), err);
        CHECK_STR(seen.fault.text, text);
}

static int refused_options(void *arg)
{
        static const struct eddy_http_header bad[] = {
                { "a b", "c" }, { "a", "b\r\nc: d" }, { "Host", "a" }, { "a", NULL }, { NULL, "a" },
        };
        static const char *const texts[] = {
                "headers: \"a b\": a name has letters, digits and some signs, without spaces",
                "headers: \"a\": the value has a control character, such as a line end",
                "headers: \"Host\": set this header in each request",
                "headers: \"a\": the name or the value is NULL",
                "headers: the name or the value is NULL",
        };

        (void) arg;
        for (int i = 0; i < 5; i++)
                check_refused(OPTIONS(.headers = &bad[i], .headers_count = 1),
                              EDDY_E_HTTP_INVALID_REQUEST, texts[i]);
        check_refused(OPTIONS(.base_url = "/v1"), EDDY_E_URL_INVALID,
                      "base_url: write a URL such as \"https://api.example.com/v1\"");
        check_refused(OPTIONS(.base_url = "ftp://h/v1"), EDDY_E_URL_SCHEME,
                      "base_url: write a URL such as \"https://api.example.com/v1\"");
        check_refused(OPTIONS(.base_url = "http://h/v1?a"), -EINVAL,
                      "base_url: remove the query and the fragment");
        check_refused(OPTIONS(.flags = EDDY_HTTP_ANY_STATUS), -EINVAL,
                      "flags: a flag is unknown, or belongs to a request");
        check_refused(OPTIONS(.redirects_max = -1), -EINVAL,
                      "redirects_max: it is negative; 0 follows none");
        check_refused(OPTIONS(.timeouts = { .read_ns = -1 }), -EINVAL,
                      "timeouts: a time is negative; 0 means no limit");
        return 0;
}

TEST(invalid_default_is_an_error_of_the_clients_making)
{
        http_run(refused_options, NULL);
}

/* ---- the body ----------------------------------------------------------------------- */

struct login {
        int id;
        char word[8];
};

static const struct eddy_field login_list[] = {
        EDDY_FIELD(struct login, id, EDDY_FIELD_READ_ONLY),
        EDDY_FIELD(struct login, word, EDDY_FIELD_REQUIRED, EDDY_FIELD_WRITE_ONLY),
};
static const struct eddy_fields login_fields = EDDY_FIELDS(struct login, login_list, 0);

static int write_only(void *arg)
{
        static const struct login login = { 7, "secret" };

        (void) arg;
        CHECK_EQ(client_new(OPTIONS(.connections_max = 0)), 0);
        CHECK_EQ(FETCH(.url = "http://a", .json = { &login_fields, &login }), 200);
        CHECK_STR(seen.body, "{\"word\":\"secret\"}");
        CHECK_EQ(FETCH(.url = "http://a", .form = { &login_fields, &login }), 200);
        CHECK_STR(seen.body, "word=secret");
        eddy_http_client_close(seen.client);
        return 0;
}

TEST(body_has_write_only_fields_and_no_read_only_fields)
{
        http_run(write_only, NULL);
}

static int bodies(void *arg)
{
        static const struct eddy_http_header type = { "content-type", "application/x" };

        (void) arg;
        CHECK_EQ(client_new(OPTIONS(.connections_max = 0)), 0);
        CHECK_EQ(FETCH(.url = "http://a", .json = { &user_fields, &zoe }), 200);
        CHECK_STR(seen.method, "POST");
        CHECK_STR(seen.body, "{\"name\":\"Zoe & Tim\",\"age\":7}");
        CHECK(sent("Content-Type: application/json\n"));
        CHECK_EQ(FETCH(.url = "http://a", .method = "PUT", .form = { &user_fields, &zoe }), 200);
        CHECK_STR(seen.method, "PUT");
        CHECK_STR(seen.body, "name=Zoe+%26+Tim&age=7");
        CHECK(sent("Content-Type: application/x-www-form-urlencoded\n"));
        CHECK_EQ(FETCH(.url = "http://a", .json = { &user_fields, &zoe }, .headers = &type,
                       .headers_count = 1),
                 200);
        CHECK(sent("content-type: application/x\n") && !sent("application/json"));
        CHECK_ERR(FETCH(.url = "http://a", .json = { &user_fields, &unnamed }),
                  EDDY_E_FIELD_LENGTH);
        CHECK(strncmp(seen.fault.text, "json: name", 10) == 0);
        CHECK_ERR(FETCH(.url = "http://a", .form = { &user_fields, &unnamed }),
                  EDDY_E_FIELD_LENGTH);
        CHECK(strncmp(seen.fault.text, "form: name", 10) == 0);
        eddy_http_client_close(seen.client);
        return 0;
}

TEST(json_and_form_are_written_with_their_content_type)
{
        http_run(bodies, NULL);
}

static int64_t no_bytes(void *arg, void *buf, size_t bytes)
{
        (void) arg;
        (void) buf;
        (void) bytes;
        return 0;
}

static int two_bodies(void *arg)
{
        static const struct eddy_http_body_source source = { .read = no_bytes, .bytes = -1 };

        (void) arg;
        CHECK_EQ(client_new(OPTIONS(.connections_max = 0)), 0);
        CHECK_ERR(FETCH(.url = "http://a", .json = { &user_fields, &zoe },
                        .form = { &user_fields, &zoe }),
                  EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_STR(seen.fault.text, "a request has one body: 'form' and 'json' are set");
        CHECK_ERR(FETCH(.url = "http://a", .body = "", .body_source = &source),
                  EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_STR(seen.fault.text, "a request has one body: 'body' and 'body_source' are set");
        CHECK_ERR(FETCH(.url = "http://a", .body = "", .json = { &user_fields, &zoe }),
                  EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_STR(seen.fault.text, "a request has one body: 'body' and 'json' are set");
        CHECK_EQ(FETCH(.url = "http://a", .flags = 1u << 31), -EINVAL);
        CHECK_EQ(seen.calls, 0);
        eddy_http_client_close(seen.client);
        return 0;
}

TEST(two_bodies_are_an_error_that_names_both)
{
        http_run(two_bodies, NULL);
}

/* ---- the status --------------------------------------------------------------------- */

static int statuses(void *arg)
{
        static char page[100000];
        struct eddy_http_client_stats stats;

        (void) arg;
        memset(page, 'x', sizeof(page) - 1);
        CHECK_EQ(client_new(OPTIONS(.flags = EDDY_HTTP_STATUS_IS_ERROR)), 0);
        CHECK_EQ(FETCH(.url = "http://a"), 200);
        seen.status = 399;
        CHECK_EQ(FETCH(.url = "http://a"), 399);
        seen.status = 404;
        seen.answer = "no such user";
        CHECK_ERR(FETCH(.url = "http://a"), EDDY_E_HTTP_STATUS);
        CHECK_EQ(seen.fault.status, 404);
        CHECK_STR(seen.fault.body, "no such user");
        CHECK_EQ(seen.fault.body_bytes, 12);
        CHECK_STR(seen.fault.text, "the server answered with the status 404");
        CHECK_EQ(FETCH(.url = "http://a", .flags = EDDY_HTTP_ANY_STATUS), 404);
        CHECK_EQ(seen.fault.status, 0);
        eddy_http_client_stats(seen.client, &stats);
        CHECK_EQ(stats.connections, 1); /* a short body is read, and the connection kept */
        seen.answer = page;
        CHECK_ERR(FETCH(.url = "http://a"), EDDY_E_HTTP_STATUS);
        CHECK_EQ(seen.fault.body_bytes, EDDY_HTTP_FAULT_BODY_BYTES);
        CHECK_STATS(seen.client, 0, 0, 0); /* a long body is not */
        eddy_http_client_close(seen.client);
        CHECK_EQ(client_new(OPTIONS(.connections_max = 0)), 0);
        seen.status = 500;
        CHECK_ERR(FETCH(.url = "http://a", .flags = EDDY_HTTP_STATUS_IS_ERROR), EDDY_E_HTTP_STATUS);
        CHECK_EQ(FETCH(.url = "http://a"), 500);
        eddy_http_client_close(seen.client);
        return 0;
}

TEST(status_is_an_error_if_the_flag_says_so)
{
        http_run(statuses, NULL);
}

/* ---- the pool ----------------------------------------------------------------------- */

static int holders(void *arg)
{
        static char page[100000];
        eddy_http_response *responses[2];

        (void) arg;
        memset(page, 'x', sizeof(page) - 1);
        CHECK_EQ(client_new(OPTIONS(.connections_max = 2, .timeouts.pool_ns = EDDY_SEC(3))), 0);
        seen.answer = page;
        for (int i = 0; i < 2; i++)
                CHECK_EQ(eddy_http_client_send(seen.client,
                                               &(struct eddy_http_request){
                                                       .url = "http://me:pw@a.test/b?key=c" },
                                               &responses[i]),
                         0);
        CHECK_ERR(FETCH(.url = "http://a.test"), EDDY_E_HTTP_TIMEOUT_POOL);
        CHECK_STR(seen.fault.text, "2 responses are not read to the end and not closed; the first "
                                   "is of http://a.test/b, for 3000 ms");
        eddy_http_response_close(responses[0]);
        CHECK_EQ(FETCH(.url = "http://a.test"), 200);
        CHECK_STR(seen.fault.text, "");
        eddy_http_response_close(responses[1]);
        eddy_http_client_close(seen.client);
        return 0;
}

TEST(wait_for_the_pool_that_is_too_long_names_the_responses_never_released)
{
        http_run(holders, NULL);
}

/* ---- cancels and memory ------------------------------------------------------------- */

static int send_some(void *arg)
{
        static const struct eddy_http_header header = { "X-Version", "2" };
        int err = client_new(OPTIONS(.base_url = "http://api.test/v1", .headers = defaults,
                                     .headers_count = 3, .timeouts.total_ns = EDDY_SEC(5),
                                     .flags = EDDY_HTTP_STATUS_IS_ERROR));

        (void) arg;
        if (err < 0)
                return err;
        err = FETCH(.url = "/users?a#b", .query = { &user_fields, &zoe }, .headers = &header,
                    .headers_count = 1, .json = { &user_fields, &zoe });
        if (err == 200) {
                seen.status = 404;
                err = FETCH(.url = "?x", .form = { &user_fields, &zoe });
        }
        eddy_http_client_close(seen.client);
        return err == EDDY_E_HTTP_STATUS ? 0 : err;
}

TEST(cancel_or_shortage_at_any_point_leaves_nothing)
{
        static const int kinds[] = { EDDY_TEST_SEEDS, EDDY_TEST_CANCEL, EDDY_TEST_ALLOC,
                                     EDDY_TEST_ALLOC_FOREVER };

        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                struct eddy_test_sweep sweep;

                CHECK_EQ(eddy_test_sweep(kinds[i], send_some, NULL, NULL, &sweep), 0);
                CHECK(sweep.tried > 0);
        }
}
