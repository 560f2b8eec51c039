/*
 * mongo/write.c - operations that change documents: all are bulk operations of libmongoc.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/list.h"
#include "eddy/error.h"
#include "mongo/mongo.h"

enum write_kind { WRITE_INSERT, WRITE_UPDATE, WRITE_DELETE, WRITE_BULK };

struct write {
        struct ed_mongo_call call;
        enum write_kind kind;
        uint32_t flags;
        char *first_text, *second_text;
        bson_t *first;  /* the documents, the filter, or the operations */
        bson_t *second; /* the update */
        mongoc_bulk_operation_t *bulk;
        uint32_t count; /* of operations in 'bulk' */
        struct eddy_mongo_result result;
};

static void write_free(struct ed_mongo_call *call)
{
        struct write *write = ed_container_of(call, struct write, call);

        if (write->first)
                bson_destroy(write->first);
        if (write->second)
                bson_destroy(write->second);
        ed_free(write->first_text);
        ed_free(write->second_text);
        ed_free(write);
}

static int refuse(struct write *write, const char *text)
{
        return ed_mongo_fail_text(&write->call.error, EDDY_E_MONGO_BAD_DOCUMENT, text);
}

/* An update without an operator is a whole document. */
static bool is_replacement(const bson_t *update)
{
        bson_iter_t iter;

        return bson_iter_init(&iter, update) && bson_iter_next(&iter) &&
               bson_iter_key(&iter)[0] != '$';
}

/* Each of these counts one operation. Returns false with 'error'. */
static bool add_insert(struct write *write, const bson_t *document, bson_error_t *error)
{
        write->count++;
        return mongoc_bulk_operation_insert_with_opts(write->bulk, document, NULL, error);
}

static bool add_update(struct write *write, const bson_t *filter, const bson_t *update,
                       uint32_t flags, bson_error_t *error)
{
        bson_t opts = BSON_INITIALIZER;
        bool is_added;

        write->count++;
        if (flags & EDDY_MONGO_UPSERT)
                BSON_APPEND_BOOL(&opts, "upsert", true);
        if (flags & EDDY_MONGO_MANY)
                is_added = mongoc_bulk_operation_update_many_with_opts(write->bulk, filter, update,
                                                                       &opts, error);
        else if (is_replacement(update))
                is_added = mongoc_bulk_operation_replace_one_with_opts(write->bulk, filter, update,
                                                                       &opts, error);
        else
                is_added = mongoc_bulk_operation_update_one_with_opts(write->bulk, filter, update,
                                                                      &opts, error);
        bson_destroy(&opts);
        return is_added;
}

static bool add_delete(struct write *write, const bson_t *filter, uint32_t flags,
                       bson_error_t *error)
{
        write->count++;
        return flags & EDDY_MONGO_MANY
                       ? mongoc_bulk_operation_remove_many_with_opts(write->bulk, filter, NULL,
                                                                     error)
                       : mongoc_bulk_operation_remove_one_with_opts(write->bulk, filter, NULL,
                                                                    error);
}

/* --- the parts of the texts --- */

/* Returns false if there is no document of that name. */
static bool document_find(const bson_t *in, const char *name, bson_t *ret_document)
{
        bson_iter_t iter;
        const uint8_t *data;
        uint32_t bytes;

        if (!bson_iter_init_find(&iter, in, name) || !BSON_ITER_HOLDS_DOCUMENT(&iter))
                return false;
        bson_iter_document(&iter, &bytes, &data);
        return bson_init_static(ret_document, data, bytes);
}

static uint32_t flag_find(const bson_t *in, const char *name, uint32_t flag)
{
        bson_iter_t iter;

        return bson_iter_init_find(&iter, in, name) && bson_iter_as_bool(&iter) ? flag : 0;
}

/* Add the operation 'name' with its value 'in'. */
static int operation_add(struct write *write, const char *name, const bson_t *in)
{
        uint32_t flags =
                flag_find(in, "many", EDDY_MONGO_MANY) | flag_find(in, "upsert", EDDY_MONGO_UPSERT);
        bson_error_t error = { 0 };
        bson_t filter, update;
        bool is_added;

        if (strcmp(name, "insert") == 0) {
                is_added = add_insert(write, in, &error);
        } else if (strcmp(name, "update") == 0) {
                if (!document_find(in, "filter", &filter) || !document_find(in, "update", &update))
                        return refuse(write,
                                      "an update needs the objects \"filter\" and \"update\"");
                is_added = add_update(write, &filter, &update, flags, &error);
        } else if (strcmp(name, "delete") == 0) {
                if (!document_find(in, "filter", &filter))
                        return refuse(write, "a delete needs the object \"filter\"");
                is_added = add_delete(write, &filter, flags, &error);
        } else {
                return refuse(write, "an operation is insert, update or delete");
        }
        return is_added ? 0 : ed_mongo_fail(&write->call.error, &error);
}

/* Not inlined: libbson's structs need much stack. */
static __attribute__((noinline)) int item_add(struct write *write, const bson_t *item)
{
        bson_error_t error = { 0 };
        bson_iter_t iter;
        bson_t value;

        if (write->count >= EDDY_MONGO_OPERATIONS_MAX)
                return ed_mongo_fail_text(&write->call.error, -EMSGSIZE, "too many operations");
        if (write->kind == WRITE_INSERT)
                return add_insert(write, item, &error) ? 0
                                                       : ed_mongo_fail(&write->call.error, &error);
        if (bson_count_keys(item) != 1 || !bson_iter_init(&iter, item) || !bson_iter_next(&iter) ||
            !document_find(item, bson_iter_key(&iter), &value))
                return refuse(write, "an operation is an object with one name and an object");
        return operation_add(write, bson_iter_key(&iter), &value);
}

static int items_add(struct write *write)
{
        bson_iter_t iter;
        int err = 0;

        if (!bson_iter_init(&iter, write->first))
                return refuse(write, "the array cannot be read");
        while (err == 0 && bson_iter_next(&iter)) {
                const uint8_t *data;
                uint32_t bytes;
                bson_t item;

                if (!BSON_ITER_HOLDS_DOCUMENT(&iter))
                        return refuse(write, "the array has an item that is not an object");
                bson_iter_document(&iter, &bytes, &data);
                err = bson_init_static(&item, data, bytes)
                              ? item_add(write, &item)
                              : refuse(write, "an item cannot be read");
        }
        return err;
}

static int operations_add(struct write *write, bool is_list)
{
        bson_error_t error = { 0 };
        bool is_added;

        if (is_list)
                return items_add(write);
        if (write->kind == WRITE_INSERT)
                is_added = add_insert(write, write->first, &error);
        else if (write->kind == WRITE_UPDATE)
                is_added = add_update(write, write->first, write->second, write->flags, &error);
        else
                is_added = add_delete(write, write->first, write->flags, &error);
        return is_added ? 0 : ed_mongo_fail(&write->call.error, &error);
}

/* --- the job --- */

static void numbers_read(const bson_t *reply, struct eddy_mongo_result *result)
{
        const struct {
                const char *name;
                int64_t *number;
        } numbers[] = {
                { "nInserted", &result->inserted }, { "nMatched", &result->matched },
                { "nModified", &result->modified }, { "nRemoved", &result->deleted },
                { "nUpserted", &result->upserted },
        };
        bson_iter_t iter;

        for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
                if (bson_iter_init_find(&iter, reply, numbers[i].name))
                        *numbers[i].number = bson_iter_as_int64(&iter);
}

/* Make the bulk operation of the texts. */
static int write_prepare(struct write *write)
{
        bool may_be_list = write->kind == WRITE_INSERT || write->kind == WRITE_BULK, is_list;
        struct eddy_mongo_error *error = &write->call.error;
        int err = ed_mongo_document_parse(write->first_text, may_be_list, &write->first, error);

        if (err == 0 && write->kind == WRITE_UPDATE)
                err = ed_mongo_document_parse(write->second_text, false, &write->second, error);
        if (err < 0)
                return err;
        is_list = may_be_list && write->first_text[strspn(write->first_text, " \t\r\n")] == '[';
        if (write->kind == WRITE_BULK && !is_list)
                return refuse(write, "the operations are not an array");
        write->bulk = mongoc_bulk_operation_new(!(write->flags & EDDY_MONGO_UNORDERED));
        return operations_add(write, is_list);
}

static int write_execute(struct write *write)
{
        struct ed_mongo_call *call = &write->call;
        bson_error_t error = { 0 };
        bson_t reply;
        int err = 0;

        mongoc_bulk_operation_set_client(write->bulk, call->client->handle);
        mongoc_bulk_operation_set_database(write->bulk, call->client->database);
        mongoc_bulk_operation_set_collection(write->bulk, call->collection);
        if (mongoc_bulk_operation_execute(write->bulk, &reply, &error) == 0)
                err = ed_mongo_fail(&call->error, &error);
        numbers_read(&reply, &write->result);
        bson_destroy(&reply);
        return err;
}

static int write_run(struct ed_mongo_call *call)
{
        struct write *write = ed_container_of(call, struct write, call);
        int err = write_prepare(write);

        /* libmongoc would refuse an empty array. */
        if (err == 0 && write->count > 0)
                err = write_execute(write);
        if (write->bulk)
                mongoc_bulk_operation_destroy(write->bulk);
        write->bulk = NULL;
        return err;
}

/* --- the calls --- */

/* 'texts' has two texts; the second may be NULL. */
static int texts_copy(struct write *write, const char *collection, const char *const *texts)
{
        struct eddy_mongo_error *error = &write->call.error;
        int err = ed_mongo_call_init(&write->call, collection);

        if (err < 0)
                return ed_mongo_fail_text(error, err, "the collection's name is empty or too long");
        err = ed_mongo_text_copy(texts[0], &write->first_text, error);
        if (err == 0 && write->kind == WRITE_UPDATE)
                err = ed_mongo_text_copy(texts[1], &write->second_text, error);
        return err;
}

static int write_do(eddy_mongo *mongo, const struct write *init, const char *collection,
                    const char *const texts[2], struct eddy_mongo_result *ret_result)
{
        struct write *write;
        int err;

        if (!mongo)
                return -EINVAL;
        write = ed_alloc_zero(sizeof(*write));
        if (!write)
                return -ENOMEM;
        write->call.run = write_run;
        write->call.free = write_free;
        write->kind = init->kind;
        write->flags = init->flags;
        err = texts_copy(write, collection, texts);
        if (err == 0)
                err = ed_mongo_call_do(mongo, &write->call);
        if (ret_result) {
                *ret_result = err == -ECANCELED ? (struct eddy_mongo_result){ 0 } : write->result;
                if (err < 0 && err != -ECANCELED)
                        ret_result->error = write->call.error;
        }
        ed_mongo_call_unref(&write->call);
        return err;
}

int eddy_mongo_insert(eddy_mongo *mongo, const char *collection, const char *documents,
                      struct eddy_mongo_result *ret_result)
{
        return write_do(mongo, &(struct write){ .kind = WRITE_INSERT }, collection,
                        (const char *[2]){ documents }, ret_result);
}

int eddy_mongo_update(eddy_mongo *mongo, const char *collection, const char *filter,
                      const char *update, uint32_t flags, struct eddy_mongo_result *ret_result)
{
        if (flags & ~(uint32_t) (EDDY_MONGO_MANY | EDDY_MONGO_UPSERT))
                return -EINVAL;
        return write_do(mongo, &(struct write){ .kind = WRITE_UPDATE, .flags = flags }, collection,
                        (const char *[2]){ filter, update }, ret_result);
}

int eddy_mongo_delete(eddy_mongo *mongo, const char *collection, const char *filter, uint32_t flags,
                      struct eddy_mongo_result *ret_result)
{
        if (flags & ~(uint32_t) EDDY_MONGO_MANY)
                return -EINVAL;
        return write_do(mongo, &(struct write){ .kind = WRITE_DELETE, .flags = flags }, collection,
                        (const char *[2]){ filter }, ret_result);
}

int eddy_mongo_bulk(eddy_mongo *mongo, const char *collection, const char *operations,
                    uint32_t flags, struct eddy_mongo_result *ret_result)
{
        if (flags & ~(uint32_t) EDDY_MONGO_UNORDERED)
                return -EINVAL;
        return write_do(mongo, &(struct write){ .kind = WRITE_BULK, .flags = flags }, collection,
                        (const char *[2]){ operations }, ret_result);
}
