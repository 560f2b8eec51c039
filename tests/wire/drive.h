/*
 * drive.h - feeds a message to the readers of wire/http1.h in given pieces and
 * writes down what came out, as one line of text, so that two deliveries of
 * the same bytes can be compared and a case can name what it expects.
 *
 *     GET /a 1.1 keep [Host=h] none
 *     200 1.1 close [Content-Length=5] length 'hello' +'rest'
 *     fault LENGTH_TWICE
 *
 * In order: the start line ("for": the host of an absolute target; "keep" or
 * "close": what becomes of the connection), marks, the fields, the framing, the
 * body, a response's trailers in braces, then '+' and what was not consumed, "truncated" or "closed" if the bytes
 * gave out, and "fault" or "limit" with the name of the fault.
 */
#ifndef ED_TESTS_WIRE_DRIVE_H
#define ED_TESTS_WIRE_DRIVE_H

#include <stddef.h>
#include <stdint.h>

#include "wire/http1.h"

enum wire_kind { WIRE_REQUEST, WIRE_RESPONSE, WIRE_TO_HEAD, WIRE_TO_CONNECT };

struct wire_limits {
        struct ed_http1_limits head;
        uint64_t body_bytes_max; /* 0: 1 MiB */
};

struct wire_input {
        enum wire_kind kind;
        struct wire_limits limits;
        const char *data;
        size_t bytes;
};

/* What came out. */
struct wire_text {
        char *text; /* with a NUL */
        size_t bytes;
        size_t room;
};

void wire_text_free(struct wire_text *text);

/*
 * Gives a copy of 'data' that lies where reading beyond its end is noticed; it
 * is valid until the next call.
 */
typedef char *wire_place_fn(const char *data, size_t bytes);

/*
 * Deliver the input cut at 'cuts' (offsets, ascending).  With 'place' NULL the
 * bytes are read where they are.
 */
void wire_drive(const struct wire_input *input, const size_t *cuts, size_t cuts_count,
                wire_place_fn *place, struct wire_text *ret_text);

#endif
