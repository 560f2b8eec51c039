/*
 * tls/bio.h - OpenSSL's way to the stream below: never suspends.
 *
 * Records that OpenSSL writes are collected in 'out' and passed on by ed_tls_out_flush(). Bytes
 * that it reads come from 'in' first, then from the stream below, unless the connection is
 * detached: while a step of the handshake runs on another thread, the stream is not touched.
 */
#ifndef ED_TLS_BIO_H
#define ED_TLS_BIO_H

#include <openssl/bio.h>
#include <stdbool.h>

#include "base/buf.h"
#include "eddy/stream.h"

enum {
        ED_TLS_RECORD_BYTES = 16 << 10,   /* of a record's contents, at most (RFC 8446, 5.1) */
        ED_TLS_BATCH_BYTES = 64 << 10,    /* contents encrypted for one write below */
        ED_TLS_OUT_BYTES_MAX = 128 << 10, /* encrypted, not yet taken by the stream below */
        ED_TLS_IN_BYTES_MAX = 64 << 10,
        ED_TLS_SIP_BYTES = 1 << 10,
};

struct ed_tls_bio {
        eddy_stream *lower;
        struct ed_buf in;
        struct ed_buf out;
        int read_error;  /* of the stream below: nothing more can be read */
        int write_error; /* of the stream below, or -ENOMEM: nothing more can be written */
        bool detached;   /* use only 'in' and 'out' */
        bool direct;     /* write the next record below at once if 'out' is empty */
        bool ended;      /* the stream below has ended */
        bool starved;    /* OpenSSL's last read found nothing: the peer must send more */
        bool sips;       /* let OpenSSL read only ED_TLS_SIP_BYTES at a time */
};

void ed_tls_bio_init(struct ed_tls_bio *bio, eddy_stream *lower);
void ed_tls_bio_fini(struct ed_tls_bio *bio);

/* Make OpenSSL's object, which refers to 'bio'. Returns NULL if there is no memory. */
BIO *ed_tls_bio_new(struct ed_tls_bio *bio);

/*
 * Pass 'out' on. Returns 0 if it is empty, -EAGAIN, or an error, which is final and kept in 'write_error'.
 */
int ed_tls_out_flush(struct ed_tls_bio *bio);

/* The same, but waits. Suspends: yes. Errors: also those of eddy_stream_wait(). */
int ed_tls_out_send(struct ed_tls_bio *bio);

#endif
