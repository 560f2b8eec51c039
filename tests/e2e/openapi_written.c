/*
 * openapi_written.c - for test_openapi.py: a document of eddy/openapi.h with all kinds of routes and fields.
 * With "page": the Content-Security-Policy of its page, a line, and the page.  With "serve": prints the
 * address at which it serves the routes, the document and the page.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/eddy.h"
#include "http/openapi.h"

static const char *const color_names[] = { "red", "green", NULL };
static const char *const shape_names[] = { "circle", "square", NULL };

struct circle {
        double radius;
};
static const struct eddy_field circle_list[] = { EDDY_FIELD(struct circle, radius,
                                                            EDDY_FIELD_MIN(0)) };
static const struct eddy_fields circle_fields = EDDY_FIELDS(struct circle, circle_list, 0);

struct square {
        float side;
};
static const struct eddy_field square_list[] = { EDDY_FIELD(struct square, side,
                                                            EDDY_FIELD_REQUIRED) };
static const struct eddy_fields square_fields = EDDY_FIELDS(struct square, square_list, 0);

struct shape {
        int kind;
        struct circle circle;
        struct square square;
};
static const struct eddy_field shape_list[] = {
        EDDY_FIELD_TAG(struct shape, kind, shape_names),
        EDDY_FIELD_STRUCT(struct shape, circle, &circle_fields),
        EDDY_FIELD_STRUCT(struct shape, square, &square_fields),
};
static const struct eddy_fields shape_fields = EDDY_FIELDS(struct shape, shape_list, 0);

struct thing {
        char *name, *mail, *secret;
        uint64_t id;
        int color;
        bool old;
        struct shape *shapes;
        size_t shapes_count;
        char **tags;
        size_t tags_count;
};
static const struct eddy_field thing_list[] = {
        EDDY_FIELD(struct thing, name, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(1, 50),
                   EDDY_FIELD_DESCRIPTION("Its \"name\""), EDDY_FIELD_EXAMPLE("\"chair\"")),
        EDDY_FIELD(struct thing, mail, EDDY_FIELD_FORMAT("email")),
        EDDY_FIELD(struct thing, secret, EDDY_FIELD_WRITE_ONLY),
        EDDY_FIELD(struct thing, id, EDDY_FIELD_READ_ONLY, EDDY_FIELD_REQUIRED),
        EDDY_FIELD_ENUM(struct thing, color, color_names, EDDY_FIELD_DEFAULT("\"red\"")),
        EDDY_FIELD(struct thing, old),
        EDDY_FIELD_LIST_OF(struct thing, shapes, shapes_count, &shape_fields,
                           EDDY_FIELD_LENGTH(0, 9)),
        EDDY_FIELD_LIST(struct thing, tags, tags_count, EDDY_FIELD_UNIQUE),
};
static const struct eddy_fields thing_fields =
        EDDY_FIELDS(struct thing, thing_list, EDDY_FIELDS_STRICT);

struct search {
        int64_t id;
        uint16_t limit;
        int color;
        char **tags;
        size_t tags_count;
};
static const struct eddy_field search_list[] = {
        EDDY_FIELD(struct search, limit, EDDY_FIELD_MIN(1), EDDY_FIELD_MAX(100),
                   EDDY_FIELD_DEFAULT("10")),
        EDDY_FIELD_ENUM(struct search, color, color_names, EDDY_FIELD_REQUIRED),
        EDDY_FIELD_LIST(struct search, tags, tags_count, EDDY_FIELD_AS("tag")),
};
static const struct eddy_fields search_fields = EDDY_FIELDS(struct search, search_list, 0);

static const struct eddy_field id_list[] = { EDDY_FIELD(struct search, id, EDDY_FIELD_MIN(1)) };
static const struct eddy_fields id_fields = EDDY_FIELDS(struct search, id_list, 0);

static const struct eddy_http_route_answer answers[] = {
        { .status = 404, .description = "It does not exist" },
        { .status = 409, .fields = &thing_fields },
};
static const struct eddy_http_route_doc list_doc = {
        .summary = "List things", .tags = "things", .query = &search_fields, .answer = &thing_fields
};
static const struct eddy_http_route_doc make_doc = { .summary = "Make a thing",
                                                     .description = "A **new** thing: \"<b>\".",
                                                     .tags = "things, new",
                                                     .body = &thing_fields,
                                                     .answer = &thing_fields,
                                                     .status = 201,
                                                     .answers = answers,
                                                     .answers_count = 2 };
static const struct eddy_http_route_doc change_doc = { .operation = "changeThing",
                                                       .params = &id_fields,
                                                       .form = &search_fields,
                                                       .status = 204,
                                                       .flags = EDDY_HTTP_ROUTE_DEPRECATED };

static int handle(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_exchange_respond_text(exchange, 200, "ok");
}

static void add_routes(eddy_http_router *router, eddy_http_router *sub)
{
        eddy_http_router_add(router, "GET /", handle, NULL, NULL);
        eddy_http_router_add(router, "/any", handle, NULL, &make_doc);
        eddy_http_router_add(router, "POST /any", handle, NULL, NULL);
        eddy_http_router_add(router, "PROPFIND /dav", handle, NULL, NULL);
        eddy_http_router_add(router, "GET /files/{path...}", handle, NULL, NULL);
        eddy_http_router_add(router, "PUT /files/{name}", handle, NULL, NULL);
        eddy_http_router_add(router, "GET /%7Bbraces%7D/\xc3\xa4/{x}", handle, NULL, NULL);
        eddy_http_router_add(sub, "GET /things", handle, NULL, &list_doc);
        eddy_http_router_add(sub, "POST /things", handle, NULL, &make_doc);
        eddy_http_router_add(sub, "PUT /things/{id}", handle, NULL, &change_doc);
        eddy_http_router_add(sub, "DELETE /things/{thing}", handle, NULL, NULL);
        eddy_http_router_mount(router, "/teams/{team}", sub);
        eddy_openapi_serve(router, NULL);
}

static int serve(void *router)
{
        EDDY_AUTO(eddy_listener) eddy_listener *listener = NULL;
        int err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listener);

        if (err < 0)
                return err;
        printf("http://127.0.0.1:%u\n", eddy_listener_port(listener));
        fflush(stdout);
        return eddy_http_serve(listener, NULL, eddy_http_router_handle, router);
}

int main(int argc, char **argv)
{
        struct eddy_openapi_opts opts = { .title = "Things", .version = "2.0", .server = "/v1" };
        struct eddy_json_error error;
        eddy_http_router *router, *sub;
        char *text;
        size_t bytes;

        if (argc > 1 && strcmp(argv[1], "page") == 0)
                return printf("%s\n%s", ed_openapi_policy, ed_openapi_page) < 0;
        if (eddy_http_router_new(&router) < 0 || eddy_http_router_new(&sub) < 0)
                return 1;
        add_routes(router, sub);
        if (argc > 1 && strcmp(argv[1], "serve") == 0)
                return eddy_run(serve, router, NULL) < 0;
        if (eddy_openapi_write(router, &opts, &text, &bytes, &error) < 0) {
                fprintf(stderr, "openapi_written: %s\n", error.text);
                return 1;
        }
        puts(text);
        eddy_free(text);
        eddy_http_router_free(router);
        return 0;
}
