/*
 * draw/words.c - see words.h. Texts of the trace are appended as they are; the output escapes them.
 */
#include "draw/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "report/axis.h"

#define MICRO "\xc2\xb5s"

struct unit {
        double ns;
        const char *name, *ascii;
};

static const struct unit *unit_of(double duration_ns)
{
        static const struct unit units[] = {
                { 1e9, "s", "s" }, { 1e6, "ms", "ms" }, { 1e3, MICRO, "us" }, { 1, "ns", "ns" }
        };
        unsigned i = 0;

        while (i < 3 && duration_ns < units[i].ns * (1 - 1e-9))
                i++;
        return &units[i];
}

void ed_draw_time_add(struct ed_draft *out, double duration_ns, bool is_ascii)
{
        const struct unit *unit = unit_of(duration_ns);
        double shown = duration_ns / unit->ns;

        if (duration_ns <= 0)
                ed_draft_add_str(out, "0");
        else
                ed_draft_add_printf(out, shown >= 1000 ? "%.0f %s" : "%.4g %s", shown,
                                    is_ascii ? unit->ascii : unit->name);
}

double ed_draw_step(const struct ed_draw_scale *scale, unsigned ticks)
{
        double step = ed_axis_round_up((scale->end - scale->start) / (ticks > 0 ? ticks : 1));

        return step < 1 ? 1 : step;
}

double ed_draw_first_tick(const struct ed_draw_scale *scale, double step)
{
        return ceil(scale->start / step) * step;
}

void ed_draw_tick_add(struct ed_draft *out, const struct ed_draw_scale *scale, double tick,
                      double step, bool is_ascii)
{
        const struct unit *unit = unit_of(scale->end);
        double width = step / unit->ns;
        int decimals = 0;

        if (scale->is_order) {
                ed_draft_add_printf(out, "%.0f", tick + 1);
                return;
        }
        for (; decimals < 9 && fabs(width - round(width)) > 1e-9; width *= 10)
                decimals++;
        if (tick == 0)
                ed_draft_add_str(out, "0");
        else
                ed_draft_add_printf(out, "%.*f %s", decimals, tick / unit->ns,
                                    is_ascii ? unit->ascii : unit->name);
}

void ed_draw_count_add(struct ed_draft *out, uint64_t count, const char *noun)
{
        ed_draft_add_grouped(out, count);
        ed_draft_add_printf(out, " %s%s", noun, count == 1 ? "" : "s");
}

void ed_draw_node_add(struct ed_draft *out, const struct ed_draw_run *run, uint32_t at)
{
        const struct ed_draw_node *node = &run->nodes[at];

        if (node->kind == ED_DRAW_SCOPE)
                ed_draft_add_printf(out, "scope %" PRId64, node->number);
        else
                ed_draw_task_add(out, run, node->loop, node->number);
        if (node->kind == ED_DRAW_SCOPE && run->loops > 1)
                ed_draft_add_printf(out, " of loop %" PRId64, node->loop);
}

void ed_draw_task_add(struct ed_draft *out, const struct ed_draw_run *run, int64_t loop,
                      int64_t task)
{
        uint32_t node = ed_draw_run_task(run, loop, task);

        if (task == 0)
                ed_draft_add_str(out, "the loop");
        else if (run->loops > 1)
                ed_draft_add_printf(out, "task %" PRId64 ".%" PRId64, loop, task);
        else
                ed_draft_add_printf(out, "task %" PRId64, task);
        if (task == 0 && run->loops > 1)
                ed_draft_add_printf(out, " %" PRId64, loop);
        if (task != 0 && node != ED_DRAW_NONE && run->nodes[node].name != ED_DRAW_NAMELESS)
                ed_draft_add_printf(out, " %s", ed_draw_text(run, run->nodes[node].name));
}

void ed_draw_result_add(struct ed_draft *out, const struct ed_draw_run *run, int64_t result,
                        uint32_t error)
{
        if (result == 0 || result == ED_DRAW_ABSENT)
                return;
        ed_draft_add_printf(out, " with %" PRId64, result);
        if (error != ED_DRAW_NAMELESS)
                ed_draft_add_printf(out, " (%s)", ed_draw_text(run, error));
}

static void span_add(struct ed_draft *out, const struct ed_draw_run *run,
                     const struct ed_draw_event *event)
{
        bool begins = event->phase == 'B';

        switch (event->kind) {
        case ED_DRAW_TASK:
                ed_draft_add_str(out, begins ? " starts" : " ends");
                break;
        case ED_DRAW_SCOPE:
                ed_draft_add_printf(out, " %s scope %" PRId64, begins ? "begins" : "ends",
                                    event->scope);
                if (event->is_shield)
                        ed_draft_add_str(out, ", shielded");
                break;
        case ED_DRAW_WAIT:
                ed_draft_add_printf(out, begins ? " waits for %s" : " has waited for %s",
                                    ed_draw_text(run, event->name));
                if (event->by == ED_DRAW_ABSENT)
                        break;
                ed_draft_add_str(out, ", woken by ");
                ed_draw_task_add(out, run, event->loop, event->by);
                break;
        case ED_DRAW_READY:
                ed_draft_add_str(out, begins ? " is ready" : " runs");
                break;
        default:
                ed_draft_add_printf(out, " %s %s", begins ? "begins" : "ends",
                                    ed_draw_text(run, event->name));
                break;
        }
        if (!begins)
                ed_draw_result_add(out, run, event->result, event->error);
        if (event->is_open)
                ed_draft_add_str(out, " with the run");
}

static void point_add(struct ed_draft *out, const struct ed_draw_run *run,
                      const struct ed_draw_event *event)
{
        if (event->kind == ED_DRAW_WAKE) {
                ed_draft_add_str(out, event->phase == 's' ? " wakes a task" : " is woken");
        } else if (event->kind == ED_DRAW_CANCEL && event->phase == 'i') {
                ed_draft_add_str(out, " cancels ");
                if (event->about != ED_DRAW_ABSENT)
                        ed_draw_task_add(out, run, event->loop, event->about);
                else if (event->scope == 0)
                        ed_draft_add_str(out, "the run");
                else if (event->scope != ED_DRAW_ABSENT)
                        ed_draft_add_printf(out, "scope %" PRId64, event->scope);
        } else if (event->kind == ED_DRAW_DEADLOCK && event->by == ED_DRAW_ABSENT) {
                ed_draft_add_str(out, " finds a deadlock");
        } else if (event->kind == ED_DRAW_DEADLOCK) {
                ed_draft_add_str(out, " waits for a lock that ");
                ed_draw_task_add(out, run, event->loop, event->by);
                ed_draft_add_str(out, " holds");
        } else if (event->kind == ED_DRAW_CANCEL) {
                ed_draft_add_str(out, event->phase == 's' ? " stops a task" : " is stopped");
        } else if (event->kind == ED_DRAW_IO) {
                ed_draft_add_printf(out, ": %s", ed_draw_text(run, event->name));
                if (event->bytes != ED_DRAW_ABSENT && event->bytes >= 0) {
                        ed_draft_add_str(out, " ");
                        ed_draw_count_add(out, (uint64_t) event->bytes, "byte");
                }
                if (event->fd != ED_DRAW_ABSENT)
                        ed_draft_add_printf(out, ", descriptor %" PRId64, event->fd);
        }
}

void ed_draw_event_add(struct ed_draft *out, const struct ed_draw_run *run, uint32_t at)
{
        const struct ed_draw_event *event = &run->events[at];

        if (event->kind == ED_DRAW_DEADLINE) {
                if (event->scope != ED_DRAW_ABSENT)
                        ed_draft_add_printf(out, "the deadline of scope %" PRId64 " passes, of ",
                                            event->scope);
                else
                        ed_draft_add_str(out, "a deadline passes, of ");
                ed_draw_node_add(out, run, event->node);
                return;
        }
        ed_draw_node_add(out, run, event->node);
        if (event->phase == 'B' || event->phase == 'E')
                span_add(out, run, event);
        else
                point_add(out, run, event);
}

void ed_draw_when_add(struct ed_draft *out, const struct ed_draw_run *run,
                      const struct ed_draw_scale *scale, uint32_t event, bool is_ascii)
{
        if (scale->is_order)
                ed_draft_add_printf(out, "event %u", event + 1);
        else
                ed_draw_time_add(out, (double) run->events[event].at_ns, is_ascii);
}
