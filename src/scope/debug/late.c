/*
 * scope/debug/late.c - debug mode's timer: reports tasks that wait long for the network without a
 * deadline, and tasks that continue long after a cancel.
 *
 * The timer is armed only while a task may become one of these, and is not counted as pending
 * work.  It therefore neither hides a deadlock nor keeps a simulated clock moving.  Each time it
 * fires, all tasks are checked, at most eight times within the limit.
 */
#include "scope/debug/debug.h"
#include "scope/dump.h"

enum { LOOKS = 8 };

static void look_at(struct ed_debug *debug, int64_t at_ns)
{
        struct ed_loop *loop = &debug->run->loop;

        if (debug->is_asked && debug->asked_ns == INT64_MAX)
                debug->asked_ns = at_ns;
        if (debug->is_asked || debug->timer.armed)
                return;
        ed_quiet_timer_arm(loop, &debug->timer, at_ns);
}

static struct ed_debug *debug_of(const struct ed_task *task)
{
        return ed_run_of(task->loop)->debug;
}

void ed_debug_net_wait(struct ed_task *task)
{
        struct ed_debug *debug = debug_of(task);

        task->debug.wait = ED_WAIT_NET_NEXT;
        look_at(debug, ed_time_after(ed_loop_now(task->loop), debug->run->opts.debug_wait_ns));
}

void ed_debug_parks(struct ed_task *task)
{
        task->parked_ns = ed_loop_now(task->loop);
        task->debug.wait = task->debug.wait == ED_WAIT_NET_NEXT ? ED_WAIT_NET : ED_WAIT_OTHER;
}

void ed_debug_cancelled(struct ed_node *node)
{
        struct ed_task *task = node->owner;
        struct ed_debug *debug = debug_of(task);
        int64_t now_ns = ed_loop_now(task->loop);

        task->debug.cancelled_ns = now_ns;
        task->debug.cancel_reported = false;
        look_at(debug, ed_time_after(now_ns, debug->run->opts.debug_wait_ns));
}

/* --- checking --- */

/* Returns when a task began a wait that may be reported, or INT64_MAX. */
static int64_t waits_since(const struct ed_task *task, const struct ed_node *root)
{
        if (task->fiber.ready.state != ED_FIBER_PARKED || task->debug.wait != ED_WAIT_NET ||
            ed_dump_deadline(task->inner, root) != 0)
                return INT64_MAX;
        return task->parked_ns;
}

/*
 * Returns true if a task waits for its scope's tasks.  They are cancelled too and are reported
 * instead.
 */
static bool waits_for_tasks(const struct ed_task *task)
{
        return task->inner != &task->node && ed_scope_of_node(task->inner)->flags & ED_SCOPE_ENDING;
}

/* Returns when a task was cancelled, or INT64_MAX. */
static int64_t cancelled_since(const struct ed_task *task)
{
        if (!(task->inner->flags & ED_NODE_CANCELLED) || task->debug.cancel_reported ||
            waits_for_tasks(task))
                return INT64_MAX;
        return task->debug.cancelled_ns;
}

static void report_late(const struct ed_task *task, int kind, int error, struct ed_text *text)
{
        ed_report_place_add(task, text);
        ed_text_add(text, "; it is ");
        if (!ed_dump_stack(task, text))
                ed_text_add(text, "at its beginning");
        ed_report_task(task->loop, kind, error, task, debug_of(task)->text);
}

static void report_wait(struct ed_task *task, int64_t now_ns)
{
        struct ed_debug *debug = debug_of(task);
        struct ed_text text = { debug->text, sizeof(debug->text) };

        task->debug.wait = ED_WAIT_REPORTED;
        if (!ed_debug_may_report(debug, ED_DEBUG_WAITS))
                return;
        ed_text_add(&text, "has waited %lld ms for %s, without a deadline",
                    (long long) ((now_ns - task->parked_ns) / EDDY_MS(1)), task->fiber.waits_for);
        report_late(task, EDDY_REPORT_WAIT, 0, &text);
}

static void report_cancelled(struct ed_task *task, struct ed_node *root, int64_t now_ns)
{
        struct ed_debug *debug = debug_of(task);
        struct ed_text text = { debug->text, sizeof(debug->text) };

        task->debug.cancel_reported = true;
        if (!ed_debug_may_report(debug, ED_DEBUG_CANCELS))
                return;
        ed_text_add(&text, "was cancelled %lld ms ago and has not ended: it ",
                    (long long) ((now_ns - task->debug.cancelled_ns) / EDDY_MS(1)));
        ed_dump_state(task, root, &text);
        report_late(task, EDDY_REPORT_IGNORED, -ECANCELED, &text);
}

/* Reports a task that has passed the limit.  Returns when the next report is due, or INT64_MAX. */
static int64_t look(struct ed_task *task, struct ed_node *root, int64_t limit_ns, int64_t now_ns)
{
        int64_t waits_at_ns = ed_time_after(waits_since(task, root), limit_ns);
        int64_t cancelled_at_ns = ed_time_after(cancelled_since(task), limit_ns);

        if (waits_at_ns <= now_ns) {
                report_wait(task, now_ns);
                waits_at_ns = INT64_MAX;
        }
        if (cancelled_at_ns <= now_ns) {
                report_cancelled(task, root, now_ns);
                cancelled_at_ns = INT64_MAX;
        }
        return waits_at_ns < cancelled_at_ns ? waits_at_ns : cancelled_at_ns;
}

static void look_at_all(struct ed_debug *debug)
{
        struct ed_run *run = debug->run;
        struct ed_node *root = &ed_scope_of(&run->root)->node, *node = root;
        int64_t now_ns = ed_loop_now(&run->loop), limit_ns = run->opts.debug_wait_ns;
        int64_t next_ns = INT64_MAX, soonest_ns = ed_time_after(now_ns, limit_ns / LOOKS + 1);

        while ((node = ed_node_next(root, node, false))) {
                struct ed_task *task = node->owner;
                int64_t at_ns =
                        node == &task->node ? look(task, root, limit_ns, now_ns) : INT64_MAX;

                next_ns = at_ns < next_ns ? at_ns : next_ns;
        }
        if (next_ns != INT64_MAX)
                look_at(debug, next_ns > soonest_ns ? next_ns : soonest_ns);
}

static void on_timer(struct ed_timer *timer)
{
        struct ed_debug *debug = ed_container_of(timer, struct ed_debug, timer);

        ed_quiet_timer_fired(&debug->run->loop);
        look_at_all(debug);
}

void ed_debug_late_ask(struct ed_debug *debug)
{
        if (!debug->is_asked) {
                debug->is_asked = true;
                debug->asked_ns = INT64_MAX;
        }
        if (ed_loop_now(&debug->run->loop) < debug->asked_ns)
                return;
        debug->asked_ns = INT64_MAX;
        look_at_all(debug);
}

void ed_debug_late_init(struct ed_debug *debug)
{
        ed_timer_init(&debug->timer, on_timer);
}

void ed_debug_late_fini(struct ed_debug *debug)
{
        ed_quiet_timer_cancel(&debug->run->loop, &debug->timer);
}
