/*
 * The connection to a server is ended and reset after each byte of its answers, and of what it is sent, in
 * each state. A call ends with a documented error or the right value, and the client works again afterwards.
 */
#include <errno.h>

#include "../../cut.h"
#include "mongo_test.h"

enum { DOCUMENTS = 5 };

struct document {
        int32_t id;
};

static const struct eddy_field id_list[] = { EDDY_FIELD(struct document, id,
                                                        EDDY_FIELD_AS("_id")) };
static const struct eddy_fields id_fields = EDDY_FIELDS(struct document, id_list, 0);

static eddy_mongo *direct; /* past the proxy */

static int64_t count_of(eddy_mongo *mongo, const char *collection)
{
        char text[64], *reply, *number;
        int64_t count;

        snprintf(text, sizeof(text), "{\"count\": \"%s\"}", collection);
        CHECK_EQ(eddy_mongo_command(mongo, text, &reply, NULL), 0);
        number = strstr(reply, "\"n\" : ");
        CHECK(number != NULL);
        count = strtol(number + 6, NULL, 10);
        eddy_free(reply);
        return count;
}

static int ping(eddy_mongo *mongo)
{
        char *reply = NULL;
        int err = eddy_mongo_command(mongo, "{\"ping\": 1}", &reply, NULL);

        if (err == 0)
                CHECK(strstr(reply, "\"ok\" : 1") != NULL);
        eddy_free(reply);
        return err;
}

static bool repeats; /* libmongoc repeats a read, after half a second */

static eddy_mongo *client_of(const struct cut *cut, uint32_t clients)
{
        char uri[80];
        struct eddy_mongo_opts opts = { .uri = uri, .clients_max = clients };
        eddy_mongo *mongo;

        snprintf(uri, sizeof(uri), "mongodb://127.0.0.1:%d/test?retryReads=%s", cut->proxy.own_port,
                 repeats ? "true" : "false");
        CHECK_EQ(eddy_mongo_new(&opts, &mongo, NULL), 0);
        return mongo;
}

/* Connected, by a first command. */
static eddy_mongo *open_and_arm(struct cut *cut)
{
        eddy_mongo *mongo = client_of(cut, 1);

        CHECK_EQ(ping(mongo), 0);
        cut_arm(cut);
        return mongo;
}

/* After the cut. The connection of the loan may have ended without a call that noticed it. */
static int works_again(struct cut *cut, eddy_mongo *mongo, int err)
{
        cut_heal(cut);
        if (err == 0)
                (void) ping(mongo);
        CHECK_EQ(ping(mongo), 0);
        return err;
}

/* --- one call --- */

static int connect_cut(void *arg)
{
        struct cut *cut = arg;
        EDDY_AUTO(eddy_mongo) eddy_mongo *mongo = client_of(cut, 1);

        cut_arm(cut);
        return works_again(cut, mongo, ping(mongo));
}

static int command_cut(void *arg)
{
        EDDY_AUTO(eddy_mongo) eddy_mongo *mongo = open_and_arm(arg);
        char *reply = NULL;
        int err = eddy_mongo_command(mongo, "{\"count\": \"documents\"}", &reply, NULL);

        if (err == 0)
                CHECK(strstr(reply, "\"n\" : 5") != NULL);
        eddy_free(reply);
        return works_again(arg, mongo, err);
}

static int refused_cut(void *arg)
{
        EDDY_AUTO(eddy_mongo) eddy_mongo *mongo = open_and_arm(arg);
        int err = eddy_mongo_command(mongo, "{\"noSuchCommand\": 1}", NULL, NULL);

        CHECK(err < 0);
        return works_again(arg, mongo, err == EDDY_E_MONGO_REFUSED ? 0 : err);
}

static int insert_cut(void *arg)
{
        EDDY_AUTO(eddy_mongo) eddy_mongo *mongo = open_and_arm(arg);
        int64_t before = count_of(direct, "inserted"), after;
        struct eddy_mongo_result result;
        int err = eddy_mongo_insert(mongo, "inserted", "[{\"a\": 1}, {\"a\": 2}]", &result);

        after = count_of(direct, "inserted");
        if (err == 0) {
                CHECK_EQ(result.inserted, 2);
                CHECK_EQ(after, before + 2);
        } else {
                CHECK(after == before || after == before + 2);
        }
        return works_again(arg, mongo, err);
}

static int duplicate_cut(void *arg)
{
        EDDY_AUTO(eddy_mongo) eddy_mongo *mongo = open_and_arm(arg);
        int err = eddy_mongo_insert(mongo, "documents", "{\"_id\": 1}", NULL);

        CHECK(err < 0);
        CHECK_EQ(count_of(direct, "documents"), DOCUMENTS);
        return works_again(arg, mongo, err == EDDY_E_MONGO_DUPLICATE ? 0 : err);
}

static int update_cut(void *arg)
{
        EDDY_AUTO(eddy_mongo) eddy_mongo *mongo = open_and_arm(arg);
        struct eddy_mongo_result result;
        int err = eddy_mongo_update(mongo, "documents", "{\"_id\": {\"$gt\": 2}}",
                                    "{\"$inc\": {\"n\": 1}}", EDDY_MONGO_MANY, &result);

        if (err == 0)
                CHECK_EQ(result.modified, DOCUMENTS - 2);
        return works_again(arg, mongo, err);
}

static int delete_cut(void *arg)
{
        EDDY_AUTO(eddy_mongo) eddy_mongo *mongo = open_and_arm(arg);
        struct eddy_mongo_result result;
        int err;

        CHECK_EQ(eddy_mongo_insert(direct, "deleted", "{}", NULL), 0);
        err = eddy_mongo_delete(mongo, "deleted", "{}", EDDY_MONGO_MANY, &result);
        if (err == 0) {
                CHECK(result.deleted > 0);
                CHECK_EQ(count_of(direct, "deleted"), 0);
        }
        return works_again(arg, mongo, err);
}

/* Three messages, one for each kind of operation. */
static int bulk_cut(void *arg)
{
        static const char operations[] =
                "[{\"insert\": {\"a\": 1}}, {\"update\": {\"filter\": {\"a\": 1}, \"update\": "
                "{\"$set\": {\"a\": 2}}, \"many\": true}}, {\"delete\": {\"filter\": {\"a\": 2}, "
                "\"many\": true}}]";
        EDDY_AUTO(eddy_mongo) eddy_mongo *mongo = open_and_arm(arg);
        struct eddy_mongo_result result;
        int err = eddy_mongo_bulk(mongo, "bulk", operations, 0, &result);

        if (err == 0) {
                CHECK_EQ(result.inserted, 1);
                CHECK(result.modified >= 1);
                CHECK_EQ(result.deleted, result.modified);
                CHECK_EQ(count_of(direct, "bulk"), 0);
        }
        CHECK_EQ(eddy_mongo_delete(direct, "bulk", "{}", EDDY_MONGO_MANY, NULL), 0);
        return works_again(arg, mongo, err);
}

/* --- cursors --- */

static int read_all(eddy_mongo_cursor *cursor)
{
        char expected[64];
        const char *text;
        int n, count = 0;

        while ((n = eddy_mongo_next(cursor, &text, NULL, NULL)) == 1) {
                snprintf(expected, sizeof(expected), "{ \"_id\" : %d }", ++count);
                CHECK_STR(text, expected);
        }
        if (n == 0)
                CHECK_EQ(count, DOCUMENTS);
        return n;
}

static int find_cut(void *arg)
{
        EDDY_AUTO(eddy_mongo) eddy_mongo *mongo = open_and_arm(arg);
        eddy_mongo_cursor *cursor = NULL;
        int err;

        CHECK_EQ(eddy_mongo_find(mongo, "documents", "{}",
                                 "{\"sort\": {\"_id\": 1}, \"projection\": {\"_id\": 1}, "
                                 "\"batchSize\": 2}",
                                 &cursor, NULL),
                 0);
        err = read_all(cursor);
        eddy_mongo_cursor_close(cursor);
        return works_again(arg, mongo, err);
}

static int aggregate_cut(void *arg)
{
        EDDY_AUTO(eddy_mongo) eddy_mongo *mongo = open_and_arm(arg);
        eddy_mongo_cursor *cursor = NULL;
        int err;

        CHECK_EQ(eddy_mongo_aggregate(mongo, "documents",
                                      "[{\"$sort\": {\"_id\": 1}}, {\"$project\": {\"_id\": 1}}]",
                                      "{\"batchSize\": 2}", &cursor, NULL),
                 0);
        err = read_all(cursor);
        eddy_mongo_cursor_close(cursor);
        return works_again(arg, mongo, err);
}

static int repeated_cut(void *arg)
{
        EDDY_AUTO(eddy_mongo) eddy_mongo *mongo = NULL;
        struct document document = { 0 };
        int err;

        repeats = true;
        mongo = open_and_arm(arg);
        repeats = false;
        err = eddy_mongo_one(mongo, "documents", "{\"_id\": 3}", &id_fields, &document, NULL);
        if (err == 0)
                CHECK_EQ(document.id, 3);
        return works_again(arg, mongo, err);
}

/* The cursor is left after its first batch, and closed on the server. */
static int close_cut(void *arg)
{
        EDDY_AUTO(eddy_mongo) eddy_mongo *mongo = open_and_arm(arg);
        eddy_mongo_cursor *cursor = NULL;
        int n;

        CHECK_EQ(eddy_mongo_find(mongo, "documents", "{}", "{\"batchSize\": 2}", &cursor, NULL), 0);
        n = eddy_mongo_next(cursor, NULL, NULL, NULL);
        eddy_mongo_cursor_close(cursor);
        if (n == 1)
                n = ping(mongo);
        return works_again(arg, mongo, n);
}

/* --- several tasks --- */

static int ping_task(void *arg)
{
        return ping(arg);
}

/* Cancelled when the server has the request: the job goes on, and the next call has another client. */
static int cancelled_cut(void *arg)
{
        struct cut *cut = arg;
        EDDY_AUTO(eddy_mongo) eddy_mongo *mongo = open_and_arm(cut);
        uint64_t passed = cut->proxy.passed_up;
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, ping_task, mongo);
        while (cut->proxy.passed_up == passed && eddy_sleep(EDDY_MS(1)) == 0)
                continue;
        eddy_scope_cancel(&scope);
        err = eddy_scope_end(&scope);
        if (err == -ECANCELED || err == 0)
                err = ping(mongo);
        return works_again(cut, mongo, err);
}

static int tasks_cut(void *arg)
{
        struct cut *cut = arg;
        EDDY_AUTO(eddy_mongo) eddy_mongo *mongo = client_of(cut, 2);
        eddy_scope scope;

        cut_arm(cut);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_KEEP_GOING });
        for (int i = 0; i < 4; i++)
                eddy_scope_start(&scope, ping_task, mongo);
        return works_again(cut, mongo, eddy_scope_end(&scope));
}

static const int errors[] = { EDDY_E_MONGO_LOST, EDDY_E_MONGO_UNAVAILABLE, 0 };

static const struct cut_state states[] = {
        { "repeated read", repeated_cut, errors }, /* the first; left out of a sample */
        { "connect", connect_cut, errors },
        { "command", command_cut, errors },
        { "refused command", refused_cut, errors },
        { "insert", insert_cut, errors },
        { "duplicate", duplicate_cut, errors },
        { "update", update_cut, errors },
        { "delete", delete_cut, errors },
        { "bulk", bulk_cut, errors },
        { "cursor", find_cut, errors },
        { "pipeline", aggregate_cut, errors },
        { "closed cursor", close_cut, errors },
        { "cancelled command", cancelled_cut, errors },
        { "several tasks", tasks_cut, errors },
        { "connect, upwards", connect_cut, errors, true },
        { "insert, upwards", insert_cut, errors, true },
        { "cursor, upwards", find_cut, errors, true },
        { .name = NULL },
};

static int cuts_run(void *arg)
{
        struct cut cut = { .proxy = { .host = "127.0.0.1", .port = (uint16_t) mongo_server.port } };
        char text[32];

        (void) arg;
        direct = mongo_open(mongo_server.port, 1);
        for (int i = 1; i <= DOCUMENTS; i++) {
                snprintf(text, sizeof(text), "{\"_id\": %d, \"n\": 0}", i);
                CHECK_EQ(eddy_mongo_insert(direct, "documents", text, NULL), 0);
        }
        cut_sweep(&cut, test_is_full() ? states : states + 1);
        eddy_mongo_close(direct);
        return 0;
}

TEST(a_connection_that_ends_at_any_byte_is_an_error_or_gives_the_right_value)
{
        mongo_server_start();
        io_run_and_wait(cuts_run);
        mongo_server_stop();
}
