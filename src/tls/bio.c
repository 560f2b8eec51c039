/*
 * tls/bio.c - OpenSSL reads and writes the stream below, and never waits.
 */
#include "tls/bio.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "eddy/error.h"

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

int ed_tls_out_flush(struct ed_tls_bio *bio)
{
        while (ed_buf_bytes(&bio->out) > 0) {
                struct eddy_slice slice = { ed_buf_data(&bio->out), ed_buf_bytes(&bio->out) };
                int64_t n = eddy_stream_try_writev(bio->lower, &slice, 1);

                if (n == -EAGAIN)
                        return -EAGAIN;
                if (n < 0)
                        return bio->error = (int) n;
                ed_buf_consume(&bio->out, (size_t) n);
        }
        ed_buf_fini(&bio->out); /* an idle connection keeps no buffer */
        return (int) eddy_stream_try_writev(bio->lower, NULL, 0);
}

static int on_write(BIO *object, const char *data, size_t bytes, size_t *ret_written)
{
        struct ed_tls_bio *bio = BIO_get_data(object);
        size_t rest = bytes;
        int64_t n = 0;

        BIO_clear_retry_flags(object);
        if (bio->error < 0)
                return 0;
        if (bio->direct && !bio->detached && ed_buf_bytes(&bio->out) == 0) {
                struct eddy_slice slice = { data, bytes };

                n = eddy_stream_try_writev(bio->lower, &slice, 1);
                if (n < 0 && n != -EAGAIN) {
                        bio->error = (int) n;
                        return 0;
                }
                rest -= n > 0 ? (size_t) n : 0;
        }
        if (rest > 0 && ed_buf_append(&bio->out, data + (bytes - rest), rest) < 0) {
                bio->error = -ENOMEM;
                return 0;
        }
        *ret_written = bytes;
        return 1;
}

static int on_read(BIO *object, char *data, size_t bytes, size_t *ret_read)
{
        struct ed_tls_bio *bio = BIO_get_data(object);
        size_t held = ed_buf_bytes(&bio->in);
        int64_t n;

        BIO_clear_retry_flags(object);
        if (held > 0) {
                *ret_read = held < bytes ? held : bytes;
                memcpy(data, ed_buf_data(&bio->in), *ret_read);
                ed_buf_consume(&bio->in, *ret_read);
                if (ed_buf_bytes(&bio->in) == 0)
                        ed_buf_fini(&bio->in);
                return 1;
        }
        n = bio->error < 0  ? bio->error
            : bio->ended    ? 0
            : bio->detached ? -EAGAIN
                            : eddy_stream_try_read(bio->lower, data, bytes);
        if (n > 0) {
                *ret_read = (size_t) n;
                return 1;
        }
        if (n == -EAGAIN)
                BIO_set_retry_read(object);
        else if (n == 0)
                bio->ended = true;
        else
                bio->error = (int) n;
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
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        BIO *object;

        pthread_once(&once, method_make);
        object = method ? BIO_new(method) : NULL;
        if (!object)
                return NULL;
        BIO_set_data(object, bio);
        BIO_set_init(object, 1);
        return object;
}
