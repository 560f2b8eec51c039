/*
 * http/multipart_body.c - a form with files as the source of a body.
 *
 * The texts between the contents are written at the beginning, into one buffer, so that a name that
 * cannot be sent is an error before the request. A file is opened when its turn comes.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "eddy/error.h"
#include "eddy/file.h"
#include "eddy/http_multipart.h"
#include "eddy/http_text.h"
#include "eddy/path.h"
#include "eddy/uuid.h"
#include "http/fault.h"
#include "scope/suspend.h"
#include "wire/multipart.h"

enum {
        HEADS_BYTES_MAX = 64 << 20,
        FAULT_BYTES = 384,
        UNKNOWN = -1, /* a length */
};

static const char type_begin[] = "multipart/form-data; boundary=";

struct part {
        const struct eddy_http_part *given;
        size_t head_end; /* of its head in 'heads' */
        int64_t bytes;   /* of its contents */
};

struct eddy_http_multipart_body {
        struct eddy_http_body_source source;
        struct ed_buf heads; /* of all parts, and the last boundary */
        char type[sizeof(type_begin) + EDDY_UUID_TEXT_BYTES];
        char fault[FAULT_BYTES];
        /* Bytes that were sent: of the heads, and of the contents of the part at 'at'. */
        size_t heads_sent;
        int64_t sent;
        size_t at;
        eddy_file *file; /* of that part; NULL: not open */
        size_t parts_count;
        struct part parts[];
};

static const char *boundary_of(const eddy_http_multipart_body *body)
{
        return body->type + sizeof(type_begin) - 1;
}

/* Note why a part cannot be sent, with the error's text unless 'reason' is given. Returns 'err'. */
static int fail(eddy_http_multipart_body *body, size_t at, const char *reason, int err)
{
        const struct eddy_http_part *given = body->parts[at].given;
        int n;

        if (err == -ECANCELED)
                return err;
        n = snprintf(body->fault, sizeof(body->fault),
                     "part %zu of the form, \"%.100s\"%s%.160s: %s", at + 1,
                     given->name ? given->name : "", given->path ? ", file " : "",
                     given->path ? given->path : "", reason ? reason : eddy_error_text(err));
        (void) n;
        /* It is shown on terminals and in logs. */
        for (char *c = body->fault; *c; c++)
                if ((unsigned char) *c < ' ' || *c == '\x7F')
                        *c = '?';
        return err;
}

/* ---- the texts --------------------------------------------------------------- */

static const char *name_of(const char *path)
{
        const char *slash = strrchr(path, '/');

        return slash ? slash + 1 : path;
}

static bool is_ours(const char *name)
{
        return strcasecmp(name, "content-disposition") == 0 ||
               strcasecmp(name, "content-type") == 0 || strcasecmp(name, "content-length") == 0 ||
               strcasecmp(name, "content-transfer-encoding") == 0;
}

static int add_header(struct ed_buf *out, const struct eddy_http_header *header)
{
        int err = ed_buf_append(out, header->name, strlen(header->name));

        if (err == 0)
                err = ed_buf_append(out, ": ", 2);
        if (err == 0)
                err = ed_buf_append(out, header->value, strlen(header->value));
        return err < 0 ? err : ed_buf_append(out, "\r\n", 2);
}

static int add_headers(eddy_http_multipart_body *body, size_t at)
{
        const struct eddy_http_part *given = body->parts[at].given;
        int err = 0;

        for (size_t i = 0; i < given->headers_count && err == 0; i++) {
                const struct eddy_http_header *header = &given->headers[i];

                if (!header->name || !header->value ||
                    !eddy_http_is_token(header->name, strlen(header->name)) ||
                    !eddy_http_is_value(header->value, strlen(header->value)))
                        return fail(body, at, "has a header that cannot be sent",
                                    EDDY_E_HTTP_INVALID_REQUEST);
                if (is_ours(header->name))
                        return fail(body, at, "has a header that 'name', 'filename' or 'type' sets",
                                    EDDY_E_HTTP_INVALID_REQUEST);
                err = add_header(&body->heads, header);
        }
        return err < 0 ? err : ed_buf_append(&body->heads, "\r\n", 2);
}

static int add_head(eddy_http_multipart_body *body, size_t at)
{
        const struct eddy_http_part *given = body->parts[at].given;
        struct ed_multipart_head head = { given->name, given->filename, given->type };
        const char *reason;
        int err;

        if (!head.filename && given->path)
                head.filename = name_of(given->path);
        if (!head.type && head.filename)
                head.type = "application/octet-stream";
        reason = ed_multipart_check(&head);
        if (reason)
                return fail(body, at, reason, EDDY_E_HTTP_INVALID_REQUEST);
        err = ed_multipart_write(&body->heads, boundary_of(body), &head, at == 0);
        if (err == 0)
                err = add_headers(body, at);
        body->parts[at].head_end = ed_buf_bytes(&body->heads);
        return err;
}

/* ---- the lengths ------------------------------------------------------------- */

static bool can_rewind(const struct eddy_http_body_source *source)
{
        return source->bytes == 0 || source->rewind;
}

/* Look up the length of a part's contents. Suspends. */
static int measure(eddy_http_multipart_body *body, size_t at)
{
        struct part *part = &body->parts[at];
        const struct eddy_http_part *given = part->given;
        const struct eddy_http_body_source *source = given->source;
        struct eddy_file_info info;
        int err;

        if (!!given->data + !!given->path + !!source > 1 || (!given->data && given->data_bytes > 0))
                return fail(body, at, "has more than one of 'data', 'path' and 'source'",
                            EDDY_E_HTTP_INVALID_REQUEST);
        if (given->path) {
                err = eddy_path_stat(given->path, 0, &info);
                if (err < 0)
                        return fail(body, at, NULL, err);
                if (info.kind != EDDY_FILE_REGULAR)
                        return fail(body, at, "is not a regular file", EDDY_E_HTTP_INVALID_REQUEST);
                part->bytes = info.bytes;
        } else if (source) {
                if (source->bytes != 0 && !source->stream == !source->read)
                        return fail(body, at,
                                    "has a source without a stream or a function, or with both",
                                    EDDY_E_HTTP_INVALID_REQUEST);
                part->bytes = source->bytes < 0 ? UNKNOWN : source->bytes;
        } else {
                part->bytes = (int64_t) given->data_bytes;
        }
        return 0;
}

/* Set the length of the whole, if it is known. */
static void sum_up(eddy_http_multipart_body *body)
{
        body->source.bytes = (int64_t) ed_buf_bytes(&body->heads);
        for (size_t i = 0; i < body->parts_count; i++) {
                const struct part *part = &body->parts[i];

                if (part->given->source && !can_rewind(part->given->source))
                        body->source.rewind = NULL;
                if (body->source.bytes < 0 || part->bytes < 0 ||
                    __builtin_add_overflow(body->source.bytes, part->bytes, &body->source.bytes))
                        body->source.bytes = UNKNOWN;
        }
}

/* ---- reading --------------------------------------------------------------- */

/*
 * Open a part's file, which may be another one than that which was measured: a pipe without a peer
 * would keep the thread. Suspends.
 */
static int open_file(eddy_http_multipart_body *body, const char *path)
{
        struct eddy_file_info info;
        int err = eddy_path_stat(path, 0, &info);

        if (err == 0 && info.kind != EDDY_FILE_REGULAR)
                err = EDDY_E_HTTP_INVALID_REQUEST;
        return err < 0 ? err : eddy_file_open(path, EDDY_FILE_READ, 0, &body->file);
}

/* Read from a part's file. Suspends. */
static int64_t read_file(eddy_http_multipart_body *body, const struct part *part, void *buf,
                         size_t bytes)
{
        int64_t n;
        int err;

        if (!body->file) {
                err = open_file(body, part->given->path);
                if (err < 0)
                        return err;
        }
        n = eddy_file_read_at(body->file, buf, bytes, body->sent);
        return n == 0 ? EDDY_E_HTTP_BODY_LENGTH : n;
}

static int64_t read_source(const struct part *part, void *buf, size_t bytes)
{
        const struct eddy_http_body_source *source = part->given->source;
        int64_t n = source->stream ? eddy_stream_read(source->stream, buf, bytes)
                                   : source->read(source->arg, buf, bytes);

        if (n > (int64_t) bytes)
                return -EINVAL;
        return n == 0 && part->bytes >= 0 ? EDDY_E_HTTP_BODY_LENGTH : n;
}

static void next_part(eddy_http_multipart_body *body)
{
        eddy_file_close(body->file);
        body->file = NULL;
        body->sent = 0;
        body->at++;
}

/* Read the contents of the present part. Returns 0 at their end. Suspends. */
static int64_t read_contents(eddy_http_multipart_body *body, char *buf, size_t bytes)
{
        const struct part *part = &body->parts[body->at];
        int64_t n;

        if (part->bytes >= 0 && (int64_t) bytes > part->bytes - body->sent)
                bytes = (size_t) (part->bytes - body->sent);
        if (bytes == 0)
                return 0;
        if (part->given->path) {
                n = read_file(body, part, buf, bytes);
        } else if (part->given->source) {
                n = read_source(part, buf, bytes);
        } else {
                memcpy(buf, (const char *) part->given->data + body->sent, bytes);
                n = (int64_t) bytes;
        }
        if (n == EDDY_E_HTTP_BODY_LENGTH)
                return fail(body, body->at, "ended before its length", (int) n);
        if (n == EDDY_E_HTTP_INVALID_REQUEST && part->given->path)
                return fail(body, body->at, "is not a regular file", (int) n);
        if (n < 0)
                return fail(body, body->at, NULL, (int) n);
        body->sent += n;
        return n;
}

/* Read from the texts before the contents of the present part, or after the last one. */
static size_t read_heads(eddy_http_multipart_body *body, char *buf, size_t bytes)
{
        size_t end = body->at < body->parts_count ? body->parts[body->at].head_end
                                                  : ed_buf_bytes(&body->heads);
        size_t n = end - body->heads_sent;

        if (n > bytes)
                n = bytes;
        memcpy(buf, ed_buf_data(&body->heads) + body->heads_sent, n);
        body->heads_sent += n;
        return n;
}

/* A source may wait for long: what is there is sent before. */
static bool may_wait(const eddy_http_multipart_body *body)
{
        return body->at < body->parts_count && body->parts[body->at].given->source;
}

static int64_t body_read(void *arg, void *buf, size_t bytes)
{
        eddy_http_multipart_body *body = arg;
        size_t at = 0;
        int64_t n;

        while (at < bytes) {
                at += read_heads(body, (char *) buf + at, bytes - at);
                if (at == bytes || body->at == body->parts_count || (at > 0 && may_wait(body)))
                        break;
                n = read_contents(body, (char *) buf + at, bytes - at);
                if (n < 0) /* the next call meets an error again */
                        return at > 0 ? (int64_t) at : n;
                if (n == 0)
                        next_part(body);
                at += (size_t) n;
        }
        return (int64_t) at;
}

static int body_rewind(void *arg)
{
        eddy_http_multipart_body *body = arg;
        int err = 0;

        for (size_t i = 0; i < body->parts_count && err == 0; i++) {
                const struct eddy_http_body_source *source = body->parts[i].given->source;

                /* The sources of later parts are at their beginning. */
                if (source && source->bytes != 0 && i <= body->at)
                        err = source->rewind(source->arg);
        }
        if (err < 0)
                return err;
        next_part(body);
        body->at = body->heads_sent = 0;
        body->fault[0] = '\0';
        return 0;
}

/* ---- the whole ------------------------------------------------------------- */

static eddy_http_multipart_body *body_new(const struct eddy_http_multipart *multipart)
{
        eddy_http_multipart_body *body =
                ed_alloc_zero(sizeof(*body) + multipart->parts_count * sizeof(body->parts[0]));
        struct eddy_uuid id;

        if (!body)
                return NULL;
        body->source = (struct eddy_http_body_source){ .read = body_read,
                                                       .rewind = body_rewind,
                                                       .arg = body };
        ed_buf_init(&body->heads, HEADS_BYTES_MAX);
        memcpy(body->type, type_begin, sizeof(type_begin) - 1);
        eddy_uuid_v4(&id);
        eddy_uuid_format(&id, body->type + sizeof(type_begin) - 1);
        body->parts_count = multipart->parts_count;
        for (size_t i = 0; i < body->parts_count; i++)
                body->parts[i].given = &multipart->parts[i];
        return body;
}

static int prepare(eddy_http_multipart_body *body)
{
        int err = 0;

        for (size_t i = 0; i < body->parts_count && err == 0; i++) {
                err = add_head(body, i);
                if (err == 0)
                        err = measure(body, i);
        }
        if (err == 0)
                err = ed_multipart_write_end(&body->heads, boundary_of(body),
                                             body->parts_count == 0);
        sum_up(body);
        return err == -EMSGSIZE ? EDDY_E_HTTP_TOO_LARGE : err;
}

int eddy_http_multipart_open(const struct eddy_http_multipart *multipart,
                             struct eddy_http_fault *ret_fault, eddy_http_multipart_body **ret_body)
{
        eddy_http_multipart_body *body;
        struct ed_task *task;
        int err;

        if (!multipart || !ret_body)
                return -EINVAL;
        if ((!multipart->parts && multipart->parts_count > 0) ||
            multipart->parts_count > HEADS_BYTES_MAX) {
                ed_http_fault_note(ret_fault, "multipart: 'parts' is NULL, or has too many parts");
                return -EINVAL;
        }
        err = ed_suspend_enter(&task);
        if (err < 0)
                return err;
        body = body_new(multipart);
        if (!body)
                return -ENOMEM;
        err = prepare(body);
        if (err < 0) {
                if (ret_fault)
                        memcpy(ret_fault->text, body->fault, sizeof(body->fault));
                eddy_http_multipart_close(body);
                return err;
        }
        ed_suspend_passed(task);
        *ret_body = body;
        return 0;
}

const char *eddy_http_multipart_type(const eddy_http_multipart_body *body)
{
        return body ? body->type : NULL;
}

const struct eddy_http_body_source *eddy_http_multipart_source(const eddy_http_multipart_body *body)
{
        return body ? &body->source : NULL;
}

const char *eddy_http_multipart_fault(const eddy_http_multipart_body *body)
{
        return body ? body->fault : "";
}

void eddy_http_multipart_close(eddy_http_multipart_body *body)
{
        if (!body)
                return;
        eddy_file_close(body->file);
        ed_buf_fini(&body->heads);
        ed_free(body);
}
