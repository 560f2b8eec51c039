/*
 * twin_server.c - routes whose inputs are tables of all kinds, for test_fastapi.py and
 * test_openapi_client.py.
 *
 *     twin_server
 *
 * The first line of output has the URL.  It runs until a signal.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "eddy/eddy.h"

#include "twin_tables.h"

/* Answers with the struct that was read. */
static int echo_body(eddy_http_exchange *exchange, void *fields)
{
        return eddy_http_exchange_respond_json(exchange, 200, fields,
                                               eddy_http_exchange_input(exchange, EDDY_HTTP_BODY));
}

static int echo_query(eddy_http_exchange *exchange, void *fields)
{
        return eddy_http_exchange_respond_json(exchange, 200, fields,
                                               eddy_http_exchange_input(exchange, EDDY_HTTP_QUERY));
}

static int echo_params(eddy_http_exchange *exchange, void *fields)
{
        return eddy_http_exchange_respond_json(exchange, 200, fields,
                                               eddy_http_exchange_input(exchange, EDDY_HTTP_PATH));
}

static int make_account(eddy_http_exchange *exchange, void *arg)
{
        struct account account =
                *(const struct account *) eddy_http_exchange_input(exchange, EDDY_HTTP_BODY);

        (void) arg;
        account.id = 7;
        if (strcmp(account.name, "taken") == 0)
                return eddy_http_exchange_respond_json(exchange, 409, &account_fields, &account);
        return eddy_http_exchange_respond_json(exchange, 201, &account_fields, &account);
}

static int set_member(eddy_http_exchange *exchange, void *arg)
{
        const struct place *place = eddy_http_exchange_input(exchange, EDDY_HTTP_PATH);
        struct account account =
                *(const struct account *) eddy_http_exchange_input(exchange, EDDY_HTTP_BODY);

        (void) arg;
        account.id = (uint32_t) place->id;
        return eddy_http_exchange_respond_json(exchange, 200, &account_fields, &account);
}

static int remove_item(eddy_http_exchange *exchange, void *arg)
{
        const struct place *place = eddy_http_exchange_input(exchange, EDDY_HTTP_PATH);

        (void) arg;
        if (place->id == 404)
                return eddy_http_exchange_fail(exchange, 404, "there is no item %d", place->id);
        return eddy_http_exchange_respond(exchange, 204, NULL, 0, NULL, 0);
}

static int show_file(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_exchange_respond_text(exchange, 200,
                                               eddy_http_exchange_param(exchange, "path"));
}

static const struct eddy_http_route_answer taken[] = {
        { .status = 409, .description = "The name is taken", .fields = &account_fields },
};
static const struct eddy_http_route_answer missing[] = {
        { .status = 404, .description = "There is no such item" },
};
static const struct eddy_http_route_doc account_doc = { .summary = "Make an account",
                                                        .description = "A **new** account.",
                                                        .tags = "accounts, new",
                                                        .operation = "make_account",
                                                        .body = &account_fields,
                                                        .answer = &account_fields,
                                                        .status = 201,
                                                        .answers = taken,
                                                        .answers_count = 1 };
static const struct eddy_http_route_doc order_doc = { .body = &order_fields,
                                                      .answer = &order_fields };
static const struct eddy_http_route_doc drawing_doc = { .body = &drawing_fields,
                                                        .answer = &drawing_fields };
static const struct eddy_http_route_doc contact_doc = { .body = &contact_fields,
                                                        .answer = &contact_fields };
static const struct eddy_http_route_doc search_doc = { .tags = "search",
                                                       .query = &search_fields,
                                                       .query_defaults = &search_defaults,
                                                       .answer = &search_fields };
static const struct eddy_http_route_doc page_doc = { .query = &page_fields,
                                                     .answer = &page_fields };
static const struct eddy_http_route_doc item_doc = { .params = &item_fields,
                                                     .answer = &item_fields,
                                                     .flags = EDDY_HTTP_ROUTE_DEPRECATED };
static const struct eddy_http_route_doc remove_doc = {
        .params = &item_fields, .status = 204, .answers = missing, .answers_count = 1
};
static const struct eddy_http_route_doc member_doc = { .params = &member_fields,
                                                       .query = &page_fields,
                                                       .body = &account_fields,
                                                       .answer = &account_fields };
static const struct eddy_http_route_doc signup_doc = { .form = &signup_fields,
                                                       .answer = &signup_fields };

static void add_routes(eddy_http_router *router)
{
        eddy_http_router_add(router, "POST /accounts", make_account, NULL, &account_doc);
        eddy_http_router_add(router, "POST /orders", echo_body, (void *) &order_fields, &order_doc);
        eddy_http_router_add(router, "POST /drawings", echo_body, (void *) &drawing_fields,
                             &drawing_doc);
        eddy_http_router_add(router, "POST /contacts", echo_body, (void *) &contact_fields,
                             &contact_doc);
        eddy_http_router_add(router, "GET /search", echo_query, (void *) &search_fields,
                             &search_doc);
        eddy_http_router_add(router, "GET /pages", echo_query, (void *) &page_fields, &page_doc);
        eddy_http_router_add(router, "GET /items/{id}/{color}", echo_params, (void *) &item_fields,
                             &item_doc);
        eddy_http_router_add(router, "DELETE /items/{id}/{color}", remove_item, NULL, &remove_doc);
        eddy_http_router_add(router, "PUT /teams/{team}/members/{id}", set_member, NULL,
                             &member_doc);
        eddy_http_router_add(router, "POST /signups", echo_body, (void *) &signup_fields,
                             &signup_doc);
        eddy_http_router_add(router, "GET /files/{path...}", show_file, NULL, NULL);
        eddy_openapi_serve(router, &(struct eddy_openapi_opts){ .title = "Twin", .version = "1" });
}

static int serve(void *router)
{
        eddy_listener *listener;
        int err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listener);

        if (err < 0)
                return err;
        printf("listening on http://127.0.0.1:%d\n", eddy_listener_port(listener));
        fflush(stdout);
        err = eddy_http_serve(listener, NULL, eddy_http_router_handle, router);
        eddy_listener_close(listener);
        return err;
}

int main(void)
{
        eddy_http_router *router;
        const char *text;
        int err;

        if (eddy_http_router_new(&router) < 0)
                return 1;
        add_routes(router);
        err = eddy_http_router_check(router, &text);
        if (err < 0)
                fprintf(stderr, "twin_server: %s\n", text);
        else
                err = eddy_run(serve, router, NULL);
        eddy_http_router_free(router);
        return err < 0 && err != -ECANCELED;
}
