/*
 * batch/run/alike.h - detects that the first requests of a run all fail in the same way, so that a
 * mistake in every request, such as the name of a model, or in --ok does not cost the whole input. No
 * I/O.
 */
#ifndef ED_CMD_BATCH_RUN_ALIKE_H
#define ED_CMD_BATCH_RUN_ALIKE_H

#include <stdbool.h>
#include <stdint.h>

#include "batch/answer/reasons.h"

enum { ED_ALIKE_MAX = 20 };

/* Zero is the start. */
struct ed_alike {
        int begun;                       /* at most ED_ALIKE_MAX, the first requests */
        bool has_ended;                  /* a result was different */
        int firsts;                      /* results of the first requests */
        int count;                       /* results of all requests */
        int cause;                       /* of the results so far */
        char text[ED_REASON_TEXT_BYTES]; /* the first message of the server; may be empty */
};

/* A request begins. Returns true if it is one of the first. */
bool ed_alike_begin(struct ed_alike *alike);

/*
 * Add a result: its cause is the status of an answer that is a failure, ED_E_ANSWER_NOT_OK or
 * ED_E_ANSWER_NOT_SCHEMA, or 0 for any other result; 'text' is the message of the server, or about
 * the answer.
 */
void ed_alike_add(struct ed_alike *alike, bool is_first, int cause, const char *text);

/*
 * Returns true if all results have the same cause, and the first ED_ALIKE_MAX requests have one. A
 * server may refuse later requests sooner than it answers the first ones, so others count only if there
 * are more than can be in flight beside the first ones.
 */
bool ed_alike_is_full(const struct ed_alike *alike, uint32_t in_flight_max);

#endif
