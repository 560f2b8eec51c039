/*
 * http/openapi.c - a document of OpenAPI 3.1 from the routes of a router.
 */
#include "http/openapi.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fields.h"
#include "eddy/error.h"
#include "eddy/schema.h"
#include "http/route_doc.h"
#include "http/router.h"
#include "wire/http1.h"
#include "wire/json.h"
#include "wire/schema.h"

enum {
        ID_BYTES = 240,    /* of an operationId with its NUL; a longer one is cut */
        SUFFIX_BYTES = 12, /* of "_4294967295" */
        TAG_BYTES = 128    /* with its NUL; a longer one is cut */
};

static const char *const methods[] = { "get",     "put",  "post",  "delete",
                                       "options", "head", "patch", "trace" };

enum { GET = 1 << 0, PUT = 1 << 1, POST = 1 << 2, DELETE = 1 << 3, PATCH = 1 << 6 };

struct writing {
        const struct ed_route_tree *tree;
        struct ed_schemas schemas;
        struct ed_json_out out;
        struct ed_buf ids; /* the operationIds so far, each with a NUL */
};

/* ---- routes -------------------------------------------------------------------------------- */

static const struct eddy_http_route_doc *doc_of(const struct ed_route *base)
{
        static const struct eddy_http_route_doc none;
        const struct ed_http_route *route = ed_container_of(base, struct ed_http_route, base);

        return route->doc ? route->doc : &none;
}

static bool has_inputs(const struct eddy_http_route_doc *doc)
{
        return doc->params || doc->query || doc->body || doc->form;
}

/* The bits of the operations that a route may have. */
static unsigned operations_of(const struct ed_route *route)
{
        if (doc_of(route)->flags & EDDY_HTTP_ROUTE_HIDDEN)
                return 0;
        if (route->method_bytes == 0)
                return GET | PUT | POST | DELETE | PATCH;
        for (size_t i = 0; i < ed_array_count(methods); i++) {
                size_t n = 0;

                while (n < route->method_bytes && (route->text[n] | 0x20) == methods[i][n] &&
                       route->text[n] != methods[i][n])
                        n++;
                if (n == route->method_bytes && !methods[i][n])
                        return 1U << i;
        }
        return 0;
}

/* Returns true if the paths differ only in the names of parameters. */
static bool is_same_path(const struct ed_route *a, const struct ed_route *b)
{
        const char *x = a->path, *y = b->path;

        for (; *x && *y; x++, y++) {
                if (*x == '{' && *y == '{') {
                        x = strchr(x, '}');
                        y = strchr(y, '}');
                } else if (*x != *y) {
                        return false;
                }
        }
        return *x == *y;
}

/* The next route in the document from 'at' on that has the path of 'like'; NULL: any path. */
static const struct ed_route *next_route(const struct ed_route *at, const struct ed_route *like)
{
        while (at && (!operations_of(at) || (like && !is_same_path(at, like))))
                at = at->next_added;
        return at;
}

/* ---- names --------------------------------------------------------------------------------- */

static void put_path_name(struct writing *w, const struct ed_route *route)
{
        char path[EDDY_HTTP_ROUTE_BYTES_MAX + 1];
        size_t bytes = strlen(route->path);

        memcpy(path, route->path, bytes + 1);
        if (route->has_rest)
                memcpy(path + bytes - strlen("...}"), "}", 2);
        ed_json_out_name(&w->out, path);
}

static bool is_id_used(const struct writing *w, const char *id)
{
        const char *at = ed_buf_data(&w->ids);
        size_t left = ed_buf_bytes(&w->ids);

        while (left > 0) {
                size_t bytes = strlen(at) + 1;

                if (strcmp(at, id) == 0)
                        return true;
                at += bytes;
                left -= bytes;
        }
        return false;
}

/* The method and the path in letters, digits and '_'. */
static void make_id(const struct ed_route *route, const char *method, char id[ID_BYTES])
{
        size_t n = (size_t) snprintf(id, ID_BYTES, "%s", method);

        for (const char *c = route->path; *c && n < ID_BYTES - 4; c++) {
                bool is_kept = (*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z') ||
                               (*c >= 'a' && *c <= 'z');

                if (*c == '{') {
                        memcpy(id + n, "by_", 3);
                        n += 3;
                } else if (*c != '}' && strcmp(c, "/") != 0 && strcmp(c, "...}") != 0 &&
                           strcmp(c, "..}") != 0 && strcmp(c, ".}") != 0) {
                        id[n++] = is_kept ? *c : '_';
                }
        }
        id[n] = '\0';
}

static void put_id(struct writing *w, const struct ed_route *route, const char *method)
{
        const char *own = doc_of(route)->operation;
        char base[ID_BYTES], id[ID_BYTES + SUFFIX_BYTES];

        if (own)
                snprintf(base, sizeof(base), "%s", own);
        else
                make_id(route, method, base);
        snprintf(id, sizeof(id), "%s", base);
        for (unsigned n = 2; is_id_used(w, id); n++)
                snprintf(id, sizeof(id), "%s_%u", base, n);
        ed_json_out_member(&w->out, "operationId", id);
        if (w->out.error == 0)
                w->out.error = ed_buf_append(&w->ids, id, strlen(id) + 1);
}

static void put_tags(struct ed_json_out *out, const char *tags)
{
        char tag[TAG_BYTES];

        ed_json_out_name(out, "tags");
        ed_json_out_open(out, '[');
        while (*tags) {
                size_t bytes = strcspn(tags, ","), kept = bytes;

                while (kept > 0 && tags[kept - 1] == ' ')
                        kept--;
                snprintf(tag, sizeof(tag), "%.*s", (int) kept, tags);
                if (kept > 0)
                        ed_json_out_string(out, tag);
                tags += bytes;
                tags += strspn(tags, ", ");
        }
        ed_json_out_close(out, ']');
}

/* ---- operations ---------------------------------------------------------------------------- */

/* 'field' is NULL for a parameter of the path without a table. */
static void put_parameter(struct writing *w, const char *name, const char *in,
                          const struct eddy_field *field)
{
        static const char any[] = "{\"type\":\"string\"}";
        bool is_path = strcmp(in, "path") == 0;

        ed_json_out_open(&w->out, '{');
        ed_json_out_member(&w->out, "name", name);
        ed_json_out_member(&w->out, "in", in);
        ed_json_out_flag(&w->out, "required", is_path || field->required);
        if (field && field->description)
                ed_json_out_member(&w->out, "description", field->description);
        ed_json_out_name(&w->out, "schema");
        if (field)
                ed_schema_put_field(&w->schemas, field, false, &w->out);
        else
                ed_json_out_value(&w->out, any, sizeof(any) - 1);
        ed_json_out_close(&w->out, '}');
}

static const struct eddy_field *find_field(const struct eddy_fields *fields, const char *name)
{
        for (size_t i = 0; fields && i < fields->count; i++)
                if (strcmp(ed_field_name(&fields->list[i]), name) == 0)
                        return &fields->list[i];
        return NULL;
}

/* The names of the path's parameters are those of 'first', a route with the same path. */
static void put_parameters(struct writing *w, const struct ed_route *route,
                           const struct ed_route *first)
{
        const struct eddy_http_route_doc *doc = doc_of(route);
        const char *name = first->names, *own = route->names;

        if (route->count == 0 && !doc->query)
                return;
        ed_json_out_name(&w->out, "parameters");
        ed_json_out_open(&w->out, '[');
        for (uint32_t i = 0; i < route->count; i++) {
                put_parameter(w, name, "path", find_field(doc->params, own));
                name += strlen(name) + 1;
                own += strlen(own) + 1;
        }
        for (size_t i = 0; doc->query && i < doc->query->count; i++) {
                const struct eddy_field *field = &doc->query->list[i];

                if (!field->read_only)
                        put_parameter(w, ed_field_name(field), "query", field);
        }
        ed_json_out_close(&w->out, ']');
}

static void put_content(struct writing *w, const char *type, const struct eddy_fields *fields)
{
        ed_json_out_name(&w->out, "content");
        ed_json_out_open(&w->out, '{');
        ed_json_out_name(&w->out, type);
        ed_json_out_open(&w->out, '{');
        ed_json_out_name(&w->out, "schema");
        ed_schema_put_ref(&w->schemas, fields, &w->out);
        ed_json_out_close(&w->out, '}');
        ed_json_out_close(&w->out, '}');
}

static void put_request_body(struct writing *w, const struct eddy_http_route_doc *doc)
{
        ed_json_out_name(&w->out, "requestBody");
        ed_json_out_open(&w->out, '{');
        ed_json_out_flag(&w->out, "required", true);
        if (doc->form)
                put_content(w, "application/x-www-form-urlencoded", doc->form);
        else
                put_content(w, "application/json", doc->body);
        ed_json_out_close(&w->out, '}');
}

static void put_answer(struct writing *w, int status, const char *description,
                       const struct eddy_fields *fields)
{
        char name[12];

        snprintf(name, sizeof(name), "%d", status);
        ed_json_out_name(&w->out, name);
        ed_json_out_open(&w->out, '{');
        if (!description)
                description = *ed_http1_reason(status) ? ed_http1_reason(status) : "Response";
        ed_json_out_member(&w->out, "description", description);
        if (fields)
                put_content(w, "application/json", fields);
        ed_json_out_close(&w->out, '}');
}

/* ---- the answer to wrong fields ------------------------------------------------------------ */

/* Two tables hold the names; the schemas are the texts below, which are those of FastAPI. */
static const struct eddy_field error_list[] = {
        { .name = "msg", .kind = EDDY_KIND_BOOL, .bytes = sizeof(bool) }
};
static const struct eddy_fields errors_fields = {
        .list = error_list, .count = 1, .bytes = sizeof(bool), .name = "HTTPValidationError"
};
static const struct eddy_fields error_fields = {
        .list = error_list, .count = 1, .bytes = sizeof(bool), .name = "ValidationError"
};

static const char errors_schema[] =
        "{\"properties\":{\"detail\":{\"items\":{\"$ref\":\"#/components/schemas/"
        "ValidationError\"},"
        "\"type\":\"array\",\"title\":\"Detail\"}},\"type\":\"object\",\"title\":"
        "\"HTTPValidationError\"}";
static const char error_schema[] =
        "{\"properties\":{\"loc\":{\"items\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":"
        "\"integer\"}]},\"type\":\"array\",\"title\":\"Location\"},\"msg\":{\"type\":\"string\","
        "\"title\":\"Message\"},\"type\":{\"type\":\"string\",\"title\":\"Error Type\"}},\"type\":"
        "\"object\",\"required\":[\"loc\",\"msg\",\"type\"],\"title\":\"ValidationError\"}";

static void put_schemas(struct writing *w)
{
        size_t count = ed_schemas_count(&w->schemas);

        if (count == 0)
                return;
        ed_json_out_name(&w->out, "components");
        ed_json_out_open(&w->out, '{');
        ed_json_out_name(&w->out, "schemas");
        ed_json_out_open(&w->out, '{');
        for (size_t i = 0; i < count; i++) {
                const struct ed_schema_def *def = ed_schemas_at(&w->schemas, i);

                ed_json_out_name(&w->out, def->name);
                if (def->fields == &errors_fields) {
                        ed_json_out_value(&w->out, errors_schema, sizeof(errors_schema) - 1);
                } else if (def->fields == &error_fields) {
                        ed_json_out_value(&w->out, error_schema, sizeof(error_schema) - 1);
                } else {
                        ed_json_out_open(&w->out, '{');
                        ed_schema_put_def(&w->schemas, def, &w->out);
                        ed_json_out_close(&w->out, '}');
                }
        }
        ed_json_out_close(&w->out, '}');
        ed_json_out_close(&w->out, '}');
}

static void put_answers(struct writing *w, const struct eddy_http_route_doc *doc)
{
        bool has_422 = !has_inputs(doc);

        ed_json_out_name(&w->out, "responses");
        ed_json_out_open(&w->out, '{');
        for (size_t i = 0; i <= doc->answers_count; i++) {
                int status = ed_http_route_status(doc, i);

                has_422 = has_422 || status == 422;
                if (i == 0)
                        put_answer(w, status, NULL, doc->answer);
                else
                        put_answer(w, status, doc->answers[i - 1].description,
                                   doc->answers[i - 1].fields);
        }
        if (!has_422)
                put_answer(w, 422, "Validation Error", &errors_fields);
        ed_json_out_close(&w->out, '}');
}

/* ---- paths --------------------------------------------------------------------------------- */

static void put_operation(struct writing *w, const struct ed_route *route,
                          const struct ed_route *first, size_t method)
{
        const struct eddy_http_route_doc *doc = doc_of(route);
        bool is_bare = route->method_bytes == 0 && ((1U << method) & (GET | DELETE));

        ed_json_out_name(&w->out, methods[method]);
        ed_json_out_open(&w->out, '{');
        if (doc->tags)
                put_tags(&w->out, doc->tags);
        if (doc->summary)
                ed_json_out_member(&w->out, "summary", doc->summary);
        if (doc->description)
                ed_json_out_member(&w->out, "description", doc->description);
        put_id(w, route, methods[method]);
        put_parameters(w, route, first);
        if ((doc->body || doc->form) && !is_bare)
                put_request_body(w, doc);
        put_answers(w, doc);
        if (doc->flags & EDDY_HTTP_ROUTE_DEPRECATED)
                ed_json_out_flag(&w->out, "deprecated", true);
        ed_json_out_close(&w->out, '}');
}

/* The routes with a method go first, and one without has the methods that are left. */
static void put_path(struct writing *w, const struct ed_route *first)
{
        unsigned done = 0;

        put_path_name(w, first);
        ed_json_out_open(&w->out, '{');
        for (int any = 0; any < 2; any++) {
                const struct ed_route *route = first;

                for (; route; route = next_route(route->next_added, first)) {
                        unsigned left = operations_of(route) & ~done;

                        if ((route->method_bytes == 0) != any)
                                continue;
                        done |= left;
                        for (size_t i = 0; i < ed_array_count(methods); i++)
                                if (left & 1U << i)
                                        put_operation(w, route, first, i);
                }
        }
        ed_json_out_close(&w->out, '}');
}

static void put_paths(struct writing *w)
{
        const struct ed_route *route = next_route(w->tree->first, NULL);

        ed_json_out_name(&w->out, "paths");
        ed_json_out_open(&w->out, '{');
        for (; route && w->out.error == 0; route = next_route(route->next_added, NULL))
                if (next_route(w->tree->first, route) == route)
                        put_path(w, route);
        ed_json_out_close(&w->out, '}');
}

/* ---- the document -------------------------------------------------------------------------- */

static int add_table(struct writing *w, const struct eddy_fields *fields,
                     struct eddy_json_error *ret_error)
{
        return fields ? ed_schemas_add(&w->schemas, fields, ret_error) : 0;
}

/* Add the tables of bodies and answers. Those of parameters have no structs in them. */
static int add_tables(struct writing *w, struct eddy_json_error *ret_error)
{
        const struct ed_route *route;
        int err = 0;

        for (route = next_route(w->tree->first, NULL); err == 0 && route;
             route = next_route(route->next_added, NULL))
                if (has_inputs(doc_of(route))) {
                        err = add_table(w, &errors_fields, ret_error);
                        if (err == 0)
                                err = add_table(w, &error_fields, ret_error);
                        break;
                }
        for (route = next_route(w->tree->first, NULL); err == 0 && route;
             route = next_route(route->next_added, NULL)) {
                const struct eddy_http_route_doc *doc = doc_of(route);

                err = add_table(w, doc->body, ret_error);
                if (err == 0)
                        err = add_table(w, doc->form, ret_error);
                if (err == 0)
                        err = add_table(w, doc->answer, ret_error);
                for (size_t i = 0; err == 0 && i < doc->answers_count; i++)
                        err = add_table(w, doc->answers[i].fields, ret_error);
        }
        return err < 0 ? err : ed_schemas_add_inner(&w->schemas, ret_error);
}

static void put_document(struct writing *w, const struct eddy_openapi_opts *opts)
{
        ed_json_out_open(&w->out, '{');
        ed_json_out_member(&w->out, "openapi", "3.1.0");
        ed_json_out_name(&w->out, "info");
        ed_json_out_open(&w->out, '{');
        ed_json_out_member(&w->out, "title", opts->title ? opts->title : "API");
        ed_json_out_member(&w->out, "version", opts->version ? opts->version : "1");
        if (opts->description)
                ed_json_out_member(&w->out, "description", opts->description);
        ed_json_out_close(&w->out, '}');
        if (opts->server) {
                ed_json_out_name(&w->out, "servers");
                ed_json_out_open(&w->out, '[');
                ed_json_out_open(&w->out, '{');
                ed_json_out_member(&w->out, "url", opts->server);
                ed_json_out_close(&w->out, '}');
                ed_json_out_close(&w->out, ']');
        }
        put_paths(w);
        put_schemas(w);
        ed_json_out_close(&w->out, '}');
}

int eddy_openapi_write(const eddy_http_router *router, const struct eddy_openapi_opts *opts,
                       char **ret_text, size_t *ret_bytes, struct eddy_json_error *ret_error)
{
        static const struct eddy_openapi_opts usual;
        struct writing writing;
        int err;

        opts = opts ? opts : &usual;
        if (opts->flags & ~(uint32_t) ED_OPENAPI_FLAGS)
                return ed_json_fail(ret_error, -EINVAL, NULL, 0, NULL, "an unknown flag");
        while (router->parent)
                router = router->parent;
        if (router->err < 0)
                return ed_json_fail(ret_error, router->err, NULL, 0, NULL, "%s", router->text);
        writing.tree = &router->tree;
        ed_schemas_init(&writing.schemas, "#/components/schemas/");
        ed_buf_init(&writing.ids, EDDY_JSON_WRITTEN_MAX);
        err = add_tables(&writing, ret_error);
        if (err == 0) {
                ed_json_out_init(&writing.out, EDDY_JSON_WRITTEN_MAX);
                put_document(&writing, opts);
                err = ed_json_out_end(&writing.out, ret_text, ret_bytes);
                if (err < 0)
                        err = ed_json_fail(ret_error, err, NULL, 0, NULL, "%s",
                                           err == -EMSGSIZE
                                                   ? "the text exceeds EDDY_JSON_WRITTEN_MAX bytes"
                                                   : "out of memory");
        }
        ed_buf_fini(&writing.ids);
        ed_schemas_fini(&writing.schemas);
        return err;
}
