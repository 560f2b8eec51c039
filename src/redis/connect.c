/*
 * redis/connect.c - opening a connection: the stream, TLS, and the commands that log in.
 */
#include <stdio.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/scope.h"
#include "eddy/tcp.h"
#include "eddy/time.h"
#include "eddy/unix.h"
#include "redis/redis.h"

#define KEEPALIVE_NS EDDY_SEC(30)
#define PAUSE_MIN_NS EDDY_MS(10)
#define PAUSE_MAX_NS EDDY_MS(500)
#define CALM_NS      EDDY_SEC(1)

/*
 * The pause counts from the beginning of an attempt, so that cancelled attempts, and connections that
 * end at once, are no more frequent than failures, and calls with short deadlines do not begin it
 * again. It doubles while attempts follow each other.
 */
int ed_redis_pace(struct ed_loop *loop, struct ed_redis_pace *pace)
{
        int64_t now_ns = ed_loop_now(loop);
        uint32_t word;

        while (now_ns < pace->next_ns) { /* again, if another task has begun an attempt meanwhile */
                int err = eddy_sleep(pace->next_ns - now_ns);

                if (err < 0)
                        return err;
                now_ns = ed_loop_now(loop);
        }
        pace->pause_ns *= 2;
        if (pace->pause_ns == 0 || now_ns - pace->next_ns > CALM_NS)
                pace->pause_ns = PAUSE_MIN_NS;
        if (pace->pause_ns > PAUSE_MAX_NS)
                pace->pause_ns = PAUSE_MAX_NS;
        loop->sys->poll->random(loop->sys, &word, sizeof(word));
        pace->next_ns = now_ns + pace->pause_ns / 2 + word % (pace->pause_ns / 2);
        return 0;
}

static int open_socket(const struct ed_redis_target *target, eddy_stream **ret_stream)
{
        struct eddy_tcp_connect_opts opts = { .keepalive_ns = KEEPALIVE_NS };

        if (target->path[0])
                return eddy_unix_connect(target->path, NULL, ret_stream);
        return eddy_tcp_connect(target->host, target->port, &opts, ret_stream);
}

/* Do the handshake of TLS on '*stream', which is replaced; the caller closes it in any case. */
static int secure(eddy_redis *redis, eddy_stream **stream)
{
        struct eddy_tls_fault fault = { "" };
        struct eddy_tls_conn_opts opts = { .ret_fault = &fault };
        eddy_tls_config *tls = redis->opts.tls;
        int err = 0;

        if (!tls && !redis->made_tls)
                err = eddy_tls_config_new(NULL, &fault, &redis->made_tls);
        if (err == 0)
                err = eddy_tls_client(*stream, tls ? tls : redis->made_tls, redis->target.host,
                                      &opts, stream);
        if (err < 0 && fault.text[0])
                ed_redis_fault(&redis->attempt_fault, "%s", fault.text);
        return err;
}

static int open_stream(eddy_redis *redis, eddy_stream **ret_stream)
{
        eddy_stream *stream;
        int err = open_socket(&redis->target, &stream);

        if (err == 0 && redis->target.is_tls) {
                err = secure(redis, &stream);
                if (err < 0)
                        eddy_stream_close_now(stream);
        }
        if (err == 0)
                *ret_stream = stream;
        return err;
}

/* Append a command of two or three words to the login. */
static int add(struct ed_buf *buf, uint32_t *count, const char *const *args, uint32_t n)
{
        char *data = NULL;
        int64_t bytes = ed_redis_format_args(&data, n, args, NULL);
        int err;

        if (bytes < 0)
                return (int) bytes;
        err = ed_buf_append(buf, data, (size_t) bytes);
        explicit_bzero(data, (size_t) bytes);
        redisFreeCommand(data);
        if (err == 0)
                ++*count;
        return err;
}

static int login_write(const struct ed_redis_target *target, struct ed_buf *buf, uint32_t *count)
{
        const char *auth[] = { "AUTH", target->user, target->password };
        const char *auth_default[] = { "AUTH", target->password };
        const char *name[] = { "CLIENT", "SETNAME", target->name };
        char number[16];
        const char *select[] = { "SELECT", number };
        int err = 0;

        snprintf(number, sizeof(number), "%u", (unsigned) target->database);
        if (target->has_password && target->user[0])
                err = add(buf, count, auth, 3);
        else if (target->has_password)
                err = add(buf, count, auth_default, 2);
        if (err == 0 && target->name[0])
                err = add(buf, count, name, 3);
        if (err == 0 && target->database > 0)
                err = add(buf, count, select, 2);
        return err;
}

/* Returns true if a text has the beginning of a secret: a server may repeat arguments, also in part. */
static bool repeats(const char *text, const char *secret)
{
        char begin[9];

        snprintf(begin, sizeof(begin), "%.8s", secret);
        return begin[0] && strstr(text, begin);
}

static bool has_secret(const struct ed_redis_target *target, const char *text)
{
        bool is_default = strcmp(target->user, "default") == 0;

        return repeats(text, target->password) || (!is_default && repeats(text, target->user));
}

/* Store why the server refused the login, without the user and the password. */
static int refusal(eddy_redis *redis, const eddy_redis_reply *reply)
{
        const struct ed_redis_target *target = &redis->target;
        struct eddy_redis_fault *fault = &redis->attempt_fault;
        const char *text = reply->is.text;
        bool is_auth;

        ed_redis_fault_of(fault, reply);
        if (has_secret(target, fault->code))
                fault->code[0] = '\0';
        is_auth = strcmp(fault->code, "WRONGPASS") == 0 || strcmp(fault->code, "NOAUTH") == 0 ||
                  strcmp(fault->code, "NOPERM") == 0 || strstr(text, "invalid password") ||
                  strstr(text, "invalid username");
        if (is_auth)
                snprintf(fault->text, sizeof(fault->text), "the server %s (%s)",
                         target->has_password ? "refused the user or the password"
                                              : "requires a user or a password",
                         fault->code);
        else if (has_secret(target, text) || strstr(text, "with args"))
                snprintf(fault->text, sizeof(fault->text), "the server refused the login (%s)",
                         fault->code);
        return is_auth ? EDDY_E_REDIS_AUTH : EDDY_E_REDIS_ERROR;
}

/* Look at the replies of the login. */
static int login_check(eddy_redis *redis, eddy_redis_reply **replies, uint32_t count)
{
        int err = 0;

        for (uint32_t i = 0; i < count; i++) {
                if (err == 0 && replies[i]->type == EDDY_REDIS_ERROR)
                        err = refusal(redis, replies[i]);
                eddy_redis_reply_free(replies[i]);
        }
        return err;
}

static int login(eddy_redis *redis, struct ed_redis_link *link)
{
        eddy_redis_reply *replies[ED_REDIS_LOGIN_MAX];
        struct ed_buf buf;
        uint32_t count = 0;
        int err;

        ed_buf_init(&buf, ED_REDIS_LOGIN_BYTES);
        err = login_write(&redis->target, &buf, &count);
        if (err == 0 && count > 0)
                err = ed_redis_link_run(link, ed_buf_data(&buf), ed_buf_bytes(&buf), count,
                                        replies);
        if (buf.memory)
                explicit_bzero(buf.memory, buf.room);
        ed_buf_fini(&buf);
        if (err == EDDY_E_REDIS_UNKNOWN)
                return -ECONNRESET; /* logging in does no work */
        return err < 0 || count == 0 ? err : login_check(redis, replies, count);
}

static int connect_within(eddy_redis *redis, struct ed_redis_link **ret_link)
{
        struct ed_redis_link *link;
        eddy_stream *stream = NULL;
        int err = open_stream(redis, &stream);

        if (err < 0)
                return err;
        err = ed_redis_link_new(redis, stream, &link);
        if (err < 0) {
                eddy_stream_close_now(stream);
                return err;
        }
        err = login(redis, link);
        if (err < 0)
                ed_redis_link_unref(link);
        else
                *ret_link = link;
        return err;
}

int ed_redis_connect(eddy_redis *redis, struct ed_redis_link **ret_link)
{
        int64_t timeout_ns = redis->opts.connect_timeout_ns;
        struct eddy_scope_opts opts = { .timeout_ns = timeout_ns < 0 ? 0 : timeout_ns };
        eddy_scope scope;
        int err, ended;

        ed_redis_fault_clear(&redis->attempt_fault);
        eddy_scope_begin(&scope, &opts);
        err = connect_within(redis, ret_link);
        ended = eddy_scope_end(&scope);
        if (err == -ECANCELED && ended == -ETIMEDOUT) {
                ed_redis_fault_clear(&redis->attempt_fault); /* of a handshake that was cancelled */
                err = EDDY_E_NET_TIMED_OUT;
        }
        if (err < 0 && err != -ECANCELED && !redis->attempt_fault.text[0])
                ed_redis_fault(&redis->attempt_fault, "cannot connect: %s", eddy_error_text(err));
        return err;
}
