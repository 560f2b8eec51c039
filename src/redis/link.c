/*
 * redis/link.c - a link: a connection whose commands are sent together and answered in order.
 *
 * Each owed reply has a place in a ring, with the request that waits for it; a cancelled request
 * leaves its places empty, and their replies are dropped. The waiting tasks pass two roles on to
 * one another: the writer sends the commands of all tasks, and the reader reads the replies of all
 * tasks. A task that leaves wakes another task, which takes a role that is free. Therefore a
 * cancelled task does not delay the others, and an idle link has no task.
 */
#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/time.h"
#include "redis/redis.h"
#include "scope/debug/debug.h"

static struct ed_redis_request **place_of(const struct ed_redis_link *link, uint64_t number)
{
        return &link->owed[number % link->places];
}

/* The login has room in any case: the limits of the options are those of ed_redis_run(). */
static size_t at_least(size_t limit, size_t login)
{
        return limit > login ? limit : login;
}

int ed_redis_link_new(eddy_redis *redis, eddy_stream *stream, struct ed_redis_link **ret_link)
{
        const struct eddy_redis_opts *opts = &redis->opts;
        struct ed_redis_link *link = ed_alloc(sizeof(*link));
        int err = -ENOMEM;

        if (!link)
                return err;
        memset(link, 0, offsetof(struct ed_redis_link, in));
        link->places = at_least(opts->commands_max, ED_REDIS_LOGIN_MAX);
        link->owed = ed_alloc_zero(link->places * sizeof(*link->owed));
        if (!link->owed)
                goto fail_free;
        err = ed_redis_reader_init(&link->reader, opts->reply_bytes_max);
        if (err < 0)
                goto fail_free;
        ed_buf_init(&link->out, at_least(opts->request_bytes_max, ED_REDIS_LOGIN_BYTES));
        ed_redis_ref(redis);
        ed_debug_gone(stream); /* reported as part of the client */
        link->redis = redis;
        link->stream = stream;
        link->refs = 1;
        redis->stats.links++;
        *ret_link = link;
        return 0;

fail_free:
        ed_free(link->owed);
        ed_free(link);
        return err;
}

void ed_redis_link_unref(struct ed_redis_link *link)
{
        eddy_redis *redis = link->redis;

        if (--link->refs > 0)
                return;
        if (link->stream)
                eddy_stream_close_now(link->stream);
        ed_redis_reader_fini(&link->reader);
        ed_buf_fini(&link->out);
        ed_free(link->owed);
        ed_free(link);
        redis->stats.links--;
        ed_redis_unref(redis);
}

bool ed_redis_link_is_idle(const struct ed_redis_link *link)
{
        return link->first == link->last && !link->has_reader && !link->has_writer;
}

/* Wake the task that waits longest.  Returns its request, or NULL if no task waits. */
static const struct ed_redis_request *wake_first(struct ed_redis_link *link)
{
        struct ed_waiter *waiter = ed_waiters_first(link->line);

        if (!waiter)
                return NULL;
        ed_waiters_remove(waiter);
        waiter->item = NULL; /* no longer in the line */
        ed_suspend_wake(waiter->task, 0);
        return ed_container_of(waiter, struct ed_redis_request, waiter);
}

/* --- the end of a link --- */

/* The error of a request, when the link has failed with 'err'. */
static int error_of(const struct ed_redis_link *link, const struct ed_redis_request *request,
                    int err)
{
        bool is_about_reply = err == EDDY_E_REDIS_PROTOCOL || err == EDDY_E_REDIS_TOO_LARGE;

        if (is_about_reply && request->number + request->got == link->first)
                return err;
        return request->begin < link->sent ? EDDY_E_REDIS_UNKNOWN : err;
}

void ed_redis_link_fail(struct ed_redis_link *link, int err)
{
        if (link->err < 0)
                return;
        link->err = err;
        if (err != EDDY_E_REDIS_CLOSED)
                link->redis->stats.lost++;
        for (uint64_t number = link->first; number < link->last; number++) {
                struct ed_redis_request *request = *place_of(link, number);

                if (request && request->err == 0)
                        request->err = error_of(link, request, err);
        }
        while (wake_first(link)) {
        }
        eddy_stream_abort(link->stream);
        link->stream = NULL;
}

/* --- replies --- */

/* Give a reply to its request. */
static void deliver(struct ed_redis_link *link, eddy_redis_reply *reply)
{
        struct ed_redis_request *request = *place_of(link, link->first);

        *place_of(link, link->first++) = NULL;
        link->redis->stats.replies++;
        if (!request) {
                link->abandoned--;
                link->redis->stats.dropped++;
                eddy_redis_reply_free(reply);
                return;
        }
        request->replies[request->got++] = reply;
        if (request->got < request->count)
                return;
        if (request->waiter.item) {
                ed_waiters_remove(&request->waiter);
                request->waiter.item = NULL;
                ed_suspend_wake(request->waiter.task, 0);
        } else if (request->writing) {
                eddy_scope_cancel(request->writing); /* another task writes the rest */
        }
}

/* Take the replies in 'bytes' new bytes. */
static int take(struct ed_redis_link *link, size_t bytes)
{
        eddy_redis_reply *reply;
        int err;

        link->silence_ns = ed_loop_now(link->redis->member.loop);
        err = ed_redis_reader_feed(&link->reader, link->in, bytes);
        while (err >= 0) {
                err = ed_redis_reader_next(&link->reader, &reply);
                if (err <= 0)
                        return err;
                if (link->first == link->last) {
                        eddy_redis_reply_free(reply);
                        return EDDY_E_REDIS_PROTOCOL; /* an answer to nothing */
                }
                deliver(link, reply);
        }
        return err;
}

/* Take what has arrived, without a wait.  Returns the number of bytes. */
static int64_t take_available(struct ed_redis_link *link)
{
        int64_t n = eddy_stream_try_read(link->stream, link->in, sizeof(link->in));
        int err = n > 0 ? take(link, (size_t) n) : n == 0 ? -ECONNRESET : (int) n;

        if (err < 0 && err != -EAGAIN)
                ed_redis_link_fail(link, err);
        return n;
}

static void watch(struct ed_redis_link *link);

static void on_readable(void *arg)
{
        struct ed_redis_link *link = arg;

        link->is_watched = false;
        (void) take_available(link);
        watch(link);
}

/* While the only task writes: take replies from the loop, since the server may wait too. */
static void watch(struct ed_redis_link *link)
{
        while (link->err == 0 && !link->has_reader && !link->is_watched) {
                int err = eddy_stream_watch_idle(link->stream, on_readable, link);

                link->is_watched = err == 0;
                if (err != -EALREADY || take_available(link) <= 0)
                        return;
        }
}

static void unwatch(struct ed_redis_link *link)
{
        if (link->is_watched && link->err == 0)
                (void) eddy_stream_watch_idle(link->stream, NULL, NULL);
        link->is_watched = false;
}

/* --- roles --- */

/*
 * Let another task take a role that is free. A task that is woken may get its reply before it runs,
 * and then takes no role: each task calls this function when it leaves.
 */
static void summon(struct ed_redis_link *link)
{
        bool has_work = !link->has_writer && ed_buf_bytes(&link->out) > 0;

        if (link->err < 0 || link->called || (link->has_reader && !has_work))
                return;
        link->called = wake_first(link);
        if (link->called)
                return;
        if (link->has_writer)
                watch(link);
        if (!link->reading)
                return;
        link->poked = true;
        eddy_scope_cancel(link->reading);
}

/* Wait until the stream takes bytes, or the request has its replies. */
static int wait_for_room(struct ed_redis_link *link, struct ed_redis_request *request)
{
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        request->writing = &scope;
        err = eddy_stream_wait(link->stream, EDDY_STREAM_WRITING);
        request->writing = NULL;
        (void) eddy_scope_end(&scope);
        return request->got == request->count ? 0 : err;
}

/*
 * Send all commands, or until the request has its replies.
 * Errors: -ECANCELED  this task was cancelled
 */
static int write_out(struct ed_redis_link *link, struct ed_redis_request *request)
{
        int64_t n = 1;
        int err;

        link->has_writer = true;
        err = eddy_sleep(0); /* other tasks add their commands to the same write */
        while (err == 0 && link->err == 0 && n != 0 && request->got < request->count) {
                struct eddy_slice slice = { .data = ed_buf_data(&link->out),
                                            .bytes = ed_buf_bytes(&link->out) };

                unwatch(link);
                n = eddy_stream_try_writev(link->stream, &slice, slice.bytes > 0 ? 1 : 0);
                if (n == -EAGAIN) {
                        summon(link); /* to read */
                        if (link->err == 0)
                                err = wait_for_room(link, request);
                        n = 1;
                } else if (n < 0) {
                        err = (int) n;
                } else if (slice.bytes > 0) {
                        ed_buf_consume(&link->out, (size_t) n);
                        link->sent += (uint64_t) n;
                        link->redis->stats.writes++;
                        n = 1;
                }
        }
        unwatch(link);
        link->has_writer = false;
        if (link->err < 0)
                return 0;
        if (err < 0 && err != -ECANCELED)
                ed_redis_link_fail(link, err);
        return err == -ECANCELED ? err : 0;
}

/* Wait until there is something to read, or summon() pokes this task. */
static int wait_for_bytes(struct ed_redis_link *link)
{
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        link->reading = &scope;
        err = eddy_stream_wait(link->stream, EDDY_STREAM_READING);
        link->reading = NULL;
        (void) eddy_scope_end(&scope);
        return link->poked ? 0 : err;
}

/* Take replies until the request has its own.  Errors: -ECANCELED  this task was cancelled */
static int read_in(struct ed_redis_link *link, const struct ed_redis_request *request)
{
        int64_t n;
        int err = 0;

        unwatch(link);
        link->has_reader = true;
        link->poked = false;
        while (err == 0 && link->err == 0 && request->got < request->count && !link->poked) {
                n = eddy_stream_try_read(link->stream, link->in, sizeof(link->in));
                if (n > 0)
                        err = take(link, (size_t) n);
                else if (n == -EAGAIN)
                        err = wait_for_bytes(link);
                else
                        err = n == 0 ? -ECONNRESET : (int) n;
        }
        link->has_reader = false;
        if (link->err < 0)
                return 0;
        if (err < 0 && err != -ECANCELED)
                ed_redis_link_fail(link, err);
        return err == -ECANCELED ? err : 0;
}

static bool stop_waiting(void *arg)
{
        struct ed_redis_request *request = arg;

        ed_waiters_remove(&request->waiter);
        request->waiter.item = NULL;
        return true;
}

static int wait_in_line(struct ed_redis_link *link, struct ed_redis_request *request)
{
        struct ed_task *task;
        int err = ed_suspend_enter(&task);

        if (err < 0)
                return err;
        ed_waiter_init(&request->waiter, task, link);
        ed_waiters_push(link->line, &request->waiter);
        err = ed_suspend_park(task, "a reply of Redis", stop_waiting, request);
        if (link->called == request)
                link->called = NULL;
        return err;
}

/* --- requests --- */

/* Count the replies that are still to come as owed to no task. */
static void abandon(struct ed_redis_link *link, struct ed_redis_request *request)
{
        if (link->abandoned == 0)
                link->silence_ns = ed_loop_now(link->redis->member.loop);
        for (uint32_t i = request->got; i < request->count; i++)
                *place_of(link, request->number + i) = NULL;
        link->abandoned += request->count - request->got;
        for (uint32_t i = 0; i < request->got; i++)
                eddy_redis_reply_free(request->replies[i]);
        if (link->redis->opts.flags & EDDY_REDIS_DEDICATED && link->err == 0) {
                link->redis->was_cancelled = true;
                ed_redis_link_fail(link, EDDY_E_REDIS_LOST);
        }
}

/* Wait for the replies. */
static int await(struct ed_redis_link *link, struct ed_redis_request *request)
{
        int err = 0;

        while (err == 0 && request->got < request->count && request->err == 0) {
                if (!link->has_writer && ed_buf_bytes(&link->out) > 0)
                        err = write_out(link, request);
                else if (!link->has_reader)
                        err = read_in(link, request);
                else
                        err = wait_in_line(link, request);
        }
        if (request->got == request->count) {
                err = 0; /* a completed result wins */
        } else if (request->err == 0) {
                abandon(link, request);
        } else {
                for (uint32_t i = 0; i < request->got; i++)
                        eddy_redis_reply_free(request->replies[i]);
                err = request->err;
        }
        summon(link);
        return err;
}

int ed_redis_link_run(struct ed_redis_link *link, const char *data, size_t bytes, uint32_t count,
                      eddy_redis_reply **ret_replies)
{
        struct ed_redis_request request = { .number = link->last,
                                            .count = count,
                                            .replies = ret_replies };
        int err;

        if (link->last - link->first + count > link->places)
                return EDDY_E_REDIS_FULL;
        request.begin = link->sent + ed_buf_bytes(&link->out);
        err = ed_buf_append(&link->out, data, bytes);
        if (err < 0)
                return err == -EMSGSIZE ? EDDY_E_REDIS_FULL : err;
        for (uint32_t i = 0; i < count; i++)
                *place_of(link, link->last++) = &request;
        link->redis->stats.commands += count;
        link->refs++;
        err = await(link, &request);
        ed_redis_link_unref(link);
        return err;
}
