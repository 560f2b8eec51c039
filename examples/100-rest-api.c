/*
 * 100-rest-api - a REST API over SQLite: routes, checked JSON, an access log, limits, a clean stop.
 *
 *     GET    /notes?after=ID&limit=N   POST   /notes
 *     GET    /notes/ID                 PUT    /notes/ID                 DELETE /notes/ID
 *
 * Tables of fields describe the inputs of a route and the rows of its statement: the router refuses
 * wrong inputs with 422 and names each wrong field, and the row is the answer. Each request has five
 * seconds, also to wait for a connection of the database; then the status is 503. The log has a line
 * with an identifier for each request, and the reason if its statement failed. At SIGTERM the server
 * stops accepting connections, and requests in progress have ten seconds to finish.
 *
 *     100-rest-api FILE PORT
 *
 * Run: D=$(mktemp -d); 100-rest-api $D/db 0 >$D/out 2>$D/log & P=$!; until [ -s $D/out ]; do sleep .05; done; U=$(cat $D/out); c() { curl -sw ' %{http_code}\n' -H content-type:application/json "$@"; }; for t in Milk Bread Salt; do c $U -d '{"title":"'$t'"}'; done; c $U/2 -X PUT -d '{"title":"Bread, brown","done":true}'; c $U/3 -X DELETE; c "$U?limit=1"; c "$U?after=1"; (printf '{"title":'; sleep 2; kill $P; sleep .5; echo '"Late"}') | c $U -T - -X POST; wait $P; tail -1 $D/out; rm -r $D
 * Time: wall 2.5 to 60 s
 * Output:
 *     {"id":1,"title":"Milk","done":false} 201
 *     {"id":2,"title":"Bread","done":false} 201
 *     {"id":3,"title":"Salt","done":false} 201
 *     {"id":2,"title":"Bread, brown","done":true} 200
 *      204
 *     {"notes":[{"id":1,"title":"Milk","done":false}]} 200
 *     {"notes":[{"id":2,"title":"Bread, brown","done":true}]} 200
 *     {"id":4,"title":"Late","done":false} 201
 *     stopped
 */
#include <eddy/eddy.h>
#include <stdio.h>
#include <stdlib.h>

/* Requests, rows and answers; each table has some of the members. */
struct data {
        int64_t id, limit;
        char title[201], *notes; /* JSON, owned */
        bool done;
};
static const struct eddy_field id_list[] = { EDDY_FIELD(struct data, id, EDDY_FIELD_MIN(1)) };
static const struct eddy_fields id = EDDY_FIELDS(struct data, id_list, 0);
static const struct eddy_field note_list[] = {
        EDDY_FIELD(struct data, id, EDDY_FIELD_READ_ONLY), /* not in requests */
        EDDY_FIELD(struct data, title, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(1, 200)),
        EDDY_FIELD(struct data, done),
};
static const struct eddy_fields note = EDDY_FIELDS(struct data, note_list, EDDY_FIELDS_STRICT);
static const struct eddy_field page_list[] = {
        EDDY_FIELD(struct data, id, EDDY_FIELD_AS("after"), EDDY_FIELD_MIN(0)),
        EDDY_FIELD(struct data, limit, EDDY_FIELD_MIN(1), EDDY_FIELD_MAX(100)),
};
static const struct eddy_fields page = EDDY_FIELDS(struct data, page_list, EDDY_FIELDS_STRICT);
static const struct eddy_field notes_list[] = { EDDY_FIELD_RAW(struct data, notes) };
static const struct eddy_fields notes = EDDY_FIELDS(struct data, notes_list, 0);

static const struct eddy_http_route_doc by_id = { .params = &id }, add = { .body = &note },
                                        put = { .params = &id, .body = &note },
                                        pages = { .query = &page };

/* ?1, ?2 and ?3 are a note's id, title and done; in a list, ?1 and ?2 are after and limit. */
static const struct route {
        const char *pattern, *sql;
        const struct eddy_http_route_doc *inputs;
        const struct eddy_fields *row;
        int status;
} routes[] = {
        { "POST /notes", "INSERT INTO notes(title, done) VALUES(?2, ?3) RETURNING *", &add, &note,
          201 },
        { "GET /notes/{id}", "SELECT * FROM notes WHERE id = ?1", &by_id, &note, 200 },
        { "PUT /notes/{id}", "UPDATE notes SET title = ?2, done = ?3 WHERE id = ?1 RETURNING *",
          &put, &note, 200 },
        { "DELETE /notes/{id}", "DELETE FROM notes WHERE id = ?1 RETURNING *", &by_id, &note, 204 },
        { "GET /notes",
          "SELECT json_group_array(json_object('id', id, 'title', title, 'done', json(iif(done, "
          "'true', 'false')))) AS notes FROM (SELECT * FROM notes WHERE id > ?1 ORDER BY id "
          "LIMIT iif(?2, ?2, 20))",
          &pages, &notes, 200 },
};
static const char schema[] = "CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY "
                             "AUTOINCREMENT, title TEXT NOT NULL UNIQUE, done INTEGER NOT NULL)";
static eddy_sqlite *db;
static eddy_log *lines;

static int answer(eddy_http_exchange *exchange, void *arg)
{
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        const struct route *route = arg;
        const struct data *path = eddy_http_exchange_input(exchange, EDDY_HTTP_PATH);
        const struct data *query = eddy_http_exchange_input(exchange, EDDY_HTTP_QUERY);
        const struct data *body = eddy_http_exchange_input(exchange, EDDY_HTTP_BODY);
        const struct data *first = path ? path : query;
        const struct eddy_sqlite_value values[] = {
                eddy_sqlite_int(first ? first->id : 0),
                body ? eddy_sqlite_text(body->title) : eddy_sqlite_int(query ? query->limit : 0),
                eddy_sqlite_int(body && body->done),
        };
        size_t n = body ? 3 : query ? 2 : 1;
        bool set = body || route->status == 204;
        struct data row = { 0 };
        int err = eddy_pool_acquire(set ? eddy_sqlite_writer(db) : eddy_sqlite_readers(db), &loan);

        if (err == 0)
                err = eddy_sqlite_one(loan.item, route->sql, values, n, route->row, &row);
        if (err < 0 && loan.item)
                eddy_log_info(lines, eddy_sqlite_fault(loan.item)->text);
        (void) eddy_pool_release(&loan); /* a slow client does not keep it */
        if (err == EDDY_E_SQLITE_NO_ROW)
                err = eddy_http_exchange_fail(exchange, 404, "there is no such note");
        else if (err == EDDY_E_SQLITE_UNIQUE)
                err = eddy_http_exchange_fail(exchange, 409, "this title exists");
        else if (err == 0 && route->status == 204)
                err = eddy_http_exchange_respond(exchange, 204, NULL, 0, NULL, 0);
        else if (err == 0)
                err = eddy_http_exchange_respond_json(exchange, route->status, route->row, &row);
        eddy_fields_fini(route->row, &row);
        return err;
}

static int run(void *arg)
{
        EDDY_AUTO(eddy_http_router) eddy_http_router *router = NULL;
        EDDY_AUTO(eddy_listener) eddy_listener *listener = NULL;
        struct eddy_http_server_opts opts = { .body_bytes_max = 10000, .drain_ns = EDDY_SEC(10) };
        eddy_pool_loan loan = { 0 };
        int err = eddy_http_router_new(&router);

        if (err < 0)
                return err;
        err = eddy_log_open(NULL, &lines);
        eddy_http_use_request_id(router, NULL);
        eddy_http_use_access_log(router, &(struct eddy_http_access_log_opts){ .log = lines });
        eddy_http_use_timeout(router, EDDY_SEC(5));
        for (const struct route *r = routes; r < routes + sizeof(routes) / sizeof(*routes); r++)
                eddy_http_router_add(router, r->pattern, answer, (void *) r, r->inputs);
        if (err == 0)
                err = eddy_sqlite_open(((char **) arg)[1], NULL, &db);
        if (err == 0)
                err = eddy_pool_acquire(eddy_sqlite_writer(db), &loan);
        if (err == 0)
                err = eddy_sqlite_script(loan.item, schema);
        (void) eddy_pool_release(&loan);
        if (err == 0)
                err = eddy_tcp_listen("127.0.0.1", (uint16_t) atoi(((char **) arg)[2]), NULL,
                                      &listener);
        if (err == 0) {
                printf("http://127.0.0.1:%u/notes\n", eddy_listener_port(listener));
                fflush(stdout);
                err = eddy_http_serve(listener, &opts, eddy_http_router_handle, router);
        }
        puts(err == -ECANCELED ? "stopped" : eddy_error_text(err));
        eddy_sqlite_close(db);
        eddy_log_close(lines);
        return err == -ECANCELED ? 0 : err;
}

int main(int argc, char **argv)
{
        return argc != 3 || eddy_run(run, argv, NULL) < 0;
}
