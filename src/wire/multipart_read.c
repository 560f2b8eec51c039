/*
 * wire/multipart_read.c - the reader of multipart bodies; see multipart.h.
 *
 * A delimiter is CR LF "--" and the boundary. Its only CR is its first byte, so bytes that began like
 * a delimiter contain the beginning of no other one, and are given back without having been kept.
 */
#include <errno.h>
#include <string.h>

#include "eddy/error.h"
#include "wire/multipart.h"

enum state {
        AT_START, /* before the first boundary, which needs no CR LF */
        IN_DATA,
        AFTER_DELIMITER, /* CR LF or "--" follows */
        AFTER_CR,
        AFTER_DASH,
        IN_HEAD,
        AT_END, /* after the last boundary; a CR LF may follow */
        AT_END_CR,
        ENDED,
};

enum { CRLF_BYTES = 2 };

void ed_multipart_init(struct ed_multipart *multipart, const char *boundary,
                       const struct ed_multipart_limits *limits)
{
        size_t bytes = strlen(boundary);

        *multipart = (struct ed_multipart){ .limits = *limits,
                                            .matched = CRLF_BYTES,
                                            .assumed = CRLF_BYTES,
                                            .delimiter_bytes = ED_MULTIPART_MARK_BYTES + bytes };
        memcpy(multipart->delimiter, "\r\n--", ED_MULTIPART_MARK_BYTES);
        memcpy(multipart->delimiter + ED_MULTIPART_MARK_BYTES, boundary, bytes);
        ed_buf_init(&multipart->head, limits->head_bytes_max);
        ed_buf_init(&multipart->texts, (size_t) limits->head_bytes_max + 2);
}

void ed_multipart_fini(struct ed_multipart *multipart)
{
        ed_buf_fini(&multipart->head);
        ed_buf_fini(&multipart->texts);
}

static int refuse(struct ed_multipart *multipart, int err, const char *rule)
{
        multipart->rule = rule;
        return err;
}

/* ---- data ------------------------------------------------------------------ */

static size_t least(size_t a, size_t b)
{
        return a < b ? a : b;
}

/* Returns the number of bytes before the next delimiter, or before what may be its beginning. */
static size_t data_bytes(const struct ed_multipart *multipart, const char *data, size_t bytes)
{
        const char *at = data, *end = data + bytes;

        while ((at = memchr(at, '\r', (size_t) (end - at)))) {
                if (memcmp(at, multipart->delimiter,
                           least((size_t) (end - at), multipart->delimiter_bytes)) == 0)
                        return (size_t) (at - data);
                at++;
        }
        return bytes;
}

/* Give bytes of the part. Returns 'n', the number of bytes read. */
static int64_t give(struct ed_multipart *multipart, const char *data, size_t bytes, size_t n,
                    enum ed_multipart_event *ret_event, const char **ret_data, size_t *ret_bytes)
{
        multipart->part_bytes += bytes;
        if (multipart->has_filename && multipart->part_bytes > multipart->limits.file_bytes_max)
                return refuse(multipart, EDDY_E_HTTP_TOO_LARGE, "a file is larger than its limit");
        if (!multipart->has_filename && multipart->part_bytes > multipart->limits.field_bytes_max)
                return refuse(multipart, EDDY_E_HTTP_TOO_LARGE, "a field is larger than its limit");
        *ret_event = ED_MULTIPART_DATA;
        *ret_data = data;
        *ret_bytes = bytes;
        return (int64_t) n;
}

/* Bytes that began like a delimiter are data. */
static int64_t give_back(struct ed_multipart *multipart, enum ed_multipart_event *ret_event,
                         const char **ret_data, size_t *ret_bytes)
{
        size_t bytes = multipart->matched - multipart->assumed;
        const char *data;

        if (multipart->state == AT_START)
                return refuse(multipart, EDDY_E_HTTP_MULTIPART, "a body begins with its boundary");
        multipart->matched = 0;
        data = multipart->delimiter + multipart->assumed;
        multipart->assumed = 0;
        if (bytes == 0)
                return 0;
        return give(multipart, data, bytes, 0, ret_event, ret_data, ret_bytes);
}

/* A boundary was read. */
static int delimiter_end(struct ed_multipart *multipart)
{
        if (multipart->state == IN_DATA && multipart->assumed > 0)
                return refuse(multipart, EDDY_E_HTTP_MULTIPART,
                              "a CR LF of its own is before each boundary");
        multipart->matched = multipart->assumed = 0;
        multipart->state = AFTER_DELIMITER;
        return 0;
}

static int64_t read_data(struct ed_multipart *multipart, const char *data, size_t bytes,
                         enum ed_multipart_event *ret_event, const char **ret_data,
                         size_t *ret_bytes)
{
        size_t n;
        int err = 0;

        if (multipart->matched == 0) {
                n = data_bytes(multipart, data, bytes);
                if (n > 0)
                        return give(multipart, data, n, n, ret_event, ret_data, ret_bytes);
        }
        n = least(multipart->delimiter_bytes - multipart->matched, bytes);
        if (memcmp(multipart->delimiter + multipart->matched, data, n) != 0)
                return give_back(multipart, ret_event, ret_data, ret_bytes);
        multipart->matched += n;
        if (multipart->matched == multipart->delimiter_bytes)
                err = delimiter_end(multipart);
        return err < 0 ? err : (int64_t) n;
}

/* ---- between the parts ------------------------------------------------------- */

/* A part that was begun is complete. */
static void end_part(const struct ed_multipart *multipart, enum ed_multipart_event *ret_event)
{
        if (multipart->parts > 0)
                *ret_event = ED_MULTIPART_PART_END;
}

/* Read one of the two bytes after a boundary. Returns 1. */
static int after_boundary(struct ed_multipart *multipart, char c,
                          enum ed_multipart_event *ret_event)
{
        if (multipart->state == AFTER_DELIMITER && (c == '\r' || c == '-')) {
                multipart->state = c == '\r' ? AFTER_CR : AFTER_DASH;
                return 1;
        }
        if (multipart->state == AFTER_CR && c == '\n') {
                end_part(multipart, ret_event);
                multipart->state = IN_HEAD;
                multipart->part_bytes = 0;
                ed_buf_consume(&multipart->head, ed_buf_bytes(&multipart->head));
                return 1;
        }
        if (multipart->state == AFTER_DASH && c == '-') {
                end_part(multipart, ret_event);
                multipart->state = AT_END;
                return 1;
        }
        return refuse(multipart, EDDY_E_HTTP_MULTIPART,
                      "a boundary is followed by CR LF, and the last one by \"--\"");
}

/* Read a byte after the last boundary. Returns 1. */
static int after_end(struct ed_multipart *multipart, char c)
{
        if (multipart->state == AT_END && c == '\r') {
                multipart->state = AT_END_CR;
                return 1;
        }
        if (multipart->state == AT_END_CR && c == '\n') {
                multipart->state = ENDED;
                return 1;
        }
        return refuse(multipart, EDDY_E_HTTP_MULTIPART, "nothing follows the last boundary");
}

static bool head_is_complete(const struct ed_buf *head)
{
        size_t bytes = ed_buf_bytes(head);
        const char *end = ed_buf_data(head) + bytes;

        return (bytes == 2 && memcmp(end - 2, "\r\n", 2) == 0) ||
               (bytes > 3 && memcmp(end - 4, "\r\n\r\n", 4) == 0);
}

/* Read a line of a part's headers, or a piece of it. Returns the number of bytes read. */
static int64_t read_head(struct ed_multipart *multipart, const char *data, size_t bytes,
                         enum ed_multipart_event *ret_event)
{
        const char *end = memchr(data, '\n', bytes);
        size_t n = end ? (size_t) (end + 1 - data) : bytes;
        int err = ed_buf_append(&multipart->head, data, n);

        if (err == -EMSGSIZE)
                return refuse(multipart, EDDY_E_HTTP_TOO_LARGE,
                              "the headers of a part are larger than their limit");
        if (err < 0)
                return err;
        if (!head_is_complete(&multipart->head))
                return (int64_t) n;
        if (multipart->parts == multipart->limits.parts_max)
                return refuse(multipart, EDDY_E_HTTP_TOO_LARGE,
                              "the body has more parts than its limit");
        err = ed_multipart_head(multipart);
        if (err < 0)
                return err;
        multipart->parts++;
        multipart->state = IN_DATA;
        multipart->matched = multipart->assumed = CRLF_BYTES;
        *ret_event = ED_MULTIPART_PART;
        return (int64_t) n;
}

/* ---- the whole ------------------------------------------------------------- */

static int64_t step(struct ed_multipart *multipart, const char *data, size_t bytes,
                    enum ed_multipart_event *ret_event, const char **ret_data, size_t *ret_bytes)
{
        switch ((enum state) multipart->state) {
        case AT_START:
        case IN_DATA:
                return read_data(multipart, data, bytes, ret_event, ret_data, ret_bytes);
        case IN_HEAD:
                return read_head(multipart, data, bytes, ret_event);
        case AFTER_DELIMITER:
        case AFTER_CR:
        case AFTER_DASH:
                return after_boundary(multipart, *data, ret_event);
        case AT_END:
        case AT_END_CR:
        case ENDED:
                return after_end(multipart, *data);
        }
        ed_broken("a multipart reader has a known state");
}

int64_t ed_multipart_read(struct ed_multipart *multipart, const char *data, size_t bytes,
                          enum ed_multipart_event *ret_event, const char **ret_data,
                          size_t *ret_bytes)
{
        size_t at = 0;
        int64_t n;

        *ret_event = ED_MULTIPART_MORE;
        while (at < bytes && *ret_event == ED_MULTIPART_MORE) {
                n = step(multipart, data + at, bytes - at, ret_event, ret_data, ret_bytes);
                if (n < 0)
                        return n;
                at += (size_t) n;
        }
        if (at > multipart->limits.bytes_max - multipart->bytes)
                return refuse(multipart, EDDY_E_HTTP_TOO_LARGE,
                              "the body is larger than its limit");
        multipart->bytes += at;
        return (int64_t) at;
}

int ed_multipart_finish(const struct ed_multipart *multipart)
{
        return multipart->state == AT_END || multipart->state == ENDED ? 0 : EDDY_E_HTTP_TRUNCATED;
}
