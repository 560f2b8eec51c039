/*
 * batch/answer/reasons.h - the causes of failures in a run, each with its number and its first message,
 * for the summary. Failures have one cause if their code or status is the same, and their messages
 * have one form (common/text_form.h). No I/O.
 */
#ifndef ED_CMD_BATCH_ANSWER_REASONS_H
#define ED_CMD_BATCH_ANSWER_REASONS_H

#include <stdbool.h>

#include "batch/answer/answer_line.h"
#include "common/groups.h"
#include "eddy/json.h"

enum { ED_REASON_NAME_BYTES = 32, ED_REASON_TEXT_BYTES = 240 };

struct ed_reason {
        char name[ED_REASON_NAME_BYTES]; /* a code or a status */
        char text[ED_REASON_TEXT_BYTES]; /* printable; empty: a failure without a message */
};

/* Zero, but for the secrets, is the start. */
struct ed_reasons {
        /*
         * Returns true if a text has a secret, of the run or of the request (NULL: none): it is not
         * shown, whatever a server sends. NULL: no secrets
         */
        bool (*has_secret)(const void *secrets, const struct ed_request *request, const char *text,
                           size_t bytes);
        const void *secrets;
        struct ed_groups groups;
        struct ed_reason items[ED_GROUPS_MAX]; /* by place in 'groups' */
};

/* Count a failure, and keep its message if it is the first one of its cause. */
void ed_reasons_add(struct ed_reasons *reasons, const struct ed_answer *answer);

/* Returns true if a text has a secret of the run, or of the request (NULL: none). */
bool ed_reasons_hide(const struct ed_reasons *reasons, const struct ed_request *request,
                     const char *text, size_t bytes);

/* Returns the first message of a status; empty: none. */
const char *ed_reasons_text(const struct ed_reasons *reasons, int status);

/* Find the message in the body of a failed answer, in the forms of common APIs. */
bool ed_reason_find(const struct eddy_json_value *body, struct eddy_json_value *ret_message);

#endif
