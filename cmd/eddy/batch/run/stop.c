/*
 * batch/run/stop.c - see stop.h.
 */
#include "batch/run/stop.h"

#include <stdarg.h>
#include <stdio.h>

#include "batch/run/unit.h"
#include "eddy/time.h"

void ed_batch_stop(struct ed_batch_run *run, enum ed_stop stop, int64_t drain_ns,
                   const char *format, ...)
{
        int64_t end_ns = eddy_now() + drain_ns;
        char text[512];
        va_list args;

        if (!run->units)
                return; /* the work has ended meanwhile */
        if (run->stats.stop == ED_STOP_NONE) {
                run->stats.stop = stop;
                if (format) {
                        va_start(args, format);
                        vsnprintf(text, sizeof(text), format, args);
                        va_end(args);
                        ed_say(&run->say, "stopping: %s", text);
                }
        }
        for (struct ed_batch_unit *unit = run->units; unit; unit = unit->next)
                ed_unit_end(unit, end_ns);
}

void ed_batch_check_cost(struct ed_batch_run *run)
{
        const struct ed_batch_spent *spent = &run->spent;
        uint64_t most = run->settings->max_cost, cost;

        if (most == 0)
                return;
        cost = ed_spent_cost(spent, &run->settings->price);
        if (cost >= most)
                ed_batch_stop(run, ED_STOP_COST, ED_BATCH_DRAIN_NS,
                              "the answers%s cost %.6g, which reaches --max-cost",
                              spent->before.input + spent->before.output > 0
                                      ? ", with those of earlier runs of the shard,"
                                      : "",
                              (double) cost / 1e6);
}
