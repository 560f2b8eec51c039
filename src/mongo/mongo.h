/*
 * mongo/mongo.h - what the files of libeddy-mongo share.
 *
 * libmongoc's calls block, so each runs as a job on a thread. A job outlives a cancelled caller:
 * all that it uses is in a call or a client, which count their users. Freeing a client or a cursor of
 * libmongoc sends messages to the server and waits for answers, so they are freed by jobs too.
 */
#ifndef ED_MONGO_MONGO_H
#define ED_MONGO_MONGO_H

#include <mongoc/mongoc.h>
#include <stdatomic.h>

#include "eddy/mongo.h"
#include "eddy/pool.h"
#include "eddy/thread.h"
#include "loop/member.h"

/* A client of libmongoc, used by one thread at a time. */
struct ed_mongo_client {
        _Atomic unsigned users; /* the pool, and each job that uses it */
        _Atomic bool is_broken; /* its connection was lost: not to be lent again */
        eddy_mongo *mongo;      /* for the loop's thread, until the pool has closed the client */
        struct ed_mongo_client *dying; /* the next client in a list of those to be freed */
        mongoc_uri_t *uri;             /* its own: a job may outlive the eddy_mongo */
        mongoc_client_t *handle;       /* NULL before the first job */
        mongoc_cursor_t *cursor;       /* of the loan; NULL: none */
        char database[EDDY_MONGO_NAME_MAX + 1];
};

struct eddy_mongo {
        struct ed_member member;
        unsigned users;  /* the program, and each client of the pool */
        eddy_pool *pool; /* of struct ed_mongo_client */
        eddy_thread_pool *threads;
        struct ed_mongo_client *dying; /* clients whose goodbye could not begin */
        mongoc_uri_t *uri;
        char database[EDDY_MONGO_NAME_MAX + 1];
};

/*
 * The needs and the results of a job. The first member of a struct that 'free' releases when neither
 * the caller nor the job uses it.
 */
struct ed_mongo_call {
        _Atomic unsigned users;
        int (*run)(struct ed_mongo_call *call);   /* on the job's thread */
        void (*free)(struct ed_mongo_call *call); /* on any thread, and must not block */
        struct ed_mongo_client *client;           /* of the job */
        char collection[EDDY_MONGO_NAME_MAX + 1];
        struct eddy_mongo_error error;
};

/* Count the caller, and store the collection's name. Errors: -EINVAL. */
int ed_mongo_call_init(struct ed_mongo_call *call, const char *collection);
void ed_mongo_call_unref(struct ed_mongo_call *call);

/* Run the call on a thread, with the client of the loan. Returns the result of 'run', or -ECANCELED. */
int ed_mongo_call_submit(eddy_mongo *mongo, eddy_pool_loan *loan, struct ed_mongo_call *call);

/* Borrow a client and run the call. */
int ed_mongo_call_do(eddy_mongo *mongo, struct ed_mongo_call *call);

/*
 * Copy a JSON text for a job. Errors: -EINVAL (NULL), -EMSGSIZE, -ENOMEM.
 */
int ed_mongo_text_copy(const char *text, char **ret_text, struct eddy_mongo_error *ret_error);

/*
 * Make a document of a JSON text. With 'is_list' the text may be an array, whose items have the names
 * "0", "1" and so on. Threads: a job's, because libbson needs much stack.
 *
 * Errors: EDDY_E_MONGO_BAD_DOCUMENT
 */
int ed_mongo_document_parse(const char *text, bool is_list, bson_t **ret_document,
                            struct eddy_mongo_error *ret_error);

/* Fill in 'ret_error' (NULL: ignored) from libmongoc's, and return eddy's error. */
int ed_mongo_fail(struct eddy_mongo_error *ret_error, const bson_error_t *error);

/* The same with a text of our own. Returns 'error'. */
int ed_mongo_fail_text(struct eddy_mongo_error *ret_error, int error, const char *text);

#endif
