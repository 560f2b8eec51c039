/*
 * fetch/range.h - continues a body that was cut, by a request for the rest of it: RFC 9110, 8.8
 * (validators), 13.1.5 (If-Range) and 14 (ranges). No I/O.
 */
#ifndef ED_CMD_FETCH_RANGE_H
#define ED_CMD_FETCH_RANGE_H

#include <stdint.h>

#define ED_RANGE_UNKNOWN UINT64_MAX

enum { ED_RANGE_VALIDATOR_BYTES = 128 };

/* Which body it is, of which a part was received. Without a validator it is not continued. */
struct ed_range {
        char validator[ED_RANGE_VALIDATOR_BYTES]; /* for If-Range: a strong ETag, or the date of
                                                      Last-Modified; "": none */
        uint64_t total; /* bytes of the whole body; ED_RANGE_UNKNOWN: not known */
};

/* Returns the value of a header field of a response; NULL: none; ",": it occurs more than once. */
typedef const char *ed_range_field_fn(void *arg, const char *name);

/*
 * Note which body a response with the status 200 has. It has a validator if it can be continued: it
 * has no coding, its ETag is strong, or it has no ETag, and a Last-Modified that is at least a minute
 * older than its Date. A date does not show which variant was chosen, so it does not count beside Vary.
 */
void ed_range_note(struct ed_range *range, ed_range_field_fn *field, void *arg, int64_t now_s);

/* The kinds of responses to a request for the rest. */
enum ed_range_answer {
        ED_RANGE_CONTINUED, /* 206: the body is the rest, or the beginning of the rest */
        ED_RANGE_WHOLE,     /* the body is the whole of another one */
        ED_RANGE_REFUSED,   /* 416, or a 206 that does not continue this body: ask for the whole */
        ED_RANGE_FAILED,    /* a failure, with a status of 300 or more */
};

/*
 * Judge the response to a request for the bytes from 'first' on. If it continues the body, store the
 * number of its bytes; 'range->total' is known then.
 */
enum ed_range_answer ed_range_judge(struct ed_range *range, uint64_t first, int status,
                                    ed_range_field_fn *field, void *arg, uint64_t *ret_bytes);

#endif
