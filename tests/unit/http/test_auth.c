/*
 * test_auth.c - the credentials of a client: which header a request has, what a 401 leads to, tokens that
 * are refreshed while requests wait, and origins that get none.
 *
 * A handler stands for the servers; it notes the header Authorization of each request.
 */
#include <stdlib.h>
#include <unistd.h>

#include "eddy/file_whole.h"
#include "eddy/http_auth.h"
#include "eddy/test.h"
#include "http_test.h"

enum { SEEN_MAX = 16 };

#define AUTH_TEST_ON(claim, run)                                                                   \
        static void auth_##claim(void);                                                            \
        static int run_##claim(void *arg)                                                          \
        {                                                                                          \
                (void) arg;                                                                        \
                auth_##claim();                                                                    \
                return 0;                                                                          \
        }                                                                                          \
        TEST(claim)                                                                                \
        {                                                                                          \
                run(run_##claim, NULL);                                                            \
        }                                                                                          \
        static void auth_##claim(void)

/* AUTH_TEST(claim) { ... }; FILE_TEST on the real loop, with a folder. */
#define AUTH_TEST(claim) AUTH_TEST_ON(claim, http_run)
#define FILE_TEST(claim) AUTH_TEST_ON(claim, run_in_folder)

static char folder[32], path[64];

static void run_in_folder(eddy_task_fn *fn, void *arg)
{
        memcpy(folder, "/tmp/eddy-netrc-XXXXXX", sizeof("/tmp/eddy-netrc-XXXXXX"));
        CHECK(mkdtemp(folder));
        snprintf(path, sizeof(path), "%s/netrc", folder);
        http_run_real(fn, arg);
        (void) unlink(path);
        CHECK_EQ(rmdir(folder), 0);
}

static struct {
        char headers[SEEN_MAX][512]; /* of the requests, "" if they have none */
        int count;
        const char *challenge; /* answered to requests without "good" in the header; NULL: accept */
        const char *good;
        const char *info;     /* Authentication-Info of the others */
        const char *location; /* of a redirect, which is the answer to the first request */
        size_t body_bytes;
} seen;

static int handle(eddy_http_exchange *exchange, void *arg)
{
        const char *header = eddy_http_exchange_header(exchange, "Authorization");
        struct eddy_http_header added[] = { { "WWW-Authenticate", seen.challenge },
                                            { "WWW-Authenticate", "Basic realm=\"x\"" } };
        struct eddy_http_header info = { "Authentication-Info", seen.info };
        const void *body;
        int err;

        (void) arg;
        CHECK(seen.count < SEEN_MAX);
        snprintf(seen.headers[seen.count++], sizeof(seen.headers[0]), "%s", header ? header : "");
        err = eddy_http_exchange_body(exchange, &body, &seen.body_bytes);
        if (err < 0)
                return err;
        if (seen.location && seen.count == 1)
                return eddy_http_exchange_respond(
                        exchange, 307, &(struct eddy_http_header){ "Location", seen.location }, 1,
                        "", 0);
        if (seen.challenge && (!header || !strstr(header, seen.good)))
                return eddy_http_exchange_respond(exchange, 401, added, 2, "no", 2);
        return eddy_http_exchange_respond(exchange, 200, &info, seen.info != NULL, "ok", 2);
}

static eddy_http_auth *make(const struct eddy_http_auth_opts *opts)
{
        eddy_http_auth *auth = NULL;

        CHECK_EQ(eddy_http_auth_new(opts, &auth), 0);
        return auth;
}

static eddy_http_client *client_with(eddy_http_auth *auth, const char *base_url)
{
        eddy_http_client *client;

        memset(&seen, 0, sizeof(seen));
        CHECK_EQ(eddy_http_client_new(&(struct eddy_http_client_opts){ .handler = handle,
                                                                       .auth = auth,
                                                                       .base_url = base_url },
                                      &client),
                 0);
        return client;
}

/* Returns the status, or an error. */
static int send(eddy_http_client *client, const struct eddy_http_request *request)
{
        eddy_http_response *response;
        int err = eddy_http_client_send(client, request, &response);

        if (err == 0) {
                err = eddy_http_response_status(response);
                eddy_http_response_close(response);
        }
        return err;
}

static int get(eddy_http_client *client, const char *url)
{
        return send(client, &(struct eddy_http_request){ .url = url });
}

static void check_last(const char *expected)
{
        CHECK(seen.count > 0);
        CHECK_STR(seen.headers[seen.count - 1], expected);
}

static bool has(int i, const char *part)
{
        return strstr(seen.headers[i], part) != NULL;
}

#define KIM   ((struct eddy_http_auth_opts){ .user = "kim", .password = "s:e" })
#define BASIC "Basic a2ltOnM6ZQ=="

/* ---- which credentials ------------------------------------------------------- */

AUTH_TEST(basic_and_bearer_are_sent_with_the_first_request)
{
        eddy_http_auth *auth = make(&KIM);
        eddy_http_client *client = client_with(auth, NULL);

        eddy_http_auth_free(auth); /* the client keeps a reference */
        CHECK_EQ(get(client, "http://a/"), 200);
        check_last(BASIC);
        eddy_http_client_close(client);

        auth = make(&(struct eddy_http_auth_opts){ .token = "abc.-_~+/=" });
        client = client_with(auth, NULL);
        CHECK_EQ(get(client, "http://a/"), 200);
        check_last("Bearer abc.-_~+/=");
        CHECK_EQ(eddy_http_auth_set_token(auth, "next", 0), 0);
        CHECK_EQ(get(client, "http://a/"), 200);
        check_last("Bearer next");
        eddy_http_client_close(client);
        eddy_http_auth_free(auth);
}

AUTH_TEST(the_header_then_the_request_then_the_url_then_the_client_count)
{
        const struct eddy_http_header header = { "authorization", "mine" };
        eddy_http_auth *auth = make(&KIM);
        eddy_http_auth *other = make(&(struct eddy_http_auth_opts){ .token = "t" });
        eddy_http_client *client = client_with(auth, NULL);
        struct eddy_http_request request = {
                .url = "http://u:p@a/", .auth = other, .headers = &header, .headers_count = 1
        };

        CHECK_EQ(send(client, &request), 200);
        check_last("mine");
        request.headers_count = 0;
        CHECK_EQ(send(client, &request), 200);
        check_last("Bearer t");
        request.auth = NULL;
        CHECK_EQ(send(client, &request), 200);
        check_last("Basic dTpw");
        request.url = "http://a/";
        CHECK_EQ(send(client, &request), 200);
        check_last(BASIC);
        request.flags = EDDY_HTTP_NO_AUTH;
        CHECK_EQ(send(client, &request), 200);
        check_last("");
        eddy_http_client_close(client);
        eddy_http_auth_free(auth);
        eddy_http_auth_free(other);
}

AUTH_TEST(with_a_base_url_the_clients_credentials_go_only_to_its_origin)
{
        eddy_http_auth *auth = make(&KIM);
        eddy_http_client *client = client_with(auth, "http://a:81/x/");
        struct eddy_http_request request = { .url = "http://b/", .auth = auth };

        CHECK_EQ(get(client, "y"), 200);
        check_last(BASIC);
        CHECK_EQ(get(client, "http://a/"), 200);
        check_last("");
        CHECK_EQ(get(client, "http://b:81/"), 200);
        check_last("");
        CHECK_EQ(send(client, &request), 200);
        check_last(BASIC);
        eddy_http_client_close(client);
        eddy_http_auth_free(auth);
}

AUTH_TEST(options_that_do_not_fit_are_refused)
{
        static char long_text[5000];
        struct eddy_http_fault fault;
        size_t line;
        const struct {
                struct eddy_http_auth_opts opts;
                const char *text; /* how the text of the fault begins */
        } list[] = {
                { { .user = NULL }, "user, token, refresh, netrc_path: none" },
                { { .password = "p" }, "user, token, refresh, netrc_path: none" },
                { { .user = "a:b" }, "user: Basic" },
                { { .user = "a\tb" }, "user: it has" },
                { { .user = "a", .password = "a\x01" }, "password: it has" },
                { { .user = long_text }, "user: it has" },
                { { .user = "a", .token = "b" }, "user, token, refresh, netrc_path: two" },
                { { .user = "a", .netrc_path = "b" }, "user, token, refresh, netrc_path: two" },
                { { .token = "" }, "token: " },
                { { .token = "a b" }, "token: " },
                { { .token = "a\r\nb: c" }, "token: " },
                { { .token = "a", .flags = EDDY_HTTP_AUTH_DIGEST },
                  "flags: EDDY_HTTP_AUTH_DIGEST" },
                { { .user = "a", .flags = EDDY_HTTP_AUTH_MD5 }, "flags: EDDY_HTTP_AUTH_MD5" },
                { { .user = "a", .flags = 1 << 2 }, "flags: a flag" },
                { { .netrc_path = "a", .password = "b", .ret_netrc_line = &line }, "password: it" },
        };
        eddy_http_auth *auth = NULL;

        memset(long_text, 'x', 4097);
        for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
                struct eddy_http_auth_opts opts = list[i].opts;

                CHECK_EQ(eddy_http_auth_new(&opts, &auth), -EINVAL);
                opts.ret_fault = &fault;
                CHECK_EQ(eddy_http_auth_new(&opts, &auth), -EINVAL);
                if (strncmp(fault.text, list[i].text, strlen(list[i].text)) != 0)
                        test_fail(__FILE__, __LINE__, "\"%s\", expected \"%s\"", fault.text,
                                  list[i].text);
        }
        CHECK_EQ(eddy_http_auth_new(NULL, &auth), -EINVAL);
        CHECK_EQ(eddy_http_auth_new(&KIM, NULL), -EINVAL);
        CHECK(!auth);
        eddy_http_auth_free(NULL);
        auth = make(&KIM);
        CHECK_EQ(eddy_http_auth_set_token(auth, "a", 0), -EINVAL);
        CHECK_EQ(eddy_http_auth_set_token(NULL, "a", 0), -EINVAL);
        eddy_http_auth_free(auth);
        auth = make(&(struct eddy_http_auth_opts){ .token = "a" });
        CHECK_EQ(eddy_http_auth_set_token(auth, NULL, 0), -EINVAL);
        CHECK_EQ(eddy_http_auth_set_token(auth, "", 0), -EINVAL);
        CHECK_EQ(eddy_http_auth_set_token(auth, "a", -1), -EINVAL);
        eddy_http_auth_free(auth);
}

/* ---- Digest ------------------------------------------------------------------ */

#define DIGEST_OPTS                                                                                \
        ((struct eddy_http_auth_opts){                                                             \
                .user = "kim", .password = "p", .flags = EDDY_HTTP_AUTH_DIGEST })
#define CHALLENGE(nonce) "Digest realm=\"r\", qop=\"auth\", algorithm=SHA-256, nonce=\"" nonce "\""

/* B49: The first challenge that is supported, for its origin only. */
AUTH_TEST(digest_answers_a_challenge_and_counts_later_requests)
{
        eddy_http_auth *auth = make(&DIGEST_OPTS);
        eddy_http_client *client = client_with(auth, NULL);

        seen.challenge = "Bearer, " CHALLENGE("n1");
        seen.good = "nonce=\"n1\"";
        CHECK_EQ(get(client, "http://a/x?y=1"), 200);
        CHECK_EQ(seen.count, 2);
        CHECK_STR(seen.headers[0], "");
        CHECK(has(1, "uri=\"/x?y=1\"") && has(1, "nc=00000001") && has(1, "username=\"kim\""));
        CHECK_EQ(get(client, "http://a?z"), 200);
        CHECK_EQ(seen.count, 3);
        CHECK(has(2, "uri=\"/?z\"") && has(2, "nc=00000002"));
        /* Another origin has a session of its own. */
        CHECK_EQ(get(client, "http://a:81/"), 200);
        CHECK_EQ(seen.count, 5);
        CHECK_STR(seen.headers[3], "");
        CHECK(has(4, "nc=00000001"));
        eddy_http_client_close(client);
        eddy_http_auth_free(auth);
}

AUTH_TEST(a_nonce_that_the_server_has_forgotten_is_replaced)
{
        eddy_http_auth *auth = make(&DIGEST_OPTS);
        eddy_http_client *client = client_with(auth, NULL);

        seen.challenge = CHALLENGE("n1");
        seen.good = "nonce=\"n1\"";
        CHECK_EQ(get(client, "http://a/"), 200);
        seen.challenge = CHALLENGE("n2") ", stale=true";
        seen.good = "nonce=\"n2\"";
        CHECK_EQ(get(client, "http://a/"), 200);
        CHECK_EQ(seen.count, 4);
        CHECK(has(2, "n1") && has(2, "nc=00000002") && has(3, "n2") && has(3, "nc=00000001"));
        seen.info = "nextnonce=\"n3\"";
        CHECK_EQ(get(client, "http://a/"), 200);
        seen.good = "nonce=\"n3\"";
        CHECK_EQ(get(client, "http://a/"), 200);
        CHECK_EQ(seen.count, 6);
        CHECK(has(5, "nc=00000001"));
        eddy_http_client_close(client);
        eddy_http_auth_free(auth);
}

AUTH_TEST(wrong_credentials_end_after_one_answer_and_stale_ones_after_two)
{
        eddy_http_auth *auth = make(&DIGEST_OPTS);
        eddy_http_client *client = client_with(auth, NULL);

        seen.challenge = CHALLENGE("n1");
        seen.good = "never";
        CHECK_EQ(get(client, "http://a/"), 401);
        CHECK_EQ(seen.count, 2);
        seen.challenge = CHALLENGE("n1") ", stale=true";
        CHECK_EQ(get(client, "http://a/"), 401);
        CHECK_EQ(seen.count, 5);
        eddy_http_client_close(client);
        eddy_http_auth_free(auth);
}

AUTH_TEST(a_challenge_that_is_not_supported_is_the_response)
{
        static const char *const list[] = { "Negotiate", "Digest realm=r, qop=auth, nonce=n",
                                            "Digest realm=r, qop=auth, nonce=\"n" };
        struct eddy_http_auth_opts opts = DIGEST_OPTS;
        eddy_http_auth *auth = make(&opts);
        eddy_http_client *client = client_with(auth, NULL);

        seen.good = "nonce=\"n\"";
        for (int i = 0; i < 3; i++) {
                seen.challenge = list[i];
                CHECK_EQ(get(client, "http://a/"), 401);
                CHECK_EQ(seen.count, i + 1);
        }
        eddy_http_client_close(client);
        eddy_http_auth_free(auth);
        opts.flags |= EDDY_HTTP_AUTH_MD5;
        auth = make(&opts);
        client = client_with(auth, NULL);
        seen.good = "nonce=\"n\"";
        seen.challenge = list[1];
        CHECK_EQ(get(client, "http://a/"), 200);
        eddy_http_client_close(client);
        eddy_http_auth_free(auth);
}

struct source {
        size_t left;
        bool may_rewind;
        int rewinds;
};

static int64_t source_read(void *arg, void *buf, size_t bytes)
{
        struct source *source = arg;

        bytes = bytes < source->left ? bytes : source->left;
        memset(buf, 'x', bytes);
        source->left -= bytes;
        return (int64_t) bytes;
}

static int source_rewind(void *arg)
{
        struct source *source = arg;

        source->left = 1000;
        source->rewinds++;
        return source->may_rewind ? 0 : -EIO;
}

AUTH_TEST(a_body_is_sent_again_or_the_401_is_the_response)
{
        struct source source = { .left = 1000, .may_rewind = true };
        struct eddy_http_body_source body = {
                .read = source_read, .rewind = source_rewind, .arg = &source, .bytes = 1000
        };
        struct eddy_http_request request = { .url = "http://a/", .body = "abc", .body_bytes = 3 };
        eddy_http_auth *auth = make(&DIGEST_OPTS);
        eddy_http_client *client = client_with(auth, NULL);

        seen.challenge = CHALLENGE("n1");
        seen.good = "n1";
        CHECK_EQ(send(client, &request), 200);
        CHECK_EQ(seen.body_bytes, 3);
        request = (struct eddy_http_request){ .url = "http://b/", .body_source = &body };
        CHECK_EQ(send(client, &request), 200);
        CHECK_EQ(seen.body_bytes, 1000);
        CHECK_EQ(source.rewinds, 1);
        source = (struct source){ .left = 1000 };
        request.url = "http://c/";
        CHECK_EQ(send(client, &request), EDDY_E_HTTP_INVALID_REQUEST);
        source = (struct source){ .left = 1000 };
        body.rewind = NULL;
        request.url = "http://d/";
        CHECK_EQ(send(client, &request), 401);
        eddy_http_client_close(client);
        eddy_http_auth_free(auth);
}

/* B49: A challenge belongs to its origin. */
AUTH_TEST(the_challenges_of_16_origins_are_kept)
{
        eddy_http_auth *auth = make(&DIGEST_OPTS);
        eddy_http_client *client = client_with(auth, NULL);
        char url[32];

        seen.challenge = CHALLENGE("n1");
        seen.good = "n1";
        for (int i = 0; i < 17; i++) {
                seen.count = 0;
                snprintf(url, sizeof(url), "http://h%d/", i);
                CHECK_EQ(get(client, url), 200);
                CHECK_EQ(seen.count, 2);
        }
        seen.count = 0;
        CHECK_EQ(get(client, "http://h1/"), 200);
        CHECK_EQ(seen.count, 1);
        CHECK_EQ(get(client, "http://h0/"), 200);
        CHECK_EQ(seen.count, 3);
        eddy_http_client_close(client);
        eddy_http_auth_free(auth);
}

/* ---- netrc ------------------------------------------------------------------- */

static eddy_http_auth *make_netrc(const char *text, unsigned flags)
{
        CHECK_EQ(eddy_file_write_whole(path, text, strlen(text), 0600), 0);
        return make(&(struct eddy_http_auth_opts){ .netrc_path = path, .flags = flags });
}

FILE_TEST(a_netrc_file_has_credentials_for_each_host)
{
        eddy_http_auth *auth = make_netrc("machine a login kim password s:e\n"
                                          "machine c login a:b password c\n",
                                          0);
        eddy_http_client *client = client_with(auth, NULL);

        CHECK_EQ(get(client, "http://A:81/"), 200);
        check_last(BASIC);
        CHECK_EQ(get(client, "http://b/"), 200);
        check_last("");
        CHECK_EQ(get(client, "http://u:p@a/"), 200);
        check_last("Basic dTpw");
        CHECK_EQ(get(client, "http://c/"), EDDY_E_HTTP_NETRC);
        eddy_http_client_close(client);
        eddy_http_auth_free(auth);
        auth = make_netrc("machine a login kim password p", EDDY_HTTP_AUTH_DIGEST);
        client = client_with(auth, NULL);
        seen.challenge = CHALLENGE("n1");
        seen.good = "username=\"kim\"";
        CHECK_EQ(get(client, "http://a/"), 200);
        CHECK_EQ(get(client, "http://b/"), 401);
        eddy_http_client_close(client);
        eddy_http_auth_free(auth);
}

/* Neither the first host's credentials nor those of the other host, which the file has too. */
FILE_TEST(credentials_of_a_netrc_file_end_at_another_origin)
{
        static const unsigned flags[] = { 0, EDDY_HTTP_AUTH_DIGEST };
        struct eddy_http_request request = { .url = "http://a/", .redirects_max = 5 };

        for (int i = 0; i < 2; i++) {
                eddy_http_auth *auth = make_netrc("machine a login kim password s:e\n"
                                                  "machine b login bob password secret\n",
                                                  flags[i]);
                eddy_http_client *client = client_with(auth, NULL);

                seen.location = "http://b/";
                seen.challenge = CHALLENGE("n1");
                seen.good = "\"n1\"";
                CHECK_EQ(send(client, &request), 401);
                CHECK_EQ(seen.count, 2);
                CHECK_STR(seen.headers[0], i == 0 ? BASIC : "");
                CHECK_STR(seen.headers[1], "");
                eddy_http_client_close(client);
                eddy_http_auth_free(auth);
        }
}

FILE_TEST(a_netrc_file_that_is_not_valid_is_refused_with_its_line)
{
        struct eddy_http_auth_opts opts = { .netrc_path = path };
        eddy_http_auth *auth = NULL;
        struct eddy_http_fault fault;
        char text[128];
        size_t line = 0;

        CHECK_EQ(eddy_file_write_whole(path, "machine a\nlogn b", 16, 0600), 0);
        CHECK_EQ(eddy_http_auth_new(&opts, &auth), EDDY_E_HTTP_NETRC);
        opts.ret_netrc_line = &line;
        CHECK_EQ(eddy_http_auth_new(&opts, &auth), EDDY_E_HTTP_NETRC);
        CHECK_EQ(line, 2);
        opts.ret_fault = &fault;
        CHECK_EQ(eddy_http_auth_new(&opts, &auth), EDDY_E_HTTP_NETRC);
        snprintf(text, sizeof(text), "netrc_path: %s:2: %s", path,
                 eddy_error_text(EDDY_E_HTTP_NETRC));
        CHECK_STR(fault.text, text);
        opts.netrc_path = "/nowhere/netrc";
        CHECK_EQ(eddy_http_auth_new(&opts, &auth), -ENOENT);
        CHECK(strncmp(fault.text, "netrc_path: /nowhere/netrc: ", 28) == 0 && fault.text[28]);
        CHECK(!auth);
}

/* ---- tokens that are refreshed ------------------------------------------------- */

static struct {
        eddy_http_client *client;
        eddy_http_auth *auth;
        int calls, running, ok, cancelled, failed;
        int64_t pause_ns, lifetime_ns;
        int err;
        bool is_lazy, asks_itself;
} tokens;

static int refresh(eddy_http_auth *auth, void *arg)
{
        char token[16];
        int err;

        CHECK(arg == &tokens);
        CHECK_EQ(tokens.running++, 0);
        snprintf(token, sizeof(token), "t%d", ++tokens.calls);
        err = eddy_sleep(tokens.pause_ns);
        tokens.running--;
        if (err == 0 && tokens.asks_itself)
                err = get(tokens.client, "http://a/");
        if (err < 0 || tokens.err < 0)
                return err < 0 ? err : tokens.err;
        return tokens.is_lazy ? 0 : eddy_http_auth_set_token(auth, token, tokens.lifetime_ns);
}

static void begin_tokens(const char *token)
{
        memset(&tokens, 0, sizeof(tokens));
        tokens.auth = make(&(struct eddy_http_auth_opts){
                .token = token, .refresh = refresh, .arg = &tokens });
        tokens.client = client_with(tokens.auth, NULL);
        tokens.pause_ns = EDDY_MS(100);
}

static void end_tokens(void)
{
        eddy_http_client_close(tokens.client);
        eddy_http_auth_free(tokens.auth);
}

AUTH_TEST(a_token_is_fetched_before_it_is_needed_and_after_its_lifetime)
{
        begin_tokens(NULL);
        tokens.lifetime_ns = EDDY_SEC(10);
        CHECK_EQ(get(tokens.client, "http://a/"), 200);
        check_last("Bearer t1");
        CHECK_EQ(get(tokens.client, "http://a/"), 200);
        check_last("Bearer t1");
        CHECK_EQ(eddy_sleep(EDDY_SEC(10)), 0);
        CHECK_EQ(get(tokens.client, "http://a/"), 200);
        check_last("Bearer t2");
        end_tokens();
}

AUTH_TEST(a_401_leads_to_one_refresh_and_one_repetition)
{
        begin_tokens("old");
        seen.challenge = "Bearer";
        seen.good = "t1";
        CHECK_EQ(get(tokens.client, "http://a/"), 200);
        CHECK_EQ(seen.count, 2);
        CHECK_STR(seen.headers[0], "Bearer old");
        seen.good = "never";
        CHECK_EQ(get(tokens.client, "http://a/"), 401);
        CHECK_EQ(seen.count, 4);
        CHECK_EQ(tokens.calls, 2);
        end_tokens();
}

static int get_one(void *arg)
{
        int status = get(tokens.client, "http://a/");

        (void) arg;
        tokens.ok += status == 200;
        tokens.cancelled += status == -ECANCELED;
        tokens.failed += status < 0 && status != -ECANCELED;
        return 0;
}

AUTH_TEST(many_requests_wait_for_one_refresh)
{
        eddy_scope scope;

        begin_tokens(NULL);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < SEEN_MAX; i++)
                eddy_scope_start(&scope, get_one, NULL);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(tokens.calls, 1);
        CHECK_EQ(tokens.ok, SEEN_MAX);
        end_tokens();
}

AUTH_TEST(cancelling_the_request_that_began_the_refresh_harms_no_other)
{
        eddy_task *first;
        eddy_scope scope;

        begin_tokens(NULL);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, get_one, NULL, NULL, &first), 0);
        eddy_scope_start(&scope, get_one, NULL);
        CHECK_EQ(eddy_sleep(EDDY_MS(50)), 0);
        eddy_task_cancel(first);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_task_release(first);
        CHECK_EQ(tokens.cancelled, 1);
        CHECK_EQ(tokens.ok, 1);
        CHECK_EQ(tokens.calls, 1);
        end_tokens();
}

AUTH_TEST(a_refresh_that_fails_fails_those_that_wait_and_is_tried_again)
{
        struct eddy_http_fault fault;
        struct eddy_http_request request = { .url = "http://a/", .ret_fault = &fault };
        eddy_scope scope;

        begin_tokens(NULL);
        tokens.err = -EIO;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 3; i++)
                eddy_scope_start(&scope, get_one, NULL);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(tokens.calls, 1);
        CHECK_EQ(tokens.failed, 3);
        CHECK_EQ(send(tokens.client, &request), -EIO);
        CHECK(strncmp(fault.text, "auth: 'refresh' returned: ", 26) == 0 && fault.text[26]);
        /* A URL that is refused before the credentials are asked for. */
        request.url = "http://a b/";
        CHECK_EQ(send(tokens.client, &request), EDDY_E_URL_INVALID);
        CHECK(strncmp(fault.text, "url: quote ", 11) == 0);
        request.url = "http://a/";
        tokens.err = 0;
        tokens.is_lazy = true;
        CHECK_EQ(send(tokens.client, &request), EDDY_E_HTTP_STATE);
        CHECK(strstr(fault.text, "eddy_http_auth_set_token()"));
        tokens.is_lazy = false;
        CHECK_EQ(send(tokens.client, &request), 200);
        check_last("Bearer t4");
        end_tokens();
}

AUTH_TEST(a_request_within_refresh_is_refused_instead_of_a_deadlock)
{
        begin_tokens(NULL);
        tokens.asks_itself = true;
        CHECK_EQ(get(tokens.client, "http://a/"), -EDEADLK);
        CHECK_EQ(seen.count, 0);
        end_tokens();
}

AUTH_TEST(freeing_cancels_a_refresh_and_those_that_wait_fail)
{
        eddy_scope scope;

        begin_tokens(NULL);
        tokens.pause_ns = EDDY_SEC(100);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, get_one, NULL);
        CHECK_EQ(eddy_sleep(EDDY_MS(50)), 0);
        eddy_http_auth_free(tokens.auth);
        CHECK_EQ(tokens.running, 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(tokens.failed, 1);
        CHECK_EQ(get(tokens.client, "http://a/"), EDDY_E_HTTP_CLIENT_CLOSED);
        eddy_http_client_close(tokens.client);
}

/* ---- sweeps ------------------------------------------------------------------ */

static int use_all(void *arg)
{
        struct eddy_http_auth_opts opts[] = {
                DIGEST_OPTS,
                KIM,
                { .refresh = refresh, .arg = &tokens, .token = "old" },
        };
        int err = 0;

        (void) arg;
        memset(&tokens, 0, sizeof(tokens));
        for (int i = 0; i < 3 && err >= 0; i++) {
                struct eddy_http_client_opts client_opts = { .handler = handle };
                eddy_http_client *client = NULL;

                memset(&seen, 0, sizeof(seen));
                seen.challenge = CHALLENGE("n1");
                seen.good = i == 0 ? "n1" : i == 2 ? "t1" : "Basic";
                err = eddy_http_auth_new(&opts[i], &client_opts.auth);
                if (err >= 0)
                        err = eddy_http_client_new(&client_opts, &client);
                if (err >= 0)
                        err = get(client, "http://a/");
                CHECK(err < 0 || err == 200 || err == 500);
                eddy_http_client_close(client);
                eddy_http_auth_free(client_opts.auth);
        }
        return err < 0 ? err : 0;
}

TEST(a_cancel_or_a_shortage_of_memory_at_any_point_leaves_nothing)
{
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_CANCEL, use_all, NULL, NULL, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_ALLOC, use_all, NULL, NULL, NULL), 0);
}
