/*
 * fuzz_multipart.c - any bytes as a multipart body, whose first byte gives the size of its pieces.
 *
 * A body that is read in one piece is read equally in pieces: the same parts, data and error. Parts
 * that were read are written, and read equally again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/error.h"
#include "wire/multipart.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { OUT_BYTES_MAX = 1 << 20 };

/* Small, so that inputs reach them; and those of a body that is written again, whose heads may be longer. */
static const struct ed_multipart_limits limits = { 20, 400, 200, 300, 1 << 18 };
static const struct ed_multipart_limits wide = { 20, 4096, 200, 300, 1 << 18 };

static void require(bool is_so)
{
        if (!is_so)
                abort();
}

/* Append a text with its NUL. */
static void keep(struct ed_buf *out, const char *text)
{
        require(ed_buf_append(out, text ? text : "\x01", text ? strlen(text) + 1 : 2) == 0);
}

/* Append what a part has, and its beginning to a body that is written again. */
static void keep_part(const struct ed_multipart *multipart, struct ed_buf *out,
                      struct ed_buf *again)
{
        struct ed_multipart_part part;
        struct ed_multipart_head head;

        ed_multipart_part(multipart, &part);
        keep(out, "part");
        keep(out, part.name);
        keep(out, part.filename);
        keep(out, part.type);
        head = (struct ed_multipart_head){ part.name, part.filename, part.type };
        if (part.type && !*part.type)
                head.type = "a/b"; /* an empty type is read, and not written */
        require(!ed_multipart_check(&head));
        require(ed_multipart_write(again, "b", &head, multipart->parts == 1) == 0);
        require(ed_buf_append(again, "\r\n", 2) == 0);
}

/* Read a body in pieces. Returns its result. */
static int read_all(const struct ed_multipart_limits *most, const char *data, size_t bytes,
                    size_t piece, struct ed_buf *out, struct ed_buf *again)
{
        struct ed_multipart multipart;
        enum ed_multipart_event event;
        size_t at = 0, end = 0, given_bytes = 0;
        const char *given = NULL;
        int64_t n = 0;

        ed_multipart_init(&multipart, "b", most);
        while (n >= 0 && at < bytes) {
                if (at == end)
                        end = bytes - at < piece ? bytes : at + piece;
                n = ed_multipart_read(&multipart, data + at, end - at, &event, &given,
                                      &given_bytes);
                at += n > 0 ? (size_t) n : 0;
                if (n >= 0 && event == ED_MULTIPART_PART)
                        keep_part(&multipart, out, again);
                if (n >= 0 && event == ED_MULTIPART_DATA) {
                        require(given_bytes > 0);
                        require(ed_buf_append(out, given, given_bytes) == 0);
                        require(ed_buf_append(again, given, given_bytes) == 0);
                }
        }
        if (n >= 0) {
                n = ed_multipart_finish(&multipart);
                require(ed_multipart_write_end(again, "b", multipart.parts == 0) == 0);
        } else {
                require(multipart.rule != NULL);
        }
        ed_multipart_fini(&multipart);
        return (int) n;
}

static bool are_equal(const struct ed_buf *a, const struct ed_buf *b)
{
        return ed_buf_bytes(a) == ed_buf_bytes(b) &&
               (ed_buf_bytes(a) == 0 ||
                memcmp(ed_buf_data(a), ed_buf_data(b), ed_buf_bytes(a)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
        struct ed_buf whole, pieces, again, other;
        const char *body = (const char *) data + 1;
        size_t piece = bytes > 0 ? 1 + data[0] % 100 : 1;
        int err;

        if (bytes == 0)
                return 0;
        ed_buf_init(&whole, OUT_BYTES_MAX);
        ed_buf_init(&pieces, OUT_BYTES_MAX);
        ed_buf_init(&again, OUT_BYTES_MAX);
        ed_buf_init(&other, OUT_BYTES_MAX);
        err = read_all(&limits, body, bytes - 1, bytes, &whole, &again);
        require(read_all(&limits, body, bytes - 1, piece, &pieces, &other) == err);
        /* A limit is met at another byte. */
        require(err == EDDY_E_HTTP_TOO_LARGE || are_equal(&whole, &pieces));
        if (err == 0) {
                ed_buf_consume(&pieces, ed_buf_bytes(&pieces));
                ed_buf_consume(&other, ed_buf_bytes(&other));
                require(read_all(&wide, ed_buf_data(&again), ed_buf_bytes(&again), piece, &pieces,
                                 &other) == 0);
                require(are_equal(&again, &other));
        }
        ed_buf_fini(&whole);
        ed_buf_fini(&pieces);
        ed_buf_fini(&again);
        ed_buf_fini(&other);
        return 0;
}
