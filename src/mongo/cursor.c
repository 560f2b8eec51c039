/*
 * mongo/cursor.c - reading documents: a job reads several, and the caller takes them one by one.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/list.h"
#include "eddy/error.h"
#include "eddy/json.h"
#include "eddy/scope.h"
#include "mongo/mongo.h"
#include "scope/misuse.h"

enum {
        BATCH_DOCUMENTS = 100,
        BUFFER_BYTES_MAX = 1 << 27 /* a document is at most 16 MiB of BSON */
};

#define CLOSE_NS EDDY_SEC(1)

struct reading {
        struct ed_mongo_call call;
        bool is_pipeline;
        bool closes;
        bool is_at_end;
        char *query_text, *opts_text; /* the options may be NULL */
        bson_t *query, *opts;
        struct ed_buf batch; /* texts, each with its NUL */
};

struct eddy_mongo_cursor {
        eddy_mongo *mongo;
        eddy_pool_loan loan;
        struct reading *reading;
        bool is_busy;
        bool is_lost;      /* a job may run still */
        size_t text_bytes; /* of the text that was returned last, with its NUL */
        int err;           /* what each further call returns */
};

static void reading_free(struct ed_mongo_call *call)
{
        struct reading *reading = ed_container_of(call, struct reading, call);

        if (reading->query)
                bson_destroy(reading->query);
        if (reading->opts)
                bson_destroy(reading->opts);
        ed_free(reading->query_text);
        ed_free(reading->opts_text);
        ed_buf_fini(&reading->batch);
        ed_free(reading);
}

/* --- the job --- */

static int cursor_begin(struct reading *reading)
{
        struct ed_mongo_client *client = reading->call.client;
        struct eddy_mongo_error *error = &reading->call.error;
        mongoc_collection_t *collection;
        int err = ed_mongo_document_parse(reading->query_text, reading->is_pipeline,
                                          &reading->query, error);

        if (err == 0 && reading->opts_text)
                err = ed_mongo_document_parse(reading->opts_text, false, &reading->opts, error);
        if (err < 0)
                return err;
        collection = mongoc_client_get_collection(client->handle, client->database,
                                                  reading->call.collection);
        client->cursor = reading->is_pipeline
                                 ? mongoc_collection_aggregate(collection, MONGOC_QUERY_NONE,
                                                               reading->query, reading->opts, NULL)
                                 : mongoc_collection_find_with_opts(collection, reading->query,
                                                                    reading->opts, NULL);
        mongoc_collection_destroy(collection);
        return 0;
}

static int text_append(struct reading *reading, const bson_t *document)
{
        size_t bytes;
        char *text = bson_as_relaxed_extended_json(document, &bytes);
        int err;

        if (!text)
                return ed_mongo_fail_text(&reading->call.error, EDDY_E_MONGO_BAD_DOCUMENT,
                                          "a document of the server cannot be written as JSON");
        err = ed_buf_append(&reading->batch, text, bytes + 1);
        bson_free(text);
        return err == 0 ? 0 : ed_mongo_fail_text(&reading->call.error, err, eddy_error_text(err));
}

/* At most one message to the server: a caller whose server sends empty batches for ever can be cancelled. */
static int reading_run(struct ed_mongo_call *call)
{
        struct reading *reading = ed_container_of(call, struct reading, call);
        struct ed_mongo_client *client = call->client;
        bson_error_t error = { 0 };
        const bson_t *document;
        int err = 0;

        if (reading->closes) {
                mongoc_cursor_destroy(client->cursor);
                client->cursor = NULL;
                return 0;
        }
        if (!client->cursor)
                err = cursor_begin(reading);
        for (int n = 0; err == 0 && n < BATCH_DOCUMENTS; n++) {
                if (ed_buf_bytes(&reading->batch) >= EDDY_MONGO_BATCH_MAX)
                        break;
                if (!mongoc_cursor_next(client->cursor, &document)) {
                        /* Else the batch was empty, and the server may have more. */
                        reading->is_at_end = !mongoc_cursor_more(client->cursor);
                        break;
                }
                err = text_append(reading, document);
        }
        if (err == 0 && mongoc_cursor_error(client->cursor, &error))
                err = ed_mongo_fail(&call->error, &error);
        return err;
}

/* --- the caller --- */

/* 'texts': the collection's name, the query, and the options or NULL. */
static int texts_copy(struct reading *reading, const char *const *texts)
{
        struct eddy_mongo_error *error = &reading->call.error;
        int err = ed_mongo_call_init(&reading->call, texts[0]);

        if (err < 0)
                return ed_mongo_fail_text(error, err, "the collection's name is empty or too long");
        err = ed_mongo_text_copy(texts[1], &reading->query_text, error);
        if (err == 0 && texts[2])
                err = ed_mongo_text_copy(texts[2], &reading->opts_text, error);
        return err;
}

static int cursor_open(eddy_mongo *mongo, bool is_pipeline, const char *const texts[3],
                       eddy_mongo_cursor **ret_cursor, struct eddy_mongo_error *ret_error)
{
        eddy_mongo_cursor *cursor;
        int err;

        if (!mongo)
                return ed_mongo_fail_text(ret_error, -EINVAL, "the object is missing (NULL)");
        err = ed_member_check(&mongo->member);
        if (err < 0)
                return ed_mongo_fail_text(ret_error, err, eddy_error_text(err));
        cursor = ed_alloc_zero(sizeof(*cursor));
        if (cursor)
                cursor->reading = ed_alloc_zero(sizeof(*cursor->reading));
        if (!cursor || !cursor->reading) {
                ed_free(cursor);
                return ed_mongo_fail_text(ret_error, -ENOMEM, eddy_error_text(-ENOMEM));
        }
        cursor->mongo = mongo;
        cursor->reading->is_pipeline = is_pipeline;
        cursor->reading->call.run = reading_run;
        cursor->reading->call.free = reading_free;
        ed_buf_init(&cursor->reading->batch, BUFFER_BYTES_MAX);
        err = texts_copy(cursor->reading, texts);
        if (err < 0 && ret_error)
                *ret_error = cursor->reading->call.error;
        if (err == 0) {
                err = eddy_pool_acquire(mongo->pool, &cursor->loan);
                if (err < 0)
                        (void) ed_mongo_fail_text(ret_error, err, eddy_error_text(err));
        }
        if (err < 0)
                eddy_mongo_cursor_close(cursor);
        else
                *ret_cursor = cursor;
        return err;
}

int eddy_mongo_find(eddy_mongo *mongo, const char *collection, const char *filter, const char *opts,
                    eddy_mongo_cursor **ret_cursor, struct eddy_mongo_error *ret_error)
{
        return cursor_open(mongo, false, (const char *[3]){ collection, filter, opts }, ret_cursor,
                           ret_error);
}

int eddy_mongo_aggregate(eddy_mongo *mongo, const char *collection, const char *pipeline,
                         const char *opts, eddy_mongo_cursor **ret_cursor,
                         struct eddy_mongo_error *ret_error)
{
        return cursor_open(mongo, true, (const char *[3]){ collection, pipeline, opts }, ret_cursor,
                           ret_error);
}

/* Read the next texts. */
static int cursor_fill(eddy_mongo_cursor *cursor)
{
        int err;

        cursor->is_busy = true;
        err = ed_mongo_call_submit(cursor->mongo, &cursor->loan, &cursor->reading->call);
        cursor->is_busy = false;
        cursor->is_lost = err == -ECANCELED;
        return err;
}

static int fail_again(const eddy_mongo_cursor *cursor, struct eddy_mongo_error *ret_error)
{
        if (ret_error)
                *ret_error = cursor->reading->call.error;
        return cursor->err;
}

int eddy_mongo_next(eddy_mongo_cursor *cursor, const char **ret_text, size_t *ret_bytes,
                    struct eddy_mongo_error *ret_error)
{
        struct ed_buf *batch;
        int err;

        if (!cursor)
                return -EINVAL;
        err = ed_member_check(&cursor->mongo->member);
        if (err < 0)
                return ed_mongo_fail_text(ret_error, err, eddy_error_text(err));
        if (cursor->is_busy)
                return -EBUSY;
        if (cursor->is_lost)
                return cursor->err;
        batch = &cursor->reading->batch;
        ed_buf_consume(batch, cursor->text_bytes);
        cursor->text_bytes = 0;
        while (ed_buf_bytes(batch) == 0) {
                if (cursor->err < 0)
                        return fail_again(cursor, ret_error);
                if (cursor->reading->is_at_end)
                        return 0;
                cursor->err = cursor_fill(cursor);
                if (cursor->is_lost)
                        return cursor->err;
        }
        cursor->text_bytes = strlen(ed_buf_data(batch)) + 1;
        if (ret_text)
                *ret_text = ed_buf_data(batch);
        if (ret_bytes)
                *ret_bytes = cursor->text_bytes - 1;
        return 1;
}

int eddy_mongo_next_into(eddy_mongo_cursor *cursor, const struct eddy_fields *fields, void *out,
                         struct eddy_mongo_error *ret_error)
{
        struct eddy_json_error wrong;
        const char *text;
        size_t bytes;
        int n = eddy_mongo_next(cursor, &text, &bytes, ret_error), err;

        if (n <= 0)
                return n;
        err = eddy_json_read(fields, text, bytes, out, &wrong);
        return err == 0 ? 1 : ed_mongo_fail_text(ret_error, err, wrong.text);
}

/* A cursor of libmongoc that is left ends with its client, which is not lent again. */
static void handle_close(eddy_mongo_cursor *cursor)
{
        struct eddy_scope_opts limit = { .flags = EDDY_SCOPE_SHIELD, .timeout_ns = CLOSE_NS };
        struct ed_mongo_client *client = cursor->loan.item;
        eddy_scope shield;

        if (cursor->is_lost || !client || !client->cursor)
                return;
        cursor->reading->closes = true;
        eddy_scope_begin(&shield, &limit);
        if (cursor_fill(cursor) < 0)
                atomic_store(&client->is_broken, true);
        (void) eddy_scope_end(&shield);
}

void eddy_mongo_cursor_close(eddy_mongo_cursor *cursor)
{
        if (!cursor || !ed_misuse_may_close(&cursor->mongo->member, "a cursor of MongoDB"))
                return;
        handle_close(cursor);
        ed_mongo_call_unref(&cursor->reading->call);
        (void) eddy_pool_release(&cursor->loan);
        ed_free(cursor);
}

int eddy_mongo_one(eddy_mongo *mongo, const char *collection, const char *filter,
                   const struct eddy_fields *fields, void *out, struct eddy_mongo_error *ret_error)
{
        EDDY_AUTO(eddy_mongo_cursor) eddy_mongo_cursor *cursor = NULL;
        int n = eddy_mongo_find(mongo, collection, filter, "{\"limit\": 2}", &cursor, ret_error);

        if (n < 0)
                return n;
        n = eddy_mongo_next_into(cursor, fields, out, ret_error);
        if (n == 0)
                return ed_mongo_fail_text(ret_error, EDDY_E_MONGO_NONE,
                                          eddy_error_text(EDDY_E_MONGO_NONE));
        if (n < 0)
                return n;
        n = eddy_mongo_next(cursor, NULL, NULL, ret_error);
        if (n == 0)
                return 0;
        eddy_fields_fini(fields, out);
        return n < 0 ? n
                     : ed_mongo_fail_text(ret_error, EDDY_E_MONGO_MANY,
                                          eddy_error_text(EDDY_E_MONGO_MANY));
}
