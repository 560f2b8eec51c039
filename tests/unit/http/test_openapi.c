/*
 * test_openapi.c - documents of OpenAPI from routers, and the page that shows them.
 * tests/e2e/test_openapi.py has a validator of documents.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/json.h"
#include "eddy/openapi.h"
#include "middleware_test.h"

struct user {
        char *name;
        uint32_t id;
};
static const struct eddy_field user_list[] = {
        EDDY_FIELD(struct user, name, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(1, 20)),
        EDDY_FIELD(struct user, id, EDDY_FIELD_READ_ONLY),
};
static const struct eddy_fields user_fields = EDDY_FIELDS(struct user, user_list, 0);

struct key {
        uint32_t id;
};
static const struct eddy_field key_list[] = { EDDY_FIELD(struct key, id, EDDY_FIELD_REQUIRED,
                                                         EDDY_FIELD_DESCRIPTION("of a user")) };
static const struct eddy_fields key_fields = EDDY_FIELDS(struct key, key_list, 0);

struct page {
        uint32_t limit, seen;
};
static const struct eddy_field page_list[] = {
        EDDY_FIELD(struct page, limit, EDDY_FIELD_MIN(1), EDDY_FIELD_MAX(100)),
        EDDY_FIELD(struct page, seen, EDDY_FIELD_READ_ONLY),
};
static const struct eddy_fields page_fields = EDDY_FIELDS(struct page, page_list, 0);

static int ok(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok", 2);
}

static eddy_http_router *make_router(void)
{
        eddy_http_router *router;

        CHECK_EQ(eddy_http_router_new(&router), 0);
        return router;
}

static void add(eddy_http_router *router, const char *pattern,
                const struct eddy_http_route_doc *doc)
{
        CHECK_EQ(eddy_http_router_add(router, pattern, ok, NULL, doc), 0);
}

/* The document, which the caller frees. */
static char *write_document(const eddy_http_router *router, const struct eddy_openapi_opts *opts)
{
        struct eddy_json_error error;
        char *text;
        size_t bytes;

        CHECK_EQ(eddy_openapi_write(router, opts, &text, &bytes, &error), 0);
        CHECK_EQ(strlen(text), bytes);
        CHECK_EQ(eddy_json_check(text, bytes, NULL, &error), 0);
        return text;
}

#define HEAD_OF(title)                                                                             \
        "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"" title "\",\"version\":\"1\"},"
#define OK "\"responses\":{\"200\":{\"description\":\"OK\"}}"
#define CONTENT(type, name)                                                                        \
        "\"content\":{\"" type "\":{\"schema\":{\"$ref\":\"#/components/schemas/" name "\"}}}"
#define JSON_OF(name) CONTENT("application/json", name)
#define WRONG         "\"422\":{\"description\":\"Validation Error\"," JSON_OF("HTTPValidationError") "}"
#define ID_SCHEMA                                                                                  \
        "{\"type\":\"integer\",\"format\":\"uint32\",\"minimum\":0,\"maximum\":4294967295,"        \
        "\"description\":\"of a user\"}"
#define ID_PARAMETER                                                                               \
        "{\"name\":\"id\",\"in\":\"path\",\"required\":true,\"description\":\"of a user\","        \
        "\"schema\":" ID_SCHEMA "}"

TEST(router_without_routes_has_a_document_without_paths)
{
        eddy_http_router *router = make_router();
        char *text = write_document(router, NULL);

        CHECK_STR(text, HEAD_OF("API") "\"paths\":{}}");
        eddy_free(text);
        eddy_http_router_free(router);
}

TEST(document_has_the_inputs_and_answers_of_a_route)
{
        static const struct eddy_http_route_answer answers[] = {
                { .status = 404 },
                { .status = 299, .fields = &user_fields },
                { .status = 409, .description = "The name is taken" }
        };
        static const struct eddy_http_route_doc put = {
                .params = &key_fields,
                .query = &page_fields,
                .body = &user_fields,
                .summary = "Change",
                .description = "A *user*.",
                .tags = " ,users , old ones,",
                .answer = &user_fields,
                .status = 201,
                .answers = answers,
                .answers_count = 3,
                .operation = "changeUser",
                .flags = EDDY_HTTP_ROUTE_DEPRECATED,
        };
        eddy_http_router *router = make_router();
        char *text;

        add(router, "PUT /users/{id}", &put);
        text = write_document(router, NULL);
        CHECK_HAS(text,
                  HEAD_OF("API") "\"paths\":{\"/users/{id}\":{\"put\":{"
                                 "\"tags\":[\"users\",\"old ones\"],\"summary\":\"Change\","
                                 "\"description\":\"A *user*.\",\"operationId\":\"changeUser\","
                                 "\"parameters\":[" ID_PARAMETER ",{\"name\":\"limit\",\"in\":"
                                 "\"query\",\"required\":false,\"schema\":{\"type\":\"integer\","
                                 "\"format\":\"uint32\",\"minimum\":1,\"maximum\":100}}],"
                                 "\"requestBody\":{\"required\":true," JSON_OF(
                                         "user") "},"
                                                 "\"responses\":{"
                                                 "\"201\":{\"description\":\"Created\"," JSON_OF(
                                                         "user") "},"
                                                                 "\"404\":{\"description\":\"Not "
                                                                 "Found\"},"
                                                                 "\"299\":{\"description\":"
                                                                 "\"Response\"," JSON_OF(
                                                                         "user") "},"
                                                                                 "\"409\":{"
                                                                                 "\"description\":"
                                                                                 "\"The name is "
                                                                                 "taken\"}," WRONG
                                                                                 "},"
                                                                                 "\"deprecated\":"
                                                                                 "true}}},"
                                                                                 "\"components\":{"
                                                                                 "\"schemas\":{"
                                                                                 "\"HTTPValidationE"
                                                                                 "rror\":{");
        CHECK_HAS(text, "\"user\":{\"type\":\"object\",\"properties\":{\"name\":{");
        eddy_free(text);
        eddy_http_router_free(router);
}

TEST(form_is_a_body_of_its_own_type_and_an_own_422_replaces_the_usual_one)
{
        static const struct eddy_http_route_answer own = { .status = 422, .fields = &key_fields };
        static const struct eddy_http_route_doc doc = { .form = &key_fields,
                                                        .answers = &own,
                                                        .answers_count = 1 };
        eddy_http_router *router = make_router();
        char *text;

        add(router, "POST /", &doc);
        text = write_document(router, NULL);
        CHECK_HAS(text, "\"/"
                        "\":{\"post\":{\"operationId\":\"post\",\"requestBody\":{\"required\":"
                        "true," CONTENT(
                                "application/x-www-form-urlencoded",
                                "key") "},\"responses\":{"
                                       "\"200\":{\"description\":\"OK\"},\"422\":{\"description\":"
                                       "\"Unprocessable Content\"," JSON_OF("key") "}}}}");
        eddy_free(text);
        eddy_http_router_free(router);
}

TEST(paths_that_differ_in_names_only_are_one_path)
{
        static const struct eddy_http_route_doc by_id = { .params = &key_fields };
        eddy_http_router *router = make_router();
        char *text;

        add(router, "GET /a/{x}/b/{y...}", NULL);
        add(router, "GET /a/{x}/b/{y}", NULL);
        add(router, "PUT /a/{id}/b/{z}", &by_id);
        add(router, "GET /a/{x}/c", NULL);
        text = write_document(router, NULL);
        CHECK_HAS(text,
                  "\"paths\":{\"/a/{x}/b/{y}\":{\"get\":{\"operationId\":\"get_a_by_x_b_by_y\","
                  "\"parameters\":[{\"name\":\"x\",\"in\":\"path\",\"required\":true,"
                  "\"schema\":{\"type\":\"string\"}},{\"name\":\"y\",\"in\":\"path\",\"required\":"
                  "true,\"schema\":{\"type\":\"string\"}}]," OK "},\"put\":{"
                  "\"operationId\":\"put_a_by_id_b_by_z\",\"parameters\":[{\"name\":\"x\","
                  "\"in\":\"path\",\"required\":true,\"description\":\"of a "
                  "user\",\"schema\":" ID_SCHEMA
                  "},{\"name\":\"y\",\"in\":\"path\",\"required\":true,\"schema\":"
                  "{\"type\":\"string\"}}],\"responses\":{\"200\":{\"description\":\"OK\"}," WRONG
                  "}}},\"/a/{x}/c\":{\"get\":{");
        eddy_free(text);
        eddy_http_router_free(router);
}

TEST(route_for_any_method_has_those_that_its_path_has_not)
{
        static const struct eddy_http_route_doc doc = { .body = &user_fields };
        eddy_http_router *router = make_router();
        char *text, *at;

        add(router, "/any", &doc);
        add(router, "POST /any", NULL);
        add(router, "TRACE /any", NULL);
        add(router, "get /any", NULL);
        add(router, "PROPFIND /dav", NULL);
        add(router, "GE /dav", NULL);
        add(router, "GETS /dav", NULL);
        text = write_document(router, NULL);
        CHECK_HAS(text, "{\"post\":{\"operationId\":\"post_any\"," OK "},\"trace\":{");
        at = strstr(text, "\"get\":{\"operationId\":\"get_any\",\"responses\":{");
        CHECK(at);
        CHECK_HAS(at, "\"put\":{\"operationId\":\"put_any\",\"requestBody\":{");
        CHECK_HAS(at, "\"delete\":{\"operationId\":\"delete_any\",\"responses\":{");
        CHECK_HAS(at, "\"patch\":{\"operationId\":\"patch_any\",\"requestBody\":{");
        CHECK_HAS_NOT(at, "\"head\"");
        CHECK_HAS_NOT(at, "\"post\"");
        CHECK_HAS_NOT(text, "/dav");
        eddy_free(text);
        eddy_http_router_free(router);
}

TEST(no_two_operations_have_the_same_identifier)
{
        static const struct eddy_http_route_doc named = { .operation = "get_a_b" };
        eddy_http_router *router = make_router();
        char path[1000] = "GET /", *text;

        memset(path + 5, 'p', sizeof(path) - 6);
        add(router, "GET /a/b", NULL);
        add(router, "GET /a-b", NULL);
        add(router, "GET /c", &named);
        add(router, path, NULL);
        path[998] = 'q';
        add(router, path, NULL);
        text = write_document(router, NULL);
        CHECK_HAS(text, "\"/a/b\":{\"get\":{\"operationId\":\"get_a_b\",");
        CHECK_HAS(text, "\"/a-b\":{\"get\":{\"operationId\":\"get_a_b_2\",");
        CHECK_HAS(text, "\"/c\":{\"get\":{\"operationId\":\"get_a_b_3\",");
        CHECK_HAS(text, "pppp_2\",");
        eddy_free(text);
        eddy_http_router_free(router);
}

TEST(document_has_the_routes_of_mounted_routers_and_no_hidden_ones)
{
        static const struct eddy_http_route_doc hidden = { .flags = EDDY_HTTP_ROUTE_HIDDEN,
                                                           .body = &user_fields };
        static const struct eddy_openapi_opts opts = { .title = "Teams", .server = "/v1" };
        eddy_http_router *router = make_router(), *sub = make_router();
        char *text, *below;

        add(sub, "GET /users", NULL);
        add(sub, "POST /users", &hidden);
        add(router, "GET /ping", NULL);
        CHECK_EQ(eddy_http_router_mount(router, "/teams/{team}", sub), 0);
        text = write_document(router, &opts);
        CHECK_STR(
                text,
                HEAD_OF("Teams") "\"servers\":[{\"url\":\"/v1\"}],\"paths\":{"
                                 "\"/ping\":{\"get\":{\"operationId\":\"get_ping\"," OK "}},"
                                 "\"/teams/{team}/users\":{\"get\":{\"operationId\":"
                                 "\"get_teams_by_team_users\",\"parameters\":[{\"name\":\"team\","
                                 "\"in\":"
                                 "\"path\",\"required\":true,\"schema\":{\"type\":\"string\"}}]," OK
                                 "}}}}");
        below = write_document(sub, &opts);
        CHECK_STR(below, text);
        eddy_free(below);
        eddy_free(text);
        eddy_http_router_free(router);
}

TEST(hostile_texts_are_escaped)
{
        static const struct eddy_http_route_doc doc = {
                .summary = "\"},{\"x\":\"</script>\n\x01",
                .description = "\\\xff\xc0",
                .tags = "\",\"",
                .operation = "a\"b\\",
        };
        static const struct eddy_openapi_opts opts = {
                .title = "\"\\", .version = "\t", .description = "\"", .server = "\""
        };
        eddy_http_router *router = make_router();
        char *text;

        add(router, "GET /\"\\/%7B%22%7D/{a-b_c}", &doc);
        text = write_document(router, &opts);
        CHECK_HAS(text, "\"/\\\"\\\\/%7B%22%7D/{a-b_c}\":{\"get\":{\"tags\":[\"\\\"\",\"\\\"\"],");
        CHECK_HAS(text, "\"summary\":\"\\\"},{\\\"x\\\":\\\"</script>\\n\\u0001\"");
        CHECK_HAS(text, "\"operationId\":\"a\\\"b\\\\\"");
        eddy_free(text);
        eddy_http_router_free(router);
}

/* ---- mistakes -------------------------------------------------------------- */

TEST(tables_of_the_program_never_take_the_names_of_the_422)
{
        static const struct eddy_fields own = {
                key_list, 1, sizeof(struct key), 0, "struct ValidationError", { 0, 0 }
        };
        static const struct eddy_http_route_doc doc = { .body = &own };
        eddy_http_router *router = make_router();
        char *text;

        add(router, "POST /", &doc);
        text = write_document(router, NULL);
        CHECK_HAS(text, JSON_OF("ValidationError_2"));
        CHECK_HAS(text, "\"ValidationError\":{\"properties\":{\"loc\":");
        CHECK_HAS(text, "\"ValidationError_2\":{\"type\":\"object\",\"properties\":{\"id\":");
        eddy_free(text);
        eddy_http_router_free(router);
}

TEST(answers_with_a_wrong_status_are_mistakes_of_the_route)
{
        static const struct eddy_http_route_answer same[] = { { .status = 404 },
                                                              { .status = 404 } };
        static const struct eddy_http_route_answer usual = { .status = 200 }, none = { 0 };
        static const struct eddy_field bad_list[] = { { .name = "x", .kind = 99, .bytes = 4 } };
        static const struct eddy_fields bad = { bad_list, 1, 4, 0, "bad", { 0, 0 } };
        static const struct eddy_http_route_answer unusable = { .status = 404, .fields = &bad };
        static const struct eddy_http_route_answer low = { .status = 399, .error = -ENOENT };
        static const struct eddy_http_route_answer above = { .status = 404, .error = ENOENT };
        static const struct eddy_http_route_answer own = { .status = 404,
                                                           .error = -ENOENT,
                                                           .fields = &user_fields };
        const struct eddy_http_route_doc docs[] = {
                { .answers = &low, .answers_count = 1 },
                { .answers = &above, .answers_count = 1 },
                { .answers = &own, .answers_count = 1 },
                { .status = 99 },
                { .status = 600 },
                { .status = -1 },
                { .answers = same, .answers_count = 2 },
                { .answers = &usual, .answers_count = 1 },
                { .answers = &none, .answers_count = 1 },
                { .answers = &unusable, .answers_count = 1 },
                { .answer = &bad },
        };
        struct eddy_json_error error;
        char *text;
        size_t bytes;

        for (size_t i = 0; i < sizeof(docs) / sizeof(docs[0]); i++) {
                eddy_http_router *router = make_router();

                CHECK_ERR(eddy_http_router_add(router, "GET /a", ok, NULL, &docs[i]),
                          EDDY_E_HTTP_ROUTE);
                CHECK_ERR(eddy_openapi_write(router, NULL, &text, &bytes, &error),
                          EDDY_E_HTTP_ROUTE);
                CHECK_HAS(error.text, "the route \"GET /a\": ");
                eddy_http_router_free(router);
        }
}

TEST(unknown_flags_are_refused)
{
        static const struct eddy_openapi_opts opts = { .flags = 1U << 31 };
        eddy_http_router *router = make_router();
        struct eddy_json_error error;
        char *text;
        size_t bytes;

        CHECK_ERR(eddy_openapi_write(router, &opts, &text, &bytes, &error), -EINVAL);
        CHECK_ERR(eddy_openapi_serve(router, &opts), -EINVAL);
        CHECK_ERR(eddy_http_router_check(router, NULL), -EINVAL);
        eddy_http_router_free(router);
}

TEST(routes_of_the_document_that_are_taken_are_a_mistake_of_the_router)
{
        static const char *const taken[] = { "GET /openapi.json", "GET /docs" };

        for (size_t i = 0; i < 2; i++) {
                eddy_http_router *router = make_router();

                add(router, taken[i], NULL);
                CHECK_ERR(eddy_openapi_serve(router, NULL), EDDY_E_HTTP_ROUTE);
                CHECK_ERR(eddy_http_router_check(router, NULL), EDDY_E_HTTP_ROUTE);
                eddy_http_router_free(router);
        }
}

/* ---- serving --------------------------------------------------------------- */

static void build(void)
{
        static const struct eddy_openapi_opts opts = { .title = "<b>Users</b>" };

        CHECK_EQ(eddy_openapi_serve(guarded.router, &opts), 0);
}

GUARDED_TEST(router_serves_its_document_with_the_routes_that_were_added_later, build)
{
        const struct eddy_openapi_opts opts = { .title = "<b>Users</b>" };
        char *text = write_document(guarded.router, &opts);
        const struct answer *answer;

        for (int i = 0; i < 2; i++) {
                answer = ask(site, GET("/openapi.json"));
                CHECK_EQ(answer->status, 200);
                CHECK_HAS(answer->text, "Content-Type: application/json\r\n");
                CHECK_STR(body_of(answer), text);
        }
        CHECK_HAS(text, "\"/users/{id}\":{\"get\":");
        CHECK_HAS_NOT(text, "/openapi.json");
        CHECK_HAS_NOT(text, "/docs");
        eddy_free(text);
        CHECK_EQ(ask(site, SAY("HEAD", "/openapi.json", ""))->status, 200);
        CHECK_EQ(ask(site, SAY("POST", "/openapi.json", "Content-Length: 0\r\n"))->status, 405);
}

GUARDED_TEST(page_has_no_text_of_the_program_and_forbids_other_sites, build)
{
        const struct answer *answer = ask(site, GET("/docs"));

        CHECK_EQ(answer->status, 200);
        CHECK_HAS(answer->text, "Content-Type: text/html; charset=utf-8\r\n");
        CHECK_HAS(answer->text,
                  "Content-Security-Policy: default-src 'none'; connect-src 'self'; ");
        CHECK_HAS(answer->text, "X-Content-Type-Options: nosniff\r\n");
        CHECK_HAS_NOT(answer->text, "Users");
        CHECK_HAS_NOT(answer->text, "innerHTML");
        CHECK_HAS_NOT(answer->text, "http:");
        CHECK_HAS_NOT(answer->text, "https:");
        CHECK_HAS_NOT(answer->text, "unsafe");
}

static void build_document_only(void)
{
        static const struct eddy_openapi_opts opts = { .flags = EDDY_OPENAPI_NO_PAGE };
        eddy_http_router *sub = make_router();

        CHECK_EQ(eddy_openapi_serve(sub, &opts), 0);
        CHECK_EQ(eddy_http_router_mount(guarded.router, "/api", sub), 0);
}

GUARDED_TEST(mounted_router_serves_the_document_of_all_routes, build_document_only)
{
        CHECK_HAS(body_of(ask(site, GET("/api/openapi.json"))), "\"/users/{id}\":{\"get\":");
        CHECK_EQ(ask(site, GET("/api/docs"))->status, 404);
        CHECK_EQ(ask(site, GET("/openapi.json"))->status, 404);
}

static int build_and_ask(void *arg)
{
        static const struct eddy_http_route_doc doc = { .params = &key_fields,
                                                        .body = &user_fields };
        EDDY_AUTO(eddy_http_router) eddy_http_router *router = NULL;
        int err = eddy_http_router_new(&router);

        (void) arg;
        if (err < 0)
                return err;
        (void) eddy_openapi_serve(router, NULL);
        (void) eddy_http_router_add(router, "PUT /users/{id}", ok, NULL, &doc);
        err = guarded_ask(router, "http://a/docs", NULL, 0);
        if (err >= 0)
                err = guarded_ask(router, "http://a/openapi.json", NULL, 0);
        return err < 0 ? err : err == 200 || err == 500 ? 0 : -EPROTO;
}

TEST(a_cancel_or_a_shortage_of_memory_at_any_point_leaves_nothing)
{
        guarded_sweep(build_and_ask);
}
