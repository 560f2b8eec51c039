/*
 * 100-rest-api - a REST API over PostgreSQL: JSON in and out, status codes, limits, a clean stop.
 *
 *     GET    /notes?after=ID&limit=N   POST   /notes
 *     GET    /notes/ID                 PUT    /notes/ID                 DELETE /notes/ID
 *
 * Tables of fields describe the JSON of a request and a row of the database, so the same struct is
 * read from both and written to the response. Each request has five seconds to wait for one of the
 * pool's ten connections and for the database. If the database cannot be reached, or 100 requests
 * wait for a connection, the status is 503. At SIGTERM the server stops accepting connections, and
 * requests in progress have ten seconds to finish.
 *
 *     100-rest-api CONNINFO PORT
 *
 * Run: D=$(mktemp -d); 100-rest-api "$POSTGRES" 0 >$D/log & P=$!; until [ -s $D/log ]; do sleep .05; done; U=$(cat $D/log); c() { curl -sw ' %{http_code}\n' "$@"; }; for t in Milk Bread Salt; do c $U -d '{"title":"'$t'"}'; done; c $U/2 -X PUT -d '{"title":"Bread, brown","done":true}'; c $U/3 -X DELETE; c $U/2; c "$U?limit=1"; c "$U?after=1"; (printf '{"title":'; sleep 2; kill $P; sleep .5; echo '"Late"}') | c $U -T - -X POST; wait $P; tail -1 $D/log; rm -r $D
 * Time: wall 2.5 to 60 s
 * Output:
 *     {"id":1,"title":"Milk","done":false} 201
 *     {"id":2,"title":"Bread","done":false} 201
 *     {"id":3,"title":"Salt","done":false} 201
 *     {"id":2,"title":"Bread, brown","done":true} 200
 *      204
 *     {"id":2,"title":"Bread, brown","done":true} 200
 *     {"notes":[{"id":1,"title":"Milk","done":false}]} 200
 *     {"notes":[{"id":2,"title":"Bread, brown","done":true}]} 200
 *     {"id":4,"title":"Late","done":false} 201
 *     stopped
 *
 * Run: D=$(mktemp -d); 100-rest-api "$POSTGRES" 0 >$D/log & P=$!; until [ -s $D/log ]; do sleep .05; done; U=$(cat $D/log); c() { curl -sw ' %{http_code}\n' "$@"; }; c $U/7; c $U/x; c $U -X DELETE; c "$U?limit=1000"; c $U -d '{"title":""}'; c $U -d '{"title":"a","age":1}'; c $U -d '{'; c $U -d '{"title":"Tea"}'; c $U -d '{"title":"Tea"}'; head -c 100000 /dev/zero | c $U -T - -X POST; psql -qc 'drop table notes' "$POSTGRES"; c $U 2>&1; kill $P; wait $P; rm -r $D
 * Time: wall 0 to 60 s
 * Output:
 *     {"error":"no such note"} 404
 *     {"error":"no such page"} 404
 *     {"error":"this page has GET, POST"} 405
 *     {"error":"limit: a number from 1 to 100 is needed"} 400
 *     {"error":"title: a string of 0 bytes, at least 1 are allowed"} 400
 *     {"error":"age: the field is not known"} 400
 *     {"error":"line 1, column 2: the text ends here; a name in quotes expected"} 400
 *     {"id":1,"title":"Tea","done":false} 201
 *     {"error":"this title exists"} 409
 *     {"error":"the request is too large"} 413
 *     {"error":"internal error"} 500
 */
#include <eddy/eddy.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 100 };

/* --- JSON and rows --- */

struct note {
        int64_t id;
        char title[201];
        bool done;
};

static const struct eddy_field note_list[] = {
        EDDY_FIELD(struct note, id),
        EDDY_FIELD(struct note, title),
        EDDY_FIELD(struct note, done),
};
static const struct eddy_fields note_fields = EDDY_FIELDS(struct note, note_list, 0);

/* In a request: without an id; unknown fields are refused. */
static const struct eddy_field input_list[] = {
        EDDY_FIELD(struct note, title, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(1, 200)),
        EDDY_FIELD(struct note, done),
};
static const struct eddy_fields input_fields =
        EDDY_FIELDS(struct note, input_list, EDDY_FIELDS_STRICT);

struct page {
        struct note *notes; /* owned */
        size_t notes_count;
};

static const struct eddy_field page_list[] = {
        EDDY_FIELD_LIST_OF(struct page, notes, notes_count, &note_fields),
};
static const struct eddy_fields page_fields = EDDY_FIELDS(struct page, page_list, 0);

struct failure {
        char error[300];
};

static const struct eddy_field failure_list[] = { EDDY_FIELD(struct failure, error) };
static const struct eddy_fields failure_fields = EDDY_FIELDS(struct failure, failure_list, 0);

/* --- a call of the API --- */

struct call {
        eddy_http_exchange *exchange;
        eddy_pool *pool;
        int status;
        char *text; /* the response's JSON (owned), or NULL */
        size_t bytes;
        struct eddy_http_header headers[2];
        size_t headers_count;
        char location[40];
};

static int answer(struct call *call, int status, const struct eddy_fields *fields, const void *in)
{
        call->status = status;
        return eddy_json_write(fields, in, &call->text, &call->bytes, NULL);
}

static int refuse(struct call *call, int status, const char *text)
{
        struct failure failure;

        snprintf(failure.error, sizeof(failure.error), "%s", text);
        return answer(call, status, &failure_fields, &failure);
}

static void add_header(struct call *call, const char *name, const char *value)
{
        call->headers[call->headers_count++] = (struct eddy_http_header){ name, value };
}

/* Answer a call of the API that failed, with only the details that a client may know. */
static int refuse_error(struct call *call, int err, const struct eddy_pg_fault *fault)
{
        switch (err) {
        case EDDY_E_PG_NO_ROW:
                return refuse(call, 404, "no such note");
        case EDDY_E_HTTP_TOO_LARGE:
                return refuse(call, 413, "the request is too large");
        case -ETIMEDOUT:
        case EDDY_E_POOL_FULL:
        case EDDY_E_PG_CONNECT:
        case EDDY_E_PG_CLOSED:
                add_header(call, "Retry-After", "1");
                return refuse(call, 503, "try again later");
        default:
                break;
        }
        if (fault && strcmp(fault->sqlstate, "23505") == 0)
                return refuse(call, 409, "this title exists");
        fprintf(stderr, "%s: %s\n", eddy_error_text(err), fault ? fault->text : "");
        return refuse(call, 500, "internal error");
}

/* Run a command that returns one note, and answer with the note. */
static int answer_row(struct call *call, int status, const char *sql,
                      const struct eddy_pg_value *params, size_t n)
{
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        struct note note = { 0 };
        int err = eddy_pool_acquire(call->pool, &loan);

        if (err == 0)
                err = eddy_pg_one(loan.item, sql, params, n, &note_fields, &note);
        if (err == -ECANCELED)
                return err;
        if (err < 0)
                return refuse_error(call, err, loan.item ? eddy_pg_fault(loan.item) : NULL);
        if (status == 201) {
                snprintf(call->location, sizeof(call->location), "/notes/%lld",
                         (long long) note.id);
                add_header(call, "Location", call->location);
        }
        call->status = status;
        return status == 204 ? 0 : answer(call, status, &note_fields, &note);
}

/* Returns 1 with a note, or 0 if the answer has the reason. */
static int read_note(struct call *call, struct note *ret_note)
{
        struct eddy_json_error error;
        const void *body;
        size_t bytes;
        int err = eddy_http_exchange_body(call->exchange, &body, &bytes);

        if (err == EDDY_E_HTTP_TOO_LARGE)
                return refuse_error(call, err, NULL);
        if (err < 0)
                return err;
        if (eddy_json_read(&input_fields, body, bytes, ret_note, &error) < 0)
                return refuse(call, 400, error.text);
        return 1;
}

static int store(struct call *call, int64_t id)
{
        struct note note = { 0 };
        int err = read_note(call, &note);

        if (err <= 0)
                return err;
        if (id == 0)
                return answer_row(
                        call, 201,
                        "insert into notes (title, done) values ($1, $2) returning id, title, done",
                        EDDY_PG_PARAMS(eddy_pg_text(note.title), eddy_pg_bool(note.done)));
        return answer_row(
                call, 200,
                "update notes set title = $2, done = $3 where id = $1 returning id, title, done",
                EDDY_PG_PARAMS(eddy_pg_int(id), eddy_pg_text(note.title), eddy_pg_bool(note.done)));
}

/* Returns the number NAME of a query "a=1&b=2", 'otherwise' without it, or -1 if it is not one. */
static int64_t number_of(const char *query, const char *name, int64_t otherwise)
{
        char value[24], *end;
        int64_t bytes = eddy_url_query_get(query, strlen(query), name, value, sizeof(value));
        long long number;

        if (bytes == -ENOENT)
                return otherwise;
        number = bytes > 0 ? strtoll(value, &end, 10) : -1;
        return bytes > 0 && !*end ? number : -1;
}

static int read_page(eddy_pg *pg, int64_t after, int64_t limit, struct page *page)
{
        EDDY_AUTO(eddy_pg_result) eddy_pg_result *rows = NULL;
        int err = eddy_pg_query(pg,
                                "select id, title, done from notes where id > $1 order by id "
                                "limit $2",
                                EDDY_PG_PARAMS(eddy_pg_int(after), eddy_pg_int(limit)), &rows);

        for (int i = 0; err == 0 && i < eddy_pg_rows(rows); i++)
                err = eddy_pg_row(rows, i, &note_fields, &page->notes[page->notes_count++], NULL);
        return err;
}

static int list(struct call *call)
{
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        const char *query = eddy_http_exchange_query(call->exchange);
        int64_t limit = number_of(query, "limit", 20), after = number_of(query, "after", 0);
        struct page page = { 0 };
        int err;

        if (limit < 1 || limit > LIST_MAX)
                return refuse(call, 400, "limit: a number from 1 to 100 is needed");
        if (after < 0)
                return refuse(call, 400, "after: a number is needed");
        page.notes = calloc((size_t) limit, sizeof(*page.notes));
        err = page.notes ? eddy_pool_acquire(call->pool, &loan) : -ENOMEM;
        if (err == 0)
                err = read_page(loan.item, after, limit, &page);
        if (err == 0)
                err = answer(call, 200, &page_fields, &page);
        else if (err != -ECANCELED)
                err = refuse_error(call, err, loan.item ? eddy_pg_fault(loan.item) : NULL);
        free(page.notes);
        return err;
}

static int refuse_method(struct call *call, const char *allowed)
{
        char text[60];

        snprintf(text, sizeof(text), "this page has %s", allowed);
        add_header(call, "Allow", allowed);
        return refuse(call, 405, text);
}

/* Returns the ID of "/notes/ID", 0 for "/notes", or -1. */
static int64_t id_of(const char *path)
{
        char *end;
        long long id;

        if (strcmp(path, "/notes") == 0)
                return 0;
        if (strncmp(path, "/notes/", 7) != 0 || path[7] < '1' || path[7] > '9')
                return -1;
        id = strtoll(path + 7, &end, 10);
        return *end ? -1 : id;
}

static int dispatch(void *arg)
{
        struct call *call = arg;
        const char *method = eddy_http_exchange_method(call->exchange);
        int64_t id = id_of(eddy_http_exchange_path(call->exchange));

        if (id < 0)
                return refuse(call, 404, "no such page");
        if (id == 0 && strcmp(method, "GET") == 0)
                return list(call);
        if (id == 0 && strcmp(method, "POST") == 0)
                return store(call, 0);
        if (id == 0)
                return refuse_method(call, "GET, POST");
        if (strcmp(method, "GET") == 0)
                return answer_row(call, 200, "select id, title, done from notes where id = $1",
                                  EDDY_PG_PARAMS(eddy_pg_int(id)));
        if (strcmp(method, "PUT") == 0)
                return store(call, id);
        if (strcmp(method, "DELETE") == 0)
                return answer_row(call, 204,
                                  "delete from notes where id = $1 returning id, title, done",
                                  EDDY_PG_PARAMS(eddy_pg_int(id)));
        return refuse_method(call, "GET, PUT, DELETE");
}

static int handle(eddy_http_exchange *exchange, void *pool)
{
        struct call call = { .exchange = exchange, .pool = pool };
        int err = eddy_call_timeout(dispatch, &call, EDDY_SEC(5));

        if (err == -ETIMEDOUT)
                err = refuse_error(&call, err, NULL);
        if (err == 0 && call.text)
                add_header(&call, "Content-Type", "application/json");
        if (err == 0)
                err = eddy_http_exchange_respond(exchange, call.status, call.headers,
                                                 call.headers_count, call.text, call.bytes);
        eddy_free(call.text);
        return err;
}

/* --- the service --- */

static int create_table(eddy_pool *pool)
{
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        int err = eddy_pool_acquire(pool, &loan);

        if (err == 0)
                err = eddy_pg_exec(loan.item, "create table if not exists notes ("
                                              "id bigint generated by default as identity primary "
                                              "key, title varchar(200) not null unique, "
                                              "done boolean not null default false)");
        return err;
}

static int serve(eddy_pool *pool, const char *port)
{
        EDDY_AUTO(eddy_listener) eddy_listener *listener = NULL;
        struct eddy_http_server_opts opts = { .connections_max = 1000,
                                              .body_bytes_max = 10000,
                                              .drain_ns = EDDY_SEC(10) };
        int err = eddy_tcp_listen("127.0.0.1", (uint16_t) strtoul(port, NULL, 10), NULL, &listener);

        if (err < 0)
                return err;
        printf("http://127.0.0.1:%u/notes\n", eddy_listener_port(listener));
        fflush(stdout);
        err = eddy_http_serve(listener, &opts, handle, pool);
        puts("stopped");
        return err == -ECANCELED ? 0 : err;
}

static int run(void *arg)
{
        char **args = arg;
        EDDY_AUTO(eddy_pool) eddy_pool *pool = NULL;
        static struct eddy_pg_fault fault;
        struct eddy_pg_opts opts = { .conninfo = args[1],
                                     .flags = EDDY_PG_KEEP_SESSION,
                                     .ret_fault = &fault };
        struct eddy_pool_opts pool_opts = { .size = 10, .waiters_max = 100 };
        int err = eddy_pg_pool_new(&opts, &pool_opts, &pool);

        if (err == 0)
                err = create_table(pool);
        if (err == 0)
                err = serve(pool, args[2]);
        if (err < 0)
                fprintf(stderr, "100-rest-api: %s %s\n", eddy_error_text(err), fault.text);
        return err;
}

int main(int argc, char **argv)
{
        if (argc != 3) {
                fprintf(stderr, "usage: 100-rest-api CONNINFO PORT\n");
                return 2;
        }
        return eddy_run(run, argv, NULL) < 0;
}
