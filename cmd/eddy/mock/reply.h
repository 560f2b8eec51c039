/*
 * mock/reply.h - sends an answer, with a request ID and the state of limits in its head. The answer
 * may end early, or stop within its body.
 */
#ifndef ED_CMD_MOCK_REPLY_H
#define ED_CMD_MOCK_REPLY_H

#include "mock/mock.h"

enum { ED_REPLY_HEADERS_MAX = 16, ED_REPLY_VALUE_BYTES = 40 };

/* How an answer ends. If not whole, it ends or stops after 'left' bytes of its body. */
enum ed_fate { ED_FATE_WHOLE, ED_FATE_TRUNCATED, ED_FATE_STALLED };

/* A request and its answer. */
struct ed_reply {
        struct ed_mock *mock;
        eddy_http_exchange *exchange;
        struct ed_random random; /* of this request */
        bool is_api;             /* errors are JSON */
        bool counts_tokens;      /* limits are shown after the tokens are counted */
        bool entered;            /* counted in mock->serving */
        enum ed_fate fate;
        uint64_t left;
        bool ends_cleanly; /* a truncated stream ends as if it were whole */
        bool is_cut;       /* nothing more is sent */
        char id[ED_REPLY_VALUE_BYTES];
        struct eddy_http_header headers[ED_REPLY_HEADERS_MAX];
        char values[ED_REPLY_HEADERS_MAX][ED_REPLY_VALUE_BYTES];
        size_t headers_count;
};

/* Draw the request's ID and its seed. */
void ed_reply_init(struct ed_reply *reply, struct ed_mock *mock, eddy_http_exchange *exchange);

/* Add a header to the answer, with a copy of the value. 'name' is static. */
void ed_reply_header(struct ed_reply *reply, const char *name, const char *value);
void ed_reply_header_u64(struct ed_reply *reply, const char *name, uint64_t value);

/* Add Retry-After in the form that --retry-after selects. */
void ed_reply_retry_after(struct ed_reply *reply, int64_t wait_ns);

/*
 * Send an answer, at once or in pieces. If the length of the body is not known ('body_bytes' -1),
 * 'bytes_min' is its least length. Errors: -ECONNABORTED  the answer was cut; the connection's
 */
EDDY_MUST_USE int ed_reply_send(struct ed_reply *reply, int status, const char *type,
                                const void *body, size_t bytes);
EDDY_MUST_USE int ed_reply_begin(struct ed_reply *reply, int status, const char *type,
                                 int64_t body_bytes, uint64_t bytes_min);
EDDY_MUST_USE int ed_reply_write(struct ed_reply *reply, const void *data, size_t bytes);
EDDY_MUST_USE int ed_reply_end(struct ed_reply *reply);

/* Send a line of text, at most 255 bytes. */
EDDY_PRINTF(3, 4)
EDDY_MUST_USE int ed_reply_text(struct ed_reply *reply, int status, const char *format, ...);

/* Send an error: JSON for the API's paths, else text. */
EDDY_MUST_USE int ed_reply_fault(struct ed_reply *reply, const struct ed_openai_fault *fault);

#endif
