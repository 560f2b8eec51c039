/*
 * tls/stream.c - a TLS stream after its handshake.
 *
 * OpenSSL never waits: ed_tls_bio takes every record that it writes, so a write is always whole.
 */
#include <errno.h>
#include <openssl/err.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/call.h"
#include "eddy/error.h"
#include "eddy/scope.h"
#include "eddy/time.h"
#include "io/slices.h"
#include "tls/connection.h"

/* Limit for passing on the last records and close_notify. */
#define CLOSE_NS EDDY_SEC(1)

/* A reader and a writer need the same side of the stream below, which is rare. */
#define LOOK_AGAIN_NS EDDY_MS(1)

enum { DROPPED_BYTES_MAX = 64 << 10, READS_MAX = 2, PEEKS_MAX = 8 };

static struct ed_tls *tls_of(const eddy_stream *stream)
{
        return ed_container_of(stream, struct ed_tls, stream);
}

/* ---- reading ------------------------------------------------------------------- */

/*
 * Answers that OpenSSL gave while reading (a key update) leave if there is room for them. Not before
 * the result is read: the stream below may use OpenSSL too.
 */
static void pass_on_answers(struct ed_tls *tls)
{
        if (ed_buf_bytes(&tls->bio.out) > 0)
                (void) ed_tls_out_flush(&tls->bio);
}

typedef int take_fn(SSL *ssl, void *buf, size_t bytes, size_t *ret_bytes);

/*
 * Read or peek, at most some times. -EAGAIN also comes after messages without data (session
 * tickets, key updates); if 'starved' is not set then, there may be more to read. OpenSSL handles
 * all messages that it has read at once, and a key update takes up to 15 us: the next ones are read
 * in small pieces.
 */
static int64_t take(struct ed_tls *tls, take_fn *fn, int times, void *buf, size_t bytes)
{
        int64_t got = -EAGAIN;

        tls->bio.starved = false;
        for (int i = 0; i < times && got == -EAGAIN && !tls->bio.starved; i++) {
                size_t n = 0;
                int result;

                ERR_clear_error();
                result = fn(tls->ssl, buf, bytes, &n);
                got = result == 1 ? (int64_t) n : ed_tls_error(tls, result);
                tls->bio.sips = got == -EAGAIN && !tls->bio.starved;
        }
        pass_on_answers(tls);
        return got;
}

static int64_t tls_try_read(eddy_stream *stream, void *buf, size_t bytes)
{
        struct ed_tls *tls = tls_of(stream);

        if (tls->idle)
                return -EBUSY;
        if (tls->ended)
                return 0;
        return tls->error < 0 ? tls->error : take(tls, SSL_read_ex, READS_MAX, buf, bytes);
}

/* Returns true if a read would not wait. */
static bool peek(struct ed_tls *tls)
{
        char byte;

        if (tls->ended || tls->error < 0)
                return true;
        /* Ask the system: the loop may not have polled since bytes arrived. */
        (void) eddy_stream_is_readable(tls->bio.lower);
        tls->bio.sips = true;
        return take(tls, SSL_peek_ex, PEEKS_MAX, &byte, 1) != -EAGAIN;
}

static void on_idle(void *arg);

static bool tls_is_readable(eddy_stream *stream)
{
        struct ed_tls *tls = tls_of(stream);
        bool is_readable;

        /* A task that waits in a read will take the bytes. */
        if (stream->users[EDDY_STREAM_READING])
                return eddy_stream_is_readable(tls->bio.lower);
        if (!tls->idle)
                return peek(tls) || !tls->bio.starved;
        /* The stream below lets no one read while it is watched. */
        if (!eddy_stream_is_readable(tls->bio.lower))
                return false;
        (void) eddy_stream_watch_idle(tls->bio.lower, NULL, NULL);
        is_readable = peek(tls) || !tls->bio.starved;
        return eddy_stream_watch_idle(tls->bio.lower, on_idle, tls) < 0 || is_readable;
}

/* The task: pass on what the stream holds. */
static int send_rest(void *arg)
{
        const struct ed_tls_sender *sender = arg;

        while (sender->tls && ed_tls_out_flush(&sender->tls->bio) == -EAGAIN) {
                /* -EBUSY: a writer waits, and will send them. */
                if (eddy_stream_wait(sender->tls->bio.lower, EDDY_STREAM_WRITING) < 0)
                        break;
        }
        return 0;
}

/*
 * Wait for the stream below, and meanwhile send what a cancelled write has left: no other task may
 * write again. After an error 'tls' may be gone.
 */
static int wait_and_send(struct ed_tls *tls)
{
        struct ed_tls_sender sender = { tls };
        eddy_stream *lower = tls->bio.lower;
        eddy_scope scope;
        int err;

        tls->senders[EDDY_STREAM_READING] = &sender;
        eddy_scope_begin(&scope, NULL);
        err = eddy_scope_start_named(&scope, send_rest, &sender, "tls_send");
        if (err >= 0)
                err = eddy_stream_wait(lower, EDDY_STREAM_READING);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        if (!sender.tls)
                return -ECANCELED;
        tls->senders[EDDY_STREAM_READING] = NULL;
        /* The rest then waits for another read or write. */
        return err == -ENOMEM ? eddy_stream_wait(lower, EDDY_STREAM_READING) : err;
}

static int wait_below(struct ed_tls *tls, enum eddy_stream_side side)
{
        if (side == EDDY_STREAM_READING && ed_buf_bytes(&tls->bio.out) > 0 &&
            !tls->stream.users[EDDY_STREAM_WRITING])
                return wait_and_send(tls);
        return eddy_stream_wait(tls->bio.lower, side);
}

/*
 * Wait for the stream below. A writer waits for reading if the peer has sent a part of a message
 * that OpenSSL must have whole first; if a reader waits for it already, look again soon.
 */
static int tls_wait(eddy_stream *stream, enum eddy_stream_side side)
{
        struct ed_tls *tls = tls_of(stream);
        int err;

        if (side == EDDY_STREAM_READING && (tls->ended || tls->error < 0))
                return 0;
        /* OpenSSL has not seen all that there is. */
        if (side == EDDY_STREAM_READING && !tls->bio.starved)
                return eddy_sleep(0);
        if (side == EDDY_STREAM_WRITING && tls->write_needs_read)
                side = EDDY_STREAM_READING;
        err = wait_below(tls, side);
        return err == -EBUSY ? eddy_sleep(LOOK_AGAIN_NS) : err;
}

/* The stream below has bytes. Those that carry no data are consumed, and the wait continues. */
static void on_idle(void *arg)
{
        struct ed_tls *tls = arg;
        eddy_stream_idle_fn *idle = tls->idle;

        if (!peek(tls) && eddy_stream_watch_idle(tls->bio.lower, on_idle, tls) == 0)
                return;
        tls->idle = NULL;
        idle(tls->idle_arg);
}

static int tls_watch_idle(eddy_stream *stream, eddy_stream_idle_fn *fn, void *arg)
{
        struct ed_tls *tls = tls_of(stream);
        int err;

        if (!fn) {
                tls->idle = NULL;
                return eddy_stream_watch_idle(tls->bio.lower, NULL, NULL);
        }
        if (tls->ended || tls->error < 0 || (SSL_has_pending(tls->ssl) && peek(tls)) ||
            ed_buf_bytes(&tls->bio.in) > 0)
                return -EALREADY;
        err = eddy_stream_watch_idle(tls->bio.lower, on_idle, tls);
        if (err < 0)
                return err;
        /* Session tickets made OpenSSL allocate its buffers, and only the next write frees one of them. */
        if (!SSL_has_pending(tls->ssl)) {
                (void) SSL_free_buffers(tls->ssl);
                tls->bio.starved = true; /* a wait need not look first */
        }
        tls->idle = fn;
        tls->idle_arg = arg;
        return 0;
}

/* An end inside TLS does not end the connection below. */
static int tls_watch_hangup(eddy_stream *stream, eddy_stream_idle_fn *fn, void *arg)
{
        return eddy_stream_watch_hangup(tls_of(stream)->bio.lower, fn, arg);
}

/* ---- writing ------------------------------------------------------------------- */

/*
 * Returns the contents of the next record and stores their number. Small pieces are gathered; a
 * piece of a record's size or more is used in place.
 */
static const void *next_record(struct ed_tls *tls, const struct ed_slices *slices,
                               size_t *ret_bytes)
{
        const struct eddy_slice *first = &slices->list[slices->first];
        char *record = tls->config->record;
        size_t bytes = 0;

        if (slices->n - slices->first == 1 || first->bytes >= ED_TLS_RECORD_BYTES) {
                *ret_bytes =
                        first->bytes < ED_TLS_RECORD_BYTES ? first->bytes : ED_TLS_RECORD_BYTES;
                return first->data;
        }
        for (size_t i = slices->first; i < slices->n && bytes < ED_TLS_RECORD_BYTES; i++) {
                const struct eddy_slice *slice = &slices->list[i];
                size_t rest = ED_TLS_RECORD_BYTES - bytes;
                size_t piece = slice->bytes < rest ? slice->bytes : rest;

                memcpy(record + bytes, slice->data, piece);
                bytes += piece;
        }
        *ret_bytes = bytes;
        return record;
}

/* OpenSSL refused a record, after 'taken' bytes of others. */
static int64_t write_failed(struct ed_tls *tls, int result, size_t taken)
{
        int err = ed_tls_error(tls, result);

        if (err == -EAGAIN)
                tls->write_needs_read = true;
        if (err == -EAGAIN && taken > 0)
                return (int64_t) taken;
        return err == 0 ? -EPIPE : err; /* close_notify in the middle of a message */
}

/*
 * Encrypt up to a batch of records. A write of a single record goes to the stream below without a
 * copy; several are collected for one write.
 */
static int64_t write_records(struct ed_tls *tls, struct ed_slices *slices)
{
        size_t taken = 0;

        while (!ed_slices_is_empty(slices) && taken < ED_TLS_BATCH_BYTES) {
                size_t bytes, n = 0;
                const void *data = next_record(tls, slices, &bytes);
                int result;

                ed_slices_skip(slices, bytes);
                tls->bio.direct = taken == 0 && ed_slices_is_empty(slices);
                ERR_clear_error();
                result = SSL_write_ex(tls->ssl, data, bytes, &n);
                if (result != 1)
                        return write_failed(tls, result, taken);
                taken += n;
        }
        return tls->bio.write_error < 0 ? tls->bio.write_error : (int64_t) taken;
}

static int tls_flush(eddy_stream *stream)
{
        struct ed_tls *tls = tls_of(stream);

        return tls->error < 0 ? tls->error : ed_tls_out_flush(&tls->bio);
}

static int64_t tls_try_writev(eddy_stream *stream, const struct eddy_slice *list, size_t n)
{
        struct ed_tls *tls = tls_of(stream);
        struct ed_slices slices;
        int64_t taken;
        int err = tls_flush(stream);

        if (err < 0)
                return err;
        if (tls->closed)
                return -EPIPE;
        err = ed_slices_init(&slices, list, n);
        if (err < 0)
                return err;
        tls->write_needs_read = false;
        taken = write_records(tls, &slices);
        if (taken < 0)
                return taken;
        err = ed_tls_out_flush(&tls->bio);
        return err < 0 && err != -EAGAIN ? err : taken;
}

/* ---- the end ------------------------------------------------------------------- */

/* Send what the stream holds. A reader may be doing that already: look again soon. */
static int send_out(void *arg)
{
        struct ed_tls_sender *sender = arg;
        int err;

        while ((err = ed_tls_out_send(&sender->tls->bio)) == -EBUSY) {
                err = eddy_sleep(LOOK_AGAIN_NS);
                if (err == 0 && !sender->tls)
                        err = -ECANCELED; /* the stream was closed */
                if (err < 0)
                        return err;
        }
        return err;
}

/* Send close_notify (RFC 8446, 6.1). Returns -EAGAIN if it did not all leave without a wait. */
static int send_close(struct ed_tls *tls)
{
        if (tls->error < 0)
                return tls->error;
        if (tls->bio.write_error < 0)
                return tls->bio.write_error;
        if (tls->closed)
                return ed_tls_out_flush(&tls->bio);
        ERR_clear_error();
        tls->bio.direct = false;
        (void) SSL_shutdown(tls->ssl);
        ERR_clear_error();
        tls->closed = true;
        return ed_tls_out_flush(&tls->bio);
}

static int tls_shutdown(eddy_stream *stream)
{
        struct ed_tls *tls = tls_of(stream);
        struct ed_tls_sender sender = { tls };
        int err = send_close(tls);

        if (err == -EAGAIN) {
                tls->senders[EDDY_STREAM_WRITING] = &sender;
                err = eddy_call_timeout(send_out, &sender, CLOSE_NS);
                if (sender.tls)
                        tls->senders[EDDY_STREAM_WRITING] = NULL;
        }
        return err == -ETIMEDOUT ? EDDY_E_NET_TIMED_OUT : err;
}

void ed_tls_free(struct ed_tls *tls)
{
        if (tls->ssl) {
                /* Else OpenSSL drops the session, which a later connection may resume. */
                if (tls->error == 0)
                        SSL_set_shutdown(tls->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
                SSL_free(tls->ssl);
        }
        for (int side = EDDY_STREAM_READING; side <= EDDY_STREAM_WRITING; side++) {
                if (tls->senders[side])
                        tls->senders[side]->tls = NULL;
        }
        ed_free(tls->alpn.names);
        ed_tls_bio_fini(&tls->bio);
        ed_tls_contexts_unref(tls->contexts);
        eddy_tls_config_close(tls->config);
        ed_free(tls->route);
        ed_free(tls);
}

/*
 * Drop what the peer has sent, such as session tickets. A socket that is closed with unread bytes
 * resets the connection, and the peer could lose our last bytes.
 */
static void drop_received(eddy_stream *lower)
{
        char dropped[1024];
        size_t total = 0;
        int64_t n;

        do {
                n = eddy_stream_try_read(lower, dropped, sizeof(dropped));
                total += n > 0 ? (size_t) n : 0;
        } while (n > 0 && total < DROPPED_BYTES_MAX);
}

static void tls_close(eddy_stream *stream, unsigned flags)
{
        struct ed_tls *tls = tls_of(stream);
        struct ed_tls_sender sender = { tls };
        eddy_stream *lower = tls->bio.lower;

        /* A peer must not take a message that ended in the middle for the whole. */
        if (!(flags & EDDY_STREAM_ABORT) && !stream->is_broken && send_close(tls) == -EAGAIN &&
            !(flags & EDDY_STREAM_NO_WAIT))
                (void) eddy_call_timeout(send_out, &sender, CLOSE_NS);
        ed_tls_free(tls);
        if (flags & EDDY_STREAM_ABORT) {
                eddy_stream_abort(lower);
                return;
        }
        drop_received(lower);
        if (flags & EDDY_STREAM_NO_WAIT)
                eddy_stream_close_now(lower);
        else
                eddy_stream_close(lower);
}

static int tls_fd(const eddy_stream *stream)
{
        return eddy_stream_fd(tls_of(stream)->bio.lower);
}

static int tls_endpoint(const eddy_stream *stream, enum eddy_stream_end end,
                        struct eddy_endpoint *ret_endpoint)
{
        const eddy_stream *lower = tls_of(stream)->bio.lower;

        return end == EDDY_STREAM_LOCAL ? eddy_stream_local(lower, ret_endpoint)
                                        : eddy_stream_peer(lower, ret_endpoint);
}

static void tls_sent(const eddy_stream *stream, struct eddy_stream_sent *ret_sent)
{
        const struct ed_tls *tls = tls_of(stream);

        eddy_stream_sent(tls->bio.lower, ret_sent);
        ret_sent->pending += ed_buf_bytes(&tls->bio.out);
}

const struct eddy_stream_ops ed_tls_stream_ops = {
        .kind = "tls",
        .try_read = tls_try_read,
        .try_writev = tls_try_writev,
        .flush = tls_flush,
        .wait = tls_wait,
        .is_readable = tls_is_readable,
        .watch_idle = tls_watch_idle,
        .watch_hangup = tls_watch_hangup,
        .shutdown = tls_shutdown,
        .close = tls_close,
        .fd = tls_fd,
        .sent = tls_sent,
        .endpoint = tls_endpoint,
};

const char *eddy_tls_fault_text(const eddy_stream *stream)
{
        struct ed_tls *tls;

        if (!stream || stream->ops != &ed_tls_stream_ops)
                return "";
        tls = tls_of(stream);
        /* A failed write leaves the stream readable, so it is not the stream's final error. */
        if (!tls->fault.text[0] && tls->bio.write_error < 0)
                ed_tls_fault_lower(tls, tls->bio.write_error);
        return tls->fault.text;
}
