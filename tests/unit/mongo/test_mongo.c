/*
 * test_mongo.c - eddy/mongo.h against a server in memory, against servers that do not answer or answer
 * nonsense, and against wrong texts.
 */
#include <errno.h>
#include <netdb.h>
#include <resolv.h>
#include <signal.h>

#include "eddy/json.h"
#include "eddy/serve.h"
#include "mongo_test.h"

/* A case with a server, in a run that leaves no descriptor. */
#define MONGO_TEST(claim)                                                                          \
        static void body_##claim(eddy_mongo *mongo);                                               \
        static int main_##claim(void *arg)                                                         \
        {                                                                                          \
                EDDY_AUTO(eddy_mongo) eddy_mongo *mongo = mongo_open(mongo_server.port, 2);        \
                                                                                                   \
                (void) arg;                                                                        \
                body_##claim(mongo);                                                               \
                return 0;                                                                          \
        }                                                                                          \
        TEST(claim)                                                                                \
        {                                                                                          \
                mongo_server_start();                                                              \
                io_run(main_##claim);                                                              \
                mongo_server_stop();                                                               \
        }                                                                                          \
        static void body_##claim(eddy_mongo *mongo)

/* --- documents --- */

struct user {
        int32_t id;
        char name[32];
        int64_t visits;
        int64_t *scores;
        size_t scores_count;
};

static const struct eddy_field user_list[] = {
        EDDY_FIELD(struct user, id, EDDY_FIELD_AS("_id")),
        EDDY_FIELD(struct user, name),
        EDDY_FIELD(struct user, visits),
        EDDY_FIELD_LIST(struct user, scores, scores_count),
};
static const struct eddy_fields user_fields = EDDY_FIELDS(struct user, user_list, 0);

static int64_t visits_of(eddy_mongo *mongo, const char *filter)
{
        struct user user = { 0 };

        CHECK_EQ(eddy_mongo_one(mongo, "users", filter, &user_fields, &user, NULL), 0);
        eddy_fields_fini(&user_fields, &user);
        return user.visits;
}

static void insert_users(eddy_mongo *mongo)
{
        struct eddy_mongo_result result;

        CHECK_EQ(eddy_mongo_insert(
                         mongo, "users",
                         "[{\"_id\": 1, \"name\": \"Ada\", \"scores\": [7, 5000000000]},"
                         " {\"_id\": 2, \"name\": \"Bob\"}, {\"_id\": 3, \"name\": \"Bob\"}]",
                         &result),
                 0);
        CHECK_EQ(result.inserted, 3);
}

MONGO_TEST(documents_are_inserted_and_read_into_structs)
{
        struct user user = { 0 };

        insert_users(mongo);
        CHECK_EQ(eddy_mongo_insert(mongo, "users", "{\"_id\": 4}", NULL), 0);
        CHECK_EQ(eddy_mongo_insert(mongo, "users", "[]", NULL), 0);
        CHECK_EQ(eddy_mongo_one(mongo, "users", "{\"name\": \"Ada\"}", &user_fields, &user, NULL),
                 0);
        CHECK_EQ(user.id, 1);
        CHECK_STR(user.name, "Ada");
        CHECK_EQ(user.scores_count, 2);
        CHECK_EQ(user.scores[1], 5000000000);
        eddy_fields_fini(&user_fields, &user);
}

MONGO_TEST(one_document_is_not_none_and_not_two)
{
        struct eddy_mongo_error error;
        struct user user = { 0 };

        insert_users(mongo);
        CHECK_EQ(eddy_mongo_one(mongo, "users", "{\"_id\": 9}", &user_fields, &user, &error),
                 EDDY_E_MONGO_NONE);
        CHECK_EQ(eddy_mongo_one(mongo, "users", "{\"name\": \"Bob\"}", &user_fields, &user, &error),
                 EDDY_E_MONGO_MANY);
        CHECK_STR(error.text, "more than one document matches");
}

MONGO_TEST(documents_are_changed_replaced_and_deleted)
{
        struct eddy_mongo_result result;

        insert_users(mongo);
        CHECK_EQ(eddy_mongo_update(mongo, "users", "{\"name\": \"Bob\"}",
                                   "{\"$set\": {\"visits\": 5}}", 0, &result),
                 0);
        CHECK_EQ(result.matched, 1);
        CHECK_EQ(result.modified, 1);
        CHECK_EQ(eddy_mongo_update(mongo, "users", "{}", "{\"$inc\": {\"visits\": 2}}",
                                   EDDY_MONGO_MANY, &result),
                 0);
        CHECK_EQ(result.modified, 3);
        CHECK_EQ(visits_of(mongo, "{\"_id\": 2}"), 7);
        CHECK_EQ(eddy_mongo_update(mongo, "users", "{\"_id\": 9}", "{\"$set\": {\"visits\": 9}}",
                                   EDDY_MONGO_UPSERT, &result),
                 0);
        CHECK_EQ(result.upserted, 1);
        CHECK_EQ(visits_of(mongo, "{\"_id\": 9}"), 9);
        CHECK_EQ(eddy_mongo_update(mongo, "users", "{\"_id\": 9}", "{\"visits\": 1}", 0, &result),
                 0);
        CHECK_EQ(visits_of(mongo, "{\"_id\": 9}"), 1);
        CHECK_EQ(eddy_mongo_delete(mongo, "users", "{\"name\": \"Bob\"}", 0, &result), 0);
        CHECK_EQ(result.deleted, 1);
        CHECK_EQ(eddy_mongo_delete(mongo, "users", "{}", EDDY_MONGO_MANY, &result), 0);
        CHECK_EQ(result.deleted, 3);
}

MONGO_TEST(bulk_operations_stop_at_a_failure_or_go_on_by_option)
{
        static const char operations[] = "[{\"insert\": {\"_id\": 4}}, {\"insert\": {\"_id\": 1}},"
                                         " {\"update\": {\"filter\": {}, \"update\": {\"$set\": "
                                         "{\"visits\": 3}}, \"many\": true}},"
                                         " {\"delete\": {\"filter\": {\"_id\": 2}}}]";
        struct eddy_mongo_result result;

        insert_users(mongo);
        CHECK_EQ(eddy_mongo_bulk(mongo, "users", operations, 0, &result), EDDY_E_MONGO_DUPLICATE);
        CHECK_EQ(result.matched, 0);
        CHECK_EQ(visits_of(mongo, "{\"_id\": 1}"), 0);
        CHECK_EQ(result.error.code, 11000);
        CHECK(result.error.text[0]);
        CHECK_EQ(eddy_mongo_delete(mongo, "users", "{\"_id\": 4}", 0, NULL), 0);
        CHECK_EQ(eddy_mongo_bulk(mongo, "users", operations, EDDY_MONGO_UNORDERED, &result),
                 EDDY_E_MONGO_DUPLICATE);
        CHECK_EQ(result.matched, 4);
        CHECK_EQ(result.deleted, 1);
}

static void insert_thousand(eddy_mongo *mongo)
{
        enum { ROOM = 64 * 1000 };
        char *text = malloc(ROOM);
        int at = 0;

        for (int i = 0; i < 1000; i++)
                at += snprintf(text + at, (size_t) (ROOM - at), "%c{\"_id\": %d, \"visits\": %d}",
                               i ? ',' : '[', i, i % 7);
        snprintf(text + at, (size_t) (ROOM - at), "]");
        CHECK_EQ(eddy_mongo_insert(mongo, "users", text, NULL), 0);
        free(text);
}

MONGO_TEST(cursors_read_all_documents_in_order)
{
        EDDY_AUTO(eddy_mongo_cursor) eddy_mongo_cursor *cursor = NULL, *second = NULL;
        const char *text;
        size_t bytes;
        char expected[64];
        int n = 0;

        insert_thousand(mongo);
        CHECK_EQ(eddy_mongo_find(mongo, "users", "{}",
                                 "{\"sort\": {\"_id\": 1}, \"batchSize\": 30, "
                                 "\"projection\": {\"_id\": 1}}",
                                 &cursor, NULL),
                 0);
        while (eddy_mongo_next(cursor, &text, &bytes, NULL) == 1) {
                snprintf(expected, sizeof(expected), "{ \"_id\" : %d }", n++);
                CHECK_STR(text, expected);
                CHECK_EQ(bytes, strlen(text));
        }
        CHECK_EQ(n, 1000);
        CHECK_EQ(eddy_mongo_next(cursor, &text, &bytes, NULL), 0);
        /* Closed before its end. */
        CHECK_EQ(eddy_mongo_find(mongo, "users", "{}", "{\"batchSize\": 5}", &second, NULL), 0);
        CHECK_EQ(eddy_mongo_next(second, &text, NULL, NULL), 1);
}

MONGO_TEST(pipelines_and_commands_are_answered)
{
        EDDY_AUTO(eddy_mongo_cursor) eddy_mongo_cursor *cursor = NULL;
        struct eddy_mongo_error error;
        const char *text;
        char *reply;

        insert_thousand(mongo);
        CHECK_EQ(eddy_mongo_aggregate(
                         mongo, "users",
                         "[{\"$group\": {\"_id\": null, \"sum\": {\"$sum\": \"$visits\"}}}]", NULL,
                         &cursor, NULL),
                 0);
        CHECK_EQ(eddy_mongo_next(cursor, &text, NULL, NULL), 1);
        CHECK(strstr(text, "\"sum\" : 2997"));
        CHECK_EQ(eddy_mongo_command(mongo, "{\"ping\": 1}", &reply, NULL), 0);
        CHECK(strstr(reply, "\"ok\" : 1"));
        eddy_free(reply);
        CHECK_EQ(eddy_mongo_command(mongo, "{\"noSuchCommand\": 1}", NULL, &error),
                 EDDY_E_MONGO_REFUSED);
        CHECK(error.code != 0);
        CHECK(strstr(error.text, "noSuchCommand"));
}

MONGO_TEST(texts_that_are_not_documents_are_refused)
{
        static const char *const wrong[] = {
                "", "{", "3", "[1]", "[[]]", "{\"a\": }", "{\"_id\": {\"$oid\": \"x\"}}", "\xff"
        };
        static const char *const operations[] = {
                "{}",
                "[{}]",
                "[{\"insert\": 1}]",
                "[{\"drop\": {}}]",
                "[{\"delete\": {}}]",
                "[{\"update\": {\"filter\": {}}}]",
                "[{\"insert\": {}, \"delete\": {\"filter\": {}}}]"
        };
        struct eddy_mongo_result result;

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                CHECK_EQ(eddy_mongo_insert(mongo, "users", wrong[i], &result),
                         EDDY_E_MONGO_BAD_DOCUMENT);
                CHECK(result.error.text[0]);
        }
        for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
                CHECK_EQ(eddy_mongo_bulk(mongo, "users", operations[i], 0, NULL),
                         EDDY_E_MONGO_BAD_DOCUMENT);
        CHECK_EQ(eddy_mongo_insert(mongo, "", "{}", NULL), -EINVAL);
        CHECK_EQ(eddy_mongo_insert(mongo, "users", NULL, NULL), -EINVAL);
        CHECK_EQ(eddy_mongo_update(mongo, "users", "{}", "{}", 1 << 9, NULL), -EINVAL);
}

/* --- tasks --- */

struct writer {
        eddy_mongo *mongo;
        int number;
};

static int write_ten(void *arg)
{
        const struct writer *writer = arg;
        char text[64];

        for (int i = 0; i < 10; i++) {
                int err;

                snprintf(text, sizeof(text), "{\"_id\": %d}", writer->number * 10 + i);
                err = eddy_mongo_insert(writer->mongo, "users", text, NULL);
                CHECK_EQ(err, 0);
        }
        return 0;
}

MONGO_TEST(many_tasks_share_two_clients)
{
        struct writer writers[20];
        eddy_scope scope;
        char *reply;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 20; i++) {
                writers[i] = (struct writer){ mongo, i };
                eddy_scope_start(&scope, write_ten, &writers[i]);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_mongo_command(mongo, "{\"count\": \"users\"}", &reply, NULL), 0);
        CHECK(strstr(reply, "\"n\" : 200"));
        eddy_free(reply);
}

static void cancel_some(eddy_mongo *mongo, int64_t after_ns, int number)
{
        struct eddy_scope_opts limit = { .timeout_ns = after_ns };
        EDDY_AUTO(eddy_mongo_cursor) eddy_mongo_cursor *cursor = NULL, *second = NULL;
        struct user user = { 0 };
        char text[64];
        eddy_scope scope;

        eddy_scope_begin(&scope, &limit);
        snprintf(text, sizeof(text), "{\"_id\": %d, \"name\": \"n%d\"}", number, number);
        CHECK(eddy_mongo_insert(mongo, "users", text, NULL) <= 0);
        CHECK(eddy_mongo_update(mongo, "users", text, "{\"visits\": 1}", 0, NULL) <= 0);
        CHECK(eddy_mongo_one(mongo, "users", text, &user_fields, &user, NULL) <= 0);
        CHECK(eddy_mongo_delete(mongo, "users", text, 0, NULL) <= 0);
        CHECK(eddy_mongo_bulk(mongo, "users", "[{\"delete\": {\"filter\": {}}}]", 0, NULL) <= 0);
        if (eddy_mongo_find(mongo, "users", "{}", NULL, &cursor, NULL) == 0)
                CHECK(eddy_mongo_next(cursor, NULL, NULL, NULL) <= 1);
        if (eddy_mongo_aggregate(mongo, "users", "[]", NULL, &second, NULL) == 0)
                CHECK(eddy_mongo_next_into(second, &user_fields, &user, NULL) <= 1);
        (void) eddy_scope_end(&scope);
}

/*
 * Cancelled at random: eddy_mongo_insert(), eddy_mongo_update(), eddy_mongo_one(),
 * eddy_mongo_delete(), eddy_mongo_bulk(), eddy_mongo_find(), eddy_mongo_next(),
 * eddy_mongo_aggregate(), eddy_mongo_next_into(), eddy_mongo_cursor_close(), eddy_mongo_command(),
 * eddy_mongo_close()
 *
 * D5, D29: a client that was left to a job is not lent again.
 */
MONGO_TEST(calls_cancelled_at_any_time_leave_the_clients_usable)
{
        for (int i = 0; i < 100; i++) {
                char text[64], *reply = NULL;

                cancel_some(mongo, 1 + EDDY_US(80) * i, i);
                /* The answer is that of this command and no other. */
                snprintf(text, sizeof(text), "{\"count\": \"none%d\"}", i);
                CHECK_EQ(eddy_mongo_command(mongo, text, &reply, NULL), 0);
                CHECK(strstr(reply, "\"n\" : 0"));
                eddy_free(reply);
        }
}

/* --- servers that fail --- */

static int is_answered(eddy_mongo *mongo, struct eddy_mongo_error *error)
{
        return eddy_mongo_command(mongo, "{\"ping\": 1}", NULL, error);
}

static int absent_main(void *arg)
{
        eddy_listener *listener;
        EDDY_AUTO(eddy_mongo) eddy_mongo *mongo = NULL;
        struct eddy_mongo_error error;

        (void) arg;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        mongo = mongo_open_limited(eddy_listener_port(listener), 1, EDDY_MS(300));
        eddy_listener_close(listener);
        CHECK_EQ(is_answered(mongo, &error), EDDY_E_MONGO_UNAVAILABLE);
        CHECK(error.text[0]);
        CHECK_EQ(is_answered(mongo, NULL), EDDY_E_MONGO_UNAVAILABLE);
        return 0;
}

TEST(a_server_that_is_not_there_is_an_error)
{
        io_run(absent_main);
}

static int64_t read_until_end(eddy_stream *stream)
{
        char buf[256];
        int64_t n;

        do
                n = eddy_stream_read(stream, buf, sizeof(buf));
        while (n > 0);
        return n;
}

static int serve_silence(eddy_stream *stream, void *arg)
{
        (void) arg;
        (void) read_until_end(stream);
        eddy_stream_close(stream);
        return 0;
}

/* The length of a message, and no message: too short, negative, or too long. */
static int serve_nonsense(eddy_stream *stream, void *arg)
{
        static const unsigned char nonsense[][16] = {
                { 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0xdd, 7, 0, 0 },
                { 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 1, 0, 0, 0, 0xdd, 7, 0, 0 },
                { 0xff, 0xff, 0xff, 0x7f, 1, 0, 0, 0, 1, 0, 0, 0, 0xdd, 7, 0, 0 },
                "HTTP/1.1 400 no",
        };
        unsigned *n = arg;
        char buf[64];

        if (eddy_stream_read(stream, buf, sizeof(buf)) > 0)
                CHECK(eddy_stream_write(stream, nonsense[(*n)++ % 4], 16) <= 0);
        (void) read_until_end(stream);
        eddy_stream_close(stream);
        return 0;
}

struct serving {
        eddy_listener *listener;
        eddy_serve_fn *fn;
        unsigned count;
};

static int serve(void *arg)
{
        struct serving *serving = arg;

        (void) eddy_serve(serving->listener, NULL, serving->fn, &serving->count);
        return 0;
}

static void check_refused(eddy_serve_fn *fn, int calls)
{
        struct serving serving = { .fn = fn };
        eddy_mongo *mongo;
        eddy_scope scope;

        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &serving.listener), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve, &serving);
        mongo = mongo_open_limited(eddy_listener_port(serving.listener), 1, EDDY_MS(300));
        for (int i = 0; i < calls; i++) {
                int err = is_answered(mongo, NULL);

                CHECK(err == EDDY_E_MONGO_UNAVAILABLE || err == EDDY_E_MONGO_LOST);
        }
        eddy_mongo_close(mongo);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_listener_close(serving.listener);
}

static int hostile_main(void *arg)
{
        (void) arg;
        check_refused(serve_silence, 2);
        check_refused(serve_nonsense, 8);
        return 0;
}

TEST(a_server_that_is_silent_or_talks_nonsense_is_an_error_in_time)
{
        io_run(hostile_main);
}

static int frozen_main(void *arg)
{
        EDDY_AUTO(eddy_mongo)
        eddy_mongo *mongo = mongo_open_limited(mongo_server.port, 1, EDDY_SEC(1));

        (void) arg;
        CHECK_EQ(is_answered(mongo, NULL), 0);
        mongo_server_freeze();
        CHECK_EQ(is_answered(mongo, NULL), EDDY_E_MONGO_LOST);
        CHECK_EQ(kill(mongo_server.pid, SIGCONT), 0);
        CHECK_EQ(is_answered(mongo, NULL), 0);
        CHECK_EQ(kill(mongo_server.pid, SIGKILL), 0);
        CHECK(is_answered(mongo, NULL) < 0);
        CHECK_EQ(is_answered(mongo, NULL), EDDY_E_MONGO_UNAVAILABLE);
        return 0;
}

TEST(a_server_that_freezes_is_an_error_and_is_used_again_when_it_goes_on)
{
        mongo_server_start();
        io_run(frozen_main);
        mongo_server_stop();
}

static int64_t longest_ns; /* between two turns of the loop */

static int watch_loop(void *arg)
{
        int64_t last_ns = eddy_now();

        (void) arg;
        while (eddy_sleep(EDDY_MS(5)) == 0) {
                int64_t now_ns = eddy_now();

                if (now_ns - last_ns > longest_ns)
                        longest_ns = now_ns - last_ns;
                last_ns = now_ns;
        }
        return 0;
}

/* Leave a cursor that is not at its end, as a request does whose deadline has passed. */
static void leave_cursor(eddy_mongo *mongo, bool is_read)
{
        EDDY_AUTO(eddy_mongo_cursor) eddy_mongo_cursor *cursor = NULL;
        eddy_scope scope;

        CHECK_EQ(eddy_mongo_find(mongo, "users", "{}", "{\"batchSize\": 10}", &cursor, NULL), 0);
        for (int i = 0; i < 100; i++)
                CHECK_EQ(eddy_mongo_next(cursor, NULL, NULL, NULL), 1);
        mongo_server_freeze();
        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        if (is_read)
                CHECK_EQ(eddy_mongo_next(cursor, NULL, NULL, NULL), -ECANCELED);
        eddy_mongo_cursor_close(cursor);
        cursor = NULL;
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

static int left_main(void *arg)
{
        EDDY_AUTO(eddy_mongo)
        eddy_mongo *mongo = mongo_open_limited(mongo_server.port, 1, EDDY_SEC(10));
        eddy_scope scope;

        (void) arg;
        insert_thousand(mongo);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, watch_loop, NULL);
        for (int is_read = 0; is_read < 2; is_read++) {
                leave_cursor(mongo, is_read);
                CHECK_EQ(eddy_sleep(EDDY_MS(50)), 0);
                CHECK_EQ(kill(mongo_server.pid, SIGCONT), 0);
                CHECK_EQ(is_answered(mongo, NULL), 0);
        }
        CHECK(longest_ns < EDDY_SEC(5)); /* blocked: 'answer_ns' */
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        return 0;
}

TEST(a_cursor_that_is_left_does_not_block_the_loop_until_the_server_answers)
{
        mongo_server_start();
        io_run(left_main);
        mongo_server_stop();
}

/* --- options --- */

static int options_main(void *arg)
{
        static const char *const wrong[] = { "", "mongodb://", "http://127.0.0.1/x",
                                             "mongodb://user:secr%zz@127.0.0.1/x" };
        struct eddy_mongo_opts no_database = { .uri = "mongodb://127.0.0.1" },
                               many = { .uri = "mongodb://127.0.0.1/x",
                                        .clients_max = EDDY_MONGO_CLIENTS_MAX + 1 },
                               negative = { .uri = "mongodb://127.0.0.1/x", .select_ns = -1 };
        struct eddy_mongo_error error;
        eddy_mongo *mongo = NULL;

        (void) arg;
        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                struct eddy_mongo_opts opts = { .uri = wrong[i], .database = "x" };

                CHECK_EQ(eddy_mongo_new(&opts, &mongo, &error), EDDY_E_MONGO_BAD_URI);
                CHECK(error.text[0] && !strstr(error.text, "secr"));
        }
        CHECK_EQ(eddy_mongo_new(NULL, &mongo, &error), -EINVAL);
        CHECK_EQ(eddy_mongo_new(&no_database, &mongo, &error), -EINVAL);
        CHECK_EQ(eddy_mongo_new(&many, &mongo, &error), -EINVAL);
        CHECK_EQ(eddy_mongo_new(&negative, &mongo, &error), -EINVAL);
        CHECK_EQ(eddy_mongo_insert(NULL, "users", "{}", NULL), -EINVAL);
        CHECK_EQ(eddy_mongo_next(NULL, NULL, NULL, NULL), -EINVAL);
        eddy_mongo_close(NULL);
        eddy_mongo_cursor_close(NULL);
        return 0;
}

TEST(wrong_options_are_refused_and_a_password_is_not_shown)
{
        io_run(options_main);
}

/* --- names --- */

static _Atomic int looked_up, looked_up_on_loop;

/* Instead of the C library's, which would ask a server of names. */
int res_nsearch(res_state state, const char *name, int class, int type, unsigned char *answer,
                int bytes)
{
        (void) state, (void) name, (void) class, (void) type, (void) answer, (void) bytes;
        looked_up++;
        looked_up_on_loop += eddy_task_current() != NULL;
        h_errno = HOST_NOT_FOUND;
        return -1;
}

static int srv_main(void *arg)
{
        struct eddy_mongo_opts opts = { .uri = "mongodb+srv://cluster.example.com/db",
                                        .clients_max = 1,
                                        .select_ns = EDDY_MS(300) };
        EDDY_AUTO(eddy_mongo) eddy_mongo *mongo = NULL;
        struct eddy_mongo_error error;

        (void) arg;
        CHECK_EQ(eddy_mongo_new(&opts, &mongo, &error), 0);
        for (int i = 1; i < 3; i++) {
                CHECK_EQ(is_answered(mongo, &error), EDDY_E_MONGO_UNAVAILABLE);
                CHECK(error.text[0]);
                CHECK_EQ(looked_up, i); /* each new client looks again */
        }
        CHECK_EQ(looked_up_on_loop, 0);
        return 0;
}

TEST(the_servers_of_a_domain_are_looked_up_on_a_thread)
{
        io_run(srv_main);
}

/* --- memory --- */

static int memory_main(void *arg)
{
        int err = -ENOMEM;

        (void) arg;
        for (int n = 0; err == -ENOMEM || err == -EAGAIN; n++) {
                struct eddy_mongo_opts opts = { .uri = "mongodb://127.0.0.1:1/x",
                                                .select_ns = EDDY_MS(50) };
                eddy_mongo *mongo = NULL;

                io_fail_allocations(n);
                err = eddy_mongo_new(&opts, &mongo, NULL);
                if (err == 0)
                        err = eddy_mongo_insert(mongo, "users", "{}", NULL);
                io_fail_allocations(-1);
                eddy_mongo_close(mongo);
                CHECK(err == -ENOMEM || err == -EAGAIN || err == EDDY_E_MONGO_UNAVAILABLE);
        }
        return 0;
}

TEST(each_allocation_of_ours_may_fail)
{
        io_run(memory_main);
}
