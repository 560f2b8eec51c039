/*
 * test_input.c - bodies, queries and parameters as structs: right ones, and the answers to wrong ones.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/http_input.h"
#include "eddy/http_multipart_reader.h"
#include "eddy/http_router.h"
#include "eddy/query.h"
#include "eddy/test.h"
#include "server_test.h"

#define HEAD(method, path, headers) method " " path " HTTP/1.1\r\nHost: a\r\n" headers "\r\n"
#define JSON                        "Content-Type: application/json\r\n"
#define FORM                        "Content-Type: application/x-www-form-urlencoded\r\n"
#define PROBLEM                     "Content-Type: application/problem+json\r\n"

struct item {
        char *name;
        uint8_t age;
        int64_t *tags;
        size_t tags_count;
};

static const struct eddy_field item_list[] = {
        EDDY_FIELD(struct item, name, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(1, 20)),
        EDDY_FIELD(struct item, age, EDDY_FIELD_MAX(150)),
        EDDY_FIELD_LIST(struct item, tags, tags_count, EDDY_FIELD_AS("tag"), EDDY_FIELD_UNIQUE),
};
static const struct eddy_fields item_fields =
        EDDY_FIELDS(struct item, item_list, EDDY_FIELDS_STRICT);

struct page {
        uint32_t page;
};
static const struct eddy_field page_list[] = { EDDY_FIELD(struct page, page, EDDY_FIELD_REQUIRED,
                                                          EDDY_FIELD_MIN(1)) };
static const struct eddy_fields page_fields = EDDY_FIELDS(struct page, page_list, 0);

static const struct eddy_field bad_list[] = { { .name = "page", .kind = 99, .bytes = 4 } };
static const struct eddy_fields bad_fields = EDDY_FIELDS(struct page, bad_list, 0);

static struct {
        struct site *site;
        eddy_http_router *router;
        int handled;
        int errors[3]; /* of on_error, for each input */
} seen;

static int show(eddy_http_exchange *exchange, const struct item *item)
{
        char text[200];
        int n = snprintf(text, sizeof(text), "%s %u %zu", item->name, item->age, item->tags_count);

        return eddy_http_exchange_respond(exchange, 200, NULL, 0, text, (size_t) n);
}

static int read_json(eddy_http_exchange *exchange, void *arg)
{
        struct item item = { .age = 7 };
        int err = eddy_http_exchange_json(exchange, &item_fields, &item);

        (void) arg;
        if (err >= 0)
                err = show(exchange, &item);
        eddy_fields_fini(&item_fields, &item);
        return err;
}

static int read_form(eddy_http_exchange *exchange, void *arg)
{
        struct item item = { .age = 7 };
        int err =
                eddy_http_exchange_form_read(exchange, &item_fields, EDDY_QUERY_SKIP_EMPTY, &item);

        (void) arg;
        if (err >= 0)
                err = show(exchange, &item);
        eddy_fields_fini(&item_fields, &item);
        return err;
}

/* Read all three, and return the first error. */
static int read_all(eddy_http_exchange *exchange, void *arg)
{
        struct item item = { .age = 7 };
        struct page query = { 0 }, params = { 0 };
        int errs[3], err = 0;

        (void) arg;
        errs[0] = eddy_http_exchange_params_read(exchange, &page_fields, &params);
        errs[1] = eddy_http_exchange_query_read(exchange, &page_fields, 0, &query);
        errs[2] = eddy_http_exchange_json(exchange, &item_fields, &item);
        for (int i = 2; i >= 0; i--)
                err = errs[i] < 0 ? errs[i] : err;
        if (err >= 0) {
                CHECK_EQ(query.page, 3);
                CHECK_EQ(params.page, 12);
                CHECK(!eddy_http_exchange_errors(exchange, EDDY_HTTP_BODY));
                err = show(exchange, &item);
        }
        eddy_fields_fini(&item_fields, &item);
        return err;
}

static int read_bad(eddy_http_exchange *exchange, void *arg)
{
        struct page query = { 0 };

        (void) arg;
        return eddy_http_exchange_query_read(exchange, &bad_fields, 0, &query);
}

/* Another text than the request's. */
static int read_other(eddy_http_exchange *exchange, void *arg)
{
        struct page page;

        (void) exchange;
        (void) arg;
        return eddy_query_read(&page_fields, "page=secret", 11, 0, &page, NULL);
}

/* A form with files, whose parts have at most four bytes. */
static int read_files(eddy_http_exchange *exchange, void *arg)
{
        EDDY_AUTO(eddy_http_multipart_reader) eddy_http_multipart_reader *form = NULL;
        const struct eddy_http_multipart_limits limits = { .field_bytes_max = 4 };
        struct eddy_http_multipart_part part;
        int err = eddy_http_exchange_multipart(exchange, &limits, &form);

        (void) arg;
        while (err >= 0 && (err = eddy_http_multipart_next(form, &part)) > 0)
                ;
        return err < 0 ? err : eddy_http_exchange_respond(exchange, 200, NULL, 0, "read", 4);
}

/* The request is right or wrong, and another service's answer has each error of wrong requests. */
static int fail_as_another(eddy_http_exchange *exchange, void *arg)
{
        const char *error = eddy_http_exchange_query(exchange);
        struct item item = { 0 };

        (void) arg;
        (void) !eddy_http_exchange_json(exchange, &item_fields, &item);
        eddy_fields_fini(&item_fields, &item);
        return (int) strtol(error, NULL, 10);
}

/* A wrong query that the handler takes as none. */
static int read_lightly(eddy_http_exchange *exchange, void *arg)
{
        struct page query = { 0 };
        int err = eddy_http_exchange_query_read(exchange, &page_fields, 0, &query);

        (void) arg;
        CHECK_ERR(err, EDDY_E_FIELD_TYPE);
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, "fine", 4);
}

/* ---- inputs that the route's description names ------------------------------- */

static const struct item item_defaults = { .age = 9 };
static const struct page page_defaults = { .page = 5 };

static const struct eddy_field few_list[] = { EDDY_FIELD(struct page, page, EDDY_FIELD_MIN(1)) };
static const struct eddy_fields few_fields = EDDY_FIELDS(struct page, few_list, 0);

static const struct eddy_http_route_doc json_doc = { .params = &page_fields,
                                                     .query = &few_fields,
                                                     .body = &item_fields,
                                                     .query_defaults = &page_defaults,
                                                     .body_defaults = &item_defaults };
static const struct eddy_http_route_doc form_doc = { .form = &item_fields };

static int show_inputs(eddy_http_exchange *exchange, void *arg)
{
        const struct item *item = eddy_http_exchange_input(exchange, EDDY_HTTP_BODY);
        const struct page *query = eddy_http_exchange_input(exchange, EDDY_HTTP_QUERY);
        const struct page *params = eddy_http_exchange_input(exchange, EDDY_HTTP_PATH);

        (void) arg;
        seen.handled++;
        if (params) {
                CHECK_EQ(params->page, 12);
                CHECK_EQ(query->page, 5);
        } else {
                CHECK(!query);
        }
        return show(exchange, item);
}

/* ---- errors that the route's description answers ------------------------------ */

static const struct eddy_http_route_answer error_list[] = {
        { .status = 404, .description = "there is no such item", .error = -ENOENT },
        { .status = 410 },
        { .status = 409, .error = -EEXIST },
};
static const struct eddy_http_route_doc errors_doc = { .answers = error_list, .answers_count = 3 };

/* The query is the result, perhaps after a response was begun. */
static int fail_as_described(eddy_http_exchange *exchange, void *arg)
{
        if (arg)
                CHECK_EQ(eddy_http_exchange_respond(exchange, 200, NULL, 0, "fine", 4), 0);
        CHECK(arg || eddy_http_exchange_add_header(exchange, "X-Id", "r7") == 0);
        return (int) strtol(eddy_http_exchange_query(exchange), NULL, 10);
}

static void build(void)
{
        memset(&seen, 0, sizeof(seen));
        CHECK_EQ(eddy_http_router_new(&seen.router), 0);
        eddy_http_router_add(seen.router, "POST /json", read_json, NULL, NULL);
        eddy_http_router_add(seen.router, "POST /form", read_form, NULL, NULL);
        eddy_http_router_add(seen.router, "POST /all/{page}", read_all, NULL, NULL);
        eddy_http_router_add(seen.router, "GET /bad", read_bad, NULL, NULL);
        eddy_http_router_add(seen.router, "GET /other", read_other, NULL, NULL);
        eddy_http_router_add(seen.router, "GET /lightly", read_lightly, NULL, NULL);
        eddy_http_router_add(seen.router, "POST /files", read_files, NULL, NULL);
        eddy_http_router_add(seen.router, "POST /another", fail_as_another, NULL, NULL);
        eddy_http_router_add(seen.router, "GET /errors", fail_as_described, NULL, &errors_doc);
        eddy_http_router_add(seen.router, "GET /late", fail_as_described, &seen, &errors_doc);
        eddy_http_router_add(seen.router, "POST /doc/{page}", show_inputs, NULL, &json_doc);
        eddy_http_router_add(seen.router, "POST /doc", show_inputs, NULL, &form_doc);
        CHECK_EQ(eddy_http_router_check(seen.router, NULL), 0);
}

static int route(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_router_handle(exchange, seen.router);
}

static void prepare(struct site *site)
{
        site->handler = route;
}

#define INPUT_TEST(claim)                                                                          \
        static void input_##claim(struct site *site);                                              \
        TEST(claim)                                                                                \
        {                                                                                          \
                build();                                                                           \
                site_run_prepared(NULL, false, prepare, input_##claim);                            \
                eddy_http_router_free(seen.router);                                                \
        }                                                                                          \
        static void input_##claim(struct site *site)

/* Send a request with a body. Returns the answer. */
static const struct answer *post(struct site *site, const char *path, const char *type,
                                 const char *body)
{
        char text[3000];

        snprintf(text, sizeof(text),
                 "POST %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n%sContent-Length: "
                 "%zu\r\n\r\n%s",
                 path, type, strlen(body), body);
        return ask(site, text);
}

static const char *body_of(const struct answer *answer)
{
        return strstr(answer->text, "\r\n\r\n") + 4;
}

INPUT_TEST(bodies_queries_and_parameters_become_structs)
{
        CHECK_STR(body_of(post(site, "/json", JSON, "{\"name\":\"a\",\"tag\":[1,2]}")), "a 7 2");
        CHECK_STR(body_of(post(site, "/form", FORM, "name=a+b&age=&tag=1&tag=2&tag=3")), "a b 7 3");
        CHECK_STR(body_of(post(site, "/all/12?page=3", JSON, "{\"name\":\"x\",\"age\":8}")),
                  "x 8 0");
}

INPUT_TEST(all_wrong_fields_are_answered_in_the_form_of_fastapi)
{
        const struct answer *answer =
                post(site, "/json", JSON, "{\"age\":300,\"tag\":[1,\"x\"],\"caf\xC3\xA9 \\\"\":1}");

        CHECK_EQ(answer->status, 422);
        CHECK_HAS(answer->text, "Content-Type: application/json\r\n");
        CHECK_STR(
                body_of(answer),
                "{\"detail\":["
                "{\"type\":\"range\",\"loc\":[\"body\",\"age\"],\"msg\":\"300 is above the maximum "
                "150\"},"
                "{\"type\":\"type\",\"loc\":[\"body\",\"tag\",1],\"msg\":\"an integer is needed, "
                "not "
                "a string\"},"
                "{\"type\":\"extra_forbidden\",\"loc\":[\"body\",\"caf\xC3\xA9 \\\"\"],\"msg\":"
                "\"the field is not known\"},"
                "{\"type\":\"missing\",\"loc\":[\"body\",\"name\"],\"msg\":\"the field is "
                "missing\"}]}");
}

INPUT_TEST(wrong_fields_of_all_inputs_are_in_one_answer)
{
        const struct answer *answer = post(site, "/all/zero?page=0", JSON, "{\"name\":\"\"}");

        CHECK_EQ(answer->status, 422);
        CHECK_HAS(answer->text, "\"loc\":[\"path\",\"page\"]");
        CHECK_HAS(strstr(answer->text, "\"path\""), "\"loc\":[\"query\",\"page\"]");
        CHECK_HAS(strstr(answer->text, "\"query\""), "\"loc\":[\"body\",\"name\"]");
        /* The requests after it begin without errors. */
        CHECK_EQ(post(site, "/all/12?page=3", JSON, "{\"name\":\"x\"}")->status, 200);
}

INPUT_TEST(a_text_without_fields_is_a_bad_request)
{
        const struct answer *answer = post(site, "/json", JSON, "{\"name\":\n x}");

        CHECK_EQ(answer->status, 400);
        CHECK_HAS(answer->text, PROBLEM);
        CHECK_HAS(answer->text, "\"detail\":\"");
        answer = post(site, "/form", FORM, "name=%4");
        CHECK_EQ(answer->status, 400);
        CHECK_HAS(answer->text, PROBLEM);
        CHECK_EQ(post(site, "/json", JSON, "")->status, 400);
}

INPUT_TEST(only_bodies_of_the_content_type_are_read)
{
        static const char *const right[] = { JSON,
                                             "content-type: Application/JSON\r\n",
                                             "Content-Type: application/json; charset=utf-8\r\n",
                                             "Content-Type: application/json;charset=utf-8\r\n",
                                             "Content-Type: application/json \t; a\r\n",
                                             "Content-Type: application/vnd.api+json\r\n" };
        static const char *const wrong[] = { "",
                                             "Content-Type: \r\n",
                                             FORM,
                                             "Content-Type: text/plain\r\n",
                                             "Content-Type: application/jsonx\r\n",
                                             "Content-Type: application/json x\r\n",
                                             "Content-Type: application/json, text/plain\r\n",
                                             "Content-Type: application/json\xc2\xa0\r\n",
                                             "Content-Type: application/x; a=+json\r\n",
                                             "Content-Type: text/plain; application/json\r\n",
                                             "Content-Type: +json\r\n" };

        for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
                CHECK_EQ(post(site, "/json", right[i], "{\"name\":\"a\"}")->status, 200);
        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
                CHECK_EQ(post(site, "/json", wrong[i], "{\"name\":\"a\"}")->status, 415);
        CHECK_EQ(post(site, "/form", JSON, "name=a")->status, 415);
        CHECK_EQ(post(site, "/form", "", "name=a")->status, 415);
}

INPUT_TEST(an_answer_415_says_which_type_was_expected)
{
        const struct answer *answer = post(site, "/json", "Content-Type: text/plain\r\n", "{}");

        CHECK_EQ(answer->status, 415);
        CHECK_HAS(answer->text, PROBLEM);
        CHECK_HAS(answer->text, "\"detail\":\"the Content-Type must be application/json\"");
        CHECK_HAS(post(site, "/form", JSON, "a=b")->text, "application/x-www-form-urlencoded\"");
        CHECK_HAS(post(site, "/files", JSON, "{}")->text, "must be multipart/form-data\"");
        CHECK_HAS(post(site, "/files", "Content-Type: multipart/form-data\r\n", "")->text,
                  "\"status\":400,\"detail\":\"the Content-Type must have one boundary\"");
        CHECK_HAS_NOT(answer->text, "Accept-Encoding");
}

INPUT_TEST(a_body_with_a_content_coding_is_not_read_as_plain)
{
        static const char *const paths[] = { "/json", "/form", "/files" };
        static const char *const types[] = { JSON, FORM,
                                             "Content-Type: multipart/form-data; boundary=b\r\n" };
        static const char *const codings[] = {
                "Content-Encoding: gzip\r\n",
                "content-encoding: identity\r\ncontent-encoding: x\r\n",
                "Content-Encoding: identity, gzip\r\n",
        };
        char fields[200];

        for (size_t i = 0; i < 3; i++)
                for (size_t j = 0; j < 3; j++) {
                        const struct answer *answer;

                        snprintf(fields, sizeof(fields), "%s%s", types[i], codings[j]);
                        answer = post(site, paths[i], fields, "{\"name\":\"a\"}");
                        CHECK_EQ(answer->status, 415);
                        CHECK_HAS(answer->text, "\r\nAccept-Encoding: identity\r\n");
                        CHECK_HAS(answer->text, "must not have a Content-Encoding\"");
                }
        CHECK_EQ(post(site, "/json", JSON "Content-Encoding: Identity\r\n", "{\"name\":\"a\"}")
                         ->status,
                 200);
}

INPUT_TEST(mistakes_of_the_program_and_other_texts_show_nothing)
{
        const struct answer *answer =
                ask(site, HEAD("GET", "/bad?page=1", "Connection: close\r\n"));

        CHECK_EQ(answer->status, 500);
        CHECK_HAS_NOT(answer->text, "detail");
        answer = ask(site, HEAD("GET", "/other", "Connection: close\r\n"));
        CHECK_EQ(answer->status, 500);
        CHECK_HAS_NOT(answer->text, "secret");
        CHECK_HAS_NOT(answer->text, "detail");
        CHECK_EQ(ask(site, HEAD("GET", "/lightly?page=x", "Connection: close\r\n"))->status, 200);
}

/* "--b" is the boundary; a head and its data follow. */
#define FILES(data) "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n" data

INPUT_TEST(wrong_forms_with_files_are_answered_by_the_error_of_their_reader)
{
        static const char type[] = "Content-Type: multipart/form-data; boundary=b\r\n";

        CHECK_EQ(post(site, "/files", type, FILES("1234\r\n--b--\r\n"))->status, 200);
        CHECK_EQ(post(site, "/files", type, FILES("12345\r\n--b--\r\n"))->status, 413);
        CHECK_EQ(post(site, "/files", type, FILES("1234\r\n--b"))->status, 400);
        CHECK_EQ(post(site, "/files", type, "x")->status, 400);
        CHECK_EQ(post(site, "/files", "Content-Type: multipart/form-data\r\n", "")->status, 400);
        CHECK_EQ(post(site, "/files", JSON, "{}")->status, 415);
}

INPUT_TEST(wrong_answers_of_another_service_do_not_blame_the_client)
{
        static const int errors[] = { EDDY_E_JSON_SYNTAX,       EDDY_E_JSON_DEPTH,
                                      EDDY_E_URL_INVALID,       EDDY_E_FIELD_TYPE,
                                      EDDY_E_FIELD_MISSING,     EDDY_E_HTTP_MULTIPART,
                                      EDDY_E_HTTP_TRUNCATED,    EDDY_E_HTTP_TOO_LARGE,
                                      EDDY_E_HTTP_CONTENT_TYPE, EDDY_E_FIELD_RANGE };
        const struct answer *answer;
        char path[40];

        for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
                snprintf(path, sizeof(path), "/another?%d", errors[i]);
                CHECK_EQ(post(site, path, JSON, "{\"name\":\"a\"}")->status, 500);
                /* The request has a wrong field too, which is another error. */
                answer = post(site, path, JSON, "{\"name\":\"\"}");
                CHECK_EQ(answer->status, 500);
                CHECK_HAS_NOT(answer->text, "detail");
        }
}

/* A connection of two requests: the first has no content type. */
INPUT_TEST(an_error_of_a_request_does_not_blame_the_next_one)
{
        char text[400];

        snprintf(text, sizeof(text),
                 HEAD("POST", "/json", "Content-Length: 2\r\n") "{}" HEAD(
                         "POST", "/another?%d",
                         JSON "Connection: close\r\nContent-Length: 12\r\n") "{\"name\":\"a\"}",
                 EDDY_E_HTTP_CONTENT_TYPE);
        CHECK_HAS(ask(site, text)->text, "HTTP/1.1 415 ");
        CHECK_HAS(strstr(ask(site, text)->text, "415 "), "HTTP/1.1 500 ");
}

INPUT_TEST(inputs_of_a_description_are_read_before_the_handler_runs)
{
        const struct answer *answer;

        CHECK_STR(body_of(post(site, "/doc/12", JSON, "{\"name\":\"a\",\"tag\":[1,2]}")), "a 9 2");
        CHECK_STR(body_of(post(site, "/doc", FORM, "name=a+b&age=&tag=4")), "a b 0 1");
        CHECK_EQ(seen.handled, 2);
        answer = post(site, "/doc/x?page=0", JSON, "{\"age\":1}");
        CHECK_EQ(answer->status, 422);
        CHECK_HAS(answer->text, "\"loc\":[\"path\",\"page\"]");
        CHECK_HAS(answer->text, "\"loc\":[\"query\",\"page\"]");
        CHECK_HAS(answer->text, "\"loc\":[\"body\",\"name\"]");
        CHECK_EQ(post(site, "/doc/12", FORM, "name=a")->status, 415);
        CHECK_EQ(post(site, "/doc/12", JSON, "{")->status, 400);
        CHECK_EQ(seen.handled, 2);
}

INPUT_TEST(an_error_that_the_description_names_is_answered_as_it_says)
{
        const struct answer *answer = ask(site, HEAD("GET", "/errors?-2", "Connection: close\r\n"));

        CHECK_EQ(answer->status, 404);
        CHECK_HAS(answer->text, "X-Id: r7\r\n" PROBLEM);
        CHECK_STR(body_of(answer), "{\"title\":\"Not Found\",\"status\":404,\"detail\":\"there is "
                                   "no such item\"}");
        answer = ask(site, HEAD("GET", "/errors?-17", "Connection: close\r\n"));
        CHECK_STR(body_of(answer), "{\"title\":\"Conflict\",\"status\":409}");
        CHECK_EQ(ask(site, HEAD("GET", "/errors?-5", "Connection: close\r\n"))->status, 500);
        /* A result that is no error. */
        answer = ask(site, HEAD("GET", "/errors?0", "Connection: close\r\n"));
        CHECK_HAS_NOT(answer->text, "no such item");
        answer = ask(site, HEAD("GET", "/late?-2", "Connection: close\r\n"));
        CHECK_EQ(answer->status, 200);
        CHECK_STR(body_of(answer), "fine");
}

/* ---- on_error sees them ----------------------------------------------------- */

static int answer_own(eddy_http_exchange *exchange, int error, void *arg)
{
        (void) error;
        (void) arg;
        for (int i = 0; i < 3; i++) {
                const struct eddy_field_errors *errors =
                        eddy_http_exchange_errors(exchange, (enum eddy_http_input) i);

                seen.errors[i] = errors ? (int) errors->count : 0;
        }
        return eddy_http_exchange_respond(exchange, 400, NULL, 0, "own", 3);
}

static void prepare_own(struct site *site)
{
        prepare(site);
        site->opts.on_error = answer_own;
}

static void ask_own(struct site *site)
{
        CHECK_STR(body_of(post(site, "/all/zero", JSON, "{\"age\":300}")), "own");
        CHECK_EQ(seen.errors[EDDY_HTTP_PATH], 1);
        CHECK_EQ(seen.errors[EDDY_HTTP_QUERY], 1);
        CHECK_EQ(seen.errors[EDDY_HTTP_BODY], 2);
}

TEST(on_error_sees_all_wrong_fields)
{
        build();
        site_run_prepared(NULL, false, prepare_own, ask_own);
        eddy_http_router_free(seen.router);
}

/* ---- faults ----------------------------------------------------------------- */

static int send(eddy_http_client *client, const char *url, const char *type, const char *body)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_header header = { "Content-Type", type };
        struct eddy_http_request request = { .method = "POST",
                                             .url = url,
                                             .headers = &header,
                                             .headers_count = 1,
                                             .body = body,
                                             .body_bytes = strlen(body) };
        int err = eddy_http_client_send(client, &request, &response);

        return err < 0 ? err : eddy_http_response_status(response);
}

static int send_some(void *arg)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        int err = eddy_http_client_new(
                &(struct eddy_http_client_opts){ .handler = route, .handler_arg = NULL }, &client);

        (void) arg;
        if (err >= 0)
                err = send(client, "http://a/all/12?page=3", "application/json",
                           "{\"name\":\"a\"}");
        if (err == 200)
                err = send(client, "http://a/all/x", "application/json",
                           "{\"age\":999,\"tag\":[1,1],\"more\":2}");
        if (err == 422)
                err = send(client, "http://a/doc/12", "application/json", "{\"name\":\"a\"}");
        if (err == 200)
                err = send(client, "http://a/form", "application/x-www-form-urlencoded",
                           "name=a&tag=1&tag=x");
        return err < 0 ? err : err == 422 || err == 500 ? 0 : -EPROTO;
}

TEST(a_cancel_or_a_shortage_of_memory_at_any_point_of_reading_leaves_nothing)
{
        static const int kinds[] = { EDDY_TEST_SEEDS, EDDY_TEST_CANCEL, EDDY_TEST_ALLOC,
                                     EDDY_TEST_ALLOC_FOREVER };

        build();
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                struct eddy_test_sweep sweep;

                CHECK_EQ(eddy_test_sweep(kinds[i], send_some, NULL, NULL, &sweep), 0);
                CHECK(sweep.tried > 0);
        }
        eddy_http_router_free(seen.router);
}
