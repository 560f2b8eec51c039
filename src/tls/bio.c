/*
 * tls/bio.c - OpenSSL reads and writes the stream below, and never waits.
 */
#include "tls/bio.h"

#include <errno.h>
#include <string.h>

#include "eddy/error.h"
#include "sys/thread/thread.h"

void ed_tls_bio_init(struct ed_tls_bio *bio, eddy_stream *lower)
{
        *bio = (struct ed_tls_bio){ .lower = lower };
        ed_buf_init(&bio->in, ED_TLS_IN_BYTES_MAX);
        ed_buf_init(&bio->out, ED_TLS_OUT_BYTES_MAX);
}

void ed_tls_bio_fini(struct ed_tls_bio *bio)
{
        ed_buf_fini(&bio->in);
        ed_buf_fini(&bio->out);
}

/* A task that waits in the stream below occupies it: like a stream that is not ready. */
static int64_t try_write(struct ed_tls_bio *bio, const void *data, size_t bytes)
{
        struct eddy_slice slice = { data, bytes };
        int64_t n = eddy_stream_try_writev(bio->lower, &slice, 1);

        if (n == -EBUSY)
                return -EAGAIN;
        if (n < 0 && n != -EAGAIN)
                bio->write_error = (int) n;
        return n;
}

int ed_tls_out_flush(struct ed_tls_bio *bio)
{
        int err;

        if (bio->write_error < 0)
                return bio->write_error;
        while (ed_buf_bytes(&bio->out) > 0) {
                int64_t n = try_write(bio, ed_buf_data(&bio->out), ed_buf_bytes(&bio->out));

                if (n < 0)
                        return (int) n;
                ed_buf_consume(&bio->out, (size_t) n);
        }
        ed_buf_fini(&bio->out); /* an idle connection keeps no buffer */
        err = (int) eddy_stream_try_writev(bio->lower, NULL, 0);
        if (err == -EBUSY)
                return -EAGAIN;
        if (err < 0 && err != -EAGAIN)
                bio->write_error = err;
        return err;
}

int ed_tls_out_send(struct ed_tls_bio *bio)
{
        int err;

        while ((err = ed_tls_out_flush(bio)) == -EAGAIN) {
                err = eddy_stream_wait(bio->lower, EDDY_STREAM_WRITING);
                if (err < 0)
                        return err;
        }
        return err;
}

/*
 * Always takes everything. After an error the bytes are dropped and the writer finds the error; what
 * the peer has sent can still be read.
 */
static int on_write(BIO *object, const char *data, size_t bytes, size_t *ret_written)
{
        struct ed_tls_bio *bio = BIO_get_data(object);
        size_t done = 0;

        BIO_clear_retry_flags(object);
        *ret_written = bytes;
        if (bio->direct && !bio->detached && bio->write_error == 0 &&
            ed_buf_bytes(&bio->out) == 0) {
                int64_t n = try_write(bio, data, bytes);

                done = n > 0 ? (size_t) n : 0;
        }
        if (bio->write_error == 0 && done < bytes &&
            ed_buf_append(&bio->out, data + done, bytes - done) < 0)
                bio->write_error = -ENOMEM;
        return 1;
}

/* Returns the bytes read; 0 at the end; -EAGAIN; or an error. */
static int64_t read_below(struct ed_tls_bio *bio, char *data, size_t bytes)
{
        int64_t n;

        if (bio->read_error < 0)
                return bio->read_error;
        if (bio->ended)
                return 0;
        if (bio->detached)
                return -EAGAIN;
        n = eddy_stream_try_read(bio->lower, data, bytes);
        return n == -EBUSY ? -EAGAIN : n;
}

static int on_read(BIO *object, char *data, size_t bytes, size_t *ret_read)
{
        struct ed_tls_bio *bio = BIO_get_data(object);
        size_t held = ed_buf_bytes(&bio->in);
        int64_t n;

        if (bio->sips && bytes > ED_TLS_SIP_BYTES)
                bytes = ED_TLS_SIP_BYTES;
        BIO_clear_retry_flags(object);
        bio->starved = false;
        if (held > 0) {
                *ret_read = held < bytes ? held : bytes;
                memcpy(data, ed_buf_data(&bio->in), *ret_read);
                ed_buf_consume(&bio->in, *ret_read);
                if (ed_buf_bytes(&bio->in) == 0)
                        ed_buf_fini(&bio->in);
                return 1;
        }
        n = read_below(bio, data, bytes);
        if (n > 0) {
                *ret_read = (size_t) n;
                return 1;
        }
        bio->starved = n == -EAGAIN;
        if (n == -EAGAIN)
                BIO_set_retry_read(object);
        else if (n == 0)
                bio->ended = true;
        else
                bio->read_error = (int) n;
        return 0;
}

static long on_control(BIO *object, int command, long number, void *pointer)
{
        const struct ed_tls_bio *bio = BIO_get_data(object);

        switch (command) {
        case BIO_CTRL_EOF:
                return bio->ended;
        case BIO_CTRL_FLUSH:
        case BIO_CTRL_DUP:
                return 1;
        default:
                return 0;
        }
}

static BIO_METHOD *method;

static void method_make(void)
{
        BIO_METHOD *made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "eddy stream");

        if (!made)
                return;
        BIO_meth_set_write_ex(made, on_write);
        BIO_meth_set_read_ex(made, on_read);
        BIO_meth_set_ctrl(made, on_control);
        method = made;
}

BIO *ed_tls_bio_new(struct ed_tls_bio *bio)
{
        static struct ed_once once = ED_ONCE_INIT;
        BIO *object;

        ed_once_call(&once, method_make);
        object = method ? BIO_new(method) : NULL;
        if (!object)
                return NULL;
        BIO_set_data(object, bio);
        BIO_set_init(object, 1);
        return object;
}
