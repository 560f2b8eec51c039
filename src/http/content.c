/*
 * http/content.c - see content.h.
 */
#include "http/content.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "eddy/error.h"
#include "eddy/http_date.h"
#include "eddy/http_text.h"
#include "eddy/time.h"
#include "http/conditions.h"
#include "http/problem.h"
#include "io/file.h"
#include "loop/loop.h"
#include "wire/byte_ranges.h"

enum {
        PIECE_BYTES = 64 * 1024,
        TURN_BYTES = 1024 * 1024, /* that the kernel sends before other tasks run: some 50 us */
        LAST_BYTES = 1024, /* that a client gets after a check that the file has not changed */
        OWN_HEADERS_MAX = 5,
        BOUNDARY_BYTES = 32,
        TAG_BYTES = 40,
        RANGE_BYTES = 80, /* of "bytes 1-2/3" */
};

/* An answer. The first headers in 'headers' are those of the content. */
struct sending {
        eddy_http_exchange *exchange;
        const struct ed_http_content *content;
        struct eddy_http_header *headers; /* owned */
        size_t headers_count;
        char *buf; /* of 'room' bytes; owned */
        size_t room;
        const char *type;     /* the content's Content-Type; NULL: none */
        const char *tag;      /* ETag */
        const char *modified; /* Last-Modified; NULL: none yet */
        bool is_ranged;       /* parts may be sent */
        bool copies;          /* bytes cannot be sent without copying them */
        bool is_queued;       /* pages of the file may wait in the kernel to be sent */
        bool has_accept;      /* the caller's headers have Accept-Ranges */
        int count;            /* of 'ranges'; 0: the whole content */
        struct ed_byte_range ranges[ED_BYTE_RANGES_MAX];
        char boundary[BOUNDARY_BYTES + 1];
        char tag_room[TAG_BYTES], date_room[EDDY_HTTP_DATE_BYTES + 1], text_room[RANGE_BYTES];
};

static void put(struct sending *sending, const char *name, const char *value)
{
        sending->headers[sending->headers_count++] = (struct eddy_http_header){ name, value };
}

static bool has_name(const struct eddy_http_header *header, const char *name)
{
        return header->name && strcasecmp(header->name, name) == 0;
}

/* ---- validators ------------------------------------------------------------ */

/*
 * The tag is of the time, the size and the number of the file, so that a file that replaces another has a
 * new tag. They are hashed, because the number of a file is of no concern to clients.
 */
static void write_tag(struct sending *sending)
{
        const struct ed_http_content *content = sending->content;
        const int64_t parts[] = { content->info.modified_ns, (int64_t) content->info.inode,
                                  content->info.bytes, content->offset };

        snprintf(sending->tag_room, sizeof(sending->tag_room), "\"%" PRIx64 "-%" PRIx64 "\"",
                 (uint64_t) content->bytes, ed_hash(ED_HASH_EMPTY, parts, sizeof(parts)));
        sending->tag = sending->tag_room;
        put(sending, "ETag", sending->tag);
}

/*
 * Put the date once its second is over: a date that a client has then never belongs to two states of a
 * file, so If-Range may trust the date (RFC 9110, 8.8.2.2).
 */
static void put_modified(struct sending *sending, int64_t modified_s)
{
        if (eddy_time_of_day() / EDDY_SEC(1) > modified_s &&
            eddy_http_date_format(modified_s, sending->date_room) == 0)
                put(sending, "Last-Modified", sending->date_room);
}

/* Returns the seconds since 1970, rounded down. */
static int64_t seconds_of(int64_t ns)
{
        return ns / EDDY_SEC(1) - (ns % EDDY_SEC(1) < 0);
}

/* Complete the headers, and judge the request. Returns the status of the answer. */
static int judge(struct sending *sending)
{
        struct ed_http_validators validators = { .modified_s = seconds_of(
                                                         sending->content->info.modified_ns) };
        const char *range;
        int status;

        if (!sending->tag)
                write_tag(sending);
        if (!sending->modified)
                put_modified(sending, validators.modified_s);
        else if (eddy_http_date_parse(sending->modified, strlen(sending->modified),
                                      eddy_time_of_day() / EDDY_SEC(1), &validators.modified_s) < 0)
                validators.modified_s = ED_HTTP_NO_DATE;
        if (!sending->has_accept)
                put(sending, "Accept-Ranges", "bytes");
        validators.tag = sending->tag;
        validators.has_codings = sending->content->has_codings || sending->exchange->filter;
        status = ed_http_conditions_judge(sending->exchange, &validators, &range);
        if (status != 0)
                return status;
        if (range && sending->is_ranged)
                sending->count =
                        ed_byte_ranges_read(range, sending->content->bytes, sending->ranges);
        return sending->count < 0 ? 416 : sending->count > 0 ? 206 : 200;
}

/* ---- answers without the content ------------------------------------------- */

/* A 304 repeats the headers for caches, without those that describe a body (RFC 9110, 15.4.5). */
static int respond_not_modified(struct sending *sending)
{
        static const char *const of_body[] = { "Content-Type", "Content-Encoding",
                                               "Content-Language", "Accept-Ranges" };
        struct ed_http_filter *filter = sending->exchange->filter;
        size_t n = 0;

        if (filter)
                filter->not_modified(filter, sending->exchange, sending->headers,
                                     sending->headers_count, sending->content->bytes);
        for (size_t i = 0; i < sending->headers_count; i++) {
                bool is_kept = true;

                for (size_t j = 0; j < sizeof(of_body) / sizeof(of_body[0]); j++)
                        is_kept &= !has_name(&sending->headers[i], of_body[j]);
                if (is_kept)
                        sending->headers[n++] = sending->headers[i];
        }
        return eddy_http_exchange_respond(sending->exchange, 304, sending->headers, n, NULL, 0);
}

static int respond_not_satisfiable(struct sending *sending)
{
        int err;

        snprintf(sending->text_room, sizeof(sending->text_room), "bytes */%" PRId64,
                 sending->content->bytes);
        err = eddy_http_exchange_add_header(sending->exchange, "Content-Range", sending->text_room);
        return err < 0 ? err : ed_http_problem_respond(sending->exchange, 416, NULL);
}

/* ---- bodies ---------------------------------------------------------------- */

static void piece_free(struct sending *sending)
{
        ed_free(sending->buf);
        sending->buf = NULL;
        sending->room = 0;
}

/* A piece was written. The next may wait for room, and holds no memory meanwhile. */
static void piece_end(struct sending *sending)
{
        if (sending->exchange->ops->reserve)
                piece_free(sending);
}

/* Have room for a piece. Returns its bytes. */
static int64_t piece_begin(struct sending *sending, int64_t bytes)
{
        eddy_http_exchange *exchange = sending->exchange;

        if (bytes > PIECE_BYTES)
                bytes = PIECE_BYTES;
        if (exchange->ops->reserve)
                bytes = exchange->ops->reserve(exchange, (size_t) bytes);
        if (bytes <= (int64_t) sending->room)
                return bytes;
        piece_free(sending);
        sending->buf = ed_alloc((size_t) bytes);
        if (!sending->buf)
                return -ENOMEM;
        sending->room = (size_t) bytes;
        return bytes;
}

/* Read a piece of the content from 'at' on, of at most 'bytes' bytes. */
static int64_t piece_read(struct sending *sending, int64_t at, int64_t bytes)
{
        int64_t n = bytes > 0 ? piece_begin(sending, bytes) : 0;

        if (n <= 0)
                return n;
        n = eddy_file_read_at(sending->content->file, sending->buf, (size_t) n,
                              sending->content->offset + at);
        return n == 0 ? EDDY_E_HTTP_BODY_LENGTH : n;
}

/* Errors: EDDY_E_HTTP_BODY_LENGTH: the file has changed since it was opened. */
static int check_unchanged(const struct sending *sending)
{
        const struct ed_http_content *content = sending->content;
        struct eddy_file_info now;
        int err;

        if (!content->is_watched)
                return 0;
        err = eddy_file_stat(content->file, &now);
        if (err == 0 &&
            (now.bytes != content->info.bytes || now.modified_ns != content->info.modified_ns))
                err = EDDY_E_HTTP_BODY_LENGTH;
        return err;
}

/*
 * Write from '*at' to 'end' without copying, as far as the file is in the kernel's cache: a byte that is
 * read from the disk would keep the loop from its other tasks. Only the last byte of a turn is looked up:
 * the kernel reads ahead and drops in larger units.
 */
static int cached_write(struct sending *sending, int64_t *at, int64_t end)
{
        const struct ed_http_content *content = sending->content;

        while (*at < end && !sending->copies) {
                int64_t bytes = end - *at < TURN_BYTES ? end - *at : TURN_BYTES;
                int64_t offset = content->offset + *at, n;

                if (!ed_file_is_cached(content->file, offset + bytes - 1))
                        return 0;
                n = ed_http_exchange_send_file(sending->exchange, content->file, offset,
                                               (size_t) bytes);
                sending->copies = n == -ENOTSUP;
                if (n == 0)
                        return EDDY_E_HTTP_BODY_LENGTH;
                if (n < 0 && n != -EAGAIN && n != -ENOTSUP)
                        return (int) n;
                *at += n > 0 ? n : 0;
                sending->is_queued |= n > 0;
        }
        return 0;
}

/*
 * Write the last 'n' bytes of a range, which are in the buffer. The file may have changed meanwhile: check
 * before the client has all of the range, and after most of the pages that wait in the kernel have left.
 */
static int last_write(struct sending *sending, size_t n)
{
        size_t before = sending->is_queued && n > LAST_BYTES ? n - LAST_BYTES : 0;
        int err = 0;

        if (before > 0)
                err = eddy_http_exchange_write(sending->exchange, sending->buf, before);
        if (err == 0)
                err = check_unchanged(sending);
        return err < 0 ? err
                       : eddy_http_exchange_write(sending->exchange, sending->buf + before,
                                                  n - before);
}

/*
 * Write the bytes of a range, of which the first 'n' are in the buffer; n < 0 is an error of reading. A
 * range of a single piece was read at once.
 */
static int range_write(struct sending *sending, const struct ed_byte_range *range, int64_t n)
{
        int64_t at = range->first, end = range->last + 1;
        bool is_long = n < end - at || sending->count > 1;

        while (n > 0) {
                int err = is_long && at + n == end
                                  ? last_write(sending, (size_t) n)
                                  : eddy_http_exchange_write(sending->exchange, sending->buf,
                                                             (size_t) n);

                at += n;
                piece_end(sending);
                if (err == 0)
                        err = cached_write(sending, &at, end - PIECE_BYTES);
                n = err < 0 ? err : piece_read(sending, at, end - at);
        }
        return (int) n;
}

/* The content, or one range of it. */
static int respond_whole(struct sending *sending, int status)
{
        struct ed_byte_range all = { 0, sending->content->bytes - 1 };
        const struct ed_byte_range *range = sending->count == 1 ? &sending->ranges[0] : &all;
        int64_t bytes = range->last - range->first + 1, n = 0;
        int err;

        /* Before the head, which leaves in one write with the first piece. */
        if (!ed_http_exchange_is_head(sending->exchange))
                n = piece_read(sending, range->first, bytes);
        if (n < 0)
                return (int) n;
        if (sending->count == 1) {
                snprintf(sending->text_room, RANGE_BYTES, "bytes %" PRId64 "-%" PRId64 "/%" PRId64,
                         range->first, range->last, sending->content->bytes);
                put(sending, "Content-Range", sending->text_room);
        }
        err = eddy_http_exchange_begin(sending->exchange, status, sending->headers,
                                       sending->headers_count, bytes);
        if (err == 0)
                err = range_write(sending, range, n);
        return err < 0 ? err : eddy_http_exchange_end(sending->exchange);
}

/* ---- several ranges (RFC 9110, 14.6) --------------------------------------- */

enum { PART_HEAD_BYTES = 200 }; /* of the texts around a type in a part's head */

/* Write the two texts of a part's head, between which is the type. Returns their bytes. */
static int part_head(const struct sending *sending, const struct ed_byte_range *range,
                     char before[PART_HEAD_BYTES], char after[PART_HEAD_BYTES])
{
        return snprintf(before, PART_HEAD_BYTES, "\r\n--%s\r\n%s", sending->boundary,
                        sending->type ? "Content-Type: " : "") +
               snprintf(after, PART_HEAD_BYTES,
                        "%sContent-Range: bytes %" PRId64 "-%" PRId64 "/%" PRId64 "\r\n\r\n",
                        sending->type ? "\r\n" : "", range->first, range->last,
                        sending->content->bytes);
}

static int part_write(struct sending *sending, const struct ed_byte_range *range)
{
        char before[PART_HEAD_BYTES], after[PART_HEAD_BYTES];
        int err;

        (void) part_head(sending, range, before, after);
        err = eddy_http_exchange_write(sending->exchange, before, strlen(before));
        if (err == 0 && sending->type)
                err = eddy_http_exchange_write(sending->exchange, sending->type,
                                               strlen(sending->type));
        if (err == 0)
                err = eddy_http_exchange_write(sending->exchange, after, strlen(after));
        return err < 0 ? err
                       : range_write(
                                 sending, range,
                                 piece_read(sending, range->first, range->last - range->first + 1));
}

static void make_boundary(struct sending *sending)
{
        unsigned char random[BOUNDARY_BYTES / 2];
        struct ed_sys *sys = ed_loop_current->sys;

        sys->poll->random(sys, random, sizeof(random));
        for (size_t i = 0; i < sizeof(random); i++)
                snprintf(sending->boundary + 2 * i, 3, "%02x", random[i]);
}

/* The type of the whole takes the place of the content's. */
static void replace_type(struct sending *sending)
{
        size_t n = 0;

        for (size_t i = 0; i < sending->headers_count; i++)
                if (!has_name(&sending->headers[i], "Content-Type"))
                        sending->headers[n++] = sending->headers[i];
        sending->headers_count = n;
        snprintf(sending->text_room, RANGE_BYTES, "multipart/byteranges; boundary=%s",
                 sending->boundary);
        put(sending, "Content-Type", sending->text_room);
}

/* Returns false if the type cannot be in the head of a part; as a header of the answer it is refused. */
static bool type_is_valid(const struct sending *sending)
{
        return !sending->type || eddy_http_is_value(sending->type, strlen(sending->type));
}

static int respond_parts(struct sending *sending)
{
        char before[PART_HEAD_BYTES], after[PART_HEAD_BYTES], end[BOUNDARY_BYTES + 9];
        int64_t bytes;
        int err;

        make_boundary(sending);
        replace_type(sending);
        bytes = snprintf(end, sizeof(end), "\r\n--%s--\r\n", sending->boundary);
        for (int i = 0; i < sending->count; i++)
                bytes += part_head(sending, &sending->ranges[i], before, after) +
                         (int64_t) (sending->type ? strlen(sending->type) : 0) +
                         sending->ranges[i].last - sending->ranges[i].first + 1;
        err = eddy_http_exchange_begin(sending->exchange, 206, sending->headers,
                                       sending->headers_count, bytes);
        for (int i = 0; i < sending->count && err == 0; i++)
                err = part_write(sending, &sending->ranges[i]);
        if (err == 0)
                err = eddy_http_exchange_write(sending->exchange, end, strlen(end));
        return err < 0 ? err : eddy_http_exchange_end(sending->exchange);
}

/* ---- all answers ----------------------------------------------------------- */

/* Copy the content's headers, and find those that count. Returns true if the answer may be conditional. */
static bool take_headers(struct sending *sending)
{
        const struct ed_http_content *content = sending->content;
        bool may_be = true;

        sending->is_ranged = true;
        for (size_t i = 0; i < content->headers_count; i++) {
                const struct eddy_http_header *header = &content->headers[i];

                sending->headers[sending->headers_count++] = *header;
                if (has_name(header, "Content-Type"))
                        sending->type = header->value;
                else if (has_name(header, "ETag"))
                        sending->tag = header->value;
                else if (has_name(header, "Last-Modified"))
                        sending->modified = header->value;
                else if (has_name(header, "Content-Range"))
                        may_be = false;
                else if (has_name(header, "Accept-Ranges")) {
                        sending->has_accept = true;
                        sending->is_ranged =
                                header->value && strcasecmp(header->value, "none") != 0;
                }
        }
        return may_be;
}

static int answer(struct sending *sending, int status)
{
        bool may_be = take_headers(sending);

        if (status == 200 && may_be && ed_http_exchange_is_get_or_head(sending->exchange))
                status = judge(sending);
        else
                return respond_whole(sending, status);
        switch (status) {
        case 304:
                return respond_not_modified(sending);
        case 412:
                return ed_http_problem_respond(sending->exchange, 412, NULL);
        case 416:
                return respond_not_satisfiable(sending);
        default:
                return sending->count > 1 && type_is_valid(sending)
                               ? respond_parts(sending)
                               : respond_whole(sending, status);
        }
}

int ed_http_content_send(eddy_http_exchange *exchange, int status,
                         const struct ed_http_content *content)
{
        struct sending sending = { .exchange = exchange, .content = content };
        int err;

        sending.headers = ed_alloc((content->headers_count + OWN_HEADERS_MAX) *
                                   sizeof(struct eddy_http_header));
        if (!sending.headers)
                return -ENOMEM;
        err = answer(&sending, status);
        piece_free(&sending);
        ed_free(sending.headers);
        return err;
}
