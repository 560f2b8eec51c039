/*
 * wire/http1_body.c - reading bodies of HTTP/1.1 messages.
 *
 * A call stops after each run of body bytes, so the bytes returned before an error do not depend on
 * how the input was split.
 */
#include <string.h>

#include "base/hex.h"
#include "eddy/error.h"
#include "wire/http1_parts.h"

enum body_state {
        IN_LENGTH,
        IN_CLOSE,
        IN_SIZE,
        BEFORE_EXTENSION, /* expects ';', after white space */
        AT_EXTENSION,
        IN_EXTENSION_NAME,
        AFTER_EXTENSION_NAME, /* expects ';' or '=' */
        AT_EXTENSION_VALUE,
        IN_EXTENSION_VALUE,
        IN_QUOTED_VALUE,
        IN_ESCAPE,
        AFTER_QUOTED_VALUE,
        AFTER_SIZE, /* expects LF */
        IN_DATA,
        AFTER_DATA,    /* expects CR */
        AFTER_DATA_CR, /* expects LF */
        AT_TRAILER,
        IN_TRAILER_NAME,
        BEFORE_TRAILER_VALUE,
        IN_TRAILER_VALUE,
        AFTER_TRAILER, /* expects LF */
        AT_BODY_END,   /* expects the last LF */
        BODY_DONE,
        BODY_FAILED,
};

enum { CHUNK_DIGITS_MAX = 16 };

/*
 * RFC 9110, 6.5.1: trailers must not contain fields that frame, route, authenticate or change the
 * meaning of a message.
 */
static const struct {
        const char *name;
        size_t bytes;
} trailers_forbidden[] = {
#define FORBIDDEN(name)                                                                            \
        {                                                                                          \
                name, sizeof(name) - 1                                                             \
        }
        FORBIDDEN("authorization"),
        FORBIDDEN("cache-control"),
        FORBIDDEN("connection"),
        FORBIDDEN("content-range"),
        FORBIDDEN("content-encoding"),
        FORBIDDEN("content-length"),
        FORBIDDEN("content-type"),
        FORBIDDEN("cookie"),
        FORBIDDEN("expect"),
        FORBIDDEN("host"),
        FORBIDDEN("keep-alive"),
        FORBIDDEN("max-forwards"),
        FORBIDDEN("set-cookie"),
        FORBIDDEN("proxy-authorization"),
        FORBIDDEN("te"),
        FORBIDDEN("trailer"),
        FORBIDDEN("transfer-encoding"),
        FORBIDDEN("upgrade"),
#undef FORBIDDEN
};

static int body_fail(struct ed_http1_body *body, enum ed_http1_fault fault)
{
        body->fault = fault;
        body->state = BODY_FAILED;
        return ed_http1_fault_error(fault, body->is_response);
}

int ed_http1_body_init(struct ed_http1_body *body, const struct ed_http1_head *head,
                       uint64_t bytes_max)
{
        *body = (struct ed_http1_body){
                .is_response = head->is_response,
                .framing = head->framing,
                .max = bytes_max,
        };
        if (head->framing == ED_HTTP1_BY_LENGTH && head->content_length > bytes_max)
                return body_fail(body, ED_HTTP1_FAULT_BODY_TOO_LARGE);
        switch ((enum ed_http1_framing) head->framing) {
        case ED_HTTP1_BY_LENGTH:
                body->state = IN_LENGTH;
                body->left = head->content_length;
                break;
        case ED_HTTP1_CHUNKED:
                body->state = IN_SIZE;
                break;
        case ED_HTTP1_BY_CLOSE:
                body->state = IN_CLOSE;
                break;
        case ED_HTTP1_NO_BODY:
        case ED_HTTP1_TUNNEL:
                body->state = BODY_DONE;
                body->done = true;
                break;
        }
        return 0;
}

/* Read one byte of a chunk's size, or the byte after it. */
static int take_size(struct ed_http1_body *body, char c)
{
        int digit = ed_hex_digit(c);

        if (digit >= 0) {
                /*
                 * Leading zeros count too; otherwise the length of a size line would be unlimited.
                 */
                if (body->digits == CHUNK_DIGITS_MAX || body->left > (uint64_t) INT64_MAX >> 4)
                        return body_fail(body, ED_HTTP1_FAULT_CHUNK_TOO_LARGE);
                body->left = body->left << 4 | (unsigned) digit;
                body->digits++;
                return 0;
        }
        if (body->digits == 0 || (c != '\r' && c != ';' && c != ' ' && c != '\t'))
                return body_fail(body, c == '\n' && body->digits > 0 ? ED_HTTP1_FAULT_LINE_END
                                                                     : ED_HTTP1_FAULT_CHUNK_SIZE);
        if (body->left > body->max - body->bytes)
                return body_fail(body, ED_HTTP1_FAULT_BODY_TOO_LARGE);
        body->digits = 0;
        body->extension_bytes = 0;
        body->state = c == '\r' ? AFTER_SIZE : c == ';' ? AT_EXTENSION : BEFORE_EXTENSION;
        return 0;
}

/*
 * RFC 9112, 7.1.1: *( BWS ";" BWS name [ BWS "=" BWS ( token / quoted-string ) ] ). Returns the
 * state after 'c', or BODY_FAILED.
 */
static enum body_state extension_next(enum body_state state, char c)
{
        bool is_blank = c == ' ' || c == '\t', is_token = ed_char_is(c, ED_CHAR_TOKEN);

        switch (state) {
        case AT_EXTENSION:
                return is_blank ? state : is_token ? IN_EXTENSION_NAME : BODY_FAILED;
        case AT_EXTENSION_VALUE:
                if (c == '"')
                        return IN_QUOTED_VALUE;
                return is_blank ? state : is_token ? IN_EXTENSION_VALUE : BODY_FAILED;
        case IN_QUOTED_VALUE:
                if (c == '"' || c == '\\')
                        return c == '"' ? AFTER_QUOTED_VALUE : IN_ESCAPE;
                return ed_char_is(c, ED_CHAR_VALUE) ? state : BODY_FAILED;
        case IN_ESCAPE:
                return ed_char_is(c, ED_CHAR_VALUE) ? IN_QUOTED_VALUE : BODY_FAILED;
        case IN_EXTENSION_NAME:
        case IN_EXTENSION_VALUE:
                if (is_token)
                        return state;
                break;
        default:
                break;
        }
        /* After a name or a value. */
        if (c == ';')
                return AT_EXTENSION;
        if (state == IN_EXTENSION_NAME || state == AFTER_EXTENSION_NAME) {
                if (c == '=')
                        return AT_EXTENSION_VALUE;
                if (is_blank)
                        return AFTER_EXTENSION_NAME;
        }
        if (is_blank)
                return BEFORE_EXTENSION;
        /* White space must not end the extension. */
        return c == '\r' && state != BEFORE_EXTENSION && state != AFTER_EXTENSION_NAME
                       ? AFTER_SIZE
                       : BODY_FAILED;
}

static int take_extension(struct ed_http1_body *body, char c)
{
        enum body_state next = extension_next((enum body_state) body->state, c);

        if (next == BODY_FAILED)
                return body_fail(body, ED_HTTP1_FAULT_CHUNK_EXTENSION);
        body->state = (uint8_t) next;
        if (next == AFTER_SIZE)
                return 0;
        if (++body->extension_bytes > ED_HTTP1_EXTENSION_BYTES_MAX ||
            ++body->extensions_bytes > ED_HTTP1_EXTENSIONS_BYTES_MAX)
                return body_fail(body, ED_HTTP1_FAULT_CHUNK_EXTENSION_TOO_LONG);
        return 0;
}

bool ed_http1_trailer_is_forbidden(const char *name, size_t bytes)
{
        for (size_t i = 0; i < ed_array_count(trailers_forbidden); i++)
                if (ed_token_is(name, bytes, trailers_forbidden[i].name,
                                trailers_forbidden[i].bytes))
                        return true;
        return false;
}

/* Returns where the bytes of the current trailer go; NULL: nowhere. */
static struct ed_buf *trailer_out(const struct ed_http1_body *body)
{
        return body->trailer_dropped ? NULL : body->trailer_buf;
}

/* Append one byte to the trailers that the caller wants, if any. */
static int trailer_keep(struct ed_http1_body *body, char c)
{
        struct ed_buf *out = trailer_out(body);

        return out ? ed_buf_append(out, &c, 1) : 0;
}

static bool is_blank(char c)
{
        return c == ' ' || c == '\t';
}

/* End a trailer's value: without the white space after it. */
static int trailer_end(struct ed_http1_body *body)
{
        struct ed_buf *out = trailer_out(body);

        while (out && is_blank(ed_buf_data(out)[ed_buf_bytes(out) - 1]))
                ed_buf_drop(out, 1);
        return trailer_keep(body, '\0');
}

/*
 * Continue the last trailer, whose value has ended with a NUL: a line begins with white space. A
 * space replaces the line end (RFC 9112, 5.2).
 */
static int trailer_continue(struct ed_http1_body *body)
{
        struct ed_buf *out = trailer_out(body);

        body->state = BEFORE_TRAILER_VALUE;
        if (!out)
                return 0;
        ed_buf_drop(out, 1);
        /* Otherwise the value is empty, and this is the NUL of the name. */
        return ed_buf_data(out)[ed_buf_bytes(out) - 1] != '\0' ? trailer_keep(body, ' ') : 0;
}

/*
 * A trailer's name is complete. A forbidden one is dropped from a response (RFC 9112, 7.1.2): some
 * servers send it, and none of its effects are wanted. In a request it may be an attack.
 */
static int trailer_named(struct ed_http1_body *body)
{
        body->state = BEFORE_TRAILER_VALUE;
        if (ed_http1_trailer_is_forbidden(body->name, body->name_bytes)) {
                if (!body->is_response)
                        return body_fail(body, ED_HTTP1_FAULT_TRAILER);
                if (body->trailer_buf)
                        ed_buf_drop(body->trailer_buf, body->name_bytes);
                body->trailer_dropped = true;
        }
        return trailer_keep(body, '\0');
}

/* Read one byte of a trailer's name, or the first byte of a trailer or of the empty line. */
static int take_trailer_name(struct ed_http1_body *body, char c)
{
        if (body->state == AT_TRAILER) {
                if (c == '\r') {
                        body->state = AT_BODY_END;
                        return 0;
                }
                if (is_blank(c) && body->is_response && body->trailers > 0)
                        return trailer_continue(body);
                if (is_blank(c))
                        return body_fail(body, ED_HTTP1_FAULT_FOLDED);
                if (c == '\n')
                        return body_fail(body, ED_HTTP1_FAULT_LINE_END);
                if (body->trailers++ == ED_HTTP1_TRAILERS_MAX)
                        return body_fail(body, ED_HTTP1_FAULT_TRAILERS_TOO_LARGE);
                body->name_bytes = 0;
                body->trailer_dropped = false;
                body->state = IN_TRAILER_NAME;
        }
        if (ed_char_is(c, ED_CHAR_TOKEN)) {
                /* A longer name is not in the table: its recorded length stays at the maximum. */
                if (body->name_bytes < sizeof(body->name))
                        body->name[body->name_bytes++] = c;
                return trailer_keep(body, c);
        }
        if (c != ':' || body->name_bytes == 0)
                return body_fail(body, ED_HTTP1_FAULT_FIELD_NAME);
        return trailer_named(body);
}

static int take_trailer_value(struct ed_http1_body *body, char c)
{
        if (c == '\r') {
                body->state = AFTER_TRAILER;
                return trailer_end(body);
        }
        if (body->state == BEFORE_TRAILER_VALUE && is_blank(c))
                return 0;
        body->state = IN_TRAILER_VALUE;
        if (!ed_char_is(c, ED_CHAR_VALUE))
                return body_fail(body,
                                 c == '\n' ? ED_HTTP1_FAULT_LINE_END : ED_HTTP1_FAULT_FIELD_VALUE);
        return trailer_keep(body, c);
}

static int take_due(struct ed_http1_body *body, char c, char due, enum body_state next,
                    enum ed_http1_fault fault)
{
        if (c != due)
                return body_fail(body, fault);
        body->state = (uint8_t) next;
        return 0;
}

/* Read one byte that is not part of the body itself. */
static int take_control(struct ed_http1_body *body, char c)
{
        enum body_state state = (enum body_state) body->state;

        if (state >= AT_TRAILER && ++body->trailers_bytes > ED_HTTP1_TRAILERS_BYTES_MAX)
                return body_fail(body, ED_HTTP1_FAULT_TRAILERS_TOO_LARGE);
        switch (state) {
        case IN_SIZE:
                return take_size(body, c);
        case BEFORE_EXTENSION:
        case AT_EXTENSION:
        case IN_EXTENSION_NAME:
        case AFTER_EXTENSION_NAME:
        case AT_EXTENSION_VALUE:
        case IN_EXTENSION_VALUE:
        case IN_QUOTED_VALUE:
        case IN_ESCAPE:
        case AFTER_QUOTED_VALUE:
                return take_extension(body, c);
        case AFTER_SIZE:
                return take_due(body, c, '\n', body->left > 0 ? IN_DATA : AT_TRAILER,
                                ED_HTTP1_FAULT_LINE_END);
        case AFTER_DATA:
                return take_due(body, c, '\r', AFTER_DATA_CR, ED_HTTP1_FAULT_CHUNK_END);
        case AFTER_DATA_CR:
                return take_due(body, c, '\n', IN_SIZE, ED_HTTP1_FAULT_CHUNK_END);
        case AT_TRAILER:
        case IN_TRAILER_NAME:
                return take_trailer_name(body, c);
        case BEFORE_TRAILER_VALUE:
        case IN_TRAILER_VALUE:
                return take_trailer_value(body, c);
        case AFTER_TRAILER:
                return take_due(body, c, '\n', AT_TRAILER, ED_HTTP1_FAULT_LINE_END);
        case AT_BODY_END:
                body->done = c == '\n';
                return take_due(body, c, '\n', BODY_DONE, ED_HTTP1_FAULT_LINE_END);
        default:
                ed_broken("a body's reader is in a state that has no control bytes");
        }
}

/* Take a run of body bytes; the framing decides where it ends. */
static size_t take_data(struct ed_http1_body *body, size_t bytes)
{
        uint64_t most = body->state == IN_CLOSE ? body->max - body->bytes : body->left;

        if (bytes > most)
                bytes = (size_t) most;
        body->bytes += bytes;
        if (body->state == IN_CLOSE)
                return bytes;
        body->left -= bytes;
        if (body->left == 0) {
                body->done = body->state == IN_LENGTH;
                body->state = body->done ? BODY_DONE : AFTER_DATA;
        }
        return bytes;
}

static bool body_is_in_data(const struct ed_http1_body *body)
{
        return body->state == IN_LENGTH || body->state == IN_CLOSE || body->state == IN_DATA;
}

int64_t ed_http1_body_decode(struct ed_http1_body *body, const char *data, size_t bytes,
                             const char **ret_span, size_t *ret_span_bytes)
{
        size_t at = 0;
        size_t span = 0;
        int err;

        if (body->state == BODY_FAILED)
                return body_fail(body, body->fault);
        while (at < bytes && !body->done && !body_is_in_data(body)) {
                err = take_control(body, data[at]);
                if (err < 0)
                        return err;
                at++;
        }
        if (at < bytes && !body->done) {
                span = take_data(body, bytes - at);
                if (span == 0)
                        return body_fail(body, ED_HTTP1_FAULT_BODY_TOO_LARGE);
        }
        *ret_span = data + at;
        *ret_span_bytes = span;
        return (int64_t) (at + span);
}

int ed_http1_body_finish(struct ed_http1_body *body)
{
        if (body->state == IN_CLOSE) {
                body->state = BODY_DONE;
                body->done = true;
        }
        return body->done ? 0 : EDDY_E_HTTP_TRUNCATED;
}
