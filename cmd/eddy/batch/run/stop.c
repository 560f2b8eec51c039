/*
 * batch/run/stop.c - see stop.h.
 */
#include "batch/run/stop.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/console.h"
#include "eddy/time.h"

/* Time for writing finished lines after the requests have ended. */
#define WRITE_NS EDDY_SEC(2)

void ed_batch_stop(struct ed_batch_run *run, enum ed_stop stop, int64_t drain_ns,
                   const char *format, ...)
{
        int64_t end_ns = eddy_now() + drain_ns;
        char text[512];
        va_list args;

        if (!run->engine.work)
                return; /* the work has ended meanwhile */
        if (run->stats.stop == ED_STOP_NONE) {
                run->stats.stop = stop;
                if (format) {
                        va_start(args, format);
                        vsnprintf(text, sizeof(text), format, args);
                        va_end(args);
                        ed_console_say("batch", "stopping: %s", text);
                }
        }
        if (end_ns < run->attempts.end_ns)
                ed_attempts_end(&run->attempts, end_ns);
        ed_order_end(&run->order);
        ed_output_stop(&run->sink.output, run->attempts.end_ns + WRITE_NS);
        if (run->paths->errors)
                ed_output_stop(&run->sink.errors, run->attempts.end_ns + WRITE_NS);
        eddy_scope_cancel(run->engine.work);
}
