/*
 * 100-rest-api - a JSON API on SQLite: routes, checked inputs, OpenAPI, access log, clean stop.
 *
 * Tables of fields describe inputs, parameters of statements, rows and answers.  A handler is
 * called only if its inputs are valid; else the client gets a list of all wrong fields.  The page
 * /docs can send requests to each route.
 *
 * Run: D=$(mktemp -d); 100-rest-api $D/db 127.0.0.1:0 >$D/out 2>$D/log & P=$!; until [ -s $D/out ]; do sleep .05; done; U=$(cat $D/out); c() { curl -sw ' %{http_code}\n' -H content-type:application/json "$@"; }; c $U -d '{"title":"Milk"}'; c $U -d '{"title":"Bread"}'; c $U/1 -X PUT -d '{"title":"Oat milk","done":true}'; c "$U?after=1&limit=5"; c $U/1 -X DELETE; c $U/1; c $U/x -X PUT -d '{"title":"","size":1}'; kill $P; wait $P; rm -r $D
 * Time: wall 0 to 60 s
 * Output:
 *     {"id":1,"title":"Milk","done":false} 201
 *     {"id":2,"title":"Bread","done":false} 201
 *     {"id":1,"title":"Oat milk","done":true} 200
 *     {"notes":[{"id":2,"title":"Bread","done":false}]} 200
 *      204
 *     {"title":"Not Found","status":404,"detail":"there is no such note"} 404
 *     {"detail":[{"type":"type","loc":["path","id"],"msg":"\"x\" is not an integer"},{"type":"length","loc":["body","title"],"msg":"a string of 0 bytes, at least 1 are allowed"},{"type":"extra_forbidden","loc":["body","size"],"msg":"the field is not known"}]} 422
 */
#include <eddy/eddy.h>
#include <stdio.h>

struct note {
        int64_t id;
        char title[201];
        bool done;
};
static const struct eddy_field note_list[] = {
        EDDY_FIELD(struct note, id, EDDY_FIELD_READ_ONLY), /* not in requests */
        EDDY_FIELD(struct note, title, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(1, 200)),
        EDDY_FIELD(struct note, done),
};
static const struct eddy_fields note = EDDY_FIELDS(struct note, note_list, EDDY_FIELDS_STRICT);
static const struct eddy_field id_list[] = { EDDY_FIELD(struct note, id, EDDY_FIELD_MIN(1)) };
static const struct eddy_fields id = EDDY_FIELDS(struct note, id_list, 0);

struct page {
        int64_t after, limit;
        struct note *notes; /* owned */
        size_t notes_count;
};
static const struct page first_page = { .limit = 20 };
static const struct eddy_field query_list[] = {
        EDDY_FIELD(struct page, after, EDDY_FIELD_MIN(0)),
        EDDY_FIELD(struct page, limit, EDDY_FIELD_MIN(1), EDDY_FIELD_MAX(100)),
};
static const struct eddy_fields query = EDDY_FIELDS(struct page, query_list, EDDY_FIELDS_STRICT);
static const struct eddy_field page_list[] = {
        EDDY_FIELD_LIST_OF(struct page, notes, notes_count, &note),
};
static const struct eddy_fields page = EDDY_FIELDS(struct page, page_list, 0);

/* Run a statement with parameters from 'in', and answer with the note in its only row. */
static int answer(eddy_http_exchange *exchange, int status, eddy_pool *pool, const char *sql,
                  const struct note *in)
{
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        struct note row = { 0 };
        char location[40];
        int err = eddy_pool_acquire(pool, &loan);

        if (err == 0)
                err = eddy_sqlite_one(loan.item, sql, EDDY_SQLITE_BIND_STRUCT(&note, in), &note,
                                      &row);
        if (err < 0 && loan.item)
                (void) eddy_log_bind(eddy_log_str("sqlite", eddy_sqlite_fault(loan.item)->text));
        (void) eddy_pool_release(&loan); /* before the answer: a slow client must not hold it */
        if (err == 0 && status == 204)
                return eddy_http_exchange_respond(exchange, 204, NULL, 0, NULL, 0);
        snprintf(location, sizeof(location), "/notes/%lld", (long long) row.id);
        if (err == 0 && status == 201)
                err = eddy_http_exchange_add_header(exchange, "Location", location);
        return err < 0 ? err : eddy_http_exchange_respond_json(exchange, status, &note, &row);
}

static int list_notes(eddy_http_exchange *exchange, void *pool)
{
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        const struct page *in = eddy_http_exchange_input(exchange, EDDY_HTTP_QUERY);
        struct page out = { 0 };
        int err = eddy_pool_acquire(pool, &loan);

        if (err == 0)
                err = eddy_sqlite_all(
                        loan.item, "SELECT * FROM notes WHERE id > :after ORDER BY id LIMIT :limit",
                        EDDY_SQLITE_BIND_STRUCT(&query, in), &page, &out);
        (void) eddy_pool_release(&loan);
        if (err == 0)
                err = eddy_http_exchange_respond_json(exchange, 200, &page, &out);
        eddy_fields_fini(&page, &out);
        return err;
}

static int add_note(eddy_http_exchange *exchange, void *pool)
{
        return answer(exchange, 201, pool,
                      "INSERT INTO notes (title, done) VALUES (:title, :done) RETURNING *",
                      eddy_http_exchange_input(exchange, EDDY_HTTP_BODY));
}

static int show_note(eddy_http_exchange *exchange, void *pool)
{
        return answer(exchange, 200, pool, "SELECT * FROM notes WHERE id = :id",
                      eddy_http_exchange_input(exchange, EDDY_HTTP_PATH));
}

static int replace_note(eddy_http_exchange *exchange, void *pool)
{
        const struct note *path = eddy_http_exchange_input(exchange, EDDY_HTTP_PATH);
        struct note in = *(const struct note *) eddy_http_exchange_input(exchange, EDDY_HTTP_BODY);

        in.id = path->id;
        return answer(exchange, 200, pool,
                      "UPDATE notes SET title = :title, done = :done WHERE id = :id RETURNING *",
                      &in);
}

static int delete_note(eddy_http_exchange *exchange, void *pool)
{
        return answer(exchange, 204, pool, "DELETE FROM notes WHERE id = :id RETURNING *",
                      eddy_http_exchange_input(exchange, EDDY_HTTP_PATH));
}

static const struct eddy_http_route_answer errors[] = {
        { .status = 404, .error = EDDY_E_SQLITE_NO_ROW, .description = "there is no such note" },
        { .status = 409, .error = EDDY_E_SQLITE_UNIQUE, .description = "the title is taken" },
};
#define ERRORS(first, n) .answers = &errors[first], .answers_count = (n)
static const struct eddy_http_route_doc
        list_doc = { .query = &query, .query_defaults = &first_page, .answer = &page },
        add_doc = { .body = &note, .answer = &note, .status = 201, ERRORS(1, 1) },
        show_doc = { .params = &id, .answer = &note, ERRORS(0, 1) },
        replace_doc = { .params = &id, .body = &note, .answer = &note, ERRORS(0, 2) },
        delete_doc = { .params = &id, .status = 204, ERRORS(0, 1) };

static int serve(eddy_http_router *router, void *path)
{
        static const char schema[] =
                "CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY AUTOINCREMENT, "
                "title TEXT NOT NULL UNIQUE, done INTEGER NOT NULL)";
        EDDY_AUTO(eddy_log) eddy_log *log = NULL;
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = NULL;
        eddy_pool *reader, *writer;
        int err = eddy_sqlite_open(path, &(struct eddy_sqlite_opts){ .schema = schema }, &db);

        if (err < 0 || (err = eddy_log_open(NULL, &log)) < 0)
                return err;
        reader = eddy_sqlite_readers(db);
        writer = eddy_sqlite_writer(db);
        eddy_http_use_request_id(router, NULL);
        eddy_http_use_access_log(router, &(struct eddy_http_access_log_opts){ .log = log });
        eddy_http_use_body_limit(router, 10000);
        eddy_http_use_timeout(router, EDDY_SEC(5));
        eddy_http_router_add(router, "GET /notes", list_notes, reader, &list_doc);
        eddy_http_router_add(router, "POST /notes", add_note, writer, &add_doc);
        eddy_http_router_add(router, "GET /notes/{id}", show_note, reader, &show_doc);
        eddy_http_router_add(router, "PUT /notes/{id}", replace_note, writer, &replace_doc);
        eddy_http_router_add(router, "DELETE /notes/{id}", delete_note, writer, &delete_doc);
        eddy_http_router_add(router, "GET /livez", eddy_http_handle_live, NULL, NULL);
        eddy_openapi_serve(router, &(struct eddy_openapi_opts){ .title = "Notes" });
        printf("%s/notes\n", eddy_http_run_url(router));
        fflush(stdout);
        return eddy_http_run_serve(router, &(struct eddy_http_server_opts){ .log = log });
}

int main(int argc, char **argv)
{
        const struct eddy_http_run_opts opts = { .listen = argc > 2 ? argv[2] : "127.0.0.1:8080" };

        return argc < 2 || eddy_http_run(&opts, serve, argv[1]) < 0;
}
