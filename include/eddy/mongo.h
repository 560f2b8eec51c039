/*
 * eddy/mongo.h - a client for MongoDB, on libmongoc.  In libeddy-mongo.
 *
 *     struct eddy_mongo_opts opts = { .uri = "mongodb://127.0.0.1/shop" };
 *     EDDY_AUTO(eddy_mongo) eddy_mongo *mongo = NULL;
 *     int err = eddy_mongo_new(&opts, &mongo, NULL);
 *
 *     if (err == 0)
 *             err = eddy_mongo_insert(mongo, "users", "{\"name\": \"Ada\"}", NULL);
 *     if (err == 0)
 *             err = eddy_mongo_one(mongo, "users", "{\"name\": \"Ada\"}", &user_fields, &user, NULL);
 *
 * Documents, filters and options are JSON texts that end in a NUL, in the form that MongoDB calls
 * Extended JSON: {"$oid": "..."}, {"$date": "..."}, {"$numberDecimal": "..."}.  Answers are texts
 * in this form (relaxed), or C structs by a table of eddy/fields.h.  If a text contains untrusted
 * strings, make it with eddy_json_write() or eddy_json_quote(), never with printf() alone.
 *
 * The library uses libmongoc, whose calls block, on threads of its own: one client for each of
 * 'clients_max' threads.  A cancelled call returns at once, and the server may still complete the
 * operation.
 *
 * An eddy_mongo and its cursors belong to one loop (eddy/def.h).  Calls on a NULL object return -EINVAL.
 */
#ifndef EDDY_MONGO_H
#define EDDY_MONGO_H

#include <stdbool.h>

#include "eddy/def.h"
#include "eddy/fields.h"

EDDY_BEGIN_DECLS

typedef struct eddy_mongo eddy_mongo;
typedef struct eddy_mongo_cursor eddy_mongo_cursor;

enum {
        EDDY_MONGO_CLIENTS_MAX = 1024,
        EDDY_MONGO_NAME_MAX = 255,              /* bytes of the name of a database or collection */
        EDDY_MONGO_TEXT_MAX = 48 * 1000 * 1000, /* bytes of a JSON text */
        EDDY_MONGO_OPERATIONS_MAX = 100 * 1000, /* of one eddy_mongo_bulk() or _insert() */
        EDDY_MONGO_BATCH_MAX =
                1024 * 1024 /* bytes that a cursor reads ahead, besides one document */
};

/* All zero except 'uri' is the default. */
struct eddy_mongo_opts {
        const char *uri EDDY_UNSET; /* "mongodb://..." or "mongodb+srv://...", with its options */
        const char *database EDDY_UNSET; /* NULL: that of the URI */
        /* operations and open cursors at a time; others wait; 0: 10 */
        uint32_t clients_max EDDY_UNSET;
        uint32_t waiters_max EDDY_UNSET;  /* tasks that may wait for a client; 0: 65,536 */
        int64_t select_ns EDDY_UNSET;     /* to find and connect to a server; 0: 5 s */
        int64_t answer_ns EDDY_UNSET;     /* to wait for an answer from the server; 0: 60 s */
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/* The details of a failure.  A NULL pointer to this struct is allowed everywhere. */
struct eddy_mongo_error {
        int32_t code;          /* of the server or of libmongoc; 0: none */
        char text[256];        /* printable, without a full stop; may be empty */
        uintptr_t reserved[2]; /* zero */
};

/*
 * Make an object.  No server is contacted, and no name is looked up.
 *
 * The first call in a process sets libmongoc's log handler, so that libmongoc does not print.
 *
 * Suspends: no.
 * Errors: EDDY_E_MONGO_BAD_URI
 *         -EINVAL  no database; a name that is too long; a number out of range
 *         -ENOMEM, EDDY_E_RUN_NOT_RUNNING
 * Owns: returns (owned) '*ret_mongo', to be closed by eddy_mongo_close().
 */
EDDY_API EDDY_MUST_USE int eddy_mongo_new(const struct eddy_mongo_opts *opts,
                                          eddy_mongo **ret_mongo,
                                          struct eddy_mongo_error *ret_error);

/*
 * Close the object: calls that wait for a client fail with EDDY_E_POOL_CLOSED, and
 * eddy_mongo_close() waits for running calls.  Close all cursors first.  NULL is ignored.
 *
 * Suspends: yes.  Not a cancellation point; in a cancelled task, running calls are abandoned.
 */
EDDY_API void eddy_mongo_close(eddy_mongo *mongo);

/* ---- writing --------------------------------------------------------------------------------- */

enum {
        EDDY_MONGO_MANY = 1 << 0,     /* all documents that match, not only the first */
        EDDY_MONGO_UPSERT = 1 << 1,   /* insert the document if none matches */
        EDDY_MONGO_UNORDERED = 1 << 2 /* continue after an operation that failed */
};

/* Numbers of documents; after a failed call, of those changed before the failure. */
struct eddy_mongo_result {
        int64_t inserted, matched, modified, deleted, upserted;
        struct eddy_mongo_error error; /* of a failure */
        uintptr_t reserved[2];         /* zero */
};

/*
 * Insert a document, or an array of documents.
 *
 * Suspends: yes.
 * Errors: EDDY_E_MONGO_BAD_DOCUMENT  a text is not JSON or not a document
 *         EDDY_E_MONGO_DUPLICATE     a document with this key exists already
 *         EDDY_E_MONGO_REFUSED       the server refused the operation; see the error's 'code'
 *         EDDY_E_MONGO_AUTH
 *         EDDY_E_MONGO_UNAVAILABLE   no server within 'select_ns', or the servers of a
 *                                    mongodb+srv:// URI are not known; nothing was done
 *         EDDY_E_MONGO_LOST          no answer within 'answer_ns', or the connection was lost: the
 *                                    operation may have been done
 *         EDDY_E_POOL_CLOSED, EDDY_E_POOL_FULL
 *         -EINVAL                    a name that is empty or too long; an unknown flag
 *         -EMSGSIZE                  a text above EDDY_MONGO_TEXT_MAX; too many operations
 *         -ENOMEM, -EAGAIN           no thread
 *         -ECANCELED                 the operation may have been done, or may be done later
 */
EDDY_API EDDY_MUST_USE int eddy_mongo_insert(eddy_mongo *mongo, const char *collection,
                                             const char *documents,
                                             struct eddy_mongo_result *ret_result);

/*
 * Change the first document that matches 'filter', or all of them with EDDY_MONGO_MANY.  'update'
 * has operators, as in "{\"$set\": {\"age\": 3}}"; without operators, 'update' is a document that
 * replaces the first match.
 *
 * Suspends: as eddy_mongo_insert().
 * Errors: as eddy_mongo_insert().
 */
EDDY_API EDDY_MUST_USE int eddy_mongo_update(eddy_mongo *mongo, const char *collection,
                                             const char *filter, const char *update, uint32_t flags,
                                             struct eddy_mongo_result *ret_result);

/*
 * Delete the first document that matches 'filter', or all of them with EDDY_MONGO_MANY.
 *
 * Suspends: as eddy_mongo_insert().
 * Errors: as eddy_mongo_insert().
 */
EDDY_API EDDY_MUST_USE int eddy_mongo_delete(eddy_mongo *mongo, const char *collection,
                                             const char *filter, uint32_t flags,
                                             struct eddy_mongo_result *ret_result);

/*
 * Run several operations in few messages.  'operations' is an array of objects with one name each:
 *
 *     {"insert": {document}}
 *     {"update": {"filter": {...}, "update": {...}, "many": true, "upsert": true}}
 *     {"delete": {"filter": {...}, "many": true}}
 *
 * The operations run in order until one fails.  With EDDY_MONGO_UNORDERED all of them run, in any
 * order.
 *
 * Suspends: as eddy_mongo_insert().
 * Errors: as eddy_mongo_insert(); the first failure.
 */
EDDY_API EDDY_MUST_USE int eddy_mongo_bulk(eddy_mongo *mongo, const char *collection,
                                           const char *operations, uint32_t flags,
                                           struct eddy_mongo_result *ret_result);

/* ---- reading --------------------------------------------------------------------------------- */

/*
 * Find documents.  'opts' are libmongoc's options, as in
 * "{\"sort\": {\"age\": 1}, \"limit\": 10, \"projection\": {\"name\": 1}, \"maxTimeMS\": 500}"; NULL:
 * none.  The query runs at the first eddy_mongo_next().  A cursor keeps one of the clients.
 *
 * Suspends: yes, until a client is free.
 * Errors: as eddy_mongo_insert()
 * Owns: returns (owned) '*ret_cursor', to be closed by eddy_mongo_cursor_close().
 */
EDDY_API EDDY_MUST_USE int eddy_mongo_find(eddy_mongo *mongo, const char *collection,
                                           const char *filter, const char *opts,
                                           eddy_mongo_cursor **ret_cursor,
                                           struct eddy_mongo_error *ret_error);

/*
 * Run an aggregation pipeline, an array of stages.  Otherwise like eddy_mongo_find().
 *
 * Suspends: as eddy_mongo_find().
 * Errors: as eddy_mongo_find().
 */
EDDY_API EDDY_MUST_USE int eddy_mongo_aggregate(eddy_mongo *mongo, const char *collection,
                                                const char *pipeline, const char *opts,
                                                eddy_mongo_cursor **ret_cursor,
                                                struct eddy_mongo_error *ret_error);

/*
 * Read the next document.  Returns 1, or 0 after the last document.  '*ret_text' (borrowed) ends in
 * a NUL that '*ret_bytes' does not count, and is valid until the next call on the cursor.  Both
 * pointers may be NULL.  After an error, each further call returns the same error.
 *
 * After an empty batch the cursor asks the server for the next batch.  A cursor with the option
 * "tailable" waits for the next document; without "awaitData" it asks the server again and again.
 *
 * Suspends: yes.  After -ECANCELED the cursor can only be closed.
 * Errors: as eddy_mongo_insert(); -EBUSY  another task is reading
 */
EDDY_API EDDY_MUST_USE int eddy_mongo_next(eddy_mongo_cursor *cursor, const char **ret_text,
                                           size_t *ret_bytes, struct eddy_mongo_error *ret_error);

/*
 * Read the next document into the struct at 'out', as eddy_json_read() does.  Returns 1, or 0 after
 * the last document.  A document that does not fit is an error, and the next call reads the
 * document after it.  A scalar or char [N] that the document does not have keeps its value: set
 * '*out' to its defaults before each call.
 *
 * Suspends: yes.
 * Errors: those of eddy_mongo_next() and eddy_json_read()
 */
EDDY_API EDDY_MUST_USE int eddy_mongo_next_into(eddy_mongo_cursor *cursor,
                                                const struct eddy_fields *fields, void *out,
                                                struct eddy_mongo_error *ret_error);

/*
 * Close a cursor, even before its last document.  NULL is ignored.
 *
 * Suspends: yes, for a second at most, even in a cancelled task.
 */
EDDY_API void eddy_mongo_cursor_close(eddy_mongo_cursor *cursor);

/*
 * Read the only document that matches into a struct.
 *
 * Suspends: yes.
 * Errors: EDDY_E_MONGO_NONE, EDDY_E_MONGO_MANY; those of eddy_mongo_next_into()
 */
EDDY_API EDDY_MUST_USE int eddy_mongo_one(eddy_mongo *mongo, const char *collection,
                                          const char *filter, const struct eddy_fields *fields,
                                          void *out, struct eddy_mongo_error *ret_error);

/*
 * Run any command on the database, such as "{\"ping\": 1}", and return its reply as a text.
 *
 * Suspends: as eddy_mongo_insert().
 * Errors: as eddy_mongo_insert().
 * Owns: returns (owned) '*ret_text', to be freed by eddy_free().  'ret_text' may be NULL.
 */
EDDY_API EDDY_MUST_USE int eddy_mongo_command(eddy_mongo *mongo, const char *command,
                                              char **ret_text, struct eddy_mongo_error *ret_error);

static inline void eddy_mongo_auto_release(eddy_mongo **mongo)
{
        eddy_mongo_close(*mongo);
}

static inline void eddy_mongo_cursor_auto_release(eddy_mongo_cursor **cursor)
{
        eddy_mongo_cursor_close(*cursor);
}

EDDY_END_DECLS

#endif
