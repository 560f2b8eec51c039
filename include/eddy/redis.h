/*
 * eddy/redis.h - a client for Redis (RESP2), on the reader and formatter of hiredis.  In
 * libeddy-redis.
 *
 *     EDDY_AUTO(eddy_redis) eddy_redis *redis = NULL;
 *     EDDY_AUTO(eddy_redis_reply) eddy_redis_reply *reply = NULL;
 *
 *     err = eddy_redis_new(&(struct eddy_redis_opts){ .url = "redis://127.0.0.1/0" }, &redis);
 *     if (err == 0)
 *             err = eddy_redis_command(redis, NULL, "SET %s %b", "key", data, bytes);
 *     if (err == 0)
 *             err = eddy_redis_command(redis, &reply, "GET %s", "key");
 *
 * Commands of all tasks share one connection: they are sent together and answered in order.
 * Commands that wait or change the connection (BLPOP, WATCH, SELECT) need a handle of their own
 * (eddy_redis_pool_new()), and subscriptions an eddy_redis_subscriber (eddy/redis_pubsub.h).
 *
 * A call is limited by the deadline of its scope.  The reply to a cancelled command is dropped when
 * it arrives and never reaches another caller; the command may have run.
 *
 * A client belongs to one loop.  Calls on a NULL client return -EINVAL.
 */
#ifndef EDDY_REDIS_H
#define EDDY_REDIS_H

#include <stdarg.h>
#include <stdbool.h>

#include "eddy/def.h"
#include "eddy/pool.h"
#include "eddy/redis_reply.h"
#include "eddy/tls.h"

EDDY_BEGIN_DECLS

typedef struct eddy_redis eddy_redis;

enum { EDDY_REDIS_COMMANDS_MAX = 1 << 20 };

enum {
        EDDY_REDIS_TLS = 1 << 0,       /* use TLS; rediss:// sets it */
        EDDY_REDIS_DEDICATED = 1 << 1, /* one connection, see eddy_redis_new() */
};

/* All zero is the default: 127.0.0.1:6379.  Texts are copied. */
struct eddy_redis_opts {
        /*
         * redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE], rediss:// with TLS, or
         * unix://[[USER]:PASSWORD@]/PATH[?db=DATABASE].  User and password are percent-encoded.
         * The fields below override parts of the URL.
         */
        const char *url EDDY_UNSET;
        const char *host EDDY_UNSET; /* a name, or an address without brackets */
        const char *unix_path EDDY_UNSET;
        const char *user EDDY_UNSET;     /* an ACL user, up to 512 bytes; NULL: the default user */
        const char *password EDDY_UNSET; /* up to 4,096 bytes; NULL: do not authenticate */
        const char *client_name EDDY_UNSET; /* for CLIENT LIST; up to 512 bytes without spaces */
        /* borrowed; NULL: the default, which verifies the certificate */
        eddy_tls_config *tls EDDY_UNSET;
        uint16_t port EDDY_UNSET;  /* 0: 6379 */
        uint16_t flags EDDY_UNSET; /* EDDY_REDIS_* */
        uint32_t database EDDY_UNSET;
        /* commands without a reply yet, and of a batch; 0: 1,024 */
        uint32_t commands_max EDDY_UNSET;
        /* including the handshake; 0: 10 s; below 0: no limit */
        int64_t connect_timeout_ns EDDY_UNSET;
        size_t request_bytes_max EDDY_UNSET; /* commands that wait to be sent; 0: 64 MiB */
        size_t reply_bytes_max EDDY_UNSET;   /* memory of one reply; 0: 64 MiB */
        /* limit for a command or batch from when it is connected, also for commands that wait,
         * such as BLPOP; 0: none */
        int64_t command_timeout_ns EDDY_UNSET;
        uintptr_t reserved[5] EDDY_UNSET; /* zero */
};

/*
 * Make a client; the first command connects.  When the connection is lost, a later command connects
 * again.  Repeated attempts are 5 ms to 500 ms apart.
 *
 * A client with EDDY_REDIS_DEDICATED does not replace a lost connection, and allows all commands
 * except those that change the protocol.  A command that is cancelled before its reply ends the
 * connection; later calls return EDDY_E_REDIS_LOST.
 *
 * 'opts' may be NULL.
 *
 * Suspends: no.
 * Errors: -EINVAL  a number is above its maximum or below 0, or a text is too long or has a control character
 *         EDDY_E_URL_INVALID, EDDY_E_URL_SCHEME, EDDY_E_URL_CREDENTIALS
 *         -ENAMETOOLONG  the path of the socket
 *         -ENOMEM, EDDY_E_RUN_NOT_RUNNING
 * Owns: returns (owned) '*ret_redis', to be closed by eddy_redis_close().
 */
EDDY_API EDDY_MUST_USE int eddy_redis_new(const struct eddy_redis_opts *opts,
                                          eddy_redis **ret_redis);

/*
 * Close the connection and free the client.  Waiting commands fail with EDDY_E_REDIS_UNKNOWN if
 * they were sent, else with EDDY_E_REDIS_CLOSED.  NULL is ignored.
 *
 * Suspends: no.
 */
EDDY_API void eddy_redis_close(eddy_redis *redis);

/* --- commands --- */

/* The last failure of a client.  Contains no password. */
struct eddy_redis_fault {
        char code[32]; /* the first word of a server's error, such as "WRONGTYPE", or "" */
        char text[256];
};

/*
 * Returns the last failure of the client, for a log.  A call clears it, and sets it before it
 * returns an error; after -ECANCELED the texts are empty.  Another task's call may replace it when
 * the calling task suspends.
 *
 * Suspends: no.
 */
EDDY_API const struct eddy_redis_fault *eddy_redis_fault(const eddy_redis *redis);

/*
 * Send a command and wait for its reply.  'ret_reply' may be NULL.
 *
 * In 'format', words are separated by spaces.  "%s" is a text, "%b" is bytes (const void *, size_t),
 * and printf's integer and floating-point formats are allowed.  A value is never split: its spaces
 * and line ends are part of the argument.
 *
 * Suspends: yes.  If the call is cancelled, the command may run or have run.
 * Errors: EDDY_E_REDIS_ERROR     the server answered with an error, see eddy_redis_fault()
 *         EDDY_E_REDIS_UNKNOWN   the connection ended after the command was sent: it is unknown
 *                                whether the command ran
 *         EDDY_E_REDIS_COMMAND   the command needs a connection of its own, see above
 *         EDDY_E_REDIS_PROTOCOL  the server's bytes are not RESP2; the connection was closed
 *         EDDY_E_REDIS_TOO_LARGE  the reply exceeds 'reply_bytes_max'; the connection was closed
 *         EDDY_E_REDIS_FULL      'commands_max' replies are owed, or 'request_bytes_max' bytes wait
 *         EDDY_E_REDIS_AUTH      the server refused the user or password, or requires one
 *         EDDY_E_REDIS_LOST      the connection of a dedicated client has ended
 *         EDDY_E_REDIS_CLOSED    the client was closed
 *         EDDY_E_REDIS_TIMED_OUT no reply within 'command_timeout_ns': it is unknown whether the command
 *                                ran
 *         EDDY_E_NET_TIMED_OUT   no connection within 'connect_timeout_ns'
 *         -EINVAL                the format is not valid, or is empty; a text is NULL
 *         -EMSGSIZE              the command is longer than 1 GiB
 *         -ECANCELED, -ENOMEM, EDDY_E_RUN_OTHER_LOOP, and those of eddy_tcp_connect(),
 *         eddy_unix_connect() and eddy_tls_client(); the command has not run
 * Owns: returns (owned) '*ret_reply', to be freed by eddy_redis_reply_free().
 */
EDDY_API EDDY_MUST_USE int eddy_redis_command(eddy_redis *redis, eddy_redis_reply **ret_reply,
                                              const char *format, ...);
EDDY_API EDDY_MUST_USE int eddy_redis_command_va(eddy_redis *redis, eddy_redis_reply **ret_reply,
                                                 const char *format, va_list args);

/*
 * Like eddy_redis_command(), for 'n' arguments; the first argument is the command's name.  'bytes'
 * are their lengths; NULL: all are texts.
 *
 * Suspends: yes.
 */
EDDY_API EDDY_MUST_USE int eddy_redis_command_args(eddy_redis *redis, uint32_t n,
                                                   const char *const *args, const size_t *bytes,
                                                   eddy_redis_reply **ret_reply);

/* --- batches and transactions --- */

/* Commands that are sent together. */
typedef struct eddy_redis_batch eddy_redis_batch;

enum { EDDY_REDIS_BATCH_MAX = 65536 };

/*
 * Make an empty batch.
 *
 * Suspends: no.
 * Errors: -ENOMEM
 * Owns: returns (owned) '*ret_batch', to be freed by eddy_redis_batch_free().
 */
EDDY_API EDDY_MUST_USE int eddy_redis_batch_new(eddy_redis_batch **ret_batch);

/* Free the batch.  NULL is ignored.  Suspends: no. */
EDDY_API void eddy_redis_batch_free(eddy_redis_batch *batch);

/*
 * Append a command, as in eddy_redis_command() and eddy_redis_command_args().
 *
 * Suspends: no.
 * Errors: -EINVAL    the format is not valid
 *         -EMSGSIZE  more than EDDY_REDIS_BATCH_MAX commands, or 64 MiB
 *         -ENOMEM
 */
EDDY_API EDDY_MUST_USE int eddy_redis_batch_add(eddy_redis_batch *batch, const char *format, ...);
EDDY_API EDDY_MUST_USE int eddy_redis_batch_add_args(eddy_redis_batch *batch, uint32_t n,
                                                     const char *const *args, const size_t *bytes);

/* Returns the number of commands; 0 for NULL.  Suspends: no. */
EDDY_API uint32_t eddy_redis_batch_count(const eddy_redis_batch *batch);

/*
 * Send all commands and wait for their replies, which are stored in 'ret_replies' (one for each
 * command).  A command that the server refuses has a reply of type EDDY_REDIS_ERROR and is not an
 * error of this call; the other commands run.  The batch can be run again.
 *
 * Suspends: yes.
 * Errors: as eddy_redis_command(), except EDDY_E_REDIS_ERROR
 *         EDDY_E_REDIS_FULL  also if the batch alone has more than 'commands_max' commands: raise
 *                            this option, or use several batches
 *         -EINVAL            the batch is empty
 * Owns: returns (owned) the replies.
 */
EDDY_API EDDY_MUST_USE int eddy_redis_batch_run(eddy_redis *redis, const eddy_redis_batch *batch,
                                                eddy_redis_reply **ret_replies);

/*
 * Run the commands as a transaction (MULTI, EXEC).  '*ret_reply' is one array of their replies;
 * 'ret_reply' may be NULL.  To run the transaction only if certain keys were not changed, first
 * WATCH these keys, on a dedicated client.  If a command is not valid, or the server refuses MULTI,
 * none runs.  MULTI and EXEC count for 'commands_max'.
 *
 * Suspends: yes.
 * Errors: as eddy_redis_command()
 *         EDDY_E_REDIS_ABORTED  a watched key was changed: nothing ran
 * Owns: returns (owned) '*ret_reply'.
 */
EDDY_API EDDY_MUST_USE int eddy_redis_transaction(eddy_redis *redis, const eddy_redis_batch *batch,
                                                  eddy_redis_reply **ret_reply);

/* --- scripts --- */

/* A Lua script.  All zero except 'source', which must remain valid.  May be static. */
typedef struct eddy_redis_script {
        const char *source EDDY_UNSET;
        char digest[41] EDDY_UNSET; /* as the server reported it; private */
        uintptr_t reserved[2] EDDY_UNSET;
} eddy_redis_script;

/*
 * Run a script with 'n' arguments, the first 'keys' of which are keys.  The script is sent once:
 * later calls send only its digest, and the source again if the server does not have the script.
 *
 * Suspends: yes.
 * Errors: as eddy_redis_command_args(); -EINVAL  'keys' is above 'n', or 'n' above 1,000
 * Owns: returns (owned) '*ret_reply'.
 */
EDDY_API EDDY_MUST_USE int eddy_redis_eval(eddy_redis *redis, eddy_redis_script *script,
                                           uint32_t keys, uint32_t n, const char *const *args,
                                           const size_t *bytes, eddy_redis_reply **ret_reply);

/* --- dedicated clients in a pool --- */

/*
 * Make a pool whose items are dedicated clients (eddy_redis *) with the options of 'redis', for
 * WATCH, BLPOP, XREAD BLOCK and others.  A client on which a command was cancelled is closed; a
 * client that was left in a transaction or in another database is reset.  If a loan fails because its
 * client cannot connect, the loan's 'ret_fault' has the texts that eddy_redis_fault() would have.
 * 'opts' may be NULL; this call sets its own 'ops' and 'arg'.  Close the pool before 'redis', which
 * stays in memory until the pool has ended.
 *
 * Suspends: no.
 * Errors: those of eddy_pool_new(); EDDY_E_REDIS_CLOSED
 * Owns: returns (owned) '*ret_pool', to be closed by eddy_pool_close().
 */
EDDY_API EDDY_MUST_USE int eddy_redis_pool_new(eddy_redis *redis, const struct eddy_pool_opts *opts,
                                               eddy_pool **ret_pool);

/* Counters of a client. */
struct eddy_redis_stats {
        uint64_t commands; /* sent, or to be sent */
        uint64_t replies;  /* received, including those dropped */
        uint64_t dropped;  /* replies to cancelled commands */
        uint64_t connects; /* connections made */
        uint64_t failures; /* attempts to connect that failed */
        uint64_t lost;     /* connections that ended by an error */
        uint64_t writes;   /* writes to connections; commands / writes is the gain of pipelining */
        uint32_t owed;     /* replies due on the current connection */
        uint32_t links;    /* connections, including those that await last replies */
        uintptr_t reserved[4];
};

EDDY_API void eddy_redis_stats(const eddy_redis *redis, struct eddy_redis_stats *ret_stats);

static inline void eddy_redis_auto_release(eddy_redis **redis)
{
        eddy_redis_close(*redis);
}

static inline void eddy_redis_batch_auto_release(eddy_redis_batch **batch)
{
        eddy_redis_batch_free(*batch);
}

EDDY_END_DECLS

#endif
