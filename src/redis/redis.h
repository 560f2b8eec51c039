/*
 * redis/redis.h - what the files of libeddy-redis share.
 *
 * A client has one link at a time: a connection with the replies that it owes. No task belongs to a
 * link. The tasks that wait for replies do the work in turns: one of them writes the commands of
 * all, another one reads the replies of all. If that task leaves, the next one takes over.
 */
#ifndef ED_REDIS_REDIS_H
#define ED_REDIS_REDIS_H

#include <hiredis.h>
#include <locale.h>

#include "base/buf.h"
#include "base/list.h"
#include "eddy/lock.h"
#include "eddy/redis.h"
#include "loop/member.h"
#include "scope/suspend.h"
#include "scope/waiters.h"

enum {
        ED_REDIS_TEXT_MAX = 512,      /* of a user, a name */
        ED_REDIS_PASSWORD_MAX = 4096, /* also tokens of cloud services */
        ED_REDIS_READ_BYTES = 16 << 10,
        ED_REDIS_LOGIN_MAX = 3, /* commands */
        ED_REDIS_LOGIN_BYTES = ED_REDIS_PASSWORD_MAX + 4 * ED_REDIS_TEXT_MAX,
};

/* --- replies (reply.c) --- */

struct eddy_redis_reply {
        enum eddy_redis_type type;
        uint32_t count;  /* elements */
        int64_t integer; /* or the bytes of a text */
        union {
                char text[8]; /* with a NUL */
                struct eddy_redis_reply *elements[1];
        } is;
};

/* Returns the locale "C", whose numbers have a decimal point. */
locale_t ed_redis_plain_locale(void);

/* --- the reader (reader.c) --- */

/* Reads replies by hiredis, within limits. */
struct ed_redis_reader {
        redisReader *hiredis;
        size_t bytes_max;
        size_t bytes; /* of the reply that is being read */
        size_t fed;   /* bytes, without those that the replies have at least */
        int err;      /* of one of the functions that hiredis calls */
};

int ed_redis_reader_init(struct ed_redis_reader *reader, size_t bytes_max);
void ed_redis_reader_fini(struct ed_redis_reader *reader);

/* Add received bytes.  Errors: -ENOMEM */
int ed_redis_reader_feed(struct ed_redis_reader *reader, const char *data, size_t bytes);

/*
 * Take the next reply. Returns 1 if there is one, 0 if bytes are missing.
 * Errors: EDDY_E_REDIS_PROTOCOL, EDDY_E_REDIS_TOO_LARGE, -ENOMEM; the reader cannot be used again
 */
int ed_redis_reader_next(struct ed_redis_reader *reader, eddy_redis_reply **ret_reply);

/* --- where the server is (target.c) --- */

struct ed_redis_target {
        bool is_tls;
        bool has_password;
        uint16_t port;
        uint32_t database;
        char host[256];
        char path[EDDY_ENDPOINT_PATH_MAX + 1]; /* "": TCP */
        char user[ED_REDIS_TEXT_MAX + 1];
        char password[ED_REDIS_PASSWORD_MAX + 1];
        char name[ED_REDIS_TEXT_MAX + 1];
};

int ed_redis_target_read(const struct eddy_redis_opts *opts, struct ed_redis_target *ret_target);

/* --- commands (command.c) --- */

/* The effect of a command on a connection. */
enum ed_redis_effect {
        ED_REDIS_PLAIN,
        ED_REDIS_WAITS,   /* for other clients: not on a shared connection */
        ED_REDIS_CHANGES, /* the connection's state: not on a shared connection */
        ED_REDIS_BREAKS,  /* the order of replies: never */
        ED_REDIS_LOGS_IN, /* the connection cannot be reset */
};

/*
 * Format a command; to be freed by redisFreeCommand().  Returns its bytes.
 * Errors: -EINVAL, -EMSGSIZE, -ENOMEM
 */
int64_t ed_redis_format(char **ret_data, const char *format, va_list args);
int64_t ed_redis_format_args(char **ret_data, uint32_t n, const char *const *args,
                             const size_t *bytes);

/* Returns the effect of a formatted command. */
enum ed_redis_effect ed_redis_effect(const char *data, size_t bytes);

/* --- links (link.c) --- */

/* Commands of a task, on its stack. */
struct ed_redis_request {
        struct ed_waiter waiter;
        uint64_t number; /* of the first reply */
        uint64_t begin;  /* offset of the first byte among all bytes of the link */
        uint32_t count;  /* replies */
        uint32_t got;
        eddy_redis_reply **replies;
        eddy_scope *writing; /* of the task, while it waits to write */
        int err;             /* if the link has failed */
};

struct ed_redis_link {
        eddy_redis *redis;
        eddy_stream *stream; /* NULL after a failure */
        struct ed_redis_reader reader;
        struct ed_buf out;
        uint64_t sent;                  /* bytes that the stream took */
        uint64_t first;                 /* number of the first owed reply */
        uint64_t last;                  /* after the last one */
        struct ed_redis_request **owed; /* by number, modulo 'places'; NULL: cancelled */
        size_t places;
        uint32_t abandoned;                    /* owed replies of cancelled commands */
        uint32_t refs;                         /* of requests, and of the client */
        void *line[2];                         /* tasks that neither write nor read */
        eddy_scope *reading;                   /* of the task that reads, while it waits */
        const struct ed_redis_request *called; /* woken to take a role, and has not run since */
        bool has_reader, has_writer;
        bool is_watched;    /* the loop takes replies */
        bool poked;         /* the reader must look for work */
        int err;            /* why the link ended, or 0 */
        int64_t silence_ns; /* since: the last byte received, or the first abandoned reply */
        char in[ED_REDIS_READ_BYTES];
};

/* Make a link on 'stream', which belongs to it, and with one reference. */
int ed_redis_link_new(eddy_redis *redis, eddy_stream *stream, struct ed_redis_link **ret_link);
void ed_redis_link_unref(struct ed_redis_link *link);

/* End the link: its requests fail. */
void ed_redis_link_fail(struct ed_redis_link *link, int err);

/* Send formatted commands and wait for 'count' replies.  Suspends. */
int ed_redis_link_run(struct ed_redis_link *link, const char *data, size_t bytes, uint32_t count,
                      eddy_redis_reply **ret_replies);

/* Returns true if nothing is under way, so that a readable stream is a broken one. */
bool ed_redis_link_is_idle(const struct ed_redis_link *link);

/* --- connecting (connect.c) --- */

/* The least time between attempts to connect.  Zero at first. */
struct ed_redis_pace {
        int64_t pause_ns;
        int64_t next_ns; /* when the next attempt may begin */
};

/* Wait for the time of an attempt, which begins then.  Several tasks may wait.  Suspends. */
int ed_redis_pace(struct ed_loop *loop, struct ed_redis_pace *pace);

/* Open a stream to the server and log in.  Suspends. */
int ed_redis_connect(eddy_redis *redis, struct ed_redis_link **ret_link);

/* --- the client (client.c) --- */

struct eddy_redis {
        struct ed_member member;
        struct ed_redis_target target;
        struct eddy_redis_opts opts; /* numbers, 'tls' and 'flags' only */
        eddy_tls_config *made_tls;
        struct ed_redis_link *link; /* NULL: not connected */
        eddy_lock connecting;
        eddy_scope *attempting; /* of the task that connects, meanwhile */
        uint64_t attempts;      /* to connect */
        int attempt_err;        /* of the last one */
        struct ed_redis_pace pace;
        uint32_t refs;
        bool is_closed;
        bool was_connected;
        bool has_multi;       /* the server allows transactions */
        bool is_changed;      /* dedicated: a command has changed the connection's state */
        bool is_spoiled;      /* dedicated: it cannot be reset */
        bool was_cancelled;   /* dedicated: a command, which ended the connection */
        bool has_pool_failed; /* a connection of a pool: the next ones are paced */
        struct ed_redis_pace pool_pace; /* of the pools of this client */
        struct eddy_redis_fault fault;
        struct eddy_redis_fault attempt_fault; /* of 'attempt_err' */
        struct eddy_redis_stats stats;
};

/* Returns a dedicated client with the options of another one, or NULL. */
eddy_redis *ed_redis_clone(const eddy_redis *redis);

void ed_redis_ref(eddy_redis *redis);
void ed_redis_unref(eddy_redis *redis);

/* Send formatted commands on the client's connection, connecting first.  Suspends. */
int ed_redis_run(eddy_redis *redis, const char *data, size_t bytes, uint32_t count,
                 eddy_redis_reply **ret_replies);

/* Give a reply to the caller, unless it is an error, which is stored as the client's fault. */
int ed_redis_answer(eddy_redis *redis, eddy_redis_reply *reply, eddy_redis_reply **ret_reply);

/* Store a failure: a code, and what happened. */
void ed_redis_fault_clear(struct eddy_redis_fault *fault);
void ed_redis_fault(struct eddy_redis_fault *fault, const char *format, ...) EDDY_PRINTF(2, 3);
void ed_redis_fault_of(struct eddy_redis_fault *fault, const eddy_redis_reply *reply);

#endif
