/*
 * mongo/client.c - clients of libmongoc, lent by a pool, and calls on threads.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/scope.h"
#include "mongo/mongo.h"
#include "scope/misuse.h"
#include "sys/thread/thread.h"

enum { CLIENTS_DEFAULT = 10, WAITERS_DEFAULT = 1 << 16, MS_NS = 1000 * 1000 };

#define SELECT_NS EDDY_SEC(5)
#define ANSWER_NS EDDY_SEC(60)

/* The longest wait for the goodbye of a client or cursor. */
#define CLOSE_NS EDDY_SEC(1)

/* --- clients --- */

static void log_nothing(mongoc_log_level_t level, const char *domain, const char *message,
                        void *arg)
{
        (void) level, (void) domain, (void) message, (void) arg;
}

static void begin_mongoc(void)
{
        mongoc_init();
        mongoc_log_set_handler(log_nothing, NULL);
}

/* libmongoc says goodbye to the server, which may block: on a thread, or 'now', without a goodbye. */
static void client_unref(struct ed_mongo_client *client, bool now)
{
        if (atomic_fetch_sub(&client->users, 1) > 1)
                return;
        if (now && client->handle)
                mongoc_client_reset(client->handle);
        if (client->cursor)
                mongoc_cursor_destroy(client->cursor);
        mongoc_client_destroy(client->handle);
        mongoc_uri_destroy(client->uri);
        ed_free(client);
}

static void mongo_unref(eddy_mongo *mongo)
{
        if (--mongo->users > 0)
                return;
        if (mongo->uri)
                mongoc_uri_destroy(mongo->uri);
        ed_member_leave(&mongo->member);
        ed_free(mongo);
}

static int client_open(void *arg, void **ret_client)
{
        eddy_mongo *mongo = arg;
        struct ed_mongo_client *client = ed_alloc_zero(sizeof(*client));

        if (!client)
                return -ENOMEM;
        client->uri = mongoc_uri_copy(mongo->uri);
        atomic_init(&client->users, 1);
        client->mongo = mongo;
        memcpy(client->database, mongo->database, sizeof(client->database));
        mongo->users++;
        *ret_client = client;
        return 0;
}

static int goodbye(void *arg)
{
        (void) arg;
        return 0;
}

static void free_list(struct ed_mongo_client *client, bool now)
{
        struct ed_mongo_client *next;

        for (; client; client = next) {
                next = client->dying;
                client_unref(client, now);
        }
}

/* Frees a list of clients on the job's thread. If the job could not begin, they are kept for the next. */
static void goodbye_release(void *arg)
{
        struct ed_mongo_client *client = arg, **tail = &client->dying;
        eddy_mongo *mongo = client->mongo;

        if (eddy_task_current()) {
                while (*tail)
                        tail = &(*tail)->dying;
                *tail = mongo->dying;
                mongo->dying = client;
                return;
        }
        free_list(client, false);
}

/*
 * Free the clients that are to be freed, and wait for that. Goodbyes have threads of their own, so they
 * need not wait for the operations of a server that does not answer. After the loop's end there are
 * no threads.
 */
static void say_goodbye(eddy_mongo *mongo)
{
        struct eddy_thread_opts opts = { .flags = EDDY_THREAD_ABANDON | EDDY_THREAD_SLOW,
                                         .release = goodbye_release };
        struct eddy_scope_opts limit = { .flags = EDDY_SCOPE_SHIELD, .timeout_ns = CLOSE_NS };
        struct ed_mongo_client *dying = mongo->dying;
        eddy_scope shield;

        if (!dying)
                return;
        mongo->dying = NULL;
        if (!mongo->member.loop) {
                free_list(dying, true);
                return;
        }
        eddy_scope_begin(&shield, &limit);
        (void) eddy_thread_pool_call(mongo->threads, goodbye, dying, &opts);
        (void) eddy_scope_end(&shield);
}

static void client_close(void *arg, void *item)
{
        eddy_mongo *mongo = arg;
        struct ed_mongo_client *client = item;

        client->dying = mongo->dying;
        mongo->dying = client;
        say_goodbye(mongo);
        mongo_unref(mongo);
}

static int client_check(void *arg, void *item)
{
        struct ed_mongo_client *client = item;

        (void) arg;
        return atomic_load(&client->is_broken) ? EDDY_POOL_BROKEN : EDDY_POOL_READY;
}

/* --- calls --- */

static int name_store(char *out, const char *name)
{
        size_t bytes = name ? strnlen(name, EDDY_MONGO_NAME_MAX + 1) : 0;

        if (bytes == 0 || bytes > EDDY_MONGO_NAME_MAX)
                return -EINVAL;
        memcpy(out, name, bytes + 1);
        return 0;
}

int ed_mongo_call_init(struct ed_mongo_call *call, const char *collection)
{
        atomic_init(&call->users, 1);
        return name_store(call->collection, collection);
}

void ed_mongo_call_unref(struct ed_mongo_call *call)
{
        if (atomic_fetch_sub(&call->users, 1) == 1)
                call->free(call);
}

/* At the first use, because libmongoc looks up the names of mongodb+srv:// here, which may block. */
static int handle_open(struct ed_mongo_call *call)
{
        struct ed_mongo_client *client = call->client;

        if (client->handle)
                return 0;
        client->handle = mongoc_client_new_from_uri(client->uri);
        if (!client->handle)
                return ed_mongo_fail_text(
                        &call->error, EDDY_E_MONGO_UNAVAILABLE,
                        "libmongoc cannot use the URI: its host has no SRV record "
                        "or a wrong TXT record, or an option is not supported");
        (void) mongoc_client_set_error_api(client->handle, MONGOC_ERROR_API_VERSION_2);
        return 0;
}

static int run_call(void *arg)
{
        struct ed_mongo_call *call = arg;
        int result = handle_open(call);

        if (result == 0)
                result = call->run(call);

        if (result == EDDY_E_MONGO_LOST || result == EDDY_E_MONGO_UNAVAILABLE)
                atomic_store(&call->client->is_broken, true);
        return result;
}

/* On the loop's thread, if the job did not begin: then the pool still has the client. */
static void release_call(void *arg)
{
        struct ed_mongo_call *call = arg;

        client_unref(call->client, false);
        ed_mongo_call_unref(call);
}

int ed_mongo_call_submit(eddy_mongo *mongo, eddy_pool_loan *loan, struct ed_mongo_call *call)
{
        struct eddy_thread_opts opts = { .flags = EDDY_THREAD_ABANDON, .release = release_call };
        struct ed_mongo_client *client = loan->item;
        int err;

        call->client = client;
        atomic_fetch_add(&client->users, 1);
        atomic_fetch_add(&call->users, 1);
        err = eddy_thread_pool_call(mongo->threads, run_call, call, &opts);
        if (err == -ECANCELED) /* the job may run still and use the client */
                atomic_store(&client->is_broken, true);
        return err;
}

int ed_mongo_call_do(eddy_mongo *mongo, struct ed_mongo_call *call)
{
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        int err = eddy_pool_acquire(mongo->pool, &loan);

        return err < 0 ? err : ed_mongo_call_submit(mongo, &loan, call);
}

/* --- the object --- */

/* A limit of the options counts more than that of the URI. */
static int limit_set(mongoc_uri_t *uri, const char *option, int64_t ns, int64_t default_ns)
{
        int64_t ms = (ns ? ns : default_ns) / MS_NS;

        if (!ns && mongoc_uri_has_option(uri, option))
                return 0;
        if (ms < 1 || ms > INT32_MAX)
                return -EINVAL;
        return mongoc_uri_set_option_as_int32(uri, option, (int32_t) ms) ? 0 : -ENOMEM;
}

/* The URI holds a password, so libmongoc's message is not shown. */
static int uri_parse(eddy_mongo *mongo, const struct eddy_mongo_opts *opts,
                     struct eddy_mongo_error *ret_error)
{
        bson_error_t error;
        int err;

        mongo->uri = mongoc_uri_new_with_error(opts->uri, &error);
        if (!mongo->uri)
                return ed_mongo_fail_text(
                        ret_error, EDDY_E_MONGO_BAD_URI,
                        "write the URI as mongodb://user:password@host:port/database?option=value, "
                        "with %40 for @ and %3A for : in the user and the password");
        err = limit_set(mongo->uri, MONGOC_URI_SERVERSELECTIONTIMEOUTMS, opts->select_ns,
                        SELECT_NS);
        if (err == 0)
                err = limit_set(mongo->uri, MONGOC_URI_CONNECTTIMEOUTMS, opts->select_ns,
                                SELECT_NS);
        if (err == 0)
                err = limit_set(mongo->uri, MONGOC_URI_SOCKETTIMEOUTMS, opts->answer_ns, ANSWER_NS);
        if (err < 0)
                return ed_mongo_fail_text(ret_error, err, "select_ns or answer_ns is out of range");
        err = name_store(mongo->database,
                         opts->database ? opts->database : mongoc_uri_get_database(mongo->uri));
        return err == 0 ? 0
                        : ed_mongo_fail_text(ret_error, err,
                                             "name a database, in the URI or the options, of at "
                                             "most 255 bytes");
}

static int parts_open(eddy_mongo *mongo, const struct eddy_mongo_opts *opts)
{
        static const struct eddy_pool_ops pool_ops = { .open = client_open,
                                                       .close = client_close,
                                                       .check = client_check };
        uint32_t clients = opts->clients_max ? opts->clients_max : CLIENTS_DEFAULT;
        struct eddy_pool_opts pool = { .ops = &pool_ops,
                                       .arg = mongo,
                                       .size = clients,
                                       .waiters_max = opts->waiters_max ? opts->waiters_max
                                                                        : WAITERS_DEFAULT };
        struct eddy_thread_pool_opts threads = { .threads_max = clients, .slow_max = clients };
        int err;

        if (clients > EDDY_MONGO_CLIENTS_MAX)
                return -EINVAL;
        err = eddy_thread_pool_new(&threads, &mongo->threads);
        return err < 0 ? err : eddy_pool_new(&pool, &mongo->pool);
}

int eddy_mongo_new(const struct eddy_mongo_opts *opts, eddy_mongo **ret_mongo,
                   struct eddy_mongo_error *ret_error)
{
        static struct ed_once once = ED_ONCE_INIT;
        eddy_mongo *mongo;
        int err;

        if (!opts || !opts->uri)
                return ed_mongo_fail_text(ret_error, -EINVAL, "the URI is missing (NULL)");
        if (!ed_loop_current)
                return ed_mongo_fail_text(ret_error, EDDY_E_RUN_NOT_RUNNING,
                                          eddy_error_text(EDDY_E_RUN_NOT_RUNNING));
        ed_once_call(&once, begin_mongoc);
        mongo = ed_alloc_zero(sizeof(*mongo));
        if (!mongo)
                return ed_mongo_fail_text(ret_error, -ENOMEM, "no memory");
        ed_member_join(&mongo->member, ed_loop_current, NULL);
        mongo->users = 1;
        err = uri_parse(mongo, opts, ret_error);
        if (err == 0) {
                err = parts_open(mongo, opts);
                if (err < 0)
                        (void) ed_mongo_fail_text(ret_error, err, eddy_error_text(err));
        }
        if (err < 0)
                eddy_mongo_close(mongo);
        else
                *ret_mongo = mongo;
        return err;
}

void eddy_mongo_close(eddy_mongo *mongo)
{
        if (!mongo || !ed_misuse_may_close(&mongo->member, "a client of MongoDB"))
                return;
        eddy_pool_close(mongo->pool);
        say_goodbye(mongo);
        eddy_thread_pool_close(mongo->threads);
        mongo->threads = NULL;
        mongo_unref(mongo);
}
