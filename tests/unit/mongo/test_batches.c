/*
 * test_batches.c - cursors of a server that sends batches without a document, as a server may that has not
 * found one yet.
 */
#include <errno.h>

#include "../../turning.h"
#include "eddy/reader.h"
#include "eddy/serve.h"
#include "mongo_test.h"

#include <bson/bson.h>

enum {
        HEADER_BYTES = 16,
        MESSAGE_BYTES_MAX = 4096,
        OP_REPLY = 1,
        OP_QUERY = 2004,
        OP_MSG = 2013,
        NAME_AT = 26, /* of the command, in an OP_MSG */
};

static struct fake {
        eddy_listener *listener;
        int empty; /* batches before the document */
        int more;  /* that were asked for */
} fake;

static int32_t number_at(const char *message, size_t at)
{
        int32_t number;

        memcpy(&number, message + at, sizeof(number));
        return BSON_UINT32_FROM_LE(number);
}

static const char *answer_of(const char *message)
{
        const char *name = message + NAME_AT;

        if (number_at(message, 12) == OP_QUERY || strcmp(name, "hello") == 0)
                return "{\"ismaster\": true, \"maxWireVersion\": 17, \"ok\": 1}";
        if (strcmp(name, "find") == 0)
                return "{\"cursor\": {\"id\": {\"$numberLong\": \"7\"}, \"ns\": \"test.users\", "
                       "\"firstBatch\": []}, \"ok\": 1}";
        if (strcmp(name, "getMore") != 0)
                return "{\"ok\": 1}";
        return ++fake.more <= fake.empty
                       ? "{\"cursor\": {\"id\": {\"$numberLong\": \"7\"}, \"ns\": \"test.users\", "
                         "\"nextBatch\": []}, \"ok\": 1}"
                       : "{\"cursor\": {\"id\": {\"$numberLong\": \"0\"}, \"ns\": \"test.users\", "
                         "\"nextBatch\": [{\"_id\": 5}]}, \"ok\": 1}";
}

static int answer(eddy_stream *stream, const char *message)
{
        bool is_query = number_at(message, 12) == OP_QUERY;
        size_t before = is_query ? HEADER_BYTES + 20 : HEADER_BYTES + 5;
        bson_t *document = bson_new_from_json((const uint8_t *) answer_of(message), -1, NULL);
        char out[MESSAGE_BYTES_MAX] = "";
        int32_t header[4] = { 0, 1, number_at(message, 4), is_query ? OP_REPLY : OP_MSG };

        header[0] = (int32_t) (before + document->len);
        memcpy(out, header, sizeof(header));
        if (is_query)
                out[HEADER_BYTES + 16] = 1; /* one document */
        memcpy(out + before, bson_get_data(document), document->len);
        bson_destroy(document);
        return eddy_stream_write(stream, out, (size_t) header[0]);
}

static int serve_client(eddy_stream *stream, void *arg)
{
        char message[MESSAGE_BYTES_MAX];
        int err = 0;

        (void) arg;
        while (err == 0) {
                int64_t n = 0, bytes = HEADER_BYTES;

                for (int64_t held = 0; held < bytes; held += n) {
                        n = eddy_stream_read(stream, message + held, (size_t) (bytes - held));
                        if (n <= 0)
                                break;
                        if (held + n >= HEADER_BYTES)
                                bytes = number_at(message, 0);
                        CHECK(bytes <= MESSAGE_BYTES_MAX);
                }
                err = n > 0 ? answer(stream, message) : -EPIPE;
        }
        eddy_stream_close(stream);
        return 0;
}

static int serve(void *arg)
{
        (void) arg;
        (void) eddy_serve(fake.listener, NULL, serve_client, NULL);
        return 0;
}

static int with_cursor(int empty, eddy_task_fn *fn)
{
        eddy_mongo_cursor *cursor = NULL;
        eddy_mongo *mongo;
        eddy_scope scope;
        int err;

        fake = (struct fake){ .empty = empty };
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &fake.listener), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve, NULL);
        mongo = mongo_open(eddy_listener_port(fake.listener), 1);
        CHECK_EQ(eddy_mongo_find(mongo, "users", "{}", NULL, &cursor, NULL), 0);
        err = fn(cursor);
        eddy_mongo_cursor_close(cursor);
        eddy_mongo_close(mongo);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_listener_close(fake.listener);
        return err;
}

static int read_one(void *arg)
{
        const char *text;

        CHECK_EQ(eddy_mongo_next(arg, &text, NULL, NULL), 1);
        CHECK_STR(text, "{ \"_id\" : 5 }");
        CHECK_EQ(eddy_mongo_next(arg, &text, NULL, NULL), 0);
        return 0;
}

static int late_main(void *arg)
{
        (void) arg;
        for (int empty = 0; empty < 5; empty++) {
                CHECK_EQ(with_cursor(empty, read_one), 0);
                CHECK_EQ(fake.more, empty + 1);
        }
        return 0;
}

TEST(a_document_after_empty_batches_is_read)
{
        io_run(late_main);
}

static int read_until_cancelled(void *arg)
{
        CHECK_EQ(eddy_mongo_next(arg, NULL, NULL, NULL), -ECANCELED);
        return 0;
}

static int cancel_later(void *arg)
{
        while (fake.more < 10)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        eddy_scope_cancel(arg);
        return 0;
}

static int read_for_ever(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, read_until_cancelled, arg);
        eddy_scope_start(&scope, cancel_later, &scope);
        return eddy_scope_end(&scope);
}

static int endless_main(void *arg)
{
        (void) arg;
        CHECK_EQ(with_cursor(INT32_MAX, read_for_ever), 0);
        return 0;
}

TEST(a_server_that_sends_only_empty_batches_holds_the_task_until_it_is_cancelled)
{
        turning_watch();
        io_run_and_wait(endless_main);
}
