/*
 * eddy/dump.h - what a run is doing: its scopes and tasks, and what they wait
 * for.
 */
#ifndef EDDY_DUMP_H
#define EDDY_DUMP_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

/* At most so many lines, and one that says how many more there are; of so many bytes each. */
enum { EDDY_DUMP_LINES_MAX = 500, EDDY_DUMP_LINE_BYTES = 512 };

/* Gets a line without its newline, valid during the call.  Must not call into eddy. */
typedef void eddy_dump_fn(const char *line, void *arg);

/*
 * Tell line(text, arg) of each scope and each task of this thread's run, as a
 * tree:
 *
 *     main waits for the tasks of a scope to end; deadline in 480 ms
 *       scope of main; deadline in 480 ms
 *         salary runs; deadline in 480 ms
 *         rent waits for a lock, held by salary; deadline in 480 ms
 *
 * Two spaces for each level, of which 20 are shown.  A task runs, is ready, or
 * waits for something; in debug mode (EDDY_DEBUG=1 in the environment when the
 * run begins, or EDDY_RUN_DEBUG) also how long it has been parked.  A scope's deadline is its own;
 * a task's, the one that comes first of those that can cancel the call it is
 * in.  Milliseconds of deadlines are rounded up, others down.
 *
 * In debug mode SIGQUIT gives the dump to the run's report, a line at a time
 * (EDDY_REPORT_DUMP), and the run goes on; unless the program handles SIGQUIT
 * itself, or EDDY_RUN_NO_SIGNALS is set.
 *
 * Suspends: no.
 * Errors: EDDY_E_RUN_NOT_RUNNING
 *         -EINVAL  'line' is NULL
 */
EDDY_API int eddy_dump(eddy_dump_fn *line, void *arg);

enum { EDDY_DUMP_STACKS = 1 << 0 }; /* a line of where it is, below each task that has run */

/*
 * The same, with 'flags' of EDDY_DUMP_*.  Of a stack the innermost 8 places are
 * told, as far as code goes that was built with -fno-omit-frame-pointer.
 *
 * Errors: also -EINVAL  a flag is not known
 */
EDDY_API int eddy_dump_with(eddy_dump_fn *line, void *arg, unsigned flags);

EDDY_END_DECLS

#endif
