/*
 * batch/request/request.h - reads a line of the input as a request: a line in, a request or a
 * sentence about a fault out; no I/O.
 *
 * The forms of a line:
 *
 *   {"custom_id":"a","method":"POST","url":"/v1/embeddings","body":{...}}   OpenAI's batch files;
 *                       also with "headers", "metadata", "timeout" (seconds), and any method and
 *                       absolute URL. With a body, other members are ignored, unless they are
 *                       misspelt
 *   {"custom_id":"a","url":"/v1/audio/transcriptions","form":{...},"files":{...}}
 *                       a form with files in place of "body" (upload.h)
 *   {"model":"m","input":"..."}       a bare body, with --url: an object with other members that
 *                       has not both "url" and one of "body" and "method". Its "custom_id" is the
 *                       id, and is not sent
 *   {"method":"GET","url":"http://...","header":{"A":["b"]},"body":"base64"}   vegeta's targets;
 *                       the member "header" distinguishes them
 *   {"text":"..."}      with --body and --url, or with a --url that has {{name}}: the fields of the
 *                       templates, and "custom_id"; without --url, "url", "method", "headers",
 *                       "metadata" and "timeout" count too
 *   {"custom_id":"a","params":{...}}, {"key":"a","request":{...}}   Anthropic's and Gemini's batch
 *                       files (vendor_line.h); also with "headers", "metadata" and "timeout"
 *   https://host/path   a URL, or a path that begins with '/'
 *   a,b,c               a row of CSV (RFC 4180), whose first row names the columns; with --url and
 *                       a template of the URL, the body or a header. The column "custom_id", or
 *                       that of --id-column, is the id
 *
 * Without --body, templates make requests without a body. A template of a header takes the members of
 * any object. A body is sent as it is in the line. A member that is null is treated as absent.
 */
#ifndef ED_CMD_BATCH_REQUEST_REQUEST_H
#define ED_CMD_BATCH_REQUEST_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/request/templates.h"
#include "batch/request/vendor_line.h"
#include "eddy/def.h"
#include "eddy/http_multipart.h"
#include "eddy/http_response.h"

enum {
        ED_REQUEST_ID_BYTES_MAX = 512,
        ED_REQUEST_HEADERS_MAX = 64,
        ED_REQUEST_ERROR_BYTES = ED_FAULT_BYTES,
};

/* A result of ed_request_read(). */
enum { ED_REQUEST_EMPTY = 2 };

/* The options for all lines. All zero: only lines that need no option are requests. */
struct ed_request_rules {
        const char *method;               /* for lines without a method; NULL: POST with a body,
                                             else GET */
        const char *url;                  /* --url: of lines that are bare bodies; NULL: none */
        struct ed_templates templates;    /* borrowed */
        const struct ed_columns *columns; /* of CSV; NULL: lines are not CSV */
        const char *id_column;            /* of CSV; NULL: custom_id */
        bool skip_empty; /* lines whose fields are all empty are ED_REQUEST_EMPTY */
};

/* A request, in a single allocation with all texts, which end in NUL. */
struct ed_request {
        const char *id; /* custom_id, or "line-N" */
        size_t id_bytes;
        const char *method;
        const char *url;  /* absolute, or a path that begins with '/' */
        const char *body; /* NULL: none */
        size_t body_bytes;
        struct eddy_http_part *parts; /* of a form with files, which is sent as the body */
        size_t parts_count;           /* 0: none */
        struct eddy_http_header *headers;
        size_t headers_count;
        const struct ed_vendor_form *vendor; /* of the line; NULL: none */
        const char *metadata;                /* JSON text, or NULL */
        size_t metadata_bytes;
        size_t memory;      /* bytes of the allocation */
        int64_t timeout_ns; /* 0: that of the run */
        uint64_t number;    /* of the line, from 1 */
        uint64_t hash;      /* of method, URL, headers and body, or the form and the paths of its
                                 files; the white space between JSON tokens does not count */
        uint64_t output_tokens_max; /* max_tokens, max_completion_tokens or max_output_tokens of
                                       the body, times its "n"; 0: not given */
        uint64_t choices;           /* that an answer has at least, by "n" and "prompt" */
        bool generates;             /* the body asks for text: it has messages, a prompt ... */
        bool streams;      /* the answer may be a stream: the body has "stream": true, or the
                                       URL says so */
        bool is_url;       /* a URL without anything else */
        bool is_empty;     /* of ED_REQUEST_EMPTY */
        bool lacks_id;     /* the line has no custom_id, so that 'id' is "line-N" */
        bool has_empty_id; /* the column of the id is there, and empty in this row */
        bool body_is_json; /* false: bytes of vegeta's base64, or none */
};

/*
 * Read a line without its line feed. Returns 1 and a request (owned), 0 for a line to skip (blank, a
 * row of empty fields, or a comment in a list of URLs), or an error. Returns ED_REQUEST_EMPTY for a line that is left out,
 * because all fields that the templates use are empty; '*ret_request' (owned) has only 'id',
 * 'id_bytes', 'number' and 'is_empty'.
 *
 * Errors: -EINVAL  'error' is a sentence about the fault and its remedy; if the line has a
 *                  custom_id, '*ret_request' is a request (owned) with only 'id', 'id_bytes' and
 *                  'number' set, else NULL
 *         -ENOMEM
 */
EDDY_MUST_USE int ed_request_read(const struct ed_request_rules *rules, const char *line,
                                  size_t bytes, uint64_t number, struct ed_request **ret_request,
                                  char error[ED_REQUEST_ERROR_BYTES]);

/*
 * Find the id of a line without reading the rest of the line, if the line begins with
 * {"custom_id":"..."} without escapes, as most lines do. Returns false for other lines.
 */
bool ed_request_peek_id(const char *line, size_t bytes, const char **ret_id, size_t *ret_bytes);

void ed_request_free(struct ed_request *request);

/* Returns a number that depends only on the id and the request, to recognise a repetition. */
uint64_t ed_request_key(const struct ed_request *request);

#endif
