/*
 * pg_fake.c - see pg_fake.h.
 */
#include "pg_fake.h"

#include <malloc.h>

enum { CODE_CANCEL = 80877102, CODE_TLS = 80877103, CODE_GSS = 80877104 };

/* The address sanitizer has its own heap. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

size_t pg_held(void)
{
        struct mallinfo2 info;

        if (__sanitizer_get_current_allocated_bytes)
                return __sanitizer_get_current_allocated_bytes();
        info = mallinfo2();
        return info.uordblks + info.hblkhd;
}

/* --- messages --- */

void pg_put_raw(struct pg_bytes *out, const void *data, size_t bytes)
{
        CHECK(bytes <= sizeof(out->data) - out->bytes);
        if (bytes > 0)
                memcpy(out->data + out->bytes, data, bytes);
        out->bytes += bytes;
}

void pg_put_int(struct pg_bytes *out, int64_t value, int bytes)
{
        for (int i = bytes - 1; i >= 0; i--) {
                char byte = (char) ((uint64_t) value >> (8 * i));

                pg_put_raw(out, &byte, 1);
        }
}

void pg_put_lying(struct pg_bytes *out, char type, int64_t length, const void *body, size_t bytes)
{
        /* libpq allocates this much at once, and Valgrind uses it. */
        if (length == INT32_MAX && getenv("EDDY_TEST_VALGRIND"))
                length = 1 << 26;
        pg_put_raw(out, &type, 1);
        pg_put_int(out, length, 4);
        pg_put_raw(out, body, bytes);
}

void pg_put(struct pg_bytes *out, char type, const void *body, size_t bytes)
{
        pg_put_lying(out, type, (int64_t) bytes + 4, body, bytes);
}

void pg_put_error(struct pg_bytes *out, char type, const char *severity, const char *state,
                  const char *text)
{
        char body[300];
        int n = snprintf(body, sizeof(body), "S%s%cV%s%cC%s%cM%s%c", severity, 0, severity, 0,
                         state, 0, text, 0);

        pg_put(out, type, body, (size_t) n + 1);
}

void pg_put_ready(struct pg_bytes *out, char status)
{
        pg_put(out, 'Z', &status, 1);
}

void pg_put_login(struct pg_bytes *out)
{
        static const char encoding[] = "client_encoding\0UTF8",
                          version[] = "server_version\00015.0";

        pg_put(out, 'R', "\0\0\0", 4);
        pg_put(out, 'S', encoding, sizeof(encoding));
        pg_put(out, 'S', version, sizeof(version));
        pg_put(out, 'K', "\0\0\0\1\0\0\0\2", 8);
        pg_put_ready(out, 'I');
}

void pg_put_columns(struct pg_bytes *out, int count)
{
        pg_put_lying(out, 'T', 6 + (int64_t) count * 20, NULL, 0);
        pg_put_int(out, count, 2);
        for (int i = 0; i < count; i++) {
                pg_put_raw(out, "x", 2);
                pg_put_int(out, 0, 6);
                pg_put_int(out, 25, 4);
                pg_put_int(out, -1, 2);
                pg_put_int(out, -1, 4);
                pg_put_int(out, 0, 2);
        }
}

void pg_put_row(struct pg_bytes *out, int count, const char *value)
{
        size_t bytes = value ? strlen(value) : 0;

        pg_put_lying(out, 'D', 6 + (int64_t) count * (4 + (int64_t) bytes), NULL, 0);
        pg_put_int(out, count, 2);
        for (int i = 0; i < count; i++) {
                pg_put_int(out, value ? (int64_t) bytes : -1, 4);
                pg_put_raw(out, value, bytes);
        }
}

void pg_put_repeated(struct pg_bytes *out)
{
        out->repeat_from = out->bytes;
        out->is_repeated = true;
}

/* --- the server --- */

static int send_bytes(struct pg_fake *fake, eddy_stream *stream, const char *data, size_t bytes)
{
        size_t piece = fake->piece ? fake->piece : bytes;

        for (size_t at = 0; at < bytes; at += piece) {
                size_t n = bytes - at < piece ? bytes - at : piece;
                int err;

                if (fake->limit > 0 && fake->sent + n > fake->limit)
                        n = fake->limit - fake->sent;
                err = n > 0 ? eddy_stream_write(stream, data + at, n) : 0;
                fake->sent += n;
                if (err == 0 && fake->limit > 0 && fake->sent == fake->limit && fake->ends)
                        return -EPIPE;
                if (err == 0 && fake->piece)
                        err = eddy_sleep(fake->pause_ns ? fake->pause_ns : EDDY_US(20));
                if (err < 0)
                        return err;
        }
        return 0;
}

int pg_fake_send(struct pg_fake *fake, eddy_stream *stream, const struct pg_bytes *out)
{
        static char many[1 << 16];
        size_t unit = out->bytes - out->repeat_from, n = 0;
        int err = send_bytes(fake, stream, out->data, out->bytes);

        while (out->is_repeated && n + unit <= sizeof(many)) {
                memcpy(many + n, out->data + out->repeat_from, unit);
                n += unit;
        }
        while (err == 0 && out->is_repeated) {
                size_t held = pg_held();

                fake->held_max = held > fake->held_max ? held : fake->held_max;
                err = send_bytes(fake, stream, many, n);
        }
        return err;
}

/* Read exactly 'bytes'. Returns false at the end. */
static bool read_exactly(eddy_stream *stream, void *buf, size_t bytes)
{
        for (size_t at = 0; at < bytes;) {
                int64_t n = eddy_stream_read(stream, (char *) buf + at, bytes - at);

                if (n <= 0)
                        return false;
                at += (size_t) n;
        }
        return true;
}

static uint32_t int_of(const unsigned char *at)
{
        return (uint32_t) at[0] << 24 | (uint32_t) at[1] << 16 | (uint32_t) at[2] << 8 | at[3];
}

/* Read the first packet, after the requests of encryption. Returns false if there is none. */
static bool read_first(struct pg_fake *fake, eddy_stream *stream)
{
        unsigned char head[8], rest[2000];

        while (read_exactly(stream, head, sizeof(head))) {
                uint32_t bytes = int_of(head) - 8, code = int_of(head + 4);

                fake->hellos += head[0] == 22; /* of TLS */
                if (bytes > sizeof(rest) || !read_exactly(stream, rest, bytes))
                        return false;
                fake->cancels += code == CODE_CANCEL;
                if (code == CODE_CANCEL && fake->holds_cancels)
                        (void) eddy_sleep(EDDY_SEC(1000));
                if (code == CODE_CANCEL)
                        return false;
                if (code != CODE_TLS && code != CODE_GSS) {
                        fake->packets++;
                        return true;
                }
                fake->tls_requests += code == CODE_TLS;
                if (code == CODE_TLS && fake->tls) {
                        if (pg_fake_send(fake, stream, fake->tls) < 0)
                                return false;
                } else if (eddy_stream_write(stream, "N", 1) < 0) {
                        return false;
                }
        }
        return false;
}

static int serve(struct pg_fake *fake, eddy_stream *stream)
{
        static struct pg_bytes good;
        char buf[4096];
        int64_t n;
        int err;

        if (good.bytes == 0)
                pg_put_login(&good);
        fake->sent = 0;
        if (!read_first(fake, stream))
                return 0;
        err = fake->talk ? fake->talk(fake, stream)
                         : pg_fake_send(fake, stream, fake->login ? fake->login : &good);
        if (err < 0 || (fake->ends && !fake->answer))
                return 0;
        while ((n = eddy_stream_read(stream, buf, sizeof(buf))) > 0) {
                fake->packets++;
                if (fake->answer && pg_fake_send(fake, stream, fake->answer) < 0)
                        return 0;
                if (fake->answer && fake->ends)
                        return 0;
        }
        return 0;
}

struct guest {
        struct pg_fake *fake;
        eddy_stream *stream;
};

static int guest_run(void *arg)
{
        struct guest *guest = arg;

        (void) serve(guest->fake, guest->stream);
        eddy_stream_close(guest->stream);
        return 0;
}

struct hall {
        struct pg_fake *fake;
        eddy_scope *scope;
};

static int accept_run(void *arg)
{
        struct hall *hall = arg;
        struct guest guest = { .fake = hall->fake };
        int err;

        while ((err = eddy_listener_accept(hall->fake->listener, &guest.stream)) == 0) {
                hall->fake->connections++;
                err = eddy_scope_start_copy(hall->scope, guest_run, &guest, sizeof(guest));
                if (err < 0)
                        eddy_stream_close(guest.stream);
        }
        return err;
}

void pg_fake_start(struct pg_fake *fake, eddy_scope *scope)
{
        struct hall hall = { fake, scope };

        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &fake->listener), 0);
        fake->port = eddy_listener_port(fake->listener);
        snprintf(fake->conninfo, sizeof(fake->conninfo),
                 "host=127.0.0.1 port=%u user=u dbname=d password=sesame", fake->port);
        CHECK_EQ(eddy_scope_start_copy(scope, accept_run, &hall, sizeof(hall)), 0);
}

void pg_fake_stop(struct pg_fake *fake, eddy_scope *scope)
{
        int err;

        eddy_scope_cancel(scope);
        err = eddy_scope_end(scope);
        CHECK(err == 0 || err == -ECANCELED);
        eddy_listener_close(fake->listener);
        fake->listener = NULL;
        /* Requests to cancel, of connections that were closed. */
        for (int i = 0; i < 10000 && ed_loop_current->waits > 0; i++)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
}

/* --- SCRAM --- */

/* Read a message of the client, and return its body as a string. */
static bool read_message(eddy_stream *stream, char *body, size_t room)
{
        unsigned char head[5];
        uint32_t bytes;

        if (!read_exactly(stream, head, sizeof(head)))
                return false;
        bytes = int_of(head + 1) - 4;
        CHECK(bytes < room);
        body[bytes] = '\0';
        return read_exactly(stream, body, bytes);
}

int pg_fake_scram(struct pg_fake *fake, eddy_stream *stream)
{
        static const char offer[] = "\0\0\0\12SCRAM-SHA-256\0";
        static struct pg_bytes out;
        char body[1024], text[1024];
        const char *nonce;
        int n;

        out = (struct pg_bytes){ .bytes = 0 };
        pg_put(&out, 'R', offer, sizeof(offer));
        if (pg_fake_send(fake, stream, &out) < 0 || !read_message(stream, body, sizeof(body)))
                return -EPIPE;
        /* "SCRAM-SHA-256", a NUL, the length, "n,,n=,r=NONCE". */
        nonce = strstr(body + strlen("SCRAM-SHA-256") + 5, "r=");
        CHECK(nonce);
        n = snprintf(text, sizeof(text), "%c%c%c%cr=%s%s,%s", 0, 0, 0, 11,
                     fake->breaks_nonce ? "other" : nonce + 2, "server", fake->scram);
        out.bytes = 0;
        pg_put(&out, 'R', text, (size_t) n);
        if (pg_fake_send(fake, stream, &out) < 0 || !read_message(stream, body, sizeof(body)))
                return -EPIPE;
        /* A proof that is not one, and then a log-in. */
        n = snprintf(text, sizeof(text),
                     "%c%c%c%cv=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", 0, 0, 0, 12);
        out.bytes = 0;
        pg_put(&out, 'R', text, (size_t) n);
        pg_put_login(&out);
        return pg_fake_send(fake, stream, &out);
}
