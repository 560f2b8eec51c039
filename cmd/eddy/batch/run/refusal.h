/*
 * batch/run/refusal.h - judges an answer by the table of vendors (vendor/table.h): whether the server
 * refused the request for now, or the quota of the key is used up. No I/O.
 */
#ifndef ED_CMD_BATCH_RUN_REFUSAL_H
#define ED_CMD_BATCH_RUN_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

#include "eddy/retry.h"
#include "vendor/table.h"

enum { ED_REFUSAL_CODE_BYTES = 64 };

struct ed_refusal {
        enum ed_meaning meaning;
        const struct ed_vendor_rule *rule; /* that applied; NULL: none */
        char code[ED_REFUSAL_CODE_BYTES];  /* of an error in the body; may be empty */
};

/*
 * Judge an answer by its status, its headers and its body, or by an error that a stream reported.
 * 'hint' is what the headers say about a retry; a time that only the body has is added to it.
 * 'is_limited' means that the headers report a limit that is used up.
 */
void ed_refusal_read(struct ed_refusal *ret_refusal, int status, bool is_limited, const char *body,
                     size_t bytes, struct eddy_retry_hint *hint);

/* Returns the word that shows that the quota is used up. */
const char *ed_refusal_reason(const struct ed_refusal *refusal);

#endif
