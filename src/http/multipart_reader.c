/*
 * http/multipart_reader.c - a form with files, read part by part.
 */
#include "http/multipart_reader.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "eddy/error.h"
#include "http/exchange.h"
#include "http/input.h"

enum {
        PARTS_DEFAULT = 1000,
        HEAD_DEFAULT_BYTES = 16 << 10,
        HEAD_BYTES_MAX = 1 << 30,
        FIELD_DEFAULT_BYTES = 8 << 20,
};

#define FILE_DEFAULT_BYTES (UINT64_C(16) << 30)

/* ---- events ---------------------------------------------------------------- */

/* Read more from the source. Suspends. */
static int fill(eddy_http_multipart_reader *reader)
{
        const struct eddy_http_body_source *source = &reader->source;
        int64_t n =
                source->stream
                        ? eddy_stream_read(source->stream, reader->buf, ED_MULTIPART_READER_BYTES)
                        : source->read(source->arg, reader->buf, ED_MULTIPART_READER_BYTES);

        if (n < 0)
                return (int) n;
        if (n > ED_MULTIPART_READER_BYTES)
                return -EINVAL;
        reader->at = 0;
        reader->end = (size_t) n;
        reader->is_ended = n == 0;
        return n == 0 ? ed_multipart_finish(&reader->parser) : 0;
}

/* Go on to the next event, or the end. Suspends. */
static int step(eddy_http_multipart_reader *reader, enum ed_multipart_event *ret_event)
{
        int64_t n;

        *ret_event = ED_MULTIPART_MORE;
        if (reader->at == reader->end)
                return fill(reader);
        n = ed_multipart_read(&reader->parser, reader->buf + reader->at, reader->end - reader->at,
                              ret_event, &reader->data, &reader->data_bytes);
        if (n < 0)
                return (int) n;
        reader->at += (size_t) n;
        if (*ret_event == ED_MULTIPART_PART || *ret_event == ED_MULTIPART_PART_END)
                reader->in_part = *ret_event == ED_MULTIPART_PART;
        return 0;
}

int ed_multipart_reader_enter(eddy_http_multipart_reader *reader, struct ed_task **ret_task)
{
        int err = ed_suspend_enter(ret_task);

        if (err < 0)
                return err;
        if (reader->is_busy)
                return -EBUSY;
        if (reader->err < 0)
                return reader->err;
        reader->is_busy = true;
        return 0;
}

static int64_t exchange_read(void *arg, void *buf, size_t bytes)
{
        return eddy_http_exchange_read(arg, buf, bytes);
}

int64_t ed_multipart_reader_leave(eddy_http_multipart_reader *reader, struct ed_task *task,
                                  int64_t result)
{
        reader->is_busy = false;
        if (result >= 0)
                ed_suspend_passed(task);
        if (result < 0 && result != -ECANCELED) {
                reader->err = (int) result;
                if (reader->source.read == exchange_read)
                        ed_http_input_failed(reader->source.arg, reader->err);
        }
        return result;
}

/* ---- parts ----------------------------------------------------------------- */

static int next(eddy_http_multipart_reader *reader)
{
        enum ed_multipart_event event = ED_MULTIPART_MORE;
        int err = 0;

        reader->data_bytes = 0;
        reader->is_whole = false;
        while (err == 0 && event != ED_MULTIPART_PART && !reader->is_ended) {
                err = step(reader, &event);
                if (event == ED_MULTIPART_DATA)
                        reader->data_bytes = 0;
        }
        reader->is_whole = err == 0 && event == ED_MULTIPART_PART;
        return err < 0 ? err : reader->is_whole;
}

static void drop_whole(eddy_http_multipart_reader *reader)
{
        ed_buf_consume(&reader->whole, ed_buf_bytes(&reader->whole));
}

int eddy_http_multipart_next(eddy_http_multipart_reader *reader,
                             struct eddy_http_multipart_part *ret_part)
{
        struct ed_multipart_part part;
        struct ed_task *task;
        int err;

        if (!reader || !ret_part)
                return -EINVAL;
        err = ed_multipart_reader_enter(reader, &task);
        if (err < 0)
                return err;
        drop_whole(reader);
        err = (int) ed_multipart_reader_leave(reader, task, next(reader));
        if (err <= 0)
                return err;
        ed_multipart_part(&reader->parser, &part);
        *ret_part = (struct eddy_http_multipart_part){ .name = part.name,
                                                       .filename = part.filename,
                                                       .type = part.type };
        return 1;
}

int64_t ed_multipart_reader_wait(eddy_http_multipart_reader *reader)
{
        enum ed_multipart_event event;
        int err = 0;

        while (err == 0 && reader->in_part && reader->data_bytes == 0)
                err = step(reader, &event);
        return err < 0 ? err : (int64_t) reader->data_bytes;
}

void ed_multipart_reader_take(eddy_http_multipart_reader *reader, size_t bytes)
{
        reader->is_whole = false;
        reader->data += bytes;
        reader->data_bytes -= bytes;
}

int64_t eddy_http_multipart_read(eddy_http_multipart_reader *reader, void *buf, size_t bytes)
{
        struct ed_task *task;
        int64_t n;
        int err;

        if (!reader || !buf || bytes == 0)
                return -EINVAL;
        err = ed_multipart_reader_enter(reader, &task);
        if (err < 0)
                return err;
        n = ed_multipart_reader_wait(reader);
        if (n > (int64_t) bytes)
                n = (int64_t) bytes;
        if (n > 0) {
                memcpy(buf, reader->data, (size_t) n);
                ed_multipart_reader_take(reader, (size_t) n);
        }
        return ed_multipart_reader_leave(reader, task, n);
}

/* Collect the rest of the part. Suspends. */
static int collect(eddy_http_multipart_reader *reader, size_t bytes_max)
{
        size_t held = ed_buf_bytes(&reader->whole);
        int64_t n;
        int err;

        while ((n = ed_multipart_reader_wait(reader)) > 0) {
                if (held > bytes_max || (size_t) n > bytes_max - held)
                        return EDDY_E_HTTP_TOO_LARGE;
                err = ed_buf_append(&reader->whole, reader->data, (size_t) n);
                if (err < 0)
                        return err;
                ed_multipart_reader_take(reader, (size_t) n);
                held += (size_t) n;
        }
        return n < 0 ? (int) n : ed_buf_append(&reader->whole, "", 1);
}

int eddy_http_multipart_whole(eddy_http_multipart_reader *reader, size_t bytes_max,
                              const char **ret_data, size_t *ret_bytes)
{
        struct ed_task *task;
        int err;

        if (!reader || !ret_data || !ret_bytes)
                return -EINVAL;
        if (bytes_max == 0)
                bytes_max = FIELD_DEFAULT_BYTES;
        err = ed_multipart_reader_enter(reader, &task);
        if (err < 0)
                return err;
        if (!reader->in_part) /* its data were returned already */
                drop_whole(reader);
        err = (int) ed_multipart_reader_leave(reader, task, collect(reader, bytes_max));
        if (err < 0)
                return err;
        *ret_data = ed_buf_data(&reader->whole);
        *ret_bytes = ed_buf_bytes(&reader->whole) - 1;
        return 0;
}

int eddy_http_multipart_header_at(const eddy_http_multipart_reader *reader, size_t i,
                                  struct eddy_http_header *ret_header)
{
        if (!reader || !ret_header)
                return -EINVAL;
        return ed_multipart_header_at(&reader->parser, i, &ret_header->name, &ret_header->value);
}

const char *eddy_http_multipart_rule(const eddy_http_multipart_reader *reader)
{
        return reader && reader->parser.rule ? reader->parser.rule : "";
}

/* ---- names ----------------------------------------------------------------- */

static bool is_trimmed(char c)
{
        return c == '.' || c == ' ';
}

void eddy_http_multipart_file_name(const char *filename,
                                   char ret_name[EDDY_HTTP_MULTIPART_NAME_BYTES])
{
        const char *at = filename ? filename : "", *slash;
        size_t bytes, n = 0, length;

        while ((slash = strpbrk(at, "/\\")))
                at = slash + 1;
        while (is_trimmed(*at))
                at++;
        bytes = strlen(at);
        for (size_t i = 0; i < bytes; i += length) {
                length = ed_utf8_length((const unsigned char *) at + i, bytes - i);
                if (length == 0)
                        length = 1;
                if (n + length >= EDDY_HTTP_MULTIPART_NAME_BYTES)
                        break;
                memcpy(ret_name + n, at + i, length);
                if ((unsigned char) at[i] < ' ' || strchr("\x7F<>:\"|?*", at[i]))
                        ret_name[n] = '_';
                n += length;
        }
        while (n > 0 && is_trimmed(ret_name[n - 1]))
                n--;
        ret_name[n] = '\0';
}

/* ---- the whole ------------------------------------------------------------- */

static int limits_of(const struct eddy_http_multipart_limits *given,
                     struct ed_multipart_limits *ret_limits)
{
        static const struct eddy_http_multipart_limits defaults;

        given = given ? given : &defaults;
        *ret_limits = (struct ed_multipart_limits){
                .parts_max = given->parts_max ? given->parts_max : PARTS_DEFAULT,
                .head_bytes_max =
                        given->head_bytes_max ? given->head_bytes_max : HEAD_DEFAULT_BYTES,
                .field_bytes_max =
                        given->field_bytes_max ? given->field_bytes_max : FIELD_DEFAULT_BYTES,
                .file_bytes_max =
                        given->file_bytes_max ? given->file_bytes_max : FILE_DEFAULT_BYTES,
                .bytes_max = given->bytes_max ? given->bytes_max : UINT64_MAX,
        };
        return given->head_bytes_max > HEAD_BYTES_MAX ? -EINVAL : 0;
}

int eddy_http_multipart_reader_open(const char *content_type,
                                    const struct eddy_http_body_source *source,
                                    const struct eddy_http_multipart_limits *limits,
                                    eddy_http_multipart_reader **ret_reader)
{
        char boundary[ED_MULTIPART_BOUNDARY_MAX + 1];
        struct ed_multipart_limits checked;
        eddy_http_multipart_reader *reader;
        const char *rule;
        int err = limits_of(limits, &checked);

        if (err < 0 || !source || !source->stream == !source->read || !ret_reader)
                return -EINVAL;
        err = ed_multipart_boundary(content_type, boundary, &rule);
        if (err < 0)
                return err;
        reader = ed_alloc(sizeof(*reader));
        if (!reader)
                return -ENOMEM;
        memset(reader, 0, offsetof(struct eddy_http_multipart_reader, buf));
        reader->source = *source;
        ed_multipart_init(&reader->parser, boundary, &checked);
        ed_buf_init(&reader->whole, SIZE_MAX);
        *ret_reader = reader;
        return 0;
}

int eddy_http_exchange_multipart(eddy_http_exchange *exchange,
                                 const struct eddy_http_multipart_limits *limits,
                                 eddy_http_multipart_reader **ret_reader)
{
        int err;

        if (!exchange)
                return -EINVAL;
        err = ed_http_input_check_coding(exchange);
        if (err < 0)
                return err;
        /* Before the first read, which asks a client that waits for "100 Continue" to send the body. */
        if (limits && limits->bytes_max > 0)
                err = exchange->ops->limit_body(exchange, limits->bytes_max);
        if (err < 0)
                return ed_http_input_failed_by(exchange, err, ED_HTTP_INPUT_TOO_LARGE);
        err = eddy_http_multipart_reader_open(
                eddy_http_exchange_header(exchange, "Content-Type"),
                &(struct eddy_http_body_source){ .read = exchange_read, .arg = exchange }, limits,
                ret_reader);
        if (err == EDDY_E_HTTP_CONTENT_TYPE)
                return ed_http_input_failed_by(exchange, err,
                                               "the Content-Type must be multipart/form-data");
        if (err == EDDY_E_HTTP_MULTIPART)
                return ed_http_input_failed_by(exchange, err,
                                               "the Content-Type must have one boundary");
        return err < 0 ? ed_http_input_failed(exchange, err) : 0;
}

void eddy_http_multipart_reader_close(eddy_http_multipart_reader *reader)
{
        if (!reader)
                return;
        ed_multipart_fini(&reader->parser);
        ed_buf_fini(&reader->whole);
        ed_free(reader);
}
