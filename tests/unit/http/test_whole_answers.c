/*
 * test_whole_answers.c - answers of one call (text, JSON, redirect, error), and values of a request.
 */
#include <stdlib.h>
#include <string.h>

#include "eddy/http_answer.h"
#include "eddy/http_value.h"
#include "eddy/test.h"
#include "server_test.h"

#define GET(path)  "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"
#define LAST(path) "GET " path " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

struct item {
        char name[8];
        int32_t age;
};
static const struct eddy_field item_list[] = {
        EDDY_FIELD(struct item, name),
        EDDY_FIELD(struct item, age, EDDY_FIELD_MAX(150)),
};
static const struct eddy_fields item_fields = EDDY_FIELDS(struct item, item_list, 0);

static const char first_key[] = "first", second_key[] = "second";
static char freed[64];

static void note(void *value)
{
        size_t n = strlen(freed);

        snprintf(freed + n, sizeof(freed) - n, "%s", (const char *) value);
}

/* A value's function that waits. */
static void note_later(void *value)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        note(value);
}

static int set(eddy_http_exchange *exchange, const void *key, char *value)
{
        return eddy_http_exchange_set(exchange, key, value, note);
}

static int use_values(eddy_http_exchange *exchange)
{
        static char a[] = "a", b[] = "b", c[] = "c";

        CHECK(!eddy_http_exchange_get(exchange, first_key));
        CHECK_ERR(set(exchange, NULL, a), -EINVAL);
        CHECK_EQ(set(exchange, first_key, a), 0);
        CHECK_EQ(set(exchange, second_key, b), 0);
        CHECK(eddy_http_exchange_get(exchange, first_key) == a);
        CHECK(eddy_http_exchange_get(exchange, second_key) == b);
        CHECK(!eddy_http_exchange_get(exchange, "second"));
        CHECK_EQ(eddy_http_exchange_set(exchange, first_key, c, note_later), 0);
        CHECK_STR(freed, "a");
        CHECK(eddy_http_exchange_get(exchange, first_key) == c);
        CHECK_EQ(eddy_http_exchange_set(exchange, freed, freed, NULL), 0);
        CHECK_EQ(eddy_http_exchange_set(exchange, &item_list, NULL, note), 0);
        return eddy_http_exchange_respond_text(exchange, 200, "values");
}

static int fail(eddy_http_exchange *exchange, const char *path)
{
        char text[600];
        size_t bytes = strtoul(path, NULL, 10);

        /* Characters of three bytes, from the end of which any may be cut. */
        for (size_t i = 0; i < bytes; i++)
                text[i] = "\xE2\x82\xAC"[i % 3];
        text[bytes] = '\0';
        return eddy_http_exchange_fail(exchange, 404, "%s", text);
}

static int answer(eddy_http_exchange *exchange, const char *path)
{
        static const struct item right = { "Ann", 41 }, wrong = { "Old", 151 };

        if (strcmp(path, "/json") == 0)
                return eddy_http_exchange_respond_json(exchange, 201, &item_fields, &right);
        if (strcmp(path, "/wrong-json") == 0)
                return eddy_http_exchange_respond_json(exchange, 200, &item_fields, &wrong);
        if (strcmp(path, "/text") == 0)
                return eddy_http_exchange_respond_text(exchange, 200, "Gr\xC3\xBC\xC3\x9F");
        if (strncmp(path, "/fail/", 6) == 0)
                return fail(exchange, path + 6);
        if (strncmp(path, "/redirect/", 10) == 0)
                return eddy_http_exchange_redirect(exchange, (int) strtol(path + 10, NULL, 10),
                                                   "/a?b=c%20d#e");
        if (strcmp(path, "/values") == 0)
                return use_values(exchange);
        return -EIO;
}

/* Calls that are refused; the answer is sent after them. */
static int refuse(eddy_http_exchange *exchange)
{
        static const char *const urls[] = { NULL,        "",    "/a b", "/a\r\nX: y",
                                            "/\xC3\xBC", "/\"", "/\\",  "/a\t" };
        static const int statuses[] = { 0, 200, 300, 304, 305, 309, 399, 1000 };

        for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++)
                CHECK_ERR(eddy_http_exchange_redirect(exchange, 302, urls[i]),
                          EDDY_E_HTTP_INVALID_ANSWER);
        for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
                CHECK_ERR(eddy_http_exchange_redirect(exchange, statuses[i], "/"),
                          EDDY_E_HTTP_INVALID_ANSWER);
                CHECK_ERR(eddy_http_exchange_fail(exchange, statuses[i], "%s", "no"),
                          EDDY_E_HTTP_INVALID_ANSWER);
        }
        return eddy_http_exchange_respond_text(exchange, 200, "fine");
}

static int handle(eddy_http_exchange *exchange, void *arg)
{
        const char *path = eddy_http_exchange_path(exchange);

        (void) arg;
        return strcmp(path, "/refused") == 0 ? refuse(exchange) : answer(exchange, path);
}

static void prepare(struct site *site)
{
        freed[0] = '\0';
        site->handler = handle;
}

#define ANSWER_TEST(claim)                                                                         \
        static void answer_##claim(struct site *site);                                             \
        TEST(claim)                                                                                \
        {                                                                                          \
                site_run_prepared(NULL, false, prepare, answer_##claim);                           \
        }                                                                                          \
        static void answer_##claim(struct site *site)

static const char *body_of(const struct answer *of)
{
        return strstr(of->text, "\r\n\r\n") + 4;
}

ANSWER_TEST(texts_and_structs_are_answered_with_their_types)
{
        const struct answer *of = ask(site, LAST("/text"));

        CHECK_HAS(of->text, "Content-Type: text/plain; charset=utf-8\r\n");
        CHECK_STR(body_of(of), "Gr\xC3\xBC\xC3\x9F");
        of = ask(site, LAST("/json"));
        CHECK_HAS(of->text, "201 Created\r\nContent-Type: application/json\r\n");
        CHECK_STR(body_of(of), "{\"name\":\"Ann\",\"age\":41}");
}

ANSWER_TEST(redirects_have_a_location)
{
        static const char *const requests[] = { LAST("/redirect/301"), LAST("/redirect/302"),
                                                LAST("/redirect/303"), LAST("/redirect/307"),
                                                LAST("/redirect/308") };

        for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
                CHECK_HAS(ask(site, requests[i])->text, "Location: /a?b=c%20d#e\r\n");
                CHECK_HAS(ask(site, requests[i])->text, "Content-Length: 0\r\n");
        }
}

ANSWER_TEST(an_error_has_its_detail_which_is_cut_between_characters)
{
        char request[100], expected[400];
        const struct answer *of;

        for (int bytes = 246; bytes <= 300; bytes += 3) {
                int whole = bytes <= 255 ? bytes : 252; /* a cut also drops the last character */

                snprintf(request, sizeof(request), LAST("/fail/%d"), bytes);
                of = ask(site, request);
                CHECK_EQ(of->status, 404);
                CHECK_HAS(of->text, "Content-Type: application/problem+json\r\n");
                snprintf(expected, sizeof(expected),
                         "{\"title\":\"Not Found\",\"status\":404,\"detail\":\"");
                CHECK_HAS(of->text, expected);
                CHECK_EQ(strlen(body_of(of)), strlen(expected) + (size_t) whole + 2);
                CHECK(eddy_json_is_utf8(body_of(of), strlen(body_of(of))));
                CHECK_HAS_NOT(of->text, "\xEF\xBF\xBD");
        }
        CHECK_STR(body_of(ask(site, LAST("/fail/0"))), "{\"title\":\"Not Found\",\"status\":404}");
}

ANSWER_TEST(answers_that_are_not_valid_are_refused_before_anything_is_sent)
{
        CHECK_STR(body_of(ask(site, LAST("/refused"))), "fine");
}

ANSWER_TEST(values_end_with_their_request_in_reverse_order)
{
        eddy_stream *stream = site_connect(site);

        (void) say(stream, GET("/values"), "values");
        (void) say(stream, GET("/text"), "\x9F");
        CHECK_STR(freed, "abc");
        freed[0] = '\0';
        (void) say(stream, GET("/values"), "values");
        (void) say(stream, GET("/text"), "\x9F");
        CHECK_STR(freed, "abc");
        eddy_stream_close(stream);
}

/* ---- faults ----------------------------------------------------------------- */

static int get(eddy_http_client *client, const char *url)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        int err =
                eddy_http_client_send(client, &(struct eddy_http_request){ .url = url }, &response);

        return err < 0 ? err : eddy_http_response_status(response);
}

static int set_and_answer(eddy_http_exchange *exchange, void *arg)
{
        char *value = malloc(1);
        int err;

        (void) arg;
        CHECK(value);
        err = eddy_http_exchange_set(exchange, first_key, value, free);
        if (err < 0) {
                free(value);
                return err;
        }
        return answer(exchange, eddy_http_exchange_path(exchange));
}

static int ask_some(void *arg)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        int err = eddy_http_client_new(&(struct eddy_http_client_opts){ .handler = set_and_answer },
                                       &client);

        (void) arg;
        if (err >= 0)
                err = get(client, "http://a/json");
        if (err == 201)
                err = get(client, "http://a/redirect/303");
        if (err == 303)
                err = get(client, "http://a/fail/300");
        return err < 0 ? err : err == 404 || err == 500 ? 0 : -EPROTO;
}

TEST(a_cancel_or_a_shortage_of_memory_at_any_point_of_an_answer_leaves_nothing)
{
        static const int kinds[] = { EDDY_TEST_SEEDS, EDDY_TEST_CANCEL, EDDY_TEST_ALLOC,
                                     EDDY_TEST_ALLOC_FOREVER };

        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                struct eddy_test_sweep sweep;

                CHECK_EQ(eddy_test_sweep(kinds[i], ask_some, NULL, NULL, &sweep), 0);
                CHECK(sweep.tried > 0);
        }
}

/* The reason is reported, and the client does not see it. */
static int serve_wrong_json(void *arg)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;

        (void) arg;
        CHECK_EQ(
                eddy_http_client_new(&(struct eddy_http_client_opts){ .handler = handle }, &client),
                0);
        CHECK_EQ(get(client, "http://a/wrong-json"), 500);
        return 0;
}

TEST(a_struct_that_does_not_fit_its_table_is_a_500_and_reported)
{
        struct eddy_test_result result;

        (void) eddy_test_run(serve_wrong_json, NULL, NULL, &result);
        CHECK_HAS(result.problem, "the answer to GET /wrong-json was refused: age: 151 is above");
}
