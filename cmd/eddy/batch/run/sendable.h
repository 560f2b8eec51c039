/*
 * batch/run/sendable.h - whether an input has requests that can be sent with the options of the run. If it
 * has none, the command or the file is wrong, and nothing is sent.
 */
#ifndef ED_CMD_BATCH_RUN_SENDABLE_H
#define ED_CMD_BATCH_RUN_SENDABLE_H

#include <stdbool.h>

#include "batch/request/request.h"
#include "batch/run/unit.h"
#include "eddy/def.h"

/* A whole file. */
struct ed_sendable {
        bool can;      /* a line of it can be sent */
        bool is_blank; /* it has no line but blank ones */
};

/* Describe why the options make it impossible to send a request, or leave 'text' as it is. */
void ed_sendable_check(const struct ed_batch_unit *unit, const struct ed_request *request,
                       char text[ED_REQUEST_ERROR_BYTES]);

/*
 * Read the whole file of which the unit has a shard, up to the first line that can be sent, without moving
 * its position. Blocks. Errors: those of ed_source_read()
 */
EDDY_MUST_USE int ed_sendable_look(struct ed_batch_unit *unit, struct ed_sendable *ret_found);

#endif
