/*
 * test_redirect.c - redirects that a client follows: method, body and headers of each request, limits, loops,
 * what another origin must not get, and the cookies of each hop. A handler is the network.
 *
 * The names of many tests say what they prevent: docs/security.md lists them.
 */
#include <stdarg.h>

#include "eddy/test.h"
#include "http_test.h"

enum { LOG_BYTES = 4096, BIG_BYTES = 1 << 20 };

/* The answer to a request for this host and path; others get 200 and "ok". */
struct rule {
        const char *at;
        int status;
        const char *location;
        const char *set_cookie;
        size_t body_bytes;
};

static struct {
        const struct rule *rules;
        eddy_http_client *client;
        char log[LOG_BYTES];
        size_t log_bytes;
        struct eddy_http_fault fault;
        int rewinds;
} seen;

TEST_ROOM(char, big, BIG_BYTES);

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
        va_list list;
        int n;

        va_start(list, format);
        n = vsnprintf(seen.log + seen.log_bytes, LOG_BYTES - seen.log_bytes, format, list);
        va_end(list);
        CHECK(n >= 0 && (size_t) n < LOG_BYTES - seen.log_bytes);
        seen.log_bytes += (size_t) n;
}

/* Note each header of these names: "Cookie=a=1". */
static void note_headers(eddy_http_exchange *exchange)
{
        static const char *const names[] = {
                "Authorization", "Proxy-Authorization", "Cookie",  "X-Api-Key", "Content-Type",
                "Expect",        "Content-Length",      "Referer", "X-Kept"
        };
        struct eddy_http_header header;

        for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
                for (size_t i = 0; eddy_http_exchange_header_at(exchange, i, &header) == 0; i++) {
                        if (strcasecmp(header.name, names[n]) == 0) {
                                note(" %s=%s", names[n], header.value);
                        }
                }
        }
}

static const struct rule *rule_of(eddy_http_exchange *exchange)
{
        static const struct rule ok = { .at = "", .status = 200 };
        char at[256];

        snprintf(at, sizeof(at), "%s%s", eddy_http_exchange_host(exchange),
                 eddy_http_exchange_path(exchange));
        for (const struct rule *rule = seen.rules; rule && rule->at; rule++)
                if (strcmp(rule->at, at) == 0)
                        return rule;
        return &ok;
}

static int handle(eddy_http_exchange *exchange, void *arg)
{
        const struct rule *rule = rule_of(exchange);
        struct eddy_http_header headers[2];
        size_t count = 0, bytes;
        const void *data;
        int err;

        (void) arg;
        err = eddy_http_exchange_body(exchange, &data, &bytes);
        if (err < 0)
                return err;
        note("%s %s%s", eddy_http_exchange_method(exchange), eddy_http_exchange_host(exchange),
             eddy_http_exchange_target(exchange));
        note_headers(exchange);
        if (bytes > 0)
                note(" [%.*s]", (int) bytes, (const char *) data);
        note("\n");
        if (rule->location)
                headers[count++] = (struct eddy_http_header){ "Location", rule->location };
        if (rule->set_cookie)
                headers[count++] = (struct eddy_http_header){ "Set-Cookie", rule->set_cookie };
        return eddy_http_exchange_respond(exchange, rule->status, headers, count,
                                          rule->body_bytes ? big : "ok",
                                          rule->body_bytes      ? rule->body_bytes
                                          : rule->status == 304 ? 0
                                                                : 2);
}

/* ---- running ------------------------------------------------------------------------ */

static int client_new(const struct eddy_http_client_opts *opts, const struct rule *rules)
{
        struct eddy_http_client_opts own = *opts;

        memset(&seen, 0, sizeof(seen));
        seen.rules = rules;
        own.handler = handle;
        return eddy_http_client_new(&own, &seen.client);
}

/* Returns the status or an error, and what eddy_http_response_info() has. */
static int fetch(const struct eddy_http_request *request, char *url, size_t url_bytes,
                 uint32_t *ret_redirects)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request own = *request;
        struct eddy_http_response_info info;
        const void *data;
        size_t bytes;
        int err;

        own.ret_fault = &seen.fault;
        seen.log_bytes = 0;
        seen.log[0] = '\0';
        err = eddy_http_client_send(seen.client, &own, &response);
        if (err >= 0)
                err = eddy_http_response_body(response, &data, &bytes);
        if (err < 0)
                return err;
        eddy_http_response_info(response, &info);
        if (url)
                snprintf(url, url_bytes, "%s", info.url);
        if (ret_redirects)
                *ret_redirects = info.redirects;
        return eddy_http_response_status(response);
}

static void check_fetch(const struct eddy_http_request *request, int result, const char *log)
{
        int err = fetch(request, NULL, 0, NULL);

        if (result < 0)
                CHECK_ERR(err, result);
        else
                CHECK_EQ(err, result);
        CHECK_STR(seen.log, log);
}

#define FETCH(result, log, ...) check_fetch(&(struct eddy_http_request){ __VA_ARGS__ }, result, log)
#define FAULT_HAS(words)                                                                           \
        do {                                                                                       \
                if (!strstr(seen.fault.text, words))                                               \
                        test_fail(__FILE__, __LINE__, "%s", seen.fault.text);                      \
        } while (0)

/* FOLLOW_TEST(claim, OPTIONS(...), RULES(...)) { FETCH(...) } */
#define FOLLOW_TEST(claim, options, ...)                                                           \
        static void follow_##claim(void);                                                          \
        static int run_##claim(void *arg)                                                          \
        {                                                                                          \
                static const struct rule rules[] = { __VA_ARGS__, { .at = NULL } };                \
                                                                                                   \
                (void) arg;                                                                        \
                CHECK_EQ(client_new(options, rules), 0);                                           \
                follow_##claim();                                                                  \
                eddy_http_client_close(seen.client);                                               \
                return 0;                                                                          \
        }                                                                                          \
        TEST(claim)                                                                                \
        {                                                                                          \
                http_run(run_##claim, NULL);                                                       \
        }                                                                                          \
        static void follow_##claim(void)

#define FOLLOW OPTIONS(.redirects_max = 10)

/* ---- method and body ---------------------------------------------------------------- */

FOLLOW_TEST(redirects_are_the_response_unless_they_are_asked_for, OPTIONS(.redirects_max = 0),
            { "a.test/x", 302, "/y" })
{
        uint32_t redirects = 7;
        char url[64];

        FETCH(302, "GET a.test/x\n", .url = "http://a.test/x");
        FETCH(200, "GET a.test/x\nGET a.test/y\n", .url = "http://a.test/x", .redirects_max = 1);
        CHECK_EQ(fetch(&(struct eddy_http_request){ .url = "http://a.test/x" }, url, sizeof(url),
                       &redirects),
                 302);
        CHECK_EQ(redirects, 0);
        CHECK_STR(url, "http://a.test/x");
}

FOLLOW_TEST(response_has_its_url_and_the_number_of_redirects, FOLLOW, { "a.test/x", 301, "y?q=1" },
            { "a.test/y", 308, "/z" })
{
        uint32_t redirects = 0;
        char url[64];

        CHECK_EQ(fetch(&(struct eddy_http_request){ .url = "http://a.test/x#part" }, url,
                       sizeof(url), &redirects),
                 200);
        CHECK_EQ(redirects, 2);
        CHECK_STR(url, "http://a.test/z#part");
        CHECK_STR(seen.log, "GET a.test/x\nGET a.test/y?q=1\nGET a.test/z\n");
}

FOLLOW_TEST(request_can_refuse_redirects_that_the_client_follows, FOLLOW, { "a.test/x", 302, "/y" })
{
        FETCH(302, "GET a.test/x\n", .url = "http://a.test/x", .redirects_max = -1);
}

/* B25, B26: curl CVE-2022-32221, urllib3 CVE-2023-45803: neither the body nor what describes it follows as GET. */
FOLLOW_TEST(post_that_becomes_get_has_neither_body_nor_its_headers, FOLLOW,
            { "a.test/301", 301, "/y" }, { "a.test/302", 302, "/y" }, { "a.test/303", 303, "/y" })
{
        static const char *const urls[] = { "http://a.test/301", "http://a.test/302",
                                            "http://a.test/303" };
        static const struct eddy_http_header headers[] = { { "Content-Type", "text/plain" },
                                                           { "X-Kept", "1" },
                                                           { "Content-Encoding", "x" } };
        char log[200];

        for (size_t i = 0; i < 3; i++) {
                snprintf(log, sizeof(log),
                         "POST %s Content-Type=text/plain Content-Length=4 X-Kept=1 [body]\n"
                         "GET a.test/y X-Kept=1\n",
                         urls[i] + 7);
                FETCH(200, log, .url = urls[i], .body = "body", .body_bytes = 4, .headers = headers,
                      .headers_count = 3);
        }
        FETCH(200, "PUT a.test/303 Content-Length=4 [body]\nGET a.test/y\n",
              .url = "http://a.test/303", .method = "PUT", .body = "body", .body_bytes = 4);
}

/* B25: the table of docs/design/redirects.md. */
FOLLOW_TEST(other_methods_and_307_and_308_stay_as_they_are, FOLLOW, { "a.test/301", 301, "/y" },
            { "a.test/307", 307, "/y" }, { "a.test/308", 308, "/y" }, { "a.test/303", 303, "/y" })
{
        FETCH(200, "PUT a.test/301 Content-Length=4 [body]\nPUT a.test/y Content-Length=4 [body]\n",
              .url = "http://a.test/301", .method = "PUT", .body = "body", .body_bytes = 4);
        FETCH(200,
              "POST a.test/307 Content-Length=4 [body]\nPOST a.test/y Content-Length=4 [body]\n",
              .url = "http://a.test/307", .body = "body", .body_bytes = 4);
        FETCH(200,
              "POST a.test/308 Content-Length=4 [body]\nPOST a.test/y Content-Length=4 [body]\n",
              .url = "http://a.test/308", .body = "body", .body_bytes = 4);
        FETCH(200, "HEAD a.test/303\nHEAD a.test/y\n", .url = "http://a.test/303",
              .method = "HEAD");
}

FOLLOW_TEST(redirect_that_needs_another_method_can_be_the_response,
            OPTIONS(.redirects_max = 10, .flags = EDDY_HTTP_REDIRECT_SAME_METHOD),
            { "a.test/302", 302, "/y" }, { "a.test/303", 303, "/y" }, { "a.test/307", 307, "/y" })
{
        FETCH(302, "POST a.test/302 Content-Length=4 [body]\n", .url = "http://a.test/302",
              .body = "body", .body_bytes = 4);
        FETCH(303, "PUT a.test/303 Content-Length=4 [body]\n", .url = "http://a.test/303",
              .method = "PUT", .body = "body", .body_bytes = 4);
        FETCH(200, "GET a.test/303\nGET a.test/y\n", .url = "http://a.test/303");
        FETCH(200,
              "POST a.test/307 Content-Length=4 [body]\nPOST a.test/y Content-Length=4 [body]\n",
              .url = "http://a.test/307", .body = "body", .body_bytes = 4);
}

static int64_t read_source(void *arg, void *buf, size_t bytes)
{
        const char **rest = arg;
        size_t n = strlen(*rest) < bytes ? strlen(*rest) : bytes;

        memcpy(buf, *rest, n);
        *rest += n;
        return (int64_t) n;
}

static int rewind_source(void *arg)
{
        *(const char **) arg = "source";
        seen.rewinds++;
        return 0;
}

/* B25: curl CVE-2022-32221 and aiohttp: an empty body in place of the one that was sent already. */
FOLLOW_TEST(source_of_a_body_is_rewound_or_the_redirect_refused, FOLLOW,
            { "a.test/307", 307, "/y" }, { "a.test/302", 302, "/y" })
{
        const char *rest = "source";
        struct eddy_http_body_source source = {
                .read = read_source, .rewind = rewind_source, .arg = &rest, .bytes = 6
        };

        FETCH(200,
              "POST a.test/307 Content-Length=6 [source]\nPOST a.test/y Content-Length=6 "
              "[source]\n",
              .url = "http://a.test/307", .body_source = &source);
        CHECK_EQ(seen.rewinds, 1);
        rest = "source";
        source.rewind = NULL;
        FETCH(EDDY_E_HTTP_STATUS, "POST a.test/307 Content-Length=6 [source]\n",
              .url = "http://a.test/307", .body_source = &source);
        FAULT_HAS("cannot be rewound");
        CHECK_EQ(seen.fault.status, 307);
        rest = "source";
        FETCH(200, "POST a.test/302 Content-Length=6 [source]\nGET a.test/y\n",
              .url = "http://a.test/302", .body_source = &source);
        CHECK_STATS(seen.client, 1, 1, 0);
}

/* ---- where to ------------------------------------------------------------------------ */

/* B29: the table of docs/design/redirects.md. */
FOLLOW_TEST(response_without_a_location_is_the_result, FOLLOW, { "a.test/x", 302, NULL },
            { "a.test/empty", 302, "" }, { "a.test/300", 300, "/y" }, { "a.test/304", 304, "/y" })
{
        FETCH(302, "GET a.test/x\n", .url = "http://a.test/x");
        FETCH(302, "GET a.test/empty\n", .url = "http://a.test/empty");
        FETCH(300, "GET a.test/300\n", .url = "http://a.test/300");
        FETCH(304, "GET a.test/304\n", .url = "http://a.test/304");
}

/* B29: curl CVE-2009-0037 and CVE-2024-2004. */
FOLLOW_TEST(redirect_to_another_scheme_is_refused, FOLLOW,
            { "a.test/file", 302, "file:///etc/passwd" }, { "a.test/ftp", 302, "ftp://a.test/" },
            { "a.test/bad", 302, "http://127.1/" })
{
        FETCH(EDDY_E_HTTP_STATUS, "GET a.test/file\n", .url = "http://a.test/file");
        CHECK_STR(seen.fault.text,
                  "the redirect 302 is not followed: its Location is not an http or https URL");
        FETCH(EDDY_E_HTTP_STATUS, "GET a.test/ftp\n", .url = "http://a.test/ftp");
        FETCH(EDDY_E_HTTP_STATUS, "GET a.test/bad\n", .url = "http://a.test/bad");
        CHECK_STATS(seen.client, 1, 1, 0);
}

FOLLOW_TEST(redirect_from_https_to_http_is_refused_unless_allowed, FOLLOW,
            { "a.test/x", 302, "http://a.test/y" })
{
        FETCH(EDDY_E_HTTP_STATUS, "GET a.test/x\n", .url = "https://a.test/x");
        FAULT_HAS("https to http");
        FETCH(200, "GET a.test/x\nGET a.test/y\n", .url = "https://a.test/x",
              .flags = EDDY_HTTP_REDIRECT_TO_HTTP);
        FETCH(200, "GET a.test/x\nGET a.test/y\n", .url = "http://a.test/x");
}

/* B29: the table of docs/design/redirects.md. */
FOLLOW_TEST(redirects_end_at_the_maximum_and_the_fault_names_a_loop, OPTIONS(.redirects_max = 5),
            { "a.test/x", 302, "/x" }, { "a.test/1", 302, "/2" }, { "a.test/2", 302, "/3?secret" },
            { "a.test/3", 302, "/4" }, { "b.test/1", 302, "/2" }, { "b.test/2", 307, "/1" })
{
        FETCH(-ELOOP,
              "GET a.test/x\nGET a.test/x\nGET a.test/x\nGET a.test/x\nGET a.test/x\nGET "
              "a.test/x\n",
              .url = "http://a.test/x");
        CHECK_STR(seen.fault.text, "the redirect 302 is not followed: it leads to http://a.test "
                                   "after 5 redirects, the maximum: they are a loop");
        CHECK_EQ(seen.fault.status, 302);
        FETCH(-ELOOP, "GET a.test/1\nGET a.test/2\n", .url = "http://a.test/1", .redirects_max = 1);
        FAULT_HAS("http://a.test after 1 redirects, the maximum");
        CHECK(!strstr(seen.fault.text, "loop") && !strstr(seen.fault.text, "secret"));
        FETCH(200, "GET a.test/1\nGET a.test/2\nGET a.test/3?secret\nGET a.test/4\n",
              .url = "http://a.test/1", .redirects_max = 3);
        CHECK_ERR(fetch(&(struct eddy_http_request){ .url = "http://b.test/1" }, NULL, 0, NULL),
                  -ELOOP);
        FAULT_HAS("loop");
}

/* ---- credentials ---------------------------------------------------------------------- */

#define SECRETS " Authorization=Basic 1 Cookie=a=1 Cookie=b=2 X-Api-Key=2 X-Api-Key=3"

static const struct eddy_http_header secrets[] = {
        { "Authorization", "Basic 1" }, { "X-Kept", "1" },   { "cookie", "a=1" },
        { "x-api-KEY", "2" },           { "Cookie", "b=2" }, { "X-Api-Key", "3" },
};

#define WITH_SECRETS .headers = secrets, .headers_count = sizeof(secrets) / sizeof(secrets[0])

/* B27: curl CVE-2018-1000007, CVE-2022-27774 and CVE-2022-27776, and aiohttp's second Authorization. */
FOLLOW_TEST(every_copy_of_credentials_stays_in_its_origin, FOLLOW,
            { "a.test/host", 302, "http://b.test/y" }, { "a.test/sub", 302, "http://www.a.test/y" },
            { "a.test/port", 307, "http://a.test:81/y" }, { "a.test/tls", 301, "https://a.test/y" },
            { "a.test/same", 308, "http://A.test:80/y" }, { "b.test/z", 302, "http://a.test/z" },
            { "a.test/there", 302, "http://b.test/z" })
{
        FETCH(200, "GET a.test/host" SECRETS " X-Kept=1\nGET b.test/y X-Kept=1\n",
              .url = "http://a.test/host", WITH_SECRETS);
        FETCH(200, "GET a.test/sub" SECRETS " X-Kept=1\nGET www.a.test/y X-Kept=1\n",
              .url = "http://a.test/sub", WITH_SECRETS);
        FETCH(200, "GET a.test/port" SECRETS " X-Kept=1\nGET a.test:81/y X-Kept=1\n",
              .url = "http://a.test/port", WITH_SECRETS);
        FETCH(200, "GET a.test/tls" SECRETS " X-Kept=1\nGET a.test/y X-Kept=1\n",
              .url = "http://a.test/tls", WITH_SECRETS);
        FETCH(200, "GET a.test/same" SECRETS " X-Kept=1\nGET a.test/y" SECRETS " X-Kept=1\n",
              .url = "http://a.test/same", WITH_SECRETS);
        /* Go CVE-2024-45336: they do not come back with the first origin. */
        FETCH(200,
              "GET a.test/there" SECRETS
              " X-Kept=1\nGET b.test/z X-Kept=1\nGET a.test/z X-Kept=1\n",
              .url = "http://a.test/there", WITH_SECRETS);
}

FOLLOW_TEST(default_headers_with_credentials_stay_in_their_origin,
            OPTIONS(.redirects_max = 10, WITH_SECRETS), { "a.test/x", 302, "http://b.test/y" })
{
        FETCH(200, "GET a.test/x" SECRETS " X-Kept=1\nGET b.test/y X-Kept=1\n",
              .url = "http://a.test/x");
}

/* B28: curl CVE-2021-22876: a Referer with user information. */
FOLLOW_TEST(user_information_is_sent_within_its_origin_and_never_in_a_referer, FOLLOW,
            { "a.test/same", 302, "/y" }, { "a.test/other", 302, "http://b.test/y" },
            { "a.test/own", 302, "http://v:w@b.test/y" })
{
        FETCH(200,
              "GET a.test/same Authorization=Basic dTpw\nGET a.test/y Authorization=Basic dTpw\n",
              .url = "http://u:p@a.test/same");
        FETCH(200, "GET a.test/other Authorization=Basic dTpw\nGET b.test/y\n",
              .url = "http://u:p@a.test/other");
        FETCH(200,
              "GET a.test/own Authorization=Basic dTpw\nGET b.test/y Authorization=Basic djp3\n",
              .url = "http://u:p@a.test/own");
}

FOLLOW_TEST(host_of_the_caller_names_no_other_origin, FOLLOW, { "v.test/x", 302, "/y" },
            { "v.test/y", 302, "http://b.test/z" })
{
        static const struct eddy_http_header host[] = { { "Host", "v.test" } };

        FETCH(200, "GET v.test/x\nGET v.test/y\nGET b.test/z\n", .url = "http://a.test/x",
              .headers = host, .headers_count = 1);
}

/* ---- the rest of a response, and what breaks ------------------------------------------- */

/* B30, B46: urllib3 GHSA-38jv-5279-wg99: the body of a redirect is neither decoded nor read without a limit. */
FOLLOW_TEST(large_body_of_a_redirect_is_not_read, FOLLOW,
            { "a.test/x", 302, "/y", NULL, BIG_BYTES }, { "a.test/small", 302, "/y", NULL, 1000 })
{
        struct eddy_http_client_stats stats;

        FETCH(200, "GET a.test/small\nGET a.test/y\n", .url = "http://a.test/small");
        eddy_http_client_stats(seen.client, &stats);
        CHECK_EQ(stats.connections, 1);
        FETCH(200, "GET a.test/x\nGET a.test/y\n", .url = "http://a.test/x");
        eddy_http_client_stats(seen.client, &stats);
        CHECK_EQ(stats.connections, 2);
        CHECK_EQ(stats.idle, 1);
}

CLIENT_TEST(total_time_covers_all_redirects,
            OPTIONS(.redirects_max = 1000000, .timeouts = { .total_ns = EDDY_MS(5500) }),
            SCRIPT("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", ".",
                   "HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", ".",
                   "HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", "?", ".", ".",
                   ".", ".", "."))
{
        int64_t began_ns = eddy_now();

        CHECK_ERR(rig_get(rig, "/x"), EDDY_E_HTTP_TIMEOUT_TOTAL);
        CHECK_EQ(eddy_now() - began_ns, EDDY_MS(5500));
}

/* B31: with its credentials, which the server of the first URL must not choose. */
CLIENT_TEST(proxy_is_chosen_for_each_url, NULL,
            SCRIPT("HTTP/1.1 302 x\r\nLocation: http://a.test/y\r\nContent-Length: 0\r\n\r\n"),
            SCRIPT(OK_2))
{
        eddy_http_response *response;
        char proxy[96], url[96];
        eddy_http_client *client;

        snprintf(proxy, sizeof(proxy), "http://u:p@%s", rig->url + strlen("http://"));
        snprintf(url, sizeof(url), "%s/x", rig->url);
        CHECK_EQ(eddy_http_client_new(
                         OPTIONS(.redirects_max = 2, .http_proxy = proxy, .no_proxy = "127.0.0.1"),
                         &client),
                 0);
        CHECK_EQ(
                eddy_http_client_send(client, &(struct eddy_http_request){ .url = url }, &response),
                0);
        CHECK_EQ(eddy_http_response_status(response), 200);
        CHECK_EQ(rig->peer.requests, 2);
        CHECK(strstr(rig->peer.last, "GET http://a.test/y HTTP/1.1\r\n"));
        CHECK(strstr(rig->peer.last, "Proxy-Authorization: Basic dTpw\r\n"));
        eddy_http_response_close(response);
        eddy_http_client_close(client);
}

/* ---- cookies -------------------------------------------------------------------------- */

static eddy_http_cookies *jar;

static int with_jar(void *arg)
{
        static const struct rule rules[] = {
                { "a.test/login", 303, "/home", "sid=1; Path=/" },
                { "a.test/home", 302, "http://b.test/x", "seen=2" },
                { "b.test/x", 302, "http://a.test/end", "b=3" },
                { "a.test/401", 401, NULL, "denied=4; Path=/401" },
                { "a.test/clear", 200, NULL, "sid=; Max-Age=0" },
                { .at = NULL },
        };
        static const struct eddy_http_header own[] = { { "Cookie", "own=1" } };
        static const struct eddy_http_header none[] = { { "Cookie", NULL } };

        (void) arg;
        CHECK_EQ(eddy_http_cookies_new(&jar), 0);
        CHECK_EQ(client_new(OPTIONS(.redirects_max = 10, .cookies = jar), rules), 0);
        FETCH(200,
              "POST a.test/login Content-Length=1 [p]\nGET a.test/home Cookie=sid=1\n"
              "GET b.test/x\nGET a.test/end Cookie=sid=1; seen=2\n",
              .url = "http://a.test/login", .body = "p", .body_bytes = 1);
        FETCH(401, "GET a.test/401 Cookie=sid=1; seen=2\n", .url = "http://a.test/401");
        FETCH(401, "GET a.test/401 Cookie=denied=4; sid=1; seen=2\n", .url = "http://a.test/401");
        /* The caller's own header replaces the jar's within its origin, and Set-Cookie is kept still. */
        FETCH(200, "GET a.test/clear Cookie=own=1\n", .url = "http://a.test/clear", .headers = own,
              .headers_count = 1);
        FETCH(200, "GET b.test/x Cookie=own=1\nGET a.test/end Cookie=seen=2\n",
              .url = "http://b.test/x", .headers = own, .headers_count = 1);
        FETCH(200, "GET a.test/end\n", .url = "http://a.test/end", .headers = none,
              .headers_count = 1);
        FETCH(200, "GET a.test/end\n", .url = "http://a.test/end", .flags = EDDY_HTTP_NO_COOKIES);
        FETCH(200, "GET a.test/end Cookie=seen=2\n", .url = "http://a.test/end");
        eddy_http_client_close(seen.client);
        eddy_http_cookies_free(jar);
        return 0;
}

TEST(jar_has_the_cookies_of_each_response_and_sends_them_with_each_request)
{
        http_run(with_jar, NULL);
}

static int own_jar(void *arg)
{
        static const struct rule rules[] = { { "a.test/x", 200, NULL, "a=1" }, { .at = NULL } };
        eddy_http_cookies *other;

        (void) arg;
        CHECK_EQ(eddy_http_cookies_new(&jar), 0);
        CHECK_EQ(eddy_http_cookies_new(&other), 0);
        CHECK_EQ(client_new(OPTIONS(.cookies = jar), rules), 0);
        FETCH(200, "GET a.test/x\n", .url = "http://a.test/x", .cookies = other);
        FETCH(200, "GET a.test/x\n", .url = "http://a.test/x");
        FETCH(200, "GET a.test/y Cookie=a=1\n", .url = "http://a.test/y", .cookies = other);
        eddy_http_client_close(seen.client);
        eddy_http_cookies_free(jar);
        eddy_http_cookies_free(other);
        return 0;
}

TEST(request_can_have_a_jar_of_its_own)
{
        http_run(own_jar, NULL);
}

/* ---- cancels and memory ---------------------------------------------------------------- */

static int follow_all(void *arg)
{
        static const struct rule rules[] = {
                { "a.test/x", 302, "/y", "sid=1; Path=/" },
                { "a.test/y", 307, "http://b.test/z#\xc3\xa9", "seen=2", 100000 },
                { "b.test/z", 302, "http://b.test/end", "b=3" },
                { .at = NULL },
        };
        const char *rest = "source";
        struct eddy_http_body_source source = {
                .read = read_source, .rewind = rewind_source, .arg = &rest, .bytes = 6
        };
        struct eddy_http_request request = {
                .url = "http://u:p@a.test/x", .method = "PUT", .body_source = &source, WITH_SECRETS
        };
        int err;

        (void) arg;
        err = eddy_http_cookies_new(&jar);
        if (err < 0)
                return err;
        err = client_new(OPTIONS(.redirects_max = 10, .cookies = jar), rules);
        if (err >= 0) {
                err = fetch(&request, NULL, 0, NULL);
                eddy_http_client_close(seen.client);
        }
        eddy_http_cookies_free(jar);
        if (err == 200)
                CHECK(strstr(seen.log, "GET") == NULL && strstr(seen.log, "b.test/end Cookie=b=3"));
        return err < 0 ? err : 0;
}

TEST(redirects_survive_cancels_and_short_memory)
{
        CHECK_EQ(eddy_test_run(follow_all, NULL, NULL, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_CANCEL, follow_all, NULL, NULL, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_ALLOC, follow_all, NULL, NULL, NULL), 0);
}
