/*
 * batch/request/accept_option.h - the options --accept-failed and --accept-failed-ids.
 */
#ifndef ED_CMD_BATCH_REQUEST_ACCEPT_OPTION_H
#define ED_CMD_BATCH_REQUEST_ACCEPT_OPTION_H

#include "batch/request/accept.h"
#include "eddy/def.h"

#define ED_ACCEPT_HELP                                                                             \
        "  --accept-failed          accept failures that are final: all attempts were made, or "   \
        "the\n"                                                                                    \
        "                           status is one that is not retried.  Their requests are not "   \
        "sent\n"                                                                                   \
        "                           again; the exit status is 0 if all other requests succeeded\n" \
        "  --accept-failed-ids FILE\n"                                                             \
        "                           accept failures of the ids in FILE: one per line, or lines "   \
        "of\n"                                                                                     \
        "                           an errors file\n"

/*
 * Read the ids of --accept-failed-ids, one per line; lines end in LF or CRLF. The id of a line that
 * is an object of JSON is its custom_id, if it has one. Empty lines are skipped. A line has at most
 * 64 MiB.
 *
 * Errors: -EINVAL, after a message of 'command'; -ENOMEM
 */
EDDY_MUST_USE int ed_accept_read_ids(struct ed_accept *accept, const char *command,
                                     const char *path);

#endif
