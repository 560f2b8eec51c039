/*
 * batch/run/alike.h - detects that the first requests of a run all fail in the same way, so that a
 * mistake in every request, such as the name of a model, or in --ok does not cost the whole input. No
 * I/O.
 */
#ifndef ED_CMD_BATCH_RUN_ALIKE_H
#define ED_CMD_BATCH_RUN_ALIKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/answer/reasons.h"

/* Failures that are enough, and the places among which the first ones are looked for. */
enum { ED_ALIKE_MAX = 20, ED_ALIKE_PLACES = 128 };

enum ed_alike_place {
        ED_ALIKE_OPEN,   /* no result yet */
        ED_ALIKE_SILENT, /* a failure that says nothing about the request, such as 503 */
        ED_ALIKE_FAILED, /* a mistake */
};

/* Zero is the start. */
struct ed_alike {
        unsigned begun;                        /* requests, at most ED_ALIKE_PLACES */
        bool has_ended;                        /* a result was different */
        unsigned char places[ED_ALIKE_PLACES]; /* of the first requests: enum ed_alike_place */
        int count;                             /* mistakes among all requests */
        int cause;                             /* of the mistakes so far */
        char text[ED_REASON_TEXT_BYTES];       /* the first message of the server; may be empty */
};

/* Begin 'count' requests. Returns the place of the first one; the others follow. */
unsigned ed_alike_begin(struct ed_alike *alike, size_t count);

/*
 * Add the result of the request at 'place': its cause is the status of an answer that is a failure, a
 * negative error, or 0 for a success; 'text' is the message of the server, or about the answer.
 * Failures that depend on the time, the key or the network do not count.
 */
void ed_alike_add(struct ed_alike *alike, size_t place, int cause, const char *text);

/* The request at 'place' has no result for now, or never: later ones need not wait for it. */
void ed_alike_pass(struct ed_alike *alike, size_t place);

/*
 * Returns true if all mistakes have the same cause, and the first ED_ALIKE_MAX requests that were
 * judged are mistakes. A server may refuse later requests sooner than it answers the first ones, so
 * others count only if there are more than can be in flight beside the first ones.
 */
bool ed_alike_is_full(const struct ed_alike *alike, uint32_t in_flight_max);

#endif
