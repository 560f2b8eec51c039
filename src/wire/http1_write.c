/*
 * wire/http1_write.c - writing heads of HTTP/1.1 messages.
 *
 * Each part is checked before it is put into the buffer, and the buffer is restored if a later part
 * is refused, so a caller's string can never end a line early.
 */
#include <errno.h>
#include <string.h>

#include "eddy/error.h"
#include "eddy/http_text.h"
#include "wire/http1_parts.h"

/* Bits of 'seen'. */
enum { WROTE_HOST = 1 << 0, WROTE_LENGTH = 1 << 1, WROTE_CODING = 1 << 2 };

enum { STATUS_DIGITS = 3, NUMBER_DIGITS_MAX = 20 };

static void writer_begin(struct ed_http1_writer *writer, struct ed_buf *buf)
{
        *writer = (struct ed_http1_writer){ .buf = buf, .held = ed_buf_bytes(buf) };
}

static void writer_refuse(struct ed_http1_writer *writer)
{
        if (writer->err == 0)
                writer->err = EDDY_E_HTTP_INVALID_REQUEST;
}

/* Returns room for 'bytes', or NULL after an error. */
static char *writer_room(struct ed_http1_writer *writer, size_t bytes)
{
        char *room = NULL;

        if (writer->err < 0)
                return NULL;
        writer->err = ed_buf_reserve(writer->buf, bytes, &room);
        return writer->err < 0 ? NULL : room;
}

static char *put(char *to, const char *from, size_t bytes)
{
        memcpy(to, from, bytes);
        return to + bytes;
}

#define PUT(to, literal) put(to, literal, sizeof(literal) - 1)

/* Write "METHOD [/]TARGET HTTP/1.1". The caller has checked all parts. */
static void put_request_line(struct ed_http1_writer *writer, const char *method,
                             size_t method_bytes, bool slash_first, const char *target,
                             size_t target_bytes)
{
        size_t bytes = method_bytes + 1 + slash_first + target_bytes + sizeof(" HTTP/1.1\r\n") - 1;
        char *room;

        if (method_bytes > ED_HTTP1_LINE_BYTES_MAX || target_bytes > ED_URL_BYTES_MAX) {
                writer_refuse(writer);
                return;
        }
        room = writer_room(writer, bytes);
        if (!room)
                return;
        room = put(room, method, method_bytes);
        *room++ = ' ';
        if (slash_first)
                *room++ = '/';
        if (target_bytes > 0)
                room = put(room, target, target_bytes);
        PUT(room, " HTTP/1.1\r\n");
        ed_buf_grow(writer->buf, bytes);
}

bool ed_http1_is_target(const char *method, size_t method_bytes, const char *target,
                        size_t target_bytes)
{
        struct ed_url url;

        for (size_t i = 0; i < target_bytes; i++)
                if (!ed_char_is(target[i], ED_CHAR_TARGET))
                        return false;
        return ed_http1_target_form_of(method, method_bytes, target, target_bytes, &url) >= 0;
}

void ed_http1_write_request(struct ed_http1_writer *writer, struct ed_buf *buf, const char *method,
                            size_t method_bytes, const char *target, size_t target_bytes)
{
        writer_begin(writer, buf);
        if (!eddy_http_is_token(method, method_bytes) ||
            !ed_http1_is_target(method, method_bytes, target, target_bytes))
                writer_refuse(writer);
        put_request_line(writer, method, method_bytes, false, target, target_bytes);
}

void ed_http1_write_request_to(struct ed_http1_writer *writer, struct ed_buf *buf,
                               const char *method, size_t method_bytes, const struct ed_url *url)
{
        char host[ED_URL_AUTHORITY_ROOM];

        writer_begin(writer, buf);
        /* The URL parser has checked the target and the host; CONNECT has no origin form. */
        if (!eddy_http_is_token(method, method_bytes) || url->host_kind == ED_URL_NAME_IDN ||
            ed_http1_answers_to(method, method_bytes) == ED_HTTP1_TO_CONNECT)
                writer_refuse(writer);
        put_request_line(writer, method, method_bytes, url->slash_first, url->target,
                         url->target_bytes);
        writer->seen |= WROTE_HOST;
        ed_http1_put_field(writer, "Host", 4, host, ed_url_authority(url, host));
}

void ed_http1_write_response(struct ed_http1_writer *writer, struct ed_buf *buf, int status,
                             const char *reason, size_t reason_bytes)
{
        size_t bytes;
        char *room;

        writer_begin(writer, buf);
        writer->is_response = true;
        if (status < 100 || status > 999 || reason_bytes > ED_HTTP1_LINE_BYTES_MAX ||
            (reason && !eddy_http_is_value(reason, reason_bytes))) {
                writer_refuse(writer);
                return;
        }
        if (!reason) {
                reason = ed_http1_reason(status);
                reason_bytes = strlen(reason);
        }
        writer->status = (uint16_t) status;
        bytes = sizeof("HTTP/1.1 ") - 1 + STATUS_DIGITS + 1 + reason_bytes + 2;
        room = writer_room(writer, bytes);
        if (!room)
                return;
        room = PUT(room, "HTTP/1.1 ");
        *room++ = (char) ('0' + status / 100);
        *room++ = (char) ('0' + status / 10 % 10);
        *room++ = (char) ('0' + status % 10);
        *room++ = ' ';
        room = put(room, reason, reason_bytes);
        PUT(room, "\r\n");
        ed_buf_grow(buf, bytes);
}

/* Returns true for the first Content-Length or Transfer-Encoding, if a body is allowed. */
static bool take_framing(struct ed_http1_writer *writer, uint32_t bit)
{
        bool has_no_body = writer->is_response && (writer->status < 200 || writer->status == 204);

        if (has_no_body || (writer->seen & (WROTE_LENGTH | WROTE_CODING)))
                return false;
        writer->seen |= bit;
        return true;
}

/* Returns true if a field that affects the message is valid and consistent with earlier fields. */
static bool field_fits(struct ed_http1_writer *writer, const char *name, size_t name_bytes,
                       const char *value, size_t value_bytes)
{
        const char *host;
        size_t host_bytes;
        uint64_t length;

        if (ED_TOKEN_IS(name, name_bytes, "content-length"))
                return ed_http1_length_parse(value, value_bytes, &length) &&
                       take_framing(writer, WROTE_LENGTH);
        if (ED_TOKEN_IS(name, name_bytes, "transfer-encoding"))
                return ED_TOKEN_IS(value, value_bytes, "chunked") &&
                       take_framing(writer, WROTE_CODING);
        if (!writer->is_response && ED_TOKEN_IS(name, name_bytes, "host")) {
                if ((writer->seen & WROTE_HOST) ||
                    ed_http1_host_split(value, value_bytes, &host, &host_bytes) < 0)
                        return false;
                writer->seen |= WROTE_HOST;
        }
        return true;
}

static bool is_space(char c)
{
        return c == ' ' || c == '\t';
}

void ed_http1_put_field(struct ed_http1_writer *writer, const char *name, size_t name_bytes,
                        const char *value, size_t value_bytes)
{
        size_t bytes;
        char *room;

        if (__builtin_add_overflow(name_bytes, value_bytes, &bytes) ||
            __builtin_add_overflow(bytes, sizeof(": \r\n") - 1, &bytes)) {
                writer_refuse(writer);
                return;
        }
        room = writer_room(writer, bytes);
        if (!room)
                return;
        room = put(room, name, name_bytes);
        room = PUT(room, ": ");
        if (value_bytes > 0)
                room = put(room, value, value_bytes);
        PUT(room, "\r\n");
        ed_buf_grow(writer->buf, bytes);
}

void ed_http1_write_field(struct ed_http1_writer *writer, const char *name, size_t name_bytes,
                          const char *value, size_t value_bytes)
{
        while (value_bytes > 0 && is_space(*value)) {
                value++;
                value_bytes--;
        }
        while (value_bytes > 0 && is_space(value[value_bytes - 1]))
                value_bytes--;
        if (!eddy_http_is_token(name, name_bytes) || !eddy_http_is_value(value, value_bytes) ||
            !field_fits(writer, name, name_bytes, value, value_bytes)) {
                writer_refuse(writer);
                return;
        }
        ed_http1_put_field(writer, name, name_bytes, value, value_bytes);
}

void ed_http1_write_number(struct ed_http1_writer *writer, const char *name, size_t name_bytes,
                           uint64_t number)
{
        char digits[NUMBER_DIGITS_MAX];
        size_t at = sizeof(digits);

        do {
                digits[--at] = (char) ('0' + number % 10);
                number /= 10;
        } while (number > 0);
        if (name_bytes == 14 && memcmp(name, "Content-Length", 14) == 0 &&
            take_framing(writer, WROTE_LENGTH))
                ed_http1_put_field(writer, name, name_bytes, digits + at, sizeof(digits) - at);
        else
                ed_http1_write_field(writer, name, name_bytes, digits + at, sizeof(digits) - at);
}

int ed_http1_write_end(struct ed_http1_writer *writer)
{
        char *room;

        if (!writer->is_response && !(writer->seen & WROTE_HOST))
                writer_refuse(writer);
        room = writer_room(writer, 2);
        if (!room) {
                writer->buf->end = writer->buf->start + writer->held;
                return writer->err;
        }
        PUT(room, "\r\n");
        ed_buf_grow(writer->buf, 2);
        return 0;
}

size_t ed_http1_chunk_head(char out[ED_HTTP1_CHUNK_HEAD_MAX], uint64_t bytes)
{
        static const char hex[] = "0123456789abcdef";
        unsigned digits = (64 - (unsigned) __builtin_clzll(bytes | 1) + 3) / 4;

        for (unsigned i = 0; i < digits; i++)
                out[i] = hex[bytes >> (4 * (digits - 1 - i)) & 0xF];
        out[digits] = '\r';
        out[digits + 1] = '\n';
        return digits + 2;
}

const char *ed_http1_reason(int status)
{
        static const struct {
                int status;
                const char *reason;
        } reasons[] = {
                { 100, "Continue" },
                { 101, "Switching Protocols" },
                { 103, "Early Hints" },
                { 200, "OK" },
                { 201, "Created" },
                { 202, "Accepted" },
                { 203, "Non-Authoritative Information" },
                { 204, "No Content" },
                { 205, "Reset Content" },
                { 206, "Partial Content" },
                { 300, "Multiple Choices" },
                { 301, "Moved Permanently" },
                { 302, "Found" },
                { 303, "See Other" },
                { 304, "Not Modified" },
                { 307, "Temporary Redirect" },
                { 308, "Permanent Redirect" },
                { 400, "Bad Request" },
                { 401, "Unauthorized" },
                { 402, "Payment Required" },
                { 403, "Forbidden" },
                { 404, "Not Found" },
                { 405, "Method Not Allowed" },
                { 406, "Not Acceptable" },
                { 407, "Proxy Authentication Required" },
                { 408, "Request Timeout" },
                { 409, "Conflict" },
                { 410, "Gone" },
                { 411, "Length Required" },
                { 412, "Precondition Failed" },
                { 413, "Content Too Large" },
                { 414, "URI Too Long" },
                { 415, "Unsupported Media Type" },
                { 416, "Range Not Satisfiable" },
                { 417, "Expectation Failed" },
                { 418, "I'm a Teapot" },
                { 421, "Misdirected Request" },
                { 422, "Unprocessable Content" },
                { 425, "Too Early" },
                { 426, "Upgrade Required" },
                { 428, "Precondition Required" },
                { 429, "Too Many Requests" },
                { 431, "Request Header Fields Too Large" },
                { 451, "Unavailable For Legal Reasons" },
                { 500, "Internal Server Error" },
                { 501, "Not Implemented" },
                { 502, "Bad Gateway" },
                { 503, "Service Unavailable" },
                { 504, "Gateway Timeout" },
                { 505, "HTTP Version Not Supported" },
                { 511, "Network Authentication Required" },
        };

        for (size_t i = 0; i < ed_array_count(reasons); i++)
                if (reasons[i].status == status)
                        return reasons[i].reason;
        return "";
}

/* ---- trailers -------------------------------------------------------------- */

static bool is_trailer(const struct eddy_http_header *trailer)
{
        size_t bytes = trailer->name ? strlen(trailer->name) : 0;

        return eddy_http_is_token(trailer->name, bytes) &&
               !ed_http1_trailer_is_forbidden(trailer->name, bytes) &&
               eddy_http_is_value(trailer->value, strlen(trailer->value));
}

/* Append bytes if they fit. */
static bool add_bytes(char *out, size_t *at, const char *text, size_t bytes)
{
        if (bytes > ED_HTTP1_LAST_CHUNK_ROOM - *at)
                return false;
        memcpy(out + *at, text, bytes);
        *at += bytes;
        return true;
}

int ed_http1_last_chunk(char out[ED_HTTP1_LAST_CHUNK_ROOM], const struct eddy_http_header *trailers,
                        size_t count)
{
        size_t at = 0;
        bool fits = add_bytes(out, &at, "0\r\n", 3);

        for (size_t i = 0; i < count && fits; i++) {
                const struct eddy_http_header *trailer = &trailers[i];

                if (!trailer->value)
                        continue;
                fits = is_trailer(trailer) &&
                       add_bytes(out, &at, trailer->name, strlen(trailer->name)) &&
                       add_bytes(out, &at, ": ", 2) &&
                       add_bytes(out, &at, trailer->value, strlen(trailer->value)) &&
                       add_bytes(out, &at, "\r\n", 2);
        }
        fits = fits && add_bytes(out, &at, "\r\n", 2);
        return fits ? (int) at : EDDY_E_HTTP_INVALID_REQUEST;
}
