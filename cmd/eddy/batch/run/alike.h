/*
 * batch/run/alike.h - detects that the first results of a run are all the same refusal, so that a
 * mistake in every request, such as the name of a model, does not cost the whole input. No I/O.
 */
#ifndef ED_CMD_BATCH_RUN_ALIKE_H
#define ED_CMD_BATCH_RUN_ALIKE_H

#include <stdbool.h>

#include "batch/answer/reasons.h"

enum { ED_ALIKE_MAX = 20 };

/* Zero is the start. */
struct ed_alike {
        bool has_ended; /* a result was different */
        int count;
        int status;                      /* of the results so far */
        char text[ED_REASON_TEXT_BYTES]; /* the first message of the server; may be empty */
};

/*
 * Add a result: the status of an answer that is a failure, or 0 for any other result, and the message
 * of the server.
 */
void ed_alike_add(struct ed_alike *alike, int status, const char *text);

/* Returns true if the first ED_ALIKE_MAX results all have the same status. */
bool ed_alike_is_full(const struct ed_alike *alike);

#endif
