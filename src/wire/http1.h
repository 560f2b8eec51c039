/*
 * wire/http1.h - HTTP/1.1 messages (RFC 9112): bytes in, events out.
 *
 * Reading. A message is in the caller's buffer, contiguous from its first byte.
 * ed_http1_head_parse() reads the head. If called again with more bytes, it continues where it
 * stopped, so delivery byte by byte costs no more than delivery at once, and gives the same verdict
 * at the same byte. All results are offsets from the head's first byte: the buffer may move between
 * calls, and the offsets are also valid in a copy of the head. An ed_http1_body then returns the
 * body as spans of the caller's bytes.
 *
 *     ed_http1_response_init(&head, fields, NULL, ED_HTTP1_TO_OTHER);
 *     n = ed_http1_head_parse(&head, data, bytes);      0: read more
 *     err = ed_http1_body_init(&body, &head, body_bytes_max);
 *     n = ed_http1_body_decode(&body, data, bytes, &span, &span_bytes);
 *
 * Writing. An ed_http1_writer appends a head to an ed_buf, and checks each part before appending
 * it. A refused head leaves no bytes in the buffer.
 *
 * ED_HTTP1_FAULTS lists the refused inputs; docs/http_requests.md has examples. If RFC 9112 leaves
 * a choice, the stricter option applies:
 *
 *   - a line ends in CR LF; a bare CR or LF is refused everywhere
 *   - one empty line before a request is skipped, but not before a response
 *   - versions are HTTP/1.0 to HTTP/1.9, in capitals; above 1.1 they are read as 1.1 (RFC 9110,
 *     2.5)
 *   - a second Content-Length is refused in requests; in responses two equal ones count as one; a
 *     list ("5, 5") is refused in both
 *   - Transfer-Encoding other than "chunked", apart from empty list elements, is refused; any
 *     Transfer-Encoding is refused in HTTP/1.0 and together with a Content-Length
 *   - a request has exactly one Host (HTTP/1.0: at most one), which is a host with an optional
 *     port; an absolute target replaces it (RFC 9112, 3.2.2)
 *   - a field that is folded over several lines is refused in requests; in responses spaces replace
 *     the line ends (RFC 9112, 5.2)
 *   - a trailer that RFC 9110, 6.5.1 forbids is refused in requests, and dropped from responses
 *   - chunk extensions follow their grammar, with white space where RFC 9112, 7.1.1 requires
 *     recipients to accept it
 *   - "HTTP/1.1 200" without a space after the status is read as an empty reason, because servers
 *     send it and it is unambiguous
 *
 * Only the writer allocates, through its ed_buf.
 */
#ifndef ED_WIRE_HTTP1_H
#define ED_WIRE_HTTP1_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/def.h"
#include "eddy/http_header.h"
#include "wire/url.h"

/* ---- faults ---------------------------------------------------------------- */

/* name, status of a server's response, text */
#define ED_HTTP1_FAULTS(X)                                                                         \
        X(NONE, 0, "no fault")                                                                     \
        X(METHOD, 400, "the method is not a token")                                                \
        X(TARGET, 400, "the request target is not valid")                                          \
        X(VERSION, 505, "the version is not HTTP/1.1 or another HTTP/1")                           \
        X(STATUS, 400, "the status is not three digits from 100 to 999")                           \
        X(REASON, 400, "a control character in the reason")                                        \
        X(LINE_END, 400, "a line does not end in CR LF")                                           \
        X(FIELD_NAME, 400, "a field's name is empty, not a token, or followed by a space")         \
        X(FIELD_VALUE, 400, "a control character in a field's value")                              \
        X(FOLDED, 400, "a field's line begins with white space")                                   \
        X(LINE_TOO_LONG, 431, "a field line is longer than its limit")                             \
        X(TARGET_TOO_LONG, 414, "the request line is longer than its limit")                       \
        X(HEAD_TOO_LARGE, 431, "the head is larger than its limit")                                \
        X(FIELDS_TOO_MANY, 431, "more fields than the limit")                                      \
        X(LENGTH, 400, "Content-Length is not one plain number")                                   \
        X(LENGTH_TWICE, 400, "Content-Length is given twice")                                      \
        X(LENGTH_AND_CODING, 400, "both Content-Length and Transfer-Encoding")                     \
        X(CODING, 501, "Transfer-Encoding has another coding than chunked")                        \
        X(CODING_NOT_LAST, 400, "the last transfer coding is not chunked")                         \
        X(CODING_TWICE, 400, "chunked is given twice")                                             \
        X(CODING_IN_1_0, 400, "Transfer-Encoding in HTTP/1.0")                                     \
        X(HOST_MISSING, 400, "no Host in an HTTP/1.1 request")                                     \
        X(HOST_TWICE, 400, "Host is given twice")                                                  \
        X(HOST, 400, "Host is not valid")                                                          \
        X(FIELD_TWICE, 400, "a field that may appear once appears twice")                          \
        X(CONNECT_BODY, 400, "a body in a CONNECT request")                                        \
        X(CHUNK_SIZE, 400, "a chunk's size is not a plain hexadecimal number")                     \
        X(CHUNK_TOO_LARGE, 413, "a chunk's size does not fit 63 bits")                             \
        X(CHUNK_EXTENSION, 400, "a chunk's extension is not valid")                                \
        X(CHUNK_EXTENSION_TOO_LONG, 400, "chunk extensions longer than their limit")               \
        X(CHUNK_END, 400, "a chunk's data is not followed by CR LF")                               \
        X(TRAILER, 400, "a trailer field that is forbidden there")                                 \
        X(TRAILERS_TOO_LARGE, 431, "trailers larger than their limit")                             \
        X(BODY_TOO_LARGE, 413, "the body is larger than its limit")                                \
        X(INTERIM_TOO_LARGE, 431, "interim responses are larger than their limit")                 \
        X(UPGRADE, 400, "a switch to a protocol that was not asked for")

enum ed_http1_fault {
#define ED_HTTP1_FAULT_VALUE(name, status, text) ED_HTTP1_FAULT_##name,
        ED_HTTP1_FAULTS(ED_HTTP1_FAULT_VALUE)
#undef ED_HTTP1_FAULT_VALUE
};

/* Returns one sentence without a full stop. Never NULL; valid for ever. */
ED_SHARED const char *ed_http1_fault_text(enum ed_http1_fault fault);

/* Returns the status of a server's response to a request with the fault. */
ED_SHARED int ed_http1_fault_status(enum ed_http1_fault fault);

/* ---- reading heads --------------------------------------------------------- */

enum {
        ED_HTTP1_LINE_BYTES_MAX = 8190,     /* of a start line or field line, without CR LF */
        ED_HTTP1_HEAD_BYTES_MAX = 64 << 10, /* including the empty line that ends the head */
        ED_HTTP1_FIELDS_MAX = 128,
        ED_HTTP1_INTERIM_BYTES_MAX = 64 << 10, /* all 1xx responses before a response */
};

/* Zero selects the defaults above. Limits apply however the bytes arrive. */
struct ed_http1_limits {
        uint32_t line_bytes_max;
        uint32_t head_bytes_max; /* at most 2^31 - 1 */
        uint32_t fields_max;     /* entries of the caller's table */
};

/* A run of bytes: an offset from the head's first byte, and a length. */
struct ed_http1_slice {
        uint32_t at;
        uint32_t bytes;
};

/*
 * The name is followed by ':', the value by white space or CR: in a copy of the head both can be
 * terminated in place by a NUL.
 */
struct ed_http1_field {
        struct ed_http1_slice name;
        struct ed_http1_slice value; /* without surrounding white space; may be empty */
};

/* How the end of a body is found. */
enum ed_http1_framing {
        ED_HTTP1_NO_BODY,
        ED_HTTP1_BY_LENGTH, /* content_length bytes, above 0 */
        ED_HTTP1_CHUNKED,
        ED_HTTP1_BY_CLOSE, /* responses only */
        ED_HTTP1_TUNNEL,   /* the bytes after the head are not HTTP: 101, or 2xx to CONNECT */
};

enum ed_http1_target_form {
        ED_HTTP1_ORIGIN,    /* "/path?query" */
        ED_HTTP1_ABSOLUTE,  /* "http://host/path" */
        ED_HTTP1_AUTHORITY, /* "host:port", with CONNECT only */
        ED_HTTP1_ASTERISK,  /* "*", with OPTIONS only */
};

/* The kind of request that a response answers (RFC 9112, 6.3). */
enum ed_http1_answers {
        ED_HTTP1_TO_OTHER,
        ED_HTTP1_TO_HEAD,
        ED_HTTP1_TO_CONNECT,
};

/* Returns the kind for a method. */
ED_SHARED enum ed_http1_answers ed_http1_answers_to(const char *method, size_t bytes);

struct ed_http1_head {
        /* Results; valid once ed_http1_head_parse() has returned a value above 0. */
        struct ed_http1_slice method; /* of a request */
        struct ed_http1_slice target;
        struct ed_http1_slice reason; /* of a response; may be empty */
        struct ed_http1_slice host;   /* of an absolute target, or Host; 0 bytes: none */
        struct ed_http1_field *fields;
        uint32_t fields_count;
        uint16_t status;       /* of a response, 100 to 999 */
        uint8_t minor;         /* minor version: 0 or 1; higher ones are read as 1 */
        uint8_t target_form;   /* enum ed_http1_target_form */
        uint8_t framing;       /* enum ed_http1_framing */
        bool keep_alive;       /* the connection can be reused after this message */
        bool has_length;       /* Content-Length was present (even without a body) */
        bool expect_continue;  /* Expect: 100-continue, in HTTP/1.1 */
        bool expect_other;     /* any other Expect */
        bool upgrade;          /* Upgrade was present and Connection names it */
        uint32_t keep_alive_s; /* timeout of a response's Keep-Alive; UINT32_MAX: none */
        uint64_t content_length;

        enum ed_http1_fault fault; /* the fault, after an error */

        /* private */
        bool is_response;
        uint8_t answers;
        uint8_t state;
        bool is_open;  /* the next line may continue the last field */
        uint32_t seen; /* fields found, and options of Connection */
        uint32_t at;   /* first byte not yet read */
        uint32_t line; /* start of the line */
        uint32_t part; /* start of the current part of the line */
        uint32_t value_end;
        struct ed_http1_limits limits;
};

/*
 * Begin to read a request. 'fields' has room for limits->fields_max entries (ED_HTTP1_FIELDS_MAX by
 * default); 'limits' NULL: the defaults.
 *
 * Owns: borrows 'fields' as long as the head is used.
 */
ED_SHARED void ed_http1_request_init(struct ed_http1_head *head, struct ed_http1_field *fields,
                                     const struct ed_http1_limits *limits);

/* Begin to read a response to a request of the kind 'answers'. */
ED_SHARED void ed_http1_response_init(struct ed_http1_head *head, struct ed_http1_field *fields,
                                      const struct ed_http1_limits *limits,
                                      enum ed_http1_answers answers);

/*
 * Continue reading. 'data' is the whole message so far, from its first byte, with at least as many
 * bytes as in the last call; its address may differ. Changes in 'data' only the line ends of folded
 * fields of a response, to spaces. Returns the size of the head (the body follows
 * it), or 0 if the head is incomplete.
 *
 * Errors: EDDY_E_HTTP_INVALID_REQUEST or _INVALID_RESPONSE
 *         EDDY_E_HTTP_TOO_LARGE  a limit
 *         'fault' has the details. The head cannot be used then.
 */
ED_SHARED EDDY_MUST_USE int64_t ed_http1_head_parse(struct ed_http1_head *head, char *data,
                                                    size_t bytes);

/*
 * Returns the error for a peer that closes after these bytes, while the head is incomplete. Never
 * returns 0.
 *
 * Errors: EDDY_E_HTTP_CLOSED     no byte of the message had arrived
 *         EDDY_E_HTTP_TRUNCATED  some had
 */
ED_SHARED int ed_http1_head_finish(const struct ed_http1_head *head);

/*
 * Returns the first field of that name, ignoring case, or NULL. 'data' is the head's first byte, or
 * that of a copy.
 */
ED_SHARED const struct ed_http1_field *ed_http1_head_field(const struct ed_http1_head *head,
                                                           const char *data, const char *name);

/* ---- reading bodies -------------------------------------------------------- */

enum {
        ED_HTTP1_EXTENSION_BYTES_MAX = 256,       /* per chunk extension */
        ED_HTTP1_EXTENSIONS_BYTES_MAX = 16 << 10, /* for all extensions of a body */
        ED_HTTP1_TRAILERS_BYTES_MAX = 8190,       /* of the trailer section */
        ED_HTTP1_TRAILERS_MAX = 32,               /* fields in it */
        ED_HTTP1_TRAILER_NAME_KEPT = 24,          /* enough to recognise the forbidden ones */
};

struct ed_http1_body {
        bool done;                 /* the end was read; no more bytes are consumed */
        enum ed_http1_fault fault; /* the fault, after an error */
        uint64_t bytes;            /* body bytes returned so far */
        struct ed_buf
                *trailer_buf; /* set by the caller after init: gets the trailers, each as name,
                                      NUL, value, NUL; NULL: they are dropped */

        /* private */
        bool is_response;
        uint8_t framing;
        uint8_t state;
        uint8_t digits;
        uint8_t name_bytes;
        uint8_t trailers;
        bool trailer_dropped; /* the current one */
        uint32_t extension_bytes;
        uint32_t extensions_bytes;
        uint32_t trailers_bytes;
        uint64_t left; /* rest of the length or of the chunk */
        uint64_t max;
        char name[ED_HTTP1_TRAILER_NAME_KEPT];
};

/*
 * Begin to read the body after a complete head, at most 'bytes_max' bytes. 'done' is set at once if
 * there is no body.
 *
 * Errors: EDDY_E_HTTP_TOO_LARGE  Content-Length is above 'bytes_max'
 */
ED_SHARED EDDY_MUST_USE int ed_http1_body_init(struct ed_http1_body *body,
                                               const struct ed_http1_head *head,
                                               uint64_t bytes_max);

/*
 * Continue reading: takes 'bytes' new bytes and returns how many were processed, more than 0 unless
 * 'bytes' is 0 or the body is done. '*ret_span' is the run of body bytes among them, inside 'data';
 * it may be empty (chunk sizes, trailers). Call again with the rest until it is used up or 'done'.
 * Bytes after the end are not consumed. Trailers are checked; a response's forbidden ones are
 * dropped.
 *
 * Errors: EDDY_E_HTTP_INVALID_REQUEST or _INVALID_RESPONSE, _TOO_LARGE; -ENOMEM for 'trailer_buf'
 */
ED_SHARED EDDY_MUST_USE int64_t ed_http1_body_decode(struct ed_http1_body *body, const char *data,
                                                     size_t bytes, const char **ret_span,
                                                     size_t *ret_span_bytes);

/*
 * Report that the peer closed. This completes a body that ends by close.
 *
 * Errors: EDDY_E_HTTP_TRUNCATED  the body was incomplete
 */
ED_SHARED EDDY_MUST_USE int ed_http1_body_finish(struct ed_http1_body *body);

/* ---- writing --------------------------------------------------------------- */

struct ed_http1_writer {
        struct ed_buf *buf;
        size_t held; /* bytes in the buffer before */
        int err;
        bool is_response;
        uint16_t status;
        uint32_t seen;
};

/*
 * Begin a request, version HTTP/1.1. 'target' is written unchanged and must be one of the four
 * forms, usually "/path?query".
 *
 *     ed_http1_write_request(&w, buf, "GET", 3, "/", 1);
 *     ed_http1_write_field(&w, "Host", 4, host, host_bytes);
 *     err = ed_http1_write_end(&w);
 *
 * Errors are kept in the writer and returned by ed_http1_write_end(); after the first error nothing
 * is written.
 */
ED_SHARED void ed_http1_write_request(struct ed_http1_writer *writer, struct ed_buf *buf,
                                      const char *method, size_t method_bytes, const char *target,
                                      size_t target_bytes);

/* Begin a request with a URL's target in origin form, and write its Host field. */
ED_SHARED void ed_http1_write_request_to(struct ed_http1_writer *writer, struct ed_buf *buf,
                                         const char *method, size_t method_bytes,
                                         const struct ed_url *url);

/* Begin a response, version HTTP/1.1. 'reason' NULL: the standard one. */
ED_SHARED void ed_http1_write_response(struct ed_http1_writer *writer, struct ed_buf *buf,
                                       int status, const char *reason, size_t reason_bytes);

/*
 * Add a field. White space around the value is dropped. Refuses a name that is not a token, control
 * characters other than tabs in the value, a second Host or Content-Length, a Content-Length that
 * is not a number, a Transfer-Encoding other than a single "chunked", both of these together, and
 * either of them in a 1xx or 204 response.
 */
ED_SHARED void ed_http1_write_field(struct ed_http1_writer *writer, const char *name,
                                    size_t name_bytes, const char *value, size_t value_bytes);

/* Add a field that the caller has checked: its texts, and what it says of the message. */
ED_SHARED void ed_http1_put_field(struct ed_http1_writer *writer, const char *name,
                                  size_t name_bytes, const char *value, size_t value_bytes);

/* Add a field with a number as value: Content-Length. */
ED_SHARED void ed_http1_write_number(struct ed_http1_writer *writer, const char *name,
                                     size_t name_bytes, uint64_t number);

/*
 * Add the empty line that ends the head. On failure the buffer is restored.
 *
 * Errors: EDDY_E_HTTP_INVALID_REQUEST  forbidden by HTTP, or a request without
 *                                      Host
 *         -EMSGSIZE                    above the buffer's maximum
 *         -ENOMEM
 */
ED_SHARED EDDY_MUST_USE int ed_http1_write_end(struct ed_http1_writer *writer);

/* Returns the standard reason of a status ("OK"), or "". Never NULL; valid for ever. */
ED_SHARED const char *ed_http1_reason(int status);

enum { ED_HTTP1_CHUNK_HEAD_MAX = 18 };

/*
 * Write the size line of a chunk of 'bytes' (above 0) bytes and return the line's length. Write
 * "\r\n" after the chunk's data, and ED_HTTP1_LAST_CHUNK after the last chunk.
 */
ED_SHARED size_t ed_http1_chunk_head(char out[ED_HTTP1_CHUNK_HEAD_MAX], uint64_t bytes);

#define ED_HTTP1_LAST_CHUNK "0\r\n\r\n"

/* Returns true if RFC 9110, 6.5.1 forbids trailers of this name. */
ED_SHARED bool ed_http1_trailer_is_forbidden(const char *name, size_t bytes);

enum { ED_HTTP1_LAST_CHUNK_ROOM = ED_HTTP1_TRAILERS_BYTES_MAX + 3 };

/*
 * Write the last chunk with trailers, without those whose value is NULL, and return their length.
 *
 * Errors: EDDY_E_HTTP_INVALID_REQUEST  a name or a value that cannot be sent, or too many bytes
 */
EDDY_MUST_USE ED_SHARED int ed_http1_last_chunk(char out[ED_HTTP1_LAST_CHUNK_ROOM],
                                                const struct eddy_http_header *trailers,
                                                size_t count);

/* Returns true if the text is a valid value of Host. */
ED_SHARED bool ed_http1_is_host(const char *text, size_t bytes);

/* Returns true if two names are equal, ignoring case. */
ED_SHARED bool ed_http1_same_name(const char *a, size_t a_bytes, const char *b, size_t b_bytes);

/*
 * Returns true if a field's value, a comma-separated list ("Connection: close, te"), contains a
 * token, ignoring case.
 */
ED_SHARED bool ed_http1_list_has(const char *value, size_t bytes, const char *token);

#endif
