/*
 * batch/run/redirect.h - the first redirect of a run, for the advice in its summary. No I/O.
 */
#ifndef ED_CMD_BATCH_RUN_REDIRECT_H
#define ED_CMD_BATCH_RUN_REDIRECT_H

#include <stdbool.h>

#include "batch/run/attempt.h"
#include "common/draft.h"
#include "common/url_shown.h"

/* Zero: none. */
struct ed_redirect {
        int status;
        bool moves_host;             /* the rest of the URL stays */
        bool is_followed_with_l;     /* by -L, because the method stays */
        char to[ED_URL_SHOWN_BYTES]; /* the URL without its query; if the host moves, up to the host */
};

/* Append the URL of a redirect, and a NUL. Appends nothing for other answers. */
void ed_redirect_find(const struct ed_attempt *attempt, struct ed_draft *text);

/* Keep the URL of the first redirect, 'to', of a request to 'from'. */
void ed_redirect_note(struct ed_redirect *redirect, int status, const char *method,
                      const char *from, const char *to);

#endif
