/*
 * pg_fake.h - a server of PostgreSQL's protocol that sends what a test wants.
 *
 *     static struct pg_bytes login;
 *     struct pg_fake fake = { .login = &login };
 *
 *     pg_put(&login, 'E', "...", 3);
 *     pg_fake_start(&fake, &scope);
 *     ... connect to fake.conninfo ...
 *     pg_fake_stop(&fake, &scope);
 */
#ifndef ED_TEST_PG_FAKE_H
#define ED_TEST_PG_FAKE_H

#include "../io/io_test.h"
#include "eddy/eddy.h"

enum { PG_BYTES_ROOM = 160 << 10 };

/* What the server sends. */
struct pg_bytes {
        char data[PG_BYTES_ROOM];
        size_t bytes;
        size_t repeat_from; /* with is_repeated, the bytes from here on are sent for ever */
        bool is_repeated;
};

void pg_put_raw(struct pg_bytes *out, const void *data, size_t bytes);
void pg_put_int(struct pg_bytes *out, int64_t value, int bytes);

/* A message: its type, its length and its body. */
void pg_put(struct pg_bytes *out, char type, const void *body, size_t bytes);

/* A message that says another length. */
void pg_put_lying(struct pg_bytes *out, char type, int64_t length, const void *body, size_t bytes);

/* An error or notice ('E' or 'N'), a log-in that succeeds, and 'Z'. */
void pg_put_error(struct pg_bytes *out, char type, const char *severity, const char *state,
                  const char *text);
void pg_put_login(struct pg_bytes *out);
void pg_put_ready(struct pg_bytes *out, char status);

/* A description of columns of text, and a row of equal values (NULL: of NULLs). */
void pg_put_columns(struct pg_bytes *out, int count);
void pg_put_row(struct pg_bytes *out, int count, const char *value);

/* From here on, for ever. */
void pg_put_repeated(struct pg_bytes *out);

struct pg_fake {
        const struct pg_bytes *tls;    /* the answer to a request of TLS; NULL: "N" */
        const struct pg_bytes *login;  /* after the first packet; NULL: a good log-in */
        const struct pg_bytes *answer; /* after each packet of a command; NULL: none */
        /* A log-in with questions and answers: writes to 'stream' itself. */
        int (*talk)(struct pg_fake *fake, eddy_stream *stream);
        size_t piece;       /* bytes that are sent at a time; 0: all */
        int64_t pause_ns;   /* between pieces */
        size_t limit;       /* bytes after which nothing more is sent, or the end; 0: none */
        bool ends;          /* the connection ends after the last byte; else it stays */
        const char *scram;  /* for pg_fake_scram(): i=... and what follows */
        bool breaks_nonce;  /* likewise */
        bool holds_cancels; /* requests to cancel are taken, and their connections stay */

        /* Set by the server. */
        char conninfo[160];
        uint16_t port;
        uint32_t connections, cancels, tls_requests, hellos, packets;
        size_t sent, held_max; /* bytes of the present connection; of the heap */
        eddy_listener *listener;
};

void pg_fake_start(struct pg_fake *fake, eddy_scope *scope);

/* Cancels the scope, which is to have the server's tasks only, and ends it. */
void pg_fake_stop(struct pg_fake *fake, eddy_scope *scope);

/* Send, as the fields of 'fake' say. Returns a negative value if the client has gone. */
int pg_fake_send(struct pg_fake *fake, eddy_stream *stream, const struct pg_bytes *out);

/* For 'talk': the questions of SCRAM-SHA-256. */
int pg_fake_scram(struct pg_fake *fake, eddy_stream *stream);

/* The bytes of the heap that are in use. */
size_t pg_held(void);

#endif
