/*
 * io/stream.c - the public calls of every stream: a try, and a wait before the next one.
 */
#include <errno.h>

#include "eddy/error.h"
#include "eddy/stream_ops.h"
#include "io/slices.h"
#include "io/socket.h"
#include "io/stream.h"
#include "scope/debug/debug.h"
#include "scope/misuse.h"
#include "scope/suspend.h"

/* A task in the stream's 'wait', on the task's stack. */
struct user {
        eddy_stream *stream; /* NULL: closed meanwhile */
};

void eddy_stream_init(eddy_stream *stream, const struct eddy_stream_ops *ops)
{
        *stream = (struct eddy_stream){ .ops = ops };
        ed_debug_made(stream, ED_DEBUG_STREAM);
}

/* ---- reading and writing ----------------------------------------------------- */

/* Errors: -EINVAL; EDDY_E_RUN_OTHER_LOOP. */
static inline int check(const eddy_stream *stream)
{
        if (ed_unlikely(!stream))
                return -EINVAL;
        return stream->member ? ed_member_check(stream->member) : 0;
}

/* Errors: those of check(); -EBUSY  another task uses 'side'; -ECANCELED  it is being closed. */
static inline int check_free(const eddy_stream *stream, enum eddy_stream_side side)
{
        int err = check(stream);

        if (ed_unlikely(err < 0))
                return err;
        if (ed_unlikely(stream->is_closing))
                return -ECANCELED;
        return ed_unlikely(stream->users[side] != NULL) ? -EBUSY : 0;
}

/* Errors: -EINVAL, those of check_free(), EDDY_E_STREAM_BROKEN. */
static int check_writable(const eddy_stream *stream)
{
        int err = check_free(stream, EDDY_STREAM_WRITING);

        return err == 0 && stream->is_broken ? EDDY_E_STREAM_BROKEN : err;
}

/* Begin a call that may suspend. Errors: -EINVAL, those of ed_suspend_enter() and check_free(). */
static inline int enter(const eddy_stream *stream, enum eddy_stream_side side,
                        struct ed_task **ret_task)
{
        int err;

        if (ed_unlikely(!stream))
                return -EINVAL;
        err = ed_suspend_enter(ret_task);
        if (ed_unlikely(err < 0))
                return err;
        return check_free(stream, side);
}

/* Wait as the user of 'side'. After an error the stream may be gone. */
static int wait(eddy_stream *stream, enum eddy_stream_side side)
{
        struct user user = { stream };
        struct ed_task *task;
        int err;

        stream->users[side] = &user;
        err = stream->ops->wait(stream, side);
        if (!user.stream)
                return err < 0 ? err : -ECANCELED;
        stream->users[side] = NULL;
        /* The end of a wait is not a result, so a cancel takes precedence. */
        return err < 0 ? err : ed_suspend_enter(&task);
}

int64_t eddy_stream_read(eddy_stream *stream, void *buf, size_t bytes)
{
        struct ed_task *task;
        int64_t n;
        int err = enter(stream, EDDY_STREAM_READING, &task);

        if (err < 0)
                return err;
        if (ed_unlikely(bytes == 0))
                return -EINVAL;
        while ((n = stream->ops->try_read(stream, buf, bytes)) == -EAGAIN) {
                err = wait(stream, EDDY_STREAM_READING);
                if (err < 0)
                        return err;
        }
        ed_suspend_passed(task);
        return n;
}

/* Begin a write; 'slices' is set to the non-empty slices. */
static inline int write_begin(const eddy_stream *stream, const struct eddy_slice *list, size_t n,
                              struct ed_slices *slices, struct ed_task **ret_task)
{
        int err = enter(stream, EDDY_STREAM_WRITING, ret_task);

        if (err < 0)
                return err;
        return ed_unlikely(stream->is_broken) ? EDDY_E_STREAM_BROKEN
                                              : ed_slices_init(slices, list, n);
}

/* Wait to write, the first time after a call of 'first', which may be NULL. */
static int wait_to_write(eddy_stream *stream, struct ed_stream_wait *first)
{
        if (first && !first->waited) {
                first->waited = true;
                first->begin(first);
        }
        return wait(stream, EDDY_STREAM_WRITING);
}

/* Write at least one byte of 'slices', which has some. After an error the stream may be gone. */
static int64_t put(eddy_stream *stream, struct ed_slices *slices, struct ed_stream_wait *first)
{
        int64_t n;

        for (;;) {
                int err;

                n = stream->ops->try_writev(stream, slices->list + slices->first,
                                            slices->n - slices->first);
                if (n != -EAGAIN)
                        break;
                err = wait_to_write(stream, first);
                if (err < 0)
                        return err;
        }
        if (n > 0) {
                stream->taken += (uint64_t) n;
                ed_slices_skip(slices, (size_t) n);
        }
        return n == 0 ? -EIO : n; /* against the contract: it would be tried for ever */
}

/*
 * Wait until the stream has passed on what it holds. All bytes were taken, so the write has
 * happened: a cancel only ends the wait, and a later write passes on the rest.
 */
static int flush(eddy_stream *stream, struct ed_stream_wait *first)
{
        int err;

        if (!stream->ops->flush)
                return 0;
        while ((err = stream->ops->flush(stream)) == -EAGAIN) {
                err = wait_to_write(stream, first);
                if (err < 0)
                        return err == -ECANCELED ? 0 : err;
        }
        return err;
}

int ed_stream_writev(eddy_stream *stream, const struct eddy_slice *list, size_t n,
                     struct ed_stream_wait *first)
{
        struct ed_slices slices;
        struct ed_task *task;
        int err = write_begin(stream, list, n, &slices, &task);

        if (err < 0)
                return err;
        while (!ed_slices_is_empty(&slices)) {
                int64_t taken = put(stream, &slices, first);

                if (taken < 0)
                        return (int) taken;
                /* Set before the next wait: after an error the stream may be gone. */
                stream->is_broken = !ed_slices_is_empty(&slices);
        }
        err = flush(stream, first); /* the stream may be gone */
        if (err == 0)
                ed_suspend_passed(task);
        return err;
}

int eddy_stream_writev(eddy_stream *stream, const struct eddy_slice *list, size_t n)
{
        return ed_stream_writev(stream, list, n, NULL);
}

int eddy_stream_write(eddy_stream *stream, const void *data, size_t bytes)
{
        struct eddy_slice slice = { data, bytes };

        return eddy_stream_writev(stream, &slice, 1);
}

int64_t eddy_stream_write_some(eddy_stream *stream, const struct eddy_slice *list, size_t n)
{
        struct ed_slices slices;
        struct ed_task *task;
        int64_t taken = 0;
        int err = write_begin(stream, list, n, &slices, &task);

        if (err < 0)
                return err;
        if (!ed_slices_is_empty(&slices))
                taken = put(stream, &slices, NULL);
        if (taken >= 0)
                ed_suspend_passed(task);
        return taken;
}

int64_t ed_stream_send_file(eddy_stream *stream, const eddy_file *file, int64_t offset,
                            size_t bytes, struct ed_stream_wait *first)
{
        struct ed_task *task;
        int64_t n;
        int err = enter(stream, EDDY_STREAM_WRITING, &task);

        if (err == 0 && stream->is_broken)
                err = EDDY_E_STREAM_BROKEN;
        if (err < 0)
                return err;
        n = ed_socket_try_send_file(stream, file, offset, bytes);
        if (n == -EAGAIN) {
                err = wait_to_write(stream, first);
                return err < 0 ? err : -EAGAIN;
        }
        if (n >= 0) {
                stream->taken += (uint64_t) n;
                ed_suspend_passed(task);
        }
        return n;
}

/* ---- without a wait ---------------------------------------------------------- */

int64_t eddy_stream_try_read(eddy_stream *stream, void *buf, size_t bytes)
{
        int err;

        if (bytes == 0)
                return -EINVAL;
        err = check_free(stream, EDDY_STREAM_READING);
        return err < 0 ? err : stream->ops->try_read(stream, buf, bytes);
}

int64_t eddy_stream_try_writev(eddy_stream *stream, const struct eddy_slice *list, size_t n)
{
        struct ed_slices slices;
        int64_t taken;
        int err = check_writable(stream);

        if (err < 0)
                return err;
        err = ed_slices_init(&slices, list, n);
        if (err < 0)
                return err;
        if (slices.n == 0)
                return stream->ops->flush ? stream->ops->flush(stream) : 0;
        taken = stream->ops->try_writev(stream, slices.list, slices.n);
        if (taken > 0)
                stream->taken += (uint64_t) taken;
        return taken;
}

int eddy_stream_wait(eddy_stream *stream, enum eddy_stream_side side)
{
        struct ed_task *task;
        int err = enter(stream, side, &task);

        return err < 0 ? err : wait(stream, side);
}

int eddy_stream_is_readable(eddy_stream *stream)
{
        int err = check(stream);

        return err < 0 ? err : stream->ops->is_readable(stream);
}

int eddy_stream_watch_idle(eddy_stream *stream, eddy_stream_idle_fn *fn, void *arg)
{
        int err = check_free(stream, EDDY_STREAM_READING);

        if (err < 0)
                return err;
        return stream->ops->watch_idle ? stream->ops->watch_idle(stream, fn, arg) : -ENOTSUP;
}

int eddy_stream_watch_hangup(eddy_stream *stream, eddy_stream_idle_fn *fn, void *arg)
{
        int err = check(stream);

        if (err < 0)
                return err;
        return stream->ops->watch_hangup ? stream->ops->watch_hangup(stream, fn, arg) : -ENOTSUP;
}

/* ---- what a stream is -------------------------------------------------------- */

void eddy_stream_sent(const eddy_stream *stream, struct eddy_stream_sent *ret_sent)
{
        *ret_sent = (struct eddy_stream_sent){ 0 };
        if (check(stream) == 0 && stream->ops->sent)
                stream->ops->sent(stream, ret_sent);
}

const char *eddy_stream_kind(const eddy_stream *stream)
{
        return stream ? stream->ops->kind : "";
}

int eddy_stream_fd(const eddy_stream *stream)
{
        return stream && stream->ops->fd ? stream->ops->fd(stream) : -1;
}

static int endpoint(const eddy_stream *stream, enum eddy_stream_end end,
                    struct eddy_endpoint *ret_endpoint)
{
        int err = check(stream);

        if (err < 0)
                return err;
        return stream->ops->endpoint ? stream->ops->endpoint(stream, end, ret_endpoint) : -ENOTSUP;
}

int eddy_stream_local(const eddy_stream *stream, struct eddy_endpoint *ret_endpoint)
{
        return endpoint(stream, EDDY_STREAM_LOCAL, ret_endpoint);
}

int eddy_stream_peer(const eddy_stream *stream, struct eddy_endpoint *ret_endpoint)
{
        return endpoint(stream, EDDY_STREAM_PEER, ret_endpoint);
}

/* ---- the end ----------------------------------------------------------------- */

int eddy_stream_shutdown(eddy_stream *stream)
{
        struct user user = { stream };
        int err = check_writable(stream);

        if (err < 0)
                return err;
        stream->users[EDDY_STREAM_WRITING] = &user;
        err = stream->ops->shutdown(stream);
        if (user.stream)
                stream->users[EDDY_STREAM_WRITING] = NULL;
        return err;
}

static void close_stream(eddy_stream *stream, unsigned flags)
{
        if (!stream || stream->is_closing)
                return;
        if (stream->member && !ed_misuse_may_close(stream->member, "a stream"))
                return;
        if (ed_unlikely(stream->is_lent)) {
                (void) ed_misuse_refuse(ed_loop_current, ed_task_running(),
                                        "closed a stream during its TLS handshake: cancel the "
                                        "handshake first");
                return;
        }
        stream->is_closing = true;
        ed_debug_gone(stream);
        for (int side = 0; side < 2; side++)
                if (stream->users[side])
                        ((struct user *) stream->users[side])->stream = NULL;
        stream->ops->close(stream, flags);
}

void eddy_stream_close(eddy_stream *stream)
{
        close_stream(stream, 0);
}

void eddy_stream_close_now(eddy_stream *stream)
{
        close_stream(stream, EDDY_STREAM_NO_WAIT);
}

void eddy_stream_abort(eddy_stream *stream)
{
        close_stream(stream, EDDY_STREAM_ABORT);
}
