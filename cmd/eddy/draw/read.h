/*
 * draw/read.h - reads a file of trace events (docs/design/timeline.md) into a run. No I/O.
 */
#ifndef ED_CMD_DRAW_READ_H
#define ED_CMD_DRAW_READ_H

#include <stddef.h>

#include "draw/model.h"
#include "eddy/def.h"

/* Events above this number are refused, because their memory would exceed 200 MiB. */
enum { ED_DRAW_EVENTS_MAX = 1000000 };

enum { ED_DRAW_FAULT_BYTES = 320 };

/*
 * Read the text of a file into a zeroed run. Events of other programs, with unknown phases or
 * categories, are ignored.
 *
 * Errors: -EINVAL  and 'fault' names the line and the reason;  -ENOMEM
 */
EDDY_MUST_USE int ed_draw_read(struct ed_draw_run *run, const char *text, size_t bytes,
                               char fault[ED_DRAW_FAULT_BYTES]);

#endif
