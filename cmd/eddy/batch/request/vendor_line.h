/*
 * batch/request/vendor_line.h - lines of the batch files of Anthropic and Gemini, which eddy batch
 * sends as single requests. No I/O.
 *
 *   {"custom_id":"a","params":{"model":"m","max_tokens":9,"messages":[...]}}   Anthropic's Message
 *                       Batches; https://platform.claude.com/docs/en/api/messages/batches/create
 *   {"key":"a","request":{"contents":[...]}}   Gemini, on Vertex AI without "key"; "content" in
 *                       requests for embeddings; https://ai.google.dev/gemini-api/docs/batch-api
 */
#ifndef ED_CMD_BATCH_REQUEST_VENDOR_LINE_H
#define ED_CMD_BATCH_REQUEST_VENDOR_LINE_H

#include "eddy/json.h"

enum { ED_VENDOR_MARKS_MAX = 2 };

struct ed_vendor_form {
        const char *vendor;
        const char *files;                      /* the name of its batch files */
        const char *member;                     /* the member that is the body */
        const char *marks[ED_VENDOR_MARKS_MAX]; /* the body has at least one of these; NULL: none */
        const char *id;                         /* the member that is the id; NULL: custom_id */
        const char *path;           /* of the URL; NULL: the line does not determine it */
        const char *url;            /* for messages: the base URL, or the URL if 'path' is NULL */
        const char *header, *value; /* a header that the API requires; NULL: none */
        const char *key_header;     /* of the API key */
};

/* The members of an object that belong to such a form; all zero at first. */
struct ed_vendor_line {
        const struct ed_vendor_form *form; /* of the line; NULL: it has none of these forms */
        const struct ed_vendor_form *half; /* of a body without a mark; NULL: none */
        struct eddy_json_value body, id;   /* 'id' of kind EDDY_JSON_NONE: none */
        const char *twice; /* the name of a member that is there twice; NULL: none */
};

/* Take a member of the object. */
void ed_vendor_line_take(struct ed_vendor_line *line, const struct eddy_json_value *name,
                         const struct eddy_json_value *value);

#endif
