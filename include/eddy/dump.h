/*
 * eddy/dump.h - the scopes and tasks of a run, and what they wait for.
 */
#ifndef EDDY_DUMP_H
#define EDDY_DUMP_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

/* Limits of a dump: lines (one more gives the number of lines left out), and bytes of a line. */
enum { EDDY_DUMP_LINES_MAX = 500, EDDY_DUMP_LINE_BYTES = 512 };

/* Receives a line without its newline, valid during the call.  Must not call into eddy. */
typedef void eddy_dump_fn(const char *line, void *arg);

/*
 * Call line(text, arg) for each scope and each task of this thread's run, as a
 * tree:
 *
 *     main waits for the tasks of a scope to end; deadline in 480 ms
 *       scope of main; deadline in 480 ms
 *         salary runs; deadline in 480 ms
 *         rent waits for a lock, held by salary; deadline in 480 ms
 *
 * Lines are indented by two spaces per level, up to 20 levels.  A task runs, is
 * ready, or waits for something; in debug mode (EDDY_DEBUG=1 in the environment
 * when the run begins, or EDDY_RUN_DEBUG) the line also gives how long the task
 * has been parked.  A scope has its own deadline; a task has the earliest
 * deadline that can cancel its present call.  Milliseconds of deadlines are
 * rounded up, others down.
 *
 * In debug mode SIGQUIT sends the dump to the run's report, one line at a time
 * (EDDY_REPORT_DUMP), and the run continues; unless the program handles SIGQUIT
 * itself, or EDDY_RUN_NO_SIGNALS is set.
 *
 * Suspends: no.
 * Errors: EDDY_E_RUN_NOT_RUNNING
 *         -EINVAL  'line' is NULL
 */
EDDY_API int eddy_dump(eddy_dump_fn *line, void *arg);

enum { EDDY_DUMP_STACKS = 1 << 0 }; /* add a line with the stack of each task that has run */

/*
 * Like eddy_dump(), but with 'flags' of EDDY_DUMP_*.  A stack has at most its 8
 * innermost places, and ends at code that was built without
 * -fno-omit-frame-pointer.
 *
 * Suspends: no.
 * Errors: also -EINVAL  a flag is not known
 */
EDDY_API int eddy_dump_with(eddy_dump_fn *line, void *arg, unsigned flags);

EDDY_END_DECLS

#endif
