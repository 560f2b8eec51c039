/*
 * eddy/trace.h - timelines: a file with what the tasks of a run did.
 *
 * A traced run records when each task starts, runs, waits (for what), is woken (by which task), is
 * cancelled (by which scope), and ends; its scopes, deadlines and deadlocks; and calls on
 * descriptors with their bytes.  The file is written when the run ends.  It has the trace event
 * format: open it with ui.perfetto.dev, chrome://tracing or speedscope, or draw it with
 * `eddy draw FILE`.
 *
 * Without a program's own code: EDDY_TRACE=FILE in the environment.
 */
#ifndef EDDY_TRACE_H
#define EDDY_TRACE_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

/*
 * Trace all runs that begin after this call, in the whole process, unless their option trace_file
 * names another file.  The first run is written to 'path', the next ones to "path.2", "path.3" ...
 * Each "%p" in a path (here, in the option, or in EDDY_TRACE) is replaced by the process ID.
 * NULL: trace no further runs.  A run of the test kit is traced only if its option trace_file is
 * set, or if EDDY_TEST_REPLAY is in the environment.
 *
 * The records are in a ring in memory: the newest 131,072 (7 MiB), or the number in the
 * environment's EDDY_TRACE_EVENTS (1,024 to 16,777,216).  The file says how many were dropped;
 * `eddy draw` reads at most a million events, which are up to four for a record.  A relative path
 * is resolved against the working directory at the start of the run.  A file that cannot be written
 * is reported as EDDY_REPORT_TRACE.
 *
 * The file is also written if the process ends inside a run by exit(), by abort() (unless the
 * program handles SIGABRT), or by a sanitizer's finding, whose callback for this is replaced
 * (__sanitizer_set_death_callback()).  A copy of the process (_Fork(3)) writes the file; the process
 * waits for it, at most 5 seconds for each traced run, and 30 for all.  A file that takes longer is
 * not written.  Other signals leave no file, except in a run of the test kit: a signal after which
 * the kit prints a replay string also writes the file.
 *
 * In a traced run tasks always run in the order of the ready queue: a woken task never runs
 * directly in the turn of the task that woke it.
 *
 * Suspends: no.
 * Threads:  any.
 * Errors:   -EINVAL  'path' is empty
 *           -ENOMEM
 */
EDDY_API EDDY_MUST_USE int eddy_trace_file(const char *path);

EDDY_END_DECLS

#endif
