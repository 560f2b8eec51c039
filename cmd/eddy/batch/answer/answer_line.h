/*
 * batch/answer/answer_line.h - writes a line of the output in the format of OpenAI's batch files,
 * and reads it again: on resuming, and in `eddy retry`, `eddy report` and `eddy sort`. No I/O.
 *
 *     {"id":"batch_req_...","custom_id":"a","response":{"status_code":200,"request_id":"req_1",
 *      "body":{...}},"error":null,"x_meta":{...}}
 *
 * An answer of a server is in "response", whatever its status is; "error" is for requests without
 * an answer, and for answers with a status of success that are not successes. "x_meta" extends the
 * format; --no-meta leaves it out for strict readers. These are its members, in order. Members in
 * brackets are present only if known:
 *
 *     ["input_line":7] ["shard":"3/64 of 1000 bytes"] ["input_hash":"0123456789abcdef"] "attempts":1
 *     ["endpoint":"http://h:80"] ["redirect":"https://h/p"] ["completed_at_ms":1700000000000]
 *     "t_queue_ms":0.1 ["t_first_ms":1.5] "t_total_ms":2.0 ["input_tokens":5,"output_tokens":6]
 *     ["final":true] ["metadata":{...}]
 *
 * A failure has "final": whether all attempts were made, or another one cannot help.
 */
#ifndef ED_CMD_BATCH_ANSWER_ANSWER_LINE_H
#define ED_CMD_BATCH_ANSWER_ANSWER_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/answer/usage.h"
#include "common/draft.h"
#include "eddy/def.h"
#include "eddy/json.h"

struct ed_request;

/* The contents of a line. Texts are borrowed. */
struct ed_answer {
        const struct ed_request *request; /* whose secrets no message shows; NULL: none */
        const char *id;                   /* custom_id */
        size_t id_bytes;
        uint64_t number;        /* the line's, from 1; 0: unknown */
        const char *shard;      /* of the input, and its size; NULL or empty: none */
        uint64_t hash;          /* of the request: "input_hash", 16 hexadecimal digits */
        int status;             /* 0: no answer */
        const char *request_id; /* of the header x-request-id; NULL or empty: one is made */
        const void *body;
        size_t body_bytes;
        const char *file;      /* the file that has the body instead of the line; NULL: none */
        const char *file_type; /* its Content-Type; NULL: none */
        bool is_compact;       /* the body comes from ed_answer_body_compact() */
        const char *code;      /* of the error; NULL: none */
        const char *message;
        const char *metadata; /* of the request, JSON; NULL: none */
        size_t metadata_bytes;
        const char *endpoint; /* "http://host:port", without credentials; NULL: none */
        const char *redirect; /* the URL to which the answer redirects; NULL: none */
        unsigned attempts;
        size_t rows;           /* that the request had; 0: 1 */
        int64_t at_ms;         /* when the answer was complete: milliseconds since 1970 */
        int64_t queue_ns;      /* from reading the line to the start of the last attempt */
        int64_t first_ns;      /* of the last attempt: to the first byte, or the first token of a
                                stream; -1: none */
        int64_t total_ns;      /* of the last attempt */
        struct ed_usage usage; /* of the body; set by ed_answer_write() */
        bool has_failed;       /* it is not a success */
        bool is_final;         /* of a failure: sending the request again would not help */
};

enum { ED_ANSWER_META = 1 << 0 };

/*
 * Write a body as a line has it if it is JSON, to 'out', which has room for 'bytes' bytes. Returns
 * the bytes written. Errors: those of eddy_json_compact(), if it is not JSON
 */
EDDY_MUST_USE int64_t ed_answer_body_compact(const void *body, size_t bytes, char *out);

/*
 * Append the line with its line feed. A body that is a JSON object is compacted and keeps the
 * spelling of strings and numbers; other JSON becomes {"_json":...}, text {"_text":"..."}, other
 * bytes {"_base64":"..."}, and an empty body {}. A body in a file becomes
 * {"_file":"NAME","bytes":N,"type":"..."}. "id" is "batch_req_" and 24 hexadecimal digits
 * that depend only on id and hash. A request_id that is made is "req_" and the same digits.
 */
void ed_answer_write(struct ed_answer *answer, unsigned flags, struct ed_draft *line);

/* Returns true for 300 to 399. Another URL may have the answer. */
static inline bool ed_answer_status_is_redirect(int status)
{
        return status >= 300 && status < 400;
}

/* Returns true for the statuses of success, 200 to 299. A redirect that was not followed has failed. */
static inline bool ed_answer_status_is_ok(int status)
{
        return status >= 200 && status < 300;
}

/*
 * Returns the last 16 digits of the key "id": two requests of one id have different marks, up to
 * chance. 0, for a hash of 0, means unknown.
 */
uint64_t ed_answer_mark(const char *id, size_t id_bytes, uint64_t hash);

/* A line that was read. Values borrow the line. */
struct ed_answer_seen {
        char *id; /* in 'id_room', NUL-terminated */
        size_t id_bytes;
        int status;                      /* 0: no answer, or its status is not known */
        bool has_fault;                  /* an error with contents */
        bool is_ok;                      /* a status of success and no error */
        uint64_t mark;                   /* of "id"; 0: another program wrote the line */
        struct eddy_json_value line;     /* the whole line */
        struct eddy_json_value response; /* of kind EDDY_JSON_NONE: none */
        struct eddy_json_value fault;    /* "error"; in the same way */
        struct eddy_json_value meta;     /* "x_meta"; in the same way */
        const char *code; /* of the error, as JSON text with its quotes; NULL: none */
        size_t code_bytes;
};

enum { ED_ANSWER_ID_ROOM = 3 * 512 + 1 };

/*
 * Copy the id of a custom_id, a text or an integer as in the input. Returns its bytes. Errors:
 * those of eddy_json_string(); -EINVAL  neither a text nor an integer, or too long
 */
EDDY_MUST_USE int64_t ed_answer_id_read(const struct eddy_json_value *id,
                                        char id_room[ED_ANSWER_ID_ROOM]);

/* Returns true for null, false, "", and an object or a list of such values only. */
bool ed_answer_value_is_blank(const struct eddy_json_value *value);

/* Leave out a byte order mark, which an editor may have put before the first line. */
void ed_answer_skip_mark(const char **line, size_t *bytes);

/* Returns true if a line has no text. */
bool ed_answer_is_blank(const char *line, size_t bytes);

/*
 * Read a line without its line feed, in the forms of eddy, OpenAI, vLLM and litellm. 'id_room'
 * receives the id. A byte order mark is skipped. A line has a text or an integer as custom_id, and
 * a response, an error, or both. The response is null, or an object with status_code; next to an
 * error it may be any value. The error may be any value; a value without contents (null, false, "",
 * {}, or an object or a list of such values) does not count as an error. A line is a failure if its
 * status is not a number from 1 to 999, or if its response is null and its error has no contents.
 * If a member occurs twice, the first one counts.
 *
 * Errors: -EINVAL  not a line of answers; nested deeper than EDDY_JSON_DEPTH_MAX; the id is longer
 *                  than 'id_room'
 */
EDDY_MUST_USE int ed_answer_read(const char *line, size_t bytes, char id_room[ED_ANSWER_ID_ROOM],
                                 struct ed_answer_seen *ret_seen);

#endif
