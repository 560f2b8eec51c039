/*
 * batch/run/unit.c - see unit.h.
 */
#include "batch/run/unit.h"

#include "eddy/time.h"

/* Time for writing finished lines after the requests have ended. */
#define WRITE_NS EDDY_SEC(2)

void ed_unit_join(struct ed_batch_unit *unit, eddy_scope *work)
{
        unit->work = work;
        unit->next = unit->run->units;
        unit->run->units = unit;
}

void ed_unit_leave(struct ed_batch_unit *unit)
{
        struct ed_batch_unit **at = &unit->run->units;

        while (*at != unit)
                at = &(*at)->next;
        *at = unit->next;
        unit->work = NULL;
}

void ed_unit_end(struct ed_batch_unit *unit, int64_t end_ns)
{
        if (end_ns < unit->attempts.end_ns)
                ed_attempts_end(&unit->attempts, end_ns);
        ed_order_end(&unit->order);
        ed_output_stop(&unit->sink.output, unit->attempts.end_ns + WRITE_NS);
        if (unit->paths->errors)
                ed_output_stop(&unit->sink.errors, unit->attempts.end_ns + WRITE_NS);
        eddy_scope_cancel(unit->work);
}
